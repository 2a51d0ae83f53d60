//! What a run changed in a worktree of git, and bringing that back into the work tree that it came from.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::git::{Call, GitRepository};
use super::owner::{Owner, WorktreeKind};
use checkrein_supervise::runs::file::create_directory;
use checkrein_supervise::runs::{RunError, RunErrorKind};

/// The files that say what an agent may do: what a run changed in them does not come back unless a user wants it.
pub fn guard_files() -> impl Iterator<Item = &'static str> {
    std::iter::once("checkrein.yaml").chain(checkrein_clients::project_guard())
}

/// Whether changes of [`guard_files`] come back too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardFiles {
    /// They stay behind, which is said.
    StayBehind,
    /// A user wants them.
    ComeBack,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOperation {
    /// It is new.
    Added,
    /// It is another.
    Changed,
    /// It is gone.
    Removed,
}

impl FileOperation {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// One file that a run changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeChange {
    /// Where, from the root of the worktree.
    pub path: PathBuf,
    /// What was done to it.
    pub deed: FileOperation,
    /// How many lines are new and how many are gone; `None` where there are no lines.
    pub lines: Option<(u64, u64)>,
    /// Where it leads, when it is a link now.
    pub link: Option<PathBuf>,
}

/// Everything that a run changed: committed, not committed, new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// By path.
    pub files: Vec<WorktreeChange>,
    /// Other repositories inside, of which nothing is looked at.
    pub inner: Vec<PathBuf>,
    /// Directories and files that could not be read: what was in them counts as unchanged.
    pub unread: Vec<PathBuf>,
    base: String,
    now: String,
    objects: PathBuf,
}

/// What a merge would do.
#[derive(Debug)]
pub struct Merge {
    /// The files of the work tree that it changes, from its root.
    pub paths: Vec<PathBuf>,
    /// Guard files whose changes stay behind.
    pub left_behind: Vec<&'static str>,
    patch: Vec<u8>,
}

impl Changes {
    /// What differs in the worktree from what it began with. `record` is the folder with what is known of it.
    pub fn of(repository: &GitRepository, owner: &Owner, record: &Path) -> Result<Self, RunError> {
        let WorktreeKind::Git { commit, tree, .. } = &owner.kind else {
            return Err(RunError::asked(
                "the worktree is a copy, and there is a repository now",
                "move the repository away",
            ));
        };
        let objects = record.join("objects");
        create_directory(&objects)?;
        if repository.resolve(&format!("{commit}^{{commit}}"))?.is_none() {
            return Err(RunError::not_ours(format!(
                "the commit {commit}, from which the run began, is gone"
            )));
        }
        let standing = repository.standing(&owner.place, tree, &objects, record)?;
        let call = Call { objects: Some(&objects), ..Call::default() };
        let list = |form: &str| {
            let arguments = [
                "diff-tree",
                "-r",
                "-z",
                form,
                "--no-renames",
                "--ignore-submodules=all",
                "--no-ext-diff",
                "--no-textconv",
                tree,
                &standing.tree,
            ];
            repository.bytes(&arguments, &call)
        };
        let (deeds, counts) = (list("--raw")?, list("--numstat")?);
        let mut fields = deeds.split(|byte| *byte == 0);
        let mut files = Vec::new();
        while let (Some(facts), Some(path)) = (fields.next(), fields.next()) {
            let deed = match facts.last() {
                Some(b'A') => FileOperation::Added,
                Some(b'D') => FileOperation::Removed,
                _ => FileOperation::Changed,
            };
            let path = PathBuf::from(OsStr::from_bytes(path));
            let is_link = facts.split(|byte| *byte == b' ').nth(1) == Some(b"120000");
            let link = is_link.then(|| fs::read_link(owner.place.join(&path)).unwrap_or_default());
            files.push(WorktreeChange { path, deed, lines: None, link });
        }
        for row in counts.split(|byte| *byte == 0).filter(|row| !row.is_empty()) {
            let mut parts = row.splitn(3, |byte| *byte == b'\t');
            let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok();
            let lines = (number(), number());
            let Some(path) = parts.next() else { continue };
            if let Some(change) = files.iter_mut().find(|change| change.path.as_os_str().as_bytes() == path) {
                change.lines = lines.0.zip(lines.1);
            }
        }
        let unread = standing.unread.into_iter().collect();
        Ok(Self { files, inner: standing.inner, unread, base: tree.clone(), now: standing.tree, objects })
    }

    /// Whether a file that is in a commit of the branch is otherwise, or missing, in the worktree.
    pub fn differ_from_branch(&self, repository: &GitRepository, owner: &Owner) -> Result<bool, RunError> {
        let WorktreeKind::Git { branch, .. } = &owner.kind else { return Ok(true) };
        let call = Call { objects: Some(&self.objects), ..Call::default() };
        let tip = format!("refs/heads/{branch}^{{tree}}");
        let arguments =
            ["diff-tree", "-r", "--name-only", "--diff-filter=MDT", "--no-ext-diff", &tip, &self.now];
        Ok(!repository.bytes(&arguments, &call)?.is_empty())
    }

    /// The same as a patch.
    pub fn patch(&self, repository: &GitRepository) -> Result<Vec<u8>, RunError> {
        self.patch_with(repository, &[])
    }

    /// The same for somebody who has to see all of it: no attribute of the repository, and no byte in a file, makes git leave its content out.
    pub fn whole_patch(&self, repository: &GitRepository) -> Result<Vec<u8>, RunError> {
        self.patch_with(repository, &["--text"])
    }

    fn patch_with(&self, repository: &GitRepository, more: &[&str]) -> Result<Vec<u8>, RunError> {
        let call = Call { objects: Some(&self.objects), ..Call::default() };
        let mut arguments = vec![
            "diff-tree",
            "-r",
            "-p",
            "-M",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=all",
        ];
        arguments.extend(more);
        arguments.extend([self.base.as_str(), self.now.as_str()]);
        repository.bytes(&arguments, &call)
    }

    /// Brings both sides together, without touching either. Fails when both changed the same, and when what would be changed has
    /// changes of its own that are in no commit.
    pub fn merge(
        &self,
        repository: &GitRepository,
        record: &Path,
        guard_files: GuardFiles,
    ) -> Result<Merge, RunError> {
        let head = repository.head()?.ok_or_else(|| {
            RunError::asked(
                "the repository has no commit any more",
                "check out the branch that the changes are for",
            )
        })?;
        let mut left_behind = Vec::new();
        let mut theirs = self.now.clone();
        if guard_files == GuardFiles::StayBehind {
            left_behind.extend(
                self::guard_files().filter(|guard| self.files.iter().any(|one| one.path == Path::new(guard))),
            );
            theirs = repository.with_paths_of(&theirs, &self.base, &left_behind, &self.objects, record)?;
        }
        let ours = repository.standing(repository.work_tree(), &head, &self.objects, record)?.tree;
        let call = Call { objects: Some(&self.objects), ..Call::default() };
        let commit = |tree: &str| repository.text(&["commit-tree", tree, "-m", "a side of a merge"], &call);
        let base = format!("--merge-base={}", commit(&self.base)?);
        let sides = [commit(&ours)?, commit(&theirs)?];
        let arguments =
            ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", &base, &sides[0], &sides[1]];
        let output = repository.output(&arguments, &call)?;
        let mut fields = output.stdout.split(|byte| *byte == 0);
        let merged = fields.next().map(|tree| String::from_utf8_lossy(tree).into_owned()).unwrap_or_default();
        match output.status.code() {
            Some(0) => {}
            Some(1) => {
                let paths: Vec<Vec<u8>> =
                    fields.filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect();
                return Err(conflict("both the run and the work tree changed", &paths));
            }
            _ => {
                let words =
                    String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
                return Err(RunError::new(
                    RunErrorKind::Machine,
                    format!("`git merge-tree` failed: {}", words.escape_debug()),
                    "git 2.40 or later is needed for merging",
                ));
            }
        }
        let applied = repository.differing(&ours, &merged, &self.objects)?;
        let uncommitted = repository.differing(&format!("{head}^{{tree}}"), &ours, &self.objects)?;
        // What was carried over and is still so was known to the run.
        let unknown = repository.differing(&self.base, &ours, &self.objects)?;
        let overlap: Vec<Vec<u8>> = applied
            .iter()
            .filter(|path| uncommitted.contains(*path) && unknown.contains(*path))
            .cloned()
            .collect();
        if !overlap.is_empty() {
            return Err(conflict(
                "the run changed what has changes in the work tree that are not committed:",
                &overlap,
            ));
        }
        let arguments = [
            "diff-tree",
            "-r",
            "-p",
            "--binary",
            "--full-index",
            "--no-renames",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=all",
            &ours,
            &merged,
        ];
        let patch = repository.bytes(&arguments, &call)?;
        let merge = Merge {
            paths: applied.iter().map(|path| PathBuf::from(OsStr::from_bytes(path))).collect(),
            left_behind,
            patch,
        };
        merge.apply(repository, &["--check"])?;
        Ok(merge)
    }
}

impl Merge {
    /// Changes the work tree: all of it or nothing.
    pub fn carry_out(&self, repository: &GitRepository) -> Result<(), RunError> {
        self.apply(repository, &[])
    }

    fn apply(&self, repository: &GitRepository, options: &[&str]) -> Result<(), RunError> {
        if self.paths.is_empty() {
            return Ok(());
        }
        let arguments = [&["apply", "--whitespace=nowarn", "-p1"], options, &["-"]].concat();
        repository.bytes(&arguments, &Call { input: &self.patch, ..Call::default() }).map(drop).map_err(
            |error| {
                let message = format!("the changes do not fit the work tree: {}", error.message);
                RunError::new(
                    RunErrorKind::Conflict,
                    message,
                    "both sides are as they were; move away what is in the way and try again",
                )
            },
        )
    }
}

/// How many paths of a conflict are named.
const NAMED: usize = 8;

pub(crate) fn conflict(what: &str, paths: &[Vec<u8>]) -> RunError {
    let mut words: Vec<String> = paths
        .iter()
        .take(NAMED)
        .map(|path| format!("`{}`", String::from_utf8_lossy(path).escape_debug()))
        .collect();
    if paths.len() > NAMED {
        words.push(format!("and {} more", paths.len() - NAMED));
    }
    RunError::new(
        RunErrorKind::Conflict,
        format!("{what} {}", words.join(", ")),
        "both sides are as they were; commit or put away your side, or bring them together by hand",
    )
}
