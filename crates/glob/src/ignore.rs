//! Rules of `.gitignore` files (gitignore(5)).

use crate::{Glob, Style};

/// The rules of one file, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    glob: Glob,
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
    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads the text of a `.gitignore` file.
    pub fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(rule).collect())
    }

    /// What the last rule that matches says; `None` when none does. The path is relative to the directory of the file.
    pub fn answer(&self, path: &str, node: PathKind) -> Option<IgnoreDecision> {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.0.iter().rev().find(|rule| rule.matches(path, name, node)).map(|rule| rule.answer)
    }
}

impl Rule {
    fn matches(&self, path: &str, name: &str, node: PathKind) -> bool {
        if self.only_directories && node == PathKind::File {
            return false;
        }
        self.glob.matches(if self.is_anchored { path } else { name })
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
    let parts: Vec<&str> = line.split('/').filter(|part| !part.is_empty()).collect();
    let glob = Glob::new(&parts.join("/"), Style::Gitignore);
    (!parts.is_empty()).then_some(Rule { glob, is_anchored, only_directories, answer })
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
        let rules = Rules::parse(&format!("{}b\n{}x", "*a".repeat(200), "**/".repeat(200)));
        assert_eq!(rules.answer(&"a".repeat(300), PathKind::File), None);
        assert_eq!(rules.answer(&"d/".repeat(200), PathKind::File), None);
    }
}
