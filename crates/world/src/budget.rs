//! How much may be looked at for one action.

use std::cell::Cell;

/// Counters that only fall. One world serves one action, so they are never filled up again.
#[derive(Debug)]
pub(crate) struct Budget {
    questions: Cell<usize>,
    bytes: Cell<u64>,
}

/// Questions to the file system for one action: about 20 ms of work (ours).
const QUESTIONS: usize = 10_000;
/// Bytes of file content read for one action (ours).
const BYTES: u64 = 16 * 1024 * 1024;

/// What is left of a budget is not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spent;

impl Budget {
    pub(crate) fn new() -> Self {
        Self { questions: Cell::new(QUESTIONS), bytes: Cell::new(BYTES) }
    }

    /// Takes one question to the file system.
    pub(crate) fn question(&self) -> Result<(), Spent> {
        let left = self.questions.get().checked_sub(1).ok_or(Spent)?;
        self.questions.set(left);
        Ok(())
    }

    /// Takes bytes of file content.
    pub(crate) fn bytes(&self, count: u64) -> Result<(), Spent> {
        let left = self.bytes.get().checked_sub(count).ok_or(Spent)?;
        self.bytes.set(left);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends() {
        let budget = Budget::new();
        assert_eq!(budget.bytes(BYTES), Ok(()));
        assert_eq!(budget.bytes(1), Err(Spent));
        let answered = (0..=QUESTIONS).filter(|_| budget.question().is_ok()).count();
        assert_eq!(answered, QUESTIONS);
    }
}
