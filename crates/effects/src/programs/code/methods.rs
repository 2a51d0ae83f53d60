//! Members and methods of values.

use crate::effect::Depth;
use crate::interpreter::guarded::PARENT;
use crate::interpreter::printed::ALL_VARIABLES;
use crate::interpreter::{Output, Value};

use super::call_effects::{UNKNOWN_MODULE, joined_text, own_process, parent};
use super::evaluator::{Evaluator, Given};
use super::library_calls::LibraryCall;
use super::made::{repeated, replaced};
use super::maps;
use super::python_parameters;
use super::value::ScriptValue;
use checkrein_scripts::Language;

/// Functions of Perl that take `$_` where they are given nothing, as far as they change files or run something (perlfunc).
const TAKE_DEFAULT: &[&str] = &["unlink", "rmdir", "readpipe", "evalbytes"];
/// Those that begin a block or a pattern where something stands behind them: they take it where nothing does.
const TAKE_DEFAULT_ALONE: &[&str] = &["eval", "mkdir", "require", "glob", "chroot"];

impl Evaluator<'_, '_, '_> {
    /// What a name alone is.
    pub(super) fn named(&mut self, word: &str) -> ScriptValue {
        match (self.language, word) {
            (Language::Perl, "@ARGV" | "$ARGV") | (Language::Ruby, "ARGV") => self.arguments(0),
            (Language::Php, "$argv") | (Language::Lua, "arg") => ScriptValue::List(
                std::iter::once(ScriptValue::Text(Value::Unknown)).chain(self.arguments(0).items()).collect(),
            ),
            (Language::Perl, "$ENV" | "%ENV")
            | (Language::Ruby, "ENV")
            | (Language::Php, "$_ENV" | "$_SERVER") => ScriptValue::Name("ENV".to_owned()),
            _ if self.language == Language::Perl
                && word.starts_with('$')
                && self.variable(word).is_none() =>
            {
                // `$x[0]` is an element of `@x`, `$x{a}` one of `%x`.
                let plain = word.trim_start_matches('$');
                let list =
                    self.variable(&format!("@{plain}")).or_else(|| self.variable(&format!("%{plain}")));
                match list {
                    Some(list) => list.clone(),
                    None if word == "$_" => ScriptValue::Text(Value::Unknown),
                    None => ScriptValue::Name(word.to_owned()),
                }
            }
            _ if word.starts_with(['@', '%', '&']) || word.starts_with('$') => {
                let found = self.variable(word).cloned();
                match found {
                    Some(thing) => thing,
                    None if word.starts_with('&') => self.lookup(word.trim_start_matches('&')),
                    None => ScriptValue::Text(Value::Unknown),
                }
            }
            // A line that is read, of whatever: `<STDIN>`, `<$handle>`, `<>`.
            (Language::Perl, "<>") => {
                self.reads_names = true;
                self.lookup(word)
            }
            _ => self.lookup(word),
        }
    }

    /// Whether a name alone is a call, as in Ruby and Perl.
    pub(super) fn is_bare_call(&self, thing: &ScriptValue) -> bool {
        match (self.language, thing) {
            (Language::Perl, ScriptValue::Name(name)) => {
                matches!(name.as_str(), "shift" | "cwd" | "getcwd" | "getppid" | "tempdir" | "chdir")
                    || TAKE_DEFAULT.contains(&name.as_str())
            }
            (Language::Ruby, ScriptValue::Name(name)) => matches!(name.as_str(), "gets" | "Dir.chdir"),
            (Language::Ruby | Language::Perl, ScriptValue::Function(place)) => {
                self.functions.get(*place).is_some_and(|function| !function.name.is_empty())
            }
            _ => false,
        }
    }

    /// Whether a name is a call where nothing at all stands behind it.
    pub(super) fn is_call_alone(&self, thing: &ScriptValue) -> bool {
        let takes_default =
            |name: &str| self.language == Language::Perl && TAKE_DEFAULT_ALONE.contains(&name);
        self.is_bare_call(thing) || matches!(thing, ScriptValue::Name(name) if takes_default(name))
    }

    /// Calls a function that is given nothing; some take the default variable of Perl then.
    pub(super) fn call_bare(&mut self, thing: &ScriptValue) -> ScriptValue {
        let mut given = Given::default();
        if let (Language::Perl, ScriptValue::Name(name)) = (self.language, thing)
            && [TAKE_DEFAULT, TAKE_DEFAULT_ALONE].concat().contains(&name.as_str())
            && let Some(value) = self.variable("$_")
        {
            given.positional.push(value.clone());
        }
        self.call_thing(thing, &given)
    }

    /// A member of a value.
    pub(super) fn member(&mut self, thing: &ScriptValue, member: &str) -> ScriptValue {
        match thing {
            ScriptValue::Name(name) => self.member_of_name(name, member),
            ScriptValue::Path(path) => match member {
                "parent" | "dirname" => ScriptValue::Path(parent(path)),
                "name" | "stem" | "suffix" | "basename" | "extname"
                    if self.language == Language::Python || member == "name" =>
                {
                    match path.as_exact().map(|text| {
                        text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
                    }) {
                        Some(name) if member == "name" => ScriptValue::text(name),
                        Some(_) | None => ScriptValue::Text(Value::Unknown),
                    }
                }
                "path" | "fullpath" => ScriptValue::Text(path.clone()),
                _ => ScriptValue::Method(Box::new(thing.clone()), member.to_owned()),
            },
            ScriptValue::File(path) => match member {
                "name" | "path" => ScriptValue::Text(path.clone()),
                _ => ScriptValue::Method(Box::new(thing.clone()), member.to_owned()),
            },
            ScriptValue::Map(_) => match thing.get(member) {
                Some(value) => value.clone(),
                None => ScriptValue::Method(Box::new(thing.clone()), member.to_owned()),
            },
            ScriptValue::Method(of, name)
                if self.language != Language::Ruby && matches!(**of, ScriptValue::Network(_)) =>
            {
                ScriptValue::Method(of.clone(), format!("{name}.{member}"))
            }
            ScriptValue::Secret(place, _) if self.language == Language::JavaScript => {
                let place = place.clone();
                match Self::part_of_secret(&place, member) {
                    ScriptValue::Local => {
                        ScriptValue::Method(Box::new(ScriptValue::Local), member.to_owned())
                    }
                    _ => ScriptValue::Method(Box::new(thing.clone()), member.to_owned()),
                }
            }
            ScriptValue::Process(process) => self.member_of_process(*process, member),
            // What a program printed that has ended: `run(...).stdout`.
            ScriptValue::Text(_) if self.language.has_tree() && matches!(member, "stdout" | "output") => {
                thing.clone()
            }
            ScriptValue::Object(place) => self.member_of_object(*place, member),
            ScriptValue::Class(place) => self.member_of_class(*place, member),
            ScriptValue::Foreign => ScriptValue::Foreign,
            ScriptValue::Text(_)
            | ScriptValue::Number(_)
            | ScriptValue::Truth(_)
            | ScriptValue::List(_)
            | ScriptValue::Function(_)
            | ScriptValue::Network(_)
            | ScriptValue::Secret(_, _)
            | ScriptValue::Socket(_)
            | ScriptValue::Database(_)
            | ScriptValue::Method(_, _)
            | ScriptValue::Local => ScriptValue::Method(Box::new(thing.clone()), member.to_owned()),
        }
    }

    fn member_of_name(&mut self, name: &str, member: &str) -> ScriptValue {
        if (self.language == Language::JavaScript
            && matches!(name, "process.env" | "Bun.env" | "import.meta.env"))
            && !member.is_empty()
        {
            return self.variable_of_environment(member, None);
        }
        let full = format!("{name}.{member}");
        match (self.language, full.as_str()) {
            (Language::Python, "sys.argv") => {
                // The first is the script, which is an operand itself when there is one.
                let script = !self.call.arguments.has(&["-c"]);
                let first = if script { Vec::new() } else { vec![ScriptValue::text("-c")] };
                return ScriptValue::List(first.into_iter().chain(self.arguments(0).items()).collect());
            }
            (Language::JavaScript, "process.ppid" | "Deno.ppid") => return ScriptValue::text(PARENT),
            (Language::JavaScript, "process.pid" | "Deno.pid") => return own_process(),
            (Language::JavaScript, "process.argv" | "Bun.argv") => {
                // The interpreter comes first.
                let front = std::iter::once(ScriptValue::Text(Value::Unknown));
                return ScriptValue::List(front.chain(self.arguments(0).items()).collect());
            }
            (Language::Python, "os.sep" | "os.path.sep")
            | (Language::JavaScript, "path.sep")
            | (Language::Ruby, "File.SEPARATOR") => return ScriptValue::text("/"),
            (Language::Python, "os.linesep") => return ScriptValue::text("\n"),
            (Language::Python, "sys.executable") => return ScriptValue::text("python3"),
            (Language::JavaScript, "process.execPath") => return ScriptValue::text("node"),
            (Language::Python, "os.curdir") => return ScriptValue::text("."),
            (Language::Python, "tempfile.tempdir") => return ScriptValue::text("/tmp"),
            (Language::JavaScript, "fs.promises") => return ScriptValue::Name("fs".to_owned()),
            (Language::JavaScript, "path.posix") => return ScriptValue::Name("path".to_owned()),
            _ => {}
        }
        // Parts of modules that are imported under their own name: `url.parse`, `globalThis.process`.
        match (self.language, name) {
            (Language::JavaScript, "globalThis" | "global" | "window" | "Deno" | "Bun")
                if self.deed(&full).is_none() && !full.starts_with("Deno.env") =>
            {
                ScriptValue::Name(member.to_owned())
            }
            // Modules that others have imported.
            (Language::Python, _)
                if matches!(member, "os" | "sys" | "subprocess" | "shutil" | "builtins")
                    && self.deed(&full).is_none_or(|deed| deed == LibraryCall::Nothing) =>
            {
                ScriptValue::Name(member.to_owned())
            }
            (Language::Lua, "_G") | (Language::Python, "builtins" | "__builtins__" | "six.moves") => {
                ScriptValue::Name(member.to_owned())
            }
            (Language::JavaScript, "process.mainModule" | "module" | "require.main")
                if member == "require" =>
            {
                ScriptValue::Name("require".to_owned())
            }
            _ => ScriptValue::Name(full),
        }
    }

    /// An element of a value.
    pub(super) fn indexed(&mut self, thing: &ScriptValue, index: &ScriptValue) -> ScriptValue {
        match thing {
            ScriptValue::List(items) => match index.exact().and_then(|text| text.parse::<i64>().ok()) {
                Some(place) => {
                    let length = i64::try_from(items.len()).unwrap_or(0);
                    let place = if place < 0 { place.saturating_add(length) } else { place };
                    let item = usize::try_from(place).ok().and_then(|place| items.get(place));
                    item.cloned().unwrap_or(ScriptValue::Text(Value::Unknown))
                }
                None => thing.clone(),
            },
            ScriptValue::Map(entries) => index
                .exact()
                .and_then(|name| maps::entry_of(entries, &name))
                .unwrap_or(ScriptValue::Text(Value::Unknown)),
            ScriptValue::Name(name) if name.starts_with("pandas.DataFrame") => thing.clone(),
            ScriptValue::Name(name) if name == "configparser.parser" => {
                self.kept.parsed.clone().unwrap_or(ScriptValue::Text(Value::Unknown))
            }
            // `local["rm"]["-rf", "x"]` is a command that waits to be called, piped or run in front of a sign.
            ScriptValue::Name(name) if name.starts_with("plumbum.") => match index.exact() {
                Some(program) if name == "plumbum.local" => self.member(thing, &program),
                _ => {
                    let given = Given { positional: index.items(), named: Vec::new() };
                    self.in_doubt(|follower| follower.call_thing(thing, &given));
                    ScriptValue::Text(Value::Unknown)
                }
            },
            ScriptValue::Name(name) => match (name.as_str(), index.exact()) {
                ("os.environ" | "os.environb" | "process.env" | "ENV" | "Bun.env", Some(key)) => {
                    self.variable_of_environment(&key, None)
                }
                ("os.environ" | "os.environb" | "process.env" | "ENV" | "Bun.env", None) => match index {
                    ScriptValue::Text(Value::AnyOf(names)) => {
                        let all: Vec<ScriptValue> =
                            names.iter().map(|name| self.variable_of_environment(name, None)).collect();
                        ScriptValue::any(&all)
                    }
                    _ => ScriptValue::secret(ALL_VARIABLES),
                },
                ("Dir", Some(pattern)) => self.listed(Value::Glob(pattern)),
                (_, Some(member)) if matches!(self.language, Language::JavaScript | Language::Lua) => {
                    self.member(thing, &member)
                }
                ("ctypes.cdll" | "ctypes.pydll" | "ctypes.windll", Some(_)) => {
                    ScriptValue::Name("ctypes.library".to_owned())
                }
                ("sys.modules", Some(module)) => ScriptValue::Name(module),
                ("globals" | "locals", Some(name)) => self.lookup(&name),
                (name, Some(member)) if name.ends_with(".__dict__") => {
                    ScriptValue::Name(format!("{}.{member}", name.trim_end_matches(".__dict__")))
                }
                ("_G" | "__dict__", Some(member)) => ScriptValue::Name(member),
                // Whatever is called of it may be anything.
                ("globals" | "locals" | "sys.modules", None) => ScriptValue::Name(UNKNOWN_MODULE.to_owned()),
                // Any function of a module that reaches out may be meant.
                (
                    "child_process" | "fs" | "vm" | "process" | "globalThis" | "global" | "Deno" | "Bun",
                    None,
                ) if self.language == Language::JavaScript => ScriptValue::Name(UNKNOWN_MODULE.to_owned()),
                (name, None)
                    if !name.contains("env")
                        && matches!(self.language, Language::JavaScript | Language::Lua)
                        && !name.starts_with("process.argv") =>
                {
                    ScriptValue::Method(Box::new(ScriptValue::Foreign), name.to_owned())
                }
                _ => ScriptValue::Text(Value::Unknown),
            },
            ScriptValue::Network(url) => ScriptValue::Network(url.clone()),
            ScriptValue::Secret(place, _) => ScriptValue::secret(place.as_str()),
            ScriptValue::Foreign => ScriptValue::Foreign,
            ScriptValue::Text(_)
            | ScriptValue::Number(_)
            | ScriptValue::Truth(_)
            | ScriptValue::Path(_)
            | ScriptValue::File(_)
            | ScriptValue::Function(_)
            | ScriptValue::Class(_)
            | ScriptValue::Object(_)
            | ScriptValue::Socket(_)
            | ScriptValue::Process(_)
            | ScriptValue::Database(_)
            | ScriptValue::Method(_, _)
            | ScriptValue::Local => ScriptValue::Text(Value::Unknown),
        }
    }

    /// `file << text`
    pub(super) fn push_into(&mut self, to: &ScriptValue, value: &ScriptValue) {
        if let ScriptValue::Process(process) = to {
            self.feed(*process, value);
        }
        if let (ScriptValue::File(path), ScriptValue::Network(url)) = (to, value) {
            self.remember_download(path, url);
        }
    }

    pub(super) fn remember_download(&mut self, path: &Value, url: &str) {
        let aims = self.machine.paths_through(path);
        self.machine.remember_source(&aims, &Output::Network(url.to_owned()));
    }

    /// Calls a method of a value.
    pub(super) fn method(&mut self, of: &ScriptValue, name: &str, given: &Given) -> ScriptValue {
        // `stream.pipe(shell.stdin)`
        if let (ScriptValue::Process(process), "pipe") = (&given.at(0), name)
            && !matches!(of, ScriptValue::Socket(_))
        {
            let text = match of {
                ScriptValue::File(path) | ScriptValue::Path(path) => {
                    Self::from_output(self.machine.peek(path))
                }
                other => other.clone(),
            };
            self.feed(*process, &text);
            return given.at(0);
        }
        if let Some(answer) = self.telling_method(name, given) {
            return answer;
        }
        // A copy that is changed is handed on as well as not.
        if Self::is_environment(of) {
            self.note_environment(&format!("os.environ.{name}"), given);
        }
        match name {
            "times" | "downto" => self.note_counting(of),
            "upto" | "step" => self.note_counting(&given.at(0)),
            _ => {}
        }
        match of {
            ScriptValue::Method(_, member)
                if self.language == Language::JavaScript
                    && member == "constructor"
                    && name == "constructor" =>
            {
                self.made_function(given)
            }
            ScriptValue::Path(path) if self.language == Language::Python => {
                let given = python_parameters::placed(&format!("pathlib.Path.{name}"), given);
                self.path_method(&path.clone(), name, &given)
            }
            ScriptValue::Path(path) => self.path_method(&path.clone(), name, given),
            ScriptValue::File(path) => self.file_method(&path.clone(), name, given),
            ScriptValue::Socket(_) => self.socket_method(name, given),
            ScriptValue::Process(process) => self.process_method(*process, name, given),
            ScriptValue::Database(file) => {
                if matches!(name, "execute" | "executescript" | "executemany" | "exec" | "prepare" | "run") {
                    self.run_statement(&file.clone(), &given.at(0).value());
                }
                // A statement that was made ready is run by a method of its own.
                of.clone()
            }
            ScriptValue::Network(url) => match name {
                "pipe" => {
                    if let Some(ScriptValue::File(path)) = given.positional.first() {
                        self.remember_download(&path.clone(), url);
                    }
                    ScriptValue::Network(url.clone())
                }
                _ => ScriptValue::Network(url.clone()),
            },
            ScriptValue::Foreign => {
                self.not_known(name);
                self.may_run_given(given);
                ScriptValue::Foreign
            }
            ScriptValue::Text(_) | ScriptValue::List(_) => self.text_method(of, name, given),
            ScriptValue::Function(place) => {
                if matches!(name, "call" | "apply" | "bind" | "()") {
                    return self.call_function(*place, given.positional.get(1..).unwrap_or_default());
                }
                ScriptValue::Text(Value::Unknown)
            }
            ScriptValue::Secret(place, _) => Self::part_of_secret(&place.clone(), name),
            ScriptValue::Class(_) | ScriptValue::Object(_) => self.own_method(of, name, given),
            ScriptValue::Method(_, called) if called == "super" => self.own_method(of, name, given),
            ScriptValue::Map(_)
            | ScriptValue::Name(_)
            | ScriptValue::Method(_, _)
            | ScriptValue::Number(_)
            | ScriptValue::Truth(_)
            | ScriptValue::Local => self.method_by_name(name, given),
        }
    }

    /// Methods of objects that libraries make, whose name and place among the parameters say that text is run.
    fn telling_method(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        match (self.language, name) {
            // `asyncio` of Python 3.13, "Event Loop": a protocol stands in front.
            (Language::Python, "subprocess_shell") if given.positional.len() > 1 => {
                Some(self.run_shell(&given.at(1)))
            }
            (Language::Python, "subprocess_exec") if given.positional.len() > 1 => {
                let words = given.positional.get(1..).unwrap_or_default().to_vec();
                Some(self.run_list(&words))
            }
            (Language::JavaScript, "_compile") => {
                self.evaluate(&given.at(0));
                Some(ScriptValue::Text(Value::Unknown))
            }
            _ => None,
        }
    }

    /// Methods whose name says enough whatever the value is.
    fn method_by_name(&mut self, name: &str, given: &Given) -> ScriptValue {
        match name {
            "connect" if given.positional.iter().flat_map(ScriptValue::items).count() >= 2 => {
                self.connect(given)
            }
            "to_csv" | "to_excel" | "to_parquet" | "to_pickle" | "to_feather" | "savefig"
                if !given.positional.is_empty() =>
            {
                self.perform(super::library_calls::LibraryCall::Save, name, given)
            }
            _ => ScriptValue::Text(Value::Unknown),
        }
    }

    fn text_method(&mut self, of: &ScriptValue, name: &str, given: &Given) -> ScriptValue {
        let base = name.trim_end_matches(['!', '?']);
        match (of, base) {
            (ScriptValue::Text(Value::Exact(text)), "strip" | "trim") if given.positional.is_empty() => {
                ScriptValue::text(text.trim())
            }
            (ScriptValue::Text(Value::Exact(text)), "rstrip" | "trimEnd" | "chomp")
                if given.positional.is_empty() =>
            {
                ScriptValue::text(text.trim_end())
            }
            (ScriptValue::Text(Value::Exact(text)), "lstrip") if given.positional.is_empty() => {
                ScriptValue::text(text.trim_start())
            }
            (ScriptValue::Text(Value::Exact(_)), "strip" | "lstrip" | "rstrip") => {
                ScriptValue::Text(Value::Unknown)
            }
            (ScriptValue::Text(Value::Exact(text)), "__reversed__" | "reverse") => {
                ScriptValue::text(text.chars().rev().collect::<String>())
            }
            (ScriptValue::List(items), "__reversed__" | "reverse") => {
                ScriptValue::List(items.iter().rev().cloned().collect())
            }
            (
                ScriptValue::Text(Value::Exact(text)),
                "endswith" | "endsWith" | "startswith" | "startsWith",
            ) if self.language.has_tree() => {
                let asked: Option<Vec<String>> = given.at(0).items().iter().map(ScriptValue::exact).collect();
                match asked {
                    Some(asked) if given.positional.len() == 1 => {
                        let fits = |part: &String| match base {
                            "endswith" | "endsWith" => text.ends_with(part.as_str()),
                            _ => text.starts_with(part.as_str()),
                        };
                        ScriptValue::Truth(asked.iter().any(fits))
                    }
                    Some(_) | None => ScriptValue::Local,
                }
            }
            (
                ScriptValue::Text(_),
                "endswith" | "endsWith" | "startswith" | "startsWith" | "isdigit" | "includes",
            ) => ScriptValue::Local,
            (ScriptValue::Text(Value::Exact(text)), "split")
                if self.language == Language::JavaScript && given.at(0).exact().as_deref() == Some("") =>
            {
                ScriptValue::List(text.chars().map(|letter| ScriptValue::text(letter.to_string())).collect())
            }
            (ScriptValue::List(items), "sort" | "shuffle" | "rotate") => {
                ScriptValue::List(maps::in_any_order(items))
            }
            (
                _,
                "strip" | "rstrip" | "lstrip" | "trim" | "trimEnd" | "chomp" | "encode" | "decode"
                | "toString" | "to_s" | "as_posix" | "expanduser" | "freeze" | "dup" | "valueOf" | "to_str"
                | "sort" | "reverse" | "filter" | "sorted" | "select" | "reject" | "to_a" | "entries"
                | "each" | "each_with_index" | "forEach" | "map" | "flat" | "uniq" | "compact" | "keys"
                | "values",
            ) => of.clone(),
            (ScriptValue::Text(_), "join") => {
                // Python: the text stands between.
                joined_text(of, &given.at(0).items())
            }
            (ScriptValue::List(items), "join") => {
                let between = if given.positional.is_empty() {
                    ScriptValue::text(if self.language == Language::JavaScript { "," } else { "" })
                } else {
                    given.at(0)
                };
                joined_text(&between, items)
            }
            (ScriptValue::List(items), "slice") => {
                match given.at(0).exact().and_then(|text| text.parse::<usize>().ok()) {
                    Some(from) if given.positional.len() == 1 => {
                        ScriptValue::List(items.get(from..).unwrap_or_default().to_vec())
                    }
                    Some(_) | None => of.clone(),
                }
            }
            (ScriptValue::List(items), "concat") => ScriptValue::List(
                items.iter().cloned().chain(given.positional.iter().flat_map(ScriptValue::items)).collect(),
            ),
            (ScriptValue::List(items), "first" | "shift" | "pop" | "last") => ScriptValue::any(items),
            (_, "concat") => given.positional.iter().fold(of.clone(), |text, part| text.followed_by(part)),
            (ScriptValue::Text(Value::Exact(text)), "format") => filled_braces(text, given),
            (ScriptValue::Text(Value::Exact(text)), "replace" | "replaceAll" | "gsub")
                if given.positional.len() >= 2 =>
            {
                match (given.at(0).exact(), given.at(1).exact()) {
                    (Some(from), Some(to)) => ScriptValue::Text(replaced(text, &from, &to)),
                    _ => ScriptValue::Text(Value::Unknown),
                }
            }
            (ScriptValue::Text(Value::Exact(text)), "sub") if given.positional.len() >= 2 => {
                match (given.at(0).exact(), given.at(1).exact()) {
                    (Some(from), Some(to)) => ScriptValue::text(text.replacen(&from, &to, 1)),
                    _ => ScriptValue::Text(Value::Unknown),
                }
            }
            (ScriptValue::Text(_), "prepend") => given.at(0).followed_by(of),
            (ScriptValue::Text(_), "replace") if self.language == Language::Ruby => given.at(0),
            (ScriptValue::Text(Value::Exact(text)), "split") => {
                match given.positional.first().map(ScriptValue::exact) {
                    None => ScriptValue::List(text.split_whitespace().map(ScriptValue::text).collect()),
                    Some(Some(between)) if !between.is_empty() => {
                        ScriptValue::List(text.split(between.as_str()).map(ScriptValue::text).collect())
                    }
                    Some(_) => ScriptValue::List(vec![ScriptValue::Text(Value::Unknown)]),
                }
            }
            (ScriptValue::Text(Value::Exact(text)), "splitlines") => {
                ScriptValue::List(text.lines().map(ScriptValue::text).collect())
            }
            (ScriptValue::Text(Value::Exact(_)), "lines" | "readlines" | "each_line") => self.lines(of),
            (ScriptValue::Text(Value::Exact(text)), "lower" | "toLowerCase" | "downcase") => {
                ScriptValue::text(text.to_lowercase())
            }
            (ScriptValue::Text(Value::Exact(text)), "upper" | "toUpperCase" | "upcase") => {
                ScriptValue::text(text.to_uppercase())
            }
            (_, "split" | "splitlines" | "lines" | "readlines" | "chars" | "match" | "scan") => {
                ScriptValue::List(vec![ScriptValue::Text(Value::Unknown)])
            }
            (ScriptValue::Text(Value::Exact(text)), "repeat") => {
                let count = given.at(0).exact().and_then(|count| count.parse().ok());
                ScriptValue::Text(count.map_or(Value::Unknown, |count| repeated(text, count)))
            }
            // What a program prints that was opened like a file: `os.popen(...).readline()`.
            (ScriptValue::Text(Value::Exact(text)), "read" | "readline" | "gets")
                if base != "read"
                    || self.language == Language::Lua
                        && given.at(0).exact().is_none_or(|form| !form.contains('a')) =>
            {
                let line = text.split_inclusive('\n').next().unwrap_or_default();
                let keeps = self.language != Language::Lua;
                ScriptValue::text(if keeps { line } else { line.trim_end_matches('\n') })
            }
            (ScriptValue::Text(text), "read" | "readline" | "gets") => ScriptValue::Text(text.clone()),
            (_, "connect") if given.positional.iter().flat_map(ScriptValue::items).count() >= 2 => {
                self.connect(given)
            }
            (_, "unlink" | "rmtree")
                if self.language == Language::Python || self.language == Language::Ruby =>
            {
                // Only paths have such a method.
                let depth = if base == "rmtree" { Depth::Recursive } else { Depth::Single };
                let value = if matches!(
                    of,
                    ScriptValue::Text(Value::Glob(_) | Value::Between { .. } | Value::AnyOf(_))
                ) {
                    of.value()
                } else {
                    Value::Unknown
                };
                self.delete(&value, depth);
                ScriptValue::Text(Value::Unknown)
            }
            (_, "to_csv" | "to_excel" | "to_parquet" | "to_pickle" | "to_feather" | "savefig") => {
                self.method_by_name(name, given)
            }
            // A path that is not known, written to.
            (ScriptValue::Text(value), "open")
                if self.is_python()
                    && given.at(0).exact().is_some_and(|mode| mode.starts_with(['w', 'a', 'x'])) =>
            {
                let value = value.clone();
                self.write(&value, &ScriptValue::Text(Value::Unknown));
                ScriptValue::File(value)
            }
            (_, "write_text" | "write_bytes") => {
                self.write(&of.value(), &ScriptValue::Text(Value::Unknown));
                ScriptValue::Text(Value::Unknown)
            }
            _ => ScriptValue::Text(Value::Unknown),
        }
    }
}

/// A text with `{}` filled in.
fn filled_braces(text: &str, given: &Given) -> ScriptValue {
    let mut whole = ScriptValue::text("");
    let mut rest = text;
    let mut place = 0;
    while let Some((before, behind)) = rest.split_once('{') {
        whole = whole.followed_by(&ScriptValue::text(before));
        let Some((name, behind)) = behind.split_once('}') else { return ScriptValue::Text(Value::Unknown) };
        // What a form makes of a value (`{:>10}`) is not worked out.
        let (name, form) = name.split_at(name.find([':', '!']).unwrap_or(name.len()));
        let value = if !matches!(form, "" | ":" | ":s" | ":d" | "!s") {
            place += usize::from(name.is_empty());
            ScriptValue::Local
        } else if name.is_empty() {
            place += 1;
            given.at(place - 1)
        } else if let Ok(index) = name.parse::<usize>() {
            given.at(index)
        } else {
            given.named(name).cloned().unwrap_or(ScriptValue::Local)
        };
        whole = whole.followed_by(&value);
        rest = behind;
    }
    whole.followed_by(&ScriptValue::text(rest))
}
