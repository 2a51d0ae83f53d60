//! What we are asked by signals, remembered until somebody looks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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
    interrupted: Arc<AtomicBool>,
}

impl Signals {
    /// From now on signals that ask for an end are remembered instead of obeyed. Those of the keyboard go to the command as well, which
    /// decides what they mean.
    pub fn remembered() -> Result<Self, SuperviseError> {
        let fail = SuperviseError::restriction::<std::io::Error>;
        let signals = Self { asked: Arc::default(), interrupted: Arc::default() };
        for signal in [libc::SIGTERM, libc::SIGHUP] {
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(&signals.asked), number)
                .map_err(fail("signals"))?;
        }
        for signal in [libc::SIGINT, libc::SIGQUIT] {
            signal_hook::flag::register(signal, Arc::clone(&signals.interrupted)).map_err(fail("signals"))?;
        }
        Ok(signals)
    }

    /// Whether somebody asked for an end, or interrupted us, since this was last asked; the signal.
    pub fn asked(&self) -> Option<i32> {
        self.taken().or_else(|| self.interrupted().then_some(libc::SIGINT))
    }

    /// Whether somebody interrupted us at the keyboard since this was last asked.
    pub fn interrupted(&self) -> bool {
        self.interrupted.swap(false, Ordering::Relaxed)
    }

    /// The last signal that asked for an end, once.
    pub fn taken(&self) -> Option<i32> {
        i32::try_from(self.asked.swap(0, Ordering::Relaxed)).ok().filter(|number| *number != 0)
    }
}
