//! Calls that can be read in several ways, and outputs that hold secrets, in the form of each client; and what a call costs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on should panic, and measures are told"
)]

mod support;

use std::fs;

use checkrein_clients::CLIENTS;
use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::client_calls::{answer, dangerous, said, said_to};

/// A call under a key that stands twice: which of the two values a client takes, nobody knows.
#[test]
fn a_call_that_says_two_things_is_refused_for_every_client() {
    let environment = TestEnvironment::new();
    for client in CLIENTS {
        let name = client.client.name();
        let payload = dangerous(client, &environment, "ls -la").to_string();
        let at = payload.find("\"ls -la\"").unwrap();
        let before = payload[..at].trim_end_matches('[').strip_suffix("\":").unwrap();
        let key = &before[before.rfind('"').unwrap() + 1..];
        let at = before.len() - key.len() - 1;
        let escaped = format!("\\u{:04x}{}", u32::from(key.as_bytes()[0]), &key[1..]);
        for other in [key, &escaped] {
            let twice = format!("{}\"{other}\":\"rm -rf ~\",{}", &payload[..at], &payload[at..]);
            assert!(serde_json::from_str::<Json>(&twice).is_ok(), "{twice}");
            let output = said_to(&environment, name, &twice);
            let object: Json = serde_json::from_slice(&output.object).unwrap_or_default();
            assert!(
                client.canary.is_denied(&output) || object["decision"] == "block",
                "{name}: {twice}: {output:?}"
            );
        }
        assert!(!client.canary.is_denied(&said_to(&environment, name, &payload)), "{name}");
    }
}

#[test]
fn tokens_in_what_a_tool_prints_reach_no_model_that_can_be_kept_from_them() {
    let environment = TestEnvironment::new();
    let token = concat!("ghp_0123456789abcdefghij", "ABCDEFGHIJ012345");
    let printed = format!("it said {token}\n");
    let cwd = environment.project();
    let (flat, call) = (json!({ "session_id": "s", "cwd": cwd }), json!({ "command": "cat out.txt" }));
    let after = |more: Json| {
        let mut payload = flat.clone();
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        payload
    };
    let mut tried = Vec::new();
    for (client, payload) in [
        (
            "codex",
            after(
                json!({ "hook_event_name": "PostToolUse", "model": "m", "turn_id": "1", "tool_name": "Bash", "tool_input": call, "tool_use_id": "c", "tool_response": printed }),
            ),
        ),
        (
            "gemini",
            after(
                json!({ "hook_event_name": "AfterTool", "tool_name": "run_shell_command", "tool_input": call, "tool_response": { "llmContent": printed, "returnDisplay": printed } }),
            ),
        ),
        (
            "qwen",
            after(
                json!({ "hook_event_name": "PostToolUse", "tool_name": "run_shell_command", "tool_input": call, "tool_use_id": "c", "tool_response": { "llmContent": printed } }),
            ),
        ),
        (
            "copilot",
            json!({ "sessionId": "s", "timestamp": 1, "cwd": cwd, "toolName": "bash", "toolArgs": call, "toolResult": { "resultType": "success", "textResultForLlm": printed } }),
        ),
        (
            "opencode",
            after(
                json!({ "hook_event_name": "PostToolUse", "tool_name": "bash", "tool_input": call, "tool_use_id": "c", "tool_response": { "output": printed, "exit": 0 } }),
            ),
        ),
        (
            "kilo",
            after(
                json!({ "hook_event_name": "PostToolUse", "tool_name": "bash", "tool_input": call, "tool_use_id": "c", "tool_response": { "output": printed, "exit": 0 } }),
            ),
        ),
    ] {
        let said = answer(&environment, client, &payload);
        let in_place = match client {
            "copilot" => &said["modifiedResult"]["textResultForLlm"],
            "qwen" => &said["stopReason"],
            _ => &said["reason"],
        };
        let text = in_place.as_str().unwrap_or_else(|| panic!("{client}: {said}"));
        // Where it is shown as an error, the text begins by saying that it is none.
        let is_behind = ["qwen", "gemini"].contains(&client) && text.contains("it said [masked:");
        assert!(text.starts_with("it said [masked:") || is_behind, "{client}: {text}");
        assert!(!said.to_string().contains(token), "{client}: {said}");
        // What holds none stays as it is.
        let plain: Json = serde_json::from_str(&payload.to_string().replace(token, "nothing")).unwrap();
        let said = answer(&environment, client, &plain);
        assert!(["{}", r#"{"decision":"pass"}"#].contains(&said.to_string().as_str()), "{client}: {said}");
        tried.push(client);
    }
    for client in
        CLIENTS.iter().filter(|client| client.tool_output == checkrein_protocol::ToolOutput::Replaced)
    {
        assert!(tried.contains(&client.client.name()), "{}", client.title);
    }
}

#[test]
fn what_hides_a_command_from_one_reading_is_found_by_another() {
    let environment = TestEnvironment::new();
    let (home, project) = (environment.home(), environment.project());
    fs::write(home.join("notes.txt"), "the only copy\n").unwrap();
    let cline = |commands: Json| {
        json!({ "taskId": "t", "hookName": "tool_call", "workspaceRoots": [project],
            "tool_call": { "id": "1", "name": "run_commands", "input": { "commands": commands } } })
    };
    let typed = |input: &str| {
        json!({ "sessionId": "s", "timestamp": 1, "cwd": project, "toolName": "write_bash",
            "toolArgs": { "shellId": "1", "input": input, "delay": 1 } })
    };
    let server = |input: Json| {
        json!({ "session_id": "s", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": "mcp__sh__run",
            "tool_input": input, "tool_use_id": "c" })
    };
    for (client, payload) in [
        ("cline", cline(json!(["echo 'a", "rm -rf ~", "echo 'b"]))),
        ("cline", cline(json!(["echo ${x:-", "rm -rf ~", "}"]))),
        ("cline", cline(json!(["cat <<X", "rm -rf ~"]))),
        ("copilot", typed("rm -rf ~{enter}")),
        ("copilot", typed("{enter}rm -rf ~x{backspace}{enter}")),
        ("codex", server(json!({ "command": "rm -rf *", "cwd": home }))),
        ("codex", server(json!({ "command": "rm -rf *", "workingDirectory": home }))),
        (
            "copilot",
            json!({ "sessionId": "s", "timestamp": 1, "cwd": project, "toolName": "bash", "toolArgs": { "command": "rm -rf *", "cwd": home } }),
        ),
    ] {
        let row = checkrein_clients::named(client).unwrap();
        let output = said(&environment, client, &payload);
        assert!(row.canary.is_denied(&output), "{client}: {payload}: {output:?}");
    }
    for (client, payload) in [
        ("cline", cline(json!(["echo 'a'", "cd src", "ls"]))),
        ("copilot", typed("ls{enter}")),
        ("codex", server(json!({ "command": "ls", "cwd": project }))),
    ] {
        let row = checkrein_clients::named(client).unwrap();
        let output = said(&environment, client, &payload);
        assert!(!row.canary.is_denied(&output), "{client}: {payload}: {output:?}");
    }
}

#[test]
fn a_call_costs_about_the_same_for_every_client() {
    let environment = TestEnvironment::new();
    let mut all = Vec::new();
    for client in CLIENTS {
        let name = client.client.name();
        let payload = dangerous(client, &environment, "ls -la");
        let mut times: Vec<_> = (0..5)
            .map(|_| {
                let started = std::time::Instant::now();
                said(&environment, name, &payload);
                started.elapsed()
            })
            .collect();
        times.sort();
        println!("{:12} {:6.1} ms", client.title, times[2].as_secs_f64() * 1000.0);
        all.push(times[0]);
    }
    let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
    assert!(*most < *least * 5 + std::time::Duration::from_millis(200), "{least:?} to {most:?}");
}

/// Whether a client's hook lets a call through.
fn passes(environment: &TestEnvironment, client: &str, payload: &Json) -> bool {
    let output = said_to(environment, client, &payload.to_string());
    let object: Json = serde_json::from_slice(&output.object).unwrap_or_default();
    let is_changed = ["overrideInput", "cancel", "permission"].iter().any(|key| object.get(key).is_some());
    output.refusal.is_none() && !is_changed
}

#[test]
fn no_call_of_windsurf_says_what_its_workspace_is() {
    let environment = TestEnvironment::new();
    environment.write("src/a.py", "x = 1\n");
    let home = environment.home();
    fs::create_dir_all(home.join("notes")).unwrap();
    fs::write(home.join("notes/novel.txt"), "the only copy\n").unwrap();
    let novel = home.join("notes/novel.txt");
    let call = |event: &str, info: Json| json!({ "agent_action_name": event, "trajectory_id": "w", "execution_id": "e", "tool_info": info });
    let edits = json!([{ "old_string": "the only copy", "new_string": "" }]);
    let to_server = |path: &std::path::Path| json!({ "mcp_server_name": "fs", "mcp_tool_name": "write_file", "mcp_tool_arguments": { "path": path, "content": "" } });
    for payload in [
        call("pre_run_command", json!({ "command_line": "rm -rf notes", "cwd": home })),
        call(
            "pre_run_command",
            json!({ "command_line": format!("rm -rf {}", home.join("notes").display()), "cwd": "/" }),
        ),
        call(
            "pre_run_command",
            json!({ "command_line": format!("rm -rf {}", home.join("notes").display()) }),
        ),
        call("pre_write_code", json!({ "file_path": novel, "edits": edits })),
        call("pre_mcp_tool_use", to_server(&novel)),
    ] {
        assert!(!passes(&environment, "windsurf", &payload), "{payload}");
    }
    let environment = TestEnvironment::new();
    environment.write("src/a.py", "x = 1\n");
    let project_file = environment.project().join("src/a.py");
    for payload in [
        call("pre_run_command", json!({ "command_line": "ls -la", "cwd": environment.project() })),
        call(
            "pre_run_command",
            json!({ "command_line": "cat a.py", "cwd": environment.project().join("src") }),
        ),
        call("pre_run_command", json!({ "command_line": "ls", "cwd": environment.home() })),
        call(
            "pre_write_code",
            json!({ "file_path": project_file, "edits": [{ "old_string": "1", "new_string": "2" }] }),
        ),
        call("pre_mcp_tool_use", to_server(&environment.project().join("n.txt"))),
    ] {
        assert!(passes(&environment, "windsurf", &payload), "{payload}");
    }
}

#[test]
fn a_patch_or_a_document_is_what_cline_makes_of_it() {
    let environment = TestEnvironment::new();
    environment.write("src/a.py", "x = 1\n");
    let home = environment.home();
    fs::write(home.join("thesis.tex"), "the only copy\n").unwrap();
    let call = |tool: &str, input: Json| {
        json!({ "taskId": "t", "hookName": "tool_call", "workspaceRoots": [environment.project()],
            "tool_call": { "id": "1", "name": tool, "input": input } })
    };
    let remove = format!("rm -rf {}", home.display());
    for (payload, is_let) in [
        (
            call(
                "apply_patch",
                json!({ "input": format!("*** Delete File: {}\n", home.join("thesis.tex").display()) }),
            ),
            false,
        ),
        (
            call("apply_patch", json!({ "input": "%%bash\n*** Add File: .cline/hooks/PreToolUse.sh\n+x\n" })),
            false,
        ),
        (call("run_commands", json!({ "commands": ["cat <<X", remove, "X\u{85}"] })), false),
        (call("run_commands", json!({ "commands": ["cat <<\u{85}X", remove, "X"] })), false),
        (call("run_commands", json!({ "commands": ["cat <<X", remove, "X"] })), true),
        (call("apply_patch", json!({ "input": "*** Add File: src/b.py\n+x = 1\n" })), true),
    ] {
        assert_eq!(passes(&environment, "cline", &payload), is_let, "{payload}");
    }
}

#[test]
fn what_cursor_fetches_or_draws_into_a_file_is_written_there() {
    let environment = TestEnvironment::new();
    let call = |tool: &str, input: Json| {
        json!({ "conversation_id": "s", "hook_event_name": "preToolUse", "workspace_roots": [environment.project()],
            "cwd": environment.project(), "tool_name": tool, "tool_input": input })
    };
    for (payload, is_let) in [
        (
            call(
                "FetchMcpResource",
                json!({ "server": "x", "uri": "y", "downloadPath": ".cursor/hooks.json" }),
            ),
            false,
        ),
        (
            call(
                "FetchMcpResource",
                json!({ "server": "x", "uri": "y", "downloadPath": environment.home().join(".bashrc") }),
            ),
            false,
        ),
        (call("GenerateImage", json!({ "description": "x", "filename": ".git/hooks/pre-commit" })), false),
        (call("GenerateImage", json!({ "description": "a cat", "filename": "cat.png" })), true),
        (
            call("FetchMcpResource", json!({ "server": "x", "uri": "y", "downloadPath": "docs/page.md" })),
            true,
        ),
        (call("FetchMcpResource", json!({ "server": "x", "uri": "y" })), true),
    ] {
        assert_eq!(passes(&environment, "cursor", &payload), is_let, "{payload}");
    }
}
