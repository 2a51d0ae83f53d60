//! Which pack holds an object.
//!
//! The table of each pack says what is in it. Reading each of a thousand packs would take too long. So files beside them hold the rows of
//! all but the newest packs in sorted tables. Each table is several times as long as the next: there are few, and a row is written a few
//! times in its life. They are a cache: packs that they do not cover are read themselves, rows of packs that are gone do not count, and
//! they can be thrown away.
//!
//! Whoever adds to the store needs its newest packs only: what is not found is saved once more. So these are looked for by number, behind
//! those that the tables cover, and the others are not even listed. Whoever misses an object in them reads the others too.

mod merging;
mod packs;
mod table;

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use checkrein_files::Forced;

use crate::error::SnapshotError;
use crate::id::{ByName, ObjectId};
use crate::pack::{Pack, Packed, Row};
use crate::sealing::Seals;
use packs::Packs;
use table::Table;

pub(crate) use merging::{Pace, is_many, table_paths, tidy};

/// How many packs may stand outside the tables before there is a new one (ours).
const LOOSE: usize = 8;

/// How many objects may stand outside the tables before there is a new one (ours).
const LOOSE_ROWS: usize = 4_096;

/// How far before the newest pack that a table covers others are looked for: those that were still written when it was made (ours).
const BEFORE: u64 = 32;

/// After how many numbers without a pack there is none behind them (ours): a number without one is of a snapshot that was given up while a later
/// one was taken.
const GAP: u64 = 16;

/// How many packs are held open at once (ours): the limit of open files may be as low as 64.
const OPEN: usize = 16;

/// Where an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) pack: u64,
    pub(crate) row: Row,
}

/// Which packs are looked at, beside those that the tables cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// The newest. Their number has a bound.
    Newest,
    /// All.
    Whole,
}

/// The objects of a store, as it was when this was opened.
#[derive(Debug)]
pub(crate) struct Index {
    /// Where the packs are.
    folder: PathBuf,
    seals: Seals,
    /// From the greatest to the smallest.
    tables: Vec<Table>,
    loose: Loose,
    /// Those that the view left out, read when something is missed.
    others: OnceLock<Loose>,
    newest: u64,
    standing: Mutex<HashMap<u64, bool>>,
    open: Mutex<HashMap<u64, Pack>>,
}

/// Packs that no table covers.
#[derive(Debug, Default)]
struct Loose {
    rows: ByName<Location>,
    packs: BTreeSet<u64>,
}

impl Index {
    /// The index of the store in this directory.
    pub(crate) fn open(directory: &Path, view: View, seals: &Seals) -> Result<Self, SnapshotError> {
        let tables = merging::tables(directory);
        let mut index = Self {
            folder: directory.join("packs"),
            seals: seals.clone(),
            newest: tables.iter().filter_map(|table| table.packs.last()).max().unwrap_or(0),
            tables,
            loose: Loose::default(),
            others: OnceLock::new(),
            standing: Mutex::default(),
            open: Mutex::default(),
        };
        if view == View::Newest && !index.tables.is_empty() {
            index.take_up_newest()?;
        } else {
            let numbers = numbers(&index.folder)?;
            index.newest = index.newest.max(numbers.iter().copied().max().unwrap_or(0));
            index.loose = index.uncovered(&numbers)?;
            drop(index.others.set(Loose::default()));
        }
        Ok(index)
    }

    fn take_up_newest(&mut self) -> Result<(), SnapshotError> {
        let covered = self.newest;
        let mut number = covered.saturating_sub(BEFORE);
        let mut absent = 0;
        while absent < GAP {
            number += 1;
            if self.covers(number) {
                continue;
            }
            match self.loose.take_up(&self.folder, number, &self.seals)? {
                Found::There => {
                    self.newest = self.newest.max(number);
                    absent = 0;
                }
                Found::Absent if number > covered => absent += 1,
                Found::Absent => {}
            }
        }
        Ok(())
    }

    /// Those of these packs that no table covers.
    fn uncovered(&self, numbers: &[u64]) -> Result<Loose, SnapshotError> {
        let mut loose = Loose::default();
        for number in numbers {
            if !self.covers(*number) && !self.loose.packs.contains(number) {
                loose.take_up(&self.folder, *number, &self.seals)?;
            }
        }
        Ok(loose)
    }

    fn covers(&self, number: u64) -> bool {
        self.tables.iter().any(|table| table.packs.contains(number))
    }

    /// The greatest number that a pack has, or had.
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    /// Where an object is; `None` when the store does not have it, as far as the view goes.
    pub(crate) fn find(&self, id: &ObjectId) -> Option<Location> {
        self.seals.names(id).find_map(|name| self.under(&name))
    }

    /// Where an object is in the form in which it would be written now; `None` also where it is not known what form that is.
    pub(crate) fn find_current(&self, id: &ObjectId) -> Option<Location> {
        self.under(&self.seals.name(id).ok()?)
    }

    fn under(&self, name: &ObjectId) -> Option<Location> {
        let in_tables =
            || self.tables.iter().rev().find_map(|table| table.find(name, |pack| self.stands(pack)));
        self.loose.rows.get(name).copied().or_else(in_tables)
    }

    /// The content of an object.
    pub(crate) fn read(&self, id: &ObjectId) -> Result<Vec<u8>, SnapshotError> {
        let in_others = || self.seals.names(id).find_map(|name| self.others().rows.get(&name).copied());
        let location = self.find(id).or_else(in_others).ok_or(missing(id))?;
        self.of_pack(id, &location, |pack| pack.read(id, &location.row))
    }

    /// What is stored of an object, in the form in which it is.
    pub(crate) fn stored(
        &self,
        id: &ObjectId,
        location: &Location,
    ) -> Result<Packed<'static>, SnapshotError> {
        let Row { form, length, .. } = location.row;
        let bytes = self.of_pack(id, location, |pack| pack.stored(id, &location.row))?;
        Ok(Packed { form, bytes: bytes.into(), length })
    }

    /// What a pack says of an object in it.
    fn of_pack<T>(
        &self,
        id: &ObjectId,
        location: &Location,
        read: impl FnOnce(&Pack) -> Result<T, SnapshotError>,
    ) -> Result<T, SnapshotError> {
        let missing = || missing(id);
        let Ok(mut open) = self.open.lock() else { return Err(missing()) };
        if open.len() >= OPEN && !open.contains_key(&location.pack) {
            open.clear();
        }
        let pack = match open.entry(location.pack) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(
                Pack::open(&pack_path(&self.folder, location.pack), &self.seals)?.ok_or_else(missing)?,
            ),
        };
        read(pack)
    }

    /// The packs that the view left out; none of them where they cannot be listed.
    fn others(&self) -> &Loose {
        let read = || numbers(&self.folder).and_then(|numbers| self.uncovered(&numbers)).unwrap_or_default();
        self.others.get_or_init(read)
    }

    fn stands(&self, pack: u64) -> bool {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        *standing.entry(pack).or_insert_with(|| pack_path(&self.folder, pack).exists())
    }

    /// Whether so much stands outside the tables, with one more pack of so many objects, that there should be a new one.
    pub(crate) fn is_loose(&self, more: usize) -> bool {
        self.loose.packs.len() + 1 > LOOSE || self.loose.rows.len() + more > LOOSE_ROWS
    }
}

fn missing(id: &ObjectId) -> SnapshotError {
    SnapshotError::Damaged { id: *id, cause: "is missing" }
}

/// Whether there is a file under a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    There,
    Absent,
}

impl Loose {
    fn take_up(&mut self, folder: &Path, number: u64, seals: &Seals) -> Result<Found, SnapshotError> {
        let pack = match Pack::open(&pack_path(folder, number), seals) {
            Ok(Some(pack)) => pack,
            // One that is being written, or whose writer died.
            Ok(None) => return Ok(Found::There),
            Err(SnapshotError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(Found::Absent);
            }
            Err(error) => return Err(error),
        };
        // A pack that is torn is not read: what it holds is missed by name, by whoever needs it.
        if let Ok(rows) = pack.rows() {
            self.rows.extend(rows.into_iter().map(|row| (row.name, Location { pack: number, row })));
            self.packs.insert(number);
        }
        Ok(Found::There)
    }
}

/// The numbers of all files of objects, closed or not.
pub(crate) fn numbers(folder: &Path) -> Result<Vec<u64>, SnapshotError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(SnapshotError::Read { path: folder.to_owned(), source: error }),
    };
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let mut numbers: Vec<u64> = entries.flatten().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Where a pack is.
pub(crate) fn pack_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(number.to_string())
}

/// Replaces a file of the store whole or not at all. Not forced to the disk: only caches are written so.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), SnapshotError> {
    checkrein_files::replace(path, bytes, 0o600, Forced::Nothing)
        .map_err(|source| SnapshotError::Write { path: path.to_owned(), source })
}
