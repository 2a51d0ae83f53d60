//! What a task changed, as a text for a reviewer.

use std::fmt::Write as _;
use std::path::Path;

use checkrein_worktree::{ChangeBase, Changes, Owner, TextNow, WorktreeKind, WorktreeName, changed_texts};
use similar::TextDiff;

use super::super::worktree::{places, repository};
use super::act::StepWork;

/// The longest file that is shown, in bytes (ours); of a longer one it is said that it changed.
const LONGEST: u64 = 1 << 20;

/// The names of the files that changed; or why that cannot be told.
pub(super) fn changed_names(work: &StepWork) -> Result<Vec<String>, String> {
    let told = |error: &dyn std::fmt::Display| format!("what changed cannot be told: {error}");
    let repository = repository(&work.environment, &work.workspace)
        .map_err(|error| told(&error))?
        .ok_or_else(|| "what changed cannot be told without a repository".to_owned())?;
    let Some(name) = &work.worktree else {
        let all = changed_texts(&repository, &ChangeBase::LastCommit, LONGEST, |_: &Path| true);
        return Ok(all.map_err(|error| told(&error))?.into_iter().map(|file| file.path).collect());
    };
    let name: WorktreeName = name.parse().map_err(|error| told(&error))?;
    let places = places(&work.environment, &work.workspace).map_err(|error| told(&error))?;
    let record = places.record(&name);
    let owner = Owner::load(&record).map_err(|error| told(&error))?;
    let owner = owner.ok_or_else(|| "the worktree of the task is gone".to_owned())?;
    let changes = Changes::of(&repository, &owner, &record).map_err(|error| told(&error))?;
    Ok(changes.files.iter().map(|file| file.path.to_string_lossy().into_owned()).collect())
}

/// Everything that changed, as a diff; or why that cannot be told.
pub(super) fn changes(work: &StepWork) -> Result<Vec<u8>, String> {
    let told = |error: &dyn std::fmt::Display| format!("what changed cannot be told: {error}");
    let environment = &work.environment;
    let repository = repository(environment, &work.workspace)
        .map_err(|error| told(&error))?
        .ok_or_else(|| "what changed cannot be told without a repository".to_owned())?;
    if let Some(name) = &work.worktree {
        let name: WorktreeName = name.parse().map_err(|error| told(&error))?;
        let places = places(environment, &work.workspace).map_err(|error| told(&error))?;
        let record = places.record(&name);
        let owner = Owner::load(&record).map_err(|error| told(&error))?;
        let owner = owner.ok_or_else(|| "the worktree of the task is gone".to_owned())?;
        owner.prove().map_err(|error| told(&error))?;
        if let WorktreeKind::Copy { .. } = owner.kind {
            return Err("what changed cannot be told in a copy without a repository".to_owned());
        }
        let changes = Changes::of(&repository, &owner, &record).map_err(|error| told(&error))?;
        if let Some(inner) = changes.inner.first() {
            return Err(format!("`{}` is another repository, which nobody looks into", inner.display()));
        }
        return changes.whole_patch(&repository).map_err(|error| told(&error));
    }
    let all = changed_texts(&repository, &ChangeBase::LastCommit, LONGEST, |_: &Path| true)
        .map_err(|error| told(&error))?;
    let mut text = String::new();
    for file in all {
        let before = file.before.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let now = match &file.now {
            TextNow::Bytes(bytes) => String::from_utf8_lossy(bytes),
            TextNow::Gone => std::borrow::Cow::Borrowed(""),
            TextNow::NotRead(cause) => return Err(format!("`{}` cannot be shown: {cause}", file.path)),
        };
        let diff = TextDiff::from_lines(before.as_ref(), now.as_ref());
        let (old, new) = (format!("a/{}", file.path), format!("b/{}", file.path));
        // Writing to a text cannot fail.
        let _ = write!(text, "{}", diff.unified_diff().header(&old, &new));
    }
    Ok(text.into_bytes())
}
