//! The hooks of an agent below a run. They hold to the limits of the run, in the place of those of the configuration. They tell the run
//! which sessions they see, and when it has to end.
//!
//! A hook is told in a variable which run it belongs to, and a number that only that run knows. Whoever else sets the variable, such as the
//! settings of a repository, does not know the number of a run that lives, so it is believed only where it is true.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use checkrein_protocol::TokenCounts;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::RunError;
use super::file::{hexadecimal, read, replace};
use super::lock::Lock;
use super::state::{RunId, RunLimits, RunSpending, RunState, StepSettings};
use super::store::{Runs, Whereabouts};

/// The variable that names the run above an agent.
pub const RUN_VARIABLE: &str = "CHECKREIN_RUN";

/// The file of a run that holds them.
const FILE: &str = "hooks.json";

/// The file of a run in which its hooks name their sessions, one a line.
const SESSIONS: &str = "sessions.jsonl";

/// The file of a run in which its hooks say why it has to end.
const STOP: &str = "stop.json";

/// A session that the hooks of a run have seen begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookedSession {
    /// Its name.
    pub session: String,
    /// What it had spent before, which does not count against the run.
    pub before: RunSpending,
    /// The tokens of that, by kind.
    pub tokens: TokenCounts,
}

/// What a hook found reached, by which the run above it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookSwitch {
    /// More dollars were spent than there are.
    Budget,
    /// More tokens were used than there are.
    Tokens,
    /// The next answer would probably be more than is left of tokens or dollars.
    NextCall,
    /// The model has answered so often.
    Iterations,
    /// The detectors gave the session up.
    Watched,
    /// The agent talks itself into new work.
    Cascade,
    /// A tripwire halted the session.
    Tripwire,
    /// The conversation goes back to before the trouble, and on from there.
    SetBack,
}

/// Why a hook ends the run above it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookStop {
    /// By what.
    pub switch: HookSwitch,
    /// In words.
    pub reason: String,
    /// The line that names the report; `None` while it is being written.
    pub report: Option<String>,
    /// Where the agent goes on afterwards; `None` where it does not.
    #[serde(default)]
    pub back: Option<SetBack>,
}

/// Where an agent goes on that is set back, and with what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetBack {
    /// The client's name for the session.
    pub session: String,
    /// Its name for the last turn that counts.
    pub turn: String,
    /// The first message to the agent.
    pub message: String,
    /// The number of the action before which that is.
    pub before: u64,
}

/// How often a run sets its agent back (ours): what did not help twice does not help.
pub const REWINDS: u32 = 2;

/// The limits of a run, as its hooks count them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookLimits {
    /// The hash of the number that proves whose hooks these are.
    proof: String,
    /// When the run began, in milliseconds since 1970: what a session spent before is not known to the run.
    pub since: u64,
    /// US dollars since then; `None` is no limit.
    pub dollars: Option<f64>,
    /// Tokens since then; `None` is no limit.
    pub tokens: Option<u64>,
    /// Answers of the model since then; `None` is no limit.
    pub iterations: Option<u64>,
    /// One price for every model, in the words of the command line.
    pub price: Option<String>,
    /// The pipeline that the agent works in.
    #[serde(default)]
    pub pipeline: Option<String>,
    /// The step of it.
    #[serde(default)]
    pub step: Option<String>,
    /// What its file sets for that.
    #[serde(default)]
    pub settings: Option<StepSettings>,
    /// How often the run can still set its agent back.
    #[serde(default)]
    pub rewinds: u32,
    /// What it told the agent that it set back last.
    #[serde(default)]
    pub said: Option<String>,
    /// Where the run is kept.
    #[serde(skip)]
    folder: PathBuf,
}

impl HookLimits {
    /// The limits of a run that is about to start its agent; what was spent before they were given comes on top, since hooks count whole
    /// sessions.
    fn of(
        state: &RunState,
        limits: &RunLimits,
        (price, rewinds): (Option<&str>, u32),
        proof: String,
    ) -> Self {
        let (all, counted): (RunSpending, RunSpending) = (state.spent(), state.counted);
        let dollars = |spent: RunSpending| spent.dollars.unwrap_or_default();
        let before = (dollars(all) - dollars(counted)).max(0.0);
        let tokens = all.tokens.saturating_sub(counted.tokens);
        Self {
            proof,
            since: state.created,
            dollars: limits.dollars.map(|limit| limit + before),
            tokens: limits.tokens.map(|limit| limit.saturating_add(tokens)),
            iterations: limits
                .iterations
                .map(|limit| limit.saturating_add(all.iterations.saturating_sub(counted.iterations))),
            price: price.map(str::to_owned),
            pipeline: state.manner.pipeline.clone(),
            step: state.manner.step.clone(),
            settings: state.manner.settings.clone(),
            rewinds,
            said: None,
            folder: PathBuf::new(),
        }
    }

    /// The limits of the run that a variable names; `None` when there is no such run, when nobody holds it, and when the number is not its own.
    pub fn of_variable(state_directory: &Path, value: &str) -> Option<Self> {
        let (id, number) = value.split_once('.')?;
        let id: RunId = id.parse().ok()?;
        let folder = Runs::new(state_directory).folder(&id, Whereabouts::Active);
        let limits: Self = serde_json::from_slice(&read(&folder.join(FILE)).ok()??).ok()?;
        (limits.proof == hash(number) && Lock::is_held(&Lock::path(&folder)))
            .then_some(Self { folder, ..limits })
    }

    /// Tells the run that a session begins, or goes on, below it.
    pub fn begins(&self, session: &HookedSession) -> Result<(), RunError> {
        let path = self.folder.join(SESSIONS);
        let line = serde_json::to_string(session)
            .map_err(|error| RunError::file("write", &path)(std::io::Error::other(error)))?;
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
            .map_err(RunError::file("write", &path))
    }

    /// Has the run end. Said once more it takes the place of what was said before.
    pub fn stop(&self, stop: &HookStop) -> Result<(), RunError> {
        let path = self.folder.join(STOP);
        let text = serde_json::to_vec(stop)
            .map_err(|error| RunError::file("write", &path)(std::io::Error::other(error)))?;
        replace(&path, &text)
    }

    /// Why the run has to end; `None` while it need not.
    pub fn stopped(&self) -> Option<HookStop> {
        read_stop(&self.folder)
    }
}

impl Runs {
    /// Writes down what the hooks of a run hold to, with its price and how often it can set its agent back; what its variable holds.
    pub fn tell_hooks(
        &self,
        state: &RunState,
        price: Option<&str>,
        rewinds: u32,
    ) -> Result<String, RunError> {
        let mut number = [0_u8; 16];
        let source = Path::new("/dev/urandom");
        File::open(source)
            .and_then(|mut file| file.read_exact(&mut number))
            .map_err(RunError::file("read", source))?;
        let number = hexadecimal(&number);
        let limits = HookLimits::of(state, &state.limits, (price, rewinds), hash(&number));
        let folder = self.folder(&state.id, Whereabouts::Active);
        // What ended the run before has been heard.
        forget_stop(&folder)?;
        let path = folder.join(FILE);
        let text = serde_json::to_vec(&limits)
            .map_err(|error| RunError::file("write", &path)(std::io::Error::other(error)))?;
        replace(&path, &text)?;
        Ok(format!("{}.{number}", state.id))
    }

    /// Takes up that a hook set the agent back: what it said has been heard, and can be said once less.
    pub fn heard_set_back(&self, id: &RunId) -> Result<(), RunError> {
        let folder = self.folder(id, Whereabouts::Active);
        let path = folder.join(FILE);
        let damaged = |error: serde_json::Error| RunError::file("read", &path)(std::io::Error::other(error));
        let text = read(&path)?.unwrap_or_default();
        let mut limits: HookLimits = serde_json::from_slice(&text).map_err(damaged)?;
        limits.rewinds = limits.rewinds.saturating_sub(1);
        limits.said = read_stop(&folder).and_then(|stop| stop.back).map(|back| back.message);
        replace(&path, &serde_json::to_vec(&limits).map_err(damaged)?)?;
        forget_stop(&folder)
    }

    /// The sessions that hooks of this run have seen begin, oldest first, beyond so many bytes of their list; and how long the list is.
    /// A line that is torn is not written yet.
    pub fn hooked_sessions(&self, id: &RunId, from: usize) -> Result<(Vec<HookedSession>, usize), RunError> {
        let text = read(&self.folder(id, Whereabouts::Active).join(SESSIONS))?.unwrap_or_default();
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        let new = text.get(from..whole).unwrap_or_default();
        let sessions =
            String::from_utf8_lossy(new).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok((sessions, whole.max(from)))
    }

    /// Why a hook wants this run to end; `None` while none does.
    pub fn hook_stop(&self, id: &RunId) -> Option<HookStop> {
        read_stop(&self.folder(id, Whereabouts::Active))
    }
}

/// Removes what ended the agent before.
fn forget_stop(folder: &Path) -> Result<(), RunError> {
    let former = folder.join(STOP);
    match fs::remove_file(&former) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RunError::file("remove", &former)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn read_stop(folder: &Path) -> Option<HookStop> {
    serde_json::from_slice(&read(&folder.join(STOP)).ok()??).ok()
}

fn hash(number: &str) -> String {
    hexadecimal(&Sha256::digest(number.as_bytes()))
}
