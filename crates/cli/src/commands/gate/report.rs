//! What a gate found, for people and for the programs that collect such reports.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use checkrein_gates::{FindingKind, FindingWeight, Gate};
use serde_json::json;

use crate::api::gates::{GateAnswer, GateFindingEntry};
use crate::commands::pretty;
use crate::terminal::{bold, counted, dim, plain, plain_name};
use checkrein_engine::error::CommandError;

/// How many findings are shown to people (ours); `--json` has all.
const SHOWN: usize = 50;

/// For people: what was seen, and what to do.
pub(super) fn text(answer: &GateAnswer) -> String {
    let mut text = format!("{}  {}\n", bold(&answer.gate), summary(answer));
    for review in &answer.reviews {
        let what = review.verdict.as_deref().or(review.cause.as_deref()).unwrap_or_default();
        let _ = writeln!(text, "{} ({}): {}", plain(&review.reviewer), plain(&review.asked), plain(what));
    }
    for one in &answer.coverage {
        let _ = writeln!(
            text,
            "coverage by {}: {}, before the change {}",
            plain_name(&one.report),
            one.now,
            one.before
        );
    }
    let mut order: Vec<&GateFindingEntry> = answer.findings.iter().collect();
    order.sort_by_key(|finding| finding.weight != FindingWeight::Error.name());
    for finding in order.iter().take(SHOWN) {
        let function = if finding.function.is_empty() {
            String::new()
        } else {
            format!(" in `{}`", plain(&finding.function))
        };
        let place = bold(&format!("{}:{}", plain_name(&finding.path), finding.line));
        let _ = write!(text, "\n{place}  {} {}{function}\n", finding.weight, finding.kind);
        let _ = writeln!(text, "  {}", dim(&plain(&finding.text)));
        let _ = writeln!(text, "  {}: {}", finding.seen, finding.advice);
    }
    let more = answer.findings.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = write!(text, "\nand {more} more: `--json` shows all\n");
    }
    let mut left_out: BTreeMap<(bool, &str), Vec<String>> = BTreeMap::new();
    for file in &answer.not_examined {
        left_out.entry((!file.fails, file.cause.as_str())).or_default().push(plain_name(&file.path));
    }
    for ((_, cause), paths) in left_out {
        let names = paths.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        let rest = paths.len().saturating_sub(5);
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        let _ = write!(text, "\nnot examined, because {cause}: {names}{rest}\n");
    }
    for one in &answer.not_run {
        let _ = write!(text, "\nnot looked at: {}: {}\n", one.what, one.cause);
    }
    text
}

/// What it comes to, in one sentence.
fn summary(answer: &GateAnswer) -> String {
    let files = count(answer.files);
    let examined = match gate_of(answer) {
        Some(Gate::Completeness) => {
            format!("{} in {}", counted(count(answer.functions), "changed function"), counted(files, "file"))
        }
        Some(Gate::Mechanical | Gate::TestPlan | Gate::Lld) => counted(files, "document"),
        Some(Gate::Secrets | Gate::Scope | Gate::Phantoms | Gate::Licences | Gate::Implementation) | None => {
            counted(files, "changed file")
        }
    };
    let examined = format!("{examined}, compared with {}", answer.compared_with);
    let found = match (answer.errors, answer.warnings) {
        (0, 0) => "nothing found".to_owned(),
        (errors, 0) => counted(count(errors), "error"),
        (0, warnings) => counted(count(warnings), "warning"),
        (errors, warnings) => {
            format!("{}, {}", counted(count(errors), "error"), counted(count(warnings), "warning"))
        }
    };
    let verdict = match answer.outcome.as_str() {
        "not_run" => "not run",
        outcome => outcome,
    };
    let allowed = if answer.allowed > 0 {
        format!(", {} allowed with a reason", answer.allowed)
    } else {
        String::new()
    };
    format!("{verdict}: {found}{allowed}; {examined}")
}

fn gate_of(answer: &GateAnswer) -> Option<Gate> {
    Gate::ALL.into_iter().find(|gate| gate.name() == answer.gate)
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// SARIF 2.1.0, as code scanning takes it.
pub(super) fn sarif(answer: &GateAnswer) -> Result<String, CommandError> {
    let gate = gate_of(answer);
    let kinds = FindingKind::ALL.iter().filter(|kind| gate.is_none_or(|gate| kind.is_of(gate)));
    let rules: Vec<_> = kinds
        .map(|kind| {
            json!({
                "id": kind.name(),
                "shortDescription": { "text": kind.seen() },
                "help": { "text": kind.advice() },
            })
        })
        .collect();
    let results: Vec<_> = answer
        .findings
        .iter()
        .map(|finding| {
            json!({
                "ruleId": finding.kind,
                "level": finding.weight,
                "message": { "text": format!("{}: {}", finding.seen, finding.advice) },
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": { "uri": uri(&finding.path), "uriBaseId": "%SRCROOT%" },
                        "region": { "startLine": finding.line, "snippet": { "text": finding.text } },
                    },
                }],
            })
        })
        .collect();
    let mut unread: Vec<_> = answer
        .not_examined
        .iter()
        .filter(|file| file.fails)
        .map(|file| json!({ "level": "error", "message": { "text": format!("`{}` was not examined: {}", file.path, file.cause) } }))
        .collect();
    unread.extend(answer.not_run.iter().map(
        |one| json!({ "level": "error", "message": { "text": format!("{} was not looked at: {}", one.what, one.cause) } }),
    ));
    pretty(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "checkrein", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "invocations": [{ "executionSuccessful": unread.is_empty(), "toolExecutionNotifications": unread }],
            "results": results,
        }],
    }))
}

/// A path as a part of an address.
fn uri(path: &str) -> String {
    path.bytes().fold(String::new(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
        uri
    })
}

/// JUnit XML: each file that something is wrong with is a failed test, warnings go along as its output.
pub(super) fn junit(answer: &GateAnswer) -> String {
    let mut files: BTreeMap<&str, Vec<&GateFindingEntry>> = BTreeMap::new();
    for finding in &answer.findings {
        files.entry(&finding.path).or_default().push(finding);
    }
    let mut cases = String::new();
    let mut failures = 0;
    for (path, findings) in &files {
        let is_error = |finding: &&&GateFindingEntry| finding.weight == FindingWeight::Error.name();
        let lines = |findings: Vec<&&GateFindingEntry>| {
            let line = |finding: &&GateFindingEntry| {
                format!(
                    "{}:{}: {}: {}: {}",
                    finding.path, finding.line, finding.kind, finding.seen, finding.text
                )
            };
            findings.into_iter().map(line).collect::<Vec<_>>().join("\n")
        };
        let errors: Vec<_> = findings.iter().filter(is_error).collect();
        let warnings: Vec<_> = findings.iter().filter(|finding| !is_error(finding)).collect();
        let _ = writeln!(
            cases,
            "    <testcase classname=\"{}\" name=\"{}\">",
            escaped(&answer.gate),
            escaped(path)
        );
        if !errors.is_empty() {
            failures += 1;
            let number = counted(count(errors.len()), "error");
            let _ =
                writeln!(cases, "      <failure message=\"{number}\">{}</failure>", escaped(&lines(errors)));
        }
        if !warnings.is_empty() {
            let _ = writeln!(cases, "      <system-out>{}</system-out>", escaped(&lines(warnings)));
        }
        cases.push_str("    </testcase>\n");
    }
    for file in answer.not_examined.iter().filter(|file| file.fails) {
        failures += 1;
        let _ = writeln!(
            cases,
            "    <testcase classname=\"{}\" name=\"{}\">\n      <failure message=\"not examined\">{}</failure>\n    </testcase>",
            escaped(&answer.gate),
            escaped(&file.path),
            escaped(&file.cause)
        );
    }
    for one in &answer.not_run {
        failures += 1;
        let _ = writeln!(
            cases,
            "    <testcase classname=\"{}\" name=\"{}\">\n      <failure message=\"not run\">{}</failure>\n    </testcase>",
            escaped(&answer.gate),
            escaped(&one.what),
            escaped(&one.cause)
        );
    }
    let passed = answer.files.saturating_sub(files.len());
    // A report without a test is read as one that did not run.
    let rest = match (passed, cases.is_empty()) {
        (0, false) => None,
        (0, true) => Some("nothing to examine".to_owned()),
        (passed, _) => Some(format!("{} without findings", counted(count(passed), "file"))),
    };
    if let Some(name) = rest {
        let _ = writeln!(cases, "    <testcase classname=\"{}\" name=\"{name}\"/>", escaped(&answer.gate));
    }
    let tests = cases.matches("<testcase ").count();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"checkrein {}\" tests=\"{tests}\" failures=\"{failures}\">\n{cases}  </testsuite>\n</testsuites>\n",
        escaped(&answer.gate)
    )
}

/// Text inside of XML; signs that XML cannot hold are left out.
fn escaped(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_control() || matches!(sign, '\n' | '\t')).fold(
        String::new(),
        |mut escaped, sign| {
            match sign {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                sign => escaped.push(sign),
            }
            escaped
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_safe_in_xml_and_addresses() {
        assert_eq!(escaped("a < b && \"c\"\u{1b}"), "a &lt; b &amp;&amp; &quot;c&quot;");
        assert_eq!(uri("a b/ü.rs"), "a%20b/%C3%BC.rs");
    }
}
