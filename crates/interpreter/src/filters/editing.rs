//! What `sed` and `awk` print, for the part of their languages that pipelines are made of.

use super::searching::push_line;
use crate::expression::{Dialect, Expression, LetterCase, NotKnown};

/// One command of a `sed` script.
struct Edit {
    address: Address,
    action: Action,
}

enum Address {
    All,
    Line(usize),
    Last,
    Matching(Expression),
}

enum Action {
    Substitute {
        expression: Expression,
        with: Vec<Piece>,
        all: bool,
        print: bool,
    },
    Delete,
    Print,
    /// Writes a line before this one.
    Before(String),
    /// Writes a line behind this one.
    Behind(String),
}

enum Piece {
    Text(String),
    Group(usize),
}

/// A program that edits files by substitutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Editor {
    /// `sed`
    Sed,
    /// `sed -E`
    ExtendedSed,
    /// `perl -p`
    Perl,
}

/// What a file holds after an editor changed it by substitutions, deletions and prints; `None` where that is not worked out.
pub fn edited_in_place(editor: Editor, scripts: &[&str], text: &str) -> Option<String> {
    // Perl has signs of its own, and only a substitution alone means the same in both (perlop, perlre).
    let is_of_both = |script: &&str| script.starts_with('s') && !script.contains(['$', '@', '?', '&', ';']);
    if editor == Editor::Perl && !scripts.iter().all(is_of_both) {
        return None;
    }
    let mut options = match editor {
        Editor::Sed => Vec::new(),
        Editor::ExtendedSed | Editor::Perl => vec!["-E"],
    };
    for script in scripts {
        options.extend(["-e", script]);
    }
    edited(&options, text)
}

/// What `sed` prints, for scripts of substitutions, deletions and prints.
pub(super) fn edited(options: &[&str], text: &str) -> Option<String> {
    let mut scripts: Vec<&str> = Vec::new();
    let mut dialect = Dialect::Basic;
    let mut silent = false;
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        match *option {
            "-e" => scripts.push(rest.next()?),
            "-E" | "-r" => dialect = Dialect::Extended,
            "-n" => silent = true,
            "-nE" | "-En" | "-nr" | "-rn" => {
                silent = true;
                dialect = Dialect::Extended;
            }
            script if !script.starts_with('-') => scripts.push(script),
            _ => return None,
        }
    }
    let mut edits = Vec::new();
    for script in scripts {
        let chars: Vec<char> = script.chars().collect();
        let mut place = 0;
        while skip_blank(&chars, &mut place) {
            edits.push(edit(&chars, &mut place, dialect)?);
        }
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        let mut held = (*line).to_owned();
        let mut deleted = false;
        let mut behind: Vec<&str> = Vec::new();
        for edit in &edits {
            let chosen = match &edit.address {
                Address::All => true,
                Address::Line(number) => index + 1 == *number,
                Address::Last => index + 1 == lines.len(),
                Address::Matching(expression) => expression.matches(&held)?,
            };
            if !chosen {
                continue;
            }
            match &edit.action {
                Action::Substitute { expression, with, all, print } => {
                    if let Some(changed) = replaced(&held, expression, with, *all).ok()? {
                        held = changed;
                        if *print {
                            push_line(&mut out, "", &held);
                        }
                    }
                }
                Action::Delete => {
                    deleted = true;
                    break;
                }
                Action::Print => push_line(&mut out, "", &held),
                Action::Before(text) => push_line(&mut out, "", text),
                Action::Behind(text) => behind.push(text),
            }
        }
        if !deleted && !silent {
            push_line(&mut out, "", &held);
        }
        behind.into_iter().for_each(|text| push_line(&mut out, "", text));
        if out.len() > 256 * 1024 {
            return None;
        }
    }
    Some(out)
}

/// Goes to the next command of a script; whether there is one.
fn skip_blank(chars: &[char], place: &mut usize) -> bool {
    while chars.get(*place).is_some_and(|c| c.is_whitespace() || *c == ';') {
        *place += 1;
    }
    *place < chars.len()
}

/// The command of a script at `place`; `None` when it is not known here.
fn edit(chars: &[char], place: &mut usize, dialect: Dialect) -> Option<Edit> {
    let first = chars.get(*place).copied()?;
    let address = match first {
        '0'..='9' => {
            let mut number = 0_usize;
            while let Some(digit) = chars.get(*place).and_then(|c| c.to_digit(10)) {
                number = number.checked_mul(10)?.checked_add(usize::try_from(digit).ok()?)?;
                *place += 1;
            }
            Address::Line(number)
        }
        '$' => {
            *place += 1;
            Address::Last
        }
        '/' => {
            *place += 1;
            let text = delimited(chars, place, '/').filter(|text| !text.is_empty())?;
            Address::Matching(Expression::new(&text, dialect, LetterCase::Kept)?)
        }
        _ => Address::All,
    };
    let command = chars.get(*place).copied()?;
    *place += 1;
    let action = match command {
        'd' => Action::Delete,
        'p' => Action::Print,
        'i' => Action::Before(line_of_text(chars, place)?),
        'a' => Action::Behind(line_of_text(chars, place)?),
        's' => {
            let delimiter =
                chars.get(*place).copied().filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n')?;
            *place += 1;
            // An empty one stands for the last one that was looked for.
            let pattern = delimited(chars, place, delimiter).filter(|text| !text.is_empty())?;
            let with = delimited(chars, place, delimiter)?;
            let (mut all, mut print, mut case) = (false, false, LetterCase::Kept);
            while let Some(flag) = chars.get(*place).copied().filter(|c| !matches!(c, ';' | '\n' | '}' | ' '))
            {
                match flag {
                    'g' => all = true,
                    'p' => print = true,
                    'i' | 'I' => case = LetterCase::Ignored,
                    _ => return None,
                }
                *place += 1;
            }
            Action::Substitute {
                expression: Expression::new(&pattern, dialect, case)?,
                with: pieces(&with)?,
                all,
                print,
            }
        }
        _ => return None,
    };
    match chars.get(*place) {
        None | Some(';' | '\n' | ' ') => Some(Edit { address, action }),
        Some(_) => None,
    }
}

/// The text that GNU sed takes behind `i` and `a` on the same line; `None` for none, or for one with signs of its own.
fn line_of_text(chars: &[char], place: &mut usize) -> Option<String> {
    while chars.get(*place).is_some_and(|c| matches!(c, ' ' | '\t')) {
        *place += 1;
    }
    let text: String = chars.get(*place..)?.iter().take_while(|c| **c != '\n').collect();
    *place += text.chars().count();
    (!text.is_empty() && !text.contains('\\')).then_some(text)
}

/// The text up to an unescaped delimiter, which is taken too.
fn delimited(chars: &[char], place: &mut usize, delimiter: char) -> Option<String> {
    let mut text = String::new();
    loop {
        let c = chars.get(*place).copied()?;
        *place += 1;
        if c == delimiter {
            return Some(text);
        }
        if c == '\\' {
            let next = chars.get(*place).copied()?;
            *place += 1;
            if next != delimiter {
                text.push('\\');
            }
            text.push(next);
        } else {
            text.push(c);
        }
    }
}

fn pieces(with: &str) -> Option<Vec<Piece>> {
    let mut all = Vec::new();
    let mut text = String::new();
    let mut chars = with.chars();
    while let Some(c) = chars.next() {
        let group = match c {
            '&' => Some(0),
            '\\' => match chars.next()? {
                digit @ '0'..='9' => Some(usize::try_from(digit.to_digit(10)?).ok()?),
                'n' => {
                    text.push('\n');
                    None
                }
                't' => {
                    text.push('\t');
                    None
                }
                c if c.is_alphanumeric() => return None,
                c => {
                    text.push(c);
                    None
                }
            },
            c => {
                text.push(c);
                None
            }
        };
        if let Some(group) = group {
            all.push(Piece::Text(std::mem::take(&mut text)));
            all.push(Piece::Group(group));
        }
    }
    all.push(Piece::Text(text));
    Some(all)
}

/// The line with matches replaced, when there is one.
fn replaced(
    line: &str,
    expression: &Expression,
    with: &[Piece],
    all: bool,
) -> Result<Option<String>, NotKnown> {
    let chars: Vec<char> = line.chars().collect();
    let mut out = String::new();
    let mut from = 0;
    let mut any = false;
    while from <= chars.len() {
        let Some(found) = expression.find(&chars, from)? else { break };
        let (start, end) = found.first().copied().flatten().ok_or(NotKnown)?;
        any = true;
        out.extend(chars.get(from..start).unwrap_or_default());
        for piece in with {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Group(number) => {
                    if let Some((start, end)) = found.get(*number).copied().ok_or(NotKnown)? {
                        out.extend(chars.get(start..end).unwrap_or_default());
                    }
                }
            }
        }
        if end == start {
            out.extend(chars.get(start));
            from = start + 1;
        } else {
            from = end;
        }
        if !all {
            break;
        }
    }
    if !any {
        return Ok(None);
    }
    out.extend(chars.get(from..).unwrap_or_default());
    Ok(Some(out))
}

/// What `awk` prints, for `[/expression/ | NR==n | NR>n] {print $a, $b}`.
pub(super) fn fields(options: &[&str], text: &str) -> Option<String> {
    let mut separator: Option<String> = None;
    let mut script = None;
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        match *option {
            "-F" => separator = Some((*rest.next()?).to_owned()),
            option if option.starts_with("-F") => separator = option.get(2..).map(str::to_owned),
            option if option.starts_with('-') => return None,
            option => script = Some(option.trim()),
        }
    }
    if separator.as_ref().is_some_and(|text| text.chars().count() != 1) {
        return None;
    }
    let script = script?;
    let (condition, action) =
        script.split_once('{').map_or((script, "print}"), |(condition, action)| (condition.trim(), action));
    let action = action.strip_suffix('}')?.trim().trim_end_matches(';');
    let printed = action.strip_prefix("print")?.trim();
    let wanted: Option<Vec<usize>> = if printed.is_empty() {
        Some(vec![0])
    } else {
        printed
            .split(',')
            .map(|part| part.trim().strip_prefix('$').and_then(|number| number.parse().ok()))
            .collect()
    };
    let wanted = wanted?;
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let chosen = if condition.is_empty() {
            true
        } else if let Some(expression) = condition.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
            Expression::new(expression, Dialect::Extended, LetterCase::Kept)?.matches(line)?
        } else {
            let compact = condition.replace(' ', "");
            if let Some(wanted) = compact.strip_prefix("NR==") {
                wanted.parse() == Ok(number)
            } else if let Some(least) = compact.strip_prefix("NR>") {
                number > least.parse::<usize>().ok()?
            } else {
                return None;
            }
        };
        if !chosen {
            continue;
        }
        let parts: Vec<&str> = match &separator {
            Some(separator) => line.split(separator.as_str()).collect(),
            None => line.split_whitespace().collect(),
        };
        let values: Vec<&str> = wanted
            .iter()
            .map(|field| match field.checked_sub(1) {
                None => line,
                Some(place) => parts.get(place).copied().unwrap_or_default(),
            })
            .collect();
        out.push_str(&values.join(" "));
        out.push('\n');
    }
    Some(out)
}
