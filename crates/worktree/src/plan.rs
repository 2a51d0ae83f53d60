//! What is wanted of a worktree that is to be made.

use std::path::Path;

use super::name::WorktreeName;
use checkrein_supervise::runs::RunId;

/// What is wanted.
#[derive(Debug)]
pub struct WorktreePlan<'a> {
    /// Its name.
    pub name: &'a WorktreeName,
    /// The run that it is made for.
    pub run: &'a RunId,
    /// The work tree that it comes from, by its real path.
    pub workspace: &'a Path,
    /// The time, in milliseconds since 1970.
    pub now: u64,
    /// Files of no commit that go along.
    pub carry: &'a [String],
    /// Whether what was changed since the commit goes along too.
    pub changes: Uncommitted,
    /// Files that go along in any case, because the guard needs them.
    pub always: &'a [&'a str],
}

/// Whether what was changed and not committed goes along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncommitted {
    /// It does not: the run begins from the commit.
    StaysBehind,
    /// It does: the run begins from what is there.
    GoesAlong,
}
