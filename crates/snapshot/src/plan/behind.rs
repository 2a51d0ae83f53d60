//! What becomes of a file of several names of which some went: the others, wherever they are, want back what it held.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::past::Past;
use super::{ActionEndTime, Since};
use crate::diff::Difference;
use crate::draft::SnapshotDraft;
use crate::error::SnapshotError;
use crate::footprint::content_identity;
use crate::id::ObjectId;
use crate::lookup::stat;
use crate::metadata;
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
    /// It is one file with them again, and they too get back what they held.
    Written,
    /// Somebody changed them since, and they stay: it becomes a file of its own.
    Changed,
    /// The same, where nobody was told when the action ended, so that this may be what it did.
    Doubtful,
}

impl OtherNames {
    /// Whether what is put back is one file with them again.
    pub(crate) fn is_joined(self) -> bool {
        match self {
            Self::Joined | Self::JoinedAsTheyAre | Self::Written => true,
            Self::Changed | Self::Doubtful => false,
        }
    }
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

/// The file of a step that puts content back under a name.
pub(crate) fn group(node: Option<&Node>) -> Option<LinkGroup> {
    match node {
        Some(Node::File { links, .. }) => *links,
        Some(Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }) | None => None,
    }
}

/// What becomes of each file that has lost names of which some may be put back, as far as it has a name of ours.
pub(super) fn behind(
    draft: &SnapshotDraft,
    past: &Past,
    differences: &[Difference],
) -> BTreeMap<LinkGroup, OtherNames> {
    let mut found = BTreeMap::new();
    let mut looked = BTreeSet::new();
    for Difference { then, now, .. } in differences {
        let (Some(then), Some(of)) = (then, group(then.as_ref())) else { continue };
        if group(now.as_ref()) == Some(of) || !looked.insert(of) {
            continue;
        }
        let Some(path) = draft.store().own_name(of) else { continue };
        if let Some(fate) = fate(draft, past, &path, then) {
            found.insert(of, fate);
        }
    }
    found
}

/// What becomes of the file at a path, which is another name of one that held `then`; `None` where that cannot be found out.
pub(crate) fn fate(saved: &impl Parts, past: &Past, path: &Path, then: &Node) -> Option<OtherNames> {
    let Node::File { content, length, .. } = then else { return None };
    // Reading what is closed to its owner changes the time, so that is asked for first.
    let found = stat(path).ok()?;
    let held = || content_identity(path, &found);
    let since = past.since(&SavedPath::from(path), &found, past.changed(&found), held);
    let since = match (past.moment, since) {
        // What did not change since the trouble began was so before, and somebody wanted it so.
        (ActionEndTime::At(_), Since::Untouched) => Since::Changed,
        (ActionEndTime::At(_), _) => Since::Unknown,
        (ActionEndTime::None | ActionEndTime::Ended(_) | ActionEndTime::Open(_), since) => since,
    };
    let parts = saved.parts_of(content).ok()?;
    let likeness = likeness(path, &parts, *length, |part| saved.part(part).ok());
    if likeness != Likeness::Same && metadata::born(path).is_some_and(|born| born > past.saved) {
        // Another file got the number of that one.
        return None;
    }
    Some(match (likeness, since) {
        (Likeness::Same, Since::Changed | Since::Later) => OtherNames::JoinedAsTheyAre,
        (Likeness::Same, Since::Untouched | Since::Doubtful | Since::Unknown) => OtherNames::Joined,
        (Likeness::Beginning | Likeness::Other, Since::Untouched)
        | (Likeness::Beginning, Since::Unknown | Since::Doubtful) => OtherNames::Written,
        (Likeness::Beginning | Likeness::Other, Since::Changed | Since::Later)
        | (Likeness::Other, Since::Unknown) => OtherNames::Changed,
        (Likeness::Other, Since::Doubtful) => OtherNames::Doubtful,
    })
}
