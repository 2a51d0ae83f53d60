//! What one record adds to what is counted, and its row in the index.

use std::collections::BTreeMap;

use checkrein_ledger::{EventLevel, event_of};
use checkrein_protocol::{
    ActionId, CascadeLevel, Intervention, InterventionKind, Issue, Judgement, PatternKind, Record,
    RecordBody, ReviewRecord, RollbackStage, Severity, UsageRecord, VerdictKind,
};
use rusqlite::{OptionalExtension as _, Transaction, params};
use serde_json::Value as Json;

use checkrein_engine::approvals::{ANSWERED, ASKED, FORGED};

use super::summary;
use crate::answer::signed;
use crate::metrics::names;

/// The name of the records about what a user says of a verdict.
const JUDGED: &str = "checkrein.judged";
/// The name of the records of an `undo` or a restore.
const RESTORED: &str = "checkrein.restored";
/// The name of the records about the end of a session.
const ENDED: &str = "SessionEnd";
/// The length of a day in milliseconds.
pub(crate) const DAY: u64 = 86_400_000;

/// Takes records into the index, within one transaction. Sums are kept aside until the end.
pub(super) struct Taken<'a> {
    transaction: &'a Transaction<'a>,
    /// The number of the ledger, by which its records name it.
    ledger: i64,
    folder: &'a str,
    sums: BTreeMap<(&'static str, String), f64>,
    days: BTreeMap<(u64, &'static str, String), f64>,
    session: SessionSums,
}

/// What the records of one piece of a ledger add to their session: written once for all of them.
#[derive(Debug, Default)]
struct SessionSums {
    records: i64,
    /// When the newest was written.
    last: i64,
    calls: i64,
    stopped: i64,
    /// The last call, and the verdict on it.
    last_call: Option<(String, &'static str)>,
}

impl<'a> Taken<'a> {
    pub(super) fn new(transaction: &'a Transaction<'a>, ledger: i64, folder: &'a str) -> Self {
        Self {
            transaction,
            ledger,
            folder,
            sums: BTreeMap::new(),
            days: BTreeMap::new(),
            session: SessionSums::default(),
        }
    }

    /// Takes one record, which stands at `place` of its ledger.
    pub(super) fn take(&mut self, record: &Record, place: u64, length: u64) -> rusqlite::Result<()> {
        let of_event;
        let (action, verdict, risk) = match &record.body {
            RecordBody::Review(review) => {
                (Some(&review.action_id), Some(review.verdict.name()), Some(review.risk.score))
            }
            RecordBody::Outcome(outcome) => (Some(&outcome.action_id), None, None),
            RecordBody::Unanswered(unanswered) => (Some(&unanswered.action_id), None, None),
            RecordBody::Unreviewed(unreviewed) => (Some(&unreviewed.action_id), None, None),
            RecordBody::Told { action_id, .. } => (Some(action_id), None, None),
            RecordBody::Event { fields, .. } => {
                of_event = summary::action_of(fields);
                (of_event.as_ref(), None, None)
            }
            _ => (None, None, None),
        };
        let line = summary::line(&record.body);
        let at = signed(record.at.0);
        self.transaction
            .prepare_cached(
                "INSERT OR IGNORE INTO records(ledger, seq, at, type, action, verdict, risk, summary, place, length)
                 VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                self.ledger,
                signed(record.seq),
                at,
                summary::kind(&record.body),
                action.map(ActionId::as_str),
                verdict,
                risk,
                line,
                signed(place),
                signed(length),
            ])?;
        if self.session.records == 0 {
            self.transaction
                .prepare_cached("INSERT OR IGNORE INTO sessions(folder, last) VALUES(?1, ?2)")?
                .execute(params![self.folder, at])?;
        }
        self.session.records += 1;
        self.session.last = self.session.last.max(at);
        if let Some(event) = alert(&record.body) {
            self.one(names::ALERTS, &[("event", event)]);
        }
        self.count(record)
    }

    /// Writes the sums.
    pub(super) fn finish(self) -> rusqlite::Result<()> {
        let session = &self.session;
        if session.records > 0 {
            let (last_call, last_verdict) = session
                .last_call
                .as_ref()
                .map_or((None, None), |(call, verdict)| (Some(call), Some(*verdict)));
            self.transaction
                .prepare_cached(
                    "UPDATE sessions SET last = max(last, ?2), records = records + ?3, calls = calls + ?4, stopped = stopped + ?5,
                     last_call = coalesce(?6, last_call), last_verdict = coalesce(?7, last_verdict) WHERE folder = ?1",
                )?
                .execute(params![
                    self.folder,
                    session.last,
                    session.records,
                    session.calls,
                    session.stopped,
                    last_call,
                    last_verdict,
                ])?;
        }
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO sums VALUES(?1, ?2, ?3) ON CONFLICT(name, labels) DO UPDATE SET value = value + excluded.value",
        )?;
        for ((name, labels), value) in self.sums {
            statement.execute(params![name, labels, value])?;
        }
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO days VALUES(?1, ?2, ?3, ?4)
             ON CONFLICT(day, what, name) DO UPDATE SET value = value + excluded.value",
        )?;
        for ((day, what, name), value) in self.days {
            statement.execute(params![signed(day), what, name, value])?;
        }
        Ok(())
    }

    fn add(&mut self, name: &'static str, labels: &[(&str, &str)], value: f64) {
        *self.sums.entry((name, names::labels(labels))).or_default() += value;
    }

    fn one(&mut self, name: &'static str, labels: &[(&str, &str)]) {
        self.add(name, labels, 1.0);
    }

    fn of_day(&mut self, record: &Record, what: &'static str, name: &str, value: f64) {
        *self.days.entry((record.at.0 / DAY, what, name.to_owned())).or_default() += value;
    }

    fn session(&self, change: &str, value: impl rusqlite::ToSql) -> rusqlite::Result<()> {
        let text = format!("UPDATE sessions SET {change} WHERE folder = ?1");
        self.transaction.prepare_cached(&text)?.execute(params![self.folder, value]).map(|_| ())
    }

    fn count(&mut self, record: &Record) -> rusqlite::Result<()> {
        match &record.body {
            RecordBody::SessionStarted { session, client, workspace, .. } => {
                self.one(names::SESSIONS, &[("client", client)]);
                self.session("session = ?2", session.as_str())?;
                self.session("client = ?2", client)?;
                self.session("workspace = coalesce(workspace, ?2)", workspace)?;
                self.session("ended = ?2", 0)?;
                self.session("started = coalesce(started, ?2)", signed(record.at.0))
            }
            RecordBody::Event { name, .. } if name == ENDED => self.session("ended = ?2", 1),
            RecordBody::Prompt { .. } => {
                self.session("ended = ?2", 0)?;
                self.session("task = coalesce(task, ?2)", summary::line(&record.body))
            }
            RecordBody::Review(review) => self.review(record, review),
            RecordBody::Outcome(outcome) => {
                let result = if outcome.failed { "failed" } else { "done" };
                self.one(names::OUTCOMES, &[("result", result)]);
                if let Some(seen) = &outcome.verification {
                    self.add(names::SURPRISES, &[], summary::surprises(seen) as f64);
                }
                self.add(names::MASKED, &[], outcome.masked.len() as f64);
                Ok(())
            }
            RecordBody::Unanswered(_) => {
                self.one(names::UNREVIEWED, &[("kind", "unanswered")]);
                Ok(())
            }
            RecordBody::Unreviewed(_) => {
                self.one(names::UNREVIEWED, &[("kind", "unreviewed")]);
                Ok(())
            }
            RecordBody::Event { name, fields } if name == JUDGED => self.opinion(record, fields),
            RecordBody::Event { name, .. } if name == ASKED => {
                self.one(names::APPROVALS_ASKED, &[]);
                Ok(())
            }
            RecordBody::Event { name, fields } if name == ANSWERED => {
                let end = fields["end"].as_str().unwrap_or("unknown");
                let door = fields["by"]["source"].as_str().unwrap_or("none");
                self.one(names::APPROVALS, &[("end", end), ("door", door)]);
                Ok(())
            }
            RecordBody::Event { name, .. } if name == FORGED => {
                self.one(names::APPROVALS_FORGED, &[]);
                Ok(())
            }
            RecordBody::Message { cascade: Some(cascade), .. } => {
                let level = match cascade.level {
                    CascadeLevel::None => "none",
                    CascadeLevel::Low => "low",
                    CascadeLevel::Medium => "medium",
                    CascadeLevel::High => "high",
                    CascadeLevel::Critical => "critical",
                };
                self.one(names::CASCADES, &[("level", level)]);
                Ok(())
            }
            RecordBody::Event { name, .. } if name == RESTORED => {
                self.one(names::RECOVERIES, &[("kind", "restore")]);
                Ok(())
            }
            RecordBody::Issue(issue) => self.issue(issue),
            RecordBody::IssueEnded { kind } => self.issue_ended(record, *kind),
            RecordBody::Intervention(intervention) => self.intervention(record, intervention),
            RecordBody::Marked { judgement, kind, .. } => {
                let judgement = match judgement {
                    Judgement::Confirmed => "confirmed",
                    Judgement::FalseAlarm => "false_alarm",
                    Judgement::Missed => "missed",
                };
                self.one(names::MARKS, &[("issue", kind.name()), ("judgement", judgement)]);
                self.of_day(record, "mark", judgement, 1.0);
                Ok(())
            }
            RecordBody::Rollback(rollback) => {
                if rollback.stage == RollbackStage::Done {
                    self.one(names::RECOVERIES, &[("kind", "rollback")]);
                }
                Ok(())
            }
            RecordBody::Usage(usage) => self.usage(record, usage),
            RecordBody::Halted { by, .. } => {
                let by = if by == "person" { "person" } else { "guard" };
                self.one(names::HALTS, &[("by", by)]);
                Ok(())
            }
            RecordBody::Resumed { .. } => {
                self.one(names::RECOVERIES, &[("kind", "resume")]);
                Ok(())
            }
            RecordBody::ReviewClosed { .. } => {
                self.one(names::TICKETS_CLOSED, &[]);
                Ok(())
            }
            RecordBody::Failure { stage, .. } => {
                self.one(names::FAILURES, &[("stage", stage)]);
                Ok(())
            }
            RecordBody::Repaired { .. } => {
                self.one(names::FAILURES, &[("stage", "ledger")]);
                Ok(())
            }
            RecordBody::Told { .. }
            | RecordBody::Event { .. }
            | RecordBody::Message { cascade: None, .. }
            | RecordBody::Condensed
            | RecordBody::ConfigChanged { .. }
            | RecordBody::Retention { .. }
            | RecordBody::Anchor { .. }
            | RecordBody::Unknown => Ok(()),
        }
    }

    fn review(&mut self, record: &Record, review: &ReviewRecord) -> rusqlite::Result<()> {
        let decision = review.decision.name();
        let verdict = review.verdict.name();
        self.one(names::REVIEWS, &[("decision", decision), ("verdict", verdict)]);
        self.one(names::REVIEWS_BY_RISK, &[("level", review.risk.level.name())]);
        self.of_day(record, "verdict", verdict, 1.0);
        self.of_day(record, "risk", review.risk.level.name(), 1.0);
        self.of_day(record, "call", "", 1.0);
        let seconds = review.elapsed_us as f64 / 1e6;
        self.observe(names::DURATION, &names::DURATION_BOUNDS, ("decision", decision), seconds);
        self.observe(names::RISK, &names::RISK_BOUNDS, ("decision", decision), review.risk.score);
        if review.flagged {
            self.one(names::FLAGS, &[]);
        }
        if let Some(snapshot) = review.snapshot.as_ref().filter(|snapshot| snapshot.entries > 0) {
            self.one(names::SNAPSHOTS, &[]);
            self.add(names::SNAPSHOT_BYTES, &[], snapshot.bytes as f64);
            self.add(names::SNAPSHOT_SECONDS, &[], snapshot.elapsed_us as f64 / 1e6);
        }
        let was_stopped = review.was_stopped();
        if was_stopped {
            self.one(names::STOPPED, &[]);
            self.session.stopped += 1;
        }
        self.session.calls += 1;
        self.session.last_call = Some((summary::call_line(review), verdict));
        if let Some(beginning) = &review.beginning {
            self.session("workspace = coalesce(workspace, ?2)", beginning.workspace.as_str())?;
        }
        Ok(())
    }

    fn observe(&mut self, name: names::Histogram, bounds: &[f64], label: (&str, &str), value: f64) {
        for bound in bounds.iter().filter(|bound| value <= **bound) {
            self.one(name.bucket, &[label, ("le", &bound.to_string())]);
        }
        self.one(name.bucket, &[label, ("le", "+Inf")]);
        self.add(name.sum, &[label], value);
        self.one(name.count, &[label]);
    }

    fn issue(&mut self, issue: &Issue) -> rusqlite::Result<()> {
        self.one(names::ISSUES, &[("issue", issue.kind.name()), ("severity", severity(issue.severity))]);
        self.session("issues = issues + ?2", 1)?;
        self.session("open_issues = open_issues + ?2", 1)
    }

    fn issue_ended(&mut self, record: &Record, kind: PatternKind) -> rusqlite::Result<()> {
        self.one(names::ISSUES_ENDED, &[("issue", kind.name())]);
        self.session("open_issues = max(0, open_issues - ?2)", 1)?;
        if let Some(open) = self.take_open(kind)? {
            self.outcome(record, &open, kind, "effective");
        }
        Ok(())
    }

    fn intervention(&mut self, record: &Record, one: &Intervention) -> rusqlite::Result<()> {
        let kind = one.kind.name();
        self.one(names::INTERVENTIONS, &[("type", kind), ("issue", one.pattern.name())]);
        self.of_day(record, "intervention", kind, 1.0);
        if let Some(open) = self.take_open(one.pattern)? {
            self.outcome(record, &open, one.pattern, "ineffective");
            let rung = |name: &str| InterventionKind::LADDER.iter().position(|one| one.name() == name);
            if rung(kind) > rung(&open) {
                self.one(names::ESCALATIONS, &[("issue", one.pattern.name())]);
                self.of_day(record, "escalation", "", 1.0);
            }
        }
        self.transaction
            .prepare_cached("INSERT OR REPLACE INTO open_interventions VALUES(?1, ?2, ?3)")?
            .execute(params![self.folder, one.pattern.name(), kind])?;
        self.session("rung = ?2", kind)
    }

    fn outcome(&mut self, record: &Record, kind: &str, pattern: PatternKind, outcome: &'static str) {
        self.one(
            names::INTERVENTION_OUTCOMES,
            &[("type", kind), ("issue", pattern.name()), ("outcome", outcome)],
        );
        self.of_day(record, outcome, kind, 1.0);
    }

    /// The intervention about a pattern whose result is not known yet; it is no longer so.
    fn take_open(&self, pattern: PatternKind) -> rusqlite::Result<Option<String>> {
        let key = params![self.folder, pattern.name()];
        self.transaction
            .prepare_cached(
                "DELETE FROM open_interventions WHERE folder = ?1 AND pattern = ?2 RETURNING kind",
            )?
            .query_row(key, |row| row.get(0))
            .optional()
    }

    /// A user may say something of a call again: the last word counts, once.
    fn opinion(&mut self, record: &Record, fields: &Json) -> rusqlite::Result<()> {
        let action = fields["action"].as_str().unwrap_or_default();
        let opinion = if fields["opinion"] == "wrong" { "wrong" } else { "missed" };
        let before: Option<String> = self
            .transaction
            .query_row(
                "SELECT opinion FROM opinions WHERE folder = ?1 AND action = ?2",
                params![self.folder, action],
                |row| row.get(0),
            )
            .optional()?;
        if before.is_none() {
            self.one(names::OPINIONS, &[("opinion", opinion)]);
            self.of_day(record, "opinion", opinion, 1.0);
        }
        self.transaction
            .execute(
                "INSERT OR REPLACE INTO opinions VALUES(?1, ?2, ?3)",
                params![self.folder, action, opinion],
            )
            .map(|_| ())
    }

    /// Of a piece of a transcript that two hooks read at once the first record counts.
    fn usage(&mut self, record: &Record, usage: &UsageRecord) -> rusqlite::Result<()> {
        let file = usage.mark.file.to_string();
        let read: Option<i64> = self
            .transaction
            .query_row(
                "SELECT offset FROM transcripts WHERE folder = ?1 AND file = ?2",
                params![self.folder, file],
                |row| row.get(0),
            )
            .optional()?;
        self.transaction.execute(
            "INSERT OR REPLACE INTO transcripts VALUES(?1, ?2, ?3)",
            params![self.folder, file, signed(usage.mark.offset)],
        )?;
        if read.unwrap_or_default() > signed(usage.from) {
            return Ok(());
        }
        let project: Option<String> = self
            .transaction
            .prepare_cached("SELECT workspace FROM sessions WHERE folder = ?1")?
            .query_row([self.folder], |row| row.get(0))?;
        let project = project.unwrap_or_else(|| "unknown".to_owned());
        for one in &usage.models {
            let model = if one.model.is_empty() { "unknown" } else { &one.model };
            let kinds = [
                ("input", one.tokens.input),
                ("output", one.tokens.output),
                ("cache_write", one.tokens.cache_write),
                ("cache_read", one.tokens.cache_read),
            ];
            for (kind, tokens) in kinds {
                self.add(names::TOKENS, &[("model", model), ("kind", kind)], tokens as f64);
            }
            self.of_day(record, "tokens", model, one.tokens.counted() as f64);
            self.of_day(record, "project_tokens", &project, one.tokens.counted() as f64);
            self.session("tokens = tokens + ?2", signed(one.tokens.counted()))?;
            match one.cost {
                Some(cost) => {
                    self.add(names::DOLLARS, &[("model", model)], cost.dollars());
                    self.of_day(record, "dollars", model, cost.dollars());
                    self.of_day(record, "project_dollars", &project, cost.dollars());
                    self.session("micro_dollars = micro_dollars + ?2", signed(cost.0))?;
                }
                None => self.session("unpriced = ?2", 1)?,
            }
        }
        Ok(())
    }
}

/// The event of a record that is an alert. Of what is written most it is told without making the event.
fn alert(body: &RecordBody) -> Option<&'static str> {
    match body {
        RecordBody::Review(review) if review.verdict < VerdictKind::Halt => None,
        RecordBody::Outcome(_) | RecordBody::Prompt { .. } | RecordBody::Usage(_) => None,
        other => event_of(other).filter(|event| event.level == EventLevel::Critical).map(|event| event.name),
    }
}

pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
        Severity::Critical => "critical",
    }
}
