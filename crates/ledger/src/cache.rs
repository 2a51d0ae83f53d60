//! The projection on disk: how far a ledger was read and what its records came to, in two files, `state` and `state.twin`, written in turn.
//!
//! A cache only: what is missing, torn or of another version counts as nothing. Each write goes in place into the older of the
//! two, so a writer that is killed, or a reader that comes meanwhile, still has the other, one append behind. Replacing one file by
//! renaming would be simpler and cost a hundred times as much where the file system flushes what is renamed over.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use checkrein_protocol::RecordHash;
use checkrein_vault::Vault;
use serde::{Deserialize, Serialize};

use crate::hash_chain::first_prev;
use crate::projection::Projection;

/// What a state file begins with; the number of the layout of the projection follows.
const MAGIC: [u8; 6] = *b"reinst";

/// The length of what stands before the payload: magic, checksum, generation, length of the payload.
const HEADER: usize = 32;

/// The length of that part of the header that the checksum covers.
const COVERED: usize = HEADER - 16;

/// The greatest length of a payload that is read, in bytes; the bounds of the state keep it far below.
const LONGEST: u64 = 8 * 1024 * 1024;

/// How far a ledger was read. On disk it stands before the projection, and can be read without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The number of the last record; 0 before the first.
    pub(crate) seq: u64,
    /// Its hash.
    pub(crate) hash: RecordHash,
    /// The length of the ledger up to its end, in bytes.
    pub(crate) length: u64,
    /// Whether the names of the directory and the ledger are known to be on the disk.
    pub(crate) directory_durable: bool,
}

/// How far a ledger was read, and what its records up to there come to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cached<P> {
    /// How far.
    pub(crate) position: Position,
    /// The state after it.
    pub(crate) state: P,
    /// Where this was read from.
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

impl Position {
    /// Before the first record.
    fn start() -> Self {
        Self { seq: 0, hash: first_prev(), length: 0, directory_durable: false }
    }

    /// How far the newest usable state in a session's folder goes, whatever it is a state of.
    pub(crate) fn read(directory: &Path) -> Option<Self> {
        newest(directory, Stored::position)
    }
}

impl<P: Projection> Cached<P> {
    /// Before the first record.
    pub(crate) fn empty() -> Self {
        Self { position: Position::start(), state: P::default(), source: Source::default() }
    }

    /// The newest usable state in a session's folder.
    pub(crate) fn read(directory: &Path, vault: &Vault) -> Option<Self> {
        newest(directory, |stored| stored.cached(vault))
    }

    /// The empty state, to read everything anew, that will be written in place of this one.
    pub(crate) fn emptied(&self) -> Self {
        Self { source: self.source, ..Self::empty() }
    }

    /// Writes the state into the older file.
    pub(crate) fn write(&self, directory: &Path, vault: &Vault) -> io::Result<()> {
        let mut payload = postcard::to_stdvec(&self.position).map_err(io::Error::other)?;
        let state = postcard::to_stdvec(&self.state).map_err(io::Error::other)?;
        // A field that is left out when it is empty would make a state that nobody can read, and every call read the whole ledger.
        debug_assert!(postcard::from_bytes::<P>(&state).is_ok(), "a state that is written can be read");
        // It tells as much as the records do; how far it goes tells nothing.
        let state = vault.seal(&state, &payload).map_err(io::Error::other)?;
        payload.extend_from_slice(&state);
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&P::LAYOUT);
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

/// The newer of the two files of a folder of which something can be made, else the older. Without the lock both may be in the middle of a
/// write when they are looked at; then they are looked at again.
fn newest<T>(directory: &Path, read: impl Fn(&Stored) -> Option<T>) -> Option<T> {
    const ATTEMPTS: usize = 4;
    let once = || {
        let first = Stored::open(Twin::First, directory);
        let second = Stored::open(Twin::Second, directory);
        let generation = |stored: &Option<Stored>| stored.as_ref().map(|stored| stored.source.generation);
        let (newer, older) =
            if generation(&first) < generation(&second) { (second, first) } else { (first, second) };
        newer.as_ref().and_then(&read).or_else(|| older.as_ref().and_then(&read))
    };
    (0..ATTEMPTS).find_map(|_| once())
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

    /// What is in it, when the file is whole and of this layout.
    fn cached<P: Projection>(&self, vault: &Vault) -> Option<Cached<P>> {
        if !self.header.get(MAGIC.len()..)?.starts_with(&P::LAYOUT) {
            return None;
        }
        let bytes = self.covered()?;
        let payload = bytes.get(COVERED..)?;
        let (position, state) = postcard::take_from_bytes::<Position>(payload).ok()?;
        let around = payload.get(..payload.len() - state.len())?;
        let state = vault.open(state.to_vec(), around).ok()?;
        Some(Cached { position, state: postcard::from_bytes(&state).ok()?, source: self.source })
    }

    /// How far it goes, when the file is whole.
    fn position(&self) -> Option<Position> {
        Some(postcard::take_from_bytes(self.covered()?.get(COVERED..)?).ok()?.0)
    }

    /// What the checksum covers, read in one go: the end of the header, then the payload. `None` when the file is not whole.
    fn covered(&self) -> Option<Vec<u8>> {
        let length = number_at(&self.header, 24).filter(|length| *length <= LONGEST)?;
        let mut bytes = vec![0; COVERED + usize::try_from(length).ok()?];
        self.file.read_exact_at(&mut bytes, 16).ok()?;
        let is_whole =
            self.header.starts_with(&MAGIC) && number_at(&self.header, 8) == Some(checksum(&bytes));
        is_whole.then_some(bytes)
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

    /// The number of the last record, for want of more.
    #[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
    struct Last(u64);

    impl Projection for Last {
        const LAYOUT: [u8; 2] = *b"01";

        fn apply(&mut self, record: &checkrein_protocol::Record) {
            self.0 = record.seq;
        }
    }

    /// The same in a later layout.
    #[derive(Debug, PartialEq, Default, Serialize, Deserialize)]
    struct Later(Vec<u64>);

    impl Projection for Later {
        const LAYOUT: [u8; 2] = *b"02";

        fn apply(&mut self, record: &checkrein_protocol::Record) {
            self.0.push(record.seq);
        }
    }

    type Cached = super::Cached<Last>;

    fn written(directory: &Path, seq: u64) -> Cached {
        let before = Cached::read(directory, &Vault::default()).unwrap_or_else(Cached::empty);
        let position = Position { seq, length: seq * 10, ..before.position };
        let cached = Cached { position, state: Last(seq), ..before };
        cached.write(directory, &Vault::default()).unwrap();
        Cached::read(directory, &Vault::default()).unwrap()
    }

    #[test]
    fn the_newest_is_read() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(Cached::read(directory.path(), &Vault::default()), None);
        for seq in [1, 2, 3, 2, 9] {
            assert_eq!(written(directory.path(), seq).position.seq, seq);
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
            assert_eq!(
                Cached::read(directory.path(), &Vault::default()).unwrap().position.seq,
                2,
                "byte {position}"
            );
            std::fs::write(&path, &whole[..position]).unwrap();
            assert_eq!(
                Cached::read(directory.path(), &Vault::default()).unwrap().position.seq,
                2,
                "cut at {position}"
            );
        }
        // The next write takes the damaged one's place.
        assert_eq!(written(directory.path(), 4).position.seq, 4);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(Cached::read(directory.path(), &Vault::default()).unwrap().position.seq, 2);
    }

    #[test]
    fn what_is_of_another_layout_is_built_anew_but_tells_how_far_it_went() {
        let directory = tempfile::tempdir().unwrap();
        written(directory.path(), 7);
        assert_eq!(super::Cached::<Later>::read(directory.path(), &Vault::default()), None);
        assert_eq!(Position::read(directory.path()).map(|position| position.seq), Some(7));
    }
}
