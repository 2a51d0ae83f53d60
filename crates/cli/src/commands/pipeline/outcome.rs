//! What the output of a command, or the report of a gate, comes to.

use std::collections::BTreeSet;

use checkrein_engine::text::counted;
use checkrein_gates::FindingKind;
use checkrein_pipelines::{CommandStep, StepEnd, StepResult, TemplateValues, coverage_told, excerpt};
use checkrein_supervise::{Next, Phase, Route, TestRunner};
use serde_json::Value as Json;

use super::act::StepReport;

/// What the output of a command comes to.
pub(super) fn of_route(
    route: &Route,
    step: &CommandStep,
    status: Option<u8>,
    said: &str,
    has_loop: bool,
) -> StepResult {
    let expected = match step.phase {
        Phase::Green => route.next == Next::GoOn,
        // Tests that were written before the code must run, and fail.
        Phase::Red => route.failure == checkrein_supervise::TestFailureKind::Tests,
    };
    let told =
        status.map_or_else(|| "no status: it took too long".to_owned(), |status| format!("status {status}"));
    if expected {
        return StepResult::plain(
            StepEnd::Passed,
            match step.phase {
                Phase::Green => passed_with(route),
                Phase::Red => format!("its tests fail, as they should ({told})"),
            },
        );
    }
    let end = match route.next {
        // Nothing ran: its program is not there.
        _ if matches!(status, Some(125..=127)) => StepEnd::DidNotRun,
        // The same result again is a strike of the loop, which says so.
        Next::Stop if route.same > 1 && has_loop => StepEnd::Failed,
        Next::Stop => StepEnd::FailedForGood,
        Next::Wait => StepEnd::DidNotRun,
        Next::GoOn | Next::Implement | Next::Scaffold => StepEnd::Failed,
    };
    let problems: BTreeSet<String> = if route.failing.is_empty() {
        // Where no test is named, what was written is compared by who made the route.
        let known =
            if route.same > 1 { "the same output as before".to_owned() } else { format!("output of {told}") };
        BTreeSet::from([if route.same > 1 || route.failed.is_some() { known } else { said_in_short(said) }])
    } else {
        route.failing.iter().cloned().collect()
    };
    StepResult {
        end,
        summary: format!("{} ({told})", route.advice()),
        problems,
        count: route.failed,
        strikes: if route.passed.unwrap_or(0) == 0 { 2 } else { 3 },
        covered: coverage_told(said),
        feedback: format!("{} ({told})\n\n{}", route.advice(), excerpt(said)),
    }
}

/// That it passed, with how many tests did.
fn passed_with(route: &Route) -> String {
    let Some(passed) = route.passed.filter(|passed| *passed > 0) else { return "it passed".to_owned() };
    let left_out = route.left_out.filter(|left_out| *left_out > 0);
    let left_out = left_out
        .map(|number| format!(", {} skipped or not selected", counted(number, "test")))
        .unwrap_or_default();
    format!("it passed: {}{left_out}", counted(passed, "test"))
}

/// The runner that a command names.
pub(super) fn runner_of(text: &str, values: &TemplateValues) -> TestRunner {
    // A shell text names its inputs by variables.
    let inputs =
        values.0.iter().filter(|(name, _)| name.starts_with("inputs.tests")).map(|(_, value)| value.as_str());
    let all: Vec<&str> = std::iter::once(text).chain(inputs).collect();
    let names = |words: &str| all.iter().any(|text| text.contains(words));
    let known = [
        ("pytest", TestRunner::Pytest),
        ("cargo test", TestRunner::Cargo),
        ("go test", TestRunner::Go),
        ("jest", TestRunner::Jest),
        ("-m unittest", TestRunner::Unittest),
    ];
    known.into_iter().find(|(words, _)| names(words)).map_or(TestRunner::Unknown, |(_, runner)| runner)
}

/// The last lines of an output that say something, without its numbers: how long something took differs each time.
fn said_in_short(said: &str) -> String {
    let lines: Vec<String> = said
        .lines()
        .rev()
        .map(|line| {
            line.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>().trim().to_owned()
        })
        .filter(|line| !line.is_empty())
        .take(3)
        .collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

/// What the report of a gate comes to.
pub(super) fn of_gate(answer: &Json) -> StepReport {
    let text = |value: &Json, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let gate = text(answer, "gate");
    let findings: Vec<&Json> = answer["findings"].as_array().into_iter().flatten().collect();
    let describe = |one: &&Json| {
        format!(
            "{}:{} {}: {}: {}",
            text(one, "path"),
            one["line"],
            text(one, "kind"),
            text(one, "seen"),
            text(one, "advice")
        )
    };
    let unread = answer["not_examined"].as_array().into_iter().flatten().filter(|one| one["fails"] == true);
    let not_run = answer["not_run"].as_array().into_iter().flatten();
    let left_out: Vec<String> = unread
        .map(|one| format!("{}: {}", text(one, "path"), text(one, "cause")))
        .chain(not_run.map(|one| format!("{}: {}", text(one, "what"), text(one, "cause"))))
        .collect();
    let lines: Vec<String> = findings.iter().map(describe).chain(left_out.iter().cloned()).collect();
    let end = match answer["outcome"].as_str() {
        Some("passed") => StepEnd::Passed,
        Some("failed") => StepEnd::Failed,
        _ => StepEnd::DidNotRun,
    };
    let summary = match end {
        StepEnd::Passed => format!("the gate {gate} passed{}", besides(answer)),
        StepEnd::Failed => format!("the gate {gate} failed: {}", counted(findings.len() as u64, "finding")),
        StepEnd::DidNotRun | StepEnd::FailedForGood | StepEnd::Refused => {
            format!(
                "the gate {gate} could not look at all: {}",
                left_out.first().cloned().unwrap_or_default()
            )
        }
    };
    let problem = |one: &&Json| {
        format!(
            "{}: {}: {} {}",
            text(one, "path"),
            text(one, "kind"),
            text(one, "function"),
            text(one, "text")
        )
    };
    StepReport {
        result: StepResult {
            problems: findings.iter().map(problem).chain(left_out).collect(),
            count: answer["errors"].as_u64(),
            // The worst of several reports decides.
            covered: answer["coverage"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|one| coverage_told(&text(one, "now")))
                .min(),
            feedback: format!("{summary}\n{}", lines.join("\n")),
            ..StepResult::plain(end, summary)
        },
        text: lines.join("\n"),
        exemptions: new_exemptions(answer),
        ..StepReport::plain(end, "")
    }
}

/// What a gate that passed did not hold against the change: warnings, what was allowed, files that it did not read.
fn besides(answer: &Json) -> String {
    let count = |number: &Json| number.as_u64().unwrap_or_default();
    let unread = answer["not_examined"].as_array().map_or(0, |files| files.len() as u64);
    let new = new_exemptions(answer).len() as u64;
    let told = [
        (count(&answer["warnings"]), counted(count(&answer["warnings"]), "warning")),
        (count(&answer["allowed"]), format!("{} allowed with a reason", count(&answer["allowed"]))),
        (new, format!("{} with the change", counted(new, "exemption"))),
        (unread, format!("{} not examined", counted(unread, "file"))),
    ];
    let told: Vec<String> =
        told.into_iter().filter(|(number, _)| *number > 0).map(|(_, words)| words).collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
}

/// The exemptions that came with the change, as lines for people and reviewers.
fn new_exemptions(answer: &Json) -> Vec<String> {
    let text = |value: &Json, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let findings = answer["findings"].as_array().into_iter().flatten();
    findings
        .filter(|one| one["kind"] == FindingKind::NewExemption.name())
        .map(|one| format!("{}:{} {}", text(one, "path"), one["line"], text(one, "text")))
        .collect()
}
