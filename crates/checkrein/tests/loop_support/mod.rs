//! Sessions that repeat themselves.

use serde_json::{Value as Json, json};

use crate::support::{TestEnvironment, decision, shell_call};

/// A session of which each call is played.
pub struct Session {
    pub environment: TestEnvironment,
    calls: u32,
    pub ran: u32,
}

impl Session {
    pub fn new(configuration: &str) -> Self {
        Self::with_files(configuration, &[])
    }

    /// A session that began with more files beside the configuration.
    pub fn with_files(configuration: &str, files: &[(&str, &str)]) -> Self {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", configuration);
        for (name, text) in files {
            environment.configure(name, text);
        }
        let session = Self { environment, calls: 0, ran: 0 };
        session.event("SessionStart", json!({ "source": "startup" }));
        session.event("UserPromptSubmit", json!({ "prompt": "make the failing tests of the parser pass" }));
        session
    }

    pub fn event(&self, name: &str, fields: Json) -> Json {
        self.environment.answer_to(&self.environment.payload("s", name, fields))
    }

    /// Asks to run a command; when it may, it fails with this, or succeeds. The answers of the hook, before and after.
    pub fn call(&mut self, command: &str, output: &str, fails: bool) -> (Json, Json) {
        self.calls += 1;
        let call = |more: Json| shell_call(&format!("call-{}", self.calls), command, more);
        let before = self.event("PreToolUse", call(json!({})));
        if matches!(decision(&before), Some("deny" | "ask")) {
            return (before, Json::Null);
        }
        self.ran += 1;
        let after = if fails {
            self.event("PostToolUseFailure", call(json!({ "error": format!("Exit code 101\n{output}") })))
        } else {
            self.event("PostToolUse", call(json!({ "tool_response": { "stdout": output, "stderr": "" } })))
        };
        (before, after)
    }

    pub fn bodies(&self, kind: &str) -> Vec<Json> {
        let records = self.environment.records("s");
        records.into_iter().map(|record| record["body"].clone()).filter(|body| body["type"] == kind).collect()
    }

    pub fn is_halted(&self) -> bool {
        !self.bodies("halted").is_empty()
    }
}

/// Plays rounds until the session is halted; after how many.
pub fn rounds_until_halted(session: &mut Session, mut round: impl FnMut(&mut Session, u32)) -> u32 {
    for number in 1..=40 {
        round(session, number);
        if session.is_halted() {
            return number;
        }
    }
    panic!("40 rounds, {} of them ran, and nothing ended: {:?}", session.ran, session.bodies("intervention"));
}
