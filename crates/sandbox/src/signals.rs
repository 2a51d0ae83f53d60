//! What we are asked by signals, remembered until somebody looks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::SuperviseError;

/// From now on a file that may not grow any further is an error of the write, and not the end of this process.
#[expect(unsafe_code, reason = "no safe crate ignores a signal")]
pub fn ignore_file_size_signal() {
    // SAFETY: the signal gets no handler of ours, so nothing of ours runs in one. That it cannot fail for this signal is in its manual.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// The signals that ask a process to end, and those of the keyboard.
#[derive(Debug)]
pub struct Signals {
    asked: Arc<AtomicUsize>,
    interrupted: Arc<AtomicUsize>,
}

impl Signals {
    /// From now on signals that ask for an end are remembered instead of obeyed. Those of the keyboard go to the command as well, which
    /// decides what they mean.
    pub fn remembered() -> Result<Self, SuperviseError> {
        let fail = SuperviseError::restriction::<std::io::Error>;
        let signals = Self { asked: Arc::default(), interrupted: Arc::default() };
        let remembered = [
            (libc::SIGTERM, &signals.asked),
            (libc::SIGHUP, &signals.asked),
            (libc::SIGINT, &signals.interrupted),
            (libc::SIGQUIT, &signals.interrupted),
        ];
        for (signal, last) in remembered {
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(last), number).map_err(fail("signals"))?;
        }
        Ok(signals)
    }

    /// Whether somebody asked for an end, or interrupted us, since this was last asked; the signal.
    pub fn asked(&self) -> Option<i32> {
        self.taken().or_else(|| self.interrupted())
    }

    /// The last signal of the keyboard, an interrupt or a request to quit, once.
    pub fn interrupted(&self) -> Option<i32> {
        last(&self.interrupted)
    }

    /// The last signal that asked for an end, once.
    pub fn taken(&self) -> Option<i32> {
        last(&self.asked)
    }
}

/// The number that was remembered last; none is remembered from then on.
fn last(remembered: &AtomicUsize) -> Option<i32> {
    i32::try_from(remembered.swap(0, Ordering::Relaxed)).ok().filter(|number| *number != 0)
}
