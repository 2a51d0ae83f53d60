//! The agent cannot loosen its own reins.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;

use serde_json::json;
use support::{TestEnvironment, decision};

fn guarded() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    environment
}

#[test]
fn tampering_is_blocked_and_flagged() {
    let environment = guarded();
    for command in [
        "rm -rf ~/.local/state/checkrein",
        "echo {} > .claude/settings.json",
        "sed -i s/checkrein-hook/true/ .claude/settings.local.json",
        "mv .claude .claude.off",
        "chmod 000 ~/.local/state/checkrein",
        "echo 'mode: observe' > checkrein.yaml",
        "mkdir -p ~/.config/checkrein && echo 'mode: observe' > ~/.config/checkrein/config.yaml",
        "pkill checkrein",
        "checkrein trust --yes",
        "checkrein resume --all",
        "checkrein uninstall --yes",
        "sudo checkrein uninstall",
        "cd .claude && tee settings.json < /dev/null",
        "ln -sf /dev/null .claude/settings.json",
        "cp /dev/null ~/.local/state/checkrein/installed.json",
    ] {
        let answer = environment.bash("s", command);
        assert_eq!(decision(&answer), Some("deny"), "{command}: {answer}");
    }
    let records = environment.records("s");
    let unflagged: Vec<_> =
        records.iter().filter(|r| r["body"]["type"] == "review" && r["body"]["flagged"] != true).collect();
    assert!(unflagged.is_empty(), "{unflagged:?}");
}

#[test]
fn looking_and_backing_up_are_fine() {
    let environment = guarded();
    for command in [
        "cat .claude/settings.local.json",
        "checkrein log",
        "checkrein check 'rm -rf /'",
        "checkrein audit verify",
        "checkrein config show",
        "cp .claude/settings.local.json /tmp/settings-copy.json",
        "tar czf /tmp/state.tgz ~/.local/state/checkrein",
        "git diff .claude",
    ] {
        let answer = environment.bash("s", command);
        assert_eq!(decision(&answer), None, "{command}: {answer}");
    }
}

#[test]
fn native_tools_are_held_too() {
    let environment = guarded();
    let settings = environment.project().join(".claude/settings.local.json");
    let input = json!({ "file_path": settings, "content": "{}" });
    let payload =
        environment.payload("s", "PreToolUse", json!({ "tool_name": "Write", "tool_input": input }));
    assert_eq!(decision(&environment.answer_to(&payload)), Some("deny"));
}

#[test]
fn a_settings_change_that_silences_the_hooks_is_refused() {
    let environment = guarded();
    let settings = environment.project().join(".claude/settings.local.json");
    let fields = json!({ "source": "project_settings", "file_path": settings });
    let change = environment.payload("s", "ConfigChange", fields);
    assert_eq!(environment.answer_to(&change), json!({}), "nothing has changed");
    let before = fs::read_to_string(&settings).unwrap();
    for broken in ["{}", "{\"disableAllHooks\": true}", "not json"] {
        fs::write(&settings, broken).unwrap();
        assert_eq!(environment.answer_to(&change)["decision"], "block", "{broken}");
    }
    fs::write(&settings, before.replacen('{', "{ \"model\": \"opus\",", 1)).unwrap();
    assert_eq!(environment.answer_to(&change), json!({}), "the user may change other settings");
}

#[test]
fn commands_for_people_refuse_an_agent() {
    let environment = guarded();
    for command in [vec!["trust", "--yes"], vec!["resume", "--all"], vec!["uninstall", "--yes"]] {
        let output = environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .args(&command)
            .env("CLAUDECODE", "1")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("for humans only"), "{command:?}");
    }
}

#[test]
fn all_sessions_go_on_whoever_halted_them() {
    let environment = guarded();
    for session in ["one", "two"] {
        environment.bash(session, "ls");
    }
    environment.succeed(&["halt", "one", "--reason", "wrong branch"]);
    for (halt, halted) in [(None, ["one"].as_slice()), (Some("--all"), &["one", "two"])] {
        if let Some(all) = halt {
            environment.succeed(&["halt", "one", "--reason", "wrong branch"]);
            environment.succeed(&["halt", all, "--reason", "enough for today"]);
        }
        for session in halted {
            assert_eq!(decision(&environment.bash(session, "ls")), Some("deny"), "{session}");
        }
        environment.succeed(&["resume", "--all"]);
        for session in ["one", "two"] {
            assert_eq!(environment.bash(session, "ls"), json!({}), "{session} goes on");
        }
    }
    let nothing = environment.checkrein(&["resume", "--all"]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("nothing is halted"));
}

#[test]
fn a_project_file_may_tighten_but_not_loosen() {
    let environment = guarded();
    environment.write("checkrein.yaml", "mode: observe\n");
    assert_eq!(
        decision(&environment.bash("s", "rm -rf ~")),
        Some("deny"),
        "a cloned repository does not switch the guard off"
    );
    let shown = environment.succeed(&["config", "check"]);
    assert!(shown.contains("waits for `checkrein trust`"), "{shown}");
    environment.succeed(&["trust", "--yes"]);
    assert_eq!(environment.bash("s", "rm -rf ~"), json!({}), "what the user trusted holds");
    environment.write("checkrein.yaml", "mode: observe\nprofile: interactive\n");
    assert_eq!(
        decision(&environment.bash("s", "rm -rf ~")),
        Some("deny"),
        "another text needs another trust"
    );
}

#[test]
fn the_environment_does_not_loosen() {
    let environment = guarded();
    let input = json!({ "tool_name": "Bash", "tool_input": { "command": "rm -rf ~" } });
    let payload = environment.payload("s", "PreToolUse", input);
    for (name, value) in
        [("SAFETY_ENABLED", "false"), ("CHECKREIN_MODE", "observe"), ("SAFETY_RISK_THRESHOLD", "1.0")]
    {
        let mut child = environment.hook().env(name, value).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&payload).unwrap();
        let output = child.wait_with_output().unwrap();
        let answer = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(decision(&answer), Some("deny"), "{name}={value}: {answer}");
    }
}

#[test]
fn a_configuration_that_a_repository_brings_along_is_not_read() {
    let environment = guarded();
    environment.write("brought/checkrein/config.yaml", "mode: observe\n");
    let input = json!({ "tool_name": "Bash", "tool_input": { "command": "touch x" } });
    let payload = environment.payload("s", "PreToolUse", input);
    for name in ["XDG_CONFIG_HOME", "CHECKREIN_HOME"] {
        let mut child = environment.hook().env(name, environment.project().join("brought")).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&payload).unwrap();
        let output = child.wait_with_output().unwrap();
        let answer = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(decision(&answer), Some("ask"), "{name}: {answer}");
    }
}

#[test]
fn a_person_describes_commands_of_their_own() {
    let environment = guarded();
    let folder = environment.home().join(".config/checkrein/catalogue");
    fs::create_dir_all(&folder).unwrap();
    let entry = "[[program]]\nnames = [\"shred-house\"]\nsummary = \"removes trees\"\n\
                 effects = [{ kind = \"file_delete\", target = \"operands\", recursive = [\"always\"] }]\n\
                 examples = [\"shred-house x => file_delete x recursive possible\"]\n";
    assert_eq!(
        decision(&environment.bash("s", "shred-house ~")),
        None,
        "unknown programs are not asked about"
    );
    fs::write(folder.join("own.toml"), entry).unwrap();
    assert_eq!(decision(&environment.bash("s", "shred-house ~")), Some("deny"));
    fs::write(folder.join("own.toml"), "[[program]]\nnames = 7\n").unwrap();
    assert_eq!(environment.checkrein(&["config", "check"]).status.code(), Some(1));
    assert_eq!(
        decision(&environment.bash("s", "touch x")),
        Some("ask"),
        "a mistake in it is not passed over"
    );
}

#[test]
fn a_halt_holds_for_every_call_until_a_person_resumes() {
    let environment = guarded();
    environment.bash("long-session", "ls");
    environment.succeed(&["halt", "long", "--reason", "wrong branch"]);
    let answer = environment.bash("long-session", "ls");
    assert_eq!(decision(&answer), Some("deny"));
    assert!(answer.to_string().contains("wrong branch"));
    assert_eq!(decision(&environment.bash("another", "ls")), None);
    let prompt = environment.payload("long-session", "UserPromptSubmit", json!({ "prompt": "go on" }));
    assert_eq!(environment.answer_to(&prompt)["continue"], false);
    let fields = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": { "stdout": "", "stderr": "" } });
    let done = environment.payload("long-session", "PostToolUse", fields);
    assert_eq!(environment.answer_to(&done)["continue"], false);
    environment.succeed(&["resume", "long"]);
    assert_eq!(environment.bash("long-session", "ls"), json!({}));
}
