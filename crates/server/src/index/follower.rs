//! Reading on where ledgers grow.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use checkrein_ledger::{FolderName, StateDirectory};
use checkrein_protocol::Record;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use super::Index;
use super::sums::Taken;
use crate::answer::signed;

/// How much of a ledger is read at once, in bytes (ours).
const PIECE: u64 = 4 * 1024 * 1024;
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
    is_over: Arc<AtomicBool>,
}

/// How a ledger was when it was looked at last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    length: u64,
}

/// What a look at one ledger came to.
enum Looked {
    Read,
    /// It is not the file that was read: the index says what is not so.
    Another,
}

impl Follower {
    /// A follower of all ledgers of a state directory.
    ///
    /// It leaves off between two pieces of a ledger once `is_over` is set.
    pub(crate) fn new(
        index: &Index,
        state: &StateDirectory,
        is_over: Arc<AtomicBool>,
    ) -> rusqlite::Result<Self> {
        let connection = index.writer()?;
        Ok(Self {
            known: recalled(&connection)?,
            connection,
            file: index.file(),
            index: index.clone(),
            state: state.clone(),
            is_over,
        })
    }

    /// Takes up everything that was written since the last time; returns the number of the newest record in the index.
    pub(crate) fn round(&mut self) -> rusqlite::Result<i64> {
        if self.index.file() != self.file {
            // Somebody removed it, or put another one in its place: nobody would read what is written on.
            self.begin_anew()?;
            return self.newest();
        }
        match self.read_all() {
            Ok(Looked::Read) => {}
            // A ledger was put in the place of another, or the file of the index is damaged: it is made again from the ledgers.
            Ok(Looked::Another) => self.begin_anew()?,
            Err(error) if is_damage(&error) => self.begin_anew()?,
            Err(error) => return Err(error),
        }
        self.newest()
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
        self.read_all().map(|_| ())
    }

    fn read_all(&mut self) -> rusqlite::Result<Looked> {
        let Ok(folders) = self.state.folders() else { return Ok(Looked::Read) };
        for folder in &folders {
            loop {
                if self.is_over.load(Ordering::Relaxed) {
                    return Ok(Looked::Read);
                }
                let path = self.state.ledger(folder);
                let Ok(facts) = std::fs::metadata(&path) else { break };
                let seen = Seen { device: facts.dev(), inode: facts.ino(), length: facts.len() };
                if self.known.get(folder) == Some(&seen) {
                    break;
                }
                match read_piece(&mut self.connection, &self.state, folder, seen)? {
                    Some(Progress::Another) => return Ok(Looked::Another),
                    Some(Progress::More) => {}
                    Some(Progress::End) => {
                        self.known.insert(folder.clone(), seen);
                        break;
                    }
                    None => break,
                }
            }
        }
        self.forget_removed(&folders)?;
        Ok(Looked::Read)
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

enum Progress {
    More,
    End,
    Another,
}

/// Reads on in one ledger; `None` where it cannot be read now. How far it was read is asked inside the transaction, so that of two servers
/// each record is taken up by one.
fn read_piece(
    connection: &mut Connection,
    state: &StateDirectory,
    folder: &FolderName,
    seen: Seen,
) -> rusqlite::Result<Option<Progress>> {
    let Ok(file) = checkrein_files::open(state.ledger(folder)) else { return Ok(None) };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
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
            return Ok(Some(Progress::Another));
        }
        (number, from)
    } else {
        transaction.execute(
            "INSERT INTO ledgers(folder, device, inode, read) VALUES(?1, ?2, ?3, 0)",
            params![folder.as_str(), signed(seen.device), signed(seen.inode)],
        )?;
        (transaction.last_insert_rowid(), 0)
    };
    let mut length = (seen.length - from).min(PIECE);
    let mut bytes = Vec::new();
    let whole = loop {
        bytes.resize(usize::try_from(length).unwrap_or_default(), 0);
        if file.read_exact_at(&mut bytes, from).is_err() {
            return Ok(None);
        }
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => break end + 1,
            None if length < (seen.length - from).min(LONGEST) => length = (seen.length - from).min(LONGEST),
            // The end of a line that is not written yet.
            None => break 0,
        }
    };
    take_lines(&transaction, number, folder, &bytes[..whole], from)?;
    let read = from + whole as u64;
    transaction.execute("UPDATE ledgers SET read = ?2 WHERE number = ?1", params![number, signed(read)])?;
    transaction.commit()?;
    Ok(Some(if whole > 0 && read < seen.length { Progress::More } else { Progress::End }))
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
