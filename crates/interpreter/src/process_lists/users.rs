//! Whose numbers `lsof` and `fuser` show: those of whoever has a file open, runs it, or listens on a port.

use checkrein_facts::hook_line::HOOK_PROGRAM;

use super::{ListedProcesses, named_in};
use crate::guarded::PARENT;
use crate::path::AbsolutePath;
use crate::{Call, Machine, Value};

/// The letters of `lsof` behind which a value stands (lsof(8), 4.99).
const WITH_VALUES: &str = "AcdDeFfgikKmoprsSTuxzZ";

/// The letters of `fuser` that take whoever is on a file system, and their long names (fuser(1)).
const OF_MOUNT: [char; 3] = ['m', 'M', 'c'];
const OF_MOUNT_LONG: [&str; 2] = ["--mount", "--ismountpoint"];

/// The shells that clients give the command line of a hook to.
pub const SHELLS: [&str; 4] = ["sh", "bash", "dash", "zsh"];

/// Whoever uses a file, a directory or a place below it. The guard, where the file is of its own; whoever there is, where everybody uses it.
pub fn users_of(machine: &Machine<'_>, file: &Value) -> ListedProcesses {
    let somebody = || ListedProcesses::Chosen("whoever uses a file".to_owned());
    let guard = || ListedProcesses::Named(HOOK_PROGRAM.to_owned());
    if [file.known_start(), file.known_end()].iter().any(|part| part.contains(HOOK_PROGRAM)) {
        return guard();
    }
    let texts: Vec<String> = match file {
        Value::Exact(text) => vec![text.clone()],
        Value::AnyOf(texts) => texts.clone(),
        Value::Glob(_) | Value::Between { .. } | Value::Unknown => return somebody(),
    };
    let found = texts.iter().filter(|text| !text.is_empty()).filter_map(|text| {
        let path = machine.one_path_through(&Value::exact(text.as_str()))?;
        let name = path.name().unwrap_or_default();
        let of_guard = machine.world().guarded();
        if text.contains(HOOK_PROGRAM) || of_guard.iter().any(|guarded| path.is_within(&guarded.path)) {
            return Some(guard());
        }
        let is_shell = SHELLS.contains(&name) && path.as_str().ends_with(&format!("bin/{name}"));
        if is_shell {
            return Some(ListedProcesses::Named(name.to_owned()));
        }
        is_everybodys(machine, &path).then_some(ListedProcesses::All)
    });
    found.max_by_key(weight).unwrap_or_else(somebody)
}

/// Whoever uses anything in a directory. The guard, where its program or its records lie there; whoever there is, where it is not known.
fn users_in(machine: &Machine<'_>, folder: &Value) -> ListedProcesses {
    let Some(path) = machine.one_path_through(folder) else { return ListedProcesses::All };
    let of_guard = machine.world().guarded();
    let is_below = of_guard.iter().any(|guarded| {
        guarded.path.is_within(&path) && !guarded.path.is_within(&machine.world().place().workspace)
    });
    if is_below { ListedProcesses::Named(HOOK_PROGRAM.to_owned()) } else { users_of(machine, folder) }
}

/// Whether programs that have nothing to do with each other use a file: the client and the guard too.
fn is_everybodys(machine: &Machine<'_>, path: &AbsolutePath) -> bool {
    let is_library = path.name().is_some_and(|name| name.contains(".so") || name.ends_with(".dylib"));
    let is_in = |top: &str| path.as_str().starts_with(top);
    let is_device = is_in("/dev/") && !is_in("/dev/shm/") && !is_in("/dev/tty") && !is_in("/dev/video");
    let is_around = machine.cwd().is_some_and(|cwd| cwd.is_within(path));
    is_around || is_device || is_in("/proc/") || is_library && (is_in("/lib") || is_in("/usr/lib"))
}

/// How much of what matters a list holds.
fn weight(list: &ListedProcesses) -> u8 {
    match list {
        ListedProcesses::Named(name) if name == HOOK_PROGRAM => 4,
        ListedProcesses::All | ListedProcesses::Counted => 3,
        ListedProcesses::Named(_) => 2,
        ListedProcesses::Chosen(_) => 1,
    }
}

/// What the words of `lsof` or `fuser` list.
pub(super) fn listed(machine: &Machine<'_>, call: &Call) -> ListedProcesses {
    if call.program == "fuser" { of_fuser(machine, call) } else { of_lsof(machine, call) }
}

fn of_fuser(machine: &Machine<'_>, call: &Call) -> ListedProcesses {
    let is_option = |word: &&Value| word.known_start().starts_with('-');
    let given =
        |names: &[&str]| call.words.iter().filter_map(Value::as_exact).any(|word| names.contains(&word));
    let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains(OF_MOUNT);
    if given(&OF_MOUNT_LONG) || call.words.iter().filter_map(Value::as_exact).any(is_short) {
        return ListedProcesses::All;
    }
    let is_port = |file: &&Value| file.known_end().ends_with("/tcp") || file.known_end().ends_with("/udp");
    if given(&["-n", "--namespace"]) {
        return ListedProcesses::Chosen("whoever uses a port".to_owned());
    }
    let files = call.words.iter().filter(|word| !is_option(word) && !is_port(word));
    let all = files.map(|file| users_of(machine, file));
    all.max_by_key(weight).unwrap_or_else(|| ListedProcesses::Chosen("whoever uses a port".to_owned()))
}

/// Each selection adds to the others, unless `-a` takes what all of them leave.
fn of_lsof(machine: &Machine<'_>, call: &Call) -> ListedProcesses {
    let mut found: Vec<ListedProcesses> = Vec::new();
    let (mut is_narrowed, mut by_port) = (false, false);
    let mut words = call.words.iter().peekable();
    let mut ended = false;
    while let Some(word) = words.next() {
        let start = word.known_start();
        if ended || !start.starts_with(['-', '+']) {
            found.push(users_of(machine, word));
            continue;
        }
        if start == "--" {
            ended = true;
            continue;
        }
        if let Some(folder) = start.strip_prefix("+d").or_else(|| start.strip_prefix("+D")) {
            let folder = if folder.is_empty() { words.next().cloned() } else { Some(Value::exact(folder)) };
            found.extend(folder.map(|folder| users_in(machine, &folder)));
            continue;
        }
        let Some((letter, attached)) = valued(&start) else {
            is_narrowed |= start.contains('a');
            continue;
        };
        is_narrowed |= start.split(letter).next().is_some_and(|flags| flags.contains('a'));
        let is_optional =
            matches!(letter, 'i' | 'D' | 'F' | 'g' | 'k' | 'm' | 'o' | 'r' | 's' | 'S' | 'T' | 'K');
        let value = if !attached.is_empty() {
            Value::exact(attached)
        } else if is_optional {
            // An address, or a number, may stand in the next word.
            let is_value = |next: &&Value| {
                let start = next.known_start();
                start.starts_with(|c: char| c.is_ascii_digit() || matches!(c, ':' | '@'))
                    || start.to_ascii_lowercase().starts_with("tcp")
                    || start.to_ascii_lowercase().starts_with("udp")
            };
            words.next_if(is_value).cloned().unwrap_or(Value::exact(""))
        } else {
            words.next().cloned().unwrap_or(Value::Unknown)
        };
        match letter {
            'i' => by_port = true,
            'c' => found.push(named_in(&value.known_start())),
            'p' if value.as_exact() == Some(PARENT) => found.push(ListedProcesses::Chosen(PARENT.to_owned())),
            'p' => found.push(ListedProcesses::Chosen("a process by its number".to_owned())),
            'u' | 'd' | 'g' => found.push(ListedProcesses::All),
            _ => {}
        }
    }
    let port = || ListedProcesses::Chosen("whoever uses a port".to_owned());
    match found.into_iter().max_by_key(weight) {
        Some(_) if by_port && is_narrowed => port(),
        Some(list) => list,
        None if by_port => port(),
        None => ListedProcesses::All,
    }
}

/// The letter of an option that takes a value, and what is attached to it; `None` where there are flags alone.
fn valued(option: &str) -> Option<(char, &str)> {
    let letters = option.strip_prefix(['-', '+'])?;
    let (at, letter) = letters.char_indices().find(|(_, letter)| WITH_VALUES.contains(*letter))?;
    Some((letter, letters.get(at + letter.len_utf8()..).unwrap_or_default()))
}
