//! What the end of a test run means, and what to do next (upstream 3.9), and when to stop trying (seed 004: two strikes).
//!
//! By exit status first, since prose lies: a status says which kind of failure it was, the output only how far it got.

mod escapes;
mod sums;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::{Deserialize, Serialize};

/// Who runs the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestRunner {
    /// `pytest`.
    Pytest,
    /// `cargo test`.
    Cargo,
    /// `go test`.
    Go,
    /// `jest`.
    Jest,
    /// `python -m unittest`.
    Unittest,
    /// Something that runs tests, and nobody says what: the sums tell, in the forms that are usual.
    Unknown,
    /// Any other command: only its status and how alike its outputs are.
    Any,
}

/// What is expected of the tests at this point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// That they fail, since the code is not there yet.
    Red,
    /// That they pass.
    #[default]
    Green,
}

/// What kind of end it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestFailureKind {
    /// Every test passed.
    None,
    /// Tests failed.
    Tests,
    /// Something besides the tests asked for more, such as coverage.
    Gate,
    /// The tests could not be read or built.
    Build,
    /// There was no test.
    NoTests,
    /// The status says that everything passed, and no test was seen to.
    Doubt,
    /// The runner was called wrongly.
    Usage,
    /// Somebody interrupted it.
    Interrupted,
    /// It took too long.
    Time,
    /// The runner itself broke, or was killed.
    Runner,
    /// A command failed, and nothing more is known.
    Command,
    /// The provider of the model is busy (status 92).
    Provider,
    /// What is asked for contradicts itself (status 93).
    Conflict,
    /// A user stopped it (status 94).
    Killed,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Go on: this is done.
    GoOn,
    /// Work on the code.
    Implement,
    /// Work on the tests themselves: what they import, where they are.
    Scaffold,
    /// Stop: trying again changes nothing.
    Stop,
    /// Wait, and then try the same again.
    Wait,
}

/// What is made of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// What kind of end it was.
    pub failure: TestFailureKind,
    /// What to do next.
    pub next: Next,
    /// Tests that passed, where the output tells.
    pub passed: Option<u64>,
    /// Tests that failed, where the output tells.
    pub failed: Option<u64>,
    /// Tests that were skipped or not selected, where the output tells.
    #[serde(default)]
    pub left_out: Option<u64>,
    /// Tests that failed, by name and in order, where the output tells; the first 100.
    #[serde(default)]
    pub failing: Vec<String>,
    /// Runs in a row that came out the same, this one included.
    pub same: u32,
    /// Marks of the lines of the output, of a command that is no known runner.
    #[serde(default)]
    lines: BTreeSet<u64>,
}

/// How many names and lines are kept (ours).
const NAMES: usize = 100;
const LINES: usize = 400;

/// Lines shorter than this say nothing of their own (upstream 3.8: 10).
const SHORTEST: usize = 10;

/// From which share of equal lines on two outputs are the same (upstream 3.8: similarity of texts).
const ALIKE: f64 = 0.8;

/// How many equal runs are too many: two when nothing passes, three when something does (seed 004, upstream 3.8).
fn strikes(passed: Option<u64>) -> u32 {
    if passed.unwrap_or(0) == 0 { 2 } else { 3 }
}

impl Route {
    /// From the exit status, `None` when time ran out, and the output. `before` is what was made of the run before this one.
    pub fn of(
        runner: TestRunner,
        phase: Phase,
        status: Option<u8>,
        output: &str,
        before: Option<&Self>,
    ) -> Self {
        let output = &*escapes::without(output);
        let (passed, failed) = counts(runner, output);
        let failure = failure(runner, status, (passed, failed), output);
        let mut route = Self {
            failure,
            next: next(failure, phase),
            passed,
            failed,
            left_out: left_out(runner, output),
            failing: failing(runner, output),
            same: 1,
            lines: match runner {
                TestRunner::Any | TestRunner::Unknown => marks(output),
                TestRunner::Pytest
                | TestRunner::Cargo
                | TestRunner::Go
                | TestRunner::Jest
                | TestRunner::Unittest => BTreeSet::new(),
            },
        };
        if let Some(before) =
            before.filter(|before| failure != TestFailureKind::None && route.is_like(before))
        {
            route.same = before.same.saturating_add(1);
        }
        if route.same >= strikes(passed) && route.next != Next::Wait {
            route.next = Next::Stop;
        }
        route
    }

    /// Whether this run came out as the one before: which tests failed tells more than how many, and where nothing is known of tests, what
    /// was written.
    fn is_like(&self, before: &Self) -> bool {
        if self.failure != before.failure {
            return false;
        }
        if !self.failing.is_empty() || !before.failing.is_empty() {
            return self.failing == before.failing && self.passed == before.passed;
        }
        if !self.lines.is_empty() || !before.lines.is_empty() {
            let shared = self.lines.intersection(&before.lines).count() as f64;
            return shared > ALIKE * self.lines.len().max(before.lines.len()) as f64;
        }
        (before.passed, before.failed) == (self.passed, self.failed)
    }

    /// The advice in words.
    pub fn advice(&self) -> &'static str {
        if self.same > 1 && self.next == Next::Stop {
            return "the same result again: stop and find out why, another try of the same kind changes nothing";
        }
        if self.same > 1 && self.failure == TestFailureKind::Tests && !self.failing.is_empty() {
            return "the same tests fail as before: leave the tests as they are and change only the code";
        }
        match self.failure {
            TestFailureKind::None if self.next == Next::Stop => {
                "everything passes before anything was done: it is there already, or the tests ask for nothing"
            }
            TestFailureKind::None => "everything passed: go on",
            TestFailureKind::Tests => "tests failed: work on the code",
            TestFailureKind::Gate => {
                "no test failed, something else asked for more, such as coverage: work on that"
            }
            TestFailureKind::Build => "the tests could not be read or built: mend what they import and name",
            TestFailureKind::Doubt => {
                "its status says that everything passed, but no test was seen to pass: look at what really ran"
            }
            TestFailureKind::NoTests => "there was no test: write it, or mend where it is looked for",
            TestFailureKind::Usage => {
                "the runner is not there, or was called wrongly: install it, or mend the call"
            }
            TestFailureKind::Interrupted => "it was interrupted: stop",
            TestFailureKind::Time => {
                "it took too long, perhaps without end: stop and look for what waits or loops"
            }
            TestFailureKind::Runner => "the runner itself broke: stop and look at its output",
            TestFailureKind::Command => "it failed: work on what its output names",
            TestFailureKind::Provider => {
                "the provider is busy: wait 15 minutes, then 30, then 60, and try the same again"
            }
            TestFailureKind::Conflict => "what is asked for contradicts itself: the user has to decide",
            TestFailureKind::Killed => "the user stopped it: stop",
        }
    }
}

fn next(failure: TestFailureKind, phase: Phase) -> Next {
    match (failure, phase) {
        (TestFailureKind::None, Phase::Green) => Next::GoOn,
        (TestFailureKind::Tests | TestFailureKind::Gate | TestFailureKind::Command, _) => Next::Implement,
        (
            TestFailureKind::Build
            | TestFailureKind::NoTests
            | TestFailureKind::Doubt
            | TestFailureKind::Usage,
            _,
        ) => Next::Scaffold,
        (TestFailureKind::Provider, _) => Next::Wait,
        // A test that passes before anything was written (upstream 3.9): what it asks for is there already.
        (TestFailureKind::None, Phase::Red)
        | (
            TestFailureKind::Interrupted
            | TestFailureKind::Time
            | TestFailureKind::Runner
            | TestFailureKind::Conflict
            | TestFailureKind::Killed,
            _,
        ) => Next::Stop,
    }
}

fn failure(
    runner: TestRunner,
    status: Option<u8>,
    (passed, failed): (Option<u64>, Option<u64>),
    output: &str,
) -> TestFailureKind {
    let Some(status) = status else { return TestFailureKind::Time };
    let tests = if failed == Some(0) { TestFailureKind::Gate } else { TestFailureKind::Tests };
    let says = |words: &str| output.contains(words);
    match (runner, status) {
        (TestRunner::Jest, 0 | 1) if says("No tests found") => TestFailureKind::NoTests,
        (TestRunner::Pytest | TestRunner::Unittest, 5) => TestFailureKind::NoTests,
        (TestRunner::Any, 0) => TestFailureKind::None,
        // A status can be made up, by a test that ends the runner or by who replaced it; then the sums tell.
        (_, 0) | (TestRunner::Unknown, 1..=125) if failed.unwrap_or(0) > 0 => TestFailureKind::Tests,
        (_, 0) if passed.unwrap_or(0) > 0 => TestFailureKind::None,
        (TestRunner::Go, 0) if output.lines().any(has_go_passed) => TestFailureKind::None,
        (_, 0) if passed.is_some() || says("no test files") || says("no tests to run") => {
            TestFailureKind::NoTests
        }
        (_, 0) => TestFailureKind::Doubt,
        // Upstream 3.9: what commands of a workflow say with their status.
        (TestRunner::Any, 91) => TestFailureKind::Gate,
        (TestRunner::Any, 92) => TestFailureKind::Provider,
        (TestRunner::Any, 93) => TestFailureKind::Conflict,
        (TestRunner::Any, 94) => TestFailureKind::Killed,
        (TestRunner::Any | TestRunner::Unknown, 1..=125) => TestFailureKind::Command,
        (TestRunner::Unittest, 1) if says("No module named unittest") => TestFailureKind::Usage,
        (TestRunner::Unittest, 1) if says("Failed to import test module") || failed.is_none() => {
            TestFailureKind::Build
        }
        (TestRunner::Pytest, 1) if failed.is_none() && says("No module named pytest") => {
            TestFailureKind::Usage
        }
        (TestRunner::Pytest, 2) if says("error") && says("collect") => TestFailureKind::Build,
        (TestRunner::Pytest, 2) | (_, 130) => TestFailureKind::Interrupted,
        (TestRunner::Pytest, 4)
        | (TestRunner::Unittest, 2)
        | (TestRunner::Cargo, 1)
        | (TestRunner::Any | TestRunner::Unknown, 126 | 127) => TestFailureKind::Usage,
        // A program that panics outside a test ends the same way as a build that fails; only one of them has run tests.
        (TestRunner::Cargo, 101) if !says("test result:") => TestFailureKind::Build,
        (TestRunner::Go, 1) if says("[build failed]") || says("[setup failed]") => TestFailureKind::Build,
        (TestRunner::Go, 2) => TestFailureKind::Build,
        (TestRunner::Jest, 1) if says("Test suite failed to run") && failed.unwrap_or(0) == 0 => {
            TestFailureKind::Build
        }
        (TestRunner::Cargo, 101) | (TestRunner::Go, 1) => TestFailureKind::Tests,
        (TestRunner::Pytest | TestRunner::Jest | TestRunner::Unittest, 1) => tests,
        // Signals, and statuses that the runner does not document.
        _ => TestFailureKind::Runner,
    }
}

/// Whether a line of `go test` says that the tests of a package passed, and that there were some.
fn has_go_passed(line: &str) -> bool {
    line.starts_with("ok") && line.split_whitespace().count() >= 3 && !line.contains("[no tests to run]")
}

/// Passed and failed tests, from the lines that sum up.
fn counts(runner: TestRunner, output: &str) -> (Option<u64>, Option<u64>) {
    match runner {
        TestRunner::Cargo => {
            let sums: Vec<&str> = output.lines().filter(|line| line.starts_with("test result:")).collect();
            let sum = |word: &str| sums.iter().filter_map(|line| before_word(line, word)).sum();
            if sums.is_empty() { (None, None) } else { (Some(sum("passed")), Some(sum("failed"))) }
        }
        TestRunner::Pytest => {
            let last = output.lines().rev().find(|line| {
                line.contains(" in ")
                    && ["passed", "failed", "error", "skipped", "deselected", "xfailed", "no tests ran"]
                        .iter()
                        .any(|word| line.contains(word))
            });
            let count = |word: &str| last.map(|line| before_word(line, word).unwrap_or(0));
            (count("passed"), count("failed"))
        }
        TestRunner::Jest => {
            let line = output.lines().rev().find(|line| line.trim_start().starts_with("Tests:"));
            let count = |word: &str| line.map(|line| before_word(line, word).unwrap_or(0));
            (count("passed"), count("failed"))
        }
        TestRunner::Unittest => sums::unittest(output),
        TestRunner::Unknown => sums::usual(output),
        TestRunner::Any => (None, None),
        TestRunner::Go => {
            let count =
                |mark: &str| output.lines().filter(|line| line.trim_start().starts_with(mark)).count();
            let (passed, failed) = (count("--- PASS"), count("--- FAIL"));
            // Without `-v` only failures are named.
            let passed = (passed > 0).then(|| u64::try_from(passed).unwrap_or(u64::MAX));
            (passed, Some(u64::try_from(failed).unwrap_or(u64::MAX)))
        }
    }
}

/// How many tests were skipped or not selected, from the lines that sum up.
fn left_out(runner: TestRunner, output: &str) -> Option<u64> {
    let sum =
        |line: &str, words: &[&str]| words.iter().filter_map(|word| before_word(line, word)).sum::<u64>();
    match runner {
        TestRunner::Pytest => {
            let last = output.lines().rev().find(|line| line.contains(" in ") && line.contains("passed"))?;
            Some(sum(last, &["skipped", "deselected"]))
        }
        TestRunner::Cargo => {
            let sums = output.lines().filter(|line| line.starts_with("test result:"));
            Some(sums.map(|line| sum(line, &["ignored", "filtered"])).sum())
        }
        TestRunner::Jest => {
            let line = output.lines().rev().find(|line| line.trim_start().starts_with("Tests:"))?;
            Some(sum(line, &["skipped", "todo"]))
        }
        TestRunner::Unittest => sums::unittest_left_out(output),
        TestRunner::Go | TestRunner::Unknown | TestRunner::Any => None,
    }
}

/// The names of the tests that failed, in order.
fn failing(runner: TestRunner, output: &str) -> Vec<String> {
    let name = |line: &str| -> Option<String> {
        let line = line.trim();
        let name = match runner {
            TestRunner::Pytest => {
                let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
                rest.split(" - ").next()?
            }
            TestRunner::Cargo => line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?,
            TestRunner::Go => line.strip_prefix("--- FAIL: ")?.split(' ').next()?,
            TestRunner::Jest => line.strip_prefix("● ").filter(|name| name.contains('›'))?,
            TestRunner::Unittest => line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "))?,
            TestRunner::Unknown | TestRunner::Any => return None,
        };
        Some(name.trim().chars().take(200).collect())
    };
    let names: BTreeSet<String> = output.lines().filter_map(name).collect();
    names.into_iter().take(NAMES).collect()
}

/// Marks of the lines that say something, without numbers: times and addresses differ from run to run.
fn marks(output: &str) -> BTreeSet<u64> {
    let lines = output.lines().rev().filter(|line| line.trim().chars().count() > SHORTEST);
    let mark = |line: &str| {
        let mut hasher = DefaultHasher::new();
        line.trim().chars().filter(|c| !c.is_ascii_digit()).for_each(|c| c.hash(&mut hasher));
        hasher.finish()
    };
    lines.take(LINES).map(mark).collect()
}

/// The number before a word: `3 failed`.
fn before_word(line: &str, word: &str) -> Option<u64> {
    let words: Vec<&str> =
        line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.windows(2).find(|pair| pair[1] == word).and_then(|pair| pair[0].parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(runner: TestRunner, status: u8, output: &str) -> (TestFailureKind, Next) {
        let route = Route::of(runner, Phase::Green, Some(status), output, None);
        (route.failure, route.next)
    }

    // Source: seed 004-74
    #[test]
    fn pytest_is_routed_by_its_status() {
        use TestRunner::Pytest;
        assert_eq!(route(Pytest, 0, "== 3 passed in 0.1s =="), (TestFailureKind::None, Next::GoOn));
        assert_eq!(
            route(Pytest, 1, "== 1 failed, 2 passed in 0.1s =="),
            (TestFailureKind::Tests, Next::Implement)
        );
        assert_eq!(
            route(Pytest, 1, "== 3 passed in 0.1s ==\nFAIL Required test coverage"),
            (TestFailureKind::Gate, Next::Implement)
        );
        assert_eq!(
            route(Pytest, 2, "! Interrupted: 1 error during collection !"),
            (TestFailureKind::Build, Next::Scaffold)
        );
        assert_eq!(route(Pytest, 3, ""), (TestFailureKind::Runner, Next::Stop));
        assert_eq!(route(Pytest, 4, ""), (TestFailureKind::Usage, Next::Scaffold));
        assert_eq!(route(Pytest, 5, ""), (TestFailureKind::NoTests, Next::Scaffold));
        assert_eq!(
            route(Pytest, 1, "python3: No module named pytest"),
            (TestFailureKind::Usage, Next::Scaffold)
        );
        assert_eq!(Route::of(Pytest, Phase::Green, None, "", None).next, Next::Stop);
    }

    #[test]
    fn where_no_test_is_seen_to_pass_none_did() {
        use TestRunner::{Unittest, Unknown};
        let none = "Ran 0 tests in 0.000s\n\nOK";
        assert_eq!(route(Unittest, 0, none), (TestFailureKind::NoTests, Next::Scaffold));
        assert_eq!(route(Unittest, 5, none), (TestFailureKind::NoTests, Next::Scaffold));
        assert_eq!(route(Unittest, 0, "Ran 2 tests in 0.1s\n\nOK"), (TestFailureKind::None, Next::GoOn));
        let import = "ImportError: Failed to import test module: t\nRan 1 test in 0.0s\n\nFAILED (errors=1)";
        assert_eq!(route(Unittest, 1, import), (TestFailureKind::Build, Next::Scaffold));
        let failed = "FAIL: test_a (t.T.test_a)\nRan 2 tests in 0.0s\n\nFAILED (failures=1)";
        assert_eq!(route(Unittest, 1, failed), (TestFailureKind::Tests, Next::Implement));
        assert_eq!(Route::of(Unittest, Phase::Red, Some(1), failed, None).failing, ["test_a (t.T.test_a)"]);
        assert_eq!(route(Unknown, 0, "all fine"), (TestFailureKind::Doubt, Next::Scaffold));
        assert_eq!(route(Unknown, 0, none), (TestFailureKind::NoTests, Next::Scaffold));
        assert_eq!(route(Unknown, 0, "5 examples, 0 failures"), (TestFailureKind::None, Next::GoOn));
        assert_eq!(route(Unknown, 1, "5 examples, 1 failure"), (TestFailureKind::Tests, Next::Implement));
        assert_eq!(
            route(Unknown, 1, "make: *** [test] Error 1"),
            (TestFailureKind::Command, Next::Implement)
        );
    }

    #[test]
    fn what_was_left_out_is_counted() {
        let left_out = |runner, output: &str| Route::of(runner, Phase::Green, Some(0), output, None).left_out;
        assert_eq!(left_out(TestRunner::Pytest, "== 1 passed, 9 deselected in 0.1s =="), Some(9));
        let cargo = "test result: ok. 1 passed; 0 failed; 2 ignored; 0 measured; 3 filtered out; finished";
        assert_eq!(left_out(TestRunner::Cargo, cargo), Some(5));
        assert_eq!(left_out(TestRunner::Jest, "Tests: 2 skipped, 4 passed, 6 total"), Some(2));
        assert_eq!(left_out(TestRunner::Unittest, "Ran 3 tests in 0.1s\n\nOK (skipped=1)"), Some(1));
    }

    #[test]
    fn cargo_go_and_jest_tell_a_build_from_a_test() {
        let failed = "test result: FAILED. 3 passed; 1 failed; 0 ignored";
        assert_eq!(route(TestRunner::Cargo, 101, failed), (TestFailureKind::Tests, Next::Implement));
        assert_eq!(
            route(TestRunner::Cargo, 101, "error[E0425]: cannot find"),
            (TestFailureKind::Build, Next::Scaffold)
        );
        assert_eq!(
            route(TestRunner::Go, 1, "FAIL\tx [build failed]"),
            (TestFailureKind::Build, Next::Scaffold)
        );
        assert_eq!(
            route(TestRunner::Go, 1, "--- FAIL: TestX (0.00s)"),
            (TestFailureKind::Tests, Next::Implement)
        );
        assert_eq!(
            route(TestRunner::Jest, 1, "Tests: 1 failed, 4 passed, 5 total"),
            (TestFailureKind::Tests, Next::Implement)
        );
        assert_eq!(
            route(TestRunner::Jest, 1, "No tests found, exiting with code 1"),
            (TestFailureKind::NoTests, Next::Scaffold)
        );
        assert_eq!(route(TestRunner::Cargo, 137, ""), (TestFailureKind::Runner, Next::Stop));
    }

    #[test]
    fn nothing_has_passed_that_was_not_seen_to_pass() {
        use TestRunner::{Cargo, Go, Jest, Pytest};
        for (runner, output, failure) in [
            (Pytest, "== 3 failed, 1 passed in 0.1s ==", TestFailureKind::Tests),
            (Pytest, "", TestFailureKind::Doubt),
            (Pytest, "== 3 skipped in 0.1s ==", TestFailureKind::NoTests),
            (Pytest, "== no tests ran in 0.1s ==", TestFailureKind::NoTests),
            (Pytest, "== 2 passed, 1 skipped in 0.1s ==", TestFailureKind::None),
            (Cargo, "test result: ok. 0 passed; 0 failed; 9 filtered out", TestFailureKind::NoTests),
            (
                Cargo,
                "test result: ok. 0 passed; 0 failed\ntest result: ok. 2 passed; 0 failed",
                TestFailureKind::None,
            ),
            (Cargo, "Finished", TestFailureKind::Doubt),
            (Go, "ok  \tx/y\t0.01s", TestFailureKind::None),
            (Go, "ok  \tx/y\t0.01s [no tests to run]", TestFailureKind::NoTests),
            (Go, "?   \tx/y\t[no test files]", TestFailureKind::NoTests),
            (Go, "", TestFailureKind::Doubt),
            (Jest, "Tests:       4 passed, 4 total", TestFailureKind::None),
            (Jest, "Tests:       4 skipped, 4 total", TestFailureKind::NoTests),
            (Jest, "", TestFailureKind::Doubt),
        ] {
            let route = Route::of(runner, Phase::Green, Some(0), output, None);
            assert_eq!(route.failure, failure, "{runner:?} {output}");
            assert_eq!(route.next == Next::GoOn, failure == TestFailureKind::None);
        }
        assert_eq!(route(TestRunner::Any, 0, ""), (TestFailureKind::None, Next::GoOn));
    }

    #[test]
    fn colours_change_nothing() {
        let run = |name: &str, before: Option<&Route>| {
            let output = format!(
                "\x1b[31mFAILED\x1b[0m t.py::\x1b[1m{name}\x1b[0m - x\n\x1b[31m== \x1b[1m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m in 0.1s ==\x1b[0m"
            );
            Route::of(TestRunner::Pytest, Phase::Green, Some(1), &output, before)
        };
        let first = run("a", None);
        assert_eq!(
            (first.failed, first.passed, first.failing.as_slice()),
            (Some(1), Some(2), &["t.py::a".to_owned()][..])
        );
        assert_eq!(run("b", Some(&first)).same, 1, "another test is another result");
    }

    // Source: seed 004-59
    #[test]
    fn two_strikes_when_nothing_passes_and_three_when_something_does() {
        let run = |output: &str, before: Option<&Route>| {
            Route::of(TestRunner::Pytest, Phase::Green, Some(1), output, before)
        };
        let nothing = "== 4 failed in 0.1s ==";
        let first = run(nothing, None);
        assert_eq!(run(nothing, Some(&first)).next, Next::Stop);
        let some = "== 2 failed, 3 passed in 0.1s ==";
        let first = run(some, None);
        let second = run(some, Some(&first));
        assert_eq!((second.next, run(some, Some(&second)).next), (Next::Implement, Next::Stop));
        let better = run("== 1 failed, 4 passed in 0.1s ==", Some(&second));
        assert_eq!((better.same, better.next), (1, Next::Implement), "what moves is no strike");
    }

    #[test]
    fn tests_that_pass_before_the_code_is_there_ask_for_nothing() {
        let red = |status: u8| {
            Route::of(TestRunner::Pytest, Phase::Red, Some(status), "3 passed in 0.1s", None).next
        };
        assert_eq!(
            [red(0), red(1), red(3), red(5)],
            [Next::Stop, Next::Implement, Next::Stop, Next::Scaffold]
        );
    }

    #[test]
    fn other_tests_that_fail_are_no_strike_even_when_they_are_as_many() {
        let run = |output: &str, before: Option<&Route>| {
            Route::of(TestRunner::Pytest, Phase::Green, Some(1), output, before)
        };
        let first = run("FAILED t.py::a - x\n== 1 failed, 2 passed in 0.1s ==", None);
        let other = run("FAILED t.py::b - x\n== 1 failed, 2 passed in 0.1s ==", Some(&first));
        assert_eq!((other.same, other.failing.as_slice()), (1, &["t.py::b".to_owned()][..]));
        let again = run("FAILED t.py::b - y\n== 1 failed, 2 passed in 9.9s ==", Some(&other));
        assert_eq!((again.same, again.next), (2, Next::Implement));
        assert!(again.advice().contains("leave the tests as they are"));
        assert_eq!(run("FAILED t.py::b\n== 1 failed, 2 passed in 1s ==", Some(&again)).next, Next::Stop);
    }

    #[test]
    fn any_command_is_judged_by_its_status_and_by_how_alike_its_outputs_are() {
        let run = |status: u8, output: &str, before: Option<&Route>| {
            Route::of(TestRunner::Any, Phase::Green, Some(status), output, before)
        };
        let next = |status| run(status, "", None).next;
        assert_eq!(
            [next(0), next(91), next(92), next(93), next(94)],
            [Next::GoOn, Next::Implement, Next::Wait, Next::Stop, Next::Stop]
        );
        let first = run(1, "error: cannot connect to 10.0.0.1:5432 at 12:01:33", None);
        let second = run(1, "error: cannot connect to 10.0.0.7:5432 at 12:04:59", Some(&first));
        assert_eq!((second.same, second.next), (2, Next::Stop), "numbers do not make a difference");
        assert_eq!(run(1, "error: the table `users` is missing", Some(&second)).same, 1);
    }
}
