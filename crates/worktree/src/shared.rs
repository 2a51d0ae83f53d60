//! What all work trees of a repository share, and an agent in one of them can change in all: references, the stash, reflogs, hooks and
//! settings. It is saved before an agent works and after, with second names for all objects, so that every difference can be told and taken
//! back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use checkrein_snapshot::{
    CaptureBounds, CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Circumstances, Compared,
    Effort, Node, ObjectRetention, Pin, SnapshotId, SnapshotReason, Store, capture,
};
use serde::{Deserialize, Serialize};

use super::git::GitRepository;
use super::owner::{Owner, WorktreeKind};
use checkrein_supervise::runs::file::{read, replace};
use checkrein_supervise::runs::{RunError, RunErrorKind, RunId};

/// What is saved of the directory of a repository, besides the objects.
const PARTS: [&str; 8] =
    ["HEAD", "packed-refs", "refs", "logs", "config", "config.worktree", "hooks", "info"];

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
        let mut parts: BTreeSet<&str> =
            changes.iter().filter(|change| change.before == before).map(|change| change.part).collect();
        let hooks = parts.remove("hooks");
        if parts.contains("refs") {
            parts.extend(["packed-refs", "logs"]);
        }
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|part| self.was_saved(before, part))
            .map(|part| format!("{shown}/{part}"))
            .collect();
        let rest =
            (!parts.is_empty()).then(|| format!("checkrein snapshot restore {before} {}", parts.join(" ")));
        let hooks = hooks.then(|| format!("checkrein snapshot restore {before} {shown}/hooks --remove-new"));
        rest.into_iter().chain(hooks).collect()
    }

    /// Whether a part stands in a snapshot or now, so that there is something to bring back.
    fn was_saved(&self, before: u64, part: &str) -> bool {
        let path = self.repository.common().join(part);
        let saved = self.store.snapshot(SnapshotId(before)).is_ok_and(|listed| {
            listed.snapshot.roots.iter().any(|root| root.path.as_path() == path && root.node.is_some())
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
        let wanted: Vec<CaptureRequest> = PARTS
            .iter()
            .map(|part| CaptureRequest { path: common.join(part), selection: CaptureSelection::Everything })
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
        let mut add = |part: &'static str, executes: bool, what: String| {
            changes.push(SharedChange { what, part, executes, before });
        };
        let mut loose: BTreeMap<String, (Option<String>, Option<String>)> = BTreeMap::new();
        let mut packed = None;
        for one in &compared.differences {
            let path = one.path.as_path();
            let Ok(below) = path.strip_prefix(common) else { continue };
            let name = below.to_string_lossy().into_owned();
            let Some(part) = PARTS.into_iter().find(|part| below.starts_with(part)) else { continue };
            let (then, now) = (text(one.then.as_ref()), text(one.now.as_ref()));
            if then == now {
                // A directory, or a mode that decides whether a hook runs.
                let runs = |node: Option<&Node>| match node {
                    Some(Node::File { meta, .. }) => meta.mode & 0o111 != 0,
                    Some(Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }) | None => false,
                };
                if part == "hooks" && runs(one.now.as_ref()) && !runs(one.then.as_ref()) {
                    add(part, true, format!("{} may be run now", hook(&name)));
                }
                continue;
            }
            match part {
                "refs" => drop(loose.insert(name, (then, now))),
                "packed-refs" => packed = Some((then.unwrap_or_default(), now.unwrap_or_default())),
                "HEAD" => {
                    add(part, false, format!("what is checked out: {} instead of {}", head(now), head(then)));
                }
                "logs" => {
                    let reference = name.trim_start_matches("logs/").to_owned();
                    let (then, now) = (then.unwrap_or_default(), now.unwrap_or_default());
                    if reference != own && !now.starts_with(&then) {
                        let count = |text: &str| text.lines().count();
                        add(
                            part,
                            false,
                            match reference.as_str() {
                                "refs/stash" => format!(
                                    "the stash held {} entries and holds {}",
                                    count(&then),
                                    count(&now)
                                ),
                                _ => format!(
                                    "the reflog of {} had {} entries and has {}, not the same",
                                    named(&reference),
                                    count(&then),
                                    count(&now)
                                ),
                            },
                        );
                    }
                }
                "hooks" => {
                    let is_example = name.ends_with(".sample");
                    add(
                        part,
                        now.is_some() && !is_example,
                        format!("{} is {}", hook(&name), deed(then.as_ref(), now.as_ref())),
                    );
                }
                "config" | "config.worktree" => {
                    for (what, executes) in settings(&then.unwrap_or_default(), &now.unwrap_or_default()) {
                        add(part, executes, what);
                    }
                }
                _ => add(
                    part,
                    false,
                    format!("`{name}` of the repository is {}", deed(then.as_ref(), now.as_ref())),
                ),
            }
        }
        for (name, then, now) in references(common, &loose, packed.as_ref()) {
            if name != own {
                add("refs", false, moved(&name, then.as_deref(), now.as_deref()));
            }
        }
        changes
    }
}

/// References that differ, whether they stand in files of their own or in the list of all: name, then, now.
fn references(
    common: &Path,
    loose: &BTreeMap<String, (Option<String>, Option<String>)>,
    packed: Option<&(String, String)>,
) -> Vec<(String, Option<String>, Option<String>)> {
    let unchanged = || fs::read_to_string(common.join("packed-refs")).unwrap_or_default();
    let (then, now) = if let Some((then, now)) = packed {
        (listed(then), listed(now))
    } else {
        let list = listed(&unchanged());
        (list.clone(), list)
    };
    let names: BTreeSet<&String> = loose.keys().chain(then.keys()).chain(now.keys()).collect();
    let mut differing = Vec::new();
    for name in names {
        let (own_then, own_now) = loose.get(name).cloned().unwrap_or_else(|| {
            let own = fs::read_to_string(common.join(name)).ok();
            (own.clone(), own)
        });
        let value = |own: Option<String>, list: &BTreeMap<String, String>| {
            own.map(|text| text.trim().to_owned()).or_else(|| list.get(name).cloned())
        };
        let (was, is) = (value(own_then, &then), value(own_now, &now));
        if was != is {
            differing.push((name.clone(), was, is));
        }
    }
    differing
}

/// The references in `packed-refs`.
fn listed(text: &str) -> BTreeMap<String, String> {
    let rows = text.lines().filter(|line| !line.starts_with(['#', '^']));
    rows.filter_map(|line| line.split_once(' ')).map(|(id, name)| (name.to_owned(), id.to_owned())).collect()
}

fn moved(name: &str, then: Option<&str>, now: Option<&str>) -> String {
    let short = |id: &str| id.chars().take(if id.starts_with("ref:") { 80 } else { 10 }).collect::<String>();
    let name = named(name);
    match (then, now) {
        (Some(then), None) => format!("{name} is gone; it was at {}", short(then)),
        (None, Some(now)) => format!("{name} is new, at {}", short(now)),
        (then, now) => {
            format!(
                "{name} moved from {} to {}",
                short(then.unwrap_or_default()),
                short(now.unwrap_or_default())
            )
        }
    }
}

fn named(reference: &str) -> String {
    if let Some(name) = reference.strip_prefix("refs/heads/") {
        return format!("branch `{name}`");
    }
    match reference.strip_prefix("refs/tags/") {
        Some(name) => format!("tag `{name}`"),
        None if reference == "refs/stash" => "the stash".to_owned(),
        None => format!("`{reference}`"),
    }
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
    fn references_are_the_same_whether_packed_or_not() {
        let place = tempfile::tempdir().unwrap();
        let loose = |rows: &[(&str, Option<&str>, Option<&str>)]| {
            rows.iter()
                .map(|(name, then, now)| {
                    let text = |id: Option<&str>| id.map(|id| format!("{id}\n"));
                    ((*name).to_owned(), (text(*then), text(*now)))
                })
                .collect::<BTreeMap<_, _>>()
        };
        let packed =
            ("# pack-refs\na refs/tags/v1\n^b\n".to_owned(), "a refs/tags/v1\nc refs/heads/x\n".to_owned());
        let packing = loose(&[("refs/heads/x", Some("c"), None)]);
        assert_eq!(references(place.path(), &packing, Some(&packed)), []);
        let gone = loose(&[("refs/heads/y", Some("d"), None)]);
        assert_eq!(
            references(place.path(), &gone, None),
            [("refs/heads/y".to_owned(), Some("d".to_owned()), None)]
        );
        assert_eq!(moved("refs/heads/y", Some("d"), None), "branch `y` is gone; it was at d");
    }

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
