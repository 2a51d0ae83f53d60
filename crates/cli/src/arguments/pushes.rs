//! The command line of the hook that looks at pushes.

use clap::{Args, Subcommand, ValueEnum};

use crate::commands::push_hook::PushRequest;
use checkrein_gates::Gate;

/// The gates that need nothing but the commits.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PushGateName {
    // Stubs, fake results, tests that prove nothing, dropped errors.
    Completeness,
    // Credentials in new lines.
    Secrets,
    // Imports and packages that do not exist.
    Phantoms,
    // New packages under licences that are not allowed.
    Licences,
}

impl From<PushGateName> for Gate {
    fn from(name: PushGateName) -> Self {
        match name {
            PushGateName::Completeness => Self::Completeness,
            PushGateName::Secrets => Self::Secrets,
            PushGateName::Phantoms => Self::Phantoms,
            PushGateName::Licences => Self::Licences,
        }
    }
}

/// Which gates look.
#[derive(Debug, Args)]
pub(crate) struct PushGates {
    /// Gate; repeatable [default: completeness and secrets]
    #[arg(long, value_name = "NAME", value_enum)]
    gate: Vec<PushGateName>,
}

impl From<PushGates> for Vec<Gate> {
    fn from(wanted: PushGates) -> Self {
        if wanted.gate.is_empty() {
            return vec![Gate::Completeness, Gate::Secrets];
        }
        wanted.gate.into_iter().map(Gate::from).collect()
    }
}

/// What to do with the hook of a repository.
#[derive(Debug, Subcommand)]
pub(crate) enum PushHookCommand {
    /// Have gates look at what is pushed from this repository (humans only)
    #[command(
        after_help = "Writes `pre-push` into the hooks of the repository, unless there is one of somebody else.\n\nExamples:\n  checkrein push-hook install\n  checkrein push-hook install --gate completeness --gate secrets --gate licences"
    )]
    Install(PushGates),
    /// Take that hook away (humans only)
    #[command(after_help = "Example:\n  checkrein push-hook remove")]
    Remove,
    /// Look at what git is about to push; git starts it
    #[command(
        after_help = "Reads on standard input what git gives a `pre-push` hook, and looks at exactly the commits that the remote does not have.\n\nExit status: 0 passed, 2 something was found or could not be looked at, 1 error. git pushes only on 0.\n\nExamples:\n  checkrein push-hook run -- \"$@\""
    )]
    Run {
        #[command(flatten)]
        gates: PushGates,
        /// Name of the remote, or its address where it has none
        #[arg(last = true, value_name = "REMOTE", required = true, num_args = 1..=2)]
        remote: Vec<String>,
    },
}

/// A request to look at a push.
pub(crate) fn push_request(gates: PushGates, remote: &[String]) -> PushRequest {
    PushRequest { gates: gates.into(), remote: remote.first().cloned().unwrap_or_default() }
}
