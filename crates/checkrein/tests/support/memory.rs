//! What memory hooks take. The kernel counts that of a process from that of the one which started it, so a test of it has a program of its own.

use nix::sys::resource::{UsageWho, getrusage};

/// The greatest memory that one hook may take, in MiB, whatever is written; a program that is not optimised is larger by itself.
pub const MOST: i64 = if cfg!(debug_assertions) { 96 } else { 64 };

/// The greatest memory of the processes that have ended so far, in MiB.
pub fn peak() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() / 1024
}
