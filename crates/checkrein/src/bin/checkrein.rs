//! The full program.

use std::process::ExitCode;

fn main() -> ExitCode {
    checkrein_cli::run()
}
