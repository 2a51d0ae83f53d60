//! What an interpretation comes to.

use checkrein_protocol::{SecretMark, TerminalUse};

use super::machine::RunCommand;
use super::perhaps::Way;
use crate::effect::Effect;
use crate::path::AbsolutePath;

/// What an action would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prediction {
    /// The effects, in the order in which they would happen; stakes are set.
    pub effects: Vec<Effect>,
    /// What was not plain sailing while reading the action, each one clause.
    pub problems: Vec<String>,
    /// Basenames of the programs that run, each once, in order.
    pub programs: Vec<String>,
    /// The calls of programs, in order, as far as they are listed (at most 256).
    pub commands: Vec<RunCommand>,
    /// What changes about the places that hold secrets (at most 16).
    pub secret_marks: Vec<SecretMark>,
    /// Whether something of a secret that it reads may go into a file.
    pub writes_secret: bool,
    /// What stands afterwards where that is known exactly, or may, where ways part (at most 256): whoever finds just this there finds nothing that
    /// would be lost.
    pub announced: Vec<(AbsolutePath, AnnouncedContent)>,
    /// What it puts into terminals and open programs (at most a few).
    pub terminal_uses: Vec<TerminalUse>,
    /// Whether it leaves a program open that runs what is typed into it.
    pub left_open: LeftOpen,
    /// What version control is to write into its logs, with the repository's own directory (at most 64).
    pub logged: Vec<(AbsolutePath, LoggedMessage)>,
}

impl Prediction {
    /// What comes of an action that can be read in several ways: all that it does in any of them, in their order.
    #[must_use]
    pub fn all(ways: Vec<Self>) -> Self {
        let mut all = Self::default();
        let mut ways = ways.into_iter();
        if let Some(first) = ways.next() {
            all = first;
        }
        for way in ways {
            for effect in way.effects {
                if !all.effects.contains(&effect) {
                    all.effects.push(effect);
                }
            }
            all.problems.extend(way.problems);
            for program in way.programs {
                if !all.programs.contains(&program) {
                    all.programs.push(program);
                }
            }
            all.commands.extend(way.commands);
            all.secret_marks.extend(way.secret_marks);
            all.writes_secret |= way.writes_secret;
            all.announced.extend(way.announced);
            all.logged.extend(way.logged);
            all.terminal_uses.extend(way.terminal_uses);
            all.left_open = all.left_open.max(way.left_open);
        }
        all
    }

    /// What comes to this beside all that an earlier part of the same conversation came to already.
    #[must_use]
    pub fn beyond(mut self, earlier: &Self) -> Self {
        self.effects = without(self.effects, &earlier.effects);
        self.problems = without(self.problems, &earlier.problems);
        self.commands = without(self.commands, &earlier.commands);
        self.announced = without(self.announced, &earlier.announced);
        self.logged = without(self.logged, &earlier.logged);
        self.programs.retain(|program| self.commands.iter().any(|command| command.program == *program));
        self
    }
}

/// Whether a program stays open that runs what is typed into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LeftOpen {
    /// None does.
    #[default]
    Nothing,
    /// One does.
    Program,
}

/// What is left of a list when each item of another one is taken out once.
fn without<T: PartialEq>(mut all: Vec<T>, taken: &[T]) -> Vec<T> {
    for item in taken {
        if let Some(place) = all.iter().position(|known| known == item) {
            all.remove(place);
        }
    }
    all
}

/// What an action leaves at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnnouncedContent {
    /// A file with this text.
    Text(String),
    /// A symbolic link to this target.
    Link(String),
    /// A reference of version control to the commit that a name of a revision means before the action.
    Commit {
        /// The work tree of the repository, or its own data.
        repository: AbsolutePath,
        /// The name.
        revision: String,
    },
    /// The mode that `chmod` gives what stands there, in its words (`600`, `go-w`).
    Mode(String),
}

impl AnnouncedContent {
    /// A file with this text.
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// What a command leaves in one of its ways; `None` where that is what was there before.
    pub(crate) fn in_way(way: Way) -> Option<Self> {
        match way {
            Way::Holds(text) => Some(Self::Text(text)),
            Way::Leads(target) => Some(Self::Link(target)),
            Way::Committed(_) | Way::AsBefore => None,
        }
    }
}

/// What version control writes into a log when a reference moves: the message, behind the name of the reference and a tab where it counts for
/// that one alone. The log of a branch has what that of `HEAD` has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoggedMessage {
    /// Just this.
    Whole(String),
    /// Something that begins so, once.
    Start(String),
    /// Any number of entries that begin so.
    Several(String),
}

/// How many entries of logs are foretold at most (ours).
pub(crate) const LOGGED: usize = 64;

/// How many places are announced at most (ours).
pub(crate) const ANNOUNCED: usize = 256;
