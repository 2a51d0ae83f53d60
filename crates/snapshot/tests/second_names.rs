//! Names of our own for files that have several: what is written through one name comes back under all of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checkrein_snapshot::{
    ActionEndTime, ActionPeriod, CaptureOptions, CaptureOutcome, Effort, FileTime, OtherNames, Preparation,
    Prepared, SessionPlace, Snapshot, SnapshotId, SnapshotReason, Store, capture,
};
use support::{Ground, described, everything, ground, request};

const TEXT: &str = "the only copy of this\n";

/// Longer than what clocks are apart.
const PAUSE: Duration = Duration::from_millis(30);

fn now() -> FileTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    FileTime { seconds: since.as_secs().try_into().unwrap(), nanoseconds: since.subsec_nanos() }
}

/// A file outside the tree with a second name in it.
fn linked(ground: &Ground) -> (PathBuf, PathBuf) {
    let outside = ground.tree.parent().unwrap().join("far");
    fs::create_dir_all(&outside).unwrap();
    let (outside, inside) = (outside.join("letter"), ground.tree.join("letter"));
    fs::write(&outside, TEXT).unwrap();
    fs::hard_link(&outside, &inside).unwrap();
    (outside, inside)
}

/// Saves a place before an action of this name.
fn save(store: &Store, place: &Path) -> SnapshotId {
    thread::sleep(PAUSE);
    let draft = store.begin(Effort::Small).unwrap();
    let CaptureOutcome::Whole(captured) =
        capture(&draft, &[everything(place)], &CaptureOptions::whole()).unwrap()
    else {
        panic!("there are no bounds")
    };
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis().try_into().unwrap();
    let place = SessionPlace { session: "s".to_owned(), action: Some("action".to_owned()), sequence: 0 };
    let snapshot = Snapshot { at, place: Some(place), ..described(&captured, SnapshotReason::BeforeAction) };
    draft.commit(&snapshot).unwrap()
}

/// What it takes to take an action back that ran between these moments.
fn prepare(store: &Store, of: SnapshotId, moment: ActionEndTime) -> Box<Prepared> {
    match store.prepare(of, &[], &CaptureOptions::whole(), moment).unwrap() {
        Preparation::Ready(prepared) => prepared,
        Preparation::Over(over) => panic!("{over:?}"),
    }
}

fn number(path: &Path) -> u64 {
    fs::metadata(path).unwrap().ino()
}

/// Our own names in a store.
fn own_names(store: &Store) -> Vec<PathBuf> {
    let entries = fs::read_dir(store.directory().join("names")).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name() != "times").map(|entry| entry.path()).collect()
}

/// Whether it was looked at what the action left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Taken,
    NotTaken,
}

/// What an action does with a name, what becomes of the other, and what that holds at the end.
type Row = (&'static str, fn(&Path), fn(&Path), Option<OtherNames>, &'static str);

#[test]
fn the_file_behind_a_name_that_went_is_as_it_was() {
    let rows: [Row; 6] = [
        (
            "only the name goes",
            |inside| fs::remove_file(inside).unwrap(),
            |_| {},
            Some(OtherNames::Joined),
            TEXT,
        ),
        (
            "content and name go",
            |inside| {
                fs::write(inside, "x").unwrap();
                fs::remove_file(inside).unwrap();
            },
            |_| {},
            Some(OtherNames::Written),
            TEXT,
        ),
        (
            "mode and name go",
            |inside| {
                fs::set_permissions(inside, fs::Permissions::from_mode(0o000)).unwrap();
                fs::remove_file(inside).unwrap();
            },
            |_| {},
            Some(OtherNames::Joined),
            TEXT,
        ),
        (
            "somebody writes to the other name",
            |inside| fs::remove_file(inside).unwrap(),
            |outside| fs::write(outside, "mine").unwrap(),
            Some(OtherNames::ChangedLater),
            "mine",
        ),
        (
            "somebody writes as much to the other name as the action did",
            |inside| {
                fs::write(inside, "x").unwrap();
                fs::remove_file(inside).unwrap();
            },
            |outside| fs::write(outside, "y").unwrap(),
            Some(OtherNames::Changed),
            "y",
        ),
        (
            "somebody changes the mode of the other name",
            |inside| fs::remove_file(inside).unwrap(),
            |outside| fs::set_permissions(outside, fs::Permissions::from_mode(0o600)).unwrap(),
            Some(OtherNames::JoinedAsTheyAre),
            TEXT,
        ),
    ];
    for (what, action, later, expected, text) in rows {
        for look in [Look::Taken, Look::NotTaken] {
            // By the clock alone it is not known what the action left.
            let expected = match (expected, look) {
                (Some(OtherNames::ChangedLater), Look::NotTaken) => Some(OtherNames::Changed),
                (expected, Look::Taken | Look::NotTaken) => expected,
            };
            let ground = ground();
            let (outside, inside) = linked(&ground);
            let file = number(&outside);
            let mode = fs::metadata(&outside).unwrap().permissions().mode();
            let saved = save(&ground.store, &inside);
            let began = now();
            thread::sleep(PAUSE);
            action(&inside);
            thread::sleep(PAUSE);
            let ended = now();
            if look == Look::Taken {
                ground.store.keep_footprint(saved, "action", began, ended, &[]).unwrap();
            }
            thread::sleep(PAUSE);
            later(&outside);
            let later_mode = fs::metadata(&outside).unwrap().permissions().mode();
            let period = ActionPeriod { began: Some(began), ended };
            let prepared = prepare(&ground.store, saved, ActionEndTime::Ended(period));
            let fates: Vec<_> = prepared.steps().iter().map(|step| prepared.other_names(step)).collect();
            assert_eq!(fates, [expected], "{what}, {look:?}");
            let restored = prepared.carry_out(request()).unwrap().unwrap();
            let is_lost = expected == Some(OtherNames::Changed);
            assert_eq!(restored.left.len(), usize::from(is_lost), "{what}, {look:?}: {:?}", restored.left);
            assert_eq!(fs::read_to_string(&inside).unwrap(), TEXT, "{what}, {look:?}");
            assert_eq!(fs::read_to_string(&outside).unwrap(), text, "{what}, {look:?}");
            assert_eq!(number(&outside), file, "{what}, {look:?}");
            let is_joined = !matches!(expected, Some(OtherNames::Changed | OtherNames::ChangedLater));
            assert_eq!(number(&inside) == file, is_joined, "{what}, {look:?}");
            let expected_mode = if expected == Some(OtherNames::JoinedAsTheyAre) { later_mode } else { mode };
            let found = fs::metadata(&outside).unwrap().permissions().mode();
            assert_eq!(found, expected_mode, "{what}, {look:?}");
        }
    }
}

/// Without our own name the other is looked for, and written to where the clock says that only the action did.
#[test]
fn without_a_name_of_our_own_the_other_is_looked_for() {
    for (later, expected) in [(None, TEXT), (Some("mine"), "mine")] {
        let ground = ground();
        let (outside, inside) = linked(&ground);
        let saved = save(&ground.store, &inside);
        let began = now();
        fs::write(&inside, "x").unwrap();
        fs::remove_file(&inside).unwrap();
        thread::sleep(PAUSE);
        let period = ActionPeriod { began: Some(began), ended: now() };
        fs::remove_dir_all(ground.store.directory().join("names")).unwrap();
        // Taking that away was a change of the file, but nobody else's.
        let period = ActionPeriod { ended: now(), ..period };
        thread::sleep(PAUSE);
        later.inspect(|text| fs::write(&outside, text).unwrap());
        prepare(&ground.store, saved, ActionEndTime::Ended(period)).carry_out(request()).unwrap();
        assert_eq!(fs::read_to_string(&inside).unwrap(), TEXT);
        assert_eq!(fs::read_to_string(&outside).unwrap(), expected);
    }
}

/// What is half written when the machine stops is written to its end by whoever finishes the restore.
#[test]
fn a_file_that_was_half_written_is_written_to_its_end() {
    let ground = ground();
    let (outside, inside) = linked(&ground);
    let saved = save(&ground.store, &inside);
    fs::remove_file(&inside).unwrap();
    fs::write(&outside, &TEXT[..5]).unwrap();
    prepare(&ground.store, saved, ActionEndTime::None).carry_out(request()).unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), TEXT);
    assert_eq!(number(&inside), number(&outside));
}

#[test]
fn our_own_names_are_few_and_private_and_go_with_the_last_snapshot_of_their_file() {
    let ground = ground();
    let (outside, inside) = linked(&ground);
    fs::write(ground.tree.join("single"), "one name").unwrap();
    let runs_as_owner = ground.tree.join("runs as owner");
    fs::write(&runs_as_owner, "x").unwrap();
    fs::hard_link(&runs_as_owner, ground.tree.join("second")).unwrap();
    fs::set_permissions(&runs_as_owner, fs::Permissions::from_mode(0o4755)).unwrap();
    let object = ground.tree.join(".git/objects/ab");
    fs::create_dir_all(&object).unwrap();
    fs::write(object.join("one"), "x").unwrap();
    fs::hard_link(object.join("one"), object.join("two")).unwrap();
    let first = save(&ground.store, &ground.tree);
    let second = save(&ground.store, &ground.tree);
    assert_eq!(
        own_names(&ground.store).iter().map(|path| number(path)).collect::<Vec<_>>(),
        [number(&outside)]
    );
    let folder = fs::metadata(ground.store.directory().join("names")).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    // Only that we named it happened to it.
    assert!(ground.store.naming_times().explain(&outside));
    fs::remove_file(&inside).unwrap();
    assert!(!ground.store.naming_times().explain(&outside));
    let third = save(&ground.store, &ground.tree);
    ground.store.prune(&[first], 0).unwrap();
    assert_eq!(own_names(&ground.store).len(), 1);
    ground.store.prune(&[second, third], 0).unwrap();
    // The third one holds none of its names.
    assert!(own_names(&ground.store).is_empty());
}

/// A tree of second names, more than a search would have to look for.
#[test]
fn a_large_tree_of_second_names_comes_back_without_a_search() {
    const COUNT: usize = 1_200;
    let ground = ground();
    let outside = ground.tree.parent().unwrap().join("far");
    let inside = ground.tree.join("many");
    for folder in [&outside, &inside] {
        fs::create_dir_all(folder).unwrap();
    }
    let names = || (0..COUNT).map(|number| number.to_string());
    for name in names() {
        fs::write(outside.join(&name), &name).unwrap();
        fs::hard_link(outside.join(&name), inside.join(&name)).unwrap();
    }
    let saved = save(&ground.store, &inside);
    assert_eq!(own_names(&ground.store).len(), COUNT);
    let began = now();
    names().for_each(|name| fs::write(inside.join(name), "").unwrap());
    fs::remove_dir_all(&inside).unwrap();
    thread::sleep(PAUSE);
    let period = ActionPeriod { began: Some(began), ended: now() };
    let restored = prepare(&ground.store, saved, ActionEndTime::Ended(period)).carry_out(request()).unwrap();
    assert!(restored.unwrap().left.is_empty());
    for name in names() {
        assert_eq!(fs::read_to_string(outside.join(&name)).unwrap(), name);
        assert_eq!(number(&outside.join(&name)), number(&inside.join(&name)));
    }
}
