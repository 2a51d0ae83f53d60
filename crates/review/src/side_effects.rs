//! Side effects: what would change, whether it can be taken back, what softens it (seed 002).

use checkrein_protocol::{Effect, Severity, Stake};

use crate::verdict::SideEffects;

/// Sums up the effects of one action.
pub(crate) fn summarise(effects: Vec<Effect>) -> SideEffects {
    let reversible = effects.iter().all(|effect| effect.reversible);
    let severity = effects.iter().map(|effect| effect.severity).max().unwrap_or(Severity::Low);
    let mut mitigations = Vec::new();
    if effects.iter().any(|effect| effect.kind.is_mutating() && effect.stake == Stake::Recoverable) {
        mitigations.push("what git holds comes back with `git restore`".to_owned());
    }
    if effects.iter().any(|effect| effect.kind.is_mutating() && effect.stake == Stake::Regenerable) {
        mitigations.push("what is generated comes back with the next build or install".to_owned());
    }
    if effects.iter().any(|effect| effect.kind.is_mutating() && effect.stake >= Stake::Unsaved) {
        mitigations.push("commit or copy what is not saved anywhere before it goes".to_owned());
    }
    SideEffects { effects, reversible, severity, mitigations }
}
