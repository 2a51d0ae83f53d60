//! The real facts: the file system and version control, read within bounds.
//!
//! | module | holds |
//! |---|---|
//! | `real` | the world of this machine, as the interpreter asks for it |
//! | `budget` | how much may be looked at for one action |
//! | `repository` | finding repositories and the branch that is checked out |
//! | `version` | what version control knows about a path |
//! | `index` | the index of a git repository, read only |
//! | `objects` | commits and directories of a git repository, read only |
//! | `differences` | where two revisions differ, or the index and a revision |
//! | `revision` | which commit a name means |
//! | `inflate` | decompressing |
//! | `members` | the names of what an archive holds |
//! | `unpacked` | all that an archive holds |
//! | `packed` | whether a file is what a compressor made of certain bytes |
//! | `sums` | the sums that compressors write |
//! | [`ignore`] | rules of `.gitignore` files |
//! | [`changes`] | what changed in a workspace since a moment |
//!
//! **Invariants.** Only reads, never follows a loop, never waits (no pipes, no devices), never starts a program, never
//! asks the environment: where things are is told by the caller. What is beyond the budget is `Unknown`, never guessed.
//!
//! Code of this crate reads the index and the ignore rules. The existing crates for them bring 40 to 70 further crates
//! along (object stores, lock files, threads), for a format of which the guard needs a hundred lines.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod budget;
pub mod changes;
mod differences;
pub mod ignore;
mod index;
mod inflate;
mod members;
mod objects;
mod packed;
mod real;
mod repository;
mod revision;
mod sums;
mod unpacked;
mod version;

pub use packed::{is_packed_from, may_be_packed};
pub use real::{RealWorld, TextRead, TextRole, WorldInputs};
pub use repository::{find_workspace, shared_git_directory};
pub use revision::{TagFacts, checked_out, commit_named, tag_facts};
pub use unpacked::{ArchiveMember, MemberContent, archive_members, gunzipped};
