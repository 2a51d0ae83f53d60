//! Bringing what a run changed into the work tree that it came from: all of it, or nothing.

use std::fs;
use std::path::{Path, PathBuf};

use checkrein_ledger::{Durability, content_hash};
use checkrein_protocol::{ActionId, OutcomeRecord, RecordBody, SessionId, ToolName};
use checkrein_session::SessionLedger;

use checkrein_snapshot::{
    CaptureOutcome, CaptureRequest, CaptureSelection, Circumstances, Effort, SessionPlace, SnapshotId,
    SnapshotReason, capture,
};
use checkrein_supervise::runs::{RunId, RunStage};
use checkrein_worktree::{GuardFiles, MergeProgress, Merging, Rights, WorktreeName};
use serde_json::json;

use super::super::unconfirmed;
use super::cut_off::take_back;
use super::removal::{RemovalReport, take_away};
use super::shared::{described_changes, show_changes};
use super::{Known, Shared, show, show_patch, with_copies};
use crate::api;
use crate::api::saved::LostGroup;
use crate::commands::restore::{RestoreConsent, RestoreContext, Unfinished};
use crate::commands::{ExitStatus, OutputForm, for_people_only};
use crate::terminal::{Reply, confirm, counted, log, plain, print, print_exact};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// What becomes of a worktree when its changes are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Afterwards {
    /// It goes.
    Remove,
    /// It stays.
    Keep,
}

/// Brings what a run changed into the work tree that it came from, as one change that is not committed.
pub fn merge(
    environment: &HostEnvironment,
    name: &str,
    consent: RestoreConsent,
    guard_files: GuardFiles,
    afterwards: Afterwards,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "worktree merge")?;
    let known = Known::find(environment, name)?;
    let lock = known.lock()?;
    lock.lend(|| merge_held(environment, &known, consent, guard_files, afterwards, output))
}

fn merge_held(
    environment: &HostEnvironment,
    known: &Known,
    consent: RestoreConsent,
    guard_files: GuardFiles,
    afterwards: Afterwards,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match Merging::load(&known.record)? {
        Some(merging) if merging.progress == MergeProgress::Begun => {
            take_back(environment, known, &merging)?;
        }
        // Everything is merged, and the worktree was about to go.
        Some(_) if afterwards == Afterwards::Remove && !known.owner.is_there() => {
            let removed = take_away(environment, known, RunStage::Merged)?;
            return told(known, &Merged::default(), &Shared::default(), Some(&removed), output);
        }
        Some(_) | None => {}
    }
    let found = known.changes(environment)?;
    let shared = known.shared(environment)?;
    if output == OutputForm::Text {
        show(&found);
        show_changes(&shared);
        if consent == RestoreConsent::Ask && !found.files.is_empty() {
            show_patch(&found.patch);
        }
    }
    let reply = || match consent {
        RestoreConsent::Given => Reply::Yes,
        RestoreConsent::ShowOnly => Reply::Nobody,
        RestoreConsent::Ask => confirm("Bring this into the work tree? What is there now is saved first."),
    };
    let run = known.owner.run.clone();
    let merged = if let (Some(changes), Some(repository)) = (&found.tree, known.repository()?) {
        let plan = changes.merge(repository, &known.record, guard_files)?;
        match reply() {
            Reply::Yes => {}
            reply @ (Reply::No | Reply::Nobody) => return unconfirmed(reply, output),
        }
        let saved = save_before(environment, known, &plan.paths)?;
        let merging = Merging::begun(saved.map(|id| id.0));
        merging.save(&known.record)?;
        let rights = Rights::of(&known.site.workspace, &plan.paths);
        if let Err(error) = plan.carry_out(repository) {
            // It may have changed some of the files before it failed.
            take_back(environment, known, &merging)?;
            return Err(error.into());
        }
        Merged { lost_groups: rights.give_back(), paths: plan.paths, left_behind: plan.left_behind, saved }
    } else {
        match reply() {
            Reply::Yes => {}
            reply @ (Reply::No | Reply::Nobody) => return unconfirmed(reply, output),
        }
        let now = environment.now().0;
        let (plan, saved, lost_groups) = with_copies(environment, &known.owner.place, |copies| {
            let (plan, saved) = copies.merge(&known.owner, guard_files, now, place(&run, &known.name))?;
            Merging::begun(saved.map(|id| id.0)).save(&known.record)?;
            let rights = Rights::of(&known.site.workspace, &plan.paths);
            plan.carry_out(&known.site.workspace)?;
            Ok::<_, CommandError>((plan, saved, rights.give_back()))
        })??;
        Merged { lost_groups, paths: plan.paths, left_behind: plan.left_behind, saved }
    };
    for (path, group) in &merged.lost_groups {
        log(&plain(&format!(
            "`{path}` belonged to the group {group}, which you cannot give it, and belongs to your own group now; a privileged user gives it back: `chgrp {group} '{path}'`",
            path = path.display()
        )));
    }
    record(environment, known, &merged);
    match afterwards {
        Afterwards::Keep => Merging::forget(&known.record)?,
        Afterwards::Remove => {
            Merging::done().save(&known.record)?;
        }
    }
    for guard in &merged.left_behind {
        log(&format!(
            "`{guard}` says what agents may do, so its change stays behind; `--with-guard-files` brings it too"
        ));
    }
    let removed = match afterwards {
        Afterwards::Keep => None,
        Afterwards::Remove => match take_away(environment, known, RunStage::Merged) {
            Ok(removed) => Some(removed),
            // The changes are in the work tree, which is what was asked for.
            Err(error) => {
                log(&plain(&format!("merged; the worktree `{}` stays: {}", known.name, error.message)));
                if let Some(hint) = error.hint {
                    log(&format!(
                        "hint: {hint}; then `checkrein worktree discard {}` removes it",
                        known.name
                    ));
                }
                None
            }
        },
    };
    told(known, &merged, &shared, removed.as_ref(), output)
}

/// Tells what a merge did.
fn told(
    known: &Known,
    merged: &Merged,
    shared: &Shared,
    removed: Option<&RemovalReport>,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match output {
        OutputForm::Json => print_exact(&api::pretty(&api::saved::Merged {
            name: known.name.as_str().to_owned(),
            repository: described_changes(shared),
            merged: merged.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            left_behind: api::recorded(&merged.left_behind),
            lost_groups: merged
                .lost_groups
                .iter()
                .map(|(path, group)| LostGroup { path: path.to_string_lossy().into_owned(), group: *group })
                .collect(),
            snapshot: api::recorded(&merged.saved),
            removed: removed.map(RemovalReport::json),
        })?),
        OutputForm::Text => {
            let (files, are) = (
                counted(merged.paths.len() as u64, "file"),
                if merged.paths.len() == 1 { "is" } else { "are" },
            );
            print(&format!(
                "{files} of the work tree {are} changed and not committed{}",
                merged
                    .saved
                    .map(|saved| format!("; `checkrein undo {saved}` takes that back"))
                    .unwrap_or_default()
            ));
            if let Some(removed) = removed {
                removed.tell(&known.name);
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// What a merge did.
#[derive(Default)]
struct Merged {
    paths: Vec<PathBuf>,
    left_behind: Vec<&'static str>,
    /// Files whose group could not be kept, with its number.
    lost_groups: Vec<(PathBuf, u32)>,
    saved: Option<SnapshotId>,
}

/// Saves what a merge changes in the work tree, as before an action, so that `undo` finds it.
fn save_before(
    environment: &HostEnvironment,
    known: &Known,
    paths: &[PathBuf],
) -> Result<Option<SnapshotId>, CommandError> {
    if paths.is_empty() {
        return Ok(None);
    }
    let ground = RestoreContext::open(environment, Unfinished::Finish)?;
    let mut wanted: Vec<CaptureRequest> = paths
        .iter()
        .map(|path| CaptureRequest {
            path: highest_missing(&known.site.workspace, path),
            selection: CaptureSelection::Everything,
        })
        .collect();
    wanted.sort();
    wanted.dedup();
    let draft = ground.store.begin(Effort::Small)?;
    let captured = match capture(&draft, &wanted, &ground.manner())? {
        CaptureOutcome::Whole(captured) => captured,
        CaptureOutcome::Over(_) => {
            return Err(CommandError::user(
                "what would be changed is too large to be saved",
                "merge it by hand",
            ));
        }
    };
    let circumstances = Circumstances {
        at: environment.now().0,
        occasion: SnapshotReason::BeforeAction,
        reason: format!("merging the worktree `{}`", known.name),
        place: Some(place(&known.owner.run, &known.name)),
    };
    Ok(Some(draft.commit(&captured.described(circumstances))?))
}

/// The path, or the highest directory above it that is not there yet.
fn highest_missing(workspace: &Path, path: &Path) -> PathBuf {
    let mut place = workspace.to_owned();
    for part in path.components() {
        place.push(part);
        if fs::symlink_metadata(&place).is_err() {
            return place;
        }
    }
    place
}

/// Where a merge stands in the records: in a session of the run's name.
fn place(run: &RunId, name: &WorktreeName) -> SessionPlace {
    SessionPlace { session: run.to_string(), action: Some(action(name)), sequence: 0 }
}

fn action(name: &WorktreeName) -> String {
    format!("merge-{name}")
}

/// Writes down that the merge is done: from this moment on, what differs was changed by somebody else.
fn record(environment: &HostEnvironment, known: &Known, merged: &Merged) {
    let ledger = SessionLedger::open(&environment.state, &SessionId(known.owner.run.to_string()));
    let event = RecordBody::Event {
        name: "checkrein.merged".to_owned(),
        fields: json!({
            "worktree": known.name.as_str(),
            "files": merged.paths.len(),
            "left_behind": merged.left_behind,
            "snapshot": merged.saved,
        }),
    };
    let outcome = RecordBody::Outcome(OutcomeRecord {
        action_id: ActionId(action(&known.name)),
        tool: ToolName("checkrein worktree merge".to_owned()),
        failed: false,
        error: None,
        duration_ms: None,
        output_bytes: 0,
        output_hash: content_hash(b""),
        masked: Vec::new(),
        planted: None,
        observation: None,
        verification: None,
    });
    if let Err(error) = ledger.append_all(environment.now(), vec![event, outcome], Durability::Durable) {
        log(&format!("not recorded: {error}"));
    }
}
