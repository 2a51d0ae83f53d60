//! Clients other than Claude Code: recorded payloads, and answers in exactly the form that each obeys.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;

use checkrein_clients::{CLIENTS, ClientPath, SettingsScope};
use checkrein_protocol::AbsolutePath;
use serde_json::{Value as Json, json};
use support::TestEnvironment;

/// The recorded payloads of a client, by name.
fn recorded(folder: &str) -> Vec<(String, Json)> {
    let mut files: Vec<_> = fs::read_dir(format!("tests/payloads/{folder}"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
    };
    files.iter().map(read).collect()
}

/// The answer of the hook of a client.
fn answer(environment: &TestEnvironment, client: &str, payload: &Json) -> Json {
    let mut hook = environment.command(env!("CARGO_BIN_EXE_checkrein-hook"));
    let mut child = hook
        .arg(client)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{client}: {}", output.status);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Passes all recorded payloads of a client through its hook: each is answered, recorded and let through. Returns the answers.
fn replay(client: &str, folder: &str) -> Vec<(String, Json)> {
    let environment = TestEnvironment::new();
    let all = recorded(folder);
    assert!(all.len() > 20, "only {} payloads", all.len());
    let answers = all.into_iter().map(|(name, mut payload)| {
        payload["session_id"] = json!(name);
        let answer = answer(&environment, client, &payload);
        for key in ["decision", "continue", "stopReason"] {
            assert!(answer.get(key).is_none(), "{name}: {answer}");
        }
        assert_eq!(answer["hookSpecificOutput"].get("permissionDecision"), None, "{name}: {answer}");
        assert!(!environment.records(&name).is_empty(), "{name} is not recorded");
        (name, answer)
    });
    answers.collect()
}

/// A call of the shell in a recorded payload of a client.
fn shell(environment: &TestEnvironment, folder: &str, name: &str, command: &str) -> Json {
    let file = format!("tests/payloads/{folder}/{name}.json");
    let mut payload: Json = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    payload["cwd"] = json!(environment.project());
    payload["tool_input"]["command"] = json!(command);
    payload
}

#[test]
fn every_client_has_a_row_that_holds_together() {
    for client in CLIENTS {
        let (name, hooks, places) = (client.client.name(), &client.hooks, &client.places);
        assert_eq!(hooks.client, name);
        assert_eq!(CLIENTS.iter().filter(|other| other.client == client.client).count(), 1);
        assert!(hooks.vital.contains(&hooks.reviewing), "{name}: the review of calls must not pass unseen");
        assert!(
            hooks.vital.iter().all(|vital| hooks.events.iter().any(|(event, _)| event == vital)),
            "{name}"
        );
        for (scope, place) in places.settings {
            assert!(
                places.guarded.iter().any(|(guarded, _)| guarded == place),
                "{name}: {place:?} is not guarded"
            );
            assert_ne!(places.of_scope(*scope), None);
        }
        assert!(places.of_scope(SettingsScope::User).is_some() && !client.programs.is_empty(), "{name}");
        assert!(
            places
                .written
                .iter()
                .all(|file| places.of_scope(SettingsScope::Local) == Some(ClientPath::Project(file)))
        );
    }
}

#[test]
fn the_canary_of_every_client_is_refused_and_a_failure_refuses_too() {
    let environment = TestEnvironment::new();
    let cwd = AbsolutePath::new(environment.project().to_str().unwrap()).unwrap();
    for client in CLIENTS {
        let name = client.client.name();
        let payload: Json = serde_json::from_slice(&client.canary.payload(&cwd)).unwrap();
        let refused = answer(&environment, name, &payload);
        assert!(client.canary.is_denied(refused.to_string().as_bytes()), "{name}: {refused}");
        for allowing in [json!({}), json!({"decision": "allow"}), json!("deny")] {
            assert!(!client.canary.is_denied(allowing.to_string().as_bytes()), "{name}");
        }
        let failed = answer(&environment, name, &json!({"hook_event_name": "?"}));
        let is_refusal = ["deny", "block"].iter().any(|word| failed["decision"] == *word);
        assert!(
            is_refusal && failed["reason"].as_str().is_some_and(|reason| !reason.is_empty()),
            "{name}: {failed}"
        );
    }
}

#[test]
fn hooks_of_every_client_are_registered_and_taken_back() {
    let environment = TestEnvironment::new();
    for client in CLIENTS {
        let name = client.client.name();
        environment.succeed(&["init", "--client", name, "--user", "--yes"]);
        let Some(ClientPath::Folder(file)) = client.places.of_scope(SettingsScope::User) else {
            panic!("{name}")
        };
        let path = environment.home().join(client.places.folder).join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            client.hooks.reviewing_command(&text).unwrap().contains(&format!("checkrein-hook {name})&&"))
        );
        let installed = fs::read_to_string(environment.state().join("installed.json")).unwrap();
        assert!(installed.contains(&format!("\"client\": \"{name}\"")), "{installed}");
        environment.succeed(&["uninstall", "--client", name, "--user", "--yes"]);
        let left = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(client.hooks.reviewing_command(&left), None);
    }
}

#[test]
fn recorded_payloads_of_codex_get_no_key_that_it_does_not_know() {
    for (name, answer) in replay("codex", "codex") {
        let mut known = answer.as_object().unwrap().clone();
        let specific = known.remove("hookSpecificOutput").unwrap_or(json!({}));
        known.remove("systemMessage");
        assert!(known.is_empty(), "{name}: {answer}");
        let keys = ["hookEventName", "additionalContext"];
        assert!(
            specific.as_object().unwrap().keys().all(|key| keys.contains(&key.as_str())),
            "{name}: {answer}"
        );
    }
}

#[test]
fn codex_refuses_in_the_only_form_that_codex_obeys() {
    let environment = TestEnvironment::new();
    let call = |command: &str| {
        let answer = answer(&environment, "codex", &shell(&environment, "codex", "PreToolUse-Bash", command));
        let reason =
            answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default().to_owned();
        let exact = json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
        }});
        assert!(!reason.is_empty() && answer == exact, "{command}: {answer}");
        reason
    };
    assert!(call("rm -rf ~").starts_with("checkrein stopped this call"));
    // A question would let it run: it is refused, and the words say by whom and how it can be allowed.
    let asked = call("git push --force origin main");
    assert!(
        asked.contains("Codex asks nobody") && asked.contains("The user allows it by doing it in a terminal"),
        "{asked}"
    );
    for file in ["~/.codex/hooks.json", "~/.codex/config.toml", ".codex/hooks.json"] {
        assert!(call(&format!("echo x > {file}")).contains("the guard itself"), "{file}");
    }
}

#[test]
fn a_hook_of_codex_that_nobody_trusted_is_no_protection() {
    let environment = TestEnvironment::new();
    let said = environment.succeed(&["init", "--client", "codex", "--yes"]);
    assert!(said.contains("/hooks") && said.contains("doctor --client codex"), "{said}");
    let doctor = || {
        let output = environment.checkrein(&["doctor", "--client", "codex"]);
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (protected, text) = doctor();
    assert!(!protected && text.contains("nobody has trusted it yet"), "{text}");
    let path = environment.home().join(".codex/hooks.json");
    let key = format!("{}:pre_tool_use:0:0", path.display());
    let config = format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:ab\"\n");
    fs::write(environment.home().join(".codex/config.toml"), config).unwrap();
    let (protected, text) = doctor();
    assert!(protected && text.contains("write_stdin"), "{text}");
}

#[test]
fn recorded_payloads_of_gemini_are_let_through_and_paired() {
    replay("gemini", "gemini-cli");
    let environment = TestEnvironment::new();
    for (name, failed) in
        [("run_shell_command", false), ("run_shell_command-exit3", true), ("read_file-error", true)]
    {
        let before = if name == "read_file-error" { "AfterTool-read_file-error" } else { "BeforeTool-" };
        let read = |file: String| -> Json {
            serde_json::from_slice(&fs::read(format!("tests/payloads/gemini-cli/{file}.json")).unwrap())
                .unwrap()
        };
        let mut after = read(format!("AfterTool-{name}"));
        let mut call =
            if before == "BeforeTool-" { read(format!("BeforeTool-{name}")) } else { after.clone() };
        call["hook_event_name"] = json!("BeforeTool");
        for payload in [&mut call, &mut after] {
            payload["session_id"] = json!(name);
            payload["cwd"] = json!(environment.project());
            answer(&environment, "gemini", payload);
        }
        let records = environment.records(name);
        let of = |kind: &str| {
            records.iter().find(|record| record["body"]["type"] == kind).unwrap()["body"].clone()
        };
        let (review, outcome) = (of("review"), of("outcome"));
        assert_eq!(review["action_id"], outcome["action_id"], "{name}: no call is named, yet they are one");
        assert_eq!(outcome["failed"], failed, "{name}");
    }
}

#[test]
fn gemini_refuses_in_the_form_that_gemini_obeys() {
    let environment = TestEnvironment::new();
    let call = |command: &str| {
        let payload = shell(&environment, "gemini-cli", "BeforeTool-run_shell_command", command);
        answer(&environment, "gemini", &payload)
    };
    let refused = |command: &str| {
        let answer = call(command);
        let reason = answer["reason"].as_str().unwrap_or_default().to_owned();
        assert!(
            !reason.is_empty() && answer == json!({ "decision": "deny", "reason": reason }),
            "{command}: {answer}"
        );
        reason
    };
    assert!(refused("rm -rf ~").starts_with("checkrein stopped this call"));
    let asked = refused("git push --force origin main");
    assert!(asked.contains("Gemini CLI asks nobody") && asked.contains("doing it in a terminal"), "{asked}");
    for file in ["~/.gemini/settings.json", ".gemini/settings.json"] {
        assert!(refused(&format!("echo x > {file}")).contains("the guard itself"), "{file}");
    }
    assert_eq!(call("ls -la"), json!({}));
    // What is said beside a call that runs is for the user: the model would not get it.
    environment.write("notes/plan.md", "only here\n");
    let saved = call("rm -rf notes");
    assert!(saved["systemMessage"].as_str().is_some_and(|text| text.contains("checkrein undo")), "{saved}");
}

#[test]
fn the_line_that_calls_the_hook_passes_on_what_it_hears_and_refuses_silence() {
    let environment = TestEnvironment::new();
    let path = environment.home().join("checkrein-hook");
    let long = "x".repeat(300_000);
    let object = format!("{{\"a\": \"\\n$x -n {long}\"}}\n");
    fs::write(environment.home().join("answer"), &object).unwrap();
    for (program, says) in [
        ("#!/bin/sh\necho '{}'\n", Some("{}\n")),
        ("#!/bin/sh\ncat \"${0%/*}/answer\"\n", Some(object.as_str())),
        ("#!/bin/sh\n", None),
        ("", None),
        ("#!/bin/sh\necho '{}'; exit 1\n", None),
        ("#!/bin/sh\necho '{}'; kill -9 $$\n", None),
    ] {
        // By a process of its own: no other test holds it open for writing when it is started.
        let mut writing = environment
            .command("sh")
            .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        writing.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
        assert!(writing.wait().unwrap().success());
        for client in CLIENTS {
            let command = client.hooks.command(path.to_str().unwrap());
            let line = client.hooks.reviewing_line(&command);
            for shell in ["sh", "bash"] {
                let output = environment.command(shell).args(["-c", &line]).output().unwrap();
                let refused = String::from_utf8_lossy(&output.stderr).contains("did not answer");
                let heard = String::from_utf8(output.stdout).unwrap();
                let expected = (says.unwrap_or_default(), if says.is_some() { 0 } else { 2 });
                assert!(heard == expected.0, "{shell}: {program}: {}", heard.len());
                assert_eq!(output.status.code(), Some(expected.1), "{shell}: {program}");
                assert_eq!(refused, says.is_none(), "{shell}: {program}");
            }
        }
    }
}
