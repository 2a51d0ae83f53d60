//! The pipeline of a task from its issue to a pull request, with scripted agents: what reaches the branch, who is asked, and where it goes.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod pipeline_support;
mod support;

use std::fs;
use std::path::PathBuf;

use pipeline_support::{Place, outcomes, said, step, told};
use serde_json::Value as Json;

fn lineage(answer: &Json) -> PathBuf {
    PathBuf::from(answer["lineage"].as_str().unwrap())
}

/// The folder of the last attempt of the step that publishes.
fn published(answer: &Json) -> PathBuf {
    let place = answer["steps"].as_array().unwrap().len();
    lineage(answer)
        .join(format!("artifacts/{place:03}-pull-request/{}", step(answer, "pull-request")["attempts"]))
}

// Source: seed 004-90, 004-26, 004-50, 004-52, 004-80, 004-82
#[test]
fn an_issue_becomes_a_reviewed_branch() {
    let place = Place::with_issue();
    let (status, answer) = place.task_answered("allow", &[]);
    assert_eq!((status, answer["task"].as_str()), (0, Some("issue-12")), "{answer}");
    let (left_out, others): (Vec<String>, Vec<String>) =
        outcomes(&answer).into_iter().partition(|one| one.ends_with(" left_out"));
    assert_eq!(left_out, ["adversarial-codex left_out", "adversarial-gemini left_out"]);
    assert!(others.iter().all(|one| one.ends_with(" passed")), "{answer}");
    // The stub went back once, and what reached the branch has none.
    assert_eq!(step(&answer, "implement")["attempts"], 2);
    let log = place.git_says(&["log", "-1", "--stat", "--format=%s", "checkrein/issue-12"]);
    assert!(log.starts_with("Add add") && log.contains("add.py") && !log.contains("task-notes"), "{log}");
    // Who began again was told what had changed by then.
    assert!(
        place.read("prompts").contains("Files that this task has changed so far: `add.py`, `task-notes/")
    );
    // There is no remote: a patch is kept, and it applies.
    let reason = step(&answer, "pull-request")["reason"].as_str().unwrap();
    assert!(reason.contains("there is no remote `origin`") && reason.contains("git am"), "{reason}");
    let patch = published(&answer).join("change.patch");
    place.environment.git(&["am", "-q", patch.to_str().unwrap()]);
    assert_eq!(
        place.git_says(&["rev-parse", "HEAD^{tree}"]),
        place.git_says(&["rev-parse", "checkrein/issue-12^{tree}"])
    );
}

// Source: seed 004-73
#[test]
fn a_branch_is_pushed_after_a_yes_and_never_before() {
    let place = Place::with_issue();
    let bare = place.home().join("bare.git");
    place.environment.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
    // A relative address is meant from the repository.
    place.environment.git(&["remote", "add", "origin", "../bare.git"]);
    let there = || {
        place.git_says(&[
            "--git-dir",
            bare.to_str().unwrap(),
            "for-each-ref",
            "--format=%(objectname) %(refname)",
        ])
    };
    let (status, answer) = place.task_answered("deny", &[]);
    assert_eq!((status, answer["end"].as_str()), (2, Some("refused")), "{answer}");
    assert_eq!((step(&answer, "pull-request")["outcome"].as_str(), there().as_str()), (Some("refused"), ""));
    // Asked again, and allowed.
    let begun = place.command(&["--json", "pipeline", "run", "--resume"]).spawn().unwrap();
    let question = place.question();
    let shown = place.output(&["approval", "show", &question]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("Push `checkrein/issue-12` (1 commit") && shown.contains("bare.git"), "{shown}");
    assert!(shown.contains("The review says: APPROVED"), "{shown}");
    assert!(place.output(&["approval", "allow", &question]).status.success());
    let (status, answer) = told(&begun.wait_with_output().unwrap());
    assert_eq!(status, 0, "{answer}");
    let head = place.git_says(&["rev-parse", "checkrein/issue-12"]);
    assert_eq!(there(), format!("{} refs/heads/checkrein/issue-12\n", head.trim()));
    // Only the branch step and what waits for it ran again; the text tells how it was made.
    assert_eq!(step(&answer, "implement")["attempts"], 2);
    let text = fs::read_to_string(published(&answer).join("pull-request.md")).unwrap();
    assert!(text.starts_with("It adds.\n\n## How this was made"), "{text}");
    assert!(text.contains("| design-review | review | passed | 1 | APPROVED by gpt-5.2 |"), "{text}");
    assert!(text.contains("| green | command | passed | 2 |"), "{text}");
    assert!(!text.contains("it is right"), "the words of a reviewer reach nobody else: {text}");
}

/// `gh` with the options of `gh pr create` and `gh pr view` as version 2.23 documents them: it refuses others, wants a title and a text where
/// there is no terminal, and shows a pull request of a branch whatever its state. It writes down how it was called.
const GH: &str = r#"#!/usr/bin/env python3
import json, os, sys
home = os.environ["HOME"]
open(f"{home}/gh", "a").write(" ".join(sys.argv[1:]) + "\n")
known = {
    "create": {"--assignee": 1, "--base": 1, "--body": 1, "--body-file": 1, "--draft": 0, "--fill": 0, "--head": 1, "--label": 1,
               "--milestone": 1, "--no-maintainer-edit": 0, "--project": 1, "--recover": 1, "--reviewer": 1, "--title": 1, "--web": 0, "--repo": 1},
    "view": {"--comments": 0, "--jq": 1, "--json": 1, "--template": 1, "--web": 0, "--repo": 1},
}
if sys.argv[1:2] != ["pr"] or sys.argv[2:3] not in (["create"], ["view"]):
    sys.exit(f"unknown command {sys.argv[1:3]}")
options, operands, rest = {}, [], sys.argv[3:]
while rest:
    word = rest.pop(0)
    if not word.startswith("-"):
        operands.append(word)
        continue
    name, sign, value = word.partition("=")
    if name not in known[sys.argv[2]]:
        sys.exit(f"unknown flag: {name}")
    if known[sys.argv[2]][name] and not sign:
        value = rest.pop(0)
    options[name] = value
there = json.load(open(f"{home}/opened")) if os.path.exists(f"{home}/opened") else None
if sys.argv[2] == "view":
    if there is None or operands != [there["branch"]]:
        sys.exit(f"no pull requests found for branch {operands}")
    assert set(options["--json"].split(",")) <= {"state", "url"}, options
    if options["--jq"] == ".url" or options["--jq"] == 'select(.state == "OPEN") | .url' and there["state"] == "OPEN":
        print(there["url"])
else:
    if operands or "--title" not in options or not ({"--body", "--body-file"} & set(options)):
        sys.exit("must provide `--title` and `--body` (or `--fill`) when not running interactively")
    open(options["--body-file"]).read()
    url = "https://github.com/acme/app/pull/7"
    json.dump({"url": url, "branch": options["--head"], "state": "OPEN"}, open(f"{home}/opened", "w"))
    print(url)
"#;

/// `ssh` that reaches a repository on this machine, and `gh`.
fn forge(place: &Place) {
    let bare = place.home().join("bare.git");
    place.environment.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
    place.environment.git(&["remote", "add", "origin", "git@github.com:acme/app.git"]);
    place.program("ssh", &format!("#!/bin/sh\nexec git-receive-pack {}\n", bare.display()));
    place.program("gh", GH);
}

#[test]
fn a_pull_request_is_opened_once() {
    let place = Place::with_issue();
    forge(&place);
    let (status, answer) = place.task_answered("allow", &[]);
    assert_eq!(status, 0, "{answer}");
    assert_eq!(step(&answer, "pull-request")["reason"], "pull request: https://github.com/acme/app/pull/7");
    let called = place.read("gh");
    let created = called.lines().find(|line| line.starts_with("pr create")).unwrap();
    assert!(
        created.contains("--head=checkrein/issue-12 --title=Add add --body-file ")
            && !created.contains("--base"),
        "{created}"
    );
    assert_eq!(called.matches("pr create").count(), 1, "{called}");
    // Whoever was killed in between finds the one that is there; one that was merged long ago is another.
    for (state, number, makes) in [("OPEN", 8, false), ("MERGED", 7, true)] {
        let place = Place::with_issue();
        forge(&place);
        let there = serde_json::json!({
            "url": "https://github.com/acme/app/pull/8", "branch": "checkrein/issue-12", "state": state,
        });
        fs::write(place.home().join("opened"), there.to_string()).unwrap();
        let (status, answer) = place.task_answered("allow", &[]);
        assert_eq!(status, 0, "{answer}");
        let address = format!("pull request: https://github.com/acme/app/pull/{number}");
        assert_eq!(step(&answer, "pull-request")["reason"], address.as_str(), "{state}");
        assert_eq!(place.read("gh").contains("pr create"), makes, "{}", place.read("gh"));
    }
}

#[test]
fn without_a_program_for_it_the_commands_are_told() {
    let place = Place::with_issue();
    place.environment.git(&["remote", "add", "origin", "https://user:word@github.com/acme/app.git"]);
    if place.environment.command("sh").args(["-c", "command -v gh"]).output().unwrap().status.success() {
        checkrein_testkit::not_run("a machine without gh");
        return;
    }
    let (status, answer) = place.task_answered("allow", &[]);
    let reason = step(&answer, "pull-request")["reason"].as_str().unwrap();
    assert_eq!(status, 0, "{answer}");
    assert!(
        reason.contains("`gh`, which opens pull requests, is not there")
            && reason.contains("`git push origin checkrein/issue-12`")
            && reason.contains("gh pr create --head checkrein/issue-12"),
        "{reason}"
    );
    assert!(!answer.to_string().contains("word@"), "{answer}");
}

// Source: seed 004-83, 004-51, 004-53
#[test]
fn another_model_writes_tests_before_there_is_code() {
    let place = Place::with_issue();
    let wrong = place.task(&["--input", "adversarial=cdoex"]).output().unwrap();
    let (status, error) = told(&wrong);
    assert_eq!((status, error["error"]["hint"].as_str()), (1, Some("it is one of none, codex, gemini")));
    let (status, answer) = place.task_answered("allow", &["--input", "adversarial=codex"]);
    assert_eq!(status, 0, "{answer}");
    assert_eq!(step(&answer, "adversarial-codex")["outcome"], "passed");
    assert_eq!(step(&answer, "adversarial-gemini")["outcome"], "left_out");
    // They came before the code, and are part of what is published.
    let names: Vec<&str> =
        answer["steps"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    let at = |name: &str| names.iter().position(|one| *one == name).unwrap();
    assert!(at("adversarial-codex") < at("red") && at("red") < at("implement"));
    let files = place.git_says(&["show", "--name-only", "--format=", "checkrein/issue-12"]);
    assert!(files.contains("test_adversarial_add.py"), "{files}");
    // Nobody reviews what a model of their own family wrote: the design was reviewed before that.
    assert_eq!(step(&answer, "design-review")["reviews"][0]["answered"], "gpt-5.2");
    assert_eq!(step(&answer, "code-review")["reviews"][0]["answered"], "gemini-3-pro");
}

// Source: seed 004-78
#[test]
fn files_that_the_design_does_not_name_are_refused_while_the_step_runs() {
    // Clients that resume one session over all steps are held to the step in which they are, too.
    for session in ["", "one-of-all"] {
        let place = Place::with_issue();
        let mut task = place.task(&[]);
        task.env("HOOK", env!("CARGO_BIN_EXE_checkrein-hook")).env("SESSION", session);
        let begun = task.spawn().unwrap();
        place.answer("allow");
        let output = begun.wait_with_output().unwrap();
        assert_eq!(told(&output).0, 0, "{}", said(&output));
        let hooked = place.read("hooked");
        let refused = |step: &str, file: &str| {
            let line = hooked
                .lines()
                .rev()
                .find(|line| line.starts_with(step) && line.contains(&format!(" {file} {{")));
            line.unwrap_or_else(|| panic!("{step} {file}: {hooked}")).contains("may change only the files")
        };
        for (step, file, is_refused) in [
            ("Read this issu", "add.py", true),
            ("Read this issu", "task-notes/x.md", false),
            ("Design the cha", "test_add.py", true),
            ("Write the test", "test_add.py", false),
            ("Write the test", "other.py", true),
            ("Write the code", "add.py", false),
            ("Write the code", "other.py", true),
        ] {
            assert_eq!(refused(step, file), is_refused, "{session} {step} {file}: {hooked}");
        }
    }
}

/// How a task ended: its tree, and each step with its outcome, its rounds and the verdicts on it.
fn end(place: &Place, task: &str, answer: &Json) -> (String, Vec<String>) {
    let verdicts = |step: &Json| -> Vec<String> {
        step["reviews"]
            .as_array()
            .unwrap()
            .iter()
            .map(|review| format!("{} {}", review["answered"], review["verdict"]))
            .collect()
    };
    let steps =
        answer["steps"].as_array().unwrap().iter().map(|step| {
            format!("{} {} {} {:?}", step["name"], step["outcome"], step["rounds"], verdicts(step))
        });
    (place.git_says(&["rev-parse", &format!("checkrein/{task}^{{tree}}")]), steps.collect())
}

/// `CHECKREIN_TASK_KILLS` kills more often, `CHECKREIN_TASK_SEED` at other moments.
#[test]
fn a_task_that_is_killed_anywhere_goes_on_to_the_same_end() {
    let number =
        |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (kills, mut random) = (number("CHECKREIN_TASK_KILLS", 3), number("CHECKREIN_TASK_SEED", 1));
    let place = Place::with_issue();
    for reviewer in ["codex", "gemini"] {
        place.mode(reviewer, "revises");
    }
    let run = |issue: &str| {
        place.environment.write(&format!("{issue}.md"), "# Adding\n\nadd is missing\n");
        place.command(&["--json", "task", &format!("{issue}.md"), "--input", "tests=pytest -q"])
    };
    let begun = std::time::Instant::now();
    let whole = run("whole").spawn().unwrap();
    place.answer("allow");
    let (status, answer) = told(&whole.wait_with_output().unwrap());
    assert_eq!(status, 0, "{answer}");
    let took = begun.elapsed();
    let expected = end(&place, "whole", &answer);
    let verdicts: Vec<&String> = expected.1.iter().filter(|step| step.contains("REVISE")).collect();
    assert_eq!(verdicts.len(), 2, "{expected:?}");
    // Four kills to a task: the fourth meets what three left.
    let mut made = 0;
    for task in 0.. {
        if made >= kills {
            break;
        }
        let name = format!("k{task}");
        let mut next = run(&name);
        for _ in 0..4 {
            let mut begun = next.spawn().unwrap();
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            std::thread::sleep(took.mul_f64((random >> 33) as f64 / f64::from(1_u32 << 31) * 0.7));
            begun.kill().unwrap();
            made += u64::from(begun.wait().unwrap().code().is_none());
            let listed = place.output(&["--json", "pipeline", "list"]);
            let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
            let mut all = listed.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
            let known = all.rfind(|one| one["task"] == name.as_str());
            next = match known {
                Some(one) => {
                    place.command(&["--json", "pipeline", "run", "--resume", one["run"].as_str().unwrap()])
                }
                None => run(&name),
            };
        }
        let last = next.spawn().unwrap();
        place.answer("allow");
        let (status, answer) = told(&last.wait_with_output().unwrap());
        assert_eq!(status, 0, "{answer}");
        assert_eq!(end(&place, &name, &answer), expected, "{name}");
    }
    assert!(place.output(&["pipeline", "verify"]).status.success());
}
