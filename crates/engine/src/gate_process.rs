//! Who runs gates: something that is handed in. Reading code as syntax trees and asking git for what changed takes a process of its own. It is
//! one for all gates, since finding out what changed costs more than judging it in a repository of many files.

use std::fmt;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_protocol::{AbsolutePath, Timestamp};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

/// The program that runs gates, beside this one.
const PROGRAM: &str = "checkrein";

/// The longest answer of one gate that is read, in bytes (ours).
const LONGEST: u64 = 1 << 20;

/// What gates are to look at.
#[derive(Debug)]
pub struct GateTask<'a> {
    /// The gates.
    pub gates: &'a [String],
    /// The workspace.
    pub workspace: &'a AbsolutePath,
    /// What of it.
    pub span: GateSpan<'a>,
    /// How long they may take together.
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
    /// Runs gates within their time, and returns what each of them says, in their order. `program` is this one, when known. Of one that
    /// did not run to its end it is the cause, in words.
    fn run(&self, task: &GateTask<'_>, program: Option<&Path>) -> Vec<Result<GateReport, String>>;
}

/// Runs `checkrein gate` as a process of its own, and ends it when its time is over.
#[derive(Debug, Default)]
pub struct GateProcess;

impl GateRunner for GateProcess {
    fn run(&self, task: &GateTask<'_>, program: Option<&Path>) -> Vec<Result<GateReport, String>> {
        let said = match start(task, program) {
            Ok(mut child) => {
                let said = said_by(&mut child, task);
                end(&mut child);
                said
            }
            Err(cause) => Said { reports: Vec::new(), cause },
        };
        let mut reports = said.reports.into_iter();
        let report = |_| reports.next().ok_or_else(|| said.cause.clone());
        task.gates.iter().map(report).collect()
    }
}

/// What a process of gates said within its time.
struct Said {
    /// The reports of the first gates.
    reports: Vec<GateReport>,
    /// Why there are not more.
    cause: String,
}

fn start(task: &GateTask<'_>, program: Option<&Path>) -> Result<Child, String> {
    let own = program.ok_or("this program is not known")?;
    let (first, others) = task.gates.split_first().ok_or("no gate is asked for")?;
    let mut command = Command::new(own.with_file_name(PROGRAM));
    command.args(["--json", "gate", first]);
    if !others.is_empty() {
        command.args(["--together", &others.join(",")]);
    }
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
    command
        .current_dir(task.workspace.as_str())
        // What it starts ends with it.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{PROGRAM}` could not be started: {error}"))
}

/// What a process writes until it closes both of its outputs, or its time is over.
fn said_by(child: &mut Child, task: &GateTask<'_>) -> Said {
    let until = Instant::now() + task.time;
    let longest = LONGEST.saturating_mul(task.gates.len() as u64);
    let said = child.stdout.take().map(|stream| read_aside(stream, longest));
    let complaint = child.stderr.take().map(|stream| read_aside(stream, LONGEST));
    let (Some(Ok(said)), Some(Ok(complaint))) = (said, complaint) else {
        return Said { reports: Vec::new(), cause: "its output could not be read".to_owned() };
    };
    let (said, in_time) = until_closed(&said, until);
    let (complaint, complained_in_time) = until_closed(&complaint, until);
    // A report that is cut off, or is none, ends them.
    let reports: Vec<GateReport> =
        serde_json::Deserializer::from_slice(&said).into_iter().map_while(Result::ok).collect();
    let cause = if in_time == Closing::TooLate || complained_in_time == Closing::TooLate {
        format!("it took longer than {:.1} seconds", task.time.as_secs_f64())
    } else {
        let words = String::from_utf8_lossy(&complaint);
        let first = words.lines().find(|line| !line.trim().is_empty());
        first.map_or_else(|| "it gave no report".to_owned(), |line| line.trim().to_owned())
    };
    Said { reports, cause }
}

/// Whether a stream was closed in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closing {
    InTime,
    TooLate,
}

/// What comes from a stream until it is closed, or until a time.
fn until_closed(receiver: &mpsc::Receiver<Vec<u8>>, until: Instant) -> (Vec<u8>, Closing) {
    let mut bytes = Vec::new();
    loop {
        match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(part) => bytes.extend(part),
            Err(RecvTimeoutError::Disconnected) => return (bytes, Closing::InTime),
            Err(RecvTimeoutError::Timeout) => return (bytes, Closing::TooLate),
        }
    }
}

fn read_aside(stream: impl io::Read + Send + 'static, longest: u64) -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut stream = stream.take(longest);
        let mut buffer = vec![0; 64 << 10];
        // What was read before a failure is no report, which is said when it is taken for one.
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let part = buffer.get(..count).unwrap_or_default().to_vec();
            if sender.send(part).is_err() {
                return;
            }
        }
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
