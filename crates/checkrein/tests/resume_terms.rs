//! A stopped session that goes on by terms of the user, and one that is given up.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, reason, shell_call};

struct Session {
    environment: TestEnvironment,
    calls: usize,
}

impl Session {
    /// One that made a file and was halted.
    fn halted() -> Self {
        let mut session = Self { environment: TestEnvironment::new(), calls: 0 };
        session.done("echo draft > notes.txt");
        session.environment.write("notes.txt", "draft\n");
        session.environment.succeed(&["halt", "s"]);
        assert_eq!(decision(&session.asked("ls")), Some("deny"));
        session
    }

    fn asked(&mut self, command: &str) -> Json {
        self.calls += 1;
        self.environment.answer_to(&self.environment.payload(
            "s",
            "PreToolUse",
            shell_call(&format!("call-{}", self.calls), command, json!({})),
        ))
    }

    /// The same call with its end, where it may run.
    fn done(&mut self, command: &str) -> Json {
        let answer = self.asked(command);
        if decision(&answer).is_none() {
            let more = json!({ "tool_response": { "stdout": "", "stderr": "" } });
            let call = shell_call(&format!("call-{}", self.calls), command, more);
            self.environment.answer_to(&self.environment.payload("s", "PostToolUse", call));
        }
        answer
    }
}

// Source: seed 000-65
#[test]
fn a_session_goes_on_within_limits_until_they_are_reached() {
    let mut session = Session::halted();
    let said = session.environment.checkrein(&["resume", "s", "--file-operations", "2", "--calls", "5"]);
    let told = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(told.contains("at most 2 changes of files, 5 calls"), "{told}");
    assert_eq!(decision(&session.done("echo a > a.txt")), None);
    assert_eq!(decision(&session.done("echo b > b.txt")), None);
    let third = session.done("echo c > c.txt");
    assert_eq!(decision(&third), Some("deny"), "{third}");
    assert!(reason(&third).contains("2 of 2 changes of files"), "{third}");
    assert_eq!(decision(&session.done("ls")), None, "looking changes nothing");
    assert_eq!(decision(&session.done("ls src")), None);
    let over = session.done("ls -a");
    assert!(reason(&over).contains("5 of 5 calls"), "{over}");
    // The user lets it go on as it is.
    session.environment.succeed(&["halt", "s"]);
    session.environment.succeed(&["resume", "s"]);
    assert_eq!(decision(&session.done("echo c > c.txt")), None);
}

// Source: seed 000-67
#[test]
fn the_user_says_yes_to_what_they_named_and_hears_of_nothing_else() {
    let mut session = Session::halted();
    session.environment.succeed(&["resume", "s", "--ask", "file_write"]);
    assert_eq!(decision(&session.done("ls")), None);
    let asked = session.done("echo more >> notes.txt");
    assert_eq!(decision(&asked), Some("ask"), "{asked}");
    assert!(reason(&asked).contains("yes to each `file_write`"), "{asked}");
    // What is refused anyway stays refused.
    assert_eq!(decision(&session.done("rm -rf ~")), Some("deny"));
    let wrong = session.environment.checkrein(&["resume", "s", "--ask", "everything"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("`command`, `file_write`"), "{wrong:?}");
    let all = session.environment.checkrein(&["resume", "--all", "--with-limits"]);
    assert!(String::from_utf8_lossy(&all.stderr).contains("terms are for one session"), "{all:?}");
}

#[test]
fn terms_are_changed_and_lifted_while_the_session_goes_on_and_set_for_none_that_does_not() {
    let mut session = Session::halted();
    session.environment.succeed(&["resume", "s", "--ask", "file_write"]);
    assert_eq!(decision(&session.asked("echo draft > notes.txt")), Some("ask"));
    let said = |session: &Session, arguments: &[&str]| {
        let output = session.environment.checkrein(arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let both = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&both).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let changed = said(&session, &["resume", "s", "--ask", "command"]);
    assert!(changed.contains("your yes for command"), "{changed}");
    assert_eq!(decision(&session.asked("echo draft > other.txt")), Some("ask"));
    let lifted = said(&session, &["resume", "s"]);
    assert!(lifted.contains("without limits and questions of yours"), "{lifted}");
    assert_eq!(decision(&session.asked("echo draft > third.txt")), None);
    let again = session.environment.checkrein(&["resume", "s", "--ask", "command"]);
    assert_eq!(again.status.code(), Some(1));
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("nothing of that name is halted; nothing was changed"), "{said}");
    assert_eq!(decision(&session.asked("echo draft > fourth.txt")), None, "nothing was changed");
}

#[test]
fn ways_out_of_a_halted_session_are_about_what_it_was_halted_for() {
    let session = Session::halted();
    let said = session.environment.succeed(&["session", "recover", "s"]);
    assert!(said.contains("this session is halted") && said.contains("checkrein resume s"), "{said}");
    assert!(!said.contains("checkrein halt"), "it is halted: {said}");
}

#[test]
fn a_session_that_is_given_up_is_halted_and_tells_what_it_left() {
    let mut session = Session { environment: TestEnvironment::new(), calls: 0 };
    session.done("echo draft > notes.txt");
    session.environment.write("notes.txt", "draft\n");
    session.done("echo gone > gone.txt");
    let said = session.environment.succeed(&["session", "recover", "s", "--abort"]);
    let left = session.environment.project().join("notes.txt").display().to_string();
    assert!(said.contains(&left) && !said.contains("gone.txt"), "{said}");
    assert!(said.contains("checkrein session rollback s --before 1"), "{said}");
    assert_eq!(decision(&session.asked("ls")), Some("deny"));
    assert!(fs::exists(left).unwrap(), "nothing is removed");
    let again: Json =
        serde_json::from_str(&session.environment.succeed(&["--json", "session", "recover", "s", "--abort"]))
            .unwrap();
    assert_eq!(again["left"].as_array().unwrap().len(), 1, "{again}");
}

#[test]
fn a_report_names_ways_on_that_are_commands_which_do_it() {
    let session = Session::halted();
    let report = session.environment.succeed(&["incident", "show", "20"]);
    for command in [
        "checkrein resume s --with-limits",
        "checkrein resume s --ask command --ask file_write",
        "checkrein session recover s --abort",
    ] {
        assert!(report.contains(command), "{command} is missing in\n{report}");
    }
    assert!(session.environment.succeed(&["resume", "s", "--with-limits"]).contains("resumed s"));
}
