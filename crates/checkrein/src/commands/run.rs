//! `checkrein run`: a whole agent under supervision.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use checkrein_ledger::{FolderName, is_halted};
use checkrein_patterns::{Cascade, CascadeLevel};
use checkrein_protocol::SessionId;
use checkrein_supervise::{
    Above, Agent, Bytes, Interaction, Moment, Position, Progress, RunOutcome, Signals, Stop, SuperviseError,
    Switches, Waited, stand_above, supervise,
};
use serde_json::json;

use super::exec::plain_environment;
use super::{Exit, Output, line};
use crate::error::CommandError;
use crate::spending::prices;
use crate::surroundings::Surroundings;
use crate::terminal::{cut, log, plain};

/// The command line in our words.
#[derive(Debug)]
pub struct Wanted {
    /// US dollars; 0 is no limit.
    pub budget: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Answers of the model.
    pub iterations: Option<u64>,
    /// Time by the clock.
    pub time: Option<Duration>,
    /// Memory of all processes together.
    pub memory: Option<Bytes>,
    /// Which limits hold besides.
    pub profile: Profile,
    /// Only the plainest variables and these; all when `None`.
    pub keeps: Option<Vec<OsString>>,
    /// The agent and its arguments; not empty.
    pub agent: Vec<OsString>,
}

/// Whether a person watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Yes: only what is asked for is limited.
    Interactive,
    /// No: the limits of the seeds.
    Unattended,
}

/// Nothing was run.
const NOTHING_RUN: u8 = 125;

/// How often a person is told how it goes.
const TELLING: Duration = Duration::from_secs(1);

/// Runs an agent; the exit status says how it ended, so nothing here fails in another way.
pub fn run(wanted: &Wanted, output: Output) -> Exit {
    let status = match stand_above() {
        Ok(Position::Outer(Waited::Ended(status))) => return Exit::Passed(status),
        Ok(Position::Outer(Waited::Killed(ended))) => {
            log(&format!(
                "checkrein: what supervised the agent was killed; {ended} processes of it are ended"
            ));
            return Exit::Passed(Stop::Abandoned.status());
        }
        Ok(Position::Inner(above)) => within(wanted, &above, output),
        Err(error) => Err(error.into()),
    };
    Exit::Passed(status.unwrap_or_else(|error| {
        log(&format!("checkrein: {}", error.message));
        if let Some(hint) = error.hint {
            log(&format!("hint: {hint}"));
        }
        NOTHING_RUN
    }))
}

fn within(wanted: &Wanted, above: &Above, output: Output) -> Result<u8, CommandError> {
    let surroundings = Surroundings::of_process()?;
    let signals = Signals::remembered()?;
    let agent = agent(wanted, &surroundings)?;
    let mut teller = Teller::new(agent.interaction, output);
    let mut said = String::new();
    let judge = |progress: &Progress| {
        halt(&surroundings, progress).map(Stop::Halted).or_else(|| match wanted.profile {
            Profile::Interactive => None,
            Profile::Unattended => cascade(progress, &mut said),
        })
    };
    let outcome =
        supervise(&agent, above, &signals, judge, |moment| teller.tell(moment)).map_err(|error| {
            let hint = error.hint();
            match error {
                SuperviseError::NotFound { program } => {
                    CommandError::user(format!("`{program}` is not there"), hint)
                }
                other => other.into(),
            }
        })?;
    teller.finish();
    report(&outcome, &agent.switches, output)?;
    Ok(outcome.stop.as_ref().map_or(outcome.status, Stop::status))
}

fn agent(wanted: &Wanted, surroundings: &Surroundings) -> Result<Agent, CommandError> {
    let base = match wanted.profile {
        Profile::Interactive => Switches::default(),
        Profile::Unattended => Switches::unattended(),
    };
    let switches = Switches {
        // Zero dollars is the word for no limit (seed 004).
        budget: wanted.budget.or(base.budget).filter(|dollars| *dollars > 0.0),
        tokens: wanted.tokens.or(base.tokens),
        iterations: wanted.iterations.or(base.iterations),
        time: wanted.time.or(base.time),
        memory: wanted.memory.or(base.memory),
    };
    let mut words = wanted.agent.iter().cloned();
    Ok(Agent {
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
        directory: surroundings.cwd.as_str().into(),
        variables: telemetry(surroundings),
        environment: wanted.keeps.as_deref().map(plain_environment),
        switches,
        prices: prices(surroundings)?,
        interaction: Interaction::of_process(),
    })
}

/// The first kill switch: what turns telemetry off in the agents and the programs that they use.
fn telemetry(surroundings: &Surroundings) -> Vec<(OsString, OsString)> {
    if surroundings.variables.get("CHECKREIN_TELEMETRY").is_none_or(|value| value != "0") {
        return Vec::new();
    }
    let words = [
        ("DISABLE_TELEMETRY", "1"),
        ("DO_NOT_TRACK", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_ENABLE_TELEMETRY", "0"),
        ("OTEL_SDK_DISABLED", "true"),
    ];
    words.map(|(name, value)| (name.into(), value.into())).to_vec()
}

/// Whether somebody halted this session, or all.
fn halt(surroundings: &Surroundings, progress: &Progress) -> Option<String> {
    let session = SessionId(progress.session.clone().unwrap_or_default());
    is_halted(&surroundings.state, &FolderName::of(&session)).map(|halt| halt.reason)
}

/// Whether the agent has just talked itself into new work, which nobody is there to approve.
fn cascade(progress: &Progress, said: &mut String) -> Option<Stop> {
    if progress.said == *said {
        return None;
    }
    said.clone_from(&progress.said);
    let found = Cascade::of(said);
    (found.level >= CascadeLevel::High).then(|| Stop::Cascade(plain(&cut(said, 80))))
}

/// Tells a person how it goes, on one line that is written over.
struct Teller {
    tells: bool,
    last: Option<Instant>,
}

impl Teller {
    fn new(interaction: Interaction, output: Output) -> Self {
        let alone = interaction == Interaction::Pipes && output == Output::Text;
        Self { tells: alone && io::stderr().is_terminal() && env::var_os("TERM").is_some(), last: None }
    }

    fn tell(&mut self, moment: &Moment) {
        if !self.tells || self.last.is_some_and(|time| time.elapsed() < TELLING) {
            return;
        }
        self.last = Some(Instant::now());
        drop(write!(io::stderr().lock(), "\r\x1b[K{}", summary(moment)));
    }

    fn finish(&self) {
        if self.last.is_some() {
            drop(write!(io::stderr().lock(), "\r\x1b[K"));
        }
    }
}

fn summary(moment: &Moment) -> String {
    let progress = &moment.progress;
    let cost =
        progress.dollars().map_or("cost not known".to_owned(), |dollars| format!("{dollars:.2} dollars"));
    let usage = moment.usage.map(|usage| format!(" · {} processes, {}", usage.processes, usage.bytes()));
    format!(
        "{} s · {} answers · {} tokens · {cost}{}",
        moment.running.as_secs(),
        progress.iterations,
        progress.tokens.counted(),
        usage.unwrap_or_default()
    )
}

fn report(outcome: &RunOutcome, switches: &Switches, output: Output) -> Result<(), CommandError> {
    let progress = &outcome.moment.progress;
    let counts = switches.budget.is_some() || switches.tokens.is_some() || switches.iterations.is_some();
    let told = progress.iterations > 0 || progress.session.is_some();
    if output == Output::Json {
        log(&line(&json!({
            "status": outcome.stop.as_ref().map_or(outcome.status, Stop::status),
            "stopped_by": outcome.stop.as_ref().map(Stop::name),
            "reason": outcome.stop.as_ref().map(ToString::to_string),
            "told": told,
            "session": progress.session,
            "seconds": outcome.moment.running.as_secs_f64(),
            "stopping_seconds": outcome.stopping.map(|time| time.as_secs_f64()),
            "tokens": progress.tokens,
            "cost": progress.dollars(),
            "iterations": progress.iterations,
            "ended": outcome.ended,
        }))?);
        return Ok(());
    }
    match &outcome.stop {
        Some(stop) => log(&plain(&format!(
            "checkrein: the agent is stopped: {stop} ({}); nothing of it is left",
            summary(&outcome.moment)
        ))),
        None if counts && !told => log(
            "checkrein: the agent told nothing of its answers in a form that is understood, so tokens, cost and answers were not limited",
        ),
        None if outcome.ended > 0 => {
            log(&format!(
                "checkrein: {} processes were left behind by the agent and are ended",
                outcome.ended
            ));
        }
        None => {}
    }
    Ok(())
}
