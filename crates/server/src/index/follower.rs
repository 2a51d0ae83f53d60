//! Reading on where ledgers grow.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use checkrein_ledger::{FolderName, StateDirectory};
use checkrein_protocol::Record;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use super::Index;
use super::sums::Taken;
use crate::answer::signed;

/// How much of the ledgers is taken up at once, in bytes (ours).
const STRETCH: u64 = 4 * 1024 * 1024;
/// The longest line that is waited for, in bytes: longer than any record.
const LONGEST: u64 = 17 * 1024 * 1024;

/// What follows the ledgers of a state directory into its index.
#[derive(Debug)]
pub(crate) struct Follower {
    index: Index,
    state: StateDirectory,
    connection: Connection,
    /// The file of the index by device and number, as it was opened.
    file: Option<(u64, u64)>,
    /// Each ledger as it was when it was read to its end; at first as the index says.
    known: HashMap<FolderName, Seen>,
    /// The ledger that was read last: the next stretch begins behind it, so that one that grows fast keeps none of the others waiting.
    last: Option<FolderName>,
    /// How much is taken up at once, in bytes, but for a longer line.
    stretch: u64,
}

/// What one look at the ledgers came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Round {
    /// The number of the newest record in the index; 0 when it is empty.
    pub(crate) newest: i64,
    /// Whether all was taken up that stood there; otherwise the next round goes on at once.
    pub(crate) is_whole: bool,
}

/// How a ledger was when it was looked at last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    length: u64,
}

/// What a stretch came to.
enum Looked {
    /// All was read.
    Whole,
    /// More stands there.
    More,
    /// A ledger is not the file that was read: the index says what is not so.
    Another,
}

impl Follower {
    /// A follower of all ledgers of a state directory.
    pub(crate) fn new(index: &Index, state: &StateDirectory) -> rusqlite::Result<Self> {
        let connection = index.writer()?;
        Ok(Self {
            known: recalled(&connection)?,
            connection,
            file: index.file(),
            index: index.clone(),
            state: state.clone(),
            last: None,
            stretch: STRETCH,
        })
    }

    /// The same, but that it takes up other stretches, in bytes.
    #[cfg(test)]
    pub(crate) fn in_stretches_of(self, stretch: u64) -> Self {
        Self { stretch, ..self }
    }

    /// Takes up a stretch of what was written since the last time.
    pub(crate) fn round(&mut self) -> rusqlite::Result<Round> {
        if self.index.file() != self.file {
            // Somebody removed it, or put another one in its place: nobody would read what is written on.
            self.begin_anew()?;
        }
        let looked = match self.read_stretch() {
            // A ledger was put in the place of another, or the file of the index is damaged: it is made again from the ledgers.
            Ok(Looked::Another) => self.begin_anew().and_then(|()| self.read_stretch()),
            Err(error) if is_damage(&error) => self.begin_anew().and_then(|()| self.read_stretch()),
            looked => looked,
        };
        Ok(Round { is_whole: matches!(looked?, Looked::Whole), newest: self.newest()? })
    }

    /// The number of the newest record in the index; 0 when it is empty.
    pub(crate) fn newest(&self) -> rusqlite::Result<i64> {
        let newest = self.connection.query_row("SELECT max(id) FROM records", [], |row| row.get(0))?;
        Ok(Option::unwrap_or_default(newest))
    }

    fn begin_anew(&mut self) -> rusqlite::Result<()> {
        self.known.clear();
        self.connection = Connection::open_in_memory()?;
        self.connection = self.index.anew()?;
        self.file = self.index.file();
        Ok(())
    }

    /// Reads on in the ledgers that have grown, all in one transaction: most sessions write a line or two at a time, and a transaction for
    /// each would write the same pages of the index again and again.
    fn read_stretch(&mut self) -> rusqlite::Result<Looked> {
        let Ok(folders) = self.state.folders() else { return Ok(Looked::Whole) };
        let grown = self.grown(&folders);
        if !grown.is_empty() {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let (mut ended, mut left) = (Vec::new(), self.stretch);
            for (folder, seen) in grown {
                match read_piece(&transaction, &self.state, &folder, seen, left)? {
                    Piece::Another => return Ok(Looked::Another),
                    Piece::NotRead => {}
                    Piece::Read { bytes, is_end: true } => {
                        left = left.saturating_sub(bytes);
                        ended.push((folder.clone(), seen));
                    }
                    Piece::Read { bytes: _, is_end: false } => left = 0,
                }
                if left == 0 {
                    transaction.commit()?;
                    self.known.extend(ended);
                    self.last = Some(folder);
                    return Ok(Looked::More);
                }
            }
            transaction.commit()?;
            self.known.extend(ended);
        }
        self.forget_removed(&folders)?;
        Ok(Looked::Whole)
    }

    /// The ledgers that are not as they were when they were read to their end, the ones behind that which was read last first.
    fn grown(&self, folders: &[FolderName]) -> Vec<(FolderName, Seen)> {
        let behind = folders.partition_point(|folder| self.last.as_ref().is_some_and(|last| folder <= last));
        let in_turn = folders.iter().cycle().skip(behind).take(folders.len());
        let seen = in_turn.filter_map(|folder| {
            let facts = std::fs::metadata(self.state.ledger(folder)).ok()?;
            Some((folder, Seen { device: facts.dev(), inode: facts.ino(), length: facts.len() }))
        });
        seen.filter(|(folder, seen)| self.known.get(*folder) != Some(seen))
            .map(|(folder, seen)| (folder.clone(), seen))
            .collect()
    }

    /// Sessions that retention or the user removed are not listed; what they added to sums stays.
    fn forget_removed(&mut self, folders: &[FolderName]) -> rusqlite::Result<()> {
        // Also those that went while no server ran: what is known at first is what the index says.
        let gone: BTreeSet<FolderName> =
            self.known.keys().filter(|known| folders.binary_search(known).is_err()).cloned().collect();
        for folder in gone {
            let transaction = self.connection.transaction()?;
            transaction.execute(
                "DELETE FROM records WHERE ledger = (SELECT number FROM ledgers WHERE folder = ?1)",
                [folder.as_str()],
            )?;
            for table in ["ledgers", "sessions", "open_interventions", "transcripts", "opinions"] {
                transaction.execute(&format!("DELETE FROM {table} WHERE folder = ?1"), [folder.as_str()])?;
            }
            transaction.commit()?;
            self.known.remove(&folder);
        }
        Ok(())
    }
}

/// The ledgers as they were when the index had all of them: of those that have not grown since nothing is read again, so that a server
/// over many sessions begins at once.
fn recalled(connection: &Connection) -> rusqlite::Result<HashMap<FolderName, Seen>> {
    let number = |row: &Row<'_>, place: usize| row.get::<_, i64>(place).map(i64::unsigned_abs);
    let mut statement = connection.prepare("SELECT folder, device, inode, read FROM ledgers")?;
    let rows = statement.query_map([], |row| {
        let seen = Seen { device: number(row, 1)?, inode: number(row, 2)?, length: number(row, 3)? };
        Ok((row.get::<_, String>(0)?, seen))
    })?;
    let mut known = HashMap::new();
    for row in rows {
        let (name, seen) = row?;
        known.extend(FolderName::on_disk(name.as_ref()).map(|folder| (folder, seen)));
    }
    Ok(known)
}

/// What was read of one ledger.
enum Piece {
    Read {
        bytes: u64,
        /// Whether no whole line stands behind it.
        is_end: bool,
    },
    /// It cannot be read now.
    NotRead,
    /// It is not the file that was read.
    Another,
}

/// Reads on in one ledger, up to `most` bytes or to the end of a longer line. How far it was read is asked inside the transaction, so that
/// of two servers each record is taken up by one.
fn read_piece(
    transaction: &Transaction<'_>,
    state: &StateDirectory,
    folder: &FolderName,
    seen: Seen,
    most: u64,
) -> rusqlite::Result<Piece> {
    let Ok(file) = checkrein_files::open(state.ledger(folder)) else { return Ok(Piece::NotRead) };
    let known: Option<(i64, i64, i64, i64)> = transaction
        .query_row(
            "SELECT number, device, inode, read FROM ledgers WHERE folder = ?1",
            [folder.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .optional()?;
    let (number, from) = if let Some((number, device, inode, read)) = known {
        let from = u64::try_from(read).unwrap_or_default();
        if (device, inode) != (signed(seen.device), signed(seen.inode)) || seen.length < from {
            return Ok(Piece::Another);
        }
        (number, from)
    } else {
        transaction.execute(
            "INSERT INTO ledgers(folder, device, inode, read) VALUES(?1, ?2, ?3, 0)",
            params![folder.as_str(), signed(seen.device), signed(seen.inode)],
        )?;
        (transaction.last_insert_rowid(), 0)
    };
    let mut length = (seen.length - from).min(most);
    let mut bytes = Vec::new();
    let whole = loop {
        bytes.resize(usize::try_from(length).unwrap_or_default(), 0);
        if file.read_exact_at(&mut bytes, from).is_err() {
            return Ok(Piece::NotRead);
        }
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => break end + 1,
            None if length < (seen.length - from).min(LONGEST) => length = (seen.length - from).min(LONGEST),
            // The end of a line that is not written yet.
            None => break 0,
        }
    };
    take_lines(transaction, number, folder, &bytes[..whole], from)?;
    let bytes = whole as u64;
    let read = from + bytes;
    transaction.execute("UPDATE ledgers SET read = ?2 WHERE number = ?1", params![number, signed(read)])?;
    Ok(Piece::Read { bytes, is_end: bytes == 0 || read >= seen.length })
}

fn take_lines(
    transaction: &Transaction<'_>,
    number: i64,
    folder: &FolderName,
    bytes: &[u8],
    from: u64,
) -> rusqlite::Result<()> {
    let mut taken = Taken::new(transaction, number, folder.as_str());
    let mut place = from;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let length = line.len() as u64;
        // What is no record is for the verifier to tell; here it is passed over.
        if let Ok(record) = serde_json::from_slice::<Record>(line) {
            taken.take(&record, place, length)?;
        }
        place += length;
    }
    taken.finish()
}

fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
        || error.to_string().contains("no such table")
}
