//! Messages of ACGP over HTTP (ACGP messages, binding B: `POST /acgp/v1/messages`): an agent framework asks before it acts.
//!
//! | message | answer |
//! |---|---|
//! | `EVAL`, `TRACE` | `INTERVENTION`: the verdict on the action, with its reason and the quality of the trace |
//! | `VERSION_NEGOTIATION` | `VERSION_SELECTED` |
//! | `SESSION_INIT`, `SYNC` | the same: what is understood here, and how closely an agent is overseen without a word of a person |
//! | `BUNDLE_UPDATE` | refused: policies come from people, as files |
//! | `HITL` with an action | `HITL`: a question that waits for a person, like the call of a hook; or its refusal, where it is refused anyway |
//! | `HITL` with `hitl_id` | `HITL`: how it stands with that question, and its `hitl_result` once it has one |
//!
//! The action is reviewed by the code of `check`, and put down with its sender: what it comes to counts against the sender's trust, in all of
//! its sessions. Who says who it is, is not believed for it: tier and policy are those of the machine, or a stricter tier that a person gave.
//!
//! A question is bound to its action by a digest, expires, and its yes is handed out once: to one message, which may be sent again.
//! People answer it; no message does.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use serde_json::{Map, Value as Json, json};
use sha2::{Digest as _, Sha256};

use crate::answer::ApiError;
use crate::api::{Call, bad};
use crate::commands::{Extent, ServedCommand, ServedQuestion};
use crate::server::App;
use crate::token::Token;

/// The version of the messages.
const VERSION: &str = "1.0.0";
/// The longest time that a request waits for an answer, in seconds (ours): proxies give up after a minute.
const LONGEST_WAIT: u64 = 50;
/// How long it is waited between two looks (ours).
const PAUSE: Duration = Duration::from_millis(100);
/// The strictest tier in which actions are evaluated.
const MAX_TIER: u8 = 5;
/// Who answers.
const STEWARD: &str = "urn:acgp:steward:checkrein";

/// Answers a message.
pub(crate) fn message(app: &App, call: &Call) -> Result<Json, ApiError> {
    let text = |name: &str| call.text(name).ok_or_else(|| invalid(format!("`{name}` is missing")));
    if text("protocol")? != "acgp" {
        return Err(invalid("`protocol` is not `acgp`"));
    }
    let version = text("protocol_version")?;
    if version.split('.').next() != Some("1") {
        return Err(invalid(format!("version `{version}` is not spoken here; {VERSION} is")));
    }
    let (kind, id) = (text("message_type")?, text("message_id")?);
    let sender = text("sender_id")?;
    let none = Map::new();
    let payload = call.body.get("payload").and_then(Json::as_object).unwrap_or(&none);
    let (kind, payload) = match kind.as_str() {
        "EVAL" | "TRACE" => ("INTERVENTION", evaluated(app, payload, &sender)?),
        "VERSION_NEGOTIATION" => ("VERSION_SELECTED", json!({ "protocol_version": VERSION })),
        "HITL" => ("HITL", asked_of_people(app, payload, &id, &sender)?),
        "SESSION_INIT" => ("SESSION_INIT", introduced(app, payload, &sender)?),
        "SYNC" => ("SYNC", introduced(app, payload, &sender)?),
        "BUNDLE_UPDATE" => {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "acgp_1001",
                "no message changes the policy",
                "a person puts blueprints into the configuration: `checkrein policy show`",
            ));
        }
        other => return Err(invalid(format!("`{other}` is not a message that is answered here"))),
    };
    Ok(json!({
        "protocol": "acgp",
        "protocol_version": VERSION,
        "message_type": kind,
        "message_id": identity()?,
        "in_reply_to": id,
        "timestamp": app.timestamp(),
        "sender_id": STEWARD,
        "receiver_id": sender,
        "payload": payload,
    }))
}

/// What who begins needs to know. The tier is that of the machine, or a stricter one that a person gave the sender: who says who it is, is
/// not believed for a milder one.
fn introduced(app: &App, payload: &Map<String, Json>, sender: &str) -> Result<Json, ApiError> {
    let session = session_id(payload);
    let question = json!({ "id": "session", "command": ":", "cwd": cwd(payload) });
    let answer = app.evaluated(sent_from(sender, session), question, Extent::Shown)?;
    Ok(json!({
        "session_id": session,
        "accepted": true,
        "governance_tier": answer["governance"]["tier"],
        "trust_debt": answer["governance"]["trust_debt"],
        "capabilities": {
            "interventions": ["ok", "nudge", "escalate", "block", "halt"],
            "supports_flags": true,
            "supports_governance_contracts": true,
            "supports_hitl": true,
            "max_eval_tier": MAX_TIER,
        },
    }))
}

/// The session that a payload names.
fn session_id(payload: &Map<String, Json>) -> Option<&str> {
    let within = || payload.get("context").and_then(|context| context.get("session_id"));
    payload.get("session_id").or_else(within).and_then(Json::as_str).filter(|name| !name.is_empty())
}

/// The working directory that the context of a payload names.
fn cwd(payload: &Map<String, Json>) -> Option<&Json> {
    payload.get("context").and_then(|context| context.get("cwd"))
}

/// A sender, and the session of it that something counts to. No session of a client is called so, and none of another sender.
fn sent_from(sender: &str, session: Option<&str>) -> (String, String) {
    let sender = cut(sender, 120);
    // The mark between the two stands in no sender, so that none names a session of another.
    let unmarked = sender.replace('%', "%25").replace('#', "%23");
    let name = match session {
        None => format!("acgp:{unmarked}"),
        Some(session) => format!("acgp:{unmarked}#{}", cut(session, 120)),
    };
    (sender, name)
}

/// The action of a payload.
struct Wanted {
    /// As a line of `check --batch`.
    question: Json,
    /// The digest of name, parameters and working directory.
    hash: String,
}

fn wanted(payload: &Map<String, Json>) -> Result<Wanted, ApiError> {
    let action = payload.get("action").ok_or_else(|| invalid("`payload.action` is missing"))?;
    // A form of the first generation: the name alone, with its parameters beside it.
    let (name, parameters) = match action {
        Json::String(name) => (Some(name.as_str()), payload.get("parameters")),
        other => (other.get("name").and_then(Json::as_str), other.get("parameters")),
    };
    let name = name.ok_or_else(|| invalid("`payload.action.name` is missing"))?;
    let empty = json!({});
    let parameters = parameters.unwrap_or(&empty);
    let cwd = parameters.get("cwd").or_else(|| cwd(payload));
    let mut question = json!({ "id": payload.get("trace_id").cloned().unwrap_or_default() });
    let command = parameters.get("command").and_then(Json::as_str);
    match command {
        Some(command) if matches!(name, "Bash" | "shell" | "bash" | "execute_command" | "run_command") => {
            question["command"] = json!(command);
        }
        _ => {
            question["tool"] = json!(name);
            question["input"] = parameters.clone();
        }
    }
    if let Some(cwd) = cwd {
        question["cwd"] = cwd.clone();
    }
    let whole = canonical(&json!({ "name": name, "parameters": parameters, "cwd": cwd }));
    Ok(Wanted { question, hash: format!("sha256:{}", hex::encode(Sha256::digest(whole))) })
}

/// The one text of a value: fields in the order of their names, no spaces.
fn canonical(value: &Json) -> String {
    match value {
        Json::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            let all: Vec<String> = names
                .into_iter()
                .map(|name| {
                    let value = fields.get(name).map(canonical).unwrap_or_default();
                    format!("{}:{value}", Json::String(name.clone()))
                })
                .collect();
            format!("{{{}}}", all.join(","))
        }
        Json::Array(values) => format!("[{}]", values.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.to_string(),
    }
}

/// Puts a question to people, or tells how it stands with one; waits for its answer as long as the payload says.
fn asked_of_people(
    app: &App,
    payload: &Map<String, Json>,
    message: &str,
    sender: &str,
) -> Result<Json, ApiError> {
    let wait = seconds(payload, "wait_seconds", 0, 0..=LONGEST_WAIT)?;
    let known = payload.get("hitl_id").and_then(Json::as_str);
    let action = if payload.contains_key("action") { Some(wanted(payload)?) } else { None };
    let id = match (known, &action) {
        (Some(id), _) => id.to_owned(),
        (None, Some(action)) => match put(app, payload, action, sender)? {
            Ok(id) => id,
            Err(refused) => return Ok(refused),
        },
        (None, None) => return Err(invalid("neither `payload.action` nor `payload.hitl_id` is there")),
    };
    let until = Instant::now() + Duration::from_secs(wait);
    let mut entry = question(app, &id)?;
    if action.is_some_and(|action| entry["action_hash"] != action.hash.as_str()) {
        return Err(ApiError::new(
            StatusCode::CONFLICT,
            "acgp_3003",
            "the action is not the one that the question is about",
            "ask about it by another HITL message without `hitl_id`",
        ));
    }
    // Where too many wait already, the sender asks again.
    let place = app.waits.try_acquire().ok();
    while entry["state"] == "pending" && place.is_some() && Instant::now() < until {
        std::thread::sleep(PAUSE);
        entry = question(app, &id)?;
    }
    let mut status = entry["state"].as_str().unwrap_or_default().to_owned();
    if status == "allowed" {
        let command =
            ServedCommand::HandOut { approval: id.clone(), receiver: format!("{sender}\n{message}") };
        let handed = app.commands.carry_out(command)?.pop().unwrap_or_default();
        if handed["handed_out"] != true {
            "used".clone_into(&mut status);
        }
    }
    Ok(stands(payload, &entry, &status))
}

/// Puts the question; the name of it, or the answer where nobody is asked.
fn put(
    app: &App,
    payload: &Map<String, Json>,
    action: &Wanted,
    sender: &str,
) -> Result<Result<String, Json>, ApiError> {
    let words = ["message", "reasoning"].iter().find_map(|name| payload.get(*name)?.as_str());
    let (asker, session) = sent_from(sender, session_id(payload));
    let question = ServedQuestion {
        session,
        asker,
        message: words.map(|words| cut(words, 1000)),
        action_hash: action.hash.clone(),
        seconds: seconds(payload, "timeout_seconds", 300, 1..=3600)?,
        question: action.question.clone(),
    };
    let told = app.commands.carry_out(ServedCommand::Put(question))?.pop().unwrap_or_default();
    if let Some(id) = told["id"].as_str() {
        return Ok(Ok(id.to_owned()));
    }
    if told["refused"].is_string() {
        return Ok(Err(json!({
            "trace_id": payload.get("trace_id").cloned().unwrap_or_default(),
            "hitl_id": null,
            "status": "refused",
            "intervention": told["refused"],
            "action_hash": action.hash,
            "message": told["reason"],
        })));
    }
    match told["error"].as_str() {
        Some(error) => Err(invalid(error)),
        None => Err(ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "acgp_2001",
            "the question could not be put",
            "try again",
        )),
    }
}

/// A question of a framework, as `approval show` prints it. Those of hooks are not told to who sends messages.
fn question(app: &App, id: &str) -> Result<Json, ApiError> {
    let unknown = || {
        let text = format!("no question that was put by message is called `{}`", cut(id, 64));
        ApiError::new(StatusCode::NOT_FOUND, "acgp_3002", text, "`hitl_id` is in the answer to the question")
    };
    let told = app.commands.carry_out(ServedCommand::Approval { approval: id.to_owned() });
    let entry = told.map_err(|_| unknown())?.pop().unwrap_or_default();
    if entry["action_hash"].is_string() { Ok(entry) } else { Err(unknown()) }
}

/// How it stands with a question.
fn stands(payload: &Map<String, Json>, entry: &Json, status: &str) -> Json {
    let (intervention, decision, words) = match status {
        "pending" => ("escalate", None, "a person is asked"),
        "allowed" => ("ok", Some("approved"), "a person said yes to this action, once"),
        "used" => ("block", Some("approved"), "the yes was handed out already; ask again for another action"),
        "denied" => ("block", Some("rejected"), "it was refused"),
        "expired" => ("block", Some("timeout"), "nobody answered in time"),
        _ => ("block", Some("timeout"), "the question has ended without an answer"),
    };
    let result = decision.map(|decision| {
        json!({
            "artifact_type": "HITL_RESULT",
            "hitl_id": entry["id"],
            "decision": decision,
            "reviewer": entry["answered_by"]["name"],
            "comment": entry["message"],
            "decided_at": entry["ended_at"],
            "action_hash": entry["action_hash"],
            "final_intervention": intervention,
        })
    });
    json!({
        "trace_id": payload.get("trace_id").cloned().unwrap_or_default(),
        "hitl_id": entry["id"],
        "status": status,
        "intervention": intervention,
        "action_hash": entry["action_hash"],
        "message": entry["message"].as_str().unwrap_or(words),
        "expires_at": entry["expires_at"],
        "hitl_result": result,
    })
}

/// A number of seconds of a payload.
fn seconds(
    payload: &Map<String, Json>,
    name: &str,
    without: u64,
    within: RangeInclusive<u64>,
) -> Result<u64, ApiError> {
    let Some(value) = payload.get(name).filter(|value| !value.is_null()) else { return Ok(without) };
    value.as_u64().filter(|seconds| within.contains(seconds)).ok_or_else(|| {
        invalid(format!("`payload.{name}` is not a number from {} to {}", within.start(), within.end()))
    })
}

fn cut(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

/// The verdict on the action of a trace.
fn evaluated(app: &App, payload: &Map<String, Json>, sender: &str) -> Result<Json, ApiError> {
    let question = wanted(payload)?.question;
    let began = app.now();
    let answer = app.evaluated(sent_from(sender, session_id(payload)), question, Extent::Done)?;
    if let Some(error) = answer.get("error").and_then(Json::as_str) {
        return Err(invalid(error));
    }
    Ok(json!({
        "trace_id": payload.get("trace_id").cloned().unwrap_or_default(),
        "evaluation_id": identity()?,
        "intervention": answer["verdict"],
        "flagged": answer["flagged"],
        "message": answer["reason"],
        "alternatives": answer["alternatives"],
        "ctq_score": answer["governance"]["ctq"],
        "risk_score": answer["risk"]["score"],
        "governance_tier": answer["governance"]["tier"],
        "trust_debt": answer["governance"]["trust_debt"],
        "posture": answer["governance"]["posture"],
        "metadata": {
            "evaluation_time_ms": app.now().saturating_sub(began),
            "evaluator_version": env!("CARGO_PKG_VERSION"),
        },
    }))
}

fn identity() -> Result<String, ApiError> {
    let random = Token::random().map_err(|error| {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "acgp_5001", error.to_string(), "")
    })?;
    Ok(random.as_str().chars().take(32).collect())
}

/// A message that is not valid: class 3.
fn invalid(message: impl Into<String>) -> ApiError {
    ApiError {
        detail: crate::answer::ErrorDetail { kind: "acgp_3001", ..bad(message, "").detail },
        ..bad("", "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sender_names_a_session_of_another() {
        let senders = ["a", "a:b", "a#b", "a%23b", "a:b#c", "%"];
        let sessions = [None, Some("b"), Some("b:c"), Some("b#c"), Some("c")];
        let pairs = senders.iter().flat_map(|sender| sessions.map(|session| sent_from(sender, session).1));
        let different: std::collections::BTreeSet<String> = pairs.collect();
        assert_eq!(different.len(), senders.len() * sessions.len(), "{different:?}");
    }

    #[test]
    fn a_digest_is_that_of_the_action_and_of_nothing_else() {
        let hash = |payload: Json| wanted(payload.as_object().unwrap()).unwrap().hash;
        let one =
            hash(json!({ "action": { "name": "Bash", "parameters": { "command": "ls", "cwd": "/a" } } }));
        let again = json!({ "trace_id": 1, "action": { "parameters": { "cwd": "/a", "command": "ls" }, "name": "Bash" } });
        assert_eq!(one, hash(again));
        for other in [
            json!({ "action": { "name": "Bash", "parameters": { "command": "ls ", "cwd": "/a" } } }),
            json!({ "action": { "name": "Bash", "parameters": { "command": "ls", "cwd": "/b" } } }),
            json!({ "action": { "name": "bash", "parameters": { "command": "ls", "cwd": "/a" } } }),
        ] {
            assert_ne!(one, hash(other));
        }
    }
}
