//! What is advised in place of a command fits it and passes our own review, and what is said of it is true.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use serde_json::Value as Json;
use support::TestEnvironment;

/// A project with a remote, two branches, a tag, and a commit that only one branch has.
fn environment() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let remote = environment.home().join("origin.git");
    environment.git(&["init", "-q", "--bare", remote.to_str().unwrap()]);
    environment.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    environment.git(&["tag", "v1"]);
    environment.git(&["checkout", "-q", "-b", "topic"]);
    environment.write("b", "two\n");
    environment.git(&["add", "-A"]);
    environment.commit("second");
    environment.git(&["push", "-q", "origin", "main", "topic", "v1"]);
    environment
}

fn checked(environment: &TestEnvironment, command: &str) -> Json {
    let output = environment.checkrein(&["--json", "check", command]);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{command}"))
}

// Source: seed 002-30
#[test]
fn advice_fits_the_command() {
    let environment = environment();
    for (command, word, never) in [
        ("git filter-branch --tree-filter 'rm -f b' HEAD", "git revert", "force-with-lease"),
        ("git filter-branch --msg-filter cat -- --all", "git bundle create", "git branch"),
        ("git push origin :refs/tags/v1", "git tag NAME", "force-with-lease"),
        ("git push --force origin main", "git push --force-with-lease", "git tag"),
        ("git gc --prune=now", "git gc", "stash"),
        ("git reset --hard HEAD~1; git checkout -- .; git clean -fdx src", "", "git tag"),
    ] {
        let told = checked(&environment, command);
        let advice = told["alternatives"].to_string();
        assert!(advice.contains(word), "{command}: {advice}");
        assert!(!advice.contains(never), "{command}: {advice}");
        assert!(!told["reason"].as_str().unwrap_or_default().is_empty(), "{command}: {told}");
    }
}

#[test]
fn what_is_advised_passes() {
    let environment = environment();
    for command in [
        "git branch before HEAD",
        "git bundle create saved.bundle --all",
        "git revert --no-edit HEAD",
        "git tag v2 && git push origin v2",
        "git gc",
        "git push --force-with-lease origin topic",
    ] {
        let verdict = checked(&environment, command)["verdict"].clone();
        assert!(["ok", "nudge"].contains(&verdict.as_str().unwrap()), "{command}: {verdict}");
    }
}

#[test]
fn a_branch_that_goes_is_what_is_said_to_be_lost() {
    let environment = environment();
    let told = checked(&environment, "git branch -D main");
    let reason = told["reason"].as_str().unwrap();
    assert!(reason.contains("`main` with its commits"), "{reason}");
}

#[test]
fn only_what_git_holds_is_said_to_be_held_by_it() {
    let environment = environment();
    environment.write("staged", "new\n");
    environment.git(&["add", "staged"]);
    for command in ["rm staged", "chmod -R 700 src", "rm b"] {
        let shown = environment.checkrein(&["check", command]);
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(!text.contains("in a commit"), "{command}: {text}");
    }
}

#[test]
fn a_mistake_in_the_configuration_is_listed_once() {
    let environment = environment();
    environment.configure("config.yaml", "nosuch: 1\n");
    let shown = environment.checkrein(&["check", "ls"]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert_eq!(text.matches("`nosuch`").count(), 1, "{text}");
    assert!(text.contains("line 1, column 1") && text.contains("not reviewed  the configuration"), "{text}");
}

#[test]
fn who_agreed_beforehand_reads_a_summary_and_the_log_has_calls() {
    let environment = environment();
    let text = environment.succeed(&["init", "--yes"]);
    assert!(text.lines().count() < 12 && text.contains("change    adds "), "{text}");
    let dry = environment.succeed(&["uninstall", "--dry-run"]);
    assert!(dry.lines().count() < 12 && dry.contains("change    removes "), "{dry}");
    let whole = environment.succeed(&["uninstall", "--dry-run", "--verbose"]);
    assert!(whole.lines().count() > 50, "{whole}");
    for event in ["SessionStart", "MessageDisplay", "Stop", "SessionEnd"] {
        environment.answer_to(&environment.payload("s", event, serde_json::json!({ "source": "startup" })));
    }
    environment.bash("s", "ls");
    let log = environment.succeed(&["log"]);
    assert!(log.contains("ls") && log.contains("session began (claude"), "{log}");
    assert!(!log.contains("Stop") && !log.contains("MessageDisplay") && !log.contains("SessionEnd"), "{log}");
    let text = environment.succeed(&["uninstall", "--yes"]);
    assert!(text.lines().count() < 12, "{text}");
    let little = environment.checkrein(&["run", "--memory", "1", "--", "true"]);
    assert!(!little.status.success(), "{little:?}");
}
