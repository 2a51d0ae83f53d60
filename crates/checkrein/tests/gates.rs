//! The gates over a real repository: what counts as changed, what fails, and every form of the report.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Output, Stdio};

use serde_json::Value as Json;
use support::TestEnvironment;
use support::gate_answers::{found, said};

const OLD: &str = "fn old() -> u32 {\n    panic!(\"not implemented\")\n}\n";

/// A repository with a stub that nobody touches, and changes beside it.
fn changed() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("src/old.rs", OLD);
    environment.write("src/lib.rs", &format!("{OLD}\nfn add(a: u32, b: u32) -> u32 {{\n    a + b\n}}\n"));
    environment
        .write("tests/adds.py", "def test_adds():\n    assert add(1, 2) == 3\n    assert add(2, 2) == 4\n");
    environment.git(&["add", "--all"]);
    environment.commit("before");
    environment.write(
        "src/lib.rs",
        &format!("{OLD}\nfn add(a: u32, b: u32) -> u32 {{\n    panic!(\"not implemented\")\n}}\n"),
    );
    environment.write("tests/adds.py", "def test_adds():\n    assert add(1, 2) == 3\n");
    environment.write(
        "new.py",
        "def load(path):\n    try:\n        return read(path)\n    except Exception:\n        pass\n",
    );
    environment.write("notes.txt", "text\n");
    environment
}

// Source: seed 004-11
#[test]
fn only_what_changed_counts() {
    let environment = changed();
    let output = environment.checkrein(&["--json", "gate", "completeness"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        found(&output),
        [
            "new.py:4 error swallowed_error",
            "src/lib.rs:6 error not_implemented",
            "tests/adds.py:1 error weakened_test",
        ]
    );
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["schema"], "checkrein/gate/1");
    assert_eq!(answer["passed"], false);
    assert_eq!(answer["not_examined"][0]["path"], "notes.txt");
    assert_eq!(answer["not_examined"][0]["fails"], false);

    // Below a path only.
    let output = environment.checkrein(&["--json", "gate", "completeness", "src"]);
    assert_eq!(found(&output), ["src/lib.rs:6 error not_implemented"]);
}

#[test]
fn tests_that_move_to_another_file_are_no_finding() {
    let environment = changed();
    environment.git(&["checkout", "--quiet", "--", "."]);
    let text = fs::read_to_string(environment.project().join("tests/adds.py")).unwrap();
    fs::remove_file(environment.project().join("tests/adds.py")).unwrap();
    environment.write("tests/sums.py", &text);
    let output = environment.checkrein(&["--json", "gate", "completeness", "tests"]);
    assert!(found(&output).is_empty(), "{}", said(&output));
}

#[test]
fn settings_that_newly_leave_tests_out_are_found() {
    let environment = TestEnvironment::new();
    environment.write("pytest.ini", "[pytest]\naddopts = -q\n");
    environment.git(&["add", "--all"]);
    environment.commit("before");
    environment.write("pytest.ini", "[pytest]\naddopts = -q -k \"not mul\"\n");
    let output = environment.checkrein(&["--json", "gate", "completeness"]);
    assert_eq!(found(&output), ["pytest.ini:2 error weakened_test"]);

    environment.write(
        "pytest.ini",
        "[pytest]\n# checkrein: allow weakened_test: mul needs the card reader of the lab\naddopts = -q -k \"not mul\"\n",
    );
    let output = environment.checkrein(&["--json", "gate", "completeness"]);
    assert_eq!(found(&output), ["pytest.ini:2 warning new_exemption"]);
}

#[test]
fn a_report_for_people_says_what_to_do() {
    let environment = changed();
    let output = environment.checkrein(&["gate", "completeness"]);
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(said(&output));
}

#[test]
fn nothing_left_to_do_passes() {
    let environment = changed();
    environment.git(&["checkout", "--quiet", "--", "."]);
    fs::remove_file(environment.project().join("new.py")).unwrap();
    let output = environment.checkrein(&["gate", "completeness"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    insta::assert_snapshot!(said(&output));
}

#[test]
fn staged_changes_and_those_since_a_revision() {
    let environment = changed();
    environment.git(&["add", "new.py"]);
    // What is staged counts as it was staged.
    environment.write("new.py", "");
    let output = environment.checkrein(&["--json", "gate", "completeness", "--staged"]);
    assert_eq!(found(&output), ["new.py:4 error swallowed_error"]);

    environment.git(&["branch", "base"]);
    environment.write("new.py", "def load(path):\n    raise NotImplementedError\n");
    environment.git(&["add", "--all"]);
    environment.commit("after");
    let output = environment.checkrein(&["--json", "gate", "completeness"]);
    assert_eq!(output.status.code(), Some(0));
    let output = environment.checkrein(&["--json", "gate", "completeness", "--since", "base", "new.py"]);
    assert_eq!(found(&output), ["new.py:2 error not_implemented"]);

    let output = environment.checkrein(&["gate", "completeness", "--since", "nowhere"]);
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("`nowhere` is not a revision"), "{words}");
}

#[test]
fn warnings_fail_only_where_it_is_strict() {
    let environment = TestEnvironment::new();
    environment.write("a.go", "package a\n\nfunc refresh(c *Cache) {}\n");
    assert_eq!(environment.checkrein(&["gate", "completeness"]).status.code(), Some(0));
    assert_eq!(environment.checkrein(&["gate", "completeness", "--strict"]).status.code(), Some(2));
    environment.write(
        "a.go",
        "package a\n\n// checkrein: allow empty_body: the interface wants it, and there is nothing to refresh\nfunc refresh(c *Cache) {}\n",
    );
    // Whoever makes the change wrote the reason too.
    let strict = ["--json", "gate", "completeness", "--strict"];
    let output = environment.checkrein(&strict);
    assert_eq!(
        (output.status.code(), found(&output)),
        (Some(2), vec!["a.go:3 warning new_exemption".to_owned()])
    );
    let told = environment.checkrein(&["gate", "completeness"]);
    assert!(told.status.success() && said(&told).contains("1 allowed with a reason"), "{}", said(&told));
    assert!(said(&told).contains("the interface wants it"), "{}", said(&told));
    environment.git(&["add", "--all"]);
    environment.commit("before");
    let before = fs::read_to_string(environment.project().join("a.go")).unwrap();
    environment.write("a.go", &before.replace("*Cache) {}", "*Cache, now int) {}"));
    let output = environment.checkrein(&strict);
    assert_eq!(
        (output.status.code(), found(&output)),
        (Some(0), Vec::<String>::new()),
        "it was there before"
    );
    environment
        .write("a.go", "package a\n\n// checkrein: allow empty_body\nfunc refresh(c *Cache, later int) {}\n");
    let output = environment.checkrein(&["--json", "gate", "completeness"]);
    assert_eq!(found(&output), ["a.go:3 error exemption_without_reason", "a.go:4 warning empty_body"]);
}

// Source: seed 004-49
#[test]
fn code_that_cannot_be_read_fails() {
    let environment = TestEnvironment::new();
    environment.write("big.py", &"x = 1\n".repeat(200_000));
    environment.write("zero.py", "x = 1\n\0\n");
    let output = environment.checkrein(&["--json", "gate", "completeness"]);
    assert_eq!(output.status.code(), Some(2));
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    let causes: Vec<_> = answer["not_examined"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["cause"].as_str().unwrap())
        .collect();
    assert_eq!(causes, ["it is longer than 1 MiB", "it is not text"]);
}

#[test]
fn a_file_outside_of_the_list_that_excuses_itself_is_told() {
    let environment = changed();
    environment.write("evil.py", "# checkrein: allow out_of_scope: agreed with the team\nimport os\n");
    let allow = ["--allow", "src", "--allow", "tests", "--allow", "new.py", "--allow", "notes.txt"];
    let scope = |more: &[&str]| {
        let output = environment.checkrein(&[&["--json", "gate", "scope"], &allow[..], more].concat());
        (output.status.code(), found(&output))
    };
    let told = vec!["evil.py:1 warning new_exemption".to_owned()];
    assert_eq!(scope(&[]), (Some(0), told.clone()));
    assert_eq!(scope(&["--strict"]), (Some(2), told));
}

#[test]
fn a_stub_in_the_script_of_a_component_is_found_at_its_line() {
    let environment = changed();
    environment.write(
        "App.vue",
        "<template>\n  <p>TODO</p>\n</template>\n<script>\nexport function load(path) {\n  throw new Error('not implemented')\n}\n</script>\n",
    );
    let output = environment.checkrein(&["--json", "gate", "completeness", "App.vue"]);
    assert_eq!(found(&output), ["App.vue:6 error not_implemented"], "{}", said(&output));
}

#[test]
fn a_report_has_one_form() {
    let environment = changed();
    let output = environment.checkrein(&["--json", "gate", "secrets", "--form", "sarif"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn reports_for_other_programs() {
    let environment = changed();
    let output = environment.checkrein(&["gate", "completeness", "--form", "sarif"]);
    assert_eq!(output.status.code(), Some(2));
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["version"], "2.1.0");
    let results = report["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    let rules = report["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in results {
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]));
        assert!(result["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64().unwrap() > 0);
    }

    let output = environment.checkrein(&["gate", "completeness", "--form", "junit"]);
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(said(&output));
}

/// The last script of the action for GitHub, as its steps would run it.
fn action_script() -> String {
    let action = fs::read_to_string(support::repository().join("action.yml")).unwrap();
    let (_, script) = action.rsplit_once("      run: |\n").unwrap();
    script.replace("\n        ", "\n").trim_start().to_owned()
}

#[test]
fn the_action_reports_in_the_summary_in_a_comment_and_as_sarif() {
    let environment = changed();
    environment.git(&["branch", "before"]);
    let folder = environment.home().join("runner");
    fs::create_dir(&folder).unwrap();
    support::copy_program(env!("CARGO_BIN_EXE_checkrein"), folder.join("checkrein"));
    let gh = "#!/bin/sh\nprintf '%s\\n' \"$*\" >>\"$RUNNER_TEMP/comments\"\n";
    fs::write(folder.join("gh"), gh).unwrap();
    fs::set_permissions(folder.join("gh"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = |comment: &str, number: &str| {
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let mut command = environment.command("bash");
        command.args(["-eo", "pipefail", "-c", &action_script()]).env("PATH", path);
        command.env("RUNNER_TEMP", &folder).env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
        command.env("GITHUB_REPOSITORY", "example/shop").env("PULL_REQUEST", number);
        for (name, value) in
            [("GATE", "completeness"), ("SINCE", "before"), ("STRICT", "false"), ("ALLOW", "")]
        {
            command.env(name, value);
        }
        command.env("DESIGN", "").env("SARIF", folder.join("found.sarif")).env("COMMENT", comment);
        command.output().unwrap()
    };
    let output = run("true", "12");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(said(&output).contains("src/lib.rs:6"), "{output:?}");
    let summary = fs::read_to_string(folder.join("summary.md")).unwrap();
    assert!(summary.starts_with("### Checkrein: gate completeness\n\n    completeness"), "{summary}");
    assert!(summary.lines().skip(2).all(|line| line.starts_with("    ")), "{summary}");
    let sarif: Json = serde_json::from_str(&fs::read_to_string(folder.join("found.sarif")).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 3);
    let comments = || fs::read_to_string(folder.join("comments")).unwrap();
    assert!(comments().starts_with("pr comment 12 --repo example/shop --body-file "), "{}", comments());
    // Neither without a wish nor without a pull request.
    assert_eq!(run("false", "12").status.code(), Some(2));
    assert_eq!(run("true", "").status.code(), Some(2));
    assert_eq!(comments().lines().count(), 1);
    environment.git(&["checkout", "--", "."]);
    fs::remove_file(environment.project().join("new.py")).unwrap();
    assert_eq!(run("false", "").status.code(), Some(0));
}

#[test]
fn a_batch_is_answered_line_by_line_in_order() {
    let environment = TestEnvironment::new();
    let lines = [
        r#"{"id": "a", "language": "python", "code": "def f(x):\n    raise NotImplementedError"}"#,
        r#"{"id": "b", "language": "rust", "code": "fn f(&self);", "in_test": false}"#,
        r#"{"id": "c", "language""#,
        "",
        r#"{"language": "go", "code": "func Add(a, b int) int {\n\treturn a + b\n}"}"#,
        r#"{"id": "e", "language": "cobol", "code": "STOP RUN."}"#,
        r#"{"id": "f", "language": "python"}"#,
        r#"{"id": ["g"], "language": "c++", "code": "void f(A& a) {}"}"#,
    ];
    let mut child = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["gate", "completeness", "--batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let answers: Vec<Json> = said(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let short: Vec<String> = answers
        .iter()
        .map(|answer| format!("{} {} {}", answer["id"], answer["verdict"].as_str().unwrap(), answer["error"]))
        .collect();
    assert_eq!(
        short,
        [
            r#""a" stub null"#,
            r#""b" interface null"#,
            r#"null not_parsed "line 3: not JSON: EOF while parsing an object at column 22""#,
            "5 complete null",
            r#""e" not_parsed "line 6: no grammar reads `cobol`""#,
            r#""f" not_parsed "line 7: `code` is missing""#,
            r#"["g"] ambiguous null"#,
        ]
    );
    assert_eq!(answers[0]["findings"][0]["line"], 2);
    assert_eq!(answers[0]["findings"][0]["kind"], "not_implemented");
}

#[test]
fn outside_of_a_repository_nothing_says_what_changed() {
    let environment = TestEnvironment::new();
    fs::remove_dir_all(environment.project().join(".git")).unwrap();
    let output = environment.checkrein(&["gate", "completeness"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not a git work tree"));
}

/// What stands in a finding beside its place.
fn texts(output: &Output) -> Vec<String> {
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    let findings = answer["findings"].as_array().unwrap().iter();
    findings.map(|one| one["text"].as_str().unwrap().to_owned()).collect()
}

/// The outcome and what could not be looked at.
fn outcome(output: &Output) -> (String, usize) {
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    (answer["outcome"].as_str().unwrap().to_owned(), answer["not_run"].as_array().unwrap().len())
}

/// A credential that is none, put together so that it stands nowhere as a whole.
fn credential() -> String {
    format!("{}_{}", "ghp", "16C7e42F292c6912E7710c838347Ae178B4a")
}

#[test]
fn secrets_in_new_lines_are_found_and_not_shown() {
    let environment = TestEnvironment::new();
    let credential = credential();
    environment.write("old.py", &format!("KEY = \"{credential}\"\n"));
    environment.git(&["add", "--all"]);
    environment.commit("before");
    environment.write("old.py", &format!("import os\nKEY = \"{credential}\"\n"));
    environment.write("src/new.py", &format!("a = 1\nKEY = \"{credential}\"\n"));
    environment.write("tests/test_new.py", &format!("KEY = \"{credential}\"\n"));
    environment.write("fine.py", "KEY = os.environ[\"KEY\"]\npassword = read_password()\n");
    environment.write(".env", "DATABASE_PASSWORD=kJ8-qq2vXz91\nDEBUG=1\n");
    environment.write(
        "docs/a.md",
        &format!("<!-- checkrein: allow secret: a key of the manual -->\n{credential}\n"),
    );
    let output = environment.checkrein(&["--json", "gate", "secrets"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!said(&output).contains(&credential) && !said(&output).contains("kJ8"), "{}", said(&output));
    assert_eq!(
        found(&output),
        [
            ".env:1 error secret",
            "docs/a.md:1 warning new_exemption",
            "src/new.py:2 error secret",
            "tests/test_new.py:1 warning secret"
        ]
    );
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["allowed"], &answer["outcome"]), (&Json::from(1), &Json::from("failed")));

    environment.git(&["add", "src/new.py"]);
    let output = environment.checkrein(&["--json", "gate", "secrets", "--staged"]);
    assert_eq!(found(&output), ["src/new.py:2 error secret"]);
    let output = environment.checkrein(&["gate", "secrets", "--form", "sarif", "fine.py"]);
    assert_eq!(output.status.code(), Some(0));
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    let rules = report["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 3, "its own and those about exemptions");
}

#[test]
fn files_outside_of_a_list_are_found() {
    let environment = TestEnvironment::new();
    environment.write("src/old.rs", "fn a() {}\n");
    environment.write("build.rs", "fn main() {}\n");
    environment.git(&["add", "--all"]);
    environment.commit("before");
    environment.write("src/old.rs", "fn b() {}\n");
    environment.write("src/new/x.rs", "");
    environment.write("ci.yml", "# checkrein: allow out_of_scope: the new test needs a service\n");
    fs::remove_file(environment.project().join("build.rs")).unwrap();
    let output = environment.checkrein(&["--json", "gate", "scope", "--allow", "src/new"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        found(&output),
        [
            "build.rs:1 error out_of_scope",
            "ci.yml:1 warning new_exemption",
            "src/old.rs:1 error out_of_scope"
        ]
    );
    assert!(texts(&output)[0].contains("build.rs is not in the patterns"), "{:?}", texts(&output));
    let output = environment.checkrein(&["gate", "scope", "--allow", "src/**", "--allow", "*.rs"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));

    environment.write(
        "design.md",
        "# Load\n\n## Files\n\n| File | Change |\n|---|---|\n| `src` | Modify (Directory) |\n| `build.rs` | Delete |\n",
    );
    let output = environment.checkrein(&["--json", "gate", "scope", "--design", "design.md"]);
    assert_eq!(
        (output.status.code(), outcome(&output)),
        (Some(0), ("passed".to_owned(), 0)),
        "{}",
        said(&output)
    );
    environment.write("design.md", "# Load\n\nIt loads.\n");
    let output = environment.checkrein(&["--json", "gate", "scope", "--design", "design.md"]);
    assert_eq!((output.status.code(), outcome(&output)), (Some(2), ("not_run".to_owned(), 1)));
    let output = environment.checkrein(&["gate", "scope", "--design", "design.md", "--form", "junit"]);
    assert!(said(&output).contains("<failure message=\"not run\">"), "{}", said(&output));

    for wrong in
        [&["gate", "scope"][..], &["gate", "secrets", "--allow", "x"], &["gate", "secrets", "--batch", "-"]]
    {
        assert_eq!(environment.checkrein(wrong).status.code(), Some(1), "{wrong:?}");
    }
}

// Source: seed 004-79
#[test]
fn imports_and_packages_that_do_not_exist_are_found() {
    let environment = TestEnvironment::new();
    environment.write("package.json", "{\n  \"dependencies\": {\n    \"react\": \"1\"\n  }\n}\n");
    environment.write("package-lock.json", r#"{"packages": {"node_modules/react": {"version": "1.0.0"}}}"#);
    environment.write("src/old.js", "import 'ghost-of-old';\n");
    environment.git(&["add", "--all"]);
    environment.commit("before");
    environment.write(
        "package.json",
        "{\n  \"dependencies\": {\n    \"react\": \"1\",\n    \"ghost\": \"1\",\n    \"loadsh\": \"1\"\n  }\n}\n",
    );
    environment.write("src/old.js", "import 'ghost-of-old';\nimport 'react';\nimport './lod.js';\n");
    environment.write(
        "src/new.ts",
        "import 'reactt';\n// checkrein: allow phantom_import: the bundler makes it\nimport 'made';\n",
    );
    environment.write("node_modules/installed/package.json", "{}");
    environment.write("src/uses.ts", "import 'installed/x';\n");
    environment.write("src/a.java", "import a.b.C;\n");
    environment.write("tool.py", "import os\nimport yaml\n");
    let output = environment.checkrein(&["--json", "gate", "phantoms", "src", "package.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        found(&output),
        [
            "package.json:4 error phantom_package",
            "package.json:5 error phantom_package",
            "package.json:5 error lookalike_package",
            "src/new.ts:1 error phantom_import",
            "src/new.ts:2 warning new_exemption",
            "src/old.js:3 error phantom_import",
        ]
    );
    assert!(texts(&output)[3].contains("did you mean `react`?"), "{:?}", texts(&output));
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["allowed"], 1);
    let output = environment.checkrein(&["--json", "gate", "phantoms", "tool.py"]);
    assert_eq!(
        (output.status.code(), outcome(&output)),
        (Some(2), ("not_run".to_owned(), 1)),
        "no manifest of Python"
    );
    environment.write("requirements.txt", "PyYAML\n");
    let output = environment.checkrein(&["--json", "gate", "phantoms", "tool.py"]);
    assert_eq!((output.status.code(), outcome(&output)), (Some(0), ("passed".to_owned(), 0)));
}

#[test]
fn licences_of_new_packages_must_be_allowed_and_known() {
    let environment = TestEnvironment::new();
    let lock = |more: &str| {
        format!(
            "{{\"packages\": {{\n\"node_modules/old\": {{\"version\": \"1.0.0\", \"license\": \"GPL-3.0-only\"}}{more}\n}}}}\n"
        )
    };
    environment.write("package.json", "{}");
    environment.write("package-lock.json", &lock(""));
    environment.git(&["add", "--all"]);
    environment.commit("before");
    let more = ",\n\"node_modules/fine\": {\"version\": \"1.0.0\", \"license\": \"(MIT OR GPL-2.0-only)\"},\n\"node_modules/strict\": {\"version\": \"1.0.0\", \"license\": \"AGPL-3.0-only\"},\n\
                \"node_modules/told\": {\"version\": \"1.0.0\"},\n\"node_modules/dark\": {\"version\": \"1.0.0\"}";
    environment.write("package-lock.json", &lock(more));
    environment
        .write("package.json", r#"{"dependencies": {"fine": "1", "strict": "1", "told": "1", "dark": "1"}}"#);
    environment.write(".gitignore", "node_modules\n.venv\n");
    environment.write("node_modules/told/package.json", r#"{"license": "ISC"}"#);
    let output = environment.checkrein(&["--json", "gate", "licences"]);
    assert_eq!(output.status.code(), Some(2));
    let kinds = |output: &Output| -> Vec<String> {
        let named = found(output).into_iter().map(|one| one.rsplit(' ').next().unwrap().to_owned());
        named.zip(texts(output)).map(|(kind, text)| format!("{kind} {text}")).collect()
    };
    assert_eq!(
        kinds(&output),
        [
            "licence_not_allowed `strict` 1.0.0: AGPL-3.0-only",
            "licence_unknown `dark` 1.0.0: nothing on disk tells its licence",
        ]
    );
    let output = environment.checkrein(&["--json", "gate", "licences", "--allow", "AGPL-3.0-only"]);
    assert_eq!(found(&output).len(), 3, "a list replaces the one that is built in: {:?}", kinds(&output));

    // Rust and Python, with no lock file that tells.
    environment.git(&["add", "--all"]);
    environment.commit("packages");
    environment.write("Cargo.toml", "[dependencies]\nfree = \"1\"\nbound = \"1\"\n");
    let shelf = environment.home().join(".cargo/registry/src/registry-1");
    for (name, licence) in [("free-1.2.0", "MIT OR Apache-2.0"), ("bound-1.0.0", "GPL-3.0-only")] {
        fs::create_dir_all(shelf.join(name)).unwrap();
        fs::write(shelf.join(name).join("Cargo.toml"), format!("[package]\nlicense = \"{licence}\"\n"))
            .unwrap();
    }
    environment.write(
        "requirements.txt",
        "Flask\n# checkrein: allow licence_unknown: we wrote it ourselves\nours\n",
    );
    environment.write(
        ".venv/lib/python3.12/site-packages/flask-3.0.0.dist-info/METADATA",
        "Name: Flask\nLicense-Expression: BSD-3-Clause\n",
    );
    let output = environment.checkrein(&["--json", "gate", "licences"]);
    let told = "new_exemption # checkrein: allow licence_unknown: we wrote it ourselves";
    assert_eq!(kinds(&output), ["licence_not_allowed `bound`: GPL-3.0-only", told]);
}

const WRITTEN: &str = "def add(a, b):\n    return a + b\n";
const STUB: &str = "def add(a, b):\n    raise NotImplementedError\n";

/// A repository with code on `main`, on a branch of its own.
fn branched() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("calc.py", WRITTEN);
    environment.git(&["add", "--all"]);
    environment.commit("before");
    environment.git(&["branch", "-f", "base"]);
    environment
}

#[test]
fn what_is_committed_or_staged_is_judged_beside_what_lies_on_disk() {
    let environment = branched();
    let since = ["--json", "gate", "completeness", "--since", "base"];
    environment.write("calc.py", STUB);
    environment.git(&["add", "--all"]);
    environment.write("calc.py", WRITTEN);
    let staged = environment.checkrein(&["--json", "gate", "completeness"]);
    assert_eq!(found(&staged), ["calc.py:2 error not_implemented"], "staged alone");
    environment.commit("bad");
    let output = environment.checkrein(&since);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(found(&output), ["calc.py:2 error not_implemented"], "committed alone");
    assert!(said(&output).contains("as it is committed, not as it lies on disk"), "{output:?}");
    // Told once where both are the same, and not at all once the commit is mended too.
    environment.write("calc.py", STUB);
    assert_eq!(found(&environment.checkrein(&since)), ["calc.py:2 error not_implemented"]);
    environment.write("calc.py", WRITTEN);
    environment.git(&["add", "--all"]);
    environment.commit("good");
    assert_eq!(environment.checkrein(&since).status.code(), Some(0));
}

#[test]
fn tests_of_a_commit_do_not_stand_for_those_on_disk() {
    let environment = branched();
    let tests = |values: &[u32]| {
        let lines = values.iter().map(|value| format!("    assert add({value}, 0) == {value}\n"));
        format!("from calc import add\n\n\ndef test_adds():\n{}", lines.collect::<String>())
    };
    environment.write("tests/test_calc.py", &tests(&[1, 2]));
    environment.git(&["add", "--all"]);
    environment.commit("tests");
    environment.git(&["branch", "-f", "base"]);
    environment.write("tests/test_calc.py", &tests(&[1, 2, 3, 4]));
    environment.git(&["add", "--all"]);
    environment.commit("more");
    environment.write("tests/test_calc.py", &tests(&[1]));
    let since = ["--json", "gate", "completeness", "--since", "base"];
    let output = environment.checkrein(&since);
    assert_eq!(found(&output), ["tests/test_calc.py:4 error weakened_test"], "{}", said(&output));
    // The other way round it is what would be pushed.
    environment.git(&["add", "--all"]);
    environment.commit("less");
    environment.write("tests/test_calc.py", &tests(&[1, 2, 3, 4]));
    let output = environment.checkrein(&since);
    assert_eq!(found(&output), ["tests/test_calc.py:4 error weakened_test"], "{}", said(&output));
    assert!(said(&output).contains("as it is committed, not as it lies on disk"), "{output:?}");
}

#[test]
fn what_is_staged_is_told_as_such_only_beside_what_lies_on_disk() {
    let environment = branched();
    environment.write("calc.py", STUB);
    environment.git(&["add", "--all"]);
    let output = environment.checkrein(&["--json", "gate", "completeness", "--staged"]);
    assert_eq!(found(&output), ["calc.py:2 error not_implemented"]);
    assert!(!said(&output).contains("as it is staged"), "{output:?}");
}

#[test]
fn files_that_git_was_told_not_to_look_at_are_looked_at() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let environment = branched();
        environment.git(&["update-index", flag, "calc.py"]);
        let gate = || environment.checkrein(&["--json", "gate", "completeness"]);
        assert_eq!(gate().status.code(), Some(0), "{flag}");
        environment.write("calc.py", STUB);
        assert_eq!(found(&gate()), ["calc.py:2 error not_implemented"], "{flag}");
    }
}

#[test]
fn a_path_that_names_nothing_is_an_error() {
    let environment = branched();
    let gate = |path: &str| environment.checkrein(&["gate", "completeness", path]).status.code();
    assert_eq!(gate("nowhere"), Some(1));
    assert_eq!(gate("calc.py"), Some(0));
    fs::remove_file(environment.project().join("calc.py")).unwrap();
    assert_eq!(gate("calc.py"), Some(0), "it was there");
    environment.write("new/calc.py", WRITTEN);
    environment.git(&["add", "--all"]);
    fs::remove_dir_all(environment.project().join("new")).unwrap();
    assert_eq!(gate("new"), Some(0), "it is staged");
    assert_eq!(gate("ne"), Some(1));
    // What is gone from the work tree is among the changes.
    let environment = changed();
    let output = environment.checkrein(&["gate", "completeness", "srcc"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    fs::remove_file(environment.project().join("tests/adds.py")).unwrap();
    let output = environment.checkrein(&["--json", "gate", "completeness", "tests"]);
    assert_eq!(found(&output), ["tests/adds.py:1 warning weakened_test"]);
}

/// A line with a credential.
fn key() -> String {
    format!("KEY = \"sk-ant-{}\"\n", "api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4")
}

#[test]
fn a_secret_in_an_earlier_commit_goes_with_the_branch() {
    let environment = branched();
    environment.write("key.py", &key());
    environment.git(&["add", "--all"]);
    environment.commit("key");
    let gate = || environment.checkrein(&["--json", "gate", "secrets", "--since", "base"]);
    assert_eq!(found(&gate()), ["key.py:1 error secret"], "told once");
    fs::remove_file(environment.project().join("key.py")).unwrap();
    environment.git(&["add", "--all"]);
    environment.commit("no key");
    let output = gate();
    assert_eq!(found(&output), ["key.py:1 error secret"]);
    assert!(said(&output).contains("whose history goes with it"), "{output:?}");
    assert!(!said(&output).contains("Zm9vYmFy"), "{output:?}");
}

#[test]
fn no_name_and_no_attribute_hides_a_secret_of_an_earlier_commit() {
    let key = key();
    for (name, told, text, attributes) in [
        // As git writes it.
        ("a \"b\"\t\u{fc}.py", r#"a \"b\"\tü.py"#, key.clone(), ""),
        ("key.py", "key.py", key.clone(), "key.py -diff\n"),
        ("key.py", "key.py", format!("{key}# \0\n"), ""),
    ] {
        let environment = branched();
        environment.write(name, &text);
        let settings = environment.project().join(".git/info");
        fs::create_dir_all(&settings).unwrap();
        fs::write(settings.join("attributes"), attributes).unwrap();
        environment.git(&["add", "--all"]);
        environment.commit("key");
        fs::remove_file(environment.project().join(name)).unwrap();
        environment.git(&["add", "--all"]);
        environment.commit("no key");
        let output = environment.checkrein(&["--json", "gate", "secrets", "--since", "base"]);
        assert_eq!(found(&output), [format!("{told}:1 error secret")], "{}", said(&output));
    }
}
