//! Which pack holds an object.
//!
//! The table of each pack says what is in it. So that a store of a thousand packs is not read a thousand times, a file beside them holds
//! the rows of most packs in one sorted table, in which a name is found by where it must stand: hashes are spread evenly. It is a cache:
//! packs that it does not cover are read themselves, rows of packs that are gone do not count, and it can be thrown away.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use checkrein_files::Forced;

use crate::error::SnapshotError;
use crate::id::{ByName, ObjectId};
use crate::pack::{Form, Pack, Row, decode, encode};

const MAGIC: &[u8; 8] = b"checkix1";

/// One row of the table: name, pack, place, stored length, length, form.
const ROW: usize = ObjectId::LENGTH + 8 + 8 + 4 + 4 + 1;

/// How many rows are read at once.
const WINDOW: u64 = 64;

/// How many packs may stand outside the table before it is written anew (ours).
const LOOSE: usize = 32;

/// How many objects may stand outside the table before it is written anew (ours).
const LOOSE_ROWS: usize = 4_096;

/// How many packs are held open at once (ours): the limit of open files may be as low as 64.
const OPEN: usize = 16;

/// Where an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) pack: u64,
    pub(crate) row: Row,
}

/// Every object of a store, as it was when this was opened.
#[derive(Debug)]
pub(crate) struct Index {
    table: Option<Table>,
    /// The objects of packs that the table does not cover.
    loose: ByName<Location>,
    loose_packs: usize,
    present: BTreeMap<u64, PathBuf>,
    open: Mutex<HashMap<u64, Pack>>,
}

/// The sorted table.
#[derive(Debug)]
struct Table {
    file: File,
    path: PathBuf,
    rows_at: u64,
    count: u64,
    packs: BTreeSet<u64>,
}

impl Index {
    /// The index over these packs, each under its number.
    pub(crate) fn open(table: &Path, present: BTreeMap<u64, PathBuf>) -> Result<Self, SnapshotError> {
        let table = Table::open(table);
        let mut index =
            Self { table, loose: ByName::default(), loose_packs: 0, present, open: Mutex::default() };
        let uncovered: Vec<(u64, PathBuf)> = index
            .present
            .iter()
            .filter(|(number, _)| !index.table.as_ref().is_some_and(|table| table.packs.contains(number)))
            .map(|(number, path)| (*number, path.clone()))
            .collect();
        for (number, path) in uncovered {
            let Some(pack) = Pack::open(&path)? else { continue };
            // A pack that is torn is not read: what it holds is missed by name, by whoever needs it.
            let Ok(rows) = pack.rows() else { continue };
            index.loose.extend(rows.into_iter().map(|row| (row.id, Location { pack: number, row })));
            index.loose_packs += 1;
        }
        Ok(index)
    }

    /// Where an object is; `None` when the store does not have it.
    pub(crate) fn find(&self, id: &ObjectId) -> Option<Location> {
        self.loose.get(id).copied().or_else(|| {
            let found = self.table.as_ref()?.find(id)?;
            self.present.contains_key(&found.pack).then_some(found)
        })
    }

    /// The content of an object.
    pub(crate) fn read(&self, id: &ObjectId) -> Result<Vec<u8>, SnapshotError> {
        let missing = || SnapshotError::Damaged { id: *id, cause: "is missing" };
        let location = self.find(id).ok_or_else(missing)?;
        let path = self.present.get(&location.pack).ok_or_else(missing)?;
        let Ok(mut open) = self.open.lock() else { return Err(missing()) };
        if open.len() >= OPEN && !open.contains_key(&location.pack) {
            open.clear();
        }
        let pack = match open.entry(location.pack) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(Pack::open(path)?.ok_or_else(missing)?),
        };
        pack.read(&location.row)
    }

    /// Writes the table anew when too many packs stand outside it. A failure costs time later, nothing else.
    pub(crate) fn tidy(&self, path: &Path) {
        if self.loose_packs > LOOSE || self.loose.len() > LOOSE_ROWS {
            drop(self.rewrite(path));
        }
    }

    /// Writes the table anew, over every pack.
    pub(crate) fn rewrite(&self, path: &Path) -> Result<(), SnapshotError> {
        let mut rows: Vec<[u8; ROW]> = self.loose.values().map(row_bytes).collect();
        let mut covered: BTreeSet<u64> = self.loose.values().map(|location| location.pack).collect();
        if let Some(table) = &self.table {
            covered.extend(table.packs.iter().filter(|pack| self.present.contains_key(pack)));
            for bytes in table.all()? {
                let kept = location(&bytes).is_some_and(|found| self.present.contains_key(&found.pack));
                if kept {
                    rows.push(bytes);
                }
            }
        }
        rows.sort_unstable();
        let packs = encode(&covered, path)?;
        let mut text = Vec::with_capacity(24 + packs.len() + rows.len() * ROW);
        text.extend_from_slice(MAGIC);
        text.extend_from_slice(&(packs.len() as u64).to_le_bytes());
        text.extend_from_slice(&(rows.len() as u64).to_le_bytes());
        text.extend_from_slice(&packs);
        rows.iter().for_each(|row| text.extend_from_slice(row));
        replace(path, &text)
    }
}

impl Table {
    fn open(path: &Path) -> Option<Self> {
        let file = checkrein_files::open(path).ok()?;
        let mut head = [0_u8; 24];
        file.read_exact_at(&mut head, 0).ok()?;
        if head.get(..8)? != MAGIC {
            return None;
        }
        let names = u64::from_le_bytes(head.get(8..16)?.try_into().ok()?);
        let count = u64::from_le_bytes(head.get(16..24)?.try_into().ok()?);
        let rows_at = names.checked_add(24)?;
        let length = count.checked_mul(ROW as u64)?.checked_add(rows_at)?;
        if file.metadata().ok()?.len() != length {
            return None;
        }
        let mut packs = vec![0; usize::try_from(names).ok()?];
        file.read_exact_at(&mut packs, 24).ok()?;
        let packs = decode(&packs, path).ok()?;
        Some(Self { file, path: path.to_owned(), rows_at, count, packs })
    }

    fn find(&self, id: &ObjectId) -> Option<Location> {
        let (mut low, mut high) = (0, self.count);
        // What the names left between `low` and `high` can begin with.
        let (mut least, mut most) = (0_u64, u64::MAX);
        let wanted = beginning(id.as_bytes());
        while low < high {
            let share = u128::from(wanted.saturating_sub(least)) * u128::from(high - low)
                / (u128::from(most - least) + 1);
            let guess = low + u64::try_from(share).unwrap_or(0).min(high - low - 1);
            let from = guess.saturating_sub(WINDOW / 2).max(low);
            let rows = self.rows(from, WINDOW.min(high - from))?;
            let place = rows.binary_search_by(|row| row_name(row).cmp(id.as_bytes()));
            match place {
                Ok(found) => return location(rows.get(found)?),
                Err(0) => {
                    high = from;
                    most = beginning(row_name(rows.first()?));
                }
                Err(place) if place == rows.len() => {
                    low = from + rows.len() as u64;
                    least = beginning(row_name(rows.last()?));
                }
                Err(_) => return None,
            }
            if least > wanted || most < wanted {
                return None;
            }
        }
        None
    }

    fn all(&self) -> Result<Vec<[u8; ROW]>, SnapshotError> {
        let torn = || SnapshotError::Torn { path: self.path.clone(), cause: "its rows cannot be read" };
        self.rows(0, self.count).ok_or_else(torn)
    }

    fn rows(&self, from: u64, count: u64) -> Option<Vec<[u8; ROW]>> {
        let mut bytes = vec![0; usize::try_from(count).ok()?.checked_mul(ROW)?];
        self.file.read_exact_at(&mut bytes, self.rows_at + from * ROW as u64).ok()?;
        Some(bytes.as_chunks::<ROW>().0.to_vec())
    }
}

fn row_name(row: &[u8; ROW]) -> &[u8] {
    row.split_at(ObjectId::LENGTH).0
}

fn beginning(name: &[u8]) -> u64 {
    name.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

fn row_bytes(location: &Location) -> [u8; ROW] {
    let mut bytes = [0; ROW];
    let form = match location.row.form {
        Form::Plain => 0,
        Form::Lz4 => 1,
    };
    let parts = location
        .row
        .id
        .as_bytes()
        .iter()
        .copied()
        .chain(location.pack.to_le_bytes())
        .chain(location.row.at.to_le_bytes())
        .chain(location.row.stored.to_le_bytes())
        .chain(location.row.length.to_le_bytes())
        .chain([form]);
    bytes.iter_mut().zip(parts).for_each(|(slot, byte)| *slot = byte);
    bytes
}

fn location(bytes: &[u8; ROW]) -> Option<Location> {
    let (name, rest) = bytes.split_first_chunk::<32>()?;
    let (pack, rest) = rest.split_first_chunk::<8>()?;
    let (at, rest) = rest.split_first_chunk::<8>()?;
    let (stored, rest) = rest.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let form = match rest.first()? {
        0 => Form::Plain,
        1 => Form::Lz4,
        _ => return None,
    };
    let row = Row {
        id: ObjectId::from_bytes(*name),
        at: u64::from_le_bytes(*at),
        stored: u32::from_le_bytes(*stored),
        length: u32::from_le_bytes(*length),
        form,
    };
    Some(Location { pack: u64::from_le_bytes(*pack), row })
}

/// Replaces a file of the store whole or not at all. Not forced to the disk: only caches are written so.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), SnapshotError> {
    checkrein_files::replace(path, bytes, 0o600, Forced::Nothing)
        .map_err(|source| SnapshotError::Write { path: path.to_owned(), source })
}
