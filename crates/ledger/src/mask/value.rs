//! Where a value ends, and which values only stand for one.

use super::mask_length;
use super::name::Name;
use super::token::is_filler;

/// A value that follows a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    /// Where it begins, after any quote.
    pub(super) start: usize,
    /// Where it ends, before any quote.
    pub(super) end: usize,
    quote: Quote,
    setting: Setting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// How the value is set apart from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setting {
    /// `name=value`.
    Tight,
    /// `name: value`, `name = value`.
    Spaced,
    /// `--name value`.
    Flag,
}

/// How many blanks may stand around a separator.
const BLANKS: usize = 64;

/// The greatest length of a value that is weighed, in bytes.
const LONGEST_WEIGHED: usize = 512;

/// How far a type may stretch between a name and its value.
const TYPE_LENGTH: usize = 64;

/// The value that the name `text[start..end]` is given, if it is given one.
pub(super) fn assigned(text: &str, start: usize, end: usize, judged: Name) -> Option<Value> {
    let bytes = text.as_bytes();
    let flag = is_flag(bytes, start);
    let mut position = end;
    let quoted_name = match skip_quote(bytes, position) {
        Some(after) => {
            position = if bytes.get(after) == Some(&b']') { after + 1 } else { after };
            true
        }
        None => false,
    };
    let after_blanks = skip_blanks(bytes, position);
    let mut spaced = after_blanks > position;
    let rest = bytes.get(after_blanks..)?;
    let separator = match rest {
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] | [b':', b'/', b'/', ..] => return None,
        [b'=', b'>', ..] | [b':', b'=', ..] => 2,
        [b'=' | b':', ..] => 1,
        [b',', ..] if flag && quoted_name => 1,
        _ if flag && spaced && !rest.starts_with(b"-") => {
            return Some(value_at(text, after_blanks, Setting::Flag, judged));
        }
        _ if spaced && follows_login(text, start, end) => {
            return Some(value_at(text, after_blanks, Setting::Flag, judged));
        }
        _ => return None,
    };
    let colon = rest.first() == Some(&b':') && separator == 1;
    let begin = skip_blanks(bytes, after_blanks + separator);
    spaced |= begin > after_blanks + separator;
    if colon && let Some(typed) = after_type(bytes, begin) {
        return Some(value_at(text, typed, Setting::Spaced, judged));
    }
    // `{"name":"value"}` is tight, yet its names are code as often as configuration.
    let setting = if spaced || colon { Setting::Spaced } else { Setting::Tight };
    Some(value_at(text, begin, setting, judged))
}

/// The value that begins at `start`: quoted, or up to the next blank or mark that ends one.
fn value_at(text: &str, start: usize, setting: Setting, judged: Name) -> Value {
    let bytes = text.as_bytes();
    let mut begin = start;
    // String prefixes of programming languages: b"..", f'..'.
    if matches!(bytes.get(begin), Some(b'b' | b'B' | b'r' | b'R' | b'f' | b'F' | b'u' | b'@'))
        && matches!(bytes.get(begin + 1), Some(b'"' | b'\''))
    {
        begin += 1;
    }
    if let Some(inside) = skip_quote(bytes, begin) {
        let mark = bytes.get(inside - 1).copied().unwrap_or(b'"');
        let escaped = bytes.get(begin) == Some(&b'\\');
        let triple = bytes.get(inside) == Some(&mark) && bytes.get(inside + 1) == Some(&mark);
        let inside = if triple { inside + 2 } else { inside };
        let end = closing_quote(bytes, inside, mark, escaped);
        let quote = if mark == b'"' { Quote::Double } else { Quote::Single };
        return Value { start: inside, end, quote, setting };
    }
    let end = bare_end(bytes, start, setting, judged);
    Value { start, end, quote: Quote::None, setting }
}

/// The position after any backslashes and a quote.
fn skip_quote(bytes: &[u8], position: usize) -> Option<usize> {
    let slashes = bytes.get(position..)?.iter().take(8).take_while(|byte| **byte == b'\\').count();
    matches!(bytes.get(position + slashes), Some(b'"' | b'\'')).then_some(position + slashes + 1)
}

fn skip_blanks(bytes: &[u8], position: usize) -> usize {
    let rest = bytes.get(position..).unwrap_or_default();
    position + rest.iter().take(BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Where a quoted text ends: before its closing quote, else at the end of the line.
fn closing_quote(bytes: &[u8], start: usize, mark: u8, escaped: bool) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let mut skip = false;
    let mut line_end = None;
    for (offset, byte) in rest.iter().enumerate() {
        if skip {
            skip = false;
        } else if *byte == mark {
            let slashes = rest
                .get(..offset)
                .unwrap_or_default()
                .iter()
                .rev()
                .take_while(|byte| **byte == b'\\')
                .count();
            return start + offset - slashes;
        } else if *byte == b'\\' && !escaped {
            skip = true;
        } else if *byte == b'\n' && line_end.is_none() {
            line_end = Some(start + offset);
        }
    }
    line_end.unwrap_or(start + rest.len())
}

/// Where an unquoted text ends.
fn bare_end(bytes: &[u8], start: usize, setting: Setting, judged: Name) -> usize {
    let most = match judged {
        Name::Secret(_) => usize::MAX,
        Name::KeyLike | Name::Plain => LONGEST_WEIGHED + 1,
    };
    let rest = bytes.get(start..).unwrap_or_default();
    let rest = rest.get(..most.min(rest.len())).unwrap_or_default();
    if let Some(length) = mask_length(rest) {
        return start + length;
    }
    let expansion = rest.starts_with(b"${") || rest.starts_with(b"$(") || rest.starts_with(b"{{");
    for (offset, byte) in rest.iter().enumerate() {
        let ends = match byte {
            b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b';' | b'&' | b'\\' => offset > 0 || *byte != b'<',
            b'(' | b'[' | b'{' => !expansion && offset > 0,
            b')' | b']' | b'}' => !expansion,
            b',' => {
                setting != Setting::Tight
                    || rest.get(offset + 1).is_none_or(|next| !next.is_ascii_alphanumeric())
            }
            other => other.is_ascii_whitespace(),
        };
        if ends {
            return start + offset;
        }
        if expansion && matches!(byte, b')' | b'}') {
            return start + offset + 1;
        }
    }
    start + rest.len()
}

/// Whether dashes before a name make it a flag.
fn is_flag(bytes: &[u8], start: usize) -> bool {
    let before = bytes.get(..start).unwrap_or_default();
    let dashes = before.iter().rev().take(3).take_while(|byte| **byte == b'-').count();
    let outside = before.len().checked_sub(dashes + 1).and_then(|position| before.get(position));
    matches!(dashes, 1 | 2)
        && outside.is_none_or(|byte| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'[' | b'(' | b'`' | b'=')
        })
}

/// Whether `password` follows a `login NAME` as in a netrc file.
fn follows_login(text: &str, start: usize, end: usize) -> bool {
    const REACH: usize = 96;
    let before = text.as_bytes().get(start.saturating_sub(REACH)..start).unwrap_or_default();
    text.get(start..end) == Some("password") && before.windows(6).any(|window| window == b"login ")
}

/// The position of a quoted value behind a type: `password: &str = "..."`.
fn after_type(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes.get(start..)?;
    if matches!(rest.first(), Some(b'"' | b'\'' | b'\\')) {
        return None;
    }
    let length = rest
        .iter()
        .take(TYPE_LENGTH)
        .take_while(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b'<' | b'>' | b'&' | b'[' | b']' | b'\'' | b'.' | b' ' | b'|' | b':')
        })
        .count();
    let after = start + length;
    if length == 0 || bytes.get(after) != Some(&b'=') || bytes.get(after + 1) == Some(&b'=') {
        return None;
    }
    let value = skip_blanks(bytes, after + 1);
    skip_quote(bytes, value).map(|_| value)
}

/// Whether a value is a secret, given what the name before it says.
pub(super) fn is_secret(text: &str, name: &str, judged: Name, value: Value) -> bool {
    let Some(content) = text.get(value.start..value.end) else { return false };
    if content.len() > LONGEST_WEIGHED {
        // Too long to stand for anything else; and what is let through is read again, which must stay cheap.
        return matches!(judged, Name::Secret(_)) && !is_filler(content.as_bytes());
    }
    if stands_for_one(name, content) || is_variable(content, value.quote) {
        return false;
    }
    match judged {
        Name::Plain => false,
        Name::KeyLike => !is_path(content) && !content.contains("[masked:") && looks_random(content),
        Name::Secret(_) => match (value.quote, value.setting) {
            (Quote::Single | Quote::Double, _) => true,
            (Quote::None, Setting::Tight | Setting::Flag) => {
                !is_reference(text, name, value) && !is_path(content) && !is_short_number(content)
            }
            (Quote::None, Setting::Spaced) => {
                !is_reference(text, name, value)
                    && !is_path(content)
                    && !is_short_number(content)
                    && (!is_word(content) || is_whole_line(text, name, value))
            }
        },
    }
}

/// Values that say that a secret belongs here, or what type it has.
const STAND_INS: &[&str] = &[
    "?",
    "-",
    "*",
    "**",
    "any",
    "api_key",
    "apikey",
    "bool",
    "boolean",
    "bytes",
    "changeme",
    "compat",
    "disabled",
    "enabled",
    "example",
    "false",
    "files",
    "hidden",
    "int",
    "integer",
    "key",
    "masked",
    "never",
    "nil",
    "no",
    "none",
    "null",
    "number",
    "object",
    "off",
    "on",
    "optional",
    "pass",
    "passwd",
    "password",
    "placeholder",
    "redacted",
    "required",
    "secret",
    "str",
    "string",
    "text",
    "todo",
    "token",
    "true",
    "undefined",
    "unknown",
    "unset",
    "uuid",
    "varchar",
    "yes",
];

/// Beginnings of such values.
const STAND_IN_BEGINNINGS: &[&str] = &[
    "your-",
    "your_",
    "your ",
    "<your",
    "change-me",
    "change_me",
    "changeme",
    "placeholder",
    "redacted",
    "[redacted",
    "insert-",
    "insert_",
    "insert ",
    "replace-",
    "replace_",
    "replace ",
    "enter your",
    "my-secret-",
    "<",
    "{{",
    "%{",
    "***",
    "...",
];

/// Whether a value only stands for a secret.
pub(super) fn stands_for_one(name: &str, content: &str) -> bool {
    let bytes = content.as_bytes();
    if bytes.is_empty()
        || mask_length(bytes) == Some(bytes.len())
        || (bytes.len() > 2 && is_filler(bytes) && !bytes.first().is_some_and(u8::is_ascii_digit))
    {
        return true;
    }
    let begins = |beginning: &&str| {
        bytes.get(..beginning.len()).is_some_and(|head| head.eq_ignore_ascii_case(beginning.as_bytes()))
    };
    if STAND_IN_BEGINNINGS.iter().any(begins) {
        return true;
    }
    let parameter = bytes.len() > 1
        && bytes.len() <= 32
        && matches!(bytes.first(), Some(b':'))
        && bytes.iter().skip(1).all(|byte| byte.is_ascii_lowercase() || *byte == b'_');
    let environment = bytes.len() > 2 && bytes.first() == Some(&b'%') && bytes.last() == Some(&b'%');
    parameter
        || environment
        || content.eq_ignore_ascii_case(name)
        || STAND_INS.iter().any(|word| content.eq_ignore_ascii_case(word))
}

/// Whether a value is filled in by a shell or a template.
fn is_variable(content: &str, quote: Quote) -> bool {
    let Some(rest) = content.strip_prefix('$') else { return content.starts_with('`') };
    match rest.as_bytes() {
        [b'{', .., b'}'] | [b'(', .., b')'] => true,
        [b'(' | b'{', ..] => quote != Quote::Single,
        [first, others @ ..] if first.is_ascii_alphabetic() || *first == b'_' => {
            let shape = others.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            let capitals = rest.bytes().any(|byte| byte.is_ascii_uppercase());
            let small = rest.bytes().any(|byte| byte.is_ascii_lowercase());
            // In single quotes a shell fills in nothing; a name in one case may still be for a template.
            shape && (quote != Quote::Single || !(capitals && small))
        }
        [b'0'..=b'9' | b'@' | b'*' | b'?'] => true,
        _ => false,
    }
}

/// Where programs keep their settings.
const HOLDERS: &[&str] = &[
    "process.env.",
    "os.environ",
    "self.",
    "this.",
    "config.",
    "settings.",
    "args.",
    "opts.",
    "options.",
    "env.",
    "secrets.",
    "ctx.",
    "request.",
    "req.",
    "params.",
    "var.",
    "data.",
    "local.",
    "module.",
];

/// Whether an unquoted value is code that yields the secret: a call, an index, a field or variable named like one.
fn is_reference(text: &str, name: &str, value: Value) -> bool {
    let Some(content) = text.get(value.start..value.end) else { return false };
    let identifier = content.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
        && content.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if content.contains("::")
        || content.starts_with('&')
        || content.starts_with('*') && value.setting == Setting::Spaced
    {
        return true;
    }
    let opens = matches!(text.as_bytes().get(value.end), Some(b'(' | b'[' | b'<' | b'{'));
    if identifier && opens {
        return true;
    }
    let environment_name = !name.bytes().any(|byte| byte.is_ascii_lowercase());
    if !identifier || environment_name {
        return false;
    }
    let several_words = content.contains('_') || content.contains('.') || {
        let tail = content.get(1..).unwrap_or_default();
        tail.bytes().any(|byte| byte.is_ascii_uppercase())
            && tail.bytes().any(|byte| byte.is_ascii_lowercase())
    };
    HOLDERS.iter().any(|holder| content.starts_with(holder))
        || several_words
            && !content.bytes().any(|byte| byte.is_ascii_digit())
            && !matches!(super::name::judge(content), Name::Plain)
}

/// Whether a value is a path of ordinary names.
pub(super) fn is_path(content: &str) -> bool {
    let begins = content.starts_with("./") || content.starts_with("../") || content.starts_with("~/");
    let rooted = content.starts_with('/') && content.bytes().filter(|byte| *byte == b'/').count() >= 2;
    let mixed = content.bytes().any(|byte| byte.is_ascii_uppercase())
        && content.bytes().any(|byte| byte.is_ascii_digit());
    (begins || rooted) && !mixed && !content.bytes().any(|byte| matches!(byte, b'+' | b'='))
}

fn is_short_number(content: &str) -> bool {
    content.len() <= 3 && content.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a value is an ordinary word or the name of a type.
fn is_word(content: &str) -> bool {
    content.len() < 4
        || content
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b':' | b'?' | b'!'))
}

/// Whether a name and its small-letter value are a line of their own, as in a configuration file.
fn is_whole_line(text: &str, name: &str, value: Value) -> bool {
    const REACH: usize = 96;
    let Some(content) = text.get(value.start..value.end) else { return false };
    if content.len() < 4 || content.bytes().next().is_some_and(|byte| byte.is_ascii_uppercase()) {
        return false;
    }
    let bytes = text.as_bytes();
    let after = skip_blanks(bytes, value.end);
    let last = matches!(bytes.get(after), None | Some(b'\n' | b'\r'));
    let line = bytes.get(value.start.saturating_sub(REACH)..value.start).unwrap_or_default();
    let begin = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |cut| cut + 1);
    let whole = begin > 0 || value.start <= REACH;
    let head = line.get(begin..).unwrap_or_default();
    let lead = head.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'-' | b'"' | b'\'')).count();
    last && whole && head.get(lead..).is_some_and(|rest| rest.starts_with(name.as_bytes()))
}

/// Whether a text looks random: long enough, letters and digits, little repetition.
pub(super) fn looks_random(content: &str) -> bool {
    const SHORTEST: usize = 16;
    const LONGEST: usize = 512;
    let bytes = content.as_bytes();
    let alphabet = bytes.iter().all(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b'~')
    });
    (SHORTEST..=LONGEST).contains(&bytes.len())
        && alphabet
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(u8::is_ascii_alphabetic)
        && entropy(bytes) >= 3.0
}

/// The entropy of a text in bits per byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = bytes.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum()
}
