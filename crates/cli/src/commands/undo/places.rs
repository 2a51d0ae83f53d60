//! The workspaces that a user may mean, and what in them belongs to others.

use std::path::{Path, PathBuf};

use checkrein_engine::checkpoint;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::{Listed, Prepared, SnapshotId, SnapshotReason};

use super::Stories;
use crate::commands::restore::{REMOTE, RestoreContext, Unfinished, command_at};
use crate::terminal::plain;

/// Gives up what a restore would change in repositories that others fetch from; a line for each. What was pushed belongs to others.
pub(super) fn leave_remotes(
    environment: &HostEnvironment,
    ground: &RestoreContext,
    prepared: &mut Prepared,
    remotes: &[PathBuf],
    of: SnapshotId,
) -> Vec<String> {
    let mut lines = Vec::new();
    for remote in remotes {
        let count = prepared.steps().len();
        prepared.retain(|step| !step.path.as_path().starts_with(remote));
        if prepared.steps().len() < count {
            let remote = plain(&remote.to_string_lossy());
            let command = command_at(environment, ground, &format!("snapshot restore {of} {remote}"));
            lines.push(format!(
                "{REMOTE}{remote}` stays as it is: what was pushed there belongs to others; {command} sets it back"
            ));
        }
    }
    lines
}

/// The same for going back to a snapshot as a whole.
pub(in crate::commands) fn spare_remotes(
    environment: &HostEnvironment,
    ground: &RestoreContext,
    snapshot: &Listed,
    prepared: &mut Prepared,
) -> Vec<String> {
    let all = ground.store.snapshots().unwrap_or_default();
    let mut meant = snapshot;
    // What was saved before a restore concerns the places of the action that was gone back to.
    while let SnapshotReason::BeforeRestore { of, .. } = meant.snapshot.occasion {
        let Some(older) = all.iter().find(|one| one.id == of && one.id < meant.id) else { break };
        meant = older;
    }
    let remotes = Stories::default().remotes(environment, meant);
    leave_remotes(environment, ground, prepared, &remotes, snapshot.id)
}

/// The workspaces of which there are snapshots, sorted.
pub(super) fn known_workspaces(environment: &HostEnvironment) -> Vec<PathBuf> {
    let stores = Path::new(environment.state_path.as_str()).join("snapshots");
    let mut known: Vec<PathBuf> = std::fs::read_dir(stores)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("workspace")).ok())
        .filter_map(|name| String::from_utf8(name).ok().map(PathBuf::from))
        .collect();
    known.sort();
    known.dedup();
    known
}

/// The workspaces that a user may mean who stands in one: it, those that lie in it, and, without version control to say where a
/// project begins, the nearest one around it. Around a repository it counts as far as its actions were about something in the repository.
pub(in crate::commands) fn grounds(
    environment: &HostEnvironment,
    workspace: AbsolutePath,
    unfinished: Unfinished,
) -> Result<Vec<RestoreContext>, CommandError> {
    let own = checkpoint::store(environment, &workspace);
    let here = own.workspace().to_owned();
    let others = known_workspaces(environment);
    let is_repository = Path::new(workspace.as_str()).join(".git").exists();
    let around = others.iter().rfind(|other| here.starts_with(other) && **other != here).cloned();
    // A home directory is no project, though work may be done in it: what lies below is none of its business.
    let home = std::fs::canonicalize(environment.home.as_str()).ok();
    let is_crowded = home.is_some_and(|home| home.starts_with(&here));
    let below = others.iter().filter(|other| !is_crowded && other.starts_with(&here) && **other != here);
    let mut grounds = vec![RestoreContext::at(environment, workspace, unfinished)?];
    for path in below {
        if let Some(path) = path.to_str().and_then(AbsolutePath::new) {
            grounds.push(RestoreContext::at(environment, path, unfinished)?);
        }
    }
    if let Some(path) = around.as_ref().and_then(|path| path.to_str()).and_then(AbsolutePath::new) {
        let ground = RestoreContext::at(environment, path, unfinished)?;
        grounds.push(if is_repository { ground.only_within(here) } else { ground });
    }
    Ok(grounds)
}
