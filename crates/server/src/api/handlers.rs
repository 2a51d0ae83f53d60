//! What each address does.

use axum::http::StatusCode;
use checkrein_protocol::VerdictKind;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::Verb::{Get, Post};
use super::{Call, Route, bad};
use crate::acgp;
use crate::answer::ApiError;
use crate::commands::{AnswerDoor, Extent, ServedAnswer, ServedCommand};
use crate::index::query::{self, LONGEST_PAGE, RecordRow, SessionRow, Wanted};
use crate::server::App;

const VERDICTS: [VerdictKind; 5] =
    [VerdictKind::Ok, VerdictKind::Nudge, VerdictKind::Escalate, VerdictKind::Block, VerdictKind::Halt];
/// The rows of a page without a wish (ours).
const PAGE: u64 = 100;
const DAY: u64 = crate::index::DAY;

/// A page of sessions.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionPage {
    /// Newest record first.
    sessions: Vec<SessionRow>,
}

/// A page of records.
#[derive(Debug, Serialize, JsonSchema)]
struct RecordPage {
    /// Newest first.
    records: Vec<RecordRow>,
    /// What `before` is for the next page; null at the end.
    next: Option<i64>,
}

/// What was spent.
#[derive(Debug, Serialize, JsonSchema)]
struct SpendingRow {
    /// The day, in milliseconds since 1970.
    day: u64,
    /// The model.
    model: String,
    /// Tokens that count against limits.
    tokens: f64,
    /// US dollars, where the price is known.
    dollars: f64,
}

fn list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object", "required": ["items"],
        "properties": { "items": {
            "type": "array", "items": { "type": "object" },
            "description": "What the command of that name prints with --json; docs/reference/json.md describes it.",
        } },
    })
}

fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

fn done(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object", "required": ["result"],
        "properties": { "result": { "description": "What the command of that name prints with --json." } },
    })
}

const NO_FIELDS: &[(&str, &str)] = &[];
const LIMIT: (&str, &str) = ("limit", "Rows, from 1 to 500; 100 without it");

/// All addresses of the API.
pub(crate) const ROUTES: &[Route] = &[
    Route {
        verb: Get,
        path: "/v1/approvals",
        summary: "Lists calls that wait for an answer, and those that did",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: list,
        handle: |app, _| listed(app, ServedCommand::Approvals),
    },
    Route {
        verb: Post,
        path: "/v1/approvals/{approval}/allow",
        summary: "Lets a waiting call go on",
        query: NO_FIELDS,
        body: &[("for", "`once`, which holds without it, `session` or `always`")],
        answer: done,
        handle: allow,
    },
    Route {
        verb: Post,
        path: "/v1/approvals/{approval}/deny",
        summary: "Refuses a waiting call",
        query: NO_FIELDS,
        body: &[("message", "A word to the agent")],
        answer: done,
        handle: |app, call| answered(app, call, ServedAnswer::No(call.text("message"))),
    },
    Route {
        verb: Get,
        path: "/v1/sessions",
        summary: "Lists sessions, the one with the newest record first",
        query: &[LIMIT],
        body: NO_FIELDS,
        answer: |all| all.subschema_for::<SessionPage>(),
        handle: sessions,
    },
    Route {
        verb: Get,
        path: "/v1/sessions/{session}",
        summary: "Shows a session",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: |all| all.subschema_for::<SessionRow>(),
        handle: session,
    },
    Route {
        verb: Get,
        path: "/v1/sessions/{session}/timeline",
        summary: "Lists the records of a session, newest first",
        query: &[
            LIMIT,
            ("before", "Only records with a smaller number in the session"),
            ("type", "Only records of this type"),
            ("verdict", "Only reviews with this verdict"),
            ("search", "Only records whose line holds this text"),
        ],
        body: NO_FIELDS,
        answer: |all| all.subschema_for::<RecordPage>(),
        handle: timeline,
    },
    Route {
        verb: Get,
        path: "/v1/sessions/{session}/calls/{action}",
        summary: "Shows all records about a call, with the whole review",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: list,
        handle: call,
    },
    Route {
        verb: Get,
        path: "/v1/calls",
        summary: "Lists reviews of all sessions, newest first",
        query: &[
            LIMIT,
            ("before", "Only records with a smaller number in the index"),
            ("verdict", "Only reviews with this verdict"),
            ("session", "Only those of this session"),
            ("search", "Only calls whose line holds this text"),
        ],
        body: NO_FIELDS,
        answer: |all| all.subschema_for::<RecordPage>(),
        handle: |app, call| of_type(app, call, "review"),
    },
    Route {
        verb: Get,
        path: "/v1/interventions",
        summary: "Lists interventions, newest first",
        query: &[
            LIMIT,
            ("before", "Only records with a smaller number in the index"),
            ("session", "Only those of this session"),
        ],
        body: NO_FIELDS,
        answer: |all| all.subschema_for::<RecordPage>(),
        handle: |app, call| of_type(app, call, "intervention"),
    },
    Route {
        verb: Get,
        path: "/v1/issues",
        summary: "Lists detected issues",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: list,
        handle: |app, _| listed(app, ServedCommand::Issues),
    },
    Route {
        verb: Get,
        path: "/v1/incidents",
        summary: "Lists emergency stops with their reports",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: list,
        handle: |app, _| listed(app, ServedCommand::Incidents),
    },
    Route {
        verb: Get,
        path: "/v1/tickets",
        summary: "Lists flagged calls",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: list,
        handle: |app, _| listed(app, ServedCommand::Tickets),
    },
    Route {
        verb: Get,
        path: "/v1/snapshots",
        summary: "Lists the snapshots of a workspace",
        query: &[("workspace", "The root of the workspace"), ("session", "Or a session that works there")],
        body: NO_FIELDS,
        answer: list,
        handle: |app, call| {
            let workspace = workspace_of(app, call.asked("workspace"), call.asked("session"))?;
            listed(app, ServedCommand::Snapshots { workspace })
        },
    },
    Route {
        verb: Get,
        path: "/v1/snapshots/{snapshot}/diff",
        summary: "Lists what differs now from a snapshot",
        query: &[("workspace", "The root of the workspace"), ("session", "Or a session that works there")],
        body: NO_FIELDS,
        answer: list,
        handle: |app, call| {
            let workspace = workspace_of(app, call.asked("workspace"), call.asked("session"))?;
            listed(app, ServedCommand::Difference { workspace, snapshot: snapshot_of(call)? })
        },
    },
    Route {
        verb: Get,
        path: "/v1/stats",
        summary: "Counts calls, verdicts, answers and spending, as `checkrein stats`",
        query: &[("days", "How far back, in days; 30 without it")],
        body: NO_FIELDS,
        answer: object,
        handle: stats,
    },
    Route {
        verb: Get,
        path: "/v1/spending",
        summary: "Lists tokens and dollars by day and model",
        query: &[("days", "How far back, in days; 30 without it")],
        body: NO_FIELDS,
        answer: |all| {
            let row = all.subschema_for::<SpendingRow>();
            json_schema!({ "type": "object", "properties": { "items": { "type": "array", "items": row } } })
        },
        handle: spending,
    },
    Route {
        verb: Post,
        path: "/v1/check",
        summary: "Explains the verdict on a call without running it, as `checkrein check`",
        query: NO_FIELDS,
        body: &[
            ("id", "Comes back in the answer"),
            ("command", "Shell text"),
            ("tool", "The name of a tool, for other calls"),
            ("input", "The input of the tool"),
            ("cwd", "The working directory"),
        ],
        answer: object,
        handle: check,
    },
    Route {
        verb: Post,
        path: "/v1/halt",
        summary: "Halts all sessions",
        query: NO_FIELDS,
        body: &[("reason", "Why")],
        answer: done,
        handle: |app, call| acted(app, ServedCommand::Halt { session: None, reason: reason(call) }),
    },
    Route {
        verb: Post,
        path: "/v1/resume",
        summary: "Lets all sessions go on",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: done,
        handle: |app, _| acted(app, ServedCommand::Resume { session: None }),
    },
    Route {
        verb: Post,
        path: "/v1/sessions/{session}/halt",
        summary: "Halts a session: every further call is refused",
        query: NO_FIELDS,
        body: &[("reason", "Why")],
        answer: done,
        handle: |app, call| {
            let session = Some(call.part("session").to_owned());
            acted(app, ServedCommand::Halt { session, reason: reason(call) })
        },
    },
    Route {
        verb: Post,
        path: "/v1/sessions/{session}/resume",
        summary: "Lets a halted session go on",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: done,
        handle: |app, call| {
            acted(app, ServedCommand::Resume { session: Some(call.part("session").to_owned()) })
        },
    },
    Route {
        verb: Post,
        path: "/v1/sessions/{session}/rollback",
        summary: "Takes back an action of a session and every later one",
        query: NO_FIELDS,
        body: &[("before", "The action, by name or number"), ("preview", "Only show what would change")],
        answer: done,
        handle: rollback,
    },
    Route {
        verb: Post,
        path: "/v1/snapshots/{snapshot}/restore",
        summary: "Goes back to a snapshot, or some paths of it",
        query: NO_FIELDS,
        body: &[
            ("workspace", "The root of the workspace"),
            ("session", "Or a session that works there"),
            ("paths", "What of it; all without it"),
        ],
        answer: done,
        handle: restore,
    },
    Route {
        verb: Post,
        path: "/v1/calls/{action}/wrong",
        summary: "Says that a call was wrongly stopped",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: done,
        handle: |app, call| acted(app, ServedCommand::Wrong { action: call.part("action").to_owned() }),
    },
    Route {
        verb: Post,
        path: "/v1/calls/{action}/missed",
        summary: "Says that a call should have been stopped",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: done,
        handle: |app, call| acted(app, ServedCommand::Missed { action: call.part("action").to_owned() }),
    },
    Route {
        verb: Post,
        path: "/v1/tickets/{ticket}/close",
        summary: "Closes a flagged call: a user looked at it",
        query: NO_FIELDS,
        body: &[("note", "What they say about it")],
        answer: done,
        handle: |app, call| {
            let note = call.text("note").unwrap_or_else(|| "seen".to_owned());
            acted(app, ServedCommand::CloseTicket { ticket: call.part("ticket").to_owned(), note })
        },
    },
    Route {
        verb: Post,
        path: "/acgp/v1/messages",
        summary: "Takes a message of ACGP: TRACE or EVAL",
        query: NO_FIELDS,
        body: &[("*", "The envelope and its payload")],
        answer: object,
        handle: acgp::message,
    },
];

fn value(answer: &impl Serialize) -> Result<Json, ApiError> {
    serde_json::to_value(answer)
        .map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "system", error.to_string(), ""))
}

fn limit(call: &Call) -> Result<u64, ApiError> {
    Ok(call.number("limit")?.unwrap_or(PAGE).clamp(1, LONGEST_PAGE))
}

fn sessions(app: &App, call: &Call) -> Result<Json, ApiError> {
    let sessions = query::sessions(&app.reader()?, app.state(), app.now(), limit(call)?)?;
    value(&SessionPage { sessions })
}

fn session(app: &App, call: &Call) -> Result<Json, ApiError> {
    value(&session_of(app, call.part("session"))?)
}

/// The session of a name.
pub(crate) fn session_of(app: &App, name: &str) -> Result<SessionRow, ApiError> {
    query::session(&app.reader()?, app.state(), app.now(), name)?.ok_or_else(|| {
        ApiError::new(
            StatusCode::NOT_FOUND,
            "not_found",
            format!("no session is called `{name}`"),
            "`/v1/sessions` lists them",
        )
    })
}

fn verdict(call: &Call) -> Result<Option<String>, ApiError> {
    let Some(text) = call.asked("verdict") else { return Ok(None) };
    if VERDICTS.iter().any(|kind| kind.name() == text) {
        return Ok(Some(text));
    }
    Err(bad(format!("`{text}` is not a verdict"), "use ok, nudge, escalate, block or halt"))
}

fn timeline(app: &App, call: &Call) -> Result<Json, ApiError> {
    let session = session_of(app, call.part("session"))?;
    page(
        app,
        &Wanted {
            session: Some(session.session),
            before: call.number("before")?,
            kind: call.asked("type"),
            verdict: verdict(call)?,
            search: call.asked("search"),
            limit: limit(call)?,
            ..Wanted::default()
        },
    )
}

fn of_type(app: &App, call: &Call, kind: &str) -> Result<Json, ApiError> {
    page(
        app,
        &Wanted {
            session: call.asked("session"),
            before: call.number("before")?,
            kind: Some(kind.to_owned()),
            verdict: verdict(call)?,
            search: call.asked("search"),
            limit: limit(call)?,
            ..Wanted::default()
        },
    )
}

fn page(app: &App, wanted: &Wanted) -> Result<Json, ApiError> {
    let records = query::records(&app.reader()?, wanted)?;
    let is_full = records.len() as u64 == wanted.limit;
    let by_session = wanted.session.is_some();
    let next = records.last().filter(|_| is_full).map(|last| if by_session { last.seq } else { last.id });
    value(&RecordPage { records, next })
}

fn call(app: &App, call: &Call) -> Result<Json, ApiError> {
    let session = session_of(app, call.part("session"))?;
    let items = query::call(&app.reader()?, app.state(), &session.session, call.part("action"))?;
    if items.is_empty() {
        return Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", "no such call in this session", ""));
    }
    Ok(json!({ "items": items }))
}

fn listed(app: &App, command: ServedCommand) -> Result<Json, ApiError> {
    Ok(json!({ "items": app.commands.carry_out(command)? }))
}

fn acted(app: &App, command: ServedCommand) -> Result<Json, ApiError> {
    let mut told = app.commands.carry_out(command)?;
    Ok(json!({ "result": told.pop() }))
}

fn stats(app: &App, call: &Call) -> Result<Json, ApiError> {
    let days: u64 = call.number("days")?.unwrap_or(30);
    let mut told = app.commands.carry_out(ServedCommand::Stats { period: days.saturating_mul(DAY) })?;
    Ok(told.pop().unwrap_or_default())
}

fn spending(app: &App, call: &Call) -> Result<Json, ApiError> {
    let days: u64 = call.number("days")?.unwrap_or(30);
    let since = (app.now() / DAY).saturating_sub(days);
    let mut items: Vec<SpendingRow> = Vec::new();
    for (day, what, model, value) in query::days(&app.reader()?, since)? {
        if what != "tokens" && what != "dollars" {
            continue;
        }
        let day = day * DAY;
        let place = items.iter().position(|row| row.day == day && row.model == model).unwrap_or(items.len());
        if place == items.len() {
            items.push(SpendingRow { day, model, tokens: 0.0, dollars: 0.0 });
        }
        if let Some(row) = items.get_mut(place) {
            if what == "tokens" { row.tokens = value } else { row.dollars = value }
        }
    }
    Ok(json!({ "items": items }))
}

fn check(app: &App, call: &Call) -> Result<Json, ApiError> {
    if call.text("command").is_none() && call.text("tool").is_none() {
        return Err(bad("neither `command` nor `tool` is given", ""));
    }
    let mut told =
        app.commands.carry_out(ServedCommand::Check { question: Json::Object(call.body.clone()) })?;
    Ok(told.pop().unwrap_or_default())
}

fn allow(app: &App, call: &Call) -> Result<Json, ApiError> {
    let answer = match call.text("for").as_deref() {
        None | Some("once") => ServedAnswer::Once,
        Some("session") => ServedAnswer::Session,
        Some("always") => ServedAnswer::Always,
        Some(other) => return Err(bad(format!("`{other}` is not a span"), "use once, session or always")),
    };
    answered(app, call, answer)
}

fn answered(app: &App, call: &Call, answer: ServedAnswer) -> Result<Json, ApiError> {
    let approval = call.part("approval").to_owned();
    acted(app, ServedCommand::Answer { approval, answer, from: call.door.unwrap_or(AnswerDoor::Api) })
}

fn reason(call: &Call) -> String {
    call.text("reason").unwrap_or_else(|| "a human stopped it from the console".to_owned())
}

fn rollback(app: &App, call: &Call) -> Result<Json, ApiError> {
    let extent = if call.is_on("preview") { Extent::Shown } else { Extent::Done };
    acted(
        app,
        ServedCommand::Rollback {
            session: call.part("session").to_owned(),
            before: call.needed("before")?,
            extent,
        },
    )
}

fn restore(app: &App, call: &Call) -> Result<Json, ApiError> {
    let workspace = workspace_of(app, call.text("workspace"), call.text("session"))?;
    let paths = call.body.get("paths").and_then(Json::as_array).into_iter().flatten();
    let paths = paths.filter_map(|path| path.as_str().map(str::to_owned)).collect();
    acted(app, ServedCommand::Restore { workspace, snapshot: snapshot_of(call)?, paths })
}

fn snapshot_of(call: &Call) -> Result<u64, ApiError> {
    call.part("snapshot").parse().map_err(|_| bad("a snapshot is a number", "`/v1/snapshots` lists them"))
}

fn workspace_of(app: &App, workspace: Option<String>, session: Option<String>) -> Result<String, ApiError> {
    let missing = || bad("neither `workspace` nor `session` is given", "`/v1/sessions` lists both");
    match (workspace, session) {
        (Some(workspace), _) => Ok(workspace),
        (None, Some(session)) => session_of(app, &session)?
            .workspace
            .ok_or_else(|| bad("where this session works is not recorded", "give `workspace`")),
        (None, None) => Err(missing()),
    }
}
