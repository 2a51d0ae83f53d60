//! The text of a file of settings, with what it includes.

use crate::interpreter::Machine;
use crate::path::AbsolutePath;

/// The settings in the text of a configuration file.
pub(in super::super) fn parse(text: &str) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut section = String::new();
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    for line in joined.lines().map(str::trim) {
        if line.starts_with(['#', ';']) || line.is_empty() {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            section = match header.split_once('"') {
                Some((name, part)) => {
                    format!("{}.{}", name.trim().to_ascii_lowercase(), part.trim_end().trim_end_matches('"'))
                }
                None => header.trim().to_ascii_lowercase(),
            };
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        settings.push((format!("{section}.{}", key.trim().to_ascii_lowercase()), unquoted(value.trim())));
    }
    settings
}

/// The greatest depth of files that include others, as git has it.
const INCLUDED: usize = 10;

/// The settings of a file and of those that it includes, whatever the condition; `None` when the file cannot be read.
pub(super) fn with_included(
    machine: &Machine<'_>,
    home: &AbsolutePath,
    file: &AbsolutePath,
    depth: usize,
) -> Option<Vec<(String, String)>> {
    let text = machine.text(file);
    let mut all = Vec::new();
    for (key, value) in parse(text.as_exact()?) {
        let includes = key == "include.path" || key.starts_with("includeif.") && key.ends_with(".path");
        let next = file.parent().filter(|_| includes && depth < INCLUDED);
        let next = next.and_then(|directory| included(home, &directory, &value));
        all.push((key, value));
        if let Some(next) = next {
            all.extend(with_included(machine, home, &next, depth + 1).unwrap_or_default());
        }
    }
    Some(all)
}

/// The file that a setting names, from the directory of the file that it stands in.
pub(super) fn included(home: &AbsolutePath, directory: &AbsolutePath, name: &str) -> Option<AbsolutePath> {
    match name.strip_prefix("~/") {
        Some(rest) => Some(home.join(rest)),
        None if name.is_empty() || name.starts_with('~') => None,
        None => Some(directory.join(name)),
    }
}

/// A value without its quotes, escapes and comment.
fn unquoted(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    let mut quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '\\' => match letters.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some(other) => plain.push(other),
                None => {}
            },
            '#' | ';' if !quoted => break,
            other => plain.push(other),
        }
    }
    plain.trim_end().to_owned()
}

/// The words of an alias, split at blanks outside quotes.
pub(in super::super) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut open = false;
    for letter in text.chars() {
        match (quote, letter) {
            (Some(mark), letter) if mark == letter => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                open = true;
            }
            (None, letter) if letter.is_whitespace() => {
                if open || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            (Some(_) | None, letter) => word.push(letter),
        }
    }
    if open || !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_files_are_read() {
        let settings = parse(
            "[alias]\n\tst = status -sb\n wipe = \"!rm -rf build; echo \\\"x\\\"\" # gone\n[remote \"Origin\"]\nurl = git@h:o/r\n[core]\nbare\n",
        );
        assert_eq!(
            settings,
            [
                ("alias.st".to_owned(), "status -sb".to_owned()),
                ("alias.wipe".to_owned(), "!rm -rf build; echo \"x\"".to_owned()),
                ("remote.Origin.url".to_owned(), "git@h:o/r".to_owned()),
                ("core.bare".to_owned(), "true".to_owned()),
            ]
        );
        assert_eq!(split_words("log --format='%h %s' -1"), ["log", "--format=%h %s", "-1"]);
    }
}
