//! What a session has counted: how often something happened, or how much of it, within a window. Bounded in size.

use std::collections::VecDeque;

use checkrein_protocol::{Amount, TallyIncrement, TallyKey, TallyWindow};
use serde::{Deserialize, Serialize};

use checkrein_protocol::Timestamp;

/// How many moments one tally keeps apart (ours). Beyond it the two oldest become one, at the time of the newer: what is counted
/// leaves the window later then, never earlier.
const MOMENTS: usize = 32;

/// One tally.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    key: TallyKey,
    window: TallyWindow,
    /// When, or at which action, and how much; oldest first.
    moments: VecDeque<(u64, Amount)>,
}

impl Tally {
    /// A tally that has counted nothing.
    pub fn new(key: TallyKey, window: TallyWindow) -> Self {
        Self { key, window, moments: VecDeque::new() }
    }

    /// Which one it is.
    pub fn key(&self) -> TallyKey {
        self.key
    }

    /// What was counted in the window that ends with an action, given its time and its number from 1.
    pub fn total(&self, now: Timestamp, action: u64) -> Amount {
        let start = self.start(now, action);
        let counted = self.moments.iter().filter(|(at, _)| *at >= start);
        counted.fold(Amount::default(), |sum, (_, amount)| sum.plus(*amount))
    }

    /// Takes up what an action adds, given its time and its number.
    pub fn take(&mut self, counted: &TallyIncrement, now: Timestamp, action: u64) {
        if counted.reset {
            self.moments.clear();
        }
        if counted.window != self.window {
            // Moments of another sort cannot be compared; what was counted still counts, from now on.
            let before = self.moments.drain(..).fold(Amount::default(), |sum, (_, amount)| sum.plus(amount));
            self.window = counted.window;
            self.push(self.moment(now, action), before);
        }
        let start = self.start(now, action);
        while self.moments.front().is_some_and(|(at, _)| *at < start) {
            self.moments.pop_front();
        }
        self.push(self.moment(now, action), counted.amount);
    }

    fn push(&mut self, at: u64, amount: Amount) {
        if amount == Amount::default() {
            return;
        }
        match self.moments.back_mut() {
            Some((last, sum)) if *last >= at => *sum = sum.plus(amount),
            _ => self.moments.push_back((at, amount)),
        }
        if self.moments.len() > MOMENTS
            && let Some((_, oldest)) = self.moments.pop_front()
            && let Some((_, next)) = self.moments.front_mut()
        {
            *next = next.plus(oldest);
        }
    }

    /// Where an action stands on the scale of the window.
    fn moment(&self, now: Timestamp, action: u64) -> u64 {
        match self.window {
            TallyWindow::Session => 0,
            TallyWindow::Milliseconds(_) => now.0,
            TallyWindow::Actions(_) => action,
        }
    }

    /// The first moment that the window covers.
    fn start(&self, now: Timestamp, action: u64) -> u64 {
        match self.window {
            TallyWindow::Session => 0,
            TallyWindow::Milliseconds(length) => now.0.saturating_sub(length),
            TallyWindow::Actions(count) => (action + 1).saturating_sub(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: TallyKey = TallyKey(1);

    fn one(window: TallyWindow) -> TallyIncrement {
        TallyIncrement { key: KEY, window, amount: Amount::ONE, reset: false }
    }

    #[test]
    fn what_leaves_the_window_counts_no_longer() {
        let minute = TallyWindow::Milliseconds(60_000);
        let mut tally = Tally::new(KEY, minute);
        for second in [0, 30, 50] {
            tally.take(&one(minute), Timestamp(second * 1000), 1);
        }
        assert_eq!(tally.total(Timestamp(60_000), 4), Amount(3000));
        assert_eq!(tally.total(Timestamp(60_001), 4), Amount(2000));
        assert_eq!(tally.total(Timestamp(200_000), 4), Amount(0));

        let last_three = TallyWindow::Actions(3);
        let mut tally = Tally::new(KEY, last_three);
        for action in [1, 2, 4] {
            tally.take(&one(last_three), Timestamp(0), action);
        }
        assert_eq!(tally.total(Timestamp(0), 4), Amount(2000), "actions 2, 3 and 4");
        assert_eq!(tally.total(Timestamp(0), 5), Amount(1000));
    }

    #[test]
    fn a_reset_forgets_and_another_window_does_not() {
        let mut tally = Tally::new(KEY, TallyWindow::Session);
        tally.take(&one(TallyWindow::Session), Timestamp(0), 1);
        tally.take(&one(TallyWindow::Actions(5)), Timestamp(0), 9);
        assert_eq!(tally.total(Timestamp(0), 9), Amount(2000));
        tally.take(&TallyIncrement { reset: true, ..one(TallyWindow::Actions(5)) }, Timestamp(0), 10);
        assert_eq!(tally.total(Timestamp(0), 10), Amount(1000));
    }

    proptest! {
        /// However much is counted, a tally stays small, and it never counts less than what the window really holds.
        #[test]
        fn it_is_bounded_and_errs_towards_more(gaps in prop::collection::vec(0_u64..5_000, 1..200)) {
            let window = TallyWindow::Milliseconds(60_000);
            let mut tally = Tally::new(KEY, window);
            let mut times = Vec::new();
            let mut now = 0;
            for gap in gaps {
                now += gap;
                times.push(now);
                tally.take(&one(window), Timestamp(now), 1);
            }
            let exact = times.iter().filter(|at| **at >= now.saturating_sub(60_000)).count() as u64;
            prop_assert!(tally.moments.len() <= MOMENTS);
            prop_assert!(tally.total(Timestamp(now), 1) >= Amount(exact * 1000));
        }
    }
}
