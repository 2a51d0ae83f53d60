//! What `undo` and `rollback` have in common: showing what would be done, asking, doing it, telling how it went.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use checkrein_effects::{AbsolutePath, History, VersionState, World as _};
use checkrein_ledger::{Durability, FolderName, SessionLedger, lines};
use checkrein_protocol::{Record, RecordBody};
use checkrein_snapshot::{
    Bounds, Deed, FileTime, Ignoring, Listed, Manner, Mounts, Node, Over, Preparation, Prepared, Request,
    Restored, Selection, Since, SnapshotId, Step, Store,
};
use checkrein_world::find_workspace;
use serde_json::{Value as Json, json};

use super::{Exit, Output, pretty};
use crate::error::CommandError;
use crate::guard::Guard;
use crate::saving;
use crate::surroundings::Surroundings;
use crate::terminal::{bold, confirm, dim, log, plain, print};

/// How many steps are shown one by one (ours); `--json` shows all.
pub(super) const SHOWN: usize = 40;

/// What is told to a restore that a person asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Permissions {
    /// Whether the question is answered already.
    pub consent: Consent,
    /// What happens to what was changed since.
    pub changed: Changed,
    /// What happens to what is new.
    pub new: New,
}

/// Whether a person has said yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consent {
    /// They are asked.
    #[default]
    Ask,
    /// They have.
    Given,
    /// Nothing is done, only shown.
    ShowOnly,
}

/// What happens to what somebody changed after the action that is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Changed {
    /// It stays as it is.
    #[default]
    Keep,
    /// It is put back like the rest.
    Overwrite,
}

/// What happens to what was not there at the time and is not known to be made by the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum New {
    /// It stays.
    #[default]
    Keep,
    /// It goes.
    Remove,
}

/// A workspace with its snapshots.
pub struct Ground {
    /// Where.
    pub workspace: AbsolutePath,
    /// Its snapshots.
    pub store: Store,
    own: Vec<PathBuf>,
    ignoring: Ignoring,
}

impl Ground {
    /// The workspace around the working directory of this process. A restore that was interrupted is finished first.
    pub fn open(surroundings: &Surroundings) -> Result<Self, CommandError> {
        let workspace = find_workspace(&surroundings.cwd);
        let store = saving::store(surroundings, &workspace);
        let real =
            store.workspace().to_str().and_then(AbsolutePath::new).unwrap_or_else(|| workspace.clone());
        let ignoring = saving::ignoring(surroundings, &real);
        let ground =
            Self { workspace, store, own: vec![PathBuf::from(surroundings.state_path.as_str())], ignoring };
        if let Some(begun) = ground.store.interrupted() {
            log(&format!("a restore of snapshot {} was interrupted; finishing it", begun.of));
            let request = request(surroundings, format!("finishing the restore of snapshot {}", begun.of));
            let done = ground.store.finish(&begun, &ground.manner(), request)?;
            log(&format!("{done} steps were left and are done"));
        }
        Ok(ground)
    }

    /// How the present is captured.
    pub fn manner(&self) -> Manner<'_> {
        Manner {
            bounds: Bounds::NONE,
            largest: None,
            spared: &self.own,
            mounts: Mounts::Enter,
            ignoring: Some(&self.ignoring),
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            seen: None,
        }
    }

    /// What it takes to go back.
    pub fn prepare(
        &self,
        of: SnapshotId,
        paths: &[PathBuf],
        until: Option<FileTime>,
    ) -> Result<Box<Prepared>, CommandError> {
        match self.store.prepare(of, paths, &self.manner(), until)? {
            Preparation::Ready(prepared) => Ok(prepared),
            Preparation::Over(Over::Entries | Over::Bytes | Over::Time) => Err(CommandError::user(
                "what is there now is too large to be saved first",
                "go back to single paths: `checkrein rollback SNAPSHOT PATH`",
            )),
        }
    }
}

/// What steps are done, and which are left, with the reason.
struct Sorted {
    left: Vec<(Step, &'static str)>,
}

/// Leaves out what is not permitted.
fn sort(
    prepared: &mut Prepared,
    snapshot: &Listed,
    permissions: Permissions,
    until: Option<FileTime>,
    held: impl Fn(&Step) -> bool,
) -> Sorted {
    let mut left = Vec::new();
    prepared.retain(|step| {
        let why = objection(step, snapshot, permissions, until, &held);
        if let Some(why) = why {
            left.push((step.clone(), why));
        }
        why.is_none()
    });
    Sorted { left }
}

/// Whether a step of a restore is done with these permissions.
pub fn is_permitted(
    step: &Step,
    snapshot: &Listed,
    permissions: Permissions,
    until: Option<FileTime>,
) -> bool {
    objection(step, snapshot, permissions, until, |_| false).is_none()
}

/// Why a step is not done; `None` when it is.
fn objection(
    step: &Step,
    snapshot: &Listed,
    permissions: Permissions,
    until: Option<FileTime>,
    held: impl Fn(&Step) -> bool,
) -> Option<&'static str> {
    // What stood nowhere before the action and is as the action left it was made by the action: where the action was to make
    // something or to change everything, or where version control brought it and can bring it again.
    let was_made = || {
        let mut around = snapshot
            .snapshot
            .roots
            .iter()
            .filter(|root| step.path.as_path().starts_with(root.path.as_path()));
        until.is_some()
            && (around.any(|root| root.node.is_none() || root.selection == Selection::Everything)
                || held(step))
    };
    // Git writes its index anew whenever somebody looks; with other references it would only mislead.
    let is_index = || {
        let beside = step.path.as_path().with_file_name("HEAD");
        step.path.as_path().file_name().is_some_and(|name| name == "index")
            && snapshot.snapshot.roots.iter().any(|root| root.path.as_path() == beside)
    };
    if step.since == Since::Changed && permissions.changed == Changed::Keep && !is_index() {
        Some("changed since; `--force` puts it back all the same")
    } else if step.deed == Deed::Remove && permissions.new == New::Keep && !was_made() {
        Some("was not there; `--remove-new` removes it")
    } else {
        None
    }
}

/// Shows what would be done, asks, and does it.
pub fn restore(
    surroundings: &Surroundings,
    mut prepared: Box<Prepared>,
    snapshot: &Listed,
    permissions: Permissions,
    until: Option<FileTime>,
    output: Output,
) -> Result<Exit, CommandError> {
    let world = Guard::open(surroundings.clone(), &surroundings.cwd).world(History::default());
    let held = |step: &Step| {
        let path = step.path.as_path().to_str().and_then(AbsolutePath::new);
        path.is_some_and(|path| world.version(&path) == VersionState::TrackedClean)
    };
    let sorted = sort(&mut prepared, snapshot, permissions, until, held);
    let steps = prepared.steps().to_vec();
    if output == Output::Text {
        show(&steps, &sorted, snapshot);
    }
    let unsaved: Vec<String> = prepared
        .unsaved()
        .iter()
        .map(|one| format!("{}: {}", one.path.as_path().display(), one.reason))
        .collect();
    if steps.is_empty() {
        return tell(snapshot, &steps, &sorted, None, output);
    }
    for one in &unsaved {
        log(&format!("cannot be saved before: {}", plain(one)));
    }
    let goes_on = match permissions.consent {
        Consent::Given => true,
        Consent::ShowOnly => return tell(snapshot, &steps, &sorted, None, output),
        Consent::Ask => confirm("Do it? What is there now is saved first."),
    };
    if !goes_on {
        return Err(CommandError::user("nothing was done", "`--yes` answers the question for scripts"));
    }
    let reason = format!("before going back to snapshot {}", snapshot.id);
    let restored = prepared.carry_out(request(surroundings, reason))?;
    if let Some(restored) = &restored {
        give_objects_back(surroundings, snapshot)?;
        record(surroundings, snapshot, restored, steps.len());
    }
    tell(snapshot, &steps, &sorted, restored.as_ref(), output)
}

/// Gives repositories back the objects that their references stand for again.
fn give_objects_back(surroundings: &Surroundings, snapshot: &Listed) -> Result<(), CommandError> {
    let store = saving::store(surroundings, &find_workspace(&surroundings.cwd));
    for root in &snapshot.snapshot.roots {
        let path = root.path.as_path();
        if let (Some("refs"), Some(directory)) =
            (path.file_name().and_then(|name| name.to_str()), path.parent())
        {
            store.give_objects_back(&directory.join("objects"))?;
        }
    }
    Ok(())
}

fn request(surroundings: &Surroundings, reason: String) -> Request {
    Request { at: surroundings.now().0, reason, place: None }
}

/// Writes into the ledger of the session that its work was taken back: history is kept, with what was done about it.
fn record(surroundings: &Surroundings, snapshot: &Listed, restored: &Restored, steps: usize) {
    let Some(place) = &snapshot.snapshot.place else { return };
    let Some(folder) = FolderName::on_disk(place.session.as_ref()) else { return };
    let body = RecordBody::Event {
        name: "checkrein.restored".to_owned(),
        fields: json!({
            "snapshot": snapshot.id,
            "saved_as": restored.saved_as,
            "action": place.action,
            "sequence": place.sequence,
            "steps": steps,
            "left": restored.left.len(),
        }),
    };
    let ledger = SessionLedger::of_folder(&surroundings.state, folder);
    if let Err(error) = ledger.append(surroundings.now(), body, Durability::Durable) {
        log(&format!("not recorded: {error}"));
    }
}

fn show(steps: &[Step], sorted: &Sorted, snapshot: &Listed) {
    print(&format!("{} {}  {}", bold("snapshot"), snapshot.id, plain(&snapshot.snapshot.reason)));
    for step in steps.iter().take(SHOWN) {
        print(&format!("  {:<8} {}{}", step.deed.name(), path(step), dim(&detail(step))));
    }
    if steps.len() > SHOWN {
        print(&format!("  and {} more", steps.len() - SHOWN));
    }
    for (step, why) in sorted.left.iter().take(SHOWN) {
        print(&format!("  {:<8} {}  {}", "keep", path(step), dim(why)));
    }
    if sorted.left.len() > SHOWN {
        print(&format!("  and {} more are kept", sorted.left.len() - SHOWN));
    }
}

fn path(step: &Step) -> String {
    plain(&step.path.as_path().to_string_lossy())
}

fn detail(step: &Step) -> String {
    match (&step.then, &step.now) {
        (Some(Node::File { length, .. }), Some(Node::File { length: now, .. })) if length != now => {
            format!("  {now} -> {length} bytes")
        }
        (Some(Node::File { length, .. }), None) => format!("  {length} bytes"),
        (Some(Node::Directory { .. }), None) => "  directory".to_owned(),
        (Some(Node::Symlink { .. }), _) => "  link".to_owned(),
        _ => String::new(),
    }
}

fn tell(
    snapshot: &Listed,
    steps: &[Step],
    sorted: &Sorted,
    restored: Option<&Restored>,
    output: Output,
) -> Result<Exit, CommandError> {
    let left: Vec<(String, String)> = restored
        .iter()
        .flat_map(|restored| &restored.left)
        .map(|(path, why)| (path.as_path().to_string_lossy().into_owned(), why.clone()))
        .collect();
    match output {
        Output::Json => {
            let step = |step: &Step| json!({ "path": step.path.as_path().to_string_lossy(), "deed": step.deed.name() });
            let kept: Vec<Json> = sorted
                .left
                .iter()
                .map(|(one, why)| json!({ "path": one.path.as_path().to_string_lossy(), "deed": one.deed.name(), "why": why }))
                .collect();
            print(&pretty(&json!({
                "snapshot": snapshot.id,
                "steps": steps.iter().map(step).collect::<Vec<_>>(),
                "kept": kept,
                "saved_as": restored.map(|restored| restored.saved_as),
                "left": left.iter().map(|(path, why)| json!({ "path": path, "why": why })).collect::<Vec<_>>(),
            }))?);
        }
        Output::Text => {
            match restored {
                Some(restored) => print(&format!(
                    "{} steps done; `checkrein rollback {}` takes them back",
                    restored.done, restored.saved_as
                )),
                None if steps.is_empty() && sorted.left.is_empty() => {
                    print("everything is as it was; nothing to do");
                }
                None => {}
            }
            for (path, why) in &left {
                log(&format!("not as it was: {}: {}", plain(path), plain(why)));
            }
        }
    }
    let is_done = left.is_empty() && sorted.left.iter().all(|(step, _)| step.deed == Deed::Remove);
    Ok(if is_done { Exit::Done } else { Exit::Failed })
}

/// When the action of a snapshot ended; `None` when that is not known.
pub fn ended(surroundings: &Surroundings, snapshot: &Listed) -> Option<FileTime> {
    let place = snapshot.snapshot.place.as_ref()?;
    let folder = FolderName::on_disk(place.session.as_ref())?;
    let path = SessionLedger::of_folder(&surroundings.state, folder).path();
    let records = lines(&path).ok()?.filter_map(|line| line.ok()?.record);
    let is_meant = |record: &Record| match &record.body {
        RecordBody::Outcome(outcome) => Some(outcome.action_id.as_str()) == place.action.as_deref(),
        _ => false,
    };
    let at = records.filter(is_meant).last()?.at.0;
    // The clock of the file system and that of the hook tick apart.
    let at = at + 20;
    Some(FileTime {
        seconds: i64::try_from(at / 1_000).ok()?,
        nanoseconds: u32::try_from(at % 1_000 * 1_000_000).ok()?,
    })
}
