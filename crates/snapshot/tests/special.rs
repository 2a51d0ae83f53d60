//! What is awkward: read-only places, other sorts of files, links in the way, bounds, what changed meanwhile, damage.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::time::Duration;

use checkrein_snapshot::{
    ActionEndTime, CaptureBounds, CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Effort,
    LimitExceeded, Pin, Preparation, RestoreAction, Since, SkipReason, SnapshotError, capture, measure,
};

use support::{describe, everything, ground, prepare, request, restore, restore_without, take};

#[test]
fn absence_is_saved_too() {
    let ground = ground();
    let (old, new) = (ground.tree.join("old"), ground.tree.join("new"));
    fs::write(&old, "content").unwrap();
    let (saved, _) = take(&ground.store, &[everything(&old), everything(&new)]);
    fs::rename(&old, &new).unwrap();
    let prepared = prepare(&ground.store, saved);
    let deeds: Vec<RestoreAction> = prepared.steps().iter().map(|step| step.deed).collect();
    assert_eq!(deeds, [RestoreAction::Remove, RestoreAction::Create]);
    prepared.carry_out(request()).unwrap();
    assert_eq!(fs::read_to_string(&old).unwrap(), "content");
    assert!(!new.exists());
}

#[test]
fn what_is_to_stay_stays() {
    let ground = ground();
    fs::write(ground.tree.join("a"), "1").unwrap();
    let (saved, _) = take(&ground.store, &[everything(&ground.tree)]);
    fs::remove_file(ground.tree.join("a")).unwrap();
    fs::write(ground.tree.join("mine"), "2").unwrap();
    restore_without(&ground.store, saved, |step| step.deed == RestoreAction::Remove).unwrap();
    assert_eq!(fs::read_to_string(ground.tree.join("a")).unwrap(), "1");
    assert_eq!(fs::read_to_string(ground.tree.join("mine")).unwrap(), "2");
}

#[test]
fn a_directory_that_is_gone_with_its_parents_comes_back_with_them() {
    let ground = ground();
    let file = ground.tree.join("one/two/three.txt");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::set_permissions(ground.tree.join("one"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::write(&file, "x").unwrap();
    let before = describe(&ground.tree);
    let (saved, _) = take(&ground.store, &[everything(&file)]);
    fs::remove_dir_all(ground.tree.join("one")).unwrap();
    restore(&ground.store, saved).unwrap();
    let mut after = describe(&ground.tree);
    // The workspace itself is none of the places.
    after.get_mut(&b""[..]).unwrap().modified = before[&b""[..]].modified;
    assert_eq!(after, before);
}

#[test]
fn read_only_places_are_restored_and_stay_read_only() {
    let ground = ground();
    let closed = ground.tree.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("a"), "1").unwrap();
    fs::set_permissions(closed.join("a"), fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let before = describe(&ground.tree);
    let (saved, _) = take(&ground.store, &[everything(&ground.tree)]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(closed.join("a")).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let restored = restore(&ground.store, saved).unwrap();
    assert_eq!(restored.left, vec![]);
    assert_eq!(describe(&ground.tree), before);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn pipes_come_back_and_sockets_are_skipped_and_said() {
    let ground = ground();
    let pipe = ground.tree.join("folder/pipe");
    fs::create_dir(ground.tree.join("folder")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o620)).unwrap();
    fs::set_permissions(&pipe, fs::Permissions::from_mode(0o620)).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(ground.tree.join("socket")).unwrap();
    let before = describe(&ground.tree);
    let (saved, snapshot) = take(&ground.store, &[everything(&ground.tree)]);
    let skipped: Vec<_> =
        snapshot.skipped.iter().map(|one| (one.path.as_path().to_owned(), &one.reason)).collect();
    assert_eq!(skipped, [(ground.tree.join("socket"), &SkipReason::Special)]);
    // What was skipped is not taken for new either.
    assert!(restore(&ground.store, saved).is_none());
    fs::remove_dir_all(ground.tree.join("folder")).unwrap();
    assert_eq!(restore(&ground.store, saved).unwrap().left, vec![]);
    assert_eq!(describe(&ground.tree), before);
    // Something else in its place gives way to it.
    fs::remove_file(&pipe).unwrap();
    fs::write(&pipe, "a file").unwrap();
    restore(&ground.store, saved).unwrap();
    assert_eq!(describe(&ground.tree), before);
    drop(socket);
}

#[test]
fn a_link_in_place_of_a_directory_leads_nowhere() {
    let ground = ground();
    let (inside, elsewhere) = (ground.tree.join("dir"), ground.scratch.path().join("elsewhere"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    fs::write(inside.join("file"), "saved").unwrap();
    fs::write(elsewhere.join("file"), "not ours").unwrap();
    let (saved, _) = take(&ground.store, &[everything(&inside.join("file"))]);
    fs::remove_dir_all(&inside).unwrap();
    symlink(&elsewhere, &inside).unwrap();
    let refused = match ground.store.prepare(saved, &[], &CaptureOptions::whole(), ActionEndTime::None) {
        Ok(Preparation::Ready(prepared)) => prepared.carry_out(request()).map(drop),
        Ok(Preparation::Over(over)) => panic!("{over:?}"),
        Err(error) => Err(error),
    };
    drop(refused);
    assert_eq!(fs::read_to_string(elsewhere.join("file")).unwrap(), "not ours");
}

#[test]
fn bounds_hold_and_leave_nothing() {
    let ground = ground();
    for number in 0..10 {
        fs::write(ground.tree.join(number.to_string()), [b'x'; 1000]).unwrap();
    }
    let wanted = [everything(&ground.tree)];
    let tight = [
        (CaptureBounds { entries: 5, ..CaptureBounds::NONE }, LimitExceeded::Entries),
        (CaptureBounds { bytes: 5_000, ..CaptureBounds::NONE }, LimitExceeded::Bytes),
    ];
    for (bounds, expected) in tight {
        let manner = CaptureOptions { bounds, ..CaptureOptions::whole() };
        let draft = ground.store.begin(Effort::Small).unwrap();
        match capture(&draft, &wanted, &manner).unwrap() {
            CaptureOutcome::Over(over) => assert_eq!(over, expected),
            CaptureOutcome::Whole(_) => panic!("{bounds:?} did not hold"),
        }
        match measure(&wanted, &manner).unwrap() {
            CaptureOutcome::Over(over) => assert_eq!(over, expected),
            CaptureOutcome::Whole(_) => panic!("{bounds:?} did not hold"),
        }
    }
    assert_eq!(ground.store.snapshots().unwrap(), vec![]);
    assert_eq!(fs::read_dir(ground.store.directory().join("packs")).map_or(0, Iterator::count), 0);
}

#[test]
fn a_clock_counts_for_much_and_never_for_little() {
    let ground = ground();
    let wanted = [everything(&ground.tree)];
    let bounds = CaptureBounds { time: Duration::ZERO, ..CaptureBounds::NONE };
    let over = || {
        let manner = CaptureOptions { bounds, ..CaptureOptions::whole() };
        let draft = ground.store.begin(Effort::Small).unwrap();
        [capture(&draft, &wanted, &manner).unwrap(), measure(&wanted, &manner).unwrap()].map(|ended| {
            match ended {
                CaptureOutcome::Over(over) => Some(over),
                CaptureOutcome::Whole(_) => None,
            }
        })
    };
    for number in 0..900 {
        fs::write(ground.tree.join(number.to_string()), "little").unwrap();
    }
    assert_eq!(over(), [None, None], "few files");
    for number in 900..1_200 {
        fs::write(ground.tree.join(number.to_string()), "little").unwrap();
    }
    assert_eq!(over(), [Some(LimitExceeded::Time), Some(LimitExceeded::Time)], "many files");
}

#[test]
fn what_changed_after_the_action_is_told_apart() {
    let ground = ground();
    let (early, late) = (ground.tree.join("early"), ground.tree.join("late"));
    fs::write(&early, "1").unwrap();
    fs::write(&late, "1").unwrap();
    let (saved, _) = take(&ground.store, &[everything(&early), everything(&late)]);
    fs::write(&early, "2").unwrap();
    std::thread::sleep(Duration::from_millis(30));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let until = checkrein_snapshot::FileTime {
        seconds: i64::try_from(now.as_secs()).unwrap(),
        nanoseconds: now.subsec_nanos(),
    };
    std::thread::sleep(Duration::from_millis(30));
    fs::write(&late, "3").unwrap();
    let Preparation::Ready(prepared) =
        ground.store.prepare(saved, &[], &CaptureOptions::whole(), ActionEndTime::At(until)).unwrap()
    else {
        panic!("there are no bounds")
    };
    let since: Vec<Since> = prepared.steps().iter().map(|step| step.since).collect();
    assert_eq!(since, [Since::Untouched, Since::Changed]);
}

#[test]
fn what_changes_between_plan_and_deed_stops_it() {
    let ground = ground();
    let (a, b) = (ground.tree.join("a"), ground.tree.join("b"));
    fs::write(&a, "1").unwrap();
    fs::write(&b, "1").unwrap();
    let (saved, _) = take(&ground.store, &[everything(&ground.tree)]);
    fs::write(&a, "2").unwrap();
    fs::write(&b, "2").unwrap();
    let prepared = prepare(&ground.store, saved);
    fs::write(&b, "somebody was faster").unwrap();
    assert!(matches!(prepared.carry_out(request()), Err(SnapshotError::Moved(path)) if path == b));
    assert_eq!(fs::read_to_string(&a).unwrap(), "2", "nothing is done by halves");
    assert_eq!(fs::read_to_string(&b).unwrap(), "somebody was faster");
    assert_eq!(fs::read_dir(&ground.tree).unwrap().count(), 2, "nothing is left lying about");
    assert!(ground.store.interrupted().is_none());
}

#[test]
fn equal_content_is_stored_once() {
    let ground = ground();
    let content: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    fs::write(ground.tree.join("big"), &content).unwrap();
    fs::write(ground.tree.join("copy"), &content).unwrap();
    let (first, _) = take(&ground.store, &[everything(&ground.tree)]);
    fs::write(ground.tree.join("small"), "x").unwrap();
    let (second, _) = take(&ground.store, &[everything(&ground.tree)]);
    let listed = ground.store.snapshots().unwrap();
    assert_eq!(listed.iter().map(|one| one.id).collect::<Vec<_>>(), [first, second]);
    assert!(listed[0].disk < content.len() as u64 + 100_000, "{}", listed[0].disk);
    assert!(listed[1].disk < 1_000, "{}", listed[1].disk);
    fs::remove_file(ground.tree.join("copy")).unwrap();
    restore(&ground.store, second).unwrap();
    assert_eq!(fs::read(ground.tree.join("copy")).unwrap(), content);
}

#[test]
fn half_a_snapshot_is_none() {
    let ground = ground();
    fs::write(ground.tree.join("a"), "1").unwrap();
    let (first, _) = take(&ground.store, &[everything(&ground.tree)]);
    fs::write(ground.tree.join("a"), "2").unwrap();
    let (second, _) = take(&ground.store, &[everything(&ground.tree)]);
    let pack = ground.store.directory().join("packs").join(second.to_string());
    let whole = fs::read(&pack).unwrap();
    for length in 0..whole.len() {
        fs::write(&pack, &whole[..length]).unwrap();
        let listed: Vec<_> = ground.store.snapshots().unwrap().iter().map(|one| one.id).collect();
        assert_eq!(listed, [first], "cut at {length}");
    }
    // The next one gets a number of its own.
    let (third, _) = take(&ground.store, &[everything(&ground.tree)]);
    assert!(third > second);
    ground.store.pin(first, Pin::Pinned).unwrap();
    assert_eq!(ground.store.snapshot(first).unwrap().pin, Pin::Pinned);
}

#[test]
fn the_directory_itself_is_saved_without_what_is_in_it() {
    let ground = ground();
    fs::write(ground.tree.join("a"), "1").unwrap();
    let wanted = CaptureRequest { path: ground.tree.clone(), selection: CaptureSelection::Itself };
    let (saved, snapshot) = take(&ground.store, &[wanted]);
    assert_eq!(snapshot.entries, 1);
    fs::remove_file(ground.tree.join("a")).unwrap();
    fs::set_permissions(&ground.tree, fs::Permissions::from_mode(0o700)).unwrap();
    restore(&ground.store, saved).unwrap();
    assert_eq!(fs::metadata(&ground.tree).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!ground.tree.join("a").exists());
}

#[test]
fn state_is_private() {
    let ground = ground();
    fs::write(ground.tree.join("a"), "secret").unwrap();
    take(&ground.store, &[everything(&ground.tree)]);
    let mut waiting: Vec<PathBuf> = vec![ground.store.directory().to_owned()];
    while let Some(path) = waiting.pop() {
        let facts = fs::metadata(&path).unwrap();
        let expected = if facts.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(facts.permissions().mode() & 0o777, expected, "{}", path.display());
        if facts.is_dir() {
            waiting.extend(fs::read_dir(path).unwrap().map(|child| child.unwrap().path()));
        }
    }
}
