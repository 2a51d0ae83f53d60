//! What a user allowed by `checkrein allow`: single calls, told by their exact text, once, for a session, or always.
//!
//! | module | holds |
//! |---|---|
//! | `content` | what a stopped call is told from others by: its text, its code, what speaks against it |
//! | `granted` | the files of allowances |
//! | `matching` | whether a call is the one that was allowed |
//! | `report` | what is said about them |
//!
//! An allowance lifts the question or refusal of a review, before session, limits and flow are looked at: what these say stays. It holds only
//! while what the call would do is the same: every effect with all that judging rests on, and the text of each file that it runs. It never
//! lifts what touches the guard, a check that did not run, or a tripwire or rule that the user or the team wrote. What must not be lost, and
//! code or values that nobody sees beforehand, it lifts for one call only.

mod content;
mod granted;
mod matching;
mod report;

use checkrein_ledger::mask::mask_body;
use checkrein_protocol::{
    AbsolutePath, Action, ActionId, CodeRecord, Effect, RecordBody, ReviewRecord, Unliftable,
};
use checkrein_review::{Review, VerdictKind};

pub(crate) use content::StoppedCall;
pub use content::{Wholeness, digest, manner, wholeness};
pub use granted::{Allowance, AllowedFor, Granted, GrantedState, MOST, all, forget, give};
pub use report::{in_words, span_word};

use crate::context::Context;
use crate::records::review_record;
use crate::session_ledger::mask_key;
use crate::untaken_answers::UntakenAnswer;
use matching::{Candidate, Comparison, Difference};

/// How long an allowance for once waits for its call, in milliseconds (ours).
pub const WAITS: u64 = 60 * 60 * 1000;
/// For how long after its use the client may still ask about the call, in milliseconds (ours).
const ASKED_AGAIN: u64 = 10 * 60 * 1000;

/// Lifts a review where the user allowed the call. What was allowed once is used up by that. Where the call is another one by now, the review
/// says so.
pub(crate) fn lift(
    context: &Context,
    session: &str,
    action: &Action,
    review: Review,
    (call, at_door): (&StoppedCall, Option<UntakenAnswer>),
) -> Review {
    // What the client would be given in its place it cannot take: allowed is the call as it is.
    let is_unchanged = review.verdict.kind < VerdictKind::Escalate && at_door.is_some();
    if review.verdict.kind < VerdictKind::Escalate && !is_unchanged {
        return review;
    }
    let lifted = |review: Review| {
        if is_unchanged { review.unchanged(report::LIFTED) } else { review.lifted(report::LIFTED) }
    };
    let environment = context.environment();
    let now = environment.now();
    let given: Vec<(String, Allowance)> = granted::standing(environment, &call.digest, now)
        .into_iter()
        .filter(|(_, allowance)| matching::is_about(allowance, action, session))
        .collect();
    if given.is_empty() {
        return review;
    }
    let Some(masked) = Masked::of(context, &review, action, call) else { return review };
    let candidate = masked.candidate();
    let mut differs: Option<Difference> = None;
    let mut once = Vec::new();
    for (file, allowance) in &given {
        match matching::difference(allowance, &candidate, Comparison::Whole) {
            Some(difference) => differs = differs.or(Some(difference)),
            None if allowance.span == AllowedFor::Once => once.push(file),
            // What holds for longer is not used up.
            None => return lifted(review),
        }
    }
    if once.iter().any(|file| granted::is_used_now(environment, file, now)) {
        return lifted(review);
    }
    match differs {
        Some(difference) => review.remarked(&report::difference(&difference)),
        None => review,
    }
}

/// The same where the client asks by itself about a call that is on its way: an allowance that was used for it counts, and none is used up.
pub(crate) fn lift_asked(
    context: &Context,
    session: &str,
    action: &Action,
    review: Review,
    call: &StoppedCall,
) -> Review {
    if review.verdict.kind < VerdictKind::Escalate {
        return review;
    }
    let environment = context.environment();
    let now = environment.now();
    let standing = granted::standing(environment, &call.digest, now).into_iter().map(|(_, one)| one);
    let given: Vec<Allowance> = standing
        .chain(granted::just_used(environment, &call.digest, now))
        .filter(|allowance| matching::is_about(allowance, action, session))
        .collect();
    if given.is_empty() {
        return review;
    }
    let Some(masked) = Masked::of(context, &review, action, call) else { return review };
    let candidate = masked.candidate();
    let fits = |allowance: &Allowance| {
        matching::difference(allowance, &candidate, Comparison::WithoutSaving).is_none()
    };
    if given.iter().any(fits) { review.lifted(report::LIFTED) } else { review }
}

/// Why a call is not any more what it was when it was asked about, as a clause; `None` where it would do and run the same.
pub(crate) fn changed_since(
    context: &Context,
    asked: &Allowance,
    action: &Action,
    review: &Review,
    call: &StoppedCall,
) -> Option<String> {
    let Some(masked) = Masked::of(context, review, action, call) else {
        return Some("it cannot be compared with what was asked about".to_owned());
    };
    // What speaks against it was shown to who said yes.
    let candidate = Candidate { unliftable: &[], ..masked.candidate() };
    matching::difference(asked, &candidate, Comparison::WithoutSaving)
        .map(|difference| report::what(&difference))
}

/// What of a call is beyond what was allowed, as a clause; `None` where nothing is, and nothing speaks against it.
pub(crate) fn beyond(
    context: &Context,
    allowed: &Allowance,
    action: &Action,
    review: &Review,
    call: &StoppedCall,
) -> Option<String> {
    let Some(masked) = Masked::of(context, review, action, call) else {
        return Some("it cannot be compared with what was approved".to_owned());
    };
    matching::difference(allowed, &masked.candidate(), Comparison::Whole)
        .map(|difference| report::what(&difference))
}

/// Whether an allowance would have let a recorded call of a session pass.
pub fn would_pass(allowance: &Allowance, review: &ReviewRecord, session: &str) -> bool {
    let Some((cwd, code)) = AbsolutePath::new(&review.cwd).zip(review.code.as_ref()) else { return false };
    let action = Action { tool: review.tool.clone(), input: review.input.clone(), cwd };
    let candidate = Candidate { effects: &review.effects, code, unliftable: &review.unliftable };
    review.digest.as_deref() == Some(allowance.digest.as_str())
        && matching::is_about(allowance, &action, session)
        && matching::difference(allowance, &candidate, Comparison::Whole).is_none()
}

/// What of a call is compared with what was allowed, masked like what was: allowances are made from records.
struct Masked {
    effects: Vec<Effect>,
    code: Vec<CodeRecord>,
    unliftable: Vec<Unliftable>,
}

impl Masked {
    /// `None` where nothing can be masked; then nothing is allowed.
    fn of(context: &Context, review: &Review, action: &Action, call: &StoppedCall) -> Option<Self> {
        let config = context.policy().config();
        let key = mask_key(context.environment(), config).ok()?;
        let mut record = review_record(review, action, ActionId(String::new()), None, config.mode, 0);
        record.code = Some(call.code.clone());
        let mut body = RecordBody::Review(Box::new(record));
        mask_body(&mut body, &key);
        let RecordBody::Review(record) = body else { return None };
        let (effects, code) = (record.effects, record.code.unwrap_or_default());
        Some(Self { effects, code, unliftable: call.unliftable.clone() })
    }

    fn candidate(&self) -> Candidate<'_> {
        Candidate { effects: &self.effects, code: &self.code, unliftable: &self.unliftable }
    }
}
