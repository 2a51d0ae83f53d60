//! One file of objects, closed by a table of them, a snapshot and a seal.
//!
//! A pack is written from front to back under its final name and is nothing until its seal stands: a writer that dies leaves a file that
//! nobody reads and that pruning takes away. So no file of the store is ever changed, and one forced write makes a snapshot durable.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::SnapshotError;
use crate::id::ObjectId;
use crate::node::Snapshot;
use crate::sealing::Seals;

const MAGIC: &[u8; 8] = b"checkpk1";

/// What a sealed snapshot is bound to.
const SNAPSHOT: &[u8] = b"snapshot";

/// How many bytes the hash over the table and that over the snapshot have each.
const CHECKSUM: usize = 16;

/// The seal: where the table begins, where the snapshot begins, a hash over each, the magic.
const SEAL: usize = 8 + 8 + 2 * CHECKSUM + 8;

/// What is gathered before it is written, in bytes.
const BUFFER: usize = 1024 * 1024;

/// The greatest object that is stored in one piece, in bytes (ours); longer files are stored in parts.
pub(crate) const PART: usize = 4 * 1024 * 1024;

/// How an object is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Form {
    /// As it is: it does not get much smaller.
    Plain,
    /// LZ4, one block.
    Lz4,
    /// Sealed, as it was before that.
    SealedPlain,
    /// Sealed, LZ4 before that.
    SealedLz4,
}

impl Form {
    /// The form that it has once it is sealed.
    pub(crate) fn sealed(self) -> Self {
        match self {
            Self::Plain | Self::SealedPlain => Self::SealedPlain,
            Self::Lz4 | Self::SealedLz4 => Self::SealedLz4,
        }
    }

    /// Whether it is sealed.
    pub(crate) fn is_sealed(self) -> bool {
        match self {
            Self::Plain | Self::Lz4 => false,
            Self::SealedPlain | Self::SealedLz4 => true,
        }
    }
}

/// Where an object is in its pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Its name here: that of its content, or the one that was made with the key.
    pub(crate) name: ObjectId,
    /// From the beginning of the pack.
    pub(crate) at: u64,
    /// As stored.
    pub(crate) stored: u32,
    /// As it was.
    pub(crate) length: u32,
    pub(crate) form: Form,
}

/// An object in the form in which it is stored.
#[derive(Debug)]
pub(crate) struct Packed<'a> {
    pub(crate) form: Form,
    pub(crate) bytes: std::borrow::Cow<'a, [u8]>,
    pub(crate) length: u32,
}

/// Compresses an object where that is worth it.
pub(crate) fn packed(content: &[u8]) -> Packed<'_> {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    if content.len() > 64 {
        let smaller = lz4_flex::block::compress(content);
        // Reading back costs time too, so a little is not worth it.
        if smaller.len() < content.len() - content.len() / 16 {
            return Packed { form: Form::Lz4, bytes: smaller.into(), length };
        }
    }
    plain(content)
}

/// An object as it is.
pub(crate) fn plain(content: &[u8]) -> Packed<'_> {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    Packed { form: Form::Plain, bytes: content.into(), length }
}

/// A pack that is being written.
#[derive(Debug)]
pub(crate) struct PackWriter {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
    /// How much is in the file already.
    written: u64,
    rows: Vec<Row>,
}

impl PackWriter {
    /// Begins a pack at a path where none is.
    pub(crate) fn create(path: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { file, path, buffer: MAGIC.to_vec(), written: 0, rows: Vec::new() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds an object under a name and says where it is.
    pub(crate) fn add(&mut self, name: ObjectId, object: &Packed<'_>) -> Result<Row, SnapshotError> {
        let at = self.written + self.buffer.len() as u64;
        let stored = u32::try_from(object.bytes.len()).unwrap_or(u32::MAX);
        let row = Row { name, at, stored, length: object.length, form: object.form };
        self.buffer.extend_from_slice(&object.bytes);
        self.rows.push(row);
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        Ok(row)
    }

    /// Reads an object that was added before.
    pub(crate) fn read(&mut self, id: &ObjectId, row: &Row, seals: &Seals) -> Result<Vec<u8>, SnapshotError> {
        self.flush()?;
        let stored = read_stored(&self.file, &self.path, id, row)?;
        content(id, row, stored, seals)
    }

    /// Closes the pack: from now on it counts, and it is on the disk.
    pub(crate) fn seal(mut self, snapshot: Option<&Snapshot>, seals: &Seals) -> Result<(), SnapshotError> {
        let table_at = self.written + self.buffer.len() as u64;
        let table = encode(&self.rows, &self.path)?;
        let snapshot = seals.seal(&encode(&snapshot, &self.path)?, SNAPSHOT)?;
        let snapshot_at = table_at + table.len() as u64;
        self.buffer.extend_from_slice(&table);
        self.buffer.extend_from_slice(&snapshot);
        let seal = seal(table_at, snapshot_at, &table, &snapshot);
        self.buffer.extend_from_slice(&seal);
        self.flush()?;
        if self.rows.is_empty() {
            // It says only that what earlier packs hold was there again; nobody need wait for that.
            return Ok(());
        }
        self.file.sync_data().map_err(SnapshotError::write(&self.path))
    }

    /// Gives the pack up.
    pub(crate) fn discard(self) -> Result<(), SnapshotError> {
        std::fs::remove_file(&self.path).map_err(SnapshotError::write(&self.path))
    }

    fn flush(&mut self) -> Result<(), SnapshotError> {
        self.file.write_all_at(&self.buffer, self.written).map_err(SnapshotError::write(&self.path))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// A pack that was closed.
#[derive(Debug)]
pub(crate) struct Pack {
    file: File,
    path: PathBuf,
    table_at: u64,
    snapshot_at: u64,
    end: u64,
    checksum: [u8; 32],
    seals: Seals,
}

impl Pack {
    /// Opens a pack; `None` when it was never closed.
    pub(crate) fn open(path: &Path, seals: &Seals) -> Result<Option<Self>, SnapshotError> {
        let file = checkrein_files::open(path).map_err(SnapshotError::read(path))?;
        let length = file.metadata().map_err(SnapshotError::read(path))?.len();
        let Some(end) = length.checked_sub(SEAL as u64) else { return Ok(None) };
        let mut seal = [0_u8; SEAL];
        file.read_exact_at(&mut seal, end).map_err(SnapshotError::read(path))?;
        let (Some(table_at), Some(snapshot_at), Some(checksum)) =
            (number(&seal, 0), number(&seal, 8), seal.get(16..48).and_then(|part| part.try_into().ok()))
        else {
            return Ok(None);
        };
        let is_whole = seal.ends_with(MAGIC) && table_at <= snapshot_at && snapshot_at <= end;
        let (path, seals) = (path.to_owned(), seals.clone());
        Ok(is_whole.then_some(Self { file, path, table_at, snapshot_at, end, checksum, seals }))
    }

    /// Its length in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.end + SEAL as u64
    }

    /// The objects in it.
    pub(crate) fn rows(&self) -> Result<Vec<Row>, SnapshotError> {
        decode(&self.part(self.table_at, self.snapshot_at, 0)?, &self.path)
    }

    /// The snapshot in it; `None` in a pack that only holds objects of others.
    pub(crate) fn snapshot(&self) -> Result<Option<Snapshot>, SnapshotError> {
        self.seals.value(self.part(self.snapshot_at, self.end, 1)?, &self.path, SNAPSHOT)
    }

    /// An object in it, checked against its id.
    pub(crate) fn read(&self, id: &ObjectId, row: &Row) -> Result<Vec<u8>, SnapshotError> {
        content(id, row, self.stored(id, row)?, &self.seals)
    }

    /// The same in the form in which it is stored.
    pub(crate) fn stored(&self, id: &ObjectId, row: &Row) -> Result<Vec<u8>, SnapshotError> {
        read_stored(&self.file, &self.path, id, row)
    }

    /// One of the two parts behind the objects, checked against its half of the seal.
    fn part(&self, from: u64, to: u64, half: usize) -> Result<Vec<u8>, SnapshotError> {
        let torn = |cause| SnapshotError::Torn { path: self.path.clone(), cause };
        let length = usize::try_from(to - from).map_err(|_| torn("its table is too long"))?;
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, from).map_err(SnapshotError::read(&self.path))?;
        let known = self.checksum.get(half * CHECKSUM..(half + 1) * CHECKSUM);
        if known == Some(&checksum(from, &bytes)) {
            Ok(bytes)
        } else {
            Err(torn("it is not what was written"))
        }
    }
}

fn read_stored(file: &File, path: &Path, id: &ObjectId, row: &Row) -> Result<Vec<u8>, SnapshotError> {
    if row.length as usize > PART * 16 {
        return Err(SnapshotError::Damaged { id: *id, cause: "is longer than any object" });
    }
    let mut stored = vec![0; row.stored as usize];
    file.read_exact_at(&mut stored, row.at).map_err(SnapshotError::read(path))?;
    Ok(stored)
}

/// The content of an object from what is stored of it.
fn content(id: &ObjectId, row: &Row, stored: Vec<u8>, seals: &Seals) -> Result<Vec<u8>, SnapshotError> {
    let damaged = |cause| SnapshotError::Damaged { id: *id, cause };
    let decompressed = |bytes: &[u8]| {
        lz4_flex::block::decompress(bytes, row.length as usize).map_err(|_| damaged("cannot be decompressed"))
    };
    let content = match row.form {
        Form::Plain => stored,
        Form::Lz4 => decompressed(&stored)?,
        Form::SealedPlain => seals.open(stored, id.as_bytes())?,
        Form::SealedLz4 => decompressed(&seals.open(stored, id.as_bytes())?)?,
    };
    if ObjectId::of(&content) == *id { Ok(content) } else { Err(damaged("is not what was written")) }
}

fn seal(table_at: u64, snapshot_at: u64, table: &[u8], snapshot: &[u8]) -> Vec<u8> {
    let mut seal = Vec::with_capacity(SEAL);
    seal.extend_from_slice(&table_at.to_le_bytes());
    seal.extend_from_slice(&snapshot_at.to_le_bytes());
    seal.extend_from_slice(&checksum(table_at, table));
    seal.extend_from_slice(&checksum(snapshot_at, snapshot));
    seal.extend_from_slice(MAGIC);
    seal
}

fn checksum(at: u64, part: &[u8]) -> [u8; CHECKSUM] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&at.to_le_bytes()).update(part);
    let mut sum = [0; CHECKSUM];
    hasher.finalize_xof().fill(&mut sum);
    sum
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8).and_then(|part| part.try_into().ok()).map(u64::from_le_bytes)
}

/// The stored form of a value.
pub(crate) fn encode<T: Serialize>(value: &T, path: &Path) -> Result<Vec<u8>, SnapshotError> {
    postcard::to_stdvec(value)
        .map_err(|_| SnapshotError::Torn { path: path.to_owned(), cause: "it cannot be written down" })
}

/// A value from its stored form.
pub(crate) fn decode<T: for<'de> Deserialize<'de>>(bytes: &[u8], path: &Path) -> Result<T, SnapshotError> {
    postcard::from_bytes(bytes).map_err(|_| SnapshotError::Torn {
        path: path.to_owned(),
        cause: "it is of a form that is not known",
    })
}
