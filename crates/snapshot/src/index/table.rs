//! A sorted table of objects, in which a name is found by where it must stand: hashes are spread evenly.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::{Location, Packs};
use crate::error::SnapshotError;
use crate::id::ObjectId;
use crate::pack::{Form, Row, decode, encode};

/// What a table begins with that lists the packs as ranges.
const MAGIC: &[u8; 8] = b"checkix2";

/// What one begins with that lists them one by one, as they were written once.
const MAGIC_OF_OLD: &[u8; 8] = b"checkix1";

/// The head: the magic, the length of the list of packs, the number of rows.
const HEAD: usize = 24;

/// One row of the table: name, pack, place, stored length, length, form.
const ROW: usize = ObjectId::LENGTH + 8 + 8 + 4 + 4 + 1;

/// How many rows are read at once when a name is looked for, and when all are read.
const WINDOW: u64 = 64;
const STRETCH: usize = 1_024;

/// A row as it is stored.
pub(super) type Bytes = [u8; ROW];

/// The sorted table.
#[derive(Debug)]
pub(super) struct Table {
    file: File,
    path: PathBuf,
    rows_at: u64,
    /// How many rows it has.
    pub(super) count: u64,
    /// Of which packs it has every object.
    pub(super) packs: Packs,
}

impl Table {
    /// Opens a table; `None` when there is none, or it is not as it was written.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let file = checkrein_files::open(path).ok()?;
        let mut head = [0_u8; HEAD];
        file.read_exact_at(&mut head, 0).ok()?;
        let names = u64::from_le_bytes(head.get(8..16)?.try_into().ok()?);
        let count = u64::from_le_bytes(head.get(16..HEAD)?.try_into().ok()?);
        let rows_at = names.checked_add(HEAD as u64)?;
        let length = count.checked_mul(ROW as u64)?.checked_add(rows_at)?;
        if file.metadata().ok()?.len() != length {
            return None;
        }
        let mut packs = vec![0; usize::try_from(names).ok()?];
        file.read_exact_at(&mut packs, HEAD as u64).ok()?;
        let packs = match head.first_chunk::<8>()? {
            MAGIC => decode(&packs, path).ok()?,
            MAGIC_OF_OLD => decode::<BTreeSet<u64>>(&packs, path).ok()?.into_iter().collect(),
            _ => return None,
        };
        Some(Self { file, path: path.to_owned(), rows_at, count, packs })
    }

    /// The head of a table of so many rows, and the list of its packs.
    pub(super) fn head(packs: &Packs, count: u64, path: &Path) -> Result<Vec<u8>, SnapshotError> {
        let packs = encode(packs, path)?;
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&(packs.len() as u64).to_le_bytes());
        head.extend_from_slice(&count.to_le_bytes());
        head.extend_from_slice(&packs);
        Ok(head)
    }

    /// Where an object is, in a pack that `stands`.
    pub(super) fn find(&self, id: &ObjectId, stands: impl Fn(u64) -> bool) -> Option<Location> {
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
                // Some packs may have the same object; those that are gone do not count.
                Ok(_) => {
                    return rows
                        .iter()
                        .filter(|row| row_name(row) == id.as_bytes())
                        .filter_map(location)
                        .find(|found| stands(found.pack));
                }
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

    /// Every row, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = Result<Bytes, SnapshotError>> {
        let torn = || SnapshotError::Torn { path: self.path.clone(), cause: "its rows cannot be read" };
        (0..self.count).step_by(STRETCH).flat_map(move |from| {
            match self.rows(from, (self.count - from).min(STRETCH as u64)) {
                Some(rows) => rows.into_iter().map(Ok).collect(),
                None => vec![Err(torn())],
            }
        })
    }

    fn rows(&self, from: u64, count: u64) -> Option<Vec<Bytes>> {
        let mut bytes = vec![0; usize::try_from(count).ok()?.checked_mul(ROW)?];
        self.file.read_exact_at(&mut bytes, self.rows_at + from * ROW as u64).ok()?;
        Some(bytes.as_chunks::<ROW>().0.to_vec())
    }
}

fn row_name(row: &Bytes) -> &[u8] {
    row.split_at(ObjectId::LENGTH).0
}

fn beginning(name: &[u8]) -> u64 {
    name.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

pub(super) fn row_bytes(location: &Location) -> Bytes {
    let mut bytes = [0; ROW];
    let form = match location.row.form {
        Form::Plain => 0,
        Form::Lz4 => 1,
        Form::SealedPlain => 2,
        Form::SealedLz4 => 3,
    };
    let parts = location
        .row
        .name
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

pub(super) fn location(bytes: &Bytes) -> Option<Location> {
    let (name, rest) = bytes.split_first_chunk::<32>()?;
    let (pack, rest) = rest.split_first_chunk::<8>()?;
    let (at, rest) = rest.split_first_chunk::<8>()?;
    let (stored, rest) = rest.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let form = match rest.first()? {
        0 => Form::Plain,
        1 => Form::Lz4,
        2 => Form::SealedPlain,
        3 => Form::SealedLz4,
        _ => return None,
    };
    let row = Row {
        name: ObjectId::from_bytes(*name),
        at: u64::from_le_bytes(*at),
        stored: u32::from_le_bytes(*stored),
        length: u32::from_le_bytes(*length),
        form,
    };
    Some(Location { pack: u64::from_le_bytes(*pack), row })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_the_old_form_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let numbers: BTreeSet<u64> = [1, 2, 5].into();
        let row = |number: u8| Location {
            pack: u64::from(number % 5),
            row: Row { name: ObjectId::of(&[number]), at: 8, stored: 1, length: 1, form: Form::Plain },
        };
        let mut rows: Vec<Bytes> = (0..200).map(|number| row_bytes(&row(number))).collect();
        rows.sort_unstable();
        let packs = encode(&numbers, &path).unwrap();
        let mut text = MAGIC_OF_OLD.to_vec();
        text.extend((packs.len() as u64).to_le_bytes());
        text.extend((rows.len() as u64).to_le_bytes());
        text.extend(packs);
        text.extend(rows.as_flattened());
        std::fs::write(&path, &text).unwrap();
        let table = Table::open(&path).unwrap();
        assert_eq!(table.packs, numbers.into_iter().collect());
        for number in 0..200 {
            let found = table.find(&ObjectId::of(&[number]), |_| true);
            assert_eq!(found, Some(row(number)));
            assert_eq!(
                table.find(&ObjectId::of(&[number]), |pack| pack != 3),
                found.filter(|one| one.pack != 3)
            );
        }
        assert_eq!(table.find(&ObjectId::of(b"no"), |_| true), None);
        assert_eq!(table.all().count(), 200);
    }
}
