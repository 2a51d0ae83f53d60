//! What the templates are filled with.

use askama::Template;
use checkrein_engine::text::plain;
use checkrein_protocol::Timestamp;
use serde_json::Value as Json;

use crate::index::query::{RecordRow, SessionRow};
use crate::percent::encoded;

/// A time as people read it: day and time in UTC.
pub(super) fn when(at: i64) -> String {
    let text = Timestamp(at.unsigned_abs()).calendar().to_rfc3339();
    text.replace('T', " ").replace('Z', " UTC")
}

/// A session on a page.
pub(super) struct ShownSession {
    /// Its name as a part of an address.
    pub(super) session: String,
    pub(super) when: String,
    pub(super) dollars: String,
    pub(super) row: SessionRow,
}

impl ShownSession {
    pub(super) fn new(row: SessionRow) -> Self {
        Self {
            session: encoded(&row.session),
            when: when(row.last),
            dollars: format!("{:.2}", row.dollars),
            row,
        }
    }

    fn name(&self) -> &str {
        self.row.session.get(..13).unwrap_or(&self.row.session)
    }
}

/// A record on a page.
pub(super) struct ShownRecord {
    pub(super) when: String,
    pub(super) session: String,
    pub(super) action: String,
    pub(super) row: RecordRow,
}

impl ShownRecord {
    pub(super) fn new(row: RecordRow) -> Self {
        Self {
            when: when(row.at),
            session: encoded(&row.session),
            action: row.action.as_deref().map(encoded).unwrap_or_default(),
            row,
        }
    }
}

/// Something that opens to its text.
pub(super) struct Folded {
    pub(super) kind: String,
    pub(super) text: String,
}

/// Something that was found out about a session, in words.
pub(super) struct ShownFinding {
    pub(super) id: String,
    pub(super) head: String,
    /// Its session as a part of an address; empty where it has none.
    pub(super) session: String,
    /// What is said of it: a word for it, and what it is.
    pub(super) facts: Vec<(&'static str, String)>,
    /// Whether a user may still close it.
    pub(super) is_open: bool,
}

impl ShownFinding {
    /// From what `incident list` prints.
    pub(super) fn of_incident(one: &Json) -> Self {
        let first = |names: &[&str]| names.iter().map(|name| text(one, name)).find(|text| !text.is_empty());
        let moment = one["at"].as_i64().map(when);
        let closed = one.get("closed").filter(|closed| closed.is_object());
        let facts = [
            ("When", moment.or_else(|| first(&["at"]))),
            ("Reason", first(&["root_cause"])),
            ("Stopped by", first(&["by"])),
            ("Closed", closed.map(|closed| format!("by {}: {}", text(closed, "by"), text(closed, "note")))),
        ];
        let head = first(&["summary", "root_cause"]).unwrap_or_default();
        Self { is_open: closed.is_none(), ..Self::with(one, head, facts) }
    }

    /// From what `issue list` prints.
    pub(super) fn of_issue(one: &Json) -> Self {
        let issue = one.get("issue").unwrap_or(one);
        let said = |name: &str| Some(text(issue, name)).filter(|text| !text.is_empty());
        let head = said("summary").or_else(|| said("kind")).unwrap_or_default();
        let facts = [
            ("Pattern", said("kind").or_else(|| said("pattern"))),
            ("Severity", said("severity")),
            ("Advice", said("advice")),
            ("State", None),
        ];
        Self::with(one, head, facts)
    }

    fn with(one: &Json, head: String, facts: [(&'static str, Option<String>); 4]) -> Self {
        let id = text(one, "id");
        let session = match text(one, "session") {
            session if session.is_empty() => {
                id.rsplit_once(':').map(|(session, _)| session.to_owned()).unwrap_or_default()
            }
            session => session,
        };
        let facts = facts.into_iter().filter_map(|(name, fact)| Some((name, fact?))).collect();
        Self { id, head, session: encoded(&session), facts, is_open: false }
    }
}

#[derive(Template)]
#[template(path = "sessions.html")]
pub(super) struct Sessions {
    pub(super) sessions: Vec<ShownSession>,
}

#[derive(Template)]
#[template(path = "session.html")]
pub(super) struct Session {
    pub(super) one: ShownSession,
    pub(super) rows: Vec<ShownRecord>,
    pub(super) next: Option<String>,
    pub(super) types: &'static [&'static str],
    pub(super) verdicts: &'static [&'static str],
    pub(super) kind: String,
    pub(super) verdict: String,
    pub(super) search: String,
    pub(super) is_newest: bool,
}

#[derive(Template)]
#[template(path = "calls.html")]
pub(super) struct Calls {
    pub(super) rows: Vec<ShownRecord>,
    pub(super) next: Option<String>,
    pub(super) verdicts: &'static [&'static str],
    pub(super) verdict: String,
    pub(super) search: String,
    pub(super) is_newest: bool,
}

#[derive(Template)]
#[template(path = "call.html")]
pub(super) struct CallPage {
    pub(super) session: String,
    pub(super) action: String,
    pub(super) review: Option<ShownReview>,
    pub(super) records: Vec<Folded>,
}

/// A review on a page.
pub(super) struct ShownReview {
    pub(super) verdict: String,
    pub(super) reason: String,
    pub(super) call: String,
    pub(super) decision: String,
    pub(super) risk: String,
    pub(super) level: String,
    pub(super) factors: Vec<String>,
    pub(super) rationality: String,
    pub(super) rules: Vec<String>,
    pub(super) alternatives: Vec<String>,
    pub(super) snapshot: Option<u64>,
    pub(super) effects: Vec<ShownEffect>,
    pub(super) stopped: bool,
}

/// An effect on a page.
pub(super) struct ShownEffect {
    pub(super) kind: String,
    pub(super) target: String,
    pub(super) certainty: String,
    pub(super) stake: String,
}

/// A field as text: a text without its quotes, everything else as JSON.
pub(super) fn text(value: &Json, name: &str) -> String {
    match value.get(name) {
        Some(Json::String(text)) => legible(text),
        None | Some(Json::Null) => String::new(),
        Some(other) => legible(&other.to_string()),
    }
}

/// A list of texts.
pub(super) fn texts(value: &Json, name: &str) -> Vec<String> {
    let all = value.get(name).and_then(Json::as_array).into_iter().flatten();
    all.map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned))
        .map(|text| legible(&text))
        .collect()
}

/// Text from elsewhere as it is, with characters that hide or turn around what stands beside them written as their numbers: by it a person
/// decides.
pub(crate) fn legible(text: &str) -> String {
    checkrein_engine::text::plain_lines(text).join("\n")
}

impl ShownReview {
    /// From the body of a record.
    pub(super) fn new(body: &Json) -> Self {
        let verdict = text(body, "verdict");
        let risk = &body["risk"];
        let rationality = &body["rationality"];
        let effects = body["effects"].as_array().into_iter().flatten();
        Self {
            reason: text(body, "reason"),
            call: serde_json::to_string_pretty(&body["input"]).unwrap_or_default(),
            decision: text(body, "decision"),
            risk: format!("{:.2}", risk["score"].as_f64().unwrap_or_default()),
            level: text(risk, "level"),
            factors: texts(risk, "factors"),
            rationality: rationality["score"].as_f64().map_or_else(
                || "did not run".to_owned(),
                |score| format!("{score:.2} ({})", text(rationality, "level")),
            ),
            rules: texts(body, "rules"),
            alternatives: texts(body, "alternatives"),
            snapshot: body["snapshot"]["id"].as_u64(),
            effects: effects
                .map(|effect| ShownEffect {
                    kind: text(effect, "kind"),
                    target: text(effect, "target"),
                    certainty: text(effect, "certainty"),
                    stake: text(effect, "stake"),
                })
                .collect(),
            stopped: matches!(verdict.as_str(), "escalate" | "block" | "halt"),
            verdict,
        }
    }
}

#[derive(Template)]
#[template(path = "rollback.html")]
pub(super) struct RollbackPage {
    pub(super) session: String,
    pub(super) before: String,
    pub(super) plan: String,
}

/// A snapshot in a list.
pub(super) struct ShownSnapshot {
    pub(super) id: String,
    pub(super) at: String,
    pub(super) reason: String,
    pub(super) entries: String,
}

#[derive(Template)]
#[template(path = "snapshots.html")]
pub(super) struct Snapshots {
    pub(super) session: String,
    pub(super) items: Vec<ShownSnapshot>,
}

/// A file that differs from a snapshot, as a restore would change it.
pub(super) struct ShownDifference {
    pub(super) change: String,
    pub(super) path: String,
    /// What a restore does with it.
    pub(super) restored: &'static str,
    pub(super) lines: Vec<ShownLine>,
    /// How many lines come back, and how many go.
    pub(super) back: usize,
    pub(super) gone: usize,
    pub(super) further: u64,
}

/// A line of a file that differs from a snapshot.
pub(super) struct ShownLine {
    pub(super) fate: Fate,
    /// Its number now, and in the snapshot.
    pub(super) now: String,
    pub(super) then: String,
    pub(super) text: String,
    /// Whether lines are left out before it.
    pub(super) is_after_gap: bool,
}

/// What a restore does with a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Stays,
    ComesBack,
    Goes,
}

impl ShownDifference {
    /// From what `snapshot diff` prints, which tells what happened since; a restore does the reverse.
    pub(super) fn new(one: &Json) -> Self {
        let change = text(one, "change");
        let lines = one["text"]["lines"].as_array().map(Vec::as_slice).unwrap_or_default();
        let (mut shown, mut last): (Vec<ShownLine>, _) = (Vec::new(), (0, 0));
        for line in lines {
            let fate = match line["change"].as_str() {
                Some("removed") => Fate::ComesBack,
                Some("added") => Fate::Goes,
                _ => Fate::Stays,
            };
            let (then, now) = (line["from"].as_u64(), line["to"].as_u64());
            let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
            let is_after_gap = then.is_some_and(|then| then > last.0 + 1)
                || (then.is_none() && now.is_some_and(|now| now > last.1 + 1));
            last = (then.unwrap_or(last.0), now.unwrap_or(last.1));
            shown.push(ShownLine {
                fate,
                now: number(now),
                then: number(then),
                text: plain(&text(line, "text")),
                is_after_gap,
            });
        }
        let count = |fate| shown.iter().filter(|line| line.fate == fate).count();
        Self {
            restored: match change.as_str() {
                "removed" => "comes back",
                "added" => "goes, where only the saved action can have made it",
                _ => "becomes what it was",
            },
            path: plain(&text(one, "path")),
            back: count(Fate::ComesBack),
            gone: count(Fate::Goes),
            further: one["text"]["further"].as_u64().unwrap_or_default(),
            lines: shown,
            change,
        }
    }
}

#[derive(Template)]
#[template(path = "snapshot.html")]
pub(super) struct SnapshotPage {
    pub(super) session: String,
    pub(super) snapshot: String,
    pub(super) count: usize,
    pub(super) items: Vec<ShownDifference>,
}

/// A ticket in a list.
pub(super) struct ShownTicket {
    pub(super) id: String,
    pub(super) verdict: String,
    pub(super) call: String,
    pub(super) reason: String,
}

/// An agent in a list.
pub(super) struct ShownAgent {
    pub(super) id: String,
    pub(super) client: String,
    pub(super) project: String,
    pub(super) sessions: String,
    pub(super) debt: String,
    pub(super) posture: String,
    pub(super) tier: String,
    /// What a user said when they gave it that tier.
    pub(super) given: Option<String>,
    /// The tiers that it can be given: those that are not milder than the configured one.
    pub(super) tiers: Vec<&'static str>,
}

impl ShownAgent {
    /// From what `agent list` prints.
    pub(super) fn new(one: &Json) -> Self {
        let configured = text(one, "configured");
        let given = one.get("given").filter(|given| given.is_object());
        Self {
            id: encoded(&text(one, "agent")),
            client: text(one, "client"),
            project: text(one, "project"),
            sessions: text(one, "sessions"),
            debt: format!("{:.2}", one["trust_debt"].as_f64().unwrap_or_default()),
            posture: text(one, "posture").replace('_', " "),
            tier: text(one, "tier"),
            given: given.map(|given| match text(given, "note") {
                note if note.is_empty() => "given by a user".to_owned(),
                note => format!("given by a user: {note}"),
            }),
            tiers: ["0", "1", "2", "3", "4", "5"]
                .into_iter()
                .filter(|tier| *tier > configured.as_str())
                .collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "review.html")]
pub(super) struct Review {
    pub(super) agents: Vec<ShownAgent>,
    pub(super) tickets: Vec<ShownTicket>,
    pub(super) incidents: Vec<ShownFinding>,
    pub(super) issues: Vec<ShownFinding>,
}

/// A graph with what it comes to.
pub(super) struct ShownGraph {
    pub(super) title: &'static str,
    /// A share that the graph is about, in words.
    pub(super) rate: Option<String>,
    pub(super) svg: String,
    pub(super) sums: Vec<ShownSum>,
}

/// The sum of a part.
pub(super) struct ShownSum {
    pub(super) place: usize,
    pub(super) name: String,
    pub(super) value: String,
}

/// A session that has spent much of what it may.
pub(super) struct ShownSpending {
    pub(super) session: String,
    pub(super) dollars: String,
    /// Which threshold it has passed.
    pub(super) state: &'static str,
}

#[derive(Template)]
#[template(path = "stats.html")]
pub(super) struct Stats {
    /// What a session may cost; `None` without a limit.
    pub(super) limit: Option<String>,
    pub(super) near: Vec<ShownSpending>,
    pub(super) days: u64,
    pub(super) spans: [u64; 3],
    pub(super) graphs: Vec<ShownGraph>,
}

#[derive(Template)]
#[template(path = "onward.html")]
pub(super) struct Onward {}

#[derive(Template)]
#[template(path = "loggedout.html")]
pub(super) struct LoggedOut {}

#[derive(Template)]
#[template(path = "failed.html")]
pub(super) struct Failed<'a> {
    pub(super) message: &'a str,
    pub(super) hint: Option<&'a str>,
}

/// A question in a list.
pub(super) struct ShownApproval {
    pub(super) id: String,
    pub(super) shown: String,
    pub(super) call: String,
    pub(super) state: String,
    pub(super) by: String,
    pub(super) session: String,
    pub(super) directory: String,
    pub(super) risk: String,
    pub(super) expires: String,
    pub(super) rewrite: Option<String>,
    pub(super) reasons: Vec<String>,
    pub(super) effects: Vec<String>,
    /// The answers that allow: the word on the wire, and that on the button.
    pub(super) answers: Vec<(&'static str, &'static str)>,
}

impl ShownApproval {
    /// From what `approval list` prints.
    pub(super) fn new(one: &Json) -> Self {
        let given = texts(one, "answers");
        let all = [
            ("once", "Allow this call"),
            ("session", "Allow it in this session"),
            ("always", "Always allow this call"),
        ];
        Self {
            id: encoded(&text(one, "id")),
            shown: text(one, "shown"),
            call: text(one, "action"),
            state: text(one, "state"),
            by: one.get("answered_by").map(|by| text(by, "name")).unwrap_or_default(),
            session: encoded(&text(one, "session")),
            directory: text(one, "directory"),
            risk: text(one, "risk"),
            expires: text(one, "expires_at"),
            rewrite: one["rewrite"].as_str().map(legible),
            reasons: texts(one, "reasons"),
            effects: texts(one, "effects"),
            answers: all.into_iter().filter(|(word, _)| given.iter().any(|one| one == word)).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "approvals.html")]
pub(super) struct Approvals {
    pub(super) waiting: Vec<ShownApproval>,
    pub(super) settled: Vec<ShownApproval>,
}
