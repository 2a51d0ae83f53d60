//! Settings of runners that newly leave tests out, let failures pass or want less, and honest ones beside them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use checkrein_gates::{FindingWeight, examine_test_setup};

/// How many findings fail the gate, and how many are warnings.
fn counted(path: &str, before: Option<&str>, now: &str) -> (usize, usize) {
    let found = examine_test_setup(path, before, now);
    let errors = found.iter().filter(|one| one.weight == FindingWeight::Error).count();
    (errors, found.len() - errors)
}

#[test]
fn what_newly_disarms_tests_is_found() {
    let rows: [(&str, &str, &str); 31] = [
        ("conftest.py", "", "collect_ignore = [\"test_mul.py\"]\n"),
        ("tests/conftest.py", "", "collect_ignore_glob = ['*_slow.py']\n"),
        (
            "conftest.py",
            "",
            "def pytest_collection_modifyitems(config, items):\n    items[:] = [item for item in items if 'mul' not in item.name]\n",
        ),
        (
            "conftest.py",
            "",
            "import pytest\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'\n",
        ),
        ("conftest.py", "", "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n"),
        ("conftest.py", "", "def pytest_ignore_collect(collection_path):\n    return True\n"),
        ("pytest.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q -k \"not mul\"\n"),
        (
            "pytest.ini",
            "[pytest]\naddopts = -q -k \"not mul\"\n",
            "[pytest]\naddopts = -q -k \"not mul and not add\"\n",
        ),
        (
            "setup.cfg",
            "[tool:pytest]\n",
            "[tool:pytest]\naddopts =\n    -ra\n    --deselect tests/test_a.py::test_mul\n",
        ),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\naddopts = [\"-ra\"]\n",
            "[tool.pytest.ini_options]\naddopts = [\n  \"-ra\",\n  \"--ignore=tests/test_a.py\",\n]\n",
        ),
        (
            "pyproject.toml",
            "[tool.coverage.report]\nfail_under = 90\n",
            "[tool.coverage.report]\nfail_under = 60\n",
        ),
        ("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "[tool.coverage.report]\n"),
        ("tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = pytest --ignore tests/unit\n"),
        (".coveragerc", "[report]\nfail_under = 80\n", "[report]\nfail_under = 8\n"),
        (
            "package.json",
            "{\n  \"jest\": {}\n}\n",
            "{\n  \"jest\": {\n    \"testPathIgnorePatterns\": [\"/node_modules/\", \"mul.test.js\"]\n  }\n}\n",
        ),
        (
            "package.json",
            "{\n  \"scripts\": {\n    \"test\": \"vitest run\"\n  }\n}\n",
            "{\n  \"scripts\": {\n    \"test\": \"vitest run --passWithNoTests\"\n  }\n}\n",
        ),
        (
            "package.json",
            "{\n  \"scripts\": {\n    \"test\": \"jest\"\n  }\n}\n",
            "{\n  \"scripts\": {\n    \"test\": \"jest || true\"\n  }\n}\n",
        ),
        (
            "package.json",
            "{\n  \"scripts\": {\n    \"test\": \"jest\"\n  }\n}\n",
            "{\n  \"scripts\": {\n    \"test\": \"exit 0\"\n  }\n}\n",
        ),
        (
            "jest.config.js",
            "module.exports = {\n  coverageThreshold: { global: {\n    lines: 90,\n  } },\n};\n",
            "module.exports = {\n  coverageThreshold: { global: {\n    lines: 40,\n  } },\n};\n",
        ),
        (
            "vitest.config.ts",
            "export default defineConfig({ test: {} });\n",
            "export default defineConfig({\n  test: {\n    exclude: [\n      '**/node_modules/**',\n      'src/mul.test.ts',\n    ],\n  },\n});\n",
        ),
        ("vitest.config.ts", "", "export default { test: { passWithNoTests: true } };\n"),
        (".mocharc.json", "{}\n", "{\n  \"ignore\": [\"test/mul.js\"]\n}\n"),
        (".nycrc.json", "{\n  \"branches\": 80\n}\n", "{\n  \"branches\": 10\n}\n"),
        ("Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\nautotests = false\n"),
        ("Cargo.toml", "[[test]]\nname = \"mul\"\n", "[[test]]\nname = \"mul\"\ntest = false\n"),
        ("Cargo.toml", "[lib]\n", "[lib]\ntest = false\n"),
        (
            "phpunit.xml",
            "<testsuite name=\"unit\">\n<directory>tests</directory>\n</testsuite>\n",
            "<testsuite name=\"unit\">\n<directory>tests</directory>\n<exclude>tests/MulTest.php</exclude>\n</testsuite>\n",
        ),
        (
            "pom.xml",
            "<configuration>\n</configuration>\n",
            "<configuration>\n<testFailureIgnore>true</testFailureIgnore>\n</configuration>\n",
        ),
        (
            "pom.xml",
            "<configuration>\n</configuration>\n",
            "<configuration>\n<excludes>\n<exclude>**/MulTest.java</exclude>\n</excludes>\n</configuration>\n",
        ),
        ("build.gradle", "test {\n}\n", "test {\n    ignoreFailures = true\n}\n"),
        (".rspec", "--require spec_helper\n", "--require spec_helper\n--tag ~mul\n"),
    ];
    for (path, before, now) in rows {
        let before = (!before.is_empty()).then_some(before);
        assert_eq!(
            counted(path, before, now).0,
            1,
            "{path}:\n{now}\n{:?}",
            examine_test_setup(path, before, now)
        );
        assert_eq!(counted(path, Some(now), now), (0, 0), "what was there before: {path}:\n{now}");
    }
}

#[test]
fn honest_settings_are_no_finding() {
    let rows: [(&str, &str, &str); 14] = [
        ("pytest.ini", "", "[pytest]\naddopts = -ra --strict-markers\ntestpaths = tests\n"),
        (
            "pyproject.toml",
            "",
            "[tool.pytest.ini_options]\naddopts = \"-q --cov=calc\"\n\n[tool.ruff]\nexclude = [\"generated\"]\n",
        ),
        (
            "pyproject.toml",
            "[tool.coverage.report]\nfail_under = 80\n",
            "[tool.coverage.report]\nfail_under = 90\n",
        ),
        (
            "package.json",
            "",
            "{\n  \"files\": [\"dist\"],\n  \"scripts\": {\n    \"test\": \"vitest run\",\n    \"build\": \"tsc || true\"\n  }\n}\n",
        ),
        (
            "vitest.config.ts",
            "",
            "export default { test: { exclude: ['**/node_modules/**', '**/dist/**'] } };\n",
        ),
        (
            "jest.config.js",
            "",
            "module.exports = {\n  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/dist/'],\n};\n",
        ),
        ("jest.config.js", "module.exports = { lines: 80 };\n", "module.exports = { lines: 95 };\n"),
        (
            "Cargo.toml",
            "",
            "[package]\nname = \"a\"\n\n[[bench]]\nname = \"b\"\nharness = false\n\n[features]\ntest = []\n",
        ),
        (
            "conftest.py",
            "",
            "import pytest\n\n@pytest.fixture\ndef store():\n    return {}\n\ndef pytest_collection_modifyitems(items):\n    items.sort(key=lambda item: item.name)\n",
        ),
        (
            "phpunit.xml",
            "",
            "<phpunit failOnRisky=\"true\">\n<testsuite name=\"unit\"><directory>tests</directory></testsuite>\n</phpunit>\n",
        ),
        (
            "pom.xml",
            "",
            "<dependency>\n<exclusions>\n<exclusion>\n<artifactId>a</artifactId>\n</exclusion>\n</exclusions>\n</dependency>\n",
        ),
        ("vite.config.ts", "", "export default { optimizeDeps: { exclude: ['heavy'] }, test: {} };\n"),
        (".rspec", "", "--require spec_helper\n--format documentation\n"),
        ("src/settings.py", "", "collect_ignore = ['a']\n"),
    ];
    for (path, before, now) in rows {
        let before = (!before.is_empty()).then_some(before);
        assert_eq!(
            counted(path, before, now),
            (0, 0),
            "{path}:\n{now}\n{:?}",
            examine_test_setup(path, before, now)
        );
    }
}

/// Tests that are kept apart by a mark or by an option of the command line are a warning: both are how slow ones are run elsewhere.
#[test]
fn what_may_be_meant_is_a_warning() {
    let hook = "def pytest_collection_modifyitems(config, items):\n    if config.getoption('--slow'):\n        return\n    for item in items:\n        item.add_marker(pytest.mark.skip(reason='slow'))\n";
    assert_eq!(counted("conftest.py", None, hook), (0, 1));
    assert_eq!(counted("pytest.ini", None, "[pytest]\naddopts = -m \"not slow\"\n"), (0, 1));
    assert_eq!(counted("Cargo.toml", None, "[[test]]\nname = \"a\"\nharness = false\n"), (0, 1));
}
