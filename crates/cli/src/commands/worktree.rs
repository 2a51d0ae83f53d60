//! `checkrein worktree`: what runs changed in worktrees of their own, and what becomes of it.

mod clean;
mod cut_off;
mod merge;
mod removal;
mod shared;

use std::fs;
use std::path::{Path, PathBuf};

use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::{CaptureOptions, Ignored};
use checkrein_supervise::runs::{Insistence, Lock, RunStage};
use checkrein_worktree::{
    Changes, Copies, FileOperation, GitEnvironment, GitRepository, MergeProgress, Merging, Owner,
    SharedChange, WorktreeChange, WorktreeKind, WorktreeName, WorktreeOrigin, WorktreeRegistry,
};
use checkrein_world::find_workspace;

#[cfg(target_os = "linux")]
pub(super) use clean::clean_up;
pub use clean::{Cleaning, clean};
use cut_off::take_back;
pub use merge::{Afterwards, merge};
use removal::take_away;
#[cfg(target_os = "linux")]
pub(super) use shared::{changes_since, note};
use shared::{described_changes, show_changes, watch};

use super::restore::{RestoreConsent, RestoreContext, Unfinished};
use super::{ExitStatus, OutputForm, Switch, for_people_only, unconfirmed};
use crate::api;
use crate::render::time;
use crate::terminal::{Reply, bold, confirm, counted, dim, log, plain, print, print_exact, table};
use checkrein_engine::checkpoint;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// The longest patch that is shown, in bytes (ours); `git diff` in the worktree shows more.
const LONGEST: usize = 4 << 20;

/// How many changed files are listed in text (ours); `--json` lists all.
const LISTED: usize = 200;

/// A work tree and its worktrees.
pub struct Site {
    /// The work tree, by its real path.
    pub workspace: PathBuf,
    /// Where its worktrees are.
    pub places: WorktreeRegistry,
    repository: Option<GitRepository>,
}

/// The variables that `git` is given: where things are, never how it works.
const FOR_GIT: [&str; 10] = [
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "SSL_CERT_FILE",
];

/// The workspace around the working directory, by its real path.
pub(super) fn workspace(environment: &HostEnvironment) -> Result<PathBuf, CommandError> {
    let found = find_workspace(&environment.cwd);
    fs::canonicalize(found.as_str()).map_err(|error| CommandError::file("find", &found, &error))
}

/// The repository whose work tree has its root at a workspace; `None` when there is none.
pub(super) fn repository(
    environment: &HostEnvironment,
    workspace: &Path,
) -> Result<Option<GitRepository>, CommandError> {
    let variables = FOR_GIT
        .iter()
        .filter_map(|name| environment.variables.get(*name).map(|value| ((*name).into(), value.into())));
    Ok(GitRepository::at(workspace, &GitEnvironment(variables.collect()))?)
}

/// Where the worktrees of a workspace are: `$CHECKREIN_WORKTREES`, else `$XDG_DATA_HOME/checkrein/worktrees`, else
/// `~/.local/share/checkrein/worktrees`. Not in the state directory: there an agent must not write, and here it has to.
pub(super) fn places(
    environment: &HostEnvironment,
    workspace: &Path,
) -> Result<WorktreeRegistry, CommandError> {
    let variable = |name: &str| environment.variables.get(name).and_then(|text| AbsolutePath::new(text));
    let root = variable("CHECKREIN_WORKTREES").unwrap_or_else(|| {
        let data = variable("XDG_DATA_HOME").unwrap_or_else(|| environment.home.join(".local/share"));
        data.join("checkrein/worktrees")
    });
    let is_guarded =
        [&environment.state_path, &environment.configuration].iter().any(|own| root.is_within(own));
    if is_guarded {
        return Err(CommandError::user(
            format!("worktrees cannot be among the files of checkrein itself: `{root}`"),
            "choose another place: `CHECKREIN_WORKTREES`",
        ));
    }
    if Path::new(root.as_str()).starts_with(workspace) {
        let workspace = plain(&workspace.to_string_lossy());
        return Err(CommandError::user(
            format!("`{workspace}` has no worktrees: the folder of all worktrees, `{root}`, lies in it"),
            "go into a project, or choose another folder: `CHECKREIN_WORKTREES`",
        ));
    }
    Ok(WorktreeRegistry::of(environment.state.root(), Path::new(root.as_str()), workspace))
}

impl Site {
    /// The work tree around the working directory.
    pub fn open(environment: &HostEnvironment) -> Result<Self, CommandError> {
        let workspace = workspace(environment)?;
        let places = places(environment, &workspace)?;
        let repository = repository(environment, &workspace)?;
        Ok(Self { workspace, places, repository })
    }

    /// What the repository's own configuration would run and is not run, in words.
    pub fn disabled(&self) -> Option<String> {
        let disabled = self.repository.as_ref()?.disabled();
        (!disabled.is_empty()).then(|| disabled.join(", "))
    }

    /// Hands over what a worktree of this name is made from.
    pub fn with_origin<T>(
        &self,
        environment: &HostEnvironment,
        name: &WorktreeName,
        work: impl FnOnce(&WorktreeOrigin<'_>) -> T,
    ) -> Result<T, CommandError> {
        match &self.repository {
            Some(repository) => Ok(work(&WorktreeOrigin::Repository(repository))),
            None => with_copies(environment, &self.places.place(name), |copies| {
                work(&WorktreeOrigin::Folder(copies))
            }),
        }
    }
}

fn with_copies<T>(
    environment: &HostEnvironment,
    place: &Path,
    work: impl FnOnce(&Copies<'_>) -> T,
) -> Result<T, CommandError> {
    let ground = RestoreContext::open(environment, Unfinished::Finish)?;
    let named = place.to_str().and_then(AbsolutePath::new).ok_or_else(|| {
        CommandError::user(
            "the place of worktrees has no plain name",
            "choose another: `CHECKREIN_WORKTREES`",
        )
    })?;
    // What goes into a copy and comes back from it is what version control would hold.
    let ignoring = checkpoint::ignoring(environment, &named).with_ignored(Ignored::LeftOut);
    let manner = ground.manner();
    let copied = CaptureOptions { ignoring: Some(&ignoring), ..ground.manner() };
    Ok(work(&Copies { store: &ground.store, manner: &manner, copied: &copied }))
}

/// A worktree of ours, as it is recorded.
struct Known {
    site: Site,
    name: WorktreeName,
    record: PathBuf,
    owner: Owner,
}

impl Known {
    fn find(environment: &HostEnvironment, name: &str) -> Result<Self, CommandError> {
        let site = Site::open(environment)?;
        let name: WorktreeName = name.parse()?;
        let record = site.places.record(&name);
        let owner =
            Owner::load(&record)?.filter(|owner| owner.workspace == site.workspace && owner.name == name);
        let Some(owner) = owner else {
            return Err(CommandError::user(
                format!(
                    "there is no worktree `{name}` of `{}` that a run made",
                    plain(&site.workspace.to_string_lossy())
                ),
                "`checkrein worktree list` lists them; give the command in the project, not in the worktree",
            ));
        };
        Ok(Self { site, name, record, owner })
    }

    /// Nobody works in it until what is returned goes.
    fn lock(&self) -> Result<Lock, CommandError> {
        let what = format!("the worktree `{}`", self.name);
        Ok(Lock::take(&Lock::path(&self.record), &what, Insistence::Respect)?.lock)
    }

    fn repository(&self) -> Result<Option<&GitRepository>, CommandError> {
        let is_same = |repository: &GitRepository| match &self.owner.kind {
            WorktreeKind::Git { repository: known, .. } => known == repository.common(),
            WorktreeKind::Copy { .. } => false,
        };
        match (&self.site.repository, &self.owner.kind) {
            (Some(repository), WorktreeKind::Git { .. }) if is_same(repository) => Ok(Some(repository)),
            (_, WorktreeKind::Copy { .. }) => Ok(None),
            _ => Err(CommandError::user(
                format!(
                    "the repository from which the worktree `{}` was made is not here any more",
                    self.name
                ),
                "nothing was touched; look at both yourself",
            )),
        }
    }

    /// What runs changed in what all work trees share.
    fn shared(&self, environment: &HostEnvironment) -> Result<Shared, CommandError> {
        let Some(repository) = self.repository()? else { return Ok(Shared::default()) };
        watch(environment, repository, &self.owner, &self.record, |watched| {
            let changes = watched.changes()?;
            let mut befores: Vec<u64> = changes.iter().map(|change| change.before).collect();
            befores.dedup();
            let commands =
                befores.into_iter().flat_map(|before| watched.commands(&changes, before)).collect();
            Ok(Shared { changes, commands })
        })
    }

    /// What the run changed.
    fn changes(&self, environment: &HostEnvironment) -> Result<Found, CommandError> {
        self.owner.prove()?;
        if let Some(repository) = self.repository()? {
            let changes = Changes::of(repository, &self.owner, &self.record)?;
            let patch = String::from_utf8_lossy(&changes.patch(repository)?).into_owned();
            return Ok(Found { files: changes.files.clone(), patch, tree: Some(changes) });
        }
        let (files, patch) =
            with_copies(environment, &self.owner.place, |copies| copies.changes(&self.owner))??;
        Ok(Found { files, patch, tree: None })
    }
}

/// What runs changed in what all work trees share, and the commands that take it back.
#[derive(Default)]
struct Shared {
    changes: Vec<SharedChange>,
    commands: Vec<String>,
}

/// What a run changed.
struct Found {
    files: Vec<WorktreeChange>,
    patch: String,
    tree: Option<Changes>,
}

/// Lists the worktrees of this project.
pub fn list(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let site = Site::open(environment)?;
    let mut rows = Vec::new();
    for name in site.places.names() {
        let record = site.places.record(&name);
        let owner = match Owner::load(&record) {
            Ok(Some(owner)) => owner,
            Ok(None) => continue,
            Err(error) => {
                log(&format!("{name}: {error}"));
                continue;
            }
        };
        let state = match (Lock::held(&Lock::path(&record)), owner.prove()) {
            (Some(holder), _) => format!("in use by {holder}"),
            (None, Ok(())) => match Merging::load(&record).ok().flatten().map(|merging| merging.progress) {
                Some(MergeProgress::Begun) => {
                    "a merge of it was cut off; `checkrein worktree merge` again brings that to an end"
                        .to_owned()
                }
                Some(MergeProgress::Done) => {
                    format!(
                        "merged, and could not be removed; `checkrein worktree discard {name}` removes it"
                    )
                }
                None => "waits".to_owned(),
            },
            (None, Err(error)) => error.to_string(),
        };
        let branch = match &owner.kind {
            WorktreeKind::Git { branch, .. } => Some(branch.clone()),
            WorktreeKind::Copy { .. } => None,
        };
        match output {
            OutputForm::Json => print_exact(&api::line(&api::saved::Worktree {
                name: name.as_str().to_owned(),
                run: api::recorded(&owner.run),
                created: owner.created.into(),
                branch,
                path: owner.place.to_string_lossy().into_owned(),
                state,
            })?),
            OutputForm::Text => rows.push(vec![
                name.to_string(),
                time(owner.created),
                branch.unwrap_or_else(|| "a copy".to_owned()),
                plain(&state),
                owner.run.to_string(),
            ]),
        }
    }
    match (output, rows.is_empty()) {
        (OutputForm::Json, _) => {}
        (OutputForm::Text, true) => print("no run has a worktree of this project"),
        (OutputForm::Text, false) => print(&table(&["name", "made", "branch", "state", "run"], rows)),
    }
    Ok(ExitStatus::Done)
}

/// Shows everything that a run changed in its worktree: which files first, then the lines unless only `stat` is wanted.
pub fn diff(
    environment: &HostEnvironment,
    name: &str,
    stat: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let known = Known::find(environment, name)?;
    let found = known.changes(environment)?;
    let shared = known.shared(environment)?;
    match output {
        OutputForm::Json => print_exact(&api::pretty(&described(&known.name, &found, &shared))?),
        OutputForm::Text => {
            show(&found);
            show_changes(&shared);
            if stat == Switch::Off && !found.files.is_empty() {
                print("");
                show_patch(&found.patch);
            }
        }
    }
    Ok(ExitStatus::Done)
}

fn described(name: &WorktreeName, found: &Found, shared: &Shared) -> api::saved::WorktreeDiff {
    let file = |change: &WorktreeChange| api::saved::ChangedFile {
        path: change.path.to_string_lossy().into_owned(),
        change: change.deed.name().to_owned(),
        added: change.lines.map(|lines| lines.0),
        removed: change.lines.map(|lines| lines.1),
        link: change.link.as_ref().map(|link| link.to_string_lossy().into_owned()),
    };
    api::saved::WorktreeDiff {
        name: name.as_str().to_owned(),
        files: found.files.iter().map(file).collect(),
        unread: api::recorded(&found.tree.as_ref().map(|tree| &tree.unread)),
        repository: described_changes(shared),
        patch: api::recorded(&found.patch),
    }
}

fn show(found: &Found) {
    if found.files.is_empty() {
        print("nothing is changed");
        return;
    }
    let (mut added, mut removed) = (0, 0);
    for change in &found.files {
        added += change.lines.map_or(0, |lines| lines.0);
        removed += change.lines.map_or(0, |lines| lines.1);
    }
    for change in found.files.iter().take(LISTED) {
        let lines = match change.lines {
            Some((added, removed)) => format!("  +{added} -{removed}"),
            None => "  no text".to_owned(),
        };
        let path = plain(&change.path.to_string_lossy().replace('\n', "\\n"));
        let link = change.link.as_ref().map(|link| format!(" -> {}", plain(&link.to_string_lossy())));
        print(&format!("{:<8} {path}{}{}", change.deed.name(), link.unwrap_or_default(), dim(&lines)));
    }
    if found.files.len() > LISTED {
        print(&format!("and {} more", found.files.len() - LISTED));
    }
    let (files, lines) = (counted(found.files.len() as u64, "file"), counted(added, "line"));
    print(&bold(&format!("{files}, {lines} added, {removed} removed")));
    for inner in found.tree.iter().flat_map(|tree| &tree.inner) {
        log(&plain(&format!("`{}` is a repository of its own and is left out", inner.display())));
    }
    for unread in found.tree.iter().flat_map(|tree| &tree.unread) {
        log(&plain(&format!("`{}` cannot be read: what was in it counts as unchanged", unread.display())));
    }
    for change in &found.files {
        let held = |other: &&WorktreeChange| {
            other.deed == FileOperation::Removed && other.path.parent() == Some(&change.path)
        };
        if let (Some(link), Some(_)) = (&change.link, found.files.iter().find(held)) {
            let (path, link) = (change.path.display(), link.display());
            log(&plain(&format!("`{path}` was a folder and is a link now, to `{link}`")));
        }
    }
}

fn show_patch(patch: &str) {
    let end = (0..=LONGEST.min(patch.len())).rev().find(|end| patch.is_char_boundary(*end)).unwrap_or(0);
    let (shown, rest) = patch.split_at(end);
    print_exact(&plain(shown));
    if !rest.is_empty() {
        log(&format!("and {} kB more; `--json` shows all", rest.len() >> 10));
    }
}

/// Throws away what a run changed. What is there is saved first.
pub fn discard(
    environment: &HostEnvironment,
    name: &str,
    consent: RestoreConsent,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "worktree discard")?;
    let known = Known::find(environment, name)?;
    let lock = known.lock()?;
    if let Some(merging) = Merging::load(&known.record)?.filter(|one| one.progress == MergeProgress::Begun) {
        lock.lend(|| take_back(environment, &known, &merging))?;
    }
    if known.owner.is_there() {
        let found = known.changes(environment)?;
        if output == OutputForm::Text {
            show(&found);
            show_changes(&known.shared(environment)?);
        }
    } else if let Some(place) = known.owner.moved_to() {
        return Err(CommandError::user(
            plain(&format!("the worktree `{name}` was moved to `{}`; nothing was touched", place.display())),
            plain(&format!("move it back to `{}`, or remove it yourself", known.owner.place.display())),
        ));
    } else {
        log(&format!(
            "the folder of the worktree `{name}` is not at its place: it is gone, or was moved to where it was not found, and stays there then"
        ));
    }
    match consent {
        RestoreConsent::Given => {}
        RestoreConsent::ShowOnly => return unconfirmed(Reply::Nobody, output),
        RestoreConsent::Ask => match confirm("Discard this? It is saved first.") {
            Reply::Yes => {}
            reply @ (Reply::No | Reply::Nobody) => return unconfirmed(reply, output),
        },
    }
    let removed = lock.lend(|| take_away(environment, &known, RunStage::Discarded))?;
    match output {
        OutputForm::Json => print_exact(&api::pretty(&api::saved::Discarded {
            name: known.name.as_str().to_owned(),
            removed: removed.json(),
        })?),
        OutputForm::Text => removed.tell(&known.name),
    }
    Ok(ExitStatus::Done)
}
