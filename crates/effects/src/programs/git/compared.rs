//! Which tracked files a subcommand writes or takes away, found by comparing what git would bring with what it brought last.
//!
//! Where the files can be found they are named one by one; where they cannot, the whole work tree stands for them.

use std::collections::{BTreeMap, BTreeSet};

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::git_store::IgnoredFiles;
use crate::interpreter::{Commitment, Draft, IndexChange, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::{Committed, Entry, Listing, TreeDifference, TreeDifferences, VersionState};

use super::Git;
use super::KEPT_BY_GIT;
use super::options::Words;
use super::tree::{self, Found};

/// The greatest number of files that are named one by one (ours).
const NAMED: usize = 256;

/// The name of the revision that is checked out.
const HEAD: &str = "HEAD";

/// What the index holds since the same command reset it; no branch can have such a name.
const INDEX: &str = ":index";

/// Notes that the command has made a commit.
const COMMITTED: &str = ":committed";

/// Notes that the command has staged something.
const STAGED: &str = ":staged";

/// The files of the work tree that change, by their paths from the root, and how; `None` where they are not known.
pub(super) type Files = Option<BTreeMap<String, TreeDifference>>;

/// What comes to stand in the work tree.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// A file of a revision.
    File(Commitment),
    /// A symbolic link that leads there.
    Link(String),
}

/// The files of both; not known where one of them is not.
pub(super) fn both(one: Files, other: Files) -> Files {
    let mut all = one?;
    for (path, how) in other? {
        all.entry(path).or_insert(how);
    }
    Some(all)
}

impl Git<'_, '_> {
    /// Adds that these tracked files change, or where they are not known that any does.
    pub(super) fn change_files(&mut self, files: Files, note: &str) {
        let (Some(root), Some(mut files)) = (self.root(), files) else { return self.change_tree(note) };
        if files.len() > NAMED {
            return self.change_tree(note);
        }
        self.add_emptied(&root, &mut files);
        // What happens to files of the guard is said by itself, and not for each of them is it worth a word.
        let guarded = self.machine.world().guarded();
        for (path, how) in files {
            let place = root.join(&path);
            if guarded.iter().any(|guarded| guarded.path == place) {
                continue;
            }
            let kind = match how {
                TreeDifference::Added => EffectKind::FileCreate,
                TreeDifference::Changed => EffectKind::FileModify,
                TreeDifference::Removed => EffectKind::FileDelete,
            };
            self.machine.add(
                Draft::new(kind, Target::Path(place.clone()))
                    .possible()
                    .severity(Severity::Low)
                    .nature(Nature::WrittenByVersionControl)
                    .note(KEPT_BY_GIT)
                    .note(note),
            );
            // git may refuse: a file that goes is still there for what follows, and one that comes is there too.
            if how != TreeDifference::Removed {
                self.remember_brought(&place, &path, how);
            }
        }
    }

    /// Remembers what may stand at a path by now, as far as it was compared where that comes from.
    fn remember_brought(&mut self, place: &AbsolutePath, path: &str, how: TreeDifference) {
        let source = self.sources.borrow().get(path).cloned();
        match source {
            Some(Source::Link(text)) => self.machine.remember_link(place, &text),
            Some(Source::File(from)) => {
                self.machine.possibly(|machine| machine.remember_checkout(place, from));
            }
            None if how == TreeDifference::Added => {
                self.machine.remember_written(&Target::Path(place.clone()), Value::Unknown);
            }
            None => {}
        }
    }

    /// Adds the directories in which nothing stays: git takes them away too.
    fn add_emptied(&self, root: &AbsolutePath, files: &mut BTreeMap<String, TreeDifference>) {
        let gone: BTreeSet<&String> =
            files.iter().filter(|(_, how)| **how == TreeDifference::Removed).map(|(path, _)| path).collect();
        let mut emptied: BTreeSet<String> = BTreeSet::new();
        let mut waiting: Vec<String> = gone.iter().filter_map(|path| folder_of(path)).collect();
        // The deepest first, so that what is above sees what is empty below.
        waiting.sort_by_key(|path| std::cmp::Reverse(path.matches('/').count()));
        let mut at = 0;
        while let Some(folder) = waiting.get(at).cloned() {
            at += 1;
            let Listing::Names(names) = self.machine.children(&root.join(&folder)) else { continue };
            let is_empty = names.iter().all(|name| {
                let path = format!("{folder}/{name}");
                gone.contains(&path) || emptied.contains(&path)
            });
            let comes = files.iter().any(|(path, how)| {
                *how != TreeDifference::Removed
                    && path.strip_prefix(&folder).is_some_and(|rest| rest.starts_with('/'))
            });
            if is_empty && !comes && emptied.insert(folder.clone()) {
                waiting.extend(folder_of(&folder));
            }
        }
        files.extend(emptied.into_iter().map(|path| (path, TreeDifference::Removed)));
    }

    /// Where two revisions differ, both as they are meant by now; `` is the index. After a commit of the same command, what it may have
    /// taken in is among it.
    pub(super) fn differing(&self, from: &str, to: &str) -> Files {
        let found = self.differing_as_named(from, to);
        // The index stays where only a name was moved.
        let found = if from.is_empty() && self.has_moved() {
            both(found, self.differing_as_named(HEAD, to))
        } else {
            found
        };
        let has_committed = self.has_committed();
        let has_staged = from.is_empty() && self.has_staged();
        if !has_committed && !has_staged {
            return found;
        }
        let found = both(found, self.in_hand());
        if !has_committed {
            return found;
        }
        // What was checked out before is one commit further back now.
        match self.differing_as_named(&nearer(from), &nearer(to)) {
            Some(nearer) => both(found, Some(nearer)),
            None => found,
        }
    }

    /// The files that a commit of this command may hold: what was changed before it, and what the command changed.
    fn in_hand(&self) -> Files {
        let root = self.root().filter(|_| self.is_natural())?;
        let mut all = self.staged_before(&root)?;
        all.extend(self.modified_before(&root)?);
        // Files that the command added go where a commit is checked out that does not have them.
        all.extend(self.added_here(&root)?.into_iter().map(|path| (path, TreeDifference::Removed)));
        // Those that it took along as deleted come back.
        for (path, how) in self.missing(&[]).unwrap_or_default() {
            all.entry(path).or_insert(how);
        }
        for effect in self.machine.effects_since(0).filter(|effect| effect.kind.file_change().is_some()) {
            let Some(path) = effect.target.path().and_then(|path| path.relative_to(&root)) else { continue };
            if !path.is_empty() && path != ".git" && !path.starts_with(".git/") {
                all.entry(path.to_owned()).or_insert(TreeDifference::Changed);
            }
        }
        Some(all)
    }

    fn differing_as_named(&self, from: &str, to: &str) -> Files {
        if self.is_made_here() {
            return None;
        }
        let place = if self.directory.is_some() { self.repository_directory() } else { self.root() }?;
        // Another index than that of the work tree is not asked.
        let from = if from.is_empty() && self.directory.is_some() { HEAD } else { from };
        // What a fetch of the same command brought may have moved the branches of a remote.
        let is_own = |name: &str| matches!(name, "" | HEAD | TreeDifferences::EMPTY);
        let has_fetched =
            self.repository_directory().is_some_and(|own| !self.machine.fetched(&own).is_empty());
        if has_fetched && !(is_own(from) && is_own(to)) {
            return None;
        }
        let (from, to) = (self.meaning(from)?, self.meaning(to)?);
        match self.machine.world().differences(&place, &from, &to) {
            TreeDifferences::At(found) => {
                self.note_sources(&place, &from, &to, &found);
                Some(found.into_iter().collect())
            }
            TreeDifferences::NoRevision | TreeDifferences::Unknown => None,
        }
    }

    /// Keeps where the files come from that a comparison found: a change of the work tree may ask for them.
    fn note_sources(&self, place: &AbsolutePath, from: &str, to: &str, found: &[(String, TreeDifference)]) {
        if to.is_empty() || to == TreeDifferences::EMPTY || found.len() > NAMED {
            return;
        }
        let mut sources = self.sources.borrow_mut();
        for (path, how) in found {
            if *how != TreeDifference::Removed {
                let from =
                    Commitment { repository: place.clone(), revision: to.to_owned(), file: path.clone() };
                sources.insert(path.clone(), Source::File(from));
            }
        }
        for (path, text) in self.machine.world().links_brought(place, from, to) {
            if found.iter().any(|(found, how)| *found == path && *how != TreeDifference::Removed) {
                sources.insert(path, Source::Link(text));
            }
        }
    }

    /// What is staged that a revision does not hold, as the way there from the revision.
    pub(super) fn staged_since(&self, revision: &str) -> Files {
        let mut files = self.differing_as_named("", revision)?;
        for how in files.values_mut() {
            *how = match how {
                TreeDifference::Added => TreeDifference::Removed,
                TreeDifference::Changed => TreeDifference::Changed,
                TreeDifference::Removed => TreeDifference::Added,
            };
        }
        Some(files)
    }

    /// Notes that `HEAD` is a commit from now on that was made by this command.
    pub(super) fn note_commit(&mut self) {
        self.move_revision(COMMITTED, Some(&Value::exact(HEAD)));
    }

    /// Notes that the index holds more than it did.
    pub(super) fn note_staged(&mut self) {
        self.move_revision(STAGED, Some(&Value::exact(HEAD)));
    }

    /// Whether this command has put something into the index.
    pub(super) fn has_staged(&self) -> bool {
        self.machine.moved_revision(STAGED).is_some()
    }

    /// Whether this command has made a commit.
    pub(super) fn has_committed(&self) -> bool {
        self.machine.moved_revision(COMMITTED).is_some()
    }

    fn has_moved(&self) -> bool {
        self.machine.moved_revision(HEAD).is_some()
    }

    /// What changes when the work tree, which is as the revision `from` has it, becomes what `to` holds.
    pub(super) fn differing_to(&self, from: &str, to: Option<&Value>) -> Files {
        match to {
            Some(word) => self.differing(from, word.as_exact()?),
            None => self.differing(from, HEAD),
        }
    }

    /// What changes when what happened to a revision, since both came apart, happens here too.
    pub(super) fn joining(&self, revision: &str) -> Files {
        let theirs = self.differing(&format!("{HEAD}...{revision}"), revision)?;
        let mut against = self.differing(HEAD, revision)?;
        against.retain(|path, _| theirs.contains_key(path));
        Some(against)
    }

    /// What a pull brings of a repository on this machine, where the branch only has to move on.
    pub(super) fn pulling(&self, words: &Words) -> Files {
        let name = words.operands().first().map_or(Some("origin"), Value::as_exact)?;
        let source = self.repository_of(name)?;
        let root = self.root()?;
        let world = self.machine.world();
        let branch = match words.operands().get(1) {
            Some(given) => given.as_exact()?.to_owned(),
            None => world.repository(&root)?.branch?,
        };
        // The root of what is checked out is an object by its own name, there too.
        let Committed::Object(ours) = world.committed(&root, &self.meaning(HEAD)?, "") else { return None };
        match world.differences(&source, &ours, &branch) {
            TreeDifferences::At(found) => Some(found.into_iter().collect()),
            TreeDifferences::NoRevision | TreeDifferences::Unknown => None,
        }
    }

    /// What the files at these paths become when they are brought back from an index that the same command has reset.
    pub(super) fn reset_index(&self, paths: &[Value]) -> Files {
        let Some(meaning) = self.machine.moved_revision(INDEX) else { return Some(BTreeMap::new()) };
        let root = self.root().filter(|_| self.is_natural())?;
        match self.machine.world().differences(&root, "", meaning?) {
            TreeDifferences::At(found) => {
                let mut files: BTreeMap<String, TreeDifference> = found.into_iter().collect();
                // What the index does not have any more stays where it is.
                files.retain(|_, how| *how != TreeDifference::Removed);
                self.taken(Some(files), paths)
            }
            TreeDifferences::NoRevision | TreeDifferences::Unknown => None,
        }
    }

    /// Notes that the index holds what a revision does from now on.
    pub(super) fn note_index(&mut self, revision: Option<&Value>) {
        let head = Value::exact(HEAD);
        self.move_revision(INDEX, Some(revision.unwrap_or(&head)));
    }

    /// Whether git is in the middle of something that has to be ended first.
    pub(super) fn is_interrupted(&self) -> bool {
        let marks = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];
        self.repository_directory().is_some_and(|directory| {
            marks.iter().any(|mark| self.machine.entry(&directory.join(mark)) != Entry::Missing)
        })
    }

    /// Whether another work tree has the branch checked out, so that git refuses to do so here.
    pub(super) fn is_elsewhere(&self, branch: Option<&Value>) -> bool {
        let Some(branch) = branch.and_then(Value::as_exact) else { return false };
        let Some(own) = self.repository_directory() else { return false };
        let common = self.machine.text(&own.join("commondir"));
        let shared = common.as_exact().map_or_else(|| own.clone(), |text| own.join(text.trim()));
        let mut places = vec![shared.clone()];
        if let Listing::Names(names) = self.machine.children(&shared.join("worktrees")) {
            places.extend(names.iter().map(|name| shared.join("worktrees").join(name)));
        }
        let wanted = format!("ref: refs/heads/{branch}");
        places.iter().filter(|place| **place != own).any(|place| {
            self.machine.text(&place.join("HEAD")).as_exact().is_some_and(|text| text.trim() == wanted)
        })
    }

    /// What changes when the commits that these words name happen here too, or are taken back.
    pub(super) fn replaying(&self, name: &str, words: &[Value]) -> Files {
        let mut all = Some(BTreeMap::new());
        for word in words {
            let text = word.as_exact()?;
            let (base, tip) = match text.split_once("..") {
                Some((base, tip)) => (base.to_owned(), tip.trim_start_matches('.').to_owned()),
                None => (format!("{text}^"), text.to_owned()),
            };
            let tip = if tip.is_empty() { HEAD.to_owned() } else { tip };
            let found =
                if name == "revert" { self.differing(&tip, &base) } else { self.differing(&base, &tip) };
            all = both(all, found);
        }
        all
    }

    /// What a rebase writes: what the new base has, and what of our own commits meets it.
    pub(super) fn rebasing(&self, words: &Words) -> Files {
        let upstream = match words.operands().first() {
            Some(word) => word.as_exact()?.to_owned(),
            None => "@{u}".to_owned(),
        };
        let onto = match words.arguments.value(&["--onto"]) {
            Some(word) => word.as_exact()?.to_owned(),
            None => upstream.clone(),
        };
        let tip = match words.operands().get(1) {
            Some(word) => word.as_exact()?.to_owned(),
            None => HEAD.to_owned(),
        };
        let ours = self.differing(&format!("{upstream}...{tip}"), &tip)?;
        let mut all = self.differing(&format!("{tip}...{onto}"), &onto)?;
        let is_edited = words.any(&["-i", "--interactive", "--autosquash", "--exec", "-x", "--root"]);
        if is_edited || words.has("--onto") || all.keys().any(|path| ours.contains_key(path)) {
            // Where both changed a file it may stop in the middle.
            all = both(Some(all), Some(ours))?;
        }
        if tip == HEAD { Some(all) } else { both(Some(all), self.differing(HEAD, &tip)) }
    }

    /// What changes when an operation that stopped in the middle goes back, on, or over a commit.
    pub(super) fn resuming(&self) -> Files {
        let directory = self.repository_directory()?;
        let mut all = both(self.differing("", HEAD), self.modified(&[]));
        let noted = [
            "rebase-merge/orig-head",
            "rebase-merge/onto",
            "rebase-apply/orig-head",
            "rebase-apply/onto",
            "sequencer/head",
            "CHERRY_PICK_HEAD",
            "ORIG_HEAD",
        ];
        for name in noted {
            let text = self.machine.text(&directory.join(name));
            if let Some(commit) = text.as_exact().map(str::trim).filter(|text| !text.is_empty()) {
                all = both(all, self.differing(HEAD, commit));
            }
        }
        all
    }

    /// The tracked files that are not as they were added, of those that the paths take or, without any, all.
    pub(super) fn modified(&self, paths: &[Value]) -> Files {
        let found = self.in_state(paths, &[VersionState::TrackedModified])?;
        Some(found.into_iter().map(|path| (path, TreeDifference::Changed)).collect())
    }

    /// The files in one of these states, of those that the paths take or, without any, all.
    pub(super) fn in_state(&self, paths: &[Value], states: &[VersionState]) -> Option<Vec<String>> {
        let root = self.root().filter(|_| self.is_natural())?;
        let starts = if paths.is_empty() { Some(vec![root.clone()]) } else { self.starts(paths) };
        let files = match starts {
            Some(starts) => match tree::files(&self.known(), &starts, states) {
                Found::All(files) => files,
                Found::Unclear => return None,
            },
            None => self.matching(paths, states)?,
        };
        let mut found: Vec<String> =
            files.iter().filter_map(|file| file.relative_to(&root)).map(str::to_owned).collect();
        let excludes = |word: &Value| {
            word.as_exact().is_some_and(|text| text.starts_with(":!") || text.starts_with(":^"))
        };
        if paths.iter().any(excludes) {
            let specs = self.pathspecs(paths)?;
            found.retain(|path| specs.take(path));
        }
        Some(found)
    }

    /// The tracked files that are not there, of those that the paths take or, without any, all: git brings them back.
    pub(super) fn missing(&self, paths: &[Value]) -> Files {
        let root = self.root()?;
        let specs = if paths.is_empty() { None } else { Some(self.pathspecs(paths)?) };
        let tracked = self.tracked_files()?;
        let gone = tracked.into_iter().filter(|path| {
            specs.as_ref().is_none_or(|specs| specs.take(path))
                && self.machine.entry(&root.join(path)) == Entry::Missing
        });
        Some(gone.map(|path| (path, TreeDifference::Added)).collect())
    }

    /// All tracked files, by their paths from the root.
    pub(super) fn tracked_files(&self) -> Option<Vec<String>> {
        let root = self.root().filter(|_| self.is_natural() && !self.is_made_here())?;
        match self.machine.world().differences(&root, "", TreeDifferences::EMPTY) {
            TreeDifferences::At(found) => Some(found.into_iter().map(|(path, _)| path).collect()),
            TreeDifferences::NoRevision | TreeDifferences::Unknown => None,
        }
    }

    /// Adds that tracked files which are not there come back; nothing where that cannot be told.
    pub(super) fn bring_back(&mut self, paths: &[Value]) {
        if let Some(files) = self.missing(paths).filter(|files| files.len() <= NAMED) {
            self.change_files(Some(files), "tracked files that are not there come back");
        }
    }

    /// Of these files those that the paths take.
    pub(super) fn taken(&self, files: Files, paths: &[Value]) -> Files {
        let specs = self.pathspecs(paths)?;
        files.map(|mut files| {
            files.retain(|path, _| specs.take(path));
            files
        })
    }

    /// What the same command put into the stash: the changes that were there before it.
    pub(super) fn stashed_here(&self) -> Files {
        let root = self.root().filter(|_| self.is_natural())?;
        let mut all = self.staged_before(&root)?;
        all.extend(self.modified_before(&root)?);
        let untracked = self.before(&root, &[VersionState::Untracked])?;
        all.extend(untracked.into_iter().map(|path| (path, TreeDifference::Added)));
        Some(all)
    }

    /// What was staged before the command, and how it changes when `HEAD` is checked out.
    fn staged_before(&self, root: &AbsolutePath) -> Files {
        match self.machine.world().differences(root, "", HEAD) {
            TreeDifferences::At(found) => Some(found.into_iter().collect()),
            TreeDifferences::NoRevision | TreeDifferences::Unknown => None,
        }
    }

    /// The tracked files that held changes before the command.
    fn modified_before(&self, root: &AbsolutePath) -> Files {
        let found = self.before(root, &[VersionState::TrackedModified])?;
        Some(found.into_iter().map(|path| (path, TreeDifference::Changed)).collect())
    }

    /// The files that were in one of these states before the command.
    fn before(&self, root: &AbsolutePath, states: &[VersionState]) -> Option<Vec<String>> {
        match tree::files_of_world(self.machine.world(), std::slice::from_ref(root), states) {
            Found::All(files) => {
                Some(files.iter().filter_map(|file| file.relative_to(root)).map(str::to_owned).collect())
            }
            Found::Unclear => None,
        }
    }

    /// The files that the command added to the index, or may have.
    pub(super) fn added_here(&self, root: &AbsolutePath) -> Option<Vec<String>> {
        const NEW: [VersionState; 2] = [VersionState::Untracked, VersionState::Ignored];
        let world = self.machine.world();
        let mut added = Vec::new();
        for (change, _) in self.machine.index_changes().iter() {
            let ignored = match change {
                IndexChange::Added(_, ignored) => *ignored,
                IndexChange::Removed(_) | IndexChange::Becomes(..) => continue,
            };
            let states = if ignored == IgnoredFiles::Added { &NEW[..] } else { &NEW[..1] };
            match tree::files_of_world(world, std::slice::from_ref(change.place()), states) {
                Found::All(files) => added.extend(files),
                Found::Unclear => return None,
            }
        }
        Some(added.iter().filter_map(|file| file.relative_to(root)).map(str::to_owned).collect())
    }
}

/// The same revision where there is one commit less above it: `HEAD~2` for `HEAD~3`.
pub(super) fn nearer(revision: &str) -> String {
    let Some(rest) = revision.strip_prefix(HEAD) else { return revision.to_owned() };
    let (sign, digits) = rest.split_at_checked(1).unwrap_or(("", ""));
    match (sign, digits.parse::<usize>()) {
        ("~", Ok(number)) if number > 1 => format!("{HEAD}~{}", number - 1),
        ("~" | "^", Ok(1)) => HEAD.to_owned(),
        ("~" | "^", Err(_)) => format!("{HEAD}{digits}"),
        _ => revision.to_owned(),
    }
}

/// The directory that holds a file; `None` at the root.
fn folder_of(path: &str) -> Option<String> {
    path.rsplit_once('/').map(|(folder, _)| folder.to_owned())
}
