//! What runs in a worktree changed in what all work trees of the repository share: noted before and after, told, and how it is taken back.

use std::path::Path;

use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::ObjectRetention;
use checkrein_supervise::runs::{RunError, RunId};
use checkrein_worktree::{GitRepository, Owner, SharedMoment, Watched, WorktreeKind};

use super::{Shared, Site};
use crate::api;
use crate::commands::restore::{RestoreContext, Unfinished};
use crate::terminal::{bold, log, plain, print};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Notes what is shared before or after a run works in a worktree of git. That it cannot be is said, and keeps nobody from working.
pub(in crate::commands) fn note(
    environment: &HostEnvironment,
    workspace: &Path,
    (owner, record): (&Owner, &Path),
    run: &RunId,
    moment: SharedMoment,
) {
    let noted = in_workspace(environment, workspace, owner, record, |watched| {
        watched.note(run, moment, environment.now().0)
    });
    match noted {
        Ok(Some(ObjectRetention::All) | None) => {}
        Ok(Some(ObjectRetention::NotAll)) => {
            log(
                "checkrein: the repository has too many objects to keep them all: commits that the run throws away may be gone",
            );
        }
        Err(error) => log(&plain(&format!(
            "checkrein: what the run changes in the repository beside its worktree cannot be told: {}",
            error.message
        ))),
    }
}

/// What is to be said of changes since a run began, with the commands that take them back; empty when there are none.
pub(in crate::commands) fn changes_since(
    environment: &HostEnvironment,
    workspace: &Path,
    owner: &Owner,
    record: &Path,
) -> Vec<String> {
    let told = in_workspace(environment, workspace, owner, record, |watched| {
        let changes = watched.changes()?;
        // Only the last run: those before it have been told.
        let Some(last) = changes.iter().map(|change| change.before).max() else { return Ok(Vec::new()) };
        let of_last: Vec<_> = changes.into_iter().filter(|change| change.before == last).collect();
        let mut words: Vec<String> = of_last.iter().map(in_words).collect();
        words.extend(
            watched
                .commands(&of_last, last)
                .into_iter()
                .map(|command| format!("`{command}` takes that back")),
        );
        Ok(words)
    });
    told.unwrap_or_else(|error| Some(vec![error.message])).unwrap_or_default()
}

fn in_workspace<T>(
    environment: &HostEnvironment,
    workspace: &Path,
    owner: &Owner,
    record: &Path,
    work: impl FnOnce(&Watched<'_>) -> Result<T, RunError>,
) -> Result<Option<T>, CommandError> {
    let WorktreeKind::Git { .. } = owner.kind else { return Ok(None) };
    let Some(cwd) = workspace.to_str().and_then(AbsolutePath::new) else { return Ok(None) };
    let environment = HostEnvironment { cwd, ..environment.clone() };
    let site = Site::open(&environment)?;
    let Some(repository) = &site.repository else { return Ok(None) };
    watch(&environment, repository, owner, record, work).map(Some)
}

/// Hands over what it takes to look at what is shared.
pub(super) fn watch<T>(
    environment: &HostEnvironment,
    repository: &GitRepository,
    owner: &Owner,
    record: &Path,
    work: impl FnOnce(&Watched<'_>) -> Result<T, RunError>,
) -> Result<T, CommandError> {
    let ground = RestoreContext::open(environment, Unfinished::Tell)?;
    let manner = ground.manner();
    Ok(work(&Watched { store: &ground.store, manner: &manner, repository, owner, record })?)
}

fn in_words(change: &checkrein_worktree::SharedChange) -> String {
    let runs = if change.executes { "; git runs it the next time" } else { "" };
    plain(&format!("outside of the worktree: {}{runs}", change.what))
}

pub(super) fn show_changes(shared: &Shared) {
    if shared.changes.is_empty() {
        return;
    }
    print(&bold("changed in the repository itself, which a merge or a discard leaves as it is:"));
    for change in &shared.changes {
        print(&in_words(change));
    }
    for command in &shared.commands {
        print(&plain(&format!("`{command}` takes that back")));
    }
}

pub(super) fn described_changes(shared: &Shared) -> api::saved::RepositoryChanges {
    let one = |change: &checkrein_worktree::SharedChange| api::saved::RepositoryChange {
        what: api::recorded(&change.what),
        part: api::recorded(&change.part),
        executes: change.executes,
        snapshot: api::recorded(&change.before),
    };
    api::saved::RepositoryChanges {
        changes: shared.changes.iter().map(one).collect(),
        undo: shared.commands.clone(),
    }
}
