//! What `sed` prints, for the part of its language that pipelines are made of.

use super::searching::push_line;
use crate::expression::{Dialect, Expression, LetterCase, NotKnown};

/// One command of a `sed` script.
struct Edit {
    address: Address,
    /// The end of a range of lines.
    until: Option<Address>,
    negated: bool,
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
        /// Which match is replaced, from 1 on.
        number: usize,
        print: bool,
    },
    Delete,
    Print,
    /// Ends the script behind this line.
    Quit,
    /// Letters for letters.
    Letters(Vec<char>, Vec<char>),
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
    let mut open = vec![false; edits.len()];
    let mut quits = false;
    for (index, line) in lines.iter().enumerate() {
        let mut held = (*line).to_owned();
        let mut deleted = false;
        let mut behind: Vec<&str> = Vec::new();
        for (edit, open) in edits.iter().zip(&mut open) {
            let fits = |address: &Address| {
                Some(match address {
                    Address::All => true,
                    Address::Line(number) => index + 1 == *number,
                    Address::Last => index + 1 == lines.len(),
                    Address::Matching(expression) => expression.matches(&held)?,
                })
            };
            let chosen = match &edit.until {
                None => fits(&edit.address)?,
                Some(until) if *open => {
                    let is_behind = matches!(until, Address::Line(number) if index + 1 > *number);
                    *open = !is_behind && !fits(until)?;
                    !is_behind
                }
                Some(until) => {
                    let begins = fits(&edit.address)?;
                    // An end that is no later than the beginning makes it one line; an expression is looked for from the next one on.
                    *open = begins
                        && match until {
                            Address::Line(number) => *number > index + 1,
                            Address::Last => index + 1 < lines.len(),
                            Address::Matching(_) | Address::All => true,
                        };
                    begins
                }
            };
            if chosen == edit.negated {
                continue;
            }
            match &edit.action {
                Action::Substitute { expression, with, all, number, print } => {
                    if let Some(changed) = replaced(&held, expression, with, *all, *number).ok()? {
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
                Action::Quit => {
                    quits = true;
                    break;
                }
                Action::Letters(from, to) => {
                    let change = |c: char| {
                        from.iter()
                            .position(|known| *known == c)
                            .and_then(|at| to.get(at))
                            .copied()
                            .unwrap_or(c)
                    };
                    held = held.chars().map(change).collect();
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
        if quits {
            break;
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

/// The address of a command at `place`; `None` when it is not known here.
fn address(chars: &[char], place: &mut usize, dialect: Dialect) -> Option<Address> {
    Some(match chars.get(*place).copied()? {
        '0'..='9' => {
            let mut number = 0_usize;
            while let Some(digit) = chars.get(*place).and_then(|c| c.to_digit(10)) {
                number = number.checked_mul(10)?.checked_add(usize::try_from(digit).ok()?)?;
                *place += 1;
            }
            // Line 0 and steps are of GNU alone.
            if number == 0 || chars.get(*place) == Some(&'~') {
                return None;
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
    })
}

/// The command of a script at `place`; `None` when it is not known here.
fn edit(chars: &[char], place: &mut usize, dialect: Dialect) -> Option<Edit> {
    let address = address(chars, place, dialect)?;
    let mut until = None;
    if chars.get(*place) == Some(&',') {
        *place += 1;
        until = Some(self::address(chars, place, dialect)?).filter(|end| !matches!(end, Address::All));
        until.as_ref()?;
    }
    let negated = chars.get(*place) == Some(&'!');
    *place += usize::from(negated);
    let command = chars.get(*place).copied()?;
    *place += 1;
    let action = match command {
        'd' => Action::Delete,
        'p' => Action::Print,
        'q' => Action::Quit,
        'y' => {
            let delimiter = chars.get(*place).copied().filter(|c| !c.is_alphanumeric() && *c != '\\')?;
            *place += 1;
            let from: Vec<char> = delimited(chars, place, delimiter)?.chars().collect();
            let to: Vec<char> = delimited(chars, place, delimiter)?.chars().collect();
            if from.contains(&'\\') || to.contains(&'\\') || from.len() != to.len() {
                return None;
            }
            Action::Letters(from, to)
        }
        'i' => Action::Before(line_of_text(chars, place)?),
        'a' => Action::Behind(line_of_text(chars, place)?),
        's' => {
            let delimiter =
                chars.get(*place).copied().filter(|c| !c.is_alphanumeric() && *c != '\\' && *c != '\n')?;
            *place += 1;
            // An empty one stands for the last one that was looked for.
            let pattern = delimited(chars, place, delimiter).filter(|text| !text.is_empty())?;
            let with = delimited(chars, place, delimiter)?;
            let (mut all, mut number, mut print, mut case) = (false, 1, false, LetterCase::Kept);
            while let Some(flag) = chars.get(*place).copied().filter(|c| !matches!(c, ';' | '\n' | '}' | ' '))
            {
                match flag {
                    'g' => all = true,
                    '1'..='9' => number = usize::try_from(flag.to_digit(10)?).ok()?,
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
                number,
                print,
            }
        }
        _ => return None,
    };
    match chars.get(*place) {
        None | Some(';' | '\n' | ' ') => Some(Edit { address, until, negated, action }),
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
    number: usize,
) -> Result<Option<String>, NotKnown> {
    let chars: Vec<char> = line.chars().collect();
    let mut out = String::new();
    let mut from = 0;
    let mut any = false;
    let mut count = 0;
    while from <= chars.len() {
        let Some(found) = expression.find(&chars, from)? else { break };
        let (start, end) = found.first().copied().flatten().ok_or(NotKnown)?;
        count += 1;
        out.extend(chars.get(from..start).unwrap_or_default());
        if count < number {
            out.extend(chars.get(start..end.max(start + 1)).unwrap_or_default());
            from = end.max(start + 1);
            continue;
        }
        any = true;
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
