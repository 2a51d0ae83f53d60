//! `checkrein sessions`: the sessions that are recorded.

use serde_json::json;

use super::log::time;
use super::{Exit, Output, line};
use crate::error::CommandError;
use crate::surroundings::Surroundings;
use crate::terminal::{print, table, verdict};

/// Lists all sessions, newest last.
pub fn sessions(surroundings: &Surroundings, output: Output) -> Result<Exit, CommandError> {
    let mut all = checkrein_ledger::sessions(&surroundings.state)?;
    all.reverse();
    match output {
        Output::Json => {
            for session in &all {
                print(&line(&json!({
                    "session": session.folder.as_str(),
                    "started": session.started,
                    "last": session.last,
                    "records": session.records,
                    "actions": session.actions,
                    "verdicts": session.verdicts,
                    "halted": session.halt.as_ref().map(|halt| &halt.reason),
                }))?);
            }
        }
        Output::Text if all.is_empty() => print("no session is recorded yet"),
        Output::Text => {
            let rows = all
                .iter()
                .map(|session| {
                    let count = &session.verdicts;
                    let halted = session.halt.as_ref().map(|_| verdict("halt")).unwrap_or_default();
                    let last = session.last.map(|at| time(at.0)).unwrap_or_default();
                    vec![
                        session.folder.as_str().to_owned(),
                        last,
                        session.actions.to_string(),
                        count.ok.to_string(),
                        count.nudge.to_string(),
                        count.escalate.to_string(),
                        count.block.to_string(),
                        halted,
                    ]
                })
                .collect();
            print(&table(&["session", "last", "actions", "ok", "nudge", "escalate", "block", ""], rows));
        }
    }
    Ok(Exit::Done)
}
