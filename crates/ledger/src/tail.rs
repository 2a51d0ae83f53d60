//! The end of a ledger that grows, for whoever looks at it again and again: each record is read once.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use checkrein_protocol::Record;

use crate::error::LedgerError;
use crate::ledger_file::LedgerFile;
use crate::read::{LONGEST_END, end};

/// The newest records of a ledger.
#[derive(Debug)]
pub struct Tail {
    path: LedgerFile,
    most: usize,
    records: VecDeque<Record>,
    seen: Option<Seen>,
}

/// How far a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    /// Up to the end of the last whole line, in bytes.
    read: u64,
}

/// Whether a ledger had something new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailGrowth {
    /// There are new records.
    Grown,
    /// Nothing was written since.
    Same,
}

impl Tail {
    /// Returns the tail of the ledger file at `path`, with nothing read yet; it keeps the newest `most` records.
    pub fn new(path: LedgerFile, most: usize) -> Self {
        Self { path, most, records: VecDeque::new(), seen: None }
    }

    /// Reads what was written since the last time, and says whether that was anything. A file that was replaced, became shorter, or grew
    /// by more than is read from an end is read from its end again.
    pub fn read(&mut self) -> Result<TailGrowth, LedgerError> {
        let file = checkrein_files::open(&self.path).map_err(LedgerError::read(&self.path))?;
        self.read_from(&file).map_err(LedgerError::read(&self.path))
    }

    /// The newest records, oldest first.
    pub fn records(&self) -> &VecDeque<Record> {
        &self.records
    }

    fn read_from(&mut self, file: &File) -> io::Result<TailGrowth> {
        let metadata = file.metadata()?;
        let (device, inode, length) = (metadata.dev(), metadata.ino(), metadata.len());
        let is_same = |seen: &Seen| {
            let is_file = (seen.device, seen.inode) == (device, inode);
            is_file && seen.read <= length && length - seen.read < LONGEST_END
        };
        let Some(seen) = self.seen.filter(is_same) else {
            let (records, read) = end(file, self.most, self.path.vault())?;
            self.records = records.into();
            self.seen = Some(Seen { device, inode, read });
            return Ok(TailGrowth::Grown);
        };
        if seen.read == length {
            return Ok(TailGrowth::Same);
        }
        let mut bytes = vec![0; usize::try_from(length - seen.read).unwrap_or(0)];
        file.read_exact_at(&mut bytes, seen.read)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        bytes.truncate(whole);
        self.seen = Some(Seen { read: seen.read + whole as u64, ..seen });
        let fresh = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        self.records.extend(fresh.filter_map(|line| self.path.record(line)));
        let older = self.records.len().saturating_sub(self.most);
        self.records.drain(..older);
        Ok(if whole > 0 { TailGrowth::Grown } else { TailGrowth::Same })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

    use std::fs::{self, OpenOptions};
    use std::io::Write as _;

    use super::*;
    use crate::{Durability, Ledger, Projection, StateDirectory};
    use checkrein_protocol::{RecordBody, SessionId, Timestamp};

    #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Nothing;

    impl Projection for Nothing {
        const LAYOUT: [u8; 2] = *b"zz";
        fn apply(&mut self, _: &Record) {}
    }

    #[test]
    fn each_record_is_read_once_and_the_newest_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let home = StateDirectory::new(folder.path());
        let ledger = Ledger::<Nothing>::open(&home, &SessionId("s".to_owned()));
        let write = |text: &str| {
            let body = RecordBody::Prompt { text: text.to_owned() };
            ledger.append(Timestamp(1), body, Durability::Plain).unwrap();
        };
        let numbers = |tail: &Tail| tail.records().iter().map(|one| one.seq).collect::<Vec<_>>();
        (0..5).for_each(|round| write(&round.to_string()));
        let mut tail = Tail::new(ledger.path(), 3);
        assert_eq!((tail.read().unwrap(), numbers(&tail)), (TailGrowth::Grown, vec![3, 4, 5]));
        assert_eq!(tail.read().unwrap(), TailGrowth::Same);
        write("six");
        assert_eq!((tail.read().unwrap(), numbers(&tail)), (TailGrowth::Grown, vec![4, 5, 6]));

        // The beginning of a line is left until its end is there.
        let text = fs::read(ledger.path()).unwrap();
        let mut file = OpenOptions::new().append(true).open(ledger.path()).unwrap();
        file.write_all(b"{\"seq\":").unwrap();
        assert_eq!((tail.read().unwrap(), numbers(&tail)), (TailGrowth::Same, vec![4, 5, 6]));

        // A file that was put in its place is another one.
        let first = text.iter().position(|byte| *byte == b'\n').unwrap();
        let other = folder.path().join("other");
        fs::write(&other, &text[..=first]).unwrap();
        fs::rename(&other, ledger.path()).unwrap();
        assert_eq!((tail.read().unwrap(), numbers(&tail)), (TailGrowth::Grown, vec![1]));
    }
}
