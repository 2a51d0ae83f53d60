//! Commands at a terminal, with somebody who types.

use std::io::Write as _;
use std::process::{Child, ChildStdin, Stdio};

use super::TestEnvironment;

/// Starts this at a terminal; what is written to the second part of the answer is typed there.
pub fn at_a_terminal(environment: &TestEnvironment, session: &str) -> (Child, ChildStdin) {
    let mut child = environment
        .command("script")
        .args(["-qec", session, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let keyboard = child.stdin.take().unwrap();
    (child, keyboard)
}

/// What stood on the terminal at the end.
pub fn written(child: Child, keyboard: ChildStdin) -> String {
    let output = child.wait_with_output().unwrap();
    drop(keyboard);
    String::from_utf8_lossy(&output.stdout).replace('\r', "")
}

/// What stands on the terminal after this ran there and a user typed `typed`; the last line is `status:` with its exit status.
pub fn typed(environment: &TestEnvironment, session: &str, typed: &str) -> String {
    let (child, mut keyboard) = at_a_terminal(environment, &format!("{session}; echo status:$?"));
    keyboard.write_all(typed.as_bytes()).unwrap();
    written(child, keyboard)
}
