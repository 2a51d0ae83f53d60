//! Worktrees where there is no repository: copies, with a snapshot of what they began as.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use checkrein_snapshot::{
    CaptureBounds, CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Circumstances,
    Difference, Effort, LimitExceeded, Node, Pin, SessionPlace, SnapshotId, SnapshotReason, Store, capture,
};

use super::carry::{Carried, carry, chosen, copy_one, is_secret, make_way};
use super::change::{FileOperation, GuardFiles, WorktreeChange, conflict};
use super::owner::{Owner, WorktreeKind};
use super::plan::WorktreePlan;
use checkrein_supervise::runs::{RunError, RunErrorKind};

/// What it takes to copy a folder.
#[derive(Debug)]
pub struct Copies<'a> {
    /// The snapshots of the folder.
    pub store: &'a Store,
    /// How the folder is captured, but for the bounds.
    pub manner: &'a CaptureOptions<'a>,
    /// The same for the copy, whose rules of what is ignored are its own.
    pub copied: &'a CaptureOptions<'a>,
}

/// What a merge of a copy would do.
#[derive(Debug)]
pub struct CopyMerge {
    /// What is changed, from the root of the folder: a directory before what is in it.
    pub paths: Vec<PathBuf>,
    /// Guard files whose changes stay behind.
    pub left_behind: Vec<&'static str>,
    changes: Vec<Difference>,
    place: PathBuf,
}

/// How much is copied (ours).
const MOST: (u64, u64) = (250_000, 4 << 30);

impl Copies<'_> {
    /// Copies the folder to a place that is not there yet: what is not ignored and no secret, and what is chosen. Returns the number of
    /// the snapshot of the copy.
    pub(crate) fn copy_to(&self, place: &Path, plan: &WorktreePlan<'_>) -> Result<(u64, Carried), RunError> {
        let reason = |what: &str| format!("{what} the copy `{}`", plan.name);
        let taken = self.take(plan.workspace, self.manner, plan.now, reason("before making"))?;
        let aside = aside(place);
        Self::clear(place);
        let copied = self.store.export(taken, &aside).map_err(machine)?;
        // Who works in the copy needs what is in the files; whose they are is said.
        let (undressed, missing): (Vec<_>, Vec<_>) =
            copied.left.into_iter().partition(|(_, why)| why.contains(" not put back: "));
        if let Some((path, why)) = missing.first() {
            Self::clear(place);
            return Err(RunError::new(
                RunErrorKind::Machine,
                format!("`{}` cannot be copied: {why}", path.as_path().display()),
                "move it away, or work in the folder itself",
            ));
        }
        let below = plan.workspace.strip_prefix("/").unwrap_or(plan.workspace);
        let inner = aside.join(below);
        fs::rename(&inner, place).map_err(RunError::file("move", place))?;
        Self::clear(place);
        let mut carried = choose(plan, place)?;
        let within = |path: &Path| path.strip_prefix(&inner).map_or_else(|_| path.to_owned(), Path::to_owned);
        carried.undressed = undressed.into_iter().map(|(path, why)| (within(path.as_path()), why)).collect();
        let base = self.take(place, self.copied, plan.now, reason("as it began:"))?;
        self.store.pin(base, Pin::Pinned).map_err(machine)?;
        Ok((base.0, carried))
    }

    /// Takes away what a copy leaves when it is cut off.
    pub(crate) fn clear(place: &Path) {
        drop(fs::remove_dir_all(aside(place)));
    }

    fn take(
        &self,
        folder: &Path,
        manner: &CaptureOptions<'_>,
        now: u64,
        reason: String,
    ) -> Result<SnapshotId, RunError> {
        let draft = self.store.begin(Effort::Small).map_err(machine)?;
        let wanted = [CaptureRequest { path: folder.to_owned(), selection: CaptureSelection::NotIgnored }];
        let captured = match capture(&draft, &wanted, &bounded(manner)).map_err(machine)? {
            CaptureOutcome::Whole(captured) => captured,
            CaptureOutcome::Over(over) => return Err(too_large(folder, over)),
        };
        let circumstances = Circumstances { at: now, occasion: SnapshotReason::Request, reason, place: None };
        draft.commit(&captured.described(circumstances)).map_err(machine)
    }

    /// What differs in the copy from what it began as, and the lines of text that do.
    pub fn changes(&self, owner: &Owner) -> Result<(Vec<WorktreeChange>, String), RunError> {
        let compared = self.compare(owner)?;
        let mut changes = Vec::new();
        let mut patch = String::new();
        for one in compared.differences.iter().filter(|one| is_another(one)) {
            let place = below(owner, one);
            let deed = match (&one.then, &one.now) {
                (None, _) => FileOperation::Added,
                (_, None) => FileOperation::Removed,
                (Some(_), Some(_)) => FileOperation::Changed,
            };
            let text = |node: Option<&Node>| match node {
                Some(Node::File { content, length, .. }) if *length <= LONGEST => compared.text(content).ok(),
                Some(_) => None,
                None => Some(String::new()),
            };
            let texts = text(one.then.as_ref()).zip(text(one.now.as_ref()));
            let texts = texts.filter(|(then, now)| !then.contains('\0') && !now.contains('\0'));
            let lines = texts.map(|(then, now)| {
                let diff = similar::TextDiff::from_lines(&then, &now);
                let mut counts = (0, 0);
                for change in diff.iter_all_changes() {
                    match change.tag() {
                        similar::ChangeTag::Insert => counts.0 += 1,
                        similar::ChangeTag::Delete => counts.1 += 1,
                        similar::ChangeTag::Equal => {}
                    }
                }
                let shown = place.display().to_string();
                let mut unified = diff.unified_diff();
                patch += &unified
                    .context_radius(3)
                    .header(&format!("a/{shown}"), &format!("b/{shown}"))
                    .to_string();
                counts
            });
            let link = match &one.now {
                Some(Node::Symlink { target, .. }) => Some(PathBuf::from(OsStr::from_bytes(target))),
                Some(Node::File { .. } | Node::Directory { .. } | Node::Pipe { .. }) | None => None,
            };
            changes.push(WorktreeChange { path: place, deed, lines, link });
        }
        Ok((changes, patch))
    }

    fn compare(&self, owner: &Owner) -> Result<checkrein_snapshot::Compared, RunError> {
        let WorktreeKind::Copy { base } = owner.kind else {
            return Err(RunError::not_ours("the worktree was made by git, and the repository is gone"));
        };
        self.store.compare(SnapshotId(base), None, &bounded(self.copied)).map_err(machine)
    }

    /// Brings both sides together without touching either, but saves what the folder holds where it would be changed. Fails when both
    /// changed the same.
    pub fn merge(
        &self,
        owner: &Owner,
        guard_files: GuardFiles,
        now: u64,
        place: SessionPlace,
    ) -> Result<(CopyMerge, Option<SnapshotId>), RunError> {
        let compared = self.compare(owner)?;
        let mut changes: Vec<Difference> =
            compared.differences.iter().filter(|one| is_another(one)).cloned().collect();
        drop(compared);
        let mut left_behind = Vec::new();
        if guard_files == GuardFiles::StayBehind {
            left_behind.extend(
                super::change::guard_files()
                    .filter(|guard| changes.iter().any(|one| below(owner, one) == Path::new(guard))),
            );
            changes.retain(|one| !left_behind.iter().any(|guard| below(owner, one) == Path::new(guard)));
        }
        let targets: Vec<PathBuf> =
            changes.iter().map(|one| owner.workspace.join(below(owner, one))).collect();
        let draft = self.store.begin(Effort::Small).map_err(machine)?;
        let wanted: Vec<CaptureRequest> = targets
            .iter()
            .map(|path| CaptureRequest { path: path.clone(), selection: CaptureSelection::Itself })
            .collect();
        let captured = match capture(&draft, &wanted, &bounded(self.manner)).map_err(machine)? {
            CaptureOutcome::Whole(captured) => captured,
            CaptureOutcome::Over(over) => return Err(too_large(&owner.workspace, over)),
        };
        let there: BTreeMap<&Path, Option<&Node>> =
            captured.roots.iter().map(|root| (root.path.as_path(), root.node.as_ref())).collect();
        let mut both = Vec::new();
        changes.retain(|one| {
            let path = below(owner, one);
            let ours = there.get(owner.workspace.join(&path).as_path()).copied().flatten();
            if is_like(ours, one.now.as_ref()) {
                return false;
            }
            if !is_like(ours, one.then.as_ref()) {
                both.push(path.as_os_str().as_bytes().to_vec());
            }
            true
        });
        if !both.is_empty() {
            return Err(conflict("both the run and the folder changed", &both));
        }
        let paths: Vec<PathBuf> = changes.iter().map(|one| below(owner, one)).collect();
        for (path, one) in paths.iter().zip(&changes) {
            if one.now.is_some() {
                make_way_is_clear(&owner.workspace, path, &paths)?;
            }
        }
        let saved = if changes.is_empty() {
            None
        } else {
            let reason = format!("merging the worktree `{}`", owner.name);
            let circumstances =
                Circumstances { at: now, occasion: SnapshotReason::BeforeAction, reason, place: Some(place) };
            Some(draft.commit(&captured.described(circumstances)).map_err(machine)?)
        };
        Ok((CopyMerge { paths, left_behind, changes, place: owner.place.clone() }, saved))
    }
}

impl CopyMerge {
    /// Changes the folder.
    pub fn carry_out(&self, workspace: &Path) -> Result<(), RunError> {
        // What is gone first and from within, so that something else can stand where a directory was.
        for (path, one) in self.paths.iter().zip(&self.changes).rev() {
            let was_directory = matches!(one.then, Some(Node::Directory { .. }));
            let is_directory = matches!(one.now, Some(Node::Directory { .. }));
            let target = workspace.join(path);
            if was_directory && !is_directory {
                // Something of the user's may be in there: then it stays.
                drop(fs::remove_dir(&target));
            } else if one.then.is_some() && (one.now.is_none() || is_directory) {
                fs::remove_file(&target).map_err(RunError::file("remove", &target))?;
            }
        }
        for (path, one) in self.paths.iter().zip(&self.changes) {
            match &one.now {
                Some(Node::Directory { .. }) => make_way(workspace, &path.join("inside"))?,
                Some(Node::File { .. } | Node::Symlink { .. }) => {
                    copy_one(&self.place, workspace, path)?;
                }
                // A pipe is for the processes that use it, not work.
                Some(Node::Pipe { .. }) | None => {}
            }
        }
        Ok(())
    }
}

fn bounded<'a>(manner: &CaptureOptions<'a>) -> CaptureOptions<'a> {
    let bounds = CaptureBounds { entries: MOST.0, bytes: MOST.1, ..CaptureBounds::NONE };
    CaptureOptions { bounds, seen: None, ..*manner }
}

/// The longest text of which lines are compared, in bytes (ours).
const LONGEST: u64 = 1 << 20;

/// Whether something differs that is content, and not only its time or its owner.
fn is_another(one: &Difference) -> bool {
    !is_like(one.then.as_ref(), one.now.as_ref())
}

fn is_like(one: Option<&Node>, other: Option<&Node>) -> bool {
    match (one, other) {
        (None, None)
        | (Some(Node::Directory { .. }), Some(Node::Directory { .. }))
        | (Some(Node::Pipe { .. }), Some(Node::Pipe { .. })) => true,
        (Some(Node::File { content, meta, .. }), Some(Node::File { content: other, meta: facts, .. })) => {
            content == other && meta.mode & 0o111 == facts.mode & 0o111
        }
        (Some(Node::Symlink { target, .. }), Some(Node::Symlink { target: other, .. })) => target == other,
        _ => false,
    }
}

/// Takes secrets that nobody named out of a copy, and takes along what is chosen of what is ignored.
fn choose(plan: &WorktreePlan<'_>, place: &Path) -> Result<Carried, RunError> {
    let (wanted, _) = chosen(&files(plan.workspace), plan.carry);
    let mut carried = Carried::default();
    for path in files(place).into_iter().filter(|path| is_secret(path) && !wanted.contains(path)) {
        let path = PathBuf::from(OsStr::from_bytes(&path));
        let copied = place.join(&path);
        fs::remove_file(&copied).map_err(RunError::file("remove", &copied))?;
        carried.secrets.push(path);
    }
    let is_missing = |path: &Vec<u8>| fs::symlink_metadata(place.join(OsStr::from_bytes(path))).is_err();
    let missing: Vec<Vec<u8>> = wanted.into_iter().filter(is_missing).collect();
    carried.files = carry(plan.workspace, place, &missing)?;
    Ok(carried)
}

/// The files and links below a folder, sorted; no link is followed.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                waiting.push(path);
            } else if let Ok(below) = path.strip_prefix(folder) {
                found.push(below.as_os_str().as_bytes().to_vec());
            }
        }
    }
    found.sort();
    found
}

/// Fails when something that is no directory stands above a path, unless it goes itself.
fn make_way_is_clear(folder: &Path, path: &Path, going: &[PathBuf]) -> Result<(), RunError> {
    for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
        let is_odd = fs::symlink_metadata(folder.join(above)).is_ok_and(|facts| !facts.is_dir());
        if is_odd && !going.iter().any(|one| one == above) {
            return Err(conflict("no folder stands above", &[path.as_os_str().as_bytes().to_vec()]));
        }
    }
    Ok(())
}

fn below(owner: &Owner, one: &Difference) -> PathBuf {
    one.path.as_path().strip_prefix(&owner.place).unwrap_or(one.path.as_path()).to_owned()
}

fn aside(place: &Path) -> PathBuf {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    place.with_file_name(format!(".{name}.copy"))
}

fn too_large(folder: &Path, over: LimitExceeded) -> RunError {
    let what = match over {
        LimitExceeded::Entries => format!("it has more than {} files", MOST.0),
        LimitExceeded::Bytes => format!("it holds more than {} GB", MOST.1 >> 30),
        LimitExceeded::Time => "it takes too long".to_owned(),
    };
    RunError::asked(
        format!("`{}` is too large to be copied: {what}", folder.display()),
        "make it a git repository, or let `.gitignore` name what need not go along",
    )
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn machine(error: checkrein_snapshot::SnapshotError) -> RunError {
    RunError::new(RunErrorKind::Machine, error.to_string(), error.hint())
}
