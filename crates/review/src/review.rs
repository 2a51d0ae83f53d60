//! The one function.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt;

use checkrein_effects::{AnnouncedContent, LoggedMessage, Prediction, predict_with};
use checkrein_facts::{World, intent};
use checkrein_policy::{
    Decision, Policy, Posture, RuleContext, TripwireReport, VerdictKind, check_rules, check_tripwires,
};
use checkrein_protocol::{
    AbsolutePath, Action, Aim, Certainty, Effect, EffectKind, Nature, Severity, Target,
};

use crate::decision::{self, Grounds};
use crate::fingerprint::ActionFingerprint;
use crate::governance::{self, Assessed};
use crate::rationality::{self, Situation};
use crate::saving::{Saved, depends_on_saving, soften};
use crate::verdict::{Rationality, Review, Rewrite, RewriteConsent, Risk, RuleFinding, Score, Verdict};
use crate::{containment, flow, forbidden, masking, owned, reasoning, rewrite, risk, side_effects, undoing};

/// Reviews an action before it runs: what it would do, how bad that is, whether it makes sense, what the rules say, and what is
/// to be done about it. Pure: the same action, world and policy give the same review.
pub fn review(action: &Action, world: &dyn World, policy: &Policy) -> Review {
    Forecast::of(action, world, policy).judge(&Saved::default())
}

/// What an action would do in a world, found out once, and judged as often as something new is known about what is saved. The same goes
/// for the safer forms that are proposed for it.
pub struct Forecast<'a> {
    action: &'a Action,
    world: &'a dyn World,
    policy: &'a Policy,
    prediction: OnceCell<Prediction>,
    /// Of safer forms, by their text.
    forms: RefCell<BTreeMap<String, Prediction>>,
}

impl fmt::Debug for Forecast<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Forecast").field("prediction", &self.prediction).finish_non_exhaustive()
    }
}

impl<'a> Forecast<'a> {
    /// The forecast of an action. It is interpreted when that is first asked for, and never again.
    pub fn of(action: &'a Action, world: &'a dyn World, policy: &'a Policy) -> Self {
        Self { action, world, policy, prediction: OnceCell::new(), forms: RefCell::default() }
    }

    /// The action.
    pub fn action(&self) -> &'a Action {
        self.action
    }

    /// The world in which it would run.
    pub fn world(&self) -> &'a dyn World {
        self.world
    }

    /// The policy by which it is judged.
    pub fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// Takes over what another forecast of the same found out.
    pub(crate) fn take_over(&self, other: Forecast<'_>) {
        if let Some(prediction) = other.prediction.into_inner() {
            // What is known already stays.
            drop(self.prediction.set(prediction));
        }
        self.forms.borrow_mut().extend(other.forms.into_inner());
    }

    /// Whether what the action does depends on what nobody sees beforehand: the value of a variable, an output, a name that is not known.
    pub fn rests_on_unseen_values(&self) -> bool {
        let prediction = self.prediction();
        // What is beyond the list was not looked at.
        prediction.commands.len() >= LISTED_COMMANDS
            || prediction.commands.iter().any(|command| command.words.contains(&None))
            || prediction.effects.iter().any(is_aimed_at_unseen)
    }

    /// What stands after the action where that is known exactly.
    pub fn announced(&self) -> &[(AbsolutePath, AnnouncedContent)] {
        &self.prediction().announced
    }

    /// What version control is to write into its logs, with the repository's own directory.
    pub fn logged(&self) -> &[(AbsolutePath, LoggedMessage)] {
        &self.prediction().logged
    }

    fn prediction(&self) -> &Prediction {
        self.prediction.get_or_init(|| predict_with(self.action, self.world, self.policy.catalogue()))
    }

    /// Judges the action when this much of what it destroys is saved before it runs. A saved file can be restored, so it weighs as
    /// recoverable where the task is, and elsewhere when it is deleted. What must not be lost, and other changes elsewhere, weigh as they
    /// did.
    pub fn judge(&self, saved: &Saved) -> Review {
        let (action, world, config) = (self.action, self.world, self.policy.config());
        let mut review = self.judge_form(action, self.prediction(), saved);
        if let Some(spared) = self.without_guard(&review, saved) {
            return spared;
        }
        // A rewrite is real only if its own review passes: advice that we would refuse is no advice.
        let passes = |rewrite: &Rewrite| self.judge_rewrite(rewrite, saved).decision <= Decision::Warn;
        let judge = |text: &str| self.judge_text(text, saved);
        let changed =
            || could_be_made_safe(&review).then(|| rewrite::propose(action, &review, &judge)).flatten();
        let contained = || containment::propose(action, &review, world, config).filter(passes);
        let masked = || masking::propose(action, &review, world, config).filter(passes);
        let safer = || {
            changed().and_then(|rewrite| {
                let judged = self.judge_rewrite(&rewrite, saved);
                rewrite::with_consent_for(rewrite, &review, &judged)
            })
        };
        if let Some(rewrite) = safer().or_else(masked).or_else(contained) {
            review.decision = Decision::Modify;
            review.verdict.kind = match rewrite.consent {
                RewriteConsent::NotNeeded | RewriteConsent::OnlyReads => VerdictKind::Nudge,
                RewriteConsent::Asked => VerdictKind::Escalate,
            };
            review.rewrite = Some(rewrite);
            governance::enforce(&mut review);
        } else if let Some(advice) = containment::advise(action, &review, world, config).filter(passes) {
            review.alternatives.insert(0, format!("run it contained: {}", advice.command));
        } else if review.decision >= Decision::Modify && containment::runs_only_what_is_missing(&review) {
            let advice =
                "make sure that the file is there, under this name and in this directory, before it is run";
            review.alternatives.insert(0, advice.to_owned());
        }
        review
    }

    /// The review of the same action that leaves the guard out, when there is one; it may still ask about the rest.
    fn without_guard(&self, review: &Review, saved: &Saved) -> Option<Review> {
        if review.decision <= Decision::Warn {
            return None;
        }
        let mut rewrite = rewrite::spare_guard(self.action, review, self.world)?;
        let mut spared = self.judge_rewrite(&rewrite, saved);
        if spared.side_effects.effects.iter().any(rewrite::touches_guard) {
            return None;
        }
        if spared.decision == Decision::Block {
            // Refused as long as nothing is saved: what is saved decides, and then the form that leaves the guard out is judged again.
            let could_pass = saved.is_empty() && depends_on_saving(&spared);
            return could_pass.then_some(spared);
        }
        let asks = spared.decision == Decision::Modify;
        rewrite.consent = if asks { RewriteConsent::Asked } else { RewriteConsent::NotNeeded };
        spared.decision = Decision::Modify;
        spared.verdict.kind = if asks { VerdictKind::Escalate } else { VerdictKind::Nudge };
        spared.fingerprint = review.fingerprint;
        spared.first_time = review.first_time;
        spared.rewrite = Some(rewrite);
        governance::enforce(&mut spared);
        Some(spared)
    }

    /// Judges a safer form by itself.
    fn judge_rewrite(&self, rewrite: &Rewrite, saved: &Saved) -> Review {
        self.judge_text(&rewrite.command, saved)
    }

    /// Judges another command in the place of the action.
    fn judge_text(&self, text: &str, saved: &Saved) -> Review {
        let safer = Action::command(text.to_owned(), self.action.cwd.clone());
        let mut forms = self.forms.borrow_mut();
        let prediction = forms
            .entry(text.to_owned())
            .or_insert_with(|| predict_with(&safer, self.world, self.policy.catalogue()));
        self.judge_form(&safer, prediction, saved)
    }

    fn judge_form(&self, action: &Action, prediction: &Prediction, saved: &Saved) -> Review {
        let (world, policy) = (self.world, self.policy);
        let mut effects = prediction.effects.clone();
        let config = policy.config();
        soften(&mut effects, saved, world.place(), config);
        owned::settle(&mut effects, config);
        let fingerprint = ActionFingerprint::of(action, &prediction.programs, &effects);
        let intent = intent(action, &effects);
        let risk = risk::assess(&effects, fingerprint, world, config);
        let situation = Situation {
            action,
            effects: &effects,
            problems: &prediction.problems,
            commands: &prediction.commands,
            announced: &prediction.announced,
            fingerprint,
            world,
        };
        let rationality = rationality::assess(&situation, config);
        let context = RuleContext {
            action,
            effects: &effects,
            intent,
            place: world.place(),
            history: world.history(),
            config,
            writes_secret: prediction.writes_secret,
        };
        let tripwires = match policy.tripwires() {
            [] => TripwireReport::default(),
            all => check_tripwires(all, &context, world.now()),
        };
        let mut report = check_rules(&context, policy);
        reasoning::gravest_first(&mut report.findings, &effects);
        let asked = reasoning::asked_about(&report.findings);
        let first_time = !world.history().seen.contains(&fingerprint.kind);
        let by_tripwires = tripwires.findings.first().map_or(VerdictKind::Ok, |finding| finding.verdict);
        let demand = forbidden::first_break(&effects, &prediction.commands, fingerprint, world);
        let by_demand = if demand.is_some() { Decision::Warn } else { Decision::Allow };
        let strictest =
            report.decision().strictest(governance::decision_of(by_tripwires)).strictest(by_demand);
        let confidence = confidence(&effects, &prediction.problems);
        let mut rules: Vec<RuleFinding> = governance::findings(&tripwires)
            .chain(report.findings.iter().map(|finding| RuleFinding {
                rule: finding.rule.0.clone(),
                decision: finding.decision,
                reason: finding.reason.clone(),
            }))
            .collect();
        // What the user said in so many words is told once, and refuses nothing.
        rules.extend(demand.map(|reason| RuleFinding {
            rule: DEMAND.to_owned(),
            decision: Decision::Warn,
            reason,
        }));
        rules.sort_by_key(|finding| std::cmp::Reverse(finding.decision));
        let mut alternatives: Vec<String> =
            tripwires.findings.iter().flat_map(|finding| finding.alternatives.iter().cloned()).collect();
        let mut failures: Vec<String> = tripwires
            .findings
            .iter()
            .filter_map(|finding| {
                Some(format!("`{}` was not evaluated: {}", finding.name, finding.failure.as_ref()?))
            })
            .collect();
        let assessed = Assessed {
            effects: &effects,
            risk: &risk,
            rationality: &rationality,
            rules: &rules,
            tripwires,
            trust: world.history().trust,
            now: world.now(),
        };
        let mut governance = governance::judge(assessed, config);
        let side_effects = side_effects::summarise(effects, &prediction.programs, action.bytes_to_write());
        let decided = decision::decide(Grounds {
            risk: risk.level,
            rationality: rationality.level,
            sense: decision::Sense::of(rationality.score, config),
            severity: side_effects.severity,
            dangerous_pattern: world.history().active_issues > 0,
            first_time: first_time && governance.trust.posture == Posture::Normal,
            rules: Some(strictest),
        });
        // A first warning goes to the record only, whoever gives it, unless the agent has used up trust.
        let quiet = first_time && governance.trust.posture == Posture::Normal;
        if quiet && governance.by_thresholds == VerdictKind::Nudge {
            governance.by_thresholds = VerdictKind::Ok;
        }
        alternatives.extend(reasoning::advice(&report.findings, &asked));
        alternatives.dedup();
        let broken: Vec<String> = report.errors.iter().map(ToString::to_string).collect();
        let mut reasoning = reasoning::build(&rules, &risk, &rationality, &side_effects);
        // What a rule that cannot be evaluated leads to is explained by that alone.
        if let (Some(error), true) = (broken.first(), rules.is_empty()) {
            reasoning.primary.clone_from(error);
            reasoning.all.insert(0, error.clone());
        }
        failures.extend(broken);
        reasoning.name_others(asked.iter().filter_map(|place| report.findings.get(*place)));
        let former_texts = undoing::former_texts(&side_effects.effects, world);
        let flow_marks = flow::marks(action, &side_effects.effects, &prediction.programs, world.place());
        let mut review = Review {
            verdict: Verdict { kind: verdict_of(decided.decision), flagged: false },
            decision: decided.decision,
            intent,
            recorded_warning: decided.warning_recorded.then(|| match reasoning.primary.as_str() {
                "" => by_numbers(&risk, &rationality),
                said => said.to_owned(),
            }),
            risk,
            rationality,
            side_effects,
            rules,
            reasoning,
            confidence,
            alternatives,
            rewrite: None,
            first_time,
            failures,
            not_saved: Vec::new(),
            programs: prediction.programs.clone(),
            former_texts,
            secret_marks: prediction.secret_marks.clone(),
            terminal_uses: prediction.terminal_uses.clone(),
            flow_marks,
            flow: None,
            foreseen: Vec::new(),
            fingerprint,
            governance,
        };
        governance::enforce(&mut review);
        say_what_is_unreadable(&mut review);
        say_why(&mut review);
        review
    }
}

/// The name under which a demand of the user stands among the rules that fired.
const DEMAND: &str = "demand_of_the_user";

/// How many commands a prediction lists at most (`Prediction::commands`).
const LISTED_COMMANDS: usize = 256;

/// Whether nobody sees beforehand what an effect is aimed at.
fn is_aimed_at_unseen(effect: &Effect) -> bool {
    let is_unknown =
        effect.target == Target::Unknown && (effect.kind.is_mutating() || effect.kind.aim() == Aim::Host);
    is_unknown || matches!(effect.nature, Nature::Hollow | Nature::NamedByOutput)
}

/// Whether a safer form is worth looking for: something is to be modified, and what refuses, if anything does, is the matrix alone.
/// Making an action safe comes before refusing it, but neither a rule that blocks nor a critical side effect is argued with.
fn could_be_made_safe(review: &Review) -> bool {
    let asked = review.rules.iter().map(|finding| finding.decision).max().unwrap_or(Decision::Allow);
    match review.decision {
        Decision::Allow | Decision::Warn => false,
        Decision::Modify => true,
        Decision::Block => asked == Decision::Modify && review.side_effects.severity != Severity::Critical,
    }
}

/// Text that no shell could be seen to read is never plainly all right: another shell may read it.
fn say_what_is_unreadable(review: &mut Review) {
    let unreadable =
        |effect: &&Effect| effect.kind == EffectKind::Opaque && effect.nature == Nature::Unreadable;
    let Some(effect) = review.side_effects.effects.iter().find(unreadable) else { return };
    if review.verdict.kind == VerdictKind::Ok {
        review.verdict.kind = VerdictKind::Nudge;
        let reason = format!("part of this is not a shell command that {}", effect.note);
        review.reasoning.all.insert(0, reason.clone());
        review.reasoning.primary = reason;
        review.alternatives = vec!["write it so that `bash -n` accepts it".to_owned()];
    }
}

/// A verdict that only numbers led to needs a sentence all the same.
fn say_why(review: &mut Review) {
    if review.verdict.kind == VerdictKind::Ok || !review.reasoning.primary.is_empty() {
        return;
    }
    review.reasoning.primary = by_numbers(&review.risk, &review.rationality);
    review.reasoning.all.push(review.reasoning.primary.clone());
}

/// What the numbers say, in a sentence.
fn by_numbers(risk: &Risk, rationality: &Rationality) -> String {
    let factors: Vec<&str> = risk
        .factors
        .iter()
        .map(|factor| factor.detail.as_str())
        .filter(|detail| !detail.is_empty())
        .collect();
    let about = if factors.is_empty() { String::new() } else { format!(": {}", factors.join("; ")) };
    let issues = &rationality.issues;
    let besides = if issues.is_empty() { String::new() } else { format!("; {}", issues.join(", ")) };
    format!("this is of {} risk{about}{besides}", risk.level.name())
}

/// allow ok, warn nudge, modify escalate (until a real rewrite that needs no yes makes it a nudge), block block (design 6).
fn verdict_of(decision: Decision) -> VerdictKind {
    match decision {
        Decision::Allow => VerdictKind::Ok,
        Decision::Warn => VerdictKind::Nudge,
        Decision::Modify => VerdictKind::Escalate,
        Decision::Block => VerdictKind::Block,
    }
}

/// How sure the picture is: .95 when everything is certain; less for what is only possible, not well formed, not understood (ours).
fn confidence(effects: &[Effect], problems: &[String]) -> Score {
    let possible = effects.iter().any(|effect| effect.certainty == Certainty::Possible);
    let opaque = effects.iter().any(|effect| effect.kind == EffectKind::Opaque);
    let mut sure = 0.95;
    if possible {
        sure *= 0.9;
    }
    if opaque {
        sure *= 0.7;
    }
    if !problems.is_empty() {
        sure *= 0.8;
    }
    Score::new(sure)
}
