//! What known functions give, after their effects.

use super::call_effects::{is_shell, joined_text, own_process, parent};
use super::evaluator::{Evaluator, Given};
use super::expressions::formatted;
use super::library_calls::LibraryCall;
use super::maps;
use super::value::ScriptValue;
use crate::effect::{Depth, EffectKind, Severity, Target};
use crate::interpreter::filters;
use crate::interpreter::guarded::PARENT;
use crate::interpreter::{Draft, Input, Output, Upload, Value};

use crate::programs::{files, sql};
use checkrein_scripts::Language;

impl Evaluator<'_, '_, '_> {
    /// Adds, in a loop without end, that a process like this one is started in each turn.
    pub(super) fn note_copies(&mut self) {
        if self.endless == 0 {
            return;
        }
        let target = Target::Service("the resources of the machine".to_owned());
        let draft = Draft::new(EffectKind::SystemModification, target)
            .severity(Severity::Critical)
            .irreversible()
            .note("starts copies of itself without end");
        self.act(|machine| machine.add(draft));
    }

    /// As [`Evaluator::perform`], without what is handed to programs.
    pub(super) fn perform_plain(&mut self, deed: LibraryCall, name: &str, given: &Given) -> ScriptValue {
        let unknown = ScriptValue::Text(Value::Unknown);
        self.note_processes(deed, name, given);
        self.note_printed(name, given);
        if let Some(value) = self.json(name, given) {
            return value;
        }
        match deed {
            LibraryCall::Nothing => {
                self.mapped_names(given);
                Self::of_environment(name).or_else(|| self.passed_secret(name, given)).unwrap_or(unknown)
            }
            LibraryCall::Print | LibraryCall::PrintPlain => {
                // A list is printed with its brackets where it is a value of its own.
                let texts: Vec<ScriptValue> = if self.language.has_tree() {
                    given.positional.clone()
                } else {
                    given.positional.iter().flat_map(ScriptValue::items).collect()
                };
                let (between, end) = match (self.language, deed) {
                    (Language::Ruby, LibraryCall::Print) => ("\n", "\n"),
                    (_, LibraryCall::Print) => (" ", "\n"),
                    _ => ("", ""),
                };
                if given.named.is_empty() {
                    self.print(&texts, between, end);
                } else {
                    self.printed = None;
                }
                unknown
            }
            LibraryCall::Range => {
                let bounds: Option<Vec<i64>> =
                    given.positional.iter().map(|thing| thing.exact()?.parse().ok()).collect();
                let (from, to) = match bounds.as_deref() {
                    Some([to]) => (0, *to),
                    Some([from, to]) => (*from, *to),
                    _ => return unknown,
                };
                if to.saturating_sub(from) > 32 {
                    self.note_counting(&ScriptValue::Number(to));
                    return unknown;
                }
                ScriptValue::List((from..to).map(ScriptValue::Number).collect())
            }
            // What runs over the variables gets their names.
            LibraryCall::Same if self.gives_names(name, &given.at(0)) => unknown,
            LibraryCall::Same => match (name, given.at(0)) {
                ("URL", ScriptValue::Text(Value::Exact(text))) if text.starts_with("file://") => {
                    ScriptValue::text(text.trim_start_matches("file://"))
                }
                ("reversed", ScriptValue::Text(Value::Exact(text))) => {
                    ScriptValue::text(text.chars().rev().collect::<String>())
                }
                ("sorted", ScriptValue::List(items)) => ScriptValue::List(maps::in_any_order(&items)),
                ("sort" | "reverse", _) if self.language == Language::Perl => {
                    let all: Vec<ScriptValue> =
                        given.positional.iter().flat_map(ScriptValue::items).collect();
                    ScriptValue::List(maps::in_any_order(&all))
                }
                ("reversed", ScriptValue::List(items)) => {
                    ScriptValue::List(items.into_iter().rev().collect())
                }
                ("json.loads" | "JSON.parse", ScriptValue::Text(Value::Exact(text)))
                    if text.len() > 1 && text.starts_with('"') && text.ends_with('"') =>
                {
                    let inner = text.trim_matches('"');
                    if inner.contains('\\') { unknown } else { ScriptValue::text(inner) }
                }
                ("Object.values" | "values", map @ ScriptValue::Map(_)) => {
                    maps::listed(&map, "values").unwrap_or(map)
                }
                ("Object.keys" | "keys" | "list" | "sorted" | "tuple", map @ ScriptValue::Map(_)) => {
                    maps::listed(&map, "keys").unwrap_or(map)
                }
                (_, value) => value,
            },
            LibraryCall::Delete(depth) => {
                for item in self.paths_given(given) {
                    self.delete(&item, depth);
                }
                unknown
            }
            LibraryCall::DeleteFirst => {
                let depth = if given.is_on("recursive") { Depth::Recursive } else { Depth::Single };
                for item in given.at(0).items() {
                    self.delete(&item.value(), depth);
                }
                unknown
            }
            LibraryCall::Write => {
                let (path, text) = (given.at(0).value(), given.at(1));
                let flag = given
                    .named("flag")
                    .or_else(|| given.named("mode"))
                    .and_then(ScriptValue::exact)
                    .unwrap_or_default();
                let appends = flag.starts_with('a')
                    || matches!(given.positional.get(2), Some(ScriptValue::Name(name)) if name.contains("APPEND"));
                if appends {
                    self.append_text(&path, &text);
                } else {
                    self.write(&path, &text);
                }
                unknown
            }
            LibraryCall::WriteSecond => {
                let path = given.at(1).value();
                self.write(&path, &unknown);
                unknown
            }
            LibraryCall::Append => {
                let path = given.at(0).value();
                self.append_text(&path, &given.at(1));
                unknown
            }
            LibraryCall::Open => self.open(given),
            LibraryCall::Read => {
                let path = given.at(0);
                self.read(&path)
            }
            LibraryCall::Touch => {
                for path in self.paths_given(given) {
                    self.act(|machine| machine.touch(&path));
                }
                unknown
            }
            LibraryCall::MakeDirectory => {
                let path = given.at(0).value();
                self.act(|machine| machine.make_directory(&path));
                unknown
            }
            LibraryCall::Move => {
                // The functions of libraries move into a directory that is there, those of the system put one name in the place of another.
                let inside =
                    ["shutil.move", "FileUtils.mv", "FileUtils.move", "File::Copy::move"].contains(&name);
                self.transfer(files::mv, "mv", given, if inside { &["-f"] } else { &["-f", "-T"] });
                unknown
            }
            LibraryCall::Copy => {
                let plain = name.trim_end_matches("Sync");
                let over = ["copytree", "copy_tree", "fs.cp", "fs.copy", "dircopy"]
                    .iter()
                    .any(|end| plain.ends_with(end));
                let mut options = vec!["-r", "-f"];
                if over {
                    options.push("-T");
                }
                // What a tree is copied by may give second names instead.
                let by = given.named("copy_function").or_else(|| given.positional.get(4));
                if ["cp_lr", "link_entry"].iter().any(|end| plain.ends_with(end))
                    || plain == "shutil.copytree"
                        && matches!(by, Some(ScriptValue::Name(by)) if by == "os.link")
                {
                    options.push("-l");
                }
                self.transfer(files::cp, "cp", given, &options);
                unknown
            }
            LibraryCall::Link => {
                let (to, at) = (given.at(0).value(), given.at(1).value());
                if matches!(
                    name.trim_end_matches("Sync"),
                    "os.link"
                        | "fs.link"
                        | "link"
                        | "ln"
                        | "File.link"
                        | "FileUtils.ln"
                        | "FileUtils.link"
                        | "Deno.link"
                ) {
                    self.act(|machine| machine.second_name(&to));
                }
                self.act(|machine| machine.make_link(&at, &to));
                unknown
            }
            LibraryCall::Mode if name.starts_with("shutil.copy") => {
                let (from, to) = (given.at(0).value(), given.at(1).value());
                let rights = files::of_place(self.machine, &from).unwrap_or(files::Rights::Taken);
                self.give_rights(&to, Some(rights));
                unknown
            }
            LibraryCall::Mode => {
                let path = given.at(0).value();
                self.change_rights(name, &path, given.positional.get(1));
                unknown
            }
            LibraryCall::ModeOfRest => {
                let skipped = usize::from(name.contains("chown"));
                for item in given.positional.iter().skip(1 + skipped).flat_map(ScriptValue::items) {
                    let path = item.value();
                    self.change_rights(name, &path, given.positional.first());
                }
                unknown
            }
            LibraryCall::Shell => match given.positional.as_slice() {
                [only] => self.run_shell(only),
                [] => unknown,
                // Behind the command stands how it is run.
                [command, ..] if name.ends_with("popen") && !matches!(command, ScriptValue::Map(_)) => {
                    self.run_shell(command)
                }
                [command, ..] if self.language == Language::Python && !name.starts_with("pexpect.") => {
                    self.run_shell(command)
                }
                several => {
                    let words: Vec<ScriptValue> = several
                        .iter()
                        .filter(|thing| !matches!(thing, ScriptValue::Function(_) | ScriptValue::Map(_)))
                        .cloned()
                        .collect();
                    if words.len() == 1
                        || self.language == Language::JavaScript
                        || self.language == Language::Php
                    {
                        self.run_shell(&words.first().cloned().unwrap_or(unknown))
                    } else {
                        self.run_list(&words)
                    }
                }
            },
            LibraryCall::Pipe => {
                let handles = if name.ends_with('3') { 3 } else { 2 };
                let words = given.positional.get(handles..).unwrap_or_default().to_vec();
                match words.as_slice() {
                    [only] => self.run_shell(only),
                    several => self.run_list(several),
                }
            }
            LibraryCall::Run => {
                let first =
                    given.positional.first().or_else(|| given.named("args")).cloned().unwrap_or(unknown);
                // `Deno.run({ cmd: [...] })`
                let first = match first.get("cmd") {
                    Some(words) => words.clone(),
                    None => first,
                };
                match first {
                    ScriptValue::List(words) => {
                        let text = words.first().cloned();
                        if given.is_on("shell")
                            && let Some(text) = text
                        {
                            self.run_shell(&text)
                        } else {
                            self.run_list(&words)
                        }
                    }
                    text => self.run_shell(&text),
                }
            }
            LibraryCall::Program => {
                let mut words = vec![given.at(0)];
                for thing in given.positional.iter().skip(1) {
                    match thing {
                        ScriptValue::List(items) => words.extend(items.iter().cloned()),
                        // `new Deno.Command("rm", { args: [...] })`
                        ScriptValue::Map(_) => {
                            words.extend(thing.get("args").into_iter().flat_map(ScriptValue::items));
                        }
                        ScriptValue::Function(_) => {}
                        other => words.push(other.clone()),
                    }
                }
                if given.is_on("shell") {
                    let text = words.iter().skip(1).fold(given.at(0), |text, word| {
                        text.followed_by(&ScriptValue::text(" ")).followed_by(word)
                    });
                    return self.run_shell(&text);
                }
                self.run_list(&words)
            }
            LibraryCall::Execute => {
                let mut words = vec![given.at(0)];
                let rest: Vec<ScriptValue> = match given.positional.get(1) {
                    Some(ScriptValue::List(items)) => items.clone(),
                    _ => given.positional.iter().skip(1).cloned().collect(),
                };
                words.extend(rest.into_iter().skip(1).filter(|thing| !matches!(thing, ScriptValue::Map(_))));
                self.run_list(&words)
            }
            LibraryCall::ExecuteRest => {
                let given = Given {
                    positional: given.positional.get(1..).unwrap_or_default().to_vec(),
                    named: given.named.clone(),
                };
                self.perform(LibraryCall::Execute, name, &given)
            }
            LibraryCall::Get => self.request(given, Upload::No),
            LibraryCall::Post => {
                let method = name.rsplit('.').next().map(str::to_owned);
                self.request_by(given, Upload::Yes, method)
            }
            LibraryCall::Request => {
                let method = given.named("method").and_then(ScriptValue::exact);
                let first = given.at(0).exact().unwrap_or_default();
                let verb = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
                    .contains(&first.to_ascii_uppercase().as_str());
                let method = if verb { Some(first) } else { method };
                let body = ["data", "body", "json", "files"].iter().any(|name| given.named(name).is_some());
                let sends = method.as_deref().is_some_and(|method| {
                    !matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
                }) || body;
                let given = if verb {
                    Given {
                        positional: given.positional.get(1..).unwrap_or_default().to_vec(),
                        named: given.named.clone(),
                    }
                } else {
                    given.clone()
                };
                self.request_by(&given, if sends { Upload::Yes } else { Upload::No }, method)
            }
            LibraryCall::Download => {
                let url = self.request(given, Upload::No);
                let path =
                    given.positional.get(1).or_else(|| given.named("filename")).map(ScriptValue::value);
                if let Some(path) = path {
                    let output = match url {
                        ScriptValue::Network(url) => Output::Network(url),
                        _ => Output::Unknown,
                    };
                    self.act(|machine| machine.write_from(&path, &output));
                }
                unknown
            }
            LibraryCall::Kill => {
                if given.at(1).exact().as_deref() != Some("0") {
                    self.kill(name, &given.at(0), &given.at(1));
                }
                unknown
            }
            LibraryCall::KillRest => {
                if given.at(0).exact().as_deref() != Some("0") {
                    for item in given.positional.iter().skip(1).flat_map(ScriptValue::items) {
                        self.kill(name, &item, &given.at(0));
                    }
                }
                unknown
            }
            LibraryCall::Evaluate => {
                let code = given.positional.first();
                self.evaluate(&code.cloned().unwrap_or(ScriptValue::Local));
                unknown
            }
            LibraryCall::Unpack => {
                let archive = given.at(0).value();
                let directory = given.positional.get(1).map_or_else(|| Value::exact("."), ScriptValue::value);
                self.act(|machine| {
                    crate::programs::archives::unpack_from(
                        machine,
                        Some(&archive),
                        &directory,
                        crate::programs::archives::Names::Without(0),
                    );
                });
                unknown
            }
            LibraryCall::EvaluateValue => self.evaluated_value(name, given),
            LibraryCall::EvaluateTexts => self.evaluated_texts(name, given),
            LibraryCall::Worker if given.is_on("eval") => {
                self.evaluate(&given.at(0));
                unknown
            }
            LibraryCall::Worker => {
                self.not_known(name);
                unknown
            }
            LibraryCall::Lines => {
                let file = given.at(0);
                let text = self.read(&file);
                // `fileinput.input(file, inplace=True)`
                if name.starts_with("fileinput.") && given.is_on("inplace") {
                    for path in file.items() {
                        self.write(&path.value(), &unknown);
                    }
                }
                self.lines(&text)
            }
            LibraryCall::MakeFunction => self.made_function(given),
            LibraryCall::Template => self.template(given),
            LibraryCall::FindFiles => self.found_files(given),
            LibraryCall::RunFile => {
                let path = given.at(0);
                match self.read(&path) {
                    code @ (ScriptValue::Text(Value::Exact(_)) | ScriptValue::Network(_)) => {
                        self.evaluate(&code);
                    }
                    _ => self.not_known(&path.exact().unwrap_or_else(|| name.to_owned())),
                }
                unknown
            }
            LibraryCall::Loads => match given.at(0) {
                // `require strict`, `require "json"`
                ScriptValue::Name(_) => unknown,
                path => match path.exact() {
                    Some(text) if text.contains('/') => self.perform(LibraryCall::RunFile, name, given),
                    Some(_) => unknown,
                    None => self.perform(LibraryCall::RunFile, name, given),
                },
            },
            LibraryCall::Connect => self.connect(given),
            LibraryCall::Listen => ScriptValue::Socket(Value::Unknown),
            LibraryCall::Duplicate => {
                if self.socket.is_some() {
                    self.duplicated = true;
                    self.gives_shell();
                }
                unknown
            }
            LibraryCall::Terminal => {
                if self.socket.is_some() {
                    self.gives_shell();
                    return unknown;
                }
                let program = given.at(0).items().first().map_or(Value::Unknown, ScriptValue::value);
                if is_shell(&program.known_start()) {
                    self.runs_unknown_code("hands a terminal to a shell");
                    return unknown;
                }
                match given.at(0) {
                    ScriptValue::List(words) => self.run_list(&words),
                    text => self.run_shell(&text),
                }
            }
            LibraryCall::PathOf => ScriptValue::Path(self.path_named(given)),
            LibraryCall::Join => ScriptValue::Text(Self::joined(given)),
            LibraryCall::JoinText => {
                let between = given.at(0);
                let parts: Vec<ScriptValue> =
                    given.positional.iter().skip(1).flat_map(ScriptValue::items).collect();
                joined_text(&between, &parts)
            }
            LibraryCall::Variable => self.environment(given),
            LibraryCall::Home => {
                let home = self.machine.variable("HOME").unwrap_or(Value::Unknown);
                if name.contains("Path") || name.contains("Pathname") {
                    ScriptValue::Path(home)
                } else {
                    ScriptValue::Text(home)
                }
            }
            LibraryCall::Here => {
                let here = self.machine.cwd_value();
                if name.contains("Path") { ScriptValue::Path(here) } else { ScriptValue::Text(here) }
            }
            LibraryCall::Temporary => ScriptValue::text("/tmp"),
            LibraryCall::UserPackages => {
                let home = &self.machine.world().place().home;
                ScriptValue::text(format!("{home}/.local/lib/python3/site-packages"))
            }
            LibraryCall::TemporaryFile | LibraryCall::TemporaryDirectory => {
                self.make_temporary(deed, name, given)
            }
            LibraryCall::Fork => {
                self.note_copies();
                // `pid, terminal = pty.fork()`
                if name.contains("pty") { unknown } else { own_process() }
            }
            LibraryCall::Throttle => {
                self.throttle(name, given);
                unknown
            }
            LibraryCall::Names => match given.positional.first() {
                // `vars(os)`
                Some(ScriptValue::Name(of)) => {
                    self.is_loose |= matches!(of.as_str(), "os" | "subprocess" | "shutil");
                    ScriptValue::Name(format!("{of}.__dict__"))
                }
                Some(_) => unknown,
                None => ScriptValue::Name("globals".to_owned()),
            },
            LibraryCall::Database => ScriptValue::Database(given.at(0).value()),
            LibraryCall::Later => {
                if let ScriptValue::Text(Value::Exact(code)) = given.at(0) {
                    self.run_code(&code);
                }
                unknown
            }
            LibraryCall::Rights => {
                if given.at(0).exact().as_deref() == Some("0") {
                    let target = Target::Process(self.call.program.clone());
                    self.act(|machine| machine.add(Draft::new(EffectKind::PrivilegeEscalation, target)));
                }
                unknown
            }
            LibraryCall::CalledAfter => {
                let mut words: Vec<ScriptValue> =
                    program_of(name).into_iter().map(ScriptValue::text).collect();
                let is_word =
                    |thing: &&ScriptValue| !matches!(thing, ScriptValue::Map(_) | ScriptValue::Function(_));
                words.extend(given.positional.iter().filter(is_word).cloned());
                if let Some(place) = self.kept.repository.clone()
                    && name.starts_with("git.repository.")
                {
                    words.splice(1..1, [ScriptValue::text("-C"), ScriptValue::Text(place)]);
                }
                self.run_list(&words)
            }
            LibraryCall::Elsewhere => {
                let sudo = if name.ends_with(".sudo") { "sudo " } else { "" };
                let text = Value::exact(sudo).followed_by(&given.at(0).value());
                let words = [Value::exact("ssh"), Value::exact("remote"), text];
                self.act(|machine| machine.run_words(&words, Input::Inherited));
                unknown
            }
            LibraryCall::Archive => {
                let root = given
                    .named("root_dir")
                    .or_else(|| given.positional.get(2))
                    .map_or_else(|| Value::exact("."), ScriptValue::value);
                let archive = given.at(0).value().followed_by(&Value::exact(".tar"));
                let words = [Value::exact("tar"), Value::exact("-cf"), archive, root];
                self.act(|machine| machine.run_words(&words, Input::Inherited));
                unknown
            }
            LibraryCall::Save => {
                let path = given.at(0).value();
                self.write(&path, &unknown);
                unknown
            }
            LibraryCall::Enter => {
                let wanted = self.directory_wanted(given);
                let place = self.machine.directory(&wanted);
                let place = if self.doubt > 0 { self.machine.shell.cwd.clone().join(&place) } else { place };
                self.machine.shell.cwd = place;
                self.machine.shell.logical = None;
                unknown
            }
            LibraryCall::Glob => {
                self.note_reach(name, given);
                self.globbed(deed, name, given)
            }
            LibraryCall::OwnProcess => own_process(),
            LibraryCall::ParentProcess => ScriptValue::text(PARENT),
            // The names, which stand below the directory once they are put behind it.
            LibraryCall::List => {
                self.lists_hidden = true;
                self.machine.reach.hidden = true;
                let all = given.at(0).value().followed_by(&Value::Glob("/*".to_owned()));
                self.listed(all);
                ScriptValue::List(vec![ScriptValue::Text(Value::Glob("*".to_owned()))])
            }
            LibraryCall::Walk => {
                self.note_reach(name, given);
                let root = if given.positional.is_empty() { ScriptValue::text(".") } else { given.at(0) };
                let inside =
                    self.listed(root.value().followed_by(&Value::exact("/")).followed_by(&Value::Unknown));
                let names = || ScriptValue::List(vec![ScriptValue::Text(Value::Glob("*".to_owned()))]);
                match name {
                    "os.walk" => ScriptValue::List(vec![ScriptValue::List(vec![inside, names(), names()])]),
                    // The last is the directory itself, opened.
                    "os.fwalk" => {
                        let opened = ScriptValue::File(inside.value());
                        ScriptValue::List(vec![ScriptValue::List(vec![inside, names(), names(), opened])])
                    }
                    // Entries of a directory have a name and a path.
                    "os.scandir" => {
                        let entry = root.value().followed_by(&Value::exact("/"));
                        ScriptValue::List(vec![ScriptValue::Path(
                            entry.followed_by(&Value::Glob("*".to_owned())),
                        )])
                    }
                    _ => ScriptValue::List(vec![inside]),
                }
            }
            LibraryCall::Whereabouts => {
                let name = given.at(0).value();
                let mut found = Value::Unknown;
                self.act(|machine| found = machine.whereabouts(&name));
                ScriptValue::Text(found)
            }
            LibraryCall::Exists => self.exists(&given.at(0)),
            LibraryCall::Import => {
                let module = given.at(0);
                self.import(&module)
            }
            LibraryCall::Attribute => match (given.at(0), given.at(1).exact()) {
                (of, Some(name)) => self.member(&of, &name),
                (ScriptValue::Name(_) | ScriptValue::Foreign, None) => {
                    self.runs_unknown_code("calls a function whose name is put together while it runs");
                    ScriptValue::Local
                }
                (_, None) => unknown,
            },
            LibraryCall::Becomes(module) => ScriptValue::Name(module.to_owned()),
            LibraryCall::Base64 => match given.at(0) {
                kept @ (ScriptValue::Network(_) | ScriptValue::Secret(_, _)) => kept,
                thing => thing
                    .exact()
                    .and_then(|text| filters::decoded_base64(&text))
                    .map_or(unknown, ScriptValue::text),
            },
            LibraryCall::InBase64 => match given.at(0) {
                ScriptValue::Text(text @ Value::Exact(_)) => {
                    let words = [Value::exact("base64"), Value::exact("-w0")];
                    Self::from_output(self.act(|machine| machine.run_words(&words, Input::Text(text))).output)
                }
                secret @ ScriptValue::Secret(_, _) => secret,
                _ => unknown,
            },
            LibraryCall::Loaded => {
                let loader = given.named("Loader").or_else(|| given.positional.get(1));
                match loader {
                    Some(ScriptValue::Name(name)) if name.contains("Safe") || name.contains("Base") => {
                        unknown
                    }
                    _ => {
                        self.not_known(name);
                        ScriptValue::Foreign
                    }
                }
            }
            LibraryCall::Decoded => match given.at(1).exact().as_deref() {
                Some("base64" | "base64url") => self.perform(LibraryCall::Base64, name, given),
                Some("hex") => self.perform(LibraryCall::Hexadecimal, name, given),
                Some(_) | None => given.at(0),
            },
            LibraryCall::Hexadecimal => given
                .at(0)
                .exact()
                .and_then(|text| filters::decoded_hexadecimal(&text))
                .map_or(unknown, ScriptValue::text),
            LibraryCall::Character => {
                let letters: Option<String> = given
                    .positional
                    .iter()
                    .map(|thing| thing.exact()?.parse::<u32>().ok().and_then(char::from_u32))
                    .collect();
                letters.map_or(unknown, ScriptValue::text)
            }
            LibraryCall::Format => {
                let values = ScriptValue::List(given.positional.get(1..).unwrap_or_default().to_vec());
                formatted(&given.at(0), &values)
            }
            LibraryCall::Foreign => {
                // Who chooses what is loaded means what it runs.
                if let Some(ScriptValue::Network(url)) = given.positional.first() {
                    let url = url.clone();
                    self.act(|machine| machine.runs_from_network(&url));
                    return ScriptValue::Foreign;
                }
                self.not_known(name);
                ScriptValue::Foreign
            }
            LibraryCall::Input => self.standard_input(),
            LibraryCall::First => {
                let list = match given.positional.first() {
                    Some(list) => list.clone(),
                    None => self.variable("@_").cloned().unwrap_or_else(|| self.arguments(0)),
                };
                match list {
                    ScriptValue::List(items) => {
                        let mut items = items.into_iter();
                        let first = items.next().unwrap_or(unknown);
                        if given.positional.is_empty() && self.variable("@_").is_some() {
                            self.put("@_", ScriptValue::List(items.collect()));
                        }
                        first
                    }
                    _ => unknown,
                }
            }
            LibraryCall::Package => {
                for item in given.at(0).items() {
                    let name = item.value();
                    self.act(|machine| machine.effect(EffectKind::PackageInstall, &name));
                }
                unknown
            }
            LibraryCall::Parsed => given.named("text").cloned().unwrap_or(unknown),
            LibraryCall::Statement => {
                let text = given.at(0).value();
                self.act(|machine| sql::run_text(machine, &text, sql::Language::Generic, "the database"));
                ScriptValue::Name("cursor".to_owned())
            }
            LibraryCall::Record => match given.positional.first() {
                None => ScriptValue::Map(given.named.clone()),
                Some(ScriptValue::Map(entries)) => {
                    ScriptValue::Map(entries.iter().chain(&given.named).cloned().collect())
                }
                Some(of) => self.passed_secret(name, given).unwrap_or_else(|| match of {
                    kept @ ScriptValue::Network(_) => kept.clone(),
                    _ => unknown,
                }),
            },
            LibraryCall::Merge => {
                let module = given
                    .positional
                    .iter()
                    .find(|thing| matches!(thing, ScriptValue::Name(_)) && !Self::is_environment(thing));
                let environment = given.positional.iter().any(Self::is_environment);
                match (module, environment) {
                    (_, true) => ScriptValue::secret(crate::interpreter::printed::ALL_VARIABLES),
                    (Some(module), _) => module.clone(),
                    (None, false) => ScriptValue::Map(
                        given
                            .positional
                            .iter()
                            .flat_map(|thing| match thing {
                                ScriptValue::Map(entries) => entries.clone(),
                                _ => Vec::new(),
                            })
                            .collect(),
                    ),
                }
            }
            LibraryCall::Together => ScriptValue::List(given.positional.clone()),
            LibraryCall::CallByName => {
                let rest = match given.positional.get(1) {
                    Some(ScriptValue::List(items)) if name.ends_with("array") => items.clone(),
                    _ => given.positional.get(1..).unwrap_or_default().to_vec(),
                };
                let callee = given.at(0);
                self.call_by_name(&callee, &Given { positional: rest, named: Vec::new() })
            }
            LibraryCall::Expand => {
                let path = given.at(0).value();
                let known = path.known_start();
                match known
                    .strip_prefix('~')
                    .or_else(|| known.strip_prefix("$HOME"))
                    .or_else(|| known.strip_prefix("${HOME}"))
                {
                    Some(rest) if path.as_exact().is_some() && (rest.is_empty() || rest.starts_with('/')) => {
                        ScriptValue::Text(
                            self.machine
                                .variable("HOME")
                                .unwrap_or(Value::Unknown)
                                .followed_by(&Value::exact(rest)),
                        )
                    }
                    Some(_) => unknown,
                    None if known.contains('$') => unknown,
                    None => given.at(0),
                }
            }
            LibraryCall::Parent => ScriptValue::Text(parent(&given.at(0).value())),
        }
    }
}

/// The words of the program that a function is called after: sh 2, plumbum 1.9, `ShellJS` 0.8, GitPython 3.1 (`Repo.git`), simple-git 3, pip.
fn program_of(name: &str) -> Vec<String> {
    let last = name.rsplit('.').next().unwrap_or(name).trim_end_matches("Sync");
    let words: &[&str] = if name.starts_with("pip.") || name.starts_with("pip._internal.") {
        &["pip"]
    } else if last == "raw" {
        &["git"]
    } else if name.starts_with("git.repository.") || name.starts_with("simple-git.") {
        return vec!["git".to_owned(), last.replace('_', "-")];
    } else {
        return vec![last.to_owned()];
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}
