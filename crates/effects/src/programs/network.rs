//! Programs that talk to hosts.
//!
//! | module | holds |
//! |---|---|
//! | `transfer` | curl, wget, httpie: requests, what they send and where they put the answer |
//! | `streams` | netcat, socat: bytes between a host and something here |
//!
//! A request without local data is `network_request`, whatever its method; what sends files, standard input or text that is not
//! known is `data_upload`. The clients of places where repositories live are here too.

mod streams;
mod transfer;

pub(crate) use streams::{netcat, socat};
pub(crate) use transfer::{curl, httpie, wget};

use crate::effect::{EffectKind, Reach, Target};
use crate::interpreter::{Call, Draft, Exit, Machine, Output, Upload, Value};

use super::known_hosts;

/// What is known of the data that a request sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sent {
    /// Nothing.
    Nothing,
    /// Text that stands in the command.
    Literal,
    /// Files, standard input, or text that is not known.
    Data,
}

/// Sends a request to a URL.
fn request(machine: &mut Machine<'_>, url: &Value, sent: Sent) {
    if let Some(text) = url.as_exact().filter(|text| known_hosts::is_metadata_service(text)) {
        let note = "the address at which a cloud machine hands out its credentials";
        machine.add(Draft::new(EffectKind::SecretRead, Target::Host(text.to_owned())).note(note));
    }
    let carries_secret = machine.substituted().iter().any(|output| matches!(output, Output::Secret(_)));
    match sent {
        Sent::Data => machine.host(url, Upload::Yes),
        Sent::Nothing | Sent::Literal if carries_secret => machine.host(url, Upload::Yes),
        Sent::Literal => {
            let Some(text) = url.as_exact() else {
                machine.host(url, Upload::No);
                return;
            };
            // A known host is known for reading only.
            let reach = match known_hosts::reach(text) {
                Reach::Local => Reach::Local,
                Reach::Known | Reach::External => Reach::External,
            };
            let draft = Draft::new(EffectKind::NetworkRequest, Target::Host(text.to_owned())).reach(reach);
            machine.add(draft.note("may change something there"));
        }
        Sent::Nothing => machine.host(url, Upload::No),
    }
}

/// `dig`, `ping` and their like: harmless, unless the name carries something out.
pub(crate) fn name_lookup(machine: &mut Machine<'_>, _call: &Call) -> Exit {
    let carries = |output: &Output| matches!(output, Output::Secret(_) | Output::Local(_));
    if machine.substituted().iter().any(carries) {
        let draft =
            Draft::new(EffectKind::DataUpload, Target::Host("names".to_owned())).reach(Reach::External);
        machine.add(draft.note("the name that is asked for carries local data"));
    }
    Exit::unknown()
}

/// `gh api`, `glab api`: a request to the place where repositories live.
pub(crate) fn hosting_api(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let fields: Vec<Value> = arguments.values(&["-f", "--raw-field", "-F", "--field"]).cloned().collect();
    let input = arguments.value(&["--input"]).cloned();
    let endpoint = arguments.operands.first().cloned().unwrap_or(Value::Unknown);
    let given = arguments.value(&["-X", "--method"]);
    let method = match given {
        Some(value) => value.as_exact().map(str::to_ascii_uppercase),
        None if fields.is_empty() && input.is_none() => Some("GET".to_owned()),
        None => Some("POST".to_owned()),
    };
    if let Some(file) = &input {
        machine.read(file);
    }
    for field in &fields {
        if let Some((_, path)) = field.as_exact().and_then(|text| text.split_once("=@")) {
            machine.read(&Value::exact(path));
        }
    }
    let is_graphql = endpoint.as_exact() == Some("graphql");
    let asks_only = is_graphql
        && !fields.iter().any(|field| field.known_start().contains("mutation"))
        && fields.iter().all(|field| !field.known_start().is_empty());
    match method.as_deref() {
        Some("GET" | "HEAD") => {}
        Some("DELETE") => machine.effect(EffectKind::InfrastructureDestroy, &endpoint),
        _ if asks_only && input.is_none() => {}
        Some(_) => machine.effect(EffectKind::InfrastructureChange, &endpoint),
        None => machine.possibly(|machine| machine.effect(EffectKind::InfrastructureDestroy, &endpoint)),
    }
    Exit::unknown()
}

/// `gh repo clone`, `glab repo clone`.
pub(crate) fn repository_clone(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let host = if call.program.starts_with("gl") { "gitlab.com" } else { "github.com" };
    machine.host(&Value::exact(host), Upload::No);
    let named = call
        .arguments
        .operand(0)
        .and_then(|text| text.trim_end_matches('/').rsplit('/').next())
        .map(|name| name.trim_end_matches(".git"));
    let place = match (call.arguments.operands.get(1), named) {
        (Some(place), _) => place.clone(),
        (None, Some(name)) => Value::exact(name),
        (None, None) => Value::Unknown,
    };
    for aim in machine.paths(&place) {
        machine.add(Draft::at(EffectKind::FileCreate, aim).recursive());
    }
    Exit::silent()
}
