//! An agent that nobody watches and that offers new work at the end of its turns is told, and stopped, whatever it does in between but work.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    dead_code,
    reason = "a test that cannot go on should panic; not all of what supports tests is used here"
)]

mod loop_support;
mod support;

use loop_support::Session;
use serde_json::{Value as Json, json};

fn offers(session: &Session, what: &str) -> Json {
    let message = format!("I've fixed the parser. {what} continue with the lexer?");
    session.event("Stop", json!({ "last_assistant_message": message, "stop_hook_active": false }))
}

fn is_refused(answer: &Json) -> bool {
    answer["decision"] == "block"
}

fn is_stopped(answer: &Json) -> bool {
    answer["continue"] == false
}

#[test]
fn a_look_between_two_offers_hides_nothing() {
    for profile in ["unattended", "strict"] {
        let mut session = Session::new(&format!("profile: {profile}\n"));
        session.call("ls", "src", false);
        let first = offers(&session, "Should I");
        assert!(is_refused(&first), "{profile}: {first}");
        session.call("ls src", "lib.rs", false);
        session.call("cargo build", "error: no such file", true);
        let second = offers(&session, "Would you like me to");
        assert!(is_stopped(&second), "{profile}: {second}");
        assert!(
            session.environment.succeed(&["incidents"]).contains("new tasks that nobody asked for"),
            "{profile}"
        );
    }
}

#[test]
fn behind_a_prompt_an_offer_is_refused_once_more_and_the_third_ends_it() {
    let mut session = Session::new("profile: unattended\n");
    let mut answers = Vec::new();
    for round in 0..3 {
        session.event("UserPromptSubmit", json!({ "prompt": "go on" }));
        session.call(&format!("ls {round}"), &format!("{round}"), false);
        answers.push(offers(&session, "Should I"));
    }
    assert!(is_refused(&answers[0]) && is_refused(&answers[1]) && is_stopped(&answers[2]), "{answers:?}");
}

#[test]
fn an_offer_is_answered_also_right_behind_a_hint_about_something_else() {
    let mut session = Session::new("profile: unattended\n");
    for _ in 0..4 {
        session.call("ls", "src", false);
    }
    assert_eq!(session.bodies("intervention").len(), 1);
    assert!(is_refused(&offers(&session, "Should I")));
}

#[test]
fn work_between_two_offers_begins_anew() {
    for (command, output) in
        [("sed -i s/a/b/ src/parser.rs", ""), ("cargo test", "test result: ok. 3 passed; 0 failed")]
    {
        let mut session = Session::new("profile: unattended\n");
        session.call("ls", "src", false);
        for round in 0..4 {
            let answer = offers(&session, "Should I");
            assert!(is_refused(&answer), "{command}: {round}: {answer}");
            session.call(command, output, false);
        }
    }
}

#[test]
fn turns_that_end_with_a_plain_report_are_left_alone() {
    let mut session = Session::new("profile: unattended\n");
    for round in 0..6 {
        session.event("UserPromptSubmit", json!({ "prompt": format!("look at part {round}") }));
        session.call(&format!("ls {round}"), &format!("{round}"), false);
        let report = json!({ "last_assistant_message": format!("Part {round} holds the parser.") });
        assert_eq!(session.event("Stop", report), json!({}), "{round}");
    }
}
