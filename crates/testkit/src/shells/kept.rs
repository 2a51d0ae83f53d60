//! A fault as a page of cases, which is kept once the reading is mended.

use std::fmt::Write as _;

use super::judge::{Report, ShellFault};
use super::scene;

/// The page: what happened, the scene, the program, and what has to follow.
pub fn page(report: &Report) -> String {
    let shell = report.shell.name();
    let mut page = format!("# A program of {shell}\n\n```world\n{}```\n\n", scene::described());
    let expected = match &report.fault {
        ShellFault::Missed(missed) => {
            let _ = writeln!(page, "{shell} does more than was foreseen: {}.\n", missed.join(", "));
            missed.iter().map(|name| line_for(name)).collect::<Vec<_>>().join("\n")
        }
        ShellFault::Invented(invented) => {
            let _ = writeln!(page, "{shell} does not do what was called certain: {}.\n", invented.join(", "));
            String::new()
        }
    };
    let fence = if report.text.contains("```") { "````" } else { "```" };
    let _ = write!(
        page,
        "{fence}sh\n{}\n{fence}\n{fence}expect\nok\n{expected}{}{fence}\n\nForeseen was:\n\n{}\n",
        report.shell.carrying(&report.text),
        if expected.is_empty() { "" } else { "\n" },
        report.foreseen.iter().fold(String::new(), |all, line| all + "    " + line + "\n"),
    );
    page
}

fn line_for(name: &str) -> String {
    match name.strip_prefix("without ") {
        Some(name) => format!("file_delete ./{name}"),
        None => format!("file_create ./{name}"),
    }
}
