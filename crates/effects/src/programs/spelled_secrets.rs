//! Secrets that stand in the words of a call that reaches a host nobody knows: by their form, whoever wrote them there.
//!
//! Words that a program shows at the door (a header, a name with a password) go to whom they are for. What stands in an address or in what is sent
//! goes to whoever answers.

use crate::effect::{Effect, EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::filters::{decoded_base64, decoded_hexadecimal};
use crate::interpreter::known_hosts::{self, reach};
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
    let reached = machine.effects_since(before).find_map(stranger);
    let Some(host) = reached.or_else(|| asked(call)).or_else(|| named_host(call)) else { return };
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
            found = token_in(word).or_else(|| token_in_other_form(word));
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

/// Programs that ask for a name, and whose words are names (dig(1), host(1), nslookup(1), drill(1), kdig(1), getent(1), dog, doggo, ping(8)).
const ASKING: &[&str] = &[
    "dig",
    "host",
    "nslookup",
    "drill",
    "kdig",
    "delv",
    "getent",
    "dog",
    "doggo",
    "q",
    "ping",
    "resolvectl",
];

/// The name that a call asks for, where there is a token in it: whoever answers for the domain reads it.
fn asked(call: &Call) -> Option<String> {
    let program = call.program.split(' ').next().unwrap_or_default();
    let names = call.words.iter().filter_map(Value::as_exact).filter(|word| word.contains('.'));
    let mut names = names.filter(|_| ASKING.contains(&program));
    let name = names.find(|name| token_in(name).or_else(|| token_in_other_form(name)).is_some())?;
    let parts: Vec<&str> = name.rsplit('.').take(2).collect();
    Some(parts.into_iter().rev().collect::<Vec<_>>().join("."))
}

/// Clients of stores, queues and logs with the options that name the host (psql(1), mysql(1), redis-cli, mosquitto_pub(1), kcat(1), logger(1),
/// nats, amqp-publish(1)).
const CLIENTS: &[(&[&str], &[&str])] = &[
    (
        &[
            "psql",
            "mysql",
            "mariadb",
            "redis-cli",
            "valkey-cli",
            "mosquitto_pub",
            "mongosh",
            "mongo",
            "clickhouse-client",
            "cqlsh",
            "sqlcmd",
            "influx",
        ],
        &["-h", "--host", "-H", "--hostname"],
    ),
    (&["kcat", "kafkacat"], &["-b"]),
    (&["logger"], &["-n", "--server"]),
    (&["nats", "amqp-publish"], &["-s", "--server", "-u", "--url"]),
];

/// The host that a client is told to talk to, where nobody knows it: behind an option, or in an address.
fn named_host(call: &Call) -> Option<String> {
    let program = call.program.split(' ').next().unwrap_or_default();
    let (_, options) = CLIENTS.iter().find(|(programs, _)| programs.contains(&program))?;
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let behind = |at: usize, word: &str| -> Option<String> {
        if options.contains(&word) {
            return words.get(at + 1).map(|host| (*host).to_owned());
        }
        let attached = options.iter().filter(|option| option.starts_with("--"));
        let attached = { attached }.find_map(|option| word.strip_prefix(option)?.strip_prefix('='));
        attached.map(str::to_owned).or_else(|| word.contains("://").then(|| known_hosts::host_of(word)))
    };
    let mut hosts = words.iter().enumerate().filter_map(|(at, word)| behind(at, word));
    hosts.find(|host| reach(host) == NetworkReach::External)
}

/// The shortest piece that is taken out of another form (ours): a token of 20 letters in base64.
const PIECE: usize = 28;

/// What a word says in base64, in hexadecimal digits, backwards, or in the escapes of JSON, where that is a token.
fn token_in_other_form(word: &str) -> Option<&'static str> {
    let is_between = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-'));
    let of_piece = |piece: &str| {
        // What stands before the first `=` is the name of a value.
        let value = piece.split_once('=').map_or(piece, |(name, rest)| {
            if rest.len() > 2 {
                rest
            } else if rest.trim_end_matches('=').is_empty() {
                piece
            } else {
                name
            }
        });
        let decoded = decoded_base64(value.trim_end_matches('=')).or_else(|| decoded_hexadecimal(value));
        decoded.as_deref().and_then(token_in).or_else(|| token_in(&value.chars().rev().collect::<String>()))
    };
    let mut pieces = word.split(is_between).filter(|piece| piece.len() >= PIECE && piece.len() <= 4096);
    pieces.find_map(of_piece).or_else(|| {
        let read =
            word.contains("\\u00").then(|| serde_json::from_str::<serde_json::Value>(word).ok()).flatten()?;
        token_in(&read.to_string())
    })
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
