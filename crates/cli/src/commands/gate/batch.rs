//! `checkrein gate completeness --batch`: JSON Lines of fragments.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

use checkrein_gates::{CodeOrigin, CodeVerdict, Fragment, SourceLanguage, judge_fragment};
use serde_json::Value as Json;

use crate::api::gates::{BatchFinding, GateBatchAnswer};
use crate::commands::{ExitStatus, line};
use checkrein_engine::error::CommandError;

/// Answers each line of a file, or of standard input, in order. A line that is no question is answered too: with `not_parsed` and an error.
pub(super) fn batch(source: &str) -> Result<ExitStatus, CommandError> {
    let input: Box<dyn BufRead> = match source {
        "-" => Box::new(io::stdin().lock()),
        path => Box::new(BufReader::new(
            File::open(path).map_err(|error| CommandError::file("read", path, &error))?,
        )),
    };
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut exit = ExitStatus::Done;
    for (number, text) in input.split(b'\n').enumerate() {
        let text = text.map_err(|error| CommandError::file("read", source, &error))?;
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = answer(&text, number + 1);
        if answer.error.is_some() {
            exit = ExitStatus::Failed;
        }
        if writeln!(output, "{}", line(&answer)?).is_err() {
            // A reader that has gone away is no failure.
            return Ok(ExitStatus::Done);
        }
    }
    drop(output.flush());
    Ok(exit)
}

fn answer(text: &[u8], number: usize) -> GateBatchAnswer {
    let refused = |id: Json, cause: String| GateBatchAnswer {
        id,
        verdict: CodeVerdict::NotParsed.name().to_owned(),
        findings: Vec::new(),
        error: Some(format!("line {number}: {cause}")),
    };
    let question: Json = match serde_json::from_slice(text) {
        Ok(question) => question,
        Err(error) => return refused(Json::Null, format!("not JSON: {}", without_place(&error))),
    };
    let id = question.get("id").cloned().unwrap_or_else(|| number.into());
    let Some(name) = question.get("language").and_then(Json::as_str) else {
        return refused(id, "`language` is missing".to_owned());
    };
    let Some(code) = question.get("code").and_then(Json::as_str) else {
        return refused(id, "`code` is missing".to_owned());
    };
    let origin = match question.get("in_test") {
        None | Some(Json::Null | Json::Bool(false)) => CodeOrigin::Product,
        Some(Json::Bool(true)) => CodeOrigin::Tests,
        Some(_) => return refused(id, "`in_test` is neither true nor false".to_owned()),
    };
    let Some(language) = SourceLanguage::named(name) else {
        return refused(id, format!("no grammar reads `{name}`"));
    };
    let judged = judge_fragment(Fragment { language, code, origin });
    let findings = judged.findings.into_iter().map(|finding| BatchFinding {
        line: finding.line,
        kind: finding.kind.name().to_owned(),
        weight: finding.weight.name().to_owned(),
        text: finding.text,
    });
    GateBatchAnswer {
        id,
        verdict: judged.verdict.name().to_owned(),
        findings: findings.collect(),
        error: None,
    }
}

/// What the parser says without its own line: each line is a text of its own to it.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let cause = text.rsplit_once(" at line ").map_or(text.as_str(), |(cause, _)| cause);
    format!("{cause} at column {}", error.column())
}
