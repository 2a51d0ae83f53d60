//! What a gate finds.

use std::fmt;
use std::ops::RangeInclusive;

/// Something that a gate found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateFinding {
    /// The line, counted from 1.
    pub line: usize,
    /// The first line of the function or statement that it is about.
    pub first_line: usize,
    /// The last line of it.
    pub last_line: usize,
    /// What it is.
    pub kind: FindingKind,
    /// Whether it fails the gate.
    pub weight: FindingWeight,
    /// The name of the function that it is about; empty where it is about none.
    pub function: String,
    /// The code that shows it: one line, cut to 120 characters.
    pub text: String,
}

/// Whether a finding fails a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingWeight {
    /// Worth a look; does not fail the gate unless it is strict.
    Warning,
    /// Fails the gate.
    Error,
}

impl FindingWeight {
    /// The word that is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// A body that only says that it is not written.
    NotImplemented,
    /// A branch that says so.
    UnfinishedBranch,
    /// A description and nothing else.
    DocumentationOnly,
    /// Nothing, with a comment that promises something.
    PlaceholderBody,
    /// Nothing at all.
    EmptyBody,
    /// A fixed value that is named a stand-in.
    FakeResult,
    /// A fixed value, whatever the arguments are.
    FixedResult,
    /// A comment in place of code.
    ElidedCode,
    /// A mark that work is left, such as TO-DO.
    WorkMark,
    /// A test that asserts nothing.
    NoAssertion,
    /// An assertion that always holds.
    TrivialAssertion,
    /// A test that is not run, without a reason.
    SkippedTest,
    /// A test that checks less than before.
    WeakenedTest,
    /// An error that is caught and dropped.
    SwallowedError,
    /// Code in a comment.
    CommentedOutCode,
    /// An exemption that does not say why.
    ExemptionWithoutReason,
    /// A text that could not be read as code.
    NotParsed,
}

impl FindingKind {
    /// All kinds.
    pub const ALL: [Self; 17] = [
        Self::NotImplemented,
        Self::UnfinishedBranch,
        Self::DocumentationOnly,
        Self::PlaceholderBody,
        Self::EmptyBody,
        Self::FakeResult,
        Self::FixedResult,
        Self::ElidedCode,
        Self::WorkMark,
        Self::NoAssertion,
        Self::TrivialAssertion,
        Self::SkippedTest,
        Self::WeakenedTest,
        Self::SwallowedError,
        Self::CommentedOutCode,
        Self::ExemptionWithoutReason,
        Self::NotParsed,
    ];

    /// The name that is printed and that exemptions use.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotImplemented => "not_implemented",
            Self::UnfinishedBranch => "unfinished_branch",
            Self::DocumentationOnly => "documentation_only",
            Self::PlaceholderBody => "placeholder_body",
            Self::EmptyBody => "empty_body",
            Self::FakeResult => "fake_result",
            Self::FixedResult => "fixed_result",
            Self::ElidedCode => "elided_code",
            Self::WorkMark => "work_mark",
            Self::NoAssertion => "no_assertion",
            Self::TrivialAssertion => "trivial_assertion",
            Self::SkippedTest => "skipped_test",
            Self::WeakenedTest => "weakened_test",
            Self::SwallowedError => "swallowed_error",
            Self::CommentedOutCode => "commented_out_code",
            Self::ExemptionWithoutReason => "exemption_without_reason",
            Self::NotParsed => "not_parsed",
        }
    }

    /// The kind of a name; `None` when there is none of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What was seen, in words.
    pub fn seen(self) -> &'static str {
        match self {
            Self::NotImplemented => "the body only says that it is not implemented",
            Self::UnfinishedBranch => "a branch is not implemented",
            Self::DocumentationOnly => "the function has a description and no body",
            Self::PlaceholderBody => "a comment stands in place of the body",
            Self::EmptyBody => "the body is empty",
            Self::FakeResult => "the result is a stand-in",
            Self::FixedResult => "the result does not depend on the arguments",
            Self::ElidedCode => "a comment stands in place of code",
            Self::WorkMark => "a mark says that work is left",
            Self::NoAssertion => "the test asserts nothing",
            Self::TrivialAssertion => "the assertion always holds",
            Self::SkippedTest => "the test is skipped without a reason",
            Self::WeakenedTest => "the test checks less than before",
            Self::SwallowedError => "an error is caught and dropped",
            Self::CommentedOutCode => "code is commented out",
            Self::ExemptionWithoutReason => "an exemption does not say why",
            Self::NotParsed => "the text could not be read as code",
        }
    }

    /// What to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::NotImplemented | Self::DocumentationOnly | Self::PlaceholderBody => {
                "write the body, or remove the function and what calls it"
            }
            Self::UnfinishedBranch => "write the branch, or return an error that says what is not supported",
            Self::EmptyBody => "write the body, or say in a comment why it does nothing",
            Self::FakeResult | Self::FixedResult => "compute the result",
            Self::ElidedCode => "write the code that the comment stands for",
            Self::WorkMark => "finish the work, or open an issue and name it here",
            Self::NoAssertion => "assert what the test is about",
            Self::TrivialAssertion => "assert something that the code under test can break",
            Self::SkippedTest => "run the test, or say why it cannot run",
            Self::WeakenedTest => "restore the assertions, or say why they no longer hold",
            Self::SwallowedError => {
                "handle the error, pass it on, or say in a comment why it does not matter"
            }
            Self::CommentedOutCode => "delete it: the repository keeps the old version",
            Self::ExemptionWithoutReason => "add the reason after the kind: `checkrein: allow KIND: REASON`",
            Self::NotParsed => "correct the syntax",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl GateFinding {
    /// Whether it is about any line of some ranges.
    pub(crate) fn touches(&self, ranges: &[RangeInclusive<usize>]) -> bool {
        ranges.iter().any(|range| *range.start() <= self.last_line && self.first_line <= *range.end())
    }
}

/// One line of code, cut to 120 characters.
pub(crate) fn shown(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(120) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_found() {
        for kind in FindingKind::ALL {
            assert_eq!(FindingKind::named(kind.name()), Some(kind));
        }
    }

    #[test]
    fn shown_code_is_one_short_line() {
        assert_eq!(shown("\n  a\n b"), "a");
        assert_eq!(shown(&"é".repeat(130)).chars().count(), 123);
    }
}
