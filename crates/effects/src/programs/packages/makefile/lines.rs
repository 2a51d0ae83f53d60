//! The text of makefiles: lines, brackets, arguments, patterns.

/// Lines with those joined that end in a backslash. A recipe keeps its line breaks for the shell.
pub(super) fn logical_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut joined: Option<String> = None;
    for line in text.lines() {
        let (line, goes_on) = match line.strip_suffix('\\') {
            Some(start) => (start, true),
            None => (line, false),
        };
        let whole = match joined.take() {
            Some(before) if before.starts_with('\t') => {
                format!("{before}\\\n{}", line.strip_prefix('\t').unwrap_or(line))
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

pub(super) fn without_comment(line: &str) -> &str {
    match line.find('#') {
        Some(0) => "",
        Some(at) if !line.get(..at).unwrap_or_default().ends_with('\\') => line.get(..at).unwrap_or(line),
        Some(_) | None => line,
    }
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
    let mut parts = text.split(['"', '\'']).filter(|part| !part.trim().is_empty());
    (parts.next().unwrap_or_default().to_owned(), parts.next().unwrap_or_default().to_owned())
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
