//! Simple commands: expansion, assignments, redirections, and the call.

use std::collections::BTreeMap;

use checkrein_shell::{ParameterOperation, Part, Simple};

use super::builtins::failing::FIXED;
use super::exit::{Output, Status};
use super::handing::is_declaration;
use super::lookup::Lookup;
use super::machine::Machine;
use super::presumptions::Before;
use super::shell::{Speech, Variable, VariableContent};
use super::statements::{Done, Flow};
use super::sweeps::Remainder;
use super::value::Value;
use super::ways::{Fallen, Leaving};

/// The greatest number of texts of which each is tried as a command (ours).
pub(super) const CHOICES: usize = 4;

impl Machine<'_> {
    /// Runs a simple command.
    pub(super) fn run_simple(&mut self, simple: &Simple) -> Done {
        self.run_debug_trap();
        self.run_traps_that_may_come();
        self.run_simple_in_ways(simple)
    }

    /// The same, where what runs before it has run: once for each text that a variable in it may hold.
    fn run_simple_in_ways(&mut self, simple: &Simple) -> Done {
        let choices = self.choices_of_command(simple).or_else(|| self.choices_of_environment(simple));
        if let Some((name, texts)) = choices {
            return self.run_with_each(&name, &texts, &|machine| machine.run_simple_in_ways(simple));
        }
        if let Some(texts) = self.separators_in_doubt(simple) {
            return self.run_with_each_separator(&texts, &|machine| machine.run_simple_in_ways(simple));
        }
        let presences = self.open_presences(simple);
        if presences.is_empty() {
            return self.run_simple_as_known(simple);
        }
        let (before, shell) = (Fallen::of(self), self.shell.clone());
        let done = self.run_simple_as_known(simple);
        // What is known comes first in all that is told of it.
        let (absent, came_from) = (self.absent.take(), self.came_from.take());
        let known = Fallen::of(self);
        before.put_back(self);
        let (told, supposed) = self.run_with_presences(simple, presences);
        known.put_back(self);
        (self.absent, self.came_from) = (absent, came_from);
        if done.flow == Flow::Next {
            supposed.into_iter().for_each(|supposed| self.allow_for(&shell, supposed));
        }
        if told == Output::Nothing { done } else { Done { output: done.output.join(told), ..done } }
    }

    /// The same with the variables as they are known.
    fn run_simple_as_known(&mut self, simple: &Simple) -> Done {
        let rests_on_unseen = std::mem::replace(&mut self.call.rests_on_unseen, false);
        let hollow = std::mem::take(&mut self.call.hollow);
        let substituted = std::mem::take(&mut self.call.substituted);
        let around = self.surround(&substituted);
        let failed = std::mem::replace(&mut self.call.failed, false);
        let ends_shell = std::mem::replace(&mut self.call.ends_shell, false);
        let handed = std::mem::replace(&mut self.flow.sweep.handed, Remainder::Anything);
        let settings = self.note_handed(simple);
        let outer_settings = std::mem::replace(&mut self.call.settings, settings.clone());
        let unseen = self.unseen;
        let mut done = self.run_simple_here(simple);
        if self.call.failed && done.flow == Flow::Next {
            // What a redirection names could not be expanded.
            done = self.failed_expansion(self.unseen > unseen);
        }
        self.flow.sweep.handed = handed;
        self.call.settings = outer_settings;
        // Of `env` only the program behind it has them.
        self.flow.settings_held.extend(settings.filter(|_| simple.written_name() != Some("env")));
        if is_declaration(simple) {
            self.hold_secrets(0);
        }
        self.call.rests_on_unseen = rests_on_unseen;
        self.call.hollow = hollow;
        self.leave_around(around);
        self.call.substituted = substituted;
        self.call.failed = failed;
        self.call.ends_shell = ends_shell;
        done
    }

    /// The first variable that stands unquoted as a word of a command, when it holds one of a few texts of which one is no single word.
    fn choices_of_command(&self, simple: &Simple) -> Option<(String, Vec<String>)> {
        simple.words.iter().find_map(|word| self.choices_of_word(word))
    }

    fn choices_of_word(&self, word: &checkrein_shell::Word) -> Option<(String, Vec<String>)> {
        let [Part::Parameter(parameter)] = word.parts.as_slice() else { return None };
        let is_plain = matches!(parameter.operation, ParameterOperation::Plain)
            && !parameter.indirect
            && parameter.index.is_none();
        let name = self.shell.referred(&parameter.name);
        let VariableContent::Scalar(Value::AnyOf(texts)) = &self.shell.variables.get(name)?.content else {
            return None;
        };
        let is_split =
            texts.iter().any(|text| text.trim().is_empty() || text.trim().contains(char::is_whitespace));
        (is_plain
            && is_split
            && texts.len() <= CHOICES
            && self.budget.scanning == 0
            && self.position.unsure == 0)
            .then(|| (name.to_owned(), texts.clone()))
    }

    /// Runs something once with each of the texts that a variable may hold.
    pub(super) fn run_with_each(
        &mut self,
        name: &str,
        texts: &[String],
        run: &dyn Fn(&mut Self) -> Done,
    ) -> Done {
        let Some((first, others)) = texts.split_first() else { return Done::quiet() };
        let with_first = |machine: &mut Self| {
            if let Some(variable) = machine.shell.variables.get_mut(name) {
                variable.content = VariableContent::Scalar(Value::exact(first.as_str()));
            }
            run(machine)
        };
        if others.is_empty() {
            return with_first(self);
        }
        self.either(Leaving::Doubts, with_first, |machine| machine.run_with_each(name, others, run))
    }

    /// Sets `BASH_COMMAND` for a trap that asks for it, and runs the one that stands before every command.
    fn note_command(&mut self, simple: &Simple) {
        let asks = |text: &Value| {
            let texts = text.alternatives().unwrap_or_default();
            texts.iter().any(|text| text.contains("BASH_COMMAND"))
        };
        let shell = &self.shell;
        let traps = [&shell.at_debug, &shell.at_error, &shell.at_exit];
        let asked = traps.into_iter().flatten().chain(&shell.on_signals).any(asks);
        if !asked || self.trapped > 0 || self.budget.scanning > 0 {
            return;
        }
        let words: Option<Vec<String>> = simple.words.iter().map(|word| written(&word.parts)).collect();
        let text = words.map_or(Value::Unknown, |words| Value::Exact(words.join(" ")));
        self.assign("BASH_COMMAND", text);
        if let Some(text) = self.shell.at_debug.clone() {
            self.trapped += 1;
            self.perhaps(|machine| machine.in_subshell(|machine| machine.run_here(&text)));
            self.trapped -= 1;
        }
    }

    fn run_simple_here(&mut self, simple: &Simple) -> Done {
        self.note_command(simple);
        let unseen = self.unseen;
        let start = Before { effects: self.effect_count(), presumed_files: self.presumed_files };
        let substitutions = self.budget.substitutions;
        self.loose = false;
        let words = self.expand_command(&simple.words);
        if std::mem::replace(&mut self.flow.sweep.handed, Remainder::Anything) == Remainder::Held {
            self.hold_secrets(0);
        }
        let of_words = self.call.substituted.len();
        let rests_on_unseen = self.unseen > unseen;
        self.call.rests_on_unseen = rests_on_unseen;
        let held = rests_on_unseen.then(|| self.shell.variables.clone());
        if self.call.failed {
            return self.failed_expansion(rests_on_unseen);
        }
        if words.is_empty() && rests_on_unseen && !simple.words.is_empty() {
            self.call_functions_that_fit(&Value::Unknown, &[]);
        }
        if words.is_empty() {
            let is_fixed = |name: &str| {
                self.shell.variables.get(name).is_some_and(|variable| variable.readonly)
                    || self.shell.speech != Speech::Posix && FIXED.contains(&name)
            };
            if simple.assignments.iter().any(|assignment| is_fixed(&assignment.name)) {
                // bash gives up the line, dash and zsh give up all that follows.
                let is_last_line = self.position.one_line && self.budget.texts == 1;
                return self.failed_expansion(!is_last_line || rests_on_unseen);
            }
            for assignment in &simple.assignments {
                self.assign_from(assignment);
                self.note_shell_variable(&assignment.name);
            }
            if self.call.failed {
                return self.failed_expansion(self.unseen > unseen);
            }
            // Its status is that of the last substitution in it.
            let status = if self.budget.substitutions > substitutions {
                self.shell.last_status
            } else {
                Status::Success
            };
            return self.with_redirects(&simple.redirects, |_| Done {
                flow: Flow::Next,
                status,
                output: Output::Nothing,
            });
        }
        let (words, keywords) = self.without_keywords(simple, words);
        let count = self.effect_count();
        self.note_taken_apart(simple.words.first());
        let mut before: BTreeMap<String, Option<Variable>> = BTreeMap::new();
        for assignment in &simple.assignments {
            before.insert(assignment.name.clone(), self.shell.variables.get(&assignment.name).cloned());
            self.assign_from(assignment);
            if let Some(variable) = self.shell.variables.get_mut(&assignment.name) {
                variable.exported = true;
            }
        }
        for (name, value) in keywords {
            before.entry(name.clone()).or_insert_with(|| self.shell.variables.get(&name).cloned());
            self.assign(&name, value);
            if let Some(variable) = self.shell.variables.get_mut(&name) {
                variable.exported = true;
            }
        }
        if !simple.declared_arrays.is_empty() {
            self.declare_arrays(simple, &words);
        }
        let names: Vec<&str> = simple.assignments.iter().map(|assignment| assignment.name.as_str()).collect();
        self.mark_telling_variables(&names);
        let kept = std::mem::take(&mut self.kept_variables);
        let done = if is_bare_exec(&words) {
            Done::next(self.redirect_shell(&simple.redirects))
        } else {
            let alias = simple
                .written_name()
                .filter(|name| !self.position.aliases_running.iter().any(|running| running == name))
                .and_then(|name| Some((name, self.shell.aliases.get(name)?.clone())));
            let left = self.left_of_input(simple);
            self.with_redirects_read(&simple.redirects, left, |machine| match alias {
                Some((name, text)) => {
                    let rest = words.get(1..).unwrap_or_default();
                    machine.call_alias(name, &text, rest, |machine| machine.call_words(&words, Lookup::All))
                }
                None => machine.call_words(&words, Lookup::All),
            })
        };
        let inner = std::mem::replace(&mut self.shell.last_word, Value::Unknown);
        let own = words.last().cloned().unwrap_or(Value::Unknown);
        // Whether that of a function, or of what ran in it, is the last one, depends on the shell.
        let is_called = words.first().and_then(Value::as_exact).is_some_and(is_followed_by_its_own);
        self.shell.last_word = if is_called { own } else { own.join(&inner) };
        let mut done = done;
        if names.contains(&"PATH") && done.status == Status::Success {
            // The program may not be found there.
            done.status = Status::Open;
        }
        if done.flow == Flow::Next
            && !simple.redirects.is_empty()
            && words.first().and_then(Value::as_exact).is_some_and(is_special)
        {
            // A file that cannot be opened for one of these ends other shells than bash.
            match done.status {
                Status::Success => {}
                Status::Unknown => {
                    done = self.either(
                        Leaving::Unexpected,
                        |_| Done::leaving(Flow::Exit, Status::Failure),
                        |_| done,
                    );
                }
                Status::Failure | Status::Open => {
                    let output = std::mem::replace(&mut done.output, Output::Nothing);
                    done = Done { output, ..self.perhaps_leave(Flow::Exit, Status::Failure) };
                }
            }
        }
        if self.unseen > unseen && done.flow == Flow::Next && is_question(&words) {
            self.rests_on_unseen(unseen);
        }
        self.call.rests_on_unseen = rests_on_unseen;
        self.presume_reading(simple, &words, start, &done);
        if let Some(held) = held {
            self.presume_changed(&held);
        }
        self.note_shown_origin(simple, &words, of_words, count);
        // Those of POSIX keep what stands in front of one of these.
        let options = self.shell.options;
        let is_posix = self.shell.speech == Speech::Posix || options.posix;
        let is_special = words.first().and_then(Value::as_exact).is_some_and(is_special);
        // bash takes what stands in front of `unset` away, and leaves what was there before.
        let uncovers =
            self.shell.speech != Speech::Posix && words.first().and_then(Value::as_exact) == Some("unset");
        let keeps = is_posix && is_special && !uncovers && !options.perhaps_posix;
        if options.perhaps_posix && is_special {
            for (name, variable) in &before {
                let earlier = self.earlier_value(name, variable.as_ref());
                let now = self.variable(name).unwrap_or(Value::Unknown);
                self.assign(name, now.join(&earlier));
            }
        }
        let is_settled = keeps || options.perhaps_posix && is_special;
        let kept = std::mem::replace(&mut self.kept_variables, kept);
        for (name, variable) in before.into_iter().filter(|_| !is_settled) {
            if kept.contains(&name) || sets_by_name(&words, &name) {
                // Not all shells keep it, and not in all cases.
                let content = if variable.is_none() && self.environment(&name).is_none() {
                    VariableContent::Unknown
                } else {
                    let earlier = self.earlier_value(&name, variable.as_ref());
                    let now = self.variable(&name).unwrap_or(Value::Unknown);
                    VariableContent::Scalar(now.join(&earlier))
                };
                if let Some(variable) = self.shell.variables.get_mut(&name) {
                    variable.content = content;
                }
                continue;
            }
            match variable {
                Some(variable) => self.shell.variables.insert(name, variable),
                None => self.shell.variables.remove(&name),
            };
        }
        self.kept_variables.extend(kept);
        done
    }

    /// What a variable held before it was assigned in front of a command.
    fn earlier_value(&self, name: &str, before: Option<&Variable>) -> Value {
        match before.map(|variable| &variable.content) {
            Some(VariableContent::Scalar(value)) => value.clone(),
            Some(_) => Value::Unknown,
            None => self.environment(name).unwrap_or_else(|| Value::exact("")),
        }
    }

    /// The words of a command without those that `set -k` makes assignments, and these.
    fn without_keywords(&self, simple: &Simple, words: Vec<Value>) -> (Vec<Value>, Vec<(String, Value)>) {
        if !self.shell.options.keyword {
            return (words, Vec::new());
        }
        let is_written = |place: usize| {
            // Where words were split it is not known which is which.
            words.len() != simple.words.len()
                || matches!(
                    simple.words.get(place).and_then(|word| word.parts.first()),
                    Some(Part::Literal(text)) if text.contains('=')
                )
        };
        let mut kept = Vec::new();
        let mut keywords = Vec::new();
        for (place, word) in words.iter().enumerate() {
            match crate::builtins::assignment(word).filter(|_| place > 0 && is_written(place)) {
                Some(assignment) => keywords.push(assignment),
                None => kept.push(word.clone()),
            }
        }
        (kept, keywords)
    }

    /// An expansion fails in a way that ends the shell, unless another one failed before it.
    pub(super) fn fail_shell(&mut self) {
        self.call.ends_shell |= !self.call.failed;
        self.call.failed = true;
    }

    /// An expansion failed, which ends the shell, or in bash mostly the line; unless it rests on a variable that may be set all the same.
    pub(super) fn failed_expansion(&mut self, rests_on_unseen: bool) -> Done {
        let output = self.tell_on(2);
        let flow =
            if self.call.ends_shell || !self.gives_up_only_the_line() { Flow::Exit } else { Flow::Discard };
        let done = if rests_on_unseen {
            self.perhaps_leave(flow, Status::Failure)
        } else {
            Done::leaving(flow, Status::Failure)
        };
        Done { output, ..done }
    }

    /// The words of a command. What follows `export` and its like is not split where it is an assignment.
    fn expand_command(&mut self, words: &[checkrein_shell::Word]) -> Vec<Value> {
        let declares = words.first().is_some_and(|word| {
            matches!(word.parts.as_slice(), [Part::Literal(name)]
                if matches!(name.as_str(), "export" | "declare" | "local" | "readonly" | "typeset"))
        });
        if !declares {
            return self.expand_words(words);
        }
        let mut values = Vec::new();
        for word in words {
            let is_assignment = matches!(word.parts.first(), Some(Part::Literal(text)) if text.contains('='));
            if is_assignment {
                values.push(self.expand_declaration(word));
            } else {
                values.extend(self.expand_word(word));
            }
        }
        values
    }
}

/// Whether a built-in is one of the special ones of POSIX.
fn is_special(name: &str) -> bool {
    matches!(
        name,
        "break"
            | ":"
            | "."
            | "continue"
            | "eval"
            | "exec"
            | "exit"
            | "export"
            | "readonly"
            | "return"
            | "set"
            | "shift"
            | "times"
            | "trap"
            | "unset"
    )
}

/// Whether a built-in that sets variables by their name may set this one: what it sets stays in bash, whatever stood in front of it. Held
/// against bash 5.2, also as POSIX wants it, and dash 0.5.
fn sets_by_name(words: &[Value], variable: &str) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let is_named = || rest.iter().any(|word| word.as_exact().is_none_or(|text| text.contains(variable)));
    match program.as_exact() {
        Some("printf") => rest.first().is_none_or(|word| word.known_start().starts_with("-v")) && is_named(),
        Some("let" | "getopts" | "builtin") => is_named(),
        Some(_) | None => false,
    }
}

/// Whether nothing runs within a command of this name that could be the last one itself.
fn is_followed_by_its_own(name: &str) -> bool {
    matches!(name, ":" | "true" | "false" | "echo" | "printf" | "test" | "[" | "ls" | "cat" | "cd" | "mkdir")
}

/// A word as it is written, when it holds text alone.
fn written(parts: &[Part]) -> Option<String> {
    parts
        .iter()
        .map(|part| match part {
            Part::Literal(text) => Some(text.clone()),
            Part::Quoted(text) => Some(checkrein_shell::quoted(text)),
            Part::DoubleQuoted(inner) => Some(format!("\"{}\"", written(inner)?)),
            Part::Bytes(_)
            | Part::Parameter(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution(..)
            | Part::Arithmetic(_)
            | Part::Braces(_) => None,
        })
        .collect()
}

/// Whether the answer of a command follows from its words alone.
fn is_question(words: &[Value]) -> bool {
    matches!(words.first().and_then(Value::as_exact), Some("test" | "[" | "let"))
}

/// Whether the words are `exec` alone, whose redirections hold for the rest of the shell.
fn is_bare_exec(words: &[Value]) -> bool {
    let mut words =
        words.iter().filter_map(Value::as_exact).skip_while(|word| matches!(*word, "command" | "builtin"));
    words.next() == Some("exec") && words.next().is_none()
}
