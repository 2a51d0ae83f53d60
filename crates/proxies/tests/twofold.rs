//! What an agent tells of its own call, with a key that stands twice: which of the two it made, nobody knows.

#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic; what tests share is public"
)]

mod heard;
mod support;

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_protocol::AbsolutePath;
use checkrein_proxies::{Ends, Proxy};
use heard::Heard;
use support::WordJudge;

/// What one side says, and then nothing until the conversation is over.
struct Mouth {
    text: io::Cursor<Vec<u8>>,
    /// How long it waits before it begins.
    waits: Duration,
    end: Receiver<()>,
}

impl Read for Mouth {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        thread::sleep(std::mem::take(&mut self.waits));
        let count = self.text.read(buffer)?;
        if count == 0 {
            self.end.recv().unwrap_or_default();
        }
        Ok(count)
    }
}

fn holds(heard: &Heard, word: &str) -> bool {
    String::from_utf8_lossy(&heard.text()).contains(word)
}

/// Whether the turn is cancelled by what the agent tells, and whether all of it reached the editor as it is.
fn told(notices: &[String]) -> (bool, bool) {
    let line = |text: &str| format!("{text}\n").into_bytes();
    let prompt = line(
        r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"go"}]}}"#,
    );
    let said: Vec<u8> = notices.iter().flat_map(|notice| line(notice)).collect();
    let (to_editor, to_agent) = (Heard::default(), Heard::default());
    let (_end_of_editor, editor_waits) = mpsc::channel();
    let (_end_of_agent, agent_waits) = mpsc::channel();
    let ends = Ends {
        from_editor: Box::new(Mouth {
            text: io::Cursor::new(prompt),
            waits: Duration::ZERO,
            end: editor_waits,
        }),
        to_editor: Box::new(to_editor.clone()),
        // The turn begins with the prompt.
        from_agent: Box::new(Mouth {
            text: io::Cursor::new(said),
            waits: Duration::from_millis(200),
            end: agent_waits,
        }),
        to_agent: Box::new(to_agent.clone()),
    };
    let place = AbsolutePath::new("/w").unwrap();
    let _proxy = Proxy::start(ends, Arc::new(WordJudge), place, Arc::new(|_| {})).unwrap();
    let started = Instant::now();
    let last = notices.last().unwrap();
    while started.elapsed() < Duration::from_secs(5) && !holds(&to_editor, last) {
        thread::sleep(Duration::from_millis(2));
    }
    // A cancellation goes out with the line that it is about.
    thread::sleep(Duration::from_millis(100));
    (holds(&to_agent, "session/cancel"), notices.iter().all(|notice| holds(&to_editor, notice)))
}

/// A notice of a call with this input.
fn notice(status: &str, input: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"tool_call","toolCallId":"c1","kind":"execute","title":"run","status":"{status}","rawInput":{input}}}}}}}"#
    )
}

#[test]
fn a_call_that_is_told_twofold_ends_the_turn_when_it_runs() {
    let once = r#"{"command":"ls"}"#;
    for twice in [r#"{"command":"ls","command":"make"}"#, r#"{"a":{"b":1,"b":2},"command":"ls"}"#] {
        assert_eq!(told(&[notice("in_progress", twice)]), (true, true), "{twice}");
        assert_eq!(told(&[notice("completed", twice)]), (true, true), "{twice}");
        // What is told later does not say which of the two it was.
        assert_eq!(told(&[notice("pending", twice), notice("in_progress", once)]), (true, true), "{twice}");
    }
    assert_eq!(told(&[notice("in_progress", once)]), (false, true));
}
