//! What is around the present point.

use crate::exit::Output;
use crate::handed_texts::HandedTexts;
use crate::overlay::Overlay;
use crate::shell::Speech;
use crate::speech::ShellUser;
use crate::whole_files::WholeFiles;

/// What is around the present point.
#[derive(Debug, Default)]
pub(crate) struct Position {
    /// How many undecided branches are around the present point.
    pub(crate) doubt: usize,
    /// How many of these are not followed with a state of their own, so that what they change is in doubt at once.
    pub(crate) unsure: usize,
    /// How many conditions are around the present point: failures in them do not end the shell.
    pub(crate) conditions: usize,
    /// How many conditions are around the substitution that is running, whose failures some shells overlook for that.
    pub(crate) outer_conditions: usize,
    /// Whether the text of the command is one line: a shell that gives up a line gives up all of it.
    pub(crate) one_line: bool,
    /// How many commands around the present point take in what is written.
    pub(crate) listening: usize,
    /// How many programs around the present point take in what is written for themselves, without a shell in between.
    pub(crate) telling: usize,
    /// How many other standard outputs than the first are in place around the present point.
    pub(crate) standard_outputs: usize,
    /// What was written to standard outputs that lie further out, with which of them.
    pub(crate) passed: Vec<(usize, Output)>,
    /// Whether what is written at the present point goes to `/dev/null`, unless something nearer takes it in.
    pub(crate) discarding: bool,
    /// How many redirections around the present point keep what is written in a file.
    pub(crate) keeping: usize,
    /// How many subshells are around the present point.
    pub(crate) subshells: usize,
    /// The tree at the beginning of the pipeline of which this is a later part: what the earlier ones changed since may not be done yet.
    pub(crate) before_pipeline: Option<Overlay>,
    /// The functions that are running, innermost last.
    pub(crate) calls: Vec<String>,
    /// Whether what is followed at the present point rests on something that is not there now.
    pub(crate) supposing: usize,
    /// How many commands that were left for the end of a shell are running.
    pub(crate) exiting: usize,
    /// How many commands around the present point are ended from outside after a while.
    pub(crate) limited: usize,
    /// The aliases that are being expanded.
    pub(crate) aliases_running: Vec<String>,
    /// The programs of the system that were found by their path and are being called: they are not looked for again.
    pub(crate) programs_found: Vec<String>,
    /// Files that pass from one command to the next as they are.
    pub(crate) whole: WholeFiles,
    /// Texts that pass from one command to the next in a form that is not worked out.
    pub(crate) handed: HandedTexts,
    /// What `sh` is taken for at the present point; `None` where it may be either.
    pub(crate) reads_as: Option<Speech>,
    /// Whom the shells that are started here are for.
    pub(crate) shell_user: ShellUser,
}
