//! `checkrein run`: a whole agent under supervision.
//!
//! | module | holds |
//! |---|---|
//! | `given` | the credentials that the agent is given, and which of their values next |
//! | `halted` | the report on a halt of a user |
//! | `hooks` | what the hooks of the agent know of the run |
//! | `kept_records` | what other sessions have on record, held while the agent can write it |
//! | `limits` | what limits a run, and what holds it |
//! | `stream_monitor` | judges what the agent is heard doing, where no hook does |
//! | `options` | what is wanted of it |
//! | `pipeline` | whether what the run was said to belong to is known |
//! | `provider` | the circuit breaker of the provider, kept between runs |
//! | `report` | what is told at the end |
//! | `review_sum` | what the reviews of its calls came to |
//! | `reviewed_calls` | which calls its hooks reviewed |
//! | `scope` | what the kernel keeps the agent within |
//! | `session` | what is kept of a run, and going on with one |
//! | `strict` | what the strict profile wants before anything runs |
//! | `progress` | how it goes, on one line |
//! | `transcript_count` | what the transcript of the agent says it has spent, where no hook reads it |

mod given;
mod halted;
mod hooks;
mod kept_records;
mod limits;
mod options;
mod pipeline;
mod progress;
mod provider;
mod report;
mod review_sum;
mod reviewed_calls;
mod scope;
mod session;
mod stream_monitor;
mod strict;
mod transcript_count;

use std::ffi::OsString;
use std::io::{self, PipeWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use checkrein_clients::{EarlierTurn, Transcript, going_on, rewound};
use checkrein_ledger::{FolderName, is_halted};
use checkrein_patterns::{CascadeLevel, PatternKind};
use checkrein_policy::{Config, PipelineStep, Profile, SaidBy};
use checkrein_protocol::{AbsolutePath, SessionId, Timestamp};
use checkrein_session::SessionLedger;

use checkrein_sandbox::{Hold, Signals, SuperviseError};
use checkrein_supervise::{
    ATTEMPT_VARIABLE, Agent, Attempts, Interaction, Life, Milliseconds, Nesting, Passage, ProgressReport,
    Rotation, RunProgress, Stop, SupervisorExit, SupervisorLink, SupervisorSide, Switches, Turn, delay,
    runs::{HookStop, RunEnd, Runs, SetBack},
    stand_above, supervise,
};

use checkrein_world::find_workspace;

use super::exec::{plain_environment, still_there};
use super::runs::word;
use super::{ExitStatus, OutputForm, Switch, for_no_agent, line};
use crate::api::ErrorAnswer;
use crate::terminal::{answer_aside, cut, log, log_all, plain};
use checkrein_engine::answering::pattern_settings;
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::notification::{self, LeavingNotices};
use checkrein_engine::spending;
use checkrein_engine::stop::{Barrier, Stopping, stop_session};
use checkrein_engine::usage::prices;
use given::{GivenCredentials, refusal_of_key};
use hooks::HookCount;
use kept_records::KeptRecords;
use limits::{UNTOLD, counts, hold, model_of, stays_untold, switches, terminal_output, untold};
pub use options::{KillGuarantee, RunOptions};
use progress::ProgressLine;
use provider::{Answered, Provider};
use report::{Attempt, Report, SpendingWarnings, Veil, estimate_in_words};
use review_sum::ReviewSum;
pub use scope::AgentBounds;
use session::RunSession;
pub use session::RunSessionOptions;
use stream_monitor::StreamMonitor;
use transcript_count::TranscriptCount;

/// Nothing was run.
const NOTHING_RUN: u8 = 125;

/// Nothing was run, since the provider fails (upstream 3.9: a storm).
const PROVIDER_FAILS: u8 = 92;

/// Runs an agent; the exit status says how it ended, so nothing here fails in another way.
pub fn run(wanted: &RunOptions, output: OutputForm) -> ExitStatus {
    ExitStatus::Passed(
        all_attempts(wanted, output).unwrap_or_else(|error| refuse(&error, NOTHING_RUN, output)),
    )
}

/// Says why nothing runs, or runs on; the status.
fn refuse(error: &CommandError, status: u8, output: OutputForm) -> u8 {
    match output {
        OutputForm::Json => answer_aside(&ErrorAnswer::of(error, status).line()),
        OutputForm::Text => {
            log(&format!("checkrein: {}", error.message));
            if let Some(hint) = &error.hint {
                log(&format!("hint: {hint}"));
            }
        }
    }
    status
}

/// What stays the same for all attempts.
struct Plan {
    wanted: RunOptions,
    profile: Profile,
    output: OutputForm,
    environment: HostEnvironment,
    provider: Provider,
    attempts: Attempts,
    switches: Switches,
    hold: Hold,
    veil: Veil,
    given: GivenCredentials,
    nesting: Nesting,
    variables: Vec<(OsString, OsString)>,
    /// Whether an agent that nobody watches is ended when it talks itself into new work (`patterns.enabled_patterns`).
    looks_for_cascades: bool,
    config: Config,
}

fn all_attempts(wanted: &RunOptions, output: OutputForm) -> Result<u8, CommandError> {
    let signals = Signals::remembered()?;
    let resumed = match wanted.keeping.resume {
        Some(_) => Some(RunSession::prepare(wanted, &HostEnvironment::of_process()?)?),
        None => None,
    };
    let mut plan = Plan::new(resumed.as_ref().map_or(wanted, RunSession::wanted).clone(), output)?;
    if let Some(status) = plan.refused_by_breaker()? {
        return Ok(status);
    }
    // What begins anew is written down only now, when nothing speaks against it any more.
    let mut kept = resumed.map_or_else(|| RunSession::prepare(&plan.wanted, &plan.environment), Ok)?;
    plan.works_in(kept.directory())?;
    plan.switches = kept.limited(plan.switches)?;
    plan.variables.push(kept.tell_hooks()?);
    // Whoever sends from below this process may be ended with the agent, so notices are left to it.
    let notifier = Arc::clone(&plan.environment.notifier);
    plan.environment.notifier = Arc::new(LeavingNotices);
    let outer = std::process::id();
    let status = plan.attempt(&signals, &mut kept);
    if std::process::id() == outer {
        let environment = HostEnvironment { notifier, ..plan.environment.clone() };
        if let Err(error) = notification::send_waiting(&environment) {
            log(&format!("checkrein: a notice waits: {error}"));
        }
    }
    let status = status?;
    kept.archive_what_is_done();
    Ok(status)
}

impl Plan {
    fn new(mut wanted: RunOptions, output: OutputForm) -> Result<Self, CommandError> {
        let mut environment = HostEnvironment::of_process()?;
        let name = program_name(wanted.agent.first());
        let mut variables = telemetry(&environment);
        if let Some(profile) = wanted.profile {
            // The hooks of the agent, and what judges its stream, hold to the same profile.
            variables.push(("CHECKREIN_PROFILE".into(), profile.word().into()));
            let mut all = (*environment.variables).clone();
            all.insert("CHECKREIN_PROFILE".to_owned(), profile.word().to_owned());
            environment.variables = all.into();
        }
        if let Some(pipeline) = &wanted.pipeline {
            // It may hold to looser rules, so that it is for people to say.
            for_no_agent(&environment, "run --pipeline")?;
            let step =
                PipelineStep { pipeline: pipeline.clone(), step: wanted.step.clone(), said_by: SaidBy::Run };
            Arc::make_mut(&mut environment.standpoint).pipelines.push(step);
        }
        if let Some(file) = wanted.settings_file.take() {
            wanted.settings = Some(pipeline::settings(&environment, &file)?);
        }
        environment.step_settings = wanted.settings.clone().map(Arc::new);
        let loaded = config_files::load(&environment, &find_workspace(&environment.cwd))?;
        if let Some(pipeline) = &wanted.pipeline
            // What a file sets stands in no section.
            && wanted.settings.is_none()
            && let Some(unknown) = pipeline::unknown(pipeline, wanted.step.as_deref(), &loaded.sections)?
        {
            log(&format!("checkrein: {}", plain(&unknown)));
        }
        let mut config = loaded.config;
        config.limits.preset = wanted.preset.unwrap_or(config.limits.preset);
        let profile = config.profile;
        wanted.profile = Some(profile);
        if profile == Profile::Strict {
            strict::hooks_work(&environment, &name, &wanted.agent)?;
            let kept: Vec<&str> =
                wanted.keeps.iter().flatten().filter_map(|variable| variable.to_str()).collect();
            let of_agent = |variable: &str| {
                let value = environment.variables.get(variable).filter(|value| !value.is_empty());
                value.filter(|_| kept.contains(&variable))
            };
            let repository = find_workspace(&environment.cwd).join(".git");
            let is_elsewhere = wanted.keeping.worktree.is_some() && Path::new(repository.as_str()).is_dir();
            let (bounds, told) = AgentBounds::strictest(
                wanted.scope.take(),
                Provider::host(&name, of_agent),
                Some(&repository).filter(|_| is_elsewhere),
            );
            log(&format!("checkrein: {}", plain(&told)));
            wanted.scope = Some(bounds);
        }
        if let Some(scope) = &mut wanted.scope {
            scope.settle()?;
        }
        let given = GivenCredentials::of(&environment, &wanted.credentials)?;
        let veil = Veil { key: environment.state.mask_key().ok(), credentials: given.hidden() };
        let above = environment.variables.get(ATTEMPT_VARIABLE).filter(|value| !value.is_empty());
        if let Some(above) = above {
            variables.push((ATTEMPT_VARIABLE.into(), above.into()));
        }
        let nesting = if above.is_some() { Nesting::Inside } else { Nesting::Outermost };
        if wanted.retries > 0 && nesting == Nesting::Inside {
            log("checkrein: what is above tries again already, so nothing is tried again here");
        }
        Ok(Self {
            output,
            provider: Provider::of(&name, &environment),
            attempts: Attempts::new(wanted.retries, nesting),
            switches: switches(&wanted, &config),
            looks_for_cascades: pattern_settings(&config).enabled.contains(&PatternKind::Cascade),
            config,
            hold: hold(wanted.hold, profile)?,
            profile,
            wanted,
            environment,
            veil,
            given,
            nesting,
            variables,
        })
    }

    /// Has the agent, and what judges it, work in another directory.
    fn works_in(&mut self, directory: &Path) -> Result<(), CommandError> {
        let path = directory.to_str().and_then(AbsolutePath::new).ok_or_else(|| {
            CommandError::user(
                format!("`{}` is not a name of plain text", plain(&directory.to_string_lossy())),
                "work in a directory with another name",
            )
        })?;
        self.variables.push(("PWD".into(), directory.into()));
        self.environment.cwd = path;
        Ok(())
    }

    /// The status to end with, when the provider is known to fail and nobody said to try all the same.
    fn refused_by_breaker(&self) -> Result<Option<u8>, CommandError> {
        match self.provider.ask(self.environment.now().0)? {
            Passage::Free | Passage::Trial => Ok(None),
            Passage::Closed { until, failures } => {
                let name = plain(&self.provider.name);
                let error = CommandError::user(
                    format!(
                        "`{name}` failed {failures} times within minutes, or its quota is used up; earliest retry at {}",
                        Timestamp(until).calendar().to_rfc3339()
                    ),
                    "wait until then, or try all the same with `--ignore-breaker`",
                );
                if self.wanted.ignore_breaker == Switch::On {
                    log(&format!("checkrein: {}", error.message));
                    return Ok(None);
                }
                Ok(Some(refuse(&error, PROVIDER_FAILS, self.output)))
            }
        }
    }

    /// Attempt after attempt, until one is the last; the status of the run.
    fn attempt(&self, signals: &Signals, kept: &mut RunSession) -> Result<u8, CommandError> {
        let mut before: Option<Attempt> = None;
        let mut switches = self.switches;
        let mut rotation = Rotation::new(self.given.values(), self.nesting);
        // What an agent without bounds may do is for its hooks to say.
        let mut records = self.wanted.scope.as_ref().map(|_| KeptRecords::of(&self.environment));
        for made in 1_u32.. {
            let (told, tells) = io::pipe()?;
            let shown = rotation.current();
            self.given.record(&self.environment, shown, kept.id(), None);
            let above = match stand_above(signals)? {
                SupervisorSide::Inner(above) => {
                    drop(told);
                    kept.leave_locks_to_the_other();
                    let next = NextAttempt { switches, made, before: before.as_ref(), value: shown };
                    return self.within(&above, &next, tells, (kept, &mut records));
                }
                SupervisorSide::Outer(seen) => seen,
            };
            drop(tells);
            let ended = match above {
                SupervisorExit::Ended(status) => status,
                SupervisorExit::Killed(ended) => {
                    records.iter_mut().for_each(KeptRecords::finish);
                    let left = if ended.left == 0 {
                        String::new()
                    } else {
                        format!("; {}", still_there(ended.left))
                    };
                    log(&format!(
                        "checkrein: what supervised the agent was killed or stopped; {} processes of it are ended{left}",
                        ended.count
                    ));
                    return Ok(Stop::Abandoned.status());
                }
            };
            // The process that tried has written down what came of it.
            kept.read_again();
            // What came to nothing has been said by it too.
            let Some(attempt) = Attempt::heard(told) else { return Ok(ended) };
            let turn = rotation.refused(attempt.failure);
            if let Some(cause) = refusal_of_key(attempt.failure) {
                self.given.record(&self.environment, shown, kept.id(), Some(cause));
            }
            // What one value of several is refused says nothing about the provider.
            let earliest = match turn {
                Turn::Next { .. } => None,
                Turn::Unconcerned | Turn::UsedUp => self.learned(&attempt)?,
            };
            let used = attempt.tokens.counted();
            let time = Duration::from_secs_f64(attempt.seconds.max(0.0));
            let left = switches.less(used, attempt.cost, attempt.iterations, time);
            let mut attempt = attempt.after(before.as_ref());
            if let (Some(_), Some(left)) = (&attempt.back, left) {
                kept.set_back()?;
                switches = left;
                before = Some(attempt);
                continue;
            }
            match (turn, left) {
                (Turn::Next { value, tried }, Some(left)) if self.takes(value, tried, &attempt, signals) => {
                    switches = left;
                    before = Some(attempt);
                    continue;
                }
                (Turn::UsedUp, _) => {
                    attempt.status = PROVIDER_FAILS;
                    attempt.stopped_by = Some("credentials".to_owned());
                    let reason = self.given.used_up();
                    attempt.reason = Some(reason.clone());
                    self.report_stop(&attempt, &reason);
                    return self.tell(made, attempt, earliest, kept);
                }
                (Turn::Next { .. }, _) => return self.tell(made, attempt, earliest, kept),
                (Turn::Unconcerned, _) => {}
            }
            match left {
                Some(left)
                    if earliest.is_none()
                        && self.attempts.allow(attempt.failure, made)
                        && self.pause(made, &attempt, signals) =>
                {
                    switches = left;
                    before = Some(attempt);
                }
                _ => return self.tell(made, attempt, earliest, kept),
            }
        }
        Ok(NOTHING_RUN)
    }

    /// One attempt, in a process of its own below the one that waits. Returns the status of the run, should it be the last one.
    fn within(
        &self,
        above: &SupervisorLink,
        next: &NextAttempt<'_>,
        mut tells: PipeWriter,
        (kept, records): (&mut RunSession, &mut Option<KeptRecords>),
    ) -> Result<u8, CommandError> {
        let signals = Signals::remembered()?;
        let &NextAttempt { switches, made, before, .. } = next;
        let agent = self.agent(next)?;
        kept.start(self.environment.now().0)?;
        let mut teller = ProgressLine::new(agent.interaction, self.output);
        let (mut monitor, speaker) = StreamMonitor::new(&self.environment, self.profile, kept.id());
        let mut said = String::new();
        let mut hooks = HookCount::new(&self.environment, kept.id());
        let client = checkrein_clients::of_program(&program_name(self.wanted.agent.first()));
        let is_written_late = client.is_some_and(|client| client.transcript == Transcript::Keeps);
        let mut transcript = TranscriptCount::new(&self.environment, client, agent.prices.clone());
        let count = |progress: &mut RunProgress, life: Life| {
            hooks.add_to(progress, life);
            // One that is written late is read by no hook at its end.
            if !hooks.has_sessions() || is_written_late {
                transcript.add_to(progress, life);
            }
        };
        let untold = untold(&switches, &self.wanted.agent, &self.environment);
        if let (Some(why), 1) = (&untold, made) {
            log(&format!(
                "checkrein: the agent is stopped after {} s, because what it spends cannot be counted, so its limits could not hold: {why}",
                UNTOLD.as_secs()
            ));
        }
        let started = Instant::now();
        let (runs, run) = (Runs::new(self.environment.state.root()), kept.id().clone());
        let counts_tokens = switches.budget.is_some() || switches.tokens.is_some();
        let judge = |progress: &RunProgress| {
            records.iter_mut().for_each(KeptRecords::look);
            let halted = halt(&self.environment, progress.session.as_deref())
                // What its hooks halted they also say, with the reason.
                .filter(|_| runs.hook_stop(&run).is_none())
                .map(Stop::Halted);
            let own = halted.or_else(|| monitor.judge());
            // Answers are told also by a client that tells no tokens.
            let untold = untold.as_deref().filter(|_| counts_tokens || progress.iterations == 0);
            own.or_else(|| stays_untold(untold, started.elapsed(), progress)).or_else(|| match self.profile {
                Profile::Unattended | Profile::Strict if self.looks_for_cascades => {
                    cascade(progress, &mut said, &self.config.patterns.cascade_patterns)
                }
                Profile::Interactive | Profile::Unattended | Profile::Strict => None,
            })
        };
        let mut estimated = None;
        let mut is_late = false;
        let mut is_hinted = false;
        let mut warnings =
            SpendingWarnings::new(self.switches.budget, before.map_or(0.0, |before| before.cost));
        let watch = |moment: &ProgressReport| {
            teller.tell(moment);
            if moment.ignored_interrupts > 0 && !is_hinted {
                is_hinted = true;
                log(
                    "checkrein: the agent does not take Ctrl-C; once more stops it, and everything that it started",
                );
            }
            if let Some(text) = warnings.next(moment.progress.dollars()) {
                log(&format!("checkrein: {text}"));
                let session = moment.progress.session.as_deref().unwrap_or_default();
                let workspace = find_workspace(&self.environment.cwd);
                spending::tell(&self.environment, &self.config, &workspace, session, &text);
            }
            // Said at once where a budget rests on it, else at the end.
            if switches.budget.is_some() && estimated != moment.progress.estimated {
                estimated.clone_from(&moment.progress.estimated);
                if let Some(estimate) = &estimated {
                    log(&format!("checkrein: {}", plain(&estimate_in_words(estimate))));
                }
            }
            let needs_counting = switches.budget.is_some() || switches.tokens.is_some();
            if needs_counting && moment.progress.untold_turn && !is_late {
                is_late = true;
                log(
                    "checkrein: the agent tells its tokens at the end of a turn only; until then at least what its steps hold is counted, and its limits hold late",
                );
            }
            kept.progressed(moment, || self.environment.now().0);
        };
        let outcome =
            supervise(&agent, above, &signals, Some(speaker), count, judge, watch).map_err(|error| {
                kept.fail(NOTHING_RUN, &error.to_string(), self.environment.now().0);
                let hint = error.hint();
                match error {
                    SuperviseError::NotFound { program } => {
                        CommandError::user(format!("`{program}` is not there"), hint)
                    }
                    other => other.into(),
                }
            })?;
        teller.finish();
        records.iter_mut().for_each(KeptRecords::finish);
        let attempt = Attempt { estimate_is_told: estimated.is_some(), ..Attempt::of(&outcome, monitor) };
        let end = RunEnd {
            status: attempt.status,
            stopped_by: attempt.stopped_by.clone(),
            reason: attempt.reason.as_deref().map(|reason| self.veil.over(reason)),
            failure: attempt.failure,
        };
        kept.end(&outcome.moment, end, self.environment.now().0);
        match (&outcome.stop, &attempt.reason) {
            (Some(Stop::Hooks(HookStop { report: Some(report), .. })), _) => {
                log(&format!("checkrein: {}", plain(report)));
            }
            (_, Some(reason)) => self.report_stop(&attempt, &self.veil.over(reason)),
            (_, None) => {}
        }
        tells.write_all(line(&attempt)?.as_bytes())?;
        Ok(attempt.status)
    }

    /// Reports that a switch ended the agent. A halt is reported by who asked for it, unless that was a plain file; a signal is a user at
    /// the keyboard.
    fn report_stop(&self, attempt: &Attempt, reason: &str) {
        let name = attempt.stopped_by.as_deref().unwrap_or_default();
        if matches!(name, "signal" | "abandoned") {
            return;
        }
        let ran = Duration::from_secs_f64(attempt.seconds.max(0.0)).as_millis();
        let since = self.environment.now().0.saturating_sub(u64::try_from(ran).unwrap_or(u64::MAX));
        if let ("halted", Some(session)) = (name, &attempt.session)
            && let Some(id) = halted::report(&self.environment, session, since)
        {
            log(&format!("checkrein: The report: `checkrein incident show {id}`"));
            return;
        }
        let session = attempt.session.clone().map(SessionId);
        let ledger = session.map(|session| SessionLedger::open(&self.environment.state, &session));
        let state = ledger.as_ref().and_then(|ledger| ledger.state().ok()).unwrap_or_default();
        let saved = stop_session(
            &Stopping {
                environment: &self.environment,
                config: &self.config,
                workspace: &find_workspace(&self.environment.cwd),
                ledger: ledger.as_ref(),
                state: &state,
                barrier: Barrier::None,
                by: &format!("run: {name}"),
                reason,
                issue: None,
                switch: None,
                since: Some(Timestamp(since)),
            },
            Vec::new(),
        );
        log_all(&self.environment.diagnostics.take());
        log(&format!("checkrein: {}", plain(saved.trim_start())));
    }

    fn agent(&self, next: &NextAttempt<'_>) -> Result<Agent, CommandError> {
        let &NextAttempt { switches, made, before, value } = next;
        let mut variables = self.variables.clone();
        variables.extend(self.given.variables(value));
        if self.attempts.any() {
            variables.push((ATTEMPT_VARIABLE.into(), made.to_string().into()));
        }
        let strictly = || (self.profile == Profile::Strict).then(Vec::new);
        let keeps = self.wanted.keeps.clone().or_else(strictly);
        let session = before.and_then(|before| before.session.as_deref());
        let words = before.and_then(|before| before.back.as_ref()).and_then(|back| {
            let SetBack { session, turn, message, .. } = back;
            rewound(&self.wanted.agent, &EarlierTurn { session, turn, message })
        });
        let words = words.unwrap_or_else(|| going_on(&self.wanted.agent, session).words);
        let words = match &self.wanted.scope {
            Some(scope) => scope.around(words, &self.environment, self.output)?,
            None => words,
        };
        let mut words = words.into_iter();
        Ok(Agent {
            program: words.next().unwrap_or_default(),
            arguments: words.collect(),
            directory: self.environment.cwd.as_str().into(),
            variables,
            environment: keeps.as_deref().map(plain_environment),
            switches,
            prices: prices(&self.environment, self.wanted.price.as_deref())?,
            model: model_of(&self.wanted.agent, &self.environment),
            interaction: Interaction::of_process(),
            terminal_output: terminal_output(&self.wanted.agent),
            hold: self.hold,
        })
    }

    /// Keeps what was learned of the provider; when it may be called again, when that is not at once.
    fn learned(&self, attempt: &Attempt) -> Result<Option<Milliseconds>, CommandError> {
        let answered = if attempt.iterations > 0 { Answered::Yes } else { Answered::NotKnown };
        self.provider.ended(self.environment.now().0, attempt.failure, answered)
    }

    /// Goes on to another value of the credentials; whether the agent is started with it.
    fn takes(&self, value: usize, tried: u32, attempt: &Attempt, signals: &Signals) -> bool {
        let failure = attempt.failure.map_or_else(String::new, |failure| word(failure.cause));
        log(&format!(
            "checkrein: `{}` refused ({failure}); going on with {}",
            plain(&self.provider.name),
            self.given.in_words(value)
        ));
        let is_halted = halt(&self.environment, attempt.session.as_deref()).is_some();
        !is_halted && signals.asked().is_none() && (tried == 0 || self.pause(tried, attempt, signals))
    }

    /// Waits before the next attempt; whether it is made.
    fn pause(&self, made: u32, attempt: &Attempt, signals: &Signals) -> bool {
        let chance = f64::from(u32::try_from(self.environment.now().0 % 1000).unwrap_or(0)) / 1000.0;
        let time = delay(made, chance);
        let failure = attempt.failure.map_or_else(String::new, |failure| word(failure.cause));
        log(&format!(
            "checkrein: `{}` failed ({failure}); attempt {} in {:.1} s",
            plain(&self.provider.name),
            made + 1,
            time.as_secs_f64()
        ));
        let until = Instant::now() + time;
        while Instant::now() < until {
            if signals.asked().is_some() || halt(&self.environment, attempt.session.as_deref()).is_some() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        true
    }

    fn tell(
        &self,
        attempts: u32,
        last: Attempt,
        earliest: Option<Milliseconds>,
        kept: &RunSession,
    ) -> Result<u8, CommandError> {
        let status = last.status;
        let switches = &self.switches;
        let reviews = ReviewSum::of(&self.environment, kept.id(), kept.created(), &last.watched);
        let report = Report {
            attempts,
            last,
            provider: self.provider.name.clone(),
            earliest_retry: earliest.map(|time| Timestamp(time).calendar().to_rfc3339()),
            counts: counts(switches),
            held_by: match self.hold {
                Hold::Processes => "processes",
                Hold::Namespace => "namespace",
                Hold::UserNamespace => "user_namespace",
            },
            run: kept.id().to_string(),
            worktree: kept.worktree().map(str::to_owned),
            directory: kept.directory().to_string_lossy().into_owned(),
            reviews,
            next_step: kept.next_step(&self.environment),
            repository: kept.shared_changes(&self.environment),
        };
        report.tell(&self.veil, self.output)?;
        Ok(status)
    }
}

/// What the next attempt begins with.
struct NextAttempt<'a> {
    switches: Switches,
    /// How many attempts there are with it.
    made: u32,
    before: Option<&'a Attempt>,
    /// Which value of the credentials it gets.
    value: usize,
}

/// The name of a program without where it lies.
fn program_name(program: Option<&OsString>) -> String {
    let name = program.and_then(|program| Path::new(program).file_name());
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The first kill switch: what turns telemetry off in the agents and the programs that they use.
fn telemetry(environment: &HostEnvironment) -> Vec<(OsString, OsString)> {
    if environment.variables.get("CHECKREIN_TELEMETRY").is_none_or(|value| value != "0") {
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
fn halt(environment: &HostEnvironment, session: Option<&str>) -> Option<String> {
    let session = SessionId(session.unwrap_or_default().to_owned());
    is_halted(&environment.state, &FolderName::of(&session)).map(|halt| halt.reason)
}

/// Whether the agent has just talked itself into new work, which nobody is there to approve.
fn cascade(progress: &RunProgress, said: &mut String, own: &[String]) -> Option<Stop> {
    if progress.said == *said {
        return None;
    }
    said.clone_from(&progress.said);
    let found = checkrein_patterns::cascade(said, own);
    (found.level >= CascadeLevel::High).then(|| Stop::Cascade(plain(&cut(said, 80))))
}
