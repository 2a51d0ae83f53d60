//! The gates over design documents: what they are like, what they plan, and what was made of them, with tests that real hooks recorded.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod pipeline_support;
mod support;

use std::process::Output;
use std::thread;
use std::time::Duration;

use pipeline_support::Place;
use serde_json::{Value as Json, json};
use support::{TestEnvironment, shell_call};

const DESIGN: &str = "# 12 - Load settings

## Requirements

- REQ-1: settings are read from a file that lies beside the code
- REQ-2: a file that cannot be read is refused with the number of its line

## Files

| File | Change |
|---|---|
| `src/load.rs` | Add |
| `src/main.rs` | Modify |

## Tests

| Scenario | Requirement | Type |
|---|---|---|
| a file with two settings gives both of them | REQ-1 | unit |
| a bracket that is never closed names its line | REQ-2 | unit |
";

fn project(design: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("src/main.rs", "fn main() {}\n");
    environment.write("docs/design.md", design);
    environment.git(&["add", "--all"]);
    environment.commit("before");
    environment
}

fn gate(environment: &TestEnvironment, name: &str, more: &[&str]) -> (Output, Vec<String>) {
    // Coverage has tests of its own.
    let without: &[&str] = if name == "implementation" { &["--coverage", "none"] } else { &[] };
    let arguments = [&["--json", "gate", name, "--design", "docs/design.md"], without, more].concat();
    let output = environment.checkrein(&arguments);
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    let finding = |one: &Json| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        format!("{}:{} {} {}", text("path"), one["line"], text("weight"), text("kind"))
    };
    let mut found: Vec<String> = answer["findings"].as_array().unwrap().iter().map(finding).collect();
    for one in answer["not_run"].as_array().unwrap() {
        found.push(format!("not run: {}", one["what"].as_str().unwrap()));
    }
    found.insert(0, answer["outcome"].as_str().unwrap().to_owned());
    (output, found)
}

// Source: seed 004-41, 004-70
#[test]
fn a_document_is_held_against_the_work_tree() {
    let environment = project(DESIGN);
    let (output, found) = gate(&environment, "mechanical", &[]);
    assert_eq!((output.status.code(), found), (Some(0), vec!["passed".to_owned()]));
    let (output, found) = gate(&environment, "mechanical", &["--section", "Rollback"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(found, ["failed", "docs/design.md:1 error missing_section"]);

    let wrong = DESIGN
        .replace("`src/main.rs` | Modify", "`src/man.rs` | Modify | x")
        .replace("| `src/load.rs` | Add |", "| `lib/load.rs` | Add |");
    environment.write("docs/design.md", &wrong);
    let (_, found) = gate(&environment, "mechanical", &[]);
    assert_eq!(
        found,
        [
            "failed",
            "docs/design.md:12 error missing_path",
            "docs/design.md:13 error missing_path",
            "docs/design.md:13 error broken_table",
        ]
    );
    let allowed = format!(
        "{DESIGN}\n<!-- checkrein: allow missing_path: the next change adds it -->\nSee `src/next.rs`.\n"
    );
    environment.write("docs/design.md", &allowed);
    let found = ["passed", "docs/design.md:22 warning new_exemption"];
    assert_eq!(gate(&environment, "mechanical", &[]).1, found);
    assert_eq!(gate(&environment, "mechanical", &["--strict"]).1[0], "failed");

    let output = environment.checkrein(&["gate", "mechanical"]);
    assert_eq!(output.status.code(), Some(1));
    let output = environment.checkrein(&["gate", "mechanical", "--design", "nowhere.md"]);
    assert_eq!(output.status.code(), Some(1));
}

// Source: seed 004-42
#[test]
fn requirements_need_tests_that_say_something() {
    let environment = project(DESIGN);
    assert_eq!(gate(&environment, "test-plan", &[]).1, ["passed"]);
    let vague = DESIGN
        .replace("a file with two settings gives both of them", "loading works as expected, by manual check");
    environment.write("docs/design.md", &vague.replace("| REQ-2 |", "| REQ-1 |"));
    let (output, found) = gate(&environment, "test-plan", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        found,
        [
            "failed",
            "docs/design.md:6 error requirement_without_test",
            "docs/design.md:19 error vague_test",
            "docs/design.md:19 error delegated_test",
        ]
    );
    environment.write("docs/design.md", "# Nothing\n\n## Tests\n\n- a: b\n");
    let (output, found) = gate(&environment, "test-plan", &[]);
    assert_eq!(
        (output.status.code(), found),
        (Some(2), vec!["not_run".to_owned(), "not run: the requirements".to_owned()])
    );
}

/// A call of the shell in a recorded session, with its output.
fn called(environment: &TestEnvironment, id: &str, command: &str, output: &str) {
    let call = |more: Json| shell_call(id, command, more);
    environment.answer_to(&environment.payload("s", "PreToolUse", call(json!({}))));
    let response = json!({ "tool_response": { "stdout": output, "stderr": "" } });
    environment.answer_to(&environment.payload("s", "PostToolUse", call(response)));
}

const PASSED: &str =
    "running 3 tests\n\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
const FAILED: &str =
    "running 3 tests\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";

// Source: seed 004-44
#[test]
fn what_changed_is_held_against_the_document_and_the_records() {
    let environment = project(DESIGN);
    environment.write("src/load.rs", "pub fn load() {}\n");
    environment.write("src/more.rs", "pub fn more() {}\n");
    let (output, found) = gate(&environment, "implementation", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        found,
        [
            "failed",
            "docs/design.md:13 error design_not_done",
            "src/more.rs:1 error not_in_design",
            "not run: the tests",
        ]
    );
    std::fs::remove_file(environment.project().join("src/more.rs")).unwrap();
    environment.write("src/main.rs", "mod load;\nfn main() {}\n");
    assert_eq!(gate(&environment, "implementation", &[]).1, ["not_run", "not run: the tests"]);

    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    thread::sleep(Duration::from_millis(30));
    // What an agent prints is no run.
    called(&environment, "a", "echo 'test result: ok. 3 passed; 0 failed'", PASSED);
    assert_eq!(
        gate(&environment, "implementation", &[]).1,
        ["failed", "docs/design.md:1 error tests_not_seen"]
    );
    called(&environment, "b", "cargo test", FAILED);
    assert_eq!(
        gate(&environment, "implementation", &[]).1,
        ["failed", "docs/design.md:1 error tests_failed"]
    );
    called(&environment, "c", "cargo test", PASSED);
    assert_eq!(gate(&environment, "implementation", &[]).1, ["passed"]);

    // A change after the tests, and one more run.
    thread::sleep(Duration::from_millis(30));
    environment.write("src/load.rs", "pub fn load() { load_all() }\n");
    assert_eq!(
        gate(&environment, "implementation", &[]).1,
        ["failed", "docs/design.md:1 error tests_not_seen"]
    );
    thread::sleep(Duration::from_millis(30));
    called(&environment, "d", "cargo test", PASSED);
    let (output, found) = gate(&environment, "implementation", &[]);
    assert_eq!((output.status.code(), found), (Some(0), vec!["passed".to_owned()]));
    for form in ["sarif", "junit"] {
        let arguments = ["gate", "implementation", "--design", "docs/design.md", "--coverage", "none"];
        let output = environment.checkrein(&[&arguments[..], &["--form", form]].concat());
        assert_eq!(output.status.code(), Some(0), "{form}");
    }
}

#[test]
fn text_of_other_programs_is_no_result_and_what_failed_has_to_pass() {
    let environment = project(DESIGN);
    environment.write("src/load.rs", "pub fn load() {}\n");
    environment.write("src/main.rs", "mod load;\nfn main() {}\n");
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    thread::sleep(Duration::from_millis(30));
    let after = |id: &str, command: &str, output: &str| {
        called(&environment, id, command, output);
        let (_, found) = gate(&environment, "implementation", &[]);
        found.last().cloned().unwrap_or_default()
    };
    let (seen, failed) = ("docs/design.md:1 error tests_not_seen", "docs/design.md:1 error tests_failed");
    for (number, command) in [
        "cargo test --no-run; cat old.log",
        "./cargo test",
        "PATH=./fake:$PATH cargo test",
        "cargo test 2>&1 | sed s/FAILED/ok/",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(after(&format!("beside-{number}"), command, PASSED), seen, "{command}");
    }
    assert_eq!(after("all", "cargo test", FAILED), failed);
    assert_eq!(after("one", "cargo test loads", PASSED), failed, "one test is not all of them");
    assert_eq!(after("again", "cd . && cargo test --quiet 2>&1 | tail -5", PASSED), "passed");
}

/// What the gate of low-level designs says.
fn lld(place: &Place, more: &[&str]) -> (Option<i32>, Json) {
    let arguments = [&["--json", "gate", "lld", "--design", "docs/design.md"], more].concat();
    let output = place.output(&arguments);
    let answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (output.status.code(), answer)
}

fn reviewed(text: &str) -> Place {
    let place = Place::new();
    place.environment.write("docs/design.md", text);
    place.environment.write("src/main.rs", "fn main() {}\n");
    place
}

fn long(text: &str) -> String {
    let words = "Settings are read from the environment alone so far, and users ask for a file beside the code, so that they can look at it in review. ";
    text.replace("## Requirements", &format!("## Problem\n\n{words}{words}\n\n## Requirements"))
}

// Source: seed 004-40
#[test]
fn a_reviewer_of_another_family_decides_about_a_design() {
    let place = reviewed(&long(DESIGN));
    let by_gemini = ["--reviewer", "gemini-3-pro", "--author", "claude-opus-4-8"];
    let (status, answer) = lld(&place, &by_gemini);
    assert_eq!((status, answer["outcome"].as_str()), (Some(0), Some("passed")), "{answer}");
    assert_eq!(answer["reviews"][0]["verdict"], "APPROVED", "{answer}");
    let question = place.read("question");
    assert!(question.contains("Feasibility") && question.contains("REQ-2: a file that cannot be read"));
    // Nothing of the review is left behind.
    let left = std::fs::read_dir(place.environment.state().join("design-reviews")).unwrap().count();
    assert_eq!(left, 0);

    place.mode("gemini", "revises");
    let (status, answer) = lld(&place, &by_gemini);
    assert_eq!((status, answer["outcome"].as_str()), (Some(2), Some("failed")), "{answer}");
    assert_eq!(answer["findings"][0]["kind"], "design_issue", "{answer}");
    place.mode("gemini", "blocks");
    let (_, answer) = lld(&place, &by_gemini);
    assert_eq!(answer["findings"][0]["kind"], "design_not_approved", "{answer}");
    // The document cannot allow what a reviewer says of it.
    let allowed = long(DESIGN) + "\n<!-- checkrein: allow design_not_approved: agreed with the team -->\n";
    place.environment.write("docs/design.md", &allowed);
    assert_eq!(lld(&place, &by_gemini).0, Some(2));

    for (mode, cause) in [
        ("lies", "gemini-2.5-flash"),
        ("nonsense", "no verdict"),
        ("quota", "quota"),
        ("echoes", "no verdict"),
    ] {
        place.mode("gemini", mode);
        let (status, answer) = lld(&place, &by_gemini);
        assert_eq!((status, answer["outcome"].as_str()), (Some(2), Some("not_run")), "{mode}: {answer}");
        assert!(answer["not_run"][0]["cause"].as_str().unwrap().contains(cause), "{mode}: {answer}");
    }
    // One that hangs, and one behind it.
    place.mode("gemini", "hangs");
    let both = [&by_gemini[..], &["--reviewer", "gpt-5.2", "--review-time", "6s"]].concat();
    let (status, answer) = lld(&place, &both);
    assert_eq!(status, Some(0), "{answer}");
    assert_eq!(answer["reviews"][1]["answered"], "gpt-5.2", "{answer}");
}

#[test]
fn nobody_reviews_who_may_not() {
    let place = reviewed(&long(DESIGN));
    let cause = |more: &[&str]| {
        let (status, answer) = lld(&place, more);
        assert_eq!((status, answer["outcome"].as_str()), (Some(2), Some("not_run")), "{more:?}: {answer}");
        answer["not_run"][0]["cause"].as_str().unwrap().to_owned()
    };
    assert!(cause(&[]).contains("nobody reviews"));
    assert!(cause(&["--reviewer", "gemini-3-pro"]).contains("who wrote"));
    assert!(cause(&["--reviewer", "gemini-3-pro", "--author", "google"]).contains("of a family that wrote"));
    assert_eq!(place.read("asked"), "", "nobody was asked");
    let own = ["--reviewer", "gemini-3-pro", "--author", "user"];
    assert_eq!(lld(&place, &own).0, Some(0));
    for form in ["sarif", "junit", "text"] {
        let arguments = [&["gate", "lld", "--design", "docs/design.md", "--form", form], &own[..]].concat();
        let output = place.output(&arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && text.contains(if form == "sarif" { "design_issue" } else { "lld" }),
            "{text}"
        );
    }
    // A document without its form is not worth a review.
    place
        .environment
        .write("docs/design.md", DESIGN.replace("| REQ-2 | unit |", "| REQ-1 | unit |").as_str());
    std::fs::remove_file(place.home().join("asked")).unwrap();
    let (status, answer) = lld(&place, &own);
    assert_eq!((status, answer["outcome"].as_str()), (Some(2), Some("failed")), "{answer}");
    assert_eq!(place.read("asked"), "", "{answer}");
    // A small model never does, another gate asks nobody, and an agent may not have somebody asked.
    for refused in [
        &["gate", "lld", "--design", "docs/design.md", "--reviewer", "gemini-3-flash", "--author", "user"][..],
        &["gate", "mechanical", "--design", "docs/design.md", "--reviewer", "gemini-3-pro"],
        &["gate", "lld", "--design", "docs/design.md", "--reviewer", "gemini-3-pro", "--author", "nobody"],
    ] {
        assert_eq!(place.output(refused).status.code(), Some(1), "{refused:?}");
    }
    place.environment.write("docs/design.md", &long(DESIGN));
    let arguments = [&["gate", "lld", "--design", "docs/design.md"], &own[..]].concat();
    let output = place.command(&arguments).env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(place.read("asked"), "");
}

#[test]
fn a_pipeline_sends_a_design_back_that_its_reviewers_do_not_approve() {
    let place = Place::new();
    place.file(
        "name: p\nreviewers:\n  gemini:\n    command: [gemini, -m, '${model}']\n    model: gemini-3-pro\nsteps:\n  \
         - name: design\n    agent: [claude, -p]\n    prompt: 'Design the change ${feedback}'\n  \
         - {name: review, gate: lld, design: task-notes/design.md, on_failure: {back_to: design}}\n",
    );
    place.mode("gemini", "revises");
    let (status, answer) = place.run(&[]);
    assert_eq!((status, &pipeline_support::outcomes(&answer)[1][..]), (0, "review passed"), "{answer}");
    assert_eq!(answer["steps"][0]["attempts"], 2, "{answer}");
    assert_eq!(answer["steps"][1]["reviews"][1]["verdict"], "APPROVED", "{answer}");
    assert!(place.read("prompts").contains("it has no documentation"), "{}", place.read("prompts"));
    for (wrong, message) in [
        ("{name: work, agent: [claude, -p], prompt: x, family: openai}", "works with models of anthropic"),
        ("{name: review, gate: lld}", "design"),
        ("{name: review, gate: lld, design: d.md}", "reviewers"),
        ("{name: review, gate: mechanical, design: d.md, by: [gemini]}", "asks no reviewer"),
    ] {
        place.file(&format!("name: p\nsteps:\n  - {wrong}\n"));
        let output = place.output(&["pipeline", "check", "p.yaml"]);
        assert!(pipeline_support::said(&output).contains(message), "{wrong}: {output:?}");
    }
}
