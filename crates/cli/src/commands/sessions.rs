//! `checkrein session list`: the sessions that are recorded.

use checkrein_clients::CANARY_SESSION;
use checkrein_policy::TrustPolicy;
use checkrein_session::{Cost, SessionSummary};
use checkrein_world::find_workspace;

use super::{ExitStatus, OutputForm, tell_fallen};
use crate::api::{self, recorded};
use crate::render::time;
use crate::terminal::{print, table, verdict};
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::usage::cost_in_words;

/// Lists all sessions of agents, newest last.
pub fn sessions(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let mut all = checkrein_session::sessions(&environment.state)?;
    all.retain(|session| session.folder.as_str() != CANARY_SESSION);
    all.reverse();
    tell_fallen(environment, output);
    // What trust costs and how fast it wears off is up to the configuration here; where that is broken, the built-in numbers tell.
    let policy = config_files::load(environment, &find_workspace(&environment.cwd))
        .map_or_else(|_| TrustPolicy::default(), |loaded| loaded.config.governance.trust_debt);
    let now = environment.now();
    match output {
        OutputForm::Json => {
            for session in &all {
                print(&api::line(&api::sessions::SessionEntry {
                    session: session.folder.as_str().to_owned(),
                    started: session.started.map(Into::into),
                    last: session.last.map(Into::into),
                    records: session.records,
                    actions: session.actions,
                    verdicts: recorded(&session.verdicts),
                    client: session.client.clone(),
                    spent: spent(session),
                    trust_debt: policy.left(&session.trust, now),
                    posture: recorded(&policy.posture(policy.left(&session.trust, now))),
                    halted: session.halt.as_ref().map(|halt| halt.reason.clone()),
                })?);
            }
        }
        OutputForm::Text if all.is_empty() => print("no session is recorded yet"),
        OutputForm::Text => {
            let rows = all
                .iter()
                .map(|session| {
                    let count = &session.verdicts;
                    let halted = session
                        .halt
                        .as_ref()
                        .map(|_| verdict(checkrein_policy::VerdictKind::Halt))
                        .unwrap_or_default();
                    let debt = policy.left(&session.trust, now);
                    let last = session.last.map(|at| time(at.0)).unwrap_or_default();
                    vec![
                        session.folder.as_str().to_owned(),
                        last,
                        session.actions.to_string(),
                        count.ok.to_string(),
                        count.nudge.to_string(),
                        count.escalate.to_string(),
                        count.block.to_string(),
                        tokens_in_words(session),
                        cost_in_words(session.spent.cost()),
                        count.flagged.to_string(),
                        if debt > 0.0 { format!("{debt:.1}") } else { String::new() },
                        halted,
                    ]
                })
                .collect();
            print(&table(
                &[
                    "session", "last", "actions", "ok", "nudge", "escalate", "block", "tokens", "cost",
                    "flagged", "debt", "",
                ],
                rows,
            ));
        }
    }
    Ok(ExitStatus::Done)
}

/// What a session has spent, for programs; what is not known is null.
pub(super) fn spent(session: &SessionSummary) -> api::sessions::Spent {
    let spent = &session.spent;
    let tokens = spent.is_metered().then(|| spent.tokens());
    let (dollars, at_least) = match spent.cost() {
        Some(Cost::Known(known) | Cost::About(known)) => (Some(known.dollars()), Some(known.dollars())),
        Some(Cost::AtLeast(known)) => (None, Some(known.dollars())),
        None => (None, None),
    };
    api::sessions::Spent {
        tokens: recorded(&tokens),
        dollars,
        dollars_at_least: at_least,
        dollars_estimated: matches!(spent.cost(), Some(Cost::About(_))),
        models: recorded(&spent.models()),
        processes: spent.processes,
        bytes_written: spent.bytes_written,
        file_operations: session.file_operations,
    }
}

/// The tokens of a session in words.
pub(super) fn tokens_in_words(session: &SessionSummary) -> String {
    if session.spent.is_metered() { session.spent.tokens().all().to_string() } else { "unknown".to_owned() }
}
