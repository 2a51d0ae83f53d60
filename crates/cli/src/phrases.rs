//! What the records of a session, and the kinds that they name, are called for people: plain words, and none of the names on the wire.
//!
//! Every command says them through here, so that a thing has one name everywhere. The matches are exhaustive: a new kind does not compile until
//! it has words.

use checkrein_protocol::{
    Decision, EffectKind, HaltScope, Intervention, InterventionKind, Judgement, LedgerDamage, OutcomeRecord,
    PatternKind, Posture, RecordBody, ReviewLack, RollbackRecord, RollbackStage, VerdictKind,
};

use checkrein_clients::GATEWAY;
use checkrein_gateway::gateway_server;
use checkrein_patterns::telling_line;

use crate::commands::opinion::JUDGED;
use crate::render::severity_name;
use crate::terminal::counted;
use checkrein_engine::ending::SUMMARY;
use checkrein_engine::spending::SPENDING;
use checkrein_engine::text::call;

/// A record in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordWords {
    /// The verdict that it gives, or what it amounts to.
    pub verdict: Option<VerdictKind>,
    /// What happened.
    pub what: String,
    /// Why, or what more is known; empty where there is nothing to say.
    pub why: String,
}

/// What the refusals and hints of an agent lead to, for a list.
pub fn posture(posture: Posture) -> &'static str {
    match posture {
        Posture::Normal => "normal",
        Posture::ElevatedMonitoring => "watched more closely",
        Posture::RestrictedMode => "judged more strictly",
        Posture::ReTieringReview => "judged more strictly, see its ticket",
    }
}

/// What became of a call, in one word for a list.
pub fn verdict_word(verdict: VerdictKind) -> &'static str {
    verdict.word()
}

/// What Checkrein did about a call, as a clause.
pub fn verdict(verdict: VerdictKind) -> &'static str {
    match verdict {
        VerdictKind::Ok => "let it run",
        VerdictKind::Nudge => "let it run, and gave the agent a hint",
        VerdictKind::Escalate => "asked you first",
        VerdictKind::Block => "stopped it",
        VerdictKind::Halt => "stopped it, and the session with it",
    }
}

/// What a user said of a verdict, from the name on record.
fn opinion(name: Option<&str>) -> &'static str {
    match name {
        Some("wrong") => "you said that a call was stopped without need",
        Some("missed") => "you said that a call should have been stopped",
        Some(_) | None => "you said what you think of a verdict",
    }
}

/// What a verdict would do, for what was not run.
pub fn verdict_ahead(verdict: VerdictKind) -> &'static str {
    match verdict {
        VerdictKind::Ok => "runs",
        VerdictKind::Nudge => "runs with a hint",
        VerdictKind::Escalate => "asks you first",
        VerdictKind::Block => "is stopped",
        VerdictKind::Halt => "is stopped, and the session with it",
    }
}

/// What the review said about the call alone.
pub fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "fine as it is",
        Decision::Warn => "fine with a hint",
        Decision::Modify => "not as it is",
        Decision::Block => "not at all",
    }
}

/// A pattern over several calls, as a noun.
pub fn pattern(kind: PatternKind) -> &'static str {
    kind.words()
}

/// What was done about a pattern, as a clause.
pub fn intervention(kind: InterventionKind) -> &'static str {
    kind.deed()
}

/// What was done about a pattern, as a noun for a list.
pub fn intervention_noun(kind: InterventionKind) -> &'static str {
    kind.noun()
}

/// What an effect of this kind does.
pub fn effect(kind: EffectKind) -> &'static str {
    match kind {
        EffectKind::FileRead => "reads a file",
        EffectKind::FileCreate => "creates a file",
        EffectKind::FileModify => "changes a file",
        EffectKind::FileDelete => "deletes a file",
        EffectKind::PermissionChange => "changes who may use a file",
        EffectKind::SecretRead => "reads a secret",
        EffectKind::NetworkRequest => "contacts a host",
        EffectKind::DataUpload => "sends data to a host",
        EffectKind::RemoteCodeExecution => "runs code from the network",
        EffectKind::PackageInstall => "installs a package",
        EffectKind::ProcessSpawn => "starts a process",
        EffectKind::ProcessKill => "ends a process",
        EffectKind::SystemModification => "changes the system",
        EffectKind::PrivilegeEscalation => "runs with more permissions",
        EffectKind::Persistence => "makes code run later",
        EffectKind::VcsLocalLoss => "discards work in the repository",
        EffectKind::VcsHistoryRewrite => "rewrites the history of a repository",
        EffectKind::VcsRemoteUpdate => "changes a remote repository",
        EffectKind::InfrastructureChange => "changes infrastructure",
        EffectKind::InfrastructureDestroy => "destroys infrastructure",
        EffectKind::DatastoreChange => "changes data in a database",
        EffectKind::DatastoreDestroy => "destroys data in a database",
        EffectKind::Publish => "publishes something",
        EffectKind::GuardTampering => "changes Checkrein itself",
        EffectKind::Opaque => "does something that cannot be read beforehand",
    }
}

/// What a user said about a finding.
pub fn judgement(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Confirmed => "it was right",
        Judgement::FalseAlarm => "it was a false alarm",
        Judgement::Missed => "it was missed",
    }
}

/// Why a call that ran should not have, behind "ran".
pub fn lack(lack: ReviewLack) -> &'static str {
    match lack {
        ReviewLack::Missing => "without review",
        ReviewLack::Refused => "although it was stopped",
        ReviewLack::Another => "with the review of another command",
    }
}

/// What was wrong with the file of the records.
pub fn damage(damage: LedgerDamage) -> &'static str {
    match damage {
        LedgerDamage::TornTail => "its last line was cut off",
        LedgerDamage::Shortened => "it was shorter than before",
        LedgerDamage::Changed => "its last record was changed",
        LedgerDamage::Unreadable => "some of its lines could not be read",
        LedgerDamage::Lost => "records were missing",
        LedgerDamage::PutBack => "what was removed was put back",
    }
}

/// Who did something, from the name on record.
pub fn by(name: &str) -> &str {
    match name {
        "person" => "you",
        "intervention" | "emergency_stop" => "Checkrein",
        other => other,
    }
}

/// The line of the error of a call that says what went wrong; `None` where nothing is said.
pub fn error_line(outcome: &OutcomeRecord) -> Option<String> {
    outcome.error.as_deref().map(telling_line).filter(|line| !line.is_empty())
}

/// The exit code that the client says in front of an error.
pub fn exit_code(outcome: &OutcomeRecord) -> Option<&str> {
    let code = outcome.error.as_deref()?.trim_start().strip_prefix("Exit code ")?;
    let code = code.lines().next()?.trim();
    code.parse::<i32>().ok().map(|_| code)
}

/// A verdict, an issue, an answer, a snapshot: everything that a ledger can hold, in words.
pub fn record(body: &RecordBody) -> RecordWords {
    let plainly = |what: String, why: String| RecordWords { verdict: None, what, why };
    match body {
        RecordBody::Review(review) => {
            RecordWords { verdict: Some(review.verdict), what: call(review), why: review.reason.clone() }
        }
        RecordBody::Outcome(outcome) => {
            let how = if outcome.failed { "failed" } else { "ended without an error" };
            plainly(format!("{} {how}", outcome.tool.as_str()), error_line(outcome).unwrap_or_default())
        }
        RecordBody::Unanswered(unanswered) => RecordWords {
            verdict: Some(VerdictKind::Escalate),
            what: format!("ran without your answer: {}", unanswered.call),
            why: unanswered.reason.clone(),
        },
        RecordBody::Unreviewed(unreviewed) => RecordWords {
            verdict: Some(VerdictKind::Block),
            what: format!("ran {}: {}", lack(unreviewed.lack), unreviewed.call),
            why: unreviewed.reason.clone(),
        },
        RecordBody::Told { text, .. } => plainly("told the agent".to_owned(), text.clone()),
        RecordBody::SessionStarted { source, client, .. } => {
            plainly(beginning(source, client), String::new())
        }
        RecordBody::Prompt { text } => plainly(format!("prompt: {text}"), String::new()),
        RecordBody::Event { name, fields } if name == JUDGED => {
            plainly(opinion(fields["opinion"].as_str()).to_owned(), String::new())
        }
        RecordBody::Event { name, fields } => {
            let summary = fields.get(SUMMARY).and_then(|summary| summary.as_str());
            let end = summary.map(|summary| format!(": {summary}")).unwrap_or_default();
            let share = fields.get("percent").filter(|_| name == SPENDING);
            let share =
                share.map(|percent| format!(": {percent} % of {}", limited(fields))).unwrap_or_default();
            let words = gateway_words(name, fields);
            plainly(words.unwrap_or_else(|| format!("{}{share}{end}", event(name))), String::new())
        }
        RecordBody::Issue(issue) => plainly(
            format!("noticed: {} ({})", pattern(issue.kind), severity_name(issue.severity)),
            issue.summary.clone(),
        ),
        RecordBody::IssueEnded { kind } => plainly(format!("over: {}", pattern(*kind)), String::new()),
        RecordBody::Intervention(made) => plainly(intervened(made), made.text.clone()),
        RecordBody::Rollback(rollback) => plainly(rollback_words(rollback), rollback.text.clone()),
        RecordBody::Marked { kind, judgement: said, note, .. } => {
            plainly(format!("you said of \"{}\": {}", pattern(*kind), judgement(*said)), note.clone())
        }
        RecordBody::Usage(usage) => {
            let tokens = usage.models.iter().map(|one| one.tokens.counted()).sum::<u64>();
            let is_told = usage.models.iter().any(|one| one.tokens.all() > 0);
            let used =
                if is_told { counted(tokens, "token") } else { "an unknown number of tokens".to_owned() };
            plainly(format!("used {used}"), usage.gap.clone().unwrap_or_default())
        }
        RecordBody::Message { .. } => plainly("the agent wrote a message".to_owned(), String::new()),
        RecordBody::Condensed => plainly("the client shortened the conversation".to_owned(), String::new()),
        RecordBody::Halted { scope, reason, by: name } => RecordWords {
            verdict: Some(VerdictKind::Halt),
            what: format!("{} halted by {}", halted(*scope), by(name)),
            why: reason.clone(),
        },
        RecordBody::ReviewClosed { ticket, note, by: name } => {
            plainly(format!("ticket of record {ticket} closed by {}", by(name)), note.clone())
        }
        RecordBody::Resumed { scope, by: name } => {
            plainly(format!("{} resumed by {}", halted(*scope), by(name)), String::new())
        }
        RecordBody::ConfigChanged { file, decision } => {
            plainly(format!("settings changed: {file}"), decision.clone())
        }
        RecordBody::Failure { stage, kind, detail, verdict } => RecordWords {
            // What fails behind a call decides nothing about one, and is not fine for it.
            verdict: Some(*verdict).filter(|verdict| *verdict != VerdictKind::Ok),
            what: format!("{}: {}", failed_stage(stage), failure(kind)),
            why: detail.clone(),
        },
        RecordBody::Retention { removed, stores, reason } => {
            let sessions = (!removed.is_empty()).then(|| counted(removed.len() as u64, "old session"));
            let stores = stores.iter().map(|one| format!("{} of `{}`", one.entries, one.store));
            let what: Vec<String> = sessions.into_iter().chain(stores).collect();
            plainly(format!("removed {}", what.join(", ")), reason.clone())
        }
        RecordBody::Anchor { session, seq, .. } => {
            plainly(format!("noted that session {session} has {}", counted(*seq, "record")), String::new())
        }
        RecordBody::Repaired { damage: found, lost_bytes, reason, .. } => plainly(
            format!(
                "repaired the records of this session: {}; {} were lost",
                damage(*found),
                counted(*lost_bytes, "byte")
            ),
            reason.clone(),
        ),
        RecordBody::Unknown => plainly(
            "a record that cannot be read here: its key is missing, or it is of a newer version".to_owned(),
            String::new(),
        ),
    }
}

fn halted(scope: HaltScope) -> &'static str {
    match scope {
        HaltScope::Session => "session",
        HaltScope::All => "all sessions",
    }
}

fn intervened(made: &Intervention) -> String {
    format!("{}, because of {}", intervention(made.kind), pattern(made.pattern))
}

fn rollback_words(rollback: &RollbackRecord) -> String {
    let before = rollback.before.0;
    match rollback.stage {
        RollbackStage::Proposed => format!("asked you about a rollback to before call {before}"),
        RollbackStage::Done => format!("rollback to before call {before}, by {}", by(&rollback.by)),
        RollbackStage::NotDone => format!("no rollback to before call {before}"),
    }
}

/// How a session began, from the word of the client.
fn beginning(source: &str, client: &str) -> String {
    let client = client.replace('_', " ");
    match source {
        "startup" => format!("session began ({client})"),
        "resume" => format!("session went on ({client})"),
        "clear" => format!("session began anew ({client})"),
        "compact" => "the client shortened the conversation".to_owned(),
        other => format!("session began ({client}, {other})"),
    }
}

/// What did not run, from the name on record.
fn failed_stage(stage: &str) -> String {
    match stage {
        "input" => "the call could not be taken in".to_owned(),
        "decode" => "the message of the client could not be read".to_owned(),
        "review" => "the call was not reviewed".to_owned(),
        "start" => "Checkrein could not start".to_owned(),
        "configuration" => "the configuration could not be used".to_owned(),
        "record" => "nothing could be recorded".to_owned(),
        "settings" => "a file that guards the session changed".to_owned(),
        "notify" => "a notice was not sent".to_owned(),
        "snapshot" => "no snapshot was taken".to_owned(),
        other => format!("{} did not run", other.replace('_', " ")),
    }
}

/// Why something did not run, from the name on record.
fn failure(kind: &str) -> String {
    match kind {
        "oversize" => "it is too large".to_owned(),
        "deadline" => "it took too long".to_owned(),
        "malformed" => "it is not what was expected".to_owned(),
        "panic" => "Checkrein crashed on it".to_owned(),
        "resources" => "the machine has too little memory or too few files".to_owned(),
        "invalid" => "it has mistakes".to_owned(),
        "unreadable" => "a file could not be read".to_owned(),
        "unwritable" => "a file could not be written".to_owned(),
        "disabled" => "reviews are switched off".to_owned(),
        "fallen" => "the hooks are gone".to_owned(),
        "bound" => "there is too much to save".to_owned(),
        "put_back" => "it was put back".to_owned(),
        "loosened" => "it lets pass more than before".to_owned(),
        other => other.replace('_', " "),
    }
}

/// What a warning is about: the budget, or another limit.
fn limited(fields: &serde_json::Value) -> &'static str {
    match fields["resource"].as_str() {
        Some("tokens") => "the tokens",
        Some("file_operations") => "the file operations",
        Some("seconds") => "the time",
        Some("megabytes") => "the memory",
        Some(_) | None => "the budget",
    }
}

/// What an event says that ties a gateway before an MCP server to the session whose calls it passes on; `None` for any other event.
fn gateway_words(name: &str, fields: &serde_json::Value) -> Option<String> {
    let server = gateway_server(fields.get("child")?.as_str()?)
        .filter(|_| fields.get("client").and_then(|client| client.as_str()) == Some(GATEWAY.client.name()))?;
    match name {
        "checkrein.started_by" => {
            let of = fields.get(SUMMARY).and_then(|summary| summary.as_str()).unwrap_or_default();
            Some(format!("the gateway of {server}, for the calls of {of}"))
        }
        "checkrein.started_agent" => Some(format!("calls of {server} go through its gateway")),
        _ => None,
    }
}

/// What an event is called: one of ours, or one of a client.
pub fn event(name: &str) -> String {
    let words = match name {
        "checkrein.snapshot" => "saved the files of the project",
        "checkrein.snapshots_pruned" => "removed old snapshots",
        "checkrein.incidents_removed" => "removed old incident reports",
        "checkrein.incident_closed" => "you closed the report on a stop",
        "checkrein.restored" => "restored a snapshot",
        "checkrein.merged" => "merged a worktree",
        "checkrein.notified" => "sent you a notice",
        "checkrein.approval_asked" => "asked you, and waited for your answer",
        "checkrein.approval_answered" => "the question was settled",
        "checkrein.approval_forged" => "refused an answer that you did not give",
        "checkrein.started_by" => "another agent started it",
        "checkrein.started_agent" => "started another agent",
        "checkrein.run_by_client" => "the client runs code that a file of the project names",
        "checkrein.stopped" => "ended the run",
        "checkrein.stopped_again" => "found another reason to stop what was stopped already",
        "checkrein.allowed" => "you allowed a call",
        "checkrein.resume_terms" => "you let the session go on within limits or with questions",
        "checkrein.carried" => "goes on where the conversation was cleared",
        JUDGED => opinion(None),
        SPENDING => "warned you of what is spent",
        "checkrein.gate" => "checked the work at the end of the turn",
        "PermissionRequest" => "the client asked you",
        "PermissionDenied" => "the client refused the call itself",
        "PostToolBatch" => "the calls of one answer were done",
        "Stop" => "the agent ended its turn",
        "StopFailure" => "the turn of the agent ended with an error",
        "SubagentStart" => "a sub-agent began",
        "SubagentStop" => "a sub-agent ended",
        "SessionEnd" => "the session ended",
        "Notification" => "the client sent you a message",
        "MessageDisplay" => "the client showed a message",
        "PreCompact" | "PreCompress" | "preCompact" => "the client is about to shorten the conversation",
        "PostCompact" => "the client shortened the conversation",
        other => return format!("the client reported `{}`", other.trim_start_matches("checkrein.")),
    };
    words.to_owned()
}
