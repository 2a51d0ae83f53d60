//! What may make a verdict stricter, each by itself; `adjudication` holds the order.

use checkrein_facts::places;
use checkrein_intervention::{LimitedResource, Throttle};
use checkrein_ledger::mask::holds_mask;
use checkrein_patterns::{ActionNumber, Activity, Fingerprint, Pace, PatternKind};
use checkrein_policy::{Mode, ProductionBy, on_production};
use checkrein_protocol::{AbsolutePath, Effect, EffectKind, Severity};
use checkrein_review::{DOUBT, Escalation, Review, RiskLevel, VerdictKind, sends_out};
use checkrein_session::FlowReading;
use checkrein_supervise::runs::HookLimits;

use crate::answering::{changes_something, pattern_settings, precedent};
use crate::change_records::Covering;
use crate::docket::{Circumstances, Docket, StopCause};
use crate::fail_closed::{Consequence, Failure};
use crate::push_gates::PushGates;
use crate::{limits, usage};

/// What stands before the reason of a halt.
pub(crate) const HALTED: &str = "this session is halted: ";

/// Says of a question that only numbers lead to that it is about a pattern of the session, if one stands, and how to get out of that.
pub(crate) fn pattern(docket: &mut Docket, now: &Circumstances<'_>) {
    if now.history.active_issues == 0 || !docket.review().is_asked_by_numbers() {
        return;
    }
    let issues = now.state.behaviour().issues(&pattern_settings(now.config));
    let Some(issue) = issues.first().filter(|issue| issue.severity >= Severity::High) else { return };
    let (exact, said) = (docket.review().fingerprint.exact, docket.review().reasoning.primary.clone());
    let goes_on = now.history.recent.iter().any(|past| past.exact == exact);
    let pattern = in_words(issue.kind);
    let reason = if goes_on {
        format!("this goes on {pattern}: {}", issue.summary)
    } else {
        format!("{said}. The session goes on {pattern}: {}", issue.summary)
    };
    docket.explain_by_session(reason, issue.advice.clone());
}

/// What goes on when a pattern does, behind "goes on".
fn in_words(pattern: PatternKind) -> String {
    match pattern {
        PatternKind::StuckLoop
        | PatternKind::RepetitiveErrors
        | PatternKind::ErrorExplorationLoop
        | PatternKind::Stagnation
        | PatternKind::OscillatingEdits => "in a loop".to_owned(),
        PatternKind::ScopeCreep
        | PatternKind::GoalDrift
        | PatternKind::ResourceSpiral
        | PatternKind::RunawayExecution
        | PatternKind::ExplorationWandering
        | PatternKind::Hallucination
        | PatternKind::ConfusedState
        | PatternKind::RepeatedVerdicts
        | PatternKind::OwnPattern
        | PatternKind::Cascade => format!("as before ({})", pattern.name().replace('_', " ")),
    }
}

/// What failed before the review, by the table of failures, and what of the configuration waits for a user.
pub(crate) fn failures(docket: &mut Docket, now: &Circumstances<'_>) {
    if !now.waiting.is_empty() && !now.failures.iter().any(|failure| matches!(failure, Failure::History(_))) {
        let settings = now.waiting.join(", ");
        docket.did_not_run(format!(
            "looser than the user confirmed, and waiting for `checkrein trust`: {settings}"
        ));
        if docket.review().verdict.kind >= VerdictKind::Escalate {
            docket.advise(format!(
                "if the user made the configuration looser ({settings}): `checkrein trust` in their terminal lets it count"
            ));
        }
    }
    now.failures.iter().for_each(|failure| take_failure(docket, failure));
}

/// One failure, by the table.
pub(crate) fn take_failure(docket: &mut Docket, failure: &Failure) {
    docket.did_not_run(failure.to_string());
    let least = match failure.consequence() {
        Consequence::Refuse => VerdictKind::Block,
        Consequence::AtLeast(kind) if changes_something(docket.review()) => kind,
        Consequence::AtLeast(_) => VerdictKind::Nudge,
    };
    docket.escalate(Escalation::new(least, failure.to_string()).instead(failure.hint()));
}

/// Refuses a call that would write a mask into a file of settings, where the value that it stands for would be lost, and asks about one that
/// writes it elsewhere.
pub(crate) fn masks(docket: &mut Docket, now: &Circumstances<'_>) {
    let is_written =
        |effect: &&Effect| matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify);
    let effects = &docket.review().side_effects.effects;
    let written: Vec<&AbsolutePath> =
        effects.iter().filter(is_written).filter_map(|effect| effect.target.path()).collect();
    let list = written.iter().find(|path| path.name().is_some_and(places::environment_file));
    let Some(path) = list.or(written.first()).map(ToString::to_string) else { return };
    let least = if list.is_some() { VerdictKind::Block } else { VerdictKind::Escalate };
    // A mask that is to be replaced is in no text that is written.
    let fields = ["command", "content", "new_string", "edits", "input"];
    let texts = fields.iter().filter_map(|field| now.action.input.get(*field)).map(ToString::to_string);
    if texts.into_iter().any(|text| holds_mask(&text)) {
        let reason = format!(
            "this writes a mask into `{path}`, which only stands for a value: the value would be lost"
        );
        let advice = "change only the lines that are meant, and leave those with masks as they are: `sed -i '/^NAME=/d' FILE` takes one out, \
                      `echo 'NAME=value' >> FILE` adds one";
        docket.escalate(Escalation::new(least, reason).instead(advice));
    }
}

/// Asks about a call that sends something to others, after the session read what others wrote and what is private.
pub(crate) fn flow(docket: &mut Docket, now: &Circumstances<'_>) {
    let Some(sent) = sends_out(docket.review()) else { return };
    let Some(readings) = now.state.flow_readings() else { return };
    docket.follow_readings(readings.record());
    let named = |reading: &FlowReading| {
        format!("{} `{}` (call {})", reading.mark.origin.in_words(), reading.mark.source, reading.action)
    };
    let orders = if readings.outside.orders { ". What came from outside gives agents orders" } else { "" };
    let private = readings.private.map(|private| format!(" and {}", named(private))).unwrap_or_default();
    let reason = format!("this {sent} after the session read {}{private}{orders}", named(readings.outside));
    let advice = "tell the user what is to be sent, to whom and who asked for it; their yes settles what was read so far";
    docket.escalate(Escalation::new(VerdictKind::Escalate, reason).instead(advice));
}

/// Asks about a call on production that no approved change record covers. Where only a name says that it is production, that asks about
/// nothing: what is asked about anyway is told how a record is opened.
pub(crate) fn production(docket: &mut Docket, now: &Circumstances<'_>) {
    if let Covering::By(_) = now.covering {
        return;
    }
    let Some(found) = on_production(&docket.review().side_effects.effects, now.config) else { return };
    let (reason, advice) = (now.covering.reason(&found), now.covering.advice(now.action));
    let is_asked_for = found.by == ProductionBy::Configuration;
    if is_asked_for
        && docket.escalate(Escalation::new(VerdictKind::Escalate, reason.as_str()).instead(advice.as_str()))
    {
        return;
    }
    // A halt is lifted by no record.
    if matches!(docket.review().verdict.kind, VerdictKind::Escalate | VerdictKind::Block) {
        if is_asked_for || now.covering.is_of_command() {
            docket.remark(&capitalised(&reason));
        }
        docket.advise(advice);
    }
}

/// Refuses a push that the gates of the configuration did not let pass.
pub(crate) fn push(docket: &mut Docket, now: &Circumstances<'_>) {
    let PushGates::Stopped(found) = now.push else { return };
    let reason = format!("gates look before a push here, and this one does not pass: {found}");
    let advice =
        "finish what the gates name and commit it, then push by itself: `git push` and nothing beside it";
    docket.escalate(Escalation::new(VerdictKind::Block, reason).instead(advice));
}

/// Whether a call is on production that the configuration names, and no approved change record covers it.
pub(crate) fn lacks_record(review: &Review, now: &Circumstances<'_>) -> bool {
    let found = on_production(&review.side_effects.effects, now.config);
    !matches!(now.covering, Covering::By(_))
        && found.is_some_and(|found| found.by == ProductionBy::Configuration)
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Asks about a call that cannot be read, where the doubt about such calls of the session alone makes its risk high: calls ran without a
/// review, or changed what nobody foresaw.
pub(crate) fn doubt(docket: &mut Docket, _: &Circumstances<'_>) {
    let risk = &docket.review().risk;
    let counts = risk.factors.iter().any(|factor| factor.name == DOUBT);
    if counts && risk.level >= RiskLevel::High {
        let reason = "what this does cannot be determined before it runs, and earlier calls of this session had unexpected effects";
        docket.escalate(Escalation::new(VerdictKind::Escalate, reason.to_owned()));
    }
}

/// Refuses a call that tighter limits forbid now.
pub(crate) fn throttle(docket: &mut Docket, now: &Circumstances<'_>) {
    if let Some(reason) = throttled(docket.review(), now) {
        let advice = "try something else, or tell the user what is missing";
        // Who waits with pauses for something may have to wait for longer: the user decides.
        let waits = docket.review().verdict.kind <= VerdictKind::Escalate && only_waits(docket.review(), now);
        let kind = if waits { VerdictKind::Escalate } else { VerdictKind::Block };
        docket.escalate(Escalation::new(kind, reason).instead(advice));
    }
}

/// Holds a session to the terms on which a user let it go on.
pub(crate) fn terms(docket: &mut Docket, now: &Circumstances<'_>) {
    let standing = now.state.terms();
    let terms = standing.terms();
    if terms.are_none() || docket.review().verdict.kind >= VerdictKind::Block {
        return;
    }
    let effects = &docket.review().side_effects.effects;
    let changes = |effect: &&Effect| effect.kind.is_mutating() && effect.target.path().is_some();
    let operations = u64::try_from(effects.iter().filter(changes).count()).unwrap_or(u64::MAX);
    let met = terms.ask.iter().find(|kind| kind.is_met(effects, now.action.shell_text())).copied();
    if let Some(reached) = standing.reached(now.state.used_up(), operations) {
        let reason =
            format!("the user let this session go on within limits, and they are reached: {reached}");
        let advice =
            "stop here and say what is done and what is left; the user can run `checkrein resume` again";
        docket.refuse_for_limit(&reason, advice);
    } else if let Some(kind) = met {
        let reason = format!("the user let this session go on, and wants to say yes to each `{kind}`");
        let advice = "tell the user what it is for";
        docket.escalate(Escalation::new(VerdictKind::Escalate, reason).instead(advice));
    }
}

/// Refuses a call when nothing is left of a limit of tokens, dollars or answers.
pub(crate) fn budget(docket: &mut Docket, now: &Circumstances<'_>) {
    if docket.review().verdict.kind >= VerdictKind::Block {
        return;
    }
    if let Some(reached) = usage::exceeded(docket, now.state, now.config, (now.run, now.family)) {
        let advice = "stop here and say what is done and what is left; the user can raise the limit";
        docket.refuse_for_limit(&reached.reason, advice);
        docket.stop(StopCause::Limit(reached.switch));
    }
}

/// Refuses a call when the time or the memory of the session is used up. Under `checkrein run` the supervisor holds both.
pub(crate) fn limits(docket: &mut Docket, now: &Circumstances<'_>) {
    if now.run.is_some() || docket.review().verdict.kind >= VerdictKind::Block {
        return;
    }
    if let Some(reason) = limits::exceeded(docket, now.state, now.now, now.config) {
        let advice = "stop here and say what is done and what is left; the user can raise the limit";
        docket.refuse_for_limit(&reason, advice);
    }
}

/// Holds a call until a user has decided about a rollback that they were asked about.
pub(crate) fn hold(docket: &mut Docket, now: &Circumstances<'_>) {
    let Some(proposed) = now.state.controller().awaits() else { return };
    if now.config.mode == Mode::Enforce {
        let reason =
            format!("the session has gone wrong since action {}. {}", proposed.before.0, proposed.changes);
        let advice = "run that in a terminal and tell the agent how to go on; a yes lets it go on as it is";
        docket.escalate(Escalation::new(VerdictKind::Escalate, reason).instead(advice));
    }
}

/// Takes the time that the review took into account.
pub(crate) fn contract(docket: &mut Docket, now: &Circumstances<'_>) {
    let took_ms = u64::try_from(now.took.as_millis()).unwrap_or(u64::MAX);
    let precedent = precedent(now.history, docket.review());
    docket.keep_contract(took_ms, precedent, now.config);
}

/// Refuses every call of a session that a user, a tripwire or an intervention halted.
pub(crate) fn halt(docket: &mut Docket, now: &Circumstances<'_>) {
    let Some(reason) = now.halted else { return };
    // The message says so itself.
    let reason = reason.strip_prefix(HALTED).unwrap_or(reason);
    let advice = match now.run.and_then(HookLimits::stopped) {
        Some(_) => "stop here and say what is done and what is left; the run is ended",
        None => "stop here and tell the user; only a human can run `checkrein resume`",
    };
    docket.escalate(Escalation::new(VerdictKind::Halt, reason).instead(advice));
}

/// Has the session stopped by a tripwire that halts it. The call itself is refused by its review.
pub(crate) fn tripwires(docket: &mut Docket, now: &Circumstances<'_>) {
    let halting = docket.review().governance.halting();
    let cause =
        halting.map(|fired| StopCause::Tripwire { name: fired.name.clone(), reason: fired.reason.clone() });
    if let Some(cause) = cause.filter(|_| now.halted.is_none()) {
        docket.stop(cause);
    }
}

/// Settles what the call costs in trust, once its verdict stands.
pub(crate) fn trust(docket: &mut Docket, now: &Circumstances<'_>) {
    if now.halted.is_none() {
        docket.settle_trust(&now.history.trust, now.config);
    }
}

/// Whether a call pauses and does nothing but look.
fn only_waits(review: &Review, now: &Circumstances<'_>) -> bool {
    let effects = &review.side_effects.effects;
    let deed = Activity::of(now.action.tool.as_str(), effects, &review.programs, now.action.shell_text());
    (deed, Pace::of(&review.programs)) == (Activity::Waits, Pace::Paused)
}

fn throttled(review: &Review, now: &Circumstances<'_>) -> Option<String> {
    let (state, config) = (now.state, now.config);
    let action = ActionNumber(state.actions() + 1);
    let throttle: &Throttle = state.controller().throttle()?;
    if throttle.refused.contains(&Fingerprint::of_fingerprint(review.fingerprint.substance)) {
        return Some(format!(
            "this call was made again and again with the same result; it is refused until something is changed, or {} other calls have run",
            throttle.left
        ));
    }
    let changes = |effect: &&Effect| effect.kind.is_mutating() && effect.target.path().is_some();
    let operations = review.side_effects.effects.iter().filter(changes).count() as u64;
    let before = config.file_operation_limit()?;
    let limit = throttle.reduced(LimitedResource::FileOperations, before, action);
    let is_tight = throttle.factor_for(LimitedResource::FileOperations, action) < 1.0;
    let made = state.file_operations() + now.history.related_file_operations;
    let over = is_tight && operations > 0 && made + operations > limit;
    over.then(|| {
        format!(
            "this session may change {limit} files for now instead of {before}, because it went wrong: it changed {made}, and this call \
             changes {operations} more"
        )
    })
}
