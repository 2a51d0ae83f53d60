//! What all work trees of a repository share, and an agent in one of them can change in all: references, the stash, reflogs, hooks and
//! settings. It is saved before an agent works and after, with second names for all objects, so that every difference can be told and taken
//! back.

mod references;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use checkrein_shell::quoted;
use checkrein_snapshot::{
    CaptureBounds, CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Circumstances, Compared,
    Effort, Node, ObjectRetention, Pin, SnapshotId, SnapshotReason, Store, capture,
};
use serde::{Deserialize, Serialize};

use self::references::{MovedReference, last_message, named, references};
use super::git::{Call, GitRepository};
use super::name::WorktreeName;
use super::owner::{Owner, WorktreeKind};
use checkrein_supervise::runs::file::{read, replace};
use checkrein_supervise::runs::{RunError, RunErrorKind, RunId};

/// What is saved of the directory of a repository, besides the objects.
const PARTS: [&str; 21] = [
    "HEAD",
    "packed-refs",
    "refs",
    "logs",
    "config",
    "config.worktree",
    "hooks",
    "info",
    // From where else objects are taken, and where history ends.
    "objects/info",
    "shallow",
    // What the main work tree is in the middle of.
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "MERGE_HEAD",
    "MERGE_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_LOG",
    // What is staged in it, of which only the loss is told: users stage while an agent works.
    "index",
    "index.lock",
    // The repositories of submodules.
    MODULES,
];

const MODULES: &str = "modules";

/// What of the repository of a submodule git runs by itself, or says what it runs.
const OF_MODULE: [&str; 3] = ["config", "config.worktree", "hooks"];

/// How deep repositories of submodules are looked for: one may be named by a path (ours).
const MODULE_DEPTH: usize = 4;

/// How many objects get second names (ours).
const OBJECTS: CaptureBounds =
    CaptureBounds { entries: 2_000_000, bytes: 1 << 30, time: Duration::from_mins(1) };

const RECORD: &str = "shared.json";

/// The times at which agents worked in a worktree.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Times(Vec<Between>);

/// The snapshots before and after an agent worked; without the second it was cut off, or works still.
#[derive(Debug, Serialize, Deserialize)]
struct Between {
    run: RunId,
    before: u64,
    after: Option<u64>,
}

/// Whether an agent is about to work, or has worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPhase {
    /// It is about to.
    Before,
    /// It has.
    After,
}

/// A change of something that all work trees share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedChange {
    /// In words.
    pub what: String,
    /// The part of the repository's directory, such as `refs`.
    pub part: &'static str,
    /// Whether git would run what was changed, the next time that it is used.
    pub executes: bool,
    /// The snapshot of how it was.
    pub before: u64,
    /// How it is taken back.
    pub way_back: WayBack,
}

/// How a change of something shared is taken back. Each way touches only what changed: users and other runs work in the repository too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WayBack {
    /// Something new, which stays.
    Stays,
    /// These files of the repository's directory come back from the snapshot.
    Files(Vec<String>),
    /// So do these, and what is new among them goes.
    FilesAlone(Vec<String>),
    /// The reference is set to what it was, unless it has moved on since.
    Reference {
        /// The whole name.
        name: String,
        /// What it was.
        then: String,
        /// What it is.
        now: String,
    },
}

/// A repository that is watched for what a run changes in it beside its worktree.
#[derive(Debug)]
pub struct Watched<'a> {
    /// The snapshots of the workspace.
    pub store: &'a Store,
    /// How it is captured, but for the bounds.
    pub manner: &'a CaptureOptions<'a>,
    /// The repository.
    pub repository: &'a GitRepository,
    /// The worktree.
    pub owner: &'a Owner,
    /// The folder with what is known of it.
    pub record: &'a Path,
}

impl Watched<'_> {
    /// Saves what is shared. Returns whether all objects are kept too, so that everything could be taken back.
    pub fn note(&self, run: &RunId, moment: RunPhase, now: u64) -> Result<ObjectRetention, RunError> {
        let mut times = self.times()?;
        let when = match moment {
            RunPhase::Before => "before",
            RunPhase::After => "after",
        };
        let id = self.save(format!("the repository {when} run {run}"), now)?;
        match (moment, times.0.last_mut()) {
            (RunPhase::After, Some(last)) if last.run == *run => last.after = Some(id.0),
            (RunPhase::After, _) => return Ok(ObjectRetention::All),
            (RunPhase::Before, _) => {
                self.store.pin(id, Pin::Pinned).map_err(machine)?;
                times.0.push(Between { run: run.clone(), before: id.0, after: None });
            }
        }
        let text = serde_json::to_vec(&times).map_err(|error| damaged(&error.to_string()))?;
        replace(&self.record.join(RECORD), &text)?;
        match moment {
            RunPhase::Before => {
                self.store.keep_objects(&self.repository.common().join("objects"), &OBJECTS).map_err(machine)
            }
            RunPhase::After => Ok(ObjectRetention::All),
        }
    }

    /// Everything that differs between before and after the agents worked, each once.
    pub fn changes(&self) -> Result<Vec<SharedChange>, RunError> {
        let mut all: Vec<SharedChange> = Vec::new();
        for Between { before, after, .. } in self.times()?.0 {
            let manner = CaptureOptions { bounds: CaptureBounds::NONE, seen: None, ..*self.manner };
            let compared =
                self.store.compare(SnapshotId(before), after.map(SnapshotId), &manner).map_err(machine)?;
            for change in self.described(&compared, before) {
                if !all.iter().any(|known| known.what == change.what) {
                    all.push(change);
                }
            }
        }
        Ok(all)
    }

    /// Lets the snapshots go in their time, when the worktree goes.
    pub fn let_go(&self) -> Result<(), RunError> {
        let befores = self.times()?.0.into_iter().map(|between| SnapshotId(between.before));
        befores.into_iter().try_for_each(|id| self.store.pin(id, Pin::Loose).map_err(machine))
    }

    /// The commands that take changes back, from the root of the work tree. What is new stays, but for hooks.
    pub fn commands(&self, changes: &[SharedChange], before: u64) -> Vec<String> {
        let common = self.repository.common();
        let shown = common.strip_prefix(self.repository.work_tree()).unwrap_or(common).display();
        let (mut files, mut alone) = (BTreeSet::new(), BTreeSet::new());
        let mut references = Vec::new();
        for change in changes.iter().filter(|change| change.before == before) {
            match &change.way_back {
                WayBack::Stays => {}
                WayBack::Files(paths) => files.extend(paths),
                WayBack::FilesAlone(paths) => alone.extend(paths),
                WayBack::Reference { name, then, now } => {
                    references.push(format!("git update-ref {} {then} {now}", quoted(name)));
                }
            }
        }
        let restore = |paths: BTreeSet<&String>, option: &str| {
            let known = paths.into_iter().filter(|path| self.was_saved(before, path));
            let words: Vec<String> = known.map(|path| quoted(&format!("{shown}/{path}"))).collect();
            (!words.is_empty())
                .then(|| format!("checkrein snapshot restore {before} {}{option}", words.join(" ")))
        };
        let restored = [restore(files, ""), restore(alone, " --remove-new")];
        restored.into_iter().flatten().chain(references).collect()
    }

    /// Whether the part of a path stands in a snapshot, or the path now, so that there is something to bring back.
    fn was_saved(&self, before: u64, path: &str) -> bool {
        let common = self.repository.common();
        let path = common.join(path);
        let saved = self.store.snapshot(SnapshotId(before)).is_ok_and(|listed| {
            listed
                .snapshot
                .roots
                .iter()
                .any(|root| path.starts_with(root.path.as_path()) && root.node.is_some())
        });
        saved || path.exists()
    }

    fn times(&self) -> Result<Times, RunError> {
        let Some(bytes) = read(&self.record.join(RECORD))? else { return Ok(Times::default()) };
        serde_json::from_slice(&bytes).map_err(|error| damaged(&error.to_string()))
    }

    fn save(&self, reason: String, now: u64) -> Result<SnapshotId, RunError> {
        let draft = self.store.begin(Effort::Small).map_err(machine)?;
        let common = self.repository.common();
        let parts = PARTS.iter().filter(|part| **part != MODULES).map(|part| common.join(part));
        let of_modules = modules(&common.join(MODULES), MODULE_DEPTH);
        let of_modules = of_modules.iter().flat_map(|module| OF_MODULE.map(|part| module.join(part)));
        let wanted: Vec<CaptureRequest> = parts
            .chain(of_modules)
            .map(|path| CaptureRequest { path, selection: CaptureSelection::Everything })
            .collect();
        let manner = CaptureOptions { bounds: CaptureBounds::NONE, seen: None, ..*self.manner };
        let captured = match capture(&draft, &wanted, &manner).map_err(machine)? {
            CaptureOutcome::Whole(captured) => captured,
            CaptureOutcome::Over(_) => return Err(damaged("there is too much in it to be saved")),
        };
        let circumstances = Circumstances { at: now, occasion: SnapshotReason::Request, reason, place: None };
        draft.commit(&captured.described(circumstances)).map_err(machine)
    }

    /// The differences in words, but for what making and using the worktree itself changes.
    fn described(&self, compared: &Compared, before: u64) -> Vec<SharedChange> {
        let common = self.repository.common();
        let own = match &self.owner.kind {
            WorktreeKind::Git { branch, .. } => format!("refs/heads/{branch}"),
            WorktreeKind::Copy { .. } => String::new(),
        };
        let text = |node: Option<&Node>| match node {
            Some(Node::File { content, .. }) => compared.text(content).ok(),
            Some(Node::Symlink { target, .. }) => Some(format!("-> {}", String::from_utf8_lossy(target))),
            Some(Node::Directory { .. } | Node::Pipe { .. }) | None => None,
        };
        let mut changes = Vec::new();
        let mut add = |part: &'static str, executes: bool, what: String, way_back: WayBack| {
            changes.push(SharedChange { what, part, executes, before, way_back });
        };
        let mut logs = BTreeMap::new();
        let mut loose: BTreeMap<String, (Option<String>, Option<String>)> = BTreeMap::new();
        let mut packed = None;
        for one in &compared.differences {
            let path = one.path.as_path();
            let Ok(below) = path.strip_prefix(common) else { continue };
            let name = below.to_string_lossy().into_owned();
            let Some(part) = PARTS.into_iter().find(|part| below.starts_with(part)) else { continue };
            let (then, now) = (text(one.then.as_ref()), text(one.now.as_ref()));
            if part == "index" {
                if one.then.is_some() && one.now.is_none() {
                    let what = "what was staged in the main work tree is gone".to_owned();
                    add(part, false, what, WayBack::Files(vec![name]));
                }
                continue;
            }
            if then == now {
                // A directory, or a mode that decides whether a hook runs.
                let runs = |node: Option<&Node>| match node {
                    Some(Node::File { meta, .. }) => meta.mode & 0o111 != 0,
                    Some(Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }) | None => false,
                };
                if part == "hooks" && runs(one.now.as_ref()) && !runs(one.then.as_ref()) {
                    add(
                        part,
                        true,
                        format!("{} may be run now", hook(&name)),
                        WayBack::FilesAlone(vec![name]),
                    );
                }
                continue;
            }
            match part {
                "refs" => drop(loose.insert(name, (then, now))),
                "packed-refs" => packed = Some((then.unwrap_or_default(), now.unwrap_or_default())),
                "HEAD" => {
                    let what = format!("what is checked out: {} instead of {}", head(now), head(then));
                    add(part, false, what, WayBack::Files(vec![name]));
                }
                "logs" => {
                    let reference = name.trim_start_matches("logs/").to_owned();
                    let (then, now) = (then.unwrap_or_default(), now.unwrap_or_default());
                    if reference != own && !now.starts_with(&then) {
                        let (had, has) = (then.lines().count(), now.lines().count());
                        let what = match reference.as_str() {
                            "refs/stash" => format!("the stash held {had} entries and holds {has}"),
                            _ => format!(
                                "the reflog of {} had {had} entries and has {has}, not the same",
                                named(&reference)
                            ),
                        };
                        add(part, false, what, WayBack::Files(vec![name]));
                    }
                    logs.insert(reference, now);
                }
                "hooks" => {
                    let is_example = name.ends_with(".sample");
                    let what = format!("{} is {}", hook(&name), deed(then.as_ref(), now.as_ref()));
                    add(part, now.is_some() && !is_example, what, WayBack::FilesAlone(vec![name]));
                }
                "config" | "config.worktree" => {
                    for (what, executes) in settings(&then.unwrap_or_default(), &now.unwrap_or_default()) {
                        add(part, executes, what, WayBack::Files(vec![name.clone()]));
                    }
                }
                MODULES if name.contains("/hooks/") => {
                    let is_example = name.ends_with(".sample");
                    let what = format!("`{name}` of the repository is {}", deed(then.as_ref(), now.as_ref()));
                    add(part, now.is_some() && !is_example, what, WayBack::FilesAlone(vec![name]));
                }
                MODULES => {
                    for (what, executes) in settings(&then.unwrap_or_default(), &now.unwrap_or_default()) {
                        add(part, executes, format!("`{name}`: {what}"), WayBack::Files(vec![name.clone()]));
                    }
                }
                // What git is in the middle of may name commands, and goes on with them when it is told to.
                "rebase-merge" | "rebase-apply" | "sequencer" => {
                    let what = format!("`{name}` of the repository is {}", deed(then.as_ref(), now.as_ref()));
                    add(part, now.is_some(), what, WayBack::FilesAlone(vec![name]));
                }
                _ => {
                    let what = format!("`{name}` of the repository is {}", deed(then.as_ref(), now.as_ref()));
                    let way_back = match (then.is_some(), part) {
                        (true, _) => WayBack::Files(vec![name]),
                        // How git reads files. Nobody begins that beside a run, as they may begin a merge.
                        (false, "info" | "shallow") => WayBack::FilesAlone(vec![name]),
                        (false, _) => WayBack::Stays,
                    };
                    add(part, false, what, way_back);
                }
            }
        }
        let others = self.branches_of_others();
        for moved in references(common, &loose, packed.as_ref()) {
            let owner = others.get(&moved.name);
            let grows = self.grows(&moved);
            // Another run that works on its own branch.
            if moved.name == own || owner.is_some() && (grows || moved.then.is_none()) {
                continue;
            }
            let mut what = moved.in_words();
            if let Some(owner) = owner {
                what = format!("{what}, the branch of worktree `{owner}`");
            } else if let Some(message) = grows.then(|| last_message(logs.get(&moved.name)?)).flatten() {
                what = format!("{what}, the last time by `{message}`");
            }
            let way_back = moved.way_back(grows);
            add("refs", false, what, way_back);
        }
        changes
    }

    /// Whether nothing is lost: a reference that moved on to what grows from where it was.
    fn grows(&self, moved: &MovedReference) -> bool {
        let (Some(then), Some(now)) = (&moved.then, &moved.now) else { return false };
        let ancestor = ["merge-base", "--is-ancestor", then, now];
        self.repository.output(&ancestor, &Call::default()).is_ok_and(|output| output.status.success())
    }

    /// The branches of the other worktrees of this repository, with the names of these.
    fn branches_of_others(&self) -> BTreeMap<String, WorktreeName> {
        let records =
            self.record.parent().and_then(|all| fs::read_dir(all).ok()).into_iter().flatten().flatten();
        let owners = records.filter_map(|record| Owner::load(&record.path()).ok().flatten());
        owners
            .filter_map(|owner| match owner.kind {
                WorktreeKind::Git { branch, .. } => Some((format!("refs/heads/{branch}"), owner.name)),
                WorktreeKind::Copy { .. } => None,
            })
            .collect()
    }
}

/// The repositories of submodules below a folder.
fn modules(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir() && !path.is_symlink());
    folders
        .flat_map(|path| match (path.join("HEAD").is_file(), depth.checked_sub(1)) {
            (true, _) => {
                let below = modules(&path.join(MODULES), depth.saturating_sub(1));
                std::iter::once(path).chain(below).collect()
            }
            (false, Some(left)) => modules(&path, left),
            (false, None) => Vec::new(),
        })
        .collect()
}

fn hook(name: &str) -> String {
    format!("hook `{}`", name.trim_start_matches("hooks/"))
}

fn head(text: Option<String>) -> String {
    text.map_or_else(|| "nothing".to_owned(), |text| format!("`{}`", text.trim().trim_start_matches("ref: ")))
}

fn deed(then: Option<&String>, now: Option<&String>) -> &'static str {
    match (then, now) {
        (None, _) => "new",
        (_, None) => "gone",
        (Some(_), Some(_)) => "changed",
    }
}

/// Settings that came, went or changed, each with whether git runs something for it (git-config(1)).
fn settings(then: &str, now: &str) -> Vec<(String, bool)> {
    let (then, now) = (entries(then), entries(now));
    let changed = |from: &BTreeSet<(String, String)>, to: &BTreeSet<(String, String)>| {
        from.difference(to).cloned().collect::<Vec<_>>()
    };
    let mut told: Vec<(String, bool)> = changed(&now, &then)
        .into_iter()
        .map(|(key, value)| {
            let executes = runs_something(&key);
            (
                format!("setting `{key}` is new or changed: {}", value.chars().take(80).collect::<String>()),
                executes,
            )
        })
        .collect();
    let is_known = |key: &str| now.iter().any(|(known, _)| known == key);
    let gone = changed(&then, &now).into_iter().filter(|(key, _)| !is_known(key));
    told.extend(gone.map(|(key, _)| (format!("setting `{key}` is gone"), false)));
    told
}

/// The settings in a file, without those that git itself writes for a new branch. Roughly: what is written over several lines counts as one.
fn entries(text: &str) -> BTreeSet<(String, String)> {
    let mut section = String::new();
    let mut all = BTreeSet::new();
    for line in text.replace("\\\n", "").lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix('[') {
            let (name, inline) = rest.split_once(']').unwrap_or((rest, ""));
            let (outer, inner) = name.split_once(char::is_whitespace).unwrap_or((name, ""));
            section = outer.trim().to_ascii_lowercase();
            if !inner.is_empty() {
                section = format!("{section}.{}", inner.trim().trim_matches('"'));
            }
            if inline.trim().is_empty() {
                continue;
            }
            add_entry(&mut all, &section, inline.trim());
        } else if !line.is_empty() && !line.starts_with(['#', ';']) {
            add_entry(&mut all, &section, line);
        }
    }
    all
}

fn add_entry(all: &mut BTreeSet<(String, String)>, section: &str, line: &str) {
    let (key, value) = line.split_once('=').unwrap_or((line, "true"));
    all.insert((format!("{section}.{}", key.trim().to_ascii_lowercase()), value.trim().to_owned()));
}

/// Whether git runs a program, or reads settings from elsewhere, for a setting.
fn runs_something(key: &str) -> bool {
    const SECTIONS: [&str; 11] = [
        "alias.",
        "filter.",
        "pager.",
        "include.",
        "includeif.",
        "credential.",
        "gpg.",
        "difftool.",
        "mergetool.",
        "browser.",
        "man.",
    ];
    const KEYS: [&str; 12] = [
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "core.hookspath",
        "core.fsmonitor",
        "core.askpass",
        "core.gitproxy",
        "core.alternaterefscommand",
        "sequence.editor",
        "diff.external",
        "web.browser",
        "uploadpack.packobjectshook",
    ];
    const ENDS: [&str; 7] =
        [".command", ".textconv", ".driver", ".cmd", ".path", ".receivepack", ".uploadpack"];
    SECTIONS.iter().any(|section| key.starts_with(section))
        || KEYS.contains(&key)
        || ENDS.iter().any(|end| key.ends_with(end))
}

fn damaged(why: &str) -> RunError {
    RunError::new(
        RunErrorKind::Damaged,
        format!("what the repository was before cannot be told: {why}"),
        "look at `git reflog`, `git stash list`, `.git/hooks` and `.git/config` yourself",
    )
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn machine(error: checkrein_snapshot::SnapshotError) -> RunError {
    RunError::new(RunErrorKind::Machine, error.to_string(), error.hint())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_run_something_are_told_apart() {
        let then = "[core]\n\tbare = false\n[user]\n\tname = a\n";
        let now = "[core]\n\tbare = false\n\tpager = evil\n[alias]\n\tst = !evil\n[filter \"x\"]\n\tclean = evil\n[branch \"b\"]\n\tremote = o\n";
        let told = settings(then, now);
        let runs: Vec<bool> = told.iter().map(|(_, executes)| *executes).collect();
        assert_eq!(runs, [true, false, true, true, false], "{told:?}");
        assert!(told[4].0.contains("`user.name` is gone"), "{told:?}");
        assert_eq!(settings(then, then), []);
    }
}
