//! What a restore stands: many files, deep trees, few descriptors, holes, several names of one file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use checkrein_snapshot::{CaptureOptions, CaptureOutcome, Effort, SnapshotReason, capture};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit};
use support::{describe, everything, ground, restore, take};

/// How deep the deepest tree is.
const DEPTH: usize = 2_500;

/// How long a file with little in it is.
const LENGTH: u64 = 3_000_000_000;

/// What is done to one of two names.
type Deed = fn(&Path);

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Nobody may hold more files open than the smallest limits let them. They are those of the whole process, so one test runs at a time.
fn with_few_descriptors() -> MutexGuard<'static, ()> {
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    rustix::process::setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: Some(64) }).unwrap();
    alone
}

#[test]
fn any_number_of_files_comes_back_with_few_descriptors() {
    let _alone = with_few_descriptors();
    let ground = ground();
    for directory in 0..40 {
        let below = ground.tree.join(format!("{directory}/down/below"));
        fs::create_dir_all(&below).unwrap();
        for file in 0..50 {
            fs::write(below.join(format!("file {file}")), format!("{directory} {file}")).unwrap();
            fs::write(ground.tree.join(format!("{directory}/{file}")), "the same").unwrap();
        }
    }
    let before = describe(&ground.tree);
    // Each as a place of its own, and all as one.
    let places: Vec<_> = (0..40)
        .flat_map(|directory| (0..50).map(move |file| format!("{directory}/{file}")))
        .map(|name| everything(&ground.tree.join(name)))
        .collect();
    let (single, _) = take(&ground.store, &places);
    let (whole, _) = take(&ground.store, &[everything(&ground.tree)]);
    for directory in 0..40 {
        fs::remove_dir_all(ground.tree.join(directory.to_string())).unwrap();
    }
    assert_eq!(restore(&ground.store, single).unwrap().left, vec![]);
    assert_eq!(restore(&ground.store, whole).unwrap().left, vec![]);
    assert_eq!(describe(&ground.tree), before);
}

/// Many packs hold what one restore needs.
#[test]
fn any_number_of_packs_is_read_with_few_descriptors() {
    let _alone = with_few_descriptors();
    let ground = ground();
    for number in 0..120 {
        let path = ground.tree.join(number.to_string());
        fs::write(&path, format!("content {number}")).unwrap();
        take(&ground.store, &[everything(&path)]);
    }
    let before = describe(&ground.tree);
    let (saved, _) = take(&ground.store, &[everything(&ground.tree)]);
    fs::remove_dir_all(&ground.tree).unwrap();
    restore(&ground.store, saved).unwrap();
    assert_eq!(describe(&ground.tree), before);
}

/// Deeper than any path that the system takes.
#[test]
fn a_tree_of_any_depth_comes_back() {
    let _alone = with_few_descriptors();
    let ground = ground();
    let open = |directory: &rustix::fd::OwnedFd, name: &str| {
        rustix::fs::openat(directory, name, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    };
    let mut at = rustix::fs::open(&ground.tree, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    for level in 0..DEPTH {
        for name in ["down", "side"] {
            rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o755)).unwrap();
        }
        if level % 500 == 0 {
            fs::write(
                format!("/proc/self/fd/{}/file", std::os::fd::AsRawFd::as_raw_fd(&at)),
                level.to_string(),
            )
            .unwrap();
        }
        at = open(&at, "down").unwrap();
    }
    let (saved, snapshot) = take(&ground.store, &[everything(&ground.tree.join("down"))]);
    assert_eq!(snapshot.skipped, vec![]);
    let clear =
        || assert!(Command::new("rm").arg("-rf").arg(ground.tree.join("down")).status().unwrap().success());
    clear();
    let restored = restore(&ground.store, saved).unwrap();
    assert_eq!(restored.left, vec![]);
    let mut at = rustix::fs::open(&ground.tree, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    for level in 0..DEPTH {
        if level % 500 == 0 {
            let path = format!("/proc/self/fd/{}/file", std::os::fd::AsRawFd::as_raw_fd(&at));
            assert_eq!(fs::read_to_string(path).unwrap(), level.to_string());
        }
        open(&at, "side").unwrap();
        at = open(&at, "down").unwrap();
    }
    // And there is nothing left to do.
    assert!(restore(&ground.store, saved).is_none());
    clear();
}

/// How long saving a tree of this depth takes, and putting it back: two directories in each level, and a file in every tenth.
fn times_of_depth(depth: usize) -> [Duration; 2] {
    let ground = ground();
    let mut at = rustix::fs::open(&ground.tree, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    for level in 0..depth {
        for name in ["down", "side"] {
            rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o755)).unwrap();
        }
        if level % 10 == 0 {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&at, "file", flags, Mode::from_raw_mode(0o644)).unwrap();
            rustix::io::write(&file, level.to_string().as_bytes()).unwrap();
        }
        at = rustix::fs::openat(&at, "down", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    }
    let top = ground.tree.join("down");
    let began = Instant::now();
    let (saved, snapshot) = take(&ground.store, &[everything(&top)]);
    let saving = began.elapsed();
    assert_eq!(snapshot.skipped, vec![]);
    let clear = || assert!(Command::new("rm").arg("-rf").arg(&top).status().unwrap().success());
    clear();
    let began = Instant::now();
    let restored = restore(&ground.store, saved).unwrap();
    let restoring = began.elapsed();
    assert_eq!((restored.left, restored.done as u64), (vec![], snapshot.entries));
    clear();
    [saving, restoring]
}

/// `CHECKREIN_TEST_DEPTHS=500,1000,2000,4000` with `--nocapture` shows how long trees of these depths take.
#[test]
fn a_deep_tree_with_much_beside_comes_back() {
    let _alone = with_few_descriptors();
    let depths: Vec<usize> = std::env::var("CHECKREIN_TEST_DEPTHS")
        .map_or_else(|_| vec![500], |depths| depths.split(',').map(|depth| depth.parse().unwrap()).collect());
    for depth in depths {
        let [saving, restoring] = times_of_depth(depth);
        println!("{depth} levels: saved in {saving:?}, put back in {restoring:?}");
    }
}

#[test]
fn holes_are_not_read_and_come_back_as_holes() {
    let _alone = with_few_descriptors();
    let ground = ground();
    let path = ground.tree.join("image");
    let file = fs::File::create(&path).unwrap();
    file.set_len(LENGTH).unwrap();
    file.write_all_at(b"first", 1_234_567_890).unwrap();
    file.write_all_at(b"last", LENGTH - 4).unwrap();
    drop(file);
    let (saved, snapshot) = take(&ground.store, &[everything(&path)]);
    assert!(snapshot.bytes < 1024 * 1024, "{}", snapshot.bytes);
    fs::remove_file(&path).unwrap();
    restore(&ground.store, saved).unwrap();
    let facts = fs::metadata(&path).unwrap();
    assert_eq!(facts.len(), LENGTH);
    assert!(facts.blocks() * 512 < 1024 * 1024, "{} blocks", facts.blocks());
    let file = fs::File::open(&path).unwrap();
    let read = |at: u64| {
        let mut bytes = [0; 5];
        file.read_at(&mut bytes, at).unwrap();
        bytes
    };
    assert_eq!((&read(1_234_567_890), &read(LENGTH - 4)), (b"first", b"last\0"));
    assert_eq!(read(1_000), [0; 5]);
}

/// What is done to one of two names, and what else; the other name is not part of the snapshot.
#[test]
fn a_name_of_a_file_is_a_name_of_that_file_again() {
    let _alone = with_few_descriptors();
    let deeds: [(&str, Deed); 6] = [
        ("removed", |tree| fs::remove_file(tree.join("one")).unwrap()),
        ("renamed", |tree| fs::rename(tree.join("one"), tree.join("moved")).unwrap()),
        ("renamed over", |tree| fs::rename(tree.join("third"), tree.join("one")).unwrap()),
        ("written anew, as `sed -i` does", |tree| {
            fs::write(tree.join("aside"), "changed").unwrap();
            fs::rename(tree.join("aside"), tree.join("one")).unwrap();
        }),
        ("made a name of another file", |tree| {
            fs::remove_file(tree.join("one")).unwrap();
            fs::hard_link(tree.join("third"), tree.join("one")).unwrap();
        }),
        ("made a link", |tree| {
            fs::remove_file(tree.join("one")).unwrap();
            std::os::unix::fs::symlink("third", tree.join("one")).unwrap();
        }),
    ];
    for (what, deed) in deeds {
        let ground = ground();
        let tree = &ground.tree;
        fs::create_dir(tree.join("below")).unwrap();
        fs::write(tree.join("one"), "content").unwrap();
        fs::hard_link(tree.join("one"), tree.join("below/other")).unwrap();
        fs::write(tree.join("third"), "third").unwrap();
        let before = describe(tree);
        let places = ["one", "third", "moved", "aside"].map(|name| everything(&tree.join(name)));
        let (saved, _) = take(&ground.store, &places);
        deed(tree);
        assert_ne!(describe(tree), before, "{what}");
        restore(&ground.store, saved).unwrap();
        let mut after = describe(tree);
        // What a directory holds was changed.
        for path in [&b""[..], b"below"] {
            after.get_mut(path).unwrap().modified = before[path].modified;
        }
        assert_eq!(after, before, "{what}");
        let number = |name: &str| fs::metadata(tree.join(name)).unwrap().ino();
        assert_eq!(number("one"), number("below/other"), "{what}");
    }
}

/// The other name holds something else by now, which is nobody's to overwrite.
#[test]
fn a_name_whose_file_was_changed_since_gets_a_file_of_its_own() {
    let _alone = with_few_descriptors();
    let ground = ground();
    let (one, other) = (ground.tree.join("one"), ground.tree.join("other"));
    fs::write(&one, "content").unwrap();
    fs::hard_link(&one, &other).unwrap();
    let (saved, _) = take(&ground.store, &[everything(&one)]);
    fs::remove_file(&one).unwrap();
    fs::write(&other, "of the user").unwrap();
    restore(&ground.store, saved).unwrap();
    assert_eq!(fs::read_to_string(&one).unwrap(), "content");
    assert_eq!(fs::read_to_string(&other).unwrap(), "of the user");
}

/// Both names are in the snapshot; one is removed, and the file that the other stands for is that of a third name nobody saved.
#[test]
fn a_removed_name_joins_the_one_that_stands() {
    let _alone = with_few_descriptors();
    let ground = ground();
    let [one, two, three] = ["one", "two", "three"].map(|name| ground.tree.join(name));
    fs::write(&one, "content").unwrap();
    fs::hard_link(&one, &two).unwrap();
    fs::hard_link(&one, &three).unwrap();
    let number = fs::metadata(&three).unwrap().ino();
    let (saved, _) = take(&ground.store, &[everything(&one), everything(&two)]);
    fs::remove_file(&one).unwrap();
    assert_eq!(restore(&ground.store, saved).unwrap().done, 1);
    fs::remove_file(&one).unwrap();
    fs::write(&two, "through all").unwrap();
    restore(&ground.store, saved).unwrap();
    for path in [&one, &two, &three] {
        assert_eq!(fs::metadata(path).unwrap().ino(), number);
        assert_eq!(fs::read_to_string(path).unwrap(), "content");
    }
}

/// Closed directories and files are opened for as long as it takes. Nothing is closed to the superuser, so this is done as somebody else.
#[test]
fn what_is_closed_even_to_its_owner_is_put_back() {
    let _alone = with_few_descriptors();
    let ground = ground();
    let tree = &ground.tree;
    fs::create_dir_all(tree.join("closed/inner/deep")).unwrap();
    for name in ["closed/a", "closed/inner/b", "closed/inner/deep/c"] {
        fs::write(tree.join(name), name).unwrap();
    }
    let everywhere = [
        "",
        "closed",
        "closed/inner",
        "closed/inner/deep",
        "closed/a",
        "closed/inner/b",
        "closed/inner/deep/c",
    ];
    if rustix::process::geteuid().is_root() {
        let somebody = 65_534;
        for path in everywhere.iter().map(|name| tree.join(name)).chain([ground.scratch.path().to_owned()]) {
            std::os::unix::fs::chown(path, Some(somebody), Some(somebody)).unwrap();
        }
        // Only for this thread, as the system sees it; its files belong to it from here on.
        let (user, group) =
            (rustix::process::Uid::from_raw(somebody), rustix::process::Gid::from_raw(somebody));
        rustix::thread::set_thread_res_gid(group, group, group).unwrap();
        rustix::thread::set_thread_res_uid(user, user, user).unwrap();
    }
    let before = describe(tree);
    let (saved, _) = take(&ground.store, &[everything(&tree.join("closed"))]);
    for name in everywhere.iter().skip(1).rev() {
        fs::set_permissions(tree.join(name), fs::Permissions::from_mode(0o0)).unwrap();
    }
    assert!(fs::read_dir(tree.join("closed")).is_err(), "it is closed");
    // Looking at it changes nothing.
    drop(support::prepare(&ground.store, saved));
    assert_eq!(fs::metadata(tree.join("closed")).unwrap().mode() & 0o777, 0);
    let restored = restore(&ground.store, saved).unwrap();
    assert_eq!(restored.left, vec![]);
    assert_eq!(describe(tree), before);
    // And forward again.
    assert_eq!(restore(&ground.store, restored.saved_as).unwrap().left, vec![]);
    assert_eq!(fs::metadata(tree.join("closed")).unwrap().mode() & 0o777, 0);
    assert!(fs::read_dir(tree.join("closed")).is_err());
    restore(&ground.store, saved).unwrap();
    assert_eq!(describe(tree), before);
}

#[test]
fn where_no_more_threads_can_be_had_one_does_all_the_work() {
    const INSIDE: &str = "CHECKREIN_TEST_WITHOUT_THREADS";
    if std::env::var_os(INSIDE).is_none() {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "where_no_more_threads_can_be_had_one_does_all_the_work", "--test-threads=1"]);
        // A stack for which no machine has room: no thread begins.
        let ended = again.env(INSIDE, "1").env("RUST_MIN_STACK", (1_u64 << 47).to_string()).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
        return;
    }
    assert!(std::thread::Builder::new().spawn(|| {}).is_err());
    let ground = ground();
    for number in 0..50 {
        fs::create_dir(ground.tree.join(number.to_string())).unwrap();
        fs::write(ground.tree.join(format!("{number}/file")), number.to_string()).unwrap();
    }
    let before = describe(&ground.tree);
    let draft = ground.store.begin(Effort::Small).unwrap();
    let manner = CaptureOptions { threads: NonZeroUsize::new(4).unwrap(), ..CaptureOptions::whole() };
    let CaptureOutcome::Whole(captured) = capture(&draft, &[everything(&ground.tree)], &manner).unwrap()
    else {
        panic!("there are no bounds")
    };
    let saved = draft.commit(&support::described(&captured, SnapshotReason::BeforeAction)).unwrap();
    fs::remove_dir_all(&ground.tree).unwrap();
    restore(&ground.store, saved).unwrap();
    assert_eq!(describe(&ground.tree), before);
}
