//! What a review becomes: an answer to the client, and what the configuration says about how it is looked at.

use checkrein_facts::{History, HostPaths};
use checkrein_patterns::{Audience, PatternKind, PatternSensitivity, PatternSettings, Share};
use checkrein_policy::{Approve, Config, Mode, Precedent, Profile, ReviewMode, Sensitivity};
use checkrein_protocol::{Action, Consent, EffectKind, HookResponse};

use checkrein_review::{Need, Review, Rewrite, RewriteConsent, VerdictKind, can_be_taken_back, to_save};
use serde_json::Value as Json;

/// Whether an action goes ahead without waiting for copies: in mode `async`, where its risk lies below both thresholds for that and nothing
/// of which there is no other copy is touched (seed 002).
pub(crate) fn need_not_wait(review: &Review, config: &Config) -> bool {
    let reviewer = &config.step_reviewer;
    let threshold = f64::min(reviewer.performance.async_threshold, reviewer.risk.low_threshold);
    reviewer.mode == ReviewMode::Async
        && review.risk.score.value() < threshold
        && to_save(review).iter().all(|place| !matches!(place.need, Need::Required | Need::Wanted))
}

/// What the client is told about a verdict.
pub(crate) fn answer(review: &Review, action: &Action) -> HookResponse {
    match review.verdict.kind {
        VerdictKind::Ok => HookResponse::NoOpinion,
        VerdictKind::Nudge => match &review.rewrite {
            Some(rewrite) => HookResponse::Rewrite {
                consent: match rewrite.consent {
                    RewriteConsent::OnlyReads => Some(Consent::OnlyReads),
                    RewriteConsent::NotNeeded | RewriteConsent::Asked => None,
                },
                input: rewritten_input(action, rewrite),
                text: review.message(),
            },
            None => HookResponse::Context { text: review.message() },
        },
        VerdictKind::Escalate => HookResponse::Ask {
            reason: review.question(),
            input: review.rewrite.as_ref().map(|rewrite| rewritten_input(action, rewrite)),
        },
        VerdictKind::Block | VerdictKind::Halt => HookResponse::Deny { reason: review.message() },
    }
}

/// What the client is told as the mode and the wishes of the user have it.
pub(crate) fn reply(
    review: &Review,
    action: &Action,
    place: &HostPaths,
    config: &Config,
    halted: Option<&str>,
) -> HookResponse {
    match config.mode {
        Mode::Enforce if config.snapshots.approve == Approve::Recoverable => {
            let can_be_taken_back = can_be_taken_back(review, place, config);
            match answer(review, action) {
                HookResponse::NoOpinion if can_be_taken_back => {
                    HookResponse::Allow { consent: Consent::Recoverable, text: String::new() }
                }
                HookResponse::Context { text } if can_be_taken_back => {
                    HookResponse::Allow { consent: Consent::Recoverable, text }
                }
                other => other,
            }
        }
        Mode::Enforce => answer(review, action),
        // A halt is a user's word, not a verdict of the policy under observation.
        Mode::Observe if halted.is_some() => answer(review, action),
        Mode::Observe => HookResponse::NoOpinion,
    }
}

/// What the client is told where a user said yes to the question about a call.
pub(crate) fn agreed(review: &Review, action: &Action) -> HookResponse {
    match &review.rewrite {
        Some(rewrite) => {
            let text = format!("The user allowed this in a safer form. {}", rewrite.note);
            HookResponse::Rewrite {
                consent: Some(Consent::Approved),
                input: rewritten_input(action, rewrite),
                text,
            }
        }
        None => HookResponse::Allow {
            consent: Consent::Approved,
            text: "The user was asked about this call and allowed it.".to_owned(),
        },
    }
}

pub(crate) fn rewritten_input(action: &Action, rewrite: &Rewrite) -> Json {
    let mut input = action.input.clone();
    if let (Json::Object(fields), Some(field)) = (&mut input, action.shell_field()) {
        fields.insert(field.to_owned(), Json::String(rewrite.command.clone()));
    }
    input
}

pub(crate) fn changes_something(review: &Review) -> bool {
    review
        .side_effects
        .effects
        .iter()
        .any(|effect| effect.kind.is_mutating() || effect.kind == EffectKind::Opaque)
}

/// Whether this very action ran before in the session.
pub(crate) fn precedent(history: &History, review: &Review) -> Precedent {
    let ran =
        |past: &checkrein_facts::PastAction| past.exact == review.fingerprint.exact && past.failed.is_some();
    if history.recent.iter().any(ran) { Precedent::Known } else { Precedent::Unknown }
}

/// What the configuration says about the detectors.
pub fn pattern_settings(config: &Config) -> PatternSettings {
    let names = &config.patterns.enabled_patterns;
    let is_on = |kind: &PatternKind| names.iter().any(|name| name == "all" || name == kind.name());
    PatternSettings {
        enabled: PatternKind::ALL.into_iter().filter(is_on).collect(),
        sensitivity: match config.patterns.sensitivity {
            Sensitivity::Low => PatternSensitivity::Low,
            Sensitivity::Medium => PatternSensitivity::Medium,
            Sensitivity::High => PatternSensitivity::High,
        },
        audience: match config.profile {
            Profile::Interactive => Audience::Person,
            Profile::Unattended | Profile::Strict => Audience::Nobody,
        },
        least_confidence: Share::new(config.patterns.least_confidence),
        thresholds: config.patterns.thresholds,
        metrics_window_seconds: config.interventions.resource_throttling.metrics_window_seconds,
    }
}

#[cfg(test)]
mod tests {
    use checkrein_facts::{RecordedWorld, VersionState, World as _};
    use checkrein_policy::Policy;
    use checkrein_protocol::AbsolutePath;
    use checkrein_review::Escalation;

    use super::*;

    /// What the client hears about a command when its verdict is at least this.
    fn heard(text: &str, at_least: VerdictKind, mode: Mode, halted: Option<&str>) -> HookResponse {
        let home = AbsolutePath::new("/home/dev").unwrap();
        let workspace = home.join("proj");
        let place = HostPaths {
            workspace: workspace.clone(),
            home,
            user: None,
            temporary: vec![],
            guarded: vec![],
            expected: vec![],
        };
        let world = RecordedWorld::complete(place).with_repository(&workspace).with_file(
            &workspace.join("a.txt"),
            "a\n",
            VersionState::TrackedClean,
        );
        let action = Action::command(text, workspace);
        let mut review = checkrein_review::review(&action, &world, &Policy::default());
        review.escalate(Escalation::new(at_least, "because"));
        let config = Config { mode, ..Config::default() };
        reply(&review, &action, world.place(), &config, halted)
    }

    // Source: seed 003-31
    #[test]
    fn each_verdict_has_its_answer() {
        let enforced = |at_least| heard("ls", at_least, Mode::Enforce, None);
        assert_eq!(enforced(VerdictKind::Ok), HookResponse::NoOpinion);
        assert!(matches!(enforced(VerdictKind::Nudge), HookResponse::Context { .. }));
        assert!(matches!(enforced(VerdictKind::Escalate), HookResponse::Ask { input: None, .. }));
        for refused in [VerdictKind::Block, VerdictKind::Halt] {
            assert!(matches!(enforced(refused), HookResponse::Deny { reason } if reason.contains("because")));
        }
    }

    #[test]
    fn who_observes_is_silent_but_for_a_halt() {
        let observed = |halted| heard("rm -rf ~", VerdictKind::Halt, Mode::Observe, halted);
        assert_eq!(observed(None), HookResponse::NoOpinion);
        assert!(matches!(observed(Some("stop")), HookResponse::Deny { .. }));
    }
}
