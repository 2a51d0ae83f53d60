//! How languages that are not followed start a program: what stands in quotes around that is run as what may be meant.

use super::unfollowed::is_home_named;
use crate::interpreter::{Input, Machine, Value};

/// How a program is started by a language: by a text for a shell, or by words.
const STARTERS: &[(&[&str], &[&str])] = &[
    // Erlang/OTP 27, `os` and `erlang`.
    (&["erl", "escript"], &["os:cmd", "open_port", "spawn_executable", "spawn,"]),
    // Elixir 1.17, `System` and `Port`.
    (&["elixir", "iex", "mix"], &["System.cmd", "System.shell", ":os.cmd", "Port.open", ":erlang.open_port"]),
    // Groovy 4, "The GDK": processes; Java 21, `Runtime`, `ProcessBuilder`.
    (
        &["groovy", "groovysh", "jshell", "kotlin", "kotlinc", "gradle"],
        &["execute(", ".execute()", "Runtime", "ProcessBuilder"],
    ),
    // Scala 3, `scala.sys.process`.
    (
        &["scala", "scala-cli", "amm", "spark-shell"],
        &["sys.process", "Process(", "ProcessBuilder", "Runtime"],
    ),
    // Julia 1.11, "Running External Programs", `Base.Filesystem.rm`.
    (&["julia"], &["run(", "read(", "open(", "pipeline(", "ccall", "success("]),
    // Clojure 1.12, `clojure.java.shell`; Babashka, `babashka.process`.
    (
        &["clojure", "clj", "bb", "lein"],
        &["shell/sh", "(sh ", "(shell ", "process/", "ProcessBuilder", "Runtime"],
    ),
    // Foundation of Swift, `Process`; `Process` of Crystal; `os/exec` of others.
    (
        &["swift", "crystal", "nim", "dart"],
        &["Process", "system", "execShellCmd", "execCmd", "startProcess", "`"],
    ),
    // ISO C and POSIX.1-2024; Go 1.23, `os/exec`, `syscall`; Rust 1.80, `std::process`; Java 21, Scala 3 and Kotlin 2.0 as above; Zig 0.13,
    // `std.process`; .NET 8, `Process`; SWI-Prolog 9, `shell/1`; PARI/GP 2.15; Pascal, `Process`.
    (
        &["c", "h", "cc", "cpp", "cxx", "d", "m-objc"],
        &["system(", "popen(", "execl", "execv", "posix_spawn", "spawnProcess", "executeShell"],
    ),
    // CMake 3.31, `execute_process`.
    (&["cmake"], &["execute_process"]),
    (&["go", "mage"], &["exec.Command", "syscall.Exec", "os.StartProcess"]),
    (&["rs", "rust", "rust-script", "evcxr"], &["Command::new", "libc::system"]),
    (&["java", "kt", "kts", "sc"], &["exec(", "ProcessBuilder", "Process("]),
    (
        &["zig", "v", "odin", "cs", "csx", "fsx", "dotnet-script"],
        &["Process", "os.execute(", "os.system(", "Child.run"],
    ),
    (&["swipl", "gprolog", "yap"], &["shell(", "process_create", "system(", "exec("]),
    // MongoDB 4.4, "Native Methods in mongo"; script-fu of GIMP has no shell.
    (&["mongo", "mongosh"], &["run(", "runProgram(", "runNonMongoProgram(", "rawMongoProgram"]),
    (&["gp", "sage"], &["system(", "extern(", "externstr("]),
    (
        &["exs", "ex", "jl", "hs", "ml", "clj", "el", "cr"],
        &["System", "cmd", "run(", "Process", "command", "shell", "system"],
    ),
    // GHC, `System.Process`; OCaml, `Sys`, `Unix`.
    (
        &["ghc", "ghci", "runghc", "runhaskell", "ocaml", "utop"],
        &["system", "Process", "Sys.command", "Unix."],
    ),
    // Lisps.
    (
        &[
            "sbcl",
            "clisp",
            "ecl",
            "guile",
            "racket",
            "emacs",
            "emacsclient",
            "csi",
            "gosh",
            "chibi-scheme",
            "janet",
            "fennel",
        ],
        &["run-program", "run-shell-command", "system", "shell-command", "call-process", "process", "os/"],
    ),
    // Raku, `Proc`; Octave, `system`; gnuplot; Maxima.
    (
        &["raku", "perl6", "octave", "gnuplot", "maxima"],
        &["shell", "run", "system", "qx", "dos(", "unix(", "Proc"],
    ),
];

/// Whether a language has names of its own for what a shell has programs for, which say nothing: `halt().` ends every line of Erlang.
pub(super) fn has_words_of_its_own(program: &str) -> bool {
    matches!(
        program.split(' ').next(),
        Some("erl" | "escript" | "swipl" | "gprolog" | "yap" | "gp" | "maxima")
    )
}

/// The greatest number of texts in quotes that are looked at (ours).
const TEXTS: usize = 24;

/// Runs, as possible, what a text in one of these languages may start: each text in quotes, and all of them as the words of one command.
pub(super) fn run(machine: &mut Machine<'_>, program: &str, text: &str) {
    let name = program.split(' ').next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or(name);
    let starts = STARTERS.iter().any(|(names, starters)| {
        names.contains(&name) && starters.iter().any(|starter| text.contains(starter))
    });
    if !starts {
        return;
    }
    let home = machine.world().place().home.as_str().to_owned();
    let put_in = with_home_put_in(text, &home);
    let mut texts = quoted(&put_in);
    // Whether the code spells it out or not, it is meant so.
    for text in &mut texts {
        if let Some(rest) = text.strip_prefix("~/").filter(|rest| !rest.contains(' ')) {
            *text = format!("{home}/{rest}");
        }
    }
    // `run <rm -rf x>` (Raku, "Quoting constructs").
    let listed = put_in.split_once('<').and_then(|(_, behind)| behind.split_once('>'));
    let listed = listed.filter(|_| matches!(name, "raku" | "perl6") && texts.is_empty());
    if let Some((listed, _)) = listed {
        texts.extend(listed.split_whitespace().map(str::to_owned));
    }
    if is_home_named(&put_in) {
        texts.retain(|text| !matches!(text.as_str(), "HOME" | "user.home" | "USERPROFILE"));
        texts.push(home);
    }
    machine.possibly(|machine| {
        for text in &texts {
            if text.contains(' ') {
                machine.run_text(&Value::exact(text.as_str()), Input::Inherited);
            }
        }
        // A program, and all its words in one text: `Process.Start("rm", "-rf x")` (.NET).
        if let [program, rest] = texts.as_slice()
            && !program.contains(char::is_whitespace)
            && rest.contains(' ')
        {
            machine.run_text(&Value::Exact(format!("{program} {rest}")), Input::Inherited);
        }
        let words: Vec<Value> = texts.iter().map(|text| Value::exact(text.as_str())).collect();
        let is_program = texts.first().is_some_and(|first| !first.contains(char::is_whitespace));
        if words.len() > 1 && is_program {
            machine.run_words(&words, Input::Inherited);
        }
    });
}

/// The text with the home directory in the place of what is put into texts and comes to it: `$(homedir())`, `#{System.user_home!()}`,
/// `${System.getenv("HOME")}`.
pub(super) fn with_home_put_in(text: &str, home: &str) -> String {
    // Raku puts `$*HOME` into texts, Tcl `$env(HOME)`.
    let text = ["{$*HOME}", "$*HOME", "$::env(HOME)", "$env(HOME)", "$ENV{HOME}"]
        .iter()
        .fold(text.to_owned(), |text, name| text.replace(name, home));
    let mut out = String::with_capacity(text.len());
    // C# puts values into texts by braces alone: `$"{...}"`.
    let text = text.replace("$\"{", "\"${");
    let mut rest = text.as_str();
    while let Some(at) = ["$(", "#{", "${", "\\("].iter().filter_map(|open| rest.find(open)).min() {
        let inner = rest.get(at + 2..).unwrap_or_default();
        let mut depth = 1_usize;
        let end = inner.find(|letter| {
            match letter {
                '(' | '{' => depth += 1,
                ')' | '}' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let named = end.and_then(|end| inner.get(..end)).filter(|named| is_home_named(named));
        out.push_str(rest.get(..at).unwrap_or_default());
        if let (Some(_), Some(end)) = (named, end) {
            out.push_str(home);
            rest = inner.get(end + 1..).unwrap_or_default();
        } else {
            out.push_str(rest.get(at..at + 2).unwrap_or_default());
            rest = inner;
        }
    }
    out.push_str(rest);
    out
}

/// The texts in quotes of a text, as they are written.
fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if !matches!(letter, '"' | '\'' | '`') || found.len() >= TEXTS {
            continue;
        }
        let mut inner = String::new();
        let mut is_closed = false;
        while let Some(next) = letters.next() {
            match next {
                '\\' => inner.extend(letters.next()),
                next if next == letter => {
                    is_closed = true;
                    break;
                }
                next => inner.push(next),
            }
        }
        if is_closed && !inner.is_empty() {
            found.push(inner);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_in_quotes_are_found() {
        assert_eq!(quoted("f(\"a b\", ['c'], \"\") `d \\` e` 'open"), ["a b", "c", "d ` e"]);
    }
}
