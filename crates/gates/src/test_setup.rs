//! What tells a runner of tests which to run and what counts as passed: settings that newly leave tests out, let a failure pass, or want less.
//!
//! A setting is known by the name that its runner gives it. What was there before the change is no finding, and neither are folders that hold
//! no tests of the project.

mod names;
mod reading;

use crate::finding::{FindingKind, FindingWeight, GateFinding};
use reading::settings;

/// A setting by which tests say less.
#[derive(Debug, Clone, PartialEq)]
struct Setting {
    line: usize,
    /// What it is called, and what it leaves out.
    key: String,
    weight: FindingWeight,
    text: String,
    /// What is wanted at least, where it is a threshold.
    least: Option<f64>,
}

/// What a file of settings is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SetupFile {
    /// Settings of pytest, tox and coverage, in sections.
    Sections,
    /// A manifest of Cargo.
    Cargo,
    /// JSON or JavaScript, in which keys stand before colons.
    Keys,
    /// XML or Gradle.
    Build,
    /// Options, one on a line.
    Options,
    /// Hooks of pytest.
    Hooks,
}

impl SetupFile {
    fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let starts = |list: &[&str]| list.iter().any(|start| name.starts_with(start));
        Some(match name {
            "conftest.py" => Self::Hooks,
            "pytest.ini" | ".pytest.ini" | "setup.cfg" | "tox.ini" | "pyproject.toml" | ".coveragerc" => {
                Self::Sections
            }
            "Cargo.toml" => Self::Cargo,
            "pom.xml" | "build.gradle" | "build.gradle.kts" => Self::Build,
            ".rspec" | ".mocharc" => Self::Options,
            "package.json" => Self::Keys,
            _ if name.starts_with("phpunit") && name.contains(".xml") => Self::Build,
            _ if starts(&[
                "jest.config.",
                "vitest.config.",
                "vite.config.",
                "vitest.workspace.",
                ".mocharc.",
                ".nycrc",
                ".c8rc",
                "playwright.config.",
                "karma.conf.",
            ]) =>
            {
                Self::Keys
            }
            _ => return None,
        })
    }
}

/// Finds what a changed file of settings newly leaves out, lets pass, or wants less of. Files that set up no tests have no findings.
pub fn examine_test_setup(path: &str, before: Option<&str>, now: &str) -> Vec<GateFinding> {
    let Some(kind) = SetupFile::of(path) else { return Vec::new() };
    let was = before.map(|text| settings(kind, text)).unwrap_or_default();
    let is = settings(kind, now);
    let mut left: Vec<&Setting> = was.iter().collect();
    let mut found = Vec::new();
    for setting in &is {
        let same = left.iter().position(|other| other.key == setting.key);
        let old = same.map(|at| left.remove(at));
        let text = match (setting.least, old.and_then(|old| old.least)) {
            (Some(least), Some(old)) if least < old => {
                format!("{}: less than the {old} before", setting.text)
            }
            (Some(_), _) => continue,
            (None, _) if old.is_some() => continue,
            (None, _) => setting.text.clone(),
        };
        found.push(GateFinding::at(setting.line, FindingKind::WeakenedTest, setting.weight, &text));
    }
    let gone = left.iter().filter(|old| old.least.is_some());
    for old in gone {
        let text = format!("no longer wanted: {}", old.text);
        found.push(GateFinding::of_file(FindingKind::WeakenedTest, FindingWeight::Error, &text));
    }
    found.sort_by_key(|finding| finding.line);
    found
}
