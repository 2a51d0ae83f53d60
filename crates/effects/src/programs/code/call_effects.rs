//! What known functions do to files, processes and hosts.

use crate::effect::{Depth, EffectKind, Severity, Target};
use crate::interpreter::printed::ALL_VARIABLES;
use crate::interpreter::{Arguments, Call, Draft, Input, Output, Upload, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::programs::{files, network};
use crate::world::Entry;

use super::evaluator::{Evaluator, Given};
use super::library_calls::LibraryCall;
use super::value::ScriptValue;
use checkrein_scripts::Language;

/// The mode of `open` that flags of `os.open` and `fs.open` come to (open(2)); `None` where no flags are given.
fn flags_as_mode(given: &Given) -> Option<String> {
    let ScriptValue::Name(flags) = given.named("flags").or_else(|| given.positional.get(1))? else {
        return None;
    };
    let has = |name: &str| flags.split('|').any(|flag| flag.rsplit('.').next() == Some(name));
    let mode = if has("O_APPEND") {
        "a"
    } else if has("O_TRUNC") || has("O_WRONLY") {
        "w"
    } else if has("O_RDWR") {
        "r+"
    } else {
        "r"
    };
    flags.contains(".O_").then(|| mode.to_owned())
}

/// The name that stands for a module whose name is put together while the code runs.
pub(super) const UNKNOWN_MODULE: &str = "?";

/// Whether a pattern with a star takes names that begin with a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HiddenNames {
    /// Like any other name: what lists a directory.
    LikeOthers,
    /// Only where the pattern begins with a dot itself.
    BesideOthers,
}

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
            let each = Given { positional: vec![list.each()], named: Vec::new() };
            self.perform(deed, &name, &each);
        }
    }

    pub(super) fn paths_given(&self, given: &Given) -> Vec<Value> {
        if given.positional.is_empty() {
            return vec![self.variables.get("$_").map_or(Value::Unknown, ScriptValue::value)];
        }
        given
            .positional
            .iter()
            .filter(|thing| !matches!(thing, ScriptValue::Map(_) | ScriptValue::Function(_)))
            .flat_map(ScriptValue::items)
            .map(|thing| thing.value())
            .collect()
    }

    /// A path as R takes it: `~` is the home directory there too.
    fn at_home(&self, path: Value) -> Value {
        match path.as_exact().and_then(|text| text.strip_prefix('~')) {
            Some(rest) if self.language == Language::R && (rest.is_empty() || rest.starts_with('/')) => {
                Value::Exact(format!("{}{rest}", self.machine.world().place().home))
            }
            Some(_) | None => path,
        }
    }

    /// Adds that a path is removed; one that is not known is possible only.
    pub(super) fn delete(&mut self, path: &Value, depth: Depth) {
        let path = &self.at_home(path.clone());
        if *path == Value::Unknown && self.reads_names && self.is_inline() {
            self.machine.with_words_from(&Output::Unknown, |machine| {
                machine.possibly(|machine| machine.delete(path, depth));
            });
        } else if *path == Value::Unknown {
            self.machine.possibly(|machine| machine.delete(path, depth));
        } else {
            self.act(|machine| machine.delete(path, depth));
        }
    }

    /// Adds that a file is written with a text.
    pub(super) fn write(&mut self, path: &Value, text: &ScriptValue) {
        let path = &self.at_home(path.clone());
        let output = match text {
            ScriptValue::Network(url) => Output::Network(url.clone()),
            ScriptValue::Text(value) => Output::Text(value.clone()),
            ScriptValue::Secret(place, _) => Output::Secret(place.clone()),
            _ => Output::Unknown,
        };
        if *path == Value::Unknown {
            self.machine.possibly(|machine| machine.write(path));
        } else {
            self.act(|machine| machine.write_from(path, &output));
        }
    }

    /// Adds that a file is appended to.
    pub(super) fn append(&mut self, path: &Value) {
        self.act(|machine| {
            let before = machine.effect_count();
            machine.write(path);
            machine.amend(before, |effect| {
                if effect.kind == EffectKind::FileModify && effect.nature == Nature::Ordinary {
                    effect.nature = Nature::Appended;
                    if effect.note.is_empty() {
                        "appends".clone_into(&mut effect.note);
                    }
                }
            });
        });
    }

    /// Adds that a file is read; what it holds.
    pub(super) fn read(&mut self, path: &ScriptValue) -> ScriptValue {
        match path {
            ScriptValue::Network(url) => return ScriptValue::Network(url.clone()),
            ScriptValue::File(value) => {
                let value = value.clone();
                let swept = self.swept_in_file(&value);
                return swept.unwrap_or_else(|| Self::from_output(self.machine.peek(&value)));
            }
            ScriptValue::Text(Value::Exact(text))
                if text == "/dev/stdin" || text == "0" || text == "php://stdin" =>
            {
                return self.standard_input();
            }
            ScriptValue::Text(Value::Exact(text))
                if text.starts_with("http://") || text.starts_with("https://") =>
            {
                let given = Given { positional: vec![path.clone()], named: Vec::new() };
                return self.request(&given, Upload::No);
            }
            ScriptValue::Secret(_, text)
                if ["http://", "https://"].iter().any(|scheme| text.known_start().starts_with(scheme)) =>
            {
                let given = Given { positional: vec![path.clone()], named: Vec::new() };
                return self.request(&given, Upload::No);
            }
            _ => {}
        }
        let value = path.value();
        if value == Value::Unknown {
            return ScriptValue::Text(Value::Unknown);
        }
        let hidden = match path {
            ScriptValue::Path(_) => HiddenNames::LikeOthers,
            _ => self.hidden_names(),
        };
        let output = self.act(|machine| machine.read(&value));
        if let Some(secret) = self.swept_secret(&value, hidden) {
            return secret;
        }
        match output {
            Output::Text(Value::Exact(text)) => ScriptValue::text(text),
            other => Self::from_output(other),
        }
    }

    /// Whether the names that the code has hold those that begin with a dot.
    fn hidden_names(&self) -> HiddenNames {
        if self.lists_hidden { HiddenNames::LikeOthers } else { HiddenNames::BesideOthers }
    }

    /// The secret that an open file may be, of which the name is one of a list.
    pub(super) fn swept_in_file(&mut self, file: &Value) -> Option<ScriptValue> {
        self.swept_secret(file, self.hidden_names())
    }

    /// The secret among the files of a pattern that code reads, which is told when it is printed.
    fn swept_secret(&mut self, value: &Value, hidden: HiddenNames) -> Option<ScriptValue> {
        let Value::Glob(pattern) = value else { return None };
        let (directory, last) = pattern.rsplit_once('/').unwrap_or((".", pattern));
        let fixed = directory.split(['*', '?', '[']).next().unwrap_or_default();
        let is_deep = fixed.len() < directory.len();
        let start = if is_deep { fixed.rsplit_once('/').map_or(".", |(start, _)| start) } else { directory };
        let aims = self.machine.paths_through(&Value::exact(start));
        let root = aims.first()?.target.path()?.clone();
        let is_all_alike = hidden == HiddenNames::LikeOthers;
        let fits = |path: &AbsolutePath| {
            let name = path.name().unwrap_or_default();
            let is_shown = !name.starts_with('.') || is_all_alike || last.starts_with('.');
            is_shown
                && (is_deep || path.parent().is_some_and(|parent| parent == root))
                && (crate::stake::name_matches(last, name)
                    || is_all_alike && crate::stake::name_matches(last, name.trim_start_matches('.')))
        };
        let found = self.machine.credentials_within(&root, &[]).into_iter().find(fits)?;
        self.machine.carry(&found).into_secret().map(ScriptValue::secret)
    }

    /// `open(path, mode)` in all its forms.
    pub(super) fn open(&mut self, given: &Given) -> ScriptValue {
        let mode_at = |place: usize| given.positional.get(place).and_then(ScriptValue::exact);
        let named = given.named("mode").and_then(ScriptValue::exact);
        let (path, mode) = if self.language == Language::Perl {
            let mode = mode_at(1).unwrap_or_default();
            match given.positional.get(2) {
                Some(path) => (path.clone(), mode),
                None => return self.open_by_text(&mode, given),
            }
        } else {
            (given.at(0), named.or_else(|| mode_at(1)).unwrap_or_else(|| "r".to_owned()))
        };
        if self.language == Language::Perl && mode.contains('|') {
            let words: Vec<ScriptValue> = given.positional.get(2..).unwrap_or_default().to_vec();
            return match words.as_slice() {
                [only] => self.run_shell(only),
                several => self.run_list(several),
            };
        }
        if let Some(text) = path.exact() {
            if self.language == Language::Ruby && text.starts_with('|') {
                return self.run_shell(&ScriptValue::text(text.trim_start_matches('|')));
            }
            if text.starts_with("http://") || text.starts_with("https://") {
                return self.request(given, Upload::No);
            }
        }
        if matches!(path, ScriptValue::Network(_)) {
            return path;
        }
        // `os.open` takes flags, `os.O_WRONLY | os.O_TRUNC`, where `open` takes a mode.
        let mode = flags_as_mode(given).unwrap_or(mode);
        let value = path.value();
        if mode.contains('&') {
            // A duplicate of an open stream.
            if self.socket.is_some() {
                self.duplicated = true;
                self.gives_shell();
            }
        } else if mode.contains(">>") || mode.contains('a') && !mode.contains('r') {
            self.append(&value);
        } else if mode.contains(['w', 'x', '>'])
            || (mode.contains('+') && !mode.contains('<'))
            || mode.contains('c') && self.language == Language::Php
        {
            self.write(&value, &ScriptValue::Text(Value::Unknown));
        } else {
            self.read(&path);
        }
        self.set_handle(given, &value);
        ScriptValue::File(value)
    }

    /// `open(F, ">file")` of Perl.
    pub(super) fn open_by_text(&mut self, text: &str, given: &Given) -> ScriptValue {
        let text = text.trim();
        if let Some(command) = text.strip_prefix('|') {
            return self.run_shell(&ScriptValue::text(command.trim()));
        }
        if let Some(command) = text.strip_suffix('|') {
            return self.run_shell(&ScriptValue::text(command.trim()));
        }
        let path = Value::exact(text.trim_start_matches(['<', '>', '+', '&']).trim());
        if text.starts_with(">&") || text.starts_with("<&") {
            if self.socket.is_some() {
                self.duplicated = true;
                self.gives_shell();
            }
        } else if text.starts_with(">>") {
            self.append(&path);
        } else if text.starts_with('>') || text.starts_with('+') {
            self.write(&path, &ScriptValue::Text(Value::Unknown));
        } else if text.is_empty() {
            // The name is put together while the code runs; it may hold a mode or a command.
            let start = given.at(1).value();
            if let Some(path) = start.known_start().strip_prefix('>').map(str::to_owned) {
                let path = if path.is_empty() {
                    Value::Unknown
                } else {
                    Value::Between { prefix: path, suffix: String::new() }
                };
                self.write(&path, &ScriptValue::Text(Value::Unknown));
            }
        } else {
            self.read(&ScriptValue::Text(path.clone()));
        }
        self.set_handle(given, &path);
        ScriptValue::File(path)
    }

    /// `open(my $handle, ...)` gives the variable the file.
    pub(super) fn set_handle(&mut self, given: &Given, path: &Value) {
        if self.language == Language::Perl
            && let Some(ScriptValue::Name(name)) = given.positional.first()
        {
            self.variables.insert(name.clone(), ScriptValue::File(path.clone()));
        }
    }

    /// Remembers that the code looks up which processes run: one of these may be the guard, or the client that asks it.
    pub(super) fn note_processes(&mut self, deed: LibraryCall, name: &str, given: &Given) {
        let lists = matches!(deed, LibraryCall::List | LibraryCall::Walk | LibraryCall::Glob);
        let of_kernel = || {
            let start = given.at(0).value().known_start();
            start == "/proc" || start.starts_with("/proc/")
        };
        if name == "psutil.process_iter" || name == "psutil.pids" || lists && of_kernel() {
            self.sees_processes = true;
        }
    }

    /// Ends a process. Which it is that code picks out of all that run is not known.
    pub(super) fn kill(&mut self, name: &str, process: &Value) {
        let picks = self.sees_processes && (process.as_exact().is_none() || name.starts_with("psutil."));
        self.act(|machine| {
            let before = machine.effect_count();
            machine.effect(EffectKind::ProcessKill, process);
            if picks {
                machine.amend(before, |effect| {
                    effect.severity = Severity::High;
                    "which of all processes it picks is not known, the guard may be among them"
                        .clone_into(&mut effect.note);
                });
            }
        });
    }

    /// Changes mode or owner; of a directory above the guard it is told what that leaves its owner.
    pub(super) fn change_rights(&mut self, name: &str, path: &Value, wanted: Option<&ScriptValue>) {
        let is_mode = name.trim_end_matches("Sync").ends_with("chmod") || name.ends_with("chmod_R");
        let rights = match wanted {
            Some(ScriptValue::Number(bits)) if is_mode => u32::try_from(*bits).ok().map(files::of_bits),
            Some(thing) if is_mode => thing.exact().as_deref().and_then(files::of_mode),
            Some(_) | None => None,
        };
        let above =
            self.machine.one_path_through(path).is_some_and(|path| self.machine.is_above_guard(&path));
        // What is not known is not taken for harmless where the guard lives.
        let rights = rights.or(is_mode.then_some(files::Rights::Taken));
        self.act(|machine| {
            let before = machine.effect_count();
            machine.effect(EffectKind::PermissionChange, path);
            if above {
                machine.amend(before, |effect| {
                    effect.nature = rights.map_or(Nature::Ordinary, files::Rights::nature);
                    rights.map_or("", files::Rights::note).clone_into(&mut effect.note);
                });
            }
        });
    }

    /// Moves or copies as the command does that is named.
    pub(super) fn transfer(
        &mut self,
        handler: fn(&mut crate::interpreter::Machine<'_>, &Call) -> crate::interpreter::Exit,
        program: &str,
        given: &Given,
        options: &[&str],
    ) {
        let (from, to) = (given.at(0).value(), given.at(1).value());
        if from == Value::Unknown || to == Value::Unknown {
            self.machine.possibly(|machine| {
                if program == "mv" && from != Value::Unknown {
                    machine.add(Draft::new(EffectKind::FileModify, Target::Unknown));
                    machine.delete(&from, Depth::Single);
                } else {
                    machine.write(&to);
                }
            });
            return;
        }
        let call = Call {
            program: program.to_owned(),
            written: program.to_owned(),
            words: vec![from.clone(), to.clone()],
            input: Input::Inherited,
            arguments: Arguments {
                options: options.iter().map(|option| ((*option).to_owned(), None)).collect(),
                operands: vec![from, to],
                uncertain: false,
            },
        };
        self.act(|machine| handler(machine, &call));
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
        if value.known_start().is_empty() && value.as_exact() != Some("") {
            self.runs_unknown_code("runs a command that is put together while it runs");
            return ScriptValue::Text(Value::Unknown);
        }
        let exit = self.act(|machine| machine.run_text(&value, Input::Inherited));
        Self::from_output(exit.output)
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
        let exit = self.act(|machine| machine.run_words(&words, Input::Inherited));
        Self::from_output(exit.output)
    }

    /// Adds that a host is talked to; what comes back.
    pub(super) fn request(&mut self, given: &Given, upload: Upload) -> ScriptValue {
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
        let method =
            given.positional.iter().find_map(|thing| thing.get("method")).and_then(ScriptValue::exact);
        let upload = match method.as_deref().map(str::to_ascii_uppercase).as_deref() {
            Some("GET" | "HEAD" | "OPTIONS") | None => upload,
            Some(_) => Upload::Yes,
        };
        let secret = self.secret_given(given);
        self.act(|machine| network::request_of_code(machine, &url, upload, secret.as_ref()));
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

    /// Makes a temporary file or directory, as `mktemp` does.
    pub(super) fn make_temporary(&mut self, deed: LibraryCall, name: &str, given: &Given) -> ScriptValue {
        let part = |key: &str, place: Option<usize>| {
            let by_place = place.and_then(|place| given.positional.get(place));
            given.named(key).or(by_place).and_then(ScriptValue::exact).unwrap_or_default()
        };
        let is_directory = deed == LibraryCall::TemporaryDirectory;
        let mut words = vec![Value::exact("mktemp")];
        if is_directory {
            words.push(Value::exact("-d"));
        }
        if self.language == Language::JavaScript {
            let prefix = given.at(0).value();
            words.push(prefix.followed_by(&Value::exact("XXXXXX")));
        } else {
            let (prefix, suffix) = (part("prefix", None), part("suffix", None));
            let prefix = if prefix.is_empty() { "tmp.".to_owned() } else { prefix };
            words.extend([Value::exact("--suffix"), Value::exact(suffix)]);
            match given.named("dir").map(ScriptValue::value) {
                Some(directory) => words.extend([Value::exact("-p"), directory]),
                None => words.push(Value::exact("--tmpdir")),
            }
            words.push(Value::exact(format!("{prefix}XXXXXXXXXX")));
        }
        let exit = self.act(|machine| machine.run_words(&words, Input::Inherited));
        let path = match exit.output {
            Output::Text(value) => {
                value.as_exact().map_or(value.clone(), |text| Value::exact(text.trim_end()))
            }
            _ => Value::Between { prefix: "/tmp/".to_owned(), suffix: String::new() },
        };
        match name {
            "tempfile.mkstemp" => ScriptValue::List(vec![ScriptValue::Local, ScriptValue::Text(path)]),
            _ if is_directory && name != "tempfile.TemporaryDirectory" => ScriptValue::Text(path),
            _ => ScriptValue::File(path),
        }
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

    pub(super) fn variable_of_environment(
        &mut self,
        name: &str,
        otherwise: Option<&ScriptValue>,
    ) -> ScriptValue {
        if let Some(secret) = self.secret_variable(name) {
            return secret;
        }
        match (self.machine.variable(name), otherwise) {
            (Some(value), _) => ScriptValue::Text(value),
            (None, Some(thing)) => thing.clone(),
            (None, None) => ScriptValue::Text(Value::Unknown),
        }
    }

    pub(super) fn exists(&mut self, path: &ScriptValue) -> ScriptValue {
        let aims = self.machine.paths_through(&path.value());
        let there = match aims.as_slice() {
            [aim] => aim.target.path().map(|path| self.machine.entry(path)),
            _ => None,
        };
        match there {
            Some(Entry::File(_) | Entry::Directory | Entry::Special) => ScriptValue::Truth(true),
            Some(Entry::Missing | Entry::Symlink(_) | Entry::Unknown) | None => ScriptValue::Local,
        }
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
    let mut whole = ScriptValue::text("");
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            whole = whole.followed_by(between);
        }
        whole = whole.followed_by(part);
    }
    whole
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
