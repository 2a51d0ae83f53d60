//! What is known of the call that is running.

use crate::bounds::Bounds;
use crate::exit::Output;
use crate::path::AbsolutePath;
use crate::value::Value;

/// What is known of the call that is running.
pub struct RunningCall {
    /// The program that is running, for explanations.
    pub(crate) cause: String,
    /// What the running call has read so far.
    pub(crate) gathered: Output,
    /// What it wrote to its standard output by the path of that: `cp list /dev/stdout`.
    pub(crate) told: Output,
    /// Names of files that the running call was seen to print, of which patterns are known.
    pub(crate) named: Vec<Value>,
    /// Outputs of the substitutions in the words of the running command that are not text.
    pub(crate) substituted: Vec<Output>,
    /// The file of settings that these substitutions hand over, where they do nothing else.
    pub(crate) settings: Option<String>,
    /// Patterns of names outside the workspace that came as words, or on the input, to the calls around the running one: what is not known
    /// in it may be such a name.
    pub(crate) around: Vec<String>,
    /// How many programs are running for words that came out of an output of which nothing is known.
    pub(crate) from_output: usize,
    /// Words of the running command whose text is not sure, with the reason: variables that are not set, for instance.
    pub(crate) hollow: Vec<(Value, String)>,
    /// Patterns that nothing fits now, and that stand for nothing then.
    pub(crate) unmatched: Vec<Value>,
    /// Whether its words rest on what may be otherwise by then.
    pub(crate) rests_on_unseen: bool,
    /// Places to which the words of the present call only open the way for another program.
    pub(crate) opened: Vec<AbsolutePath>,
    /// What the kernel keeps the running command within; `None` when nothing does.
    pub bounds: Option<Bounds>,
    /// Whether a file is being opened only to add at its end.
    pub(crate) appending: bool,
    /// Whether an expansion failed, so that the command does not run.
    pub(crate) failed: bool,
    /// Whether that ends the shell, and not only the line: `${x:?}`, and what is not set under `set -u`.
    pub(crate) ends_shell: bool,
    /// Whether an arithmetic expression was in error.
    pub(crate) arithmetic_failed: bool,
}

impl Default for RunningCall {
    fn default() -> Self {
        Self {
            cause: String::new(),
            gathered: Output::Nothing,
            told: Output::Nothing,
            named: Vec::new(),
            substituted: Vec::new(),
            settings: None,
            around: Vec::new(),
            from_output: 0,
            hollow: Vec::new(),
            unmatched: Vec::new(),
            rests_on_unseen: false,
            opened: Vec::new(),
            bounds: None,
            appending: false,
            failed: false,
            ends_shell: false,
            arithmetic_failed: false,
        }
    }
}
