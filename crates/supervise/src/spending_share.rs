//! How much of a budget is spent: the two steps at which a user is warned, and amounts in words.

/// A share of a budget at which a user is warned (ours).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpendingShare {
    /// Half of it.
    Half,
    /// Four fifths of it: what is left may not be enough to finish.
    FourFifths,
}

impl SpendingShare {
    /// In percent.
    pub fn percent(self) -> u64 {
        match self {
            Self::Half => 50,
            Self::FourFifths => 80,
        }
    }

    /// The greatest share that was reached when spending rose from `before` to `now`, of `limit`, all in US dollars. `None` where none was, and
    /// where the budget is used up, which is told by what stops then. So each share is reached once, as long as spending only rises.
    pub fn reached(before: f64, now: f64, limit: f64) -> Option<Self> {
        if limit <= 0.0 || now > limit {
            return None;
        }
        [Self::FourFifths, Self::Half].into_iter().find(|share| {
            let at = limit * share.percent() as f64 / 100.0;
            before < at && now >= at
        })
    }

    /// The share that spending stands at; `None` below the first one.
    pub fn of(spent: f64, limit: f64) -> Option<Self> {
        Self::reached(0.0, spent.min(limit), limit)
    }

    /// That it was reached, in words.
    pub fn in_words(self, spent: f64, limit: f64) -> String {
        format!("{} % of the budget is spent: {}", self.percent(), of_budget(spent, limit))
    }
}

/// What was spent of a budget, in words: `1.61 of 2.00 dollars`.
pub fn of_budget(spent: f64, limit: f64) -> String {
    let digits = digits(limit);
    format!("{spent:.digits$} of {limit:.digits$} dollars")
}

/// With how many digits amounts of a budget are told: two, but of a budget of less than ten cents these say nothing.
pub(crate) fn digits(limit: f64) -> usize {
    if limit < 0.1 { 4 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_share_is_reached_once() {
        use SpendingShare::{FourFifths, Half};
        let steps = [0.0, 0.9, 1.0, 1.2, 1.59, 1.6, 1.9, 2.0, 2.1];
        let reached: Vec<Option<SpendingShare>> =
            steps.windows(2).map(|pair| SpendingShare::reached(pair[0], pair[1], 2.0)).collect();
        assert_eq!(reached, [None, Some(Half), None, None, Some(FourFifths), None, None, None]);
        assert_eq!(SpendingShare::reached(0.1, 1.9, 2.0), Some(FourFifths), "both at once are told as one");
        assert_eq!(SpendingShare::reached(0.1, 2.5, 2.0), None, "what is used up is told by what stops");
        assert_eq!(SpendingShare::reached(0.0, 0.0, 0.0), None);
        assert_eq!(SpendingShare::of(5.0, 2.0), Some(FourFifths));
        assert_eq!(Half.in_words(1.006, 2.0), "50 % of the budget is spent: 1.01 of 2.00 dollars");
        assert_eq!(FourFifths.in_words(0.04, 0.05), "80 % of the budget is spent: 0.0400 of 0.0500 dollars");
    }
}
