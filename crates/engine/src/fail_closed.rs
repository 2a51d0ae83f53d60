//! What is answered when something goes wrong: one table, read by the hook's edge and by nothing else.
//!
//! "Did not run" never looks like "passed". A client takes a crash, a timeout, an exit status or a malformed answer of its hook as consent.
//! So every failure becomes a verdict here, and the hook ends with status 0 and one JSON object.

use std::fmt;

use checkrein_review::VerdictKind;

/// Where something went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// More bytes than the hook takes.
    Oversize,
    /// The standard input did not end in time.
    InputDeadline,
    /// The payload could not be read.
    Payload(String),
    /// The review did not end in time.
    ReviewDeadline,
    /// The review ended by a panic.
    Panic,
    /// The machine gave no thread, no memory or no home directory.
    Resources(String),
    /// The configuration cannot be used.
    Configuration(String),
    /// The history of the session could not be read.
    History(String),
    /// The verdict could not be written down.
    Record(String),
}

/// What a failure does to an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// The action is refused.
    Refuse,
    /// The verdict becomes at least this when the action would change something.
    AtLeast(VerdictKind),
}

impl Failure {
    /// The table. Nothing is known about the action: refuse. The action was judged, but not as it should be: a user decides about
    /// changes, looking goes on.
    pub fn consequence(&self) -> Consequence {
        match self {
            Self::Oversize
            | Self::InputDeadline
            | Self::Payload(_)
            | Self::ReviewDeadline
            | Self::Panic
            | Self::Resources(_) => Consequence::Refuse,
            Self::Configuration(_) | Self::History(_) | Self::Record(_) => {
                Consequence::AtLeast(VerdictKind::Escalate)
            }
        }
    }

    /// The stage, in one word, for the record.
    pub fn stage(&self) -> &'static str {
        match self {
            Self::Oversize | Self::InputDeadline => "input",
            Self::Payload(_) => "decode",
            Self::ReviewDeadline | Self::Panic => "review",
            Self::Resources(_) => "start",
            Self::Configuration(_) => "configuration",
            Self::History(_) | Self::Record(_) => "record",
        }
    }

    /// The sort of failure, in one word, for the record.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Oversize => "oversize",
            Self::InputDeadline | Self::ReviewDeadline => "deadline",
            Self::Payload(_) => "malformed",
            Self::Panic => "panic",
            Self::Resources(_) => "resources",
            Self::Configuration(_) => "invalid",
            Self::History(_) => "unreadable",
            Self::Record(_) => "unwritable",
        }
    }

    /// What the reader can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Oversize => "write large content in parts",
            Self::InputDeadline | Self::Payload(_) => "if this repeats, run `checkrein doctor`",
            Self::ReviewDeadline | Self::Panic => "split the command into smaller ones",
            Self::Resources(_) => {
                "the user should look at the limits of this machine, then run `checkrein doctor`"
            }
            Self::Configuration(_) => "the user has to fix it; `checkrein config check` lists every mistake",
            Self::History(_) | Self::Record(_) => {
                "the user should look at the disk and run `checkrein doctor`"
            }
        }
    }

    /// What a user can do about it, who is the one that reads this.
    pub fn hint_for_user(&self) -> &'static str {
        match self {
            Self::Resources(_) => "look at the limits of this machine",
            Self::Configuration(_) => "`checkrein config check` shows all that is wrong",
            Self::History(_) | Self::Record(_) => {
                "look at the disk, and see that the state directory can be written to"
            }
            Self::Oversize | Self::InputDeadline | Self::Payload(_) | Self::ReviewDeadline | Self::Panic => {
                self.hint()
            }
        }
    }

    /// The reason given to the client.
    pub fn reason(&self) -> String {
        format!("checkrein could not do its work, so this did not pass: {self}\nInstead: {}", self.hint())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oversize => {
                formatter.write_str("the payload is larger than 12 MiB, or its command than 2 MiB")
            }
            Self::InputDeadline => formatter.write_str("the payload did not arrive in time"),
            Self::Payload(cause) => formatter.write_str(cause),
            Self::ReviewDeadline => formatter.write_str("the review did not end in time"),
            Self::Panic => formatter.write_str("the review ended in a panic"),
            Self::Resources(cause) => write!(formatter, "the machine refused: {cause}"),
            Self::Configuration(cause) => write!(formatter, "the configuration cannot be used: {cause}"),
            Self::History(cause) => write!(formatter, "the history of the session cannot be read: {cause}"),
            Self::Record(cause) => write!(formatter, "the verdict cannot be recorded: {cause}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: seed 002-10
    #[test]
    fn no_failure_lets_a_change_pass() {
        let all = [
            Failure::Oversize,
            Failure::InputDeadline,
            Failure::Payload("x".to_owned()),
            Failure::ReviewDeadline,
            Failure::Panic,
            Failure::Resources("x".to_owned()),
            Failure::Configuration("x".to_owned()),
            Failure::History("x".to_owned()),
            Failure::Record("x".to_owned()),
        ];
        for failure in all {
            match failure.consequence() {
                Consequence::Refuse => {}
                Consequence::AtLeast(kind) => assert!(kind >= VerdictKind::Escalate, "{failure:?}"),
            }
            assert!(failure.reason().lines().count() <= 5);
        }
    }
}
