//! When an action ran that is taken back, and what it left behind, so that what somebody changed later is told apart from it.

use rustix::fs::Stat;

use super::{ActionEndTime, Since};
use crate::footprint::{Footprint, Verdict};
use crate::id::ObjectId;
use crate::metadata;
use crate::node::{FileTime, SavedPath};
use crate::second_names::NamingTimes;

/// What is known of the action that is taken back.
#[derive(Debug)]
pub(crate) struct Past {
    pub(super) moment: ActionEndTime,
    /// When the snapshot was taken that is gone back to: what is younger was not saved with it.
    pub(super) saved: FileTime,
    pub(super) footprint: Option<Footprint>,
    /// Times of status change that tell of nothing.
    pub(super) naming: NamingTimes,
}

impl Past {
    /// When the action had ended, where that is known.
    pub(super) fn ended(&self) -> Option<FileTime> {
        match self.moment {
            ActionEndTime::Ended(period) => {
                Some(self.footprint.as_ref().map_or(period.ended, |print| print.at))
            }
            ActionEndTime::None | ActionEndTime::At(_) | ActionEndTime::Open(_) => None,
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
            ActionEndTime::Open(latest) if latest.is_some_and(|latest| changed > latest) => Since::Changed,
            ActionEndTime::Open(_) => Since::Doubtful,
        }
    }
}
