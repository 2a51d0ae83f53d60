//! What code is made of, before it means anything.

use std::rc::Rc;

/// How far back is looked for the loop that a `do` belongs to, in tokens (ours).
const LOOKBACK: usize = 64;

/// A language whose code is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python
    Python,
    /// JavaScript and TypeScript
    JavaScript,
    /// Perl
    Perl,
    /// Ruby
    Ruby,
    /// PHP
    Php,
    /// Lua
    Lua,
    /// R
    R,
}

impl Language {
    /// The language that a program runs, by its basename without a version.
    pub fn of(program: &str) -> Option<Self> {
        Some(match program {
            "python" | "python2" | "python3" | "pypy" | "pypy3" | "ipython" | "py" | "micropython" => {
                Self::Python
            }
            "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" | "esno" | "swc-node" | "babel-node"
            | "vite-node" | "qjs" | "zx" => Self::JavaScript,
            "perl" | "perl5" => Self::Perl,
            "ruby" | "jruby" | "truffleruby" => Self::Ruby,
            "php" => Self::Php,
            "lua" | "luajit" | "texlua" => Self::Lua,
            "Rscript" | "R" => Self::R,
            _ => {
                let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
                return if plain == program || plain.is_empty() { None } else { Self::of(plain) };
            }
        })
    }

    /// Whether code of the language is read as a tree, by a parser.
    pub fn has_tree(self) -> bool {
        match self {
            Self::Python | Self::JavaScript => true,
            Self::Perl | Self::Ruby | Self::Php | Self::Lua | Self::R => false,
        }
    }

    /// Whether a call may go without parentheses: `system "ls"`.
    pub fn calls_without_parentheses(self) -> bool {
        match self {
            Self::Perl | Self::Ruby | Self::Lua => true,
            Self::Python | Self::JavaScript | Self::Php | Self::R => false,
        }
    }

    /// Whether the end of a line ends a statement.
    pub fn ends_at_lines(self) -> bool {
        match self {
            Self::Python | Self::Ruby | Self::Lua | Self::R | Self::JavaScript => true,
            Self::Perl | Self::Php => false,
        }
    }
}

/// A part of a text in code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands, escapes decoded.
    Text(String),
    /// Code whose value is put in.
    Code(Rc<TokenStream>),
}

/// The smallest part of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// A name or keyword, with the mark of a variable where the language has them: `print`, `$x`, `@list`.
    Word(String),
    /// A text.
    Text(Vec<Piece>),
    /// Several texts at once: `qw(a b)`.
    Words(Vec<String>),
    /// A command of the shell in back-ticks.
    Command(Vec<Piece>),
    /// A regular expression, with code that it runs.
    Pattern(Vec<Piece>),
    /// A number.
    Number(String),
    /// An operator, bracket or other mark.
    Mark(&'static str),
    /// The end of a line, where that may end a statement.
    Line,
}

/// Code as tokens, with the partner of every bracket.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenStream {
    /// The tokens in order.
    pub list: Vec<Token>,
    /// For an opening bracket or word, the place of what closes it; for others themselves.
    partners: Vec<usize>,
    /// Whether some of the code could not be read.
    pub broken: bool,
}

impl TokenStream {
    /// Pairs the brackets of tokens.
    pub fn new(list: Vec<Token>, language: Language, broken: bool) -> Self {
        let mut partners: Vec<usize> = (0..list.len()).collect();
        let mut open: Vec<usize> = Vec::new();
        let mut broken = broken;
        for (place, token) in list.iter().enumerate() {
            if opens(&list, place, language) {
                open.push(place);
            } else if closes(token, language) {
                // What does not fit is left open: a bracket in a text that was read wrongly must not swallow the rest.
                let fitting =
                    open.iter().rposition(|at| list.get(*at).is_some_and(|opener| fit(opener, token)));
                match fitting {
                    Some(index) => {
                        if let Some(at) = open.get(index).copied()
                            && let Some(partner) = partners.get_mut(at)
                        {
                            *partner = place;
                        }
                        broken |= index + 1 != open.len();
                        open.truncate(index);
                    }
                    None => broken = true,
                }
            }
        }
        for at in &open {
            if let Some(partner) = partners.get_mut(*at) {
                *partner = list.len();
            }
        }
        broken |= !open.is_empty();
        Self { list, partners, broken }
    }

    /// Whether there are more tokens than are looked at.
    pub fn is_cut(&self) -> bool {
        self.list.len() >= crate::lexer::TOKENS
    }

    /// The place of what closes the bracket at a place; the end of the code when nothing does.
    pub fn partner(&self, place: usize) -> usize {
        self.partners.get(place).copied().unwrap_or(self.list.len())
    }

    /// The word at a place.
    pub fn word(&self, place: usize) -> Option<&str> {
        match self.list.get(place) {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Whether a mark stands at a place.
    pub fn is(&self, place: usize, mark: &str) -> bool {
        matches!(self.list.get(place), Some(Token::Mark(found)) if *found == mark)
    }

    /// Whether the word stands at a place.
    pub fn is_word(&self, place: usize, word: &str) -> bool {
        self.word(place) == Some(word)
    }
}

/// Words that open a block which `end` closes.
fn opens_block(word: &str, language: Language) -> bool {
    match language {
        Language::Ruby => matches!(
            word,
            "do" | "def"
                | "class"
                | "module"
                | "if"
                | "unless"
                | "while"
                | "until"
                | "case"
                | "begin"
                | "for"
        ),
        Language::Lua => matches!(word, "do" | "function" | "if" | "repeat"),
        Language::Python | Language::JavaScript | Language::Perl | Language::Php | Language::R => false,
    }
}

fn opens(list: &[Token], place: usize, language: Language) -> bool {
    match list.get(place) {
        Some(Token::Mark("(" | "[" | "{")) => true,
        Some(Token::Word(word)) if opens_block(word, language) => {
            let before = place.checked_sub(1).and_then(|before| list.get(before));
            if matches!(before, Some(Token::Mark("." | "&." | "::"))) {
                return false;
            }
            if language == Language::Lua {
                return true;
            }
            match word.as_str() {
                // The `do` of a loop belongs to the loop.
                "do" => !list.get(..place).unwrap_or_default().iter().rev().take(LOOKBACK).take_while(|token| !matches!(token, Token::Line | Token::Mark(";"))).any(
                    |token| matches!(token, Token::Word(word) if matches!(word.as_str(), "while" | "until" | "for")),
                ),
                "if" | "unless" | "while" | "until" => matches!(
                    before,
                    None | Some(Token::Line | Token::Mark(";" | "=" | "(" | "[" | "{" | "," | "|" | "||=" | "->"))
                ) || matches!(before, Some(Token::Word(word)) if matches!(word.as_str(), "then" | "else" | "do" | "begin" | "ensure" | "return")),
                _ => true,
            }
        }
        _ => false,
    }
}

fn closes(token: &Token, language: Language) -> bool {
    match token {
        Token::Mark(")" | "]" | "}") => true,
        Token::Word(word) => match language {
            Language::Ruby => word == "end",
            Language::Lua => word == "end" || word == "until",
            Language::Python | Language::JavaScript | Language::Perl | Language::Php | Language::R => false,
        },
        _ => false,
    }
}

fn fit(opener: &Token, closer: &Token) -> bool {
    matches!(
        (opener, closer),
        (Token::Mark("("), Token::Mark(")"))
            | (Token::Mark("["), Token::Mark("]"))
            | (Token::Mark("{"), Token::Mark("}"))
            | (Token::Word(_), Token::Word(_))
    )
}
