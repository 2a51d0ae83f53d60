//! The rollback rung through the real hook: what went wrong is taken back, what went well before stays, and nobody's files change unasked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value as Json, json};
use support::{AT_ONCE, TestEnvironment, decision, reason, shell_call};

/// What the session does again and again: it spoils a file and leaves another one lying about.
const SPOILS: &str = "echo broken > src/main.rs; echo left > junk.txt";

struct Session {
    environment: TestEnvironment,
    calls: u32,
}

impl Session {
    fn new(configuration: &str) -> Self {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", &format!("{configuration}{AT_ONCE}"));
        environment.write("notes.txt", "not committed\n");
        let session = Self { environment, calls: 0 };
        session.event("SessionStart", json!({ "source": "startup" }));
        session.event("UserPromptSubmit", json!({ "prompt": "make the parser accept comments" }));
        session
    }

    fn event(&self, name: &str, fields: Json) -> Json {
        self.environment.answer_to(&self.environment.payload("s", name, fields))
    }

    /// Asks to run a command, runs it when it may, and tells how it went. Both answers of the hook.
    fn call(&mut self, command: &str) -> (Json, Option<Json>) {
        self.calls += 1;
        let fields = |more: Json| shell_call(&format!("call-{}", self.calls), command, more);
        let before = self.event("PreToolUse", fields(json!({})));
        if decision(&before).is_some() {
            return (before, None);
        }
        let ran = Command::new("sh").args(["-c", command]).current_dir(self.environment.project()).output();
        let output = String::from_utf8(ran.unwrap().stdout).unwrap();
        let response = json!({ "tool_response": { "stdout": output, "stderr": "" } });
        (before, Some(self.event("PostToolUse", fields(response))))
    }

    /// Works well for a while, then spoils the same files until the rollback rung is reached; the answer that tells of it.
    fn goes_wrong(&mut self) -> String {
        self.call("echo good > good.txt");
        // The clocks of file systems tick slower than calls of a test follow one another.
        std::thread::sleep(Duration::from_millis(30));
        for _ in 0..6 {
            self.call(SPOILS);
        }
        let (seventh, none) = self.call(SPOILS);
        assert_eq!((decision(&seventh), none), (Some("deny"), None));
        reason(&seventh).to_owned()
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.environment.project().join(path)).ok()
    }

    fn rollbacks(&self) -> Vec<Json> {
        let records = self.environment.records("s").into_iter().map(|record| record["body"].clone());
        records.filter(|body| body["type"] == "rollback").collect()
    }

    fn assert_set_back(&self) {
        assert_eq!(self.read("src/main.rs").as_deref(), Some("fn main() {}\n"), "what was spoiled is back");
        assert_eq!(self.read("junk.txt"), None, "what was left lying about is gone");
        assert_eq!(self.read("good.txt").as_deref(), Some("good\n"), "what went well before stays");
        assert_eq!(self.read("notes.txt").as_deref(), Some("not committed\n"));
    }
}

// Source: seed 000-37, 000-44, 000-46, 001-29
#[test]
fn where_nobody_is_near_it_is_done_at_once_and_can_be_taken_back() {
    let mut session = Session::new("profile: unattended\n");
    let told = session.goes_wrong();
    assert!(told.contains("is set back: 2 changes"), "{told}");
    session.assert_set_back();
    let done = session.rollbacks();
    assert_eq!((done.len(), &done[0]["stage"], &done[0]["by"]), (1, &json!("done"), &json!("intervention")));
    assert_eq!(done[0]["before"], 2, "the first call went well: {}", done[0]);
    let log = session.environment.succeed(&["log"]);
    assert!(log.contains("rollback to before call 2"), "{log}");
    let number = session.environment.records("s").iter().position(|one| one["body"]["type"] == "rollback");
    let shown = session.environment.succeed(&["show", &format!("s:{}", number.unwrap() + 1)]);
    assert!(shown.contains("replace src/main.rs") && shown.contains("to take it back"), "{shown}");

    let kept = done[0]["saved_as"].as_array().unwrap();
    for snapshot in kept.iter().rev() {
        session.environment.succeed(&["rollback", &snapshot.to_string(), "--yes"]);
    }
    assert_eq!(session.read("src/main.rs").as_deref(), Some("broken\n"));
    assert_eq!(session.read("junk.txt").as_deref(), Some("left\n"));
}

// Source: seed 000-45, 001-23
#[test]
fn a_person_is_asked_first_and_calls_wait_for_them() {
    let mut session = Session::new("");
    let told = session.goes_wrong();
    let command = "checkrein session rollback s --before 2";
    assert!(told.contains(command) && told.contains("your next call waits"), "{told}");
    assert!(told.contains("replace src/main.rs"), "it names what it would change: {told}");
    assert_eq!(session.read("src/main.rs").as_deref(), Some("broken\n"), "nothing changes unasked");
    for _ in 0..2 {
        let (held, none) = session.call("cat README.md");
        assert_eq!((decision(&held), none), (Some("ask"), None));
        assert!(reason(&held).contains(command), "{held}");
    }
    let shown = session.environment.succeed(&["rollback", "--session", "s", "--before", "2", "--dry-run"]);
    assert!(shown.contains("remove junk.txt"), "{shown}");
    assert_eq!(session.read("junk.txt").as_deref(), Some("left\n"), "showing changes nothing");
    session.environment.succeed(&["rollback", "--session", "s", "--before", "2", "--yes"]);
    session.assert_set_back();
    assert_eq!(session.rollbacks().last().unwrap()["by"], "person");
    assert_eq!(decision(&session.call("cat README.md").0), None, "work goes on");
}

// Source: seed 003-8
#[test]
fn a_person_who_speaks_or_says_yes_has_decided() {
    let mut session = Session::new("");
    session.goes_wrong();
    assert_eq!(decision(&session.call("cat README.md").0), Some("ask"));
    session.event("UserPromptSubmit", json!({ "prompt": "it is meant to be broken, go on" }));
    assert_eq!(decision(&session.call("cat README.md").0), None);

    let mut session = Session::new("");
    session.goes_wrong();
    let call =
        json!({ "tool_name": "Bash", "tool_input": { "command": "cat README.md" }, "tool_use_id": "yes" });
    assert_eq!(decision(&session.event("PreToolUse", call.clone())), Some("ask"));
    let mut outcome = call;
    outcome["tool_response"] = json!({ "stdout": "# project\n", "stderr": "" });
    session.event("PostToolUse", outcome);
    assert_eq!(decision(&session.call("cat src/main.rs").0), None, "a yes is a decision too");
}

#[test]
fn where_nothing_changed_there_is_nothing_to_set_back_and_nobody_is_asked() {
    let mut session = Session::new("");
    for _ in 0..7 {
        session.call("ls");
    }
    let done = session.rollbacks();
    assert_eq!((done.len(), &done[0]["stage"]), (1, &json!("not_done")), "{done:?}");
    assert_eq!(decision(&session.call("cat README.md").0), None);
}

// Source: seed 000-39
#[test]
fn goals_and_limits_are_those_of_the_time_gone_back_to_seed_000() {
    let mut session = Session::new("profile: unattended\n");
    session.goes_wrong();
    // Limits that began in the trouble are gone with it, so the call is no longer refused for being repeated.
    assert_eq!(decision(&session.call(SPOILS).0), None);
}

#[test]
fn a_project_cannot_have_files_set_back_unasked() {
    let session = Session::new("");
    session.environment.write("checkrein.yaml", "interventions:\n  auto_rollback: true\n");
    let shown = session.environment.succeed(&["config", "show"]);
    let line = shown.lines().find(|line| line.contains("auto_rollback")).unwrap();
    assert!(line.contains("false"), "{line}");
}

// Source: seed 000-36, 001-6
#[test]
fn where_no_snapshot_helps_the_plan_says_what_to_do_instead_and_recover_shows_the_ways() {
    let mut session = Session::new("snapshots: false\n");
    session.call("echo good > good.txt");
    for _ in 0..6 {
        session.call(SPOILS);
    }
    let (seventh, _) = session.call(SPOILS);
    let told = reason(&seventh);
    assert!(
        told.contains("no safe snapshot") && told.contains("Now: say what the repeated call was"),
        "{told}"
    );
    assert_eq!(session.read("src/main.rs").as_deref(), Some("broken\n"));
    let shown = session.environment.succeed(&["recover", "s", "--policy", "production"]);
    for part in ["policy: production", "checkrein session rollback s --before 2", "silence means stop"] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    let guided = session.environment.succeed(&["recover", "s"]);
    assert!(guided.contains("tell the agent: say what the repeated call was to show"), "{guided}");
}
