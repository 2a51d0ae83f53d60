//! Memory in files that lie in no directory, or in one of memory (`memfd_create`, `/dev/shm`): it belongs to no process, so counting what is
//! resident of processes misses it.
//!
//! Looking through all open files takes long, so that is done only when the machine as a whole has so much more of it that it could matter.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Instant;

use crate::process_tree::{self, Usage};
use crate::scope::Bytes;

/// Counts it for the processes below this one.
#[derive(Debug)]
pub struct MemoryFiles {
    before: u64,
    held: Held,
    next: Instant,
}

/// What is held, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Held {
    /// By open files, each counted once.
    open: u64,
    /// By processes that have such files in their memory, where it is resident of them as well.
    mapped: u64,
}

/// At most this part of the time is spent on looking (ours).
const PART: u32 = 4;

/// So many open files are looked at, at most (ours).
const MOST: usize = 50_000;

impl MemoryFiles {
    /// From what the machine has now.
    pub fn of_now() -> Self {
        Self { before: of_machine(), held: Held::default(), next: Instant::now() }
    }

    /// What is used with such files, where a limit of so much is to hold. Looks as long as `go_on` says so.
    pub fn added_to(&mut self, usage: Usage, limit: Bytes, go_on: &dyn Fn() -> bool) -> Usage {
        if of_machine().saturating_sub(self.before) < limit.0 / 4 {
            return usage;
        }
        let started = Instant::now();
        if started >= self.next {
            self.held = look(go_on);
            self.next = Instant::now() + started.elapsed() * PART;
        }
        self.held.added_to(usage)
    }
}

impl Held {
    /// What is open and mapped as well counts once.
    fn added_to(self, usage: Usage) -> Usage {
        let others = usage.memory.saturating_sub(self.mapped);
        Usage { memory: others + self.mapped.max(self.open), ..usage }
    }
}

/// All of it that the machine has.
fn of_machine() -> u64 {
    kilobytes(&fs::read_to_string("/proc/meminfo").unwrap_or_default(), "Shmem:")
}

/// A line such as `Shmem:   12 kB`.
fn kilobytes(text: &str, name: &str) -> u64 {
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    value.and_then(|value| value.split_whitespace().next()?.parse().ok()).map_or(0, |count: u64| count << 10)
}

fn look(go_on: &dyn Fn() -> bool) -> Held {
    let mut open: HashMap<(u64, u64), u64> = HashMap::new();
    let (mut mapped, mut seen) = (0, 0);
    for process in process_tree::alive_below() {
        let place = Path::new("/proc").join(process.to_string());
        mapped += kilobytes(&fs::read_to_string(place.join("status")).unwrap_or_default(), "RssShmem:");
        // Each thread can have open files of its own.
        for thread in fs::read_dir(place.join("task")).into_iter().flatten().flatten() {
            for file in fs::read_dir(thread.path().join("fd")).into_iter().flatten().flatten() {
                seen += 1;
                if seen > MOST || !go_on() {
                    return Held { open: open.values().sum(), mapped };
                }
                let file = file.path();
                let is_possible =
                    fs::read_link(&file).is_ok_and(|name| may_be_memory(&name.to_string_lossy()));
                if is_possible
                    && rustix::fs::statfs(&file).is_ok_and(|facts| facts.f_type == libc::TMPFS_MAGIC)
                    && let Ok(facts) = fs::metadata(&file)
                {
                    open.insert((facts.dev(), facts.ino()), facts.blocks() * 512);
                }
            }
        }
    }
    Held { open: open.values().sum(), mapped }
}

/// Whether a file of that name, as `/proc` tells it, may lie in memory.
fn may_be_memory(name: &str) -> bool {
    ["/memfd:", "/dev/shm/", "/SYSV"].iter().any(|begin| name.starts_with(begin))
        || name.ends_with(" (deleted)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_and_mapped_counts_once() {
        let usage = Usage { memory: 100, ..Usage::default() };
        let memory = |open, mapped| Held { open, mapped }.added_to(usage).memory;
        assert_eq!([memory(0, 0), memory(50, 0), memory(50, 50), memory(50, 80)], [100, 150, 100, 100]);
    }

    #[test]
    fn sizes_are_read_by_their_name() {
        let text = "ShmemHugePages:  1 kB\nShmem:   12 kB\n";
        assert_eq!((kilobytes(text, "Shmem:"), kilobytes(text, "Nothing:")), (12 << 10, 0));
        assert!(of_machine() < 1 << 50);
    }
}
