//! Texts as the shell's own commands make them: escapes, formats, fields.

use crate::Value;

/// Values with a text between them.
pub fn joined(values: &[Value], between: &str) -> Value {
    let mut all = Value::exact("");
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            all = all.followed_by(&Value::exact(between));
        }
        all = all.followed_by(value);
    }
    all
}

/// How many digits an octal escape may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Octal {
    /// `\nnn`: a format of `printf`.
    Three,
    /// `\0nnn`: what `echo -e` and `%b` read.
    ThreeBehindZero,
}

/// The text with backslash escapes undone, as `echo -e` and `%b` of `printf` do.
pub fn unescaped(text: &str) -> Value {
    without_escapes(text, Octal::ThreeBehindZero)
}

/// Whether a text has `\c`, at which `echo` ends, without the newline.
pub(crate) fn is_cut_short(text: &str) -> bool {
    text.contains("\\c") && unescaped(&format!("{text}-")) == unescaped(text)
}

pub(super) fn without_escapes(text: &str, octal: Octal) -> Value {
    let mut out = Bytes::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some('e' | 'E') => out.push('\u{1b}'),
            Some('c') => return out.value(),
            Some('x') => match digits(&mut chars, 16, 2) {
                Some(code) => out.0.extend(u8::try_from(code)),
                None => out.0.extend(b"\\x"),
            },
            Some(letter @ ('u' | 'U')) => {
                let limit = if letter == 'u' { 4 } else { 8 };
                if let Some(code) = digits(&mut chars, 16, limit) {
                    char::from_u32(code).into_iter().for_each(|c| out.push(c));
                } else {
                    out.push('\\');
                    out.push(letter);
                }
            }
            Some(digit @ '0'..='7') => {
                let mut code = digit.to_digit(8).unwrap_or_default();
                let limit = if digit == '0' && octal == Octal::ThreeBehindZero { 3 } else { 2 };
                for _ in 0..limit {
                    let Some(next) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                    code = code * 8 + next;
                    chars.next();
                }
                // A byte: what is above 255 wraps.
                out.0.extend(u8::try_from(code % 256));
            }
            Some('?') if octal == Octal::Three => out.push('?'),
            Some(other @ ('\\' | '"' | '\'')) => out.push(other),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out.value()
}

/// What is printed, byte by byte.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn push(&mut self, c: char) {
        self.0.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// The text; what is none is not known: a file may well have such a name.
    fn value(&self) -> Value {
        self.0.utf8_chunks().fold(Value::exact(""), |all, chunk| {
            let all = all.followed_by(&Value::exact(chunk.valid()));
            if chunk.invalid().is_empty() { all } else { all.followed_by(&Value::Unknown) }
        })
    }
}

fn digits(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, base: u32, limit: usize) -> Option<u32> {
    let mut code = None;
    for _ in 0..limit {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(base)) else { break };
        code = Some(code.unwrap_or(0) * base + digit);
        chars.next();
    }
    code
}

/// The fields of a line, at most `limit`; the last holds the rest.
pub(crate) fn split(line: &str, separators: &str, limit: usize) -> Vec<String> {
    if separators.is_empty() || limit <= 1 {
        let blank = |c: char| separators.contains(c) && c.is_whitespace();
        return vec![line.trim_matches(blank).to_owned()];
    }
    let blank = |c: char| separators.contains(c) && c.is_whitespace();
    let is_mark = |c: char| separators.contains(c) && !c.is_whitespace();
    let mut fields = Vec::new();
    let mut rest = line.trim_start_matches(blank);
    while !rest.is_empty() {
        if fields.len() + 1 == limit {
            // A separator behind the last word belongs to that word's end.
            let last = rest.trim_end_matches(blank);
            let bare = last.strip_suffix(is_mark).map(|bare| bare.trim_end_matches(blank));
            let last = bare.filter(|bare| !bare.contains(|c| separators.contains(c))).unwrap_or(last);
            fields.push(last.to_owned());
            return fields;
        }
        if let Some(place) = rest.find(|c| separators.contains(c)) {
            fields.push(rest.get(..place).unwrap_or_default().to_owned());
            rest = rest.get(place..).unwrap_or_default().trim_start_matches(blank);
            let other = rest.chars().next().filter(|c| separators.contains(*c) && !c.is_whitespace());
            if let Some(other) = other {
                rest = rest.get(other.len_utf8()..).unwrap_or_default().trim_start_matches(blank);
            }
        } else {
            fields.push(rest.to_owned());
            return fields;
        }
    }
    fields
}

/// The words of a text, with quotes and backslashes undone as `xargs` does.
pub fn quoted_words(text: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_split_as_read_does() {
        assert_eq!(split("  a b  c ", " \t\n", 2), ["a", "b  c"]);
        assert_eq!(split("a:b::c", ":", 9), ["a", "b", "", "c"]);
        assert_eq!(split(" a ", "", 1), [" a "]);
    }
}
