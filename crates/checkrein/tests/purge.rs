//! `checkrein uninstall --purge`: all that Checkrein kept is gone, and nothing else.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use support::TestEnvironment;

#[test]
fn what_was_kept_is_deleted_and_nothing_else() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "one\n");
    environment.succeed(&["init", "--yes"]);
    environment.bash("s", "rm notes.txt");
    assert!(environment.state().join("sessions").exists() && environment.state().join("snapshots").exists());
    let shown = environment.succeed(&["uninstall", "--purge", "--dry-run"]);
    assert!(shown.contains("nothing was deleted") && environment.state().exists(), "{shown}");
    environment.succeed(&["uninstall", "--purge", "--yes"]);
    assert!(!environment.state().exists());
    assert!(environment.project().join("notes.txt").exists());
    assert!(!environment.home().join(".local/share/checkrein").exists());
}

#[test]
fn records_stay_while_another_project_needs_them() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    environment.succeed(&["init", "--user", "--yes"]);
    let output = environment.checkrein(&["uninstall", "--purge", "--local", "--yes"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("still registered in"), "{said}");
    assert!(environment.state().exists());
}

#[test]
fn a_folder_that_somebody_named_is_left_alone() {
    let environment = TestEnvironment::new();
    let folder = environment.home().join("everything");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("diary.txt"), "mine").unwrap();
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let output =
        command.env("CHECKREIN_HOME", &folder).args(["uninstall", "--purge", "--yes"]).output().unwrap();
    assert!(!output.status.success() && folder.join("diary.txt").exists(), "{output:?}");
}
