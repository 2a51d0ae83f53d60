//! All addresses: what each is given and answers, and what does it.

use schemars::{Schema, SchemaGenerator, json_schema};

use super::Route;
use super::Verb::{Get, Post};
use super::handlers::{
    NewLink, RecordPage, SessionPage, SpendingRow, acted, allow, answered, call, check, difference, listed,
    new_code, new_link, of_type, reason, restore, rollback, session, sessions, spending, stats, timeline,
    workspace_of,
};
use crate::acgp;
use crate::caller::NewCode;
use crate::commands::{AnswerDoor, ServedAnswer, ServedCommand};
use crate::index::query::SessionRow;

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
/// What an answer says of what was read before it.
const SHOWN: (&str, &str) =
    ("shown", "The `shown` of the question as it was read; the answer counts only while it is the same");

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
        body: &[("for", "`once`, which holds without it, `session` or `always`"), SHOWN],
        answer: done,
        handle: allow,
    },
    Route {
        verb: Post,
        path: "/v1/approvals/{approval}/deny",
        summary: "Refuses a waiting call",
        query: NO_FIELDS,
        body: &[("message", "A word to the agent"), SHOWN],
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
        verb: Post,
        path: "/v1/incidents/{incident}/close",
        summary: "Closes an incident: a user looked at it",
        query: NO_FIELDS,
        body: &[("note", "What they say about it")],
        answer: done,
        handle: |app, call| {
            let (incident, note) = (call.part("incident").to_owned(), call.needed("note")?);
            let from = call.door.unwrap_or(AnswerDoor::Api);
            acted(app, ServedCommand::CloseIncident { incident, note, from })
        },
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
        path: "/v1/agents",
        summary: "Lists agents with their trust debt and tier, across their sessions",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: list,
        handle: |app, _| listed(app, ServedCommand::Agents),
    },
    Route {
        verb: Post,
        path: "/v1/agents/{agent}/tier",
        summary: "Has an agent overseen in a stricter tier, or as configured",
        query: NO_FIELDS,
        body: &[("tier", "`0` to `5`, or `configured`"), ("note", "Why")],
        answer: done,
        handle: |app, call| {
            let (agent, tier) = (call.part("agent").to_owned(), call.needed("tier")?);
            acted(app, ServedCommand::Tier { agent, tier, note: call.text("note").unwrap_or_default() })
        },
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
        query: &[
            ("workspace", "The root of the workspace"),
            ("session", "Or a session that works there"),
            ("lines", "`on` also lists the lines of text that differ; with the key of the approver"),
        ],
        body: NO_FIELDS,
        answer: list,
        handle: difference,
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
        path: "/v1/links",
        summary: "Makes a link that logs one browser in, once",
        query: NO_FIELDS,
        body: NO_FIELDS,
        answer: |all| all.subschema_for::<NewLink>(),
        handle: new_link,
    },
    Route {
        verb: Post,
        path: "/v1/pairings",
        summary: "Makes a link that pairs a device of another machine, once; asked on the machine of the server alone",
        query: NO_FIELDS,
        body: &[("role", "`approver`, which holds without it, or `viewer`")],
        answer: |all| all.subschema_for::<NewCode>(),
        handle: new_code,
    },
    Route {
        verb: Post,
        path: "/acgp/v1/messages",
        summary: "Takes a message of ACGP: TRACE, EVAL or HITL",
        query: NO_FIELDS,
        body: &[("*", "The envelope and its payload")],
        answer: object,
        handle: acgp::message,
    },
];
