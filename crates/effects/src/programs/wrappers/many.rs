//! Programs that run another program for the words of their input: `xargs`.

use std::collections::BTreeSet;

use crate::effect::Certainty;
use crate::interpreter::strings;
use crate::interpreter::strings::quoted_words;
use crate::interpreter::{Call, Exit, Input, Machine, Output, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::programs::find::with_found;
use crate::programs::names_in_text::handed_behind;

use super::Peeled;

/// The greatest number of runs of a program for the words of a known text (ours).
pub(super) const RUNS: usize = 64;
/// The greatest number of known words of which one stands for each (ours).
const LISTED: usize = 1024;

/// What a program that runs another for the words of its input knows about these words.
pub(super) enum Words {
    /// Exactly these.
    These(Vec<Value>),
    /// Any number of words, each as said.
    Many(Value),
}

impl Words {
    /// What is known of any of them.
    pub(super) fn any(&self) -> Value {
        match self {
            Self::These(words) => {
                words.iter().cloned().reduce(|left, right| left.join(&right)).unwrap_or(Value::Unknown)
            }
            Self::Many(value) => value.clone(),
        }
    }
}

pub(super) fn words_of(input: &Input, lines: bool, separator: Option<char>) -> Words {
    let cut = |text: &str| -> Vec<String> {
        match separator {
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
        }
    };
    match input {
        Input::Text(Value::Exact(text)) => Words::These(cut(text).into_iter().map(Value::Exact).collect()),
        // A pattern stands for any number of words; others may have been printed beside it.
        Input::Text(Value::Glob(text)) => {
            let words: Vec<Value> = cut(text).into_iter().map(Value::of_pattern).collect();
            match words.as_slice() {
                [only] => Words::Many(only.clone()),
                _ => Words::These(words),
            }
        }
        Input::Text(Value::AnyOf(texts)) if texts.iter().all(|text| !text.trim_end().contains('\n')) => {
            Words::Many(Value::one_of(texts.iter().map(|text| text.trim_end().to_owned()).collect()))
        }
        // One name is the rule for what is printed behind a known beginning.
        Input::Text(Value::Between { prefix, suffix })
            if !prefix.is_empty() && !prefix.contains(char::is_whitespace) =>
        {
            let suffix = suffix.trim_end().to_owned();
            Words::Many(Value::Between { prefix: prefix.clone(), suffix })
        }
        Input::Inherited
        | Input::Text(_)
        | Input::Network(_)
        | Input::Secret(_)
        | Input::Local(_)
        | Input::Unknown => Words::Many(Value::Unknown),
    }
}

/// What is known of each of many words.
fn any_of(words: &[Value]) -> Value {
    let texts: Option<Vec<String>> = words.iter().map(|word| word.as_exact().map(str::to_owned)).collect();
    match texts {
        Some(texts) if texts.len() <= LISTED => Value::one_of(texts),
        Some(_) | None => {
            words.iter().cloned().reduce(|left, right| left.join(&right)).unwrap_or(Value::Unknown)
        }
    }
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
                Words::Many(any_of(&words))
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
                let found = batch.iter().find(|word| matches!(word, Value::Glob(_)));
                let found = found.cloned().unwrap_or(Value::Unknown);
                let handed = placeholder
                    .as_deref()
                    .and_then(|mark| handed_behind(machine, &command, mark, &found, &found));
                let full = handed.unwrap_or_else(|| filled(&command, placeholder.as_deref(), &batch));
                let exit = with_found(machine, &found, |machine| machine.run_words(&full, empty.clone()));
                output = output.followed_by(exit.output);
            }
            Exit::with(output)
        }
        Words::Many(_) if input == Input::Inherited => {
            // Nothing was connected. What the words themselves say runs, if anything comes in at all.
            machine.possibly(|machine| machine.run_words(&command, empty))
        }
        Words::Many(value) => {
            let names = machine.names_listed(&Output::from_input(&input)).unwrap_or_else(|| value.clone());
            let handed = placeholder
                .as_deref()
                .and_then(|mark| handed_behind(machine, &command, mark, &value, &names));
            let full = handed
                .unwrap_or_else(|| filled(&command, placeholder.as_deref(), std::slice::from_ref(&value)));
            if matches!(value, Value::Glob(_)) {
                with_found(machine, &value, |machine| machine.run_words(&full, empty))
            } else {
                machine.with_words_from(&Output::from_input(&input), |machine| match &value {
                    Value::AnyOf(texts) if texts.len() > RUNS => run_for_each(machine, &value, &full),
                    _ => machine.possibly(|machine| machine.run_words(&full, empty)),
                })
            }
        }
    }
}

/// Runs a command for each of many known words: what becomes of the file that a word names is as certain as that it runs.
fn run_for_each(machine: &mut Machine<'_>, word: &Value, command: &[Value]) -> Exit {
    let before = machine.effect_count();
    let exit = machine.run_words(command, Input::Text(Value::exact("")));
    if !machine.is_in_doubt() {
        // The word itself, or a longer one that it was put into (`/tmp/{}`).
        let longer = command.iter().filter(|part| matches!(part, Value::AnyOf(_)));
        let named: BTreeSet<AbsolutePath> = longer
            .chain([word])
            .flat_map(|word| machine.paths(word).into_iter().chain(machine.paths_through(word)))
            .filter_map(|aim| aim.target.path().cloned())
            .collect();
        machine.amend(before, |effect| {
            let is_named = effect.target.path().is_some_and(|path| named.contains(path));
            if is_named && effect.nature == Nature::Ordinary {
                effect.certainty = Certainty::Certain;
            }
        });
    }
    exit
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_text_are_read_with_their_quotes() {
        assert_eq!(quoted_words("a 'b c'\n\"d\"e \\ f"), ["a", "b c", "de", " f"]);
    }
}
