//! The processes below this one: found, measured, ended.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read as _;
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
    Look::through(&[], &|| true).usage()
}

/// The processes below this one that are alive.
pub(crate) fn alive_below() -> Vec<i32> {
    Look::through(&[], &|| true).alive().map(|process| process.pid).collect()
}

/// How many processes below this one are alive, as far as that can be seen in a moment.
pub(crate) fn count_alive() -> usize {
    Look::for_a_moment().alive().count()
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
/// ends a group as a whole and lets no fork through meanwhile. Looking through all processes takes the longer the more there are, and gets
/// the less time the more of them run, so it never takes longer than a moment.
pub fn end_all(patience: Duration) -> Ended {
    let deadline = Instant::now() + patience;
    let mut ended = HashSet::new();
    let mut orphans = Orphans::default();
    loop {
        // Everything below comes to us as an orphan, so without a child there is nothing; looking through all processes takes longer.
        orphans.reap();
        if has_no_child() {
            return Ended { count: ended.len(), left: 0 };
        }
        let look = Look::for_a_moment();
        let found: Vec<&Process> = look.alive().collect();
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
pub(crate) fn signal_all(signal: Signal) {
    for process in Look::for_a_moment().alive() {
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
    Look::through(&[], &|| true).processes.iter().any(|found| found.pid == process)
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
    let look = Look::through(&[], &|| true);
    look.alive().filter_map(|process| Pid::from_raw(process.pid)).filter(is_member).collect()
}

/// The process with the number 2 in the namespace whose first process is `first`: the one that it started itself.
pub(crate) fn second_in_namespace(first: Pid) -> Option<Pid> {
    let first = first.as_raw_nonzero().get();
    let is_second = |process: &i32| {
        let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let numbers = text.lines().find_map(|line| line.strip_prefix("NSpid:"));
        numbers.and_then(|numbers| numbers.split_whitespace().last()) == Some("2")
    };
    let children = listed(std::path::Path::new(&format!("/proc/{first}/task/{first}/children")));
    let found = children.into_iter().find(is_second).or_else(|| {
        // Not every kernel has that list.
        let all = Look::for_a_moment().processes;
        let mut children = all.iter().filter(|process| process.parent == first).map(|process| process.pid);
        children.find(is_second)
    });
    Pid::from_raw(found?)
}

/// Whether something has ended and was not taken away yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remains {
    /// All was taken away.
    Gone,
    /// There is more than was taken away at once.
    Left,
}

/// What was taken away.
#[derive(Debug)]
pub(crate) struct Reaped {
    /// The processes, and how they ended.
    pub(crate) ended: Vec<(Pid, WaitStatus)>,
    /// Whether there may be more.
    pub(crate) remains: Remains,
}

/// Takes away what has ended, so that nothing stays as a zombie, and not all of it at once: where processes end faster than they are taken
/// away, whoever calls this has something else to look at as well.
pub(crate) fn reap() -> Reaped {
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

/// One process, as `/proc/PID/stat` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
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

/// A look through all processes, for those below this one and the remains of those that ended.
#[derive(Debug, Default)]
pub(crate) struct Look {
    processes: Vec<Process>,
}

impl Look {
    /// Looks as long as `go_on` says so. Who forks and ends without a pause gets higher numbers faster than they are read, so a list of all
    /// processes need not have an end: not many more are read than there are. Those that are `known` are looked at wherever the list ended.
    pub(crate) fn through(known: &[i32], go_on: &dyn Fn() -> bool) -> Self {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let mut numbers = names.filter_map(|name| name.to_str()?.parse::<i32>().ok());
        let most = fs::read_to_string("/proc/loadavg").ok().as_deref().and_then(most_to_read);
        let mut left = most.unwrap_or(usize::MAX);
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
    fn for_a_moment() -> Self {
        let until = Instant::now() + MOMENT;
        Self::through(&[], &|| Instant::now() < until)
    }

    /// Those that run.
    pub(crate) fn alive(&self) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter(|process| process.is_alive())
    }

    /// The numbers of those that run.
    pub(crate) fn numbers(&self) -> Vec<i32> {
        self.alive().map(|process| process.pid).collect()
    }

    /// What all of them use.
    pub(crate) fn usage(&self) -> Usage {
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

/// How many processes are read at most, from `/proc/loadavg`, which tells how many there are, with their threads and their remains. What
/// begins and ends meanwhile comes on top. `None` where it does not tell.
fn most_to_read(load: &str) -> Option<usize> {
    let (_, all) = load.split(' ').nth(3)?.split_once('/')?;
    let all: usize = all.parse().ok().filter(|all| *all > 0)?;
    Some(all * 2 + 1024)
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

    #[test]
    fn not_many_more_processes_are_read_than_there_are() {
        assert_eq!(most_to_read("0.20 0.18 0.12 3/100 11206\n"), Some(1224));
        for unknown in ["", "0.20 0.18", "0.00 0.00 0.00 0/0 0", "0.20 0.18 0.12 3 11206"] {
            assert_eq!(most_to_read(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_look_ends_when_it_is_told_to_and_what_is_known_is_seen_all_the_same() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let asked = std::cell::Cell::new(0);
        let not_even_one = || asked.replace(asked.get() + 1) > 0;
        let found = Look::through(&[pid], &not_even_one).numbers();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, [pid]);
        let nothing = Look::through(&[pid], &|| false).numbers();
        assert!(nothing.is_empty());
    }

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
