//! Whatever a client and a server write, no call reaches a server where every call is refused.
#![no_main]

use std::time::Duration;

use checkrein_gateway::{
    CallEnding, CallRequest, Relay, Reviewer, Ruling, Sent, Standing, ToolDefinition, UserAnswer,
};
use checkrein_ledger::mask::{MaskKey, ShownText};
use checkrein_protocol::Action;
use libfuzzer_sys::fuzz_target;
use serde_json::Value as Json;

#[derive(Debug)]
struct Refusing;

impl Reviewer for Refusing {
    fn before(&self, _: &CallRequest) -> Ruling {
        Ruling::Refused("no".to_owned())
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

/// Whether a value holds a call, however deep in lists.
fn holds_a_call(value: &Json) -> bool {
    match value {
        Json::Array(items) => items.iter().any(holds_a_call),
        other => other["method"] == "tools/call",
    }
}

fuzz_target!(|text: &[u8]| {
    let relay = Relay::new(Refusing, "s");
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        for sent in relay.from_client(line) {
            if let Sent::ToServer(line) = sent
                && let Ok(value) = serde_json::from_slice(&line)
            {
                assert!(!holds_a_call(&value), "{value}");
            }
        }
        drop(std::hint::black_box(relay.from_server(line)));
    }
});
