//! Real processes: many at once, and killed ones.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use checkrein_ledger::{Durability, StateDirectory, last, lines, verify_all};
use checkrein_protocol::Timestamp;
use support::{forget_state, ledger, prompt, review, started};

/// Not a test of its own: what the processes do that the tests below start.
#[test]
fn worker() {
    let Ok(home) = std::env::var("LEDGER_TEST_HOME") else { return };
    let name = std::env::var("LEDGER_TEST_SESSION").unwrap();
    let worker = std::env::var("LEDGER_TEST_WORKER").unwrap();
    let count: u64 = std::env::var("LEDGER_TEST_COUNT").unwrap().parse().unwrap();
    let ledger = ledger(Path::new(&home), &name).with_lock_wait(Duration::from_secs(30));
    ledger.append(Timestamp(1), started(&name), Durability::Plain).unwrap();
    for number in 1..count {
        let body = if number % 2 == 0 {
            prompt(&format!(
                "{worker} says {number} {}",
                "long ".repeat(usize::try_from(number % 400).unwrap())
            ))
        } else {
            review(&format!("{worker}-{number}"), "ok", number, Vec::new())
        };
        let appended = ledger.append(Timestamp(number), body, Durability::Plain).unwrap();
        assert!(appended.problems.is_empty(), "{:?}", appended.problems);
    }
}

fn spawn(home: &Path, session: &str, worker: u32, count: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["worker", "--exact", "--test-threads=1"])
        .env("LEDGER_TEST_HOME", home)
        .env("LEDGER_TEST_SESSION", session)
        .env("LEDGER_TEST_WORKER", worker.to_string())
        .env("LEDGER_TEST_COUNT", count.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn sixty_four_sessions_at_once_lose_nothing() {
    const COUNT: u64 = 50;
    let directory = tempfile::tempdir().unwrap();
    let workers: Vec<Child> =
        (0..64).map(|worker| spawn(directory.path(), &format!("session-{worker}"), worker, COUNT)).collect();
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let all = verify_all(&StateDirectory::new(directory.path())).unwrap();
    assert!(all.is_whole(), "{all:?}");
    assert_eq!(all.sessions.len(), 64);
    for worker in 0..64 {
        let ledger = ledger(directory.path(), &format!("session-{worker}"));
        let state = ledger.state().unwrap();
        assert_eq!(state.reviews, COUNT / 2);
        assert_eq!(last(&ledger.path(), 1).unwrap()[0].at, Timestamp(COUNT - 1));
    }
}

#[test]
fn sixteen_processes_on_one_session_lose_nothing() {
    const COUNT: u64 = 50;
    let directory = tempfile::tempdir().unwrap();
    let workers: Vec<Child> = (0..16).map(|worker| spawn(directory.path(), "one", worker, COUNT)).collect();
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let all = verify_all(&StateDirectory::new(directory.path())).unwrap();
    assert!(all.is_whole(), "{all:?}");
    assert_eq!(all.sessions["one"].records, 16 * COUNT);
    let ledger = ledger(directory.path(), "one");
    assert_eq!(ledger.state().unwrap().reviews, 16 * COUNT / 2);
    for worker in 0..16 {
        let mine = format!("\"action_id\":\"{worker}-");
        let count =
            lines(&ledger.path()).unwrap().filter(|line| line.as_ref().unwrap().text.contains(&mine)).count();
        assert_eq!(count as u64, COUNT / 2);
    }
}

#[test]
fn killed_processes_leave_no_unreported_damage() {
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    let mut length = 0;
    for round in 0_u32..24 {
        let mut worker = spawn(directory.path(), "one", round, 1_000_000);
        // Spread over the start of the process and its work, the same in every run.
        std::thread::sleep(Duration::from_micros(1_000 + u64::from(round * 7_919 % 53) * 1_700));
        worker.kill().unwrap();
        worker.wait().unwrap();

        let ledger = ledger(directory.path(), "one");
        let before =
            last(&ledger.path(), 1).map_or(0, |records| records.first().map_or(0, |record| record.seq));
        assert!(before >= length, "round {round}: {before} records, there were {length}");
        let appended = ledger.append(Timestamp(1), prompt("after"), Durability::Plain).unwrap();
        let torn = appended.records.len() > 1;
        length = appended.records.last().unwrap().seq;
        assert_eq!(length, before + 1 + u64::from(torn));
        let all = verify_all(&home).unwrap();
        assert!(all.is_whole(), "round {round}: {all:?}");
    }
    // The state that went through all this is what the records say.
    let ledger = ledger(directory.path(), "one");
    let state = ledger.state().unwrap();
    assert_eq!(state.records, length);
    forget_state(&ledger);
    assert_eq!(ledger.state().unwrap(), state);
}
