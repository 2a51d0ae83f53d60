//! What the interpretation has used up of its bounds.

use std::rc::Rc;

use checkrein_shell::Command;

use super::STEPS;

/// What the interpretation has used up of its bounds.
pub(crate) struct Budget {
    /// The steps that were taken.
    pub(crate) steps: usize,
    /// The step at which the innermost loop is cut short.
    pub(crate) limit: usize,
    /// The steps in code of other languages that were taken.
    pub(crate) code: usize,
    /// How many texts that are only looked over are around the present point.
    pub(crate) scanning: usize,
    /// How many steps were spent on looking over.
    pub(crate) scanned: usize,
    /// How many texts of the shell were looked over.
    pub(crate) scanned_texts: usize,
    /// The functions of which the bodies were looked over.
    pub(crate) scanned_functions: Vec<String>,
    /// The bodies of functions that are still to be looked over.
    pub(crate) waiting_functions: Vec<Rc<Command>>,
    /// How many trees are followed inside one another.
    pub(crate) depth: usize,
    /// Whether a budget is spent, so that nothing more is followed.
    pub(crate) exhausted: bool,
    /// How many calls are being followed inside one another: `command command rm x`.
    pub(crate) calls: usize,
    /// How many texts are being run inside one another.
    pub(crate) texts: usize,
    /// How many bytes of longer texts were kept in files and variables.
    pub(crate) kept: usize,
    /// How many bytes the texts of the effects take.
    pub(crate) told: usize,
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
            code: 0,
            scanning: 0,
            scanned: 0,
            scanned_texts: 0,
            scanned_functions: Vec::new(),
            waiting_functions: Vec::new(),
            depth: 0,
            exhausted: false,
            calls: 0,
            texts: 0,
            kept: 0,
            told: 0,
            substitutions: 0,
            guessing: false,
        }
    }
}
