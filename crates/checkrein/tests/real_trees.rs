//! Real clients that start other real clients by a shell call: both are one tree, with a parent in the records, and what the child spends
//! counts for the limits of the one that started it. `cargo xtask clients` installs them; one that is not there is named as not run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::iter;
use std::process::Command;

use checkrein_testkit::not_run;
use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::chat_model::ChatModel;
use support::driven::{command, settings, shell, trust_hooks_of_codex, until_it_ends};

/// Enough for what the parent alone would spend, and not for both.
const LIMITS: &str = "limits:\n  tokens: 3500\n";

/// Parents of which nobody learns what they spend, and the limit that what their child spends alone exceeds.
const UNCOUNTED: [&str; 4] = ["cline", "droid", "opencode", "kilo"];
const LIMITS_OF_UNCOUNTED: &str = "limits:\n  tokens: 2000\n";

/// The line by which an agent starts a client: without a word that has it approve everything, about which a user would be asked. What it may
/// do stands in its settings.
fn line(client: &str, command: &Command) -> String {
    let quoted = |text: &OsStr| format!("'{}'", text.to_str().unwrap().replace('\'', "'\\''"));
    let words = iter::once(command.get_program()).chain(command.get_args());
    let loose =
        ["--dangerously-skip-permissions", "--approval-mode", "yolo", "--dangerously-bypass-hook-trust"];
    let words = words.filter(|word| !loose.contains(&word.to_str().unwrap()));
    let words = words.filter(|word| *word != "--dangerously-bypass-approvals-and-sandbox");
    format!("{} > {client}.txt 2>&1", words.map(quoted).collect::<Vec<_>>().join(" "))
}

/// What a client may do without asking, in its settings.
fn permit(environment: &TestEnvironment, client: &str) {
    match client {
        "codex" => {
            let path = environment.home().join(".codex/config.toml");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n").unwrap();
        }
        "claude" => {
            settings(environment, ".claude/settings.json", &json!({ "permissions": { "allow": ["Bash"] } }));
        }
        "gemini" => settings(
            environment,
            ".gemini/settings.json",
            &json!({ "tools": { "allowed": ["run_shell_command"] } }),
        ),
        other => panic!("{other}"),
    }
}

/// A client starts another one, and then wants to go on.
fn starts(parent: &str, child: &str) {
    let environment = TestEnvironment::new();
    let limits = if UNCOUNTED.contains(&parent) { LIMITS_OF_UNCOUNTED } else { LIMITS };
    environment.configure("config.yaml", limits);
    permit(&environment, child);
    let of_child = ChatModel::start(vec![shell(child, "touch made-by-child.txt")]);
    let Some(started) = command(&environment, child, &of_child) else {
        not_run(&format!("{child} is not installed here: `cargo xtask clients`"));
        return;
    };
    let mut text = line(child, &started);
    if parent == "copilot" {
        // It hands no variable on that is called like a key.
        text = format!("ANTHROPIC_API_KEY=dummy {text}");
    }
    let text: &'static str = Box::leak(text.into_boxed_str());
    // Some write down what an answer took one call late.
    let of_parent = ChatModel::start(
        iter::once(shell(parent, text))
            .chain(["ls", "echo after > after.txt"].map(|text| shell(parent, text)))
            .collect(),
    );
    let Some(mut begun) = command(&environment, parent, &of_parent) else {
        not_run(&format!("{parent} is not installed here: `cargo xtask clients`"));
        return;
    };
    begun.envs(started.get_envs().filter_map(|(name, value)| Some((name, value?))));
    for client in [parent, child] {
        environment.succeed(&["init", "--client", client, "--user", "--yes"]);
    }
    if child == "codex" {
        trust_hooks_of_codex(&environment);
    }
    until_it_ends(parent, &mut begun, &of_parent);
    let heard = of_parent.heard();
    let output = fs::read_to_string(environment.project().join(format!("{child}.txt"))).unwrap_or_default();
    let is_made = environment.project().join("made-by-child.txt").exists();
    assert!(is_made, "{parent} > {child}: {output}: {}", end_of(&heard, 3000));
    let listed = environment.succeed(&["session", "list", "--json"]);
    let listed: Vec<Json> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [one, other] = listed.as_slice() else { panic!("{parent} > {child}: {listed:?}") };
    let (above, below) = if one["parent"].is_null() { (one, other) } else { (other, one) };
    assert_eq!(below["parent"], above["session"], "{parent} > {child}: {listed:?}");
    assert_eq!(above["children"], json!([below["session"]]), "{parent} > {child}: {listed:?}");
    assert!(above["parent"].is_null(), "{listed:?}");
    let records = environment.records(below["session"].as_str().unwrap());
    let begun = records.iter().find(|record| record["body"]["name"] == "checkrein.started_by").unwrap();
    assert_eq!(begun["body"]["fields"]["evidence"], "process", "{begun}");
    // What the child spent is used up for the one that started it.
    let end = end_of(&heard, 2000);
    let spent = environment.succeed(&["session", "list"]);
    assert!(!environment.project().join("after.txt").exists(), "{parent} > {child}: {spent}: {end}");
    assert!(heard.contains("together with one other agent"), "{parent} > {child}: {spent}: {end}");
    environment.succeed(&["audit", "verify"]);
}

/// The last so many characters of a text.
fn end_of(text: &str, characters: usize) -> &str {
    let start = text.char_indices().rev().take(characters).last().map_or(text.len(), |(index, _)| index);
    text.get(start..).unwrap_or_default()
}

#[test]
fn claude_starts_codex() {
    starts("claude", "codex");
}

#[test]
fn claude_starts_gemini() {
    starts("claude", "gemini");
}

#[test]
fn codex_starts_claude() {
    starts("codex", "claude");
}

#[test]
fn gemini_starts_codex() {
    starts("gemini", "codex");
}

#[test]
fn qwen_starts_claude() {
    starts("qwen", "claude");
}

#[test]
fn copilot_starts_claude() {
    starts("copilot", "claude");
}

#[test]
fn cline_starts_claude() {
    starts("cline", "claude");
}

#[test]
fn droid_starts_claude() {
    starts("droid", "claude");
}

#[test]
fn opencode_starts_claude() {
    starts("opencode", "claude");
}

#[test]
fn kilo_starts_claude() {
    starts("kilo", "claude");
}
