//! Answers about sessions, issues, tickets, incidents and surprises.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::{Moment, answers};

/// The line for the status line of a client.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatusLineAnswer {
    /// The line.
    pub line: String,
}

/// A recorded session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionEntry {
    /// Its name.
    pub session: String,
    /// When it began.
    pub started: Option<Moment>,
    /// When its last record was written.
    pub last: Option<Moment>,
    /// When its agent or client did something last: what a user did about the session afterwards does not count.
    pub worked: Option<Moment>,
    /// How many records there are.
    pub records: u64,
    /// How many actions were reviewed.
    pub actions: u64,
    /// How often each verdict was given.
    #[schemars(with = "super::parts::Verdicts")]
    pub verdicts: Json,
    /// Its client.
    pub client: Option<String>,
    /// The session that started it.
    pub parent: Option<String>,
    /// The sessions that it started.
    pub children: Vec<String>,
    /// What it has spent.
    pub spent: Spent,
    /// Its trust debt.
    pub trust_debt: f64,
    /// What follows from that.
    #[schemars(with = "String")]
    pub posture: Json,
    /// Why it is halted; null where it is not.
    pub halted: Option<String>,
    /// Why nothing else of it is known: its records cannot be read; null where they can.
    pub unreadable: Option<String>,
}

/// What a session has spent; null is not known.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Spent {
    /// Tokens by kind.
    #[schemars(with = "Option<super::parts::Tokens>")]
    pub tokens: Json,
    /// US dollars.
    pub dollars: Option<f64>,
    /// US dollars at least.
    pub dollars_at_least: Option<f64>,
    /// Whether the price is an estimate.
    pub dollars_estimated: bool,
    /// The same by model.
    #[schemars(with = "Vec<super::parts::ModelSpending>")]
    pub models: Json,
    /// Processes that were started.
    pub processes: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
    /// Operations on files.
    pub file_operations: u64,
}

/// The present state of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WatchEntry {
    /// Its name.
    pub session: String,
    /// Its client.
    pub client: Option<String>,
    /// When its last record was written.
    pub last: Option<Moment>,
    /// How many actions were reviewed.
    pub actions: u64,
    /// The last call.
    pub call: Option<String>,
    /// The verdict on it.
    #[schemars(with = "Option<String>")]
    pub verdict: Json,
    /// How often each verdict was given.
    #[schemars(with = "super::parts::Verdicts")]
    pub verdicts: Json,
    /// Issues that are there now.
    pub issues: Vec<StandingIssue>,
    /// The last intervention.
    pub rung: Option<String>,
    /// What it has spent.
    pub spent: Spent,
    /// `working`, `waiting`, `at rest`, `halted` or `ended`.
    pub condition: String,
}

/// An issue that is there now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StandingIssue {
    /// Its pattern.
    #[serde(rename = "type")]
    pub kind: String,
    /// How bad it is.
    pub severity: String,
}

/// A detected issue.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DetectedIssue {
    /// `SESSION:NUMBER`.
    pub id: String,
    /// When it was found.
    pub at: Moment,
    /// When it was over; null while it stands.
    pub ended: Option<Moment>,
    /// What the user said about it: `confirmed` or `false_alarm`.
    #[schemars(with = "Option<String>")]
    pub judgement: Json,
    /// The issue as it is recorded.
    #[schemars(with = "super::parts::RecordedIssue")]
    pub issue: Json,
}

/// A mark on an issue.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Mark {
    /// The record of the issue; 0 for one that was missed.
    pub record: u64,
    /// Its pattern.
    #[schemars(with = "String")]
    pub kind: Json,
    /// `confirmed`, `false_alarm` or `missed`.
    #[schemars(with = "String")]
    pub judgement: Json,
}

/// The accuracy of the patterns.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IssueStats {
    /// One row for each pattern.
    pub patterns: Vec<PatternStats>,
    /// Suggested settings, each in a sentence.
    pub suggestions: Vec<String>,
    /// The newest issues without a mark, as `SESSION:NUMBER`.
    pub not_marked: Vec<String>,
}

/// The accuracy of a pattern.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PatternStats {
    /// Its name.
    pub pattern: String,
    /// How many issues were detected.
    pub detected: usize,
    /// How many were confirmed.
    pub confirmed: usize,
    /// How many were false alarms.
    pub false_alarms: usize,
    /// How many were missed.
    pub missed: usize,
    /// The share of confirmed ones among all marks; null without marks.
    pub accuracy: Option<f64>,
}

/// A session that was given up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionGivenUp {
    /// The session.
    pub session: String,
    /// What it made that is still there.
    pub left: Vec<String>,
    /// Commands that take back what it did, or show it.
    pub next: Vec<String>,
}

/// The ways out of the newest issue of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Recovery {
    /// The session.
    pub session: String,
    /// The issue as it is recorded; null where there is none.
    #[schemars(with = "Option<super::parts::RecordedIssue>")]
    pub issue: Json,
    /// The policy.
    #[schemars(with = "Option<String>")]
    pub policy: Json,
    /// The plan.
    #[schemars(with = "Option<super::parts::WaysOut>")]
    pub plan: Json,
    /// The same in words, with commands.
    pub lines: Vec<String>,
}

/// An agent, across its sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentEntry {
    /// Its name, as `agent tier` takes it.
    pub agent: String,
    /// Its client.
    pub client: String,
    /// The project in which it works.
    pub project: String,
    /// How many sessions it has.
    pub sessions: u64,
    /// When it did something last.
    pub last: Option<Moment>,
    /// What is left of its trust debt.
    pub trust_debt: f64,
    /// What follows from that.
    #[schemars(with = "String")]
    pub posture: Json,
    /// The tier that holds: `0` to `5`.
    pub tier: String,
    /// That of the configuration.
    pub configured: String,
    /// The one that a user gave it; null where none did.
    pub given: Option<TierOfUser>,
}

/// A tier that a user gave an agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TierOfUser {
    /// Which.
    pub tier: String,
    /// When.
    pub at: Moment,
    /// Who.
    pub by: Option<String>,
    /// What they said about it.
    pub note: String,
}

/// A flagged action.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ticket {
    /// `SESSION:RECORD`, as `checkrein show` takes it.
    pub id: String,
    /// `action`, or `tier` for the tier of the agent.
    pub about: &'static str,
    /// When it was flagged.
    pub at: Moment,
    /// How bad it is; `-` where nothing says so.
    pub severity: String,
    /// The verdict on the action.
    #[schemars(with = "String")]
    pub verdict: Json,
    /// The call.
    pub call: String,
    /// Why it was flagged.
    pub reason: String,
    /// Tripwires and patterns that fired.
    pub fired: Vec<String>,
    /// The note that closed it; null while it is open.
    pub closed: Option<String>,
    /// The client of the agent; null where no record says it.
    pub client: Option<String>,
    /// The root of the project; null where no record says it.
    pub project: Option<String>,
}

/// Of what kind something is that was done before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PastWorkKind {
    /// A session of an agent.
    Session,
    /// A session that was stopped.
    Incident,
    /// A run of a pipeline.
    Pipeline,
}

impl PastWorkKind {
    /// Its word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Incident => "incident",
            Self::Pipeline => "pipeline",
        }
    }
}

/// Something that was done before, and fits what is looked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PastWorkEntry {
    /// What it is.
    pub kind: PastWorkKind,
    /// Its name.
    pub name: String,
    /// When something was done last.
    pub at: Moment,
    /// The root of its workspace; null where that is not recorded.
    pub project: Option<String>,
    /// What was wanted, masked.
    pub wanted: String,
    /// How it ended, in a clause.
    pub end: String,
    /// What it came from, where it went wrong; null where nothing is known of that.
    pub cause: Option<String>,
    /// The command that tells more.
    pub more: String,
    /// How well it fits, above 0; greater is better. Only those of one answer compare.
    pub fit: f64,
}

/// The report on an emergency stop.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct IncidentReport(#[schemars(with = "super::parts::ReportOnStop")] pub serde_json::Map<String, Json>);

/// A call with changes that were not predicted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SurprisingCall {
    /// The session.
    pub session: String,
    /// When its outcome was recorded.
    pub at: Moment,
    /// The action.
    #[schemars(with = "String")]
    pub action_id: Json,
    /// The programs that ran.
    #[schemars(with = "Vec<String>")]
    pub programs: Json,
    /// The call.
    #[schemars(with = "String")]
    pub call: Json,
    /// How much was looked at.
    #[schemars(with = "String")]
    pub looked: Json,
    /// The changes.
    #[schemars(with = "Vec<super::parts::UnpredictedChange>")]
    pub surprises: Json,
    /// How many more there were.
    #[schemars(with = "u64")]
    pub more_surprises: Json,
    /// What else may have caused them.
    #[schemars(with = "Vec<String>")]
    pub other_causes: Json,
    /// What was not looked at.
    #[schemars(with = "Vec<String>")]
    pub gaps: Json,
}

/// A call that a user allowed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Allowed {
    /// The name under which it can be taken back.
    pub allowance: String,
    /// The id of the call that was stopped.
    pub action: String,
    /// The call in words, masked.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What the tool is given, masked.
    pub input: Json,
    /// Why it was stopped.
    pub reason: String,
    /// The rules that stopped it, each with its decision: `confirm_outside_loss: modify`.
    pub rules: Vec<String>,
    /// What it would do; a call that would do anything else is another one.
    #[schemars(with = "Vec<super::parts::PredictedEffect>")]
    pub effects: Vec<Json>,
    /// The files of code that it runs; when one of them changes it is asked about again.
    pub code: Vec<AllowedCode>,
    /// `once`, `session` or `always`.
    pub span: String,
    /// Where it holds.
    pub directory: String,
    /// Whether it holds below that too.
    pub below: bool,
    /// How many other calls of the last 30 days were stopped that it would have let pass.
    pub earlier: u64,
    /// Why it can be allowed for one call only: `critical`, `unseen_code`, `unseen_value`, `masked`; empty where it can be for longer.
    pub once_only: Vec<String>,
}

/// A file of code that an allowed call runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AllowedCode {
    /// Where it stands.
    pub path: String,
    /// The SHA-256 of its text.
    pub digest: String,
}

/// Something that is allowed, was, or is damaged. What a damaged one allowed is not known and null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedAllowance {
    /// The name under which it can be taken back.
    pub allowance: String,
    /// How it stands with it, in words: waiting, held, used, expired, damaged.
    pub state: String,
    /// When it was given.
    pub at: Option<Moment>,
    /// The call in words, masked.
    pub call: Option<String>,
    /// `once`, `session` or `always`.
    pub span: Option<String>,
    /// Where it holds.
    pub directory: Option<String>,
    /// Whether it holds below that too.
    pub below: Option<bool>,
    /// The files of code that the call runs.
    pub code: Vec<AllowedCode>,
}

/// Something that is not allowed any more.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Forgotten {
    /// Its name.
    pub allowance: String,
}

/// What a user said of a verdict.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpinionMarked {
    /// The action.
    pub action: String,
    /// `wrong` or `missed`.
    pub opinion: String,
    /// The rules behind the verdict.
    pub rules: Vec<RuleRate>,
    /// The file into which the setting was written that `--set` chose; left out where none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// Settings that would have made the difference, those first that say least else.
    pub proposals: Vec<ProposedSetting>,
}

/// A setting that would have made the difference for a call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProposedSetting {
    /// What it says, as a clause.
    pub says: String,
    /// The configuration file that its lines belong into.
    pub file: String,
    /// Its lines, as YAML.
    pub lines: String,
    /// Whether the call was judged again with it, and came out otherwise; where not, its verdict rested on the session.
    pub tried: bool,
    /// How many other different calls of the last 30 days would come out otherwise with it, of the newest 300.
    pub others: u64,
    /// The newest three of them.
    pub examples: Vec<String>,
}

/// How often a rule stopped a call in the last 30 days.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleRate {
    /// Its name.
    pub rule: String,
    /// How often it had a part in stopping a call.
    pub stopped: u64,
    /// How often a user said that it was wrong.
    pub wrong: u64,
}

/// What was counted over a time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Stats {
    /// From when on.
    pub since: Moment,
    /// How many sessions have records in it.
    pub sessions: u64,
    /// How many calls were reviewed.
    pub calls: u64,
    /// How often each verdict was given, mildest first.
    pub verdicts: Vec<NamedCount>,
    /// What became of the calls, each counted once, in the words of the status line and of `session list`.
    pub became: Vec<NamedCount>,
    /// How many sessions were stopped by an incident.
    pub incidents: u64,
    /// How many calls there were of each level of risk, least first.
    pub risk: Vec<NamedCount>,
    /// What became of the questions: `yes`, `yes by user`, `told`, `no`, `no by user`, `no answer`, `refused`,
    /// `unanswered` (it ran without an answer), `open`.
    pub questions: Vec<NamedCount>,
    /// What was done about issues.
    pub interventions: Vec<InterventionCount>,
    /// How many of them were a stronger kind than the one before about the same issue.
    pub escalations: u64,
    /// How often each rule stopped a call, and how often a user called that wrong.
    pub rules: Vec<RuleRate>,
    /// How many calls a user said were stopped without need.
    pub wrong: u64,
    /// How many calls a user said should have been stopped.
    pub missed: u64,
    /// Before how many calls something was saved.
    pub saved: u64,
    /// How often something was taken back.
    pub undone: u64,
    /// What was spent by day, in UTC.
    pub days: Vec<Spending>,
    /// What was spent by workspace.
    pub projects: Vec<Spending>,
    /// What was spent by model.
    pub models: Vec<Spending>,
}

/// How often something was.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NamedCount {
    /// What.
    pub name: String,
    /// How often.
    pub count: u64,
}

/// What came of one kind of intervention.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InterventionCount {
    /// Its kind.
    pub kind: String,
    /// How often its issue ended before the next one about it.
    pub helped: u64,
    /// How often another one about the same issue followed.
    pub repeated: u64,
    /// How often neither is recorded.
    pub open: u64,
}

/// What was spent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Spending {
    /// The day, the workspace or the model.
    pub name: String,
    /// How many calls were reviewed; of a model, how many answers it gave.
    pub calls: u64,
    /// How many tokens, those read from the cache left out; null is not known.
    pub tokens: Option<u64>,
    /// What they cost, as far as prices are known.
    pub dollars: f64,
    /// Whether some of them have no known price.
    pub at_least: bool,
}

/// A halt that was laid on or lifted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Halted {
    /// The session, or `all sessions`.
    pub session: String,
    /// `halted` or `resumed`.
    pub result: String,
}

/// The records of an action.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ActionRecords {
    /// The session that they are of.
    pub session: Option<String>,
    /// The session that started that one.
    pub parent: Option<String>,
    /// As the ledger holds them.
    #[schemars(with = "Vec<super::parts::LedgerRecord>")]
    pub records: Vec<Json>,
}

/// A rollback of a session: what it would do, or did.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct SessionRollback(
    #[schemars(with = "super::parts::RecordedRollback")] pub serde_json::Map<String, Json>,
);

answers! {
    Stats => "stats",
    Allowed => "allowed",
    ListedAllowance => "allowance",
    Forgotten => "forgotten",
    OpinionMarked => "opinion",
    SessionEntry => "session",
    StatusLineAnswer => "status-line",
    WatchEntry => "watch",
    DetectedIssue => "issue",
    Mark => "mark",
    IssueStats => "issue-stats",
    Recovery => "recovery",
    SessionGivenUp => "session-given-up",
    AgentEntry => "agent",
    Ticket => "ticket",
    IncidentReport => "incident",
    PastWorkEntry => "past-work",
    SurprisingCall => "surprise",
    Halted => "halt",
    ActionRecords => "action",
    SessionRollback => "session-rollback",
}
