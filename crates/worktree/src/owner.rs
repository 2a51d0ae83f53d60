//! The proof that a worktree is ours: a record outside of it, where the agent cannot write.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::name::WorktreeName;
use checkrein_supervise::runs::file::{read, replace};
use checkrein_supervise::runs::{RunError, RunErrorKind, RunId};

/// How a worktree was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WorktreeKind {
    /// By git, on a branch of its own.
    Git {
        /// The directory of the repository that all its work trees share.
        repository: PathBuf,
        /// The directory of this worktree in there.
        administration: PathBuf,
        /// The commit from which it began.
        commit: String,
        /// The tree from which it began: that of the commit, and what was carried over.
        tree: String,
        /// Its branch.
        branch: String,
    },
    /// By copying, from a folder that is no repository.
    Copy {
        /// The snapshot of the copy as it was made, in the store of the folder that was copied.
        base: u64,
    },
}

/// What is known of a worktree of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The form of this text.
    pub version: u32,
    /// Its name.
    pub name: WorktreeName,
    /// The run that it was made for; later runs may go on in it.
    pub run: RunId,
    /// The work tree that it came from.
    pub workspace: PathBuf,
    /// Where it is.
    pub place: PathBuf,
    /// The device of the folder, and its number there: another folder at the same place is not ours.
    pub folder: (u64, u64),
    /// When it was made, in milliseconds since 1970.
    pub created: u64,
    /// How it was made.
    #[serde(flatten)]
    pub kind: WorktreeKind,
}

const RECORD: &str = "owner.json";

impl Owner {
    /// The form that is written here.
    pub const VERSION: u32 = 1;

    /// The record in a folder; `None` when there is none.
    pub fn load(record: &Path) -> Result<Option<Self>, RunError> {
        let path = record.join(RECORD);
        let Some(bytes) = read(&path)? else { return Ok(None) };
        let damaged = |why: String| {
            RunError::new(
                RunErrorKind::Damaged,
                format!("the record of the worktree `{}` cannot be read: {why}", record.display()),
                "without it nothing proves what is ours; look at the folder and at `git worktree list` yourself",
            )
        };
        let owner: Self = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if owner.version != Self::VERSION {
            return Err(damaged(format!("it is of version {}", owner.version)));
        }
        Ok(Some(owner))
    }

    /// Writes the record.
    pub fn save(&self, record: &Path) -> Result<(), RunError> {
        let bytes = serde_json::to_vec_pretty(self).map_err(|error| {
            RunError::new(RunErrorKind::Damaged, error.to_string(), "report this as a defect")
        })?;
        replace(&record.join(RECORD), &bytes)
    }

    /// Fails unless the folder at the place is the very one that was made, and every folder above it a plain one.
    pub fn prove(&self) -> Result<(), RunError> {
        let shown = self.place.display();
        let facts = fs::symlink_metadata(&self.place).map_err(|_| match self.moved_to() {
            Some(place) => {
                RunError::not_ours(format!("the worktree `{shown}` was moved to `{}`", place.display()))
            }
            None => RunError::not_ours(format!("the worktree `{shown}` is not there any more")),
        })?;
        if facts.file_type().is_symlink() {
            return Err(RunError::not_ours(format!("`{shown}` is a link now; the worktree was a folder")));
        }
        if !facts.is_dir() || identity(&facts) != self.folder {
            return Err(RunError::not_ours(format!("`{shown}` is not the folder that was made for the run")));
        }
        if fs::canonicalize(&self.place).ok().as_deref() != Some(&self.place) {
            return Err(RunError::not_ours(format!("the way to `{shown}` leads through a link now")));
        }
        if let WorktreeKind::Git { repository, administration, .. } = &self.kind {
            prove_administration(repository, administration, &self.place)?;
        }
        Ok(())
    }

    /// Where the folder is, when it was moved away: where git knows it, or beside where it was or where it came from.
    pub fn moved_to(&self) -> Option<PathBuf> {
        let is_it = |place: &Path| {
            fs::symlink_metadata(place).is_ok_and(|facts| facts.is_dir() && identity(&facts) == self.folder)
        };
        let known = match &self.kind {
            WorktreeKind::Git { administration, .. } => read(&administration.join("gitdir")).ok().flatten(),
            WorktreeKind::Copy { .. } => None,
        };
        let known = known.and_then(|bytes| {
            let text = String::from_utf8(bytes).ok()?;
            Path::new(text.trim_end()).parent().map(Path::to_owned)
        });
        let worktrees = self.place.parent();
        let around = [
            worktrees,
            worktrees.and_then(Path::parent),
            self.workspace.parent(),
            Some(self.workspace.as_path()),
            Some(Path::new("/tmp")),
        ];
        let entries =
            around.into_iter().flatten().flat_map(|place| fs::read_dir(place).into_iter().flatten());
        let entries = entries.flatten().map(|entry| entry.path());
        known.into_iter().chain(entries).find(|place| *place != self.place && is_it(place))
    }

    /// Whether the folder is there at all.
    pub fn is_there(&self) -> bool {
        fs::symlink_metadata(&self.place).is_ok()
    }
}

/// What tells a folder from every other one.
pub(crate) fn identity(facts: &fs::Metadata) -> (u64, u64) {
    (facts.dev(), facts.ino())
}

/// Fails unless git still knows this worktree at this place.
fn prove_administration(repository: &Path, administration: &Path, place: &Path) -> Result<(), RunError> {
    let wrong = |why: &str| {
        RunError::not_ours(format!(
            "what git knows of the worktree `{}` is not what was made: {why}",
            place.display()
        ))
    };
    if administration.parent() != Some(&repository.join("worktrees")) {
        return Err(wrong("it lies elsewhere"));
    }
    let facts = fs::symlink_metadata(administration).map_err(|_| wrong("it is gone"))?;
    if !facts.is_dir() {
        return Err(wrong("it is not a folder"));
    }
    let bytes = read(&administration.join("gitdir"))?.ok_or_else(|| wrong("it points nowhere"))?;
    let mut expected = place.join(".git").into_os_string().into_encoded_bytes();
    expected.push(b'\n');
    if bytes == expected { Ok(()) } else { Err(wrong("it points to another place")) }
}
