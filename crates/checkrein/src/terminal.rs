//! What people see: standard output and error, colour, tables, questions.
//!
//! Results go to standard output, everything else to standard error. Colour only where a terminal reads and `NO_COLOR` is not set.

use std::env;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use checkrein_engine::diagnostics::Diagnostic;
pub use checkrein_engine::text::{counted, cut, plain};
use checkrein_review::VerdictKind;
use comfy_table::{ContentArrangement, Table, presets};

/// Writes a result. A reader that has gone away (`| head`) is no failure.
pub fn print(text: &str) {
    let mut output = io::stdout().lock();
    drop(
        output
            .write_all(text.as_bytes())
            .and_then(|()| if text.ends_with('\n') { Ok(()) } else { output.write_all(b"\n") }),
    );
}

/// Writes a remark for the person, or for the client's log.
pub fn log(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Writes down what did not work on the way.
pub fn log_all(diagnostics: &[Diagnostic]) {
    diagnostics.iter().for_each(|one| log(&format!("checkrein: {one}")));
}

/// Whether standard output is read by a person who sees colours.
pub fn has_colour() -> bool {
    io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The text in a style, where colours are seen.
pub fn styled(text: &str, style: Style) -> String {
    if has_colour() { format!("{}{text}{}", style.render(), style.render_reset()) } else { text.to_owned() }
}

/// Bold text.
pub fn bold(text: &str) -> String {
    styled(text, Style::new().bold())
}

/// Text that steps back.
pub fn dim(text: &str) -> String {
    styled(text, Style::new().dimmed())
}

/// The name of a verdict in its colour.
pub fn verdict(verdict: VerdictKind) -> String {
    let colour = match verdict {
        VerdictKind::Ok => AnsiColor::Green,
        VerdictKind::Nudge => AnsiColor::Cyan,
        VerdictKind::Escalate => AnsiColor::Yellow,
        VerdictKind::Block | VerdictKind::Halt => AnsiColor::Red,
    };
    styled(verdict.name(), Style::new().fg_color(Some(colour.into())).bold())
}

/// A mark that says whether something is well.
pub fn mark(well: Wellness) -> String {
    let (text, colour) = match well {
        Wellness::Well => ("ok", AnsiColor::Green),
        Wellness::Doubtful => ("--", AnsiColor::Yellow),
        Wellness::Broken => ("!!", AnsiColor::Red),
    };
    styled(text, Style::new().fg_color(Some(colour.into())).bold())
}

/// How something is found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wellness {
    /// As it should be.
    Well,
    /// Works, but a person should know.
    Doubtful,
    /// Does not protect.
    Broken,
}

/// A table with a head, as wide as the terminal allows.
pub fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(head.iter().map(|title| dim(title)));
    rows.into_iter().for_each(|row| {
        table.add_row(row);
    });
    table.trim_fmt()
}

/// Asks a person for yes or no; no when nobody can answer.
pub fn confirm(question: &str) -> bool {
    let input = io::stdin();
    if !input.is_terminal() {
        return false;
    }
    let mut error = io::stderr().lock();
    drop(write!(error, "{question} [y/N] ").and_then(|()| error.flush()));
    let mut line = String::new();
    input.lock().read_line(&mut line).is_ok() && matches!(line.trim(), "y" | "Y" | "yes" | "Yes")
}
