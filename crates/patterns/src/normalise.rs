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
    rewritten(text, |word| word.is_volatile().then(|| "#".to_owned()).or_else(|| word.without_volatile()))
}

/// The same without case, paths and numbers.
pub(crate) fn general(text: &str) -> String {
    rewritten(text, |word| {
        if word.is_volatile() {
            return Some("#".to_owned());
        }
        if word.core.len() > 1 && word.core.contains(['/', '\\']) {
            return Some("<path>".to_owned());
        }
        let plain = word.without_volatile();
        Some(without_numbers(&plain.as_deref().unwrap_or(word.core).to_lowercase()))
    })
}

/// A word without the punctuation around it, and its neighbours.
#[derive(Clone, Copy)]
struct Word<'a> {
    before: &'a str,
    core: &'a str,
    after: &'a str,
}

/// Applies `change` to each word.
fn rewritten(text: &str, change: impl Fn(Word<'_>) -> Option<String>) -> String {
    const AROUND: [char; 16] =
        ['(', ')', '[', ']', '{', '}', ',', ';', '"', '\'', '`', '<', '>', '!', '=', '.'];
    let mut result = String::with_capacity(text.len().min(LOOKED_AT));
    let plain = without_colours(text);
    for line in plain.lines() {
        let line = line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default();
        let mut words = line.split_whitespace().peekable();
        let mut before = "";
        while let Some(word) = words.next() {
            let core = word.trim_matches(AROUND);
            let after = words.peek().copied().unwrap_or_default().trim_matches(AROUND);
            let told = Word { before, core, after };
            before = core;
            match change(told) {
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

impl Word<'_> {
    fn is_volatile(self) -> bool {
        let Self { before, core, after } = self;
        is_duration(core, after)
            || is_clock(core)
            || is_address(core)
            || is_identifier(core)
            || is_moment(core)
            || is_process(before, core)
    }

    /// The word with the parts replaced that move by themselves: values behind `=`, parts of a list, names of temporary files. `None` when
    /// there are none.
    fn without_volatile(self) -> Option<String> {
        const BETWEEN: [char; 13] = ['=', ',', '(', ')', '[', ']', '{', '}', '<', '>', '"', '\'', '/'];
        let mut rest = self.core;
        let mut result = String::new();
        let (mut before, mut changed) = ("", false);
        while !rest.is_empty() {
            let end = rest.find(BETWEEN).unwrap_or(rest.len());
            let (part, behind) = rest.split_at(end);
            let core = part.trim_matches([':', '.', ';']);
            let word = Word { before, core, after: "" };
            if core.len() < self.core.len()
                && !core.is_empty()
                && (word.is_volatile() || is_temporary_name(core))
            {
                changed = true;
                result.push_str(&part.replacen(core, "#", 1));
            } else {
                result.push_str(part);
            }
            let between = behind.chars().next().map_or(0, char::len_utf8);
            result.push_str(behind.get(..between).unwrap_or_default());
            rest = behind.get(between..).unwrap_or_default();
            before = core;
        }
        changed.then_some(result)
    }
}

/// `0.03s`, `12ms`, `1m5.51s`, or `1.5` before `seconds`; `3.2 MB/s` is a speed, which is one too.
fn is_duration(word: &str, next: &str) -> bool {
    const UNITS: [&str; 17] = [
        "s",
        "ms",
        "us",
        "µs",
        "ns",
        "sec",
        "secs",
        "second",
        "seconds",
        "min",
        "minutes",
        "milliseconds",
        "kB/s",
        "KB/s",
        "MB/s",
        "GB/s",
        "it/s",
    ];
    if is_composed(word) {
        return true;
    }
    let number = word.trim_end_matches(|letter: char| letter.is_alphabetic());
    let unit = word.get(number.len()..).unwrap_or_default();
    let numeric = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    numeric && (UNITS.contains(&unit) || (unit.is_empty() && UNITS.contains(&next)))
}

/// `0m5.510s`, `1h2m3s`: at least two units, each after a number, the last one seconds.
fn is_composed(word: &str) -> bool {
    let Some(word) = word.strip_suffix('s').filter(|word| word.ends_with(|end: char| end.is_ascii_digit()))
    else {
        return false;
    };
    let parts: Vec<&str> = word.split(['d', 'h', 'm']).collect();
    let numeric = |part: &&str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b',')
    };
    parts.len() > 1 && parts.iter().all(numeric)
}

/// Seconds or milliseconds since 1970, from 2001 to 2033: `1763829127`, `1763829127.25`, `1763829127250`.
fn is_moment(word: &str) -> bool {
    let whole = word.split('.').next().unwrap_or_default();
    matches!(whole.len(), 10 | 13)
        && whole.starts_with('1')
        && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// `4711` after `pid` or `process`.
fn is_process(before: &str, word: &str) -> bool {
    let before = before.trim_end_matches(':');
    let named = ["pid", "process"].iter().any(|name| before.eq_ignore_ascii_case(name));
    named && !word.is_empty() && word.trim_end_matches(':').bytes().all(|byte| byte.is_ascii_digit())
}

/// `tmpab12cd3e`, `tmp.Xy12AbCdEf`, `pytest-12`: names that programs make up for temporary files.
fn is_temporary_name(word: &str) -> bool {
    let made_up = |rest: &str| {
        rest.len() >= 6
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && rest.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() || byte == b'_')
    };
    let number = word.strip_prefix("pytest-").unwrap_or_default();
    word.strip_prefix("tmp").is_some_and(|rest| made_up(rest.strip_prefix(['.', '-']).unwrap_or(rest)))
        || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `12:34:56`, `2026-11-21`, `2026-11-21T12:34:56Z`. Two numbers alone (`10:5`) are a place in a file.
fn is_clock(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let head = word.get(..10).unwrap_or_default();
    let dated = head.split('-').count() == 3 && head.split('-').all(digits);
    let clock = word.split(['.', '+', 'Z']).next().unwrap_or_default();
    let mut parts = clock.split(':');
    let hours = parts.next().is_some_and(|part| digits(part) && part.len() <= 2);
    let timed = hours
        && clock.split(':').count() == 3
        && parts.all(|part| {
            // Some programs write parts of a second behind a comma.
            let part = part.split(',').next().unwrap_or_default();
            digits(part) && part.len() == 2
        });
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
            ("real 0m5.512s", "real 0m6.020s"),
            ("3 failed in 65.21s (0:01:05)", "3 failed in 66.01s (0:01:06)"),
            ("13:47:27,512 ERROR boom", "13:47:33,020 ERROR boom"),
            ("elapsed=0.52s total=3", "elapsed=0.61s total=3"),
            ("{\"at\":1763829127250,\"ok\":false}", "{\"at\":1763829133001,\"ok\":false}"),
            ("<Parser object at 0x7f3a2b4c5d60>", "<Parser object at 0x7f3a2b4c9990>"),
            ("[pid=4711] gone", "[pid=4720] gone"),
            ("process 4711 ended", "process 4720 ended"),
            ("/tmp/pytest-of-u/pytest-12/a.txt", "/tmp/pytest-of-u/pytest-13/a.txt"),
            ("open /tmp/tmp8x_1kq2z/out", "open /tmp/tmpq0_w9d1r/out"),
            ("42 files, 3.2 MB/s", "42 files, 2.9 MB/s"),
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
            ("total=3", "total=4"),
            ("/proj/src/a1.rs", "/proj/src/b1.rs"),
            ("1,204 rows", "1,205 rows"),
            ("port 8080", "port 8081"),
            ("tmpdir/a", "tmplib/a"),
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
