//! What a pipeline needs before its first step: inputs, a worktree, settings that may hold, and nothing left of one that was killed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::mask::{MaskKey, mask_text};
use checkrein_pipelines::{PipelineFile, PipelineState, SHIPPED_TASK, SHIPPED_TASK_NAME};
use checkrein_policy::Digest;
use checkrein_supervise::runs::{Insistence, Lock, RunId, StepSettings};
use checkrein_worktree::{Owner, Uncommitted, WorktreeKind, WorktreeName, WorktreePlan, guard_files, make};

use super::super::worktree::Site;
use super::plan::given_inputs;
use super::{LONGEST_FILE, PipelineText};
use crate::terminal::plain;

/// How often it is looked whether what is left is gone.
const BEAT: Duration = Duration::from_millis(50);
/// How long is waited for what is left of a pipeline that was killed to be gone (ours).
const STILL_THERE: Duration = Duration::from_secs(15);

/// What a pipeline is given. Secrets are masked here, so that they reach neither records nor models.
pub(super) fn inputs(
    pipeline: &PipelineFile,
    given: &[(String, String)],
    key: &MaskKey,
) -> Result<BTreeMap<String, String>, CommandError> {
    let all = given_inputs(pipeline, given)?;
    Ok(all.into_iter().map(|(name, value)| (name, mask_text(&value, key).into_owned())).collect())
}

/// What is told where the file of a run is another by now: the run goes on with the one that it began with.
pub(super) fn otherwise_by_now(state: &PipelineState) -> Option<String> {
    let now = match state.file.as_str() {
        SHIPPED_TASK_NAME => Some(SHIPPED_TASK.to_owned()),
        file => checkrein_files::read_text(file, LONGEST_FILE).ok(),
    };
    let file = plain(&state.file);
    match now {
        Some(text) if Digest::of(&text).to_string() == state.digest => None,
        Some(_) => Some(format!(
            "`{file}` has changed: this run goes on with the file as it was when it began; `--anew` begins with the changed one"
        )),
        None => {
            Some(format!("`{file}` cannot be read: this run goes on with the file as it was when it began"))
        }
    }
}

/// Whether a task can be called so: its worktree is.
pub(super) fn check_task(task: &str) -> Result<(), CommandError> {
    task.parse::<WorktreeName>().map(drop).map_err(CommandError::from)
}

/// The worktree of a task, made where it is not there; where it is, and the commit that it began with.
pub(super) fn worktree_of(
    environment: &HostEnvironment,
    id: &RunId,
    name: &str,
) -> Result<(PathBuf, Option<String>), CommandError> {
    let name: WorktreeName = name.parse()?;
    let site = Site::open(environment)?;
    let record = site.places.record(&name);
    let until = Instant::now() + STILL_THERE;
    let lock = loop {
        match Lock::take(&Lock::path(&record), &format!("the worktree `{name}`"), Insistence::Respect) {
            Ok(taken) => break taken.lock,
            // What is left of an agent that was killed ends by itself.
            Err(error) if Instant::now() > until => return Err(error.into()),
            Err(_) => thread::sleep(BEAT),
        }
    };
    let plan = WorktreePlan {
        name: &name,
        run: id,
        workspace: &site.workspace,
        now: environment.now().0,
        carry: &[],
        changes: Uncommitted::StaysBehind,
        always: &guard_files().collect::<Vec<_>>(),
    };
    let made =
        lock.lend(|| site.with_origin(environment, &name, |origin| make(&site.places, &plan, origin)))??;
    let Owner { place, kind, .. } = made.owner;
    let commit = match kind {
        WorktreeKind::Git { commit, .. } => Some(commit),
        WorktreeKind::Copy { .. } => None,
    };
    Ok((place, commit))
}

/// Waits until nothing lives any more that steps of a pipeline that was killed had started.
pub(super) fn wait_until_gone(hold: &Path) -> Result<(), CommandError> {
    let Ok(file) = std::fs::File::open(hold) else { return Ok(()) };
    let until = Instant::now() + STILL_THERE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(_) if Instant::now() > until => {
                return Err(CommandError::user(
                    "commands of this pipeline are still running",
                    "wait for them, or end them",
                ));
            }
            Err(_) => thread::sleep(BEAT),
        }
    }
}

/// What would be set for the agents of a pipeline, where it cannot be.
pub(super) fn settings_hold(
    environment: &HostEnvironment,
    pipeline: &PipelineFile,
    text: &PipelineText,
) -> Result<(), CommandError> {
    let workspace = checkrein_world::find_workspace(&environment.cwd);
    for step in &pipeline.steps {
        let texts: Vec<String> =
            [&pipeline.safety, &step.safety].into_iter().flatten().map(|text| text.0.clone()).collect();
        if texts.is_empty() {
            continue;
        }
        let settings = StepSettings { file: text.name.clone(), texts, only_tighten: !text.is_own };
        let environment = HostEnvironment { step_settings: Some(Arc::new(settings)), ..environment.clone() };
        let loaded = config_files::load(&environment, &workspace)?;
        if let Some(looser) = loaded.pending.iter().find(|one| one.file == text.name) {
            return Err(CommandError::user(
                format!(
                    "step `{}`: `{}` would be looser ({} instead of {}; line {}), and the file of a project only tightens",
                    step.name, looser.key, looser.to, looser.from, looser.line
                ),
                "leave it out, or keep the pipeline in `~/.config/checkrein/pipelines/`",
            ));
        }
    }
    Ok(())
}
