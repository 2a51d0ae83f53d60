//! File descriptors: what those above the standard ones lead to, and the paths under which the shell's own can be opened again.

use crate::path::AbsolutePath;
use crate::world::Entry;

use super::call::Input;
use super::devices::{Device, device};
use super::draft::AimedTarget;
use super::exit::{Exit, Output};
use super::machine::{Machine, socket_host};
use super::shell::Shell;
use super::statements::Done;
use super::value::Value;

/// The first number that the shell gives to a descriptor of which it chooses the number: `exec {name}< file` (bash).
const FIRST_CHOSEN: u32 = 10;
/// The greatest number of descriptors that are remembered (ours).
const REMEMBERED: usize = 64;

/// Where what is written to a descriptor goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sink {
    /// To the standard output as it was, with that many others put in its place around it.
    Output(usize),
    /// To the standard error as it was.
    Errors,
    /// Nowhere that is looked at.
    Elsewhere,
    /// Into files, at their ends or over what they held.
    Files { aims: Vec<AimedTarget>, append: bool },
}

impl Sink {
    /// Whether it is `/dev/null`.
    pub(super) fn is_nothing(&self) -> bool {
        let Self::Files { aims, .. } = self else { return false };
        let is_null = |aim: &AimedTarget| aim.target.path().is_some_and(|path| path.as_str() == "/dev/null");
        !aims.is_empty() && aims.iter().all(is_null)
    }

    /// The host that it leads to, when it is a connection.
    pub(super) fn host(&self) -> Option<String> {
        let Self::Files { aims, .. } = self else { return None };
        aims.iter().find_map(|aim| {
            let path = aim.target.path().filter(|path| device(path) == Some(Device::Network))?;
            Some(socket_host(path.as_str()))
        })
    }
}

/// What a descriptor leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opening {
    /// What reading it gives; `None` when it cannot be read.
    pub(crate) input: Option<Input>,
    /// Where writing to it goes.
    pub(crate) sink: Sink,
    /// The directory that it is.
    pub(crate) directory: Option<AbsolutePath>,
    /// The file or directory that was opened to be read; under the path of the descriptor it can be opened again, also to be written.
    pub(crate) source: Option<AbsolutePath>,
}

impl Opening {
    /// One that is only read.
    pub(super) fn to_read(input: Input) -> Self {
        Self { input: Some(input), sink: Sink::Elsewhere, directory: None, source: None }
    }

    /// The same under one more number: what it held before is gone already.
    pub(super) fn copied(self) -> Self {
        match self.sink {
            Sink::Files { aims, .. } => Self { sink: Sink::Files { aims, append: true }, ..self },
            Sink::Output(_) | Sink::Errors | Sink::Elsewhere => self,
        }
    }

    /// One that leads nowhere.
    pub(super) fn closed() -> Self {
        Self { input: None, sink: Sink::Elsewhere, directory: None, source: None }
    }
}

impl Machine<'_> {
    /// What a descriptor leads to at the present point; `None` when it is not known to be open.
    pub(crate) fn descriptor(&self, number: u32) -> Option<Opening> {
        match (self.shell.descriptors.get(&number), number) {
            (Some(opening), _) => Some(opening.clone()),
            (None, 0) => Some(Opening::to_read(self.input.clone())),
            (None, 1) => {
                Some(Opening { sink: Sink::Output(self.position.standard_outputs), ..Opening::closed() })
            }
            (None, 2) => Some(Opening { sink: Sink::Errors, ..Opening::closed() }),
            (None, _) => None,
        }
    }

    /// What was opened to be read under a number.
    pub(super) fn opened_to_read(&self, number: u32) -> Option<AbsolutePath> {
        let given = || self.position.whole.given.clone().or_else(|| self.shell.input_source.clone());
        match (self.shell.descriptors.get(&number), number) {
            (Some(opening), _) => opening.source.clone(),
            (None, 0) => given(),
            (None, _) => None,
        }
    }

    /// The host at the other end of a descriptor, when it is a connection.
    pub fn connected_host(&self, number: u32) -> Option<String> {
        self.descriptor(number)?.sink.host()
    }

    /// What the kernel shows at a path that leads to something of the process itself: a directory that it has open, the one it is in, its
    /// root (source: proc(5)); `None` at any other path.
    pub(super) fn own_entry(&self, path: &AbsolutePath) -> Option<Entry> {
        let text = path.as_str();
        if !text.starts_with("/proc/") && !text.starts_with("/dev/") {
            return None;
        }
        if text == "/dev/fd" || OWN.iter().any(|start| start.trim_end_matches('/') == text) {
            return Some(Entry::Directory);
        }
        if let Some(number) = number_of(path) {
            let directory = self.descriptor(number).and_then(|opening| opening.directory).or_else(|| {
                self.opened_to_read(number).filter(|source| self.entry(source) == Entry::Directory)
            });
            // Where it leads on this machine says nothing of the command.
            return Some(
                directory.map_or(Entry::Special, |directory| Entry::Symlink(directory.as_str().to_owned())),
            );
        }
        let rest = text.strip_prefix("/proc/")?;
        match rest.split_once('/') {
            Some((_, "root")) => Some(Entry::Symlink("/".to_owned())),
            Some(("self" | "thread-self" | "$$", "cwd")) => {
                Some(Entry::Symlink(self.cwd()?.as_str().to_owned()))
            }
            None if matches!(rest, "self" | "thread-self" | "$$") => Some(Entry::Directory),
            Some(_) | None => None,
        }
    }

    /// What opening the path of an own descriptor for reading gives.
    pub(super) fn descriptor_output(&self, number: u32) -> Output {
        self.descriptor(number)
            .and_then(|opening| opening.input)
            .map_or(Output::Unknown, |input| Output::from_input(&input))
    }

    /// Whether a path is that of something which the process has open itself.
    pub fn is_own_descriptor(&self, path: &AbsolutePath) -> bool {
        number_of(path).is_some() || self.flow.ends.contains_key(path.as_str())
    }

    /// Takes up what the running call writes to its standard output by the path of that, as far as it is led into no file.
    pub(super) fn tell_by_path(&mut self, value: &Value, content: &Output) {
        let aims = self.paths_through(value);
        let is_told = aims.iter().any(|aim| aim.target.path().is_some_and(|path| self.is_told_by(path)));
        if is_told {
            let before = std::mem::replace(&mut self.call.told, Output::Nothing);
            self.call.told = before.followed_by(content.clone());
        }
    }

    fn is_told_by(&self, path: &AbsolutePath) -> bool {
        number_of(path) == Some(1)
            && self.descriptor(1).is_some_and(|opening| match opening.sink {
                Sink::Output(_) => true,
                Sink::Errors | Sink::Elsewhere | Sink::Files { .. } => false,
            })
    }

    /// Opens a descriptor for the rest of the shell.
    pub(super) fn keep_open(&mut self, number: u32, opening: Opening) {
        if self.shell.descriptors.len() < REMEMBERED || self.shell.descriptors.contains_key(&number) {
            self.shell.descriptors.insert(number, opening);
        }
    }

    /// Remembers what is left to read of a descriptor.
    pub(crate) fn open_again(&mut self, number: u32, opening: Opening, left: Input) {
        self.keep_open(number, Opening { input: Some(left), ..opening });
    }

    /// What `work` writes where something else takes it in.
    pub fn output_of(&mut self, work: impl FnOnce(&mut Self) -> Exit) -> Output {
        self.captured(|machine| Done::next(work(machine))).output
    }

    /// Runs `work` so that something else takes in what it writes: a pipe, a substitution.
    pub(super) fn captured(&mut self, work: impl FnOnce(&mut Self) -> Done) -> Done {
        let outer = self.shell.descriptors.remove(&1);
        self.position.standard_outputs += 1;
        self.position.listening += 1;
        let mut done = work(self);
        self.position.listening -= 1;
        done.output = done.output.followed_by(self.take_passed());
        self.position.standard_outputs -= 1;
        match outer {
            Some(opening) => self.shell.descriptors.insert(1, opening),
            None => self.shell.descriptors.remove(&1),
        };
        done
    }

    /// What commands further in have written to the present standard output by way of another descriptor.
    pub(super) fn take_passed(&mut self) -> Output {
        let level = self.position.standard_outputs;
        let all = std::mem::take(&mut self.position.passed);
        let (here, further): (Vec<_>, Vec<_>) = all.into_iter().partition(|(of, _)| *of >= level);
        self.position.passed = further;
        here.into_iter().fold(Output::Nothing, |before, (_, output)| before.followed_by(output))
    }

    /// Hands what a command wrote to a standard output that lies further out.
    pub(super) fn pass(&mut self, level: usize, output: Output) {
        if output == Output::Nothing {
            return;
        }
        match self.position.passed.iter_mut().find(|(of, _)| *of == level) {
            Some((_, before)) => {
                let all = std::mem::replace(before, Output::Nothing).followed_by(output);
                *before = match all {
                    Output::Text(text) => Output::Text(super::expand::bounded(text)),
                    other => other,
                };
            }
            None => self.position.passed.push((level, output)),
        }
    }

    /// Goes on behind what another process has read of descriptors that are open in both.
    pub(super) fn go_on_reading(&mut self, inner: &Shell) {
        for (number, opening) in &mut self.shell.descriptors {
            let left = inner.descriptors.get(number).and_then(|inner| inner.input.as_ref());
            if let (Some(Input::Text(Value::Exact(all))), Some(Input::Text(Value::Exact(left)))) =
                (&opening.input, left)
                && all.ends_with(left.as_str())
            {
                opening.input = Some(Input::Text(Value::exact(left.as_str())));
            }
        }
    }

    /// The number that the shell would choose for one more descriptor.
    pub(super) fn next_descriptor(&self) -> u32 {
        let last = self.shell.descriptors.keys().next_back().copied().unwrap_or_default();
        last.saturating_add(1).max(FIRST_CHOSEN)
    }
}

/// The number of the own descriptor that a path names: `/dev/stdin`, `/dev/fd/3`, `/proc/self/fd/3`.
pub(super) fn number_of(path: &AbsolutePath) -> Option<u32> {
    match path.as_str() {
        "/dev/stdin" => return Some(0),
        "/dev/stdout" => return Some(1),
        "/dev/stderr" => return Some(2),
        _ => {}
    }
    OWN.iter().find_map(|start| path.as_str().strip_prefix(start)?.parse().ok())
}

/// Where the kernel shows the own descriptors of a process. `$$` stands for the number of the shell.
pub(super) const OWN: [&str; 4] = ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/", "/proc/$$/fd/"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_descriptors_have_several_paths() {
        let number = |text: &str| number_of(&AbsolutePath::new(text).unwrap());
        assert_eq!(number("/dev/fd/12"), Some(12));
        assert_eq!(number("/proc/thread-self/fd/3"), Some(3));
        assert_eq!(number("/dev/stdin"), Some(0));
        assert_eq!(number("/dev/fd/x"), None);
        assert_eq!(number("/proc/17/fd/3"), None);
    }
}
