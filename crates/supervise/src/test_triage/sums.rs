//! What outputs of tests come to: how many passed and failed, and how many were left out.

use super::before_word;

/// What `python -m unittest` says: `Ran 3 tests in 0.1s` and the line behind it with the failures.
pub(super) fn unittest(output: &str) -> (Option<u64>, Option<u64>) {
    let sums = unittest_sums(output);
    sums.map_or((None, None), |(ran, failed, skipped)| {
        (Some(ran.saturating_sub(failed).saturating_sub(skipped)), Some(failed))
    })
}

/// Of `python -m unittest`: how many ran, failed and were skipped, over all that it says.
fn unittest_sums(output: &str) -> Option<(u64, u64, u64)> {
    let mut lines = output.lines().map(str::trim);
    let mut sums: Option<(u64, u64, u64)> = None;
    while let Some(line) = lines.next() {
        let Some(ran) =
            line.strip_prefix("Ran ").and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok())
        else {
            continue;
        };
        let end = lines.by_ref().find(|line| !line.is_empty()).unwrap_or_default();
        let named = |name: &str| {
            let parts = end.split(['(', ')', ',']).map(str::trim);
            parts
                .filter_map(|part| part.strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok())
                .sum::<u64>()
        };
        let failed = named("failures") + named("errors") + named("unexpected successes");
        let (all, bad, left) = sums.unwrap_or_default();
        sums = Some((all + ran, bad + failed, left + named("skipped")));
    }
    sums
}

/// How many `python -m unittest` skipped.
pub(super) fn unittest_left_out(output: &str) -> Option<u64> {
    unittest_sums(output).map(|(_, _, skipped)| skipped)
}

/// The sums of whatever runs tests, in the forms that are usual.
///
/// | form | of |
/// |---|---|
/// | `Ran 3 tests` and `OK` or `FAILED (failures=1)` | unittest, nose |
/// | `3 passed, 1 failed`, `3 passing`, `1 failing` | pytest, cargo, jest, vitest, mocha, playwright, deno |
/// | `5 examples, 1 failure` | rspec |
/// | `5 runs, 7 assertions, 1 failures, 0 errors` | minitest |
/// | `Tests run: 5, Failures: 1, Errors: 0` | JUnit under Maven |
/// | `OK (5 tests, 7 assertions)`, `Tests: 5, Assertions: 7, Failures: 1` | `PHPUnit` |
/// | `# pass 5`, `# fail 1` | TAP of Node |
/// | `Failed: 1, Passed: 4` | dotnet |
/// | `100% tests passed, 0 tests failed out of 5` | ctest |
/// | `ok  package  0.1s`, `--- FAIL` | go |
pub(super) fn usual(output: &str) -> (Option<u64>, Option<u64>) {
    let python = unittest(output);
    if python.0.is_some() {
        return python;
    }
    let mut sums: Option<(u64, u64)> = None;
    for line in output.lines().map(str::trim) {
        if let Some((passed, failed)) = of_line(line) {
            let (all, bad) = sums.unwrap_or_default();
            sums = Some((all + passed, bad + failed));
        }
    }
    sums.map_or((None, None), |(passed, failed)| (Some(passed), Some(failed)))
}

fn of_line(line: &str) -> Option<(u64, u64)> {
    let before = |words: &[&str]| words.iter().find_map(|word| before_word(line, word));
    let after = |name: &str| {
        let (_, rest) = line.split_once(name)?;
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok()
    };
    let failures =
        || before(&["failures", "failure"]).unwrap_or(0) + before(&["errors", "error"]).unwrap_or(0);
    if let Some(all) = before(&["examples", "example", "runs"]).filter(|_| line.contains("failure")) {
        return Some((all.saturating_sub(failures()), failures()));
    }
    if let Some(all) = after("Tests run:") {
        let bad = after("Failures:").unwrap_or(0) + after("Errors:").unwrap_or(0);
        // Maven says it again for all classes together, without a time.
        return line.contains("Time elapsed").then_some((all.saturating_sub(bad), bad));
    }
    if line.contains("tests failed out of") {
        let (bad, all) = (after("passed,").unwrap_or(0), after("out of").unwrap_or(0));
        return Some((all.saturating_sub(bad), bad));
    }
    if line.starts_with("OK (") {
        return before(&["tests", "test"]).map(|all| (all, 0));
    }
    if let Some(all) = after("Tests:").filter(|_| line.contains("Assertions:")) {
        let bad = after("Failures:").unwrap_or(0) + after("Errors:").unwrap_or(0);
        return Some((all.saturating_sub(bad), bad));
    }
    if let (Some(bad), Some(good)) = (after("Failed:"), after("Passed:")) {
        return Some((good, bad));
    }
    if let Some(good) = after("# pass ") {
        return Some((good, 0));
    }
    if let Some(bad) = after("# fail ") {
        return Some((0, bad));
    }
    // The sum of files is not one of tests.
    if line.starts_with("Test Suites:") || line.starts_with("Test Files") {
        return None;
    }
    if line.starts_with("--- FAIL") {
        return Some((0, 1));
    }
    if super::has_go_passed(line) && line.starts_with("ok ") && !line.starts_with("ok 1 ") {
        return line
            .split_whitespace()
            .nth(1)
            .is_some_and(|word| word.parse::<u64>().is_err())
            .then_some((1, 0));
    }
    let (good, bad) = (before(&["passed", "passing"]), before(&["failed", "failing"]));
    (good.is_some() || bad.is_some()).then(|| (good.unwrap_or(0), bad.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // What the programs print, as their manuals and real runs show it.
    #[test]
    fn each_usual_form_is_read() {
        for (output, passed, failed) in [
            ("..F\nFAIL: test_a (t.T.test_a)\nRan 3 tests in 0.001s\n\nFAILED (failures=1)", 2, 1),
            ("Ran 3 tests in 0.001s\n\nOK (skipped=1)", 2, 0),
            ("Ran 0 tests in 0.000s\n\nOK", 0, 0),
            ("Ran 1 test in 0.000s\n\nFAILED (errors=1)", 0, 1),
            ("== 2 failed, 3 passed, 1 skipped in 0.1s ==", 3, 2),
            ("test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: ok. 2 passed; 0 failed", 5, 0),
            ("Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 4 passed, 5 total", 4, 1),
            ("  5 passing (10ms)\n  1 failing", 5, 1),
            ("5 examples, 1 failure", 4, 1),
            ("5 runs, 7 assertions, 1 failures, 1 errors, 0 skips", 3, 2),
            (
                "Tests run: 5, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s\nTests run: 5, Failures: 1, Errors: 0, Skipped: 0",
                4,
                1,
            ),
            ("OK (5 tests, 7 assertions)", 5, 0),
            ("Tests: 5, Assertions: 7, Failures: 1.", 4, 1),
            ("# tests 6\n# pass 5\n# fail 1", 5, 1),
            ("Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5", 4, 1),
            ("80% tests passed, 1 tests failed out of 5", 4, 1),
            ("ok  \texample.com/a\t0.1s\n--- FAIL: TestB (0.00s)", 1, 1),
        ] {
            assert_eq!(usual(output), (Some(passed), Some(failed)), "{output}");
        }
        for output in ["", "built in 3 s", "ok", "hello passed by"] {
            assert_eq!(usual(output), (None, None), "{output}");
        }
    }
}
