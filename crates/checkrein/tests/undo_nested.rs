//! A repository that lies in a project: who stands in either of them takes back the action that was about it, with the references of both.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

const SETUP: &str = r"
set -e
git config --global user.name dev; git config --global user.email dev@localhost; git config --global init.defaultBranch main
git init -q inner; echo i > inner/i; git -C inner add -A; git -C inner commit -qm i
echo i2 > inner/i; git -C inner commit -qam i2; git -C inner branch side HEAD~1
echo o > o; git add o; git commit -qm o; echo mine > o
";

/// Whether the project's version control ignores the repository inside.
const IGNORING: [&str; 2] = ["echo inner > .git/info/exclude", "true"];

/// Where an action runs, what it does, and from where it is taken back.
const ACTIONS: [(&str, &str, &[&str]); 9] = [
    ("inner", "git reset -q --hard HEAD~1", &["", "inner"]),
    ("", "git -C inner reset -q --hard HEAD~1", &["", "inner"]),
    ("", "cd inner && git branch -D side", &["", "inner"]),
    ("", "rm inner/i", &["", "inner"]),
    ("inner", "rm i; git -C .. checkout -q -f .", &["", "inner"]),
    ("inner", "git -C .. reset -q --hard HEAD~1", &["", "inner"]),
    ("", "git -C inner reset -q --hard HEAD~1; git reset -q --hard HEAD~1", &["", "inner"]),
    ("", "git -C inner stash -q -u; git -C inner checkout -q side", &["", "inner"]),
    ("", "rm o", &[""]),
];

type Picture = BTreeMap<PathBuf, Vec<u8>>;

fn picture(environment: &TestEnvironment) -> Picture {
    let mut found = Picture::new();
    let mut waiting = vec![environment.project()];
    while let Some(path) = waiting.pop() {
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            let entries = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            waiting.extend(entries.filter(|path| !path.ends_with("objects") && !path.ends_with("index")));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    for repository in ["", "inner"] {
        let mut git = environment.command("git");
        let asked = git.args(["ls-files", "--stage"]).current_dir(environment.project().join(repository));
        found.insert(Path::new(repository).join("what is staged"), asked.output().unwrap().stdout);
    }
    found
}

fn tell(environment: &TestEnvironment, event: &str, place: &str, command: &str, more: Json) -> Json {
    let fields = shell_call("call", command, more);
    let mut payload: Json = serde_json::from_slice(&environment.payload("s", event, fields)).unwrap();
    payload["cwd"] = json!(environment.project().join(place));
    environment.answer_to(payload.to_string().as_bytes())
}

fn run(environment: &TestEnvironment, place: &str, command: &str) {
    let mut bash = environment.command("bash");
    let bash = bash.args(["-c", command]).current_dir(environment.project().join(place));
    let output = bash.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

fn perform(environment: &TestEnvironment, place: &str, command: &str) {
    let answer = tell(environment, "PreToolUse", place, command, json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    run(environment, place, command);
    let told = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    tell(environment, "PostToolUse", place, command, told);
}

fn undo(environment: &TestEnvironment, place: &str) -> String {
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let command = command.args(["undo", "--yes", "--remove-new"]);
    let output =
        command.current_dir(environment.project().join(place)).stdin(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn an_action_is_taken_back_from_either_repository() {
    for ignoring in IGNORING {
        for (place, command, standing) in ACTIONS {
            for from in standing {
                let environment = TestEnvironment::new();
                run(&environment, "", SETUP);
                run(&environment, "", ignoring);
                let before = picture(&environment);
                perform(&environment, place, command);
                assert!(picture(&environment) != before, "{command}: changed nothing");
                let said = undo(&environment, from);
                let after = picture(&environment);
                let all = before.keys().chain(after.keys());
                let differs: Vec<&PathBuf> =
                    all.filter(|path| before.get(*path) != after.get(*path)).collect();
                assert!(
                    differs.is_empty(),
                    "{ignoring}: in `{place}` {command}, undo in `{from}`: {differs:?}\n{said}"
                );
            }
        }
    }
}

/// What the project around lost is none of the business of who stands in the repository inside.
#[test]
fn what_was_only_about_the_project_around_is_not_meant_inside() {
    let environment = TestEnvironment::new();
    run(&environment, "", SETUP);
    perform(&environment, "", "rm inner/i");
    perform(&environment, "", "rm o");
    let said = undo(&environment, "inner");
    let stands = |name: &str| environment.project().join(name).exists();
    assert!(stands("inner/i") && !stands("o"), "{said}");
    let said = undo(&environment, "inner");
    assert!(said.contains("nothing that was saved in this project is left") && !stands("o"), "{said}");
    undo(&environment, "");
    assert!(stands("o"));
}
