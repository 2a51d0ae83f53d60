//! What stands below a folder, and what became of it.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use checkrein_protocol::AbsolutePath;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    content: Content,
    rights: (u32, u32, u32),
    number: u64,
    modified: (i64, i64),
    /// When anything about it changed, its names and rights included.
    touched: (i64, i64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Folder,
    Link(PathBuf),
    /// The sum of what it holds; nothing of a file that could not be read.
    File(Option<u64>),
    Other,
}

/// A change that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SeenChange {
    /// It is new.
    Created,
    /// It holds something else.
    Written,
    /// It is gone.
    Deleted,
    /// Its mode or owner differs.
    Mode,
}

impl SeenChange {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Written => "written",
            Self::Deleted => "deleted",
            Self::Mode => "mode changed",
        }
    }
}

/// Everything below a folder at one time.
#[derive(Debug, Clone, Default)]
pub struct SeenTree(BTreeMap<AbsolutePath, Piece>);

impl SeenTree {
    /// What stands there now. What cannot be looked at is left out.
    pub fn look(folder: &AbsolutePath) -> Self {
        let mut tree = Self::default();
        tree.add(folder);
        tree
    }

    fn add(&mut self, path: &AbsolutePath) {
        let Ok(facts) = fs::symlink_metadata(path.as_str()) else { return };
        let content = if facts.is_dir() {
            Content::Folder
        } else if facts.is_symlink() {
            Content::Link(fs::read_link(path.as_str()).unwrap_or_default())
        } else if facts.is_file() {
            Content::File(sum(Path::new(path.as_str())))
        } else {
            Content::Other
        };
        let is_folder = content == Content::Folder;
        let piece = Piece {
            content,
            rights: (facts.mode() & 0o7777, facts.uid(), facts.gid()),
            number: facts.ino(),
            modified: (facts.mtime(), facts.mtime_nsec()),
            touched: (facts.ctime(), facts.ctime_nsec()),
        };
        self.0.insert(path.clone(), piece);
        if is_folder {
            for entry in fs::read_dir(path.as_str()).into_iter().flatten().flatten() {
                if let Some(name) = entry.file_name().to_str() {
                    self.add(&path.join(name));
                }
            }
        }
    }

    /// Whether something stands at a path.
    pub fn has(&self, path: &AbsolutePath) -> bool {
        self.0.contains_key(path)
    }

    /// What changed until a later look, by path.
    pub fn changes(&self, later: &Self) -> Vec<(SeenChange, AbsolutePath)> {
        let mut changes = Vec::new();
        for (path, before) in &self.0 {
            match later.0.get(path) {
                None => changes.push((SeenChange::Deleted, path.clone())),
                Some(after) if after.content != before.content => {
                    changes.push((SeenChange::Written, path.clone()));
                }
                Some(after) if after.rights != before.rights => {
                    changes.push((SeenChange::Mode, path.clone()));
                }
                Some(_) => {}
            }
        }
        let new = later.0.keys().filter(|path| !self.0.contains_key(*path));
        changes.extend(new.map(|path| (SeenChange::Created, path.clone())));
        changes
    }

    /// Whether anything was done to what stands at a path, or below it, until a later look: also when it holds the same as before.
    pub fn is_touched(&self, later: &Self, path: &AbsolutePath) -> bool {
        let differs = |path: &AbsolutePath| match (self.0.get(path), later.0.get(path)) {
            (Some(before), Some(after)) => {
                before.number != after.number
                    || before.modified != after.modified
                    || before.touched != after.touched
            }
            (before, after) => before.is_some() != after.is_some(),
        };
        self.0.keys().chain(later.0.keys()).filter(|known| known.is_within(path)).any(differs)
    }
}

fn sum(path: &Path) -> Option<u64> {
    let bytes = fs::read(path).ok()?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Some(hasher.finish())
}
