//! The texts that changed in a work tree, as they were and as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use checkrein_supervise::runs::RunError;

use crate::blobs::{IndexEntry, blobs, index_entries};
use crate::git::{Call, GitRepository};
use crate::really_there::{TreeEntry, entries_of, passed_over};
use crate::revision::where_it_left;

/// What the work tree, or what is staged, is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeBase {
    /// The work tree, with untracked files, with the last commit.
    LastCommit,
    /// The work tree, with untracked files, with where its branch left this revision.
    Revision(String),
    /// What is staged, with the last commit.
    Staged,
    /// The work tree, with untracked files, and all that is committed or staged, with nothing: all of it is new.
    Nothing,
    /// A commit, whatever lies on disk.
    Commits {
        /// The commit that it is compared with; `None` where all of it is new.
        since: Option<String>,
        /// The commit.
        until: String,
    },
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
    /// Where it holds that.
    pub place: TextPlace,
}

/// Where a changed text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPlace {
    /// In the work tree.
    Disk,
    /// Staged.
    Index,
    /// In the last commit.
    Commit,
}

impl ChangedText {
    fn named(name: &OsStr, place: TextPlace) -> Self {
        let path = name.to_string_lossy().into_owned();
        Self { path, before: None, now: TextNow::Gone, place }
    }
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

/// All files that changed and that are `wanted`, by path from the root of the work tree. What is committed or staged and differs from what
/// lies on disk is a text of its own: that is what would be pushed.
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
    let then = compared_with(repository, base)?;
    if let ChangeBase::Commits { until, .. } = base {
        let names = differing(repository, &[&tree_of(repository, then.as_ref())?, until])?;
        let names: Vec<_> = names.into_iter().filter(|name| wanted(Path::new(name))).collect();
        return kept_texts(repository, (then.as_deref(), until), TextPlace::Commit, &names, longest);
    }
    if *base == ChangeBase::Staged {
        let names = differing(repository, &["--cached", &tree_of(repository, then.as_ref())?])?;
        let names: Vec<_> = names.into_iter().filter(|name| wanted(Path::new(name))).collect();
        return kept_texts(repository, (then.as_deref(), ""), TextPlace::Index, &names, longest);
    }
    let index = index_entries(repository)?;
    let mut names = names_on_disk(repository, then.as_ref(), &index, &wanted)?;
    names.retain(|name| wanted(Path::new(name)));
    let before = texts_then(repository, then.as_deref(), names.iter())?;
    let mut changed: Vec<ChangedText> = names
        .iter()
        .zip(before)
        .map(|(name, before)| {
            let now = on_disk(repository.work_tree(), name, longest);
            ChangedText { before, now, ..ChangedText::named(name, TextPlace::Disk) }
        })
        .collect();
    changed.extend(elsewhere(repository, then.as_ref(), &index, longest, wanted)?);
    changed.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(changed)
}

/// Texts that git keeps, in a commit or in the index, beside what they were.
fn kept_texts(
    repository: &GitRepository,
    (then, until): (Option<&str>, &str),
    place: TextPlace,
    names: &[OsString],
    longest: u64,
) -> Result<Vec<ChangedText>, RunError> {
    let before = texts_then(repository, then, names.iter())?;
    let now = blobs(repository, until, names.iter().map(OsString::as_os_str))?;
    let texts = names.iter().zip(before).zip(now).map(|((name, before), now)| ChangedText {
        before,
        now: in_git(now, longest),
        ..ChangedText::named(name, place)
    });
    Ok(texts.collect())
}

/// What files held in what they are compared with, in their order.
fn texts_then<'n>(
    repository: &GitRepository,
    then: Option<&str>,
    names: impl ExactSizeIterator<Item = &'n OsString>,
) -> Result<Vec<Option<Vec<u8>>>, RunError> {
    match then {
        Some(commit) => blobs(repository, commit, names.map(OsString::as_os_str)),
        None => Ok(vec![None; names.len()]),
    }
}

/// The commit that something is compared with; `None` where all is new.
fn compared_with(repository: &GitRepository, base: &ChangeBase) -> Result<Option<String>, RunError> {
    match base {
        ChangeBase::LastCommit | ChangeBase::Staged => repository.head(),
        ChangeBase::Revision(name) => where_it_left(repository, name).map(Some),
        ChangeBase::Nothing => Ok(None),
        ChangeBase::Commits { since, .. } => Ok(since.clone()),
    }
}

/// A tree to compare with: before the first commit the empty one.
fn tree_of(repository: &GitRepository, then: Option<&String>) -> Result<String, RunError> {
    match then {
        Some(commit) => Ok(commit.clone()),
        None => repository.text(&["hash-object", "-t", "tree", "/dev/null"], &Call::default()),
    }
}

fn differing(repository: &GitRepository, what: &[&str]) -> Result<BTreeSet<OsString>, RunError> {
    let mut listing = vec!["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
    listing.extend(what);
    listing.push("--");
    Ok(names(&repository.bytes(&listing, &Call::default())?).into_iter().collect())
}

/// The names of files whose text on disk differs from that of a commit, or is new. Git is not asked what differs on disk: it would believe its
/// index where that says so, and read every file again where it does not.
fn names_on_disk(
    repository: &GitRepository,
    then: Option<&String>,
    index: &[IndexEntry],
    wanted: impl Fn(&Path) -> bool,
) -> Result<BTreeSet<OsString>, RunError> {
    let untracked = ["ls-files", "--others", "--exclude-standard", "-z"];
    let mut all: BTreeSet<OsString> =
        names(&repository.bytes(&untracked, &Call::default())?).into_iter().collect();
    let before = match then {
        Some(commit) => entries_of(repository, commit)?,
        None => BTreeMap::new(),
    };
    let skipped: BTreeSet<&OsStr> =
        index.iter().filter(|entry| entry.is_skipped).map(|entry| entry.name.as_os_str()).collect();
    let rest = before.iter().filter(|(name, _)| !all.contains(*name) && wanted(Path::new(name)));
    let found = passed_over(repository, rest, &skipped)?;
    all.extend(found);
    // Those that are in the index, and were in no commit before. Other repositories inside are folders.
    let added = index.iter().filter(|entry| !before.contains_key(&entry.name));
    let is_there = |name: &OsStr| {
        fs::symlink_metadata(repository.work_tree().join(name)).is_ok_and(|facts| !facts.is_dir())
    };
    all.extend(added.filter(|entry| is_there(&entry.name)).map(|entry| entry.name.clone()));
    Ok(all)
}

/// What is committed since, or staged, and is not what lies on disk.
fn elsewhere(
    repository: &GitRepository,
    then: Option<&String>,
    index: &[IndexEntry],
    longest: u64,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<ChangedText>, RunError> {
    let tree = tree_of(repository, then)?;
    let head = tree_of(repository, repository.head()?.as_ref())?;
    let mut names = differing(repository, &["--cached", &tree])?;
    names.extend(differing(repository, &[&tree, &head])?);
    names.retain(|name| wanted(Path::new(name)));
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut apart = differing(repository, &["--cached", &head])?;
    // The tracked files that git does not look at on disk, since somebody said so.
    let is_unwatched = |entry: &&IndexEntry| entry.is_skipped || entry.is_assumed;
    apart.extend(index.iter().filter(is_unwatched).map(|entry| entry.name.clone()));
    let staged = index.iter().filter(|entry| names.contains(&entry.name) && !apart.contains(&entry.name));
    let staged: BTreeMap<OsString, TreeEntry> = staged
        .filter_map(|entry| Some((entry.name.clone(), TreeEntry::of(&entry.mode, &entry.id)?)))
        .collect();
    apart.extend(passed_over(repository, staged.iter(), &BTreeSet::new())?);
    names.retain(|name| apart.contains(name));
    let texts = |commit: &str| blobs(repository, commit, names.iter().map(OsString::as_os_str));
    let before = texts_then(repository, then.map(String::as_str), names.iter())?;
    let (committed, staged) = (texts(&head)?, texts("")?);
    let mut found = Vec::new();
    for (((name, before), committed), staged) in names.iter().zip(before).zip(committed).zip(staged) {
        let mut seen = vec![on_disk(repository.work_tree(), name, longest)];
        for (place, bytes) in [(TextPlace::Commit, committed), (TextPlace::Index, staged)] {
            if bytes == before {
                continue;
            }
            let now = in_git(bytes, longest);
            if !seen.contains(&now) {
                seen.push(now.clone());
                found.push(ChangedText { before: before.clone(), now, ..ChangedText::named(name, place) });
            }
        }
    }
    Ok(found)
}

/// Whether a path is on disk, staged, in the last commit, or was in what is compared with.
///
/// # Errors
///
/// When `git` fails, or the revision is none of this repository.
pub fn is_known_path(repository: &GitRepository, base: &ChangeBase, path: &str) -> Result<bool, RunError> {
    if path.is_empty() || fs::symlink_metadata(repository.work_tree().join(path)).is_ok() {
        return Ok(true);
    }
    let commits = [compared_with(repository, base)?, repository.head()?];
    for commit in commits.into_iter().flatten() {
        let object = format!("{commit}:{}", path.trim_end_matches('/'));
        if repository.resolve(&object)?.is_some() {
            return Ok(true);
        }
    }
    // A folder is no entry of the index, but what lies below it is. No sign of a path means anything to git here.
    let staged = repository.bytes(&["ls-files", "-z", "--", path], &Call::default())?;
    Ok(!staged.is_empty())
}

/// Lines that a commit of a branch added to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedLines {
    /// The commit.
    pub commit: String,
    /// The path of the file from the root.
    pub path: String,
    /// The lines with their numbers, counted from 1.
    pub lines: Vec<(usize, String)>,
}

/// The most commits whose lines are looked at (ours): the newest of a branch.
const COMMITS: &str = "--max-count=2000";

/// The lines that the commits since a revision added, also those that a later commit took away: who gets the branch gets them all.
///
/// # Errors
///
/// When `git` fails, or the revision is none of this repository.
pub fn committed_lines(
    repository: &GitRepository,
    base: &ChangeBase,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<CommittedLines>, RunError> {
    let range = match (base, compared_with(repository, base)?) {
        (ChangeBase::Revision(_), Some(then)) => format!("{then}..HEAD"),
        (ChangeBase::Commits { until, .. }, Some(then)) => format!("{then}..{until}"),
        (ChangeBase::Commits { until, .. }, None) => until.clone(),
        // Before the first commit there are no lines of any.
        (ChangeBase::Nothing, _) if repository.head()?.is_some() => "HEAD".to_owned(),
        (ChangeBase::Revision(_) | ChangeBase::LastCommit | ChangeBase::Staged | ChangeBase::Nothing, _) => {
            return Ok(Vec::new());
        }
    };
    let listing = [
        "log",
        "--format=commit %H",
        "--no-merges",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        // No attribute, and no byte in a file, makes git leave lines out.
        "--text",
        "--patch",
        "--unified=0",
        COMMITS,
        &range,
        "--",
    ];
    let output = repository.bytes(&listing, &Call::default())?;
    let mut found: Vec<CommittedLines> = Vec::new();
    let (mut commit, mut path, mut number, mut left) = (String::new(), None::<String>, 0_usize, 0_usize);
    for line in String::from_utf8_lossy(&output).lines() {
        if left > 0
            && let Some(text) = line.strip_prefix('+')
        {
            left -= 1;
            if let Some(path) = path.as_ref().filter(|path| wanted(Path::new(path))) {
                let is_same = found.last().is_some_and(|last| last.commit == commit && last.path == *path);
                if !is_same {
                    found.push(CommittedLines {
                        commit: commit.clone(),
                        path: path.clone(),
                        lines: Vec::new(),
                    });
                }
                if let Some(last) = found.last_mut() {
                    last.lines.push((number, text.to_owned()));
                }
            }
            number += 1;
        } else if let Some(hash) = line.strip_prefix("commit ") {
            hash.clone_into(&mut commit);
            path = None;
        } else if let Some(name) = line.strip_prefix("+++ ") {
            // A name with quotes or control characters stands in quotes; it is told as git writes it.
            let name = name.trim_end_matches('\t').trim_matches('"');
            path = name.strip_prefix("b/").map(str::to_owned);
        } else if let Some(hunk) = line.strip_prefix("@@ ") {
            let added = hunk.split(' ').find_map(|part| part.strip_prefix('+')).unwrap_or("0,0");
            let (first, count) = added.split_once(',').unwrap_or((added, "1"));
            (number, left) = (first.parse().unwrap_or(0), count.parse().unwrap_or(0));
        }
    }
    Ok(found)
}

/// What files hold, by path: the identity of their content, or that they are gone.
pub type ContentIds = BTreeMap<String, String>;

/// The word for a file that is gone.
const GONE: &str = "gone";

/// What the files hold on disk that differ from a revision.
///
/// # Errors
///
/// When `git` fails, or the revision is none of this repository.
pub fn contents_on_disk(repository: &GitRepository, revision: &str) -> Result<ContentIds, RunError> {
    let mut ids = ContentIds::new();
    let mut regular = Vec::new();
    let index = index_entries(repository)?;
    for name in names_on_disk(repository, Some(&where_it_left(repository, revision)?), &index, |_| true)? {
        let shown = name.to_string_lossy().into_owned();
        match fs::symlink_metadata(repository.work_tree().join(&name)) {
            Err(_) => {
                ids.insert(shown, GONE.to_owned());
            }
            Ok(facts) if facts.is_symlink() => {
                let target = fs::read_link(repository.work_tree().join(&name)).unwrap_or_default();
                let call = Call { input: target.as_os_str().as_bytes(), ..Call::default() };
                ids.insert(shown, repository.text(&["hash-object", "--stdin"], &call)?);
            }
            // One whose name holds the end of a line is left out: nothing that is committed under it is the same then.
            Ok(facts) if facts.is_file() && !name.as_bytes().contains(&b'\n') => regular.push((name, shown)),
            Ok(_) => {}
        }
    }
    let mut input = Vec::new();
    for (name, _) in &regular {
        input.extend_from_slice(name.as_bytes());
        input.push(b'\n');
    }
    let call = Call { input: &input, ..Call::default() };
    let listed = repository.text(&["hash-object", "--stdin-paths"], &call)?;
    ids.extend(regular.into_iter().zip(listed.lines()).map(|((_, shown), id)| (shown, id.to_owned())));
    Ok(ids)
}

/// What all files of a commit hold. Other repositories inside are left out.
fn contents_of(repository: &GitRepository, commit: &str) -> Result<ContentIds, RunError> {
    let entries = entries_of(repository, commit)?.into_iter();
    Ok(entries.map(|(name, entry)| (name.to_string_lossy().into_owned(), entry.id)).collect())
}

/// What all files held in what a work tree is compared with; `None` where that is nothing.
///
/// # Errors
///
/// When `git` fails, or the revision is none of this repository.
pub fn contents_of_base(
    repository: &GitRepository,
    base: &ChangeBase,
) -> Result<Option<ContentIds>, RunError> {
    compared_with(repository, base)?.map(|commit| contents_of(repository, &commit)).transpose()
}

/// What all files of a work tree hold, tracked or new and not ignored. It is the same as what a commit of it would hold.
///
/// # Errors
///
/// When `git` fails.
pub fn contents_of_work_tree(repository: &GitRepository) -> Result<ContentIds, RunError> {
    let Some(head) = repository.head()? else { return Ok(ContentIds::new()) };
    let mut all = contents_of(repository, &head)?;
    for (path, content) in contents_on_disk(repository, &head)? {
        if content == GONE {
            all.remove(&path);
        } else {
            all.insert(path, content);
        }
    }
    Ok(all)
}

/// What git keeps of a work tree, as a text that is another when that is: the commit that is checked out, and what is staged.
///
/// # Errors
///
/// When `git` fails.
pub fn kept_by_git(repository: &GitRepository) -> Result<String, RunError> {
    let head = repository.head()?;
    let tree = tree_of(repository, head.as_ref())?;
    let listing = ["diff-index", "--cached", "--raw", "-z", "--no-renames", &tree, "--"];
    let staged = repository.bytes(&listing, &Call::default())?;
    Ok(format!("{}\n{}", head.unwrap_or_default(), String::from_utf8_lossy(&staged)))
}

/// What the files hold in a commit that differ from a revision. Other repositories inside are left out.
///
/// # Errors
///
/// When `git` fails, or the revision is none of this repository.
pub fn contents_committed(
    repository: &GitRepository,
    revision: &str,
    commit: &str,
) -> Result<ContentIds, RunError> {
    const REPOSITORY: &[u8] = b"160000";
    let then = where_it_left(repository, revision)?;
    let listing = ["diff-tree", "-r", "-z", "--no-renames", &then, commit];
    let listed = repository.bytes(&listing, &Call::default())?;
    let mut fields = listed.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    let mut ids = ContentIds::new();
    while let (Some(facts), Some(name)) = (fields.next(), fields.next()) {
        let facts: Vec<&[u8]> = facts.split(|byte| *byte == b' ').collect();
        let [_, mode, _, id, status] = facts.as_slice() else { continue };
        if *mode == REPOSITORY {
            continue;
        }
        let id = if status.first() == Some(&b'D') {
            GONE.to_owned()
        } else {
            String::from_utf8_lossy(id).into_owned()
        };
        ids.insert(String::from_utf8_lossy(name).into_owned(), id);
    }
    Ok(ids)
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

/// A text that git keeps.
fn in_git(bytes: Option<Vec<u8>>, longest: u64) -> TextNow {
    match bytes {
        Some(bytes) if bytes.len() as u64 > longest => TextNow::NotRead("it is longer than 1 MiB"),
        Some(bytes) => TextNow::Bytes(bytes),
        None => TextNow::Gone,
    }
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
