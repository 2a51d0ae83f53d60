//! The gate of low-level designs: their form, and what a reviewer of another model says about them.
//!
//! Sections, paths, tables and the test plan are looked at first: no reviewer is asked about a document that fails by its form. What a
//! reviewer says is a finding at the section that it names. No comment of the document allows it: whoever wrote the design also wrote those.

use std::collections::BTreeSet;

use crate::design::{Design, DesignSection};
use crate::finding::{FindingKind, FindingWeight, GateFinding};
use crate::mechanical::examine_design;
use crate::source::one_line;
use crate::test_plan::{TestPlanAnswer, examine_test_plan};

/// What a reviewer of a design is asked (upstream 3.7: quality, completeness, feasibility, before any code is written).
pub const LLD_QUESTION: &str = "Is this low-level design fit to be coded as it stands? Judge the design, not its wording:\n\
    - Completeness: does each requirement have a part of the design and a test that can fail? Are inputs, outputs, errors, limits, states, \
    and the order of what happens said?\n\
    - Feasibility: can it be built with the files that it lists and with what is there? Does it name functions, data or programs that it \
    does not introduce?\n\
    - Quality: is it the simplest design that does what is asked for, and nothing besides? Does it contradict itself?\n\
    - Safety: what does it delete, overwrite, publish or let others do? How is it taken back? What becomes of secrets?\n\
    Name each problem with the heading of its section as its `place`.";

/// A problem that a reviewer names.
#[derive(Debug, Clone, Copy)]
pub struct DesignIssue<'a> {
    /// Where: a heading, its number, or other words.
    pub place: &'a str,
    /// What is wrong.
    pub problem: &'a str,
    /// Whether it fails the gate.
    pub weight: FindingWeight,
}

/// What a reviewer decided about a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DesignDecision {
    /// It may be coded.
    Approved,
    /// It has to change first, or must not be done.
    NotApproved,
}

/// Examines the form of a design: all that the gates of its form and of its test plan find. `paths` are those of all files of the work tree.
pub fn examine_form(text: &str, paths: &BTreeSet<String>) -> TestPlanAnswer {
    let mut answer = examine_test_plan(text);
    answer.findings.extend(examine_design(text, paths, &[]));
    answer.findings.sort_by_key(|finding| (finding.line, finding.kind));
    answer
}

/// The findings of a review. A design that is not approved has one that fails the gate, whatever its issues weigh.
pub fn reviewed_design(
    text: &str,
    decision: DesignDecision,
    rationale: &str,
    issues: &[DesignIssue<'_>],
) -> Vec<GateFinding> {
    let design = Design::read(text);
    let mut findings: Vec<GateFinding> = issues
        .iter()
        .map(|issue| {
            let (line, place) = match section(&design, issue.place) {
                Some(section) => (section.line, section.title.as_str()),
                None => (1, issue.place.trim()),
            };
            let words = if place.is_empty() {
                issue.problem.to_owned()
            } else {
                format!("{place}: {}", issue.problem.trim())
            };
            GateFinding::at(line, FindingKind::DesignIssue, issue.weight, &one_line(&words))
        })
        .collect();
    let fails = findings.iter().any(|finding| finding.weight == FindingWeight::Error);
    if decision == DesignDecision::NotApproved && !fails {
        let kind = FindingKind::DesignNotApproved;
        findings.push(GateFinding::at(1, kind, FindingWeight::Error, &one_line(rationale)));
    }
    findings.sort_by_key(|finding| (finding.line, finding.kind));
    findings
}

/// The section that a reviewer means: the one whose heading it gives, or the deepest one whose number or whose whole title stands in its words.
fn section<'d>(design: &'d Design, place: &str) -> Option<&'d DesignSection> {
    let plain = |text: &str| {
        let words: Vec<String> = text
            .to_lowercase()
            .split(|sign: char| !sign.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        words.join(" ")
    };
    let asked = plain(place);
    if asked.is_empty() {
        return None;
    }
    let titled = || design.sections.iter().map(|section| (section, plain(&section.title)));
    if let Some((section, _)) = titled().find(|(_, title)| *title == asked) {
        return Some(section);
    }
    let within = format!(" {asked} ");
    titled()
        .filter(|(_, title)| !title.is_empty() && within.contains(&format!(" {title} ")))
        .max_by_key(|(section, title)| (title.len(), section.level))
        .or_else(|| {
            let begins = format!("{asked} ");
            titled().find(|(_, title)| title.starts_with(&begins))
        })
        .map(|(section, _)| section)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESIGN: &str = "# Load settings\n\n## 1. Problem\n\nText.\n\n## 2. Files changed\n\nText.\n\n### 2.1 Data model\n\nText.\n\n## Tests\n\nText.\n";

    fn found(decision: DesignDecision, issues: &[(&str, &str, FindingWeight)]) -> Vec<String> {
        let issues: Vec<DesignIssue<'_>> = issues
            .iter()
            .map(|(place, problem, weight)| DesignIssue { place, problem, weight: *weight })
            .collect();
        let findings = reviewed_design(DESIGN, decision, "the limits\nare missing", &issues);
        findings
            .iter()
            .map(|one| format!("{} {} {}: {}", one.line, one.weight.name(), one.kind, one.text))
            .collect()
    }

    // Source: seed 004-40
    #[test]
    fn issues_stand_at_the_sections_that_they_name() {
        let error = FindingWeight::Error;
        for (place, line) in [
            ("2.1", 11),
            ("2.1 Data model", 11),
            ("Section 2.1 Data model", 11),
            ("## Tests", 15),
            ("tests", 15),
            ("docs/design.md, Tests, row 3", 15),
            ("1. Problem", 3),
            ("nowhere", 1),
            ("", 1),
        ] {
            let found = found(DesignDecision::NotApproved, &[(place, "no\nlimit", error)]);
            assert_eq!(found.len(), 1, "{place}: {found:?}");
            assert!(found[0].starts_with(&format!("{line} error design_issue")), "{place}: {found:?}");
            assert!(found[0].ends_with("no limit"), "{place}: {found:?}");
        }
    }

    #[test]
    fn what_is_not_approved_fails_whatever_its_issues_weigh() {
        let warning = FindingWeight::Warning;
        assert_eq!(
            found(DesignDecision::NotApproved, &[("Tests", "one more", warning)]),
            [
                "1 error design_not_approved: the limits are missing",
                "15 warning design_issue: Tests: one more"
            ]
        );
        assert_eq!(
            found(DesignDecision::NotApproved, &[]),
            ["1 error design_not_approved: the limits are missing"]
        );
        assert_eq!(
            found(DesignDecision::Approved, &[("Tests", "one more", warning)]),
            ["15 warning design_issue: Tests: one more"]
        );
        assert!(found(DesignDecision::Approved, &[]).is_empty());
    }

    #[test]
    fn the_form_is_that_of_both_gates() {
        let answer = examine_form("# A\n\n## Tests\n\n- it works as expected\n", &BTreeSet::new());
        let kinds: BTreeSet<&str> = answer.findings.iter().map(|one| one.kind.name()).collect();
        assert!(kinds.contains("vague_test") && kinds.contains("document_size"), "{kinds:?}");
        assert!(answer.not_run.is_some());
    }
}
