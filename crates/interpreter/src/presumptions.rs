//! What rests on files as they stand now, though the same command may have made, changed or removed them by then.
//!
//! What is presumed is followed as it is known, and the other way as a possibility: a program that is known by its effects may fail, may
//! write what nobody can foresee, or may find another state of a repository than the one that is seen.

use std::collections::BTreeMap;

use checkrein_shell::Simple;

use crate::effect::{Depth, EffectKind, Target};
use crate::path::AbsolutePath;

use super::assignment::is_variable_name;
use super::call::Input;
use super::exit::{Output, Status};
use super::machine::{Absence, Machine};
use super::shell::Variable;
use super::statements::{Done, Flow};
use super::value::Value;

/// How many operands of a program are looked at (ours).
const OPERANDS: usize = 8;

/// How far the machine was before a command ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Before {
    /// How many effects there were.
    pub(super) effects: usize,
    /// How often an answer had rested on a file that may be otherwise.
    pub(super) presumed_files: usize,
}

/// How sure values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// They rest on what may be otherwise by then.
    Presumed,
    /// Nothing but the command itself decides them.
    Settled,
}

/// The name under which the positional parameters are kept among what is presumed.
const ARGUMENTS: &str = "@";

impl Machine<'_> {
    /// Whether what stands at a path may be otherwise than it is known, because of what the command did before: it was made or removed by it,
    /// or lies where something was changed of which not all is known.
    pub fn may_be_otherwise(&self, path: &AbsolutePath) -> bool {
        self.tree.is_known(path) || self.may_have_been_changed(path)
    }

    /// Whether something that ran before may have changed what stands at a path, beyond what is known of it.
    fn may_have_been_changed(&self, path: &AbsolutePath) -> bool {
        self.may_have_been_changed_by(self.effect_count(), path)
    }

    /// The same of the first `count` effects.
    fn may_have_been_changed_by(&self, count: usize, path: &AbsolutePath) -> bool {
        self.tree.is_disturbed()
            || self.tree.is_filled(path)
            || self.ran_unread() && path.is_within(&self.world.place().workspace)
            || self.findings.effects.iter().take(count).any(|effect| {
                let changes = effect.kind.file_change().is_some()
                    || matches!(effect.kind, EffectKind::VcsLocalLoss | EffectKind::VcsHistoryRewrite);
                changes && may_reach(&effect.target, effect.depth, path)
            })
    }

    /// Whether a program ran of which not all that it does to files is read from its words: a build, a test, an interpreter.
    fn ran_unread(&self) -> bool {
        self.findings.programs.iter().any(|program| !self.table.is_read_through(program))
    }

    /// Notes that an answer rests on what stands at or below a path, as it is known.
    pub fn rest_on_entry(&mut self, path: &AbsolutePath) {
        if self.may_be_otherwise(path) {
            self.presumed_files += 1;
            self.unseen += 1;
        }
    }

    /// Notes that an answer rests on what a pattern finds.
    pub(crate) fn rest_on_pattern(&mut self, pattern: &str) {
        let fixed = pattern.split(['*', '?', '[', '(', '\\']).next().unwrap_or_default();
        let directory = fixed.rsplit_once('/').map_or("", |(directory, _)| directory);
        let place = if pattern.starts_with('/') {
            AbsolutePath::new(directory).unwrap_or_else(AbsolutePath::root)
        } else {
            let Some(cwd) = self.cwd() else { return };
            cwd.join(directory)
        };
        self.rest_on_entry(&place);
    }

    /// Notes that an answer rests on the text of a file, as it is known. What the shell itself wrote there is settled.
    pub(crate) fn rest_on_text(&mut self, path: &AbsolutePath) {
        if !self.is_settled_text(path) && self.may_have_been_changed(path) {
            self.presumed_files += 1;
            self.unseen += 1;
        }
    }

    /// Notes that what comes next fails or succeeds only as things stand, where a path may be otherwise.
    pub(crate) fn presume_entry(&mut self, path: &AbsolutePath) {
        if self.may_be_otherwise(path) {
            self.absent = Some(Absence::Changed);
        }
    }

    /// Whether the value of a variable rests on what may be otherwise; `@` and its like ask for the positional parameters.
    pub(crate) fn is_presumed(&self, name: &str) -> bool {
        if self.shell.presumed.is_empty() {
            return false;
        }
        let is_argument =
            matches!(name, "@" | "*" | "#") || name.starts_with(|c: char| ('1'..='9').contains(&c));
        self.shell.presumed.contains(if is_argument { ARGUMENTS } else { name })
    }

    /// Remembers whether the value that a variable got rests on what may be otherwise, asked for since there were `before` such.
    pub(crate) fn note_presumed(&mut self, name: &str, before: usize) {
        if self.unseen > before {
            self.shell.presumed.insert(name.to_owned());
        } else {
            self.shell.presumed.remove(name);
        }
    }

    /// Gives the positional parameters of a function the standing of its words; answers the one that they had.
    pub(super) fn presume_arguments(&mut self, standing: Standing) -> Standing {
        let had = match standing {
            Standing::Presumed => !self.shell.presumed.insert(ARGUMENTS.to_owned()),
            Standing::Settled => self.shell.presumed.remove(ARGUMENTS),
        };
        if had { Standing::Presumed } else { Standing::Settled }
    }

    /// The standing of the words of the running command.
    pub(super) fn standing_of_words(&self) -> Standing {
        if self.call.rests_on_unseen { Standing::Presumed } else { Standing::Settled }
    }

    /// Notes that what a program says rests on the files and directories that its words name, or on the working directory, as the first
    /// `count` effects left them.
    fn rest_on_operands(&mut self, words: &[Value], count: usize) {
        if count == 0 && !self.tree.is_disturbed() {
            return;
        }
        let operands = words.iter().skip(1).filter(|word| !word.known_start().starts_with('-'));
        let mut places: Vec<AbsolutePath> =
            operands.filter_map(|word| self.one_path_through(word)).take(OPERANDS).collect();
        // A program that lists looks here where nothing else is named.
        if words.len() == 1 || words.iter().skip(1).all(|word| word.known_start().starts_with('-')) {
            places.extend(self.cwd().cloned());
        }
        if places
            .iter()
            .any(|place| !self.is_settled_text(place) && self.may_have_been_changed_by(count, place))
        {
            self.presumed_files += 1;
            self.unseen += 1;
        }
    }

    /// Notes that variables which differ from what they held rest on what may be otherwise.
    pub(super) fn presume_changed(&mut self, held: &BTreeMap<String, Variable>) {
        let variables = &self.shell.variables;
        let content = |table: &BTreeMap<String, Variable>, name: &str| {
            table.get(name).map(|variable| variable.content.clone())
        };
        let changed = variables.keys().chain(held.keys());
        let changed = changed.filter(|name| content(variables, name) != content(held, name)).cloned();
        let changed: Vec<String> = changed.collect();
        self.shell.presumed.extend(changed);
    }

    /// Notes the files that a command wrote which read something that may be otherwise.
    fn presume_written(&mut self, count: usize) {
        let written: Vec<String> = self
            .effects_since(count)
            .filter(|effect| effect.kind.file_change().is_some())
            .filter_map(|effect| effect.target.path().map(|path| path.as_str().to_owned()))
            .take(OPERANDS)
            .collect();
        self.presumed_texts.extend(written);
    }

    /// Whether the text of a file is known for sure: what the shell wrote there, of words that nothing else decides.
    fn is_settled_text(&self, path: &AbsolutePath) -> bool {
        self.tree.is_written(path) && !self.presumed_texts.contains(path.as_str())
    }

    /// What a command that read such a file answers, and the variables that it filled, rest on it.
    pub(super) fn presume_reading(&mut self, simple: &Simple, words: &[Value], before: Before, done: &Done) {
        let program = words.first().and_then(Value::as_exact).unwrap_or_default();
        if program == "set" && self.call.rests_on_unseen {
            self.shell.presumed.insert(ARGUMENTS.to_owned());
        }
        if self.call.rests_on_unseen {
            self.presume_written(before.effects);
        }
        if program == "shift" && self.is_presumed(ARGUMENTS) && self.absent.is_none() {
            self.absent = Some(Absence::Changed);
        }
        if done.flow != Flow::Next {
            return;
        }
        let is_known = matches!(done.status, Status::Success | Status::Failure)
            || matches!(done.output, Output::Text(_));
        if is_known && !crate::builtins::is_built_in(program) {
            self.rest_on_operands(words, before.effects);
        }
        if self.presumed_files == 0 {
            return;
        }
        let fills = matches!(program, "read" | "mapfile" | "readarray");
        let reads_input = matches!(self.input, Input::Text(_)) || !simple.redirects.is_empty();
        if self.presumed_files == before.presumed_files
            && !(reads_input && (fills || !crate::builtins::is_built_in(program)))
        {
            return;
        }
        self.presume_written(before.effects);
        if fills {
            let names =
                words.iter().skip(1).filter_map(Value::as_exact).filter(|name| is_variable_name(name));
            let mut names: Vec<String> = names.map(str::to_owned).collect();
            if names.is_empty() {
                names.extend(["REPLY", "MAPFILE"].map(str::to_owned));
            }
            self.shell.presumed.extend(names);
        }
        if matches!(done.status, Status::Success | Status::Failure) && self.absent.is_none() {
            self.absent = Some(Absence::Changed);
        }
    }
}

/// Whether a change to a target may be one of what stands at a path: what lies below a changed directory or fits a pattern, and the work tree
/// of a repository that changes.
fn may_reach(target: &Target, depth: Depth, path: &AbsolutePath) -> bool {
    match target {
        Target::Path(place) if place == path || path.is_within(place) && depth == Depth::Recursive => true,
        Target::Path(place) if place.name() == Some(".git") => {
            place.parent().is_some_and(|root| path.is_within(&root))
        }
        Target::Path(place) => place.is_within(path),
        Target::Glob(pattern) => {
            let fixed = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
            let directory = fixed.rsplit_once('/').map_or("", |(directory, _)| directory);
            AbsolutePath::new(directory).is_none_or(|directory| path.is_within(&directory))
        }
        Target::Unknown => true,
        Target::Host(_) | Target::Process(_) | Target::Service(_) | Target::Reference(_) => false,
    }
}
