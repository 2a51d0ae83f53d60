//! The forms of reports, as those who write them describe them.
//!
//! | form | described in |
//! |---|---|
//! | lcov | geninfo(1), "Tracefile format" |
//! | Cobertura XML | `coverage-04.dtd`; also written by coverage.py, gcovr, Istanbul, coverlet, tarpaulin |
//! | coverage.py JSON | coverage.py, "JSON reporting" (`totals`) |
//! | profiles of Go | `golang.org/x/tools/cover`, `ParseProfiles` |
//! | JaCoCo XML | `report.dtd` 1.1 |
//! | Istanbul JSON | `coverage-summary.json` of the reporter `json-summary`, `coverage-final.json` of `json` |
//! | llvm-cov JSON | `CoverageExporterJson.cpp` of LLVM |

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::markup::{MarkupTag, each_tag};
use super::{CoverageFigure, CoverageUnit};

const UNKNOWN: &str = "it is of no form that is known";
const CUT_OFF: &str = "it is cut off, or not well formed";
const NOTHING: &str = "it measured nothing";

pub(super) fn read(text: &str) -> Result<CoverageFigure, &'static str> {
    let text = text.trim_start_matches('\u{feff}').trim();
    match text.as_bytes().first() {
        Some(b'<') => of_xml(text),
        Some(b'{') => of_json(text),
        _ if text.starts_with("mode:") => of_go(text),
        _ if text.lines().any(|line| line.trim() == "end_of_record") => of_lcov(text),
        Some(_) | None => Err(UNKNOWN),
    }
}

/// What tests reach among places, where the same place may be told of several times.
#[derive(Default)]
struct Reached<K>(BTreeMap<K, (u64, bool)>);

impl<K: Ord> Reached<K> {
    fn add(&mut self, place: K, weight: u64, is_reached: bool) {
        let entry = self.0.entry(place).or_insert((weight, false));
        entry.1 |= is_reached;
    }

    fn figure(&self, unit: CoverageUnit) -> Result<CoverageFigure, &'static str> {
        let sum = |wanted: fn(bool) -> bool| {
            self.0.values().filter(|(_, reached)| wanted(*reached)).map(|(weight, _)| *weight).sum()
        };
        CoverageFigure::new(unit, sum(|reached| reached), sum(|_| true)).ok_or(NOTHING)
    }
}

/// `SF:` opens a file, `DA:LINE,HITS[,CHECKSUM]` is a line of it, `LF:` and `LH:` are sums where lines are left out.
fn of_lcov(text: &str) -> Result<CoverageFigure, &'static str> {
    let mut lines: Reached<(&str, u64)> = Reached::default();
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut file = None;
    for line in text.lines().map(str::trim) {
        if line == "end_of_record" {
            file = None;
        } else if let Some(name) = line.strip_prefix("SF:") {
            file = Some(name);
        } else if let Some(name) = file {
            let number = |text: &str| text.parse::<u64>().map_err(|_| CUT_OFF);
            if let Some(data) = line.strip_prefix("DA:") {
                let mut fields = data.split(',');
                let (Some(place), Some(hits)) = (fields.next(), fields.next()) else { return Err(CUT_OFF) };
                // Some tools write counts below nothing where a counter ran over: such a line was reached.
                let is_reached = hits.trim() != "0";
                lines.add((name, number(place.trim())?), 1, is_reached);
            } else if let Some(all) = line.strip_prefix("LF:") {
                sums.entry(name).or_default().1 = number(all.trim())?;
            } else if let Some(covered) = line.strip_prefix("LH:") {
                sums.entry(name).or_default().0 = number(covered.trim())?;
            }
        } else if !line.is_empty() && !line.starts_with("TN:") && !line.starts_with('#') {
            // The beginning of a record whose rest is missing.
            return Err(CUT_OFF);
        }
    }
    if file.is_some() {
        return Err(CUT_OFF);
    }
    if lines.0.is_empty() {
        let sum = sums.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        return CoverageFigure::new(CoverageUnit::Lines, sum.0, sum.1).ok_or(NOTHING);
    }
    lines.figure(CoverageUnit::Lines)
}

/// `FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT`; packages that others test too have the same block several times.
fn of_go(text: &str) -> Result<CoverageFigure, &'static str> {
    let mut blocks: Reached<&str> = Reached::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(mode) = line.strip_prefix("mode:") {
            // Profiles of several packages may stand behind each other.
            if !["set", "count", "atomic"].contains(&mode.trim()) {
                return Err(UNKNOWN);
            }
            continue;
        }
        let mut fields = line.rsplitn(3, ' ');
        let (Some(count), Some(statements), Some(block)) = (fields.next(), fields.next(), fields.next())
        else {
            return Err(CUT_OFF);
        };
        let is_reached = count.parse::<u64>().map_err(|_| CUT_OFF)? > 0;
        blocks.add(block, statements.parse().map_err(|_| CUT_OFF)?, is_reached);
    }
    blocks.figure(CoverageUnit::Statements)
}

fn of_xml(text: &str) -> Result<CoverageFigure, &'static str> {
    let mut root = None;
    each_tag(text, |tag| {
        if tag.path.len() == 1 {
            root = tag.path.first().map(|name| (*name).to_owned());
        }
    })
    .ok_or(CUT_OFF)?;
    match root.as_deref() {
        Some("coverage") => of_cobertura(text),
        Some("report") => of_jacoco(text),
        Some(_) | None => Err(UNKNOWN),
    }
}

/// Lines below the classes of a package; those below methods are the same once more. The root has sums, older versions a rate only.
fn of_cobertura(text: &str) -> Result<CoverageFigure, &'static str> {
    let mut lines: Reached<(String, u64)> = Reached::default();
    let mut file = String::new();
    let (mut sums, mut rate) = (None, None);
    each_tag(text, |tag: &MarkupTag<'_>| {
        if tag.is(&["coverage"]) {
            sums = tag.number("lines-covered").zip(tag.number("lines-valid"));
            rate = tag.attribute("line-rate").and_then(|rate| rate.trim().parse::<f64>().ok());
        } else if tag.ends_with(&["classes", "class"]) {
            tag.attribute("filename").unwrap_or_default().clone_into(&mut file);
        } else if tag.ends_with(&["class", "lines", "line"])
            && let (Some(number), Some(hits)) = (tag.number("number"), tag.attribute("hits"))
        {
            lines.add((file.clone(), number), 1, hits.trim() != "0");
        }
    })
    .ok_or(CUT_OFF)?;
    if !lines.0.is_empty() {
        return lines.figure(CoverageUnit::Lines);
    }
    if let Some((covered, all)) = sums {
        return CoverageFigure::new(CoverageUnit::Lines, covered, all).ok_or(NOTHING);
    }
    of_rate(rate.ok_or(UNKNOWN)?)
}

/// A share without what it is of.
fn of_rate(rate: f64) -> Result<CoverageFigure, &'static str> {
    const PARTS: u64 = 1_000_000;
    if !(0.0..=1.0).contains(&rate) {
        return Err(NOTHING);
    }
    // Between nothing and a million, so no part of it is lost but what is below a millionth.
    let covered = format!("{:.0}", rate * 1_000_000.0).parse().map_err(|_| NOTHING)?;
    CoverageFigure::new(CoverageUnit::Lines, covered, PARTS).ok_or(NOTHING)
}

/// The counters of the report itself. Classes without a table of lines have instructions only.
fn of_jacoco(text: &str) -> Result<CoverageFigure, &'static str> {
    let (mut lines, mut instructions) = (None, None);
    each_tag(text, |tag| {
        if !tag.is(&["report", "counter"]) {
            return;
        }
        let Some((missed, covered)) = tag.number("missed").zip(tag.number("covered")) else { return };
        match tag.attribute("type") {
            Some("LINE") => {
                lines = CoverageFigure::new(CoverageUnit::Lines, covered, missed.saturating_add(covered));
            }
            Some("INSTRUCTION") => {
                let all = missed.saturating_add(covered);
                instructions = CoverageFigure::new(CoverageUnit::Instructions, covered, all);
            }
            Some(_) | None => {}
        }
    })
    .ok_or(CUT_OFF)?;
    lines.or(instructions).ok_or(NOTHING)
}

fn of_json(text: &str) -> Result<CoverageFigure, &'static str> {
    let Ok(Json::Object(report)) = serde_json::from_str(text) else { return Err(CUT_OFF) };
    if report.get("type").and_then(Json::as_str) == Some("llvm.coverage.json.export") {
        return of_llvm(&report);
    }
    if let Some(totals) = report.get("totals").filter(|_| report.contains_key("meta")) {
        // coverage.py
        return pair(totals, "covered_lines", "num_statements", CoverageUnit::Lines);
    }
    if let Some(total) = report.get("total").and_then(|total| total.get("lines")) {
        // Istanbul, summary
        return pair(total, "covered", "total", CoverageUnit::Lines);
    }
    of_istanbul(&report)
}

/// Two numbers of an object.
fn pair(object: &Json, covered: &str, all: &str, unit: CoverageUnit) -> Result<CoverageFigure, &'static str> {
    let number = |name: &str| object.get(name).and_then(Json::as_u64).ok_or(UNKNOWN);
    CoverageFigure::new(unit, number(covered)?, number(all)?).ok_or(NOTHING)
}

/// The sums of each export.
fn of_llvm(report: &Map<String, Json>) -> Result<CoverageFigure, &'static str> {
    let exports = report.get("data").and_then(Json::as_array).ok_or(UNKNOWN)?;
    let (mut covered, mut all) = (0, 0);
    for export in exports {
        let lines = export.pointer("/totals/lines").ok_or(UNKNOWN)?;
        let number = |name: &str| lines.get(name).and_then(Json::as_u64).ok_or(UNKNOWN);
        covered += number("covered")?;
        all += number("count")?;
    }
    CoverageFigure::new(CoverageUnit::Lines, covered, all).ok_or(NOTHING)
}

/// Each file with its statements: `statementMap` says where they are, `s` how often each ran.
fn of_istanbul(report: &Map<String, Json>) -> Result<CoverageFigure, &'static str> {
    let (mut covered, mut all) = (0, 0);
    for file in report.values() {
        // Some versions put what belongs to a file below `data`.
        let file = file.get("data").unwrap_or(file);
        let counts = file.get("statementMap").and(file.get("s")).and_then(Json::as_object).ok_or(UNKNOWN)?;
        for count in counts.values() {
            all += 1;
            covered += u64::from(count.as_u64().ok_or(UNKNOWN)? > 0);
        }
    }
    CoverageFigure::new(CoverageUnit::Statements, covered, all).ok_or(NOTHING)
}
