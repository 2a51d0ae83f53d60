//! `checkrein gate`: what must hold before work counts as done.

mod batch;
mod completeness;
mod coverage;
mod documents;
mod licences;
mod lld;
mod looks;
mod packages;
mod phantoms;
mod places;
mod remembered;
mod report;
mod runner_call;
mod scope;
mod secrets;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::rc::Rc;

use checkrein_gates::{
    AllowedFinding, CoverageTolerance, FindingWeight, Gate, GateFinding, PERMISSIVE, new_exemptions, sift,
};
use checkrein_worktree::{
    ChangeBase, ChangedText, GitRepository, TextNow, committed_lines, newest_at_remote,
};
use similar::{ChangeTag, TextDiff};

pub use coverage::{CoverageReports, CoverageWish};
use documents::DocumentContext;
pub use lld::{ReviewWish, ReviewersWanted};
use looks::{Looks, wanted_paths};
use places::{by_path, examine_places};

use super::worktree::{repository, workspace};
use super::{ExitStatus, OutputForm};
use crate::api::gates::{GateAnswer, GateFindingEntry, NotExamined, NotRun};
use crate::terminal::{plain, print, print_exact};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// The longest file that is examined, in bytes (upstream: files above 1 MB are exempt; here that is said).
const LONGEST: u64 = 1024 * 1024;

/// Which files are looked at.
type WantedFiles<'a> = dyn Fn(&Path) -> bool + 'a;

/// What a gate is asked.
#[derive(Debug)]
pub struct GateRequest {
    /// The gate.
    pub gate: Gate,
    /// Further gates that look at the same: what changed is found out once.
    pub together: Vec<Gate>,
    /// What may change (`scope`).
    pub allow: Vec<String>,
    /// A design document.
    pub design: Option<String>,
    /// What its headings must have (`mechanical`).
    pub sections: Vec<String>,
    /// Who reviews it (`lld`).
    pub review: ReviewWish,
    /// Which reports of coverage are compared (`implementation`).
    pub coverage: CoverageWish,
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
    /// What no remote has yet: commits, what is staged, and the work tree.
    Unpushed,
}

impl GateInput {
    /// All that changed since something.
    pub fn all(base: ChangeBase) -> Self {
        Self::Changes { base, paths: Vec::new(), begun: None }
    }
}

impl GateRequest {
    /// A gate that needs nothing but what it looks at.
    pub fn plain(gate: Gate, input: GateInput) -> Self {
        Self {
            gate,
            together: Vec::new(),
            allow: Vec::new(),
            design: None,
            sections: Vec::new(),
            review: ReviewWish::FormOnly,
            coverage: CoverageWish {
                reports: CoverageReports::Usual,
                before: Vec::new(),
                tolerance: CoverageTolerance::USUAL,
            },
            input,
            strictness: Strictness::Errors,
            form: ReportForm::Usual,
        }
    }
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
    check_options(wanted)?;
    if output == OutputForm::Json && wanted.form != ReportForm::Usual {
        return Err(CommandError::user(
            "a report has one form: `--json` and `--form` do not go together",
            "leave one of them out",
        ));
    }
    if let GateInput::Batch(source) = &wanted.input {
        return batch::batch(source);
    }
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
    let repository = remembered::remembering(environment, &workspace, repository);
    let gates: Vec<Gate> = std::iter::once(wanted.gate).chain(wanted.together.iter().copied()).collect();
    let (base, is_wanted): (_, Box<WantedFiles<'_>>) = match &wanted.input {
        GateInput::Batch(_) | GateInput::Unpushed => (None, Box::new(|_| true)),
        GateInput::Changes { base, paths, begun } => {
            let within = wanted_paths(environment, (&workspace, &repository), (base, paths, *begun))?;
            (Some(base), Box::new(within))
        }
    };
    let mut looks = Looks::new(&repository, &*is_wanted, &gates);
    let mut status = ExitStatus::Done;
    for gate in &gates {
        let judged = match base {
            Some(base) => judge(environment, &workspace, (*gate, wanted), base, &mut looks),
            None => unpushed(environment, &workspace, (*gate, wanted), &mut looks),
        };
        let mut answer = match judged {
            Ok(answer) => answer,
            // The others are asked all the same.
            Err(error) if gates.len() > 1 => did_not_run(*gate, base, &error),
            Err(error) => return Err(error),
        };
        conclude(&mut answer, wanted.strictness);
        match (wanted.form, output) {
            (ReportForm::Usual, OutputForm::Text) => print(&report::text(&answer)),
            (ReportForm::Usual, OutputForm::Json) => print_exact(&crate::api::pretty(&answer)?),
            (ReportForm::Sarif, _) => print_exact(&report::sarif(&answer)?),
            (ReportForm::Junit, _) => print_exact(&report::junit(&answer)),
        }
        if !answer.passed {
            status = ExitStatus::Blocked;
        }
    }
    remembered::remember(environment, &workspace, &repository);
    Ok(status)
}

/// The answer of a gate that failed beside others.
fn did_not_run(gate: Gate, base: Option<&ChangeBase>, error: &CommandError) -> GateAnswer {
    let mut answer = empty(gate, base.unwrap_or(&ChangeBase::Nothing));
    answer.not_run.push(NotRun { what: "what changed".to_owned(), cause: error.message.clone() });
    answer
}

/// What a gate says about exactly some commits.
pub(super) fn judge_commits(
    environment: &HostEnvironment,
    workspace: &Path,
    repository: &GitRepository,
    wanted: &GateRequest,
    base: &ChangeBase,
) -> Result<GateAnswer, CommandError> {
    let mut looks = Looks::new(repository, &|_| true, &[wanted.gate]);
    let mut answer = judge(environment, workspace, (wanted.gate, wanted), base, &mut looks)?;
    conclude(&mut answer, wanted.strictness);
    Ok(answer)
}

/// What a gate said, for people.
pub(super) fn report_text(answer: &GateAnswer) -> String {
    report::text(answer)
}

/// What a gate says about all that no remote has yet.
fn unpushed(
    environment: &HostEnvironment,
    workspace: &Path,
    wanted: (Gate, &GateRequest),
    looks: &mut Looks<'_>,
) -> Result<GateAnswer, CommandError> {
    let repository = looks.repository();
    let since = match repository.commit_of("HEAD")? {
        Some(head) => newest_at_remote(repository, &head, "", None)?,
        None => None,
    };
    // Where no remote has anything, all that lies on disk counts, and all that is committed otherwise.
    let base = since.map_or(ChangeBase::Nothing, ChangeBase::Revision);
    judge(environment, workspace, wanted, &base, looks)
}

/// What a gate finds, before it is said what that comes to.
fn judge(
    environment: &HostEnvironment,
    workspace: &Path,
    (gate, wanted): (Gate, &GateRequest),
    base: &ChangeBase,
    looks: &mut Looks<'_>,
) -> Result<GateAnswer, CommandError> {
    let repository = looks.repository();
    let changed = match gate {
        // They look at one document as it is.
        Gate::Mechanical | Gate::TestPlan | Gate::Lld => Rc::default(),
        gate => looks.changed(base, longest(gate))?,
    };
    let mut answer = empty(gate, base);
    if !matches!(gate, Gate::Mechanical | Gate::TestPlan | Gate::Lld)
        && !matches!(base, ChangeBase::Staged | ChangeBase::Commits { .. })
    {
        answer.not_examined.extend(looks.hidden()?.into_iter().map(|path| NotExamined {
            path,
            cause: "a list of this clone alone hides it from git, such as `.git/info/exclude`".to_owned(),
            fails: false,
        }));
    }
    let document = DocumentContext { environment, workspace, repository, wanted };
    match gate {
        Gate::Completeness => examine_places(base, &changed, &mut answer, |texts, answer| {
            texts.own().for_each(|file| completeness::examine(file, answer));
            completeness::compare_tests(texts, answer);
            completeness::compare_test_setups(texts, answer);
            Ok(())
        })?,
        Gate::Secrets => {
            examine_places(base, &changed, &mut answer, |texts, answer| {
                texts.own().for_each(|file| secrets::examine(file, answer));
                Ok(())
            })?;
            for lines in committed_lines(repository, base, looks.is_wanted())? {
                secrets::examine_lines(&lines, &changed, &mut answer);
            }
        }
        Gate::Licences => {
            let allowed = if wanted.allow.is_empty() {
                PERMISSIVE.map(str::to_owned).to_vec()
            } else {
                wanted.allow.clone()
            };
            examine_places(base, &changed, &mut answer, |texts, answer| {
                licences::examine(environment, repository, texts, &allowed, answer);
                Ok(())
            })?;
        }
        Gate::Mechanical => document.mechanical(&mut answer)?,
        Gate::TestPlan => document.test_plan(&mut answer)?,
        Gate::Lld => document.lld(&mut answer)?,
        Gate::Implementation => {
            document.implementation(base, &by_path(Rc::unwrap_or_clone(changed)), &mut answer)?;
        }
        Gate::Phantoms => examine_places(base, &changed, &mut answer, |texts, answer| {
            phantoms::examine(repository, texts, answer)
        })?,
        Gate::Scope => scope::examine(
            environment,
            workspace,
            wanted,
            &by_path(Rc::unwrap_or_clone(changed)),
            &mut answer,
        )?,
    }
    Ok(answer)
}

/// Options belong to gates: one that is given to another is a mistake and not an empty wish.
fn check_options(wanted: &GateRequest) -> Result<(), CommandError> {
    let takes_allow = matches!(wanted.gate, Gate::Scope | Gate::Licences);
    let takes_design = matches!(
        wanted.gate,
        Gate::Scope | Gate::Mechanical | Gate::TestPlan | Gate::Lld | Gate::Implementation
    );
    let gate = wanted.gate.name();
    if !wanted.allow.is_empty() && !takes_allow {
        return Err(CommandError::user(format!("gate {gate} has no option `--allow`"), "leave it out"));
    }
    if wanted.design.is_some() && !takes_design {
        return Err(CommandError::user(format!("gate {gate} has no option `--design`"), "leave it out"));
    }
    if !wanted.sections.is_empty() && wanted.gate != Gate::Mechanical {
        return Err(CommandError::user(format!("gate {gate} has no option `--section`"), "leave it out"));
    }
    if wanted.coverage.is_given() && wanted.gate != Gate::Implementation {
        return Err(CommandError::user(
            format!("gate {gate} compares no coverage"),
            "`gate implementation` does",
        ));
    }
    if wanted.gate != Gate::Lld && wanted.review.is_given() {
        let hint = "`gate lld` asks reviewers";
        return Err(CommandError::user(format!("gate {gate} asks no reviewer"), hint));
    }
    if matches!(wanted.input, GateInput::Batch(_)) && wanted.gate != Gate::Completeness {
        return Err(CommandError::user(format!("gate {gate} has no option `--batch`"), "leave it out"));
    }
    Ok(())
}

/// An answer that nothing was added to yet.
fn empty(gate: Gate, base: &ChangeBase) -> GateAnswer {
    GateAnswer {
        gate: gate.name().to_owned(),
        passed: true,
        outcome: String::new(),
        compared_with: match base {
            _ if matches!(gate, Gate::Mechanical | Gate::TestPlan | Gate::Lld) => "the work tree".to_owned(),
            ChangeBase::LastCommit => "the last commit".to_owned(),
            ChangeBase::Revision(name) => format!("where the branch left {}", plain(name)),
            ChangeBase::Staged => "the last commit (staged changes)".to_owned(),
            ChangeBase::Nothing => "an empty work tree".to_owned(),
            ChangeBase::Commits { since: Some(commit), .. } => {
                format!("the commit {}, which the remote has", commit.get(..12).unwrap_or(commit))
            }
            ChangeBase::Commits { since: None, .. } => "an empty remote".to_owned(),
        },
        files: 0,
        functions: 0,
        errors: 0,
        warnings: 0,
        allowed: 0,
        findings: Vec::new(),
        not_examined: Vec::new(),
        not_run: Vec::new(),
        reviews: Vec::new(),
        coverage: Vec::new(),
    }
}

/// Says what the findings come to.
fn conclude(answer: &mut GateAnswer, strictness: Strictness) {
    let count = |word: &str| answer.findings.iter().filter(|finding| finding.weight == word).count();
    (answer.errors, answer.warnings) =
        (count(FindingWeight::Error.name()), count(FindingWeight::Warning.name()));
    let is_unread = answer.not_examined.iter().any(|file| file.fails);
    let is_strict = strictness == Strictness::Warnings;
    let has_failed = answer.errors > 0 || is_unread || (answer.warnings > 0 && is_strict);
    answer.passed = !has_failed && answer.not_run.is_empty();
    let outcome = match (has_failed, answer.passed) {
        (true, _) => "failed",
        (false, true) => "passed",
        (false, false) => "not_run",
    };
    outcome.clone_into(&mut answer.outcome);
}

/// Takes up what was found in a text that was another before, without what it allows.
fn take(
    answer: &mut GateAnswer,
    gate: Gate,
    (path, text, before): (&str, &str, Option<&str>),
    findings: Vec<GateFinding>,
) {
    let sifted = sift(gate, text, findings);
    answer.findings.extend(sifted.findings.into_iter().map(|finding| entry(path, finding)));
    take_allowed(answer, (path, text, before), &sifted.allowed);
}

/// Takes up what a text allows. What it did not say before is told.
fn take_allowed(
    answer: &mut GateAnswer,
    (path, text, before): (&str, &str, Option<&str>),
    allowed: &[AllowedFinding],
) {
    if allowed.is_empty() {
        return;
    }
    answer.allowed += allowed.len();
    let added = before.map(|before| added_lines(before, text));
    let is_new = |line: usize| added.as_ref().is_none_or(|added| added.contains(&line));
    answer.findings.extend(new_exemptions(allowed, is_new).into_iter().map(|one| entry(path, one)));
}

/// The longest file that a gate reads, in bytes.
fn longest(gate: Gate) -> u64 {
    match gate {
        // Where no tree is made of it a text may be long (ours).
        Gate::Secrets => 16 * LONGEST,
        Gate::Completeness
        | Gate::Scope
        | Gate::Phantoms
        | Gate::Licences
        | Gate::Mechanical
        | Gate::TestPlan
        | Gate::Lld
        | Gate::Implementation => LONGEST,
    }
}

/// The text of a changed file; `None` where it is gone, and where it is not read, which is said.
fn text_of<'t>(file: &'t ChangedText, gate: Gate, answer: &mut GateAnswer) -> Option<Cow<'t, str>> {
    let cause = match &file.now {
        TextNow::Bytes(bytes) if bytes.contains(&0) => "it is not text",
        TextNow::Bytes(bytes) => {
            answer.files += 1;
            return Some(String::from_utf8_lossy(bytes));
        }
        TextNow::Gone => return None,
        TextNow::NotRead(cause) => cause,
    };
    // Pictures and the like are no texts; what is longer than a text may be, could be one.
    let fails = matches!(file.now, TextNow::NotRead(_)) && cause.contains("longer");
    let cause =
        if fails { format!("it is longer than {} MiB", longest(gate) >> 20) } else { cause.to_owned() };
    answer.not_examined.push(NotExamined { path: file.path.clone(), cause, fails });
    None
}

/// What it held before.
fn before_of(file: &ChangedText) -> Option<Cow<'_, str>> {
    file.before.as_ref().map(|bytes| String::from_utf8_lossy(bytes))
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

/// The lines of a text that it did not have before, counted from 1.
fn added_lines(before: &str, now: &str) -> HashSet<usize> {
    let difference = TextDiff::from_lines(before, now);
    let changes = difference.iter_all_changes();
    changes
        .filter(|change| change.tag() == ChangeTag::Insert)
        .filter_map(|change| Some(change.new_index()? + 1))
        .collect()
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
    fn added_lines_are_those_that_were_not_there() {
        assert_eq!(added_lines("a\nb\nc\n", "a\nx\nc\n"), HashSet::from([2]));
        assert!(added_lines("a\nb\nc\n", "a\nc\n").is_empty());
    }

    #[test]
    fn changed_lines_are_those_of_the_new_text() {
        assert_eq!(changed_lines("a\nb\nc\n", "a\nx\nc\n"), [1..=2]);
        assert_eq!(changed_lines("a\nb\n", "a\nb\nc\nd\n"), [3..=4]);
        assert_eq!(changed_lines("a\nb\nc\n", "a\nc\n"), [1..=2]);
        assert!(changed_lines("a\n", "a\n").is_empty());
    }
}
