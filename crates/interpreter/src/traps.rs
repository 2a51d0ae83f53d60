//! Traps that run at another time than at the end: when a signal comes, a child ends, a pipe breaks, or a function or file was run.
//! Held against bash 5.2 and dash 0.5.

use std::collections::BTreeSet;

use super::deferred_commands::changes_shell;
use super::exit::Output;
use super::machine::Machine;
use super::shell::joined;
use super::statements::{Done, Flow};
use super::value::Value;

/// What a trap is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The end of the shell.
    Exit,
    /// A command that fails.
    Error,
    /// Every command.
    Command,
    /// The end of a function, or of a file that was read.
    Return,
    /// The end of a process that the shell started.
    Child,
    /// Nobody reads what is written.
    BrokenPipe,
    /// Any other signal.
    Signal,
}

impl Event {
    /// The event of that name or number, as `trap` is given it (signal(7); 20 is the end of a child on macOS).
    pub(crate) fn named(name: &str) -> Self {
        let name = name.to_ascii_uppercase();
        match name.strip_prefix("SIG").unwrap_or(&name) {
            "EXIT" | "0" => Self::Exit,
            "ERR" => Self::Error,
            "DEBUG" => Self::Command,
            "RETURN" => Self::Return,
            "CHLD" | "CLD" | "17" | "20" => Self::Child,
            "PIPE" | "13" => Self::BrokenPipe,
            _ => Self::Signal,
        }
    }

    /// Whether somebody may send it.
    pub(crate) fn is_sent(self) -> bool {
        match self {
            Self::BrokenPipe | Self::Signal => true,
            // That of a child comes anyway.
            Self::Exit | Self::Error | Self::Command | Self::Return | Self::Child => false,
        }
    }
}

/// What happened so far that makes traps run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Occasions {
    /// How many processes were started.
    pub(super) children: usize,
    /// How many programs ran that send signals.
    pub(super) signals: usize,
    /// How many processes read from the shell through a pipe of their own.
    pub(super) readers: usize,
    /// Whether one that sends signals runs beside the shell.
    pub(super) is_signalled_later: bool,
}

/// A trap, and what had happened when it was set.
#[derive(Debug, Clone)]
struct Waiting {
    text: Value,
    since: usize,
}

/// The traps of a shell that run at another time than at its end, at a failure or before a command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traps {
    /// What runs behind a function or a file.
    pub(super) at_return: Option<Value>,
    /// Whether it is not sure that this was arranged.
    return_in_doubt: bool,
    at_child: Option<Waiting>,
    at_broken_pipe: Option<Waiting>,
    /// Functions that have the traps of their caller.
    traced: BTreeSet<String>,
    /// For how many of the signals that were sent the traps ran.
    taken: usize,
}

impl Traps {
    /// Says of a function whether it has the traps of its caller.
    pub(super) fn trace(&mut self, name: &str, traced: bool) {
        if traced {
            self.traced.insert(name.to_owned());
        } else {
            self.traced.remove(name);
        }
    }

    /// Leaves none for signals, as a subshell has none.
    pub(super) fn forget_signals(&mut self) {
        self.at_child = None;
        self.at_broken_pipe = None;
    }

    /// The traps after one of two ways.
    pub(super) fn join(&mut self, other: &Self) {
        self.return_in_doubt |= other.return_in_doubt || self.at_return != other.at_return;
        self.at_return = joined(self.at_return.take(), other.at_return.as_ref());
        self.at_child = joined_waiting(self.at_child.take(), other.at_child.as_ref());
        self.at_broken_pipe = joined_waiting(self.at_broken_pipe.take(), other.at_broken_pipe.as_ref());
        self.traced.extend(other.traced.iter().cloned());
        self.taken = self.taken.max(other.taken);
    }
}

fn joined_waiting(one: Option<Waiting>, other: Option<&Waiting>) -> Option<Waiting> {
    match (one, other) {
        (Some(one), Some(other)) => {
            Some(Waiting { text: one.text.join(&other.text), since: one.since.min(other.since) })
        }
        (one, other) => one.or_else(|| other.cloned()),
    }
}

/// Programs that send signals.
const SENDING: &[&str] = &["kill", "pkill", "killall", "skill", "killall5", "fuser"];

impl Machine<'_> {
    /// Notes what a program does that is called under this name and makes traps run.
    pub(super) fn note_occasion(&mut self, program: &str) {
        self.occasions.signals += usize::from(SENDING.contains(&program));
        self.occasions.children += usize::from(program != "kill");
    }

    /// Notes that the shell starts a process, whatever that does: one that is called by its place is no built-in.
    pub(super) fn note_child(&mut self) {
        self.occasions.children += 1;
    }

    /// Notes that a process reads from the shell through a pipe.
    pub(super) fn note_reader(&mut self) {
        self.occasions.readers += 1;
    }

    /// Sets or takes away the traps for these events; those for others are kept elsewhere.
    pub(crate) fn set_traps(&mut self, text: Option<&Value>, is_for: impl Fn(Event) -> bool) {
        let occasions = self.occasions;
        let traps = &mut self.shell.traps;
        if is_for(Event::Return) {
            traps.at_return = text.cloned();
            traps.return_in_doubt = false;
        }
        let waiting = |since: usize| text.map(|text| Waiting { text: text.clone(), since });
        if is_for(Event::Child) {
            traps.at_child = waiting(occasions.children);
        }
        if is_for(Event::BrokenPipe) {
            traps.at_broken_pipe = waiting(occasions.readers);
        }
    }

    /// Whether a function has the traps for `DEBUG` and `RETURN` that its caller has (bash(1), "FUNCTIONS").
    pub(super) fn has_traps_of_caller(&self, function: &str) -> bool {
        let options = self.shell.options;
        options.functrace || options.extdebug || self.shell.traps.traced.contains(function)
    }

    /// Runs the trap for the end of a function or file, where its variables still hold.
    pub(super) fn run_return_trap(&mut self, done: Done) -> Done {
        let is_end = match done.flow {
            Flow::Next | Flow::Return => true,
            Flow::Continue(_) | Flow::Break(_) | Flow::Discard | Flow::Exit => false,
        };
        let Some(text) = self.shell.traps.at_return.clone().filter(|_| is_end && self.trapped == 0) else {
            return done;
        };
        self.trapped += 1;
        let ran = if self.shell.traps.return_in_doubt {
            self.perhaps(|machine| machine.run_here(&text))
        } else {
            self.run_here(&text)
        };
        self.trapped -= 1;
        let flow = if ran.flow == Flow::Exit { Flow::Exit } else { done.flow };
        Done { flow, status: done.status, output: done.output.followed_by(ran.output) }
    }

    /// Runs what is to run at a signal, where something was sent since that was looked at.
    pub(super) fn run_traps_of_signals(&mut self) {
        if self.shell.traps.taken >= self.occasions.signals {
            return;
        }
        self.shell.traps.taken = self.occasions.signals;
        if self.trapped == 0 && self.budget.scanning == 0 {
            let texts = self.shell.on_signals.clone();
            self.perhaps_run_traps(texts);
        }
    }

    /// Runs what may run before a command because a child ended, a pipe broke or a signal came.
    pub(super) fn run_traps_that_may_come(&mut self) {
        if self.trapped > 0 || self.budget.scanning > 0 {
            return;
        }
        let mut texts = self.traps_of_children();
        if self.occasions.is_signalled_later {
            // What they do besides is known since they were set.
            let changing = self.shell.on_signals.iter().filter(|text| self.trap_changes_shell(text));
            texts.extend(changing.cloned());
        }
        self.perhaps_run_traps(texts);
    }

    /// What is to run at the end of the shell, where a signal may still come.
    pub(super) fn traps_at_end(&mut self) -> Vec<Value> {
        let mut texts = std::mem::take(&mut self.shell.on_signals);
        texts.extend(self.traps_of_children());
        self.shell.traps.forget_signals();
        let at_exit = self.shell.at_exit.as_ref();
        texts.retain(|text| at_exit != Some(text));
        texts
    }

    fn traps_of_children(&self) -> Vec<Value> {
        let (traps, occasions) = (&self.shell.traps, self.occasions);
        let child = traps.at_child.iter().filter(|trap| occasions.children > trap.since);
        let pipe = traps.at_broken_pipe.iter().filter(|trap| occasions.readers > trap.since);
        child.chain(pipe).map(|trap| trap.text.clone()).collect()
    }

    fn perhaps_run_traps(&mut self, texts: Vec<Value>) {
        self.trapped += 1;
        for text in texts {
            self.perhaps(|machine| Done { output: Output::Nothing, ..machine.run_here(&text) });
        }
        self.trapped -= 1;
    }

    /// Whether the text of a trap may change what the shell reads later: by itself or by a function.
    fn trap_changes_shell(&self, text: &Value) -> bool {
        let calls = |text: &str| {
            let mut words = text.split(|c: char| c.is_whitespace() || ";&|(){}`".contains(c));
            words.any(|word| self.shell.functions.contains_key(word))
        };
        changes_shell(text) || text.as_exact().is_some_and(calls)
    }
}
