//! What of a repository is saved with its references, and where it lies.

use std::path::{Path, PathBuf};

use checkrein_facts::{Entry, World};
use checkrein_protocol::AbsolutePath;

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

/// The work tree of a place beside that of the workspace: elsewhere, or of a repository that lies in the workspace.
pub(super) fn beside_workspace(world: &dyn World, place: AbsolutePath) -> Option<AbsolutePath> {
    let workspace = &world.place().workspace;
    let is_inside = place.is_within(workspace);
    let root = match world.repository(&place) {
        Some(found) => found.root,
        None => place,
    };
    // A place in the workspace that belongs to no repository inside it is among the files of the workspace.
    let is_nested = root.is_within(workspace) && world.entry(&root.join(".git")) != Entry::Missing;
    (root != *workspace && (!is_inside || is_nested)).then_some(root)
}
