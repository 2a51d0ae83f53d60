//! Pathspecs: the words with which git is told files (gitglossary(7)).

use super::Git;
use super::listing::matches_pathspec;
use super::options::Words;
use crate::interpreter::Value;
use crate::path::AbsolutePath;

/// A pathspec, read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pathspec {
    /// The pattern, from the root of the work tree.
    pattern: String,
    is_excluded: bool,
    ignores_case: bool,
    is_literal: bool,
    /// Whether what it takes hangs on something else, such as attributes, so that it may take everything.
    is_open: bool,
}

/// The pathspecs of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pathspecs {
    specs: Vec<Pathspec>,
    /// Where those without `top` begin, from the root of the work tree.
    cwd: String,
}

impl Pathspecs {
    /// Reads pathspecs as they are given in a directory, which is named from the root of the work tree.
    fn new<'a>(texts: impl IntoIterator<Item = &'a str>, cwd: &str) -> Self {
        Self { specs: texts.into_iter().map(|text| Pathspec::new(text, cwd)).collect(), cwd: cwd.to_owned() }
    }

    /// Whether a file is meant, by its path from the root of the work tree. Without any that includes, those that exclude take away from
    /// everything below the directory.
    pub(super) fn take(&self, file: &str) -> bool {
        let (excluding, including): (Vec<&Pathspec>, Vec<&Pathspec>) =
            self.specs.iter().partition(|spec| spec.is_excluded);
        let is_included = if including.is_empty() {
            matches_pathspec(&self.cwd, file)
        } else {
            including.iter().any(|spec| spec.takes(file))
        };
        is_included && !excluding.iter().any(|spec| !spec.is_open && spec.takes(file))
    }
}

impl Pathspec {
    fn new(text: &str, cwd: &str) -> Self {
        let mut spec = Self {
            pattern: String::new(),
            is_excluded: false,
            ignores_case: false,
            is_literal: false,
            is_open: false,
        };
        let mut from_root = false;
        let rest = if let Some((signs, rest)) = text.strip_prefix(":(").and_then(|long| long.split_once(')'))
        {
            for sign in signs.split(',') {
                match sign {
                    "top" => from_root = true,
                    "exclude" => spec.is_excluded = true,
                    "icase" => spec.ignores_case = true,
                    "literal" => spec.is_literal = true,
                    "glob" => {}
                    _ => spec.is_open |= !sign.is_empty(),
                }
            }
            rest
        } else if let Some(short) = text.strip_prefix(':') {
            let end = short.find(|c| !matches!(c, '/' | '!' | '^')).unwrap_or(short.len());
            let (signs, rest) = short.split_at(end);
            from_root = signs.contains('/');
            spec.is_excluded = signs.contains(['!', '^']);
            rest.strip_prefix(':').unwrap_or(rest)
        } else {
            text
        };
        spec.pattern = if from_root { below("", rest) } else { below(cwd, rest) };
        spec
    }

    fn takes(&self, file: &str) -> bool {
        if self.is_open {
            return true;
        }
        let lower = |text: &str| if self.ignores_case { text.to_lowercase() } else { text.to_owned() };
        let (pattern, file) = (lower(&self.pattern), lower(file));
        if self.is_literal {
            return pattern.is_empty()
                || file.strip_prefix(&pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        }
        // With `glob`, `**/` may stand for no directory, and what else a star takes is less: more than is meant is taken to be meant.
        matches_pathspec(&pattern, &file) || matches_pathspec(&pattern.replace("**/", ""), &file)
    }
}

/// A path below a directory, both from the root: without `.` and `..`.
fn below(directory: &str, path: &str) -> String {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.join("/")
}

impl Git<'_, '_> {
    /// The pathspecs that words are; `None` when one of them, or where git runs, is not known.
    pub(super) fn pathspecs(&self, words: &[Value]) -> Option<Pathspecs> {
        let (root, cwd) = (self.root()?, self.cwd.as_ref()?);
        let texts: Vec<&str> = words.iter().map(Value::as_exact).collect::<Option<_>>()?;
        let from_root = |text: &str| {
            let named = AbsolutePath::new(text).filter(|_| text.starts_with('/'))?;
            named.relative_to(&root).map(|relative| format!(":(top,literal){relative}"))
        };
        let texts: Vec<String> =
            texts.into_iter().map(|text| from_root(text).unwrap_or_else(|| text.to_owned())).collect();
        let cwd = cwd.relative_to(&root).unwrap_or_default();
        Some(Pathspecs::new(texts.iter().map(String::as_str), cwd))
    }
}

/// The option by which git is told files in a file (git-rm(1), tried with git 2.47).
const FROM_FILE: &str = "--pathspec-from-file";

impl Git<'_, '_> {
    /// Puts the pathspecs of a file where they would stand as words. Of a file that cannot be read the option stays: any file may be
    /// named there.
    pub(super) fn take_pathspec_files(&self, words: &mut Words) {
        let given: Vec<Value> = words.arguments.values(&[FROM_FILE]).cloned().collect();
        let [file] = given.as_slice() else { return };
        let ends = if words.has("--pathspec-file-nul") { '\0' } else { '\n' };
        let text = self.given_text(file);
        let Some(specs) = text.as_ref().and_then(Value::as_exact).and_then(|text| listed(text, ends)) else {
            return;
        };
        words.arguments.options.retain(|(name, _)| name != FROM_FILE);
        words.before_dashes.get_or_insert(words.arguments.operands.len());
        words.arguments.operands.extend(specs.into_iter().map(Value::exact));
    }
}

/// The pathspecs in a text; `None` where one is quoted.
fn listed(text: &str, ends: char) -> Option<Vec<String>> {
    let lines = text.split(ends).map(|line| if ends == '\n' { line.trim_end_matches('\r') } else { line });
    let specs: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let is_quoted = ends == '\n' && specs.iter().any(|spec| spec.starts_with('"'));
    (!is_quoted && specs.len() <= LISTED).then(|| specs.into_iter().map(str::to_owned).collect())
}

/// How many pathspecs of a file are read (ours).
const LISTED: usize = 1024;

/// Whether a word is more than the path of a file or directory: a pattern, or one with signs in front.
pub(super) fn is_pattern(word: &Value) -> bool {
    word.as_exact().is_some_and(|text| text.starts_with(':') || text.contains(['*', '?', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pathspecs_take_what_git_takes() {
        // Each was held against `git ls-files` in the directory.
        type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [&'a str]);
        let rows: [Row<'_>; 17] = [
            ("", &[":/*"], &["a.md", "src/b.js"], &[]),
            ("src", &[":/*.md"], &["a.md", "docs/c.md"], &["src/b.js"]),
            ("src", &[":/docs"], &["docs/c.md"], &["docs.md", "src/docs"]),
            ("src", &[":/"], &["a.md", "src/b.js"], &[]),
            ("src", &["."], &["src/b.js"], &["a.md"]),
            ("src", &["../docs"], &["docs/c.md"], &["src/b.js"]),
            ("", &[":(top)src"], &["src/b.js"], &["a.md"]),
            ("", &[":(glob)**/*.js"], &["src/b.js", "b.js"], &["a.md"]),
            ("", &[":(icase)SRC/B.JS"], &["src/b.js"], &["src/c.js"]),
            ("", &[":(literal)*.js"], &["*.js"], &["b.js"]),
            ("", &[":!docs"], &["a.md", "src/b.js"], &["docs/c.md"]),
            ("", &[":(exclude)docs", "."], &["a.md"], &["docs/c.md"]),
            ("", &[":^*.md", ":/"], &["src/b.js"], &["a.md", "docs/c.md"]),
            ("src", &[":!b.js"], &["src/c.js"], &["src/b.js", "a.md"]),
            ("", &[":(attr:text)"], &["a.md"], &[]),
            ("", &["*.md"], &["a.md", "docs/c.md"], &["src/b.js"]),
            ("", &["src/"], &["src/b.js"], &["srcs"]),
        ];
        for (cwd, texts, taken, left) in rows {
            let specs = Pathspecs::new(texts.iter().copied(), cwd);
            for file in taken {
                assert!(specs.take(file), "{texts:?} in `{cwd}` takes {file}");
            }
            for file in left {
                assert!(!specs.take(file), "{texts:?} in `{cwd}` leaves {file}");
            }
        }
    }
}
