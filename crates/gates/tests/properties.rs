//! What holds for every text.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use checkrein_gates::{
    CodeOrigin, CodeVerdict, FindingWeight, Fragment, GateText, SourceLanguage, examine_file, judge_fragment,
};
use proptest::prelude::*;

/// For each language: complete functions, and a stub that stands beside them. `N` is put in place of a number.
const ROWS: [(&str, &str, &str); 12] = [
    (
        "rust",
        "fn fN(a: u32) -> u32 {\n    a + N\n}\n",
        "fn gap() -> u32 {\n    panic!(\"not implemented\")\n}\n",
    ),
    ("python", "def fN(a):\n    return a + N\n", "def gap(a):\n    raise NotImplementedError\n"),
    (
        "javascript",
        "function fN(a) {\n  return a + N;\n}\n",
        "function gap(a) {\n  throw new Error('not implemented');\n}\n",
    ),
    (
        "typescript",
        "function fN(a: number): number {\n  return a + N;\n}\n",
        "function gap(a: number): number {\n  throw new Error('not implemented');\n}\n",
    ),
    (
        "go",
        "func fN(a int) int {\n\treturn a + N\n}\n",
        "func gap(a int) int {\n\tpanic(\"not implemented\")\n}\n",
    ),
    (
        "java",
        "int fN(int a) {\n    return a + N;\n}\n",
        "int gap(int a) {\n    throw new UnsupportedOperationException(\"not implemented\");\n}\n",
    ),
    (
        "c",
        "int fN(int a) {\n    return a + N;\n}\n",
        "int gap(int a) {\n    // not implemented\n    return 0;\n}\n",
    ),
    (
        "cpp",
        "int fN(int a) {\n    return a + N;\n}\n",
        "int gap(int a) {\n    throw std::logic_error(\"not implemented\");\n}\n",
    ),
    ("ruby", "def fN(a)\n  a + N\nend\n", "def gap(a)\n  raise NotImplementedError\nend\n"),
    (
        "php",
        "function fN($a) {\n    return $a + N;\n}\n",
        "function gap($a) {\n    throw new Exception('not implemented');\n}\n",
    ),
    (
        "csharp",
        "int fN(int a) {\n    return a + N;\n}\n",
        "int gap(int a) {\n    throw new System.NotImplementedException();\n}\n",
    ),
    ("shell", "fN() {\n  cp \"$1\" \"$2.N\"\n}\n", "gap() {\n  echo 'not implemented' >&2\n  return 1\n}\n"),
];

fn verdict(language: SourceLanguage, code: &str) -> CodeVerdict {
    judge_fragment(Fragment { language, code, origin: CodeOrigin::Product }).verdict
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // Source: seed 004-69, 004-77
    #[test]
    fn a_stub_among_complete_functions_is_found(row in 0..ROWS.len(), before in 0..5_usize, behind in 0..5_usize) {
        let (name, complete, stub) = ROWS[row];
        let language = SourceLanguage::named(name).unwrap();
        let functions = |from: usize, count: usize| {
            (from..from + count).map(|number| complete.replace('N', &number.to_string())).collect::<String>()
        };
        let (head, tail) = (functions(0, before), functions(before, behind));
        prop_assert_eq!(verdict(language, &format!("{head}{complete}{tail}").replace('N', "77")), CodeVerdict::Complete);
        let code = format!("{head}{stub}{tail}");
        prop_assert_eq!(verdict(language, &code), CodeVerdict::Stub, "{}", code);

        // In a file it is found where it changed, and only there.
        let text = if name == "php" { format!("<?php\n{code}") } else { code };
        let place = text.lines().position(|line| line.contains("gap")).unwrap() + 1;
        let found = |lines: std::ops::RangeInclusive<usize>| {
            let changed = [lines];
            let file = GateText { language, text: &text, changed: Some(&changed), origin: CodeOrigin::Product };
            examine_file(file).findings.into_iter().filter(|one| one.weight == FindingWeight::Error).count()
        };
        // Methods outside of a class are no Java, but what is not understood must not hide them.
        if !["java", "csharp"].contains(&name) {
            prop_assert!(found(place..=place) >= 1, "{}", text);
            if before > 0 && name != "php" {
                prop_assert_eq!(found(1..=1), 0, "{}", text);
            }
        }
    }

    #[test]
    fn every_text_has_an_answer(row in 0..ROWS.len(), text in "[ -~\\n]{0,300}", deep in 0..1500_usize) {
        let language = SourceLanguage::named(ROWS[row].0).unwrap();
        for code in [text.clone(), format!("{}{text}", "(".repeat(deep)), format!("{}{text}", "{ if (a) ".repeat(deep / 10))] {
            let answer = judge_fragment(Fragment { language, code: &code, origin: CodeOrigin::Tests });
            let lines = code.lines().count().max(1) + 1;
            prop_assert!(answer.findings.iter().all(|finding| (1..=lines).contains(&finding.line)));
            examine_file(GateText { language, text: &code, changed: None, origin: CodeOrigin::Product });
        }
    }
}

#[test]
fn a_text_that_is_too_long_is_said() {
    let rust = SourceLanguage::named("rust").unwrap();
    let text = "fn f() {}\n".repeat(110_000);
    let answer = judge_fragment(Fragment { language: rust, code: &text, origin: CodeOrigin::Product });
    assert_eq!(answer.verdict, CodeVerdict::NotParsed);
    assert_eq!(answer.findings.len(), 1);
}

/// A function that works and then refuses for a reason that it found is written; one that refuses for a reason of its own making is not.
#[test]
fn an_error_with_a_reason_that_was_found_is_a_refusal() {
    let fails = |raised: &str| {
        let text = format!(
            "def check_limits(limit):\n    reason = limits_of(limit)\n    if not reason:\n        return\n    {raised}\n"
        );
        let language = SourceLanguage::Python;
        let examined =
            examine_file(GateText { language, text: &text, changed: None, origin: CodeOrigin::Product });
        examined.findings.iter().any(|one| one.weight == FindingWeight::Error)
    };
    assert!(!fails("raise NotImplementedError(reason)"));
    assert!(fails("raise NotImplementedError"));
    assert!(fails("raise NotImplementedError(\"limits\")"));
}

/// `unimplemented!` is how Rust refuses for good, too: the message tells.
#[test]
fn a_refusal_by_a_macro_is_told_by_its_message() {
    let fails = |name: &str, message: &str| {
        let call = format!("{name}!({message})");
        let text = format!(
            "pub fn read(kind: Kind) -> u32 {{\n    match kind {{\n        Kind::Map => read_map(),\n        _ => {call},\n    }}\n}}\n\n\
             pub fn write(kind: Kind) {{\n    {call}\n}}\n"
        );
        let language = SourceLanguage::Rust;
        let examined =
            examine_file(GateText { language, text: &text, changed: None, origin: CodeOrigin::Product });
        examined.findings.iter().filter(|one| one.weight == FindingWeight::Error).count()
    };
    assert_eq!(fails("unimplemented", "\"unsupported kind {}\", kind"), 0);
    assert_eq!(fails("unimplemented", "\"only maps can be read\""), 0);
    assert_eq!(fails("unimplemented", "\"lists are not supported yet\""), 2);
    assert_eq!(fails("unimplemented", "\"reading of lists\""), 2);
    assert_eq!(fails("unimplemented", ""), 2);
    assert_eq!(fails("todo", "\"only maps can be read\""), 2);
}
