//! `checkrein run list`: the agents that ran under `checkrein run`, and how they ended.

mod shown;

use serde::Serialize;

use checkrein_supervise::runs::{
    Archived, CommandWord, Found, Lock, RunStage, RunState, RunStateDamage, Runs, Whereabouts,
};

use super::name_choice::NamedKind;
use super::{ExitStatus, OutputForm, Switch};
use crate::api::{self, recorded};
use crate::render::time;
use crate::terminal::{cut, log, plain, print, print_exact, table, wrapped};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Lists the newest runs, newest last.
pub fn list(
    environment: &HostEnvironment,
    count: usize,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    runs(environment, count, Switch::Off, output)
}

/// Lists all runs and checks that those that are done are what they were.
pub fn verify(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    runs(environment, usize::MAX, Switch::On, output)
}

/// Shows the one run whose name begins so.
pub fn show(
    environment: &HostEnvironment,
    name: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let runs = Runs::new(environment.state.root());
    let mut all = runs.all()?;
    let names: Vec<String> = all.iter().map(|found| found.id.to_string()).collect();
    let only = NamedKind::Run.newest_or_only(name, names.iter().map(String::as_str))?;
    all.retain(|found| found.id.to_string() == only);
    let found = all.first().ok_or_else(|| NamedKind::Run.unknown(name))?;
    let state = match &found.loaded {
        Ok(loaded) => &loaded.state,
        Err(error) => return Err(CommandError::user(error.message.clone(), error.hint.clone())),
    };
    let how = how(&runs, found, state);
    match output {
        OutputForm::Json => print_exact(&api::pretty(&described(found, state, &how, None))?),
        OutputForm::Text => {
            for (title, cell) in shown::rows(state, &how, &words(state).join(" ")) {
                print(&wrapped(&format!("{title:<9}  {cell}")));
            }
        }
    }
    Ok(ExitStatus::Done)
}

fn runs(
    environment: &HostEnvironment,
    count: usize,
    verify: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let runs = Runs::new(environment.state.root());
    let mut all = runs.all()?;
    let hidden = if verify == Switch::On { 0 } else { all.len().saturating_sub(count) };
    let all = all.split_off(hidden);
    let mut rows = Vec::new();
    let mut is_whole = true;
    for found in &all {
        let changed = match (verify, found.whereabouts) {
            (Switch::On, Whereabouts::Done) => match runs.verify(&found.id)? {
                Archived::Whole => None,
                Archived::Changed(wrong) => Some(wrong),
            },
            _ => None,
        };
        is_whole &= changed.is_none();
        let state = match &found.loaded {
            Ok(loaded) => {
                if let RunStateDamage::Backup(why) = &loaded.damage {
                    log(&plain(&format!(
                        "run {}: its state is damaged ({why}); this is the one before it",
                        found.id
                    )));
                }
                &loaded.state
            }
            Err(error) => {
                is_whole = false;
                log(&plain(&error.message));
                continue;
            }
        };
        let how = how(&runs, found, state);
        match output {
            OutputForm::Json => print_exact(&api::line(&described(found, state, &how, changed.as_deref()))?),
            OutputForm::Text => {
                for wrong in changed.into_iter().flatten() {
                    log(&format!("run {}: {wrong}", found.id));
                }
                rows.push(row(found, state, &how));
            }
        }
    }
    if output == OutputForm::Text {
        if all.is_empty() {
            print("no agent has run under `checkrein run` yet");
        } else {
            print(&table(&HEAD, rows));
        }
        if hidden > 0 {
            log(&format!("and {hidden} older ones; `--number` shows more"));
        }
    }
    Ok(if is_whole { ExitStatus::Done } else { ExitStatus::Failed })
}

/// The columns of the list.
const HEAD: [&str; 8] = ["run", "began", "worktree", "answers", "tokens", "cost", "agent", "state"];

fn described(
    found: &Found,
    state: &RunState,
    how: &str,
    changed: Option<&[String]>,
) -> api::programs::RunAnswer {
    api::programs::RunAnswer {
        run: recorded(&found.id),
        created: state.created.into(),
        stage: state.stage.name().to_owned(),
        state: how.to_owned(),
        reason: state.end().and_then(|end| end.reason.clone()),
        archived: found.whereabouts == Whereabouts::Done,
        changed: changed.map(<[String]>::to_vec),
        agent: words(state),
        workspace: state.workspace.to_string_lossy().into_owned(),
        directory: state.directory.to_string_lossy().into_owned(),
        worktree: state.worktree.clone(),
        session: state.session().map(str::to_owned),
        limits: recorded(&state.limits),
        bounds: state.manner.scope.clone().and_then(|scope| serde_json::from_value(scope).ok()),
        told: state.told(),
        spent: spent_of(state),
        attempts: recorded(&state.attempts),
    }
}

/// What a run has spent, for programs; what nobody told is null.
fn spent_of(state: &RunState) -> serde_json::Value {
    let mut spent = recorded(&state.spent());
    if !state.told() {
        for field in ["dollars", "tokens", "iterations"] {
            spent[field] = serde_json::Value::Null;
        }
    }
    spent
}

/// How far it is, in words.
fn how(runs: &Runs, found: &Found, state: &RunState) -> String {
    let is_held = || Lock::held(&Lock::path(&runs.folder(&found.id, Whereabouts::Active))).is_some();
    match (state.stage, state.end()) {
        (RunStage::Prepared | RunStage::Started, _) if is_held() => "runs".to_owned(),
        (RunStage::Prepared | RunStage::Started, _) => "cut off".to_owned(),
        (RunStage::Stopped, Some(end)) => match (&end.stopped_by, end.failure) {
            (Some(switch), _) => format!("stopped: {switch}"),
            (None, Some(failure)) => format!("its provider failed: {}", word(failure.cause)),
            // Nothing else stops a run, and older states do not say what failed.
            (None, None) => "its provider failed".to_owned(),
        },
        (RunStage::Ended, Some(end)) => format!("ended with {}", end.status),
        (other, _) => other.name().to_owned(),
    }
}

/// How much is shown of how far a run is and why, in characters.
const REASON: usize = 90;

fn row(found: &Found, state: &RunState, how: &str) -> Vec<String> {
    let spent = state.spent();
    let known = |text: String| if state.told() { text } else { "unknown".to_owned() };
    let reason =
        state.end().and_then(|end| end.reason.as_deref()).filter(|_| state.stage == RunStage::Stopped);
    vec![
        found.id.to_string(),
        time(state.created),
        state.worktree.clone().unwrap_or_default(),
        known(spent.iterations.to_string()),
        known(spent.tokens.to_string()),
        spent.dollars.map_or_else(|| "unknown".to_owned(), |dollars| known(format!("{dollars:.2}"))),
        cut(&plain(&words(state).join(" ")), 40),
        reason.map_or_else(|| how.to_owned(), |reason| cut(&plain(&format!("{how}: {reason}")), REASON)),
    ]
}

fn words(state: &RunState) -> Vec<String> {
    let text = |word: &CommandWord| match word {
        CommandWord::Text(text) => text.clone(),
        CommandWord::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    };
    state.agent.iter().map(text).collect()
}

/// The name of a value in words.
pub(super) fn word(value: impl Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    name.and_then(|name| name.as_str().map(|name| name.replace('_', " "))).unwrap_or_default()
}
