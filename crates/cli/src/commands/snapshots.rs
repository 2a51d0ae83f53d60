//! `checkrein snapshot list` and `checkrein snapshot ...`: what was saved, and taking care of it.

use std::time::Duration;

use checkrein_snapshot::{
    CaptureBounds, CaptureOptions, Circumstances, Listed, Mounts, Pin, Snapshot, SnapshotId, SnapshotReason,
    Unchanged, WorkspaceCapture,
};

use super::restore::{RestoreContext, Unfinished};
use super::story::{at_home, shortened};
use super::{ExitStatus, OutputForm, for_people_only};
use crate::api::{self, recorded, saved};
use crate::render::{age, files_and_folders};
use crate::terminal::{brief, counted, log, plain, print, print_exact, table, wrapped};
use checkrein_engine::checkpoint;
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Lists the snapshots of this workspace, newest last, and what they take on the disk.
pub fn list(
    environment: &HostEnvironment,
    count: usize,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let ground = RestoreContext::open(environment, Unfinished::Tell)?;
    let mut all = ground.store.snapshots()?;
    let sealed = ground.store.sealed_off()?.len() as u64;
    if sealed > 0 {
        log(&format!("{} cannot be read", counted(sealed, "encrypted snapshot")));
    }
    let hidden = all.len().saturating_sub(count);
    let shown = all.split_off(hidden);
    match output {
        OutputForm::Json => {
            for one in &shown {
                print_exact(&api::line(&described(one))?);
            }
        }
        OutputForm::Text if shown.is_empty() => print("nothing is saved yet"),
        OutputForm::Text => {
            print(&table(
                &["id", "age", "files", "size", "on disk", "what was saved"],
                shown
                    .iter()
                    .map(|one| {
                        let named =
                            |text: &str| shortened(environment, Some(ground.workspace.as_str()), text);
                        row(one, environment.now().0, &named)
                    })
                    .collect(),
            ));
            if hidden > 0 {
                log(&format!("and {hidden} older ones; `--number` shows more"));
            }
            let held: u64 = shown.iter().map(|one| one.snapshot.bytes).sum();
            let disk: u64 = shown.iter().map(|one| one.disk).sum();
            log(&wrapped(&format!(
                "{}: {} saved, {} on disk. All snapshots of this project: {} on disk, in {}",
                counted(shown.len() as u64, "snapshot"),
                size(held),
                size(disk),
                size(ground.store.bytes()?),
                at_home(environment, &ground.store.directory().to_string_lossy())
            )));
        }
    }
    Ok(ExitStatus::Done)
}

fn described(one: &Listed) -> saved::SnapshotEntry {
    let snapshot = &one.snapshot;
    let skipped = snapshot.skipped.iter().map(|one| saved::LeftOut {
        path: one.path.as_path().to_string_lossy().into_owned(),
        why: one.reason.to_string(),
    });
    let paths: Vec<String> =
        snapshot.roots.iter().map(|root| root.path.as_path().to_string_lossy().into_owned()).collect();
    saved::SnapshotEntry {
        id: recorded(&one.id),
        at: snapshot.at.into(),
        occasion: snapshot.occasion.name().to_owned(),
        reason: snapshot.reason.clone(),
        session: recorded(&snapshot.place.as_ref().map(|place| &place.session)),
        action: recorded(&snapshot.place.as_ref().and_then(|place| place.action.as_ref())),
        sequence: recorded(&snapshot.place.as_ref().map(|place| place.sequence)),
        paths,
        entries: snapshot.entries,
        bytes: snapshot.bytes,
        disk: one.disk,
        pinned: one.pin == Pin::Pinned,
        skipped: skipped.collect(),
    }
}

fn row(one: &Listed, now: u64, named: &dyn Fn(&str) -> String) -> Vec<String> {
    let snapshot = &one.snapshot;
    let mut marks = Vec::new();
    if one.pin == Pin::Pinned {
        marks.push("pinned".to_owned());
    }
    if !snapshot.skipped.is_empty() {
        marks.push(format!("{} skipped", snapshot.skipped.len()));
    }
    vec![
        one.id.to_string(),
        age(snapshot.at, now),
        snapshot.entries.to_string(),
        size(snapshot.bytes),
        size(one.disk),
        [vec![occasion(snapshot, named)], marks].concat().join(", "),
    ]
}

/// When a snapshot was taken, in a clause.
fn occasion(snapshot: &Snapshot, named: &dyn Fn(&str) -> String) -> String {
    let reason = brief(&named(&plain(&snapshot.reason)), 60);
    match snapshot.occasion {
        SnapshotReason::SessionStart => "as the session began".to_owned(),
        SnapshotReason::BeforeAction => format!("before `{reason}`"),
        SnapshotReason::Interval => format!("in between: {reason}"),
        SnapshotReason::Request => format!("on request: {reason}"),
        SnapshotReason::BeforeRestore { .. } => format!("before a restore: {reason}"),
    }
}

/// Takes a snapshot of the whole workspace.
pub fn create(
    environment: &HostEnvironment,
    reason: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let ground = RestoreContext::open(environment, Unfinished::Tell)?;
    let largest = config_files::load(environment, &ground.workspace)?.config.snapshots.largest_file_megabytes;
    let manner = CaptureOptions {
        bounds: CaptureBounds { time: Duration::MAX, ..CaptureBounds::NONE },
        largest: Some(largest.saturating_mul(1024 * 1024)),
        mounts: Mounts::Skip,
        ..ground.manner()
    };
    let circumstances = Circumstances {
        at: environment.now().0,
        occasion: SnapshotReason::Request,
        reason: reason.to_owned(),
        place: None,
    };
    let taken = ground
        .store
        .take_workspace(&[], &manner, Unchanged::Reuse, |captured| captured.described(circumstances))?;
    let id = match taken {
        WorkspaceCapture::Whole(id) | WorkspaceCapture::Same(id) => id,
        WorkspaceCapture::Over(_) => {
            return Err(CommandError::user("the workspace is too large", "there are no bounds; report this"));
        }
    };
    let listed = ground.store.snapshot(id)?;
    match output {
        OutputForm::Json => print_exact(&api::pretty(&described(&listed))?),
        OutputForm::Text => {
            let snapshot = &listed.snapshot;
            let how = if matches!(taken, WorkspaceCapture::Same(_)) {
                "nothing changed since snapshot"
            } else {
                "snapshot"
            };
            print(&format!(
                "{how} {id}: {}, {}; `checkrein snapshot restore {id}` goes back to it",
                files_and_folders(snapshot.entries),
                size(snapshot.bytes)
            ));
            for one in &snapshot.skipped {
                log(&format!("skipped {}: {}", plain(&one.path.as_path().to_string_lossy()), one.reason));
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// Keeps a snapshot, or lets it go when it is old.
pub fn pin(
    environment: &HostEnvironment,
    id: SnapshotId,
    pin: Pin,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let ground = RestoreContext::open(environment, Unfinished::Tell)?;
    ground.store.pin(id, pin)?;
    match output {
        OutputForm::Json => {
            print_exact(&api::pretty(&saved::Pinned { id: recorded(&id), pinned: pin == Pin::Pinned })?);
        }
        OutputForm::Text => print(&match pin {
            Pin::Pinned => format!("snapshot {id} stays until it is unpinned"),
            Pin::Loose => format!("snapshot {id} goes when it is old"),
        }),
    }
    Ok(ExitStatus::Done)
}

/// Takes away what is older, more or larger than the configuration keeps.
pub fn prune(
    environment: &HostEnvironment,
    dry: super::Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "snapshot prune")?;
    let ground = RestoreContext::open(environment, Unfinished::Tell)?;
    let settings = config_files::load(environment, &ground.workspace)?.config.snapshots;
    let retention = checkpoint::workspace::retention(environment, &settings);
    let going = ground.store.expendable(&retention)?;
    let (snapshots, bytes) = match dry {
        super::Switch::On => (going, None),
        super::Switch::Off => {
            let pruned = ground.store.prune(&going, retention.since)?;
            (pruned.snapshots, Some(pruned.bytes))
        }
    };
    match output {
        OutputForm::Json => {
            print_exact(&api::pretty(&saved::PruneAnswer { snapshots: recorded(&snapshots), bytes })?);
        }
        OutputForm::Text => print(&match bytes {
            None => format!("{} would go", counted(snapshots.len() as u64, "snapshot")),
            Some(bytes) => {
                format!(
                    "removed {}, which frees {}",
                    counted(snapshots.len() as u64, "snapshot"),
                    size(bytes)
                )
            }
        }),
    }
    Ok(ExitStatus::Done)
}

/// Reads everything that is saved and checks it.
pub fn verify(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let ground = RestoreContext::open(environment, Unfinished::Tell)?;
    let count = ground.store.snapshots()?.len();
    let hurt = ground.store.verify()?;
    match output {
        OutputForm::Json => {
            let damaged = hurt
                .iter()
                .map(|one| saved::Damaged { id: recorded(&one.snapshot), cause: one.cause.clone() });
            print_exact(&api::pretty(&saved::SnapshotCheck { snapshots: count, hurt: damaged.collect() })?);
        }
        OutputForm::Text => {
            for one in &hurt {
                print(&format!("snapshot {} is damaged: {}", one.snapshot, one.cause));
            }
            if hurt.is_empty() {
                let are = if count == 1 { "is" } else { "are" };
                print(&format!("{} {are} intact", counted(count as u64, "snapshot")));
            }
        }
    }
    Ok(if hurt.is_empty() { ExitStatus::Done } else { ExitStatus::Failed })
}

/// A length in bytes, for people.
pub(super) fn size(bytes: u64) -> String {
    let units = [(1_u64 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")];
    match units.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} B"),
    }
}
