//! Secrets that stand in the words of a call that reaches a host nobody knows: by their form, whoever wrote them there.
//!
//! Words that a program shows at the door (a header, a name with a password) go to whom they are for. What stands in an address or in what is sent
//! goes to whoever answers.

use crate::effect::{Effect, EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::known_hosts::reach;
use crate::interpreter::{Call, Draft, Input, Machine, Value};
use crate::tools::token_in;

/// Options whose value is shown at the door (curl(1), wget(1), HTTPie 3, `xh --help`, grpcurl, aria2c(1)).
const AT_THE_DOOR: &[&str] = &[
    "-H",
    "--header",
    "-u",
    "--user",
    "--oauth2-bearer",
    "-b",
    "--cookie",
    "--proxy-user",
    "-U",
    "--password",
    "--http-password",
    "--proxy-password",
    "-A",
    "--auth",
    "-a",
    "--bearer",
    "--token",
    "--api-key",
    "-rpc-header",
    "--pass",
    "--key",
];

/// Programs that take headers as words of their own (HTTPie 3, xh 0.22, curlie 1.7).
const HEADERS_AS_WORDS: &[&str] = &["http", "https", "xh", "xhs", "curlie"];

/// Adds that a secret leaves which stands in the words of a call; there were `before` effects before it.
pub(crate) fn spelled_secrets(machine: &mut Machine<'_>, call: &Call, before: usize) {
    let is_told =
        |effect: &Effect| effect.kind == EffectKind::DataUpload && effect.severity >= Severity::High;
    if machine.effects_since(before).any(is_told) {
        return;
    }
    let Some(host) = machine.effects_since(before).find_map(stranger) else { return };
    let mut words = call.words.iter().filter_map(Value::as_exact);
    let mut found = None;
    let takes_headers = HEADERS_AS_WORDS.contains(&call.program.as_str());
    while let (Some(word), None) = (words.next(), found) {
        if AT_THE_DOOR.contains(&word) {
            words.next();
            continue;
        }
        let is_at_the_door = AT_THE_DOOR.iter().any(|option| {
            option.starts_with("--") && word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
        }) || takes_headers && is_header(word);
        if !is_at_the_door {
            found = token_in(word);
        }
    }
    if let (None, Input::Text(Value::Exact(text))) = (found, &call.input) {
        found = token_in(text);
    }
    if let Some(what) = found {
        let draft = Draft::new(EffectKind::DataUpload, Target::Host(host)).reach(NetworkReach::External);
        machine.add(draft.severity(Severity::High).note(format!("{what} stands in what is sent")));
    }
}

/// Whether a word is a header where words may be some: `X-Key:value` (HTTPie 3, "Request Items").
fn is_header(word: &str) -> bool {
    word.split_once(':').is_some_and(|(name, rest)| {
        !rest.starts_with("//") && !name.contains(['=', '?', '&', '{']) && !name.starts_with('-')
    })
}

/// The host that an effect reaches, where nobody knows it.
fn stranger(effect: &Effect) -> Option<String> {
    let Target::Host(host) = &effect.target else { return None };
    let reaches = matches!(effect.kind, EffectKind::NetworkRequest | EffectKind::DataUpload);
    (reaches && effect.reach.unwrap_or_else(|| reach(host)) == NetworkReach::External).then(|| host.clone())
}
