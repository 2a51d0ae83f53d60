//! The command line of what puts files back.

use crate::commands::restore::{Changed, GuardPlaces, New, Permissions, RestoreConsent};
use checkrein_session::{NeedsYes, ResumeTerms};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    /// Start of the name of the action, the number of its snapshot, or LAST [default: the newest of all sessions]
    pub(crate) action: Option<String>,
    /// Restore for the last such action of this session: the start of its name, or LAST
    #[arg(long, value_name = "NAME", conflicts_with = "action")]
    pub(crate) session: Option<String>,
    /// Remove new files, except those that are older than the action or were made after it
    #[arg(long)]
    pub(crate) remove_new: bool,
    #[command(flatten)]
    pub(crate) consent: RestoreArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// Restore without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Show the changes only
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Also restore files modified since
    #[arg(long)]
    pub(crate) force: bool,
    /// Also restore `checkrein.yaml` and client settings (humans only)
    #[arg(long)]
    pub(crate) with_guard_files: bool,
}

impl RestoreArguments {
    pub(crate) fn consent(&self) -> RestoreConsent {
        match (self.yes, self.dry_run) {
            (true, _) => RestoreConsent::Given,
            (false, true) => RestoreConsent::ShowOnly,
            (false, false) => RestoreConsent::Ask,
        }
    }

    pub(crate) fn permissions(&self, remove_new: bool) -> Permissions {
        Permissions {
            consent: self.consent(),
            changed: if self.force { Changed::Overwrite } else { Changed::Keep },
            new: if remove_new { New::Remove } else { New::Keep },
            guard: if self.with_guard_files { GuardPlaces::PutBack } else { GuardPlaces::Spare },
        }
    }
}

/// How many calls and changes of files a session may still make that is resumed with limits, where no numbers are given (ours): a quarter of the
/// file operations that nobody's session may make (seed 004), and what these take.
const CALLS: u64 = 50;
const FILE_OPERATIONS: u64 = 25;

#[derive(Debug, Args)]
pub(crate) struct TermsArguments {
    /// Let it make 25 changes of files and 50 calls, then refuse
    #[arg(long)]
    with_limits: bool,
    /// Changes of files it may make from now on
    #[arg(long, value_name = "NUMBER")]
    file_operations: Option<u64>,
    /// Calls it may make from now on
    #[arg(long, value_name = "NUMBER")]
    calls: Option<u64>,
    /// Tokens it may use from now on
    #[arg(long, value_name = "NUMBER")]
    tokens: Option<u64>,
    /// Ask you about each of these: command, file_write, or an effect such as network_request; may be repeated
    #[arg(long, value_name = "KIND", value_parser = kind_of)]
    ask: Vec<NeedsYes>,
}

fn kind_of(word: &str) -> Result<NeedsYes, String> {
    NeedsYes::named(word).ok_or_else(|| "it is `command`, `file_write` or the name of an effect".to_owned())
}

impl From<TermsArguments> for ResumeTerms {
    fn from(arguments: TermsArguments) -> Self {
        let usual = |number: u64| arguments.with_limits.then_some(number);
        Self {
            calls: arguments.calls.or(usual(CALLS)),
            file_operations: arguments.file_operations.or(usual(FILE_OPERATIONS)),
            tokens: arguments.tokens,
            ask: arguments.ask,
        }
    }
}
