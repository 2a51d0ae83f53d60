//! The gate of implementations: what a design names against what changed, and whether tests ran and passed since.

use crate::design::{DesignChange, DesignFile};
use crate::finding::{FindingKind, FindingWeight, GateFinding};

/// A file that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathChange<'a> {
    /// Its path from the root of the work tree.
    pub path: &'a str,
    /// What became of it.
    pub change: DesignChange,
}

/// Which tests a call of a runner selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestSelection {
    /// The runner, or the module that runs them.
    runner: String,
    /// Options that may select or leave out.
    options: Vec<String>,
    /// Paths and names; all tests where there are none.
    operands: Vec<String>,
    /// The call as it was.
    text: String,
}

/// Options of runners that change only what is printed.
const PRINTING: [&str; 16] = [
    "--",
    "--color",
    "--disable-warnings",
    "--no-header",
    "--no-summary",
    "--nocapture",
    "--quiet",
    "--reporter",
    "--silent",
    "--tb",
    "--verbose",
    "-q",
    "-qq",
    "-s",
    "-v",
    "-vv",
];

impl TestSelection {
    /// The selection of a call by its program and the words behind it.
    pub fn of(program: &str, words: &[String]) -> Self {
        let text =
            std::iter::once(program).chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        // `python -m pytest`, `uv run pytest`: what is behind it runs them.
        let is_starter = |word: &str| word.starts_with("python") || ["uv", "poetry"].contains(&word);
        let (runner, words) = match words.iter().position(|word| !word.starts_with('-') && word != "run") {
            Some(place) if is_starter(program) => {
                (words.get(place).map_or(program, String::as_str), words.get(place + 1..).unwrap_or_default())
            }
            Some(_) | None => (program, words),
        };
        let (options, operands): (Vec<&String>, Vec<&String>) =
            words.iter().partition(|word| word.starts_with('-'));
        let selects = |option: &&String| !PRINTING.contains(&option.split('=').next().unwrap_or_default());
        let is_all = |word: &&String| ["./...", ".", "--workspace", "--all"].contains(&word.as_str());
        Self {
            runner: runner.to_owned(),
            options: options.into_iter().filter(selects).filter(|word| !is_all(word)).cloned().collect(),
            operands: operands.into_iter().filter(|word| !is_all(word)).cloned().collect(),
            text,
        }
    }

    /// Whether this selects all that another one does, as far as words tell.
    fn covers(&self, other: &Self) -> bool {
        let narrows = self.options.iter().any(|option| !other.options.contains(option));
        let own: Vec<&String> = self.operands.iter().filter(|word| *word != "test").collect();
        let is_among = |word: &String| own.contains(&word) || word == "test";
        let misses = !own.is_empty()
            && (other.operands.iter().all(|word| word == "test") || !other.operands.iter().all(is_among));
        self.runner == other.runner && !narrows && !misses
    }
}

/// A run of tests that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRun {
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// How many tests passed.
    pub passed: u32,
    /// How many failed.
    pub failed: u32,
    /// How the command ended.
    pub end: CommandEnd,
    /// What it selected; `None` where it does not count: another command printed too, or the runner may be another program than it is called.
    pub selected: Option<Vec<TestSelection>>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// Without an error.
    Done,
    /// With one.
    Failed,
}

/// The files of a design that did not change as it says. `means` tells whether a pattern of the design means a path.
pub fn undone_files(
    files: &[DesignFile],
    changed: &[PathChange<'_>],
    means: impl Fn(&str, &str) -> bool,
) -> Vec<GateFinding> {
    let judge = |file: &DesignFile| {
        let own: Vec<DesignChange> = changed
            .iter()
            .filter(|change| means(&file.path, change.path))
            .map(|change| change.change)
            .collect();
        let is_gone = own.iter().all(|change| *change == DesignChange::Removed);
        let words = match file.change {
            _ if own.is_empty() => format!("`{}` did not change", file.path),
            DesignChange::Removed if !is_gone => {
                format!("`{}` is to be removed and is there", file.path)
            }
            DesignChange::Added | DesignChange::Changed if is_gone => format!("`{}` is gone", file.path),
            DesignChange::Added | DesignChange::Changed | DesignChange::Removed | DesignChange::Unsaid => {
                return None;
            }
        };
        Some(GateFinding::at(file.line, FindingKind::DesignNotDone, FindingWeight::Error, &words))
    };
    files.iter().filter_map(judge).collect()
}

/// The finding about a file that changed and that the design does not name.
pub fn not_in_design(path: &str, design: &str) -> GateFinding {
    let words = format!("{path} is not among the files of `{design}`");
    GateFinding::of_file(FindingKind::NotInDesign, FindingWeight::Error, &words)
}

/// What recorded runs of tests say about a change that was made at a time, in milliseconds since 1970. The last run that began after it
/// decides, and what failed before has to be seen to pass.
pub fn examine_runs(changed_at: u64, runs: &[TestRun]) -> Option<GateFinding> {
    let finding = |kind, words: &str| Some(GateFinding::at(1, kind, FindingWeight::Error, words));
    let mut counted: Vec<&TestRun> = runs.iter().filter(|run| run.selected.is_some()).collect();
    counted.sort_by_key(|run| run.began);
    let since = counted.iter().rev().find(|run| run.began >= changed_at);
    match since {
        None if runs.iter().any(|run| run.began >= changed_at) => finding(
            FindingKind::TestsNotSeen,
            "another command printed in each recorded run since the last change, or the runner may be another program",
        ),
        None if runs.is_empty() => finding(FindingKind::TestsNotSeen, "no run of tests is on record"),
        None => {
            finding(FindingKind::TestsNotSeen, "the last recorded run of tests began before the last change")
        }
        Some(run) if has_failed(run) => {
            let words = format!("{} passed, {} failed in the last recorded run", run.passed, run.failed);
            finding(FindingKind::TestsFailed, &words)
        }
        Some(run) if run.passed == 0 => {
            finding(FindingKind::TestsNotSeen, "no test passed in the last recorded run")
        }
        Some(_) => {
            let failed = still_failed(&counted)?;
            let words = format!("`{}` failed, and no run of all of it passed since", failed.text);
            finding(FindingKind::TestsFailed, &words)
        }
    }
}

fn has_failed(run: &TestRun) -> bool {
    run.failed > 0 || run.end == CommandEnd::Failed
}

/// What failed and was not seen to pass since, of runs in their order.
fn still_failed<'r>(runs: &[&'r TestRun]) -> Option<&'r TestSelection> {
    let mut open: Vec<&TestSelection> = Vec::new();
    for run in runs {
        let selected = run.selected.as_deref().unwrap_or_default();
        if has_failed(run) {
            open.extend(selected);
        } else if run.passed > 0 {
            open.retain(|failed| !selected.iter().any(|one| one.covers(failed)));
        }
    }
    open.first().copied()
}

/// Programs that run tests.
const RUNNERS: [&str; 38] = [
    "ava",
    "bazel",
    "bun",
    "bundle",
    "cargo",
    "cargo-nextest",
    "composer",
    "ctest",
    "deno",
    "dotnet",
    "go",
    "gotestsum",
    "gradle",
    "gradlew",
    "jest",
    "just",
    "make",
    "mix",
    "mocha",
    "mvn",
    "mvnw",
    "ninja",
    "nox",
    "npm",
    "npx",
    "phpunit",
    "playwright",
    "pnpm",
    "prove",
    "pytest",
    "rake",
    "rspec",
    "swift",
    "tap",
    "task",
    "tox",
    "vitest",
    "yarn",
];

/// Programs that pass on or print what somebody else wrote.
const PRINTERS: [&str; 22] = [
    "[", "awk", "bash", "cat", "cd", "cut", "echo", "env", "exit", "false", "grep", "head", "printf", "sed",
    "seq", "sh", "sleep", "sort", "tail", "tee", "test", "true",
];

/// Whether all programs of a command are of the kind that only prints, so that none of them can have run tests. Of a command whose programs
/// are not known nothing is said.
pub fn only_prints(programs: &[String]) -> bool {
    !programs.is_empty() && programs.iter().all(|program| PRINTERS.contains(&program.as_str()))
}

/// Whether a call runs tests, by its programs and its text: what a text only prints is no run.
pub fn runs_tests(programs: &[String], command: &str) -> bool {
    let is_runner = |program: &String| {
        RUNNERS.contains(&program.as_str())
            || (program.starts_with("py.test") || program.starts_with("pytest"))
    };
    let is_python =
        |program: &String| program.starts_with("python") || program == "uv" || program == "poetry";
    let has = |words: &str| command.contains(words);
    let by_python = has("-m pytest")
        || has("-m unittest")
        || has("-m nose2")
        || has("manage.py test")
        || has("run pytest");
    let by_node = has("--test") && programs.iter().any(|program| program == "node");
    programs.iter().any(is_runner) || (programs.iter().any(is_python) && by_python) || by_node
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(began: u64, passed: u32, failed: u32) -> TestRun {
        TestRun { began, passed, failed, end: CommandEnd::Done, selected: Some(selected("pytest -q")) }
    }

    fn selected(call: &str) -> Vec<TestSelection> {
        let words: Vec<String> = call.split(' ').map(str::to_owned).collect();
        vec![TestSelection::of(&words[0], &words[1..])]
    }

    #[test]
    fn the_last_run_since_the_change_decides() {
        let kind = |runs: &[TestRun]| examine_runs(100, runs).map(|finding| finding.kind.name());
        assert_eq!(kind(&[]), Some("tests_not_seen"));
        assert_eq!(kind(&[run(99, 3, 0)]), Some("tests_not_seen"), "before the change");
        assert_eq!(kind(&[run(99, 3, 0), run(100, 3, 0)]), None);
        assert_eq!(kind(&[run(120, 3, 0), run(110, 2, 1)]), None, "whatever their order");
        assert_eq!(kind(&[run(110, 3, 0), run(120, 2, 1)]), Some("tests_failed"));
        assert_eq!(kind(&[TestRun { end: CommandEnd::Failed, ..run(110, 3, 0) }]), Some("tests_failed"));
        assert_eq!(kind(&[run(110, 0, 0)]), Some("tests_not_seen"));
    }

    #[test]
    fn a_failed_test_stays_failed_until_it_is_seen_to_pass() {
        let last = |failed: &str, passed: &str| {
            let first = TestRun { selected: Some(selected(failed)), ..run(110, 2, 1) };
            let second = TestRun { selected: Some(selected(passed)), ..run(120, 3, 0) };
            examine_runs(100, &[first, second]).map(|finding| finding.kind.name())
        };
        for (failed, passed) in [
            ("pytest -q", "pytest -v"),
            ("pytest -q", "python3 -m pytest"),
            ("pytest t/a.py", "pytest"),
            ("pytest t/a.py", "pytest t/a.py t/b.py"),
            ("pytest -k add", "pytest"),
            ("cargo test -p a", "cargo test"),
            ("go test ./a", "go test ./..."),
            ("npm test", "npm test"),
        ] {
            assert_eq!(last(failed, passed), None, "{failed}, then {passed}");
        }
        for (failed, passed) in [
            ("pytest -q", "pytest -q t/a.py::test_a"),
            ("pytest", "pytest -k add"),
            ("pytest", "pytest --deselect t/a.py"),
            ("pytest t/a.py", "pytest t/b.py"),
            ("cargo test", "cargo test adds"),
            ("pytest", "npm test"),
        ] {
            assert_eq!(last(failed, passed), Some("tests_failed"), "{failed}, then {passed}");
        }
        // Before the last change, too: it failed then.
        let before = run(50, 2, 1);
        let after = TestRun { selected: Some(selected("pytest t/a.py")), ..run(120, 3, 0) };
        assert!(examine_runs(100, &[before, after]).is_some());
        // What does not count is no result.
        let beside = TestRun { selected: None, ..run(120, 3, 0) };
        assert_eq!(examine_runs(100, &[beside]).map(|one| one.kind.name()), Some("tests_not_seen"));
    }

    #[test]
    fn files_must_change_as_the_design_says() {
        let file = |path: &str, change| DesignFile { path: path.to_owned(), change, line: 1 };
        let changed = [
            PathChange { path: "a.rs", change: DesignChange::Changed },
            PathChange { path: "b.rs", change: DesignChange::Removed },
        ];
        let words = |path: &str, change| -> Vec<String> {
            let findings = undone_files(&[file(path, change)], &changed, |pattern, path| pattern == path);
            findings.into_iter().map(|finding| finding.text).collect()
        };
        assert!(
            words("a.rs", DesignChange::Changed).is_empty()
                && words("b.rs", DesignChange::Removed).is_empty()
        );
        assert_eq!(words("c.rs", DesignChange::Unsaid), ["`c.rs` did not change"]);
        assert_eq!(words("a.rs", DesignChange::Removed), ["`a.rs` is to be removed and is there"]);
        assert_eq!(words("b.rs", DesignChange::Changed), ["`b.rs` is gone"]);
    }

    #[test]
    fn what_only_prints_runs_no_tests() {
        let programs = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(runs_tests(&programs(&["cargo"]), "cargo test"));
        assert!(runs_tests(&programs(&["python3"]), "python3 -m pytest -q"));
        assert!(!runs_tests(&programs(&["echo"]), "echo 'test result: ok. 3 passed; 0 failed'"));
        assert!(!runs_tests(&programs(&["python3"]), "python3 -c 'print(\"3 passed\")'"));
    }
}
