//! A session is held to what it began with, and what protected it is missed when it is gone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use support::{TestEnvironment, copy_program, decision, reason, shell_call};

/// How long anything may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_mins(1);

/// A clone of a project whose committed settings call the hooks, on a machine where `init` never ran.
fn cloned() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    let folder = environment.project().join(".claude");
    fs::rename(folder.join("settings.local.json"), folder.join("settings.json")).unwrap();
    fs::remove_file(environment.state().join("installed.json")).unwrap();
    environment
}

fn start(environment: &TestEnvironment, session: &str) -> Json {
    environment.answer_to(&environment.payload(session, "SessionStart", json!({ "source": "startup" })))
}

/// What the hook answers to a shell call in another directory.
fn bash_in(environment: &TestEnvironment, directory: &Path, session: &str, command: &str) -> Json {
    let mut fields = shell_call("call", command, json!({}));
    fields["cwd"] = json!(directory);
    environment.answer_to(&environment.payload(session, "PreToolUse", fields))
}

#[test]
fn settings_that_a_session_found_are_kept_as_those_that_a_person_registered() {
    let environment = cloned();
    let settings = environment.project().join(".claude/settings.json");
    let fields = json!({ "source": "project_settings", "file_path": settings });
    let change = |session: &str| environment.payload(session, "ConfigChange", fields.clone());
    start(&environment, "one");
    assert_eq!(environment.answer_to(&change("one")), json!({}), "nothing has changed");
    let before = fs::read_to_string(&settings).unwrap();
    for changed in [
        before.replace("exit 2;", "exit 0;"),
        before.replace("checkrein-hook claude", "checkrein-hook claude||true"),
        before.replacen('{', "{\"env\": {\"XDG_CONFIG_HOME\": \"/tmp/x\"},", 1),
        "{}".to_owned(),
    ] {
        assert_ne!(changed, before);
        fs::write(&settings, changed).unwrap();
        assert_eq!(environment.answer_to(&change("one"))["decision"], "block");
    }
    fs::remove_file(&settings).unwrap();
    assert_eq!(environment.answer_to(&change("one"))["decision"], "block");
    assert_eq!(decision(&environment.bash("one", "echo {} > .claude/settings.json")), Some("deny"));
}

#[test]
fn a_session_without_a_start_on_record_begins_with_its_first_call() {
    let environment = cloned();
    environment.bash("one", "ls");
    fs::remove_file(environment.project().join(".claude/settings.json")).unwrap();
    let fields = json!({ "file_path": environment.project().join(".claude/settings.json") });
    let change = environment.payload("one", "ConfigChange", fields);
    assert_eq!(environment.answer_to(&change)["decision"], "block");
}

#[test]
fn hooks_that_are_gone_are_missed_by_the_session_by_others_and_by_the_commands() {
    let environment = cloned();
    start(&environment, "one");
    let prompt = environment.payload("one", "UserPromptSubmit", json!({ "prompt": "go on" }));
    assert_eq!(environment.answer_to(&prompt), json!({}));
    fs::remove_file(environment.project().join(".claude/settings.json")).unwrap();
    environment.answer_to(&environment.payload("one", "Stop", json!({})));
    let told = |session: &str| {
        let records = environment.records(session);
        records.iter().any(|record| record["body"]["type"] == "failure" && record["body"]["kind"] == "fallen")
    };
    assert!(told("one"));
    let heard = environment.answer_to(&prompt).to_string();
    assert!(heard.contains("new sessions are not reviewed") && heard.contains("the file is gone"), "{heard}");
    // A session elsewhere, of the same user, is the only one with hooks now.
    let heard = start(&environment, "two").to_string();
    assert!(heard.contains("new sessions are not reviewed"), "{heard}");
    for command in [&["log"][..], &["sessions"], &["watch", "--once", "--all"]] {
        let output = environment.checkrein(command);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("new sessions are not reviewed"), "{command:?}: {said}");
    }
    // In another project it is told of once, and always by the one that looks.
    let elsewhere = environment.home().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let there = |arguments: &[&str]| {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let output =
            command.args(arguments).current_dir(&elsewhere).stdin(std::process::Stdio::null()).output();
        let output = output.unwrap();
        (String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let is_said = |text: &str| text.contains("new sessions are not reviewed");
    let told = [&["log"][..], &["sessions"], &["log"]].map(|command| is_said(&there(command).0));
    assert_eq!(told, [true, false, false]);
    assert!(is_said(&there(&["doctor"]).1));
    let doctor = environment.checkrein(&["doctor"]);
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert!(said.contains("new sessions are not reviewed") && said.contains("NOT protected"), "{said}");
    environment.succeed(&["uninstall", "--yes"]);
    assert_eq!(environment.checkrein(&["sessions"]).stderr, b"", "the user has decided");
}

#[test]
fn a_configuration_that_got_looser_waits_for_a_person() {
    let environment = TestEnvironment::new();
    start(&environment, "one");
    environment.configure("config.yaml", "mode: observe\n");
    let answer = environment.bash("one", "rm -rf ~");
    assert_eq!(decision(&answer), Some("deny"));
    assert!(reason(&answer).contains("checkrein trust"), "{answer}");
    assert_eq!(decision(&environment.bash("two", "rm -rf ~")), Some("deny"), "in a new session, too");
    let said = environment.succeed(&["trust", "--yes"]);
    assert!(said.contains("lets pass more (mode)"), "{said}");
    for session in ["one", "two", "three"] {
        assert_eq!(environment.bash(session, "rm -rf ~"), json!({}), "the user agreed");
    }
    environment.configure("config.yaml", "mode: observe\nprofile: interactive\n");
    assert_eq!(decision(&environment.bash("one", "rm -rf ~")), Some("deny"), "to another text nobody did");
}

#[test]
fn what_stands_in_a_file_and_does_not_hold_is_told_so() {
    let environment = TestEnvironment::new();
    start(&environment, "one");
    environment.configure("config.yaml", "mode: observe\n");
    let shown = environment.succeed(&["config", "show", "mode"]);
    let line = shown.lines().find(|line| line.trim_start().starts_with("mode ")).unwrap();
    assert!(
        line.contains("enforce") && line.contains("confirmed before") && line.contains("waits"),
        "{line}"
    );
    environment.succeed(&["trust", "--yes"]);
    let shown = environment.succeed(&["config", "show", "mode"]);
    let line = shown.lines().find(|line| line.trim_start().starts_with("mode ")).unwrap();
    assert!(line.contains("observe") && line.contains("config.yaml:1") && !line.contains("waits"), "{line}");
}

#[test]
fn sessions_that_ended_are_one_line_of_what_waits() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "mode: observe\n");
    environment.write("checkrein.yaml", "mode: enforce\n");
    for session in ["one", "two", "three"] {
        start(&environment, session);
    }
    for session in ["one", "two"] {
        environment.answer_to(&environment.payload(session, "SessionEnd", json!({ "reason": "exit" })));
    }
    std::fs::remove_file(environment.project().join("checkrein.yaml")).unwrap();
    let said = environment.succeed(&["trust", "--yes"]);
    assert!(said.contains("2 sessions that have ended began with other rules"), "{said}");
    assert!(said.contains("session three began with other rules"), "{said}");
    assert!(!said.contains("session one") && !said.contains("session two"), "{said}");
}

#[test]
fn a_configuration_that_got_stricter_counts_at_once() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "mode: observe\n");
    start(&environment, "one");
    assert_eq!(environment.bash("one", "rm -rf ~"), json!({}));
    environment.configure("config.yaml", "mode: enforce\n");
    assert_eq!(decision(&environment.bash("one", "rm -rf ~")), Some("deny"));
}

#[test]
fn rules_that_git_takes_away_stay_for_the_session() {
    let environment = TestEnvironment::new();
    environment.write("checkrein.yaml", &rule("no_deploy", "deploy-it"));
    start(&environment, "one");
    assert_eq!(decision(&environment.bash("one", "./deploy-it")), Some("deny"));
    environment.git(&["stash", "-q", "-u"]);
    assert_eq!(decision(&environment.bash("one", "./deploy-it")), Some("deny"));
    assert_ne!(decision(&environment.bash("two", "./deploy-it")), Some("deny"));
}

#[test]
fn described_commands_that_appeared_do_not_loosen() {
    let environment = TestEnvironment::new();
    start(&environment, "one");
    let folder = environment.home().join(".config/checkrein/catalogue");
    fs::create_dir_all(&folder).unwrap();
    let entry =
        "[[program]]\nnames = [\"rm\"]\nsummary = \"does nothing\"\neffects = []\nexamples = [\"rm x =>\"]\n";
    fs::write(folder.join("own.toml"), entry).unwrap();
    assert_eq!(decision(&environment.bash("one", "rm -rf ~")), Some("deny"));
}

fn rule(name: &str, program: &str) -> String {
    format!(
        "step_reviewer:\n  rules:\n    custom:\n      - name: {name}\n        when: action.command.contains(\"{program}\")\n        decision: block\n        reason: not by an agent\n"
    )
}

#[test]
fn the_rules_of_the_beginning_hold_in_every_other_workspace() {
    let environment = TestEnvironment::new();
    environment.write("checkrein.yaml", &rule("no_deploy", "deploy-it"));
    start(&environment, "one");
    let inside = environment.project().join("sub");
    let beside = environment.home().join("other");
    for place in [&inside, &beside] {
        fs::create_dir_all(place).unwrap();
        environment.git(&["init", "-q", place.to_str().unwrap()]);
        let asked = bash_in(&environment, place, "one", "./deploy-it");
        assert_eq!(decision(&asked), Some("deny"), "{}", place.display());
        let policy = environment.project().join("checkrein.yaml");
        for command in
            [format!("rm {}", policy.display()), format!("echo 'mode: observe' > {}", policy.display())]
        {
            let asked = bash_in(&environment, place, "one", &command);
            assert_eq!(decision(&asked), Some("deny"), "{command} in {}", place.display());
        }
    }
    // A session that begins in there: the project around it holds, a neighbour does not.
    assert_eq!(decision(&bash_in(&environment, &inside, "two", "./deploy-it")), Some("deny"));
    assert_eq!(decision(&bash_in(&environment, &inside, "two", "rm ../checkrein.yaml")), Some("deny"));
    assert_ne!(decision(&bash_in(&environment, &beside, "three", "./deploy-it")), Some("deny"));
}

#[test]
fn a_workspace_that_is_entered_through_a_link_is_the_same() {
    let environment = TestEnvironment::new();
    environment.write("checkrein.yaml", "profile: strict\n");
    let link = environment.home().join("link");
    symlink(environment.project(), &link).unwrap();
    for command in
        ["rm checkrein.yaml", "echo 'mode: observe' > checkrein.yaml", "rm ~/project/checkrein.yaml"]
    {
        let answer = bash_in(&environment, &link, "one", command);
        assert_eq!(decision(&answer), Some("deny"), "{command}: {answer}");
    }
    for base in [link.clone(), environment.project()] {
        let input = json!({ "file_path": base.join("checkrein.yaml"), "content": "mode: observe\n" });
        let fields = json!({ "tool_name": "Write", "tool_input": input, "cwd": link });
        let answer = environment.answer_to(&environment.payload("one", "PreToolUse", fields));
        assert_eq!(decision(&answer), Some("deny"), "{answer}");
    }
}

#[test]
fn a_configuration_behind_a_link_is_guarded_where_it_lies() {
    let environment = TestEnvironment::new();
    let real = environment.home().join("dotfiles/checkrein");
    fs::create_dir_all(&real).unwrap();
    fs::create_dir_all(environment.home().join(".config")).unwrap();
    symlink(&real, environment.home().join(".config/checkrein")).unwrap();
    start(&environment, "one");
    for command in [
        "echo 'mode: observe' > ~/dotfiles/checkrein/config.yaml",
        "echo 'mode: observe' > ~/.config/checkrein/config.yaml",
    ] {
        assert_eq!(decision(&environment.bash("one", command)), Some("deny"), "{command}");
    }
}

#[test]
fn variables_that_lead_into_the_workspace_switch_nothing_off() {
    let environment = TestEnvironment::new();
    environment.write("brought/checkrein/config.yaml", "mode: observe\n");
    symlink(environment.project(), environment.home().join("link")).unwrap();
    let payload = environment.payload("one", "PreToolUse", shell_call("call", "rm -rf ~", json!({})));
    let within = environment.project().join("brought");
    for place in [
        "/proc/self/cwd/brought".to_owned(),
        format!("/proc/self/root{}", within.display()),
        "/proc/thread-self/cwd/brought".to_owned(),
        environment.home().join("link/brought").display().to_string(),
    ] {
        for name in ["XDG_CONFIG_HOME", "CHECKREIN_HOME", "XDG_STATE_HOME"] {
            let mut child = environment.hook().env(name, &place).spawn().unwrap();
            child.stdin.take().unwrap().write_all(&payload).unwrap();
            let output = child.wait_with_output().unwrap();
            let answer = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(decision(&answer), Some("deny"), "{name}={place}: {answer}");
        }
    }
    assert!(!within.join("sessions").exists(), "the state was written into the workspace");
    assert!(!environment.records("one").is_empty());
}

/// The command line that `init` registered for an event.
fn registered(environment: &TestEnvironment, event: &str) -> String {
    let text = fs::read_to_string(environment.project().join(".claude/settings.local.json")).unwrap();
    let settings: Json = serde_json::from_str(&text).unwrap();
    settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
}

/// What a shell makes of a command line whose program is `program`: its status, output and errors.
fn by_shell(shell: &str, command: &str, payload: &[u8], home: &Path) -> (Option<i32>, Vec<u8>, String) {
    let mut child = Command::new(shell)
        .args(["-c", command])
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take().unwrap().write_all(payload));
    let output = child.wait_with_output().unwrap();
    (output.status.code(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_hook_that_cannot_answer_refuses_where_that_does_no_harm() {
    let environment = TestEnvironment::new();
    let place = environment.home().join(".local/bin");
    fs::create_dir_all(&place).unwrap();
    let program = place.join("checkrein-hook");
    copy_program(env!("CARGO_BIN_EXE_checkrein-hook"), &program);
    let own = environment.home().join("own/checkrein-hook");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    let payload = environment.payload("one", "PreToolUse", shell_call("call", "ls", json!({})));
    let shells: Vec<&str> =
        ["/bin/sh", "/bin/dash", "/bin/bash"].into_iter().filter(|path| Path::new(path).exists()).collect();
    for hook in [&program, &own] {
        copy_program(env!("CARGO_BIN_EXE_checkrein-hook"), hook);
        environment.succeed(&["init", "--yes", "--hook", hook.to_str().unwrap()]);
        let (before, stop) = (registered(&environment, "PreToolUse"), registered(&environment, "Stop"));
        assert_eq!(before.contains("own/"), hook == &own, "{before}");
        assert!(hook == &own || !before.contains(environment.home().to_str().unwrap()), "{before}");
        for shell in &shells {
            let (status, output, errors) = by_shell(shell, &before, &payload, &environment.home());
            assert_eq!((status, errors.as_str()), (Some(0), ""), "{shell}");
            assert!(serde_json::from_slice::<Json>(&output).unwrap().is_object());
        }
        let killed = "#!/bin/sh\nread -r x\nkill -9 $$\n";
        for (what, text, mode) in
            [("killed", Some(killed), 0o755), ("not executable", Some(killed), 0o644), ("missing", None, 0)]
        {
            fs::remove_file(hook).ok();
            if let Some(text) = text {
                fs::write(hook, text).unwrap();
                fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
            }
            for shell in &shells {
                let (status, _, errors) = by_shell(shell, &before, &payload, &environment.home());
                assert_eq!(status, Some(2), "{what} by {shell}: {errors}");
                assert!(errors.contains("checkrein did not answer, so this is refused"), "{errors}");
                let (status, ..) = by_shell(shell, &stop, &payload, &environment.home());
                assert_ne!(status, Some(2), "{what} by {shell}: it would keep the agent from stopping");
            }
        }
    }
}

#[test]
fn a_team_file_names_nothing_of_one_machine() {
    let environment = TestEnvironment::new();
    let refused = environment.checkrein(&["init", "--team", "--yes"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("on this machine only"));
    let place = environment.home().join(".local/bin");
    fs::create_dir_all(&place).unwrap();
    let program = place.join("checkrein-hook");
    copy_program(env!("CARGO_BIN_EXE_checkrein-hook"), &program);
    let said = environment.succeed(&["init", "--team", "--yes", "--hook", program.to_str().unwrap()]);
    assert!(said.contains("commit it"), "{said}");
    let file = environment.project().join(".claude/settings.json");
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(environment.home().to_str().unwrap()), "{text}");
    // The account of a colleague who has not installed it: nothing runs there, and `doctor` says so and why.
    let gone = place.join("elsewhere");
    fs::rename(&program, &gone).unwrap();
    let output = environment.checkrein(&["doctor"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let parts = ["every tool call is refused", "install checkrein for this account", "NOT protected"];
    assert!(output.status.code() == Some(1) && parts.iter().all(|part| said.contains(part)), "{said}");
    fs::rename(&gone, &program).unwrap();
    // Whoever puts a program where it is looked for first has the guard.
    for command in ["cp x ~/.local/bin/checkrein-hook", "ln -s $PWD/x ~/.cargo/bin/checkrein-hook"] {
        assert_eq!(decision(&environment.bash("one", command)), Some("deny"), "{command}");
    }
    environment.succeed(&["uninstall", "--yes"]);
    assert!(!file.exists(), "`init` made it, so it goes");
}

#[test]
fn git_leaves_the_local_settings_alone() {
    let environment = TestEnvironment::new();
    let exclude = environment.project().join(".git/info/exclude");
    let before = fs::read_to_string(&exclude).unwrap_or_default();
    environment.succeed(&["init", "--yes"]);
    let settings = environment.project().join(".claude/settings.local.json");
    for command in [&["stash", "-q", "-u"][..], &["clean", "-fdq"], &["checkout", "-q", "-b", "other"]] {
        environment.git(command);
        assert!(settings.exists(), "{command:?}");
    }
    environment.succeed(&["init", "--yes"]);
    let text = fs::read_to_string(&exclude).unwrap();
    assert_eq!(text.matches("settings.local.json").count(), 1, "{text}");
    environment.succeed(&["uninstall", "--yes"]);
    assert_eq!(fs::read_to_string(&exclude).unwrap(), before);
}

#[test]
fn doctor_tries_the_hook_as_the_client_would_run_it() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    assert!(environment.succeed(&["doctor"]).contains("protected"));
    environment.write("brought/checkrein/config.yaml", "mode: observe\n");
    let path = environment.project().join(".claude/settings.local.json");
    let before = fs::read_to_string(&path).unwrap();
    for changed in [
        before.replacen('{', "{\"env\": {\"CHECKREIN_HOME\": \"/elsewhere\"},", 1),
        before.replace("exit 2;", "exit 0;"),
        before.replace(" claude)", " claude||true)"),
    ] {
        assert_ne!(changed, before);
        fs::write(&path, changed).unwrap();
        let output = environment.checkrein(&["doctor"]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.code() == Some(1) && said.contains("NOT protected"), "{said}");
    }
    // The form of earlier versions protects, but not when the hook cannot run.
    let end = before.find(");case $?$o").unwrap();
    let rest = before.get(end..).unwrap().find("esac\"").unwrap() + "esac".len();
    let suffix = before.get(end..end + rest).unwrap().to_owned();
    fs::write(&path, before.replace(&suffix, "").replace("o=$(", "")).unwrap();
    let said = environment.succeed(&["doctor"]);
    assert!(said.contains("calls pass when the hook cannot run"), "{said}");
    environment.succeed(&["init", "--yes"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn the_refusal_comes_before_it_is_written_down() {
    let environment = TestEnvironment::new();
    environment.bash("one", "ls");
    let key = environment.home().join(".config/checkrein/mask.key");
    fs::remove_file(&key).unwrap();
    assert!(Command::new("mkfifo").arg(&key).status().unwrap().success());
    let payload = environment.payload("one", "PreToolUse", shell_call("call", "rm -rf ~", json!({})));
    let mut child = environment.hook().spawn().unwrap();
    child.stdin.take().unwrap().write_all(&payload).unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the hook hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(decision(&answer), Some("deny"), "{answer}");
}
