//! Doing something about what the detectors found: halting, going back, reporting.

use checkrein_intervention::{
    InterventionKind, RecoverableFailure, RecoveryConsent, RecoveryPolicy, RecoveryStrategy, Rollback, plan,
};
use checkrein_ledger::Durability;
use checkrein_patterns::Issue;
use checkrein_policy::Mode;
use checkrein_protocol::{HookEvent, HookResponse, RecordBody, RollbackRecord, UnansweredRecord};
use checkrein_review::VerdictKind;
use checkrein_session::{SessionLedger, SessionState};
use checkrein_supervise::runs::HookSwitch;

use crate::answering::pattern_settings;
use crate::beginning;
use crate::checkpoint;
use crate::context::Context;
use crate::monitor;
use crate::notification::{self, Notice, NoticeQuestion};
use crate::rollback::{self, Session};
use crate::set_back::set_back;
use crate::stop::{Barrier, Stopping, stop_session};
use crate::verification;

/// Does something about what the detectors find, if anything, and answers what the agent is told.
pub(crate) fn intervene(
    context: &Context,
    ledger: &SessionLedger,
    state: &SessionState,
    event: &HookEvent,
) -> HookResponse {
    let config = context.policy().config();
    let now = context.environment().now();
    let texts = || beginning::intervention_texts(context, ledger);
    let noticed = monitor::look(state, &pattern_settings(config), config, context.environment(), &texts, now);
    if noticed.records.is_empty() {
        return HookResponse::NoOpinion;
    }
    let made = noticed.intervention.filter(|_| config.mode == Mode::Enforce);
    let stop = made.as_ref().filter(|made| made.kind == InterventionKind::EmergencyStop);
    let goes_back = made.as_ref().and_then(|made| made.rollback);
    let mut saved = String::new();
    if let Some(made) = stop {
        saved = stop_session(
            &Stopping {
                environment: context.environment(),
                config,
                workspace: context.workspace(),
                ledger: Some(ledger),
                state,
                barrier: Barrier::Halt,
                by: "emergency_stop",
                reason: made.text.lines().next().unwrap_or_default(),
                issue: noticed.about.as_ref(),
                switch: Some(HookSwitch::Watched),
                since: None,
            },
            noticed.records,
        );
    } else {
        let durability = if goes_back.is_some() { Durability::Durable } else { Durability::Plain };
        if let Err(error) = ledger.append_all(now, noticed.records, durability) {
            context.environment().diagnostics.add(format!("not recorded: {error}"));
        }
    }
    match made {
        Some(made) if monitor::stops(&made) => HookResponse::Halt { reason: made.text + &saved },
        Some(made) => {
            let about = noticed.about.as_ref();
            let told = goes_back.map(|rollback| go_back(context, ledger, state, rollback, about));
            if let (Some(rollback), Some(issue)) = (goes_back, about) {
                let files = told.as_deref().unwrap_or_default();
                if let Some(reason) = set_back(context, (ledger, state), event, (rollback, files), issue) {
                    return HookResponse::Halt { reason };
                }
            }
            let text = told.into_iter().fold(made.text, |text, told| text + "\n" + &told);
            HookResponse::Context { text }
        }
        None => HookResponse::NoOpinion,
    }
}

/// Tells people, where they want to be told. That nobody could be told is written down, and keeps nobody waiting.
pub(crate) fn tell(context: &Context, ledger: &SessionLedger, event: &str, title: &str, text: &str) {
    tell_with(context, ledger, (event, title), text, None);
}

/// The same about a question that people may answer by a link.
pub(crate) fn tell_with(
    context: &Context,
    ledger: &SessionLedger,
    (event, title): (&str, &str),
    text: &str,
    question: Option<NoticeQuestion>,
) {
    let notice = Notice {
        event: event.to_owned(),
        session: ledger.folder().as_str().to_owned(),
        workspace: context.workspace().clone(),
        at: context.environment().now(),
        title: title.to_owned(),
        text: checkpoint::masked(context, text),
        incident: None,
        question,
    };
    if let Err(error) = notification::send(context.environment(), context.policy().config(), &notice) {
        let failure = RecordBody::Failure {
            stage: "notify".to_owned(),
            kind: "not_started".to_owned(),
            detail: error.to_string(),
            verdict: VerdictKind::Ok,
        };
        context.record(ledger, failure);
    }
}

/// Tells people and the model that a call ran without the answer it needed, besides what else is answered to its outcome.
pub(crate) fn tell_unanswered(
    context: &Context,
    ledger: &SessionLedger,
    record: &UnansweredRecord,
    answer: HookResponse,
) -> HookResponse {
    let what = format!("`{}` ran although the user was to be asked first: {}", record.call, record.reason);
    tell(context, ledger, "unanswered", "checkrein: a call ran without your answer", &what);
    let text = format!(
        "checkrein: {what}\nThe client asked nobody. Do not build on it, and tell the user; \
         `checkrein show {}` has the details",
        record.action_id.as_str()
    );
    before_other_words(text, answer)
}

/// What is told of a call that ran, before what else is answered to its outcome; a stop says enough.
pub(crate) fn before_other_words(text: String, answer: HookResponse) -> HookResponse {
    match answer {
        HookResponse::NoOpinion | HookResponse::Allow { .. } => HookResponse::Context { text },
        HookResponse::Context { text: more } => HookResponse::Context { text: format!("{text}\n{more}") },
        HookResponse::Rewrite { .. }
        | HookResponse::Ask { .. }
        | HookResponse::Deny { .. }
        | HookResponse::Replaced { .. }
        | HookResponse::Halt { .. } => answer,
    }
}

/// Tells people of a question that waits for them, where they want to be told of those.
pub(crate) fn tell_question(context: &Context, ledger: &SessionLedger, text: &str) {
    if context.policy().config().notifications.questions {
        tell(context, ledger, "question", "checkrein: a question waits for you", text);
    }
}

/// Goes back where nobody has to agree, asks a user where somebody has to; what the agent is told about it. What happened stands in
/// the records either way.
fn go_back(
    context: &Context,
    ledger: &SessionLedger,
    state: &SessionState,
    rollback: Rollback,
    about: Option<&Issue>,
) -> String {
    let session = Session {
        environment: context.environment(),
        config: context.policy().config(),
        workspace: context.workspace(),
        ledger,
        state,
    };
    let Rollback { before, depth, consent } = rollback;
    let is_safe = context.work_tree().is_some();
    let way = if is_safe {
        session.way(before, depth)
    } else {
        Err("the workspace is a home directory or one that everybody writes to".to_owned())
    };
    let (record, told) = match (way, consent) {
        (Err(why), _) => {
            let steps =
                about.map(|issue| other_way(issue, RecoveryPolicy::of(context.policy().config().profile)));
            let told = format!("It could not be set back: {why}.{}", steps.unwrap_or_default());
            not_done(before, told)
        }
        (Ok(way), _) if way.is_empty() => {
            not_done(before, format!("Nothing that is saved changed since action {}.", before.0))
        }
        (Ok(way), RecoveryConsent::NotNeeded) => {
            let record = session.go(way);
            let told = record.text.clone();
            (record, told)
        }
        (Ok(way), RecoveryConsent::Required) => {
            let record = session.proposal(&way);
            tell_question(context, ledger, &record.text);
            let asked = "The user is asked whether to set that back; your next call waits for them.";
            let told = format!("{}\n{asked}", record.text);
            (record, told)
        }
    };
    let body = RecordBody::Rollback(Box::new(record));
    if let Err(error) = ledger.append(context.environment().now(), body, Durability::Durable) {
        context.environment().diagnostics.add(format!("not recorded: {error}"));
    }
    if consent == RecoveryConsent::NotNeeded {
        // What was set back is no surprise of the next call.
        verification::take_picture(context, ledger);
    }
    told
}

/// Where no snapshot helps, what the plan for the failure has the agent do itself (seed 000: a recovery plan is made instead).
fn other_way(issue: &Issue, policy: RecoveryPolicy) -> String {
    let plan = plan(RecoverableFailure::of(issue, 0), policy);
    let own = plan.attempts.iter().find(|attempt| {
        !matches!(attempt.strategy, RecoveryStrategy::Checkpoint | RecoveryStrategy::Collaborative)
    });
    own.map(|attempt| format!("\nNow: {}.", attempt.steps.join("; "))).unwrap_or_default()
}

fn not_done(before: checkrein_patterns::ActionNumber, text: String) -> (RollbackRecord, String) {
    (rollback::not_done(before, text.clone()), text)
}
