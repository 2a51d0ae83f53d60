//! `checkrein exec`: one command inside a scope that the kernel enforces.

mod upkeep;

use std::collections::HashSet;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checkrein_sandbox::{
    Bytes, CommandOutcome, ExitCause, Gap, Kernel, Network, ReadScope, Refusal, ResourceLimits,
    SandboxedCommand, Scope, Signals, SuperviseError, run_confined,
};

use super::{ExitStatus, OutputForm};
use crate::api;
use crate::secure_deletion;
use crate::terminal::{answer_aside, log, plain};
use checkrein_engine::error::CommandError;

/// The command line in our words.
#[derive(Debug)]
pub struct ExecOptions {
    /// What may be changed.
    pub write: Vec<PathBuf>,
    /// What may be read; everything when empty.
    pub read: Vec<PathBuf>,
    /// Who may be talked to.
    pub network: Vec<String>,
    /// Memory of all processes together.
    pub memory: Option<Bytes>,
    /// Processor time of each process.
    pub processor: Option<Duration>,
    /// Time by the clock.
    pub time: Option<Duration>,
    /// Processes at one time.
    pub processes: Option<u32>,
    /// The length of each file that is written.
    pub file_size: Option<Bytes>,
    /// What of our environment is passed on.
    pub environment: InheritedEnvironment,
    /// What happens when not all can be enforced.
    pub enforcement: ScopeStrictness,
    /// What runs within the scope.
    pub held: HeldProgram,
    /// The command and its arguments; not empty.
    pub command: Vec<OsString>,
}

/// What of our environment a command gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InheritedEnvironment {
    /// All of it.
    Whole,
    /// What programs need to find their way: no keys, no tokens.
    Plain,
}

/// What runs within a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldProgram {
    /// A command, which needs nothing of ours.
    Command,
    /// A whole agent: its hooks read and write our state, and lock it, as they do outside.
    Agent,
}

/// What happens when a part of the scope cannot be enforced here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeStrictness {
    /// It is said, and the command runs.
    Possible,
    /// Nothing runs.
    Whole,
}

/// The variables of a plain environment.
const PLAIN: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "PWD",
    "COLORTERM",
];

/// Nothing was run, because something is wrong with us or with what was asked.
const NOTHING_RUN: u8 = 125;
pub(super) const NOT_RUNNABLE: u8 = 126;
pub(super) const NOT_THERE: u8 = 127;

/// Lines about what was refused that a user reads; `--json` has them all.
const SHOWN: usize = 8;

/// Runs a command; the exit status is its own, so nothing here fails in another way than by a status.
pub fn exec(wanted: ExecOptions, output: OutputForm) -> ExitStatus {
    match run(wanted, output) {
        Ok(status) => ExitStatus::Passed(status),
        Err((status, error)) => {
            match output {
                OutputForm::Json => answer_aside(&api::ErrorAnswer::of(&error, status).line()),
                OutputForm::Text => {
                    log(&format!("checkrein: {}", error.message));
                    if let Some(hint) = &error.hint {
                        log(&format!("hint: {hint}"));
                    }
                }
            }
            ExitStatus::Passed(status)
        }
    }
}

fn run(wanted: ExecOptions, output: OutputForm) -> Result<u8, (u8, CommandError)> {
    let nothing = |error: CommandError| (NOTHING_RUN, error);
    let scope = scope(&wanted).map_err(nothing)?;
    let kernel = Kernel::probe();
    let mut scope = match wanted.enforcement {
        ScopeStrictness::Possible => scope,
        ScopeStrictness::Whole => narrowed(scope, &kernel),
    };
    announce(&kernel, &scope, wanted.enforcement).map_err(nothing)?;
    // What is made in a folder that the command may write to anyway is there for the next command too.
    let is_needed = !scope.may_write(&temporary_folder());
    let temporary = is_needed.then(Temporary::new).transpose().map_err(nothing)?;
    let place = temporary.as_ref().map(|temporary| temporary.path.clone());
    scope.write.extend(place.clone());
    let held = wanted.held;
    let unreadable = unreadable(&scope, wanted.command.first());
    let mut command = wanted.command.into_iter();
    let confined = SandboxedCommand {
        program: command.next().unwrap_or_default(),
        arguments: command.collect(),
        environment: environment(wanted.environment, place.as_deref(), &scope),
        scope,
        kernel,
    };
    // What an agent changes of settings its hooks look after, and its user may have wanted it.
    let upkeep = match held {
        HeldProgram::Command => Some(upkeep::Upkeep::of(&confined.scope)),
        HeldProgram::Agent => None,
    };
    let signals = Signals::remembered().map_err(|error| nothing(error.into()))?;
    let outcome = run_confined(confined, &signals);
    // Nothing of the command is left: what it wrote can be compared, however it ended.
    let put_back = upkeep.map(|upkeep| upkeep.restore()).unwrap_or_default();
    let outcome = outcome.map_err(|error| {
        let status = match error {
            SuperviseError::NotFound { .. } => NOT_THERE,
            SuperviseError::NotRun { .. } => NOT_RUNNABLE,
            _ => NOTHING_RUN,
        };
        match unreadable.filter(|_| status == NOT_RUNNABLE) {
            Some(path) => (status, outside_of_reading(&path)),
            None => (status, error.into()),
        }
    })?;
    if let Some(temporary) = temporary
        && !temporary.remove()
    {
        log(&format!(
            "checkrein: the temporary folder {} could not be removed",
            plain(&place.unwrap_or_default().to_string_lossy())
        ));
    }
    report(&outcome, &put_back, output).map_err(nothing)?;
    Ok(outcome.ending.status())
}

/// Our environment without what could be a secret, but with what is named.
pub(crate) fn plain_environment(named: &[OsString]) -> Vec<(OsString, OsString)> {
    let is_kept = |name: &OsString| PLAIN.iter().any(|plain| name == plain) || named.contains(name);
    env::vars_os().filter(|(name, _)| is_kept(name)).collect()
}

fn scope(wanted: &ExecOptions) -> Result<Scope, CommandError> {
    let places = |paths: &[PathBuf]| paths.iter().map(|path| real(path)).collect::<Result<Vec<_>, _>>();
    let read = if wanted.read.is_empty() { ReadScope::All } else { ReadScope::Only(places(&wanted.read)?) };
    let limits = ResourceLimits {
        memory: wanted.memory,
        processor: wanted.processor,
        time: wanted.time,
        processes: wanted.processes.unwrap_or(ResourceLimits::default().processes),
        file: wanted.file_size,
    };
    if limits.processes == 0 {
        return Err(CommandError::user(
            "`--processes 0` leaves none for the command itself",
            "give 1 or more",
        ));
    }
    if limits.memory.is_some_and(|memory| memory < Bytes::LEAST_MEMORY) {
        return Err(CommandError::user(
            format!("`--memory` of less than {} lets no program start", Bytes::LEAST_MEMORY),
            "write the unit too, such as `--memory 512M`",
        ));
    }
    let network = Network::of_words(&wanted.network)?;
    if let Some(unknown) = network.endpoints().iter().find(|endpoint| endpoint.addresses().is_empty()) {
        return Err(CommandError::user(
            format!("`{}` is not known: it could not be told from others", unknown.host),
            "check the name, or give the address",
        ));
    }
    let state = match wanted.held {
        HeldProgram::Command => state(),
        HeldProgram::Agent => None,
    };
    let hidden = HIDDEN.iter().filter_map(|name| Some(state.as_ref()?.join(name))).collect();
    Ok(Scope {
        write: places(&wanted.write)?,
        read,
        kept: state.into_iter().collect(),
        hidden,
        network,
        limits,
    })
}

/// What of our own state nobody inside may see: the keys of the server, the questions that wait for an answer, and what tells people of them.
const HIDDEN: [&str; 3] = ["server", "approvals", "notices"];

/// Where our own state is, when it is there: nobody inside locks what a run or a session is known by.
pub(super) fn state() -> Option<PathBuf> {
    let of = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let below = |folder: PathBuf| folder.join("checkrein");
    let own = of("CHECKREIN_HOME").or_else(|| of("XDG_STATE_HOME").map(below));
    fs::canonicalize(own.or_else(|| of("HOME").map(|home| below(home.join(".local/state"))))?).ok()
}

/// The longest first line of a script that names its interpreter, in bytes (Linux reads 256).
const FIRST_LINE: u64 = 256;

/// What must be read to start a program and may not be: the program, or the interpreter that its first line names. `None` where all of it may.
fn unreadable(scope: &Scope, program: Option<&OsString>) -> Option<PathBuf> {
    let given = Path::new(program?);
    let path = if given.components().count() > 1 {
        fs::canonicalize(given).ok()?
    } else {
        let folders = env::var_os("PATH")?;
        env::split_paths(&folders).find_map(|folder| fs::canonicalize(folder.join(given)).ok())?
    };
    let mut line = Vec::new();
    // What cannot be opened names nothing.
    drop(File::open(&path).map(|file| file.take(FIRST_LINE).read_to_end(&mut line)));
    let line = line.split(|byte| *byte == b'\n').next().and_then(|line| line.strip_prefix(b"#!"));
    let interpreter = line.and_then(|line| {
        let word = String::from_utf8_lossy(line).split_whitespace().next()?.to_owned();
        fs::canonicalize(word).ok()
    });
    [Some(path), interpreter].into_iter().flatten().find(|path| !scope.may_read(path))
}

/// Says that a program was not started since it may not be read.
fn outside_of_reading(path: &Path) -> CommandError {
    let path = plain(&path.to_string_lossy());
    CommandError::user(
        format!("`{path}` cannot be run: it lies outside of what `--read` names"),
        format!("`--read {path}` would allow it"),
    )
}

/// A scope is made of real places: a link could be turned elsewhere.
fn real(path: &Path) -> Result<PathBuf, CommandError> {
    fs::canonicalize(path).map_err(|error| {
        let mut failure = CommandError::file("find", path.display(), &error);
        failure
            .hint
            .get_or_insert_with(|| "what is not there yet needs the folder that it will stand in".to_owned());
        failure
    })
}

/// The scope that can be held as a whole; says what it leaves out.
fn narrowed(scope: Scope, kernel: &Kernel) -> Scope {
    let wanted = scope.network.clone();
    let held = kernel.held(scope);
    if held.network != wanted {
        log("checkrein: hosts cannot be told apart inside another scope, so the command has no network");
    }
    held
}

/// Says what is not enforced, and what a scope around this one enforces, before anything runs.
fn announce(kernel: &Kernel, scope: &Scope, enforcement: ScopeStrictness) -> Result<(), CommandError> {
    let gaps = kernel.open_gaps(scope);
    let around: Vec<Gap> = kernel.gaps(scope).into_iter().filter(|gap| !gaps.contains(gap)).collect();
    if !around.is_empty() {
        log(
            "checkrein: inside another scope: it alone holds modes, owners and times of files and the number of processes, and says what was \
             refused",
        );
    }
    if gaps.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = gaps.iter().map(ToString::to_string).collect();
    let text = format!("this kernel does not hold: {}", names.join("; "));
    match enforcement {
        ScopeStrictness::Possible => {
            log(&format!("checkrein: {text}"));
            Ok(())
        }
        ScopeStrictness::Whole => {
            Err(CommandError::user(text, "without `--require` the command runs with what can be enforced"))
        }
    }
}

/// The environment of a command: ours, but temporary files go to a folder of its own, and names are looked up by connections, which can be
/// judged; datagrams cannot.
fn environment(
    kind: InheritedEnvironment,
    temporary: Option<&Path>,
    scope: &Scope,
) -> Vec<(OsString, OsString)> {
    let set = temporary.into_iter().flat_map(|place| TEMPORARY.map(|name| (name.into(), place.into())));
    let names = scope.looks_up_names().then(|| ("RES_OPTIONS".into(), "use-vc".into()));
    let set: Vec<(OsString, OsString)> = set.chain(names).collect();
    let mut all = match kind {
        InheritedEnvironment::Whole => env::vars_os().collect(),
        InheritedEnvironment::Plain => plain_environment(&[]),
    };
    all.retain(|(name, _)| !set.iter().any(|(other, _)| name == other));
    all.extend(set);
    all
}

fn report(outcome: &CommandOutcome, put_back: &[String], output: OutputForm) -> Result<(), CommandError> {
    let (all, more) = &outcome.refusals;
    let mut said = HashSet::new();
    // Several calls can mean the same in words.
    let refusals: Vec<&Refusal> = all.iter().filter(|refusal| said.insert(refusal.to_string())).collect();
    if output == OutputForm::Json {
        let rows: Vec<_> = refusals
            .iter()
            .map(|refusal| api::programs::Refused {
                program: api::recorded(&refusal.program),
                refused: refusal.to_string(),
                allowed_by: api::recorded(&refusal.remedies()),
            })
            .collect();
        answer_aside(&api::line(&api::programs::ExecEnd {
            status: api::recorded(&outcome.ending.status()),
            ended_by: api::recorded(&ended_by(outcome.ending)),
            refused: rows,
            refused_more: api::recorded(more),
            left_behind: api::recorded(&outcome.left_behind),
            still_there: api::recorded(&outcome.still_there),
            put_back: put_back.to_vec(),
        })?);
        return Ok(());
    }
    put_back.iter().for_each(|line| log(&plain(&format!("checkrein: {line}"))));
    for refusal in refusals.iter().take(SHOWN) {
        let remedy = match refusal.remedies().join("` or `") {
            options if options.is_empty() => options,
            options => format!(" (`{options}` would allow it)"),
        };
        log(&plain(&format!("checkrein: {refusal}{remedy}")));
    }
    let rest = refusals.len().saturating_sub(SHOWN) + more;
    if rest > 0 {
        log(&format!("checkrein: and {rest} more refusals; `--json` tells them"));
    }
    let words = match outcome.ending {
        ExitCause::Exited(_) | ExitCause::Signalled(_) => None,
        ExitCause::Time(time) => Some(format!("after {} s: its time was over", time.as_secs_f64())),
        ExitCause::Memory(used) => {
            Some(format!("its processes together used {used} of memory, more than `--memory` allows"))
        }
        ExitCause::Processor(time) => Some(format!(
            "a process of it computed for {} s, as long as `--cpu` allows",
            time.as_secs().max(1)
        )),
        ExitCause::FileSize(most) => {
            Some(format!("a file was to become longer than the {most} that `--file-size` allows"))
        }
        ExitCause::Asked(signal) => Some(format!("signal {signal} asked for it")),
    };
    if let Some(words) = &words {
        log(&format!("checkrein: ended, {words}"));
    }
    if outcome.left_behind > 0 && words.is_none() {
        log(&format!("checkrein: {}", left_behind(outcome.left_behind)));
    }
    if outcome.still_there > 0 {
        log(&format!("checkrein: {}", still_there(outcome.still_there)));
    }
    Ok(())
}

/// What could not be ended, in words.
pub(crate) fn still_there(count: usize) -> String {
    match count {
        1 => "1 process could not be ended and may still run".to_owned(),
        count => format!("{count} processes could not be ended and may still run"),
    }
}

/// What did not end with its command, in words.
pub(crate) fn left_behind(count: usize) -> String {
    match count {
        1 => "1 process was left behind and is ended".to_owned(),
        count => format!("{count} processes were left behind and are ended"),
    }
}

fn ended_by(ending: ExitCause) -> &'static str {
    match ending {
        ExitCause::Exited(_) => "itself",
        ExitCause::Signalled(_) => "signal",
        ExitCause::Time(_) => "time",
        ExitCause::Memory(_) => "memory",
        ExitCause::Processor(_) => "processor",
        ExitCause::FileSize(_) => "file_size",
        ExitCause::Asked(_) => "request",
    }
}

/// The variables that tell programs where temporary files go.
const TEMPORARY: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// Where temporary files of ours go, as a real place.
fn temporary_folder() -> PathBuf {
    fs::canonicalize(env::temp_dir()).unwrap_or_else(|_| env::temp_dir())
}

/// A folder for temporary files that goes with the command.
struct Temporary {
    path: PathBuf,
    /// The folder that it is in, held: by its path it may not be writable any more, in the view of the command.
    above: Option<File>,
}

impl Temporary {
    fn new() -> Result<Self, CommandError> {
        let above = temporary_folder();
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = above.join(format!("checkrein-exec-{}-{time:x}", process::id()));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|error| CommandError::file("make the temporary folder", path.display(), &error))?;
        Ok(Self { path, above: File::open(above).ok() })
    }
}

impl Temporary {
    /// Removes it with all that is in there; whether nothing of it is left.
    fn remove(mut self) -> bool {
        self.take_away()
    }

    fn take_away(&mut self) -> bool {
        if secure_deletion::remove_folder(&self.path).is_ok() {
            return true;
        }
        let held = self.above.take().zip(self.path.file_name());
        held.is_some_and(|(above, name)| {
            let above = PathBuf::from(format!("/proc/self/fd/{}", above.as_raw_fd()));
            secure_deletion::remove_folder(&above.join(name)).is_ok()
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.path.symlink_metadata().is_ok() {
            self.take_away();
        }
    }
}
