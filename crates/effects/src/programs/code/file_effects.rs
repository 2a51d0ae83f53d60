//! What known functions do to files.

use super::braces;
use super::evaluator::{Evaluator, Given};
use super::library_calls::LibraryCall;
use super::value::ScriptValue;
use crate::effect::{Depth, EffectKind, Severity, Target};
use crate::interpreter::process_lists::ListedProcesses;
use crate::interpreter::{Arguments, Call, Draft, Input, Output, Upload, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::programs::files;
use crate::world::Entry;
use checkrein_scripts::Language;

/// The mode of `open` that flags of `os.open` and `fs.open` come to (open(2)); `None` where no flags are given.
fn flags_as_mode(given: &Given) -> Option<String> {
    let flags = match given.named("flags").or_else(|| given.positional.get(1))? {
        ScriptValue::Name(flags) => flags,
        // The numbers of Linux.
        ScriptValue::Number(flags) => {
            let has = |bits: i64| flags & bits != 0;
            let mode = if has(0o2000) {
                "a"
            } else if has(0o1000) || flags & 3 == 1 {
                "w"
            } else if flags & 3 == 2 {
                "r+"
            } else {
                "r"
            };
            return Some(mode.to_owned());
        }
        _ => return None,
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

/// Whether a pattern with a star takes names that begin with a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HiddenNames {
    /// Like any other name: what lists a directory.
    LikeOthers,
    /// Only where the pattern begins with a dot itself.
    BesideOthers,
}

impl Evaluator<'_, '_, '_> {
    pub(super) fn paths_given(&self, given: &Given) -> Vec<Value> {
        if given.positional.is_empty() {
            return vec![self.variable("$_").map_or(Value::Unknown, ScriptValue::value)];
        }
        // Behind the path Python takes how it is done.
        let paths = if self.language == Language::Python { 1 } else { usize::MAX };
        given
            .positional
            .iter()
            .take(paths)
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
        if *path == Value::Unknown && self.glancing {
            return;
        }
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

    /// Whether a name of which nothing is known may be one that others sent: code in the command itself that reads names which a program
    /// of which nothing is known prints, or which come over the network.
    fn is_named_by_input(&self) -> bool {
        self.is_inline()
            && match self.call.input {
                Input::Network(_) => true,
                Input::Unknown => self.reads_names,
                Input::Inherited | Input::Text(_) | Input::Secret(_) | Input::Local(_) => false,
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
        if *path == Value::Unknown && self.is_named_by_input() {
            self.machine.with_words_from(&Output::Unknown, |machine| {
                machine.possibly(|machine| machine.write(path));
            });
        } else if *path == Value::Unknown {
            self.machine.possibly(|machine| machine.write(path));
        } else {
            self.act(|machine| machine.write_from(path, &output));
        }
        if !matches!(output, Output::Text(Value::Exact(_)) | Output::Network(_)) {
            self.machine.note_guard_read_before(path);
        }
    }

    /// Remembers what the code writes into an open file: a program may run it later.
    pub(super) fn put_in(&mut self, path: &Value, method: &str, given: &Given) {
        let Some(name) = path.as_exact() else { return };
        let end = if method == "puts" { "\n" } else { "" };
        let texts = given.positional.iter().flat_map(ScriptValue::items);
        let text = texts.fold(ScriptValue::text(""), |text, part| {
            text.followed_by(&part).followed_by(&ScriptValue::text(end))
        });
        if text.exact().is_none() {
            self.machine.note_guard_read_before(path);
        }
        let before = self.contents.remove(name).unwrap_or(ScriptValue::Text(Value::Unknown));
        let whole =
            if self.doubt > 0 { ScriptValue::Text(Value::Unknown) } else { before.followed_by(&text) };
        let aims = self.machine.paths_through(path);
        for aim in &aims {
            self.machine.hold(aim, whole.value());
        }
        self.contents.insert(name.to_owned(), whole);
    }

    /// Adds that a text is appended to a file.
    pub(super) fn append_text(&mut self, path: &Value, text: &ScriptValue) {
        let longer = self.text_before(path).map(|(place, before)| (place, before.followed_by(&text.value())));
        self.append(path);
        if let Some((place, Value::Exact(longer))) = longer.filter(|_| self.doubt == 0) {
            self.act(|machine| machine.overlay().announce(&place, longer));
        }
    }

    /// Where a path leads, and what stands there before something is appended.
    fn text_before(&self, path: &Value) -> Option<(AbsolutePath, Value)> {
        let place = self.machine.one_path_through(path)?;
        let text = match self.machine.entry(&place) {
            Entry::Missing => Value::exact(""),
            Entry::File(_) => self.machine.announced_text(&place),
            Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => Value::Unknown,
        };
        Some((place, text))
    }

    /// Adds that a file is opened to append to it.
    fn open_to_append(&mut self, path: &Value) {
        let before = self.text_before(path).map(|(_, text)| text).filter(|text| text.as_exact().is_some());
        self.append(path);
        if let (Some(name), Some(text)) = (path.as_exact(), before) {
            self.contents.insert(name.to_owned(), ScriptValue::Text(text));
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
        // What who started this shell has started: shells, and those that ask the guard (proc(5)).
        if path.value().known_start().starts_with("/proc/$PPID")
            && path.value().known_end().ends_with("children")
        {
            self.processes_listed = Some(ListedProcesses::All);
        }
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

    /// The files that a pattern names.
    pub(super) fn globbed(&mut self, deed: LibraryCall, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        match given.at(0).items().first().map(ScriptValue::value) {
            // Blanks stand between the patterns of Perl.
            Some(Value::Exact(patterns))
                if self.language == Language::Perl && patterns.trim().contains(char::is_whitespace) =>
            {
                let each = patterns.split_whitespace().map(|pattern| {
                    let given = Given { positional: vec![ScriptValue::text(pattern)], named: Vec::new() };
                    self.perform_plain(deed, name, &given)
                });
                ScriptValue::List(each.collect())
            }
            Some(Value::Exact(pattern)) => {
                // The pattern of Perl is one of the shell.
                let pattern = match pattern.strip_prefix('~') {
                    Some(rest)
                        if matches!(name, "glob" | "bsd_glob" | "<>")
                            && !rest.starts_with(|c: char| c.is_alphanumeric()) =>
                    {
                        format!("{}{rest}", self.machine.world().place().home)
                    }
                    _ => pattern,
                };
                let pattern =
                    match given.named("root_dir").or_else(|| given.named("cwd")).and_then(ScriptValue::exact)
                    {
                        Some(root) => format!("{root}/{pattern}"),
                        None => pattern,
                    };
                match braces::alternatives(&pattern).as_slice() {
                    [pattern] => self.listed(Value::Glob(pattern.clone())),
                    patterns => {
                        let each = patterns.iter().map(|pattern| self.listed(Value::Glob(pattern.clone())));
                        ScriptValue::List(each.collect())
                    }
                }
            }
            Some(other) => ScriptValue::Text(other),
            None => unknown,
        }
    }

    /// The names that code lists, of which it may print any.
    pub(super) fn listed(&mut self, names: Value) -> ScriptValue {
        self.machine.note_printed_name(&names);
        ScriptValue::Text(names)
    }

    /// Notes down that lists and walks go through symbolic links, where the code says so: `os.walk(".", followlinks=True)`.
    pub(super) fn note_reach(&mut self, name: &str, given: &Given) {
        let says = ["followlinks", "follow_symlinks", "recurse_symlinks", "followSymbolicLinks", "follow"]
            .iter()
            .any(|option| given.is_on(option));
        // The walks of `glob` go through links of themselves.
        let recursive = self.language == Language::Python && given.is_on("recursive");
        let fourth = name == "os.walk" && given.positional.get(3) == Some(&ScriptValue::Truth(true));
        self.machine.reach.through_links |= says || recursive || fourth;
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
            let output = match words.as_slice() {
                [only] => self.run_shell(only),
                several => self.run_list(several),
            };
            if mode.starts_with('|') {
                return self.set_process(given, output);
            }
            self.set_output(given, &output);
            return output;
        }
        if mode.contains('&') && matches!(given.positional.get(2), Some(ScriptValue::Process(_))) {
            self.read_from(&given.at(2));
            return given.at(2);
        }
        if let Some(text) = path.exact() {
            if self.language == Language::Ruby && text.starts_with('|') {
                let output = self.run_shell(&ScriptValue::text(text.trim_start_matches('|')));
                return self.running_last(output);
            }
            if text.starts_with("http://") || text.starts_with("https://") {
                return self.request(given, Upload::No);
            }
        }
        if matches!(path, ScriptValue::Network(_)) {
            return path;
        }
        // `os.open` takes flags, `os.O_WRONLY | os.O_TRUNC`, where `open` takes a mode.
        let flags = flags_as_mode(given);
        let has_flags = flags.is_some();
        let mode = flags.unwrap_or(mode);
        let value = path.value();
        if mode.contains('&') {
            // A duplicate of an open stream.
            if self.socket.is_some() {
                self.duplicated = true;
                self.gives_shell();
            }
        } else if mode.contains(">>") || mode.contains('a') && !mode.contains('r') {
            self.open_to_append(&value);
        } else if mode.contains(['w', 'x', '>'])
            || (mode.contains('+') && !mode.contains('<'))
            || mode.contains('c') && self.language == Language::Php
        {
            self.write(&value, &ScriptValue::Text(Value::Unknown));
            if let Some(name) = value.as_exact() {
                self.contents.insert(name.to_owned(), ScriptValue::text(""));
            }
        } else {
            // What is not known about the mode may be that it writes.
            let wanted = given.named("mode").or_else(|| given.positional.get(1)).map(ScriptValue::value);
            let may_write = wanted.is_some_and(|mode| match mode.alternatives() {
                Some(modes) => modes.iter().any(|mode| mode.contains(['w', 'a', 'x', '+'])),
                None => true,
            });
            // `+<` of Perl reads and writes.
            let may_write = may_write && self.language == Language::Python || mode.contains("+<");
            if may_write && !has_flags && value != Value::Unknown {
                self.machine.possibly(|machine| machine.write(&value));
            }
            self.read(&path);
        }
        self.set_handle(given, &value);
        ScriptValue::File(value)
    }

    /// `open(F, ">file")` of Perl.
    pub(super) fn open_by_text(&mut self, text: &str, given: &Given) -> ScriptValue {
        let text = text.trim();
        if text == "|-" {
            // A copy of the code itself, which reads what is printed to the handle.
            let channel = self.channel();
            self.read_from(&channel);
            return self.set_process_to(given, channel);
        }
        if let Some(channel @ ScriptValue::Process(_)) =
            text.strip_prefix("<&").and_then(|name| self.variable(name.trim_start_matches('=')))
        {
            let channel = channel.clone();
            self.read_from(&channel);
            return channel;
        }
        if let Some(command) = text.strip_prefix('|') {
            let output = self.run_shell(&ScriptValue::text(command.trim()));
            return self.set_process(given, output);
        }
        if let Some(command) = text.strip_suffix('|') {
            let output = self.run_shell(&ScriptValue::text(command.trim()));
            self.set_output(given, &output);
            return output;
        }
        let path = Value::exact(text.trim_start_matches(['<', '>', '+', '&']).trim());
        if text.starts_with(">&") || text.starts_with("<&") {
            if self.socket.is_some() {
                self.duplicated = true;
                self.gives_shell();
            }
        } else if text.starts_with(">>") {
            self.open_to_append(&path);
        } else if text.starts_with('>') || text.starts_with('+') {
            self.write(&path, &ScriptValue::Text(Value::Unknown));
            if let Some(name) = path.as_exact().filter(|_| text.starts_with('>')) {
                self.contents.insert(name.to_owned(), ScriptValue::text(""));
            }
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

    /// `open(my $handle, "-|", "pwd")` gives the variable what the program prints.
    fn set_output(&mut self, given: &Given, output: &ScriptValue) {
        if let (Some(ScriptValue::Name(name)), ScriptValue::Text(Value::Exact(_))) =
            (given.positional.first(), output)
        {
            self.put(name, output.clone());
        }
    }

    /// `open(my $handle, "|-", "sh")` gives the variable the program.
    fn set_process(&mut self, given: &Given, output: ScriptValue) -> ScriptValue {
        let process = self.running_last(output);
        self.set_process_to(given, process)
    }

    fn set_process_to(&mut self, given: &Given, process: ScriptValue) -> ScriptValue {
        if let (Some(ScriptValue::Name(name)), ScriptValue::Process(place)) =
            (given.positional.first(), &process)
            && name == "STDOUT"
        {
            self.selected = Some(*place);
        }
        if let Some(ScriptValue::Name(name)) = given.positional.first() {
            self.put(name, process.clone());
        }
        process
    }

    /// `open(my $handle, ...)` gives the variable the file.
    pub(super) fn set_handle(&mut self, given: &Given, path: &Value) {
        if self.language == Language::Perl
            && let Some(ScriptValue::Name(name)) = given.positional.first()
        {
            self.put(name, ScriptValue::File(path.clone()));
        }
    }

    /// Changes mode or owner; of a directory above the guard it is told what that leaves its owner.
    pub(super) fn change_rights(&mut self, name: &str, path: &Value, wanted: Option<&ScriptValue>) {
        let is_mode = name.trim_end_matches("Sync").ends_with("chmod") || name.ends_with("chmod_R");
        let rights = match wanted {
            Some(ScriptValue::Number(bits)) if is_mode => u32::try_from(*bits).ok().map(files::of_bits),
            Some(thing) if is_mode => thing.exact().as_deref().and_then(files::of_mode),
            Some(_) | None => None,
        };
        let sets_user = is_mode
            && match wanted {
                Some(ScriptValue::Number(bits)) => bits & 0o4000 != 0,
                Some(thing) => {
                    thing.exact().is_some_and(|mode| files::sets_user(mode.trim_start_matches("0o")))
                }
                None => false,
            };
        // What is not known is not taken for harmless where the guard lives.
        let rights = rights.or(Some(files::Rights::Taken).filter(|_| is_mode || name.contains("chown")));
        let before = self.machine.effect_count();
        self.give_rights(path, rights);
        if sets_user {
            self.machine.amend(before, |effect| {
                effect.severity = Severity::High;
                if effect.note.is_empty() {
                    files::SETS_USER.clone_into(&mut effect.note);
                }
            });
        }
    }

    /// Changes mode or owner so that this is left to the owner.
    pub(super) fn give_rights(&mut self, path: &Value, rights: Option<files::Rights>) {
        // Of a pattern the guard asks which of its own places lie below what it names.
        let is_pattern = matches!(path, Value::Glob(_));
        let above = is_pattern
            || self.machine.one_path_through(path).is_some_and(|path| self.machine.is_above_guard(&path));
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
        let is_named = from == Value::Unknown && program == "mv" && self.machine.may_name_elsewhere();
        if (from == Value::Unknown || to == Value::Unknown) && !is_named {
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
            "tempfile.mkstemp" => {
                ScriptValue::List(vec![ScriptValue::File(path.clone()), ScriptValue::Text(path)])
            }
            _ if is_directory && name != "tempfile.TemporaryDirectory" => ScriptValue::Text(path),
            _ => ScriptValue::File(path),
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
}
