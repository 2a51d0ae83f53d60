//! What a user demands in a prompt, from the event of the client to the hint about the call that breaks it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::client_calls::{said, shell};

/// A client: its name, the folder of its payloads, and which of them tell of a prompt and of a command.
const CLIENTS: [(&str, &str, &str, &str); 3] = [
    ("claude", "claude-code", "UserPromptSubmit", "PreToolUse-Bash"),
    ("codex", "codex", "UserPromptSubmit", "PreToolUse-Bash"),
    ("gemini", "gemini-cli", "BeforeAgent", "BeforeTool-run_shell_command"),
];

struct Session {
    environment: TestEnvironment,
    client: (&'static str, &'static str, &'static str, &'static str),
    calls: u32,
}

impl Session {
    fn of(client: (&'static str, &'static str, &'static str, &'static str)) -> Self {
        let environment = TestEnvironment::new();
        environment.write("src/parser.rs", "fn parse() {}\n");
        environment.write("tests/parser.rs", "fn test() {}\n");
        environment.git(&["add", "-A"]);
        environment.commit("all of it");
        Self { environment, client, calls: 0 }
    }

    fn prompt(&self, text: &str) {
        let (name, folder, event, _) = self.client;
        let file = fs::read_to_string(format!("tests/payloads/{folder}/{event}.json")).unwrap();
        let mut payload: Json = serde_json::from_str(&file).unwrap();
        payload["session_id"] = json!("s");
        payload["cwd"] = json!(self.environment.project());
        payload["prompt"] = json!(text);
        said(&self.environment, name, &payload);
    }

    /// The demand that a command breaks, as it is quoted; empty where it breaks none.
    fn broken_by(&mut self, command: &str) -> String {
        let (name, folder, _, call) = self.client;
        self.calls += 1;
        let mut payload = shell(&self.environment, folder, call, command);
        payload["session_id"] = json!("s");
        if payload.get("tool_use_id").is_some() {
            payload["tool_use_id"] = json!(format!("call-{}", self.calls));
        }
        said(&self.environment, name, &payload);
        let records = self.environment.records("s");
        let mut reviews = records.iter().filter(|record| record["body"]["type"] == "review");
        let review = &reviews.next_back().unwrap()["body"];
        assert_eq!(review["input"]["command"], command, "{name}");
        let rules = review["rules"].as_array().cloned().unwrap_or_default();
        if !rules.contains(&json!("demand_of_the_user: warn")) {
            return String::new();
        }
        // It is a hint and no more.
        assert_eq!(review["verdict"], "nudge", "{name}: {review}");
        review["reason"].as_str().unwrap().to_owned()
    }
}

#[test]
fn what_a_prompt_forbids_is_quoted_to_the_call_that_breaks_it_and_to_no_other() {
    for client in CLIENTS {
        let mut session = Session::of(client);
        session.prompt("Fix the parser. Do not touch tests/, and don't worry about src/parser.rs.");
        assert_eq!(session.broken_by("sed -i s/a/b/ src/parser.rs"), "", "{client:?}");
        assert_eq!(session.broken_by("cat tests/parser.rs"), "", "{client:?}");
        let told = session.broken_by("sed -i s/a/b/ tests/parser.rs");
        assert!(told.contains("the user said: \"Do not touch tests/\""), "{client:?}: {told}");
    }
}

#[test]
fn a_demand_that_is_taken_back_is_none() {
    for client in CLIENTS {
        let mut session = Session::of(client);
        session.prompt("Fix the parser. Do not touch tests/ and do not commit.");
        session.prompt("You may change tests/ now.");
        assert_eq!(session.broken_by("sed -i s/a/b/ tests/parser.rs"), "", "{client:?}");
        let told = session.broken_by("git commit -am fixed");
        assert!(told.contains("do not commit"), "{client:?}: {told}");
        session.prompt("Commit it.");
        assert_eq!(session.broken_by("git commit -am fixed-again"), "", "{client:?}");
    }
}

#[test]
fn demands_are_read_in_german_french_and_spanish() {
    for (prompt, quoted) in [
        ("Repariere den Parser, aber \u{e4}ndere tests/ nicht.", "\u{e4}ndere tests/ nicht"),
        ("Corrige le parseur mais ne touche pas \u{e0} tests/.", "ne touche pas \u{e0} tests/"),
        ("Arregla el parser. No toques tests/, por favor.", "No toques tests/"),
    ] {
        let mut session = Session::of(CLIENTS[0]);
        session.prompt(prompt);
        assert_eq!(session.broken_by("sed -i s/a/b/ src/parser.rs"), "", "{prompt}");
        let told = session.broken_by("sed -i s/a/b/ tests/parser.rs");
        assert!(told.contains(quoted), "{prompt}: {told}");
    }
    for prompt in [
        "Vergiss nicht, tests/ zu \u{e4}ndern.",
        "N'oublie pas de modifier tests/.",
        "No te preocupes por tests/.",
        "Don't forget to change tests/.",
    ] {
        let mut session = Session::of(CLIENTS[0]);
        session.prompt(prompt);
        assert_eq!(session.broken_by("sed -i s/a/b/ tests/parser.rs"), "", "{prompt}");
    }
}
