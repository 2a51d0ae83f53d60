//! Samples what an agent uses, in a thread of its own. Looking through all processes takes longer the more there are, and gets less time
//! the more of them run. The end of a run must not wait for that.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use checkrein_sandbox::Bytes;
use checkrein_sandbox::SuperviseError;
use checkrein_sandbox::memory::MemoryFiles;
use checkrein_sandbox::process_tree::{MachineLoad, ProcessScan, Usage};
use checkrein_sandbox::shared_segments::SharedSegments;

/// How often it is looked: reading all of `/proc` costs some milliseconds.
const PACE: Duration = Duration::from_millis(250);

/// How often it is looked whether the machine has many more processes than before.
const GLANCE: Duration = Duration::from_millis(50);

/// For so long what the machine had is remembered: who starts thousands of processes in that time is not waited for.
const MEMORY: usize = 20;

/// Between two looks at least so many times as long passes as the first of them took (ours).
const SPARING: u32 = 2;

/// A thread that looks; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Sampling {
    latest: Arc<Mutex<Option<Usage>>>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sampling {
    /// Begins, with memory in `files` counted where there is a limit for it. To be called when no other process has to be split off any more.
    pub(crate) fn start(
        limits: Limits,
        files: MemoryFiles,
        segments: Arc<Mutex<SharedSegments>>,
    ) -> Result<Self, SuperviseError> {
        let latest = Arc::default();
        let (end, ended) = channel();
        let seen = Arc::clone(&latest);
        let thread = Builder::new().name("sampling".to_owned());
        let thread = thread.spawn(move || sample(limits, files, &segments, &seen, &ended));
        let thread = thread.map_err(SuperviseError::restriction("what looks at the processes"))?;
        Ok(Self { latest, end: Some(end), thread: Some(thread) })
    }

    /// What was seen last; `None` before the first look is over.
    pub(crate) fn latest(&self) -> Option<Usage> {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// What is limited of what is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Memory.
    pub(crate) memory: Option<Bytes>,
    /// Processes and threads.
    pub(crate) tasks: Option<u32>,
}

fn sample(
    limits: Limits,
    mut files: MemoryFiles,
    segments: &Mutex<SharedSegments>,
    seen: &Mutex<Option<Usage>>,
    ended: &Receiver<()>,
) {
    let own = || segments.lock().unwrap_or_else(PoisonError::into_inner);
    let go_on = || ended.try_recv() != Err(TryRecvError::Disconnected);
    let mut known = Vec::new();
    let mut machine = VecDeque::new();
    loop {
        let began = Instant::now();
        let look = ProcessScan::through(&known, &go_on);
        let usage = look.usage();
        own().look();
        let usage =
            limits.memory.map_or(usage, |limit| files.added_to(usage, limit, &go_on).with(own().detached()));
        if !go_on() {
            return;
        }
        known = look.numbers();
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(usage);
        let next = Instant::now() + PACE.max(began.elapsed() * SPARING);
        while Instant::now() < next {
            if ended.recv_timeout(GLANCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            // Whoever makes a segment may end at once.
            own().look();
            if let Some(tasks) = limits.tasks.and_then(|limit| flood(&mut machine, limit)) {
                *seen.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(Usage { threads: tasks, remains: 0, ..usage });
                return;
            }
        }
    }
}

/// How many processes and threads came in a moment, when they are more than may be there and nearly all of the newest are below this process.
/// By the time that all of them were looked at, there would be many times as many.
fn flood(before: &mut VecDeque<usize>, limit: u32) -> Option<usize> {
    let now = MachineLoad::now()?;
    let least = before.iter().min().copied().unwrap_or(now.tasks);
    if before.len() >= MEMORY {
        before.pop_front();
    }
    before.push_back(now.tasks);
    let more = now.tasks.saturating_sub(least);
    (more > limit as usize && now.newest_are_below()).then_some(more)
}
