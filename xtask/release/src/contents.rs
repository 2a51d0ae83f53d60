//! What every package of a target holds.

use std::fs;
use std::process::Command;

use xtask::root;

use crate::targets::Programs;
use crate::{output, told};

/// One file of a package.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Where it lies, from the top of the package.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) kind: EntryKind,
}

/// What a file is for: each kind of package has its own place for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Program,
    Manual,
    BashCompletions,
    ZshCompletions,
    FishCompletions,
    /// Licences and the page to read first.
    Document,
}

impl EntryKind {
    /// The rights of the file, as `chmod` writes them.
    pub(crate) fn mode(self) -> u32 {
        match self {
            Self::Program => 0o755,
            Self::Manual
            | Self::BashCompletions
            | Self::ZshCompletions
            | Self::FishCompletions
            | Self::Document => 0o644,
        }
    }
}

/// The files of the packages for one target.
pub(crate) struct Contents {
    pub(crate) entries: Vec<Entry>,
}

impl Contents {
    /// The programs, the documents, and the pages that one of the programs wrote.
    pub(crate) fn new(programs: &Programs, pages: &[Entry]) -> Result<Self, String> {
        let mut entries = Vec::new();
        for (name, path) in [("checkrein", &programs.full), ("checkrein-hook", &programs.hook)] {
            let bytes = fs::read(path).map_err(told(path))?;
            entries.push(Entry { name: name.to_owned(), bytes, kind: EntryKind::Program });
        }
        for name in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
            let path = root().join(name);
            let bytes = fs::read(&path).map_err(told(&path))?;
            entries.push(Entry { name: name.to_owned(), bytes, kind: EntryKind::Document });
        }
        entries.extend_from_slice(pages);
        Ok(Self { entries })
    }

    /// The two programs.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.kind == EntryKind::Program)
    }
}

/// The manual pages and completions, written by the program that they are about.
pub(crate) fn pages(programs: &Programs) -> Result<Vec<Entry>, String> {
    let mut pages = Vec::new();
    for (shell, name, kind) in [
        ("bash", "completions/checkrein.bash", EntryKind::BashCompletions),
        ("zsh", "completions/_checkrein", EntryKind::ZshCompletions),
        ("fish", "completions/checkrein.fish", EntryKind::FishCompletions),
    ] {
        let text = output(Command::new(&programs.full).args(["completions", shell]))?;
        pages.push(Entry { name: name.to_owned(), bytes: text.into_bytes(), kind });
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    output(Command::new(&programs.full).arg("manual").arg("--to").arg(folder.path()))?;
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .map_err(told(folder.path()))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    names.sort();
    for path in names {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = fs::read(&path).map_err(told(&path))?;
        pages.push(Entry { name: format!("man/{name}"), bytes, kind: EntryKind::Manual });
    }
    Ok(pages)
}
