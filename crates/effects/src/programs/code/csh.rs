//! The language of the C shell (tcsh(1) 6.24, "The command language") in the words of other shells, as far as the two say the same in
//! another way.

use super::fish::statements;

/// What a block began with, which `end`, `endif` or `endsw` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Loop,
    Branch,
}

/// A condition of which nothing is known.
const ANY: &str = "[ \"$RANDOM\" = 0 ]";

/// The text in the words of `sh`: variables, lists, loops, branches and aliases. What else there is stands as it was written. Of `switch`
/// every case is possible, and of a condition that is worked out both ways are.
pub(super) fn as_posix(text: &str) -> String {
    let mut reading = Reading::default();
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for statement in statements(text) {
        let line = reading.translated(statement.trim());
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// What is known while a text is read.
#[derive(Debug, Default)]
struct Reading {
    blocks: Vec<Block>,
    /// Variables that hold a list.
    lists: Vec<String>,
}

impl Reading {
    fn translated(&mut self, statement: &str) -> String {
        let (word, rest) = first_word(statement);
        match word {
            "set" => self.assignments(rest),
            "setenv" => {
                let (name, value) = first_word(rest);
                let value = self.expansions(if value.is_empty() { "''" } else { value });
                if name.is_empty() { "export -p".to_owned() } else { format!("export {name}={value}") }
            }
            "unsetenv" => format!("unset {rest}"),
            "@" => self.arithmetic(rest),
            "foreach" => {
                self.blocks.push(Block::Loop);
                let (name, list) = first_word(rest);
                let (list, _) = in_parentheses(list);
                format!("for {name} in {}; do", self.expansions(list))
            }
            "while" => {
                self.blocks.push(Block::Loop);
                let (condition, _) = in_parentheses(rest);
                format!("while {}; do", self.condition(condition))
            }
            "if" => {
                let (condition, behind) = in_parentheses(rest);
                let condition = self.condition(condition);
                if behind == "then" {
                    self.blocks.push(Block::Branch);
                    return format!("if {condition}; then :");
                }
                format!("if {condition}; then\n{}\nfi", self.translated(behind))
            }
            "else" => match first_word(rest) {
                ("if", rest) => {
                    let (condition, _) = in_parentheses(rest);
                    format!("elif {}; then :", self.condition(condition))
                }
                _ => format!("else :\n{}", self.translated(rest)),
            },
            "switch" => {
                self.blocks.push(Block::Branch);
                format!("if {ANY}; then :")
            }
            "case" | "default:" | "default" if self.blocks.last() == Some(&Block::Branch) => {
                let behind =
                    if word == "case" { rest.split_once(':').map_or("", |(_, rest)| rest) } else { "" };
                format!("elif {ANY}; then :\n{}", self.translated(behind.trim()))
            }
            "end" | "endif" | "endsw" => match self.blocks.pop() {
                Some(Block::Loop) => "done".to_owned(),
                Some(Block::Branch) => "fi".to_owned(),
                None => String::new(),
            },
            "breaksw" | "onintr" | "goto" => ":".to_owned(),
            "repeat" => self.translated(first_word(rest).1),
            "alias" => self.alias(rest),
            "" => String::new(),
            _ => self.expansions(statement),
        }
    }

    /// `set name = value`, `set name=(one two)`, `set -r a=1 b`
    fn assignments(&mut self, words: &str) -> String {
        let mut out = String::new();
        let mut rest = words.trim();
        while let Some(option) = rest.split_whitespace().next().filter(|word| word.starts_with('-')) {
            rest = rest.get(option.len()..).unwrap_or_default().trim_start();
        }
        if rest.is_empty() {
            return "set".to_owned();
        }
        while !rest.is_empty() {
            let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            let name = name.split('[').next().unwrap_or(name);
            let behind = behind.trim_start();
            let Some(value) = behind.strip_prefix('=') else {
                out.extend([name, "=''\n"]);
                rest = behind;
                continue;
            };
            let value = value.trim_start();
            if value.starts_with('(') {
                let (list, behind) = in_parentheses(value);
                out.extend([name, "=(", &self.expansions(list), ")\n"]);
                self.lists.push(name.to_owned());
                rest = behind;
            } else {
                let end = end_of_word(value);
                let (value, behind) = value.split_at(end);
                out.extend([name, "=", &self.expansions(value), "\n"]);
                self.lists.retain(|known| known != name);
                rest = behind.trim_start();
            }
        }
        out
    }

    /// `@ name = expression`, `@ name++`
    fn arithmetic(&self, rest: &str) -> String {
        let (name, behind) = first_word(rest);
        let plain = name.trim_end_matches(['+', '-']);
        match behind.split_once('=') {
            Some((_, expression)) => format!("{plain}=$(({}))", self.expansions(expression.trim())),
            None => format!("{plain}=$(({plain}+1))"),
        }
    }

    /// `alias name words`: `\!*` is what it is given.
    fn alias(&self, rest: &str) -> String {
        let (name, text) = first_word(rest);
        if text.is_empty() {
            return "alias".to_owned();
        }
        let is_quoted = text.len() > 1 && text.starts_with(['\'', '"']) && text.ends_with(['\'', '"']);
        let text = if is_quoted { text.get(1..text.len() - 1).unwrap_or(text) } else { text };
        let given = [
            ("\\!*", "\"$@\""),
            ("\\!^", "\"$1\""),
            ("\\!:1", "\"$1\""),
            ("\\!:2", "\"$2\""),
            ("\\!$", "\"$1\""),
        ];
        let takes = given.iter().any(|(sign, _)| text.contains(sign));
        let body = given.iter().fold(text.to_owned(), |body, (sign, word)| body.replace(sign, word));
        let all = if takes { "" } else { " \"$@\"" };
        format!("{name}() {{ {}{all}; }}", self.expansions(&body))
    }

    /// A condition, with the commands that it runs: `{ command }` and what stands between back-ticks.
    fn condition(&self, text: &str) -> String {
        let text = text.trim();
        match text {
            "1" => return "true".to_owned(),
            "0" => return "false".to_owned(),
            _ => {}
        }
        let mut commands = String::new();
        for (place, piece) in text.split('`').enumerate() {
            if place % 2 == 1 {
                commands.extend([self.expansions(piece).as_str(), "; "]);
            }
        }
        let inner = text.split_once("{ ").and_then(|(_, behind)| behind.rsplit_once('}'));
        if let Some((command, _)) = inner {
            commands.extend([self.expansions(command.trim()).as_str(), "; "]);
        }
        format!("{commands}{ANY}")
    }

    /// Lists, their items, and the parts of names (`$x:h`), outside single quotes.
    fn expansions(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 8);
        let mut is_quoted = false;
        let mut before = ' ';
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let behind = rest.get(letter.len_utf8()..).unwrap_or_default();
            if letter == '\'' && before != '\\' {
                is_quoted = !is_quoted;
            }
            if letter == '$' && !is_quoted && before != '\\' {
                let (written, used) = self.variable(behind);
                out.push_str(&written);
                rest = behind.get(used..).unwrap_or_default();
                before = ' ';
                continue;
            }
            if letter == '>' && behind.starts_with('!') {
                out.push_str(">|");
                rest = behind.get(1..).unwrap_or_default();
                before = ' ';
                continue;
            }
            out.push(letter);
            before = if before == '\\' { ' ' } else { letter };
            rest = behind;
        }
        out
    }

    /// What stands behind a `$`, and how much of the text it is.
    fn variable(&self, text: &str) -> (String, usize) {
        let braced = text.starts_with('{');
        let from = usize::from(braced);
        let inner = text.get(from..).unwrap_or_default();
        let length = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
        let (name, behind) = inner.split_at(length);
        if name.is_empty() {
            return ("$".to_owned(), 0);
        }
        let mut used = from + length;
        let (mut index, mut part) = (None, None);
        let mut behind = behind;
        if let Some((inside, rest)) = behind.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            index = Some(inside);
            used += inside.len() + 2;
            behind = rest;
        }
        if let Some(letter) = behind.strip_prefix(':').and_then(|rest| rest.chars().next())
            && "htreqxu".contains(letter)
        {
            part = Some(letter);
            used += 2;
        }
        used += usize::from(braced);
        let is_list = self.lists.iter().any(|known| known == name);
        let number = index.and_then(|index| index.parse::<usize>().ok());
        let whole = match (is_list, name, number) {
            (_, "argv", Some(number)) => format!("${number}"),
            (_, "argv", None) => "\"$@\"".to_owned(),
            (true, _, Some(number)) => format!("${{{name}[{}]}}", number.saturating_sub(1)),
            (true, _, None) => format!("${{{name}[@]}}"),
            (false, _, _) => format!("${{{name}}}"),
        };
        let written = match part {
            Some('h') if !is_list => format!("${{{name}%/*}}"),
            Some('t') if !is_list => format!("${{{name}##*/}}"),
            Some('h') => format!("$(dirname {whole})"),
            Some('t') => format!("$(basename {whole})"),
            Some('r') if !is_list => format!("${{{name}%.*}}"),
            Some('e') if !is_list => format!("${{{name}##*.}}"),
            Some(_) | None => whole,
        };
        (written, used)
    }
}

fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(text.len());
    let end = if end == 0 { end_of_word(text) } else { end };
    let (word, rest) = text.split_at(end);
    (word, rest.trim())
}

/// Where the first word ends: at a blank outside quotes.
fn end_of_word(text: &str) -> usize {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(letter),
            (None, letter) if letter.is_whitespace() => return at,
            (Some(_) | None, _) => {}
        }
    }
    text.len()
}

/// What stands between the parentheses at the beginning, and behind them.
fn in_parentheses(text: &str) -> (&str, &str) {
    let Some(inner) = text.trim_start().strip_prefix('(') else { return (text, "") };
    let mut depth = 1_usize;
    for (at, letter) in inner.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (inner.get(..at).unwrap_or(inner).trim(), inner.get(at + 1..).unwrap_or_default().trim());
        }
    }
    (inner, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_variables_are_those_of_other_shells() {
        let said = |text: &str| as_posix(text).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(said("set x = ~/a; ls $x"), "x=~/a ls ${x}");
        assert_eq!(said("set x=(a b); ls $x $x[2]"), "x=(a b) ls ${x[@]} ${x[1]}");
        assert_eq!(said("setenv A ~; ls $A"), "export A=~ ls ${A}");
        assert_eq!(said("foreach f ( *.o )\nls $f:h\nend"), "for f in *.o; do ls ${f%/*} done");
        assert_eq!(said("if (1) ls"), "if true; then ls fi");
        assert_eq!(
            said("if ( -d a ) then\nls\nelse\npwd\nendif"),
            "if [ \"$RANDOM\" = 0 ]; then : ls else : pwd fi"
        );
        assert_eq!(said("alias l ls -l; l a"), "l() { ls -l \"$@\"; } l a");
        assert_eq!(said("alias l 'ls \\!* -l'"), "l() { ls \"$@\" -l; }");
        assert_eq!(said("@ n = 1 + 2"), "n=$((1 + 2))");
        assert_eq!(said("echo '$x[1]' >! out"), "echo '$x[1]' >| out");
    }
}
