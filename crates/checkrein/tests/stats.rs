//! `checkrein stats`: sums over the records, in lines that fit 80 columns.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, shell_call};

fn told(environment: &TestEnvironment, more: &[&str]) -> Json {
    let arguments: Vec<&str> = ["stats", "--json"].iter().chain(more).copied().collect();
    serde_json::from_str(&environment.succeed(&arguments)).unwrap()
}

fn count(stats: &Json, field: &str, name: &str) -> u64 {
    let all = stats[field].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).map_or(0, |one| one["count"].as_u64().unwrap())
}

#[test]
fn an_empty_history_says_so() {
    let environment = TestEnvironment::new();
    let said = environment.succeed(&["stats"]);
    assert_eq!(said.trim(), "nothing is recorded: the last 30 days, all projects");
    assert_eq!(told(&environment, &[])["calls"], 0);
}

// Source: seed 002-60, 002-61, 002-62, 002-63, 002-64
#[test]
fn calls_verdicts_answers_and_opinions_are_counted() {
    let environment = TestEnvironment::new();
    fs::write(environment.home().join("diary.md"), "dear diary\n").unwrap();
    for command in ["ls", "cat README.md", "rm src/main.rs"] {
        environment.bash("s", command);
    }
    environment.bash("s", "rm ../diary.md");
    environment.succeed(&["wrong", "LAST"]);
    environment.bash("t", "rm ../diary.md");
    let ended = environment.payload("t", "Stop", json!({}));
    environment.answer_to(&ended);
    let stats = told(&environment, &[]);
    assert_eq!((&stats["sessions"], &stats["calls"]), (&json!(2), &json!(5)), "{stats}");
    assert_eq!(count(&stats, "verdicts", "escalate"), 2, "{stats}");
    assert_eq!(count(&stats, "questions", "no answer"), 1, "{stats}");
    assert_eq!(count(&stats, "questions", "open"), 1, "{stats}");
    // An answer has one word wherever people read it.
    let (log, sums) = (environment.succeed(&["log"]), environment.succeed(&["stats"]));
    assert!(log.contains("asked: nobody answered") && sums.contains("nobody answered"), "{log}\n{sums}");
    assert_eq!(stats["wrong"], 1);
    // What became of the calls is told in the same numbers as everywhere else.
    let listed = environment.succeed(&["session", "list"]);
    let all = stats["became"].as_array().unwrap();
    assert_eq!(all.iter().map(|one| one["count"].as_u64().unwrap()).sum::<u64>(), 5, "{stats}");
    for one in all.iter().filter(|one| one["count"] != 0) {
        let word = one["name"].as_str().unwrap();
        let in_list: u64 = listed
            .split([',', ':'])
            .filter_map(|part| part.trim().strip_suffix(word)?.trim().parse::<u64>().ok())
            .sum();
        assert_eq!(json!(in_list), one["count"], "{word}: {listed}");
    }
    assert!(stats["saved"].as_u64().unwrap() > 0, "{stats}");
    let rule = stats["rules"].as_array().unwrap().iter().find(|one| one["rule"] == "confirm_outside_loss");
    assert_eq!(rule.unwrap()["stopped"], 2, "{stats}");
    assert_eq!(rule.unwrap()["wrong"], 1, "{stats}");
    let said = environment.succeed(&["stats", "--since", "7d"]);
    assert!(said.contains("the last 7 days, all projects: 5 calls in 2 sessions"), "{said}");
    assert!(said.contains('█') && said.lines().all(|line| line.chars().count() <= 80), "{said}");
}

#[test]
fn here_are_the_sessions_of_this_project_and_time_is_kept_to() {
    let environment = TestEnvironment::new();
    environment.bash("s", "ls");
    let other = environment.home().join("other");
    fs::create_dir_all(&other).unwrap();
    let mut fields = shell_call("call", "ls", json!({}));
    fields["cwd"] = json!(other);
    environment.answer_to(&environment.payload("elsewhere", "PreToolUse", fields));
    assert_eq!(told(&environment, &[])["calls"], 2);
    assert_eq!(told(&environment, &["--here"])["calls"], 1);
    assert_eq!(told(&environment, &["--since", "0m"])["calls"], 0);
}

#[test]
fn what_cannot_be_read_is_said_and_not_left_out_in_silence() {
    let environment = TestEnvironment::new();
    environment.bash("s", "ls");
    environment.bash("t", "ls");
    let ledger = environment.state().join("sessions/s/ledger.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    fs::write(&ledger, text.replace("\"type\"", "\u{1b}[31m")).unwrap();
    let output = environment.checkrein(&["stats"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 call in"),
        "{output:?}"
    );
    assert!(said.contains("session s: ") && said.contains("`checkrein audit verify`"), "{said}");
}
