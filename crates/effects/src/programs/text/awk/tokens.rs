//! The words and signs of a program of `awk`.

/// A part of the text of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, a keyword, or a name behind `@`.
    Word(String),
    Number(String),
    Text(String),
    /// A regular expression between slashes.
    Pattern(String),
    /// An operator, whole: `>>`, `|&`, `+=`.
    Sign(&'static str),
    /// The end of a line or statement.
    End,
}

/// Operators, longer ones before those that they begin with (POSIX awk, "Lexical Conventions"; gawk 5.3, "Operator Precedence").
const SIGNS: &[&str] = &[
    "**=", "|&", "||", "&&", "==", "!=", "<=", ">=", ">>", "+=", "-=", "*=", "/=", "%=", "^=", "**", "++",
    "--", "!~", "{", "}", "(", ")", "[", "]", ",", "+", "-", "*", "/", "%", "^", "!", "<", ">", "|", "?",
    ":", "~", "$", "=", "@", "&",
];

/// Cuts a program into its parts.
pub(super) fn tokens(program: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = program;
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '\n' | ';' => {
                tokens.push(Token::End);
                rest = behind;
            }
            '\\' if behind.starts_with('\n') => rest = behind.get(1..).unwrap_or_default(),
            '#' => rest = behind.find('\n').and_then(|at| behind.get(at..)).unwrap_or_default(),
            '"' => {
                let (text, after) = quoted(behind);
                tokens.push(Token::Text(text));
                rest = after;
            }
            '/' if begins_pattern(tokens.last()) => {
                let (text, after) = pattern(behind);
                tokens.push(Token::Pattern(text));
                rest = after;
            }
            c if c.is_ascii_digit() || c == '.' && behind.starts_with(|c: char| c.is_ascii_digit()) => {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
                tokens.push(Token::Number(rest.get(..end).unwrap_or_default().to_owned()));
                rest = rest.get(end..).unwrap_or_default();
            }
            c if c.is_alphabetic() || c == '_' => {
                let end =
                    rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
                // A namespace has two colons; one alone divides a choice.
                let word = rest.get(..end).unwrap_or_default();
                let end = match word.find(':') {
                    Some(at) if !word.get(at..).unwrap_or_default().starts_with("::") => at,
                    Some(_) | None => end,
                };
                tokens.push(Token::Word(rest.get(..end).unwrap_or_default().to_owned()));
                rest = rest.get(end..).unwrap_or_default();
            }
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => {
                    tokens.push(Token::Sign(sign));
                    rest = rest.get(sign.len()..).unwrap_or_default();
                }
                None => rest = behind,
            },
        }
    }
    tokens
}

/// The text up to the closing quote, and what is behind it (POSIX awk, "Escape Sequences").
fn quoted(text: &str) -> (String, &str) {
    let mut whole = String::new();
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => return (whole, text.get(at + 1..).unwrap_or_default()),
            '\\' => match rest.next() {
                Some((_, 'n')) => whole.push('\n'),
                Some((_, 't')) => whole.push('\t'),
                Some((_, 'r')) => whole.push('\r'),
                Some((_, 'a')) => whole.push('\u{7}'),
                Some((_, '\n')) | None => {}
                Some((start, digit @ ('0'..='7' | 'x'))) => {
                    let (radix, start) = if digit == 'x' { (16, start + 1) } else { (8, start) };
                    let most = if radix == 16 { 2 } else { 3 };
                    let digits: String = text
                        .get(start..)
                        .unwrap_or_default()
                        .chars()
                        .take(most)
                        .take_while(|c| c.is_digit(radix))
                        .collect();
                    let letter = u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32);
                    whole.push(letter.unwrap_or(digit));
                    let taken = if radix == 16 { digits.len() } else { digits.len().saturating_sub(1) };
                    for _ in 0..taken {
                        rest.next();
                    }
                }
                Some((_, other)) => whole.push(other),
            },
            c => whole.push(c),
        }
    }
    (whole, "")
}

/// A regular expression up to the closing slash, and what is behind it.
fn pattern(text: &str) -> (String, &str) {
    let mut in_class = false;
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '\\' => {
                rest.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => {
                return (
                    text.get(..at).unwrap_or_default().to_owned(),
                    text.get(at + 1..).unwrap_or_default(),
                );
            }
            _ => {}
        }
    }
    (text.to_owned(), "")
}

/// Whether a slash here begins a regular expression, as opposed to dividing.
fn begins_pattern(before: Option<&Token>) -> bool {
    match before {
        None | Some(Token::End) => true,
        Some(Token::Sign(sign)) => !matches!(*sign, ")" | "]" | "$" | "++" | "--"),
        Some(Token::Word(word)) => {
            matches!(word.as_str(), "return" | "print" | "printf" | "in" | "case" | "do" | "else")
        }
        Some(Token::Text(_) | Token::Number(_) | Token::Pattern(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_divide_or_enclose() {
        assert_eq!(tokens("a/b/c").iter().filter(|token| **token == Token::Sign("/")).count(), 2);
        assert_eq!(tokens("/a[/]b/"), [Token::Pattern("a[/]b".to_owned())]);
        assert_eq!(
            tokens("x ~ /b/"),
            [Token::Word("x".to_owned()), Token::Sign("~"), Token::Pattern("b".to_owned())]
        );
    }

    #[test]
    fn texts_hold_what_their_escapes_mean() {
        assert_eq!(tokens(r#""a\"b\x41\101\n""#), [Token::Text("a\"bAA\n".to_owned())]);
        assert_eq!(tokens("\"open"), [Token::Text("open".to_owned())]);
    }
}
