//! Reviews where no hook waits for an answer: `check`, the permission event, replay, commands of pipelines.

use std::time::Instant;

use checkrein_facts::{History, World as _};
use checkrein_policy::on_production;
use checkrein_protocol::{Action, ActionId, ChangeId, ReviewRecord};
use checkrein_review::{Forecast, Review, ReviewCache, Saved};
use checkrein_session::{SessionLedger, SessionState};
use checkrein_world::RealWorld;

use crate::adjudication::{Surface, adjudicate};
use crate::allowances::{self, StoppedCall};
use crate::change_records::{self, Covering};
use crate::checkpoint::{self, Protection};
use crate::context::Context;
use crate::corridor::{covered, is_stopped, wants_record};
use crate::docket::Circumstances;
use crate::push_gates::PushGates;
use crate::records::review_record;

/// Reviews an action by itself, without history and without a record.
pub fn check(context: &Context, action: &Action, cache: Option<&mut ReviewCache>) -> Review {
    let there = context.at(action);
    let context = there.as_ref().unwrap_or(context);
    let world = context.world(History::default());
    let forecast = Forecast::of(action, &world, context.policy());
    let plain = match cache {
        Some(cache) => cache.judge(&forecast),
        None => forecast.judge(&Saved::default()),
    };
    let protected = checkpoint::protect(context, &forecast, &plain, &Protection::Ask);
    let review = protected.judge(&forecast, plain);
    let state = SessionState::default();
    adjudicate(review, &alone(context, action, &state, world.history()), Surface::Check).review
}

/// Reviews a command that is run right after, outside every session: an approved change record of it lets it pass and is used up by that. With
/// the review comes the change whose command it is.
pub fn check_before_running(
    context: &Context,
    action: &Action,
    (session, id): (&str, &ActionId),
) -> (Review, Option<ChangeId>) {
    let there = context.at(action);
    let context = there.as_ref().unwrap_or(context);
    let config = context.policy().config();
    let world = context.world(History::default());
    let forecast = Forecast::of(action, &world, context.policy());
    let plain = forecast.judge(&Saved::default());
    let protected = checkpoint::protect(context, &forecast, &plain, &Protection::Ask);
    let review = protected.judge(&forecast, plain);
    let production = on_production(&review.side_effects.effects, config);
    let program = context.environment().program.as_deref();
    let wanted = wants_record(production.as_ref(), &review)
        .then(|| StoppedCall::of(&forecast, &world, &review, program));
    drop(forecast);
    let covering = wanted
        .map_or(Covering::None, |call| change_records::cover(context, (session, id), action, &review, &call));
    let review = match &covering {
        Covering::By(change) => covered(review, change),
        Covering::Not(..) | Covering::None => review,
    };
    let state = SessionState::default();
    let circumstances =
        Circumstances { covering: &covering, ..alone(context, action, &state, world.history()) };
    let review = adjudicate(review, &circumstances, Surface::Check).review;
    match covering {
        Covering::By(change) if is_stopped(&review) => {
            // Something else is in the way: the change waits for its command.
            change_records::give_back(context, &change);
            (review, None)
        }
        Covering::By(change) => (review, Some(change)),
        Covering::Not(..) | Covering::None => (review, None),
    }
}

/// Reviews an action that somebody else than a client wants to take, as it is done on this surface, and makes its record. With it comes the world in which
/// it was looked at.
pub(crate) fn looked_at(
    context: &Context,
    action: &Action,
    state: &SessionState,
    id: ActionId,
    (started, surface): (Instant, Surface),
) -> (Review, ReviewRecord, RealWorld) {
    let world = context.world(state.history());
    let forecast = Forecast::of(action, &world, context.policy());
    let plain = forecast.judge(&Saved::default());
    let protected = checkpoint::protect(context, &forecast, &plain, &Protection::Ask);
    let review = protected.judge(&forecast, plain);
    let program = context.environment().program.as_deref();
    let stopped = StoppedCall::of(&forecast, &world, &review, program);
    drop(forecast);
    let adjudicated = adjudicate(review, &alone(context, action, state, world.history()), surface);
    let review = adjudicated.review;
    let mode = context.policy().config().mode;
    let mut record = review_record(&review, action, id, None, mode, started.elapsed().as_micros());
    record.policy = record.intent.map(|_| context.policy().version().to_string());
    record.digest = Some(allowances::digest(action));
    record.code = Some(stopped.code);
    record.unliftable = stopped.unliftable;
    record.unliftable.extend(adjudicated.unliftable);
    record.unliftable.sort();
    record.unliftable.dedup();
    (review, record, world)
}

/// Reviews an action about which the client is going to ask a user by itself.
pub(crate) fn permission(
    context: &Context,
    ledger: &SessionLedger,
    action: &Action,
    state: &SessionState,
) -> Review {
    let world = context.world(state.history());
    let forecast = Forecast::of(action, &world, context.policy());
    let review = forecast.judge(&Saved::default());
    let program = context.environment().program.as_deref();
    let stopped = is_stopped(&review).then(|| StoppedCall::of(&forecast, &world, &review, program));
    drop(forecast);
    let session = ledger.folder().as_str();
    let production = on_production(&review.side_effects.effects, context.policy().config());
    let covering = match &stopped {
        Some(call) if production.is_some() => {
            change_records::cover_asked(context, session, action, &review, call)
        }
        Some(_) | None => Covering::None,
    };
    let review = match (&covering, &stopped) {
        (Covering::By(change), _) => covered(review, change),
        (Covering::Not(..) | Covering::None, Some(call)) => {
            allowances::lift_asked(context, session, action, review, call)
        }
        (Covering::Not(..) | Covering::None, None) => review,
    };
    adjudicate(review, &alone(context, action, state, world.history()), Surface::Permission).review
}

/// Reviews an action of a recording: nothing of what it would destroy is there to be saved.
pub(crate) fn replayed(
    context: &Context,
    action: &Action,
    state: &SessionState,
    world: &RealWorld,
) -> Review {
    let there = context.at(action);
    let context = there.as_ref().unwrap_or(context);
    let review = Forecast::of(action, world, context.policy()).judge(&Saved::default());
    adjudicate(review, &alone(context, action, state, world.history()), Surface::Replay).review
}

/// The circumstances where there is no hook that waits for an answer.
pub(crate) fn alone<'a>(
    context: &'a Context,
    action: &'a Action,
    state: &'a SessionState,
    history: &'a History,
) -> Circumstances<'a> {
    Circumstances {
        action,
        actor: None,
        config: context.policy().config(),
        state,
        history,
        now: context.environment().now(),
        failures: context.failures(),
        waiting: &context.waiting,
        halted: None,
        run: context.environment().run_limits.as_deref(),
        family: None,
        took: std::time::Duration::ZERO,
        covering: &Covering::None,
        push: &PushGates::NotAsked,
    }
}
