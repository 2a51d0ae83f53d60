//! The file tree as the command has changed it so far, on top of the world.

mod links;
mod made;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use crate::path::AbsolutePath;
use crate::world::{Branches, Entry, FileFacts, FileText, Listing, Timestamp, World};

use super::git_store::{Commitment, FetchSource, Untracked};
use super::index_changes::{Happened, IndexChange, IndexChanges};
use super::moves::Moves;
use super::perhaps::{Perhaps, Way};
use super::prediction::{ANNOUNCED, AnnouncedContent, LOGGED, LoggedMessage};
use super::value::Value;
use super::weight::ENTRY;
use links::add_links;
use made::Made;
use told::Told;

/// Changes to the file tree. Nothing is written anywhere: later parts of a command see what earlier parts did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overlay {
    /// By the text of the path, so that what lies below a directory stands together.
    made: BTreeMap<String, Made>,
    /// Whether something ran of which it is not known what it changed.
    disturbed: bool,
    /// Where version control does not track files any more that it tracked before, by the text of the path: those at and below it.
    untracked: BTreeMap<String, Untracked>,
    /// What names of revisions mean since this command moved them, said as it would have been before; `None` when that is not known.
    moved: BTreeMap<String, Option<String>>,
    /// What came into repositories, by the text of the path of their own directories.
    fetched: BTreeMap<String, Vec<FetchSource>>,
    /// Directories of which it is not known what lies in them: something filled them that is not read.
    filled: BTreeSet<String>,
    /// What changed about which files are tracked.
    index: IndexChanges,
    /// What version control writes into its logs, with the repository's own directory.
    logged: Vec<(AbsolutePath, LoggedMessage)>,
    /// What files are to hold to the letter, which what is known of their text says in a shorter way; by the text of the path.
    told: BTreeMap<String, Told>,
    /// Where references are made to point, in the words of the command.
    pointed: Vec<(AbsolutePath, AnnouncedContent)>,
    /// What modes files are given, in the words of `chmod`.
    modes: Vec<(AbsolutePath, String)>,
    /// How many places at most one link may lead to of which it is not known whether it is there.
    perhaps_links: usize,
    /// Links of which it is not known for sure where they lead, with what is known of that; by the text of the path.
    leading: BTreeMap<String, Value>,
    /// What was moved, and where it stood before.
    moves: Moves,
}

/// How many files of revisions are read to tell what a command leaves (ours).
const READ_FROM_REVISIONS: usize = 16;

/// The size that is told of a file whose text was not looked at, in bytes.
const SOME_BYTES: u64 = 1;

impl Overlay {
    /// What stands at a path; symbolic links are not followed in the last part.
    pub(crate) fn entry(&self, world: &dyn World, path: &AbsolutePath) -> Entry {
        match self.made.get(path.as_str()) {
            Some(Made::Gone) => Entry::Missing,
            Some(Made::File(value)) => Entry::File(FileFacts {
                bytes: value.as_exact().map_or(SOME_BYTES, |text| text.len() as u64),
                mode: 0o644,
                modified: Timestamp(world.now().0),
            }),
            Some(Made::Checkout(_)) => {
                Entry::File(FileFacts { bytes: SOME_BYTES, mode: 0o644, modified: Timestamp(world.now().0) })
            }
            Some(Made::Directory { .. }) => Entry::Directory,
            Some(Made::Link(text)) => Entry::Symlink(text.clone()),
            Some(Made::Doubtful(_)) => Entry::Unknown,
            None if self.is_hidden(path) => Entry::Missing,
            Some(Made::Rewritten(_)) | None => world.entry(path),
        }
    }

    /// The names in a directory.
    pub(crate) fn children(&self, world: &dyn World, directory: &AbsolutePath) -> Listing {
        if self.is_filled(directory) {
            return Listing::Unknown;
        }
        let covered = matches!(self.made.get(directory.as_str()), Some(Made::Directory { fresh: true }))
            || self.is_hidden(directory);
        let mut names: BTreeSet<String> = if covered {
            BTreeSet::new()
        } else {
            match (self.made.get(directory.as_str()), world.children(directory)) {
                (
                    Some(
                        Made::Gone
                        | Made::File(_)
                        | Made::Checkout(_)
                        | Made::Rewritten(_)
                        | Made::Link(_)
                        | Made::Doubtful(_),
                    ),
                    _,
                )
                | (_, Listing::Unknown) => {
                    return Listing::Unknown;
                }
                (_, Listing::Names(names)) => names.into_iter().collect(),
            }
        };
        let start = below(directory);
        for (path, made) in self.made.range(start.clone()..) {
            let Some(name) = path.strip_prefix(start.as_str()) else { break };
            if name.is_empty() || name.contains('/') {
                continue;
            }
            match made {
                Made::Gone => {
                    names.remove(name);
                }
                Made::File(_)
                | Made::Checkout(_)
                | Made::Rewritten(_)
                | Made::Directory { .. }
                | Made::Link(_) => {
                    names.insert(name.to_owned());
                }
                Made::Doubtful(_) => return Listing::Unknown,
            }
        }
        if names.len() > Listing::LIMIT {
            Listing::Unknown
        } else {
            Listing::Names(names.into_iter().collect())
        }
    }

    /// The directories and symbolic links in a directory.
    pub(crate) fn branches(&self, world: &dyn World, directory: &AbsolutePath) -> Option<Branches> {
        let is_fresh = matches!(self.made.get(directory.as_str()), Some(Made::Directory { fresh: true }));
        let mut branches = if is_fresh || self.is_hidden(directory) {
            Branches::default()
        } else {
            world.branches(directory)?
        };
        let start = below(directory);
        for (path, made) in self.made.range(start.clone()..) {
            let Some(name) = path.strip_prefix(start.as_str()) else { break };
            if name.is_empty() || name.contains('/') {
                continue;
            }
            branches.directories.retain(|known| known != name);
            branches.links.retain(|known| known != name);
            match made {
                Made::Directory { .. } => branches.directories.push(name.to_owned()),
                Made::Link(_) => branches.links.push(name.to_owned()),
                Made::Gone | Made::File(_) | Made::Checkout(_) | Made::Rewritten(_) | Made::Doubtful(_) => {}
            }
        }
        Some(branches)
    }

    /// The text of a file: what the command wrote into it, else what the world says.
    pub(crate) fn text(&self, world: &dyn World, path: &AbsolutePath) -> Value {
        self.held(world, path, |path| world.text(path))
    }

    /// The same of a file that is run as code: of a longer one what it begins with.
    pub(crate) fn code(&self, world: &dyn World, path: &AbsolutePath) -> Value {
        self.held(world, path, |path| world.code(path))
    }

    fn held(
        &self,
        world: &dyn World,
        path: &AbsolutePath,
        ask: impl FnOnce(&AbsolutePath) -> FileText,
    ) -> Value {
        let found = match self.made.get(path.as_str()) {
            Some(Made::File(value)) => return value.clone(),
            // That it may be as before is one of the ways to take what was written anew.
            Some(Made::Checkout(from) | Made::Rewritten(from)) => return committed(world, from),
            Some(Made::Doubtful(perhaps)) => {
                let shows_through = perhaps.is_as_before && !self.is_hidden(path);
                return perhaps.text(
                    |from| committed(world, from),
                    || if shows_through { known(ask(path)) } else { Value::Unknown },
                );
            }
            Some(Made::Gone | Made::Directory { .. } | Made::Link(_)) => FileText::Unknown,
            None if self.is_hidden(path) => FileText::Unknown,
            None => ask(path),
        };
        known(found)
    }

    /// Remembers a file with what is known of its text.
    pub(crate) fn file(&mut self, path: &AbsolutePath, text: Value) {
        self.forget_below(path);
        self.made.insert(path.as_str().to_owned(), Made::File(text));
    }

    /// Remembers a file that version control wrote.
    pub(crate) fn checkout(&mut self, path: &AbsolutePath, from: Commitment) {
        self.forget_below(path);
        self.made.insert(path.as_str().to_owned(), Made::Checkout(from));
    }

    /// Remembers a new directory; its missing parents are made with it.
    pub(crate) fn directory(&mut self, world: &dyn World, path: &AbsolutePath) {
        // What hides a directory hides all between it and itself: it is looked for once, however many are missing.
        let hiding = self.hiding(path);
        let mut next = Some(path.clone());
        while let Some(directory) = next {
            let is_below =
                hiding.as_ref().is_some_and(|place| directory.is_within(place) && directory != *place);
            let entry = match self.made.get(directory.as_str()) {
                None if is_below => Entry::Missing,
                None if hiding.is_none() => world.entry(&directory),
                Some(_) | None => self.entry(world, &directory),
            };
            match entry {
                Entry::Directory => break,
                Entry::Missing => {
                    self.made.insert(directory.as_str().to_owned(), Made::Directory { fresh: true });
                }
                Entry::Unknown | Entry::File(_) | Entry::Symlink(_) | Entry::Special => {
                    self.made.insert(directory.as_str().to_owned(), Made::Directory { fresh: false });
                }
            }
            next = directory.parent();
        }
    }

    /// Remembers a symbolic link.
    pub(crate) fn link(&mut self, path: &AbsolutePath, text: &str) {
        self.forget_below(path);
        self.made.insert(path.as_str().to_owned(), Made::Link(text.to_owned()));
    }

    /// Remembers that a path and everything below it is gone.
    pub(crate) fn gone(&mut self, path: &AbsolutePath) {
        self.forget_below(path);
        self.made.insert(path.as_str().to_owned(), Made::Gone);
    }

    /// Remembers that it is not known any more what stands at a path.
    pub(crate) fn doubtful(&mut self, path: &AbsolutePath) {
        self.forget_below(path);
        self.made.insert(path.as_str().to_owned(), Made::Doubtful(Perhaps::default()));
    }

    /// Remembers that a path may be gone with everything below it, or be as it was.
    pub(crate) fn perhaps_gone(&mut self, path: &AbsolutePath) {
        self.perhaps(path, Perhaps::default());
    }

    /// Remembers that a file may stand at a path, with what is known of its text, or what was there.
    pub(crate) fn perhaps_file(&mut self, path: &AbsolutePath, text: Value) {
        self.perhaps(path, Perhaps::file(text));
    }

    /// Remembers that version control may have written a file, or what was there stays.
    pub(crate) fn perhaps_checkout(&mut self, world: &dyn World, path: &AbsolutePath, from: Commitment) {
        let is_of_world = !self.made.contains_key(path.as_str()) && !self.is_hidden(path);
        if is_of_world && matches!(world.entry(path), Entry::File(_)) {
            self.made.insert(path.as_str().to_owned(), Made::Rewritten(from));
        } else {
            self.perhaps(path, Perhaps::committed(from));
        }
    }

    /// Remembers that a symbolic link may stand at a path, or what was there.
    pub(crate) fn perhaps_link(&mut self, path: &AbsolutePath, text: &str) {
        self.perhaps(path, Perhaps::link(text));
    }

    fn perhaps(&mut self, path: &AbsolutePath, other: Perhaps) {
        let before = Made::perhaps(self.made.get(path.as_str()));
        self.forget_below(path);
        self.insert_doubtful(path.as_str(), before.join(other));
    }

    fn insert_doubtful(&mut self, path: &str, perhaps: Perhaps) {
        self.perhaps_links = self.perhaps_links.max(perhaps.links.len());
        self.made.insert(path.to_owned(), Made::Doubtful(perhaps));
    }

    /// How many ways there are to take links of which it is not known whether they are there.
    pub(crate) fn ways_of_links(&self) -> usize {
        self.perhaps_links
    }

    /// Where a symbolic link leads that may stand at a path, in one of these ways.
    pub(crate) fn link_in_way(&self, path: &AbsolutePath, way: usize) -> Option<&str> {
        let Some(Made::Doubtful(perhaps)) = self.made.get(path.as_str()) else { return None };
        let links = perhaps.links.len();
        perhaps.links.get(way.checked_rem(links)?).map(String::as_str)
    }

    /// Whether this command made the path, or something above it, from nothing.
    pub(crate) fn is_new(&self, path: &AbsolutePath) -> bool {
        let mut next = Some(path.clone());
        while let Some(place) = next {
            match self.made.get(place.as_str()) {
                Some(Made::File(_) | Made::Checkout(_) | Made::Rewritten(_) | Made::Link(_)) => {
                    return &place == path;
                }
                Some(Made::Directory { fresh }) => return *fresh,
                Some(Made::Gone | Made::Doubtful(_)) => return false,
                None => {}
            }
            next = place.parent();
        }
        false
    }

    /// How many bytes it takes, by what grows with a command.
    pub(crate) fn weight(&self) -> usize {
        let of = |made: &Made| match made {
            Made::File(text) => text.weight(),
            Made::Link(text) => text.len(),
            Made::Doubtful(perhaps) => perhaps.weight(),
            Made::Checkout(_) | Made::Rewritten(_) => ENTRY,
            Made::Gone | Made::Directory { .. } => 0,
        };
        let told: usize = self.told.iter().map(|(path, told)| ENTRY + path.len() + told.weight()).sum();
        let links: usize = self.leading.iter().map(|(path, text)| ENTRY + path.len() + text.weight()).sum();
        let other = self.untracked.len() + self.moved.len() + self.fetched.len() + self.filled.len();
        let made: usize = self.made.iter().map(|(path, made)| ENTRY + path.len() + of(made)).sum();
        made + told + links + other * ENTRY
    }

    /// What this command moved.
    pub(crate) fn moves(&self) -> &Moves {
        &self.moves
    }

    /// The same, to take up more.
    pub(crate) fn moves_mut(&mut self) -> &mut Moves {
        &mut self.moves
    }

    /// Whether this command made or removed something at or below a directory.
    pub(crate) fn changes_below(&self, directory: &AbsolutePath) -> bool {
        let start = below(directory);
        self.made.contains_key(directory.as_str())
            || self.made.range(start.clone()..).next().is_some_and(|(path, _)| path.starts_with(&start))
    }

    /// Whether this command wrote the file itself.
    pub(crate) fn is_written(&self, path: &AbsolutePath) -> bool {
        matches!(self.made.get(path.as_str()), Some(Made::File(_) | Made::Checkout(_)))
    }

    /// Whether this command may have written a file there of which it is not known what it holds.
    pub(crate) fn is_perhaps_written_unread(&self, path: &AbsolutePath) -> bool {
        matches!(self.made.get(path.as_str()), Some(Made::Doubtful(perhaps)) if perhaps.is_unread())
    }

    /// Whether this command may have made or removed what stands at the path, and may not have.
    pub(crate) fn is_doubtful(&self, path: &AbsolutePath) -> bool {
        matches!(self.made.get(path.as_str()), Some(Made::Doubtful(_)))
    }

    /// Whether what stands at the path may be one or another text or link, or may not be there.
    pub(super) fn is_open(&self, path: &AbsolutePath) -> bool {
        self.made.get(path.as_str()).is_some_and(|made| !made.ways().is_empty())
    }

    /// How many ways there are to take such files and links.
    pub(super) fn ways_of_files(&self) -> usize {
        self.made.values().map(|made| made.ways().len()).max().unwrap_or(0)
    }

    /// The tree where each of them is taken in one of its ways.
    pub(super) fn in_way(&self, way: usize) -> Self {
        let mut tree = self.clone();
        for (path, made) in &self.made {
            let mut ways = made.ways();
            let Some(chosen) = way.checked_rem(ways.len()) else { continue };
            match ways.swap_remove(chosen) {
                Way::Holds(text) => drop(tree.made.insert(path.clone(), Made::File(Value::Exact(text)))),
                Way::Committed(from) => drop(tree.made.insert(path.clone(), Made::Checkout(from))),
                Way::Leads(place) => drop(tree.made.insert(path.clone(), Made::Link(place))),
                Way::AsBefore => drop(tree.made.remove(path)),
            }
        }
        tree
    }

    /// What the command leaves where that is known exactly, or what it may leave where ways part.
    pub(crate) fn announced(&self, world: &dyn World) -> Vec<(AbsolutePath, AnnouncedContent)> {
        // What a revision holds has to be read for that.
        let mut left_to_read = READ_FROM_REVISIONS;
        let known = self.made.iter().flat_map(|(path, made)| {
            let left = match made {
                Made::File(text) => text.as_exact().map(AnnouncedContent::text).into_iter().collect(),
                Made::Link(target) => vec![AnnouncedContent::Link(target.clone())],
                Made::Checkout(from) => {
                    let text = left_to_read.checked_sub(1).map(|rest| {
                        left_to_read = rest;
                        world.committed_text(&from.repository, &from.revision, &from.file)
                    });
                    match text {
                        Some(FileText::Whole(text)) => vec![AnnouncedContent::Text(text)],
                        Some(FileText::Beginning(_) | FileText::Unknown) | None => Vec::new(),
                    }
                }
                Made::Doubtful(perhaps) => {
                    perhaps.ways().into_iter().filter_map(AnnouncedContent::in_way).collect()
                }
                Made::Gone | Made::Rewritten(_) | Made::Directory { .. } => Vec::new(),
            };
            let path = AbsolutePath::new(path);
            path.into_iter()
                .flat_map(move |path| left.clone().into_iter().map(move |left| (path.clone(), left)))
        });
        let is_told = |path: &AbsolutePath| self.told.contains_key(path.as_str());
        let known: Vec<_> = known.filter(|(path, _)| !is_told(path)).take(ANNOUNCED).collect();
        let told = self.told.iter().filter_map(|(path, told)| Some((AbsolutePath::new(path)?, told)));
        let told = told.flat_map(|(path, told)| {
            told.perhaps.iter().map(move |text| (path.clone(), AnnouncedContent::text(text)))
        });
        let modes =
            self.modes.iter().map(|(path, mode)| (path.clone(), AnnouncedContent::Mode(mode.clone())));
        known.into_iter().chain(told).chain(modes).chain(self.pointed.clone()).collect()
    }

    /// Whether it was this command that made or removed what stands at the path.
    pub(crate) fn is_known(&self, path: &AbsolutePath) -> bool {
        self.made.contains_key(path.as_str()) || self.is_hidden(path)
    }

    /// Remembers that something ran of which it is not known what it changed.
    pub(crate) fn disturb(&mut self) {
        self.disturbed = true;
    }

    /// Whether something ran of which it is not known what it changed, so that "missing" may be out of date.
    pub(crate) fn is_disturbed(&self) -> bool {
        self.disturbed
    }

    /// Remembers that version control does not track these files any more, though they stand where they stood.
    pub fn untrack(&mut self, path: &AbsolutePath, which: Untracked) {
        let known = self.untracked.entry(path.as_str().to_owned()).or_insert(which);
        *known = which.max(*known);
    }

    /// Remembers what changed about which files are tracked.
    pub(crate) fn change_index(&mut self, change: IndexChange, happened: Happened) {
        self.index.add(change, happened);
    }

    /// What changed so far about which files are tracked.
    pub(crate) fn index_changes(&self) -> &IndexChanges {
        &self.index
    }

    /// Remembers what a name of a revision means from now on, said as it would have been before the command; `None` when that is not known.
    pub fn move_revision(&mut self, name: &str, meaning: Option<String>) {
        self.moved.insert(name.to_owned(), meaning);
    }

    /// What a name of a revision means since this command moved it; the outer `None` when it did not.
    #[expect(clippy::option_option, reason = "moved, and to what where that is known")]
    pub(crate) fn moved_revision(&self, name: &str) -> Option<Option<&str>> {
        self.moved.get(name).map(Option::as_deref)
    }

    /// Remembers what version control writes into its logs when a reference of a repository moves.
    pub fn log(&mut self, repository: &AbsolutePath, message: LoggedMessage) {
        if self.logged.len() < LOGGED {
            self.logged.push((repository.clone(), message));
        }
    }

    /// Remembers what a file is to hold to the letter.
    pub fn announce(&mut self, path: &AbsolutePath, text: String) {
        if self.told.values().map(|told| told.perhaps.len()).sum::<usize>() >= ANNOUNCED {
            self.told.entry(path.as_str().to_owned()).or_default().now = None;
            return;
        }
        let told = self.told.entry(path.as_str().to_owned()).or_default();
        if !told.perhaps.contains(&text) {
            told.perhaps.push(text.clone());
        }
        told.now = Some(text);
    }

    /// What a file is to hold to the letter, where that was remembered; unknown where ways parted since.
    pub(crate) fn told(&self, path: &AbsolutePath) -> Option<Value> {
        let told = self.told.get(path.as_str())?;
        Some(told.now.as_deref().map_or(Value::Unknown, Value::exact))
    }

    /// Remembers that a reference is made to point to what a name of a revision of a repository means before the command.
    pub fn point(&mut self, path: &AbsolutePath, repository: &AbsolutePath, revision: String) {
        if self.pointed.len() < ANNOUNCED {
            let to = AnnouncedContent::Commit { repository: repository.clone(), revision };
            self.pointed.push((path.clone(), to));
        }
    }

    /// Remembers what mode a file is given, in the words of `chmod`.
    pub fn change_mode(&mut self, path: &AbsolutePath, mode: &str) {
        if self.modes.len() < ANNOUNCED {
            self.modes.push((path.clone(), mode.to_owned()));
        }
    }

    /// What mode the command gave a file last, in the words of `chmod`.
    pub(crate) fn mode_given(&self, path: &AbsolutePath) -> Option<&str> {
        self.modes.iter().rev().find(|(changed, _)| changed == path).map(|(_, mode)| mode.as_str())
    }

    /// Whether version control writes something into the logs of a repository.
    pub fn has_logged(&self, repository: &AbsolutePath) -> bool {
        self.logged.iter().any(|(directory, _)| directory == repository)
    }

    /// What version control writes into its logs.
    pub(crate) fn logged(&self) -> Vec<(AbsolutePath, LoggedMessage)> {
        self.logged.clone()
    }

    /// Remembers that something filled a directory of which nobody knows what it brought.
    pub fn fill(&mut self, directory: &AbsolutePath) {
        self.filled.insert(directory.as_str().to_owned());
    }

    /// Whether a directory lies in one that was filled so.
    pub(crate) fn is_filled(&self, directory: &AbsolutePath) -> bool {
        let around =
            |place: &String| AbsolutePath::new(place).is_some_and(|place| directory.is_within(&place));
        self.filled.iter().any(around)
    }

    /// Remembers that objects came into a repository.
    pub fn fetch(&mut self, repository: &AbsolutePath, from: FetchSource) {
        let known = self.fetched.entry(repository.as_str().to_owned()).or_default();
        if !known.contains(&from) {
            known.push(from);
        }
    }

    /// From where this command brought objects into a repository.
    pub(crate) fn fetched(&self, repository: &AbsolutePath) -> &[FetchSource] {
        self.fetched.get(repository.as_str()).map_or(&[], Vec::as_slice)
    }

    /// Remembers that version control tracks what stands at and below a path.
    pub fn track(&mut self, path: &AbsolutePath) {
        self.untracked.retain(|place, _| AbsolutePath::new(place).is_none_or(|place| !place.is_within(path)));
    }

    /// Which files at a path are not tracked any more; `None` when this command changed nothing about that.
    pub(crate) fn untracked(&self, path: &AbsolutePath) -> Option<Untracked> {
        let around = |place: &String| AbsolutePath::new(place).is_some_and(|place| path.is_within(&place));
        self.untracked.iter().filter(|(place, _)| around(place)).map(|(_, which)| *which).max()
    }

    /// Whether some files at or below a path are not tracked any more.
    pub(crate) fn untracks_below(&self, path: &AbsolutePath) -> bool {
        let below = |place: &String| AbsolutePath::new(place).is_some_and(|place| place.is_within(path));
        self.untracked(path).is_some() || self.untracked.keys().any(below)
    }

    /// The tree after one of two ways.
    #[must_use]
    pub(crate) fn join(self, other: &Self) -> Self {
        let mut perhaps_links = self.perhaps_links.max(other.perhaps_links);
        let mut made = self.made;
        let mut paths: BTreeSet<String> = made.keys().cloned().collect();
        paths.extend(other.made.keys().cloned());
        for path in paths {
            let joined = match (made.get(&path), other.made.get(&path)) {
                (Some(left), Some(right)) if left == right => continue,
                (Some(Made::File(left)), Some(Made::File(right))) => Made::File(left.join(right)),
                (Some(Made::Directory { fresh: left }), Some(Made::Directory { fresh: right })) => {
                    Made::Directory { fresh: *left && *right }
                }
                (left, right) => {
                    let perhaps = Made::perhaps(left).join(Made::perhaps(right));
                    perhaps_links = perhaps_links.max(perhaps.links.len());
                    Made::Doubtful(perhaps)
                }
            };
            made.insert(path, joined);
        }
        let mut untracked = self.untracked;
        for (path, which) in &other.untracked {
            let known = untracked.entry(path.clone()).or_insert(*which);
            *known = (*which).max(*known);
        }
        let mut moved = self.moved;
        let names: BTreeSet<String> = moved.keys().chain(other.moved.keys()).cloned().collect();
        for name in names {
            if moved.get(&name) != other.moved.get(&name) {
                moved.insert(name, None);
            }
        }
        let mut fetched = self.fetched;
        for (repository, sources) in &other.fetched {
            let known = fetched.entry(repository.clone()).or_default();
            known.extend(sources.iter().filter(|one| !known.contains(one)).cloned().collect::<Vec<_>>());
        }
        let mut filled = self.filled;
        filled.extend(other.filled.iter().cloned());
        let index = self.index.join(&other.index);
        // Both ways begin with what was written before them.
        let shared = self.logged.iter().zip(&other.logged).take_while(|(left, right)| left == right).count();
        let mut logged = self.logged;
        logged.extend(other.logged.iter().skip(shared).cloned());
        logged.truncate(LOGGED);
        let disturbed = self.disturbed || other.disturbed;
        // What one of two ways leaves may be there.
        let mut told = self.told;
        let only_other = other.told.keys().filter(|path| !told.contains_key(*path)).cloned();
        for path in only_other.collect::<Vec<_>>() {
            told.insert(path, Told::default());
        }
        for (path, known) in &mut told {
            *known = std::mem::take(known).join(other.told.get(path));
        }
        let mut pointed = self.pointed;
        pointed
            .extend(other.pointed.iter().filter(|one| !pointed.contains(one)).cloned().collect::<Vec<_>>());
        let mut modes = self.modes;
        modes.retain(|one| other.modes.contains(one));
        let stood = self.moves.join(&other.moves);
        let mut leading = self.leading;
        add_links(&mut leading, &other.leading);
        Self {
            made,
            disturbed,
            untracked,
            moved,
            fetched,
            filled,
            index,
            logged,
            told,
            pointed,
            modes,
            perhaps_links,
            leading,
            moves: stood,
        }
    }

    /// Adds the files and links that another way, which is not expected, made or filled.
    pub(crate) fn allow_for(&mut self, world: &dyn World, other: &Self) {
        self.moves.allow_for(&other.moves);
        add_links(&mut self.leading, &other.leading);
        for (path, made) in &other.made {
            let (Made::File(_) | Made::Link(_), Some(place)) = (made, AbsolutePath::new(path)) else {
                continue;
            };
            let own = self.made.get(path);
            if own == Some(made) {
                continue;
            }
            let joined = match (own, made) {
                (Some(Made::File(text)), Made::File(other)) => Made::File(text.clone().join(other)),
                (_, Made::File(other)) if self.entry(world, &place) == Entry::Missing => {
                    Made::File(Value::exact("").join(other))
                }
                (own, other) => {
                    let perhaps = Made::perhaps(own).join(Made::perhaps(Some(other)));
                    self.insert_doubtful(path, perhaps);
                    continue;
                }
            };
            self.made.insert(path.clone(), joined);
        }
    }

    /// Adds what a program made of files of which one way was taken, where it is not known here what it made.
    pub(crate) fn allow_for_way(&mut self, begun: &Self, ended: &Self) {
        add_links(&mut self.leading, &ended.leading);
        for (path, made) in &ended.made {
            let is_open = match self.made.get(path) {
                Some(Made::File(text)) => {
                    text.alternatives().is_none() && matches!(made, Made::File(_) | Made::Doubtful(_))
                }
                Some(Made::Doubtful(_) | Made::Rewritten(_)) | None => true,
                Some(Made::Gone | Made::Checkout(_) | Made::Directory { .. } | Made::Link(_)) => false,
            };
            if is_open && begun.made.get(path) != Some(made) {
                let own = match self.made.get(path) {
                    // That text is the one which is not known there.
                    Some(Made::File(_)) => Perhaps::default(),
                    own => Made::perhaps(own),
                };
                self.insert_doubtful(path, own.join(Made::perhaps(Some(made))));
            }
        }
    }

    /// Whether something above the path is gone or new, so that nothing of the world shows through.
    pub(crate) fn is_hidden(&self, path: &AbsolutePath) -> bool {
        self.hiding(path).is_some()
    }

    /// What hides the world at a path: the nearest place above it that is gone or new; `None` where the world shows through.
    fn hiding(&self, path: &AbsolutePath) -> Option<AbsolutePath> {
        if self.made.is_empty() {
            return None;
        }
        let mut next = path.parent();
        while let Some(place) = next {
            match self.made.get(place.as_str()) {
                Some(
                    Made::Gone
                    | Made::File(_)
                    | Made::Checkout(_)
                    | Made::Rewritten(_)
                    | Made::Directory { fresh: true },
                ) => {
                    return Some(place);
                }
                Some(Made::Directory { fresh: false } | Made::Link(_) | Made::Doubtful(_)) => return None,
                None => {}
            }
            next = place.parent();
        }
        None
    }

    fn forget_below(&mut self, path: &AbsolutePath) {
        let start = below(path);
        let gone: Vec<String> = self
            .made
            .range(start.clone()..)
            .map(|(known, _)| known)
            .take_while(|known| known.starts_with(&start))
            .cloned()
            .collect();
        for known in gone {
            self.made.remove(&known);
        }
    }
}

/// What a revision holds of a file.
fn committed(world: &dyn World, from: &Commitment) -> Value {
    known(world.committed_text(&from.repository, &from.revision, &from.file))
}

fn known(text: FileText) -> Value {
    match text {
        FileText::Whole(text) => Value::Exact(text),
        FileText::Beginning(prefix) => Value::Between { prefix, suffix: String::new() },
        FileText::Unknown => Value::Unknown,
    }
}

/// What the text of everything below a directory begins with.
fn below(directory: &AbsolutePath) -> String {
    format!("{}/", directory.as_str().trim_end_matches('/'))
}
