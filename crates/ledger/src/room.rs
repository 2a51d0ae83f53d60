//! A small file beside each ledger that keeps room for what must be known although nothing more can be written: which actions were
//! answered while the disk was full. It has its length from the beginning, so a mark in it needs no free block.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use checkrein_protocol::ActionId;

use crate::hash_chain::content_hash;

/// Its name.
const NAME: &str = "room";

/// How many marks it holds (ours). More of them than that take the place of others.
const MARKS: usize = 64;

/// The length of one mark with its line feed, in bytes: one half of a hash.
const LENGTH: usize = 33;

/// Makes the file, empty and of its full length.
pub(crate) fn make(directory: &Path) -> io::Result<()> {
    let file = checkrein_files::open_with(
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600),
        directory.join(NAME),
    )?;
    file.write_all_at(&[b' '; MARKS * LENGTH], 0)
}

/// Marks an action, in the first place that is free.
pub(crate) fn mark(directory: &Path, action: &ActionId) -> io::Result<()> {
    let marks = read(directory)?;
    let mark = of(action);
    let free = marks.chunks(LENGTH).position(|place| place.iter().all(|byte| *byte == b' '));
    let taken = || mark.bytes().map(usize::from).sum::<usize>() % MARKS;
    let offset = free.unwrap_or_else(taken) * LENGTH;
    let file = checkrein_files::open_with(OpenOptions::new().write(true), directory.join(NAME))?;
    file.write_all_at(mark.as_bytes(), offset as u64)
}

/// Whether an action is marked.
pub(crate) fn is_marked(directory: &Path, action: &ActionId) -> bool {
    let mark = of(action);
    read(directory).is_ok_and(|marks| marks.chunks(LENGTH).any(|place| place == mark.as_bytes()))
}

fn of(action: &ActionId) -> String {
    let mut mark: String = content_hash(action.as_str().as_bytes()).chars().take(LENGTH - 1).collect();
    mark.push('\n');
    mark
}

fn read(directory: &Path) -> io::Result<Vec<u8>> {
    let mut marks = checkrein_files::read(directory.join(NAME), checkrein_files::SMALL)?;
    marks.truncate(MARKS * LENGTH);
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_and_take_no_more_room() {
        let folder = tempfile::tempdir().unwrap();
        let id = |number: usize| ActionId(format!("call-{number}"));
        assert!(mark(folder.path(), &id(0)).is_err());
        assert!(!is_marked(folder.path(), &id(0)));
        make(folder.path()).unwrap();
        for number in 0..MARKS + 3 {
            assert!(!is_marked(folder.path(), &id(number)));
            mark(folder.path(), &id(number)).unwrap();
            assert!(is_marked(folder.path(), &id(number)));
        }
        assert_eq!(std::fs::metadata(folder.path().join(NAME)).unwrap().len(), (MARKS * LENGTH) as u64);
    }
}
