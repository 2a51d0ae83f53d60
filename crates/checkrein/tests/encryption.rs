//! Records that are encrypted: what a stolen state directory tells, what its owner reads, and what becomes of the guard without the key.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use support::{TestEnvironment, decision, reason, shell_call};

/// Words of a prompt and of commands, which no record of anything else holds.
const WORDS: [&str; 3] = ["marmalade", "rhubarb", "gooseberry"];

fn encrypting() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "audit:\n  encrypt: true\n");
    environment
}

/// A prompt, a call that runs, one that is refused, and a stop with a report.
fn work(environment: &TestEnvironment, session: &str) {
    let say = |event: &str, fields| environment.answer_to(&environment.payload(session, event, fields));
    say("SessionStart", json!({ "source": "startup" }));
    say("UserPromptSubmit", json!({ "prompt": "Move the marmalade parser behind the date picker" }));
    say("PreToolUse", shell_call("one", "ls rhubarb", json!({})));
    say("PostToolUse", shell_call("one", "ls rhubarb", json!({ "tool_response": { "stdout": "x" } })));
    environment.bash(session, "rm -rf ~ gooseberry");
    environment.succeed(&["halt", session, "--reason", "enough"]);
}

/// The files below a folder that hold one of the words.
fn telling(folder: &Path) -> Vec<PathBuf> {
    let mut waiting = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
                continue;
            }
            let bytes = fs::read(entry.path()).unwrap_or_default();
            let holds = |word: &str| bytes.windows(word.len()).any(|part| part == word.as_bytes());
            if WORDS.iter().any(|word| holds(word)) {
                found.push(entry.path());
            }
        }
    }
    found
}

fn keys(environment: &TestEnvironment) -> PathBuf {
    environment.home().join(".config/checkrein/keys")
}

#[test]
fn a_stolen_state_directory_tells_no_word_and_its_owner_reads_all() {
    let plain = TestEnvironment::new();
    work(&plain, "s");
    assert!(!telling(&plain.state()).is_empty(), "the words stand there without encryption");

    let environment = encrypting();
    work(&environment, "s");
    assert_eq!(telling(&environment.state()), Vec::<PathBuf>::new());
    let log = environment.succeed(&["log", "--json", "-n", "100"]);
    let export = environment.succeed(&["audit", "export"]);
    for word in WORDS {
        assert!(log.contains(word) && export.contains(word), "{word}: {log}");
    }
    environment.succeed(&["incident", "list"]);
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn records_of_before_and_after_are_read_together_also_after_a_rotation() {
    let environment = TestEnvironment::new();
    environment.bash("s", "ls marmalade");
    environment.configure("config.yaml", "audit:\n  encrypt: true\n");
    environment.bash("s", "ls rhubarb");
    environment.succeed(&["audit", "key", "rotate"]);
    environment.bash("s", "ls gooseberry");
    let log = environment.succeed(&["log", "--json", "-n", "100"]);
    assert!(WORDS.iter().all(|word| log.contains(word)), "{log}");
    environment.succeed(&["audit", "verify"]);
    let listed = environment.succeed(&["audit", "key", "list", "--json"]);
    assert_eq!(listed.matches("\"in_use\": true").count(), 1, "{listed}");
    assert_eq!(listed.matches("\"place\": \"file\"").count(), 2, "{listed}");
}

#[test]
fn without_the_key_the_chain_is_verified_the_guard_judges_and_says_what_is_missing() {
    let environment = encrypting();
    work(&environment, "s");
    environment.bash("t", "ls rhubarb");
    for entry in fs::read_dir(keys(&environment)).unwrap().flatten() {
        if entry.file_name().to_string_lossy().ends_with(".key") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    environment.succeed(&["audit", "verify"]);
    let log = environment.succeed(&["log", "--json", "-n", "100"]);
    assert!(WORDS.iter().all(|word| !log.contains(word)), "{log}");
    // The verdict is what it was; what changes something is asked about, with the reason.
    assert_eq!(decision(&environment.bash("t", "rm -rf ~")), Some("deny"));
    let asked = environment.bash("t", "touch new");
    assert_eq!(decision(&asked), Some("ask"), "{asked}");
    assert!(reason(&asked).contains("the key") && reason(&asked).contains("is not here"), "{asked}");
    assert_eq!(
        telling(&environment.state()),
        Vec::<PathBuf>::new(),
        "nothing is written in the clear instead"
    );
    // A new key, and all goes on.
    environment.succeed(&["audit", "key", "rotate"]);
    assert_eq!(decision(&environment.bash("t", "touch new")), None);
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn an_altered_record_is_found_without_the_key_and_opened_by_none() {
    let environment = encrypting();
    environment.bash("s", "ls marmalade");
    let path = environment.state().join("sessions/s/ledger.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let at = text.rfind("\"box\":\"").unwrap() + 80;
    let letter = if &text[at..=at] == "A" { "B" } else { "A" };
    fs::write(&path, format!("{}{letter}{}", &text[..at], &text[at + 1..])).unwrap();
    let kept = environment.home().join("kept");
    fs::rename(keys(&environment), &kept).unwrap();
    assert_eq!(environment.checkrein(&["audit", "verify"]).status.code(), Some(1));
    fs::rename(&kept, keys(&environment)).unwrap();
    assert!(!environment.succeed(&["audit", "export"]).contains("marmalade"));
}
