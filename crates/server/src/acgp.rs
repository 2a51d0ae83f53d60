//! Messages of ACGP over HTTP (ACGP messages, binding B: `POST /acgp/v1/messages`): an agent framework asks before it acts.
//!
//! | message | answer |
//! |---|---|
//! | `EVAL`, `TRACE` | `INTERVENTION`: the verdict on the action, with its reason and the quality of the trace |
//! | `VERSION_NEGOTIATION` | `VERSION_SELECTED` |
//! | `HITL` | an error of class 4: no message opens or answers a question to people; `/v1/approvals` lists and answers those of hooks |
//!
//! The action is reviewed by the code of `check`. Who says who it is, is not believed for it: tier and policy are those of the machine.

use axum::http::StatusCode;
use serde_json::{Map, Value as Json, json};

use crate::answer::ApiError;
use crate::api::{Call, bad};
use crate::commands::ServedCommand;
use crate::server::App;
use crate::token::Token;

/// The version of the messages.
const VERSION: &str = "1.0.0";
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
        "EVAL" | "TRACE" => ("INTERVENTION", evaluated(app, payload)?),
        "VERSION_NEGOTIATION" => ("VERSION_SELECTED", json!({ "protocol_version": VERSION })),
        "HITL" => {
            return Err(ApiError::new(
                StatusCode::NOT_IMPLEMENTED,
                "acgp_4001",
                "questions to people are not taken by message yet",
                "`/v1/approvals` lists and answers the calls that wait in hooks",
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

/// The verdict on the action of a trace.
fn evaluated(app: &App, payload: &Map<String, Json>) -> Result<Json, ApiError> {
    let action = payload.get("action").ok_or_else(|| invalid("`payload.action` is missing"))?;
    // A form of the first generation: the name alone, with its parameters beside it.
    let (name, parameters) = match action {
        Json::String(name) => (Some(name.as_str()), payload.get("parameters")),
        other => (other.get("name").and_then(Json::as_str), other.get("parameters")),
    };
    let name = name.ok_or_else(|| invalid("`payload.action.name` is missing"))?;
    let empty = json!({});
    let parameters = parameters.unwrap_or(&empty);
    let cwd = parameters.get("cwd").or_else(|| payload.get("context").and_then(|context| context.get("cwd")));
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
    let began = app.now();
    let answer = app.commands.carry_out(ServedCommand::Check { question })?.pop().unwrap_or_default();
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
