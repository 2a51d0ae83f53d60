//! Made up hostile conversations: whatever a side writes, and however it is cut, nothing that has to be judged reaches the editor unjudged,
//! and everything else comes byte for byte and in order.
//!
//! `CHECKREIN_FUZZ_SECONDS` says how long they are made up, `CHECKREIN_FUZZ_SEED` where they begin.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on should panic; what tests share is public"
)]

mod heard;
mod support;

use std::fmt::Write as _;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_protocol::AbsolutePath;
use checkrein_proxies::{Ends, Proxy};
use checkrein_testkit::dice::{Dice, for_a_while};
use heard::Heard;
use serde_json::{Value as Json, json};
use support::{FORBIDDEN, WordJudge};

/// How long conversations are made up where nothing else is said.
const TIME: Duration = Duration::from_secs(4);

/// How many lines each side says in one conversation.
const LINES: usize = 60;

/// What one side has to say, cut into pieces of any length.
struct Pieces {
    text: Vec<u8>,
    at: usize,
    dice: Dice,
    /// What is said before it ends: an editor that is gone takes the way to the agent with it.
    end: Option<Receiver<()>>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len()
            && let Some(end) = self.end.take()
        {
            let _ = end.recv();
        }
        let longest = self.dice.of(&[&1_usize, &7, &100, &70_000]);
        let length = (1 + self.dice.below(*longest)).min(buffer.len()).min(self.text.len() - self.at);
        buffer[..length].copy_from_slice(&self.text[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

/// The lines that are not ours, and those that are.
fn lines(heard: &Heard) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let text = heard.text();
    let lines = text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec);
    // What stood beside a call in one line comes on a line of its own.
    let is_beside = |line: &Vec<u8>| [&b"{\"method\":\"x/z\"}\n"[..], b"7\n"].contains(&line.as_slice());
    lines.filter(|line| !is_beside(line)).partition(|line| !holds(line, "checkrein"))
}

fn holds(line: &[u8], word: &str) -> bool {
    line.windows(word.len()).any(|window| window == word.as_bytes())
}

/// An id as clients write it, and as they should not; `None` for a notification.
fn id(dice: &mut Dice, number: usize) -> Option<String> {
    Some(match dice.below(12) {
        0 => return None,
        1 => format!("\"{number}\""),
        2 => "null".to_owned(),
        3 => format!("{number}.5"),
        4 => format!("[{number}]"),
        5 => format!("{{\"a\":{number}}}"),
        6 => "18446744073709551616".to_owned(),
        7 => format!("-{number}"),
        8 => "\"\\u0061\"".to_owned(),
        9 => "true".to_owned(),
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

/// Deep, wide or broken stuff that a message may hold beside what counts.
fn stuff(dice: &mut Dice) -> String {
    match dice.below(6) {
        0 => "[".repeat(3_000) + &"]".repeat(3_000),
        1 => "{\"a\":".repeat(300) + "1" + &"}".repeat(300),
        2 => "\"\\ud800 half\"".to_owned(),
        3 => format!("\"{}\"", "x".repeat(dice.below(200_000))),
        4 => "1e400".to_owned(),
        _ => "\"{\\\"method\\\":\\\"fs/write_text_file\\\"}\"".to_owned(),
    }
}

/// A call that must not reach the editor, written in one of the ways in which some reader would still obey it.
fn forbidden(dice: &mut Dice, number: usize) -> String {
    let method = dice.of(&[
        "session/request_permission",
        "fs/write_text_file",
        "terminal/create",
        "fs/read_text_file",
    ]);
    let what = format!("{FORBIDDEN}-{number}");
    let params = match method {
        "session/request_permission" => {
            let call = json!({ "toolCallId": what, "kind": "execute", "title": what, "rawInput": { "command": what } });
            let options = json!([{ "optionId": "y", "kind": "allow_once", "name": "y" }, { "optionId": "n", "kind": "reject_once", "name": "n" }]);
            json!({ "sessionId": "s1", "toolCall": call, "options": options })
        }
        "fs/write_text_file" => json!({ "sessionId": "s1", "path": format!("/w/{what}"), "content": what }),
        "terminal/create" => json!({ "sessionId": "s1", "command": what }),
        _ => json!({ "sessionId": "s1", "path": format!("/w/{what}") }),
    };
    let mut params = params.to_string();
    match dice.below(8) {
        0 => params.insert_str(1, "\"command\":\"ls\",\"path\":\"/w/x\",\"toolCall\":{},"),
        1 => params.insert_str(params.len() - 1, ",\"command\":\"ls\",\"path\":\"/w/x\",\"toolCall\":{}"),
        _ => {}
    }
    let mut fields = vec![
        format!("{}:{}", quoted(dice, "method"), quoted(dice, method)),
        format!("{}:{params}", quoted(dice, "params")),
        "\"jsonrpc\":\"2.0\"".to_owned(),
    ];
    fields.extend(id(dice, number).map(|id| format!("\"id\":{id}")));
    if dice.below(4) == 0 {
        fields.push(format!("\"more\":{}", stuff(dice)));
    }
    for _ in 0..fields.len() {
        let (one, other) = (dice.below(fields.len()), dice.below(fields.len()));
        fields.swap(one, other);
    }
    // Which of two a reader takes, nobody knows.
    match dice.below(8) {
        0 => fields.push("\"method\":\"x/y\"".to_owned()),
        1 => fields.insert(0, "\"method\":\"x/y\"".to_owned()),
        2 => fields.push("\"params\":{\"sessionId\":\"s1\"}".to_owned()),
        3 => fields.insert(0, "\"params\":{\"sessionId\":\"s1\"}".to_owned()),
        _ => {}
    }
    let blank = *dice.of(&[&"", &" ", &"\t"]);
    let message = format!("{{{blank}{}{blank}}}", fields.join(&format!("{blank},{blank}")));
    match dice.below(14) {
        0 => format!("[{message}]"),
        1 => format!("[{{\"method\":\"x/z\"}},{message},7]"),
        2 => format!("[[{message}]]"),
        3 => format!("[1,[2,[{message}]]]"),
        4 => format!("\u{feff}{message}"),
        5 => format!("{},}}", message.strip_suffix('}').unwrap()),
        6 => format!("{{\"method\":\"x/z\"}}{message}"),
        7 => format!("log: {message}"),
        8 => format!("{{\"method\":\"x/z\"}}\r{message}"),
        9 => message.replacen(',', ",\r", 1),
        10 => format!("{message} // done"),
        11 => message.strip_suffix('}').unwrap().to_owned(),
        _ => message,
    }
}

/// Something that passes as it is.
fn harmless(dice: &mut Dice, number: usize, side: &str) -> Vec<u8> {
    let tag = format!("{side}-{number}");
    let own = id(dice, number).map_or_else(String::new, |id| format!(",\"id\":{id}"));
    let text = match dice.below(14) {
        0 => format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s1\",\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{tag} {FORBIDDEN}\"}}}}}}}}"
        ),
        1 => format!("{{\"method\":\"x/{tag}\",\"params\":{}{own}}}", stuff(dice)),
        2 => format!("{{ \"result\" : {{\"t\":\"{tag}\"}}{own} }}"),
        3 => format!("{{\"error\":{{\"code\":-1,\"message\":\"{tag}\"}}{own}}}"),
        4 => format!("{tag} loading {{ \"half\":"),
        5 => format!("[{{\"method\":\"x/{tag}\"}},{{\"method\":\"x/w\"{own}}}]"),
        6 => format!("[\"{tag}\", 1, null, [[]]]"),
        7 => format!("{{\"method\":\"session/cancel\",\"params\":{{\"sessionId\":\"s1\",\"t\":\"{tag}\"}}}}"),
        8 => format!("{{\"method\":\"x/{tag}\",\"a\":1,\"a\":2{own}}}"),
        9 => format!("{{\"method\":7,\"t\":\"{tag}\"{own}}}"),
        10 if side == "agent" => format!(
            "{{\"method\":\"terminal/output\",\"params\":{{\"sessionId\":\"s1\",\"terminalId\":\"{tag}\"}}{own}}}"
        ),
        11 if side == "agent" => format!(
            "{{\"method\":\"fs/read_text_file\",\"params\":{{\"sessionId\":\"s1\",\"path\":\"/w/{tag}\"}},\"id\":{number}}}"
        ),
        12 => format!("{}{tag}{}", "[".repeat(5_000), "]".repeat(5_000)),
        _ => format!("{{\"method\":\"x/{tag}\",\"t\":\"\u{e9}\u{2028}\u{85}\"{own}}}"),
    };
    let mut bytes = text.into_bytes();
    // Bytes that are no text. What could be a call is held back then.
    if dice.below(10) == 0 && !holds(&bytes, "fs/") && !holds(&bytes, "terminal/") {
        let place = bytes.len() - 1;
        bytes.splice(place..place, *b"\xff\xc0");
    }
    if dice.below(6) == 0 {
        bytes.push(b'\r');
    }
    bytes.push(b'\n');
    bytes
}

/// One conversation; what is wrong with it.
fn converse(seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let (mut agent, mut expected, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    let opening = "{\"jsonrpc\":\"2.0\",\"id\":\"open\",\"result\":{\"sessionId\":\"s1\"}}\n";
    agent.extend_from_slice(opening.as_bytes());
    expected.push(opening.as_bytes().to_vec());
    for number in 0..LINES {
        if dice.below(3) == 0 {
            let line = forbidden(&mut dice, number) + "\n";
            // What every strict reader takes for one request is answered.
            if !line.contains('\r')
                && let Ok(message) = serde_json::from_str::<Json>(&line)
                && let Some(id) = message.get("id")
                && message["method"].as_str().is_some_and(|method| !method.starts_with("x/"))
            {
                ids.push((id.clone(), line.clone()));
            }
            agent.extend_from_slice(line.as_bytes());
        } else {
            let line = harmless(&mut dice, number, "agent");
            agent.extend_from_slice(&line);
            expected.push(line);
        }
    }
    let opening =
        "{\"jsonrpc\":\"2.0\",\"id\":\"open\",\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\"}}\n";
    let mut editor = opening.as_bytes().to_vec();
    let mut of_editor = vec![editor.clone()];
    for number in 0..LINES {
        let line = harmless(&mut dice, number, "editor");
        editor.extend_from_slice(&line);
        of_editor.push(line);
    }
    let (to_editor, to_agent) = (Heard::default(), Heard::default());
    // Dropped at the end of the conversation.
    let (_ending, end) = mpsc::channel();
    let ends = Ends {
        from_editor: Box::new(Pieces { text: editor, at: 0, dice: Dice::new(seed ^ 1), end: Some(end) }),
        to_editor: Box::new(to_editor.clone()),
        from_agent: Box::new(Pieces { text: agent, at: 0, dice: Dice::new(seed ^ 2), end: None }),
        to_agent: Box::new(to_agent.clone()),
    };
    let cwd = AbsolutePath::new("/w").unwrap();
    let proxy =
        Proxy::start(ends, Arc::new(WordJudge), cwd, Arc::new(|_| {})).map_err(|error| error.to_string())?;
    let unanswered = |ours: &[Vec<u8>]| {
        let told =
            ours.iter().filter_map(|line| serde_json::from_slice::<Json>(line).ok()?.get("id").cloned());
        let told: Vec<Json> = told.collect();
        ids.iter().find(|(id, _)| !told.contains(id)).cloned()
    };
    let started = Instant::now();
    loop {
        let (others, ours) = lines(&to_agent);
        let is_silent = proxy.is_silent();
        if is_silent && others.len() >= of_editor.len() && unanswered(&ours).is_none() {
            break;
        }
        if started.elapsed() > Duration::from_secs(20) {
            same(&expected, &lines(&to_editor).0, "the editor")?;
            same(&of_editor, &others, "the agent")?;
            return Err(format!("it hangs: silent {is_silent}, without an answer {:?}", unanswered(&ours)));
        }
        thread::sleep(Duration::from_millis(1));
    }
    same(&expected, &lines(&to_editor).0, "the editor")?;
    same(&of_editor, &lines(&to_agent).0, "the agent")
}

/// Whether exactly these lines came.
fn same(expected: &[Vec<u8>], heard: &[Vec<u8>], who: &str) -> Result<(), String> {
    let shown = |line: Option<&Vec<u8>>| {
        line.map(|line| String::from_utf8_lossy(line).chars().take(600).collect::<String>())
    };
    let differs =
        (0..expected.len().max(heard.len())).find(|place| expected.get(*place) != heard.get(*place));
    match differs {
        None => Ok(()),
        Some(place) => Err(format!(
            "line {place} that {who} heard is {:?}, and {:?} was to come",
            shown(heard.get(place)),
            shown(expected.get(place))
        )),
    }
}

#[test]
fn hostile_conversations_pass_nothing_unjudged_and_change_nothing_else() {
    let count = for_a_while(TIME, converse);
    println!("{count} conversations of {LINES} lines each way");
}
