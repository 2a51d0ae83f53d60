//! `checkrein update`: both programs are replaced where they lie, or neither.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::TestEnvironment;

/// A release with programs that only say which version they are.
fn write_release(folder: &Path, version: &str) {
    let name = format!("checkrein-{version}-{}-unknown-linux-musl", std::env::consts::ARCH);
    let inner = folder.join(&name);
    fs::create_dir_all(&inner).unwrap();
    for program in ["checkrein", "checkrein-hook"] {
        fs::write(inner.join(program), format!("#!/bin/sh\necho checkrein {version}\n")).unwrap();
    }
    let pack = format!("tar czf {name}.tar.gz {name} && rm -r {name} && sha256sum *.tar.gz > SHA256SUMS");
    assert!(Command::new("sh").current_dir(folder).args(["-c", &pack]).status().unwrap().success());
}

/// The programs of this build, where a user would have them.
fn installed(environment: &TestEnvironment) -> PathBuf {
    let folder = environment.home().join(".local/bin");
    fs::create_dir_all(&folder).unwrap();
    for program in [env!("CARGO_BIN_EXE_checkrein"), env!("CARGO_BIN_EXE_checkrein-hook")] {
        support::copy_program(program, folder.join(Path::new(program).file_name().unwrap()));
    }
    folder
}

fn update(environment: &TestEnvironment, folder: &Path, from: &Path) -> Output {
    let mut command = environment.command(folder.join("checkrein"));
    command.args(["update", "--yes", "--from"]).arg(from).output().unwrap()
}

#[test]
fn both_programs_are_replaced_where_they_lie() {
    let environment = TestEnvironment::new();
    let (folder, release) = (installed(&environment), environment.home().join("release"));
    write_release(&release, "9.8.7");
    let output = update(&environment, &folder, &release);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("checkrein 9.8.7"), "{output:?}");
    for program in ["checkrein", "checkrein-hook"] {
        assert!(fs::read_to_string(folder.join(program)).unwrap().contains("9.8.7"), "{program}");
    }
}

#[test]
fn nothing_is_replaced_by_what_has_another_sum() {
    let environment = TestEnvironment::new();
    let (folder, release) = (installed(&environment), environment.home().join("release"));
    write_release(&release, "9.8.7");
    let before = fs::metadata(folder.join("checkrein")).unwrap().len();
    let sums = fs::read_to_string(release.join("SHA256SUMS")).unwrap();
    let (first, rest) = sums.split_at(1);
    let other = if first == "0" { "1" } else { "0" };
    fs::write(release.join("SHA256SUMS"), format!("{other}{rest}")).unwrap();
    let output = update(&environment, &folder, &release);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("nothing was replaced"), "{output:?}");
    assert_eq!(fs::metadata(folder.join("checkrein")).unwrap().len(), before);
}

#[test]
fn what_somebody_else_installed_is_left_to_them() {
    let environment = TestEnvironment::new();
    let output = environment.checkrein(&["update", "--yes", "--from", "x"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("kept up to date by what installed them"), "{said}");
}
