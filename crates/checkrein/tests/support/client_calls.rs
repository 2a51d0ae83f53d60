//! Calls in the form of each client, and what the hook says to them.

use std::io::Write as _;

use checkrein_clients::{ClientAdapter, HookOutput};
use checkrein_protocol::AbsolutePath;
use serde_json::{Value as Json, json};

use super::TestEnvironment;

/// What the hook of a client gives back.
pub fn said(environment: &TestEnvironment, client: &str, payload: &Json) -> HookOutput {
    said_to(environment, client, &payload.to_string())
}

/// The same for a payload as it is written.
pub fn said_to(environment: &TestEnvironment, client: &str, payload: &str) -> HookOutput {
    let mut hook = environment.command(env!("CARGO_BIN_EXE_checkrein-hook"));
    let mut child = hook
        .arg(client)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take().unwrap().write_all(payload.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let code = output.status.code();
    assert!([Some(0), Some(HookOutput::REFUSED)].contains(&code), "{client}: {}", output.status);
    let refusal = (code != Some(0)).then(|| String::from_utf8(output.stderr).unwrap());
    HookOutput { object: output.stdout, refusal }
}

/// A call of a command in the form of each client.
pub fn dangerous(client: &ClientAdapter, environment: &TestEnvironment, command: &str) -> Json {
    let cwd = AbsolutePath::new(environment.project().to_str().unwrap()).unwrap();
    let payload = String::from_utf8(client.canary.payload(&cwd)).unwrap();
    let word = json!(command).to_string();
    let payload = payload.replace("\"rm -rf ~\"", &word).replace("checkrein-canary", "of-a-test");
    serde_json::from_str(&payload).unwrap()
}
