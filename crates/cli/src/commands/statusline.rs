//! `checkrein statusline`: one line for the status line of Claude Code, from what the client writes to standard input. It never fails: what
//! goes wrong is the line. Nothing is written, and nothing but the state of the session and its
//! limits is read.

use std::io::Read as _;

use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::spending;
use checkrein_engine::text::{columns, one_line};
use checkrein_ledger::{FolderName, is_halted};
use checkrein_protocol::SessionId;
use checkrein_session::{SessionLedger, SessionState};
use checkrein_supervise::SpendingShare;
use checkrein_world::find_workspace;
use serde_json::Value as Json;

use super::{ExitStatus, OutputForm};
use crate::api::{self, sessions::StatusLineAnswer};
use crate::terminal::print_exact;

/// The most that is read of what the client says, in bytes (ours): it is some 2 KB.
const LIMIT: u64 = 1024 * 1024;

/// The most columns of the line (ours): terminals are rarely narrower, and the client cuts what does not fit.
const WIDTH: usize = 80;

/// How the line begins.
const NAME: &str = "checkrein ";

/// How it begins where the session is halted.
const HALTED: &str = "checkrein HALTED (`checkrein resume`)";

/// The fewest columns in which a reason still says something (ours).
const REASON: usize = 10;

/// Prints the line. Always well.
pub fn statusline(output: OutputForm) -> ExitStatus {
    let mut text = Vec::new();
    let line = match std::io::stdin().lock().take(LIMIT).read_to_end(&mut text) {
        Ok(_) => line(&text),
        Err(error) => format!("checkrein: the status cannot be read: {error}"),
    };
    let line = one_line(&line, WIDTH);
    match output {
        OutputForm::Text => print_exact(&line),
        // What cannot be put into JSON is told as it is.
        OutputForm::Json => print_exact(&api::line(&StatusLineAnswer { line: line.clone() }).unwrap_or(line)),
    }
    ExitStatus::Done
}

fn line(text: &[u8]) -> String {
    let Ok(status) = serde_json::from_slice::<Json>(text) else {
        return "checkrein: the status on standard input is not JSON".to_owned();
    };
    let session = status.get("session_id").and_then(Json::as_str).filter(|session| !session.is_empty());
    let Some(session) = session else {
        return "checkrein: the status on standard input names no session".to_owned();
    };
    let environment = match HostEnvironment::of_process() {
        Ok(environment) => environment,
        Err(error) => return format!("checkrein: {}", error.message),
    };
    let session = SessionId(session.to_owned());
    let state = SessionLedger::open(&environment.state, &session).state();
    let calls = |most: usize| match &state {
        Ok(state) => state.calls().summary_within(most).unwrap_or_else(|| "no call reviewed yet".to_owned()),
        Err(error) => format!("the records cannot be read: {error}"),
    };
    let halt = is_halted(&environment.state, &FolderName::of(&session));
    let share = state.as_ref().ok().and_then(|state| share(&environment, state));
    let end = spent(&status).chain(share).fold(String::new(), |end, part| end + " | " + &part);
    fitted(halt.as_ref().map(|halt| halt.reason.as_str()), &calls, &end)
}

/// The line: what was spent stays whole, the counts as far as there is space, and of the reason of a halt what is left over then.
fn fitted(halted: Option<&str>, calls: &dyn Fn(usize) -> String, end: &str) -> String {
    let space = WIDTH.saturating_sub(columns(end));
    let Some(reason) = halted else {
        let calls = calls(space.saturating_sub(columns(NAME)));
        return format!("{}{end}", one_line(&format!("{NAME}{calls}"), space));
    };
    let calls = calls(space.saturating_sub(columns(HALTED) + columns(" | ")));
    let left = space.saturating_sub(columns(HALTED) + columns(": ") + columns(" | ") + columns(&calls));
    let reason = if left < REASON { String::new() } else { format!(": {}", one_line(reason, left)) };
    format!("{}{end}", one_line(&format!("{HALTED}{reason} | {calls}"), space))
}

/// The share of its budget that a session has spent, from the first warning on.
fn share(environment: &HostEnvironment, state: &SessionState) -> Option<String> {
    let workspace = state.workspace().cloned().unwrap_or_else(|| find_workspace(&environment.cwd));
    let limit = config_files::load(environment, &workspace).ok()?.config.dollar_limit()?;
    let dollars = spending::dollars(state);
    SpendingShare::of(dollars, limit)?;
    Some(format!("{:.0} % of ${limit:.2}", dollars / limit * 100.0))
}

/// A number in few letters: `12k`.
fn thousands(number: u64) -> String {
    if number < 10_000 { number.to_string() } else { format!("{}k", number / 1000) }
}

/// What the client says that the conversation holds and costs.
fn spent(status: &Json) -> impl Iterator<Item = String> {
    let window = status.get("context_window");
    let tokens = |name: &str| window.and_then(|window| window.get(name)).and_then(Json::as_u64);
    let held = tokens("total_input_tokens")
        .unwrap_or_default()
        .saturating_add(tokens("total_output_tokens").unwrap_or_default());
    let dollars = status.get("cost").and_then(|cost| cost.get("total_cost_usd")).and_then(Json::as_f64);
    let tokens = match window {
        // A client that does not speak of tokens at all is not one that cannot tell them.
        None => None,
        Some(Json::Null) => Some("tokens unknown".to_owned()),
        Some(_) => (held > 0).then(|| format!("{} tokens", thousands(held))),
    };
    let dollars = dollars.filter(|dollars| *dollars > 0.0).map(|dollars| format!("${dollars:.2}"));
    tokens.into_iter().chain(dollars)
}

#[cfg(test)]
mod tests {
    use checkrein_session::CallCounts;

    use super::*;

    #[test]
    fn what_counts_most_is_seen_whatever_stands_before_it() {
        let many = CallCounts {
            ok: 3980,
            hinted: 44,
            rewritten: 120,
            saved: 99,
            not_run: 0,
            untold: 0,
            asked: 57,
            stopped: 12,
        };
        let calls = |most: usize| many.summary_within(most).unwrap();
        let end = " | 148k tokens | $11.20";
        let line = fitted(None, &calls, end);
        assert_eq!(line, "checkrein 4312 calls: … 99 saved, 57 asked, 12 stopped | 148k tokens | $11.20");
        let halted = fitted(Some("it went on and on"), &calls, end);
        assert_eq!(halted, "checkrein HALTED (`checkrein resume`) | … 12 stopped | 148k tokens | $11.20");
        let few = CallCounts { ok: 1, ..CallCounts::default() };
        let calls = |most: usize| few.summary_within(most).unwrap();
        assert_eq!(fitted(None, &calls, " | 5 tokens"), "checkrein 1 call: 1 ok | 5 tokens");
        let halted = fitted(Some("enough for today"), &calls, "");
        assert_eq!(halted, "checkrein HALTED (`checkrein resume`): enough for today | 1 call: 1 ok");
        for end in ["", end] {
            assert!(columns(&fitted(Some(&"long ".repeat(40)), &calls, end)) <= WIDTH);
        }
    }
}
