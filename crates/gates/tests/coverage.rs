//! Reports of coverage as tools write them: what each says about the same small program.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use std::fs;
use std::path::Path;

use checkrein_gates::{CoverageFigure, CoverageUnit, read_coverage};

/// Each report, with what the tool that wrote it printed as its figure.
const REPORTS: [(&str, CoverageUnit, u64, u64); 13] = [
    ("coveragepy.json", CoverageUnit::Lines, 7, 9),
    ("coveragepy.xml", CoverageUnit::Lines, 7, 9),
    ("coveragepy.lcov", CoverageUnit::Lines, 7, 9),
    ("gcovr.xml", CoverageUnit::Lines, 6, 8),
    ("gcovr-jacoco.xml", CoverageUnit::Lines, 6, 8),
    ("gcovr.lcov", CoverageUnit::Lines, 6, 8),
    ("istanbul-summary.json", CoverageUnit::Lines, 5, 7),
    ("istanbul-final.json", CoverageUnit::Statements, 5, 7),
    ("istanbul-cobertura.xml", CoverageUnit::Lines, 5, 7),
    ("node.lcov", CoverageUnit::Lines, 11, 15),
    ("go.out", CoverageUnit::Statements, 4, 6),
    ("jacoco.xml", CoverageUnit::Lines, 5, 8),
    ("llvm.json", CoverageUnit::Lines, 11, 13),
];

fn report(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage").join(name)).unwrap()
}

#[test]
fn each_form_says_what_its_tool_printed() {
    for (name, unit, covered, all) in REPORTS {
        assert_eq!(read_coverage(&report(name)), Ok(CoverageFigure { unit, covered, all }), "{name}");
    }
    let all = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage")).unwrap().count();
    assert_eq!(all, REPORTS.len() + 1, "each report has a row");
}

// A report that is cut off holds fewer lines, of which all may be covered.
#[test]
fn a_report_that_is_cut_off_gives_no_better_figure() {
    for (name, ..) in REPORTS {
        let text = report(name);
        let whole = read_coverage(&text).unwrap();
        // Each line of these stands for itself.
        if name == "go.out" {
            continue;
        }
        for end in text.char_indices().map(|(place, _)| place).filter(|place| *place + 2 < text.len()) {
            match read_coverage(&text[..end]) {
                Err(_) => {}
                Ok(figure) => assert!(
                    // Whole records of lcov, of a file each.
                    name.ends_with(".lcov")
                        && ["end_of_record", "TN:"].iter().any(|last| text[..end].trim_end().ends_with(last))
                        || figure == whole,
                    "{name}: {figure:?} of {end} bytes"
                ),
            }
        }
    }
}

#[test]
fn what_measured_nothing_is_no_figure() {
    for text in [
        "",
        "hello",
        "{}",
        "{\"total\": {\"lines\": {\"total\": 0, \"covered\": 0, \"skipped\": 0, \"pct\": \"Unknown\"}}}",
        "mode: set\n",
        "mode: other\na.go:1.1,2.2 1 1\n",
        "TN:\nend_of_record\n",
        "<html></html>",
        "<coverage/>",
        "<report name=\"x\"/>",
        "{\"type\": \"llvm.coverage.json.export\", \"data\": []}",
        "[1, 2]",
    ] {
        assert!(read_coverage(text).is_err(), "{text}");
    }
    // The same line in two records, of two runs of tests, is one line.
    let twice = "SF:a\nDA:1,0\nDA:2,1\nend_of_record\nSF:a\nDA:1,4\nDA:2,0\nDA:3,0\nend_of_record\n";
    assert_eq!(read_coverage(twice), Ok(CoverageFigure { unit: CoverageUnit::Lines, covered: 2, all: 3 }));
    let rate = read_coverage("<coverage line-rate=\"0.75\" version=\"1.9\"><packages/></coverage>").unwrap();
    assert_eq!(rate.to_string(), "75.00 % of lines");
}
