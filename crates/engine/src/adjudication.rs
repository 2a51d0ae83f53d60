//! The one place where a verdict is changed after a review, and in which order.
//!
//! What a session, its limits, failures and people add to a review only makes it stricter. That is so by construction: an adjustment gets
//! a [`Docket`], which shows the review and takes escalations, and nothing else writes a verdict.

use checkrein_protocol::Unliftable;
use checkrein_review::{Review, VerdictKind};

use crate::adjustments;
use crate::by_plugins;
use crate::docket::{Circumstances, Docket, StopCause};
use crate::fail_closed::Failure;
use crate::foresight;

/// Something that may make a verdict stricter.
pub(crate) type Adjustment = fn(&mut Docket, &Circumstances<'_>);

/// Who asks about a call: all that differs between them on the way to a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
    /// The hook, right before the call runs.
    Hook,
    /// The client, which is about to ask a user by itself: only what would be refused anyway is refused here.
    Permission,
    /// Somebody who wants to know what would be said: `check`.
    Check,
    /// An agent framework, which asks by message before it acts by itself.
    Message,
    /// A recording, or the stream of an agent: there is no session but what was seen of it.
    Replay,
}

impl Surface {
    /// The adjustments, in their order, each with what it is called where it stops a call that a user allowed. Each sees what those before
    /// it left; none can take back what they did.
    pub(crate) const fn adjustments(self) -> &'static [(Adjustment, Unliftable)] {
        match self {
            Self::Hook => &[
                (adjustments::pattern, Unliftable::Loop),
                (foresight::foreseen, Unliftable::Loop),
                (adjustments::failures, Unliftable::FailedCheck),
                (adjustments::masks, Unliftable::WritesMask),
                (adjustments::production, Unliftable::Production),
                (adjustments::push, Unliftable::PushGates),
                (adjustments::flow, Unliftable::Flow),
                (adjustments::doubt, Unliftable::Doubt),
                (by_plugins::plugins, Unliftable::Plugin),
                (adjustments::throttle, Unliftable::Loop),
                (adjustments::terms, Unliftable::Limit),
                (adjustments::budget, Unliftable::Limit),
                (adjustments::limits, Unliftable::Limit),
                (adjustments::hold, Unliftable::Rollback),
                (adjustments::contract, Unliftable::Contract),
                (adjustments::halt, Unliftable::Halt),
                (adjustments::tripwires, Unliftable::Tripwire),
                (adjustments::trust, Unliftable::Tripwire),
            ],
            Self::Permission => &[],
            Self::Check => &[
                (adjustments::failures, Unliftable::FailedCheck),
                (adjustments::masks, Unliftable::WritesMask),
                (adjustments::production, Unliftable::Production),
            ],
            Self::Message => &[
                (adjustments::failures, Unliftable::FailedCheck),
                (adjustments::masks, Unliftable::WritesMask),
                (adjustments::production, Unliftable::Production),
                (adjustments::halt, Unliftable::Halt),
                (adjustments::trust, Unliftable::Tripwire),
            ],
            Self::Replay => &[
                (foresight::foreseen, Unliftable::Loop),
                (adjustments::production, Unliftable::Production),
                (adjustments::flow, Unliftable::Flow),
                (adjustments::doubt, Unliftable::Doubt),
                (adjustments::throttle, Unliftable::Loop),
                (adjustments::trust, Unliftable::Tripwire),
            ],
        }
    }
}

/// What was decided.
#[derive(Debug)]
pub(crate) struct Adjudicated {
    pub(crate) review: Review,
    pub(crate) stop: Option<StopCause>,
    /// What of the circumstances asks about the call or refuses it.
    pub(crate) unliftable: Vec<Unliftable>,
}

/// Decides about a call: the review, and what the circumstances add to it on this surface.
pub(crate) fn adjudicate(review: Review, circumstances: &Circumstances<'_>, surface: Surface) -> Adjudicated {
    let mut docket = Docket::open(review);
    let mut unliftable = Vec::new();
    for (adjust, name) in surface.adjustments() {
        let before = docket.review().verdict.kind;
        adjust(&mut docket, circumstances);
        let after = docket.review().verdict.kind;
        // A verdict that was as strict before rests on what failed, too, and on the record that is missing.
        let rests_on_it = *name == Unliftable::FailedCheck && !circumstances.failures.is_empty()
            || *name == Unliftable::Production && adjustments::lacks_record(docket.review(), circumstances);
        if after >= VerdictKind::Escalate && (after > before || rests_on_it) {
            unliftable.push(*name);
        }
    }
    let (review, stop) = docket.close();
    Adjudicated { review, stop, unliftable }
}

/// Raises a verdict by the table of failures, for something that failed after it was given.
pub(crate) fn take_failure(review: Review, failure: &Failure) -> Review {
    let mut docket = Docket::open(review);
    adjustments::take_failure(&mut docket, failure);
    docket.close().0
}

#[cfg(test)]
mod tests;
