//! What the interpretation found out so far.

use std::collections::HashMap;

use super::RunCommand;
use crate::effect::Effect;
use crate::prediction::LeftOpen;

/// What the interpretation found out so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The effects, in the order in which they would happen.
    pub(crate) effects: Vec<Effect>,
    /// Where an effect stands among them.
    pub(crate) known: HashMap<Effect, usize>,
    /// From which effect on an equal one is the same: what was there before may have been said of another place.
    pub(crate) apart_from: usize,
    /// Where effects stood that are told apart now.
    pub(crate) shadowed: Vec<(Effect, usize)>,
    /// What was not plain sailing, each one clause.
    pub(crate) problems: Vec<String>,
    /// Basenames of the programs that run, each once.
    pub(crate) programs: Vec<String>,
    /// Whether a program stays open that runs what is typed into it.
    pub(crate) left_open: LeftOpen,
    /// The calls of programs.
    pub(crate) commands: Vec<RunCommand>,
}
