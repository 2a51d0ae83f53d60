//! Whatever a git command does to references of any repository that it works in comes back: branches, tags, notes, replacements, what is checked
//! out and staged, reflogs, settings, linked work trees, submodules.

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
use support::{TestEnvironment, decision, shell_call};

/// A project with a linked work tree, a bare repository, a nested one and a submodule, each with work that only it has.
const PROJECT: &str = r"
set -e
git config --global user.name dev; git config --global user.email dev@localhost; git config --global protocol.file.allow always
git config --global advice.detachedHead false
for i in 1 2 3 4; do echo $i > f$i; git add -A; git commit -qm c$i; done
git tag v1; git branch topic HEAD~1; git branch other HEAD~2
git notes add -m noted HEAD~1; git replace HEAD~1 HEAD~2
git clone -q --bare . store.git; git -C store.git branch kept main
git init -q -b main nested; echo n > nested/n; git -C nested add -A; git -C nested commit -qm one; git -C nested commit -q --allow-empty -m two
git init -q -b main ../source; echo s > ../source/s; git -C ../source add -A; git -C ../source commit -qm one
printf 'store.git/\nnested/\n' >> .git/info/exclude
git submodule --quiet add ../source sub; git commit -qm submodule
echo u > sub/u; git -C sub add -A; git -C sub commit -qm unpushed
git worktree add -q ../linked -b linked; echo staged > ../linked/staged; git -C ../linked add -A; echo new > ../linked/new
git remote add up store.git; git fetch -q up
git worktree add -q beside -b beside; echo staged > beside/staged; git -C beside add -A; git -C beside commit -qm beside; echo more > beside/more; git -C beside add -A
echo beside/ >> .git/info/exclude
echo first > f1; git stash -q -m first; echo second > f2; echo new > new; git stash -q -u -m second
git -C nested stash list; echo third > nested/n; git -C nested stash -q
echo changed > f3; echo staged > f4; git add f4; echo untracked > only
";

/// Commands, each of which moves or deletes references, or the place where they are.
const COMMANDS: &[&str] = &[
    "git tag -f v1 HEAD~2",
    "git tag -d v1",
    "git update-ref refs/heads/topic HEAD~3",
    "git update-ref refs/tags/v1 HEAD~3",
    "git update-ref -d refs/heads/topic",
    "echo 'delete refs/heads/topic' | git update-ref --stdin",
    "git symbolic-ref HEAD refs/heads/topic",
    "git fetch -q up +other:topic",
    "git fetch -q --force up other:topic",
    "git fetch -q . '+refs/heads/other:refs/heads/topic'",
    "git branch -f topic HEAD~3",
    "git branch -M other topic",
    "git branch -C other topic",
    "git branch -m topic renamed",
    "git branch -D topic",
    "git branch -q -u up/main",
    "git checkout -q -B topic HEAD~1",
    "git switch -q -C topic HEAD~1",
    "git checkout -q --orphan fresh",
    "git remote remove up",
    "git remote rename up down",
    "git reflog expire --expire=now --all",
    "git notes remove HEAD~2",
    "git notes add -f -m other HEAD~1",
    "git replace -d HEAD~2",
    "git stash -q && git filter-branch -f --msg-filter 'sed s/c/d/' HEAD",
    "rm -rf ../linked && git worktree prune",
    "git worktree remove --force beside",
    "git worktree move beside elsewhere",
    "git stash drop -q",
    "git stash drop -q stash@{1}",
    "git stash clear",
    "git stash -q -u && git stash drop -q",
    "git stash -q --all -- only f3 && git stash clear",
    "git -C nested stash drop -q",
    "git rm -rfq sub",
    "git read-tree -u --reset topic",
    "git read-tree --empty",
    "git -c gc.reflogExpire=now -c gc.reflogExpireUnreachable=now reflog expire --all && git gc -q --prune=now",
    "git worktree add -q -B topic ../more",
    "git -C ../linked reset -q --hard HEAD~1",
    "git -C ../linked checkout -q -B topic",
    "git -C store.git branch -D kept",
    "git -C store.git update-ref -d refs/heads/kept",
    "git --git-dir=store.git tag -d v1",
    "GIT_DIR=store.git git branch -f kept HEAD~2",
    "cd store.git && git branch -D kept",
    "git -C nested reset -q --hard HEAD~1",
    "git -C sub reset -q --hard HEAD~1",
    "cd sub && git checkout -q -B main HEAD~1",
    "git submodule --quiet deinit -f sub",
    "git submodule --quiet deinit -f --all",
    "git reset -q --hard --recurse-submodules HEAD~1",
    "git add -A && git read-tree -u --reset topic",
    "git bisect start HEAD HEAD~3",
];

/// What git and the file system say of all that.
fn picture(environment: &TestEnvironment) -> String {
    let script = r"
for place in . sub store.git nested ../linked beside elsewhere; do
    echo == $place; [ -d $place ] || continue
    [ -e $place/.git ] || [ -e $place/HEAD ] || continue
    git -C $place for-each-ref; git -C $place rev-parse HEAD --symbolic-full-name HEAD
    git -C $place config --local --list; git -C $place reflog; git -C $place stash list
    git -C $place fsck --no-dangling --no-progress 2>&1
    [ $place = store.git ] || git --no-optional-locks -C $place status --porcelain
done
git worktree list; git notes list; git replace -l
find . ../linked ../more -name .git -prune -o -path ./store.git -prune -o -type f -print | sort | xargs -d '\n' md5sum
";
    let output = environment.command("bash").args(["-c", script]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn shell(environment: &TestEnvironment, command: &str) -> bool {
    let output = environment.command("bash").args(["-c", command]).stdin(Stdio::null()).output().unwrap();
    output.status.success()
}

/// The project, made once and copied with everything around it for each command.
fn copy_of(model: &TestEnvironment) -> TestEnvironment {
    let environment = TestEnvironment::new();
    let entries = fs::read_dir(environment.home()).unwrap();
    entries.flatten().for_each(|entry| fs::remove_dir_all(entry.path()).unwrap());
    let from = format!("{}/.", model.home().display());
    let copied = environment
        .command("cp")
        .current_dir("/")
        .args([Path::new("-a"), Path::new(&from), &environment.home()])
        .status();
    assert!(copied.unwrap().success());
    // Work trees and submodules name each other by whole paths.
    let script = format!(
        "grep -rlIF '{0}' .git/worktrees .git/modules .git/config ../linked/.git beside/.git | xargs sed -i 's|{0}|{1}|g'; git reset -q; git -C ../linked status >/dev/null; git -C beside status >/dev/null; git add f4; git -C sub status >/dev/null",
        model.home().display(),
        environment.home().display()
    );
    assert!(shell(&environment, &script));
    environment
}

fn perform(environment: &TestEnvironment, command: &str) -> Json {
    let call = |event: &str, more: Json| {
        environment.answer_to(&environment.payload("s", event, shell_call("call", command, more)))
    };
    let answer = call("PreToolUse", json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    shell(environment, command);
    call("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } }));
    answer
}

#[test]
fn references_come_back_after_half_of_the_commands() {
    come_back(COMMANDS.iter().step_by(2));
}

#[test]
fn references_come_back_after_the_other_half() {
    come_back(COMMANDS.iter().skip(1).step_by(2));
}

fn come_back<'a>(commands: impl Iterator<Item = &'a &'a str>) {
    let model = TestEnvironment::new();
    assert!(shell(&model, PROJECT), "the project could be made");
    let mut wrong = Vec::new();
    for command in commands {
        let environment = copy_of(&model);
        let before = picture(&environment);
        let answer = perform(&environment, command);
        let after = picture(&environment);
        if after == before {
            wrong.push(format!("{command}: changed nothing"));
            continue;
        }
        let undone = environment.checkrein(&["undo", "--yes"]);
        let restored = picture(&environment);
        if restored != before {
            let lines = |one: &str, other: &str| -> Vec<String> {
                let known: Vec<&str> = other.lines().collect();
                one.lines().filter(|line| !known.contains(line)).take(3).map(str::to_owned).collect()
            };
            wrong.push(format!(
                "{command}: lost {:?}, new {:?}; {answer}; {}{}",
                lines(&before, &restored),
                lines(&restored, &before),
                String::from_utf8_lossy(&undone.stdout),
                String::from_utf8_lossy(&undone.stderr)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
