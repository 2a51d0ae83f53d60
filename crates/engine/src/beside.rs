//! Processes of this program that are started beside a call, and that nobody waits for.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use checkrein_protocol::AbsolutePath;

/// The program that is started, in the folder of the one that runs.
const PROGRAM: &str = "checkrein";

/// The processes that were started; each is waited for once it has ended, so that none of them stays behind.
#[derive(Debug, Clone, Default)]
pub struct SharedProcesses(Arc<Mutex<Vec<Child>>>);

impl SharedProcesses {
    /// Those that are started with these variables in this directory, instead of with those of this process.
    pub(crate) fn with(
        &self,
        variables: Arc<BTreeMap<String, String>>,
        directory: AbsolutePath,
    ) -> ProcessesBeside {
        ProcessesBeside { started: self.clone(), surroundings: Some((variables, directory)) }
    }
}

/// What starts them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProcessesBeside {
    started: SharedProcesses,
    /// Variables and directory; `None` takes those of this process.
    surroundings: Option<(Arc<BTreeMap<String, String>>, AbsolutePath)>,
}

impl ProcessesBeside {
    /// Starts `checkrein` with these words; `own` is the program that runs, when known.
    ///
    /// # Errors
    ///
    /// Where it is not known, or the process cannot be started.
    pub(crate) fn start(&self, own: Option<&Path>, words: &[&str]) -> io::Result<()> {
        let own = own.ok_or_else(|| io::Error::other("this program is not known"))?;
        let mut command = Command::new(own.with_file_name(PROGRAM));
        if let Some((variables, directory)) = &self.surroundings {
            command.env_clear().envs(variables.as_ref()).current_dir(directory.as_str());
        }
        // A group of its own: what stops the hook or the client does not stop it.
        let child = command
            .args(words)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut started = self.started.0.lock().unwrap_or_else(PoisonError::into_inner);
        started.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        started.push(child);
        Ok(())
    }
}
