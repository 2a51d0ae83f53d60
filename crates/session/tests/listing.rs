//! All sessions at a glance, and those that are old.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::time::Duration;

use checkrein_ledger::{Durability, HaltTarget, StateDirectory, halt, is_halted, verify_all};
use checkrein_protocol::{HaltScope, RecordBody, Timestamp};
use checkrein_session::{prune, sessions};

use support::{forget_state, ledger, prompt, review, started};

#[test]
fn sessions_are_listed_newest_first_with_their_halts() {
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    assert!(sessions(&home).unwrap().is_empty());
    for (name, time) in [("one", 5), ("../odd id", 9), ("three", 7)] {
        let ledger = ledger(directory.path(), name);
        ledger.append(Timestamp(time), started(name), Durability::Plain).unwrap();
        ledger.append(Timestamp(time + 1), review("a", "block", 3, Vec::new()), Durability::Plain).unwrap();
    }
    let one = ledger(directory.path(), "one");
    assert_eq!(is_halted(&home, one.folder()), None);
    halt(&home, HaltTarget::Session(one.folder()), "it ran away\nwith TOKEN=hunter22").unwrap();
    forget_state(&ledger(directory.path(), "three"));
    let all = sessions(&home).unwrap();
    let names: Vec<_> = all.iter().map(|one| one.session.clone().unwrap()).collect();
    assert_eq!(names, ["../odd id", "three", "one"]);
    assert_eq!((all[1].started, all[1].last), (Some(Timestamp(7)), Some(Timestamp(8))));
    assert!(all.iter().all(|one| one.verdicts.block == 1 && one.verdicts.flagged == 1));
    let found = all[2].halt.clone().unwrap();
    assert_eq!(found.scope, HaltScope::Session);
    assert!(found.reason.contains("it ran away") && !found.reason.contains("hunter22"));
}

#[test]
fn what_a_user_does_about_a_session_does_not_lengthen_it() {
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    let ledger = ledger(directory.path(), "one");
    let event = |name: &str| RecordBody::Event { name: name.to_owned(), fields: serde_json::Value::Null };
    ledger.append(Timestamp(5), started("one"), Durability::Plain).unwrap();
    ledger.append(Timestamp(8), event("SessionEnd"), Durability::Plain).unwrap();
    for (at, name) in [(20, "checkrein.allowed"), (30, "checkrein.restored")] {
        ledger.append(Timestamp(at), event(name), Durability::Plain).unwrap();
    }
    for _ in 0..2 {
        let all = sessions(&home).unwrap();
        assert_eq!((all[0].worked, all[0].last), (Some(Timestamp(8)), Some(Timestamp(30))));
        forget_state(&ledger);
    }
    ledger.append(Timestamp(40), prompt("go on"), Durability::Plain).unwrap();
    assert_eq!(sessions(&home).unwrap()[0].worked, Some(Timestamp(40)));
}

#[test]
fn retention_leaves_a_record_and_no_alarm() {
    const DAY: u64 = 86_400_000;
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    for (name, day) in [("old", 1), ("older", 0), ("fresh", 100), ("halted", 1)] {
        let ledger = ledger(directory.path(), name);
        ledger.append(Timestamp(day * DAY), started(name), Durability::Durable).unwrap();
        ledger.append(Timestamp(day * DAY + 1), review("a", "ok", 1, Vec::new()), Durability::Plain).unwrap();
    }
    let halted = ledger(directory.path(), "halted");
    halt(&home, HaltTarget::Session(halted.folder()), "look first").unwrap();
    let month = Duration::from_hours(30 * 24);
    let removed = prune(&home, Timestamp(110 * DAY), month).unwrap();
    let mut names: Vec<_> = removed.iter().map(|gone| (gone.session.as_str(), gone.reviews)).collect();
    names.sort_unstable();
    assert_eq!(names, [("halted", 1), ("old", 1), ("older", 1)], "a halt stays, and not what led to it");
    let left: Vec<_> =
        sessions(&home).unwrap().into_iter().map(|one| one.folder.as_str().to_owned()).collect();
    assert_eq!(left, ["fresh"]);
    let all = verify_all(&home).unwrap();
    assert!(all.is_whole(), "{all:?}");
    assert_eq!(all.retention.unwrap().records, 1);
    assert!(prune(&home, Timestamp(110 * DAY), month).unwrap().is_empty());

    // A removed session that is taken up again starts anew.
    let old = ledger(directory.path(), "old");
    assert_eq!(
        old.append(Timestamp(110 * DAY), prompt("again"), Durability::Durable).unwrap().records[0].seq,
        1
    );
    assert!(verify_all(&home).unwrap().is_whole());

    std::fs::remove_file(home.retention()).unwrap();
    let all = verify_all(&home).unwrap();
    assert!(all.missing.contains_key(".retention") && all.missing.contains_key("older"), "{all:?}");
}
