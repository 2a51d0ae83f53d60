//! The processes below this one: found, measured, ended.

use std::collections::{HashMap, HashSet};
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
    /// Threads of all of them.
    pub threads: usize,
    /// What is left of processes for which nobody has waited: each keeps a number that no other can have.
    pub remains: usize,
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
        if !process.is_alive() {
            sum.remains += 1;
            continue;
        }
        sum.processes += 1;
        sum.threads += process.threads;
        sum.memory += process.resident() * page;
    }
    sum
}

/// The processes below this one that are alive.
pub(crate) fn alive_below() -> Vec<i32> {
    below().iter().filter(|process| process.is_alive()).map(|process| process.pid).collect()
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

/// What became of the processes below when they were ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ended {
    /// So many were ended.
    pub count: usize,
    /// So many are still there, since the time for it ran out.
    pub left: usize,
}

/// Ends everything below this process and takes the remains away, for so long at most.
///
/// Who forks and ends all the time is not there any more when its number has been read. It ends all the same: orphans come to us, and
/// their list is answered without a pause, as long as it takes; and where it stays in one group, its remains tell which, and the kernel
/// ends a group as a whole and lets no fork through meanwhile.
pub fn end_all(patience: Duration) -> Ended {
    let deadline = Instant::now() + patience;
    let mut ended = HashSet::new();
    loop {
        // Looking through all processes takes the longer the more remains there are.
        while is_behind(&reap()) && Instant::now() < deadline {
            end_children();
        }
        // Everything below comes to us as an orphan, so without a child there is nothing; looking through all processes takes longer.
        if has_no_child() {
            return Ended { count: ended.len(), left: 0 };
        }
        let found: Vec<Process> = below().into_iter().filter(Process::is_alive).collect();
        if Instant::now() > deadline {
            // Who was not found is there all the same.
            return Ended { count: ended.len(), left: found.len().max(1) };
        }
        ended.extend(found.iter().map(|process| process.pid));
        // Stopped first: who is stopped cannot fork while the others are being ended.
        for signal in [Signal::STOP, Signal::KILL] {
            for process in &found {
                process.send(signal);
            }
        }
        let pause = Instant::now() + CHASE;
        while Instant::now() < pause && !has_no_child() {
            end_children();
            reap();
            std::thread::yield_now();
        }
    }
}

/// How long the orphans that come to us are ended one by one before all processes are looked through again.
const CHASE: Duration = Duration::from_millis(20);

/// Ends the children of this process, and the groups that they were in, as far as nobody else can be in them: those of other sessions than
/// ours. In our session a command could have joined the group of a neighbour.
fn end_children() {
    let own = rustix::process::getsid(None).ok();
    let mut groups = HashSet::new();
    for pid in children().into_iter().filter_map(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
        // What has ended still tells.
        let session = rustix::process::getsid(Some(pid)).ok();
        if let (true, Ok(group)) = (is_of_others(session, own), rustix::process::getpgid(Some(pid))) {
            groups.insert(group);
        }
    }
    for group in groups {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

/// Whether a session is another one than ours; what is not known is not.
fn is_of_others(session: Option<Pid>, own: Option<Pid>) -> bool {
    session.is_some() && own.is_some() && session != own
}

/// The children of this process, of all its threads, without looking through other processes.
fn children() -> Vec<i32> {
    let mut all = Vec::new();
    for thread in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let text = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        all.extend(text.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    all
}

/// Sends a signal to everything below this process.
pub(crate) fn signal_all(signal: Signal) {
    for process in below().iter().filter(|process| process.is_alive()) {
        process.send(signal);
    }
}

/// Whether a process was started by this one, or by what it started.
pub(crate) fn is_below(process: i32) -> bool {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut current = process;
    // Bounded: a process that ends meanwhile could close a circle.
    for _ in 0..FAR {
        match read(current) {
            Some(found) if found.parent == own => return true,
            Some(found) if found.parent > 1 => current = found.parent,
            _ => return false,
        }
    }
    // So deep that one look at all processes is sooner done.
    below().iter().any(|found| found.pid == process)
}

/// So many parents are asked for theirs before all processes are looked through.
const FAR: usize = 256;

/// Whether there is a process of that number.
pub(crate) fn exists(process: i32) -> bool {
    read(process).is_some()
}

/// The members of a process group that are below this process.
pub(crate) fn group_below(group: Pid) -> Vec<Pid> {
    let is_member = |pid: &Pid| rustix::process::getpgid(Some(*pid)) == Ok(group);
    let alive = below().into_iter().filter(Process::is_alive);
    alive.filter_map(|process| Pid::from_raw(process.pid)).filter(is_member).collect()
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

/// Takes away what has ended, so that nothing stays as a zombie. Returns those that ended, and not all of them at once: where processes end
/// faster than they are taken away, whoever calls this has something else to look at as well.
pub(crate) fn reap() -> Vec<(Pid, WaitStatus)> {
    std::iter::from_fn(|| rustix::process::wait(WaitOptions::NOHANG).ok().flatten()).take(AT_ONCE).collect()
}

/// So many remains are taken away at once (ours): some milliseconds of work.
const AT_ONCE: usize = 4096;

/// Whether there are remains to be taken away still, after as many as one may take at once.
pub(crate) fn is_behind(reaped: &[(Pid, WaitStatus)]) -> bool {
    reaped.len() >= AT_ONCE
}

/// Whether this process has no child at all, not even one that has ended.
fn has_no_child() -> bool {
    let look = rustix::process::WaitIdOptions::EXITED
        | rustix::process::WaitIdOptions::NOHANG
        | rustix::process::WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(rustix::process::WaitId::All, look), Err(rustix::io::Errno::CHILD))
}

/// One process, as `/proc/PID/stat` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    state: char,
    /// Threads that have not ended, with the first one even when it has.
    threads: usize,
    pages: u64,
}

impl Process {
    /// Whether anything of it runs. When the first thread has ended while others go on, the process looks as if it were over.
    fn is_alive(&self) -> bool {
        match self.state {
            'Z' => self.threads > 1,
            'X' => false,
            _ => true,
        }
    }

    /// Resident pages. A process whose first thread has ended tells them through the others only.
    fn resident(&self) -> u64 {
        if self.state != 'Z' || self.threads < 2 {
            return self.pages;
        }
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid)).into_iter().flatten().flatten();
        let pages = threads.filter_map(|thread| {
            let text = fs::read(thread.path().join("stat")).ok()?;
            stat(self.pid, &String::from_utf8_lossy(&text)).map(|thread| thread.pages)
        });
        pages.max().unwrap_or(0)
    }

    fn send(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// All processes below this one, and the remains of those that ended.
fn below() -> Vec<Process> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let all: Vec<Process> = names.filter_map(|name| read(name.to_str()?.parse().ok()?)).collect();
    found_below(own, all)
}

/// Those of `all` that descend from `own`, however deep; each is looked at once.
fn found_below(own: i32, all: Vec<Process>) -> Vec<Process> {
    let mut of_parent: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in all {
        of_parent.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![own];
    while let Some(parent) = parents.pop() {
        // Taken out, so that a circle, which numbers that are used again could make, ends.
        let children = of_parent.remove(&parent).unwrap_or_default();
        parents.extend(children.iter().map(|process| process.pid));
        found.extend(children);
    }
    found
}

fn read(pid: i32) -> Option<Process> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    stat(pid, &String::from_utf8_lossy(&text))
}

/// The fields after the name, which stands in brackets and may hold anything.
fn stat(pid: i32, text: &str) -> Option<Process> {
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let number = |place: usize| fields.get(place).and_then(|field| field.parse::<i64>().ok());
    let small = |place: usize| number(place).and_then(|number| i32::try_from(number).ok());
    Some(Process {
        pid,
        parent: small(1)?,
        state: fields.first()?.chars().next()?,
        threads: usize::try_from(number(17)?).unwrap_or(1),
        pages: u64::try_from(number(21)?).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_is_still_a_name() {
        let text =
            "12 (a) b) R 7 12 12 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 1 0 100 4096 42 18446744073709551615";
        let process = stat(12, text).unwrap();
        assert_eq!((process.parent, process.pages, process.state, process.threads), (7, 42, 'R', 1));
    }

    fn process(pid: i32, parent: i32) -> Process {
        Process { pid, parent, state: 'S', threads: 1, pages: 1 }
    }

    #[test]
    fn a_chain_of_processes_is_followed_to_its_end_and_a_circle_is_none() {
        let mut all: Vec<Process> = (2..20_000).map(|pid| process(pid, pid - 1)).collect();
        all.extend([process(50_000, 50_001), process(50_001, 50_000), process(60_000, 0)]);
        assert_eq!(found_below(1, all).len(), 19_998);
    }

    #[test]
    fn a_process_is_over_when_its_last_thread_is() {
        let with = |state, threads| Process { state, threads, ..process(7, 1) }.is_alive();
        assert_eq!([with('S', 1), with('T', 1), with('Z', 2)], [true; 3]);
        assert_eq!([with('Z', 1), with('X', 1)], [false; 2]);
    }

    #[test]
    fn only_groups_that_no_neighbour_can_be_in_get_a_signal_as_a_whole() {
        let [own, other] = [40, 42].map(Pid::from_raw);
        assert!(is_of_others(other, own));
        assert!(!is_of_others(own, own) && !is_of_others(None, own) && !is_of_others(other, None));
    }
}
