//! How languages that are not followed start a program: what stands in quotes around that is run as what may be meant.

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
    (&["go", "mage"], &["exec.Command", "syscall.Exec", "os.StartProcess"]),
    (&["rs", "rust", "rust-script", "evcxr"], &["Command::new", "libc::system"]),
    (&["java", "kt", "kts", "sc"], &["exec(", "ProcessBuilder", "Process("]),
    (&["zig", "v", "odin", "cs", "csx", "fsx"], &["Process", "os.execute(", "os.system(", "Child.run"]),
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
    (&["raku", "octave", "gnuplot", "maxima"], &["shell", "run", "system", "qx", "dos(", "unix("]),
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
    let texts = quoted(text);
    machine.possibly(|machine| {
        for text in &texts {
            if text.contains(' ') {
                machine.run_text(&Value::exact(text.as_str()), Input::Inherited);
            }
        }
        let words: Vec<Value> = texts.iter().map(|text| Value::exact(text.as_str())).collect();
        let is_program = texts.first().is_some_and(|first| !first.contains(char::is_whitespace));
        if words.len() > 1 && is_program {
            machine.run_words(&words, Input::Inherited);
        }
    });
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
