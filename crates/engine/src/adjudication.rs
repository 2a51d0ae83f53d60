//! The one place where a verdict is changed after a review, and in which order.
//!
//! What a session, its limits, failures and people add to a review only makes it stricter. That is so by construction: an adjustment gets
//! a [`Docket`], which shows the review and takes escalations, and nothing else writes a verdict.

use checkrein_review::Review;

use crate::adjustments;
use crate::docket::{Circumstances, Docket, StopCause};
use crate::fail_closed::Failure;

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
    /// A recording, or the stream of an agent: there is no session but what was seen of it.
    Replay,
}

impl Surface {
    /// The adjustments, in their order. Each sees what those before it left; none can take back what they did.
    pub(crate) const fn adjustments(self) -> &'static [Adjustment] {
        match self {
            Self::Hook => &[
                adjustments::pattern,
                adjustments::failures,
                adjustments::masks,
                adjustments::flow,
                adjustments::doubt,
                adjustments::throttle,
                adjustments::budget,
                adjustments::limits,
                adjustments::hold,
                adjustments::contract,
                adjustments::halt,
                adjustments::tripwires,
                adjustments::trust,
            ],
            Self::Permission => &[],
            Self::Check => &[adjustments::failures, adjustments::masks],
            Self::Replay => {
                &[adjustments::flow, adjustments::doubt, adjustments::throttle, adjustments::trust]
            }
        }
    }
}

/// What was decided.
#[derive(Debug)]
pub(crate) struct Adjudicated {
    pub(crate) review: Review,
    pub(crate) stop: Option<StopCause>,
}

/// Decides about a call: the review, and what the circumstances add to it on this surface.
pub(crate) fn adjudicate(review: Review, circumstances: &Circumstances<'_>, surface: Surface) -> Adjudicated {
    let mut docket = Docket::open(review);
    surface.adjustments().iter().for_each(|adjust| adjust(&mut docket, circumstances));
    let (review, stop) = docket.close();
    Adjudicated { review, stop }
}

/// Raises a verdict by the table of failures, for something that failed after it was given.
pub(crate) fn take_failure(review: Review, failure: &Failure) -> Review {
    let mut docket = Docket::open(review);
    adjustments::take_failure(&mut docket, failure);
    docket.close().0
}

#[cfg(test)]
mod tests;
