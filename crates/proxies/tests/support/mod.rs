//! What made up conversations share.

use checkrein_engine::fail_closed::Failure;
use checkrein_protocol::{HookEvent, HookEventKind, HookResponse, SessionId};
use checkrein_proxies::{CallJudge, Said};

/// What stands in every call that is refused.
pub const FORBIDDEN: &str = "forbidden";

/// What stands in every call about which the user is asked.
pub const ASKED: &str = "asked";

/// Refuses, asks or lets pass, by a word in the input of a call.
#[derive(Debug)]
pub struct WordJudge;

impl CallJudge for WordJudge {
    fn judge(&self, event: &HookEvent) -> Said {
        let input = match &event.moment {
            HookEventKind::BeforeAction { action, .. } => action.input.to_string(),
            _ => String::new(),
        };
        let answer = if input.contains(FORBIDDEN) {
            HookResponse::Deny { reason: "checkrein: no".to_owned() }
        } else if input.contains(ASKED) {
            HookResponse::Ask { reason: "checkrein asks".to_owned(), input: None }
        } else {
            HookResponse::NoOpinion
        };
        Said { answer, for_user: None, remarks: Vec::new() }
    }

    fn halted(&self, _: &SessionId) -> Option<String> {
        None
    }

    fn failed(&self, _: &SessionId, _: &Failure) {}
}
