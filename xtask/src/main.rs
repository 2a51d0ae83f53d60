//! Chores of the project.
//!
//! | command | does |
//! |---|---|
//! | `check` | everything that must hold before a change goes in: format, lints, tests, documents, dependencies, tidiness |
//! | `tidy` | of these the conventions that no compiler knows |
//! | `install` | builds both programs, installs them, wires the current project, shows a recorded session |
//! | `clients` | installs the real clients for the end-to-end tests into an ignored folder |
//! | `bench` | measures the promises of SPECIFICATION.md in one run |
//! | `docs` | writes the generated reference pages anew |
//! | `shells` | holds what is read of made-up programs of the shell against what bash and dash do with them |
//! | `order` | finds out which functions of the hook belong together, for its linker (needs valgrind) |

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the user who runs it")]

mod bench;
mod bench_snapshots;
mod build;
mod check;
mod clients;
mod docs;
mod install;
mod measure;
mod order;
mod pages;
mod shells;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What a chore ends with.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    let outcome = match arguments.first().map(String::as_str) {
        Some("check") => check::extent(rest).and_then(check::check),
        Some("tidy") => tidy::tidy(),
        Some("install") => install::install(rest),
        Some("clients") => clients::clients(),
        Some("bench") if cfg!(debug_assertions) => optimised("bench", rest),
        Some("bench") => bench::bench(rest),
        Some("docs") => docs::write(),
        Some("order") => order::order(),
        Some("shells") => shells::shells(rest),
        Some(other) => Err(format!(
            "no chore is called `{other}`; there are check, tidy, install, clients, bench, docs, order, shells"
        )),
        None => Err("name a chore: check, tidy, install, clients, bench, docs, order, shells".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("error: {cause}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a chore in a program that is built like the ones it measures.
fn optimised(chore: &str, arguments: &[String]) -> Outcome {
    run(cargo(&["run", "--quiet", "--release", "--package", "xtask", "--", chore]).args(arguments))
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// A cargo command in the repository.
fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    command
}

/// Runs a command to its end; an error names it when it fails.
fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}")) }
}
