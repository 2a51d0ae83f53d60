//! Ledger records: what is written about a session, one JSON object a line.
//!
//! A line is `{"seq":N,"prev":"HEX","at":MS,"body":{"type":"...",...},"hash":"HEX"}`. The hash stands last and is the SHA-256
//! of the text of `prev` followed by the line without its hash field, so a line is checked without any canonical form.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::action::{Intent, ToolName};
use crate::decision::Decision;
use crate::effect::Effect;
use crate::flow_mark::{FlowMark, FlowRecord};
use crate::hook::PermissionMode;
use crate::id::{ActionId, ChangeId, SessionId};
use crate::intervention::Intervention;
use crate::issue::{ActionNumber, ForeseenIssue, Issue, PatternKind};
use crate::levels::{Enforcement, Posture, RationalityLevel, RiskLevel, ScopeReach, Severity, TierLevel};
use crate::mark::Fingerprint;
use crate::message::{Cascade, Claim};
use crate::observation::Observation;
use crate::path::AbsolutePath;
use crate::resource_use::ResourceUse;
use crate::secret_mark::SecretMark;
use crate::tally::TallyIncrement;
use crate::terminal_use::TerminalUse;
use crate::time::Timestamp;
use crate::unliftable::{CodeRecord, Unliftable};
use crate::unreviewed::UnreviewedRecord;
use crate::usage::UsageRecord;
use crate::verdict::VerdictKind;

/// The hash of a record: 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordHash(pub String);

impl RecordHash {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One line of a ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its number in the ledger, from 1, without gaps.
    pub seq: u64,
    /// The hash of the record before it; 64 zeros for the first.
    pub prev: RecordHash,
    /// When it was written.
    pub at: Timestamp,
    /// What it says.
    pub body: RecordBody,
    /// Its own hash.
    pub hash: RecordHash,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RecordBody {
    /// A session began, or was taken up again.
    SessionStarted {
        /// The session, in the client's own spelling.
        session: SessionId,
        /// The client: `claude_code`, `codex`, ...
        client: String,
        /// The working directory.
        cwd: String,
        /// The root of the workspace.
        workspace: String,
        /// How it began, in the client's words: `startup`, `resume`, `clear`, ...
        source: String,
        /// What it began with; `None` when an earlier record says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beginning: Option<Box<Beginning>>,
        /// The trust debt that the agent brought along; `None` when it had none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        debt: Option<f64>,
    },
    /// The user said something to the agent.
    Prompt {
        /// What, masked.
        text: String,
    },
    /// An action was reviewed.
    Review(Box<ReviewRecord>),
    /// What became of an action.
    Outcome(OutcomeRecord),
    /// An action that a user was to be asked about ran without their answer.
    Unanswered(Box<UnansweredRecord>),
    /// An action ran that no review had let run.
    Unreviewed(Box<UnreviewedRecord>),
    /// What the agent was told about a call, where that is more than its review says: something was done about an issue.
    Told {
        /// The call.
        action_id: ActionId,
        /// The whole text, masked.
        text: String,
    },
    /// Any other message of the client.
    Event {
        /// Its name in the client's words.
        name: String,
        /// What it carried, masked.
        fields: Json,
    },
    /// A behaviour pattern was detected, or is graver than it was.
    Issue(Box<Issue>),
    /// A behaviour pattern is no more.
    IssueEnded {
        /// Which.
        kind: PatternKind,
    },
    /// Something was done about an issue.
    Intervention(Box<Intervention>),
    /// A user judged whether an issue was one.
    Marked {
        /// The number of the record of the issue; 0 when there is none, because it was missed.
        record: u64,
        /// The pattern.
        kind: PatternKind,
        /// Their judgement.
        judgement: Judgement,
        /// What they say about it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// Files were set back to what stood before an action, or a user was asked whether they should be.
    Rollback(Box<RollbackRecord>),
    /// What the transcript of the client says was spent since it was read last.
    Usage(Box<UsageRecord>),
    /// The agent said something.
    Message {
        /// Fingerprint of the text, which is not kept.
        #[serde(with = "hexadecimal")]
        mark: u64,
        /// What it says about new work (seed 004: recorded when it says anything).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cascade: Option<Cascade>,
        /// What it says was seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claim: Option<Claim>,
        /// Where in its turn it stands.
        #[serde(default, skip_serializing_if = "MessagePlace::is_end")]
        place: MessagePlace,
    },
    /// The client shortened the conversation.
    Condensed,
    /// The session, or all sessions, were stopped.
    Halted {
        /// What was stopped.
        scope: HaltScope,
        /// Why.
        reason: String,
        /// By whom: `person`, a rule, an intervention.
        by: String,
    },
    /// A user has looked at a flagged action.
    ReviewClosed {
        /// The number of the record that was flagged.
        ticket: u64,
        /// What they say about it, masked.
        note: String,
        /// Who.
        by: String,
    },
    /// The halt was lifted.
    Resumed {
        /// What goes on.
        scope: HaltScope,
        /// By whom.
        by: String,
    },
    /// A configuration file was found changed.
    ConfigChanged {
        /// Which.
        file: String,
        /// What was done about it: `accepted`, `waits for trust`, ...
        decision: String,
    },
    /// Something did not run: a value of its own, never a pass.
    Failure {
        /// Where: `decode`, `interpret`, `review`, `record`, ...
        stage: String,
        /// What sort: `panic`, `deadline`, `oversize`, ...
        kind: String,
        /// What is known about it, masked.
        detail: String,
        /// The verdict that was given instead.
        verdict: VerdictKind,
    },
    /// What was older than it is kept was removed.
    Retention {
        /// The sessions that went.
        removed: Vec<RemovedSession>,
        /// What else went, by the store that it was in.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        stores: Vec<RemovedEntries>,
        /// Why: `older than 90 days`.
        reason: String,
    },
    /// The head of another ledger, so that this one bears witness against its truncation.
    Anchor {
        /// The folder name of the other session.
        session: String,
        /// The number of its last record.
        seq: u64,
        /// The hash of its last record.
        hash: RecordHash,
    },
    /// The ledger was found damaged before this record was written.
    Repaired {
        /// What was wrong.
        damage: LedgerDamage,
        /// How many bytes are no longer in the ledger.
        lost_bytes: u64,
        /// The file beside the ledger that keeps them, when they could be kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
        /// In words.
        reason: String,
    },
    /// A record of a type that this version does not know.
    #[serde(other)]
    Unknown,
}

/// What a session began with. The first that is on record counts: nothing that comes later in the session changes it. Its paths are those of
/// the guard itself, and are written as they are.
///
/// It is kept in the state of a session too, whose form names no fields: none may be left out when it is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    /// The root of the workspace.
    pub workspace: AbsolutePath,
    /// What tells the rules that held from others: the SHA-256 of all their texts.
    pub rules: [u8; 32],
    /// The settings files from which the client called the hooks.
    pub settings: Vec<AbsolutePath>,
    /// Where guarded paths really were, for those that went through links.
    pub places: Vec<AbsolutePath>,
    /// What tells the texts about interventions that held from others: the SHA-256 of all of them; `None` in records from before these were kept.
    #[serde(default)]
    pub interventions: Option<[u8; 32]>,
    /// The commit that was checked out in the workspace, in hexadecimal digits; `None` where there was none.
    #[serde(default)]
    pub commit: Option<String>,
    /// The hosts to which the remotes of its repository led; `None` in records from before these were kept.
    #[serde(default)]
    pub remotes: Option<Vec<String>>,
}

/// What a user says about a detection (upstream 1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It was right.
    Confirmed,
    /// It was honest work.
    FalseAlarm,
    /// There was none, and there should have been.
    Missed,
}

/// Where in a turn of the agent a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessagePlace {
    /// At its end: a user reads it, or nobody does.
    #[default]
    End,
    /// Between calls; it is recorded, and nothing follows from it.
    Midway,
}

impl MessagePlace {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
    fn is_end(&self) -> bool {
        matches!(self, Self::End)
    }
}

/// What a halt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HaltScope {
    /// One session.
    Session,
    /// Every session of this state directory.
    All,
}

/// What was wrong with a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LedgerDamage {
    /// The last line was not written to its end: the writer was killed.
    TornTail,
    /// The ledger is shorter than it was known to be.
    Shortened,
    /// The last record is not the one that was written last.
    Changed,
    /// Lines that are no records.
    Unreadable,
    /// Records are gone of which something outside the state directory knows.
    Lost,
    /// Records, or the halt of the session, were gone, and were put back as they were.
    PutBack,
}

/// A review, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewRecord {
    /// The action.
    pub action_id: ActionId,
    /// The tool.
    pub tool: ToolName,
    /// Its input, masked, long strings cut.
    pub input: Json,
    /// The working directory of the action.
    pub cwd: String,
    /// The sub-agent that wanted it; `None` for the agent itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// What was done about it.
    pub verdict: VerdictKind,
    /// The decision behind the verdict.
    pub decision: Decision,
    /// Whether a user should look at it later.
    pub flagged: bool,
    /// The risk.
    pub risk: RiskRecord,
    /// The rationality; `None` when it did not run.
    pub rationality: Option<RationalityRecord>,
    /// What it is for; `None` for a call about which nothing was said, as for the next seven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
    /// How sure the picture is, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Whether it stays where the task is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeReach>,
    /// The version of the policy that it was judged by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// What it uses of the machine, as far as that is known before it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceUse>,
    /// The reasons behind the first, weightiest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_reasons: Vec<String>,
    /// What softens it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mitigations: Vec<String>,
    /// The predicted effects, the first of them where they are many.
    #[serde(deserialize_with = "crate::older::effects")]
    pub effects: Vec<Effect>,
    /// How many further effects change files: those that are not written down count too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub further_file_operations: u64,
    /// What files that it certainly overwrites held before it, the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_texts: Vec<FormerText>,
    /// What changes about the places that hold secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_marks: Vec<SecretMark>,
    /// What it puts into terminals and open programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terminal_uses: Vec<TerminalUse>,
    /// What it lets the agent read that came from outside or is private.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_marks: Vec<FlowMark>,
    /// Which readings lead to a question about what it sends; `None` when none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowRecord>,
    /// The issues that would begin or grow with it, as the detectors saw it before it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreseen: Vec<ForeseenIssue>,
    /// The names of the rules that fired.
    pub rules: Vec<String>,
    /// One sentence.
    pub reason: String,
    /// What to do instead.
    pub alternatives: Vec<String>,
    /// The input that was put in place of the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewrite: Option<Json>,
    /// What the agent was told in place of what the verdict says, and why; `None` when it was told that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<String>,
    /// What was saved before it ran; `None` when nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotRecord>,
    /// What it destroys and was not saved before it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_saved: Vec<UnsavedRecord>,
    /// What did not run or could not be found out.
    pub problems: Vec<String>,
    /// Basenames of the programs that it runs, the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Fingerprint of the kind of action: tool, programs, effect kinds.
    #[serde(with = "hexadecimal")]
    pub kind: u64,
    /// Fingerprint of the exact action.
    #[serde(with = "hexadecimal")]
    pub exact: u64,
    /// Fingerprint of what the action comes to, whatever is written around it; zero in older records.
    #[serde(default, skip_serializing_if = "is_zero", with = "hexadecimal")]
    pub substance: u64,
    /// The same without options; zero in older records, and for what is no command.
    #[serde(default, skip_serializing_if = "is_zero", with = "hexadecimal")]
    pub without_options: u64,
    /// How long the review took, in microseconds.
    pub elapsed_us: u64,
    /// Whether the verdict was enforced.
    pub mode: Enforcement,
    /// What governance says about it; `None` when it has nothing to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governance: Option<Box<GovernanceRecord>>,
    /// What the session began with, when no earlier record says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beginning: Option<Box<Beginning>>,
    /// The digest of the call, without where it runs; only of one that was asked about or refused, so that a user can allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The files of code that the call runs, as they were read; only beside a digest, `None` where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Vec<CodeRecord>>,
    /// What speaks against allowing the call; only beside a digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unliftable: Vec<Unliftable>,
    /// The approved change record that let the call pass; `None` when none was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
}

/// An action that ran without the answer it needed, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnansweredRecord {
    /// The action.
    pub action_id: ActionId,
    /// The call in one line, cut and masked.
    pub call: String,
    /// Why a user was to be asked.
    pub reason: String,
    /// How the client decided what may run, when it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// What it does to the doubt about what is opaque in the session.
    pub doubt: DoubtRecord,
}

/// What governance says about an action, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GovernanceRecord {
    /// The quality of the trace, from 0 to 1.
    pub ctq: f64,
    /// The tier whose thresholds held; `None` when governance is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<TierLevel>,
    /// The tripwires and own patterns that fired, each with what it asks for: `daily_refunds: block`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fired: Vec<String>,
    /// The same with what the issue says that each raises.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<OwnFinding>,
    /// The severity of the flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag: Option<Severity>,
    /// What the trust debt before the action led to.
    pub posture: Posture,
    /// The trust debt after the action, when the action added to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debt: Option<f64>,
    /// Whether it asks a user to look at the tier.
    #[serde(default, skip_serializing_if = "is_false")]
    pub asks_for_review: bool,
    /// What it adds to what tripwires and patterns count, if it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<TallyIncrement>,
}

/// What a tripwire or own pattern found in an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnFinding {
    /// Its name.
    pub name: String,
    /// How grave its author calls it.
    pub severity: Severity,
    /// What was seen.
    pub summary: String,
    /// What to do instead; empty where its author says nothing.
    pub advice: String,
}

/// Something that an action destroys and that was not saved before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsavedRecord {
    /// What, and why it was not, as a clause.
    pub what: String,
    /// Where it was, as far as it was the only copy of something: the action cannot be taken back without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// A snapshot that was taken for another purpose and holds all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<u64>,
}

/// What a file held before an action overwrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerText {
    /// The file.
    pub path: AbsolutePath,
    /// The mark of its text.
    pub text: Fingerprint,
}

/// What was saved before an action, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotRecord {
    /// The number of the snapshot in the store of the workspace.
    pub id: u64,
    /// How many files, links and directories it holds.
    pub entries: u64,
    /// Their length in bytes.
    pub bytes: u64,
    /// How long it took, in microseconds.
    pub elapsed_us: u64,
    /// What was not saved, and why; the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_saved: Vec<String>,
    /// When the action may have begun, where its agent did not wait for the review: the snapshot holds what stood there then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<Timestamp>,
}

/// A rollback, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollbackRecord {
    /// Before which action.
    pub before: ActionNumber,
    /// How far it went.
    pub stage: RollbackStage,
    /// By whom: `intervention` or `person`.
    pub by: String,
    /// The snapshots that it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snapshots: Vec<u64>,
    /// The snapshots of what was there before it; going back to them, newest first, takes it back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub saved_as: Vec<u64>,
    /// How many files, links and directories it changes.
    pub changes: u64,
    /// The first few of them, such as `replace src/main.rs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<String>,
    /// What is not as it was: where, and why; the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
    /// In one sentence, as the agent or the user was told.
    pub text: String,
}

/// How far a rollback went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RollbackStage {
    /// A user was asked.
    Proposed,
    /// It was done.
    Done,
    /// It could not be done, or there was nothing to do.
    NotDone,
}

/// The risk of an action, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RiskRecord {
    /// From 0 to 1.
    pub score: f64,
    /// The band of the score.
    pub level: RiskLevel,
    /// What it rests on.
    pub factors: Vec<String>,
}

/// The rationality of an action, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RationalityRecord {
    /// From 0 to 1.
    pub score: f64,
    /// The band of the score.
    pub level: RationalityLevel,
    /// How well the action serves the goals, from 0 to 1; `None` when no goal is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_alignment: Option<f64>,
}

/// The outcome of an action, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// The action.
    pub action_id: ActionId,
    /// The tool.
    pub tool: ToolName,
    /// Whether it failed.
    pub failed: bool,
    /// The error, masked and cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took, in milliseconds; `None` when the client does not say.
    pub duration_ms: Option<u64>,
    /// The length of the output in bytes.
    pub output_bytes: u64,
    /// SHA-256 of the output, in hexadecimal.
    pub output_hash: String,
    /// The kinds of the secrets that were masked in it before the model read it, one for each mask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
    /// A text from outside in it that gives an agent orders, cut and masked; `None` when none was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planted: Option<String>,
    /// What the detectors keep of the output; `None` in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Observation>,
    /// What really changed, against what was predicted; `None` for calls that cannot change files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Box<VerificationRecord>>,
}

/// What was seen after an action, as written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VerificationRecord {
    /// How much was looked at.
    pub looked: ObservedExtent,
    /// Why something was not looked at, or what makes the answer less sure; each one clause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// Names that were looked at.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub entries: u64,
    /// Trees that were left out because they are made again or ignored, the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// How many changes were seen that had been predicted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub expected: u64,
    /// Where prediction and reality differ, the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surprises: Vec<SurpriseRecord>,
    /// How many further surprises are not written down.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_surprises: u64,
    /// What else may have caused them; empty when nothing is known to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_causes: Vec<String>,
    /// With surprises: the programs that may have caused them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// With surprises: the call in one line, cut and masked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// What it does to the doubt about what is opaque in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<DoubtRecord>,
}

/// How much was looked at after an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservedExtent {
    /// Everything that is looked at: no surprise means that there was none.
    Whole,
    /// Not everything; the gaps say what is missing.
    Partly,
    /// Nothing; the gaps say why.
    #[default]
    NotAtAll,
    /// What the client itself says about its tool, and the place that was predicted.
    Reported,
}

/// One difference between prediction and reality, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurpriseRecord {
    /// How it differs.
    pub kind: SurpriseRecordKind,
    /// Where.
    pub path: String,
    /// What had been predicted about it, in words that follow `it was predicted`.
    pub predicted: String,
}

/// How reality differs from what was predicted, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SurpriseRecordKind {
    /// It is there and was not.
    Created,
    /// Its content, mode or owner is another one.
    Modified,
    /// It was there and is gone.
    Deleted,
    /// Names in this directory came or went, and it is not known which.
    Rearranged,
    /// A certain change did not happen.
    Missing,
}

impl SurpriseRecordKind {
    /// The name on the wire, such as `deleted`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Rearranged => "rearranged",
            Self::Missing => "missing",
        }
    }
}

/// A change of the doubt about what is opaque in a session, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoubtRecord {
    /// In hundredths of risk; below zero it takes doubt away.
    pub points: i32,
    /// The doubt that it leads to at most.
    pub ceiling: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// A session that retention removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedSession {
    /// Its folder name.
    pub session: String,
    /// How many records it held.
    pub records: u64,
    /// When its last record was written.
    pub last: Timestamp,
    /// The hash of its last record.
    pub hash: RecordHash,
    /// How many reviews it held.
    pub reviews: u64,
}

/// What retention removed from a store that holds no sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedEntries {
    /// The store: the name of its folder in the state directory.
    pub store: String,
    /// How many entries went.
    pub entries: u64,
    /// When the oldest of them was written last.
    pub oldest: Timestamp,
    /// When the newest of them was written last.
    pub newest: Timestamp,
    /// The SHA-256 of their names in order, each with a line feed behind it.
    pub names: String,
}

/// Fingerprints as text: a number of 64 bits does not survive every reader of JSON.
mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
    pub(super) fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{value:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}
