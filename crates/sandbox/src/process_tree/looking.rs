//! Reading `/proc`: one process, all below this one, and what the machine tells of all of them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::Usage;

/// One process, as `/proc/PID/stat` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    session: i32,
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

    pub(super) fn send(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// A look through all processes, for those below this one and the remains of those that ended.
#[derive(Debug, Default)]
pub struct ProcessScan {
    pub(super) processes: Vec<Process>,
}

impl ProcessScan {
    /// Looks as long as `go_on` says so. Who forks and ends without a pause gets higher numbers faster than they are read, so a list of all
    /// processes need not have an end: not many more are read than there are. Those that are `known` are looked at wherever the list ended.
    pub fn through(known: &[i32], go_on: &dyn Fn() -> bool) -> Self {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let mut numbers = names.filter_map(|name| name.to_str()?.parse::<i32>().ok());
        let mut left = MachineLoad::now().map_or(usize::MAX, |machine| machine.tasks * 2 + 1024);
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        let is_whole = loop {
            let Some(number) = numbers.next() else { break true };
            if left == 0 || !go_on() {
                break false;
            }
            left -= 1;
            seen.insert(number);
            all.extend(read(number));
        };
        if !is_whole {
            let unseen = known.iter().filter(|number| !seen.contains(number));
            all.extend(unseen.take_while(|_| go_on()).filter_map(|number| read(*number)));
        }
        Self { processes: found_below(own, all) }
    }

    /// Looks for a moment only: what happens next must not wait for it.
    pub(super) fn for_a_moment() -> Self {
        let until = Instant::now() + MOMENT;
        Self::through(&[], &|| Instant::now() < until)
    }

    /// Those that run.
    pub fn alive(&self) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter(|process| process.is_alive())
    }

    /// The numbers of those that run.
    pub fn numbers(&self) -> Vec<i32> {
        self.alive().map(|process| process.pid).collect()
    }

    /// What all of them use.
    pub fn usage(&self) -> Usage {
        let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
        let mut sum = Usage::default();
        for process in &self.processes {
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
}

/// How long a look takes at most where something waits for it (ours).
const MOMENT: Duration = Duration::from_millis(100);

/// What the whole machine tells of its processes, in one short line (`/proc/loadavg`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineLoad {
    /// How many processes and threads there are, with remains.
    pub tasks: usize,
    /// The number of the newest.
    pub newest: i32,
}

impl MachineLoad {
    /// As it is; `None` where it does not tell.
    pub fn now() -> Option<Self> {
        Self::of(&fs::read_to_string("/proc/loadavg").ok()?)
    }

    fn of(load: &str) -> Option<Self> {
        let mut fields = load.split_whitespace().skip(3);
        let (_, tasks) = fields.next()?.split_once('/')?;
        let tasks = tasks.parse().ok().filter(|tasks| *tasks > 0)?;
        Some(Self { tasks, newest: fields.next()?.parse().ok()? })
    }

    /// Whether nearly all of the newest processes are below this one, as far as that is soon seen: through who leads their session, or through
    /// their parents. Each of them costs time that is scarce when this is asked.
    pub fn newest_are_below(self) -> bool {
        let numbers = (self.newest - NEWEST..=self.newest).rev();
        let found: Vec<Process> = numbers.filter_map(read).take(SOME).collect();
        let own = found.iter().filter(|process| is_near(process.session) || is_near(process.parent)).count();
        found.len() == SOME && own * 4 >= SOME * 3
    }
}

/// So many numbers are tried for the newest processes, and so many of those that are there are looked at (ours).
const NEWEST: i32 = 256;
const SOME: usize = 12;

/// Whether a process is below this one, and not deep.
fn is_near(process: i32) -> bool {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let parents = std::iter::successors(read(process), |process| read(process.parent));
    parents.take(NEAR).any(|process| process.parent == own)
}

/// So many parents are asked for theirs (ours).
const NEAR: usize = 4;

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

/// The process of that number, if there is one.
pub(super) fn read(pid: i32) -> Option<Process> {
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
        session: small(3)?,
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
        assert_eq!(process.session, 12);
    }

    #[test]
    fn what_the_machine_tells_of_its_processes_is_read() {
        let machine = MachineLoad { tasks: 100, newest: 11_206 };
        assert_eq!(MachineLoad::of("0.20 0.18 0.12 3/100 11206\n"), Some(machine));
        for unknown in ["", "0.20 0.18", "0.00 0.00 0.00 0/0 0", "0.20 0.18 0.12 3 11206"] {
            assert_eq!(MachineLoad::of(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_look_ends_when_it_is_told_to_and_what_is_known_is_seen_all_the_same() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let asked = std::cell::Cell::new(0);
        let not_even_one = || asked.replace(asked.get() + 1) > 0;
        let found = ProcessScan::through(&[pid], &not_even_one).numbers();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, [pid]);
        let nothing = ProcessScan::through(&[pid], &|| false).numbers();
        assert!(nothing.is_empty());
    }

    fn process(pid: i32, parent: i32) -> Process {
        Process { pid, parent, session: pid, state: 'S', threads: 1, pages: 1 }
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
}
