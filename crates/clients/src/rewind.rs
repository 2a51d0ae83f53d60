//! Going on with a session from before one of its calls, as if what came later had not been said.

use std::ffi::OsString;

/// How a client goes on from an earlier turn.
#[derive(Debug, Clone, Copy)]
pub struct Rewind {
    /// The client's name for the turn before a call, from what it wrote about the session and the id of the call; `None` where it is not found.
    pub before: fn(&str, &str) -> Option<String>,
    /// The words that start it again there; `None` where its words do not show which of them is the prompt.
    pub words: fn(&[OsString], &EarlierTurn<'_>) -> Option<Vec<OsString>>,
}

/// Where a session goes on, and with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlierTurn<'a> {
    /// The client's name for the session.
    pub session: &'a str,
    /// Its name for the last turn that counts.
    pub turn: &'a str,
    /// The first message.
    pub message: &'a str,
}

/// Whether the words that start an agent can be changed so that it goes on from an earlier turn.
pub fn can_rewind(words: &[OsString]) -> bool {
    rewound(words, &EarlierTurn { session: "s", turn: "t", message: "m" }).is_some()
}

/// The words that start an agent from an earlier turn; `None` where its client cannot, or a name could be read as an option.
pub fn rewound(words: &[OsString], turn: &EarlierTurn<'_>) -> Option<Vec<OsString>> {
    let is_name = |name: &str| !name.is_empty() && !name.starts_with('-');
    if !is_name(turn.session) || !is_name(turn.turn) || !is_name(turn.message) {
        return None;
    }
    let rewind = crate::resume::client_of(words)?.rewind?;
    (rewind.words)(words, turn)
}
