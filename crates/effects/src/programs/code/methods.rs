//! Members and methods of values.

use crate::effect::Depth;
use crate::guard::PARENT;
use crate::interpreter::{Output, Upload, Value};
use crate::programs::archives::{Names, unpack_from};
use crate::programs::files;

use super::acts::{UNKNOWN_MODULE, joined_text, parent};
use super::follower::{Follower, Given};
use super::thing::Thing;
use checkrein_scripts::Language;

impl Follower<'_, '_, '_> {
    /// What a name alone is.
    pub(super) fn named(&mut self, word: &str) -> Thing {
        match (self.language, word) {
            (Language::Perl, "@ARGV" | "$ARGV") | (Language::Ruby, "ARGV") => self.arguments(0),
            (Language::Php, "$argv") | (Language::Lua, "arg") => Thing::List(
                std::iter::once(Thing::Text(Value::Unknown)).chain(self.arguments(0).items()).collect(),
            ),
            (Language::Perl, "$ENV" | "%ENV")
            | (Language::Ruby, "ENV")
            | (Language::Php, "$_ENV" | "$_SERVER") => Thing::Name("ENV".to_owned()),
            _ if self.language == Language::Perl
                && word.starts_with('$')
                && !self.variables.contains_key(word) =>
            {
                // `$x[0]` is an element of `@x`, `$x{a}` one of `%x`.
                let plain = word.trim_start_matches('$');
                let list = self
                    .variables
                    .get(&format!("@{plain}"))
                    .or_else(|| self.variables.get(&format!("%{plain}")));
                match list {
                    Some(list) => list.clone(),
                    None if word == "$_" => Thing::Text(Value::Unknown),
                    None => Thing::Name(word.to_owned()),
                }
            }
            _ if word.starts_with(['@', '%', '&']) || word.starts_with('$') => {
                let found = self.variables.get(word).cloned();
                match found {
                    Some(thing) => thing,
                    None if word.starts_with('&') => self.lookup(word.trim_start_matches('&')),
                    None => Thing::Text(Value::Unknown),
                }
            }
            _ => self.lookup(word),
        }
    }

    /// Whether a name alone is a call, as in Ruby and Perl.
    pub(super) fn is_bare_call(&self, thing: &Thing) -> bool {
        match (self.language, thing) {
            (Language::Perl, Thing::Name(name)) => {
                matches!(name.as_str(), "shift" | "cwd" | "getcwd" | "unlink" | "rmdir" | "tempdir")
            }
            (Language::Ruby, Thing::Name(name)) => matches!(name.as_str(), "gets"),
            (Language::Ruby | Language::Perl, Thing::Function(place)) => {
                self.functions.get(*place).is_some_and(|function| !function.name.is_empty())
            }
            _ => false,
        }
    }

    /// A member of a value.
    pub(super) fn member(&mut self, thing: &Thing, member: &str) -> Thing {
        match thing {
            Thing::Name(name) => self.member_of_name(name, member),
            Thing::Path(path) => match member {
                "parent" | "dirname" => Thing::Path(parent(path)),
                "name" | "stem" | "suffix" | "basename" | "extname"
                    if self.language == Language::Python || member == "name" =>
                {
                    match path.as_exact().map(|text| {
                        text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
                    }) {
                        Some(name) if member == "name" => Thing::text(name),
                        Some(_) | None => Thing::Text(Value::Unknown),
                    }
                }
                "path" | "fullpath" => Thing::Text(path.clone()),
                _ => Thing::Method(Box::new(thing.clone()), member.to_owned()),
            },
            Thing::File(path) => match member {
                "name" | "path" => Thing::Text(path.clone()),
                _ => Thing::Method(Box::new(thing.clone()), member.to_owned()),
            },
            Thing::Map(_) => match thing.get(member) {
                Some(value) => value.clone(),
                None => Thing::Method(Box::new(thing.clone()), member.to_owned()),
            },
            Thing::Method(of, name)
                if self.language != Language::Ruby && matches!(**of, Thing::Network(_)) =>
            {
                Thing::Method(of.clone(), format!("{name}.{member}"))
            }
            Thing::Object(place) => self.member_of_object(*place, member),
            Thing::Class(place) => self.member_of_class(*place, member),
            Thing::Foreign => Thing::Foreign,
            Thing::Text(_)
            | Thing::Number(_)
            | Thing::Truth(_)
            | Thing::List(_)
            | Thing::Function(_)
            | Thing::Network(_)
            | Thing::Socket(_)
            | Thing::Database(_)
            | Thing::Method(_, _)
            | Thing::Local => Thing::Method(Box::new(thing.clone()), member.to_owned()),
        }
    }

    fn member_of_name(&mut self, name: &str, member: &str) -> Thing {
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
                let first = if script { Vec::new() } else { vec![Thing::text("-c")] };
                return Thing::List(first.into_iter().chain(self.arguments(0).items()).collect());
            }
            (Language::JavaScript, "process.ppid") => return Thing::text(PARENT),
            (Language::JavaScript, "process.argv" | "Bun.argv") => {
                // The interpreter comes first.
                let front = std::iter::once(Thing::Text(Value::Unknown));
                return Thing::List(front.chain(self.arguments(0).items()).collect());
            }
            (Language::Python, "os.sep" | "os.path.sep")
            | (Language::JavaScript, "path.sep")
            | (Language::Ruby, "File.SEPARATOR") => return Thing::text("/"),
            (Language::Python, "os.linesep") => return Thing::text("\n"),
            (Language::Python, "sys.executable") => return Thing::text("python3"),
            (Language::JavaScript, "process.execPath") => return Thing::text("node"),
            (Language::Python, "os.curdir") => return Thing::text("."),
            (Language::Python, "tempfile.tempdir") => return Thing::text("/tmp"),
            (Language::JavaScript, "fs.promises") => return Thing::Name("fs".to_owned()),
            (Language::JavaScript, "path.posix") => return Thing::Name("path".to_owned()),
            _ => {}
        }
        // Parts of modules that are imported under their own name: `url.parse`, `globalThis.process`.
        match (self.language, name) {
            (Language::JavaScript, "globalThis" | "global" | "window" | "Deno" | "Bun")
                if self.deed(&full).is_none() && !full.starts_with("Deno.env") =>
            {
                Thing::Name(member.to_owned())
            }
            (Language::Lua, "_G") | (Language::Python, "builtins" | "__builtins__" | "six.moves") => {
                Thing::Name(member.to_owned())
            }
            (Language::JavaScript, "process.mainModule" | "module" | "require.main")
                if member == "require" =>
            {
                Thing::Name("require".to_owned())
            }
            _ => Thing::Name(full),
        }
    }

    /// An element of a value.
    pub(super) fn indexed(&mut self, thing: &Thing, index: &Thing) -> Thing {
        match thing {
            Thing::List(items) => match index.exact().and_then(|text| text.parse::<i64>().ok()) {
                Some(place) => {
                    let length = i64::try_from(items.len()).unwrap_or(0);
                    let place = if place < 0 { place.saturating_add(length) } else { place };
                    let item = usize::try_from(place).ok().and_then(|place| items.get(place));
                    item.cloned().unwrap_or(Thing::Text(Value::Unknown))
                }
                None => thing.clone(),
            },
            Thing::Map(_) => index
                .exact()
                .and_then(|name| thing.get(&name).cloned())
                .unwrap_or(Thing::Text(Value::Unknown)),
            Thing::Name(name) if name.starts_with("pandas.DataFrame") => thing.clone(),
            Thing::Name(name) => match (name.as_str(), index.exact()) {
                ("os.environ" | "os.environb" | "process.env" | "ENV" | "Bun.env", Some(key)) => {
                    self.variable_of_environment(&key, None)
                }
                ("Dir", Some(pattern)) => Thing::Text(Value::Glob(pattern)),
                (_, Some(member)) if self.language == Language::JavaScript => self.member(thing, &member),
                ("sys.modules", Some(module)) => Thing::Name(module),
                ("globals" | "locals", Some(name)) => self.lookup(&name),
                (name, Some(member)) if name.ends_with(".__dict__") => {
                    Thing::Name(format!("{}.{member}", name.trim_end_matches(".__dict__")))
                }
                ("_G" | "__dict__", Some(member)) => Thing::Name(member),
                // Whatever is called of it may be anything.
                ("globals" | "locals" | "sys.modules", None) => Thing::Name(UNKNOWN_MODULE.to_owned()),
                // Any function of a module that reaches out may be meant.
                (
                    "child_process" | "fs" | "vm" | "process" | "globalThis" | "global" | "Deno" | "Bun",
                    None,
                ) if self.language == Language::JavaScript => Thing::Name(UNKNOWN_MODULE.to_owned()),
                (name, None)
                    if !name.contains("env")
                        && matches!(self.language, Language::JavaScript | Language::Lua)
                        && !name.starts_with("process.argv") =>
                {
                    Thing::Method(Box::new(Thing::Foreign), name.to_owned())
                }
                _ => Thing::Text(Value::Unknown),
            },
            Thing::Network(url) => Thing::Network(url.clone()),
            Thing::Foreign => Thing::Foreign,
            Thing::Text(_)
            | Thing::Number(_)
            | Thing::Truth(_)
            | Thing::Path(_)
            | Thing::File(_)
            | Thing::Function(_)
            | Thing::Class(_)
            | Thing::Object(_)
            | Thing::Socket(_)
            | Thing::Database(_)
            | Thing::Method(_, _)
            | Thing::Local => Thing::Text(Value::Unknown),
        }
    }

    /// `file << text`
    pub(super) fn push_into(&mut self, to: &Thing, value: &Thing) {
        if let (Thing::File(path), Thing::Network(url)) = (to, value) {
            self.remember_download(path, url);
        }
    }

    fn remember_download(&mut self, path: &Value, url: &str) {
        let aims = self.machine.paths_through(path);
        self.machine.remember_source(&aims, &Output::Network(url.to_owned()));
    }

    /// Calls a method of a value.
    pub(super) fn method(&mut self, of: &Thing, name: &str, given: &Given) -> Thing {
        match of {
            Thing::Path(path) => self.path_method(&path.clone(), name, given),
            Thing::File(path) => self.file_method(&path.clone(), name, given),
            Thing::Socket(_) => self.socket_method(name, given),
            Thing::Database(file) => {
                if matches!(name, "execute" | "executescript" | "executemany" | "exec" | "prepare" | "run") {
                    self.run_statement(&file.clone(), &given.at(0).value());
                }
                // A statement that was made ready is run by a method of its own.
                of.clone()
            }
            Thing::Network(url) => match name {
                "pipe" => {
                    if let Some(Thing::File(path)) = given.positional.first() {
                        self.remember_download(&path.clone(), url);
                    }
                    Thing::Network(url.clone())
                }
                _ => Thing::Network(url.clone()),
            },
            Thing::Foreign => {
                self.not_known(name);
                Thing::Foreign
            }
            Thing::Text(_) | Thing::List(_) => self.text_method(of, name, given),
            Thing::Function(place) => {
                if matches!(name, "call" | "apply" | "bind" | "()") {
                    return self.call_function(*place, given.positional.get(1..).unwrap_or_default());
                }
                Thing::Text(Value::Unknown)
            }
            Thing::Class(_) | Thing::Object(_) => self.own_method(of, name, given),
            Thing::Method(_, called) if called == "super" => self.own_method(of, name, given),
            Thing::Map(_)
            | Thing::Name(_)
            | Thing::Method(_, _)
            | Thing::Number(_)
            | Thing::Truth(_)
            | Thing::Local => self.method_by_name(name, given),
        }
    }

    /// Methods whose name says enough whatever the value is.
    fn method_by_name(&mut self, name: &str, given: &Given) -> Thing {
        match name {
            "connect" if given.positional.iter().flat_map(Thing::items).count() >= 2 => self.connect(given),
            "to_csv" | "to_excel" | "to_parquet" | "to_pickle" | "to_feather" | "savefig"
                if !given.positional.is_empty() =>
            {
                self.perform(super::deeds::Deed::Save, name, given)
            }
            _ => Thing::Text(Value::Unknown),
        }
    }

    fn text_method(&mut self, of: &Thing, name: &str, given: &Given) -> Thing {
        let base = name.trim_end_matches(['!', '?']);
        match (of, base) {
            (Thing::Text(Value::Exact(text)), "strip" | "trim") if given.positional.is_empty() => {
                Thing::text(text.trim())
            }
            (Thing::Text(Value::Exact(text)), "rstrip" | "trimEnd" | "chomp")
                if given.positional.is_empty() =>
            {
                Thing::text(text.trim_end())
            }
            (Thing::Text(Value::Exact(text)), "lstrip") if given.positional.is_empty() => {
                Thing::text(text.trim_start())
            }
            (Thing::Text(Value::Exact(_)), "strip" | "lstrip" | "rstrip") => Thing::Text(Value::Unknown),
            (Thing::Text(Value::Exact(text)), "__reversed__" | "reverse") => {
                Thing::text(text.chars().rev().collect::<String>())
            }
            (Thing::List(items), "__reversed__" | "reverse") => {
                Thing::List(items.iter().rev().cloned().collect())
            }
            (Thing::Text(Value::Exact(text)), "endswith" | "endsWith" | "startswith" | "startsWith")
                if self.language.has_tree() =>
            {
                let asked: Option<Vec<String>> = given.at(0).items().iter().map(Thing::exact).collect();
                match asked {
                    Some(asked) if given.positional.len() == 1 => {
                        let fits = |part: &String| match base {
                            "endswith" | "endsWith" => text.ends_with(part.as_str()),
                            _ => text.starts_with(part.as_str()),
                        };
                        Thing::Truth(asked.iter().any(fits))
                    }
                    Some(_) | None => Thing::Local,
                }
            }
            (
                Thing::Text(_),
                "endswith" | "endsWith" | "startswith" | "startsWith" | "isdigit" | "includes",
            ) => Thing::Local,
            (Thing::Text(Value::Exact(text)), "split")
                if self.language == Language::JavaScript && given.at(0).exact().as_deref() == Some("") =>
            {
                Thing::List(text.chars().map(|letter| Thing::text(letter.to_string())).collect())
            }
            (
                _,
                "strip" | "rstrip" | "lstrip" | "trim" | "trimEnd" | "chomp" | "encode" | "decode"
                | "toString" | "to_s" | "as_posix" | "expanduser" | "freeze" | "dup" | "valueOf" | "to_str"
                | "sort" | "reverse" | "filter" | "sorted" | "select" | "reject" | "to_a" | "entries"
                | "each" | "each_with_index" | "forEach" | "map" | "flat" | "uniq" | "compact" | "keys"
                | "values",
            ) => of.clone(),
            (Thing::Text(_), "join") => {
                // Python: the text stands between.
                joined_text(of, &given.at(0).items())
            }
            (Thing::List(items), "join") => {
                let between = if given.positional.is_empty() {
                    Thing::text(if self.language == Language::JavaScript { "," } else { "" })
                } else {
                    given.at(0)
                };
                joined_text(&between, items)
            }
            (Thing::List(items), "slice") => {
                match given.at(0).exact().and_then(|text| text.parse::<usize>().ok()) {
                    Some(from) if given.positional.len() == 1 => {
                        Thing::List(items.get(from..).unwrap_or_default().to_vec())
                    }
                    Some(_) | None => of.clone(),
                }
            }
            (Thing::List(items), "concat") => Thing::List(
                items.iter().cloned().chain(given.positional.iter().flat_map(Thing::items)).collect(),
            ),
            (Thing::List(items), "first" | "shift" | "pop" | "last") => Thing::any(items),
            (_, "concat") => given.positional.iter().fold(of.clone(), |text, part| text.followed_by(part)),
            (Thing::Text(Value::Exact(text)), "format") => filled_braces(text, given),
            (Thing::Text(Value::Exact(text)), "replace" | "replaceAll" | "gsub")
                if given.positional.len() >= 2 =>
            {
                match (given.at(0).exact(), given.at(1).exact()) {
                    (Some(from), Some(to)) if !from.is_empty() => Thing::text(text.replace(&from, &to)),
                    _ => Thing::Text(Value::Unknown),
                }
            }
            (Thing::Text(Value::Exact(text)), "split") => match given.positional.first().map(Thing::exact) {
                None => Thing::List(text.split_whitespace().map(Thing::text).collect()),
                Some(Some(between)) if !between.is_empty() => {
                    Thing::List(text.split(between.as_str()).map(Thing::text).collect())
                }
                Some(_) => Thing::List(vec![Thing::Text(Value::Unknown)]),
            },
            (Thing::Text(Value::Exact(text)), "lower" | "toLowerCase" | "downcase") => {
                Thing::text(text.to_lowercase())
            }
            (Thing::Text(Value::Exact(text)), "upper" | "toUpperCase" | "upcase") => {
                Thing::text(text.to_uppercase())
            }
            (_, "split" | "splitlines" | "lines" | "readlines" | "chars" | "match" | "scan") => {
                Thing::List(vec![Thing::Text(Value::Unknown)])
            }
            (_, "connect") if given.positional.iter().flat_map(Thing::items).count() >= 2 => {
                self.connect(given)
            }
            (_, "unlink" | "rmtree")
                if self.language == Language::Python || self.language == Language::Ruby =>
            {
                // Only paths have such a method.
                let depth = if base == "rmtree" { Depth::Recursive } else { Depth::Single };
                let value =
                    if matches!(of, Thing::Text(Value::Glob(_) | Value::Between { .. } | Value::AnyOf(_))) {
                        of.value()
                    } else {
                        Value::Unknown
                    };
                self.delete(&value, depth);
                Thing::Text(Value::Unknown)
            }
            (_, "to_csv" | "to_excel" | "to_parquet" | "to_pickle" | "to_feather" | "savefig") => {
                self.method_by_name(name, given)
            }
            // A path that is not known, written to.
            (Thing::Text(value), "open")
                if self.is_python()
                    && given.at(0).exact().is_some_and(|mode| mode.starts_with(['w', 'a', 'x'])) =>
            {
                let value = value.clone();
                self.write(&value, &Thing::Text(Value::Unknown));
                Thing::File(value)
            }
            (_, "write_text" | "write_bytes") => {
                self.write(&of.value(), &Thing::Text(Value::Unknown));
                Thing::Text(Value::Unknown)
            }
            _ => Thing::Text(Value::Unknown),
        }
    }

    fn path_method(&mut self, path: &Value, name: &str, given: &Given) -> Thing {
        let unknown = Thing::Text(Value::Unknown);
        let this = Thing::Path(path.clone());
        match name {
            "unlink" | "rmdir" | "delete" | "remove" => self.delete(path, Depth::Single),
            "rmtree" | "remove_tree" => self.delete(path, Depth::Recursive),
            "write_text" | "write_bytes" | "write" | "binwrite" | "spew" | "spew_utf8" => {
                self.write(path, &given.at(0));
            }
            "append" | "append_utf8" => self.append(path),
            "touch" => self.act(|machine| machine.touch(path)),
            "mkdir" | "mkpath" => self.act(|machine| machine.make_directory(path)),
            "chmod" | "lchmod" | "chown" => {
                self.change_rights(name, path, given.positional.first());
            }
            "read_text" | "read_bytes" | "read" | "readlines" | "binread" | "slurp" | "slurp_utf8"
            | "lines" => return self.read(&this),
            "open" => {
                let mode = given
                    .named("mode")
                    .and_then(Thing::exact)
                    .or_else(|| given.at(0).exact())
                    .unwrap_or_default();
                if mode.contains('a') {
                    self.append(path);
                } else if mode.contains(['w', 'x', '+']) {
                    self.write(path, &unknown);
                } else {
                    self.read(&this);
                }
                return Thing::File(path.clone());
            }
            "rename" | "replace" | "move" => {
                let both = Given { positional: vec![this, given.at(0)], named: Vec::new() };
                self.transfer(files::mv, "mv", &both, &["-f", "-T"]);
                return Thing::Path(given.at(0).value());
            }
            "copy" | "copy_into" => {
                let both = Given { positional: vec![this, given.at(0)], named: Vec::new() };
                self.transfer(files::cp, "cp", &both, &["-r"]);
            }
            "symlink_to" | "hardlink_to" | "make_symlink" => {
                let to = given.at(0).value();
                if name == "hardlink_to" {
                    self.act(|machine| machine.second_name(&to));
                }
                self.act(|machine| machine.make_link(path, &to));
            }
            "joinpath" | "join" | "child" | "+" => {
                let joined = given.positional.iter().fold(this, |path, part| Thing::Path(path.below(part)));
                return joined;
            }
            "glob" | "rglob" => {
                let pattern = given.at(0).exact().unwrap_or_else(|| "*".to_owned());
                let pattern = if name == "rglob" { format!("**/{pattern}") } else { pattern };
                return match path.as_exact() {
                    Some(".") => Thing::Path(Value::Glob(pattern)),
                    Some(directory) => {
                        Thing::Path(Value::Glob(format!("{}/{pattern}", directory.trim_end_matches('/'))))
                    }
                    None => Thing::Path(path.followed_by(&Value::exact("/")).followed_by(&Value::Unknown)),
                };
            }
            "iterdir" if path.as_exact().is_some() => {
                return Thing::Path(Value::Glob(format!("{}/*", path.known_start().trim_end_matches('/'))));
            }
            "iterdir" | "children" | "each_child" | "walk" | "entries" => {
                return Thing::Path(path.followed_by(&Value::exact("/")).followed_by(&Value::Unknown));
            }
            "expanduser" | "expand_path" => {
                let home = self.machine.variable("HOME").unwrap_or(Value::Unknown);
                return match path.as_exact().and_then(|text| text.strip_prefix('~')) {
                    Some(rest) => Thing::Path(home.followed_by(&Value::exact(rest))),
                    None => this,
                };
            }
            "resolve" | "absolute" | "as_posix" | "realpath" | "cleanpath" | "to_s" | "to_path"
            | "toString" | "__str__" | "stringify" => return this,
            "with_name" | "sibling" => return Thing::Path(Thing::Path(parent(path)).below(&given.at(0))),
            "with_suffix" => {
                let suffix = given.at(0).exact();
                return match (path.as_exact(), suffix) {
                    (Some(text), Some(suffix)) => {
                        let name_at = text.rfind('/').map_or(0, |at| at + 1);
                        let cut = text.rfind('.').filter(|at| *at > name_at).unwrap_or(text.len());
                        Thing::Path(Value::exact(format!("{}{suffix}", text.get(..cut).unwrap_or(text))))
                    }
                    _ => Thing::Path(Value::Unknown),
                };
            }
            "exists" | "is_file" | "is_dir" | "exist?" | "file?" | "directory?" => {
                let given = Given { positional: vec![this], named: Vec::new() };
                return self.perform(super::deeds::Deed::Exists, "", &given);
            }
            _ => {}
        }
        unknown
    }

    fn file_method(&mut self, path: &Value, name: &str, given: &Given) -> Thing {
        match name {
            "write" | "puts" | "print" | "writelines" | "end" | "syswrite" => {
                if let Some(Thing::Network(url)) = given.positional.first() {
                    self.remember_download(path, &url.clone());
                }
                Thing::Text(Value::Unknown)
            }
            "extractall" | "extract" => {
                let directory = match (name, given.named("path")) {
                    (_, Some(path)) => path.value(),
                    ("extractall", None) => given.positional.first().map_or(Value::exact("."), Thing::value),
                    (_, None) => given.positional.get(1).map_or(Value::exact("."), Thing::value),
                };
                let archive = Some(path).filter(|_| name == "extractall");
                self.act(|machine| unpack_from(machine, archive, &directory, Names::Without(0)));
                Thing::Text(Value::Unknown)
            }
            "read" | "readlines" | "readline" | "gets" | "each_line" | "lines" => {
                Self::from_output(self.machine.peek(path))
            }
            _ => Thing::File(path.clone()),
        }
    }

    fn socket_method(&mut self, name: &str, given: &Given) -> Thing {
        match name {
            "connect" | "connect_ex" | "createConnection" => self.connect(given),
            "pipe" if self.socket.is_some() && self.spawned_shell => {
                self.gives_shell();
                Thing::Local
            }
            // The address stands behind the data.
            "sendto" if given.positional.len() >= 2 => {
                let address = given.positional.last().cloned().into_iter().collect();
                let address = Given { positional: address, named: Vec::new() };
                self.connect_as(&address, Upload::Yes)
            }
            "send" | "sendall" | "sendto" | "sendmail" | "send_message" | "storbinary" | "storlines"
            | "write" | "puts" | "print" => {
                let host = self.socket.clone();
                if let Some(host) = host {
                    self.act(|machine| machine.host(&host, Upload::Yes));
                }
                Thing::Text(Value::Unknown)
            }
            "recv" | "read" | "gets" | "receive" | "recvfrom" | "readline" => {
                let host = self.socket.clone().and_then(|host| host.as_exact().map(str::to_owned));
                Thing::Network(host.unwrap_or_default())
            }
            "fileno" => Thing::Local,
            "request" => {
                let host = self.socket.clone().unwrap_or(Value::Unknown);
                let upload = match given.at(0).exact().as_deref() {
                    Some("GET" | "HEAD") => Upload::No,
                    _ => Upload::Yes,
                };
                self.act(|machine| machine.host(&host, upload));
                Thing::Network(host.known_start())
            }
            _ => Thing::Socket(self.socket.clone().unwrap_or(Value::Unknown)),
        }
    }
}

/// A text with `{}` filled in.
fn filled_braces(text: &str, given: &Given) -> Thing {
    let mut whole = Thing::text("");
    let mut rest = text;
    let mut place = 0;
    while let Some((before, behind)) = rest.split_once('{') {
        whole = whole.followed_by(&Thing::text(before));
        let Some((name, behind)) = behind.split_once('}') else { return Thing::Text(Value::Unknown) };
        let name = name.split([':', '!']).next().unwrap_or_default();
        let value = if name.is_empty() {
            place += 1;
            given.at(place - 1)
        } else if let Ok(index) = name.parse::<usize>() {
            given.at(index)
        } else {
            given.named(name).cloned().unwrap_or(Thing::Local)
        };
        whole = whole.followed_by(&value);
        rest = behind;
    }
    whole.followed_by(&Thing::text(rest))
}
