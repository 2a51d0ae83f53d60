//! A fresh home with a configuration, and what can be done and seen there.

use std::cell::Cell;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json, json};

use crate::Pair;
use crate::support::{TestEnvironment, decision, shell_call};

/// How long something may take to arrive.
const PATIENCE: Duration = Duration::from_mins(1);

/// A home, a project and a session with some settings.
pub struct Scene {
    pub environment: TestEnvironment,
    calls: Cell<u32>,
}

impl Scene {
    /// A scene with these settings in the configuration of the user.
    pub fn new(settings: &[Pair]) -> Self {
        let environment = TestEnvironment::new();
        let mut root = Json::Object(Map::new());
        for (key, value) in settings {
            let mut place = &mut root;
            for part in key.split('.') {
                place = &mut place[part];
            }
            *place = serde_json::from_str(value).unwrap_or_else(|error| panic!("{key}: {value}: {error}"));
        }
        // JSON is YAML, too.
        environment.configure("config.yaml", &format!("{root}\n"));
        Self { environment, calls: Cell::new(0) }
    }

    /// A text without the home of this scene.
    pub fn without_places(&self, text: &str) -> String {
        text.replace(self.environment.home().to_str().unwrap(), "~")
    }

    /// The standard output of `checkrein`, which must succeed.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        self.environment.succeed(arguments)
    }

    /// `checkrein` with its standard output and error in one text.
    pub fn said(&self, arguments: &[&str]) -> String {
        text_of(&self.environment.checkrein(arguments))
    }

    /// What `check --json` says about a command.
    pub fn check(&self, command: &str) -> Json {
        let output = self.environment.checkrein(&["check", "--json", command]);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// The answer to an event of session `s`.
    pub fn event(&self, name: &str, fields: Json) -> Json {
        self.environment.answer_to(&self.environment.payload("s", name, fields))
    }

    fn fields(&self, command: &str, more: Json) -> Json {
        shell_call(&format!("call-{}", self.calls.get()), command, more)
    }

    /// The answer to a shell call before it runs.
    pub fn asked(&self, command: &str) -> Json {
        self.calls.set(self.calls.get() + 1);
        self.event("PreToolUse", self.fields(command, json!({})))
    }

    /// What becomes of a shell call: a decision, `rewritten`, `hint`, or `nothing`.
    pub fn verdict(&self, command: &str) -> String {
        let answer = self.asked(command);
        let said = &answer["hookSpecificOutput"];
        let word = decision(&answer).unwrap_or(match () {
            () if !said["updatedInput"].is_null() => "rewritten",
            () if !said["additionalContext"].is_null() => "hint",
            () if answer == json!({}) => "nothing",
            () => "other",
        });
        word.to_owned()
    }

    /// A shell call that says this, where it may run. What became of it.
    pub fn call(&self, command: &str, output: &str) -> String {
        self.outcome(command, json!({ "tool_response": { "stdout": output, "stderr": "" } }))
    }

    /// A shell call that fails, where it may run. What became of it.
    pub fn fail(&self, command: &str, error: &str) -> String {
        self.outcome(command, json!({ "error": error, "hook_event_name": "PostToolUseFailure" }))
    }

    fn outcome(&self, command: &str, more: Json) -> String {
        let verdict = self.verdict(command);
        if verdict != "deny" && verdict != "ask" {
            let name = if more.get("error").is_some() { "PostToolUseFailure" } else { "PostToolUse" };
            self.event(name, self.fields(command, more));
        }
        verdict
    }

    /// A shell call that is really run, where it may. What became of it.
    pub fn run(&self, command: &str) -> String {
        let verdict = self.verdict(command);
        if verdict != "deny" && verdict != "ask" {
            let output = self.shell(command);
            let response =
                json!({ "stdout": String::from_utf8_lossy(&output.stdout).into_owned(), "stderr": "" });
            self.event("PostToolUse", self.fields(command, json!({ "tool_response": response })));
        }
        verdict
    }

    /// Runs a command in the project.
    pub fn shell(&self, command: &str) -> Output {
        let mut shell = self.environment.command("sh");
        shell.args(["-c", command]).stdin(std::process::Stdio::null()).output().unwrap()
    }

    /// What the records of a kind hold, oldest first.
    pub fn bodies(&self, kind: &str) -> Vec<Json> {
        let bodies = self.environment.records("s").into_iter().map(|record| record["body"].clone());
        bodies.filter(|body| body["type"] == kind).collect()
    }

    /// One field of all records of a kind.
    pub fn fields_of(&self, kind: &str, field: &str) -> String {
        let fields: Vec<String> = self
            .bodies(kind)
            .iter()
            .map(|body| body.pointer(field).unwrap_or(&Json::Null).to_string())
            .collect();
        fields.join(" ")
    }

    /// What `sessions --json` says about the only session.
    pub fn session(&self) -> Json {
        serde_json::from_str(&self.succeed(&["sessions", "--json"])).unwrap()
    }

    /// Makes a program that stands before all others of its name, for what [`Self::with_programs`] runs.
    pub fn program(&self, name: &str, script: &str) {
        let path = self.environment.home().join("bin").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A search path that begins with the programs of this scene.
    pub fn search(&self) -> String {
        let path = std::env::var("PATH").unwrap_or_default();
        format!("{}:{path}", self.environment.home().join("bin").display())
    }

    /// `checkrein` with the programs of this scene; its output and error in one text.
    pub fn with_programs(&self, arguments: &[&str]) -> String {
        let mut command = self.environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.args(arguments).env("PATH", self.search()).stdin(std::process::Stdio::null());
        text_of(&command.output().unwrap())
    }

    /// The answer to bytes on the standard input of `checkrein`.
    pub fn told(&self, arguments: &[&str], input: &str) -> String {
        let mut command = self.environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.args(arguments).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    /// A file of the home, or `nothing`.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_else(|_| "nothing".to_owned())
    }

    /// Writes a file below the home.
    pub fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    /// The machine of this scene.
    pub fn machine(&self) -> crate::machine::Machine<'_> {
        crate::machine::Machine::new(self)
    }

    /// A place below the home.
    pub fn at(&self, path: &str) -> PathBuf {
        self.environment.home().join(path)
    }

    /// The names in a directory of the home, in order.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Waits until something is so.
    #[expect(clippy::unused_self, reason = "it reads as what happens in the scene")]
    pub fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let started = Instant::now();
        while !is_so() {
            assert!(started.elapsed() < PATIENCE, "{what}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Standard output and error in one text.
fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}
