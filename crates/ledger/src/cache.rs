//! The state on disk: the compact state in two files, `state` and `state.twin`, written in turn.
//!
//! A cache only: what is missing, torn or of another version counts as nothing. Each write goes in place into the older of the
//! two, so a writer that is killed, or a reader that comes meanwhile, still has the other, one append behind. Replacing one file by
//! renaming would be simpler and cost a hundred times as much where the file system flushes what is renamed over.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use checkrein_protocol::RecordHash;
use serde::{Deserialize, Serialize};

use crate::line::first_prev;
use crate::state::SessionState;

/// What a state file begins with; another layout gets another number.
const MAGIC: [u8; 8] = *b"reinst08";

/// The length of what stands before the payload: magic, checksum, generation, length of the payload.
const HEADER: usize = 32;

/// The greatest length of a payload that is read, in bytes; the bounds of the state keep it far below.
const LONGEST: u64 = 8 * 1024 * 1024;

/// How far a ledger was read, and the state there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cached {
    /// The number of the last record; 0 before the first.
    pub(crate) seq: u64,
    /// Its hash.
    pub(crate) hash: RecordHash,
    /// The length of the ledger up to its end, in bytes.
    pub(crate) length: u64,
    /// Whether the names of the directory and the ledger are known to be on the disk.
    pub(crate) directory_durable: bool,
    /// The state after it.
    pub(crate) state: SessionState,
    /// Where this was read from.
    #[serde(skip)]
    source: Source,
}

/// The file that a state was read from and its number among the writes; the next write goes to the other file.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Source {
    twin: Twin,
    generation: u64,
}

/// One of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Twin {
    First,
    /// Also said of a state that was not read, so that the first write makes the first file.
    #[default]
    Second,
}

impl Twin {
    fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    fn path(self, directory: &Path) -> PathBuf {
        directory.join(match self {
            Self::First => "state",
            Self::Second => "state.twin",
        })
    }
}

impl Cached {
    /// Before the first record.
    pub(crate) fn empty() -> Self {
        Self {
            seq: 0,
            hash: first_prev(),
            length: 0,
            directory_durable: false,
            state: SessionState::default(),
            source: Source::default(),
        }
    }

    /// The newest usable state in a session's folder. Without the lock both files may be in the middle of a write when they are
    /// looked at; then they are looked at again.
    pub(crate) fn read(directory: &Path) -> Option<Self> {
        const ATTEMPTS: usize = 4;
        (0..ATTEMPTS).find_map(|_| Self::read_once(directory))
    }

    fn read_once(directory: &Path) -> Option<Self> {
        let first = Stored::open(Twin::First, directory);
        let second = Stored::open(Twin::Second, directory);
        let generation = |stored: &Option<Stored>| stored.as_ref().map(|stored| stored.source.generation);
        let (newer, older) =
            if generation(&first) < generation(&second) { (second, first) } else { (first, second) };
        newer.and_then(Stored::read).or_else(|| older.and_then(Stored::read))
    }

    /// The empty state, to read everything anew, that will be written in place of this one.
    pub(crate) fn emptied(&self) -> Self {
        Self { source: self.source, ..Self::empty() }
    }

    /// Writes the state into the older file.
    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        let payload = postcard::to_stdvec(self).map_err(io::Error::other)?;
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&(self.source.generation + 1).to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&payload);
        let sum = checksum(bytes.get(16..).unwrap_or_default());
        for (place, byte) in bytes.iter_mut().skip(8).zip(sum.to_le_bytes()) {
            *place = byte;
        }
        let path = self.source.twin.other().path(directory);
        // What an earlier, longer state left behind the payload does no harm: the header says how long it is.
        let file = checkrein_files::open_with(
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600),
            path,
        )?;
        file.write_all_at(&bytes, 0)
    }
}

/// One of the two files, of which only the header was read.
struct Stored {
    source: Source,
    file: File,
    header: [u8; HEADER],
}

impl Stored {
    fn open(twin: Twin, directory: &Path) -> Option<Self> {
        let file = checkrein_files::open(twin.path(directory)).ok()?;
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0).ok()?;
        let generation = number_at(&header, 16)?;
        Some(Self { source: Source { twin, generation }, file, header })
    }

    /// The state, when the file is whole.
    fn read(self) -> Option<Cached> {
        // What the checksum covers: the end of the header, then the payload, read in one go.
        const COVERED: usize = HEADER - 16;
        let length = number_at(&self.header, 24).filter(|length| *length <= LONGEST)?;
        let mut bytes = vec![0; COVERED + usize::try_from(length).ok()?];
        self.file.read_exact_at(&mut bytes, 16).ok()?;
        let payload = bytes.get(COVERED..)?;
        let whole = self.header.starts_with(&MAGIC) && number_at(&self.header, 8) == Some(checksum(&bytes));
        let cached: Cached = if whole { postcard::from_bytes(payload).ok()? } else { return None };
        Some(Cached { source: self.source, ..cached })
    }
}

fn number_at(bytes: &[u8], start: usize) -> Option<u64> {
    bytes.get(start..)?.first_chunk::<8>().map(|number| u64::from_le_bytes(*number))
}

/// Tells a torn or zeroed file from a whole one; against accidents, not against people.
fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut sum = FACTOR ^ bytes.len() as u64;
    let take =
        |sum: u64, word: [u8; 8]| (sum ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        sum = take(sum, *word);
    }
    if !rest.is_empty() {
        let mut word = [0_u8; 8];
        for (place, byte) in word.iter_mut().zip(rest) {
            *place = *byte;
        }
        sum = take(sum, word);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(directory: &Path, seq: u64) -> Cached {
        let before = Cached::read(directory).unwrap_or_else(Cached::empty);
        let cached = Cached { seq, length: seq * 10, ..before };
        cached.write(directory).unwrap();
        Cached::read(directory).unwrap()
    }

    #[test]
    fn the_newest_is_read() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(Cached::read(directory.path()), None);
        for seq in [1, 2, 3, 2, 9] {
            assert_eq!(written(directory.path(), seq).seq, seq);
        }
    }

    #[test]
    fn a_damaged_file_leaves_the_one_before() {
        let directory = tempfile::tempdir().unwrap();
        written(directory.path(), 1);
        written(directory.path(), 2);
        let newest = written(directory.path(), 3);
        let path = newest.source.twin.path(directory.path());
        let whole = std::fs::read(&path).unwrap();
        for position in 0..whole.len() {
            let mut edited = whole.clone();
            edited[position] ^= 0x10;
            std::fs::write(&path, &edited).unwrap();
            assert_eq!(Cached::read(directory.path()).unwrap().seq, 2, "byte {position}");
            std::fs::write(&path, &whole[..position]).unwrap();
            assert_eq!(Cached::read(directory.path()).unwrap().seq, 2, "cut at {position}");
        }
        // The next write takes the damaged one's place.
        assert_eq!(written(directory.path(), 4).seq, 4);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(Cached::read(directory.path()).unwrap().seq, 2);
    }
}
