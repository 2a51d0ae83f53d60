//! What each address does.

use axum::http::StatusCode;
use checkrein_protocol::VerdictKind;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{Call, bad};
use crate::answer::ApiError;
use crate::caller::NewCode;
use crate::commands::{AnswerDoor, Detail, Extent, ServedAnswer, ServedCommand};
use crate::devices::Role;
use crate::index::query::{self, LONGEST_PAGE, RecordRow, SessionRow, Wanted};
use crate::server::App;

const VERDICTS: [VerdictKind; 5] =
    [VerdictKind::Ok, VerdictKind::Nudge, VerdictKind::Escalate, VerdictKind::Block, VerdictKind::Halt];
/// The rows of a page without a wish (ours).
const PAGE: u64 = 100;
const DAY: u64 = crate::index::DAY;

/// A page of sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionPage {
    /// Newest record first.
    sessions: Vec<SessionRow>,
}

/// A page of records.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RecordPage {
    /// Newest first.
    records: Vec<RecordRow>,
    /// What `before` is for the next page; null at the end. A search looks through 50,000 records for one page: it may have few rows, or
    /// none, and still a next one.
    next: Option<i64>,
}

/// What was spent.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SpendingRow {
    /// The day, in milliseconds since 1970.
    day: u64,
    /// The model.
    model: String,
    /// Tokens that count against limits.
    tokens: f64,
    /// US dollars, where the price is known.
    dollars: f64,
}

fn value(answer: &impl Serialize) -> Result<Json, ApiError> {
    serde_json::to_value(answer)
        .map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "system", error.to_string(), ""))
}

fn limit(call: &Call) -> Result<u64, ApiError> {
    Ok(call.number("limit")?.unwrap_or(PAGE).clamp(1, LONGEST_PAGE))
}

pub(super) fn sessions(app: &App, call: &Call) -> Result<Json, ApiError> {
    let sessions = query::sessions(&app.reader()?, app.state(), app.now(), limit(call)?)?;
    value(&SessionPage { sessions })
}

pub(super) fn session(app: &App, call: &Call) -> Result<Json, ApiError> {
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

pub(super) fn timeline(app: &App, call: &Call) -> Result<Json, ApiError> {
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

pub(super) fn of_type(app: &App, call: &Call, kind: &str) -> Result<Json, ApiError> {
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
    let found = query::records(&app.reader()?, wanted)?;
    value(&RecordPage { records: found.rows, next: found.next })
}

pub(super) fn call(app: &App, call: &Call) -> Result<Json, ApiError> {
    let session = session_of(app, call.part("session"))?;
    let items = query::call(&app.reader()?, app.state(), &session.session, call.part("action"))?;
    if items.is_empty() {
        return Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", "no such call in this session", ""));
    }
    Ok(json!({ "items": items }))
}

pub(super) fn listed(app: &App, command: ServedCommand) -> Result<Json, ApiError> {
    Ok(json!({ "items": app.commands.carry_out(command)? }))
}

pub(super) fn acted(app: &App, command: ServedCommand) -> Result<Json, ApiError> {
    let mut told = app.commands.carry_out(command)?;
    Ok(json!({ "result": told.pop() }))
}

pub(super) fn stats(app: &App, call: &Call) -> Result<Json, ApiError> {
    let days: u64 = call.number("days")?.unwrap_or(30);
    let mut told = app.commands.carry_out(ServedCommand::Stats { period: days.saturating_mul(DAY) })?;
    Ok(told.pop().unwrap_or_default())
}

pub(super) fn spending(app: &App, call: &Call) -> Result<Json, ApiError> {
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

pub(super) fn check(app: &App, call: &Call) -> Result<Json, ApiError> {
    if call.text("command").is_none() && call.text("tool").is_none() {
        return Err(bad("neither `command` nor `tool` is given", ""));
    }
    app.reviewed(Json::Object(call.body.clone()))
}

pub(super) fn allow(app: &App, call: &Call) -> Result<Json, ApiError> {
    let answer = match call.text("for").as_deref() {
        None | Some("once") => ServedAnswer::Once,
        Some("session") => ServedAnswer::Session,
        Some("always") => ServedAnswer::Always,
        Some(other) => return Err(bad(format!("`{other}` is not a span"), "use once, session or always")),
    };
    answered(app, call, answer)
}

pub(super) fn answered(app: &App, call: &Call, answer: ServedAnswer) -> Result<Json, ApiError> {
    let approval = call.part("approval").to_owned();
    let from = call.door.unwrap_or(AnswerDoor::Api);
    // Who answers on a page has read it some time ago.
    let shown = if from == AnswerDoor::Console { Some(call.needed("shown")?) } else { call.text("shown") };
    acted(app, ServedCommand::Answer { approval, answer, shown, from })
}

/// A link that logs one browser in, once.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NewLink {
    /// Its path on this server.
    open: String,
}

pub(super) fn new_link(app: &App, _: &Call) -> Result<Json, ApiError> {
    let open = app.access.link().map_err(|error| {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "system", format!("no randomness: {error}"), "")
    })?;
    value(&NewLink { open })
}

pub(super) fn new_code(app: &App, call: &Call) -> Result<Json, ApiError> {
    let role = match call.text("role") {
        None => Role::Approver,
        Some(word) => {
            Role::parse(&word).ok_or_else(|| bad("`role` is neither `approver` nor `viewer`", ""))?
        }
    };
    let Some(outside) = app.access.outside() else {
        return Err(ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "refused",
            "the server answers no other machines",
            "start it with `checkrein serve --lan`",
        ));
    };
    let pair = outside.code(role, checkrein_protocol::Timestamp(app.now())).map_err(|error| {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "system", format!("no randomness: {error}"), "")
    })?;
    value(&NewCode { pair, fingerprint: outside.fingerprint().as_str().to_owned() })
}

pub(super) fn reason(call: &Call) -> String {
    call.text("reason").unwrap_or_else(|| "a user stopped it through the server".to_owned())
}

pub(super) fn rollback(app: &App, call: &Call) -> Result<Json, ApiError> {
    let extent = if call.is_on("preview")? { Extent::Shown } else { Extent::Done };
    acted(
        app,
        ServedCommand::Rollback {
            session: call.part("session").to_owned(),
            before: call.needed("before")?,
            extent,
        },
    )
}

pub(super) fn restore(app: &App, call: &Call) -> Result<Json, ApiError> {
    let workspace = workspace_of(app, call.text("workspace"), call.text("session"))?;
    // Without the field all of it is restored; a list that cannot be read must not become that.
    let listed = |all: &Vec<Json>| -> Option<Vec<String>> {
        all.iter().map(|path| path.as_str().map(str::to_owned)).collect()
    };
    let paths = match call.body.get("paths") {
        None => Vec::new(),
        Some(given) => {
            let paths = given.as_array().and_then(listed).filter(|paths| !paths.is_empty());
            paths.ok_or_else(|| bad("`paths` is not a list of paths", "leave it out to restore all"))?
        }
    };
    acted(app, ServedCommand::Restore { workspace, snapshot: snapshot_of(call)?, paths })
}

pub(super) fn difference(app: &App, call: &Call) -> Result<Json, ApiError> {
    let workspace = workspace_of(app, call.asked("workspace"), call.asked("session"))?;
    let detail = match call.asked("lines").as_deref() {
        None | Some("off") => Detail::Paths,
        Some("on") if call.is_of_approver() => Detail::Lines,
        Some("on") => {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "role",
                "the key of a viewer does not read what is in files",
                "use the key in `server/checkrein.token` of the state directory",
            ));
        }
        Some(other) => return Err(bad(format!("`{other}` is neither `on` nor `off`"), "")),
    };
    listed(app, ServedCommand::Difference { workspace, snapshot: snapshot_of(call)?, detail })
}

pub(super) fn snapshot_of(call: &Call) -> Result<u64, ApiError> {
    call.part("snapshot").parse().map_err(|_| bad("a snapshot is a number", "`/v1/snapshots` lists them"))
}

pub(super) fn workspace_of(
    app: &App,
    workspace: Option<String>,
    session: Option<String>,
) -> Result<String, ApiError> {
    let missing = || bad("neither `workspace` nor `session` is given", "`/v1/sessions` lists both");
    match (workspace, session) {
        (Some(workspace), _) => Ok(workspace),
        (None, Some(session)) => session_of(app, &session)?
            .workspace
            .ok_or_else(|| bad("where this session works is not recorded", "give `workspace`")),
        (None, None) => Err(missing()),
    }
}
