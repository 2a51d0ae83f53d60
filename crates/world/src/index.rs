//! The index of a git repository, versions 2 to 4, read only.
//!
//! Only what tells whether a file is as it was when it was added: name, times, size, flags and object name.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::objects::hexadecimal;

/// The index of a repository.
#[derive(Debug)]
pub(crate) struct Index {
    data: Vec<u8>,
    /// The names of version 4, which are not stored whole.
    names: Vec<u8>,
    rows: Vec<Row>,
    form: Form,
    hash: usize,
}

/// What the index says about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tracked {
    /// When its status last changed, in seconds.
    pub(crate) changed: u32,
    /// When its content last changed: seconds and nanoseconds.
    pub(crate) modified: (u32, u32),
    /// Its length, modulo 2^32.
    pub(crate) bytes: u32,
    /// The name of the object that holds its content.
    pub(crate) object: Vec<u8>,
    /// Whether the object really holds the content of the file.
    pub(crate) holding: Holding,
}

/// Whether the object of an index entry holds the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    /// It does.
    Content,
    /// The file is only announced (`git add -N`), or is one side of a conflict.
    Nothing,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    at: usize,
    name_start: usize,
    name_length: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Whole names, in the file.
    Whole,
    /// Names that share their beginning with the one before.
    Shared,
}

/// The greatest length of an index file that is read, in bytes (ours): about half a million files.
pub(crate) const LIMIT: u64 = 64 * 1024 * 1024;

const FIXED: usize = 40;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;
const INTENT_TO_ADD: u16 = 0x2000;
const DIRECTORY: u32 = 0o040_000;

impl Index {
    /// Reads an index with object names of `hash` bytes; `None` when it is damaged or of a kind that is not known.
    pub(crate) fn parse(data: Vec<u8>, hash: usize) -> Option<Self> {
        if data.get(..4)? != b"DIRC" {
            return None;
        }
        let form = match number(&data, 4)? {
            2 | 3 => Form::Whole,
            4 => Form::Shared,
            _ => return None,
        };
        let count = usize::try_from(number(&data, 8)?).ok()?;
        let mut index = Self {
            names: Vec::new(),
            rows: Vec::with_capacity(count.min(data.len() / FIXED)),
            data,
            form,
            hash,
        };
        let end = index.data.len().checked_sub(hash)?;
        let mut at = 12;
        for _ in 0..count {
            at = index.read_row(at, end)?;
        }
        if index.has_foreign_extension(at, end)? {
            return None;
        }
        let sorted = index.rows.windows(2).all(|pair| match pair {
            [first, second] => index.name(*first) <= index.name(*second),
            _ => true,
        });
        sorted.then_some(index)
    }

    /// What the index says about a file, by its path from the root of the work tree.
    pub(crate) fn find(&self, path: &str) -> Option<Tracked> {
        let wanted = path.as_bytes();
        let from = self.rows.partition_point(|row| self.name(*row).cmp(wanted) == Ordering::Less);
        let same: Vec<Row> =
            self.rows.iter().skip(from).take_while(|row| self.name(**row) == wanted).copied().collect();
        let (first, others) = same.split_first()?;
        let mut tracked = self.tracked(*first)?;
        if !others.is_empty() {
            tracked.holding = Holding::Nothing;
        }
        Some(tracked)
    }

    /// Whether the index holds anything below a directory, given by its path from the root of the work tree.
    pub(crate) fn holds_below(&self, directory: &str) -> bool {
        if directory.is_empty() {
            return !self.rows.is_empty();
        }
        let prefix = format!("{directory}/").into_bytes();
        let from = self.rows.partition_point(|row| self.name(*row).cmp(&prefix) == Ordering::Less);
        self.rows.get(from).is_some_and(|row| self.name(*row).starts_with(&prefix))
    }

    /// The names of the files directly in a directory, given by its path from the root of the work tree.
    pub(crate) fn names_in(&self, directory: &str) -> Vec<&[u8]> {
        let prefix = if directory.is_empty() { Vec::new() } else { format!("{directory}/").into_bytes() };
        let from = self.rows.partition_point(|row| self.name(*row).cmp(&prefix) == Ordering::Less);
        let below = self.rows.iter().skip(from).map(|row| self.name(*row));
        let rests = below.map_while(|name| name.strip_prefix(prefix.as_slice()));
        rests.filter(|rest| !rest.contains(&b'/')).collect()
    }

    /// All files, each with the name of its object in hexadecimal digits, or with none where it is one side of a conflict or only announced.
    /// `None` where a name is not UTF-8.
    pub(crate) fn all(&self) -> Option<BTreeMap<String, Option<String>>> {
        let mut all = BTreeMap::new();
        for row in &self.rows {
            let name = std::str::from_utf8(self.name(*row)).ok()?;
            let tracked = self.tracked(*row)?;
            let object = (tracked.holding == Holding::Content).then(|| hexadecimal(&tracked.object));
            all.insert(name.to_owned(), object);
        }
        Some(all)
    }

    fn tracked(&self, row: Row) -> Option<Tracked> {
        let flags = short(&self.data, row.at + FIXED + self.hash)?;
        let more = if flags & EXTENDED == 0 { 0 } else { short(&self.data, row.at + FIXED + self.hash + 2)? };
        let holding =
            if flags & STAGE != 0 || more & INTENT_TO_ADD != 0 { Holding::Nothing } else { Holding::Content };
        Some(Tracked {
            changed: number(&self.data, row.at)?,
            modified: (number(&self.data, row.at + 8)?, number(&self.data, row.at + 12)?),
            bytes: number(&self.data, row.at + 36)?,
            object: self.data.get(row.at + FIXED..row.at + FIXED + self.hash)?.to_vec(),
            holding,
        })
    }

    fn name(&self, row: Row) -> &[u8] {
        let names = match self.form {
            Form::Whole => &self.data,
            Form::Shared => &self.names,
        };
        names.get(row.name_start..row.name_start + row.name_length).unwrap_or_default()
    }

    /// Reads the entry at `at` and answers where the next one begins.
    fn read_row(&mut self, at: usize, end: usize) -> Option<usize> {
        // A sparse index names whole directories, whose files would be missing here.
        if number(&self.data, at + 24)? == DIRECTORY {
            return None;
        }
        let flags_at = at.checked_add(FIXED + self.hash)?;
        let flags = short(&self.data, flags_at)?;
        let text_at = flags_at + if flags & EXTENDED == 0 { 2 } else { 4 };
        let next = match self.form {
            Form::Whole => {
                let length = self.data.get(text_at..end)?.iter().position(|byte| *byte == 0)?;
                self.rows.push(Row { at, name_start: text_at, name_length: length });
                // One to eight zeroes fill the entry up to a multiple of eight bytes.
                at + ((text_at + length - at) / 8 + 1) * 8
            }
            Form::Shared => {
                let (drop, suffix_at) = offset(&self.data, text_at)?;
                let length = self.data.get(suffix_at..end)?.iter().position(|byte| *byte == 0)?;
                let before = self.rows.last().copied();
                let kept = before.map_or(0, |row| row.name_length).checked_sub(drop)?;
                let shared = before
                    .and_then(|row| self.names.get(row.name_start..row.name_start + kept))
                    .unwrap_or_default()
                    .to_vec();
                let name_start = self.names.len();
                self.names.extend_from_slice(&shared);
                self.names.extend_from_slice(self.data.get(suffix_at..suffix_at + length)?);
                self.rows.push(Row { at, name_start, name_length: kept + length });
                suffix_at + length + 1
            }
        };
        (next <= end).then_some(next)
    }

    /// Extensions in lower case change the meaning of the entries (a split index, a sparse one).
    fn has_foreign_extension(&self, mut at: usize, end: usize) -> Option<bool> {
        while at + 8 <= end {
            let name = self.data.get(at..at + 4)?;
            let size = usize::try_from(number(&self.data, at + 4)?).ok()?;
            if name.first().is_some_and(u8::is_ascii_lowercase) {
                return Some(true);
            }
            at = at.checked_add(8)?.checked_add(size)?;
        }
        Some(false)
    }
}

fn number(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_be_bytes)
}

fn short(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_be_bytes)
}

/// The variable-length number at a place, as pack files write offsets, and where it ends.
fn offset(data: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *data.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *data.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some((value, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_input_is_refused() {
        assert!(Index::parse(Vec::new(), 20).is_none());
        assert!(Index::parse(b"DIRC\0\0\0\x02\xff\xff\xff\xff".to_vec(), 20).is_none());
        assert!(Index::parse(b"DIRC\0\0\0\x09\0\0\0\0".to_vec(), 20).is_none());
        let mut empty = b"DIRC\0\0\0\x02\0\0\0\0".to_vec();
        empty.extend([0; 20]);
        let index = Index::parse(empty, 20).unwrap();
        assert_eq!(index.find("a"), None);
        assert!(!index.holds_below(""));
    }

    #[test]
    fn numbers_of_variable_length() {
        assert_eq!(offset(&[0x05], 0), Some((5, 1)));
        assert_eq!(offset(&[0x80, 0x00], 0), Some((128, 2)));
        assert_eq!(offset(&[0x81], 0), None);
    }
}
