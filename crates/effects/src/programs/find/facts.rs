//! Tests of `find` on what the system says about a file: length, age, mode (find(1), "TESTS").

use std::cmp::Ordering;

use super::expression::Truth;
use crate::interpreter::{AimedTarget, Machine, Value};
use crate::path::AbsolutePath;
use crate::world::{Entry, FileFacts};

/// A minute and a day, in milliseconds.
const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;
/// What many files are longer than, in bytes (ours).
const SHORT: u64 = 4096;
/// What few files are longer than, in bytes, and since when few files were made, in milliseconds (ours).
const LONG: u64 = 1 << 30;
const SOON: u64 = 10 * MINUTE;
/// How near a file's age may be to where the answer changes without being open, in milliseconds: a command runs later than it is judged (ours).
const LATER: u64 = 10 * MINUTE;
/// The same for what lies behind: `find` counts a day from the second before (ours).
const EARLIER: u64 = 2_000;

/// A test on what the system says about a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FactTest {
    /// `-size`: the length, rounded up to whole units of so many bytes.
    Length { wanted: Amount, unit: u64 },
    /// `-mtime`, `-mmin`: units of time, in milliseconds, since the content changed.
    Age { wanted: Amount, unit: u64 },
    /// `-newer`: whether the content changed after that of another file.
    NewerThan(Value),
    /// `-perm`
    Mode { bits: u32, how: ModeTest },
}

/// A number that is compared: `+3` is more than three, `-3` less, `3` just that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Amount {
    order: Ordering,
    count: u64,
}

/// What `-perm` asks of the bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModeTest {
    /// `644`: these and no others.
    Exactly,
    /// `-644`: all of these.
    All,
    /// `/644`: one of these.
    Any,
}

impl Amount {
    fn parse(text: &str) -> Option<Self> {
        let (order, digits) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
            (Some(digits), _) => (Ordering::Greater, digits),
            (None, Some(digits)) => (Ordering::Less, digits),
            (None, None) => (Ordering::Equal, text),
        };
        Some(Self { order, count: digits.parse().ok()? })
    }

    fn holds(self, found: u64) -> bool {
        found.cmp(&self.count) == self.order
    }
}

impl FactTest {
    /// The test of this name with this word behind it; `None` where it is none, or the word is not understood.
    pub(super) fn parse(name: &str, word: &Value) -> Option<Self> {
        match name {
            "-newer" => Some(Self::NewerThan(word.clone())),
            "-mtime" => Some(Self::Age { wanted: Amount::parse(word.as_exact()?)?, unit: DAY }),
            "-mmin" => Some(Self::Age { wanted: Amount::parse(word.as_exact()?)?, unit: MINUTE }),
            "-size" => {
                let text = word.as_exact()?;
                let (digits, unit) = match text.strip_suffix(|letter: char| letter.is_ascii_alphabetic()) {
                    None => (text, 512),
                    Some(digits) => (
                        digits,
                        match text.get(digits.len()..)? {
                            "c" => 1,
                            "w" => 2,
                            "b" => 512,
                            "k" => 1 << 10,
                            "M" => 1 << 20,
                            "G" => 1 << 30,
                            _ => return None,
                        },
                    ),
                };
                Some(Self::Length { wanted: Amount::parse(digits)?, unit })
            }
            "-perm" => {
                let text = word.as_exact()?;
                let (digits, how) = match (text.strip_prefix('-'), text.strip_prefix('/')) {
                    (Some(digits), _) => (digits, ModeTest::All),
                    (None, Some(digits)) => (digits, ModeTest::Any),
                    (None, None) => (text, ModeTest::Exactly),
                };
                Some(Self::Mode { bits: u32::from_str_radix(digits, 8).ok()?, how })
            }
            _ => None,
        }
    }

    /// Whether it is of the age, which `-daystart` counts from another time.
    pub(super) fn is_of_age(&self) -> bool {
        matches!(self, Self::Age { .. })
    }

    /// Whether most files pass it, wherever they lie: what was made or used since a day or longer, what is longer than a little or shorter
    /// than a lot, what its owner may read (ours).
    pub(super) fn takes_most(&self) -> bool {
        match self {
            Self::Length { wanted, unit } => match wanted.order {
                Ordering::Greater => wanted.count.saturating_mul(*unit) < SHORT,
                // Lengths are rounded up, so what is less than one unit is empty.
                Ordering::Less => wanted.count > 1 && wanted.count.saturating_mul(*unit) >= LONG,
                Ordering::Equal => false,
            },
            Self::Age { wanted, unit } => {
                let time = wanted.count.saturating_mul(*unit);
                match wanted.order {
                    Ordering::Less => time >= DAY,
                    Ordering::Greater => time <= SOON && *unit == MINUTE,
                    Ordering::Equal => false,
                }
            }
            Self::NewerThan(_) => true,
            Self::Mode { bits, how } => match how {
                ModeTest::All => *bits & !0o600 == 0,
                ModeTest::Any => *bits == 0 || *bits & 0o600 != 0,
                ModeTest::Exactly => false,
            },
        }
    }

    /// Whether few files fail it, so that most are left where those are asked for that do not pass.
    pub(super) fn leaves_little(&self) -> bool {
        match self {
            Self::Length { wanted, unit } => match wanted.order {
                Ordering::Greater => wanted.count.saturating_mul(*unit) >= LONG,
                Ordering::Less => wanted.count <= 1,
                Ordering::Equal => true,
            },
            Self::Age { wanted, unit } => {
                let time = wanted.count.saturating_mul(*unit);
                match wanted.order {
                    Ordering::Greater => time >= DAY,
                    Ordering::Less => time <= SOON,
                    Ordering::Equal => true,
                }
            }
            Self::NewerThan(_) => false,
            Self::Mode { how, .. } => *how == ModeTest::Exactly,
        }
    }

    /// Whether a file passes. Of anything but a regular file that was there before the action it is open.
    pub(super) fn judge(&self, machine: &Machine<'_>, path: &AbsolutePath, entry: &Entry) -> Truth {
        let Entry::File(facts) = entry else { return Truth::Maybe };
        // What an earlier part of the action made or changed has other facts by now.
        if machine.is_changed_here(path) {
            return Truth::Maybe;
        }
        match self {
            Self::Length { wanted, unit } => Truth::of(wanted.holds(facts.bytes.div_ceil(*unit))),
            Self::Age { wanted, unit } => age(machine, facts, *wanted, *unit),
            Self::NewerThan(other) => {
                let place = machine.one_path_through(other);
                if place.as_ref() == Some(path) {
                    return Truth::No;
                }
                let place = place.filter(|place| !machine.is_changed_here(place));
                // Of a link it depends on options whether its own time is meant.
                let is_link = |aim: &AimedTarget| {
                    aim.target.path().is_some_and(|path| matches!(machine.entry(path), Entry::Symlink(_)))
                };
                let place = place.filter(|_| !machine.paths(other).iter().any(is_link));
                match place.map(|place| machine.entry(&place)) {
                    Some(Entry::File(than)) => match facts.modified.cmp(&than.modified) {
                        Ordering::Greater => Truth::Yes,
                        Ordering::Less => Truth::No,
                        // The system tells finer times than the world does.
                        Ordering::Equal => Truth::Maybe,
                    },
                    Some(
                        Entry::Missing
                        | Entry::Directory
                        | Entry::Symlink(_)
                        | Entry::Special
                        | Entry::Unknown,
                    )
                    | None => Truth::Maybe,
                }
            }
            Self::Mode { bits, how } => {
                let found = facts.mode & 0o7777;
                Truth::of(match how {
                    ModeTest::Exactly => found == *bits,
                    ModeTest::All => found & bits == *bits,
                    ModeTest::Any => *bits == 0 || found & bits != 0,
                })
            }
        }
    }
}

/// Whether a file is of an age, now and a while later. Source: GNU find 4.9, which compares days without their fractions, and minutes to the
/// instant.
fn age(machine: &Machine<'_>, facts: &FileFacts, wanted: Amount, unit: u64) -> Truth {
    let passed = machine.world().now().0.saturating_sub(facts.modified.0);
    let holds = |passed: u64| {
        let count = wanted.count.saturating_mul(unit);
        match wanted.order {
            _ if unit != MINUTE => wanted.holds(passed / unit),
            Ordering::Less => passed < count,
            Ordering::Greater => passed > count,
            Ordering::Equal => passed < count && count.saturating_sub(unit) <= passed,
        }
    };
    // Between two points of time the answer may change twice where a whole unit is asked for that is shorter.
    let now = holds(passed);
    let is_open = [passed.saturating_sub(EARLIER), passed + LATER / 2, passed + LATER]
        .into_iter()
        .any(|at| holds(at) != now)
        || (unit == MINUTE && wanted.order == Ordering::Equal && near(passed, wanted.count * unit));
    if is_open { Truth::Maybe } else { Truth::of(now) }
}

/// Whether an age comes near to a time while the command waits to be run.
fn near(passed: u64, time: u64) -> bool {
    passed <= time && time <= passed.saturating_add(LATER)
}
