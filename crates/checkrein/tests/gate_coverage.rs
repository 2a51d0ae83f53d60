//! Coverage that is not lower: reports on disk against what they said before the change, through the real program.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, shell_call};

const DESIGN: &str = "# Shop\n\n## Files\n\n- `shop.py`\n";

/// A report of lcov of ten lines.
fn report(covered: usize) -> String {
    let line = |number: usize| format!("DA:{number},{}\n", usize::from(number <= covered));
    format!("TN:\nSF:shop.py\n{}end_of_record\n", (1..=10).map(line).collect::<String>())
}

/// A repository with a change, and a session that saw its tests pass.
struct Shop(TestEnvironment);

impl Shop {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        environment.write("shop.py", "def price(count):\n    return count * 3\n");
        environment.write("docs/design.md", DESIGN);
        environment.write(".gitignore", "lcov.info\n");
        environment.git(&["add", "--all"]);
        environment.commit("before");
        Self(environment)
    }

    fn change(&self, factor: u32) {
        self.0.write("shop.py", &format!("def price(count):\n    return count * {factor}\n"));
        thread::sleep(Duration::from_millis(30));
        let call = |more: Json| shell_call("a", "pytest -q", more);
        self.0.answer_to(&self.0.payload("s", "SessionStart", json!({ "source": "startup" })));
        self.0.answer_to(&self.0.payload("s", "PreToolUse", call(json!({}))));
        let response = json!({ "tool_response": { "stdout": "3 passed in 0.01s\n", "stderr": "" } });
        self.0.answer_to(&self.0.payload("s", "PostToolUse", call(response)));
    }

    fn tests_write(&self, covered: usize) {
        thread::sleep(Duration::from_millis(30));
        self.0.write("lcov.info", &report(covered));
    }

    /// The outcome, and what is told.
    fn gate(&self, more: &[&str]) -> (String, String) {
        let arguments = [&["--json", "gate", "implementation", "--design", "docs/design.md"], more].concat();
        let output = self.0.checkrein(&arguments);
        let answer: Json =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{more:?}: {output:?}"));
        let told = |list: &str, name: &str| -> Vec<String> {
            answer[list]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one[name].as_str().unwrap().to_owned())
                .collect()
        };
        let mut all = told("findings", "text");
        all.extend(told("not_run", "cause"));
        all.extend(told("coverage", "now"));
        assert_eq!(output.status.success(), answer["outcome"] == "passed", "{answer}");
        (answer["outcome"].as_str().unwrap().to_owned(), all.join("; "))
    }
}

// Source: seed 004-85
#[test]
fn coverage_that_falls_is_found_and_one_that_is_missing_never_passes() {
    let shop = Shop::new();
    shop.change(4);
    let (outcome, told) = shop.gate(&[]);
    assert_eq!(outcome, "not_run");
    assert!(told.contains("no report of it is at a usual place: name it"), "{told}");
    shop.0.write("pytest.ini", "[pytest]\n");
    let (outcome, told) = shop.gate(&[]);
    assert_ne!(outcome, "passed");
    assert!(told.contains("make one with `pytest --cov --cov-report=xml`, name it"), "{told}");
    fs::remove_file(shop.0.project().join("pytest.ini")).unwrap();

    shop.tests_write(8);
    let (outcome, told) = shop.gate(&[]);
    assert_eq!(outcome, "not_run");
    assert!(told.contains("80.00 % of lines, and nothing is known of the last commit"), "{told}");

    // A report of before the change, and one of another kind.
    shop.0.write("../before.info", &report(9));
    let (outcome, told) = shop.gate(&["--coverage-base", "../before.info"]);
    assert_eq!(
        (outcome.as_str(), told.as_str()),
        (
            "failed",
            "80.00 % of lines, and 90.00 % of lines before; it may fall by 0.1 points; 80.00 % of lines"
        )
    );
    let (outcome, _) = shop.gate(&["--coverage-base", "../before.info", "--coverage-tolerance", "10"]);
    assert_eq!(outcome, "passed");
    shop.0.write("../go.out", "mode: set\na.go:1.1,2.2 1 1\n");
    let (outcome, told) = shop.gate(&["--coverage-base", "../go.out"]);
    assert!(outcome == "not_run" && told.contains("different things"), "{told}");

    // Better than before.
    shop.0.write("../before.info", &report(7));
    assert_eq!(shop.gate(&["--coverage-base", "../before.info"]).0, "passed");
    assert_eq!(shop.gate(&["--coverage", "none"]).0, "passed");

    // A change behind the report.
    thread::sleep(Duration::from_millis(30));
    shop.change(5);
    let (outcome, told) = shop.gate(&["--coverage-base", "../before.info"]);
    assert!(outcome == "not_run" && told.contains("before the last change"), "{told}");
    // One that is cut off.
    thread::sleep(Duration::from_millis(30));
    shop.0.write("lcov.info", "TN:\nSF:shop.py\nDA:1,1\n");
    let (outcome, told) = shop.gate(&["--coverage-base", "../before.info"]);
    assert!(outcome == "not_run" && told.contains("form that is known"), "{told}");
    // One that is named and not there.
    let (outcome, told) = shop.gate(&["--coverage", "other.xml"]);
    assert!(outcome == "not_run" && told.contains("No such file"), "{told}");

    let output = shop.0.checkrein(&["gate", "completeness", "--coverage", "lcov.info"]);
    assert_eq!(output.status.code(), Some(1));
    let output = shop.0.checkrein(&["gate", "implementation", "--coverage-tolerance", "-1"]);
    assert!(!output.status.success());
}

#[test]
fn all_reports_that_tests_wrote_are_compared() {
    let shop = Shop::new();
    shop.0.write(".gitignore", "lcov.info\ncoverage.out\ncover.out\n");
    shop.0.write("cover.out", "mode: set\na.go:1.1,2.2 9 1\n");
    shop.0.git(&["add", "--all"]);
    shop.0.commit("ignored");
    shop.change(4);
    let go =
        |reached: usize| format!("mode: set\na.go:1.1,2.2 {reached} 1\na.go:3.1,4.2 {} 0\n", 10 - reached);
    shop.0.write("coverage.out", &go(9));
    shop.tests_write(9);
    assert_eq!(shop.gate(&[]).0, "not_run", "nothing is known of what was there before");
    shop.0.git(&["add", "--all"]);
    shop.0.commit("seen");
    shop.change(5);
    thread::sleep(Duration::from_millis(30));
    shop.0.write("coverage.out", &go(7));
    shop.tests_write(9);
    let (outcome, told) = shop.gate(&[]);
    assert_eq!(outcome, "failed", "the one that fell is not the newest");
    assert!(told.contains("70.00 % of statements, and 90.00 % of statements before"), "{told}");
    assert!(told.contains("90.00 % of lines"), "{told}");
    let output = shop.0.checkrein(&["--json", "gate", "implementation", "--design", "docs/design.md"]);
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["not_examined"][0]["path"], "cover.out", "it is older: {answer}");
}

#[test]
fn the_figure_of_a_commit_is_the_one_that_was_seen_at_its_content() {
    let shop = Shop::new();
    shop.change(4);
    shop.tests_write(9);
    assert_eq!(shop.gate(&[]).0, "not_run", "nothing is known of what was there before");
    // What was seen is committed, so it is the figure of that commit.
    shop.0.git(&["add", "--all"]);
    shop.0.commit("seen");
    shop.change(5);
    shop.tests_write(8);
    let (outcome, told) = shop.gate(&[]);
    assert!(outcome == "failed" && told.contains("90.00 % of lines before"), "{told}");
    shop.tests_write(9);
    assert_eq!(shop.gate(&[]).0, "passed");
    // A worse run at the same content later does not lower what the next change is held to.
    shop.tests_write(5);
    assert_eq!(shop.gate(&[]).0, "failed");
    shop.0.git(&["add", "--all"]);
    shop.0.commit("seen again");
    shop.0.write("docs/design.md", &DESIGN.replace("Shop", "Shops"));
    shop.change(6);
    shop.tests_write(8);
    assert_eq!(shop.gate(&[]).0, "failed");

    let kept = shop.0.state().join("coverage");
    assert!(fs::read_dir(kept).unwrap().count() >= 3);
}
