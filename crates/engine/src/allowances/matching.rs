//! Whether a call is the one that was allowed.

use checkrein_protocol::{AbsolutePath, Action, CodeRecord, Effect, RuledOut, Unliftable};

use super::granted::{Allowance, AllowedFor};

/// A call as allowances see it, masked as the records are.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub(super) effects: &'a [Effect],
    pub(super) code: &'a [CodeRecord],
    pub(super) unliftable: &'a [Unliftable],
}

/// How an effect is compared with one that was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// All that judging rests on.
    Whole,
    /// The same but for what is lost by it, where nobody knows yet what of it is saved.
    WithoutSaving,
}

/// Why a call that was allowed is not let pass now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Difference {
    /// A file of code that it runs changed, or is another one.
    Code(AbsolutePath),
    /// It would do something that it did not do then.
    Effects,
    /// Something speaks against it now.
    Unliftable(Unliftable),
}

/// Whether an allowance is about such a call at all: there, and in that session.
pub(super) fn is_about(allowance: &Allowance, action: &Action, session: &str) -> bool {
    let is_there =
        action.cwd == allowance.directory || allowance.is_below && action.cwd.is_within(&allowance.directory);
    let is_time = match &allowance.span {
        AllowedFor::Session(of) => of == session,
        AllowedFor::Once | AllowedFor::Always => true,
    };
    is_there && is_time
}

/// What keeps an allowance from letting a call pass; `None` where it does. Nothing may be beyond what was allowed.
pub(super) fn difference(
    allowance: &Allowance,
    candidate: &Candidate<'_>,
    comparison: Comparison,
) -> Option<Difference> {
    let changed = candidate.code.iter().find(|code| !allowance.code.contains(code));
    if let Some(code) = changed {
        return Some(Difference::Code(code.path.clone()));
    }
    let is_known =
        |effect: &Effect| allowance.effects.iter().any(|allowed| is_within(effect, allowed, comparison));
    if !candidate.effects.iter().all(is_known) {
        return Some(Difference::Effects);
    }
    let is_once = allowance.span == AllowedFor::Once;
    let bars = |reason: &&Unliftable| match reason.rules_out() {
        RuledOut::All => true,
        RuledOut::Lasting => !is_once,
    };
    candidate.unliftable.iter().find(bars).copied().map(Difference::Unliftable)
}

/// Whether an effect is nothing but one that was allowed: the same in everything, and no worse. What names its cause to people does not count.
fn is_within(effect: &Effect, allowed: &Effect, comparison: Comparison) -> bool {
    let Effect {
        kind,
        target,
        certainty,
        depth,
        stake,
        severity,
        reversible,
        reach,
        nature,
        saved,
        cause: _,
        note: _,
    } = effect;
    let is_same = *kind == allowed.kind
        && *target == allowed.target
        && *certainty == allowed.certainty
        && *depth == allowed.depth
        && *reach == allowed.reach
        && *nature == allowed.nature;
    let is_no_worse = *stake <= allowed.stake
        && *severity <= allowed.severity
        && (*reversible || !allowed.reversible)
        && (*saved || !allowed.saved);
    is_same
        && match comparison {
            Comparison::Whole => is_no_worse,
            Comparison::WithoutSaving => true,
        }
}
