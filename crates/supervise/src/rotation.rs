//! Several values of one credential: which is taken next when a provider refuses (seed 004: on to the next one, at most 3 tries each, and a
//! halt when all are used up).

use crate::failure::{FailureCause, ProviderFailure};
use crate::retry::Nesting;

/// How often a provider may turn one value away as busy before it counts as used up (seed 004).
const TRIES: u32 = 3;

/// The values of a credential, by their places in its list, and what is left of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    left: Vec<u32>,
    current: usize,
    nesting: Nesting,
}

/// What a refusal means for the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Nothing: there is one value, or another one would be refused as well.
    Unconcerned,
    /// Another value is taken.
    Next {
        /// Its place.
        value: usize,
        /// How often it was turned away before; who comes back to it waits first.
        tried: u32,
    },
    /// No value is left.
    UsedUp,
}

impl Rotation {
    /// So many values, of which the first is taken first. Where somebody above tries again, none is tried twice here.
    pub fn new(values: usize, nesting: Nesting) -> Self {
        Self { left: vec![TRIES; values], current: 0, nesting }
    }

    /// The place of the value that is taken now.
    pub fn current(&self) -> usize {
        self.current
    }

    /// How many values there are.
    pub fn values(&self) -> usize {
        self.left.len()
    }

    /// Takes in that a provider refused the current value.
    pub fn refused(&mut self, failure: Option<ProviderFailure>) -> Turn {
        let (Some(failure), true) = (failure, self.left.len() > 1) else { return Turn::Unconcerned };
        let is_spent = match failure.cause {
            FailureCause::Quota => true,
            FailureCause::Capacity => self.nesting == Nesting::Inside,
            FailureCause::Connection
            | FailureCause::Authentication
            | FailureCause::Request
            | FailureCause::Clock => return Turn::Unconcerned,
        };
        if let Some(left) = self.left.get_mut(self.current) {
            *left = if is_spent { 0 } else { left.saturating_sub(1) };
        }
        let values = self.left.len();
        let further = (1..=values).map(|step| (self.current + step) % values);
        let next =
            further.filter_map(|value| Some((value, *self.left.get(value)?))).find(|(_, left)| *left > 0);
        match next {
            Some((value, left)) => {
                self.current = value;
                Turn::Next { value, tried: TRIES - left }
            }
            None => Turn::UsedUp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureClass;

    fn of(cause: FailureCause) -> ProviderFailure {
        ProviderFailure { class: FailureClass::Permanent, cause }
    }

    fn turns(rotation: &mut Rotation, cause: FailureCause) -> Vec<Turn> {
        let mut all = Vec::new();
        for _ in 0..100 {
            all.push(rotation.refused(Some(of(cause))));
            if !matches!(all.last(), Some(Turn::Next { .. })) {
                break;
            }
        }
        all
    }

    // Source: seed 004-60
    #[test]
    fn a_value_without_quota_is_not_taken_again() {
        let mut rotation = Rotation::new(3, Nesting::Outermost);
        let all = turns(&mut rotation, FailureCause::Quota);
        let next = |value| Turn::Next { value, tried: 0 };
        assert_eq!(all, [next(1), next(2), Turn::UsedUp]);
    }

    // Source: seed 004-61, 004-62
    #[test]
    fn a_busy_provider_is_asked_three_times_with_each_value_and_then_never_again() {
        for values in 2..6 {
            let mut rotation = Rotation::new(values, Nesting::Outermost);
            let mut tries = vec![0; values];
            loop {
                tries[rotation.current()] += 1;
                match rotation.refused(Some(of(FailureCause::Capacity))) {
                    Turn::Next { value, tried } => assert_eq!(tries[value], tried),
                    Turn::UsedUp => break,
                    Turn::Unconcerned => panic!("a busy provider concerns the values"),
                }
            }
            assert_eq!(tries, vec![3; values]);
            assert_eq!(rotation.refused(Some(of(FailureCause::Capacity))), Turn::UsedUp);
        }
    }

    #[test]
    fn what_another_value_would_not_mend_turns_to_none() {
        let mut one = Rotation::new(1, Nesting::Outermost);
        assert_eq!(one.refused(Some(of(FailureCause::Quota))), Turn::Unconcerned);
        let mut several = Rotation::new(2, Nesting::Outermost);
        for cause in [FailureCause::Connection, FailureCause::Authentication, FailureCause::Request] {
            assert_eq!(several.refused(Some(of(cause))), Turn::Unconcerned);
        }
        assert_eq!(several.refused(None), Turn::Unconcerned);
        assert_eq!(several.current(), 0);
    }

    #[test]
    fn who_is_tried_again_from_above_tries_each_value_once() {
        let all = turns(&mut Rotation::new(2, Nesting::Inside), FailureCause::Capacity);
        assert_eq!(all.len(), 2);
    }
}
