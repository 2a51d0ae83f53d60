//! The ladder through the real hook: a hint reaches the model, then the task, then a refusal, then the way back, then the stop.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use serde_json::{Value as Json, json};
use support::{AT_ONCE, TestEnvironment, decision, reason, shell_call};

struct Session {
    environment: TestEnvironment,
    calls: u32,
}

impl Session {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", AT_ONCE);
        let session = Self { environment, calls: 0 };
        session.event("UserPromptSubmit", json!({ "prompt": "make the parser accept comments" }));
        session
    }

    fn event(&self, name: &str, fields: Json) -> Json {
        self.environment.answer_to(&self.environment.payload("s", name, fields))
    }

    /// Asks to run a command; when it may, it answers with this. Both answers of the hook.
    fn call(&mut self, command: &str, output: &str) -> (Json, Option<Json>) {
        self.calls += 1;
        let call = |more: Json| shell_call(&format!("call-{}", self.calls), command, more);
        let before = self.event("PreToolUse", call(json!({})));
        if decision(&before) == Some("deny") {
            return (before, None);
        }
        let after =
            self.event("PostToolUse", call(json!({ "tool_response": { "stdout": output, "stderr": "" } })));
        (before, Some(after))
    }

    fn kinds(&self, kind: &str) -> Vec<Json> {
        let records = self.environment.records("s");
        records.into_iter().map(|record| record["body"].clone()).filter(|body| body["type"] == kind).collect()
    }
}

fn context(answer: &Json) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

// Source: seed 000-1, 000-6, 000-13, 000-63, 001-26, 001-28, 001-33
#[test]
fn a_loop_is_answered_with_a_ladder_that_ends_in_a_stop() {
    let mut session = Session::new();
    for _ in 0..3 {
        let (_, after) = session.call("ls", "a b");
        assert_eq!(after.unwrap(), json!({}), "three times is no loop");
    }
    let (_, fourth) = session.call("ls", "a b");
    assert!(context(&fourth.unwrap()).contains("stuck loop"));
    let (_, fifth) = session.call("ls", "a b");
    assert!(context(&fifth.unwrap()).contains("make the parser accept comments"));
    let (_, sixth) = session.call("ls", "a b");
    assert!(context(&sixth.unwrap()).contains("refused until something is changed or 10 others have run"));
    let (seventh, none) = session.call("ls", "a b");
    assert_eq!((decision(&seventh), none), (Some("deny"), None));
    assert!(reason(&seventh).contains("again and again"), "{seventh}");
    // Another call goes through: only the repetition is refused.
    let (eighth, _) = session.call("cat README.md", "# project");
    assert_eq!(decision(&eighth), None);

    let answers = (0..8).map(|_| session.call("ls -a", "a b"));
    let answers: Vec<Json> = answers.flat_map(|(before, after)| [Some(before), after]).flatten().collect();
    let told: Vec<String> = answers.iter().map(ToString::to_string).collect();
    let told = told.iter().find(|text| text.contains("checkrein incident show"));
    let told = told.unwrap_or_else(|| panic!("no answer names the report: {answers:?}"));
    for part in ["the same call", "checkrein incident show", "checkrein resume"] {
        assert!(told.contains(part), "{part} is missing in {told}");
    }
    let (last, _) = session.call("pwd", "/project");
    assert_eq!(decision(&last), Some("deny"), "the session is halted");
    let made: Vec<String> =
        session.kinds("intervention").iter().map(|made| made["kind"].as_str().unwrap().to_owned()).collect();
    assert!(made.contains(&"emergency_stop".to_owned()), "{made:?}");
    assert_eq!(session.kinds("halted").len(), 1);
    let log = session.environment.succeed(&["log"]);
    assert!(log.contains("stopped the session, because of the same call again and again"), "{log}");
    session.environment.succeed(&["resume", "s"]);
    let (resumed, after) = session.call("ls -a", "a b");
    assert_eq!((resumed, after), (json!({}), Some(json!({}))), "a resumed session begins anew");
    let listed = session.environment.succeed(&["incidents"]);
    assert!(listed.contains("the same call again and again"), "{listed}");
    let report = session.environment.succeed(&["incident", "show", "20"]);
    for part in [
        "# Incident",
        "## Root cause",
        "## Timeline",
        "**resume with limits**",
        "checkrein resume s",
        "tried before",
    ] {
        assert!(report.contains(part), "{part} is missing in\n{report}");
    }
}

// Source: seed 000-6, 000-12, 000-13, 000-21
#[test]
fn an_intervention_is_written_with_its_kind_its_issue_and_its_moment_and_the_session_goes_on() {
    let mut session = Session::new();
    for _ in 0..5 {
        let (before, after) = session.call("ls", "a b");
        assert_eq!((decision(&before), after.is_some()), (None, true), "it goes on: {before}");
    }
    let records = session.environment.records("s");
    let made: Vec<&Json> = records.iter().filter(|record| record["body"]["type"] == "intervention").collect();
    let kinds: Vec<&str> = made.iter().filter_map(|record| record["body"]["kind"].as_str()).collect();
    assert_eq!(kinds, ["soft_correction", "context_reinforcement"]);
    for record in made {
        let body = &record["body"];
        assert_eq!((&body["pattern"], &body["severity"]), (&json!("stuck_loop"), &json!("medium")), "{body}");
        assert!(body["score"].is_number() && !body["text"].as_str().unwrap().is_empty(), "{body}");
        assert!(record["at"].as_u64().is_some_and(|at| at > 0), "{record}");
    }
}

// Source: seed 001-34
#[test]
fn what_the_detectors_will_say_stands_in_the_review_before_the_call_runs() {
    let mut session = Session::new();
    for _ in 0..6 {
        session.call("ls", "a b");
    }
    let reviews = session.kinds("review");
    let foreseen = |review: &Json| review["foreseen"].as_array().cloned().unwrap_or_default();
    assert_eq!(foreseen(&reviews[2]), Vec::<Json>::new(), "three times is no loop");
    let fourth = foreseen(&reviews[3]);
    assert_eq!((&fourth[0]["kind"], &fourth[0]["severity"]), (&json!("stuck_loop"), &json!("medium")));
    assert!(!reviews[3]["risk"]["factors"].to_string().contains("foreseen"), "a mild one weighs nothing");
    // The record of it stands in front of that of the issue.
    let types: Vec<Json> =
        session.environment.records("s").iter().map(|record| record["body"]["type"].clone()).collect();
    let place = |kind: &str, nth: usize| {
        let mut places = types.iter().enumerate().filter(|(_, one)| **one == json!(kind)).map(|(at, _)| at);
        places.nth(nth).unwrap()
    };
    assert!(place("review", 3) < place("issue", 0), "{types:?}");
    let sixth = &reviews[5];
    assert_eq!(foreseen(sixth)[0]["severity"], "high", "{sixth}");
    assert!(sixth["risk"]["factors"].to_string().contains("foreseen +0.10"), "{sixth}");
    assert_eq!(sixth["verdict"], "ok", "what only looks hears nothing for it");
    let shown = session.environment.succeed(&["show", "call-4", "--verbose"]);
    assert!(shown.contains("foreseen  stuck loop, medium: the same call"), "{shown}");
}

#[test]
fn work_that_gets_somewhere_hears_nothing() {
    let mut session = Session::new();
    for round in 0..12 {
        let (before, after) = session.call("cat build.log", &format!("line {round}"));
        assert_eq!((before, after.unwrap()), (json!({}), json!({})));
    }
    assert_eq!(session.kinds("issue"), Vec::<Json>::new());
}

#[test]
fn a_person_who_steps_in_lifts_what_was_tightened() {
    let mut session = Session::new();
    (0..6).for_each(|_| drop(session.call("ls", "a b")));
    assert_eq!(decision(&session.call("ls", "a b").0), Some("deny"));
    session.event("UserPromptSubmit", json!({ "prompt": "it is fine, list it again" }));
    assert_eq!(decision(&session.call("ls", "a b").0), None);
}

#[test]
fn under_observation_everything_is_recorded_and_nothing_is_done() {
    let mut session = Session::new();
    session.environment.configure("config.yaml", &format!("mode: observe\n{AT_ONCE}"));
    for _ in 0..12 {
        let (before, after) = session.call("ls", "a b");
        assert_eq!((before, after.unwrap()), (json!({}), json!({})));
    }
    assert!(!session.kinds("intervention").is_empty());
    assert_eq!(session.kinds("halted"), Vec::<Json>::new());
}

// Source: seed 002-12, 004-18
#[test]
fn the_last_message_of_a_turn_is_weighed_and_not_kept() {
    let session = Session::new();
    let message = "I've fixed the parser. Should I continue with the lexer?";
    session.event("Stop", json!({ "last_assistant_message": message }));
    let kept = session.kinds("message");
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0]["cascade"]["level"], "critical");
    assert!(!kept[0].to_string().contains("lexer"));
    // What is milder passes, and is written down.
    for (message, level) in
        [("Should I also rename it?", json!("medium")), ("The parser reads comments now.", Json::Null)]
    {
        let answer = session.event("Stop", json!({ "last_assistant_message": message }));
        assert_eq!(answer, json!({}), "{message}");
        assert_eq!(session.kinds("message").last().unwrap()["cascade"]["level"], level, "{message}");
    }
}

// Source: seed 004-21
#[test]
fn messages_between_calls_that_speak_of_new_work_are_recorded_once_and_change_nothing() {
    let session = Session::new();
    let transcript = session.environment.home().join("transcript.jsonl");
    let said = |id: &str, text: &str| {
        let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
        let content = json!([{ "type": "text", "text": text }]);
        let message = json!({ "id": id, "model": "claude-haiku-4-5", "content": content, "usage": usage });
        format!("{}\n", json!({ "type": "assistant", "message": message }))
    };
    let last = "All done! Should I continue with the lexer?";
    let texts = [
        said("1", "I look at the parser."),
        said("2", "While I'm at it, I could also rename it."),
        said("3", last),
    ];
    std::fs::write(&transcript, texts.concat()).unwrap();
    for _ in 0..2 {
        session.event("Stop", json!({ "last_assistant_message": last, "transcript_path": transcript }));
    }
    let kept: Vec<(Json, Json)> = session
        .kinds("message")
        .iter()
        .map(|kept| (kept["place"].clone(), kept["cascade"]["patterns"].clone()))
        .collect();
    assert_eq!(kept.len(), 3, "{kept:?}");
    assert_eq!(kept[0], (json!("midway"), json!(["CP-030"])));
    assert_eq!((&kept[1].0, &kept[2].0), (&Json::Null, &Json::Null), "the last one of each turn");
}

#[test]
fn tests_that_are_said_to_pass_and_were_not_run_are_noticed() {
    let mut session = Session::new();
    let claim = json!({ "last_assistant_message": "Fixed. All tests pass." });
    session.call("cat README.md", "# project");
    session.event("Stop", claim.clone());
    assert_eq!(session.kinds("issue"), Vec::<Json>::new(), "one is not enough");
    session.call("cat src/main.rs", "fn main() {}");
    session.event("Stop", claim.clone());
    let issues = session.kinds("issue");
    assert_eq!((issues.len(), &issues[0]["kind"]), (1, &json!("hallucination")), "{issues:?}");

    let mut honest = Session::new();
    honest.call("cargo test -q", "test result: ok. 3 passed; 0 failed");
    for name in ["a", "b", "c"] {
        honest.call(&format!("cat {name}"), name);
        honest.event("Stop", claim.clone());
    }
    assert_eq!(honest.kinds("issue"), Vec::<Json>::new());
}

#[test]
fn running_sessions_are_shown_as_they_are() {
    let mut session = Session::new();
    session.event("SessionStart", json!({ "source": "startup" }));
    (0..6).for_each(|_| drop(session.call("ls", "a b")));
    let line = session.environment.succeed(&["watch", "--once", "--json"]);
    let seen: Json = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&seen["condition"], &seen["rung"], &seen["call"], &seen["issues"][0]["type"]),
        (&json!("working"), &json!("resource_throttling"), &json!("Bash ls"), &json!("stuck_loop")),
        "{seen}"
    );
    let text = session.environment.succeed(&["watch"]);
    for part in ["tighter limits", "Bash ls", "the same call again and again", "unknown", "claude"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    session.environment.succeed(&["halt", "s"]);
    assert!(session.environment.succeed(&["watch", "--once"]).contains("halted"));
}

// Source: seed 002-67, 001-10
#[test]
fn what_people_say_about_detections_is_counted_and_changes_nothing_by_itself() {
    let mut session = Session::new();
    let number = |session: &Session| {
        let records = session.environment.records("s");
        records.iter().rposition(|record| record["body"]["type"] == "issue").unwrap() + 1
    };
    for round in 0..5 {
        (0..4).for_each(|_| drop(session.call(&format!("ls {round}"), "a b")));
        let id = format!("s:{}", number(&session));
        session.environment.succeed(&["mark", &id, "false-alarm", "--note", "it was meant"]);
        session.event("UserPromptSubmit", json!({ "prompt": format!("go on {round}") }));
    }
    session.environment.succeed(&["mark", "s", "missed", "--pattern", "scope_creep"]);
    let told: Json = serde_json::from_str(&session.environment.succeed(&["marks", "--json"])).unwrap();
    let stuck =
        told["patterns"].as_array().unwrap().iter().find(|one| one["pattern"] == "stuck_loop").unwrap();
    assert_eq!((&stuck["false_alarms"], &stuck["accuracy"]), (&json!(5), &json!(0.0)), "{told}");
    assert!(told["suggestions"][0].as_str().unwrap().contains("never right in 5 times"), "{told}");
    (0..4).for_each(|_| drop(session.call("ls more", "a b")));
    assert_eq!(session.kinds("issue").len(), 6, "it is detected as before");

    let agent = session
        .environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["mark", "s:1", "confirmed"])
        .env("CLAUDECODE", "1")
        .output()
        .unwrap();
    assert!(!agent.status.success(), "an agent cannot judge itself");
    let wrong = session.environment.checkrein(&["mark", "s:1", "confirmed"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("is not an issue"));
}

// Source: seed 000-100
#[test]
fn old_reports_go_and_leave_a_record() {
    let mut session = Session::new();
    let text =
        AT_ONCE.replace("interventions:\n", "interventions:\n  emergency_stop:\n    preserve_incidents: 1\n");
    session.environment.configure("config.yaml", &text);
    let old = session.environment.state().join("incidents/20200101000000-old");
    std::fs::create_dir_all(&old).unwrap();
    (0..16).for_each(|_| drop(session.call("ls", "a b")));
    assert_eq!(session.kinds("halted").len(), 1);
    assert!(!old.exists());
    let events = session.kinds("event");
    let gone = events.iter().find(|event| event["name"] == "checkrein.incidents_removed").unwrap();
    assert_eq!(gone["fields"]["incidents"], json!(["20200101000000-old"]));
    assert_eq!(session.environment.succeed(&["incidents", "--json"]).lines().count(), 1);
}

#[test]
fn texts_of_ones_own_are_said_instead_and_mistakes_in_them_are_found() {
    let mut session = Session::new();
    let own = "templates/soft_correction.stuck_loop.txt";
    session.environment.configure("templates/soft_correction.txt", "never said");
    session.environment.configure(own, "Hm: {summary}.\nYou were asked to {goal}.\n");
    let said: Vec<Json> = (0..4).filter_map(|_| session.call("ls", "a b").1).collect();
    let said = context(&said[3]);
    assert!(
        said.starts_with("Hm: ") && said.ends_with("You were asked to make the parser accept comments."),
        "{said}"
    );

    session.environment.configure(own, "Hm:\n{sumary}");
    let wrong = session.environment.checkrein(&["config", "check"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("line 2, column 1: no place is called `sumary`"));
    let mut other = Session::new();
    other.environment.configure("templates/soft_correction.txt", "{sumary}");
    let said: Vec<Json> = (0..4).filter_map(|_| other.call("ls -a", "a b").1).collect();
    assert!(context(&said[3]).contains("stuck loop"), "the built-in text is said: {said:?}");
    assert_eq!(other.kinds("failure")[0]["stage"], "template");
}

// Source: seed 000-101
#[test]
fn a_person_may_say_what_is_done_about_which_issue() {
    let mut session = Session::new();
    let rules = "stuck_loop low 2 -> wait\nstuck_loop low 0 -> context_reinforcement\n";
    session.environment.configure("config.yaml", &format!("{AT_ONCE}    type: custom\n"));
    session.environment.configure("strategy.rules", rules);
    session.environment.succeed(&["config", "check"]);
    for _ in 0..8 {
        let (before, _) = session.call("ls", "a b");
        assert_eq!(decision(&before), None, "nothing is ever refused by these rules");
    }
    let made = session.kinds("intervention");
    assert!(made.iter().all(|made| made["kind"] == "context_reinforcement"), "{made:?}");
    assert_eq!(made.len(), 2, "the third time is waited for: {made:?}");

    let mut session = Session::new();
    session.environment.configure("config.yaml", &format!("{AT_ONCE}    type: custom\n"));
    session.environment.configure("strategy.rules", "stuck_loop low -> wait\n");
    let output = session.environment.checkrein(&["config", "check"]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("strategy.rules` line 1, column 19: a rule is"), "{error}");
    (0..4).for_each(|_| drop(session.call("ls", "a b")));
    let failures = session.kinds("failure");
    assert!(failures.iter().any(|failure| failure["stage"] == "strategy"), "{failures:?}");
}

#[test]
fn texts_about_interventions_that_changed_wait_for_a_person_or_the_next_session() {
    let begun = |strategy: Option<&str>, template: Option<&str>| {
        let mut session = Session::new();
        session.environment.configure("config.yaml", &format!("{AT_ONCE}    type: custom\n"));
        for (name, text) in [("strategy.rules", strategy), ("templates/soft_correction.txt", template)] {
            text.iter().for_each(|text| drop(session.environment.configure(name, text)));
        }
        session.call("true", "");
        session
    };
    let said = |session: &mut Session| -> Vec<String> {
        let answers: Vec<Json> = (0..4).filter_map(|_| session.call("ls", "a b").1).collect();
        answers.iter().map(context).map(str::to_owned).filter(|text| !text.is_empty()).collect()
    };
    let quiet = "* low 0 -> wait\n";
    let held = |session: &Session| {
        let failures = session.kinds("failure");
        failures.iter().find(|one| one["kind"] == "held").map(|one| one["detail"].to_string())
    };

    let mut session = begun(None, None);
    session.environment.configure("strategy.rules", quiet);
    session.environment.configure("templates/soft_correction.txt", "Well done.");
    assert!(said(&mut session).concat().contains("stuck loop"), "there was neither when it began");
    let told = held(&session).unwrap();
    assert!(told.contains("templates and strategy.rules") && told.contains("checkrein trust"), "{told}");

    let mut session = begun(Some("* low 0 -> soft_correction\n"), Some("Hm."));
    session.environment.configure("strategy.rules", quiet);
    std::fs::remove_file(session.environment.home().join(".config/checkrein/templates/soft_correction.txt"))
        .unwrap();
    assert_eq!(said(&mut session).first().map(String::as_str), Some("Hm."), "the texts of the beginning");
    let kept = session.environment.state().join("sessions/s/interventions.json");
    std::fs::write(&kept, "{}").unwrap();
    assert!(!said(&mut session).contains(&"Hm.".to_owned()), "what was kept is not what it was");

    let mut session = begun(None, None);
    session.environment.configure("strategy.rules", quiet);
    let trusted = session.environment.succeed(&["trust", "--yes"]);
    assert!(trusted.contains("session s") && trusted.contains("strategy.rules"), "{trusted}");
    assert_eq!(said(&mut session), Vec::<String>::new(), "the user agreed");
    assert_eq!(held(&session), None);

    let mut session = begun(None, None);
    session.environment.configure("config.yaml", "mode: observe\n");
    assert!(
        said(&mut session).concat().contains("stuck loop"),
        "a looser configuration does not count here either"
    );

    let mut session = begun(Some(quiet), None);
    assert_eq!(said(&mut session), Vec::<String>::new(), "it began with that");
}

#[test]
fn projects_without_hooks_are_listed_where_all_is_asked_for() {
    let environment = TestEnvironment::new();
    let (open, guarded) = (environment.home().join("open"), environment.home().join("guarded"));
    for project in [&open, &guarded] {
        fs::create_dir_all(project.join(".git")).unwrap();
    }
    let known = json!({ "projects": { open.to_str().unwrap(): {}, guarded.to_str().unwrap(): {}, "/gone/away": {}, environment.home().to_str().unwrap(): {} } });
    fs::write(environment.home().join(".claude.json"), known.to_string()).unwrap();
    let init = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .current_dir(&guarded)
        .args(["init", "--yes"])
        .output()
        .unwrap();
    assert!(init.status.success(), "{init:?}");
    let listed = |arguments: &[&str]| {
        let text = String::from_utf8(environment.checkrein(arguments).stdout).unwrap();
        text.lines().filter(|line| line.contains("are not reviewed")).map(str::to_owned).collect::<Vec<_>>()
    };
    let all = listed(&["doctor", "--all"]);
    assert_eq!(all.len(), 1 + usize::from(all.iter().any(|line| line.contains("/project"))), "{all:?}");
    assert!(all.iter().any(|line| line.contains("/open`")), "{all:?}");
    assert!(listed(&["doctor"]).is_empty());
}
