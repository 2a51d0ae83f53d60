//! Claims: what an agent says that it has seen. One sort is looked for, the one that people rely on: that the tests pass.

use checkrein_protocol::Claim;

/// How much of the end of a message is read, in bytes (ours): what was done is summed up there.
const LONGEST: usize = 10_000;

/// Words that take a claim back, or make it a wish, when they stand before it in its sentence.
const UNSURE: [&str; 22] = [
    "if ",
    "once ",
    "when ",
    "until ",
    "unless ",
    "should ",
    "would ",
    "will ",
    "could ",
    "can ",
    "may ",
    "might ",
    "not ",
    "n't ",
    "make sure",
    "ensure",
    "to see ",
    "whether ",
    "so that ",
    "before ",
    "expect",
    "please ",
];

/// Words behind a claim that take something out of it.
const EXCEPTIONS: [&str; 8] =
    ["except", "apart from", "other than", "aside from", "besides", "but ", "with the exception", "only "];

/// The claim in a message, the strongest if there are several. Questions, conditions and negations are none; which tests are meant, and
/// which are left out, makes it one about some.
pub fn claim(message: &str) -> Option<Claim> {
    let start = message.len().saturating_sub(LONGEST);
    let start = (start..=message.len()).find(|start| message.is_char_boundary(*start)).unwrap_or_default();
    let text = message.get(start..).unwrap_or_default().to_lowercase().replace('\u{2019}', "'");
    text.split_inclusive(['.', '!', '?', '\n', ';']).filter_map(claim_of_tests).max()
}

fn claim_of_tests(sentence: &str) -> Option<Claim> {
    const SUBJECTS: [&str; 4] = ["tests ", "test suite ", "test cases ", "specs "];
    const VERBS: [&str; 12] = [
        "pass",
        "now pass",
        "all pass",
        "still pass",
        "are passing",
        "are all passing",
        "are now passing",
        "passes",
        "now passes",
        "have passed",
        "passed",
        "are green",
    ];
    if sentence.ends_with('?') {
        return None;
    }
    let claims = SUBJECTS.iter().flat_map(|subject| {
        sentence.match_indices(subject).filter_map(|(start, _)| {
            let before = sentence.get(..start).unwrap_or_default();
            let rest = sentence.get(start + subject.len()..).unwrap_or_default();
            let is_word = |verb: &&&str| {
                let after = rest.get(verb.len()..).and_then(|after| after.chars().next());
                rest.starts_with(**verb) && after.is_none_or(|letter| !letter.is_alphanumeric())
            };
            let verb = VERBS.iter().find(is_word)?;
            if UNSURE.iter().any(|word| before.contains(word)) {
                return None;
            }
            let after = rest.get(verb.len()..).unwrap_or_default();
            let is_whole = means_all(before) && !EXCEPTIONS.iter().any(|word| after.contains(word));
            Some(if is_whole { Claim::AllTestsPass } else { Claim::TestsPass })
        })
    });
    claims.max()
}

/// Whether what stands before `tests` in its sentence leaves them as all that there are: nothing, `all 12`, `the`.
fn means_all(before: &str) -> bool {
    let mut words =
        before.split(|letter: char| !letter.is_alphanumeric()).rev().filter(|word| !word.is_empty());
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    match words.next() {
        None | Some("all" | "the" | "and" | "so" | "now" | "that" | "full" | "whole" | "entire") => true,
        Some(word) if is_number(word) || word == "unit" => words.take(2).any(|word| word == "all"),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_found() {
        for message in [
            "Done. All tests pass.",
            "I fixed the parser and the tests now pass!",
            "- The test suite passes\n- Docs updated",
            "Verified: 41 unit tests are passing",
            "All 12 tests passed",
        ] {
            assert!(claim(message).is_some(), "{message}");
        }
    }

    #[test]
    fn which_tests_are_meant_makes_a_claim_about_some() {
        for (message, expected) in [
            ("All tests pass.", Claim::AllTestsPass),
            ("All 12 tests passed", Claim::AllTestsPass),
            ("I fixed the failing test, and the tests now pass.", Claim::AllTestsPass),
            ("The full test suite passes", Claim::AllTestsPass),
            ("The new tests pass; two others fail as before", Claim::TestsPass),
            ("All tests pass except the two that failed before", Claim::TestsPass),
            ("3 tests pass", Claim::TestsPass),
        ] {
            assert_eq!(claim(message), Some(expected), "{message}");
        }
    }

    #[test]
    fn plans_conditions_questions_and_negations_are_none() {
        for message in [
            "Do the tests pass?",
            "If all tests pass we can merge.",
            "I will make sure that the tests pass",
            "I could not run them, so I don't know whether the tests pass.",
            "The tests should pass now.",
            "Two tests fail.",
            "The tests passthrough the proxy",
            "",
        ] {
            assert_eq!(claim(message), None, "{message}");
        }
    }

    #[test]
    fn only_the_end_of_a_long_text_is_read() {
        let text = format!("all tests pass. {}é", "é".repeat(20_000));
        assert_eq!(claim(&text), None);
    }
}
