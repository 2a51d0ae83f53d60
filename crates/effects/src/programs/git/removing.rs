//! `git rm`: what is tracked goes from the index and from the work tree, all that is named or nothing.

use std::collections::BTreeSet;

use crate::effect::{Certainty, Depth, EffectKind, Severity, Target};
use crate::interpreter::{Draft, Exit, Untracked, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::programs::emptied::remove_emptied;
use crate::world::{Entry, TreeDifference, VersionState};

use super::Git;
use super::guard_files::Arrival;
use super::options::Words;
use super::pathspec::is_pattern;
use super::tree::{self, Found};

/// The greatest number of files that are named one by one (ours).
const LISTED: usize = 256;

/// The states of files that the index holds.
const TRACKED: [VersionState; 2] = [VersionState::TrackedClean, VersionState::TrackedModified];

/// The name of the revision that is checked out.
const HEAD: &str = "HEAD";

/// Whether git does what it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Does,
    MayRefuse,
    Refuses,
}

/// Runs `git rm`.
pub(super) fn run(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.any(&["-n", "--dry-run"]) {
        return Exit::unknown();
    }
    if words.has("--pathspec-from-file") {
        git.arrive_unread(&[]);
        git.possibly_lose_changes("which files it takes could not be found out");
        git.change_tree("tracked files that are named in a file go");
    }
    // Where nothing is named, as behind an empty list, it says so and does nothing.
    if words.operands().is_empty() && !words.has("--pathspec-from-file") {
        return Exit::failure();
    }
    let before = git.machine.effect_count();
    let answer = git.answer_to_removal(words);
    if answer == Answer::Refuses {
        return Exit::failure();
    }
    let exit = remove(git, words);
    if answer == Answer::MayRefuse {
        git.machine.amend(before, |effect| effect.certainty = Certainty::Possible);
    }
    exit
}

fn remove(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    let operands = words.operands();
    if words.has("--cached") {
        git.untrack(operands, Untracked::All);
        return git.forget("what is staged there; the files stay in the work tree");
    }
    let taken = git.in_state(operands, &TRACKED).filter(|files| files.len() <= LISTED);
    if let (Some(root), Some(files)) = (git.root(), taken) {
        remove_files(git, words, &root, files);
    } else {
        if words.any(&["-f", "--force"]) {
            git.lose_changes(operands);
        }
        remove_unlisted(git, operands);
    }
    remove_submodules(git, operands);
    git.arrive(&Arrival::Nothing, operands);
    git.take_added_guard(operands);
    git.possibly_change_submodules(operands);
    git.note_staged();
    git.touch("")
}

/// Removes these files, and the directories in which nothing stays.
fn remove_files(git: &mut Git<'_, '_>, words: &Words, root: &AbsolutePath, files: Vec<String>) {
    const OTHERS: [VersionState; 2] = [VersionState::Untracked, VersionState::Ignored];
    // Without `-f` git refuses.
    if words.any(&["-f", "--force"]) {
        let gone = files.iter().map(|file| (file.clone(), TreeDifference::Removed)).collect();
        git.lose_staged(&Some(gone), &[]);
    }
    // What the command gave to git itself is kept by it.
    if git.has_staged() {
        let gone = files.into_iter().map(|file| (file, TreeDifference::Removed)).collect();
        return git.change_files(Some(gone), "what git tracks there goes, and nothing else");
    }
    // A directory of which nothing stays is one removal.
    let named = words.operands().iter().filter(|word| !is_pattern(word));
    // A link to a directory is none.
    let directories = named.filter_map(|word| git.starts(std::slice::from_ref(word))).flatten();
    let directories = directories.filter(|place| git.machine.entry(place) == Entry::Directory);
    let (whole, parts): (Vec<AbsolutePath>, Vec<AbsolutePath>) = directories.partition(|place| {
        place != root
            && !tree::is_repository(git.machine, place)
            && git.is_natural()
            && tree::files(&git.known(), std::slice::from_ref(place), &OTHERS) == Found::All(Vec::new())
    });
    if words.any(&["-f", "--force"]) && !parts.is_empty() {
        let parts: Vec<Value> = parts.iter().map(|place| Value::exact(place.as_str())).collect();
        git.lose_changes(&parts);
    }
    for place in &whole {
        git.machine.delete(&Value::exact(place.as_str()), Depth::Recursive);
        remove_emptied(git.machine, place, root);
    }
    for file in files.iter().map(|file| root.join(file)) {
        if !whole.iter().any(|place| file.is_within(place)) {
            git.machine.delete(&Value::exact(file.as_str()), Depth::Single);
            remove_emptied(git.machine, &file, root);
        }
    }
}

/// Says what goes where the files are too many or cannot be found.
fn remove_unlisted(git: &mut Git<'_, '_>, operands: &[Value]) {
    let note = "what git tracks there goes, and nothing else";
    for operand in operands {
        let place = git.starts(std::slice::from_ref(operand)).and_then(|starts| starts.into_iter().next());
        let place = place.filter(|_| !is_pattern(operand));
        match place.map(|place| (git.machine.entry(&place), place)) {
            Some((Entry::Directory, place)) => {
                let below = Target::Glob(format!("{}/**", place.as_str().trim_end_matches('/')));
                git.machine.add(
                    Draft::new(EffectKind::FileDelete, below)
                        .possible()
                        .severity(Severity::Low)
                        .nature(Nature::KeptByVersionControl)
                        .note(note),
                );
            }
            Some((_, place)) => git.machine.delete(&Value::exact(place.as_str()), Depth::Single),
            None if is_pattern(operand) => git.change_tree("tracked files that the patterns take go"),
            None => {
                let path = git.absolute(operand);
                git.machine.delete(&path, Depth::Single);
            }
        }
    }
}

/// Of a submodule everything goes, tracked or not, and its entry in the list.
fn remove_submodules(git: &mut Git<'_, '_>, operands: &[Value]) {
    let (Some(root), Some(specs)) = (git.root(), git.pathspecs(operands)) else { return };
    let submodules = git.submodules(&root).unwrap_or_default();
    let taken = submodules.into_iter().filter(|path| specs.take(path)).map(|path| root.join(&path));
    let named = operands.iter().filter(|word| !is_pattern(word)).filter_map(|word| git.located(word));
    let named = named.filter(|place| *place != root && tree::is_repository(git.machine, place));
    let taken: BTreeSet<AbsolutePath> = taken.chain(named).collect();
    for place in taken {
        git.machine.delete(&Value::exact(place.as_str()), Depth::Recursive);
        git.possibly_change_submodules(&[Value::exact(place.as_str())]);
    }
}

impl Git<'_, '_> {
    /// What git looks at before it removes anything (git-rm(1)): whether every pathspec takes something, whether directories were allowed, and
    /// whether anything would be lost that is in no commit.
    fn answer_to_removal(&self, words: &Words) -> Answer {
        let operands = words.operands();
        // Both sides of a conflict may be removed.
        if words.has("--pathspec-from-file") || !self.is_natural() || self.is_interrupted() {
            return Answer::Does;
        }
        let takes_directories = words.has("-r");
        let ignores = words.has("--ignore-unmatch");
        for operand in operands.iter().filter(|word| !is_pattern(word)) {
            let one = std::slice::from_ref(operand);
            let Some(place) = self.starts(one).and_then(|starts| starts.into_iter().next()) else { continue };
            let is_plain_directory = self.machine.entry(&place) == Entry::Directory
                && !tree::is_repository(self.machine, &place)
                && operand.as_exact() != Some("");
            let known = self.in_state(one, &TRACKED).zip(self.missing(one));
            if known.is_some_and(|(there, gone)| there.is_empty() && gone.is_empty())
                && !tree::is_repository(self.machine, &place)
                && !ignores
            {
                return Answer::Refuses;
            }
            if is_plain_directory && !takes_directories {
                return Answer::Refuses;
            }
        }
        if words.any(&["-f", "--force"]) {
            return Answer::Does;
        }
        let Some(there) = self.in_state(operands, &TRACKED) else { return Answer::Does };
        let Some(root) = self.root() else { return Answer::Does };
        let staged = self.staged_since(HEAD).unwrap_or_default();
        let only_index = words.has("--cached");
        let is_modified =
            |path: &String| self.machine.world().version(&root.join(path)) == VersionState::TrackedModified;
        let is_refused = |path: &String| {
            let is_staged = staged.contains_key(path);
            if only_index { is_staged && is_modified(path) } else { is_staged || is_modified(path) }
        };
        // What the command did to the index or to the file may have taken a reason away, or made one.
        let is_moved = self.has_staged() || self.has_committed();
        if there.iter().any(is_refused) {
            if is_moved { Answer::MayRefuse } else { Answer::Refuses }
        } else if is_moved || there.iter().any(|path| self.machine.has_touched(&root.join(path))) {
            Answer::MayRefuse
        } else {
            Answer::Does
        }
    }
}
