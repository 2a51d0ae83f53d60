//! The page of sources: each thing that a source asks for, whether it is held, and the tests that hold it.
//!
//! The rows lie in `sources.tsv`: number, state, what is asked for, and the reason where no test holds all of it. A test says which rows it holds
//! by a comment above its attribute: `// Source: seed 001-72, 002-12`. So does a row in the tests of all settings (`row("step_reviewer.mode", ..)`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use xtask::root;

/// What a row begins with in a comment above a test.
const MARK: &str = "// Source: seed ";

/// How far something that a source asks for is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Held,
    Partly,
    Different,
    Unverified,
    NotYet,
}

impl State {
    const ALL: [Self; 5] = [Self::Held, Self::Partly, Self::Different, Self::Unverified, Self::NotYet];

    fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Partly => "partly",
            Self::Different => "different",
            Self::Unverified => "unverified",
            Self::NotYet => "not yet",
        }
    }

    /// What it means, for the page.
    fn meaning(self) -> &'static str {
        match self {
            Self::Held => "works as the source says",
            Self::Partly => "works as the source says but for what the row names",
            Self::Different => "we decided otherwise, for the reason that the row names",
            Self::Unverified => "was looked at once, and not compared since with what was built",
            Self::NotYet => "is not built",
        }
    }

    /// Whether a test may say that it holds a row of this state.
    fn may_have_tests(self) -> bool {
        match self {
            Self::Held | Self::Partly | Self::Different => true,
            Self::Unverified | Self::NotYet => false,
        }
    }

    /// Whether a row of this state needs a reason, whatever tests there are.
    fn needs_reason(self) -> bool {
        self != Self::Held
    }
}

/// One thing that a source asks for.
struct Asked {
    number: String,
    state: State,
    text: String,
    reason: String,
    /// The tests that hold it: name and file.
    tests: Vec<(String, String)>,
}

/// The page.
///
/// # Errors
///
/// A row has neither a test nor a reason, a mark names no row, or stands above no test.
pub(crate) fn page() -> Result<String, String> {
    let table = root().join("xtask/workbench/sources.tsv");
    let text = fs::read_to_string(&table).map_err(|error| format!("{}: {error}", table.display()))?;
    let mut rows = rows(&text)?;
    let mut files = Vec::new();
    for folder in ["crates", "xtask"] {
        rust_files(&root().join(folder), &mut files)?;
    }
    files.sort();
    for (path, text) in files {
        add_tests(&mut rows, &path, &text)?;
    }
    written(&rows)
}

fn rows(text: &str) -> Result<Vec<Asked>, String> {
    let row = |line: &str| {
        let parts: Vec<&str> = line.split('\t').collect();
        let [number, state, asked, reason] = parts[..] else {
            return Err(format!("`{line}` has not four columns"));
        };
        let state = State::ALL
            .into_iter()
            .find(|known| known.word() == state)
            .ok_or_else(|| format!("{number}: `{state}` is not a state"))?;
        let (text, reason) = (asked.to_owned(), reason.to_owned());
        Ok(Asked { number: number.to_owned(), state, text, reason, tests: Vec::new() })
    };
    text.lines().map(row).collect()
}

fn rust_files(folder: &Path, found: &mut Vec<(String, String)>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
            found.push((name, text));
        }
    }
    Ok(())
}

/// Takes up the tests of a file that say which rows they hold.
fn add_tests(rows: &mut [Asked], path: &str, text: &str) -> Result<(), String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for (place, numbers) in
        lines.iter().enumerate().filter_map(|(at, line)| Some((at, line.strip_prefix(MARK)?)))
    {
        let behind = lines.get(place + 1..).unwrap_or_default();
        let named = test_at(behind).ok_or_else(|| format!("{path}:{}: no test stands below", place + 1))?;
        for number in numbers.split(", ") {
            let row = rows
                .iter_mut()
                .find(|row| row.number == number)
                .ok_or_else(|| format!("{path}:{}: there is no row {number}", place + 1))?;
            row.tests.push((named.to_owned(), path.to_owned()));
        }
    }
    Ok(())
}

/// The name of the test that begins with these lines: of a function, or the key of a row in the tests of all settings.
fn test_at<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let (attribute, rest) = lines.split_first()?;
    if let Some(row) = attribute.strip_prefix("row(") {
        let key = if row.is_empty() { rest.first()? } else { row };
        return key.strip_prefix('"')?.split('"').next();
    }
    if *attribute != "#[test]" {
        return None;
    }
    // Further attributes may stand between.
    let named = rest.iter().find_map(|line| line.strip_prefix("fn "))?;
    named.split('(').next()
}

fn written(rows: &[Asked]) -> Result<String, String> {
    let mut page = "# What the sources ask for\n\n\
        [The sources](../sources.md) of Checkrein ask for these things, in our words. A row names the tests that hold it; a test\n\
        says so itself, in a comment above it. Where a row has no test, or not all of it works, it says why. Made by\n\
        `cargo xtask docs`, which fails when a row has neither a test nor a reason.\n\n\
        | state | means | rows |\n|---|---|---|\n"
        .to_owned();
    for state in State::ALL {
        let count = rows.iter().filter(|row| row.state == state).count();
        let _ = writeln!(page, "| {} | {} | {count} |", state.word(), state.meaning());
    }
    let mut by_seed: BTreeMap<&str, Vec<&Asked>> = BTreeMap::new();
    for row in rows {
        fault(row).map_or(Ok(()), Err)?;
        by_seed.entry(row.number.split('-').next().unwrap_or_default()).or_default().push(row);
    }
    for (seed, rows) in by_seed {
        let _ = write!(
            page,
            "\n## Seed {seed}\n\n| row | asks for | state | tests, and why |\n|---|---|---|---|\n"
        );
        for Asked { number, state, text, reason, tests } in rows {
            let mut why: Vec<String> =
                tests.iter().map(|(name, path)| format!("`{name}` ({path})")).collect();
            why.extend(Some(reason.clone()).filter(|reason| !reason.is_empty()));
            let _ = writeln!(page, "| {number} | {text} | {} | {} |", state.word(), why.join("; "));
        }
    }
    Ok(page)
}

/// What is wrong with a row.
fn fault(row: &Asked) -> Option<String> {
    let Asked { number, state, reason, tests, .. } = row;
    if tests.is_empty() && reason.is_empty() {
        return Some(format!("row {number} has neither a test nor a reason"));
    }
    if state.needs_reason() && reason.is_empty() {
        return Some(format!("row {number} is `{}` and does not say why", state.word()));
    }
    let says_otherwise = !state.may_have_tests() && !tests.is_empty();
    says_otherwise.then(|| format!("row {number} is `{}`, and a test says that it holds it", state.word()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]
mod tests {
    use super::*;

    const ROWS: &str = "001-1\theld\tone\t\n001-2\tnot yet\ttwo\tlater\n001-3\tpartly\tthree\tbut for this\n";

    fn made(files: &[&str]) -> Result<String, String> {
        let mut all = rows(ROWS)?;
        for text in files {
            add_tests(&mut all, "file.rs", text)?;
        }
        written(&all)
    }

    #[test]
    fn a_row_has_a_test_or_a_reason_and_a_mark_stands_above_a_test() {
        let good = "    // Source: seed 001-1, 001-3\n    #[test]\n    #[ignore]\n    fn it_holds() {}\n";
        let setting = "// Source: seed 001-1\nrow(\n\"step.mode\",\n";
        assert!(made(&[setting]).unwrap().contains("`step.mode` (file.rs)"));
        let page = made(&[good]).unwrap();
        assert!(page.contains("| 001-1 | one | held | `it_holds` (file.rs) |"), "{page}");
        assert!(page.contains("| 001-3 | three | partly | `it_holds` (file.rs); but for this |"), "{page}");
        assert!(made(&[]).unwrap_err().contains("001-1 has neither"));
        for (bad, why) in [
            ("// Source: seed 001-1\nfn it_holds() {}", "no test stands below"),
            ("// Source: seed 009-1\n#[test]\nfn it_holds() {}", "there is no row 009-1"),
            ("// Source: seed 001-2\n#[test]\nfn it_holds() {}", "001-2 is `not yet`"),
        ] {
            assert!(made(&[good, bad]).unwrap_err().contains(why), "{bad}");
        }
        assert!(rows("001-1\theld\tone").is_err() && rows("001-1\tdone\tone\t").is_err());
    }
}
