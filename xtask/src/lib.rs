//! Chores of the project. Those that use its crates are in `workbench`.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the user who runs it")]

pub mod build;
mod check;
mod clients;
mod console;
mod install;
mod order;
mod pages;
mod suite;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What a chore ends with; an error says what failed.
pub type Outcome = Result<(), String>;

/// Runs the chore that the arguments name.
pub fn chore(arguments: &[String]) -> Outcome {
    let rest = arguments.get(1..).unwrap_or_default();
    match arguments.first().map(String::as_str) {
        Some("check") => check::extent(rest).and_then(check::check),
        Some("tidy") => tidy::tidy(),
        Some("install") => install::install(rest),
        Some("clients") => clients::clients(rest),
        Some("console") => console::console(rest),
        // Measured is what is built like the programs it measures.
        Some("bench") => workbench(&["--release"], arguments),
        Some("docs" | "pictures" | "shells" | "stubs" | "recall" | "observe") => workbench(&[], arguments),
        Some("order") => order::order(),
        Some("release") => run(cargo(&["run", "--quiet", "--package", "release", "--"]).args(rest)),
        Some(other) => Err(format!(
            "no chore is called `{other}`; there are check, tidy, install, clients, console, bench, docs, observe, order, pictures, recall, release, shells, stubs"
        )),
        None => {
            Err("name a chore: check, tidy, install, clients, console, bench, docs, observe, order, pictures, recall, release, shells, stubs"
                .to_owned())
        }
    }
}

/// The exit code of a chore, with its error told on standard error.
pub fn ended(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("error: {cause}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// A cargo command in the repository.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    command
}

/// Runs a command to its end; an error names it when it fails.
pub fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}")) }
}

/// Runs a chore that uses the crates of the project.
fn workbench(options: &[&str], chore: &[String]) -> Outcome {
    let mut command = cargo(&["run", "--quiet", "--package", "workbench"]);
    run(command.args(options).arg("--").args(chore))
}
