//! The verifier finds what was done to a ledger.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::Path;

use checkrein_ledger::{
    BrokenKind, Due, Durability, StateDirectory, Verification, remove, verify, verify_all, verify_session,
};
use checkrein_protocol::{SessionId, Timestamp};

use proptest::prelude::*;
use support::{Kept, Ledger, fill, forget_state, ledger, prompt, started};

fn checked(ledger: &Ledger, home: &Path) -> Verification {
    verify_session(&StateDirectory::new(home), ledger.folder()).unwrap()
}

fn kinds(verification: &Verification) -> Vec<BrokenKind> {
    verification.problems.iter().map(|problem| problem.kind).collect()
}

/// The lines of a ledger, each with its line feed.
fn lines(ledger: &Ledger) -> Vec<String> {
    std::fs::read_to_string(ledger.path()).unwrap().split_inclusive('\n').map(str::to_owned).collect()
}

fn with_lines(ledger: &Ledger, lines: &[String]) {
    std::fs::write(ledger.path(), lines.concat()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_single_change_is_found(
        count in 2_u64..9, place in any::<prop::sample::Index>(), other in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let ledger = ledger(directory.path(), "one");
        fill(&ledger, count);
        prop_assert!(checked(&ledger, directory.path()).is_whole());
        let whole = std::fs::read(ledger.path()).unwrap();
        let all = lines(&ledger);

        // One byte.
        let at = place.index(whole.len());
        if whole[at] != byte {
            let mut edited = whole.clone();
            edited[at] = byte;
            std::fs::write(ledger.path(), &edited).unwrap();
            prop_assert!(!verify(&ledger.path()).unwrap().is_whole(), "byte {} of the file", at);
        }
        // One byte more or less.
        let mut longer = whole.clone();
        longer.insert(at, byte);
        std::fs::write(ledger.path(), &longer).unwrap();
        prop_assert!(!verify(&ledger.path()).unwrap().is_whole(), "one more byte at {}", at);
        let mut shorter = whole.clone();
        shorter.remove(at);
        std::fs::write(ledger.path(), &shorter).unwrap();
        prop_assert!(!checked(&ledger, directory.path()).is_whole(), "one byte less at {}", at);

        // One line out, there twice, or in another's place.
        let (one, another) = (place.index(all.len()), other.index(all.len()));
        let mut without = all.clone();
        without.remove(one);
        with_lines(&ledger, &without);
        prop_assert!(!checked(&ledger, directory.path()).is_whole(), "without line {}", one);
        let mut twice = all.clone();
        twice.insert(another, all[one].clone());
        with_lines(&ledger, &twice);
        prop_assert!(!verify(&ledger.path()).unwrap().is_whole(), "line {} again at {}", one, another);
        if one != another {
            let mut swapped = all.clone();
            swapped.swap(one, another);
            with_lines(&ledger, &swapped);
            prop_assert!(!verify(&ledger.path()).unwrap().is_whole(), "lines {} and {}", one, another);
        }

        // Cut anywhere.
        std::fs::write(ledger.path(), &whole[..at]).unwrap();
        prop_assert!(!checked(&ledger, directory.path()).is_whole(), "cut at {}", at);

        std::fs::write(ledger.path(), &whole).unwrap();
        prop_assert!(checked(&ledger, directory.path()).is_whole());
    }

    #[test]
    fn a_cut_is_still_reported_after_the_next_append(count in 2_u64..7, place in any::<prop::sample::Index>()) {
        let directory = tempfile::tempdir().unwrap();
        let ledger = ledger(directory.path(), "one");
        fill(&ledger, count);
        let whole = std::fs::read(ledger.path()).unwrap();
        let at = place.index(whole.len());
        std::fs::write(ledger.path(), &whole[..at]).unwrap();
        ledger.append(Timestamp(99), prompt("next"), Durability::Plain).unwrap();
        let verification = checked(&ledger, directory.path());
        prop_assert!(kinds(&verification).contains(&BrokenKind::Truncated), "{:?}", verification);
        // What is appended from now on is good again.
        let before = verification.problems.len();
        fill(&ledger, 3);
        prop_assert_eq!(checked(&ledger, directory.path()).problems.len(), before);
    }
}

// Source: seed 001-8, 004-88
#[test]
fn damage_is_named_as_what_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = ledger(directory.path(), "one");
    fill(&ledger, 6);
    let all = lines(&ledger);
    let after = |change: &dyn Fn(&mut Vec<String>)| {
        let mut changed = all.clone();
        change(&mut changed);
        with_lines(&ledger, &changed);
        let verification = checked(&ledger, directory.path());
        assert_eq!(verification.problems.len(), 1, "{verification:?}");
        (verification.problems[0].kind, verification.problems[0].line)
    };
    assert_eq!(
        after(&|lines| lines[2] = lines[2].replace("goal 3", "goal 9")),
        (BrokenKind::Edited, Some(3))
    );
    assert_eq!(after(&|lines| lines[2] = "{}\n".to_owned()), (BrokenKind::Edited, Some(3)));
    assert_eq!(after(&|lines| drop(lines.drain(1..3))), (BrokenKind::Deleted, Some(2)));
    assert_eq!(after(&|lines| drop(lines.remove(0))), (BrokenKind::Deleted, Some(1)));
    assert_eq!(after(&|lines| lines.insert(4, lines[1].clone())), (BrokenKind::Duplicate, Some(5)));
    assert_eq!(after(&|lines| drop(lines.drain(4..))), (BrokenKind::Truncated, None));
    let mut swapped = all.clone();
    swapped.swap(1, 3);
    with_lines(&ledger, &swapped);
    assert!(kinds(&checked(&ledger, directory.path())).iter().all(|kind| *kind == BrokenKind::Reordered));
}

#[test]
fn a_rewritten_chain_is_found_by_its_witnesses() {
    let directory = tempfile::tempdir().unwrap();
    let home = StateDirectory::new(directory.path());
    let (one, two) = (ledger(directory.path(), "one"), ledger(directory.path(), "two"));
    one.append(Timestamp(1), started("one"), Durability::Plain).unwrap();
    fill(&one, 3);
    two.append(Timestamp(9), started("two"), Durability::Plain).unwrap();
    assert!(verify_all(&home).unwrap().is_whole());

    // A whole new chain in the same place, with its own state: only others know better.
    let forged = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(forged.path()).unwrap();
    let false_one = ledger(forged.path(), "one");
    fill(&false_one, 4);
    for name in ["ledger.jsonl", "state", "state.twin"] {
        std::fs::copy(false_one.directory().join(name), one.directory().join(name)).unwrap();
    }
    assert!(verify(&one.path()).unwrap().is_whole());
    let heads = std::fs::read(home.heads()).unwrap();
    let found = checked(&one, directory.path());
    assert_eq!(kinds(&found), [BrokenKind::Edited, BrokenKind::Edited], "{found:?}");
    // Without the file of heads the anchor still speaks.
    std::fs::remove_file(home.heads()).unwrap();
    let found = checked(&one, directory.path());
    assert_eq!(kinds(&found), [BrokenKind::Edited], "{found:?}");
    assert!(found.problems[0].detail.contains("`two`"));

    // Cut with its state file: the same.
    std::fs::write(one.path(), "").unwrap();
    forget_state(&one);
    assert_eq!(kinds(&checked(&one, directory.path())), [BrokenKind::Truncated]);
    // The whole folder gone.
    std::fs::write(home.heads(), heads).unwrap();
    std::fs::remove_dir_all(one.directory()).unwrap();
    let all = verify_all(&home).unwrap();
    assert_eq!(all.missing.keys().collect::<Vec<_>>(), ["one"]);
    assert!(!all.is_whole());
    assert_eq!(kinds(&checked(&one, directory.path())), [BrokenKind::Deleted]);
}

#[test]
fn what_is_kept_outside_knows_sessions_until_they_are_removed_as_they_should_be() {
    let directory = tempfile::tempdir().unwrap();
    let home =
        StateDirectory::new(directory.path().join("state")).testified_in(&directory.path().join("outside"));
    for name in ["kept", "lost", "old"] {
        let ledger = Ledger::open(&home, &SessionId(name.to_owned()));
        let at = Timestamp(if name == "old" { 1 } else { 1_000_000 });
        ledger.append(at, started(name), Durability::Plain).unwrap();
    }
    let removed = remove(&home, Timestamp(1_000_000), "old", |kept: &Kept, _| {
        (kept.last < Timestamp(10)).then_some(Due { last: kept.last, reviews: kept.reviews })
    })
    .unwrap();
    assert_eq!(removed.len(), 1);
    assert!(verify_all(&home).unwrap().is_whole());
    // Everything that the state directory says of it goes with it, and it is known all the same.
    std::fs::remove_dir_all(directory.path().join("state")).unwrap();
    let missing: Vec<String> = verify_all(&home).unwrap().missing.into_keys().collect();
    assert_eq!(missing, ["kept", "lost"]);
    // Another state directory has a testimony of its own.
    let other =
        StateDirectory::new(directory.path().join("other")).testified_in(&directory.path().join("outside"));
    assert!(verify_all(&other).unwrap().is_whole());
}
