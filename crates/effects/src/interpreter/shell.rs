//! The state of one shell.

use std::collections::BTreeMap;
use std::rc::Rc;

use checkrein_shell::Command;

use crate::path::AbsolutePath;

use super::descriptors::Opening;
use super::exit::Output;
use super::value::Value;

/// The directory in which a shell is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    /// Here.
    Here(AbsolutePath),
    /// In one of these.
    OneOf(Vec<AbsolutePath>),
    /// Below this one, or in it: a `cd` into something of which only the beginning is known.
    Below(AbsolutePath),
    /// Not known.
    Unknown,
}

impl Whereabouts {
    /// The directory after one of two ways.
    #[must_use]
    pub(crate) fn join(self, other: &Self) -> Self {
        if self == *other {
            return self;
        }
        let (Some(mut left), Some(right)) = (self.list(), other.list()) else { return Self::Unknown };
        for path in right {
            if !left.contains(&path) {
                left.push(path);
            }
        }
        if left.len() <= Value::CHOICES { Self::OneOf(left) } else { Self::Unknown }
    }

    /// Every directory that is possible, when they can be listed.
    pub(crate) fn list(&self) -> Option<Vec<AbsolutePath>> {
        match self {
            Self::Here(path) => Some(vec![path.clone()]),
            Self::OneOf(paths) => Some(paths.clone()),
            Self::Below(_) | Self::Unknown => None,
        }
    }
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    /// What it holds.
    pub(crate) content: Content,
    /// Whether programs see it.
    pub(crate) exported: bool,
    /// Whether it cannot be changed.
    pub(crate) readonly: bool,
    /// Where the value came from, when it is the output of a command.
    pub(crate) origin: Option<Output>,
}

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// One text.
    Scalar(Value),
    /// An indexed array, by index.
    List(BTreeMap<i64, Value>),
    /// An associative array of which every key is known.
    Map(BTreeMap<String, Value>),
    /// An array of which nothing is known.
    Unknown,
    /// Unset on purpose, hiding what the environment says.
    Unset,
}

/// Effects behind something that may have left are not certain; how far that reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Doubts {
    /// Until the end of this turn of the loop (`continue`).
    pub(crate) turn: bool,
    /// Until the end of the loop (`break`).
    pub(crate) turns: bool,
    /// Until the end of the function (`return`).
    pub(crate) function: bool,
    /// Until the end of the shell (`exit`).
    pub(crate) shell: bool,
}

impl Doubts {
    /// Whether any reaches here.
    pub(crate) fn any(self) -> bool {
        self.turn || self.turns || self.function || self.shell
    }

    /// Both together.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            turn: self.turn || other.turn,
            turns: self.turns || other.turns,
            function: self.function || other.function,
            shell: self.shell || other.shell,
        }
    }
}

/// Switches of the shell that change what a word or a failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Options {
    /// `set -e`
    pub(crate) errexit: bool,
    /// `set -u`
    pub(crate) nounset: bool,
    /// `set -f`
    pub(crate) noglob: bool,
    /// `set -C`
    pub(crate) noclobber: bool,
    /// `shopt -s nullglob`
    pub(crate) nullglob: bool,
    /// `shopt -s failglob`
    pub(crate) failglob: bool,
    /// `shopt -s dotglob`
    pub(crate) dotglob: bool,
    /// `shopt -s globstar`
    pub(crate) globstar: bool,
    /// `shopt -s nocaseglob`
    pub(crate) nocaseglob: bool,
    /// `shopt -s extglob`: a group at the end of a word belongs to its pattern.
    pub(crate) extglob: bool,
    /// `setopt extendedglob` of zsh: `^x` is everything but `x`.
    pub(crate) extendedglob: bool,
    /// `shopt -s expand_aliases`
    pub(crate) aliases: bool,
    /// `set -o pipefail`
    pub(crate) pipefail: bool,
}

/// The state of one shell.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    /// Where it is.
    pub(crate) cwd: Whereabouts,
    /// The way it went there, when symbolic links make that another path: what `$PWD` says, and where `cd ..` starts.
    pub(crate) logical: Option<AbsolutePath>,
    /// `pushd` puts directories here.
    pub(crate) stack: Vec<Whereabouts>,
    /// Variables that the command set or unset; the environment is asked for others.
    pub(crate) variables: BTreeMap<String, Variable>,
    /// `$1`, `$2`, ...; `None` when they are not known.
    pub(crate) positional: Option<Vec<Value>>,
    /// `$0`
    pub(crate) name: Value,
    /// Functions by name.
    pub(crate) functions: BTreeMap<String, Rc<Command>>,
    /// Aliases by name.
    pub(crate) aliases: BTreeMap<String, String>,
    /// What descriptors lead to, by number: those above the standard ones, and those that `exec` changed.
    pub(crate) descriptors: BTreeMap<u32, Opening>,
    /// Switches.
    pub(crate) options: Options,
    /// What runs at the end of the shell.
    pub(crate) at_exit: Option<Value>,
    /// What is to run when a signal comes.
    pub(crate) on_signals: Vec<Value>,
    /// What runs when a command fails.
    pub(crate) at_error: Option<Value>,
    /// What may have left already.
    pub(crate) doubts: Doubts,
    /// `$?`, when known.
    pub(crate) last_status: Option<i64>,
    /// Names of variables that are local to the running functions, with what they held before.
    pub(crate) locals: Vec<BTreeMap<String, Option<Variable>>>,
}

impl Shell {
    /// A fresh shell in a directory.
    pub(crate) fn new(cwd: AbsolutePath) -> Self {
        Self {
            cwd: Whereabouts::Here(cwd),
            logical: None,
            stack: Vec::new(),
            variables: BTreeMap::new(),
            positional: Some(Vec::new()),
            name: Value::exact("bash"),
            functions: BTreeMap::new(),
            aliases: BTreeMap::new(),
            descriptors: BTreeMap::new(),
            options: Options::default(),
            at_exit: None,
            on_signals: Vec::new(),
            at_error: None,
            doubts: Doubts::default(),
            last_status: Some(0),
            locals: Vec::new(),
        }
    }

    /// The shell after one of two ways.
    #[must_use]
    pub(crate) fn join(mut self, other: &Self, world_value: &dyn Fn(&str) -> Option<Value>) -> Self {
        self.cwd = self.cwd.join(&other.cwd);
        if self.logical != other.logical {
            self.logical = None;
        }
        if self.stack != other.stack {
            self.stack = Vec::new();
        }
        let mut names: Vec<String> = self.variables.keys().cloned().collect();
        names.extend(other.variables.keys().filter(|name| !self.variables.contains_key(*name)).cloned());
        for name in names {
            let left = self.variables.get(&name);
            let right = other.variables.get(&name);
            if left == right {
                continue;
            }
            let exported = left.or(right).is_some_and(|variable| variable.exported);
            let origin = left
                .and_then(|variable| variable.origin.clone())
                .or_else(|| right.and_then(|variable| variable.origin.clone()));
            let content = match (left.map(|v| &v.content), right.map(|v| &v.content)) {
                (Some(Content::Scalar(left)), Some(Content::Scalar(right))) => {
                    Content::Scalar(left.join(right))
                }
                (Some(Content::Scalar(one)), None | Some(Content::Unset))
                | (None | Some(Content::Unset), Some(Content::Scalar(one))) => {
                    let before = world_value(&name).unwrap_or_else(|| Value::exact(""));
                    Content::Scalar(one.join(&before))
                }
                _ => Content::Unknown,
            };
            self.variables.insert(name, Variable { content, exported, readonly: false, origin });
        }
        if self.positional != other.positional {
            self.positional = None;
        }
        for (name, body) in &other.functions {
            self.functions.entry(name.clone()).or_insert_with(|| Rc::clone(body));
        }
        for (number, opening) in &other.descriptors {
            self.descriptors.entry(*number).or_insert_with(|| opening.clone());
        }
        self.at_exit = self.at_exit.or_else(|| other.at_exit.clone());
        let further = other.on_signals.iter().filter(|text| !self.on_signals.contains(text)).cloned();
        let further: Vec<Value> = further.collect();
        self.on_signals.extend(further);
        self.doubts = self.doubts.or(other.doubts);
        if self.last_status != other.last_status {
            self.last_status = None;
        }
        if self.options != other.options {
            // What is harder to foresee is assumed of the switches that only one way set.
            self.options.nullglob |= other.options.nullglob;
            self.options.dotglob |= other.options.dotglob;
            self.options.globstar |= other.options.globstar;
        }
        self
    }
}
