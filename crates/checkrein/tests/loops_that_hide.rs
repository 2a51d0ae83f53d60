//! Loops that hide: what is made up anew in each failure, another sub-agent, another conversation, another spelling; and work that only looks
//! like one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    dead_code,
    reason = "a test that cannot go on should panic; not all of what supports tests is used here"
)]

mod loop_support;
mod support;

use loop_support::{Session, rounds_until_halted};
use serde_json::{Value as Json, json};
use support::{decision, shell_call};

/// After so many equal rounds a loop of one call is halted at the latest (SPECIFICATION, "a loop ends").
const ENDS: u32 = 24;

const FAILING: &str =
    "FAILED tests/test_login.py::test_flaky - AssertionError: assert 'a' == 'b'\n1 failed, 4 passed in 0.52s";

/// A word that no other round has.
fn made_up(round: u32) -> String {
    let mixed = u64::from(round).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{mixed:016x}")
}

#[test]
fn what_is_made_up_for_each_failure_hides_no_loop() {
    let words = ["owl", "fox", "elk", "bee", "cat", "dog", "ant"];
    let texts: [fn(u32) -> String; 5] = [
        |round| FAILING.replace("'a'", &format!("'{}'", &made_up(round)[..6])),
        |round| {
            format!(
                "E ConnectionRefusedError: 127.0.0.1:{} request id {}\n1 failed, 4 passed in 0.52s",
                40000 + round * 7,
                made_up(round)
            )
        },
        |round| {
            let mut lines = ["FAILED a.py::one - E", "FAILED b.py::two - E", "FAILED c.py::three - E"];
            lines.rotate_left(round as usize % 3);
            format!("{}\n3 failed, 4 passed in 0.52s", lines.join("\n"))
        },
        |round| {
            format!(
                "--- FAIL: TestLogin (0.{round:02}s)\n    login_test.go:33: got token \"{}\", want \"x\"\nFAIL\tcorp/app\t0.{round:02}s",
                made_up(round)
            )
        },
        |round| format!("error: request {} was refused", made_up(round)),
    ];
    for (place, text) in texts.iter().enumerate() {
        for profile in ["interactive", "unattended"] {
            let mut session = Session::new(&format!("profile: {profile}\n"));
            let ended = rounds_until_halted(&mut session, |session, round| {
                session.call("pytest tests/test_login.py", &text(round), true);
            });
            assert!(ended <= ENDS, "text {place}, {profile}: {ended}");
        }
    }
    let mut spoken = Session::new("");
    let ended = rounds_until_halted(&mut spoken, |session, round| {
        let text = FAILING.replace("'a'", &format!("'{}'", words[round as usize % words.len()]));
        session.call("pytest tests/test_login.py", &text, true);
    });
    assert!(ended <= ENDS, "words: {ended}");
}

#[test]
fn spellings_and_edits_of_comments_hide_no_loop_where_a_user_is_near() {
    let spellings = [
        "pytest tests/test_login.py",
        "python -m pytest tests/test_login.py",
        "python3 -m pytest -q tests/test_login.py",
        "pytest  tests/test_login.py -x",
        "./venv/bin/pytest tests/test_login.py",
        "pytest -v tests/test_login.py 2>&1",
        "pytest tests/test_login.py | tail -20",
        "pytest tests/test_login.py; echo done",
        "cd . && pytest tests/test_login.py",
        "PYTHONPATH=. pytest tests/test_login.py",
    ];
    let mut spelled = Session::new("");
    let ended = rounds_until_halted(&mut spelled, |session, round| {
        session.call(spellings[round as usize % spellings.len()], FAILING, true);
    });
    assert!(ended <= 34, "spellings: {ended}");

    let mut commented = Session::new("");
    let ended = rounds_until_halted(&mut commented, |session, round| {
        edit(session, round, &format!("x = 1\n# try {round}\n"));
        session.call("pytest tests/test_login.py", FAILING, true);
    });
    assert!((20..=34).contains(&ended), "comments: {ended}");
}

#[test]
fn a_failure_that_many_sub_agents_come_to_is_a_loop_of_who_sends_them() {
    for profile in ["interactive", "unattended"] {
        let session = Session::new(&format!("profile: {profile}\n"));
        let mut ended = None;
        for round in 1..=60 {
            let call = |more: Json| {
                let mut all = shell_call(&format!("sub-{round}"), "pytest tests/test_login.py", more);
                all["agent_id"] = json!(format!("agent-{round}"));
                all["agent_type"] = json!("general-purpose");
                all
            };
            let before = session.event("PreToolUse", call(json!({})));
            if !matches!(decision(&before), Some("deny" | "ask")) {
                session
                    .event("PostToolUseFailure", call(json!({ "error": format!("Exit code 1\n{FAILING}") })));
            }
            if session.is_halted() {
                ended = Some(round);
                break;
            }
        }
        assert!(ended.is_some_and(|ended| ended <= 48), "{profile}: {ended:?}");
    }
}

#[test]
fn a_loop_goes_on_across_cleared_conversations() {
    for profile in ["interactive", "unattended"] {
        let session = Session::new(&format!("profile: {profile}\n"));
        let environment = &session.environment;
        let mut name = "s".to_owned();
        let ended = (1..=40).find(|round| {
            if round % 2 == 0 {
                let end = environment.payload(&name, "SessionEnd", json!({ "reason": "clear" }));
                environment.answer_to(&end);
                name = format!("s{round}");
                let start = environment.payload(&name, "SessionStart", json!({ "source": "clear" }));
                environment.answer_to(&start);
            }
            let call = |more: Json| shell_call(&format!("call-{round}"), "pytest tests/test_login.py", more);
            let before = environment.answer_to(&environment.payload(&name, "PreToolUse", call(json!({}))));
            if !matches!(decision(&before), Some("deny" | "ask")) {
                let failed = call(json!({ "error": format!("Exit code 1\n{FAILING}") }));
                environment.answer_to(&environment.payload(&name, "PostToolUseFailure", failed));
            }
            let records = environment.records(&name);
            records.iter().any(|record| record["body"]["type"] == "halted")
        });
        assert!(ended.is_some_and(|ended| ended <= 34), "{profile}: {ended:?}");
    }
}

#[test]
fn another_task_after_a_cleared_conversation_begins_anew() {
    let mut session = Session::new("");
    for round in 0..3 {
        session.call(&format!("cat src/{round}.rs"), &format!("text {round}"), false);
    }
    let environment = &session.environment;
    environment.answer_to(&environment.payload("s", "SessionEnd", json!({ "reason": "clear" })));
    environment.answer_to(&environment.payload("t", "SessionStart", json!({ "source": "clear" })));
    let carried = environment.records("t").iter().any(|record| record["body"]["name"] == "checkrein.carried");
    assert!(!carried, "nothing of it matters");
}

/// Edits a file as the client does.
fn edit(session: &Session, round: u32, text: &str) {
    let path = session.environment.project().join("main.c");
    let call = |more: Json| {
        let mut all = json!({
            "tool_name": "Write",
            "tool_input": { "file_path": path, "content": text },
            "tool_use_id": format!("edit-{round}"),
        });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    session.event("PreToolUse", call(json!({})));
    std::fs::write(&path, text).unwrap();
    session.event("PostToolUse", call(json!({ "tool_response": { "filePath": path } })));
}

#[test]
fn to_edit_to_build_and_to_run_ones_own_program_is_ordinary_work() {
    for build in ["gcc -o app main.c", ""] {
        let mut session = Session::new("");
        let app = session.environment.project().join("app");
        for round in 1..=10 {
            edit(&session, round, &format!("int main() {{ return {round}; }}\n"));
            std::fs::write(&app, format!("\u{7f}ELF {}", made_up(round))).unwrap();
            if !build.is_empty() {
                session.call(build, "", false);
            }
            let run = if build.is_empty() { "gcc -o app main.c && ./app" } else { "./app" };
            let ran = session.ran;
            let (before, _) = session.call(run, &format!("wrong answer {round}"), true);
            assert_eq!(session.ran, ran + 1, "round {round}, `{run}`: {before}");
        }
    }
}
