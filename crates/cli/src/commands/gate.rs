//! `checkrein gate`: what in the changed code is not done.

mod batch;
mod report;

use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use checkrein_gates::{
    CodeOrigin, FindingKind, FindingWeight, GateFinding, GateText, SourceLanguage, examine_file,
};
use checkrein_worktree::{ChangeBase, ChangedText, TextNow, changed_texts};
use similar::{ChangeTag, TextDiff};

use super::worktree::{repository, workspace};
use super::{ExitStatus, OutputForm};
use crate::api::gates::{GateAnswer, GateFindingEntry, NotExamined};
use crate::terminal::{plain, print};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// The longest file that is examined, in bytes (upstream: files above 1 MB are exempt; here that is said).
const LONGEST: u64 = 1024 * 1024;

/// What a gate is asked.
#[derive(Debug)]
pub struct GateRequest {
    /// What it looks at.
    pub input: GateInput,
    /// What fails it.
    pub strictness: Strictness,
    /// How it reports.
    pub form: ReportForm,
}

/// What a gate looks at.
#[derive(Debug)]
pub enum GateInput {
    /// JSON Lines of fragments, from a file or `-`.
    Batch(String),
    /// What changed in the work tree.
    Changes {
        /// What it is compared with.
        base: ChangeBase,
        /// Only files at or below these; all where there are none.
        paths: Vec<String>,
        /// Only files that changed after this, in milliseconds since 1970; all where it is `None`.
        begun: Option<u64>,
    },
}

/// What fails a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Errors.
    Errors,
    /// Errors and warnings.
    Warnings,
}

/// How a gate reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportForm {
    /// Text for people, or JSON.
    Usual,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit XML.
    Junit,
}

/// Examines what changed, or answers a batch.
pub fn gate(
    environment: &HostEnvironment,
    wanted: &GateRequest,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let (base, paths, begun) = match &wanted.input {
        GateInput::Batch(source) => return batch::batch(source),
        GateInput::Changes { base, paths, begun } => (base, paths, *begun),
    };
    let workspace = workspace(environment)?;
    let Some(repository) = repository(environment, &workspace)? else {
        return Err(CommandError::user(
            format!(
                "`{}` is not a git work tree, so nothing says what changed",
                plain(&workspace.to_string_lossy())
            ),
            "go into a repository, or give the code itself: `--batch`",
        ));
    };
    let within = roots(environment, &workspace, paths)?;
    let is_wanted = |path: &Path| {
        let is_within = within.is_empty() || within.iter().any(|root| path.starts_with(root));
        is_within && begun.is_none_or(|begun| changed_since(&workspace.join(path), begun))
    };
    let changed = changed_texts(&repository, base, LONGEST, is_wanted)?;
    let answer = examine(&changed, base, wanted.strictness);
    match (wanted.form, output) {
        (ReportForm::Usual, OutputForm::Text) => print(&report::text(&answer)),
        (ReportForm::Usual, OutputForm::Json) => print(&crate::api::pretty(&answer)?),
        (ReportForm::Sarif, _) => print(&report::sarif(&answer)?),
        (ReportForm::Junit, _) => print(&report::junit(&answer)),
    }
    Ok(if answer.passed { ExitStatus::Done } else { ExitStatus::Blocked })
}

/// Whether a file changed at or after a time, by the clock of its file system; one that is gone or cannot be looked at counts.
fn changed_since(path: &Path, begun: u64) -> bool {
    let Ok(facts) = std::fs::symlink_metadata(path) else { return true };
    let (seconds, nanos) = (facts.ctime(), facts.ctime_nsec());
    // Kernels tell the time of changes to some milliseconds, some file systems to the second.
    let coarse = if nanos == 0 { 1000 } else { 20 };
    let changed = seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000).saturating_add(coarse);
    u64::try_from(changed).is_ok_and(|changed| changed >= begun)
}

/// The paths that were given, from the root of the work tree.
fn roots(
    environment: &HostEnvironment,
    workspace: &Path,
    paths: &[String],
) -> Result<Vec<String>, CommandError> {
    let root = workspace.to_string_lossy();
    paths
        .iter()
        .map(|given| {
            let path = environment.cwd.join(given);
            // The work tree may be known by another name than its real one.
            let real =
                std::fs::canonicalize(path.as_str()).unwrap_or_else(|_| Path::new(path.as_str()).to_owned());
            let below = real.strip_prefix(workspace).map(|below| below.to_string_lossy().into_owned());
            below.map_err(|_| {
                CommandError::user(
                    format!("`{}` is outside of the work tree `{}`", plain(given), plain(&root)),
                    "give paths of this repository",
                )
            })
        })
        .collect()
}

fn examine(changed: &[ChangedText], base: &ChangeBase, strictness: Strictness) -> GateAnswer {
    let mut answer = GateAnswer {
        gate: "completeness".to_owned(),
        passed: true,
        compared_with: match base {
            ChangeBase::LastCommit => "the last commit".to_owned(),
            ChangeBase::Revision(name) => format!("where the branch left {}", plain(name)),
            ChangeBase::Staged => "the last commit (staged changes)".to_owned(),
            ChangeBase::Nothing => "an empty work tree".to_owned(),
        },
        files: 0,
        functions: 0,
        errors: 0,
        warnings: 0,
        allowed: 0,
        findings: Vec::new(),
        not_examined: Vec::new(),
    };
    for file in changed {
        examine_one(file, &mut answer);
    }
    let count = |word: &str| answer.findings.iter().filter(|finding| finding.weight == word).count();
    (answer.errors, answer.warnings) =
        (count(FindingWeight::Error.name()), count(FindingWeight::Warning.name()));
    let is_unread = answer.not_examined.iter().any(|file| file.fails);
    let is_strict = strictness == Strictness::Warnings;
    answer.passed = answer.errors == 0 && !is_unread && (answer.warnings == 0 || !is_strict);
    answer
}

fn examine_one(file: &ChangedText, answer: &mut GateAnswer) {
    let not_examined =
        |cause: &str, fails: bool| NotExamined { path: file.path.clone(), cause: cause.to_owned(), fails };
    let is_code = SourceLanguage::of_file(&file.path, "").is_some();
    let bytes = match &file.now {
        TextNow::Bytes(bytes) => bytes,
        TextNow::NotRead(cause) => return answer.not_examined.push(not_examined(cause, is_code)),
        TextNow::Gone => {
            if is_code && CodeOrigin::of_path(&file.path) == CodeOrigin::Tests {
                answer.findings.push(GateFindingEntry {
                    path: file.path.clone(),
                    line: 1,
                    kind: FindingKind::WeakenedTest.name().to_owned(),
                    weight: FindingWeight::Warning.name().to_owned(),
                    function: String::new(),
                    text: "the file is gone".to_owned(),
                    seen: FindingKind::WeakenedTest.seen().to_owned(),
                    advice: FindingKind::WeakenedTest.advice().to_owned(),
                });
            }
            return;
        }
    };
    let text = String::from_utf8_lossy(bytes);
    let Some(language) = SourceLanguage::of_file(&file.path, &text) else {
        return answer.not_examined.push(not_examined("no grammar reads it", false));
    };
    if text.contains('\0') {
        return answer.not_examined.push(not_examined("it is not text", true));
    }
    let before = file.before.as_ref().map(|bytes| String::from_utf8_lossy(bytes));
    let changed = before.as_ref().map(|before| changed_lines(before, &text));
    let examined = examine_file(GateText {
        language,
        text: &text,
        before: before.as_deref(),
        changed: changed.as_deref(),
        origin: CodeOrigin::of_path(&file.path),
    });
    answer.files += 1;
    answer.functions += examined.functions;
    answer.allowed += examined.allowed;
    answer.findings.extend(examined.findings.into_iter().map(|finding| entry(&file.path, finding)));
}

fn entry(path: &str, finding: GateFinding) -> GateFindingEntry {
    GateFindingEntry {
        path: path.to_owned(),
        line: finding.line,
        kind: finding.kind.name().to_owned(),
        weight: finding.weight.name().to_owned(),
        function: finding.function,
        text: finding.text,
        seen: finding.kind.seen().to_owned(),
        advice: finding.kind.advice().to_owned(),
    }
}

/// The lines of a text that differ from what it was, counted from 1. Where lines went, those around count: what is left may be what changed.
fn changed_lines(before: &str, now: &str) -> Vec<RangeInclusive<usize>> {
    let difference = TextDiff::from_lines(before, now);
    let mut ranges: Vec<RangeInclusive<usize>> = Vec::new();
    let mut next = 1_usize;
    for change in difference.iter_all_changes() {
        let lines = match change.tag() {
            ChangeTag::Equal => {
                next += 1;
                continue;
            }
            ChangeTag::Delete => next.saturating_sub(1).max(1)..=next,
            ChangeTag::Insert => {
                next += 1;
                next - 1..=next - 1
            }
        };
        match ranges.last_mut() {
            Some(last) if *lines.start() <= *last.end() + 1 => {
                *last = *last.start()..=(*last.end()).max(*lines.end());
            }
            _ => ranges.push(lines),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_those_of_the_new_text() {
        assert_eq!(changed_lines("a\nb\nc\n", "a\nx\nc\n"), [1..=2]);
        assert_eq!(changed_lines("a\nb\n", "a\nb\nc\nd\n"), [3..=4]);
        assert_eq!(changed_lines("a\nb\nc\n", "a\nc\n"), [1..=2]);
        assert!(changed_lines("a\n", "a\n").is_empty());
    }
}
