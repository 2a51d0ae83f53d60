//! The bounds of the state (all ours), and how they are kept.

use std::collections::VecDeque;

use checkrein_protocol::{AbsolutePath, Effect};

/// Goals kept, newest.
pub const GOALS: usize = 8;
/// Characters kept of a goal.
pub const GOAL_CHARACTERS: usize = 2_000;
/// Characters kept of a command, to speak of it.
pub const NAME_CHARACTERS: usize = 80;
/// Fingerprints of kinds of action kept, newest.
pub const SEEN: usize = 512;
/// Actions kept, newest.
pub const RECENT: usize = 32;
/// Paths kept of one action.
pub const PATHS: usize = 8;
/// Bytes of a path or an action id; longer ones are left out.
pub const TEXT_BYTES: usize = 512;
/// Created paths kept, newest.
pub const CREATED: usize = 256;
/// Places kept that hold secrets, newest.
pub const SECRET_MARKS: usize = 64;
/// Readings kept of each side, newest.
pub const FLOW_READINGS: usize = 8;
/// Tallies of tripwires and own patterns kept, those that counted last.
pub const TALLIES: usize = 64;
/// The greatest number of changes that are not verified.
pub const CHANGES: usize = 16;
/// The greatest doubt about what is opaque, in hundredths of risk.
pub const DOUBT: u32 = 100;

/// Puts a value at the end; the oldest one goes where there would be more than `bound`.
pub(crate) fn push_bounded<T>(queue: &mut VecDeque<T>, value: T, bound: usize) {
    while queue.len() >= bound {
        queue.pop_front();
    }
    queue.push_back(value);
}

/// The first `characters` characters of a text.
pub(super) fn cut(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// The path of an effect, where it is short enough to be kept.
pub(super) fn short_path(effect: &Effect) -> Option<&AbsolutePath> {
    effect.target.path().filter(|path| path.as_str().len() <= TEXT_BYTES)
}
