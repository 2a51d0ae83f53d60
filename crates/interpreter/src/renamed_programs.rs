//! Names of programs that are not what they look like: characters that are not shown, letters of another script, names that quotes take
//! apart. And names that say what a program is for.

use checkrein_facts::{is_attack_tool, is_hidden};
use checkrein_shell::{Part, Word};

use super::lookup::Lookup;
use super::machine::Machine;
use super::value::Value;

/// What is wrong with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Disguise {
    /// It holds characters that are not shown; this is what is seen.
    Hidden(String),
    /// It holds letters that look like others; this is what it is taken for.
    LookAlike(String),
}

impl Machine<'_> {
    /// Adds that the name of a command is taken apart by quotes that change nothing: `r''m`, `e"v"al`, `$'\x72\x6d'`.
    pub(super) fn note_taken_apart(&mut self, name: Option<&Word>) {
        if self.budget.scanning == 0 && name.is_some_and(is_taken_apart) {
            self.unread("quotes take the name of the program apart, so that it is not read");
        }
    }

    /// Adds that a program, or the script that one is given, is made to attack machines, by the name of its file.
    pub fn note_attack_tool(&mut self, file: &str) {
        let name = file.rsplit('/').next().unwrap_or(file);
        if self.budget.scanning == 0 && is_attack_tool(name) {
            self.unread(format!("`{name}` is made to attack machines"));
        }
    }

    /// Adds that a name is disguised, with what the command does under the name that is seen.
    pub(super) fn see_through(&mut self, name: &str, rest: &[Value]) {
        let (seen, note) = match disguise(name) {
            Some(Disguise::Hidden(seen)) => {
                (seen, "the name of the program holds characters that are not shown")
            }
            Some(Disguise::LookAlike(seen)) if self.knows(&seen) || BUILT_IN.contains(&seen.as_str()) => {
                (seen, "the name of the program is spelled with letters of another script")
            }
            Some(Disguise::LookAlike(_)) | None => return,
        };
        self.unread(note);
        if !seen.is_empty() {
            let mut words = vec![Value::Exact(seen)];
            words.extend(rest.iter().cloned());
            self.possibly(|machine| {
                machine.in_subshell(|machine| machine.call_words(&words, Lookup::NoFunctions))
            });
        }
    }
}

/// Built-in commands of the shell that run something.
const BUILT_IN: [&str; 5] = ["eval", "exec", "source", "command", "builtin"];

/// Whether quotes stand in a name that needs none, elsewhere than around all of it, around a directory of its path, or as the one backslash in
/// front that keeps an alias from being meant.
fn is_taken_apart(word: &Word) -> bool {
    let Some(name) = plain_text(&word.parts) else { return false };
    let needs_none = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
    if !name.starts_with(|letter: char| letter.is_ascii_alphabetic() || matches!(letter, '/' | '.'))
        || !name.chars().all(needs_none)
    {
        return false;
    }
    match word.parts.as_slice() {
        // Quotes around the whole take two letters, `$'...'` three. More are escapes.
        [Part::Quoted(_)] => word.span.end.saturating_sub(word.span.start) > name.len() + 3,
        [] | [_] => false,
        parts => {
            let is_one_longer = word.span.end.saturating_sub(word.span.start) == name.len() + 1;
            let mut before = 0;
            parts.windows(2).enumerate().any(|(place, pair)| {
                let [left, right] = pair else { return false };
                let (left, right) =
                    (plain_text(std::slice::from_ref(left)), plain_text(std::slice::from_ref(right)));
                let (left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
                before += left.len();
                let is_border = left.ends_with('/') || right.starts_with('/');
                let keeps_alias =
                    place == 0 && before == 1 && is_one_longer && matches!(parts, [Part::Quoted(_), ..]);
                !is_border && !keeps_alias
            })
        }
    }
}

/// The text of parts in which nothing is expanded.
fn plain_text(parts: &[Part]) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Literal(piece) | Part::Quoted(piece) => text.push_str(piece),
            Part::DoubleQuoted(pieces) => text.push_str(&plain_text(pieces)?),
            Part::Bytes(_)
            | Part::Parameter(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution(..)
            | Part::Arithmetic(_)
            | Part::Braces(_) => return None,
        }
    }
    Some(text)
}

fn disguise(name: &str) -> Option<Disguise> {
    if name.is_ascii() {
        return None;
    }
    if name.chars().any(is_hidden) {
        return Some(Disguise::Hidden(name.chars().filter(|c| !is_hidden(*c)).collect()));
    }
    let seen: String = name.chars().map(|c| look_alike(c).unwrap_or(c)).collect();
    (seen.is_ascii() && seen != name).then_some(Disguise::LookAlike(seen))
}

/// The Latin letter that a letter of another script is taken for (a part of the confusables of Unicode).
fn look_alike(c: char) -> Option<char> {
    if let Some(offset) = u32::from(c).checked_sub(0xff01).filter(|offset| *offset < 94) {
        // Letters of full width.
        return char::from_u32(0x21 + offset);
    }
    Some(match c {
        'а' | 'α' => 'a',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' => 'e',
        'һ' => 'h',
        'і' | 'ι' | 'ı' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'п' | 'ո' => 'n',
        'о' | 'ο' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'ս' | 'υ' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_that_change_nothing_take_a_name_apart() {
        let first = |text: &str| {
            let parsed = checkrein_shell::parse(text);
            let Some(checkrein_shell::Command::Simple(simple)) =
                parsed.script.first().map(|statement| &statement.command)
            else {
                panic!("{text}")
            };
            is_taken_apart(&simple.words[0])
        };
        for apart in [
            "r''m x",
            "e\"v\"al x",
            "w\\get x",
            "rm'' x",
            "''rm x",
            "c'a't x",
            "$'\\x72\\x6d' x",
            "/bin/r''m x",
            "\"r\"\"m\" x",
        ] {
            assert!(first(apart), "{apart}");
        }
        for plain in [
            "rm x",
            "\\rm x",
            "'rm' x",
            "\"rm\" x",
            "$'rm' x",
            "\"/usr/bin\"/rm x",
            "'/opt/my tools'/run x",
            "my\\ tool x",
            "\"$HOME\"/bin/x y",
            "./'run me'.sh x",
            "[ x ]",
        ] {
            assert!(!first(plain), "{plain}");
        }
    }

    #[test]
    fn disguises_are_told_from_other_languages() {
        assert_eq!(disguise("r\u{200b}m"), Some(Disguise::Hidden("rm".to_owned())));
        assert_eq!(disguise("b\u{430}sh"), Some(Disguise::LookAlike("bash".to_owned())));
        assert_eq!(disguise("ｒｍ"), Some(Disguise::LookAlike("rm".to_owned())));
        for honest in ["rm", "déployer", "запуск", "naïve-tool"] {
            assert!(!matches!(disguise(honest), Some(Disguise::Hidden(_))), "{honest}");
        }
        assert_eq!(disguise("déployer"), None);
    }
}
