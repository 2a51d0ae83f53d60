//! Programs that start another one with another environment, or as another user, who has another one.

use super::{Peeled, as_user, run_with_assignments};
use crate::interpreter::builtins::assignment;
use crate::interpreter::strings::quoted_words;
use crate::interpreter::{Call, Exit, Inheritance, Machine, Value};

/// The options of `env` that take a value: letters, and names.
const OF_ENV: (&str, &[&str]) = ("uCSP", &["unset", "chdir", "split-string", "argv0"]);

/// `env`
pub(crate) fn env(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut peeled = Peeled::new(&call.words, OF_ENV.0, OF_ENV.1);
    if peeled.is_question() {
        return Exit::unknown();
    }
    if let Some(text) = peeled.value(&["-S", "--split-string"]) {
        // What the text holds stands in its place, options among it.
        let mut words: Vec<Value> = match text.as_exact() {
            Some(text) => {
                quoted_words(text).into_iter().map(|word| with_variables_put_in(machine, &word)).collect()
            }
            None => vec![Value::Unknown],
        };
        words.extend(peeled.rest.iter().cloned());
        let more = Peeled::new(&words, OF_ENV.0, OF_ENV.1);
        peeled.options.extend(more.options);
        peeled.rest = more.rest;
    }
    let mut words = peeled.rest.clone();
    // A lone `-` is `-i`.
    let is_lone = words.first().and_then(Value::as_exact) == Some("-");
    if is_lone {
        words.remove(0);
    }
    if words.iter().all(|word| assignment(word).is_some()) {
        return Exit::unknown();
    }
    let inheritance = if is_lone || peeled.has(&["-i", "--ignore-environment"]) {
        Inheritance::Nothing
    } else {
        Inheritance::Everything
    };
    let unset = peeled.options.iter().filter(|(name, _)| matches!(name.as_str(), "-u" | "--unset"));
    let unset: Vec<String> =
        unset.filter_map(|(_, value)| value.as_ref().and_then(Value::as_exact).map(str::to_owned)).collect();
    let run = |machine: &mut Machine<'_>| {
        machine.with_inheritance(inheritance, |machine| {
            machine.without_variables(&unset, |machine| run_with_functions(machine, &words, call))
        })
    };
    match peeled.value(&["-C", "--chdir"]) {
        Some(directory) => machine.inside(directory, run),
        None => run(machine),
    }
}

/// Runs words behind assignments, functions of bash among them, which are there for what is started and no longer.
fn run_with_functions(machine: &mut Machine<'_>, words: &[Value], call: &Call) -> Exit {
    let brings = |word: &Value| word.known_start().starts_with("BASH_FUNC_");
    if !words.iter().any(brings) {
        return run_with_assignments(machine, words, call.input.clone());
    }
    let before = machine.shell.clone();
    let mut words = words.to_vec();
    words.retain(|word| !machine.takes_exported_function(word));
    let exit = run_with_assignments(machine, &words, call.input.clone());
    machine.shell = before;
    exit
}

/// Runs something with variables that are set (`NAME=value`) or taken away (`NAME`).
pub(super) fn with_changes(
    machine: &mut Machine<'_>,
    changes: &[Value],
    run: impl FnOnce(&mut Machine<'_>) -> Exit,
) -> Exit {
    let set: Vec<(String, Value)> = changes.iter().filter_map(assignment).collect();
    let gone = changes.iter().filter(|change| assignment(change).is_none()).filter_map(Value::as_exact);
    let gone: Vec<String> = gone.map(str::to_owned).collect();
    machine.without_variables(&gone, |machine| machine.with_variables(set, run))
}

/// Runs something with the environment that these options of nix leave (`nix develop --help`, "Options that change environment variables"
/// of nix 2.24; `-s` sets one, `-u` takes one away, `-k` keeps one where `-i` leaves none).
pub(super) fn with_options_of_nix(
    machine: &mut Machine<'_>,
    own: &[Value],
    run: impl FnOnce(&mut Machine<'_>) -> Exit,
) -> Exit {
    let (mut inheritance, mut set, mut gone, mut kept_names) =
        (Inheritance::Everything, Vec::new(), Vec::new(), Vec::new());
    let mut words = own.iter();
    while let Some(word) = words.next() {
        match word.as_exact() {
            Some("-i" | "--ignore-environment" | "--ignore-env") => inheritance = Inheritance::Nothing,
            Some("-u" | "--unset" | "--unset-env-var") => {
                gone.extend(words.next().and_then(Value::as_exact).map(str::to_owned));
            }
            Some("-k" | "--keep" | "--keep-env-var") => {
                kept_names.extend(words.next().and_then(Value::as_exact).map(str::to_owned));
            }
            Some("-s" | "--set-env-var") => {
                let name = words.next().and_then(Value::as_exact).map(str::to_owned);
                set.extend(name.zip(words.next().cloned()));
            }
            Some(_) | None => {}
        }
    }
    set.extend(kept(machine, kept_names.iter().map(String::as_str)));
    machine.with_inheritance(inheritance, |machine| {
        machine.without_variables(&gone, |machine| machine.with_variables(set, run))
    })
}

/// A word of `env -S` with `${NAME}` put in, which this program does itself.
fn with_variables_put_in(machine: &Machine<'_>, word: &str) -> Value {
    let mut value = Value::exact("");
    let mut rest = word;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, more)) = after.split_once('}') else { break };
        let held = machine.variable(name).unwrap_or_else(|| Value::exact(""));
        value = value.followed_by(&Value::exact(before)).followed_by(&held);
        rest = more;
    }
    value.followed_by(&Value::exact(rest))
}

/// `sudo`, `doas`, `pkexec`, `run0`
pub(crate) fn sudo(machine: &mut Machine<'_>, call: &Call) -> Exit {
    const LONG: &[&str] = &[
        "user",
        "group",
        "host",
        "prompt",
        "chdir",
        "chroot",
        "close-from",
        "role",
        "type",
        "other-user",
        "command-timeout",
    ];
    let short = if call.program == "doas" { "uC" } else { "ughpCTrtDRU" };
    let peeled = Peeled::new(&call.words, short, LONG);
    if peeled.is_question()
        || peeled.has(&["-k", "-K", "--remove-timestamp", "--reset-timestamp"]) && peeled.rest.is_empty()
    {
        return Exit::unknown();
    }
    let user = peeled.value(&["-u", "--user"]).cloned().unwrap_or_else(|| Value::exact("root"));
    as_user(machine, &user, |machine| {
        if peeled.has(&["-e", "--edit"]) || call.program == "sudoedit" {
            for file in &peeled.rest {
                machine.write(file);
            }
            return Exit::silent();
        }
        if peeled.rest.is_empty() {
            let opens_shell = ["pkexec", "run0"].contains(&call.program.as_str())
                || peeled.has(&["-i", "-s", "--login", "--shell"]);
            return if opens_shell { machine.run_input(&call.input) } else { Exit::unknown() };
        }
        let (inheritance, kept) = handed_on_by_sudo(machine, &call.program, &peeled);
        let run = |machine: &mut Machine<'_>| {
            machine.with_inheritance(inheritance, |machine| {
                machine.with_variables(kept, |machine| {
                    run_with_assignments(machine, &peeled.rest, call.input.clone())
                })
            })
        };
        match peeled.value(&["-D", "--chdir"]) {
            Some(directory) => machine.inside(directory, run),
            None => run(machine),
        }
    })
}

/// What of the environment reaches what runs as another user, and the variables that are named for it. sudo and doas take away what their
/// settings do not keep (sudoers(5), `env_reset`; doas.conf(5), `keepenv`), pkexec and run0 all of it (pkexec(1), run0(1)).
fn handed_on_by_sudo(
    machine: &Machine<'_>,
    program: &str,
    peeled: &Peeled,
) -> (Inheritance, Vec<(String, Value)>) {
    let is_whole =
        |(name, value): &(String, Option<Value>)| name == "-E" || name == "--preserve-env" && value.is_none();
    let inheritance = match program {
        "pkexec" | "run0" => Inheritance::OfTheUser,
        "doas" => Inheritance::PerhapsEverything,
        _ if peeled.options.iter().any(is_whole) => Inheritance::Everything,
        _ if peeled.has(&["-i", "--login"]) => Inheritance::OfTheUser,
        _ => Inheritance::PerhapsEverything,
    };
    let named =
        peeled.options.iter().filter(|(name, _)| matches!(name.as_str(), "--preserve-env" | "--setenv"));
    let named = named.filter_map(|(_, value)| value.as_ref().and_then(Value::as_exact));
    (inheritance, kept(machine, named))
}

/// The variables of lists such as `A,B=c`, each with the value that it has or is given.
pub(in crate::programs) fn kept<'a>(
    machine: &Machine<'_>,
    lists: impl Iterator<Item = &'a str>,
) -> Vec<(String, Value)> {
    let names = lists.flat_map(|list| list.split(','));
    let values = names.filter_map(|name| match name.split_once('=') {
        Some((name, value)) => Some((name.to_owned(), Value::exact(value))),
        None => Some((name.to_owned(), machine.variable(name)?)),
    });
    values.collect()
}

/// `su`, `runuser`
pub(crate) fn su(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut command = None;
    let mut user = Value::exact("root");
    let mut inheritance = Inheritance::Everything;
    let mut named = Vec::new();
    let mut words: Option<Vec<Value>> = None;
    let mut rest = call.words.iter();
    while let Some(word) = rest.next() {
        match word.as_exact() {
            Some("-c" | "--command") => command = rest.next().cloned(),
            Some("-s" | "--shell" | "-g" | "--group" | "-G") => {
                rest.next();
            }
            Some("-w" | "--whitelist-environment") => named.extend(rest.next().cloned()),
            Some("-u" | "--user") => user = rest.next().cloned().unwrap_or(Value::Unknown),
            Some("--help" | "--version") => return Exit::unknown(),
            Some("-" | "-l" | "--login") => inheritance = Inheritance::OfTheUser,
            Some("--") => {
                words = Some(rest.cloned().collect());
                break;
            }
            Some(text) if text.starts_with("--command=") => command = text.get(10..).map(Value::exact),
            Some(text) if text.starts_with('-') => {
                // `-lc`: letters together, the last of which takes the next word.
                if text.contains('l') && !text.starts_with("--") {
                    inheritance = Inheritance::OfTheUser;
                }
                if text.ends_with('c') && !text.starts_with("--") {
                    command = rest.next().cloned();
                }
            }
            Some(_) | None => user = word.clone(),
        }
    }
    let kept = kept(machine, named.iter().filter_map(Value::as_exact));
    as_user(machine, &user, |machine| {
        machine.with_inheritance(inheritance, |machine| {
            machine.with_variables(kept, |machine| match (words, command) {
                (Some(words), _) => machine.run_words(&words, call.input.clone()),
                (None, Some(text)) => machine.run_text(&text, call.input.clone()),
                (None, None) => machine.run_input(&call.input),
            })
        })
    })
}
