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
