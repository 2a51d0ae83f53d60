//! Redirections: what they open, and where output goes.

use checkrein_shell::{Descriptor, Redirect, RedirectOperation};

use super::call::Input;
use super::draft::Aim;
use super::exit::Output;
use super::machine::{Absence, Machine};
use super::statements::Done;
use super::value::Value;

/// Where a descriptor leads.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sink {
    /// To the standard output as it was.
    Output,
    /// To the standard error as it was.
    Errors,
    /// Nowhere that is looked at.
    Elsewhere,
    /// Into files, at their ends or over what they held.
    Files { aims: Vec<Aim>, append: bool },
}

/// The connection that a word opens: `/dev/tcp/host/port`.
fn connected(value: &Value) -> Option<String> {
    let text = value.as_exact()?;
    (text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/")).then(|| text.to_owned())
}

/// What a list of redirections opened.
struct Opened {
    input: Option<Input>,
    sinks: [Sink; 2],
    /// Set when a file is known not to open, so that the command does not run; what it would read if there was one.
    missing: Option<Input>,
}

impl Machine<'_> {
    /// Runs `work` with redirections in force.
    pub(super) fn with_redirects(
        &mut self,
        redirects: &[Redirect],
        work: impl FnOnce(&mut Self) -> Done,
    ) -> Done {
        if redirects.is_empty() {
            return work(self);
        }
        let opened = self.open(redirects);
        if let Some(input) = opened.missing {
            self.suppose(Absence::Path, |machine| {
                machine.input = input;
                work(machine)
            });
            return Done::next(super::exit::Exit::failure());
        }
        let outer = match &opened.input {
            Some(input) => Some(std::mem::replace(&mut self.input, input.clone())),
            None => None,
        };
        let kept = usize::from(matches!(opened.sinks.first(), Some(Sink::Files { .. })));
        self.keeping += kept;
        let mut done = work(self);
        self.keeping -= kept;
        if let Some(outer) = outer {
            self.input = outer;
        }
        let [output, _] = opened.sinks;
        match output {
            Sink::Output => {}
            Sink::Errors | Sink::Elsewhere => done.output = Output::Nothing,
            Sink::Files { aims, append } => {
                let text = match std::mem::replace(&mut done.output, Output::Nothing) {
                    Output::Nothing => Value::exact(""),
                    Output::Text(value) => value,
                    Output::Network(url) => {
                        self.remember_source(&aims, &Output::Network(url));
                        Value::Unknown
                    }
                    Output::Secret(_) | Output::Local(_) | Output::Unknown => Value::Unknown,
                };
                for aim in &aims {
                    let Some(path) = aim.target.path().cloned() else { continue };
                    let held = if append { self.text(&path).followed_by(&text) } else { text.clone() };
                    self.remember_written(&aim.target, super::expand::bounded(held));
                }
            }
        }
        done
    }

    /// Remembers that files now hold what came over the network.
    pub(crate) fn remember_source(&mut self, aims: &[Aim], output: &Output) {
        for aim in aims {
            if let Some(path) = aim.target.path() {
                self.sources.insert(path.as_str().to_owned(), output.clone());
            }
        }
    }

    fn open(&mut self, redirects: &[Redirect]) -> Opened {
        let mut opened = Opened { input: None, sinks: [Sink::Output, Sink::Errors], missing: None };
        // A connection that was opened for output; `0>&1` then reads from it too.
        let mut connection: Option<String> = None;
        for redirect in redirects {
            if let Some(Descriptor::Variable(name)) = &redirect.descriptor {
                self.assign(name, Value::Unknown);
            }
            let number = match &redirect.descriptor {
                Some(Descriptor::Number(number)) => Some(*number),
                Some(Descriptor::Variable(_)) => Some(9),
                None => None,
            };
            match &redirect.operation {
                RedirectOperation::Read(word) => {
                    let value = self.expand_text(word);
                    if self.is_missing(&value) {
                        opened.missing = Some(self.skim(&value).into_input());
                        return opened;
                    }
                    let output = self.read(&value);
                    if number.unwrap_or(0) == 0 {
                        opened.input = Some(output.into_input());
                    }
                }
                RedirectOperation::HereString(word) => {
                    let value = self.expand_text(word).followed_by(&Value::exact("\n"));
                    opened.input = Some(self.here_text(value));
                }
                RedirectOperation::HereDocument(word) => {
                    let value = self.expand_text(word);
                    opened.input = Some(self.here_text(value));
                }
                RedirectOperation::Write(word) | RedirectOperation::Clobber(word) => {
                    let value = self.expand_text(word);
                    let protected = self.shell.options.noclobber
                        && matches!(redirect.operation, RedirectOperation::Write(_));
                    if protected && self.is_regular(&value) {
                        opened.missing = Some(self.input.clone());
                        return opened;
                    }
                    connection = connected(&value).or(connection);
                    let sink = self.open_file(&value, false);
                    set(&mut opened.sinks, number.unwrap_or(1), sink);
                }
                RedirectOperation::Append(word) => {
                    let value = self.expand_text(word);
                    let sink = self.open_file(&value, true);
                    set(&mut opened.sinks, number.unwrap_or(1), sink);
                }
                RedirectOperation::ReadWrite(word) => {
                    let value = self.expand_text(word);
                    self.open_file(&value, true);
                    connection = connected(&value).or(connection);
                    if number.unwrap_or(0) == 0 {
                        opened.input = Some(connected(&value).map_or(Input::Unknown, Input::Network));
                    }
                }
                RedirectOperation::WriteAll(word) | RedirectOperation::AppendAll(word) => {
                    let value = self.expand_text(word);
                    connection = connected(&value).or(connection);
                    let append = matches!(redirect.operation, RedirectOperation::AppendAll(_));
                    let sink = self.open_file(&value, append);
                    opened.sinks = [sink.clone(), sink];
                }
                RedirectOperation::Duplicate(word) => {
                    let value = self.expand_text(word);
                    let [output, errors] = &opened.sinks;
                    let sink = match value.as_exact() {
                        Some("1") => output.clone(),
                        Some("2") => errors.clone(),
                        Some(text)
                            if text == "-"
                                || text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit()) =>
                        {
                            Sink::Elsewhere
                        }
                        Some(_) => self.open_file(&value, false),
                        None => Sink::Elsewhere,
                    };
                    if number == Some(0) {
                        opened.input = connection.clone().map(Input::Network).or(opened.input);
                    } else {
                        set(&mut opened.sinks, number.unwrap_or(1), sink);
                    }
                }
            }
        }
        opened
    }

    fn here_text(&mut self, value: Value) -> Input {
        match value {
            Value::Unknown => match self.substituted.last() {
                Some(output) => output.clone().into_input(),
                None => Input::Text(Value::Unknown),
            },
            known => Input::Text(known),
        }
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

    fn open_file(&mut self, value: &Value, append: bool) -> Sink {
        let aims = self.paths_through(value);
        if aims.iter().any(|aim| aim.target.path().is_some_and(|path| path.as_str() == "/dev/stdout")) {
            return Sink::Output;
        }
        for aim in aims.clone() {
            let held = if append {
                aim.target.path().map_or(Value::Unknown, |path| self.text(path))
            } else {
                Value::exact("")
            };
            if append {
                let note = "only adds at the end";
                let before = self.effect_count();
                self.write_aim(aim, held);
                self.amend(before, |effect| {
                    if effect.note.is_empty() && effect.kind == crate::effect::EffectKind::FileModify {
                        note.clone_into(&mut effect.note);
                    }
                });
            } else {
                self.write_aim(aim, held);
            }
        }
        Sink::Files { aims, append }
    }
}

fn set(sinks: &mut [Sink; 2], number: u32, sink: Sink) {
    let [output, errors] = sinks;
    match number {
        1 => *output = sink,
        2 => *errors = sink,
        _ => {}
    }
}
