//! What did not work while a call was answered, and is neither a verdict nor a record: values for whoever asked, who may print them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How many are kept of one call (ours); the first ones say why the others came.
const MOST: usize = 64;

/// Something that did not work, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic(String);

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Where they are collected until somebody takes them; clones share one place.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics(Arc<Mutex<Vec<Diagnostic>>>);

impl Diagnostics {
    /// Adds one.
    pub fn add(&self, text: impl Into<String>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST {
            kept.push(Diagnostic(text.into()));
        }
    }

    /// Takes all of them away.
    pub fn take(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_one_place_and_it_is_bounded() {
        let one = Diagnostics::default();
        let other = one.clone();
        (0..1_000).for_each(|number| other.add(format!("{number}")));
        let taken = one.take();
        assert_eq!((taken.len(), taken[0].to_string().as_str()), (MOST, "0"));
        assert!(other.take().is_empty());
    }
}
