//! Reading, halting, exporting.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use checkrein_ledger::{
    Durability, HaltTarget, Lifted, StateDirectory, export_csv, export_csv_header, export_json_lines, find,
    halt, is_halted, last, lines, resume, verify,
};
use checkrein_protocol::{HaltScope, RecordBody, Timestamp};

use support::{fill, ledger, outcome, prompt, review, surprised};

#[test]
fn the_end_is_read_from_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = ledger(directory.path(), "one");
    let bodies = (1..=500).map(|number| prompt(&format!("{number} {}", "x ".repeat(number * 7)))).collect();
    ledger.append_all(Timestamp(1), bodies, Durability::Plain).unwrap();
    for count in [0, 1, 3, 37, 499, 500, 900] {
        let records = last(&ledger.path(), count).unwrap();
        let seqs: Vec<u64> = records.iter().map(|record| record.seq).collect();
        let first = 501_u64.saturating_sub(count as u64).max(1);
        assert_eq!(seqs, (first..=500).collect::<Vec<_>>(), "{count}");
    }
    assert_eq!(
        lines(&ledger.path()).unwrap().map(|line| line.unwrap().number).collect::<Vec<_>>(),
        (1..=500).collect::<Vec<_>>()
    );
}

#[test]
fn lines_that_hold_a_text_keep_their_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = ledger(directory.path(), "one");
    let bodies =
        vec![prompt("one"), outcome("a", false), surprised("b", 2, 9), prompt("two"), surprised("c", 2, 9)];
    ledger.append_all(Timestamp(1), bodies, Durability::Plain).unwrap();
    let numbers = |text: &str| -> Vec<u64> {
        lines(&ledger.path()).unwrap().holding(text).map(|line| line.unwrap().number).collect()
    };
    assert_eq!(numbers("\"surprises\":[{"), [3, 5]);
    assert_eq!(numbers("nowhere"), [0; 0]);
    assert_eq!(numbers(""), [1, 2, 3, 4, 5]);
}

#[test]
fn actions_are_found_by_the_beginning_of_their_id() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = ledger(directory.path(), "one");
    let bodies = vec![
        review("abc1", "ok", 1, Vec::new()),
        review("abd2", "block", 2, Vec::new()),
        outcome("abc1", true),
    ];
    ledger.append_all(Timestamp(1), bodies, Durability::Plain).unwrap();
    let numbers = |prefix: &str| {
        find(&ledger.path(), prefix).unwrap().iter().map(|line| line.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers("abc"), [1, 3]);
    assert_eq!(numbers("ab"), [1, 2, 3]);
    assert!(numbers("b").is_empty());
}

#[test]
fn halts_hold_whatever_the_file_says() {
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    let one = ledger(directory.path(), "one");
    assert_eq!(resume(&home, HaltTarget::All).unwrap(), Lifted::WasNotHalted);
    halt(&home, HaltTarget::All, "stop").unwrap();
    assert_eq!(is_halted(&home, one.folder()).unwrap().scope, HaltScope::All);
    assert_eq!(resume(&home, HaltTarget::All).unwrap(), Lifted::Lifted);
    assert_eq!(is_halted(&home, one.folder()), None);
    // A user may make the file by hand, empty, or even a directory.
    std::fs::write(home.halts().join("one"), "").unwrap();
    assert!(is_halted(&home, one.folder()).is_some());
    std::fs::remove_file(home.halts().join("one")).unwrap();
    std::fs::create_dir(home.halts().join("ALL")).unwrap();
    assert!(is_halted(&home, one.folder()).unwrap().reason.contains("cannot be read"));
    // A session called like the file for all is another file.
    assert_ne!(ledger(directory.path(), "ALL").folder().as_str(), "ALL");
}

#[test]
fn exports_hold_every_record() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = ledger(directory.path(), "one");
    fill(&ledger, 2);
    let mut dangerous = review("a", "block", 3, Vec::new());
    if let RecordBody::Review(review) = &mut dangerous {
        review.reason = "=1+1, \"quoted\"\nsecond line".to_owned();
    }
    ledger.append_all(Timestamp(3), vec![dangerous, outcome("a", true)], Durability::Plain).unwrap();

    let mut copy = Vec::new();
    assert_eq!(export_json_lines(&ledger.path(), &mut copy).unwrap(), 4);
    let path = directory.path().join("copy.jsonl");
    std::fs::write(&path, &copy).unwrap();
    assert!(verify(&path).unwrap().is_whole());

    let mut table = Vec::new();
    export_csv_header(&mut table).unwrap();
    assert_eq!(export_csv(ledger.folder(), &ledger.path(), &mut table).unwrap(), 4);
    let text = String::from_utf8(table).unwrap();
    let columns = text.lines().next().unwrap().split(',').count();
    let rows: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(rows[1].split(',').count(), columns);
    assert!(rows[3].contains("\"'=1+1, \"\"quoted\"\"\nsecond line\""), "{}", rows[3]);
    let plain = rows[3].replace("\"'=1+1, \"\"quoted\"\"\nsecond line\"", "reason");
    assert_eq!(plain.split(',').count(), columns);
    assert!(rows[4].contains(",true,12,exit status 1,"), "{}", rows[4]);
    assert_eq!(rows[4].split(',').count(), columns);
}
