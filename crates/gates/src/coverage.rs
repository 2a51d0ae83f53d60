//! Coverage: how much of the code the tests of a project reach, by a report that they wrote, against the same figure before a change.

mod commands;
mod markup;
mod reports;

use std::fmt;

pub use commands::coverage_commands;

use crate::finding::{FindingKind, FindingWeight, GateFinding};

/// What a report counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoverageUnit {
    /// Lines of code.
    Lines,
    /// Statements.
    Statements,
    /// Instructions of the machine that runs it.
    Instructions,
}

impl CoverageUnit {
    /// The word that is printed and kept.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Statements => "statements",
            Self::Instructions => "instructions",
        }
    }

    /// The unit of a word; `None` where it is none.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Lines, Self::Statements, Self::Instructions].into_iter().find(|unit| unit.name() == name)
    }
}

/// How much of the code tests reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoverageFigure {
    /// What is counted.
    pub unit: CoverageUnit,
    /// How many of them tests reach.
    pub covered: u64,
    /// How many there are; never 0.
    pub all: u64,
}

impl CoverageFigure {
    /// A figure; `None` where there is nothing to cover, or less than is covered: such a report measured nothing.
    pub fn new(unit: CoverageUnit, covered: u64, all: u64) -> Option<Self> {
        (all > 0 && covered <= all).then_some(Self { unit, covered, all })
    }

    /// How many thousandths of a point are covered.
    fn thousandths(self) -> u64 {
        let share = u128::from(self.covered) * 100_000 / u128::from(self.all.max(1));
        u64::try_from(share).unwrap_or(100_000)
    }
}

impl fmt::Display for CoverageFigure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = self.thousandths();
        write!(formatter, "{}.{:02} % of {}", share / 1000, share % 1000 / 10, self.unit.name())
    }
}

/// By how many points coverage may fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoverageTolerance(u64);

impl CoverageTolerance {
    /// A tenth of a point (ours): to delete code that tests reach lowers the share of what is left by as little.
    pub const USUAL: Self = Self(100);

    /// Reads points such as `0`, `0.5` or `2`, with at most three digits behind the point; `None` where it is no such number, or above 100.
    pub fn read(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(part) || whole.len() > 3 || part.len() > 3 {
            return None;
        }
        let whole: u64 = whole.parse().ok()?;
        let part: u64 = format!("{part:0<3}").parse().ok()?;
        let all = whole * 1000 + part;
        (all <= 100_000).then_some(Self(all))
    }
}

impl fmt::Display for CoverageTolerance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = format!("{:03}", self.0 % 1000);
        match part.trim_end_matches('0') {
            "" => write!(formatter, "{}", self.0 / 1000),
            part => write!(formatter, "{}.{part}", self.0 / 1000),
        }
    }
}

/// Reads the report of a tool that measures coverage. The text says by itself of which form it is.
///
/// # Errors
///
/// In words, when it is of no form that is known, or measured nothing.
pub fn read_coverage(text: &str) -> Result<CoverageFigure, &'static str> {
    reports::read(text)
}

/// Whether two figures count the same, so that one may be lower.
pub fn are_comparable(now: CoverageFigure, before: CoverageFigure) -> bool {
    now.unit == before.unit
}

/// The finding about coverage that fell by more than it may.
pub fn examine_coverage(
    now: CoverageFigure,
    before: CoverageFigure,
    tolerance: CoverageTolerance,
) -> Option<GateFinding> {
    let lost = before.thousandths().saturating_sub(now.thousandths());
    (lost > tolerance.0).then(|| {
        let words = format!("{now}, and {before} before; it may fall by {tolerance} points");
        GateFinding::of_file(FindingKind::CoverageLower, FindingWeight::Error, &words)
    })
}

/// Where tools write their reports when nobody says where, from the root of a project. Sources: the documentation of coverage.py ("Command
/// line usage"), Istanbul ("Alternative reporters"), the plugins of JaCoCo for Maven and Gradle, `go help testflag`, `cargo llvm-cov`, `cargo
/// tarpaulin`, SimpleCov and PHPUnit.
pub const USUAL_REPORTS: [&str; 24] = [
    "coverage.xml",
    "coverage.json",
    "coverage.lcov",
    "lcov.info",
    "cobertura.xml",
    "coverage.out",
    "cover.out",
    "coverage.txt",
    "coverage/coverage-summary.json",
    "coverage/coverage-final.json",
    "coverage/lcov.info",
    "coverage/cobertura-coverage.xml",
    "coverage/coverage.xml",
    "target/site/jacoco/jacoco.xml",
    "build/reports/jacoco/test/jacocoTestReport.xml",
    "target/coverage/lcov.info",
    "target/llvm-cov/lcov.info",
    "build/logs/cobertura.xml",
    "coverage.cobertura.xml",
    "coverage.info",
    "build/coverage.info",
    "build/reports/kover/report.xml",
    "profile.cov",
    "target/llvm-cov/coverage.json",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(covered: u64, all: u64) -> CoverageFigure {
        CoverageFigure::new(CoverageUnit::Lines, covered, all).unwrap()
    }

    #[test]
    fn what_falls_by_more_than_it_may_is_found() {
        let found = |now, before, points: &str| {
            examine_coverage(now, before, CoverageTolerance::read(points).unwrap()).map(|one| one.text)
        };
        assert_eq!(found(figure(90, 100), figure(90, 100), "0"), None);
        assert_eq!(found(figure(91, 100), figure(90, 100), "0"), None);
        assert_eq!(found(figure(899, 1000), figure(900, 1000), "0.1"), None);
        assert_eq!(
            found(figure(898, 1000), figure(900, 1000), "0.1").as_deref(),
            Some("89.80 % of lines, and 90.00 % of lines before; it may fall by 0.1 points")
        );
        assert!(found(figure(1, 3), figure(2, 3), "33").is_some());
        assert!(found(figure(1, 3), figure(2, 3), "34").is_none());
    }

    #[test]
    fn tolerances_are_points() {
        for (text, shown) in [("0", "0"), ("2", "2"), ("0.5", "0.5"), ("1.25", "1.25"), ("0.100", "0.1")] {
            assert_eq!(CoverageTolerance::read(text).map(|one| one.to_string()).as_deref(), Some(shown));
        }
        for text in ["", "-1", "a", "1.", ".5", "101", "0.0001", "1e2", "NaN"] {
            assert_eq!(CoverageTolerance::read(text), None, "{text}");
        }
        assert_eq!(CoverageTolerance::USUAL.to_string(), "0.1");
    }

    #[test]
    fn nothing_measured_is_no_figure() {
        assert_eq!(CoverageFigure::new(CoverageUnit::Lines, 0, 0), None);
        assert_eq!(CoverageFigure::new(CoverageUnit::Lines, 3, 2), None);
        assert_eq!(CoverageUnit::named("statements"), Some(CoverageUnit::Statements));
    }
}
