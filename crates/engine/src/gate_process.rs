//! Who runs a gate: something that is handed in. Reading code as syntax trees and asking git for what changed takes a process of its own.

use std::fmt;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use checkrein_protocol::{AbsolutePath, Timestamp};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

/// The program that runs gates, beside this one.
const PROGRAM: &str = "checkrein";

/// The longest answer that is read, in bytes (ours).
const LONGEST: u64 = 1 << 20;

/// What a gate is to look at.
#[derive(Debug)]
pub struct GateTask<'a> {
    /// The gate.
    pub gate: &'a str,
    /// The workspace.
    pub workspace: &'a AbsolutePath,
    /// What of it.
    pub span: GateSpan<'a>,
    /// How long it may take.
    pub time: Duration,
}

/// What of a workspace a gate is to look at.
#[derive(Debug, Clone, Copy)]
pub enum GateSpan<'a> {
    /// What a session changed.
    Session {
        /// The commit that was checked out when it began; `None` where there was none.
        commit: Option<&'a str>,
        /// When it began: what was changed before is not its own.
        begun: Timestamp,
    },
    /// What no remote has yet.
    Unpushed,
}

/// What a gate says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct GateReport {
    /// Whether it passed.
    pub passed: bool,
    /// What was found.
    pub findings: Vec<ReportedFinding>,
    /// What it did not look at.
    pub not_examined: Vec<NotLookedAt>,
    /// What it could not look at as a whole.
    #[serde(default)]
    pub not_run: Vec<NotRunPart>,
}

/// A part of a gate that did not run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NotRunPart {
    /// What.
    pub what: String,
    /// Why.
    pub cause: String,
}

/// Something that a gate found.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReportedFinding {
    /// The file, from the root of the workspace.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What it is: one word.
    pub kind: String,
    /// `error` or `warning`.
    pub weight: String,
    /// The function; empty outside of one.
    pub function: String,
    /// The code that shows it.
    pub text: String,
    /// What was seen.
    pub seen: String,
    /// What to do about it.
    pub advice: String,
}

/// A file that a gate did not look at.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NotLookedAt {
    /// The file, from the root of the workspace.
    pub path: String,
    /// Why.
    pub cause: String,
    /// Whether that fails the gate.
    pub fails: bool,
}

/// What runs gates.
pub trait GateRunner: fmt::Debug + Send + Sync {
    /// Runs a gate within its time. `program` is this one, when known.
    ///
    /// # Errors
    ///
    /// When it did not run to its end; the cause, in words.
    fn run(&self, task: &GateTask<'_>, program: Option<&Path>) -> Result<GateReport, String>;
}

/// Runs `checkrein gate` as a process of its own, and ends it when its time is over.
#[derive(Debug, Default)]
pub struct GateProcess;

impl GateRunner for GateProcess {
    fn run(&self, task: &GateTask<'_>, program: Option<&Path>) -> Result<GateReport, String> {
        let own = program.ok_or("this program is not known")?;
        let mut command = Command::new(own.with_file_name(PROGRAM));
        command.args(["--json", "gate", task.gate]);
        match task.span {
            GateSpan::Session { commit, begun } => {
                command.args(["--begun", &begun.0.to_string()]);
                if let Some(commit) = commit {
                    command.args(["--since", commit]);
                }
            }
            GateSpan::Unpushed => {
                command.arg("--unpushed");
            }
        }
        let mut child = command
            .current_dir(task.workspace.as_str())
            // What it starts ends with it.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("`{PROGRAM}` could not be started: {error}"))?;
        let answer = answer_of(&mut child, task.time);
        end(&mut child);
        let (said, complaint) = answer?;
        serde_json::from_slice(&said).map_err(|_| {
            let words = String::from_utf8_lossy(&complaint);
            let first = words.lines().find(|line| !line.trim().is_empty());
            first.map_or_else(|| "it gave no report".to_owned(), |line| line.trim().to_owned())
        })
    }
}

/// What a process writes until it closes both of its outputs, within a time.
fn answer_of(child: &mut Child, time: Duration) -> Result<(Vec<u8>, Vec<u8>), String> {
    let until = Instant::now() + time;
    let said = child.stdout.take().map(read_aside);
    let complaint = child.stderr.take().map(read_aside);
    let mut texts = [Vec::new(), Vec::new()];
    for (text, reader) in texts.iter_mut().zip([said, complaint]) {
        let Some(Ok(receiver)) = reader else { return Err("its output could not be read".to_owned()) };
        *text = receiver
            .recv_timeout(until.saturating_duration_since(Instant::now()))
            .map_err(|_| format!("it took longer than {:.1} seconds", time.as_secs_f64()))?;
    }
    let [said, complaint] = texts;
    Ok((said, complaint))
}

fn read_aside(stream: impl io::Read + Send + 'static) -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        // What was read before a failure is no report, which is said when it is taken for one.
        drop(stream.take(LONGEST).read_to_end(&mut bytes));
        drop(sender.send(bytes));
    })?;
    Ok(receiver)
}

/// Ends a process with all of its group, and waits for it: it has said what it had to say, or its time is over.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // None is left where it ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
    drop(child.wait());
}
