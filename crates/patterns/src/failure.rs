//! What makes two failures the same: the tests that failed and how many did, whatever else is printed between; else the text without what is
//! made up anew for each run.

use std::collections::BTreeSet;

use checkrein_protocol::{Fingerprint, TestCounts};

use crate::normalise::steady;

/// The most names of tests that are compared (ours).
const NAMES: usize = 64;

/// The mark of a failure with this text; zero where it is no other than the mark of the text.
pub(crate) fn failure(text: &str, tests: Option<TestCounts>) -> Fingerprint {
    let names = failed_tests(text);
    let failed = tests.filter(|tests| tests.failed > 0);
    if names.is_empty() && failed.is_none() {
        return without_made_up(text);
    }
    let counts = failed.map(|TestCounts { passed, failed }| format!("{passed} {failed}")).unwrap_or_default();
    Fingerprint::of_parts(names.iter().map(String::as_str).chain([counts.as_str()]))
}

/// The names of the tests that a text says have failed, in their order.
fn failed_tests(text: &str) -> BTreeSet<String> {
    text.lines().filter_map(failed_test).take(NAMES).collect()
}

/// The name of the test that a line says has failed, as the common runners write it.
fn failed_test(line: &str) -> Option<String> {
    /// What stands before the name: pytest, unittest, go test, TAP, Jest, Vitest, Mocha, .NET.
    const BEFORE: [&str; 10] = [
        "FAILED ",
        "ERROR ",
        "FAIL: ",
        "ERROR: ",
        "--- FAIL: ",
        "not ok ",
        "\u{2715} ",
        "\u{2717} ",
        "\u{d7} ",
        "Failed ",
    ];
    let line = line.trim();
    // `test parser::reads ... FAILED`, `ParserTest > reads FAILED`.
    if let Some(name) = line.strip_suffix(" FAILED") {
        let name = name.trim_end_matches([' ', '.']);
        let name = name.strip_prefix("test ").unwrap_or(name);
        let is_name = !name.contains(": ") && name.split_whitespace().count() <= 8;
        return is_name.then(|| name.to_owned());
    }
    let rest = BEFORE.iter().find_map(|sign| line.strip_prefix(sign))?;
    // TAP counts its tests before it names them.
    let rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches([' ', '-']);
    // Behind the name stands why, in which class, or how long it took.
    let name =
        [" - ", " (", " [", ": "].iter().fold(rest, |name, end| name.split(end).next().unwrap_or(name));
    let name = name.trim();
    let names_something = name.contains(|letter: char| letter.is_alphabetic());
    let is_test = names_something && name.split_whitespace().count() <= 12;
    // A report on the run is none on a test.
    let is_report = line.starts_with("FAILED (") || line.starts_with("ERROR: ") && !rest.contains(" (");
    (is_test && !is_report).then(|| name.to_owned())
}

/// The mark of a text without words that are made up anew for each run; zero where it has none.
fn without_made_up(text: &str) -> Fingerprint {
    const BETWEEN: fn(char) -> bool = |letter| !(letter.is_alphanumeric() || matches!(letter, '_' | '-'));
    let plain = steady(text);
    let mut kept = String::with_capacity(plain.len());
    let mut changed = false;
    for part in plain.split_inclusive(BETWEEN) {
        let word = part.trim_end_matches(BETWEEN);
        if is_made_up(word) || is_port(word, &kept) {
            changed = true;
            kept.push('#');
            kept.push_str(part.get(word.len()..).unwrap_or_default());
        } else {
            kept.push_str(part);
        }
    }
    if changed { Fingerprint::of(&kept) } else { Fingerprint::default() }
}

/// Whether a word reads as one that a program made up: at least six letters and digits that take turns more than a name has them.
fn is_made_up(word: &str) -> bool {
    let letters = || word.bytes().filter(|byte| *byte != b'-' && *byte != b'_');
    if letters().count() < 6 || !word.is_ascii() {
        return false;
    }
    let digits = letters().filter(u8::is_ascii_digit).count();
    let is_hexadecimal = letters().all(|byte| byte.is_ascii_hexdigit());
    let bytes: Vec<u8> = letters().collect();
    let turns = bytes
        .windows(2)
        .filter(|pair| matches!(pair, [one, other] if one.is_ascii_digit() != other.is_ascii_digit()));
    digits > 0 && digits < bytes.len() && (is_hexadecimal || turns.count() >= 3)
}

/// Whether a word is the port behind an address of this machine, which a server may be given anew each time.
fn is_port(word: &str, before: &str) -> bool {
    let is_number = (4..=5).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    is_number && ["127.0.0.1:", "localhost:", "[::1]:", "0.0.0.0:"].iter().any(|host| before.ends_with(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{ActionSuccess, observation};

    fn mark(text: &str) -> Fingerprint {
        let seen = observation(text, ActionSuccess::Failed);
        if seen.failure == Fingerprint::default() { seen.digest } else { seen.failure }
    }

    #[test]
    fn the_same_tests_failed_whatever_else_is_printed() {
        for (one, other) in [
            (
                "FAILED tests/a.py::test_x - AssertionError: assert '3fa9c1' == 'b'\n1 failed, 4 passed in 0.5s",
                "FAILED tests/a.py::test_x - AssertionError: assert 'owls' == 'b'\n1 failed, 4 passed in 0.6s",
            ),
            (
                "FAILED a.py::one - E\nFAILED b.py::two - E\n2 failed, 4 passed",
                "FAILED b.py::two - E\nFAILED a.py::one - E\n2 failed, 4 passed",
            ),
            (
                "E ConnectionRefusedError: 127.0.0.1:40007\n1 failed, 4 passed",
                "E ConnectionRefusedError: 127.0.0.1:40014\n1 failed, 4 passed",
            ),
            (
                "--- FAIL: TestLogin (0.01s)\n    a_test.go:33: got \"9f3c\", want \"x\"\nFAIL\tcorp/app\t0.01s",
                "--- FAIL: TestLogin (0.02s)\n    a_test.go:33: got \"77aa\", want \"x\"\nFAIL\tcorp/app\t0.02s",
            ),
            ("test p::reads ... FAILED\npanicked: left 7", "test p::reads ... FAILED\npanicked: left 9"),
            ("  \u{2715} signs in (5 ms)\n  token abc", "  \u{2715} signs in (9 ms)\n  token def"),
            ("not ok 3 - signs in\n# got 1", "not ok 3 - signs in\n# got 2"),
            ("FAIL: test_a (m.T)\nfirst 1", "FAIL: test_a (m.T)\nfirst 2"),
            ("error: request 3fa9c17b was refused", "error: request 77e0d2aa was refused"),
            ("refused by localhost:40112", "refused by localhost:51234"),
            ("no session sess_9Xk2Lm7Qp", "no session sess_1Ab8Zt3Wd"),
        ] {
            assert_eq!(mark(one), mark(other), "{one} / {other}");
        }
    }

    #[test]
    fn another_failure_is_another() {
        for (one, other) in [
            ("FAILED a.py::one - E\n1 failed, 4 passed", "FAILED a.py::two - E\n1 failed, 4 passed"),
            ("FAILED a.py::one - E\n1 failed, 4 passed", "FAILED a.py::one - E\n1 failed, 5 passed"),
            ("FAILED a.py::one - E\n1 failed", "FAILED a.py::one - E\nFAILED a.py::two - E\n2 failed"),
            ("--- FAIL: TestLogin (0.01s)", "--- FAIL: TestLogout (0.01s)"),
            ("test p::reads ... FAILED", "test p::writes ... FAILED"),
            ("error: no field `a1` at line 10", "error: no field `a1` at line 20"),
            ("error: port 8080 is taken", "error: port 8081 is taken"),
            ("error: cannot find utf8 in base64", "error: cannot find utf8 in sha256"),
            ("KeyError: 'c1'", "KeyError: 'c2'"),
        ] {
            assert_ne!(mark(one), mark(other), "{one} / {other}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_a_mark(text in "(\\PC|FAILED |--- FAIL: |[:.\n(]|test | \\.\\.\\. FAILED){0,60}") {
            failure(&text, None);
        }
    }
}
