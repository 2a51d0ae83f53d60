//! What an interpretation comes to.

use checkrein_protocol::SecretMark;

use super::machine::RunCommand;
use crate::effect::Effect;

/// What an action would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prediction {
    /// The effects, in the order in which they would happen; stakes are set.
    pub effects: Vec<Effect>,
    /// What was not plain sailing while reading the action, each one clause.
    pub problems: Vec<String>,
    /// Basenames of the programs that run, each once, in order.
    pub programs: Vec<String>,
    /// The calls of programs, in order, as far as they are listed (at most 256).
    pub commands: Vec<RunCommand>,
    /// What changes about the places that hold secrets (at most 16).
    pub secret_marks: Vec<SecretMark>,
}
