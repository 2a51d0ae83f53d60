//! The processes below this one: found, measured, ended.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use crate::error::SuperviseError;
use crate::scope::Bytes;

/// What a tree of processes uses at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Processes that are alive.
    pub processes: usize,
    /// Resident memory of all of them; what several share counts several times.
    pub memory: u64,
}

impl Usage {
    /// The memory in bytes.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.memory)
    }
}

/// Makes this process the one that orphans below it come to, so that a child that forks twice or makes a session of its own stays below.
pub fn adopt_orphans() -> Result<(), SuperviseError> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(SuperviseError::restriction("adopting orphans"))
}

/// What all processes below this one use.
pub fn usage() -> Usage {
    let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
    let mut sum = Usage::default();
    for process in below() {
        sum.processes += 1;
        sum.memory += process.pages * page;
    }
    sum
}

/// Waits for what is below this process to end by itself, at most this long.
pub(crate) fn let_end(patience: Duration) {
    let deadline = Instant::now() + patience;
    loop {
        reap();
        if has_no_child() || Instant::now() > deadline {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ends everything below this process and takes the remains away. Returns how many were ended; nothing is left, however they fork,
/// unless `patience` runs out.
pub fn end_all(patience: Duration) -> usize {
    let deadline = Instant::now() + patience;
    let mut ended = std::collections::BTreeSet::new();
    loop {
        reap();
        // Everything below comes to us as an orphan, so without a child there is nothing; looking through all processes takes longer.
        if has_no_child() || Instant::now() > deadline {
            return ended.len();
        }
        let found = below();
        // Stopped first: who is stopped cannot fork while the others are being ended.
        for signal in [Signal::STOP, Signal::KILL] {
            for process in &found {
                if let Some(pid) = Pid::from_raw(process.pid) {
                    let _ = rustix::process::kill_process(pid, signal);
                    ended.insert(process.pid);
                }
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Sends a signal to everything below this process.
pub(crate) fn signal_all(signal: Signal) {
    for process in below() {
        if let Some(pid) = Pid::from_raw(process.pid) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// Whether a process was started by this one, or by what it started.
pub(crate) fn is_below(mut process: i32) -> bool {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    // Bounded: a process that ends meanwhile could close a circle.
    for _ in 0..4096 {
        match read(process) {
            Some((found, _)) if found.parent == own => return true,
            Some((found, _)) if found.parent > 1 => process = found.parent,
            _ => return false,
        }
    }
    false
}

/// Whether there is a process of that number.
pub(crate) fn exists(process: i32) -> bool {
    read(process).is_some()
}

/// The members of a process group that are below this process.
pub(crate) fn group_below(group: Pid) -> Vec<Pid> {
    let is_member = |pid: &Pid| rustix::process::getpgid(Some(*pid)) == Ok(group);
    below().iter().filter_map(|process| Pid::from_raw(process.pid)).filter(is_member).collect()
}

/// The process with the number 2 in the namespace whose first process is `first`: the one that it started itself.
pub(crate) fn second_in_namespace(first: Pid) -> Option<Pid> {
    let first = first.as_raw_nonzero().get();
    let is_second = |process: &Process| {
        let text = fs::read_to_string(format!("/proc/{}/status", process.pid)).unwrap_or_default();
        let numbers = text.lines().find_map(|line| line.strip_prefix("NSpid:"));
        numbers.and_then(|numbers| numbers.split_whitespace().last()) == Some("2")
    };
    let found = below().into_iter().find(|process| process.parent == first && is_second(process))?;
    Pid::from_raw(found.pid)
}

/// Takes away what has ended, so that nothing stays as a zombie. Returns those that ended.
pub(crate) fn reap() -> Vec<(Pid, WaitStatus)> {
    std::iter::from_fn(|| rustix::process::wait(WaitOptions::NOHANG).ok().flatten()).collect()
}

/// Whether this process has no child at all, not even one that has ended.
fn has_no_child() -> bool {
    let look = rustix::process::WaitIdOptions::EXITED
        | rustix::process::WaitIdOptions::NOHANG
        | rustix::process::WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(rustix::process::WaitId::All, look), Err(rustix::io::Errno::CHILD))
}

/// One process, as `/proc/PID/stat` tells.
struct Process {
    pid: i32,
    parent: i32,
    pages: u64,
}

/// All processes below this one that are alive.
fn below() -> Vec<Process> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut parents = HashMap::new();
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        let Some((process, state)) = read(pid) else { continue };
        parents.insert(pid, process.parent);
        if !matches!(state, 'Z' | 'X') {
            all.push(process);
        }
    }
    let is_below = |mut pid: i32| {
        // Bounded: a process that ends meanwhile could close a circle.
        for _ in 0..4096 {
            match parents.get(&pid) {
                Some(parent) if *parent == own => return true,
                Some(parent) if *parent > 1 => pid = *parent,
                _ => return false,
            }
        }
        false
    };
    all.retain(|process| is_below(process.pid));
    all
}

fn read(pid: i32) -> Option<(Process, char)> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    stat(pid, &String::from_utf8_lossy(&text))
}

/// The fields after the name, which stands in brackets and may hold anything.
fn stat(pid: i32, text: &str) -> Option<(Process, char)> {
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let number = |place: usize| fields.get(place).and_then(|field| field.parse::<u64>().ok());
    let state = fields.first()?.chars().next()?;
    let parent = fields.get(1)?.parse().ok()?;
    Some((Process { pid, parent, pages: number(21)? }, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_is_still_a_name() {
        let text =
            "12 (a) b) R 7 12 12 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 1 0 100 4096 42 18446744073709551615";
        let (process, state) = stat(12, text).unwrap();
        assert_eq!((process.parent, process.pages, state), (7, 42, 'R'));
    }
}
