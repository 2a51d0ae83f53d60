//! Undo by a user whom modes hold back, as they do not hold back root: what a call closed is opened for a look, and put back.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use checkrein_testkit::not_run;
use serde_json::json;
use support::{TestEnvironment, copy_program, shell_call};

/// Runs a command and takes it back as another user; what `undo` printed. `None` where this user cannot become another one.
fn undone(environment: &TestEnvironment, command: &str) -> Option<String> {
    let (home, user) = (environment.home(), (61_400 + std::process::id() % 10_000).to_string());
    for program in [env!("CARGO_BIN_EXE_checkrein"), env!("CARGO_BIN_EXE_checkrein-hook")] {
        copy_program(program, home.join(Path::new(program).file_name().unwrap()));
    }
    let ran = json!({ "tool_response": { "stdout": "", "stderr": "" } });
    for (event, more) in [("PreToolUse", json!({})), ("PostToolUse", ran)] {
        let payload = environment.payload("s", event, shell_call("call", command, more));
        fs::write(home.join(event), payload).unwrap();
    }
    let owned = environment.command("chown").args(["-R", &format!("{user}:{user}")]).arg(&home).status();
    if !owned.unwrap().success() {
        return None;
    }
    let top = home.ancestors().find(|above| above.parent() == Some(Path::new("/tmp"))).unwrap();
    fs::set_permissions(top, Permissions::from_mode(0o755)).unwrap();
    let script = "~/checkrein-hook claude < ~/PreToolUse && { sh -c \"$0\" 2>&1; ~/checkrein-hook claude < ~/PostToolUse; } && ~/checkrein undo --yes";
    let output = environment
        .command("setpriv")
        .args(["--reuid", &user, "--regid", &user, "--clear-groups", "sh", "-c", script, command])
        .current_dir(environment.project())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command}: {said}");
    Some(said)
}

#[test]
fn what_a_call_closed_is_as_it_was() {
    for command in [
        "chmod -R 000 .git",
        "chmod -R a-rwx kept",
        "find kept -exec chmod 000 {} +",
        "chmod -R 000 kept; rm -rf notes",
        "chmod 000 kept",
        "chmod 000 kept/deep/a kept",
        "chmod 000 kept/deep/a kept/deep kept",
        "find kept -depth -exec chmod 000 {} +",
    ] {
        let environment = TestEnvironment::new();
        for name in ["kept/deep/a", "notes/b"] {
            environment.write(name, "mine\n");
        }
        let Some(said) = undone(&environment, command) else {
            return not_run("this user cannot give files away");
        };
        assert!(!said.contains("changed since"), "{command}: {said}");
        for name in [".git", ".git/objects", "kept", "kept/deep", "notes", "kept/deep/a"] {
            let file = environment.project().join(name);
            let mode = fs::metadata(&file).unwrap().mode() & 0o777;
            let own = if file.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode & 0o700, own, "{command}: {name} is {mode:o}\n{said}");
        }
        assert_eq!(fs::read_to_string(environment.project().join("notes/b")).unwrap(), "mine\n", "{command}");
    }
}
