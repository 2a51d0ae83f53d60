//! What a push takes away in another repository on this machine comes back: branches and tags that it deletes, and commits over which it
//! sets a branch. The real git is asked before and after.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::process::Stdio;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

/// Repositories in and beside the project that hold commits of others, some of them with their references packed.
const SETUP: &str = r"
set -e
git config --global user.name dev; git config --global user.email dev@localhost
git init -q --bare -b main ../remote.git; git push -q ../remote.git main
echo theirs > theirs; git add theirs; git commit -qm theirs; git tag v1
git push -q ../remote.git HEAD:topic HEAD:feature/x HEAD:main v1
git reset -q --hard HEAD~1; git tag -d v1
git clone -q --bare ../remote.git inside.git; git clone -q --bare ../remote.git '../with space.git'
git -C ../remote.git pack-refs --all; git -C ../remote.git update-ref refs/heads/loose main
git clone -q ../remote.git ../checkout; git -C ../checkout branch topic origin/topic; git -C ../checkout config receive.denyCurrentBranch ignore
git remote add up ../remote.git; git fetch -q up
echo ours > ours; git add ours; git commit -qm ours
git worktree add -q ../linked
";

/// Pushes that take something away, and the repository in which they do.
const LOSING: [(&str, &str); 24] = [
    ("git push ../remote.git :topic", "../remote.git"),
    ("git push --delete ../remote.git topic", "../remote.git"),
    ("git push -f ../remote.git main", "../remote.git"),
    ("git push --mirror ../remote.git", "../remote.git"),
    ("git push --prune ../remote.git 'refs/heads/*:refs/heads/*'", "../remote.git"),
    ("git push ../remote.git --all -f", "../remote.git"),
    ("git push ../remote.git :refs/tags/v1 :topic +main", "../remote.git"),
    ("git push up :topic", "../remote.git"),
    ("git push up -d topic loose v1", "../remote.git"),
    ("git push up +main", "../remote.git"),
    ("git push --force-with-lease up main", "../remote.git"),
    ("git -c remote.up.mirror=true push up", "../remote.git"),
    ("git -c remote.up.push=+main push up", "../remote.git"),
    ("git -c remote.up.pushurl=inside.git push up :topic", "inside.git"),
    ("git -c url.inside.git.insteadOf=short: push short: :topic", "inside.git"),
    ("cd src && git push ./inside.git :topic", "inside.git"),
    ("git push \"file://$PWD/inside.git\" :topic", "inside.git"),
    ("git push \"file://$HOME/with%20space.git\" :topic", "../with space.git"),
    ("git push ../remote :topic", "../remote.git"),
    ("git push ../checkout :topic", "../checkout"),
    ("git push -f ../checkout main", "../checkout"),
    ("git send-pack ../remote.git :topic", "../remote.git"),
    ("git -C ../linked push -f up main", "../remote.git"),
    ("git push -q ../remote.git :topic && git -C ../remote.git gc -q --prune=now", "../remote.git"),
];

fn call(environment: &TestEnvironment, event: &str, command: &str, more: Json) -> Json {
    environment.answer_to(&environment.payload("s", event, shell_call("call", command, more)))
}

fn run(environment: &TestEnvironment, command: &str) -> String {
    let mut bash = environment.command("bash");
    let output = bash.args(["-c", command]).stdin(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a repository holds, and that each of its commits is whole.
fn held(environment: &TestEnvironment, place: &str) -> String {
    let asked =
        "for-each-ref; git symbolic-ref HEAD; git rev-list --objects --all | wc -l; git log --all --oneline";
    run(environment, &format!("cd '{place}' && git {asked} 2>&1"))
}

#[test]
fn what_a_push_took_away_comes_back() {
    for (command, place) in LOSING {
        let environment = TestEnvironment::new();
        run(&environment, SETUP);
        let (before, own) = (held(&environment, place), held(&environment, "."));
        assert!(before.contains("refs/heads/topic"), "{command}: {before}");
        let answer = call(&environment, "PreToolUse", command, json!({}));
        assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
        run(&environment, command);
        let told = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
        call(&environment, "PostToolUse", command, told);
        assert_ne!(held(&environment, place), before, "{command}: changed nothing");
        let output = environment.checkrein(&["undo", "--yes"]);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(held(&environment, place), before, "{command}: {said}");
        assert_eq!(held(&environment, "."), own, "{command}: {said}");
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
    }
}

/// What somebody else pushed there since stays.
#[test]
fn what_others_pushed_since_stays() {
    let environment = TestEnvironment::new();
    run(&environment, SETUP);
    let command = "git push -f ../remote.git main";
    call(&environment, "PreToolUse", command, json!({}));
    run(&environment, command);
    let told = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    call(&environment, "PostToolUse", command, told);
    let pushed = "git clone -q ../remote.git ../other; cd ../other; git commit -q --allow-empty -m later; git push -q origin main; git rev-parse main";
    let later = run(&environment, pushed);
    assert_eq!(later.trim().len(), 40, "{later}");
    environment.checkrein(&["undo", "--yes"]);
    assert_eq!(run(&environment, "git -C ../remote.git rev-parse main"), later);
}
