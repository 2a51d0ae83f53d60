//! The real Claude Code, driven by a scripted model.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::TestEnvironment;
use super::model::Model;

/// How long one run of the client may take.
pub const PATIENCE: Duration = Duration::from_mins(2);

pub fn client() -> PathBuf {
    let folder = super::repository().join(".clients/node_modules/@anthropic-ai");
    let found =
        fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path().join("claude"));
    found
        .into_iter()
        .find(|path| path.is_file())
        .expect("Claude Code is not installed here: run `cargo xtask clients`")
}

/// Runs the client on a script in a project that `checkrein init` has wired; the final result line.
pub fn run(environment: &TestEnvironment, model: &Model, more: &[&str]) -> Json {
    let project = environment.project();
    let trust = json!({ "projects": { project.to_str().unwrap(): { "hasTrustDialogAccepted": true } } });
    fs::write(environment.home().join(".claude.json"), trust.to_string()).unwrap();
    let mut child = environment
        .command(client())
        .args([
            "-p",
            "do it",
            "--output-format",
            "stream-json",
            "--verbose",
            "--allowedTools",
            "Bash",
            "Write",
            "Edit",
            "Agent",
        ])
        .args(more)
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "dummy")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("IS_SANDBOX", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || std::io::read_to_string(output).unwrap());
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the client did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = reader.join().unwrap();
    let last = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Json>(line).ok())
        .rfind(|row| row["type"] == "result");
    last.unwrap_or_else(|| panic!("no result: {text}"))
}

/// The session of a result.
pub fn session_of(result: &Json) -> &str {
    result["session_id"].as_str().unwrap()
}
