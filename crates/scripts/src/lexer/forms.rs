//! Forms that only one language has.

use std::rc::Rc;

use super::quotes::{closing, code_only};
use super::{Filling, Lexer};
use crate::token::{Language, Piece, Token, TokenStream};

impl Lexer {
    /// Back-ticks, quotes.
    pub(super) fn quoted(&mut self, quote: char) {
        let filling = match (self.language, quote) {
            (Language::Perl | Language::Ruby | Language::Php, '\'') => Filling::Plain,
            (Language::Perl | Language::Ruby | Language::Php, _) => Filling::Values,
            _ => Filling::Escapes,
        };
        let pieces = self.delimited(quote, filling, false);
        let is_command =
            quote == '`' && matches!(self.language, Language::Perl | Language::Ruby | Language::Php);
        self.push(if is_command { Token::Command(pieces) } else { Token::Text(pieces) });
    }

    /// A variable with its mark: `$x`, `@list`, `%map`, `$_`, `$0`, `@$x`, `$#list`.
    pub(super) fn variable(&mut self, sigils: &str) -> bool {
        let sigil = self.peek(0);
        if !sigils.contains(sigil) {
            return false;
        }
        // No operator of Perl is `@`, and behind these words stands a variable: `my %map`.
        let is_perl = self.language == Language::Perl;
        let is_wanted = is_perl
            && (sigil == '@'
                || matches!(self.tokens.last(), Some(Token::Word(word))
                    if matches!(word.as_str(), "my" | "our" | "local" | "keys" | "values" | "each" | "scalar" | "delete")));
        if matches!(sigil, '%' | '&' | '@') && !is_wanted && self.after_value() {
            return false;
        }
        let next = self.peek(1);
        if self.language == Language::Perl && sigil == '$' && next == '#' {
            self.at += if self.peek(2) == '{' || self.peek(2) == '$' { 2 } else { 1 };
            while Self::is_name(self.peek(1)) {
                self.at += 1;
            }
            self.at += 1;
            self.push(Token::Number("0".to_owned()));
            return true;
        }
        let mut end = self.at + 1;
        // The main package has the names without one: `$main::x`, `$::x` (perlmod, "Packages").
        let package = ["main::", "::"].iter().find(|package| is_perl && self.stands_at(self.at + 1, package));
        let package = package.map_or(0, |package| package.len());
        end += package;
        if package > 0 || next.is_alphabetic() || next == '_' {
            while let Some(c) = self.text.get(end) {
                let joins = self.language == Language::Perl
                    && *c == ':'
                    && self.text.get(end + 1) == Some(&':')
                    && self.text.get(end + 2).is_some_and(|c| c.is_alphabetic());
                if joins {
                    end += 2;
                } else if c.is_alphanumeric() || *c == '_' {
                    end += 1;
                } else {
                    break;
                }
            }
        } else if next.is_ascii_digit() {
            while self.text.get(end).is_some_and(char::is_ascii_digit) {
                end += 1;
            }
        } else if self.language == Language::Perl
            && sigil == '$'
            && "!@/\\,;&0.+^$\"'|-".contains(next)
            && next != '\0'
        {
            if next == '$' && (self.peek(2).is_alphabetic() || self.peek(2) == '_') {
                // `$$x`
                self.at += 1;
                return true;
            }
            end += 1;
        } else if next == '{' || next == '$' {
            // `@{...}`, `@$x`: what follows is a value itself. In front of a statement it is no block, and no variable of that name.
            if sigil == '$' && self.begins_statement() && (next == '{' || self.language == Language::Php) {
                self.push(Token::Mark("$"));
            }
            self.at += 1;
            return true;
        } else {
            return false;
        }
        let name = self.text.get(self.at + 1 + package..end).unwrap_or_default();
        let word: String = std::iter::once(sigil).chain(name.iter().copied()).collect();
        self.at = end;
        self.push(Token::Word(word));
        true
    }

    /// Whether a text stands at a place.
    fn stands_at(&self, at: usize, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, c)| self.text.get(at + ahead) == Some(&c))
            && self.text.get(at + text.len()).is_some_and(|c| c.is_alphabetic() || *c == '_')
    }

    /// Whether a statement begins here, as far as the tokens before say.
    fn begins_statement(&self) -> bool {
        matches!(self.tokens.last(), None | Some(Token::Line | Token::Mark(";" | "{" | "}")))
    }

    pub(super) fn perl_special(&mut self) -> bool {
        if self.variable("$@%&") {
            return true;
        }
        let c = self.peek(0);
        // What stands behind a word without a mark is given to it: `unlink for <*.o>`.
        let is_given = matches!(self.tokens.last(), Some(Token::Word(word)) if !word.starts_with(['$', '@', '%']))
            && !self.peek(1).is_whitespace()
            && self.peek(1) != '=';
        if c == '<' && (!self.after_value() || is_given) {
            if self.here_document("<<") {
                return true;
            }
            // `<STDIN>`, `<$handle>`, `<*.c>`
            let mut ahead = 1;
            while self.peek(ahead) != '>'
                && self.peek(ahead) != '\n'
                && self.peek(ahead) != '\0'
                && ahead < 200
            {
                ahead += 1;
            }
            if self.peek(ahead) == '>' {
                let inner: String = (1..ahead).map(|ahead| self.peek(ahead)).collect();
                self.at += ahead + 1;
                let name = inner.trim_start_matches('$');
                let is_handle = inner.starts_with('$') && !name.is_empty() && name.chars().all(Self::is_name);
                if is_handle {
                    self.push(Token::Word("<$>".to_owned()));
                    self.push(Token::Mark("("));
                    self.push(Token::Word(inner));
                    self.push(Token::Mark(")"));
                    return true;
                }
                self.push(Token::Word("<>".to_owned()));
                if inner.contains(['*', '?', '/']) {
                    self.push(Token::Mark("("));
                    self.push(Token::Text(vec![Piece::Text(inner)]));
                    self.push(Token::Mark(")"));
                }
                return true;
            }
        }
        if c == '/' && !self.after_value() {
            let pieces = self.delimited('/', Filling::RawValues, false);
            self.flags();
            self.push(Token::Pattern(code_only(pieces)));
            return true;
        }
        self.perl_quote()
    }

    /// `q()`, `qq{}`, `qw()`, `qx``, `m//`, `qr//`, `s///e`, `tr///`, `y///`
    pub(super) fn perl_quote(&mut self) -> bool {
        if Self::is_name(self.text.get(self.at.wrapping_sub(1)).copied().unwrap_or(' ')) {
            return false;
        }
        let Some(word) =
            ["qq", "qw", "qx", "qr", "tr", "q", "m", "s", "y"].into_iter().find(|word| self.starts(word))
        else {
            return false;
        };
        let mut ahead = word.len();
        if Self::is_name(self.peek(ahead)) {
            return false;
        }
        while self.peek(ahead) == ' ' {
            ahead += 1;
        }
        let open = self.peek(ahead);
        let spaced = ahead > word.len();
        if open == '\0'
            || open.is_whitespace()
            || open.is_alphanumeric()
            || matches!(open, ',' | ';' | ')')
            || (spaced && matches!(open, '=' | '#' | '-' | '.'))
        {
            return false;
        }
        if open == '=' && (self.peek(ahead + 1) == '>' || self.peek(ahead + 1) == '=') {
            return false;
        }
        if matches!(self.tokens.last(), Some(Token::Mark("->")))
            || (open == '}' && matches!(self.tokens.last(), Some(Token::Mark("{"))))
        {
            return false;
        }
        self.at += ahead;
        match word {
            "q" => {
                let pieces = self.delimited(open, Filling::Plain, false);
                self.push(Token::Text(pieces));
            }
            "qq" => {
                let pieces = self.delimited(open, Filling::Values, false);
                self.push(Token::Text(pieces));
            }
            "qx" => {
                let pieces =
                    self.delimited(open, if open == '\'' { Filling::Plain } else { Filling::Values }, false);
                self.push(Token::Command(pieces));
            }
            "qw" => {
                let body = self.body(open, false, Filling::Plain);
                self.push(Token::Words(body.split_whitespace().map(str::to_owned).collect()));
            }
            "m" | "qr" => {
                let pieces = self.delimited(open, Filling::RawValues, false);
                self.flags();
                self.push(Token::Pattern(code_only(pieces)));
            }
            _ => {
                let mut pieces = code_only(self.delimited(
                    open,
                    if word == "s" { Filling::RawValues } else { Filling::Raw },
                    false,
                ));
                let second = if closing(open) == open {
                    self.at -= 1;
                    open
                } else {
                    while self.peek(0).is_whitespace() {
                        self.at += 1;
                    }
                    self.peek(0)
                };
                let replacement = self.body(second, false, Filling::Plain);
                let flags = self.flags();
                if word == "s" && flags.contains('e') {
                    let code = self.nested(&replacement);
                    if flags.matches('e').count() > 1 {
                        // What the code gives is run as code again.
                        pieces.push(Piece::Code(Rc::new(TokenStream::new(
                            vec![Token::Word("eval".to_owned()), Token::Word("$replacement".to_owned())],
                            self.language,
                            false,
                        ))));
                    }
                    pieces.push(Piece::Code(code));
                } else if word == "s" {
                    pieces.extend(code_only(self.filled(&replacement, Filling::Values, second)));
                }
                self.push(Token::Pattern(pieces));
            }
        }
        true
    }

    pub(super) fn ruby_special(&mut self) -> bool {
        let c = self.peek(0);
        if matches!(c, '$' | '@') {
            let mut ahead = 1;
            while self.peek(ahead) == '@' {
                ahead += 1;
            }
            if Self::is_name(self.peek(ahead))
                || (c == '$' && "!@~&/\\,;.<>_0*$?:\"".contains(self.peek(ahead)))
            {
                let from = self.at;
                self.at += ahead + 1;
                while Self::is_name(self.peek(0))
                    && Self::is_name(self.text.get(self.at - 1).copied().unwrap_or(' '))
                {
                    self.at += 1;
                }
                let word = self.text.get(from..self.at).unwrap_or_default().iter().collect();
                self.push(Token::Word(word));
                return true;
            }
        }
        if c == ':' && (self.peek(1).is_alphabetic() || self.peek(1) == '_') && !self.after_value() {
            self.at += 1;
            let from = self.at;
            while Self::is_name(self.peek(0)) {
                self.at += 1;
            }
            let text = self.text.get(from..self.at).unwrap_or_default().iter().collect();
            self.push(Token::Text(vec![Piece::Text(text)]));
            return true;
        }
        let spaced_operand = || {
            let before = self.text.get(self.at.wrapping_sub(1)).copied().unwrap_or(' ');
            before == ' ' && self.peek(1) != ' ' && self.peek(1) != '='
        };
        let may_begin =
            !self.after_value() || (matches!(self.tokens.last(), Some(Token::Word(_))) && spaced_operand());
        if c == '/' && may_begin {
            let pieces = self.delimited('/', Filling::RawValues, false);
            self.flags();
            self.push(Token::Pattern(code_only(pieces)));
            return true;
        }
        if c == '<'
            && (!self.after_value() || matches!(self.tokens.last(), Some(Token::Word(_))))
            && self.here_document("<<")
        {
            return true;
        }
        if c == '%' && may_begin {
            let kind = self.peek(1);
            let (kind, ahead) = if "qQwWixrs".contains(kind) { (kind, 2) } else { ('Q', 1) };
            let open = self.peek(ahead);
            if !matches!(open, '(' | '[' | '{' | '<' | '|' | '!' | '/') {
                return false;
            }
            self.at += ahead;
            match kind {
                'w' | 'W' | 'i' => {
                    let body = self.body(open, false, Filling::Plain);
                    self.push(Token::Words(body.split_whitespace().map(str::to_owned).collect()));
                }
                'x' => {
                    let pieces = self.delimited(open, Filling::Values, false);
                    self.push(Token::Command(pieces));
                }
                'r' => {
                    let pieces = self.delimited(open, Filling::RawValues, false);
                    self.flags();
                    self.push(Token::Pattern(code_only(pieces)));
                }
                'q' => {
                    let pieces = self.delimited(open, Filling::Plain, false);
                    self.push(Token::Text(pieces));
                }
                _ => {
                    let pieces = self.delimited(open, Filling::Values, false);
                    self.push(Token::Text(pieces));
                }
            }
            return true;
        }
        false
    }
}
