//! The files that stand where a program runs: really, and in the world that is read with.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use checkrein_facts::{Entry, HostPaths, RecordedWorld, VersionState};
use checkrein_protocol::AbsolutePath;

/// Files that may be removed, and what they hold.
const FILES: &[(&str, &str)] = &[
    ("K1", "a b\n"),
    ("K2", "1\n2\n"),
    ("Ka", "ab"),
    ("Kb", ""),
    ("Kab", "a:b\n"),
    ("KA", "echo >M90\n"),
    ("K a", "x\n"),
    (".K1", ""),
    ("d/K1", "a\n"),
    ("d/Ka", "b\n"),
    ("d/e/K2", ""),
];

/// Makes the files of the scene in an empty folder.
///
/// # Errors
/// When one cannot be written.
pub fn make(folder: &Path) -> io::Result<Vec<String>> {
    fs::create_dir_all(folder.join("d/e"))?;
    for (name, text) in FILES {
        fs::write(folder.join(name), text)?;
    }
    Ok(["", "d", "d/e"].into_iter().chain(FILES.iter().map(|(name, _)| *name)).map(str::to_owned).collect())
}

/// The world with the scene in a folder, which is also the home directory.
pub fn world(folder: &AbsolutePath) -> RecordedWorld {
    let place = HostPaths::new(folder.clone(), folder.clone());
    let mut world = RecordedWorld::complete(place).with_directory(folder);
    for (name, text) in FILES {
        world = world.with_file(&folder.join(name), text, VersionState::Untracked);
    }
    let root = AbsolutePath::root();
    world = world.with_directory(&root.join("dev")).with_directory(&root.join("tmp"));
    world.entries.insert(root.join("dev/null"), Entry::Special);
    world
}

/// The lines of a `world` block of the cases that describe the scene.
pub fn described() -> String {
    FILES.iter().fold(String::new(), |all, (name, text)| {
        all + &format!("untracked {name} :: {}\n", text.replace('\n', "\\n"))
    })
}

/// Whether the scene has a file of that name.
pub fn has(name: &str) -> bool {
    FILES.iter().any(|(file, _)| *file == name)
}

/// What differs from the scene in a folder: files that are new, and files that are gone.
pub fn changes(folder: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut there = BTreeSet::new();
    for below in ["", "d/", "d/e/"] {
        let Ok(entries) = fs::read_dir(folder.join(below)) else { continue };
        for entry in entries.flatten() {
            if entry.file_type().is_ok_and(|kind| !kind.is_dir()) {
                there.insert(format!("{below}{}", entry.file_name().to_string_lossy()));
            }
        }
    }
    let before: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    (there.difference(&before).cloned().collect(), before.difference(&there).cloned().collect())
}
