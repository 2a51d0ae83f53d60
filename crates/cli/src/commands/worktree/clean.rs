//! Taking away worktrees whose branches are merged.

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_supervise::runs::{Lock, RunStage};
use checkrein_worktree::{BranchFate, Owner, WorktreeName, branch_fate};

use super::removal::{RemovalReport, take_away};
use super::{Known, Site};
use crate::api;
use crate::commands::{ExitStatus, OutputForm, for_people_only};
use crate::terminal::{log, plain, print, print_exact};

/// Whether worktrees are taken away, or only named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cleaning {
    /// They are saved and taken away.
    Remove,
    /// They are named.
    ShowOnly,
}

/// Worktrees by name, each with what was found about it, or why that is not known.
pub(in super::super) type ByName<T> = Vec<(WorktreeName, Result<T, CommandError>)>;

/// A worktree that could go, and the branch that has everything of it.
struct MergedWorktree {
    known: Known,
    into: String,
}

/// Takes away the worktrees of this project whose branches are merged. What is in them is saved first.
pub fn clean(
    environment: &HostEnvironment,
    cleaning: Cleaning,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "worktree clean")?;
    let mut count = 0;
    for (name, found) in merged(environment)? {
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                log(&plain(&format!("the worktree `{name}` stays: {error}")));
                continue;
            }
        };
        count += 1;
        let removed = match cleaning {
            Cleaning::Remove => Some(removed(environment, &found)?),
            Cleaning::ShowOnly => None,
        };
        match (output, &removed) {
            (OutputForm::Json, _) => print_exact(&api::line(&api::saved::MergedBranch {
                name: name.as_str().to_owned(),
                into: found.into,
                removed: removed.as_ref().map(RemovalReport::json),
            })?),
            (OutputForm::Text, None) => print(&plain(&format!("{name}  merged into {}", found.into))),
            (OutputForm::Text, Some(removed)) => {
                log(&plain(&format!("the branch of `{name}` is merged into `{}`", found.into)));
                removed.tell(&name);
            }
        }
    }
    if count == 0 && output == OutputForm::Text {
        print("no worktree of this project has a merged branch");
    }
    Ok(ExitStatus::Done)
}

/// The same before a task begins: each worktree that went, with the branch that has everything of it, or why it stays.
#[cfg(target_os = "linux")]
pub(in super::super) fn clean_up(environment: &HostEnvironment) -> Result<ByName<String>, CommandError> {
    let all = merged(environment)?.into_iter().map(|(name, found)| {
        let gone = found.and_then(|found| removed(environment, &found).map(|_| found.into));
        (name, gone)
    });
    Ok(all.collect())
}

fn removed(environment: &HostEnvironment, found: &MergedWorktree) -> Result<RemovalReport, CommandError> {
    let lock = found.known.lock()?;
    lock.lend(|| take_away(environment, &found.known, RunStage::Merged))
}

/// The worktrees whose branches are merged. One in use, one that is not there, and one with changes that no commit has are left alone.
fn merged(environment: &HostEnvironment) -> Result<ByName<MergedWorktree>, CommandError> {
    let names = Site::open(environment)?.places.names();
    Ok(names
        .into_iter()
        .filter_map(|name| {
            let found = fate(environment, &name).transpose()?;
            Some((name, found))
        })
        .collect())
}

fn fate(environment: &HostEnvironment, name: &WorktreeName) -> Result<Option<MergedWorktree>, CommandError> {
    let site = Site::open(environment)?;
    let record = site.places.record(name);
    let is_free = Lock::held(&Lock::path(&record)).is_none();
    let is_there =
        Owner::load(&record)?.is_some_and(|owner| owner.is_there() && owner.workspace == site.workspace);
    if !is_free || !is_there {
        return Ok(None);
    }
    let known = Known::find(environment, name.as_str())?;
    let into = match known.repository()? {
        Some(repository) => match branch_fate(repository, &known.owner, &known.record)? {
            BranchFate::MergedInto(into) => into,
            BranchFate::Nothing | BranchFate::Open => return Ok(None),
        },
        None => return Ok(None),
    };
    let changes = known.changes(environment)?;
    let differs = match (known.repository()?, &changes.tree) {
        (Some(repository), Some(tree)) => tree.differ_from_branch(repository, &known.owner)?,
        _ => true,
    };
    if differs {
        return Err(CommandError::user(
            "it has changes that are in no commit",
            format!("look at them: `checkrein worktree diff {name}`"),
        ));
    }
    Ok(Some(MergedWorktree { known, into }))
}
