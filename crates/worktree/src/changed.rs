//! The texts that changed in a work tree, as they were and as they are.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use checkrein_supervise::runs::{RunError, RunErrorKind};

use crate::git::{Call, GitRepository};

/// What the work tree, or what is staged, is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeBase {
    /// The work tree, with untracked files, with the last commit.
    LastCommit,
    /// The work tree, with untracked files, with where its branch left this revision.
    Revision(String),
    /// What is staged, with the last commit.
    Staged,
    /// The work tree, with untracked files, with nothing: all of it is new.
    Nothing,
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedText {
    /// Its path from the root of the work tree.
    pub path: String,
    /// What it held; `None` for a new file.
    pub before: Option<Vec<u8>>,
    /// What it holds.
    pub now: TextNow,
}

/// What a changed file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextNow {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Nothing: it is gone.
    Gone,
    /// It was not read; the cause, in words.
    NotRead(&'static str),
}

/// All files that changed and that are `wanted`, by path from the root of the work tree.
///
/// # Errors
///
/// When `git` fails, or the revision is none of this repository.
pub fn changed_texts(
    repository: &GitRepository,
    base: &ChangeBase,
    longest: u64,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<ChangedText>, RunError> {
    let call = Call::default();
    let then = match base {
        ChangeBase::LastCommit | ChangeBase::Staged => repository.head()?,
        ChangeBase::Revision(name) => Some(where_it_left(repository, name)?),
        ChangeBase::Nothing => None,
    };
    // Before the first commit everything is new.
    let tree = match &then {
        Some(commit) => commit.clone(),
        None => repository.text(&["hash-object", "-t", "tree", "/dev/null"], &call)?,
    };
    let mut listing = vec!["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
    if *base == ChangeBase::Staged {
        listing.push("--cached");
    }
    listing.extend([tree.as_str(), "--"]);
    let mut names = names(&repository.bytes(&listing, &call)?);
    if *base != ChangeBase::Staged {
        let untracked = ["ls-files", "--others", "--exclude-standard", "-z"];
        names.extend(self::names(&repository.bytes(&untracked, &call)?));
    }
    names.retain(|name| wanted(Path::new(name)));
    names.sort();
    names.dedup();
    let changed = names.into_iter().map(|name| {
        let before = match &then {
            Some(commit) => blob(repository, commit, &name)?,
            None => None,
        };
        let now = match base {
            ChangeBase::Staged => match blob(repository, "", &name)? {
                Some(bytes) if bytes.len() as u64 > longest => TextNow::NotRead("it is longer than 1 MiB"),
                Some(bytes) => TextNow::Bytes(bytes),
                None => TextNow::Gone,
            },
            ChangeBase::LastCommit | ChangeBase::Revision(_) | ChangeBase::Nothing => {
                on_disk(repository.work_tree(), &name, longest)
            }
        };
        Ok(ChangedText { path: name.to_string_lossy().into_owned(), before, now })
    });
    changed.collect()
}

/// The paths of all files of a work tree that are tracked, or new and not ignored, in order.
///
/// # Errors
///
/// When `git` fails.
pub fn work_tree_paths(repository: &GitRepository) -> Result<Vec<String>, RunError> {
    let listing = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let mut paths: Vec<String> = names(&repository.bytes(&listing, &Call::default())?)
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The commit at which the work tree's branch left a revision; the revision itself where they have nothing in common.
fn where_it_left(repository: &GitRepository, name: &str) -> Result<String, RunError> {
    let Some(commit) = repository.resolve(&format!("{name}^{{commit}}"))? else {
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

/// What a file held in a commit, or holds in the index where the commit is empty.
fn blob(repository: &GitRepository, commit: &str, name: &OsStr) -> Result<Option<Vec<u8>>, RunError> {
    let mut object = OsString::from(format!("{commit}:"));
    object.push(name);
    let arguments = [OsStr::new("cat-file"), OsStr::new("blob"), &object];
    let output = repository.output_with(arguments.into_iter(), &Call::default())?;
    Ok(output.status.success().then_some(output.stdout))
}

fn on_disk(work_tree: &Path, name: &OsStr, longest: u64) -> TextNow {
    let path = work_tree.join(name);
    // A link is followed nowhere: what it leads to did not change here.
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => TextNow::Gone,
        Err(_) => TextNow::NotRead("it cannot be looked at"),
        Ok(facts) if facts.is_symlink() => TextNow::NotRead("it is a link"),
        Ok(facts) if facts.is_dir() => TextNow::NotRead("it is a directory"),
        Ok(facts) if !facts.is_file() => TextNow::NotRead("it is not a regular file"),
        Ok(facts) if facts.len() > longest => TextNow::NotRead("it is longer than 1 MiB"),
        Ok(_) => match fs::read(&path) {
            Ok(bytes) => TextNow::Bytes(bytes),
            Err(_) => TextNow::NotRead("it cannot be read"),
        },
    }
}

fn names(listed: &[u8]) -> Vec<OsString> {
    listed
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| OsStr::from_bytes(name).to_owned())
        .collect()
}
