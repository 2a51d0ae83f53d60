//! What made up conversations share.

use std::time::Duration;

use checkrein_gateway::{
    CallEnding, CallPassage, CallRequest, Reviewer, Ruling, Standing, ToolDefinition, UserAnswer,
};
use checkrein_ledger::mask::{MaskKey, ShownText};
use checkrein_protocol::Action;

/// What stands in every call that is refused.
pub const FORBIDDEN: &str = "forbidden";

/// What stands in every call about which the user is asked.
pub const ASKED: &str = "asked";

/// A secret that no client may read.
pub const TOKEN: &str = concat!("ghp_0123456789abcdefghij", "ABCDEFGHIJ012345");

/// Refuses, asks or lets pass, by a word in a call.
#[derive(Debug)]
pub struct WordReviewer;

impl Reviewer for WordReviewer {
    fn before(&self, call: &CallRequest) -> Ruling {
        let said = call.arguments.to_string();
        let passage = CallPassage { action: None, arguments: None, note: None };
        if said.contains(FORBIDDEN) || call.tool.contains(FORBIDDEN) {
            Ruling::Refused("no".to_owned())
        } else if said.contains(ASKED) {
            Ruling::Asked { question: said, passage }
        } else {
            Ruling::Passes(passage)
        }
    }

    fn after(&self, _: &Action, _: CallEnding, _: String, _: Duration) -> Option<String> {
        None
    }

    fn answered(&self, _: &CallRequest, _: UserAnswer) {}

    fn standings(&self, definitions: &[ToolDefinition]) -> Vec<Standing> {
        definitions.iter().map(|_| Standing::Accepted).collect()
    }

    fn waiting(&self, _: &str) -> Option<String> {
        None
    }

    fn key(&self) -> Result<MaskKey, String> {
        Ok(MaskKey::new([7; MaskKey::LENGTH]).for_reader(ShownText::Anything, Vec::new()))
    }
}
