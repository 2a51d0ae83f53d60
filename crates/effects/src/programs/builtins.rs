//! What the shell itself does.

mod declaring;

pub(crate) use declaring::assignment;

use std::collections::BTreeMap;

use crate::interpreter::machine::Absence;
use crate::interpreter::{
    Content, Done, Exit, Flow, Input, Lookup, Machine, Output, Status, Value, Whereabouts,
};
use crate::path::AbsolutePath;
use crate::programs::{files, strings};
use crate::world::Entry;

use declaring::{declare, export, local, readonly, set, shell_options, shopt, unset};

/// Runs a built-in command; `None` when there is none of that name.
pub(crate) fn run(machine: &mut Machine<'_>, name: &str, words: &[Value]) -> Option<Done> {
    let built_in: fn(&mut Machine<'_>, &[Value]) -> Done = match name {
        ":" | "true" => |_, _| Done::quiet(),
        "false" => |_, _| Done::next(Exit::failure()),
        "echo" | "print" => echo,
        "printf" => printf,
        "cd" | "chdir" => cd,
        "pushd" => pushd,
        "popd" => popd,
        "pwd" => {
            |machine, _| Done::next(Exit::printing(machine.cwd_value().followed_by(&Value::exact("\n"))))
        }
        "test" => |machine, words| Done::next(Exit::answer(machine.test_words(words))),
        "[" | "[[" => |machine, words| {
            let inner = words.split_last().map_or(words, |(_, inner)| inner);
            Done::next(Exit::answer(machine.test_words(inner)))
        },
        "read" => read,
        "mapfile" | "readarray" => mapfile,
        "export" => export,
        "declare" | "typeset" => declare,
        "local" => local,
        "readonly" => |machine, words| readonly(machine, words),
        "unset" => unset,
        "set" => set,
        "setopt" => |machine, words| shell_options(machine, words, true),
        "unsetopt" => |machine, words| shell_options(machine, words, false),
        "shopt" => shopt,
        "shift" => shift,
        "return" => |machine, words| leave(machine, words, Flow::Return),
        "exit" | "logout" => |machine, words| leave(machine, words, Flow::Exit),
        "break" => |_, words| Done::leaving(Flow::Break(levels(words)), Status::Success),
        "continue" => |_, words| Done::leaving(Flow::Continue(levels(words)), Status::Success),
        "eval" => eval,
        "source" | "." => source,
        "exec" => exec,
        "trap" => trap,
        "command" => command,
        "builtin" => |machine, words| machine.call_words(words, Lookup::NoFunctions),
        "noglob" | "nocorrect" => |machine, words| machine.call_words(words, Lookup::All),
        "type" | "whence" | "hash" => |machine, words| Done::next(known_program(machine, words)),
        "alias" => alias,
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
        "getopts" => getopts,
        "wait" => |_, _| Done::next(Exit::silent()),
        "mktemp" => files::mktemp,
        "history" => history,
        "dirs" | "jobs" | "times" | "fc" | "caller" | "compgen" | "help" | "ulimit" | "umask" | "disown"
        | "bg" | "fg" | "complete" | "compopt" | "bind" | "enable" | "suspend" | "autoload" | "emulate"
        | "rehash" | "zstyle" | "zmodload" | "unfunction" | "functions" | "compdef" => {
            |_, _| Done::next(Exit { status: Status::Success, output: Output::Unknown })
        }
        _ => return None,
    };
    machine.list_command(name, words);
    Some(machine.caused_by(name, |machine| built_in(machine, words)))
}

fn echo(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut newline = true;
    let mut escapes = false;
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
            Some(text) if escapes => Value::Exact(strings::unescaped(text)),
            _ => word.clone(),
        };
        value = value.followed_by(&word);
    }
    if newline {
        value = value.followed_by(&Value::exact("\n"));
    }
    printed(machine, value)
}

fn printf(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let (variable, rest) = match words {
        [option, name, rest @ ..] if option.as_exact() == Some("-v") => {
            (name.as_exact().map(str::to_owned), rest)
        }
        [option, rest @ ..] if option.as_exact() == Some("--") => (None, rest),
        all => (None, all),
    };
    let value = match rest.split_first() {
        Some((format, arguments)) => match format.as_exact() {
            Some(format) => strings::formatted(format, arguments),
            None => Value::Unknown,
        },
        None => Value::exact(""),
    };
    match variable {
        Some(name) => {
            machine.assign(&name, value);
            Done::quiet()
        }
        None => printed(machine, value),
    }
}

/// What a built-in prints. Text that is not known is of the kind of what it was made from: a secret, what came over the network.
fn printed(machine: &Machine<'_>, value: Value) -> Done {
    let is_secret = |output: &&Output| matches!(output, Output::Secret(_));
    let nothing_known = value.known_start().is_empty() && value.known_end().trim_end_matches('\n').is_empty();
    let is_known = value.as_exact().is_some();
    let all = machine.substituted();
    let made_from = all.iter().find(is_secret).or_else(|| all.last().filter(|_| nothing_known && !is_known));
    let output = match made_from {
        Some(output @ (Output::Network(_) | Output::Secret(_) | Output::Local(_))) => output.clone(),
        Some(Output::Nothing | Output::Text(_) | Output::Unknown) | None => Output::Text(value),
    };
    Done::next(Exit { status: Status::Success, output })
}

fn cd(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let operand = words
        .iter()
        .find(|word| !word.as_exact().is_some_and(|text| text.starts_with('-') && text.len() > 1));
    let before = machine.cwd_value();
    let value = match operand {
        None => machine.variable("HOME").unwrap_or(Value::Unknown),
        Some(word) if word.as_exact() == Some("-") => machine.variable("OLDPWD").unwrap_or(Value::Unknown),
        Some(word) => word.clone(),
    };
    let physical = words.iter().any(|word| word.as_exact() == Some("-P"));
    if physical {
        machine.shell.logical = None;
    }
    let status = go(machine, &value);
    if physical {
        machine.shell.logical = None;
    }
    if status != Status::Failure {
        machine.assign("OLDPWD", before);
    }
    Done::next(Exit { status, output: Output::Nothing })
}

/// Changes the directory, when that can work; answers whether it does.
fn go(machine: &mut Machine<'_>, value: &Value) -> Status {
    // The shell goes by the path it came on: `..` leads back over a symbolic link.
    let base = machine.shell.logical.clone().or_else(|| machine.cwd().cloned());
    let logical = match (value.as_exact(), base) {
        (Some(text), Some(base)) if !text.is_empty() => Some(base.join(text)),
        _ => None,
    };
    let whereabouts = match &logical {
        Some(path) => machine.directory(&Value::exact(path.as_str())),
        None => machine.directory(value),
    };
    let status = match &whereabouts {
        Whereabouts::Here(path) => match machine.entry(path) {
            Entry::Directory => Status::Success,
            Entry::Missing if machine.is_disturbed() => Status::Unknown,
            Entry::Missing => {
                machine.absent = Some(Absence::Directory(whereabouts));
                return Status::Failure;
            }
            Entry::File(_) | Entry::Special => return Status::Failure,
            Entry::Symlink(_) | Entry::Unknown => Status::Unknown,
        },
        Whereabouts::OneOf(_) | Whereabouts::Below(_) | Whereabouts::Unknown => Status::Unknown,
    };
    machine.shell.logical = match (&whereabouts, logical) {
        (Whereabouts::Here(path), Some(logical)) if *path != logical => Some(logical),
        _ => None,
    };
    machine.shell.cwd = whereabouts;
    status
}

fn pushd(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let before = machine.shell.cwd.clone();
    let operand = words.iter().find(|word| !word.as_exact().is_some_and(|text| text.starts_with('-')));
    let status = match operand {
        Some(word) => go(machine, word),
        None => match machine.shell.stack.pop() {
            Some(place) => {
                machine.shell.cwd = place;
                machine.shell.logical = None;
                Status::Success
            }
            None => Status::Failure,
        },
    };
    if status != Status::Failure {
        machine.shell.stack.push(before);
    }
    Done::next(Exit { status, output: Output::Unknown })
}

fn popd(machine: &mut Machine<'_>, _: &[Value]) -> Done {
    match machine.shell.stack.pop() {
        Some(place) => {
            machine.shell.cwd = place;
            machine.shell.logical = None;
            Done::next(Exit { status: Status::Success, output: Output::Unknown })
        }
        None => Done::next(Exit::failure()),
    }
}

fn read(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut names = Vec::new();
    let mut array = None;
    let mut delimiter = '\n';
    let mut raw = false;
    let mut descriptor = None;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_exact() {
            Some(option) if option.starts_with('-') && option.len() > 1 => {
                raw |= option.contains('r');
                let valued = option.find(['p', 'd', 'n', 'N', 't', 'u', 'i', 'a', 'A', 'k']);
                if let Some(place) = valued {
                    let attached = option.get(place + 1..).filter(|text| !text.is_empty()).map(Value::exact);
                    let letter = option.get(place..=place).unwrap_or_default();
                    let value = attached.or_else(|| rest.next().cloned()).unwrap_or_else(|| Value::exact(""));
                    match letter {
                        "a" | "A" => array = value.as_exact().map(str::to_owned),
                        "d" => {
                            delimiter = value.as_exact().and_then(|text| text.chars().next()).unwrap_or('\0');
                        }
                        "u" => descriptor = value.as_exact().and_then(|text| text.parse::<u32>().ok()),
                        _ => {}
                    }
                }
            }
            Some(name) => names.push(name.to_owned()),
            None => {}
        }
    }
    if names.is_empty() && array.is_none() {
        names.push("REPLY".to_owned());
    }
    let opening = descriptor.filter(|number| *number > 0).and_then(|number| machine.descriptor(number));
    let input = match &opening {
        Some(opening) => opening.input.clone().unwrap_or(Input::Unknown),
        None => machine.input.clone(),
    };
    let line = match &input {
        Input::Text(Value::Exact(all)) => {
            if all.is_empty() {
                for name in &names {
                    machine.assign(name, Value::exact(""));
                }
                return Done::next(Exit::failure());
            }
            let (line, more) = all.split_once(delimiter).unwrap_or((all.as_str(), ""));
            let ended = all.contains(delimiter);
            let left = Input::Text(Value::exact(more));
            match (descriptor, opening) {
                (Some(number), Some(opening)) => machine.open_again(number, opening, left),
                _ => machine.input = left,
            }
            Some((line.to_owned(), ended))
        }
        Input::Text(_)
        | Input::Inherited
        | Input::Network(_)
        | Input::Secret(_)
        | Input::Local(_)
        | Input::Unknown => None,
    };
    let Some((line, ended)) = line else {
        // Paths that are read one by one are what their pattern says.
        let value = match &input {
            Input::Text(Value::Glob(pattern)) if names.len() == 1 => Value::Glob(pattern.clone()),
            Input::Text(Value::AnyOf(lines))
                if names.len() == 1 && lines.iter().all(|line| !line.trim_end().contains('\n')) =>
            {
                Value::one_of(lines.iter().map(|line| line.trim_end().to_owned()).collect())
            }
            _ => Value::Unknown,
        };
        let known_list = matches!(value, Value::Glob(_) | Value::AnyOf(_));
        for name in &names {
            machine.assign(name, value.clone());
        }
        if let Some(name) = &array {
            machine.assign_content(name, Content::Unknown);
        }
        for name in names.iter().chain(&array) {
            keep_class(machine, name, &input);
        }
        let status = if input == Input::Inherited || known_list { Status::Unknown } else { Status::Open };
        return Done::next(Exit { status, output: Output::Nothing });
    };
    let line = if raw { line } else { line.replace('\\', "") };
    let separators = machine
        .variable("IFS")
        .and_then(|value| value.as_exact().map(str::to_owned))
        .unwrap_or_else(|| " \t\n".to_owned());
    if let Some(name) = array {
        let items = strings::split(&line, &separators, usize::MAX).into_iter().enumerate();
        let items: BTreeMap<i64, Value> = items
            .filter_map(|(index, text)| Some((i64::try_from(index).ok()?, Value::Exact(text))))
            .collect();
        machine.assign_content(&name, Content::List(items));
    } else {
        let mut values = strings::split(&line, &separators, names.len()).into_iter();
        for name in &names {
            machine.assign(name, Value::Exact(values.next().unwrap_or_default()));
        }
    }
    // A last line without an end is read, and the command says failure: loops written for it test the variable too.
    Done::next(if ended { Exit::success() } else { Exit::failure() })
}

/// Keeps with a variable what sort of thing its value was read from.
fn keep_class(machine: &mut Machine<'_>, name: &str, input: &Input) {
    match Output::from_input(input) {
        output @ (Output::Network(_) | Output::Secret(_) | Output::Local(_)) => {
            machine.set_origin(name, output);
        }
        Output::Nothing | Output::Text(_) | Output::Unknown => {}
    }
}

fn mapfile(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut name = "MAPFILE".to_owned();
    let mut trim = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_exact() {
            Some(option) if option.starts_with('-') => {
                trim |= option.contains('t');
                if option.ends_with(['d', 'n', 'O', 's', 'u', 'C', 'c']) {
                    rest.next();
                }
            }
            Some(text) => text.clone_into(&mut name),
            None => {}
        }
    }
    let content = match &machine.input {
        Input::Text(Value::Exact(all)) => {
            let lines =
                all.split_inclusive('\n').map(|line| if trim { line.trim_end_matches('\n') } else { line });
            let items = lines
                .enumerate()
                .filter_map(|(index, line)| Some((i64::try_from(index).ok()?, Value::exact(line))));
            Content::List(items.collect())
        }
        Input::Text(_)
        | Input::Inherited
        | Input::Network(_)
        | Input::Secret(_)
        | Input::Local(_)
        | Input::Unknown => Content::Unknown,
    };
    machine.assign_content(&name, content);
    let input = machine.input.clone();
    keep_class(machine, &name, &input);
    Done::quiet()
}

fn shift(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let count = match words.first() {
        None => Some(1),
        Some(word) => word.as_exact().and_then(|text| text.parse::<usize>().ok()),
    };
    machine.shell.positional = match (machine.shell.positional.take(), count) {
        (Some(values), Some(count)) if count <= values.len() => {
            Some(values.into_iter().skip(count).collect())
        }
        (Some(values), Some(_)) => {
            machine.shell.positional = Some(values);
            return Done::next(Exit::failure());
        }
        (_, _) => None,
    };
    Done::quiet()
}

fn leave(machine: &mut Machine<'_>, words: &[Value], flow: Flow) -> Done {
    let status = match words.first() {
        None => match machine.shell.last_status {
            Some(0) => Status::Success,
            Some(_) => Status::Failure,
            None => Status::Unknown,
        },
        Some(word) => match word.as_exact() {
            Some("0") => Status::Success,
            Some(_) => Status::Failure,
            None => Status::Unknown,
        },
    };
    Done::leaving(flow, status)
}

fn levels(words: &[Value]) -> u32 {
    words.first().and_then(Value::as_exact).and_then(|text| text.parse().ok()).unwrap_or(1)
}

fn eval(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    machine.run_here(&strings::joined(words, " "))
}

fn source(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let Some((file, arguments)) = words.split_first() else { return Done::next(Exit::failure()) };
    machine.run_file_here(file, arguments)
}

fn exec(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut rest = words;
    while let Some((first, more)) = rest.split_first() {
        match first.as_exact() {
            Some("-a") => rest = more.get(1..).unwrap_or_default(),
            Some("-c" | "-l" | "-cl" | "--") => rest = more,
            Some(text) if text.starts_with("-a") => rest = more,
            Some(_) | None => break,
        }
    }
    if rest.is_empty() {
        return Done::quiet();
    }
    let done = machine.call_words(rest, Lookup::NoFunctions);
    Done { flow: Flow::Exit, ..done }
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
    if signals.iter().any(|signal| matches!(signal.as_exact(), Some("ERR" | "err"))) {
        machine.shell.at_error.clone_from(&command);
    }
    let before_every_command =
        signals.iter().any(|signal| matches!(signal.as_exact(), Some("DEBUG" | "debug")));
    if let (true, Some(text)) = (before_every_command, &command) {
        machine.run_at_every_command(text);
    }
    let at_exit =
        signals.iter().any(|signal| matches!(signal.as_exact(), Some("EXIT" | "0" | "exit" | "SIGEXIT")));
    if at_exit {
        machine.shell.at_exit.clone_from(&command);
    }
    let on_signal = signals.iter().any(|signal| {
        !matches!(
            signal.as_exact(),
            Some("EXIT" | "0" | "exit" | "SIGEXIT" | "ERR" | "err" | "DEBUG" | "debug")
        )
    });
    if let (true, Some(text)) = (on_signal, command)
        && machine.shell.at_exit.as_ref() != Some(&text)
        && !machine.shell.on_signals.contains(&text)
        && machine.shell.on_signals.len() < SIGNAL_TRAPS
    {
        machine.shell.on_signals.push(text);
    }
    Done::quiet()
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
    let ([Value::Exact(name)], Some(path)) = (operands.as_slice(), machine.variable("PATH")) else {
        return known_program(machine, words);
    };
    let is_own = machine.shell.functions.contains_key(name) || machine.shell.aliases.contains_key(name);
    let Some(directories) = path.as_exact().filter(|_| !is_own && !name.contains('/')) else {
        return known_program(machine, words);
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
    if sure && known.status == Status::Open {
        machine.absent = Some(Absence::Path);
        return Exit::failure();
    }
    known
}

/// Whether a program of that name can be run; only of built-ins and functions that is known.
fn known_program(machine: &mut Machine<'_>, words: &[Value]) -> Exit {
    let sure = words.iter().filter_map(Value::as_exact).all(|name| {
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

fn alias(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    for word in words {
        if let Some((name, text)) = word.as_exact().and_then(|text| text.split_once('=')) {
            machine.shell.aliases.insert(name.to_owned(), text.to_owned());
            machine.note_alias(name, text);
        }
    }
    Done::quiet()
}

fn history(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let flags = words.iter().filter_map(Value::as_exact).filter_map(|text| text.strip_prefix('-'));
    if flags.into_iter().any(|flags| flags.contains('c')) {
        machine.forget_history("erases what was typed");
    }
    Done::next(Exit { status: Status::Success, output: Output::Unknown })
}

fn let_expression(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut last = None;
    for word in words {
        last = word.as_exact().map(str::to_owned).and_then(|text| machine.arithmetic_text(&text));
    }
    Done::next(Exit::answer(last.map(|value| value != 0)))
}

fn getopts(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let none = match words.get(2..) {
        Some(arguments) if !arguments.is_empty() => false,
        _ => machine.shell.positional.as_ref().is_some_and(Vec::is_empty),
    };
    if none {
        return Done::next(Exit::failure());
    }
    if let Some(name) = words.get(1).and_then(Value::as_exact).map(str::to_owned) {
        machine.assign(&name, Value::Unknown);
    }
    machine.assign("OPTARG", Value::Unknown);
    Done::next(Exit::answer(None))
}
