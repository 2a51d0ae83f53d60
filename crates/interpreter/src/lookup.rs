//! Who is called: a function, a built-in, a program, a file.

use std::rc::Rc;

use crate::path::AbsolutePath;
use crate::world::Entry;
use crate::{builtins, filters, left_open, signals};

use super::call::{Arguments, Call, Input};
use super::exit::{Exit, Output, Status};
use super::machine::Machine;
use super::overlay_updates::{guard_program, system_program};
use super::run::Language;
use super::shell::{ShellDirectory, VariableContent};
use super::shell_setup::prepares_shell;
use super::speech::ShellProgram;
use super::statements::Done;
use super::taken_from_person;
use super::value::Value;
use super::ways::Leaving;

/// The greatest number of directories in which a program is looked for (ours).
const DIRECTORIES: usize = 32;
/// In how many directories one call is followed (ours).
const PLACES: usize = 4;
/// How many calls may be followed inside one another (ours).
const CALLS: usize = 120;

/// Where a program is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// Functions, built-ins, programs.
    All,
    /// Built-ins and programs (`command`).
    NoFunctions,
}

impl Machine<'_> {
    /// Calls what the words name: a function, a built-in, a program.
    pub(crate) fn call_words(&mut self, words: &[Value], lookup: Lookup) -> Done {
        let Some((program, rest)) = words.split_first() else { return Done::quiet() };
        if !self.step() && self.budget.scanned > super::scan::SCANNED {
            return Done::next(Exit::unknown());
        }
        if self.budget.calls >= CALLS {
            self.unread("commands are nested too deeply to be followed");
            return Done::next(Exit::unknown());
        }
        self.budget.calls += 1;
        let done = self.call_value(program, rest, lookup);
        self.budget.calls -= 1;
        done
    }

    fn call_value(&mut self, program: &Value, rest: &[Value], lookup: Lookup) -> Done {
        let texts = match program {
            Value::Exact(name) => return self.call_name(name, rest, lookup),
            Value::AnyOf(texts) => texts.clone(),
            Value::Glob(_) | Value::Between { .. } | Value::Unknown => {
                self.call_unknown(program, rest);
                return Done::next(Exit::unknown());
            }
        };
        if texts.len() > Value::CHOICES {
            // Names from a long list, one after the other.
            for name in &texts {
                self.perhaps(|machine| machine.call_name(name, rest, lookup));
            }
            return Done::next(Exit::unknown());
        }
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

    /// Calls every function of the shell whose name fits what is known of it. What is not found in any other way may be one of them.
    pub(super) fn call_functions_that_fit(&mut self, program: &Value, rest: &[Value]) {
        let (start, end) = (program.known_start(), program.known_end());
        let fits = |name: &&String| {
            name.len() >= start.len() + end.len() && name.starts_with(&start) && name.ends_with(&end)
        };
        let names: Vec<String> =
            self.shell.functions.keys().filter(fits).take(Value::CHOICES).cloned().collect();
        // A name that is written out stands for itself: what may stand behind it was asked for here. Else a function that may not be there, and
        // so may be a program, would be looked for among the functions again, without an end.
        let rested = std::mem::replace(&mut self.call.rests_on_unseen, false);
        for name in names {
            if self.budget.calls >= CALLS {
                self.unread("commands are nested too deeply to be followed");
                break;
            }
            self.budget.calls += 1;
            self.possibly(|machine| machine.call_name(&name, rest, Lookup::All));
            self.budget.calls -= 1;
        }
        self.call.rests_on_unseen = rested;
    }

    /// Calls what the lists of words may mean of which one stands here.
    fn call_possible_lists(&mut self, rest: &[Value]) {
        for list in self.shell.possible_lists.clone() {
            let words: Vec<Value> = list.into_iter().chain(rest.iter().cloned()).collect();
            let lists = std::mem::take(&mut self.shell.possible_lists);
            self.possibly(|machine| machine.call_words(&words, Lookup::All));
            self.shell.possible_lists = lists;
        }
    }

    fn call_unknown(&mut self, program: &Value, rest: &[Value]) {
        self.call_functions_that_fit(program, rest);
        if matches!(program, Value::Unknown) {
            self.call_possible_lists(rest);
        }
        if let Some(Output::Network(url)) =
            self.call.substituted.iter().find(|output| matches!(output, Output::Network(_))).cloned()
        {
            self.runs_from_network(&url);
            return;
        }
        match (program.known_start().as_str(), program.known_end().as_str()) {
            _ if self.reads_typed => self.left_open("read"),
            ("", "") => self.opaque("the program that runs is not known"),
            (start, end) => self.opaque(format!("the program that runs is only known as `{start}...{end}`")),
        }
        self.note_words_for_others(rest);
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

    /// Whether what a call does is not read from its words alone, so that it matters what stands where it is started.
    fn may_run_what_stands_here(&self, name: &str) -> bool {
        matches!(name, "source" | ".") || !self.table.is_read_through(name)
    }

    /// Calls a program in each of the directories that the shell may be in: what it runs stands there.
    fn call_in_each(&mut self, places: &[AbsolutePath], name: &str, rest: &[Value]) -> Done {
        let Some((first, others)) = places.split_first() else { return Done::quiet() };
        let call = |machine: &mut Self| {
            let all = std::mem::replace(&mut machine.shell.cwd, ShellDirectory::Here(first.clone()));
            let done = machine.call_command(name, rest);
            machine.shell.cwd = all;
            done
        };
        if others.is_empty() {
            return call(self);
        }
        self.either(Leaving::Doubts, call, |machine| machine.call_in_each(others, name, rest))
    }

    /// Calls a built-in or a program.
    fn call_command(&mut self, name: &str, rest: &[Value]) -> Done {
        if let ShellDirectory::OneOf(places) = &self.shell.cwd
            && places.len() <= PLACES
            && self.may_run_what_stands_here(name)
        {
            let places = places.clone();
            return self.call_in_each(&places, name, rest);
        }
        self.see_through(name, rest);
        self.note_attack_tool(name);
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
        // A program of the system that was found by its path would be found there for ever.
        let is_found = self.position.programs_found.iter().any(|found| found == name);
        if !is_found {
            for file in self.perhaps_in_own_path(name) {
                self.possibly(|machine| machine.call_path(file.as_str(), rest));
            }
            if let Some(file) = self.found_in_own_path(name) {
                let exit = self.call_path(file.as_str(), rest);
                return Done::next(exit);
            }
        }
        // What is not found is given to this function, in bash and in zsh.
        for handler in ["command_not_found_handle", "command_not_found_handler"] {
            if let Some(body) = self.shell.functions.get(handler).map(Rc::clone)
                && !self.position.aliases_running.iter().any(|running| running == handler)
            {
                let words: Vec<Value> =
                    std::iter::once(Value::exact(name)).chain(rest.iter().cloned()).collect();
                self.position.aliases_running.push(handler.to_owned());
                self.possibly(|machine| {
                    machine.in_subshell(|machine| machine.call_function(handler, &body, &words))
                });
                self.position.aliases_running.retain(|running| running != handler);
            }
        }
        if self.call.rests_on_unseen && !name.is_empty() {
            // What stands behind it in a variable may make another name of it.
            let known = Value::Between { prefix: name.to_owned(), suffix: String::new() };
            self.call_functions_that_fit(&known, rest);
        }
        let exit = self.call_program(name, name, rest);
        if name == "kill" && signals::may_end_shell(rest) {
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
        self.path_set_here().into_iter().find_map(|directory| {
            let file = directory.join(name);
            let counts = self.is_own(&directory) || self.tree.is_new(&file);
            (counts && matches!(self.entry_behind_links(&file), Entry::File(_))).then_some(file)
        })
    }

    /// The files of that name that may stand there because of this command, in front of the one that does.
    fn perhaps_in_own_path(&self, name: &str) -> Vec<AbsolutePath> {
        let files = self.path_set_here().into_iter().map(|directory| directory.join(name));
        files
            .take_while(|file| !matches!(self.entry_behind_links(file), Entry::File(_)))
            .filter(|file| self.tree.is_known(file) && self.entry(file) == Entry::Unknown)
            .collect()
    }

    fn entry_behind_links(&self, file: &AbsolutePath) -> Entry {
        let aims = self.paths_through(&Value::exact(file.as_str()));
        aims.iter().find_map(|aim| aim.target.path()).map_or(Entry::Unknown, |path| self.entry(path))
    }

    /// The directories of `PATH`, as far as the command itself has set it and they are known.
    fn path_set_here(&self) -> Vec<AbsolutePath> {
        let Some(VariableContent::Scalar(path)) = self.shell.variables.get("PATH").map(|path| &path.content)
        else {
            return Vec::new();
        };
        let texts = path.alternatives().map_or_else(|| vec![path.known_start()], <[String]>::to_vec);
        let directories = texts.iter().flat_map(|text| text.split(':').take(DIRECTORIES));
        directories
            .filter_map(|directory| {
                self.paths_through(&Value::exact(directory)).first()?.target.path().cloned()
            })
            .collect()
    }

    /// Whether a directory is one in which the agent works: of the workspace, or for temporary files.
    fn is_own(&self, directory: &AbsolutePath) -> bool {
        directory.is_within(&self.world.place().workspace) || self.is_temporary(directory)
    }

    /// Runs a program that is named by a path.
    fn call_path(&mut self, name: &str, rest: &[Value]) -> Exit {
        self.note_child();
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
            self.position.programs_found.push(base.clone());
            let exit = self.call_name(&base, rest, Lookup::NoFunctions).exit();
            self.position.programs_found.pop();
            return exit;
        }
        // Under another name it is still the same program.
        let original = self.copies.get(path.as_str()).cloned().or_else(|| {
            let is_unknown = !self.knows(&base);
            system_program(&path).or_else(|| guard_program(&path)).filter(|_| is_unknown).map(str::to_owned)
        });
        if let Some(original) = original {
            return self.call_program(&original, name, rest);
        }
        // A program that was installed is what its name says, also when it is a script that starts another.
        let is_installed = in_programs
            && !path.is_within(&self.world.place().workspace)
            && !self.is_temporary(&path)
            && !self.tree.is_new(&path)
            && self.knows(&base);
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
            Language::Started | Language::Shell if is_installed => self.call_program(base, name, rest),
            Language::Started => {
                let words = self.started_by_first_line(path, &value, rest);
                self.list_command(base, rest);
                self.run_words(&words.unwrap_or_default(), self.input.clone())
            }
            Language::Shell => self.run_file(&value, rest),
            Language::Other(_) if in_programs && self.knows(base) => self.call_program(base, name, rest),
            // Whatever its name says: without a first line the kernel does not start it, and a shell reads it as its own language.
            Language::Other(_) => {
                self.list_command(base, rest);
                self.run_script(ShellProgram::Bash, &value, rest, self.input.clone())
            }
            Language::Unknown => {
                let known = self.knows(base);
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
                    if !missing && self.is_namesake(path, base) {
                        self.caused_by(base, |machine| {
                            machine.opaque(format!(
                                "`{name}` is called as a program of the system and lies among files of the agent, so that its name says nothing"
                            ));
                        });
                    }
                    return self.call_program(base, name, rest);
                }
                self.list_command(base, rest);
                let count = self.effect_count();
                let mut read = Output::Nothing;
                if self.is_among_made(path) {
                    self.unread(format!("`{name}` may be one of the files that this command makes"));
                } else if missing {
                    self.not_there(name, path);
                } else {
                    self.caused_by(base, |machine| {
                        machine.opaque(format!("what `{name}` does is not known"));
                    });
                    read = self.note_secrets_of_unknown(rest).made_over();
                }
                self.note_unseen_writes(&self.call_of(base, name, rest), count);
                Exit { output: Exit::unknown().output.followed_by(read), ..Exit::unknown() }
            }
        }
    }

    /// Whether a program in the workspace or among temporary files is called like one of the system, which it is not: nobody needs another
    /// `ls` there. What environments of a language hold by the name of its interpreter is such a program.
    fn is_namesake(&self, path: &AbsolutePath, base: &str) -> bool {
        let Some(directory) = path.parent() else { return false };
        let is_environment = || {
            is_among_programs(path.as_str())
                && (self.entry(&directory.join("activate")) != Entry::Missing
                    || directory.name() == Some(".bin"))
        };
        let is_of_system = |place: &str| {
            AbsolutePath::new(place).is_some_and(|place| {
                matches!(self.entry(&place.join(base)), Entry::File(_) | Entry::Symlink(_))
            })
        };
        self.is_own(&directory) && ["/usr/bin", "/bin"].into_iter().any(is_of_system) && !is_environment()
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
    pub fn call_program(&mut self, base: &str, written: &str, rest: &[Value]) -> Exit {
        self.list_command(base, rest);
        self.note_occasion(base);
        let gathered = std::mem::replace(&mut self.call.gathered, Output::Nothing);
        let told = std::mem::replace(&mut self.call.told, Output::Nothing);
        let named = std::mem::take(&mut self.call.named);
        let opened = std::mem::take(&mut self.call.opened);
        let outer = std::mem::replace(&mut self.call.cause, base.to_owned());
        let with_options = self.options_of_variables(base, rest);
        let rest = with_options.as_deref().unwrap_or(rest);
        let call = self.call_of(base, written, rest);
        self.run_options(&call);
        self.run_carried(&call);
        self.note_endless(&call);
        left_open::note(self, &call);
        self.note_truncated(&call);
        let outer_showing = std::mem::replace(&mut self.flow.sweep.showing, filters::showing(&call));
        let before = filters::fold(self, &call);
        let (count, commands) = (self.effect_count(), self.findings.commands.len());
        let around = self.surround_with_input();
        let program = self.table.entry(base, self.catalogue);
        let mut exit = if let Some(program) = &program {
            let table = self.table;
            self.in_ways_of_files(|machine| table.run(machine, program, call.clone()))
        } else {
            self.opaque(format!("`{written}` is not in the catalogue"));
            self.table.follow_by_custom(self, &call);
            let read = self.note_secrets_of_unknown(rest).made_over();
            Exit { output: Exit::unknown().output.followed_by(read), ..Exit::unknown() }
        };
        self.note_secrets_complained_of(&call);
        // With what it came in with goes what it was told while it ran.
        self.leave_around(around.start..usize::MAX);
        // Whatever else is wrong with its words, most programs explain themselves.
        if exit.status == Status::Failure && rest.iter().any(asks_for_explanation) {
            exit.status = Status::Open;
        }
        self.position.whole.written = self.whole_output(&call);
        self.note_unread_words(&call, program.as_deref(), count, commands);
        self.note_taken_from_person(&call, count);
        self.flow.sweep.showing = outer_showing;
        self.note_unseen_writes(&call, count);
        self.note_secret_written(count);
        self.mark_origin(&call, count);
        self.call.opened = opened;
        self.call.cause = outer;
        let read = std::mem::replace(&mut self.call.gathered, gathered);
        let named = std::mem::replace(&mut self.call.named, named);
        let told = std::mem::replace(&mut self.call.told, told);
        let exit = self.answered(&call, before, exit, (read, &named));
        Exit { output: told.followed_by(exit.output), ..exit }
    }

    /// Whether a call is of a program that was installed: found by its name, or named where programs are.
    fn is_installed(&self, call: &Call) -> bool {
        if !call.written.contains('/') {
            return !self.path_set_here().iter().any(|directory| self.is_own(directory));
        }
        let Some(path) = self.one_path_through(&Value::exact(&call.written)) else { return false };
        is_among_programs(&call.written) && !self.is_own(&path) && !self.tree.is_new(&path)
    }

    /// What a program answers: what was worked out before it ran, else what its handler says, and what it read and named.
    fn answered(
        &mut self,
        call: &Call,
        before: Option<Exit>,
        exit: Exit,
        (read, named): (Output, &[Value]),
    ) -> Exit {
        let mut exit = match before {
            Some(folded) => folded,
            None if let Some(output) = taken_from_person::output(call) => Exit { output, ..exit },
            None => Exit { output: filters::class(self, call, exit.output, read), ..exit },
        };
        if exit.output == Output::Unknown
            && let Some(names) = filters::named(self, call)
        {
            exit.output = names;
        } else if let Some(names) = filters::named_elsewhere(self, call, &exit.output, named) {
            exit.output = names;
        }
        if exit.output == Output::Unknown && prepares_shell(call) && self.is_installed(call) {
            exit.output = Output::Setup(call.program.clone());
        }
        self.tell(call, &mut exit);
        self.note_handed_texts(call, &exit.output);
        self.flow.veiled |=
            !matches!(exit.output, Output::Text(Value::Exact(_)) | Output::Nothing) && filters::decodes(call);
        exit
    }

    /// Runs words with something on the standard input, in a subshell.
    pub fn run_words(&mut self, words: &[Value], input: Input) -> Exit {
        let outer = std::mem::replace(&mut self.input, input);
        self.budget.depth += 1;
        let done = if self.budget.depth > 60 {
            self.unread("commands are nested too deeply to be followed");
            Done::next(Exit::unknown())
        } else {
            self.in_subshell(|machine| machine.call_words(words, Lookup::NoFunctions))
        };
        self.budget.depth -= 1;
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

/// Whether a word makes most programs say what they are and end well, also when it is cut short (`--he`).
fn asks_for_explanation(word: &Value) -> bool {
    word.as_exact().is_some_and(|text| {
        text.len() > 3 && ["--help", "--version"].iter().any(|option| option.starts_with(text))
    })
}
