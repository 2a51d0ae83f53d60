//! Runaways: what starts processes or writes without end, until the machine has none left.

use checkrein_shell::{Block, Command, Launch, Pipeline, Redirect, RedirectOperation};

use crate::effect::{EffectKind, Severity, Target};

use super::call::Call;
use super::draft::Draft;
use super::machine::Machine;
use super::value::Value;

/// Commands that hold up a loop: they wait for time, for input, for something to happen.
const PAUSES: &[&str] = &[
    "sleep",
    "usleep",
    "read",
    "inotifywait",
    "fswatch",
    "tail",
    "wait",
    "nc",
    "ncat",
    "socat",
    "select",
    "entr",
];
/// Commands that leave a loop.
const EXITS: &[&str] = &["break", "exit", "return", "exec"];
/// From this size on a file is asked about (ours): more than most disks have left.
const HUGE: u64 = 50_000_000_000;
/// Files that never end.
const ENDLESS: &[&str] = &["/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"];

impl Machine<'_> {
    /// Adds that a loop without end starts processes in every turn without waiting for any, when it does.
    pub(super) fn note_flood(&mut self, body: &Block) {
        if is_flood(body) {
            self.exhausts("starts processes without end and without waiting for them", Severity::High);
        } else if self.position.limited == 0 && is_filling(body) {
            self.exhausts("writes into a file without end", Severity::High);
        }
    }

    /// Adds that a program fills a file without end, when it does.
    pub(super) fn note_endless(&mut self, call: &Call) {
        if self.position.limited > 0 {
            return;
        }
        let words = || call.words.iter().filter_map(Value::as_exact);
        if self.is_huge(call) {
            self.exhausts("writes more than most disks have left", Severity::High);
            return;
        }
        let is_endless = match call.program.as_str() {
            "yes" => self.is_kept() && !self.is_listened_to(),
            "cat" => self.is_kept() && !self.is_listened_to() && words().any(|word| ENDLESS.contains(&word)),
            "dd" => {
                let from =
                    words().any(|word| word.strip_prefix("if=").is_some_and(|file| ENDLESS.contains(&file)));
                let to = words()
                    .any(|word| word.strip_prefix("of=").is_some_and(|file| !file.starts_with("/dev/")));
                from && to && !words().any(|word| word.starts_with("count="))
            }
            "cp" => {
                let files: Vec<&str> = words().filter(|word| !word.starts_with('-')).collect();
                let to = files.last().is_some_and(|file| !file.starts_with("/dev/"));
                files.len() > 1 && to && files.first().is_some_and(|file| ENDLESS.contains(file))
            }
            _ => false,
        };
        if is_endless {
            self.exhausts("writes into a file without end", Severity::High);
        }
    }

    /// Whether a call fills the disk by the size that it names. Files with a size only (`truncate`) take no space.
    fn is_huge(&self, call: &Call) -> bool {
        let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
        let behind = |names: &[&str]| {
            let place = words.iter().position(|word| names.contains(word));
            let next = place.and_then(|place| words.get(place + 1)).copied();
            let attached = || {
                names.iter().find_map(|name| {
                    let rest = words.iter().find_map(|word| word.strip_prefix(name))?;
                    Some(rest.trim_start_matches('=')).filter(|rest| !rest.is_empty())
                })
            };
            next.or_else(attached)
        };
        let operand = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
        let size = match call.program.as_str() {
            "fallocate" => behind(&["-l", "--length"]).and_then(bytes),
            "mkfile" => words.iter().find(|word| !word.starts_with('-')).and_then(|word| bytes(word)),
            "head"
                if self.is_kept()
                    && !self.is_listened_to()
                    && words.iter().any(|word| ENDLESS.contains(word)) =>
            {
                behind(&["-c", "--bytes"]).and_then(bytes)
            }
            "openssl" if words.first() == Some(&"rand") => words.last().and_then(|word| bytes(word)),
            "dd" if words
                .iter()
                .any(|word| ENDLESS.iter().any(|file| word.strip_prefix("if=") == Some(file))) =>
            {
                let count = operand("count=").and_then(bytes);
                let block = operand("bs=").or_else(|| operand("ibs=")).map_or(Some(512), bytes);
                count.zip(block).map(|(count, block)| count.saturating_mul(block))
            }
            _ => None,
        };
        size.is_some_and(|size| size >= HUGE)
    }

    /// Adds that a function calls itself without end: a bomb, when every call makes more of them.
    pub(super) fn note_endless_calls(&mut self, name: &str, body: &Command) {
        if multiplies(name, body) {
            self.exhausts("starts copies of itself without end", Severity::Critical);
        } else {
            self.unread(format!("the function `{name}` calls itself too often to be followed"));
        }
    }

    /// Runs `work`, which is ended from outside after a while.
    pub fn within_limit<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.position.limited += 1;
        let answer = work(self);
        self.position.limited -= 1;
        answer
    }

    fn exhausts(&mut self, note: &str, severity: Severity) {
        let target = Target::Service("the resources of the machine".to_owned());
        self.add(
            Draft::new(EffectKind::SystemModification, target).severity(severity).irreversible().note(note),
        );
    }
}

/// A size as programs take it: `10`, `500G`, `1.5T`, `64MiB`, `10kB`, `2w`. `None` when it is no size.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let whole: u64 = number.split('.').next()?.parse().ok()?;
    let step: u32 = match unit.chars().next().map(|c| c.to_ascii_lowercase()) {
        None | Some('c') => 0,
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        Some('e') => 6,
        Some('b') => return whole.checked_mul(512),
        Some('w') => return whole.checked_mul(2),
        Some(_) => return None,
    };
    Some(whole.saturating_mul(1000_u64.saturating_pow(step)))
}

fn appends(redirect: &Redirect) -> bool {
    match &redirect.operation {
        RedirectOperation::Append(_) | RedirectOperation::AppendAll(_) => true,
        RedirectOperation::Read(_)
        | RedirectOperation::Write(_)
        | RedirectOperation::Clobber(_)
        | RedirectOperation::ReadWrite(_)
        | RedirectOperation::WriteAll(_)
        | RedirectOperation::Duplicate(_)
        | RedirectOperation::HereString(_)
        | RedirectOperation::HereDocument(_) => false,
    }
}

/// Whether a turn of a loop writes to files and does nothing that takes time.
fn is_filling(body: &Block) -> bool {
    let mut writes = false;
    let is_quick = body.iter().all(|statement| {
        let Command::Simple(simple) = &statement.command else { return false };
        writes |= simple.redirects.iter().any(appends);
        matches!(simple.written_name(), Some("echo" | "printf" | ":" | "true" | "date" | "cat" | "seq"))
    });
    writes && is_quick
}

/// What a turn of a loop does, as far as it matters here.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    launches: bool,
    holds: bool,
}

fn is_flood(body: &Block) -> bool {
    let mut turn = Turn::default();
    look_at_block(body, Shell::Own, &mut turn);
    turn.launches && !turn.holds
}

/// In which shell a command runs: only the shell that started processes can wait for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shell {
    Own,
    Child,
}

fn look_at_block(block: &Block, shell: Shell, turn: &mut Turn) {
    for statement in block {
        match statement.launch {
            Launch::Background => turn.launches = true,
            Launch::Foreground => look_at(&statement.command, shell, turn),
        }
    }
}

fn look_at(command: &Command, shell: Shell, turn: &mut Turn) {
    match command {
        Command::Simple(simple) => {
            let Some(name) = simple.written_name() else { return };
            let waits_here =
                shell == Shell::Own || !matches!(name, "wait" | "break" | "return" | "exit" | "exec");
            turn.holds |= waits_here && (PAUSES.contains(&name) || EXITS.contains(&name));
        }
        Command::Pipeline(pipeline) => {
            for stage in &pipeline.stages {
                let shell = if pipeline.stages.len() > 1 { Shell::Child } else { shell };
                look_at(&stage.command, shell, turn);
            }
        }
        Command::AndOr(list) => {
            look_at(&list.first, shell, turn);
            list.rest.iter().for_each(|(_, command)| look_at(command, shell, turn));
        }
        Command::Subshell(block) => look_at_block(block, Shell::Child, turn),
        Command::Group(block) => look_at_block(block, shell, turn),
        Command::If(choice) => {
            for (condition, body) in &choice.branches {
                look_at_block(condition, shell, turn);
                look_at_block(body, shell, turn);
            }
            if let Some(block) = &choice.otherwise {
                look_at_block(block, shell, turn);
            }
        }
        Command::For(each) | Command::Select(each) => look_at_block(&each.body, shell, turn),
        Command::CStyleFor(counted) => look_at_block(&counted.body, shell, turn),
        Command::While(repeated) => {
            look_at_block(&repeated.condition, shell, turn);
            look_at_block(&repeated.body, shell, turn);
        }
        Command::Case(case) => case.arms.iter().for_each(|arm| look_at_block(&arm.body, shell, turn)),
        Command::Time(inner) => look_at(inner, shell, turn),
        Command::Redirected(redirected) => look_at(&redirected.command, shell, turn),
        Command::Function(_)
        | Command::Test(_)
        | Command::Arithmetic(_)
        | Command::Coprocess(_)
        | Command::Opaque(_) => {}
    }
}

/// Whether the body of a function starts more copies of it in each call: beside itself, or on both sides of a pipe.
fn multiplies(name: &str, body: &Command) -> bool {
    match body {
        Command::Group(block) | Command::Subshell(block) => block.iter().any(|statement| {
            statement.launch == Launch::Background && calls(name, &statement.command) > 0
                || multiplies(name, &statement.command)
        }),
        Command::Pipeline(pipeline) => is_doubling(name, pipeline),
        Command::Redirected(redirected) => multiplies(name, &redirected.command),
        Command::AndOr(list) => {
            multiplies(name, &list.first) || list.rest.iter().any(|(_, command)| multiplies(name, command))
        }
        Command::If(choice) => choice.branches.iter().any(|(_, block)| {
            block.iter().any(|statement| {
                statement.launch == Launch::Background && calls(name, &statement.command) > 0
                    || multiplies(name, &statement.command)
            })
        }),
        Command::Simple(_)
        | Command::For(_)
        | Command::CStyleFor(_)
        | Command::While(_)
        | Command::Case(_)
        | Command::Select(_)
        | Command::Function(_)
        | Command::Test(_)
        | Command::Arithmetic(_)
        | Command::Coprocess(_)
        | Command::Time(_)
        | Command::Opaque(_) => false,
    }
}

fn is_doubling(name: &str, pipeline: &Pipeline) -> bool {
    pipeline.stages.iter().filter(|stage| calls(name, &stage.command) > 0).count() > 1
}

/// How often a command calls a function by its name.
fn calls(name: &str, command: &Command) -> usize {
    match command {
        Command::Simple(simple) => usize::from(simple.written_name() == Some(name)),
        Command::Pipeline(pipeline) => pipeline.stages.iter().map(|stage| calls(name, &stage.command)).sum(),
        Command::Group(block) | Command::Subshell(block) => {
            block.iter().map(|statement| calls(name, &statement.command)).sum()
        }
        Command::AndOr(list) => {
            calls(name, &list.first)
                + list.rest.iter().map(|(_, command)| calls(name, command)).sum::<usize>()
        }
        Command::Redirected(redirected) => calls(name, &redirected.command),
        Command::If(_)
        | Command::For(_)
        | Command::CStyleFor(_)
        | Command::While(_)
        | Command::Case(_)
        | Command::Select(_)
        | Command::Function(_)
        | Command::Test(_)
        | Command::Arithmetic(_)
        | Command::Coprocess(_)
        | Command::Time(_)
        | Command::Opaque(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body_of(text: &str) -> Block {
        let parsed = checkrein_shell::parse(text);
        match parsed.script.into_iter().next().map(|statement| statement.command) {
            Some(Command::While(repeated)) => repeated.body,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sizes_are_read_as_programs_read_them() {
        for (text, size) in [
            ("10", Some(10)),
            ("500G", Some(500_000_000_000)),
            ("64MiB", Some(64_000_000)),
            ("10kB", Some(10_000)),
            ("2b", Some(1024)),
            ("99999E", Some(u64::MAX)),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(bytes(text), size, "{text}");
        }
    }

    #[test]
    fn a_loop_that_waits_is_no_flood() {
        for flood in ["while true; do work & done", "while :; do { a; b; } & (wait); done"] {
            assert!(is_flood(&body_of(flood)), "{flood}");
        }
        for held in [
            "while true; do work & sleep 5; done",
            "while true; do work & wait; done",
            "while true; do a; b; done",
            "while true; do work & [ -e stop ] && break; done",
        ] {
            assert!(!is_flood(&body_of(held)), "{held}");
        }
    }
}
