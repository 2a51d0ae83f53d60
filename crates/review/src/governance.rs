//! Governance of an action: the quality of its trace, the thresholds of its tier, flags, trust (seed 003, ACGP).
//!
//! Order: tripwires, rules, CTQ, thresholds, flag, trust debt, tier review. Each can only make the verdict stricter.

use checkrein_facts::TrustDebt;
use checkrein_policy::{
    Config, Decision, Metric, Posture, Precedent, RiskClass, Tier, TripwireOrigin, TripwireReport,
    VerdictKind,
};
use checkrein_protocol::{Effect, EffectKind, Severity, TallyIncrement, Target, Timestamp};
use serde::{Deserialize, Serialize};

use crate::reasoning;
use crate::verdict::{Escalation, Rationality, Review, Risk, RuleFinding, ScopeReach, Score};

/// What governance says about an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GovernanceAssessment {
    /// The quality of the trace.
    pub ctq: Ctq,
    /// The tier whose thresholds hold; `None` when governance is off.
    pub tier: Option<Tier>,
    /// What the thresholds of the tier say.
    pub by_thresholds: VerdictKind,
    /// The tripwires and own patterns that fired, strictest first.
    pub fired: Vec<Fired>,
    /// The severity of the flag; `None` when there is none.
    pub flag: Option<Severity>,
    /// What the action adds to what is counted, if it runs.
    pub counted: Vec<TallyIncrement>,
    /// What trust is left.
    pub trust: TrustState,
}

/// The cognitive trace quality: five scores and their weighted mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ctq {
    /// The weighted mean, from 0 (worst) to 1.
    pub score: Score,
    /// Whether the step follows, is efficient and whole.
    pub reasoning: Score,
    /// Whether what it refers to is known.
    pub grounding: Score,
    /// Whether the rules have nothing against it.
    pub ethical: Score,
    /// 1 - risk.
    pub tool_safety: Score,
    /// Whether it serves the goal and stays in scope; `None` when neither is known.
    pub context: Option<Score>,
}

/// A tripwire or own pattern that fired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fired {
    /// Its name.
    pub name: String,
    /// The least verdict.
    pub verdict: VerdictKind,
    /// Why.
    pub reason: String,
    /// How grave its author calls it.
    pub severity: Severity,
    /// What to do instead; empty where its author says nothing.
    pub advice: String,
}

/// The trust debt of the agent around an action.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TrustState {
    /// Before the action, worn off up to its time.
    pub before: f64,
    /// What the action adds.
    pub added: f64,
    /// What the debt before leads to.
    pub posture: Posture,
    /// Whether this action is the one that asks a user to look at the tier.
    pub asks_for_review: bool,
    /// Whether its hint only says that something was saved first, which costs no trust: nothing can be lost (ours).
    #[serde(default)]
    pub is_hint_about_saving: bool,
}

impl Ctq {
    /// One of the five; `None` when it did not run.
    pub fn metric(&self, metric: Metric) -> Option<Score> {
        match metric {
            Metric::Reasoning => Some(self.reasoning),
            Metric::Grounding => Some(self.grounding),
            Metric::Ethical => Some(self.ethical),
            Metric::ToolSafety => Some(self.tool_safety),
            Metric::Context => self.context,
        }
    }

    /// The governance risk, 1 - CTQ (seed 003).
    pub fn risk(&self) -> f64 {
        1.0 - self.score.value()
    }
}

impl GovernanceAssessment {
    /// The least verdict that governance asks for.
    pub fn verdict(&self) -> VerdictKind {
        let by_tripwires = self.fired.first().map_or(VerdictKind::Ok, |fired| fired.verdict);
        self.by_thresholds.max(by_tripwires)
    }

    /// The tripwire that halts; `None` when none does.
    pub fn halting(&self) -> Option<&Fired> {
        self.fired.first().filter(|fired| fired.verdict == VerdictKind::Halt)
    }
}

/// What governance needs to know of an action.
pub(crate) struct Assessed<'a> {
    pub(crate) effects: &'a [Effect],
    pub(crate) risk: &'a Risk,
    pub(crate) rationality: &'a Rationality,
    pub(crate) rules: &'a [RuleFinding],
    pub(crate) tripwires: TripwireReport,
    pub(crate) trust: TrustDebt,
    pub(crate) now: Timestamp,
}

/// Judges the trace of an action.
pub(crate) fn judge(assessed: Assessed<'_>, config: &Config) -> GovernanceAssessment {
    let settings = &config.governance;
    let ctq = ctq(&assessed, config);
    let policy = &settings.trust_debt;
    let before = policy.left(&assessed.trust, assessed.now);
    let posture = policy.posture(before);
    let tier = settings.enabled.then(|| match posture {
        Posture::Normal | Posture::ElevatedMonitoring => settings.tier,
        Posture::RestrictedMode | Posture::ReTieringReview => settings.tier.stricter(),
    });
    let by_thresholds = tier.map_or(VerdictKind::Ok, |tier| settings.thresholds(tier).verdict(ctq.risk()));
    let below = settings.floors.iter().filter(|floor| {
        // What did not run is not judged.
        ctq.metric(floor.metric).is_some_and(|score| score.value() < floor.least)
    });
    let by_floors = below.map(|floor| floor.verdict.min(VerdictKind::Block)).max();
    let by_thresholds = by_thresholds.max(by_floors.unwrap_or(VerdictKind::Ok));
    let tampering = assessed.effects.iter().any(|effect| effect.kind == EffectKind::GuardTampering);
    let findings = assessed.tripwires.findings;
    let flags = findings.iter().filter_map(|finding| finding.flag);
    let flag = flags.chain(tampering.then_some(Severity::Critical)).max();
    let fired = findings
        .into_iter()
        .map(|finding| Fired {
            name: finding.name,
            verdict: finding.verdict,
            reason: finding.reason,
            severity: finding.severity,
            advice: finding.alternatives.into_iter().next().unwrap_or_default(),
        })
        .collect();
    let trust = TrustState { before, posture, ..TrustState::default() };
    GovernanceAssessment { ctq, tier, by_thresholds, fired, flag, counted: assessed.tripwires.counted, trust }
}

/// CTQ = .25 reasoning + .20 grounding + .20 ethical + .20 tool safety + .15 context (ACGP). What did not run is left out, and
/// the weights of the others make 1 again.
fn ctq(assessed: &Assessed<'_>, config: &Config) -> Ctq {
    let reasoning = reasoning(assessed.rationality);
    let grounding = grounding(assessed.effects);
    let ethical = ethical(assessed.rules);
    let tool_safety = Score::new(1.0 - assessed.risk.score.value());
    let context = context(assessed);
    let weights = &config.governance.weights;
    let parts = [
        (Some(reasoning), weights.reasoning),
        (Some(grounding), weights.grounding),
        (Some(ethical), weights.ethical),
        (Some(tool_safety), weights.tool_safety),
        (context, weights.context),
    ];
    let known = || parts.iter().filter_map(|(score, weight)| Some((score.as_ref()?.value(), weight)));
    let total: f64 = known().map(|(_, weight)| weight).sum();
    let sum: f64 = known().map(|(score, weight)| score * weight).sum();
    // Without any weight nothing speaks for the action.
    let score = Score::new(if total > 0.0 { sum / total } else { 0.0 });
    Ctq { score, reasoning, grounding, ethical, tool_safety, context }
}

/// The mean of progression, where there is a step before, efficiency and completeness (ours).
fn reasoning(rationality: &Rationality) -> Score {
    let own = rationality.efficiency.value() + rationality.completeness.value();
    match rationality.logical_progression {
        Some(progression) => Score::new((own + progression.value()) / 3.0),
        None => Score::new(own / 2.0),
    }
}

/// 1 when every target is known, .5 when one is not (ours): one step into the dark is not made up for by nine into the light.
/// What cannot be understood at all is in the risk, not here too.
fn grounding(effects: &[Effect]) -> Score {
    let dark = |effect: &Effect| effect.kind != EffectKind::Opaque && effect.target == Target::Unknown;
    Score::new(if effects.iter().any(dark) { 0.5 } else { 1.0 })
}

/// What the strictest rule leaves: 1 for allow, .75 for warn, .5 for modify, 0 for block (ours).
fn ethical(rules: &[RuleFinding]) -> Score {
    let strictest = rules.iter().map(|finding| finding.decision).max().unwrap_or(Decision::Allow);
    Score::new(match strictest {
        Decision::Allow => 1.0,
        Decision::Warn => 0.75,
        Decision::Modify => 0.5,
        Decision::Block => 0.0,
    })
}

/// The mean of goal alignment, where a goal is known, and scope: 0 when a change lies outside of it (ours). Without a goal, and
/// with nothing outside, there is nothing to say.
fn context(assessed: &Assessed<'_>) -> Option<Score> {
    let (scope, known) = match assessed.risk.reach {
        ScopeReach::Inside => (1.0, None),
        ScopeReach::Outside => (0.0, Some(Score::new(0.0))),
    };
    let alignment = assessed.rationality.goal_alignment;
    alignment.map(|alignment| Score::new(f64::midpoint(alignment.value(), scope))).or(known)
}

/// What a verdict asks of the decision behind it.
pub(crate) fn decision_of(verdict: VerdictKind) -> Decision {
    match verdict {
        VerdictKind::Ok => Decision::Allow,
        VerdictKind::Nudge => Decision::Warn,
        VerdictKind::Escalate => Decision::Modify,
        VerdictKind::Block | VerdictKind::Halt => Decision::Block,
    }
}

/// Tripwires as findings: they speak with the rules, before them.
pub(crate) fn findings(report: &TripwireReport) -> impl Iterator<Item = RuleFinding> + '_ {
    report.findings.iter().map(|finding| RuleFinding {
        rule: finding.name.clone(),
        decision: decision_of(finding.verdict),
        reason: match (finding.verdict, finding.origin) {
            (VerdictKind::Halt, TripwireOrigin::Tripwire) => format!("tripwire: {}", finding.reason),
            _ => finding.reason.clone(),
        },
    })
}

/// Makes a verdict at least as strict as governance asks for.
pub(crate) fn enforce(review: &mut Review) {
    let least = review.governance.verdict();
    review.verdict.flagged |= review.governance.flag.is_some();
    if review.verdict.kind >= least {
        return;
    }
    if least >= VerdictKind::Block {
        review.rewrite = None;
    }
    review.verdict.kind = least;
    if review.governance.by_thresholds == least {
        let ctq = &review.governance.ctq;
        let tier = review.governance.tier.map_or("", Tier::word);
        let trust = review.governance.trust;
        let (reason, advice) = match trust.posture {
            Posture::Normal | Posture::ElevatedMonitoring => (
                format!(
                    "This step rates {} of 1, less than oversight at tier {tier} lets pass; weakest: {}",
                    ctq.score,
                    weakest(ctq)
                ),
                "take a smaller step that names what it is about",
            ),
            Posture::RestrictedMode | Posture::ReTieringReview => (
                "There were many hints, questions and refusals in this project lately, so the review is stricter for now".to_owned(),
                "take smaller steps; this wears off with time, or when the user closes the ticket (`checkrein ticket list --open`)",
            ),
        };
        // What would change is no reason for a refusal.
        if review.reasoning.primary.is_empty() || !reasoning::gives_reason(review) {
            review.reasoning.primary.clone_from(&reason);
            review.alternatives.insert(0, advice.to_owned());
        } else if review.alternatives.is_empty() {
            review.alternatives.push(advice.to_owned());
        }
        review.reasoning.all.push(reason);
    }
}

fn weakest(ctq: &Ctq) -> String {
    let mut parts = vec![
        ("reasoning", ctq.reasoning),
        ("grounding", ctq.grounding),
        ("rules", ctq.ethical),
        ("tool safety", ctq.tool_safety),
    ];
    parts.extend(ctq.context.map(|score| ("context", score)));
    parts.sort_by(|one, other| one.1.value().total_cmp(&other.1.value()));
    parts.iter().take(2).map(|(name, score)| format!("{name} {score}")).collect::<Vec<_>>().join(", ")
}

/// Settles what an action costs in trust, once its verdict stands. Debt never halts and never changes the tier: at its last
/// threshold a user is asked to look (ACGP).
pub fn settle_trust(review: &mut Review, trust: &TrustDebt, config: &Config) {
    let policy = &config.governance.trust_debt;
    if !config.governance.enabled || !policy.enabled {
        return;
    }
    let state = &mut review.governance.trust;
    let outcome = match review.verdict.kind {
        VerdictKind::Nudge if state.is_hint_about_saving => VerdictKind::Ok,
        other => other,
    };
    state.added = policy.added(outcome, review.governance.flag);
    // Who brings so much along from an earlier session was looked at for it there.
    let is_past = |debt: f64| policy.posture(debt) == Posture::ReTieringReview;
    let reached = is_past(state.before + state.added) && !is_past(state.before);
    if reached && !trust.review_asked {
        state.asks_for_review = true;
        review.verdict.flagged = true;
        review.governance.flag = review.governance.flag.max(Some(Severity::High));
    }
}

/// What an action may lead to, for the time that its review is worth (ACGP; the mapping is ours).
pub fn risk_class(review: &Review) -> RiskClass {
    let effects = &review.side_effects;
    let changes = effects.effects.iter().any(|effect| effect.kind.is_mutating());
    if effects.severity == Severity::Critical || (!effects.reversible && effects.severity >= Severity::High) {
        RiskClass::Critical
    } else if changes {
        RiskClass::Elevated
    } else {
        RiskClass::Low
    }
}

/// Takes the time that a review took into account: the verdict after a budget that was exceeded is what the contract says, and
/// never milder than it was.
pub fn keep_contract(review: &mut Review, took_ms: u64, precedent: Precedent, config: &Config) {
    let contract = &config.governance.contract;
    let class = risk_class(review);
    let budget = contract.budget_ms(class, config.step_reviewer.performance.max_review_time_ms);
    if took_ms <= budget {
        return;
    }
    let why = format!("the review took {took_ms} ms, more than the {budget} ms of {}", class.word());
    let least = contract.least_verdict(config.governance.tier, precedent);
    let advice = "take a smaller step, or try again in a moment";
    review.escalate(Escalation::new(least, &why).instead(advice));
    review.failures.push(why);
}

#[cfg(test)]
mod tests;
