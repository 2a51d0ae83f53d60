//! The text of makefiles: lines, brackets, arguments, patterns.

use std::collections::HashMap;

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

/// The words of a text; a function that only the shell can answer, which stands in brackets behind `$`, is part of one.
pub(in crate::programs::packages) fn names_in(text: &str) -> Vec<String> {
    let (mut all, mut start) = (Vec::new(), None);
    for (index, letter) in outside_references(text) {
        match (letter.is_whitespace(), start) {
            (true, Some(from)) => {
                all.extend(text.get(from..index).map(str::to_owned));
                start = None;
            }
            (false, None) => start = Some(index),
            (true, None) | (false, Some(_)) => {}
        }
    }
    all.extend(start.and_then(|from| text.get(from..)).map(str::to_owned));
    all
}

/// The index of the first of these letters that stands in no reference.
pub(super) fn outside_brackets(text: &str, wanted: char) -> Option<usize> {
    outside_references(text).find(|(_, letter)| *letter == wanted).map(|(index, _)| index)
}

/// The letters of a text that stand in no `$(...)` and `${...}`, with their places; a reference gives its `$`. Other brackets are plain letters to
/// make, and so is what is opened and not closed.
fn outside_references(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let closing = closing_brackets(text);
    let mut until = 0;
    text.char_indices().filter(move |(index, letter)| {
        if *index < until {
            return false;
        }
        if *letter == '$' {
            until = if text.get(index + 1..index + 2) == Some("$") {
                index + 2
            } else {
                closing.get(&(index + 1)).map_or(0, |end| end + 1)
            };
        }
        true
    })
}

/// The place of the bracket that closes each that is closed. As in make only brackets of the same sort count between them.
fn closing_brackets(text: &str) -> HashMap<usize, usize> {
    let mut closing = HashMap::new();
    if !text.contains('$') {
        return closing;
    }
    let (mut round, mut curly) = (Vec::new(), Vec::new());
    for (index, letter) in text.char_indices() {
        let opened = match letter {
            '(' => {
                round.push(index);
                continue;
            }
            '{' => {
                curly.push(index);
                continue;
            }
            ')' => round.pop(),
            '}' => curly.pop(),
            _ => continue,
        };
        closing.extend(opened.map(|start| (start, index)));
    }
    closing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_references_hold_words_together() {
        assert_eq!(names_in("a  b\tc "), ["a", "b", "c"]);
        assert_eq!(names_in("x{ c y( d )"), ["x{", "c", "y(", "d", ")"]);
        assert_eq!(names_in("a $(shell ls b c) d"), ["a", "$(shell ls b c)", "d"]);
        assert_eq!(names_in("pre$(wildcard *.c {x)post ${v w}"), ["pre$(wildcard *.c {x)post", "${v w}"]);
        assert_eq!(names_in("$(open a b"), ["$(open", "a", "b"]);
        assert_eq!(names_in("$$(a b)"), ["$$(a", "b)"]);
        assert_eq!(names_in("ä{ ö"), ["ä{", "ö"]);
    }

    #[test]
    fn a_sign_is_found_outside_references_alone() {
        assert_eq!(outside_brackets("x{ b: c", ':'), Some(4));
        assert_eq!(outside_brackets("$(a:b) c: d", ':'), Some(8));
        assert_eq!(outside_brackets("$(subst :,x,y)", ':'), None);
    }
}
