//! The vocabulary of the answer.

use std::fmt;

use checkrein_policy::{Config, Decision, VerdictKind};
use checkrein_protocol::{
    Effect, FlowMark, FlowRecord, ForeseenIssue, FormerText, Intent, ResourceUse, SecretMark, Severity,
    TerminalUse, UnsavedRecord,
};
pub use checkrein_protocol::{RationalityLevel, RiskLevel, ScopeReach};
use serde::{Deserialize, Serialize};

use crate::fingerprint::ActionFingerprint;
use crate::governance::GovernanceAssessment;
use crate::risk::level;

/// A number from 0 to 1: a risk, a rationality, a confidence.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Score(f64);

impl Score {
    /// The score nearest to `value`; what is not a number counts as 1, the careful side.
    pub fn new(value: f64) -> Self {
        // Adding nothing turns the zero below zero into the other one.
        if value.is_nan() { Self(1.0) } else { Self(value.clamp(0.0, 1.0) + 0.0) }
    }

    /// The number, from 0 to 1.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Score {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.2}", self.0)
    }
}

/// Everything that was found out about one action, and what follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// What is done about the action.
    pub verdict: Verdict,
    /// The decision of the matrix and the rules (seed 002).
    pub decision: Decision,
    /// What the action is for.
    pub intent: Intent,
    /// How bad it would be.
    pub risk: Risk,
    /// Whether it makes sense now.
    pub rationality: Rationality,
    /// What would change.
    pub side_effects: SideEffects,
    /// The rules that spoke, strictest first.
    pub rules: Vec<RuleFinding>,
    /// Why, in words.
    pub reasoning: Reasoning,
    /// How sure the review is of its own picture.
    pub confidence: Score,
    /// What could be done instead.
    pub alternatives: Vec<String>,
    /// A safer action that replaces this one, when the verdict is a nudge by modification.
    pub rewrite: Option<Rewrite>,
    /// Whether no action of this kind was seen in the session before.
    pub first_time: bool,
    /// A warning that the first-time rule kept from being said; it is in the record.
    pub recorded_warning: Option<String>,
    /// Checks that did not run, with the reason: never the same as checks that passed.
    pub failures: Vec<String>,
    /// What it destroys and was not saved before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_saved: Vec<UnsavedRecord>,
    /// Programs that would run.
    pub programs: Vec<String>,
    /// What files that it certainly overwrites held before it, the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_texts: Vec<FormerText>,
    /// What changes about the places that hold secrets.
    pub secret_marks: Vec<SecretMark>,
    /// What it puts into terminals and open programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terminal_uses: Vec<TerminalUse>,
    /// What it lets the agent read that came from outside or is private.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_marks: Vec<FlowMark>,
    /// Which readings of the session lead to a question about what it sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowRecord>,
    /// The issues of the session that would begin or grow with it, as the detectors see it before it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreseen: Vec<ForeseenIssue>,
    /// What identifies the action.
    pub fingerprint: ActionFingerprint,
    /// The quality of the trace, tripwires, flag and trust.
    pub governance: GovernanceAssessment,
}

/// Something that is known beside a review and makes its verdict stricter: the only way to change one afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalation {
    /// The mildest verdict that it leaves.
    pub at_least: VerdictKind,
    /// Why, in one sentence.
    pub reason: String,
    /// What to do instead.
    pub instead: Vec<String>,
}

impl Escalation {
    /// At least this verdict, for this reason.
    pub fn new(at_least: VerdictKind, reason: impl Into<String>) -> Self {
        Self { at_least, reason: reason.into(), instead: Vec::new() }
    }

    /// With what to do instead.
    #[must_use]
    pub fn instead(mut self, advice: impl Into<String>) -> Self {
        self.instead.push(advice.into());
        self
    }
}

impl Review {
    /// Makes the verdict stricter, and says why; a verdict that is as strict already stays, with its reason. A halt alone says why it stands
    /// whatever else was said. Answers whether anything changed. Nothing makes a verdict milder.
    pub fn escalate(&mut self, escalation: Escalation) -> bool {
        let Escalation { at_least, reason, instead } = escalation;
        if self.verdict.kind >= at_least && at_least != VerdictKind::Halt {
            return false;
        }
        self.verdict.kind = at_least;
        self.rewrite = None;
        self.reasoning.primary = reason;
        self.reasoning.subject = Subject::Call;
        self.alternatives = instead;
        true
    }

    /// Adds a factor to the risk, and answers the level where that is higher than before. A factor below zero counts as none.
    pub fn raise_risk(&mut self, factor: Factor, config: &Config) -> Option<RiskLevel> {
        let raised = Score::new(self.risk.score.value() + factor.amount.max(0.0));
        let (before, after) = (self.risk.level, level(raised, config).max(self.risk.level));
        self.risk.score = raised;
        self.risk.level = after;
        self.risk.factors.push(factor);
        (after > before).then_some(after)
    }

    /// The same review where a user has allowed the call beforehand: it runs, and what was against it stays written. Where the question was
    /// about a safer form, that form runs, as after a yes: the review is of it, and what it leaves out was judged by nobody. What session,
    /// limits and failures add comes after this.
    #[must_use]
    pub fn lifted(mut self, by: &str) -> Self {
        self.verdict.kind = match self.rewrite {
            Some(_) => VerdictKind::Nudge,
            None => VerdictKind::Ok,
        };
        let was = std::mem::take(&mut self.reasoning.primary);
        self.reasoning.all.insert(0, was.clone());
        self.reasoning.primary = format!("{by}; without that: {was}");
        self.alternatives.clear();
        self
    }

    /// Returns the same review where something outside it lets the call pass as it is, without the safer form.
    #[must_use]
    pub fn unchanged(mut self, by: &str) -> Self {
        self.rewrite = None;
        self.lifted(by)
    }

    /// The same review with one more sentence behind its reason.
    #[must_use]
    pub fn remarked(mut self, sentence: &str) -> Self {
        let primary = &mut self.reasoning.primary;
        *primary = if primary.is_empty() { sentence.to_owned() } else { format!("{primary}. {sentence}") };
        self
    }

    /// Whether nothing but numbers asks about the action: no rule does, nothing is lost by it, and no check failed.
    pub fn is_asked_by_numbers(&self) -> bool {
        self.verdict.kind == VerdictKind::Escalate
            && self.rules.iter().all(|finding| finding.decision < Decision::Modify)
            && self.not_saved.iter().all(|one| one.places.is_empty())
            && !self.failures.contains(&self.reasoning.primary)
    }

    /// Says that a verdict rests on what the session did before, and what to do about that. The verdict stays.
    pub fn explain_by_session(&mut self, reason: String, advice: String) {
        self.reasoning.all.insert(0, reason.clone());
        self.reasoning.primary = reason;
        self.reasoning.subject = Subject::Session;
        self.alternatives.insert(0, advice);
    }
}

/// What is done about an action (seed 003).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Which of the five.
    pub kind: VerdictKind,
    /// Whether a user should look at it later, whatever was done.
    pub flagged: bool,
}

/// How bad an action would be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Risk {
    /// Base and modifiers, clamped.
    pub score: Score,
    /// The band that the score falls into.
    pub level: RiskLevel,
    /// What the score is made of; the first is the base.
    pub factors: Vec<Factor>,
    /// Whether anything lies outside the expected scope.
    pub reach: ScopeReach,
}

/// One part of a risk score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Its name: an effect kind, `out_of_scope`, `repetition`, `privilege`, `pattern`.
    pub name: String,
    /// What it adds to the score; for the base, the base itself.
    pub amount: f64,
    /// What it rests on, in a few words.
    pub detail: String,
}

/// Whether an action makes sense now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rationality {
    /// The mean of the components that had something to go by.
    pub score: Score,
    /// The band that the score falls into.
    pub level: RationalityLevel,
    /// Whether the action serves a goal; `None` when no goal is known.
    pub goal_alignment: Option<Score>,
    /// Whether it follows from what went before; `None` at the start of a session.
    pub logical_progression: Option<Score>,
    /// .5 when a cheaper way is known, else 1.
    pub efficiency: Score,
    /// Whether what it says is whole and known.
    pub completeness: Score,
    /// What is wrong with it, in words.
    pub issues: Vec<String>,
}

/// What would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideEffects {
    /// The predicted effects.
    pub effects: Vec<Effect>,
    /// Whether every one can be taken back.
    pub reversible: bool,
    /// The gravest severity; low when nothing changes.
    pub severity: Severity,
    /// What the action uses of the machine, as far as that is known before it runs.
    #[serde(default)]
    pub resources: ResourceUse,
    /// What softens them.
    pub mitigations: Vec<String>,
}

/// A rule that spoke.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleFinding {
    /// The name of the rule.
    pub rule: String,
    /// What it asks for.
    pub decision: Decision,
    /// Why.
    pub reason: String,
}

/// Why, in words.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reasoning {
    /// The reason that weighs most; empty when there is nothing to say.
    pub primary: String,
    /// All reasons, weightiest first.
    pub all: Vec<String>,
    /// What would be asked about beside the first even if that were not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// What the first reason is about.
    #[serde(default)]
    pub subject: Subject,
}

/// What the reason of a review is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// What the call does: it stays so, however often it is made.
    #[default]
    Call,
    /// What the session did before: the call may pass once something has changed.
    Session,
}

/// A safer action in place of the one that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rewrite {
    /// The shell text that runs instead.
    pub command: String,
    /// What was changed and why, for the agent.
    pub note: String,
    /// Whether the safer form may run at once.
    pub consent: RewriteConsent,
    /// What makes it safer.
    #[serde(default)]
    pub safety: Safety,
}

impl Review {
    /// Whether nothing but this rule asks or refuses.
    pub(crate) fn asks_only_by(&self, rule: &str) -> bool {
        self.rules.iter().all(|finding| finding.decision < Decision::Modify || finding.rule == rule)
    }
}

/// What makes a rewritten action safer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Safety {
    /// It does something else.
    #[default]
    Changed,
    /// It does the same, within bounds that the kernel enforces.
    Contained,
    /// It does the same, and secrets in what it prints are masked.
    Masked,
}

/// Whether a safer form needs a yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RewriteConsent {
    /// It does what was wanted, or no harm: it runs, and the agent is told.
    NotNeeded,
    /// As `not_needed`, and it only reads and prints, so the client need not ask about the new form either.
    OnlyReads,
    /// A user is asked, and sees the safer form.
    Asked,
}
