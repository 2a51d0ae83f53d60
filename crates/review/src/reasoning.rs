//! The answer in words: at most five lines, for a model to obey and a user to read.

use std::collections::BTreeSet;

use checkrein_policy::{Decision, Finding, VerdictKind};
use checkrein_protocol::{Effect, EffectKind, Stake};

use crate::risk::DOUBT;
use crate::verdict::{Factor, Rationality, Reasoning, Review, Risk, RuleFinding, SideEffects};

/// Puts the reasons in order: rules that speak, then risk above .7, rationality below .5, then what would change (seed 002).
pub(crate) fn build(
    rules: &[RuleFinding],
    risk: &Risk,
    rationality: &Rationality,
    side_effects: &SideEffects,
) -> Reasoning {
    let mut all: Vec<String> = rules
        .iter()
        .filter(|finding| finding.decision > Decision::Allow)
        .map(|finding| finding.reason.clone())
        .collect();
    all.dedup();
    if risk.score.value() > SPEAKING_RISK {
        let factors: Vec<String> = risk.factors.iter().map(factor_in_words).collect();
        all.push(format!("High risk: {}", factors.join("; ")));
    }
    if rationality.score.value() < SPEAKING_RATIONALITY {
        all.push(format!("Unlikely step: {}", rationality.issues.join(", ")));
    }
    let changes: Vec<String> =
        side_effects.effects.iter().filter(|effect| effect.kind.is_mutating()).map(sentence).collect();
    if let Some((first, rest)) = changes.split_first() {
        let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
        all.push(format!("Side effects: {first}{more}"));
    }
    Reasoning { primary: all.first().cloned().unwrap_or_default(), all, ..Reasoning::default() }
}

/// What a risk rests on, as a clause: its name is one of the wire.
fn factor_in_words(factor: &Factor) -> String {
    let detail = &factor.detail;
    match factor.name.as_str() {
        "out_of_scope" => format!("that is outside the expected places: {detail}"),
        "repetition" => format!("it {detail}"),
        "privilege" => format!("with elevated permissions: {detail}"),
        "pattern" | DOUBT => detail.clone(),
        name => match EffectKind::ALL.into_iter().find(|kind| kind.name() == name) {
            Some(kind) => format!("it {} {detail}", kind.verb()),
            None => format!("{} {detail}", name.replace('_', " ")),
        },
    }
}

/// Puts what rules found in order: strictest first, and of equal ones what does the most harm. Where a home directory would go, that the
/// guard lies in it is the least of it.
pub(crate) fn gravest_first(findings: &mut [Finding], effects: &[Effect]) {
    let harm = |finding: &Finding| {
        let meant = finding.effects.iter().filter_map(|place| effects.get(*place));
        meant
            .map(|effect| (effect.severity, effect.kind.is_mutating(), !effect.reversible, effect.stake))
            .max()
    };
    let is_all_lost = loses_all(findings);
    let is_least = |finding: &Finding| is_all_lost && finding.rule.as_str() == GUARD;
    findings.sort_by_key(|finding| std::cmp::Reverse((finding.decision, !is_least(finding), harm(finding))));
}

/// Whether a home directory, a root or the like would go.
fn loses_all(findings: &[Finding]) -> bool {
    findings.iter().any(|one| one.rule.as_str() == CRITICAL_DELETION)
}

/// The places of the findings that alone would be asked about. What rests on nothing but effects of those before it says the same in
/// other words.
pub(crate) fn asked_about(findings: &[Finding]) -> Vec<usize> {
    let mut known = BTreeSet::new();
    let is_new = |finding: &Finding| {
        let adds = finding.effects.iter().filter(|place| known.insert(**place)).count();
        finding.decision >= Decision::Modify && (adds > 0 || finding.effects.is_empty())
    };
    let marks: Vec<bool> = findings.iter().map(is_new).collect();
    marks.iter().enumerate().filter_map(|(place, is_new)| is_new.then_some(place)).collect()
}

/// The rule that keeps hands off the guard, and the one that asks about what runs later: a place that is not to be touched at all needs no
/// advice about how to write into it.
const GUARD: &str = "protect_guard";
const RUNS_LATER: &str = "confirm_persistence";
/// The rule that keeps home directories, roots and their like.
const CRITICAL_DELETION: &str = "prevent_critical_deletion";

/// What to do instead: the best for each thing that would be asked about, then the rest.
pub(crate) fn advice(findings: &[Finding], asked: &[usize]) -> Vec<String> {
    let is_guarded = findings.iter().any(|one| one.rule.as_str() == GUARD && one.decision == Decision::Block);
    // Whoever would delete a home directory means no guard, and needs no advice about it.
    let is_all_lost = loses_all(findings);
    let is_meant = |finding: &&Finding| {
        !(is_guarded && finding.rule.as_str() == RUNS_LATER || is_all_lost && finding.rule.as_str() == GUARD)
    };
    let best = asked.iter().filter_map(|place| findings.get(*place)).filter(is_meant);
    let best = best.filter_map(|finding| finding.alternatives.first());
    let mut advice: Vec<String> = Vec::new();
    for one in best.chain(findings.iter().filter(is_meant).flat_map(|finding| &finding.alternatives)) {
        if !advice.contains(one) {
            advice.push(one.clone());
        }
    }
    advice
}

/// Whether the reasons of a review say more than what would change.
pub(crate) fn gives_reason(review: &Review) -> bool {
    review.rules.iter().any(|finding| finding.decision > Decision::Allow)
        || review.risk.score.value() > SPEAKING_RISK
        || review.rationality.score.value() < SPEAKING_RATIONALITY
}

/// Above this risk is a reason of its own (seed 002).
const SPEAKING_RISK: f64 = 0.7;

/// Below this rationality is one (seed 002).
const SPEAKING_RATIONALITY: f64 = 0.5;

/// What stands before the effects that were seen, by who reads it.
const FOR_AGENT: &str = "Seen";
const FOR_USER: &str = "Look at this";

/// One effect in words: `deletes /home/dev/proj/notes.txt and everything below (only copy)`.
pub fn sentence(effect: &Effect) -> String {
    let verb = effect.kind.verb();
    let target = effect.target.text().unwrap_or("something unknown");
    let below =
        if effect.depth == checkrein_protocol::Depth::Recursive { " and everything below" } else { "" };
    let stake = match effect.stake {
        Stake::Nothing => "",
        Stake::Regenerable => " (can be made again)",
        Stake::Recoverable if effect.saved => " (saved first)",
        Stake::Recoverable => " (can be brought back)",
        // A file is a copy of something. What was pushed, a service and a process are not, and nothing here brings them back.
        Stake::Unsaved if is_kept_here(effect) => " (the only copy)",
        Stake::Unsaved => " (cannot be undone)",
        Stake::Critical => " (must not be lost)",
    };
    format!("{verb} {target}{below}{stake}")
}

/// Whether an effect is about files, or about commits that this machine holds.
fn is_kept_here(effect: &Effect) -> bool {
    effect.kind.file_change().is_some() || effect.kind == EffectKind::VcsLocalLoss
}

impl Reasoning {
    /// Names what would be asked about beside the first reason.
    pub(crate) fn name_others<'a>(&mut self, asked: impl Iterator<Item = &'a Finding>) {
        let reasons = asked.map(|finding| &finding.reason).filter(|reason| **reason != self.primary);
        self.others = reasons.cloned().collect();
        self.others.dedup();
    }

    /// The first reason, and the others that would be asked about too, as one line.
    fn in_one_line(&self, kind: VerdictKind) -> String {
        match kind {
            VerdictKind::Escalate if !self.others.is_empty() => {
                format!("{}. Also: {}", self.primary, self.others.join("; "))
            }
            VerdictKind::Ok
            | VerdictKind::Nudge
            | VerdictKind::Escalate
            | VerdictKind::Block
            | VerdictKind::Halt => self.primary.clone(),
        }
    }
}

impl Review {
    /// The verdict for the agent, at most five lines: what was seen, why it matters, what to do instead. Empty for `ok`.
    pub fn message(&self) -> String {
        let head = match self.verdict.kind {
            VerdictKind::Ok => return String::new(),
            VerdictKind::Nudge => match &self.rewrite {
                Some(rewrite) => {
                    return format!(
                        "checkrein changed this call: {}\nNow runs: {}",
                        rewrite.note, rewrite.command
                    );
                }
                None => "checkrein hint",
            },
            VerdictKind::Escalate => "checkrein asks the user first",
            VerdictKind::Block => "checkrein stopped this call",
            VerdictKind::Halt => "checkrein halted this session",
        };
        let mut lines = self.facts_in_words(head, FOR_AGENT);
        match &self.rewrite {
            Some(rewrite) => {
                lines.push(format!("If approved, this runs instead: {} ({})", rewrite.command, rewrite.note));
            }
            None => lines.extend(self.alternatives_in_words()),
        }
        lines.join("\n")
    }

    /// The question to the user, at most four lines: why they are asked, what to look at, what runs if they agree. What the agent could do
    /// instead is nothing that they could act on, so it is not among them.
    pub fn question(&self) -> String {
        let mut lines = self.facts_in_words("checkrein asks you first", FOR_USER);
        if let Some(rewrite) = &self.rewrite {
            lines.push(format!("If you agree, this runs instead: {} ({})", rewrite.command, rewrite.note));
        }
        lines.join("\n")
    }

    /// The message when what would be asked about is refused, because `why`: it must not read as if somebody were being asked.
    pub fn message_when_refused(&self, why: &str) -> String {
        let mut lines = self.facts_in_words(&format!("checkrein refused this call, since {why}"), FOR_AGENT);
        lines.extend(self.alternatives_in_words());
        lines.join("\n")
    }

    fn alternatives_in_words(&self) -> impl Iterator<Item = String> {
        self.alternatives.iter().take(2).map(|alternative| format!("Instead: {alternative}"))
    }

    /// The reason behind `head`, and what was seen behind `seen`.
    fn facts_in_words(&self, head: &str, seen: &str) -> Vec<String> {
        let mut lines = vec![format!("{head}: {}", self.reasoning.in_one_line(self.verdict.kind))];
        let facts: Vec<String> = self
            .side_effects
            .effects
            .iter()
            .filter(|effect| {
                effect.kind.is_mutating() && effect.severity >= checkrein_protocol::Severity::Medium
            })
            .take(2)
            .map(sentence)
            .collect();
        if !facts.is_empty() && self.verdict.kind > VerdictKind::Nudge {
            lines.push(format!("{seen}: it {}.", facts.join("; it ")));
        }
        lines
    }
}
