//! The state of one shell.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use checkrein_shell::Command;

use crate::path::AbsolutePath;

use super::descriptors::Opening;
use super::exit::{Output, Status};
use super::traps::Traps;
use super::value::Value;

/// The directory in which a shell is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellDirectory {
    /// Here.
    Here(AbsolutePath),
    /// In one of these.
    OneOf(Vec<AbsolutePath>),
    /// Below this one, or in it: a `cd` into something of which only the beginning is known.
    Below(AbsolutePath),
    /// Not known.
    Unknown,
}

impl ShellDirectory {
    /// The directory after one of two ways.
    #[must_use]
    pub fn join(self, other: &Self) -> Self {
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
pub struct Variable {
    /// What it holds.
    pub(crate) content: VariableContent,
    /// Whether programs see it.
    pub(crate) exported: bool,
    /// Whether it cannot be changed.
    pub(crate) readonly: bool,
    /// Where the value came from, when it is the output of a command.
    pub(crate) origin: Option<Output>,
    /// What becomes of every text that is assigned.
    pub(crate) treatment: Treatment,
}

impl Variable {
    /// One that is not set.
    pub(crate) fn unset() -> Self {
        Self {
            content: VariableContent::Unset,
            exported: false,
            readonly: false,
            origin: None,
            treatment: Treatment::None,
        }
    }
}

/// What becomes of every text that is assigned to a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Treatment {
    /// It stays.
    #[default]
    None,
    /// Capital letters (`declare -u`).
    Upper,
    /// Small letters (`declare -l`).
    Lower,
    /// A capital letter at the beginning (`declare -c`).
    Capital,
    /// It is an expression (`declare -i`).
    Integer,
    /// It names another variable (`declare -n`).
    Reference,
}

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableContent {
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
    /// Until the end of the line (an expansion that fails).
    pub(crate) line: bool,
    /// Until the end of the shell (`exit`).
    pub(crate) shell: bool,
}

impl Doubts {
    /// Whether any reaches here.
    pub(crate) fn any(self) -> bool {
        self.turn || self.turns || self.function || self.line || self.shell
    }

    /// Both together.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            turn: self.turn || other.turn,
            turns: self.turns || other.turns,
            function: self.function || other.function,
            line: self.line || other.line,
            shell: self.shell || other.shell,
        }
    }
}

/// Switches of the shell that change what a word or a failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Options {
    /// `set -e`
    pub(crate) errexit: bool,
    /// `set -e` on one of two ways only.
    pub(crate) perhaps_errexit: bool,
    /// `set -u`
    pub(crate) nounset: bool,
    /// `set -f`
    pub(crate) noglob: bool,
    /// `set -P`
    pub(crate) physical: bool,
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
    /// Whether zsh reads: the letters of `set` are its own, and a variable may name a directory (`~name`).
    pub(crate) is_zsh: bool,
    /// `shopt -s expand_aliases`
    pub(crate) aliases: bool,
    /// Whether `set -e` holds around a substitution: other shells than bash hand it on.
    pub(crate) inherited_errexit: bool,
    /// `set -o pipefail`
    pub(crate) pipefail: bool,
    /// `shopt -s execfail`: an `exec` that fails does not end the shell.
    pub(crate) execfail: bool,
    /// `shopt -s lastpipe`: the last command of a pipeline runs in the shell itself.
    pub(crate) lastpipe: bool,
    /// Whether it is not known where that command runs: shells of one family differ.
    pub(crate) perhaps_lastpipe: bool,
    /// `set -T`: functions have the traps for `DEBUG` and `RETURN` of their caller.
    pub(crate) functrace: bool,
    /// `set -o history`: lines are remembered.
    pub(crate) history: bool,
    /// `set -H`: `!` stands for what is remembered.
    pub(crate) histexpand: bool,
    /// `shopt -s nocasematch`: `case`, `[[` and replacements do not tell capital letters from small ones.
    pub(crate) nocasematch: bool,
    /// `shopt -s xpg_echo`: `echo` knows escapes without being told.
    pub(crate) xpg_echo: bool,
    /// `set -a`: what is assigned is exported.
    pub(crate) allexport: bool,
    /// `shopt -s cdable_vars`: what is no directory may be a variable that names one.
    pub(crate) cdable_vars: bool,
    /// `shopt -s extdebug`: the arguments of functions are told.
    pub(crate) extdebug: bool,
    /// `set -k`: assignments stand anywhere among the words of a command.
    pub(crate) keyword: bool,
    /// `set -o posix`: assignments in front of special built-ins stay.
    pub(crate) posix: bool,
    /// Whether it is not known which of the two holds: one of two ways set it.
    pub(crate) perhaps_posix: bool,
    /// `shopt -s localvar_inherit`: a local variable begins with the value that the name has outside.
    pub(crate) localvar_inherit: bool,
    /// Whether it is not known how letters of both cases are compared: one of two ways set it.
    pub(crate) perhaps_nocasematch: bool,
}

impl Options {
    /// Takes back what `set` changed, as `local -` has it at the end of a function; what `shopt` changed stays.
    pub(crate) fn take_back_set(&mut self, before: &Self) {
        self.errexit = before.errexit;
        self.perhaps_errexit = before.perhaps_errexit;
        self.inherited_errexit = before.inherited_errexit;
        self.nounset = before.nounset;
        self.noglob = before.noglob;
        self.physical = before.physical;
        self.noclobber = before.noclobber;
        self.pipefail = before.pipefail;
        self.allexport = before.allexport;
        self.keyword = before.keyword;
        self.posix = before.posix;
        self.perhaps_posix = before.perhaps_posix;
        self.functrace = before.functrace;
        self.history = before.history;
        self.histexpand = before.histexpand;
    }

    /// `set -e` or `set +e`.
    pub(crate) fn set_errexit(&mut self, on: bool) {
        self.errexit = on;
        self.perhaps_errexit = false;
        self.inherited_errexit = false;
    }
}

/// Which words a shell knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Speech {
    /// Those of bash.
    #[default]
    Bash,
    /// Those of POSIX, as dash has them.
    Posix,
}

/// Where a shell was before it went elsewhere.
#[derive(Debug, Clone)]
pub(crate) struct Departure {
    cwd: ShellDirectory,
    stack: Vec<ShellDirectory>,
    doubtful_stack: usize,
}

/// The state of one shell.
#[derive(Debug, Clone)]
pub struct Shell {
    /// Where it is.
    pub cwd: ShellDirectory,
    /// The way it went there, when symbolic links make that another path: what `$PWD` says, and where `cd ..` starts.
    pub logical: Option<AbsolutePath>,
    /// `pushd` puts directories here.
    pub(crate) stack: Vec<ShellDirectory>,
    /// How many of them may not be there, from the bottom on: a way on which fewer were put there was joined.
    pub(crate) doubtful_stack: usize,
    /// Variables that the command set or unset; the environment is asked for others.
    pub variables: BTreeMap<String, Variable>,
    /// Names that stand for other variables (`declare -n`).
    pub(crate) references: BTreeMap<String, String>,
    /// `$1`, `$2`, ...; `None` when they are not known.
    pub(crate) positional: Option<Vec<Value>>,
    /// `$0`
    pub(crate) name: Value,
    /// The files that are being read, the innermost last: `BASH_SOURCE`.
    pub(crate) sources: Vec<Value>,
    /// The script that the shell which starts next reads.
    pub(crate) starting: Option<Value>,
    /// Functions by name.
    pub(crate) functions: BTreeMap<String, Rc<Command>>,
    /// What else a name of [`Shell::functions`] may stand for, when a function was only perhaps defined: another body, or none.
    pub(crate) alternatives: BTreeMap<String, Vec<Option<Rc<Command>>>>,
    /// The functions that shells started from here get too.
    pub(crate) exported_functions: BTreeSet<String>,
    /// Names without a value that are exported as soon as they get one (`export NAME`).
    pub(crate) exported_once_set: BTreeSet<String>,
    /// The functions that cannot be changed in bash (`readonly -f`).
    pub(crate) fixed_functions: BTreeSet<String>,
    /// What was put into the history.
    pub(crate) history: Vec<String>,
    /// Whether the history was emptied (`history -c`).
    pub(crate) history_is_emptied: bool,
    /// Aliases by name.
    pub(crate) aliases: BTreeMap<String, String>,
    /// What `exec` opened as the standard input.
    pub(crate) input_source: Option<AbsolutePath>,
    /// Directories that have a name in zsh (`hash -d name=directory`).
    pub(crate) named_directories: BTreeMap<String, Value>,
    /// What descriptors lead to, by number: those above the standard ones, and those that `exec` changed.
    pub(crate) descriptors: BTreeMap<u32, Opening>,
    /// Switches.
    pub(crate) options: Options,
    /// Which words it knows.
    pub(crate) speech: Speech,
    /// What runs at the end of the shell.
    pub(crate) at_exit: Option<Value>,
    /// Whether it is not sure that this was arranged.
    pub(crate) exit_trap_in_doubt: bool,
    /// Whether commands of the shell itself may be switched off (`enable -n exit`).
    pub(crate) is_without_commands: bool,
    /// What is to run when a signal comes.
    pub(crate) on_signals: Vec<Value>,
    /// What is to run when a child ends, a pipe breaks or a function returns.
    pub(crate) traps: Traps,
    /// What runs when a command fails.
    pub(crate) at_error: Option<Value>,
    /// What runs before every command, when it asks which it is.
    pub(crate) at_debug: Option<Value>,
    /// What `$_` holds.
    pub(crate) last_word: Value,
    /// Whether it certainly started a job, so that `$!` is set.
    pub(crate) has_job: bool,
    /// What may have left already.
    pub(crate) doubts: Doubts,
    /// What is known of `$?`.
    pub(crate) last_status: Status,
    /// Variables whose values rest on what may be otherwise by then, `@` for the positional parameters.
    pub(crate) presumed: BTreeSet<String>,
    /// Variables that one of two ways left unset.
    pub(crate) perhaps_unset: BTreeSet<String>,
    /// Lists of words that variables and positional parameters may hold of which no single list is known.
    pub(crate) possible_lists: Vec<Vec<Value>>,
    /// Whether the shell may have ended before with another status.
    pub(crate) may_have_exited: bool,
    /// Whether the function may have ended before with another status.
    pub(crate) may_have_returned: bool,
    /// How many loops are around the present point, in this shell and function.
    pub(crate) loops: u32,
    /// Whether there were loops around the subshell that this is: some shells leave it with `break`.
    pub(crate) left_loops: bool,
    /// How many functions and sourced files are around the present point, in this shell.
    pub(crate) returns: u32,
    /// Names of variables that are local to the running functions, with what they held before.
    pub(crate) locals: Vec<BTreeMap<String, Option<Variable>>>,
    /// The switches before a function changed them that says `local -`, for each function that runs.
    pub(crate) local_options: Vec<Option<Options>>,
}

/// The greatest number of lines of the history that are remembered (ours).
pub(crate) const HISTORY: usize = 16;
/// The greatest number of references that lead to one another (ours).
const REFERENCES: usize = 8;

impl Shell {
    /// A fresh shell in a directory.
    pub(crate) fn new(cwd: AbsolutePath) -> Self {
        Self {
            cwd: ShellDirectory::Here(cwd),
            logical: None,
            stack: Vec::new(),
            doubtful_stack: 0,
            variables: BTreeMap::new(),
            references: BTreeMap::new(),
            positional: Some(Vec::new()),
            name: Value::exact("bash"),
            sources: Vec::new(),
            starting: None,
            functions: BTreeMap::new(),
            alternatives: BTreeMap::new(),
            exported_functions: BTreeSet::new(),
            exported_once_set: BTreeSet::new(),
            fixed_functions: BTreeSet::new(),
            history: Vec::new(),
            history_is_emptied: false,
            aliases: BTreeMap::new(),
            input_source: None,
            named_directories: BTreeMap::new(),
            descriptors: BTreeMap::new(),
            options: Options::default(),
            speech: Speech::Bash,
            at_exit: None,
            exit_trap_in_doubt: false,
            is_without_commands: false,
            on_signals: Vec::new(),
            traps: Traps::default(),
            at_error: None,
            at_debug: None,
            last_word: Value::Unknown,
            has_job: false,
            doubts: Doubts::default(),
            last_status: Status::Success,
            presumed: BTreeSet::new(),
            perhaps_unset: BTreeSet::new(),
            possible_lists: Vec::new(),
            may_have_exited: false,
            may_have_returned: false,
            loops: 0,
            left_loops: false,
            returns: 0,
            locals: Vec::new(),
            local_options: Vec::new(),
        }
    }

    /// The variable for which a name stands: itself, unless it is a reference.
    pub(crate) fn referred<'n>(&'n self, name: &'n str) -> &'n str {
        let mut name = name;
        for _ in 0..REFERENCES {
            match self.references.get(name) {
                Some(target) => name = target,
                None => break,
            }
        }
        name
    }

    /// Puts a line into the history. Of many the last ones are kept.
    pub(crate) fn remember(&mut self, line: &str) {
        if self.history.len() >= HISTORY {
            self.history.remove(0);
        }
        self.history.push(line.to_owned());
    }

    /// Where the shell is, to be able to go back.
    pub(crate) fn departure(&self) -> Departure {
        Departure { cwd: self.cwd.clone(), stack: self.stack.clone(), doubtful_stack: self.doubtful_stack }
    }

    /// Goes back to where the shell was.
    pub(crate) fn return_to(&mut self, departure: Departure) {
        self.cwd = departure.cwd;
        self.logical = None;
        self.stack = departure.stack;
        self.doubtful_stack = departure.doubtful_stack;
    }

    /// Is here, or where the shell was.
    pub(crate) fn perhaps_return_to(&mut self, departure: &Departure) {
        self.cwd = self.cwd.clone().join(&departure.cwd);
        self.logical = None;
        self.join_stack(&departure.stack, departure.doubtful_stack);
    }

    /// The stack of directories after one of two ways. What is taken next lies on top, so the two are laid side by side from there.
    fn join_stack(&mut self, other: &[ShellDirectory], doubtful: usize) {
        if self.stack == other {
            self.doubtful_stack = self.doubtful_stack.max(doubtful);
            return;
        }
        let (own, others) = (self.stack.len(), other.len());
        let sure = (own - self.doubtful_stack.min(own)).min(others - doubtful.min(others));
        let length = own.max(others);
        let from_top = |stack: &[ShellDirectory], place: usize| {
            stack.len().checked_sub(place + 1).and_then(|at| stack.get(at).cloned())
        };
        let joined = (0..length).rev().filter_map(|place| {
            match (from_top(&self.stack, place), from_top(other, place)) {
                (Some(one), Some(two)) => Some(one.join(&two)),
                (one, two) => one.or(two),
            }
        });
        self.stack = joined.collect();
        self.doubtful_stack = length - sure;
    }

    /// Takes the directory from the top of the stack, and whether it surely was there; `None` when the stack is empty.
    pub(crate) fn take_from_stack(&mut self) -> Option<(ShellDirectory, bool)> {
        let place = self.stack.pop()?;
        let is_sure = self.doubtful_stack <= self.stack.len();
        self.doubtful_stack = self.doubtful_stack.min(self.stack.len());
        Some((place, is_sure))
    }

    /// The shell after one of two ways.
    #[must_use]
    pub(crate) fn join(mut self, other: &Self, world_value: &dyn Fn(&str) -> Option<Value>) -> Self {
        self.cwd = self.cwd.join(&other.cwd);
        if self.logical != other.logical {
            self.logical = None;
        }
        self.join_stack(&other.stack, other.doubtful_stack);
        let mut names: Vec<String> = self.variables.keys().cloned().collect();
        names.extend(other.variables.keys().filter(|name| !self.variables.contains_key(*name)).cloned());
        let mut possible_lists: Vec<Vec<Value>> = Vec::new();
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
                (Some(VariableContent::Scalar(left)), Some(VariableContent::Scalar(right))) => {
                    VariableContent::Scalar(left.join(right))
                }
                (Some(VariableContent::Scalar(one)), None | Some(VariableContent::Unset))
                | (None | Some(VariableContent::Unset), Some(VariableContent::Scalar(one))) => {
                    let before = world_value(&name);
                    if before.is_none() {
                        self.perhaps_unset.insert(name.clone());
                    }
                    VariableContent::Scalar(one.join(&before.unwrap_or_else(|| Value::exact(""))))
                }
                (None | Some(VariableContent::Unset), None | Some(VariableContent::Unset)) => {
                    match world_value(&name) {
                        Some(before) => {
                            self.perhaps_unset.insert(name.clone());
                            VariableContent::Scalar(before.join(&Value::exact("")))
                        }
                        None => VariableContent::Unset,
                    }
                }
                (left, right) => {
                    let lists = [left, right].into_iter().flatten().filter_map(|content| match content {
                        VariableContent::List(items) => Some(items.values().cloned().collect()),
                        VariableContent::Scalar(value) => Some(vec![value.clone()]),
                        VariableContent::Map(_) | VariableContent::Unknown | VariableContent::Unset => None,
                    });
                    possible_lists.extend(lists);
                    VariableContent::Unknown
                }
            };
            let treatment = left.or(right).map(|variable| variable.treatment).unwrap_or_default();
            self.variables.insert(name, Variable { content, exported, readonly: false, origin, treatment });
        }
        self.keep_possible_lists(possible_lists);
        if self.references != other.references {
            // On one of the ways they stand for something else.
            let references: BTreeSet<String> =
                self.references.keys().chain(other.references.keys()).cloned().collect();
            for name in references {
                self.references.remove(&name);
                let unknown = Variable {
                    content: VariableContent::Unknown,
                    exported: false,
                    readonly: false,
                    origin: None,
                    treatment: Treatment::None,
                };
                self.variables.insert(name, unknown);
            }
        }
        if self.positional != other.positional {
            let lists: Vec<Vec<Value>> =
                [&self.positional, &other.positional].into_iter().flatten().cloned().collect();
            self.keep_possible_lists(lists);
            self.positional = None;
        }
        self.join_functions(other);
        for (name, text) in &other.aliases {
            self.aliases.entry(name.clone()).or_insert_with(|| text.clone());
        }
        for (number, opening) in &other.descriptors {
            self.descriptors.entry(*number).or_insert_with(|| opening.clone());
        }
        self.is_without_commands |= other.is_without_commands;
        self.exit_trap_in_doubt |= other.exit_trap_in_doubt || self.at_exit != other.at_exit;
        self.at_exit = joined(self.at_exit, other.at_exit.as_ref());
        self.at_error = joined(self.at_error, other.at_error.as_ref());
        self.at_debug = joined(self.at_debug, other.at_debug.as_ref());
        self.last_word = self.last_word.join(&other.last_word);
        self.has_job &= other.has_job;
        let further = other.on_signals.iter().filter(|text| !self.on_signals.contains(text)).cloned();
        let further: Vec<Value> = further.collect();
        self.on_signals.extend(further);
        self.traps.join(&other.traps);
        self.doubts = self.doubts.or(other.doubts);
        self.last_status = self.last_status.join(other.last_status);
        self.presumed.extend(other.presumed.iter().cloned());
        self.perhaps_unset.extend(other.perhaps_unset.iter().cloned());
        self.keep_possible_lists(other.possible_lists.clone());
        self.may_have_exited |= other.may_have_exited;
        self.may_have_returned |= other.may_have_returned;
        if self.options != other.options {
            // What is harder to foresee is assumed of the switches that only one way set.
            self.options.nullglob |= other.options.nullglob;
            self.options.dotglob |= other.options.dotglob;
            self.options.globstar |= other.options.globstar;
            self.options.extglob |= other.options.extglob;
            self.options.aliases |= other.options.aliases;
            self.options.execfail |= other.options.execfail;
            self.options.cdable_vars |= other.options.cdable_vars;
            self.options.extdebug |= other.options.extdebug;
            self.options.functrace |= other.options.functrace;
            self.options.history |= other.options.history;
            self.options.histexpand |= other.options.histexpand;
            self.options.keyword |= other.options.keyword;
            self.options.perhaps_posix |=
                other.options.perhaps_posix || self.options.posix != other.options.posix;
            self.options.allexport |= other.options.allexport;
            self.options.localvar_inherit |= other.options.localvar_inherit;
            self.options.perhaps_nocasematch |=
                other.options.perhaps_nocasematch || self.options.nocasematch != other.options.nocasematch;
            // Only what both ways end with counts as an end.
            self.options.perhaps_errexit |=
                other.options.perhaps_errexit || self.options.errexit != other.options.errexit;
            self.options.errexit &= other.options.errexit;
            self.options.nounset &= other.options.nounset;
            self.options.noglob &= other.options.noglob;
            self.options.noclobber &= other.options.noclobber;
        }
        self
    }

    /// Remembers lists of words that stand for one another.
    fn keep_possible_lists(&mut self, lists: Vec<Vec<Value>>) {
        for list in lists {
            if !list.is_empty() && self.possible_lists.len() < LISTS && !self.possible_lists.contains(&list) {
                self.possible_lists.push(list);
            }
        }
    }

    /// Takes over what another way gave variables and functions of which nothing was known in front of both.
    pub(crate) fn take_over_new(&mut self, other: &Self, before: &Self) {
        for (name, variable) in &other.variables {
            if !before.variables.contains_key(name) && !self.variables.contains_key(name) {
                self.variables.insert(name.clone(), variable.clone());
                // That it is set at all is as sure as the way.
                self.presumed.insert(name.clone());
            }
        }
        for (name, body) in &other.functions {
            if !before.functions.contains_key(name) && !self.functions.contains_key(name) {
                self.functions.insert(name.clone(), Rc::clone(body));
                if let Some(bodies) = other.alternatives.get(name) {
                    self.alternatives.insert(name.clone(), bodies.clone());
                }
            }
        }
    }

    /// Takes over what holds in another way in place of values of which nothing is known here.
    pub(crate) fn take_over_unknown(&mut self, other: &Self) {
        let is_known = |content: &VariableContent| match content {
            VariableContent::Scalar(value) => value.alternatives().is_some(),
            VariableContent::List(items) => items.values().all(|value| value.alternatives().is_some()),
            VariableContent::Map(items) => items.values().all(|value| value.alternatives().is_some()),
            VariableContent::Unknown => false,
            VariableContent::Unset => true,
        };
        // What comes out of a variable that is not seen is empty only as far as is known.
        let is_made_up = |name: &String| self.presumed.contains(name) && !other.presumed.contains(name);
        let unknown =
            self.variables.iter().filter(|(name, variable)| !is_known(&variable.content) || is_made_up(name));
        let unknown: Vec<String> = unknown.map(|(name, _)| name.clone()).collect();
        for name in unknown {
            match other.variables.get(&name) {
                Some(variable) => self.variables.insert(name, variable.clone()),
                None => self.variables.remove(&name),
            };
        }
        let is_open = |values: &Vec<Value>| values.iter().any(|value| value.alternatives().is_none());
        if self.positional.as_ref().is_none_or(is_open) {
            self.positional.clone_from(&other.positional);
        }
    }

    pub(super) fn join_functions(&mut self, other: &Self) {
        self.exported_functions.extend(other.exported_functions.iter().cloned());
        self.exported_once_set.extend(other.exported_once_set.iter().cloned());
        self.fixed_functions.extend(other.fixed_functions.iter().cloned());
        let mut names: Vec<&String> = other.functions.keys().chain(other.alternatives.keys()).collect();
        names.extend(self.functions.keys().filter(|name| !other.functions.contains_key(*name)));
        let names: Vec<String> = names.into_iter().cloned().collect();
        for name in names {
            let mut bodies = self.bodies(&name);
            for body in other.bodies(&name) {
                if !bodies.contains(&body) && bodies.len() < BODIES {
                    bodies.push(body);
                }
            }
            let Some(place) = bodies.iter().position(Option::is_some) else { continue };
            if let Some(first) = bodies.remove(place) {
                self.functions.insert(name.clone(), first);
            }
            if bodies.is_empty() {
                self.alternatives.remove(&name);
            } else {
                self.alternatives.insert(name, bodies);
            }
        }
    }

    /// What a name may stand for; `None` where it is no function.
    fn bodies(&self, name: &str) -> Vec<Option<Rc<Command>>> {
        let mut bodies = vec![self.functions.get(name).cloned()];
        bodies.extend(self.alternatives.get(name).into_iter().flatten().cloned());
        bodies
    }

    /// Defines a function.
    pub(crate) fn define(&mut self, name: &str, body: Rc<Command>) {
        self.alternatives.remove(name);
        self.functions.insert(name.to_owned(), body);
    }

    /// Forgets a function.
    pub(crate) fn undefine(&mut self, name: &str) {
        self.alternatives.remove(name);
        self.functions.remove(name);
    }
}

/// The greatest number of bodies that one name may have (ours).
const BODIES: usize = 8;

/// The greatest number of lists of words that are kept for what may stand in their place (ours).
const LISTS: usize = 8;

/// A command that one of two ways left for later.
pub(super) fn joined(one: Option<Value>, other: Option<&Value>) -> Option<Value> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.join(other)),
        (one, other) => one.or_else(|| other.cloned()),
    }
}
