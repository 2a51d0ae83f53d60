//! Simple commands: expansion, assignments, redirections, and the call.

use std::collections::BTreeMap;

use checkrein_shell::{ParameterOperation, Part, Simple};

use super::exit::{Output, Status};
use super::lookup::Lookup;
use super::machine::Machine;
use super::shell::{Speech, Variable, VariableContent};
use super::statements::{Done, Flow};
use super::sweeps::Remainder;
use super::value::Value;
use super::ways::Leaving;

/// The greatest number of texts of which each is tried as a command (ours).
const CHOICES: usize = 4;

impl Machine<'_> {
    /// Runs a simple command.
    pub(super) fn run_simple(&mut self, simple: &Simple) -> Done {
        if let Some((name, texts)) = self.choices_of_command(simple) {
            return self.run_with_each(simple, &name, &texts);
        }
        let hollow = std::mem::take(&mut self.hollow);
        let substituted = std::mem::take(&mut self.substituted);
        let failed = std::mem::replace(&mut self.failed, false);
        let handed = std::mem::replace(&mut self.sweep.handed, Remainder::Anything);
        let settings = self.note_handed(simple);
        let done = self.run_simple_here(simple);
        self.sweep.handed = handed;
        if settings.is_some() {
            self.settings_held = settings;
        }
        self.hollow = hollow;
        self.substituted = substituted;
        self.failed = failed;
        done
    }

    /// The variable that a command begins with, unquoted, when it holds one of a few texts of several words.
    fn choices_of_command(&self, simple: &Simple) -> Option<(String, Vec<String>)> {
        let [Part::Parameter(parameter)] = simple.words.first()?.parts.as_slice() else { return None };
        let is_plain = matches!(parameter.operation, ParameterOperation::Plain)
            && !parameter.indirect
            && parameter.index.is_none();
        let name = self.shell.referred(&parameter.name);
        let VariableContent::Scalar(Value::AnyOf(texts)) = &self.shell.variables.get(name)?.content else {
            return None;
        };
        let is_split = texts.iter().any(|text| text.trim().contains(char::is_whitespace));
        (is_plain && is_split && texts.len() <= CHOICES && self.scanning == 0 && self.unsure == 0)
            .then(|| (name.to_owned(), texts.clone()))
    }

    /// Runs a command once with each of the texts that a variable may hold.
    fn run_with_each(&mut self, simple: &Simple, name: &str, texts: &[String]) -> Done {
        let Some((first, others)) = texts.split_first() else { return Done::quiet() };
        let run = |machine: &mut Self| {
            if let Some(variable) = machine.shell.variables.get_mut(name) {
                variable.content = VariableContent::Scalar(Value::exact(first.as_str()));
            }
            machine.run_simple(simple)
        };
        if others.is_empty() {
            return run(self);
        }
        self.either(Leaving::Doubts, run, |machine| machine.run_with_each(simple, name, others))
    }

    fn run_simple_here(&mut self, simple: &Simple) -> Done {
        let unseen = self.unseen;
        let substitutions = self.substitutions;
        let words = self.expand_command(&simple.words);
        self.sweep.handed = Remainder::Anything;
        let rests_on_unseen = self.unseen > unseen;
        if self.failed {
            return self.failed_expansion(rests_on_unseen);
        }
        if words.is_empty() {
            let is_fixed =
                |name: &str| self.shell.variables.get(name).is_some_and(|variable| variable.readonly);
            if simple.assignments.iter().any(|assignment| is_fixed(&assignment.name)) {
                return self.failed_expansion(true);
            }
            for assignment in &simple.assignments {
                self.assign_from(assignment);
                self.note_shell_variable(&assignment.name);
            }
            if self.failed {
                return self.failed_expansion(self.unseen > unseen);
            }
            // Its status is that of the last substitution in it.
            let status =
                if self.substitutions > substitutions { self.shell.last_status } else { Status::Success };
            return self.with_redirects(&simple.redirects, |_| Done {
                flow: Flow::Next,
                status,
                output: Output::Nothing,
            });
        }
        let count = self.effect_count();
        let mut before: BTreeMap<String, Option<Variable>> = BTreeMap::new();
        for assignment in &simple.assignments {
            before.insert(assignment.name.clone(), self.shell.variables.get(&assignment.name).cloned());
            self.assign_from(assignment);
            if let Some(variable) = self.shell.variables.get_mut(&assignment.name) {
                variable.exported = true;
            }
        }
        if !simple.declared_arrays.is_empty() {
            self.declare_arrays(simple, &words);
        }
        let names: Vec<&str> = simple.assignments.iter().map(|assignment| assignment.name.as_str()).collect();
        self.mark_telling_variables(&names);
        let done = if is_bare_exec(&words) {
            Done::next(self.redirect_shell(&simple.redirects))
        } else {
            let alias = simple
                .written_name()
                .filter(|name| !self.aliases_running.iter().any(|running| running == name))
                .and_then(|name| Some((name, self.shell.aliases.get(name)?.clone())));
            self.with_redirects(&simple.redirects, |machine| match alias {
                Some((name, text)) => {
                    let rest = words.get(1..).unwrap_or_default();
                    machine.call_alias(name, &text, rest, |machine| machine.call_words(&words, Lookup::All))
                }
                None => machine.call_words(&words, Lookup::All),
            })
        };
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
        if rests_on_unseen && done.flow == Flow::Next && is_question(&words) {
            self.rests_on_unseen(unseen);
        }
        self.note_shown_origin(simple, &words, count);
        // Those of POSIX keep what stands in front of one of these.
        let keeps = self.shell.speech == Speech::Posix
            && words.first().and_then(Value::as_exact).is_some_and(is_special);
        for (name, variable) in before.into_iter().filter(|_| !keeps) {
            match variable {
                Some(variable) => self.shell.variables.insert(name, variable),
                None => self.shell.variables.remove(&name),
            };
        }
        done
    }

    /// An expansion failed, which ends the shell; unless it rests on a variable that may be set all the same.
    pub(super) fn failed_expansion(&mut self, rests_on_unseen: bool) -> Done {
        let output = self.tell_on(2);
        let done = if rests_on_unseen {
            self.perhaps_leave(Flow::Exit, Status::Failure)
        } else {
            Done::leaving(Flow::Exit, Status::Failure)
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
