//! Whether a change record lets a call of an agent pass.

use checkrein_policy::{Mode, OnProduction};
use checkrein_protocol::{Action, ActionId, ChangeId, Timestamp};
use checkrein_review::Review;

use super::record::{ChangeState, ChangeStep, OpenedChange, command_digest};
use super::store;
use crate::allowances::{Allowance, AllowedFor, StoppedCall, beyond};
use crate::context::Context;

/// For how long after it was let pass the client may still ask about a call, in milliseconds (ours).
const ASKED_AGAIN: u64 = 10 * 60 * 1000;

/// What the change records say of a call on production.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Covering {
    /// This one lets it pass, and is used up by that.
    By(ChangeId),
    /// This one is of its command, and does not let it pass, for this reason, as a clause.
    Not(ChangeId, String),
    /// None is of its command.
    #[default]
    None,
}

/// Looks for a change that lets a call pass, and uses it up. Where several are of its command, the newest that says something counts.
pub(crate) fn cover(
    context: &Context,
    (session, id): (&str, &ActionId),
    action: &Action,
    review: &Review,
    call: &StoppedCall,
) -> Covering {
    let environment = context.environment();
    let now = environment.now();
    let mut said = Covering::None;
    for change in about(context, action) {
        let id_of_change = change.record.id.clone();
        let why = match change.state(now) {
            ChangeState::Approved(_) => beyond(context, &allowance(&change), action, review, call),
            ChangeState::Waiting => Some(format!(
                "the user has not approved it; only they can run `checkrein change approve {}`",
                id_of_change.as_str()
            )),
            ChangeState::Expired => Some("its approval has ended".to_owned()),
            ChangeState::Running | ChangeState::Unverified | ChangeState::Failed => {
                Some("its command ran already, and each change lets pass one call".to_owned())
            }
            // What is over says nothing about another call.
            ChangeState::Verified | ChangeState::RolledBack | ChangeState::Closed => continue,
        };
        if let Some(why) = why {
            said = Covering::Not(id_of_change, why);
            continue;
        }
        if context.policy().config().mode != Mode::Enforce {
            return Covering::By(id_of_change);
        }
        let passed = ChangeStep::Passed { at: now, session: session.to_owned(), action: id.clone() };
        match store::add(environment, &id_of_change, &passed) {
            Ok(()) => return Covering::By(id_of_change),
            Err(error) => said = Covering::Not(id_of_change, format!("it cannot be used: {error}")),
        }
    }
    said
}

/// The same where the client asks by itself about a call that is on its way: the change that let it pass in this session counts.
pub(crate) fn cover_asked(
    context: &Context,
    session: &str,
    action: &Action,
    review: &Review,
    call: &StoppedCall,
) -> Covering {
    let now = context.environment().now();
    let is_of_now = |at: Timestamp| now.0.saturating_sub(at.0) <= ASKED_AGAIN;
    let is_passed = |change: &OpenedChange| {
        change.steps.iter().any(|step| match step {
            ChangeStep::Passed { at, session: of, .. } => of == session && is_of_now(*at),
            ChangeStep::Approved { .. }
            | ChangeStep::Ran { .. }
            | ChangeStep::Verified { .. }
            | ChangeStep::RolledBack { .. }
            | ChangeStep::Closed { .. } => false,
        })
    };
    let fits = |change: &OpenedChange| {
        is_passed(change)
            && change.state(now) == ChangeState::Running
            && beyond(context, &allowance(change), action, review, call).is_none()
    };
    about(context, action)
        .into_iter()
        .find(fits)
        .map_or(Covering::None, |change| Covering::By(change.record.id))
}

/// Takes back that a call was let pass, where something else refused it.
pub(crate) fn give_back(context: &Context, id: &ChangeId) {
    if context.policy().config().mode == Mode::Enforce {
        store::unpass(context.environment(), id);
    }
}

/// The changes that are of exactly this command, in this directory.
fn about(context: &Context, action: &Action) -> Vec<OpenedChange> {
    let Some(digest) = command_digest(action) else { return Vec::new() };
    let is_of = |change: &OpenedChange| {
        let own = Action::command(change.record.command.as_str(), change.record.directory.clone());
        change.record.directory == action.cwd && command_digest(&own).as_ref() == Some(&digest)
    };
    let mut found: Vec<OpenedChange> =
        store::of_command(context.environment(), &digest).into_iter().filter(is_of).collect();
    found.sort_by_key(|change| change.record.at);
    found
}

/// What a change allows, for one call.
fn allowance(change: &OpenedChange) -> Allowance {
    Allowance {
        digest: String::new(),
        directory: change.record.directory.clone(),
        is_below: false,
        span: AllowedFor::Once,
        at: change.record.at,
        words: String::new(),
        effects: change.record.effects.clone(),
        code: change.record.code.clone(),
    }
}

impl Covering {
    /// Whether a change is of the command, and does not let it pass.
    pub(crate) fn is_of_command(&self) -> bool {
        match self {
            Self::Not(..) => true,
            Self::By(_) | Self::None => false,
        }
    }

    /// Why a call on production is asked about, as a sentence without its end.
    pub(crate) fn reason(&self, found: &OnProduction) -> String {
        match self {
            Self::By(_) | Self::None => {
                format!(
                    "this acts on production ({}) without an approved change record (`checkrein change open` makes one)",
                    found.site
                )
            }
            Self::Not(id, why) => format!(
                "this acts on production ({}), and change {} does not let it pass: {why}",
                found.site,
                id.as_str()
            ),
        }
    }

    /// What to do about it.
    pub(crate) fn advice(&self, action: &Action) -> String {
        match self {
            Self::Not(id, _) => format!("`checkrein change show {}` shows what was approved", id.as_str()),
            Self::By(_) | Self::None => match action.shell_text().filter(|text| is_short(text)) {
                Some(text) => format!(
                    "open a change, which the user approves: `checkrein change open --issue REF --rollback 'COMMAND' --verify 'COMMAND' -- '{}'`",
                    text.replace('\'', "'\\''")
                ),
                None => "open a change, which the user approves: write it to a file as `checkrein change open --help` shows, then \
                         `checkrein change open --file change.json`"
                    .to_owned(),
            },
        }
    }
}

/// Whether a command is short enough to stand in a message (ours).
fn is_short(text: &str) -> bool {
    text.len() <= 160 && !text.contains('\n')
}
