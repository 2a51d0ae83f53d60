//! What a difference means: who changed it, where it comes from, what puts it back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustix::fs::FileType;

use super::behind::{is_closed, is_narrower};
use super::past::Past;
use super::{ActionEndTime, ActionPeriod, Found, NewFileOrigin, RestoreAction, Since, Step};
use crate::databases::is_database;
use crate::diff::{Difference, NodeLookup};
use crate::draft::SnapshotDraft;
use crate::footprint::{LOOKED_AT, identity, is_git_index, settled_identity};
use crate::id::ObjectId;
use crate::lookup::stat;
use crate::metadata;
use crate::node::{Content, FileTime, Node, Root, SavedPart, SavedPath, SkipReason, Skipped};
use crate::system::Stat;
use crate::way::Ways;

/// Tells what was changed after an action.
pub(super) struct Judge<'a> {
    pub(super) past: &'a Past,
    pub(super) then: &'a [Root],
    pub(super) skipped: &'a Left<'a>,
    pub(super) draft: &'a SnapshotDraft,
    pub(super) lookup: NodeLookup<'a, SnapshotDraft>,
    /// Times of status change that looking changed.
    pub(super) changed: &'a BTreeMap<SavedPath, FileTime>,
}

impl Judge<'_> {
    fn since(
        &self,
        path: &SavedPath,
        found: Option<&Stat>,
        (then, now): (Option<&Node>, Option<&Node>),
        deed: RestoreAction,
    ) -> Since {
        // The mode of a directory is told apart from what is in it: one that somebody closed stays closed.
        if let (
            Some(found),
            Some(Node::Directory { meta: then, .. }),
            Some(Node::Directory { meta: now, .. }),
        ) = (found, then, now)
            && is_narrower(now.mode, then.mode)
        {
            let changed = self.changed.get(path).copied().unwrap_or_else(|| metadata::changed(found));
            return match self.past.since_closed(path, now.mode, changed) {
                Since::Doubtful if self.past.announced.gives_mode(path, then.mode, now.mode) => {
                    Since::Untouched
                }
                since => since,
            };
        }
        let (Some(found), false) = (found, matches!(now, Some(Node::Directory { .. }))) else {
            // The times of a directory change with what is in it, but not when it was made.
            let born = if deed == RestoreAction::Remove { metadata::born(path.as_path()) } else { None };
            let is_later = born.zip(self.past.ended()).is_some_and(|(born, ended)| born > ended);
            return if is_later { Since::Changed } else { Since::Untouched };
        };
        let changed = self.changed.get(path).copied().unwrap_or_else(|| self.past.changed(found));
        match self.past.since(path, found, changed, || self.content(path, now)) {
            Since::Changed | Since::Later
                if then.is_some_and(|then| self.past.left_as_it_was(path, then)) =>
            {
                Since::Later
            }
            Since::Later if self.is_meant(path) => Since::Changed,
            // Somebody may have closed what the action wrote, and nobody looked right after it.
            Since::Untouched
                if matches!(self.past.moment, ActionEndTime::Open(_))
                    && then.zip(now).is_some_and(|(then, now)| is_closed(then, now))
                    && !self.gives_mode(path, (then, now)) =>
            {
                Since::Doubtful
            }
            // Nothing but the mode differs, and it is the one that the action was to give.
            Since::Doubtful if deed == RestoreAction::Adjust && self.gives_mode(path, (then, now)) => {
                Since::Untouched
            }
            since => since,
        }
    }

    /// Whether the mode of what stands at a path is just the one that the action was to give it.
    fn gives_mode(&self, path: &SavedPath, (then, now): (Option<&Node>, Option<&Node>)) -> bool {
        then.zip(now).is_some_and(|(then, now)| {
            self.past.announced.gives_mode(path, then.meta().mode, now.meta().mode)
        })
    }

    /// Whether it is known what the action left at a path, if anything, and something else stands there by now.
    fn is_known_other(&self, path: &SavedPath, found: &Stat, now: Option<&Node>) -> bool {
        let Some(footprint) = &self.past.footprint else { return false };
        let is_other_content = || {
            let left = footprint.content(path);
            left.is_some_and(|left| self.content(path, now).is_some_and(|content| content != left))
        };
        footprint.mode(path).is_some_and(|mode| mode != found.st_mode) || is_other_content()
    }

    /// Whether a path is among those that the action was about, so that it may have done something there of which there is no trace.
    fn is_meant(&self, path: &SavedPath) -> bool {
        let is_around = |root: &Root| {
            root.selection != SavedPart::NotIgnored && path.as_path().starts_with(root.path.as_path())
        };
        self.then.iter().any(is_around)
    }

    /// Whether a directory may have been moved here out of one that could not be looked into: it does not come back where it was.
    fn may_be_moved_unread(&self, path: &SavedPath, now: Option<&Node>) -> bool {
        if !self.skipped.is_unread || !matches!(now, Some(Node::Directory { .. })) {
            return false;
        }
        metadata::born(path.as_path()).is_none_or(|born| born < self.past.saved)
    }

    /// Where something comes from that was not there: what a snapshot of the whole place does not know stood nowhere before.
    fn origin(&self, path: &SavedPath, found: Option<&Stat>, since: Since) -> NewFileOrigin {
        let (ActionEndTime::Ended(period @ ActionPeriod { began: Some(began), .. }), Some(found)) =
            (self.past.moment, found)
        else {
            return NewFileOrigin::Unknown;
        };
        let holds = |root: &&Root| {
            root.selection != SavedPart::Itself && path.as_path().starts_with(root.path.as_path())
        };
        let is_known = self.then.iter().any(|root| holds(&root)) && self.skipped.is_complete;
        let is_directory = metadata::kind(found) == FileType::Directory;
        if !is_known || !is_directory && since != Since::Untouched {
            return NewFileOrigin::Unknown;
        }
        if !is_directory && self.past.changed(found) < began {
            return if self.came_with_directory(path, period) {
                NewFileOrigin::Came
            } else {
                NewFileOrigin::Unknown
            };
        }
        match metadata::born(path.as_path()) {
            Some(born) if born >= began => NewFileOrigin::Made,
            // Any change of what is in a directory changes its other times.
            Some(_) | None if is_directory => NewFileOrigin::Unknown,
            Some(_) => NewFileOrigin::Came,
            None => NewFileOrigin::Made,
        }
    }

    /// Whether a file came with a directory above it that was moved while the action ran: the file itself does not change by that.
    fn came_with_directory(&self, path: &SavedPath, period: ActionPeriod) -> bool {
        let Some(root) = self.then.iter().find(|root| path.as_path().starts_with(root.path.as_path())) else {
            return false;
        };
        let is_new = |above: &&Path| {
            above.starts_with(root.path.as_path())
                && self.lookup.node_at(root, &SavedPath::from(*above)).is_ok_and(|node| node.is_none())
        };
        let moved = path.as_path().ancestors().skip(1).take_while(is_new).last();
        moved.and_then(|moved| stat(moved).ok()).is_some_and(|found| {
            let changed = metadata::changed(&found);
            period.began.is_some_and(|began| began <= changed) && changed <= period.ended
        })
    }

    /// What tells the content of a file from others; `None` when that is too much.
    fn content(&self, path: &SavedPath, now: Option<&Node>) -> Option<ObjectId> {
        if let (Some(Node::File { .. }), Some(settled)) = (now, settled_identity(path.as_path())) {
            return Some(settled);
        }
        match now {
            Some(Node::Symlink { target, .. })
                if matches!(self.past.moment, ActionEndTime::Open(_) | ActionEndTime::Followed(_)) =>
            {
                Some(ObjectId::of(target))
            }
            Some(Node::File { content, .. }) if is_git_index(path.as_path()) => {
                Some(identity(path.as_path(), &self.draft.content(content).ok()?))
            }
            Some(Node::File { content: Content::Whole(id), .. }) => Some(*id),
            // The action may have left a short database with a log, which is one long file by now.
            Some(Node::File { content: content @ Content::Parts(_), length, .. }) if *length <= LOOKED_AT => {
                let bytes = self.draft.content(content).ok()?;
                is_database(&bytes).then(|| ObjectId::of(&bytes))
            }
            Some(
                Node::File { content: Content::Parts(_), .. }
                | Node::Symlink { .. }
                | Node::Directory { .. }
                | Node::Pipe { .. },
            )
            | None => None,
        }
    }
}

/// Whether something that was left out of a tree because version control ignores it was saved as a place of its own.
pub fn is_saved_elsewhere(skipped: &Skipped, roots: &[Root]) -> bool {
    let holds = |root: &Root| {
        root.selection == SavedPart::Everything && skipped.path.as_path().starts_with(root.path.as_path())
    };
    skipped.reason == SkipReason::Ignored && roots.iter().any(holds)
}

/// What was not saved, so that it is not known whether it stood there.
pub(super) struct Left<'a> {
    paths: BTreeSet<&'a SavedPath>,
    /// What was saved as a whole, or was not there.
    saved: BTreeSet<&'a SavedPath>,
    /// Whether all of it is listed.
    is_complete: bool,
    /// Whether a directory could not be looked into, so that what was in it may stand elsewhere now.
    is_unread: bool,
}

impl<'a> Left<'a> {
    pub(super) fn of(skipped: &'a [Skipped], then: &'a [Root]) -> Self {
        let ignored = skipped.iter().filter(|one| one.reason == SkipReason::Ignored).count() as u64;
        Self {
            paths: skipped.iter().filter(|one| !is_saved_elsewhere(one, then)).map(|one| &one.path).collect(),
            saved: then
                .iter()
                .filter(|root| root.selection == SavedPart::Everything)
                .map(|root| &root.path)
                .collect(),
            is_complete: ignored < SkipReason::MOST_IGNORED,
            is_unread: skipped.iter().any(|one| matches!(one.reason, SkipReason::Unreadable(_))),
        }
    }

    /// Whether a path, or a directory above it, was not saved, and nothing nearer was saved by itself.
    fn covers(&self, path: &SavedPath) -> bool {
        if self.paths.is_empty() {
            return false;
        }
        let mut above = path.as_path().ancestors().map(SavedPath::from);
        above
            .find(|above| self.paths.contains(above) || self.saved.contains(above))
            .is_some_and(|nearest| self.paths.contains(&nearest))
    }
}

/// What is done about a difference; `None` when nothing is.
pub(super) fn step(one: Difference, ways: &mut Ways, judge: &Judge<'_>) -> Option<Step> {
    let Difference { path, then, now } = one;
    let found = ways.stat(path.as_path()).ok();
    let deed = match (&then, &now) {
        (None, None) => return None,
        (Some(_), None) => RestoreAction::Create,
        (None, Some(_)) => RestoreAction::Remove,
        (Some(then), Some(now)) => deed(then, now, found.as_ref()),
    };
    if deed == RestoreAction::Remove
        && (judge.skipped.covers(&path) || judge.may_be_moved_unread(&path, now.as_ref()))
    {
        return None;
    }
    let since = judge.since(&path, found.as_ref(), (then.as_ref(), now.as_ref()), deed);
    let origin = match deed {
        RestoreAction::Remove => judge.origin(&path, found.as_ref(), since),
        RestoreAction::Create | RestoreAction::Replace | RestoreAction::Adjust => NewFileOrigin::Unknown,
    };
    let is_known_other = since.is_changed()
        && found.as_ref().is_some_and(|found| judge.is_known_other(&path, found, now.as_ref()));
    Some(Step { path, deed, then, now, since, origin, is_known_other, found: Found::of(found.as_ref()) })
}

/// Whether what stands there is the very file that stood there, which had several names.
pub(super) fn is_same_file(then: Option<&Node>, found: Option<&Stat>) -> bool {
    match (then, found) {
        (Some(Node::File { links: Some(group), .. }), Some(found)) => {
            (group.device, group.inode) == (found.st_dev, found.st_ino)
        }
        _ => false,
    }
}

/// What brings back what stood there from what stands there now.
pub(super) fn deed(then: &Node, now: &Node, found: Option<&Stat>) -> RestoreAction {
    match (then, now) {
        (Node::File { content, links, .. }, Node::File { content: other, links: k, .. }) => {
            let is_linked_alike = links == k || is_same_file(Some(then), found);
            if content == other && is_linked_alike { RestoreAction::Adjust } else { RestoreAction::Replace }
        }
        (Node::Directory { .. }, Node::Directory { .. }) | (Node::Pipe { .. }, Node::Pipe { .. }) => {
            RestoreAction::Adjust
        }
        (Node::File { .. } | Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }, _) => {
            RestoreAction::Replace
        }
    }
}
