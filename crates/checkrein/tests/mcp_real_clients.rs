//! Real clients with a server behind the gateway, driven by a scripted model: what counts is what reached the model and the server.
//!
//! The clients are installed by `cargo xtask clients`; one that is not there is named as not run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use checkrein_testkit::not_run;
use serde_json::{Value as Json, json};
use support::chat_model::ChatModel;
use support::client::run;
use support::model::{Model, Turn, bash};
use support::{TestEnvironment, clients, repository};

const TOKEN: &str = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");

/// How long one run of a client may take.
const PATIENCE: Duration = Duration::from_mins(4);

/// The words that start the scripted server, with its tools written down for it.
fn server(environment: &TestEnvironment, description: &str) -> Vec<String> {
    let tool = |name: &str| json!({ "name": name, "description": description, "inputSchema": { "type": "object", "properties": {} } });
    let script = environment.home().join("script.json");
    fs::write(&script, json!({ "tools": [tool("get_secret"), tool("delete_everything")] }).to_string())
        .unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let program = repository().join("crates/checkrein/tests/mcp/server.py");
    vec!["python3".to_owned(), text(&program), text(&script), text(&environment.home().join("heard.jsonl"))]
}

fn heard(environment: &TestEnvironment) -> String {
    fs::read_to_string(environment.home().join("heard.jsonl")).unwrap_or_default()
}

fn claude(environment: &TestEnvironment) -> Model {
    // The client goes on while the server starts.
    drop(fs::remove_file(environment.home().join("heard.jsonl.listed-to-claude-code")));
    let calls = vec![
        bash(
            "for i in $(seq 60); do sleep 0.1; test -e ../heard.jsonl.listed-to-claude-code && break; done; sleep 0.4",
        ),
        Turn::Calls(vec![("mcp__vault__get_secret", json!({}))]),
        Turn::Calls(vec![("mcp__vault__delete_everything", json!({}))]),
        Turn::Says("finished"),
    ];
    let model = Model::start(calls, vec![]);
    fs::create_dir_all(environment.home().join(".claude")).unwrap();
    let settings = environment.home().join(".claude/settings.json");
    fs::write(settings, json!({ "enableAllProjectMcpServers": true }).to_string()).unwrap();
    run(environment, &model, &["mcp__vault__get_secret", "mcp__vault__delete_everything"]);
    model
}

#[test]
fn claude_code_with_a_server_behind_the_gateway() {
    let environment = TestEnvironment::new();
    let words = server(&environment, "Does something");
    let named = json!({ "mcpServers": { "vault": { "command": words[0], "args": words[1..] } } });
    environment.write(".mcp.json", &named.to_string());
    environment.succeed(&["init", "--mcp", "--yes"]);
    let model = claude(&environment);
    assert!(model.heard().contains("[masked:") && !model.heard().contains(TOKEN), "{}", model.heard());
    assert!(heard(&environment).contains("get_secret") && !heard(&environment).contains("delete_everything"));
    assert!(model.heard().contains("checkrein stopped this call"), "{}", model.heard());
    // Its own hook reviewed the calls, so the gateway did not.
    let sessions = fs::read_dir(environment.state().join("sessions")).unwrap().flatten();
    let folders: Vec<String> = sessions.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert!(folders.iter().all(|name| !name.starts_with("mcp-")), "{folders:?}");

    // The server says something else of its tools from now on.
    server(&environment, "Does something for quokkas");
    let before = heard(&environment).matches("tools/call").count();
    let model = claude(&environment);
    assert_eq!(heard(&environment).matches("tools/call").count(), before, "{}", model.heard());
    environment.succeed(&["mcp", "accept", "vault", "--yes"]);
    let model = claude(&environment);
    assert_eq!(heard(&environment).matches("tools/call").count(), before + 1, "{}", model.heard());

    environment.succeed(&["uninstall", "--yes"]);
    assert_eq!(fs::read_to_string(environment.project().join(".mcp.json")).unwrap(), named.to_string());
}

/// The OpenCode program, where it is installed.
fn opencode() -> Option<PathBuf> {
    let path = clients().join("opencode-linux-x64/bin/opencode");
    path.is_file().then_some(path)
}

/// Names the scripted server in the settings of OpenCode, and puts it behind the gateway.
fn opencode_settings(environment: &TestEnvironment, model: &ChatModel, words: &[String]) {
    let settings = json!({ "model": "own/m", "small_model": "own/m", "autoupdate": false, "share": "disabled",
        "mcp": { "vault": { "type": "local", "command": words, "enabled": true } },
        "provider": { "own": { "npm": "@ai-sdk/openai-compatible", "name": "own",
            "options": { "baseURL": model.url(), "apiKey": "dummy" },
            "models": { "m": { "name": "m", "tool_call": true, "limit": { "context": 200_000, "output": 8000 } } } } } });
    let path = environment.home().join(".config/opencode/opencode.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, settings.to_string()).unwrap();
    environment.succeed(&["init", "--mcp", "--client", "opencode", "--user", "--yes"]);
    let changed: Json = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(changed["mcp"]["vault"]["command"][1], "mcp");
}

fn opencode_calls() -> ChatModel {
    ChatModel::start(vec![("vault_get_secret", json!({})), ("vault_delete_everything", json!({}))])
}

/// Runs OpenCode until it ends.
fn run_opencode(environment: &TestEnvironment, program: &Path, model: &ChatModel) {
    let mut command = environment.command(program);
    for what in ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD"] {
        command.env(format!("OPENCODE_DISABLE_{what}"), "1");
    }
    command.args(["run", "--format", "json", "--auto", "do it"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it did not end: {}", model.heard());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn opencode_with_a_server_behind_the_gateway() {
    let Some(program) = opencode() else {
        not_run("opencode is not installed here: `cargo xtask clients`");
        return;
    };
    let environment = TestEnvironment::new();
    let model = opencode_calls();
    opencode_settings(&environment, &model, &server(&environment, "Does something"));
    run_opencode(&environment, &program, &model);
    let said = model.heard();
    assert!(said.contains("[masked:") && !said.contains(TOKEN), "{said}");
    assert!(said.contains("checkrein stopped this call"), "{said}");
    assert!(heard(&environment).contains("get_secret") && !heard(&environment).contains("delete_everything"));
}

#[test]
fn one_server_that_claude_code_and_opencode_share_is_one_behind_the_gateway() {
    let Some(program) = opencode() else {
        not_run("opencode is not installed here: `cargo xtask clients`");
        return;
    };
    let environment = TestEnvironment::new();
    let words = server(&environment, "Does something");
    let named = json!({ "mcpServers": { "vault": { "command": words[0], "args": words[1..] } } });
    environment.write(".mcp.json", &named.to_string());
    environment.succeed(&["init", "--mcp", "--yes"]);
    // Both at the same time; what the model of each heard.
    let both = || {
        let model = opencode_calls();
        opencode_settings(&environment, &model, &words);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| claude(&environment).heard());
            run_opencode(&environment, &program, &model);
            [other.join().unwrap(), model.heard()]
        })
    };
    for said in both() {
        assert!(said.contains("[masked:") && !said.contains(TOKEN), "{said}");
        assert!(said.contains("checkrein stopped this call"), "{said}");
    }
    let calls = || heard(&environment).matches("tools/call").count();
    assert_eq!(calls(), 2, "{}", heard(&environment));
    assert!(!heard(&environment).contains("delete_everything"), "{}", heard(&environment));
    let listed = environment.succeed(&["mcp", "list"]);
    assert_eq!(listed.matches("script.json").count(), 1, "it is one server: {listed}");

    // What it says of its tools from now on reaches neither, until a user accepts it once for both.
    server(&environment, "Does something for quokkas");
    for said in both() {
        assert!(!said.contains("quokkas"), "{said}");
    }
    assert_eq!(calls(), 2, "{}", heard(&environment));
    environment.succeed(&["mcp", "accept", "vault", "--yes"]);
    both();
    assert_eq!(calls(), 4, "{}", heard(&environment));
    environment.succeed(&["audit", "verify"]);
}
