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

/// Who waits with pauses is not halted before so many equal rounds, and is after so many (SPECIFICATION, "a wait ends").
const WAIT_MAY_END: u32 = 120;
const WAIT_ENDS: u32 = 140;

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

// Source: seed 000-1
#[test]
fn who_waits_with_pauses_is_told_and_never_held_up_before_a_hundred_rounds() {
    for (command, output) in [
        ("sleep 60; pg_isready", "localhost:5432 - no response"),
        ("sleep 60; curl -sf localhost:8080/health", ""),
        ("sleep 60; kubectl get pod api -o jsonpath={.status.phase} | grep -q Running", ""),
        ("until pg_isready; do sleep 5; done", "Command timed out after 2m 0s\nlocalhost:5432 - no response"),
        ("sleep 10; docker compose ps --status running | grep api", ""),
        ("sleep 20; terraform show | grep ready", ""),
        ("sleep 5; nc -z localhost 5432", ""),
        ("sleep 10; gh run view 4711", "connect: Connection refused"),
        ("curl -sf localhost:8000/health; sleep 2", "connect: Connection refused"),
    ] {
        let mut session = Session::new("profile: unattended\n");
        for _ in 0..40 {
            session.call(command, output, true);
        }
        let made = session.bodies("intervention");
        assert_eq!(session.ran, 40, "{command}: {made:?}");
        assert_eq!(made.len(), 1, "{command}: {made:?}");
        assert_eq!(
            (&made[0]["pattern"], &made[0]["kind"]),
            (&"stuck_loop".into(), &"soft_correction".into())
        );
        let verdicts = session.bodies("review");
        assert!(verdicts.iter().all(|review| review["verdict"] == "ok"), "{command}");
    }
}

#[test]
fn a_wait_with_pauses_ends_after_the_stated_number_of_rounds() {
    for apart in [false, true] {
        let mut session = Session::new("");
        let ended = (1..=WAIT_ENDS).find(|_| {
            if apart {
                session.call("pg_isready", "localhost:5432 - no response", true);
                session.call("sleep 5", "", false);
            } else {
                session.call("sleep 60; pg_isready", "localhost:5432 - no response", true);
            }
            session.is_halted()
        });
        let ended = ended.unwrap_or_else(|| panic!("apart {apart}: {:?}", session.bodies("intervention")));
        assert!(ended >= WAIT_MAY_END, "apart {apart}: {ended}");
    }
}

#[test]
fn a_pause_before_a_try_makes_it_no_wait() {
    for command in ["sleep 60; pytest tests/test_login.py", "sleep 5; make", "sleep 30 && npm run build"] {
        let mut session = Session::new("");
        let ended = rounds_until_halted(&mut session, |session, _| {
            session.call(command, "1 failed, 4 passed in 0.52s", true);
        });
        assert!(ended <= ENDS, "{command}: {ended}");
    }
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
