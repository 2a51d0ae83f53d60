//! Gates before a push: the hook of git with a real repository and a bare one, and pushes of an agent under the hook of its client.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use serde_json::json;
use support::{TestEnvironment, shell_call};

const GOOD: &str = "def add(a, b):\n    return a + b\n";
const STUB: &str = "def sub(a, b):\n    raise NotImplementedError\n";

/// A repository with a remote that has its first commit.
struct Pushing(TestEnvironment);

impl Pushing {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        let bare = environment.home().join("bare.git");
        fs::create_dir_all(&bare).unwrap();
        environment.write("calc.py", GOOD);
        environment.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
        environment.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
        environment.git(&["add", "--all"]);
        environment.commit("first");
        environment.git(&["push", "-q", "origin", "HEAD:main"]);
        Self(environment)
    }

    fn install(&self, more: &[&str]) {
        let output = self.0.checkrein(&[&["push-hook", "install"], more].concat());
        assert!(output.status.success(), "{output:?}");
    }

    fn committed(&self, path: &str, text: &str) {
        self.0.write(path, text);
        self.0.git(&["add", "--all"]);
        self.0.commit(path);
    }

    /// Whether git pushed, and what was said.
    fn push(&self, arguments: &[&str]) -> (bool, String) {
        let command =
            self.0.command("git").arg("push").args(arguments).current_dir(self.0.project()).output();
        let output: Output = command.unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    }

    fn there(&self, name: &str) -> bool {
        let listed =
            self.0.command("git").args(["ls-remote", "origin"]).current_dir(self.0.project()).output();
        String::from_utf8_lossy(&listed.unwrap().stdout).contains(name)
    }
}

#[test]
fn git_pushes_only_what_the_gates_let_pass() {
    let place = Pushing::new();
    place.install(&[]);
    let hook = place.0.project().join(".git/hooks/pre-push");
    assert_eq!(fs::metadata(&hook).unwrap().permissions().mode() & 0o777, 0o755);

    // A new branch with a stub.
    place.0.git(&["checkout", "-q", "-b", "work"]);
    place.committed("more.py", STUB);
    let (pushed, said) = place.push(&["origin", "work"]);
    assert!(!pushed && said.contains("more.py:2") && said.contains("not_implemented"), "{said}");
    assert!(!place.there("refs/heads/work"));
    // It lies well on disk; the commit is what counts.
    place.0.write("more.py", "def sub(a, b):\n    return a - b\n");
    assert!(!place.push(&["origin", "work"]).0);
    // Another branch is none of this one's stub, whatever is checked out.
    place.0.git(&["branch", "clean", "work~1"]);
    let (pushed, said) = place.push(&["origin", "clean"]);
    assert!(pushed && said.contains("refs/heads/clean: completeness  passed"), "{said}");
    // Both at once: one that does not pass keeps all back.
    place.0.git(&["branch", "other", "clean"]);
    assert!(!place.push(&["origin", "other", "work"]).0);
    assert!(!place.there("refs/heads/other"));

    place.0.git(&["add", "--all"]);
    place.0.commit("done");
    let (pushed, said) = place.push(&["origin", "work"]);
    assert!(pushed, "{said}");
    // Only what is new counts: the old code was never looked at.
    assert!(said.contains("1 changed function in 1 file") && said.contains("which the remote has"), "{said}");

    // A rewritten branch, forced.
    place.0.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let (pushed, said) = place.push(&["--force", "origin", "work"]);
    // The commit with the stub is one that the remote has by now.
    assert!(pushed, "{said}");
    place.0.git(&["reset", "-q", "--hard", "HEAD~1"]);
    place.committed("again.py", STUB);
    let (pushed, said) = place.push(&["--force", "origin", "work"]);
    assert!(!pushed && said.contains("again.py:2"), "{said}");

    // Tags: of a commit, with and without a text of its own, and of what is no commit.
    place.0.git(&["tag", "light"]);
    assert!(!place.push(&["origin", "light"]).0);
    place.0.git(&["-c", "user.name=dev", "-c", "user.email=dev@localhost", "tag", "-m", "x", "heavy"]);
    assert!(!place.push(&["origin", "heavy"]).0);
    place.0.git(&["tag", "good", "clean"]);
    assert!(place.push(&["origin", "good"]).0);
    place.0.git(&["tag", "blob", "clean:calc.py"]);
    let (pushed, said) = place.push(&["origin", "blob"]);
    assert!(!pushed && said.contains("it is no commit"), "{said}");

    // A deletion brings nothing.
    let (pushed, said) = place.push(&["origin", ":clean"]);
    assert!(pushed && said.contains("nothing is pushed"), "{said}");
    assert!(!place.there("refs/heads/clean"));
}

#[test]
fn secrets_of_earlier_commits_are_pushed_too() {
    let place = Pushing::new();
    place.install(&["--gate", "secrets"]);
    let key = format!("sk-ant-api03-{}", "a1B2c3D4e5F6g7H8i9J0".repeat(5));
    place.committed("key.py", &format!("KEY = \"{key}\"\n"));
    place.committed("key.py", "KEY = \"\"\n");
    let (pushed, said) = place.push(&["origin", "HEAD:main"]);
    assert!(!pushed && said.contains("whose history goes with it") && !said.contains(&key), "{said}");
    place.committed("more.py", STUB);
    assert!(!place.push(&["origin", "HEAD:main"]).0);
    // Gates that were not asked for do not look.
    place.0.git(&["reset", "-q", "--hard", "HEAD~3"]);
    place.committed("more.py", STUB);
    assert!(place.push(&["origin", "HEAD:main"]).0);
}

#[test]
fn a_remote_that_has_nothing_is_looked_at_whole_and_an_empty_push_is_none() {
    let place = Pushing::new();
    place.install(&[]);
    place.committed("more.py", STUB);
    let fresh = place.0.home().join("fresh.git");
    place.0.git(&["init", "-q", "--bare", fresh.to_str().unwrap()]);
    place.0.git(&["remote", "add", "fresh", fresh.to_str().unwrap()]);
    let (pushed, said) = place.push(&["fresh", "HEAD:main"]);
    assert!(!pushed && said.contains("an empty remote"), "{said}");
    place.0.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert!(place.push(&["fresh", "HEAD:main"]).0);
    assert!(place.push(&["fresh", "HEAD:main"]).0, "nothing is left to push");

    // What git did not say is no push.
    let output = place.0.checkrein(&["push-hook", "run", "--", "origin", "x"]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_hook_of_somebody_else_stays() {
    let place = Pushing::new();
    let hook = place.0.project().join(".git/hooks/pre-push");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 0\n").unwrap();
    for command in ["install", "remove"] {
        let output = place.0.checkrein(&["push-hook", command]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
    assert_eq!(fs::read_to_string(&hook).unwrap(), "#!/bin/sh\nexit 0\n");
    fs::remove_file(&hook).unwrap();
    place.install(&[]);
    place.install(&["--gate", "licences"]);
    assert!(fs::read_to_string(&hook).unwrap().contains("--gate licences"));
    assert!(place.0.checkrein(&["push-hook", "remove"]).status.success());
    assert!(!hook.exists());
    // Where git looks elsewhere, nothing is written where it does not look.
    place.0.git(&["config", "core.hooksPath", "elsewhere"]);
    let output = place.0.checkrein(&["push-hook", "install"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("core.hooksPath"), "{output:?}");
    assert!(!hook.exists());
}

// pre-commit hands nothing on; it says in variables what git said.
#[test]
fn the_entry_for_pre_commit_looks_at_what_is_pushed() {
    let place = Pushing::new();
    let entries =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.pre-commit-hooks.yaml")).unwrap();
    let entry = entries.split("id: checkrein-push").nth(1).unwrap();
    let entry = entry.split("entry: >-").nth(1).unwrap().split("language:").next().unwrap();
    let entry = entry.split_whitespace().collect::<Vec<_>>().join(" ");
    let script = entry.strip_prefix("sh -c '").and_then(|rest| rest.strip_suffix('\'')).unwrap();
    let run = |commit: &str| {
        let head = place.0.command("git").args(["rev-parse", commit]).current_dir(place.0.project()).output();
        let head = String::from_utf8(head.unwrap().stdout).unwrap();
        let script =
            script.replace("checkrein push-hook", &format!("{} push-hook", env!("CARGO_BIN_EXE_checkrein")));
        let mut command = place.0.command("sh");
        command
            .args(["-c", &script])
            .env("PRE_COMMIT_LOCAL_BRANCH", "refs/heads/work")
            .env("PRE_COMMIT_TO_REF", head.trim())
            .env("PRE_COMMIT_REMOTE_BRANCH", "refs/heads/work")
            .env("PRE_COMMIT_REMOTE_NAME", "origin");
        command.current_dir(place.0.project()).output().unwrap().status.code()
    };
    place.committed("more.py", "def sub(a, b):\n    return a - b\n");
    place.committed("again.py", STUB);
    assert_eq!((run("HEAD~1"), run("HEAD")), (Some(0), Some(2)));
}

/// What the hook of the client says to a command: nothing, or why not.
fn said(place: &Pushing, id: &str, command: &str) -> String {
    let call = shell_call(id, command, json!({}));
    let answer = place.0.answer_to(&place.0.payload("s", "PreToolUse", call));
    let answer = &answer["hookSpecificOutput"];
    match answer["permissionDecision"].as_str() {
        Some("deny") => answer["permissionDecisionReason"].as_str().unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

#[test]
fn an_agent_pushes_only_what_the_gates_let_pass() {
    let place = Pushing::new();
    place.0.git(&["checkout", "-q", "-b", "work"]);
    place.committed("more.py", STUB);
    let stopped = "gates look before a push here";
    // Nobody asked for it.
    assert_eq!(said(&place, "1", "git push origin work"), "");
    place.0.configure("config.yaml", "gates:\n  before_push: [completeness]\n");
    let refused = said(&place, "2", "git push origin work");
    assert!(refused.contains(stopped) && refused.contains("more.py:2"), "{refused}");
    for (number, command) in [
        "git push --no-verify origin work",
        "git push --force-with-lease origin work",
        "cd . && git push origin HEAD:work",
        "echo 'def mul(a, b):' > mul.py && git add . && git commit -qm x && git push origin work",
    ]
    .iter()
    .enumerate()
    {
        let refused = said(&place, &format!("3{number}"), command);
        assert!(refused.contains(stopped), "{command}: {refused}");
    }
    // What is no push is none.
    assert_eq!(said(&place, "4", "git log -1"), "");
    assert_eq!(said(&place, "5", "git fetch origin"), "");

    // Good on disk, and not committed: what would be pushed is the stub.
    place.0.write("more.py", "def sub(a, b):\n    return a - b\n");
    assert!(said(&place, "6", "git push origin work").contains(stopped));
    place.0.git(&["add", "--all"]);
    place.0.commit("done");
    assert_eq!(said(&place, "7", "git push origin work"), "");
    // A gate that does not run lets nothing pass.
    place.0.write("broken.py", "def broken(:\n    if (\n");
    assert!(said(&place, "8", "git push origin work").contains(stopped));
}
