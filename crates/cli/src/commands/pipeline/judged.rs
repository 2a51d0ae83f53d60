//! What the gates and reviewers of a run judged, so that nothing else is published.
//!
//! A hook of git, or a program that a step runs, can put something else into a commit than what lay on disk when the gates looked.

use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_gates::Gate;
use checkrein_ledger::TreeMark;
use checkrein_pipelines::{PipelineFile, PipelineState, ReviewedThing, StepAct, StepOutcome};
use checkrein_policy::Digest;
use checkrein_supervise::runs::file::replace;
use checkrein_worktree::{ContentIds, GitRepository, contents_committed, contents_on_disk, kept_by_git};

use super::super::worktree::repository;
use super::act::StepWork;
use super::attempt_folder;

/// The file of an attempt that says what it judged.
const FILE: &str = "judged.json";
/// How many names are told (ours).
const TOLD: usize = 3;

/// Whether a step judges what changed.
pub(super) fn judges(act: &StepAct) -> bool {
    match act {
        StepAct::Gate(step) => match step.gate {
            Gate::Completeness
            | Gate::Secrets
            | Gate::Scope
            | Gate::Phantoms
            | Gate::Licences
            | Gate::Implementation => true,
            Gate::Mechanical | Gate::TestPlan | Gate::Lld => false,
        },
        StepAct::Review(step) => matches!(step.of, ReviewedThing::Changes),
        StepAct::Command(_) | StepAct::Agent(_) | StepAct::Approve(_) | StepAct::PullRequest(_) => false,
    }
}

/// Writes down what lies on disk when a step begins to judge it; what lay in the tree then.
pub(super) fn keep(work: &StepWork) -> Option<TreeMark> {
    if !judges(&work.step.act) {
        return None;
    }
    let (repository, ids) = on_disk(&work.environment, &work.directory, work.base.as_deref())?;
    // Without it nothing is published, which says so.
    if work.base.is_some()
        && let Ok(text) = serde_json::to_vec(&ids)
    {
        drop(replace(&work.folder.join(FILE), &text));
    }
    marked(&repository, &ids)
}

/// What lies in the tree of the steps after one that may have changed it.
pub(super) fn left(work: &StepWork) -> Option<TreeMark> {
    match work.step.act {
        StepAct::Command(_) | StepAct::Agent(_) => {
            tree(&work.environment, &work.directory, work.base.as_deref())
        }
        StepAct::Gate(_) | StepAct::Review(_) | StepAct::Approve(_) | StepAct::PullRequest(_) => None,
    }
}

/// What an earlier run left in a worktree that began with a commit, in clauses.
pub(super) fn left_before(environment: &HostEnvironment, directory: &Path, base: &str) -> Vec<String> {
    let Some((_, ids)) = on_disk(environment, directory, Some(base)) else { return Vec::new() };
    let named = |ids: &ContentIds| {
        let names = ids.keys().take(TOLD).map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
        let more = ids.len().saturating_sub(TOLD);
        if more > 0 { format!("{names} and {more} more") } else { names }
    };
    if ids.is_empty() {
        Vec::new()
    } else {
        vec![format!("these files differ from where it began: {}", named(&ids))]
    }
}

/// What lies in a tree that began with a commit, or that belongs to the user where there is none; `None` where that cannot be told.
pub(super) fn tree(environment: &HostEnvironment, directory: &Path, base: Option<&str>) -> Option<TreeMark> {
    let (repository, ids) = on_disk(environment, directory, base)?;
    marked(&repository, &ids)
}

fn on_disk(
    environment: &HostEnvironment,
    directory: &Path,
    base: Option<&str>,
) -> Option<(GitRepository, ContentIds)> {
    let repository = repository(environment, directory).ok()??;
    let ids = contents_on_disk(&repository, base.unwrap_or("HEAD")).ok()?;
    Some((repository, ids))
}

fn marked(repository: &GitRepository, ids: &ContentIds) -> Option<TreeMark> {
    let disk = Digest::of(&serde_json::to_string(ids).ok()?).to_string();
    let kept = Digest::of(&kept_by_git(repository).ok()?).to_string();
    Some(TreeMark { disk, kept })
}

fn place(work: &StepWork) -> Result<(checkrein_worktree::GitRepository, &str), String> {
    let base = work.base.as_deref().ok_or_else(|| "the task has no branch of its own".to_owned())?;
    let found = repository(&work.environment, &work.directory).map_err(|error| error.message)?;
    Ok((found.ok_or_else(|| "the directory of the steps is not a work tree".to_owned())?, base))
}

/// Why what stands on the branch is not what was judged; `None` where it is, and where no step judged anything.
pub(super) fn difference(work: &StepWork, commit: &str) -> Option<String> {
    let state = work.lineage.as_deref()?;
    let root = work.folder.ancestors().nth(3)?;
    let (step, folder) = last_judged(&work.pipeline, state, root)?;
    let text = checkrein_files::read_text(folder.join(FILE), super::LONGEST_OUTPUT);
    let ids: Option<ContentIds> = text.ok().and_then(|text| serde_json::from_str(&text).ok());
    let Some(ids) = ids else { return Some(format!("it is not known what `{step}` judged")) };
    let committed = match place(work).and_then(|(repository, base)| {
        contents_committed(&repository, base, commit).map_err(|error| error.message)
    }) {
        Ok(committed) => committed,
        Err(why) => return Some(format!("what was committed cannot be told: {why}")),
    };
    let other = others(&committed, &ids);
    if other.is_empty() {
        return None;
    }
    let named = other.iter().take(TOLD).map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
    let more = if other.len() > TOLD { format!(" and {} more", other.len() - TOLD) } else { String::new() };
    Some(format!("the commit holds something else than what `{step}` judged: {named}{more}"))
}

/// The paths whose committed content is not the judged one.
fn others<'a>(committed: &'a ContentIds, judged: &ContentIds) -> Vec<&'a String> {
    committed.iter().filter(|(path, id)| judged.get(*path) != Some(id)).map(|(path, _)| path).collect()
}

/// The step that judged last, with the folder of that attempt.
fn last_judged<'a>(
    pipeline: &'a PipelineFile,
    state: &PipelineState,
    root: &Path,
) -> Option<(&'a str, PathBuf)> {
    let steps = pipeline.steps.iter().enumerate().zip(&state.steps);
    let judged = steps.filter(|((_, step), known)| judges(&step.act) && known.outcome == StepOutcome::Passed);
    let attempts = judged.filter_map(|((place, step), known)| {
        let folder = root.join(attempt_folder(place, &step.name, known.attempts.len()));
        Some((known.attempts.last()?.began, step.name.as_str(), folder))
    });
    attempts.max_by_key(|(began, ..)| *began).map(|(_, step, folder)| (step, folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(all: &[(&str, &str)]) -> ContentIds {
        all.iter().map(|(path, id)| ((*path).to_owned(), (*id).to_owned())).collect()
    }

    #[test]
    fn what_is_committed_has_to_be_what_was_judged() {
        let judged = ids(&[("a", "1"), ("notes", "2"), ("b", "gone")]);
        assert!(others(&ids(&[("a", "1"), ("b", "gone")]), &judged).is_empty());
        assert_eq!(others(&ids(&[("a", "3")]), &judged), ["a"]);
        assert_eq!(others(&ids(&[("new", "1")]), &judged), ["new"]);
        assert_eq!(others(&ids(&[("b", "1")]), &judged), ["b"]);
    }
}
