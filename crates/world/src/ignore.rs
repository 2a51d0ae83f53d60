//! Rules of `.gitignore` files.

use std::path::Path;

use checkrein_protocol::AbsolutePath;

use crate::repository::{repository_at, small_text};
use crate::version::Versions;

/// The rules of one file, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// The pattern between the slashes.
    parts: Vec<String>,
    /// Whether it starts at the directory of its file; else any name below may match.
    is_anchored: bool,
    only_directories: bool,
    answer: IgnoreDecision,
}

/// What rules say about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IgnoreDecision {
    /// It is ignored.
    Ignore,
    /// It is not, whatever earlier rules say.
    Keep,
}

/// What stands at the path that rules are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// A directory.
    Directory,
    /// Anything else.
    File,
}

impl Rules {
    /// The rules that stand in no directory of the repository with this root: its own and those of the person, the stronger first.
    /// Without a repository nothing is ignored.
    pub fn general(root: &AbsolutePath, home: &AbsolutePath, configuration: Option<&str>) -> [Self; 2] {
        let versions = Versions::new(home, configuration);
        repository_at(root).map(|repository| versions.general_rules(&repository)).unwrap_or_default()
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rules in a file; none when it cannot be read.
    pub fn read(file: &Path) -> Self {
        small_text(file).map(|text| Self::parse(&text)).unwrap_or_default()
    }

    /// Reads the text of a `.gitignore` file.
    pub fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(rule).collect())
    }

    /// What the last rule that matches says; `None` when none does. The path is relative to the directory of the file.
    pub fn answer(&self, path: &str, node: PathKind) -> Option<IgnoreDecision> {
        if self.is_empty() {
            return None;
        }
        let parts: Vec<&str> = path.split('/').collect();
        self.0.iter().rev().find(|rule| rule.matches(&parts, node)).map(|rule| rule.answer)
    }
}

impl Rule {
    fn matches(&self, parts: &[&str], node: PathKind) -> bool {
        if self.only_directories && node == PathKind::File {
            return false;
        }
        if self.is_anchored {
            return parts_match(&self.parts, parts);
        }
        match (self.parts.first(), parts.last()) {
            (Some(pattern), Some(name)) => name_matches(pattern, name),
            (None, _) | (_, None) => false,
        }
    }
}

fn rule(line: &str) -> Option<Rule> {
    let line = without_trailing_blanks(line.trim_end_matches('\r'));
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (answer, line) = match line.strip_prefix('!') {
        Some(rest) => (IgnoreDecision::Keep, rest),
        None => (IgnoreDecision::Ignore, line),
    };
    let line = if line.starts_with("\\#") || line.starts_with("\\!") { line.get(1..)? } else { line };
    let (line, only_directories) = match line.strip_suffix('/') {
        Some(rest) => (rest, true),
        None => (line, false),
    };
    let is_anchored = line.contains('/');
    let parts: Vec<String> = line.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    (!parts.is_empty()).then_some(Rule { parts, is_anchored, only_directories, answer })
}

/// Blanks at the end do not count, unless a backslash stands before them.
fn without_trailing_blanks(line: &str) -> &str {
    let trimmed = line.trim_end_matches([' ', '\t']);
    if trimmed.ends_with('\\') && trimmed.len() < line.len() {
        line.get(..=trimmed.len()).unwrap_or(line)
    } else {
        trimmed
    }
}

fn parts_match(pattern: &[String], parts: &[&str]) -> bool {
    // Row by row over the pattern: which prefixes of the path it can have consumed. Linear memory, no backtracking.
    let mut reached = vec![false; parts.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for (position, piece) in pattern.iter().enumerate() {
        let mut next = vec![false; parts.len() + 1];
        let is_last = position + 1 == pattern.len();
        for (consumed, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
            if piece == "**" {
                // At the end it stands for at least one name, elsewhere for any number of directories.
                for slot in next.iter_mut().skip(consumed + usize::from(is_last)) {
                    *slot = true;
                }
            } else if parts.get(consumed).is_some_and(|name| name_matches(piece, name))
                && let Some(slot) = next.get_mut(consumed + 1)
            {
                *slot = true;
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

/// Whether a name matches a pattern with `*`, `?`, `[...]` and `\`. Unlike in a shell, a leading dot is no exception.
fn name_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut position) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(character) = name.get(position) {
        let step = match pattern.get(at) {
            Some('*') => {
                star = Some((at, position));
                at += 1;
                continue;
            }
            Some('?') => Some(at + 1),
            Some('[') => class(&pattern, at, *character),
            Some('\\') if pattern.get(at + 1) == Some(character) => Some(at + 2),
            Some('\\') => None,
            Some(literal) if literal == character => Some(at + 1),
            Some(_) | None => None,
        };
        match (step, star) {
            (Some(next), _) => {
                at = next;
                position += 1;
            }
            (None, Some((star_at, star_position))) => {
                at = star_at + 1;
                position = star_position + 1;
                star = Some((star_at, star_position + 1));
            }
            (None, None) => return false,
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|character| *character == '*'))
}

/// Where the pattern goes on behind a class that holds the character; `None` when it does not hold it or does not end.
fn class(pattern: &[char], start: usize, character: char) -> Option<usize> {
    let mut at = start + 1;
    let is_negated = matches!(pattern.get(at), Some('!' | '^'));
    if is_negated {
        at += 1;
    }
    let first = at;
    let mut is_held = false;
    loop {
        let low = match *pattern.get(at)? {
            ']' if at > first => break,
            '\\' => {
                at += 1;
                *pattern.get(at)?
            }
            other => other,
        };
        match (pattern.get(at + 1), pattern.get(at + 2)) {
            (Some('-'), Some(high)) if *high != ']' => {
                is_held |= (low..=*high).contains(&character);
                at += 3;
            }
            _ => {
                is_held |= low == character;
                at += 1;
            }
        }
    }
    (is_held != is_negated).then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_answer_as_git_does() {
        let rules = Rules::parse(
            "# comment\n*.log\n!keep.log\n/build\ntmp/\ndoc/*.txt\na/**/z\n**/deep\nall/**\n\\#odd\nblank\\ \n[a-c]?.x\n",
        );
        let ignored = |path: &str, node| rules.answer(path, node) == Some(IgnoreDecision::Ignore);
        for path in [
            "x.log",
            "d/x.log",
            "build",
            "doc/a.txt",
            "a/z",
            "a/b/c/z",
            "x/deep",
            "deep",
            "all/x/y",
            "#odd",
            "blank ",
            "b1.x",
            ".log",
        ] {
            assert!(ignored(path, PathKind::File), "{path}");
        }
        for path in ["keep.log", "d/build", "tmp", "doc/d/a.txt", "z", "all", "comment", "d1.x", "blank"] {
            assert!(!ignored(path, PathKind::File), "{path}");
        }
        assert!(ignored("d/tmp", PathKind::Directory));
        assert_eq!(rules.answer("keep.log", PathKind::File), Some(IgnoreDecision::Keep));
        assert_eq!(rules.answer("other", PathKind::File), None);
    }

    #[test]
    fn patterns_cannot_be_made_slow() {
        let pattern = "*a".repeat(200);
        let name = "a".repeat(199) + "b";
        assert!(!name_matches(&pattern, &name));
        let rules = Rules::parse(&format!("{}x", "**/".repeat(200)));
        assert_eq!(rules.answer(&"d/".repeat(200), PathKind::File), None);
    }
}
