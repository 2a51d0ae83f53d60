//! What an outcome showed, in a few numbers: all that the detectors ever see of an output.

use serde::{Deserialize, Serialize};

use crate::mark::Mark;
use crate::normalise::{ends, general, steady};

/// What an outcome showed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Observation {
    /// The mark of the output without times, durations, addresses and colours; zero when it is empty.
    pub digest: Mark,
    /// The error, when the action failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorSignature>,
    /// How many tests passed and failed, when the output says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestCounts>,
    /// What sort of thing was not there, when the action failed for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
}

/// A sort of thing that was used as if it were there (upstream 1.2: phantom files and incorrect references).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// A file or directory.
    Path,
    /// A program.
    Command,
    /// A package of a registry.
    Package,
    /// A module that is loaded.
    Module,
    /// A name in a module, a type or a scope.
    Symbol,
}

/// An error without what differs from one occurrence to the next (upstream 1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorSignature {
    /// What sort of error it is.
    pub category: ErrorCategory,
    /// The mark of its telling line without paths, numbers and times.
    pub signature: Mark,
    /// The mark of the line numbers it names; zero when it names none. The same error at another place is one that moves.
    pub place: Mark,
}

/// The sorts of error (upstream 1.2 and 1.4; `usage`, `resources` and `conflict` are ours).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCategory {
    /// A file, directory, command or host does not exist.
    NotFound,
    /// Not allowed.
    PermissionDenied,
    /// A text that cannot be parsed.
    Syntax,
    /// A module or package that cannot be loaded.
    Import,
    /// It took too long.
    Timeout,
    /// The network.
    Network,
    /// A test that failed.
    TestFailure,
    /// Types do not fit.
    Type,
    /// Options or arguments that the program does not know.
    Usage,
    /// Memory or disk.
    Resources,
    /// A merge or a lock.
    Conflict,
    /// Something else.
    Other,
}

impl ErrorCategory {
    /// The category in words, for a message.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotFound => "something that does not exist",
            Self::PermissionDenied => "a missing permission",
            Self::Syntax => "a syntax error",
            Self::Import => "a module that cannot be loaded",
            Self::Timeout => "a time-out",
            Self::Network => "a network error",
            Self::TestFailure => "a failing test",
            Self::Type => "a type error",
            Self::Usage => "options that the program does not know",
            Self::Resources => "missing memory or space",
            Self::Conflict => "a conflict",
            Self::Other => "the same error",
        }
    }
}

/// How many tests passed and failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCounts {
    /// Passed.
    pub passed: u32,
    /// Failed.
    pub failed: u32,
}

/// Whether an action succeeded, as its client says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Success {
    /// It did.
    Succeeded,
    /// It did not.
    Failed,
}

impl Observation {
    /// What is kept of an output. At most 32 KiB of it are looked at (ours).
    pub fn of(output: &str, success: Success) -> Self {
        let text = ends(output);
        let text = text.as_ref();
        let digest = if text.trim().is_empty() { Mark::default() } else { Mark::of(&steady(text)) };
        let error = (success == Success::Failed).then(|| ErrorSignature::of(text));
        let missing = error.and_then(|error| Missing::of(&text.to_lowercase(), error.category));
        Self { digest, error, tests: TestCounts::read(text), missing }
    }

    /// What is kept of an action that was refused and did not run. It is no error of the kind that comes back with other paths, so it
    /// carries none.
    pub(crate) fn of_refusal(verdict: &str) -> Self {
        Self { digest: Mark::of_parts(["refused", verdict]), error: None, tests: None, missing: None }
    }

    /// Whether the action answered nothing.
    pub fn is_empty(&self) -> bool {
        self.digest == Mark::default()
    }
}

impl Missing {
    /// What the output of a failure says was not there.
    fn of(lower: &str, category: ErrorCategory) -> Option<Self> {
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
            (
                Missing::Command,
                &["command not found", "is not recognized as an internal", "unknown command:"],
            ),
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
            ErrorCategory::Import => Some(Self::Module),
            ErrorCategory::NotFound => Some(Self::Path),
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
}

impl ErrorSignature {
    fn of(text: &str) -> Self {
        let line = telling_line(text);
        let category = category(&line.to_lowercase())
            .or_else(|| category(&text.to_lowercase()))
            .unwrap_or(ErrorCategory::Other);
        Self { category, signature: Mark::of(&general(line)), place: place(text) }
    }
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
fn place(text: &str) -> Mark {
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
    if numbers.is_empty() { Mark::default() } else { Mark::of_parts(numbers) }
}

impl TestCounts {
    /// The counts in an output: `3 passed`, `2 failed`, `failures=2`, summed over its parts. `None` when it speaks of no tests.
    pub fn read(text: &str) -> Option<Self> {
        let mut counts = Self { passed: 0, failed: 0 };
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> ErrorSignature {
        Observation::of(text, Success::Failed).error.unwrap()
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
        let missing = |text: &str| Observation::of(text, Success::Failed).missing;
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
        assert_eq!(Observation::of("command not found", Success::Succeeded).missing, None);
    }

    #[test]
    fn counts_of_tests() {
        let counts = |passed, failed| Some(TestCounts { passed, failed });
        assert_eq!(TestCounts::read("test result: ok. 5 passed; 1 failed; 0 ignored"), counts(5, 1));
        assert_eq!(TestCounts::read("== 3 failed, 22 passed in 0.12s =="), counts(22, 3));
        assert_eq!(TestCounts::read("Tests: 2 failed, 3 passed, 5 total"), counts(3, 2));
        assert_eq!(TestCounts::read("Ran 4 tests\nFAILED (failures=2)"), counts(0, 2));
        assert_eq!(TestCounts::read("nothing of the sort"), None);
    }

    #[test]
    fn an_empty_answer_has_no_digest() {
        assert!(Observation::of("  \n", Success::Succeeded).is_empty());
        assert!(!Observation::of("x", Success::Succeeded).is_empty());
    }
}
