//! What is written down about an action, a message, an event.

use checkrein_patterns::{
    ActionSuccess, CascadeLevel, Fingerprint, Observation, cascade, claim, observation, without_own_numbers,
};
use checkrein_policy::{Mode, Posture};
use checkrein_protocol::{
    Action, ActionId, ActorId, GovernanceRecord, HookEvent, HookEventKind, MessagePlace, OwnFinding,
    RationalityRecord, RecordBody, ReviewRecord, RiskRecord,
};
use checkrein_session::{SESSION_END, TURN_END_EVENTS, file_operations};

use checkrein_review::{Fired, Review, VerdictKind};

use crate::text::WARNING_NOT_SAID;
use serde_json::Value as Json;

/// How many effects of one action are written down in full (ours); the number of the others is written too.
pub(crate) const RECORDED_EFFECTS: usize = 64;

/// How many programs of one action are written down (ours).
pub(crate) const RECORDED_PROGRAMS: usize = 16;

/// How many values of the input of one action are written down (ours): records are read back by every later call, each value as a node of a
/// tree.
const RECORDED_VALUES: usize = 512;

/// The input of an action, or what an event carries, as it is written down: without what is more than that.
fn recorded(input: &Json, left: &mut usize) -> Json {
    let cut = |kept: usize, all: usize| Json::String(format!("[{} more values]", all - kept));
    *left = left.saturating_sub(1);
    match input {
        Json::Array(values) => {
            let mut kept = Vec::new();
            for value in values {
                if *left == 0 {
                    kept.push(cut(kept.len(), values.len()));
                    break;
                }
                kept.push(recorded(value, left));
            }
            Json::Array(kept)
        }
        Json::Object(fields) => {
            let mut kept = serde_json::Map::new();
            for (name, value) in fields {
                if *left == 0 {
                    kept.insert("...".to_owned(), cut(kept.len(), fields.len()));
                    break;
                }
                kept.insert(name.clone(), recorded(value, left));
            }
            Json::Object(kept)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => input.clone(),
    }
}

/// The input of an action as it is written down.
pub(crate) fn recorded_input(action: &Action) -> Json {
    recorded(&action.input, &mut { RECORDED_VALUES })
}

/// That an action was not reviewed, because reviews are switched off.
pub(crate) fn not_reviewed(action_id: &ActionId) -> RecordBody {
    RecordBody::Failure {
        stage: "review".to_owned(),
        kind: "disabled".to_owned(),
        detail: format!("`step_reviewer.enabled` is false; `{}` was not reviewed", action_id.0),
        verdict: VerdictKind::Ok,
    }
}

/// Whether a record says of this call that it is not reviewed because the user switched reviews off.
pub(crate) fn switched_off_for(body: &RecordBody, action_id: &ActionId) -> bool {
    *body == not_reviewed(action_id)
}

/// An event of the client, with who caused it.
#[expect(clippy::needless_pass_by_value, reason = "what is made for a record is made nowhere else")]
pub(crate) fn event_record(event: &HookEvent, fields: Json) -> RecordBody {
    // An input that is in there was cut already, and stays as it was.
    let mut fields = recorded(&fields, &mut { 2 * RECORDED_VALUES });
    if let (Some(actor), Json::Object(fields)) = (&event.actor, &mut fields) {
        fields.insert("agent_id".to_owned(), Json::String(actor.0.clone()));
    }
    RecordBody::Event { name: shared_name(event).to_owned(), fields }
}

/// The name under which records tell of an event: of the ends of turns and sessions that of the first client, whatever the own one has for
/// them, since everybody who reads records looks for these.
fn shared_name(event: &HookEvent) -> &str {
    match &event.moment {
        HookEventKind::SessionEnded => SESSION_END,
        HookEventKind::TurnEnding { .. } if !TURN_END_EVENTS.contains(&event.name.as_str()) => "Stop",
        _ => &event.name,
    }
}

/// What a review said. By which policy, whoever asks adds where something was said.
pub(crate) fn review_record(
    review: &Review,
    action: &Action,
    action_id: ActionId,
    actor: Option<&ActorId>,
    mode: Mode,
    elapsed_us: u128,
) -> ReviewRecord {
    let all = &review.side_effects.effects;
    let mut problems = review.failures.clone();
    if all.len() > RECORDED_EFFECTS {
        problems.push(format!("{} further effects are not written down", all.len() - RECORDED_EFFECTS));
    }
    problems.extend(review.recorded_warning.iter().map(|warning| format!("{WARNING_NOT_SAID}{warning}")));
    let describe = |name: &str, amount: f64, detail: &str| format!("{name} {amount:+.2} ({detail})");
    // A call about which nothing is said leaves no more behind than it must.
    let spoken = review.verdict.kind > VerdictKind::Ok;
    let when_spoken = |texts: &[String]| if spoken { texts.to_vec() } else { Vec::new() };
    ReviewRecord {
        action_id,
        tool: action.tool.clone(),
        input: recorded_input(action),
        cwd: action.cwd.to_string(),
        actor: actor.map(|actor| actor.0.clone()),
        verdict: review.verdict.kind,
        decision: review.decision,
        flagged: review.verdict.flagged,
        risk: RiskRecord {
            score: review.risk.score.value(),
            level: review.risk.level,
            factors: review.risk.factors.iter().map(|f| describe(&f.name, f.amount, &f.detail)).collect(),
        },
        rationality: Some(RationalityRecord {
            score: review.rationality.score.value(),
            level: review.rationality.level,
            goal_alignment: review.rationality.goal_alignment.map(checkrein_review::Score::value),
        }),
        intent: spoken.then_some(review.intent),
        confidence: spoken.then(|| review.confidence.value()),
        scope: spoken.then_some(review.risk.reach),
        policy: None,
        resources: spoken.then_some(review.side_effects.resources),
        further_reasons: when_spoken(further_reasons(review)),
        mitigations: when_spoken(&review.side_effects.mitigations),
        effects: all.iter().take(RECORDED_EFFECTS).cloned().collect(),
        further_file_operations: file_operations(all.get(RECORDED_EFFECTS..).unwrap_or_default()),
        former_texts: review.former_texts.clone(),
        secret_marks: review.secret_marks.clone(),
        terminal_uses: review.terminal_uses.clone(),
        flow_marks: review.flow_marks.clone(),
        flow: review.flow,
        foreseen: review.foreseen.clone(),
        rules: review
            .rules
            .iter()
            .map(|finding| format!("{}: {}", finding.rule, finding.decision.name()))
            .collect(),
        reason: review.reasoning.primary.clone(),
        alternatives: review.alternatives.clone(),
        rewrite: review.rewrite.as_ref().map(|rewrite| Json::String(rewrite.command.clone())),
        answered: None,
        snapshot: None,
        not_saved: review.not_saved.clone(),
        problems,
        programs: review.programs.iter().take(RECORDED_PROGRAMS).cloned().collect(),
        kind: review.fingerprint.kind,
        exact: review.fingerprint.exact,
        substance: review.fingerprint.substance,
        without_options: review.fingerprint.without_options,
        elapsed_us: u64::try_from(elapsed_us).unwrap_or(u64::MAX),
        mode: mode.into(),
        governance: governance_record(review),
        beginning: None,
        digest: None,
        code: None,
        unliftable: Vec::new(),
        change: None,
    }
}

/// The reasons behind the one that is said.
pub(crate) fn further_reasons(review: &Review) -> &[String] {
    let all = review.reasoning.all.as_slice();
    match all.split_first() {
        Some((first, rest)) if *first == review.reasoning.primary => rest,
        Some(_) | None => all,
    }
}

/// What governance has to say about an action; an action that is fine leaves no trace of it.
fn governance_record(review: &Review) -> Option<Box<GovernanceRecord>> {
    let governance = &review.governance;
    let trust = governance.trust;
    let silent = governance.verdict() == VerdictKind::Ok
        && governance.fired.is_empty()
        && governance.flag.is_none()
        && governance.counted.is_empty()
        && trust.added == 0.0
        && trust.posture == Posture::Normal;
    if silent {
        return None;
    }
    Some(Box::new(GovernanceRecord {
        ctq: governance.ctq.score.value(),
        tier: governance.tier.map(Into::into),
        fired: governance
            .fired
            .iter()
            .map(|fired| format!("{}: {}", fired.name, fired.verdict.name()))
            .collect(),
        own: governance.fired.iter().map(own_finding).collect(),
        flag: governance.flag,
        posture: trust.posture,
        debt: (trust.added > 0.0).then_some(trust.before + trust.added),
        asks_for_review: trust.asks_for_review,
        counted: governance.counted.clone(),
    }))
}

fn own_finding(fired: &Fired) -> OwnFinding {
    OwnFinding {
        name: fired.name.clone(),
        severity: fired.severity,
        summary: fired.reason.clone(),
        advice: fired.advice.clone(),
    }
}

/// The record of a message of the agent: a mark of it, and what it says about new work, with these patterns beside our own, and about what was
/// seen.
pub(crate) fn message_record(text: &str, place: MessagePlace, own: &[String]) -> RecordBody {
    let cascade = cascade(text, own);
    let cascade = (cascade.level > CascadeLevel::None).then_some(cascade);
    RecordBody::Message { mark: u64::from(message_mark(text).0), cascade, claim: claim(text), place }
}

/// What tells one message from another.
pub(crate) fn message_mark(text: &str) -> Fingerprint {
    Fingerprint::of(text.trim())
}

/// Whether it succeeded, from what the client says.
/// What is kept of the output of an action: of a command without the counters that it prints itself.
pub(crate) fn observed(action: &Action, output: &str, success: ActionSuccess) -> Observation {
    match action.shell_text().filter(|text| text.contains(|letter: char| letter.is_ascii_digit())) {
        Some(text) => {
            let substance = checkrein_shell::substance(text);
            observation(&without_own_numbers(output, text, &substance), success)
        }
        None => observation(output, success),
    }
}

pub(crate) fn success(failed: bool) -> ActionSuccess {
    if failed { ActionSuccess::Failed } else { ActionSuccess::Succeeded }
}

#[cfg(test)]
mod tests;
