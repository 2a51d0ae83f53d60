//! Simple commands: assignments, expansion, redirections, and who is called.

use std::collections::BTreeMap;
use std::rc::Rc;

use checkrein_shell::{AssignedValue, Assignment, ParameterOperation, Part, Simple};

use crate::path::AbsolutePath;
use crate::programs::{builtins, filters, processes};
use crate::world::Entry;

use super::call::{Arguments, Call, Input};
use super::exit::{Exit, Output, Status};
use super::machine::Machine;
use super::overlay_updates::system_program;
use super::run::Language;
use super::shell::{Content, Speech, Treatment, Variable};
use super::statements::{Done, Flow};
use super::sweeps::Remainder;
use super::value::Value;
use super::ways::Leaving;

/// The greatest number of directories in which a program is looked for (ours).
const DIRECTORIES: usize = 32;

/// The greatest number of texts of which each is tried as a command (ours).
const CHOICES: usize = 4;

/// Where a program is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// Functions, built-ins, programs.
    All,
    /// Built-ins and programs (`command`).
    NoFunctions,
}

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
        let Content::Scalar(Value::AnyOf(texts)) = &self.shell.variables.get(name)?.content else {
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
                variable.content = Content::Scalar(Value::exact(first.as_str()));
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

    /// Assigns the arrays among the operands of `declare` and its like.
    fn declare_arrays(&mut self, simple: &Simple, words: &[Value]) {
        let program = words.first().and_then(Value::as_exact).unwrap_or_default();
        let flags: String = words
            .iter()
            .filter_map(Value::as_exact)
            .filter(|text| text.starts_with('-'))
            .collect::<Vec<_>>()
            .concat();
        let local = program == "local" || matches!(program, "declare" | "typeset") && !flags.contains('g');
        for assignment in &simple.declared_arrays {
            if local {
                let before = self.shell.variables.get(&assignment.name).cloned();
                if let Some(frame) = self.shell.locals.last_mut() {
                    frame.entry(assignment.name.clone()).or_insert(before);
                }
            }
            if flags.contains('A') && !assignment.append {
                self.assign_content(&assignment.name, Content::Map(BTreeMap::new()));
            }
            if flags.contains('i') {
                self.treat(&assignment.name, Treatment::Integer);
            }
            self.assign_from(assignment);
        }
    }

    /// Carries out an assignment as written.
    pub(super) fn assign_from(&mut self, assignment: &Assignment) {
        let outputs = self.substituted.len();
        match &assignment.value {
            AssignedValue::Scalar(word) => {
                let mut value = self.expand_assigned(word);
                if let Some(index) = &assignment.index {
                    let key = self.expand_text(index);
                    if let (true, Some(key), Some(text)) = (
                        matches!(assignment.name.as_str(), "BASH_CMDS" | "BASH_ALIASES"),
                        key.as_exact(),
                        value.as_exact(),
                    ) {
                        let (key, text) = (key.to_owned(), text.to_owned());
                        self.stands_for(&key, &text);
                    }
                    self.assign_element(&assignment.name, &key, value, assignment.append);
                    return;
                }
                if assignment.append {
                    value = self.appended(&assignment.name, &value);
                }
                self.assign(&assignment.name, value);
            }
            AssignedValue::Array(elements) => self.assign_array(assignment, elements),
        }
        let origin = self.substituted.get(outputs..).and_then(|new| new.first()).cloned();
        if origin.is_some()
            && let Some(variable) = self.shell.variables.get_mut(&assignment.name)
        {
            variable.origin = origin;
        }
    }

    fn assign_array(
        &mut self,
        assignment: &Assignment,
        elements: &[(Option<checkrein_shell::Word>, checkrein_shell::Word)],
    ) {
        let known = self.shell.variables.get(&assignment.name).map(|variable| variable.content.clone());
        if let Some(Content::Map(mut items)) = known {
            if !assignment.append {
                items.clear();
            }
            if elements.iter().all(|(index, _)| index.is_none()) {
                // Keys and values in turn.
                let mut words = elements.iter().map(|(_, word)| self.expand_assigned(word));
                while let Some(key) = words.next() {
                    let value = words.next().unwrap_or_else(|| Value::exact(""));
                    let Some(key) = key.as_exact() else {
                        self.assign_content(&assignment.name, Content::Unknown);
                        return;
                    };
                    items.insert(key.to_owned(), value);
                }
                self.assign_content(&assignment.name, Content::Map(items));
                return;
            }
            for (index, word) in elements {
                let value = self.expand_assigned(word);
                let key = index.as_ref().map(|index| self.expand_text(index));
                if let Some(key) = key.as_ref().and_then(Value::as_exact) {
                    items.insert(key.to_owned(), value);
                } else {
                    self.assign_content(&assignment.name, Content::Unknown);
                    return;
                }
            }
            self.assign_content(&assignment.name, Content::Map(items));
            return;
        }
        let mut items = match known {
            Some(Content::List(items)) if assignment.append => items,
            Some(Content::Scalar(value)) if assignment.append => BTreeMap::from([(0, value)]),
            _ => BTreeMap::new(),
        };
        let mut next = items.keys().next_back().map_or(0, |last| last.saturating_add(1));
        for (index, word) in elements {
            if let Some(index) = index {
                let text = self.expand_text(index);
                let Some(number) =
                    text.as_exact().map(str::to_owned).and_then(|text| self.arithmetic_text(&text))
                else {
                    self.expand_text(word);
                    self.assign_content(&assignment.name, Content::Unknown);
                    return;
                };
                next = number;
                let value = self.expand_assigned(word);
                items.insert(next, value);
                next = next.saturating_add(1);
                continue;
            }
            for value in self.expand_word(word) {
                items.insert(next, value);
                next = next.saturating_add(1);
            }
        }
        if items.len() > 4096 {
            self.assign_content(&assignment.name, Content::Unknown);
        } else {
            self.assign_content(&assignment.name, Content::List(items));
        }
    }

    pub(super) fn assign_element(&mut self, name: &str, key: &Value, value: Value, append: bool) {
        let content = self.shell.variables.get(name).map(|variable| variable.content.clone());
        let content = match content {
            Some(Content::Map(mut items)) => match key.as_exact() {
                Some(key) => {
                    let value = match items.get(key) {
                        Some(known) if append => known.followed_by(&value),
                        Some(_) | None => value,
                    };
                    items.insert(key.to_owned(), value);
                    Content::Map(items)
                }
                None => Content::Unknown,
            },
            Some(Content::Unknown) => Content::Unknown,
            other => {
                let mut items = match other {
                    Some(Content::List(items)) => items,
                    Some(Content::Scalar(value)) => BTreeMap::from([(0, value)]),
                    _ => BTreeMap::new(),
                };
                match key.as_exact().map(str::to_owned).and_then(|text| self.arithmetic_text(&text)) {
                    Some(number) if items.len() < 4096 => {
                        let value = match items.get(&number) {
                            Some(known) if append => known.followed_by(&value),
                            Some(_) | None => value,
                        };
                        items.insert(number, value);
                        Content::List(items)
                    }
                    Some(_) | None => Content::Unknown,
                }
            }
        };
        self.assign_content(name, content);
    }

    /// Calls what the words name: a function, a built-in, a program.
    pub(crate) fn call_words(&mut self, words: &[Value], lookup: Lookup) -> Done {
        let Some((program, rest)) = words.split_first() else { return Done::quiet() };
        if !self.step() && self.scanned > super::scan::SCANNED {
            return Done::next(Exit::unknown());
        }
        let texts = match program {
            Value::Exact(name) => return self.call_name(name, rest, lookup),
            Value::AnyOf(texts) => texts.clone(),
            Value::Glob(_) | Value::Between { .. } | Value::Unknown => {
                self.call_unknown(program);
                return Done::next(Exit::unknown());
            }
        };
        let mut texts = texts.into_iter();
        let Some(first) = texts.next() else { return Done::quiet() };
        self.either(
            Leaving::Doubts,
            |machine| machine.call_name(&first, rest, lookup),
            |machine| {
                let others: Vec<String> = texts.collect();
                let mut words = vec![Value::one_of(others)];
                words.extend(rest.iter().cloned());
                machine.call_words(&words, lookup)
            },
        )
    }

    fn call_unknown(&mut self, program: &Value) {
        if let Some(Output::Network(url)) =
            self.substituted.iter().find(|output| matches!(output, Output::Network(_))).cloned()
        {
            self.runs_from_network(&url);
            return;
        }
        match (program.known_start().as_str(), program.known_end().as_str()) {
            ("", "") => self.opaque("the program that runs is not known"),
            (start, end) => self.opaque(format!("the program that runs is only known as `{start}...{end}`")),
        }
    }

    fn call_name(&mut self, name: &str, rest: &[Value], lookup: Lookup) -> Done {
        if name.is_empty() {
            return Done::next(Exit::failure());
        }
        if lookup == Lookup::All
            && let Some(body) = self.shell.functions.get(name).map(Rc::clone)
        {
            return match self.shell.alternatives.get(name).cloned() {
                None => self.call_function(name, &body, rest),
                Some(others) => self.either(
                    Leaving::Doubts,
                    |machine| machine.call_function(name, &body, rest),
                    |machine| machine.call_one_of(name, &others, rest),
                ),
            };
        }
        let done = self.call_command(name, rest);
        self.with_errors(name, done)
    }

    /// Calls a built-in or a program.
    fn call_command(&mut self, name: &str, rest: &[Value]) -> Done {
        self.see_through(name, rest);
        self.note_shown_settings(name, rest);
        self.note_no_command(name);
        self.note_complaint(name, rest);
        if name.contains('/') {
            let exit = self.call_path(name, rest);
            return Done::next(exit);
        }
        if let Some(done) = builtins::run(self, name, rest) {
            return self.told(name, rest, done);
        }
        if let Some(file) = self.found_in_own_path(name) {
            let exit = self.call_path(file.as_str(), rest);
            return Done::next(exit);
        }
        // What is not found is given to this function, in bash and in zsh.
        for handler in ["command_not_found_handle", "command_not_found_handler"] {
            if let Some(body) = self.shell.functions.get(handler).map(Rc::clone)
                && !self.aliases_running.iter().any(|running| running == handler)
            {
                let words: Vec<Value> =
                    std::iter::once(Value::exact(name)).chain(rest.iter().cloned()).collect();
                self.aliases_running.push(handler.to_owned());
                self.possibly(|machine| {
                    machine.in_subshell(|machine| machine.call_function(handler, &body, &words))
                });
                self.aliases_running.retain(|running| running != handler);
            }
        }
        let exit = self.call_program(name, name, rest);
        if name == "kill" {
            // What is to run at a signal may run here.
            for text in self.shell.on_signals.clone() {
                self.perhaps(|machine| machine.run_here(&text));
            }
        }
        if name == "kill" && processes::may_end_shell(rest) {
            // Signals can be ignored, so what follows may still run.
            self.perhaps_ends();
        }
        Done::next(exit)
    }

    /// Calls what a name may stand for besides the function that was called already.
    fn call_one_of(
        &mut self,
        name: &str,
        bodies: &[Option<Rc<checkrein_shell::Command>>],
        rest: &[Value],
    ) -> Done {
        let Some((first, others)) = bodies.split_first() else { return Done::next(Exit::unknown()) };
        let call = |machine: &mut Self| match first {
            Some(body) => machine.call_function(name, body, rest),
            None => machine.call_name(name, rest, Lookup::NoFunctions),
        };
        if others.is_empty() {
            return call(self);
        }
        self.either(Leaving::Doubts, call, |machine| machine.call_one_of(name, others, rest))
    }

    /// The file of that name in a directory that the command itself has put into `PATH`, in the workspace or among temporary files.
    fn found_in_own_path(&self, name: &str) -> Option<AbsolutePath> {
        let Some(Content::Scalar(path)) = self.shell.variables.get("PATH").map(|path| &path.content) else {
            return None;
        };
        let place = self.world.place();
        let texts = path.alternatives().map_or_else(|| vec![path.known_start()], <[String]>::to_vec);
        for text in &texts {
            for directory in text.split(':').take(DIRECTORIES) {
                let Some(directory) =
                    self.paths_through(&Value::exact(directory)).first()?.target.path().cloned()
                else {
                    continue;
                };
                let is_own = directory.is_within(&place.workspace) || self.is_temporary(&directory);
                let file = directory.join(name);
                if (is_own || self.tree.is_new(&file)) && matches!(self.entry(&file), Entry::File(_)) {
                    return Some(file);
                }
            }
        }
        None
    }

    /// Runs a program that is named by a path.
    fn call_path(&mut self, name: &str, rest: &[Value]) -> Exit {
        let base = name.rsplit('/').next().unwrap_or(name).to_owned();
        let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
        let in_programs = is_among_programs(name);
        if name.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix("/exe")).is_some() {
            // The shell itself.
            return self.call_name("bash", rest, Lookup::NoFunctions).exit();
        }
        let value = Value::exact(name);
        let path = self.paths_through(&value).into_iter().find_map(|aim| aim.target.path().cloned());
        let Some(path) = path else { return self.call_program(&base, name, rest) };
        if let Some(output) = self.source(&path) {
            return self.run_output(&output);
        }
        if system_program(&AbsolutePath::root().join(name)).is_some() && directory.starts_with('/') {
            return self.call_name(&base, rest, Lookup::NoFunctions).exit();
        }
        // Under another name it is still the same program.
        let original = self.copies.get(path.as_str()).cloned().or_else(|| {
            let is_unknown = crate::catalogue::find(&base, self.catalogue).is_none();
            system_program(&path).filter(|_| is_unknown).map(str::to_owned)
        });
        if let Some(original) = original {
            return self.call_program(&original, name, rest);
        }
        // A program that was installed is what its name says, also when it is a script that starts another.
        let is_installed = in_programs
            && !path.is_within(&self.world.place().workspace)
            && !self.is_temporary(&path)
            && !self.tree.is_new(&path)
            && crate::catalogue::find(&base, self.catalogue).is_some();
        // What may not be executed does not run; whether it may was perhaps changed here.
        let may_fail = matches!(self.entry(&path), Entry::File(facts) if facts.mode & 0o111 == 0);
        let exit = self.call_file(&path, &base, name, rest, is_installed);
        if may_fail && exit.status == Status::Success {
            Exit { status: Status::Unknown, ..exit }
        } else {
            exit
        }
    }

    /// Runs a file by what it holds.
    fn call_file(
        &mut self,
        path: &AbsolutePath,
        base: &str,
        name: &str,
        rest: &[Value],
        is_installed: bool,
    ) -> Exit {
        let value = Value::exact(name);
        let in_programs = is_among_programs(name);
        match self.language(path) {
            Language::Shell if is_installed => self.call_program(base, name, rest),
            Language::Shell => self.run_file(&value, rest),
            Language::Other(interpreter) => {
                if in_programs && crate::catalogue::find(base, self.catalogue).is_some() {
                    return self.call_program(base, name, rest);
                }
                self.list_command(base, rest);
                let mut words = vec![Value::Exact(interpreter), value];
                words.extend(rest.iter().cloned());
                self.call_words(&words, Lookup::NoFunctions).exit()
            }
            Language::Unknown => {
                let known = crate::catalogue::find(base, self.catalogue).is_some();
                let missing = self.entry(path) == Entry::Missing && !self.tree.is_disturbed();
                // Among temporary files, and in a project, the name of a program says nothing of what would be there, unless it is one
                // that projects hold: `manage.py`, `gradlew`.
                let is_of_projects = base.contains('.') || base.ends_with('w') || in_programs;
                let in_project = path.is_within(&self.world.place().workspace) && !is_of_projects;
                let could_be_anything = missing && (self.is_temporary(path) || in_project);
                if known && !self.tree.is_new(path) && !could_be_anything {
                    if !missing && path.is_within(&self.world.place().workspace) {
                        // It may be another program than the one that is known by that name.
                        self.list_command(name, rest);
                    }
                    return self.call_program(base, name, rest);
                }
                self.list_command(base, rest);
                let count = self.effect_count();
                if missing {
                    self.not_there(name, path);
                } else {
                    self.caused_by(base, |machine| {
                        machine.opaque(format!("what `{name}` does is not known"));
                    });
                }
                self.note_unseen_writes(&self.call_of(base, name, rest), count);
                Exit::unknown()
            }
        }
    }

    /// The call of a program with the words behind its name.
    pub(super) fn call_of(&self, base: &str, written: &str, rest: &[Value]) -> Call {
        Call {
            program: base.to_owned(),
            written: written.to_owned(),
            words: rest.to_vec(),
            input: self.input.clone(),
            arguments: Arguments::default(),
        }
    }

    /// Runs a program by its name in the catalogue.
    pub(crate) fn call_program(&mut self, base: &str, written: &str, rest: &[Value]) -> Exit {
        self.list_command(base, rest);
        let gathered = std::mem::replace(&mut self.gathered, Output::Nothing);
        let outer = std::mem::replace(&mut self.cause, base.to_owned());
        let with_options = self.options_of_variables(base, rest);
        let rest = with_options.as_deref().unwrap_or(rest);
        let call = self.call_of(base, written, rest);
        self.run_options(&call);
        self.run_carried(&call);
        self.note_endless(&call);
        self.note_truncated(&call);
        let outer_showing = std::mem::replace(&mut self.sweep.showing, filters::showing(&call));
        let before = filters::fold(self, &call);
        let count = self.effect_count();
        let exit = if let Some(program) = crate::catalogue::find(base, self.catalogue) {
            crate::catalogue::run(self, &program, call.clone())
        } else {
            self.opaque(format!("`{written}` is not in the catalogue"));
            Exit::unknown()
        };
        self.sweep.showing = outer_showing;
        self.note_unseen_writes(&call, count);
        self.cause = outer;
        let read = std::mem::replace(&mut self.gathered, gathered);
        self.answered(&call, before, exit, read)
    }

    /// What a program answers: what was worked out before it ran, else what its handler says and what it read.
    fn answered(&mut self, call: &Call, before: Option<Exit>, exit: Exit, read: Output) -> Exit {
        let mut exit = match before {
            Some(folded) => folded,
            None => Exit { output: filters::class(self, call, exit.output, read), ..exit },
        };
        if exit.output == Output::Unknown
            && let Some(names) = filters::named(self, call)
        {
            exit.output = names;
        }
        self.tell(call, &mut exit);
        self.veiled |=
            !matches!(exit.output, Output::Text(Value::Exact(_)) | Output::Nothing) && filters::decodes(call);
        exit
    }

    /// Where the content of a file came from, when that matters.
    pub(crate) fn source(&self, path: &AbsolutePath) -> Option<Output> {
        self.sources.get(path.as_str()).cloned()
    }

    /// Runs words with something on the standard input, in a subshell.
    pub(crate) fn run_words(&mut self, words: &[Value], input: Input) -> Exit {
        let outer = std::mem::replace(&mut self.input, input);
        self.depth += 1;
        let done = if self.depth > 60 {
            self.unread("commands are nested too deeply to be followed");
            Done::next(Exit::unknown())
        } else {
            self.in_subshell(|machine| machine.call_words(words, Lookup::NoFunctions))
        };
        self.depth -= 1;
        self.input = outer;
        done.exit()
    }
}

/// Whether a path leads into a directory that is named like one of programs.
fn is_among_programs(name: &str) -> bool {
    let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
    directory
        .rsplit('/')
        .next()
        .is_some_and(|last| matches!(last, "bin" | "sbin" | ".bin" | "Scripts" | "games" | "shims"))
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
