//! Agents that an agent starts where no hook of ours asks about their calls.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use serde_json::Value as Json;
use support::{TestEnvironment, decision, reason};

fn start(environment: &TestEnvironment, command: &str) -> Json {
    environment.bash("s", command)
}

#[test]
fn with_hooks_in_one_project_an_agent_elsewhere_is_asked_about() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    fs::create_dir_all(environment.home().join("other")).unwrap();
    fs::create_dir_all(environment.project().join("sub")).unwrap();
    assert_eq!(decision(&start(&environment, "claude -p 'tidy up'")), None);
    for command in [
        "env -C ../other claude -p 'tidy up' --permission-mode acceptEdits",
        "cd /tmp && claude -p 'tidy up'",
        "cd sub && claude -p 'tidy up'",
        "git worktree add ../wt && cd ../wt && claude -p 'tidy up'",
        "git clone . ../c && cd ../c && claude -p 'tidy up'",
        "codex exec --full-auto 'tidy up'",
    ] {
        let answer = start(&environment, command);
        assert_eq!(decision(&answer), Some("ask"), "{command}: {answer}");
        assert!(reason(&answer).contains("no hook of checkrein is registered for it there"), "{answer}");
    }
}

/// `/hooks` of Codex is the step that is missing then, not another `init`.
#[test]
fn hooks_that_the_user_has_not_confirmed_are_told_apart_from_none() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes", "--user"]);
    let none = start(&environment, "codex exec 'tidy up'");
    assert!(reason(&none).contains("no hook of checkrein is registered for it there"), "{none}");
    environment.succeed(&["init", "--yes", "--client", "codex"]);
    let answer = start(&environment, "codex exec 'tidy up'");
    assert_eq!(decision(&answer), Some("ask"), "{answer}");
    assert!(reason(&answer).contains("`/hooks` in codex"), "{answer}");
}

/// A session finds out who started it by the processes above it, or by an announcement in the same directory where it has no terminal.
#[test]
fn an_agent_of_which_nothing_tells_who_started_it_is_asked_about() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes", "--user"]);
    for command in [
        "tmux new -d 'claude -p x'",
        "tmux new-session -d -s w claude -p x",
        "tmux send-keys -t w 'claude -p x' Enter",
        "screen -dmS w claude -p x",
        "zellij run -- claude -p x",
        "dtach -n /tmp/s claude -p x",
        "systemd-run --user claude -p x",
        "systemd-run --user -d -t claude -p x",
    ] {
        let answer = start(&environment, command);
        assert_eq!(decision(&answer), Some("ask"), "{command}: {answer}");
        let why = reason(&answer);
        assert!(
            why.contains("belongs to this session") || why.contains("without the guard"),
            "{command}: {why}"
        );
    }
    for command in [
        "setsid nohup claude -p x >/dev/null 2>&1 &",
        "nohup claude -p x &",
        "systemd-run --user -d claude -p x",
        "systemd-run --user --scope claude -p x",
        "env -i PATH=$PATH HOME=$HOME claude -p x",
        "tmux new -d 'npm test'",
    ] {
        let answer = start(&environment, command);
        assert!(!reason(&answer).contains("belongs to this session"), "{command}: {answer}");
    }
}

#[test]
fn what_the_server_of_an_agent_is_told_to_run_is_judged_as_if_it_ran_here() {
    let environment = TestEnvironment::new();
    for command in [
        "curl -X POST localhost:4096/session/1/shell -d '{\"command\":\"rm -rf ~\"}'",
        "curl -s --json '{\"agent\":\"build\",\"command\":\"rm -rf ~\"}' http://127.0.0.1:4096/session/ses_1/shell",
        "curl http://localhost:4096/pty -d '{\"command\":\"rm\",\"args\":[\"-rf\",\"'$HOME'\"]}'",
        "echo '{\"command\":\"rm -rf ~\"}' > b.json; curl -d @b.json localhost:4096/session/1/shell",
        "echo '{\"command\":\"rm -rf ~\"}' | curl -d @- localhost:4096/session/1/shell",
        "curl -d 'command=rm -rf ~' localhost:9000/api",
        "wget --post-data='{\"command\":\"rm -rf ~\"}' -O- http://[::1]:4096/session/1/shell",
        "http POST :4096/session/1/shell command='rm -rf ~'",
        "xh localhost:4096/pty command=rm args:='[\"-rf\",\"'$HOME'\"]'",
    ] {
        let answer = start(&environment, command);
        assert_eq!(decision(&answer), Some("deny"), "{command}: {answer}");
    }
    for command in [
        "curl -X POST localhost:3000/api/users -d '{\"name\":\"rm -rf ~\"}'",
        "curl -X POST localhost:4096/session/1/shell -d '{\"command\":\"ls\"}'",
        "curl https://docs.rs/search -d '{\"command\":\"rm -rf ~\"}'",
        "curl localhost:3000/health",
    ] {
        let answer = start(&environment, command);
        assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    }
}

#[test]
fn with_hooks_for_the_user_an_agent_is_guarded_wherever_it_starts() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes", "--user"]);
    for command in ["cd /tmp && claude -p 'tidy up'", "cd .. && claude", "claude -p 'tidy up'"] {
        let answer = start(&environment, command);
        assert_eq!(decision(&answer), None, "{command}: {answer}");
    }
    // The settings of another project may switch all hooks off.
    let other = environment.home().join("other/.claude");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("settings.json"), "{\"disableAllHooks\": true}").unwrap();
    let answer = start(&environment, "cd ../other && claude -p 'tidy up'");
    assert_eq!(decision(&answer), Some("ask"), "{answer}");
}
