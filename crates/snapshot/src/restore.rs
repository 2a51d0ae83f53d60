//! Bringing back what was saved.
//!
//! Everything that can run out of space happens first: contents are written aside, each next to where it goes. Only when all of them
//! stand are names changed, each by one rename. A journal lists what is under way, so that a restore that was interrupted is finished by
//! the next one. No directory on the way is a link, or the step fails.

mod deeds;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::capture::Manner;
use crate::difference::link_groups;
use crate::error::SnapshotError;
use crate::id::SnapshotId;
use crate::index::replace;
use crate::node::{Circumstances, LinkGroup, Meta, Node, Occasion, Root, SavedPath, SessionPlace};
use crate::pack::{decode, encode};
use crate::plan::{Deed, Found, Preparation, Prepared, Step};
use crate::store::{Hold, Reader, Store, create_directory};

use deeds::{Place, Staged, Writable};

/// Who restores, for the snapshot of the present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Milliseconds since 1970.
    pub at: u64,
    /// In words.
    pub reason: String,
    /// Where in its session.
    pub place: Option<SessionPlace>,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The snapshot of what was there before.
    pub saved_as: SnapshotId,
    /// How many steps were done.
    pub done: usize,
    /// What is not as it was: where, and why.
    pub left: Vec<(SavedPath, String)>,
}

/// A restore that was begun and not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interrupted {
    /// The snapshot that was gone back to.
    pub of: SnapshotId,
    /// The snapshot of what was there before.
    pub saved_as: SnapshotId,
    /// What was to be put back.
    paths: Vec<SavedPath>,
    /// What was written aside.
    aside: Vec<SavedPath>,
}

impl Store {
    /// The restore that was interrupted; `None` when none was.
    pub fn interrupted(&self) -> Option<Interrupted> {
        let path = self.journal();
        fs::read(&path).ok().and_then(|bytes| decode(&bytes, &path).ok())
    }

    /// Finishes a restore that was interrupted: what is not done yet is done.
    pub fn finish(
        &self,
        begun: &Interrupted,
        manner: &Manner<'_>,
        request: Request,
    ) -> Result<usize, SnapshotError> {
        for path in &begun.aside {
            // What was renamed into its place is not there any more.
            drop(fs::remove_file(path.as_path()));
        }
        let mut done = 0;
        let paths: Vec<PathBuf> = begun.paths.iter().map(|path| path.as_path().to_owned()).collect();
        if let Preparation::Ready(mut prepared) = self.prepare(begun.of, &paths, manner, None)? {
            let wanted: BTreeSet<&SavedPath> = begun.paths.iter().collect();
            prepared.retain(|step| wanted.contains(&step.path));
            done = prepared.carry_out(request)?.map_or(0, |restored| restored.done);
        }
        self.mark_carried_out(begun.saved_as)?;
        self.forget_journal()?;
        Ok(done)
    }

    /// Whether the restore before which a snapshot was taken was done to its end.
    pub fn is_carried_out(&self, saved_as: SnapshotId) -> bool {
        self.directory().join("restored").join(saved_as.to_string()).exists()
    }

    fn mark_carried_out(&self, saved_as: SnapshotId) -> Result<(), SnapshotError> {
        let folder = self.directory().join("restored");
        create_directory(&folder)?;
        replace(&folder.join(saved_as.to_string()), b"")
    }

    fn journal(&self) -> PathBuf {
        self.directory().join("restore")
    }

    fn forget_journal(&self) -> Result<(), SnapshotError> {
        let path = self.journal();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(SnapshotError::Write { path, source: error })
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Prepared {
    /// Does what was planned. The present is a snapshot of its own before anything changes; `None` when there is nothing to do.
    pub fn carry_out(self, request: Request) -> Result<Option<Restored>, SnapshotError> {
        if self.steps().is_empty() {
            return Ok(None);
        }
        let store = self.draft.store().clone();
        let _held = store.lock(Hold::Shared)?;
        let steps = self.steps().to_vec();
        let Self { draft, of, captured, then, above, touched, extent, .. } = self;
        let circumstances = Circumstances {
            at: request.at,
            occasion: Occasion::BeforeRestore { of, extent },
            reason: request.reason,
            place: request.place,
        };
        let saved_as = draft.commit(&captured.described(circumstances))?;
        let reader = store.reader()?;
        let mut work = Work::new(&reader, &steps, &then, above)?;
        let aside =
            steps.iter().filter(|step| step.deed != Deed::Remove).map(|step| deeds::aside(&step.path));
        let journal = Interrupted {
            of,
            saved_as,
            paths: steps.iter().map(|step| step.path.clone()).collect(),
            aside: aside.collect(),
        };
        let path = store.journal();
        replace(&path, &encode(&journal, &path)?)?;
        if let Err(error) = work.stage() {
            work.give_up();
            store.forget_journal()?;
            return Err(error);
        }
        let done = work.apply(&touched)?;
        store.mark_carried_out(saved_as)?;
        store.forget_journal()?;
        Ok(Some(Restored { saved_as, done, left: work.left }))
    }
}

/// What was copied elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Copied {
    /// How many files, links and directories.
    pub entries: usize,
    /// What is not as it was: where, and why.
    pub left: Vec<(SavedPath, String)>,
}

/// Copies a node to a place where nothing is.
pub(crate) fn copy(
    reader: &Reader,
    path: &SavedPath,
    node: &Node,
    copied: &mut Copied,
) -> Result<(), SnapshotError> {
    let mut waiting = vec![(path.clone(), node.clone())];
    let mut directories = Vec::new();
    while let Some((path, node)) = waiting.pop() {
        copied.entries += 1;
        let place = Place::of(&path)?;
        match node {
            Node::File { meta, content, .. } => {
                drop(deeds::stage_file(place, reader, &content, &meta, &mut copied.left)?);
            }
            Node::Symlink { meta, target } => drop(deeds::stage_link(place, &target, &meta)?),
            Node::Directory { meta, tree } => {
                deeds::make_directory(&place)?;
                let entries = tree.map(|tree| reader.tree(&tree)).transpose()?.unwrap_or_default();
                for entry in entries.0 {
                    let below = path.as_path().join(OsStr::from_bytes(&entry.name));
                    waiting.push((SavedPath::from(below), entry.node));
                }
                directories.push((path, meta));
            }
        }
    }
    for (path, meta) in directories.into_iter().rev() {
        deeds::dress_directory(&Place::of(&path)?, &meta, &mut copied.left);
    }
    Ok(())
}

/// A restore that is under way.
struct Work<'a> {
    reader: &'a Reader,
    steps: &'a [Step],
    /// Files that were one file, by group; only groups of which something is put back.
    groups: BTreeMap<LinkGroup, Vec<SavedPath>>,
    /// What directories above the places were like, for those that have to be made again.
    above: BTreeMap<SavedPath, Meta>,
    staged: BTreeMap<SavedPath, Staged>,
    made: Vec<PathBuf>,
    writable: Writable,
    left: Vec<(SavedPath, String)>,
}

impl<'a> Work<'a> {
    fn new(
        reader: &'a Reader,
        steps: &'a [Step],
        then: &[Root],
        above: Vec<(SavedPath, Meta)>,
    ) -> Result<Self, SnapshotError> {
        let linked = steps.iter().any(|step| group_of(step.then.as_ref()).is_some());
        let groups = if linked { link_groups(reader, then)? } else { BTreeMap::new() };
        Ok(Self {
            reader,
            steps,
            groups,
            above: above.into_iter().collect(),
            staged: BTreeMap::new(),
            made: Vec::new(),
            writable: Writable::default(),
            left: Vec::new(),
        })
    }

    /// Writes everything aside. Nothing that anybody sees changes but directories that are missing.
    fn stage(&mut self) -> Result<(), SnapshotError> {
        for step in self.steps {
            if Found::at(step.path.as_path()) != step.found {
                return Err(SnapshotError::Moved(step.path.as_path().to_owned()));
            }
            if !matches!(step.deed, Deed::Create | Deed::Replace) {
                continue;
            }
            let staged = match &step.then {
                Some(Node::File { meta, content, .. }) if self.anchor(step).is_none() => {
                    let place = Place::for_staging(&step.path, &mut self.writable)?;
                    deeds::stage_file(place, self.reader, content, meta, &mut self.left)?
                }
                Some(Node::Symlink { meta, target }) => {
                    let place = Place::for_staging(&step.path, &mut self.writable)?;
                    deeds::stage_link(place, target, meta)?
                }
                Some(Node::File { .. } | Node::Directory { .. }) | None => continue,
            };
            self.staged.insert(step.path.clone(), staged);
        }
        deeds::force(&self.staged)
    }

    /// Takes back what was staged.
    fn give_up(&mut self) {
        for staged in self.staged.values() {
            staged.remove();
        }
        self.writable.reset();
    }

    /// Changes names, so that what was staged stands where it belongs.
    fn apply(&mut self, touched: &[(SavedPath, Meta)]) -> Result<usize, SnapshotError> {
        let mut done = 0;
        // What lies deepest goes first, so that directories are empty when it is their turn.
        for step in self.steps.iter().rev().filter(|step| step.deed == Deed::Remove) {
            match deeds::remove(&step.path, step.now.as_ref(), &mut self.writable) {
                Ok(()) => done += 1,
                Err(error) => self.left.push((step.path.clone(), error.to_string())),
            }
        }
        for step in self.steps.iter().filter(|step| step.deed != Deed::Remove) {
            self.one(step)?;
            done += 1;
        }
        self.directories(touched);
        self.writable.reset();
        Ok(done)
    }

    fn one(&mut self, step: &Step) -> Result<(), SnapshotError> {
        let Some(then) = &step.then else { return Ok(()) };
        if step.deed == Deed::Adjust {
            let place = Place::of(&step.path)?;
            deeds::dress(&place, then, &mut self.left);
            return Ok(());
        }
        self.make_above(step)?;
        let is_directory = |node: &Node| matches!(node, Node::Directory { .. });
        if step.now.as_ref().is_some_and(is_directory) && !is_directory(then) {
            // What was in it is gone by now; if not, it was to be kept, and this cannot be done.
            deeds::remove(&step.path, step.now.as_ref(), &mut self.writable)?;
        }
        if is_directory(then) {
            if step.now.is_some() {
                deeds::remove(&step.path, step.now.as_ref(), &mut self.writable)?;
            }
            let place = Place::of(&step.path)?;
            self.writable.allow(&place);
            return deeds::make_directory(&place);
        }
        let place = Place::of(&step.path)?;
        self.writable.allow(&place);
        if let Some(anchor) = self.anchor(step) {
            return deeds::link(&anchor, &place);
        }
        let Some(staged) = self.staged.remove(&step.path) else { return Ok(()) };
        match (then, &step.now) {
            // Written through one of its names: the others, wherever they are, want the old content back too.
            (
                Node::File { content, meta, links: Some(links), .. },
                Some(Node::File { links: Some(now), .. }),
            ) if links == now => {
                staged.remove();
                deeds::pour(&place, self.reader, content, meta, &mut self.left)
            }
            _ => staged.put(&place),
        }
    }

    /// The name to which a file has to be linked; `None` when it is to be written itself.
    fn anchor(&self, step: &Step) -> Option<SavedPath> {
        let names = self.groups.get(&group_of(step.then.as_ref())?)?;
        let is_step = |path: &SavedPath| {
            self.steps
                .iter()
                .any(|other| other.path == *path && matches!(other.deed, Deed::Create | Deed::Replace))
        };
        // One that stands as it was, else the first.
        let anchor = names.iter().find(|name| !is_step(name)).or(names.first())?;
        (*anchor != step.path).then(|| anchor.clone())
    }

    /// Makes the directories above a place that no step makes: it is about something in a directory that is gone.
    fn make_above(&mut self, step: &Step) -> Result<(), SnapshotError> {
        let missing: Vec<PathBuf> = step
            .path
            .as_path()
            .ancestors()
            .skip(1)
            .take_while(|above| Found::at(above) == Found::Missing)
            .map(PathBuf::from)
            .collect();
        for path in missing.into_iter().rev() {
            let place = Place::of(&SavedPath::from(path.as_path()))?;
            deeds::make_directory(&place)?;
            self.made.push(path);
        }
        Ok(())
    }

    /// Gives directories what belongs to them, deepest first: what is put into them changes their times.
    fn directories(&mut self, touched: &[(SavedPath, Meta)]) {
        let made: Vec<(SavedPath, Meta)> = self
            .made
            .iter()
            .filter_map(|path| {
                let path = SavedPath::from(path.as_path());
                let meta = self.above.get(&path)?.clone();
                Some((path, meta))
            })
            .collect();
        for (path, meta) in made.iter().chain(touched).rev() {
            let Ok(place) = Place::of(path) else { continue };
            if !place.is_directory() {
                continue;
            }
            self.writable.forget(path);
            deeds::dress_directory(&place, meta, &mut self.left);
        }
    }
}

fn group_of(node: Option<&Node>) -> Option<LinkGroup> {
    match node {
        Some(Node::File { links, .. }) => *links,
        Some(Node::Symlink { .. } | Node::Directory { .. }) | None => None,
    }
}
