//! Patterns of the shell: `*`, `?`, `[...]`, `@(a|b)`.
//!
//! A pattern is written as one text in which a backslash makes the next character stand for itself.

/// The greatest number of steps of one match (ours); hostile patterns otherwise take exponential time.
const FUEL: usize = 50_000;

/// Any character but those of ASCII that are printed, as a pattern: what bytes that are no text may be part of.
pub const OTHER_THAN_ASCII: &str = "[! -~]";

/// A pattern for names in which bytes stand that are no text. Several may be one character of a name.
pub(crate) fn pattern_of_bytes(count: usize) -> String {
    if count > 1 { format!("{OTHER_THAN_ASCII}*") } else { OTHER_THAN_ASCII.to_owned() }
}

/// A pattern ready to be matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Char(char),
    Any,
    Many,
    Set { negated: bool, ranges: Vec<(char, char)> },
    Extended { kind: Repeat, ways: Vec<Vec<Token>> },
}

/// How often an extended pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    Once,
    AtMostOnce,
    AnyTimes,
    AtLeastOnce,
    Not,
}

/// Whether letters of both cases are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// They differ.
    Exact,
    /// They are the same.
    AnyCase,
}

impl Pattern {
    /// Reads a pattern. Every text is one: what is not special stands for itself.
    pub(crate) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut place = 0;
        Self { tokens: read(&chars, &mut place, 0) }
    }

    /// Whether the whole text matches; `None` when that takes too long to find out.
    pub(crate) fn matches(&self, text: &str, letters: Letters) -> Option<bool> {
        let chars: Vec<char> = text.chars().collect();
        self.matches_chars(&chars, letters)
    }

    /// As [`Pattern::matches`], for characters.
    pub(crate) fn matches_chars(&self, chars: &[char], letters: Letters) -> Option<bool> {
        let mut fuel = FUEL;
        let found = run(&self.tokens, chars, letters, &mut fuel);
        if fuel == 0 { None } else { Some(found) }
    }

    /// The text, when the pattern stands for exactly one.
    pub(crate) fn literal(&self) -> Option<String> {
        self.tokens.iter().map(|token| if let Token::Char(c) = token { Some(*c) } else { None }).collect()
    }
}

/// Whether the language of the shell says if a text fits: what one letter is, of which class, and under which name (`[.hyphen.]`, `[=a=]`).
pub(super) fn depends_on_language(pattern: &str, text: &str) -> bool {
    pattern.contains(['[', '?']) && !(text.is_ascii() && pattern.is_ascii())
        || pattern.contains("[.")
        || pattern.contains("[=")
}

/// Whether a text has unescaped characters that make it a pattern.
pub(crate) fn is_pattern(text: &str) -> bool {
    Pattern::new(text).literal().is_none()
}

/// The text as a pattern that stands for itself.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '(' | ')' | '|' | '!' | '@' | '+') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// The pattern without its escapes.
pub(crate) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            plain.extend(chars.next());
        } else {
            plain.push(c);
        }
    }
    plain
}

fn read(chars: &[char], place: &mut usize, depth: usize) -> Vec<Token> {
    let mut tokens = Vec::new();
    while let Some(&c) = chars.get(*place) {
        if depth > 0 && (c == '|' || c == ')') {
            break;
        }
        *place += 1;
        let opens = chars.get(*place) == Some(&'(') && depth < 16;
        match c {
            '\\' => {
                tokens.push(Token::Char(chars.get(*place).copied().unwrap_or('\\')));
                *place += 1;
            }
            '?' | '*' | '+' | '@' | '!' if opens && closes(chars, *place) => {
                let kind = match c {
                    '?' => Repeat::AtMostOnce,
                    '*' => Repeat::AnyTimes,
                    '+' => Repeat::AtLeastOnce,
                    '!' => Repeat::Not,
                    _ => Repeat::Once,
                };
                *place += 1;
                let mut ways = vec![read(chars, place, depth + 1)];
                while chars.get(*place) == Some(&'|') {
                    *place += 1;
                    ways.push(read(chars, place, depth + 1));
                }
                *place += 1;
                tokens.push(Token::Extended { kind, ways });
            }
            '?' => tokens.push(Token::Any),
            '*' => {
                if tokens.last() != Some(&Token::Many) {
                    tokens.push(Token::Many);
                }
            }
            '[' => match read_set(chars, *place) {
                Some((set, end)) => {
                    tokens.push(set);
                    *place = end;
                }
                None => tokens.push(Token::Char('[')),
            },
            other => tokens.push(Token::Char(other)),
        }
    }
    tokens
}

/// Whether the bracket at `place` is closed.
fn closes(chars: &[char], place: usize) -> bool {
    let mut depth = 0_usize;
    let mut escaped = false;
    for c in chars.iter().skip(place) {
        if escaped {
            escaped = false;
            continue;
        }
        match c {
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

fn read_set(chars: &[char], start: usize) -> Option<(Token, usize)> {
    let mut place = start;
    let negated = matches!(chars.get(place), Some('!' | '^'));
    if negated {
        place += 1;
    }
    let mut ranges = Vec::new();
    let first = place;
    loop {
        let c = *chars.get(place)?;
        if c == ']' && place > first {
            return Some((Token::Set { negated, ranges }, place + 1));
        }
        if c == '[' && chars.get(place + 1) == Some(&':') {
            let rest: String = chars.get(place + 2..)?.iter().collect();
            let end = rest.find(":]")?;
            ranges.extend(class(rest.get(..end)?));
            place += 2 + rest.get(..end)?.chars().count() + 2;
            continue;
        }
        let (low, after) = if c == '\\' { (*chars.get(place + 1)?, place + 2) } else { (c, place + 1) };
        let is_range =
            chars.get(after) == Some(&'-') && chars.get(after + 1).is_some_and(|next| *next != ']');
        if is_range {
            let high = *chars.get(after + 1)?;
            ranges.push((low, high));
            place = after + 2;
        } else {
            ranges.push((low, low));
            place = after;
        }
    }
}

fn class(name: &str) -> Vec<(char, char)> {
    match name {
        "alpha" => vec![('a', 'z'), ('A', 'Z')],
        "digit" => vec![('0', '9')],
        "alnum" => vec![('a', 'z'), ('A', 'Z'), ('0', '9')],
        "upper" => vec![('A', 'Z')],
        "lower" => vec![('a', 'z')],
        "space" => vec![(' ', ' '), ('\t', '\r')],
        "blank" => vec![(' ', ' '), ('\t', '\t')],
        "punct" => vec![('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "xdigit" => vec![('0', '9'), ('a', 'f'), ('A', 'F')],
        "word" => vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
        _ => Vec::new(),
    }
}

fn run(tokens: &[Token], text: &[char], letters: Letters, fuel: &mut usize) -> bool {
    if *fuel == 0 {
        return false;
    }
    *fuel -= 1;
    let Some((token, rest)) = tokens.split_first() else { return text.is_empty() };
    match token {
        Token::Char(wanted) => text
            .split_first()
            .is_some_and(|(c, more)| same(*wanted, *c, letters) && run(rest, more, letters, fuel)),
        Token::Any => text.split_first().is_some_and(|(_, more)| run(rest, more, letters, fuel)),
        Token::Set { negated, ranges } => text.split_first().is_some_and(|(c, more)| {
            let inside = ranges.iter().any(|(low, high)| {
                (low..=high).contains(&c)
                    || letters == Letters::AnyCase
                        && ((low..=high).contains(&&c.to_ascii_lowercase())
                            || (low..=high).contains(&&c.to_ascii_uppercase()))
            });
            inside != *negated && run(rest, more, letters, fuel)
        }),
        Token::Many => {
            if rest.is_empty() {
                return true;
            }
            (0..=text.len()).any(|cut| text.get(cut..).is_some_and(|more| run(rest, more, letters, fuel)))
        }
        Token::Extended { kind, ways } => (0..=text.len()).any(|cut| {
            let (Some(head), Some(tail)) = (text.get(..cut), text.get(cut..)) else { return false };
            let fits = match kind {
                Repeat::Once => ways.iter().any(|way| run(way, head, letters, fuel)),
                Repeat::AtMostOnce => head.is_empty() || ways.iter().any(|way| run(way, head, letters, fuel)),
                Repeat::AnyTimes => repeats(ways, head, letters, fuel),
                Repeat::AtLeastOnce => {
                    if head.is_empty() {
                        ways.iter().any(|way| run(way, head, letters, fuel))
                    } else {
                        repeats(ways, head, letters, fuel)
                    }
                }
                Repeat::Not => !ways.iter().any(|way| run(way, head, letters, fuel)),
            };
            fits && run(rest, tail, letters, fuel)
        }),
    }
}

/// Whether the text is any number of the ways in a row.
fn repeats(ways: &[Vec<Token>], text: &[char], letters: Letters, fuel: &mut usize) -> bool {
    if text.is_empty() {
        return true;
    }
    if *fuel == 0 {
        return false;
    }
    (1..=text.len()).any(|cut| {
        let (Some(head), Some(tail)) = (text.get(..cut), text.get(cut..)) else { return false };
        ways.iter().any(|way| run(way, head, letters, fuel)) && repeats(ways, tail, letters, fuel)
    })
}

fn same(wanted: char, found: char, letters: Letters) -> bool {
    wanted == found || letters == Letters::AnyCase && wanted.eq_ignore_ascii_case(&found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).matches(text, Letters::Exact).unwrap()
    }

    #[test]
    fn patterns_match_as_in_the_shell() {
        assert!(fits("*.txt", "a.txt"));
        assert!(!fits("*.txt", "a.txt.bak"));
        assert!(fits("?[a-c]*", "xb"));
        assert!(!fits("[!a-c]x", "bx"));
        assert!(fits("[]x]", "]"));
        assert!(fits("\\*", "*") && !fits("\\*", "a"));
        assert!(fits("@(a|bc)d", "bcd"));
        assert!(fits("+(ab)", "abab") && !fits("+(ab)", "aba"));
        assert!(fits("!(*.md)", "a.txt") && !fits("!(*.md)", "a.md"));
        assert!(fits("[[:digit:]][[:alpha:]]", "7x"));
        assert!(fits("[", "[") && fits("a[", "a["));
    }

    #[test]
    fn hostile_patterns_end() {
        let pattern = Pattern::new(&"*a".repeat(40));
        assert_eq!(pattern.matches(&"a".repeat(200).replace('a', "ab"), Letters::Exact), None);
        let nested = Pattern::new(&format!("{}b", "+(a|*(a))".repeat(10)));
        assert!(nested.matches(&"a".repeat(60), Letters::Exact) != Some(true));
    }
}
