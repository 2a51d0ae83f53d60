//! Texts as the shell's own commands make them: escapes, formats, fields.

use crate::interpreter::Value;

/// Values with a text between them.
pub(crate) fn joined(values: &[Value], between: &str) -> Value {
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
enum Octal {
    /// `\nnn`: a format of `printf`.
    Three,
    /// `\0nnn`: what `echo -e` and `%b` read.
    ThreeBehindZero,
}

/// The text with backslash escapes undone, as `echo -e` and `%b` of `printf` do.
pub(crate) fn unescaped(text: &str) -> Value {
    without_escapes(text, Octal::ThreeBehindZero)
}

fn without_escapes(text: &str, octal: Octal) -> Value {
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
            Some('x') => {
                let code = digits(&mut chars, 16, 2);
                out.0.extend(code.and_then(|code| u8::try_from(code).ok()));
            }
            Some('u') => {
                let code = digits(&mut chars, 16, 4);
                code.and_then(char::from_u32).into_iter().for_each(|c| out.push(c));
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

/// What `printf` makes of a format and its arguments. The format is used again while arguments are left.
pub(crate) fn formatted(format: &str, arguments: &[Value]) -> Value {
    let mut out = Value::exact("");
    let mut rest = arguments.iter();
    for _ in 0..256 {
        let before = rest.len();
        out = once(format, &mut rest, out);
        if rest.len() == 0 || rest.len() == before {
            return out;
        }
    }
    Value::Unknown
}

fn once(format: &str, arguments: &mut std::slice::Iter<'_, Value>, mut out: Value) -> Value {
    let mut plain = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' {
            // The escape with all the digits it may have.
            plain.push('\\');
            plain.extend(chars.next());
            continue;
        }
        if c != '%' {
            plain.push(c);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            plain.push('%');
            continue;
        }
        let mut flags = String::new();
        while let Some(c) =
            chars.next_if(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | ' ' | '#' | '.' | '*' | '('))
        {
            flags.push(c);
        }
        let letter = chars.next().unwrap_or('s');
        out = out.followed_by(&without_escapes(&std::mem::take(&mut plain), Octal::Three));
        let argument = arguments.next().cloned().unwrap_or_else(|| {
            if matches!(letter, 'd' | 'i' | 'u' | 'x' | 'X' | 'o') {
                Value::exact("0")
            } else {
                Value::exact("")
            }
        });
        out = out.followed_by(&converted(&flags, letter, &argument));
    }
    out.followed_by(&without_escapes(&plain, Octal::Three))
}

/// A text as `printf %q` of bash writes it; `None` for the form with escapes.
fn quoted(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("''".to_owned());
    }
    let mut out = String::new();
    for (place, c) in text.char_indices() {
        if c.is_control() || !c.is_ascii() {
            return None;
        }
        let special = " '\"\\|&;()<>!{}*[]?^$`,".contains(c) || place == 0 && matches!(c, '#' | '~');
        if special {
            out.push('\\');
        }
        out.push(c);
    }
    Some(out)
}

fn converted(flags: &str, letter: char, argument: &Value) -> Value {
    let Some(text) = argument.as_exact() else {
        return if flags.is_empty() && matches!(letter, 's' | 'q') {
            argument.clone()
        } else {
            Value::Unknown
        };
    };
    if flags.contains('(') {
        // A time, as a format of its own says.
        return Value::Unknown;
    }
    let body = match letter {
        's' => text.to_owned(),
        'b' => match unescaped(text) {
            Value::Exact(text) => text,
            other if flags.is_empty() => return other,
            _ => return Value::Unknown,
        },
        'q' => {
            let Some(quoted) = quoted(text) else { return Value::Unknown };
            quoted
        }
        'c' => text.chars().next().map(String::from).unwrap_or_default(),
        'd' | 'i' | 'u' => match text.trim().parse::<i64>() {
            Ok(number) => number.to_string(),
            Err(_) => return Value::Unknown,
        },
        'x' | 'X' | 'o' => match text.trim().parse::<i64>() {
            Ok(number) if letter == 'x' => format!("{number:x}"),
            Ok(number) if letter == 'X' => format!("{number:X}"),
            Ok(number) => format!("{number:o}"),
            Err(_) => return Value::Unknown,
        },
        _ => return Value::Unknown,
    };
    if flags.is_empty() {
        return Value::Exact(body);
    }
    let left = flags.starts_with('-');
    let zero = flags.starts_with('0');
    let numbers = flags.trim_start_matches(['-', '0']);
    let (width, precision) =
        numbers.split_once('.').map_or((numbers, None), |(width, precision)| (width, Some(precision)));
    let Ok(width) = (if width.is_empty() { Ok(0) } else { width.parse::<usize>() }) else {
        return Value::Unknown;
    };
    if width > 4096 {
        return Value::Unknown;
    }
    let body = match precision.map(str::parse::<usize>) {
        None => body,
        Some(Ok(length)) if letter == 's' => body.chars().take(length).collect(),
        Some(_) => return Value::Unknown,
    };
    let missing = width.saturating_sub(body.chars().count());
    Value::Exact(if left {
        format!("{body}{}", " ".repeat(missing))
    } else if zero && letter != 's' {
        format!("{}{body}", "0".repeat(missing))
    } else {
        format!("{}{body}", " ".repeat(missing))
    })
}

/// The fields of a line, at most `limit`; the last holds the rest.
pub(crate) fn split(line: &str, separators: &str, limit: usize) -> Vec<String> {
    if separators.is_empty() || limit <= 1 {
        let blank = |c: char| separators.contains(c) && c.is_whitespace();
        return vec![line.trim_matches(blank).to_owned()];
    }
    let blank = |c: char| separators.contains(c) && c.is_whitespace();
    let mut fields = Vec::new();
    let mut rest = line.trim_start_matches(blank);
    while !rest.is_empty() {
        if fields.len() + 1 == limit {
            fields.push(rest.trim_end_matches(blank).to_owned());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_filled_in_as_often_as_needed() {
        let words = |texts: &[&str]| texts.iter().map(|text| Value::exact(*text)).collect::<Vec<_>>();
        assert_eq!(formatted("%s\\n", &words(&["a", "b"])), Value::exact("a\nb\n"));
        assert_eq!(formatted("%03d-%5s|%-3s|", &words(&["7", "x", "y"])), Value::exact("007-    x|y  |"));
        assert_eq!(formatted("\\x41\\101%%", &[]), Value::exact("AA%"));
        assert_eq!(
            formatted("%s.txt", &[Value::Unknown]),
            Value::Between { prefix: String::new(), suffix: ".txt".to_owned() }
        );
    }

    #[test]
    fn fields_are_split_as_read_does() {
        assert_eq!(split("  a b  c ", " \t\n", 2), ["a", "b  c"]);
        assert_eq!(split("a:b::c", ":", 9), ["a", "b", "", "c"]);
        assert_eq!(split(" a ", "", 1), [" a "]);
    }
}
