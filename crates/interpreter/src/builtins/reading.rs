//! Built-ins that put text into variables: `read`, `mapfile`, `wait`.

use crate::strings;
use crate::{Done, Exit, Input, Machine, Output, Status, Value, VariableContent};

pub(super) fn read(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut names = Vec::new();
    let mut array = None;
    let mut delimiter = '\n';
    let mut raw = false;
    let mut descriptor = None;
    let mut count = None;
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
                        "n" | "N" => {
                            count = Some(value.as_exact().and_then(|text| text.parse::<usize>().ok()));
                        }
                        "u" => descriptor = value.as_exact().and_then(|text| text.parse::<u32>().ok()),
                        _ => {}
                    }
                }
            }
            Some(name) => {
                machine.evaluate_subscript(name);
                names.push(name.to_owned());
            }
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
    machine.note_typed(&input);
    let line = match &input {
        Input::Text(Value::Exact(all)) => {
            if all.is_empty() {
                for name in &names {
                    machine.assign_named(name, Value::exact(""));
                }
                return Done::next(Exit::failure());
            }
            let secret = machine.secret_held(&Value::exact(all.as_str()));
            if let Some(count) = count {
                let done = read_some(machine, &names, array.as_deref(), all, count);
                keep_secret(machine, names.iter().chain(&array), secret.as_ref());
                return done;
            }
            let end = line_end(all, delimiter, raw);
            let (line, more) = end.map_or((all.as_str(), ""), |end| {
                (
                    all.get(..end).unwrap_or_default(),
                    all.get(end + delimiter.len_utf8()..).unwrap_or_default(),
                )
            });
            let ended = end.is_some();
            let left = Input::Text(Value::exact(more));
            match (descriptor, opening.clone()) {
                (Some(number), Some(opening)) => machine.open_again(number, opening, left),
                _ => machine.input = left,
            }
            Some((line.to_owned(), ended, secret))
        }
        Input::Text(_)
        | Input::Inherited
        | Input::Network(_)
        | Input::Secret(_)
        | Input::Local(_)
        | Input::Unknown => None,
    };
    let Some((line, ended, secret)) = line else {
        let lines = match &input {
            Input::Text(Value::AnyOf(lines))
                if count.is_none() && lines.iter().all(|line| !line.trim_end().contains('\n')) =>
            {
                Some(lines)
            }
            _ => None,
        };
        let glob = match &input {
            // Paths that are read one by one are what their pattern says.
            Input::Text(Value::Glob(text)) if names.len() == 1 => Some(line_of_patterns(text, delimiter)),
            // One line is the rule for what is printed behind a known beginning.
            Input::Text(Value::Between { prefix, suffix })
                if names.len() == 1 && !prefix.is_empty() && !prefix.contains(char::is_whitespace) =>
            {
                let suffix = suffix.trim_end_matches('\n').to_owned();
                Some((Value::Between { prefix: prefix.clone(), suffix }, None))
            }
            _ => None,
        };
        let (glob, left) = glob.map_or((None, None), |(line, left)| (Some(line), left));
        let has_more = left.is_some();
        if let Some(left) = left {
            let left = Input::Text(left);
            match (descriptor, opening) {
                (Some(number), Some(opening)) => machine.open_again(number, opening, left),
                _ => machine.input = left,
            }
        }
        let known_list = lines.is_some() || glob.is_some();
        let mut fields = vec![Vec::new(); names.len()];
        for line in lines.into_iter().flatten().flat_map(|line| line.trim_end_matches('\n').split(delimiter))
        {
            let hidden = without_backslashes(line, raw);
            for (field, texts) in fields.iter_mut().zip(parts(machine, &hidden, names.len())) {
                field.extend(texts);
            }
        }
        for (name, field) in names.iter().zip(fields) {
            // A line from a long list is one of those that are there.
            let value = glob.clone().unwrap_or_else(|| Value::one_of(field));
            machine.assign_named(name, value);
        }
        if let Some(name) = &array {
            machine.assign_content(name, VariableContent::Unknown);
        }
        for name in names.iter().chain(&array) {
            keep_class(machine, name, &input);
        }
        let status = match known_list || input == Input::Inherited {
            true if has_more => Status::Success,
            true => Status::Unknown,
            false => Status::Open,
        };
        return Done::next(Exit { status, output: Output::Nothing });
    };
    let line = without_backslashes(&line, raw);
    if let Some(name) = array {
        let content = match machine.separators().as_slice() {
            [only] => {
                let items = strings::split(&line, only, usize::MAX).into_iter().enumerate();
                let item = |(index, text): (usize, String)| {
                    Some((i64::try_from(index).ok()?, Value::Exact(shown(&text))))
                };
                VariableContent::List(items.filter_map(item).collect())
            }
            _ => VariableContent::Unknown,
        };
        machine.assign_content(&name, content);
    } else {
        for (name, texts) in names.iter().zip(parts(machine, &line, names.len())) {
            machine.assign_named(name, Value::one_of(texts));
        }
    }
    let is_in_parts = names.len() > 1 || delimiter != '\n';
    keep_secret(machine, names.iter(), secret.as_ref().filter(|_| is_in_parts));
    // A last line without an end is read, and the command says failure: loops written for it test the variable too.
    Done::next(if ended { Exit::success() } else { Exit::failure() })
}

/// A line of a text that holds patterns, and what is left of the text behind it. Lines that are no patterns come first, and the last pattern
/// stays, as it may stand for any number of lines: how many there are is open to the end.
fn line_of_patterns(text: &str, delimiter: char) -> (Value, Option<Value>) {
    let mut lines: Vec<&str> = text
        .split(delimiter)
        .map(|line| line.trim_end_matches('\n'))
        .filter(|line| !line.is_empty())
        .collect();
    let first = lines.iter().position(|line| Value::of_pattern(*line).as_exact().is_some()).unwrap_or(0);
    if lines.len() < 2 {
        return (lines.pop().map_or_else(|| Value::exact(""), Value::of_pattern), None);
    }
    let line = Value::of_pattern(lines.remove(first));
    (line, Some(Value::of_pattern(lines.join(&delimiter.to_string()))))
}

/// Where a line ends; `None` where nothing ends it. Behind a backslash nothing does, unless that is left as it is.
fn line_end(text: &str, delimiter: char, raw: bool) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(place, c)| {
        let is_end = c == delimiter && !escaped;
        escaped = c == '\\' && !escaped && !raw;
        is_end.then_some(place)
    })
}

/// The first of the signs that stand for ASCII characters which separate nothing: no text holds them (Unicode, private use).
const HIDDEN: u32 = 0xF_0000;

/// A line without the backslashes that `read` takes away where it is not told to leave them. What stands behind one separates no words.
fn without_backslashes(line: &str, raw: bool) -> String {
    if raw {
        return line.to_owned();
    }
    let mut read = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match if c == '\\' { rest.next() } else { Some(c) } {
            // The line goes on.
            Some('\n') if c == '\\' => {}
            Some(next) if c == '\\' && next.is_ascii() => {
                read.extend(char::from_u32(HIDDEN + u32::from(next)));
            }
            Some(next) => read.push(next),
            None => {}
        }
    }
    read
}

/// The words as they are, when they are taken apart.
fn shown(text: &str) -> String {
    let plain = |c: char| u32::from(c).checked_sub(HIDDEN).filter(|c| *c < 128).and_then(char::from_u32);
    text.chars().map(|c| plain(c).unwrap_or(c)).collect()
}

/// What each of so many variables may hold of a line that is taken apart, with each text that may separate its words.
fn parts(machine: &Machine<'_>, line: &str, count: usize) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new(); count];
    for separators in machine.separators() {
        let mut parts = strings::split(line, &separators, count.max(1)).into_iter();
        all.iter_mut().for_each(|texts| texts.push(shown(&parts.next().unwrap_or_default())));
    }
    all
}

/// `read -n`: some characters at the beginning, as far as that is known. What is left can be anything.
fn read_some(
    machine: &mut Machine<'_>,
    names: &[String],
    array: Option<&str>,
    all: &str,
    count: Option<usize>,
) -> Done {
    let text: Option<String> =
        count.filter(|count| *count > 0).map(|count| all.chars().take(count).collect());
    let plain = text.filter(|text| text.chars().all(|c| c.is_ascii_alphanumeric()));
    let length = plain.as_deref().map_or(0, str::len);
    machine.input = match &plain {
        Some(_) => Input::Text(all.get(length..).map_or(Value::Unknown, Value::exact)),
        None => Input::Text(Value::Unknown),
    };
    for (index, name) in names.iter().enumerate() {
        let value = match (&plain, index) {
            (Some(text), 0) => Value::exact(text.as_str()),
            (Some(_), _) => Value::exact(""),
            (None, _) => Value::Unknown,
        };
        machine.assign_named(name, value);
    }
    if let Some(name) = array {
        machine.assign_content(name, VariableContent::Unknown);
    }
    Done::next(Exit { status: Status::Open, output: Output::Nothing })
}

/// Keeps with variables that they hold a part of a secret, which its whole value does not tell.
fn keep_secret<'a>(
    machine: &mut Machine<'_>,
    names: impl Iterator<Item = &'a String>,
    secret: Option<&Output>,
) {
    let Some(secret) = secret else { return };
    for name in names {
        let value = machine.variable(name);
        if value.is_none_or(|value| machine.is_part_of_secret(&value)) {
            machine.set_origin(name, secret.clone());
        }
    }
}

/// Keeps with a variable what sort of thing its value was read from.
fn keep_class(machine: &mut Machine<'_>, name: &str, input: &Input) {
    match Output::from_input(input) {
        output @ (Output::Network(_) | Output::Secret(_) | Output::Local(_)) => {
            machine.note_captured(&output);
            machine.set_origin(name, output);
        }
        // What a user types is nobody's list.
        Output::Unknown if *input == Input::Unknown => {
            machine.note_captured(&Output::Unknown);
            machine.set_origin(name, Output::Unknown);
        }
        Output::Text(Value::Unknown | Value::Between { .. })
            if matches!(machine.variable(name), None | Some(Value::Unknown)) =>
        {
            machine.set_origin(name, Output::Unknown);
        }
        Output::Nothing | Output::Text(_) | Output::Setup(_) | Output::Unknown => {}
    }
}

/// The greatest number of lines that a callback is followed for one by one (ours).
const CALLED: usize = 64;
/// The variable that holds the line for a callback while it runs.
const LINE: &str = "MAPFILE_LINE";

/// Runs what `mapfile -C` names: with the index and the line as words of its own.
fn call_with_lines(machine: &mut Machine<'_>, callback: &Value, content: &VariableContent, input: &Input) {
    let lines: Vec<Value> = match content {
        VariableContent::List(items) if items.len() <= CALLED => items.values().cloned().collect(),
        _ => vec![Value::Unknown],
    };
    for line in lines {
        machine.assign(LINE, line);
        keep_class(machine, LINE, input);
        let text = callback.followed_by(&Value::exact(" 0 \"$MAPFILE_LINE\""));
        machine.run_callback_text(&text);
    }
    machine.assign(LINE, Value::exact(""));
}

pub(super) fn mapfile(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut name = "MAPFILE".to_owned();
    let mut trim = false;
    let mut partly = false;
    let mut callback = None;
    let mut end = Some('\n');
    let mut input = machine.input.clone();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_exact() {
            Some(option) if option.starts_with('-') => {
                trim |= option.contains('t');
                if let Some(place) = option.find(['d', 'n', 'O', 's', 'u', 'C', 'c']) {
                    let attached = option.get(place + 1..).filter(|text| !text.is_empty()).map(Value::exact);
                    let value = attached.or_else(|| rest.next().cloned()).unwrap_or_else(|| Value::exact(""));
                    match option.get(place..=place) {
                        Some("C") => callback = Some(value),
                        Some("c") => {}
                        // Without a letter it is the zero byte.
                        Some("d") => end = value.as_exact().map(|text| text.chars().next().unwrap_or('\0')),
                        Some("u") => {
                            let number = value.as_exact().and_then(|text| text.parse::<u32>().ok());
                            let opening = number.and_then(|number| machine.descriptor(number));
                            input = opening.and_then(|opening| opening.input).unwrap_or(Input::Unknown);
                        }
                        _ => partly = true,
                    }
                }
            }
            Some(text) => {
                machine.evaluate_subscript(text);
                text.clone_into(&mut name);
            }
            None => {}
        }
    }
    machine.note_typed(&input);
    let content = match (&input, end) {
        _ if partly => VariableContent::Unknown,
        (Input::Text(Value::Exact(all)), Some(end)) => {
            let lines = all
                .split_inclusive(end)
                .map(|line| if trim || end == '\0' { line.trim_end_matches(end) } else { line });
            let items = lines
                .enumerate()
                .filter_map(|(index, line)| Some((i64::try_from(index).ok()?, Value::exact(line))));
            VariableContent::List(items.collect())
        }
        (
            Input::Text(_)
            | Input::Inherited
            | Input::Network(_)
            | Input::Secret(_)
            | Input::Local(_)
            | Input::Unknown,
            _,
        ) => VariableContent::Unknown,
    };
    if let Some(callback) = callback {
        call_with_lines(machine, &callback, &content, &input);
    }
    machine.assign_content(&name, content);
    keep_class(machine, &name, &input);
    Done::quiet()
}

/// `wait`: which process it was may be put into a variable.
pub(super) fn wait(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(options) = word.as_exact().and_then(|text| text.strip_prefix('-')) else { continue };
        let Some((_, attached)) = options.split_once('p') else { continue };
        let name = if attached.is_empty() {
            rest.next().and_then(Value::as_exact).map(str::to_owned)
        } else {
            Some(attached.to_owned())
        };
        if let Some(name) = name {
            machine.evaluate_subscript(&name);
            if !name.contains('[') {
                machine.assign(&name, Value::Unknown);
            }
        }
    }
    Done::next(Exit::silent())
}
