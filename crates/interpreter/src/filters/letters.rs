//! `tr`: letters for letters.

use crate::strings;

/// What `tr` makes of a text; `None` where its options or sets are not known.
///
/// Source: coreutils 9, "tr invocation".
pub(super) fn translated(options: &[&str], text: &str) -> Option<String> {
    let (flags, sets): (Vec<&str>, Vec<&str>) =
        options.iter().partition(|option| option.len() > 1 && option.starts_with('-') && is_flags(option));
    let (mut deletes, mut squeezes, mut complements) = (false, false, false);
    for flag in flags {
        match flag {
            "--delete" => deletes = true,
            "--squeeze-repeats" => squeezes = true,
            "--complement" => complements = true,
            letters => {
                deletes |= letters.contains('d');
                squeezes |= letters.contains('s');
                complements |= letters.contains(['c', 'C']);
            }
        }
    }
    let is_in = |set: &[char], c: char| set.contains(&c) != complements;
    let without_repeats = |text: String, chosen: &dyn Fn(char) -> bool| {
        let mut out = String::new();
        let mut last = None;
        for c in text.chars() {
            if last != Some(c) || !chosen(c) {
                out.push(c);
            }
            last = Some(c);
        }
        out
    };
    match (deletes, squeezes, sets.as_slice()) {
        (true, false, [set]) => {
            let set = characters(set)?;
            Some(text.chars().filter(|c| !is_in(&set, *c)).collect())
        }
        (true, true, [set, repeated]) => {
            let (set, repeated) = (characters(set)?, characters(repeated)?);
            Some(without_repeats(text.chars().filter(|c| !is_in(&set, *c)).collect(), &|c| {
                repeated.contains(&c)
            }))
        }
        (false, true, [set]) => {
            let set = characters(set)?;
            Some(without_repeats(text.to_owned(), &|c| is_in(&set, c)))
        }
        (false, _, [from, to]) => {
            let (from, to) = (characters(from)?, characters(to)?);
            let last = to.last().copied()?;
            let change = |c: char| {
                if complements {
                    return if from.contains(&c) { c } else { last };
                }
                // The last one of several counts.
                match from.iter().rposition(|known| *known == c) {
                    Some(place) => to.get(place).copied().unwrap_or(last),
                    None => c,
                }
            };
            let changed: String = text.chars().map(change).collect();
            Some(if squeezes { without_repeats(changed, &|c| to.contains(&c)) } else { changed })
        }
        (_, _, _) => None,
    }
}

fn is_flags(option: &str) -> bool {
    matches!(option, "--delete" | "--squeeze-repeats" | "--complement")
        || option.get(1..).is_some_and(|letters| letters.chars().all(|c| "dscC".contains(c)))
}

/// The members of a class of characters in the C locale, in its order.
fn class(name: &str) -> Option<Vec<char>> {
    let fits: fn(&char) -> bool = match name {
        "upper" => char::is_ascii_uppercase,
        "lower" => char::is_ascii_lowercase,
        "digit" => char::is_ascii_digit,
        "alpha" => char::is_ascii_alphabetic,
        "alnum" => char::is_ascii_alphanumeric,
        "punct" => char::is_ascii_punctuation,
        "xdigit" => char::is_ascii_hexdigit,
        "cntrl" => char::is_ascii_control,
        "graph" => char::is_ascii_graphic,
        "blank" => |c| matches!(c, ' ' | '\t'),
        "space" => |c| matches!(c, ' ' | '\t'..='\r'),
        "print" => |c| matches!(c, ' '..='~'),
        _ => return None,
    };
    Some(('\0'..='\u{7f}').filter(fits).collect())
}

/// The characters of a set, in order: letters, ranges, classes, escapes.
fn characters(set: &str) -> Option<Vec<char>> {
    let set = strings::unescaped(set);
    let chars: Vec<char> = set.as_exact()?.chars().collect();
    let mut all = Vec::new();
    let mut place = 0;
    while let Some(c) = chars.get(place) {
        let rest: String = chars.get(place..)?.iter().take(12).collect();
        if let Some(named) = rest.strip_prefix("[:") {
            let (name, _) = named.split_once(":]")?;
            all.extend(class(name)?);
            place += name.len() + 4;
            continue;
        }
        // Repetitions and classes of like letters have signs of their own.
        if rest.starts_with("[=") || *c == '[' && rest.chars().nth(2) == Some('*') {
            return None;
        }
        match (chars.get(place + 1), chars.get(place + 2)) {
            (Some('-'), Some(end)) if c <= end => {
                all.extend(*c..=*end);
                place += 3;
            }
            _ => {
                all.push(*c);
                place += 1;
            }
        }
        if all.len() > 4096 {
            return None;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_changed_deleted_and_squeezed() {
        let run = |options: &[&str], text: &str| translated(options, text);
        assert_eq!(run(&["A-Za-z", "N-ZA-Mn-za-m"], "Ebg13\n").as_deref(), Some("Rot13\n"));
        assert_eq!(run(&["[:lower:]", "[:upper:]"], "ab\n").as_deref(), Some("AB\n"));
        assert_eq!(run(&["-d", "x\\n"], "axb\nxc").as_deref(), Some("abc"));
        assert_eq!(run(&["-cd", "[:alnum:]_"], "a-b_c!\n").as_deref(), Some("ab_c"));
        assert_eq!(run(&["-s", " "], "a   b\n").as_deref(), Some("a b\n"));
        assert_eq!(run(&["-s", "[:space:]", "_"], "a \tb").as_deref(), Some("a_b"));
        assert_eq!(run(&["[a*3]", "x"], "a"), None);
    }
}
