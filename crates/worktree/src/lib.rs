//! A place of its own for a run: made, looked at, merged, taken away.
//!
//! | module | holds |
//! |---|---|
//! | `name` | what a worktree may be called |
//! | `git` | the one place that runs `git` |
//! | `owner` | the proof that a worktree is ours |
//! | `carry` | files that go along although they are in no commit |
//! | `plan` | what is wanted of one |
//! | `make` | making one |
//! | `tree` | what stands in a folder, as a tree of git |
//! | `change` | what a run changed, and bringing that back |
//! | `merging` | a merge that is under way, for who is killed meanwhile |
//! | `merged` | whether the branch of a worktree has been merged |
//! | `shared` | what all work trees share, and a run changed in it |
//! | `rights` | groups and modes of files, kept through a merge |
//! | `changed` | the texts that changed in a work tree |
//! | `blobs` | what files held in commits, in batches |
//! | `really_there` | what lies on disk, whatever git was told about it |
//! | `remembered` | what files held when they were last read |
//! | `revision` | what a name of a revision stands for, and whether a remote said it |
//! | `pushed` | what a push brings, and what the remote has already |
//! | `copy` | the same where there is no repository |
//! | `remove` | taking one away |
//!
//! **Invariants.** What an agent wrote decides nothing about where we write or what we run. No `.git` in a worktree is read, and no link is
//! followed. No hook, filter or driver of the repository's own configuration is run. What cannot be proved to be ours is left alone.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod blobs;
mod carry;
mod change;
mod changed;
mod copy;
mod git;
mod make;
mod merged;
mod merging;
mod name;
mod owner;
mod plan;
mod pushed;
mod really_there;
mod remembered;
mod remove;
mod revision;
mod rights;
mod shared;
mod tree;

pub use carry::Carried;
pub use change::{Changes, FileOperation, GuardFiles, Merge, WorktreeChange, guard_files};
pub use changed::{
    ChangeBase, ChangedText, CommittedLines, ContentIds, TextNow, TextPlace, changed_texts, committed_lines,
    contents_committed, contents_of_base, contents_of_work_tree, contents_on_disk, is_known_path,
    kept_by_git, work_tree_paths,
};
pub use copy::{Copies, CopyMerge};
pub use git::{GitEnvironment, GitRepository};
pub use make::{Made, WorktreeOrigin, WorktreeRegistry, make};
pub use merged::{BranchFate, branch_fate};
pub use merging::{MergeProgress, Merging};
pub use name::WorktreeName;
pub use owner::{Owner, WorktreeKind};
pub use plan::{Uncommitted, WorktreePlan};
pub use pushed::{PushedRef, hooks_folder, newest_at_remote, read_pushed};
pub use really_there::hidden_by_clone;
pub use remembered::RememberedContents;
pub use remove::{Branch, Removal, keep_commits, remove};
pub use rights::Rights;
pub use shared::{RunPhase as SharedMoment, SharedChange, Watched};
