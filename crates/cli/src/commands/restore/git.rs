//! What a restore does to a repository, in the words of git.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use checkrein_snapshot::{Listed, Node, Prepared, RestoreAction, Since, Step};

/// Among how many files of references one that stands for an object is looked for (ours).
const LOOKED_AT: usize = 5_000;

/// How many digits of the name of a commit are shown (ours), as git does in small repositories.
const DIGITS: usize = 7;

/// The files in which git keeps a message while somebody writes it.
const MESSAGES: [&str; 4] = ["COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG"];

/// The directory of the repository that a step is about; `None` when it is about a file of the work tree.
pub(in crate::commands) fn directory_of(snapshot: &Listed, step: &Step) -> Option<PathBuf> {
    let path = step.path.as_path();
    let around = heads(snapshot).filter(|directory| *directory != path && path.starts_with(directory));
    around.max_by_key(|directory| directory.as_os_str().len()).map(Path::to_owned)
}

/// The directories of the repositories whose references a snapshot holds.
fn heads(snapshot: &Listed) -> impl Iterator<Item = &Path> {
    let heads = snapshot.snapshot.roots.iter().map(|root| root.path.as_path());
    heads.filter(|root| root.file_name().is_some_and(|name| name == "HEAD")).filter_map(Path::parent)
}

/// What happens to a part of a repository.
pub(in crate::commands) struct GitLine {
    /// The reference that it is about; empty for all the rest.
    pub(in crate::commands) about: String,
    /// The words.
    pub(in crate::commands) words: String,
}

impl GitLine {
    fn back(about: impl Into<String>, object: &str) -> Self {
        let about = about.into();
        let words = format!("{about} back to {}", target(object));
        Self { about, words }
    }
}

/// What these steps do, a line for each reference and one for the rest.
pub(in crate::commands) fn in_words(prepared: &Prepared, snapshot: &Listed, steps: &[&Step]) -> Vec<GitLine> {
    let mut lines = Vec::new();
    let mut beside = BTreeSet::new();
    for step in steps {
        let Some(directory) = directory_of(snapshot, step) else { continue };
        let Ok(below) = step.path.as_path().strip_prefix(&directory) else { continue };
        let Some(below) = below.to_str() else { continue };
        let text = |node: &Option<Node>| match node {
            Some(Node::File { content, .. }) => {
                let text = prepared.content(content).ok()?;
                Some(String::from_utf8_lossy(&text).trim_end().to_owned())
            }
            Some(Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }) | None => None,
        };
        match below {
            "HEAD" => lines.extend(text(&step.then).map(|head| GitLine::back("HEAD", &head))),
            "packed-refs" => lines.extend(packed(text(&step.then), text(&step.now))),
            _ if below.starts_with("refs/") => match (text(&step.then), &step.now) {
                (Some(then), _) => lines.push(GitLine::back(name(below), &then)),
                (None, Some(Node::File { .. })) => {
                    let about = name(below);
                    let words = format!("{about} goes: it was not there");
                    lines.push(GitLine { about, words });
                }
                (None, _) => {}
            },
            _ => drop(beside.insert(part(below))),
        }
    }
    if !beside.is_empty() {
        let words = format!("and of git: {}", beside.into_iter().collect::<Vec<_>>().join(", "));
        lines.push(GitLine { about: String::new(), words });
    }
    lines
}

/// What is to be said where what is known of a remote goes back.
pub(super) const REMOTE_STAYS: &str =
    "the remote itself stays as it is: what was pushed there is still there";

/// Whether all that differs is where branches stand and what is staged, and the logs of git tell that it moved after the moment `ended`, in
/// milliseconds since 1970: then an action that had ended by then did not move it.
pub(in crate::commands) fn moved_later<'a>(
    prepared: &Prepared,
    snapshot: &Listed,
    steps: impl Iterator<Item = &'a Step>,
    ended: u64,
) -> bool {
    let mut moved = BTreeSet::new();
    let mut logged = BTreeSet::new();
    for step in steps {
        let Some(directory) = directory_of(snapshot, step) else { return false };
        let below = step.path.as_path().strip_prefix(&directory).ok().and_then(Path::to_str);
        match below {
            Some("index" | "ORIG_HEAD") => {}
            Some(name) if MESSAGES.contains(&name) => {}
            Some(log) if log.starts_with("logs/") => {
                let (Some(then), Some(now)) =
                    (log_text(prepared, step.then.as_ref()), log_text(prepared, step.now.as_ref()))
                else {
                    return false;
                };
                if !grew_after(&then, &now, ended) {
                    return false;
                }
                logged.insert(log.trim_start_matches("logs/").to_owned());
            }
            Some(name) if name == "HEAD" || name.starts_with("refs/heads/") => {
                moved.insert(name.to_owned());
            }
            Some(_) | None => return false,
        }
    }
    !logged.is_empty() && moved.is_subset(&logged)
}

/// Whether a step removes the log of a reference that got another name: the log begins with all of one that comes back.
pub(super) fn is_log_moved_from_restored(prepared: &Prepared, snapshot: &Listed, step: &Step) -> bool {
    let Some(logs) = directory_of(snapshot, step).map(|directory| directory.join("logs/refs")) else {
        return false;
    };
    let Some(now) = log_text(prepared, step.now.as_ref()).filter(|_| step.path.as_path().starts_with(&logs))
    else {
        return false;
    };
    prepared.steps().iter().any(|other| {
        other.deed != RestoreAction::Remove
            && other.path.as_path().starts_with(&logs)
            && log_text(prepared, other.then.as_ref())
                .is_some_and(|then| !then.is_empty() && now.starts_with(&then))
    })
}

/// The text of a log of git; empty where there was none, `None` where it cannot be read.
fn log_text(prepared: &Prepared, node: Option<&Node>) -> Option<String> {
    match node {
        None => Some(String::new()),
        Some(Node::File { content, .. }) => {
            prepared.content(content).ok().map(|text| String::from_utf8_lossy(&text).into_owned())
        }
        Some(Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }) => None,
    }
}

/// Whether a log of git only grew, and its first new line is of a later second than `ended`: its times have no parts of seconds.
fn grew_after(then: &str, now: &str, ended: u64) -> bool {
    let added = now.strip_prefix(then).and_then(|added| added.lines().next());
    let before_message = added.and_then(|line| line.split('\t').next());
    let time =
        before_message.and_then(|line| line.rsplit(' ').nth(1)).and_then(|time| time.parse::<u64>().ok());
    time.is_some_and(|time| time > ended / 1_000)
}

/// What is kept of repositories: one line for each reason, with the names by which git calls it.
pub(in crate::commands) fn kept<'a>(
    snapshot: &Listed,
    left: &[&'a (Step, String)],
) -> Vec<(String, &'a str)> {
    let mut lines: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (step, why) in left {
        let Some(directory) = directory_of(snapshot, step) else { continue };
        let below = step.path.as_path().strip_prefix(&directory).ok().and_then(Path::to_str);
        let Some(below) = below else { continue };
        let what =
            if below == "HEAD" || below.starts_with("refs/") { name(below) } else { part(below).to_owned() };
        lines.entry(why).or_default().insert(what);
    }
    let in_words =
        |(why, names): (&'a str, BTreeSet<String>)| (names.into_iter().collect::<Vec<_>>().join(", "), why);
    lines.into_iter().map(in_words).collect()
}

/// What a step would take away that git calls by a name, or keeps as a stash, where it stands now and did not before: one that somebody
/// made after the action goes with the step, and nothing else may lead to it. `None` for every other step.
pub(super) fn taken_away(prepared: &Prepared, snapshot: &Listed, step: &Step) -> Option<String> {
    let directory = directory_of(snapshot, step)?;
    let below = step.path.as_path().strip_prefix(&directory).ok()?.to_str()?;
    let is_gone = step.then.is_none() && matches!(step.now, Some(Node::File { .. } | Node::Symlink { .. }));
    let text = |node: &Option<Node>| match node {
        Some(Node::File { content, .. }) => {
            Some(String::from_utf8_lossy(&prepared.content(content).ok()?).into_owned())
        }
        Some(Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }) | None => None,
    };
    match below {
        // An entry on top of others goes when the older one is put back.
        "refs/stash" | "logs/refs/stash" => {
            let log = directory.join("logs/refs/stash");
            let log = prepared.steps().iter().find(|step| step.path.as_path() == log)?;
            let then = text(&log.then).unwrap_or_default();
            let is_new = |entry: &str| !then.lines().any(|known| known == entry);
            text(&log.now)?.lines().any(is_new).then(|| "a stash".to_owned())
        }
        "packed-refs" => {
            let (then, now) = (references(text(&step.then)), references(text(&step.now)));
            // Git also moves references there that stood in files of their own.
            let is_back = |reference: &str| {
                let own = directory.join(reference);
                own.exists()
                    || prepared.steps().iter().any(|step| step.path.as_path() == own && step.then.is_some())
            };
            let new = now.keys().find(|name| !then.contains_key(*name) && !is_back(name))?;
            Some(format!("`{}`", name(new)))
        }
        _ if below.starts_with("refs/") && is_gone => Some(format!("`{}`", name(below))),
        _ if below.starts_with("logs/refs/") && is_gone => Some("the log of a reference".to_owned()),
        _ => None,
    }
}

/// Whether a step takes away a branch that was not there, or its log, of which the logs of git do not tell that the action made it, or which
/// stands for something for which no other name stood.
pub(super) fn is_branch_of_others(prepared: &Prepared, snapshot: &Listed, step: &Step) -> bool {
    let Some(directory) = directory_of(snapshot, step) else { return false };
    let below = step.path.as_path().strip_prefix(&directory).ok().and_then(Path::to_str);
    let branch = below.map(|below| below.strip_prefix("logs/").unwrap_or(below));
    let Some(branch) = branch.filter(|name| name.starts_with("refs/heads/")) else { return false };
    let (place, log) = (directory.join(branch), directory.join("logs").join(branch));
    let is_new =
        |step: &&Step| step.deed == RestoreAction::Remove && matches!(step.now, Some(Node::File { .. }));
    let is_of_others = |step: &Step| {
        step.path.as_path() == log && step.since == Since::Doubtful
            || step.path.as_path() == place && !prepared.is_elsewhere(step)
    };
    is_new(&step) && prepared.steps().iter().filter(is_new).any(is_of_others)
}

/// Whether a step is about the file in which git gathers references, and each that is in it by now stands for the same where it goes back to:
/// then nothing is lost with the file.
pub(super) fn only_gathers(prepared: &Prepared, snapshot: &Listed, step: &Step) -> bool {
    let Some(directory) = directory_of(snapshot, step) else { return false };
    if step.path.as_path() != directory.join("packed-refs") {
        return false;
    }
    let (then, now) = (
        references(log_text(prepared, step.then.as_ref())),
        references(log_text(prepared, step.now.as_ref())),
    );
    now.iter().all(|(name, object)| {
        let own = directory.join(name);
        let back = match prepared.steps().iter().find(|step| step.path.as_path() == own) {
            Some(step) => step.then.as_ref().and_then(|then| log_text(prepared, Some(then))),
            None => std::fs::read_to_string(&own).ok(),
        };
        back.as_deref().map_or_else(|| then.get(name) == Some(object), |back| back.trim_end() == object)
    })
}

/// Whether a step takes back what git noted of a push, or what a push from here set in a repository on this machine: what was pushed stands here
/// too, and can be pushed again.
pub(super) fn is_pushed_from_here(prepared: &Prepared, snapshot: &Listed, step: &Step) -> bool {
    // A name that is new belongs to whoever works on it by now.
    let directory = directory_of(snapshot, step).filter(|_| step.deed != RestoreAction::Remove);
    let Some(directory) = directory else { return false };
    let Some(below) = step.path.as_path().strip_prefix(&directory).ok().and_then(Path::to_str) else {
        return false;
    };
    let reference = below.strip_prefix("logs/").unwrap_or(below);
    let log = directory.join("logs").join(reference);
    let noted = if reference.starts_with("refs/remotes/") { "update by push" } else { "push" };
    if !reference.starts_with("refs/") && reference != "HEAD" {
        return false;
    }
    let added = prepared.steps().iter().find(|step| step.path.as_path() == log).map(|step| {
        let (then, now) = (log_text(prepared, step.then.as_ref())?, log_text(prepared, step.now.as_ref())?);
        now.strip_prefix(&then).map(str::to_owned)
    });
    let is_push = |added: &str| {
        !added.is_empty()
            && added.lines().all(|line| line.split_once('\t').is_some_and(|(_, text)| text == noted))
    };
    let value = log_text(prepared, step.now.as_ref()).unwrap_or_default();
    match added {
        Some(Some(added)) => {
            let last = added.lines().next_back().and_then(|line| line.split(' ').nth(1));
            is_push(&added) && (below.starts_with("logs/") || last == Some(value.trim_end()))
        }
        // Repositories without a work tree keep no logs.
        None => {
            below.starts_with("refs/")
                && !reference.starts_with("refs/remotes/")
                && !log.exists()
                && heads(snapshot).any(|other| other != directory && names(other, value.trim_end()))
        }
        Some(None) => false,
    }
}

/// Whether any reference of a repository stands for an object, among as many as are looked at.
fn names(directory: &Path, object: &str) -> bool {
    let packed = std::fs::read_to_string(directory.join("packed-refs")).unwrap_or_default();
    if object.len() < DIGITS || packed.lines().any(|line| line.split(' ').next() == Some(object)) {
        return object.len() >= DIGITS;
    }
    let mut left = LOOKED_AT;
    let mut waiting = vec![directory.join("refs")];
    while let Some(path) = waiting.pop() {
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else { return false };
            left = rest;
            let is_it = |path: &Path| {
                checkrein_files::read_text(path, checkrein_files::SMALL)
                    .is_ok_and(|text| text.trim_end() == object)
            };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                Ok(kind) if kind.is_file() && is_it(&entry.path()) => return true,
                Ok(_) | Err(_) => {}
            }
        }
    }
    false
}

/// Whether a step is about what git noted of a call that left its repository where it stood: all that differs of the repository are logs to which
/// something came, notes that git makes for itself, and an index with the same entries. `git reset --hard` in a clean work tree does no more.
pub(in crate::commands) fn is_only_noted(prepared: &Prepared, snapshot: &Listed, step: &Step) -> bool {
    let Some(directory) = directory_of(snapshot, step) else { return false };
    let is_note = |step: &Step| {
        let below = step.path.as_path().strip_prefix(&directory).ok().and_then(Path::to_str);
        match below {
            Some("index") => prepared.has_same_entries(step),
            Some(name) if MESSAGES.contains(&name) || name == "ORIG_HEAD" => true,
            Some(name) if name == "logs" || name.starts_with("logs/") => {
                let then = log_text(prepared, step.then.as_ref());
                let now = log_text(prepared, step.now.as_ref());
                matches!((then, now), (Some(then), Some(now)) if now.starts_with(&then))
            }
            Some(_) | None => false,
        }
    };
    let mut here =
        prepared.steps().iter().filter(|step| directory_of(snapshot, step).as_deref() == Some(&*directory));
    here.all(is_note)
}

/// Whether a step only gives back entries of a log of git: nothing came to it meanwhile, and all that it holds it held before.
pub(super) fn only_lacks_entries(prepared: &Prepared, snapshot: &Listed, step: &Step) -> bool {
    let Some(directory) = directory_of(snapshot, step) else { return false };
    if step.deed != RestoreAction::Replace || !step.path.as_path().starts_with(directory.join("logs")) {
        return false;
    }
    let (Some(then), Some(now)) =
        (log_text(prepared, step.then.as_ref()), log_text(prepared, step.now.as_ref()))
    else {
        return false;
    };
    // Git may write into an entry what stands before it by now.
    let entries = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.split_once(' ')).map(|(_, entry)| entry.to_owned()).collect()
    };
    let (then, now) = (entries(&then), entries(&now));
    let mut known = then.iter();
    now.len() < then.len() && now.iter().all(|entry| known.any(|before| before == entry))
}

/// Whether a step only gives back stashes that are gone from the list: nothing came to it meanwhile.
pub(super) fn only_lacks_stashes(prepared: &Prepared, snapshot: &Listed, step: &Step) -> bool {
    let Some(directory) = directory_of(snapshot, step) else { return false };
    let (list, stash) = (directory.join("logs/refs/stash"), directory.join("refs/stash"));
    let Some(log) = prepared.steps().iter().find(|step| step.path.as_path() == list) else { return false };
    let (Some(then), Some(now)) =
        (log_text(prepared, log.then.as_ref()), log_text(prepared, log.now.as_ref()))
    else {
        return false;
    };
    // Git writes into each what stood before it, which is another one when that is gone.
    let entries = |text: &str| -> BTreeSet<String> {
        text.lines().filter_map(|line| line.split_once(' ')).map(|(_, entry)| entry.to_owned()).collect()
    };
    let then = entries(&then);
    if !entries(&now).is_subset(&then) {
        return false;
    }
    let value = log_text(prepared, step.now.as_ref()).unwrap_or_default();
    let is_listed = || then.iter().any(|entry| entry.split(' ').next() == Some(value.trim_end()));
    step.path.as_path() == list || step.path.as_path() == stash && is_listed()
}

/// The name under which git keeps what it left in the work tree of a merge that it could not finish. Nobody writes there but git.
pub(super) const MERGED: &str = "AUTO_MERGE";

/// Whether git could not finish a merge since the snapshot was taken: then a restore takes back what git noted of it.
pub(super) fn ends_merge(prepared: &Prepared, repository: &Path) -> bool {
    let noted = repository.join(MERGED);
    prepared.steps().iter().any(|step| step.now.is_some() && step.path.as_path() == noted)
}

/// What git notes beside that of a merge that it could not finish. The next one replaces it.
const NOTES: [&str; 5] = ["MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD"];

/// Whether a step is about what git noted of a merge that it could not finish: beside what nobody but git writes, what was not there before and
/// was noted shortly after the snapshot, of a merge that is taken back.
pub(super) fn is_note_of_merge(prepared: &Prepared, snapshot: &Listed, step: &Step, soon: i64) -> bool {
    let Some(directory) = directory_of(snapshot, step) else { return false };
    let is = |name: &str| step.path.as_path() == directory.join(name);
    let modified = step.now.as_ref().map_or(i64::MAX, |node| node.meta().modified.seconds);
    // Where the branch stood is known all the same.
    let is_note =
        || step.deed == RestoreAction::Remove && NOTES.iter().any(|name| is(name)) || is("ORIG_HEAD");
    is(MERGED) || modified <= soon && is_note() && ends_merge(prepared, &directory)
}

/// Whether a step is about the list of references that git writes for whoever fetches without it, and makes again whenever it gathers objects.
pub(super) fn is_list_of_references(prepared: &Prepared, snapshot: &Listed, step: &Step) -> bool {
    let Some(directory) = directory_of(snapshot, step) else { return false };
    let is_entry = |line: &str| {
        line.split_once('\t').is_some_and(|(object, reference)| {
            let is_object = object.len() >= 40 && object.bytes().all(|digit| digit.is_ascii_hexdigit());
            is_object && reference.starts_with("refs/") && !reference.contains(char::is_whitespace)
        })
    };
    step.path.as_path() == directory.join("info/refs")
        && log_text(prepared, step.now.as_ref()).is_some_and(|text| text.lines().all(is_entry))
}

/// Whether any of these steps is about what a repository knows of its remotes.
pub(super) fn touches_remotes(snapshot: &Listed, steps: &[&Step]) -> bool {
    steps.iter().any(|step| {
        directory_of(snapshot, step)
            .is_some_and(|directory| step.path.as_path().starts_with(directory.join("refs/remotes")))
    })
}

/// A reference in words.
fn name(reference: &str) -> String {
    for (prefix, word) in [("refs/heads/", "branch "), ("refs/tags/", "tag "), ("refs/remotes/", "")] {
        if let Some(short) = reference.strip_prefix(prefix) {
            return format!("{word}{short}");
        }
    }
    if reference == "refs/stash" { "stash".to_owned() } else { reference.to_owned() }
}

/// What a reference stands for, in words.
fn target(content: &str) -> String {
    match content.strip_prefix("ref: ") {
        Some(reference) => name(reference),
        None => content.get(..DIGITS).unwrap_or(content).to_owned(),
    }
}

/// The references that are written in one file, each with the object that it stands for.
fn references(text: Option<String>) -> BTreeMap<String, String> {
    let text = text.unwrap_or_default();
    let pairs =
        text.lines().filter(|line| !line.starts_with(['#', '^'])).filter_map(|line| line.split_once(' '));
    pairs.map(|(object, reference)| (reference.to_owned(), object.to_owned())).collect()
}

/// References that are written in one file: those that differ.
fn packed(then: Option<String>, now: Option<String>) -> Vec<GitLine> {
    let (then, now) = (references(then), references(now));
    then.iter()
        .filter(|(reference, object)| now.get(*reference) != Some(object))
        .map(|(reference, object)| GitLine::back(name(reference), object))
        .collect()
}

/// Other files of a repository in words.
fn part(below: &str) -> &'static str {
    match below.split('/').next().unwrap_or_default() {
        "index" => "what is staged",
        "logs" => "reflogs",
        "objects" => "objects",
        "packed-refs" => "packed references",
        "config" => "settings",
        name if MESSAGES.contains(&name) => "messages",
        "worktrees" => "other work trees",
        "modules" => "submodules",
        "rebase-merge" | "rebase-apply" | "sequencer" => "what was under way",
        _ => "other files",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_grew_tells_when() {
        let first = "0 1 A <a@b> 1700000000 +0000\tcommit (initial): one\n";
        let both = format!("{first}1 2 A B <a@b> 1700000009 -0230\tcommit: two at 5 +0000\n");
        for (then, now, ended, is_later) in [
            (first, both.as_str(), 1_700_000_008_999, true),
            (first, both.as_str(), 1_700_000_009_000, false),
            ("", first, 1_699_999_999_000, true),
            (first, first, 0, false),
            (both.as_str(), first, 0, false),
            (first, "rewritten\n", 0, false),
        ] {
            assert_eq!(grew_after(then, now, ended), is_later, "{then} {now} {ended}");
        }
    }
}
