//! The expression of `find`.

use super::facts::FactTest;
use crate::interpreter::expression::LetterCase;
use crate::interpreter::walks::Choice;
use crate::interpreter::{OTHER_THAN_ASCII, Value};

/// What is known of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    /// It holds.
    Yes,
    /// It does not.
    No,
    /// It depends on what is not known (time, size, content).
    Maybe,
}

impl Truth {
    pub(super) fn of(truth: bool) -> Self {
        if truth { Self::Yes } else { Self::No }
    }

    pub(super) fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
        }
    }

    /// The weaker of two that both must hold.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            (Self::Maybe, _) | (_, Self::Maybe) => Self::Maybe,
        }
    }
}

/// An expression; actions are numbered in the order in which they stand.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    All(Vec<Expression>),
    Any(Vec<Expression>),
    /// One after the other, whatever the first says: `a , b`.
    Both(Vec<Expression>),
    Not(Box<Expression>),
    Name {
        pattern: String,
        fold: bool,
    },
    Path {
        pattern: String,
        fold: bool,
    },
    /// `through` asks for what a symbolic link points to; a broken one is a link then.
    Type {
        letters: Vec<char>,
        through: bool,
    },
    Empty,
    Prune,
    Always,
    Never,
    /// A test on what the system says about a file.
    Facts(FactTest),
    /// A regular expression for the whole path.
    Whole {
        pattern: String,
        letters: LetterCase,
    },
    /// A test that is not evaluated, and that most of what lies anywhere passes.
    Wide,
    /// A test on what the world does not say.
    Unknown,
    MaximumDepth(usize),
    MinimumDepth(usize),
    Do(usize, Action),
}

/// How a regular expression is written (source: the manual of GNU findutils 4.9, "Regular Expressions").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// As Emacs reads it: groups and alternatives have backslashes, `+` and `?` have none.
    Emacs,
    /// As `grep -E` reads it.
    Extended,
    /// In another way.
    Unread,
}

/// An expression of Emacs as `grep -E` would have it.
fn as_extended(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(operator @ ('(' | ')' | '|')) => out.push(operator),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '(' | ')' | '|' | '{' | '}' => out.extend(['\\', letter]),
            other => out.push(other),
        }
    }
    out
}

fn letters_of(word: &str) -> LetterCase {
    if word.starts_with("-i") { LetterCase::Ignored } else { LetterCase::Kept }
}

/// How `find` prints a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// With where the search started.
    Whole,
    /// Without it (`%P`).
    BelowStart,
}

/// What is done with what is found.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Prints the path and this behind it.
    Print {
        end: char,
        form: Form,
    },
    /// Prints something other than one path a line.
    PrintOther,
    Delete,
    /// Writes into a file.
    Write(Value),
    /// `-exec ... ;`
    Execute {
        words: Vec<Value>,
        asks: bool,
        inside: bool,
    },
    /// `-exec ... +`
    ExecuteAll {
        words: Vec<Value>,
        inside: bool,
    },
}

/// The words of `find`, read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parsed {
    pub(super) starts: Vec<Value>,
    /// The file in which the starts stand instead, each with a zero behind it; `-` for the standard input.
    pub(super) listed: Option<Value>,
    pub(super) expression: Expression,
    /// Whether every word was understood.
    pub(super) understood: bool,
    /// Whether `find` would refuse it: an action that does not end.
    pub(super) refused: bool,
    pub(super) links: Links,
    /// Whether directories come after what is in them (`-depth`, `-delete`): then `-prune` does nothing (find(1)).
    pub(super) goes_deep_first: bool,
}

/// What a walk does at a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// It is a link.
    Kept,
    /// It is a link, but where the walk starts (`-H`).
    KeptBelowStarts,
    /// It is what the link leads to (`-L`, `-follow`).
    Followed,
}

impl Parsed {
    /// Whether something but printing is done.
    pub(super) fn acts(&self) -> bool {
        self.expression
            .actions()
            .iter()
            .any(|action| !matches!(action, Action::Print { .. } | Action::PrintOther))
    }
}

impl Expression {
    /// The actions in the order of their numbers.
    pub(super) fn actions(&self) -> Vec<&Action> {
        let mut all = Vec::new();
        self.collect(&mut all);
        all
    }

    fn collect<'a>(&'a self, into: &mut Vec<&'a Action>) {
        match self {
            Self::All(parts) | Self::Any(parts) | Self::Both(parts) => {
                parts.iter().for_each(|part| part.collect(into));
            }
            Self::Not(part) => part.collect(into),
            Self::Do(_, action) => into.push(action),
            Self::Name { .. }
            | Self::Path { .. }
            | Self::Type { .. }
            | Self::Empty
            | Self::Facts(_)
            | Self::Prune
            | Self::Always
            | Self::Never
            | Self::Unknown
            | Self::Whole { .. }
            | Self::Wide
            | Self::MaximumDepth(_)
            | Self::MinimumDepth(_) => {}
        }
    }

    /// Whether what was found true was false after all, so that what stands behind `!` and `-o` is reached: a command may fail, and so may a
    /// deletion.
    pub(super) fn failed(&self, truth: Truth) -> Truth {
        let may_fail =
            self.actions().iter().any(|action| matches!(action, Action::Execute { .. } | Action::Delete));
        if truth == Truth::Yes && may_fail { Truth::Maybe } else { truth.not() }
    }

    /// Name patterns of which everything found must fit one; empty when it need not.
    pub(super) fn possible_names(&self) -> Vec<String> {
        match self {
            Self::Name { pattern, fold: false } => vec![pattern.clone()],
            Self::Name { pattern, fold: true } => vec![in_any_case(pattern)],
            Self::All(parts) => {
                parts.iter().map(Self::possible_names).find(|names| !names.is_empty()).unwrap_or_default()
            }
            Self::Any(parts) => {
                let all: Vec<Vec<String>> = parts.iter().map(Self::possible_names).collect();
                if all.iter().any(Vec::is_empty) { Vec::new() } else { all.concat() }
            }
            Self::Both(_)
            | Self::Not(_)
            | Self::Path { .. }
            | Self::Type { .. }
            | Self::Empty
            | Self::Facts(_)
            | Self::Prune
            | Self::Always
            | Self::Never
            | Self::Unknown
            | Self::Whole { .. }
            | Self::Wide
            | Self::MaximumDepth(_)
            | Self::MinimumDepth(_)
            | Self::Do(..) => Vec::new(),
        }
    }

    /// A path pattern that everything found must fit.
    pub(super) fn required_path(&self) -> Option<String> {
        match self {
            Self::Path { pattern, fold: false } => Some(pattern.clone()),
            Self::All(parts) => parts.iter().find_map(Self::required_path),
            _ => None,
        }
    }

    /// Whether only what holds nothing is found.
    pub(super) fn wants_empty(&self) -> bool {
        matches!(self, Self::Empty) || matches!(self, Self::All(parts) if parts.iter().any(Self::wants_empty))
    }

    /// How far below the start is looked.
    pub(super) fn maximum_depth(&self) -> Option<usize> {
        self.find_depth(&|part| match part {
            Self::MaximumDepth(depth) => Some(*depth),
            _ => None,
        })
    }

    /// How far below the start things must be.
    pub(super) fn minimum_depth(&self) -> Option<usize> {
        self.find_depth(&|part| match part {
            Self::MinimumDepth(depth) => Some(*depth),
            _ => None,
        })
    }

    fn find_depth(&self, pick: &dyn Fn(&Self) -> Option<usize>) -> Option<usize> {
        pick(self).or_else(|| match self {
            // Of several the last one counts.
            Self::All(parts) | Self::Any(parts) | Self::Both(parts) => {
                parts.iter().rev().find_map(|part| part.find_depth(pick))
            }
            Self::Not(part) => part.find_depth(pick),
            _ => None,
        })
    }

    /// Whether some test asks for what the world does not say: an age, a size.
    pub(super) fn asks_unknown(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) | Self::Both(parts) => parts.iter().any(Self::asks_unknown),
            Self::Not(part) => part.asks_unknown(),
            Self::Unknown | Self::Whole { .. } | Self::Wide | Self::Empty | Self::Facts(_) => true,
            Self::Name { .. }
            | Self::Path { .. }
            | Self::Type { .. }
            | Self::Prune
            | Self::Always
            | Self::Never
            | Self::MaximumDepth(_)
            | Self::MinimumDepth(_)
            | Self::Do(..) => false,
        }
    }

    /// Whether some test of what the world does not say leaves only few of the files. What is newer than a day or a year, or larger than
    /// nothing, is most of them.
    fn narrows(&self, sense: Sense) -> bool {
        if !self.asks_unknown() {
            return false;
        }
        match (self, sense) {
            (Self::All(parts), Sense::Asked) | (Self::Any(parts), Sense::Denied) => {
                parts.iter().any(|part| part.narrows(sense))
            }
            // Behind a comma everything is taken, whatever comes before it.
            (Self::Any(parts), Sense::Asked) | (Self::All(parts), Sense::Denied) | (Self::Both(parts), _) => {
                parts.iter().all(|part| part.narrows(sense) || part.chooses_by_name())
            }
            (Self::Not(part), Sense::Asked) => part.narrows(Sense::Denied),
            (Self::Not(part), Sense::Denied) => part.narrows(Sense::Asked),
            (Self::Facts(test), Sense::Asked) => !test.takes_most(),
            (Self::Facts(test), Sense::Denied) => !test.leaves_little(),
            (Self::Wide, sense) => sense == Sense::Denied,
            // Few files are empty, and most are not.
            (Self::Empty, sense) => sense == Sense::Asked,
            (Self::Unknown | Self::Whole { .. }, _) => true,
            (
                Self::Name { .. }
                | Self::Path { .. }
                | Self::Type { .. }
                | Self::Prune
                | Self::Always
                | Self::Never
                | Self::MaximumDepth(_)
                | Self::MinimumDepth(_)
                | Self::Do(..),
                _,
            ) => false,
        }
    }

    fn chooses_by_name(&self) -> bool {
        self.required_path().is_some()
            || self.possible_names().iter().any(|name| name.chars().any(|c| !matches!(c, '*' | '?' | '.')))
    }

    /// By what is chosen among what lies below the start.
    pub(super) fn choice(&self) -> Choice {
        let chooses_by_name = self.chooses_by_name();
        if self.asks_unknown() && (chooses_by_name || self.narrows(Sense::Asked)) {
            Choice::Unseen
        } else if chooses_by_name {
            Choice::ByName
        } else {
            Choice::All
        }
    }

    /// Whether some test chooses among what lies below the start.
    pub(super) fn is_selective(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::is_selective),
            // Behind a comma everything is taken, whatever comes before it.
            Self::Both(parts) => parts.iter().all(Self::is_selective),
            Self::Not(part) => part.is_selective(),
            Self::Always | Self::Do(..) => false,
            Self::Name { .. }
            | Self::Path { .. }
            | Self::Type { .. }
            | Self::Empty
            | Self::Facts(_)
            | Self::Prune
            | Self::Never
            | Self::Unknown
            | Self::Whole { .. }
            | Self::Wide
            | Self::MaximumDepth(_)
            | Self::MinimumDepth(_) => true,
        }
    }
}

/// Whether what passes a test is asked for, or what does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Asked,
    Denied,
}

/// A pattern that fits what another one fits in small or capital letters.
fn in_any_case(pattern: &str) -> String {
    let has_classes = pattern.contains('[');
    let mut all = String::new();
    for letter in pattern.chars() {
        if letter.is_ascii_alphabetic() && !has_classes {
            all.push('[');
            all.push(letter.to_ascii_lowercase());
            all.push(letter.to_ascii_uppercase());
            all.push(']');
        } else if letter.is_alphabetic() {
            all.push('?');
        } else {
            all.push(letter);
        }
    }
    if has_classes { "*".to_owned() } else { all }
}

/// Reads the words of `find`.
pub(super) fn parse(words: &[Value]) -> Parsed {
    let mut reader = Reader {
        words,
        place: 0,
        actions: 0,
        understood: true,
        refused: false,
        listed: None,
        depth: 0,
        syntax: Syntax::Emacs,
    };
    let mut starts = Vec::new();
    let mut links = Links::Kept;
    while let Some(word) = reader.words.get(reader.place) {
        match word.as_exact() {
            Some(option @ ("-H" | "-L" | "-P")) => {
                links = match option {
                    "-L" => Links::Followed,
                    "-H" => Links::KeptBelowStarts,
                    _ => Links::Kept,
                };
                reader.place += 1;
            }
            Some("-D") => reader.place += 2,
            Some(text) if text.starts_with("-O") => reader.place += 1,
            Some(text) if text.starts_with('-') && text.len() > 1 => break,
            Some("(" | "!" | ")" | ",") => break,
            Some(_) | None => {
                starts.push(word.clone());
                reader.place += 1;
            }
        }
    }
    if starts.is_empty() {
        starts.push(Value::exact("."));
    }
    let mut expression = if reader.place < words.len() { reader.list() } else { Expression::Always };
    if reader.place < words.len() {
        reader.understood = false;
    }
    let understood = reader.understood;
    if expression.actions().is_empty() {
        expression = Expression::All(vec![
            expression,
            Expression::Do(0, Action::Print { end: '\n', form: Form::Whole }),
        ]);
    }
    if words.iter().any(|word| word.as_exact() == Some("-follow")) {
        links = Links::Followed;
    }
    let is_said = |name: &str| words.iter().any(|word| word.as_exact() == Some(name));
    let goes_deep_first =
        is_said("-depth") || is_said("-d") || expression.actions().contains(&&Action::Delete);
    let listed = reader.listed;
    Parsed { starts, listed, expression, understood, refused: reader.refused, links, goes_deep_first }
}

/// A pattern for all that fits any pattern whose text a pattern covers; `None` where that may be everything.
fn known_beginning(covering: &str) -> Option<String> {
    let mut beginning = String::new();
    let mut rest = covering;
    loop {
        if let Some(behind) = rest.strip_prefix(OTHER_THAN_ASCII) {
            beginning.push_str(OTHER_THAN_ASCII);
            rest = behind;
            continue;
        }
        let mut letters = rest.chars();
        match letters.next() {
            Some('*' | '?' | '[' | ']' | '\\') | None => break,
            Some(letter) => beginning.push(letter),
        }
        rest = letters.as_str();
    }
    (!beginning.is_empty()).then(|| format!("{beginning}*"))
}

struct Reader<'a> {
    words: &'a [Value],
    place: usize,
    actions: usize,
    understood: bool,
    refused: bool,
    /// The file in which the starts stand.
    listed: Option<Value>,
    depth: usize,
    /// How regular expressions are written from here on.
    syntax: Syntax,
}

/// The only part, or all of them together.
fn alone_or(mut parts: Vec<Expression>, together: fn(Vec<Expression>) -> Expression) -> Expression {
    match (parts.pop(), parts.is_empty()) {
        (Some(only), true) => only,
        (Some(last), false) => {
            parts.push(last);
            together(parts)
        }
        (None, _) => Expression::Always,
    }
}

/// How deeply parentheses may be nested (ours).
const DEPTH: usize = 64;

impl Reader<'_> {
    /// Whether a word stands among all.
    fn says(&self, name: &str) -> bool {
        self.words.iter().any(|word| word.as_exact() == Some(name))
    }

    fn peek(&self) -> Option<&str> {
        self.words.get(self.place).and_then(Value::as_exact)
    }

    fn next(&mut self) -> Option<Value> {
        let word = self.words.get(self.place).cloned();
        self.place += 1;
        word
    }

    fn text(&mut self) -> Option<String> {
        let value = self.next()?;
        let text = value.as_exact().map(str::to_owned);
        self.understood &= text.is_some();
        text
    }

    /// A test by a pattern. Of one of which only the beginning is known, such as one with bytes that are no text, no more is known than what
    /// it does not fit.
    fn pattern(&mut self, test: impl Fn(String) -> Expression) -> Expression {
        let beginning = match self.words.get(self.place) {
            Some(Value::Glob(covering)) => known_beginning(covering),
            Some(Value::Exact(_) | Value::AnyOf(_) | Value::Between { .. } | Value::Unknown) | None => None,
        };
        if let Some(beginning) = beginning {
            self.place += 1;
            return Expression::All(vec![test(beginning), Expression::Unknown]);
        }
        self.text().map_or(Expression::Unknown, test)
    }

    /// `a , b`
    fn list(&mut self) -> Expression {
        let mut parts = vec![self.either()];
        while self.peek() == Some(",") {
            self.place += 1;
            parts.push(self.either());
        }
        alone_or(parts, Expression::Both)
    }

    /// `a -o b`
    fn either(&mut self) -> Expression {
        let mut parts = vec![self.both()];
        while matches!(self.peek(), Some("-o" | "-or")) {
            self.place += 1;
            parts.push(self.both());
        }
        alone_or(parts, Expression::Any)
    }

    fn both(&mut self) -> Expression {
        let mut parts = Vec::new();
        while self.place < self.words.len() && !matches!(self.peek(), Some("-o" | "-or" | "," | ")")) {
            if matches!(self.peek(), Some("-a" | "-and")) {
                self.place += 1;
                continue;
            }
            parts.push(self.one());
        }
        Expression::All(parts)
    }

    fn one(&mut self) -> Expression {
        let Some(word) = self.text() else { return Expression::Unknown };
        match word.as_str() {
            "!" | "-not" => {
                self.depth += 1;
                if self.depth > DEPTH {
                    self.understood = false;
                    self.place = self.words.len();
                    return Expression::Unknown;
                }
                let part = self.one();
                self.depth -= 1;
                Expression::Not(Box::new(part))
            }
            "(" => {
                self.depth += 1;
                if self.depth > DEPTH {
                    self.understood = false;
                    self.place = self.words.len();
                    return Expression::Unknown;
                }
                let inner = self.list();
                self.depth -= 1;
                if self.peek() == Some(")") {
                    self.place += 1;
                } else {
                    self.understood = false;
                }
                inner
            }
            "-name" | "-iname" => {
                let fold = word == "-iname";
                self.pattern(|pattern| Expression::Name { pattern, fold })
            }
            "-path" | "-wholename" | "-ipath" | "-iwholename" => {
                let fold = word.starts_with("-i");
                self.pattern(|pattern| Expression::Path { pattern, fold })
            }
            "-type" | "-xtype" => match self.text() {
                Some(letters) => {
                    let letters = letters.chars().filter(|c| *c != ',').collect();
                    Expression::Type { letters, through: word == "-xtype" }
                }
                None => Expression::Unknown,
            },
            "-maxdepth" => self.number().map_or(Expression::Unknown, Expression::MaximumDepth),
            "-mindepth" => self.number().map_or(Expression::Unknown, Expression::MinimumDepth),
            "-empty" => Expression::Empty,
            "-prune" => Expression::Prune,
            "-true"
            | "-depth"
            | "-d"
            | "-mount"
            | "-xdev"
            | "-daystart"
            | "-follow"
            | "-noleaf"
            | "-warn"
            | "-nowarn"
            | "-ignore_readdir_race"
            | "-noignore_readdir_race" => Expression::Always,
            "-false" => Expression::Never,
            "-size" | "-mtime" | "-mmin" | "-newer" | "-perm" => {
                let said = self.next();
                match said.and_then(|said| FactTest::parse(&word, &said)) {
                    Some(test) if test.is_of_age() && self.says("-daystart") => {
                        if test.takes_most() {
                            Expression::Wide
                        } else {
                            Expression::Unknown
                        }
                    }
                    Some(test) => Expression::Facts(test),
                    None => Expression::Unknown,
                }
            }
            // Other times are not those that the world says, and how many files they leave is said the same way.
            "-atime" | "-ctime" | "-amin" | "-cmin" => {
                let like = if word.ends_with("min") { "-mmin" } else { "-mtime" };
                let test = self.next().and_then(|said| FactTest::parse(like, &said));
                if test.is_some_and(|test| test.takes_most()) {
                    Expression::Wide
                } else {
                    Expression::Unknown
                }
            }
            "-anewer" | "-cnewer" => {
                self.next();
                Expression::Wide
            }
            "-regex" | "-iregex" => match (self.text(), self.syntax) {
                (Some(pattern), Syntax::Emacs) => {
                    Expression::Whole { pattern: as_extended(&pattern), letters: letters_of(&word) }
                }
                (Some(pattern), Syntax::Extended) => {
                    Expression::Whole { pattern, letters: letters_of(&word) }
                }
                (Some(_), Syntax::Unread) | (None, _) => Expression::Unknown,
            },
            "-user" | "-group" | "-uid" | "-gid" | "-links" | "-inum" | "-samefile" | "-fstype"
            | "-lname" | "-ilname" | "-used" | "-context" => {
                self.next();
                Expression::Unknown
            }
            "-regextype" => {
                self.syntax = match self.text().as_deref() {
                    Some("emacs" | "findutils-default") => Syntax::Emacs,
                    Some("posix-extended" | "egrep" | "posix-egrep") => Syntax::Extended,
                    Some(_) | None => Syntax::Unread,
                };
                Expression::Always
            }
            // Where the search starts stands in a file.
            "-files0-from" => {
                self.listed = self.next();
                Expression::Always
            }
            // Most of what lies where one may delete is one's own.
            "-readable" | "-writable" => Expression::Wide,
            "-nouser" | "-nogroup" | "-executable" | "-quit" => Expression::Unknown,
            "-print" => self.action(Action::Print { end: '\n', form: Form::Whole }),
            "-print0" => self.action(Action::Print { end: '\0', form: Form::Whole }),
            "-ls" => self.action(Action::PrintOther),
            "-printf" => {
                let format = self.next();
                match format.as_ref().and_then(Value::as_exact) {
                    Some("%p\\n") => self.action(Action::Print { end: '\n', form: Form::Whole }),
                    Some("%p\\0") => self.action(Action::Print { end: '\0', form: Form::Whole }),
                    Some("%P\\n") => self.action(Action::Print { end: '\n', form: Form::BelowStart }),
                    Some("%P\\0") => self.action(Action::Print { end: '\0', form: Form::BelowStart }),
                    Some(_) | None => self.action(Action::PrintOther),
                }
            }
            "-delete" => self.action(Action::Delete),
            "-fprint" | "-fprint0" | "-fls" => {
                let file = self.next().unwrap_or(Value::Unknown);
                self.action(Action::Write(file))
            }
            "-fprintf" => {
                let file = self.next().unwrap_or(Value::Unknown);
                self.next();
                self.action(Action::Write(file))
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => self.execute(&word),
            text if text.starts_with("-newer") => {
                self.next();
                Expression::Wide
            }
            _ => {
                self.understood = false;
                Expression::Unknown
            }
        }
    }

    fn number(&mut self) -> Option<usize> {
        self.text().and_then(|text| text.parse().ok())
    }

    fn action(&mut self, action: Action) -> Expression {
        let number = self.actions;
        self.actions += 1;
        Expression::Do(number, action)
    }

    fn execute(&mut self, name: &str) -> Expression {
        let mut words: Vec<Value> = Vec::new();
        let inside = name.ends_with("dir");
        let asks = name.starts_with("-ok");
        while let Some(word) = self.next() {
            match word.as_exact() {
                Some(";") => return self.action(Action::Execute { words, asks, inside }),
                Some("+") if words.last().and_then(Value::as_exact) == Some("{}") && !asks => {
                    return self.action(Action::ExecuteAll { words, inside });
                }
                Some(_) | None => words.push(word),
            }
        }
        // Nothing ends the command: `find` refuses it, unless a word that is not known does.
        self.refused |= words.iter().all(|word| word.as_exact().is_some());
        self.action(Action::Execute { words, asks, inside })
    }
}
