//! What an outcome showed, in a few numbers: all that the detectors ever see of an output.

use checkrein_protocol::{ErrorCategory, ErrorSignature, Fingerprint, Missing, Observation, TestCounts};
use serde::{Deserialize, Serialize};

use crate::failure::failure;
use crate::normalise::{ends, general, steady};

/// Whether an action succeeded, as its client says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionSuccess {
    /// It did.
    Succeeded,
    /// It did not.
    Failed,
}

/// What is kept of an output. At most 32 KiB of it are looked at (ours).
pub fn observation(output: &str, success: ActionSuccess) -> Observation {
    let text = ends(output);
    let text = text.as_ref();
    let printed = without_status(text);
    let digest =
        if printed.trim().is_empty() { Fingerprint::default() } else { Fingerprint::of(&steady(printed)) };
    let error = (success == ActionSuccess::Failed).then(|| error_signature(text));
    let missing = error.and_then(|error| missing_in(&text.to_lowercase(), error.category));
    let tests = test_counts(text);
    let failure = error.map(|_| failure(printed, tests)).unwrap_or_default();
    Observation { digest, error, tests, missing, failure }
}

/// An output without the line of its status, which clients put before that of a failure alone: `tests; true` prints what `tests` does.
/// A status that nothing stands behind is all that was shown.
fn without_status(text: &str) -> &str {
    let Some((first, rest)) = text.split_once('\n') else { return text };
    let is_status = first.strip_prefix("Exit code ").is_some_and(|code| code.trim().parse::<i32>().is_ok());
    if is_status && !rest.trim().is_empty() { rest } else { text }
}

/// What is kept of an action that was refused and did not run. It is no error of the kind that comes back with other paths, so it
/// carries none.
pub(crate) fn observation_of_refusal(verdict: &str) -> Observation {
    Observation {
        digest: Fingerprint::of_parts(["refused", verdict]),
        error: None,
        tests: None,
        missing: None,
        failure: Fingerprint::default(),
    }
}

/// What the output of a failure says was not there.
fn missing_in(lower: &str, category: ErrorCategory) -> Option<Missing> {
    const TELLING: [(Missing, &[&str]); 3] = [
        (
            Missing::Package,
            &[
                "no matching distribution found",
                "could not find a version that satisfies",
                "is not in this registry",
                "is not in the npm registry",
                "404 not found - get https://registry",
                "no matching package named",
                "could not find `",
                "could not find gem",
                "unable to locate package",
                "couldn't find any package",
                "no formulae or casks found",
            ],
        ),
        (Missing::Command, &["command not found", "is not recognized as an internal", "unknown command:"]),
        (
            Missing::Symbol,
            &[
                "cannot import name",
                "has no attribute",
                "nameerror: name",
                "is not a function",
                "is not defined",
                "undefined method",
                "in this scope",
                "no method named",
                "unresolved name",
            ],
        ),
    ];
    let told = TELLING.iter().find(|(_, words)| words.iter().any(|word| lower.contains(word)));
    told.map(|(missing, _)| *missing).or(match category {
        ErrorCategory::Import => Some(Missing::Module),
        ErrorCategory::NotFound => Some(Missing::Path),
        ErrorCategory::PermissionDenied
        | ErrorCategory::Syntax
        | ErrorCategory::Timeout
        | ErrorCategory::Network
        | ErrorCategory::TestFailure
        | ErrorCategory::Type
        | ErrorCategory::Usage
        | ErrorCategory::Resources
        | ErrorCategory::Conflict
        | ErrorCategory::Other => None,
    })
}

fn error_signature(text: &str) -> ErrorSignature {
    let line = telling_line(text);
    let category = category(&line.to_lowercase())
        .or_else(|| category(&text.to_lowercase()))
        .unwrap_or(ErrorCategory::Other);
    ErrorSignature { category, signature: Fingerprint::of(&general(line)), place: place(text) }
}

/// The last line that speaks of an error, else the last that is not empty.
fn telling_line(text: &str) -> &str {
    const WORDS: [&str; 11] = [
        "error",
        "exception",
        "fatal",
        "panicked",
        "no such",
        "not found",
        "denied",
        "cannot",
        "failed",
        "unknown",
        "invalid",
    ];
    let speaks = |line: &&str| {
        let lower = line.to_lowercase();
        WORDS.iter().any(|word| lower.contains(word))
    };
    let mut lines = text.lines().rev().filter(|line| !line.trim().is_empty());
    let last = lines.clone().next().unwrap_or_default();
    lines.find(speaks).unwrap_or(last)
}

fn category(lower: &str) -> Option<ErrorCategory> {
    /// Words that tell a category, the more telling ones first.
    const TELLING: [(ErrorCategory, &[&str]); 11] = [
        (
            ErrorCategory::Import,
            &["no module named", "modulenotfound", "importerror", "cannot find module", "unresolved import"],
        ),
        (
            ErrorCategory::PermissionDenied,
            &["permission denied", "eacces", "operation not permitted", "forbidden", "unauthorized"],
        ),
        (
            ErrorCategory::Syntax,
            &[
                "syntaxerror",
                "syntax error",
                "parse error",
                "unexpected token",
                "expected one of",
                "unterminated",
            ],
        ),
        (ErrorCategory::Type, &["typeerror", "mismatched types", "type error", "is not assignable"]),
        (ErrorCategory::Timeout, &["timed out", "timeout", "deadline exceeded"]),
        (
            ErrorCategory::Network,
            &[
                "connection refused",
                "could not resolve",
                "network is unreachable",
                "connection reset",
                "econnrefused",
                "name resolution",
            ],
        ),
        (
            ErrorCategory::Usage,
            &[
                "unrecognized option",
                "unrecognized argument",
                "unknown option",
                "unexpected argument",
                "invalid option",
                "usage:",
            ],
        ),
        (
            ErrorCategory::Resources,
            &["no space left", "out of memory", "cannot allocate", "too many open files"],
        ),
        (ErrorCategory::Conflict, &["conflict", "already exists", "is locked", "another process"]),
        (
            ErrorCategory::NotFound,
            &["no such file", "not found", "does not exist", "enoent", "cannot find", "no matches found"],
        ),
        (
            ErrorCategory::TestFailure,
            &["test failed", "tests failed", "assertion", " failed", "failures:", "failing"],
        ),
    ];
    TELLING.iter().find(|(_, words)| words.iter().any(|word| lower.contains(word))).map(|(found, _)| *found)
}

/// The line numbers that a text names: after `line`, or after a colon that follows a name.
fn place(text: &str) -> Fingerprint {
    let mut numbers = Vec::new();
    let bytes = text.as_bytes();
    let mut position = 0;
    while let Some(start) = bytes.get(position..).and_then(|rest| rest.iter().position(u8::is_ascii_digit)) {
        let start = position + start;
        let length =
            bytes.get(start..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let before = text.get(..start).unwrap_or_default();
        let after_colon = before
            .strip_suffix(':')
            .is_some_and(|name| name.ends_with(|letter: char| letter.is_alphanumeric()));
        let after_line = before
            .get(before.len().saturating_sub(5)..)
            .is_some_and(|word| word.eq_ignore_ascii_case("line "));
        if after_colon || after_line {
            numbers.push(text.get(start..start + length).unwrap_or_default());
        }
        position = start + length;
    }
    if numbers.is_empty() { Fingerprint::default() } else { Fingerprint::of_parts(numbers) }
}

/// The counts in an output: `3 passed`, `2 failed`, `failures=2`, summed over its parts. `None` when it speaks of no tests.
fn test_counts(text: &str) -> Option<TestCounts> {
    let mut counts = TestCounts { passed: 0, failed: 0 };
    let mut seen = false;
    let mut previous: Option<u32> = None;
    for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        match (word, previous) {
            ("passed" | "passing", Some(number)) => counts.passed = counts.passed.saturating_add(number),
            ("failed" | "failing", Some(number)) => counts.failed = counts.failed.saturating_add(number),
            _ => {
                previous = word.parse().ok();
                continue;
            }
        }
        seen = true;
        previous = None;
    }
    for part in text.split("failures=").skip(1) {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        if let Ok(number) = digits.parse::<u32>() {
            counts.failed = counts.failed.saturating_add(number);
            seen = true;
        }
    }
    seen.then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> ErrorSignature {
        observation(text, ActionSuccess::Failed).error.unwrap()
    }

    #[test]
    fn errors_are_grouped_after_normalising_upstream_1_2() {
        let one = error("cat: /a/b.txt: No such file or directory");
        let other = error("cat: /somewhere/else.txt: No such file or directory");
        assert_eq!((one.category, one.signature), (ErrorCategory::NotFound, other.signature));
        let moved = [error("a.py:10: SyntaxError: invalid"), error("a.py:20: SyntaxError: invalid")];
        assert_eq!(moved[0].signature, moved[1].signature);
        assert_ne!(moved[0].place, moved[1].place);
    }

    #[test]
    fn categories() {
        for (text, category) in [
            ("ModuleNotFoundError: No module named 'foo'", ErrorCategory::Import),
            ("bash: ./run: Permission denied", ErrorCategory::PermissionDenied),
            ("error[E0308]: mismatched types", ErrorCategory::Type),
            ("curl: (7) Failed to connect: Connection refused", ErrorCategory::Network),
            ("test result: FAILED. 1 passed; 2 failed", ErrorCategory::TestFailure),
            ("error: unexpected argument '--foo' found", ErrorCategory::Usage),
            ("Command timed out after 120s", ErrorCategory::Timeout),
            ("bash: foo: command not found", ErrorCategory::NotFound),
            ("it broke", ErrorCategory::Other),
        ] {
            assert_eq!(error(text).category, category, "{text}");
        }
    }

    #[test]
    fn what_was_not_there() {
        let missing = |text: &str| observation(text, ActionSuccess::Failed).missing;
        for (text, sort) in [
            ("bash: frobnicate: command not found", Missing::Command),
            ("ERROR: No matching distribution found for reqeusts-pro", Missing::Package),
            ("npm error 404 'left-padd@*' is not in this registry.", Missing::Package),
            ("ImportError: cannot import name 'Foo' from 'bar'", Missing::Symbol),
            ("AttributeError: module 'os' has no attribute 'exits'", Missing::Symbol),
            ("ModuleNotFoundError: No module named 'foo'", Missing::Module),
            ("cat: src/nope.rs: No such file or directory", Missing::Path),
        ] {
            assert_eq!(missing(text), Some(sort), "{text}");
        }
        assert_eq!(missing("assertion failed: 1 == 2"), None);
        assert_eq!(observation("command not found", ActionSuccess::Succeeded).missing, None);
    }

    #[test]
    fn counts_of_tests() {
        let counts = |passed, failed| Some(TestCounts { passed, failed });
        assert_eq!(test_counts("test result: ok. 5 passed; 1 failed; 0 ignored"), counts(5, 1));
        assert_eq!(test_counts("== 3 failed, 22 passed in 0.12s =="), counts(22, 3));
        assert_eq!(test_counts("Tests: 2 failed, 3 passed, 5 total"), counts(3, 2));
        assert_eq!(test_counts("Ran 4 tests\nFAILED (failures=2)"), counts(0, 2));
        assert_eq!(test_counts("nothing of the sort"), None);
    }

    #[test]
    fn an_empty_answer_has_no_digest() {
        assert!(observation("  \n", ActionSuccess::Succeeded).is_empty());
        assert!(!observation("x", ActionSuccess::Succeeded).is_empty());
    }
}
