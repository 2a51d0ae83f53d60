//! What of a repository is saved with its references, and where it lies.

use std::path::{Path, PathBuf};

/// The files and directories of a repository that hold its references and its settings (gitrepository-layout, and "pseudorefs" in the
/// glossary of git), and the messages that a person wrote there. Not its objects and hooks.
pub(super) const REFERENCES: [&str; 37] = [
    "HEAD",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_RR",
    "MERGE_AUTOSTASH",
    "AUTO_MERGE",
    "SQUASH_MSG",
    "REVERT_HEAD",
    "CHERRY_PICK_HEAD",
    // The message of the last commit, which one that failed leaves behind as its only copy.
    "COMMIT_EDITMSG",
    "TAG_EDITMSG",
    "REBASE_HEAD",
    "NOTES_MERGE_REF",
    "NOTES_MERGE_PARTIAL",
    "BISECT_ANCESTORS_OK",
    "BISECT_EXPECTED_REV",
    "BISECT_HEAD",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_START",
    "BISECT_TERMS",
    "config",
    "config.worktree",
    "index",
    "info",
    "logs",
    "packed-refs",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "reftable",
    "rr-cache",
    "sequencer",
    // Of each linked work tree: what is checked out there, what is staged, where it is.
    "worktrees",
];

/// The directory with what linked work trees share.
pub(super) fn shared(directory: &Path) -> PathBuf {
    let shared = checkrein_files::read_text(directory.join("commondir"), checkrein_files::SMALL);
    shared.map_or_else(|_| directory.to_owned(), |text| directory.join(text.trim_end()))
}
