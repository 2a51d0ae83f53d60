//! Names of files that git prints, and that others read: `ls-files`, `diff --name-only`, `status`, `clean -n`, `check-ignore`.

use std::collections::BTreeMap;

use crate::interpreter::{Exit, Status, Value};
use crate::path::AbsolutePath;
use crate::world::{Entry, FileText, TreeDifference, VersionState};
use checkrein_glob::{Glob, Style};

use super::Git;
use super::compared::{Files, both};
use super::options::Words;
use super::tree::{self, Directories, Found, Sweep};

/// The greatest size of a list that is handed on as text (ours).
const LISTED: usize = 256;

/// The name of the revision that is checked out.
const HEAD: &str = "HEAD";

/// Runs a subcommand that looks at files or commits.
pub(super) fn run(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Exit {
    if name == "grep" {
        git.open_found(words);
    }
    // It tells whether each name is kept: whether it is an error that one is not is the question.
    if name == "ls-files" && words.has("--error-unmatch") {
        return Exit { status: Status::Open, ..Exit::unknown() };
    }
    match name {
        "ls-files" => git.listed_files(words),
        "diff" if words.has("--name-only") => {
            let names = git.compared_names(words);
            names.map_or_else(Exit::unknown, |text| Exit::printing(Value::exact(text)))
        }
        "show" => match git.shown_file(words.operands()) {
            Some(text) => Exit::printing(text),
            None => git.own_patch(name, words),
        },
        "diff" => git.own_patch(name, words),
        _ => Exit::unknown(),
    }
}

impl Git<'_, '_> {
    /// What `git ls-files` prints.
    fn listed_files(&self, words: &Words) -> Exit {
        const WITH_MORE: &[&str] =
            &["-s", "--stage", "--format", "-u", "--unmerged", "-t", "-v", "-f", "--eol", "-k", "--debug"];
        if words.any(WITH_MORE) {
            return Exit::unknown();
        }
        let has_standard = words.has("--exclude-standard");
        let others: &[VersionState] = match words.any(&["-o", "--others"]) {
            false => &[],
            true if has_standard && words.any(&["-i", "--ignored"]) => &[VersionState::Ignored],
            true if has_standard => &[VersionState::Untracked],
            true => &[VersionState::Untracked, VersionState::Ignored],
        };
        let text = if words.has("--directory") && !others.is_empty() {
            self.listed_directories(words, others)
        } else {
            self.listed_among(words, others)
        };
        let unknown = || self.secrets_among(words.operands(), others);
        text.map(Value::exact).or_else(unknown).map_or_else(Exit::unknown, Exit::printing)
    }

    fn listed_among(&self, words: &Words, others: &[VersionState]) -> Option<String> {
        let wants_deleted = words.any(&["-d", "--deleted"]);
        let wants_modified = words.any(&["-m", "--modified"]);
        let wants_all =
            words.any(&["-c", "--cached"]) || others.is_empty() && !wants_deleted && !wants_modified;
        if wants_deleted && wants_modified && !words.has("--deduplicate") {
            return None;
        }
        let mut states = others.to_vec();
        if wants_all {
            states.push(VersionState::TrackedClean);
        }
        if wants_all || wants_modified {
            states.push(VersionState::TrackedModified);
        }
        // What is deleted is modified too (git-ls-files(1)).
        let with_missing = wants_all || wants_modified || wants_deleted;
        let root = self.root()?;
        let cwd = self.cwd.clone()?;
        let mut names = self.in_state_below(&cwd, &states)?;
        if with_missing {
            // Where they are not known, the list is as long as what stands there.
            let missing = self.missing(&[]);
            if wants_deleted && missing.is_none() {
                return None;
            }
            let missing = missing.unwrap_or_default();
            names.extend(missing.into_keys().map(|path| root.join(&path)));
        }
        let names = names.iter().filter_map(|path| path.relative_to(&cwd)).map(str::to_owned).collect();
        printed(names, words.operands(), Ends::of(words))
    }

    /// The same with a directory in place of what is in it where git tracks nothing there.
    fn listed_directories(&self, words: &Words, others: &[VersionState]) -> Option<String> {
        let sweep = match others {
            [VersionState::Ignored] => Sweep::Ignored,
            [VersionState::Untracked] => Sweep::Untracked,
            _ => Sweep::UntrackedAndIgnored,
        };
        let cwd = self.cwd.clone().filter(|_| self.is_natural())?;
        let swept = tree::sweep(&self.known(), &cwd, sweep, Directories::Removed, &|_| false)?;
        if !swept.perhaps.is_empty() {
            return None;
        }
        let name = |path: &AbsolutePath| {
            let sign = if self.machine.entry(path) == Entry::Directory { "/" } else { "" };
            path.relative_to(&cwd).map(|name| format!("{name}{sign}"))
        };
        printed(swept.gone.iter().filter_map(name).collect(), words.operands(), Ends::of(words))
    }

    /// What `git diff --name-only` prints; `None` where that is not known.
    fn compared_names(&self, words: &Words) -> Option<String> {
        if words.any(&["--no-index", "--relative", "-S", "-G", "--find-object", "-R", "--merge-base"]) {
            return None;
        }
        let operands = words.operands();
        let from = words.before_dashes.unwrap_or_else(|| self.first_path(operands).unwrap_or(operands.len()));
        let (revisions, paths) = operands.split_at_checked(from)?;
        let revisions: Vec<&str> = revisions.iter().map(Value::as_exact).collect::<Option<_>>()?;
        let is_staged = words.any(&["--cached", "--staged"]);
        let files = match (revisions.as_slice(), is_staged) {
            // What the command staged itself is not followed file by file.
            _ if self.has_staged() || self.has_committed() => None,
            ([], true) => self.staged_since(HEAD),
            ([revision], true) => self.staged_since(revision),
            ([], false) => self.unstaged(),
            ([range], false) if range.contains("..") => self.between(range),
            ([revision], false) => both(self.staged_since(revision), self.unstaged()),
            ([one, other], false) => self.differing(one, other),
            _ => None,
        }?;
        // Of a renamed file git prints the new name alone.
        if !words.has("--no-renames") && self.may_be_renamed(&files) {
            return None;
        }
        let filter = match words.arguments.value(&["--diff-filter"]) {
            Some(word) => word.as_exact()?,
            None => "",
        };
        let files = self.taken(Some(files), paths)?;
        let shown = files.into_iter().filter(|(_, how)| passes(filter, *how)).map(|(path, _)| path);
        printed(shown.collect(), &[], Ends::of(words))
    }

    /// Whether one of the files that came may be one of those that went: some of what it held is in it.
    fn may_be_renamed(&self, files: &BTreeMap<String, TreeDifference>) -> bool {
        const COMPARED: usize = 16;
        let of = |wanted: TreeDifference| -> Vec<&String> {
            files.iter().filter(|(_, how)| **how == wanted).map(|(path, _)| path).collect()
        };
        let (come, gone) = (of(TreeDifference::Added), of(TreeDifference::Removed));
        if come.is_empty() || gone.is_empty() {
            return false;
        }
        let Some(root) = self.root().filter(|_| come.len() <= COMPARED && gone.len() <= COMPARED) else {
            return true;
        };
        let world = self.machine.world();
        come.iter().any(|path| {
            let new = self.machine.text(&root.join(path));
            gone.iter().any(|path| match (new.as_exact(), world.committed_text(&root, "", path)) {
                (Some(new), FileText::Whole(old)) => {
                    let lines: Vec<&str> = old.lines().collect();
                    new.is_empty() && old.is_empty() || new.lines().any(|line| lines.contains(&line))
                }
                _ => true,
            })
        })
    }

    /// What of the work tree is not as it is in the index, as the way there from the index.
    fn unstaged(&self) -> Files {
        let mut gone = self.missing(&[]).unwrap_or_default();
        gone.values_mut().for_each(|how| *how = TreeDifference::Removed);
        both(Some(gone), self.modified(&[]))
    }

    /// What `git diff A..B` compares.
    fn between(&self, range: &str) -> Files {
        let named = |text: &str| if text.is_empty() { HEAD.to_owned() } else { text.to_owned() };
        if let Some((one, other)) = range.split_once("...") {
            let (one, other) = (named(one), named(other));
            return self.differing(&format!("{one}...{other}"), &other);
        }
        let (one, other) = range.split_once("..")?;
        self.differing(&named(one), &named(other))
    }

    fn in_state_below(&self, start: &AbsolutePath, states: &[VersionState]) -> Option<Vec<AbsolutePath>> {
        if states.is_empty() {
            return Some(Vec::new());
        }
        match tree::files(&self.known(), std::slice::from_ref(start), states) {
            Found::All(files) => Some(files),
            Found::Unclear => None,
        }
    }

    /// The names that a subcommand tells of what git does not keep, where something takes them in: as they are, or what stands for them.
    pub(super) fn names_not_kept(&self, name: &str, words: &Words) -> Option<Value> {
        if !self.machine.is_listened_to() {
            return None;
        }
        let ignored = [VersionState::Ignored];
        let all = [VersionState::Untracked, VersionState::Ignored];
        match name {
            "status" => {
                let told = words.has("--ignored").then(|| self.secrets_among(words.operands(), &all))??;
                let is_short = words.any(&["-s", "--short", "--porcelain"]);
                let listed = |mark: &str, state: VersionState| {
                    let names = self.listed(words.operands(), &[state])?;
                    let mark = if is_short { mark } else { "\t" };
                    Some(names.lines().flat_map(|name| [mark, name, "\n"]).collect::<String>())
                };
                let lines = listed("?? ", VersionState::Untracked)
                    .zip(listed("!! ", VersionState::Ignored))
                    .map(|(first, second)| Value::Exact(first + &second));
                Some(lines.unwrap_or(told))
            }
            "clean" => {
                let states = if words.has("-X") {
                    &ignored[..]
                } else if words.has("-x") {
                    &all[..]
                } else {
                    &[VersionState::Untracked][..]
                };
                let listed = self.listed(words.operands(), states);
                // A directory is told by its name alone.
                match listed.filter(|text| !text.contains('/')) {
                    Some(text) => {
                        let lines = text.lines().flat_map(|line| ["Would remove ", line, "\n"]);
                        Some(Value::Exact(lines.collect()))
                    }
                    None => self.secrets_among(words.operands(), states),
                }
            }
            "check-ignore" => {
                let is_plain = !words.any(&["-v", "--verbose", "-n", "--non-matching", "--stdin", "-z"]);
                let named: Option<Vec<&str>> = words.operands().iter().map(Value::as_exact).collect();
                let Some(named) = named.filter(|_| is_plain) else {
                    return self.secrets_among(&[], &ignored);
                };
                let is_ignored = |word: &&str| {
                    let path = self.located(&Value::exact(*word));
                    path.is_some_and(|path| self.machine.world().version(&path) == VersionState::Ignored)
                };
                let lines = named.into_iter().filter(is_ignored).flat_map(|word| [word, "\n"]);
                Some(Value::Exact(lines.collect()))
            }
            _ => None,
        }
    }

    /// What stands for a list that is not known, where a file of secrets is among what it may name; `None` where none is. Of secrets that
    /// are tracked the list is not what gives them away.
    fn secrets_among(&self, patterns: &[Value], states: &[VersionState]) -> Option<Value> {
        let states: Vec<VersionState> = (states.iter().copied())
            .filter(|state| matches!(state, VersionState::Untracked | VersionState::Ignored))
            .collect();
        let cwd = self.cwd.as_ref()?;
        let is_chosen = |path: &AbsolutePath| {
            let name = path.relative_to(cwd).unwrap_or_default();
            let fits = |pattern: &Value| pattern.as_exact().is_none_or(|text| matches_pathspec(text, name));
            patterns.is_empty() || patterns.iter().any(fits)
        };
        let world = self.machine.world();
        (!states.is_empty()
            && self
                .machine
                .credentials_within(cwd, &[])
                .iter()
                .any(|path| tree::may_be_in(world, path, &states) && is_chosen(path)))
        .then(|| Value::Glob(format!("{}/**", cwd.as_str().trim_end_matches('/'))))
    }

    /// The files that are in one of the states, from where git runs; `None` when that cannot be told.
    fn listed(&self, patterns: &[Value], states: &[VersionState]) -> Option<String> {
        let cwd = self.cwd.clone()?;
        let files = self.in_state_below(&cwd, states)?;
        let names = files.iter().filter_map(|file| file.relative_to(&cwd)).map(str::to_owned).collect();
        printed(names, patterns, Ends::Line)
    }
}

/// A list of names as git prints it, of those that the patterns take; `None` where that is too much or cannot be told.
fn printed(mut names: Vec<String>, patterns: &[Value], ends: Ends) -> Option<String> {
    let patterns: Vec<&str> = patterns.iter().map(Value::as_exact).collect::<Option<_>>()?;
    names
        .retain(|name| patterns.is_empty() || patterns.iter().any(|pattern| matches_pathspec(pattern, name)));
    names.sort();
    names.dedup();
    // git quotes names with other letters.
    let is_plain = |name: &String| {
        name.chars().all(|letter| (' '..='~').contains(&letter) && letter != '"' && letter != '\\')
    };
    match ends {
        _ if names.len() > LISTED => None,
        Ends::Line => names.iter().all(is_plain).then(|| ended(&names, "\n")),
        Ends::Nul => Some(ended(&names, "\0")),
    }
}

/// What stands behind each name of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// The end of a line; git quotes names then.
    Line,
    /// The character that is in no name.
    Nul,
}

impl Ends {
    fn of(words: &Words) -> Self {
        if words.any(&["-z", "--null"]) { Self::Nul } else { Self::Line }
    }
}

/// The names of a list, each with its end: who reads line by line loses one that has none.
fn ended(names: &[String], end: &str) -> String {
    names.iter().flat_map(|name| [name.as_str(), end]).collect()
}

/// Whether `--diff-filter` lets a difference through (git-diff(1)): small letters leave out, and without any great one all others pass.
fn passes(filter: &str, how: TreeDifference) -> bool {
    let letter = match how {
        TreeDifference::Added => 'A',
        TreeDifference::Changed => 'M',
        TreeDifference::Removed => 'D',
    };
    let names_any = filter.chars().any(|sign| sign.is_ascii_uppercase());
    (!names_any || filter.contains(letter)) && !filter.contains(letter.to_ascii_lowercase())
}

/// Whether a pathspec takes a file: a directory prefix, or a pattern in which `*` crosses slashes.
pub(super) fn matches_pathspec(pattern: &str, file: &str) -> bool {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    if pattern == "." || pattern.is_empty() {
        return true;
    }
    let below = file.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    below || Glob::new(pattern, Style::Pathspec).matches(file)
}
