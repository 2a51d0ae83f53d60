//! Hints of a review that a client drops before the call: its model reads them with the result.

use checkrein_clients::HintDelivery;
use checkrein_protocol::{ActionId, CallDisposition, Enforcement, ReviewRecord, VerdictKind};
use checkrein_session::SessionLedger;

use crate::context::Context;
use crate::questions::newest_review;

/// What the model is told of a call that ran, since it heard nothing before; `None` where it did, or there is nothing to tell.
pub(crate) fn of(context: &Context, ledger: &SessionLedger, call: &ActionId) -> Option<String> {
    match context.environment().client.hints {
        HintDelivery::WithTheCall => None,
        HintDelivery::WithTheOutcome => newest_review(ledger, call).and_then(|review| told(&review)),
    }
}

fn told(review: &ReviewRecord) -> Option<String> {
    let hints = review.verdict == VerdictKind::Nudge
        && review.mode == Enforcement::Enforce
        && review.disposition() == CallDisposition::LetRun
        && !review.reason.is_empty();
    hints.then(|| {
        let changed = if review.rewrite.is_some() { "it ran in a safer form: " } else { "" };
        let first = format!("checkrein, of this call: {changed}{}", review.reason);
        review.alternatives.iter().fold(first, |text, instead| format!("{text}\nInstead: {instead}"))
    })
}
