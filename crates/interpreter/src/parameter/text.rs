//! Parts and other forms of a text: what `${name:1}`, `${name#a}`, `${name/a/b}` and `${name^}` make of it.

use checkrein_shell::ReplaceScope;

use crate::pattern::{Letters, Pattern};

/// How much of a value is taken.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Length {
    Rest,
    Known(i64),
    Unknown,
}

pub(crate) fn slice_bounds(
    length: usize,
    offset: Option<i64>,
    wanted: Length,
) -> Option<std::ops::Range<usize>> {
    let length = i64::try_from(length).ok()?;
    let offset = offset?;
    let start = if offset < 0 { length.checked_add(offset)? } else { offset };
    if start < 0 || start > length {
        return Some(0..0);
    }
    let end = match wanted {
        Length::Rest => length,
        Length::Unknown => return None,
        Length::Known(count) if count < 0 => length.checked_add(count)?,
        Length::Known(count) => start.checked_add(count)?.min(length),
    };
    if end < start {
        return Some(0..0);
    }
    Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

pub(crate) fn remove_prefix(text: &str, pattern: &Pattern, longest: bool) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let cuts: Vec<usize> =
        if longest { (0..=chars.len()).rev().collect() } else { (0..=chars.len()).collect() };
    for cut in cuts {
        if pattern.matches_chars(chars.get(..cut)?, Letters::Exact)? {
            return Some(chars.get(cut..)?.iter().collect());
        }
    }
    Some(text.to_owned())
}

pub(crate) fn remove_suffix(text: &str, pattern: &Pattern, longest: bool) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let cuts: Vec<usize> =
        if longest { (0..=chars.len()).collect() } else { (0..=chars.len()).rev().collect() };
    for cut in cuts {
        if pattern.matches_chars(chars.get(cut..)?, Letters::Exact)? {
            return Some(chars.get(..cut)?.iter().collect());
        }
    }
    Some(text.to_owned())
}

pub(crate) fn replace(
    text: &str,
    pattern: &Pattern,
    with: &str,
    scope: ReplaceScope,
    letters: Letters,
) -> Option<String> {
    if text.len() > 4096 && letters == Letters::Exact {
        return pattern.literal().filter(|literal| !literal.is_empty()).map(|literal| match scope {
            ReplaceScope::All => text.replace(&literal, with),
            ReplaceScope::First => text.replacen(&literal, with, 1),
            ReplaceScope::Prefix => {
                text.strip_prefix(&literal).map_or(text.to_owned(), |rest| format!("{with}{rest}"))
            }
            ReplaceScope::Suffix => {
                text.strip_suffix(&literal).map_or(text.to_owned(), |rest| format!("{rest}{with}"))
            }
        });
    }
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut place = 0;
    let mut replaced = false;
    while place <= chars.len() {
        let may_start = match scope {
            ReplaceScope::First => !replaced,
            ReplaceScope::All | ReplaceScope::Suffix => true,
            ReplaceScope::Prefix => place == 0,
        };
        let mut found = None;
        if may_start {
            for end in (place..=chars.len()).rev() {
                if scope == ReplaceScope::Suffix && end != chars.len() {
                    break;
                }
                if pattern.matches_chars(chars.get(place..end)?, letters)? {
                    found = Some(end);
                    break;
                }
            }
        }
        match found {
            Some(end)
                if end > place
                    || (matches!(scope, ReplaceScope::Prefix | ReplaceScope::Suffix) && !replaced) =>
            {
                out.push_str(with);
                replaced = true;
                if end == place {
                    out.extend(chars.get(place));
                    place += 1;
                } else {
                    place = end;
                }
                if scope == ReplaceScope::Suffix {
                    break;
                }
            }
            Some(_) | None => {
                out.extend(chars.get(place));
                place += 1;
            }
        }
    }
    Some(out)
}

/// A text in other letters; `None` where the language of the shell says which these are.
pub(crate) fn change_case(text: &str, upper: bool, all: bool) -> Option<String> {
    if !text.is_ascii() {
        return None;
    }
    let change = |text: &str| if upper { text.to_uppercase() } else { text.to_lowercase() };
    if all {
        return Some(change(text));
    }
    let mut chars = text.chars();
    Some(match chars.next() {
        Some(first) => format!("{}{}", change(&first.to_string()), chars.as_str()),
        None => String::new(),
    })
}

/// A text in which the letters that fit are other ones; `None` where it is not known which these are.
pub(crate) fn change_letters(
    text: &str,
    upper: bool,
    all: bool,
    fits: impl Fn(char) -> Option<bool>,
) -> Option<String> {
    if !text.is_ascii() {
        return None;
    }
    let mut changed = String::with_capacity(text.len());
    for (place, letter) in text.chars().enumerate() {
        let is_meant = (all || place == 0) && fits(letter)?;
        changed.push(match (is_meant, upper) {
            (false, _) => letter,
            (true, true) => letter.to_ascii_uppercase(),
            (true, false) => letter.to_ascii_lowercase(),
        });
    }
    Some(changed)
}
