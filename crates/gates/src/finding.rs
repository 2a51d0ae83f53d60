//! What a gate finds.

use std::fmt;
use std::ops::RangeInclusive;

use crate::gate::Gate;

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

/// Declares the kinds of findings in one table: gate, name, what was seen, what to do.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal, $gate:expr, $seen:literal, $advice:literal;)*) => {
        /// Kinds of findings.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FindingKind {
            $($(#[$doc])* $kind,)*
        }

        impl FindingKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The name that is printed and that exemptions use.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// The gate that finds it; `None` where each does.
            pub fn gate(self) -> Option<Gate> {
                match self {
                    $(Self::$kind => $gate,)*
                }
            }

            /// What was seen, in words.
            pub fn seen(self) -> &'static str {
                match self {
                    $(Self::$kind => $seen,)*
                }
            }

            /// What to do about it.
            pub fn advice(self) -> &'static str {
                match self {
                    $(Self::$kind => $advice,)*
                }
            }
        }
    };
}

kinds! {
    /// A body that only says that it is not written.
    NotImplemented "not_implemented", Some(Gate::Completeness),
        "the body only says that it is not implemented",
        "write the body, or remove the function and what calls it";
    /// A branch that says so.
    UnfinishedBranch "unfinished_branch", Some(Gate::Completeness),
        "a branch is not implemented",
        "write the branch, or return an error that says what is not supported";
    /// A description and nothing else.
    DocumentationOnly "documentation_only", Some(Gate::Completeness),
        "the function has a description and no body",
        "write the body, or remove the function and what calls it";
    /// Nothing, with a comment that promises something.
    PlaceholderBody "placeholder_body", Some(Gate::Completeness),
        "a comment stands in place of the body",
        "write the body, or remove the function and what calls it";
    /// Nothing at all.
    EmptyBody "empty_body", Some(Gate::Completeness),
        "the body is empty",
        "write the body, or say in a comment why it does nothing";
    /// A fixed value that is named a stand-in.
    FakeResult "fake_result", Some(Gate::Completeness),
        "the result is a stand-in",
        "compute the result";
    /// A fixed value, whatever the arguments are.
    FixedResult "fixed_result", Some(Gate::Completeness),
        "the result does not depend on the arguments",
        "compute the result";
    /// A return before all of a body.
    SkippedBody "skipped_body", Some(Gate::Completeness),
        "a return stands before the body, so that none of it runs",
        "take the return out, or the code that it skips";
    /// A comment in place of code.
    ElidedCode "elided_code", Some(Gate::Completeness),
        "a comment stands in place of code",
        "write the code that the comment stands for";
    /// A mark that work is left, such as TO-DO.
    WorkMark "work_mark", Some(Gate::Completeness),
        "a mark says that work is left",
        "finish the work, or open an issue and name it here";
    /// A test that asserts nothing.
    NoAssertion "no_assertion", Some(Gate::Completeness),
        "the test asserts nothing",
        "assert what the test is about";
    /// An assertion that always holds.
    TrivialAssertion "trivial_assertion", Some(Gate::Completeness),
        "the assertion always holds",
        "assert something that the code under test can break";
    /// A test that is not run, without a reason.
    SkippedTest "skipped_test", Some(Gate::Completeness),
        "the test is skipped without a reason",
        "run the test, or say why it cannot run";
    /// A test that checks less than before.
    WeakenedTest "weakened_test", Some(Gate::Completeness),
        "the test checks less than before",
        "restore the assertions, or say why they no longer hold";
    /// An error that is caught and dropped.
    SwallowedError "swallowed_error", Some(Gate::Completeness),
        "an error is caught and dropped",
        "handle the error, pass it on, or say in a comment why it does not matter";
    /// Code in a comment.
    CommentedOutCode "commented_out_code", Some(Gate::Completeness),
        "code is commented out",
        "delete it: the repository keeps the old version";
    /// An exemption that does not say why.
    ExemptionWithoutReason "exemption_without_reason", None,
        "an exemption does not say why",
        "add the reason after the kind: `checkrein: allow KIND: REASON`";
    /// An exemption that came with the change.
    NewExemption "new_exemption", None,
        "an exemption that comes with the change keeps a finding back",
        "look whether its reason holds; without it, mend what it is about";
    /// A text that could not be read as code.
    NotParsed "not_parsed", Some(Gate::Completeness),
        "the text could not be read as code",
        "correct the syntax";
    /// A credential in a file.
    Secret "secret", Some(Gate::Secrets),
        "a credential stands in the text",
        "take it out, read it from the environment or a secret store, and replace the credential: it may have been read";
    /// A changed file that nobody listed.
    OutOfScope "out_of_scope", Some(Gate::Scope),
        "the file is outside the list of what may change",
        "take the change back, or add the file to the list";
    /// An import of what nothing shows to exist.
    PhantomImport "phantom_import", Some(Gate::Phantoms),
        "nothing shows that what is imported exists",
        "import what is there, or add the package to the manifest and install it";
    /// A package of a manifest that no lock file has.
    PhantomPackage "phantom_package", Some(Gate::Phantoms),
        "nothing shows that the package exists",
        "look it up in its registry, then install it, which brings the lock file up to date";
    /// A new package under a licence that is not allowed.
    LicenceNotAllowed "licence_not_allowed", Some(Gate::Licences),
        "the licence of a new package is not among those that are allowed",
        "use another package, or have the licence allowed";
    /// A new package whose licence nothing tells.
    LicenceUnknown "licence_unknown", Some(Gate::Licences),
        "the licence of a new package is not known",
        "install the package, so that its description can be read, or look its licence up";
    /// A section that a document needs.
    MissingSection "missing_section", Some(Gate::Mechanical),
        "a section of the document is missing or empty",
        "write it";
    /// A path of a document that does not fit the work tree.
    MissingPath "missing_path", Some(Gate::Mechanical),
        "a path of the document does not fit the work tree",
        "correct the path, or list the file with what becomes of it";
    /// A table that is not well formed.
    BrokenTable "broken_table", Some(Gate::Mechanical),
        "a table of the document is not well formed",
        "give each row as many cells as the head, and a line of dashes below it";
    /// A document that is too short or too long.
    DocumentSize "document_size", Some(Gate::Mechanical),
        "the document is too short or too long",
        "say what is to be done, and leave out what is not";
    /// A requirement that no test is planned for.
    RequirementWithoutTest "requirement_without_test", Some(Gate::TestPlan),
        "no test is planned for the requirement",
        "plan one, and name the number of the requirement in it";
    /// A test that says nothing it could fail by.
    VagueTest "vague_test", Some(Gate::TestPlan),
        "the test says nothing that it could fail by",
        "say what goes in and what must come out";
    /// A test that is left to people.
    DelegatedTest "delegated_test", Some(Gate::TestPlan),
        "the test is left to people",
        "plan a test that runs by itself, or say `manual` in the column of its type";
    /// A test that has the name of another.
    RepeatedTest "repeated_test", Some(Gate::TestPlan),
        "the test has the name of another one",
        "say what it tests that the other does not";
    /// A problem of a design that a reviewer names.
    DesignIssue "design_issue", Some(Gate::Lld),
        "a reviewer names a problem of the design",
        "change the design, then have it reviewed again";
    /// A design that a reviewer does not approve.
    DesignNotApproved "design_not_approved", Some(Gate::Lld),
        "a reviewer does not approve the design",
        "change the design, then have it reviewed again";
    /// A file that a design names and that did not change as it says.
    DesignNotDone "design_not_done", Some(Gate::Implementation),
        "a file of the design did not change as it says",
        "do what the design says, or correct the design";
    /// A changed file that the design does not name.
    NotInDesign "not_in_design", Some(Gate::Implementation),
        "the file changed, and the design does not name it",
        "take the change back, or add the file to the design";
    /// Tests that were not seen to run since the last change.
    TestsNotSeen "tests_not_seen", Some(Gate::Implementation),
        "tests were not seen to pass since the last change",
        "run the tests in a session that is recorded";
    /// Tests that failed when they ran last.
    TestsFailed "tests_failed", Some(Gate::Implementation),
        "tests failed when they ran last",
        "make them pass";
    /// Tests that reach less of the code than before.
    CoverageLower "coverage_lower", Some(Gate::Implementation),
        "tests reach less of the code than before the change",
        "write tests for what is new, or restore those that are gone";
    /// A package that is named nearly like one that many know.
    LookalikePackage "lookalike_package", Some(Gate::Phantoms),
        "the name of the package differs by one letter from a well-known one",
        "make sure that it is the one that is meant";
}

impl FindingKind {
    /// The kind of a name; `None` when there is none of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Whether a gate finds it.
    pub fn is_of(self, gate: Gate) -> bool {
        self.gate().is_none_or(|own| {
            // A design is reviewed after its form was looked at.
            own == gate || (gate == Gate::Lld && matches!(own, Gate::Mechanical | Gate::TestPlan))
        })
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl GateFinding {
    /// A finding about one line.
    pub(crate) fn at(line: usize, kind: FindingKind, weight: FindingWeight, text: &str) -> Self {
        let text = shown(text);
        Self { line, first_line: line, last_line: line, kind, weight, function: String::new(), text }
    }

    /// A finding about a file as a whole.
    pub(crate) fn of_file(kind: FindingKind, weight: FindingWeight, text: &str) -> Self {
        Self { first_line: 1, last_line: usize::MAX, ..Self::at(1, kind, weight, text) }
    }

    /// Whether it is about tests that are gone: no line of the file as it is now stands for it.
    pub(crate) fn is_of_what_is_gone(&self) -> bool {
        self.first_line == 1 && self.last_line == usize::MAX && self.kind == FindingKind::WeakenedTest
    }

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
            assert_eq!(FindingKind::named(kind.name()), Some(*kind));
        }
    }

    #[test]
    fn shown_code_is_one_short_line() {
        assert_eq!(shown("\n  a\n b"), "a");
        assert_eq!(shown(&"é".repeat(130)).chars().count(), 123);
    }
}
