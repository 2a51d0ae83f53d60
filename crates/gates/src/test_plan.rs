//! The gate of test plans: requirements against the tests that are planned for them, and tests that say nothing or are left to people.

use std::collections::{BTreeMap, BTreeSet};

use crate::design::{Design, DesignItem, DesignSection};
use crate::finding::{FindingKind, FindingWeight, GateFinding};

/// The share of requirements that must have a test, in percent (upstream).
const COVERAGE: usize = 95;

/// How many words a requirement and a test must share where no number ties them, and how long these are at least (upstream).
const SHARED: usize = 2;
const LETTERS: usize = 4;

/// Phrases that say nothing a test could fail by (upstream).
const VAGUE: [&str; 8] = [
    "verify it works",
    "check everything",
    "ensure proper behavior",
    "test that it is correct",
    "validate functionality",
    "confirm it functions",
    "should work properly",
    "works as expected",
];

/// Phrases that leave a test to people (upstream).
const DELEGATING: [&str; 8] = [
    "manual verification",
    "manual check",
    "manual inspection",
    "visual check",
    "visual verification",
    "human review",
    "visually inspect",
    "manually verify",
];

/// Words that tie nothing to anything (ours).
const COMMON: [&str; 22] = [
    "must",
    "shall",
    "should",
    "with",
    "that",
    "this",
    "when",
    "from",
    "each",
    "have",
    "test",
    "tests",
    "will",
    "does",
    "into",
    "then",
    "than",
    "they",
    "them",
    "only",
    "requirement",
    "verify",
];

/// What a plan comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestPlanAnswer {
    /// By line.
    pub findings: Vec<GateFinding>,
    /// What could not be looked at, in words.
    pub not_run: Option<&'static str>,
    /// How many requirements there are.
    pub requirements: usize,
    /// How many of them have a test.
    pub covered: usize,
}

/// Examines the plan in a document.
pub fn examine_test_plan(text: &str) -> TestPlanAnswer {
    let design = Design::read(text);
    let tests = entries(&design, is_about_tests);
    let requirements: Vec<Entry> =
        entries(&design, |title| words(title).any(|word| word.starts_with("requirement")))
            .into_iter()
            .filter(|entry| !tests.iter().any(|test| test.line == entry.line))
            .collect();
    let mut findings: Vec<GateFinding> = tests.iter().flat_map(phrases).collect();
    findings.extend(repeated(&tests));
    let bare: Vec<&Entry> =
        requirements.iter().filter(|one| !tests.iter().any(|test| covers(test, one))).collect();
    let covered = requirements.len() - bare.len();
    let is_enough = covered * 100 >= requirements.len() * COVERAGE;
    let weight = if is_enough { FindingWeight::Warning } else { FindingWeight::Error };
    findings.extend(
        bare.iter()
            .map(|one| GateFinding::at(one.line, FindingKind::RequirementWithoutTest, weight, &one.text)),
    );
    findings.sort_by_key(|finding| (finding.line, finding.kind));
    let not_run =
        requirements.is_empty().then_some("no section with `requirements` in its heading lists any");
    TestPlanAnswer { findings, not_run, requirements: requirements.len(), covered }
}

/// A requirement or a test.
#[derive(Debug)]
struct Entry {
    line: usize,
    text: String,
    /// What names it: the cell or words at its beginning.
    name: String,
    /// Whether a cell says that people do it.
    is_manual: bool,
}

fn is_about_tests(title: &str) -> bool {
    words(title).any(|word| {
        word.starts_with("test") || word.starts_with("scenario") || word.starts_with("verification")
    })
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// The rows of tables and the items of lists below headings.
fn entries(design: &Design, is_about: impl Fn(&str) -> bool) -> Vec<Entry> {
    let about: Vec<&DesignSection> =
        design.sections.iter().filter(|section| is_about(&section.title)).collect();
    let is_below = |line: usize| {
        // The nearest heading above decides whose it is, or one that it belongs to.
        about.iter().any(|section| (section.line..=section.last_line).contains(&line))
    };
    let rows = design.tables.iter().filter(|table| is_below(table.line)).flat_map(|table| {
        let name = table.head.iter().position(|cell| {
            words(cell).any(|word| matches!(word.as_str(), "scenario" | "test" | "name" | "requirement"))
        });
        table.rows.iter().map(move |(line, cells)| Entry {
            line: *line,
            text: cells.join(" | "),
            name: cells.get(name.unwrap_or(0)).cloned().unwrap_or_default(),
            is_manual: cells.iter().any(|cell| cell.trim_matches('*').eq_ignore_ascii_case("manual")),
        })
    });
    let items =
        design.items.iter().filter(|item| is_below(item.line)).map(|DesignItem { line, text }| Entry {
            line: *line,
            text: text.clone(),
            name: text.split([':', '.']).next().unwrap_or_default().to_owned(),
            is_manual: false,
        });
    rows.chain(items).collect()
}

/// Whether a test is for a requirement: it names its number, or, where no numbers are given, shares words with it.
fn covers(test: &Entry, requirement: &Entry) -> bool {
    let own: BTreeSet<String> = numbers(&requirement.text).into_iter().take(1).collect();
    let named: BTreeSet<String> = numbers(&test.text);
    if let Some(own) = own.first()
        && !named.is_empty()
    {
        return named.contains(own);
    }
    let telling = |text: &str| -> BTreeSet<String> {
        words(text).filter(|word| word.len() >= LETTERS && !COMMON.contains(&word.as_str())).collect()
    };
    telling(&test.text).intersection(&telling(&requirement.text)).count() >= SHARED
}

/// References such as `REQ-3`, `R3`, `FR-12`, in one form.
fn numbers(text: &str) -> BTreeSet<String> {
    let parts = text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '-' || sign == '_'));
    let number = |part: &str| {
        let letters = part.bytes().take_while(u8::is_ascii_uppercase).count();
        let kind = part.get(..letters)?;
        let digits = part.get(letters..)?.trim_start_matches(['-', '_']);
        let is_number =
            !digits.is_empty() && digits.len() <= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_kind = matches!(kind, "REQ" | "R" | "FR" | "NFR");
        (is_number && is_kind).then(|| {
            let kind = if kind == "R" { "REQ" } else { kind };
            format!("{kind}-{}", digits.trim_start_matches('0'))
        })
    };
    parts.filter_map(number).collect()
}

fn phrases(test: &Entry) -> Vec<GateFinding> {
    let lower = words(&test.text).collect::<Vec<_>>().join(" ");
    let mut findings = Vec::new();
    if VAGUE.iter().any(|phrase| lower.contains(phrase)) {
        findings.push(GateFinding::at(test.line, FindingKind::VagueTest, FindingWeight::Error, &test.text));
    }
    if !test.is_manual && DELEGATING.iter().any(|phrase| lower.contains(phrase)) {
        findings.push(GateFinding::at(
            test.line,
            FindingKind::DelegatedTest,
            FindingWeight::Error,
            &test.text,
        ));
    }
    findings
}

fn repeated(tests: &[Entry]) -> Vec<GateFinding> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut findings = Vec::new();
    for test in tests {
        let name = words(&test.name).collect::<Vec<_>>().join(" ");
        if name.is_empty() {
            continue;
        }
        match seen.get(&name) {
            Some(first) => {
                let words = format!("{} (as in line {first})", test.name);
                let kind = FindingKind::RepeatedTest;
                findings.push(GateFinding::at(test.line, kind, FindingWeight::Error, &words));
            }
            None => {
                seen.insert(name, test.line);
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    const PLAN: &str = "# Plan\n\n## Requirements\n\n1. REQ-1: settings are read from a file\n2. REQ-2: a broken file is refused with its line\n\n\
        ## Test scenarios\n\n| ID | Scenario | Requirement | Type |\n|---|---|---|---|\n\
        | T1 | a file with two settings gives both | REQ-1 | unit |\n| T2 | a bracket that is never closed names line 3 | R2 | unit |\n";

    fn found(text: &str) -> (Vec<String>, usize, usize) {
        let answer = examine_test_plan(text);
        let findings =
            answer.findings.iter().map(|one| format!("{} {} {}", one.line, one.weight.name(), one.kind));
        (findings.collect(), answer.requirements, answer.covered)
    }

    // Source: seed 004-42
    #[test]
    fn every_requirement_has_a_test() {
        assert_eq!(found(PLAN), (vec![], 2, 2));
        let gap = PLAN.replace("| R2 |", "| REQ-1 |");
        assert_eq!(found(&gap), (vec!["6 error requirement_without_test".to_owned()], 2, 1));
        // Of forty, one may be missing.
        let mut many = "# Plan\n\n## Requirements\n\n".to_owned();
        for number in 1..=40 {
            let _ = writeln!(many, "- REQ-{number}: it does thing {number}");
        }
        many.push_str("\n## Tests\n\n");
        for number in 1..40 {
            let _ = writeln!(many, "- case {number} for REQ-{number}");
        }
        assert_eq!(found(&many), (vec!["44 warning requirement_without_test".to_owned()], 40, 39));
    }

    #[test]
    fn words_tie_tests_to_requirements_without_numbers() {
        let plan = "# Plan\n\n## Requirements\n\n- Broken settings are refused\n- Colours follow the terminal\n\n## Tests\n\n- settings that are broken: the line is named\n";
        assert_eq!(found(plan), (vec!["6 error requirement_without_test".to_owned()], 2, 1));
    }

    #[test]
    fn tests_must_say_something_and_be_run() {
        let with = |text: &str| found(&PLAN.replace("a file with two settings gives both", text)).0;
        assert_eq!(with("Verify it works"), ["12 error vague_test"]);
        assert_eq!(
            with("loading works as expected, by visual check"),
            ["12 error vague_test", "12 error delegated_test"]
        );
        assert_eq!(with("a bracket that is never closed names line 3"), ["13 error repeated_test"]);
        let manual =
            PLAN.replace("gives both | REQ-1 | unit |", "gives both, by manual check | REQ-1 | manual |");
        assert!(found(&manual).0.is_empty());
    }

    #[test]
    fn a_document_without_requirements_is_not_judged() {
        assert!(examine_test_plan("# Plan\n\n## Tests\n\n- a: b\n").not_run.is_some());
        assert!(examine_test_plan(PLAN).not_run.is_none());
    }
}
