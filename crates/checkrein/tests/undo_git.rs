//! What git throws away beside the work tree of a branch comes back: other work trees, stashes that are made and dropped in one call,
//! bisections, submodules, branches that begin with nothing. The real git is asked before and after.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

/// A project with commits, a stash, a submodule and two more work trees beside it, and work of every sort in each of them.
const SETUP: &str = r"
set -e
git config --global user.name dev; git config --global user.email dev@localhost
git config --global protocol.file.allow always; git config --global init.defaultBranch main
mkdir ../library; git init -q ../library
(cd ../library; echo one > lib.c; git add -A; git commit -qm one; echo two > lib.c; git commit -qam two)
printf '*.log\n.env\n' > .gitignore; mkdir -p src; echo a1 > a; echo b1 > src/b; git add -A; git commit -qm c1
for number in 2 3 4 5; do echo a$number > a; git commit -qam c$number; done
git submodule --quiet add ../library sub; git commit -qm sub
git checkout -q -b topic; echo topic > topic.c; echo other > src/b; git add -A; git commit -qm topic; git checkout -q main
echo stashed > a; echo new > stashed.txt; git stash -q -u
git worktree add -q ../tree -b tree
(cd ../tree; echo change > a; echo new > new; echo KEY=1 > .env; mkdir d; echo deep > d/deep)
git worktree add -q ../clean -b clean; echo KEY=2 > ../clean/.env
echo changed > src/b; echo staged > staged; git add staged; echo more > staged; echo untracked > notes; echo KEY=3 > .env; echo log > debug.log
echo change > sub/lib.c; echo new > sub/new
";

type Picture = BTreeMap<String, (u32, Vec<u8>)>;

/// The files of all work trees, and what git says of each repository.
fn picture(environment: &TestEnvironment) -> Picture {
    let mut found = Picture::new();
    let places = ["project", "tree", "clean", "library"].map(|name| environment.home().join(name));
    let mut waiting: Vec<PathBuf> = places.to_vec();
    while let Some(path) = waiting.pop() {
        let Ok(facts) = fs::symlink_metadata(&path) else { continue };
        let content = if facts.is_dir() {
            let entries = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            waiting.extend(entries.filter(|path| !path.is_dir() || !path.ends_with(".git")));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        found.insert(path.to_string_lossy().into_owned(), (facts.mode(), content));
    }
    let modules = fs::read_dir(environment.home().join("project/.git/modules")).into_iter().flatten();
    found.extend(
        modules.map(|module| (format!("module {}", module.unwrap().file_name().display()), (0, Vec::new()))),
    );
    for place in ["project", "project/sub", "tree", "clean"] {
        for asked in [
            "for-each-ref",
            "rev-parse HEAD --symbolic-full-name HEAD",
            "--no-optional-locks status --porcelain",
            "stash list",
            "config --local --list",
            "diff --cached",
            "reflog HEAD",
            "worktree list",
            "bisect log",
            "submodule status",
        ] {
            let directory = environment.home().join(place);
            let mut command = environment.command("git");
            let answer = command.arg("-C").arg(directory).args(asked.split(' ')).output().unwrap().stdout;
            found.insert(format!("{place}: git {asked}"), (0, answer));
        }
    }
    found
}

fn call(environment: &TestEnvironment, event: &str, command: &str, more: Json) -> Json {
    environment.answer_to(&environment.payload("s", event, shell_call("call", command, more)))
}

fn run(environment: &TestEnvironment, command: &str) {
    environment
        .command("bash")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
}

/// What the hook answers to a command that changes something and is taken back exactly.
fn is_taken_back(command: &str) -> Json {
    let environment = TestEnvironment::new();
    run(&environment, SETUP);
    let before = picture(&environment);
    assert!(before.contains_key("project: git stash list"), "the repository was made");
    let answer = call(&environment, "PreToolUse", command, json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    run(&environment, command);
    let told = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    call(&environment, "PostToolUse", command, told);
    assert!(picture(&environment) != before, "{command}: changed nothing");
    let output = environment.checkrein(&["undo", "--yes"]);
    let after = picture(&environment);
    let differs: Vec<_> = before
        .iter()
        .filter(|(name, one)| after.get(*name) != Some(one))
        .map(|(name, one)| (name, one, after.get(name)))
        .collect();
    let new: Vec<_> = after.keys().filter(|name| !before.contains_key(*name)).collect();
    assert!(
        differs.is_empty() && new.is_empty(),
        "{command}: {differs:?}, new {new:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    answer
}

#[test]
fn a_work_tree_elsewhere_is_asked_about_and_comes_back() {
    for command in [
        "git worktree remove --force ../tree",
        "cd /tmp && git -C \"$HOME/project\" worktree remove -f \"$HOME/tree\"",
        // Git lets go what is ignored without being forced to.
        "git worktree remove ../clean",
    ] {
        let answer = is_taken_back(command);
        assert_eq!(decision(&answer), Some("ask"), "{command}: {answer}");
    }
}

#[test]
fn stashes_come_back() {
    for command in [
        "git stash && git stash drop",
        "git stash -q -u; git stash drop -q",
        "git stash push -a && git stash clear",
        "git stash push -m one -- src/b && git stash drop 'stash@{0}'",
        "git checkout -q -- . && git reset -q && rm staged && git stash pop",
        "git checkout -q -- . && git reset -q && rm staged && git stash apply",
    ] {
        is_taken_back(command);
    }
}

#[test]
fn what_patterns_and_signs_name_comes_back() {
    for command in [
        "git clean -fdxq -- ':/*'",
        "cd src && git clean -fq ':/n*'",
        "git rm -rfq 's*'",
        "git rm -rfq ':(glob)**/b'",
        "cd src && git rm -fq ':/src/*'",
        "git restore ':(top)src'",
        "git restore ':(icase)SRC/B'",
        "cd src && git checkout -- ':/*'",
        "git restore --source HEAD --staged --worktree -- ':/*'",
    ] {
        is_taken_back(command);
    }
}

#[test]
fn what_is_only_staged_comes_back() {
    for command in [
        "git restore --staged --worktree .",
        "git restore -SW :/",
        "git restore -S -W src staged",
        "git checkout -q -f",
        "git checkout -q HEAD -- ':/'",
        "git checkout -q -f HEAD",
    ] {
        is_taken_back(command);
    }
}

/// What was written for a commit that did not come about has no other copy.
#[test]
fn messages_come_back() {
    for (command, name) in [
        ("git commit -qam agent", "COMMIT_EDITMSG"),
        ("git commit -q --amend -m agent", "COMMIT_EDITMSG"),
        ("git commit -qam agent && rm .git/COMMIT_EDITMSG", "COMMIT_EDITMSG"),
        ("git stash -q && git merge -q --squash topic", "SQUASH_MSG"),
        ("git stash -q && git merge -q --no-commit --no-ff topic", "MERGE_MSG"),
    ] {
        let environment = TestEnvironment::new();
        run(&environment, SETUP);
        let message = environment.project().join(".git").join(name);
        fs::write(&message, "mine, and long\n").unwrap();
        call(&environment, "PreToolUse", command, json!({}));
        run(&environment, command);
        call(&environment, "PostToolUse", command, json!({ "tool_response": { "stdout": "" } }));
        assert_ne!(fs::read_to_string(&message).unwrap_or_default(), "mine, and long\n", "{command}");
        let output = environment.checkrein(&["undo", "--yes"]);
        assert_eq!(fs::read_to_string(&message).unwrap(), "mine, and long\n", "{command}: {output:?}");
    }
}

/// The log goes with the name, and grows by what is said of that.
#[test]
fn logs_of_branches_that_get_another_name_come_back() {
    for command in [
        "git branch -m main trunk",
        "git branch -M topic tree/deep; git branch -m main trunk",
        "git branch -m topic/deep",
        "git branch -m main trunk && echo more >> a && git commit -qam more",
    ] {
        let environment = TestEnvironment::new();
        run(&environment, SETUP);
        run(
            &environment,
            "git worktree remove --force ../tree; git branch -qD tree; git checkout -q -f main",
        );
        if command.ends_with("topic/deep") {
            run(&environment, "git checkout -q -f topic");
        }
        let logs = || {
            let found =
                environment.command("sh").args(["-c", "grep -r . .git/logs | sort"]).output().unwrap();
            String::from_utf8(found.stdout).unwrap()
        };
        let before = (logs(), picture(&environment));
        call(&environment, "PreToolUse", command, json!({}));
        run(&environment, command);
        call(&environment, "PostToolUse", command, json!({ "tool_response": { "stdout": "" } }));
        assert_ne!(logs(), before.0, "{command}");
        let output = environment.checkrein(&["undo", "--yes"]);
        assert!((logs(), picture(&environment)) == before, "{command}: {}\n{output:?}", logs());
    }
}

#[test]
fn bisections_come_back() {
    for command in [
        "git bisect start HEAD HEAD~3",
        "git stash -q && git bisect start HEAD HEAD~3 && git bisect good && git bisect reset && git stash drop",
    ] {
        is_taken_back(command);
    }
}

#[test]
fn submodules_come_back() {
    for command in [
        "git submodule update --force",
        "git submodule deinit -f sub",
        "git submodule deinit -f --all",
        "git rm -qf sub",
        "git submodule foreach -q 'git reset -q --hard && git clean -fdxq'",
        "git checkout -q -f --recurse-submodules topic",
        "git -c submodule.recurse=true switch -q -f topic",
        "git submodule set-url sub ../elsewhere",
        "rm notes; git submodule --quiet add ../library more",
        "rm notes; git submodule --quiet add --name called ../library deep/more",
    ] {
        is_taken_back(command);
    }
}

#[test]
fn work_trees_that_were_emptied_come_back() {
    for command in [
        "git switch -q -f --orphan fresh",
        "git stash -q && git switch -q --orphan fresh",
        "git checkout -q --orphan fresh && git reset -q --hard",
        "git checkout -q --orphan fresh && git rm -rfq --cached . && git clean -fdxq",
        "git rm -q --cached a && git clean -fq",
        "git read-tree --empty && git clean -fdq",
        // What was only staged is not tracked any more.
        "git reset -q && git clean -fq",
    ] {
        is_taken_back(command);
    }
}

#[test]
fn what_others_committed_on_top_of_an_action_stays_whole() {
    for agent in [
        "find . -name '*.orig' -delete; git add -A && git commit -qm agent",
        "chmod -R u+w . ; git add notes",
        "git stash -a",
    ] {
        for user in
            ["git checkout -q -b later; git tag keep", "git stash apply; git add notes; git commit -qm own"]
        {
            let environment = TestEnvironment::new();
            run(&environment, SETUP);
            call(&environment, "PreToolUse", agent, json!({}));
            run(&environment, agent);
            call(&environment, "PostToolUse", agent, json!({ "tool_response": { "stdout": "" } }));
            run(&environment, user);
            environment.checkrein(&["undo", "--yes"]);
            let checked = environment.command("git").args(["fsck", "--connectivity-only"]).output().unwrap();
            let said = String::from_utf8_lossy(&checked.stderr) + String::from_utf8_lossy(&checked.stdout);
            let is_broken = ["missing", "broken", "bad ", "invalid"].iter().any(|word| said.contains(word));
            assert!(checked.status.success() && !is_broken, "{agent}, then {user}: {said}");
        }
    }
}

#[test]
fn what_only_the_index_holds_comes_back_from_it_and_into_the_work_tree() {
    for command in [
        "git reset -q HEAD -- . && git checkout -q -- .",
        "git restore -WS --pathspec-from-file=- <<< staged",
        "git rm -fq --pathspec-from-file=- <<< staged",
        "git add staged",
        "git add -A",
        "git commit -qam all",
        "git update-index --add --cacheinfo 100644,$(git rev-parse HEAD~4:a),a && git checkout-index -f a",
        "GIT_INDEX_FILE=.git/other git read-tree HEAD~2 && GIT_INDEX_FILE=.git/other git checkout-index -fa; rm .git/other",
    ] {
        is_taken_back(command);
    }
}

/// The names of all objects of the project.
fn objects(environment: &TestEnvironment) -> BTreeSet<String> {
    let asked = ["cat-file", "--batch-all-objects", "--batch-check"];
    let answer = environment.command("git").args(asked).output().unwrap().stdout;
    String::from_utf8(answer).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn objects_come_back_where_nothing_else_differs() {
    for (first, command) in [
        ("true", "git prune"),
        ("true", "git prune --expire=now"),
        ("true", "git fsck --lost-found; git prune"),
        ("git gc -q", "git repack -a -d -q && git prune-packed"),
        ("git gc -q", "git repack -a -d -q"),
    ] {
        objects_come_back(&TestEnvironment::new(), first, command);
    }
}

#[test]
fn objects_come_back_from_another_file_system_too() {
    for command in ["git prune", "git repack -a -d -q && git prune-packed"] {
        let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
        let environment = TestEnvironment::new();
        let states = environment.state().parent().unwrap().to_owned();
        std::fs::create_dir_all(states.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &states).unwrap();
        let first = if command == "git prune" { "true" } else { "git gc -q" };
        objects_come_back(&environment, first, command);
    }
}

fn objects_come_back(environment: &TestEnvironment, first: &str, command: &str) {
    run(environment, SETUP);
    run(
        environment,
        "git branch -qD topic; git reflog expire --expire=now --all; git config gc.pruneExpire never",
    );
    run(environment, first);
    let before = objects(environment);
    call(environment, "PreToolUse", command, json!({}));
    run(environment, command);
    call(environment, "PostToolUse", command, json!({ "tool_response": { "stdout": "" } }));
    let lost = objects(environment);
    assert!(before.iter().any(|name| !lost.contains(name)), "{command}: lost nothing");
    let shown = environment.checkrein(&["undo", "--dry-run"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("of git"), "{command}: {shown:?}");
    assert!(objects(environment) == lost, "{command}: a dry run gave something back");
    let output = environment.checkrein(&["undo", "--yes"]);
    let after = objects(environment);
    assert!(before.iter().all(|name| after.contains(name)), "{command}: {output:?}");
}

#[test]
fn a_repository_that_is_only_packed_anew_lost_nothing() {
    let environment = TestEnvironment::new();
    run(&environment, SETUP);
    let command = "git repack -a -d -q";
    call(&environment, "PreToolUse", command, json!({}));
    run(&environment, command);
    call(&environment, "PostToolUse", command, json!({ "tool_response": { "stdout": "" } }));
    let output = environment.checkrein(&["undo", "--dry-run"]);
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!text.contains("has no more"), "{text}");
}
