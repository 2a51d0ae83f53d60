//! The forms of commands from before there were nouns. They go on working, and no help shows them.

use checkrein_snapshot::SnapshotId;
use clap::{Args, Subcommand};

use super::nouns::{
    CloseArguments, DiffArguments, MarkArguments, NumberArguments, RecoverArguments, SessionCommand,
    SessionConsent, SnapshotCommand, SurpriseArguments,
};
use super::restoring::RestoreArguments;

#[derive(Debug, Subcommand)]
pub(crate) enum OldForm {
    /// `session list`, and whatever else `session` does
    #[command(hide = true)]
    Sessions {
        #[command(subcommand)]
        command: Option<SessionCommand>,
    },
    /// `snapshot list`
    #[command(hide = true)]
    Snapshots(NumberArguments),
    /// `snapshot diff`
    #[command(hide = true)]
    Diff(DiffArguments),
    /// `snapshot restore`, `session rollback`
    #[command(hide = true)]
    Rollback(RollbackArguments),
    /// `session recover`
    #[command(hide = true)]
    Recover(RecoverArguments),
    /// `run list`, `run verify`
    #[command(hide = true)]
    Runs {
        #[command(flatten)]
        number: NumberArguments,
        #[arg(long)]
        verify: bool,
    },
    /// `surprise list`
    #[command(hide = true)]
    Surprises(SurpriseArguments),
    /// `ticket list`, `ticket close`
    #[command(hide = true, args_conflicts_with_subcommands = true)]
    Reviews {
        #[arg(long)]
        open: bool,
        #[command(subcommand)]
        command: Option<OldReviewsForm>,
    },
    /// `issue mark`
    #[command(hide = true)]
    Mark(MarkArguments),
    /// `issue stats`
    #[command(hide = true)]
    Marks,
    /// `incident list`
    #[command(hide = true)]
    Incidents,
    /// `notice send`, `notice test`
    #[command(hide = true)]
    Notify {
        #[arg(long)]
        test: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum OldReviewsForm {
    /// `ticket close`
    Close(CloseArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RollbackArguments {
    snapshot: Option<SnapshotId>,
    #[arg(long, value_name = "NAME", requires = "before", conflicts_with_all = ["snapshot", "paths", "remove_new", "force", "with_guard_files"])]
    session: Option<String>,
    #[arg(long, value_name = "ACTION", requires = "session")]
    before: Option<String>,
    paths: Vec<String>,
    #[arg(long)]
    remove_new: bool,
    #[command(flatten)]
    consent: RestoreArguments,
}

impl RollbackArguments {
    /// The form of now; `None` where nothing is named to go back to, which the command line does not let pass.
    pub(crate) fn now(self) -> Option<RollbackForm> {
        let Self { snapshot, session, before, paths, remove_new, consent } = self;
        match (snapshot, session, before) {
            (_, Some(session), Some(before)) => {
                let consent = SessionConsent { yes: consent.yes, dry_run: consent.dry_run, remove_new };
                Some(RollbackForm::Session(SessionCommand::Rollback { session, before, consent }))
            }
            (Some(snapshot), _, _) => {
                let command = SnapshotCommand::Restore { snapshot, paths, remove_new, consent };
                Some(RollbackForm::Snapshot(command))
            }
            (None, _, _) => None,
        }
    }
}

/// What a rollback in its old form is now.
pub(crate) enum RollbackForm {
    /// `session rollback`
    Session(SessionCommand),
    /// `snapshot restore`
    Snapshot(SnapshotCommand),
}
