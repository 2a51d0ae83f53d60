//! Changes of production that the session made and that nobody has verified yet.

use std::collections::VecDeque;

use checkrein_protocol::{ActionId, ChangeId, DoubtRecord};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::SessionState;
use super::actions::doubted;
use super::bounds;

/// The event with which a person or a command says what became of a change.
pub const CHANGE_EVENT: &str = "checkrein.change";

/// How much a change that did not work adds to the doubt, and how far, in hundredths of risk (ours): as the gravest surprise.
const FAILED: DoubtRecord = DoubtRecord { points: 12, ceiling: 20 };

/// A change whose command was let pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueChange {
    /// The change.
    pub change: ChangeId,
    /// The action that it let pass.
    pub action: ActionId,
}

/// The newest of them.
pub(super) type DueChanges = VecDeque<DueChange>;

impl SessionState {
    /// The changes that the session made and that nobody verified, took back or closed.
    pub fn changes(&self) -> impl Iterator<Item = &DueChange> {
        self.due_changes.iter()
    }

    pub(super) fn take_passed(&mut self, change: &ChangeId, action: &ActionId) {
        let due = DueChange { change: change.clone(), action: action.clone() };
        bounds::push_bounded(&mut self.due_changes, due, bounds::CHANGES);
    }

    /// A change that was verified, taken back or closed is due no more; one whose verification failed did what nobody foresaw.
    pub(super) fn take_change(&mut self, fields: &Json) {
        let text = |name: &str| fields.get(name).and_then(Json::as_str).unwrap_or_default();
        if text("step") == "failed" {
            self.opaque_doubt = doubted(self.opaque_doubt, Some(FAILED));
        } else {
            let id = text("change").to_owned();
            self.due_changes.retain(|due| due.change.0 != id);
        }
    }
}
