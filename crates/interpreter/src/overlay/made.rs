//! What a command made of a path, and in which ways that may be taken.

use super::super::git_store::Commitment;
use super::super::perhaps::{self, Perhaps, Way};
use super::super::value::Value;

/// What the command made of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Made {
    /// There is nothing any more; what was below is gone too.
    Gone,
    /// A regular file with what is known of its text.
    File(Value),
    /// A regular file that version control wrote, with what a revision holds.
    Checkout(Commitment),
    /// A regular file of the world that version control may have written anew, with what a revision holds.
    Rewritten(Commitment),
    /// A directory; `fresh` when nothing of the world shows through.
    Directory { fresh: bool },
    /// A symbolic link.
    Link(String),
    /// Made or removed, depending on what is not known.
    Doubtful(Perhaps),
}

impl Made {
    /// What may stand at a path of which this is one possibility; `None` where this way left it as it was.
    pub(super) fn perhaps(made: Option<&Self>) -> Perhaps {
        match made {
            None => Perhaps::as_before(),
            Some(Self::File(text)) => Perhaps::file(text.clone()),
            Some(Self::Link(text)) => Perhaps::link(text),
            Some(Self::Doubtful(perhaps)) => perhaps.clone(),
            Some(Self::Checkout(from)) => Perhaps::committed(from.clone()),
            Some(Self::Rewritten(from)) => Perhaps::committed(from.clone()).join(Perhaps::as_before()),
            Some(Self::Gone | Self::Directory { .. }) => Perhaps::default(),
        }
    }

    /// In which ways it may be taken, where there is more than one.
    pub(super) fn ways(&self) -> Vec<Way> {
        match self {
            Self::File(text @ Value::AnyOf(_)) => perhaps::ways_of_text(text),
            Self::Doubtful(perhaps) => perhaps.ways(),
            Self::Rewritten(from) => vec![Way::Committed(from.clone()), Way::AsBefore],
            Self::File(_) | Self::Gone | Self::Checkout(_) | Self::Directory { .. } | Self::Link(_) => {
                Vec::new()
            }
        }
    }
}
