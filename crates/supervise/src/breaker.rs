//! The circuit breaker of a provider: after too many failures nobody calls it for a while, then one may try.
//!
//! A pure machine: time comes in, who keeps the state decides where. Cool-downs are those of upstream 3.9 (15, 30, 60 minutes) and, where
//! a quota is used up, of upstream 3.11 (an hour).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::failure::{FailureCause, FailureClass, ProviderFailure};

/// Milliseconds since 1970.
pub type Milliseconds = u64;

const MINUTE: Milliseconds = 60_000;

/// So many failures within so long open it: a whole series of the usual retries (5, upstream 3.11) within a few minutes (ours).
const FAILURES: usize = 5;
const WINDOW: Milliseconds = 5 * MINUTE;

/// How long it stays open, the first time and later ones.
const COOL_DOWNS: [Milliseconds; 3] = [15 * MINUTE, 30 * MINUTE, 60 * MINUTE];
const QUOTA: Milliseconds = 60 * MINUTE;

/// How long the one who tries may take until another one may: it may have been killed.
const TRYING: Milliseconds = 15 * MINUTE;

/// What is known of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Breaker {
    failures: VecDeque<Milliseconds>,
    /// How often it was opened since it last worked.
    opened: u32,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    #[default]
    Closed,
    Open {
        until: Milliseconds,
    },
    HalfOpen {
        since: Milliseconds,
    },
}

/// Whether a call may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// Yes.
    Free,
    /// Yes, as the one that finds out whether it works again.
    Trial,
    /// Not before this time.
    Closed {
        /// When.
        until: Milliseconds,
        /// How many failures of the last five minutes are known.
        failures: usize,
    },
}

impl Breaker {
    /// Whether a call may be made now. Who is told to try has to say how it went.
    pub fn ask(&mut self, now: Milliseconds) -> Passage {
        match self.state {
            State::Closed => Passage::Free,
            State::Open { until } => {
                // A clock that was set back must not keep it open for longer than it ever is.
                let until = until.min(now.saturating_add(COOL_DOWNS[COOL_DOWNS.len() - 1].max(QUOTA)));
                if now < until {
                    return Passage::Closed { until, failures: self.failures.len() };
                }
                self.state = State::HalfOpen { since: now };
                Passage::Trial
            }
            State::HalfOpen { since } => {
                let until = since.min(now).saturating_add(TRYING);
                if now < until {
                    return Passage::Closed { until, failures: self.failures.len() };
                }
                self.state = State::HalfOpen { since: now };
                Passage::Trial
            }
        }
    }

    /// A call worked.
    pub fn worked(&mut self) {
        *self = Self::default();
    }

    /// An agent ended without saying anything about its provider; a trial is over and may be made again.
    pub fn said_nothing(&mut self, now: Milliseconds) {
        if matches!(self.state, State::HalfOpen { .. }) {
            self.state = State::Open { until: now };
        }
    }

    /// A call failed.
    pub fn failed(&mut self, now: Milliseconds, failure: ProviderFailure) {
        match (failure.class, failure.cause) {
            (FailureClass::Permanent, FailureCause::Quota) => self.open(now, QUOTA),
            // A key or a request that is wrong says nothing about the provider, and a limit of ours neither.
            (FailureClass::Permanent | FailureClass::CeilingTimeout, _) => self.said_nothing(now),
            (FailureClass::Transient | FailureClass::IdleTimeout, _) => {
                self.failures.retain(|time| now.saturating_sub(*time) < WINDOW && *time <= now);
                self.failures.push_back(now);
                if self.failures.len() > FAILURES {
                    self.failures.pop_front();
                }
                let again = matches!(self.state, State::HalfOpen { .. });
                if again || self.failures.len() >= FAILURES {
                    let place = usize::try_from(self.opened).unwrap_or(usize::MAX).min(COOL_DOWNS.len() - 1);
                    self.open(now, COOL_DOWNS.get(place).copied().unwrap_or(QUOTA));
                }
            }
        }
    }

    /// The earliest time of the next call; `None` when it may be made at once.
    pub fn earliest(&self, now: Milliseconds) -> Option<Milliseconds> {
        match self.clone().ask(now) {
            Passage::Closed { until, .. } => Some(until),
            Passage::Free | Passage::Trial => None,
        }
    }

    fn open(&mut self, now: Milliseconds, time: Milliseconds) {
        self.opened = self.opened.saturating_add(1);
        self.state = State::Open { until: now.saturating_add(time) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BUSY: ProviderFailure =
        ProviderFailure { class: FailureClass::Transient, cause: FailureCause::Capacity };

    fn opened_at(now: Milliseconds) -> Breaker {
        let mut breaker = Breaker::default();
        (0..FAILURES).for_each(|_| breaker.failed(now, BUSY));
        breaker
    }

    // Source: seed 004-89
    #[test]
    fn five_failures_open_it_and_one_trial_closes_it_or_makes_it_stay() {
        let mut breaker = opened_at(1000);
        let until = 1000 + 15 * MINUTE;
        assert_eq!(breaker.ask(2000), Passage::Closed { until, failures: 5 });
        assert_eq!(breaker.ask(until), Passage::Trial);
        assert!(matches!(breaker.ask(until + 1), Passage::Closed { .. }), "only one tries");
        breaker.failed(until + 5, BUSY);
        assert_eq!(breaker.earliest(until + 6), Some(until + 5 + 30 * MINUTE));
        let later = until + 5 + 30 * MINUTE;
        assert_eq!(breaker.ask(later), Passage::Trial);
        breaker.worked();
        assert_eq!(breaker, Breaker::default());
    }

    #[test]
    fn failures_far_apart_and_those_of_our_own_open_nothing() {
        let mut breaker = Breaker::default();
        (0..50).for_each(|n| breaker.failed(n * WINDOW / 4, BUSY));
        assert_eq!(breaker.ask(50 * WINDOW), Passage::Free);
        let own = ProviderFailure { class: FailureClass::CeilingTimeout, cause: FailureCause::Clock };
        let key = ProviderFailure { class: FailureClass::Permanent, cause: FailureCause::Authentication };
        (0..50).for_each(|_| breaker.failed(51 * WINDOW, own));
        (0..50).for_each(|_| breaker.failed(51 * WINDOW, key));
        assert_eq!(breaker.ask(51 * WINDOW), Passage::Free);
        breaker.failed(0, ProviderFailure { class: FailureClass::Permanent, cause: FailureCause::Quota });
        assert_eq!(breaker.earliest(1), Some(60 * MINUTE), "a quota that is used up opens it at once");
    }

    #[test]
    fn who_tried_and_was_killed_does_not_keep_it_closed_for_ever() {
        let mut breaker = opened_at(0);
        assert_eq!(breaker.ask(20 * MINUTE), Passage::Trial);
        assert_eq!(breaker.ask(20 * MINUTE + TRYING), Passage::Trial);
    }

    proptest! {
        /// Whatever happens, in whatever order: while it is open nobody calls before its time, and one at a time tries.
        #[test]
        fn open_lets_nobody_through_before_its_time(
            steps in prop::collection::vec((0_u8..5, 0_u64..40 * MINUTE), 0..200),
        ) {
            let mut breaker = Breaker::default();
            let mut now = 0;
            let mut closed_until = 0;
            for (what, later) in steps {
                now += later;
                match what {
                    0 | 1 => breaker.failed(now, BUSY),
                    2 => { breaker.worked(); closed_until = 0; }
                    3 => breaker.said_nothing(now),
                    _ => match breaker.ask(now) {
                        Passage::Free | Passage::Trial => prop_assert!(now >= closed_until),
                        Passage::Closed { until, .. } => {
                            prop_assert!(until > now && until - now <= 60 * MINUTE);
                        }
                    },
                }
                if let State::Open { until } = breaker.state { closed_until = until; }
                prop_assert!(breaker.failures.len() <= FAILURES);
            }
        }
    }
}
