//! Code in other languages than that of the shell: what its calls show of its effects.
//!
//! `checkrein-scripts` reads Python and JavaScript into a syntax tree, and cuts other languages into tokens by their
//! rules. Either is then followed statement by statement: imports, constants, functions and classes of its own, calls. A
//! call of something known has its effect; a call of something that is not known makes the code opaque. What stands in
//! texts and comments never runs.
//!
//! | module | holds |
//! |---|---|
//! | `walk` | trees followed |
//! | `value` | what is known about a value |
//! | `evaluator` | the state while code is followed; functions |
//! | `variables` | the variables at some point |
//! | `made` | how much values weigh that code makes |
//! | `maps` | lists and maps that are changed in place, under all their names |
//! | `expressions`, `arguments` | tokens followed: operators, members, calls |
//! | `statements`, `definitions` | tokens followed: branches, loops, functions and classes |
//! | `calls` | what is called |
//! | `library_calls`, `performing` | what known functions do, and what they give |
//! | `call_effects`, `file_effects` | what that does to processes and hosts, and to files |
//! | `methods`, `path_methods` | methods of values; of paths, files and connections |
//! | `evaluated` | text that functions run as code, and the lines that code goes through |
//! | `origin` | where code comes from that is not read to its end |
//! | `rest` | what a look over code that is too much to follow finds in it |
//! | `channels` | pipes between code and what it starts |
//! | `fish`, `csh` | what fish and the C shells understand, in the words of other shells |
//! | `ipython` | what IPython understands beyond Python |
//! | `starters` | how languages that are not followed start a program |
//! | `unfollowed` | what languages that are not followed do to files |
//! | `environment` | the environment that they find: set, taken away, another in its place |
//! | `started` | programs that code starts, and what it hands and writes to them |
//! | `later` | functions that are called later, with what the variables hold by then |
//! | `json` | JSON that code reads into lists and maps, and writes again |
//! | `references` | variables changed under another name: references, entries, what a loop runs over |
//! | `in_place` | calls that change what they are called for or given |
//! | `installing` | code that installs packages |
//! | `braces` | braces in patterns of files |
//! | `bound` | functions that keep what they are given for later: partial ones, options, repositories |
//! | `printing` | what started programs print, as functions give it |
//! | `loose` | functions used as values, and the texts that they may be given |
//! | `secrets` | variables that hold secrets, and what prints them |
//! | `python_parameters` | the names of the parameters of functions of Python |
//! | `python`, `javascript`, `perl`, `ruby`, `php`, `lua` | the functions of each language |

mod arguments;
mod bound;
pub(crate) mod braces;
mod call_effects;
mod calls;
mod channels;
mod csh;
mod definitions;
mod environment;
mod evaluated;
mod evaluator;
mod expressions;
mod file_effects;
mod fish;
mod in_place;
mod installing;
mod ipython;
mod javascript;
mod json;
mod later;
mod library_calls;
mod loose;
mod lua;
mod made;
mod maps;
mod methods;
mod origin;
mod path_methods;
mod performing;
mod perl;
mod php;
mod printing;
mod python;
mod python_parameters;
mod references;
mod rest;
mod ruby;
mod secrets;
mod started;
mod starters;
mod statements;
#[cfg(test)]
mod tests;
mod unfollowed;
mod value;
mod variables;
mod walk;

use crate::interpreter::{Call, Exit, Input, Machine, Output, ShellProgram, Value};
use crate::world::FileText;

use checkrein_scripts::Language;
use evaluator::Evaluator;
use unfollowed::{Reads, Taken};

/// The greatest length of code that is followed, in bytes: all that is read of a file of code.
const CODE: usize = FileText::CODE_LIMIT;
/// The length from which on code is mostly made by a tool, in bytes (ours).
const LONG: usize = FileText::LIMIT;

/// How languages that are not followed say that a file goes (ours).
const REMOVALS: &[&str] = &[
    "file delete",
    "delete-directory",
    "delete-file",
    "removeDirectory",
    "removeFile",
    "removeItem",
    "File.rm",
    "deleteDir",
    "Sys.remove",
    "Unix.unlink",
    "rm(",
    "rmdir(",
    "unlink(",
];

/// How languages that are not followed run a text as code or as a command. Sources: the manuals of Julia (`include`), Elixir (`Code.eval_string`,
/// `System.cmd`), Erlang (`os:cmd`), Octave and R (`eval`, `source`), Groovy (`evaluate`), Raku (`EVAL`), Guile, Tcl, Emacs Lisp, nushell, CMake
/// (`execute_process`) and `QuickJS` (`evalScript`).
const RUNS: &[&str] = &[
    "eval",
    "EVAL",
    "include(",
    "os:cmd",
    "exec(",
    "system(",
    "system ",
    "load(",
    "source(",
    "execute_process",
    "System.cmd",
    "loadstring",
    "spawn_command",
    "| sh",
    "| bash",
    ".!",
];

/// The address in code that is not followed, of a host that nobody knows, where the code runs something, too.
fn fetched_and_run(text: &str) -> Option<String> {
    let is_word =
        |at: usize| !text.get(..at).is_some_and(|before| before.ends_with(|c: char| c.is_alphabetic()));
    if !RUNS.iter().any(|run| text.match_indices(run).any(|(at, _)| is_word(at))) {
        return None;
    }
    super::disclosing_code::foreign_addresses(text).into_iter().find(|address| address.starts_with("http"))
}

/// How languages name the variables of their environment.
const ENVIRONMENTS: &[&str] = &["environ", "getenv", "process.env", "ENV", "Deno.env", "Sys.getenv"];

/// Runs text in another language than that of the shell.
///
/// Of a language that is not followed only the commands that stand in the text are.
pub(crate) fn code(machine: &mut Machine<'_>, call: &Call, text: &Value) -> Exit {
    let before = machine.effect_count();
    let exit = run(machine, call, text);
    if let Some(text) = text.as_exact() {
        installing::run(machine, call.program.split(' ').next().unwrap_or_default(), text);
    }
    if let Some(text) = text.as_exact()
        && (is_given(call, text) || may_be_of_session(machine, call))
    {
        let language = Language::of(call.program.split(' ').next().unwrap_or_default());
        super::disclosing_code::look_over(machine, text, language, before);
        if language.is_none() {
            super::disclosing_code::look_over_readers(machine, text);
        }
    }
    exit
}

/// Whether code stands in the words of a call, or comes in.
fn is_given(call: &Call, text: &str) -> bool {
    call.words.iter().any(|word| word.as_exact() == Some(text))
        || matches!(&call.input, Input::Text(Value::Exact(input)) if input == text)
}

fn run(machine: &mut Machine<'_>, call: &Call, text: &Value) -> Exit {
    if let Some(exit) = beginning(machine, call, text) {
        return exit;
    }
    let value = text;
    let Some(text) = text.as_exact() else {
        let network = machine.substituted().iter().find_map(|output| match output {
            Output::Network(url) => Some(url.clone()),
            _ => None,
        });
        let coming = machine.substituted().iter().find_map(|output| match output {
            Output::Local(place) => machine.code_coming_in(place),
            _ => None,
        });
        match (network, coming) {
            (Some(url), _) => machine.runs_from_network(&url),
            (None, Some(Value::Exact(text))) if *value == Value::Unknown => {
                return code(machine, call, &Value::Exact(text));
            }
            (None, _) => machine
                .opaque(format!("the code, which is not known, given to `{}` is not followed", call.program)),
        }
        return Exit::unknown();
    };
    super::data_calls::look_over(machine, call, text);
    let language = Language::of(call.program.split(' ').next().unwrap_or_default());
    if let Some(language) = language.filter(|_| text.len() > CODE) {
        return Evaluator::new(machine, call, language).only_look_over(text);
    }
    let Some(language) = language else {
        let is_inline =
            call.input != Input::Inherited || call.words.iter().any(|word| word.as_exact() == Some(text));
        if is_inline && ENVIRONMENTS.iter().any(|name| text.contains(name)) {
            machine.note_shown_settings("printenv", &[]);
        }
        if call.program == "fish" {
            let home = machine.world().place().home.clone();
            for (name, value) in fish::lasting_variables(text) {
                let value = value.map(|value| fish::with_home(&value, home.as_str()));
                crate::programs::lasting_variable(machine, &name, value.as_deref());
            }
            for name in fish::lasting_functions(text) {
                let file = home.join(".config/fish/functions").join(&format!("{name}.fish"));
                machine.write(&Value::exact(file.as_str()));
            }
        }
        let in_words_of_sh = match call.program.as_str() {
            "fish" => Some(fish::as_posix(text)),
            "csh" | "tcsh" | "bsd-csh" => Some(csh::as_posix(text)),
            _ => None,
        };
        if let Some(text) = in_words_of_sh {
            let text = Value::exact(text);
            machine.possibly(|machine| {
                machine.run_text_with(ShellProgram::Bash, &text, &Value::exact("sh"), &[], Input::Inherited)
            });
            machine.opaque(format!("the code given to `{}` is not followed in all it says", call.program));
            return Exit::unknown();
        }
        starters::run(machine, &call.program, text);
        if !starters::has_words_of_its_own(&call.program) {
            let home = machine.world().place().home.as_str().to_owned();
            let meant = starters::with_home_put_in(text, &home);
            // rc(1), es(1): what other shells call `$HOME`.
            let is_rc = matches!(call.program.as_str(), "rc" | "es");
            let meant = if is_rc { meant.replace("$home", &home) } else { meant };
            machine.run_what_may_be_meant(&meant);
        }
        super::compiled::look_over(machine, text);
        if let Some(address) = fetched_and_run(text).filter(|_| is_inline || may_be_of_session(machine, call))
        {
            machine.possibly(|machine| machine.runs_from_network(&address));
        }
        let note = format!("the code given to `{}` is not followed", call.program);
        let reads = if is_inline { Reads::Shown } else { Reads::Kept };
        let takes = match unfollowed::files(machine, &call.program, text, reads) {
            Some(Taken::Unknown) => is_inline || may_be_of_session(machine, call),
            Some(Taken::Named | Taken::Nothing) => false,
            None => REMOVALS.iter().any(|removal| text.contains(removal)),
        };
        if takes {
            machine.unread(format!("{note}, and it deletes files"));
        } else {
            machine.opaque(note);
        }
        return Exit::unknown();
    };
    let own = call.program.starts_with("ipython").then(|| ipython::as_python(text));
    let text = own.as_deref().unwrap_or(text);
    // The value of the last expression is printed.
    let printing = is_printing(call, text).then(|| format!("console.log(\n{text}\n)"));
    let text = printing
        .as_deref()
        .filter(|text| checkrein_scripts::parse(text, language).is_some_and(|tree| tree.problem.is_none()))
        .unwrap_or(text);
    let (cwd, logical) = (machine.shell.cwd.clone(), machine.shell.logical.clone());
    let reach = machine.reach;
    let follower = Evaluator::new(machine, call, language);
    let exit = match checkrein_scripts::parse(text, language) {
        Some(tree) => follower.follow_tree(&tree, text),
        None => follower.follow(checkrein_scripts::tokens(text, language), text),
    };
    machine.shell.cwd = cwd;
    machine.shell.logical = logical;
    machine.reach = reach;
    exit
}

/// Adds, as possible, what a source in a language that a compiler reads does to files, and the programs that it starts.
pub(crate) fn source(machine: &mut Machine<'_>, language: &str, text: &str) {
    starters::run(machine, language, text);
    unfollowed::files(machine, language, text, Reads::Kept);
}

/// As [`source`], of a line of code that shows what it reads.
pub(crate) fn line(machine: &mut Machine<'_>, language: &str, text: &str) {
    starters::run(machine, language, text);
    unfollowed::files(machine, language, text, Reads::Shown);
}

/// Looks over what is read of a file of code that is longer than that.
fn beginning(machine: &mut Machine<'_>, call: &Call, text: &Value) -> Option<Exit> {
    let Value::Between { prefix, .. } = text else { return None };
    let language = Language::of(call.program.split(' ').next().unwrap_or_default())?;
    let is_file = prefix.len() >= LONG && !call.words.iter().any(|word| word == text);
    is_file.then(|| Evaluator::new(machine, call, language).only_look_over(prefix))
}

/// Whether the session may have written the file that is run.
fn may_be_of_session(machine: &Machine<'_>, call: &Call) -> bool {
    let path = call.arguments.operands.first().and_then(|file| machine.one_path_through(file));
    path.is_none_or(|path| super::compiled::may_be_of_session(machine, &path))
}

/// Whether `node` prints the value of a text that it is given: `-p`.
fn is_printing(call: &Call, text: &str) -> bool {
    matches!(call.program.as_str(), "node" | "nodejs" | "bun")
        && ["-p", "--print", "-pe"]
            .iter()
            .any(|option| call.arguments.value(&[option]).and_then(Value::as_exact) == Some(text))
}
