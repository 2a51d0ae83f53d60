//! Claims: what an agent says that it has seen. One sort is looked for, the one that people rely on: that the tests pass.

use serde::{Deserialize, Serialize};

/// How much of the end of a message is read, in bytes (ours): what was done is summed up there.
const LONGEST: usize = 10_000;

/// Something that a message says was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The tests pass.
    TestsPass,
}

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

impl Claim {
    /// The claim in a message, if there is one. Questions, conditions and negations are none.
    pub fn of(message: &str) -> Option<Self> {
        let start = message.len().saturating_sub(LONGEST);
        let start =
            (start..=message.len()).find(|start| message.is_char_boundary(*start)).unwrap_or_default();
        let text = message.get(start..).unwrap_or_default().to_lowercase().replace('\u{2019}', "'");
        let mut sentences = text.split_inclusive(['.', '!', '?', '\n', ';']);
        sentences.any(claims_tests).then_some(Self::TestsPass)
    }
}

fn claims_tests(sentence: &str) -> bool {
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
        return false;
    }
    SUBJECTS.iter().any(|subject| {
        sentence.match_indices(subject).any(|(start, _)| {
            let before = sentence.get(..start).unwrap_or_default();
            let rest = sentence.get(start + subject.len()..).unwrap_or_default();
            let is_word = |verb: &&&str| {
                let after = rest.get(verb.len()..).and_then(|after| after.chars().next());
                rest.starts_with(**verb) && after.is_none_or(|letter| !letter.is_alphanumeric())
            };
            VERBS.iter().find(is_word).is_some() && !UNSURE.iter().any(|word| before.contains(word))
        })
    })
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
            assert_eq!(Claim::of(message), Some(Claim::TestsPass), "{message}");
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
            assert_eq!(Claim::of(message), None, "{message}");
        }
    }

    #[test]
    fn only_the_end_of_a_long_text_is_read() {
        let text = format!("all tests pass. {}é", "é".repeat(20_000));
        assert_eq!(Claim::of(&text), None);
    }
}
