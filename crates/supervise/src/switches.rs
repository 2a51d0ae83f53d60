//! The kill switches of a run (seed 004): budget, circuit breaker, iterations, time and memory, as one pure function of what is known.
//!
//! Telemetry, the first level, is a matter of the environment that the agent gets; cascades and halts are judged by who runs it.

use std::fmt;
use std::time::Duration;

use crate::runs::{HookStop, HookSwitch};
use crate::spending_share::{digits, of_budget};
use crate::stream::RunProgress;
use checkrein_sandbox::{Bytes, Usage};

/// Where a run ends at the latest. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Switches {
    /// US dollars.
    pub budget: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Answers of the model.
    pub iterations: Option<u64>,
    /// Time by the clock.
    pub time: Option<Duration>,
    /// Time without a word from it.
    pub idle: Option<Duration>,
    /// Resident memory of all processes together.
    pub memory: Option<Bytes>,
    /// Processes and threads at one time.
    pub tasks: Option<u32>,
}

/// What the clock says of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunClock {
    /// How long it runs.
    pub running: Duration,
    /// How long nothing was heard of it.
    pub idle: Duration,
}

/// Why a run was stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// It has cost this much, of this budget.
    Budget(f64, f64),
    /// Something that it spent could not be counted, for this reason, so that the limits could not hold.
    Uncounted(String),
    /// It has used so many tokens, of so many.
    Tokens(u64, u64),
    /// The next call would probably need so many tokens more than there are (circuit breaker).
    NextCall(u64, u64),
    /// The next call would probably cost so many dollars more than there are (circuit breaker).
    NextCost(NextCost),
    /// So many answers of the model.
    Iterations(u64),
    /// So long.
    Time(Duration),
    /// So long without a word.
    Idle(Duration),
    /// So much memory, of so much.
    Memory(Bytes, Bytes),
    /// So many processes and threads at one time, of so many.
    Tasks(usize, u32),
    /// It talks itself into new work; what it said.
    Cascade(String),
    /// The detectors gave it up: the pattern, and what was seen.
    Watched(String, String),
    /// A call that nobody reviewed before it ran, where that must not be: the call, and why.
    Unguarded(String, String),
    /// Its hooks found a limit reached, or gave it up.
    Hooks(HookStop),
    /// A user halted it.
    Halted(String),
    /// We were asked by a signal.
    Signal(i32),
    /// The process that supervises was killed.
    Abandoned,
}

impl Stop {
    /// The exit status of a run that was stopped so (ours; 94 and 124 as upstream and `timeout`).
    pub fn status(&self) -> u8 {
        match self {
            Self::Hooks(stop) => match stop.switch {
                HookSwitch::Watched | HookSwitch::Tripwire | HookSwitch::SetBack => 116,
                HookSwitch::Cascade => 119,
                HookSwitch::Budget => 120,
                HookSwitch::Tokens => 121,
                HookSwitch::NextCall => 122,
                HookSwitch::Iterations => 123,
            },
            Self::Halted(_) => 94,
            Self::Tasks(..) => 114,
            Self::Unguarded(..) => 115,
            Self::Watched(..) => 116,
            Self::Idle(_) => 117,
            Self::Memory(..) => 118,
            Self::Cascade(_) => 119,
            Self::Budget(..) | Self::Uncounted(_) => 120,
            Self::Tokens(..) => 121,
            Self::NextCall(..) | Self::NextCost(..) => 122,
            Self::Iterations(_) => 123,
            Self::Time(_) => 124,
            Self::Signal(signal) => u8::try_from(128 + signal).unwrap_or(255),
            Self::Abandoned => 137,
        }
    }

    /// One word, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hooks(stop) => match stop.switch {
                HookSwitch::Watched => "watched",
                HookSwitch::Cascade => "cascade",
                HookSwitch::Tripwire => "tripwire",
                HookSwitch::SetBack => "set_back",
                HookSwitch::Budget => "budget",
                HookSwitch::Tokens => "tokens",
                HookSwitch::NextCall => "circuit_breaker",
                HookSwitch::Iterations => "iterations",
            },
            Self::Budget(..) => "budget",
            Self::Uncounted(_) => "uncounted",
            Self::Tokens(..) => "tokens",
            Self::NextCall(..) | Self::NextCost(..) => "circuit_breaker",
            Self::Iterations(_) => "iterations",
            Self::Time(_) => "time",
            Self::Memory(..) => "memory",
            Self::Tasks(..) => "processes",
            Self::Cascade(_) => "cascade",
            Self::Watched(..) => "watched",
            Self::Unguarded(..) => "unguarded",
            Self::Idle(_) => "idle",
            Self::Halted(_) => "halted",
            Self::Signal(_) => "signal",
            Self::Abandoned => "abandoned",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(used, limit) => {
                write!(formatter, "it has cost {}", of_budget(*used, *limit))
            }
            Self::Uncounted(why) => {
                write!(formatter, "what it spends cannot be counted, so its limits could not hold: {why}")
            }
            Self::Tokens(used, limit) => write!(formatter, "it has used {used} of {limit} tokens"),
            Self::NextCall(next, left) => {
                write!(
                    formatter,
                    "the next call would need about {next} tokens, more than the {left} that remain of its limit"
                )
            }
            Self::NextCost(next) => next.fmt(formatter),
            Self::Iterations(limit) => write!(formatter, "the model has answered {limit} times"),
            Self::Time(limit) => write!(formatter, "its {} s are over", limit.as_secs_f64()),
            Self::Memory(used, limit) => write!(formatter, "its processes use {used} of {limit} of memory"),
            Self::Tasks(there, limit) => {
                write!(formatter, "{there} processes and threads of it are there, of {limit}")
            }
            Self::Cascade(said) => write!(formatter, "it talks itself into new work: {said}"),
            Self::Watched(pattern, words) => write!(formatter, "{pattern}: {words}"),
            Self::Unguarded(call, why) => {
                write!(formatter, "no hook reviewed `{call}` before it ran, and {why}")
            }
            Self::Idle(limit) => write!(formatter, "nothing was heard of it for {} s", limit.as_secs_f64()),
            Self::Hooks(stop) => formatter.write_str(&stop.reason),
            Self::Halted(reason) => write!(formatter, "it was halted: {reason}"),
            Self::Signal(signal) => write!(formatter, "signal {signal} asked for it"),
            Self::Abandoned => formatter.write_str("what supervised it was killed"),
        }
    }
}

/// What the next answer is estimated to cost, and what there is for it, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextCost {
    /// The estimate.
    pub next: f64,
    /// What the run has cost so far.
    pub spent: f64,
    /// What it may cost.
    pub limit: f64,
    /// The answers so far, of which the estimate is the mean; with none it is that of the length of the conversation.
    pub answers: u64,
}

impl fmt::Display for NextCost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { next, spent, limit, answers } = self;
        let digits = digits(*limit);
        write!(
            formatter,
            "it has cost {}, and the next answer would cost about {next:.digits$}, more than remains (",
            of_budget(*spent, *limit)
        )?;
        match answers {
            0 => write!(formatter, "by the length of the conversation)"),
            1 => write!(formatter, "as much as the one so far)"),
            many => write!(formatter, "the mean of the {many} answers so far)"),
        }
    }
}

/// What the next call needs besides the conversation (upstream 3.3).
const NEXT_CALL: u64 = 5000;

/// Tokens of the next call, from how much the last one sent (upstream 3.3: 5000 + input + 30 % of it).
pub fn next_call(last_sent: u64) -> u64 {
    let more = last_sent.saturating_mul(3) / 10;
    NEXT_CALL.saturating_add(last_sent).saturating_add(more)
}

impl Switches {
    /// How long an agent that nobody watches may be silent: longer than any command of Claude Code may take (10 minutes), which says nothing
    /// meanwhile (ours).
    pub const SILENCE: Duration = Duration::from_mins(12);

    /// The most processes and threads that an agent may have at one time by default (ours). It is many times what builds and tests take,
    /// and few enough for the kernel to end them in a moment.
    pub const TASKS: u32 = 8192;

    /// What is left of the limits after a part of the run that used so much; `None` when nothing is left of one of them.
    #[must_use]
    pub fn less(&self, tokens: u64, dollars: f64, iterations: u64, time: Duration) -> Option<Self> {
        let left = |limit: Option<u64>, used: u64| match limit {
            Some(limit) => limit.checked_sub(used).filter(|left| *left > 0).map(Some),
            None => Some(None),
        };
        let budget = match self.budget {
            Some(limit) if limit > dollars => Some(limit - dollars),
            Some(_) => return None,
            None => None,
        };
        let time = match self.time {
            Some(limit) => Some(limit.checked_sub(time).filter(|left| !left.is_zero())?),
            None => None,
        };
        Some(Self {
            budget,
            tokens: left(self.tokens, tokens)?,
            iterations: left(self.iterations, iterations)?,
            time,
            ..*self
        })
    }

    /// Whether something has to stop, now. Memory and time come with the moment, the rest with what the client told.
    pub fn judge(&self, progress: &RunProgress, clock: RunClock, usage: Option<Usage>) -> Option<Stop> {
        let hooks = progress.hook_stop.clone().map(Stop::Hooks);
        hooks.or_else(|| self.by_machine(clock, usage)).or_else(|| self.by_words(progress))
    }

    /// What a run that has ended by itself was stopped by all the same: what came with its last words counts too.
    #[cfg(target_os = "linux")]
    pub(crate) fn passed(&self, progress: &RunProgress) -> Option<Stop> {
        self.by_words(&RunProgress { goes_on: false, ..progress.clone() })
    }

    /// What a run that has ended well is stopped by all the same: it did something, and has never told what that cost.
    #[cfg(target_os = "linux")]
    pub(crate) fn untold(&self, progress: &RunProgress) -> Option<Stop> {
        let why = progress.untold().filter(|_| self.needs_counting())?;
        Some(Stop::Uncounted(why.to_owned()))
    }

    /// Whether there is a limit of what is spent, which holds only where that is told.
    fn needs_counting(&self) -> bool {
        self.budget.is_some() || self.tokens.is_some()
    }

    fn by_machine(&self, clock: RunClock, usage: Option<Usage>) -> Option<Stop> {
        if let Some(limit) = self.time.filter(|limit| clock.running >= *limit) {
            return Some(Stop::Time(limit));
        }
        if let Some(limit) = self.idle.filter(|limit| clock.idle >= *limit) {
            return Some(Stop::Idle(limit));
        }
        let usage = usage?;
        // What is left of processes for which nobody waits keeps their numbers, of which the machine has so many.
        let tasks = usage.threads + usage.remains;
        if let Some(limit) = self.tasks.filter(|limit| tasks > *limit as usize) {
            return Some(Stop::Tasks(tasks, limit));
        }
        let (used, limit) = (usage.bytes(), self.memory?);
        (used > limit).then_some(Stop::Memory(used, limit))
    }

    fn by_words(&self, progress: &RunProgress) -> Option<Stop> {
        let used = progress.tokens.counted();
        if let Some(limit) = self.tokens.filter(|limit| used > *limit) {
            return Some(Stop::Tokens(used, limit));
        }
        let cost = progress.dollars();
        if let Some(limit) = self.budget.filter(|limit| cost > *limit) {
            return Some(Stop::Budget(cost, limit));
        }
        if let (true, Some(why)) = (self.needs_counting(), &progress.uncounted) {
            return Some(Stop::Uncounted(why.clone()));
        }
        let over =
            |limit: u64| progress.iterations > limit || progress.iterations == limit && progress.goes_on;
        if let Some(limit) = self.iterations.filter(|limit| over(*limit)) {
            return Some(Stop::Iterations(limit));
        }
        progress.goes_on.then(|| self.breaker(progress)).flatten()
    }

    /// The circuit breaker: what the next call will probably need is not there any more. What the model knows already costs no tokens of
    /// the limit, so only what is new of a conversation counts.
    fn breaker(&self, progress: &RunProgress) -> Option<Stop> {
        if progress.last_sent == 0 {
            return None;
        }
        let next = next_call(progress.last_sent);
        if let Some(limit) = self.tokens {
            let left = limit.saturating_sub(progress.tokens.counted());
            if next > left {
                return Some(Stop::NextCall(next, left));
            }
        }
        if let (Some(limit), Some(price)) = (self.budget, progress.next_price) {
            let spent = progress.dollars();
            let estimate = NextCost {
                next: if progress.iterations > 0 && spent > 0.0 {
                    spent / progress.iterations as f64
                } else {
                    next as f64 * price / 1e6
                },
                spent,
                limit,
                answers: if spent > 0.0 { progress.iterations } else { 0 },
            };
            if estimate.next > limit - spent {
                return Some(Stop::NextCost(estimate));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_protocol::TokenCounts;

    fn at(tokens: u64, last_sent: u64) -> RunProgress {
        RunProgress {
            tokens: TokenCounts { input: tokens, ..TokenCounts::default() },
            last_sent,
            goes_on: true,
            ..RunProgress::default()
        }
    }
    const NOW: RunClock = RunClock { running: Duration::ZERO, idle: Duration::ZERO };

    #[test]
    fn the_next_call_is_estimated_as_upstream_does() {
        assert_eq!([next_call(0), next_call(10_000), next_call(u64::MAX)], [5000, 18_000, u64::MAX]);
    }

    #[test]
    fn what_is_left_of_a_limit_is_not_confused_with_what_is_left_of_the_agent() {
        let cost = NextCost { next: 0.006, spent: 0.045, limit: 0.05, answers: 7 };
        for stop in [Stop::NextCost(cost), Stop::NextCall(18_000, 17_999)] {
            let text = stop.to_string();
            assert!(text.contains("more than") && !text.contains(" left"), "{text}");
        }
        assert_eq!(
            Stop::NextCost(cost).to_string(),
            "it has cost 0.0450 of 0.0500 dollars, and the next answer would cost about 0.0060, more than remains (the mean of the 7 answers so far)"
        );
    }

    #[test]
    fn the_cost_of_the_next_answer_is_the_mean_of_those_of_this_run() {
        let switches = Switches { budget: Some(0.05), ..Switches::default() };
        let at = |cost: f64, answers: u64| RunProgress {
            cost,
            iterations: answers,
            last_sent: 2_000_000,
            next_price: Some(3.0),
            goes_on: true,
            ..RunProgress::default()
        };
        assert_eq!(
            switches.judge(&at(0.025, 4), NOW, None),
            None,
            "half of it remains for answers of an eighth each"
        );
        let stop = switches.judge(&at(0.045, 7), NOW, None);
        assert!(matches!(stop, Some(Stop::NextCost(NextCost { answers: 7, .. }))), "{stop:?}");
        let first = switches.judge(&at(0.0, 0), NOW, None);
        assert!(matches!(first, Some(Stop::NextCost(NextCost { answers: 0, .. }))), "{first:?}");
    }

    // Source: seed 004-6, 004-7
    #[test]
    fn the_breaker_trips_before_the_call_and_only_when_there_is_one() {
        let switches = Switches { tokens: Some(50_000), ..Switches::default() };
        assert_eq!(switches.judge(&at(32_000, 10_000), NOW, None), None, "exactly enough is enough");
        assert_eq!(switches.judge(&at(32_001, 10_000), NOW, None), Some(Stop::NextCall(18_000, 17_999)));
        let last = RunProgress { goes_on: false, ..at(49_000, 10_000) };
        assert_eq!(switches.judge(&last, NOW, None), None);
    }

    #[test]
    fn a_limit_that_cannot_hold_stops_instead_of_counting_nothing() {
        let uncounted = RunProgress { uncounted: Some("why".into()), ..at(1, 1) };
        for switches in [
            Switches { budget: Some(1.0), ..Switches::default() },
            Switches { tokens: Some(100_000), ..Switches::default() },
        ] {
            assert_eq!(switches.judge(&uncounted, NOW, None), Some(Stop::Uncounted("why".into())));
        }
        assert_eq!(Switches::default().judge(&uncounted, NOW, None), None);
    }

    #[test]
    fn processes_and_threads_are_limited_together() {
        let switches = Switches { tasks: Some(10), ..Switches::default() };
        let with = |threads| {
            switches.judge(&at(0, 0), NOW, Some(Usage { processes: 1, threads, ..Usage::default() }))
        };
        assert_eq!((with(10), with(11)), (None, Some(Stop::Tasks(11, 10))));
        let left = |remains| {
            let usage = Usage { processes: 1, threads: 1, remains, ..Usage::default() };
            switches.judge(&at(0, 0), NOW, Some(usage))
        };
        assert_eq!((left(9), left(10)), (None, Some(Stop::Tasks(11, 10))), "nobody waits for them");
    }

    #[test]
    fn what_one_attempt_used_is_not_there_for_the_next() {
        let switches = Switches {
            budget: Some(1.0),
            tokens: Some(100),
            iterations: Some(5),
            time: Some(Duration::from_mins(1)),
            ..Switches::default()
        };
        let left = switches.less(40, 0.25, 2, Duration::from_secs(20)).unwrap();
        assert_eq!((left.budget, left.tokens, left.iterations), (Some(0.75), Some(60), Some(3)));
        assert_eq!(left.time, Some(Duration::from_secs(40)));
        assert_eq!(switches.less(100, 0.0, 0, Duration::ZERO), None);
        assert_eq!(switches.less(0, 1.0, 0, Duration::ZERO), None);
        assert_eq!(Switches::default().less(9, 9.0, 9, Duration::MAX), Some(Switches::default()));
    }

    #[test]
    fn an_agent_that_is_done_with_its_last_iteration_ends_by_itself() {
        let switches = Switches { iterations: Some(3), ..Switches::default() };
        let third = RunProgress { iterations: 3, goes_on: false, ..at(1, 1) };
        assert_eq!(switches.judge(&third, NOW, None), None);
        let fourth = RunProgress { iterations: 4, ..third.clone() };
        assert_eq!(
            switches.judge(&fourth, NOW, None),
            Some(Stop::Iterations(3)),
            "answers without calls count too"
        );
        let goes_on = RunProgress { goes_on: true, ..third };
        assert_eq!(switches.judge(&goes_on, NOW, None), Some(Stop::Iterations(3)));
    }
}
