//! Calls that we let through, and that the client or its user refused: nobody tells of it, and no page may say that they ran.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, shell_call};

struct Session(TestEnvironment);

impl Session {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        environment.write("notes/draft.md", "the only copy\n");
        Self(environment)
    }

    fn event(&self, event: &str, fields: Json) -> Json {
        self.0.answer_to(&self.0.payload("s", event, fields))
    }

    fn call(&self, id: &str, command: &str) {
        self.event("PreToolUse", shell_call(id, command, json!({})));
    }

    fn ran(&self, id: &str, command: &str) {
        let done = json!({ "tool_response": { "stdout": "", "stderr": "" } });
        self.event("PostToolUse", shell_call(id, command, done));
    }

    /// The same event as another client tells of it.
    fn event_of(&self, client: &str, event: &str, fields: Json) {
        let mut hook = self.0.command(env!("CARGO_BIN_EXE_checkrein-hook"));
        hook.arg(client).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut hook = hook.spawn().unwrap();
        hook.stdin.take().unwrap().write_all(&self.0.payload("s", event, fields)).unwrap();
        hook.wait().unwrap();
    }

    fn batch(&self) {
        self.event("PostToolBatch", json!({}));
    }

    fn row(&self, id: &str) -> String {
        let log = self.0.succeed(&["log"]);
        log.lines().find(|line| line.contains(id)).unwrap_or_else(|| panic!("{id}\n{log}")).to_owned()
    }
}

#[test]
fn a_call_that_the_client_refused_is_told_as_not_run() {
    let session = Session::new();
    session.call("toolu_refused", "rm -rf notes");
    let shown = session.0.succeed(&["show", "toolu_refused"]);
    assert!(shown.contains("it still runs"), "{shown}");
    session.batch();
    session.call("toolu_later", "ls");
    session.ran("toolu_later", "ls");
    session.batch();

    assert!(session.row("toolu_refused").contains("not run"), "{}", session.row("toolu_refused"));
    assert!(!session.row("toolu_later").contains("not run"));
    let shown = session.0.succeed(&["show", "toolu_refused"]);
    assert!(shown.contains("it did not run as far as we know"), "{shown}");
    assert!(!shown.contains("checkrein undo toolu_refused"), "{shown}");
    session.event("SessionEnd", json!({ "reason": "other" }));
    let log = session.0.succeed(&["log"]);
    assert!(log.contains("2 calls: 1 ok, 1 not run"), "{log}");
}

#[test]
fn a_call_of_which_an_end_comes_late_ran() {
    let session = Session::new();
    session.call("toolu_slow", "rm -rf notes");
    session.batch();
    assert!(session.row("toolu_slow").contains("not run"));
    session.ran("toolu_slow", "rm -rf notes");
    assert!(!session.row("toolu_slow").contains("not run"));
    session.event("SessionEnd", json!({ "reason": "other" }));
    assert!(session.0.succeed(&["log"]).contains("1 call: 1 saved"));
}

#[test]
fn what_a_sub_agent_does_says_nothing_of_the_call_that_started_it() {
    let session = Session::new();
    let task = json!({ "tool_name": "Agent", "tool_use_id": "toolu_task", "tool_input": { "prompt": "look around" } });
    session.event("PreToolUse", task);
    session.event("PreToolUse", shell_call("toolu_inner", "ls", json!({ "agent_id": "a1" })));
    let done = json!({ "tool_response": { "stdout": "", "stderr": "" }, "agent_id": "a1" });
    session.event("PostToolUse", shell_call("toolu_inner", "ls", done));
    session.event("PostToolBatch", json!({ "agent_id": "a1" }));
    assert!(!session.row("toolu_task").contains("not run"), "{}", session.row("toolu_task"));
}

#[test]
fn where_the_client_does_not_tell_of_all_ends_nothing_is_said() {
    let session = Session::new();
    session.call("toolu_one", "ls");
    session.event("UserPromptSubmit", json!({ "prompt": "go on" }));
    session.call("toolu_two", "ls");
    session.ran("toolu_two", "ls");
    assert!(!session.row("toolu_one").contains("not run"), "{}", session.row("toolu_one"));
}

#[test]
fn a_call_without_an_end_is_not_told_as_one_that_ran() {
    let ended = || json!({ "tool_response": { "stdout": "", "stderr": "" } });
    for client in ["claude", "codex", "qwen", "droid"] {
        let session = Session::new();
        session.event_of(client, "PreToolUse", shell_call("call_refused", "ls notes", json!({})));
        assert!(!session.row("call_refused").contains("unknown"), "{client}: it may run still");
        session.event_of(client, "PreToolUse", shell_call("call_ran", "ls", json!({})));
        session.event_of(client, "PostToolUse", shell_call("call_ran", "ls", ended()));
        session.event_of(client, "Stop", json!({ "stop_hook_active": false }));
        let row = session.row("call_refused");
        assert!(row.contains("ok: outcome unknown"), "{client}: {row}");
        let list = session.0.succeed(&["session", "list"]);
        assert!(list.contains("1 ok, 1 outcome unknown"), "{client}: {list}");
        assert!(!session.row("call_ran").contains("unknown"), "{client}");
        let shown = session.0.succeed(&["show", "call_refused"]);
        assert!(shown.contains("it is not known whether it ran"), "{shown}");
        // An end that is told late settles it.
        session.event_of(client, "PostToolUse", shell_call("call_refused", "ls notes", ended()));
        assert!(!session.row("call_refused").contains("unknown"), "{client}");
        assert!(session.0.succeed(&["session", "list"]).contains("2 ok"), "{client}");
        // So does the summary of one that is open when the session ends.
        session.event_of(client, "PreToolUse", shell_call("call_open", "ls", json!({})));
        session.event_of(client, "SessionEnd", json!({ "reason": "other" }));
        let log = session.0.succeed(&["log"]);
        assert!(log.contains("3 calls: 2 ok, 1 outcome unknown"), "{client}: {log}");
    }
}

#[test]
fn a_refused_call_is_no_cause_of_what_another_one_changed() {
    let session = Session::new();
    session.call("toolu_refused", "rm -rf notes");
    session.batch();
    session.call("toolu_later", "touch made.txt");
    session.0.write("made.txt", "");
    session.0.write("other.txt", "a surprise\n");
    session.ran("toolu_later", "touch made.txt");
    let shown = session.0.succeed(&["show", "toolu_later"]);
    assert!(!shown.contains("another cause may be"), "{shown}");
}

#[test]
fn who_refused_a_call_is_told_where_a_user_says_that_it_should_have_run() {
    let session = Session::new();
    let said = |arguments: &[&str]| {
        let output = session.0.checkrein(arguments);
        let both = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&both).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    session.event("SessionStart", json!({ "source": "startup" }));
    session.call("toolu_refused", "rm -rf notes");
    session.batch();
    assert!(session.row("toolu_refused").contains("not run"), "{}", session.row("toolu_refused"));
    let log = session.0.succeed(&["log"]);
    assert!(log.contains("refused by Claude Code or its user"), "{log}");
    let shown = session.0.succeed(&["show", "toolu_refused"]);
    assert!(shown.contains("Claude Code or its user refused it"), "{shown}");
    for arguments in [
        &["wrong", "LAST"][..],
        &["wrong", "toolu_refused"],
        &["allow", "toolu_refused", "--always", "--yes"],
    ] {
        let told = said(arguments);
        assert!(told.contains("Claude Code or its user refused it"), "{arguments:?}: {told}");
    }
    // An older call that was stopped is meant by `LAST`, and that is said.
    let session = Session::new();
    session.event("SessionStart", json!({ "source": "startup" }));
    session.call("toolu_stopped", "rm -rf ~");
    session.call("toolu_refused", "rm -rf notes");
    session.batch();
    let output = session.0.checkrein(&["wrong", "LAST"]);
    let told = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        output.status.success() && told.contains("not by checkrein; this is about `Bash rm -rf ~`"),
        "{told}"
    );
}
