//! From the text of code to tokens: comments, all forms of text, regular expressions, here-documents.

mod forms;
mod quotes;

use crate::token::{Language, Piece, Token, TokenStream};

/// The greatest number of tokens that are looked at (ours).
pub(crate) const TOKENS: usize = 80_000;
/// How deep code in texts in code may be nested (ours).
const NESTING: usize = 6;

/// The marks of the languages, longest first.
const MARKS: &[&str] = &[
    "...", "===", "!==", "**=", "//=", "<=>", "||=", "&&=", "??=", "<<-", "|>>", "::", "->", "=>", "=~",
    "!~", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "&.", "**", "//", "<<", ">>", "++", "--", "+=",
    "-=", "*=", "/=", ".=", "%=", "|=", "&=", "^=", ":=", "..", "<-", "~=", "|>", "(", ")", "[", "]", "{",
    "}", ".", ",", ";", ":", "=", "+", "-", "*", "/", "%", "<", ">", "!", "?", "&", "|", "^", "~", "@", "#",
    "\\", "$",
];

/// The tokens of code.
pub fn tokens(text: &str, language: Language) -> TokenStream {
    read_nested(text, language, 0)
}

fn read_nested(text: &str, language: Language, nesting: usize) -> TokenStream {
    let mut lexer = Lexer {
        text: text.chars().collect(),
        at: 0,
        language,
        tokens: Vec::new(),
        brackets: Vec::new(),
        pending: Vec::new(),
        nesting,
        broken: false,
    };
    lexer.run();
    TokenStream::new(lexer.tokens, language, lexer.broken)
}

/// Whether a text takes values in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filling {
    /// As it stands, escapes too.
    Raw,
    /// As it stands, but for the delimiter and the backslash.
    Plain,
    /// Escapes mean something.
    Escapes,
    /// Escapes mean something, and values are put in.
    Values,
    /// Values are put in, escapes stand.
    RawValues,
}

/// A here-document whose body begins at the next line.
struct Pending {
    tag: String,
    filling: Filling,
    token: usize,
    command: bool,
}

struct Lexer {
    text: Vec<char>,
    at: usize,
    language: Language,
    tokens: Vec<Token>,
    brackets: Vec<&'static str>,
    pending: Vec<Pending>,
    nesting: usize,
    broken: bool,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> char {
        self.text.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn starts(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(index, c)| self.text.get(self.at + index) == Some(&c))
    }

    fn more(&self) -> bool {
        self.at < self.text.len()
    }

    fn push(&mut self, token: Token) {
        self.tokens.push(token);
    }

    fn at_line_start(&self) -> bool {
        self.at == 0 || self.text.get(self.at - 1) == Some(&'\n')
    }

    fn run(&mut self) {
        if self.language == Language::Php && self.nesting == 0 {
            self.skip_page();
        }
        if self.starts("#!") {
            self.skip_line();
        }
        while self.more() {
            if self.tokens.len() >= TOKENS {
                self.broken = true;
                break;
            }
            let before = self.at;
            self.next();
            if self.at == before {
                self.at += 1;
            }
        }
    }

    /// A page of PHP is text up to `<?php`; code given as a word has no such mark.
    fn skip_page(&mut self) {
        let page: String = self.text.iter().collect();
        if let Some(at) = page.find("<?") {
            self.at = page.get(..at).unwrap_or_default().chars().count() + 2;
            for word in ["php", "="] {
                if self.starts(word) {
                    self.at += word.len();
                }
            }
        }
    }

    fn next(&mut self) {
        let c = self.peek(0);
        match c {
            '\n' => self.line(),
            ' ' | '\t' | '\r' | '\u{c}' => self.at += 1,
            '\\' if self.peek(1) == '\n' => self.at += 2,
            _ if self.comment() => {}
            _ if self.special() => {}
            '"' | '\'' | '`' => self.quoted(c),
            _ if c.is_ascii_digit() || (c == '.' && self.peek(1).is_ascii_digit() && !self.after_value()) => {
                self.number();
            }
            _ if c.is_alphabetic() || c == '_' => self.word(),
            _ => self.mark(),
        }
    }

    fn line(&mut self) {
        self.at += 1;
        let pending = std::mem::take(&mut self.pending);
        for document in pending {
            self.document(&document);
        }
        let counts = match self.brackets.last() {
            None => true,
            Some(open) => *open == "{",
        };
        if counts && self.language.ends_at_lines() && !matches!(self.tokens.last(), Some(Token::Line) | None)
        {
            self.push(Token::Line);
        }
    }

    fn skip_line(&mut self) {
        while self.more() && self.peek(0) != '\n' {
            self.at += 1;
        }
    }

    fn skip_past(&mut self, end: &str) {
        while self.more() && !self.starts(end) {
            self.at += 1;
        }
        self.at += end.chars().count();
    }

    fn comment(&mut self) -> bool {
        let hash = matches!(self.language, Language::Perl | Language::Ruby | Language::Php | Language::R);
        let slashes = self.language == Language::Php;
        match self.peek(0) {
            '#' if hash && !(self.language == Language::Php && self.peek(1) == '[') => {
                self.skip_line();
                true
            }
            '/' if slashes && self.peek(1) == '/' => {
                self.skip_line();
                true
            }
            '/' if slashes && self.peek(1) == '*' => {
                self.skip_past("*/");
                true
            }
            '-' if self.language == Language::Lua && self.peek(1) == '-' => {
                self.at += 2;
                match self.long_bracket() {
                    Some(_) => {}
                    None => self.skip_line(),
                }
                true
            }
            '=' if self.at_line_start() && self.peek(1).is_ascii_alphabetic() => match self.language {
                Language::Perl => {
                    self.skip_past("\n=cut");
                    self.skip_line();
                    true
                }
                Language::Ruby if self.starts("=begin") => {
                    self.skip_past("\n=end");
                    self.skip_line();
                    true
                }
                _ => false,
            },
            '_' if matches!(self.language, Language::Perl | Language::Ruby)
                && (self.starts("__END__")
                    || (self.language == Language::Perl && self.starts("__DATA__"))) =>
            {
                self.at = self.text.len();
                true
            }
            '?' if self.language == Language::Php && self.starts("?>") => {
                self.skip_past("<?php");
                self.push(Token::Mark(";"));
                true
            }
            _ => false,
        }
    }

    /// The text in `[[ ]]` or `[==[ ]==]` of Lua.
    fn long_bracket(&mut self) -> Option<String> {
        let mut level = 0;
        while self.peek(1 + level) == '=' {
            level += 1;
        }
        if self.peek(0) != '[' || self.peek(1 + level) != '[' {
            return None;
        }
        self.at += level + 2;
        let end = format!("]{}]", "=".repeat(level));
        let from = self.at;
        self.skip_past(&end);
        let to = (self.at - end.len()).min(self.text.len());
        Some(self.text.get(from..to).unwrap_or_default().iter().collect())
    }

    /// Whether what stands before is a value, so that a slash divides and a sign is an operator.
    fn after_value(&self) -> bool {
        match self.tokens.last() {
            Some(
                Token::Text(_) | Token::Number(_) | Token::Command(_) | Token::Pattern(_) | Token::Words(_),
            ) => true,
            Some(Token::Mark(mark)) => matches!(*mark, ")" | "]" | "}"),
            Some(Token::Word(word)) => !matches!(
                word.as_str(),
                "return"
                    | "typeof"
                    | "case"
                    | "in"
                    | "of"
                    | "if"
                    | "unless"
                    | "and"
                    | "or"
                    | "not"
                    | "split"
                    | "grep"
                    | "map"
                    | "join"
                    | "push"
                    | "unshift"
                    | "while"
                    | "until"
                    | "when"
                    | "then"
                    | "else"
                    | "print"
                    | "puts"
                    | "p"
                    | "await"
                    | "yield"
                    | "delete"
                    | "void"
                    | "new"
                    | "x"
                    | "lt"
                    | "gt"
                    | "eq"
                    | "ne"
                    | "cmp"
                    | "do"
                    | "elsif"
                    | "unlink"
                    | "system"
                    | "exec"
            ),
            Some(Token::Line) | None => false,
        }
    }

    /// Forms that only one language has.
    fn special(&mut self) -> bool {
        match self.language {
            // These are read as trees.
            Language::Python | Language::JavaScript => false,
            Language::Perl => self.perl_special(),
            Language::Ruby => self.ruby_special(),
            Language::Php => self.variable("$") || self.here_document("<<<"),
            Language::Lua => match self.peek(0) {
                '[' if matches!(self.peek(1), '[' | '=') => match self.long_bracket() {
                    Some(text) => {
                        self.push(Token::Text(vec![Piece::Text(text)]));
                        true
                    }
                    None => false,
                },
                _ => false,
            },
            Language::R => {
                if matches!(self.peek(0), 'r' | 'R') && self.peek(1) == '"' && self.peek(2) == '(' {
                    self.at += 3;
                    let from = self.at;
                    self.skip_past(")\"");
                    let to = self.at.saturating_sub(2).max(from);
                    let text = self.text.get(from..to).unwrap_or_default().iter().collect();
                    self.push(Token::Text(vec![Piece::Text(text)]));
                    return true;
                }
                false
            }
        }
    }

    fn flags(&mut self) -> String {
        let from = self.at;
        while self.peek(0).is_ascii_alphabetic() {
            self.at += 1;
        }
        self.text.get(from..self.at).unwrap_or_default().iter().collect()
    }

    fn number(&mut self) {
        let from = self.at;
        while self.peek(0).is_ascii_alphanumeric()
            || self.peek(0) == '_'
            || (self.peek(0) == '.' && self.peek(1).is_ascii_digit())
        {
            self.at += 1;
        }
        let text: String =
            self.text.get(from..self.at).unwrap_or_default().iter().filter(|c| **c != '_').collect();
        self.push(Token::Number(text));
    }

    fn word(&mut self) {
        let from = self.at;
        while Self::is_name(self.peek(0)) || (self.at == from && self.peek(0) == '$') {
            self.at += 1;
        }
        // `nil?`, `delete!`
        if self.language == Language::Ruby && matches!(self.peek(0), '?' | '!') && self.peek(1) != '=' {
            self.at += 1;
        }
        // `File::Path` is one name in Perl; `a.b` in R.
        if self.language == Language::Perl {
            while self.starts("::") && Self::is_name(self.peek(2)) {
                self.at += 2;
                while Self::is_name(self.peek(0)) {
                    self.at += 1;
                }
            }
        }
        if self.language == Language::R {
            while Self::is_name(self.peek(0)) || self.peek(0) == '.' {
                self.at += 1;
            }
        }
        let word: String = self.text.get(from..self.at).unwrap_or_default().iter().collect();
        self.push(Token::Word(word));
    }

    fn is_name(c: char) -> bool {
        c.is_alphanumeric() || c == '_'
    }

    fn mark(&mut self) {
        let Some(mark) = MARKS.iter().find(|mark| self.starts(mark)).copied() else {
            self.at += 1;
            return;
        };
        match mark {
            "(" | "[" | "{" => self.brackets.push(mark),
            ")" | "]" | "}" => {
                self.brackets.pop();
            }
            _ => {}
        }
        self.at += mark.len();
        self.push(Token::Mark(mark));
    }
}
