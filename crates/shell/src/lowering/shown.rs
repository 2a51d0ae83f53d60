//! What the parser is shown instead of the text: the same length, with the characters hidden that it would take
//! for something else. Words are read from the text itself, so nothing is lost by this.
//!
//! - A brace inside a word is a plain character to the shell; the parser takes every unquoted `}` for the end of a
//!   group, splits `{}x` in two, and joins `a{b c}` into one word.
//! - As a pattern of a `case` a brace opens and closes nothing: `{)`, `a|})`.
//! - A `]` that begins a word is split off by the parser.
//! - The parser takes `[` and `=` for no names of functions.
//! - The parser knows no `select` without `in`; it is shown `for`, which has the same form.
//! - A `!` with nothing behind it is a command of its own; the parser wants another.
//! - In an array, and in the word of a parameter, the parser takes `\'` for the end of a `$'...'`.
//! - After `shopt -s expand_aliases` the parser replays aliases into its token stream, and positions are wrong from
//!   then on. Aliases are a matter of values, not of syntax, so the option's name is hidden.

use std::borrow::Cow;

use super::brackets;

/// Stands for a hidden character: part of a word, never special.
const FILLER: u8 = b'_';

/// The text to parse in place of `text`.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    let aliases = text.contains("expand_aliases");
    let quotes = text.contains("$'") && text.contains("\\'");
    let plain = !quotes
        && !text.bytes().any(|byte| matches!(byte, b'{' | b'}' | b'!' | b']'))
        && !text.contains("()");
    let selects = text.contains("select");
    if !aliases && plain && !selects {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    hide(text, &mut bytes);
    if selects {
        show_selections(text, &mut bytes);
    }
    if quotes {
        hide_escaped_quotes(text.as_bytes(), &mut bytes);
    }
    // Only ASCII bytes are replaced by ASCII bytes, so this stays well formed.
    let shown = String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned());
    Cow::Owned(if aliases { shown.replace("expand_aliases", "expand-aliases") } else { shown })
}

/// Shows `for` in place of `select` where no `in` follows the name.
fn show_selections(text: &str, shown: &mut [u8]) {
    const SHOWN: &[u8] = b"for   ";
    for (at, found) in text.match_indices("select") {
        let is_word = text
            .get(..at)
            .and_then(|before| before.chars().next_back())
            .is_none_or(|c| c.is_whitespace() || ";&|({`".contains(c));
        let Some(behind) = text.get(at + found.len()..) else { continue };
        let named = behind.trim_start_matches([' ', '\t']);
        let name = named.trim_start_matches(|c: char| c == '_' || c.is_ascii_alphanumeric());
        let rest = name.trim_start_matches([' ', '\t']);
        let body = rest.strip_prefix(';').unwrap_or(rest).trim_start();
        let is_body = body.strip_prefix("do").is_some_and(|body| body.starts_with(char::is_whitespace));
        let is_named = named.len() < behind.len() && name.len() < named.len() && body.len() < name.len();
        if is_word
            && is_named
            && is_body
            && let Some(place) = shown.get_mut(at..at + SHOWN.len())
        {
            place.copy_from_slice(SHOWN);
        }
    }
}

/// Hides the escaped quotes in `$'...'`. Here-documents have quotes that are none: nothing is hidden where one may be.
fn hide_escaped_quotes(bytes: &[u8], shown: &mut [u8]) {
    if bytes.windows(2).any(|two| two == b"<<") {
        return;
    }
    // What is open: `"`, or `(` in it, within which quotes begin anew.
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        let in_quotes = open.last() == Some(&b'"');
        match byte {
            b'\\' => at += 1,
            b'"' if in_quotes => drop(open.pop()),
            b'"' => open.push(b'"'),
            b'$' if next == Some(b'(') => {
                open.push(b'(');
                at += 1;
            }
            b'(' if !in_quotes => open.push(b'('),
            b')' if open.last() == Some(&b'(') => drop(open.pop()),
            b'#' if !in_quotes && is_boundary_before(bytes, at, BackTick::Inside) => {
                at += bytes.iter().skip(at).take_while(|byte| **byte != b'\n').count();
            }
            b'\'' if !in_quotes => {
                at += 1 + bytes.iter().skip(at + 1).take_while(|byte| **byte != b'\'').count();
            }
            b'$' if next == Some(b'\'') && !in_quotes => {
                at += 2;
                while let Some(&inner) = bytes.get(at).filter(|byte| **byte != b'\'') {
                    if inner == b'\\' {
                        if bytes.get(at + 1) == Some(&b'\'')
                            && let Some(slots) = shown.get_mut(at..at + 2)
                        {
                            slots.fill(FILLER);
                        }
                        at += 1;
                    }
                    at += 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
}

fn hide(text: &str, shown: &mut [u8]) {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut subscripts = 0_usize;
    // Whether each open parenthesis is part of a word, as that of `$(` is.
    let mut round = Vec::new();
    let mut substitution_end = 0;
    let mut back_tick = BackTick::Outside;
    while let Some(&byte) = bytes.get(at) {
        let hidden = match byte {
            b'$' if bytes.get(at + 1) == Some(&b'{') && !is_escaped(bytes, at) => {
                at = end_of_parameter(text, at + 1);
                continue;
            }
            b'`' if !is_escaped(bytes, at) => {
                back_tick = match back_tick {
                    BackTick::Outside => BackTick::Inside,
                    BackTick::Inside => BackTick::Outside,
                };
                false
            }
            b'\n' => {
                subscripts = 0;
                false
            }
            b'[' | b'=' if names_function(bytes, at) => true,
            b'[' if is_pattern_of_brackets(bytes, at) => true,
            b'[' if is_subscript(bytes, at) => {
                subscripts += 1;
                false
            }
            b']' if subscripts == 0 => {
                starts_longer_word(bytes, at)
                    || bytes.get(at + 1) == Some(&b']')
                        && is_pattern_before(bytes, at + 2)
                        && is_pattern_behind(bytes, at)
            }
            b']' => {
                subscripts -= 1;
                false
            }
            b'(' => {
                round.push(belongs_to_word(bytes, at));
                false
            }
            b')' => {
                if round.pop() == Some(true) {
                    substitution_end = at + 1;
                }
                false
            }
            // `$(a)}` is one word, `(a)}` ends a group.
            b'}' if at == substitution_end => true,
            b'{' => {
                if let Some(after) = end_of_descriptor(bytes, at) {
                    at = after;
                    continue;
                }
                !stands_alone(bytes, at, back_tick)
                    || bytes.get(at + 1) == Some(&b'\\')
                    || is_pattern_before(bytes, at + 1)
                    || follows(bytes.get(..at).unwrap_or_default(), b"select")
                    || is_pattern_behind(bytes, at)
            }
            b'}' => {
                !stands_alone(bytes, at, back_tick)
                    || is_pattern_behind(bytes, at)
                    || follows(bytes.get(..at).unwrap_or_default(), b"select")
            }
            b'!' => stands_alone(bytes, at, back_tick) && ends_command(bytes, at + 1),
            _ => false,
        };
        if hidden && let Some(slot) = shown.get_mut(at) {
            *slot = FILLER;
        }
        at += 1;
    }
}

/// Whether the present position stands between two back-ticks: they end words on the inner side only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackTick {
    Outside,
    Inside,
}

fn belongs_to_word(bytes: &[u8], open: usize) -> bool {
    open.checked_sub(1)
        .and_then(|before| bytes.get(before))
        .is_some_and(|before| matches!(before, b'$' | b'<' | b'>'))
}

fn is_escaped(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Whether a byte is the name in front of a `()`.
fn names_function(bytes: &[u8], at: usize) -> bool {
    let mut behind =
        bytes.get(at + 1..).unwrap_or_default().iter().filter(|byte| !matches!(byte, b' ' | b'\t'));
    is_boundary_before(bytes, at, BackTick::Inside)
        && behind.next() == Some(&b'(')
        && behind.next() == Some(&b')')
}

fn is_subscript(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|before| bytes.get(before))
        .is_some_and(|before| matches!(before, b'_' | b'$' | b']') || before.is_ascii_alphanumeric())
}

/// Behind the `}` that closes a `${`. When quotes make that uncertain nothing is hidden up to the end of the line: a
/// brace too many that is shown costs less than one too few.
fn end_of_parameter(text: &str, open: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = open + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'}' => return at + 1,
            b'\'' | b'"' | b'\\' | b'`' | b'$' | b'{' | b'(' | b'\n' => break,
            _ => at += 1,
        }
    }
    let line_end = |from: usize| {
        text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |offset| from + offset)
    };
    match brackets::closing_brace(text, open, text.len()) {
        Some(close) => {
            let inside = text.get(open..close).unwrap_or_default();
            if inside.contains(['\'', '{', '\n']) && !is_plain_nesting(inside) {
                line_end(close)
            } else {
                close + 1
            }
        }
        None => line_end(at),
    }
}

/// Whether every brace inside belongs to a `${` and no quote could hide one.
fn is_plain_nesting(inside: &str) -> bool {
    let inside = inside.strip_prefix('{').unwrap_or(inside);
    !inside.contains(['\'', '\n']) && inside.matches('{').count() == inside.matches("${").count()
}

/// `{name}` right before a redirection.
fn end_of_descriptor(bytes: &[u8], open: usize) -> Option<usize> {
    let name = bytes
        .get(open + 1..)?
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    let close = open + 1 + name;
    (name > 0
        && is_boundary_before(bytes, open, BackTick::Inside)
        && bytes.get(close) == Some(&b'}')
        && matches!(bytes.get(close + 1), Some(b'<' | b'>')))
    .then_some(close + 1)
}

/// Whether a `]` begins a word that is neither `]` nor `]]`.
fn starts_longer_word(bytes: &[u8], at: usize) -> bool {
    let ends = |at| is_boundary_after(bytes, at, BackTick::Inside);
    let doubled = bytes.get(at + 1) == Some(&b']') && ends(at + 2);
    is_boundary_before(bytes, at, BackTick::Inside) && !ends(at + 1) && !doubled
}

/// Whether the byte is a word of its own.
fn stands_alone(bytes: &[u8], at: usize, back_tick: BackTick) -> bool {
    is_boundary_before(bytes, at, back_tick) && is_boundary_after(bytes, at + 1, back_tick)
}

fn is_boundary_before(bytes: &[u8], mut at: usize, back_tick: BackTick) -> bool {
    loop {
        let Some(before) = at.checked_sub(1).and_then(|index| bytes.get(index)) else {
            return true;
        };
        let escaped = at.checked_sub(2).and_then(|index| bytes.get(index)) == Some(&b'\\');
        match (before, escaped) {
            // A continued line: what stands at the end of the one before decides.
            (b'\n', true) => at -= 2,
            (_, true) => return false,
            (b'`', false) => return back_tick == BackTick::Inside,
            (before, false) => return is_boundary(*before),
        }
    }
}

fn is_boundary_after(bytes: &[u8], mut at: usize, back_tick: BackTick) -> bool {
    loop {
        match bytes.get(at) {
            None => return true,
            Some(b'\\') if bytes.get(at + 1) == Some(&b'\n') => at += 2,
            Some(b'`') => return back_tick == BackTick::Inside,
            Some(after) => return is_boundary(*after),
        }
    }
}

fn is_boundary(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

/// Whether what stands before this place can only be a pattern of a `case`: no command begins with `)` or `|`.
fn is_pattern_before(bytes: &[u8], from: usize) -> bool {
    let mut behind =
        bytes.get(from..).unwrap_or_default().iter().filter(|byte| !matches!(byte, b' ' | b'\t'));
    matches!(behind.next(), Some(b')' | b'|'))
}

/// Whether `[[` is a pattern of a `case`.
fn is_pattern_of_brackets(bytes: &[u8], at: usize) -> bool {
    bytes.get(at + 1) == Some(&b'[')
        && is_boundary_before(bytes, at, BackTick::Inside)
        && is_pattern_before(bytes, at + 2)
}

/// Whether a pattern of a `case` begins at this place, or the next one of several: behind `;;`, `;&`, `|`, `case word in`, and the `(` that
/// may come first.
fn is_pattern_behind(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default().trim_ascii_end();
    let (before, is_opened) = match before.strip_suffix(b"(") {
        Some(before) => (before.trim_ascii_end(), true),
        None => (before, false),
    };
    let begins = before.ends_with(b";;") || before.ends_with(b";&") || before.ends_with(b";;&");
    let end = at + 1 + usize::from(bytes.get(at..at + 2) == Some(b"]]"));
    let is_closed = is_pattern_before(bytes, end);
    let is_next = before.ends_with(b"|") && !before.ends_with(b"||") && !is_opened;
    is_closed && (begins || is_next || follows(before, b"case"))
}

/// Whether a text ends with `case word in`, or with another word that begins so.
fn follows(before: &[u8], first: &[u8]) -> bool {
    let mut words = before.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.next() == Some(b"in") && words.next().is_some() && words.next() == Some(first)
}

fn ends_command(bytes: &[u8], from: usize) -> bool {
    let next = bytes.get(from..).unwrap_or_default().iter().find(|byte| !matches!(byte, b' ' | b'\t'));
    matches!(next, None | Some(b';' | b'\n' | b')'))
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn braces_inside_words_are_hidden_and_groups_are_not() {
        for (text, seen) in [
            ("find -exec rm {} ;", "find -exec rm __ ;"),
            ("rm \\{}\\; a}", "rm \\__\\; a_"),
            ("{ ls; }", "{ ls; }"),
            ("f(){ ls;};{ a; }>x", "f(){ ls;};{ a; }>x"),
            ("`{ a; }`", "`{ a; }`"),
            ("x ${a}} {a,b}", "x ${a}_ _a,b_"),
            ("${a:-${b}}c}", "${a:-${b}}c_"),
            ("\"${a:-don't}\" }x\nb}", "\"${a:-don't}\" }x\nb_"),
            ("exec {fd}>x {no}", "exec {fd}>x _no_"),
            ("! ; ls !; ! ls", "_ ; ls _; ! ls"),
            ("shopt -s expand_aliases", "shopt -s expand-aliases"),
            ("a }`b`} `c }`", "a _`b`_ `c }`"),
            ("$(a)}; { (a)}", "$(a)_; { (a)}"),
            ("\\${x}}", "\\$_x__"),
            ("a[ 1 ]=x [ ]y", "a[ 1 ]=x [ _y"),
            ("rm ]x ] [ a ] ]]", "rm _x ] [ a ] ]]"),
            ("a }\\\nb }\\\n b\\\n}", "a _\\\nb }\\\n b\\\n_"),
            ("a=($'it\\'s' '$'\\'')", "a=($'it__s' '$'\\'')"),
            ("echo \"$'\\'\" # $'\\'", "echo \"$'\\'\" # $'\\'"),
            ("plain é", "plain é"),
            ("case a in {) b;; a|}) c;; esac", "case a in _) b;; a|_) c;; esac"),
            ("case a in [[) b;; ]]) c;; esac", "case a in _[) b;; _]) c;; esac"),
            ("case a in\n({|b) b;; ( } ) c;; esac", "case a in\n(_|b) b;; ( _ ) c;; esac"),
            ("select x in {; do a; done", "select x in _; do a; done"),
            ("select x; do a; done", "for    x; do a; done"),
            ("set -- a; select x do a; done", "set -- a; for    x do a; done"),
            ("select x in a; do a; done", "select x in a; do a; done"),
            ("psql -c 'select x; drop y'", "psql -c 'select x; drop y'"),
            ("({ a; }) | { b; } | c", "({ a; }) | { b; } | c"),
            ("case a in a) { b; };; b) c; esac; }", "case a in a) { b; };; b) c; esac; }"),
            ("[() { a; }; [ b ]", "_() { a; }; [ b ]"),
            ("a && =() (b)", "a && _() (b)"),
            ("x=() [ \"$a\" ]", "x=() [ \"$a\" ]"),
        ] {
            assert_eq!(shown(text), seen, "{text}");
            assert_eq!(shown(text).len(), text.len());
        }
    }
}
