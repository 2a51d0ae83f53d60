//! Saving files before they are lost, and bringing them back.
//!
//! | module | holds |
//! |---|---|
//! | `store` | the store of one workspace: numbers, lock, list |
//! | `system` | what the systems call or count differently |
//! | `sealing` | sealing what is stored with the key of the user |
//! | `pack` | one file of objects and a snapshot, whole or nothing |
//! | `index` | which pack holds an object |
//! | `node` | what is saved: files, links, directories, snapshots |
//! | `id`, `bytes`, `metadata` | the names of things, bytes as bytes, what the system says of a file |
//! | `draft` | a snapshot that is being taken |
//! | `earlier` | the workspace at a moment that is past |
//! | `lookup` | paths of any length, through no link |
//! | `way` | looking up one path after the other |
//! | `lending` | modes that directories are given for a while |
//! | `capture` | reading files and trees, within bounds |
//! | `stat_cache` | what a capture saw, so that the next need not read it |
//! | `ignore_filter` | what version control ignores |
//! | `workspace` | snapshots of a whole workspace |
//! | `diff` | what differs between two times |
//! | `diff_view` | looking at snapshots without going back to them |
//! | `presence` | whether a snapshot holds what stands at a path |
//! | `footprint` | what an action left behind |
//! | `git_index` | the index of git without its times |
//! | `plan` | what a restore would do |
//! | `databases` | databases in files that somebody has open, and what they hold with their logs |
//! | `restore` | doing it |
//! | `second_names` | names of our own for files that have several |
//! | `objects` | keeping the objects of a repository |
//! | `prune` | taking old snapshots away, checking what is left |
//! | `error` | what can go wrong with snapshots |
//!
//! **Invariants.** Nothing is written but in the store, and where a restore was asked for. A snapshot is whole or is not there,
//! whatever happens to its writer. What is not saved is listed. A restore saves what is there first, and does nothing before everything
//! that can run out of space is written. No link on the way is followed. Times come from the caller.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod bytes;
mod capture;
mod databases;
mod diff;
mod diff_view;
mod draft;
mod earlier;
mod error;
mod footprint;
mod git_index;
mod id;
mod ignore_filter;
mod index;
mod lending;
mod lookup;
mod metadata;
mod node;
mod objects;
mod pack;
mod plan;
mod presence;
mod prune;
mod restore;
mod sealing;
mod second_names;
mod stat_cache;
mod store;
mod system;
mod way;
mod workspace;

pub use capture::*;
pub use diff::{Difference, Differences};
pub use diff_view::Compared;
pub use draft::{Effort, SnapshotDraft};
pub use earlier::EarlierWorkspace;
pub use error::SnapshotError;
pub use footprint::{LoggedExtent, LoggedStart};
pub use git_index::InIndex;
pub use id::{ObjectId, SnapshotId};
pub use ignore_filter::{EntryKind, Ignored, Ignoring};
pub use node::*;
pub use objects::ObjectRetention;
pub use plan::{
    ActionEndTime, ActionPeriod, ActionSources, Gone, NewFileOrigin, OtherAction, OtherBegan, OtherNames,
    Preparation, Prepared, RestoreAction, Since, Step, VersionControlPart, is_saved_elsewhere,
};
pub use prune::{PackDamage, Pruned, Retention};
pub use restore::{Copied, Finished, Interrupted, Request, Restored};
pub use second_names::NamingTimes;
pub use stat_cache::Seen;
pub use store::{LOCK_WAIT, Listed, Pin, Reader, Store};
pub use workspace::{Outlook, Unchanged, WorkspaceCapture};
