//! Snapshots that are sealed: what a store tells without the key, and what it gives back with it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use checkrein_snapshot::{
    CaptureBounds, CaptureOptions, Effort, ObjectRetention, SnapshotError, Store, capture,
};
use checkrein_vault::{KeyFolder, Sealing, VaultError};

use support::{Ground, describe, everything, ground_with, restore, take, vault};

/// A word of a content, and one of a name.
const WORDS: [&str; 2] = ["marmalade", "rhubarb"];

fn sealed() -> Ground {
    ground_with(Sealing::On)
}

/// The same store, opened anew, so that keys are read again.
fn again(ground: &Ground, sealing: Sealing) -> Store {
    Store::open(&ground.scratch.path().join("snapshots"), &ground.tree)
        .with_vault(vault(ground.scratch.path(), sealing))
}

fn write(ground: &Ground, name: &str, text: &str) {
    fs::write(ground.tree.join(name), text).unwrap();
}

/// The files below a folder that hold these bytes.
fn holding(folder: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut waiting = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            } else if fs::read(entry.path()).unwrap().windows(bytes.len()).any(|part| part == bytes) {
                found.push(entry.path());
            }
        }
    }
    found
}

fn lose_keys(ground: &Ground) {
    let keys = KeyFolder::new(ground.scratch.path().join("keys"));
    for key in keys.keys() {
        fs::remove_file(keys.path(key.name())).unwrap();
    }
}

// Source: seed 001-72
#[test]
fn a_store_tells_no_content_no_name_and_no_hash_of_a_content() {
    for (sealing, tells) in [(Sealing::Off, true), (Sealing::On, false)] {
        let ground = ground_with(sealing);
        write(&ground, "rhubarb", "marmalade");
        // Enough snapshots that there are tables of the index too, and a long file in parts.
        write(&ground, "long", &"marmalade and more ".repeat(400_000));
        for number in 0..12 {
            write(&ground, "changing", &format!("gooseberry {number}"));
            take(&ground.store, &[everything(&ground.tree)]);
        }
        ground.store.verify().unwrap();
        assert!(ground.store.directory().join("index").exists());
        for word in WORDS {
            assert_eq!(!holding(ground.store.directory(), word.as_bytes()).is_empty(), tells, "{word}");
        }
        // Who guesses a short content could look for its hash.
        let hash = blake3::hash(b"marmalade");
        assert_eq!(!holding(ground.store.directory(), hash.as_bytes()).is_empty(), tells);
    }
}

#[test]
fn what_was_saved_before_sealing_and_with_each_key_is_given_back() {
    let ground = ground_with(Sealing::Off);
    let mut saved = Vec::new();
    let steps = [Sealing::Off, Sealing::On, Sealing::On, Sealing::Off, Sealing::On];
    for (number, sealing) in steps.into_iter().enumerate() {
        write(&ground, "notes", &format!("version {number}"));
        let store = again(&ground, sealing);
        let (id, _) = take(&store, &[everything(&ground.tree)]);
        saved.push((id, describe(&ground.tree)));
        if number == 1 {
            KeyFolder::new(ground.scratch.path().join("keys")).replace().unwrap();
        }
    }
    for (id, expected) in saved.iter().rev().chain(&saved) {
        restore(&again(&ground, Sealing::On), *id);
        assert_eq!(describe(&ground.tree), *expected);
    }
    assert!(again(&ground, Sealing::Off).verify().unwrap().is_empty());
}

#[test]
fn a_snapshot_needs_the_key_in_use_when_it_was_taken_and_no_other() {
    let ground = ground_with(Sealing::Off);
    write(&ground, "notes", "marmalade");
    take(&ground.store, &[everything(&ground.tree)]);
    take(&again(&ground, Sealing::On), &[everything(&ground.tree)]);
    let keys = KeyFolder::new(ground.scratch.path().join("keys"));
    let first = keys.keys()[0].name().clone();
    keys.replace().unwrap();
    let (newest, _) = take(&again(&ground, Sealing::On), &[everything(&ground.tree)]);
    fs::remove_file(keys.path(&first)).unwrap();
    fs::write(ground.tree.join("notes"), "changed").unwrap();
    restore(&again(&ground, Sealing::On), newest);
    assert_eq!(fs::read_to_string(ground.tree.join("notes")).unwrap(), "marmalade");
}

#[test]
fn without_the_key_it_is_said_and_no_older_snapshot_takes_the_place() {
    let ground = ground_with(Sealing::Off);
    write(&ground, "notes", "one");
    let (clear, _) = take(&ground.store, &[everything(&ground.tree)]);
    write(&ground, "notes", "two");
    let (closed, _) = take(&again(&ground, Sealing::On), &[everything(&ground.tree)]);
    lose_keys(&ground);
    let store = again(&ground, Sealing::Off);
    let error = store.snapshot(closed).unwrap_err();
    assert!(matches!(error, SnapshotError::Sealed(VaultError::Missing(_))), "{error}");
    assert!(error.hint().contains("your copy"), "{}", error.hint());
    assert!(matches!(store.snapshots(), Err(SnapshotError::Sealed(_))), "the newest is not passed over");
    assert!(store.snapshot(clear).is_ok());
    assert_eq!(store.sealed_off().unwrap(), [closed]);
    // Nothing is saved in the clear instead.
    write(&ground, "notes", "three");
    let draft = again(&ground, Sealing::On).begin(Effort::Small).unwrap();
    let refused = capture(&draft, &[everything(&ground.tree)], &CaptureOptions::whole());
    assert!(matches!(refused, Err(SnapshotError::Sealed(_))), "{refused:?}");
    drop(draft);
    assert!(holding(ground.store.directory(), b"three").is_empty());
    let (fresh, _) = take(&store, &[everything(&ground.tree)]);
    let listed: Vec<_> = store.snapshots().unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(listed, [clear, fresh], "what comes later can be read, so the rest is");
}

#[test]
fn pruning_keeps_what_is_sealed_and_takes_nothing_of_which_it_knows_not_who_needs_it() {
    let ground = sealed();
    write(&ground, "kept", "marmalade");
    let (first, _) = take(&ground.store, &[everything(&ground.tree)]);
    write(&ground, "other", "gooseberry");
    let (second, _) = take(&ground.store, &[everything(&ground.tree)]);
    let expected = describe(&ground.tree);
    // With sealing off what was sealed stays so.
    again(&ground, Sealing::Off).prune(&[first], 0).unwrap();
    assert!(holding(ground.store.directory(), b"marmalade").is_empty());
    fs::remove_file(ground.tree.join("kept")).unwrap();
    restore(&again(&ground, Sealing::On), second);
    assert_eq!(describe(&ground.tree), expected);
    let keys = ground.scratch.path().join("keys");
    let aside = ground.scratch.path().join("aside");
    fs::rename(&keys, &aside).unwrap();
    let refused = again(&ground, Sealing::Off).prune(&[second], 0);
    assert!(matches!(refused, Err(SnapshotError::Sealed(_))), "{refused:?}");
    // What nobody can read any more goes with its age.
    again(&ground, Sealing::Off).prune(&[], u64::MAX).unwrap();
    assert!(again(&ground, Sealing::Off).sealed_off().unwrap().is_empty());
}

#[test]
fn objects_of_a_repository_are_sealed_copies_that_come_back_as_they_were() {
    let ground = sealed();
    let git = |arguments: &[&str]| {
        let done = Command::new("git").current_dir(&ground.tree).args(arguments).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    git(&["init", "-q"]);
    write(&ground, "notes", "marmalade");
    git(&["add", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "rhubarb"]);
    let objects = ground.tree.join(".git/objects");
    assert_eq!(ground.store.keep_objects(&objects, &CaptureBounds::LITTLE).unwrap(), ObjectRetention::All);
    for name in git(&["rev-list", "--objects", "--all"]).lines() {
        let object = fs::read(objects.join(&name[..2]).join(&name[2..40])).unwrap();
        assert!(holding(ground.store.directory(), &object).is_empty(), "{name}");
    }
    assert_eq!(ground.store.lost_objects(&objects, None).unwrap(), 0);
    for folder in fs::read_dir(&objects).unwrap().flatten() {
        if folder.file_name().len() == 2 {
            fs::remove_dir_all(folder.path()).unwrap();
        }
    }
    assert_eq!(ground.store.lost_objects(&objects, None).unwrap(), 3);
    assert_eq!(ground.store.give_objects_back(&objects).unwrap(), 3);
    git(&["fsck", "--strict"]);
    assert_eq!(git(&["show", "HEAD:notes"]), "marmalade");
}

#[test]
fn a_file_of_several_names_gets_none_in_the_store() {
    let ground = sealed();
    write(&ground, "one", "marmalade");
    fs::hard_link(ground.tree.join("one"), ground.tree.join("two")).unwrap();
    let expected = describe(&ground.tree);
    let (saved, _) = take(&ground.store, &[everything(&ground.tree)]);
    assert!(holding(ground.store.directory(), b"marmalade").is_empty());
    fs::remove_file(ground.tree.join("one")).unwrap();
    fs::remove_file(ground.tree.join("two")).unwrap();
    restore(&ground.store, saved);
    assert_eq!(describe(&ground.tree), expected);
}
