//! The plugin for Claude Code in `packaging/marketplace`: the hooks that `init --team` registers, installed by the real client from a folder.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value as Json;
use support::TestEnvironment;
use support::client::{client, run, session_of, with_a_person};
use support::model::{Model, Turn, bash};

fn marketplace() -> PathBuf {
    support::repository().join("packaging/marketplace")
}

fn json(path: PathBuf) -> Json {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The programs where the hooks look for them.
fn installed() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let folder = environment.home().join(".local/bin");
    fs::create_dir_all(&folder).unwrap();
    for (program, name) in [
        (env!("CARGO_BIN_EXE_checkrein"), "checkrein"),
        (env!("CARGO_BIN_EXE_checkrein-hook"), "checkrein-hook"),
    ] {
        support::copy_program(program, folder.join(name));
    }
    environment
}

fn plugin(environment: &TestEnvironment, arguments: &[&str]) -> Output {
    let mut command = environment.command(client());
    command
        .arg("plugin")
        .args(arguments)
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .output()
        .unwrap()
}

fn install(environment: &TestEnvironment) {
    install_from(environment, &marketplace());
}

fn install_from(environment: &TestEnvironment, folder: &Path) {
    for arguments in [
        ["marketplace", "add", folder.to_str().unwrap()].as_slice(),
        ["install", "checkrein@checkrein"].as_slice(),
    ] {
        let output = plugin(environment, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn the_hooks_of_the_plugin_are_those_that_a_team_registers() {
    let environment = installed();
    let checkrein = environment.home().join(".local/bin/checkrein");
    let output = environment.command(checkrein).args(["init", "--team", "--yes"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let registered = json(environment.project().join(".claude/settings.json"));
    let ours = json(marketplace().join("checkrein/hooks/hooks.json"));
    assert_eq!(ours["hooks"], registered["hooks"], "`checkrein init --team` writes what belongs there");
    let version = json(marketplace().join("checkrein/.claude-plugin/plugin.json"))["version"].clone();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
}

/// The files of the client with the plugin installed and nothing else, as 2.1.197 leaves them.
fn with_files(environment: &TestEnvironment, enabled: bool) {
    let folder = environment.home().join(".claude/plugins");
    let place = folder.join("cache/checkrein/checkrein/0.1.0");
    fs::create_dir_all(place.join("hooks")).unwrap();
    fs::copy(marketplace().join("checkrein/hooks/hooks.json"), place.join("hooks/hooks.json")).unwrap();
    let entry = serde_json::json!([{ "scope": "user", "installPath": place, "version": "0.1.0" }]);
    let installed = serde_json::json!({ "version": 2, "plugins": { "checkrein@checkrein": entry } });
    fs::write(folder.join("installed_plugins.json"), installed.to_string()).unwrap();
    let settings = serde_json::json!({ "enabledPlugins": { "checkrein@checkrein": enabled } });
    fs::write(environment.home().join(".claude/settings.json"), settings.to_string()).unwrap();
}

#[test]
fn the_plugin_alone_protects_and_is_known_to() {
    let environment = installed();
    let checkrein = environment.home().join(".local/bin/checkrein");
    let doctor = || environment.command(&checkrein).arg("doctor").output().unwrap();
    let said = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    with_files(&environment, false);
    assert!(said(&doctor()).contains("NOT protected"));
    with_files(&environment, true);
    let output = doctor();
    let text = said(&output);
    assert!(output.status.success() && !text.contains("NOT protected"), "{text}");
    assert!(text.contains("all events registered, by the plugin"), "{text}");
    // A project that switches it off has none.
    environment.write(".claude/settings.json", r#"{"enabledPlugins":{"checkrein@checkrein":false}}"#);
    assert!(said(&doctor()).contains("NOT protected"));
}

#[test]
fn the_client_installs_it_from_a_folder_and_calls_are_reviewed() {
    let environment = installed();
    install(&environment);
    let project = environment.project().display().to_string();
    let model = Model::start(vec![bash("rm -rf ~/project"), bash("ls"), Turn::Says("finished")], vec![]);
    let result = run(&environment, &model, &["--dangerously-skip-permissions"]);
    assert!(fs::metadata(&project).is_ok(), "{result}");
    assert!(model.heard().contains("checkrein stopped this call"), "{}", model.heard());
    let session = session_of(&result);
    let reviews =
        environment.records(session).iter().filter(|one| one.to_string().contains("\"review\"")).count();
    assert!(reviews >= 2, "{:?}", environment.records(session));
}

#[test]
fn beside_registered_hooks_each_call_is_reviewed_once() {
    let environment = installed();
    install(&environment);
    environment.succeed(&["init", "--yes"]);
    let model = Model::start(vec![bash("ls"), Turn::Says("finished")], vec![]);
    let result = run(&environment, &model, &["--dangerously-skip-permissions"]);
    let records = environment.records(session_of(&result));
    let text = records.iter().map(Json::to_string).collect::<Vec<_>>().join("\n");
    assert!(!text.contains("unreviewed"), "nobody is accused: {text}");
    assert!(!model.heard().contains("without review"), "{}", model.heard());
}

/// Why the plugin brings no status line: the client takes one from the settings of the user alone. Should it take one from a plugin some
/// day, this says so.
#[test]
fn a_plugin_cannot_set_the_status_line_and_the_user_can() {
    let environment = installed();
    let line = |name: &str| {
        let command = format!("echo {name} >> {}", environment.home().join("lines").display());
        serde_json::json!({ "type": "command", "command": command })
    };
    let folder = environment.home().join("marketplace");
    let copied = environment.command("cp").arg("-r").arg(marketplace()).arg(&folder).status().unwrap();
    assert!(copied.success());
    let manifest = folder.join("checkrein/.claude-plugin/plugin.json");
    let mut named = json(manifest.clone());
    named["statusLine"] = line("manifest");
    fs::write(manifest, named.to_string()).unwrap();
    let settings = serde_json::json!({ "statusLine": line("plugin") });
    fs::write(folder.join("checkrein/settings.json"), settings.to_string()).unwrap();
    install_from(&environment, &folder);
    let lines = || fs::read_to_string(environment.home().join("lines")).unwrap_or_default();
    let played = || {
        let model = Model::start(vec![bash("ls"), Turn::Says("finished")], vec![]);
        let end = std::cell::Cell::new(None);
        let done = || {
            if model.asked() >= 2 && end.get().is_none() {
                end.set(Some(std::time::Instant::now()));
            }
            end.get().is_some_and(|at: std::time::Instant| at.elapsed().as_secs() > 3)
        };
        with_a_person(&environment, &model, &["--dangerously-skip-permissions"], done)
    };
    played();
    assert_eq!(lines(), "", "the client takes a status line from a plugin");
    let of_user = environment.home().join(".claude/settings.json");
    let mut all = json(of_user.clone());
    assert_eq!(all["enabledPlugins"]["checkrein@checkrein"], true, "{all}");
    all["statusLine"] = line("user");
    fs::write(of_user, all.to_string()).unwrap();
    played();
    assert!(lines().contains("user"), "{}", lines());
}

#[test]
fn its_commands_show_the_model_what_the_guard_saw() {
    let environment = installed();
    install(&environment);
    for (command, shown) in [
        ("/checkrein:log", "session began (claude"),
        ("/checkrein:why", "These are the newest ones:"),
        ("/checkrein:undo", "This is what `checkrein undo` would do:"),
    ] {
        let model = Model::start(vec![Turn::Says("finished")], vec![]);
        let folder = environment.home().join(".local/bin");
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display());
        let output = environment
            .command(client())
            .args(["-p", command, "--dangerously-skip-permissions"])
            .env("PATH", path)
            .env("ANTHROPIC_BASE_URL", model.url())
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("IS_SANDBOX", "1")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let heard = model.heard();
        assert!(heard.contains(shown), "{command}: {output:?}\n{heard}");
        assert!(!heard.contains("!`checkrein"), "its output stands there: {heard}");
    }
}
