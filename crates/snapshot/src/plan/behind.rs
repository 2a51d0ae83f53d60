//! What becomes of a file of several names of which some went: the others, wherever they are, want back what it held.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::past::Past;
use super::{ActionEndTime, Found, Prepared, RestoreAction, Since, Step};
use crate::diff::Difference;
use crate::draft::SnapshotDraft;
use crate::error::SnapshotError;
use crate::footprint::content_identity;
use crate::id::ObjectId;
use crate::lookup::stat;
use crate::node::{Content, LinkGroup, Node, SavedPath};
use crate::second_names::{Likeness, likeness};
use crate::store::Reader;

/// What becomes of the other names of a file when a name is put back that it does not have any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherNames {
    /// They hold what was saved: it is one file with them again.
    Joined,
    /// The same, and as somebody changed their mode or times since, these stay.
    JoinedAsTheyAre,
    /// The same, and as somebody may have closed them since, their mode stays: nobody was told when the action ended.
    JoinedClosed,
    /// It is one file with them again, and they too get back what they held.
    Written,
    /// The same, and as somebody may have closed them since, their mode stays: nobody was told when the action ended.
    WrittenClosed,
    /// Somebody changed them since, and they stay: it becomes a file of its own.
    Changed,
    /// The same, and the action had left them with what they held: nothing is lost that it took.
    ChangedLater,
    /// Somebody may have changed them, as nobody was told when the action ended: it becomes a file of its own.
    Doubtful,
    /// There were so many beside those that were saved, and none was found: it becomes a file of its own.
    NotFound(u64),
}

impl OtherNames {
    /// Whether what is put back is one file with them again.
    pub(crate) fn is_joined(self) -> bool {
        match self {
            Self::Joined
            | Self::JoinedAsTheyAre
            | Self::JoinedClosed
            | Self::Written
            | Self::WrittenClosed => true,
            Self::Changed | Self::ChangedLater | Self::Doubtful | Self::NotFound(_) => false,
        }
    }

    /// Whether they too get back what they held.
    pub(crate) fn is_written(self) -> bool {
        matches!(self, Self::Written | Self::WrittenClosed)
    }

    /// What of the file is not as it was, in words; `None` when nothing is that the action took.
    pub fn left(self) -> Option<String> {
        match self {
            Self::Joined | Self::JoinedAsTheyAre | Self::Written | Self::ChangedLater => None,
            Self::JoinedClosed | Self::WrittenClosed => Some(
                "its mode stays, which somebody may have changed since; with `--force` it goes back too"
                    .to_owned(),
            ),
            Self::Changed => Some("its other names were changed since, and stay as they are".to_owned()),
            Self::Doubtful => Some(
                "its other names stay as they are, which may be what the action left; with `--force` they get it back too"
                    .to_owned(),
            ),
            Self::NotFound(1) => {
                Some("it had one more name, which was not found and may hold what the action wrote".to_owned())
            }
            Self::NotFound(count) => Some(format!(
                "it had {count} more names, which were not found and may hold what the action wrote"
            )),
        }
    }

    /// The same where somebody wants everything back, whoever changed it.
    fn forced(self) -> Self {
        match self {
            Self::Doubtful | Self::WrittenClosed => Self::Written,
            Self::JoinedClosed => Self::Joined,
            Self::Joined
            | Self::JoinedAsTheyAre
            | Self::Written
            | Self::Changed
            | Self::ChangedLater
            | Self::NotFound(_) => self,
        }
    }

    /// Whether force makes more of it.
    pub fn takes_force(self) -> bool {
        self.forced() != self
    }
}

/// A name that a file still has beside those that are put back, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Behind {
    /// `None` where none was found.
    pub(crate) path: Option<PathBuf>,
    pub(crate) fate: OtherNames,
    /// Where that is what an earlier restore made of the file: the file itself, which stays as it is.
    pub(crate) split: Option<Box<Behind>>,
}

/// Whoever can read the parts of contents.
pub(crate) trait Parts {
    /// The objects that a content is made of.
    fn parts_of(&self, content: &Content) -> Result<Vec<ObjectId>, SnapshotError>;
    /// What one of them holds.
    fn part(&self, id: &ObjectId) -> Result<Vec<u8>, SnapshotError>;
}

impl Parts for SnapshotDraft {
    fn parts_of(&self, content: &Content) -> Result<Vec<ObjectId>, SnapshotError> {
        self.parts(content)
    }

    fn part(&self, id: &ObjectId) -> Result<Vec<u8>, SnapshotError> {
        self.read(id)
    }
}

impl Parts for Reader {
    fn parts_of(&self, content: &Content) -> Result<Vec<ObjectId>, SnapshotError> {
        self.parts(content)
    }

    fn part(&self, id: &ObjectId) -> Result<Vec<u8>, SnapshotError> {
        self.part(id)
    }
}

/// The file of a node that is one of several names of it.
pub(crate) fn group(node: Option<&Node>) -> Option<LinkGroup> {
    node.and_then(Node::links)
}

fn content(node: Option<&Node>) -> Option<&Content> {
    match node {
        Some(Node::File { content, .. }) => Some(content),
        Some(Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }) | None => None,
    }
}

/// What becomes of each file that has lost names of which some may be put back, as far as it has a name of ours.
pub(super) fn behind<'a>(
    draft: &SnapshotDraft,
    past: &Past,
    differences: impl Iterator<Item = &'a Difference>,
) -> BTreeMap<LinkGroup, Behind> {
    let mut found = BTreeMap::new();
    let mut looked = BTreeSet::new();
    for Difference { path, then, now } in differences {
        let (Some(then), Some(of)) = (then, group(then.as_ref())) else { continue };
        if group(now.as_ref()) == Some(of) || !looked.insert(of) {
            continue;
        }
        let store = draft.store();
        let look = |path: PathBuf| {
            let fate = fate(draft, past, &path, then)?;
            Some(Behind { path: Some(path), fate, split: None })
        };
        let own = store.own_name(of).and_then(look);
        // What an earlier restore made of the file stands for it where its own other names stay as they are. What holds what it held is
        // that already.
        let is_settled = |heir: &PathBuf| {
            let number = |path: &Path| stat(path).ok().map(|found| (found.st_dev, found.st_ino));
            content(Some(then)) == content(now.as_ref()) && number(heir) == number(path.as_path())
        };
        let heir = || {
            let heir = store.heir_name(of).filter(|heir| !is_settled(heir)).and_then(look);
            heir.filter(|heir| heir.fate.is_joined())
        };
        let one = match own {
            Some(own) if own.fate.is_joined() => Some(own),
            own => heir().map(|heir| Behind { split: own.clone().map(Box::new), ..heir }).or(own),
        };
        if let Some(one) = one {
            found.insert(of, one);
        }
    }
    found
}

/// What earlier restores made of files that are still under a name that is put back, where it is to get back what was saved too.
pub(super) fn heirs<'a>(
    draft: &SnapshotDraft,
    past: &Past,
    differences: impl Iterator<Item = &'a Difference>,
) -> BTreeMap<LinkGroup, PathBuf> {
    let mut found = BTreeMap::new();
    for Difference { then, now, .. } in differences {
        let of =
            group(then.as_ref()).filter(|of| group(now.as_ref()) == Some(*of) && !found.contains_key(of));
        let Some((of, then)) = of.zip(then.as_ref()) else { continue };
        let heir = draft.store().heir_name(of);
        let is_written = |heir: &PathBuf| fate(draft, past, heir, then).is_some_and(OtherNames::is_written);
        found.extend(heir.filter(is_written).map(|heir| (of, heir)));
    }
    found
}

/// What becomes of the file at a path, which is another name of one that held `then`; `None` where that cannot be found out.
pub(crate) fn fate(saved: &impl Parts, past: &Past, path: &Path, then: &Node) -> Option<OtherNames> {
    let Node::File { meta, content, length, .. } = then else { return None };
    // Reading what is closed to its owner changes the time, so that is asked for first.
    let found = stat(path).ok()?;
    let held = || content_identity(path, &found);
    let saved_path = SavedPath::from(path);
    let since = past.since(&saved_path, &found, past.changed(&found), held);
    let since = match (past.moment, since) {
        // What did not change since the trouble began was so before, and somebody wanted it so.
        (ActionEndTime::At(_), Since::Untouched) => Since::Changed,
        (ActionEndTime::At(_), _) => Since::Unknown,
        (
            ActionEndTime::None
            | ActionEndTime::Ended(_)
            | ActionEndTime::Open(_)
            | ActionEndTime::Followed(_),
            since,
        ) => since,
    };
    let parts = saved.parts_of(content).ok()?;
    let likeness = likeness(path, &parts, *length, |part| saved.part(part).ok());
    let is_closed = is_narrower(found.st_mode, meta.mode);
    let is_left_alone = || past.left_content(&saved_path, content);
    Some(match (likeness, since) {
        (Likeness::Same, Since::Changed | Since::Later) => OtherNames::JoinedAsTheyAre,
        (Likeness::Same, Since::Doubtful) if is_closed => OtherNames::JoinedClosed,
        (Likeness::Same, Since::Untouched | Since::Doubtful | Since::Unknown) => OtherNames::Joined,
        (Likeness::Beginning, Since::Doubtful) if is_closed => OtherNames::WrittenClosed,
        (Likeness::Beginning | Likeness::Other, Since::Untouched)
        | (Likeness::Beginning, Since::Unknown | Since::Doubtful) => OtherNames::Written,
        (Likeness::Beginning | Likeness::Other, Since::Changed | Since::Later) if is_left_alone() => {
            OtherNames::ChangedLater
        }
        (Likeness::Beginning | Likeness::Other, Since::Changed | Since::Later)
        | (Likeness::Other, Since::Unknown) => OtherNames::Changed,
        (Likeness::Other, Since::Doubtful) => OtherNames::Doubtful,
    })
}

/// Whether a mode gives somebody less than another one.
pub(crate) fn is_narrower(now: u32, then: u32) -> bool {
    then & !now & 0o777 != 0
}

/// Whether what stands somewhere gives somebody less than what stood there. A file in the place of a directory is another thing, and so is a
/// link.
pub(super) fn is_closed(then: &Node, now: &Node) -> bool {
    let is_alike = match (then, now) {
        (Node::File { .. }, Node::File { .. })
        | (Node::Directory { .. }, Node::Directory { .. })
        | (Node::Pipe { .. }, Node::Pipe { .. }) => true,
        (Node::File { .. } | Node::Directory { .. } | Node::Pipe { .. } | Node::Symlink { .. }, _) => false,
    };
    is_alike && is_narrower(now.meta().mode, then.meta().mode)
}

/// Whether a step writes to a file under a name that it still has.
fn writes_through(step: &Step, of: LinkGroup) -> bool {
    step.deed == RestoreAction::Replace
        && group(step.then.as_ref()) == Some(of)
        && group(step.now.as_ref()) == Some(of)
}

impl Step {
    /// Whether it would let somebody in whom what stands there keeps out.
    pub fn opens(&self) -> bool {
        self.then.as_ref().zip(self.now.as_ref()).is_some_and(|(then, now)| is_closed(then, now))
    }
}

impl Prepared {
    /// What becomes of the other names of the file that a step puts back, where it has lost this one.
    pub fn other_names(&self, step: &Step) -> Option<OtherNames> {
        let of = group(step.then.as_ref()).filter(|of| group(step.now.as_ref()) != Some(*of))?;
        let is_written = matches!(step.deed, RestoreAction::Create | RestoreAction::Replace);
        let fate = self.behind.get(&of).map(|behind| behind.fate).filter(|_| is_written)?;
        // Written through one of its names, all of them get it back.
        Some(if self.steps.iter().any(|step| writes_through(step, of)) { OtherNames::Written } else { fate })
    }

    /// What becomes of the other names of all files that get names back.
    pub fn fates(&self) -> impl Iterator<Item = OtherNames> {
        let through: BTreeSet<LinkGroup> = self
            .steps
            .iter()
            .filter_map(|step| group(step.now.as_ref()).filter(|of| writes_through(step, *of)))
            .collect();
        let lost: BTreeSet<LinkGroup> =
            self.steps.iter().filter_map(|step| group(step.then.as_ref())).collect();
        let fate = move |of: LinkGroup| self.behind.get(&of).filter(|_| !through.contains(&of));
        let split = |behind: &Behind| behind.split.as_ref().map(|split| split.fate);
        lost.into_iter().filter_map(fate).flat_map(move |behind| [Some(behind.fate), split(behind)]).flatten()
    }

    /// Whether a step is about a name of a file that gets back what it held under another name.
    pub fn is_written_elsewhere(&self, step: &Step) -> bool {
        group(step.then.as_ref()).is_some_and(|of| {
            // An heir is another file than the one that this name stands for.
            let is_it = |path: &PathBuf| {
                stat(path).is_ok_and(|found| (found.st_dev, found.st_ino) == (of.device, of.inode))
            };
            let behind = self.behind.get(&of).filter(|behind| behind.fate.is_written());
            group(step.now.as_ref()) == Some(of)
                && behind.and_then(|behind| behind.path.as_ref()).is_some_and(is_it)
        })
    }

    /// Gives back under other names of a file too what was saved, where nobody knows whether the action was the last to change them.
    pub fn force_other_names(&mut self) {
        for behind in self.behind.values_mut() {
            if let Some(split) = behind.split.take_if(|split| split.fate.forced().is_joined()) {
                *behind = *split;
            }
            behind.fate = behind.fate.forced();
        }
    }

    /// Whether something stands as it was and is to be one file with its other names again.
    pub fn regains_names(&self) -> bool {
        self.apart.iter().any(|step| {
            let behind = group(step.then.as_ref()).and_then(|of| self.behind.get(&of));
            behind.is_some_and(|behind| self.is_rejoined(step, behind.fate))
        })
    }

    /// Whether a name that stands as it was becomes one file with its other names again. Where these get back what they held, it is known who
    /// changed them; where they hold it still, somebody may have made another file of the name since.
    fn is_rejoined(&self, step: &Step, fate: OtherNames) -> bool {
        let left = self.past.footprint.as_ref().and_then(|footprint| footprint.number(&step.path));
        let is_later = match step.found {
            Found::Standing(number, _) => left.is_some_and(|left| left != number),
            Found::Missing | Found::Directory(_) => false,
        };
        fate.is_written() || fate.is_joined() && !step.since.is_changed() && !is_later
    }

    /// Takes up what stands as it was, and is no longer one file with its other names, which are to get back what they held. Returns what
    /// is left so, each with what becomes of the other names.
    pub fn rejoin(&mut self) -> Vec<(Step, OtherNames)> {
        let mut left = Vec::new();
        for mut step in std::mem::take(&mut self.apart) {
            let fate =
                group(step.then.as_ref()).and_then(|of| self.behind.get(&of)).map(|behind| behind.fate);
            match fate {
                Some(fate) if self.is_rejoined(&step, fate) => {
                    step.since = Since::Untouched;
                    self.steps.push(step);
                    self.steps.sort_by(|one, other| one.path.cmp(&other.path));
                }
                Some(fate @ (OtherNames::Doubtful | OtherNames::NotFound(_))) => {
                    step.since = Since::Doubtful;
                    left.push((step, fate));
                }
                // Somebody made another file of it, or they are somebody's work.
                Some(_) | None => {}
            }
        }
        left
    }
}
