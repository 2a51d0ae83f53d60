//! What nobody can say beforehand: programs that run code which is not read are covered by a snapshot of the moment before them, and nobody is
//! told that something is saved which is not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, reason, shell_call};

fn call(environment: &TestEnvironment, event: &str, id: &str, command: &str, more: Json) -> Json {
    environment.answer_to(&environment.payload("s", event, shell_call(id, command, more)))
}

fn start(environment: &TestEnvironment) {
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
}

/// Lets a command through the hook, with `change` as what it does.
fn perform(environment: &TestEnvironment, id: &str, command: &str, change: impl FnOnce(&Path)) -> Json {
    let answer = call(environment, "PreToolUse", id, command, json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    change(&environment.project());
    let outcome = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    call(environment, "PostToolUse", id, command, outcome);
    answer
}

fn shell(environment: &TestEnvironment, command: &str) {
    let quiet = || Stdio::null();
    environment
        .command("sh")
        .args(["-c", command])
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .status()
        .unwrap();
}

/// Programs that may do anything to the files of a project and of which no word says what.
const UNREAD: &[&str] = &[
    "cargo test",
    "make",
    "npm test",
    "npx some-tool notes",
    "pnpm dlx some-tool",
    "uvx some-tool",
    "python3 -m unittest",
    "python3 -m some_module",
    "go generate ./...",
    "protoc --cpp_out=notes a.proto",
    "prettier --write src",
    "tsc --outDir notes",
    "jupyter nbconvert --inplace a.ipynb",
    "gcc -MD -c a.c",
    "bsdtar xf a.tar -C notes",
    "pre-commit run -a",
    "./wipe",
    "unheard-of-program",
];

#[test]
fn what_an_unread_program_takes_away_comes_back_as_it_was_a_moment_before() {
    for command in UNREAD {
        let environment = TestEnvironment::new();
        environment.write(".gitignore", ".env\n");
        environment.write("package.json", "{\"scripts\": {\"test\": \"some-tool\"}}");
        environment.write("Makefile", "all:\n\tsome-tool\n");
        fs::copy("/bin/true", environment.project().join("wipe")).unwrap();
        start(&environment);
        // Made after the session began, and by nobody whom the hook knows.
        environment.write("notes/plan.md", "an hour of work\n");
        environment.write(".env", "SECRET=1\n");
        perform(&environment, "call", command, |project| {
            fs::remove_dir_all(project.join("notes")).unwrap();
            fs::remove_file(project.join(".env")).unwrap();
        });
        environment.succeed(&["undo", "--yes"]);
        let read = |name: &str| fs::read_to_string(environment.project().join(name)).unwrap_or_default();
        assert_eq!(
            (read("notes/plan.md").as_str(), read(".env").as_str()),
            ("an hour of work\n", "SECRET=1\n"),
            "{command}"
        );
    }
}

#[test]
fn a_program_that_is_read_to_the_end_costs_no_look_at_the_workspace() {
    let environment = TestEnvironment::new();
    start(&environment);
    environment.write("notes/plan.md", "work\n");
    for command in ["ls -la", "git status", "grep -rn work . | head", "cd src && cat main.rs"] {
        perform(&environment, command, command, |_| {});
    }
    let saved =
        environment.records("s").iter().filter(|record| record["body"]["snapshot"].is_object()).count();
    assert_eq!(saved, 0);
}

/// As many bytes that cannot be compressed.
fn noise(count: usize) -> Vec<u8> {
    let mut state: u32 = 7;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[0]
    })
    .take(count)
    .collect()
}

#[test]
fn a_stash_that_is_dropped_at_once_is_asked_about_when_not_all_of_it_could_be_saved() {
    for command in ["git stash -u -q; git stash drop -q", "git stash -u -q && git stash clear"] {
        let environment = TestEnvironment::new();
        // The work tree may take four times as much.
        environment.configure("config.yaml", "snapshots:\n  max_megabytes: 1\n");
        environment.write("notes/plan.md", "work\n");
        for number in 0..3 {
            fs::write(environment.project().join(format!("data{number}")), noise(2_000_000)).unwrap();
        }
        let answer = call(&environment, "PreToolUse", "call", command, json!({}));
        assert_eq!(decision(&answer), Some("ask"), "{command}: {answer}");
        assert!(reason(&answer).contains("data"), "{answer}");
        assert!(!reason(&answer).contains("brings it back"), "{answer}");
        // A user says yes: what is small comes back all the same.
        shell(&environment, command);
        assert!(!environment.project().join("notes").exists());
        environment.checkrein(&["undo", "--yes"]);
        assert_eq!(fs::read_to_string(environment.project().join("notes/plan.md")).unwrap(), "work\n");
    }
}

/// What is in the index and in no commit has no name once it is out of the index.
#[test]
fn what_is_only_staged_is_asked_about_when_it_goes_and_could_not_be_saved() {
    for bounds in ["max_megabytes: 1", "max_ms: 5"] {
        for (before, command) in [
            ("", "git add data && git reset -q --hard"),
            ("git add data", "git reset -q --hard"),
            ("git add data", "git checkout -qf"),
            ("git add data", "git rm -rfq data"),
            ("", "git add data; git rm -rfq data"),
            ("git add data", "git restore -SW ."),
            ("", "git add data; git stash -q; git stash drop -q"),
        ] {
            let environment = TestEnvironment::new();
            environment.configure("config.yaml", &format!("snapshots:\n  {bounds}\n"));
            fs::create_dir(environment.project().join("data")).unwrap();
            for number in 0..20 {
                fs::write(environment.project().join(format!("data/{number}")), noise(1_000_000)).unwrap();
            }
            shell(&environment, before);
            let answer = call(&environment, "PreToolUse", "call", command, json!({}));
            assert_eq!(decision(&answer), Some("ask"), "{bounds}: {before}; {command}: {answer}");
        }
    }
}

#[test]
fn what_is_only_staged_comes_back_when_it_was_saved() {
    for command in ["git reset -q --hard", "git checkout -qf", "git rm -rfq data", "git restore -SW ."] {
        let environment = TestEnvironment::new();
        environment.write("data/new", "work\n");
        shell(&environment, "git add data");
        let answer = perform(&environment, "call", command, |_| shell(&environment, command));
        assert_eq!(decision(&answer), None, "{command}: {answer}");
        assert!(!environment.project().join("data/new").exists(), "{command}");
        environment.succeed(&["undo", "--yes"]);
        assert_eq!(
            fs::read_to_string(environment.project().join("data/new")).unwrap(),
            "work\n",
            "{command}"
        );
    }
}

#[test]
fn a_stash_that_is_dropped_at_once_goes_on_when_all_of_it_was_saved() {
    let environment = TestEnvironment::new();
    environment.write("notes/plan.md", "work\n");
    let command = "git stash -u -q; git stash drop -q";
    let answer = perform(&environment, "call", command, |_| shell(&environment, command));
    assert_eq!(decision(&answer), None, "{answer}");
    assert!(!environment.project().join("notes").exists());
    environment.succeed(&["undo", "--yes"]);
    assert_eq!(fs::read_to_string(environment.project().join("notes/plan.md")).unwrap(), "work\n");
}

#[test]
fn sockets_in_what_is_deleted_are_said_not_to_come_back() {
    let environment = TestEnvironment::new();
    environment.write("notes/plan.md", "work\n");
    let socket = std::os::unix::net::UnixListener::bind(environment.project().join("notes/socket")).unwrap();
    let answer = call(&environment, "PreToolUse", "call", "rm -rf notes", json!({}));
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    assert!(text.contains("but for") && text.contains("notes/socket` ("), "{answer}");
    drop(socket);
}
