//! What the gates cost on a change of 5,000 lines: each one alone, as at the end of a turn. `--nocapture` prints the seconds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on should panic; figures are to be read"
)]

mod support;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use support::TestEnvironment;

/// How many lines change, over all files.
const LINES: usize = 5_000;

/// The longest that one gate may take (ours): all of them have that long at the end of a turn, built for use.
const LONGEST: Duration = Duration::from_secs(7);

/// A function of ten lines in each of five languages; `N` is a number.
const FUNCTIONS: [(&str, &str); 5] = [
    (
        "py",
        "def fN(items, limit):\n    found = []\n    for item in items:\n        if item > limit:\n            found.append(item * N)\n        else:\n            found.append(item)\n    found.sort()\n    return found\n\n",
    ),
    (
        "rs",
        "fn fN(items: &[u32], limit: u32) -> Vec<u32> {\n    let mut found = Vec::new();\n    for item in items {\n        if *item > limit {\n            found.push(item * N);\n        }\n    }\n    found.sort_unstable();\n    found\n}\n",
    ),
    (
        "ts",
        "export function fN(items: number[], limit: number): number[] {\n  const found: number[] = [];\n  for (const item of items) {\n    if (item > limit) {\n      found.push(item * N);\n    }\n  }\n  found.sort();\n  return found;\n}\n",
    ),
    (
        "go",
        "func fN(items []int, limit int) []int {\n\tfound := []int{}\n\tfor _, item := range items {\n\t\tif item > limit {\n\t\t\tfound = append(found, item*N)\n\t\t}\n\t}\n\tsort.Ints(found)\n\treturn found\n}\n",
    ),
    (
        "java",
        "    int fN(List<Integer> items, int limit) {\n        int found = 0;\n        for (int item : items) {\n            if (item > limit) {\n                found += item * N;\n            }\n        }\n        log(found);\n        return found;\n    }\n",
    ),
];

/// A repository in which this many lines are new, in files of 250.
fn changed(lines: usize) -> (TestEnvironment, Vec<String>) {
    let environment = TestEnvironment::new();
    environment.write("go.mod", "module app\n");
    environment.write("package.json", "{\"name\": \"app\"}\n");
    environment.write("pyproject.toml", "[project]\nname = \"app\"\ndependencies = []\n");
    environment.write("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\n");
    environment.git(&["add", "--all"]);
    environment.commit("before");
    let mut names = Vec::new();
    for file in 0..lines / 250 {
        let (ending, function) = FUNCTIONS[file % FUNCTIONS.len()];
        let body: String =
            (0..25).map(|number| function.replace('N', &(file * 100 + number + 2).to_string())).collect();
        let text = match ending {
            "java" => format!("class C{file} {{\n{body}}}\n"),
            "go" => format!("package app\n\n{body}"),
            _ => body,
        };
        let name = format!("src/file{file}.{ending}");
        environment.write(&name, &text);
        names.push(name);
    }
    let mut design = "# Change\n\n## Problem\n\nMany functions are wanted, in many files, so that it can be seen how long the gates look at them. \
        Each file has twenty five of them, and all of them do nearly the same, which is nothing that anybody would call useful work.\n\n\
        ## Requirements\n\n- REQ-1: numbers above a limit are found\n\n## Files changed\n\n| File | Change |\n|---|---|\n"
        .to_owned();
    for name in &names {
        let _ = writeln!(design, "| `{name}` | add |");
    }
    design.push_str(
        "\n## Tests\n\n| Test | Checks |\n|---|---|\n| above_limit | REQ-1: f2([5], 3) gives 10 |\n",
    );
    environment.write("docs/design.md", &design);
    (environment, names)
}

#[test]
fn each_gate_looks_at_5000_lines_in_the_time_of_a_turn_end() {
    let (environment, names) = changed(LINES);
    for gate in [
        "completeness",
        "secrets",
        "phantoms",
        "licences",
        "scope",
        "mechanical",
        "test-plan",
        "implementation",
    ] {
        let design: &[&str] = match gate {
            "scope" | "mechanical" | "test-plan" | "implementation" => &["--design", "docs/design.md"],
            _ => &[],
        };
        let began = Instant::now();
        let output = environment.checkrein(&[&["--json", "gate", gate], design].concat());
        let took = began.elapsed();
        let answer: Json = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{gate}: {error}: {}", String::from_utf8_lossy(&output.stderr)));
        let outcome = answer["outcome"].as_str().unwrap();
        println!("{gate:<14} {outcome:<8} {:.2} s", took.as_secs_f64());
        assert!(took < LONGEST, "{gate} took {took:?}");
        // It looked at all of it, and this is honest work. Nobody recorded tests, and the files of a design that are to be added are there.
        let expected = match gate {
            "mechanical" => "failed",
            "implementation" => "not_run",
            _ => "passed",
        };
        assert_eq!(outcome, expected, "{gate}: {answer}");
        if gate == "completeness" {
            assert_eq!(answer["functions"].as_u64(), Some(names.len() as u64 * 25), "{answer}");
        }
    }
}
