//! Built-ins that say what a name stands for, and those that run text which they were given: `alias`, `hash`, `history`, `fc`,
//! `compgen`, `enable`.

use crate::shell::HISTORY;
use crate::world::Listing;
use crate::{Done, Exit, Machine, Output, ShellUser, Status, Value};

fn answered() -> Done {
    Done::next(Exit { status: Status::Success, output: Output::Unknown })
}

/// The value of an option: `-C text`, `-Ctext`.
fn valued<'w>(words: &'w [Value], option: &str) -> Option<std::borrow::Cow<'w, Value>> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.as_exact() else { continue };
        if text == option {
            return words.next().map(std::borrow::Cow::Borrowed);
        }
        if let Some(rest) = text.strip_prefix(option) {
            return Some(std::borrow::Cow::Owned(Value::exact(rest)));
        }
    }
    None
}

pub(super) fn alias(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    for word in words {
        if let Some((name, text)) = word.as_exact().and_then(|text| text.split_once('=')) {
            machine.shell.aliases.insert(name.to_owned(), text.to_owned());
            machine.note_reading(name, text);
            machine.note_alias(name, text);
        }
    }
    Done::quiet()
}

/// Names of directories of zsh (zshbuiltins(1), "hash"): `hash -d name=directory`.
fn name_directories(machine: &mut Machine<'_>, words: &[Value]) {
    for word in words {
        if let Some((name, directory)) = super::assignment(word) {
            // A directory that begins with `~` is expanded here too.
            let directory = match directory.as_exact().and_then(|text| text.strip_prefix('~')) {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => machine
                    .variable("HOME")
                    .map_or(Value::Unknown, |home| home.followed_by(&Value::exact(rest))),
                Some(_) | None => directory,
            };
            machine.shell.named_directories.insert(name, directory);
        }
    }
}

/// `hash -p path name`
pub(super) fn hash(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let is_of_directories =
        |word: &Value| word.as_exact().is_some_and(|text| text.starts_with('-') && text.contains('d'));
    if machine.shell.options.is_zsh && words.iter().any(is_of_directories) {
        name_directories(machine, words);
        return Done::quiet();
    }
    if let Some(path) = valued(words, "-p") {
        let name = words.last().and_then(Value::as_exact).map(str::to_owned);
        match (path.as_exact(), name) {
            (Some(path), Some(name)) => machine.stands_for(&name, &quoted(path)),
            _ => machine.unread("what a name of a program stands for is not known"),
        }
        return Done::quiet();
    }
    let operands: Vec<Value> =
        words.iter().filter(|word| !word.known_start().starts_with('-')).cloned().collect();
    if words.iter().any(|word| word.as_exact() == Some("-t")) && operands.len() == 1 {
        return Done::next(super::whereabouts(machine, &operands));
    }
    Done::next(super::known_program(machine, words))
}

/// `type -P name` prints where a program is.
pub(super) fn kind_of_command(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let asks = |letters: [char; 2]| {
        let options = words.iter().filter_map(Value::as_exact).filter_map(|text| text.strip_prefix('-'));
        options.into_iter().any(|option| option.contains(letters))
    };
    let names: Vec<Value> =
        words.iter().filter(|word| !word.known_start().starts_with('-')).cloned().collect();
    Done::next(if asks(['p', 'P']) && names.len() == 1 {
        super::whereabouts(machine, &names)
    } else {
        super::known_program(machine, words)
    })
}

/// The names of all functions that there are, when each is one for certain.
fn names_of_functions(machine: &Machine<'_>) -> Option<Vec<String>> {
    let is_sure = machine.shell.alternatives.is_empty();
    is_sure.then(|| machine.shell.functions.keys().cloned().collect())
}

fn lines_of(start: &str, names: &[String]) -> String {
    names.iter().flat_map(|name| [start, name.as_str(), "\n"]).collect()
}

/// `declare -F`: the functions, each as `declare -f name`.
pub(super) fn listed_functions(machine: &Machine<'_>) -> Done {
    let names = names_of_functions(machine);
    let lines = names.map(|names| lines_of("declare -f ", &names));
    Done::next(lines.map_or(Exit::unknown(), |text| Exit::printing(Value::Exact(text))))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// `enable -f file name` puts code into the shell.
pub(super) fn enable(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    if valued(words, "-f").is_some() {
        machine.unread("loads code into the shell");
    }
    // Without its own `exit` a shell goes on behind one, and a program of that name may be anything.
    if words.iter().filter_map(Value::as_exact).any(|text| text.starts_with('-') && text.contains('n')) {
        machine.unread("switches commands of the shell off");
        machine.shell.is_without_commands = true;
    }
    answered()
}

/// `compgen` tries at once what it is given.
pub(super) fn completion(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    if let Some(list) = valued(words, "-W") {
        machine.possibly(|machine| machine.run_word_list(&list));
        // The words are printed.
        if let Some(secret) = machine.secret_held(&list) {
            return Done::next(Exit::with(secret));
        }
    }
    if let Some(text) = valued(words, "-C") {
        machine.run_callback(&text);
    }
    if let Some(name) = valued(words, "-F")
        && name.as_exact().is_some_and(|name| machine.shell.functions.contains_key(name))
    {
        machine.run_callback(&name);
    }
    if valued(words, "-A").is_some_and(|kind| kind.as_exact() == Some("function"))
        && let Some(names) = names_of_functions(machine)
    {
        let is_plain = words.len() == 2;
        return Done::next(Exit::printing(if is_plain {
            Value::Exact(lines_of("", &names))
        } else {
            // What is left out is not followed.
            Value::one_of(names.iter().map(|name| format!("{name}\n")).take(Value::CHOICES).collect())
        }));
    }
    match files_completed(machine, words) {
        Some(names) => Done::next(Exit::printing(Value::Exact(names))),
        None => answered(),
    }
}

/// The names of files that `compgen -f PREFIX` and `compgen -G PATTERN` print.
fn files_completed(machine: &Machine<'_>, words: &[Value]) -> Option<String> {
    let texts: Vec<&str> = words.iter().map(Value::as_exact).collect::<Option<_>>()?;
    let (wanted, is_pattern) = match texts.as_slice() {
        ["-f"] | ["-A", "file"] => ("", false),
        ["-f", wanted] | ["-A", "file", wanted] | ["-f", "--", wanted] => (*wanted, false),
        ["-G", wanted] => (*wanted, true),
        _ => return None,
    };
    let (directory, last) = wanted.rsplit_once('/').map_or((".", wanted), |(before, last)| (before, last));
    let aims = machine.paths_through(&Value::exact(if directory.is_empty() { "/" } else { directory }));
    let [aim] = aims.as_slice() else { return None };
    let Listing::Names(names) = machine.children(aim.target.path()?) else { return None };
    let before = wanted.strip_suffix(last).unwrap_or_default();
    let fits = |name: &String| {
        if is_pattern {
            (!name.starts_with('.') || last.starts_with('.')) && crate::world::name_matches(last, name)
        } else {
            name.starts_with(last)
        }
    };
    Some(names.iter().filter(|name| fits(name)).flat_map(|name| [before, name, "\n"]).collect())
}

/// Puts the last lines of a file into the history.
pub(super) fn remember_lines(machine: &mut Machine<'_>, file: &Value) {
    let Some(path) = machine.one_path_through(file) else { return };
    let Some(text) = machine.text(&path).as_exact().map(str::to_owned) else { return };
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.len().saturating_sub(HISTORY / 2);
    for line in lines.get(start..).unwrap_or_default() {
        machine.shell.remember(line);
    }
}

pub(super) fn history(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let has = |letter: char| {
        words
            .iter()
            .filter_map(Value::as_exact)
            .any(|text| text.strip_prefix('-').is_some_and(|flags| flags.contains(letter)))
    };
    // What the shell remembers by itself is gone when it ends; only what is written from it takes the place of the file.
    let was_emptied = machine.shell.history_is_emptied;
    machine.shell.history_is_emptied |= has('c');
    if (was_emptied || has('c')) && (has('w') || machine.position.shell_user == ShellUser::Person) {
        machine.forget_history("erases what was typed");
    }
    for option in ["-w", "-a"] {
        let Some(place) = words.iter().position(|word| word.as_exact() == Some(option)) else { continue };
        match words.get(place + 1) {
            Some(file) => machine.write(file),
            None => write_history(machine),
        }
    }
    for option in ["-r", "-n"] {
        if let Some(place) = words.iter().position(|word| word.as_exact() == Some(option)) {
            let file = words.get(place + 1).cloned().or_else(|| machine.variable("HISTFILE"));
            if let Some(file) = file {
                remember_lines(machine, &file);
            }
        }
    }
    if let Some(place) = words.iter().position(|word| word.as_exact() == Some("-s")) {
        let line = crate::strings::joined(words.get(place + 1..).unwrap_or_default(), " ");
        if let Some(text) = line.as_exact() {
            if machine.shell.options.history {
                // It takes the place of the line that says so.
                machine.shell.history.pop();
            }
            machine.shell.remember(text);
        }
    }
    answered()
}

/// Writes the history into the file that the command itself has named for it. The usual one is written anyway when a shell ends.
pub(super) fn write_history(machine: &mut Machine<'_>) {
    if let Some(file) = machine.history_file_given().filter(|file| !machine.is_history_file(file)) {
        machine.write(&file);
    }
}

/// `fc` runs lines of the history again, but for `-l`, which shows them, and the ways of zsh to write it (zshbuiltins(1): `-W`, `-A`, and
/// `-p`, which writes at `-P` and at the end).
pub(super) fn fc(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let flags = words.first().and_then(Value::as_exact).unwrap_or_default();
    if flags.starts_with('-') && flags.contains(['W', 'A', 'p', 'P']) {
        match words.get(1) {
            Some(file) => machine.write(file),
            None => write_history(machine),
        }
        return answered();
    }
    if words.iter().filter_map(Value::as_exact).any(|text| text.starts_with('-') && text.contains('l')) {
        return answered();
    }
    // The line that says so is no line before it.
    let history = std::mem::take(&mut machine.shell.history);
    for line in &history {
        machine.perhaps(|machine| machine.run_here(&Value::exact(line.as_str())));
    }
    machine.shell.history = history;
    // With `-e` an editor is run, whatever that is.
    if let Some(editor) = valued(words, "-e") {
        machine.run_callback(&editor);
    }
    answered()
}
