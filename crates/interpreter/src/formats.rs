//! What `printf` of the shell makes of a format (source: the manuals of bash and dash; the test asks both).

use crate::{Status, Value};

use super::strings::{Octal, unescaped, without_escapes};

/// How often a format is used for arguments that are left (ours).
const TIMES: usize = 256;
/// The greatest width that is filled (ours).
const WIDTH: usize = 4096;

/// What a call of `printf` prints, and whether it succeeds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Formatted {
    /// The text, as far as it is known.
    pub(crate) value: Value,
    /// [`Status::Open`] where something is not converted here, which may be a mistake.
    pub(crate) status: Status,
}

/// What a format of strftime(3) prints: its text, and between the ends something that is not known where a part of a time stands.
pub(crate) fn time_text(format: &str) -> Value {
    let mut value = Value::exact("");
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        value = value.followed_by(&Value::exact(before));
        let flags = after.trim_start_matches(|c: char| c.is_ascii_digit() || "_-^#0EO+:".contains(c));
        let mut letters = flags.chars();
        let part = match (letters.next(), flags.len() == after.len()) {
            (Some('%'), true) => Value::exact("%"),
            (Some('n'), true) => Value::exact("\n"),
            (Some('t'), true) => Value::exact("\t"),
            (_, _) => Value::Unknown,
        };
        value = value.followed_by(&part);
        rest = letters.as_str();
    }
    value.followed_by(&Value::exact(rest))
}

/// What `printf` makes of a format and its arguments. The format is used again while arguments are left. From the first conversion on that
/// is not worked out nothing is known: it may take more arguments than one, or end the output.
pub(crate) fn formatted(format: &str, arguments: &[Value]) -> Formatted {
    let pieces = pieces(format);
    let mut value = Value::exact("");
    let mut rest = arguments.iter();
    for _ in 0..TIMES {
        let before = rest.len();
        for piece in &pieces {
            let next = match piece {
                Piece::Text(text) => Some(without_escapes(text, Octal::Three)),
                Piece::Conversion(conversion) => conversion.of(rest.next()),
                Piece::Time(format) => {
                    rest.next();
                    Some(time_text(format))
                }
                Piece::Strange => None,
            };
            let Some(next) = next else {
                return Formatted { value: value.followed_by(&Value::Unknown), status: Status::Open };
            };
            value = value.followed_by(&next);
        }
        if rest.len() == 0 || rest.len() == before {
            // An argument may be no time, and other shells than bash know no times.
            let tells_time = pieces.iter().any(|piece| matches!(piece, Piece::Time(_)));
            let status = if tells_time { Status::Open } else { Status::Success };
            return Formatted { value, status };
        }
    }
    Formatted { value: Value::Unknown, status: Status::Open }
}

/// Whether a format has a place that only a number fits: another text is named in an error message.
pub(crate) fn asks_for_numbers(format: &str) -> bool {
    format.replace("%%", "").split('%').skip(1).any(|rest| {
        let letter = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.*'".contains(c));
        letter.starts_with(|c: char| "diouxXeEfFgGaA".contains(c))
    })
}

/// A part of a format.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    /// Text, escapes included.
    Text(String),
    Conversion(Conversion),
    /// A time in this format, which takes an argument: `%(format)T`.
    Time(String),
    /// Something else: a width that is an argument, a letter of another system, the end behind `%`.
    Strange,
}

/// `%-5.3s`
#[derive(Debug, PartialEq, Eq)]
struct Conversion {
    flags: String,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

fn pieces(format: &str) -> Vec<Piece> {
    let mut all = Vec::new();
    let mut plain = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                // The escape with all the digits it may have.
                plain.push('\\');
                match chars.next() {
                    // What it means differs: the end of all output, or the two letters.
                    Some('c') => {
                        all.push(Piece::Text(std::mem::take(&mut plain)));
                        all.push(Piece::Strange);
                    }
                    next => plain.extend(next),
                }
            }
            '%' if chars.peek() == Some(&'%') => {
                chars.next();
                plain.push('%');
            }
            '%' => {
                all.push(Piece::Text(std::mem::take(&mut plain)));
                all.push(conversion(&mut chars));
            }
            other => plain.push(other),
        }
    }
    all.push(Piece::Text(plain));
    all
}

fn conversion(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Piece {
    if chars.peek() == Some(&'(') {
        let all: String = chars.clone().skip(1).collect();
        if let Some((format, _)) =
            all.split_once(")T").filter(|(format, _)| !format.contains(['(', ')', '\\']))
        {
            for _ in 0..format.chars().count() + 3 {
                chars.next();
            }
            return Piece::Time(format.to_owned());
        }
    }
    let mut flags = String::new();
    while let Some(flag) = chars.next_if(|c| matches!(c, '-' | '+' | ' ' | '#' | '0' | '\'')) {
        flags.push(flag);
    }
    let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
        let mut digits = String::new();
        while let Some(digit) = chars.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        if digits.is_empty() { Some(0) } else { digits.parse().ok().filter(|width| *width <= WIDTH) }
    };
    let width = number(chars);
    let precision = if chars.next_if_eq(&'.').is_some() { number(chars).map(Some) } else { Some(None) };
    match (width, precision, chars.next()) {
        (Some(width), Some(precision), Some(letter)) => {
            Piece::Conversion(Conversion { flags, width, precision, letter })
        }
        _ => Piece::Strange,
    }
}

impl Conversion {
    /// What becomes of an argument; `None` where that is not worked out.
    fn of(&self, argument: Option<&Value>) -> Option<Value> {
        let is_plain = self.flags.is_empty() && self.width == 0 && self.precision.is_none();
        let is_text = matches!(self.letter, 's' | 'b' | 'q' | 'c');
        let text = match argument {
            None if is_text => "",
            None => "0",
            Some(value) => match value.as_exact() {
                Some(text) => text,
                // A text goes in as it is, whatever it is.
                None if self.letter == 's' && is_plain => return Some(value.clone()),
                // Names of files stay names of these files behind blanks and in quotes.
                None if matches!(
                    (self.letter, self.precision, value),
                    ('s' | 'q' | 'b', None, Value::Glob(_))
                ) =>
                {
                    return Some(value.clone());
                }
                None if matches!(self.letter, 's' | 'q' | 'b') => return Some(Value::Unknown),
                None => return None,
            },
        };
        let body = match self.letter {
            's' => self.cut(text)?,
            'b' if !text.contains("\\c") && is_plain => return Some(unescaped(text)),
            'q' if is_plain => quoted(text)?,
            'c' if self.precision.is_none() && !text.is_empty() && text.is_ascii() => {
                text.get(..1)?.to_owned()
            }
            'd' | 'i' => integer(text)?.to_string(),
            'u' => u64::try_from(integer(text)?).ok()?.to_string(),
            'x' => format!("{:x}", u64::try_from(integer(text)?).ok()?),
            'X' => format!("{:X}", u64::try_from(integer(text)?).ok()?),
            'o' => format!("{:o}", u64::try_from(integer(text)?).ok()?),
            _ => return None,
        };
        self.filled(&body, !is_text).map(Value::Exact)
    }

    /// The beginning of a text that a precision leaves.
    fn cut(&self, text: &str) -> Option<String> {
        match self.precision {
            None => Some(text.to_owned()),
            // Some shells count letters, others bytes.
            Some(length) => text.is_ascii().then(|| text.chars().take(length).collect()),
        }
    }

    fn filled(&self, body: &str, is_number: bool) -> Option<String> {
        if is_number && self.precision.is_some() {
            return None;
        }
        if self.width > 0 && !body.is_ascii() {
            return None;
        }
        let fill = " ".repeat(self.width.saturating_sub(body.len()));
        match self.flags.as_str() {
            "" => Some(format!("{fill}{body}")),
            "-" => Some(format!("{body}{fill}")),
            "0" if is_number => {
                let (sign, digits) = body.strip_prefix('-').map_or(("", body), |digits| ("-", digits));
                Some(format!("{sign}{}{digits}", "0".repeat(fill.len())))
            }
            _ => None,
        }
    }
}

/// The number that an argument is for every shell: a `0` in front means octal, a quote the letter behind it.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_decimal = digits == "0" || !digits.starts_with('0');
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit());
    (is_decimal && is_number).then(|| text.parse().ok()).flatten()
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

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "the shells themselves are asked")]

    use std::fmt::Write as _;
    use std::process::Command;

    use super::*;

    fn words(texts: &[&str]) -> Vec<Value> {
        texts.iter().map(|text| Value::exact(*text)).collect()
    }

    #[test]
    fn formats_are_filled_in_as_often_as_needed() {
        let value = |format: &str, arguments: &[Value]| formatted(format, arguments).value;
        assert_eq!(value("%s\\n", &words(&["a", "b"])), Value::exact("a\nb\n"));
        assert_eq!(value("%03d-%5s|%-3s|", &words(&["7", "x", "y"])), Value::exact("007-    x|y  |"));
        assert_eq!(value("\\x41\\101%%", &[]), Value::exact("AA%"));
        assert_eq!(
            value("%s.txt", &[Value::Unknown]),
            Value::Between { prefix: String::new(), suffix: ".txt".to_owned() }
        );
        assert_eq!(value("%(%Y)T", &words(&["0"])), Value::Unknown);
    }

    /// Every flag, width, precision, modifier and letter, with arguments of all sorts.
    fn calls() -> Vec<(String, Vec<&'static str>)> {
        let arguments: &[&[&str]] = &[
            &[],
            &["7"],
            &["-7"],
            &["+7"],
            &["010"],
            &["0x1f"],
            &["abc"],
            &[""],
            &[" 7"],
            &["'a"],
            &["9223372036854775808"],
            &["1", "22", "333"],
            &["a b", "~x"],
            &["a\\tb\\c", "d"],
            &["é", "1"],
        ];
        let mut all = Vec::new();
        let letters = ('a'..='z').chain('A'..='Z').map(String::from);
        let others =
            ["(%Y)T", "(%s)T", "%", "", "5", "ld", "lld", "hd", "zu", "jd", "2$s", "*d", ".*s", "\\n"];
        for letter in letters.chain(others.map(str::to_owned)) {
            for flag in ["", "-", "0", "+", " ", "#", "'", "-0", "0-"] {
                for size in ["", "5", ".2", "5.2", ".", "*", "1.*"] {
                    for arguments in arguments {
                        // All combinations are tens of thousands of calls; options alone and widths alone tell most.
                        let is_rare = !flag.is_empty() && (size.len() > 1 || arguments.len() > 1);
                        if !is_rare {
                            all.push((format!("<%{flag}{size}{letter}>"), arguments.to_vec()));
                        }
                    }
                }
            }
        }
        for escape in ('a'..='z')
            .map(|c| format!("\\{c}"))
            .chain(["\\0101", "\\101", "\\c%s", "\\x41", "\\\\"].map(str::to_owned))
        {
            all.push((format!("{escape}|%b|%s"), vec!["\\0101\\n", "x"]));
            all.push(("%b|%s".to_owned(), vec!["q\\c", "x"]));
        }
        all
    }

    /// What a shell prints for each call, and whether it succeeds.
    fn said_by(shell: &str, calls: &[(String, Vec<&str>)]) -> Vec<(Vec<u8>, bool)> {
        let quote = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        let mut script = String::new();
        for (format, arguments) in calls {
            let words: Vec<String> = arguments.iter().map(|word| quote(word)).collect();
            let call = format!("printf {} {}", quote(format), words.join(" "));
            writeln!(script, "{call}; s=$?; printf '\\1%s\\2' $s").unwrap();
        }
        let directory = std::env::temp_dir().join(format!("formats-{shell}-{}", std::process::id()));
        std::fs::write(&directory, script).unwrap();
        let said = Command::new(shell).arg(&directory).env("LC_ALL", "C.UTF-8").output().unwrap().stdout;
        std::fs::remove_file(&directory).unwrap();
        let answers = said.split(|byte| *byte == 2).filter(|answer| !answer.is_empty());
        answers
            .map(|answer| {
                let end = answer.iter().rposition(|byte| *byte == 1).unwrap();
                let (text, status) = answer.split_at(end);
                (text.to_vec(), status.get(1..) == Some(b"0"))
            })
            .collect()
    }

    #[test]
    fn no_text_is_taken_for_certain_that_a_shell_does_not_print() {
        let calls = calls();
        for shell in ["bash", "dash"] {
            let said = said_by(shell, &calls);
            assert_eq!(said.len(), calls.len(), "{shell}");
            let mut exact = 0;
            for ((format, arguments), (text, succeeds)) in calls.iter().zip(&said) {
                let ours = formatted(format, &words(arguments));
                // What other escapes than these mean is that of bash, and so is `%q`.
                let is_of_bash = ["\\e", "\\u", "\\x", "q>"].iter().any(|own| format.contains(own));
                if shell == "dash" && is_of_bash {
                    continue;
                }
                let told = String::from_utf8_lossy(text);
                if let Some(known) = ours.value.as_exact() {
                    exact += 1;
                    assert_eq!(
                        known.as_bytes(),
                        text.as_slice(),
                        "{shell}: {format} {arguments:?} prints {told}"
                    );
                }
                assert!(
                    told.starts_with(&ours.value.known_start()),
                    "{shell}: {format} {arguments:?} prints {told}"
                );
                assert!(*succeeds || ours.status != Status::Success, "{shell}: {format} {arguments:?} fails");
            }
            assert!(exact > 100, "{shell}: {exact}");
        }
    }
}
