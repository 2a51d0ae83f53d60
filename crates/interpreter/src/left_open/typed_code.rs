//! Calls whose code is what is typed: a script by the path of standard input, and wrappers that start a shell where they are given no command.
//!
//! Sources: the manual pages of each program; `kubectl run --help`, `oc rsh --help`, `docker compose run --help`.

use crate::{Call, Value};

/// Paths of the own standard input.
const INPUT: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Interpreters whose first operand is a script.
const LANGUAGES: &[&str] = &[
    "python",
    "python2",
    "python3",
    "pypy3",
    "node",
    "nodejs",
    "perl",
    "ruby",
    "php",
    "bun",
    "deno",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "expect",
    "Rscript",
    "julia",
    "groovy",
    "osascript",
    "guile",
    "bpftrace",
    "tsx",
    "ts-node",
    "elixir",
    "escript",
    "crystal",
    "swipl",
    "octave",
    "gnuplot",
    "ocaml",
    "raku",
];

/// Options of theirs behind which another word belongs to the option.
const VALUED: &[&str] = &["-W", "-X", "-I", "-r", "--require", "--import", "--loader", "--preload"];

/// Wrappers that start a shell where no command is given, with how many operands are not the command.
const WRAPPERS: &[(&str, usize)] = &[
    ("fakeroot", 0),
    ("fakeroot-ng", 0),
    ("linux32", 0),
    ("linux64", 0),
    ("i386", 0),
    ("x86_64", 0),
    ("uname26", 0),
    ("setarch", 1),
];

/// Whether a call with nothing connected to its input runs what is typed.
pub(super) fn is_read(call: &Call) -> bool {
    let Some(words) = call.words.iter().map(Value::as_exact).collect::<Option<Vec<&str>>>() else {
        return false;
    };
    let has = |options: &[&str]| words.iter().any(|word| options.contains(word));
    let program = call.program.as_str();
    if has(&["--help", "--version", "-V"]) {
        return false;
    }
    if LANGUAGES.contains(&program) {
        let debugs = program == "perl" && words.iter().take_while(|word| word.starts_with('-')).any(is_debug);
        return debugs || is_script(program, &words);
    }
    if let Some((_, own)) = WRAPPERS.iter().find(|(name, _)| *name == program) {
        return !has(&["-h", "-v", "--list", "-l", "--show"])
            && operands(&words, &["-s", "-i", "-b"]).len() <= *own;
    }
    match program {
        "sed" | "gsed" => reads_with(&words, &["-f", "--file"]),
        "m4" | "gm4" => {
            let named = operands(&words, &["-D", "-I", "-U", "-d", "-l", "-o", "-B", "-R", "-F"]);
            named.is_empty() || named.iter().any(is_input)
        }
        "tcc" => has(&["-run"]) && words.iter().any(is_input),
        "gcc" | "cc" | "clang" | "g++" | "c++" | "clang++" => {
            words.iter().any(is_input) && !words.iter().any(makes_no_program)
        }
        "go" => words.first() == Some(&"run") && words.get(1..).is_some_and(|rest| is_script(program, rest)),
        "sqlite3" | "sqlite" => words.iter().any(|word| {
            let mut parts = word.split_whitespace();
            parts.next() == Some(".read") && parts.next().is_some_and(|place| is_input(&place))
        }),
        "mail" | "mailx" | "s-nail" => words.is_empty(),
        "parallel" => !words
            .iter()
            .any(|word| word.starts_with(":::") || word.starts_with("-a") || *word == "--arg-file"),
        "kubectl" => {
            operands(&words, SPACES).first() == Some(&"run")
                && has(&["-it", "-ti", "-i", "--stdin"])
                && !has(&["--"])
                && !words.iter().any(|word| word.starts_with("--dry-run"))
        }
        "oc" => {
            let named = operands(&words, SPACES);
            named.first() == Some(&"rsh") && named.len() <= 2
        }
        "docker" | "podman" | "docker-compose" | "podman-compose" => {
            let begin = usize::from(words.first() == Some(&"compose"));
            words.get(begin) == Some(&"run")
                && (begin == 1 || program.ends_with("-compose"))
                && has(&["-it", "-ti", "-i", "--interactive"])
                && operands(words.get(begin..).unwrap_or_default(), COMPOSE_VALUED).len() <= 2
        }
        _ => false,
    }
}

/// Options of `kubectl` and `oc` behind which another word belongs to the option.
const SPACES: &[&str] = &[
    "-n",
    "--namespace",
    "--context",
    "--cluster",
    "-c",
    "--container",
    "--shell",
    "--timeout",
    "--kubeconfig",
];

/// Options of `docker compose run` behind which another word belongs to the option.
const COMPOSE_VALUED: &[&str] = &[
    "-e",
    "--env",
    "-l",
    "--label",
    "--name",
    "-p",
    "--publish",
    "-u",
    "--user",
    "-v",
    "--volume",
    "-w",
    "--workdir",
];

/// Whether a word names the own standard input.
fn is_input(word: &&str) -> bool {
    *word == "-" || INPUT.contains(word)
}

/// The words that are neither options nor their values.
fn operands<'a>(words: &[&'a str], valued: &[&str]) -> Vec<&'a str> {
    let mut before = "";
    let mut all = Vec::new();
    for word in words {
        if !valued.contains(&before) && (*word == "-" || !word.starts_with('-')) {
            all.push(*word);
        }
        before = word;
    }
    all
}

/// Whether the first operand, a script, is the standard input, and no option brings the code.
fn is_script(program: &str, words: &[&str]) -> bool {
    let mut named = operands(words, VALUED).into_iter().filter(|word| !word.contains('=') && *word != "run");
    let Some(first) = named.next().filter(is_input) else { return false };
    let mut options = words.iter().take_while(|word| **word != first).filter(|word| !word.starts_with("--"));
    !options.any(|word| {
        ["-c", "-e", "-m", "-p"].iter().any(|option| word.starts_with(option))
            || ["perl", "ruby"].contains(&program) && !word.starts_with("-I") && word.contains(['e', 'E'])
    })
}

/// Whether the options of `perl` start its debugger, which reads commands: `-d`, `-de0`, but not `-d:NYTProf`.
fn is_debug(word: &&str) -> bool {
    let letters = word.trim_start_matches('-');
    let plain = letters.trim_start_matches(['w', 'W', 't', 'T', 'n', 'p', 'a', 's', 'l', 'S', 'u', 'U', 'X']);
    !word.starts_with("--") && plain.strip_prefix('d').is_some_and(|rest| !rest.starts_with([':', 't']))
}

/// Whether an option takes its script from the standard input: `-f -`, `-f/dev/stdin`, `--file=-`.
fn reads_with(words: &[&str], options: &[&str]) -> bool {
    let joined = |word: &str| {
        let rest = options.iter().find_map(|option| word.strip_prefix(option));
        rest.is_some_and(|rest| is_input(&rest.trim_start_matches('=')))
    };
    let apart = words.iter().zip(words.iter().skip(1));
    words.iter().any(|word| joined(word))
        || apart.into_iter().any(|(option, value)| options.contains(option) && is_input(value))
}

/// Whether an option of a compiler has it end before a program is made.
fn makes_no_program(word: &&str) -> bool {
    matches!(*word, "-E" | "-S" | "-c" | "-fsyntax-only" | "-dM" | "-v" | "-###") || word.starts_with("-M")
}
