//! `checkrein uninstall --purge`: what Checkrein recorded and saved, deleted; the work of the user stays.
//!
//! Deleted are known entries by name, in folders that are proved to be ours. Worktrees hold what agents did and nobody merged: they are
//! never deleted here, and while there are any, nothing is.

mod inventory;
mod unfinished_work;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use checkrein_clients::ClientAdapter;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::installation::Installations;
use checkrein_protocol::AbsolutePath;

use super::settings_change::Approval;
use super::story::at_home;
use super::uninstall::{UninstallReach, settings_to_clear};
use super::{ExitStatus, OutputForm, for_people_only, unconfirmed};
use crate::api::{self, installation};
use crate::terminal::{Reply, confirm, counted, plain, print, print_exact};
use inventory::{Inventory, Left, Mounts, Ours, delete};

/// What our folders are called, wherever the user has them: what has another name may hold other things.
const OURS: &str = "checkrein";

/// What a purge is about.
struct Plan {
    /// What goes, in this order.
    entries: Vec<Ours>,
    /// What stays, and why.
    left: Vec<Left>,
    /// The folders that go once nothing is in them, innermost first.
    folders: Vec<PathBuf>,
    /// How many sessions there are records of.
    sessions: usize,
    /// How many workspaces there are snapshots of.
    snapshots: usize,
}

/// An error while a purge would take work of the user away, could not tell what is ours, or would leave hooks without records: asked before
/// the hooks of these clients are removed, so that nothing is half done.
pub(crate) fn check_first(
    environment: &HostEnvironment,
    clients: &[&'static ClientAdapter],
    reach: UninstallReach,
) -> Result<(), CommandError> {
    check(environment)?;
    let mut cleared = Vec::new();
    for client in clients {
        cleared.extend(settings_to_clear(environment, client, reach)?);
    }
    nobody_else_calls(environment, &cleared)
}

fn check(environment: &HostEnvironment) -> Result<(), CommandError> {
    for_people_only(environment, "uninstall --purge")?;
    unfinished_work::none(environment)?;
    Plan::of(environment).map(drop)
}

/// Deletes the state and what is kept outside it, once no settings call the hooks any more. Only a user may.
pub(crate) fn purge(
    environment: &HostEnvironment,
    approval: Approval,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    check(environment)?;
    let plan = Plan::of(environment)?;
    if approval != Approval::DryRun {
        nobody_else_calls(environment, &[])?;
    }
    if output == OutputForm::Text {
        plan.show(environment);
    }
    match approval {
        Approval::DryRun => return tell(&plan, installation::PurgeResult::DryRun, output),
        Approval::Given => {}
        Approval::Ask => match confirm(
            "Delete this? It cannot be undone, and `checkrein undo` has nothing left to restore.",
        ) {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        },
    }
    // Somebody may have started a run while the question was open.
    unfinished_work::none(environment)?;
    for entry in &plan.entries {
        delete(entry).map_err(|error| CommandError::file("delete", entry.path.display(), &error))?;
    }
    for folder in &plan.folders {
        // Only empty ones go: what stands in the others was named above, or came meanwhile.
        drop(fs::remove_dir(folder));
    }
    tell(&plan, installation::PurgeResult::Deleted, output)
}

impl Plan {
    /// What would go. An error where the folder of the state is not proved to be ours.
    fn of(environment: &HostEnvironment) -> Result<Self, CommandError> {
        let mounts = Mounts::of_now();
        let state = environment.state.root();
        if state.file_name().is_none_or(|name| name != OURS) && state.exists() {
            return Err(not_ours(state, "another name than `checkrein` was chosen for it"));
        }
        let mut inventory = Inventory::of_state(state, &mounts).map_err(|error| not_ours(state, &error.0))?;
        let beside = Path::new(environment.home.as_str()).join(".local/share").join(OURS);
        let mut folders = vec![state.to_owned()];
        if let Some(testimony) = environment.state.testimony() {
            let folder = testimony.folder();
            // A link on the way leads to a place that is not known to be ours.
            let is_plain = [Some(beside.as_path()), folder.parent()]
                .into_iter()
                .flatten()
                .all(|folder| !fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_symlink()));
            if is_plain {
                let outside = Inventory::of_testimony(folder, &mounts);
                let canaries = folder.parent().map_or_else(Inventory::default, |beside| {
                    Inventory::of_canaries(beside, folder, &mounts)
                });
                inventory.ours.splice(0..0, outside.ours.into_iter().chain(canaries.ours));
                inventory.left.extend(outside.left.into_iter().chain(canaries.left));
                folders.extend(folder.parent().map(Path::to_owned));
            } else {
                let why = "the way to it leads through a link".to_owned();
                inventory.left.push(Left { path: folder.to_owned(), why });
            }
        }
        folders.extend(worktree_folders(&beside.join("worktrees")));
        let kept = worktrees_without_record(&beside.join("worktrees"));
        inventory.left.extend(kept);
        folders.push(beside);
        let is_spared = |path: &Path| inventory.left.iter().any(|left| left.path == path);
        let count = |name: &str| {
            let entries = fs::read_dir(state.join(name)).into_iter().flatten().flatten();
            entries.filter(|entry| !is_spared(&entry.path())).count()
        };
        let (sessions, snapshots) = (count("sessions"), count("snapshots"));
        Ok(Self { entries: inventory.ours, left: inventory.left, folders, sessions, snapshots })
    }

    fn show(&self, environment: &HostEnvironment) {
        let named = |path: &Path| plain(&at_home(environment, &path.to_string_lossy()));
        for entry in &self.entries {
            let but = if entry.spared.is_empty() { "" } else { ", except what stays in it" };
            let path = named(&entry.path);
            print(&format!("delete    {path}{}{but}", self.remark(&entry.path)));
        }
        for left in &self.left {
            print(&format!("stays     {}: {}", named(&left.path), left.why));
        }
    }

    /// What is lost with an entry, where its name does not say it.
    fn remark(&self, entry: &Path) -> String {
        let count = |number: usize, noun: &str| counted(u64::try_from(number).unwrap_or(u64::MAX), noun);
        match entry.file_name().and_then(|name| name.to_str()) {
            Some("sessions") => format!(" ({})", count(self.sessions, "session")),
            Some("snapshots") => {
                format!(" (what `checkrein undo` restores, of {})", count(self.snapshots, "workspace"))
            }
            Some("runs") => " (records of runs, and the commits of discarded worktrees)".to_owned(),
            _ => String::new(),
        }
    }
}

/// The folders of projects that hold no worktree any more, and the one around them.
fn worktree_folders(worktrees: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = inside(worktrees);
    folders.push(worktrees.to_owned());
    folders
}

/// Worktrees that no record names: nothing proves what is in them, so they stay.
fn worktrees_without_record(worktrees: &Path) -> Vec<Left> {
    let places = inside(worktrees).into_iter().flat_map(|project| {
        let within = inside(&project);
        if within.is_empty() && !project.is_dir() { vec![project] } else { within }
    });
    let why = "it may be a worktree with work that nobody merged";
    places.map(|path| Left { path, why: why.to_owned() }).collect()
}

/// What stands in a folder that is not a link.
fn inside(folder: &Path) -> Vec<PathBuf> {
    if fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir()) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        found.sort();
        found
    } else {
        Vec::new()
    }
}

/// Whether a settings file is one of several people: version control holds it, so that who takes the hooks out takes them from all.
fn is_of_team(settings: &str) -> bool {
    let Some((folder, name)) = settings.rsplit_once('/') else { return false };
    let mut git = std::process::Command::new("git");
    git.args(["-C", folder, "-c", "core.fsmonitor=false", "ls-files", "--error-unmatch", "--", name]);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    git.status().is_ok_and(|status| status.success())
}

fn not_ours(folder: &Path, why: &str) -> CommandError {
    CommandError::user(
        format!(
            "{} is not known to hold records of Checkrein alone: {why}",
            plain(&folder.to_string_lossy())
        ),
        "nothing was deleted; look into it, and delete what you do not need yourself",
    )
}

fn tell(
    plan: &Plan,
    result: installation::PurgeResult,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match (output, result) {
        (OutputForm::Json, _) => {
            let shown = |path: &Path| path.display().to_string();
            print_exact(&api::line(&installation::Purged {
                folders: plan.entries.iter().map(|entry| shown(&entry.path)).collect(),
                kept: plan
                    .left
                    .iter()
                    .map(|left| installation::KeptPlace { path: shown(&left.path), reason: left.why.clone() })
                    .collect(),
                result,
            })?);
        }
        (OutputForm::Text, installation::PurgeResult::DryRun) => print("dry run: nothing was deleted"),
        (OutputForm::Text, installation::PurgeResult::Deleted) => {
            print("deleted; your configuration and the two programs are still there");
        }
    }
    Ok(ExitStatus::Done)
}

/// An error while settings of a client call the hooks, other than those that are about to lose them: without records they would go on, and
/// their sessions would begin anew. Those of a team are not this user's to clear.
fn nobody_else_calls(environment: &HostEnvironment, cleared: &[AbsolutePath]) -> Result<(), CommandError> {
    let holds = |settings: &str| {
        checkrein_files::read_text(settings, checkrein_files::SMALL)
            .is_ok_and(|text| text.contains("checkrein-hook"))
    };
    let installations = Installations::load(environment)?.0;
    let calling: Vec<&str> = installations
        .iter()
        .filter(|known| !cleared.contains(&known.settings))
        .map(|known| known.settings.as_str())
        .filter(|settings| holds(settings) && !is_of_team(settings))
        .collect();
    if calling.is_empty() {
        return Ok(());
    }
    Err(CommandError::user(
        format!("the hooks are still registered in {}; nothing was removed", calling.join(", ")),
        "run `checkrein uninstall --user` first for those of all your projects, `checkrein uninstall` there for one",
    ))
}
