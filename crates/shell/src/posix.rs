//! What a shell that knows the words of POSIX alone makes of a text: `sh` is dash on one machine and bash on another.
//!
//! The text is written again in words that both read alike (`&>f` as `& >f`, `{a,b}` as `\{a,b}`, `((a))` as `( (a))`), and that is parsed. What such a shell
//! refuses ends the reading there. Source: the manual of dash 0.5.12, "Grammar" of POSIX.1-2017, and the shell itself, which the tests ask.

use crate::guard::parse;
use crate::tree::{Block, Command, ProblemKind};

/// Stands for an expansion that such a shell does not know, which ends it: this variable is set by nobody.
const NOT_EXPANDED: &str = "${__bad_substitution:?}";

/// What a shell without the words of bash runs of a text; `None` where it reads it as bash does.
///
/// ```
/// let block = checkrein_shell::parse_posix("rm {a,b} &>log").unwrap();
/// assert_eq!(checkrein_shell::outline::outline(&block), "(rm '{'a,b})& (>log)");
/// ```
pub fn parse_posix(text: &str) -> Option<Block> {
    let mut rewriting = Rewriting {
        text,
        bytes: text.as_bytes(),
        at: 0,
        out: String::new(),
        bodies: Vec::new(),
        is_changed: false,
        depth: 0,
    };
    let is_refused = rewriting.commands(Until::End).is_err();
    if !is_refused && !rewriting.is_changed {
        return None;
    }
    let mut written = rewriting.out;
    if is_refused {
        // A shell reads a line before it runs any of it, and what is open around the line stays unread too.
        written.truncate(written.rfind('\n').map_or(0, |place| place + 1));
        written.push_str(";;\n");
    }
    let mut script = parse(&written).script;
    let is_broken = |command: &Command| matches!(command, Command::Opaque(opaque) if opaque.reason == ProblemKind::Syntax);
    if let Some(place) = script.iter().position(|statement| is_broken(&statement.command)) {
        script.truncate(place);
    }
    Some(script)
}

/// The text is refused from here on.
struct Refused;

/// What ends a stretch of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    Parenthesis,
    BackTick,
}

struct Rewriting<'text> {
    text: &'text str,
    bytes: &'text [u8],
    at: usize,
    out: String,
    /// Here-documents whose bodies begin in the next line: the delimiter, and whether tabs in front of it do not count.
    bodies: Vec<(String, bool)>,
    is_changed: bool,
    depth: usize,
}

impl<'text> Rewriting<'text> {
    fn peek(&self, distance: usize) -> Option<u8> {
        self.bytes.get(self.at + distance).copied()
    }

    /// Copies up to a position.
    fn copy_to(&mut self, end: usize) {
        let mut end = end.min(self.bytes.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.out.push_str(self.text.get(self.at..end).unwrap_or_default());
        self.at = end;
    }

    /// Writes something that is not there.
    fn insert(&mut self, text: &str) {
        self.out.push_str(text);
        self.is_changed = true;
    }

    /// Whether a word begins here, in the text.
    fn starts_word(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|before| self.bytes.get(before));
        before.is_none_or(|before| is_boundary(*before) || *before == b'`')
    }

    fn commands(&mut self, until: Until) -> Result<(), Refused> {
        let mut open = 0_usize;
        let mut cases = 0_usize;
        let mut word_before = "";
        while let Some(byte) = self.peek(0) {
            if self.starts_word() && !is_boundary(byte) {
                let word = self.plain_word();
                match word {
                    "case" => cases += 1,
                    "esac" => cases = cases.saturating_sub(1),
                    "[[" | "function" | "time" | "coproc" | "select" if word_before != "for" => {
                        self.insert("\\");
                    }
                    word if is_appending(word) => {
                        let name = word.find(['+', '[']).unwrap_or_default();
                        self.copy_to(self.at + name);
                        self.insert("\\");
                    }
                    _ => {}
                }
                word_before = word;
            }
            match byte {
                b'`' if until == Until::BackTick => return Ok(()),
                b')' if open == 0 && cases == 0 && until == Until::Parenthesis => return Ok(()),
                b')' => {
                    open = open.saturating_sub(1);
                    self.copy_to(self.at + 1);
                }
                b'\n' => {
                    self.copy_to(self.at + 1);
                    self.here_documents();
                    word_before = "";
                }
                b'#' if self.starts_word() => {
                    let line = self.text.get(self.at..).unwrap_or_default();
                    let length = line.find('\n').unwrap_or(line.len());
                    self.copy_to(self.at + length);
                }
                b'(' => {
                    self.parenthesis(word_before)?;
                    open += 1;
                }
                b'{' => {
                    let stands_alone = self.starts_word() && self.peek(1).is_none_or(is_blank);
                    if !stands_alone {
                        self.insert("\\");
                    }
                    self.copy_to(self.at + 1);
                }
                b'~' if self.starts_word() && matches!(self.peek(1), Some(b'+' | b'-')) => {
                    self.insert("\\");
                    self.copy_to(self.at + 1);
                }
                // `^` stands for itself there, as it does for bash anywhere but in front.
                b'[' if self.peek(1) == Some(b'^') => {
                    self.copy_to(self.at + 1);
                    let next = self.peek(1).filter(u8::is_ascii_alphanumeric).unwrap_or(b'-');
                    self.insert(&char::from(next).to_string());
                }
                b'&' if self.peek(1) == Some(b'>') => {
                    self.copy_to(self.at + 1);
                    self.insert(" ");
                }
                b'|' | b';' if self.peek(1) == Some(b'&') => return Err(Refused),
                b'<' | b'>' => self.redirection()?,
                _ => self.part(Quotes::None)?,
            }
        }
        Ok(())
    }

    /// The word that begins here, up to what may end one.
    fn plain_word(&self) -> &'text str {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| is_boundary(*byte) || *byte == b'`').unwrap_or(rest.len());
        self.text.get(self.at..self.at + length).unwrap_or_default()
    }

    /// The word that ends here.
    fn word_up_to_here(&self) -> &'text str {
        let before = self.bytes.get(..self.at).unwrap_or_default();
        let start = before.iter().rposition(|byte| is_boundary(*byte)).map_or(0, |place| place + 1);
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// `(`: a subshell, the pattern of a `case`, or behind a name a function. Nothing else is known.
    fn parenthesis(&mut self, word_before: &str) -> Result<(), Refused> {
        if !self.starts_word() {
            let rest = self.text.get(self.at + 1..).unwrap_or_default();
            let name = self.word_up_to_here();
            let is_function = rest.trim_start_matches([' ', '\t']).starts_with(')')
                && name.bytes().all(is_name)
                && !name.starts_with(|c: char| c.is_ascii_digit());
            if !is_function {
                return Err(Refused);
            }
        }
        let is_doubled = self.peek(1) == Some(b'(');
        if is_doubled && word_before == "for" {
            return Err(Refused);
        }
        self.copy_to(self.at + 1);
        if is_doubled {
            self.insert(" ");
        }
        Ok(())
    }

    fn redirection(&mut self) -> Result<(), Refused> {
        match (self.peek(0), self.peek(1)) {
            (_, Some(b'(')) => return Err(Refused),
            (Some(b'<'), Some(b'<')) if self.peek(2) == Some(b'<') => return Err(Refused),
            (Some(b'<'), Some(b'<')) => self.here_document(),
            (_, Some(b'&')) => {
                let rest = self.text.get(self.at + 2..).unwrap_or_default().trim_start_matches([' ', '\t']);
                if rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '$' | '"' | '\'' | '`'))
                {
                    self.copy_to(self.at + 2);
                } else {
                    // A name is no number, which is found out when the command is to run.
                    self.insert(" ");
                    self.insert(NOT_EXPANDED);
                    self.insert(" >");
                    self.at += 2;
                }
            }
            (_, Some(b'>' | b'|')) => self.copy_to(self.at + 2),
            _ => self.copy_to(self.at + 1),
        }
        Ok(())
    }

    fn here_document(&mut self) {
        self.copy_to(self.at + 2);
        let strips = self.peek(0) == Some(b'-');
        if strips {
            self.copy_to(self.at + 1);
        }
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.copy_to(self.at + 1);
        }
        let word = self.plain_word();
        self.copy_to(self.at + word.len());
        self.bodies.push((word.replace(['\'', '"', '\\'], ""), strips));
    }

    /// The bodies that begin in this line, as they stand.
    fn here_documents(&mut self) {
        for (delimiter, strips) in std::mem::take(&mut self.bodies) {
            while self.at < self.bytes.len() {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let line = rest.split('\n').next().unwrap_or_default();
                let is_end = delimiter == if strips { line.trim_start_matches('\t') } else { line };
                self.copy_to(self.at + line.len() + 1);
                if is_end {
                    break;
                }
            }
        }
    }

    /// A piece of a word.
    fn part(&mut self, quotes: Quotes) -> Result<(), Refused> {
        match self.peek(0) {
            Some(b'\\') => self.copy_to(self.at + 2),
            Some(b'\'') if quotes == Quotes::None => {
                let rest = self.text.get(self.at + 1..).unwrap_or_default();
                let length = rest.find('\'').map_or(rest.len(), |length| length + 1);
                self.copy_to(self.at + 1 + length);
            }
            Some(b'"') => {
                self.copy_to(self.at + 1);
                while self.peek(0).is_some_and(|byte| byte != b'"') {
                    self.part(Quotes::Double)?;
                }
                self.copy_to(self.at + 1);
            }
            Some(b'`') => {
                self.copy_to(self.at + 1);
                self.deeper(|rewriting| rewriting.commands(Until::BackTick))?;
                self.copy_to(self.at + 1);
            }
            Some(b'$') => self.dollar(quotes)?,
            _ => self.copy_to(self.at + 1),
        }
        Ok(())
    }

    fn deeper(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Refused>) -> Result<(), Refused> {
        if self.depth >= DEPTH_LIMIT {
            return Err(Refused);
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    fn dollar(&mut self, quotes: Quotes) -> Result<(), Refused> {
        match self.peek(1) {
            Some(b'\'' | b'"') if quotes == Quotes::None => self.insert("\\"),
            Some(b'[') => self.insert("\\"),
            Some(b'(') => {
                if let Some(end) = self.end_of_arithmetic() {
                    let expression = self.text.get(self.at + 3..end - 2).unwrap_or_default();
                    if ["++", "--", "**", "#"].iter().any(|operator| expression.contains(operator)) {
                        self.insert(NOT_EXPANDED);
                        self.at = end;
                    } else {
                        self.copy_to(end);
                    }
                    return Ok(());
                }
                self.copy_to(self.at + 2);
                if self.reads_only_a_file() {
                    self.insert(": ");
                }
                self.deeper(|rewriting| rewriting.commands(Until::Parenthesis))?;
                self.copy_to(self.at + 1);
                return Ok(());
            }
            Some(b'{') => return self.deeper(|rewriting| rewriting.parameter(quotes)),
            _ => {}
        }
        self.copy_to(self.at + 1);
        Ok(())
    }

    /// `$(<file)`, of which only bash makes the content of the file.
    fn reads_only_a_file(&self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default().trim_start_matches([' ', '\t']);
        let Some(word) = rest.strip_prefix('<').map(|rest| rest.trim_start_matches([' ', '\t'])) else {
            return false;
        };
        let end = word.find([')', ' ', '\t', '\n', ';', '&', '|', '<', '(']).unwrap_or(word.len());
        word.get(end..).unwrap_or_default().trim_start_matches([' ', '\t', '\n']).starts_with(')')
    }

    /// Behind the `))` that closes the `$((` here; `None` where it opens no arithmetic.
    fn end_of_arithmetic(&self) -> Option<usize> {
        (self.peek(2) == Some(b'(')).then_some(())?;
        let mut open = 0_usize;
        for (place, byte) in self.bytes.iter().enumerate().skip(self.at + 1) {
            match byte {
                b'(' => open += 1,
                b')' if open == 2 => {
                    return (self.bytes.get(place + 1) == Some(&b')')).then_some(place + 2);
                }
                b')' => open = open.checked_sub(1)?,
                _ => {}
            }
        }
        None
    }

    /// `${...}`
    fn parameter(&mut self, quotes: Quotes) -> Result<(), Refused> {
        let (begun, written) = (self.at, self.out.len());
        let rest = self.bytes.get(self.at + 2..).unwrap_or_default();
        let operator = operator_of(rest);
        self.copy_to(begun + 2 + operator.unwrap_or_default());
        let operand = if quotes == Quotes::None { Quotes::None } else { Quotes::Double };
        while self.peek(0).is_some_and(|byte| byte != b'}') {
            self.part(operand)?;
        }
        self.copy_to(self.at + 1);
        if operator.is_none() {
            self.out.truncate(written);
            self.insert(NOT_EXPANDED);
        }
        Ok(())
    }
}

/// Quotes around a piece of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
}

/// How deep expansions are followed (ours: the parser itself stops at 100 brackets).
const DEPTH_LIMIT: usize = 128;

/// The length of the name and the operator behind `${`; `None` where such a shell knows no such expansion.
fn operator_of(rest: &[u8]) -> Option<usize> {
    let is_length = rest.first() == Some(&b'#')
        && rest.get(1).is_some_and(|next| is_name(*next) || matches!(next, b'@' | b'*' | b'?' | b'!' | b'$'));
    let start = usize::from(is_length);
    let name = rest.get(start..)?;
    let length = match name.first()? {
        b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => 1,
        first if first.is_ascii_digit() => name.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => name.iter().take_while(|byte| is_name(**byte)).count(),
    };
    if length == 0 {
        return None;
    }
    let behind = start + length;
    match (rest.get(behind)?, rest.get(behind + 1)) {
        (b'}', _) => Some(behind),
        _ if is_length => None,
        (b':', Some(b'-' | b'=' | b'?' | b'+')) => Some(behind + 2),
        (b'-' | b'=' | b'?' | b'+' | b'%' | b'#', _) => Some(behind + 1),
        _ => None,
    }
}

/// `x+=y`, `x[1]=y`: a command of that name.
fn is_appending(word: &str) -> bool {
    let length = word.bytes().take_while(|byte| is_name(*byte)).count();
    let rest = word.get(length..).unwrap_or_default();
    length > 0
        && (rest.starts_with("+=") || rest.starts_with('[') && (rest.contains("]=") || rest.contains("]+=")))
}

fn is_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_boundary(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

#[cfg(test)]
mod tests {
    use super::parse_posix;
    use crate::outline::outline;

    #[test]
    fn what_is_read_alike_is_left_to_bash() {
        for text in [
            "rm -rf build && echo done >log 2>&1",
            "for x in a b; do echo \"$x\"; done",
            "case $1 in a|b) ls ;; (c) ls ;; esac",
            "f() { echo ${1:-a} ${x##*/} ${#x} $((1 + 2)); }; f",
            "cat <<'E'\n{a,b} &>x [[ ${x//a/b} $'x'\nE\n",
            "echo '{a,b} &>x' # [[ a ]] &>x",
            "x=$(ls) y=`pwd`; { a; } 2>/dev/null; ! b",
            "echo [a-z]* \"$@\" ${@} $# $$ >&2 2>&- <&3",
        ] {
            assert!(parse_posix(text).is_none(), "{text}: {}", outline(&parse_posix(text).unwrap()));
        }
    }

    #[test]
    fn other_words_make_other_commands() {
        for (text, read) in [
            ("a &>b", "(a)& (>b)"),
            ("rm {a,b}", "(rm '{'a,b})"),
            ("[[ a || rm b ]]", "[('['[ a) || (rm b ]])]"),
            ("((rm a))", "(subshell (subshell (rm a)))"),
            ("x+=1", "(x'+'=1)"),
            ("a\nb <<< c; d\ne", "(a)"),
            ("a\nif b; then\nc <<< d\nfi", "(a)"),
            ("a; b <(c)", ""),
            ("for ((i=0;i<1;i++)); do a; done", ""),
            ("a\nx=(b c)\nd", "(a)"),
            ("function f {\nrm a\n}\n", "('f'unction f {) (rm a)"),
            ("a |& b", ""),
            ("(case b in [^a]) true ;; esac)", "(subshell (case b ([a^a] [(true)] ;;)))"),
            ("a >&b", "(a ${__bad_substitution:?<empty>} >b)"),
            ("echo ${x//a/b}", "(echo ${__bad_substitution:?<empty>})"),
        ] {
            let found = parse_posix(text).map(|block| outline(&block));
            assert_eq!(found.as_deref(), Some(read), "{text}");
        }
    }
}
