//! The processes below this one: found, measured, ended.

mod looking;

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use crate::error::SuperviseError;
pub use crate::usage::Usage;
pub use looking::{MachineLoad, ProcessScan};
use looking::{Process, read};

/// Makes this process the one that orphans below it come to, so that a child that forks twice or makes a session of its own stays below.
pub fn adopt_orphans() -> Result<(), SuperviseError> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(SuperviseError::restriction("adopting orphans"))
}

/// What all processes below this one use.
pub fn usage() -> Usage {
    ProcessScan::through(&[], &|| true).usage()
}

/// The processes below this one that are alive.
pub fn alive_below() -> Vec<i32> {
    ProcessScan::through(&[], &|| true).alive().map(|process| process.pid).collect()
}

/// How many processes below this one are alive, as far as that can be seen in a moment.
pub fn count_alive() -> usize {
    ProcessScan::for_a_moment().alive().count()
}

/// Waits for what is below this process to end by itself, at most this long.
pub fn let_end(patience: Duration) {
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
pub struct EndedProcesses {
    /// So many were ended.
    pub count: usize,
    /// So many are still there, since the time for it ran out.
    pub left: usize,
}

/// Ends everything below this process and takes the remains away, for so long at most.
///
/// Who forks and ends all the time is not there any more when its number has been read. It ends all the same. Orphans come to us, and their
/// list is read again without a pause, as long as it takes. Where it stays in one group, its remains tell which one, and the kernel ends a
/// group as a whole and lets no fork through meanwhile. Looking through all processes takes the longer the more there are, and gets the
/// less time the more of them run, so it never takes longer than a moment.
pub fn end_all(patience: Duration) -> EndedProcesses {
    let deadline = Instant::now() + patience;
    let mut ended = HashSet::new();
    let mut orphans = Orphans::default();
    loop {
        // Everything below comes to us as an orphan, so without a child there is nothing; looking through all processes takes longer.
        orphans.reap();
        if has_no_child() {
            return EndedProcesses { count: ended.len(), left: 0 };
        }
        let look = ProcessScan::for_a_moment();
        let found: Vec<&Process> = look.alive().collect();
        if Instant::now() > deadline {
            // Who was not found is there all the same.
            return EndedProcesses { count: ended.len(), left: found.len().max(1) };
        }
        ended.extend(found.iter().map(|process| process.pid));
        // Stopped first: who is stopped cannot fork while the others are being ended.
        for signal in [Signal::STOP, Signal::KILL] {
            for process in &found {
                process.send(signal);
            }
        }
        let mut pause = Instant::now() + CHASE;
        while Instant::now() < pause.min(deadline) && !has_no_child() {
            orphans.end();
            // As long as they end there is nothing better to do.
            if orphans.reap() > 0 {
                pause = Instant::now() + CHASE;
            }
            std::thread::yield_now();
        }
    }
}

/// How long the orphans that come to us are ended one by one before all processes are looked through again, when none of them ends.
const CHASE: Duration = Duration::from_millis(20);

/// The children of this process while they are being ended. Each is ended once: the kernel takes its time to end tens of thousands, and the
/// more of it the more signals are sent meanwhile.
#[derive(Debug, Default)]
struct Orphans {
    ended: HashSet<Pid>,
    groups: HashMap<Pid, Instant>,
}

impl Orphans {
    /// Ends the children, and the groups that they were in, as far as nobody else can be in them: those of other sessions than ours. In our
    /// session a command could have joined the group of a neighbour.
    fn end(&mut self) {
        let own = rustix::process::getsid(None).ok();
        let now = Instant::now();
        for pid in children().into_iter().filter_map(Pid::from_raw) {
            if !self.ended.insert(pid) {
                continue;
            }
            let _ = rustix::process::kill_process(pid, Signal::KILL);
            // What has ended still tells.
            let session = rustix::process::getsid(Some(pid)).ok();
            if let (true, Ok(group)) = (is_of_others(session, own), rustix::process::getpgid(Some(pid)))
                && self.groups.get(&group).is_none_or(|time| now.duration_since(*time) >= AGAIN)
            {
                self.groups.insert(group, now);
                let _ = rustix::process::kill_process_group(group, Signal::KILL);
            }
        }
    }

    /// Takes away those that have ended; how many they were.
    fn reap(&mut self) -> usize {
        let ended = reap().ended;
        for (pid, _) in &ended {
            // Another one may have its number from now on.
            self.ended.remove(pid);
        }
        ended.len()
    }
}

/// How soon a group is ended again when another child turns out to be of it (ours). Nobody is born into one that was ended, but some may join.
const AGAIN: Duration = Duration::from_millis(100);

/// Whether a session is another one than ours; what is not known is not.
fn is_of_others(session: Option<Pid>, own: Option<Pid>) -> bool {
    session.is_some() && own.is_some() && session != own
}

/// The children of this process, of all its threads, without looking through other processes.
fn children() -> Vec<i32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads.flat_map(|thread| listed(&thread.path().join("children"))).collect()
}

/// The numbers in a list of children: not more than fit into some pages, since orphans may come faster than they are read.
fn listed(children: &std::path::Path) -> Vec<i32> {
    let mut text = String::new();
    let read = File::open(children).and_then(|file| file.take(LIST).read_to_string(&mut text));
    if read.is_err() {
        return Vec::new();
    }
    // A blank stands behind each of them, so what has none was cut.
    let whole = text.rfind(' ').and_then(|end| text.get(..end)).unwrap_or_default();
    whole.split(' ').filter_map(|pid| pid.parse().ok()).collect()
}

/// So many bytes of a list of children are read (ours).
const LIST: u64 = 64 << 10;

/// Sends a signal to everything below this process that is found in a moment.
pub fn signal_all(signal: Signal) {
    for process in ProcessScan::for_a_moment().alive() {
        process.send(signal);
    }
}

/// Whether a process was started by this one, or by what it started.
pub fn is_below(process: i32) -> bool {
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
    ProcessScan::through(&[], &|| true).processes.iter().any(|found| found.pid == process)
}

/// So many parents are asked for theirs before all processes are looked through.
const FAR: usize = 256;

/// Whether a process does not even notice when somebody interrupts it at the keyboard.
pub fn ignores_interrupts(process: Pid) -> bool {
    let text =
        std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).unwrap_or_default();
    let sets = text.lines().filter_map(|line| line.strip_prefix("SigIgn:").or(line.strip_prefix("SigBlk:")));
    let mut sets = sets.filter_map(|set| u64::from_str_radix(set.trim(), 16).ok());
    sets.any(|set| set & (1 << (libc::SIGINT - 1)) != 0)
}

/// Whether there is a process of that number.
pub fn exists(process: i32) -> bool {
    read(process).is_some()
}

/// The members of a process group that are below this process.
pub fn group_below(group: Pid) -> Vec<Pid> {
    let is_member = |pid: &Pid| rustix::process::getpgid(Some(*pid)) == Ok(group);
    let look = ProcessScan::through(&[], &|| true);
    look.alive().filter_map(|process| Pid::from_raw(process.pid)).filter(is_member).collect()
}

/// The process with the number 2 in the namespace whose first process is `first`: the one that it started itself.
pub fn second_in_namespace(first: Pid) -> Option<Pid> {
    let first = first.as_raw_nonzero().get();
    let is_second = |process: &i32| {
        let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let numbers = text.lines().find_map(|line| line.strip_prefix("NSpid:"));
        numbers.and_then(|numbers| numbers.split_whitespace().last()) == Some("2")
    };
    let children = listed(std::path::Path::new(&format!("/proc/{first}/task/{first}/children")));
    let found = children.into_iter().find(is_second).or_else(|| {
        // Not every kernel has that list.
        let all = ProcessScan::for_a_moment().processes;
        let mut children = all.iter().filter(|process| process.parent == first).map(|process| process.pid);
        children.find(is_second)
    });
    Pid::from_raw(found?)
}

/// Whether something has ended and was not taken away yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remains {
    /// All was taken away.
    Gone,
    /// There is more than was taken away at once.
    Left,
}

/// What was taken away.
#[derive(Debug)]
pub struct Reaped {
    /// The processes, and how they ended.
    pub ended: Vec<(Pid, WaitStatus)>,
    /// Whether there may be more.
    pub remains: Remains,
}

/// Reaps processes that have ended, so that no zombie stays, and not all of them at once. Where processes end faster than they are reaped,
/// the caller has something else to look at as well.
pub fn reap() -> Reaped {
    let until = Instant::now() + AT_ONCE;
    let mut ended = Vec::new();
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(one)) => ended.push(one),
            _ => return Reaped { ended, remains: Remains::Gone },
        }
        if Instant::now() >= until {
            return Reaped { ended, remains: Remains::Left };
        }
    }
}

/// For so long remains are taken away without a pause (ours).
const AT_ONCE: Duration = Duration::from_millis(20);

/// Whether this process has no child at all, not even one that has ended.
fn has_no_child() -> bool {
    let look = rustix::process::WaitIdOptions::EXITED
        | rustix::process::WaitIdOptions::NOHANG
        | rustix::process::WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(rustix::process::WaitId::All, look), Err(rustix::io::Errno::CHILD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_was_cut_off_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("children");
        fs::write(&list, "12 345 ").unwrap();
        assert_eq!(listed(&list), [12, 345]);
        fs::write(&list, "12 34").unwrap();
        assert_eq!(listed(&list), [12]);
        fs::write(&list, "").unwrap();
        assert!(listed(&list).is_empty() && listed(&folder.path().join("none")).is_empty());
        fs::write(&list, "1234567 ".repeat(20_000)).unwrap();
        assert!(listed(&list).iter().all(|number| *number == 1_234_567));
    }

    #[test]
    fn only_groups_that_no_neighbour_can_be_in_get_a_signal_as_a_whole() {
        let [own, other] = [40, 42].map(Pid::from_raw);
        assert!(is_of_others(other, own));
        assert!(!is_of_others(own, own) && !is_of_others(None, own) && !is_of_others(other, None));
    }
}
