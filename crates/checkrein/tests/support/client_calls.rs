//! Calls in the form of each client, and what the hook says to them.

use std::fs;
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

/// The answer of the hook of a client that obeys objects.
pub fn answer(environment: &TestEnvironment, client: &str, payload: &Json) -> Json {
    let output = said(environment, client, payload);
    assert_eq!(output.refusal, None, "{client}");
    serde_json::from_slice(&output.object).unwrap()
}

/// A call of the shell in a recorded payload of a client.
pub fn shell(environment: &TestEnvironment, folder: &str, name: &str, command: &str) -> Json {
    let file = format!("tests/payloads/{folder}/{name}.json");
    let mut payload: Json = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    payload["cwd"] = json!(environment.project());
    payload["tool_input"]["command"] = json!(command);
    payload
}

/// A call of a command in the form of each client.
pub fn dangerous(client: &ClientAdapter, environment: &TestEnvironment, command: &str) -> Json {
    let cwd = AbsolutePath::new(environment.project().to_str().unwrap()).unwrap();
    let payload = String::from_utf8(client.canary.payload(&cwd)).unwrap();
    let word = json!(command).to_string();
    let payload = payload.replace("\"rm -rf ~\"", &word).replace("checkrein-canary", "of-a-test");
    serde_json::from_str(&payload).unwrap()
}
