//! A poll may be answered the same for long; one that fails in the same way gets more rounds than a try, and an end.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    dead_code,
    reason = "a test that cannot go on should panic; not all of what supports tests is used here"
)]

mod loop_support;
mod support;

use loop_support::{Session, rounds_until_halted};

/// After so many equal rounds, refused ones included, a poll that fails is halted at the latest (SPECIFICATION, "a poll ends").
const POLL_ENDS: u32 = 36;

/// A try that fails is halted after so many at the latest (SPECIFICATION, "a loop ends").
const ENDS: u32 = 24;

#[test]
fn what_builds_or_starts_something_is_no_poll_whatever_program_it_is_of() {
    for profile in ["interactive", "unattended"] {
        for command in [
            "docker build .",
            "docker compose up -d",
            "docker run --rm app pytest",
            "podman build -t app .",
            "docker exec web pytest",
            "kubectl exec web -- make",
            "sleep 5; docker build .",
        ] {
            let mut session = Session::new(&format!("profile: {profile}\n"));
            let ended = rounds_until_halted(&mut session, |session, _| {
                session.call(command, "ERROR: failed to solve: process did not complete", true);
            });
            assert!(ended <= ENDS, "{profile}: {command}: {ended}");
        }
    }
}

#[test]
fn a_poll_that_fails_in_the_same_way_is_halted_later_in_every_profile() {
    for profile in ["interactive", "unattended"] {
        for command in [
            "kubectl get pods",
            "gh pr list",
            "aws s3 ls",
            "nc -z localhost 5432",
            "curl -sf localhost:8000/health",
            "curl -s https://a.example/x",
            "ssh host uptime",
            "sleep 10; gh run view 4711",
            "curl -sf localhost:8000/health; sleep 2",
        ] {
            let mut session = Session::new(&format!("profile: {profile}\n"));
            let ended = rounds_until_halted(&mut session, |session, _| {
                session.call(command, "connect: Connection refused", true);
            });
            assert!((ENDS..=POLL_ENDS).contains(&ended), "{profile}: {command}: {ended}");
            assert!(
                session.environment.succeed(&["incidents"]).contains("the same call again and again"),
                "{command}"
            );
        }
    }
}

#[test]
fn a_pause_as_a_call_of_its_own_is_part_of_the_poll() {
    let mut session = Session::new("");
    let ended = rounds_until_halted(&mut session, |session, _| {
        session.call("curl -sf localhost:8000/health", "curl: (7) Connection refused", true);
        session.call("sleep 5", "", false);
    });
    assert!(ended <= POLL_ENDS, "{ended}");
}

#[test]
fn a_poll_that_is_answered_is_told_at_most() {
    for (command, output, fails) in [
        ("sleep 30; gh run view 4711", "in progress", false),
        ("kubectl get pods", "web 0/1 Pending", false),
        ("docker ps", "web Up", false),
        ("kubectl wait --for=condition=ready pod/web", "error: timed out waiting for the condition", true),
        ("sleep 60; gh pr checks 3", "build pending 0 https://a.example/1", true),
    ] {
        let mut session = Session::new("profile: unattended\n");
        for _ in 0..45 {
            session.call(command, output, fails);
        }
        let made = session.bodies("intervention");
        assert!(
            made.iter().all(|made| made["pattern"] != "stuck_loop" || made["severity"] == "low"),
            "{command}: {made:?}"
        );
        assert!(!session.is_halted(), "{command}");
        assert_eq!(session.ran, 45, "{command}: {made:?}");
    }
}

#[test]
fn a_server_that_comes_up_late_is_waited_for() {
    let mut session = Session::new("profile: unattended\n");
    for _ in 0..12 {
        session.call("sleep 5; curl -sf localhost:8000/health", "", true);
    }
    session.call("sleep 5; curl -sf localhost:8000/health", "ok", false);
    assert_eq!(session.ran, 13);
    assert!(session.bodies("intervention").iter().all(|made| made["kind"] == "soft_correction"));
}
