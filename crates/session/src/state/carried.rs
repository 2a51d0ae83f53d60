//! What a session takes over from the one in whose place it goes on, because the conversation was cleared.

use checkrein_intervention::Controller;
use checkrein_patterns::{ActionNumber, DetectorState};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::SessionState;

/// The event of it, in the ledger of the new session.
pub const CARRIED_EVENT: &str = "checkrein.carried";

/// What is taken over.
#[derive(Debug, Serialize, Deserialize)]
struct Carried {
    /// The folder of the session before.
    from: String,
    behaviour: DetectorState,
    controller: Controller,
}

impl SessionState {
    /// Returns the fields of the event with which another session goes on in place of this one, in the folder `from`. `None` where nothing
    /// of it matters to what comes.
    pub fn to_carry(&self, from: &str) -> Option<Json> {
        if !self.behaviour.is_worth_carrying() || self.halted.is_some() {
            return None;
        }
        let carried = Carried {
            from: from.to_owned(),
            behaviour: self.behaviour.carried(),
            controller: self.controller.carried(ActionNumber(self.actions)),
        };
        serde_json::to_value(carried).ok()
    }

    /// Takes it over, before the first action. What cannot be read is left.
    pub(super) fn take_carried(&mut self, fields: &Json) {
        if self.actions > 0 {
            return;
        }
        if let Ok(carried) = serde_json::from_value::<Carried>(fields.clone()) {
            self.behaviour = carried.behaviour;
            self.controller = carried.controller;
        }
    }
}
