//! What `!` and `^` at the beginning of a line stand for where bash puts in what was run before (bash(1), "HISTORY EXPANSION").
//!
//! What can be worked out exactly is; held against bash 5.2.

/// What becomes of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// It stays as it is.
    Same,
    /// It is this line.
    Line(String),
    /// It is only shown as this line, and remembered.
    Shown(String),
    /// It is not known what it becomes; in front of the first thing that is put in stands this.
    Unknown(String),
}

/// What is chosen cannot be worked out.
struct Unfollowed;

/// The line with what it takes from the lines before, of which the last one comes last.
pub(crate) fn expanded(line: &str, history: &[String]) -> Expansion {
    let whole = match line.strip_prefix('^') {
        Some(rest) => format!("!!:s^{rest}"),
        None => line.to_owned(),
    };
    let mut reader = Reader { rest: &whole, before: None, history, is_shown: false };
    let mut out = String::new();
    let (mut single, mut double) = (false, false);
    let mut is_changed = false;
    while let Some(first) = reader.peek() {
        match first {
            '\\' if !single => {
                reader.take(&mut out);
                reader.take(&mut out);
                continue;
            }
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            '#' if !single && !double && reader.before.is_none_or(char::is_whitespace) => {
                out.push_str(reader.rest);
                break;
            }
            '!' if !single && reader.is_event(double) => {
                let start = out.clone();
                let Ok(text) = reader.event() else { return Expansion::Unknown(start) };
                out.push_str(&text);
                reader.before = out.chars().next_back();
                is_changed = true;
                continue;
            }
            _ => {}
        }
        reader.take(&mut out);
    }
    match (is_changed, reader.is_shown) {
        (false, _) => Expansion::Same,
        (true, false) => Expansion::Line(out),
        (true, true) => Expansion::Shown(out),
    }
}

struct Reader<'t> {
    rest: &'t str,
    before: Option<char>,
    history: &'t [String],
    is_shown: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let first = self.peek()?;
        self.rest = self.rest.get(first.len_utf8()..).unwrap_or_default();
        self.before = Some(first);
        Some(first)
    }

    fn take(&mut self, out: &mut String) {
        out.extend(self.next());
    }

    fn eat(&mut self, expected: char) -> bool {
        let is_there = self.peek() == Some(expected);
        if is_there {
            self.next();
        }
        is_there
    }

    fn number(&mut self) -> Option<usize> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let number = self.rest.get(..end)?.parse().ok()?;
        self.rest = self.rest.get(end..)?;
        Some(number)
    }

    /// Whether the `!` that comes next stands for something.
    fn is_event(&self, is_quoted: bool) -> bool {
        let behind = self.rest.get(1..).unwrap_or_default();
        let is_end = behind.starts_with(|c: char| c.is_whitespace() || matches!(c, '=' | '('));
        let is_pattern = self.before == Some('[') && behind.contains(']');
        let is_name = self.before == Some('{') && behind.contains('}') || self.before == Some('$');
        !(behind.is_empty() || is_end || is_pattern || is_name || is_quoted && behind.starts_with('"'))
    }

    /// What stands in the place of an event with its words and changes.
    fn event(&mut self) -> Result<String, Unfollowed> {
        self.next();
        let line = self.line()?;
        let mut text = self.words(&line)?;
        while self.rest.starts_with(':') {
            self.next();
            text = self.changed(&text)?;
        }
        Ok(text)
    }

    /// The line that is meant.
    fn line(&mut self) -> Result<String, Unfollowed> {
        let last = |distance: usize| {
            let place = self.history.len().checked_sub(distance).ok_or(Unfollowed)?;
            self.history.get(place).cloned().ok_or(Unfollowed)
        };
        match self.peek() {
            Some('!') => {
                let line = last(1);
                self.next();
                line
            }
            Some('$' | '^' | '*' | ':') => last(1),
            Some('-') => {
                self.next();
                let distance = self.number().filter(|distance| *distance > 0).ok_or(Unfollowed)?;
                let place = self.history.len().checked_sub(distance).ok_or(Unfollowed)?;
                self.history.get(place).cloned().ok_or(Unfollowed)
            }
            Some('?') => {
                self.next();
                let end = self.rest.find('?').unwrap_or(self.rest.len());
                let (sought, rest) = self.rest.split_at(end);
                self.rest = rest.strip_prefix('?').unwrap_or(rest);
                self.last_line(|line| !sought.is_empty() && line.contains(sought))
            }
            // Lines by their number, the line itself, and what was looked for.
            Some('#' | '%' | '0'..='9') | None => Err(Unfollowed),
            Some(_) => {
                let is_end = |c: char| c.is_whitespace() || ":^$*%-;&()|<>\"".contains(c);
                let end = self.rest.find(is_end).unwrap_or(self.rest.len());
                let (sought, rest) = self.rest.split_at(end);
                self.rest = rest;
                self.last_line(|line| !sought.is_empty() && line.starts_with(sought))
            }
        }
    }

    fn last_line(&self, fits: impl Fn(&str) -> bool) -> Result<String, Unfollowed> {
        self.history.iter().rev().find(|line| fits(line)).cloned().ok_or(Unfollowed)
    }

    /// The words of the line that are meant; all of it where none are named.
    fn words(&mut self, line: &str) -> Result<String, Unfollowed> {
        let behind = self.rest.strip_prefix(':').unwrap_or(self.rest);
        let is_named = if behind.len() < self.rest.len() {
            behind.starts_with(|c: char| c.is_ascii_digit() || "^$*-%".contains(c))
        } else {
            behind.starts_with(['^', '$', '*', '-', '%'])
        };
        if !is_named {
            return Ok(line.to_owned());
        }
        self.rest = behind;
        let words = words_of(line)?;
        let end = words.len().checked_sub(1).ok_or(Unfollowed)?;
        if self.eat('*') {
            return Ok(words.get(1..).unwrap_or_default().join(" "));
        }
        if self.eat('$') {
            return words.get(end).cloned().ok_or(Unfollowed);
        }
        let first = match self.peek() {
            Some('^') => {
                self.next();
                1
            }
            Some('-') => 0,
            _ => self.number().ok_or(Unfollowed)?,
        };
        let last = if self.eat('*') {
            end
        } else if self.eat('-') {
            match self.peek() {
                Some('$') => {
                    self.next();
                    end
                }
                Some('^') => {
                    self.next();
                    1
                }
                Some(digit) if digit.is_ascii_digit() => self.number().ok_or(Unfollowed)?,
                _ => end.checked_sub(1).ok_or(Unfollowed)?,
            }
        } else {
            first
        };
        words.get(first..=last).map(|words| words.join(" ")).ok_or(Unfollowed)
    }

    /// The text behind one change.
    fn changed(&mut self, text: &str) -> Result<String, Unfollowed> {
        let is_everywhere = self.rest.starts_with("gs") || self.rest.starts_with("as");
        if is_everywhere {
            self.next();
        }
        match self.next() {
            Some('h') => Ok(text.rsplit_once('/').map_or(text, |(head, _)| head).to_owned()),
            Some('t') => Ok(text.rsplit_once('/').map_or(text, |(_, tail)| tail).to_owned()),
            Some('r') => Ok(text.rsplit_once('.').map_or(text, |(root, _)| root).to_owned()),
            Some('e') => Ok(text.rfind('.').and_then(|at| text.get(at..)).unwrap_or(text).to_owned()),
            Some('p') => {
                self.is_shown = true;
                Ok(text.to_owned())
            }
            Some('s') => {
                let delimiter = self.next().ok_or(Unfollowed)?;
                let mut part = || {
                    let end = self.rest.find(delimiter).unwrap_or(self.rest.len());
                    let (part, rest) = self.rest.split_at(end);
                    self.rest = rest.strip_prefix(delimiter).unwrap_or(rest);
                    part.to_owned()
                };
                let (old, new) = (part(), part());
                if old.is_empty() || !text.contains(&old) || old.contains('\\') || new.contains(['\\', '&']) {
                    return Err(Unfollowed);
                }
                Ok(if is_everywhere { text.replace(&old, &new) } else { text.replacen(&old, &new, 1) })
            }
            _ => Err(Unfollowed),
        }
    }
}

/// The words of a line as the history tells them apart; operators are words of their own.
fn words_of(line: &str) -> Result<Vec<String>, Unfollowed> {
    const OPERATORS: &str = ";&|()<>";
    let mut words = Vec::new();
    let mut word = String::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '`' => return Err(Unfollowed),
            '$' | '<' | '>' if letters.peek() == Some(&'(') => return Err(Unfollowed),
            '\\' => {
                word.push(letter);
                word.extend(letters.next());
            }
            '\'' | '"' => {
                word.push(letter);
                loop {
                    let inner = letters.next().ok_or(Unfollowed)?;
                    word.push(inner);
                    if inner == '\\' && letter == '"' {
                        word.extend(letters.next());
                    } else if inner == letter {
                        break;
                    }
                }
            }
            _ if letter.is_whitespace() => words.extend(taken(&mut word)),
            _ if OPERATORS.contains(letter) => {
                // The number of a descriptor belongs to what stands behind it.
                let is_descriptor =
                    matches!(letter, '<' | '>') && word.chars().all(|digit| digit.is_ascii_digit());
                if !is_descriptor {
                    words.extend(taken(&mut word));
                }
                word.push(letter);
                if let Some(next) = letters.next_if(|next| *next == letter || "&|".contains(*next)) {
                    word.push(next);
                }
                words.extend(taken(&mut word));
            }
            _ => word.push(letter),
        }
    }
    words.extend(taken(&mut word));
    Ok(words)
}

fn taken(word: &mut String) -> Option<String> {
    let word = std::mem::take(word);
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::{Expansion, expanded};

    #[test]
    fn lines_become_what_bash_makes_of_them() {
        let history: Vec<String> =
            ["ls -l /a/b.tar.gz", "echo aa 'b b' >/dev/null", "echo aa bb"].map(str::to_owned).to_vec();
        for (line, becomes) in [
            ("echo got !$", "echo got bb"),
            ("!!", "echo aa bb"),
            ("!! cc", "echo aa bb cc"),
            ("x !:0 !:1-$ !:* !!:1* x!:1-", "x echo aa bb aa bb aa bb xaa"),
            ("^aa^cc", "echo cc bb"),
            ("^aa^cc^ dd", "echo cc bb dd"),
            ("!!:s/aa/dd/", "echo dd bb"),
            ("!!:gs/a/d/", "echo dd bb"),
            ("!ls:$:h !l:2:t !?tar?:$:r", "/a b.tar.gz /a/b.tar"),
            ("!-2:2", "'b b'"),
            ("!-2:1-$", "aa 'b b' > /dev/null"),
            ("echo \"x!$\" '!$' \\!$ \"end!\" ! # !$", "echo \"xbb\" '!$' \\!$ \"end!\" ! # !$"),
        ] {
            assert_eq!(expanded(line, &history), Expansion::Line(becomes.to_owned()), "{line}");
        }
        for line in
            ["echo 'it!'", "[ a != b ]", "! true", "echo $! ${!x}", "ls [!a]*", "echo \"Done!\"", "a=1"]
        {
            assert_eq!(expanded(line, &history), Expansion::Same, "{line}");
        }
        for line in ["!7", "!nosuch", "x !#:1", "!!:q", "!!:s/zz/a/", "^^x"] {
            assert!(matches!(expanded(line, &history), Expansion::Unknown(_)), "{line}");
        }
        assert_eq!(expanded("!!:p", &history), Expansion::Shown("echo aa bb".to_owned()));
    }
}
