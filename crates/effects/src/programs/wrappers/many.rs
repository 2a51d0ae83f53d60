//! Programs that run another program for the words of their input: `xargs`, `parallel`.

use crate::interpreter::{Call, Exit, Input, Machine, Output, Value};
use crate::programs::find::with_found;
use crate::programs::strings;

use super::Peeled;

/// The greatest number of runs of a program for the words of a known text (ours).
const RUNS: usize = 64;

/// What a program that runs another for the words of its input knows about these words.
enum Words {
    /// Exactly these.
    These(Vec<Value>),
    /// Any number of words, each as said.
    Many(Value),
}

fn words_of(input: &Input, lines: bool, separator: Option<char>) -> Words {
    match input {
        Input::Text(Value::Exact(text)) => {
            let words: Vec<String> = match separator {
                Some(separator) => text
                    .trim_end_matches('\n')
                    .split(separator)
                    .filter(|word| !word.is_empty())
                    .map(str::to_owned)
                    .collect(),
                None if lines => {
                    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
                }
                None => quoted_words(text),
            };
            Words::These(words.into_iter().map(Value::Exact).collect())
        }
        Input::Text(value @ Value::Glob(_)) => Words::Many(value.clone()),
        Input::Text(Value::AnyOf(texts)) if texts.iter().all(|text| !text.trim_end().contains('\n')) => {
            Words::Many(Value::one_of(texts.iter().map(|text| text.trim_end().to_owned()).collect()))
        }
        Input::Inherited
        | Input::Text(_)
        | Input::Network(_)
        | Input::Secret(_)
        | Input::Local(_)
        | Input::Unknown => Words::Many(Value::Unknown),
    }
}

/// The words of a text, with quotes and backslashes undone as `xargs` does.
pub(in crate::programs) fn quoted_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// `xargs`
pub(crate) fn xargs(machine: &mut Machine<'_>, call: &Call) -> Exit {
    const LONG: &[&str] = &[
        "arg-file",
        "delimiter",
        "eof",
        "replace",
        "max-lines",
        "max-args",
        "max-procs",
        "max-chars",
        "process-slot-var",
    ];
    let peeled = Peeled::new(&call.words, "adEILnPsJRS", LONG);
    if peeled.is_question() {
        return Exit::unknown();
    }
    let input = match peeled.value(&["-a", "--arg-file"]) {
        Some(file) => machine.read(file).into_input(),
        None => call.input.clone(),
    };
    let placeholder = match peeled
        .options
        .iter()
        .find(|(name, _)| matches!(name.as_str(), "-I" | "-i" | "--replace" | "-J"))
    {
        Some((_, Some(value))) => Some(value.as_exact().unwrap_or("{}").to_owned()),
        Some((_, None)) => Some("{}".to_owned()),
        None => None,
    };
    let separator = if peeled.has(&["-0", "--null"]) {
        Some('\0')
    } else {
        peeled
            .value(&["-d", "--delimiter"])
            .and_then(Value::as_exact)
            .and_then(|text| strings::unescaped(text).as_exact()?.chars().next())
    };
    let each = peeled
        .value(&["-n", "--max-args", "-L", "--max-lines"])
        .and_then(Value::as_exact)
        .and_then(|text| text.parse().ok());
    let command = if peeled.rest.is_empty() { vec![Value::exact("echo")] } else { peeled.rest.clone() };
    let empty = Input::Text(Value::exact(""));
    let words = words_of(&input, placeholder.is_some(), separator);
    let words = match words {
        Words::These(words) if placeholder.is_some() || each.is_some() => {
            if words.len() > RUNS {
                Words::Many(
                    words.into_iter().reduce(|left, right| left.join(&right)).unwrap_or(Value::Unknown),
                )
            } else {
                Words::These(words)
            }
        }
        other => other,
    };
    match words {
        Words::These(words) => {
            if words.is_empty() {
                let skipped = placeholder.is_some() || peeled.has(&["-r", "--no-run-if-empty"]);
                return if skipped { Exit::success() } else { machine.run_words(&command, empty) };
            }
            let mut output = Output::Nothing;
            let batches: Vec<Vec<Value>> = match (&placeholder, each) {
                (Some(_), _) => words.into_iter().map(|word| vec![word]).collect(),
                (None, Some(size)) => words.chunks(std::cmp::max(size, 1)).map(<[Value]>::to_vec).collect(),
                (None, None) => vec![words],
            };
            for batch in batches {
                let full = filled(&command, placeholder.as_deref(), &batch);
                output = output.followed_by(machine.run_words(&full, empty.clone()).output);
            }
            Exit::with(output)
        }
        Words::Many(_) if input == Input::Inherited => {
            // Nothing was connected. What the words themselves say runs, if anything comes in at all.
            machine.possibly(|machine| machine.run_words(&command, empty))
        }
        Words::Many(value) => {
            let full = filled(&command, placeholder.as_deref(), std::slice::from_ref(&value));
            if matches!(value, Value::Glob(_)) {
                with_found(machine, &value, |machine| machine.run_words(&full, empty))
            } else {
                machine.with_words_from(&Output::from_input(&input), |machine| {
                    machine.possibly(|machine| machine.run_words(&full, empty))
                })
            }
        }
    }
}

/// The command with words put in for the placeholder, or behind it.
fn filled(command: &[Value], placeholder: Option<&str>, words: &[Value]) -> Vec<Value> {
    let Some(mark) = placeholder else { return command.iter().chain(words).cloned().collect() };
    let word = strings::joined(words, " ");
    command
        .iter()
        .map(|part| match part.as_exact() {
            Some(text) if text.contains(mark) => {
                let mut value = Value::exact("");
                for (index, piece) in text.split(mark).enumerate() {
                    if index > 0 {
                        value = value.followed_by(&word);
                    }
                    value = value.followed_by(&Value::exact(piece));
                }
                value
            }
            _ => part.clone(),
        })
        .collect()
}

/// `parallel`
pub(crate) fn parallel(machine: &mut Machine<'_>, call: &Call) -> Exit {
    // Programs that run others may be nested: what is read of the words is done with before they run.
    let planned = plan(machine, call);
    match planned.words {
        Words::These(words) => {
            for word in &words {
                let text = text_for(&planned.command, word);
                machine.run_text(&text, Input::Text(Value::exact("")));
            }
        }
        Words::Many(_) => {
            machine.with_words_from(&planned.source, |machine| many(machine, &planned.command));
        }
    }
    Exit::unknown()
}

/// What `parallel` runs, for which words, and where these come from.
struct Planned {
    command: Vec<Value>,
    words: Words,
    source: Output,
}

fn plan(machine: &mut Machine<'_>, call: &Call) -> Planned {
    let peeled = Peeled::new(
        &call.words,
        "jNnLPIaSd",
        &[
            "jobs",
            "max-args",
            "max-procs",
            "arg-file",
            "joblog",
            "results",
            "delay",
            "timeout",
            "sshlogin",
            "colsep",
        ],
    );
    if let Some(file) = peeled.value(&["--joblog", "--results"]) {
        machine.write(file);
    }
    let is_list = |word: &Value| matches!(word.as_exact(), Some(":::" | "::::" | ":::+"));
    let cut = peeled.rest.iter().position(is_list).unwrap_or(peeled.rest.len());
    let command = peeled.rest.get(..cut).unwrap_or_default();
    // Of what a program writes into the pipe it is not known whether it names files.
    let mut source = match Output::from_input(&call.input) {
        list @ Output::Local(_) => list,
        _ => Output::Nothing,
    };
    let words = match peeled.rest.get(cut) {
        Some(mark) if mark.as_exact() == Some(":::") => {
            let list = peeled.rest.get(cut + 1..).unwrap_or_default();
            let single = !list.iter().any(is_list);
            if single && list.len() <= RUNS {
                Words::These(list.to_vec())
            } else {
                Words::Many(Value::Unknown)
            }
        }
        Some(_) => {
            for file in peeled.rest.get(cut + 1..).unwrap_or_default() {
                source = machine.read(file);
            }
            Words::Many(Value::Unknown)
        }
        None => words_of(&call.input, true, None),
    };
    Planned { command: command.to_vec(), words, source }
}

/// The text that is run for a word.
fn text_for(command: &[Value], word: &Value) -> Value {
    let whole = strings::joined(command, " ");
    match whole.as_exact() {
        Some(whole) if command.is_empty() => Value::exact(whole).followed_by(word),
        Some(whole) if whole.contains("{}") => {
            filled(&[Value::exact(whole)], Some("{}"), std::slice::from_ref(word))
                .into_iter()
                .next()
                .unwrap_or(Value::Unknown)
        }
        Some(whole) if whole.contains('{') => Value::Unknown,
        _ => whole.followed_by(&Value::exact(" ")).followed_by(word),
    }
}

/// Runs a program for words that are not known.
fn many(machine: &mut Machine<'_>, command: &[Value]) -> Exit {
    match command {
        [] => {
            machine.possibly(|machine| machine.opaque("the commands that `parallel` runs are not known"));
            Exit::unknown()
        }
        [text] => machine.possibly(|machine| machine.run_text(text, Input::Unknown)),
        _ => {
            let mut full: Vec<Value> = command.to_vec();
            full.push(Value::Unknown);
            let full = filled(&full, Some("{}"), &[Value::Unknown]);
            machine.possibly(|machine| machine.run_words(&full, Input::Unknown))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_text_are_read_with_their_quotes() {
        assert_eq!(quoted_words("a 'b c'\n\"d\"e \\ f"), ["a", "b c", "de", " f"]);
    }
}
