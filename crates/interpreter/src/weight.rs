//! What the interpretation holds, and what it costs to hold it twice.
//!
//! A state is copied wherever ways part and before each turn of a loop. A copy costs steps by its size, so that what grows in loops comes to
//! its bound sooner, and one budget bounds time and memory. Texts that are kept have a bound of their own: one beyond it is not known, which
//! weighs as the worst that it could be.

use super::call::Input;
use super::machine::Machine;
use super::overlay::Overlay;
use super::shell::{Shell, VariableContent};
use super::value::Value;

/// How many bytes of a state are copied for one step (ours).
const BYTES_OF_A_STEP: usize = 16 * 1024;

/// What an entry takes besides its texts, in bytes (ours).
pub(crate) const ENTRY: usize = 96;

/// How many bytes of texts are kept in files and variables, all that were ever put there counted (ours).
const KEPT: usize = 4 * 1024 * 1024;

/// Up to which length a text is always kept, in bytes (ours): names and numbers. The steps bound how many there are.
const SHORT: usize = 256;

impl Value {
    /// How many bytes its texts take.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Exact(text) | Self::Glob(text) => text.len(),
            Self::AnyOf(texts) => texts.iter().map(|text| text.len() + size_of::<String>()).sum(),
            Self::Between { prefix, suffix } => prefix.len() + suffix.len(),
            Self::Unknown => 0,
        }
    }
}

impl VariableContent {
    fn weight(&self) -> usize {
        match self {
            Self::Scalar(value) => value.weight(),
            Self::List(items) => items.values().map(|value| ENTRY + value.weight()).sum(),
            Self::Map(items) => items.iter().map(|(key, value)| ENTRY + key.len() + value.weight()).sum(),
            Self::Unknown | Self::Unset => 0,
        }
    }
}

impl Machine<'_> {
    /// Pays for a copy of the state: of the shell, of what was made, and of what is read.
    pub(super) fn pay_for_copy(&mut self) {
        if self.budget.scanning > 0 {
            return;
        }
        let input = match &self.input {
            Input::Text(value) => value.weight(),
            Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => 0,
        };
        let weight = shell(&self.shell) + Overlay::weight(&self.tree) + input;
        self.budget.steps = self.budget.steps.saturating_add(weight / BYTES_OF_A_STEP);
    }

    /// A text that is going to be kept, where there is room for it; else one of which nothing is known.
    pub(super) fn kept(&mut self, text: Value) -> Value {
        let weight = text.weight();
        if weight <= SHORT {
            return text;
        }
        self.budget.kept = self.budget.kept.saturating_add(weight);
        if self.budget.kept > KEPT { Value::Unknown } else { text }
    }

    /// The same of what a variable is given.
    pub(super) fn kept_content(&mut self, content: VariableContent) -> VariableContent {
        match content {
            VariableContent::Scalar(value) => VariableContent::Scalar(self.kept(value)),
            VariableContent::List(_)
            | VariableContent::Map(_)
            | VariableContent::Unknown
            | VariableContent::Unset => content,
        }
    }
}

/// What the variables and parameters of a shell take.
fn shell(shell: &Shell) -> usize {
    let variables = shell.variables.iter();
    let variables = variables.map(|(name, variable)| ENTRY + name.len() + variable.content.weight());
    let positional = shell.positional.iter().flatten().map(|value| ENTRY + value.weight());
    variables.chain(positional).sum()
}
