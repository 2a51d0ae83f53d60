//! What a name of a revision stands for, where something is compared with it.

use std::fs;

use checkrein_supervise::runs::{RunError, RunErrorKind};

use crate::git::{Call, GitRepository};

/// The commit at which the work tree's branch left a revision; the revision itself where they have nothing in common.
pub(crate) fn where_it_left(repository: &GitRepository, name: &str) -> Result<String, RunError> {
    // A branch or a tag of one's own that is called after a branch of a remote comes first for git, and is not what is meant.
    let of_remote = format!("refs/remotes/{}", name.strip_prefix("refs/remotes/").unwrap_or(name));
    let commit = match repository.resolve(&format!("{of_remote}^{{commit}}"))? {
        Some(commit) if set_by_hand(repository, &of_remote, &commit)? => {
            return Err(RunError::new(
                RunErrorKind::Asked,
                format!("`{name}` was set by hand: no fetch and no push says that the remote has it"),
                "`git fetch` sets it to what the remote has; or name the commit itself",
            ));
        }
        Some(commit) => Some(commit),
        None => repository.resolve(&format!("{name}^{{commit}}"))?,
    };
    let Some(commit) = commit else {
        return Err(RunError::new(
            RunErrorKind::Asked,
            format!("`{name}` is not a revision of this repository"),
            "`git branch --all` lists branches; a shallow clone may lack it",
        ));
    };
    let output = repository.output(&["merge-base", &commit, "HEAD"], &Call::default())?;
    let common = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(if output.status.success() && !common.is_empty() { common } else { commit })
}

/// How git's log of a branch of a remote begins what a remote said (git-fetch(1), git-pull(1), git-clone(1), git-push(1), git-remote(1)).
const SAID_BY_REMOTE: [&str; 5] = ["fetch", "pull", "clone", "update by push", "remote"];

/// Whether a branch of a remote (`refs/remotes/...`) stands for a commit that no fetch, clone or push brought, as git's log of it tells. Where
/// git keeps no logs, nothing tells. A name that leads to another one is looked at under that one.
pub(crate) fn set_by_hand(
    repository: &GitRepository,
    reference: &str,
    commit: &str,
) -> Result<bool, RunError> {
    let leads = repository.output(&["symbolic-ref", "--quiet", reference], &Call::default())?;
    if leads.status.success() {
        let other = String::from_utf8_lossy(&leads.stdout).trim().to_owned();
        return if other == reference { Ok(true) } else { set_by_hand(repository, &other, commit) };
    }
    let log = fs::read(repository.common().join("logs").join(reference)).unwrap_or_default();
    if let Some(last) = String::from_utf8_lossy(&log).lines().last() {
        let mut words = last.split(' ');
        let said = last.split_once('\t').map_or("", |(_, said)| said);
        let is_same = words.nth(1) == Some(commit);
        return Ok(!is_same || !SAID_BY_REMOTE.iter().any(|way| said.starts_with(way)));
    }
    // A clone puts its first names into one list, and writes no log of them; whatever comes later is a file of its own with a log.
    let is_file = repository.common().join(reference).is_file();
    Ok(is_file && keeps_logs(repository)?)
}

/// Whether git writes logs of references here (git-config(1), `core.logAllRefUpdates`).
fn keeps_logs(repository: &GitRepository) -> Result<bool, RunError> {
    let said = |key: &str| {
        let output = repository.output(&["config", "--get", key], &Call::default())?;
        Ok::<_, RunError>(String::from_utf8_lossy(&output.stdout).trim().to_ascii_lowercase())
    };
    let wish = said("core.logAllRefUpdates")?;
    Ok(match wish.as_str() {
        "" => said("core.bare")? != "true",
        "false" | "no" | "off" | "0" => false,
        _ => true,
    })
}
