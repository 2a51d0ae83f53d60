//! The interface of `watch` at a real terminal: keys that do something, and the terminal as it was afterwards, however it ends.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use support::terminal::at_a_terminal;
use support::{TestEnvironment, shell_call};

/// How long something on the screen is waited for: the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// How an interface takes the screen and gives it back.
const TAKEN: &str = "\u{1b}[?1049h";
const GIVEN_BACK: &str = "\u{1b}[?1049l";

/// `watch` at a terminal of 80 columns and 24 lines.
struct Watched<'a> {
    environment: &'a TestEnvironment,
    child: Child,
    keyboard: ChildStdin,
    written: Arc<Mutex<String>>,
}

impl<'a> Watched<'a> {
    fn start(environment: &'a TestEnvironment, variables: &str) -> Self {
        let program = env!("CARGO_BIN_EXE_checkrein");
        let session = format!(
            "stty rows 24 cols 80; stty -g > ~/before; sh -c 'echo $$ > ~/number; {variables} exec {program} watch'; echo status:$?; stty -g > ~/after"
        );
        let (mut child, keyboard) = at_a_terminal(environment, &session);
        let written = Arc::new(Mutex::new(String::new()));
        let (mut output, kept) = (child.stdout.take().unwrap(), Arc::clone(&written));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Self { environment, child, keyboard, written }
    }

    fn text(&self) -> String {
        self.written.lock().unwrap().clone()
    }

    fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let began = Instant::now();
        while !is_so(&self.text()) {
            assert!(began.elapsed() < PATIENCE, "{what} in\n{:?}", self.text());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a word is written.
    fn until_written(&self, word: &str) {
        self.until(word, |text| text.contains(word));
    }

    /// Types keys, and waits until this is written after them.
    fn typed(&mut self, keys: &str, word: &str) {
        let before = self.text().len();
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.until(word, |text| text.get(before..).is_some_and(|fresh| fresh.contains(word)));
    }

    fn signal(&self, name: &str) {
        let number = fs::read_to_string(self.environment.home().join("number")).unwrap();
        let sent = Command::new("kill").args(["-s", name, number.trim()]).status().unwrap();
        assert!(sent.success(), "{name} in {:?}", self.text());
    }

    /// Waits for the end; the terminal must be as it was.
    fn ended(mut self) -> String {
        self.until_written("status:");
        drop(self.keyboard);
        self.child.wait().unwrap();
        let setting = |name: &str| fs::read_to_string(self.environment.home().join(name)).unwrap();
        assert_eq!(setting("before"), setting("after"), "the settings of the terminal");
        let text = self.written.lock().unwrap().clone();
        let (_, rest) = text.rsplit_once(GIVEN_BACK).unwrap();
        assert!(!rest.contains(TAKEN) && rest.contains("\u{1b}[?25h"), "{text:?}");
        text
    }
}

/// A session that deleted a folder of which there is no other copy.
fn worked() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let event = |name: &str, fields| environment.answer_to(&environment.payload("s", name, fields));
    event("SessionStart", json!({ "source": "startup" }));
    event("UserPromptSubmit", json!({ "prompt": "remove the notes" }));
    environment.write("notes/plan.md", "the only copy\n");
    event("PreToolUse", shell_call("call-1", "rm -rf notes", json!({})));
    fs::remove_dir_all(environment.project().join("notes")).unwrap();
    let output = json!({ "tool_response": { "stdout": "", "stderr": "" } });
    event("PostToolUse", shell_call("call-1", "rm -rf notes", output));
    environment
}

#[test]
fn a_session_is_halted_resumed_and_its_loss_taken_back() {
    let environment = worked();
    let halt = environment.state().join("halts/s");
    let mut watched = Watched::start(&environment, "");
    watched.until_written("working");
    watched.typed("h", "[y/n]");
    watched.typed("n", "nothing");
    assert!(!halt.exists());
    watched.typed("h", "[y/n]");
    watched.typed("y", "refused");
    assert!(halt.exists());
    watched.typed("\rr", "[y/n]");
    watched.typed("y", "resumed");
    assert!(!halt.exists());

    let plan = environment.project().join("notes/plan.md");
    watched.typed("\ru", "[y/n]");
    assert!(watched.text().contains("plan.md") && !plan.exists(), "first it is shown");
    watched.typed("y", "restore");
    assert_eq!(fs::read_to_string(&plan).unwrap(), "the only copy\n");
    watched.keyboard.write_all(b"\r").unwrap();
    watched.typed("\r", "details");
    watched.typed("gjj\r", "Details");
    watched.keyboard.write_all(b"q").unwrap();
    assert!(watched.ended().contains("status:0"));
}

#[test]
fn the_terminal_is_as_it_was_whatever_ends_the_interface() {
    let environment = worked();
    for signal in ["TERM", "INT", "HUP", "QUIT"] {
        let watched = Watched::start(&environment, "");
        watched.until_written("working");
        watched.signal(signal);
        watched.ended();
    }
    let mut watched = Watched::start(&environment, "NO_COLOR=1");
    watched.until_written("working");
    // An open question is answered with no.
    watched.typed("u", "[y/n]");
    watched.signal("TERM");
    let text = watched.ended();
    assert!(!environment.project().join("notes").exists());
    let colours: Vec<&str> = text.split("\u{1b}[").filter(|part| part.starts_with("38;")).collect();
    assert_eq!(colours, Vec::<&str>::new());
}

#[test]
fn who_stops_the_interface_gets_the_terminal_and_gives_it_back() {
    let environment = worked();
    let mut watched = Watched::start(&environment, "");
    watched.until_written("working");
    let taken = |text: &str| text.matches(TAKEN).count();
    for (round, stop) in ["signal", "key"].into_iter().enumerate() {
        if stop == "key" {
            watched.keyboard.write_all(b"\x1a").unwrap();
        } else {
            watched.signal("TSTP");
        }
        watched.until("given back", |text| text.matches(GIVEN_BACK).count() == round + 1);
        thread::sleep(Duration::from_millis(300));
        assert_eq!(taken(&watched.text()), round + 1, "it waits");
        watched.signal("CONT");
        watched.until("taken again", |text| taken(text) == round + 2);
    }
    watched.keyboard.write_all(b"q").unwrap();
    watched.ended();
}

#[test]
fn an_agent_may_look_and_do_nothing() {
    let environment = worked();
    let mut watched = Watched::start(&environment, "CLAUDECODE=1");
    watched.until_written("working");
    watched.typed("h", "[y/n]");
    watched.typed("y", "humans");
    assert!(!environment.state().join("halts/s").exists());
    watched.keyboard.write_all(b"\rq").unwrap();
    watched.ended();
}

#[test]
fn only_what_changed_is_written_so_that_nothing_flickers() {
    let environment = worked();
    let watched = Watched::start(&environment, "");
    watched.until_written("working");
    // It looks again at least three times meanwhile.
    thread::sleep(Duration::from_secs(4));
    let still = watched.text().len();
    thread::sleep(Duration::from_secs(4));
    let text = watched.text();
    let written = &text[still..];
    assert!(!written.contains("remove the notes") && written.len() < 400, "{written:?}");
    // A call comes: its line is written, and the rest of the screen stays as it is.
    let before = watched.text().len();
    let fields = shell_call("call-2", "cat README.md", json!({}));
    environment.answer_to(&environment.payload("s", "PreToolUse", fields));
    watched.until("the new call", |text| text.get(before..).is_some_and(|fresh| fresh.contains("README")));
    let text = watched.text();
    let written = &text[before..];
    assert!(!written.contains("remove the notes") && written.len() < 1_000, "{written:?}");
    let text = watched.text();
    let (_, since) = text.split_once(TAKEN).unwrap();
    assert_eq!(
        since.matches("\u{1b}[2J").count(),
        1,
        "the screen is emptied once, when it is taken: {text:?}"
    );
    watched.signal("TERM");
    watched.ended();
}
