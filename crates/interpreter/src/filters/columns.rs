//! What `awk` prints, for programs of patterns and `print`: `/expression/ { print $2, $1 }`, `NR > 1`, `BEGIN { print "text" }`.
//!
//! Source: gawk 5.2, "The GNU Awk User's Guide": "Print", "Fields", "Concatenation", "String Functions".

use crate::expression::{Dialect, Expression, LetterCase};
use crate::strings;

/// What chooses lines.
enum Condition {
    Begin,
    End,
    Always,
    Matching(Expression),
    Line(Comparison, usize),
}

#[derive(Clone, Copy)]
enum Comparison {
    Is,
    IsNot,
    Above,
    Below,
    AtLeast,
    AtMost,
}

/// A part of what is printed.
#[derive(Clone)]
enum Term {
    Text(String),
    Field(usize),
    LastField,
    FieldCount,
    LineNumber,
    Argument(usize),
    Upper(Vec<Term>),
    Lower(Vec<Term>),
    Part(Vec<Term>, i64, Option<i64>),
}

/// A rule: what chooses the lines, and what is printed for each; nothing stands for the line itself.
struct Rule {
    condition: Condition,
    printed: Vec<Vec<Vec<Term>>>,
}

/// The options of a call.
struct Options<'a> {
    separator: Option<String>,
    variables: Vec<(&'a str, String)>,
    words: Vec<&'a str>,
}

fn options<'a>(words: &[&'a str]) -> Option<Options<'a>> {
    let mut found = Options { separator: None, variables: Vec::new(), words: Vec::new() };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-F" => found.separator = Some((*rest.next()?).to_owned()),
            "-v" => {
                let (name, value) = rest.next()?.split_once('=')?;
                found.variables.push((name, strings::unescaped(value).as_exact()?.to_owned()));
            }
            word if word.starts_with("-F") && found.words.is_empty() => {
                found.separator = word.get(2..).map(str::to_owned);
            }
            word if word.starts_with('-') && word.len() > 1 && found.words.is_empty() => return None,
            word => found.words.push(word),
        }
    }
    Some(found)
}

/// Whether a call prints without reading: it has no rule but `BEGIN`.
pub(super) fn needs_no_input(words: &[&str]) -> bool {
    let Some(found) = options(words) else { return false };
    let Some(script) = found.words.first() else { return false };
    rules(script, &found.variables)
        .is_some_and(|rules| rules.iter().all(|rule| matches!(rule.condition, Condition::Begin)))
}

/// What `awk` prints with these words for this text; `None` where that is not worked out.
pub(super) fn printed(words: &[&str], text: &str) -> Option<String> {
    let found = options(words)?;
    let set =
        |name: &str| found.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let separator = found
        .separator
        .clone()
        .or_else(|| set("FS"))
        .map(|sign| if sign == "\\t" { "\t".to_owned() } else { sign });
    // A space stands for blanks, and more than one sign for an expression.
    let separator = separator.filter(|sign| sign != " ");
    if separator.as_ref().is_some_and(|sign| sign.chars().count() != 1) || set("RS").is_some() {
        return None;
    }
    let between = set("OFS").unwrap_or_else(|| " ".to_owned());
    let end = set("ORS").unwrap_or_else(|| "\n".to_owned());
    let script = found.words.first()?;
    let rules = rules(script, &found.variables)?;
    let mut out = String::new();
    let mut print = |rule: &Rule, line: &Line<'_>| -> Option<()> {
        for list in &rule.printed {
            if list.is_empty() {
                out.push_str(line.text);
            }
            for (at, terms) in list.iter().enumerate() {
                if at > 0 {
                    out.push_str(&between);
                }
                out.push_str(&line.value(terms)?);
            }
            out.push_str(&end);
        }
        (out.len() <= 256 * 1024).then_some(())
    };
    let outside = Line { text: "", fields: Vec::new(), number: 0, arguments: &found.words };
    for rule in rules.iter().filter(|rule| matches!(rule.condition, Condition::Begin)) {
        print(rule, &outside)?;
    }
    for (index, content) in text.lines().enumerate() {
        let fields = match &separator {
            Some(separator) => content.split(separator.as_str()).collect(),
            None => content.split_whitespace().collect(),
        };
        let line = Line { text: content, fields, number: index + 1, arguments: &found.words };
        for rule in &rules {
            if rule.condition.chooses(&line)? {
                print(rule, &line)?;
            }
        }
    }
    // The last line stays until the end.
    let count = text.lines().count();
    let last = Line { number: count, ..outside };
    for rule in rules.iter().filter(|rule| matches!(rule.condition, Condition::End)) {
        let rests_on_line = rule.printed.iter().any(Vec::is_empty);
        if rests_on_line {
            return None;
        }
        print(rule, &last)?;
    }
    Some(out)
}

/// A line with what a program asks of it.
struct Line<'a> {
    text: &'a str,
    fields: Vec<&'a str>,
    number: usize,
    arguments: &'a [&'a str],
}

impl Line<'_> {
    fn value(&self, terms: &[Term]) -> Option<String> {
        let mut out = String::new();
        for term in terms {
            match term {
                Term::Text(text) => out.push_str(text),
                Term::Field(0) => out.push_str(self.text),
                Term::Field(number) => out.push_str(self.fields.get(number - 1).copied().unwrap_or_default()),
                Term::LastField => out.push_str(self.fields.last().copied().unwrap_or_default()),
                Term::FieldCount => out.push_str(&self.fields.len().to_string()),
                Term::LineNumber => out.push_str(&self.number.to_string()),
                Term::Argument(0) => out.push_str("awk"),
                Term::Argument(number) => {
                    out.push_str(self.arguments.get(*number).copied().unwrap_or_default());
                }
                Term::Upper(inner) => out.push_str(&self.value(inner)?.to_ascii_uppercase()),
                Term::Lower(inner) => out.push_str(&self.value(inner)?.to_ascii_lowercase()),
                Term::Part(inner, start, length) => {
                    let whole = self.value(inner)?;
                    let last = length.map_or(i64::MAX, |length| start.saturating_add(length));
                    let chosen = whole.chars().zip(1_i64..).filter(|(_, at)| at >= start && *at < last);
                    out.extend(chosen.map(|(c, _)| c));
                }
            }
        }
        Some(out)
    }
}

impl Condition {
    /// `None` where that is not known.
    fn chooses(&self, line: &Line<'_>) -> Option<bool> {
        match self {
            Self::Begin | Self::End => Some(false),
            Self::Always => Some(true),
            Self::Matching(expression) => expression.matches(line.text),
            Self::Line(comparison, number) => Some(match comparison {
                Comparison::Is => line.number == *number,
                Comparison::IsNot => line.number != *number,
                Comparison::Above => line.number > *number,
                Comparison::Below => line.number < *number,
                Comparison::AtLeast => line.number >= *number,
                Comparison::AtMost => line.number <= *number,
            }),
        }
    }
}

/// The rules of a program; `None` where one is not known here.
fn rules(script: &str, variables: &[(&str, String)]) -> Option<Vec<Rule>> {
    let mut found = Vec::new();
    let mut rest = script.trim();
    while !rest.is_empty() {
        let (head, behind) = head(rest)?;
        let condition = condition(head.trim())?;
        let printed = if let Some(inner) = behind.strip_prefix('{') {
            let end = end_of_block(inner)?;
            let (body, left) = (inner.get(..end)?, inner.get(end + 1..)?);
            rest = left.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
            statements(body, variables)?
        } else {
            rest = "";
            vec![Vec::new()]
        };
        found.push(Rule { condition, printed });
    }
    (!found.is_empty()).then_some(found)
}

/// What stands before the block of a rule, and the rest from the brace on.
fn head(rule: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let mut in_expression = false;
    for (at, c) in rule.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '/' => in_expression = !in_expression,
            '{' if !in_expression => return rule.split_at_checked(at),
            ';' | '\n' if !in_expression => return None,
            _ => {}
        }
    }
    (!in_expression).then_some((rule, ""))
}

/// Where the block ends that was opened before this text.
fn end_of_block(text: &str) -> Option<usize> {
    let (mut in_text, mut is_escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_text => is_escaped = true,
            '"' => in_text = !in_text,
            '}' if !in_text => return Some(at),
            // Blocks in blocks are of statements that are not known here.
            '{' if !in_text => return None,
            _ => {}
        }
    }
    None
}

/// The signs of comparisons, the longer ones first.
const COMPARISONS: &[(&str, Comparison)] = &[
    ("==", Comparison::Is),
    ("!=", Comparison::IsNot),
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::Above),
    ("<", Comparison::Below),
];

fn condition(text: &str) -> Option<Condition> {
    match text {
        "" | "1" => return Some(Condition::Always),
        "BEGIN" => return Some(Condition::Begin),
        "END" => return Some(Condition::End),
        _ => {}
    }
    if let Some(expression) = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        return Some(Condition::Matching(Expression::new(expression, Dialect::Extended, LetterCase::Kept)?));
    }
    let behind = text.strip_prefix("NR")?.trim_start();
    let (sign, comparison) = COMPARISONS.iter().find(|(sign, _)| behind.starts_with(sign))?;
    Some(Condition::Line(*comparison, behind.strip_prefix(sign)?.trim().parse().ok()?))
}

/// The lists that the statements of a block print; `None` where one is no `print`, or writes elsewhere.
fn statements(body: &str, variables: &[(&str, String)]) -> Option<Vec<Vec<Vec<Term>>>> {
    let mut rest = body;
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
        if rest.is_empty() {
            return Some(found);
        }
        rest = rest.strip_prefix("print").filter(|rest| !rest.starts_with(char::is_alphabetic))?;
        let mut list: Vec<Vec<Term>> = Vec::new();
        let mut terms = Vec::new();
        loop {
            rest = rest.trim_start_matches([' ', '\t']);
            match rest.chars().next() {
                None | Some(';' | '\n') => break,
                Some(',') => {
                    list.push(std::mem::take(&mut terms));
                    rest = rest.get(1..)?;
                }
                Some(_) => {
                    let (term, behind) = term(rest, variables)?;
                    terms.push(term);
                    rest = behind;
                }
            }
        }
        if !terms.is_empty() {
            list.push(terms);
        }
        found.push(list);
    }
}

/// One term at the beginning of a text, and what stands behind it.
fn term<'a>(text: &'a str, variables: &[(&str, String)]) -> Option<(Term, &'a str)> {
    if let Some(inner) = text.strip_prefix('"') {
        let mut is_escaped = false;
        let end = inner.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        })?;
        let value = strings::unescaped(inner.get(..end)?).as_exact()?.to_owned();
        return Some((Term::Text(value), inner.get(end + 1..)?));
    }
    if let Some(inner) = text.strip_prefix('$') {
        if let Some(behind) = inner.strip_prefix("NF") {
            return Some((Term::LastField, behind));
        }
        let digits = inner.len() - inner.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        return Some((Term::Field(inner.get(..digits)?.parse().ok()?), inner.get(digits..)?));
    }
    let length = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, behind) = text.split_at_checked(length).filter(|(name, _)| !name.is_empty())?;
    match name {
        "NF" => return Some((Term::FieldCount, behind)),
        "NR" | "FNR" => return Some((Term::LineNumber, behind)),
        "ARGV" => {
            let (number, behind) = behind.strip_prefix('[')?.split_once(']')?;
            return Some((Term::Argument(number.trim().parse().ok()?), behind));
        }
        "toupper" | "tolower" | "substr" => {
            let (inner, behind) = behind.strip_prefix('(')?.split_once(')')?;
            let mut parts = inner.split(',').map(str::trim);
            let (of, left) = term(parts.next()?, variables)?;
            if !left.trim().is_empty() {
                return None;
            }
            let numbers: Vec<i64> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
            let made = match (name, numbers.as_slice()) {
                ("toupper", []) => Term::Upper(vec![of]),
                ("tolower", []) => Term::Lower(vec![of]),
                ("substr", [start]) => Term::Part(vec![of], *start, None),
                ("substr", [start, length]) => Term::Part(vec![of], *start, Some(*length)),
                _ => return None,
            };
            return Some((made, behind));
        }
        _ => {}
    }
    // What stands behind a sign of arithmetic, a call or a subscript is not worked out.
    if behind.trim_start().starts_with(['(', '[', '+', '-', '*', '/', '=', '?', '<', '>', '%', '^']) {
        return None;
    }
    if name.chars().all(|c| c.is_ascii_digit()) {
        return Some((Term::Text(name.to_owned()), behind));
    }
    let value = variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())?;
    Some((Term::Text(value), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_worked_out() {
        let run = |words: &[&str], text: &str| printed(words, text);
        assert_eq!(run(&["-F:", "/b/{print $2, $1}"], "a:b\nc:d\n").as_deref(), Some("b a\n"));
        assert_eq!(run(&["NR==2"], "a\nb\n").as_deref(), Some("b\n"));
        assert_eq!(run(&["{print $2 \"-\" $1; print NR}"], "a b\n").as_deref(), Some("b-a\n1\n"));
        assert_eq!(run(&["BEGIN{print \"x\\ty\"}"], "").as_deref(), Some("x\ty\n"));
        assert_eq!(run(&["BEGIN { print ARGV[1] }", "one"], "").as_deref(), Some("one\n"));
        assert_eq!(run(&["-v", "x=1 2", "BEGIN{print x}"], "").as_deref(), Some("1 2\n"));
        assert_eq!(run(&["{print substr($0, 4)}"], "xxxabc\n").as_deref(), Some("abc\n"));
        assert_eq!(run(&["{print toupper($0)}"], "ab\n").as_deref(), Some("AB\n"));
        assert_eq!(run(&["{print $NF}"], "a b c\n").as_deref(), Some("c\n"));
        assert_eq!(run(&["NR > 1 {print}"], "a\nb\n").as_deref(), Some("b\n"));
        for unknown in
            ["{print > \"f\"}", "{print $1 | \"sh\"}", "{system($0)}", "{print $1+1}", "{x=$1}", "END{print}"]
        {
            assert_eq!(run(&[unknown], "a\n"), None, "{unknown}");
        }
        assert!(needs_no_input(&["BEGIN{print 1}"]));
        assert!(!needs_no_input(&["{print 1}"]));
    }
}
