//! Work of the user that rests on the state directory: worktrees that nobody merged or discarded, and runs that are at work.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::text::plain;
use checkrein_supervise::runs::{Lock, Runs, Whereabouts};
use checkrein_worktree::{Merging, Owner};

/// How many are listed (ours); the rest is counted.
const LISTED: usize = 20;

/// An error that lists every worktree that is still there and every run at work, with the command that ends each.
pub(super) fn none(environment: &HostEnvironment) -> Result<(), CommandError> {
    let state = environment.state.root();
    let mut found = worktrees(&state.join("worktrees"))?;
    found.extend(runs(state)?);
    if found.is_empty() {
        return Ok(());
    }
    let count = found.len();
    let mut message = format!("work that is not finished rests on these records ({count}):");
    for one in found.iter().take(LISTED) {
        message.push_str("\n  ");
        message.push_str(one);
    }
    if count > LISTED {
        let _ = write!(message, "\n  and {} more", count - LISTED);
    }
    Err(CommandError::user(message, "nothing was deleted; bring each to an end, then run this again"))
}

/// Each worktree of which there is a record, and a folder or a merge that was cut off.
fn worktrees(records: &Path) -> Result<Vec<String>, CommandError> {
    let mut found = Vec::new();
    for project in folders(records)? {
        for record in folders(&project)? {
            match Owner::load(&record) {
                Ok(Some(owner)) => found.extend(waiting(&owner, &record)),
                Ok(None) => {}
                Err(error) => found.push(plain(&error.to_string())),
            }
        }
    }
    Ok(found)
}

/// What is said of a worktree; `None` where nothing of it is left.
fn waiting(owner: &Owner, record: &Path) -> Option<String> {
    let is_cut_off = Merging::load(record).map_or(true, |merging| merging.is_some());
    let place = if owner.is_there() { Some(owner.place.clone()) } else { owner.moved_to() };
    let (name, workspace) = (&owner.name, plain(&owner.workspace.to_string_lossy()));
    let place = match (place, is_cut_off) {
        (Some(place), _) => plain(&place.to_string_lossy()),
        (None, true) => "its merge was cut off".to_owned(),
        (None, false) => return None,
    };
    Some(if owner.workspace.is_dir() {
        format!(
            "worktree `{name}` ({place}): in {workspace}, `checkrein worktree merge {name}` or `checkrein worktree discard {name}`"
        )
    } else {
        format!(
            "worktree `{name}` ({place}): its project {workspace} is gone; move the worktree elsewhere, or delete it yourself"
        )
    })
}

/// Each run whose process lives.
fn runs(state: &Path) -> Result<Vec<String>, CommandError> {
    let runs = Runs::new(state);
    let all = runs.all()?;
    let at_work = all.into_iter().filter(|run| {
        run.whereabouts == Whereabouts::Active
            && Lock::is_held(&Lock::path(&runs.folder(&run.id, Whereabouts::Active)))
    });
    Ok(at_work.map(|run| format!("run `{}` is at work: wait for its end, or stop it", run.id)).collect())
}

fn folders(path: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(CommandError::file("read", path.display(), &error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| CommandError::file("read", path.display(), &error))?.path();
        // What is there besides is not deleted either (`inventory.rs` looks for links).
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
