//! Coverage that is not lower: reports that the project's tests wrote, against what the same report said before the change.

use std::fs;
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_files::Forced;
use checkrein_gates::{
    CoverageFigure, CoverageTolerance, CoverageUnit, USUAL_REPORTS, are_comparable, coverage_commands,
    examine_coverage, read_coverage,
};
use checkrein_supervise::runs::file::{create_directory, hexadecimal};
use checkrein_worktree::{
    ChangeBase, ChangedText, ContentIds, GitRepository, contents_of_base, contents_of_work_tree,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::documents::changed_at;
use super::entry;
use crate::api::gates::{CoverageAnswer, GateAnswer, NotExamined, NotRun};
use crate::terminal::plain_name;

/// The longest report that is read, in bytes (ours).
const LONGEST: u64 = 64 * 1024 * 1024;
/// The longest manifest that is read, in bytes (ours).
const LONGEST_MANIFEST: u64 = 1024 * 1024;
/// The folder of kept figures in the state directory.
const FOLDER: &str = "coverage";
/// How many figures are kept, of all projects (ours).
const KEPT: usize = 2000;

/// Which reports are compared, and with what.
#[derive(Debug)]
pub struct CoverageWish {
    /// The reports.
    pub reports: CoverageReports,
    /// The reports of before the change, in the same order; the figures that were kept where there are none.
    pub before: Vec<String>,
    /// By how much coverage may fall.
    pub tolerance: CoverageTolerance,
}

impl CoverageWish {
    /// Whether anything was said about it.
    pub(super) fn is_given(&self) -> bool {
        self.reports != CoverageReports::Usual
            || !self.before.is_empty()
            || self.tolerance != CoverageTolerance::USUAL
    }
}

/// The reports of coverage.
#[derive(Debug, PartialEq, Eq)]
pub enum CoverageReports {
    /// Those at usual places.
    Usual,
    /// These.
    Named(Vec<String>),
    /// None: coverage is not compared.
    NotWanted,
}

/// A figure as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptFigure {
    unit: String,
    covered: u64,
    all: u64,
}

/// What is compared.
pub(super) struct CoverageContext<'a> {
    pub(super) environment: &'a HostEnvironment,
    pub(super) workspace: &'a Path,
    pub(super) repository: &'a GitRepository,
    pub(super) base: &'a ChangeBase,
    pub(super) wish: &'a CoverageWish,
}

impl CoverageContext<'_> {
    /// Compares each report. What is missing on either side is told as not looked at.
    pub(super) fn examine(
        &self,
        changed: &[ChangedText],
        answer: &mut GateAnswer,
    ) -> Result<(), CommandError> {
        let reports: Vec<(String, PathBuf)> = match &self.wish.reports {
            CoverageReports::NotWanted => return Ok(()),
            CoverageReports::Named(names) => {
                let place = |name: &String| PathBuf::from(self.environment.cwd.join(name).as_str());
                names.iter().map(|name| (name.clone(), place(name))).collect()
            }
            CoverageReports::Usual => self.usual(changed, answer),
        };
        if reports.is_empty() {
            answer.not_run.push(NotRun { what: "the coverage".to_owned(), cause: self.how_to_get_one() });
        }
        if !self.wish.before.is_empty() && self.wish.before.len() != reports.len() {
            return Err(CommandError::user(
                format!("{} and {} do not pair", self.wish.before.len(), reports.len()),
                "name one `--coverage-base` for each report, in the same order",
            ));
        }
        for (place, (name, path)) in reports.iter().enumerate() {
            if let Err(cause) = self.compare(place, (name, path), changed, answer)? {
                let what = format!("the coverage of `{}`", plain_name(name));
                answer.not_run.push(NotRun { what, cause });
            }
        }
        Ok(())
    }

    /// The reports at usual places that were written since the last change; the newest one where none was, or where one report of before is
    /// named. Those that are left out are told.
    fn usual(&self, changed: &[ChangedText], answer: &mut GateAnswer) -> Vec<(String, PathBuf)> {
        let mut there: Vec<(u64, &str)> = USUAL_REPORTS
            .into_iter()
            .filter(|name| self.workspace.join(name).is_file())
            .map(|name| (changed_at(self.workspace, name), name))
            .collect();
        there.sort_unstable();
        let files = changed.iter().map(|file| file.path.as_str()).filter(|path| !is_usual(path));
        let last = files.map(|path| changed_at(self.workspace, path)).max().unwrap_or_default();
        let fresh = if self.wish.before.len() == 1 {
            usize::from(!there.is_empty())
        } else {
            there.iter().filter(|(written, _)| *written >= last).count().max(usize::from(!there.is_empty()))
        };
        let taken = there.split_off(there.len() - fresh);
        answer.not_examined.extend(there.into_iter().map(|(_, name)| NotExamined {
            path: name.to_owned(),
            cause: "a report of coverage that is older than others".to_owned(),
            fails: false,
        }));
        taken.into_iter().map(|(_, name)| (name.to_owned(), self.workspace.join(name))).collect()
    }

    /// What makes a report in this project, in words.
    fn how_to_get_one(&self) -> String {
        let package = checkrein_files::read_text(self.workspace.join("package.json"), LONGEST_MANIFEST).ok();
        let has = |name: &str| self.workspace.join(name).is_file();
        let commands = coverage_commands(has, package.as_deref());
        let named: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
        let make =
            if named.is_empty() { String::new() } else { format!("make one with {}, ", named.join(" and ")) };
        format!(
            "no report of it is at a usual place: {make}name it with `--coverage FILE`, or say `--coverage none`"
        )
    }

    /// Compares one report; what is missing, in words.
    fn compare(
        &self,
        place: usize,
        (name, path): (&str, &Path),
        changed: &[ChangedText],
        answer: &mut GateAnswer,
    ) -> Result<Result<(), String>, CommandError> {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let own = real.strip_prefix(self.workspace).ok().map(|own| own.to_string_lossy().into_owned());
        let now = match figure_of(path) {
            Ok(figure) => figure,
            Err(cause) => return Ok(Err(cause)),
        };
        let written = match path.parent().zip(path.file_name()) {
            Some((folder, file)) => changed_at(folder, &file.to_string_lossy()),
            None => 0,
        };
        let is_report = |path: &str| own.as_deref() == Some(path) || is_usual(path);
        let files = changed.iter().map(|file| file.path.as_str()).filter(|path| !is_report(path));
        if files.map(|path| changed_at(self.workspace, path)).max().is_some_and(|last| written < last) {
            return Ok(Err("it was written before the last change: run the tests again".to_owned()));
        }
        let key = |contents: &ContentIds| kept_name(own.as_deref().unwrap_or(name), contents, is_report);
        let before = if let Some(report) = self.wish.before.get(place) {
            match figure_of(Path::new(self.environment.cwd.join(report).as_str())) {
                Ok(figure) => Some(figure),
                Err(cause) => return Ok(Err(format!("`{}`: {cause}", plain_name(report)))),
            }
        } else {
            let contents = contents_of_base(self.repository, self.base)?;
            contents.and_then(|contents| self.kept(&key(&contents)))
        };
        let contents = contents_of_work_tree(self.repository)?;
        let all = contents.keys().filter(|path| !is_report(path));
        if all.map(|path| changed_at(self.workspace, path)).max().is_some_and(|last| written >= last) {
            self.keep(&key(&contents), now)?;
        }
        let Some(before) = before else {
            return Ok(Err(format!(
                "it says {now}, and nothing is known of {}: have this gate look there once after the tests, or name a report with `--coverage-base`",
                answer.compared_with
            )));
        };
        if !are_comparable(now, before) {
            return Ok(Err(format!(
                "it says {now}, and the one before {before}: they count different things"
            )));
        }
        let shown = own.unwrap_or_else(|| name.to_owned());
        answer.coverage.push(CoverageAnswer {
            report: shown.clone(),
            now: now.to_string(),
            before: before.to_string(),
        });
        // Nothing that stands in a report allows anything.
        let found = examine_coverage(now, before, self.wish.tolerance);
        answer.findings.extend(found.map(|finding| entry(&shown, finding)));
        Ok(Ok(()))
    }

    fn folder(&self) -> PathBuf {
        self.environment.state.root().join(FOLDER)
    }

    /// The figure that a gate saw at the same content.
    fn kept(&self, name: &str) -> Option<CoverageFigure> {
        let bytes = checkrein_files::read(self.folder().join(name), checkrein_files::SMALL).ok()?;
        let bytes = self.environment.state.vault().open(bytes, name.as_bytes()).ok()?;
        let kept: KeptFigure = serde_json::from_slice(&bytes).ok()?;
        CoverageFigure::new(CoverageUnit::named(&kept.unit)?, kept.covered, kept.all)
    }

    /// Keeps a figure beside the content that it was seen at. The best one stays: a run of fewer tests says less.
    fn keep(&self, name: &str, figure: CoverageFigure) -> Result<(), CommandError> {
        let is_better = self.kept(name).is_none_or(|kept| {
            kept.unit != figure.unit
                || u128::from(figure.covered) * u128::from(kept.all)
                    > u128::from(kept.covered) * u128::from(figure.all)
        });
        if !is_better {
            return Ok(());
        }
        let folder = self.folder();
        create_directory(&folder)?;
        let kept =
            KeptFigure { unit: figure.unit.name().to_owned(), covered: figure.covered, all: figure.all };
        let path = folder.join(name);
        let failed = |error: &std::io::Error| CommandError::file("write", path.display(), error);
        let bytes = serde_json::to_vec(&kept).map_err(|error| failed(&std::io::Error::other(error)))?;
        let sealed = self.environment.state.vault().seal(&bytes, name.as_bytes());
        let sealed = sealed.map_err(|error| failed(&std::io::Error::other(error)))?;
        checkrein_files::replace(&path, &sealed, 0o600, Forced::Nothing).map_err(|error| failed(&error))?;
        forget_oldest(&folder, KEPT);
        Ok(())
    }
}

/// Whether a path is one at which tools leave what they measured.
fn is_usual(path: &str) -> bool {
    USUAL_REPORTS.contains(&path) || path == ".coverage"
}

/// The figure of a report; the cause in words where there is none.
fn figure_of(path: &Path) -> Result<CoverageFigure, String> {
    let text = checkrein_files::read_text(path, LONGEST).map_err(|error| error.to_string())?;
    read_coverage(&text).map_err(str::to_owned)
}

/// The name of the file that keeps a figure: it stands for the report and for all that lies in the work tree but reports.
fn kept_name(report: &str, contents: &ContentIds, is_report: impl Fn(&str) -> bool) -> String {
    let mut hasher = Sha256::new();
    hasher.update(report.as_bytes());
    for (path, content) in contents.iter().filter(|(path, _)| !is_report(path)) {
        hasher.update([0]);
        hasher.update(path.as_bytes());
        hasher.update([0]);
        hasher.update(content.as_bytes());
    }
    hexadecimal(&hasher.finalize())
}

/// Takes the oldest away beyond what is kept. One that cannot be taken away stays until the next time.
pub(super) fn forget_oldest(folder: &Path, kept: usize) {
    let Ok(listed) = fs::read_dir(folder) else { return };
    let mut all: Vec<_> = listed
        .filter_map(|one| {
            let one = one.ok()?;
            Some((one.metadata().ok()?.modified().ok()?, one.path()))
        })
        .collect();
    all.sort();
    let surplus = all.len().saturating_sub(kept);
    for (_, path) in all.iter().take(surplus) {
        drop(fs::remove_file(path));
    }
}
