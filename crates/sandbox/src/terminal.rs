//! A terminal between ours and the agent, so that it works as if it were alone.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::stdio::stdin;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize,
};

use crate::error::SuperviseError;

/// Our side of a pseudo-terminal, and how our own terminal was before.
#[derive(Debug)]
pub struct Terminal {
    master: Option<OwnedFd>,
    before: Termios,
    interrupts: Arc<AtomicUsize>,
}

static CHANGED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Whether the size of our window changed since this was last asked.
pub fn window_changed() -> bool {
    let changed = CHANGED.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(true));
        drop(signal_hook::flag::register(libc::SIGWINCH, Arc::clone(&flag)));
        flag
    });
    changed.swap(false, Ordering::Relaxed)
}

impl Terminal {
    /// Our own terminal as it is; `None` when input comes from elsewhere.
    pub fn own() -> Option<Self> {
        tcgetattr(stdin()).ok().map(|before| Self { master: None, before, interrupts: Arc::default() })
    }

    /// A new terminal of the size of ours, and the end for the agent. Ours passes every key on from now on.
    pub fn open() -> Result<(Self, OwnedFd), SuperviseError> {
        let fail = SuperviseError::restriction::<rustix::io::Errno>;
        let before = tcgetattr(stdin()).map_err(fail("the terminal"))?;
        let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .map_err(fail("a terminal"))?;
        rustix::pty::grantpt(&master).map_err(fail("a terminal"))?;
        rustix::pty::unlockpt(&master).map_err(fail("a terminal"))?;
        let name = rustix::pty::ptsname(&master, Vec::new()).map_err(fail("a terminal"))?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let inner = rustix::fs::open(name, flags, Mode::empty()).map_err(fail("a terminal"))?;
        let terminal = Self { master: Some(master), before, interrupts: Arc::default() };
        terminal.take_size();
        let mut raw = terminal.before.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Now, &raw).map_err(fail("the terminal"))?;
        Ok((terminal, inner))
    }

    /// Gives the agent's terminal the size of ours.
    pub fn take_size(&self) {
        if let (Some(master), Ok(size)) = (&self.master, tcgetwinsize(stdin())) {
            let _ = tcsetwinsize(master, size);
        }
    }

    /// Gives our terminal back as it was.
    pub fn restore(&self) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }

    /// What the agent writes.
    pub fn output(&self) -> Result<File, SuperviseError> {
        let master =
            self.master.as_ref().ok_or_else(|| SuperviseError::restriction("a terminal")("it is our own"))?;
        master.try_clone().map(File::from).map_err(SuperviseError::restriction("a terminal"))
    }

    /// How often somebody interrupted the agent at the keyboard since this was last asked. What an agent reads as a key is none.
    pub fn interrupted(&self) -> usize {
        self.interrupts.swap(0, Ordering::Relaxed)
    }

    /// Passes on what is typed, until we end.
    pub fn pass_input_on(&self) -> Result<(), SuperviseError> {
        let mut to = self.output()?;
        let mut from =
            File::from(rustix::io::dup(stdin()).map_err(SuperviseError::restriction("the terminal"))?);
        let interrupts = Arc::clone(&self.interrupts);
        let passing = thread::Builder::new().name("input".to_owned()).spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count) = from.read(&mut buffer) {
                let typed = buffer.get(..count).unwrap_or_default();
                // Asked before: the agent may answer by taking the keys for itself.
                let presses = interrupts_among(typed, &to);
                if count == 0 || to.write_all(typed).is_err() {
                    return;
                }
                interrupts.fetch_add(presses, Ordering::Relaxed);
            }
        });
        passing.map_err(SuperviseError::restriction("what passes input on"))?;
        Ok(())
    }
}

/// How many of these keys the agent's terminal turns into a signal that interrupts.
fn interrupts_among(typed: &[u8], master: &File) -> usize {
    let Ok(modes) = tcgetattr(master) else { return 0 };
    if !modes.local_modes.contains(LocalModes::ISIG) {
        return 0;
    }
    let keys = [SpecialCodeIndex::VINTR, SpecialCodeIndex::VQUIT].map(|key| modes.special_codes[key]);
    // A key that is switched off is the byte 0.
    typed.iter().filter(|typed| **typed != 0 && keys.contains(typed)).count()
}
