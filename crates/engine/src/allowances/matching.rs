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
        sites,
        cause: _,
        note: _,
    } = effect;
    let is_same = *kind == allowed.kind
        && *target == allowed.target
        && *certainty == allowed.certainty
        && *depth == allowed.depth
        && *reach == allowed.reach
        && *nature == allowed.nature
        && *sites == allowed.sites;
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

#[cfg(test)]
mod tests {
    use checkrein_protocol::{
        Certainty, Depth, EffectKind, EffectSite, Nature, NetworkReach, Severity, SiteKind, Stake, Target,
        Timestamp,
    };

    use super::*;

    type Change = fn(&mut Effect);

    fn effect() -> Effect {
        let path = AbsolutePath::new("/home/dev/notes").unwrap();
        let mut effect = Effect::new(EffectKind::FileDelete, Target::Path(path));
        effect.stake = Stake::Recoverable;
        effect.severity = Severity::Medium;
        effect.saved = true;
        effect
    }

    fn allowance(effects: Vec<Effect>, span: AllowedFor) -> Allowance {
        Allowance {
            digest: "sha256:0".to_owned(),
            directory: AbsolutePath::root(),
            is_below: false,
            span,
            at: Timestamp(1),
            words: String::new(),
            effects,
            code: Vec::new(),
        }
    }

    fn fits(effects: &[Effect], unliftable: &[Unliftable], span: AllowedFor) -> bool {
        let candidate = Candidate { effects, code: &[], unliftable };
        difference(&allowance(vec![effect()], span), &candidate, Comparison::Whole).is_none()
    }

    #[test]
    fn each_property_that_judging_rests_on_makes_another_call() {
        let always = || AllowedFor::Always;
        assert!(fits(&[effect()], &[], always()));
        assert!(fits(&[], &[], always()), "less than what was allowed");
        let changes: [(&str, Change); 11] = [
            ("kind", |effect| effect.kind = EffectKind::FileModify),
            ("target", |effect| effect.target = Target::Glob("/home/dev/notes".to_owned())),
            ("certainty", |effect| effect.certainty = Certainty::Possible),
            ("depth", |effect| effect.depth = Depth::Recursive),
            ("stake", |effect| effect.stake = Stake::Unsaved),
            ("severity", |effect| effect.severity = Severity::High),
            ("reversible", |effect| effect.reversible = false),
            ("reach", |effect| effect.reach = Some(NetworkReach::External)),
            ("nature", |effect| effect.nature = Nature::NamedByOutput),
            ("saved", |effect| effect.saved = false),
            ("sites", |effect| effect.sites.push(EffectSite::named(SiteKind::Host, "web"))),
        ];
        for (name, change) in changes {
            let mut other = effect();
            change(&mut other);
            assert!(!fits(std::slice::from_ref(&other), &[], always()), "{name}");
            assert!(!fits(&[effect(), other], &[], always()), "{name} beside what was allowed");
        }
        let mut worded = effect();
        (worded.cause, worded.note) = ("rm".to_owned(), "said otherwise".to_owned());
        assert!(fits(&[worded], &[], always()), "words decide nothing");
    }

    #[test]
    fn what_speaks_against_it_now_counts_by_how_much_it_rules_out() {
        for reason in Unliftable::ALL {
            let is_lasting = reason.rules_out() == RuledOut::Lasting;
            assert_eq!(fits(&[effect()], &[reason], AllowedFor::Once), is_lasting, "{reason:?}");
            assert!(!fits(&[effect()], &[reason], AllowedFor::Always), "{reason:?}");
            assert!(!fits(&[effect()], &[reason], AllowedFor::Session("s".to_owned())), "{reason:?}");
        }
    }
}
