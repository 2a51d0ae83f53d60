//! Which step waits for which.

use std::collections::BTreeSet;

/// What each step of a pipeline waits for, by the places of the steps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepOrder {
    needs: Vec<Vec<usize>>,
    before: Vec<BTreeSet<usize>>,
}

impl StepOrder {
    /// From what each step needs directly.
    ///
    /// # Errors
    ///
    /// Steps that wait for each other: their places, in a circle.
    pub fn of(needs: Vec<Vec<usize>>) -> Result<Self, Vec<usize>> {
        let mut before: Vec<Option<BTreeSet<usize>>> = vec![None; needs.len()];
        loop {
            let settled = before.iter().filter(|one| one.is_some()).count();
            if settled == needs.len() {
                break;
            }
            for place in 0..needs.len() {
                if before.get(place).is_some_and(Option::is_some) {
                    continue;
                }
                let direct = needs.get(place).map(Vec::as_slice).unwrap_or_default();
                let above: Option<Vec<&BTreeSet<usize>>> =
                    direct.iter().map(|need| before.get(*need)?.as_ref()).collect();
                let all = above.map(|above| {
                    above.into_iter().flatten().copied().chain(direct.iter().copied()).collect()
                });
                if let (Some(all), Some(slot)) = (all, before.get_mut(place)) {
                    *slot = Some(all);
                }
            }
            if before.iter().filter(|one| one.is_some()).count() == settled {
                return Err(circle(&needs, &before));
            }
        }
        Ok(Self { needs, before: before.into_iter().flatten().collect() })
    }

    /// What a step waits for directly.
    pub fn needs(&self, step: usize) -> &[usize] {
        self.needs.get(step).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a step waits for another one, directly or not.
    pub fn waits_for(&self, step: usize, other: usize) -> bool {
        self.before.get(step).is_some_and(|before| before.contains(&other))
    }

    /// How many steps stand before it at least: those of one level can run at one time.
    pub fn level(&self, step: usize) -> usize {
        self.needs(step).iter().map(|need| self.level(*need) + 1).max().unwrap_or(0)
    }
}

/// The steps of one circle among those that could not be settled.
fn circle(needs: &[Vec<usize>], settled: &[Option<BTreeSet<usize>>]) -> Vec<usize> {
    let is_open = |place: &usize| settled.get(*place).is_some_and(Option::is_none);
    let Some(first) = (0..needs.len()).find(is_open) else { return Vec::new() };
    let mut walked = vec![first];
    let mut at = first;
    while let Some(next) = needs.get(at).and_then(|direct| direct.iter().copied().find(|need| is_open(need)))
    {
        if let Some(start) = walked.iter().position(|place| *place == next) {
            return walked.split_off(start);
        }
        walked.push(next);
        at = next;
    }
    walked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_wait_for_all_that_theirs_wait_for() {
        let order = StepOrder::of(vec![vec![], vec![0], vec![0], vec![1, 2]]).unwrap();
        assert!(order.waits_for(3, 0) && !order.waits_for(1, 2) && !order.waits_for(0, 3));
        assert_eq!([0, 1, 2, 3].map(|step| order.level(step)), [0, 1, 1, 2]);
    }

    #[test]
    fn a_circle_is_told() {
        assert_eq!(StepOrder::of(vec![vec![0]]), Err(vec![0]));
        assert_eq!(StepOrder::of(vec![vec![], vec![3, 0], vec![1], vec![2]]), Err(vec![1, 3, 2]));
    }
}
