//! Records as spans. A session is a trace; its calls, and what its model was paid for, are spans below it, by the semantic conventions for
//! generative models. No command, prompt or content is in them.

use std::collections::{BTreeMap, HashMap};

use checkrein_protocol::{OutcomeRecord, RecordBody, ReviewRecord, VerdictKind};
use serde_json::{Value as Json, json};

use super::{at, attributes, identity, nanoseconds, trace_of};
use crate::index::query::TakenRecord;

/// How many calls wait for their end at most (ours); the one that came first is sent without.
const MOST: usize = 1024;
/// For how long a call waits for its end, in milliseconds (ours).
const LONGEST: u64 = 60 * 60 * 1000;
/// How many sessions are remembered (ours).
const SESSIONS: usize = 1024;
/// The kinds of spans (OTLP): within a program, and a request to another.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
/// The states of spans (OTLP).
const UNSET: u8 = 0;
const FAILED: u8 = 2;

/// What waits for its end.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// By the number in the index, so that the first is the oldest.
    open: BTreeMap<i64, Open>,
    sessions: HashMap<String, (u64, String)>,
}

#[derive(Debug)]
struct Open {
    session: String,
    at: u64,
    review: Box<ReviewRecord>,
}

impl Spans {
    /// The spans that a record ends.
    pub(super) fn of(&mut self, one: &TakenRecord) -> Vec<Json> {
        let mut ended = self.overdue(at(one));
        match &one.record.body {
            RecordBody::SessionStarted { client, .. } => {
                if self.sessions.len() >= SESSIONS {
                    self.sessions.clear();
                }
                self.sessions.entry(one.session.clone()).or_insert_with(|| (at(one), client.clone()));
            }
            RecordBody::Review(review) => {
                let open = Open { session: one.session.clone(), at: at(one), review: review.clone() };
                // What is refused has no end of its own.
                if review.verdict_at_door() >= VerdictKind::Block {
                    ended.push(call(&open, at(one), None));
                } else {
                    self.open.insert(one.id, open);
                }
            }
            RecordBody::Outcome(outcome) => {
                let is_its = |(_, open): &(&i64, &Open)| {
                    open.session == one.session && open.review.action_id == outcome.action_id
                };
                let place = self.open.iter().rev().find(is_its).map(|(place, _)| *place);
                if let Some(open) = place.and_then(|place| self.open.remove(&place)) {
                    ended.push(call(&open, at(one), Some(outcome)));
                }
            }
            RecordBody::Usage(usage) => {
                ended.extend(usage.models.iter().enumerate().map(|(place, spent)| {
                    let name = format!("{}\0{place}", one.record.seq);
                    let all = attributes(&[
                        ("gen_ai.operation.name", json!("chat")),
                        ("gen_ai.conversation.id", json!(one.session)),
                        ("gen_ai.request.model", json!(spent.model)),
                        ("gen_ai.usage.input_tokens", json!(spent.tokens.input)),
                        ("gen_ai.usage.output_tokens", json!(spent.tokens.output)),
                        ("gen_ai.usage.cache_creation.input_tokens", json!(spent.tokens.cache_write)),
                        ("gen_ai.usage.cache_read.input_tokens", json!(spent.tokens.cache_read)),
                        ("checkrein.dollars", spent.cost.map_or(Json::Null, |cost| json!(cost.dollars()))),
                    ]);
                    let title = format!("chat {}", spent.model);
                    span(
                        &one.session,
                        &["usage", &name],
                        (&title, CLIENT),
                        (at(one), at(one)),
                        &all,
                        (UNSET, ""),
                    )
                }));
            }
            RecordBody::Event { name, .. } if name == "SessionEnd" => {
                if let Some((began, client)) = self.sessions.remove(&one.session) {
                    ended.push(session(&one.session, &client, began, at(one)));
                }
            }
            RecordBody::Event { .. }
            | RecordBody::Prompt { .. }
            | RecordBody::Unanswered(_)
            | RecordBody::Unreviewed(_)
            | RecordBody::Told { .. }
            | RecordBody::Issue(_)
            | RecordBody::IssueEnded { .. }
            | RecordBody::Intervention(_)
            | RecordBody::Marked { .. }
            | RecordBody::Rollback(_)
            | RecordBody::Message { .. }
            | RecordBody::Condensed
            | RecordBody::Halted { .. }
            | RecordBody::ReviewClosed { .. }
            | RecordBody::Resumed { .. }
            | RecordBody::ConfigChanged { .. }
            | RecordBody::Failure { .. }
            | RecordBody::Retention { .. }
            | RecordBody::Anchor { .. }
            | RecordBody::Repaired { .. }
            | RecordBody::Unknown => {}
        }
        ended
    }

    /// Calls that wait for too long, or are too many: they are told without an end.
    fn overdue(&mut self, now: u64) -> Vec<Json> {
        let mut ended = Vec::new();
        while let Some(first) = self.open.first_entry() {
            let is_late = now.saturating_sub(first.get().at) > LONGEST;
            if !is_late && self.open.len() <= MOST {
                break;
            }
            if let Some((_, open)) = self.open.pop_first() {
                ended.push(call(&open, open.at, None));
            }
        }
        ended
    }
}

fn session(name: &str, client: &str, began: u64, ended: u64) -> Json {
    let all = attributes(&[
        ("gen_ai.operation.name", json!("invoke_agent")),
        ("gen_ai.agent.name", json!(client)),
        ("gen_ai.conversation.id", json!(name)),
    ]);
    let title = format!("invoke_agent {client}");
    let mut span = span(name, &["session"], (&title, INTERNAL), (began, ended), &all, (UNSET, ""));
    if let Some(fields) = span.as_object_mut() {
        fields.remove("parentSpanId");
    }
    span
}

fn call(open: &Open, ended: u64, outcome: Option<&OutcomeRecord>) -> Json {
    let review = &open.review;
    let began = open.at.saturating_sub(review.elapsed_us / 1000);
    let error = outcome.filter(|outcome| outcome.failed);
    let all = attributes(&[
        ("gen_ai.operation.name", json!("execute_tool")),
        ("gen_ai.tool.name", json!(review.tool)),
        ("gen_ai.tool.call.id", json!(review.action_id)),
        ("gen_ai.conversation.id", json!(open.session)),
        ("checkrein.decision", json!(review.decision)),
        ("checkrein.verdict", json!(review.verdict)),
        ("checkrein.flagged", json!(review.flagged)),
        ("checkrein.risk.score", json!(review.risk.score)),
        ("checkrein.risk.level", json!(review.risk.level)),
        ("checkrein.review.duration_us", json!(review.elapsed_us)),
        ("checkrein.answered", json!(review.answered.is_none())),
        ("checkrein.ran", json!(outcome.is_some())),
        ("error.type", error.map_or(Json::Null, |_| json!("tool_error"))),
    ]);
    let title = format!("execute_tool {}", review.tool.as_str());
    let state = if error.is_some() { (FAILED, "the tool failed") } else { (UNSET, "") };
    span(&open.session, &["call", review.action_id.as_str()], (&title, INTERNAL), (began, ended), &all, state)
}

fn span(
    session: &str,
    own: &[&str],
    (title, kind): (&str, u8),
    (began, ended): (u64, u64),
    all: &Json,
    (code, message): (u8, &str),
) -> Json {
    let own: Vec<&str> = std::iter::once(session).chain(own.iter().copied()).collect();
    json!({
        "traceId": trace_of(session),
        "spanId": identity(&own, 8),
        "parentSpanId": identity(&[session, "session"], 8),
        "name": title,
        "kind": kind,
        "startTimeUnixNano": nanoseconds(began),
        "endTimeUnixNano": nanoseconds(ended),
        "attributes": all,
        "status": { "code": code, "message": message },
    })
}
