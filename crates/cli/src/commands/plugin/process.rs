//! The process of a plugin: confined, bounded, and spoken with line by line.

use std::collections::VecDeque;
use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::text::one_line;
use checkrein_protocol::{PLUGIN_PROTOCOL, PluginGreeting, PluginManifest, PluginQuestion, PluginRequest};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value as Json;

use super::fault::{FaultKind, PluginFault};

/// The longest line of a plugin, in bytes (ours).
const LONGEST_LINE: u64 = 1024 * 1024;
/// How much of what it says on standard error is kept, in bytes (ours).
const LONGEST_REMARK: usize = 4 * 1024;
/// How much of that is shown, in characters (ours).
const LONGEST_SHOWN: usize = 400;
/// How many processes it may have at once (ours).
const PROCESSES: &str = "32";
/// How long it has to end by itself once nothing more is asked (ours).
const TO_END: Duration = Duration::from_secs(1);
/// How long the sandbox has to end it (ours).
const TO_BE_ENDED: Duration = Duration::from_secs(3);
/// How much longer than the plugin the sandbox may take to begin and to end (ours).
const ALLOWANCE: Duration = Duration::from_secs(5);
/// How often is looked whether it ended (ours).
const LOOK: Duration = Duration::from_millis(5);
/// What the sandbox ends with when it did not run the program, and when a limit was reached.
const NOT_RUN: [i32; 3] = [125, 126, 127];
const LIMIT: i32 = 124;
/// Where programs of the system are: a confined command may read these.
const SYSTEM: [&str; 4] = ["/usr", "/bin", "/lib", "/sbin"];

/// Whom a plugin may talk to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PluginNetwork {
    /// Whom its manifest names: a user accepted that.
    Accepted,
    /// Nobody: it is only tried.
    Off,
}

/// What is started.
#[derive(Debug)]
pub(super) struct PluginStart<'a> {
    /// The folder of the plugin.
    pub(super) folder: &'a Path,
    /// What its manifest says.
    pub(super) manifest: &'a PluginManifest,
    /// The program, by its path.
    pub(super) program: &'a Path,
    /// Whom it may talk to.
    pub(super) network: PluginNetwork,
}

/// A plugin that runs and has introduced itself.
#[derive(Debug)]
pub(super) struct PluginProcess {
    child: Child,
    questions: Option<Sender<Vec<u8>>>,
    lines: Receiver<ReadLine>,
    remarks: Option<JoinHandle<String>>,
    deadline: Instant,
    seconds: u64,
    read: u64,
    asked: u64,
}

#[derive(Debug)]
enum ReadLine {
    Whole(Vec<u8>),
    TooLong,
}

impl PluginProcess {
    /// Starts a plugin inside the sandbox, and hears who it is.
    pub(super) fn start(
        environment: &HostEnvironment,
        wanted: &PluginStart<'_>,
    ) -> Result<Self, PluginFault> {
        let seconds = wanted.manifest.seconds;
        let mut child = command(environment, wanted)?.spawn().map_err(|error| {
            PluginFault::new(FaultKind::NotStarted, format!("the sandbox cannot be started: {error}"))
        })?;
        let (Some(input), Some(output), Some(remarks)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(PluginFault::new(FaultKind::NotStarted, "it has no standard streams".to_owned()));
        };
        let (questions, to_write) = mpsc::channel::<Vec<u8>>();
        let (line_read, lines) = mpsc::channel();
        // Who does not read must not keep us from hearing: what is asked is written beside.
        thread::spawn(move || {
            let mut input = input;
            while let Ok(line) = to_write.recv() {
                if input.write_all(&line).and_then(|()| input.flush()).is_err() {
                    break;
                }
            }
        });
        thread::spawn(move || read_lines(output, &line_read));
        let remarks = thread::spawn(move || end_of(remarks));
        let mut process = Self {
            child,
            questions: Some(questions),
            lines,
            remarks: Some(remarks),
            deadline: Instant::now() + Duration::from_secs(seconds) + ALLOWANCE,
            seconds,
            read: 0,
            asked: 0,
        };
        match process.greeting(wanted.manifest) {
            Ok(()) => Ok(process),
            Err(fault) => Err(process.fail(fault)),
        }
    }

    fn greeting(&mut self, manifest: &PluginManifest) -> Result<(), PluginFault> {
        let line = self.next_line("its first line")?;
        let said: PluginGreeting = serde_json::from_slice(&line).map_err(|error| {
            self.wrong(
                FaultKind::NoGreeting,
                format!(
                    "the first line must be {{\"protocol\", \"name\", \"kinds\"}}: {error}: {}",
                    shown(&line)
                ),
            )
        })?;
        if said.protocol != PLUGIN_PROTOCOL {
            let detail = format!(
                "it speaks version {} of the protocol, and this is version {PLUGIN_PROTOCOL}",
                said.protocol
            );
            return Err(self.wrong(FaultKind::WrongProtocol, detail));
        }
        let mut kinds = (said.kinds.clone(), manifest.kinds.clone());
        kinds.0.sort_unstable();
        kinds.1.sort_unstable();
        if said.name != manifest.name || kinds.0 != kinds.1 {
            let detail = "it introduces itself with another name or other kinds than its manifest".to_owned();
            return Err(self.wrong(FaultKind::NoGreeting, detail));
        }
        Ok(())
    }

    /// Asks the plugin; the fields of its answer, without the number.
    pub(super) fn ask(&mut self, question: &PluginQuestion) -> Result<Json, PluginFault> {
        let request = PluginRequest { id: self.asked + 1, question: question.clone() };
        let line = serde_json::to_value(&request)
            .map_err(|error| PluginFault::new(FaultKind::NotStarted, error.to_string()))?;
        self.ask_as_written(line)
    }

    /// Asks what stands in an object; its number is ours.
    pub(super) fn ask_as_written(&mut self, mut request: Json) -> Result<Json, PluginFault> {
        self.asked += 1;
        if let Some(fields) = request.as_object_mut() {
            fields.insert("id".to_owned(), self.asked.into());
        }
        let mut line = request.to_string().into_bytes();
        line.push(b'\n');
        if let Some(questions) = &self.questions {
            // That nobody reads it shows by the answer that does not come.
            drop(questions.send(line));
        }
        let line = self.next_line("an answer")?;
        let mut answer: Json = serde_json::from_slice(&line).map_err(|error| {
            self.wrong(FaultKind::NotJson, format!("not JSON: {error}: {}", shown(&line)))
        })?;
        let Some(fields) = answer.as_object_mut() else {
            return Err(self.wrong(FaultKind::NotJson, format!("not an object: {}", shown(&line))));
        };
        let id = fields.remove("id");
        if id != Some(self.asked.into()) {
            let detail = format!("the answer has `id` {}, not {}", id.unwrap_or_default(), self.asked);
            return Err(self.wrong(FaultKind::WrongAnswer, detail));
        }
        match fields.get("error") {
            None => Ok(answer),
            Some(error) => {
                let text = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
                Err(self.wrong(FaultKind::OwnError, one_line(&text, 300)))
            }
        }
    }

    /// A fault that the line which was read last shows.
    pub(super) fn wrong(&self, kind: FaultKind, detail: String) -> PluginFault {
        PluginFault { line: Some(self.read), ..PluginFault::new(kind, detail) }
    }

    fn next_line(&mut self, what: &str) -> Result<Vec<u8>, PluginFault> {
        match self.lines.recv_timeout(self.deadline.saturating_duration_since(Instant::now())) {
            Ok(ReadLine::Whole(line)) => {
                self.read += 1;
                Ok(line)
            }
            Ok(ReadLine::TooLong) => {
                self.read += 1;
                let detail = format!("a line is longer than {} KB", LONGEST_LINE >> 10);
                Err(self.wrong(FaultKind::TooLong, detail))
            }
            Err(RecvTimeoutError::Timeout) => Err(PluginFault::new(
                FaultKind::Timeout,
                format!("{what} did not come within {} s", self.seconds),
            )),
            Err(RecvTimeoutError::Disconnected) => {
                Err(PluginFault::new(FaultKind::Ended, format!("it ended before {what} came")))
            }
        }
    }

    /// Ends the plugin, which has answered all that was asked.
    pub(super) fn end(mut self) {
        drop(self.questions.take());
        self.stop();
    }

    /// Ends the plugin after a fault, and takes up what it said about it.
    pub(super) fn fail(mut self, fault: PluginFault) -> PluginFault {
        drop(self.questions.take());
        let status = self.stop();
        let remarks = self.remarks.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let remarks = last_lines(&remarks);
        let kind = match status {
            Some(LIMIT) if fault.kind == FaultKind::Ended => FaultKind::Limit,
            Some(status) if fault.kind == FaultKind::Ended && NOT_RUN.contains(&status) => {
                FaultKind::NotStarted
            }
            _ => fault.kind,
        };
        let detail = if remarks.is_empty() { fault.detail } else { format!("{}: {remarks}", fault.detail) };
        PluginFault { kind, detail, ..fault }
    }

    /// Waits for the end of the process, and ends it with everything below where that does not come; its exit status.
    fn stop(&mut self) -> Option<i32> {
        for (signal, patience) in
            [(None, TO_END), (Some(Signal::TERM), TO_BE_ENDED), (Some(Signal::KILL), TO_END)]
        {
            if let (Some(signal), Some(group)) =
                (signal, i32::try_from(self.child.id()).ok().and_then(Pid::from_raw))
            {
                // Nobody may be left in it.
                let _ = kill_process_group(group, signal);
            }
            let deadline = Instant::now() + patience;
            while Instant::now() < deadline {
                match self.child.try_wait() {
                    Ok(Some(status)) => return status.code(),
                    Ok(None) => thread::sleep(LOOK),
                    Err(_) => return None,
                }
            }
        }
        None
    }
}

/// The command line of the sandbox around a plugin.
fn command(environment: &HostEnvironment, wanted: &PluginStart<'_>) -> Result<Command, PluginFault> {
    let failed = |error: std::io::Error| {
        PluginFault::new(FaultKind::NotStarted, format!("this program is not known: {error}"))
    };
    let PluginStart { folder, manifest, program, network } = wanted;
    let mut command = Command::new(env::current_exe().map_err(failed)?);
    command.args(["exec", "--require", "--read"]).arg(folder);
    for place in program_places(program, folder, environment) {
        command.arg("--read").arg(place);
    }
    match network {
        PluginNetwork::Accepted if !manifest.network.is_empty() => {
            command.args(["--net", &manifest.network.join(",")]);
        }
        PluginNetwork::Accepted | PluginNetwork::Off => {}
    }
    command
        .args(["--memory", &format!("{}M", manifest.memory_mb)])
        .args(["--time", &format!("{}s", manifest.seconds)])
        .args(["--processes", PROCESSES, "--"])
        .arg(program)
        .args(manifest.command.iter().skip(1));
    let own = program.parent().unwrap_or(folder).display().to_string();
    command
        .env_clear()
        // Nothing of who starts it: neither keys nor a `PATH` in which something stands before the programs that are meant.
        .env("PATH", format!("{own}:/usr/local/bin:/usr/bin:/bin"))
        .env("HOME", folder)
        .env("LANG", "C.UTF-8")
        // What the sandbox says is read as lines.
        .env("COLUMNS", "1000")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("CHECKREIN_HOME", environment.state_path.as_str())
        .current_dir(folder)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(command)
}

/// What must be read for a program that lies neither with the plugin nor with the system: what it was installed with.
fn program_places(program: &Path, folder: &Path, environment: &HostEnvironment) -> Vec<PathBuf> {
    let real = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let is_known =
        |path: &Path| path.starts_with(folder) || SYSTEM.iter().any(|system| path.starts_with(system));
    let mut places: Vec<PathBuf> = [program, real.as_path()]
        .into_iter()
        .filter(|path| !is_known(path))
        // The folder above that of the programs, as in `~/.venv/bin/python3`; never a home directory.
        .filter_map(|path| Some(path.parent()?.parent()?.to_owned()))
        .filter(|place| !Path::new(environment.home.as_str()).starts_with(place))
        .collect();
    places.dedup();
    places
}

/// The end of what is written: what went wrong is said last.
fn end_of(mut remarks: impl Read) -> String {
    let (mut end, mut block) = (VecDeque::new(), [0; 4096]);
    while let Ok(read @ 1..) = remarks.read(&mut block) {
        end.extend(block.iter().take(read));
        end.drain(..end.len().saturating_sub(LONGEST_REMARK));
    }
    String::from_utf8_lossy(&end.into_iter().collect::<Vec<u8>>()).into_owned()
}

/// The last lines of a text that fit together, as one.
fn last_lines(text: &str) -> String {
    let mut kept = Vec::new();
    let mut left = LONGEST_SHOWN;
    for line in text.lines().rev().map(str::trim).filter(|line| !line.is_empty()) {
        let length = line.chars().count();
        if length > left && !kept.is_empty() {
            break;
        }
        left = left.saturating_sub(length);
        kept.push(one_line(line, LONGEST_SHOWN));
    }
    kept.reverse();
    kept.join("; ")
}

fn read_lines(output: impl Read, line_read: &Sender<ReadLine>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match (&mut output).take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.ends_with(b"\n") => {
                line.pop();
            }
            Ok(read) if read as u64 == LONGEST_LINE => {
                drop(line_read.send(ReadLine::TooLong));
                return;
            }
            // The last one, without its end.
            Ok(_) => {}
        }
        if line_read.send(ReadLine::Whole(line)).is_err() {
            return;
        }
    }
}

/// The beginning of a line, to be shown.
fn shown(line: &[u8]) -> String {
    format!("`{}`", one_line(&String::from_utf8_lossy(line), 120))
}
