//! What is for people is refused to an agent, whatever it does to its variables, its session and its parents.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use support::{TestEnvironment, copy_program};

/// A user who keeps a credential and halted everything.
fn person() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let place = environment.configure("credentials/anthropic", "s3cr3t\n");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_checkrein"), environment.home().join("renamed")).unwrap();
    for path in [place.as_path(), place.parent().unwrap()] {
        let mode = if path == place { 0o600 } else { 0o700 };
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }
    environment
}

fn words(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].concat().iter().map(|byte| char::from(*byte)).collect()
}

/// Waits for a file that a process without a parent writes, and returns it.
fn written(environment: &TestEnvironment, name: &str) -> String {
    let path = environment.project().join(name);
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < Duration::from_secs(30), "{name} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
    fs::read_to_string(path).unwrap()
}

/// Ways to start a program so that it looks as if nobody had: `GET` is what is started.
const DISGUISES: [&str; 6] = [
    "env -i HOME=$HOME PATH=$PATH GET",
    "setsid -w GET",
    "nohup GET",
    "script -qec 'GET' /dev/null",
    "(setsid sh -c 'GET > said 2>&1; mv said out' &); until [ -e out ]; do sleep 0.01; done; cat out; rm out",
    "perl -e 'fork and exit; POSIX::setsid; fork and exit; system(q(GET > said 2>&1; mv said out))' -MPOSIX & until [ -e out ]; do sleep 0.01; done; cat out; rm out",
];

#[test]
fn a_supervised_agent_cannot_ask_for_what_is_for_people() {
    let environment = person();
    let program = env!("CARGO_BIN_EXE_checkrein");
    let mut ways: Vec<(Vec<&str>, String)> = DISGUISES
        .iter()
        .map(|way| (vec!["run", "--"], way.replace("GET", &format!("{program} credential get anthropic"))))
        .collect();
    for command in [
        "credential delete anthropic",
        "credential set anthropic",
        "resume --all",
        "halt --lift --all",
        "trust",
    ] {
        ways.push((vec!["run", "--"], format!("{program} {command}")));
    }
    ways.push((vec!["run", "--hold", "namespace", "--"], format!("{program} credential get anthropic")));
    ways.push((vec!["exec", "--write", ".", "--"], format!("{program} credential get anthropic")));
    for (above, script) in ways {
        let output = environment.checkrein(&[&above[..], &["bash", "-c", &script]].concat());
        let said = words(&output);
        if said.contains("a namespace of processes could not") {
            continue;
        }
        assert!(said.contains("is for humans only"), "{above:?} {script}: {said}");
        assert!(!said.contains("s3cr3t"), "{script}: {said}");
    }
    // Nobody is above the user.
    assert_eq!(environment.succeed(&["credential", "get", "anthropic"]).trim(), "s3cr3t");
}

#[test]
fn the_program_of_a_client_is_known_without_its_variables() {
    let environment = person();
    let script = format!("{} credential get anthropic; true", env!("CARGO_BIN_EXE_checkrein"));
    let agent = environment.home().join("claude");
    copy_program("/bin/bash", &agent);
    let output = environment.command(&agent).args(["-c", &script]).output().unwrap();
    assert!(words(&output).contains("started by an agent (`claude`)"), "{}", words(&output));
}

#[test]
fn who_started_a_process_without_parent_and_terminal_cannot_be_told() {
    let environment = person();
    let script = format!(
        "({} credential get anthropic > said 2>&1; mv said out) & exit",
        env!("CARGO_BIN_EXE_checkrein")
    );
    for starter in [&["setsid", "-w", "sh", "-c"][..], &["setsid", "-w", "setsid", "-f", "sh", "-c"]] {
        let (first, rest) = starter.split_first().unwrap();
        let mut command = environment.command(first);
        assert!(command.args(rest).arg(&script).stdin(Stdio::null()).status().unwrap().success());
        let said = written(&environment, "out");
        assert!(said.contains("cannot be told"), "{starter:?}: {said}");
        fs::remove_file(environment.project().join("out")).unwrap();
    }
}
