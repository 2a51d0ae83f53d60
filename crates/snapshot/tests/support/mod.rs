//! Trees for tests, and what they look like to somebody who does not use the crate.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use checkrein_snapshot::{
    ActionEndTime, CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Captured, Effort,
    Preparation, Prepared, Request, Restored, Snapshot, SnapshotId, SnapshotReason, Step, Store, capture,
};

use checkrein_vault::{KeyFolder, Sealing, Vault};

/// A scratch directory with a tree and a store beside it.
pub struct Ground {
    pub scratch: tempfile::TempDir,
    pub tree: PathBuf,
    pub store: Store,
}

pub fn ground() -> Ground {
    ground_with(Sealing::Off)
}

/// The same with a store that is sealed or not; the keys lie beside it.
pub fn ground_with(sealing: Sealing) -> Ground {
    let scratch = tempfile::tempdir().unwrap();
    let tree = scratch.path().canonicalize().unwrap().join("tree");
    fs::create_dir(&tree).unwrap();
    let store =
        Store::open(&scratch.path().join("snapshots"), &tree).with_vault(vault(scratch.path(), sealing));
    Ground { scratch, tree, store }
}

/// What seals with the keys beside a store.
pub fn vault(scratch: &Path, sealing: Sealing) -> Vault {
    Vault::new(KeyFolder::new(scratch.join("keys"))).with_sealing(sealing)
}

/// Everything that can be seen of a node: sort, mode, time, content, attributes, and the first name of the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub sort: &'static str,
    pub mode: u32,
    pub modified: (i64, i64),
    pub content: Vec<u8>,
    pub attributes: BTreeMap<Vec<u8>, Vec<u8>>,
    pub same_as: Vec<u8>,
}

/// A tree as it is now, by path below `root`.
pub fn describe(root: &Path) -> BTreeMap<Vec<u8>, Seen> {
    let mut found = BTreeMap::new();
    let mut names = BTreeMap::new();
    walk(root, root, &mut found, &mut names);
    found
}

fn walk(
    root: &Path,
    path: &Path,
    found: &mut BTreeMap<Vec<u8>, Seen>,
    names: &mut BTreeMap<(u64, u64), Vec<u8>>,
) {
    let Ok(facts) = fs::symlink_metadata(path) else { return };
    let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
    let kind = facts.file_type();
    let (sort, content) = if kind.is_dir() {
        ("directory", Vec::new())
    } else if kind.is_symlink() {
        ("link", fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec())
    } else if kind.is_file() {
        ("file", fs::read(path).unwrap())
    } else {
        ("special", Vec::new())
    };
    let same_as = if kind.is_file() {
        names.entry((facts.dev(), facts.ino())).or_insert_with(|| name.clone()).clone()
    } else {
        name.clone()
    };
    let modified = if kind.is_symlink() { (0, 0) } else { (facts.mtime(), facts.mtime_nsec()) };
    let mut attributes = BTreeMap::new();
    if kind.is_file() {
        let mut value = [0_u8; 256];
        if let Ok(length) = rustix::fs::getxattr(path, "user.test", &mut value[..]) {
            attributes.insert(b"user.test".to_vec(), value[..length].to_vec());
        }
    }
    found.insert(name, Seen { sort, mode: facts.mode() & 0o7777, modified, content, attributes, same_as });
    if kind.is_dir() {
        let mut children: Vec<PathBuf> =
            fs::read_dir(path).unwrap().map(|child| child.unwrap().path()).collect();
        children.sort();
        children.iter().for_each(|child| walk(root, child, found, names));
    }
}

pub fn everything(path: &Path) -> CaptureRequest {
    CaptureRequest { path: path.to_owned(), selection: CaptureSelection::Everything }
}

pub fn described(captured: &Captured, occasion: SnapshotReason) -> Snapshot {
    Snapshot {
        at: 1,
        occasion,
        reason: "a test".to_owned(),
        place: None,
        roots: captured.roots.clone(),
        above: captured.above.clone(),
        skipped: captured.skipped.clone(),
        entries: captured.entries,
        bytes: captured.bytes,
    }
}

pub fn take(store: &Store, wanted: &[CaptureRequest]) -> (SnapshotId, Snapshot) {
    let draft = store.begin(Effort::Small).unwrap();
    let CaptureOutcome::Whole(captured) = capture(&draft, wanted, &CaptureOptions::whole()).unwrap() else {
        panic!("there are no bounds")
    };
    let snapshot = described(&captured, SnapshotReason::BeforeAction);
    (draft.commit(&snapshot).unwrap(), snapshot)
}

pub fn prepare(store: &Store, of: SnapshotId) -> Box<Prepared> {
    match store.prepare(of, &[], &CaptureOptions::whole(), ActionEndTime::None).unwrap() {
        Preparation::Ready(prepared) => prepared,
        Preparation::Over(over) => panic!("{over:?}"),
    }
}

pub fn request() -> Request {
    Request { at: 2, reason: "a test".to_owned(), place: None }
}

pub fn restore(store: &Store, of: SnapshotId) -> Option<Restored> {
    prepare(store, of).carry_out(request()).unwrap()
}

pub fn restore_without(store: &Store, of: SnapshotId, unwanted: impl Fn(&Step) -> bool) -> Option<Restored> {
    let mut prepared = prepare(store, of);
    prepared.retain(|step| !unwanted(step));
    prepared.carry_out(request()).unwrap()
}
