//! The gates over a design document: what it is like, what it plans, and what was made of it.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_gates::{
    CommandEnd, Design, DesignChange, Gate, PathChange, TestRun, TestSelection, examine_design, examine_runs,
    examine_test_plan, not_in_design, runs_tests, undone_files,
};
use checkrein_glob::{Glob, Style};
use checkrein_ledger::lines;
use checkrein_protocol::{AbsolutePath, ActionId, RecordBody};
use checkrein_session::SessionLedger;
use checkrein_worktree::{ChangeBase, ChangedText, GitRepository, TextNow, work_tree_paths};

use super::coverage::CoverageContext;
use super::runner_call::runner_call;
use super::scope::design;
use super::{GateRequest, before_of, take};
use crate::api::gates::{GateAnswer, NotRun};
use crate::terminal::plain_name;

/// What a document is judged with.
pub(super) struct DocumentContext<'a> {
    pub(super) environment: &'a HostEnvironment,
    pub(super) workspace: &'a Path,
    pub(super) repository: &'a GitRepository,
    pub(super) wanted: &'a GateRequest,
}

impl DocumentContext<'_> {
    /// The document, the name under which it is reported, and its path in the work tree where it lies there.
    pub(super) fn document(&self) -> Result<(String, String, Option<String>), CommandError> {
        let Some(name) = &self.wanted.design else {
            return Err(CommandError::user(
                format!("gate {} needs a design document", self.wanted.gate.name()),
                "name it with `--design FILE`",
            ));
        };
        let (text, own) = design(self.environment, self.workspace, name)?;
        Ok((text, own.clone().unwrap_or_else(|| name.clone()), own))
    }

    /// Sections, paths, tables, size.
    pub(super) fn mechanical(&self, answer: &mut GateAnswer) -> Result<(), CommandError> {
        let (text, name, _) = self.document()?;
        let paths = self.paths()?;
        answer.files = 1;
        let findings = examine_design(&text, &paths, &self.wanted.sections);
        take(answer, Gate::Mechanical, (&name, &text, None), findings);
        Ok(())
    }

    /// The paths of all files of the work tree.
    pub(super) fn paths(&self) -> Result<BTreeSet<String>, CommandError> {
        Ok(work_tree_paths(self.repository)?
            .into_iter()
            // One that is deleted and not committed is in the list of git.
            .filter(|path| std::fs::symlink_metadata(self.workspace.join(path)).is_ok())
            .collect())
    }

    /// Requirements and tests.
    pub(super) fn test_plan(&self, answer: &mut GateAnswer) -> Result<(), CommandError> {
        let (text, name, _) = self.document()?;
        let judged = examine_test_plan(&text);
        answer.files = 1;
        if let Some(cause) = judged.not_run {
            answer.not_run.push(NotRun { what: "the requirements".to_owned(), cause: cause.to_owned() });
        }
        take(answer, Gate::TestPlan, (&name, &text, None), judged.findings);
        Ok(())
    }

    /// What changed against the document, the tests since, and what they cover.
    pub(super) fn implementation(
        &self,
        base: &ChangeBase,
        changed: &[ChangedText],
        answer: &mut GateAnswer,
    ) -> Result<(), CommandError> {
        let (text, name, own) = self.document()?;
        let files = Design::read(&text).files;
        let means = |pattern: &str, path: &str| {
            Glob::new(pattern.trim_end_matches('/'), Style::Setting).or_below().matches(path)
        };
        if files.is_empty() {
            let cause = format!("`{}` names no files", plain_name(&name));
            answer.not_run.push(NotRun { what: "the list of files".to_owned(), cause });
        } else {
            let all: Vec<PathChange<'_>> = changed.iter().map(change).collect();
            take(answer, Gate::Implementation, (&name, &text, None), undone_files(&files, &all, means));
            for file in changed.iter().filter(|file| own.as_ref() != Some(&file.path)) {
                answer.files += 1;
                if files.iter().any(|named| means(&named.path, &file.path)) {
                    continue;
                }
                let text = match &file.now {
                    TextNow::Bytes(bytes) => String::from_utf8_lossy(bytes),
                    TextNow::Gone | TextNow::NotRead(_) => "".into(),
                };
                let finding = not_in_design(&plain_name(&file.path), &plain_name(&name));
                let before = before_of(file);
                take(answer, Gate::Implementation, (&file.path, &text, before.as_deref()), vec![finding]);
            }
        }
        self.tests(changed, &text, &name, own.as_deref(), answer)?;
        let coverage = CoverageContext {
            environment: self.environment,
            workspace: self.workspace,
            repository: self.repository,
            base,
            wish: &self.wanted.coverage,
        };
        let code: Vec<ChangedText> =
            changed.iter().filter(|file| own.as_ref() != Some(&file.path)).cloned().collect();
        coverage.examine(&code, answer)
    }

    /// Whether tests were seen to pass since the last of these files changed.
    fn tests(
        &self,
        changed: &[ChangedText],
        text: &str,
        name: &str,
        own: Option<&str>,
        answer: &mut GateAnswer,
    ) -> Result<(), CommandError> {
        let files = changed.iter().filter(|file| Some(file.path.as_str()) != own);
        let times: Vec<u64> = files.map(|file| changed_at(self.workspace, &file.path)).collect();
        let Some(last) = times.into_iter().max() else { return Ok(()) };
        let tracked = self.paths()?;
        let is_own = |program: &str| {
            let path = Path::new(program);
            let below = if path.is_absolute() { path.strip_prefix(self.workspace) } else { Ok(path) };
            // One that was there before, and is as it was, is not of who works here.
            below.is_ok_and(|below| {
                let name = below.to_string_lossy();
                let name = name.strip_prefix("./").unwrap_or(&name);
                !tracked.contains(name) || changed.iter().any(|file| file.path == name)
            })
        };
        match recorded_runs(self.environment, self.workspace, last, is_own)? {
            None => answer.not_run.push(NotRun {
                what: "the tests".to_owned(),
                cause: "no session of this work tree is on record".to_owned(),
            }),
            Some(runs) => {
                let finding = examine_runs(last, &runs).into_iter().collect();
                take(answer, Gate::Implementation, (name, text, None), finding);
            }
        }
        Ok(())
    }
}

fn change(file: &ChangedText) -> PathChange<'_> {
    let change = match (&file.before, &file.now) {
        (_, TextNow::Gone) => DesignChange::Removed,
        (None, TextNow::Bytes(_) | TextNow::NotRead(_)) => DesignChange::Added,
        (Some(_), TextNow::Bytes(_) | TextNow::NotRead(_)) => DesignChange::Changed,
    };
    PathChange { path: &file.path, change }
}

/// When the state of a file changed last, in milliseconds since 1970: unlike the time of writing nothing sets it back. Of one that is gone,
/// that of its folder.
pub(super) fn changed_at(workspace: &Path, path: &str) -> u64 {
    let mut place = Some(workspace.join(path));
    while let Some(path) = place.filter(|path| path.starts_with(workspace)) {
        if let Ok(facts) = std::fs::symlink_metadata(&path) {
            let time = facts.ctime().saturating_mul(1000).saturating_add(facts.ctime_nsec() / 1_000_000);
            return u64::try_from(time).unwrap_or_default();
        }
        place = path.parent().map(Path::to_owned);
    }
    0
}

/// The runs of tests in the records of the sessions of a work tree that ran some since it changed, else of all of them; `None` where there is no
/// session.
fn recorded_runs(
    environment: &HostEnvironment,
    workspace: &Path,
    changed_at: u64,
    is_own: impl Fn(&str) -> bool,
) -> Result<Option<Vec<TestRun>>, CommandError> {
    let here = AbsolutePath::new(&workspace.to_string_lossy());
    let mut sessions = checkrein_session::sessions(&environment.state)?;
    sessions.retain(|session| here.is_some() && session.workspace == here);
    if sessions.is_empty() {
        return Ok(None);
    }
    let (mut since, mut earlier) = (Vec::new(), Vec::new());
    for session in sessions {
        let mut runs = Vec::new();
        let ledger = SessionLedger::of_folder(&environment.state, session.folder);
        let mut open: HashMap<ActionId, (u64, Option<Vec<TestSelection>>)> = HashMap::new();
        for record in lines(&ledger.path())?.filter_map(|line| line.ok()?.record) {
            match record.body {
                RecordBody::Review(review) => {
                    let command =
                        review.input.get("command").and_then(serde_json::Value::as_str).unwrap_or_default();
                    if runs_tests(&review.programs, command) {
                        open.insert(review.action_id, (record.at.0, runner_call(command, &is_own)));
                    }
                }
                RecordBody::Outcome(outcome) => {
                    let began = open.remove(&outcome.action_id);
                    let tests = outcome.observation.and_then(|seen| seen.tests);
                    if let (Some((began, selected)), Some(tests)) = (began, tests) {
                        let end = if outcome.failed { CommandEnd::Failed } else { CommandEnd::Done };
                        let (passed, failed) = (tests.passed, tests.failed);
                        runs.push(TestRun { began, passed, failed, end, selected });
                    }
                }
                _ => {}
            }
        }
        let is_of_now = runs.iter().any(|run: &TestRun| run.began >= changed_at);
        if is_of_now { since.extend(runs) } else { earlier.extend(runs) }
    }
    Ok(Some(if since.is_empty() { earlier } else { since }))
}
