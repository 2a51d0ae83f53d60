//! Keeps those who supervise at it: whoever is supervised belongs to the same user, and may stop them as well as end them.
//!
//! No process can refuse to be stopped. So the kernel is asked for timers, which run on in a process that is stopped or traced. Some
//! continue it, again and again. One ends it, unless it says often enough that it still runs. What it supervises ends then too, as after
//! any other death of it.

use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use crate::error::SuperviseError;

/// How often a process that was stopped is continued (ours).
const WAKING: Duration = Duration::from_millis(100);

/// When the others of the timers fire that continue a process, in parts of the first, counted from the last beat (ours). A signal of a timer
/// that is still waiting when the process is stopped once more is lost, and the kernel then sends no other for that timer. So each is
/// good for a time in which others keep stopping it, and all of them are set anew when it runs.
const LATER: [u32; 7] = [2, 4, 8, 16, 32, 64, 128];

/// How long a process may not run before it ends (ours): longer than a machine under load makes it wait.
const ENDING: Duration = Duration::from_secs(20);

/// How often a process says that it runs (ours).
const BEAT: Duration = Duration::from_millis(20);

/// How late that may be to count (ours). Who is continued by the timer alone, and stopped again at once, gets through a few calls of the
/// kernel with each waking, and a beat takes it several of them.
const LATE: Duration = Duration::from_millis(200);

/// How many beats in a row have to be in time before a process is taken to run (ours).
const STEADY: u32 = 10;

/// The timers of this process; they are gone when it is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    waking: Timer,
    waking_later: Vec<Timer>,
    ending: Timer,
    every: Duration,
    within: Duration,
    last: Instant,
    /// When the timers that continue this process were set.
    set: Instant,
    /// Beats in a row that were in time.
    steady: u32,
}

impl Heartbeat {
    /// Begins to wake this process, and to end it when it does not say often enough that it runs.
    pub fn start() -> Result<Self, SuperviseError> {
        Self::with(WAKING, ENDING).map_err(SuperviseError::restriction("what keeps supervision running"))
    }

    fn with(waking: Duration, ending: Duration) -> std::io::Result<Self> {
        // One that is ignored would not be sent. The other one is typed at the keyboard, and stops the job that it is meant for: not those who
        // have to look after it.
        for signal in [libc::SIGCONT, libc::SIGTSTP] {
            signal_hook::flag::register(signal, Arc::default())?;
        }
        let heartbeat = Self {
            waking: Timer::new(libc::SIGCONT)?,
            waking_later: LATER.iter().map(|_| Timer::new(libc::SIGCONT)).collect::<Result<_, _>>()?,
            ending: Timer::new(libc::SIGKILL)?,
            every: waking,
            within: ending,
            last: Instant::now(),
            set: Instant::now(),
            steady: 0,
        };
        heartbeat.set_waking();
        heartbeat.ending.set(ending, Duration::ZERO);
        Ok(heartbeat)
    }

    fn set_waking(&self) {
        self.waking.set(self.every, self.every);
        for (timer, parts) in self.waking_later.iter().zip(LATER) {
            timer.set(self.every * parts, self.every);
        }
    }

    /// Says that this process runs; to be said every 20 ms. Who only runs for moments, since others stop it without a pause, says so in vain.
    pub fn beat(&mut self) {
        self.steady = if self.last.elapsed() < LATE { self.steady + 1 } else { 0 };
        self.last = Instant::now();
        if self.set.elapsed() >= self.every {
            self.set = self.last;
            self.set_waking();
        }
        if self.steady >= STEADY {
            self.steady = 0;
            self.ending.set(self.within, Duration::ZERO);
        }
    }
}

/// Says for as long as it lives that this process runs: a thread of it, which has nothing else to wait for.
#[derive(Debug)]
pub struct Beating {
    _stop: std::sync::mpsc::Sender<()>,
}

impl Beating {
    /// Begins. To be called when no other process has to be split off any more.
    pub fn start() -> Result<Self, SuperviseError> {
        let mut heartbeat = Heartbeat::start()?;
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let beat = move || {
            while stopped.recv_timeout(BEAT) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                heartbeat.beat();
            }
        };
        let thread = std::thread::Builder::new().name("heartbeat".to_owned()).spawn(beat);
        thread.map_err(SuperviseError::restriction("what keeps supervision running"))?;
        Ok(Self { _stop: stop })
    }
}

/// Gives this process one of the names of those who supervise or confine.
pub fn be_known_as(name: &str) {
    let name = std::ffi::CString::new(name).unwrap_or_default();
    let _ = rustix::thread::set_name(&name);
}

/// Nobody else of the same user may trace this process, or read its memory and its environment. Not inherited by programs that it starts.
pub fn cannot_be_traced() {
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Takes that back, for a process that has to be its own for the kernel.
pub fn can_be_traced() {
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable);
}

/// Who traces a process, if anybody does.
pub fn tracer_of(process: Pid) -> Option<Pid> {
    let text = std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).ok()?;
    let tracer = text.lines().find_map(|line| line.strip_prefix("TracerPid:"))?;
    Pid::from_raw(tracer.trim().parse().ok().filter(|tracer| *tracer > 0)?)
}

/// A timer of the kernel that sends this process a signal.
#[derive(Debug)]
struct Timer(libc::timer_t);

#[expect(unsafe_code, reason = "no safe crate makes timers that send signals")]
// SAFETY: the value is a name that the kernel knows this timer by, for all threads of the process.
unsafe impl Send for Timer {}

impl Timer {
    #[expect(unsafe_code, reason = "as the type")]
    fn new(signal: libc::c_int) -> std::io::Result<Self> {
        let mut timer: libc::timer_t = null_mut();
        // SAFETY: the structure is numbers and a pointer that this kind of notification does not use, for which zero is a value; both
        // pointers are to what lives until the call returns.
        let made = unsafe {
            let mut event: libc::sigevent = zeroed();
            event.sigev_notify = libc::SIGEV_SIGNAL;
            event.sigev_signo = signal;
            libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer)
        };
        if made == 0 { Ok(Self(timer)) } else { Err(std::io::Error::last_os_error()) }
    }

    #[expect(unsafe_code, reason = "as the type")]
    fn set(&self, first: Duration, then: Duration) {
        let time = |time: Duration| libc::timespec {
            tv_sec: time.as_secs().try_into().unwrap_or(i32::MAX.into()),
            tv_nsec: time.subsec_nanos().into(),
        };
        let times = libc::itimerspec { it_interval: time(then), it_value: time(first) };
        // SAFETY: the timer lives as long as this value; the kernel reads the times, and is not asked for the ones before.
        unsafe { libc::timer_settime(self.0, 0, &raw const times, null_mut()) };
    }
}

impl Drop for Timer {
    #[expect(unsafe_code, reason = "as the type")]
    fn drop(&mut self) {
        // SAFETY: made by `new`, and deleted nowhere else.
        unsafe { libc::timer_delete(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Signal, WaitOptions};

    use super::*;

    /// A process that begins with a heartbeat of such times, and then does what it is told.
    #[expect(unsafe_code, reason = "no safe crate forks")]
    fn child(waking: Duration, ending: Duration, then: fn(&Heartbeat)) -> Pid {
        // SAFETY: the new process only makes timers and sleeps, and ends without running anything of ours.
        let number = unsafe { libc::fork() };
        if number == 0 {
            let heartbeat = Heartbeat::with(waking, ending);
            if let Ok(heartbeat) = &heartbeat {
                then(heartbeat);
            }
            // SAFETY: as above.
            unsafe { libc::_exit(i32::from(heartbeat.is_err())) };
        }
        Pid::from_raw(number).unwrap()
    }

    #[test]
    fn who_is_stopped_goes_on() {
        let minute = Duration::from_mins(1);
        let process = child(Duration::from_millis(5), minute, |_| {
            // SAFETY: sends this process a signal.
            #[expect(unsafe_code, reason = "no handler of a library is wanted here")]
            unsafe {
                libc::raise(libc::SIGSTOP);
                libc::raise(libc::SIGTSTP);
            }
        });
        let (_, status) = rustix::process::waitpid(Some(process), WaitOptions::empty()).unwrap().unwrap();
        assert_eq!(status.exit_status(), Some(0), "{status:?}");
    }

    /// Each stop loses the signal of a timer that waits at that moment, and with it all later ones of that timer.
    #[test]
    fn who_is_stopped_many_times_over_goes_on() {
        let process = child(Duration::from_millis(50), Duration::from_mins(1), |_| {
            std::thread::sleep(Duration::from_millis(900));
        });
        // It has its timers by then.
        std::thread::sleep(Duration::from_millis(300));
        let until = Instant::now() + Duration::from_millis(400);
        while Instant::now() < until {
            rustix::process::kill_process(process, Signal::STOP).unwrap();
        }
        let given_up = Instant::now() + Duration::from_secs(20);
        let status = loop {
            if let Some((_, status)) = rustix::process::waitpid(Some(process), WaitOptions::NOHANG).unwrap() {
                break Some(status);
            }
            if Instant::now() > given_up {
                rustix::process::kill_process(process, Signal::KILL).unwrap();
                break None;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        assert_eq!(status.and_then(rustix::process::WaitStatus::exit_status), Some(0), "{status:?}");
    }

    #[test]
    fn who_does_not_run_any_more_ends() {
        let process = child(Duration::from_mins(1), Duration::from_millis(20), |_| {
            // SAFETY: sends this process a signal.
            #[expect(unsafe_code, reason = "no handler of a library is wanted here")]
            unsafe {
                libc::raise(libc::SIGSTOP);
            }
        });
        let (_, status) = rustix::process::waitpid(Some(process), WaitOptions::empty()).unwrap().unwrap();
        assert_eq!(status.terminating_signal(), Some(Signal::KILL.as_raw()), "{status:?}");
    }
}
