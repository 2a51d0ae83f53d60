//! Running more from within a command: text, files, what comes in.

use std::collections::{BTreeMap, BTreeSet};

use super::provenance;
use checkrein_shell::{Command, Part, RedirectOperation, Simple};

use super::prediction::Prediction;
use super::presumptions::Standing;
use crate::effect::{EffectKind, NetworkReach, Target};
use crate::path::AbsolutePath;
use crate::world::Entry;

use super::call::Input;
use super::draft::Draft;
use super::exit::{Exit, Output, Status};
use super::known_hosts::reach;
use super::machine::Machine;
use super::shell::{Shell, Speech, VariableContent};
use super::speech::{ShellProgram, ShellUser};
use super::statements::Done;
use super::told_words::{is_quiet, is_shown_by};
use super::value::Value;
use super::ways::Leaving;

/// The language of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Language {
    /// What its first line names.
    Started,
    /// A shell that is followed.
    Shell,
    /// Another interpreter, by name.
    Other(String),
    /// Not known, or no script at all.
    Unknown,
}

/// Which shell runs a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    /// The present one (`source`): what programs print for that is code that they make for shells.
    Here,
    /// One that is started for it, by its name: what it reads is meant to be shell text.
    Child,
    /// One that is started because the kernel does not start the file itself, if that is so: it may as well be a program of the machine.
    Kernel,
}

/// How often what a script writes to itself is followed (ours).
const WRITTEN: usize = 4;

impl Machine<'_> {
    /// Runs text in a child shell, as `system` of C does with `sh`; opaque when the text is not known.
    pub fn run_text(&mut self, text: &Value, input: Input) -> Exit {
        self.run_text_with(ShellProgram::Either, text, &Value::exact("sh"), &[], input)
    }

    /// Does work in which the shells that are started are for this user.
    pub fn with_shells_for(&mut self, user: ShellUser, work: impl FnOnce(&mut Self) -> Exit) -> Exit {
        let outer = std::mem::replace(&mut self.position.shell_user, user);
        let exit = work(self);
        self.position.shell_user = outer;
        exit
    }

    /// Runs shell text in a child shell with `$0` and arguments.
    pub fn run_text_with(
        &mut self,
        reader: ShellProgram,
        text: &Value,
        name: &Value,
        arguments: &[Value],
        input: Input,
    ) -> Exit {
        let outer_input = std::mem::replace(&mut self.input, input);
        let done = self.run_read(reader, text, |machine, speech| {
            machine.in_subshell(|machine| {
                let script = machine.shell.starting.take();
                machine.become_child();
                machine.shell.sources.extend(script);
                machine.shell.speech = speech;
                machine.shell.options.is_zsh = reader == ShellProgram::Zsh;
                // The last command of a pipeline runs in the shell itself (zshmisc(1); ksh93(1), in mksh it does not).
                machine.shell.options.lastpipe = reader == ShellProgram::Zsh;
                machine.shell.options.perhaps_lastpipe = reader == ShellProgram::Korn;
                // What stands in front of a special built-in stays in all of them, as POSIX wants it.
                machine.shell.options.perhaps_posix = reader == ShellProgram::Korn;
                if speech == Speech::Posix {
                    machine.shell.functions.clear();
                    machine.shell.alternatives.clear();
                }
                machine.shell.name = name.clone();
                machine.shell.positional = Some(arguments.to_vec());
                if machine.call.rests_on_unseen {
                    // Which of what it is given rests on it is not told apart.
                    machine.presume_arguments(Standing::Presumed);
                    machine.presume_changed(&BTreeMap::new());
                }
                // Another process knows nothing of the conditions that this one stands in.
                let conditions = std::mem::take(&mut machine.position.conditions);
                let outer_conditions = std::mem::take(&mut machine.position.outer_conditions);
                let done = machine.run_here(text);
                machine.position.conditions = conditions;
                machine.position.outer_conditions = outer_conditions;
                done
            })
        });
        self.input = outer_input;
        done.exit()
    }

    /// Leaves only what a child process inherits.
    fn become_child(&mut self) {
        let (cwd, logical) = (self.shell.cwd.clone(), self.shell.logical.clone());
        let mut child = Shell::new(AbsolutePath::root());
        child.cwd = cwd;
        child.logical = logical;
        child.doubts = self.shell.doubts;
        child.presumed = std::mem::take(&mut self.shell.presumed);
        child.perhaps_unset = std::mem::take(&mut self.shell.perhaps_unset);
        child.descriptors = std::mem::take(&mut self.shell.descriptors);
        child.exported_functions = std::mem::take(&mut self.shell.exported_functions);
        for name in &child.exported_functions {
            if let Some(body) = self.shell.functions.get(name) {
                child.functions.insert(name.clone(), body.clone());
            }
            if let Some(bodies) = self.shell.alternatives.get(name) {
                child.alternatives.insert(name.clone(), bodies.clone());
            }
        }
        child.variables = std::mem::take(&mut self.shell.variables)
            .into_iter()
            // What was taken away is not what the environment of the session holds under its name.
            .filter(|(_, variable)| variable.exported || variable.content == VariableContent::Unset)
            .collect();
        // It stays where a program cannot be started in its place (bash(1), "exec").
        child.options.execfail = self.position.shell_user == ShellUser::Person;
        self.shell = child;
    }

    /// Runs shell text in the present shell; opaque when the text is not known.
    pub(crate) fn run_here(&mut self, text: &Value) -> Done {
        let Some(texts) = text.alternatives().map(<[String]>::to_vec) else {
            return self.run_unknown_text(text);
        };
        if texts.len() > Value::CHOICES {
            // Lines of a long list, one after the other.
            for text in &texts {
                self.perhaps(|machine| machine.run_exact_text(text));
            }
            return Done::next(super::Exit::unknown());
        }
        if self.call.rests_on_unseen && texts.iter().all(|text| text.trim().is_empty()) {
            self.possibly(|machine| {
                machine.opaque("the text that the shell runs stands in a variable that nothing here sets");
            });
        }
        let mut texts = texts.into_iter();
        let Some(first) = texts.next() else { return Done::quiet() };
        let rest: Vec<String> = texts.collect();
        if rest.is_empty() {
            return self.run_exact_text(&first);
        }
        self.either(
            super::ways::Leaving::Doubts,
            |machine| machine.run_exact_text(&first),
            |machine| machine.run_here(&Value::one_of(rest)),
        )
    }

    fn run_exact_text(&mut self, text: &str) -> Done {
        if self.budget.scanning > 0 {
            return self.scan_text(text);
        }
        if self.budget.texts >= 24 {
            self.unread("shell text is nested too deeply to be followed");
            return self.scan_text(text);
        }
        if self.shell.speech == Speech::Posix
            && let Some(script) = checkrein_shell::parse_posix(text)
        {
            self.budget.texts += 1;
            self.budget.depth += 1;
            let done = self.run_block(&script);
            self.budget.depth -= 1;
            self.budget.texts -= 1;
            return Done { status: super::Status::Open.and_then(done.status), ..done };
        }
        let mut parsed = checkrein_shell::parse(text);
        for problem in &parsed.problems {
            if self.findings.problems.len() < 32 {
                self.findings.problems.push(problem.message.clone());
            }
        }
        if self.budget.texts == 0 {
            self.position.one_line = !text.contains('\n');
        }
        self.budget.texts += 1;
        self.budget.depth += 1;
        let is_broken = super::heuristics::has_broken(&parsed.script);
        let reached = if is_broken { super::heuristics::reached(text) } else { None };
        let is_refused = reached.is_some();
        if let Some(runs) = reached.and_then(|end| text.get(..end)) {
            parsed.script = checkrein_shell::parse(runs).script;
        }
        let mut done = self.run_lines(&parsed.script, text);
        if is_refused && done.flow == super::Flow::Next {
            done.status = super::Status::Failure;
        }
        self.budget.depth -= 1;
        self.budget.texts -= 1;
        let silent =
            parsed.script.is_empty() && !parsed.problems.is_empty() && !is_refused && !is_empty(text);
        if silent {
            self.unread("the shell text could not be read");
        }
        done
    }

    fn run_unknown_text(&mut self, text: &Value) -> Done {
        let source =
            self.call.substituted.iter().find(|output| matches!(output, Output::Network(_))).cloned();
        let setup = match self.call.substituted.as_slice() {
            [Output::Setup(program)] if text.known_start().is_empty() => Some(program.clone()),
            _ => None,
        };
        if let Some(output) = source {
            self.run_output(&output);
        } else if let Some(program) = setup {
            self.opaque(format!("`{program}` says how it prepares the shell"));
        } else {
            // The part that is known may be enough to see what is meant.
            let start = text.known_start();
            let note = if start.is_empty() {
                "the text that the shell runs is not known".to_owned()
            } else {
                format!("only the start of the text that the shell runs is known: `{start}`")
            };
            self.unread(note);
            if let Some((whole, _)) = start.rsplit_once([';', '\n', '|', '&']) {
                let whole = whole.to_owned();
                self.possibly(|machine| machine.in_subshell(|machine| machine.run_exact_text(&whole)));
            }
        }
        Done::next(Exit::unknown())
    }

    /// Runs what an output carries, as code.
    pub(crate) fn run_output(&mut self, output: &Output) -> Exit {
        self.run_input(&output.clone().into_input())
    }

    /// Lets a shell run what comes in on its standard input.
    pub fn run_input(&mut self, input: &Input) -> Exit {
        self.run_input_with(ShellProgram::Bash, input, &Value::exact("bash"), &[])
    }

    /// Lets a shell run what comes in on its standard input, with `$0` and arguments.
    pub fn run_input_with(
        &mut self,
        reader: ShellProgram,
        input: &Input,
        name: &Value,
        arguments: &[Value],
    ) -> Exit {
        match input {
            Input::Inherited => {
                if self.away.is_none() {
                    self.open_shells = self.open_shells.saturating_add(1);
                }
                self.left_open(name.as_exact().unwrap_or("the shell"));
                Exit::unknown()
            }
            Input::Text(text) => {
                self.run_text_with(reader, text, name, arguments, Input::Text(Value::exact("")))
            }
            Input::Network(url) => {
                self.runs_from_network(url);
                Exit::unknown()
            }
            Input::Secret(_) | Input::Local(_) | Input::Unknown => {
                self.unread("what the shell reads and runs is not known");
                Exit::unknown()
            }
        }
    }

    /// Runs a script file that the world can read: shell scripts are followed, others are opaque.
    pub fn run_file(&mut self, value: &Value, arguments: &[Value]) -> Exit {
        let path = self.paths_through(value).into_iter().find_map(|aim| aim.target.path().cloned());
        let words = path.as_ref().and_then(|path| match self.language(path) {
            Language::Started => self.started_by_first_line(path, value, arguments),
            Language::Other(interpreter) => {
                let mut words = vec![Value::Exact(interpreter), value.clone()];
                words.extend(arguments.iter().cloned());
                Some(words)
            }
            Language::Shell | Language::Unknown => None,
        });
        let input = self.input.clone();
        match words {
            Some(words) => self.run_words(&words, input),
            None => self.run_script_as(Runner::Kernel, ShellProgram::Bash, value, arguments, input),
        }
    }

    /// Runs a script file with the shell that was named, whatever its first line says.
    pub fn run_script(
        &mut self,
        reader: ShellProgram,
        value: &Value,
        arguments: &[Value],
        input: Input,
    ) -> Exit {
        self.run_script_as(Runner::Child, reader, value, arguments, input)
    }

    fn run_script_as(
        &mut self,
        runner: Runner,
        reader: ShellProgram,
        value: &Value,
        arguments: &[Value],
        input: Input,
    ) -> Exit {
        let Some(text) = self.script_text(value, runner) else { return Exit::unknown() };
        let done = self.if_it_is_there(value, |machine| {
            machine.shell.starting = Some(value.clone());
            let exit = machine.run_text_with(reader, &text, value, arguments, input);
            machine.shell.starting = None;
            Done::next(exit)
        });
        self.run_what_was_written(reader, value, &text, arguments);
        Exit { status: done.status, output: done.output }
    }

    /// Runs `work`, which runs a file; where that may not be there, since this command may have made or removed it, also follows that
    /// nothing is run.
    fn if_it_is_there(&mut self, file: &Value, work: impl FnOnce(&mut Self) -> Done) -> Done {
        let is_doubtful = self
            .paths_through(file)
            .iter()
            .any(|aim| aim.target.path().is_some_and(|path| self.tree.is_doubtful(path)));
        if !is_doubtful {
            return work(self);
        }
        self.either(Leaving::Doubts, work, |_| {
            Done::next(Exit { status: Status::Failure, output: Output::Nothing })
        })
    }

    /// Goes on with what was written into a script while it ran: a shell reads on from where it is.
    fn run_what_was_written(
        &mut self,
        reader: ShellProgram,
        value: &Value,
        text: &Value,
        arguments: &[Value],
    ) {
        let Some(path) = self.one_path_through(value) else { return };
        let mut read = text.clone();
        for _ in 0..WRITTEN {
            if !self.tree.is_written(&path) {
                return;
            }
            let held = self.text(&path);
            if held == read {
                return;
            }
            let added = match (read.as_exact(), held.as_exact()) {
                (Some(before), Some(now)) => now.strip_prefix(before).map(Value::exact),
                (_, _) => None,
            };
            let Some(added) = added else {
                let written = value.as_exact().unwrap_or("the script");
                self.unread(format!(
                    "`{written}` is written while it runs, and what it then holds is not followed"
                ));
                return;
            };
            self.possibly(|machine| {
                machine.run_text_with(reader, &added, value, arguments, Input::Inherited)
            });
            read = held;
        }
        self.unread("a script that writes to itself is not followed to its end");
    }

    /// Runs a file in the present shell, as `source` does.
    pub(crate) fn run_file_here(&mut self, value: &Value, arguments: &[Value]) -> Done {
        if let Some(done) = self.take_settings(value) {
            return done;
        }
        let Some(text) = self.script_text(value, Runner::Here) else {
            self.perhaps(|machine| machine.run_return_trap(Done::quiet()));
            return Done::next(Exit::unknown());
        };
        let positional = (!arguments.is_empty()).then(|| self.shell.positional.replace(arguments.to_vec()));
        let doubts = self.shell.doubts;
        self.shell.returns += 1;
        self.shell.sources.push(value.clone());
        let done = self.if_it_is_there(value, |machine| machine.run_here(&text));
        self.shell.sources.pop();
        self.shell.returns = self.shell.returns.saturating_sub(1);
        let done = self.run_return_trap(done);
        if let Some(positional) = positional {
            self.shell.positional = positional;
        }
        self.end_of_script(done, doubts)
    }

    /// Runs a file of settings that only sets variables, which shows nothing of it: what prints them later does. `None` for other files.
    fn take_settings(&mut self, value: &Value) -> Option<Done> {
        let paths = self.paths_through(value);
        let [aim] = paths.as_slice() else { return None };
        let path = aim.target.path()?.clone();
        let behind = self.secrets_behind_links(value).into_iter().find_map(|aim| aim.target.path().cloned());
        let named = crate::places::credential(&path, &self.world.place().home).map(|_| path.clone());
        let secret = named.or(behind)?;
        if self.entry(&path) == Entry::Missing {
            return self.take_missing_settings(&path);
        }
        let text = self.text(&path).as_exact()?.to_owned();
        if self.flow.shows_commands || self.source(&path).is_some() || !only_assigns(&text) {
            return None;
        }
        let before = self.shell.variables.clone();
        let done = self.run_exact_text(&text);
        let origin = Output::Secret(secret.as_str().to_owned());
        for (name, variable) in &mut self.shell.variables {
            if before.get(name) != Some(variable) {
                variable.origin = Some(origin.clone());
            }
        }
        self.flow.settings_held.insert(secret.as_str().to_owned());
        Some(done)
    }

    /// Takes a file of settings that is not there, by its name, for one that sets variables, since it may be there by then. `None` for other
    /// files, and where this command may have made it.
    fn take_missing_settings(&mut self, path: &AbsolutePath) -> Option<Done> {
        let is_settings = path.name().is_some_and(|name| name.starts_with(".env"));
        let may_be_made = self.tree.is_disturbed()
            || self.is_among_made(path)
            || self.source(path).is_some()
            || self.flow.ends.contains_key(path.as_str());
        if !is_settings || may_be_made || self.flow.shows_commands || self.shell.speech != Speech::Bash {
            return None;
        }
        self.flow.settings_held.insert(path.as_str().to_owned());
        self.possibly(|machine| machine.not_there(path.as_str(), path));
        Some(Done::next(Exit::unknown()))
    }

    /// Adds that variables which came from a file of settings are shown, when this call prints all that there are.
    pub fn note_shown_settings(&mut self, name: &str, rest: &[Value]) {
        if self.flow.settings_held.is_empty() {
            return;
        }
        let is_option = |word: &Value| word.known_start().starts_with('-') || word.known_start().is_empty();
        let shows = match name {
            "printenv" => true,
            "env" | "set" | "export" | "declare" | "typeset" | "readonly" | "compgen" => {
                // With `-p` the value of what is named is printed, too.
                rest.iter().all(is_option) || rest.iter().any(|word| word.as_exact() == Some("-p"))
            }
            _ => false,
        };
        if shows && (name != "set" || rest.is_empty()) {
            for place in self.flow.settings_held.clone() {
                self.note_shown_place(&place);
            }
        }
    }

    fn note_shown_place(&mut self, place: &str) {
        let target = AbsolutePath::new(place).map_or(Target::Unknown, Target::Path);
        self.add(Draft::new(EffectKind::SecretRead, target).note("shows the variables that came from it"));
    }

    /// Adds the read of a secret when words or input of a command that shows or sends them hold a variable from a file of settings. `count`
    /// is how many effects there were before the command.
    pub(super) fn note_shown_origin(
        &mut self,
        simple: &Simple,
        words: &[Value],
        of_words: usize,
        count: usize,
    ) {
        if self.flow.settings_held.is_empty() {
            return;
        }
        let is_held = |output: &&Output| matches!(output, Output::Secret(place) if self.flow.settings_held.contains(place));
        let held: BTreeSet<String> = (self.call.substituted.iter().filter(is_held))
            .filter_map(|output| match output {
                Output::Secret(place) => Some(place.clone()),
                _ => None,
            })
            .collect();
        let in_words = self.call.substituted.iter().take(of_words).any(|output| is_held(&output));
        if held.is_empty() {
            return;
        }
        let program = words.first().and_then(Value::as_exact).unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or(program);
        let is_fed = simple.redirects.iter().any(|redirect| {
            matches!(
                redirect.operation,
                RedirectOperation::HereString(_) | RedirectOperation::HereDocument(_)
            )
        });
        let is_sent = self.effects_since(count).any(|effect| {
            matches!(effect.kind, EffectKind::DataUpload | EffectKind::NetworkRequest | EffectKind::Publish)
                && effect.target.text().is_none_or(|place| reach(place) != NetworkReach::Local)
        });
        let is_told = in_words && (self.flow.shows_commands || !is_quiet(program, words));
        if is_fed || is_sent || is_told || is_shown_by(program, words) {
            for place in held {
                self.note_shown_place(&place);
            }
        }
    }

    /// The text of a script, when it is known. When it is not, what running it means is added here.
    fn script_text(&mut self, value: &Value, runner: Runner) -> Option<Value> {
        if let Some(name) = value.as_exact() {
            self.note_attack_tool(name);
        }
        let read = self.read_code(value);
        let path = self.paths_through(value).into_iter().find_map(|aim| aim.target.path().cloned());
        if let Some(output) = path.as_ref().and_then(|path| self.source(path)) {
            self.run_output(&output);
            return None;
        }
        if let (None, Some(url)) = (&path, self.address_of(value)) {
            self.runs_from_network(&url);
            return None;
        }
        match read {
            Output::Text(text) => Some(text),
            Output::Network(url) => {
                self.runs_from_network(&url);
                None
            }
            Output::Nothing => None,
            Output::Secret(_) => {
                // A file of settings that is sourced sets variables; its text is not looked at here.
                let text = path.map_or(Value::Unknown, |path| self.code(&path));
                if text.as_exact().is_none() {
                    self.opaque("what the script does is not known");
                    return None;
                }
                Some(text)
            }
            Output::Local(_) | Output::Setup(_) | Output::Unknown => {
                let written = value.as_exact().unwrap_or("the script");
                let missing = path.as_ref().is_some_and(|path| {
                    !self.flow.ends.contains_key(path.as_str()) && self.entry(path) == Entry::Missing
                });
                if path.as_ref().is_some_and(|path| self.is_among_made(path)) {
                    self.unread(format!("`{written}` may be one of the files that this command makes"));
                } else if missing && !self.tree.is_disturbed() {
                    // Running what is not there fails; it may be there by then.
                    if self.position.supposing > 0 {
                        return None;
                    }
                    let place = path.clone().unwrap_or_else(AbsolutePath::root);
                    self.possibly(|machine| machine.not_there(written, &place));
                } else if path.as_ref().is_some_and(|path| {
                    self.tree.is_written(path) || self.tree.is_perhaps_written_unread(path)
                }) {
                    // Written here, and run: nobody can have read it.
                    self.unread(format!(
                        "`{written}` is written by this command, and what it holds is not known"
                    ));
                } else if path.as_ref().is_some_and(|path| {
                    let is_end = self.flow.ends.contains_key(path.as_str());
                    is_end && (runner != Runner::Here || self.flow.committed_ends.contains(path.as_str()))
                }) {
                    self.unread("the output of a program is run, and it is not known");
                } else if path.as_ref().is_some_and(|path| {
                    self.entry(path) == Entry::Special
                        && path.as_str() != "/dev/null"
                        && !self.is_own_descriptor(path)
                }) {
                    self.unread(format!("`{written}` is a pipe or a device: what comes out of it is run"));
                } else if runner != Runner::Kernel
                    && path.as_ref().is_some_and(|path| matches!(self.entry(path), Entry::File(_)))
                {
                    self.unread(format!("`{written}` cannot be read as text, and a shell runs what it says"));
                } else {
                    self.opaque(match &path {
                        Some(path) if self.flow.ends.contains_key(path.as_str()) => {
                            "the output of a program is run, and it is not known".to_owned()
                        }
                        Some(_) | None => format!("what `{written}` does is not known"),
                    });
                }
                None
            }
        }
    }

    /// What is known of the beginning of a file that is run as code; `None` when nothing is. What this command wrote counts where all of it is
    /// known.
    pub(super) fn beginning_of_code(&self, path: &AbsolutePath) -> Option<String> {
        match self.code(path) {
            Value::Exact(text) => Some(text),
            Value::Between { prefix, .. } if !self.tree.is_written(path) && prefix.contains('\n') => {
                Some(prefix)
            }
            Value::Between { .. } | Value::AnyOf(_) | Value::Glob(_) | Value::Unknown => None,
        }
    }

    /// The language of a script file, by its first line, else by its name.
    pub(crate) fn language(&self, path: &AbsolutePath) -> Language {
        let Some(text) = self.beginning_of_code(path) else {
            return if path.as_str().ends_with(".sh") && self.tree.is_new(path) {
                Language::Shell
            } else {
                Language::Unknown
            };
        };
        if super::first_line::names_interpreter(&text) {
            return Language::Started;
        }
        match path.name().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end) {
            Some("sh" | "bash" | "zsh") => Language::Shell,
            Some("py") => Language::Other("python3".to_owned()),
            Some("js" | "mjs" | "cjs") => Language::Other("node".to_owned()),
            Some("rb") => Language::Other("ruby".to_owned()),
            Some("pl") => Language::Other("perl".to_owned()),
            // A text without a first line that says otherwise is run by the shell.
            Some(_) | None if !text.contains('\0') && !text.starts_with('\u{7f}') => Language::Shell,
            Some(_) | None => Language::Unknown,
        }
    }

    /// Runs the text of a whole command, and what it leaves for the end of the shell.
    pub fn run_all(&mut self, text: &Value) {
        self.run_here(text);
        // Clients run commands with the shell of the user.
        if self.world.variable("SHELL").is_some_and(|shell| shell.ends_with("zsh")) {
            self.note_zsh(text);
        }
        self.end_of_shell();
    }

    /// What the interpretation found out.
    pub fn into_prediction(mut self) -> Prediction {
        self.note_default_settings();
        self.note_unchecked_files();
        self.note_steering_variables();
        self.note_typed_targets();
        provenance::tell(&mut self.findings.effects, self.world.place());
        self.name_secrets();
        let secret_marks = self.secret_marks();
        let writes_secret = self.flow.into_files || secret_marks.iter().any(|mark| mark.secret.is_some());
        Prediction {
            secret_marks,
            writes_secret,
            announced: self.tree.announced(self.world),
            logged: self.tree.logged(),
            effects: self.findings.effects,
            problems: self.findings.problems,
            programs: self.findings.programs,
            commands: self.findings.commands,
            left_open: self.findings.left_open,
            terminal_uses: Vec::new(),
        }
    }
}

/// Whether a text only sets variables: no command that could print one, no word that could be told as a command that is not there.
fn only_assigns(text: &str) -> bool {
    let parsed = checkrein_shell::parse(text);
    parsed.problems.is_empty()
        && parsed.script.iter().all(|statement| match &statement.command {
            Command::Simple(simple) => simple.redirects.is_empty() && match simple.written_name() {
                None => simple.words.is_empty() && !simple.assignments.is_empty(),
                Some("export") => simple.words.len() > 1
                    && simple.words.iter().skip(1).all(
                        |word| matches!(word.parts.first(), Some(Part::Literal(text)) if text.contains('=')),
                    ),
                Some(_) => false,
            },
            _ => false,
        })
}

/// Whether a text holds nothing that a shell, which leaves null bytes out, could run.
fn is_empty(text: &str) -> bool {
    text.chars().all(|letter| letter == '\0' || letter.is_whitespace())
}
