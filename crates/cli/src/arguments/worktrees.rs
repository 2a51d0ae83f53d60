//! The command line of worktrees and of going on with a run.

use crate::commands::kept::Keeping;
use crate::commands::restoring::Consent;
use checkrein_supervise::runs::Insistence;
use checkrein_worktree::Uncommitted;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct KeepingArguments {
    /// Work in a git worktree of this name, on a branch `checkrein/NAME`; in a copy where there is no repository.
    #[arg(long, value_name = "NAME")]
    worktree: Option<String>,
    /// Take files along that are in no commit: a path or a pattern such as `data/**/*.csv`; secrets only by their whole path.
    #[arg(long, value_name = "PATTERN", requires = "worktree")]
    carry: Vec<String>,
    /// Take along what is changed and not committed.
    #[arg(long, requires = "worktree")]
    carry_changes: bool,
    /// Go on with a run, by the beginning of its name; without one, with the newest here that can.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["profile", "carry", "carry_changes", "clean_environment"])]
    resume: Option<String>,
    /// Take over what another machine holds, when you know that it does not run there any more.
    #[arg(long)]
    take_over: bool,
}

impl From<KeepingArguments> for Keeping {
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
    /// List the worktrees that runs made of this project.
    #[command(after_help = "Example:\n  checkrein worktree list")]
    List,
    /// Show everything that a run changed: committed, not committed and new.
    #[command(
        after_help = "Examples:\n  checkrein worktree diff fix-12\n  checkrein worktree diff fix-12 --stat"
    )]
    Diff {
        /// The name of the worktree.
        name: String,
        /// Only which files, and how many lines.
        #[arg(long)]
        stat: bool,
    },
    /// Bring what a run changed into this work tree, as one change that is not committed. For people only.
    #[command(
        after_help = "Nothing is done when both sides changed the same, or when what would be changed has changes here that are not\ncommitted. What is there is saved first, so `checkrein undo` takes the merge back. Then the worktree goes; it is\nsaved too.\n\nExamples:\n  checkrein worktree merge fix-12\n  checkrein worktree merge fix-12 --yes --keep"
    )]
    Merge {
        /// The name of the worktree.
        name: String,
        /// Without asking.
        #[arg(long)]
        yes: bool,
        /// Bring changes of checkrein.yaml and of the settings of Claude Code too.
        #[arg(long)]
        with_guard_files: bool,
        /// Let the worktree stay.
        #[arg(long)]
        keep: bool,
    },
    /// Throw away what a run changed. For people only.
    #[command(
        after_help = "Everything is saved first: the files in a snapshot, the commits in a bundle.\n\nExample:\n  checkrein worktree discard fix-12"
    )]
    Discard {
        /// The name of the worktree.
        name: String,
        /// Without asking.
        #[arg(long)]
        yes: bool,
    },
}

/// Whether a person has said yes.
pub(crate) fn consent(yes: bool) -> Consent {
    if yes { Consent::Given } else { Consent::Ask }
}
