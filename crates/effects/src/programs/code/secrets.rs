//! Secrets of the environment in code: what carries one, and what prints it.
//!
//! A variable whose name says that it holds a secret is a value of its own ([`ScriptValue::Secret`]), which stays one through what is made of
//! it. That it is used says nothing; that it is printed is what the output of the program carries then.

use crate::interpreter::printed::ALL_VARIABLES;
use crate::interpreter::{Output, Value};
use crate::programs::network;
use crate::world::Entry;

use super::evaluator::{Evaluator, Given};
use super::value::ScriptValue;
use checkrein_scripts::Language;

/// How languages call the variables of the environment.
const ENVIRONMENTS: &[&str] =
    &["os.environ", "os.environb", "process.env", "Bun.env", "import.meta.env", "ENV", "Deno.env.toObject"];

/// Functions that print what they are given, by the last part of their names where the first says nothing.
const PRINTERS: &[&str] = &[
    "print",
    "printf",
    "say",
    "die",
    "raise",
    "abort",
    "croak",
    "confess",
    "warn",
    "puts",
    "p",
    "pp",
    "echo",
    "print_r",
    "var_dump",
    "var_export",
    "error_log",
    "cat",
    "message",
];

/// Printers by their full names.
const NAMED_PRINTERS: &[&str] = &[
    "pprint.pprint",
    "pprint.pp",
    "sys.stdout.write",
    "sys.stderr.write",
    "io.write",
    "io.stdout.write",
    "io.stderr.write",
    "process.stdout.write",
    "process.stderr.write",
    "STDOUT.puts",
    "STDERR.puts",
    "STDOUT.print",
    "STDOUT.write",
    "$stdout.puts",
    "$stderr.puts",
    "$stdout.write",
    "Kernel.puts",
    "Kernel.p",
    "sys.exit",
    "logging.debug",
    "logging.info",
    "logging.warning",
    "logging.error",
    "rich.print",
    "util.inspect.log",
];

/// Functions that give the settings of a file (python-dotenv 1, dotenv 16 for node and 3 for Ruby).
const SETTINGS: &[(Language, &[&str])] = &[
    (
        Language::Python,
        &["dotenv.dotenv_values", "dotenv.get_key", "dotenv.main.dotenv_values", "dotenv.main.get_key"],
    ),
    (Language::JavaScript, &["dotenv.config", "dotenv.configDotenv"]),
    (Language::Ruby, &["Dotenv.load", "Dotenv.parse", "Dotenv.overload"]),
];

/// Functions that say which file they cannot open.
const FILES_NAMED: &[&str] = &[
    "open",
    "os.open",
    "os.listdir",
    "os.stat",
    "os.chdir",
    "os.rmdir",
    "os.remove",
    "fs.readFile",
    "fs.readdir",
    "fs.stat",
    "fs.open",
    "fs.access",
    "process.chdir",
    "File.read",
    "File.open",
    "Dir.chdir",
];

/// Functions that ask for the address of a name (Python 3.13, "socket" and dnspython 2; node 22, "DNS"; the manuals of the others).
const LOOKUPS: &[(Language, &[&str])] = &[
    (
        Language::Python,
        &[
            "socket.gethostbyname",
            "socket.gethostbyname_ex",
            "socket.getaddrinfo",
            "socket.getfqdn",
            "dns.resolver.resolve",
            "dns.resolver.query",
        ],
    ),
    (
        Language::JavaScript,
        &[
            "dns.lookup",
            "dns.resolve",
            "dns.resolve4",
            "dns.resolve6",
            "dns.resolveAny",
            "dns.resolveCname",
            "dns.resolveMx",
            "dns.resolveNs",
            "dns.resolveTxt",
            "dns.promises.lookup",
            "dns.promises.resolve",
            "dns.promises.resolve4",
            "dns.promises.resolveTxt",
        ],
    ),
    (Language::Perl, &["gethostbyname", "inet_aton", "Socket::inet_aton"]),
    (
        Language::Ruby,
        &["Resolv.getaddress", "Resolv.getaddresses", "IPSocket.getaddress", "Addrinfo.getaddrinfo"],
    ),
    (Language::Php, &["gethostbyname", "gethostbynamel", "dns_get_record", "checkdnsrr", "dns_check_record"]),
    (Language::Lua, &["socket.dns.toip"]),
];

/// Functions that give what they are given in another form, by the last part of their names.
const PASSING: &[&str] = &[
    "str",
    "repr",
    "bytes",
    "bytearray",
    "ascii",
    "dict",
    "tuple",
    "set",
    "reversed",
    "format",
    "pformat",
    "dumps",
    "stringify",
    "String",
    "Buffer.from",
    "btoa",
    "atob",
    "b64encode",
    "b64decode",
    "urlsafe_b64encode",
    "b16encode",
    "hexlify",
    "quote",
    "quote_plus",
    "encodeURIComponent",
    "escape",
    "entries",
    "values",
    "items",
    "fromEntries",
    "assign",
    "inspect",
    "tostring",
    "join",
    "uc",
    "lc",
    "ucfirst",
    "reverse",
    "json_encode",
    "base64_encode",
    "bin2hex",
    "strtoupper",
    "strtolower",
    "strrev",
    "substr",
    "implode",
    "urlencode",
    "trim",
    "sprintf",
    "Array",
    "to_json",
    "generate",
    "pretty_generate",
    "encode64",
    "strict_encode64",
    "deepcopy",
    "copy",
    "string.upper",
    "string.lower",
    "string.sub",
    "string.reverse",
    "string.rep",
    "string.format",
    "paste",
    "c",
    "toupper",
    "tolower",
    "map",
    "unpack",
    "toObject",
    "array_values",
];

/// Members and methods of a secret text that say something about it, and not what it is.
const ABOUT: &[&str] = &[
    "length",
    "size",
    "count",
    "startswith",
    "endswith",
    "startsWith",
    "endsWith",
    "includes",
    "find",
    "index",
    "indexOf",
    "lastIndexOf",
    "isdigit",
    "isalpha",
    "isalnum",
    "islower",
    "isupper",
    "isspace",
    "isascii",
    "test",
    "empty?",
    "nil?",
    "start_with?",
    "end_with?",
    "include?",
    "match?",
    "key?",
    "has_key?",
    "is_none",
    "keys",
    "has",
    "__contains__",
    "__len__",
    "hasOwnProperty",
    "bytesize",
    "byteLength",
    "any?",
    "eql?",
    "equal?",
    "hash",
];

/// What is told of a value, or of the first that a list or map holds of which something is told.
fn within(thing: &ScriptValue, told: &dyn Fn(&ScriptValue) -> Option<String>) -> Option<String> {
    match thing {
        ScriptValue::List(items) => items.iter().find_map(|item| within(item, told)),
        ScriptValue::Map(entries) => entries.iter().find_map(|(_, item)| within(item, told)),
        ScriptValue::Text(_)
        | ScriptValue::Number(_)
        | ScriptValue::Truth(_)
        | ScriptValue::Name(_)
        | ScriptValue::Path(_)
        | ScriptValue::File(_)
        | ScriptValue::Function(_)
        | ScriptValue::Class(_)
        | ScriptValue::Object(_)
        | ScriptValue::Network(_)
        | ScriptValue::Secret(_, _)
        | ScriptValue::Socket(_)
        | ScriptValue::Database(_)
        | ScriptValue::Process(_)
        | ScriptValue::Method(_, _)
        | ScriptValue::Local
        | ScriptValue::Foreign => told(thing),
    }
}

impl Evaluator<'_, '_, '_> {
    /// A variable of the environment as a secret, when it is one.
    pub(super) fn secret_variable(&mut self, name: &str) -> Option<ScriptValue> {
        self.machine.secret_variable(name)?.into_secret().map(ScriptValue::secret)
    }

    /// The secret that a value would show where it is printed.
    pub(super) fn carried(thing: &ScriptValue) -> Option<String> {
        within(thing, &|thing| match thing {
            ScriptValue::Secret(place, _) => Some(place.clone()),
            // A member that is not called.
            ScriptValue::Method(of, name) if !ABOUT.contains(&name.as_str()) => Self::carried(of),
            ScriptValue::Name(name) if ENVIRONMENTS.contains(&name.as_str()) => {
                Some(ALL_VARIABLES.to_owned())
            }
            _ => None,
        })
    }

    /// Notes what a function prints, when it is one that does, and a secret is among it.
    pub(super) fn note_printed(&mut self, name: &str, given: &Given) {
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        let is_printer = NAMED_PRINTERS.contains(&name)
            || name.starts_with("console.")
            || PRINTERS.contains(&last) && (name == last || !self.language.has_tree());
        // Where a list of all variables is given in the place of words, it is one of names.
        let to_file = given
            .named("file")
            .is_some_and(|file| !matches!(file, ScriptValue::Name(name) if name.starts_with("sys.")));
        if is_printer && !to_file {
            self.shows(&given.positional);
        }
    }

    /// Notes that values are printed.
    pub(super) fn shows(&mut self, things: &[ScriptValue]) {
        if self.shown.is_none() {
            self.shown = things.iter().find_map(|thing| Self::carried(thing).or_else(|| self.held(thing)));
        }
    }

    /// The secret whose value stands in a text that the code was given: one of its arguments.
    fn held(&self, thing: &ScriptValue) -> Option<String> {
        within(thing, &|thing| match thing {
            ScriptValue::Text(value) => self.machine.secret_held(value)?.into_secret(),
            _ => None,
        })
    }

    /// The first secret among what a function is given.
    pub(super) fn secret_given(&self, given: &Given) -> Option<Output> {
        let named = given.named.iter().map(|(_, thing)| thing);
        let mut all = given.positional.iter().chain(named);
        all.find_map(|thing| Self::carried(thing).or_else(|| self.held(thing))).map(Output::Secret)
    }

    /// The settings of a file that a function gives, which are told when they are printed.
    pub(super) fn settings_loaded(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        let is_loader =
            SETTINGS.iter().any(|(language, names)| *language == self.language && names.contains(&name));
        if !is_loader {
            return None;
        }
        let file = match given.positional.first() {
            Some(ScriptValue::Map(_)) => given.at(0).get("path").map(ScriptValue::value),
            Some(thing) => Some(thing.value()),
            None => given.named("dotenv_path").or_else(|| given.named("path")).map(ScriptValue::value),
        };
        let aims = self.machine.paths_through(&file.unwrap_or_else(|| Value::exact(".env")));
        let path = aims.first()?.target.path()?.clone();
        let is_secret = self.machine.names_secret(&Value::exact(path.as_str()))
            && matches!(self.machine.entry(&path), Entry::File(_) | Entry::Symlink(_));
        is_secret
            .then(|| self.machine.carry(&path).into_secret().map_or(ScriptValue::Local, ScriptValue::secret))
    }

    /// Notes that a function fails with a message that names the secret it is given: text that is no number, or no file.
    pub(super) fn note_complaint(&mut self, name: &str, given: &Given) {
        let plain = name.strip_suffix("Sync").unwrap_or(name);
        let reads_number = self.language == Language::Python && matches!(plain, "int" | "float");
        let opens = FILES_NAMED.contains(&plain);
        let Some(ScriptValue::Secret(place, _)) = given.positional.first() else { return };
        if !(reads_number || opens) {
            return;
        }
        let text = place.strip_prefix('$').and_then(|variable| self.machine.variable(variable));
        // A variable may name a file that holds the secret.
        let fails = text.as_ref().and_then(Value::as_exact).is_some_and(|text| {
            let is_number = text.trim().parse::<f64>().is_ok();
            if reads_number { !is_number } else { !text.contains(['/', '.']) }
        });
        if fails {
            self.shows(&given.positional);
        }
    }

    /// Notes that a host is looked up by a name in which a secret stands.
    pub(super) fn note_looked_up(&mut self, name: &str, given: &Given) {
        let is_lookup =
            LOOKUPS.iter().any(|(language, names)| *language == self.language && names.contains(&name));
        if is_lookup && self.secret_given(given).is_some() {
            self.act(network::tells_by_name);
        }
    }

    /// What a function that only changes the form gives, when it is given a secret.
    pub(super) fn passed_secret(&self, name: &str, given: &Given) -> Option<ScriptValue> {
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        let is_error = last.ends_with("Error") || last.ends_with("Exception") || last == "SystemExit";
        let passes = is_error || PASSING.contains(&last) || PASSING.contains(&name);
        // What runs over the variables themselves gets their names.
        let names_only = |thing: &ScriptValue| {
            matches!(thing, ScriptValue::Name(_))
                && self.language == Language::Python
                && matches!(last, "tuple" | "set" | "reversed" | "map" | "join")
        };
        let values = given.positional.iter().filter(|thing| !names_only(thing));
        let place = values.filter(|_| passes).find_map(Self::carried)?;
        Some(ScriptValue::secret(place))
    }

    /// Whether a function gives the names of the variables of the environment, which it is given.
    pub(super) fn gives_names(&self, name: &str, thing: &ScriptValue) -> bool {
        let is_environment =
            matches!(thing, ScriptValue::Name(name) if ENVIRONMENTS.contains(&name.as_str()));
        is_environment
            && (name == "Object.keys"
                || self.language == Language::Python
                    && matches!(
                        name,
                        "sorted" | "list" | "tuple" | "set" | "frozenset" | "iter" | "reversed" | "enumerate"
                    ))
    }

    /// A member or the result of a method of a secret, or of the variables of the environment.
    pub(super) fn part_of_secret(place: &str, name: &str) -> ScriptValue {
        if ABOUT.contains(&name) {
            return ScriptValue::Local;
        }
        ScriptValue::secret(place)
    }

    /// What a method of the variables of the environment gives; `None` for other names and where that is no secret.
    pub(super) fn of_environment(full: &str) -> Option<ScriptValue> {
        let (of, method) = full.rsplit_once('.')?;
        let gives_values = matches!(
            method,
            "items"
                | "values"
                | "copy"
                | "to_h"
                | "to_hash"
                | "to_a"
                | "inspect"
                | "to_s"
                | "each_pair"
                | "each"
                | "map"
                | "select"
                | "filter"
                | "reject"
                | "sort"
                | "sort_by"
                | "filter_map"
                | "toObject"
                | "slice"
                | "__repr__"
                | "to_json"
        );
        (ENVIRONMENTS.contains(&of) && gives_values).then(|| ScriptValue::secret(ALL_VARIABLES))
    }
}
