//! A set of numbers of packs, which mostly follow on each other.

use serde::{Deserialize, Serialize};

/// Numbers of packs as ranges, both ends in them, in order and apart from each other: a thousand packs in a row are one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Packs(Vec<(u64, u64)>);

impl Packs {
    /// Whether a number is in it.
    pub(super) fn contains(&self, number: u64) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= number);
        after.checked_sub(1).and_then(|place| self.0.get(place)).is_some_and(|(_, last)| number <= *last)
    }

    /// The greatest number in it.
    pub(super) fn last(&self) -> Option<u64> {
        self.0.last().map(|(_, last)| *last)
    }

    /// The numbers in it.
    fn numbers(&self) -> impl Iterator<Item = u64> {
        self.0.iter().flat_map(|(first, last)| *first..=*last)
    }

    /// Everything that is in any of these. Takes memory by ranges, not by numbers: there is no bound to how many packs a store has.
    pub(super) fn union<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut ranges: Vec<(u64, u64)> = all.into_iter().flat_map(|packs| packs.0.iter().copied()).collect();
        ranges.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                Some(_) | None => joined.push((first, last)),
            }
        }
        Self(joined)
    }

    /// Those of them that are kept.
    pub(super) fn kept(&self, is_kept: impl Fn(u64) -> bool) -> Self {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in self.numbers().filter(|number| is_kept(*number)) {
            match ranges.last_mut() {
                Some((_, last)) if number == last.saturating_add(1) => *last = number,
                Some(_) | None => ranges.push((number, number)),
            }
        }
        Self(ranges)
    }
}

impl FromIterator<u64> for Packs {
    fn from_iter<T: IntoIterator<Item = u64>>(numbers: T) -> Self {
        Self::union([&Self(numbers.into_iter().map(|number| (number, number)).collect())])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ranges_hold_what_was_put_into_them() {
        for mask in 0_u64..4096 {
            let numbers: BTreeSet<u64> = (0..12).filter(|bit| mask >> bit & 1 == 1).collect();
            let packs: Packs = numbers.iter().copied().collect();
            assert!((0..14).all(|number| packs.contains(number) == numbers.contains(&number)), "{mask:b}");
            assert_eq!(packs.numbers().collect::<BTreeSet<_>>(), numbers);
            assert_eq!(packs.last(), numbers.last().copied());
        }
        let (one, other): (Packs, Packs) = ((1..=5).collect(), (3..=9).collect());
        assert_eq!(Packs::union([&one, &other]), Packs(vec![(1, 9)]));
        assert_eq!(Packs::union([&one, &other]).kept(|number| number != 4), Packs(vec![(1, 3), (5, 9)]));
    }
}
