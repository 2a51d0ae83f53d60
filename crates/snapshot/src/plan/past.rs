//! When an action ran that is taken back, and what it left behind, so that what somebody changed later is told apart from it.

use super::{ActionEndTime, Since};
use crate::footprint::{Announced, Footprint, Verdict};
use crate::id::ObjectId;
use crate::metadata;
use crate::node::{Content, FileTime, Node, SavedPath};
use crate::second_names::NamingTimes;
use crate::system::Stat;

/// The bits of a mode that are rights; the others tell what kind of file it is.
const RIGHTS: u32 = 0o7777;

/// What is known of the action that is taken back.
#[derive(Debug)]
pub(crate) struct Past {
    pub(super) moment: ActionEndTime,
    /// When the snapshot was taken that is gone back to: what is younger was not saved with it.
    pub(super) saved: FileTime,
    pub(super) footprint: Option<Footprint>,
    /// Until when one thing after the other changed, where nobody was told when it ended.
    pub(super) busy_until: FileTime,
    /// Times of status change that tell of nothing.
    pub(super) naming: NamingTimes,
    /// What it was to leave, where nobody was told when it ended.
    pub(super) announced: Announced,
}

impl Past {
    /// When the action had ended, where that is known.
    pub(super) fn ended(&self) -> Option<FileTime> {
        match self.moment {
            ActionEndTime::Ended(period) => {
                Some(self.footprint.as_ref().map_or(period.ended, |print| print.at))
            }
            ActionEndTime::None
            | ActionEndTime::At(_)
            | ActionEndTime::Open(_)
            | ActionEndTime::Followed(_) => None,
        }
    }

    /// Whether the action left a file at a path with this content, as far as somebody looked.
    pub(super) fn left_content(&self, path: &SavedPath, content: &Content) -> bool {
        let left = self.footprint.as_ref().and_then(|footprint| footprint.content(path));
        matches!((left, content), (Some(left), Content::Whole(id)) if left == *id)
    }

    /// Whether somebody found right after the action that it had left a file at a path as it was: with the same content and rights, or without
    /// any change since it was saved.
    pub(super) fn left_as_it_was(&self, path: &SavedPath, then: &Node) -> bool {
        let ActionEndTime::Ended(_) = self.moment else { return false };
        let Some(footprint) = &self.footprint else { return false };
        let is_same_mode =
            footprint.mode(path).is_some_and(|mode| mode & RIGHTS == then.meta().mode & RIGHTS);
        // Of what was read its content tells: that of a database may have changed in its log alone.
        let is_older = || {
            footprint.content(path).is_none()
                && footprint.changed(path).is_some_and(|changed| changed < self.saved)
        };
        let is_same_content = || match then {
            Node::File { content, .. } => self.left_content(path, content),
            Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. } => false,
        };
        is_same_mode && (is_older() || is_same_content())
    }

    /// Whether somebody closed a directory after the action that was more open before it. It has this `mode`, whatever it is opened with
    /// for a look, and its status `changed` then.
    pub(super) fn since_closed(&self, path: &SavedPath, mode: u32, changed: FileTime) -> Since {
        let later_than = |moment: FileTime| if changed > moment { Since::Changed } else { Since::Untouched };
        match self.moment {
            ActionEndTime::None => Since::Unknown,
            // What is closed since the trouble began counts as part of it, as ever.
            ActionEndTime::At(_) => Since::Untouched,
            ActionEndTime::Ended(period) => match &self.footprint {
                None => later_than(period.ended),
                Some(footprint) => match footprint.mode(path) {
                    Some(left) if left & RIGHTS == mode & RIGHTS => Since::Untouched,
                    Some(_) => Since::Changed,
                    None => later_than(footprint.at),
                },
            },
            ActionEndTime::Open(latest) if latest.is_some_and(|latest| changed > latest) => Since::Changed,
            ActionEndTime::Open(_) => Since::Doubtful,
            ActionEndTime::Followed(latest) => {
                match self.footprint.as_ref().and_then(|footprint| footprint.mode(path)) {
                    Some(left) if left & RIGHTS == mode & RIGHTS => Since::Untouched,
                    Some(_) => Since::Changed,
                    None => later_than(latest),
                }
            }
        }
    }

    /// When the status of a file last changed by anybody but us.
    pub(super) fn changed(&self, found: &Stat) -> FileTime {
        self.naming.before(found).unwrap_or_else(|| metadata::changed(found))
    }

    /// Whether somebody changed what stands at a path after the action. `changed` is when its status last changed, `content` tells what it
    /// holds from other contents, where that is known.
    pub(super) fn since(
        &self,
        path: &SavedPath,
        found: &Stat,
        changed: FileTime,
        content: impl FnOnce() -> Option<ObjectId>,
    ) -> Since {
        let later_than = |moment: FileTime| if changed > moment { Since::Changed } else { Since::Untouched };
        match self.moment {
            ActionEndTime::None => Since::Unknown,
            ActionEndTime::At(moment) => later_than(moment),
            ActionEndTime::Ended(period) => match &self.footprint {
                None => later_than(period.ended),
                Some(footprint) => match footprint.verdict(path, found, content()) {
                    Verdict::Other => Since::Changed,
                    Verdict::NoTrace if changed > footprint.at => Since::Later,
                    Verdict::Left | Verdict::NoTrace => Since::Untouched,
                },
            },
            ActionEndTime::Followed(latest) => {
                let content = content();
                let footprint = self.footprint.as_ref();
                let verdict = footprint.map_or(Verdict::NoTrace, |print| print.verdict(path, found, content));
                let looked = footprint.map_or(latest, |print| print.at);
                let left_at = footprint.and_then(|print| print.changed(path)).unwrap_or(changed);
                let is_announced = self.announced.holds(path, content);
                match verdict {
                    Verdict::Other => Since::Changed,
                    Verdict::Left | Verdict::NoTrace if is_announced => Since::Untouched,
                    Verdict::NoTrace if changed > looked => Since::Changed,
                    // The action may have been over by then.
                    Verdict::Left | Verdict::NoTrace if left_at > self.busy_until => Since::Doubtful,
                    Verdict::Left | Verdict::NoTrace => Since::Untouched,
                }
            }
            ActionEndTime::Open(latest) if latest.is_some_and(|latest| changed > latest) => Since::Changed,
            // Just what the action was to write is nobody's work, whoever wrote it.
            ActionEndTime::Open(_) if self.announced.holds(path, content()) => Since::Untouched,
            ActionEndTime::Open(_) => Since::Doubtful,
        }
    }
}
