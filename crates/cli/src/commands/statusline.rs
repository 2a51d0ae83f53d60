//! `checkrein statusline`: one line for the status line of Claude Code, from what the client writes to standard input. It never fails: what
//! goes wrong is the line. Nothing is written, and nothing but the state of the session is read.

use std::io::Read as _;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::text::{columns, one_line};
use checkrein_ledger::{FolderName, is_halted};
use checkrein_protocol::SessionId;
use checkrein_session::SessionLedger;
use serde_json::Value as Json;

use super::ExitStatus;
use crate::terminal::print;

/// The most that is read of what the client says, in bytes (ours): it is some 2 KB.
const LIMIT: u64 = 1024 * 1024;

/// The most columns of the line (ours): terminals are rarely narrower, and the client cuts what does not fit.
const WIDTH: usize = 80;

/// Prints the line. Always well.
pub fn statusline() -> ExitStatus {
    let mut text = Vec::new();
    let line = match std::io::stdin().lock().take(LIMIT).read_to_end(&mut text) {
        Ok(_) => line(&text),
        Err(error) => format!("checkrein: the status cannot be read: {error}"),
    };
    print(&one_line(&line, WIDTH));
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
    let calls = match SessionLedger::open(&environment.state, &session).state() {
        Ok(state) => state.calls().summary().unwrap_or_else(|| "no call reviewed yet".to_owned()),
        Err(error) => format!("the records cannot be read: {error}"),
    };
    let head = match is_halted(&environment.state, &FolderName::of(&session)) {
        Some(halt) => format!("checkrein HALTED (`checkrein resume`): {} | {calls}", halt.reason),
        None => format!("checkrein {calls}"),
    };
    let end = spent(&status).fold(String::new(), |end, part| end + " | " + &part);
    fitted(&head, &end)
}

/// A line of which the end stays whole, however long its beginning is.
fn fitted(head: &str, end: &str) -> String {
    format!("{}{end}", one_line(head, WIDTH.saturating_sub(columns(end))))
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
        None | Some(Json::Null) => Some("tokens unknown".to_owned()),
        Some(_) => (held > 0).then(|| format!("{} tokens", thousands(held))),
    };
    let dollars = dollars.filter(|dollars| *dollars > 0.0).map(|dollars| format!("${dollars:.2}"));
    tokens.into_iter().chain(dollars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_cost_are_seen_whatever_stands_before_them() {
        let calls = "checkrein 4312 calls: 3980 ok, 120 rewritten, 99 saved, 57 asked, 12 stopped, 44 failed";
        let line = fitted(calls, " | 148k tokens | $11.20");
        assert!(line.ends_with("… | 148k tokens | $11.20") && columns(&line) <= WIDTH, "{line}");
        assert_eq!(fitted("checkrein 1 call: 1 ok", " | 5 tokens"), "checkrein 1 call: 1 ok | 5 tokens");
    }
}
