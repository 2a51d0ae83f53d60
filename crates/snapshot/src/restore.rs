//! Bringing back what was saved.
//!
//! Everything that can run out of space happens first: contents are written aside, each next to where it goes. Only when all of them
//! stand are names changed, each by one rename. A journal lists what is under way, so that a restore that was interrupted is finished by
//! the next one. No directory on the way is a link, or the step fails.

mod deeds;
mod names;
mod put_back;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::capture::CaptureOptions;
use crate::databases;
use crate::error::SnapshotError;
use crate::id::{ObjectId, SnapshotId};
use crate::lending::Lent;
use crate::lookup::stat;
use crate::metadata;
use crate::node::{Circumstances, LinkGroup, Meta, Node, SavedPath, SessionPlace, SnapshotReason};
use crate::pack::decode;
use crate::plan::{
    ActionEndTime, Behind, Found, OtherNames, Preparation, Prepared, RestoreAction, Step, group,
};
use crate::store::{Hold, Reader, Store};

use deeds::{Forcing, Place, Staged};
use names::{Anchors, Names};
pub(crate) use put_back::PutBack;

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

/// What finishing a restore did that had been interrupted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finished {
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
    /// How each of the paths was found.
    found: Vec<Found>,
}

/// The form of versions that did not write down how the paths were found.
#[derive(Deserialize)]
struct InterruptedEarlier {
    of: SnapshotId,
    saved_as: SnapshotId,
    paths: Vec<SavedPath>,
    aside: Vec<SavedPath>,
}

impl Interrupted {
    fn decode(bytes: &[u8], path: &Path) -> Result<Self, SnapshotError> {
        decode(bytes, path).or_else(|_| {
            let InterruptedEarlier { of, saved_as, paths, aside } = decode(bytes, path)?;
            Ok(Self { of, saved_as, paths, aside, found: Vec::new() })
        })
    }

    /// Whether somebody else has changed the place of a step since: it is neither as it was when the restore began nor as it was to be.
    fn is_changed_since(&self, step: &Step) -> bool {
        let at = self.paths.iter().position(|path| *path == step.path);
        let is_as_found = at.and_then(|at| self.found.get(at)) == Some(&step.found);
        // A file of several names is written through, so that half of it may be there.
        let is_poured = matches!(&step.now, Some(Node::File { links: Some(_), .. }));
        step.found != Found::Missing && step.deed != RestoreAction::Adjust && !is_as_found && !is_poured
    }
}

/// What the journal is bound to where it is sealed.
const JOURNAL: &[u8] = b"journal";

/// The longest journal that is read (ours): it names every path of a restore.
const LONGEST_JOURNAL: u64 = 256 * 1024 * 1024;

impl Store {
    /// The restore that was interrupted; `None` when none was.
    pub fn interrupted(&self) -> Option<Interrupted> {
        let path = self.journal();
        let bytes = checkrein_files::read(&path, LONGEST_JOURNAL).ok()?;
        Interrupted::decode(&self.seals().open(bytes, JOURNAL).ok()?, &path).ok()
    }

    /// Finishes a restore that was interrupted: what is not done yet is done, but for what somebody changed since.
    pub fn finish(
        &self,
        begun: &Interrupted,
        manner: &CaptureOptions<'_>,
        request: Request,
    ) -> Result<Finished, SnapshotError> {
        for path in &begun.aside {
            // What was renamed into its place is not there any more.
            drop(fs::remove_file(path.as_path()));
        }
        let mut finished = Finished::default();
        let paths: Vec<PathBuf> = begun.paths.iter().map(|path| path.as_path().to_owned()).collect();
        if let Preparation::Ready(mut prepared) =
            self.prepare(begun.of, &paths, manner, ActionEndTime::None)?
        {
            let wanted: BTreeSet<&SavedPath> = begun.paths.iter().collect();
            prepared.retain(|step| wanted.contains(&step.path));
            prepared.retain(|step| {
                let is_changed = begun.is_changed_since(step);
                if is_changed {
                    let why = "it was changed since the restore was interrupted".to_owned();
                    finished.left.push((step.path.clone(), why));
                }
                !is_changed
            });
            if let Some(restored) = prepared.carry_out(request)? {
                finished.done = restored.done;
                finished.left.extend(restored.left);
            }
        }
        self.mark_carried_out(begun.saved_as, PutBack::new())?;
        self.forget_journal()?;
        Ok(finished)
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
    /// A step that cannot be done is left, and said; the others are done all the same.
    pub fn carry_out(mut self, request: Request) -> Result<Option<Restored>, SnapshotError> {
        if self.steps().is_empty() {
            return Ok(None);
        }
        let barred = self.take_barred();
        let store = self.draft.store().clone();
        let changed = self.steps().iter().filter(|step| step.deed != RestoreAction::Adjust);
        let was_database = |step: &&Step| match (&step.then, &step.now) {
            (Some(Node::File { content, .. }), Some(_)) => {
                self.draft.content(content).is_ok_and(|content| databases::is_database(&content))
            }
            (Some(_) | None, _) => false,
        };
        let known = changed.clone().filter(was_database).map(|step| step.path.as_path());
        if let Some((path, by)) = databases::in_use(changed.map(|step| step.path.as_path()), known) {
            return Err(SnapshotError::InUse { path, by });
        }
        self.look_around()?;
        let _held = store.lock(Hold::Shared)?;
        let steps = self.steps().to_vec();
        let dressing = self.dressing()?;
        let Self { draft, of, captured, then, above, extent, behind, heirs, .. } = self;
        let circumstances = Circumstances {
            at: request.at,
            occasion: SnapshotReason::BeforeRestore { of, extent },
            reason: request.reason,
            place: request.place,
        };
        let saved_as = draft.commit(&captured.described(circumstances))?;
        let reader = store.reader()?;
        let names = Names { reader: &reader, steps: &steps, then: &then, behind: &behind };
        let mut work = Work::new(&names, above, heirs)?;
        let journal = Interrupted {
            of,
            saved_as,
            paths: steps.iter().map(|step| step.path.clone()).collect(),
            aside: work.asides.values().cloned().collect(),
            found: steps.iter().map(|step| step.found).collect(),
        };
        let in_the_way = |way: &Path| format!("`{}` stands in the way, and stays", way.display());
        work.left.extend(barred.into_iter().map(|(step, way)| (step.path, in_the_way(&way))));
        let path = store.journal();
        store.seals().write(&path, &journal, JOURNAL)?;
        if let Err(error) = work.stage() {
            work.give_up();
            store.forget_journal()?;
            return Err(error);
        }
        let done = work.apply(&dressing);
        work.settle_names(&store, &behind);
        store.mark_carried_out(saved_as, put_back::of_steps(&steps, &work.left))?;
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
    let mut lent = Lent::default();
    let mut forcing = Forcing::of(usize::MAX);
    while let Some((path, node)) = waiting.pop() {
        copied.entries += 1;
        let place = Place::of(&path, &mut lent)?;
        match node {
            Node::File { meta, content, .. } => {
                deeds::stage_file(&place, reader, &content, &meta, &mut forcing, &mut copied.left)?;
            }
            Node::Symlink { meta, target } => drop(deeds::stage_link(&place, &target, &meta)?),
            Node::Pipe { meta } => drop(deeds::stage_pipe(&place, &meta, &mut copied.left)?),
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
        deeds::dress_directory(&Place::of(&path, &mut lent)?, &meta, &mut copied.left);
    }
    forcing.finish()
}

/// A restore that is under way.
struct Work<'a> {
    reader: &'a Reader,
    steps: &'a [Step],
    anchors: Anchors,
    /// What earlier restores made of files that are written through, and is written with them.
    heirs: BTreeMap<LinkGroup, PathBuf>,
    /// Where things are written aside, by where they go.
    asides: BTreeMap<SavedPath, SavedPath>,
    /// What directories above the places were like, for those that have to be made again.
    above: BTreeMap<SavedPath, Meta>,
    staged: BTreeMap<SavedPath, Staged>,
    /// What is not as it was of what is written aside, by where it goes: it counts when it stands there.
    noted: BTreeMap<SavedPath, Vec<String>>,
    made: Vec<PathBuf>,
    lent: Lent,
    left: Vec<(SavedPath, String)>,
}

impl<'a> Work<'a> {
    fn new(
        names: &Names<'a>,
        above: Vec<(SavedPath, Meta)>,
        heirs: BTreeMap<LinkGroup, PathBuf>,
    ) -> Result<Self, SnapshotError> {
        let mut lent = Lent::default();
        Ok(Self {
            reader: names.reader,
            steps: names.steps,
            anchors: names::anchors(names)?,
            asides: asides(names.steps, &mut lent),
            above: above.into_iter().collect(),
            heirs,
            staged: BTreeMap::new(),
            noted: BTreeMap::new(),
            made: Vec::new(),
            lent,
            left: Vec::new(),
        })
    }

    /// Writes everything aside. Nothing that anybody sees changes but directories that are missing.
    fn stage(&mut self) -> Result<(), SnapshotError> {
        let is_written = |step: &&Step| matches!(step.deed, RestoreAction::Create | RestoreAction::Replace);
        let mut forcing = Forcing::of(self.steps.iter().filter(is_written).count());
        for step in self.steps {
            let path = step.path.as_path();
            if Found::of(self.lent.stat(path).ok().as_ref()) != step.found {
                return Err(SnapshotError::Moved(path.to_owned()));
            }
            let is_linked = self.anchors.further.contains_key(&step.path);
            let (true, false, Some(aside)) = (is_written(&step), is_linked, self.asides.get(&step.path))
            else {
                continue;
            };
            let mut noted = Vec::new();
            let staged = match &step.then {
                Some(Node::File { meta, content, .. }) => {
                    let place = Place::changeable(aside, &mut self.lent)?;
                    deeds::stage_file(&place, self.reader, content, meta, &mut forcing, &mut noted)?
                }
                Some(Node::Symlink { meta, target }) => {
                    deeds::stage_link(&Place::changeable(aside, &mut self.lent)?, target, meta)?
                }
                Some(Node::Pipe { meta }) => {
                    deeds::stage_pipe(&Place::changeable(aside, &mut self.lent)?, meta, &mut noted)?
                }
                Some(Node::Directory { .. }) | None => continue,
            };
            self.staged.insert(step.path.clone(), staged);
            self.noted.insert(step.path.clone(), noted.into_iter().map(|(_, why)| why).collect());
        }
        forcing.finish()
    }

    /// Takes back what was staged.
    fn give_up(&mut self) {
        for staged in self.staged.values() {
            staged.remove(&mut self.lent);
        }
        self.lent.give_back();
    }

    /// Changes names, so that what was staged stands where it belongs.
    fn apply(&mut self, touched: &[(SavedPath, Meta)]) -> usize {
        let mut done = 0;
        // What lies deepest goes first, so that directories are empty when it is their turn.
        for step in self.steps.iter().rev().filter(|step| step.deed == RestoreAction::Remove) {
            match deeds::remove(&step.path, step.now.as_ref(), &mut self.lent) {
                Ok(()) => done += 1,
                Err(error) => self.left.push((step.path.clone(), error.to_string())),
            }
        }
        // Further names of a file come last: that file has to stand as it was.
        let (further, first): (Vec<&Step>, Vec<&Step>) = self
            .steps
            .iter()
            .filter(|step| step.deed != RestoreAction::Remove)
            .partition(|step| self.anchors.further.contains_key(&step.path));
        for step in first.into_iter().chain(further) {
            match self.one(step) {
                Ok(()) => done += 1,
                Err(error) => {
                    // One place that cannot be changed must not keep all others as they are.
                    self.left.push((step.path.clone(), error.to_string()));
                    if let Some(aside) = self.asides.get(&step.path) {
                        drop(fs::remove_file(aside.as_path()));
                    }
                }
            }
        }
        self.directories(touched);
        done
    }

    fn one(&mut self, step: &Step) -> Result<(), SnapshotError> {
        let Some(then) = &step.then else { return Ok(()) };
        if step.deed == RestoreAction::Adjust {
            let place = Place::of(&step.path, &mut self.lent)?;
            deeds::dress(&place, then, &mut self.left);
            return Ok(());
        }
        self.make_above(step)?;
        let is_directory = |node: &Node| matches!(node, Node::Directory { .. });
        if step.now.as_ref().is_some_and(is_directory) && !is_directory(then) {
            // What was in it is gone by now; if not, it was to be kept, and this cannot be done.
            deeds::remove(&step.path, step.now.as_ref(), &mut self.lent)?;
        }
        if is_directory(then) {
            if step.now.is_some() {
                deeds::remove(&step.path, step.now.as_ref(), &mut self.lent)?;
            }
            return deeds::make_directory(&Place::changeable(&step.path, &mut self.lent)?);
        }
        let place = Place::changeable(&step.path, &mut self.lent)?;
        let aside = self.asides.get(&step.path);
        if let (Some(anchor), Some(aside)) = (self.anchors.further.get(&step.path), aside) {
            return deeds::link(anchor, aside, &place, &mut self.lent);
        }
        if let (Some(outside), Some(aside)) = (self.anchors.outside.get(&step.path), aside.cloned())
            && let (Some(name), fate) = (outside.path.clone(), outside.fate)
            && fate.is_joined()
        {
            return self.join((&SavedPath::from(name), fate), &aside, then, &place);
        }
        let Some(staged) = self.staged.remove(&step.path) else { return Ok(()) };
        match (then, &step.now) {
            // Written through one of its names: the others, wherever they are, want the old content back too.
            (
                Node::File { content, meta, links: Some(links), .. },
                Some(Node::File { links: Some(now), .. }),
            ) if links == now => {
                staged.remove(&mut self.lent);
                if let Some(heir) = self.heirs.remove(links) {
                    let heir = Place::of(&SavedPath::from(heir), &mut self.lent)?;
                    deeds::pour(&heir, self.reader, content, meta, &mut self.left)?;
                }
                deeds::pour(&place, self.reader, content, meta, &mut self.left)
            }
            _ => {
                staged.put(&place, &mut self.lent)?;
                let noted = self.noted.remove(&step.path).unwrap_or_default();
                self.left.extend(noted.into_iter().map(|why| (step.path.clone(), why)));
                Ok(())
            }
        }
    }

    /// Makes a place a name of the file again that it was a name of, once that file holds what it held. Where that cannot be done, it
    /// becomes a file of its own, which is said.
    fn join(
        &mut self,
        (outside, fate): (&SavedPath, OtherNames),
        aside: &SavedPath,
        then: &Node,
        place: &Place,
    ) -> Result<(), SnapshotError> {
        let Node::File { content, meta, .. } = then else { return Ok(()) };
        // There was room for it: this is where it stood.
        if let Some(staged) = self.staged.remove(&SavedPath::from(place.path())) {
            staged.remove(&mut self.lent);
        }
        let poured = if fate.is_written() {
            let kept = (fate == OtherNames::WrittenClosed).then(|| stat(outside.as_path()).ok()).flatten();
            let meta = kept
                .map_or_else(|| meta.clone(), |found| Meta { mode: found.st_mode & 0o7777, ..meta.clone() });
            Place::of(outside, &mut self.lent)
                .and_then(|file| deeds::pour(&file, self.reader, content, &meta, &mut self.left))
        } else {
            Ok(())
        };
        let joined = poured.and_then(|()| deeds::link(outside, aside, place, &mut self.lent));
        if let Err(error) = joined {
            let why = format!("it could not become one file with its other names: {error}");
            self.left.push((SavedPath::from(place.path()), why));
            let mut forcing = Forcing::of(1);
            let beside = Place::changeable(aside, &mut self.lent)?;
            let mut noted = Vec::new();
            let staged = deeds::stage_file(&beside, self.reader, content, meta, &mut forcing, &mut noted)?;
            let at = |(_, why): (SavedPath, String)| (SavedPath::from(place.path()), why);
            self.left.extend(noted.into_iter().map(at));
            forcing.finish()?;
            return staged.put(place, &mut self.lent);
        }
        if fate == OtherNames::Joined {
            deeds::dress(place, then, &mut self.left);
        }
        Ok(())
    }

    /// Says what of files of several names is not as it was, and gives those that became files of their own a name in the store, so that
    /// going further back finds them: they stand for the file that they were.
    fn settle_names(&mut self, store: &Store, behind: &BTreeMap<LinkGroup, Behind>) {
        let mut settled = BTreeSet::new();
        for step in self.steps.iter().filter(|step| self.anchors.lost.contains(&step.path)) {
            let Some(of) = group(step.then.as_ref()).filter(|of| settled.insert(*of)) else { continue };
            let fate = behind.get(&of).map(|behind| behind.fate);
            let split = behind.get(&of).and_then(|behind| behind.split.as_ref()).map(|split| split.fate);
            let left = [fate, split].into_iter().flatten().filter_map(OtherNames::left);
            self.left.extend(left.map(|left| (step.path.clone(), left)));
            if fate.is_none_or(|fate| !fate.is_joined()) {
                store.name_heir(of, step.path.as_path());
            } else if let Some(name) = behind.get(&of).and_then(|behind| behind.path.as_deref()) {
                store.heir_is_settled(of, name);
            }
        }
    }

    /// Makes the directories above a place that no step makes: it is about something in a directory that is gone.
    fn make_above(&mut self, step: &Step) -> Result<(), SnapshotError> {
        let missing: Vec<PathBuf> = step
            .path
            .as_path()
            .ancestors()
            .skip(1)
            .take_while(|above| self.lent.stat(above).err() == Some(Errno::NOENT))
            .map(PathBuf::from)
            .collect();
        for path in missing.into_iter().rev() {
            deeds::make_directory(&Place::changeable(&SavedPath::from(path.as_path()), &mut self.lent)?)?;
            self.made.push(path);
        }
        Ok(())
    }

    /// Gives directories what belongs to them, deepest first: what is put into them changes their times, and one that is closed again
    /// lets nobody further down.
    fn directories(&mut self, touched: &[(SavedPath, Meta)]) {
        let made = self.made.iter().filter_map(|path| {
            let path = SavedPath::from(path.as_path());
            let meta = self.above.get(&path)?.clone();
            Some((path, meta))
        });
        // Two paths are compared name by name, two texts at once.
        let mut all: BTreeMap<SavedPath, Option<Meta>> =
            self.lent.paths().map(|path| (SavedPath::from(path), None)).collect();
        all.extend(made.chain(touched.iter().cloned()).map(|(path, meta)| (path, Some(meta))));
        for (path, meta) in all.iter().rev() {
            let Some(meta) = meta else {
                self.lent.give_back_one(path.as_path());
                continue;
            };
            let Ok(place) = Place::of(path, &mut self.lent) else { continue };
            if place.is_directory() {
                self.lent.forget(path.as_path());
                deeds::dress_directory(&place, meta, &mut self.left);
            }
        }
    }
}

/// Where each thing that is put back is written aside: in the nearest directory above its place that stands.
fn asides(steps: &[Step], lent: &mut Lent) -> BTreeMap<SavedPath, SavedPath> {
    // Two paths are compared name by name, two texts at once.
    let mut known: HashMap<&OsStr, &Path> = HashMap::new();
    let mut asides = BTreeMap::new();
    for step in
        steps.iter().filter(|step| matches!(step.deed, RestoreAction::Create | RestoreAction::Replace))
    {
        let Some(parent) = step.path.as_path().parent() else { continue };
        let is_standing = |directory: &Path, lent: &mut Lent| {
            lent.stat(directory).is_ok_and(|found| metadata::kind(&found) == FileType::Directory)
        };
        let mut passed = Vec::new();
        let mut directory = parent;
        let standing = loop {
            if let Some(standing) = known.get(directory.as_os_str()) {
                break *standing;
            }
            passed.push(directory);
            match directory.parent() {
                Some(above) if !is_standing(directory, lent) => directory = above,
                _ => break directory,
            }
        };
        known.extend(passed.into_iter().map(|directory: &Path| (directory.as_os_str(), standing)));
        let digits = ObjectId::of(step.path.as_path().as_os_str().as_encoded_bytes()).digits(12);
        let aside = SavedPath::from(standing.join(format!(".checkrein-restore-{digits}")));
        asides.insert(step.path.clone(), aside);
    }
    asides
}
