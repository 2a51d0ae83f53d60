//! What the interpretation has used up of its bounds.

use super::STEPS;

/// What the interpretation has used up of its bounds.
pub(crate) struct Budget {
    /// The steps that were taken.
    pub(crate) steps: usize,
    /// The step at which the innermost loop is cut short.
    pub(crate) limit: usize,
    /// How many texts that are only looked over are around the present point.
    pub(crate) scanning: usize,
    /// How many steps were spent on looking over.
    pub(crate) scanned: usize,
    /// How many texts of the shell were looked over.
    pub(crate) scanned_texts: usize,
    /// The functions of which the bodies were looked over.
    pub(crate) scanned_functions: Vec<String>,
    /// How many trees are followed inside one another.
    pub(crate) depth: usize,
    /// Whether a budget is spent, so that nothing more is followed.
    pub(crate) exhausted: bool,
    /// How many texts are being run inside one another.
    pub(crate) texts: usize,
    /// How many substitutions ran.
    pub(crate) substitutions: usize,
    /// Whether commands are being guessed from a text that could not be read.
    pub(crate) guessing: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: 0,
            limit: STEPS,
            scanning: 0,
            scanned: 0,
            scanned_texts: 0,
            scanned_functions: Vec::new(),
            depth: 0,
            exhausted: false,
            texts: 0,
            substitutions: 0,
            guessing: false,
        }
    }
}
