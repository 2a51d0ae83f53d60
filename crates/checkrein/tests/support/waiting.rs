//! Hooks that wait for an answer of a user.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};

use serde_json::{Value as Json, json};

use super::{TestEnvironment, shell_call};

/// A call that is asked about: it deletes something of the user outside the project.
pub const CALL: &str = "rm ../diary.md";

/// A home in which nobody is at the client, with further settings.
pub fn unattended(more: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    fs::write(environment.home().join("diary.md"), "dear diary\n").unwrap();
    environment.configure("config.yaml", &format!("profile: unattended\n{more}"));
    environment
}

/// Starts the hook with a call, and leaves it waiting.
pub fn asks(environment: &TestEnvironment, session: &str, id: &str, command: &str) -> Child {
    asks_of(environment, session, shell_call(id, command, json!({})), &["claude"])
}

/// The same with any call, and further arguments of the hook.
pub fn asks_of(environment: &TestEnvironment, session: &str, call: Json, arguments: &[&str]) -> Child {
    let mut hook = environment.command(env!("CARGO_BIN_EXE_checkrein-hook"));
    hook.args(arguments).env_remove("CHECKREIN_APPROVALS_WAIT");
    hook.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = hook.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&environment.payload(session, "PreToolUse", call)).unwrap();
    child
}

/// What a hook answered in the end.
pub fn answer_of(mut hook: Child) -> Json {
    let mut text = String::new();
    hook.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(hook.wait().unwrap().success());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}
