//! What differs between two runs of the same thing although nothing changed: times, durations, addresses, colours.
//!
//! Two strengths. [`steady`] takes away only what moves by itself, so that two outputs are equal exactly when nothing happened.
//! [`general`] also takes away paths and numbers, so that two errors are of one sort when only their place differs (upstream 1.2).

use std::borrow::Cow;

/// The most that is looked at of a text, in bytes, half from its beginning and half from its end (ours).
pub(crate) const LOOKED_AT: usize = 32 * 1024;

/// The beginning and the end of a text, together at most [`LOOKED_AT`] bytes.
pub(crate) fn ends(text: &str) -> Cow<'_, str> {
    if text.len() <= LOOKED_AT {
        return Cow::Borrowed(text);
    }
    let half = LOOKED_AT / 2;
    let head = (0..=half).rev().find_map(|end| text.get(..end)).unwrap_or_default();
    let tail = (text.len() - half..text.len()).find_map(|start| text.get(start..)).unwrap_or_default();
    Cow::Owned(format!("{head}\n{tail}"))
}

/// The text without colours, overwritten lines, times, durations, addresses and blanks at the ends of lines.
pub(crate) fn steady(text: &str) -> String {
    rewritten(text, |word, next| if is_volatile(word, next) { Some("#".to_owned()) } else { None })
}

/// The same without case, paths and numbers.
pub(crate) fn general(text: &str) -> String {
    rewritten(text, |word, next| {
        if is_volatile(word, next) {
            return Some("#".to_owned());
        }
        if word.len() > 1 && word.contains(['/', '\\']) {
            return Some("<path>".to_owned());
        }
        Some(without_numbers(&word.to_lowercase()))
    })
}

/// Applies `change` to each word, which stands without the punctuation around it; it is told the following word too.
fn rewritten(text: &str, change: impl Fn(&str, &str) -> Option<String>) -> String {
    const AROUND: [char; 16] =
        ['(', ')', '[', ']', '{', '}', ',', ';', '"', '\'', '`', '<', '>', '!', '=', '.'];
    let mut result = String::with_capacity(text.len().min(LOOKED_AT));
    let plain = without_colours(text);
    for line in plain.lines() {
        let line = line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default();
        let mut words = line.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let core = word.trim_matches(AROUND);
            let next = words.peek().copied().unwrap_or_default().trim_matches(AROUND);
            match change(core, next) {
                Some(new) if !core.is_empty() => result.push_str(&word.replacen(core, &new, 1)),
                _ => result.push_str(word),
            }
            result.push(' ');
        }
        result.push('\n');
    }
    result.truncate(result.trim_end().len());
    result
}

fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\u{1b}') {
        plain.push_str(rest.get(..start).unwrap_or_default());
        let sequence = rest.get(start + 1..).unwrap_or_default();
        let end = match sequence.strip_prefix('[') {
            Some(inside) => inside.find(|letter: char| letter.is_ascii_alphabetic()).map(|end| end + 2),
            None => sequence.char_indices().nth(1).map(|(end, _)| end),
        };
        rest = end.and_then(|end| sequence.get(end..)).unwrap_or_default();
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

fn is_volatile(word: &str, next: &str) -> bool {
    is_duration(word, next) || is_clock(word) || is_address(word) || is_identifier(word)
}

/// `0.03s`, `12ms`, or `1.5` before `seconds`.
fn is_duration(word: &str, next: &str) -> bool {
    const UNITS: [&str; 12] =
        ["s", "ms", "us", "µs", "ns", "sec", "secs", "second", "seconds", "min", "minutes", "milliseconds"];
    let number = word.trim_end_matches(|letter: char| letter.is_alphabetic());
    let unit = word.get(number.len()..).unwrap_or_default();
    let numeric = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    numeric && (UNITS.contains(&unit) || (unit.is_empty() && UNITS.contains(&next)))
}

/// `12:34:56`, `2026-11-21`, `2026-11-21T12:34:56Z`. Two numbers alone (`10:5`) are a place in a file.
fn is_clock(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let head = word.get(..10).unwrap_or_default();
    let dated = head.split('-').count() == 3 && head.split('-').all(digits);
    let clock = word.split(['.', '+', 'Z']).next().unwrap_or_default();
    let timed = clock.split(':').count() == 3 && clock.split(':').all(|part| digits(part) && part.len() == 2);
    dated || timed
}

/// `0x7ffe12345678`.
fn is_address(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or_default().trim_end_matches(':');
    digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `123e4567-e89b-12d3-a456-426614174000`. Shorter hexadecimal words are hashes of content, which say that something changed.
fn is_identifier(word: &str) -> bool {
    word.len() == 36
        && word.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

fn without_numbers(word: &str) -> String {
    let mut result = String::with_capacity(word.len());
    for letter in word.chars() {
        if !letter.is_ascii_digit() {
            result.push(letter);
        } else if !result.ends_with('0') {
            result.push('0');
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_by_itself_is_taken_away() {
        for (one, other) in [
            ("test result: ok. finished in 0.03s", "test result: ok. finished in 1.20s"),
            ("Ran 3 tests in 0.003 seconds", "Ran 3 tests in 1.5 seconds"),
            ("at 0x7ffe12345678: boom", "at 0x7ffe99999999: boom"),
            ("2026-11-21T10:00:00Z up", "2026-11-22T11:11:11Z up"),
            ("[10:00:01] waiting", "[10:00:02] waiting"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("10 %\r50 %\r100 %", "100 %"),
            ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174000"),
        ] {
            assert_eq!(steady(one), steady(other));
        }
    }

    #[test]
    fn what_says_that_something_changed_stays() {
        for (one, other) in [
            ("3 passed, 2 failed", "4 passed, 1 failed"),
            ("error at line 10", "error at line 20"),
            ("src/a.rs:10:5", "src/a.rs:12:5"),
            ("HEAD is now at 1a2b3c4", "HEAD is now at 5d6e7f8"),
        ] {
            assert_ne!(steady(one), steady(other));
        }
    }

    #[test]
    fn errors_of_one_sort_become_equal_upstream_1_2() {
        assert_eq!(general("cat: /a/b.txt: No such file"), general("cat: /c/d/e.txt: no such file"));
        assert_eq!(general("SyntaxError on line 10"), general("SyntaxError on line 2345"));
        assert_ne!(general("No module named 'foo'"), general("No module named 'bar'"));
    }

    #[test]
    fn long_texts_are_looked_at_from_both_ends() {
        let text = format!("begin {}é{} end", "x".repeat(LOOKED_AT), "ü".repeat(LOOKED_AT));
        let looked_at = ends(&text);
        assert!(looked_at.len() <= LOOKED_AT + 1);
        assert!(looked_at.starts_with("begin") && looked_at.ends_with("end"));
    }
}
