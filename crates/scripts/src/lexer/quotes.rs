//! Texts: where they end, escapes, and the code that is put into them.

use std::rc::Rc;

use super::{Filling, Lexer, NESTING, Pending, read_nested};
use crate::token::{Language, Piece, Token, TokenStream};

impl Lexer {
    /// What stands from the opening delimiter at the present place to the closing one.
    pub(super) fn delimited(&mut self, open: char, filling: Filling, classes: bool) -> Vec<Piece> {
        let body = self.body(open, classes, filling);
        self.filled(&body, filling, closing(open))
    }

    /// The text between delimiters as it is written, nested brackets counted.
    pub(super) fn body(&mut self, open: char, classes: bool, filling: Filling) -> String {
        let close = closing(open);
        let from = self.at + 1;
        self.at = from;
        let mut level = 0_usize;
        let mut in_class = false;
        while self.more() {
            let c = self.peek(0);
            if c == '\\' && !(filling == Filling::Raw && self.language == Language::Lua) {
                self.at += 2;
                continue;
            }
            if self.language == Language::Ruby
                && filling == Filling::Values
                && c == '#'
                && self.peek(1) == '{'
            {
                self.at += 2;
                self.skip_code();
                continue;
            }
            match c {
                '[' if classes => in_class = true,
                ']' if classes => in_class = false,
                _ if c == close && !in_class => {
                    if level == 0 {
                        break;
                    }
                    level -= 1;
                }
                _ if c == open && open != close => level += 1,
                _ => {}
            }
            self.at += 1;
        }
        let to = self.at.min(self.text.len());
        self.broken |= self.at >= self.text.len();
        let body = self.text.get(from..to).unwrap_or_default().iter().collect();
        self.at += 1;
        body
    }

    /// Past the `}` that closes code put into a text.
    pub(super) fn skip_code(&mut self) {
        let mut level = 1_usize;
        let mut quote: Option<char> = None;
        while self.more() {
            let c = self.peek(0);
            self.at += 1;
            match quote {
                Some(open) => {
                    if c == '\\' {
                        self.at += 1;
                    } else if c == open {
                        quote = None;
                    }
                }
                None => match c {
                    '"' | '\'' | '`' => quote = Some(c),
                    '{' => level += 1,
                    '}' => {
                        level -= 1;
                        if level == 0 {
                            return;
                        }
                    }
                    _ => {}
                },
            }
        }
    }

    /// `<<"EOF"`, `<<~EOF`, `<<<'EOF'`: the body begins at the next line.
    pub(super) fn here_document(&mut self, mark: &str) -> bool {
        if !self.starts(mark) {
            return false;
        }
        let mut ahead = mark.len();
        while matches!(self.peek(ahead), '~' | '-') || (mark == "<<<" && self.peek(ahead) == ' ') {
            ahead += 1;
        }
        let quote = match self.peek(ahead) {
            quote @ ('"' | '\'' | '`') => {
                ahead += 1;
                Some(quote)
            }
            c if c.is_ascii_uppercase() || c == '_' || (mark == "<<<" && c.is_alphabetic()) => None,
            _ => return false,
        };
        let from = self.at + ahead;
        let mut to = from;
        while self.text.get(to).is_some_and(|c| match quote {
            Some(quote) => *c != quote && *c != '\n',
            None => c.is_alphanumeric() || *c == '_',
        }) {
            to += 1;
        }
        let tag: String = self.text.get(from..to).unwrap_or_default().iter().collect();
        self.at = to + usize::from(quote.is_some());
        let filling = if quote == Some('\'') { Filling::Raw } else { Filling::Values };
        self.pending.push(Pending { tag, filling, token: self.tokens.len(), command: quote == Some('`') });
        self.push(Token::Text(Vec::new()));
        true
    }

    pub(super) fn document(&mut self, document: &Pending) {
        let mut body = String::new();
        loop {
            if !self.more() {
                self.broken = true;
                break;
            }
            let from = self.at;
            self.skip_line();
            let line: String = self.text.get(from..self.at).unwrap_or_default().iter().collect();
            let trimmed = line.trim().trim_end_matches(';').trim_end_matches(')');
            if trimmed == document.tag {
                // What follows the tag on its line belongs to the statement.
                let leading = line.chars().take_while(|c| c.is_whitespace()).count();
                self.at = from + leading + document.tag.chars().count();
                break;
            }
            body.push_str(&line);
            body.push('\n');
            self.at += 1;
        }
        let pieces = self.filled(&body, document.filling, '\0');
        if let Some(token) = self.tokens.get_mut(document.token) {
            *token = if document.command { Token::Command(pieces) } else { Token::Text(pieces) };
        }
    }

    pub(super) fn nested(&mut self, code: &str) -> Rc<TokenStream> {
        if self.nesting >= NESTING {
            self.broken = true;
            return Rc::new(TokenStream::default());
        }
        let tokens = read_nested(code, self.language, self.nesting + 1);
        self.broken |= tokens.broken;
        Rc::new(tokens)
    }

    /// The pieces of a text as it is written.
    pub(super) fn filled(&mut self, body: &str, filling: Filling, close: char) -> Vec<Piece> {
        let text: Vec<char> = body.chars().collect();
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        let peek = |at: usize| text.get(at).copied().unwrap_or('\0');
        while at < text.len() {
            let c = peek(at);
            match filling {
                Filling::Raw => {
                    plain.push(c);
                    at += 1;
                    continue;
                }
                Filling::Plain => {
                    if c == '\\' && (peek(at + 1) == '\\' || peek(at + 1) == close) {
                        at += 1;
                    }
                    plain.push(peek(at));
                    at += 1;
                    continue;
                }
                Filling::Escapes | Filling::Values | Filling::RawValues => {}
            }
            if c == '\\' {
                if filling == Filling::RawValues {
                    plain.push(c);
                    plain.push(peek(at + 1));
                    at += 2;
                } else {
                    at = escape(&text, at, &mut plain, if self.language == Language::Lua { 10 } else { 8 });
                }
                continue;
            }
            if filling != Filling::Escapes
                && let Some((code, next)) = self.inserted(&text, at)
            {
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                let code = self.nested(&code);
                pieces.push(Piece::Code(code));
                at = next;
                continue;
            }
            plain.push(c);
            at += 1;
        }
        if !plain.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        pieces
    }

    /// Code that is put into a text at a place, and where the text goes on.
    pub(super) fn inserted(&self, text: &[char], at: usize) -> Option<(String, usize)> {
        let peek = |at: usize| text.get(at).copied().unwrap_or('\0');
        let braced = |open: usize| -> (String, usize) {
            let mut level = 0_usize;
            let mut end = open;
            while end < text.len() {
                match peek(end) {
                    '{' => level += 1,
                    '}' => level = level.saturating_sub(1),
                    _ => {}
                }
                if level == 0 {
                    break;
                }
                end += 1;
            }
            (text.get(open + 1..end.min(text.len())).unwrap_or_default().iter().collect(), end + 1)
        };
        match (self.language, peek(at)) {
            (Language::Php, '{') if peek(at + 1) == '$' => Some(braced(at)),
            (Language::Perl | Language::Php, '$') if peek(at + 1) == '{' => {
                let (name, next) = braced(at + 1);
                let code = if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                    format!("${name}")
                } else {
                    name
                };
                Some((code, next))
            }
            (Language::Ruby, '#') | (Language::Perl, '@') if peek(at + 1) == '{' => Some(braced(at + 1)),
            (Language::Perl, '$' | '@') | (Language::Php, '$')
                if peek(at + 1).is_alphabetic()
                    || peek(at + 1) == '_'
                    || (peek(at) == '$' && peek(at + 1).is_ascii_digit()) =>
            {
                let mut end = at + 1;
                while peek(end).is_alphanumeric() || peek(end) == '_' {
                    end += 1;
                }
                loop {
                    let open =
                        if peek(end) == '-' && peek(end + 1) == '>' && matches!(peek(end + 2), '[' | '{') {
                            end + 2
                        } else {
                            end
                        };
                    let close = match peek(open) {
                        '[' if self.language == Language::Php || "$0123456789-".contains(peek(open + 1)) => {
                            ']'
                        }
                        '{' if self.language == Language::Perl => '}',
                        _ => break,
                    };
                    let Some(length) =
                        text.get(open..).and_then(|rest| rest.iter().position(|c| *c == close))
                    else {
                        break;
                    };
                    end = open + length + 1;
                }
                Some((text.get(at..end).unwrap_or_default().iter().collect(), end))
            }
            _ => None,
        }
    }
}

/// What closes what is opened so.
pub(super) fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

/// The code in a regular expression: values that are put in, and `(?{ code })` of Perl.
pub(super) fn code_only(pieces: Vec<Piece>) -> Vec<Piece> {
    let runs = |piece: &Piece| match piece {
        Piece::Code(_) => true,
        Piece::Text(text) => text.contains("(?{") || text.contains("(??{"),
    };
    pieces.into_iter().filter(runs).collect()
}

/// Adds the bytes that escapes with a number above those of ASCII stand for, as the letters that they make up together; each byte that is
/// no text is the sign for that. Answers where the text goes on, or nothing where no such escape stands.
fn bytes(text: &[char], at: usize, plain: &mut String, radix: u32) -> Option<usize> {
    let peek = |at: usize| text.get(at).copied().unwrap_or('\0');
    let one = |at: usize| -> Option<(u8, usize)> {
        let (from, most, radix) = match (peek(at), peek(at + 1)) {
            ('\\', 'x') if peek(at + 2).is_ascii_hexdigit() => (at + 2, 2, 16),
            ('\\', digit) if digit.is_ascii_digit() && digit.is_digit(radix) => (at + 1, 3, radix),
            _ => return None,
        };
        let digits: String =
            text.get(from..)?.iter().take(most).take_while(|digit| digit.is_digit(radix)).collect();
        let byte = u8::from_str_radix(&digits, radix).ok().filter(|byte| !byte.is_ascii())?;
        Some((byte, from + digits.len()))
    };
    let (mut found, mut next) = (Vec::new(), at);
    while let Some((byte, end)) = one(next) {
        found.push(byte);
        next = end;
    }
    for chunk in found.utf8_chunks() {
        plain.push_str(chunk.valid());
        plain.extend(std::iter::repeat_n(char::REPLACEMENT_CHARACTER, chunk.invalid().len()));
    }
    (!found.is_empty()).then_some(next)
}

/// Adds what an escape stands for; answers where the text goes on.
pub(super) fn escape(text: &[char], at: usize, plain: &mut String, radix: u32) -> usize {
    let peek = |at: usize| text.get(at).copied().unwrap_or('\0');
    let digits = |from: usize, most: usize, radix: u32| -> (Option<char>, usize) {
        let mut end = from;
        while end < text.len() && end - from < most && peek(end).is_digit(radix) {
            end += 1;
        }
        let number: String = text.get(from..end).unwrap_or_default().iter().collect();
        (u32::from_str_radix(&number, radix).ok().and_then(char::from_u32), end)
    };
    if let Some(next) = bytes(text, at, plain, radix) {
        return next;
    }
    let (found, next) = match peek(at + 1) {
        'n' => (Some('\n'), at + 2),
        't' => (Some('\t'), at + 2),
        'r' => (Some('\r'), at + 2),
        'a' => (Some('\u{7}'), at + 2),
        'e' => (Some('\u{1b}'), at + 2),
        '\n' => (None, at + 2),
        'x' if peek(at + 2).is_ascii_hexdigit() => digits(at + 2, 2, 16),
        'u' | 'x' if peek(at + 2) == '{' => {
            let (found, end) = digits(at + 3, 6, 16);
            (found, end + 1)
        }
        'u' => digits(at + 2, 4, 16),
        'U' => digits(at + 2, 8, 16),
        '0'..='9' if peek(at + 1).is_digit(radix) => digits(at + 1, 3, radix),
        other => (Some(other), at + 2),
    };
    plain.extend(found.filter(|c| at + 1 < text.len() || *c != '\0'));
    next
}
