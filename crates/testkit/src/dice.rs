//! Numbers that look random and are the same for the same seed, for tests that make things up for a while.

use std::env;
use std::time::{Duration, Instant};

/// Says how long things are made up, in seconds.
pub const SECONDS: &str = "CHECKREIN_FUZZ_SECONDS";

/// Says with which number it begins.
pub const SEED: &str = "CHECKREIN_FUZZ_SEED";

/// A row of numbers (SplitMix64).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// The row of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another one, which is not zero.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.roll() % end).unwrap_or_default()
    }

    /// One of several; there is at least one.
    ///
    /// # Panics
    /// When there is none.
    pub fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// Tries one seed after the other for a time, at least one, and returns how many there were. `CHECKREIN_FUZZ_SECONDS` and
/// `CHECKREIN_FUZZ_SEED` say otherwise.
///
/// # Panics
/// At the first seed that `attempt` finds something wrong with.
pub fn for_a_while(time: Duration, attempt: impl Fn(u64) -> Result<(), String>) -> u64 {
    let time = number(SECONDS).map_or(time, Duration::from_secs);
    let first = first();
    let (started, mut seed) = (Instant::now(), first);
    while started.elapsed() < time || seed == first {
        try_one(seed, &attempt);
        seed += 1;
    }
    seed - first
}

/// Tries so many seeds, one after the other, and returns how long that took. `CHECKREIN_FUZZ_SEED` says with which they begin.
///
/// # Panics
/// At the first seed that `attempt` finds something wrong with.
pub fn so_often(count: u64, attempt: impl Fn(u64) -> Result<(), String>) -> Duration {
    let (started, first) = (Instant::now(), first());
    (first..first + count).for_each(|seed| try_one(seed, &attempt));
    started.elapsed()
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().and_then(|text| text.parse().ok())
}

fn first() -> u64 {
    number(SEED).unwrap_or(1)
}

#[expect(clippy::panic, reason = "it speaks for a test")]
fn try_one(seed: u64, attempt: impl Fn(u64) -> Result<(), String>) {
    if let Err(why) = attempt(seed) {
        panic!("{SEED}={seed}: {why}");
    }
}
