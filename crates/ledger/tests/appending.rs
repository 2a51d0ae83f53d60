//! Appending to a ledger: order, projection, repair.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::io::Write as _;

use checkrein_ledger::{Durability, StateDirectory};
use checkrein_protocol::{LedgerDamage, RecordBody, SessionId, Timestamp};

use support::{Ledger, forget_state, prompt};

#[test]
fn records_follow_each_other_and_the_state_goes_with_them() {
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    let ledger = Ledger::open(&home, &SessionId("one".to_owned()));
    for number in 1..=20 {
        let appended =
            ledger.append(Timestamp(number), prompt(&format!("goal {number}")), Durability::Plain).unwrap();
        assert_eq!(appended.records[0].seq, number);
        assert!(appended.problems.is_empty());
        assert_eq!(ledger.state().unwrap(), appended.state);
    }
    let with_file = ledger.state().unwrap();
    assert_eq!(with_file.prompts.len(), 20);
    assert_eq!(with_file.prompts.last().unwrap(), "goal 20");
    forget_state(&ledger);
    assert_eq!(ledger.state().unwrap(), with_file);
}

#[test]
fn what_was_read_before_is_appended_to_without_reading_the_state_again() {
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    let ledger = Ledger::open(&home, &SessionId("one".to_owned()));
    let at = |number| Timestamp(number);
    // A session that is not there yet.
    let known = ledger.known().unwrap();
    ledger.append_to(known, at(1), prompt("first"), Durability::Plain).unwrap();
    ledger.append(at(2), prompt("second"), Durability::Plain).unwrap();
    // The files of the state go away in between, and nobody misses them.
    let known = ledger.known().unwrap();
    assert_eq!(known.state().records, 2);
    forget_state(&ledger);
    let appended = ledger.append_to(known, at(3), prompt("third"), Durability::Plain).unwrap();
    assert_eq!((appended.records[0].seq, appended.state.records), (3, 3));
    assert_eq!(ledger.state().unwrap(), appended.state);
    forget_state(&ledger);
    assert_eq!(ledger.state().unwrap(), appended.state);
}

#[test]
fn what_others_append_meanwhile_is_not_lost() {
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    let ledger = Ledger::open(&home, &SessionId("one".to_owned()));
    ledger.append(Timestamp(1), prompt("first"), Durability::Plain).unwrap();
    let known = ledger.known().unwrap();
    ledger.append(Timestamp(2), prompt("meanwhile"), Durability::Plain).unwrap();
    let appended = ledger.append_to(known, Timestamp(3), prompt("third"), Durability::Plain).unwrap();
    assert_eq!((appended.records.len(), appended.records[0].seq), (1, 3));
    assert_eq!(appended.state.prompts, ["first", "meanwhile", "third"]);

    // Even when the whole session was removed.
    let known = ledger.known().unwrap();
    std::fs::remove_dir_all(ledger.directory()).unwrap();
    let appended = ledger.append_to(known, Timestamp(4), prompt("new"), Durability::Plain).unwrap();
    assert_eq!((appended.records.len(), appended.records[0].seq), (1, 1));
    assert!(checkrein_ledger::verify(&ledger.path()).unwrap().is_whole());
}

#[test]
fn a_torn_line_is_kept_aside_and_reported() {
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    let ledger = Ledger::open(&home, &SessionId("one".to_owned()));
    ledger.append(Timestamp(1), prompt("a"), Durability::Durable).unwrap();
    let torn = b"{\"seq\":2,\"prev\":\"ab";
    std::fs::OpenOptions::new().append(true).open(ledger.path()).unwrap().write_all(torn).unwrap();
    assert_eq!(ledger.state().unwrap().records, 1);
    let appended = ledger.append(Timestamp(2), prompt("b"), Durability::Plain).unwrap();
    let RecordBody::Repaired { damage, lost_bytes, kept, .. } = &appended.records[0].body else { panic!() };
    assert_eq!((*damage, *lost_bytes), (LedgerDamage::TornTail, torn.len() as u64));
    assert_eq!(std::fs::read(ledger.directory().join(kept.as_ref().unwrap())).unwrap(), torn);
    assert_eq!((appended.records[0].seq, appended.records[1].seq), (2, 3));
    assert_eq!(appended.state.repairs, 1);
}

/// What no append looks at cannot make it slower.
#[test]
fn an_append_reads_nothing_but_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    let ledger = Ledger::open(&home, &SessionId("one".to_owned()));
    for number in 1..=5 {
        ledger.append(Timestamp(number), prompt("a"), Durability::Plain).unwrap();
    }
    // Everything but the last line is no longer readable as records.
    let mut bytes = std::fs::read(ledger.path()).unwrap();
    let cut = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    bytes[..cut].fill(0);
    std::fs::write(ledger.path(), &bytes).unwrap();
    assert_eq!(ledger.state().unwrap().records, 5);
    let appended = ledger.append(Timestamp(6), prompt("b"), Durability::Plain).unwrap();
    assert_eq!(appended.records.len(), 1);
    assert_eq!((appended.records[0].seq, appended.state.records), (6, 6));
    assert!(!checkrein_ledger::verify(&ledger.path()).unwrap().is_whole());
}

#[test]
fn a_held_lock_is_an_error_not_a_hang() {
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    let ledger = Ledger::open(&home, &SessionId("one".to_owned()))
        .with_lock_wait(std::time::Duration::from_millis(30));
    ledger.append(Timestamp(1), prompt("a"), Durability::Plain).unwrap();
    let holder = std::fs::File::open(ledger.path()).unwrap();
    holder.lock().unwrap();
    let error = ledger.append(Timestamp(1), prompt("b"), Durability::Plain).unwrap_err();
    assert!(matches!(error, checkrein_ledger::LedgerError::Busy { .. }), "{error}");
    drop(holder);
    assert_eq!(ledger.append(Timestamp(1), prompt("c"), Durability::Plain).unwrap().records[0].seq, 2);
}

#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path().join("state"));
    let ledger = Ledger::open(&home, &SessionId("../../etc".to_owned()));
    ledger.append(Timestamp(1), prompt("a"), Durability::Durable).unwrap();
    ledger.append(Timestamp(1), prompt("b"), Durability::Plain).unwrap();
    assert!(ledger.directory().starts_with(home.sessions()));
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for path in [home.root(), &home.sessions(), ledger.directory()] {
        assert_eq!(mode(path), 0o700, "{}", path.display());
    }
    for path in [
        ledger.path().to_path_buf(),
        ledger.directory().join("state"),
        ledger.directory().join("state.twin"),
        home.heads(),
        home.root().join("mask.key"),
    ] {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
