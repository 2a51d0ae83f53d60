//! Lists of settings, `NAME=value` in each line: filters that leave nothing of the values.
//!
//! A fixed table of forms, not a reading of whole languages: what is not listed here shows the values. The forms are proved with the
//! real programs on lists that are made up (`tests`).

use crate::{Call, Value};

use super::editing::Editor;
use super::searching::Search;
use super::showing::SEARCHING;

/// The sign that stands between a name and its value.
const SIGN: char = '=';

/// Whether a call that is given lines `NAME=value` prints nothing of the values, whatever they are.
pub(crate) fn hides_values(call: &Call) -> bool {
    let Some(words) = call.words.iter().map(Value::as_exact).collect::<Option<Vec<&str>>>() else {
        return false;
    };
    match call.program.as_str() {
        "cut" => is_cut_before_sign(&words),
        "awk" | "gawk" | "mawk" | "nawk" => awk_prints_names(&words),
        "sed" | "gsed" => sed_takes_values_away(&words),
        "perl" => perl_takes_values_away(&words),
        program if SEARCHING.contains(&program) && program != "rg" => prints_only_names(&Search::new(call)),
        _ => false,
    }
}

/// Whether every line that a call prints is one that it read, as it was.
pub(crate) fn keeps_lines(call: &Call) -> bool {
    let Some(words) = call.words.iter().map(Value::as_exact).collect::<Option<Vec<&str>>>() else {
        return false;
    };
    let options = || words.iter().filter(|word| word.starts_with('-') && word.len() > 1);
    let only = |letters: &str, word: &str| {
        word.strip_prefix('-').is_some_and(|cluster| cluster.chars().all(|letter| letters.contains(letter)))
    };
    match call.program.as_str() {
        "cat" => options().all(|word| *word == "-u"),
        "sort" => options().all(|word| {
            only("bdfgiMhnRrVsu", word) || word.starts_with("-k") || matches!(*word, "--unique" | "--reverse")
        }),
        // A second name is written to.
        "uniq" => options().all(|word| only("cdDiu", word)) && words.len() - options().count() <= 1,
        "tac" => options().count() == 0,
        "head" | "tail" => {
            let counts = |word: &str| {
                let rest = word.trim_start_matches(['-', 'q', 'v']);
                let number = rest.strip_prefix('n').unwrap_or(rest);
                number.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '+' | '-'))
            };
            let is_known = |word: &str| {
                counts(word) || matches!(word, "-f" | "-F" | "--quiet") || word.starts_with("--lines=")
            };
            options().all(|word| is_known(word)) && !words.iter().any(|word| word.starts_with('+'))
        }
        program if SEARCHING.contains(&program) => Search::new(call).prints_whole_lines(),
        _ => false,
    }
}

/// `cut -d= -f1`
fn is_cut_before_sign(words: &[&str]) -> bool {
    let (mut delimiter, mut fields) = (None, None);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-d" | "--delimiter" => delimiter = rest.next().copied(),
            "-f" | "--fields" => fields = rest.next().copied(),
            "-s" | "--only-delimited" => {}
            word => match (word.strip_prefix("-d"), word.strip_prefix("-f"), word.split_once(SIGN)) {
                (Some(sign), _, _) | (_, _, Some(("--delimiter", sign))) => delimiter = Some(sign),
                (_, Some(list), _) | (_, _, Some(("--fields", list))) => fields = Some(list),
                _ if word.starts_with('-') && word.len() > 1 => return false,
                _ => {}
            },
        }
    }
    delimiter == Some("=") && fields == Some("1")
}

/// `awk -F= '{print $1}'`, with any condition in front that only looks at the line.
fn awk_prints_names(words: &[&str]) -> bool {
    let mut separator = None;
    let mut rest = words.iter();
    let script = loop {
        match rest.next().copied() {
            Some("-F") => separator = rest.next().copied(),
            Some(word) if word.starts_with("-F") => separator = word.get(2..),
            Some(word) if word.starts_with('-') => return false,
            Some(word) => break word.trim(),
            None => return false,
        }
    };
    // A later word may set the separator to something else.
    if rest.any(|word| word.starts_with('-') || word.contains(SIGN)) {
        return false;
    }
    let compact: String = script.chars().filter(|c| !c.is_whitespace()).collect();
    let (separator, compact) = match compact.strip_prefix("BEGIN{FS=\"=\"}") {
        Some(after) => (Some("="), after),
        None => (separator, compact.as_str()),
    };
    let Some((condition, action)) = compact.split_once('{') else { return false };
    let is_pattern = |text: &str| {
        let inner = text.trim_start_matches('!').strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        inner.is_some_and(|inner| !inner.contains('/'))
    };
    let is_harmless = condition.is_empty()
        || condition.split("&&").all(|part| is_pattern(part) || matches!(part, "NF" | "NF>1" | "NF==2"));
    separator == Some("=") && is_harmless && matches!(action, "print$1}" | "print$1;}" | "print($1)}")
}

/// `sed 's/=.*//'`, and `sed -n 's/^\([A-Z_]*\)=.*/\1/p'`; lines may be left out before.
fn sed_takes_values_away(words: &[&str]) -> bool {
    let (mut prints, mut editor, mut scripts) = (Prints::Every, Editor::Sed, Vec::new());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-e" => scripts.extend(rest.next().copied()),
            "-E" | "-r" => editor = Editor::ExtendedSed,
            "-n" => prints = Prints::Chosen,
            "-nE" | "-En" | "-nr" | "-rn" => (prints, editor) = (Prints::Chosen, Editor::ExtendedSed),
            word if word.starts_with('-') && word.len() > 1 => return false,
            word if scripts.is_empty() => scripts.push(word),
            // A file.
            _ => {}
        }
    }
    take_values_away(editor, prints, &scripts)
}

/// `perl -pe 's/=.*//'`
fn perl_takes_values_away(words: &[&str]) -> bool {
    let (mut is_printing, mut scripts) = (false, Vec::new());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.strip_prefix('-') {
            Some(cluster) if !cluster.is_empty() && cluster.chars().all(|letter| "plwe".contains(letter)) => {
                is_printing |= cluster.contains('p');
                match cluster.find('e') {
                    None => {}
                    Some(place) if place + 1 == cluster.len() => scripts.extend(rest.next().copied()),
                    Some(_) => return false,
                }
            }
            Some(cluster) if !cluster.is_empty() => return false,
            // A file, behind which everything is one.
            Some(_) | None => break,
        }
    }
    let is_file = |word: &&&str| !word.starts_with('-') || word.len() == 1;
    is_printing && rest.all(|word| is_file(&word)) && take_values_away(Editor::Perl, Prints::Every, &scripts)
}

/// Whether an editor that changes a list of settings where it stands leaves nothing of the values in it.
pub fn edit_takes_values_away(editor: Editor, scripts: &[&str]) -> bool {
    take_values_away(editor, Prints::Every, scripts)
}

/// Which lines an editor prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prints {
    /// All that are left.
    Every,
    /// Those of which a substitution says so.
    Chosen,
}

/// Whether scripts take the values away: the first substitution does, and what follows it changes what is left. What stands in place of a
/// value refers to nothing.
fn take_values_away(editor: Editor, prints: Prints, scripts: &[&str]) -> bool {
    let edits: Vec<&str> =
        scripts.iter().flat_map(|script| script.split([';', '\n'])).map(str::trim).collect();
    let is_removal = |edit: &&str| {
        let address = edit.strip_suffix('d').and_then(|address| address.strip_prefix('/')?.strip_suffix('/'));
        editor != Editor::Perl && address.is_some_and(|text| !text.replace("\\/", "").contains('/'))
    };
    let substitutions: Option<Vec<_>> =
        edits.into_iter().filter(|edit| !edit.is_empty() && !is_removal(edit)).map(substitution).collect();
    let Some(substitutions) = substitutions else { return false };
    let Some(((pattern, with, flags), later)) = substitutions.split_first() else { return false };
    // What Perl puts there may be code.
    let refers =
        |with: &str| with.contains(['&', '\\']) || editor == Editor::Perl && with.contains(['$', '@']);
    let are_plain = later.iter().all(|(pattern, with, flags)| {
        matches!(*flags, "" | "g")
            && (editor != Editor::Perl || !refers(with) && !pattern.contains(['$', '@', '(']))
    });
    if !are_plain {
        return false;
    }
    let blanks = ["", " *", "\\s*", "[ ]*", "[[:space:]]*", "[ \\t]*"];
    let rests: &[&str] = match editor {
        Editor::Sed => &["=.*", "=.\\+"],
        Editor::ExtendedSed | Editor::Perl => &["=.*", "=.+"],
    };
    let takes_rest = |pattern: &str| {
        let bare = pattern.strip_suffix('$').unwrap_or(pattern);
        rests.iter().any(|rest| bare.strip_suffix(rest).is_some_and(|before| blanks.contains(&before)))
    };
    let is_told = matches!(*flags, "p" | "gp" | "pg");
    if takes_rest(pattern) {
        let is_plain = matches!(*flags, "" | "g");
        return !refers(with)
            && match prints {
                Prints::Every => is_plain,
                Prints::Chosen => is_told && later.is_empty(),
            };
    }
    // A name in a group, which alone is printed.
    let group = ["^\\(", "^("].iter().find_map(|open| pattern.strip_prefix(open));
    let parts = group.and_then(|rest| rest.split_once("\\)").or_else(|| rest.split_once(')')));
    parts.is_some_and(|(name, after)| {
        is_name_pattern(name)
            && takes_rest(after)
            && *with == "\\1"
            && is_told
            && prints == Prints::Chosen
            && later.is_empty()
    })
}

/// The pattern, the text in its place and the flags of `s/a/b/flags`.
fn substitution(edit: &str) -> Option<(&str, &str, &str)> {
    let rest = edit.strip_prefix('s')?;
    let delimiter = rest.chars().next().filter(|c| "/|#,:@!%".contains(*c))?;
    let mut parts = rest.get(delimiter.len_utf8()..)?.split(delimiter);
    let (pattern, with, flags) = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some((pattern, with, flags))
}

/// `grep -o '^[A-Z_]*'`: from the beginning of the line, and the sign at most at the end.
fn prints_only_names(search: &Search) -> bool {
    let [pattern] = search.patterns.as_slice() else { return false };
    search.prints_only_what_fits()
        && pattern.as_exact().and_then(|text| text.strip_prefix('^')).is_some_and(|name| {
            let name = name.strip_suffix("(?==)").unwrap_or(name);
            is_name_pattern(name.strip_suffix(SIGN).unwrap_or(name))
        })
}

/// Whether an expression fits nothing that holds the sign: letters, digits, sets of such, and how often.
fn is_name_pattern(pattern: &str) -> bool {
    let mut rest = pattern;
    if rest.is_empty() {
        return false;
    }
    while let Some(first) = rest.chars().next() {
        if first == '[' {
            let Some(end) = end_of_set(rest) else { return false };
            let (set, after) = rest.split_at(end);
            if set_holds_sign(set) {
                return false;
            }
            rest = after;
        } else if let Some(after) = rest.strip_prefix("\\w").or_else(|| rest.strip_prefix("\\+")) {
            rest = after;
        } else if first.is_ascii_alphanumeric() || matches!(first, '_' | '*' | '+' | '?') {
            rest = rest.get(1..).unwrap_or_default();
        } else {
            return false;
        }
    }
    true
}

/// Where a set of letters in brackets at the beginning of a text ends.
fn end_of_set(text: &str) -> Option<usize> {
    let inner = text.get(1..)?;
    let start = inner.strip_prefix('^').unwrap_or(inner);
    let skipped = text.len() - start.len();
    // A bracket that comes first is one of the letters; classes have brackets of their own.
    if start.starts_with(']') {
        return None;
    }
    let mut at = 0;
    while let Some(rest) = start.get(at..) {
        if rest.starts_with("[:") {
            at += rest.find(":]")? + 2;
        } else if rest.starts_with(']') {
            return Some(skipped + at + 1);
        } else {
            at += rest.chars().next()?.len_utf8();
        }
    }
    None
}

/// Whether a set of letters in brackets fits the sign.
fn set_holds_sign(set: &str) -> bool {
    let inner = set.strip_prefix('[').and_then(|set| set.strip_suffix(']')).unwrap_or(set);
    if let Some(left_out) = inner.strip_prefix('^') {
        return !left_out.contains(SIGN) || left_out.contains("[=");
    }
    let classes = ["[:alpha:]", "[:upper:]", "[:lower:]", "[:alnum:]", "[:digit:]"];
    let plain = classes.iter().fold(inner.to_owned(), |text, class| text.replace(class, ""));
    let ranges = ["A-Z", "a-z", "0-9"];
    let plain = ranges.iter().fold(plain, |text, range| text.replace(range, ""));
    !plain.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

#[cfg(test)]
mod tests;
