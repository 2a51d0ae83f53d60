//! A user who may have few processes: whatever cannot be started, no agent is left without its supervisor.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use checkrein_testkit::not_run;
use support::{TestEnvironment, copy_program, processes_in};

/// The most processes and threads for which a run is tried: more than it needs.
const MOST: u32 = 16;

#[test]
fn an_agent_whose_supervision_cannot_be_set_up_is_ended_and_that_is_said() {
    let environment = TestEnvironment::new();
    // A user of its own: the kernel counts the processes of a user, and bounds those of root by nothing.
    let user = (61_400 + std::process::id() % 10_000).to_string();
    let folder = environment.home();
    let owned = environment.command("chown").args(["-R", &format!("{user}:{user}")]).arg(&folder).status();
    if !owned.unwrap().success() {
        return not_run("this user cannot give files away");
    }
    let top = folder.ancestors().find(|above| above.parent() == Some(Path::new("/tmp"))).unwrap();
    fs::set_permissions(top, Permissions::from_mode(0o755)).unwrap();
    let program = folder.join("checkrein");
    copy_program(env!("CARGO_BIN_EXE_checkrein"), &program);
    let mut outcomes = Vec::new();
    for most in 2..=MOST {
        let command = format!("ulimit -u {most}; exec {} run -- sleep 1", program.display());
        let output = environment
            .command("setpriv")
            .args(["--reuid", &user, "--regid", &user, "--clear-groups", "bash", "-c", &command])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked"), "{most}: {said}");
        assert!(processes_in(&environment.project()).is_empty(), "{most}: {said}");
        let has_begun = said.contains("the agent had begun, and was ended");
        match output.status.code() {
            Some(0) => {}
            status => assert!(status == Some(125) && !said.is_empty(), "{most}: {status:?} {said}"),
        }
        assert!(!(has_begun && said.contains("nothing was started")), "{most}: {said}");
        outcomes.push((most, output.status.code(), has_begun));
    }
    assert_eq!(outcomes.last().map(|(_, status, _)| *status), Some(Some(0)), "{outcomes:?}");
    assert!(outcomes.iter().any(|(_, _, has_begun)| *has_begun), "it never came to that: {outcomes:?}");
}
