//! What limits a run, and what holds it: what was asked for, else what the configuration and its profile say.

use std::ffi::OsString;
use std::time::Duration;

use checkrein_policy::{Config, Profile};
use checkrein_supervise::{Bytes, Hold, Switches};

use super::{HoldWanted, Wanted};
use crate::terminal::log;
use checkrein_engine::error::CommandError;

/// What is asked for, else what the configuration and its profile say. Zero is the word for no limit (seed 004).
pub(super) fn switches(wanted: &Wanted, config: &Config) -> Switches {
    let silence = match config.profile {
        Profile::Interactive => None,
        Profile::Unattended | Profile::Strict => Some(Switches::SILENCE),
    };
    let execution = config.execution_limit_seconds().map(Duration::from_secs);
    let memory = config.memory_limit_mb().map(Bytes::of_megabytes);
    Switches {
        budget: wanted.budget.or(config.dollar_limit()).filter(|dollars| *dollars > 0.0),
        tokens: wanted.tokens.or(config.token_limit()).filter(|tokens| *tokens > 0),
        iterations: wanted.iterations.or(config.answer_limit()).filter(|answers| *answers > 0),
        time: wanted.time.or(execution).filter(|time| !time.is_zero()),
        idle: wanted.idle.or(silence).filter(|time| !time.is_zero()),
        memory: wanted.memory.or(memory).filter(|memory| memory.0 > 0),
    }
}

/// The model that an agent is told to use on its command line.
pub(super) fn model_of(agent: &[OsString]) -> Option<String> {
    let words: Vec<&str> = agent.iter().filter_map(|word| word.to_str()).collect();
    let beside =
        words.windows(2).find(|pair| matches!(pair, ["-m" | "--model", _])).and_then(|pair| pair.last());
    beside.copied().or_else(|| words.iter().find_map(|word| word.strip_prefix("--model="))).map(str::to_owned)
}

/// What ends the agent when we are all killed: as much as the profile wants of what is to be had. In a namespace with a person before it,
/// or in one without rights that others notice, is nobody who did not ask for it.
pub(super) fn hold(wanted: HoldWanted, profile: Profile) -> Result<Hold, CommandError> {
    let (ways, must): (&[Hold], bool) = match (wanted, profile) {
        (HoldWanted::Processes, _) | (HoldWanted::Profile, Profile::Interactive) => (&[], false),
        (HoldWanted::Profile, Profile::Unattended) => (&[Hold::Namespace], false),
        (HoldWanted::Profile, Profile::Strict) => (&[Hold::Namespace, Hold::UserNamespace], false),
        (HoldWanted::Namespace, _) => (&[Hold::Namespace, Hold::UserNamespace], true),
    };
    let mut refused = None;
    for way in ways {
        match way.probe() {
            Ok(()) => return Ok(*way),
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(error) if must => Err(error.into()),
        Some(_) => {
            log(
                "checkrein: this machine does not hold: what the agent started, should all processes of checkrein be killed in one moment",
            );
            Ok(Hold::Processes)
        }
        None => Ok(Hold::Processes),
    }
}
