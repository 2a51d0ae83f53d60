//! When an agent is started again, and how long is waited before (upstream 3.10, 3.11).

use std::time::Duration;

use crate::failure::{FailureClass, ProviderFailure};

/// The variable that tells those below that what failed is already tried again above them.
pub const ATTEMPT_VARIABLE: &str = "CHECKREIN_ATTEMPT";

/// The first delay and the longest (upstream 3.11).
const FIRST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(32);

/// How often something is started again at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempts {
    again: u32,
}

/// Whether somebody above tries again what failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// Nobody.
    Outermost,
    /// Somebody: the variable was set.
    Inside,
}

impl Attempts {
    /// What was asked for; nothing where somebody above tries again, since retries in retries multiply.
    pub fn new(asked: u32, nesting: Nesting) -> Self {
        match nesting {
            Nesting::Outermost => Self { again: asked },
            Nesting::Inside => Self { again: 0 },
        }
    }

    /// Whether anything is tried again here.
    pub fn any(self) -> bool {
        self.again > 0
    }

    /// Whether to start again after `made` attempts: after a transient failure as often as was asked for, after an idle one once.
    pub fn allow(self, failure: Option<ProviderFailure>, made: u32) -> bool {
        let again = match failure.map(|failure| failure.class) {
            Some(FailureClass::Transient) => self.again,
            Some(FailureClass::IdleTimeout) => self.again.min(1),
            Some(FailureClass::CeilingTimeout | FailureClass::Permanent) | None => 0,
        };
        made <= again
    }
}

/// Returns how long to wait after `made` attempts: 2 s, doubled each time, at most 32 s. The delay is between a half and all of that, by
/// `chance` from 0 to 1, so that runs that failed together do not come back together.
pub fn delay(made: u32, chance: f64) -> Duration {
    let doubled = FIRST.saturating_mul(1_u32.checked_shl(made.saturating_sub(1)).unwrap_or(u32::MAX));
    doubled.min(LONGEST).mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureCause;
    use proptest::prelude::*;

    fn failure(class: FailureClass) -> ProviderFailure {
        ProviderFailure { class, cause: FailureCause::Capacity }
    }

    /// How often the innermost thing is started when everything always fails, each level under the one before it.
    fn started(levels: &[u32], nesting: Nesting) -> u64 {
        let [asked, below @ ..] = levels else { return 1 };
        let attempts = Attempts::new(*asked, nesting);
        let inside = if attempts.any() { Nesting::Inside } else { nesting };
        let mut made = 0;
        let mut sum = 0;
        loop {
            sum += started(below, inside);
            made += 1;
            if !attempts.allow(Some(failure(FailureClass::Transient)), made) {
                return sum;
            }
        }
    }

    proptest! {
        #[test]
        fn retries_never_multiply(levels in prop::collection::vec(0_u32..6, 0..5)) {
            let most = levels.iter().max().copied().unwrap_or(0);
            prop_assert!(started(&levels, Nesting::Outermost) <= u64::from(most) + 1);
        }

        #[test]
        fn delays_stay_within_their_bounds(made in 1_u32..100, chance in 0.0..=1.0) {
            let delay = delay(made, chance);
            prop_assert!(delay >= Duration::from_secs(1) && delay <= LONGEST);
        }
    }

    #[test]
    fn idle_is_tried_once_more_and_what_cannot_help_not_at_all() {
        let attempts = Attempts::new(3, Nesting::Outermost);
        let made = |class| (1..10).take_while(|made| attempts.allow(Some(failure(class)), *made)).count();
        assert_eq!(made(FailureClass::Transient), 3);
        assert_eq!(made(FailureClass::IdleTimeout), 1);
        assert_eq!(made(FailureClass::CeilingTimeout), 0);
        assert_eq!(made(FailureClass::Permanent), 0);
        assert!(!attempts.allow(None, 1), "what is not known is not tried again");
    }
}
