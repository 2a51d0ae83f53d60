//! Taking a worktree away, with everything in it saved.

use std::fs;
use std::path::PathBuf;

use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::{
    CaptureBounds, CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Circumstances, Effort,
    SkipReason, SnapshotId, SnapshotReason, capture, measure,
};
use checkrein_supervise::runs::{RunStage, RunState, Runs, Whereabouts};
use checkrein_worktree::{Branch, Removal, WorktreeName, keep_commits, remove};

use super::Known;
use super::shared::watch;
use crate::api;
use crate::commands::restore::{RestoreContext, Unfinished};
use crate::terminal::{log, plain, print};
use checkrein_engine::checkpoint;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// How much is saved of a worktree that goes, with what version control ignores (ours).
const SAVED: CaptureBounds =
    CaptureBounds { entries: 250_000, bytes: 1 << 30, time: std::time::Duration::MAX };

/// What was taken away, and how to have it again.
pub(super) struct RemovalReport {
    saved: Option<SnapshotId>,
    commits: Option<PathBuf>,
    removal: Removal,
}

impl RemovalReport {
    pub(super) fn json(&self) -> api::saved::Removed {
        let branch = match &self.removal.branch {
            Branch::None => "none".to_owned(),
            Branch::Deleted => "deleted".to_owned(),
            Branch::Kept(why) => format!("kept: {why}"),
        };
        api::saved::Removed {
            snapshot: api::recorded(&self.saved),
            commits: self.commits.as_ref().map(|path| path.to_string_lossy().into_owned()),
            branch,
            left: api::recorded(&self.removal.left),
        }
    }

    pub(super) fn tell(&self, name: &WorktreeName) {
        print(&format!("the worktree `{name}` is gone"));
        if let Some(saved) = self.saved {
            log(&format!(
                "what was in it is snapshot {saved}: `checkrein snapshot export {saved} DIRECTORY` copies it"
            ));
        }
        if let Some(commits) = &self.commits {
            log(&plain(&format!("its commits are in `{}`: `git fetch FILE` reads them", commits.display())));
        }
        if let Branch::Kept(why) = &self.removal.branch {
            log(&plain(&format!("its branch stays: {why}")));
        }
        if let Some(left) = &self.removal.left {
            log(&plain(&format!("could not be removed: {left}")));
        }
    }
}

/// Saves a worktree, takes it away, and puts its runs among those that are done.
pub(super) fn take_away(
    environment: &HostEnvironment,
    known: &Known,
    stage: RunStage,
) -> Result<RemovalReport, CommandError> {
    let saved = if known.owner.is_there() { Some(save_worktree(environment, known)?) } else { None };
    let runs = Runs::new(environment.state.root());
    let mut of_it: Vec<RunState> = runs
        .all()?
        .into_iter()
        .filter(|found| found.whereabouts == Whereabouts::Active)
        .filter_map(|found| Some(found.loaded.ok()?.state))
        .filter(|state| {
            state.workspace == known.site.workspace && state.worktree.as_deref() == Some(known.name.as_str())
        })
        .collect();
    let folder = if let Some(newest) = of_it.last() {
        runs.folder(&newest.id, Whereabouts::Active)
    } else {
        let folder = environment.state.root().join("runs/commits");
        fs::create_dir_all(&folder)
            .map_err(|error| CommandError::file("create", folder.display(), &error))?;
        folder
    };
    let commits = folder.join(format!("{}-{}.bundle", known.name, environment.now().0));
    if known.owner.is_there() {
        known.owner.prove()?;
    }
    let repository = known.repository()?;
    if let Some(repository) = repository {
        keep_commits(repository, &known.owner, &commits)?;
    }
    let commits = commits.exists().then_some(commits);
    // Before anything goes: who is cut off from here on finds the worktree and removes the rest.
    for state in &mut of_it {
        state.stage = stage;
        state.written = environment.now().0;
        runs.save(state)?;
        runs.archive(&state.id)?;
    }
    if let Some(repository) = repository {
        watch(environment, repository, &known.owner, &known.record, |watched| {
            watched.let_go()?;
            Ok(())
        })?;
    }
    let removal = remove(repository, &known.owner, &known.record)?;
    let done = |path: PathBuf| {
        let moved = of_it.last().map(|state| runs.folder(&state.id, Whereabouts::Done));
        match (moved, path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path,
        }
    };
    Ok(RemovalReport { saved, commits: commits.map(done), removal })
}

/// Saves everything in a worktree; without what is ignored when that is too much, which is said.
fn save_worktree(environment: &HostEnvironment, known: &Known) -> Result<SnapshotId, CommandError> {
    let ground = RestoreContext::open(environment, Unfinished::Finish)?;
    let named = known.owner.place.to_str().and_then(AbsolutePath::new);
    let ignoring = named.map(|place| checkpoint::ignoring(environment, &place));
    let manner = CaptureOptions { bounds: SAVED, ignoring: ignoring.as_ref(), ..ground.manner() };
    let all = [CaptureRequest { path: known.owner.place.clone(), selection: CaptureSelection::Everything }];
    let wanted = match measure(&all, &manner)? {
        CaptureOutcome::Whole(_) => all,
        CaptureOutcome::Over(_) => {
            log("what is ignored in the worktree is too much to be saved and goes");
            [CaptureRequest { path: known.owner.place.clone(), selection: CaptureSelection::NotIgnored }]
        }
    };
    let draft = ground.store.begin(Effort::Small)?;
    let captured = match capture(&draft, &wanted, &CaptureOptions { bounds: CaptureBounds::NONE, ..manner })?
    {
        CaptureOutcome::Whole(captured) => captured,
        CaptureOutcome::Over(_) => {
            return Err(CommandError::user(
                "the worktree is too large to be saved",
                "remove what is not needed in it",
            ));
        }
    };
    let lost = captured.skipped.iter().find(|one| {
        matches!(one.reason, SkipReason::Unreadable(_) | SkipReason::TooLarge { .. } | SkipReason::Changing)
    });
    if let Some(one) = lost {
        return Err(CommandError::user(
            plain(&format!("`{}` cannot be saved: {}", one.path.as_path().display(), one.reason)),
            "nothing was removed; make it readable, or remove it yourself",
        ));
    }
    let circumstances = Circumstances {
        at: environment.now().0,
        occasion: SnapshotReason::Request,
        reason: format!("before removing the worktree `{}`", known.name),
        place: None,
    };
    Ok(draft.commit(&captured.described(circumstances))?)
}
