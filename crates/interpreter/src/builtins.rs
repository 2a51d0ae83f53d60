//! What the shell itself does.

mod declaring;
mod directories;
pub(crate) mod failing;
mod leaving;
mod naming;
mod options;
mod posix;
mod printing;
mod reading;
mod temporary;

pub use declaring::assignment;
pub(crate) use directories::on_stack;
pub(crate) use posix::is_of_bash;

use crate::Input;
use crate::filters::{Lines, made_of_names_elsewhere};
use crate::formats::{self, Formatted};
use crate::machine::Absence;
use crate::parameter::counted;
use crate::path::AbsolutePath;
use crate::strings;
use crate::traps::Event;
use crate::world::Entry;
use crate::{Done, Exit, Flow, Inheritance, Lookup, Machine, Output, Speech, Status, Value};

use directories::{cd, dirs, popd, pushd};

use declaring::{declare, export, local, readonly, set, shell_options, shopt, unset};

/// Runs a built-in command; `None` when there is none of that name.
pub(crate) fn run(machine: &mut Machine<'_>, name: &str, words: &[Value]) -> Option<Done> {
    if LEAVING.contains(&name) {
        let done = leaving::run(machine, name, words);
        let stays = machine.shell.is_without_commands && done.flow != Flow::Next;
        return Some(if stays { machine.perhaps_leave(done.flow, done.status) } else { done });
    }
    if machine.shell.speech == Speech::Posix {
        let done = machine.caused_by(name, |machine| posix::run(machine, name, words));
        if let Some(done) = done {
            machine.list_command(name, words);
            return Some(done);
        }
    }
    let built_in = find(name)?;
    machine.list_command(name, words);
    let done = machine.caused_by(name, |machine| built_in(machine, words));
    let done = match machine.listed_secret(name, words) {
        Some(secret) => Done { output: secret, ..done },
        None => done,
    };
    let done = if done.output == Output::Nothing && prints(name, words) {
        machine.flow.commits_shown += 1;
        Done { output: Output::Unknown, ..done }
    } else {
        done
    };
    let may_fail = done.status == Status::Success && failing::may_fail(machine, name, words);
    Some(if may_fail { Done { status: Status::Open, ..done } } else { done })
}

/// Whether a built-in of which only the effects are followed prints something that is not worked out, form by form (the manual of bash 5.2,
/// "Shell Builtin Commands").
pub(crate) fn prints(name: &str, words: &[Value]) -> bool {
    let texts = || words.iter().map(Value::as_exact);
    let has = |letters: &[char]| {
        texts().any(|text| text.is_none_or(|text| text.starts_with('-') && text.contains(letters)))
    };
    let has_operands = texts().any(|text| text.is_none_or(|text| !text.starts_with(['-', '+'])));
    match name {
        "alias" => {
            has(&['p'])
                || !texts().all(|text| text.is_some_and(|text| text.contains('=')))
                || words.is_empty()
        }
        "declare" | "typeset" | "local" | "export" | "readonly" => has(&['p', 'f', 'F']) || !has_operands,
        "trap" => words.is_empty() || has(&['p', 'l']),
        "set" => words.last().is_some_and(|last| matches!(last.as_exact(), None | Some("-o" | "+o"))),
        "shopt" => !has(&['q']) && (has(&['p']) || !has(&['s', 'u']) || !has_operands),
        // It says where it went when that is not what was written.
        "cd" => texts().any(|text| text.is_none_or(|text| text == "-")),
        _ => false,
    }
}

/// Whether the shell itself has a command of that name.
pub fn is_built_in(name: &str) -> bool {
    LEAVING.contains(&name) || find(name).is_some()
}

/// What leaves a shell, a function or a loop.
const LEAVING: [&str; 5] = ["return", "exit", "logout", "break", "continue"];

fn find(name: &str) -> Option<fn(&mut Machine<'_>, &[Value]) -> Done> {
    Some(match name {
        ":" | "true" => |_, _| Done::quiet(),
        "false" => |_, _| Done::next(Exit::failure()),
        "echo" => echo,
        "print" => printing::print,
        "printf" => printf,
        "cd" | "chdir" => cd,
        "pushd" => pushd,
        "popd" => popd,
        "pwd" => {
            |machine, _| Done::next(Exit::printing(machine.cwd_value().followed_by(&Value::exact("\n"))))
        }
        "test" => |machine, words| Done::next(Exit::answer(machine.test_words(words))),
        "[" | "[[" => |machine, words| {
            // Without its bracket it says that it is missing, and answers neither yes nor no.
            let inner = words.split_last().filter(|(last, _)| matches!(last.as_exact(), Some("]" | "]]")));
            Done::next(Exit::answer(inner.and_then(|(_, inner)| machine.test_words(inner))))
        },
        "read" => reading::read,
        "mapfile" | "readarray" => reading::mapfile,
        "export" => export,
        "declare" | "typeset" | "float" | "compound" => declare,
        // Other names of `typeset` in Korn shells and zsh (ksh93(1), "Aliasing"; zshbuiltins(1)).
        "nameref" => |machine, words| declare_with(machine, "-n", words),
        "integer" => |machine, words| declare_with(machine, "-i", words),
        "local" => local,
        "readonly" => |machine, words| readonly(machine, words),
        "unset" => unset,
        "set" => set,
        "setopt" => |machine, words| shell_options(machine, words, true),
        "unsetopt" => |machine, words| shell_options(machine, words, false),
        "shopt" => shopt,
        "shift" => shift,
        "eval" => eval,
        "source" | "." => source,
        "exec" => exec,
        "trap" => trap,
        "command" => command,
        "builtin" => |machine, words| {
            let words = operands(words);
            let is_known =
                words.first().is_none_or(|first| first.as_exact().is_some_and(is_built_in));
            let done = machine.call_words(words, Lookup::NoFunctions);
            if is_known { done } else { Done { status: Status::Open, ..done } }
        },
        "noglob" | "nocorrect" | "-" => |machine, words| machine.call_words(words, Lookup::All),
        "hash" => naming::hash,
        "type" | "whence" => naming::kind_of_command,
        "alias" => naming::alias,
        "unalias" => |machine, words| {
            for word in words {
                if let Some(name) = word.as_exact() {
                    machine.shell.aliases.remove(name);
                }
            }
            Done::quiet()
        },
        "repeat" => |machine, words| machine.call_words(words.get(1..).unwrap_or_default(), Lookup::All),
        "let" => let_expression,
        "getopts" => options::getopts,
        "wait" => reading::wait,
        "mktemp" => temporary::mktemp,
        "history" => naming::history,
        "fc" => naming::fc,
        "enable" => naming::enable,
        "compgen" => naming::completion,
        "dirs" => dirs,
        "jobs" | "times" | "caller" | "help" | "ulimit" | "umask" | "disown" | "bg" | "fg"
        | "compopt" | "suspend" | "autoload" | "emulate" | "rehash" | "zstyle" | "zmodload"
        | "unfunction" | "functions" | "compdef"
        // What these are given runs when a user presses a key, in a shell that listens to keys.
        | "bind" | "complete" => {
            |_, _| Done::next(Exit { status: Status::Success, output: Output::Unknown })
        }
        _ => return None,
    })
}

fn echo(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut newline = true;
    let mut escapes = machine.shell.options.xpg_echo;
    let mut rest = words;
    while let Some((first, more)) = rest.split_first() {
        let Some(flags) = first.as_exact().and_then(|text| text.strip_prefix('-')) else { break };
        if flags.is_empty() || !flags.chars().all(|c| matches!(c, 'n' | 'e' | 'E')) {
            break;
        }
        newline &= !flags.contains('n');
        escapes |= flags.contains('e');
        rest = more;
    }
    let mut value = Value::exact("");
    for (index, word) in rest.iter().enumerate() {
        if index > 0 {
            value = value.followed_by(&Value::exact(" "));
        }
        let word = match word.as_exact() {
            Some(text) if escapes => strings::unescaped(text),
            _ => word.clone(),
        };
        value = value.followed_by(&word);
        if escapes && rest.get(index).and_then(Value::as_exact).is_some_and(strings::is_cut_short) {
            newline = false;
            break;
        }
    }
    if newline {
        value = value.followed_by(&Value::exact("\n"));
    }
    printed(machine, value, rest)
}

fn printf(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let is_option =
        |word: &Value| word.as_exact().is_some_and(|text| text.starts_with('-') && text.len() > 1);
    let (variable, rest) = match words {
        // `-v` is the only option, and may be given again.
        [option, _, second, ..] if option.as_exact() == Some("-v") && is_option(second) => {
            match second.as_exact() {
                Some(text) if text.starts_with("-v") => {
                    return printf(machine, words.get(2..).unwrap_or_default());
                }
                Some("--") => (
                    words.get(1).and_then(Value::as_exact).map(str::to_owned),
                    words.get(3..).unwrap_or_default(),
                ),
                Some(_) | None => return Done::next(Exit::failure()),
            }
        }
        [option, name, rest @ ..] if option.as_exact() == Some("-v") => {
            (name.as_exact().map(str::to_owned), operands(rest))
        }
        [option, rest @ ..] if option.as_exact() == Some("--") => (None, rest),
        [option, rest @ ..] if option.as_exact().is_some_and(|text| text.starts_with("-v")) => {
            (option.as_exact().and_then(|text| text.strip_prefix("-v")).map(str::to_owned), operands(rest))
        }
        all => (None, all),
    };
    let known = match rest.split_first() {
        Some((format, arguments)) => format.as_exact().map(|format| formats::formatted(format, arguments)),
        None => None,
    };
    let Formatted { value, status } =
        known.unwrap_or(Formatted { value: Value::Unknown, status: Status::Open });
    match variable {
        Some(name) => {
            machine.assign_named(&name, value);
            Done::next(Exit { status, output: Output::Nothing })
        }
        None => Done { status, ..printed(machine, value, rest) },
    }
}

/// What a built-in prints of these words. Text that is not known is of the kind of what it was made from: a secret, what came over the
/// network, names of files elsewhere.
fn printed(machine: &Machine<'_>, value: Value, words: &[Value]) -> Done {
    let is_secret = |output: &&Output| matches!(output, Output::Secret(_));
    let nothing_known = value.known_start().is_empty() && value.known_end().trim_end_matches('\n').is_empty();
    let is_known = value.as_exact().is_some();
    let all = machine.substituted();
    let is_list = |output: &&Output| !is_known && Lines::elsewhere(output).is_some();
    let made_from = all
        .iter()
        .find(is_secret)
        .or_else(|| all.iter().find(is_list))
        .or_else(|| all.last().filter(|_| nothing_known && !is_known));
    let output = match made_from {
        Some(output @ (Output::Network(_) | Output::Secret(_) | Output::Local(_) | Output::Unknown)) => {
            output.clone()
        }
        Some(Output::Nothing | Output::Text(_) | Output::Setup(_)) | None => match value {
            Value::Unknown | Value::Between { .. } => {
                made_of_names_elsewhere(machine, words).unwrap_or(Output::Text(value))
            }
            Value::Exact(_) | Value::AnyOf(_) | Value::Glob(_) => Output::Text(value),
        },
    };
    Done::next(Exit { status: Status::Success, output })
}

fn shift(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let count = match words.first() {
        None => Some(1),
        Some(word) => word.as_exact().and_then(|text| text.parse::<usize>().ok()),
    };
    machine.shell.positional = match (machine.shell.positional.take(), count) {
        (Some(values), Some(_)) if counted(&values).is_none() => {
            // How many are gone of those that one word stands for is not known.
            machine.shell.positional = Some(values);
            return Done::next(Exit { status: Status::Open, ..Exit::success() });
        }
        (Some(values), Some(count)) if count <= values.len() => {
            machine.shell.positional = Some(values.into_iter().skip(count).collect());
            return Done::quiet();
        }
        (Some(values), Some(_)) => {
            machine.shell.positional = Some(values);
            // bash goes on, others end.
            return machine.perhaps_leave(Flow::Exit, Status::Failure);
        }
        (_, _) => None,
    };
    Done::next(Exit { status: Status::Open, ..Exit::success() })
}

/// `typeset` with an option in front of the words.
fn declare_with(machine: &mut Machine<'_>, option: &str, words: &[Value]) -> Done {
    let words: Vec<Value> = std::iter::once(Value::exact(option)).chain(words.iter().cloned()).collect();
    declare(machine, &words)
}

/// The words behind `--`, when that comes first.
fn operands(words: &[Value]) -> &[Value] {
    match words.split_first() {
        Some((first, rest)) if first.as_exact() == Some("--") => rest,
        _ => words,
    }
}

fn eval(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    machine.run_here(&strings::joined(operands(words), " "))
}

fn source(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let Some((file, arguments)) = operands(words).split_first() else { return Done::next(Exit::failure()) };
    let is_typed =
        matches!(file.as_exact(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "/dev/tty"));
    if is_typed && machine.input == Input::Inherited {
        machine.left_open("source");
    }
    let is_there = machine.shell.speech == Speech::Bash
        || file.known_start().contains('/')
            && machine
                .one_path_through(file)
                .is_some_and(|path| matches!(machine.entry(&path), Entry::File(_)));
    let done = machine.run_file_here(file, arguments);
    // Without the file, which is looked for as a program is, other shells than bash end.
    if is_there || done.flow != Flow::Next { done } else { machine.perhaps_leave(Flow::Exit, done.status) }
}

fn exec(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut rest = words;
    let mut login = false;
    let mut inheritance = Inheritance::Everything;
    while let Some((first, more)) = rest.split_first() {
        let has = |letter: char| {
            let text = first.as_exact().filter(|text| is_option_of_exec(text));
            text.and_then(|text| text.split('a').next()).is_some_and(|letters| letters.contains(letter))
        };
        login |= has('l');
        if has('c') {
            inheritance = Inheritance::Nothing;
        }
        match first.as_exact() {
            Some("--") => {
                rest = more;
                break;
            }
            // A name stands behind `a`, or in the next word.
            Some(text) if is_option_of_exec(text) => {
                rest = if text.ends_with('a') { more.get(1..).unwrap_or_default() } else { more };
            }
            // bash says that it knows no such option, and goes on.
            Some(text) if text.starts_with('-') => return machine.perhaps_leave(Flow::Exit, Status::Failure),
            Some(_) | None => break,
        }
    }
    if rest.is_empty() {
        return Done::quiet();
    }
    let with_login = rest.split_first().map(|(shell, rest)| {
        std::iter::once(shell.clone())
            .chain([Value::exact("-l")])
            .chain(rest.iter().cloned())
            .collect::<Vec<_>>()
    });
    let is_shell = rest
        .first()
        .and_then(Value::as_exact)
        .is_some_and(|name| matches!(name.rsplit('/').next(), Some("bash" | "sh" | "zsh" | "dash" | "ksh")));
    let rest = with_login.as_deref().filter(|_| login && is_shell).unwrap_or(rest);
    let done = machine.with_inheritance(inheritance, |machine| machine.call_words(rest, Lookup::NoFunctions));
    if machine.shell.options.execfail {
        // A program that cannot be started leaves the shell where it is.
        return machine.perhaps_leave(Flow::Exit, done.status);
    }
    if rest.first().is_some_and(|program| can_be_started(machine, program)) {
        // Another program stands in the place of the shell, which comes to no end of its own.
        machine.shell.at_exit = None;
    }
    Done { flow: Flow::Exit, ..done }
}

/// Whether a program is surely there to be started: by its path, or first in the directories where it is looked for.
fn can_be_started(machine: &Machine<'_>, program: &Value) -> bool {
    let is_program = |file: &AbsolutePath| match machine.entry(file) {
        Entry::File(facts) => Some(facts.mode & 0o111 != 0),
        Entry::Missing => None,
        Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => Some(false),
    };
    let Some(name) = program.as_exact().filter(|_| machine.is_settled()) else { return false };
    if name.contains('/') {
        return machine.one_path_through(program).is_some_and(|file| is_program(&file) == Some(true));
    }
    let path = machine.variable("PATH");
    let Some(directories) = path.as_ref().and_then(Value::as_exact) else { return false };
    let mut directories = directories.split(':').take(DIRECTORIES);
    let found = directories.find_map(|directory| {
        let named = Value::Exact(format!("{directory}/{name}"));
        let file = machine.one_path_through(&named).filter(|_| directory.starts_with('/'));
        file.map_or(Some(false), |file| is_program(&file))
    });
    found == Some(true)
}

/// Whether a word is options of `exec`: `-c`, `-l`, `-a name`, together or not.
fn is_option_of_exec(text: &str) -> bool {
    let Some(letters) = text.strip_prefix('-') else { return false };
    let before = letters.split_once('a').map_or(letters, |(before, _)| before);
    !letters.is_empty() && before.chars().all(|letter| matches!(letter, 'c' | 'l'))
}

/// The greatest number of directories in which a program is looked for (ours).
const DIRECTORIES: usize = 32;
/// The greatest number of commands that are remembered for signals (ours).
const SIGNAL_TRAPS: usize = 8;

fn trap(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let words: Vec<&Value> = words.iter().filter(|word| word.as_exact() != Some("--")).collect();
    let Some((first, signals)) = words.split_first() else { return Done::quiet() };
    if matches!(first.as_exact(), Some("-p" | "-l")) {
        return Done::quiet();
    }
    let command = match first.as_exact() {
        Some("-" | "") => None,
        Some(_) | None => Some((*first).clone()),
    };
    let is_for =
        |event: Event| signals.iter().any(|signal| signal.as_exact().map(Event::named) == Some(event));
    machine.set_traps(command.as_ref(), is_for);
    if is_for(Event::Error) {
        machine.shell.at_error.clone_from(&command);
    }
    let before_every_command = is_for(Event::Command);
    if before_every_command {
        machine.shell.at_debug.clone_from(&command);
    }
    if let (true, Some(text)) = (before_every_command, &command) {
        machine.run_at_every_command(text);
        note_skipping(machine);
    }
    if is_for(Event::Exit) {
        machine.shell.at_exit.clone_from(&command);
        machine.shell.exit_trap_in_doubt = machine.is_in_doubt() || machine.position.exiting > 0;
    }
    let on_signal =
        signals.iter().any(|signal| signal.as_exact().is_none_or(|name| Event::named(name).is_sent()));
    if let (true, Some(text)) = (on_signal, command)
        && !machine.shell.on_signals.contains(&text)
        && machine.shell.on_signals.len() < SIGNAL_TRAPS
    {
        machine.shell.on_signals.push(text);
    }
    Done::quiet()
}

/// With `extdebug` a command is left out where what runs before it fails (bash(1), "shopt"): any may be, `exit` and assignments too.
pub(super) fn note_skipping(machine: &mut Machine<'_>) {
    if machine.shell.options.extdebug && machine.shell.at_debug.is_some() {
        machine.unread("`extdebug` with a trap for `DEBUG` leaves out whatever the trap says");
    }
}

fn command(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut rest = words;
    while let Some((first, more)) = rest.split_first() {
        match first.as_exact() {
            Some("-p" | "--") => rest = more,
            Some("-v" | "-pv") => return Done::next(whereabouts(machine, more)),
            Some("-V") => return Done::next(known_program(machine, more)),
            Some(_) | None => break,
        }
    }
    machine.call_words(rest, Lookup::NoFunctions)
}

/// Where a program of that name is, and whether there is one: `which`, `command -v`.
pub(crate) fn whereabouts(machine: &mut Machine<'_>, words: &[Value]) -> Exit {
    let operands: Vec<&Value> =
        words.iter().filter(|word| !word.as_exact().is_some_and(|text| text.starts_with('-'))).collect();
    let [Value::Exact(name)] = operands.as_slice() else { return known_program(machine, words) };
    let is_own = machine.shell.functions.contains_key(name) || machine.shell.aliases.contains_key(name);
    if is_own || name.contains('/') {
        return known_program(machine, words);
    }
    let path = machine.variable("PATH");
    let Some(directories) = path.as_ref().and_then(Value::as_exact) else {
        let known = known_program(machine, words);
        return somewhere(machine, name, known);
    };
    let mut sure = machine.is_settled();
    for directory in directories.split(':').filter(|directory| directory.starts_with('/')).take(DIRECTORIES) {
        let file = AbsolutePath::root().join(directory).join(name);
        match machine.entry(&file) {
            Entry::File(_) | Entry::Symlink(_) => {
                return Exit::printing(Value::Exact(format!("{file}\n")));
            }
            Entry::Unknown => sure = false,
            Entry::Missing | Entry::Directory | Entry::Special => {}
        }
    }
    let known = known_program(machine, words);
    if sure && known.status == Status::Open && machine.guard_programs(name).is_empty() {
        machine.absent = Some(Absence::Path);
        return Exit::failure();
    }
    somewhere(machine, name, known)
}

/// The answer with where a program would be, if it is there; of a built-in its name alone.
fn somewhere(machine: &Machine<'_>, name: &str, known: Exit) -> Exit {
    // The client starts the guard from where it is, whether that is on the path or not.
    let guard: Vec<String> = machine.guard_programs(name).iter().map(|path| format!("{path}\n")).collect();
    if !guard.is_empty() {
        return Exit { output: Output::Text(Value::one_of(guard)), ..known };
    }
    if !machine.knows(name) {
        return known;
    }
    let texts = vec![format!("/usr/bin/{name}\n"), format!("{name}\n"), String::new()];
    Exit { output: Output::Text(Value::one_of(texts)), ..known }
}

/// Whether a program of that name can be run; only of built-ins and functions that is known.
fn known_program(machine: &mut Machine<'_>, words: &[Value]) -> Exit {
    let sure = !words.is_empty()
        && words.iter().map(Value::as_exact).all(|name| {
            let Some(name) = name else { return false };
            machine.shell.functions.contains_key(name)
                || matches!(
                    name,
                    "echo"
                        | "cd"
                        | "printf"
                        | "test"
                        | "read"
                        | "export"
                        | "set"
                        | "source"
                        | "true"
                        | "false"
                        | "pwd"
                        | "eval"
                        | "bash"
                        | "sh"
                        | "cat"
                        | "ls"
                        | "rm"
                        | "cp"
                        | "mv"
                        | "mkdir"
                        | "grep"
                        | "sed"
                )
        });
    Exit { status: if sure { Status::Success } else { Status::Open }, output: Output::Unknown }
}

fn let_expression(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut last = None;
    for word in words {
        last = word.as_exact().map(str::to_owned).and_then(|text| machine.arithmetic_text(&text));
    }
    Done::next(Exit::answer(last.map(|value| value != 0)))
}
