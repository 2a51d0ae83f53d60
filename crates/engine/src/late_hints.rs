//! Hints of a review that a client drops before the call: its model reads them with the result.

use checkrein_clients::HintDelivery;
use checkrein_protocol::{ActionId, CallDisposition, Enforcement, ReviewRecord, VerdictKind};
use checkrein_session::SessionLedger;

use checkrein_review::masked_command;

use crate::context::Context;
use crate::questions::newest_review;
use crate::text::cut;

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
        if let Some(command) = review.rewrite.as_ref().and_then(serde_json::Value::as_str) {
            // The client tells the model at most that something changed, not what.
            return format!("checkrein changed this call: {}\nIt ran as: {}", review.reason, ran_as(command));
        }
        let first = format!("checkrein, of this call: {}", review.reason);
        review.alternatives.iter().fold(first, |text, instead| format!("{text}\nInstead: {instead}"))
    })
}

/// How much of a command that ran instead is told (ours): a model sees what changed, and the rest stands in its own call.
const RAN: usize = 300;

/// What ran instead, for a model: the words that mask an output are no words of its command.
fn ran_as(command: &str) -> String {
    match masked_command(command) {
        Some(own) => format!(
            "{} (with the values in its output masked: names stay, a value reads `[masked:KIND:FINGERPRINT]`)",
            cut(own, RAN)
        ),
        None => cut(command, RAN),
    }
}
