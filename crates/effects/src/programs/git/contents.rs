//! What git prints of files that hold secrets: as they are, and as commits hold them.

use crate::effect::{EffectKind, Target};
use crate::interpreter::filters;
use crate::interpreter::{Arguments, Call, Draft, Input, Output, Value};
use crate::path::AbsolutePath;
use crate::places;

use super::Git;
use super::options::Words;

/// Options that leave nothing but names and numbers of a comparison.
const WITHOUT_TEXT: &[&str] = &[
    "--stat",
    "--numstat",
    "--shortstat",
    "--compact-summary",
    "--dirstat",
    "--cumulative",
    "--summary",
    "--name-only",
    "--name-status",
    "--raw",
    "--check",
    "--quiet",
    "--no-patch",
    "-s",
];

/// Options that ask for the text of a comparison, also beside those that do not.
const WITH_TEXT: &[&str] = &[
    "-p",
    "-u",
    "--patch",
    "--patch-with-stat",
    "--patch-with-raw",
    "-U",
    "--unified",
    "-L",
    "-c",
    "--cc",
    "--combined-all-paths",
    "--remerge-diff",
    "--diff-merges",
    "-W",
    "--function-context",
    "--word-diff",
    "--color-words",
    "--binary",
    "--full-diff",
];

/// What of `git grep` prints no lines.
const NAMES_OF_SEARCH: &[&str] = &[
    "-l",
    "-L",
    "--files-with-matches",
    "--name-only",
    "--files-without-match",
    "-c",
    "--count",
    "-q",
    "--quiet",
];

impl Git<'_, '_> {
    /// Adds the credentials whose content a subcommand prints, now or as it was committed.
    pub(super) fn note_contents(&mut self, name: &str, words: &Words) -> Option<Output> {
        self.note_stored(name, words);
        self.note_repository_handed_out(name, words);
        if !prints_contents(name, words) {
            return None;
        }
        self.machine.flow.commits_shown += 1;
        let home = self.machine.world().place().home.clone();
        let mut first = None;
        for (path, is_committed) in self.named_files(name, words) {
            if places::credential(&path, &home).is_none() || places::is_for_tests(&path, self.machine.world())
            {
                continue;
            }
            first.get_or_insert_with(|| path.as_str().to_owned());
            if is_committed {
                let draft = Draft::new(EffectKind::SecretRead, Target::Path(path));
                self.machine.add(draft.note("as it was committed"));
            } else {
                self.machine.read(&Value::exact(path.as_str()));
            }
        }
        if let Some(place) = first {
            return Some(Output::Secret(place));
        }
        self.shown_of_stored(name, words).or_else(|| self.searched_anywhere(name, words))
    }

    /// What packs the repository, or commits of it, into the output reads it: whoever gets the output has it.
    fn note_repository_handed_out(&mut self, name: &str, words: &Words) {
        let is_packed = match name {
            "archive" => !words.any(&["-o", "--output", "--remote", "-l", "--list"]),
            "bundle" => words.operand(0) == Some("create") && words.operand(1).is_none_or(|file| file == "-"),
            "format-patch" => words.has("--stdout"),
            "fast-export" | "pack-objects" => true,
            _ => false,
        };
        if let Some(root) = self.root().filter(|_| is_packed) {
            self.machine.add(Draft::new(EffectKind::FileRead, Target::Path(root)));
        }
    }

    /// The files that the operands name, and whether as a commit holds them.
    fn named_files(&self, name: &str, words: &Words) -> Vec<(AbsolutePath, bool)> {
        let skipped =
            usize::from(name == "grep" && !words.any(&["-e", "-f"]) && words.before_dashes != Some(0));
        let root = self.root();
        // Without a commit in its words, what these print is in the work tree.
        let is_current =
            matches!(name, "blame" | "annotate" | "grep" | "diff" | "difftool" | "hash-object" | "config");
        let given: Vec<Value> = match name {
            "config" => words.arguments.values(&["-f", "--file", "--blob"]).cloned().collect(),
            "blame" | "annotate" => {
                words.operands().iter().chain(words.arguments.values(&["--contents"])).cloned().collect()
            }
            "archive" => {
                words.operands().iter().chain(words.arguments.values(&["--add-file"])).cloned().collect()
            }
            // The names of the objects come in line by line.
            "cat-file" if words.has("--batch") => match &self.machine.input {
                Input::Text(Value::Exact(names)) => names.lines().map(Value::exact).collect(),
                _ => Vec::new(),
            },
            "log" => {
                let file =
                    |range: &Value| range.as_exact()?.rsplit_once(':').map(|(_, file)| Value::exact(file));
                let ranges = words.arguments.values(&["-L"]).filter_map(file);
                words.operands().iter().cloned().chain(ranges).collect()
            }
            _ => words.operands_from(skipped).to_vec(),
        };
        let files = given.iter().filter_map(Value::as_exact).filter_map(|text| {
            if text.starts_with(":!") || text.starts_with(":^") || text.contains("(exclude)") {
                return None;
            }
            let inside = |path: &str| Some(root.as_ref()?.join(path));
            match text.strip_prefix(':') {
                Some(magic) => {
                    let path = magic.trim_start_matches('/');
                    let path =
                        path.split_once(')').filter(|_| path.starts_with('(')).map_or(path, |(_, rest)| rest);
                    Some((inside(path)?, true))
                }
                None => match text.split_once(':').filter(|(revision, _)| !revision.is_empty()) {
                    Some((_, path)) if !path.starts_with('/') => Some((inside(path)?, true)),
                    Some(_) | None => {
                        let path = meant(text).unwrap_or(text);
                        Some((self.located(&Value::exact(path))?, !is_current || path != text))
                    }
                },
            }
        });
        files.collect()
    }

    /// `git grep --no-index` searches as `grep -r` does.
    fn searched_anywhere(&mut self, name: &str, words: &Words) -> Option<Output> {
        let is_open = match name {
            "grep" if words.has("--no-index") => !words.has("--exclude-standard"),
            "grep" if words.has("--untracked") => words.has("--no-exclude-standard"),
            "diff" if words.has("--no-index") => return self.compared_anywhere(words),
            _ => false,
        };
        if !is_open {
            return None;
        }
        let flags = ["-i", "-v", "-F", "-E", "-o", "-w"].iter().filter(|flag| words.has(flag));
        let mut rest: Vec<Value> = std::iter::once("-r").chain(flags.copied()).map(Value::exact).collect();
        for pattern in words.arguments.values(&["-e"]) {
            rest.extend([Value::exact("-e"), pattern.clone()]);
        }
        rest.push(Value::exact("--"));
        rest.extend(words.operands().iter().cloned());
        let call = Call {
            program: "grep".to_owned(),
            written: "grep".to_owned(),
            words: rest,
            input: Input::Inherited,
            arguments: Arguments::default(),
        };
        filters::found_secret(self.machine, &call)
    }
}

impl Git<'_, '_> {
    /// `git diff --no-index` prints what stands in one directory and not in the other, also of what is ignored.
    fn compared_anywhere(&mut self, words: &Words) -> Option<Output> {
        let roots: Vec<_> = words.operands().iter().filter_map(|word| self.located(word)).collect();
        let found =
            roots.iter().flat_map(|root| self.machine.credentials_within(root, &[])).collect::<Vec<_>>();
        for path in &found {
            self.machine.read(&Value::exact(path.as_str()));
        }
        found.first().map(|path| Output::Secret(path.as_str().to_owned()))
    }
}

/// The path that a pattern of git means, whose stars stand for any beginning and end: `*.env`, `**/.env*`.
fn meant(pattern: &str) -> Option<&str> {
    let (_, last) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let fixed = last.trim_matches('*');
    (last.contains('*') && fixed.len() >= 3 && !fixed.contains(['*', '?', '['])).then_some(fixed)
}

/// Whether a subcommand prints what stands in the files that it names.
fn prints_contents(name: &str, words: &Words) -> bool {
    let asks_text = words.any(WITH_TEXT);
    match name {
        "stash" => words.operand(0) == Some("show") && asks_text,
        "status" => words.any(&["-v", "--verbose"]),
        "diff" | "show" | "difftool" => asks_text || !words.any(WITHOUT_TEXT),
        "log" | "whatchanged" | "reflog" | "diff-tree" | "diff-index" | "diff-files" | "rev-list" => {
            asks_text
        }
        "grep" => !words.any(NAMES_OF_SEARCH),
        "blame" | "annotate" | "cat-file" | "fast-export" | "merge-file" => true,
        "archive" => !words.any(&["-o", "--output", "-l", "--list"]),
        "format-patch" => words.has("--stdout"),
        "config" => {
            let asks = ["-l", "--list", "--get", "--get-all", "--get-regexp", "--get-urlmatch"];
            !words.has("--name-only") && (words.any(&asks) || words.operands().len() <= 1)
        }
        // What is in the store of objects can be printed by a name that tells nothing.
        "hash-object" => words.has("-w"),
        _ => false,
    }
}
