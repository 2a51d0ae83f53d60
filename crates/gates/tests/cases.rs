//! Plays the cases of `tests/cases`: prose that says why, a fragment, and what must be said of it.
//!
//! The fence of a fragment names its language, and `test` behind it that it is from a test. The block `expect` behind it has the verdict
//! on its first line, then a line for each finding: line, kind, and `warning` where it does not fail the gate.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use std::fs;
use std::path::Path;

use checkrein_gates::{CodeOrigin, FindingWeight, Fragment, SourceLanguage, judge_fragment};

struct Case {
    place: String,
    language: SourceLanguage,
    origin: CodeOrigin,
    code: String,
    expected: String,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut pages: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages.iter().flat_map(|page| cases_of(page)).collect()
}

fn cases_of(page: &Path) -> Vec<Case> {
    let text = fs::read_to_string(page).unwrap();
    let name = page.file_name().unwrap().to_string_lossy().into_owned();
    let mut found = Vec::new();
    let mut fragment: Option<(usize, String, String)> = None;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(fence) = line.strip_prefix("```").filter(|fence| !fence.is_empty()) else { continue };
        let block: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let block = block.join("\n");
        if fence != "expect" {
            assert!(fragment.is_none(), "{name}:{}: the fragment before has no `expect`", number + 1);
            fragment = Some((number + 1, fence.to_owned(), block));
            continue;
        }
        let (at, fence, code) = fragment.take().expect("a fragment before `expect`");
        let mut words = fence.split(' ');
        let language = words.next().and_then(SourceLanguage::named).expect("a language");
        let origin = match words.next() {
            None => CodeOrigin::Product,
            Some("test") => CodeOrigin::Tests,
            Some(other) => panic!("{name}:{at}: `{other}`"),
        };
        found.push(Case { place: format!("{name}:{at}"), language, origin, code, expected: block });
    }
    assert!(fragment.is_none(), "{name}: the last fragment has no `expect`");
    found
}

fn said(case: &Case) -> String {
    let Case { language, origin, code, .. } = case;
    let answer = judge_fragment(Fragment { language: *language, code, origin: *origin });
    let mut lines = vec![answer.verdict.name().to_owned()];
    lines.extend(answer.findings.iter().map(|finding| {
        let weight = match finding.weight {
            FindingWeight::Error => "",
            FindingWeight::Warning => " warning",
        };
        format!("{} {}{weight}", finding.line, finding.kind)
    }));
    lines.join("\n")
}

// Source: seed 004-45, 004-46, 004-47, 004-48
#[test]
fn every_case_is_judged_as_it_says() {
    let cases = cases();
    let wrong: Vec<String> = cases
        .iter()
        .filter(|case| said(case) != case.expected)
        .map(|case| {
            format!(
                "{}\n{}\n-- wanted:\n{}\n-- said:\n{}\n",
                case.place,
                case.code,
                case.expected,
                said(case)
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn every_language_has_a_stub_and_complete_code() {
    for name in [
        "rust",
        "python",
        "javascript",
        "typescript",
        "tsx",
        "go",
        "java",
        "c",
        "cpp",
        "ruby",
        "php",
        "csharp",
        "shell",
    ] {
        let language = SourceLanguage::named(name).unwrap();
        for verdict in ["stub", "complete"] {
            let has_one = cases()
                .iter()
                .any(|case| case.language == language && case.expected.lines().next() == Some(verdict));
            assert!(has_one, "{name} has no case that is {verdict}");
        }
    }
}
