//! What other sessions have on record while an agent runs within bounds, held by the run, which stands outside of them.
//!
//! The hooks of an agent write records with its rights, so the kernel cannot allow that to them and forbid it to the agent. What is gone is put
//! back instead: a halt within moments, records of sessions as soon as they are missed. What cannot be put back is told, and the witnesses of it
//! are put back, so that `checkrein audit verify` finds it. Ledgers are held open: a file that is removed is there as long as it is open.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use checkrein_engine::environment::HostEnvironment;
use checkrein_files::Forced;
use checkrein_ledger::{Durability, FolderName, removals};
use checkrein_protocol::{LedgerDamage, RecordBody};
use checkrein_session::SessionLedger;

use super::super::lifted_halts::lifted_at;
use crate::terminal::{log, plain};

/// How often halts are looked at, and how often all the rest is (ours).
const HALTS: Duration = Duration::from_millis(50);
const REST: Duration = Duration::from_secs(1);

/// How many ledgers are held open at most, the newest first (ours): a process may have 1,024 files open on most systems.
const LEDGERS: usize = 512;

/// The longest file beside a ledger, or of a witness, that is held, in bytes (ours).
const LONGEST: u64 = 8 * 1024 * 1024;

/// How much of the end of a ledger is compared, in bytes (ours): longer than what seals a record.
const END: usize = 256;

/// How many sessions are named before the rest is counted (ours).
const NAMED: usize = 3;

/// A halt as it was read.
struct KeptHalt {
    text: Vec<u8>,
    written: SystemTime,
}

/// A file of records, held open.
struct KeptLedger {
    file: File,
    length: u64,
    end: Vec<u8>,
}

/// What became of a file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LedgerFate {
    /// It is as it was, or grew.
    There,
    /// It is gone.
    Gone,
    /// What it held does not stand there any more.
    Changed,
}

impl KeptLedger {
    fn open(path: &Path) -> io::Result<Self> {
        let file = checkrein_files::open(path)?;
        let length = whole_length(&file)?;
        let end = end_at(&file, length)?;
        Ok(Self { file, length, end })
    }

    /// What stands at the path now; one that grew is held as it is now.
    fn fate(&mut self, path: &Path) -> LedgerFate {
        let Ok(now) = checkrein_files::open(path) else {
            let is_gone = fs::symlink_metadata(path).is_err();
            return if is_gone { LedgerFate::Gone } else { LedgerFate::Changed };
        };
        let length = whole_length(&now).unwrap_or_default();
        if length < self.length || end_at(&now, self.length).ok().as_ref() != Some(&self.end) {
            return LedgerFate::Changed;
        }
        if let (true, Ok(end)) = (length > self.length, end_at(&now, length)) {
            *self = Self { file: now, length, end };
        }
        LedgerFate::There
    }

    /// Writes what is held to a path where nothing is.
    fn put_back(&self, path: &Path) -> io::Result<()> {
        if end_at(&self.file, self.length)? != self.end {
            return Err(io::Error::other("what it held was overwritten"));
        }
        make_parent(path)?;
        let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let mut source = &self.file;
        io::Seek::seek(&mut source, io::SeekFrom::Start(0))?;
        io::copy(&mut source, &mut target)?;
        target.sync_data()
    }
}

/// How long a file is without a last line that is not written to its end: who finds one takes it out.
fn whole_length(file: &File) -> io::Result<u64> {
    let mut length = file.metadata()?.len();
    while length > 0 {
        let end = end_at(file, length)?;
        match end.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => return Ok(length - (end.len() - last - 1) as u64),
            None => length -= end.len() as u64,
        }
    }
    Ok(0)
}

fn end_at(file: &File, length: u64) -> io::Result<Vec<u8>> {
    let start = length.saturating_sub(END as u64);
    let mut end = vec![0; usize::try_from(length - start).unwrap_or(END)];
    file.read_exact_at(&mut end, start)?;
    Ok(end)
}

fn make_parent(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// What other sessions have on record.
pub(super) struct KeptRecords {
    environment: HostEnvironment,
    halts: BTreeMap<OsString, KeptHalt>,
    /// Small files by their path: what bears witness of records, and what lies beside the newest ledgers.
    files: BTreeMap<PathBuf, Vec<u8>>,
    heads: Vec<u8>,
    ledgers: BTreeMap<PathBuf, KeptLedger>,
    snapshots: BTreeSet<PathBuf>,
    /// How many removals by retention were on record.
    removals: usize,
    looked: Option<Instant>,
    looked_at_all: Option<Instant>,
    /// What went, by session.
    put_back: BTreeSet<String>,
    lost: BTreeSet<String>,
}

impl KeptRecords {
    /// What stands now.
    pub(super) fn of(environment: &HostEnvironment) -> Self {
        let mut kept = Self {
            environment: environment.clone(),
            halts: BTreeMap::new(),
            files: BTreeMap::new(),
            heads: Vec::new(),
            ledgers: BTreeMap::new(),
            snapshots: packs(environment),
            removals: removals(&environment.state).map_or(0, |all| all.len()),
            looked: None,
            looked_at_all: None,
            put_back: BTreeSet::new(),
            lost: BTreeSet::new(),
        };
        kept.take_up_halts();
        kept.take_up_records();
        kept
    }

    /// Looks whether something is gone, and puts it back. To be called often while the agent runs.
    pub(super) fn look(&mut self) {
        let is_due = |looked: Option<Instant>, pause| looked.is_none_or(|at| at.elapsed() >= pause);
        if is_due(self.looked, HALTS) {
            self.looked = Some(Instant::now());
            self.put_halts_back();
            self.take_up_halts();
        }
        if is_due(self.looked_at_all, REST) {
            self.looked_at_all = Some(Instant::now());
            self.put_records_back();
            self.take_up_records();
        }
    }

    /// Looks for the last time, when nothing of the agent is left, and tells what went.
    pub(super) fn finish(&mut self) {
        self.put_halts_back();
        self.put_records_back();
        let gone = self.snapshots.iter().filter(|pack| !pack.exists()).count();
        let is_pruned = removals(&self.environment.state).map_or(0, |all| all.len()) > self.removals;
        if !self.put_back.is_empty() {
            log(&format!(
                "checkrein: records of other sessions were removed while the agent ran, and are put back: {}",
                named(&self.put_back)
            ));
        }
        if !self.lost.is_empty() {
            log(&format!(
                "checkrein: records of other sessions were changed or lost while the agent ran: {}; `checkrein audit verify` tells more",
                named(&self.lost)
            ));
        }
        // What retention takes is on record.
        if gone > 0 && !is_pruned {
            log(&format!(
                "checkrein: {gone} snapshots of before are gone: what they saved cannot be brought back"
            ));
        }
    }

    fn take_up_halts(&mut self) {
        for entry in fs::read_dir(self.environment.state.halts()).into_iter().flatten().flatten() {
            let name = entry.file_name();
            // One that begins with a dot is being written.
            if name.as_encoded_bytes().starts_with(b".") || self.halts.contains_key(&name) {
                continue;
            }
            if let (Ok(text), Ok(written)) = (
                checkrein_files::read(entry.path(), LONGEST),
                entry.metadata().and_then(|facts| facts.modified()),
            ) {
                self.halts.insert(name, KeptHalt { text, written });
            }
        }
    }

    /// Lays the halts again that are gone, unless a user lifted them.
    fn put_halts_back(&mut self) {
        let folder = self.environment.state.halts();
        let gone: Vec<OsString> = self
            .halts
            .keys()
            .filter(|name| matches!(fs::symlink_metadata(folder.join(name)), Err(error) if error.kind() == io::ErrorKind::NotFound))
            .cloned()
            .collect();
        for name in gone {
            let Some(halt) = self.halts.get(&name) else { continue };
            if lifted_at(&self.environment, &name).is_some_and(|at| at >= halt.written) {
                self.halts.remove(&name);
                continue;
            }
            let path = folder.join(&name);
            let written = make_parent(&path)
                .and_then(|()| checkrein_files::replace(&path, &halt.text, 0o600, Forced::Name));
            let session = plain(&name.to_string_lossy());
            match written {
                Ok(()) => log(&format!(
                    "checkrein: the halt of `{session}` was removed while the agent ran; it is in force again"
                )),
                Err(error) => log(&format!("checkrein: the halt of `{session}` is gone: {error}")),
            }
            if let Some(folder) = FolderName::on_disk(&name) {
                self.record(
                    &folder,
                    LedgerDamage::PutBack,
                    "the halt of the session was removed while an agent ran, and put back",
                );
            }
        }
    }

    /// Takes up what came since.
    fn take_up_records(&mut self) {
        let state = self.environment.state.clone();
        let mut ledgers = Vec::new();
        for folder in state.folders().unwrap_or_default() {
            let path = state.ledger(&folder).path().to_owned();
            let written = fs::metadata(&path).and_then(|facts| facts.modified());
            ledgers.extend(written.ok().map(|written| (written, path)));
        }
        ledgers.sort_by(|one, other| other.cmp(one));
        let beside = [state.retention(), state.pipelines(), state.authentications()];
        let sessions = ledgers.into_iter().map(|(_, path)| path);
        for path in beside.into_iter().chain(sessions).take(LEDGERS) {
            if self.ledgers.contains_key(&path) {
                continue;
            }
            let Ok(held) = KeptLedger::open(&path) else { continue };
            for file in files_in(path.parent().filter(|folder| *folder != state.root())) {
                self.take_up_file(file);
            }
            self.ledgers.insert(path, held);
        }
        let testimony = state.testimony().map(|testimony| testimony.folder().to_owned());
        for session in testimony.iter().flat_map(fs::read_dir).flatten().flatten() {
            for file in files_in(Some(&session.path())) {
                self.take_up_file(file);
            }
        }
        // It only grows.
        let heads = checkrein_files::read(self.environment.state.heads(), LONGEST).unwrap_or_default();
        if heads.starts_with(&self.heads) {
            self.heads = heads;
        }
    }

    fn take_up_file(&mut self, path: PathBuf) {
        if !self.files.contains_key(&path)
            && let Ok(bytes) = checkrein_files::read(&path, LONGEST)
        {
            self.files.insert(path, bytes);
        }
    }

    fn put_records_back(&mut self) {
        let state = self.environment.state.clone();
        // What retention took, it wrote down before.
        let removed: BTreeSet<String> = removals(&state)
            .unwrap_or_default()
            .into_iter()
            .skip(self.removals)
            .filter_map(|record| match record.body {
                RecordBody::Retention { removed, .. } => Some(removed),
                _ => None,
            })
            .flatten()
            .map(|session| session.session)
            .collect();
        let is_removed = |path: &Path| {
            let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
            folder.is_some_and(|name| removed.contains(name))
        };
        self.ledgers.retain(|path, _| !is_removed(path));
        self.files.retain(|path, _| !is_removed(path));
        self.put_heads_back();
        let mut told: Vec<(PathBuf, LedgerDamage, String)> = Vec::new();
        for (path, held) in &mut self.ledgers {
            match held.fate(path) {
                LedgerFate::There => {}
                LedgerFate::Gone => {
                    let damage = match held.put_back(path) {
                        Ok(()) => (
                            LedgerDamage::PutBack,
                            "the records were removed while an agent ran, and put back".to_owned(),
                        ),
                        Err(error) => (
                            LedgerDamage::Lost,
                            format!("the records were removed while an agent ran: {error}"),
                        ),
                    };
                    told.push((path.clone(), damage.0, damage.1));
                }
                LedgerFate::Changed => told.push((
                    path.clone(),
                    LedgerDamage::Changed,
                    "the records were changed while an agent ran".to_owned(),
                )),
            }
        }
        for (path, bytes) in &self.files {
            if fs::symlink_metadata(path).is_err() && make_parent(path).is_ok() {
                // What cannot be written is missed by who needs it, and said then.
                drop(checkrein_files::replace(path, bytes, 0o600, Forced::Name));
            }
        }
        for (path, damage, reason) in told {
            if damage != LedgerDamage::PutBack {
                // Told once; its witnesses stay.
                self.ledgers.remove(&path);
            }
            let folder = path.parent().and_then(Path::file_name).and_then(FolderName::on_disk);
            let folder = folder.filter(|folder| state.ledger(folder).path() == path);
            let name = folder.as_ref().map_or_else(
                || path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                |folder| folder.as_str().to_owned(),
            );
            match damage {
                LedgerDamage::PutBack => self.put_back.insert(name),
                _ => self.lost.insert(name),
            };
            if let Some(folder) = folder {
                self.record(&folder, damage, &reason);
            }
        }
    }

    /// Adds the heads again that are gone: the file only grows, whoever writes it.
    fn put_heads_back(&mut self) {
        let path = self.environment.state.heads();
        let now = checkrein_files::read(&path, LONGEST).unwrap_or_default();
        if now.starts_with(&self.heads) {
            return;
        }
        let mut whole = self.heads.clone();
        whole.extend(&now);
        if make_parent(&path)
            .and_then(|()| checkrein_files::replace(&path, &whole, 0o600, Forced::Name))
            .is_ok()
        {
            self.put_back.insert("heads".to_owned());
            self.heads = whole;
        }
    }

    /// Writes down in the ledger of a session what became of it.
    fn record(&self, folder: &FolderName, damage: LedgerDamage, reason: &str) {
        let body = RecordBody::Repaired { damage, lost_bytes: 0, kept: None, reason: reason.to_owned() };
        let ledger = SessionLedger::of_folder(&self.environment.state, folder.clone());
        if let Err(error) = ledger.append(self.environment.now(), body, Durability::Durable) {
            log(&format!("checkrein: not recorded: {}", plain(&error.to_string())));
        }
    }
}

/// The files of a folder, but for what is made anew from others or held open.
fn files_in(folder: Option<&Path>) -> Vec<PathBuf> {
    const LEFT: [&str; 5] = ["ledger.jsonl", "state", "picture", "room", "plugins.lock"];
    let entries = folder.into_iter().flat_map(fs::read_dir).flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter(|entry| !LEFT.iter().any(|left| entry.file_name() == *left))
        .map(|entry| entry.path())
        .collect()
}

/// What snapshots saved, one path for each of them.
fn packs(environment: &HostEnvironment) -> BTreeSet<PathBuf> {
    let stores = fs::read_dir(environment.state.root().join("snapshots")).into_iter().flatten().flatten();
    let packs =
        stores.flat_map(|store| fs::read_dir(store.path().join("packs")).into_iter().flatten().flatten());
    packs.map(|pack| pack.path()).collect()
}

/// The first names, and how many more there are.
fn named(names: &BTreeSet<String>) -> String {
    let first: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{}`", plain(name))).collect();
    match names.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
