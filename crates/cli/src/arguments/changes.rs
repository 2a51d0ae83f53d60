//! The command line of change records.

use clap::{Args, Subcommand};

use crate::commands::change::{OpenRequest, RollbackWish, VerifyRequest};

/// What to do with changes of production.
#[derive(Debug, Subcommand)]
pub(crate) enum ChangeCommand {
    /// Open a change: predict what a command does to production, and keep how it is verified and taken back
    #[command(
        after_help = "Runs nothing. An agent may open a change; only a human approves it. The record holds the predicted effects: a command that would do anything else does not pass. The verification may only look.\n\n`--file` reads JSON: {\"issue\": \"OPS-12\", \"command\": \"...\", \"rollback\": [\"...\"], \"verify\": \"...\"}. `-` is standard input.\n\nExamples:\n  checkrein change open --issue OPS-12 --rollback 'helm rollback web' \\\n      --verify 'curl --fail https://example.com/health' \\\n      -- 'helm upgrade web ./chart --kube-context prod'\n  checkrein change open --file change.json"
    )]
    Open(ChangeOpenArguments),
    /// List the changes and how they stand
    #[command(
        after_help = "The newest change comes last.\n\nExamples:\n  checkrein change list\n  checkrein change list --json"
    )]
    List,
    /// Show a change: its blast radius, its verification, its rollback, and what was done
    #[command(after_help = "Example:\n  checkrein change show 4f3c9a")]
    Show {
        /// Start of the name of the change, or LAST
        change: String,
    },
    /// Let the command of a change pass once (humans only)
    #[command(
        after_help = "The approval is of exactly this command, where it was opened, while its effects and the files that it runs are the same. It is used up by one call, and ends after `--hours`.\n\nExamples:\n  checkrein change approve 4f3c9a\n  checkrein change approve 4f3c9a --hours 8 --yes"
    )]
    Approve {
        /// Start of the name of the change
        change: String,
        /// How long the command may wait for its call
        #[arg(long, value_name = "HOURS", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=72))]
        hours: u16,
        /// Answer the question with yes
        #[arg(long, short)]
        yes: bool,
    },
    /// Run the verification of a change that ran
    #[command(
        after_help = "On failure shows the rollback, and at a terminal offers to run it. `--yes` alone never runs it.\n\nExit status: 0 the verification succeeded, 2 it failed, 1 error.\n\nExamples:\n  checkrein change verify 4f3c9a\n  checkrein change verify 4f3c9a --rollback --yes"
    )]
    Verify(ChangeVerifyArguments),
    /// Take back a change that ran (humans only)
    #[command(
        after_help = "Runs the commands of the rollback in their order, up to the first that fails.\n\nExit status: 0 it is rolled back, 2 a command failed, 1 error.\n\nExamples:\n  checkrein change rollback 4f3c9a\n  checkrein change rollback 4f3c9a --yes"
    )]
    Rollback {
        /// Start of the name of the change
        change: String,
        /// How long each command may take
        #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u16).range(1..=3600))]
        timeout_seconds: u16,
        /// Answer the question with yes
        #[arg(long, short)]
        yes: bool,
    },
    /// Close a change (humans only)
    #[command(
        after_help = "A change that was not verified or taken back needs `--outcome`.\n\nExamples:\n  checkrein change close 4f3c9a\n  checkrein change close 4f3c9a --outcome 'not needed any more'"
    )]
    Close {
        /// Start of the name of the change, or LAST
        change: String,
        /// What came of it
        #[arg(long, value_name = "TEXT")]
        outcome: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ChangeOpenArguments {
    /// Where the change is tracked: a number, a link, a word
    #[arg(long, value_name = "REF", required_unless_present = "file")]
    issue: Option<String>,
    /// Command that takes the change back; repeatable, in their order
    #[arg(long, value_name = "COMMAND")]
    rollback: Vec<String>,
    /// Command that succeeds when the change works
    #[arg(long, value_name = "COMMAND")]
    verify: Option<String>,
    /// Read the change from a file of JSON
    #[arg(long, value_name = "FILE", conflicts_with_all = ["issue", "rollback", "verify", "words"])]
    file: Option<String>,
    /// The command, as one word or as several
    #[arg(last = true, value_name = "COMMAND")]
    words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ChangeVerifyArguments {
    /// Start of the name of the change
    change: String,
    /// How long the verification, and each command of the rollback, may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u16).range(1..=3600))]
    timeout_seconds: u16,
    /// Run the rollback if the verification fails (humans only)
    #[arg(long)]
    rollback: bool,
    /// Answer the question about the rollback with yes; only with `--rollback`
    #[arg(long, short)]
    yes: bool,
}

impl From<ChangeOpenArguments> for OpenRequest {
    fn from(wanted: ChangeOpenArguments) -> Self {
        match wanted.file {
            Some(file) => Self::File(file),
            None => Self::Words {
                issue: wanted.issue.unwrap_or_default(),
                command: wanted.words,
                rollback: wanted.rollback,
                verification: wanted.verify.unwrap_or_default(),
            },
        }
    }
}

impl From<ChangeVerifyArguments> for VerifyRequest {
    fn from(wanted: ChangeVerifyArguments) -> Self {
        Self {
            change: wanted.change,
            seconds: wanted.timeout_seconds,
            rollback: match (wanted.rollback, wanted.yes) {
                (true, true) => RollbackWish::Given,
                (true, false) => RollbackWish::Wanted,
                (false, true) => RollbackWish::Shown,
                (false, false) => RollbackWish::Offered,
            },
        }
    }
}
