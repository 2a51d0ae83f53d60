//! The ledger of one session: appending under a lock, and the projection that goes with it.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use checkrein_protocol::{ActionId, EffectKind, Record, RecordBody, ReviewRecord, SessionId, Timestamp};

use crate::anchors;
use crate::cache::Cached;
use crate::error::LedgerError;
use crate::event_log::EventLog;
use crate::hash_chain::seal;
use crate::ledger_file::LedgerFile;
use crate::locked::{Locked, read_on, wait_for_lock};
use crate::mask::{Masking, mask_body};
use crate::projection::Projection;
use crate::room;
use crate::state_directory::{FolderName, StateDirectory, append_private, create_directory};

/// How long an append waits for another process by default (ours).
pub const LOCK_WAIT: Duration = Duration::from_secs(2);

/// A head goes to the file of heads at least every so many records (ours).
const HEAD_INTERVAL: u64 = 64;

/// Whether a record must survive a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It survives the death of the process: ordinary verdicts and outcomes.
    Plain,
    /// It is on the disk when the append returns: blocks, halts, approvals, snapshots.
    Durable,
}

/// The ledger of one session.
#[derive(Debug, Clone)]
pub struct Ledger<P> {
    home: StateDirectory,
    folder: FolderName,
    directory: PathBuf,
    lock_wait: Duration,
    masking: Masking,
    witness: Option<PathBuf>,
    events: Option<EventLog>,
    projection: PhantomData<fn() -> P>,
}

/// What an append did.
#[derive(Debug)]
pub struct Appended<P> {
    /// The records, as written; the first ones say what was repaired, when something was.
    pub records: Vec<Record>,
    /// The state after them.
    pub state: P,
    /// What failed beside the ledger, which holds the records all the same: the state or the file of heads.
    pub problems: Vec<LedgerError>,
}

/// A session as it was read, with all that is needed to append to it without reading it again.
#[derive(Debug)]
pub struct Known<P> {
    cached: Cached<P>,
    /// The ledger, open for appending; `None` when it is not there or may only be read.
    file: Option<File>,
    /// Whether the state file was at the end of the ledger. If not, somebody may be about to write it.
    kept_up: bool,
}

impl<P: Projection> Known<P> {
    /// A session of which nothing is known.
    pub fn unknown() -> Self {
        Self { cached: Cached::empty(), file: None, kept_up: false }
    }

    /// The state after the last whole record.
    pub fn state(&self) -> &P {
        &self.cached.state
    }
}

impl<P: Projection> Ledger<P> {
    /// The ledger of `session`; nothing is read or created before it is used.
    pub fn open(home: &StateDirectory, session: &SessionId) -> Self {
        Self::of_folder(home, FolderName::of(session))
    }

    /// The ledger in a folder.
    pub fn of_folder(home: &StateDirectory, folder: FolderName) -> Self {
        let directory = home.session(&folder);
        Self {
            home: home.clone(),
            folder,
            directory,
            lock_wait: LOCK_WAIT,
            masking: Masking::default(),
            witness: None,
            events: None,
            projection: PhantomData,
        }
    }

    /// The same ledger with another bound on the wait for other processes.
    #[must_use]
    pub fn with_lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait;
        self
    }

    /// The same ledger, and its heads are appended to this file too, wherever they are written down.
    #[must_use]
    pub fn with_witness(mut self, file: Option<PathBuf>) -> Self {
        self.witness = file;
        self
    }

    /// The same ledger, and what its records tell goes to this event log too.
    #[must_use]
    pub fn with_events(mut self, events: Option<EventLog>) -> Self {
        self.events = events;
        self
    }

    /// The same ledger, and this is masked before anything is written.
    #[must_use]
    pub fn with_masking(mut self, masking: Masking) -> Self {
        self.masking = masking;
        self
    }

    /// The name of its folder.
    pub fn folder(&self) -> &FolderName {
        &self.folder
    }

    /// Its folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file with the records.
    pub fn path(&self) -> LedgerFile {
        self.home.ledger(&self.folder)
    }

    /// The state after the last whole record. Takes no lock and writes nothing; costs the same however long the ledger is,
    /// unless the state file is missing or behind.
    pub fn state(&self) -> Result<P, LedgerError> {
        Ok(self.current()?.state)
    }

    /// The same, to append to it afterwards with [`Self::append_to`].
    pub fn known(&self) -> Result<Known<P>, LedgerError> {
        let path = self.path();
        let mut options = std::fs::OpenOptions::new();
        match checkrein_files::open_with(options.read(true).append(true), &path) {
            Ok(file) => {
                let (cached, kept_up) = self.read_current(&file)?;
                Ok(Known { cached, file: Some(file), kept_up })
            }
            Err(_) => Ok(Known { cached: self.current()?, file: None, kept_up: false }),
        }
    }

    /// Appends one record, masked, to a session that was read before: whatever came in between is read too, and when nothing did,
    /// nothing is read again.
    pub fn append_to(
        &self,
        known: Known<P>,
        at: Timestamp,
        body: RecordBody,
        durability: Durability,
    ) -> Result<Appended<P>, LedgerError> {
        self.append_all_to(known, at, vec![body], durability)
    }

    /// The same for several records, with one write.
    pub fn append_all_to(
        &self,
        known: Known<P>,
        at: Timestamp,
        bodies: Vec<RecordBody>,
        durability: Durability,
    ) -> Result<Appended<P>, LedgerError> {
        self.append_after(Some(known), at, bodies, durability)
    }

    /// Appends one record, masked. `at` is the time to write on it.
    pub fn append(
        &self,
        at: Timestamp,
        body: RecordBody,
        durability: Durability,
    ) -> Result<Appended<P>, LedgerError> {
        self.append_all(at, vec![body], durability)
    }

    /// Appends records, masked, with one write: all of them or none. The start of a session is followed by the heads of
    /// other ledgers.
    pub fn append_all(
        &self,
        at: Timestamp,
        bodies: Vec<RecordBody>,
        durability: Durability,
    ) -> Result<Appended<P>, LedgerError> {
        self.append_after(None, at, bodies, durability)
    }

    /// Marks that an action was answered of which no record could be written. Needs no free block where the session began with some.
    pub fn mark_answered(&self, action: &ActionId) -> Result<(), LedgerError> {
        room::mark(&self.directory, action).map_err(LedgerError::write(&self.directory))
    }

    /// Whether an action was answered of which no record could be written.
    pub fn was_answered(&self, action: &ActionId) -> bool {
        room::is_marked(&self.directory, action)
    }

    fn append_after(
        &self,
        known: Option<Known<P>>,
        at: Timestamp,
        mut bodies: Vec<RecordBody>,
        durability: Durability,
    ) -> Result<Appended<P>, LedgerError> {
        let key = self.home.mask_key()?.with_masking(self.masking.clone());
        for body in &mut bodies {
            mask_body(body, &key);
        }
        let starts = bodies.iter().any(|body| matches!(body, RecordBody::SessionStarted { .. }));
        if starts {
            bodies.extend(anchors::anchors(&self.home, &self.folder));
        }

        let is_unread =
            bodies.iter().any(|body| matches!(body, RecordBody::Review(review) if may_do_anything(review)));

        let (locked, cached) = self.lock_with_cache(known)?;
        let (mut cached, repairs) = locked.catch_up(cached, &self.directory, self.home.vault())?;

        let mut text = String::new();
        let mut records = Vec::with_capacity(repairs.len() + bodies.len());
        let before = cached.position.seq;
        for body in repairs.into_iter().chain(bodies) {
            let (record, line) =
                seal(cached.position.seq + 1, cached.position.hash, at, body, self.home.vault())?;
            text.push_str(&line);
            cached.position.seq = record.seq;
            cached.position.hash = record.hash.clone();
            cached.state.apply(&record);
            records.push(record);
        }
        locked.write(text.as_bytes(), cached.position.length)?;
        cached.position.length += text.len() as u64;
        if durability == Durability::Durable {
            locked.sync()?;
            if !cached.position.directory_durable {
                sync_directories(&self.home, &self.directory)?;
                cached.position.directory_durable = true;
            }
        }

        let mut problems = Vec::new();
        if before == 0 {
            problems.extend(room::make(&self.directory).map_err(LedgerError::write(&self.directory)).err());
        }
        let interval_reached = before / HEAD_INTERVAL != cached.position.seq / HEAD_INTERVAL;
        if durability == Durability::Durable || starts || interval_reached {
            problems.extend(
                anchors::write(&self.home, &self.folder, cached.position.seq, &cached.position.hash).err(),
            );
            if let Some(file) = &self.witness {
                problems.extend(
                    anchors::write_to(file, self.folder.as_str(), cached.position.seq, &cached.position.hash)
                        .err(),
                );
            }
        }
        if (durability == Durability::Durable || starts || interval_reached || is_unread)
            && let Some(testimony) = self.home.testimony()
        {
            problems.extend(testimony.write(&self.folder, cached.position.seq, &cached.position.hash).err());
        }
        problems.extend(
            cached
                .write(&self.directory, self.home.vault())
                .map_err(LedgerError::write(&self.directory))
                .err(),
        );
        drop(locked);
        if let Some(events) = &self.events {
            let written = events.write(self.folder.as_str(), &records);
            problems.extend(written.map_err(LedgerError::write(&self.directory)).err());
        }
        Ok(Appended { records, state: cached.state, problems })
    }

    /// How far the ledger goes and the state there, without a lock; an unfinished last line is left out.
    pub(crate) fn current(&self) -> Result<Cached<P>, LedgerError> {
        let path = self.path();
        match checkrein_files::open(&path) {
            Ok(file) => Ok(self.read_current(&file)?.0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(self.cached()),
            Err(source) => Err(LedgerError::Read { path: path.to_path_buf(), source }),
        }
    }

    fn cached(&self) -> Cached<P> {
        Cached::read(&self.directory, self.home.vault()).unwrap_or_else(Cached::empty)
    }

    /// The same from the open ledger, and whether the state file alone said it.
    fn read_current(&self, file: &File) -> Result<(Cached<P>, bool), LedgerError> {
        let path = self.path();
        let cached = self.cached();
        let length = file.metadata().map_err(LedgerError::read(&path))?.len();
        if length <= cached.position.length {
            let kept_up = length == cached.position.length;
            return Ok((cached, kept_up));
        }
        let (cached, _) = read_on(file, &path, cached, self.home.vault())?;
        Ok((cached, false))
    }

    /// Takes the lock and reads the state file. A long rebuild happens outside the lock, so that nobody waits for it.
    fn lock_with_cache(&self, known: Option<Known<P>>) -> Result<(Locked, Cached<P>), LedgerError> {
        let mut rebuilt = None;
        let (mut file, mut known) = match known {
            Some(known) => (known.file, known.kept_up.then_some(known.cached)),
            None => (None, None),
        };
        loop {
            let locked = self.lock_file(file.take())?;
            // A ledger that is as long as it was is the one that was read; its last record is compared later all the same.
            if let Some(cached) = known.take().filter(|cached| cached.position.length == locked.length) {
                return Ok((locked, cached));
            }
            if let Some(cached) = Cached::read(&self.directory, self.home.vault()) {
                return Ok((locked, cached));
            }
            if locked.length == 0 {
                return Ok((locked, Cached::empty()));
            }
            if let Some(cached) = rebuilt.take() {
                return Ok((locked, cached));
            }
            drop(locked);
            rebuilt = Some(self.current()?);
        }
    }

    pub(crate) fn lock(&self) -> Result<Locked, LedgerError> {
        self.lock_file(None)
    }

    /// Takes the lock of the ledger, which may be open already.
    fn lock_file(&self, mut open: Option<File>) -> Result<Locked, LedgerError> {
        let path = self.path();
        let began = Instant::now();
        loop {
            let file = match open.take().map_or_else(|| append_private(&path), Ok) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    create_directory(&self.directory)?;
                    append_private(&path).map_err(LedgerError::write(&path))?
                }
                Err(source) => return Err(LedgerError::Write { path: path.to_path_buf(), source }),
            };
            wait_for_lock(&file, &path, began, self.lock_wait)?;
            let facts = file.metadata().map_err(LedgerError::read(&path))?;
            // Retention may have removed the folder while we waited; then this file is nobody's ledger any more.
            if facts.nlink() > 0 {
                return Ok(Locked::new(file, path.to_path_buf(), facts.len()));
            }
        }
    }
}

/// Whether a call was reviewed of which nobody can tell what it does to the records themselves.
fn may_do_anything(review: &ReviewRecord) -> bool {
    review.effects.iter().any(|effect| effect.kind == EffectKind::Opaque)
}

/// Makes the names of a new ledger durable, up to the state directory.
fn sync_directories(home: &StateDirectory, directory: &Path) -> Result<(), LedgerError> {
    for path in [directory, &home.sessions(), home.root()] {
        File::open(path).and_then(|file| file.sync_all()).map_err(LedgerError::write(path))?;
    }
    Ok(())
}
