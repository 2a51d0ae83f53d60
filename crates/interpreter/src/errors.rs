//! The standard error where it is joined to something that is read: a pipe, a substitution, a file.
//!
//! What commands redirect there is followed as what they write to the standard output is. What they say of their own accord is text that
//! nobody knows, so that it is never taken for nothing.

use crate::builtins::is_of_bash;
use crate::path::AbsolutePath;

use super::descriptors::Sink;
use super::devices::device;
use super::exit::{Output, Status};
use super::machine::Machine;
use super::redirects::Reading;
use super::statements::Done;

/// Commands that never say anything on the standard error (the manual of bash 5.2).
const SILENT: &[&str] = &[":", "true", "false", "echo"];

/// Programs whose code or script writes where it likes, so that a text on the standard output is not all that there is.
const WRITERS: &[&str] = &[
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "original-awk",
    "sed",
    "gsed",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "jq",
    "gojq",
    "bc",
    "dc",
    "ed",
    "ex",
    "vi",
    "vim",
    "gdb",
    "R",
    "Rscript",
    "osascript",
    "guile",
    "emacs",
];

impl Machine<'_> {
    /// Adds to what a built-in or a program answers what it may have said on the standard error.
    pub(super) fn with_errors(&mut self, name: &str, mut done: Done) -> Done {
        let Some(sink) = self.read_sink(2) else { return done };
        let name = name.rsplit('/').next().unwrap_or(name);
        if SILENT.contains(&name) || done.status == Status::Success && is_of_bash(name) {
            return done;
        }
        let is_one_stream =
            sink == Sink::Output(self.position.standard_outputs) && !self.shell.descriptors.contains_key(&1);
        let says_all = match &done.output {
            Output::Nothing => false,
            Output::Text(_) => {
                matches!(done.status, Status::Success | Status::Unknown)
                    && !WRITERS.contains(&name)
                    && !name.starts_with("python")
            }
            Output::Network(_)
            | Output::Secret(_)
            | Output::Local(_)
            | Output::Setup(_)
            | Output::Unknown => true,
        };
        if !(is_one_stream && says_all) {
            let told = self.tell_errors(sink);
            done.output = done.output.followed_by(told);
        }
        done
    }

    /// Writes what nobody knows to a descriptor, when it is read; answers what of it goes to the present standard output.
    pub(super) fn tell_on(&mut self, number: u32) -> Output {
        match self.read_sink(number) {
            Some(sink) => self.tell_errors(sink),
            None => Output::Nothing,
        }
    }

    /// Writes the commands that the shell shows to where it shows them.
    pub(super) fn tell_trace(&mut self) -> Output {
        let number = self.shell.variables.get("BASH_XTRACEFD").and_then(|variable| match &variable.content {
            super::shell::VariableContent::Scalar(value) => value.as_exact()?.parse().ok(),
            _ => None,
        });
        self.tell_on(number.unwrap_or(2))
    }

    /// Writes what nobody knows to where a descriptor leads.
    pub(super) fn tell_errors(&mut self, sink: Sink) -> Output {
        let sink = match sink {
            Sink::Files { aims, .. } => Sink::Files { aims, append: true },
            Sink::Output(_) | Sink::Errors | Sink::Elsewhere => sink,
        };
        self.put_into(sink, Output::Unknown, Reading::Plain)
    }

    /// Where a descriptor leads, when that may be read here.
    fn read_sink(&self, number: u32) -> Option<Sink> {
        let sink = self.descriptor(number)?.sink;
        let is_read =
            |path: &AbsolutePath| device(path).is_none() || self.flow.ends.contains_key(path.as_str());
        match &sink {
            Sink::Output(_) => Some(sink),
            Sink::Files { aims, .. } => {
                aims.iter().filter_map(|aim| aim.target.path()).any(is_read).then_some(sink)
            }
            Sink::Errors | Sink::Elsewhere => None,
        }
    }
}
