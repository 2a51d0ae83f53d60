//! The environment of programs that code starts: what it sets, takes away, or puts in the place of its own.

use super::evaluator::{Evaluator, Given};
use super::value::ScriptValue;
use crate::interpreter::printed::ALL_VARIABLES;
use crate::interpreter::{Inheritance, Machine, Value};
use checkrein_scripts::Language;
use checkrein_scripts::token::Token;

/// The greatest number of variables that code sets (ours).
const VARIABLES: usize = 128;

/// How the environment that a program finds differs from the one that the code itself found.
#[derive(Debug, Clone)]
pub(super) struct CodeEnvironment {
    inherited: Inheritance,
    changes: Vec<(String, Change)>,
}

/// What code did to a variable of the environment.
#[derive(Debug, Clone, PartialEq)]
enum Change {
    Set(Value),
    Gone,
}

impl Default for CodeEnvironment {
    fn default() -> Self {
        Self { inherited: Inheritance::Everything, changes: Vec::new() }
    }
}

impl CodeEnvironment {
    /// What it becomes with changes behind these, or with another one in its place.
    pub(super) fn followed_by(self, later: Self) -> Self {
        match later.inherited {
            Inheritance::Everything => {
                let changes = self.changes.into_iter().chain(later.changes).collect();
                Self { inherited: self.inherited, changes }
            }
            Inheritance::Nothing | Inheritance::OfTheUser | Inheritance::PerhapsEverything => later,
        }
    }

    /// Runs what starts a program in it.
    pub(super) fn around<T>(self, machine: &mut Machine<'_>, work: impl FnOnce(&mut Machine<'_>) -> T) -> T {
        if self.inherited == Inheritance::Everything && self.changes.is_empty() {
            return work(machine);
        }
        let (mut gone, mut set) = (Vec::new(), Vec::new());
        for (name, value) in self.changes {
            match value {
                Change::Set(value) => {
                    gone.retain(|one| *one != name);
                    set.push((name, value));
                }
                Change::Gone => {
                    set.retain(|(one, _)| *one != name);
                    gone.push(name);
                }
            }
        }
        machine.with_inheritance(self.inherited, |machine| {
            machine.without_variables(&gone, |machine| {
                if set.is_empty() { work(machine) } else { machine.with_variables(set, work) }
            })
        })
    }

    /// What became of a variable; `None` where it is as the code found it.
    fn change(&self, name: &str) -> Option<Change> {
        let change = self.changes.iter().rfind(|(known, _)| known == name);
        let is_cleared = self.inherited == Inheritance::Nothing;
        change.map(|(_, change)| change.clone()).or(is_cleared.then_some(Change::Gone))
    }

    fn put(&mut self, name: &str, value: Change) {
        self.changes.retain(|(known, _)| known != name);
        if self.changes.len() < VARIABLES {
            self.changes.push((name.to_owned(), value));
        }
    }
}

impl Evaluator<'_, '_, '_> {
    /// Sets a variable that programs see which are started from here on.
    pub(super) fn set_environment(&mut self, name: &str, value: &ScriptValue) {
        if name.is_empty() {
            return;
        }
        // `ENV["X"] = nil` takes it away, as `undef` leaves a text that is empty.
        if self.language == Language::Ruby && matches!(value, ScriptValue::Local) {
            return self.unset_environment(name);
        }
        let value = value.value();
        let value = match self.variable_seen(name) {
            Some(before) if self.doubt > 0 => before.join(&value),
            Some(_) | None => value,
        };
        self.environment.put(name, Change::Set(value));
    }

    /// Takes a variable away from programs that are started from here on.
    fn unset_environment(&mut self, name: &str) {
        let change = match self.variable_seen(name).filter(|_| self.doubt > 0) {
            Some(before) => Change::Set(before.join(&Value::exact(""))),
            None => Change::Gone,
        };
        self.environment.put(name, change);
    }

    /// Takes all variables away, but for these.
    fn clear_environment(&mut self, kept: Vec<(String, ScriptValue)>) {
        if self.doubt > 0 {
            self.environment.inherited = Inheritance::PerhapsEverything;
        } else {
            self.environment = CodeEnvironment { inherited: Inheritance::Nothing, changes: Vec::new() };
        }
        for (name, value) in kept {
            self.set_environment(&name, &value);
        }
    }

    /// The value that a variable of the environment has for the code now.
    fn variable_seen(&self, name: &str) -> Option<Value> {
        match self.environment.change(name) {
            Some(Change::Set(value)) => Some(value),
            Some(Change::Gone) => None,
            None => self.machine.variable(name),
        }
    }

    /// A variable of the environment as the code reads it, or what it gives in its place.
    pub(super) fn variable_of_environment(
        &mut self,
        name: &str,
        otherwise: Option<&ScriptValue>,
    ) -> ScriptValue {
        if let Some(secret) = self.secret_variable(name) {
            return secret;
        }
        let is_gone = self.environment.change(name) == Some(Change::Gone);
        match (self.variable_seen(name), otherwise) {
            (Some(value), _) => ScriptValue::Text(value),
            (None, Some(thing)) => thing.clone(),
            // What is nothing is an empty text where texts are put together.
            (None, None) if is_gone && !matches!(self.language, Language::Python | Language::JavaScript) => {
                ScriptValue::text("")
            }
            (None, None) => ScriptValue::Text(Value::Unknown),
        }
    }

    /// Whether a value is the environment, or a copy of it.
    pub(super) fn is_environment(value: &ScriptValue) -> bool {
        match value {
            ScriptValue::Name(name) => {
                matches!(name.as_str(), "os.environ" | "os.environb" | "process.env" | "ENV" | "Bun.env")
            }
            ScriptValue::Secret(place, _) => place == ALL_VARIABLES,
            _ => false,
        }
    }

    /// What the arguments of a call that starts a program say about its environment: `env={...}`, `{env: {...}}`,
    /// `system({ "NAME" => "value" }, "command")`, `os.execve(file, words, {...})`, the fifth of `proc_open`.
    pub(super) fn environment_given(&self, name: &str, given: &Given) -> CodeEnvironment {
        let place = match name {
            // Of the second two the mode is taken off before.
            "os.execve" | "os.execvpe" | "os.spawnve" | "os.spawnvpe" => Some(2),
            "proc_open" => Some(4),
            _ => None,
        };
        let by_place = place.and_then(|place: usize| given.positional.get(place));
        let (map, adds) = match (self.language, given.positional.first()) {
            // Others of its own are handed on, unless an option says no (Ruby 3.3, Process.spawn, "unsetenv_others").
            (Language::Ruby, Some(own @ ScriptValue::Map(_))) => {
                let clears = given.named("unsetenv_others").and_then(ScriptValue::exact);
                (Some(own), clears.as_deref() != Some("true"))
            }
            _ => (given.named("env").or(by_place), self.language == Language::Ruby),
        };
        let Some(ScriptValue::Map(entries)) = map else { return CodeEnvironment::default() };
        let is_open = entries.iter().any(|(name, _)| name.is_empty());
        let mut environment = CodeEnvironment::default();
        if !adds && !is_open {
            environment.inherited = Inheritance::Nothing;
        }
        for (name, value) in entries.iter().filter(|(name, _)| !name.is_empty()).take(VARIABLES) {
            let is_nothing = self.language == Language::Ruby && matches!(value, ScriptValue::Local);
            environment.put(name, if is_nothing { Change::Gone } else { Change::Set(value.value()) });
        }
        environment
    }

    /// Takes an entry away where the whole is the environment: `del os.environ["X"]`, `delete process.env.X`.
    pub(super) fn take_from_environment(&mut self, whole: &ScriptValue, name: &str) {
        if Self::is_environment(whole) {
            self.unset_environment(name);
        }
    }

    /// Functions that change the environment: `os.environ.update({...})`, `os.putenv(name, value)`, `ENV.delete(name)`.
    pub(super) fn note_environment(&mut self, name: &str, given: &Given) {
        let entries: Vec<(String, ScriptValue)> = match name {
            "os.environ.update" | "dict" | "Object.assign" | "ENV.update" | "ENV.merge!" => {
                let changes = name.contains('.') && name != "Object.assign"
                    || given.positional.iter().any(Self::is_environment);
                if !changes {
                    return;
                }
                entries_given(given)
            }
            "os.putenv"
            | "os.environ.setdefault"
            | "os.environ.__setitem__"
            | "Deno.env.set"
            | "ENV.store"
            | "ENV.[]=" => given.at(0).exact().map(|name| (name, given.at(1))).into_iter().collect(),
            "putenv" => {
                let Some(text) = given.at(0).exact() else { return };
                let Some((name, value)) = text.split_once('=') else {
                    return self.unset_environment(&text);
                };
                vec![(name.to_owned(), ScriptValue::text(value))]
            }
            "os.environ.pop"
            | "os.environ.__delitem__"
            | "os.unsetenv"
            | "Deno.env.delete"
            | "ENV.delete" => {
                if let Some(name) = given.at(0).exact() {
                    self.unset_environment(&name);
                }
                return;
            }
            "os.environ.clear" | "ENV.clear" | "ENV.replace" => {
                return self.clear_environment(entries_given(given));
            }
            // Which of them go depends on what is asked for each.
            "os.environ.popitem" | "ENV.delete_if" | "ENV.reject!" | "ENV.select!" | "ENV.keep_if"
            | "ENV.filter!" | "ENV.shift" => {
                self.environment.inherited = Inheritance::PerhapsEverything;
                return;
            }
            _ => return,
        };
        for (name, value) in entries {
            self.set_environment(&name, &value);
        }
    }

    /// `os.environ |= {...}`: the entries of a map that have names.
    pub(super) fn add_to_environment(&mut self, value: &ScriptValue) {
        let ScriptValue::Map(entries) = value else { return };
        for (name, value) in entries.iter().filter(|(name, _)| !name.is_empty()).take(VARIABLES) {
            self.set_environment(name, value);
        }
    }

    /// `process.env = {...}`, `%ENV = (...)`: another environment in the place of the one before.
    pub(super) fn replace_environment(&mut self, value: &ScriptValue) {
        match value {
            ScriptValue::Map(entries) if entries.iter().all(|(name, _)| !name.is_empty()) => {
                self.clear_environment(entries.clone());
            }
            ScriptValue::List(items) if items.is_empty() => self.clear_environment(Vec::new()),
            whole if Self::is_environment(whole) => {}
            _ => self.environment.inherited = Inheritance::PerhapsEverything,
        }
    }

    /// `delete $ENV{NAME}`, `delete local $ENV{NAME}`, `delete @ENV{qw(A B)}`, `undef $ENV{NAME}`, `undef %ENV`: behind the word. What the
    /// text is else is for others.
    pub(super) fn taken_from_environment(&mut self, at: usize, to: usize) {
        let at = if self.tokens.is_word(at, "local") { at + 1 } else { at };
        match self.tokens.word(at) {
            Some("$ENV" | "@ENV") if self.tokens.is(at + 1, "{") => {
                let close = self.tokens.partner(at + 1);
                if close > to {
                    return;
                }
                let names = match self.tokens.list.get(at + 2) {
                    Some(Token::Word(word)) if close == at + 3 && !word.starts_with('$') => {
                        vec![ScriptValue::text(word.clone())]
                    }
                    _ => self.expression(at + 2, close).0.items(),
                };
                for name in names.iter().filter_map(ScriptValue::exact) {
                    self.unset_environment(&name);
                }
            }
            Some("%ENV") => self.clear_environment(Vec::new()),
            Some(_) | None => {}
        }
    }
}

/// The entries of the maps that a call is given, and those that it is given by name.
fn entries_given(given: &Given) -> Vec<(String, ScriptValue)> {
    let maps = given.positional.iter().filter_map(|thing| match thing {
        ScriptValue::Map(entries) => Some(entries.clone()),
        _ => None,
    });
    maps.flatten().chain(given.named.iter().cloned()).collect()
}
