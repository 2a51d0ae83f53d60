//! What is saved where not everything is: small files first, data instead of length, and little of what version control ignores.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::{
    CaptureBounds, CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Captured, Effort,
    Ignored, Ignoring, LimitExceeded, SkipReason, SnapshotDraft, SnapshotReason, capture,
    capture_small_first,
};
use checkrein_testkit::not_run;

use support::{describe, described, everything, ground, restore};

/// As many bytes that cannot be compressed.
fn bytes(count: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761).max(1);
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[0]
    })
    .take(count)
    .collect()
}

fn whole(ended: CaptureOutcome) -> Captured {
    match ended {
        CaptureOutcome::Whole(captured) => captured,
        CaptureOutcome::Over(over) => panic!("{over:?}"),
    }
}

fn skipped<'a>(captured: &'a Captured, tree: &Path) -> Vec<(&'a Path, &'a SkipReason)> {
    captured.skipped.iter().map(|one| (one.path.as_path().strip_prefix(tree).unwrap(), &one.reason)).collect()
}

#[test]
fn a_bound_loses_the_large_files_only_and_names_them() {
    let ground = ground();
    for (name, count, seed) in [("a.bin", 300_000, 1), ("m/b.bin", 100_000, 2), ("z.bin", 200_000, 3)] {
        let path = ground.tree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes(count, seed)).unwrap();
    }
    for name in ["z.txt", "m/small.txt"] {
        fs::write(ground.tree.join(name), "work").unwrap();
    }
    let wanted = [everything(&ground.tree)];
    let bounds = CaptureBounds { bytes: 350_000, ..CaptureBounds::NONE };
    let manner = || CaptureOptions { bounds, ..CaptureOptions::whole() };
    let draft = ground.store.begin(Effort::Quick).unwrap();
    assert!(matches!(
        capture(&draft, &wanted, &manner()).unwrap(),
        CaptureOutcome::Over(LimitExceeded::Bytes)
    ));
    let captured = whole(capture_small_first(&draft, &wanted, &manner()).unwrap());
    assert_eq!(
        skipped(&captured, &ground.tree),
        [(Path::new("a.bin"), &SkipReason::NoRoom { bytes: fs_data(&ground.tree.join("a.bin")) })]
    );
    let before = describe(&ground.tree);
    let saved = draft.commit(&described(&captured, SnapshotReason::BeforeAction)).unwrap();
    for name in ["m/small.txt", "m/b.bin", "z.bin", "z.txt"] {
        fs::remove_file(ground.tree.join(name)).unwrap();
    }
    restore(&ground.store, saved).unwrap();
    assert_eq!(describe(&ground.tree), before);
}

/// How much room a file takes, at most its length.
fn fs_data(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let facts = fs::metadata(path).unwrap();
    facts.len().min(facts.blocks() * 512)
}

#[test]
fn holes_count_for_nothing_and_come_back_as_zeros() {
    let ground = ground();
    let path = ground.tree.join("disk.img");
    let file = fs::File::create(&path).unwrap();
    file.set_len(512 * 1024 * 1024).unwrap();
    file.write_all_at(b"first", 3).unwrap();
    file.write_all_at(b"middle", 200_000_000).unwrap();
    file.write_all_at(b"last", 512 * 1024 * 1024 - 4).unwrap();
    drop(file);
    if fs_data(&path) > 1024 * 1024 {
        return not_run("this file system knows no holes");
    }
    let draft = ground.store.begin(Effort::Quick).unwrap();
    let manner = CaptureOptions {
        bounds: CaptureBounds { bytes: 1024 * 1024, ..CaptureBounds::NONE },
        ..CaptureOptions::whole()
    };
    let captured = whole(capture(&draft, &[everything(&path)], &manner).unwrap());
    assert!(captured.read < 32 * 1024 * 1024, "{} bytes were read", captured.read);
    let saved = draft.commit(&described(&captured, SnapshotReason::BeforeAction)).unwrap();
    fs::remove_file(&path).unwrap();
    restore(&ground.store, saved).unwrap();
    let file = fs::File::open(&path).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 512 * 1024 * 1024);
    for (at, text) in [(3, "first"), (200_000_000, "middle"), (512 * 1024 * 1024 - 4, "last")] {
        let mut found = vec![0; text.len() + 4];
        file.read_at(&mut found, at).unwrap();
        assert!(found.starts_with(text.as_bytes()) && found[text.len()..].iter().all(|byte| *byte == 0));
    }
}

/// A tree with rules, and things that they ignore.
fn ignored_tree(tree: &Path) {
    let files: &[(&str, &[u8])] = &[
        (
            ".gitignore",
            b".env*\nlocal/\nnode_modules/\ntarget\n*.o\n*.bin\nmany/\nother/\n__pycache__/\n.tox/\n",
        ),
        ("Cargo.toml", b"[package]\n"),
        ("main.rs", b"fn main() {}\n"),
        (".env", b"KEY=1\n"),
        ("sub/.env.local", b"KEY=2\n"),
        ("local/notes/plan.md", b"plan\n"),
        ("node_modules/x/index.js", b"x\n"),
        ("src/__pycache__/a.pyc", b"x\n"),
        (".tox/py/lib/x/.git/HEAD", b"ref: refs/heads/main\n"),
        ("a.o", b"x\n"),
        ("other/.git/HEAD", b"ref: refs/heads/main\n"),
        ("other/file", b"x\n"),
    ];
    for (name, content) in files {
        let path = tree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    fs::write(tree.join("data.bin"), bytes(100_000, 4)).unwrap();
    // More than a little of what is made again: too many names, too many bytes.
    for (place, count, length) in [("many", 200, 1), ("node_modules/x", 300, 1), ("target/debug", 3, 400_000)]
    {
        fs::create_dir_all(tree.join(place)).unwrap();
        let file = |number| tree.join(format!("{place}/{number}"));
        (0..count).for_each(|number| fs::write(file(number), bytes(length, 5)).unwrap());
    }
}

fn not_ignored(tree: &Path, draft: &SnapshotDraft, ignored: Ignored) -> Captured {
    let root = AbsolutePath::new(tree.to_str().unwrap()).unwrap();
    let home = AbsolutePath::new("/nonexistent").unwrap();
    let ignoring = Ignoring::of(&root, &home, None).with_ignored(ignored);
    let manner = CaptureOptions { ignoring: Some(&ignoring), ..CaptureOptions::whole() };
    let wanted = CaptureRequest { path: PathBuf::from(tree), selection: CaptureSelection::NotIgnored };
    whole(capture(draft, &[wanted], &manner).unwrap())
}

#[test]
fn small_files_and_little_trees_are_saved_although_they_are_ignored() {
    let ground = ground();
    ignored_tree(&ground.tree);
    let before = describe(&ground.tree);
    let draft = ground.store.begin(Effort::Quick).unwrap();
    let captured = not_ignored(&ground.tree, &draft, Ignored::SmallKept);
    assert_eq!(
        skipped(&captured, &ground.tree),
        [".tox", "data.bin", "many", "node_modules", "other", "target"]
            .map(|name| (Path::new(name), &SkipReason::Ignored))
    );
    let saved = draft.commit(&described(&captured, SnapshotReason::BeforeAction)).unwrap();
    for name in [".env", "sub/.env.local", "a.o", "main.rs"] {
        fs::remove_file(ground.tree.join(name)).unwrap();
    }
    for name in ["local", "node_modules", "target", "src/__pycache__"] {
        fs::remove_dir_all(ground.tree.join(name)).unwrap();
    }
    restore(&ground.store, saved).unwrap();
    let after = describe(&ground.tree);
    for (name, seen) in &before {
        let name = String::from_utf8_lossy(name);
        let is_made_again = name.starts_with("node_modules") || name.starts_with("target");
        assert_eq!(after.contains_key(name.as_bytes()), !is_made_again, "{name}");
        assert!(
            is_made_again || seen.sort == "directory" || after[name.as_bytes()] == *seen,
            "{name} is as it was"
        );
    }
}

#[test]
fn without_being_asked_for_nothing_is_saved_that_is_ignored() {
    let ground = ground();
    ignored_tree(&ground.tree);
    let draft = ground.store.begin(Effort::Quick).unwrap();
    let captured = not_ignored(&ground.tree, &draft, Ignored::LeftOut);
    // The tree, `.gitignore`, `Cargo.toml`, `main.rs`, `src`, `sub`.
    assert_eq!(captured.entries, 6);
    assert_eq!(captured.skipped, vec![]);
}
