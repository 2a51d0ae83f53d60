//! A process of a step: its outputs go to files, it ends in time, and it ends with whoever waits for it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_sandbox::end_with_parent;
use rustix::process::{Pid, Signal, kill_process};

/// The longest output of a step, in bytes (ours).
const LONGEST: u64 = 64 << 20;
/// What a pipe of Linux holds, in bytes.
const PIPE: usize = 64 << 10;
/// How often a process is looked at.
const BEAT: Duration = Duration::from_millis(10);
/// How long a process has to end after it was asked to (ours): `checkrein run` asks its agent first.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a process works with.
pub(super) struct StepProcess<'a> {
    /// The command, without its streams.
    pub(super) command: Command,
    /// What it reads.
    pub(super) input: StepInput<'a>,
    /// Where its outputs go: `output.txt` and `errors.txt` in this folder.
    pub(super) folder: &'a Path,
    /// How long it may take.
    pub(super) time: Duration,
    /// Whether everything is to end.
    pub(super) stop: &'a AtomicBool,
}

/// What a process reads.
#[derive(Clone, Copy)]
pub(super) enum StepInput<'a> {
    /// Nothing.
    Nothing,
    /// This file.
    File(&'a Path),
    /// This text, which is written nowhere: as long as a pipe holds at once at most, 64 KiB.
    Text(&'a str),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessEnd {
    /// With this status; with 128 and more by a signal.
    Exited(u8),
    /// Its time was over.
    TookTooLong,
    /// It wrote more than is kept.
    WroteTooMuch,
    /// Everything was to end.
    Stopped,
}

/// The outputs of a process.
pub(super) fn output_files(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("output.txt"), folder.join("errors.txt"))
}

impl StepProcess<'_> {
    /// Runs it to its end. It ends with the thread that called.
    pub(super) fn run(mut self) -> io::Result<ProcessEnd> {
        let (output, errors) = output_files(self.folder);
        let input = match self.input {
            StepInput::File(path) => Stdio::from(File::open(path)?),
            StepInput::Nothing => Stdio::null(),
            StepInput::Text(text) => {
                if text.len() > PIPE {
                    return Err(io::Error::other("it is longer than a pipe holds"));
                }
                let (reader, mut writer) = io::pipe()?;
                writer.write_all(text.as_bytes())?;
                Stdio::from(reader)
            }
        };
        self.command.stdin(input).stdout(private(&output)?).stderr(private(&errors)?);
        end_with_parent(&mut self.command);
        let mut child = self.command.spawn()?;
        let deadline = Instant::now() + self.time;
        loop {
            if let Some(status) = child.try_wait()? {
                let number = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
                return Ok(ProcessEnd::Exited(u8::try_from(number).unwrap_or(1)));
            }
            let length = |path: &Path| fs::metadata(path).map_or(0, |facts| facts.len());
            let why = if self.stop.load(Ordering::Relaxed) {
                Some(ProcessEnd::Stopped)
            } else if Instant::now() >= deadline {
                Some(ProcessEnd::TookTooLong)
            } else if length(&output).max(length(&errors)) > LONGEST {
                Some(ProcessEnd::WroteTooMuch)
            } else {
                None
            };
            if let Some(why) = why {
                end(&mut child)?;
                return Ok(why);
            }
            thread::sleep(BEAT);
        }
    }
}

/// Asks a process to end, then ends it. What supervises ends what is below it.
fn end(child: &mut Child) -> io::Result<()> {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::TERM);
    }
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        thread::sleep(BEAT);
    }
    child.kill()?;
    child.wait().map(drop)
}

/// A new file for the owner alone.
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// The end of a file, of at most so many bytes.
pub(super) fn tail(path: &Path, most: u64) -> String {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}
