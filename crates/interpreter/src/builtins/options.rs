//! `getopts`: the options of a script or function, one by one.

use crate::{Done, Exit, Machine, Speech, Status, Value, VariableContent};

/// A variable that nobody can name: how far the words were read, what `OPTIND` said then, and the words. As a variable it is joined and
/// forgotten as the others are.
const READ: &str = "options that were read";

/// An option among the words of a call.
struct Found {
    letter: String,
    argument: Option<String>,
    /// What `OPTIND` says behind it.
    next: usize,
}

/// The options among the words of a call.
struct Options {
    found: Vec<Found>,
    /// What `OPTIND` says behind all of them.
    end: usize,
}

/// The next option and what belongs to it. Where it is not known how far the words were read, it may be any of them.
pub(super) fn getopts(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let arguments = match words.get(2..) {
        Some(arguments) if !arguments.is_empty() => Some(arguments.to_vec()),
        _ => machine.shell.positional.clone(),
    };
    let texts = arguments.and_then(|words| {
        words.iter().map(|word| word.as_exact().map(str::to_owned)).collect::<Option<Vec<String>>>()
    });
    let letters = words.first().and_then(Value::as_exact).filter(|_| machine.shell.speech == Speech::Bash);
    let known = letters.zip(texts.as_ref()).and_then(|(letters, texts)| options_in(letters, texts));
    let place = texts.as_ref().and_then(|texts| turn(machine, texts));
    let (option, argument, next, status) = match (known, place) {
        (Some(options), Some(turn)) => {
            let words = texts.as_deref().unwrap_or_default();
            if let Some(found) = options.found.get(turn) {
                let argument = found.argument.clone().unwrap_or_default();
                remember(machine, turn + 1, found.next, words);
                let letter = Value::exact(found.letter.as_str());
                (letter, Value::exact(argument), Value::Exact(found.next.to_string()), Status::Success)
            } else {
                remember(machine, turn, options.end, words);
                let end = Value::Exact(options.end.to_string());
                (Value::exact("?"), Value::exact(""), end, Status::Failure)
            }
        }
        (Some(options), None) => {
            let (letters, arguments): (Vec<String>, Vec<Option<String>>) =
                options.found.into_iter().map(|found| (found.letter, found.argument)).unzip();
            let letters = letters.into_iter().chain(["?".to_owned()]).collect();
            let arguments = arguments.into_iter().flatten().chain([String::new()]).collect();
            (Value::one_of(letters), Value::one_of(arguments), Value::Unknown, Status::Open)
        }
        (None, _) => (Value::Unknown, Value::Unknown, Value::Unknown, Status::Open),
    };
    if let Some(name) = words.get(1).and_then(Value::as_exact).map(str::to_owned) {
        machine.assign_named(&name, option);
    }
    machine.assign("OPTARG", argument);
    machine.assign("OPTIND", next);
    Done::next(Exit { status, ..Exit::success() })
}

/// How many options of these words were read; `None` where that is not known.
fn turn(machine: &Machine<'_>, words: &[String]) -> Option<usize> {
    let place = machine.shell.variables.get("OPTIND").map(|variable| &variable.content);
    let begins = match place {
        None | Some(VariableContent::Unset) => return Some(0),
        Some(VariableContent::Scalar(value)) => value.as_exact()?,
        Some(_) => return None,
    };
    let kept = match machine.shell.variables.get(READ).map(|variable| &variable.content) {
        Some(VariableContent::Scalar(value)) => value.as_exact()?.to_owned(),
        Some(_) => return None,
        None => String::new(),
    };
    let mut parts = kept.splitn(3, ' ');
    let (turn, expected, read) = (parts.next()?.parse().ok(), parts.next(), parts.next());
    match (turn, expected) {
        (Some(turn), Some(expected)) if expected == begins => {
            (turn == 0 || read == Some(words.join("\0").as_str())).then_some(turn)
        }
        _ if begins == "1" => Some(0),
        _ => None,
    }
}

fn remember(machine: &mut Machine<'_>, turn: usize, next: usize, words: &[String]) {
    machine.assign(READ, Value::Exact(format!("{turn} {next} {}", words.join("\0"))));
}

/// The options in the words of a call; `None` where they are not all in the list of letters.
fn options_in(letters: &str, words: &[String]) -> Option<Options> {
    let takes = |letter: char| {
        let behind = letters.split_once(letter)?.1;
        (letter != ':').then(|| behind.starts_with(':'))
    };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(group) = words.get(at).and_then(|word| word.strip_prefix('-')) {
        if group.is_empty() {
            break;
        }
        at += 1;
        if group == "-" {
            break;
        }
        for (place, letter) in group.char_indices() {
            let attached = group.get(place + letter.len_utf8()..).unwrap_or_default();
            let argument = match (takes(letter)?, attached) {
                (false, _) => None,
                (true, "") => {
                    at += 1;
                    Some(words.get(at - 1)?.clone())
                }
                (true, attached) => Some(attached.to_owned()),
            };
            let is_last = argument.is_some() || attached.is_empty();
            // Counted from one; inside a group it is the word that the group is.
            let next = if is_last { at + 1 } else { at };
            found.push(Found { letter: letter.to_string(), argument, next });
            if is_last {
                break;
            }
        }
    }
    Some(Options { found, end: at + 1 })
}
