//! The world as a list of facts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::run_by_client::RunByClient;
use crate::world::{
    Branches, Committed, Entry, FileFacts, FileText, GuardedPath, GuardedStart, History, HostPaths, Listing,
    Repository, Right, TreeDifferences, VersionState, World, guarded_places,
};
use checkrein_protocol::{AbsolutePath, Timestamp, ToolOutput, Typing};

/// The symbolic links that come with the second of two revisions: the repository, both names, and by path where each leads.
pub type LinksBrought = (AbsolutePath, String, String, Vec<(String, String)>);

/// A world that answers from recorded facts. What was not recorded is [`Entry::Missing`] and the like under a
/// [`RecordedWorld::complete`] world (tests), and `Unknown` otherwise (replay).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedWorld {
    /// Where things are.
    pub place: HostPaths,
    /// What has happened so far.
    pub history: History,
    /// The time of the action.
    pub now: Timestamp,
    /// Whether a path without a fact is known to be missing.
    pub complete: bool,
    /// What stands at each path.
    pub entries: BTreeMap<AbsolutePath, Entry>,
    /// The names in directories.
    pub listings: BTreeMap<AbsolutePath, Listing>,
    /// The texts of files, as code where they were read as that.
    pub texts: BTreeMap<AbsolutePath, FileText>,
    /// The repositories found from paths.
    pub repositories: BTreeMap<AbsolutePath, Option<Repository>>,
    /// What version control knew.
    pub versions: BTreeMap<AbsolutePath, VersionState>,
    /// Whether files at or below a path were tracked, where that was asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tracked: BTreeMap<AbsolutePath, bool>,
    /// What revisions held: by repository, revision and path.
    #[serde(default)]
    pub commits: Vec<(AbsolutePath, String, String, Committed)>,
    /// The texts of files that revisions held: by repository, revision and path.
    #[serde(default)]
    pub committed_texts: Vec<(AbsolutePath, String, String, FileText)>,
    /// Where two revisions differ: by repository and the names of both.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<(AbsolutePath, String, String, TreeDifferences)>,
    /// The symbolic links that come with the second of two revisions, where there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links_brought: Vec<LinksBrought>,
    /// What was written or came after the moment that was asked about, or did not.
    #[serde(default)]
    pub changes: BTreeMap<AbsolutePath, bool>,
    /// What archives held.
    #[serde(default)]
    pub archives: BTreeMap<AbsolutePath, Listing>,
    /// The paths of the guard as they really lie, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<Vec<GuardedPath>>,
    /// Pairs of names of one file.
    #[serde(default)]
    pub same_files: Vec<(AbsolutePath, AbsolutePath)>,
    /// The directories and links in directories, where these were asked for.
    #[serde(default)]
    pub branches: BTreeMap<AbsolutePath, Option<Branches>>,
    /// Rights that the user does not have, or of which that is not known.
    #[serde(default)]
    pub denied: Vec<(AbsolutePath, Right)>,
    /// Environment variables.
    pub variables: BTreeMap<String, Option<String>>,
    /// The names of the environment variables, where a list of all was asked for.
    #[serde(default)]
    pub variable_names: Vec<String>,
    /// The program that runs a command within bounds.
    #[serde(default)]
    pub confiner: Option<AbsolutePath>,
    /// The program that masks secrets in what is piped through it.
    #[serde(default)]
    pub masker: Option<AbsolutePath>,
    /// What the model reads of what a tool of the client answers.
    #[serde(default)]
    pub tool_output: ToolOutput,
    /// Whether what is typed into a program that a call left open is reviewed.
    #[serde(default)]
    pub typing: Typing,
    /// Whose repositories elsewhere the user calls their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owned_remotes: Vec<String>,
    /// The files with code that the client runs when it is started in their folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_by_client: Vec<RunByClient>,
    /// Which agents ask the guard, by their names and the directories in which they are started. In a complete world one that is named for
    /// the root asks everywhere, and where one is named, all others do not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarded_starts: Vec<(String, AbsolutePath, GuardedStart)>,
}

impl RecordedWorld {
    /// A world in which nothing but the given place exists; whatever is not added is missing.
    pub fn complete(place: HostPaths) -> Self {
        Self {
            place,
            history: History::default(),
            now: Timestamp(0),
            complete: true,
            entries: BTreeMap::new(),
            listings: BTreeMap::new(),
            texts: BTreeMap::new(),
            repositories: BTreeMap::new(),
            versions: BTreeMap::new(),
            tracked: BTreeMap::new(),
            commits: Vec::new(),
            committed_texts: Vec::new(),
            differences: Vec::new(),
            links_brought: Vec::new(),
            changes: BTreeMap::new(),
            archives: BTreeMap::new(),
            guarded: None,
            same_files: Vec::new(),
            branches: BTreeMap::new(),
            denied: Vec::new(),
            variables: BTreeMap::new(),
            variable_names: Vec::new(),
            confiner: None,
            masker: None,
            tool_output: ToolOutput::Shown,
            typing: Typing::Reviewed,
            owned_remotes: Vec::new(),
            run_by_client: Vec::new(),
            guarded_starts: Vec::new(),
        }
    }

    /// Adds a file with its text and what version control knows about it, and the directories above it.
    #[must_use]
    pub fn with_file(mut self, path: &AbsolutePath, text: &str, version: VersionState) -> Self {
        let facts = FileFacts { bytes: text.len() as u64, mode: 0o644, modified: Timestamp(0) };
        self.entries.insert(path.clone(), Entry::File(facts));
        self.texts.insert(path.clone(), FileText::Whole(text.to_owned()));
        self.versions.insert(path.clone(), version);
        match path.parent() {
            Some(parent) => self.with_directory(&parent),
            None => self,
        }
    }

    /// Adds a file that may be run, known to no repository.
    #[must_use]
    pub fn with_program(self, path: &AbsolutePath, text: &str) -> Self {
        let mut world = self.with_file(path, text, VersionState::Untracked);
        if let Some(Entry::File(facts)) = world.entries.get_mut(path) {
            facts.mode = 0o755;
        }
        world
    }

    /// Adds a directory and the directories above it.
    #[must_use]
    pub fn with_directory(mut self, path: &AbsolutePath) -> Self {
        let mut next = Some(path.clone());
        while let Some(directory) = next {
            self.entries.insert(directory.clone(), Entry::Directory);
            next = directory.parent();
        }
        self
    }

    /// Declares a repository with its work tree at `root`.
    #[must_use]
    pub fn with_repository(self, root: &AbsolutePath) -> Self {
        let directory = root.join(".git");
        let mut world = self.with_directory(&directory);
        let repository = Repository { root: root.clone(), directory, branch: Some("main".to_owned()) };
        world.repositories.insert(root.clone(), Some(repository));
        world
    }

    fn known_children(&self, directory: &AbsolutePath) -> Vec<String> {
        let mut names: Vec<String> = self
            .entries
            .iter()
            .filter(|(path, entry)| **entry != Entry::Missing && path.parent().as_ref() == Some(directory))
            .filter_map(|(path, _)| path.name().map(str::to_owned))
            .collect();
        names.sort();
        names
    }
}

impl World for RecordedWorld {
    fn place(&self) -> &HostPaths {
        &self.place
    }

    fn history(&self) -> &History {
        &self.history
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn entry(&self, path: &AbsolutePath) -> Entry {
        match self.entries.get(path) {
            Some(entry) => entry.clone(),
            None if path.parent().is_none() => Entry::Directory,
            None if self.complete => Entry::Missing,
            None => Entry::Unknown,
        }
    }

    fn children(&self, directory: &AbsolutePath) -> Listing {
        match self.listings.get(directory) {
            Some(listing) => listing.clone(),
            None if self.complete && self.entry(directory) == Entry::Directory => {
                Listing::Names(self.known_children(directory))
            }
            None => Listing::Unknown,
        }
    }

    fn branches(&self, directory: &AbsolutePath) -> Option<Branches> {
        if let Some(known) = self.branches.get(directory) {
            return known.clone();
        }
        let Listing::Names(names) = self.children(directory) else { return None };
        let of = |wanted: fn(&Entry) -> bool| {
            let is_one = |name: &&String| wanted(&self.entry(&directory.join(name)));
            names.iter().filter(is_one).cloned().collect()
        };
        Some(Branches {
            directories: of(|entry| *entry == Entry::Directory),
            links: of(|entry| matches!(entry, Entry::Symlink(_))),
        })
    }

    fn text(&self, path: &AbsolutePath) -> FileText {
        self.code(path).as_text()
    }

    fn code(&self, path: &AbsolutePath) -> FileText {
        self.texts.get(path).cloned().unwrap_or(FileText::Unknown)
    }

    fn repository(&self, path: &AbsolutePath) -> Option<Repository> {
        let mut next = Some(path.clone());
        while let Some(directory) = next {
            if let Some(found) = self.repositories.get(&directory) {
                return found.clone();
            }
            next = directory.parent();
        }
        None
    }

    fn holds_tracked(&self, path: &AbsolutePath) -> bool {
        let is_tracked = |state: &VersionState| {
            matches!(state, VersionState::TrackedClean | VersionState::TrackedModified)
        };
        self.tracked.get(path).copied().unwrap_or_else(|| {
            self.versions.iter().any(|(file, state)| file.is_within(path) && is_tracked(state))
        })
    }

    fn version(&self, path: &AbsolutePath) -> VersionState {
        if let Some(state) = self.versions.get(path) {
            return *state;
        }
        if !self.complete {
            return VersionState::Unknown;
        }
        let below =
            self.versions.iter().filter(|(file, _)| file.is_within(path)).map(|(_, state)| *state).max();
        below.unwrap_or_else(|| match (self.entry(path), self.repository(path)) {
            (Entry::Missing, _) => VersionState::Missing,
            (_, None) => VersionState::NoRepository,
            (_, Some(_)) => VersionState::Untracked,
        })
    }

    fn committed(&self, repository: &AbsolutePath, revision: &str, path: &str) -> Committed {
        let revision = revision.strip_prefix("refs/heads/").unwrap_or(revision);
        let known = self
            .commits
            .iter()
            .find(|(directory, name, place, _)| directory == repository && name == revision && place == path);
        let revision_is_known = || {
            revision.is_empty()
                || self
                    .commits
                    .iter()
                    .any(|(directory, name, ..)| directory == repository && name == revision)
        };
        match known {
            Some((.., committed)) => committed.clone(),
            None if !self.complete => Committed::Unknown,
            None if revision_is_known() => Committed::Nothing,
            None => Committed::NoRevision,
        }
    }

    fn committed_text(&self, repository: &AbsolutePath, revision: &str, path: &str) -> FileText {
        let revision = revision.strip_prefix("refs/heads/").unwrap_or(revision);
        let known = self
            .committed_texts
            .iter()
            .find(|(directory, name, place, _)| directory == repository && name == revision && place == path);
        known.map_or(FileText::Unknown, |(.., text)| text.clone())
    }

    fn differences(&self, repository: &AbsolutePath, from: &str, to: &str) -> TreeDifferences {
        let known = (self.differences.iter())
            .find(|(directory, first, second, _)| directory == repository && first == from && second == to);
        known.map_or(TreeDifferences::Unknown, |(.., differences)| differences.clone())
    }

    fn links_brought(&self, repository: &AbsolutePath, from: &str, to: &str) -> Vec<(String, String)> {
        let known = (self.links_brought.iter())
            .find(|(directory, first, second, _)| directory == repository && first == from && second == to);
        known.map(|(.., links)| links.clone()).unwrap_or_default()
    }

    fn changed_since(&self, path: &AbsolutePath, _moment: Timestamp) -> Option<bool> {
        self.changes.get(path).copied()
    }

    fn members(&self, archive: &AbsolutePath) -> Listing {
        self.archives.get(archive).cloned().unwrap_or(Listing::Unknown)
    }

    fn guarded(&self) -> Rc<[GuardedPath]> {
        match &self.guarded {
            Some(known) => known.clone().into(),
            None => guarded_places(&self.place, &|path| self.entry(path)),
        }
    }

    fn is_same_file(&self, path: &AbsolutePath, other: &AbsolutePath) -> bool {
        self.same_files.iter().any(|(one, two)| {
            let has = |wanted: &AbsolutePath| one == wanted || two == wanted;
            has(path) && has(other)
        })
    }

    fn allows(&self, path: &AbsolutePath, right: Right) -> bool {
        let denies = |(place, denied): &(AbsolutePath, Right)| match denied {
            Right::Enter => path.is_within(place) && (path != place || right == Right::Enter),
            Right::Read | Right::Write => path == place && right == *denied,
        };
        !self.denied.iter().any(denies)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned().flatten()
    }

    fn variable_names(&self) -> Vec<String> {
        let set = self.variables.iter().filter_map(|(name, value)| value.as_ref().map(|_| name));
        let mut names: Vec<String> = set.chain(&self.variable_names).cloned().collect();
        names.sort();
        names.dedup();
        names
    }

    fn confiner(&self) -> Option<AbsolutePath> {
        self.confiner.clone()
    }

    fn masker(&self) -> Option<AbsolutePath> {
        self.masker.clone()
    }

    fn tool_output(&self) -> ToolOutput {
        self.tool_output
    }

    fn typing(&self) -> Typing {
        self.typing
    }

    fn run_by_client(&self) -> Vec<RunByClient> {
        self.run_by_client.clone()
    }

    fn guarded_start(&self, program: &str, directory: &AbsolutePath) -> GuardedStart {
        let of_all = |place: &AbsolutePath| self.complete && place.parent().is_none();
        let known = (self.guarded_starts.iter())
            .find(|(name, place, _)| name == program && (place == directory || of_all(place)));
        match known {
            Some((.., answer)) => *answer,
            None if self.complete && !self.guarded_starts.is_empty() => GuardedStart::Unguarded,
            None => GuardedStart::Unknown,
        }
    }

    fn owned_remotes(&self) -> Vec<String> {
        self.owned_remotes.clone()
    }
}

/// A world that passes every question on and writes down the answers, so that the decision can be replayed.
#[derive(Debug)]
pub struct Recorder<'a, W: World + ?Sized> {
    inner: &'a W,
    facts: RefCell<RecordedWorld>,
}

impl<'a, W: World + ?Sized> Recorder<'a, W> {
    /// Starts recording what `inner` answers.
    pub fn new(inner: &'a W) -> Self {
        let mut facts = RecordedWorld::complete(inner.place().clone());
        facts.complete = false;
        facts.history = inner.history().clone();
        facts.now = inner.now();
        Self { inner, facts: RefCell::new(facts) }
    }

    /// The facts that were asked for.
    pub fn into_facts(self) -> RecordedWorld {
        self.facts.into_inner()
    }
}

impl<W: World + ?Sized> World for Recorder<'_, W> {
    fn place(&self) -> &HostPaths {
        self.inner.place()
    }

    fn history(&self) -> &History {
        self.inner.history()
    }

    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    fn entry(&self, path: &AbsolutePath) -> Entry {
        if let Some(known) = self.facts.borrow().entries.get(path) {
            return known.clone();
        }
        let answer = self.inner.entry(path);
        self.facts.borrow_mut().entries.insert(path.clone(), answer.clone());
        answer
    }

    fn children(&self, directory: &AbsolutePath) -> Listing {
        let answer = self.inner.children(directory);
        self.facts.borrow_mut().listings.insert(directory.clone(), answer.clone());
        answer
    }

    fn branches(&self, directory: &AbsolutePath) -> Option<Branches> {
        let answer = self.inner.branches(directory);
        self.facts.borrow_mut().branches.insert(directory.clone(), answer.clone());
        answer
    }

    fn text(&self, path: &AbsolutePath) -> FileText {
        let answer = self.inner.text(path);
        // What was read as code says more.
        self.facts.borrow_mut().texts.entry(path.clone()).or_insert_with(|| answer.clone());
        answer
    }

    fn code(&self, path: &AbsolutePath) -> FileText {
        let answer = self.inner.code(path);
        self.facts.borrow_mut().texts.insert(path.clone(), answer.clone());
        answer
    }

    fn repository(&self, path: &AbsolutePath) -> Option<Repository> {
        let answer = self.inner.repository(path);
        self.facts.borrow_mut().repositories.insert(path.clone(), answer.clone());
        answer
    }

    fn holds_tracked(&self, path: &AbsolutePath) -> bool {
        let answer = self.inner.holds_tracked(path);
        self.facts.borrow_mut().tracked.insert(path.clone(), answer);
        answer
    }

    fn version(&self, path: &AbsolutePath) -> VersionState {
        let answer = self.inner.version(path);
        self.facts.borrow_mut().versions.insert(path.clone(), answer);
        answer
    }

    fn committed(&self, repository: &AbsolutePath, revision: &str, path: &str) -> Committed {
        let answer = self.inner.committed(repository, revision, path);
        let fact = (repository.clone(), revision.to_owned(), path.to_owned(), answer.clone());
        self.facts.borrow_mut().commits.push(fact);
        answer
    }

    fn committed_text(&self, repository: &AbsolutePath, revision: &str, path: &str) -> FileText {
        let answer = self.inner.committed_text(repository, revision, path);
        let fact = (repository.clone(), revision.to_owned(), path.to_owned(), answer.clone());
        self.facts.borrow_mut().committed_texts.push(fact);
        answer
    }

    fn differences(&self, repository: &AbsolutePath, from: &str, to: &str) -> TreeDifferences {
        let answer = self.inner.differences(repository, from, to);
        let fact = (repository.clone(), from.to_owned(), to.to_owned(), answer.clone());
        self.facts.borrow_mut().differences.push(fact);
        answer
    }

    fn links_brought(&self, repository: &AbsolutePath, from: &str, to: &str) -> Vec<(String, String)> {
        let answer = self.inner.links_brought(repository, from, to);
        if !answer.is_empty() {
            let fact = (repository.clone(), from.to_owned(), to.to_owned(), answer.clone());
            self.facts.borrow_mut().links_brought.push(fact);
        }
        answer
    }

    fn changed_since(&self, path: &AbsolutePath, moment: Timestamp) -> Option<bool> {
        let answer = self.inner.changed_since(path, moment);
        if let Some(answer) = answer {
            self.facts.borrow_mut().changes.insert(path.clone(), answer);
        }
        answer
    }

    fn members(&self, archive: &AbsolutePath) -> Listing {
        let answer = self.inner.members(archive);
        self.facts.borrow_mut().archives.insert(archive.clone(), answer.clone());
        answer
    }

    fn guarded(&self) -> Rc<[GuardedPath]> {
        let answer = self.inner.guarded();
        self.facts.borrow_mut().guarded.get_or_insert_with(|| answer.to_vec());
        answer
    }

    fn is_same_file(&self, path: &AbsolutePath, other: &AbsolutePath) -> bool {
        let answer = self.inner.is_same_file(path, other);
        if answer {
            self.facts.borrow_mut().same_files.push((path.clone(), other.clone()));
        }
        answer
    }

    fn allows(&self, path: &AbsolutePath, right: Right) -> bool {
        let answer = self.inner.allows(path, right);
        if !answer {
            self.facts.borrow_mut().denied.push((path.clone(), right));
        }
        answer
    }

    fn variable(&self, name: &str) -> Option<String> {
        let answer = self.inner.variable(name);
        self.facts.borrow_mut().variables.insert(name.to_owned(), answer.clone());
        answer
    }

    fn variable_names(&self) -> Vec<String> {
        let answer = self.inner.variable_names();
        self.facts.borrow_mut().variable_names.clone_from(&answer);
        answer
    }

    fn confiner(&self) -> Option<AbsolutePath> {
        let answer = self.inner.confiner();
        self.facts.borrow_mut().confiner.clone_from(&answer);
        answer
    }

    fn masker(&self) -> Option<AbsolutePath> {
        let answer = self.inner.masker();
        self.facts.borrow_mut().masker.clone_from(&answer);
        answer
    }

    fn tool_output(&self) -> ToolOutput {
        let answer = self.inner.tool_output();
        self.facts.borrow_mut().tool_output = answer;
        answer
    }

    fn typing(&self) -> Typing {
        let answer = self.inner.typing();
        self.facts.borrow_mut().typing = answer;
        answer
    }

    fn guarded_start(&self, program: &str, directory: &AbsolutePath) -> GuardedStart {
        let answer = self.inner.guarded_start(program, directory);
        let fact = (program.to_owned(), directory.clone(), answer);
        self.facts.borrow_mut().guarded_starts.push(fact);
        answer
    }

    fn run_by_client(&self) -> Vec<RunByClient> {
        let answer = self.inner.run_by_client();
        self.facts.borrow_mut().run_by_client.clone_from(&answer);
        answer
    }

    fn owned_remotes(&self) -> Vec<String> {
        let answer = self.inner.owned_remotes();
        self.facts.borrow_mut().owned_remotes.clone_from(&answer);
        answer
    }
}
