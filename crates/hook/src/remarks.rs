//! What is said beside the answer: standard error, which clients keep in their logs.

use std::fmt::Display;
use std::io::{self, Write as _};

/// Writes a remark for the user, or for the client's log.
pub fn log(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Writes down what did not work on the way.
pub fn log_all(diagnostics: &[impl Display]) {
    diagnostics.iter().for_each(|one| log(&format!("checkrein: {one}")));
}
