//! What `checkrein credential` does not take, and where it keeps nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use support::TestEnvironment;

/// Runs `checkrein credential` with this as its input.
fn credential(environment: &TestEnvironment, words: &[&str], input: &[u8]) -> Output {
    let mut child = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .arg("credential")
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Who has seen enough reads no further.
    drop(child.stdin.take().unwrap().write_all(input));
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || ended.send(child.wait_with_output().unwrap()));
    let output = end.recv_timeout(Duration::from_mins(1));
    output.unwrap_or_else(|_| panic!("`checkrein credential {words:?}` hangs"))
}

fn refused(output: &Output, why: &str) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains(why), "{:?} {said}", output.status);
    assert!(output.stdout.is_empty());
}

/// An environment in which one credential is kept, and the folder of it.
fn kept() -> (TestEnvironment, PathBuf) {
    let environment = TestEnvironment::new();
    assert!(credential(&environment, &["set", "own"], b"s3cr3t\n").status.success());
    let file = environment.configure("unused", "");
    let folder = file.parent().unwrap().join("credentials");
    assert!(folder.join("own").is_file(), "{}", folder.display());
    (environment, folder)
}

#[test]
fn what_no_variable_can_hold_is_not_kept() {
    let (environment, folder) = kept();
    refused(&credential(&environment, &["set", "zero"], b"a\0b"), "zero byte");
    refused(&credential(&environment, &["set", "empty"], b"\n"), "is empty");
    refused(&credential(&environment, &["set", "long"], &vec![b'x'; (64 << 10) + 1]), "longer than 64 KB");
    refused(&credential(&environment, &["set", "longer"], &vec![b'x'; 5 << 20]), "longer than 64 KB");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing of it is kept");
    // The longest that there may be, with the end of its line.
    let longest = [vec![b'x'; 64 << 10], b"\n".to_vec()].concat();
    assert!(credential(&environment, &["set", "longest"], &longest).status.success());
    let got = credential(&environment, &["get", "longest"], b"");
    assert_eq!(got.stdout.trim_ascii_end().len(), 64 << 10);
}

#[test]
fn a_folder_that_others_can_write_to_is_not_used() {
    let (environment, folder) = kept();
    for mode in [0o777, 0o770, 0o701] {
        fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        refused(&credential(&environment, &["get", "own"], b""), "others have access");
        refused(&credential(&environment, &["set", "new"], b"x"), "others have access");
    }
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    assert_eq!(credential(&environment, &["get", "own"], b"").stdout, b"s3cr3t\n");
}

#[test]
fn what_is_no_file_keeps_nobody_waiting() {
    let (environment, folder) = kept();
    let pipe = folder.join("pipe");
    let made = environment.command("mkfifo").args(["-m", "600"]).arg(&pipe).status().unwrap();
    assert!(made.success());
    let got = credential(&environment, &["get", "pipe"], b"");
    assert!(!got.status.success() && got.stdout.is_empty(), "{got:?}");
}
