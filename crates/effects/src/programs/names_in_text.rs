//! Names of files that are put into the text of a shell: `find -exec sh -c '... {} ...' \;`, `xargs -I{} bash -c '... {} ...'`.
//!
//! A name with a dollar sign or a semicolon in it would be code there, so a text with a name in it that is not known cannot be followed.
//! Where all the names were looked at and each is plain, a name in the text means as much as one behind it, which the shell finds as `$1`.

use crate::interpreter::{Machine, Value};

use super::find::every_name;

/// The shells to which text is given behind `-c`.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh"];

/// Parts of a text that count its arguments, change them or hand all of them on, or whose quotes are read otherwise.
const OTHER_READINGS: &[&str] =
    &["$@", "$*", "$#", "{@", "{*", "shift", "set ", "getopts", "<<", "$'", "$\"", " #", "\n#"];

/// The words of a call of a shell with a name behind its text that stood in it in the place of a mark; `None` for other calls, where the
/// `names` that it may be are not known to be plain, and where the text may be read in another way than it seems.
pub(crate) fn handed_behind(
    machine: &Machine<'_>,
    words: &[Value],
    mark: &str,
    name: &Value,
    names: &Value,
) -> Option<Vec<Value>> {
    let program = words.first()?.as_exact()?;
    SHELLS.contains(&program.rsplit('/').next()?).then_some(())?;
    let option = words.get(1)?.as_exact()?.strip_prefix('-')?;
    let is_text_next = option.ends_with('c') && option.chars().all(|letter| "ceuxlv".contains(letter));
    is_text_next.then_some(())?;
    let text = words.get(2)?.as_exact()?;
    let rest = words.get(3..)?;
    let holds_mark = |word: &Value| word.as_exact().is_some_and(|text| text.contains(mark));
    let is_marked = !mark.is_empty() && text.contains(mark) && !rest.iter().any(holds_mark);
    if !is_marked || !are_plain(machine, names) {
        return None;
    }
    let number = rest.len().max(1);
    let mut behind = vec![words.first()?.clone(), words.get(1)?.clone()];
    behind.push(Value::Exact(with_argument(text, mark, number)?));
    behind.extend(rest.iter().cloned());
    if rest.is_empty() {
        behind.push(Value::exact(program));
    }
    behind.push(name.clone());
    Some(behind)
}

/// Whether no shell reads anything else than a name in any of the names that a value stands for.
fn are_plain(machine: &Machine<'_>, name: &Value) -> bool {
    match name {
        Value::AnyOf(names) => names.iter().all(|name| is_plain(name)),
        Value::Glob(pattern) => {
            every_name(machine, pattern).is_some_and(|names| names.iter().all(|name| is_plain(name)))
        }
        Value::Exact(_) | Value::Between { .. } | Value::Unknown => false,
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.chars().all(|letter| letter.is_alphanumeric() || "._/+@%:=,-".contains(letter))
}

/// How the shell reads what stands at a place of its text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

/// The text with the argument of this number in the place of each mark; `None` where its quotes are nested in a way that is not followed.
fn with_argument(text: &str, mark: &str, number: usize) -> Option<String> {
    if mark.is_empty() || OTHER_READINGS.iter().any(|part| text.contains(part)) {
        return None;
    }
    let mut quotes = Quotes::None;
    let mut substitutes = false;
    let mut written = String::new();
    let digits = number.to_string();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix(mark) {
            let (opens, closes) = match quotes {
                Quotes::None => ("\"", "\""),
                Quotes::Double => ("", ""),
                Quotes::Single => ("'\"", "\"'"),
            };
            for part in [opens, "${", digits.as_str(), "}", closes] {
                written.push_str(part);
            }
            rest = behind;
            continue;
        }
        match (quotes, letter) {
            (Quotes::None | Quotes::Double, '\\') => {
                written.push(letter);
                rest = rest.get(1..)?;
                let Some(next) = rest.chars().next() else { break };
                written.push(next);
                rest = rest.get(next.len_utf8()..)?;
                continue;
            }
            (Quotes::None, '\'') => quotes = Quotes::Single,
            (Quotes::Single, '\'') | (Quotes::Double, '"') => quotes = Quotes::None,
            (Quotes::None, '"') => (quotes, substitutes) = (Quotes::Double, false),
            (Quotes::Double, '`' | '(') => substitutes = true,
            // A quote in what is substituted within quotes begins a text of its own.
            (Quotes::Double, '\'') if substitutes => return None,
            (Quotes::None | Quotes::Single | Quotes::Double, _) => {}
        }
        written.push(letter);
        rest = rest.get(letter.len_utf8()..)?;
    }
    (quotes == Quotes::None).then_some(written)
}

#[cfg(test)]
mod tests {
    use super::{is_plain, with_argument};

    #[test]
    fn a_mark_becomes_an_argument_whatever_quotes_are_around_it() {
        let cases = [
            ("echo {} | grep -q x", Some("echo \"${1}\" | grep -q x")),
            ("mv \"{}\" \"{}.bak\"", Some("mv \"${1}\" \"${1}.bak\"")),
            ("mv '{}' 'a {} b'", Some("mv ''\"${1}\"'' 'a '\"${1}\"' b'")),
            ("mv {} $(dirname \"{}\")/x", Some("mv \"${1}\" $(dirname \"${1}\")/x")),
            ("echo \"$(basename '{}')\"", None),
            ("echo \\' {}", Some("echo \\' \"${1}\"")),
            ("for f in \"$@\"; do echo {}; done", None),
            ("cat <<'x'\n{}\nx", None),
            ("echo 'open {}", None),
        ];
        for (text, expected) in cases {
            assert_eq!(with_argument(text, "{}", 1).as_deref(), expected, "{text}");
        }
        assert_eq!(with_argument("echo", "", 1), None);
    }

    #[test]
    fn a_name_that_a_shell_would_read_is_not_plain() {
        assert!(is_plain("./src/main.rs") && is_plain("größe-2.txt"));
        for name in ["$(reboot)", "a;b", "a b", "`x`", "-rf", "a&b", "a>b", "~", ""] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
