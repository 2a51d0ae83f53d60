//! What each page shows.

use std::collections::BTreeMap;

use askama::Template;
use axum::http::StatusCode;
use serde_json::Value as Json;

use super::parts::{
    Approvals, CallPage, Calls, Folded, Review, RollbackPage, Session, Sessions, ShownAgent, ShownApproval,
    ShownDifference, ShownFinding, ShownGraph, ShownRecord, ShownReview, ShownSession, ShownSnapshot,
    ShownSpending, ShownSum, ShownTicket, SnapshotPage, Snapshots, Stats, text, when,
};
use crate::answer::ApiError;
use crate::api::{Call, bad, session_of};
use crate::commands::{Detail, Extent, ServedCommand};
use crate::graphs::{Series, bars, number};
use crate::index::DAY;
use crate::index::query::{self, Wanted};
use crate::percent::encoded;
use crate::server::App;

/// The rows of a page (ours).
const ROWS: u64 = 100;
const VERDICTS: &[&str] = &["ok", "nudge", "escalate", "block", "halt"];
const TYPES: &[&str] = &[
    "review",
    "outcome",
    "prompt",
    "issue",
    "issue_ended",
    "intervention",
    "told",
    "rollback",
    "usage",
    "halted",
    "resumed",
    "failure",
    "event",
];

pub(crate) fn rendered(page: &impl Template) -> Result<String, ApiError> {
    page.render().map_err(|error| {
        ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "defect",
            error.to_string(),
            "report this as a defect",
        )
    })
}

pub(super) fn sessions(app: &App, _: &Call) -> Result<String, ApiError> {
    let rows = query::sessions(&app.reader()?, app.state(), app.now(), ROWS)?;
    rendered(&Sessions { sessions: rows.into_iter().map(ShownSession::new).collect() })
}

fn wanted(call: &Call) -> Result<Wanted, ApiError> {
    Ok(Wanted {
        before: call.number("before")?,
        kind: call.asked("type"),
        verdict: call.asked("verdict"),
        search: call.asked("search"),
        limit: ROWS,
        ..Wanted::default()
    })
}

/// The address of the next page: the same, further back.
fn next(path: &str, call: &Call, before: Option<i64>) -> Option<String> {
    let before = before?;
    let kept = ["type", "verdict", "search"]
        .iter()
        .filter_map(|name| Some(format!("&{name}={}", encoded(&call.asked(name)?))));
    Some(format!("{path}?before={before}{}", kept.collect::<String>()))
}

pub(super) fn session(app: &App, call: &Call) -> Result<String, ApiError> {
    let one = ShownSession::new(session_of(app, call.part("session"))?);
    let wanted = Wanted { session: Some(one.row.session.clone()), ..wanted(call)? };
    let found = query::records(&app.reader()?, &wanted)?;
    rendered(&Session {
        next: next(&format!("/sessions/{}", one.session), call, found.next),
        one,
        rows: found.rows.into_iter().map(ShownRecord::new).collect(),
        types: TYPES,
        verdicts: VERDICTS,
        kind: wanted.kind.unwrap_or_default(),
        verdict: wanted.verdict.unwrap_or_default(),
        search: wanted.search.unwrap_or_default(),
        is_newest: wanted.before.is_none(),
    })
}

pub(super) fn approvals(app: &App, _: &Call) -> Result<String, ApiError> {
    let all = app.commands.carry_out(ServedCommand::Approvals)?;
    let shown = all.iter().rev().map(ShownApproval::new);
    let (waiting, settled) = shown.partition(|one: &ShownApproval| one.state == "pending");
    rendered(&Approvals { waiting, settled })
}

pub(super) fn calls(app: &App, call: &Call) -> Result<String, ApiError> {
    let wanted = Wanted { kind: Some("review".to_owned()), ..wanted(call)? };
    let found = query::records(&app.reader()?, &wanted)?;
    rendered(&Calls {
        next: next("/calls", call, found.next),
        rows: found.rows.into_iter().map(ShownRecord::new).collect(),
        verdicts: VERDICTS,
        verdict: wanted.verdict.unwrap_or_default(),
        search: wanted.search.unwrap_or_default(),
        is_newest: wanted.before.is_none(),
    })
}

pub(super) fn call(app: &App, call: &Call) -> Result<String, ApiError> {
    let session = session_of(app, call.part("session"))?.session;
    let records = query::call(&app.reader()?, app.state(), &session, call.part("action"))?;
    if records.is_empty() {
        return Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", "no such call in this session", ""));
    }
    let review = records.iter().map(|record| &record["body"]).find(|body| body["type"] == "review");
    rendered(&CallPage {
        session: encoded(&session),
        action: encoded(call.part("action")),
        review: review.map(ShownReview::new),
        records: records.iter().map(|record| folded(text(&record["body"], "type"), record)).collect(),
    })
}

fn folded(kind: String, value: &Json) -> Folded {
    Folded { kind, text: serde_json::to_string_pretty(value).unwrap_or_default() }
}

pub(super) fn rollback(app: &App, call: &Call) -> Result<String, ApiError> {
    let session = session_of(app, call.part("session"))?.session;
    let before = call.asked("before").ok_or_else(|| bad("`before` is missing", "name an action"))?;
    let command =
        ServedCommand::Rollback { session: session.clone(), before: before.clone(), extent: Extent::Shown };
    let plan = app.commands.carry_out(command)?.pop().unwrap_or_default();
    rendered(&RollbackPage {
        session: encoded(&session),
        before,
        plan: serde_json::to_string_pretty(&plan).unwrap_or_default(),
    })
}

fn workspace(app: &App, call: &Call) -> Result<(String, String), ApiError> {
    let session = session_of(app, call.part("session"))?;
    let workspace = session.workspace.ok_or_else(|| bad("where this session works is not recorded", ""))?;
    Ok((session.session, workspace))
}

pub(super) fn snapshots(app: &App, call: &Call) -> Result<String, ApiError> {
    let (session, workspace) = workspace(app, call)?;
    let items = app.commands.carry_out(ServedCommand::Snapshots { workspace })?;
    let shown = items.iter().rev().map(|one| ShownSnapshot {
        id: text(one, "id"),
        at: text(one, "at"),
        reason: text(one, "reason"),
        entries: text(one, "entries"),
    });
    rendered(&Snapshots { session: encoded(&session), items: shown.collect() })
}

pub(super) fn snapshot(app: &App, call: &Call) -> Result<String, ApiError> {
    let (session, workspace) = workspace(app, call)?;
    let snapshot = call.part("snapshot").parse().map_err(|_| bad("a snapshot is a number", ""))?;
    // What is in files is for who may restore them.
    let detail = if call.is_of_approver() { Detail::Lines } else { Detail::Paths };
    let items = app.commands.carry_out(ServedCommand::Difference { workspace, snapshot, detail })?;
    let shown: Vec<ShownDifference> = items.iter().map(ShownDifference::new).collect();
    rendered(&SnapshotPage {
        session: encoded(&session),
        snapshot: snapshot.to_string(),
        count: shown.len(),
        items: shown,
    })
}

pub(super) fn review(app: &App, _: &Call) -> Result<String, ApiError> {
    let open = |one: &&Json| one["closed"].is_null();
    let tickets = app.commands.carry_out(ServedCommand::Tickets)?;
    let tickets = tickets.iter().rev().filter(open).map(|one| ShownTicket {
        id: text(one, "id"),
        verdict: text(one, "verdict"),
        call: text(one, "call"),
        reason: text(one, "reason"),
    });
    let newest = |all: Vec<Json>| all.into_iter().rev().take(100).collect::<Vec<_>>();
    let incidents = newest(app.commands.carry_out(ServedCommand::Incidents)?);
    let issues = newest(app.commands.carry_out(ServedCommand::Issues)?);
    let agents = newest(app.commands.carry_out(ServedCommand::Agents)?);
    rendered(&Review {
        agents: agents.iter().map(ShownAgent::new).collect(),
        tickets: tickets.take(100).collect(),
        incidents: incidents.iter().map(ShownFinding::of_incident).collect(),
        issues: issues.iter().map(ShownFinding::of_issue).collect(),
    })
}

pub(super) fn stats(app: &App, call: &Call) -> Result<String, ApiError> {
    let days: u64 = call.number("days")?.unwrap_or(30).clamp(1, 366);
    let today = app.now() / DAY;
    let first = (today + 1).saturating_sub(days);
    let names: Vec<String> = (first..=today)
        .map(|day| when(crate::answer::signed(day * DAY)).chars().take(10).collect())
        .collect();
    let found = query::days(&app.reader()?, first)?;
    let length = names.len();
    let series = |what: &str| -> Vec<Series> {
        let mut parts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (day, kind, name, value) in &found {
            let place = usize::try_from(day.saturating_sub(first)).unwrap_or_default();
            if kind == what && place < length {
                let shown = if name.is_empty() { what.to_owned() } else { name.clone() };
                parts.entry(shown).or_insert_with(|| vec![0.0; length])[place] += value;
            }
        }
        parts.into_iter().map(|(name, values)| Series { name, values }).collect()
    };
    let results = |what: &str, word: &str| {
        let part = series(what);
        part.into_iter()
            .map(move |one| Series { name: format!("{} {word}", one.name), ..one })
            .collect::<Vec<_>>()
    };
    let sum = |parts: &[Series]| parts.iter().flat_map(|one| &one.values).sum::<f64>();
    let words = |parts: Vec<Series>| -> Vec<Series> {
        let word = |name: &str| match name {
            "wrong" => "stopped without need".to_owned(),
            "missed" => "should have been stopped".to_owned(),
            other => other.replace('_', " "),
        };
        parts.into_iter().map(|one| Series { name: word(&one.name), ..one }).collect()
    };
    // What a rate is made of, beside it.
    let share = |part: f64, all: f64, what: &str| {
        let percent = if all > 0.0 { 100.0 * part / all } else { 0.0 };
        format!("{} of {} {what}: {percent:.1} %.", number(part), number(all))
    };
    let stopped: Vec<Series> = series("verdict")
        .into_iter()
        .filter(|one| matches!(one.name.as_str(), "escalate" | "block" | "halt"))
        .collect();
    let wrong: Vec<Series> = series("opinion").into_iter().filter(|one| one.name == "wrong").collect();
    let rates = [
        (
            "Marks of users on verdicts",
            share(sum(&wrong), sum(&stopped), "stopped calls were marked as stopped without need"),
        ),
        (
            "Escalations of interventions",
            share(
                sum(&series("escalation")),
                sum(&series("intervention")),
                "interventions; the escalation rate",
            ),
        ),
    ];
    let mut effects = results("effective", "ended the issue");
    effects.extend(results("ineffective", "did not"));
    let graphs = [
        ("Verdicts by day", series("verdict")),
        ("Marks of users on verdicts", words(series("opinion"))),
        ("Marks of users on issues", words(series("mark"))),
        ("Risk of calls by day", series("risk")),
        ("Interventions by type", series("intervention")),
        ("Intervention effectiveness", effects),
        ("Escalations of interventions", series("escalation")),
        ("Tokens by model", series("tokens")),
        ("Dollars by model", series("dollars")),
        ("Tokens by project", series("project_tokens")),
        ("Dollars by project", series("project_dollars")),
    ];
    let graphs = graphs.map(|(title, parts)| ShownGraph {
        title,
        rate: rates.iter().find(|(of, _)| *of == title).map(|(_, rate)| rate.clone()),
        svg: bars(title, &names, &parts),
        sums: parts
            .iter()
            .enumerate()
            .map(|(place, one)| ShownSum {
                place: place % 6,
                name: one.name.clone(),
                value: number(one.values.iter().sum()),
            })
            .collect(),
    });
    let mut near = Vec::new();
    if let Some(limit) = app.dollar_limit {
        // Half of a budget is where the agent is told of it, four fifths where it is told again.
        for (session, dollars) in query::dearest(&app.reader()?, first * DAY, limit / 2.0, ROWS)? {
            let state = match dollars / limit {
                share if share >= 1.0 => "reached",
                share if share >= 0.8 => "above four fifths",
                _ => "above half",
            };
            let dollars = format!("{dollars:.2}");
            near.push(ShownSpending { session: encoded(&session), dollars, state });
        }
    }
    let limit = app.dollar_limit.map(|limit| format!("{limit:.2}"));
    rendered(&Stats { days, spans: [7, 30, 90], graphs: graphs.into(), limit, near })
}
