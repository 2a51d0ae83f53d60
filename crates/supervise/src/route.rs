//! What the end of a test run means, and what to do next (upstream 3.9), and when to stop trying (seed 004: two strikes).
//!
//! By exit status first, since prose lies: a status says which kind of failure it was, the output only how far it got.

use serde::{Deserialize, Serialize};

/// Who runs the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runner {
    /// `pytest`.
    Pytest,
    /// `cargo test`.
    Cargo,
    /// `go test`.
    Go,
    /// `jest`.
    Jest,
}

/// What kind of end it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
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
    /// The runner was called wrongly.
    Usage,
    /// Somebody interrupted it.
    Interrupted,
    /// It took too long.
    Time,
    /// The runner itself broke, or was killed.
    Runner,
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
}

/// What is made of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// What kind of end it was.
    pub failure: Failure,
    /// What to do next.
    pub next: Next,
    /// Tests that passed, where the output tells.
    pub passed: Option<u64>,
    /// Tests that failed, where the output tells.
    pub failed: Option<u64>,
    /// Runs in a row that came out the same, this one included.
    pub same: u32,
}

/// How many equal runs are too many: two when nothing passes, three when something does (seed 004, upstream 3.8).
fn strikes(passed: Option<u64>) -> u32 {
    if passed.unwrap_or(0) == 0 { 2 } else { 3 }
}

impl Route {
    /// From the exit status, `None` when time ran out, and the output. `before` is what was made of the run before this one.
    pub fn of(runner: Runner, status: Option<u8>, output: &str, before: Option<&Self>) -> Self {
        let (passed, failed) = counts(runner, output);
        let failure = failure(runner, status, failed, output);
        let alike = before.filter(|before| {
            failure != Failure::None
                && before.failure == failure
                && (before.passed, before.failed) == (passed, failed)
        });
        let same = alike.map_or(1, |before| before.same.saturating_add(1));
        let next = if same >= strikes(passed) { Next::Stop } else { next(failure) };
        Self { failure, next, passed, failed, same }
    }

    /// The advice in words.
    pub fn advice(&self) -> &'static str {
        if self.same > 1 && self.next == Next::Stop {
            return "the same result again: stop and find out why, another try of the same kind changes nothing";
        }
        match self.failure {
            Failure::None => "everything passed: go on",
            Failure::Tests => "tests failed: work on the code",
            Failure::Gate => "no test failed, something else asked for more, such as coverage: work on that",
            Failure::Build => "the tests could not be read or built: mend what they import and name",
            Failure::NoTests => "there was no test: write it, or mend where it is looked for",
            Failure::Usage => "the runner was called wrongly: mend the call",
            Failure::Interrupted => "it was interrupted: stop",
            Failure::Time => "it took too long, perhaps without end: stop and look for what waits or loops",
            Failure::Runner => "the runner itself broke: stop and look at its output",
        }
    }
}

fn next(failure: Failure) -> Next {
    match failure {
        Failure::None => Next::GoOn,
        Failure::Tests | Failure::Gate => Next::Implement,
        Failure::Build | Failure::NoTests | Failure::Usage => Next::Scaffold,
        Failure::Interrupted | Failure::Time | Failure::Runner => Next::Stop,
    }
}

fn failure(runner: Runner, status: Option<u8>, failed: Option<u64>, output: &str) -> Failure {
    let Some(status) = status else { return Failure::Time };
    let tests = if failed == Some(0) { Failure::Gate } else { Failure::Tests };
    let says = |words: &str| output.contains(words);
    match (runner, status) {
        (Runner::Jest, 0 | 1) if says("No tests found") => Failure::NoTests,
        (Runner::Pytest, 5) => Failure::NoTests,
        (_, 0) => Failure::None,
        (Runner::Pytest, 2) if says("error") && says("collect") => Failure::Build,
        (Runner::Pytest, 2) | (_, 130) => Failure::Interrupted,
        (Runner::Pytest, 4) | (Runner::Cargo, 1) => Failure::Usage,
        // A program that panics outside a test ends the same way as a build that fails; only one of them has run tests.
        (Runner::Cargo, 101) if !says("test result:") => Failure::Build,
        (Runner::Go, 1) if says("[build failed]") || says("[setup failed]") => Failure::Build,
        (Runner::Go, 2) => Failure::Build,
        (Runner::Jest, 1) if says("Test suite failed to run") && failed.unwrap_or(0) == 0 => Failure::Build,
        (Runner::Cargo, 101) | (Runner::Go, 1) => Failure::Tests,
        (Runner::Pytest | Runner::Jest, 1) => tests,
        // Signals, and statuses that the runner does not document.
        _ => Failure::Runner,
    }
}

/// Passed and failed tests, from the lines that sum up.
fn counts(runner: Runner, output: &str) -> (Option<u64>, Option<u64>) {
    match runner {
        Runner::Cargo => {
            let sums: Vec<&str> = output.lines().filter(|line| line.starts_with("test result:")).collect();
            let sum = |word: &str| sums.iter().filter_map(|line| before_word(line, word)).sum();
            if sums.is_empty() { (None, None) } else { (Some(sum("passed")), Some(sum("failed"))) }
        }
        Runner::Pytest => {
            let last = output.lines().rev().find(|line| {
                line.contains(" in ")
                    && (line.contains("passed") || line.contains("failed") || line.contains("error"))
            });
            let count = |word: &str| last.map(|line| before_word(line, word).unwrap_or(0));
            (count("passed"), count("failed"))
        }
        Runner::Jest => {
            let line = output.lines().rev().find(|line| line.trim_start().starts_with("Tests:"));
            let count = |word: &str| line.map(|line| before_word(line, word).unwrap_or(0));
            (count("passed"), count("failed"))
        }
        Runner::Go => {
            let count =
                |mark: &str| output.lines().filter(|line| line.trim_start().starts_with(mark)).count();
            let (passed, failed) = (count("--- PASS"), count("--- FAIL"));
            // Without `-v` only failures are named.
            let passed = (passed > 0).then(|| u64::try_from(passed).unwrap_or(u64::MAX));
            (passed, Some(u64::try_from(failed).unwrap_or(u64::MAX)))
        }
    }
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

    fn route(runner: Runner, status: u8, output: &str) -> (Failure, Next) {
        let route = Route::of(runner, Some(status), output, None);
        (route.failure, route.next)
    }

    #[test]
    fn pytest_is_routed_by_its_status() {
        use Runner::Pytest;
        assert_eq!(route(Pytest, 0, "== 3 passed in 0.1s =="), (Failure::None, Next::GoOn));
        assert_eq!(route(Pytest, 1, "== 1 failed, 2 passed in 0.1s =="), (Failure::Tests, Next::Implement));
        assert_eq!(
            route(Pytest, 1, "== 3 passed in 0.1s ==\nFAIL Required test coverage"),
            (Failure::Gate, Next::Implement)
        );
        assert_eq!(
            route(Pytest, 2, "! Interrupted: 1 error during collection !"),
            (Failure::Build, Next::Scaffold)
        );
        assert_eq!(route(Pytest, 3, ""), (Failure::Runner, Next::Stop));
        assert_eq!(route(Pytest, 4, ""), (Failure::Usage, Next::Scaffold));
        assert_eq!(route(Pytest, 5, ""), (Failure::NoTests, Next::Scaffold));
        assert_eq!(Route::of(Pytest, None, "", None).next, Next::Stop);
    }

    #[test]
    fn cargo_go_and_jest_tell_a_build_from_a_test() {
        let failed = "test result: FAILED. 3 passed; 1 failed; 0 ignored";
        assert_eq!(route(Runner::Cargo, 101, failed), (Failure::Tests, Next::Implement));
        assert_eq!(route(Runner::Cargo, 101, "error[E0425]: cannot find"), (Failure::Build, Next::Scaffold));
        assert_eq!(route(Runner::Go, 1, "FAIL\tx [build failed]"), (Failure::Build, Next::Scaffold));
        assert_eq!(route(Runner::Go, 1, "--- FAIL: TestX (0.00s)"), (Failure::Tests, Next::Implement));
        assert_eq!(
            route(Runner::Jest, 1, "Tests: 1 failed, 4 passed, 5 total"),
            (Failure::Tests, Next::Implement)
        );
        assert_eq!(
            route(Runner::Jest, 1, "No tests found, exiting with code 1"),
            (Failure::NoTests, Next::Scaffold)
        );
        assert_eq!(route(Runner::Cargo, 137, ""), (Failure::Runner, Next::Stop));
    }

    #[test]
    fn two_strikes_when_nothing_passes_and_three_when_something_does() {
        let run = |output: &str, before: Option<&Route>| Route::of(Runner::Pytest, Some(1), output, before);
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
}
