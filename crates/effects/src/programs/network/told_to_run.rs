//! What a service of this machine is told to run by a request: agents and other programs with a server of their own take commands so, past the
//! hooks of the client (`POST /session/ID/shell` and `/pty` of OpenCode and Kilo, observed with 1.18 and 7.7).

use serde_json::{Map, Value as Json};

use crate::effect::NetworkReach;
use crate::interpreter::{Input, Machine, Value, known_hosts};
use crate::tools::{self, Recipient};

/// The last parts of addresses at which agents run what they are told, whatever it begins with.
const RUNNING: &[&str] = &["shell", "pty", "exec", "execute", "terminal"];

/// Follows what a service of this machine is told to run by the bodies of a request.
pub(super) fn follow(machine: &mut Machine<'_>, url: &Value, bodies: &[Value]) {
    let address = url.known_start();
    if known_hosts::reach(&address) != NetworkReach::Local || bodies.is_empty() {
        return;
    }
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let recipient = if RUNNING.contains(&last) { Recipient::RunsCommands } else { Recipient::Unknown };
    for body in bodies {
        let read = body.as_exact().and_then(|text| serde_json::from_str::<Json>(text).ok());
        match read {
            Some(json) => {
                for text in tools::commands_in_request(&json, recipient) {
                    machine.possibly(|machine| machine.run_text(&Value::Exact(text), Input::Inherited));
                }
            }
            None if recipient == Recipient::RunsCommands && body.as_exact().is_none() => {
                machine.opaque("what a service of this machine is told to run is not known");
            }
            None => {}
        }
    }
}

/// The object that fields of a form and of a command line make up (`command=ls`, `args:=["a"]`).
pub(super) fn object<'a>(fields: impl Iterator<Item = &'a str>) -> Option<Value> {
    let one = |field: &str| match field.split_once(":=") {
        Some((name, raw)) if !name.contains('=') => {
            Some((name.to_owned(), serde_json::from_str(raw).unwrap_or(Json::Null)))
        }
        Some(_) | None => {
            field.split_once('=').map(|(name, text)| (name.to_owned(), Json::String(text.to_owned())))
        }
    };
    let object: Map<String, Json> = fields.filter_map(one).collect();
    (!object.is_empty()).then(|| Value::Exact(Json::Object(object).to_string()))
}
