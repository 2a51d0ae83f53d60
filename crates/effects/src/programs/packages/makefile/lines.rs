//! The text of makefiles: lines, brackets, arguments, patterns.

/// Lines with those joined that end in a backslash. A recipe, whose lines begin with this letter, keeps its line breaks for the shell.
pub(super) fn logical_lines(text: &str, prefix: char) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut joined: Option<String> = None;
    for line in text.lines() {
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        let (line, goes_on) = match line.strip_suffix('\\') {
            Some(start) if backslashes % 2 == 1 => (start, true),
            Some(_) | None => (line, false),
        };
        let whole = match joined.take() {
            Some(before) if before.starts_with(prefix) => {
                format!("{before}\\\n{}", line.strip_prefix(prefix).unwrap_or(line))
            }
            Some(before) => format!("{} {}", before.trim_end(), line.trim_start()),
            None => line.to_owned(),
        };
        if goes_on {
            joined = Some(whole);
        } else {
            lines.push(whole);
        }
    }
    lines.extend(joined);
    lines
}

/// The commands of an expanded line of a recipe: each of its lines is one, unless a backslash joins it to the next.
pub(in crate::programs::packages) fn commands_of(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.split('\n') {
        match commands.last_mut() {
            Some(last) if goes_on => {
                last.push('\n');
                last.push_str(line);
            }
            Some(_) | None => commands.push(line.to_owned()),
        }
        goes_on = (line.len() - line.trim_end_matches('\\').len()) % 2 == 1;
    }
    commands
}

/// A line without its comment. A sign of one inside a reference is part of it (GNU make 4.3).
pub(super) fn without_comment(line: &str) -> &str {
    let mut at = 0;
    while let Some(found) = line.get(at..).and_then(|rest| rest.find(['#', '$'])) {
        at += found;
        let rest = line.get(at..).unwrap_or_default();
        if rest.starts_with('#') {
            if !line.get(..at).unwrap_or_default().ends_with('\\') {
                return line.get(..at).unwrap_or(line);
            }
            at += 1;
        } else {
            let inner = rest.get(1..).unwrap_or_default();
            let end = if inner.starts_with(['(', '{']) { matching(inner) } else { None };
            at += 1 + end.unwrap_or(0);
        }
    }
    line
}

/// The index of the bracket that closes the one at the start.
pub(super) fn matching(text: &str) -> Option<usize> {
    let (open, close) = if text.starts_with('(') { ('(', ')') } else { ('{', '}') };
    let mut depth = 0_usize;
    for (index, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

/// The arguments of a function, split at commas outside brackets.
pub(super) fn split_arguments(text: &str) -> Vec<String> {
    let mut arguments = vec![String::new()];
    let mut depth = 0_i32;
    for letter in text.chars() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = arguments.last_mut() {
            last.push(letter);
        }
    }
    arguments
}

/// The two sides of `(a,b)` or `'a' 'b'`.
pub(super) fn compared(text: &str) -> (String, String) {
    if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        let mut parts = split_arguments(inner).into_iter();
        return (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    }
    let quoted = |text: &str| -> (String, String) {
        let text = text.trim_start();
        let inner = text.chars().next().filter(|sign| matches!(sign, '"' | '\'')).and_then(|sign| {
            let rest = text.get(1..)?;
            let end = rest.find(sign)?;
            Some((rest.get(..end)?.to_owned(), rest.get(end + 1..)?.to_owned()))
        });
        inner.unwrap_or_default()
    };
    let (left, rest) = quoted(text);
    (left, quoted(&rest).0)
}

/// The stem of a name under a pattern with one `%`.
pub(in crate::programs::packages) fn matched(pattern: &str, name: &str) -> Option<String> {
    match pattern.split_once('%') {
        None => (pattern == name).then(String::new),
        Some((start, end)) if name.len() >= start.len() + end.len() => {
            name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end)).map(str::to_owned)
        }
        Some(_) => None,
    }
}

/// The index of the first of these letters that stands in no bracket.
pub(super) fn outside_brackets(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, letter) in text.char_indices() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ if letter == wanted && depth == 0 => return Some(index),
            _ => {}
        }
    }
    None
}
