//! Python, and the modules that `-m` runs.

use crate::effect::{Depth, EffectKind, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Value};
use crate::programs::archives::{Names, unpack_from};
use crate::programs::network::serving;
use crate::programs::shells;

use super::preloads::is_file;
use super::{script, script_or_input};

/// `python`, `pypy`
pub(crate) fn python(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let line = CommandLine::of(&call.words);
    let exit = match line.start {
        Start::Code(code) => crate::programs::code(machine, call, &code),
        Start::Module(module) => {
            if let Some(name) = module.as_exact() {
                python_module(machine, call, name, line.rest)
            } else {
                machine.opaque("the module that Python runs is not known");
                Exit::unknown()
            }
        }
        Start::Question => Exit::unknown(),
        Start::Script => script_or_input(machine, call),
    };
    if line.goes_on || is_for_a_user(call) {
        start_file(machine, call);
    }
    if line.goes_on {
        // With `-i` what comes in is run too, after the rest.
        return shells::code_input(machine, call);
    }
    exit
}

/// Whether nothing is named that is run, so that a user types it.
fn is_for_a_user(call: &Call) -> bool {
    call.input == Input::Inherited && call.arguments.operands.is_empty() && call.words.is_empty()
}

/// Runs the file that the interpreter runs before a user types (`python --help-env`).
fn start_file(machine: &mut Machine<'_>, call: &Call) {
    if let Some(file) = machine.variable("PYTHONSTARTUP").filter(|file| file.as_exact() != Some("")) {
        machine.possibly(|machine| script(machine, call, &file));
    }
}

/// What the interpreter begins with.
enum Start {
    Code(Value),
    Module(Value),
    /// A script, or what comes in.
    Script,
    /// It only tells about itself.
    Question,
}

/// The options of the interpreter itself: all that stands in front of what it runs.
struct CommandLine<'w> {
    start: Start,
    /// Whether it goes on with what comes in (`-i`).
    goes_on: bool,
    /// What stands behind the code or the module.
    rest: &'w [Value],
}

impl<'w> CommandLine<'w> {
    fn of(words: &'w [Value]) -> Self {
        let mut goes_on = false;
        let mut place = 0;
        while let Some(word) = words.get(place) {
            let start = word.known_start();
            let Some(letters) = start.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
            place += 1;
            if letters == "-version" || letters == "-help" {
                return Self { start: Start::Question, goes_on, rest: &[] };
            }
            if letters.starts_with('-') {
                place += usize::from(letters == "-check-hash-based-pycs");
                continue;
            }
            for (index, letter) in letters.char_indices() {
                let attached = letters.get(index + 1..).unwrap_or_default();
                match letter {
                    'i' => goes_on = true,
                    'V' | 'h' | '?' => return Self { start: Start::Question, goes_on, rest: &[] },
                    'c' | 'm' => {
                        let is_known = word.as_exact().is_some();
                        let value = match (attached, is_known) {
                            ("", true) => {
                                place += 1;
                                words.get(place - 1).cloned().unwrap_or(Value::Unknown)
                            }
                            (attached, true) => Value::exact(attached),
                            (_, false) => Value::Unknown,
                        };
                        let rest = words.get(place..).unwrap_or_default();
                        let start = if letter == 'c' { Start::Code(value) } else { Start::Module(value) };
                        return Self { start, goes_on, rest };
                    }
                    'W' | 'X' => {
                        place += usize::from(attached.is_empty());
                        break;
                    }
                    _ => {}
                }
            }
        }
        Self { start: Start::Script, goes_on, rest: &[] }
    }
}

/// Modules of the standard library that can be run, that change nothing worth a word, and that run no code given to them. These are all
/// that have a main part in Python 2.7 to 3.14, but for those that [`standard_module`] knows.
const QUIET_MODULES: &[&str] = &[
    "__hello__",
    "__phello__",
    "aifc",
    "antigravity",
    "ast",
    "base64",
    "calendar",
    "cgi",
    "codecs",
    "ctypes.util",
    "curses.has_key",
    "curses.textpad",
    "dbm",
    "difflib",
    "dis",
    "encodings",
    "encodings.rot_13",
    "filecmp",
    "fileinput",
    "ftplib",
    "getopt",
    "heapq",
    "imaplib",
    "imghdr",
    "locale",
    "mimetypes",
    "modulefinder",
    "netrc",
    "nntplib",
    "nturl2path",
    "pickletools",
    "platform",
    "poplib",
    "pprint",
    "pyclbr",
    "quopri",
    "random",
    "shlex",
    "site",
    "smtplib",
    "sndhdr",
    "symtable",
    "sysconfig",
    "tabnanny",
    "telnetlib",
    "textwrap",
    "this",
    "tkinter",
    "tokenize",
    "turtle",
    "turtledemo",
    "uuid",
    "webbrowser",
    "xmlrpc.client",
];

/// Those of them that print what stands in the files that are their operands, or a part of it, also in other words.
const READING_MODULES: &[&str] = &[
    "ast",
    "base64",
    "difflib",
    "dis",
    "fileinput",
    "mimetypes",
    "netrc",
    "pickletools",
    "pyclbr",
    "quopri",
    "shlex",
    "symtable",
    "tabnanny",
    "textwrap",
    "tokenize",
    "encodings.rot_13",
];

/// Modules whose program has another name than they have. Source: the entry points (`console_scripts`) that the packages of these names declare.
const PROGRAMS_OF_MODULES: &[(&str, &str)] = &[
    ("IPython", "ipython"),
    ("awscli", "aws"),
    ("awscli.clidriver", "aws"),
    ("azure.cli", "az"),
    ("django", "django-admin"),
    ("django.core.management", "django-admin"),
    ("docker_compose", "docker-compose"),
    ("compose", "docker-compose"),
    ("fabric", "fab"),
    ("google.cloud.sdk", "gcloud"),
    ("huggingface_hub.commands.huggingface_cli", "huggingface-cli"),
    ("huggingface_hub.cli.hf", "huggingface-cli"),
    ("kaggle.cli", "kaggle"),
    ("openstackclient.shell", "openstack"),
    ("platformio", "pio"),
    ("pre_commit", "pre-commit"),
    ("S3.S3cmd", "s3cmd"),
    ("snowflake.cli", "snow"),
    ("yt_dlp", "yt-dlp"),
];

fn python_module(machine: &mut Machine<'_>, call: &Call, name: &str, operands: &[Value]) -> Exit {
    // The working directory is looked through first.
    if let Some(file) = module_file(machine, name) {
        return run_file(machine, call, file, operands);
    }
    if let Some(exit) = standard_module(machine, call, name, operands) {
        return exit;
    }
    let tool = match PROGRAMS_OF_MODULES.iter().find(|(module, _)| *module == name) {
        Some((_, program)) => (*program).to_owned(),
        None => name.split('.').next().unwrap_or(name).replace('_', "-"),
    };
    let mut words = vec![Value::exact(tool)];
    words.extend(operands.iter().cloned());
    machine.run_words(&words, call.input.clone())
}

/// The file of a module below the working directory.
fn module_file(machine: &Machine<'_>, name: &str) -> Option<Value> {
    let path = name.replace('.', "/");
    let files = [format!("{path}/__main__.py"), format!("{path}.py")].map(Value::Exact);
    files.into_iter().find(|file| is_file(machine, file))
}

/// Runs a file with the same interpreter.
fn run_file(machine: &mut Machine<'_>, call: &Call, file: Value, rest: &[Value]) -> Exit {
    let mut words = vec![Value::exact(call.program.as_str()), file];
    words.extend(rest.iter().cloned());
    machine.run_words(&words, call.input.clone())
}

/// Runs another module with the same interpreter.
fn run_module(machine: &mut Machine<'_>, call: &Call, name: Value, rest: &[Value]) -> Exit {
    let mut words = vec![Value::exact(call.program.as_str()), Value::exact("-m"), name];
    words.extend(rest.iter().cloned());
    machine.run_words(&words, call.input.clone())
}

/// Words without leading options, of which these take a value; and whether `-m` was among the options.
fn behind_options<'a>(words: &'a [Value], with_value: &[&str]) -> (bool, &'a [Value]) {
    let mut place = 0;
    while let Some(text) = words.get(place).and_then(Value::as_exact) {
        match text {
            "-m" | "--module" => return (true, words.get(place + 1..).unwrap_or_default()),
            "--" => return (false, words.get(place + 1..).unwrap_or_default()),
            text if !text.starts_with('-') || text == "-" => break,
            text if with_value.contains(&text) => place += 2,
            _ => place += 1,
        }
    }
    (false, words.get(place..).unwrap_or_default())
}

/// The directory that `http.server` hands out.
fn served(operands: &[Value]) -> Value {
    let mut words = operands.iter();
    while let Some(word) = words.next() {
        let text = word.known_start();
        if matches!(text.as_str(), "-d" | "--directory") {
            return words.next().cloned().unwrap_or(Value::Unknown);
        }
        if let Some(directory) = text.strip_prefix("--directory=").or_else(|| text.strip_prefix("-d")) {
            return if word.as_exact().is_some() { Value::exact(directory) } else { Value::Unknown };
        }
    }
    Value::exact(".")
}

/// What a module of the standard library does that is run by its name; `None` for one of another name.
fn standard_module(machine: &mut Machine<'_>, call: &Call, name: &str, operands: &[Value]) -> Option<Exit> {
    let plain = || operands.iter().filter(|operand| !operand.known_start().starts_with('-'));
    if READING_MODULES.contains(&name) {
        for operand in plain().filter(|operand| !machine.is_certainly_missing(operand)).collect::<Vec<_>>() {
            machine.read(operand);
        }
    }
    match name {
        name if QUIET_MODULES.contains(&name) => {}
        "http.server"
        | "SimpleHTTPServer"
        | "xmlrpc.server"
        | "wsgiref.simple_server"
        | "smtpd"
        | "uploadserver"
        | "pyftpdlib" => {
            machine.add(Draft::new(EffectKind::ProcessSpawn, Target::Process(name.to_owned())));
            let hands_out = matches!(name, "http.server" | "SimpleHTTPServer" | "uploadserver" | "pyftpdlib");
            if hands_out && !serving::is_local(operands) {
                serving::hand_out(machine, &served(operands));
            }
        }
        "venv" | "virtualenv" => {
            let clears = operands.iter().any(|operand| operand.as_exact() == Some("--clear"));
            for operand in plain() {
                if clears {
                    machine.delete(operand, Depth::Recursive);
                }
                for aim in machine.paths_through(operand) {
                    let path = aim.target.path().cloned();
                    machine.add(Draft::at(EffectKind::FileCreate, aim).recursive());
                    if let Some(path) = path {
                        machine.remember_doubt_below(&path);
                    }
                }
            }
        }
        "compileall" | "py_compile" => {
            for operand in plain() {
                let directory = match machine.is_directory(operand) {
                    Some(true) => operand.followed_by(&Value::exact("/**/__pycache__")),
                    Some(false) | None => Value::exact("**/__pycache__"),
                };
                let pattern =
                    directory.as_exact().map_or(Value::Unknown, |text| Value::Glob(text.to_owned()));
                for aim in machine.paths(&pattern) {
                    machine.add(Draft::at(EffectKind::FileCreate, aim).recursive());
                }
            }
        }
        "zipfile" | "tarfile" => {
            let mut words = operands.iter();
            match words.next().and_then(Value::as_exact) {
                Some("-e" | "--extract") => {
                    let archive = words.next();
                    let directory = words.next().cloned().unwrap_or_else(|| Value::exact("."));
                    unpack_from(machine, archive, &directory, Names::Without(0));
                }
                Some("-c" | "--create") => {
                    if let Some(archive) = words.next() {
                        machine.write(archive);
                    }
                }
                Some(_) | None => {}
            }
        }
        "ensurepip" | "ensurepip._uninstall" => {
            machine.effect(EffectKind::PackageInstall, &Value::exact("pip"));
        }
        // What is measured is code.
        "timeit" => return Some(timeit(machine, call, operands)),
        // These run a script or module.
        "cProfile" | "profile" | "trace" | "pdb" | "runpy" | "pyinstrument" | "debugpy"
        | "memory_profiler" | "ipdb" | "scalene" => {
            if matches!(name, "pdb" | "ipdb") {
                super::debugged::debugged(machine, call, operands);
            }
            let (is_module, rest) = behind_options(operands, WITH_VALUE);
            let Some((first, rest)) = rest.split_first() else { return Some(Exit::unknown()) };
            return Some(if is_module || name == "runpy" {
                run_module(machine, call, first.clone(), rest)
            } else {
                run_file(machine, call, first.clone(), rest)
            });
        }
        // These read code, or orders that may hold some, from the standard input.
        "code" | "asyncio" | "pstats" | "idlelib" => {
            if let Some(code) = operands.iter().skip_while(|word| word.as_exact() != Some("-c")).nth(1) {
                return Some(crate::programs::code(machine, call, code));
            }
            return Some(shells::code_input(machine, call));
        }
        // These import what they are asked about, which runs it.
        "pydoc" | "inspect" | "doctest" => {
            for operand in plain() {
                import(machine, call, operand);
            }
            if operands.iter().any(|word| word.as_exact() == Some("-w")) {
                for operand in plain().filter_map(Value::as_exact) {
                    machine.write(&Value::Exact(format!("{operand}.html")));
                }
            }
        }
        "unittest" | "test" | "test.regrtest" => {
            for operand in plain().filter(|word| word.as_exact() != Some("discover")) {
                if is_file(machine, operand)
                    || operand.as_exact().and_then(|name| module_file(machine, name)).is_some()
                {
                    import(machine, call, operand);
                }
            }
            let words: Vec<Value> =
                operands.iter().filter(|word| word.as_exact() != Some("discover")).cloned().collect();
            let mut tests = Call { program: "unittest".to_owned(), words: words.clone(), ..call.clone() };
            tests.arguments.operands = words;
            crate::programs::loaded(machine, &tests);
            let target = Target::Process("tests of the project".to_owned());
            machine.add(Draft::new(EffectKind::ProcessSpawn, target));
        }
        "pickle" => {
            for operand in plain() {
                machine.read(operand);
                machine.opaque("a pickle runs what it names when it is loaded");
            }
        }
        "mailcap" => machine.opaque("runs what the mailcap of the user says"),
        "sqlite3" | "gzip" => {
            // Its words are those of the program of that name, but that the original of `gzip` stays.
            let mut words = vec![Value::exact(name)];
            words.extend((name == "gzip").then(|| Value::exact("-k")));
            words.extend(operands.iter().cloned());
            return Some(machine.run_words(&words, call.input.clone()));
        }
        // The second operand is what is written.
        "json.tool" | "json" | "uu" => {
            if let Some(source) = plain().next() {
                machine.read(source);
            }
            if let Some(output) = plain().nth(1) {
                machine.write(output);
            }
        }
        "lib2to3" => {
            if operands.iter().any(|word| matches!(word.as_exact(), Some("-w" | "--write"))) {
                for operand in plain() {
                    for aim in machine.paths_through(operand) {
                        machine.add(Draft::at(EffectKind::FileModify, aim).recursive());
                    }
                }
            }
        }
        "zipapp" => {
            let output =
                operands.iter().skip_while(|word| !matches!(word.as_exact(), Some("-o" | "--output")));
            match (output.clone().nth(1), plain().next()) {
                (Some(output), _) => machine.write(output),
                (None, Some(source)) => machine.write(&source.followed_by(&Value::exact(".pyz"))),
                (None, None) => {}
            }
        }
        _ => return None,
    }
    Some(Exit::unknown())
}

/// The options with a value of the modules that run a script: those of `cProfile`, `trace`, `pdb`.
const WITH_VALUE: &[&str] = &[
    "-o",
    "--outfile",
    "-s",
    "--sort",
    "-c",
    "--command",
    "-f",
    "--file",
    "-C",
    "--coverdir",
    "--ignore-module",
    "--ignore-dir",
    "--listen",
    "--connect",
];

/// `timeit`: its operands and `-s` are lines of Python.
fn timeit(machine: &mut Machine<'_>, call: &Call, operands: &[Value]) -> Exit {
    let mut lines: Vec<Value> = Vec::new();
    let mut setup: Vec<Value> = Vec::new();
    let mut words = operands.iter();
    while let Some(word) = words.next() {
        let start = word.known_start();
        match start.as_str() {
            "-s" | "--setup" => setup.extend(words.next().cloned()),
            "-n" | "-r" | "-u" | "--number" | "--repeat" | "--unit" => drop(words.next()),
            "--" => {
                lines.extend(words.by_ref().cloned());
            }
            option if lines.is_empty() && option.starts_with('-') && option.len() > 1 => {
                let code = option.strip_prefix("--setup=").or_else(|| option.strip_prefix("-s"));
                if let Some(code) = code {
                    setup.push(if word.as_exact().is_some() { Value::exact(code) } else { Value::Unknown });
                }
            }
            _ => lines.push(word.clone()),
        }
    }
    let mut code = Value::exact("");
    for line in setup.iter().chain(&lines) {
        code = code.followed_by(line).followed_by(&Value::exact("\n"));
    }
    crate::programs::code(machine, call, &code)
}

/// Imports a module or file that is named.
fn import(machine: &mut Machine<'_>, call: &Call, what: &Value) {
    let Some(text) = what.as_exact() else {
        machine.opaque("the module that is imported is not known");
        return;
    };
    let name = text.split(':').next().unwrap_or(text);
    if is_file(machine, what) {
        if name.ends_with(".py") {
            run_file(machine, call, what.clone(), &[]);
        } else {
            machine.read(what);
        }
    } else if name
        .split('.')
        .all(|part| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_'))
        && let Some(file) = module_file(machine, name)
    {
        run_file(machine, call, file, &[]);
    }
}
