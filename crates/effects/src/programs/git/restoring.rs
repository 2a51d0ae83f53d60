//! Subcommands that bring files back as they were, and so throw away what they are.

mod exclusions;
mod losing;
mod refusing;
mod sweeping;

use crate::effect::{Certainty, EffectKind, Severity, Target};
use crate::interpreter::{Draft, Exit, Untracked, Value};
use crate::path::AbsolutePath;
use crate::world::{Entry, TreeDifference, TreeDifferences, VersionState};

use super::KEPT_BY_GIT;
use crate::interpreter::Inspection;
use crate::nature::Nature;
use crate::programs::archives::replace_below;

use super::Git;
use super::guard_files::Arrival;
use super::moved::UNREAD;
use super::options::Words;
use super::pathspec::is_pattern;
use super::stashing;
use super::tree::{Directories, Sweep};
use exclusions::Exclusions;
use refusing::{Finds, may_refuse, names_nothing};

/// The name of the revision that is checked out.
const HEAD: &str = "HEAD";

/// Runs one of these subcommands; `None` for others.
pub(super) fn run(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Option<Exit> {
    let before = git.machine.effect_count();
    let in_vain = names_nothing(git, name, words) || may_refuse(git, name, words);
    let exit = run_subcommand(git, name, words)?;
    if in_vain {
        // git refuses, unless the reference comes to be by then.
        git.machine.amend(before, |effect| effect.certainty = Certainty::Possible);
    }
    Some(exit)
}

fn run_subcommand(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Option<Exit> {
    Some(match name {
        "reset" => reset(git, words),
        "checkout" => checkout(git, words),
        "switch" => switch(git, words),
        "restore" => restore(git, words),
        "clean" => clean(git, words),
        "stash" => stashing::run(git, words),
        "checkout-index" => checkout_index(git, words),
        "read-tree" => read_tree(git, words),
        // Of git-extras: throws away all changes, or the last commit.
        "undo" if words.any(&["-h", "--hard"]) => {
            git.lose_changes(&[]);
            git.keep_for_a_while("the undone commits stay in the reflog")
        }
        "undo" => git.keep_for_a_while("the undone commits stay in the reflog"),
        "reset-file" => {
            git.lose_changes(words.operands());
            git.touch("")
        }
        _ => return None,
    })
}

fn reset(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.any(&["--hard", "--merge"]) {
        git.lose_changes(&[]);
        let files = git.differing_to("", words.operands().first());
        git.lose_staged(&files, &[]);
        git.change_files(files, "tracked files become what the commit holds, what is only staged too");
        git.bring_back(&[]);
        git.change_submodules(words);
        git.becomes(words.operands().first());
        git.take_added_guard(&[]);
        git.move_head(words.operands().first());
        return git.keep_for_a_while("commits that no branch holds any more stay in the reflog");
    }
    if words.arguments.uncertain {
        git.possibly_lose_changes("the word that is not known may be `--hard`");
    }
    if words.has("--keep") {
        let files = git.differing_to(HEAD, words.operands().first());
        git.change_files(files, "tracked files become what the other commit holds");
        git.becomes(words.operands().first());
    }
    let names_paths = words.before_dashes.is_some_and(|before| before < words.operands().len())
        || words.operands().len() > 1;
    if !words.any(&["--soft", "--keep"]) {
        git.note_index(words.operands().first().filter(|_| words.before_dashes != Some(0) && !names_paths));
        git.index_becomes(words.operands().first().filter(|_| words.before_dashes != Some(0)));
        git.untrack(words.operands_from(words.before_dashes.unwrap_or(usize::MAX)), Untracked::Staged);
        git.index_is_reset(words);
    }
    if !names_paths {
        git.move_head(words.operands().first());
    }
    git.forget("what is staged; the work tree stays as it is")
}

impl Git<'_, '_> {
    /// What a reset that leaves the work tree alone does to the index.
    fn index_is_reset(&mut self, words: &Words) {
        let operands = words.operands();
        // Of words without dashes the first is a revision unless it is a path.
        let from = words.before_dashes.unwrap_or_else(|| match self.first_path(operands) {
            Some(from) => from,
            None => operands.len().min(1),
        });
        let revision = operands.first().filter(|_| from > 0);
        self.index_holds(revision, words.operands_from(from));
    }
}

fn checkout(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    let force = words.any(&["-f", "--force"]);
    if words.any(&["-b", "-B", "--orphan"]) {
        if force {
            git.lose_changes(&[]);
        }
        if let Some(name) = words.arguments.value(&["-B"]).cloned() {
            git.move_branch(&name);
        }
        if !words.operands().is_empty() {
            let files = git.differing_to(HEAD, words.operands().first());
            git.change_files(files, "tracked files become what the start of the new branch holds");
            git.becomes(words.operands().first());
        }
        for name in words
            .arguments
            .values(&["-b", "-B"])
            .filter_map(Value::as_exact)
            .map(str::to_owned)
            .collect::<Vec<_>>()
        {
            let head = Value::exact("HEAD");
            git.move_revision(&name, Some(words.operands().first().unwrap_or(&head)));
        }
        git.change_submodules(words);
        return if words.has("--orphan") {
            git.begin_branch();
            git.forget("what is staged")
        } else {
            git.touch("makes a branch")
        };
    }
    let count = words.operands().len();
    let paths_from = match words.before_dashes {
        // `git checkout main --` names a branch, `git checkout main -- file` a file.
        Some(before) if before < count || before == 0 => Some(before),
        Some(_) => None,
        None => git.first_path(words.operands()),
    };
    match paths_from {
        Some(from) if from < count || words.any(&["--ours", "--theirs"]) => {
            let from_commit = from > 0;
            let revision = words.operands().first().filter(|_| from_commit).map(|word| word.as_exact());
            let origin = match revision {
                Some(Some(revision)) => Origin::Revision { revision, takes_away: words.has("--no-overlay") },
                Some(None) => Origin::Commit,
                None => Origin::Index,
            };
            let paths = words.operands_from(from);
            let (answer, before) = (git.answer_to_paths(paths, origin), git.machine.effect_count());
            git.restore_paths(paths, origin);
            let arrival = if words.has("--no-overlay") { Arrival::Becomes } else { Arrival::Gets };
            if let Some(revision) = words.operands().first().filter(|_| from_commit) {
                let revision = revision.as_exact().unwrap_or(UNREAD).to_owned();
                git.arrive(&arrival(revision), words.operands_from(from));
            } else {
                git.arrive_from_index(words.operands_from(from));
            }
            // `:/text` is a commit with this message, unless there is such a path.
            if words.before_dashes.is_none()
                && words.operand(0).is_some_and(|text| git.searches_messages(text))
            {
                git.arrive_unread(&[]);
            }
            let exit = git.touch("");
            if answer != Finds::All {
                git.machine.amend(before, |effect| effect.certainty = Certainty::Possible);
            }
            exit
        }
        _ => {
            if force {
                git.lose_changes(&[]);
            }
            if count == 0 && words.has("--pathspec-from-file") {
                git.lose_changes(&[]);
                git.arrive_from_index(&[]);
                git.restore_paths(&[], Origin::Index);
                return git.touch("");
            }
            if count == 0 {
                if force {
                    let files = git.differing_to("", None);
                    git.lose_staged(&files, &[]);
                    git.change_files(
                        files,
                        "tracked files become what `HEAD` holds, also those that are staged",
                    );
                    git.bring_back(&[]);
                    git.becomes(None);
                }
                return git.touch("");
            }
            if words.arguments.uncertain {
                git.possibly_lose_changes("the word that is not known may be a path or `-f`");
            }
            let files = git.differing_to(if force { "" } else { HEAD }, words.operands().first());
            if force {
                git.lose_staged(&files, &[]);
            }
            git.change_files(
                files,
                "tracked files become what the other branch holds; uncommitted changes stay",
            );
            if force {
                git.bring_back(&[]);
            }
            if words.has("--pathspec-from-file") {
                git.arrive_unread(&[]);
            } else {
                git.becomes(words.operands().first());
                git.switch_head(words.operands().first());
            }
            git.change_submodules(words);
            git.touch("another branch is checked out")
        }
    }
}

fn switch(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.any(&["-f", "--force", "--discard-changes"]) {
        git.lose_changes(&[]);
    }
    let makes = words.any(&["-c", "-C", "--create", "--force-create", "--orphan"]);
    if let Some(name) = words.arguments.value(&["-C", "--force-create"]).cloned() {
        git.move_branch(&name);
    }
    if !makes || !words.operands().is_empty() {
        let discards = words.any(&["-f", "--force", "--discard-changes"]);
        let files = git.differing_to(if discards { "" } else { HEAD }, words.operands().first());
        if discards {
            git.lose_staged(&files, &[]);
        }
        git.change_files(files, "tracked files become what the other branch holds; uncommitted changes stay");
        if discards {
            git.bring_back(&[]);
        }
        git.becomes(words.operands().first());
        git.switch_head(words.operands().first());
    }
    if words.has("--orphan") {
        git.arrive_unread(&[]);
        let files = git.differing(HEAD, TreeDifferences::EMPTY);
        git.change_files(files, "tracked files go: the new branch begins with none");
        git.begin_branch();
        git.index_holds(None, &[]);
    }
    git.change_submodules(words);
    git.touch("another branch is checked out")
}

fn restore(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    // It wants to be told what, other than `git checkout`.
    if words.operands().is_empty() && !words.any(&["--pathspec-from-file", "-p", "--patch"]) {
        return Exit::failure();
    }
    if words.any(&["-S", "--staged"]) && !words.any(&["-W", "--worktree"]) {
        git.note_index(words.arguments.value(&["-s", "--source"]).cloned().as_ref());
        let source = words.arguments.value(&["-s", "--source"]).cloned();
        git.index_becomes(source.as_ref());
        git.index_holds(source.as_ref(), words.operands());
        return git.forget("what is staged there; only the index changes");
    }
    // With the index, files become what `HEAD` holds: what is only staged goes from both.
    let with_index = words.any(&["-S", "--staged"]);
    let takes_away = !words.has("--overlay");
    let origin = match words.arguments.value(&["-s", "--source"]).map(|word| word.as_exact()) {
        Some(Some(revision)) => Origin::Revision { revision, takes_away },
        Some(None) => Origin::Commit,
        None if with_index => Origin::Revision { revision: HEAD, takes_away },
        None => Origin::Index,
    };
    if words.any(&["--pathspec-from-file"]) {
        git.lose_changes(&[]);
    }
    let (answer, before) = (git.answer_to_paths(words.operands(), origin), git.machine.effect_count());
    git.restore_paths(words.operands(), origin);
    let head = with_index.then(|| Value::exact("HEAD"));
    if let Some(revision) = words.arguments.value(&["-s", "--source"]).cloned().or(head) {
        let arrival = Arrival::Becomes(revision.as_exact().unwrap_or(UNREAD).to_owned());
        git.arrive(&arrival, words.operands());
    } else {
        git.arrive_from_index(words.operands());
    }
    let exit = git.touch("");
    // Without `--staged` the index is only refreshed.
    let from = if answer == Finds::All && !with_index { git.machine.effect_count() - 1 } else { before };
    if answer != Finds::All || !with_index {
        git.machine.amend(from, |effect| effect.certainty = Certainty::Possible);
    }
    exit
}

fn checkout_index(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if let Some(prefix) = words.arguments.value(&["--prefix"]).cloned() {
        // Tracked files are written there, over others with `-f`.
        let place = git.located(&prefix);
        let replaced = place.clone().filter(|_| words.any(&["-f", "--force"]));
        let root = git.root();
        let inspection =
            place.as_ref().map_or(Inspection::Open, |place| git.arrive_below(place, root.as_ref(), ""));
        let target = place.map_or(Target::Unknown, |place| Target::Glob(format!("{place}/**")));
        git.machine.add(Draft::new(EffectKind::FileCreate, target).brought(inspection));
        if let Some(place) = replaced {
            replace_below(git.machine, &place);
        }
    } else if words.any(&["-f", "--force"]) {
        let paths: &[Value] = if words.any(&["-a", "--all"]) { &[] } else { words.operands() };
        git.lose_changes(paths);
        git.bring_back(paths);
        git.arrive_from_index(paths);
        if git.index_has_changed(paths) {
            git.change_tree("tracked files become what is staged by then, or what the other index holds");
        }
    }
    // Only with `-u` the index is written.
    if words.any(&["-u", "--index"]) { git.touch("") } else { Exit::silent() }
}

fn read_tree(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.any(&["-n", "--dry-run"]) {
        return Exit::unknown();
    }
    if words.has("--reset") && words.has("-u") {
        git.lose_changes(&[]);
        git.bring_back(&[]);
    }
    if words.has("-u") {
        let files = match words.arguments.value(&["--prefix"]).map(|prefix| prefix.as_exact()) {
            Some(prefix) => prefix
                .zip(git.differing_to(TreeDifferences::EMPTY, words.operands().last()))
                .map(|(prefix, files)| {
                    let below = |(path, how)| (format!("{}/{path}", prefix.trim_end_matches('/')), how);
                    files.into_iter().map(below).collect()
                }),
            None => git.differing_to("", words.operands().last()),
        };
        if words.has("--reset") {
            git.lose_staged(&files, &[]);
        }
        git.change_files(files, "tracked files become what the tree holds");
        git.becomes(words.operands().last());
        git.change_submodules(words);
    } else {
        git.index_becomes(words.operands().last());
        if words.has("--empty") {
            git.untrack(&[], Untracked::All);
        } else {
            git.untrack(&[], Untracked::Staged);
            let is_mixed = words.operands().len() != 1 || words.has("--prefix");
            let revision = if is_mixed { Some(Value::Unknown) } else { words.operands().last().cloned() };
            git.index_holds(revision.as_ref(), &[]);
        }
    }
    git.forget("what is staged")
}

fn clean(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    let dry = words.any(&["-n", "--dry-run"]) && !words.has("--no-dry-run");
    let forced = git.settings.exact("clean.requireforce").as_deref() == Some("false")
        || words.any(&["-f", "--force", "-i", "--interactive"]) && !words.has("--no-force");
    if dry {
        return git.names_not_kept("clean", words).map_or_else(Exit::unknown, Exit::printing);
    }
    if words.arguments.uncertain {
        git.possibly_lose_untracked("the word that is not known may be `-f`");
        return Exit::silent();
    }
    if !forced {
        return Exit::failure();
    }
    let sweep = if words.has("-X") {
        Sweep::Ignored
    } else if words.has("-x") {
        Sweep::UntrackedAndIgnored
    } else {
        Sweep::Untracked
    };
    let exclusions = Exclusions::of(sweep, words);
    let named = !words.operands().is_empty();
    let directories = match words.has("-d") || named {
        true if words.count(&["-f", "--force"]) > 1 => Directories::RemovedWithRepositories,
        true => Directories::Removed,
        false => Directories::Left,
    };
    let starts = if named { git.starts(words.operands()) } else { git.cwd.clone().map(|cwd| vec![cwd]) };
    let note = if words.any(&["-i", "--interactive"]) { "asks before it removes" } else { "" };
    // A path behind a sign is a path all the same, below which directories go too.
    let (patterns, plain): (Vec<Value>, Vec<Value>) = (words.operands().iter().cloned())
        .partition(|word| is_pattern(word) && git.starts(std::slice::from_ref(word)).is_none());
    if !patterns.is_empty() {
        git.sweep_patterns(&patterns, exclusions.widened(), directories);
    }
    let starts = if patterns.is_empty() {
        starts
    } else if plain.is_empty() {
        Some(Vec::new())
    } else {
        git.starts(&plain)
    };
    if note.is_empty() {
        git.sweep_away(starts, &exclusions, directories, note);
    } else {
        git.ask_before_sweeping(starts, &exclusions, directories, note);
    }
    Exit::silent()
}

/// Where restored files come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin<'w> {
    Index,
    /// A commit that is not known.
    Commit,
    /// This revision; files that it does not have may go.
    Revision {
        revision: &'w str,
        takes_away: bool,
    },
}

impl Git<'_, '_> {
    /// The index of the first operand that is a path rather than a commit, without `--` to say so.
    pub(super) fn first_path(&self, operands: &[Value]) -> Option<usize> {
        let first = operands.first()?;
        if self.looks_like_path(first) {
            return Some(0);
        }
        (operands.len() > 1).then_some(1)
    }

    fn looks_like_path(&self, word: &Value) -> bool {
        let Some(text) = word.as_exact() else {
            return matches!(word, Value::Glob(_));
        };
        let is_plain_path = text == "."
            || text == ".."
            || text.starts_with("./")
            || text.starts_with("../")
            || text.starts_with(":/");
        if is_plain_path || text.contains('*') {
            return true;
        }
        let is_branch = self.repository_directory().is_some_and(|directory| {
            self.machine.entry(&directory.join("refs/heads").join(text)) != Entry::Missing
        });
        !is_branch
            && self
                .located(word)
                .is_some_and(|path| !matches!(self.machine.entry(&path), Entry::Missing | Entry::Unknown))
    }

    /// The existing paths that pathspecs mean; `None` when one cannot be told.
    pub(super) fn starts(&self, operands: &[Value]) -> Option<Vec<AbsolutePath>> {
        let mut starts = Vec::new();
        for operand in operands {
            let text = operand.as_exact()?;
            if text.starts_with(":!") || text.starts_with(":^") || text.starts_with(":(exclude)") {
                // Excluding makes the rest smaller; leaving it out of account errs to the safe side.
            } else if text.starts_with(":(") || text.contains(['*', '?', '[']) {
                return None;
            } else if let Some(from_root) = text.strip_prefix(":/") {
                starts.push(self.root()?.join(from_root));
            } else if text.starts_with(':') {
                return None;
            } else {
                // git takes a link for what it is, wherever it leads.
                let named = self.cwd.as_ref().map(|cwd| cwd.join(text));
                let link = named.filter(|path| matches!(self.machine.entry(path), Entry::Symlink(_)));
                starts.push(match link {
                    Some(link) => link,
                    None => self.located(operand)?,
                });
            }
        }
        if starts.is_empty() { self.root().map(|root| vec![root]) } else { Some(starts) }
    }

    /// Whether a word means the newest commit whose message holds a text.
    fn searches_messages(&self, text: &str) -> bool {
        let Some(rest) = text.strip_prefix(":/").filter(|rest| !rest.is_empty()) else { return false };
        self.root().is_none_or(|root| self.machine.entry(&root.join(rest)) == Entry::Missing)
    }

    /// Tracked files become what a revision holds, or `HEAD`.
    fn becomes(&mut self, revision: Option<&Value>) {
        let head = Value::exact("HEAD");
        self.arrive_as(Arrival::Becomes, Some(revision.unwrap_or(&head)));
    }

    /// What a pathspec may name: a path, or for a pattern everything.
    fn meant(&self, path: &Value) -> Vec<Target> {
        if is_pattern(path) {
            return vec![self.whole_tree()];
        }
        self.machine.paths(&self.absolute(path)).into_iter().map(|aim| aim.target).collect()
    }

    /// Files at the paths become what the index or a commit holds.
    fn restore_paths(&mut self, paths: &[Value], origin: Origin<'_>) {
        let kept = self.kept_without(paths, origin);
        self.lose_changes_but(paths, |file| kept.contains(file));
        self.write_anew(paths);
        self.bring_back(paths);
        if origin == Origin::Index
            && let Some(files) = self.reset_index(paths)
        {
            self.change_files(Some(files), "becomes what the index holds");
        }
        if let Origin::Revision { revision, takes_away } = origin
            && !self.index_has_changed(paths)
            && let Some(mut files) = self.taken(self.differing("", revision), paths)
        {
            files.retain(|_, how| takes_away || *how != TreeDifference::Removed);
            let files = Some(files);
            self.lose_staged(&files, &[]);
            self.change_files(files, "becomes what the commit holds");
        } else if origin != Origin::Index || self.index_has_changed(paths) {
            for path in paths {
                for target in self.meant(path) {
                    let draft = Draft::new(EffectKind::FileModify, target)
                        .recursive()
                        .possible()
                        .severity(Severity::Low);
                    self.machine.add(
                        draft
                            .nature(Nature::KeptByVersionControl)
                            .note(KEPT_BY_GIT)
                            .note("becomes what the commit holds"),
                    );
                }
            }
        }
    }

    /// A file that is as it was committed is written anew where git takes its times for those of a change.
    fn write_anew(&mut self, paths: &[Value]) {
        for path in paths.iter().filter(|path| !is_pattern(path)) {
            for aim in self.machine.paths(&self.absolute(path)) {
                let is_clean = aim.target.path().is_some_and(|path| {
                    self.machine.world().version(path) == VersionState::TrackedClean
                        && matches!(self.machine.entry(path), Entry::File(_))
                });
                if is_clean {
                    self.machine.add(
                        Draft::at(EffectKind::FileModify, aim)
                            .possible()
                            .severity(Severity::Low)
                            .nature(Nature::Reformatted)
                            .note("it is written anew with the same content"),
                    );
                }
            }
        }
    }
}
