//! Repetitive errors (upstream 1.2): the same error, however its paths and numbers differ, three times among the last ten.

use std::collections::VecDeque;

use checkrein_policy::RepetitiveErrorsThresholds;
use checkrein_protocol::{ErrorCategory, ErrorSignature, Fingerprint, Observation, Severity, TestCounts};
use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, Issue, PatternKind, Share, newest};
use crate::settings::entries;
use crate::step::Activity;

/// How many errors are remembered, and looked at (upstream 1.2). Where more than so many of one sort follow each other and nothing else
/// happens, that is a standstill (ours).
pub const ERRORS_IN_VIEW: usize = 10;

/// The last errors.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Errors(VecDeque<PastError>);

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct PastError {
    number: ActionNumber,
    action: Fingerprint,
    digest: Fingerprint,
    /// What makes it the same failure as another one.
    #[serde(default)]
    failure: Fingerprint,
    error: ErrorSignature,
    tests: Option<TestCounts>,
    /// Whether something was changed since the error before it.
    attempt: Attempt,
    /// Whether the call waits for something, so that it may fail for a while.
    #[serde(default)]
    waits: bool,
}

/// The errors since something last succeeded, as long as they are the same one: however many calls there are, none of them gets anywhere.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct ErrorRun {
    last: Option<PastError>,
    since: ActionNumber,
    length: u32,
    /// Whether something was looked at in between, which may find what is missing.
    looked: bool,
    /// How many of them were refused and did not run.
    #[serde(default)]
    refused: u32,
}

impl ErrorRun {
    fn failed(&mut self, error: PastError) {
        let goes_on = error.attempt == Attempt::Unchanged
            && self
                .last
                .as_ref()
                .is_some_and(|last| last.error.signature == error.error.signature && !moved(last, &error));
        if !goes_on {
            *self = Self { since: error.number, ..Self::default() };
        }
        self.length = self.length.saturating_add(1);
        self.last = Some(error);
    }

    /// Takes up that a call succeeded. One that only looks leaves the run, and has it count half.
    pub(crate) fn succeeded(&mut self, deed: Activity) {
        match deed {
            Activity::Looks => self.looked = self.length > 0,
            Activity::Changes | Activity::Runs | Activity::Waits | Activity::Retries => {
                *self = Self::default();
            }
        }
    }

    /// How many errors it counts as.
    fn weight(&self) -> usize {
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        if self.looked { length / 2 } else { length }
    }

    /// How many there are, where they are more than the window of the detector holds: then nothing but this error happens.
    fn standstill(&self) -> Option<usize> {
        Some(self.weight()).filter(|weight| *weight > ERRORS_IN_VIEW)
    }
}

/// Whether something was changed since the last error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Attempt {
    Changed,
    Unchanged,
}

impl Errors {
    pub(crate) fn failed(
        &mut self,
        number: ActionNumber,
        action: Fingerprint,
        observation: &Observation,
        error: ErrorSignature,
        (attempt, deed): (Attempt, Activity),
        run: &mut ErrorRun,
    ) {
        let Observation { digest, tests, failure, .. } = *observation;
        while self.0.len() >= ERRORS_IN_VIEW {
            self.0.pop_front();
        }
        let waits = deed == Activity::Waits;
        let past = PastError { number, action, digest, failure, error, tests, attempt, waits };
        // What waits for something may be answered the same for long.
        if !waits {
            run.failed(past);
        }
        self.0.push_back(past);
    }

    /// Takes up that an action was refused that had failed before: nothing has changed, so that the error stands, and is as near as it was.
    pub(crate) fn refused(&mut self, number: ActionNumber, action: Fingerprint, run: &mut ErrorRun) {
        if let Some(newest) = self.0.back_mut().filter(|newest| newest.action == action)
            && number.0.saturating_sub(newest.number.0) <= NEAR
        {
            newest.number = number;
        }
        let last = self.0.iter().rev().find(|error| error.action == action).copied();
        let Some(last) = last.filter(|_| run.standstill().is_some()) else { return };
        let past = PastError { number, attempt: Attempt::Unchanged, ..last };
        while self.0.len() >= ERRORS_IN_VIEW {
            self.0.pop_front();
        }
        run.failed(past);
        run.refused = run.refused.saturating_add(1);
        self.0.push_back(past);
    }

    /// What succeeds at last is no repeated error.
    pub(crate) fn succeeded(&mut self, action: Fingerprint) {
        self.0.retain(|error| error.action != action);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The error that an action ended in when it failed last, with the tests that it ran.
    pub(crate) fn last_of(&self, action: Fingerprint) -> Option<(ErrorSignature, Option<TestCounts>)> {
        let last = self.0.iter().rev().find(|error| error.action == action)?;
        Some((last.error, last.tests))
    }

    pub(crate) fn detect(
        &self,
        now: ActionNumber,
        thresholds: &RepetitiveErrorsThresholds,
        run: &ErrorRun,
        said: &str,
    ) -> Option<Issue> {
        let last = self.0.back().filter(|error| now.0.saturating_sub(error.number.0) <= NEAR)?;
        let seen = entries(thresholds.window).min(self.0.len());
        let group: Vec<&PastError> = self
            .0
            .iter()
            .skip(self.0.len() - seen)
            .filter(|error| {
                error.error.signature == last.error.signature
                    && now.0.saturating_sub(error.number.0) < thresholds.horizon
            })
            .collect();
        // An error that moves, or tests that come out otherwise, are progress: only what stays the same counts.
        let stood_still =
            group.windows(2).filter(|pair| matches!(pair, [one, other] if !moved(one, other))).count();
        let count = stood_still + 1;
        if count < entries(thresholds.threshold) {
            return None;
        }
        let attempts = group.iter().filter(|error| error.attempt == Attempt::Changed).count();
        // Whoever changes something between the attempts is working at it: less sure, and never held up (ours).
        let working = attempts * 2 > group.len();
        // One poll is told, and nothing more: how long it may fail is known where loops are (ours).
        let polls = group.iter().all(|error| error.waits && error.action == last.action);
        let worst = match (polls, working) {
            (true, _) => Severity::Low,
            (false, true) => Severity::Medium,
            (false, false) => Severity::Critical,
        };
        let category = last.error.category.words();
        let standstill = run.standstill();
        let mut actions = newest(group.iter().map(|error| error.number));
        let mut summary = format!("{category} came back {count} times in the last {seen} errors");
        if standstill.is_some() {
            let ran = run.length.saturating_sub(run.refused);
            summary = format!("{category} came back {ran} times in a row, whatever was called");
            if run.refused > 0 {
                summary = format!("{summary}, and {} more such calls were refused", run.refused);
            }
            // It rests on the first one too.
            if let Some(oldest) = actions.first_mut() {
                *oldest = run.since;
            }
        }
        if !said.is_empty() {
            let quoted = said.replace('`', "'");
            summary = format!("{summary}, the last time `{quoted}`");
        }
        Some(Issue {
            kind: PatternKind::RepetitiveErrors,
            severity: severity(count).min(worst),
            confidence: Share::new(confidence(count).value() * if working { 0.6 } else { 1.0 }),
            impact: Share::default(),
            signal: standstill.unwrap_or(count) as f64,
            summary,
            advice: another_approach(last.error.category).to_owned(),
            actions,
            growth: None,
            growths: Vec::new(),
        })
    }
}

/// An error is spoken of right behind it, and behind one action more (ours).
const NEAR: u64 = 1;

/// The longest line of an error that is kept, in characters (ours).
const LONGEST_LINE: usize = 120;

/// The line of an error that says most: the first that names the error or the test that failed, else the first that speaks of an error, else
/// the first that says anything.
pub fn telling_line(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    // What a client puts in front of what the program said.
    let said = || lines().filter(|line| !line.to_ascii_lowercase().starts_with("exit code"));
    let speaks = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["error", "fail", "denied", "no such", "not found", "cannot", "refused", "timed out"]
            .iter()
            .any(|word| line.contains(word))
    };
    let line = said().find(|line| names_error(line)).or_else(|| said().find(speaks));
    let line = line.or_else(|| said().next()).or_else(|| lines().next()).unwrap_or_default();
    let kept: String = line.chars().filter(|letter| !letter.is_control()).take(LONGEST_LINE).collect();
    if line.chars().count() > LONGEST_LINE { format!("{kept} ...") } else { kept }
}

/// Whether a line names the error itself or the test that failed, and not only that something did.
fn names_error(line: &str) -> bool {
    /// What stands behind an error that was named before.
    const SUMMARIES: [&str; 9] = [
        "test failed",
        "could not compile",
        "aborting due to",
        "process didn't exit successfully",
        "process completed with exit code",
        "command failed with exit code",
        "lifecycle script",
        "npm error code",
        "npm err! code",
    ];
    let lower = line.to_ascii_lowercase();
    if SUMMARIES.iter().any(|words| lower.contains(words)) {
        return false;
    }
    let is_test =
        ["FAILED ", "FAIL ", "FAIL: ", "--- FAIL: ", "not ok ", "\u{2715} ", "\u{2717} ", "\u{d7} "]
            .iter()
            .any(|sign| line.starts_with(sign))
            || line.starts_with("test ") && line.ends_with(" FAILED") && !line.starts_with("test result");
    is_test
        || ["error: ", "error[", "fatal: ", "panic: "].iter().any(|sign| lower.starts_with(sign))
        || ["error: ", "fatal: ", "exception: ", "panicked at"].iter().any(|sign| lower.contains(sign))
}

/// What to do about an error that comes back: three steps, and a question that leads to its cause (seed 000).
fn another_approach(category: ErrorCategory) -> &'static str {
    match category {
        ErrorCategory::NotFound => {
            "take a different approach: list the directory that it speaks of, check how the name is spelled, then make one changed call. What is really there?"
        }
        ErrorCategory::PermissionDenied => {
            "take a different approach: look who owns the place, choose one where you may write, or tell the user what is missing. Does the task need this very place?"
        }
        ErrorCategory::Timeout | ErrorCategory::Network => {
            "take a different approach: check once whether the other side answers at all, do what needs no network, and tell the user what waits for it. Is it there?"
        }
        ErrorCategory::Usage => {
            "take a different approach: read the help of the program, check each option against it, then make one changed call. Which option is wrong?"
        }
        ErrorCategory::Resources => {
            "take a different approach: look at what is full or used up, make the step smaller, and clean up what you made. What does it run out of?"
        }
        ErrorCategory::Conflict => {
            "take a different approach: look at both sides of the conflict, decide which one holds, and change only that place. What do the two sides want?"
        }
        ErrorCategory::Syntax | ErrorCategory::Type => {
            "take a different approach: read the first error alone, look at the line that it names, and change that line only. What does the language expect there?"
        }
        ErrorCategory::Import => {
            "take a different approach: ask the package manager what is installed, check how the name is spelled, then change the import or install it once. Is it there?"
        }
        ErrorCategory::TestFailure => {
            "take a different approach: run one failing test alone, print what it compares, then change one thing. Is the test wrong, or the code?"
        }
        ErrorCategory::Other => {
            "take a different approach: read the error from its first line, check one assumption that the call makes, then change one thing. What is its cause?"
        }
    }
}

/// Whether there is progress from one error to the next: it stands at another place, the tests come out otherwise, or, where the text tells what is
/// wrong in the work itself, it reads otherwise. Where something outside is missing, another name is only the next guess.
fn moved(one: &PastError, other: &PastError) -> bool {
    let guesses = match other.error.category {
        ErrorCategory::NotFound
        | ErrorCategory::PermissionDenied
        | ErrorCategory::Timeout
        | ErrorCategory::Network
        | ErrorCategory::Usage
        | ErrorCategory::Resources
        | ErrorCategory::Conflict => true,
        ErrorCategory::Syntax
        | ErrorCategory::Import
        | ErrorCategory::TestFailure
        | ErrorCategory::Type
        | ErrorCategory::Other => false,
    };
    // The same tests failed in the same call, and nothing was changed in between.
    let is_same_failure = other.attempt == Attempt::Unchanged
        && one.action == other.action
        && !other.failure.is_zero()
        && one.failure == other.failure;
    !is_same_failure
        && (one.error.place != other.error.place
            || one.tests != other.tests
            || (!guesses && one.digest != other.digest))
}

/// min(n/5, 1) (upstream 1.2).
fn confidence(count: usize) -> Share {
    Share::new(count as f64 / 5.0)
}

/// From 5 on critical, 4 high, 3 medium, else low (upstream 1.2).
fn severity(count: usize) -> Severity {
    match count {
        0..=2 => Severity::Low,
        3 => Severity::Medium,
        4 => Severity::High,
        _ => Severity::Critical,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{ActionSuccess, observation};

    fn errors(texts: &[&str]) -> Option<Issue> {
        let (mut errors, mut run) = (Errors::default(), ErrorRun::default());
        for (index, text) in texts.iter().enumerate() {
            let observation = observation(text, ActionSuccess::Failed);
            let number = ActionNumber(index as u64 + 1);
            errors.failed(
                number,
                Fingerprint(number.0 as u32),
                &observation,
                observation.error.unwrap(),
                (Attempt::Unchanged, Activity::Runs),
                &mut run,
            );
        }
        let said = telling_line(texts.last().unwrap());
        errors.detect(ActionNumber(texts.len() as u64), &RepetitiveErrorsThresholds::default(), &run, &said)
    }

    // Source: seed 000-111, 000-7, 001-31
    #[test]
    fn what_is_said_names_the_error_and_another_approach_seed_000() {
        let found = errors(&["Exit code 1\ncat: /etc/app.conf: No such file or directory"; 3]).unwrap();
        assert!(
            found.summary.contains("`cat: /etc/app.conf: No such file or directory`"),
            "{}",
            found.summary
        );
        assert!(
            found.advice.contains("different approach") && found.advice.ends_with('?'),
            "{}",
            found.advice
        );
        assert_eq!(telling_line("\n  one\n two"), "one");
        for category in [
            ErrorCategory::NotFound,
            ErrorCategory::PermissionDenied,
            ErrorCategory::Timeout,
            ErrorCategory::Network,
            ErrorCategory::Usage,
            ErrorCategory::Resources,
            ErrorCategory::Conflict,
            ErrorCategory::Syntax,
            ErrorCategory::Type,
            ErrorCategory::Import,
            ErrorCategory::TestFailure,
            ErrorCategory::Other,
        ] {
            let advice = another_approach(category);
            let steps = advice.split_once(": ").and_then(|(_, rest)| rest.split_once(". "));
            let (steps, question) = steps.unwrap_or_else(|| panic!("{advice}"));
            assert!(steps.split(", ").count() == 3 && question.ends_with('?'), "{advice}");
        }
        assert_eq!(telling_line(&"e".repeat(500)).len(), LONGEST_LINE + 4);
    }

    // Source: seed 001-31
    #[test]
    fn the_line_is_told_that_names_the_error_or_the_test() {
        let cases = [
            (
                "Exit code 101\n   Compiling shop v0.1.0\nwarning: unused variable: `error`\nerror[E0308]: mismatched types\n  --> src/a.rs:1\nerror: could not compile `shop`",
                "error[E0308]: mismatched types",
            ),
            (
                "Exit code 101\nrunning 2 tests\ntest prices::adds ... ok\ntest prices::rounds ... FAILED\n\nfailures:\n\nthread 'prices::rounds' panicked at src/a.rs:7:5:\ntest result: FAILED. 1 passed; 1 failed\nerror: test failed, to rerun pass `--lib`",
                "test prices::rounds ... FAILED",
            ),
            (
                "Exit code 1\n=================== FAILURES ===================\n    def test_total():\nFAILED tests/test_cart.py::test_total - assert 1 == 2",
                "FAILED tests/test_cart.py::test_total - assert 1 == 2",
            ),
            (
                "Exit code 1\nTraceback (most recent call last):\n  File \"error.py\", line 3, in <module>\nKeyError: 'total'",
                "KeyError: 'total'",
            ),
            ("Exit code 128\nfatal: not a git repository", "fatal: not a git repository"),
            ("Exit code 1\n--- FAIL: TestTotal (0.00s)\nFAIL", "--- FAIL: TestTotal (0.00s)"),
            (
                "Exit code 101\nhello\nthread 'main' panicked at src/main.rs:2:5:\nboom",
                "thread 'main' panicked at src/main.rs:2:5:",
            ),
            ("Exit code 2\ngrep: src: Is a directory", "grep: src: Is a directory"),
            ("Exit code 2\nmake: *** [Makefile:2: all] Error 1", "make: *** [Makefile:2: all] Error 1"),
            ("Exit code 1", "Exit code 1"),
        ];
        for (text, line) in cases {
            assert_eq!(telling_line(text), line, "{text}");
        }
    }

    // Source: seed 001-16
    #[test]
    fn the_formulas_of_upstream_1_2() {
        let found = errors(&["cat: /a: No such file"; 4]).unwrap();
        assert_eq!((found.severity, found.confidence), (Severity::High, Share::new(0.8)));
        assert_eq!(errors(&["cat: /a: No such file"; 3]).unwrap().confidence, Share::new(0.6));
        let five = errors(&["cat: /a: No such file"; 5]).unwrap();
        assert_eq!((five.severity, five.confidence), (Severity::Critical, Share::new(1.0)));
        assert!((five.signal - 5.0).abs() < f64::EPSILON);
    }

    #[test]
    fn more_than_the_window_holds_is_a_standstill_from_the_first_on() {
        let found = errors(&["curl: (7) Connection refused"; 11]).unwrap();
        assert_eq!((found.signal, found.onset()), (11.0, Some(ActionNumber(1))));
        assert!(
            found.summary.ends_with(
                "11 times in a row, whatever was called, the last time `curl: (7) Connection refused`"
            ),
            "{}",
            found.summary
        );
        assert!((errors(&["curl: (7) Connection refused"; 10]).unwrap().signal - 10.0).abs() < f64::EPSILON);
        let mut mixed = vec!["curl: (7) Connection refused"; 11];
        mixed.insert(5, "rm: Permission denied");
        assert!(errors(&mixed).unwrap().signal < 11.0, "another error in between");
    }

    #[test]
    fn what_succeeds_ends_a_run_and_a_look_halves_it() {
        let observation = observation("cat: /a: No such file", ActionSuccess::Failed);
        let weight = |deed: Activity| {
            let (mut errors, mut run) = (Errors::default(), ErrorRun::default());
            for number in 1..=24 {
                let (number, action) = (ActionNumber(number), Fingerprint(number as u32));
                let error = observation.error.unwrap();
                let how = (Attempt::Unchanged, Activity::Runs);
                errors.failed(number, action, &observation, error, how, &mut run);
                run.succeeded(deed);
            }
            run.weight()
        };
        assert_eq!((weight(Activity::Looks), weight(Activity::Runs), weight(Activity::Changes)), (12, 0, 0));
    }

    #[test]
    fn different_errors_do_not_count_together_upstream_1_2() {
        assert_eq!(errors(&["cat: x: No such file", "rm: Permission denied", "timed out"]), None);
    }

    #[test]
    fn an_error_that_moves_is_progress() {
        assert_eq!(errors(&["a.py:10: SyntaxError", "a.py:20: SyntaxError", "a.py:30: SyntaxError"]), None);
        let compiling = [
            "error: no field `a`\nerror: could not compile",
            "error: no field `b`\nerror: could not compile",
        ];
        assert_eq!(errors(&[compiling[0], compiling[1], compiling[0]]), None);
        assert_eq!(errors(&["1 passed, 3 failed", "2 passed, 2 failed", "3 passed, 1 failed"]), None);
    }
}
