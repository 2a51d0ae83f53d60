//! Lines of a text that a shell remembers while it reads it, and what it puts into later ones from them (`set -o history -o histexpand`).

use checkrein_shell::ShellStatement;

use super::history_expansion::{Expansion, expanded};
use super::machine::Machine;
use super::shell::Options;
use super::statements::Done;
use super::value::Value;

/// Variables that change what is remembered, or how it is put in (bash(1), "Shell Variables").
const CHANGING: [&str; 4] = ["HISTCONTROL", "HISTIGNORE", "HISTSIZE", "histchars"];

/// How many lines are tried in the place of one that is not known (ours).
const TRIED: usize = 8;

impl Machine<'_> {
    /// Runs the statements of one line of a text. `before` are the switches that held where the text begins: what is run while lines
    /// were remembered already, as a part of one of them, is not remembered itself.
    pub(super) fn run_line(&mut self, line: &[ShellStatement], text: &str, before: Options) -> Done {
        let options = self.shell.options;
        if !options.history || before.history || self.budget.scanning > 0 {
            return self.run_block(line);
        }
        self.run_remembered(line, text, options)
    }

    /// Runs a line that is remembered. By itself, since what it needs would take room on the stack of every line.
    #[inline(never)]
    fn run_remembered(&mut self, line: &[ShellStatement], text: &str, options: Options) -> Done {
        let written = lines_around(line, text);
        if options.histexpand {
            match self.put_in(written) {
                Expansion::Same => {}
                Expansion::Line(whole) => {
                    self.shell.remember(&whole);
                    return self.run_block(&checkrein_shell::parse(&whole).script);
                }
                Expansion::Shown(whole) => {
                    self.shell.remember(&whole);
                    return Done::quiet();
                }
                Expansion::Unknown(start) => self.run_what_is_put_in(&start),
            }
        }
        self.shell.remember(written);
        self.run_block(line)
    }

    /// What becomes of a line. Of one command over several lines each is looked at by itself, and remembered in another form than written.
    fn put_in(&self, written: &str) -> Expansion {
        let is_plain =
            !written.contains('\n') && !CHANGING.iter().any(|name| self.shell.variables.contains_key(*name));
        if is_plain {
            return expanded(written, &self.shell.history);
        }
        let mut before = String::new();
        for line in written.lines() {
            match expanded(line, &[]) {
                Expansion::Same => {}
                Expansion::Unknown(start) => return Expansion::Unknown(before + &start),
                Expansion::Line(_) | Expansion::Shown(_) => return Expansion::Unknown(before),
            }
            before.push_str(line);
            before.push('\n');
        }
        Expansion::Same
    }

    /// What is put in is not known: it may be any line before, and any words of one.
    fn run_what_is_put_in(&mut self, start: &str) {
        self.unread("a line takes from the lines before it what is not followed");
        let lines: Vec<String> = self.shell.history.iter().rev().take(TRIED).cloned().collect();
        for line in lines {
            let words = line.split_once(char::is_whitespace).map_or("", |(_, words)| words);
            let with_words = format!("{start} {words}");
            for text in [line.as_str(), &with_words] {
                self.possibly(|machine| machine.in_subshell(|machine| machine.run_here(&Value::exact(text))));
            }
        }
    }
}

/// The lines on which statements stand, to the end of the last one.
fn lines_around<'t>(line: &[ShellStatement], text: &'t str) -> &'t str {
    let (Some(first), Some(last)) = (line.first(), line.last()) else { return "" };
    let start = text.get(..first.span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let end = text
        .get(last.span.end..)
        .and_then(|behind| behind.find('\n'))
        .map_or(text.len(), |length| last.span.end + length);
    text.get(start..end).unwrap_or_default()
}
