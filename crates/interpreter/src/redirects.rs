//! Redirections: what they open, and where output goes.

use std::collections::BTreeMap;

use checkrein_shell::{Command, Descriptor, Part, Redirect, RedirectOperation, Redirected, Word};

use super::call::Input;
use super::descriptors::{Opening, Sink, number_of};
use super::draft::AimedTarget;
use super::exit::{Exit, Output};
use super::filters::Lines;
use super::handed_texts::HandedTexts;
use super::machine::{Absence, Machine};
use super::secrets::variable_of;
use super::shell::{ShellDirectory, Speech};
use super::statements::{Done, Flow};
use super::sweeps::Remainder;
use super::value::Value;
use super::ways::Fallen;
use crate::effect::EffectKind;
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::Entry;

/// The connection that a word opens: `/dev/tcp/host/port`.
fn connected(value: &Value) -> Option<String> {
    let text = value.as_exact()?;
    (text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/")).then(|| text.to_owned())
}

/// Whether what a command wrote can be read from what it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As far as it is known at all.
    Plain,
    /// It was decoded, and nobody has read it.
    Veiled,
}

/// What a list of redirections opened.
struct Opened {
    /// By number, those that the list names.
    descriptors: BTreeMap<u32, Opening>,
    /// Those that stay open after the command, because the shell chose their numbers.
    lasting: Vec<u32>,
    /// Set when a file is known not to open, so that the command does not run; what it would read if there was one.
    missing: Option<Input>,
    /// Whether everything can be opened for certain.
    sure: bool,
    /// The descriptor from which the standard input goes on reading.
    shared: Option<u32>,
    /// The file that the standard input begins with.
    whole: Option<AbsolutePath>,
}

/// What is read of a list that is not there. Where it was to hold a secret, that is what it holds by then.
fn emptied(input: &Input) -> Input {
    match input {
        Input::Secret(_) => input.clone(),
        Input::Inherited | Input::Text(_) | Input::Network(_) | Input::Local(_) | Input::Unknown => {
            Input::Text(Value::exact(""))
        }
    }
}

/// Whether a redirection without a number, or with that of the standard input, says what is read.
fn reads(operation: &RedirectOperation) -> bool {
    match operation {
        RedirectOperation::Read(_)
        | RedirectOperation::HereString(_)
        | RedirectOperation::HereDocument(_)
        | RedirectOperation::ReadWrite(_)
        | RedirectOperation::Duplicate(_) => true,
        RedirectOperation::Write(_)
        | RedirectOperation::Clobber(_)
        | RedirectOperation::Append(_)
        | RedirectOperation::WriteAll(_)
        | RedirectOperation::AppendAll(_) => false,
    }
}

impl Opened {
    fn failing(self, input: Input) -> Self {
        Self { lasting: Vec::new(), missing: Some(input), sure: true, shared: None, whole: None, ..self }
    }

    /// Makes one stream of what goes into one file by several numbers: by the standard output, and those that were copied from it.
    fn join_streams(&mut self, level: usize) {
        let Some(Sink::Files { aims, .. }) = self.descriptors.get(&1).map(|opening| opening.sink.clone())
        else {
            return;
        };
        for (_, opening) in self.descriptors.iter_mut().filter(|(number, _)| **number != 1) {
            if matches!(&opening.sink, Sink::Files { aims: others, .. } if *others == aims) {
                opening.sink = Sink::Output(level);
            }
        }
    }
}

impl Machine<'_> {
    /// Runs `work` with redirections in force.
    pub(super) fn with_redirects(
        &mut self,
        redirects: &[Redirect],
        work: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        self.with_redirects_read(redirects, self.flow.sweep.left, work)
    }

    /// The same, of a command that leaves no more of its input than `left`.
    pub(super) fn with_redirects_read(
        &mut self,
        redirects: &[Redirect],
        left: Remainder,
        work: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        if redirects.is_empty() {
            let done = work(self);
            return self.settled(done);
        }
        let outer = std::mem::replace(&mut self.flow.sweep.left, left);
        let presumed_files = self.presumed_files;
        let mut opened = self.open(redirects);
        self.flow.sweep.left = outer;
        if let Some(input) = opened.missing {
            // The message names what cannot be opened.
            let told = match opened.descriptors.remove(&2) {
                Some(opening) => self.tell_errors(opening.sink),
                None => self.tell_on(2),
            };
            self.suppose(Absence::Path, |machine| {
                machine.input = input;
                work(machine)
            });
            self.absent = Some(Absence::Path);
            return Done::next(Exit { output: told, ..Exit::failure() });
        }
        opened.join_streams(self.position.standard_outputs + 1);
        let may_fail = self.presumed_files > presumed_files;
        let sure = opened.sure;
        let unopened = (!sure).then(|| Fallen::of(self));
        let mut before: Vec<(u32, Option<Opening>)> = Vec::new();
        let mut outer = None;
        let mut given = None;
        let handed = self.position.handed.clone();
        let mut sink = None;
        let shared = opened.shared;
        for (number, opening) in opened.descriptors {
            match number {
                0 => {
                    if let Some(input) = opening.input {
                        outer = Some(std::mem::replace(&mut self.input, input));
                        given = std::mem::replace(&mut self.position.whole.given, opened.whole.clone());
                        self.position.handed = HandedTexts::default();
                    }
                }
                1 => sink = Some(opening.sink),
                _ if opened.lasting.contains(&number) => self.keep_open(number, opening),
                _ => {
                    before.push((number, self.shell.descriptors.get(&number).cloned()));
                    self.keep_open(number, opening);
                }
            }
        }
        let host = sink.as_ref().and_then(Sink::host);
        let outlet = match host.clone() {
            Some(host) => self.flow.outlet.replace(host),
            None => self.flow.outlet.clone(),
        };
        let veiled = std::mem::take(&mut self.flow.veiled);
        let kept = usize::from(matches!(sink, Some(Sink::Files { .. })));
        self.position.keeping += kept;
        let discarding = self.position.discarding;
        self.position.discarding = sink.as_ref().map_or(discarding, Sink::is_nothing);
        let replaced = sink.is_some().then(|| self.shell.descriptors.remove(&1));
        self.position.standard_outputs += usize::from(sink.is_some());
        let mut done = work(self);
        if let Some(replaced) = replaced {
            done.output = done.output.followed_by(self.take_passed());
            match replaced {
                Some(opening) => self.shell.descriptors.insert(1, opening),
                None => self.shell.descriptors.remove(&1),
            };
            self.position.standard_outputs -= 1;
        }
        self.position.keeping -= kept;
        self.position.discarding = discarding;
        let content =
            if std::mem::replace(&mut self.flow.veiled, veiled) { Reading::Veiled } else { Reading::Plain };
        self.flow.outlet = outlet;
        for (number, opening) in before {
            match opening {
                Some(opening) => self.shell.descriptors.insert(number, opening),
                None => self.shell.descriptors.remove(&number),
            };
        }
        if let Some(outer) = outer {
            self.position.whole.given = given;
            self.position.handed = handed;
            let left = std::mem::replace(&mut self.input, outer);
            // Both numbers stand for one place in what is read.
            if let Some(opening) = shared.and_then(|number| self.shell.descriptors.get_mut(&number)) {
                opening.input = Some(left);
            }
        }
        match sink {
            None => done = self.settled(done),
            Some(sink) => {
                let output = std::mem::replace(&mut done.output, Output::Nothing);
                if let Some(host) = &host {
                    self.note_sent(&output, host);
                }
                done.output = self.put_into(sink, output, content);
            }
        }
        match unopened {
            Some(otherwise) => {
                let told = self.tell_on(2);
                done.output = done.output.followed_by(told);
                self.perhaps_never_ran(otherwise, done)
            }
            None if may_fail && done.flow == Flow::Next && self.absent.is_none() => {
                self.absent = Some(Absence::Changed);
                done
            }
            None => done,
        }
    }

    /// Runs a command of several with redirections in force.
    pub(super) fn run_redirected(&mut self, redirected: &Redirected) -> Done {
        let (supposing, presumed_files) = (self.position.supposing, self.presumed_files);
        let is_loop_over_file = matches!(*redirected.command, Command::While(_))
            && matches!(redirected.redirects.as_slice(), [only] if matches!(only.operation, RedirectOperation::Read(_)));
        self.with_redirects(&redirected.redirects, |machine| {
            // A list that is not there has no lines, unless something that ran before may have brought it.
            let presumed = machine.presumed_files > presumed_files;
            if is_loop_over_file && machine.position.supposing > supposing && !presumed {
                machine.input = emptied(&machine.input);
            }
            machine.run_command(&redirected.command)
        })
    }

    /// What a command wrote that names no other place for it: it goes where `exec` has led the standard output of the shell.
    fn settled(&mut self, mut done: Done) -> Done {
        if done.output == Output::Nothing {
            return done;
        }
        let Some(opening) = self.shell.descriptors.get(&1) else { return done };
        let sink = match opening.sink.clone() {
            // What it held before is gone already.
            Sink::Files { aims, .. } => Sink::Files { aims, append: true },
            sink @ (Sink::Output(_) | Sink::Errors | Sink::Elsewhere) => sink,
        };
        let output = std::mem::replace(&mut done.output, Output::Nothing);
        done.output = self.put_into(sink, output, Reading::Plain);
        done
    }

    /// Hands an output to where it goes; answers what of it goes to the present standard output.
    pub(super) fn put_into(&mut self, sink: Sink, output: Output, content: Reading) -> Output {
        match sink {
            Sink::Output(level) if level == self.position.standard_outputs => {
                if self.shell.descriptors.contains_key(&1) {
                    self.pass(level, output);
                    return Output::Nothing;
                }
                return output;
            }
            Sink::Output(level) => self.pass(level, output),
            Sink::Errors | Sink::Elsewhere => {}
            Sink::Files { aims, append } => self.put_into_files(&aims, append, output, content),
        }
        Output::Nothing
    }

    /// Carries out the redirections of `exec` without a command: they hold for the rest of the shell.
    pub(super) fn redirect_shell(&mut self, redirects: &[Redirect]) -> Exit {
        let opened = self.open(redirects);
        if opened.missing.is_some() {
            return Exit::failure();
        }
        let sure = opened.sure;
        for (number, opening) in opened.descriptors {
            match (number, &opening.input) {
                (0, Some(input)) => {
                    self.input = input.clone();
                    self.shell.input_source.clone_from(&opening.source);
                }
                (0, None) => {}
                (1, _) => {
                    self.flow.outlet = opening.sink.host().or_else(|| self.flow.outlet.take());
                    if opening.sink == Sink::Output(self.position.standard_outputs) {
                        self.shell.descriptors.remove(&1);
                    } else {
                        self.keep_open(1, opening);
                    }
                }
                (_, _) => self.keep_open(number, opening),
            }
        }
        if sure { Exit::success() } else { Exit::silent() }
    }

    /// Remembers that an output went into files.
    fn put_into_files(&mut self, aims: &[AimedTarget], append: bool, output: Output, content: Reading) {
        if !aims.is_empty() {
            self.note_captured(&output);
            self.flow.into_files |= matches!(output, Output::Secret(_));
        }
        self.note_guard_copied(&output, aims);
        let (text, source) = match output {
            Output::Nothing => (Value::exact(""), None),
            Output::Text(value) => (value, None),
            Output::Network(url) => (Value::Unknown, Some(Output::Network(url))),
            // What variables hold is in the file from now on; of files it is told where they are read.
            variable @ Output::Secret(_) if variable_of(&variable).is_some() => {
                (Value::Unknown, Some(variable))
            }
            // Of one that nobody named it is told where the file is read.
            found @ Output::Secret(_) if self.is_untold(&found) => (Value::Unknown, Some(found)),
            list @ Output::Local(_) if Lines::elsewhere(&list).is_some() => (Value::Unknown, Some(list)),
            Output::Secret(_) | Output::Local(_) | Output::Setup(_) | Output::Unknown => {
                (Value::Unknown, (content == Reading::Veiled).then_some(Output::Unknown))
            }
        };
        for aim in aims {
            let Some(path) = aim.target.path().cloned() else { continue };
            let (held, before) = if append {
                (self.text(&path).followed_by(&text), self.source(&path))
            } else {
                (text.clone(), None)
            };
            if !append {
                self.note_emptied(&path, &text);
            }
            self.hear_through_pipe(&path, &text);
            self.remember_written(&aim.target, super::expand::bounded(held));
            if let Some(source) = source.clone().or(before) {
                self.flow.sources.insert(path.as_str().to_owned(), source);
            }
        }
    }

    /// Remembers that files now hold what came over the network.
    pub fn remember_source(&mut self, aims: &[AimedTarget], output: &Output) {
        self.flow.into_files |= !aims.is_empty() && matches!(output, Output::Secret(_));
        for aim in aims {
            if let Some(path) = aim.target.path() {
                self.flow.sources.insert(path.as_str().to_owned(), output.clone());
            }
        }
    }

    fn open(&mut self, redirects: &[Redirect]) -> Opened {
        let mut opened = Opened {
            descriptors: BTreeMap::new(),
            lasting: Vec::new(),
            missing: None,
            sure: true,
            shared: None,
            whole: None,
        };
        for redirect in redirects {
            let number = match &redirect.descriptor {
                Some(Descriptor::Number(number)) => Some(*number),
                Some(Descriptor::Variable(name)) => Some(self.chosen_number(name, redirect, &mut opened)),
                None => None,
            };
            if matches!(number, None | Some(0)) && reads(&redirect.operation) {
                opened.whole = None;
            }
            match &redirect.operation {
                RedirectOperation::Read(word) => {
                    let value = self.expand_text(word);
                    if let Some(path) = self.one_path_through(&value) {
                        self.rest_on_text(&path);
                    }
                    if self.is_missing(&value) {
                        return opened.failing(self.skim(&value).into_input());
                    }
                    let own = self.one_path_through(&value).as_ref().and_then(number_of);
                    let is_inherited = own == Some(0)
                        && !opened.descriptors.contains_key(&0)
                        && self
                            .descriptor(0)
                            .and_then(|opening| opening.input)
                            .is_none_or(|input| input == Input::Inherited);
                    let input = if is_inherited { Input::Inherited } else { self.read(&value).into_input() };
                    opened.sure &= self.is_readable(&value);
                    // The path of another descriptor is what that was opened as.
                    let source = self.one_path_through(&value).and_then(|path| match number_of(&path) {
                        Some(number) => self.opened_in(number, &opened),
                        None => Some(path),
                    });
                    if matches!(number, None | Some(0)) {
                        opened.whole.clone_from(&source);
                    }
                    let directory = match self.directory(&value) {
                        ShellDirectory::Here(path) => {
                            Some(path).filter(|path| self.entry(path) == Entry::Directory)
                        }
                        ShellDirectory::OneOf(_) | ShellDirectory::Below(_) | ShellDirectory::Unknown => None,
                    };
                    let opening = Opening { directory, source, ..Opening::to_read(input) };
                    opened.descriptors.insert(number.unwrap_or(0), opening);
                }
                RedirectOperation::HereString(word) => {
                    let outputs = self.call.substituted.len();
                    let value = self.expand_text(word);
                    let new = self.call.substituted.get(outputs..).unwrap_or_default();
                    let secret = new.iter().find(|output| matches!(output, Output::Secret(_)));
                    let says_nothing = value == Value::Unknown || value.as_exact() == Some("");
                    let input = match secret.filter(|_| says_nothing) {
                        Some(secret) => secret.clone().into_input(),
                        None => self.here_text(value.followed_by(&Value::exact("\n"))),
                    };
                    opened.descriptors.insert(number.unwrap_or(0), Opening::to_read(input));
                }
                RedirectOperation::HereDocument(word) => {
                    let value = self.expand_text(word);
                    let input = self.here_text(value);
                    opened.descriptors.insert(number.unwrap_or(0), Opening::to_read(input));
                }
                RedirectOperation::Write(word) | RedirectOperation::Clobber(word) => {
                    let value = self.expand_place(word);
                    let protected = self.shell.options.noclobber
                        && matches!(redirect.operation, RedirectOperation::Write(_));
                    if protected && self.is_regular(&value) {
                        return opened.failing(self.input.clone());
                    }
                    if self.fails_to_open(&value, &mut opened) {
                        return opened.failing(self.input.clone());
                    }
                    let opening = self.open_to_write(&value, false, &opened);
                    opened.descriptors.insert(number.unwrap_or(1), opening);
                }
                RedirectOperation::Append(word) => {
                    let value = self.expand_place(word);
                    if self.fails_to_open(&value, &mut opened) {
                        return opened.failing(self.input.clone());
                    }
                    let opening = self.open_to_write(&value, true, &opened);
                    opened.descriptors.insert(number.unwrap_or(1), opening);
                }
                RedirectOperation::ReadWrite(word) => {
                    let value = self.expand_place(word);
                    opened.sure &= self.can_open_to_write(&value) == Some(true);
                    let read = match number {
                        None | Some(0) if self.is_regular(&value) => Some(self.read(&value).into_input()),
                        _ => None,
                    };
                    let mut opening = self.open_to_write(&value, true, &opened);
                    opening.input = read.or(opening.input);
                    opening.input = opening.input.or(Some(Input::Unknown));
                    opened.descriptors.insert(number.unwrap_or(0), opening);
                }
                RedirectOperation::WriteAll(word) | RedirectOperation::AppendAll(word) => {
                    let value = self.expand_place(word);
                    if self.fails_to_open(&value, &mut opened) {
                        return opened.failing(self.input.clone());
                    }
                    let append = matches!(redirect.operation, RedirectOperation::AppendAll(_));
                    let opening = self.open_to_write(&value, append, &opened);
                    opened.descriptors.insert(2, opening.clone());
                    opened.descriptors.insert(1, opening);
                }
                RedirectOperation::Duplicate(word) => {
                    let value = self.expand_text(word);
                    // Who writes to what is closed fails.
                    let other = value.as_exact().and_then(|text| text.parse::<u32>().ok());
                    opened.sure &= other.is_some_and(|other| self.is_open(other, &opened));
                    let number = number.unwrap_or(1);
                    if number == 0 {
                        opened.shared = other.filter(|other| *other > 2);
                    }
                    if let Some(opening) = self.duplicated(&value, number, &opened) {
                        opened.descriptors.insert(number, opening);
                    }
                }
            }
        }
        opened
    }

    /// The number of a descriptor that is named by a variable: chosen by the shell, or that which is closed.
    fn chosen_number(&mut self, name: &str, redirect: &Redirect, opened: &mut Opened) -> u32 {
        let closes = matches!(&redirect.operation, RedirectOperation::Duplicate(word)
            if matches!(word.parts.as_slice(), [Part::Literal(text)] if text == "-"));
        let held = self.variable(name).and_then(|value| value.as_exact()?.parse().ok());
        if let (true, Some(number)) = (closes, held) {
            return number;
        }
        let taken = opened.descriptors.keys().next_back().map_or(0, |last| last.saturating_add(1));
        let number = self.next_descriptor().max(taken);
        self.assign(name, Value::Exact(number.to_string()));
        opened.lasting.push(number);
        number
    }

    /// What `number>&word` and `number<&word` make of the descriptor; `None` when it stays as it is.
    fn duplicated(&mut self, word: &Value, number: u32, opened: &Opened) -> Option<Opening> {
        let Some(text) = word.as_exact() else {
            return Some(Opening::to_read(Input::Unknown));
        };
        let digits = text.trim_end_matches('-');
        if text == "-" {
            return Some(Opening::closed());
        }
        match digits.parse::<u32>() {
            Ok(other) => {
                let known = opened.descriptors.get(&other).cloned().or_else(|| self.descriptor(other));
                let known = known.unwrap_or_else(Opening::closed).copied();
                // What cannot be read leaves the input as it was.
                (number != 0 || known.input.is_some()).then_some(known)
            }
            Err(_) => Some(self.open_to_write(word, false, opened)),
        }
    }

    /// Whether a descriptor is known to be open.
    fn is_open(&self, number: u32, opened: &Opened) -> bool {
        let known = opened.descriptors.get(&number).cloned().or_else(|| self.descriptor(number));
        number <= 2 || known.is_some_and(|opening| opening != Opening::closed())
    }

    /// What was opened to be read under a number, by the redirections so far or before them.
    fn opened_in(&self, number: u32, opened: &Opened) -> Option<AbsolutePath> {
        match opened.descriptors.get(&number) {
            Some(opening) => opening.source.clone(),
            None => self.opened_to_read(number),
        }
    }

    /// Opens a file or a connection for writing.
    fn open_to_write(&mut self, value: &Value, append: bool, opened: &Opened) -> Opening {
        let input = connected(value).map(Input::Network);
        Opening { input, sink: self.open_file(value, append, opened), directory: None, source: None }
    }

    /// The file that a word behind `>` names. bash splits the word and carries out its patterns, and refuses where that makes several; zsh
    /// writes each of them, and dash takes the word as it is.
    fn expand_place(&mut self, word: &Word) -> Value {
        let is_changed = word.parts.iter().any(|part| match part {
            Part::Literal(text) => text.contains(['*', '?', '[']),
            Part::Bytes(_) | Part::Parameter(_) | Part::CommandSubstitution(_) | Part::Arithmetic(_) => true,
            Part::Quoted(_) | Part::DoubleQuoted(_) | Part::ProcessSubstitution(..) | Part::Braces(_) => {
                false
            }
        });
        if let Some(places) = self.braces_in(word) {
            self.expand_text(word);
            return places;
        }
        if !is_changed || self.shell.speech == Speech::Posix {
            return self.expand_text(word);
        }
        let loose = self.loose;
        let values = self.expand_words(std::slice::from_ref(word));
        self.loose = loose;
        match values.as_slice() {
            [] => Value::exact(""),
            [only] => only.clone(),
            several => {
                let whole = self.possibly(|machine| machine.expand_text(word));
                let texts: Option<Vec<String>> =
                    several.iter().chain([&whole]).map(|value| value.as_exact().map(str::to_owned)).collect();
                texts.map_or(Value::Unknown, Value::one_of)
            }
        }
    }

    /// What a word with braces stands for behind `>`: one of its words, where zsh writes each of them. Lists in lists are not known.
    fn braces_in(&self, word: &Word) -> Option<Value> {
        if self.shell.speech == Speech::Posix {
            return None;
        }
        let [Part::Literal(text)] = word.parts.as_slice() else { return None };
        let (before, behind) = text.split_once('{')?;
        let (inside, after) = behind.rsplit_once('}')?;
        // Numbers or letters.
        if inside.contains("..") && !inside.contains([',', '/', '{']) {
            return Some(Value::Glob(format!("{before}*{after}")));
        }
        if inside.contains(',') && inside.contains(['{', '}']) {
            return Some(Value::Unknown);
        }
        let home = self.world.place().home.as_str();
        let words = inside.split(',').map(|piece| {
            let text = format!("{before}{piece}{after}");
            match text.strip_prefix('~') {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
                Some(_) | None => text,
            }
        });
        inside.contains(',').then(|| Value::one_of(words.collect()))
    }

    fn here_text(&mut self, value: Value) -> Input {
        match value {
            Value::Unknown => match self.call.substituted.last() {
                Some(output) => output.clone().into_input(),
                None => Input::Text(Value::Unknown),
            },
            known => Input::Text(known),
        }
    }

    /// Whether a file that is to be written is known not to open, or not to be looked for because its name could not be expanded. That it was tried is an effect all the same: by then it may.
    fn fails_to_open(&mut self, value: &Value, opened: &mut Opened) -> bool {
        let can = if self.call.failed { Some(false) } else { self.can_open_to_write(value) };
        match can {
            Some(true) => false,
            None => {
                opened.sure = false;
                false
            }
            Some(false) => {
                let tree = self.tree.clone();
                self.possibly(|machine| machine.open_to_write(value, true, opened));
                self.tree = tree;
                true
            }
        }
    }

    /// Whether a file is there to be read for certain.
    fn is_readable(&self, value: &Value) -> bool {
        let aims = self.paths_through(value);
        value.as_exact().is_some()
            && aims.len() == 1
            && aims.iter().all(|aim| {
                aim.target.path().is_some_and(|path| {
                path.as_str() == "/dev/null"
                    || self.flow.ends.contains_key(path.as_str())
                    || matches!(self.entry(path), crate::world::Entry::File(facts) if facts.mode & 0o444 != 0 && self.may(path, crate::world::Right::Read))
            })
            })
    }

    /// Whether a word names a file that is known not to be there.
    fn is_missing(&self, value: &Value) -> bool {
        if self.tree.is_disturbed() || self.away.is_some() || value.as_exact().is_none_or(str::is_empty) {
            return false;
        }
        let aims = self.paths_through(value);
        aims.len() == 1
            && aims.iter().all(|aim| {
                aim.target.path().is_some_and(|path| {
                    !path.as_str().starts_with("/dev/")
                        && !path.as_str().starts_with("/proc/")
                        && self.entry(path) == crate::world::Entry::Missing
                })
            })
    }

    /// Whether a word names a file that is known to be there.
    fn is_regular(&self, value: &Value) -> bool {
        let aims = self.paths_through(value);
        !aims.is_empty()
            && aims.iter().all(|aim| {
                aim.target.path().is_some_and(|path| matches!(self.entry(path), crate::world::Entry::File(_)))
            })
    }

    /// What stands in a file to which something is appended: nothing where it is made by that.
    fn text_to_append_to(&self, path: &AbsolutePath) -> Value {
        let is_new = !self.tree.is_disturbed() && self.away.is_none() && self.entry(path) == Entry::Missing;
        if is_new { Value::exact("") } else { self.text(path) }
    }

    fn open_file(&mut self, value: &Value, append: bool, opened: &Opened) -> Sink {
        let aims = self.paths_through(value);
        let own = aims.iter().find_map(|aim| number_of(aim.target.path()?));
        let known =
            own.and_then(|own| opened.descriptors.get(&own).cloned().or_else(|| self.descriptor(own)));
        // What was opened to be read is opened once more, to be written.
        if let Some(path) = own.and_then(|own| self.opened_in(own, opened)) {
            return self.open_file(&Value::exact(path.as_str()), append, opened);
        }
        if let Some(opening) = known {
            return opening.copied().sink;
        }
        for aim in aims.clone() {
            if let Some(path) = aim.target.path().filter(|_| append) {
                self.rest_on_text(&path.clone());
            }
            let held = if append {
                aim.target.path().map_or(Value::Unknown, |path| self.text_to_append_to(path))
            } else {
                Value::exact("")
            };
            if append {
                let before = self.effect_count();
                self.call.appending = true;
                self.write_aim(aim, held);
                self.call.appending = false;
                self.amend(before, |effect| {
                    if effect.kind == EffectKind::FileModify && effect.nature == Nature::Ordinary {
                        effect.nature = Nature::AppendedByRedirection;
                        if effect.note.is_empty() {
                            "only adds at the end".clone_into(&mut effect.note);
                        }
                    }
                });
            } else {
                self.write_aim(aim, held);
            }
        }
        Sink::Files { aims, append }
    }
}
