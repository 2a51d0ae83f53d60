//! Code that a user has arranged to run: hooks of a repository.

use crate::effect::EffectKind;

use super::machine::Machine;

impl Machine<'_> {
    /// Runs `work` as something that a user set up before: what it changes is possible, and that it starts programs, asks hosts
    /// or cannot be followed is theirs and says nothing about this command.
    pub fn as_arranged(&mut self, work: impl FnOnce(&mut Self)) {
        let from = self.findings.effects.len();
        self.possibly(work);
        let found = self.findings.effects.split_off(from.min(self.findings.effects.len()));
        self.findings.effects.extend(found.into_iter().filter(|effect| says_something(effect.kind)));
    }
}

/// Whether an effect of a user's own arrangements is worth a word.
fn says_something(kind: EffectKind) -> bool {
    (kind.is_mutating() && kind != EffectKind::PackageInstall) || kind == EffectKind::SecretRead
}
