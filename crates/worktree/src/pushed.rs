//! What a push brings: the names that git hands to its hook, and which commits the remote has already.

use std::path::PathBuf;

use checkrein_supervise::runs::RunError;

use crate::git::{Call, GitRepository};
use crate::revision::set_by_hand;

/// A line of what git tells the hook `pre-push` (githooks(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedRef {
    /// What is pushed; `None` where the name at the remote is deleted.
    pub object: Option<String>,
    /// The name at the remote.
    pub remote_name: String,
    /// What it stands for there; `None` where it is new.
    pub remote_object: Option<String>,
}

/// Reads `LOCAL-NAME LOCAL-OBJECT REMOTE-NAME REMOTE-OBJECT`. An object of zeros is none. The first name may hold blanks, such as `HEAD@{1 day
/// ago}`; `None` for anything else.
pub fn read_pushed(line: &str) -> Option<PushedRef> {
    let mut fields = line.rsplitn(4, ' ');
    let (remote_object, remote_name, object) = (fields.next()?, fields.next()?, fields.next()?);
    fields.next().filter(|name| !name.is_empty())?;
    let read = |text: &str| {
        let is_object = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_object.then(|| text.bytes().any(|byte| byte != b'0').then(|| text.to_owned()))
    };
    Some(PushedRef {
        object: read(object)?,
        remote_name: remote_name.to_owned(),
        remote_object: read(remote_object)?,
    })
}

/// How many of the newest commits that the remote has are compared for the nearest one (ours): there are several only behind merges.
const CANDIDATES: usize = 20;

/// The newest commit below another that a remote has already; `None` where it has none of them. What the remote says of the name itself counts
/// first, else the names under which git knows its branches. A remote without a name of its own is any of them: what one of them has is out.
///
/// # Errors
///
/// When `git` fails.
pub fn newest_at_remote(
    repository: &GitRepository,
    commit: &str,
    remote: &str,
    remote_object: Option<&str>,
) -> Result<Option<String>, RunError> {
    if let Some(old) = remote_object
        && let Some(old) = repository.commit_of(old)?
    {
        let output = repository.output(&["merge-base", &old, commit], &Call::default())?;
        let common = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if output.status.success() && !common.is_empty() {
            return Ok(Some(common));
        }
    }
    let is_name = !remote.is_empty()
        && !remote.contains(['/', ':', '*', '?', '['])
        && repository
            .output(&["config", "--get", &format!("remote.{remote}.url")], &Call::default())?
            .status
            .success();
    let below = if is_name { format!("refs/remotes/{remote}/") } else { "refs/remotes/".to_owned() };
    let names =
        repository.text(&["for-each-ref", "--format=%(refname) %(objectname)", &below], &Call::default())?;
    let mut input = format!("{commit}\n");
    for (name, object) in names.lines().filter_map(|line| line.split_once(' ')) {
        // What was set by hand says nothing about the remote: what it would keep back is looked at.
        if !set_by_hand(repository, name, object)? {
            input.extend(["^", object, "\n"]);
        }
    }
    let call = Call { input: input.as_bytes(), ..Call::default() };
    let listed = repository.text(&["rev-list", "--boundary", "--stdin"], &call)?;
    if listed.trim().is_empty() {
        return Ok(Some(commit.to_owned()));
    }
    let mut nearest: Option<(u64, String)> = None;
    for candidate in listed.lines().filter_map(|line| line.strip_prefix('-')).take(CANDIDATES) {
        let range = format!("{candidate}..{commit}");
        let count = repository.text(&["rev-list", "--count", &range], &Call::default())?;
        let count = count.trim().parse().unwrap_or(u64::MAX);
        if nearest.as_ref().is_none_or(|(least, _)| count < *least) {
            nearest = Some((count, candidate.to_owned()));
        }
    }
    Ok(nearest.map(|(_, candidate)| candidate))
}

/// The folder in which git looks for hooks, and the setting that names it where one does.
///
/// # Errors
///
/// When `git` fails.
pub fn hooks_folder(repository: &GitRepository) -> Result<(PathBuf, Option<&'static str>), RunError> {
    const SETTING: &str = "core.hooksPath";
    let listing = ["config", "--type=path", "--show-scope", "--get-all", SETTING];
    let output = repository.output(&listing, &Call::default())?;
    let text = String::from_utf8_lossy(&output.stdout);
    // Each call of ours sets it too, on its command line.
    let named = text.lines().filter_map(|line| line.split_once('\t')).rfind(|(scope, _)| *scope != "command");
    Ok(match named {
        Some((_, folder)) => (repository.work_tree().join(folder), Some(SETTING)),
        None => (repository.common().join("hooks"), None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_git_are_read() {
        let (one, none) = ("1".repeat(40), "0".repeat(40));
        let read = |line: String| read_pushed(&line);
        assert_eq!(
            read(format!("refs/heads/a {one} refs/heads/b {none}")),
            Some(PushedRef {
                object: Some(one.clone()),
                remote_name: "refs/heads/b".to_owned(),
                remote_object: None
            })
        );
        let deleted = read(format!("(delete) {none} refs/heads/b {one}")).unwrap();
        assert_eq!((deleted.object, deleted.remote_object), (None, Some(one.clone())));
        assert!(read(format!("HEAD@{{1 day ago}} {one} refs/heads/b {one}")).is_some());
        let long = "a".repeat(64);
        assert!(read(format!("x {long} y {long}")).is_some());
        for wrong in [String::new(), "a b c".to_owned(), format!("a {one} b"), format!("a {one}x b {one}")] {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
    }
}
