//! Functions that run commands or take things away, used as values: who calls them in the end, and with what, is not always seen. Commands in
//! texts of the code that nobody could live with are possible then, and so they are in what a function is given that is not known.

use super::evaluator::{Evaluator, Given};
use super::library_calls::LibraryCall;
use super::value::ScriptValue;
use crate::interpreter::Value;
use checkrein_scripts::Language;

/// The greatest number of texts that are kept (ours).
const TEXTS: usize = 16;
/// The greatest length of one, in bytes (ours).
const TEXT: usize = 2_000;
/// What a command begins with that takes things away.
const TAKING: &[&str] =
    &["rm ", "sudo ", "shred ", "find ", "dd ", "mkfs", "chmod ", "chown ", "mv ", "sh -c ", "bash -c "];

impl Evaluator<'_, '_, '_> {
    /// Remembers what a value may come to mean: a command that nobody could live with, a function that would run it.
    pub(super) fn note_value(&mut self, value: &ScriptValue) {
        match value {
            ScriptValue::Name(name) if !self.is_loose && self.deed(name).is_some_and(runs_or_takes) => {
                self.is_loose = true;
            }
            ScriptValue::Text(Value::Exact(text)) => {
                self.note_function_named(text);
                self.note_grave(text);
            }
            ScriptValue::List(items) if (2..8).contains(&items.len()) => {
                if let Some(text) = joined(items) {
                    self.note_grave(&text);
                }
            }
            _ => {}
        }
    }

    fn note_function_named(&mut self, text: &str) {
        let names: &[&str] = match self.language {
            Language::Python => &["system", "popen", "rmtree", "Popen", "getoutput"],
            Language::JavaScript => &["execSync", "spawnSync", "execFileSync", "rmSync", "rimraf"],
            Language::Perl | Language::Ruby | Language::Php | Language::Lua | Language::R => {
                &["system", "rm_rf"]
            }
        };
        self.is_loose |= names.contains(&text);
    }

    fn note_grave(&mut self, text: &str) {
        if self.is_grave(text) && self.grave.len() < TEXTS && !self.grave.iter().any(|known| known == text) {
            self.grave.push(text.to_owned());
        }
    }

    /// Whether a text is a command that takes away something outside the place in which the code works.
    fn is_grave(&self, text: &str) -> bool {
        let text = text.trim_start();
        let home = &self.machine.world().place().home;
        text.len() <= TEXT
            && TAKING.iter().any(|start| text.starts_with(start))
            && ([" ~", " /", "$HOME", "${HOME"].iter().any(|part| text.contains(part))
                || text.contains(home.as_str()))
    }

    /// Runs, as possible, the grave commands in what a function is given that is not known.
    pub(super) fn may_run_given(&mut self, given: &Given) {
        let all = given.positional.iter().chain(given.named.iter().map(|(_, value)| value));
        let values = all.flat_map(|value| match value {
            ScriptValue::Map(entries) => entries.iter().map(|(_, value)| value.clone()).collect(),
            other => vec![other.clone()],
        });
        for value in values.take(TEXTS).collect::<Vec<_>>() {
            match &value {
                ScriptValue::Text(Value::Exact(text)) if self.is_grave(text) => self.may_run(text),
                ScriptValue::List(items) if joined(items).is_some_and(|text| self.is_grave(&text)) => {
                    self.in_doubt(|follower| follower.run_list(items));
                }
                _ => {}
            }
        }
    }

    /// Runs, as possible, the grave commands in the texts of the code when a function is used as a value that would run them.
    pub(super) fn may_run_texts(&mut self) {
        if self.is_loose {
            for text in std::mem::take(&mut self.grave) {
                self.may_run(&text);
            }
        }
    }

    fn may_run(&mut self, text: &str) {
        let text = ScriptValue::text(text);
        self.in_doubt(|follower| follower.run_shell(&text));
    }

    /// Calls that stand for another one: `f.call(this, ...)`, `Reflect.apply(f, this, [...])`, `os.__getattribute__(name)`, `method(:name)`.
    pub(super) fn call_of_function(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        let rest = |from: usize| given.positional.get(from..).unwrap_or_default().to_vec();
        let (of, last) = name.rsplit_once('.').unwrap_or(("", name));
        let known = |follower: &Self, of: &str| follower.deed(of).is_some_and(runs_or_takes);
        let (function, positional) = match (self.language, last) {
            (Language::JavaScript, "call") if known(self, of) => (ScriptValue::Name(of.to_owned()), rest(1)),
            (Language::JavaScript, "apply") if known(self, of) => {
                let all = given.at(1);
                let all = if let ScriptValue::List(items) = all { items } else { vec![all] };
                (ScriptValue::Name(of.to_owned()), all)
            }
            (Language::JavaScript, "apply")
                if of == "Reflect" && matches!(given.at(0), ScriptValue::Name(_)) =>
            {
                let all = given.at(2);
                let all = if let ScriptValue::List(items) = all { items } else { vec![all] };
                (given.at(0), all)
            }
            // What it is bound to may be all that it is given.
            (Language::JavaScript, "bind") if known(self, of) => {
                let bound = Given { positional: rest(1), named: Vec::new() };
                if !bound.positional.is_empty() {
                    let function = ScriptValue::Name(of.to_owned());
                    self.in_doubt(|follower| follower.call_thing(&function, &bound));
                }
                return Some(ScriptValue::Name(of.to_owned()));
            }
            // `object.__getattribute__(os, "remove")`
            (Language::Python, "__getattribute__") if matches!(of, "object" | "type") => {
                let (whole, member) = (given.at(0), given.at(1).exact()?);
                return Some(self.member(&whole, &member));
            }
            (Language::Python, "__call__") => (ScriptValue::Name(of.to_owned()), rest(0)),
            (Language::Python, "__getattribute__" | "__getattr__") => {
                let member = given.at(0).exact()?;
                return Some(self.member(&ScriptValue::Name(of.to_owned()), &member));
            }
            (Language::Ruby, "method" | "public_method" | "const_get") => {
                let member = given.at(0).exact()?;
                let full = if of.is_empty() || of == "Object" || of == "Kernel" {
                    member
                } else {
                    format!("{of}.{member}")
                };
                let function = ScriptValue::Name(full);
                self.note_value(&function);
                return Some(function);
            }
            (Language::Ruby, "call") if known(self, of) => (ScriptValue::Name(of.to_owned()), rest(0)),
            _ => return None,
        };
        Some(self.call_thing(&function, &Given { positional, named: given.named.clone() }))
    }
}

fn runs_or_takes(deed: LibraryCall) -> bool {
    matches!(
        deed,
        LibraryCall::Delete(_)
            | LibraryCall::DeleteFirst
            | LibraryCall::Shell
            | LibraryCall::Run
            | LibraryCall::Program
            | LibraryCall::Execute
            | LibraryCall::ExecuteRest
    )
}

/// The words of a command as one text; `None` where one is not known.
fn joined(items: &[ScriptValue]) -> Option<String> {
    let words: Option<Vec<String>> = items.iter().map(ScriptValue::exact).collect();
    Some(words?.join(" "))
}
