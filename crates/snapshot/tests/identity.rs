//! Restoring what was saved gives back exactly what was there, whatever happened in between, and that can be taken back too.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use checkrein_vault::Sealing;
use proptest::prelude::*;

use support::{describe, everything, ground_with, restore, take};

/// Something that is done to a tree.
#[derive(Debug, Clone)]
enum Deed {
    Write(usize, Vec<u8>),
    Append(usize, Vec<u8>),
    MakeDirectory(usize),
    Link(usize, usize),
    HardLink(usize, usize),
    Remove(usize),
    Rename(usize, usize),
    Mode(usize, u32),
    Time(usize, u32),
    Attribute(usize, Vec<u8>),
}

/// Few names, so that deeds meet; some of them no text, some hostile.
fn names() -> Vec<PathBuf> {
    let parts: [&[u8]; 7] = [b"a", b"b", b"\xff\xfe", b"new\nline", b"-rf", b".hidden", b"caf\xc3\xa9"];
    let part = |bytes: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(bytes));
    let mut names: Vec<PathBuf> = parts.iter().map(|bytes| part(bytes)).collect();
    for outer in [0, 1, 2] {
        for inner in [0, 3, 4, 6] {
            names.push(part(parts[outer]).join(part(parts[inner])));
            names.push(part(parts[outer]).join(part(parts[inner])).join("deep"));
        }
    }
    names
}

fn deed() -> impl Strategy<Value = Deed> {
    let name = || 0..names().len();
    let bytes = || prop::collection::vec(any::<u8>(), 0..200);
    prop_oneof![
        4 => (name(), bytes()).prop_map(|(name, bytes)| Deed::Write(name, bytes)),
        1 => (name(), bytes()).prop_map(|(name, bytes)| Deed::Append(name, bytes)),
        3 => name().prop_map(Deed::MakeDirectory),
        1 => (name(), name()).prop_map(|(from, to)| Deed::Link(from, to)),
        2 => (name(), name()).prop_map(|(from, to)| Deed::HardLink(from, to)),
        2 => name().prop_map(Deed::Remove),
        1 => (name(), name()).prop_map(|(from, to)| Deed::Rename(from, to)),
        1 => (name(), prop::sample::select(vec![0o400_u32, 0o600, 0o644, 0o755, 0o500, 0o4755]))
            .prop_map(|(name, mode)| Deed::Mode(name, mode)),
        1 => (name(), any::<u32>()).prop_map(|(name, time)| Deed::Time(name, time)),
        1 => (name(), prop::collection::vec(any::<u8>(), 1..20))
            .prop_map(|(name, value)| Deed::Attribute(name, value)),
    ]
}

/// Does it; what cannot be done is left.
fn perform(tree: &Path, deed: &Deed) {
    let at = |name: usize| tree.join(&names()[name]);
    match deed {
        Deed::Write(name, bytes) => drop(fs::write(at(*name), bytes)),
        Deed::Append(name, bytes) => {
            if let Ok(mut file) = fs::OpenOptions::new().append(true).open(at(*name)) {
                drop(std::io::Write::write_all(&mut file, bytes));
            }
        }
        Deed::MakeDirectory(name) => drop(fs::create_dir(at(*name))),
        Deed::Link(from, to) => drop(symlink(&names()[*from], at(*to))),
        Deed::HardLink(from, to) => drop(fs::hard_link(at(*from), at(*to))),
        Deed::Remove(name) => {
            let path = at(*name);
            match fs::symlink_metadata(&path) {
                Ok(facts) if facts.is_dir() => drop(fs::remove_dir_all(path)),
                Ok(_) => drop(fs::remove_file(path)),
                Err(_) => {}
            }
        }
        Deed::Rename(from, to) => drop(fs::rename(at(*from), at(*to))),
        Deed::Mode(name, mode) => {
            if fs::symlink_metadata(at(*name)).is_ok_and(|facts| !facts.is_symlink()) {
                drop(fs::set_permissions(at(*name), fs::Permissions::from_mode(*mode)));
            }
        }
        Deed::Time(name, time) => {
            if let Ok(file) = fs::File::open(at(*name)) {
                drop(file.set_modified(
                    SystemTime::UNIX_EPOCH + Duration::new(u64::from(*time), time % 999_999_999),
                ));
            }
        }
        Deed::Attribute(name, value) => {
            if fs::symlink_metadata(at(*name)).is_ok_and(|facts| facts.is_file()) {
                let _ = rustix::fs::setxattr(at(*name), "user.test", value, rustix::fs::XattrFlags::empty());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn restoring_is_identity_and_can_be_taken_back(
        before in prop::collection::vec(deed(), 0..40),
        after in prop::collection::vec(deed(), 0..40),
        sealing in prop::sample::select(vec![Sealing::Off, Sealing::On]),
    ) {
        let ground = ground_with(sealing);
        before.iter().for_each(|deed| perform(&ground.tree, deed));
        let first = describe(&ground.tree);
        let (saved, _) = take(&ground.store, &[everything(&ground.tree)]);
        after.iter().for_each(|deed| perform(&ground.tree, deed));
        let second = describe(&ground.tree);

        let Some(restored) = restore(&ground.store, saved) else {
            // Only what is no file at all may be left to differ: the time of a directory.
            prop_assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
            return Ok(());
        };
        prop_assert_eq!(&restored.left, &vec![]);
        prop_assert_eq!(&describe(&ground.tree), &first);
        prop_assert!(restore(&ground.store, saved).is_none(), "a second restore finds nothing to do");

        restore(&ground.store, restored.saved_as);
        let mut undone = describe(&ground.tree);
        let mut expected = second;
        // A root that is itself unchanged keeps the time of what was done in it.
        for tree in [&mut undone, &mut expected] {
            tree.get_mut(&b""[..]).unwrap().modified = (0, 0);
        }
        prop_assert_eq!(undone, expected);
    }
}
