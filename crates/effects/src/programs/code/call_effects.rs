//! What known functions do to processes and hosts.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::guarded::PARENT;
use crate::interpreter::printed::ALL_VARIABLES;
use crate::interpreter::process_lists::ListedProcesses;
use crate::interpreter::signals::suspends;
use crate::interpreter::{Draft, Input, Output, Upload, Value};
use crate::nature::Nature;
use crate::programs::network;
use crate::programs::processes::{HELD_UP, attach, listed_kill, numbered_kill, suspended, throttle};

use super::channels::text_of_data;
use super::evaluator::{Evaluator, Given};
use super::library_calls::LibraryCall;
use super::made::concatenated;
use super::started::Started;
use super::value::ScriptValue;
use checkrein_scripts::Language;

/// The name that stands for a module whose name is put together while the code runs.
pub(super) const UNKNOWN_MODULE: &str = "?";

impl Evaluator<'_, '_, '_> {
    /// Calls what a value is, which may be the name of a function as in PHP.
    pub(super) fn call_by_name(&mut self, callee: &ScriptValue, given: &Given) -> ScriptValue {
        match callee {
            ScriptValue::Text(Value::Exact(name)) => {
                let callee = self.lookup(name);
                self.call_thing(&callee, given)
            }
            ScriptValue::Text(_) => {
                self.runs_unknown_code("calls a function whose name is put together while it runs");
                ScriptValue::Local
            }
            other => self.call_thing(&other.clone(), given),
        }
    }

    /// Names of functions given to a call that calls them: `map(os.remove, files)`.
    pub(super) fn mapped_names(&mut self, given: &Given) {
        let name = match given.positional.first() {
            Some(ScriptValue::Name(name)) => name.clone(),
            Some(ScriptValue::Text(Value::Exact(name))) if self.language == Language::Php => name.clone(),
            _ => return,
        };
        let (Some(deed), Some(list)) = (self.deed(&name), given.positional.get(1)) else { return };
        if given.positional.len() == 2 {
            let positional = match list.each() {
                // `starmap(os.system, [("text",)])`
                ScriptValue::List(items) => items,
                each => vec![each],
            };
            let each = Given { positional, named: Vec::new() };
            self.perform(deed, &name, &each);
        }
    }

    /// Remembers that the code looks up which processes run: one of these may be the guard, or the client that asks it.
    pub(super) fn note_processes(&mut self, deed: LibraryCall, name: &str, given: &Given) {
        let lists = matches!(deed, LibraryCall::List | LibraryCall::Walk | LibraryCall::Glob);
        let place = given.at(0).value().known_start();
        let listed = lists && (place == "/proc" || place.starts_with("/proc/"));
        let asks = given.positional.iter().take(2).any(|thing| names_processes(&thing.value()));
        let is_above =
            matches!(name, "psutil.Process.parent" | "psutil.Process.parents" | "psutil.Process.ppid");
        let is_parent = name == "psutil.Process" && given.at(0).exact().as_deref() == Some(PARENT);
        if matches!(name, "psutil.process_iter" | "psutil.pids") || listed || asks || is_above || is_parent {
            self.sees_processes = true;
        }
        match (self.language, name) {
            (Language::Php, "range") => self.note_counting(&given.at(1)),
            (Language::JavaScript, "Array" | "Array.from") => {
                let length = given.named("length").cloned().unwrap_or_else(|| given.at(0));
                self.note_counting(&length);
            }
            _ => {}
        }
    }

    /// Ends a process. Which it is that code picks out of all that run is not known.
    pub(super) fn kill(&mut self, name: &str, process: &ScriptValue, signal: &ScriptValue) {
        if is_own_process(process) {
            let target = Target::Process("what the code started".to_owned());
            self.act(|machine| machine.add(Draft::new(EffectKind::ProcessKill, target)));
            return;
        }
        // Of an object that stands for a process, what it is given is a signal.
        let process = &if name.starts_with("psutil.") { Value::Unknown } else { process.value() };
        let holds_up = is_suspending(signal) || name == "psutil.Process.suspend";
        if let Some(number) = process.as_exact() {
            let draft = if holds_up { suspended(number) } else { numbered_kill(number) };
            self.act(|machine| machine.add(draft.nature(Nature::Signal)));
            return;
        }
        let picks = self.sees_processes;
        let counted = self.counts.then_some(ListedProcesses::Counted);
        if let Some(list) = self.processes_listed.clone().or(counted).filter(|_| !picks) {
            self.act(|machine| machine.add(listed_kill(&list).nature(Nature::Signal)));
            return;
        }
        self.act(|machine| {
            let before = machine.effect_count();
            machine.effect(EffectKind::ProcessKill, process);
            if picks || holds_up {
                let note = if picks {
                    "which of all processes it picks is not known, the guard may be among them"
                } else {
                    HELD_UP
                };
                machine.amend(before, |effect| {
                    effect.severity = Severity::High;
                    note.clone_into(&mut effect.note);
                });
            }
        });
    }

    /// Changes what processes may use. Which it is that code picks out of all that run is not known.
    pub(super) fn throttle(&mut self, name: &str, given: &Given) {
        // What is given less than the new value is asked for the present one, or means itself.
        let needed = match name {
            "resource.prlimit" => 3,
            "psutil.Process.rlimit" | "os.setPriority" => 2,
            _ => 1,
        };
        if given.positional.len() + given.named.len() < needed {
            return;
        }
        // `os.setpriority(which, who, priority)`, `process.setPriority(pid, priority)`
        let process = given.at(usize::from(name.ends_with("setpriority")));
        if name.ends_with("setpriority") && is_of_user(&given.at(0)) {
            self.act(|machine| throttle(machine, &[], &[process.value()]));
            return;
        }
        let process = if name.starts_with("psutil.") { Value::Unknown } else { process.value() };
        if process.as_exact().is_none() && (self.sees_processes || self.counts) {
            let draft = Draft::new(EffectKind::ProcessKill, Target::Unknown)
                .nature(Nature::HoldsUp)
                .severity(Severity::High)
                .note("takes from running processes what they need to go on, the guard may be among them");
            self.act(|machine| machine.add(draft));
            return;
        }
        self.act(|machine| attach(machine, &process));
    }

    /// Remembers that numbers are gone through, when they go as far as those of processes do.
    pub(super) fn note_counting(&mut self, to: &ScriptValue) {
        let number = match to {
            ScriptValue::Number(number) => Some(*number),
            other => other.exact().and_then(|text| text.parse().ok()),
        };
        self.counts |= number.is_some_and(|number: i64| number >= FAR);
    }

    /// Remembers that numbers next to that of an own process are worked out: those of others are among them.
    pub(super) fn note_neighbour(&mut self, one: &ScriptValue, other: &ScriptValue) {
        let is_near = |one: &ScriptValue, other: &ScriptValue| {
            is_own_process(one) && matches!(other, ScriptValue::Number(_))
        };
        self.counts |= is_near(one, other) || is_near(other, one);
    }

    /// Runs text in a shell; what it prints.
    pub(super) fn run_shell(&mut self, text: &ScriptValue) -> ScriptValue {
        match text {
            ScriptValue::Network(url) => {
                let url = url.clone();
                self.act(|machine| machine.runs_from_network(&url));
                return ScriptValue::Text(Value::Unknown);
            }
            ScriptValue::List(words) => return self.run_list(&words.clone()),
            _ => {}
        }
        let value = text.value();
        self.printed = None;
        if self.socket.is_some() && is_shell(&value.known_start()) {
            self.gives_shell();
            return ScriptValue::Text(Value::Unknown);
        }
        if self.glancing && value.as_exact().is_none() {
            return ScriptValue::Text(Value::Unknown);
        }
        if value.known_start().is_empty() && value.as_exact() != Some("") {
            self.runs_unknown_code("runs a command that is put together while it runs");
            return ScriptValue::Text(Value::Unknown);
        }
        let exit = self.start(&Started::Text(value));
        self.printed_by(exit.output)
    }

    /// Runs words as a command; what it prints.
    pub(super) fn run_list(&mut self, words: &[ScriptValue]) -> ScriptValue {
        let words: Vec<Value> =
            words.iter().flat_map(ScriptValue::items).map(|thing| thing.value()).collect();
        let Some(first) = words.first() else { return ScriptValue::Text(Value::Unknown) };
        self.printed = None;
        if self.socket.is_some() && is_shell(&first.known_start()) {
            self.gives_shell();
            return ScriptValue::Text(Value::Unknown);
        }
        if words.len() <= 2
            && is_shell(&first.known_start())
            && words.get(1).is_none_or(|word| word.as_exact() == Some("-i"))
        {
            self.spawned_shell = true;
        }
        if *first == Value::Unknown {
            self.runs_unknown_code("runs a program that is chosen while it runs");
            return ScriptValue::Text(Value::Unknown);
        }
        let exit = self.start(&Started::Words(words));
        self.printed_by(exit.output)
    }

    /// What a program printed that was started. Perl and PHP take the end of its line away with functions that change a variable in place
    /// or are taken to change nothing, and a file whose name ends so is hardly ever meant.
    fn printed_by(&self, output: Output) -> ScriptValue {
        match output {
            Output::Text(Value::Exact(text))
                if matches!(self.language, Language::Perl | Language::Php)
                    && text.trim_end_matches('\n').lines().count() == 1 =>
            {
                ScriptValue::text(text.trim_end_matches('\n'))
            }
            output => Self::from_output(output),
        }
    }

    /// Adds that a host is talked to; what comes back.
    pub(super) fn request(&mut self, given: &Given, upload: Upload) -> ScriptValue {
        self.request_by(given, upload, None)
    }

    /// The same by the method of HTTP that the name of the call says, unless what it is given says another.
    pub(super) fn request_by(
        &mut self,
        given: &Given,
        upload: Upload,
        method: Option<String>,
    ) -> ScriptValue {
        let first = given
            .positional
            .first()
            .or_else(|| given.named("url"))
            .or_else(|| given.named("host"))
            .or_else(|| given.named("hostname"));
        let url = match first {
            Some(ScriptValue::Map(entries)) => entries
                .iter()
                .find(|(key, _)| matches!(key.as_str(), "hostname" | "host" | "url"))
                .map_or(Value::Unknown, |(_, value)| value.value()),
            Some(ScriptValue::List(items)) => items.first().map_or(Value::Unknown, ScriptValue::value),
            Some(thing) => thing.value(),
            None => Value::Unknown,
        };
        if let Some(path) = url.as_exact().and_then(|url| url.strip_prefix("file://")) {
            return self.read(&ScriptValue::text(path));
        }
        let said = given.positional.iter().find_map(|thing| thing.get("method"));
        let said = said.or_else(|| given.named("method")).and_then(ScriptValue::exact);
        let upload = match said.as_deref().map(str::to_ascii_uppercase).as_deref() {
            Some("GET" | "HEAD" | "OPTIONS") | None => upload,
            Some(_) => Upload::Yes,
        };
        let method = said.or(method).map(|method| method.to_ascii_uppercase());
        // What is sent and not known may be the archive.
        let sends = given.positional.len() + given.named.len() > 1;
        let packed = self.packed.clone().filter(|_| sends).map(Output::Secret);
        let secret = self.secret_given(given).or(packed);
        self.act(|machine| {
            network::request_of_code(machine, &url, upload, secret.as_ref());
            network::note_deletion(machine, &url, method.as_deref());
        });
        ScriptValue::Network(url.as_exact().map_or_else(|| url.known_start(), str::to_owned))
    }

    /// Adds that a connection is opened.
    pub(super) fn connect(&mut self, given: &Given) -> ScriptValue {
        self.connect_as(given, Upload::No)
    }

    /// As [`Evaluator::connect`], with data sent at once or not.
    pub(super) fn connect_as(&mut self, given: &Given, upload: Upload) -> ScriptValue {
        let parts: Vec<Value> = given
            .positional
            .iter()
            .map(|thing| match thing {
                ScriptValue::Map(entries) => entries
                    .iter()
                    .find(|(key, _)| key == "host")
                    .map_or(Value::Unknown, |(_, value)| value.value()),
                other => other.value(),
            })
            .collect();
        let texts: Vec<String> = given
            .positional
            .iter()
            .flat_map(ScriptValue::items)
            .map(|thing| thing.value())
            .filter_map(|value| value.as_exact().map(str::to_owned))
            .collect();
        let is_port = |text: &String| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        let host = texts.iter().find(|text| !is_port(text) && !text.is_empty());
        let port = texts.iter().find(|text| is_port(text));
        let host = match (host, port) {
            (Some(host), Some(port)) if !host.contains(':') => Value::exact(format!("{host}:{port}")),
            (Some(host), _) => Value::exact(host.as_str()),
            (None, _) => parts
                .into_iter()
                .find(|value| {
                    *value != Value::Unknown
                        && !value.as_exact().is_some_and(|text| is_port(&text.to_owned()))
                })
                .unwrap_or(Value::Unknown),
        };
        self.act(|machine| machine.host(&host, upload));
        self.socket = Some(host.clone());
        if self.duplicated || self.spawned_shell {
            self.gives_shell();
        }
        ScriptValue::Socket(host)
    }

    /// Adds that whoever is at the other end of a connection may run what they want.
    pub(super) fn gives_shell(&mut self) {
        let host = self.socket.clone().unwrap_or(Value::Unknown);
        self.act(|machine| machine.effect(EffectKind::RemoteCodeExecution, &host));
    }

    /// Runs a value as code.
    pub(super) fn evaluate(&mut self, code: &ScriptValue) {
        match code {
            ScriptValue::Network(url) => {
                let url = url.clone();
                self.act(|machine| machine.runs_from_network(&url));
            }
            ScriptValue::Text(Value::Exact(text)) => self.run_code(&text.clone()),
            ScriptValue::Function(place) => {
                self.call_function(*place, &[]);
            }
            _ => self.runs_unknown_code("runs code that is put together while it runs"),
        }
    }

    pub(super) fn joined(given: &Given) -> Value {
        let mut parts = given.positional.iter().flat_map(ScriptValue::items);
        let Some(first) = parts.next() else { return Value::exact(".") };
        parts.fold(first, |whole, part| ScriptValue::Text(whole.below(&part))).value()
    }

    /// Runs a statement on a database that is a file, as its client does.
    pub(super) fn run_statement(&mut self, file: &Value, text: &Value) {
        let words = [Value::exact("sqlite3"), file.clone(), text.clone()];
        self.act(|machine| machine.run_words(&words, Input::Inherited));
    }

    /// A variable of the environment, or what is given in its place.
    pub(super) fn environment(&mut self, given: &Given) -> ScriptValue {
        let Some(name) = given.at(0).exact() else {
            // Without a name it is all of them; which one is meant is not known else.
            return ScriptValue::secret(ALL_VARIABLES);
        };
        self.variable_of_environment(&name, given.positional.get(1))
    }

    pub(super) fn standard_input(&mut self) -> ScriptValue {
        match &self.call.input {
            Input::Network(url) => ScriptValue::Network(url.clone()),
            Input::Secret(place) if place.starts_with('$') => ScriptValue::secret(place.as_str()),
            Input::Text(text) if text.alternatives().is_some() => ScriptValue::Text(text.clone()),
            Input::Inherited | Input::Text(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => {
                self.reads_names = true;
                ScriptValue::Text(Value::Unknown)
            }
        }
    }

    /// The words that are given to the code, from one on.
    pub(super) fn arguments(&self, from: usize) -> ScriptValue {
        let operands = &self.call.arguments.operands;
        ScriptValue::List(
            operands
                .get(from..)
                .unwrap_or_default()
                .iter()
                .map(|value| ScriptValue::Text(value.clone()))
                .collect(),
        )
    }

    /// A module by name.
    pub(super) fn import(&mut self, module: &ScriptValue) -> ScriptValue {
        let Some(name) = module.exact() else {
            if self.language == Language::Python {
                // Only what is called of it says how much may happen.
                return ScriptValue::Name(UNKNOWN_MODULE.to_owned());
            }
            self.runs_unknown_code("loads a module whose name is put together while it runs");
            return ScriptValue::Local;
        };
        match self.language {
            Language::JavaScript => {
                let name = name
                    .trim_start_matches("node:")
                    .replace("/promises", "")
                    .replace("fs-extra", "fs")
                    .replace("graceful-fs", "fs");
                if let Some(code) = text_of_data(&name) {
                    self.evaluate(&code);
                    return ScriptValue::Local;
                }
                if let Some(own) = self.own_module(&name, 0) {
                    return own;
                }
                if name.starts_with("http://") || name.starts_with("https://") {
                    let url = ScriptValue::text(name.as_str());
                    let given = Given { positional: vec![url], named: Vec::new() };
                    let code = self.request(&given, Upload::No);
                    self.evaluate(&code);
                    return ScriptValue::Local;
                }
                if name.ends_with(".json") { ScriptValue::Local } else { ScriptValue::Name(name) }
            }
            Language::Python => self.own_module(&name, 0).unwrap_or(ScriptValue::Name(name)),
            Language::Lua => ScriptValue::Name(name),
            Language::Perl | Language::Ruby | Language::Php | Language::R => ScriptValue::Local,
        }
    }
}

/// From which number on a range reaches those of processes that run for long (ours).
const FAR: i64 = 1000;

/// The number of a process that the code has started itself.
pub(super) fn own_process() -> ScriptValue {
    ScriptValue::Method(Box::new(ScriptValue::Process(usize::MAX)), "pid".to_owned())
}

/// Whether a signal holds a process up: by its number, by its name, or by a constant of a library.
fn is_suspending(signal: &ScriptValue) -> bool {
    match signal {
        ScriptValue::Name(name) => suspends(name.rsplit(['.', ':']).next().unwrap_or(name)),
        other => other.exact().is_some_and(|name| suspends(name.trim_start_matches(':'))),
    }
}

/// Whether a value is the number of a process that the code has started itself.
pub(super) fn is_own_process(value: &ScriptValue) -> bool {
    match value {
        ScriptValue::Method(of, name) => name == "pid" && matches!(**of, ScriptValue::Process(_)),
        // `my $pid = fork;`
        ScriptValue::Name(name) => name == "fork",
        _ => false,
    }
}

/// Whether a path is that of the processes of the kernel, one after the other.
pub(super) fn names_processes(path: &Value) -> bool {
    match path {
        Value::Exact(text) => {
            matches!(text.trim_end_matches('/'), "/proc") || text.starts_with("/proc/") && text.contains('*')
        }
        Value::Glob(pattern) => pattern.starts_with("/proc/"),
        Value::Between { prefix, .. } => prefix.starts_with("/proc/"),
        Value::AnyOf(_) | Value::Unknown => false,
    }
}

/// The directory of a path.
pub(super) fn parent(path: &Value) -> Value {
    match path.as_exact() {
        Some(text) => match text.trim_end_matches('/').rsplit_once('/') {
            Some(("", _)) => Value::exact("/"),
            Some((directory, _)) => Value::exact(directory),
            None if text == "/" => Value::exact("/"),
            None => Value::exact("."),
        },
        None => Value::Unknown,
    }
}

/// A list of texts with another between.
pub(super) fn joined_text(between: &ScriptValue, parts: &[ScriptValue]) -> ScriptValue {
    let all = parts.iter().enumerate().flat_map(|(index, part)| {
        let between = (index > 0).then_some(between);
        between.into_iter().chain(std::iter::once(part))
    });
    concatenated(all)
}

/// Whether a command is a shell without anything to do but to listen.
pub(super) fn is_shell(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let program = words.next().unwrap_or_default();
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(
        name,
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "cmd" | "cmd.exe" | "powershell" | "powershell.exe" | "pwsh"
    ) && words.all(|word| {
        word == "-i"
            || word == "-l"
            || word.starts_with(['<', '>'])
            || word == "-il"
            || word.starts_with("2>")
    })
}

/// Whether all processes of a user are meant: `PRIO_USER` (setpriority(2)).
fn is_of_user(which: &ScriptValue) -> bool {
    match which {
        ScriptValue::Name(name) => name.ends_with("PRIO_USER"),
        other => other.exact().as_deref() == Some("2"),
    }
}
