//! `checkrein run` within bounds: hooks write the state inside, so the agent can as well; what other sessions have on record is put back, and told.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::Stdio;

use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

/// Two sessions of before: one that is over, and one that a user halted.
fn with_sessions() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    for session in ["over", "halted"] {
        environment.answer_to(&environment.payload(session, "SessionStart", json!({ "source": "startup" })));
        environment.bash(session, "ls");
    }
    environment.succeed(&["halt", "halted"]);
    environment
}

/// Runs a script as an agent within bounds; `None` where the kernel does not hold them.
fn run(environment: &TestEnvironment, script: &str) -> Option<(String, String)> {
    let state = environment.state().display().to_string();
    let testimony = environment.home().join(".local/share/checkrein").display().to_string();
    environment.write("agent.sh", &format!("S={state}\nT={testimony}\n{script}"));
    fs::create_dir_all(environment.project().join("src")).unwrap();
    // The project and the home lie among the temporary files of this test.
    let temporary = environment.home().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    command.args(["run", "--write", "src", "--", "bash", "agent.sh"]).env("TMPDIR", &temporary);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told = text(&output.stderr);
    if told.contains("does not hold") {
        checkrein_testkit::not_run("the kernel does not hold a scope");
        return None;
    }
    Some((text(&output.stdout), told))
}

#[test]
fn records_that_an_agent_within_bounds_removes_are_put_back_and_told() {
    let environment = with_sessions();
    let before = environment.records("over");
    let script = "rm -rf $S/sessions $S/heads $T/testimony\nls $S/sessions $T/testimony 2>&1\n";
    let Some((said, told)) = run(&environment, script) else { return };
    assert!(said.contains("No such file"), "the agent can remove them: {said} {told}");
    assert!(told.contains("are put back") && told.contains("`over`"), "{told}");
    let after = environment.records("over");
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(after.last().unwrap()["body"]["damage"], "put_back", "{after:?}");
    let verified = environment.checkrein(&["audit", "verify"]);
    let text = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(verified.status.success() && text.contains("put back"), "{text}");
    // Its witnesses are there again too: what goes later is missed.
    fs::remove_dir_all(environment.state().join("sessions/over")).unwrap();
    let verified = environment.checkrein(&["audit", "verify"]);
    assert!(!verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn records_that_an_agent_within_bounds_overwrites_are_told_and_not_whole() {
    let environment = with_sessions();
    let script = ": > $S/sessions/over/ledger.jsonl\nrm -rf $S/heads $T/testimony $S/sessions/over/state\n";
    let Some((_, told)) = run(&environment, script) else { return };
    assert!(told.contains("changed or lost") && told.contains("`over`"), "{told}");
    let verified = environment.checkrein(&["audit", "verify"]);
    let text = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(!verified.status.success() && text.contains("NOT intact"), "{text}");
}

#[test]
fn a_halt_that_an_agent_within_bounds_removes_is_in_force_again_within_moments() {
    let environment = with_sessions();
    let halt = environment.state().join("halts/halted");
    let reason = fs::read_to_string(&halt).unwrap();
    let script = "rm $S/halts/halted && echo removed\nfor i in $(seq 100); do [ -e $S/halts/halted ] && echo again && break; sleep 0.05; done\n";
    let Some((said, told)) = run(&environment, script) else { return };
    assert_eq!(said, "removed\nagain\n", "{told}");
    assert!(told.contains("the halt of `halted` was removed"), "{told}");
    assert_eq!(fs::read_to_string(&halt).unwrap(), reason);
    let call = environment.payload("halted", "PreToolUse", shell_call("c", "ls", json!({})));
    assert_eq!(decision(&environment.answer_to(&call)), Some("deny"));
}

#[test]
fn a_halt_that_a_user_lifts_while_an_agent_runs_within_bounds_stays_lifted() {
    let environment = with_sessions();
    let halt = environment.state().join("halts/halted");
    // Nothing of the agent but a wait for the user, and some looks of the run behind it.
    let script = "touch src/waits\nfor i in $(seq 200); do [ -e $S/halts/halted ] || break; sleep 0.05; done\nsleep 1\n";
    std::thread::scope(|scope| {
        let run = scope.spawn(|| run(&environment, script));
        let waits = environment.project().join("src/waits");
        while !waits.exists() && !run.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        if waits.exists() {
            environment.succeed(&["resume", "halted"]);
        }
        if let Some((_, told)) = run.join().unwrap() {
            assert!(!halt.exists() && !told.contains("was removed"), "{told}");
        }
    });
}

#[test]
fn making_what_is_there_already_is_no_refusal() {
    let environment = TestEnvironment::new();
    let script =
        "mkdir -p $S/../../x\nmkdir $HOME; mkdir -p src/deep/er; ln -s a $HOME 2>&1; mkdir $HOME/new; true\n";
    let Some((_, told)) = run(&environment, script) else { return };
    let refusals: Vec<&str> = told.lines().filter(|line| line.contains("may not change")).collect();
    let home = environment.home().display().to_string();
    assert!(refusals.iter().all(|line| !line.contains(&format!("change {home} "))), "{told}");
    assert!(
        refusals.iter().any(|line| line.contains(&format!("{home}/new"))),
        "what is new is refused: {told}"
    );
}

#[test]
fn a_program_outside_of_what_may_be_read_is_named_with_the_option() {
    let environment = TestEnvironment::new();
    let agent = environment.home().join("agent.sh");
    fs::write(&agent, "#!/bin/sh\necho ran\n").unwrap();
    fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let temporary = environment.home().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let path = agent.display().to_string();
    let output = |options: &[&str]| {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.args(["run", "--write", ".", "--read", "."]).args(options).args(["--", &path]);
        command.env("TMPDIR", &temporary).stdin(Stdio::null()).output().unwrap()
    };
    let refused = output(&[]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    if told.contains("does not hold") {
        return checkrein_testkit::not_run("the kernel does not hold a scope");
    }
    assert_eq!(refused.status.code(), Some(126), "{told}");
    assert!(
        told.contains("outside of what `--read` names") && told.contains(&format!("--read {path}")),
        "{told}"
    );
    let ran = output(&["--read", &path]);
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "ran\n", "{}", String::from_utf8_lossy(&ran.stderr));
    // What a run was kept within is shown with it.
    let shown = environment.succeed(&["run", "show", "LAST"]);
    let project = environment.project().display().to_string();
    assert!(
        shown.contains("may write") && shown.contains(&project) && shown.contains("every host"),
        "{shown}"
    );
}

#[test]
fn an_agent_within_bounds_that_leaves_records_alone_hears_nothing_of_them() {
    let environment = with_sessions();
    let payload = environment.payload("inside", "PreToolUse", shell_call("h1", "ls", json!({})));
    environment.write("payload", &String::from_utf8(payload).unwrap());
    let script = format!("{} claude < payload\nsleep 1.2\n", env!("CARGO_BIN_EXE_checkrein-hook"));
    let Some((_, told)) = run(&environment, &script) else { return };
    assert!(!environment.records("inside").is_empty(), "{told}");
    assert!(!told.contains("records") && !told.contains("halt") && !told.contains("gone"), "{told}");
    let verified = environment.succeed(&["audit", "verify"]);
    assert!(verified.contains("intact") && !verified.contains("repaired"), "{verified}");
}
