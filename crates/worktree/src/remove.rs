//! Taking a worktree away. Whoever calls has saved what is in it.

use std::fs;
use std::path::{Path, PathBuf};

use super::git::{Call, GitRepository};
use super::owner::{Owner, WorktreeKind, identity};
use checkrein_supervise::runs::RunError;

/// What became of the branch of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Branch {
    /// There was none.
    None,
    /// It is gone; its commits, when it had some of its own, are in a bundle.
    Deleted,
    /// It stays, for this reason.
    Kept(String),
}

/// What was taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// What became of its branch.
    pub branch: Branch,
    /// What could not be removed and where it is now.
    pub left: Option<String>,
}

/// Keeps the commits of a run in a file, so that taking its branch away loses none. Returns whether there were any.
pub fn keep_commits(repository: &GitRepository, owner: &Owner, file: &Path) -> Result<bool, RunError> {
    let WorktreeKind::Git { administration, commit, branch, .. } = &owner.kind else { return Ok(false) };
    let name = administration.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut references = Vec::new();
    for reference in [format!("refs/heads/{branch}"), format!("worktrees/{name}/HEAD")] {
        let tip = repository.resolve(&format!("{reference}^{{commit}}"))?;
        if tip.is_some_and(|tip| tip != *commit) {
            references.push(reference);
        }
    }
    let (Some(path), false) = (file.to_str(), references.is_empty()) else { return Ok(false) };
    let without = format!("^{commit}");
    let mut arguments = vec!["bundle", "create", "--quiet", path, &without];
    arguments.extend(references.iter().map(String::as_str));
    let output = repository.output(&arguments, &Call::default())?;
    if output.status.success() {
        return Ok(true);
    }
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    // Somebody reset the branch to an earlier commit: there is nothing of its own.
    if words.contains("empty bundle") {
        return Ok(false);
    }
    Err(RunError::not_ours(format!("the commits of the run cannot be kept: {}", words.trim().escape_debug())))
}

/// Takes away a worktree that is proved to be ours, its branch where that is ours as well, and at last its record. A worktree that is
/// not there any more leaves the rest to be taken away. Its commits are kept before, by [`keep_commits`].
pub fn remove(repository: Option<&GitRepository>, owner: &Owner, record: &Path) -> Result<Removal, RunError> {
    if owner.is_there() {
        owner.prove()?;
    }
    // What somebody left who was killed right here.
    let aside = aside(owner);
    if is_folder_of(owner, &aside) {
        fs::remove_dir_all(&aside).map_err(RunError::file("remove", &aside))?;
    }
    let left = if owner.is_there() { put_aside_and_remove(owner)? } else { None };
    let branch = match (repository, &owner.kind) {
        (Some(repository), WorktreeKind::Git { branch, commit, .. }) => {
            // Whoever was killed right after git had forgotten it left the rest to us.
            if let Some(place) = owner.place.to_str().filter(|place| knows(repository, place).unwrap_or(true))
            {
                // The folder is gone, so this forgets it; whoever locked it wants it to stay, and then so does the branch.
                repository.bytes(&["worktree", "remove", "--", place], &Call::default())?;
            }
            delete_branch(repository, branch, commit)?
        }
        _ => Branch::None,
    };
    fs::remove_dir_all(record).map_err(RunError::file("remove", record))?;
    Ok(Removal { branch, left })
}

/// Whether git knows a worktree at a place.
fn knows(repository: &GitRepository, place: &str) -> Result<bool, RunError> {
    let listed = repository.bytes(&["worktree", "list", "--porcelain", "-z"], &Call::default())?;
    let line = format!("worktree {place}");
    Ok(listed.split(|byte| *byte == 0).any(|field| field == line.as_bytes()))
}

/// Moves the folder away in one step, looks whether it is the right one, and removes it there.
fn put_aside_and_remove(owner: &Owner) -> Result<Option<String>, RunError> {
    let aside = aside(owner);
    fs::rename(&owner.place, &aside).map_err(RunError::file("move", &owner.place))?;
    if !is_folder_of(owner, &aside) {
        drop(fs::rename(&aside, &owner.place));
        return Err(RunError::not_ours(format!("`{}` was swapped a moment ago", owner.place.display())));
    }
    // Links in there are removed, never followed.
    Ok(fs::remove_dir_all(&aside).err().map(|error| format!("`{}`: {error}", aside.display())))
}

/// Where a worktree stands for the moment in which it is removed.
fn aside(owner: &Owner) -> PathBuf {
    owner.place.with_file_name(format!(".{}-{}", owner.name, owner.run))
}

fn is_folder_of(owner: &Owner, place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok_and(|facts| facts.is_dir() && identity(&facts) == owner.folder)
}

/// Deletes the branch when it is ours: it still grows from where it began, nobody else uses it, and it follows no other.
fn delete_branch(repository: &GitRepository, branch: &str, commit: &str) -> Result<Branch, RunError> {
    let reference = format!("refs/heads/{branch}");
    let call = Call::default();
    let Some(tip) = repository.resolve(&reference)? else { return Ok(Branch::None) };
    let grows = repository.output(&["merge-base", "--is-ancestor", commit, &tip], &call)?;
    if !grows.status.success() {
        return Ok(Branch::Kept(format!("`{branch}` does not grow from where the run began")));
    }
    let used = repository.bytes(&["worktree", "list", "--porcelain", "-z"], &call)?;
    let line = format!("branch {reference}");
    if used.split(|byte| *byte == 0).any(|field| field == line.as_bytes()) {
        return Ok(Branch::Kept(format!("`{branch}` is checked out elsewhere")));
    }
    let key = format!("branch.{branch}.remote");
    if repository.output(&["config", "--get", &key], &call)?.status.success() {
        return Ok(Branch::Kept(format!("`{branch}` follows a branch of a remote repository")));
    }
    // Only what was looked at: should it have moved meanwhile, this fails.
    repository.bytes(&["update-ref", "-d", &reference, &tip], &call)?;
    Ok(Branch::Deleted)
}
