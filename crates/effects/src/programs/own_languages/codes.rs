//! Options whose value is code in a language.

use crate::interpreter::{Call, Input, Machine, Value};

/// How the code is run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Runner {
    /// By an interpreter that is followed, with this option.
    Followed(&'static str, &'static str),
    /// As code of this language, which is not followed.
    Language(&'static str),
    /// As JavaScript in which the modules of node have names.
    Mongo,
}

/// Options of programs and the language of their values: SWI-Prolog 9 ("Command line options"), GNU Prolog 1.5, YAP 6; Nim 2.0 (`nim --help`,
/// `--eval`); Maxima 5.47 (`--batch-string`); Ammonite 3, Scala CLI 1.5; ECL 24; SageMath 10; FreeCAD 0.21; GIMP 2.10 (`-b`); QGIS 3 (`--code`); Scribus
/// 1.6 (`-py`); xonsh 0.18; MATLAB R2024 (`-batch`, `-r`); mongosh 2.3; Neovim 0.10 (`-l`, `-S`); newLISP 10.7; J 9.6; BQN; PARI/GP; ngspice.
const OPTIONS: &[(&[&str], &[&str], Runner)] = &[
    (&["swipl", "prolog"], &["-g", "-t", "--goal", "--toplevel"], Runner::Language("swipl")),
    (&["gprolog"], &["--query-goal", "--entry-goal", "--init-goal"], Runner::Language("swipl")),
    (&["yap"], &["-g", "-z"], Runner::Language("swipl")),
    (&["nim"], &["--eval"], Runner::Language("nim")),
    (&["maxima", "rmaxima"], &["--batch-string", "-r", "--run-string"], Runner::Language("maxima")),
    (&["amm", "ammonite"], &["-c", "--code"], Runner::Language("scala")),
    (&["scala-cli", "scala"], &["-e", "--execute-script", "--script-snippet"], Runner::Language("scala")),
    (&["ecl"], &["-eval", "--eval"], Runner::Language("sbcl")),
    (&["newlisp"], &["-e"], Runner::Language("newlisp")),
    (&["rust-script"], &["-e", "--expr", "-l", "--loop"], Runner::Language("rust-script")),
    (&["sage"], &["-c"], Runner::Followed("python3", "-c")),
    (&["freecadcmd", "FreeCADCmd", "freecad"], &["-c"], Runner::Followed("python3", "-c")),
    (&["gimp", "gimp-console"], &["-b", "--batch"], Runner::Language("guile")),
    (&["matlab"], &["-batch", "-r"], Runner::Language("octave")),
    (&["xonsh"], &["-c"], Runner::Followed("python3", "-c")),
    (&["mongosh", "mongo"], &["--eval"], Runner::Mongo),
];
/// Options whose value is a file of code.
const FILES: &[(&[&str], &[&str], &str)] = &[
    (&["qgis"], &["--code", "-c"], "python3"),
    (&["scribus"], &["-py", "--python-script"], "python3"),
    (&["nvim"], &["-l"], "lua"),
    (&["luatex", "luahbtex", "lualatex", "texlua"], &["--lua", "--luaonly"], "lua"),
];
/// Programs that read code from their input.
const INPUTS: &[(&[&str], &str)] = &[
    (&["gp"], "gp"),
    (&["maxima", "rmaxima"], "maxima"),
    (&["swipl", "gprolog"], "swipl"),
    (&["mongosh", "mongo"], "mongo"),
];

/// The modules of node, which the shell of MongoDB knows by their names (mongosh, "Write Scripts").
const MODULES: &str =
    "const fs = require('fs'), child_process = require('child_process'), os = require('os');\n";

pub(super) fn run(machine: &mut Machine<'_>, call: &Call, program: &str) {
    for (_, options, runner) in OPTIONS.iter().filter(|(programs, ..)| programs.contains(&program)) {
        for code in values(call, options) {
            run_code(machine, call, *runner, &code);
        }
    }
    for (_, options, interpreter) in FILES.iter().filter(|(programs, ..)| programs.contains(&program)) {
        for file in values(call, options) {
            let words = [Value::exact(*interpreter), Value::Exact(file)];
            machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
        }
    }
    let reads = INPUTS.iter().find(|(programs, _)| programs.contains(&program));
    if let Some((_, language)) = reads {
        let runner = if *language == "mongo" { Runner::Mongo } else { Runner::Language(language) };
        let mut texts = machine.handed_texts(call);
        if let Input::Text(text) = &call.input {
            texts.push(text.clone());
        }
        for text in texts.iter().filter_map(Value::as_exact) {
            run_code(machine, call, runner, text);
        }
    }
}

pub(super) fn run_code(machine: &mut Machine<'_>, call: &Call, runner: Runner, code: &str) {
    match runner {
        Runner::Followed(interpreter, option) => {
            let words = [interpreter, option, code].map(Value::exact);
            machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
        }
        Runner::Language(language) => {
            let mut inner = call.clone();
            language.clone_into(&mut inner.program);
            inner.input = Input::Text(Value::exact(code));
            drop(crate::programs::code(machine, &inner, &Value::exact(code)));
        }
        Runner::Mongo => {
            crate::programs::line_of_code(machine, "mongo", code);
            if ["require", "fs.", "child_process", "process.", "import("]
                .iter()
                .any(|name| code.contains(name))
            {
                let code = format!("{MODULES}{code}");
                let words = [Value::exact("node"), Value::exact("-e"), Value::Exact(code)];
                machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
            }
        }
    }
}

/// The values of options, in the next word or behind `=` or `:`.
pub(super) fn values(call: &Call, options: &[&str]) -> Vec<String> {
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if options.contains(word) {
            found.extend(words.get(at + 1).map(|word| (*word).to_owned()));
        } else {
            let attached = options.iter().filter(|option| option.starts_with("--"));
            found.extend(
                attached.filter_map(|option| {
                    word.strip_prefix(option)?.strip_prefix(['=', ':']).map(str::to_owned)
                }),
            );
        }
    }
    found
}
