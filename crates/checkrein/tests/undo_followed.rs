//! What a call did whose client never tells of an end: its session goes on by itself, and what stands there then is looked at.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Stdio;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

/// Files of the work tree with their modes and contents.
type Picture = BTreeMap<String, (u32, Vec<u8>)>;

/// Calls that leave what nobody can foresee.
const UNFORESEEN: [&str; 6] = [
    "truncate -s +10 a",
    "shred -n 1 a",
    "sort -r a > sorted && mv sorted a",
    "dd if=/dev/zero of=a bs=1 count=2 conv=notrunc status=none",
    "awk '{ print $1 > \"a\" }' b",
    "perl -pi -e 's/one/two/' a",
];

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Call,
    TurnEnd,
    Prompt,
}

struct Session(TestEnvironment);

impl Session {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        environment.write("a", "one\nthree\ntwo\n");
        environment.write("b", "some words\n");
        environment.git(&["add", "-A"]);
        environment.commit("second");
        let session = Self(environment);
        // In no commit, so that nothing but the snapshot has it.
        session.run("echo four >> a");
        session.event("SessionStart", json!({ "source": "startup" }));
        session
    }

    fn event(&self, name: &str, fields: Json) -> Json {
        self.0.answer_to(&self.0.payload("s", name, fields))
    }

    fn run(&self, command: &str) {
        let mut child = self.0.command("bash");
        let output = child.args(["-c", command]).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A call that runs, and of which no end is told; what the hook says to it.
    fn call(&self, id: &str, command: &str) -> Json {
        let answer = self.event("PreToolUse", shell_call(id, command, json!({})));
        assert!(decision(&answer) != Some("deny"), "{command}: {answer}");
        self.run(command);
        answer
    }

    fn tell_end(&self, id: &str, command: &str) {
        let response = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
        self.event("PostToolUse", shell_call(id, command, response));
    }

    fn goes_on(&self, next: Next) {
        match next {
            Next::Call => drop(self.event("PreToolUse", shell_call("next", "ls", json!({})))),
            Next::TurnEnd => drop(self.event("Stop", json!({ "stop_hook_active": false }))),
            Next::Prompt => drop(self.event("UserPromptSubmit", json!({ "prompt": "go on" }))),
        }
    }

    fn picture(&self) -> Picture {
        let entries = fs::read_dir(self.0.project()).unwrap().map(|entry| entry.unwrap().path());
        let files = entries.filter(|path| path.is_file());
        files
            .map(|path| {
                let mode = fs::metadata(&path).unwrap().mode();
                (path.to_string_lossy().into_owned(), (mode, fs::read(&path).unwrap()))
            })
            .collect()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.0.project().join(name)).unwrap()).into_owned()
    }

    /// What `undo` says.
    fn undo(&self, options: &[&str]) -> String {
        let output = self.0.checkrein(&[&["undo", "--yes"], options].concat());
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }
}

#[test]
fn what_was_left_when_the_session_went_on_goes_back() {
    for command in UNFORESEEN {
        for next in [Next::Call, Next::TurnEnd] {
            let session = Session::new();
            let before = session.picture();
            session.call("call", command);
            assert!(session.picture() != before, "{command}: changed nothing");
            session.goes_on(next);
            let said = session.undo(&["--remove-new"]);
            assert!(session.picture() == before, "{command}, {next:?}: {said}");
        }
    }
}

#[test]
fn what_a_user_wrote_after_the_session_went_on_stays() {
    for command in UNFORESEEN {
        for next in [Next::Call, Next::TurnEnd] {
            let session = Session::new();
            session.call("call", command);
            session.goes_on(next);
            session.run("echo mine > a");
            // The end of a turn was looked at: what comes behind it is no part of it.
            if next == Next::TurnEnd {
                session.goes_on(Next::Call);
            }
            let said = session.undo(&["--remove-new"]);
            assert_eq!(session.text("a"), "mine\n", "{command}, {next:?}: {said}");
            assert!(said.contains("`--force` puts it back"), "{command}, {next:?}: {said}");
            let said = session.undo(&["--force"]);
            assert_eq!(session.text("a"), "one\nthree\ntwo\nfour\n", "{command}, {next:?}: {said}");
            let number = said.split("snapshot restore ").nth(1).unwrap().split('`').next().unwrap();
            session.0.succeed(&["snapshot", "restore", number, "--yes"]);
            assert_eq!(session.text("a"), "mine\n", "{command}, {next:?}");
        }
    }
}

/// Whoever speaks may have interrupted the call, and written before.
#[test]
fn what_stood_there_when_a_user_spoke_is_in_doubt() {
    let session = Session::new();
    session.call("call", UNFORESEEN[0]);
    session.run("echo mine > a");
    session.goes_on(Next::Prompt);
    session.goes_on(Next::Call);
    let said = session.undo(&["--remove-new"]);
    assert_eq!(session.text("a"), "mine\n", "{said}");
}

/// Of a client that tells of ends, a call without one was refused or interrupted.
#[test]
fn a_client_that_tells_of_other_ends_is_taken_at_its_word() {
    for is_told_before in [true, false] {
        let session = Session::new();
        if is_told_before {
            session.call("earlier", "ls");
            session.tell_end("earlier", "ls");
        }
        session.call("call", UNFORESEEN[0]);
        session.run("echo mine > a");
        session.goes_on(Next::Call);
        if !is_told_before {
            session.tell_end("next", "ls");
        }
        let said = session.undo(&["--remove-new"]);
        assert_eq!(session.text("a"), "mine\n", "{said}");
    }
}

/// Behind a pause the call may have been over.
#[test]
fn what_a_user_wrote_behind_a_pause_stays() {
    let session = Session::new();
    session.call("call", "truncate -s +10 a; truncate -s +10 b");
    session.run("sleep 6.1; echo mine > a");
    session.goes_on(Next::Call);
    let said = session.undo(&["--remove-new"]);
    assert_eq!(
        (session.text("a").as_str(), session.text("b").as_str()),
        ("mine\n", "some words\n"),
        "{said}"
    );
}

/// The first of two calls was over when the second came; what the second left is its own.
#[test]
fn each_call_is_taken_back_by_itself() {
    let session = Session::new();
    let first = session.picture();
    session.call("one", "truncate -s +10 a");
    let second = session.picture();
    session.call("two", "sort -r b > sorted && mv sorted b; truncate -s +3 b");
    session.goes_on(Next::TurnEnd);
    let said = session.undo(&["--remove-new"]);
    assert!(session.picture() == second, "{said}");
    let said = session.undo(&["--remove-new"]);
    assert!(session.picture() == first, "{said}");
}

/// New files that came behind the end of a call are nobody's but the user's.
#[test]
fn what_a_user_made_after_the_session_went_on_is_not_removed() {
    let session = Session::new();
    session.call("call", "node missing.js || truncate -s +10 a");
    session.goes_on(Next::TurnEnd);
    session.run("sleep 0.1; echo mine > new");
    let said = session.undo(&["--remove-new"]);
    assert_eq!(session.text("new"), "mine\n", "{said}");
}

/// A user who was asked may have said no, and what came behind it may be theirs; one who forces it wants it back whatever was answered. Where
/// nothing came behind it and just that stands which it was to leave, it ran.
#[test]
fn what_was_asked_about_goes_back_by_force() {
    for next in [None, Some(Next::Call), Some(Next::TurnEnd)] {
        let session = Session::new();
        session.run("printf 'mine\\n' > ~/.profile");
        let answer = session.call("call", "echo 'export A=1' >> ~/.profile");
        assert_eq!(decision(&answer), Some("ask"), "{answer}");
        next.into_iter().for_each(|next| session.goes_on(next));
        let profile = session.0.home().join(".profile");
        let said = session.undo(&[]);
        if next.is_none() {
            assert_eq!(fs::read_to_string(&profile).unwrap(), "mine\n", "{said}");
            continue;
        }
        assert!(fs::read_to_string(&profile).unwrap().contains("export"), "{next:?}: {said}");
        assert!(said.contains("--force"), "{next:?}: {said}");
        let said = session.undo(&["--force"]);
        assert_eq!(fs::read_to_string(&profile).unwrap(), "mine\n", "{next:?}: {said}");
    }
}

/// The same where nothing was lost.
#[test]
fn what_was_asked_about_and_only_added_goes_back_by_force() {
    let session = Session::new();
    let before = session.picture();
    let answer = session.call("call", "install -m 4755 a suid");
    assert_eq!(decision(&answer), Some("ask"), "{answer}");
    session.run("echo theirs > suid");
    let said = session.undo(&["--remove-new"]);
    assert!(session.picture() != before && said.contains("undo"), "{said}");
    let said = session.undo(&["--remove-new", "--force"]);
    assert!(session.picture() == before, "{said}");
}
