//! What an action destroys and is too much to be saved before it.

use std::path::Path;

use checkrein_protocol::{AbsolutePath, UnsavedRecord};
use checkrein_review::{Need, Review, ToSave, unsaved};
use checkrein_shell::quoted;
use checkrein_snapshot::SnapshotId;

use super::{NOT_SAVED, store};
use crate::context::Context;

/// At how many names it is looked at most to find out whether a snapshot holds them (ours).
const LOOKED_AT: u64 = 250_000;

/// How many places are written down (ours).
const RECORDED: usize = 8;

/// The only copy of something that cannot be saved.
#[derive(Debug)]
pub(crate) struct Lost {
    /// Why it cannot, as a sentence.
    why: String,
    /// Where it is.
    places: Vec<AbsolutePath>,
    /// A snapshot that holds all of it as it is, taken for another purpose, and the places as arguments of a command.
    held_by: Option<(SnapshotId, String)>,
}

impl Lost {
    /// What is required of these places, and is not saved for this reason.
    pub(super) fn of(why: String, places: &[ToSave]) -> Self {
        let required = places.iter().filter(|place| place.need == Need::Required);
        Self { why, places: required.map(|place| place.path.clone()).collect(), held_by: None }
    }

    /// Finds out whether a snapshot of the workspace holds all of it as it is now.
    pub(crate) fn look_for_it_in(&mut self, context: &Context, snapshot: Option<SnapshotId>) {
        let store = store(context.environment(), context.workspace());
        let holds = |id: SnapshotId| {
            !self.places.is_empty()
                && self.places.iter().all(|place| {
                    store.holds_present(id, Path::new(place.as_str()), LOOKED_AT).unwrap_or(false)
                })
        };
        let held = snapshot.filter(|id| holds(*id));
        self.held_by = held.map(|id| (id, self.in_words(context.workspace())));
    }

    /// The review of the action, of one that knows nothing of what is saved.
    pub(super) fn review(&self, plain: Review) -> Review {
        let why = match &self.held_by {
            None => self.why.clone(),
            Some((id, places)) => format!(
                "{}; snapshot {id} holds all of it as it is: `checkrein snapshot restore {id}{places}` brings it back",
                self.why
            ),
        };
        let mut review = unsaved(plain, &why);
        let what = format!("what it destroys {NOT_SAVED}{}", self.why);
        review.failures.push(what.clone());
        review.not_saved.push(UnsavedRecord {
            what,
            places: self.places.iter().take(RECORDED).map(ToString::to_string).collect(),
            held_by: self.held_by.as_ref().map(|(id, _)| id.0),
        });
        review
    }

    /// The places as arguments, as they are named in the workspace.
    fn in_words(&self, workspace: &AbsolutePath) -> String {
        let name = |place: &AbsolutePath| {
            let below = place.relative_to(workspace).filter(|below| !below.is_empty());
            format!(" {}", quoted(below.unwrap_or(place.as_str())))
        };
        self.places.iter().take(RECORDED).map(name).collect()
    }
}

/// What was left of what would have been good to save, each one clause.
pub(crate) fn leave(review: &mut Review, left: &[String]) {
    review.failures.extend(left.iter().cloned());
    let clauses = left.iter().cloned();
    review.not_saved.extend(clauses.map(|what| UnsavedRecord { what, places: Vec::new(), held_by: None }));
}
