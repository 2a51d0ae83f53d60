//! What the calls of clients hold, in every form in which it is written, and the shells in which commands of theirs run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use checkrein_clients::CLIENTS;
use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::client_calls::{dangerous, said};

#[test]
fn arguments_that_are_written_as_a_text_are_read_by_every_client() {
    let environment = TestEnvironment::new();
    for client in CLIENTS {
        let name = client.client.name();
        let payload = dangerous(client, &environment, "rm -rf ~");
        let holders = [
            "/tool_input",
            "/toolArgs",
            "/tool_call",
            "/tool_call/input",
            "/tool_call/input/commands",
            "/tool_info",
        ];
        let found: Vec<&str> = holders.into_iter().filter(|at| payload.pointer(at).is_some()).collect();
        assert!(!found.is_empty(), "{name}");
        for at in found {
            let mut written = payload.clone();
            for _ in 0..2 {
                let holder = written.pointer_mut(at).unwrap();
                *holder = Json::from(holder.to_string());
                let output = said(&environment, name, &written);
                assert!(client.canary.is_denied(&output), "{name}: {written}: {output:?}");
            }
        }
    }
}

/// `todo_write` is the tool `write` of a server `todo` where a client writes the names of servers so, and `TodoWrite` is not.
#[test]
fn a_tool_of_a_server_is_not_taken_for_one_of_the_client() {
    let environment = TestEnvironment::new();
    let keys = environment.home().join(".ssh/authorized_keys");
    for (name, tool) in [
        ("opencode", "todo_write"),
        ("opencode", "task_update"),
        ("kilo", "ask_user"),
        ("copilot", "todo-write"),
        ("copilot", "todo/write"),
        ("cline", "todo__write"),
        ("claude", "mcp__todo__write"),
        ("qwen", "mcp__todo__write"),
    ] {
        let client = checkrein_clients::named(name).unwrap();
        let mut payload = dangerous(client, &environment, "ls");
        let input = json!({ "path": keys, "content": "ssh-ed25519 AAAA" });
        for (field, value) in [
            ("tool_name", json!(tool)),
            ("toolName", json!(tool)),
            ("tool_input", input.clone()),
            ("toolArgs", input.clone()),
        ] {
            if payload.get(field).is_some() {
                payload[field] = value;
            }
        }
        if name == "cline" {
            payload["tool_call"]["name"] = json!(tool);
            payload["tool_call"]["input"] = input;
        }
        let output = said(&environment, name, &payload);
        let is_asked = String::from_utf8_lossy(&output.object).contains(r#""permissionDecision":"ask""#);
        assert!(is_asked || client.canary.is_denied(&output), "{name}: {tool}: {output:?}");
    }
}

/// Codex starts the shell of the user, which need not be one that tells the status of each part of a pipe.
#[test]
fn a_command_whose_output_is_masked_runs_in_every_shell() {
    let environment = TestEnvironment::new();
    environment.write(".env", "API_KEY=abcdef123456\n");
    let mut tried = 0;
    for (command, status) in [("cat .env", 0), ("cat .env missing.txt 2>/dev/null", 1)] {
        let told = environment.checkrein(&["check", "--json", command]).stdout;
        let told: Json = serde_json::from_slice(&told).unwrap();
        let rewrite = told["rewrite"].as_str().unwrap();
        for shell in ["sh", "bash", "dash", "zsh"] {
            let Ok(output) = environment.command(shell).args(["-c", rewrite]).output() else { continue };
            tried += 1;
            let (said, complained) =
                (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
            assert!(said.contains("API_KEY=[masked:"), "{shell}: {rewrite}: {said}");
            assert_eq!(complained, "", "{shell}: {rewrite}");
            let is_told = ["bash", "zsh"].contains(&shell);
            let expected: &[i32] = if is_told { &[status] } else { &[status, 0] };
            assert!(
                output.status.code().is_some_and(|code| expected.contains(&code)),
                "{shell}: {rewrite}: {}",
                output.status
            );
        }
    }
    assert!(tried >= 4, "{tried}");
}
