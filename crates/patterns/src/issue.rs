//! Issues: what detectors find.

pub(crate) use checkrein_protocol::{ActionNumber, Issue, PatternKind, Share};

/// The last of the actions that an issue rests on, the newest kept.
pub(crate) fn newest(actions: impl DoubleEndedIterator<Item = ActionNumber>) -> Vec<ActionNumber> {
    let mut kept: Vec<ActionNumber> = actions.rev().take(Issue::ACTIONS).collect();
    kept.reverse();
    kept
}
