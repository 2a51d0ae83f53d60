//! Programs that look into others, and the orders that they are given: some run a command, some code, some end what is looked into.
//!
//! An order may be cut as long as it stays one. Sources: GDB 13 to 15 ("Commands", "Shell Commands", "Aliases", "Threads", and what the program
//! itself answers to each beginning), LLDB 19 (`lldb --help`, "help", "Aliases").

use crate::effect::{EffectKind, Target};
use crate::interpreter::guarded::PARENT;
use crate::interpreter::{Call, Draft, Exit, Inheritance, Input, Machine, Output, Value};

use super::super::processes;
use super::environment::with_changes;

/// The greatest number of orders of one call that are carried out (ours).
const ORDERS: usize = 256;
/// The greatest depth of orders in orders, and of files that name others (ours).
const DEPTH: usize = 8;

/// Options behind which an order stands.
const ORDER: &[&str] = &[
    "ex",
    "eval-command",
    "iex",
    "init-eval-command",
    "eiex",
    "early-init-eval-command",
    "o",
    "O",
    "k",
    "one-line",
    "one-line-before-file",
    "one-line-on-crash",
];
/// Options behind which a file of orders stands; the letters of one of the two programs say something else to the other.
const FILES_OF_GDB: &[&str] = &["x", "command", "ix", "init-command", "eix", "early-init-command"];
const FILES_OF_LLDB: &[&str] = &["s", "S", "K", "source", "source-before-file", "source-on-crash"];

/// What reads the orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Gdb,
    Lldb,
    /// A program without orders that are read here.
    Other,
}

/// A debugger at work.
struct Debugger {
    language: Language,
    /// What is looked into.
    attached: Option<Value>,
    /// Whether the program that stands behind `--args` is started.
    starts: bool,
    /// Variables that the program finds otherwise: set (`NAME=value`) or taken away (`NAME`).
    changes: Vec<Value>,
    /// What it finds of the environment.
    inheritance: Inheritance,
    orders: usize,
}

/// `gdb` and its kin: what their orders run and end, and the program that is looked into.
pub(crate) fn debugger(machine: &mut Machine<'_>, call: &Call) -> Exit {
    machine.add(Draft::new(EffectKind::ProcessSpawn, Target::Process("debugger".to_owned())));
    if matches!(call.program.as_str(), "gcore" | "pstack" | "gstack") {
        call.words.iter().for_each(|target| processes::attach(machine, target));
    }
    if call.program == "bpftrace" && sends_signals(machine, call) {
        machine.add(processes::unnamed_kill());
    }
    let language = match call.program.as_str() {
        "gdb" | "rust-gdb" | "cgdb" => Language::Gdb,
        "lldb" | "rust-lldb" => Language::Lldb,
        _ => Language::Other,
    };
    let mut debugger = Debugger {
        language,
        attached: None,
        starts: false,
        changes: Vec::new(),
        inheritance: Inheritance::Everything,
        orders: 0,
    };
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        let start = word.known_start();
        let plain = start.strip_prefix("--").or_else(|| start.strip_prefix('-'));
        let (name, attached) = match plain
            .map(|plain| plain.split_once('=').map_or((plain, None), |(name, value)| (name, Some(value))))
        {
            Some((name, value)) => (
                Some(name),
                value.map(
                    |value| if word.as_exact().is_some() { Value::exact(value) } else { Value::Unknown },
                ),
            ),
            None => (None, None),
        };
        match (name, word.as_exact()) {
            (Some("p" | "pid" | "attach-pid"), _) => {
                if let Some(target) = attached.or_else(|| words.next().cloned()) {
                    debugger.attach(machine, &target);
                }
            }
            (_, Some("attach")) => {
                if let Some(target) = words.next() {
                    debugger.attach(machine, target);
                }
            }
            // `gdb PROGRAM PID`
            (_, Some(PARENT)) => debugger.attach(machine, word),
            (Some("args" | ""), Some(_)) => {
                let rest: Vec<Value> = words.by_ref().cloned().collect();
                if debugger.starts {
                    machine.possibly(|machine| {
                        machine.with_inheritance(debugger.inheritance, |machine| {
                            with_changes(machine, &debugger.changes, |machine| {
                                machine.run_words(&rest, Input::Inherited)
                            })
                        })
                    });
                }
            }
            (Some(name), _) if language != Language::Other && ORDER.contains(&name) => {
                match attached.or_else(|| words.next().cloned()) {
                    Some(Value::Exact(order)) => debugger.carry_out(machine, &order, 0),
                    Some(order) => debugger.carry_out_start(machine, &order),
                    None => {}
                }
            }
            (Some(name), _)
                if language == Language::Gdb && FILES_OF_GDB.contains(&name)
                    || language == Language::Lldb && FILES_OF_LLDB.contains(&name) =>
            {
                if let Some(file) = attached.or_else(|| words.next().cloned()) {
                    debugger.file(machine, &file, 0);
                }
            }
            _ => {}
        }
    }
    if let (true, Some(text)) = (language != Language::Other, call.input.as_exact()) {
        let text = text.to_owned();
        machine.possibly(|machine| debugger.text(machine, &text, 0));
    }
    Exit::unknown()
}

impl Debugger {
    fn attach(&mut self, machine: &mut Machine<'_>, target: &Value) {
        processes::attach(machine, target);
        self.attached = Some(target.clone());
    }

    /// Carries out the orders of a file; one that ends in `.py` is code.
    fn file(&mut self, machine: &mut Machine<'_>, file: &Value, depth: usize) {
        let Some(path) = machine.one_path_through(file) else { return };
        if let Output::Network(url) = machine.peek(&Value::exact(path.as_str())) {
            machine.runs_from_network(&url);
            return;
        }
        if path.as_str().ends_with(".py") {
            let words = [Value::exact("python3"), Value::exact(path.as_str())];
            machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
            return;
        }
        match machine.text(&path) {
            Value::Exact(text) => machine.possibly(|machine| self.text(machine, &text, depth)),
            _ if machine.is_written_here(&path) => {
                machine.unread("a debugger carries out what this command has written");
            }
            _ => {}
        }
    }

    fn text(&mut self, machine: &mut Machine<'_>, text: &str, depth: usize) {
        // Lines between `python` and `end` are code.
        let mut code: Option<String> = None;
        for line in text.lines() {
            let order = line.trim();
            match (&mut code, order) {
                (None, "python" | "py" | "python-interactive" | "pi") if self.language == Language::Gdb => {
                    code = Some(String::new());
                }
                (Some(_), "end") => self.code(machine, &code.take().unwrap_or_default(), depth),
                (Some(code), _) => {
                    code.push_str(line);
                    code.push('\n');
                }
                (None, _) => self.carry_out(machine, order, depth),
            }
        }
        if let Some(code) = code {
            self.code(machine, &code, depth);
        }
    }

    /// An order of which the end is not known: the command in it may be known so far.
    fn carry_out_start(&mut self, machine: &mut Machine<'_>, order: &Value) {
        let start = order.known_start();
        let word = start.split_whitespace().next().unwrap_or_default();
        let command = match order {
            Value::AnyOf(texts) => {
                for text in texts {
                    machine.possibly(|machine| self.carry_out(machine, text, 0));
                }
                return;
            }
            _ => start.strip_prefix('!').or_else(|| {
                is_cut(word, "shell", 2).then(|| start.trim_start().strip_prefix(word)).flatten()
            }),
        };
        match (command, self.language) {
            (Some(command), Language::Gdb | Language::Lldb) => {
                let rest =
                    Value::Between { prefix: command.trim_start().to_owned(), suffix: order.known_end() };
                machine.run_text(&rest, Input::Inherited);
            }
            // `attach $PID`
            _ if is_cut(word, "attach", 2) => self.attach(machine, &Value::Unknown),
            _ => machine.opaque("an order for the debugger is not known"),
        }
    }

    fn carry_out(&mut self, machine: &mut Machine<'_>, order: &str, depth: usize) {
        self.orders += 1;
        if self.orders > ORDERS || depth > DEPTH {
            machine.unread("more orders for a debugger than are followed");
            return;
        }
        let order = order.trim();
        if order.starts_with('#') {
            return;
        }
        match self.language {
            Language::Gdb => self.of_gdb(machine, order, depth),
            Language::Lldb => self.of_lldb(machine, order, depth),
            Language::Other => {}
        }
    }

    fn of_gdb(&mut self, machine: &mut Machine<'_>, order: &str, depth: usize) {
        let (word, rest) = first_word(order);
        let run = |machine: &mut Machine<'_>, text: &str| {
            machine.run_text(&Value::exact(text), Input::Inherited);
        };
        match word {
            "!" => run(machine, rest),
            _ if is_cut(word, "shell", 2) => run(machine, rest),
            _ if is_cut(word, "make", 3) => run(machine, &format!("make {rest}")),
            // `pipe [-d DELIMITER] ORDER | COMMAND`
            _ if word == "|" || is_cut(word, "pipe", 3) => {
                let rest = rest.strip_prefix("--").unwrap_or(rest);
                let delimiter = rest.strip_prefix("-d ").map_or("|", |rest| first_word(rest.trim_start()).0);
                let body = rest.strip_prefix("-d ").map_or(rest, |rest| first_word(rest.trim_start()).1);
                match body.split_once(delimiter) {
                    Some((inner, command)) => {
                        self.carry_out(machine, inner, depth + 1);
                        run(machine, command);
                    }
                    None => run(machine, body),
                }
            }
            "py" | "python" | "pi" | "python-interactive" => self.code(machine, rest, depth),
            _ if is_cut(word, "python-interactive", 7) => self.code(machine, rest, depth),
            _ if is_cut(word, "source", 2) => {
                let file = rest.split_whitespace().rfind(|word| !word.starts_with('-')).unwrap_or_default();
                let file = Value::exact(file);
                if depth < DEPTH {
                    self.file(machine, &file, depth + 1);
                }
            }
            _ if is_cut(word, "kill", 1) || is_cut(word, "signal", 3) || is_cut(word, "queue-signal", 1) => {
                self.end(machine, if is_cut(word, "kill", 1) { "KILL" } else { rest });
            }
            _ if is_cut(word, "attach", 2) => self.attach(machine, &Value::exact(rest)),
            // What is started gets its words from a shell.
            // `set environment NAME=VALUE`, `set env NAME VALUE`, `unset environment [NAME]` (gdb 15, "Environment").
            "set" | "unset" if is_cut(first_word(rest).0, "environment", 3) => {
                let named = first_word(rest).1;
                let change = match named.split_once(['=', ' ']) {
                    Some((name, value)) if word == "set" => {
                        let value = value.trim_start_matches([' ', '=']);
                        Some(format!("{}={value}", name.trim()))
                    }
                    None if word == "set" => Some(format!("{named}=")),
                    Some(_) | None if !named.is_empty() => Some(named.trim().to_owned()),
                    Some(_) | None => None,
                };
                match change {
                    Some(change) => self.changes.push(Value::Exact(change)),
                    None => self.inheritance = Inheritance::Nothing,
                }
            }
            _ if is_cut(word, "run", 1) || word == "start" || word == "starti" => {
                self.starts = true;
                if !rest.is_empty() {
                    machine.possibly(|machine| run(machine, &format!("true {rest}")));
                }
            }
            _ if word == "gcore" || word == "gc" || is_cut(word, "generate-core-file", 3) => {
                if !rest.is_empty() {
                    machine.write(&Value::exact(rest));
                }
            }
            _ if is_cut(word, "with", 3) => {
                if let Some((_, inner)) = rest.split_once("--") {
                    self.carry_out(machine, inner, depth + 1);
                }
            }
            _ if is_cut(word, "thread", 1) || is_cut(word, "frame", 1) => {
                let (next, rest) = first_word(rest);
                if is_cut(next, "apply", 1) {
                    self.carry_out(machine, behind_threads(rest), depth + 1);
                }
            }
            "taas" | "tfaas" | "faas" => self.carry_out(machine, behind_threads(rest), depth + 1),
            "alias" => {
                if let Some((_, meant)) = rest.split_once('=') {
                    machine.possibly(|machine| self.carry_out(machine, meant, depth + 1));
                }
            }
            "eval" => {
                let text = rest.trim_start_matches('"').split('"').next().unwrap_or_default();
                self.carry_out(machine, text, depth + 1);
            }
            _ if is_cut(word, "target", 3) => {
                if let Some((_, command)) = rest.split_once("| ") {
                    run(machine, command);
                }
            }
            _ => calls(machine, order),
        }
    }

    fn of_lldb(&mut self, machine: &mut Machine<'_>, order: &str, depth: usize) {
        let (word, rest) = first_word(order);
        let (next, behind) = first_word(rest);
        if is_cut(word, "platform", 2) && is_cut(next, "shell", 1) || is_cut(word, "shell", 2) || word == "!"
        {
            let text = if is_cut(word, "platform", 2) { behind } else { rest };
            let command = behind_options(text, &["-t", "--timeout", "-s", "--shell"]);
            machine.run_text(&Value::exact(command), Input::Inherited);
        } else if is_cut(word, "script", 2) {
            let code = behind_options(rest, &["-l", "--language"]);
            self.code(machine, code, depth);
        } else if is_cut(word, "command", 3) && is_cut(next, "source", 2) {
            let file = behind.split_whitespace().rfind(|word| !word.starts_with('-')).unwrap_or_default();
            if depth < DEPTH {
                self.file(machine, &Value::exact(file), depth + 1);
            }
        } else if is_cut(word, "command", 3) && is_cut(next, "script", 2) {
            let file = behind.split_whitespace().rfind(|word| !word.starts_with('-')).unwrap_or_default();
            let words = [Value::exact("python3"), Value::exact(file)];
            machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
        } else if is_cut(word, "command", 3) && is_cut(next, "alias", 2) {
            let (_, meant) = first_word(behind_options(behind, &["-h", "-H"]));
            machine.possibly(|machine| self.carry_out(machine, meant, depth + 1));
        } else if is_cut(word, "process", 2) {
            if is_cut(next, "kill", 1) || is_cut(next, "signal", 2) {
                self.end(machine, if is_cut(next, "kill", 1) { "KILL" } else { behind });
            } else if is_cut(next, "attach", 1) {
                let target = behind.split_whitespace().next_back().unwrap_or_default();
                self.attach(machine, &Value::exact(target));
            } else if is_cut(next, "launch", 1) {
                self.starts = true;
            } else {
                calls(machine, order);
            }
        } else if is_cut(word, "platform", 2) && is_cut(next, "process", 1) {
            let (verb, target) = first_word(behind);
            if is_cut(verb, "kill", 1) {
                let words = [Value::exact("kill"), Value::exact("-9"), Value::exact(target)];
                machine.run_words(&words, Input::Inherited);
            }
        } else if word == "env" || word == "settings" && rest.contains("target.env-vars") {
            // `settings set target.env-vars A=B`, `settings remove target.env-vars A`, `settings set target.inherit-env false` (lldb 19).
            let named = rest.rsplit("target.env-vars").next().unwrap_or(rest).trim();
            self.changes.extend(named.split_whitespace().map(Value::exact));
        } else if word == "settings" && rest.contains("target.inherit-env") && rest.contains("false") {
            self.inheritance = Inheritance::Nothing;
        } else if word == "kill" {
            self.end(machine, "KILL");
        } else if word == "attach" {
            let target = rest.split_whitespace().next_back().unwrap_or_default();
            self.attach(machine, &Value::exact(target));
        } else {
            self.starts |= is_cut(word, "run", 1);
            calls(machine, order);
        }
    }

    /// Ends what is looked into, or sends a signal to it.
    fn end(&self, machine: &mut Machine<'_>, signal: &str) {
        let signal = signal.split_whitespace().next().unwrap_or("KILL");
        if let (Some(target), false) = (&self.attached, matches!(signal, "0" | "SIGCONT" | "CONT")) {
            let words = [Value::exact("kill"), Value::exact("-s"), Value::exact(signal), target.clone()];
            machine.run_words(&words, Input::Inherited);
        }
    }

    /// Code in the language that the debugger is extended with, and the orders that it gives in turn.
    fn code(&mut self, machine: &mut Machine<'_>, code: &str, depth: usize) {
        let words = ["python3", "-c", code].map(Value::exact);
        machine.run_words(&words, Input::Inherited);
        for call in ["gdb.execute(", "HandleCommand("] {
            for inside in code.split(call).skip(1) {
                if let Some(order) = quoted(inside) {
                    self.carry_out(machine, &order, depth + 1);
                }
            }
        }
    }
}

/// Functions that an expression calls in what is looked into: `call (int)system("...")`, `print kill(1, 9)`.
fn calls(machine: &mut Machine<'_>, order: &str) {
    for name in ["system", "popen"] {
        for inside in arguments(order, name) {
            if let Some(text) = quoted(inside) {
                machine.run_text(&Value::Exact(text), Input::Inherited);
            }
        }
    }
    for name in ["unlink", "remove", "rmdir"] {
        for inside in arguments(order, name) {
            if let Some(file) = quoted(inside) {
                machine.delete(&Value::Exact(file), crate::effect::Depth::Single);
            }
        }
    }
    for inside in arguments(order, "kill") {
        let mut given = inside.split([',', ')']).map(str::trim);
        if let (Some(target), Some(signal)) = (given.next(), given.next())
            && signal != "0"
        {
            let words = ["kill", "-s", signal, "--", target].map(Value::exact);
            machine.run_words(&words, Input::Inherited);
        }
    }
}

/// Whether a word is the name of an order, or a beginning of at least so many letters.
fn is_cut(word: &str, name: &str, least: usize) -> bool {
    word.len() >= least && name.starts_with(word)
}

/// The first word of an order and what follows. A sign stands for itself.
fn first_word(order: &str) -> (&str, &str) {
    let order = order.trim_start();
    let end = match order.chars().next() {
        Some('!' | '|') => 1,
        _ => order.find(|letter: char| letter.is_whitespace() || letter == '/').unwrap_or(order.len()),
    };
    let (word, rest) = order.split_at(end);
    (word, rest.trim())
}

/// What stands behind the threads or frames that an order is carried out for: `all -ascending -q ORDER`, `1-3 2.* ORDER`.
fn behind_threads(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let (word, next) = first_word(rest);
        let is_place = matches!(word, "all" | "level" | "function")
            || word.starts_with('-')
            || word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '$');
        if !is_place || word.is_empty() {
            return rest;
        }
        rest = next;
    }
}

/// What stands behind options, of which some have a value.
fn behind_options<'a>(text: &'a str, with_value: &[&str]) -> &'a str {
    let mut rest = text.trim_start();
    while rest.starts_with('-') {
        let (word, next) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = next.trim_start();
        if word == "--" {
            break;
        }
        if with_value.contains(&word) {
            rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim_start();
        }
    }
    rest
}

/// What stands behind the opening parenthesis of each call of a function.
fn arguments<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    (text.match_indices(name))
        .filter(|(at, _)| !text.get(..*at).unwrap_or_default().ends_with(is_part))
        .filter_map(|(at, _)| text.get(at + name.len()..)?.trim_start_matches([' ', ')']).strip_prefix('('))
        .map(str::trim_start)
        .collect()
}

/// The text in quotes with which something begins.
fn quoted(text: &str) -> Option<String> {
    let mut letters = text.trim_start_matches(['f', 'r']).chars();
    let quote = letters.next().filter(|letter| matches!(letter, '"' | '\''))?;
    let mut inner = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => inner.extend(letters.next()),
            letter if letter == quote => return Some(inner),
            letter => inner.push(letter),
        }
    }
    None
}

/// Whether a program of bpftrace sends signals (bpftrace(8), "signal").
fn sends_signals(machine: &Machine<'_>, call: &Call) -> bool {
    let inline = call.words.iter().filter_map(Value::as_exact).any(|text| text.contains("signal("));
    let mut files = call.arguments.operands.iter().filter_map(|file| machine.one_path_through(file));
    inline || files.any(|path| machine.text(&path).as_exact().is_some_and(|text| text.contains("signal(")))
}
