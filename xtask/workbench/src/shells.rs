//! Holds what is read of programs of the shell against what the real shells do with them.

#[path = "../../../crates/effects/tests/shells/oracle.rs"]
mod oracle;
#[path = "../../../crates/effects/tests/shells/programs.rs"]
mod programs;

use std::time::{Duration, Instant};

use xtask::Outcome;

/// `cargo xtask shells [--programs N | --minutes N] [--seed S] [--from N]`: makes programs by chance, lets bash and dash run them in a
/// scratch folder, and fails when one reaches what was not foreseen, or does not reach what was called certain.
pub(crate) fn shells(arguments: &[String]) -> Outcome {
    let number = |name: &str| -> Result<Option<u64>, String> {
        let Some(place) = arguments.iter().position(|argument| argument == name) else { return Ok(None) };
        let text = arguments.get(place + 1).ok_or_else(|| format!("`{name}` needs a number"))?;
        text.parse().map(Some).map_err(|_| format!("`{text}` is not a number"))
    };
    let (programs, minutes) = (number("--programs")?, number("--minutes")?);
    let seed = number("--seed")?.unwrap_or(1);
    let first = number("--from")?.unwrap_or(0);
    let programs = programs.or(if minutes.is_none() { Some(2000) } else { None });
    let end = minutes.map(|minutes| Instant::now() + Duration::from_secs(minutes * 60));
    let folder = tempfile::tempdir().map_err(|error| format!("cannot make a folder: {error}"))?;
    let more = |number: u64| {
        programs.is_none_or(|programs| number - first < programs)
            && end.is_none_or(|end| Instant::now() < end)
    };
    let count = oracle::run(folder.path(), seed, first, more)
        .map_err(|error| format!("cannot run the shells (bash and dash are needed): {error}"))?;
    println!(
        "{} programs, {} of them not read to the end, {} without an end in time, {} wrong",
        count.programs,
        count.unread,
        count.endless,
        count.reports.len()
    );
    for report in &count.reports {
        println!(
            "\n--- program {} ({:?}): {:?}\n{}",
            report.number, report.language, report.fault, report.text
        );
    }
    if count.reports.is_empty() { Ok(()) } else { Err(format!("{} readings are wrong", count.reports.len())) }
}
