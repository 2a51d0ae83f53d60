//! Texts in quotes, names, and what stands between them: what a function of a language that is not followed is given.

use super::families::{Family, Form};

/// What stands for the comma between two of the operands of a function (ours): no code holds it.
const NEXT: char = '\u{1f}';
/// How often a name may stand for another one (ours).
const DEPTH: usize = 4;
/// The greatest length of a path, in bytes.
const PATH: usize = 4096;

/// How languages name the home directory.
const HOMES: &[&str] = &[
    "homedir",
    "home_dir",
    "user_home",
    "UserHomeDir",
    "NSHomeDirectory",
    "homeDirectoryForCurrentUser",
    "getHomeDirectory",
    "getHomeDir",
    "home-dir",
    "user-homedir-pathname",
    "fs/home",
    "os.home",
    "Path.home",
    "user_homedir",
    "$*HOME",
    "env(HOME)",
    "nu.home-path",
    "UserProfile",
];
/// Names of the home directory among the variables and properties of an environment, in quotes.
const HOME_TEXTS: &[&str] = &["HOME", "user.home", "~", "~/", "USERPROFILE"];
/// Functions that put parts of a path together.
const JOINING: &[&str] = &["join", "resolve", "concat", "path/", "expand", "append", "build-path", "child"];
/// Texts that say how a file is opened, and other texts that are no paths.
const MODES: &[&str] = &[
    "r", "w", "a", "rb", "wb", "ab", "r+", "w+", "a+", "rt", "wt", "at", "s", "utf-8", "UTF-8", "utf8",
    "RawBLOB",
];
/// Modes with which a file is written.
const WRITING: &[&str] = &["w", "a", "wb", "ab", "w+", "a+", "r+", "wt", "at"];
/// What stands at the beginning of a text for the first of the values behind it: printf(3), Rust's `std::fmt`, .NET "Composite formatting",
/// Python's `str.format`.
const FILLED_FIRST: &[&str] = &["%s", "%v", "{}", "{0}"];
/// Functions whose first argument is what they fill with a text: printf(3), strcpy(3).
const FILLS: &[&str] = &["sprintf(", "snprintf(", "asprintf(&", "strcpy(", "stpcpy(", "strcat("];
/// Calls that say that a file is opened to be written (Rust, `std::fs::OpenOptions`).
const WRITING_CALLS: &[&str] =
    &["append(true)", "write(true)", "create(true)", "create_new(true)", "truncate(true)"];
/// Words that are no names of values.
const WORDS: &[&str] = &[
    "true",
    "false",
    "nil",
    "null",
    "None",
    "t",
    "T",
    "and",
    "or",
    "not",
    "let",
    "val",
    "var",
    "const",
    "mut",
    "new",
    "try",
    "do",
    "in",
    "if",
    "then",
    "else",
    "for",
    "return",
    "recursive",
    "force",
    "String",
    "as",
    "of",
    "await",
    "use",
    "open",
];

/// A piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// What stands outside quotes.
    Code(String),
    /// What stands in quotes.
    Text(String),
}

/// What a function is given.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Operands {
    /// The paths that it names.
    pub(super) paths: Vec<String>,
    /// Whether it is given something else too, or nothing that is known.
    pub(super) is_unknown: bool,
    /// Whether a mode says that it writes.
    pub(super) is_to_write: bool,
    /// Whether the home directory stands anywhere in the code.
    pub(super) names_home: bool,
}

/// The pieces of a text: code and texts in quotes, by turns, without comments.
pub(super) fn pieces(text: &str, family: &Family) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut code = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let before = code.chars().last();
        if rest.starts_with(family.comment)
            && (family.comment.len() > 1 || before.is_none_or(char::is_whitespace))
        {
            rest = rest.find('\n').and_then(|at| rest.get(at..)).unwrap_or_default();
            continue;
        }
        let behind = rest.get(letter.len_utf8()..).unwrap_or_default();
        if family.quotes.contains(&letter)
            && let Some((inner, length)) = quoted(behind, letter)
        {
            pieces.push(Piece::Code(std::mem::take(&mut code)));
            pieces.push(Piece::Text(inner));
            rest = behind.get(length..).unwrap_or_default();
            continue;
        }
        code.push(letter);
        rest = behind;
    }
    pieces.push(Piece::Code(code));
    pieces
}

/// The text up to the closing quote, and the length of both.
fn quoted(behind: &str, quote: char) -> Option<(String, usize)> {
    let mut inner = String::new();
    let mut letters = behind.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some((_, 'n')) => inner.push('\n'),
                Some((_, other)) => inner.push(other),
                None => return None,
            },
            letter if letter == quote => return Some((inner, at + letter.len_utf8())),
            letter => inner.push(letter),
        }
    }
    None
}

/// What the function is given of which the name stands in a piece of code from `start` to `end`.
pub(super) fn given(
    pieces: &[Piece],
    family: &Family,
    (piece, start, end): (usize, usize, usize),
    home: &str,
) -> Operands {
    let receiver = receiver(pieces, piece, start);
    let arguments = arguments(pieces, family, piece, start, end);
    let mut given = Operands { names_home: names_home(pieces), ..Operands::default() };
    let mut reading =
        Reading { pieces, family, home, given: &mut given, path: None, joins: false, filled: None };
    reading.read(&receiver, DEPTH);
    // `(home + "/x").write("y")`: what a method is given does not belong to that of which it is one.
    reading.end();
    reading.read(&arguments, DEPTH);
    reading.end();
    if given.paths.is_empty() {
        given.is_unknown = true;
    }
    given
}

/// Whether a text names the home directory by a function or a variable of the environment.
pub(in crate::programs::code) fn is_home_named(text: &str) -> bool {
    HOMES.iter().any(|name| text.contains(name))
        || ["\"HOME\"", "'HOME'", "\"user.home\"", "'user.home'", "<HOME>", "env.HOME", "{HOME}"]
            .iter()
            .any(|name| text.contains(name))
}

/// Whether the home directory stands anywhere in the code.
fn names_home(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| match piece {
        Piece::Text(text) => HOME_TEXTS.contains(&text.as_str()) || text.starts_with("~/"),
        Piece::Code(code) => HOMES.iter().any(|name| code.contains(name)),
    })
}

/// What stands before a method: from the beginning of its statement on.
fn receiver(pieces: &[Piece], piece: usize, start: usize) -> Vec<Piece> {
    let Some(Piece::Code(code)) = pieces.get(piece) else { return Vec::new() };
    let before = code.get(..start).unwrap_or_default();
    let own = code.get(start..).unwrap_or_default();
    if !before.trim_end().ends_with('.') && !own.starts_with(['.', ':']) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut code = before;
    let mut at = piece;
    loop {
        let begin = code.rfind([';', '\n', '{', '=', '>']).map(|at| at + 1);
        found.push(Piece::Code(code.get(begin.unwrap_or(0)..).unwrap_or_default().to_owned()));
        if begin.is_some() || at < 2 {
            break;
        }
        if let Some(text @ Piece::Text(_)) = pieces.get(at - 1) {
            found.push(text.clone());
        }
        let Some(Piece::Code(earlier)) = pieces.get(at - 2) else { break };
        (code, at) = (earlier, at - 2);
    }
    found.reverse();
    found
}

/// What stands behind a function: in its parentheses, to the end of its list, or to the end of the line.
fn arguments(pieces: &[Piece], family: &Family, piece: usize, start: usize, end: usize) -> Vec<Piece> {
    let Some(Piece::Code(code)) = pieces.get(piece) else { return Vec::new() };
    let name = code.get(start..end).unwrap_or_default();
    let behind = code.get(end..).unwrap_or_default();
    let is_open = name.contains('(') || behind.trim_start_matches(['?', '!', '.']).starts_with('(');
    let mut depth = i32::from(name.contains('(') || family.form == Form::List);
    let whole = is_open || family.form == Form::List;
    let mut found = Vec::new();
    let mut first = true;
    for piece in pieces.iter().skip(piece) {
        let code = match piece {
            Piece::Text(_) => {
                found.push(piece.clone());
                continue;
            }
            Piece::Code(code) if first => code.get(end..).unwrap_or_default(),
            Piece::Code(code) => code,
        };
        first = false;
        let mut read = String::with_capacity(code.len());
        let stop = code.char_indices().find(|(_, letter)| {
            match letter {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                _ => {}
            }
            let is_between = *letter == ',' && depth == i32::from(whole);
            read.push(if is_between { NEXT } else { *letter });
            let closes = matches!(letter, ')' | ']') && (depth < 0 || whole && depth == 0);
            closes || !whole && depth <= 0 && matches!(letter, ';' | '\n' | '|' | '}')
        });
        match stop {
            Some(_) => {
                read.pop();
                found.push(Piece::Code(read));
                break;
            }
            None => found.push(Piece::Code(read)),
        }
    }
    found
}

/// What is known while the operands of a function are read.
struct Reading<'t> {
    pieces: &'t [Piece],
    family: &'t Family,
    home: &'t str,
    given: &'t mut Operands,
    /// The path of which more may follow.
    path: Option<String>,
    /// Whether what follows belongs to it.
    joins: bool,
    /// What stands behind the place of the next path: `"%s/x", home`.
    filled: Option<String>,
}

impl Reading<'_> {
    fn read(&mut self, span: &[Piece], depth: usize) {
        for piece in span {
            match piece {
                Piece::Text(text) => self.read_text(text, depth),
                Piece::Code(code) => self.read_code(code, depth),
            }
        }
    }

    fn read_text(&mut self, text: &str, depth: usize) {
        if MODES.contains(&text) {
            self.given.is_to_write |= WRITING.contains(&text);
            return;
        }
        if HOME_TEXTS.contains(&text) {
            self.begin(self.home);
            return;
        }
        // What a language puts into its texts as code stands between two of them: `"${System.getProperty("user.home")}/x"`.
        let text = text.strip_prefix(")}").unwrap_or(text);
        if text.is_empty() || text.len() > PATH || text.contains('\n') {
            return;
        }
        if let Some((name, rest)) = named_first(text) {
            if let Some(span) = assigned(self.pieces, self.family, name).filter(|_| depth > 0) {
                self.read(&span, depth - 1);
                self.joins = true;
                return self.read_text(rest, depth);
            }
            if HOMES.contains(&name) || HOME_TEXTS.contains(&name) {
                self.begin(self.home);
                return self.read_text(rest, depth);
            }
        }
        if let Some(rest) = FILLED_FIRST.iter().find_map(|sign| text.strip_prefix(sign)) {
            self.end();
            self.filled = Some(rest.to_owned());
            return;
        }
        let text = match text.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", self.home),
            None => text.to_owned(),
        };
        match self.path.take() {
            // What begins at the root stands below nothing but a home directory that is put before it.
            Some(path) if self.joins && (path.starts_with('/') || !text.starts_with('/')) => {
                let between = if path.ends_with('/') || text.starts_with('/') { "" } else { "/" };
                self.path = Some(format!("{path}{between}{text}"));
            }
            before => {
                self.path = before;
                self.begin(&text);
            }
        }
    }

    /// Begins another path.
    fn begin(&mut self, path: &str) {
        self.end();
        self.joins = path == self.home;
        let filled = self.filled.take().unwrap_or_default();
        self.path = Some(format!("{path}{filled}"));
    }

    fn end(&mut self) {
        self.given.paths.extend(self.path.take());
        self.joins = false;
    }

    fn read_code(&mut self, code: &str, depth: usize) {
        for (at, code) in code.split(NEXT).enumerate() {
            if at > 0 {
                self.end();
            }
            self.read_operand(code, depth);
        }
    }

    fn read_operand(&mut self, code: &str, depth: usize) {
        if HOMES.iter().any(|name| code.contains(name)) {
            self.begin(self.home);
        }
        self.given.is_to_write |= WRITING_CALLS.iter().any(|call| code.contains(call));
        if JOINING.iter().any(|name| code.contains(name)) {
            self.joins = true;
        }
        if self.family.form == Form::Words {
            self.read_words(code);
            return;
        }
        let is_letter =
            |c: char| c.is_alphanumeric() || c == '_' || c == '-' && self.family.form == Form::List;
        let mut from = 0;
        while let Some(start) = code.get(from..).and_then(|rest| rest.find(is_letter)).map(|at| from + at) {
            let rest = code.get(start..).unwrap_or_default();
            let length = rest.find(|c: char| !is_letter(c)).unwrap_or(rest.len());
            let (before, behind) =
                (code.get(..start).unwrap_or_default(), rest.get(length..).unwrap_or_default());
            from = start + length;
            if self.is_value(before, rest.get(..length).unwrap_or_default(), behind) {
                self.read_name(rest.get(..length).unwrap_or_default(), depth);
            }
        }
    }

    /// Words that need no quotes: options and what is filled in are none.
    fn read_words(&mut self, code: &str) {
        for word in code.split_whitespace() {
            let word = word.trim_matches(['{', '}', '[', ']']);
            if MODES.contains(&word) {
                self.given.is_to_write |= WRITING.contains(&word);
            } else if word.starts_with(['$', '(']) {
                if word.contains("HOME") || word.contains("home") {
                    let rest = word.split_once(['/', ')']).map(|(_, rest)| rest.trim_start_matches('/'));
                    let rest = rest.filter(|rest| !rest.is_empty());
                    self.begin(
                        &rest.map_or_else(|| self.home.to_owned(), |rest| format!("{}/{rest}", self.home)),
                    );
                    self.end();
                } else {
                    self.given.is_unknown = true;
                }
            } else if !word.starts_with('-') && !word.is_empty() {
                self.read_text(word, 0);
                self.end();
            }
        }
    }

    /// Whether a word is the name of a value: not of a function, a type, a module or an argument.
    fn is_value(&self, before: &str, word: &str, behind: &str) -> bool {
        let next = behind.chars().next();
        let last = before.chars().last();
        let is_list = self.family.form == Form::List;
        let calls =
            matches!(next, Some('(' | '!')) || behind.starts_with("::") || is_list && last == Some('(');
        // `&path` of Rust and C is the path itself.
        let is_member = matches!(last, Some('.' | ':' | '/' | '#' | '@')) || is_list && last == Some('&');
        let is_named = behind.trim_start().starts_with(['=', ':']) && !behind.trim_start().starts_with("==");
        let is_type = word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let holds_more = matches!(next, Some('.'));
        let is_package = holds_more && !self.is_assigned(word);
        !(calls || is_member || is_named || is_type || is_package || WORDS.contains(&word))
    }

    fn is_assigned(&self, name: &str) -> bool {
        assigned(self.pieces, self.family, name).is_some()
    }

    fn read_name(&mut self, name: &str, depth: usize) {
        if let Some(span) = assigned(self.pieces, self.family, name).filter(|_| depth > 0) {
            self.read(&span, depth - 1);
            self.joins = true;
            for text in appended(self.pieces, name) {
                self.read_text(text, depth - 1);
            }
        } else {
            // What follows stands below something that is not known.
            self.end();
            self.given.is_unknown = true;
        }
    }
}

/// The name that a text begins with and puts in, and the rest: `{home}/x` (Rust, C#, Python), `${home}/x` and `$home/x` (Kotlin, Groovy, Scala,
/// Dart, PHP, Perl), `#{home}/x` (Ruby, Crystal, Elixir), `\(home)/x` (Swift; quotes have lost their backslash).
fn named_first(text: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '(' | ')'))
    };
    let closed = [("${", '}'), ("#{", '}'), ("$(", ')'), ("{", '}'), ("(", ')')];
    let found = closed.iter().find_map(|(open, close)| text.strip_prefix(open)?.split_once(*close));
    let found = found.or_else(|| {
        let behind = text.strip_prefix('$')?;
        let end = behind.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        Some(behind.split_at(end.unwrap_or(behind.len())))
    });
    found.map(|(name, rest)| (name.trim_end_matches("()"), rest)).filter(|(name, _)| is_name(name))
}

/// The texts that are put behind what a name holds: `path.push("x")` (Rust), `path += "/x"`, `path /= "x"` (C++).
fn appended<'t>(pieces: &'t [Piece], name: &str) -> Vec<&'t str> {
    let ends =
        [format!("{name}.push("), format!("{name}.append("), format!("{name} += "), format!("{name} /= ")];
    pieces
        .windows(2)
        .filter_map(|pair| match pair {
            [Piece::Code(code), Piece::Text(text)] if ends.iter().any(|end| code.ends_with(end)) => {
                Some(text.as_str())
            }
            [Piece::Code(_) | Piece::Text(_), Piece::Code(_) | Piece::Text(_)] | [] | [_] | [_, _, ..] => {
                None
            }
        })
        .collect()
}

/// What a name is given in the code: what stands behind its sign.
fn assigned(pieces: &[Piece], family: &Family, name: &str) -> Option<Vec<Piece>> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    for (index, piece) in pieces.iter().enumerate() {
        let Piece::Code(code) = piece else { continue };
        for (start, _) in code.match_indices(name) {
            let end = start + name.len();
            let behind = code.get(end..).unwrap_or_default();
            let is_whole = !code.get(..start).is_some_and(|before| before.ends_with(is_letter))
                && !behind.starts_with(is_letter);
            if !is_whole {
                continue;
            }
            let before = code.get(..start).unwrap_or_default().trim_end();
            let line = behind.split(['\n', ';', '(', '{']).next().unwrap_or_default();
            let sign = line.find('=').filter(|at| {
                let (left, right) = line.split_at(*at);
                let is_type = |c: char| {
                    c.is_alphanumeric() || matches!(c, ' ' | ':' | ',' | '_' | '<' | '>' | '.' | '&')
                };
                left.chars().all(is_type) && !right.starts_with("==") && !right.starts_with("=>")
            });
            let value = if let Some(at) = sign {
                end + at + 1
            } else if FILLS.iter().any(|function| before.ends_with(function))
                || family.form == Form::List
                    && (before.ends_with("(def")
                        || before.ends_with(['[', '('])
                        || before.ends_with("define")
                        || before.ends_with("setq"))
            {
                end
            } else if before.ends_with("let") || behind.trim_start().starts_with("<-") {
                end + behind.find("<-").map_or(0, |at| at + 2)
            } else {
                continue;
            };
            return Some(arguments(pieces, family, index, value, value));
        }
    }
    None
}
