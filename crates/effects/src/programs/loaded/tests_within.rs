//! Tests that no line of their own file calls: a runner does.

/// The greatest number of tests of one file that are called (ours).
const TESTS: usize = 200;

/// Lines of Python that call the tests, fixtures and hooks of a file, as its runner does (pytest 8, "Conventions for Python test discovery", "How to
/// use fixtures", "Writing hook functions"; `unittest`; Locust, "Writing a locustfile"; Celery, "Tasks"; Flask, "Routing").
pub(super) fn calls(text: &str) -> String {
    let mut lines = String::new();
    let mut class: Option<&str> = None;
    let mut is_marked = false;
    for line in text.lines().take(20_000) {
        let bare = line.trim_start();
        let is_inside = bare.len() < line.len();
        if bare.starts_with('@') {
            is_marked = true;
            continue;
        }
        if let Some(rest) = line.strip_prefix("class ") {
            class = rest.split(['(', ':']).next().map(str::trim);
            is_marked = false;
            continue;
        }
        let behind = bare.strip_prefix("async ").unwrap_or(bare).strip_prefix("def ");
        let Some(name) = behind.and_then(|rest| rest.split('(').next()) else {
            if !is_inside && !bare.is_empty() && !bare.starts_with('#') {
                (class, is_marked) = (None, false);
            }
            continue;
        };
        let is_called = is_marked
            || ["test", "setup", "setUp", "teardown", "tearDown", "pytest_", "on_start", "on_stop"]
                .iter()
                .any(|start| name.starts_with(start));
        is_marked = false;
        if !is_called || lines.lines().count() >= TESTS {
            continue;
        }
        match class.filter(|_| is_inside) {
            Some(class) => lines.extend([class, "().", name, "()\n"]),
            None if !is_inside => lines.extend([name, "()\n"]),
            None => {}
        }
    }
    lines
}

/// A file of Bats as text of a shell (bats-core 1.11, "Writing tests"): each test is a group of commands.
pub(super) fn of_bats(text: &str) -> String {
    let mut shell = String::new();
    for line in text.lines() {
        let is_test = line.trim_start().starts_with("@test ") && line.trim_end().ends_with('{');
        let line = match line.trim_start().strip_prefix("run ") {
            Some(command) => command.trim_start_matches(['-', '!']),
            None => line,
        };
        shell.push_str(if is_test { "{" } else { line });
        shell.push('\n');
    }
    shell.push_str(
        "\nsetup 2>/dev/null\nsetup_file 2>/dev/null\nteardown 2>/dev/null\nteardown_file 2>/dev/null\n",
    );
    shell
}

#[cfg(test)]
mod tests {
    use super::{calls, of_bats};

    #[test]
    fn tests_fixtures_and_methods_are_called() {
        let text = "import os\n\ndef helper():\n    pass\n\n@pytest.fixture\ndef clean(tmp_path):\n    pass\n\ndef test_a(clean):\n    pass\n\nclass TestB:\n    def test_c(self):\n        pass\n    def helper(self):\n        pass\n";
        assert_eq!(calls(text), "clean()\ntest_a()\nTestB().test_c()\n");
    }

    #[test]
    fn a_test_of_bats_is_a_group() {
        assert!(of_bats("@test \"a\" {\n  run rm x\n}\n").starts_with("{\nrm x\n}\n"));
    }
}
