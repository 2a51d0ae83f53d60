//! What changed in a workspace since a moment, by one bounded look afterwards.
//!
//! Nothing is remembered before an action but the time. Afterwards the times of status change tell what was made, written or moved:
//! no program can set them back. What is gone is told by the picture of the last look, else by the index of the repository.

mod listing;
mod picture;
mod walk;

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use checkrein_protocol::{AbsolutePath, Change, PathState, Timestamp};

pub use crate::ignore::PathKind;
pub use picture::{PICTURE_LIMIT, Picture};

/// Where to look, and how far.
#[derive(Debug, Clone)]
pub struct ScanRequest<'a> {
    /// The root of the workspace.
    pub root: &'a AbsolutePath,
    /// The directory in which the action ran; looked at first.
    pub near: &'a AbsolutePath,
    /// What is never looked at: files that the client or the guard itself writes.
    pub spared: &'a [AbsolutePath],
    /// The home directory, for the ignore rules of the user.
    pub home: &'a AbsolutePath,
    /// `$XDG_CONFIG_HOME`, when set.
    pub configuration: Option<&'a str>,
    /// The time.
    pub now: Timestamp,
    /// How far.
    pub bounds: ScanBounds,
}

/// How far a look goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanBounds {
    /// Names that are read or looked at.
    pub entries: usize,
    /// Changes that are listed.
    pub changes: usize,
    /// The time it takes.
    pub time: Duration,
}

impl Default for ScanBounds {
    /// All ours.
    fn default() -> Self {
        Self { entries: 20_000, changes: 1_000, time: Duration::from_millis(20) }
    }
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeScan {
    /// What changed, in the order in which it was found.
    pub changes: Vec<Change>,
    /// How much of the workspace was looked at.
    pub coverage: Coverage,
    /// The workspace as it is now, for the next look.
    pub picture: Picture,
    /// Whether the picture differs from the one before, so that it is worth keeping.
    pub novelty: Novelty,
}

/// Whether a picture shows something else than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Novelty {
    /// It shows the same.
    Same,
    /// It does not.
    New,
}

/// How much was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Names that were read or looked at.
    pub entries: usize,
    /// Why something was not looked at, each one clause; empty when everything was.
    pub gaps: Vec<String>,
    /// Trees that are not looked into because they are made again by a build or an install, or are ignored: the first few.
    pub left_out: Vec<AbsolutePath>,
    /// Whether what is gone could be told from a picture.
    pub memory: Memory,
}

/// What deletions are told from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Memory {
    /// A picture of every directory that changed.
    Picture,
    /// At least one directory that changed was never looked at before: what is gone there may have gone earlier.
    #[default]
    Partial,
}

/// What is known of a workspace from before an action.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    /// The picture of the last look.
    pub picture: Option<&'a Picture>,
    /// The names that stood in a directory right before the action, by its path below the root; `None` when that is not known.
    pub names: &'a KnownNames<'a>,
}

/// Says which names stood in a directory.
pub type KnownNames<'a> = dyn Fn(&str) -> Option<Vec<(String, PathKind)>> + 'a;

impl<'a> Before<'a> {
    /// A picture and nothing else.
    pub fn picture(picture: Option<&'a Picture>) -> Self {
        Self { picture, names: &|_| None }
    }
}

/// Looks at a workspace for what changed at or after `since`. `before` is what is known from before; `mask` gives a name with its
/// secrets masked, `None` when it holds none. Links are never followed, other file systems are not entered.
pub fn look(
    ground: &ScanRequest<'_>,
    since: Timestamp,
    before: &Before<'_>,
    mask: &dyn Fn(&str) -> Option<String>,
) -> ChangeScan {
    walk::Walk::new(ground, since, before, mask).run()
}

/// What stands at a path now, against the moment `since`. Takes one question to the file system; nothing is followed.
pub fn standing(path: &AbsolutePath, since: Timestamp) -> PathState {
    match fs::symlink_metadata(path.as_str()) {
        Ok(facts) if changed_at(&facts) >= nanoseconds(since) => PathState::Changed,
        Ok(_) => PathState::Unchanged,
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => PathState::Missing,
            _ => PathState::Unknown,
        },
    }
}

/// The real path of a directory; itself when it has none.
pub fn real_path(path: &AbsolutePath) -> AbsolutePath {
    let real = fs::canonicalize(Path::new(path.as_str())).ok();
    real.and_then(|real| AbsolutePath::new(real.to_str()?)).unwrap_or_else(|| path.clone())
}

/// When the status of a file last changed, in nanoseconds since 1970.
fn changed_at(facts: &fs::Metadata) -> i128 {
    i128::from(facts.ctime()) * 1_000_000_000 + i128::from(facts.ctime_nsec())
}

/// When the content last changed, in nanoseconds since 1970.
fn modified_at(facts: &fs::Metadata) -> i128 {
    i128::from(facts.mtime()) * 1_000_000_000 + i128::from(facts.mtime_nsec())
}

fn nanoseconds(time: Timestamp) -> i128 {
    i128::from(time.0) * 1_000_000
}
