//! Calls that ran although no review had let them run.
//!
//! A client takes a hook that was killed together with the line around it for consent. Nothing can be told before such a call. Its end is
//! told of, though, by another process, and then the review is missing, says that the call was refused, or is of another command. That is
//! written down, told to the model and to people, and a report is kept.
//!
//! There are honest reasons for a missing review, and they are looked for before anything is said: the answer that could not be written
//! down, the session that goes on under another name, hooks that came while the call ran, and a matcher that leaves the tool out.

use checkrein_clients::{ToolCoverage, is_canary};
use checkrein_effects::predict_with;
use checkrein_facts::History;
use checkrein_intervention::IncidentId;
use checkrein_ledger::{LedgerFile, lines};
use checkrein_protocol::{
    Action, ActionId, CallDisposition, Effect, EffectKind, HookEvent, HookResponse, Outcome, Record,
    RecordBody, ReviewLack, ReviewRecord, SuccessReporting, Timestamp, UnreviewedRecord, VerdictKind,
};
use checkrein_review::ActionFingerprint;
use checkrein_session::{SessionLedger, SessionState};

use crate::beginning::settings_of_client;
use crate::checkpoint;
use crate::context::Context;
use crate::incident::{self, Report};
use crate::interventions::{before_other_words, tell};
use crate::kept_settings::{changed_at, with};
use crate::records::switched_off_for;
use crate::text::cut;
use crate::verification::{Found, ledgers_since};

/// By whom the report is.
const BY: &str = "unreviewed";

/// How many reports are kept of one session (ours): a further one would say the same, and take the place of another.
const REPORTS: usize = 3;

/// How far back and in how many other sessions a review is looked for, and how long their ledgers may be in all (ours).
const DAY: u64 = 24 * 60 * 60 * 1_000;
const OTHER_SESSIONS: usize = 32;
const OTHER_BYTES: u64 = 64 * 1024 * 1024;

/// What the end of a call shows.
#[derive(Debug, Clone)]
pub(crate) enum Finding {
    /// No review had let it run.
    Unreviewed(Box<UnreviewedRecord>),
    /// The client does not ask about it, for a reason that is the user's.
    NotAsked(NotAsked),
}

/// Why a client that calls the hooks at the end of a call did not call them before it.
#[derive(Debug, Clone)]
pub(crate) struct NotAsked {
    kind: &'static str,
    text: String,
}

impl Finding {
    /// What is written down of it.
    pub(crate) fn record(&self) -> RecordBody {
        match self {
            Self::Unreviewed(record) => RecordBody::Unreviewed(record.clone()),
            Self::NotAsked(NotAsked { kind, text }) => RecordBody::Failure {
                stage: STAGE.to_owned(),
                kind: (*kind).to_owned(),
                detail: text.clone(),
                verdict: VerdictKind::Ok,
            },
        }
    }

    /// Whether nothing is known of what the call was to do.
    pub(crate) fn was_unseen(&self) -> bool {
        match self {
            Self::Unreviewed(record) => match record.lack {
                ReviewLack::Missing | ReviewLack::Another => true,
                ReviewLack::Refused => false,
            },
            Self::NotAsked(_) => false,
        }
    }
}

/// The stage of the records that say why a client did not ask.
const STAGE: &str = "not_asked";

/// Whether a ledger says already that the client did not ask for this reason.
fn is_said(ledger: &SessionLedger, kind: &str) -> bool {
    let Ok(all) = lines(&ledger.path()) else { return false };
    all.holding(STAGE).flatten().filter_map(|line| line.record).any(|record| {
        matches!(&record.body, RecordBody::Failure { stage, kind: said, .. } if stage == STAGE && said == kind)
    })
}

/// What the end of a call shows; `None` for a call that a review let run. Where a client gives its calls no numbers, none of them can be
/// told from another.
pub(crate) fn found(
    context: &Context,
    ledger: &SessionLedger,
    event: &HookEvent,
    outcome: &Outcome,
    state: &SessionState,
) -> Option<Finding> {
    let id = outcome.call.as_ref()?;
    // Where records are gone the loss is told, and with them the review may be gone.
    if is_canary(event.session.as_str()) || context.unrecorded.is_some() || state.records() == 0 {
        return None;
    }
    if let Some(found) = Found::newest(ledger, id)
        && is_of(context, &found.review, &outcome.action)
        && !was_refused(&found.review)
    {
        return None;
    }
    // What cannot be read may be the review.
    let mut reviews = reviews_of(&ledger.path(), id)?;
    if reviews.is_empty() {
        if only_looks(context, &outcome.action)
            || began_later(context, ledger, outcome)
            || ledger.was_answered(id)
        {
            return None;
        }
        reviews = elsewhere(context, ledger, id, &outcome.action);
    }
    if reviews.is_empty() {
        return match not_asked(context, event, outcome) {
            Some(reason) if is_said(ledger, reason.kind) => None,
            Some(reason) => Some(Finding::NotAsked(reason)),
            None => {
                let reason = "no review of it is on record: checkrein was kept from answering".to_owned();
                Some(unreviewed(context, outcome, ReviewLack::Missing, reason))
            }
        };
    }
    // What a refusal kept from running ends as a failure, if its end is told at all.
    if outcome.failed || outcome.success == SuccessReporting::NotTold {
        return None;
    }
    // Some clients number their calls anew in each answer, and run several at a time.
    let (own, others): (Vec<_>, Vec<_>) =
        reviews.iter().partition(|review| is_of(context, review, &outcome.action));
    let judged = if own.is_empty() { &others } else { &own };
    let newest = judged.last()?;
    if judged.iter().all(|review| was_refused(review)) {
        let reason = format!("it was refused: {}", newest.reason);
        return Some(unreviewed(context, outcome, ReviewLack::Refused, reason));
    }
    if own.is_empty() && does_more(context, newest, &outcome.action) {
        let reason = format!("what was reviewed under its number is `{}`", cut(&command_of(newest), 200));
        return Some(unreviewed(context, outcome, ReviewLack::Another, reason));
    }
    None
}

fn unreviewed(context: &Context, outcome: &Outcome, lack: ReviewLack, reason: String) -> Finding {
    let call = outcome.action.shell_text().map_or_else(|| outcome.action.input.to_string(), str::to_owned);
    let call = format!("{} {call}", outcome.action.tool.as_str());
    Finding::Unreviewed(Box::new(UnreviewedRecord {
        action_id: outcome.call.clone().unwrap_or_else(|| ActionId("unknown".to_owned())),
        call: checkpoint::masked(context, &cut(&call, 200)),
        lack,
        reason,
    }))
}

/// Whether a call was changed into this one before it ran.
pub(crate) fn is_changed_into(
    context: &Context,
    ledger: &SessionLedger,
    id: &ActionId,
    action: &Action,
) -> bool {
    Found::newest(ledger, id)
        .is_some_and(|found| found.review.rewrite.is_some() && is_of(context, &found.review, action))
}

/// Whether a review is of this call: of the same input, or of the command that it put in its place.
fn is_of(context: &Context, review: &ReviewRecord, action: &Action) -> bool {
    let mut there = action.clone();
    if let Some(cwd) = checkrein_protocol::AbsolutePath::new(&review.cwd) {
        there.cwd = cwd;
    }
    if ActionFingerprint::of(&there, &[], &[]).exact == review.exact {
        return true;
    }
    let rewritten = review.rewrite.as_ref().and_then(serde_json::Value::as_str);
    rewritten.is_some()
        && rewritten == action.shell_text().map(|text| checkpoint::masked(context, text)).as_deref()
}

/// The command that was reviewed, as it is written down.
fn command_of(review: &ReviewRecord) -> String {
    let command = ["command", "cmd"].iter().find_map(|field| review.input.get(*field)?.as_str());
    command.map_or_else(|| review.input.to_string(), str::to_owned)
}

/// Whether a command that ran does something that was not foreseen for the one that was reviewed under its number. Other hooks of the
/// client may put their own words around a command, and a text that was masked cannot be compared.
fn does_more(context: &Context, review: &ReviewRecord, action: &Action) -> bool {
    let Some(ran) = action.shell_text() else { return false };
    let (ran, reviewed) = (checkpoint::masked(context, ran), command_of(review));
    if reviewed.contains("[masked:") || ran.contains(&*reviewed) || reviewed.contains(&ran) {
        return false;
    }
    let is_new = |effect: &Effect| {
        weighs(effect)
            && !review.effects.iter().any(|known| known.kind == effect.kind && known.target == effect.target)
    };
    predicted(context, action).iter().any(is_new)
}

fn predicted(context: &Context, action: &Action) -> Vec<Effect> {
    let world = context.world(History::default());
    predict_with(action, &world, context.policy().catalogue()).effects
}

fn weighs(effect: &Effect) -> bool {
    effect.kind.is_mutating() || matches!(effect.kind, EffectKind::Opaque | EffectKind::SecretRead)
}

/// Whether a call is of a tool other than the shell that changes nothing and shows no secret. What a command changed cannot be foretold any
/// more.
fn only_looks(context: &Context, action: &Action) -> bool {
    action.shell_text().is_none() && !predicted(context, action).iter().any(weighs)
}

/// Whether a call may have changed something.
fn may_have_changed(context: &Context, action: &Action) -> bool {
    let changes = |effect: &Effect| effect.kind.is_mutating() || effect.kind == EffectKind::Opaque;
    action.shell_text().is_some() || predicted(context, action).iter().any(changes)
}

/// Whether the client was told not to run a call.
fn was_refused(review: &ReviewRecord) -> bool {
    review.disposition() == CallDisposition::Refused
}

/// The reviews of a call in a ledger, oldest first; `None` where some line of it cannot be read, or it says that the call is not reviewed. It
/// is read as a whole, since a call may end after thousands of others, as that of a subagent does.
fn reviews_of(ledger: &LedgerFile, id: &ActionId) -> Option<Vec<ReviewRecord>> {
    let mut reviews = Vec::new();
    for line in lines(ledger).ok()?.holding(id.as_str()) {
        match line.ok()?.record?.body {
            RecordBody::Review(review) if review.action_id == *id => reviews.push(*review),
            body if switched_off_for(&body, id) => return None,
            _ => {}
        }
    }
    Some(reviews)
}

/// The reviews of the same call in other sessions of the last day: a session goes on under another name after `/clear` and the like, and what
/// was running then ends there.
fn elsewhere(context: &Context, ledger: &SessionLedger, id: &ActionId, action: &Action) -> Vec<ReviewRecord> {
    let oldest = Timestamp(context.environment().now().0.saturating_sub(DAY));
    let mut left = OTHER_BYTES;
    for path in ledgers_since(context, ledger.folder(), oldest, OTHER_SESSIONS) {
        let length = std::fs::metadata(&path).map_or(0, |facts| facts.len());
        if length > left {
            continue;
        }
        left -= length;
        let mut reviews = reviews_of(&path, id).unwrap_or_default();
        reviews.retain(|review| is_of(context, review, action));
        if !reviews.is_empty() {
            return reviews;
        }
    }
    Vec::new()
}

/// Whether a call began before its session is known: the hooks may have been registered while it ran.
fn began_later(context: &Context, ledger: &SessionLedger, outcome: &Outcome) -> bool {
    let Ok(mut all) = lines(&ledger.path()) else { return true };
    let Some(Ok(first)) = all.next() else { return true };
    let now = context.environment().now();
    let began_before = |record: &Record| match (outcome.duration_ms, &record.body) {
        (Some(took), _) => now.0.saturating_sub(took) < record.at.0,
        (None, RecordBody::SessionStarted { .. }) => false,
        (None, _) => true,
    };
    first.record.as_ref().is_none_or(began_before)
}

/// Why the client did not ask about a call, by its settings as they are.
fn not_asked(context: &Context, event: &HookEvent, outcome: &Outcome) -> Option<NotAsked> {
    let environment = context.environment();
    let (tool, layout) = (outcome.action.tool.as_str(), &environment.client.hooks);
    let files = settings_of_client(environment, context.workspace(), &event.cwd);
    let began = outcome.duration_ms.map(|took| environment.now().0.saturating_sub(took));
    let (mut leaves_out, mut changed) = (None, false);
    for file in files {
        let Ok(text) = checkrein_files::read_text(file.as_str(), checkrein_files::SMALL) else { continue };
        match layout.coverage(&text, tool) {
            ToolCoverage::None => continue,
            ToolCoverage::Asked => leaves_out = Some(false),
            ToolCoverage::LeftOut => leaves_out = leaves_out.or(Some(true)),
        }
        changed |= began.zip(changed_at(&file)).is_some_and(|(began, changed)| began < changed.0);
    }
    match leaves_out? {
        true => Some(NotAsked {
            kind: "left_out",
            text: format!(
                "`{tool}` runs without review, and so do other tools: the matcher of `{}` in the settings of the \
                 client leaves them out. `checkrein init` asks about all tools again",
                layout.reviewing
            ),
        }),
        false if changed => Some(NotAsked {
            kind: "hooks_changed",
            text: format!(
                "a call of `{tool}` ran without review: the settings with the hooks were changed while it ran"
            ),
        }),
        false => None,
    }
}

/// Tells people and the model of such a call, and keeps a report, besides what else is answered to its outcome.
pub(crate) fn tell_of(
    context: &Context,
    ledger: &SessionLedger,
    finding: &Finding,
    outcome: &Outcome,
    state: &SessionState,
    answer: HookResponse,
) -> HookResponse {
    let record = match finding {
        Finding::Unreviewed(record) => record,
        Finding::NotAsked(reason) => {
            let text = format!("checkrein: {}. Tell the user, and go on.", reason.text);
            return with(answer, Some(text));
        }
    };
    let environment = context.environment();
    let how = record.lack.in_words();
    let what = format!("`{}` ran {how}: {}", record.call, record.reason);
    let warning = if may_have_changed(context, &outcome.action) {
        "\nIt may not be possible to take it back. Stop here and tell the user what was run."
    } else {
        "\nStop here and tell the user what was run."
    };
    // This one is among them.
    let told = lines(&ledger.path()).map_or(0, |all| all.holding(r#""type":"unreviewed""#).count());
    if told > REPORTS {
        let text = format!(
            "checkrein: {what}{warning}\nThe reports of the calls before it: `checkrein incident list`"
        );
        return before_other_words(text, answer);
    }
    let report = Report {
        ledger: Some(ledger),
        state,
        issue: None,
        by: BY,
        reason: &what,
        config: context.policy().config(),
        at: environment.now(),
    };
    let report = match incident::save(environment, &report) {
        Ok(IncidentId(id)) => format!("\nThe report for the user: `checkrein incident show {id}`"),
        Err(error) => {
            environment.diagnostics.add(format!("no report could be saved: {error}"));
            String::new()
        }
    };
    tell(context, ledger, "unreviewed", &format!("checkrein: a call ran {how}"), &what);
    before_other_words(format!("checkrein: {what}{warning}{report}"), answer)
}
