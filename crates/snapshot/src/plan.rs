//! What a restore would do.

mod around;
mod barred;
mod behind;
mod brought_back;
mod elsewhere;
mod judge;
mod logged;
mod objects;
mod others;
mod past;
mod put_back;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use crate::capture::{
    CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Captured, LimitExceeded,
    capture_lending,
};
use crate::databases::{is_database, log_of, logs};
use crate::diff::{Difference, NodeLookup, differences, link_groups};
use crate::draft::{Effort, SnapshotDraft};
use crate::error::SnapshotError;
use crate::footprint::{Announced, identity, is_git_index};
use crate::git_index::{self, InIndex};
use crate::id::SnapshotId;
use crate::lookup::stat;
use crate::metadata;
use crate::node::{
    Content, FileTime, LinkGroup, Meta, Node, RestoreExtent, Root, SavedPart, SavedPath, Skipped,
};
use crate::restore::PutBack;
use crate::store::Store;
use crate::system::Stat;
use crate::way::Ways;

pub use behind::OtherNames;
pub(crate) use behind::{Behind, group};
pub use elsewhere::{ActionSources, VersionControlPart};
use elsewhere::{Standing, Substance};
pub use judge::is_saved_elsewhere;
use judge::{Judge, Left, is_same_file, step};
pub use others::{OtherAction, OtherBegan};
pub(crate) use past::Past;
pub use put_back::Gone;

/// A restore that waits to be carried out. The present is captured already; dropped, this leaves nothing behind.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) draft: SnapshotDraft,
    pub(crate) of: SnapshotId,
    pub(crate) captured: Captured,
    pub(crate) then: Vec<Root>,
    pub(crate) above: Vec<(SavedPath, Meta)>,
    pub(crate) touched: Vec<(SavedPath, Meta)>,
    pub(crate) extent: RestoreExtent,
    steps: Vec<Step>,
    /// What is known of the action that is taken back.
    pub(crate) past: Past,
    /// What becomes of files that have lost names.
    pub(crate) behind: BTreeMap<LinkGroup, Behind>,
    /// What earlier restores made of files that are written through a name that is put back.
    pub(crate) heirs: BTreeMap<LinkGroup, PathBuf>,
    /// What stands as it was, and is not one file any more with the names that it had elsewhere.
    apart: Vec<Step>,
    /// What the restore made before which the snapshot was taken, if one was.
    put_back: PutBack,
    /// Whether other names were looked for where the store has none.
    has_looked: bool,
    /// Everything that the snapshot holds as the content of a file or the target of a link.
    substances: OnceCell<HashSet<Substance>>,
    /// What the sources of the action hold packed, where that was looked for.
    unpacked: OnceCell<brought_back::Unpacked>,
    /// What steps put back, where that was looked for.
    goes_back: OnceCell<HashSet<Substance>>,
    /// The files that stand in the workspace, or at the sources of the action where these are known, by their lengths.
    standing: OnceCell<Standing>,
    /// From where the action may have taken what it wrote, where that is known.
    sources: Option<ActionSources>,
    /// What other sessions changed since.
    others: others::Others,
}

/// One thing that a restore does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Where.
    pub path: SavedPath,
    /// What.
    pub deed: RestoreAction,
    /// What stood there.
    pub then: Option<Node>,
    /// What stands there now.
    pub now: Option<Node>,
    /// Whether somebody changed it after the action that is taken back.
    pub since: Since,
    /// Where it comes from, when nothing stood there.
    pub origin: NewFileOrigin,
    /// Whether it is known what the action left there, and it is something else: then no restore is behind that.
    pub(crate) is_known_other: bool,
    /// How it was found, so that a change in between is noticed.
    pub(crate) found: Found,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreAction {
    /// Makes what is not there any more.
    Create,
    /// Puts back content, target or sort.
    Replace,
    /// Puts back mode, owner, times or attributes.
    Adjust,
    /// Removes what was not there.
    Remove,
}

impl RestoreAction {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Adjust => "adjust",
            Self::Remove => "remove",
        }
    }
}

/// Whether something was changed after a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// It was not, or there is nothing.
    Untouched,
    /// It was.
    Changed,
    /// It was, and when somebody looked right after the action, that had left it as it was: all of the difference is somebody else's work.
    Later,
    /// By the action or by somebody else: nobody was told when the action ended.
    Doubtful,
    /// No moment is known to compare with.
    Unknown,
}

impl Since {
    /// Whether somebody changed it.
    pub fn is_changed(self) -> bool {
        match self {
            Self::Changed | Self::Later => true,
            Self::Untouched | Self::Doubtful | Self::Unknown => false,
        }
    }
}

/// Where something comes from that stood nowhere before the action that is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewFileOrigin {
    /// It was made while the action ran, and nothing else did.
    Made,
    /// It came there while the action ran, and nothing else did, but is older: it was moved.
    Came,
    /// That is not known, or something stood there.
    Unknown,
}

/// When an action ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionPeriod {
    /// When it began at the earliest; `None` when that is not known, or something else ran meanwhile that may have made what is new.
    pub began: Option<FileTime>,
    /// When it had ended.
    pub ended: FileTime,
}

/// When the action ended that is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionEndTime {
    /// It is not about an action.
    None,
    /// What changed later than this is changed since, whoever did it.
    At(FileTime),
    /// The action of the snapshot ran then, by the ledger. What it left behind counts more, where somebody looked.
    Ended(ActionPeriod),
    /// Nobody was told; by then at the latest, if that is known.
    Open(Option<FileTime>),
    /// Nobody was told, but its session went on by itself then, so it had ended. What was found at that moment counts, where somebody looked;
    /// else it is as if nobody had been told.
    Followed(FileTime),
}

/// How a path was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Found {
    Missing,
    /// A directory by its number: its time changes with what is in it.
    Directory(u64),
    /// Number and time of status change.
    Standing(u64, FileTime),
}

impl Found {
    pub(crate) fn of(found: Option<&Stat>) -> Self {
        match found {
            None => Self::Missing,
            Some(found) if metadata::kind(found) == FileType::Directory => Self::Directory(found.st_ino),
            Some(found) => Self::Standing(found.st_ino, metadata::changed(found)),
        }
    }
}

/// How preparing a restore ended.
#[derive(Debug)]
pub enum Preparation {
    /// It can be carried out.
    Ready(Box<Prepared>),
    /// The present is too large to be saved within the bounds.
    Over(LimitExceeded),
}

impl Store {
    /// Finds out what it takes to bring `paths` back to what they were in a snapshot, all of it when no paths are given, and captures
    /// the present for that. `moment` is when the action ended that is taken back: what changed later was not changed by it.
    pub fn prepare(
        &self,
        of: SnapshotId,
        paths: &[PathBuf],
        manner: &CaptureOptions<'_>,
        moment: ActionEndTime,
    ) -> Result<Preparation, SnapshotError> {
        let listed = self.snapshot(of)?;
        let draft = self.begin(Effort::Small)?;
        let mut then = narrowed(&draft, &listed.snapshot.roots, paths)?;
        then.extend(new_logs(&draft, &then));
        let wanted: Vec<CaptureRequest> = then.iter().map(wanted_now).collect();
        let mut captured = match capture_lending(&draft, &wanted, manner)? {
            CaptureOutcome::Whole(captured) => captured,
            CaptureOutcome::Over(over) => return Ok(Preparation::Over(over)),
        };
        let mut lent = vec![std::mem::take(&mut captured.lent)];
        let mut found = differences(&draft, &then, &captured.roots)?;
        let mut ways = Ways::default();
        let hidden: Vec<CaptureRequest> = found
            .all
            .iter()
            .filter(|one| one.now.is_none() && ways.stat(one.path.as_path()).is_ok())
            .map(|one| CaptureRequest {
                path: one.path.as_path().to_owned(),
                selection: CaptureSelection::Everything,
            })
            .collect();
        if !hidden.is_empty() {
            // What is ignored by now, or was skipped, stands in the way all the same and must not be lost.
            let more = match capture_lending(
                &draft,
                &hidden,
                &CaptureOptions { seen: None, largest: None, ..reborrow(manner) },
            )? {
                CaptureOutcome::Whole(more) => more,
                CaptureOutcome::Over(over) => return Ok(Preparation::Over(over)),
            };
            for root in &more.roots {
                if let Some(one) = found.all.iter_mut().find(|one| one.path == root.path) {
                    one.now.clone_from(&root.node);
                }
            }
            captured.changed.extend(more.changed);
            // Open until everything was looked at.
            lent.push(more.lent);
            captured.roots.extend(more.roots);
            captured.skipped.extend(more.skipped);
            captured.entries += more.entries;
            captured.bytes += more.bytes;
        }
        let mut apart = without_equal_links(&draft, &then, &captured.roots, &mut found.all)?;
        // Places may lie in each other.
        let mut known = BTreeSet::new();
        found.all.retain(|one| known.insert(one.path.clone()));
        apart.retain(|one| known.insert(one.path.clone()));
        let skipped = Left::of(&listed.snapshot.skipped, &then);
        let footprint = match moment {
            ActionEndTime::Ended(_) | ActionEndTime::Followed(_) => self.footprint(of),
            ActionEndTime::None | ActionEndTime::At(_) | ActionEndTime::Open(_) => None,
        };
        let moment = match moment {
            ActionEndTime::Followed(latest) if footprint.is_none() => ActionEndTime::Open(Some(latest)),
            moment => moment,
        };
        let saved = listed.snapshot.at_file_time();
        let past = Past {
            moment,
            saved,
            busy_until: footprint.as_ref().map_or(saved, |footprint| footprint.busy_until(saved)),
            footprint,
            naming: self.naming_times(),
            announced: match moment {
                ActionEndTime::Open(_) | ActionEndTime::Followed(_) => self.announced(of),
                ActionEndTime::None | ActionEndTime::At(_) | ActionEndTime::Ended(_) => Announced::default(),
            },
        };
        let heirs = behind::heirs(&draft, &past, found.all.iter());
        // Reading what is closed to its owner changes a time, so the steps note how they find things after that.
        let behind = behind::behind(&draft, &past, found.all.iter().chain(&apart));
        let judge = Judge {
            past: &past,
            then: &then,
            skipped: &skipped,
            draft: &draft,
            lookup: NodeLookup::new(&draft),
            changed: &captured.changed,
        };
        let mut step = |one| step(one, &mut ways, &judge);
        let steps = objects::keep_objects(found.all.into_iter().filter_map(&mut step).collect());
        let apart = apart.into_iter().filter_map(&mut step).collect();
        drop(lent);
        let above = listed.snapshot.above;
        let touched = found.touched;
        let extent = if paths.is_empty() { RestoreExtent::Whole } else { RestoreExtent::Part };
        Ok(Preparation::Ready(Box::new(Prepared {
            draft,
            of,
            captured,
            then,
            above,
            touched,
            extent,
            steps,
            past,
            behind,
            heirs,
            apart,
            put_back: self.put_back(of),
            has_looked: false,
            substances: OnceCell::new(),
            unpacked: OnceCell::new(),
            goes_back: OnceCell::new(),
            standing: OnceCell::new(),
            sources: None,
            others: others::Others::new(),
        })))
    }
}

impl Prepared {
    /// The snapshot that is gone back to.
    pub fn of(&self) -> SnapshotId {
        self.of
    }

    /// What would be done, a directory before what is in it.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether a step takes away what a restore made, and nobody has changed since: the snapshot is of the state before that restore.
    pub fn takes_back_restore(&self, step: &Step) -> bool {
        step.deed == RestoreAction::Remove
            && self.put_back.get(&step.path).is_some_and(|mark| mark.holds(step.path.as_path()))
    }

    /// Counts a later change as one that the action may have made, where nobody looked closely.
    pub fn distrust_look(&mut self, is_doubtful: impl Fn(&Step) -> bool) {
        for step in self.steps.iter_mut().filter(|step| step.since == Since::Later && is_doubtful(step)) {
            step.since = Since::Changed;
        }
    }

    /// Takes it that the action moved the references of which the logs of git tell so, where nobody was told when it ended.
    pub fn trust_logs(&mut self) {
        let moved = logged::moved(&self.draft, &self.steps, &self.past);
        for step in self.steps.iter_mut().filter(|step| moved.contains(&step.path)) {
            if step.since == Since::Doubtful {
                step.since = Since::Untouched;
            }
        }
    }

    /// Whether what stands there shows that the action ran: wherever it was to leave a text, a link or a mode that is known, and something
    /// is not as it was, just that stands; and all that is new in a log of git is what it was to write there.
    pub fn shows_its_words(&self) -> bool {
        let announced = &self.past.announced;
        let mut known = self.steps.iter().filter(|step| announced.names(&step.path)).peekable();
        let is_left = known.peek().is_some();
        let stands = known.all(|step| step.since == Since::Untouched && step.now.is_some());
        stands
            && match logged::shows(&self.draft, &self.steps, &self.past) {
                Some(is_logged) => is_logged,
                None => is_left,
            }
    }

    /// Counts what the action was to write as something that a user may have written, where they may have done themselves what they were asked
    /// about.
    pub fn distrust_words(&mut self) {
        let announced = &self.past.announced;
        let is_announced = |step: &&mut Step| step.since == Since::Untouched && announced.names(&step.path);
        self.steps.iter_mut().filter(is_announced).for_each(|step| step.since = Since::Doubtful);
    }

    /// Whether a step is about an index of git with the same entries as before: git writes it anew whenever somebody looks.
    pub fn has_same_entries(&self, step: &Step) -> bool {
        let path = step.path.as_path();
        let (Some(Node::File { content: then, .. }), Some(Node::File { content: now, .. })) =
            (&step.then, &step.now)
        else {
            return false;
        };
        let identity_of = |content| self.draft.content(content).ok().map(|bytes| identity(path, &bytes));
        is_git_index(path) && identity_of(then).is_some_and(|identity| identity_of(now) == Some(identity))
    }

    /// The paths below the root of a work tree at which its index does not hold what it held, with what it holds now; `None` when the step is
    /// not about an index that stands, or that cannot be read.
    pub fn changed_in_index(&self, step: &Step) -> Option<BTreeMap<PathBuf, InIndex>> {
        let path = step.path.as_path();
        let (Some(Node::File { content: then, .. }), Some(Node::File { content: now, .. })) =
            (&step.then, &step.now)
        else {
            return None;
        };
        let shared = |name: &str| std::fs::read(path.with_file_name(name)).ok();
        let (then, now) = (self.draft.content(then).ok()?, self.draft.content(now).ok()?);
        let changed = is_git_index(path).then(|| git_index::differences(&then, &now, shared))??;
        Some(changed.into_iter().map(|(name, held)| (OsString::from_vec(name).into(), held)).collect())
    }

    /// Whether a step removes what was written to a database that goes back, which would then be written into the old one.
    pub fn is_log_of_restored(&self, step: &Step) -> bool {
        let database = (step.deed == RestoreAction::Remove).then(|| log_of(step.path.as_path())).flatten();
        let goes_back = |other: &Step| database.as_deref() == Some(other.path.as_path());
        self.steps.iter().any(|other| other.deed != RestoreAction::Remove && goes_back(other))
    }

    /// The content of a file that was saved, or of one that stands now.
    pub fn content(&self, content: &Content) -> Result<Vec<u8>, SnapshotError> {
        self.draft.content(content)
    }

    /// What of the present cannot be saved.
    pub fn unsaved(&self) -> &[Skipped] {
        &self.captured.skipped
    }

    /// What directories get in which something is put back: of one that is left as it is, only the time.
    pub(crate) fn dressing(&self) -> Result<Vec<(SavedPath, Meta)>, SnapshotError> {
        let stepped: BTreeMap<&SavedPath, &Step> = self.steps.iter().map(|step| (&step.path, step)).collect();
        let lookup = NodeLookup::new(&self.draft);
        let mut dressing = Vec::new();
        for (path, meta) in &self.touched {
            if let Some(step) = stepped.get(path) {
                let meta = step.then.as_ref().map_or(meta, Node::meta);
                dressing.push((path.clone(), meta.clone()));
                continue;
            }
            let covers = |root: &&Root| path.as_path().starts_with(root.path.as_path());
            let around = self.captured.roots.iter().filter(covers);
            let innermost = around.max_by_key(|root| root.path.as_path().as_os_str().len());
            let now = innermost.map(|root| lookup.node_at(root, path)).transpose()?.flatten();
            let present = now.as_ref().map_or(meta, Node::meta);
            dressing.push((path.clone(), Meta { modified: meta.modified, ..present.clone() }));
        }
        Ok(dressing)
    }

    /// Gives up removing what a later action made: right before one of these snapshots it was not there.
    pub fn leave_made_later(&mut self, later: &[SnapshotId]) -> Result<(), SnapshotError> {
        for id in later {
            if !self.steps.iter().any(|step| step.deed == RestoreAction::Remove) {
                break;
            }
            let roots = self.draft.store().snapshot(*id)?.snapshot.roots;
            let is_absent = |root: &Root| root.selection == SavedPart::Everything && root.node.is_none();
            self.steps.retain(|step| {
                let covers = |root: &&Root| step.path.as_path().starts_with(root.path.as_path());
                step.deed != RestoreAction::Remove || !roots.iter().filter(covers).any(is_absent)
            });
        }
        Ok(())
    }

    /// Gives up the steps that are not wanted.
    pub fn retain(&mut self, wanted: impl FnMut(&Step) -> bool) {
        self.steps.retain(wanted);
    }
}

/// What stands beside databases by now and did not before: it belongs to what is there now.
fn new_logs(draft: &SnapshotDraft, then: &[Root]) -> Vec<Root> {
    let is_database = |root: &&Root| match &root.node {
        Some(Node::File { content, .. }) if logs(root.path.as_path()).iter().any(|log| log.exists()) => {
            draft.content(content).is_ok_and(|content| is_database(&content))
        }
        _ => false,
    };
    let is_known = |path: &Path| then.iter().any(|root| path.starts_with(root.path.as_path()));
    let found = then.iter().filter(is_database).flat_map(|root| logs(root.path.as_path()));
    found
        .filter(|log| log.exists() && !is_known(log))
        .map(|log| Root { path: SavedPath::from(log), selection: SavedPart::Everything, node: None })
        .collect()
}

/// Leaves out files that differ in nothing but the number of their group of links, where the same names still are one file, and returns
/// those of them that are another file by now.
fn without_equal_links(
    draft: &SnapshotDraft,
    then: &[Root],
    now: &[Root],
    found: &mut Vec<Difference>,
) -> Result<Vec<Difference>, SnapshotError> {
    let only_links = |one: &Difference| match (&one.then, &one.now) {
        (
            Some(Node::File { meta, length, content, links }),
            Some(Node::File { meta: m, length: l, content: c, links: k }),
        ) => (meta, length, content) == (m, l, c) && links != k,
        _ => false,
    };
    if !found.iter().any(only_links) {
        return Ok(Vec::new());
    }
    let (before, after) = (link_groups(draft, then)?, link_groups(draft, now)?);
    let names = |groups: &BTreeMap<LinkGroup, Vec<SavedPath>>, node: &Option<Node>| match node {
        Some(Node::File { links: Some(group), .. }) => groups.get(group).cloned().unwrap_or_default(),
        Some(
            Node::File { links: None, .. }
            | Node::Symlink { .. }
            | Node::Directory { .. }
            | Node::Pipe { .. },
        )
        | None => Vec::new(),
    };
    // One that is the same file as ever lost a name or won one; it is these that have to be put back.
    let mut apart = Vec::new();
    found.retain(|one| {
        if !only_links(one) {
            return true;
        }
        let is_same = is_same_file(one.then.as_ref(), stat(one.path.as_path()).ok().as_ref());
        let is_regrouped = names(&before, &one.then) != names(&after, &one.now);
        if !is_same && !is_regrouped && group(one.then.as_ref()).is_some() {
            apart.push(one.clone());
        }
        is_regrouped && !is_same
    });
    Ok(apart)
}

fn reborrow<'a>(manner: &CaptureOptions<'a>) -> CaptureOptions<'a> {
    CaptureOptions { ..*manner }
}

/// What of the present is captured for a place.
fn wanted_now(root: &Root) -> CaptureRequest {
    // What was not there, or was no directory, may go, so all of it is saved.
    let selection = match root.node {
        Some(Node::Directory { .. }) => root.selection.into(),
        Some(Node::File { .. } | Node::Symlink { .. } | Node::Pipe { .. }) | None => {
            CaptureSelection::Everything
        }
    };
    CaptureRequest { path: root.path.as_path().to_owned(), selection }
}

/// The places of a snapshot, or those parts of them that lie in `paths`.
fn narrowed(draft: &SnapshotDraft, roots: &[Root], paths: &[PathBuf]) -> Result<Vec<Root>, SnapshotError> {
    if paths.is_empty() {
        return Ok(roots.to_vec());
    }
    let lookup = NodeLookup::new(draft);
    let mut narrowed: Vec<Root> = Vec::new();
    for path in paths {
        for root in roots {
            let one = if root.path.as_path().starts_with(path) {
                root.clone()
            } else if path.starts_with(root.path.as_path()) {
                let path = SavedPath::from(path.as_path());
                let node = lookup.node_at(root, &path)?;
                Root { path, selection: root.selection, node }
            } else {
                continue;
            };
            if !narrowed.iter().any(|known| known.path == one.path) {
                narrowed.push(one);
            }
        }
    }
    Ok(narrowed)
}
