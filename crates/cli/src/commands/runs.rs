//! `checkrein runs`: the agents that ran under `checkrein run`, and how they ended.

use checkrein_supervise::runs::{Archived, Damage, Found, Lock, RunState, Runs, Stage, Whereabouts, Word};
use serde_json::json;

use super::log::time;
use super::{Exit, Output, Switch, line};
use crate::terminal::{cut, log, plain, print, table};
use checkrein_engine::environment::Surroundings;
use checkrein_engine::error::CommandError;

/// Lists the newest runs, newest last; with `verify` also checks that those that are done are what they were.
pub fn runs(
    surroundings: &Surroundings,
    count: usize,
    verify: Switch,
    output: Output,
) -> Result<Exit, CommandError> {
    let runs = Runs::new(surroundings.state.root());
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
                if let Damage::Backup(why) = &loaded.damage {
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
            Output::Json => print(&line(&json!({
                "run": found.id,
                "created": state.created,
                "stage": state.stage.name(),
                "state": how,
                "reason": state.end().and_then(|end| end.reason.as_deref()),
                "archived": found.whereabouts == Whereabouts::Done,
                "changed": changed,
                "agent": words(state),
                "workspace": state.workspace.to_string_lossy(),
                "directory": state.directory.to_string_lossy(),
                "worktree": state.worktree,
                "session": state.session(),
                "limits": state.limits,
                "told": state.told(),
                "spent": state.spent(),
                "attempts": state.attempts,
            }))?),
            Output::Text => {
                for wrong in changed.into_iter().flatten() {
                    log(&format!("run {}: {wrong}", found.id));
                }
                rows.push(row(found, state, &how));
            }
        }
    }
    if output == Output::Text {
        if all.is_empty() {
            print("no agent has run under `checkrein run` yet");
        } else {
            let head = ["run", "began", "worktree", "answers", "tokens", "cost", "agent", "state"];
            print(&table(&head, rows));
        }
        if hidden > 0 {
            log(&format!("and {hidden} older ones; `--number` shows more"));
        }
    }
    Ok(if is_whole { Exit::Done } else { Exit::Failed })
}

/// How far it is, in words.
fn how(runs: &Runs, found: &Found, state: &RunState) -> String {
    let is_held = || Lock::held(&Lock::path(&runs.folder(&found.id, Whereabouts::Active))).is_some();
    match (state.stage, state.end()) {
        (Stage::Prepared | Stage::Started, _) if is_held() => "runs".to_owned(),
        (Stage::Prepared | Stage::Started, _) => "cut off".to_owned(),
        (Stage::Stopped, Some(end)) => {
            format!("stopped: {}", end.stopped_by.as_deref().unwrap_or("asked to"))
        }
        (Stage::Ended, Some(end)) => format!("ended with {}", end.status),
        (other, _) => other.name().to_owned(),
    }
}

/// How much is shown of how far a run is and why, in characters.
const REASON: usize = 90;

fn row(found: &Found, state: &RunState, how: &str) -> Vec<String> {
    let spent = state.spent();
    let known = |text: String| if state.told() { text } else { "unknown".to_owned() };
    let reason = state.end().and_then(|end| end.reason.as_deref()).filter(|_| state.stage == Stage::Stopped);
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
    let text = |word: &Word| match word {
        Word::Text(text) => text.clone(),
        Word::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    };
    state.agent.iter().map(text).collect()
}
