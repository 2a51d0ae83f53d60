//! A call that its agent makes without waiting for an answer: when it is heard of, it may have begun. What it found is told from what the
//! workspace held before, so that it is judged, saved and compared as if it had been heard of in time.

use std::path::PathBuf;
use std::time::Instant;

use checkrein_facts::World;
use checkrein_protocol::{AbsolutePath, SnapshotRecord, Timestamp};
use checkrein_review::{
    DirectoryReach, Forecast, Need, ReferenceChange, Review, Saved, ToSave, reference_change, to_save,
};
use checkrein_snapshot::{
    Circumstances, EarlierWorkspace, FileTime, SessionPlace, SnapshotId, SnapshotReason,
};

use crate::checkpoint::workspace;
use crate::checkpoint::{self, NOT_SAVED, Protected, was_saved_in};
use crate::context::Context;
use crate::earlier_world::EarlierWorld;

/// The workspace as it was saved before calls of which nobody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptWorkspace(pub(crate) SnapshotId);

/// When an agent may have begun a call that it makes without waiting for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlyStart {
    /// When it did at the earliest.
    pub at: Timestamp,
    /// What the workspace held around that, newest first: the first may hold what the call did already, the second holds nothing of it. `None`
    /// where it was not saved.
    pub workspaces: [Option<KeptWorkspace>; 2],
}

/// What stood in the workspace when a call began that was heard of later.
pub(crate) struct Earlier {
    workspace: EarlierWorkspace,
    root: AbsolutePath,
    at: Timestamp,
}

impl Earlier {
    /// What is known of that moment; `None` where the call waits for its answer, changes nothing as far as is known, or the workspace was not
    /// saved before it.
    pub(crate) fn of(context: &Context, plain: &Review) -> Option<Self> {
        let start = context.early_start?;
        let bases: Vec<SnapshotId> = start.workspaces.iter().flatten().map(|KeptWorkspace(id)| *id).collect();
        if bases.is_empty() || !may_change(plain) {
            return None;
        }
        let root = context.work_tree()?;
        let moment = FileTime {
            seconds: i64::try_from(start.at.0 / 1_000).ok()?,
            nanoseconds: u32::try_from(start.at.0 % 1_000 * 1_000_000).ok()?,
        };
        match workspace::earlier(context, &bases, moment) {
            Ok(found) => Some(Self { workspace: found?, root, at: start.at }),
            Err(error) => {
                context.environment().diagnostics.add(format!("what a call found is not known: {error}"));
                None
            }
        }
    }

    /// The world as the call found it.
    pub(crate) fn world<'a>(&'a self, now: &'a dyn World) -> EarlierWorld<'a> {
        EarlierWorld { now, saved: &self.workspace, root: &self.root, at: self.at }
    }

    /// Whether everything that the call destroys is in the workspace as it stood then. What is elsewhere, and what it does to a repository, has to be
    /// saved as it stands now.
    pub(crate) fn holds(&self, forecast: &Forecast<'_>, plain: &Review) -> bool {
        let world = self.world(forecast.world());
        let is_held = |place: &ToSave| place.path.is_within(&self.root) && world.is_known(&place.path);
        reference_change(plain).0 == ReferenceChange::Nothing
            && to_save(plain).iter().all(|place| place.need == Need::Absence || is_held(place))
    }

    /// Saves what the call destroys, as it stood then.
    pub(crate) fn protect(
        &self,
        context: &Context,
        plain: &Review,
        (reason, place): (&str, &SessionPlace),
    ) -> Protected {
        let started = Instant::now();
        let wanted = to_save(plain);
        let is_listed = wanted.iter().all(|place| place.reach != DirectoryReach::Below);
        let inside = wanted.iter().filter(|place| place.path.is_within(&self.root));
        let places: Vec<PathBuf> = inside.map(|place| PathBuf::from(place.path.as_str())).collect();
        let is_whole = checkpoint::is_unclear(plain) || !is_listed;
        if places.is_empty() && !is_whole {
            return Protected::Nothing;
        }
        let mut counted = (0, 0);
        let taken = self.workspace.commit(if is_whole { &[] } else { &places }, |captured| {
            counted = (captured.entries, captured.bytes);
            captured.described(Circumstances {
                at: self.at.0,
                occasion: SnapshotReason::BeforeAction,
                reason: checkpoint::masked(context, reason),
                place: Some(place.clone()),
            })
        });
        let id = match taken {
            Ok(Some(id)) => id,
            Ok(None) => return Protected::Nothing,
            Err(error) => return Protected::Left(vec![format!("what this changes {NOT_SAVED}{error}")]),
        };
        let record = SnapshotRecord {
            id: id.0,
            entries: counted.0,
            bytes: counted.1,
            elapsed_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
            not_saved: Vec::new(),
            begun: Some(self.at),
        };
        let held: Vec<ToSave> = wanted.into_iter().filter(|place| place.need != Need::Absence).collect();
        if held.is_empty() {
            return Protected::Marked { record, left: Vec::new() };
        }
        let mut saved = Saved::default();
        held.iter().for_each(|place| saved.add(place.path.clone(), place.reach));
        let note = was_saved_in(&held, record.id);
        Protected::Saved { saved, note, left: Vec::new(), incomplete: None, record: Some(record) }
    }
}

/// Whether an action may change something, as far as its review says.
fn may_change(review: &Review) -> bool {
    checkpoint::is_unclear(review)
        || review.side_effects.effects.iter().any(|effect| effect.kind.is_mutating())
}
