//! `checkrein snapshot restore` goes back to a snapshot, or some paths of it; `checkrein session rollback` to what stood before a session went wrong.

use std::path::PathBuf;

use checkrein_ledger::{Durability, lines};
use checkrein_patterns::ActionNumber;
use checkrein_protocol::{RecordBody, RollbackStage};
use checkrein_session::SessionLedger;
use checkrein_snapshot::{ActionEndTime, SnapshotId};

use super::restore::{Consent, Permissions, RestoreContext, RestoreTerms, SHOWN, restore};
use super::session_choice::only_folder;
use super::undo::spare_remotes;
use super::{Exit, Output};
use crate::api;
use crate::terminal::{confirm, dim, log, plain, print};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::rollback::{Session, Way, Who};

/// Goes back to a snapshot: everything in it, or what lies in `paths`.
pub fn rollback(
    environment: &HostEnvironment,
    snapshot: SnapshotId,
    paths: &[String],
    permissions: Permissions,
    output: Output,
) -> Result<Exit, CommandError> {
    permissions.check(environment, "snapshot restore")?;
    let ground = RestoreContext::open(environment)?;
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

/// The number of an action of a session, from its number or the beginning of its name.
fn action_number(ledger: &SessionLedger, text: &str) -> Result<ActionNumber, CommandError> {
    let is_number = !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    if let (true, Ok(number)) = (is_number, text.parse()) {
        return Ok(ActionNumber(number));
    }
    let reviews = lines(&ledger.path())?.filter_map(|line| match line.ok()?.record?.body {
        RecordBody::Review(review) => Some(review.action_id),
        _ => None,
    });
    let found: Vec<u64> = reviews
        .zip(1..)
        .filter(|(id, _)| !text.is_empty() && id.as_str().starts_with(text))
        .map(|(_, number)| number)
        .collect();
    match found.as_slice() {
        [number] => Ok(ActionNumber(*number)),
        [] => Err(CommandError::user(
            format!("no action of this session begins with `{}`", plain(text)),
            "`checkrein log` shows the ids",
        )),
        many => Err(CommandError::user(
            format!("{} actions of this session begin with `{}`", many.len(), plain(text)),
            "give more of the id",
        )),
    }
}

/// Goes back to what stood before an action of a session. What changed before it stays.
pub fn rollback_session(
    environment: &HostEnvironment,
    session: &str,
    before: &str,
    consent: Consent,
    output: Output,
) -> Result<Exit, CommandError> {
    let ledger = SessionLedger::of_folder(&environment.state, only_folder(environment, session)?);
    let before = action_number(&ledger, before)?;
    let state = ledger.state()?;
    let unknown = || {
        CommandError::user(
            "the session has no workspace on record",
            "`checkrein snapshot list` lists what is saved",
        )
    };
    let workspace = state.workspace().cloned().ok_or_else(unknown)?;
    let config = checkrein_engine::config_files::load(environment, &workspace)?.config;
    let session =
        Session { environment, config: &config, workspace: &workspace, ledger: &ledger, state: &state };
    let depth = config.interventions.checkpoint_rollback.max_rollback_depth;
    let way = session.way(before, depth, Who::Person).map_err(|why| {
        CommandError::user(
            format!("there is no way back: {why}"),
            "`checkrein snapshot list` lists what is saved",
        )
    })?;
    if output == Output::Text {
        show(&way);
    }
    way.spared().for_each(|one| log(&format!("kept, since it says what agents may do: {}", plain(&one))));
    way.unsaved().for_each(|one| log(&format!("cannot be saved before: {}", plain(&one))));
    let goes_on = !way.is_empty()
        && match consent {
            Consent::Given => true,
            Consent::ShowOnly => false,
            Consent::Ask => confirm("Do it? What is there now is saved first."),
        };
    if !goes_on {
        if output == Output::Json {
            print(&told(&session.proposal(&way))?);
        }
        let is_refused = consent == Consent::Ask && !way.is_empty();
        return if is_refused {
            Err(CommandError::user("nothing was done", "`--yes` answers the question for scripts"))
        } else {
            Ok(Exit::Done)
        };
    }
    let record = session.go(way, "person");
    ledger.append(environment.now(), RecordBody::Rollback(Box::new(record.clone())), Durability::Durable)?;
    match output {
        Output::Json => print(&told(&record)?),
        Output::Text => {
            print(&plain(&record.text));
            record.left.iter().for_each(|left| log(&format!("not as it was: {}", plain(left))));
        }
    }
    let is_done = record.stage == RollbackStage::Done && record.left.is_empty();
    Ok(if is_done { Exit::Done } else { Exit::Failed })
}

/// A rollback of a session as it is recorded.
fn told(record: &impl serde::Serialize) -> Result<String, CommandError> {
    let fields = api::recorded(record).as_object().cloned().unwrap_or_default();
    api::pretty(&api::sessions::SessionRollback(fields))
}

fn show(way: &Way) {
    for (of, step) in way.steps().take(SHOWN) {
        print(&format!("  {}{}", plain(&way.in_words(step)), dim(&format!("  from snapshot {of}"))));
    }
    match way.steps().count() {
        0 => print("nothing that is saved changed since then; nothing to do"),
        count if count > SHOWN => print(&format!("  and {} more", count - SHOWN)),
        _ => {}
    }
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
