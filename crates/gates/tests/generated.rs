//! Programs that are made from templates, in which what they are is known by how they are made: `tests/generated/LANGUAGE.txt`.
//!
//! A carrier is a text with a function whose body is missing; each body is put into each carrier, and each alternative (`«one¦other»`) is
//! taken. `stub` and `written` say what a body is. A `whole` text stands alone, and says what must be found: a verdict, `found KIND` for what
//! fails the gate, or `warned KIND` for what does not.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use checkrein_gates::{CodeOrigin, FindingWeight, Fragment, SourceLanguage, judge_fragment};

/// Names that say nothing about whether something is written.
const NAMES: [&str; 7] =
    ["parse_header", "load_invoice", "count", "merge", "renderPage", "resolve", "apply_discount"];

/// What a program is by its making.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Expected {
    Stub,
    Written,
    Interface,
    Found(String),
    Warned(String),
}

#[derive(Debug)]
struct Program {
    place: String,
    language: SourceLanguage,
    origin: CodeOrigin,
    code: String,
    expected: Expected,
}

struct Section {
    kind: String,
    title: String,
    text: String,
}

fn sections(text: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("== ") {
            let (kind, title) = head.split_once(' ').expect("a kind and a title");
            found.push(Section { kind: kind.to_owned(), title: title.to_owned(), text: String::new() });
        } else {
            let section = found.last_mut().expect("a section before its text");
            section.text.push_str(line);
            section.text.push('\n');
        }
    }
    found
}

/// All texts that a template stands for.
fn alternatives(template: &str) -> Vec<String> {
    let Some((before, rest)) = template.split_once('«') else { return vec![template.to_owned()] };
    let (inside, behind) = rest.split_once('»').expect("an end of alternatives");
    let ends = alternatives(behind);
    inside
        .split('¦')
        .flat_map(|one| {
            ends.iter()
                .map(move |end| format!("{before}{}{end}", one.replace("\\n", "\n").replace("\\t", "\t")))
        })
        .collect()
}

fn filled(carrier: &str, body: &str) -> String {
    let line = carrier.lines().find(|line| line.trim() == "BODY").expect("a line for the body");
    let indent = line.strip_suffix("BODY").unwrap();
    let body: Vec<String> = body.lines().map(|line| format!("{indent}{line}")).collect();
    carrier.replace(line, &body.join("\n"))
}

fn programs_of(language: SourceLanguage, name: &str, text: &str) -> Vec<Program> {
    let all = sections(text);
    let mut found = Vec::new();
    let mut number = 0;
    let mut add = |title: &str, code: String, expected: &Expected, origin| {
        let code = code.replace("NAME", NAMES[number % NAMES.len()]);
        number += 1;
        let place = format!("{name}: {title} ({number})");
        found.push(Program { place, language, origin, code, expected: expected.clone() });
    };
    for section in &all {
        let expected = match section.kind.as_str() {
            "carrier" => continue,
            "stub" => Expected::Stub,
            "written" => Expected::Written,
            "whole" => {
                let (title, origin) = match section.title.strip_suffix(" test") {
                    Some(title) => (title, CodeOrigin::Tests),
                    None => (section.title.as_str(), CodeOrigin::Product),
                };
                let mut words = title.split(' ');
                let word = words.next().unwrap();
                let kind = || words.clone().next().expect("a kind").to_owned();
                let expected = match word {
                    "stub" => Expected::Stub,
                    "written" => Expected::Written,
                    "interface" => Expected::Interface,
                    "found" => Expected::Found(kind()),
                    "warned" => Expected::Warned(kind()),
                    other => panic!("{name}: `{other}`"),
                };
                for code in alternatives(&section.text) {
                    add(title, code, &expected, origin);
                }
                continue;
            }
            other => panic!("{name}: `{other}`"),
        };
        for carrier in all.iter().filter(|one| one.kind == "carrier") {
            for body in alternatives(&section.text) {
                let title = format!("{} in {}", section.title, carrier.title);
                add(&title, filled(&carrier.text, &body), &expected, CodeOrigin::Product);
            }
        }
    }
    found
}

fn programs() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let language = SourceLanguage::named(&name).expect("a language");
            programs_of(language, &name, &fs::read_to_string(file).unwrap())
        })
        .collect()
}

/// What the gate says of a program, and whether that is what it is.
fn said(program: &Program) -> (&'static str, bool, String) {
    let Program { language, origin, code, .. } = program;
    let answer = judge_fragment(Fragment { language: *language, code, origin: *origin });
    let has = |weight: FindingWeight, kind: &str| {
        answer.findings.iter().any(|finding| finding.weight == weight && finding.kind.name() == kind)
    };
    let fails = answer.findings.iter().any(|finding| finding.weight == FindingWeight::Error);
    let verdict = answer.verdict.name();
    let is_right = match &program.expected {
        Expected::Stub => verdict == "stub" && fails,
        Expected::Written => ["complete", "ambiguous"].contains(&verdict) && !fails,
        Expected::Interface => verdict == "interface" && !fails,
        Expected::Found(kind) => has(FindingWeight::Error, kind),
        Expected::Warned(kind) => has(FindingWeight::Warning, kind) && !fails,
    };
    let findings: Vec<String> = answer
        .findings
        .iter()
        .map(|finding| format!("{} {} {}", finding.line, finding.kind, finding.weight.name()))
        .collect();
    (verdict, is_right, findings.join(", "))
}

#[test]
fn every_program_is_what_it_was_made_to_be() {
    let all = programs();
    let mut counted: BTreeMap<(String, &'static str), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for program in &all {
        let (verdict, is_right, findings) = said(program);
        let label = match &program.expected {
            Expected::Stub => "stub".to_owned(),
            Expected::Written => "written".to_owned(),
            Expected::Interface => "interface".to_owned(),
            Expected::Found(kind) | Expected::Warned(kind) => kind.clone(),
        };
        *counted.entry((label, verdict)).or_default() += 1;
        if !is_right {
            wrong.push(format!("{}\n{}-- {verdict}: {findings}\n", program.place, program.code));
        }
    }
    let table: Vec<String> = counted
        .iter()
        .map(|((label, verdict), count)| format!("{label} called {verdict}: {count}"))
        .collect();
    assert!(all.len() >= 600, "{}", all.len());
    assert!(
        wrong.is_empty(),
        "{} of {} programs:\n\n{}\n{}",
        wrong.len(),
        all.len(),
        wrong.join("\n"),
        table.join("\n")
    );
}
