//! The controller: what was done so far, and what is done now (seed 000).

use checkrein_patterns::{ActionNumber, ERRORS_IN_VIEW, Fingerprint, Issue, PatternKind, Share};
use checkrein_policy::{Interventions, StrategyType, TwoStrikes};
use checkrein_protocol::{
    Intervention, InterventionKind, LimitedResource, Ran, RecoveryConsent, Rollback, Severity, Throttle,
    Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::custom::{CustomStrategy, StrategyAnswer};
use crate::message::{Example, Reminder, SessionLimit, Task, text};
use crate::rollback::Proposed;
use crate::score::{band, combined_score, severity_score};
use crate::strategy::{pattern_specific, progressive};
use crate::throttle::{Growth, reduction, reduction_of};

/// How long an intervention counts as recent, in milliseconds (seed 000: five minutes).
const RECENT: u64 = 5 * 60 * 1000;

/// Within how many actions an intervention must have helped (ours).
const WINDOW: u64 = 5;

/// After how many more actions in a standstill something stronger comes, whatever the clock says (ours): whoever repeats a call four times
/// after being told has heard it.
const PATIENCE: u64 = 4;

/// What the controller remembers of a session: one entry for each pattern, so its size is bounded.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Controller {
    past: Vec<Past>,
    last: Option<Timestamp>,
    total: u64,
    throttle: Option<Throttle>,
    proposed: Option<Proposed>,
    #[serde(default)]
    endings: Endings,
}

/// How often the agent was told at the end of a turn that nobody answers its offers, since it last got work done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Endings {
    session: u32,
    turn: u32,
}

/// How often an agent is told about its offers before another one ends the session, whatever is prompted between (ours).
const TOLD_AT_MOST: u32 = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Past {
    pattern: PatternKind,
    kind: InterventionKind,
    at: Timestamp,
    action: ActionNumber,
    signal: f64,
    /// Whether the issue ended within the window.
    helped: bool,
    /// Recent interventions on this pattern.
    recent: u32,
    /// How often each rung was tried.
    attempts: [u32; 5],
    /// The calls that were refused, where repeating them was the trouble.
    #[serde(default)]
    refused: Vec<Fingerprint>,
    /// How many actions followed it in the session before this one.
    #[serde(default)]
    earlier: u64,
}

/// What the decision rests on beside the issue.
#[derive(Debug, Clone, Copy)]
pub struct DecisionContext<'a> {
    /// When.
    pub now: Timestamp,
    /// The last action.
    pub action: ActionNumber,
    /// The marks of the calls that the issue rests on.
    pub calls: &'a [Fingerprint],
    /// What the session is for.
    pub task: Task<'a>,
    /// What the policy says.
    pub settings: &'a Interventions,
    /// Whether a user must agree before files are set back.
    pub consent: RecoveryConsent,
    /// What happens when tests come out the same for long.
    pub stagnation: TwoStrikes,
    /// The rules of a user, where the strategy is their own.
    pub custom: Option<&'a CustomStrategy>,
    /// The limits of the session that tighter limits make tighter.
    pub limits: &'a [SessionLimit],
    /// The mildest rung that plugins of the user want.
    pub at_least: Option<InterventionKind>,
}

/// What the controller answers.
#[derive(Debug, Clone, PartialEq)]
pub enum InterventionDecision {
    /// This is done.
    Intervene(Box<Intervention>),
    /// Nothing is done now.
    Wait(Deferral),
}

/// Why nothing is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deferral {
    /// Interventions, or the rung and all below it, are switched off.
    Disabled,
    /// The last one is too recent (seed 000, `intervention_cooldown_seconds`).
    Cooldown,
    /// The last one on this pattern has not had its time yet (seed 000, `escalation_delay_seconds`).
    Delay,
    /// A rule of the user says so.
    OwnRule,
}

impl Controller {
    /// What to do about an issue. Pure: recording it, with [`Self::applied`], is what changes the controller.
    pub fn decide(&self, issue: &Issue, occasion: DecisionContext<'_>) -> InterventionDecision {
        let settings = occasion.settings;
        if !settings.enabled {
            return InterventionDecision::Wait(Deferral::Disabled);
        }
        let since = |moment: Timestamp| occasion.now.0.saturating_sub(moment.0);
        let past = self.past.iter().find(|past| past.pattern == issue.kind);
        let goes_on = past.is_some_and(|past| past.goes_on(issue, occasion.calls));
        let is_second_strike = self.is_second_strike(issue, occasion.stagnation);
        // The end of a turn comes once, and is answered then or never.
        let is_overdue = is_second_strike
            || issue.kind == PatternKind::Cascade
            || is_standstill(issue)
                && match past {
                    Some(past) if goes_on => past.followed_by(occasion.action) >= PATIENCE,
                    Some(_) | None => issue.severity >= Severity::High,
                };
        let is_cooling =
            self.last.is_some_and(|last| since(last) < settings.intervention_cooldown_seconds * 1000);
        // What is done about a pattern of the user puts nothing else off, and so waits for itself.
        let is_cooling = is_cooling
            || is_own(issue.kind)
                && past.is_some_and(|past| since(past.at) < settings.intervention_cooldown_seconds * 1000);
        if is_cooling && !is_overdue {
            return InterventionDecision::Wait(Deferral::Cooldown);
        }
        let recent = past.filter(|past| goes_on || since(past.at) <= RECENT);
        let escalation = recent.map_or(0, |past| past.recent);
        let score = combined_score(severity_score(issue), escalation);
        let fitting = band(score);
        let own = occasion
            .custom
            .filter(|_| settings.strategy.kind == StrategyType::Custom)
            .and_then(|rules| rules.answer(issue.kind, issue.severity, escalation));
        let (mut kind, mut reason) = match (settings.strategy.kind, recent) {
            (StrategyType::PatternSpecific, _) => {
                (pattern_specific(issue.kind, issue.severity), "by pattern and severity".to_owned())
            }
            // Where no rule of one's own fits, the ladder is climbed step by step.
            (StrategyType::Progressive | StrategyType::Custom, None) => {
                (first(issue.severity).min(fitting), "the first for this pattern".to_owned())
            }
            (StrategyType::Progressive | StrategyType::Custom, Some(past)) => {
                let effectiveness = if goes_on { Share::default() } else { past.effectiveness(issue.signal) };
                let threshold = Share::new(settings.strategy.effectiveness_threshold);
                let next = progressive(past.kind, effectiveness, threshold);
                let is_early = since(past.at) < settings.strategy.escalation_delay_seconds * 1000;
                if own.is_none() && next > past.kind && is_early && !is_overdue {
                    return InterventionDecision::Wait(Deferral::Delay);
                }
                let how = if next > past.kind { "did not help" } else { "helped" };
                (next.min(fitting.max(past.kind)), format!("the {} {how}", past.kind.noun()))
            }
        };
        match own {
            Some(StrategyAnswer::Wait) => return InterventionDecision::Wait(Deferral::OwnRule),
            Some(StrategyAnswer::Rung(rung)) => {
                kind = rung;
                "by a rule of your own".clone_into(&mut reason);
            }
            None => {}
        }
        // A limit that is reached escalates, it never lets pass (upstream 5, row 6).
        let tried = past.map_or(0, |past| past.tried(kind));
        if u64::from(tried) >= most_attempts(kind, settings) {
            reason = format!("the {} was tried often enough", kind.noun());
            kind = kind.stronger();
        }
        if self.total >= settings.max_interventions_per_execution {
            "the number of interventions of a session is reached".clone_into(&mut reason);
            kind = kind.stronger();
        }
        if is_second_strike {
            "the tests came out the same for long, and it was told".clone_into(&mut reason);
            kind = InterventionKind::EmergencyStop;
        }
        if let Some(wanted) = occasion.at_least.filter(|wanted| *wanted > kind) {
            kind = wanted;
            "a plugin asks for it".clone_into(&mut reason);
        }
        kind = kind.min(ceiling(issue, occasion.stagnation));
        if kind == InterventionKind::EmergencyStop
            && !is_second_strike
            && past.is_none_or(|past| past.kind < InterventionKind::ResourceThrottling)
        {
            kind = InterventionKind::ResourceThrottling;
            "something milder comes before a stop".clone_into(&mut reason);
        }
        kind = nearest_enabled(kind, settings);
        if kind == InterventionKind::SoftCorrection && !settings.soft_correction.enabled {
            return InterventionDecision::Wait(Deferral::Disabled);
        }
        InterventionDecision::Intervene(Box::new(intervention(kind, issue, score, reason, occasion)))
    }

    /// Whether an issue is the second strike, after which the session is halted: tests that came out the same for so long that it is critical,
    /// where nobody is there to stop them. The first strike was what the agent was told before.
    pub fn is_second_strike(&self, issue: &Issue, stagnation: TwoStrikes) -> bool {
        issue.kind == PatternKind::Stagnation
            && issue.severity == Severity::Critical
            && stagnation == TwoStrikes::Halt
            && self.total > 0
    }

    /// Takes up that an intervention was made.
    pub fn applied(&mut self, made: &Intervention, at: Timestamp) {
        if !is_own(made.pattern) {
            self.total += 1;
            self.last = Some(at);
        }
        if made.pattern == PatternKind::Cascade {
            self.endings.session = self.endings.session.saturating_add(1);
            self.endings.turn = self.endings.turn.saturating_add(1);
        }
        // Limits that hold because of something else are not given up for a pattern of the user.
        if let Some(throttle) =
            made.throttle.as_ref().filter(|_| !is_own(made.pattern) || self.throttle().is_none())
        {
            self.throttle = Some(throttle.clone());
        }
        let before = self
            .past
            .iter()
            .position(|past| past.pattern == made.pattern)
            .map(|place| self.past.remove(place));
        let recent = before
            .as_ref()
            .filter(|past| at.0.saturating_sub(past.at.0) <= RECENT)
            .map_or(0, |past| past.recent);
        let mut attempts = before.map(|past| past.attempts).unwrap_or_default();
        if let Some(count) = attempts.get_mut(made.kind.index()) {
            *count += 1;
        }
        self.past.push(Past {
            pattern: made.pattern,
            kind: made.kind,
            at,
            action: made.action,
            signal: made.signal,
            helped: false,
            recent: recent + 1,
            attempts,
            refused: made.throttle.as_ref().map(|throttle| throttle.refused.clone()).unwrap_or_default(),
            earlier: 0,
        });
    }

    /// Takes up that an issue has ended.
    pub fn ended(&mut self, pattern: PatternKind, now: ActionNumber) {
        for past in self.past.iter_mut().filter(|past| past.pattern == pattern) {
            past.helped |= now.0.saturating_sub(past.action.0) <= WINDOW;
        }
    }

    /// Takes up that a user spoke: they have taken the matter into their own hands.
    pub fn prompted(&mut self) {
        self.throttle = None;
        self.proposed = None;
        self.endings.turn = 0;
    }

    /// Takes up that the agent got work done: something was changed, or tests passed. What it offered before is no part of what comes.
    pub fn worked(&mut self) {
        self.endings = Endings::default();
    }

    /// Whether the agent was told so often that nobody answers its offers that another one ends the session: once since a user spoke, or
    /// twice at all, unless it got work done meanwhile.
    pub fn heard_about_offers(&self) -> bool {
        self.endings.turn > 0 || self.endings.session >= TOLD_AT_MOST
    }

    /// Takes up that a user was asked whether to go back.
    pub fn proposed(&mut self, proposed: Proposed) {
        self.proposed = Some(proposed);
    }

    /// Returns what a session that goes on in place of this one keeps of it, when its last action had this number: what was done so far, and
    /// which calls are refused. What a user was asked is left behind.
    #[must_use]
    pub fn carried(&self, last: ActionNumber) -> Self {
        let before = ActionNumber::default();
        let past = |past: &Past| Past { action: before, earlier: past.followed_by(last), ..past.clone() };
        Self {
            past: self.past.iter().map(past).collect(),
            throttle: self.throttle.clone().map(|throttle| Throttle { since: before, ..throttle }),
            proposed: None,
            ..self.clone()
        }
    }

    /// Takes up that files stand as they did before an action: limits that began since then hold no more (seed 000). What was done about
    /// issues is kept.
    pub fn rolled_back(&mut self, before: ActionNumber) {
        self.proposed = None;
        self.throttle = self.throttle.take().filter(|throttle| throttle.since < before);
    }

    /// Takes up that a user has decided about going back, whichever way.
    pub fn decided(&mut self) {
        self.proposed = None;
    }

    /// The rollback that a user was asked about; `None` when there is none or it is decided.
    pub fn awaits(&self) -> Option<&Proposed> {
        self.proposed.as_ref()
    }

    /// Takes up that a call ran.
    pub fn ran(&mut self, ran: Ran) {
        self.throttle.iter_mut().for_each(|throttle| throttle.ran(ran));
        self.throttle = self.throttle.take().filter(Throttle::holds);
    }

    /// The limits that hold for the next call.
    pub fn throttle(&self) -> Option<&Throttle> {
        self.throttle.as_ref().filter(|throttle| throttle.holds())
    }

    /// The rung that was reached last; `None` when nothing was done yet.
    pub fn rung(&self) -> Option<InterventionKind> {
        self.past.last().map(|past| past.kind)
    }

    /// How many interventions were made.
    pub fn total(&self) -> u64 {
        self.total
    }
}

impl Past {
    /// How many actions followed it until this one.
    fn followed_by(&self, action: ActionNumber) -> u64 {
        action.0.saturating_sub(self.action.0).saturating_add(self.earlier)
    }

    /// By how much the signal fell since, from 0 to 1; 1 when the issue ended meanwhile.
    fn effectiveness(&self, signal: f64) -> Share {
        if self.helped {
            return Share::new(1.0);
        }
        if self.signal > 0.0 { Share::new(1.0 - signal / self.signal) } else { Share::default() }
    }

    /// Whether this is the standstill about which something was done: it rests on that action too, or on calls that were refused then.
    fn goes_on(&self, issue: &Issue, calls: &[Fingerprint]) -> bool {
        let rests = issue.onset().is_some_and(|onset| onset <= self.action);
        is_standstill(issue) && (rests || calls.iter().any(|call| self.refused.contains(call)))
    }

    fn tried(&self, kind: InterventionKind) -> u32 {
        self.attempts.get(kind.index()).copied().unwrap_or_default()
    }
}

/// Whether nothing at all changes: the same calls with the same results, or nothing but one error whatever is called. What only waits is not
/// meant.
fn is_standstill(issue: &Issue) -> bool {
    match issue.kind {
        PatternKind::StuckLoop => issue.severity > Severity::Low,
        PatternKind::RepetitiveErrors => {
            issue.severity == Severity::Critical && issue.signal > ERRORS_IN_VIEW as f64
        }
        PatternKind::GoalDrift
        | PatternKind::Stagnation
        | PatternKind::OscillatingEdits
        | PatternKind::ExplorationWandering
        | PatternKind::Cascade
        | PatternKind::ScopeCreep
        | PatternKind::ResourceSpiral
        | PatternKind::RunawayExecution
        | PatternKind::Hallucination
        | PatternKind::ConfusedState
        | PatternKind::RepeatedVerdicts
        | PatternKind::OwnPattern
        | PatternKind::ErrorExplorationLoop => false,
    }
}

/// Whether a pattern is one of the user: what is done about it makes nothing else milder or later.
fn is_own(pattern: PatternKind) -> bool {
    pattern == PatternKind::OwnPattern
}

/// Where the ladder begins: with a hint; what is critical already begins with tighter limits (ours).
fn first(severity: Severity) -> InterventionKind {
    match severity {
        Severity::Low | Severity::Medium | Severity::High => InterventionKind::SoftCorrection,
        Severity::Critical => InterventionKind::ResourceThrottling,
    }
}

/// How far an issue may climb: only what is critical may end in a stop (ours; design 1, principle 3).
fn ceiling(issue: &Issue, stagnation: TwoStrikes) -> InterventionKind {
    match issue.severity {
        Severity::Critical if issue.kind == PatternKind::Stagnation && stagnation == TwoStrikes::Advise => {
            InterventionKind::CheckpointRollback
        }
        Severity::Low => InterventionKind::ContextReinforcement,
        Severity::Medium => InterventionKind::ResourceThrottling,
        Severity::High => InterventionKind::CheckpointRollback,
        Severity::Critical => InterventionKind::EmergencyStop,
    }
}

fn most_attempts(kind: InterventionKind, settings: &Interventions) -> u64 {
    match kind {
        InterventionKind::SoftCorrection => settings.soft_correction.max_attempts,
        InterventionKind::ContextReinforcement
        | InterventionKind::ResourceThrottling
        | InterventionKind::CheckpointRollback
        | InterventionKind::EmergencyStop => settings.max_retries,
    }
}

/// The rung itself or the next milder one that is not switched off; the hint, below which there is none, when all others are.
fn nearest_enabled(kind: InterventionKind, settings: &Interventions) -> InterventionKind {
    let enabled = match kind {
        InterventionKind::SoftCorrection => true,
        InterventionKind::ContextReinforcement => settings.context_reinforcement.enabled,
        InterventionKind::ResourceThrottling => settings.resource_throttling.enabled,
        InterventionKind::CheckpointRollback => settings.checkpoint_rollback.enabled,
        InterventionKind::EmergencyStop => settings.emergency_stop.enabled && settings.hard_stop,
    };
    if enabled { kind } else { nearest_enabled(kind.milder(), settings) }
}

fn intervention(
    kind: InterventionKind,
    issue: &Issue,
    score: Share,
    reason: String,
    occasion: DecisionContext<'_>,
) -> Intervention {
    let settings = occasion.settings;
    let throttle = (kind >= InterventionKind::ResourceThrottling && kind != InterventionKind::EmergencyStop)
        .then(|| {
            let factors = settings.resource_throttling.reduction_factors;
            let factor = match issue.growth {
                Some(growth) => reduction(Growth(growth), factors),
                None => reduction_of(issue.severity, factors),
            };
            let throttle = Throttle::new(factor, occasion.action, repeated(issue, occasion.calls));
            let own = issue.growths.iter().map(|(of, growth)| (*of, reduction(Growth(*growth), factors)));
            let each: Vec<(LimitedResource, f64)> = own.filter(|(_, factor)| *factor < 1.0).collect();
            if each.is_empty() { throttle } else { throttle.with_each(each) }
        });
    let rollback = (kind == InterventionKind::CheckpointRollback).then(|| Rollback {
        before: issue.onset().unwrap_or(occasion.action),
        depth: settings.checkpoint_rollback.max_rollback_depth,
        consent: occasion.consent,
    });
    let strength = settings.context_reinforcement.reinforcement_strength;
    let example =
        if settings.context_reinforcement.include_examples { Example::Given } else { Example::LeftOut };
    let reminder = Reminder { task: occasion.task, strength, example };
    let text = text(kind, issue, reminder, throttle.as_ref(), occasion.limits);
    Intervention {
        kind,
        pattern: issue.kind,
        severity: issue.severity,
        score,
        signal: issue.signal,
        action: occasion.action,
        reason,
        text,
        throttle,
        rollback,
    }
}

/// The calls whose repetition is the trouble itself.
fn repeated(issue: &Issue, calls: &[Fingerprint]) -> Vec<Fingerprint> {
    match issue.kind {
        PatternKind::StuckLoop
        | PatternKind::RepetitiveErrors
        | PatternKind::Stagnation
        | PatternKind::ErrorExplorationLoop => calls.to_vec(),
        PatternKind::ScopeCreep
        | PatternKind::GoalDrift
        | PatternKind::ResourceSpiral
        | PatternKind::ExplorationWandering
        | PatternKind::Hallucination
        | PatternKind::Cascade
        | PatternKind::OscillatingEdits
        | PatternKind::RunawayExecution
        | PatternKind::RepeatedVerdicts
        | PatternKind::OwnPattern
        | PatternKind::ConfusedState => Vec::new(),
    }
}
