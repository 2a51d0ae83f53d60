//! What is older than it is kept: sessions, and whatever other stores of the state directory hold of past work. One rule goes for all: what was
//! written last before `audit.retention_days` goes, reports and lessons after their own time. What goes is written down before it goes
//! (`retention.jsonl`): how much, from when to when, and of each session the hash of its last record.
//!
//! Stays whatever still acts or can go on: halts (the records of a halted session go by their age), allowances, open changes, runs that can be resumed, what a user pinned or trusted.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use checkrein_ledger::{
    LedgerError, content_hash, old_beginnings, old_events, record_removal, removals, remove_beginnings,
};
use checkrein_policy::{Config, LogLevel};
use checkrein_protocol::{RecordBody, RemovedEntries, Timestamp};
use checkrein_session::{SessionSummary, prune, sessions};

use crate::checkpoint::workspace;
use crate::environment::HostEnvironment;
use crate::session_ledger::{diagnose, events_folder};
use crate::{change_records, incident, kept_settings, lessons};

/// A day, in milliseconds; old records are looked for once in it (ours).
const DAY: u64 = 24 * 60 * 60 * 1000;

/// How long a session must have been silent before its records go where nothing is to be kept (ours).
const SILENT: u64 = 60 * 60 * 1000;

/// How long a session that starts waits at most for snapshots of other workspaces to go (ours).
const AT_START: Duration = Duration::from_millis(300);

/// The stores whose entries are known by the time of their last change alone: each entry is a file, or a folder with what belongs to one piece of
/// work. Of folders within folders the inner ones are named.
const BY_CHANGE: [&str; 8] = [
    "runs/done",
    "pipelines/done",
    "approvals",
    "notices",
    "agents",
    "routes",
    "providers",
    "diagnostics.log.old",
];

/// Where entries lie that are being removed.
const ASIDE: &str = "removed";
/// What is about to go, until it is gone.
const GOING: &str = "retention.going";

/// Something that is older than it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expired {
    /// Its name in the record of removals.
    pub(crate) name: String,
    /// When it was written last.
    pub(crate) at: Timestamp,
    /// What of it is on the disk: files, or one folder.
    pub(crate) paths: Vec<PathBuf>,
}

/// What is older than it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DueRecords {
    /// How many sessions.
    pub sessions: u64,
    /// What of other stores, by store.
    pub stores: Vec<RemovedEntries>,
    /// How many snapshots of all workspaces.
    pub snapshots: u64,
}

/// Whether anything is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carry {
    /// It is only told what would go.
    Look,
    /// It goes.
    Out,
}

/// Removes what is older than the configuration keeps it, in every store, or only tells what that is. What cannot be removed is said by the
/// diagnostics of the environment, and looked at again the next time.
///
/// # Errors
///
/// What goes cannot be written down; then nothing went.
pub fn all(environment: &HostEnvironment, config: &Config, carry: Carry) -> Result<DueRecords, LedgerError> {
    let _alone = match carry {
        Carry::Look => None,
        Carry::Out => Some(
            alone(environment, File::lock).map_err(|(path, source)| LedgerError::Write { path, source })?,
        ),
    };
    let now = environment.now();
    let keep = kept_for(config);
    let oldest = Timestamp(now.0.saturating_sub(keep));
    let sessions = match carry {
        Carry::Look => {
            let written = |one: &SessionSummary| {
                let ledger = environment.state.ledger(&one.folder);
                one.last.unwrap_or_else(|| fs::metadata(ledger.path()).map_or(now, |facts| changed(&facts)))
            };
            let all = sessions(&environment.state)?;
            all.iter().filter(|one| one.unreadable.is_none() && written(one) < oldest).count()
        }
        Carry::Out => prune(&environment.state, now, Duration::from_millis(keep))?.len(),
    };
    if carry == Carry::Out {
        kept_settings::forget(environment, Timestamp(now.0.saturating_sub(DAY)));
    }
    let stores = stores(environment, config, now, carry)?;
    let snapshots = workspace::clear_away_elsewhere(environment, &config.snapshots, carry, None);
    Ok(DueRecords { sessions: sessions as u64, stores, snapshots })
}

/// The same once a day, when a session starts; where nothing is to be kept, each time. A failure is for the diagnostic log: it takes nothing
/// away.
pub(crate) fn at_start(environment: &HostEnvironment, config: &Config) {
    let marker = Path::new(environment.state_path.as_str()).join("retention.looked");
    let now = environment.now();
    // A time that lies ahead is that of a clock that was wrong: whoever believed it would look no more before it has come.
    let looked = fs::metadata(&marker).map_or(0, |facts| changed(&facts).0);
    if config.audit.enabled && looked <= now.0 && now.0 - looked < DAY {
        return;
    }
    // Who removes at this moment does all of it; a session does not wait for that.
    let Ok(_alone) = alone(environment, |file| file.try_lock().map_err(io::Error::from)) else { return };
    kept_settings::forget(environment, Timestamp(now.0.saturating_sub(DAY)));
    let say = |text: &str| diagnose(environment, config, LogLevel::Error, text);
    if let Err(error) = stores(environment, config, now, Carry::Out) {
        say(&format!("what is old stays: {error}"));
    }
    let until = Instant::now() + AT_START;
    workspace::clear_away_elsewhere(environment, &config.snapshots, Carry::Out, Some(until));
    match prune(&environment.state, now, Duration::from_millis(kept_for(config))) {
        Ok(_) => drop(OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&marker)),
        Err(error) => say(&format!("old records stay: {error}")),
    }
}

/// The lock that whoever removes something holds, so that nothing is counted twice; it ends with the process.
fn alone(
    environment: &HostEnvironment,
    take: impl FnOnce(&File) -> io::Result<()>,
) -> Result<File, (PathBuf, io::Error)> {
    let path = environment.state.root().join("retention.lock");
    let taken = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(environment.state.root())
        .and_then(|()| {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(0o600);
            checkrein_files::open_with(&mut options, &path)
        })
        .and_then(|file| take(&file).map(|()| file));
    taken.map_err(|error| (path, error))
}

/// How long records are kept, in milliseconds.
fn kept_for(config: &Config) -> u64 {
    if config.audit.enabled { config.audit.retention_days.saturating_mul(DAY) } else { SILENT }
}

/// Removes what is old in the stores that hold no sessions; what went, or would go.
fn stores(
    environment: &HostEnvironment,
    config: &Config,
    now: Timestamp,
    carry: Carry,
) -> Result<Vec<RemovedEntries>, LedgerError> {
    let days = |days: u64| Timestamp(now.0.saturating_sub(days.saturating_mul(DAY)));
    // What is not kept of sessions is not kept of what they told either.
    let told = Timestamp(now.0.saturating_sub(kept_for(config)));
    let oldest = days(config.audit.retention_days);
    let stop = &config.interventions.emergency_stop;
    let root = environment.state.root();
    if carry == Carry::Out {
        finish(environment, config);
    }
    let mut found: Vec<(&str, io::Result<Vec<Expired>>)> =
        BY_CHANGE.iter().map(|store| (*store, unchanged_since(&root.join(store), oldest))).collect();
    let events = old_events(&events_folder(environment, config), told);
    found.push(("events", events.map(|files| files.into_iter().filter_map(expired).collect())));
    found.push(("lessons", lessons::expired(environment, days(stop.preserve_incident_data_days))));
    found.push(("incidents", incident::expired(environment, stop, now)));
    found.push(("changes", change_records::expired(environment, oldest)));

    let mut going = Vec::new();
    for (store, expired) in found {
        match expired {
            Ok(expired) if expired.is_empty() => {}
            Ok(expired) => going.push((store, expired)),
            Err(error) => environment.diagnostics.add(format!("`{store}` is not looked through: {error}")),
        }
    }
    let mut removed: Vec<RemovedEntries> =
        going.iter().map(|(store, expired)| told_of(store, expired)).collect();
    if carry == Carry::Look {
        removed.extend(old_beginnings(&environment.state, oldest)?);
        return Ok(removed);
    }
    let reason = format!(
        "older than {} days, reports on stops than {} or more than {}",
        config.audit.retention_days, stop.preserve_incident_data_days, stop.preserve_incidents
    );
    // A chain of which the beginning goes writes down itself what that was.
    let beginnings = remove_beginnings(&environment.state, now, oldest, &reason)?;
    if removed.is_empty() {
        return Ok(beginnings);
    }
    note_going(
        environment,
        &removed,
        going.iter().flat_map(|(_, expired)| expired).flat_map(|one| &one.paths),
    );
    record_removal(&environment.state, now, &reason, removed.clone())?;
    removed.extend(beginnings);
    for (store, expired) in going {
        for path in expired.iter().flat_map(|one| &one.paths) {
            if let Err(error) = take_away(root, path) {
                environment.diagnostics.add(format!("what is old in `{store}` stays: {error}"));
            }
        }
        // A folder that holds nothing any more tells nothing either.
        for folder in expired.iter().flat_map(|one| &one.paths).filter_map(|path| path.parent()) {
            if folder.parent().is_some_and(|above| above.ends_with("lessons")) {
                drop(fs::remove_dir(folder));
            }
        }
    }
    drop(fs::remove_file(root.join(GOING)));
    Ok(removed)
}

/// Carries out what an earlier removal wrote down, and was ended before it was done with.
fn finish(environment: &HostEnvironment, config: &Config) {
    let root = environment.state.root();
    if is_folder(&root.join(ASIDE)) {
        for entry in fs::read_dir(root.join(ASIDE)).into_iter().flatten().flatten() {
            drop(remove(&entry.path()));
        }
    }
    let going = root.join(GOING);
    let Ok(text) = fs::read_to_string(&going) else { return };
    let places = [root.to_owned(), events_folder(environment, config)];
    let mut lines = text.lines();
    // What was to go and is not on record stays what it is: old, and looked at again.
    let told: Option<Vec<RemovedEntries>> = lines.next().and_then(|line| serde_json::from_str(line).ok());
    if told.is_some_and(|told| is_on_record(environment, &told)) {
        for line in lines {
            let Ok(path) = serde_json::from_str::<PathBuf>(line) else { continue };
            if places.iter().any(|place| path.starts_with(place)) {
                drop(take_away(root, &path));
            }
        }
    }
    drop(fs::remove_file(going));
}

/// Whether a removal of just these entries was written down.
fn is_on_record(environment: &HostEnvironment, told: &[RemovedEntries]) -> bool {
    removals(&environment.state).is_ok_and(|all| {
        all.iter().any(
            |record| matches!(&record.body, RecordBody::Retention { stores, .. } if stores.as_slice() == told),
        )
    })
}

/// Remembers what is about to be written down and to go: whoever comes after an interruption finds by it what was written down already.
/// Without it what is left is told a second time, and nothing else is lost.
fn note_going<'p>(
    environment: &HostEnvironment,
    told: &[RemovedEntries],
    paths: impl Iterator<Item = &'p PathBuf>,
) {
    let Ok(told) = serde_json::to_string(told) else { return };
    let lines = paths.filter_map(|path| serde_json::to_string(path).ok());
    let text: Vec<String> = std::iter::once(told).chain(lines).collect();
    let file = environment.state.root().join(GOING);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = checkrein_files::open_with(&mut options, &file)
        .and_then(|mut file| file.write_all(format!("{}\n", text.join("\n")).as_bytes()));
    if written.is_err() {
        drop(fs::remove_file(file));
    }
}

/// Removes an entry in one step: it is whole, or it is gone, whenever this process ends.
fn take_away(root: &Path, path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let aside = root.join(ASIDE).join(format!("{}-{name}", std::process::id()));
    let moved = fs::DirBuilder::new().recursive(true).mode(0o700).create(root.join(ASIDE)).and_then(|()| {
        if !is_folder(&root.join(ASIDE)) {
            return Err(ErrorKind::NotADirectory.into());
        }
        // Who moves a folder writes into it where it points above.
        if fs::symlink_metadata(path)?.is_dir() {
            fs::set_permissions(path, Permissions::from_mode(0o700))?;
        }
        drop(remove(&aside));
        fs::rename(path, &aside)
    });
    match moved {
        Ok(()) => remove(&aside),
        // Somebody else removes it at the same time.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        // Events may lie on another file system; there they are files.
        Err(_) => remove(path),
    }
}

/// Whether a folder stands there, and no link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir())
}

/// What is written down of entries that go.
fn told_of(store: &str, expired: &[Expired]) -> RemovedEntries {
    let mut names: Vec<&str> = expired.iter().map(|one| one.name.as_str()).collect();
    names.sort_unstable();
    names.push("");
    let list = names.join("\n");
    RemovedEntries {
        store: store.to_owned(),
        entries: expired.len() as u64,
        oldest: expired.iter().map(|one| one.at).min().unwrap_or_default(),
        newest: expired.iter().map(|one| one.at).max().unwrap_or_default(),
        names: content_hash(list.as_bytes()),
    }
}

/// The entries of a folder in which nothing changed since, by name; the same for a path that is a file.
fn unchanged_since(place: &Path, oldest: Timestamp) -> io::Result<Vec<Expired>> {
    let facts = match fs::symlink_metadata(place) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        facts => facts?,
    };
    let paths = if facts.is_dir() {
        let entries = fs::read_dir(place)?;
        entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?
    } else {
        vec![place.to_owned()]
    };
    let mut found: Vec<Expired> = paths.into_iter().filter_map(expired).collect();
    found.retain(|one| one.at < oldest);
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// One entry, with the time of its last change: that of the newest file in it where it is a folder. `None` for what is neither file nor folder.
pub(crate) fn expired(path: PathBuf) -> Option<Expired> {
    let facts = fs::symlink_metadata(&path).ok()?;
    let name = path.file_name()?.to_str()?.to_owned();
    let at = if facts.is_file() {
        changed(&facts)
    } else if facts.is_dir() {
        let inside = fs::read_dir(&path).ok()?.flatten();
        let times = inside.filter_map(|entry| entry.metadata().ok()).filter(Metadata::is_file);
        times.map(|facts| changed(&facts)).max().unwrap_or_else(|| changed(&facts))
    } else {
        return None;
    };
    Some(Expired { name, at, paths: vec![path] })
}

fn changed(facts: &Metadata) -> Timestamp {
    let since = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Timestamp(since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)))
}

/// Removes a file, or a folder of which what is done made it read-only. No link is followed.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => {
            fs::set_permissions(path, Permissions::from_mode(0o700))?;
            for entry in fs::read_dir(path)?.flatten() {
                if entry.file_type()?.is_dir() {
                    fs::set_permissions(entry.path(), Permissions::from_mode(0o700))?;
                }
            }
            fs::remove_dir_all(path)
        }
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        // Somebody else removes it at the same time.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
