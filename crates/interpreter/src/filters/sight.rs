//! Which files below a directory a search looks into.
//!
//! Held against GNU grep 3.8, ripgrep 13.0, ag 2.2, ack 3.6 and ugrep 3.9. What is named itself is searched, whatever its name is.

use crate::path::AbsolutePath;
use crate::world::VersionState;
use crate::{Call, Letters, Machine, Pattern, Value};

use super::searching::Search;

/// What a search through directories passes over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sight {
    /// Whether files and directories are searched of which the name begins with a dot.
    hidden: bool,
    /// Whether files are searched that git ignores.
    ignored: bool,
    /// Patterns of the files that are searched, hidden and ignored ones too (`rg -g`); all files when there is none.
    chosen: Vec<String>,
    /// Names of files that are left out where nothing is chosen (`rg -g '!NAME'`).
    left_out: Vec<String>,
}

impl Sight {
    /// What a call looks into; `None` when it searches no directories, or tells names only.
    pub(super) fn of(call: &Call, search: &Search) -> Option<Self> {
        let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
        let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
        let letter = |letter: char| {
            words
                .iter()
                .filter(|word| word.starts_with('-') && !word.starts_with("--"))
                .map(|word| word.matches(letter).count())
                .sum::<usize>()
        };
        let everything = Self { hidden: true, ignored: true, chosen: Vec::new(), left_out: Vec::new() };
        let names = search.names || search.other_names;
        match call.program.as_str() {
            "rg" => {
                // `rg -L` follows links.
                if search.names || has(&["--files", "--files-without-match", "--type-list"]) {
                    return None;
                }
                let unrestricted =
                    letter('u') + words.iter().filter(|word| **word == "--unrestricted").count();
                Some(Self {
                    hidden: unrestricted >= 2 || has(&["--hidden"]) || letter('.') > 0,
                    ignored: unrestricted >= 1
                        || has(&["--no-ignore", "--no-ignore-vcs"])
                        || has(&["--no-ignore-parent"]),
                    chosen: globs(&words),
                    left_out: names_left_out(&words),
                })
            }
            "ag" => {
                let lists = names || letter('g') > 0;
                let all = letter('u') > 0 || has(&["--unrestricted"]);
                (!lists).then(|| Self {
                    hidden: all || has(&["--hidden"]),
                    ignored: all
                        || letter('U') + letter('t') + letter('a') > 0
                        || has(&["--skip-vcs-ignores", "--all-text", "--all-types"]),
                    chosen: Vec::new(),
                    left_out: Vec::new(),
                })
            }
            "ack" => {
                let lists =
                    names || letter('f') + letter('g') > 0 || has(&["--no-recurse"]) || letter('n') > 0;
                (!lists).then_some(everything)
            }
            "ugrep" => (!names).then(|| Self {
                hidden: has(&["--hidden"]) || letter('.') > 0,
                ignored: !words.iter().any(|word| word.starts_with("--ignore-files")),
                chosen: Vec::new(),
                left_out: Vec::new(),
            }),
            "rgrep" => (!names).then_some(everything),
            _ => (search.is_recursive() && !names).then_some(everything),
        }
    }

    /// Whether a file below a directory that is searched is looked into.
    pub(super) fn reaches(&self, machine: &Machine<'_>, root: &AbsolutePath, file: &AbsolutePath) -> bool {
        let below = file.relative_to(root).unwrap_or_default();
        if !self.chosen.is_empty() {
            return self.chosen.iter().any(|pattern| {
                let pattern = pattern.trim_start_matches("**/");
                let text = if pattern.contains('/') { below } else { file.name().unwrap_or_default() };
                Pattern::new(pattern).matches(text, Letters::Exact).unwrap_or(true)
            });
        }
        let name = file.name().unwrap_or_default();
        let fits = |pattern: &String| Pattern::new(pattern).matches(name, Letters::Exact).unwrap_or(false);
        if self.left_out.iter().any(fits) {
            return false;
        }
        let is_hidden = below.split('/').any(|part| part.starts_with('.'));
        (self.hidden || !is_hidden)
            && (self.ignored || machine.world().version(file) != VersionState::Ignored)
    }
}

/// The patterns after `-g` that choose files; those that begin with `!` leave some out.
fn globs(words: &[&str]) -> Vec<String> {
    let chosen = given_globs(words).into_iter().filter(|value| !value.starts_with('!'));
    chosen.flat_map(|value| alternatives(value, ALTERNATIVES)).collect()
}

/// The names of files that patterns after `-g` leave out; a pattern of several parts may mean less than its last one.
fn names_left_out(words: &[&str]) -> Vec<String> {
    let left_out = given_globs(words).into_iter().filter_map(|value| value.strip_prefix('!'));
    let names = left_out.map(|value| value.trim_start_matches("**/"));
    names.filter(|value| !value.contains(['/', '{'])).map(str::to_owned).collect()
}

fn given_globs<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = match *word {
            "-g" | "--glob" | "--iglob" => words.next().copied(),
            _ => word
                .strip_prefix("--glob=")
                .or_else(|| word.strip_prefix("--iglob="))
                .or_else(|| word.strip_prefix("-g")),
        };
        found.extend(value);
    }
    found
}

/// How many patterns one with braces is taken apart into at most (ours); the rest counts as fitting everything.
const ALTERNATIVES: usize = 64;

/// The patterns without braces that one stands for: `{id_*,*.pem}` chooses by either.
fn alternatives(pattern: &str, most: usize) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut found = Vec::new();
    while let Some(pattern) = open.pop() {
        let inner = pattern.find('}').and_then(|end| {
            let start = pattern.get(..end)?.rfind('{')?;
            Some((pattern.get(..start)?, pattern.get(start + 1..end)?, pattern.get(end + 1..)?))
        });
        match inner {
            Some(_) if open.len() + found.len() > most => found.push("*".to_owned()),
            Some((before, inner, behind)) => {
                open.extend(inner.split(',').map(|part| format!("{before}{part}{behind}")));
            }
            None if found.contains(&pattern) => {}
            None => found.push(pattern),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_of_a_pattern_choose_each_way() {
        let mut found = alternatives("**/{.ssh/{id_*,config},*.pem}", ALTERNATIVES);
        found.sort();
        assert_eq!(found, ["**/*.pem", "**/.ssh/config", "**/.ssh/id_*"]);
        assert_eq!(alternatives("a{b", ALTERNATIVES), ["a{b"]);
        assert!(alternatives(&"{a,b}".repeat(20), ALTERNATIVES).len() < 200);
    }
}
