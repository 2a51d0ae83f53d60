//! What is said beside the answer: standard error, which clients keep in their logs.

use std::io::{self, Write as _};

use checkrein_engine::diagnostics::Diagnostic;

/// Writes a remark for the user, or for the client's log.
pub fn log(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Writes down what did not work on the way.
pub fn log_all(diagnostics: &[Diagnostic]) {
    diagnostics.iter().for_each(|one| log(&format!("checkrein: {one}")));
}
