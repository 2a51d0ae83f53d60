//! `checkrein run` where the agent stops those who supervise it, again and again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::Stdio;

use support::TestEnvironment;

/// Two processes that stop both processes of ours for as long as the first word says, in seconds, without a pause.
const STOPPING: &str = r"
seconds=$1 inner=$PPID
outer=$(sed 's/.*) [A-Z] \([0-9]*\) .*/\1/' /proc/$PPID/stat)
stop() { while [ $SECONDS -lt $seconds ]; do kill -STOP $outer $inner 2> /dev/null; done; }
stop & echo $! >> pids
stop
touch gave-up
";

#[test]
fn several_processes_that_stop_both_of_ours_do_not_outlast_the_kernels_timer() {
    let environment = TestEnvironment::new();
    environment.write("agent.sh", STOPPING);
    let status = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["run", "--hold", "processes", "--time", "1s", "--", "bash", "agent.sh", "240"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success());
    let gave_up = environment.project().join("gave-up").exists();
    for pid in fs::read_to_string(environment.project().join("pids")).unwrap_or_default().lines() {
        drop(environment.command("kill").args(["-KILL", pid]).stderr(Stdio::null()).status());
    }
    assert!(!gave_up, "the agent stopped when it wanted to");
}
