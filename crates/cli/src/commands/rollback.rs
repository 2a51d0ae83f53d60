//! `checkrein snapshot restore` goes back to a snapshot, or some paths of it.

use std::path::PathBuf;

use checkrein_snapshot::{ActionEndTime, SnapshotId};

use super::restore::{Permissions, RestoreContext, RestoreTerms, Unfinished, restore};
use super::undo::spare_remotes;
use super::{ExitStatus, OutputForm};
use crate::terminal::plain;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Goes back to a snapshot: everything in it, or what lies in `paths`.
pub fn rollback(
    environment: &HostEnvironment,
    snapshot: SnapshotId,
    paths: &[String],
    permissions: Permissions,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    permissions.check(environment, "snapshot restore")?;
    let ground = RestoreContext::open(environment, Unfinished::by(permissions.consent))?;
    let listed = ground.store.snapshot(snapshot)?;
    let paths: Vec<PathBuf> = paths.iter().map(|path| real(environment, path)).collect();
    let mut prepared = ground.prepare(snapshot, &paths, ActionEndTime::None)?;
    // What is neither there nor put back was not there either.
    let is_nowhere = |path: &&PathBuf| {
        path.symlink_metadata().is_err()
            && !prepared.steps().iter().any(|step| step.path.as_path().starts_with(path))
    };
    if let Some(path) = paths.iter().find(is_nowhere) {
        return Err(CommandError::user(
            format!("snapshot {snapshot} holds nothing at `{}`", plain(&path.to_string_lossy())),
            format!("`checkrein snapshot diff {snapshot}` shows what it holds that is not so now"),
        ));
    }
    let kept = match paths.as_slice() {
        [] => spare_remotes(environment, &ground, &listed, &mut prepared),
        [..] => Vec::new(),
    };
    let case = RestoreTerms { ground: &ground, snapshot: &listed, moment: ActionEndTime::None, permissions };
    restore(environment, prepared, &case, &kept, output)
}

/// The place that a path names, with no link on the way.
pub(super) fn real(environment: &HostEnvironment, path: &str) -> PathBuf {
    let path = PathBuf::from(environment.cwd.join(path).as_str());
    let mut missing = Vec::new();
    let mut standing = path.as_path();
    while let (Some(parent), Some(name)) = (standing.parent(), standing.file_name()) {
        missing.push(name.to_owned());
        if let Ok(real) = parent.canonicalize() {
            return missing.iter().rev().fold(real, |path, name| path.join(name));
        }
        standing = parent;
    }
    path
}
