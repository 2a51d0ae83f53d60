//! What runners of tests call their settings.

/// Options of runners on their command line that leave tests out or let failures pass, with whether a value follows: `pytest --help`, jest and vitest
/// ("CLI Options"), mocha(1), `cargo test -- --help`, PHPUnit ("Command-Line Test Runner"), rspec(1), Codeception.
pub(super) const OPTIONS: [(&str, bool); 26] = [
    ("-k", true),
    ("-m", true),
    ("--ignore", true),
    ("--ignore-glob", true),
    ("--deselect", true),
    ("--collect-only", false),
    ("--co", false),
    ("--passWithNoTests", false),
    ("--pass-with-no-tests", false),
    ("--testPathIgnorePatterns", true),
    ("--testNamePattern", true),
    ("--exclude", true),
    ("--grep", true),
    ("--fgrep", true),
    ("--invert", false),
    ("--forbid-only=false", false),
    ("--skip", true),
    ("--exclude-group", true),
    ("--exclude-testsuite", true),
    ("--filter", true),
    ("--tag", true),
    ("--exclude-pattern", true),
    ("--dry-run", false),
    ("--failure-exit-code", true),
    ("--suite-ignore", true),
    ("--exclude-tags", true),
];

/// Keys of settings whose values are what is left out: pytest ("Configuration Options"), coverage.py, jest, vitest, nyc, mocha, Maven Surefire, Gradle
/// (`Test`), PHPUnit, NUnit, The Cargo Book ("Cargo Targets").
pub(super) const LISTS: [&str; 19] = [
    "testPathIgnorePatterns",
    "exclude",
    "excludes",
    "excludedGroups",
    "testNamePattern",
    "norecursedirs",
    "omit",
    "ignore",
    "grep",
    "spec_ignore",
    "excludeTags",
    "excludeTestsMatching",
    "excludeCategories",
    "collect_ignore",
    "collect_ignore_glob",
    "required-features",
    "coveragePathIgnorePatterns",
    "modulePathIgnorePatterns",
    "excludeGroups",
];

/// Settings that with this value let everything pass, or nothing run (the same sources).
pub(super) const SWITCHES: [(&str, &str); 18] = [
    ("passWithNoTests", "true"),
    ("allowOnly", "true"),
    ("dangerouslyIgnoreUnhandledErrors", "true"),
    ("invert", "true"),
    ("test", "false"),
    ("doctest", "false"),
    ("autotests", "false"),
    ("harness", "false"),
    ("skipTests", "true"),
    ("skip", "true"),
    ("maven.test.skip", "true"),
    ("testFailureIgnore", "true"),
    ("failIfNoTests", "false"),
    ("ignoreFailures", "true"),
    ("failOnEmptyTestSuite", "false"),
    ("failOnRisky", "false"),
    ("failOnWarning", "false"),
    ("enabled", "false"),
];

/// Thresholds, of which less is worse (coverage.py, pytest-cov, jest, vitest, nyc, JaCoCo, SimpleCov, Codecov).
pub(super) const THRESHOLDS: [&str; 10] = [
    "fail_under",
    "--cov-fail-under",
    "branches",
    "functions",
    "lines",
    "statements",
    "minimum",
    "minimum_coverage",
    "check-coverage",
    "target",
];

/// Folders in which no tests of the project lie (ours).
pub(super) const ELSEWHERE: [&str; 22] = [
    "node_modules",
    "dist",
    "build",
    "out",
    "coverage",
    "vendor",
    "target",
    ".git",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".next",
    ".cache",
    "__pycache__",
    "__snapshots__",
    "fixtures",
    "__fixtures__",
    ".eggs",
    "site-packages",
    ".turbo",
    "tmp",
];
