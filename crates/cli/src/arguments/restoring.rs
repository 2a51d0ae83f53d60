//! The command line of what puts files back.

use crate::commands::restore::{Changed, GuardPlaces, New, Permissions, RestoreConsent};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    /// Start of the name of the action, or the number of its snapshot
    pub(crate) action: Option<String>,
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
