//! What the hooks of an agent hold to while a run stands above it: the limits of the run, in the place of those of the configuration.
//!
//! A hook is told in a variable which run it belongs to, and a number that only that run knows. Whoever else sets the variable, such as the
//! settings of a repository, does not know the number of a run that lives, so it is believed only where it is true.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::RunError;
use super::file::{hexadecimal, read, replace};
use super::lock::Lock;
use super::state::{Limits, RunId, RunState, Spent};
use super::store::{Runs, Whereabouts};

/// The variable that names the run above an agent.
pub const RUN_VARIABLE: &str = "CHECKREIN_RUN";

/// The file of a run that holds them.
const FILE: &str = "hooks.json";

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
    /// One price for every model, in the words of the command line.
    pub price: Option<String>,
}

impl HookLimits {
    /// The limits of a run that is about to start its agent; what was spent before they were given comes on top, since hooks count whole
    /// sessions.
    fn of(state: &RunState, limits: &Limits, price: Option<&str>, proof: String) -> Self {
        let (all, counted): (Spent, Spent) = (state.spent(), state.counted);
        let dollars = |spent: Spent| spent.dollars.unwrap_or_default();
        let before = (dollars(all) - dollars(counted)).max(0.0);
        let tokens = all.tokens.saturating_sub(counted.tokens);
        Self {
            proof,
            since: state.created,
            dollars: limits.dollars.map(|limit| limit + before),
            tokens: limits.tokens.map(|limit| limit.saturating_add(tokens)),
            price: price.map(str::to_owned),
        }
    }

    /// The limits of the run that a variable names; `None` when there is no such run, when nobody holds it, and when the number is not its own.
    pub fn of_variable(state_directory: &Path, value: &str) -> Option<Self> {
        let (id, number) = value.split_once('.')?;
        let id: RunId = id.parse().ok()?;
        let folder = Runs::new(state_directory).folder(&id, Whereabouts::Active);
        let limits: Self = serde_json::from_slice(&read(&folder.join(FILE)).ok()??).ok()?;
        (limits.proof == hash(number) && Lock::is_held(&Lock::path(&folder))).then_some(limits)
    }
}

impl Runs {
    /// Writes down what the hooks of a run hold to; what its variable holds.
    pub fn tell_hooks(&self, state: &RunState, price: Option<&str>) -> Result<String, RunError> {
        let mut number = [0_u8; 16];
        let source = Path::new("/dev/urandom");
        File::open(source)
            .and_then(|mut file| file.read_exact(&mut number))
            .map_err(RunError::file("read", source))?;
        let number = hexadecimal(&number);
        let limits = HookLimits::of(state, &state.limits, price, hash(&number));
        let path = self.folder(&state.id, Whereabouts::Active).join(FILE);
        let text = serde_json::to_vec(&limits)
            .map_err(|error| RunError::file("write", &path)(std::io::Error::other(error)))?;
        replace(&path, &text)?;
        Ok(format!("{}.{number}", state.id))
    }
}

fn hash(number: &str) -> String {
    hexadecimal(&Sha256::digest(number.as_bytes()))
}
