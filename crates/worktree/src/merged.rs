//! Whether the branch of a worktree has been merged.

use std::path::Path;

use super::git::{Call, GitRepository};
use super::owner::{Owner, WorktreeKind};
use checkrein_supervise::runs::RunError;
use checkrein_supervise::runs::file::create_directory;

/// What became of the branch of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchFate {
    /// Nothing was committed on it, or there is none.
    Nothing,
    /// Everything on it is part of this branch as well.
    MergedInto(String),
    /// It has something that no other branch has.
    Open,
}

/// Looks what became of the branch of a worktree. One that was squashed or rebased when it was merged counts too: merging it again would change
/// nothing.
pub fn branch_fate(repository: &GitRepository, owner: &Owner, record: &Path) -> Result<BranchFate, RunError> {
    let WorktreeKind::Git { branch, commit, .. } = &owner.kind else { return Ok(BranchFate::Nothing) };
    let own = format!("refs/heads/{branch}");
    let Some(tip) = repository.resolve(&format!("{own}^{{commit}}"))?.filter(|tip| tip != commit) else {
        return Ok(BranchFate::Nothing);
    };
    let call = Call::default();
    let listed =
        repository.text(&["for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes"], &call)?;
    // Where it was pushed to, and the branches of other worktrees, are no place that it was merged into.
    let is_target = |name: &&str| {
        *name != own
            && !name.starts_with("refs/heads/checkrein/")
            && !name.ends_with(&format!("/{branch}"))
            && !name.ends_with("/HEAD")
    };
    for target in listed.lines().filter(is_target) {
        if holds(repository, (target, &tip), record)? {
            let short = target.trim_start_matches("refs/heads/").trim_start_matches("refs/remotes/");
            return Ok(BranchFate::MergedInto(short.to_owned()));
        }
    }
    Ok(BranchFate::Open)
}

fn holds(repository: &GitRepository, (target, tip): (&str, &str), record: &Path) -> Result<bool, RunError> {
    let objects = record.join("objects");
    create_directory(&objects)?;
    // A merge that is only tried leaves nothing in the repository.
    let call = Call { objects: Some(&objects), ..Call::default() };
    if repository.output(&["merge-base", "--is-ancestor", tip, target], &call)?.status.success() {
        return Ok(true);
    }
    let merged = repository.output(&["merge-tree", "--write-tree", target, tip], &call)?;
    let tree = repository.resolve(&format!("{target}^{{tree}}"))?;
    let first = String::from_utf8_lossy(&merged.stdout).lines().next().map(str::to_owned);
    Ok(merged.status.success() && tree.is_some() && first == tree)
}
