//! What the hooks of the agent know of a run: what its sessions have spent, and that it has to end. A client whose output says nothing is
//! counted so.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::usage::spent_by;
use checkrein_protocol::{ModelUsage, SessionId, TokenCounts};
use checkrein_session::SessionLedger;
use checkrein_supervise::{
    Estimate, Life, RunProgress,
    runs::{HookStop, RunId, RunSpending, Runs},
};

/// How often the ledgers are looked at (ours).
const LOOKING: Duration = Duration::from_millis(250);

/// How long a hook has to write its report after it said that the run has to end (ours).
const REPORTING: Duration = Duration::from_secs(2);

/// After so many calls of a session something of what it spent has been read, or will never be (ours).
const UNREAD: u64 = 3;

/// A session below the run.
struct Session {
    name: String,
    ledger: SessionLedger,
    /// What it had spent before the attempt.
    before: RunSpending,
    /// The length of its ledger when it was counted last.
    length: u64,
    /// What it spent since, and of which tokens.
    spent: RunSpending,
    tokens: TokenCounts,
    tokens_before: TokenCounts,
    /// How the first of its models without a listed price is counted.
    estimated: Option<Estimate>,
    /// Whether it has worked and nothing of what it spent could be read.
    is_unread: bool,
}

/// Counts by what hooks write down.
pub(super) struct HookCount {
    runs: Runs,
    run: RunId,
    environment: HostEnvironment,
    /// How much of the list of sessions is known.
    known: usize,
    sessions: Vec<Session>,
    looked: Option<Instant>,
    stopped: Option<Instant>,
}

impl HookCount {
    /// One for an attempt that begins now.
    pub(super) fn new(environment: &HostEnvironment, run: &RunId) -> Self {
        let runs = Runs::new(environment.state.root());
        // Sessions of earlier attempts were counted then.
        let known = runs.hooked_sessions(run, 0).map_or(0, |(_, length)| length);
        Self {
            runs,
            run: run.clone(),
            environment: environment.clone(),
            known,
            sessions: Vec::new(),
            looked: None,
            stopped: None,
        }
    }

    /// Whether hooks were called for a session below the run.
    pub(super) fn has_sessions(&self) -> bool {
        !self.sessions.is_empty()
    }

    /// Adds what the hooks know to what the client told; of two counts the higher one holds.
    pub(super) fn add_to(&mut self, progress: &mut RunProgress, life: Life) {
        let mut stop = self.runs.hook_stop(&self.run);
        if stop.is_some() {
            let since = *self.stopped.get_or_insert_with(Instant::now);
            let is_ready = |stop: &Option<HookStop>| stop.as_ref().is_some_and(|stop| stop.report.is_some());
            while life == Life::Ended && !is_ready(&stop) && since.elapsed() < REPORTING {
                thread::sleep(Duration::from_millis(10));
                stop = self.runs.hook_stop(&self.run);
            }
            if !is_ready(&stop) && since.elapsed() < REPORTING {
                // The hook writes its report: what it has counted must not end the run by another name meanwhile.
                return;
            }
        }
        if self.looked.is_none_or(|time| time.elapsed() >= LOOKING) || stop.is_some() || life == Life::Ended {
            self.look();
            self.looked = Some(Instant::now());
        }
        progress.hook_stop = stop;
        let Some(first) = self.sessions.first() else { return };
        let is_told = progress.session.is_some() || progress.iterations > 0;
        progress.session.get_or_insert_with(|| first.name.clone());
        let all = self.sessions.iter().fold(RunSpending::default(), |sum, session| sum.plus(&session.spent));
        let tokens =
            self.sessions.iter().fold(TokenCounts::default(), |sum, session| sum.plus(&session.tokens));
        if tokens.counted() > progress.tokens.counted() {
            progress.tokens = tokens;
        }
        progress.iterations = progress.iterations.max(all.iterations);
        if progress.estimated.is_none() {
            progress.estimated = self.sessions.iter().find_map(|session| session.estimated.clone());
        }
        let mut doubt = |why: &str| {
            progress.uncounted.get_or_insert_with(|| why.to_owned());
        };
        match all.dollars {
            Some(dollars) => progress.cost = progress.cost.max(dollars),
            None => doubt("the price of one of its models is not known"),
        }
        if !is_told && self.sessions.iter().any(|session| session.is_unread) {
            doubt("the transcript of its session cannot be read");
        }
    }

    fn look(&mut self) {
        if let Ok((begun, length)) = self.runs.hooked_sessions(&self.run, self.known) {
            self.known = length;
            for one in begun {
                if self.sessions.iter().all(|known| known.name != one.session) {
                    let ledger =
                        SessionLedger::open(&self.environment.state, &SessionId(one.session.clone()));
                    self.sessions.push(Session {
                        name: one.session,
                        ledger,
                        before: one.before,
                        length: 0,
                        spent: RunSpending::default(),
                        tokens: TokenCounts::default(),
                        tokens_before: one.tokens,
                        estimated: None,
                        is_unread: false,
                    });
                }
            }
        }
        self.sessions.iter_mut().for_each(Session::count);
    }
}

impl Session {
    fn count(&mut self) {
        let length = fs::metadata(self.ledger.path()).map_or(0, |facts| facts.len());
        if length == self.length {
            return;
        }
        let Ok(state) = self.ledger.state() else { return };
        self.length = length;
        let now = spent_by(&state);
        let estimate =
            |one: &ModelUsage| Some(Estimate { model: one.model.clone(), like: one.like.clone()? });
        self.estimated = state.spent().models().iter().find_map(estimate);
        self.is_unread = !state.spent().is_metered() && state.outcomes() >= UNREAD;
        self.tokens = state.spent().tokens().beyond(&self.tokens_before);
        self.spent = RunSpending {
            dollars: now.dollars.zip(self.before.dollars).map(|(now, before)| (now - before).max(0.0)),
            tokens: self.tokens.counted(),
            iterations: now.iterations.saturating_sub(self.before.iterations),
            milliseconds: 0,
        };
    }
}
