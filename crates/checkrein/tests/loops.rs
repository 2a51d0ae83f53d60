//! A loop ends: what repeats itself without anything changing is told, held back, and stopped, in every profile and with the clock as it is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod loop_support;
mod support;

use loop_support::{Session, rounds_until_halted};
use serde_json::{Value as Json, json};
use support::{AT_ONCE, decision, reason, shell_call};

/// After so many equal rounds, refused ones included, a loop of one call is halted at the latest (SPECIFICATION, "a loop ends").
const ENDS: u32 = 24;

const FAILING: &str =
    "running 3 tests\ntest a ... FAILED\ntest result: FAILED. 0 passed; 3 failed; finished in 0.12s";

#[test]
fn equal_failing_runs_end_in_a_halt_with_an_incident_in_every_profile() {
    for profile in ["interactive", "unattended", "strict"] {
        let mut session = Session::new(&format!("profile: {profile}\n"));
        let ended = rounds_until_halted(&mut session, |session, _| {
            session.call("cargo test", FAILING, true);
        });
        assert!(ended <= ENDS, "{profile}: after {ended}");
        let listed = session.environment.succeed(&["incidents"]);
        // Where nobody watches, equal results of tests end it before the loop does.
        let issue = if profile == "interactive" {
            "the same call again and again"
        } else {
            "attempts that do not change the result"
        };
        assert!(listed.contains(issue), "{profile}: {listed}");
        assert_eq!(decision(&session.call("ls", "", false).0), Some("deny"), "{profile}");
    }
}

#[test]
fn neither_pauses_nor_times_nor_refused_calls_nor_turns_hide_a_loop() {
    let mut pausing = Session::new("profile: unattended\n");
    let ended = rounds_until_halted(&mut pausing, |session, _| {
        session.call("sleep 6; cargo test", FAILING, true);
    });
    assert!(ended <= ENDS, "sleep: {ended}");

    // A run of which no effect is known is no look either.
    let mut napping = Session::new("");
    let ended = rounds_until_halted(&mut napping, |session, _| {
        session.call("sleep 0.3; python3 -m unittest discover -s tests", FAILING, true);
    });
    assert!(ended <= ENDS, "a nap: {ended}");

    let mut moving = Session::new("");
    let ended = rounds_until_halted(&mut moving, |session, round| {
        let output = format!(
            "[13:4{}:0{}] at 0x7ffe{:08x}: boom\nreal 0m5.{round:03}s\nFAILED in {round}.12s",
            round % 10,
            round % 7,
            round * 4096
        );
        session.call("./run.sh", &output, true);
    });
    assert!(ended <= ENDS, "times: {ended}");

    let mut alternating = Session::new("profile: unattended\n");
    let ended = rounds_until_halted(&mut alternating, |session, _| {
        session.call("cargo test", FAILING, true);
        session.call("cargo build", "error[E0308]: mismatched types\n --> src/main.rs:3:5", true);
    });
    assert!(ended <= ENDS, "two in turn: {ended}");

    let mut refused = Session::new("profile: unattended\n");
    let ended = rounds_until_halted(&mut refused, |session, round| {
        session.call("cargo test", FAILING, true);
        if round % 2 == 0 {
            session.call(&format!("rm -rf ~ /etc/{round}"), "", false);
        }
    });
    assert!(ended <= ENDS * 2, "refused calls in between: {ended}");
}

#[test]
fn neither_other_words_nor_looks_nor_empty_files_hide_a_loop() {
    const BOOM: &str = "FAIL x.test.js\nError: boom";
    type Command = fn(u32) -> String;
    let ways: [(&str, Command); 8] = [
        ("a comment", |round| format!("npm test # {round}")),
        ("a variable of the environment", |round| format!("N={round} npm test")),
        ("a line that is printed", |round| format!("echo {round}; npm test")),
        ("a wrapper", |round| format!("timeout {round}0 npm test")),
        ("a shell in the shell", |round| format!("bash -c 'npm test # {round}'")),
        ("a viewer", |round| format!("npm test 2>&1 | tail -n {round}")),
        ("a status thrown away", |round| format!("npm test || echo {round}")),
        ("a pause", |round| format!("sleep {round}; npm test")),
    ];
    for (what, command) in ways {
        let mut session = Session::new("");
        let ended = rounds_until_halted(&mut session, |session, round| {
            session.call(&command(round), BOOM, true);
        });
        assert!(ended <= ENDS, "{what}: {ended}");
        if what == "a pause" {
            // What waits and then succeeds may wait for something: it is told, never held up.
            continue;
        }
        let mut hidden = Session::new("");
        let ended = rounds_until_halted(&mut hidden, |session, round| {
            session.call(&command(round), BOOM, false);
        });
        assert!(ended <= ENDS + 4, "{what}, and it succeeds: {ended}");
    }

    // What the command says of its own beside it, and options that change nothing.
    let ways: [(&str, Command, Command); 2] = [
        (
            "a counter that is printed",
            |round| format!("echo try {round}; npm test"),
            |round| format!("try {round}\n{BOOM}"),
        ),
        ("other options", |round| format!("npm test -- --option-{round}"), |_| BOOM.to_owned()),
    ];
    for (what, command, output) in ways {
        let mut session = Session::new("");
        let ended = rounds_until_halted(&mut session, |session, round| {
            session.call(&command(round), &output(round), true);
        });
        assert!(ended <= ENDS, "{what}: {ended}");
    }

    let mut looking = Session::new("");
    let ended = rounds_until_halted(&mut looking, |session, round| {
        session.call("npm test", BOOM, true);
        session.call(&format!("ls src/{}", round % 5), &format!("file {}", round % 5), false);
        session.call(&format!("cat docs/{}", round % 7), &format!("text {}", round % 7), false);
    });
    assert!(ended <= ENDS, "looks in between: {ended}");

    let mut touching = Session::new("");
    let ended = rounds_until_halted(&mut touching, |session, round| {
        session.call("npm test", BOOM, true);
        session.call(&format!("touch file{round}"), "", false);
    });
    assert!(ended <= ENDS, "empty files in between: {ended}");
}

#[test]
fn numbers_that_shuffle_tests_are_turned_in_vain() {
    type Command = fn(u32) -> String;
    const BOOM: &str = "FAIL x.test.js\nError: boom";
    let ways: [(&str, Command); 4] = [
        ("attached", |round| format!("npm test -- --seed={round}")),
        ("apart", |round| format!("npm test -- --seed {round}")),
        ("of an order", |round| format!("npm test -- --random-order-seed={round}")),
        ("of pytest", |round| format!("python3 -m pytest --randomly-seed={round}")),
    ];
    for (what, command) in ways {
        let mut session = Session::new("");
        let ended = rounds_until_halted(&mut session, |session, round| {
            session.call(&command(round), &format!("Seed: {round}\n{BOOM}"), true);
        });
        assert!(ended <= ENDS, "{what}: {ended}");
        // It is refused like the same call.
        assert!(session.ran < ended, "{what}: {} ran", session.ran);
        let mut hidden = Session::new("");
        let ended = rounds_until_halted(&mut hidden, |session, round| {
            session.call(&command(round), &format!("Seed: {round}\n{BOOM}"), false);
        });
        assert!(ended <= ENDS + 4, "{what}, and it succeeds: {ended}");
    }
    // A program that is no run of tests does something else with each number.
    let mut sweep = Session::new("");
    for round in 0..12 {
        sweep.call(&format!("./simulate --seed={round}"), "converged", false);
    }
    let issues = sweep.bodies("issue");
    assert!(issues.iter().all(|issue| issue["kind"] != "stuck_loop"), "{issues:?}");
}

#[test]
fn tries_with_edits_between_and_runs_of_other_things_are_no_loop() {
    let mut session = Session::new("");
    for round in 0..10 {
        session.call("npm test", &format!("FAIL x.test.js:{round}\nError: {round} is not one"), true);
        session.call(&format!("cat src/{round}.js"), &format!("text {round}"), false);
        session.call(&format!("sed -i s/a/{round}/ src/a.js"), "", false);
        session.call("git status", &format!("changed: {round}"), false);
    }
    for round in 0..7 {
        session.call(&format!("SEED={round} ./simulate"), "converged", false);
    }
    for round in 0..12 {
        session.call(&format!("npm test -- case{round}"), "ok", false);
    }
    for round in 0..8 {
        session.call(&format!("echo {round}; npm test -- --case{round}"), "ok", false);
    }
    let issues = session.bodies("issue");
    assert!(issues.iter().all(|issue| issue["kind"] != "stuck_loop"), "{issues:?}");
    assert!(!session.is_halted());
}

// Source: seed 000-2
#[test]
fn one_error_from_calls_that_all_differ_ends_in_a_halt() {
    for profile in ["interactive", "unattended"] {
        for error in [
            "curl: (7) Failed to connect to localhost port 5432: Connection refused",
            "mkdir: cannot create directory: Permission denied",
            "cat: target: No such file or directory",
            "SyntaxError: invalid syntax",
            "TypeError: 'int' object is not callable",
        ] {
            let mut session = Session::new(&format!("profile: {profile}\n"));
            let ended = rounds_until_halted(&mut session, |session, round| {
                session.call(&format!("make target{round}"), error, true);
            });
            assert!((15..=30).contains(&ended), "{profile}: {error}: {ended}");
            let kinds: Vec<String> =
                session.bodies("intervention").iter().map(|made| made["kind"].to_string()).collect();
            assert!(kinds.len() >= 4, "{profile}: {error}: {kinds:?}");
        }
    }
}

#[test]
fn one_error_among_work_that_succeeds_is_held_up_by_nothing() {
    let mut session = Session::new("");
    for round in 0..30 {
        session.call(
            &format!("make target{round}"),
            "ld: cannot find -lfoo: No such file or directory",
            true,
        );
        session.call(&format!("make other{round}"), &format!("built {round}"), false);
    }
    for round in 0..9 {
        session.call(&format!("./deploy host{round}"), "ssh: connect to host: Connection refused", true);
    }
    assert!(session.bodies("intervention").iter().all(|made| made["kind"] == "soft_correction"));
}

#[test]
fn two_calls_in_turn_end_whatever_was_asked_for_and_however_questions_are_answered() {
    for prompt in ["make the tests pass", "go"] {
        let mut session = Session::new("");
        session.event("UserPromptSubmit", json!({ "prompt": prompt }));
        let ended = rounds_until_halted(&mut session, |session, _| {
            let output = "FAILED test_a.py::test_x - assert 1 == 2\n1 failed, 3 passed in 5.4s";
            session.call("pytest -q", output, true);
            session.call("pytest -q -x", &output.replace('3', "1"), true);
        });
        assert!(ended <= ENDS, "{prompt}: {ended}");
    }
}

// Source: seed 000-2
#[test]
fn refusals_do_not_run_out_by_themselves_and_a_change_lifts_them() {
    let mut session = Session::new(
        "profile: unattended\ninterventions:\n  hard_stop: false\n  checkpoint_rollback:\n    enabled: false\n",
    );
    for _ in 0..12 {
        session.call("cargo test", FAILING, true);
    }
    let ran = session.ran;
    for _ in 0..22 {
        let (before, _) = session.call("cargo test", FAILING, true);
        assert_eq!(decision(&before), Some("deny"));
        assert!(!reason(&before).contains("until action"), "{before}");
    }
    assert_eq!(session.ran, ran, "nothing of it ran any more");
    session.call("touch src/parser.rs", "", false);
    let (before, _) = session.call("cargo test # and again", FAILING, true);
    assert_eq!(decision(&before), Some("deny"), "neither a new time nor other words are a change");
    session.call("sed -i s/a/b/ src/parser.rs", "", false);
    assert_eq!(decision(&session.call("cargo test", "1 passed", false).0), None, "something has changed");
}

#[test]
fn a_refused_call_did_not_fail_and_a_script_that_is_not_there_is_no_unknown_code() {
    let mut session = Session::new("");
    let answers: Vec<Json> =
        (0..7).map(|_| session.call("python3 gone.py", "can't open file 'gone.py'", true).0).collect();
    assert_eq!(session.ran, 2);
    let asked = answers[2].to_string();
    assert!(asked.contains("`gone.py` is not there to be read"), "{asked}");
    assert!(asked.contains("failed 2 times before") && !asked.contains("refused"), "{asked}");
    // The question is for the user; what the agent may do instead stands in the record.
    let instead = session.bodies("review")[2]["alternatives"].to_string();
    assert!(
        instead.contains("make sure that the file is there") && !instead.contains("contained"),
        "{instead}"
    );
    let last = answers[6].to_string();
    assert!(last.contains("failed in the same way 2 times, and was refused 4 times"), "{last}");
    let told: Vec<String> =
        session.bodies("issue").iter().map(|issue| issue["summary"].to_string()).collect();
    assert!(
        told[0].contains("(`python3 gone.py`) failed in the same way 2 times, and was refused once"),
        "{told:?}"
    );
    assert!(told.iter().all(|told| told.contains("failed in the same way 2 times")), "{told:?}");
}

#[test]
fn honest_polls_and_looks_are_left_alone() {
    let mut session = Session::new("profile: unattended\n");
    for round in 0..12 {
        session.call("sleep 30; gh run view 4711", "in progress", false);
        session.call("git status", &format!("changed: {round}"), false);
    }
    for round in 0..12 {
        session.call("curl -s http://localhost:8080/health", &format!("starting, {round} of 12"), true);
    }
    assert_eq!(session.bodies("issue"), Vec::<Json>::new());
}

#[test]
fn tests_that_come_out_the_same_are_advised_or_halted_as_the_policy_says() {
    let stagnate = |configuration: &str| {
        let mut session = Session::new(configuration);
        for round in 0..14 {
            session.call("cargo test", FAILING, true);
            session.call(&format!("sed -i s/a{round}/b/ src/main.rs"), "", false);
        }
        session
    };
    assert!(stagnate("profile: unattended\n").is_halted());
    let advised = stagnate("profile: unattended\ninterventions:\n  two_strikes:\n    stagnation: advise\n");
    assert!(!advised.is_halted());
    assert!(!stagnate("").is_halted());
    assert!(stagnate("interventions:\n  two_strikes:\n    stagnation: halt\n").is_halted());
}

// Source: seed 004-58, 004-85
#[test]
fn equal_results_of_tests_end_an_unattended_session_within_fourteen_runs() {
    const SOME_PASS: &str = "22 failed, 3 passed in 0.12s";
    for profile in ["unattended", "strict"] {
        for fails in [false, true] {
            let mut session = Session::new(&format!("profile: {profile}\n"));
            let ended = rounds_until_halted(&mut session, |session, _| {
                session.call("pytest", SOME_PASS, fails);
            });
            assert!(ended <= 14, "{profile}, {fails}: after {ended}");
            assert_eq!(session.bodies("halted").len(), 1);
            let listed = session.environment.succeed(&["incidents"]);
            assert!(listed.contains("attempts that do not change"), "{profile}, {fails}: {listed}");
        }
    }
    let mut advised =
        Session::new("profile: unattended\ninterventions:\n  two_strikes:\n    stagnation: advise\n");
    let ended = rounds_until_halted(&mut advised, |session, _| {
        session.call("pytest", SOME_PASS, false);
    });
    assert!((15..=ENDS).contains(&ended), "the loop alone ends it later: {ended}");
}

#[test]
fn the_level_for_an_equal_call_never_falls_while_nothing_else_is_done() {
    let level = |answer: &Json| match decision(answer) {
        Some("deny") => 3,
        Some("ask") => 2,
        _ if answer.to_string().contains("checkrein hint") => 1,
        _ => 0,
    };
    for (profile, command) in [
        ("interactive", "make deploy"),
        ("interactive", "psql -c 'select 1'"),
        ("interactive", "cargo test"),
        ("unattended", "frobnicate --all"),
    ] {
        let mut session = Session::new(&format!("profile: {profile}\n"));
        let levels: Vec<u32> =
            (0..12).map(|_| level(&session.call(command, "FAIL x\nError: boom", true).0)).collect();
        assert!(levels.is_sorted() && levels.last() >= Some(&2), "{profile} {command}: {levels:?}");
    }
}

#[test]
fn one_message_counts_the_refusals_of_a_call_in_one_way() {
    let mut session = Session::new("");
    let mut counted = Vec::new();
    for round in 1..=12 {
        let said = reason(&session.call("cargo test", FAILING, true).0).to_owned();
        let all: Vec<&str> = said
            .split("was refused ")
            .skip(1)
            .filter_map(|rest| rest.split(' ').next().filter(|word| word.parse::<u32>().is_ok()))
            .collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{round}: {said}");
        counted.extend(all.first().and_then(|count| count.parse::<u32>().ok()));
    }
    // Each question that was put before is one.
    assert!(counted.len() > 3 && counted.windows(2).all(|pair| pair[1] == pair[0] + 1), "{counted:?}");
}

#[test]
fn how_often_a_call_failed_is_never_counted_backwards() {
    let mut session = Session::new("interventions:\n  enabled: false\n");
    let mut said = Vec::new();
    for _ in 0..40 {
        session.call("rm build.log", "rm: cannot remove 'build.log': Permission denied", true);
        session.call("ls", "build.log", false);
        let records = session.bodies("review");
        let factors = records.iter().rev().nth(1).unwrap()["risk"]["factors"].to_string();
        said.extend(
            factors.split("failed ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok()),
        );
    }
    assert!(said.len() > 30 && said.is_sorted(), "{said:?}");
}

#[test]
fn tests_that_failed_and_are_said_to_pass_are_remarked_at_the_end_of_the_turn() {
    let claim = json!({ "last_assistant_message": "I fixed it. All tests pass." });
    let mut near = Session::new("");
    near.call("cargo test", FAILING, true);
    let answer = near.event("Stop", claim.clone());
    assert!(
        answer["systemMessage"].as_str().unwrap_or_default().contains("failed when they were run last"),
        "{answer}"
    );

    let mut alone = Session::new("profile: unattended\n");
    alone.call("cargo test", FAILING, true);
    let answer = alone.event("Stop", claim.clone());
    assert_eq!(answer["decision"], "block", "{answer}");
    assert_eq!(alone.event("Stop", claim.clone()), json!({}), "it is told once");

    let mut honest = Session::new("profile: unattended\n");
    honest.call("cargo test", FAILING, true);
    honest.call("cargo test", "test result: ok. 3 passed; 0 failed", false);
    assert_eq!(honest.event("Stop", claim), json!({}));
}

// Source: seed 004-12, 004-13, 004-19, 004-20, 004-72
#[test]
fn new_work_that_nobody_asked_for_is_turned_down_and_then_ends_the_session() {
    let offer =
        json!({ "last_assistant_message": "I've fixed the parser. Should I continue with the lexer?" });
    let mut alone = Session::new("profile: unattended\n");
    alone.call("cat README.md", "# project", false);
    let first = alone.event("Stop", offer.clone());
    assert_eq!(first["decision"], "block", "{first}");
    let second = alone.event("Stop", offer.clone());
    assert_eq!(second["continue"], false, "{second}");
    assert_eq!(decision(&alone.call("ls", "", false).0), Some("deny"));
    assert!(alone.environment.succeed(&["incidents"]).contains("new tasks that nobody asked for"));
    // It is halted and reported; another end of the turn adds nothing.
    alone.event("Stop", offer.clone());
    assert_eq!(incidents(&alone).len(), 1);

    // What a sub-agent offers was answered by nobody, so its agent has not been told yet.
    let parent = Session::new("profile: unattended\n");
    assert_eq!(parent.event("SubagentStop", offer.clone()), json!({}));
    let first = parent.event("Stop", offer.clone());
    assert_eq!(first["decision"], "block", "{first}");
    assert_eq!(parent.event("Stop", offer.clone())["continue"], false);

    let near = Session::new("");
    assert_eq!(near.event("Stop", offer), json!({}), "the user decides about it");
}

// Source: seed 000-86
#[test]
fn hints_of_ones_own_stand_in_one_file_too() {
    let named = |file: &str| format!("interventions:\n  soft_correction:\n    custom_prompts_path: {file}\n");
    let hint = |configuration: &str, prompts: &str| {
        let mut session = Session::with_files(configuration, &[("prompts.yaml", prompts)]);
        let said: Vec<Json> = (0..4).map(|_| session.call("ls", "a b", false).1).collect();
        (said[3]["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned(), session)
    };
    let prompts = "any: never said\nstuck_loop: \"Hm: {summary}\"\n";
    assert!(hint(&named("prompts.yaml"), prompts).0.starts_with("Hm: the same call"));
    assert!(hint("", prompts).0.contains("stuck loop"), "nobody names the file");
    assert_eq!(hint(&named("prompts.yaml"), "any: Hm\n").0, "Hm");
    let (text, session) = hint(&named("prompts.yaml"), "stuck_lop: Hm\n");
    assert!(text.contains("stuck loop"), "the built-in text is said: {text}");
    let wrong = session.environment.checkrein(&["config", "check"]);
    let error = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(error.contains("line 1: no pattern is called `stuck_lop`"), "{error}");
}

// Source: seed 000-68, 000-98
#[test]
fn what_a_stopped_session_left_in_temporary_directories_is_moved_into_the_report_if_that_is_wanted() {
    for wanted in [false, true] {
        let mut session =
            Session::new(&format!("interventions:\n  emergency_stop:\n    auto_cleanup: {wanted}\n"));
        let temporary = tempfile::tempdir_in("/tmp").unwrap();
        let left = temporary.path().join("left.txt");
        session.call(&format!("touch {}", left.display()), "", false);
        std::fs::write(&left, "text").unwrap();
        rounds_until_halted(&mut session, |session, _| {
            session.call("cargo test", FAILING, true);
        });
        assert_eq!(left.exists(), !wanted);
        let incidents = session.environment.state().join("incidents");
        let report = std::fs::read_dir(incidents).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(report.join("report.md")).unwrap();
        assert_eq!(text.contains("## Moved away"), wanted, "{text}");
        if wanted {
            assert_eq!(std::fs::read_to_string(report.join("left/1-left.txt")).unwrap(), "text");
        }
    }
}

#[test]
fn a_question_about_a_loop_says_that_it_is_one_and_what_to_do() {
    for (client, refused) in [("cli", false), ("sdk-cli", true)] {
        let session = Session::new("");
        session.environment.write("tests/test_a.py", "import unittest\n");
        let mut asked = 0;
        for number in 1..=11 {
            let call = shell_call(&format!("call-{number}"), "python3 -m unittest tests.test_a", json!({}));
            let payload = session.environment.payload("s", "PreToolUse", call);
            let answer = session.environment.answer_with(&payload, &[("CLAUDE_CODE_ENTRYPOINT", client)]);
            if matches!(decision(&answer), Some("ask" | "deny")) {
                asked += 1;
                let said = reason(&answer);
                assert!(said.contains("in a loop"), "{number}: {said}");
                // What to do instead is for the agent: a user who is asked reads why alone.
                assert_eq!(said.contains("Instead: "), refused, "{number}: {said}");
                assert!(!said.contains("1 active issues"), "{number}: {said}");
                if refused {
                    assert!(said.contains("before something has changed"), "{number}: {said}");
                    assert!(!said.contains("also not in another form"), "{number}: {said}");
                }
            }
            let error = format!("Exit code 1\n{FAILING}");
            let call = shell_call(
                &format!("call-{number}"),
                "python3 -m unittest tests.test_a",
                json!({ "error": error }),
            );
            session.event("PostToolUseFailure", call);
        }
        assert!(asked > 2, "{client}: {asked}");
    }
}

#[test]
fn a_report_on_a_stop_for_people_names_no_field_and_no_kind_by_its_name_on_the_wire() {
    let mut session = Session::new("profile: unattended\n");
    rounds_until_halted(&mut session, |session, _| {
        session.call("cargo test", FAILING, true);
    });
    let id = incidents(&session)[0]["id"].as_str().unwrap().to_owned();
    let report = session.environment.succeed(&["incident", "show", &id]);
    assert!(
        report.contains("Timeline") && report.contains("noticed the same call again and again"),
        "{report}"
    );
    let quoted = |line: &str| line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    for line in report.lines() {
        let plain = quoted(line);
        let wire = plain.split_whitespace().find(|word| word.contains('_') || *word == "escalate:");
        assert_eq!(wire, None, "{line}\n{report}");
    }
}

/// The reports on stops, oldest first.
fn incidents(session: &Session) -> Vec<Json> {
    let text = session.environment.succeed(&["incidents", "--json"]);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

// Source: seed 000-59, 000-68
#[test]
fn a_report_on_a_stop_says_how_it_began_in_what_and_what_is_left() {
    let mut session = Session::new(AT_ONCE);
    session.event("UserPromptSubmit", json!({ "prompt": "read the settings, but do not commit" }));
    session.call("echo a > scratch.txt", "", false);
    session.environment.write("scratch.txt", "a\n");
    let mut reminder = String::new();
    for number in 0..12 {
        let (before, after) = session.call(
            &format!("cat nowhere/{number}.conf"),
            &format!("cat: nowhere/{number}.conf: No such file or directory"),
            true,
        );
        let text = after["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        if text.contains("The task is") {
            text.clone_into(&mut reminder);
        }
        if reason(&before).contains("halted") {
            break;
        }
    }
    for part in [
        "read the settings",
        "the user says: do not commit",
        "different approach",
        "No such file or directory`",
    ] {
        assert!(reminder.contains(part), "{part} is missing in {reminder}");
    }
    let reports = incidents(&session);
    let report = &reports[0];
    assert!(
        report["root_cause"]
            .as_str()
            .unwrap()
            .contains("first, `Bash cat nowhere/0.conf` failed: cat: nowhere/0.conf: No such file"),
        "{report}"
    );
    let context = &report["context"];
    assert_eq!(context["profile"], "interactive", "{report}");
    assert_eq!(context["goals"][1], "read the settings, but do not commit", "{report}");
    assert_eq!(context["detections"][0]["pattern"], "repetitive_errors", "{report}");
    assert!(context["left"].to_string().contains("scratch.txt"), "{report}");
    assert!(report["impact"]["processes"].as_u64().unwrap() > 3, "{report}");
}

// Source: seed 000-8
#[test]
fn what_was_told_to_leave_its_scope_names_the_places() {
    let mut session = Session::new(AT_ONCE);
    let mut said = String::new();
    // What lies below `/tmp`, as this project does, counts as a place where every program works.
    for path in ["/etc/hosts", "/etc/hostname", "/var/www/index.html"] {
        let (_, after) = session.call(&format!("cat {path}"), path, false);
        said += after["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    }
    for part in ["scope creep", "Outside are: ", "/etc/hostname", "Work belongs in", "make the failing tests"]
    {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
}

/// What asks a person each time is no way out of a loop: whoever was asked did not say yes, whatever the next call prints or waits for.
#[test]
fn questions_that_nobody_answers_count_however_the_next_call_is_worded() {
    type Command = fn(u32) -> String;
    let ways: [(&str, Command); 3] = [
        ("a wrapper", |round| format!("timeout {} cargo test", 30 + round)),
        ("a line that is printed", |round| format!("echo attempt {round}; cargo test")),
        ("a pause", |round| format!("sleep {}; cargo test", 1 + round % 3)),
    ];
    for (what, command) in ways {
        let mut session = Session::new("");
        let mut asked = 0;
        let ended = rounds_until_halted(&mut session, |session, round| {
            let (before, _) = session.call(&command(round), FAILING, true);
            asked += u32::from(decision(&before) == Some("ask"));
        });
        assert!(ended <= ENDS, "{what}: {ended}");
        assert!(asked > 0, "{what}: nothing was asked about");
    }
}
