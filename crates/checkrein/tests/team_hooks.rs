//! Hooks that one user commits for all, as another user finds them in a clone: with the program installed, and without it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use checkrein_clients::{CLIENTS, ClientPath, HookOutput, SettingsScope};
use checkrein_protocol::AbsolutePath;
use support::{TestEnvironment, copy_program, repository};

/// What a command line that a client calls gives back in a home.
fn said(line: &str, home: &Path, project: &Path, payload: &[u8]) -> HookOutput {
    let mut child = Command::new("sh")
        .args(["-c", line])
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .env("CHECKREIN_APPROVALS_WAIT", "never")
        .current_dir(project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take().unwrap().write_all(payload));
    let output = child.wait_with_output().unwrap();
    let refusal = (output.status.code() == Some(2)).then(|| String::from_utf8(output.stderr).unwrap());
    HookOutput { object: output.stdout, refusal }
}

#[test]
fn what_one_user_commits_reviews_the_calls_of_another_and_refuses_without_the_program() {
    let first = TestEnvironment::new();
    let install = |home: &Path| {
        fs::create_dir_all(home.join(".local/bin")).unwrap();
        for (program, name) in [
            (env!("CARGO_BIN_EXE_checkrein"), "checkrein"),
            (env!("CARGO_BIN_EXE_checkrein-hook"), "checkrein-hook"),
        ] {
            copy_program(program, home.join(".local/bin").join(name));
        }
    };
    install(&first.home());
    for client in CLIENTS {
        let mut init = first.command(first.home().join(".local/bin/checkrein"));
        let output =
            init.args(["init", "--team", "--client", client.client.name(), "--yes"]).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && said.contains("commit it"), "{said}");
        let trust = client.trust.as_ref().map(|trust| trust.typed);
        assert!(trust.is_none_or(|typed| said.contains(typed)), "{said}");
    }
    first.git(&["add", "-A"]);
    first.commit("hooks for all");
    let page = fs::read_to_string(repository().join("docs/team.md")).unwrap();
    for is_installed in [true, false] {
        let second = TestEnvironment::new();
        if is_installed {
            install(&second.home());
        }
        let clone = second.home().join("clone");
        second.git(&["clone", "-q", first.project().to_str().unwrap(), clone.to_str().unwrap()]);
        let cwd = AbsolutePath::new(clone.to_str().unwrap()).unwrap();
        for client in CLIENTS {
            let name = client.client.name();
            let Some(ClientPath::Project(file)) = client.places.of_scope(SettingsScope::Team) else {
                panic!("{name}")
            };
            let text = fs::read_to_string(clone.join(file)).unwrap();
            assert!(!text.contains(first.home().to_str().unwrap()), "{name}: {text}");
            let folder = file.rsplit_once('/').unwrap().0;
            let row =
                if client.places.companions.is_empty() { file.to_owned() } else { format!("{folder}/*.sh") };
            assert!(
                page.contains(&format!("| {} | `{row}` |", client.title)),
                "{name}: `{row}` is not on the page"
            );
            let line = client.hooks.reviewing_command(&text).unwrap();
            // Each in a session of its own: the same call again and again is a loop.
            let canary = String::from_utf8(client.canary.payload(&cwd)).unwrap();
            let canary = canary.replace("checkrein-canary", &format!("of-{name}"));
            let harmless = canary.replace("\"rm -rf ~\"", "\"ls\"");
            let refused = said(&line, &second.home(), &clone, canary.as_bytes());
            let passed = said(&line, &second.home(), &clone, harmless.as_bytes());
            if is_installed {
                assert!(client.canary.is_denied(&refused), "{name}: {refused:?}");
                assert!(passed.refusal.is_none() && !client.canary.is_denied(&passed), "{name}: {passed:?}");
            } else {
                let told = passed.refusal.unwrap_or_default();
                assert!(
                    refused.refusal.is_some() && told.contains("install checkrein for this account"),
                    "{name}: {told}"
                );
            }
        }
    }
}
