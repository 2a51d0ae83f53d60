//! The command line of worktrees and of going on with a run.

use crate::commands::restore::RestoreConsent;
#[cfg(target_os = "linux")]
use crate::commands::run::RunSessionOptions;
#[cfg(target_os = "linux")]
use checkrein_supervise::runs::Insistence;
#[cfg(target_os = "linux")]
use checkrein_worktree::Uncommitted;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct KeepingArguments {
    /// Work in a new git worktree, on the branch `checkrein/NAME`
    #[arg(long, value_name = "NAME")]
    worktree: Option<String>,
    /// Copy uncommitted files into it; secrets by whole path only
    #[arg(long, value_name = "PATTERN", requires = "worktree")]
    carry: Vec<String>,
    /// Copy all uncommitted changes into it
    #[arg(long, requires = "worktree")]
    carry_changes: bool,
    /// Continue a run, by the start of its name [default: the newest]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["profile", "carry", "carry_changes", "clean_environment"])]
    resume: Option<String>,
    /// Take over a run that stopped on another machine
    #[arg(long)]
    take_over: bool,
}

#[cfg(target_os = "linux")]
impl From<KeepingArguments> for RunSessionOptions {
    fn from(wanted: KeepingArguments) -> Self {
        Self {
            worktree: wanted.worktree,
            carry: wanted.carry,
            uncommitted: if wanted.carry_changes { Uncommitted::GoesAlong } else { Uncommitted::StaysBehind },
            resume: wanted.resume,
            insistence: if wanted.take_over { Insistence::TakeOver } else { Insistence::Respect },
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorktreeCommand {
    /// List the worktrees of this project
    #[command(after_help = "Example:\n  checkrein worktree list")]
    List,
    /// Show everything a run changed, committed or not
    #[command(
        after_help = "Examples:\n  checkrein worktree diff fix-12\n  checkrein worktree diff fix-12 --stat"
    )]
    Diff {
        /// Name of the worktree
        name: String,
        /// Show files and line counts only
        #[arg(long)]
        stat: bool,
    },
    /// Apply the changes of a run here, uncommitted (humans only)
    #[command(
        after_help = "Applies everything or nothing. It refuses when both sides changed the same lines, and when a file to change has uncommitted changes here. Saves the present state first, so that `checkrein undo` takes the merge back. Then it saves and removes the worktree.\n\nExamples:\n  checkrein worktree merge fix-12\n  checkrein worktree merge fix-12 --yes --keep"
    )]
    Merge {
        /// Name of the worktree
        name: String,
        /// Merge without asking
        #[arg(long)]
        yes: bool,
        /// Also apply changes to checkrein.yaml and client settings
        #[arg(long)]
        with_guard_files: bool,
        /// Keep the worktree
        #[arg(long)]
        keep: bool,
    },
    /// Remove the worktrees whose branches are merged (humans only)
    #[command(
        after_help = "A branch is merged when another branch, here or at a remote, has everything of it, also squashed or rebased. Saves everything first. `checkrein task` does this before it begins.\n\nExamples:\n  checkrein worktree clean --dry-run\n  checkrein worktree clean"
    )]
    Clean {
        /// List them; remove nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Discard the changes of a run (humans only)
    #[command(
        after_help = "Saves everything first: the files in a snapshot, the commits in a bundle.\n\nExample:\n  checkrein worktree discard fix-12"
    )]
    Discard {
        /// Name of the worktree
        name: String,
        /// Discard without asking
        #[arg(long)]
        yes: bool,
    },
}

/// Whether a user has said yes.
pub(crate) fn consent(yes: bool) -> RestoreConsent {
    if yes { RestoreConsent::Given } else { RestoreConsent::Ask }
}
