//! Answers about snapshots and worktrees, and about what puts files back.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::{Moment, answers};

/// A snapshot.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SnapshotEntry {
    /// Its number.
    #[schemars(with = "u64")]
    pub id: Json,
    /// When it was taken.
    pub at: Moment,
    /// On what occasion.
    pub occasion: String,
    /// The reason that was given.
    pub reason: String,
    /// The session; null outside of one.
    #[schemars(with = "Option<String>")]
    pub session: Json,
    /// The action; null outside of one.
    #[schemars(with = "Option<String>")]
    pub action: Json,
    /// The number of the action in its session.
    #[schemars(with = "Option<u64>")]
    pub sequence: Json,
    /// What was saved.
    pub paths: Vec<String>,
    /// How many files, links and directories it has.
    pub entries: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// How many bytes it takes on the disk.
    pub disk: u64,
    /// Whether it is kept whatever its age.
    pub pinned: bool,
    /// What was left out.
    pub skipped: Vec<LeftOut>,
}

/// A path that was left out or left alone, and why.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The path.
    pub path: String,
    /// Why.
    pub why: String,
}

/// A pin that was set or removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pinned {
    /// The number of the snapshot.
    #[schemars(with = "u64")]
    pub id: Json,
    /// Whether it is pinned now.
    pub pinned: bool,
}

/// Snapshots that were deleted, or would be.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PruneAnswer {
    /// Their numbers.
    #[schemars(with = "Vec<u64>")]
    pub snapshots: Json,
    /// How many bytes became free; null for a dry run.
    pub bytes: Option<u64>,
}

/// The result of checking all snapshots.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SnapshotCheck {
    /// How many there are.
    pub snapshots: usize,
    /// Those that are damaged.
    pub hurt: Vec<Damaged>,
}

/// A damaged snapshot.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Damaged {
    /// Its number.
    #[schemars(with = "u64")]
    pub id: Json,
    /// What is wrong.
    pub cause: String,
}

/// A snapshot that was copied into a directory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Exported {
    /// The directory.
    pub directory: String,
    /// How many entries it has.
    pub entries: usize,
    /// How many could not be made as they were.
    pub left: usize,
}

/// A difference between two snapshots, or one and the present.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SnapshotDifference {
    /// The path.
    pub path: String,
    /// What happened to it.
    pub change: String,
    /// Its length before; null where it did not exist.
    pub from_bytes: Option<u64>,
    /// Its length after; null where it does not exist.
    pub to_bytes: Option<u64>,
    /// The lines that differ, with `--patch`; missing where it is not text, or too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextDifference>,
}

/// The lines of a text that differ, each with three around it that do not.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TextDifference {
    /// The lines, in order.
    pub lines: Vec<DifferingLine>,
    /// How many further lines are left out.
    pub further: u64,
}

/// A line of a text that is compared.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DifferingLine {
    /// `same`, `removed` or `added`.
    pub change: &'static str,
    /// Its number before, from 1; null where it was not there.
    pub from: Option<u64>,
    /// Its number after, from 1; null where it is not there.
    pub to: Option<u64>,
    /// The line without its end.
    pub text: String,
}

/// What an undo or a restore did, or would do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RestoreAnswer {
    /// The snapshot that was restored.
    #[schemars(with = "u64")]
    pub snapshot: Json,
    /// What was done, or would be.
    pub steps: Vec<RestoreStep>,
    /// What was kept on purpose.
    pub kept: Vec<KeptStep>,
    /// The snapshot of the state before; null where nothing was done.
    #[schemars(with = "Option<u64>")]
    pub saved_as: Json,
    /// What could not be restored.
    pub left: Vec<LeftOut>,
}

/// A step of a restore.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RestoreStep {
    /// The path.
    pub path: String,
    /// What is done with it.
    pub deed: String,
}

/// A step that was not taken.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeptStep {
    /// The path.
    pub path: String,
    /// What would have been done with it.
    pub deed: String,
    /// Why it was not.
    pub why: String,
}

/// A worktree of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Worktree {
    /// Its name.
    pub name: String,
    /// The run.
    #[schemars(with = "String")]
    pub run: Json,
    /// When it was made.
    pub created: Moment,
    /// Its branch; null for a copy.
    pub branch: Option<String>,
    /// Where it is.
    pub path: String,
    /// `waits`, `in use by ...`, or what is wrong.
    pub state: String,
}

/// What a run changed in its worktree.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeDiff {
    /// The name of the worktree.
    pub name: String,
    /// The files.
    pub files: Vec<ChangedFile>,
    /// What could not be read.
    #[schemars(with = "Option<Vec<String>>")]
    pub unread: Json,
    /// What changed in the repository itself.
    pub repository: RepositoryChanges,
    /// The patch.
    #[schemars(with = "String")]
    pub patch: Json,
}

/// A file that a run changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedFile {
    /// The path.
    pub path: String,
    /// What happened to it.
    pub change: String,
    /// Lines added; null for binary files.
    pub added: Option<u64>,
    /// Lines removed; null for binary files.
    pub removed: Option<u64>,
    /// Where it points, for a link.
    pub link: Option<String>,
}

/// What changed in a repository outside the working tree.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RepositoryChanges {
    /// Branches, tags, stash, hooks and settings.
    pub changes: Vec<RepositoryChange>,
    /// Commands that take it back.
    pub undo: Vec<String>,
}

/// One such change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RepositoryChange {
    /// What changed.
    #[schemars(with = "String")]
    pub what: Json,
    /// The part of the repository.
    #[schemars(with = "String")]
    pub part: Json,
    /// Whether git runs it.
    pub executes: bool,
    /// The snapshot from before.
    #[schemars(with = "u64")]
    pub snapshot: Json,
}

/// A worktree that was merged.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Merged {
    /// Its name.
    pub name: String,
    /// What changed in the repository itself.
    pub repository: RepositoryChanges,
    /// The files that changed here.
    pub merged: Vec<String>,
    /// Files that say what agents may do, which were not brought along.
    #[schemars(with = "Vec<String>")]
    pub left_behind: Json,
    /// Files that changed and could not keep their group.
    pub lost_groups: Vec<LostGroup>,
    /// The snapshot of the state before.
    #[schemars(with = "Option<u64>")]
    pub snapshot: Json,
    /// How the worktree was removed; null where it was kept.
    pub removed: Option<Removed>,
}

/// A file that was changed and could not keep its group.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LostGroup {
    /// The file.
    pub path: String,
    /// The number of the group that it had.
    pub group: u32,
}

/// A worktree that was discarded.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Discarded {
    /// Its name.
    pub name: String,
    /// How it was removed.
    pub removed: Removed,
}

/// A worktree whose branch is merged.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MergedBranch {
    /// Its name.
    pub name: String,
    /// The branch that has everything of it.
    pub into: String,
    /// How it was removed; null where it was only named.
    pub removed: Option<Removed>,
}

/// How a worktree was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Removed {
    /// The snapshot of its files.
    #[schemars(with = "Option<u64>")]
    pub snapshot: Json,
    /// The bundle of its commits.
    pub commits: Option<String>,
    /// `none`, `deleted`, or `kept: ` and why.
    pub branch: String,
    /// What could not be removed.
    #[schemars(with = "Option<String>")]
    pub left: Json,
}

answers! {
    SnapshotEntry => "snapshot",
    Pinned => "snapshot-pin",
    PruneAnswer => "snapshot-prune",
    SnapshotCheck => "snapshot-verify",
    Exported => "snapshot-export",
    SnapshotDifference => "snapshot-diff",
    RestoreAnswer => "restore",
    Worktree => "worktree",
    WorktreeDiff => "worktree-diff",
    Merged => "worktree-merge",
    Discarded => "worktree-discard",
    MergedBranch => "worktree-clean",
}
