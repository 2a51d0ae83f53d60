//! The ledger of one session: appending under a lock, and the state that goes with it.

use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use checkrein_protocol::{Damage, EffectKind, Record, RecordBody, ReviewRecord, SessionId, Timestamp};

use crate::cache::Cached;
use crate::error::LedgerError;
use crate::heads;
use crate::home::{FolderName, StateHome, append_private, create_directory};
use crate::line::{Checked, SEAL_LENGTH, check, claimed_hash, seal};
use crate::mask::{Masking, mask_body};
use crate::read::read_line;
use crate::state::SessionState;

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
pub struct SessionLedger {
    home: StateHome,
    folder: FolderName,
    directory: PathBuf,
    lock_wait: Duration,
    masking: Masking,
    witness: Option<PathBuf>,
}

/// What an append did.
#[derive(Debug)]
pub struct Appended {
    /// The records, as written; the first ones say what was repaired, when something was.
    pub records: Vec<Record>,
    /// The state after them.
    pub state: SessionState,
    /// What failed beside the ledger, which holds the records all the same: the state or the file of heads.
    pub problems: Vec<LedgerError>,
}

/// A session as it was read, with all that is needed to append to it without reading it again.
#[derive(Debug)]
pub struct KnownSession {
    cached: Cached,
    /// The ledger, open for appending; `None` when it is not there or may only be read.
    file: Option<File>,
    /// Whether the state file was at the end of the ledger. If not, somebody may be about to write it.
    kept_up: bool,
}

impl KnownSession {
    /// A session of which nothing is known.
    pub fn unknown() -> Self {
        Self { cached: Cached::empty(), file: None, kept_up: false }
    }

    /// The state after the last whole record.
    pub fn state(&self) -> &SessionState {
        &self.cached.state
    }
}

impl SessionLedger {
    /// The ledger of `session`; nothing is read or created before it is used.
    pub fn open(home: &StateHome, session: &SessionId) -> Self {
        Self::of_folder(home, FolderName::of(session))
    }

    /// The ledger in a folder.
    pub fn of_folder(home: &StateHome, folder: FolderName) -> Self {
        let directory = home.session(&folder);
        Self {
            home: home.clone(),
            folder,
            directory,
            lock_wait: LOCK_WAIT,
            masking: Masking::default(),
            witness: None,
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
    pub fn path(&self) -> PathBuf {
        self.directory.join("ledger.jsonl")
    }

    /// The state after the last whole record. Takes no lock and writes nothing; costs the same however long the ledger is,
    /// unless the state file is missing or behind.
    pub fn state(&self) -> Result<SessionState, LedgerError> {
        Ok(self.current()?.state)
    }

    /// The same, to append to it afterwards with [`Self::append_to`].
    pub fn known(&self) -> Result<KnownSession, LedgerError> {
        let path = self.path();
        let mut options = std::fs::OpenOptions::new();
        match checkrein_files::open_with(options.read(true).append(true), &path) {
            Ok(file) => {
                let (cached, kept_up) = self.read_current(&file)?;
                Ok(KnownSession { cached, file: Some(file), kept_up })
            }
            Err(_) => Ok(KnownSession { cached: self.current()?, file: None, kept_up: false }),
        }
    }

    /// Appends one record, masked, to a session that was read before: whatever came in between is read too, and when nothing did,
    /// nothing is read again.
    pub fn append_to(
        &self,
        known: KnownSession,
        at: Timestamp,
        body: RecordBody,
        durability: Durability,
    ) -> Result<Appended, LedgerError> {
        self.append_all_to(known, at, vec![body], durability)
    }

    /// The same for several records, with one write.
    pub fn append_all_to(
        &self,
        known: KnownSession,
        at: Timestamp,
        bodies: Vec<RecordBody>,
        durability: Durability,
    ) -> Result<Appended, LedgerError> {
        self.append_after(Some(known), at, bodies, durability)
    }

    /// Appends one record, masked. `at` is the time to write on it.
    pub fn append(
        &self,
        at: Timestamp,
        body: RecordBody,
        durability: Durability,
    ) -> Result<Appended, LedgerError> {
        self.append_all(at, vec![body], durability)
    }

    /// Appends records, masked, with one write: all of them or none. The start of a session is followed by the heads of
    /// other ledgers.
    pub fn append_all(
        &self,
        at: Timestamp,
        bodies: Vec<RecordBody>,
        durability: Durability,
    ) -> Result<Appended, LedgerError> {
        self.append_after(None, at, bodies, durability)
    }

    fn append_after(
        &self,
        known: Option<KnownSession>,
        at: Timestamp,
        mut bodies: Vec<RecordBody>,
        durability: Durability,
    ) -> Result<Appended, LedgerError> {
        let key = self.home.mask_key()?.with_masking(self.masking.clone());
        for body in &mut bodies {
            mask_body(body, &key);
        }
        let starts = bodies.iter().any(|body| matches!(body, RecordBody::SessionStarted { .. }));
        if starts {
            bodies.extend(heads::anchors(&self.home, &self.folder));
        }

        let is_unread =
            bodies.iter().any(|body| matches!(body, RecordBody::Review(review) if may_do_anything(review)));

        let (locked, cached) = self.lock_with_cache(known)?;
        let (mut cached, repairs) = locked.catch_up(cached, &self.directory)?;

        let mut text = String::new();
        let mut records = Vec::with_capacity(repairs.len() + bodies.len());
        let before = cached.seq;
        for body in repairs.into_iter().chain(bodies) {
            let (record, line) = seal(cached.seq + 1, cached.hash, at, body)?;
            text.push_str(&line);
            cached.seq = record.seq;
            cached.hash = record.hash.clone();
            cached.state.apply(&record);
            records.push(record);
        }
        locked.write(text.as_bytes(), cached.length)?;
        cached.length += text.len() as u64;
        if durability == Durability::Durable {
            locked.sync()?;
            if !cached.directory_durable {
                sync_directories(&self.home, &self.directory)?;
                cached.directory_durable = true;
            }
        }

        let mut problems = Vec::new();
        let interval_reached = before / HEAD_INTERVAL != cached.seq / HEAD_INTERVAL;
        if durability == Durability::Durable || starts || interval_reached {
            problems.extend(heads::write(&self.home, &self.folder, cached.seq, &cached.hash).err());
            if let Some(file) = &self.witness {
                problems.extend(heads::write_to(file, self.folder.as_str(), cached.seq, &cached.hash).err());
            }
        }
        if (durability == Durability::Durable || starts || interval_reached || is_unread)
            && let Some(testimony) = self.home.testimony()
        {
            problems.extend(testimony.write(&self.folder, cached.seq, &cached.hash).err());
        }
        problems.extend(cached.write(&self.directory).map_err(LedgerError::write(&self.directory)).err());
        drop(locked);
        Ok(Appended { records, state: cached.state, problems })
    }

    /// How far the ledger goes and the state there, without a lock; an unfinished last line is left out.
    pub(crate) fn current(&self) -> Result<Cached, LedgerError> {
        let path = self.path();
        match checkrein_files::open(&path) {
            Ok(file) => Ok(self.read_current(&file)?.0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(self.cached()),
            Err(source) => Err(LedgerError::Read { path, source }),
        }
    }

    fn cached(&self) -> Cached {
        Cached::read(&self.directory).unwrap_or_else(Cached::empty)
    }

    /// The same from the open ledger, and whether the state file alone said it.
    fn read_current(&self, file: &File) -> Result<(Cached, bool), LedgerError> {
        let path = self.path();
        let cached = self.cached();
        let length = file.metadata().map_err(LedgerError::read(&path))?.len();
        if length <= cached.length {
            let kept_up = length == cached.length;
            return Ok((cached, kept_up));
        }
        let (cached, _) = read_on(file, &path, cached)?;
        Ok((cached, false))
    }

    /// Takes the lock and reads the state file. A long rebuild happens outside the lock, so that nobody waits for it.
    fn lock_with_cache(&self, known: Option<KnownSession>) -> Result<(Locked, Cached), LedgerError> {
        let mut rebuilt = None;
        let (mut file, mut known) = match known {
            Some(known) => (known.file, known.kept_up.then_some(known.cached)),
            None => (None, None),
        };
        loop {
            let locked = self.lock_file(file.take())?;
            // A ledger that is as long as it was is the one that was read; its last record is compared later all the same.
            if let Some(cached) = known.take().filter(|cached| cached.length == locked.length) {
                return Ok((locked, cached));
            }
            if let Some(cached) = Cached::read(&self.directory) {
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
                Err(source) => return Err(LedgerError::Write { path, source }),
            };
            wait_for_lock(&file, &path, began, self.lock_wait)?;
            let facts = file.metadata().map_err(LedgerError::read(&path))?;
            // Retention may have removed the folder while we waited; then this file is nobody's ledger any more.
            if facts.nlink() > 0 {
                return Ok(Locked { file, path, length: facts.len() });
            }
        }
    }
}

/// Whether a call was reviewed of which nobody can tell what it does to the records themselves.
fn may_do_anything(review: &ReviewRecord) -> bool {
    review.effects.iter().any(|effect| effect.kind == EffectKind::Opaque)
}

/// A ledger under lock; the lock ends with this value.
#[derive(Debug)]
pub(crate) struct Locked {
    file: File,
    path: PathBuf,
    pub(crate) length: u64,
}

impl Locked {
    /// Brings the state up to the end of the ledger and says what was found damaged. A torn last line is moved aside.
    fn catch_up(&self, cached: Cached, directory: &Path) -> Result<(Cached, Vec<RecordBody>), LedgerError> {
        let mut repairs = Vec::new();
        let mut cached = cached;
        if self.length < cached.length {
            let lost = cached.length - self.length;
            repairs.push(repaired(
                Damage::Shortened,
                lost,
                None,
                format!(
                    "the ledger was {} bytes long after record {} and is now {}",
                    cached.length, cached.seq, self.length
                ),
            ));
            cached = cached.emptied();
        } else if !self.ends_with_record(&cached)? {
            repairs.push(repaired(
                Damage::Changed,
                0,
                None,
                format!("record {} is not the one that was written", cached.seq),
            ));
            cached = cached.emptied();
        }
        if cached.length == self.length {
            return Ok((cached, repairs));
        }

        let (cached, unreadable) = read_on(&self.file, &self.path, cached)?;
        if unreadable > 0 {
            let reason = format!("{unreadable} lines are no records");
            repairs.push(repaired(Damage::Unreadable, 0, None, reason));
        }
        let torn = self.length.saturating_sub(cached.length);
        if torn > 0 {
            let kept = self.move_tail_aside(cached.length, directory)?;
            let reason = "the last line was not written to its end".to_owned();
            repairs.push(repaired(Damage::TornTail, torn, Some(kept), reason));
        }
        Ok((cached, repairs))
    }

    /// Whether the record that the state knows as the last one stands where it ended.
    fn ends_with_record(&self, cached: &Cached) -> Result<bool, LedgerError> {
        let Some(start) = cached.length.checked_sub(SEAL_LENGTH as u64 + 1) else {
            return Ok(cached.seq == 0);
        };
        let mut end = [0_u8; SEAL_LENGTH + 1];
        self.file.read_exact_at(&mut end, start).map_err(LedgerError::read(&self.path))?;
        let Some((b'\n', seal)) = end.split_last() else { return Ok(false) };
        Ok(claimed_hash(seal).as_ref() == Some(&cached.hash))
    }

    /// Copies everything from `start` into a file beside the ledger, then takes it out of the ledger. Returns the file's name.
    fn move_tail_aside(&self, start: u64, directory: &Path) -> Result<String, LedgerError> {
        let mut tail = Vec::new();
        let mut reader = &self.file;
        reader
            .seek(SeekFrom::Start(start))
            .and_then(|_| reader.read_to_end(&mut tail))
            .map_err(LedgerError::read(&self.path))?;
        for number in 1_u32.. {
            let name = format!("{TORN_PREFIX}{number}");
            let path = directory.join(&name);
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create_new(true);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Ok(mut file) => {
                    file.write_all(&tail)
                        .and_then(|()| file.sync_data())
                        .map_err(LedgerError::write(&path))?;
                    self.file.set_len(start).map_err(LedgerError::write(&self.path))?;
                    return Ok(name);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(LedgerError::Write { path, source }),
            }
        }
        Err(LedgerError::Write { path: directory.to_owned(), source: io::ErrorKind::AlreadyExists.into() })
    }

    /// Appends the text; when that fails, the ledger is as long as before.
    fn write(&self, text: &[u8], length: u64) -> Result<(), LedgerError> {
        let mut writer = &self.file;
        writer.write_all(text).map_err(|source| {
            // What was written of our own line is no record yet. Should this fail too, the next append finds a torn line.
            let _ = self.file.set_len(length);
            LedgerError::Write { path: self.path.clone(), source }
        })
    }

    fn sync(&self) -> Result<(), LedgerError> {
        self.file.sync_data().map_err(LedgerError::write(&self.path))
    }
}

/// Takes the lock of a file, waiting no longer than `wait` from `began` on.
pub(crate) fn wait_for_lock(
    file: &File,
    path: &Path,
    began: Instant,
    wait: Duration,
) -> Result<(), LedgerError> {
    let mut pause = Duration::from_micros(100);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if began.elapsed() >= wait => {
                return Err(LedgerError::Busy { path: path.to_owned(), waited: wait });
            }
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(4));
            }
            Err(TryLockError::Error(source)) => {
                return Err(LedgerError::Write { path: path.to_owned(), source });
            }
        }
    }
}

/// What the names of files begin with that keep torn lines.
pub(crate) const TORN_PREFIX: &str = "ledger.torn-";

/// Applies all whole lines after the known length. Returns how far that leads, and how many lines are no records.
fn read_on(file: &File, path: &Path, mut cached: Cached) -> Result<(Cached, u64), LedgerError> {
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    reader.seek(SeekFrom::Start(cached.length)).map_err(LedgerError::read(path))?;
    let mut unreadable = 0;
    let mut line = Vec::new();
    loop {
        let count = read_line(&mut reader, &mut line).map_err(LedgerError::read(path))?;
        let Some((b'\n', text)) = line.split_last() else { return Ok((cached, unreadable)) };
        cached.length += count as u64;
        if let Some(record) = crate::line::record(text) {
            cached.state.apply(&record);
            cached.seq = record.seq;
            cached.hash = record.hash;
        } else {
            unreadable += 1;
            if let Checked::Whole(header) | Checked::Altered(header) = check(text) {
                cached.seq = header.seq;
                cached.hash = header.hash;
            }
        }
    }
}

fn repaired(damage: Damage, lost_bytes: u64, kept: Option<String>, reason: String) -> RecordBody {
    RecordBody::Repaired { damage, lost_bytes, kept, reason }
}

/// Makes the names of a new ledger durable, up to the state directory.
fn sync_directories(home: &StateHome, directory: &Path) -> Result<(), LedgerError> {
    for path in [directory, &home.sessions(), home.root()] {
        File::open(path).and_then(|file| file.sync_all()).map_err(LedgerError::write(path))?;
    }
    Ok(())
}
