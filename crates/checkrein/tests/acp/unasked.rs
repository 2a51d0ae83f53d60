//! Calls that the agent makes by itself, before it tells of them.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::connection::{Connection, tells, told};
use crate::support::TestEnvironment;

/// An agent that tells of a call, makes it, and tells the rest when it is done.
struct Agent {
    connection: Connection,
    calls: u32,
    /// What the user read in the conversation.
    said: String,
}

impl Agent {
    fn new(environment: &TestEnvironment) -> Self {
        let mut connection = Connection::open(environment);
        connection.begin("s1", &environment.project());
        Self { connection, calls: 0, said: String::new() }
    }

    fn passes(&mut self, message: &Json) {
        self.connection.agent_says(message);
        loop {
            let heard = self.connection.editor_hears();
            if heard == *message {
                return;
            }
            self.said.push_str(told(&heard));
        }
    }

    /// Makes a call, in the order in which `OpenCode` tells of one.
    fn calls(&mut self, kind: &str, input: &Json, act: impl FnOnce()) {
        self.calls += 1;
        let id = format!("call_{}", self.calls);
        let of = |update: &str, status: &str, input: &Json| {
            tells(
                "s1",
                &json!({ "sessionUpdate": update, "toolCallId": id, "title": "tool", "kind": kind, "status": status,
                    "locations": [], "rawInput": input }),
            )
        };
        // It tells of it when it has begun.
        act();
        self.passes(&of("tool_call", "pending", &json!({})));
        self.passes(&of("tool_call_update", "in_progress", input));
        let end = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
            "rawOutput": { "metadata": { "exit": 0 } } });
        self.passes(&tells("s1", &end));
    }

    fn writes(&mut self, path: &Path, text: &str) {
        let input = json!({ "filePath": path, "content": text });
        self.calls("edit", &input, || fs::write(path, text).unwrap());
    }

    fn runs(&mut self, command: &str, act: impl FnOnce()) {
        self.calls("execute", &json!({ "command": command }), act);
    }

    fn ends(mut self) -> String {
        self.passes(&json!({ "jsonrpc": "2.0", "method": "x/last", "params": {} }));
        self.connection.end();
        self.said
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|_| "(nothing)".to_owned())
}

#[test]
fn what_a_call_names_is_no_surprise_though_it_happened_before_the_call_was_told() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    environment.write("notes.txt", "mine\n");
    environment.write("draft.md", "the draft\n");
    environment.write("src/old.txt", "old\n");
    let mut agent = Agent::new(&environment);
    agent.writes(&project.join("new.txt"), "new\n");
    agent.writes(&project.join("notes.txt"), "over\n");
    agent.runs("mv draft.md kept.md", || {
        fs::rename(project.join("draft.md"), project.join("kept.md")).unwrap();
    });
    agent.runs("echo hi > made.txt", || fs::write(project.join("made.txt"), "hi\n").unwrap());
    agent.runs("rm -r src", || fs::remove_dir_all(project.join("src")).unwrap());
    let said = agent.ends();
    assert!(!said.contains("predicted"), "{said}");
    let surprises = environment.succeed(&["log"]);
    assert!(!surprises.contains("surprise"), "{surprises}");
}

#[test]
fn a_change_that_no_call_names_is_still_a_surprise() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    environment.write("notes.txt", "mine\n");
    let mut agent = Agent::new(&environment);
    agent.runs("echo hi > made.txt", || {
        fs::write(project.join("made.txt"), "hi\n").unwrap();
        fs::write(project.join("notes.txt"), "over\n").unwrap();
    });
    let said = agent.ends();
    assert!(said.contains("predicted") && said.contains("notes.txt") && !said.contains("made.txt"), "{said}");
}

#[test]
fn what_stood_before_a_call_comes_back_though_the_call_was_told_when_it_had_run() {
    let environment = TestEnvironment::new();
    let project = environment.project();
    let (notes, draft) = (project.join("notes.txt"), project.join("draft.md"));
    environment.write("notes.txt", "mine\n");
    environment.write("draft.md", "the draft\n");
    let mut agent = Agent::new(&environment);
    agent.writes(&notes, "first\n");
    agent.writes(&notes, "second\n");
    agent.runs("rm draft.md", || fs::remove_file(&draft).unwrap());
    // Somebody else changes something while the agent does nothing.
    environment.write("of-user.txt", "theirs\n");
    agent.ends();

    environment.succeed(&["undo", "--yes"]);
    assert_eq!((text(&draft).as_str(), text(&notes).as_str()), ("the draft\n", "second\n"));
    environment.succeed(&["undo", "--yes"]);
    assert_eq!(text(&notes), "first\n");
    environment.succeed(&["undo", "--yes"]);
    assert_eq!(text(&notes), "mine\n");
    assert_eq!(text(&draft), "the draft\n");
    assert_eq!(text(&project.join("of-user.txt")), "theirs\n");
}
