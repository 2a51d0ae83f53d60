//! Made up hostile lines between a client and its MCP server: no call that is refused reaches the server, no secret of a result reaches the
//! client, and everything else comes byte for byte.
//!
//! `CHECKREIN_FUZZ_SECONDS` says how long they are made up, `CHECKREIN_FUZZ_SEED` where they begin.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on should panic; what tests share is public"
)]

mod support;

use std::fmt::Write as _;
use std::time::Duration;

use checkrein_gateway::{Relay, Sent};
use checkrein_testkit::dice::{Dice, for_a_while};
use serde_json::Value as Json;
use support::{FORBIDDEN, TOKEN, WordReviewer};

/// How long lines are made up where nothing else is said.
const TIME: Duration = Duration::from_secs(4);

/// How many lines each side says in one conversation.
const LINES: usize = 80;

/// An id as clients write it, and as they should not; `None` for a notification.
fn id(dice: &mut Dice, number: usize) -> Option<String> {
    Some(match dice.below(10) {
        0 => return None,
        1 => format!("\"{number}\""),
        2 => format!("{number}.5"),
        3 => format!("[{number}]"),
        4 => format!("{{\"a\":{number}}}"),
        5 => format!("{number}e0"),
        6 => format!("-{number}"),
        7 => "null".to_owned(),
        _ => number.to_string(),
    })
}

/// A text in quotes, some of its letters as escapes.
fn quoted(dice: &mut Dice, text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match dice.below(12) {
            0 if letter == '/' => quoted.push_str("\\/"),
            1 => write!(quoted, "\\u{:04x}", letter as u32).unwrap(),
            2 => write!(quoted, "\\u{:04X}", letter as u32).unwrap(),
            _ => quoted.push(letter),
        }
    }
    quoted + "\""
}

/// Deep or wide stuff that a message may hold beside what counts.
fn stuff(dice: &mut Dice) -> String {
    match dice.below(5) {
        0 => "[".repeat(100) + &"]".repeat(100),
        1 => "{\"a\":".repeat(90) + "1" + &"}".repeat(90),
        2 => "\"\\ud800 half\"".to_owned(),
        3 => format!("\"{}\"", "x".repeat(dice.below(100_000))),
        _ => "\"{\\\"method\\\":\\\"tools\\\"}\"".to_owned(),
    }
}

/// A message of these fields in any order, with blanks of any kind.
fn message(dice: &mut Dice, mut fields: Vec<String>) -> String {
    for _ in 0..fields.len() {
        let (one, other) = (dice.below(fields.len()), dice.below(fields.len()));
        fields.swap(one, other);
    }
    let blank = dice.of(&["", " ", "\t", "\r"]);
    format!("{{{blank}{}{blank}}}", fields.join(&format!("{blank},{blank}")))
}

/// A call that must not reach the server, written in one of the ways in which some server would still obey it.
fn forbidden(dice: &mut Dice, number: usize) -> String {
    let value = quoted(dice, &format!("{FORBIDDEN}-{number}"));
    let arguments = match dice.below(6) {
        0 => format!("{{\"a\":\"ls\",\"a\":{value}}}"),
        1 => format!("{{\"a\":{value},\"a\":\"ls\"}}"),
        2 => format!("{{\"b\":[{{\"c\":{value},\"\\u0063\":1}}]}}"),
        _ => format!("{{\"a\":{value}}}"),
    };
    let name = quoted(dice, "name");
    let params = match dice.below(8) {
        0 => format!("{{{name}:\"t\",\"arguments\":{arguments},\"arguments\":{{}}}}"),
        1 => format!("{{{name}:\"t\",\"arguments\":{{}},\"arguments\":{arguments}}}"),
        2 => format!("{{{name}:{value},\"name\":\"t\"}}"),
        3 => format!("[{arguments}]"),
        _ => format!("{{{name}:\"t\",\"arguments\":{arguments}}}"),
    };
    let mut fields = vec![
        format!("{}:{}", quoted(dice, "method"), quoted(dice, "tools/call")),
        format!("{}:{params}", quoted(dice, "params")),
        "\"jsonrpc\":\"2.0\"".to_owned(),
    ];
    fields.extend(id(dice, number).map(|id| format!("\"id\":{id}")));
    match dice.below(10) {
        0 => fields.push("\"method\":\"ping\"".to_owned()),
        1 => fields.push("\"params\":{}".to_owned()),
        2 => fields.push(format!("\"more\":{}", stuff(dice))),
        _ => {}
    }
    let message = message(dice, fields);
    match dice.below(14) {
        0 => format!("[{message}]"),
        1 => format!("[{{\"method\":\"ping\"}},{message}]"),
        2 => format!("[[{message}]]"),
        3 => format!("[1,[2,[{message}]]]"),
        4 => format!("\u{feff}{message}"),
        5 => format!("{},}}", message.strip_suffix('}').unwrap()),
        6 => format!("{{\"method\":\"ping\"}}{message}"),
        7 => format!("log: {message}"),
        8 => format!("{message} // done"),
        9 => message.strip_suffix('}').unwrap().to_owned(),
        _ => message,
    }
}

/// Something of the client or the server that passes as it is.
fn harmless(dice: &mut Dice, number: usize) -> Vec<u8> {
    let own = id(dice, number + 10_000).map_or_else(String::new, |id| format!(",\"id\":{id}"));
    let text = match dice.below(9) {
        0 => format!("{{\"method\":\"x/{number}\",\"params\":{}{own}}}", stuff(dice)),
        1 => format!("{{\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{number}}}}}"),
        2 => format!("loading {number} {{ \"half\":"),
        3 => format!("[{{\"method\":\"x/{number}\"}},{{\"method\":\"y\"{own}}}]"),
        4 => format!(
            "{{\"method\":\"notifications/message\",\"params\":{{\"data\":\"{FORBIDDEN} {number}\"}}}}"
        ),
        5 => format!("{{ \"method\" : \"ping\",\t\"n\":{number}{own} }}"),
        6 => format!("{{\"method\":\"logging/setLevel\",\"params\":{{\"a\":1,\"a\":{number}}}{own}}}"),
        7 => "  \t ".to_owned(),
        _ => format!("{{\"method\":\"x/{number}\",\"t\":\"\u{e9}\u{2028}\"{own}}}"),
    };
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(if dice.below(5) == 0 { b"\r\n" } else { b"\n" });
    bytes
}

/// An answer that holds a secret, to a call of this id.
fn secret(dice: &mut Dice, id: &str) -> String {
    let text = quoted(dice, &format!("the token is {TOKEN} indeed"));
    let content = match dice.below(4) {
        0 => format!("{{\"content\":[{{\"type\":\"text\",\"text\":{text},\"text\":\"x\"}}]}}"),
        1 => format!("{{\"structuredContent\":{{\"deep\":[[{text}]]}},\"content\":[]}}"),
        _ => format!("{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}"),
    };
    let part = dice.of(&["result", "error"]);
    let mut fields = vec![format!("{}:{content}", quoted(dice, part)), format!("\"id\":{id}")];
    match dice.below(8) {
        0 => fields.push(format!("\"id\":{id}")),
        1 => fields.push(format!("\"{part}\":{{}}")),
        2 => fields.push(format!("\"more\":{}", stuff(dice))),
        _ => {}
    }
    let message = message(dice, fields);
    match dice.below(10) {
        0 => format!("[{message}]"),
        1 => format!("[{{\"method\":\"ping\"}},{message}]"),
        2 => format!("{{\"method\":\"ping\"}}{message}"),
        3 => format!("\u{feff}{message}"),
        4 => message.strip_suffix('}').unwrap().to_owned(),
        _ => message,
    }
}

/// The texts of a value, names of fields too.
fn texts(value: &Json, found: &mut String) {
    match value {
        Json::String(text) => found.push_str(text),
        Json::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Json::Object(fields) => fields.iter().for_each(|(name, value)| {
            found.push_str(name);
            texts(value, found);
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

fn holds(line: &[u8], word: &str) -> bool {
    let mut decoded = String::new();
    if let Ok(value) = serde_json::from_slice::<Json>(line) {
        texts(&value, &mut decoded);
    }
    decoded.contains(word) || String::from_utf8_lossy(line).contains(word)
}

/// The lines to one side, the others left out.
fn lines<'a>(sent: &'a [Sent<'a>]) -> (Vec<&'a [u8]>, Vec<&'a [u8]>) {
    let (mut to_server, mut to_client): (Vec<&[u8]>, Vec<&[u8]>) = Default::default();
    for one in sent {
        match one {
            Sent::ToServer(line) => to_server.push(line),
            Sent::ToClient(line) => to_client.push(line),
            Sent::Remark(_) => {}
        }
    }
    (to_server, to_client)
}

/// One conversation; what is wrong with it.
fn converse(seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let relay = Relay::new(WordReviewer, "s");
    let shown = |line: &[u8]| String::from_utf8_lossy(line).chars().take(600).collect::<String>();
    for number in 0..LINES {
        let line = match dice.below(3) {
            0 => {
                let line = forbidden(&mut dice, number) + "\n";
                let sent = relay.from_client(line.as_bytes());
                if let Some(passed) = lines(&sent).0.into_iter().find(|passed| holds(passed, FORBIDDEN)) {
                    return Err(format!("it passed: {}", shown(passed)));
                }
                continue;
            }
            1 => {
                // A call that passes, and its answer.
                let id = id(&mut dice, number).unwrap_or_else(|| number.to_string());
                let params = "\"params\":{\"name\":\"t\",\"arguments\":{\"a\":1}}";
                let call = format!("{{\"method\":\"tools/call\",\"id\":{id},{params}}}\n");
                let sent = relay.from_client(call.as_bytes());
                let (to_server, to_client) = lines(&sent);
                if to_server != [call.as_bytes()] && to_client.is_empty() {
                    return Err(format!("a call was changed or dropped: {}", shown(call.as_bytes())));
                }
                if to_server.is_empty() {
                    continue;
                }
                let line = secret(&mut dice, &id) + "\n";
                let sent = relay.from_server(line.as_bytes());
                if let Some(told) = lines(&sent).1.into_iter().find(|told| holds(told, TOKEN)) {
                    return Err(format!("a secret passed: {}", shown(told)));
                }
                continue;
            }
            _ => harmless(&mut dice, number),
        };
        let sent = relay.from_client(&line);
        if lines(&sent) != (vec![line.as_slice()], Vec::new()) {
            return Err(format!("a line of the client was changed: {}: {sent:?}", shown(&line)));
        }
        let sent = relay.from_server(&line);
        if lines(&sent) != (Vec::new(), vec![line.as_slice()]) {
            return Err(format!("a line of the server was changed: {}: {sent:?}", shown(&line)));
        }
    }
    Ok(())
}

#[test]
fn hostile_lines_pass_no_refused_call_and_no_secret_and_change_nothing_else() {
    let count = for_a_while(TIME, converse);
    println!("{count} conversations of {LINES} lines");
}
