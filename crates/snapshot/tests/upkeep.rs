//! Many snapshots: what is stored, found, checked and cleared away.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::{
    ActionEndTime, CaptureOptions, Effort, Ignoring, Pin, Preparation, Retention, Snapshot, SnapshotId,
    SnapshotReason, Store, Unchanged, WorkspaceCapture,
};

use checkrein_testkit::not_run;
use support::{describe, described, everything, ground, restore, take};

fn retention(count: u64) -> Retention {
    Retention { since: 0, count, bytes: u64::MAX, live: Vec::new() }
}

fn ids(store: &Store) -> Vec<u64> {
    store.snapshots().unwrap().iter().map(|one| one.id.0).collect()
}

fn ignoring(tree: &Path) -> Ignoring {
    let root = AbsolutePath::new(tree.to_str().unwrap()).unwrap();
    Ignoring::of(&root, &AbsolutePath::root(), None)
}

/// Takes the workspace with everything settled, so that nothing is read again to be sure.
fn workspace(store: &Store, tree: &Path) -> WorkspaceCapture {
    std::thread::sleep(Duration::from_millis(80));
    let ignoring = ignoring(tree);
    let manner = CaptureOptions { ignoring: Some(&ignoring), ..CaptureOptions::whole() };
    store
        .take_workspace(&[], &manner, Unchanged::Reuse, |captured| {
            described(&captured, SnapshotReason::Request)
        })
        .unwrap()
}

#[test]
fn what_goes_takes_nothing_with_it_that_others_need() {
    let ground = ground();
    fs::write(ground.tree.join("steady"), "the same in all of them\n".repeat(100)).unwrap();
    let mut pictures = Vec::new();
    for number in 0..80 {
        fs::write(ground.tree.join("changing"), format!("{number}\n").repeat(100)).unwrap();
        pictures.push(describe(&ground.tree));
        take(&ground.store, &[everything(&ground.tree)]);
    }
    ground.store.pin(SnapshotId(3), Pin::Pinned).unwrap();
    let going = ground.store.expendable(&retention(10)).unwrap();
    assert_eq!(going.len(), 70);
    let pruned = ground.store.prune(&going, 0).unwrap();
    assert_eq!(pruned.snapshots, going);
    assert!(pruned.bytes > 0);
    let left = ids(&ground.store);
    assert_eq!(left.len(), 10);
    assert!(left.contains(&3) && left.contains(&80));
    assert_eq!(ground.store.verify().unwrap(), vec![]);
    for id in left {
        restore(&ground.store, SnapshotId(id));
        assert_eq!(describe(&ground.tree), pictures[usize::try_from(id).unwrap() - 1], "snapshot {id}");
    }
    // What is left over of earlier clearing is cleared away too.
    let going: Vec<SnapshotId> = ground.store.snapshots().unwrap().iter().map(|one| one.id).collect();
    let (newest, rest) = going.split_last().unwrap();
    ground.store.prune(rest, 0).unwrap();
    assert_eq!(ids(&ground.store), [newest.0]);
    assert_eq!(ground.store.verify().unwrap(), vec![]);
}

#[test]
fn what_a_live_session_may_want_back_stays() {
    let ground = ground();
    fs::write(ground.tree.join("a"), "1").unwrap();
    let draft = ground.store.begin(Effort::Small).unwrap();
    let place = checkrein_snapshot::SessionPlace { session: "alive".to_owned(), action: None, sequence: 1 };
    let snapshot = Snapshot {
        at: 1,
        occasion: SnapshotReason::BeforeAction,
        reason: String::new(),
        place: Some(place),
        roots: Vec::new(),
        above: Vec::new(),
        skipped: Vec::new(),
        entries: 0,
        bytes: 0,
    };
    let alive = draft.commit(&snapshot).unwrap();
    for _ in 0..3 {
        take(&ground.store, &[everything(&ground.tree)]);
    }
    let retention = Retention { live: vec!["alive".to_owned()], ..retention(1) };
    let going = ground.store.expendable(&retention).unwrap();
    assert!(!going.contains(&alive));
    assert_eq!(going, [SnapshotId(2), SnapshotId(3)]);
}

#[test]
fn damage_is_found() {
    let ground = ground();
    fs::write(ground.tree.join("a"), "x".repeat(50)).unwrap();
    let (first, _) = take(&ground.store, &[everything(&ground.tree)]);
    fs::write(ground.tree.join("a"), "y".repeat(50)).unwrap();
    take(&ground.store, &[everything(&ground.tree)]);
    let pack = ground.store.directory().join("packs").join(first.to_string());
    let mut bytes = fs::read(&pack).unwrap();
    bytes[10] ^= 1;
    fs::write(&pack, &bytes).unwrap();
    let hurt = ground.store.verify().unwrap();
    assert_eq!(hurt.iter().map(|one| one.snapshot).collect::<Vec<_>>(), [first]);
    // Nobody gets damaged content: the restore fails before anything is done.
    let prepared = support::prepare(&ground.store, first);
    assert!(prepared.carry_out(support::request()).is_err());
    assert_eq!(fs::read_to_string(ground.tree.join("a")).unwrap(), "y".repeat(50));
}

#[test]
fn only_what_changed_is_read_again() {
    let ground = ground();
    fs::create_dir_all(ground.tree.join("src/deep")).unwrap();
    fs::create_dir_all(ground.tree.join("target")).unwrap();
    fs::write(ground.tree.join(".gitignore"), "target/\n*.log\n").unwrap();
    fs::write(ground.tree.join("src/.gitignore"), "!keep.log\n").unwrap();
    for name in ["src/a", "src/deep/b", "src/keep.log", "src/no.log", "target/out"] {
        fs::write(ground.tree.join(name), name).unwrap();
    }
    let WorkspaceCapture::Whole(first) = workspace(&ground.store, &ground.tree) else { panic!("it is new") };
    let snapshot = ground.store.snapshot(first).unwrap().snapshot;
    // The tree, two directories, two rules, three files.
    assert_eq!(snapshot.entries, 8);
    assert_eq!(workspace(&ground.store, &ground.tree), WorkspaceCapture::Same(first));
    fs::write(ground.tree.join("src/deep/b"), "changed").unwrap();
    let before = ground.store.bytes().unwrap();
    let WorkspaceCapture::Whole(second) = workspace(&ground.store, &ground.tree) else {
        panic!("it changed")
    };
    assert!(ground.store.bytes().unwrap() - before < 2_000);
    let expected = describe(&ground.tree);
    fs::remove_dir_all(ground.tree.join("src")).unwrap();
    let ignoring = ignoring(&ground.tree);
    let manner = CaptureOptions { ignoring: Some(&ignoring), ..CaptureOptions::whole() };
    match ground.store.prepare(second, &[], &manner, ActionEndTime::None).unwrap() {
        Preparation::Ready(prepared) => prepared.carry_out(support::request()).unwrap(),
        Preparation::Over(over) => panic!("{over:?}"),
    };
    let mut restored = describe(&ground.tree);
    // What is ignored is not brought back.
    let mut expected = expected;
    expected.remove(&b"src/no.log"[..]);
    for tree in [&mut restored, &mut expected] {
        tree.get_mut(&b""[..]).unwrap().modified = (0, 0);
    }
    assert_eq!(restored, expected);
    assert!(ground.tree.join("target/out").exists());
    // Rules that change count at once, also for what was seen before.
    fs::write(ground.tree.join(".gitignore"), "target/\n*.log\ndeep/\n").unwrap();
    let WorkspaceCapture::Whole(third) = workspace(&ground.store, &ground.tree) else {
        panic!("the rules changed")
    };
    assert_eq!(ground.store.snapshot(third).unwrap().snapshot.entries, 6);
}

#[test]
fn snapshots_at_the_same_time_do_not_meet() {
    let ground = ground();
    for number in 0..20 {
        fs::write(ground.tree.join(number.to_string()), format!("{number}").repeat(100)).unwrap();
    }
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    take(&ground.store, &[everything(&ground.tree)]);
                }
            });
        }
    });
    assert_eq!(ids(&ground.store), (1..=40).collect::<Vec<_>>());
    assert_eq!(ground.store.verify().unwrap(), vec![]);
}

/// How often this thread has read from files so far, as the kernel counts it; `None` where it does not. Whatever is opened of a store is read.
fn reads() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("syscr: "))?.parse().ok()
}

/// The most reads that one of so many further snapshots takes, and the number of the next.
fn most_reads(mut take: impl FnMut(), count: usize) -> Option<u64> {
    (0..count).try_fold(0, |most, _| {
        let before = reads()?;
        take();
        Some(most.max(reads()? - before))
    })
}

#[test]
fn what_a_snapshot_reads_does_not_grow_with_the_store() {
    for with_new in [1, 3, 1_000_000] {
        let ground = ground();
        let mut number = 0;
        let mut take = || {
            number += 1;
            if number % with_new == 0 {
                fs::write(ground.tree.join("file"), format!("{number}\n")).unwrap();
            }
            support::take(&ground.store, &[everything(&ground.tree)]);
        };
        let Some(few) = most_reads(&mut take, 80) else {
            return not_run("the kernel does not count the reads of a thread");
        };
        (0..400).for_each(|_| take());
        let many = most_reads(&mut take, 20).unwrap();
        assert!(many <= few + 40, "{few} reads with 80 snapshots, {many} with 500");
        assert_eq!(ground.store.verify().unwrap(), vec![]);
    }
}

/// Ways in which a file can be when a process or a machine died.
fn spoil(path: &Path, way: usize) {
    let bytes = fs::read(path).unwrap();
    match way {
        0 => fs::remove_file(path).unwrap(),
        1 => fs::write(path, b"").unwrap(),
        2 => fs::write(path, bytes.get(..bytes.len() / 2).unwrap()).unwrap(),
        _ => fs::write(path, vec![0; bytes.len()]).unwrap(),
    }
}

#[test]
fn whatever_is_left_of_the_index_nothing_is_missed_and_no_number_is_given_twice() {
    let ground = ground();
    let mut pictures = vec![BTreeMap::new()];
    let next = |pictures: &mut Vec<_>| {
        fs::write(ground.tree.join("file"), format!("{}\n", pictures.len())).unwrap();
        pictures.push(describe(&ground.tree));
        let (id, _) = take(&ground.store, &[everything(&ground.tree)]);
        assert_eq!(id.0, pictures.len() as u64 - 1);
    };
    (0..110).for_each(|_| next(&mut pictures));
    let tables = || {
        let names = fs::read_dir(ground.store.directory()).unwrap();
        let mut names: Vec<_> = names.map(|name| name.unwrap().path()).collect();
        names.retain(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("index") && !name.ends_with("lock")
        });
        names.sort();
        names
    };
    assert!(tables().len() > 1, "{:?}", tables());
    for way in 0..4 {
        for place in 0..tables().len() {
            let Some(path) = tables().get(place).cloned() else { continue };
            spoil(&path, way);
            for id in [1, 2, 3, 9, 10, 57, pictures.len() - 1] {
                restore(&ground.store, SnapshotId(id as u64));
                assert_eq!(
                    describe(&ground.tree),
                    pictures[id],
                    "snapshot {id}, {}, way {way}",
                    path.display()
                );
                // The restore has saved what it replaced.
                pictures.resize_with(
                    usize::try_from(*ids(&ground.store).last().unwrap()).unwrap() + 1,
                    BTreeMap::new,
                );
            }
            next(&mut pictures);
            assert_eq!(ground.store.verify().unwrap(), vec![]);
        }
    }
}
