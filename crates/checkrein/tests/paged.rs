//! How long texts and texts without an end are read: the pager, colours, and a log that is followed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use support::terminal::typed;
use support::{TestEnvironment, shell_call};

/// How long something is waited for: the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// Records a call.
fn call(environment: &TestEnvironment, id: &str) {
    environment.answer_to(&environment.payload("s", "PreToolUse", shell_call(id, "ls", json!({}))));
}

/// A session with more calls than a terminal of ten lines shows.
fn worked() -> TestEnvironment {
    let environment = TestEnvironment::new();
    for number in 0..12 {
        call(&environment, &format!("toolu_{number:02}"));
    }
    environment
}

/// What stands on a terminal of ten lines after a command ran there.
fn shown(environment: &TestEnvironment, variables: &str, words: &str) -> String {
    let program = env!("CARGO_BIN_EXE_checkrein");
    typed(environment, &format!("stty rows 10 cols 80; env {variables} {program} {words}"), "")
}

#[test]
fn what_is_longer_than_the_terminal_goes_through_the_pager_of_the_user() {
    let environment = worked();
    let text = shown(&environment, "PAGER='sed s/^/paged:/'", "log");
    assert!(text.matches("paged:").count() > 10 && text.contains("status:0"), "{text}");
    // What fits needs none, and what is not read at a terminal gets none.
    let text = shown(&environment, "PAGER='sed s/^/paged:/'", "log -n 2");
    assert!(!text.contains("paged:") && text.contains("toolu_11"), "{text}");
    let text = shown(&environment, "PAGER='sed s/^/paged:/'", "log | cat");
    assert!(!text.contains("paged:") && text.contains("toolu_00"), "{text}");
    let text = shown(&environment, "PAGER='sed s/^/paged:/'", "--json log");
    assert!(!text.contains("paged:"), "{text}");
    // One that is not there, or that is left early, is no failure.
    let text = shown(&environment, "PAGER=no-such-pager", "log");
    assert!(text.contains("toolu_00") && text.contains("status:0"), "{text}");
    let text = shown(&environment, "PAGER='head -n 1'", "log");
    assert!(!text.contains("toolu_11") && text.contains("status:0"), "{text}");
}

#[test]
fn colours_are_for_terminals_and_for_who_wants_them() {
    let environment = worked();
    assert!(shown(&environment, "PAGER=cat", "log").contains("\u{1b}["));
    assert!(!shown(&environment, "PAGER=cat NO_COLOR=1", "log").contains("\u{1b}["));
    assert!(!shown(&environment, "PAGER=cat", "log | cat").contains("\u{1b}["));
}

/// Waits for the end of a process.
fn ended(child: &mut Child) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it goes on");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_followed_log_ends_when_it_is_interrupted_and_when_nobody_reads_it() {
    use std::os::unix::process::ExitStatusExt as _;
    let environment = TestEnvironment::new();
    call(&environment, "toolu_before");
    let follow = || {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let mut log =
            command.args(["log", "-f"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(log.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("toolu_before")));
        (log, lines)
    };
    let (mut log, lines) = follow();
    let sent = Command::new("kill").args(["-s", "INT", &log.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(ended(&mut log).signal(), Some(2), "as any program that Ctrl-C ends");
    assert_eq!(lines.count(), 0, "it says nothing more");
    // `| head`: nothing comes that could fail to be written, and it ends all the same.
    let (mut log, lines) = follow();
    drop(lines);
    assert!(ended(&mut log).success());
    let said = log.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stderr), "");
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let mut watch = command.args(["watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("\"session\"")));
    drop(lines);
    assert!(ended(&mut watch).success());
}
