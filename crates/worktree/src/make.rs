//! Making a worktree, or finding the one that was made before.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::carry::{Carried, carry, chosen};
use super::copy::Copies;
use super::git::{Call, GitRepository};
use super::name::WorktreeName;
use super::owner::{Owner, WorktreeKind, identity};
use super::plan::{Uncommitted, WorktreePlan};
use checkrein_supervise::runs::file::{create_directory, hexadecimal, read, replace};
use checkrein_supervise::runs::{RunError, RunErrorKind};

/// Where the worktrees of one work tree are, and what is known of them.
#[derive(Debug, Clone)]
pub struct WorktreeRegistry {
    records: PathBuf,
    worktrees: PathBuf,
}

impl WorktreeRegistry {
    /// For a work tree, by its real path; `state` is out of the agent's reach, `worktrees` is not.
    pub fn of(state: &Path, worktrees: &Path, workspace: &Path) -> Self {
        let bytes = workspace.as_os_str().as_encoded_bytes();
        let digest = Sha256::digest(bytes);
        let digits = hexadecimal(digest.get(..6).unwrap_or(&digest));
        let name = workspace.file_name().unwrap_or_default().to_string_lossy();
        let plain: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(40).collect();
        let folder = if plain.is_empty() { digits } else { format!("{plain}-{digits}") };
        Self { records: state.join("worktrees").join(&folder), worktrees: worktrees.join(folder) }
    }

    /// The folder with what is known of a worktree.
    pub fn record(&self, name: &WorktreeName) -> PathBuf {
        self.records.join(name.as_str())
    }

    /// Where a worktree is.
    pub fn place(&self, name: &WorktreeName) -> PathBuf {
        self.worktrees.join(name.as_str())
    }

    /// The names of all that there is a record of, sorted.
    pub fn names(&self) -> Vec<WorktreeName> {
        let entries = fs::read_dir(&self.records).into_iter().flatten().flatten();
        let mut names: Vec<WorktreeName> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        names.sort();
        names
    }
}

/// What a worktree is made from.
#[derive(Debug)]
pub enum WorktreeOrigin<'a> {
    /// A repository.
    Repository(&'a GitRepository),
    /// A folder that is none.
    Folder(&'a Copies<'a>),
}

/// A worktree that is there.
#[derive(Debug)]
pub struct Made {
    /// What is known of it.
    pub owner: Owner,
    /// What went along; `None` when it was there before.
    pub carried: Option<Carried>,
}

/// What is about to be made: when we are killed meanwhile, this says that what is there is ours.
#[derive(Debug, Serialize, Deserialize)]
struct Intent {
    place: PathBuf,
    branch: Option<(String, String)>,
}

const INTENT: &str = "making.json";

/// Makes a worktree, or finds the one of ours of this name. The caller holds its lock.
pub fn make(
    places: &WorktreeRegistry,
    plan: &WorktreePlan<'_>,
    origin: &WorktreeOrigin<'_>,
) -> Result<Made, RunError> {
    let (record, place) = (places.record(plan.name), places.place(plan.name));
    if let Some(owner) = Owner::load(&record)? {
        if owner.workspace != plan.workspace {
            return Err(RunError::not_ours(format!(
                "the worktree `{}` belongs to `{}`",
                plan.name,
                owner.workspace.display()
            )));
        }
        owner.prove()?;
        return Ok(Made { owner, carried: None });
    }
    create_directory(&record)?;
    clear_attempt(&record, origin)?;
    let above = place.parent().unwrap_or(&place);
    create_directory(above)?;
    let above = fs::canonicalize(above).map_err(RunError::file("find", above))?;
    let place = above.join(plan.name.as_str());
    if fs::symlink_metadata(&place).is_ok() {
        return Err(RunError::not_ours(format!(
            "`{}` is there already and was not made by a run",
            place.display()
        )));
    }
    match origin {
        WorktreeOrigin::Repository(repository) => of_repository(&record, place, plan, repository),
        WorktreeOrigin::Folder(copies) => of_folder(&record, place, plan, copies),
    }
}

fn of_repository(
    record: &Path,
    place: PathBuf,
    plan: &WorktreePlan<'_>,
    repository: &GitRepository,
) -> Result<Made, RunError> {
    let commit = repository.head()?.ok_or_else(|| {
        RunError::asked(
            "the repository has no commit yet, so there is nothing to begin from",
            "commit once: `git commit`",
        )
    })?;
    let branch = plan.name.branch();
    if repository.resolve(&format!("refs/heads/{branch}"))?.is_some() {
        return Err(RunError::not_ours(format!(
            "there is a branch `{branch}` already that was not made by a run"
        )));
    }
    intend(record, &Intent { place: place.clone(), branch: Some((branch.clone(), commit.clone())) })?;
    let shown = place.to_str().ok_or_else(|| {
        RunError::asked("the place of worktrees has no plain name", "choose another: `CHECKREIN_WORKTREES`")
    })?;
    repository.bytes(
        &["worktree", "add", "--quiet", "--no-track", "-b", &branch, "--", shown, &commit],
        &Call::default(),
    )?;
    let facts = fs::symlink_metadata(&place).map_err(RunError::file("find", &place))?;
    let administration = administration_of(repository, &place)?;
    let carried = carry_over(repository, plan, &place)?;
    let objects = record.join("objects");
    create_directory(&objects)?;
    let tree = if carried.files.is_empty() {
        repository.resolve(&format!("{commit}^{{tree}}"))?.unwrap_or_default()
    } else {
        repository.standing(&place, &commit, &objects, record)?.tree
    };
    let kind = WorktreeKind::Git {
        repository: repository.common().to_owned(),
        administration,
        commit,
        tree,
        branch,
    };
    finish(record, plan, place, &facts, kind, carried)
}

fn of_folder(
    record: &Path,
    place: PathBuf,
    plan: &WorktreePlan<'_>,
    copies: &Copies<'_>,
) -> Result<Made, RunError> {
    intend(record, &Intent { place: place.clone(), branch: None })?;
    let (base, carried) = copies.copy_to(&place, plan)?;
    let facts = fs::symlink_metadata(&place).map_err(RunError::file("find", &place))?;
    finish(record, plan, place, &facts, WorktreeKind::Copy { base }, carried)
}

fn finish(
    record: &Path,
    plan: &WorktreePlan<'_>,
    place: PathBuf,
    facts: &fs::Metadata,
    kind: WorktreeKind,
    carried: Carried,
) -> Result<Made, RunError> {
    let owner = Owner {
        version: Owner::VERSION,
        name: plan.name.clone(),
        run: plan.run.clone(),
        workspace: plan.workspace.to_owned(),
        place,
        folder: identity(facts),
        created: plan.now,
        kind,
    };
    owner.save(record)?;
    drop(fs::remove_file(record.join(INTENT)));
    Ok(Made { owner, carried: Some(carried) })
}

/// Where git keeps what it knows of a worktree that was made a moment ago.
fn administration_of(repository: &GitRepository, place: &Path) -> Result<PathBuf, RunError> {
    let odd = || {
        RunError::new(
            RunErrorKind::Machine,
            "git made a worktree of a form that is not known",
            "check its version",
        )
    };
    let text = read(&place.join(".git"))?.ok_or_else(odd)?;
    let text = String::from_utf8(text).map_err(|_| odd())?;
    let path = PathBuf::from(text.trim_end_matches('\n').strip_prefix("gitdir: ").ok_or_else(odd)?);
    let name = path.file_name().ok_or_else(odd)?;
    // By the real name of the repository, so that it can be compared later.
    Ok(repository.common().join("worktrees").join(name))
}

fn carry_over(
    repository: &GitRepository,
    plan: &WorktreePlan<'_>,
    place: &Path,
) -> Result<Carried, RunError> {
    let list = |arguments: &[&str]| -> Result<Vec<Vec<u8>>, RunError> {
        let names = repository.bytes(arguments, &Call::default())?;
        let is_file = |name: &&[u8]| !name.is_empty() && !name.ends_with(b"/");
        Ok(names.split(|byte| *byte == 0).filter(is_file).map(<[u8]>::to_vec).collect())
    };
    let mut carried = Carried::default();
    let mut paths: Vec<Vec<u8>> = Vec::new();
    for needed in plan.always {
        let is_there =
            |folder: &Path| fs::symlink_metadata(folder.join(needed)).is_ok_and(|facts| facts.is_file());
        if is_there(plan.workspace) && !is_there(place) {
            paths.push(needed.as_bytes().to_vec());
        }
    }
    if !plan.carry.is_empty() {
        let (some, secrets) = chosen(&list(&["ls-files", "-z", "--others"])?, plan.carry);
        paths.extend(some);
        carried.secrets.extend(secrets.iter().map(|path| path_of(path)));
    }
    if plan.changes == Uncommitted::GoesAlong {
        let diff =
            ["diff-index", "-z", "--name-only", "--no-renames", "--ignore-submodules=all", "HEAD", "--"];
        paths.extend(list(&diff)?);
        let new = list(&["ls-files", "-z", "--others", "--exclude-standard"])?;
        let (some, secrets) = chosen(&new, &["**".to_owned()]);
        paths.extend(some);
        carried.secrets.extend(secrets.iter().map(|path| path_of(path)).filter(|path| !is_in(&paths, path)));
    }
    paths.sort();
    paths.dedup();
    carried.secrets.sort();
    carried.secrets.dedup();
    carried.files = carry(plan.workspace, place, &paths)?;
    Ok(carried)
}

fn is_in(paths: &[Vec<u8>], path: &Path) -> bool {
    paths.iter().any(|known| known == path.as_os_str().as_encoded_bytes())
}

fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

fn intend(record: &Path, intent: &Intent) -> Result<(), RunError> {
    let bytes = serde_json::to_vec(intent).map_err(|error| {
        RunError::new(RunErrorKind::Damaged, error.to_string(), "report this as a defect")
    })?;
    replace(&record.join(INTENT), &bytes)
}

/// Takes away what `git` had written about a worktree when it was killed before it was done: it cannot read that itself, and then lists no
/// worktree at all. Only what says that it is about this place, or says nothing yet under its name, is taken.
fn clear_half_made(repository: &GitRepository, place: &Path) {
    let link = place.join(".git");
    for entry in fs::read_dir(repository.common().join("worktrees")).into_iter().flatten().flatten() {
        let folder = entry.path();
        let said = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
        let about = said("gitdir");
        let is_ours = Path::new(about.trim_end()) == link
            || about.is_empty() && place.file_name() == Some(&entry.file_name());
        let is_half_made = said("commondir").is_empty() || about.is_empty();
        if is_ours && is_half_made && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            drop(fs::remove_dir_all(&folder));
        }
    }
}

/// Takes away what was begun by somebody who was killed: no agent has ever been in there, so nothing in it is anybody's work.
fn clear_attempt(record: &Path, origin: &WorktreeOrigin<'_>) -> Result<(), RunError> {
    let path = record.join(INTENT);
    let Some(bytes) = read(&path)? else { return Ok(()) };
    if let Ok(intent) = serde_json::from_slice::<Intent>(&bytes) {
        if fs::symlink_metadata(&intent.place).is_ok_and(|facts| facts.is_dir()) {
            fs::remove_dir_all(&intent.place).map_err(RunError::file("remove", &intent.place))?;
        }
        if let (WorktreeOrigin::Repository(repository), Some((branch, commit)), Some(place)) =
            (origin, &intent.branch, intent.place.to_str())
        {
            clear_half_made(repository, &intent.place);
            // Either may never have been made.
            let call = Call::default();
            // Git locks what it has not finished.
            repository.output(&["worktree", "unlock", "--", place], &call)?;
            repository.output(&["worktree", "remove", "--", place], &call)?;
            repository.output(&["update-ref", "-d", &format!("refs/heads/{branch}"), commit], &call)?;
        }
        if matches!(origin, WorktreeOrigin::Folder(_)) {
            Copies::clear(&intent.place);
        }
    }
    fs::remove_file(&path).map_err(RunError::file("remove", &path))
}
