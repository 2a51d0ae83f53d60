//! Processes of this program that are started beside a call, and that nobody waits for.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The program that is started, in the folder of the one that runs.
const PROGRAM: &str = "checkrein";

/// The processes that were started; each is waited for once it has ended, so that none of them stays behind.
#[derive(Debug, Default)]
pub(crate) struct ProcessesBeside {
    started: Mutex<Vec<Child>>,
}

impl ProcessesBeside {
    /// Starts `checkrein` with these words; `own` is the program that runs, when known.
    ///
    /// # Errors
    ///
    /// Where it is not known, or the process cannot be started.
    pub(crate) fn start(&self, own: Option<&Path>, words: &[&str]) -> io::Result<()> {
        let own = own.ok_or_else(|| io::Error::other("this program is not known"))?;
        // A group of its own: what stops the hook or the client does not stop it.
        let child = Command::new(own.with_file_name(PROGRAM))
            .args(words)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        started.push(child);
        Ok(())
    }
}
