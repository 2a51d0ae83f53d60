//! Real clients under `checkrein run`, driven by a scripted model on loopback: what they tell is counted, and what was stopped goes on. `cargo
//! xtask clients` installs them; one that is not there is named as not run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::process::Stdio;

use checkrein_testkit::not_run;
use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::chat_model::ChatModel;
use support::driven::{command, shell};

/// Under `checkrein run` answers are counted, tokens as far as the client tells them, and the session is known.
fn is_counted(client: &str, telling: &[&str], tokens: &Json) {
    let environment = TestEnvironment::new();
    let model = ChatModel::start(vec![shell(client, "echo hi > hi.txt")]);
    let Some(plain) = command(&environment, client, &model) else {
        not_run(&format!("{client} is not installed here: `cargo xtask clients`"));
        return;
    };
    let run = |options: &[&str]| {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args(["--json", "run", "--time", "80s"]).args(options).arg("--");
        let words = command.arg(plain.get_program()).args(plain.get_args()).args(telling);
        let output = words.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = text.lines().last().unwrap_or_default();
        serde_json::from_str::<Json>(last).unwrap_or_else(|_| panic!("{client}: {text}"))
    };
    let report = run(&[]);
    assert_eq!((&report["status"], &report["iterations"]), (&json!(0), &json!(2)), "{client}: {report}");
    assert!(report["session"].is_string(), "{client}: {report}");
    assert_eq!(&report["tokens"], tokens, "{client}: {report}");
    assert_eq!(report["cost"].is_null(), tokens.is_null(), "{client}: {report}");
    if tokens.is_null() {
        // A budget that nobody can count is not kept without a word.
        let report = run(&["--tokens", "1000000"]);
        assert_eq!(report["status"], 120, "{client}: {report}");
    }
}

/// What the scripted model takes for two answers.
fn two_answers() -> Json {
    json!({ "input": 2000, "output": 100, "cache_write": 0, "cache_read": 0 })
}

#[test]
fn opencode_is_counted() {
    is_counted("opencode", &[], &two_answers());
}

#[test]
fn droid_is_counted() {
    is_counted("droid", &[], &two_answers());
}

#[test]
fn copilot_is_heard_and_tells_no_tokens() {
    is_counted("copilot", &["--output-format", "json"], &Json::Null);
}

/// Stopped under `checkrein run`, a client goes on with its own session: what it did before is not done again.
fn goes_on(client: &str, telling: &[&str]) {
    let environment = TestEnvironment::new();
    let steps = ["one", "two", "three", "four", "five", "six"];
    let calls = steps
        .iter()
        .map(|step| shell(client, Box::leak(format!("echo {step} >> steps.txt; sleep 1").into_boxed_str())));
    let model = ChatModel::start(calls.collect());
    let Some(plain) = command(&environment, client, &model) else {
        not_run(&format!("{client} is not installed here: `cargo xtask clients`"));
        return;
    };
    let run = |options: &[&str], words: bool| {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args(["run", "--time", "100s"]).args(options);
        if words {
            command.arg("--").arg(plain.get_program()).args(plain.get_args()).args(telling);
        }
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, said) = run(&["--max-iterations", "2"], true);
    assert_eq!(status, Some(123), "{client}: {said}");
    let (status, said) = run(&["--resume", "--max-iterations", "50"], false);
    assert_eq!(status, Some(0), "{client}: {said}");
    assert!(said.contains("with session"), "{client}: {said}");
    let done = std::fs::read_to_string(environment.project().join("steps.txt")).unwrap();
    assert_eq!(done.matches("one").count(), 1, "{client}: {done}: {said}: {}", model.heard());
    assert!(done.ends_with("six\n"), "{client}: {done}");
}

#[test]
fn claude_goes_on_with_its_session() {
    goes_on("claude", &[]);
}

#[test]
fn codex_goes_on_with_its_session() {
    goes_on("codex", &[]);
}

#[test]
fn opencode_goes_on_with_its_session() {
    goes_on("opencode", &[]);
}
