//! The example of a task with real clients, whose model is scripted: from the issue to the branch that is pushed, with a change that is not
//! named, a stub, a review that asks for more, a kill in the middle, and one yes.

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
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pipeline_support::{Place, outcomes, step, told};
use serde_json::{Value as Json, json};
use support::chat_model::{Call, ChatModel};
use support::driven::{self, CODEX, codex_settings, program, trust_hooks_of_codex};
use support::repository;

/// How long a task may take (ours): ten runs of a client.
const PATIENCE: Duration = Duration::from_mins(4);

/// Runs the tests of a folder as pytest does, as far as this task asks for it.
const PYTEST: &str = r#"#!/usr/bin/env python3
import glob, importlib.util, sys, os
sys.dont_write_bytecode = True
sys.path.insert(0, os.getcwd())
passed, failed = 0, []
for file in sorted(glob.glob("test_*.py")):
    specification = importlib.util.spec_from_file_location(file[:-3], file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    for name in [name for name in dir(module) if name.startswith("test_")]:
        try:
            getattr(module, name)()
            passed += 1
        except Exception as error:
            failed.append(f"FAILED {file}::{name} - {type(error).__name__}")
print("\n".join(failed))
print(f"{len(failed)} failed, {passed} passed in 0.01s" if failed else f"{passed} passed in 0.01s")
sys.exit(1 if failed else 0)
"#;

const DESIGN: &str = "# Minutes\n\n## Problem\n\nSettings of our users hold durations in seconds and in minutes. Only seconds are understood, \
and everybody who writes minutes gets an error. We let the one function that reads durations understand minutes as well, and nothing else.\n\n\
## Requirements\n\n- REQ-1 a number with m gives that many times sixty seconds\n- REQ-2 anything else stays an error\n\n\
## Files changed\n\n| File | Change | Why |\n|---|---|---|\n| durations.py | modify | the function |\n| test_durations.py | modify | its tests |\n\n\
## Tests\n\n| Test | Checks |\n|---|---|\n| test_minutes | REQ-1: seconds of 2m gives 120 |\n| test_hours | REQ-2: seconds of 2h raises ValueError |\n";

const TESTS: &str = "from durations import seconds\n\n\ndef test_seconds():\n    assert seconds(\"90s\") == 90\n\n\ndef test_minutes():\n    assert seconds(\"2m\") == 120\n\n\n\
def test_hours():\n    try:\n        seconds(\"2h\")\n    except ValueError:\n        return\n    raise AssertionError(\"hours are understood\")\n";

const CODE: &str = "def seconds(text):\n    units = {\"s\": 1, \"m\": 60}\n    if text[-1:] not in units:\n        raise ValueError(f\"not a duration: {text}\")\n    return int(text[:-1]) * units[text[-1]]\n";
const STUB: &str = "\n\ndef minutes(text):\n    raise NotImplementedError\n";
const DOCUMENTATION: &str = "\"\"\"Durations as people write them: 90s, 2m.\"\"\"\n\n\n";

/// What the model does in each step, by what it is told. What was wrong last time comes first.
fn script(write: &dyn Fn(&str, &str) -> Vec<Call>) -> Vec<(&'static str, Vec<Call>)> {
    let stub = format!("{CODE}{STUB}");
    let documented = format!("{DOCUMENTATION}{CODE}");
    vec![
        ("it has no documentation", write("durations.py", &documented)),
        ("not_implemented", write("durations.py", CODE)),
        ("Write the code that the design", write("durations.py", &stub)),
        // The design is about files: notes are all that may be written before.
        (
            "Read this issue and the code",
            [write("durations.py", "hasty = True\n"), write("task-notes/triage.md", "minutes are missing\n")]
                .concat(),
        ),
        ("Design the change for this issue", write("task-notes/design.md", DESIGN)),
        (
            "Write `task-notes/specification.md`",
            write("task-notes/specification.md", "seconds(text) -> int, ValueError\n"),
        ),
        ("Write the tests that the design names", write("test_durations.py", TESTS)),
        (
            "Write `task-notes/pull-request.md`",
            write("task-notes/pull-request.md", "Understand minutes\n\n`2m` gives 120.\n"),
        ),
    ]
}

/// The example as a repository, with a remote on this machine.
fn example() -> Place {
    let place = Place::new();
    let from = repository().join("examples/task");
    for entry in fs::read_dir(&from).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        place.environment.write(&name, &fs::read_to_string(entry.path()).unwrap());
    }
    place.program("pytest", PYTEST);
    place.environment.git(&["config", "user.name", "dev"]);
    place.environment.git(&["config", "user.email", "dev@localhost"]);
    place.environment.git(&["add", "--all"]);
    place.environment.git(&["commit", "-q", "-m", "durations in seconds"]);
    let bare = place.home().join("bare.git");
    place.environment.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
    place.environment.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
    for reviewer in ["gemini", "codex"] {
        place.mode(reviewer, "revises-code");
    }
    place
}

fn state_of(place: &Place) -> Json {
    let listed = place.output(&["--json", "pipeline", "list"]).stdout;
    String::from_utf8_lossy(&listed)
        .lines()
        .last()
        .and_then(|line| serde_json::from_str(line).ok())
        .unwrap_or_default()
}

/// Runs the task, kills it while the code is mended, goes on, and says yes at the end.
fn run(place: &Place, more: &[&str], client: &dyn Fn(&mut Command)) {
    let words = [&["--json", "task", "issue.md", "--input", "tests=pytest -q"], more].concat();
    let mut task = place.command(&words);
    client(&mut task);
    let mut begun = task.stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    let is_mending =
        |state: &Json| {
            state["steps"].as_array().into_iter().flatten().any(|step| {
                step["name"] == "implement" && step["outcome"] == "running" && step["attempts"] == 2
            })
        };
    loop {
        let state = state_of(place);
        if is_mending(&state) {
            break;
        }
        if started.elapsed() > PATIENCE || begun.try_wait().unwrap().is_some() {
            begun.kill().ok();
            panic!("the code is not mended: {state:#}");
        }
        sleep(Duration::from_millis(50));
    }
    sleep(Duration::from_millis(300));
    begun.kill().unwrap();
    begun.wait().unwrap();
    let mut again = place.command(&["--json", "pipeline", "run", "--resume"]);
    client(&mut again);
    let begun = again.spawn().unwrap();
    place.answer("allow");
    let (status, answer) = told(&begun.wait_with_output().unwrap());
    assert_eq!(status, 0, "{answer:#}");
    assert!(
        outcomes(&answer).iter().all(|one| one.ends_with(" passed") || one.ends_with(" left_out")),
        "{answer:#}"
    );
    assert_eq!(step(&answer, "complete")["rounds"], 1, "the gate sent the stub back once: {answer:#}");
    let verdicts: Vec<&str> = step(&answer, "code-review")["reviews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|review| review["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["REVISE", "APPROVED"], "{answer:#}");
    // What was pushed is whole, and is what the design named.
    let branch = "checkrein/issue";
    let bare = place.home().join("bare.git");
    let show = |what: &str| place.git_says(&["--git-dir", bare.to_str().unwrap(), "show", what]);
    assert_eq!(show(&format!("{branch}:durations.py")), format!("{DOCUMENTATION}{CODE}"));
    let files = place.git_says(&["diff", "--name-only", "main", branch]);
    assert_eq!(files, "durations.py\ntest_durations.py\n");
    // The hooks of the client reviewed it: what was not named was refused.
    let kept = place.environment.state();
    let found = place
        .environment
        .command("grep")
        .args(["-rlF", "prevent_unnamed_change"])
        .arg(&kept)
        .output()
        .unwrap();
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(found.contains("/sessions/"), "no hook refused it: {found}");
}

#[test]
fn claude_brings_the_example_to_a_branch() {
    let place = example();
    let write = |file: &str, text: &str| -> Vec<Call> {
        // A file that is there is read before it is written.
        let is_there = !file.contains('/');
        let read = is_there.then(|| ("Read", json!({ "file_path": file })));
        read.into_iter().chain([("Write", json!({ "file_path": file, "content": text }))]).collect()
    };
    let model = ChatModel::start_marked(script(&write));
    place.environment.succeed(&["init", "--user", "--yes"]);
    if driven::command(&place.environment, "claude", &model).is_none() {
        checkrein_testkit::not_run("claude is not installed here: `cargo xtask clients`");
        return;
    }
    let client = support::client::client();
    place.program("claude", &format!("#!/bin/sh\nexec '{}' \"$@\"\n", client.display()));
    let address = model.address();
    run(&place, &[], &|command| {
        for name in [
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "DISABLE_TELEMETRY",
            "DISABLE_AUTOUPDATER",
            "IS_SANDBOX",
        ] {
            command.env(name, "1");
        }
        command.env("ANTHROPIC_API_KEY", "dummy").env("ANTHROPIC_BASE_URL", &address);
    });
}

#[test]
fn codex_brings_the_example_to_a_branch() {
    let place = example();
    let write = |file: &str, text: &str| -> Vec<Call> {
        let text = format!("mkdir -p task-notes && cat > {file} <<'END_OF_FILE'\n{text}END_OF_FILE\n");
        vec![("exec_command", json!({ "cmd": text }))]
    };
    let model = ChatModel::start_marked(script(&write));
    let Some(client) = program(CODEX) else {
        checkrein_testkit::not_run("codex is not installed here: `cargo xtask clients`");
        return;
    };
    place.environment.succeed(&["init", "--client", "codex", "--user", "--yes"]);
    codex_settings(&place.environment, &model);
    trust_hooks_of_codex(&place.environment);
    place.program("codex", &format!("#!/bin/sh\nexec '{}' \"$@\"\n", client.display()));
    run(&place, &["--pipeline", "codex.yaml"], &|command| {
        command.env("OWN_KEY", "dummy");
    });
}
