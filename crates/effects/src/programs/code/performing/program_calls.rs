//! What functions do that start, end or become programs, or run code.

use checkrein_scripts::Language;

use super::super::call_effects::{is_shell, own_process};
use super::super::evaluator::{Evaluator, Given};
use super::super::library_calls::LibraryCall;
use super::super::value::ScriptValue;
use super::program_of;
use crate::effect::{EffectKind, Target};
use crate::interpreter::{Draft, Input, Value};

impl Evaluator<'_, '_, '_> {
    pub(super) fn perform_shell(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        match given.positional.as_slice() {
            [only] => self.run_shell(only),
            [] => unknown,
            // Behind the command stands how it is run.
            [command, ..] if name.ends_with("popen") && !matches!(command, ScriptValue::Map(_)) => {
                self.run_shell(command)
            }
            [command, ..] if self.language == Language::Python && !name.starts_with("pexpect.") => {
                self.run_shell(command)
            }
            several => {
                let words: Vec<ScriptValue> = several
                    .iter()
                    .filter(|thing| !matches!(thing, ScriptValue::Function(_) | ScriptValue::Map(_)))
                    .cloned()
                    .collect();
                if words.len() == 1 || self.language == Language::JavaScript || self.language == Language::Php
                {
                    self.run_shell(&words.first().cloned().unwrap_or(unknown))
                } else {
                    self.run_list(&words)
                }
            }
        }
    }

    pub(super) fn perform_pipe(&mut self, name: &str, given: &Given) -> ScriptValue {
        let handles = if name.ends_with('3') { 3 } else { 2 };
        let words = given.positional.get(handles..).unwrap_or_default().to_vec();
        match words.as_slice() {
            [only] => self.run_shell(only),
            several => self.run_list(several),
        }
    }

    pub(super) fn perform_run(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let first = given.positional.first().or_else(|| given.named("args")).cloned().unwrap_or(unknown);
        // `Deno.run({ cmd: [...] })`
        let first = match first.get("cmd") {
            Some(words) => words.clone(),
            None => first,
        };
        match first {
            ScriptValue::List(words) => {
                let text = words.first().cloned();
                if given.is_on("shell")
                    && let Some(text) = text
                {
                    self.run_shell(&text)
                } else {
                    self.run_list(&words)
                }
            }
            text => self.run_shell(&text),
        }
    }

    pub(super) fn perform_program(&mut self, given: &Given) -> ScriptValue {
        let mut words = vec![given.at(0)];
        for thing in given.positional.iter().skip(1) {
            match thing {
                ScriptValue::List(items) => words.extend(items.iter().cloned()),
                // `new Deno.Command("rm", { args: [...] })`
                ScriptValue::Map(_) => {
                    words.extend(thing.get("args").into_iter().flat_map(ScriptValue::items));
                }
                ScriptValue::Function(_) => {}
                other => words.push(other.clone()),
            }
        }
        if given.is_on("shell") {
            let text = words
                .iter()
                .skip(1)
                .fold(given.at(0), |text, word| text.followed_by(&ScriptValue::text(" ")).followed_by(word));
            return self.run_shell(&text);
        }
        self.run_list(&words)
    }

    pub(super) fn perform_execute(&mut self, given: &Given) -> ScriptValue {
        let mut words = vec![given.at(0)];
        let rest: Vec<ScriptValue> = match given.positional.get(1) {
            Some(ScriptValue::List(items)) => items.clone(),
            _ => given.positional.iter().skip(1).cloned().collect(),
        };
        words.extend(rest.into_iter().skip(1).filter(|thing| !matches!(thing, ScriptValue::Map(_))));
        self.run_list(&words)
    }

    pub(super) fn perform_execute_rest(&mut self, name: &str, given: &Given) -> ScriptValue {
        let given = Given {
            positional: given.positional.get(1..).unwrap_or_default().to_vec(),
            named: given.named.clone(),
        };
        self.perform(LibraryCall::Execute, name, &given)
    }

    pub(super) fn perform_kill(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        if given.at(1).exact().as_deref() != Some("0") {
            self.kill(name, &given.at(0), &given.at(1));
        }
        unknown
    }

    pub(super) fn perform_kill_rest(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        if given.at(0).exact().as_deref() != Some("0") {
            for item in given.positional.iter().skip(1).flat_map(ScriptValue::items) {
                self.kill(name, &item, &given.at(0));
            }
        }
        unknown
    }

    pub(super) fn perform_evaluate(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let code = given.positional.first();
        self.evaluate(&code.cloned().unwrap_or(ScriptValue::Local));
        unknown
    }

    pub(super) fn perform_run_file(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let path = given.at(0);
        match self.read(&path) {
            code @ (ScriptValue::Text(Value::Exact(_)) | ScriptValue::Network(_)) => {
                self.evaluate(&code);
            }
            _ => self.not_known(&path.exact().unwrap_or_else(|| name.to_owned())),
        }
        unknown
    }

    pub(super) fn perform_loads(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        match given.at(0) {
            // `require strict`, `require "json"`
            ScriptValue::Name(_) => unknown,
            path => match path.exact() {
                Some(text) if text.contains('/') => self.perform(LibraryCall::RunFile, name, given),
                Some(_) => unknown,
                None => self.perform(LibraryCall::RunFile, name, given),
            },
        }
    }

    pub(super) fn perform_duplicate(&mut self) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        if self.socket.is_some() {
            self.duplicated = true;
            self.gives_shell();
        }
        unknown
    }

    pub(super) fn perform_terminal(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        if self.socket.is_some() {
            self.gives_shell();
            return unknown;
        }
        let program = given.at(0).items().first().map_or(Value::Unknown, ScriptValue::value);
        if is_shell(&program.known_start()) {
            self.runs_unknown_code("hands a terminal to a shell");
            return unknown;
        }
        match given.at(0) {
            ScriptValue::List(words) => self.run_list(&words),
            text => self.run_shell(&text),
        }
    }

    pub(super) fn perform_fork(&mut self, name: &str) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        self.note_copies();
        // `pid, terminal = pty.fork()`
        if name.contains("pty") { unknown } else { own_process() }
    }

    pub(super) fn perform_later(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        if let ScriptValue::Text(Value::Exact(code)) = given.at(0) {
            self.run_code(&code);
        }
        unknown
    }

    pub(super) fn perform_rights(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        if given.at(0).exact().as_deref() == Some("0") {
            let target = Target::Process(self.call.program.clone());
            self.act(|machine| machine.add(Draft::new(EffectKind::PrivilegeEscalation, target)));
        }
        unknown
    }

    pub(super) fn perform_called_after(&mut self, name: &str, given: &Given) -> ScriptValue {
        let mut words: Vec<ScriptValue> = program_of(name).into_iter().map(ScriptValue::text).collect();
        let is_word = |thing: &&ScriptValue| !matches!(thing, ScriptValue::Map(_) | ScriptValue::Function(_));
        words.extend(given.positional.iter().filter(is_word).cloned());
        if let Some(place) = self.kept.repository.clone()
            && name.starts_with("git.repository.")
        {
            words.splice(1..1, [ScriptValue::text("-C"), ScriptValue::Text(place)]);
        }
        self.run_list(&words)
    }

    pub(super) fn perform_elsewhere(&mut self, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        let sudo = if name.ends_with(".sudo") { "sudo " } else { "" };
        let text = Value::exact(sudo).followed_by(&given.at(0).value());
        let words = [Value::exact("ssh"), Value::exact("remote"), text];
        self.act(|machine| machine.run_words(&words, Input::Inherited));
        unknown
    }

    pub(super) fn perform_package(&mut self, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        for item in given.at(0).items() {
            let name = item.value();
            self.act(|machine| machine.effect(EffectKind::PackageInstall, &name));
        }
        unknown
    }
}
