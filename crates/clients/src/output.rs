//! What the hook program gives back to a client.

use checkrein_protocol::{HookEvent, HookEventKind, HookResponse};
use serde_json::{Value as Json, json};

use crate::shared_events::instead;

/// What the hook program prints, and how it ends. Most clients obey an object; some obey nothing but the exit status.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookOutput {
    /// What goes to standard output.
    pub object: Vec<u8>,
    /// Why the call is refused, for a client that reads this from standard error beside exit status 2; `None` ends with status 0.
    pub refusal: Option<String>,
}

impl HookOutput {
    /// The exit status by which a client that obeys nothing else refuses.
    pub const REFUSED: i32 = 2;

    /// An object on one line, and exit status 0.
    pub(crate) fn line(object: &Json) -> Self {
        let mut bytes = object.to_string().into_bytes();
        bytes.push(b'\n');
        Self { object: bytes, refusal: None }
    }

    /// Nothing at all, and exit status 0: for an event whose output the client shows to its model as it stands. The command line takes silence
    /// for a refusal where a call waits for its answer, so this is no answer there.
    pub(crate) fn silence() -> Self {
        Self::default()
    }

    /// A refusal by exit status alone.
    pub(crate) fn refusal(reason: &str) -> Self {
        let reason = if reason.trim().is_empty() { "refused by checkrein" } else { reason };
        Self { object: Vec::new(), refusal: Some(reason.to_owned()) }
    }

    /// The exit status.
    pub fn status(&self) -> i32 {
        if self.refusal.is_some() { Self::REFUSED } else { 0 }
    }

    /// The object, where there is one.
    pub(crate) fn json(&self) -> Option<Json> {
        serde_json::from_slice(&self.object).ok()
    }
}

/// The output for an answer to an event, for a client whose hooks can only refuse: a refusal where there can be one, else nothing.
pub(crate) fn by_status(event: &HookEvent, answer: &HookResponse, _for_user: Option<&str>) -> HookOutput {
    match (&event.moment, answer) {
        (_, HookResponse::Replaced { besides, .. }) => by_status(event, besides, None),
        (
            HookEventKind::BeforeAction { .. } | HookEventKind::Prompt { .. },
            HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } | HookResponse::Halt { reason },
        ) => HookOutput::refusal(reason),
        (HookEventKind::BeforeAction { .. }, HookResponse::Rewrite { input, text, .. }) => {
            HookOutput::refusal(&instead(input, text))
        }
        (
            _,
            HookResponse::NoOpinion
            | HookResponse::Allow { .. }
            | HookResponse::Context { .. }
            | HookResponse::Rewrite { .. }
            | HookResponse::Ask { .. }
            | HookResponse::Deny { .. }
            | HookResponse::Halt { .. },
        ) => HookOutput::line(&json!({})),
    }
}
