//! Governance through the real programs: tripwires that count and halt, flags that become tickets, trust that is used up,
//! blueprints that are pinned.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use serde_json::{Value as Json, json};
use support::{AT_ONCE, TestEnvironment, decision, reason, shell_call};

fn environment(configuration: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", configuration);
    environment
}

fn json_lines(text: &str) -> Vec<Json> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const COUNTING: &str = "governance:
  tripwires:
    - id: three_listings
      condition: count > 3
      count: {of: 'action.command == \"ls\"', within: session}
      on_fail: {decision: halt, reason: three listings are enough, flag: high}
";

/// The issues and the interventions of a session that are about this pattern: severity and actions of the first, rung of the others.
fn of_pattern(environment: &TestEnvironment, session: &str, kind: &str) -> (Vec<Json>, Vec<Json>) {
    let records = environment.records(session);
    let bodies = || records.iter().map(|record| &record["body"]);
    let issues = bodies().filter(|body| body["type"] == "issue" && body["kind"] == kind);
    let made = bodies().filter(|body| body["type"] == "intervention" && body["pattern"] == kind);
    let issue = |body: &Json| json!([body["severity"], body["actions"]]);
    (issues.map(issue).collect(), made.map(|body| body["kind"].clone()).collect())
}

/// A call that runs, with its outcome.
fn ran(environment: &TestEnvironment, session: &str, id: &str, command: &str) -> Json {
    let call = environment.payload(session, "PreToolUse", shell_call(id, command, json!({})));
    let answer = environment.answer_to(&call);
    if decision(&answer).is_some_and(|decision| decision != "allow") {
        return answer;
    }
    let response = json!({ "tool_response": { "stdout": format!("of {id}") } });
    environment.answer_to(&environment.payload(session, "PostToolUse", shell_call(id, command, response)))
}

// Source: seed 001-75
#[test]
fn a_pattern_of_ones_own_is_an_issue_and_climbs_the_ladder() {
    let environment = environment(&format!(
        "{AT_ONCE}patterns:\n  custom_patterns:\n    - name: many_listings\n      of: 'action.command.startsWith(\"ls\")'\n      \
         at_least: 3\n      within: session\n      severity: medium\n      reason: three listings\n      alternatives: [read a file]\n"
    ));
    for number in 1..=3 {
        ran(&environment, "s", &format!("c{number}"), &format!("ls src/{number}"));
    }
    let (issues, made) = of_pattern(&environment, "s", "own_pattern");
    assert_eq!(issues, [json!(["medium", [3]])], "it is an issue, with its severity and the action");
    assert_eq!(made, Vec::<Json>::new(), "the hint with the call was the first word");
    let told = ran(&environment, "s", "c4", "ls src/4");
    assert!(told.to_string().contains("many_listings") && told.to_string().contains("2 times"), "{told}");
    for number in 5..=8 {
        ran(&environment, "s", &format!("c{number}"), &format!("ls src/{number}"));
    }
    let (_, made) = of_pattern(&environment, "s", "own_pattern");
    let rungs: Vec<&str> = made.iter().filter_map(Json::as_str).collect();
    assert_eq!(rungs.first(), Some(&"soft_correction"), "{rungs:?}");
    assert!(rungs.contains(&"resource_throttling"), "as far as its severity goes: {rungs:?}");
    assert!(!rungs.contains(&"checkpoint_rollback") && !rungs.contains(&"emergency_stop"), "{rungs:?}");
    // One that never fires says nothing.
    ran(&environment, "other", "o1", "ls src");
    assert_eq!(of_pattern(&environment, "other", "own_pattern").0, Vec::<Json>::new());
}

#[test]
fn a_pattern_of_ones_own_puts_nothing_off_that_is_built_in() {
    let own = "patterns:\n  custom_patterns:\n    - name: each_call\n      of: 'true'\n      at_least: 1\n      within: session\n      \
               severity: low\n      reason: a call\n";
    let rungs = |configuration: &str| {
        let environment = environment(configuration);
        let mut strictest = 0;
        for number in 0..12 {
            let id = format!("c{number}");
            let call = environment.payload("s", "PreToolUse", shell_call(&id, "make", json!({})));
            let answer = environment.answer_to(&call);
            if decision(&answer).is_some_and(|decision| decision != "allow") {
                strictest += 1;
                continue;
            }
            let response = json!({ "error": "Exit code 2\nmake: no rule" });
            environment.answer_to(&environment.payload(
                "s",
                "PostToolUseFailure",
                shell_call(&id, "make", response),
            ));
        }
        (of_pattern(&environment, "s", "stuck_loop").1, strictest)
    };
    // With the pauses of the default: what is done about one's own pattern would fill them.
    let (alone, refused) = rungs("");
    let (beside, refused_beside) = rungs(own);
    assert!(!alone.is_empty(), "there is a loop");
    assert_eq!(alone, beside);
    assert!(refused_beside >= refused, "{refused_beside} {refused}");
}

// Source: seed 001-24
#[test]
fn different_calls_that_are_refused_for_one_reason_are_one_issue() {
    let environment = environment(AT_ONCE);
    let mut told = String::new();
    for number in 0..6 {
        told = environment.bash("s", &format!("rm -rf /etc/service-{number}")).to_string();
    }
    let (issues, made) = of_pattern(&environment, "s", "repeated_verdicts");
    assert_eq!(issues.len(), 1, "{issues:?}");
    assert_eq!(issues[0][0], "medium");
    assert!(!made.is_empty(), "{told}");
    // Calls that pass, and one that is refused now and then, are none.
    for number in 0..12 {
        let command =
            if number % 6 == 0 { format!("rm -rf /etc/{number}") } else { format!("ls src/{number}") };
        ran(&environment, "t", &format!("t{number}"), &command);
    }
    assert_eq!(of_pattern(&environment, "t", "repeated_verdicts").0, Vec::<Json>::new());
}

// Source: seed 003-35
#[test]
fn a_tripwire_counts_over_the_session_and_halts_it() {
    let environment = environment(COUNTING);
    for _ in 0..3 {
        assert_eq!(environment.bash("s", "ls"), json!({}));
    }
    assert_eq!(environment.bash("other", "ls"), json!({}), "another session counts for itself");
    let halted = environment.bash("s", "ls");
    assert_eq!(decision(&halted), Some("deny"));
    assert!(reason(&halted).contains("three listings are enough"), "{halted}");
    let next = environment.bash("s", "pwd");
    assert_eq!(decision(&next), Some("deny"), "a halt holds for what comes after it");
    assert!(environment.records("s").iter().any(
        |record| record["body"]["type"] == "halted" && record["body"]["by"] == "tripwire three_listings"
    ));
    environment.succeed(&["resume", "s"]);
    assert_eq!(environment.bash("s", "pwd"), json!({}));
    environment.succeed(&["audit", "verify"]);
}

/// A mistake in a file that came with the project lifts nothing of what the user says for all projects.
#[test]
fn what_the_person_says_holds_beside_a_mistake_of_somebody_else() {
    for mistake in ["x: 1\n", "profile: [", "governance: {tripwires: 5}\n"] {
        let environment = environment(&format!("profile: strict\n{COUNTING}"));
        environment.write("checkrein.yaml", mistake);
        let changing = environment.bash("s", "touch new");
        assert_eq!(decision(&changing), Some("deny"), "a strict profile asks nobody: {changing}");
        for _ in 0..3 {
            assert_eq!(decision(&environment.bash("s", "ls")), None, "{mistake}");
        }
        let halted = environment.bash("s", "ls");
        assert!(reason(&halted).contains("three listings are enough"), "{mistake}: {halted}");
    }
}

#[test]
fn what_is_counted_survives_the_loss_of_the_state() {
    let environment = environment(COUNTING);
    for _ in 0..3 {
        environment.bash("s", "ls");
    }
    for name in ["state", "state.twin"] {
        std::fs::remove_file(environment.state().join("sessions/s").join(name)).ok();
    }
    assert_eq!(decision(&environment.bash("s", "ls")), Some("deny"));
}

// Source: seed 001-44, 001-75
#[test]
fn an_own_pattern_asks_when_it_is_complete_and_a_test_takes_it_back() {
    let environment = environment(
        "patterns:
  custom_patterns:
    - name: edits_without_test
      of: effects.exists(e, e.kind == \"file_create\" || e.kind == \"file_modify\")
      at_least: 3
      within: 20 actions
      without: action.command == \"cargo test\"
      severity: high
      reason: three edits and no test in between
",
    );
    let edit = |number: u32| environment.bash("s", &format!("echo x > src/{number}.rs"));
    assert_eq!([decision(&edit(1)), decision(&edit(2))], [None, None]);
    let third = edit(3);
    assert_eq!(decision(&third), Some("ask"));
    assert!(reason(&third).contains("three edits and no test in between"), "{third}");
    environment.bash("s", "cargo test");
    assert_eq!([decision(&edit(4)), decision(&edit(5))], [None, None]);
    assert_eq!(decision(&edit(6)), Some("ask"));
}

// Source: seed 003-15, 003-16, 003-18, 003-30
#[test]
fn a_flag_becomes_a_ticket_that_a_person_closes_and_the_agent_cannot() {
    let environment = environment(
        "governance:
  tripwires:
    - {id: watched, condition: 'action.command.contains(\"date\")', on_fail: {decision: ok, flag: medium, reason: dates are watched}}
",
    );
    assert_eq!(environment.bash("s", "date"), json!({}), "flag + ok: the action goes ahead (seed 003)");
    assert_eq!(environment.bash("s", "ls"), json!({}));
    let open = json_lines(&environment.succeed(&["reviews", "--open", "--json"]));
    assert_eq!(open.len(), 1);
    assert_eq!((open[0]["severity"].as_str(), open[0]["about"].as_str()), (Some("medium"), Some("action")));
    let id = open[0]["id"].as_str().unwrap();

    let refused = environment.bash("s", &format!("checkrein ticket close {id} --note fine"));
    assert_eq!(decision(&refused), Some("deny"), "{refused}");
    let inside = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["reviews", "close", id, "--note", "fine"])
        .env("CLAUDECODE", "1")
        .output()
        .unwrap();
    assert!(!inside.status.success(), "a process of the agent is no person");

    environment.succeed(&["reviews", "close", id, "--note", "it may know the time"]);
    let left = json_lines(&environment.succeed(&["reviews", "--open", "--json"]));
    assert!(left.iter().all(|ticket| ticket["id"] != id), "{left:?}");
    let all = json_lines(&environment.succeed(&["reviews", "--json"]));
    assert_eq!(all[0]["closed"], "it may know the time");
    assert!(!environment.checkrein(&["reviews", "close", id, "--note", "again"]).status.success());
    assert!(!environment.checkrein(&["reviews", "close", "s:99", "--note", "what"]).status.success());
}

// Source: seed 003-22
#[test]
fn trust_is_used_up_by_refusals_and_a_person_is_asked_once() {
    let environment = environment("governance: {trust_debt: {decay: {decay_fraction: 0}}}\n");
    for _ in 0..4 {
        assert_eq!(decision(&environment.bash("s", "rm -rf /etc")), Some("deny"));
    }
    let session = &json_lines(&environment.succeed(&["sessions", "--json"]))[0];
    assert_eq!(
        (session["trust_debt"].as_f64(), session["posture"].as_str()),
        (Some(8.0), Some("restricted_mode"))
    );
    assert_eq!(environment.succeed(&["reviews", "--open"]).trim(), "nothing waits for your review");
    environment.bash("s", "rm -rf /etc");
    environment.bash("s", "rm -rf /etc");
    let open = json_lines(&environment.succeed(&["reviews", "--open", "--json"]));
    assert_eq!(open.iter().filter(|ticket| ticket["about"] == "tier").count(), 1, "{open:?}");
    let shown = environment.succeed(&["show", "--verbose", open[0]["id"].as_str().unwrap()]);
    assert!(
        shown.contains("trust debt 10.00") && shown.contains("asks the user to look at the tier"),
        "{shown}"
    );

    environment.succeed(&["reviews", "close", open[0]["id"].as_str().unwrap(), "--note", "spoke with it"]);
    let session = &json_lines(&environment.succeed(&["sessions", "--json"]))[0];
    assert_eq!(session["posture"], "normal");
    environment.succeed(&["audit", "verify"]);
}

// Source: seed 003-25
#[test]
fn a_person_has_one_agent_overseen_more_closely_across_its_sessions() {
    let environment = environment("governance: {thresholds: {ok: 1, nudge: 1, escalate: 1}}\n");
    assert_eq!(environment.succeed(&["agent", "list"]).trim(), "no session of an agent is recorded yet");
    for session in ["one", "two"] {
        environment.answer_to(&environment.payload(session, "SessionStart", json!({ "source": "startup" })));
        environment.bash(session, "ls");
    }
    let agents =
        |environment: &TestEnvironment| json_lines(&environment.succeed(&["agent", "list", "--json"]));
    let agent = agents(&environment)[0].clone();
    assert_eq!(
        (&agent["client"], &agent["sessions"], &agent["tier"], &agent["given"]),
        (&json!("claude"), &json!(2), &json!("2"), &Json::Null),
        "{agent}"
    );
    let id = agent["agent"].as_str().unwrap();
    // What the review says of a call that is fine in tier 2 and not in tier 5: that is what the tiers differ in.
    let verdict = |environment: &TestEnvironment| {
        environment.bash("one", "curl -s -o page.html https://nobody-knows-it.example/page");
        let records = environment.records("one");
        let review = records.iter().rev().find(|record| record["body"]["type"] == "review").unwrap().clone();
        (review["body"]["governance"]["tier"].clone(), review["body"]["governance"]["by_thresholds"].clone())
    };
    let before = verdict(&environment);
    let told: Json = serde_json::from_str(&environment.succeed(&[
        "agent",
        "tier",
        &id[..6],
        "GT-5",
        "--note",
        "payments",
        "--json",
    ]))
    .unwrap();
    assert_eq!((&told["tier"], &told["given"]["note"]), (&json!("5"), &json!("payments")), "{told}");
    let after = verdict(&environment);
    assert_ne!(before, after, "the next call is judged by the tier that was given");
    assert_eq!(after.0, "5", "{after:?}");
    // Another project, or another client in this one, is another agent.
    assert_eq!(agents(&environment).len(), 1);
    // It only tightens, an agent cannot do it, and what nobody sealed is said.
    let refused = environment.checkrein(&["agent", "tier", id, "1"]);
    assert!(
        !refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("tier 2"),
        "{refused:?}"
    );
    let by_agent = environment.bash("one", &format!("checkrein agent tier {id} configured"));
    assert_eq!(decision(&by_agent), Some("deny"), "{by_agent}");
    let within = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["agent", "tier", id, "configured"])
        .env("CLAUDECODE", "1")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&within.stderr).contains("humans only"), "{within:?}");
    let file = environment.state().join(format!("tiers/{id}.json"));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"5\"", "\"2\"")).unwrap();
    let forged = environment.bash("one", "touch new.txt");
    assert_eq!(decision(&forged), Some("ask"), "{forged}");
    assert!(reason(&forged).contains("tier of the agent"), "{forged}");
    std::fs::write(&file, text).unwrap();
    environment.succeed(&["agent", "tier", id, "configured"]);
    assert!(!file.exists());
    assert_eq!(verdict(&environment), before);
}

/// However far trust has fallen: what is said says something, and what is recorded has a reason.
#[test]
fn no_verdict_comes_without_a_reason() {
    let environment = environment("governance: {trust_debt: {decay: {decay_fraction: 0}}}\n");
    environment.write("tools/gen.py", "import sys\nprint(sys.argv)\n");
    for _ in 0..8 {
        environment.bash("s", "rm -rf ~");
    }
    for command in [
        "python3 tools/gen.py --all",
        "python3 tools/nosuch.py",
        "./build.sh",
        "make",
        "ls",
        "node -e 'run()'",
        "curl -s https://example.com/data.json",
        "pip install requests",
    ] {
        let answer = environment.bash("s", command);
        let said = &answer["hookSpecificOutput"];
        for text in ["additionalContext", "permissionDecisionReason"].map(|name| said[name].as_str()) {
            let head = text.and_then(|text| text.lines().next()).unwrap_or("nothing is said: so");
            let is_said = head.split_once(": ").is_some_and(|(_, reason)| !reason.trim().is_empty());
            assert!(is_said, "{command}: {answer}");
        }
    }
    let records = environment.records("s");
    let reviews = records.iter().map(|record| &record["body"]).filter(|body| body["type"] == "review");
    for review in reviews.filter(|review| review["verdict"] != "ok") {
        assert!(review["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{review}");
    }
}

#[test]
fn check_explains_the_quality_of_a_step() {
    let environment = environment("");
    let text = environment.succeed(&["check", "--verbose", "ls"]);
    assert!(text.contains("governance  CTQ 1.00, tier 2 says ok"), "{text}");
    let json: Json = serde_json::from_str(&environment.succeed(&["check", "--json", "ls"])).unwrap();
    assert_eq!(
        (json["governance"]["tier"].as_str(), json["governance"]["posture"].as_str()),
        (Some("2"), Some("normal"))
    );
}

fn digest(text: &str) -> String {
    checkrein_policy::Digest::of(text).to_string()
}

#[test]
fn a_blueprint_of_the_project_counts_without_trust_and_cannot_be_edited_away() {
    let environment = environment("");
    environment.write("quiet.yaml", support::BLUEPRINT);
    environment.write("checkrein.yaml", "governance: {blueprints: [quiet.yaml]}\n");
    assert_eq!(decision(&environment.bash("s", "date")), Some("deny"));
    assert_eq!(decision(&environment.bash("s", "rm quiet.yaml")), Some("deny"));
    assert_eq!(decision(&environment.bash("s", "echo > quiet.yaml")), Some("deny"));
    let table = environment.succeed(&["policy", "test"]);
    assert!(table.contains("2 played, 0 failed"), "{table}");
    assert!(environment.succeed(&["policy", "show"]).contains("no_dates"));
    environment.succeed(&["policy", "check"]);
}

const RULES: &str = "- name: no_dates\n  when: action.command == \"date\"\n  decision: block\n  reason: the time is nobody's business\n";

// Source: seed 002-77
#[test]
fn a_project_brings_rules_of_its_own_without_trust_and_the_agent_cannot_edit_them_away() {
    let environment = environment("");
    environment.write("rules/own.yaml", RULES);
    environment.write("checkrein.yaml", "step_reviewer: {rules: {custom_rules_path: rules/own.yaml}}\n");
    environment.succeed(&["config", "check"]);
    let refused = environment.bash("s", "date");
    assert_eq!(decision(&refused), Some("deny"));
    assert!(reason(&refused).contains("the time is nobody's business"), "{refused}");
    for command in ["rm rules/own.yaml", "echo > rules/own.yaml", "mv rules elsewhere"] {
        assert_eq!(decision(&environment.bash("s", command)), Some("deny"), "{command}");
    }
}

#[test]
fn the_rules_of_a_project_lie_inside_it() {
    let environment = environment("");
    std::fs::write(environment.home().join("outside.yaml"), RULES).unwrap();
    std::os::unix::fs::symlink(
        environment.home().join("outside.yaml"),
        environment.project().join("link.yaml"),
    )
    .unwrap();
    let absolute = environment.home().join("outside.yaml").display().to_string();
    for named in ["../outside.yaml", "src/../../outside.yaml", "link.yaml", absolute.as_str()] {
        let text = format!("step_reviewer: {{rules: {{custom_rules_path: {named}}}}}\n");
        environment.write("checkrein.yaml", &text);
        let checked = environment.checkrein(&["config", "check"]);
        let error = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(!checked.status.success() && error.contains("outside the project"), "{named}: {error}");
    }
}

#[test]
fn a_blueprint_that_is_not_what_was_agreed_on_stops_everything() {
    let environment = environment("");
    environment.configure("quiet.yaml", support::BLUEPRINT);
    let pinned = format!("governance: {{blueprints: [\"quiet.yaml {}\"]}}\n", digest(support::BLUEPRINT));
    environment.configure("config.yaml", &pinned);
    assert_eq!(decision(&environment.bash("s", "date")), Some("deny"));
    assert_eq!(environment.bash("s", "ls"), json!({}));
    environment.configure("quiet.yaml", &support::BLUEPRINT.replace("decision: block", "decision: nudge"));
    assert_eq!(
        decision(&environment.bash("s", "rm README.md")),
        Some("ask"),
        "the policy is not known any more"
    );
    let checked = environment.checkrein(&["policy", "check"]);
    let error = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(!checked.status.success() && error.contains("is not what was agreed on"), "{error}");
}

#[test]
fn bases_are_followed_within_bounds() {
    let environment = environment("governance: {blueprints: [child.yaml]}\n");
    let on = |base: &str, id: &str| {
        support::BLUEPRINT
            .replace("no_dates", id)
            .replace("fixtures:", &format!("base: {{ref: {base}}}\nfixtures:"))
    };
    environment.configure("parent.yaml", support::BLUEPRINT);
    environment.configure("child.yaml", &on("parent.yaml", "no_dates_either"));
    let shown = environment.succeed(&["policy", "show"]);
    assert!(shown.contains("no_dates ") && shown.contains("no_dates_either"), "{shown}");
    environment.configure("parent.yaml", &on("child.yaml", "no_dates"));
    let checked = environment.checkrein(&["policy", "check"]);
    let error = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(error.contains("stands on itself") && error.contains("parent.yaml:11:"), "{error}");
}

#[test]
fn fixtures_that_fail_are_shown_and_fail_the_command() {
    let environment = environment("");
    environment.write(
        "quiet.yaml",
        &support::BLUEPRINT.replace("'$ ls =>', expect: ok", "'$ ls =>', expect: block"),
    );
    let tested = environment.checkrein(&["policy", "test", "quiet.yaml"]);
    assert_eq!(tested.status.code(), Some(1));
    let table = String::from_utf8_lossy(&tested.stdout).into_owned();
    assert!(table.contains("FAILED") && table.contains("2 played, 1 failed"), "{table}");
    let tested = environment.checkrein(&["policy", "test", "quiet.yaml", "--json"]);
    let lines = json_lines(&String::from_utf8_lossy(&tested.stdout));
    assert_eq!(lines.iter().map(|line| line["passed"].as_bool().unwrap()).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn observing_records_a_tripwire_and_stops_nothing() {
    let environment = environment(&format!("mode: observe\n{COUNTING}"));
    for _ in 0..5 {
        assert_eq!(environment.bash("s", "ls"), json!({}));
    }
    let halts = environment.records("s").iter().filter(|record| record["body"]["verdict"] == "halt").count();
    assert_eq!(halts, 2);
    assert_eq!(decision(&environment.bash("s", "pwd")), None);
}
