//! What the tests of the programs share: a home of their own, a project, the programs, and a scripted model.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod chat_model;
pub mod client;
pub mod client_calls;
pub mod driven;
pub mod gate_answers;
mod gemini_model;
pub mod memory;
pub mod model;
pub mod picture;
pub mod pool;
pub mod requests;
mod responses_model;
pub mod terminal;
pub mod waiting;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// A blueprint that forbids one command, with fixtures that hold.
pub const BLUEPRINT: &str = "artifact_type: acgp.blueprint
schema_version: 2.0.0
id: example/quiet@1.0
version: 1.0.0
title: Quiet
description: Nothing is uploaded.
tripwires:
  - id: no_dates
    condition: action.command == \"date\"
    on_fail: {decision: block, reason: the time is nobody's business}
fixtures:
  - {name: the date, actions: '$ date =>', expect: block}
  - {name: a listing, actions: '$ ls =>', expect: ok}
";

/// Copies a program to `to`, which may stand there already.
///
/// By a process of its own: a copy written here stays open for writing in every child that another test starts
/// in that moment, and the kernel refuses to run a program that is open for writing (`ETXTBSY`).
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let copied =
        Command::new("cp").arg("--remove-destination").arg(from.as_ref()).arg(to.as_ref()).status().unwrap();
    assert!(copied.success(), "{} to {}", from.as_ref().display(), to.as_ref().display());
}

/// A fresh home with a project that is a git repository with one commit.
pub struct TestEnvironment {
    folder: TempDir,
}

impl TestEnvironment {
    pub fn new() -> Self {
        Self::within("/tmp")
    }

    /// The same below another folder.
    pub fn within(folder: impl AsRef<Path>) -> Self {
        // A folder with a name of fixed length, so that tables and cut texts are the same everywhere.
        let environment = Self { folder: tempfile::tempdir_in(folder).unwrap() };
        fs::create_dir_all(environment.project().join("src")).unwrap();
        environment.write("README.md", "# project\n");
        environment.write("src/main.rs", "fn main() {}\n");
        environment.git(&["init", "-q", "-b", "main"]);
        environment.git(&["add", "-A"]);
        environment.commit("first");
        environment
    }

    /// Commits what is staged.
    pub fn commit(&self, message: &str) {
        let author = ["-c", "user.name=dev", "-c", "user.email=dev@localhost"];
        self.git(&[&author[..], &["commit", "-q", "-m", message]].concat());
    }

    pub fn home(&self) -> PathBuf {
        // Temporary directories may be behind a symbolic link; the guard names things by their real path.
        fs::canonicalize(self.folder.path()).unwrap()
    }

    pub fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    pub fn state(&self) -> PathBuf {
        self.home().join(".local/state/checkrein")
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a file of the user's own configuration; where it stands.
    pub fn configure(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home().join(".config/checkrein").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn git(&self, arguments: &[&str]) {
        let status = self.command("git").args(arguments).current_dir(self.project()).status().unwrap();
        assert!(status.success(), "git {arguments:?}");
    }

    /// A command with nothing but this home in its environment.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            .env("USER", "dev")
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // Nobody answers in a test that does not say so.
            .env("CHECKREIN_APPROVALS_WAIT", "never")
            // What is said is looked for in whole lines; how lines are broken has tests of its own.
            .env("COLUMNS", "1000")
            .current_dir(self.project());
        command
    }

    /// Runs `checkrein` in the project.
    pub fn checkrein(&self, arguments: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_checkrein")).args(arguments).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs `checkrein` and expects it to succeed; its standard output.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.checkrein(arguments);
        assert!(
            output.status.success(),
            "checkrein {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// A hook process that has not read anything yet.
    pub fn hook(&self) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_checkrein-hook"));
        command.arg("claude").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// What the hook answers to these bytes. Whatever they are: status 0 and one JSON object.
    pub fn answer_to(&self, payload: &[u8]) -> Json {
        self.answer_with(payload, &[])
    }

    /// The same with variables of the client.
    pub fn answer_with(&self, payload: &[u8], variables: &[(&str, &str)]) -> Json {
        let mut child = self.hook().envs(variables.iter().copied()).spawn().unwrap();
        // The hook may stop reading before the end; what counts is its answer.
        drop(child.stdin.take().unwrap().write_all(payload));
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "the hook ended with {}", output.status);
        let text = String::from_utf8(output.stdout).unwrap();
        let answer: Json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
        assert!(answer.is_object(), "{text}");
        answer
    }

    /// A payload of this project.
    pub fn payload(&self, session: &str, event: &str, fields: Json) -> Vec<u8> {
        let mut payload = json!({
            "session_id": session,
            "transcript_path": "",
            "cwd": self.project(),
            "hook_event_name": event,
        });
        let (Json::Object(all), Json::Object(more)) = (&mut payload, fields) else { panic!("not an object") };
        all.extend(more);
        payload.to_string().into_bytes()
    }

    /// What the hook answers to a shell call.
    pub fn bash(&self, session: &str, command: &str) -> Json {
        self.answer_to(&self.payload(session, "PreToolUse", shell_call("call", command, json!({}))))
    }

    /// The records of a session, oldest first.
    pub fn records(&self, session: &str) -> Vec<Json> {
        let path = self.state().join("sessions").join(session).join("ledger.jsonl");
        let text = fs::read_to_string(&path).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The decision in an answer to `PreToolUse`: `deny`, `ask`, `allow`, or none.
pub fn decision(answer: &Json) -> Option<&str> {
    answer["hookSpecificOutput"]["permissionDecision"].as_str()
}

/// The reason beside a decision.
pub fn reason(answer: &Json) -> &str {
    answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default()
}

/// The processes that work in a directory and are not ours, by number; in namespaces too.
pub fn processes_in(directory: &Path) -> Vec<String> {
    let works_there = |pid: &String| {
        let place = |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).unwrap_or_default();
        place("cwd") == directory && !place("exe").ends_with("checkrein")
    };
    let names =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.parse::<u32>().is_ok()).filter(works_there).collect()
}

/// The repository of this test.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap()
}

/// Where the packages of the real clients are: those that `cargo xtask clients` installs, or those that `--latest` tries.
pub fn clients() -> PathBuf {
    let folder = std::env::var_os("CHECKREIN_TEST_CLIENTS").map(PathBuf::from);
    folder.unwrap_or_else(|| repository().join(".clients")).join("node_modules")
}

/// What an event says about a shell call, and what `more` it says.
pub fn shell_call(id: &str, command: &str, more: Json) -> Json {
    let mut fields = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": id });
    let (Json::Object(all), Json::Object(more)) = (&mut fields, more) else { panic!("not an object") };
    all.extend(more);
    fields
}

/// No pauses between interventions, so that a test need not wait for minutes.
pub const AT_ONCE: &str =
    "interventions:\n  intervention_cooldown_seconds: 0\n  strategy:\n    escalation_delay_seconds: 0\n";
