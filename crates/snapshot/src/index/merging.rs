//! The stack of tables, and putting them together.
//!
//! `index` is the greatest, `index.1` and so on are on top of it. A new one is put together with those that would not be several times as
//! long as it. While somebody waits only little is put together; the rest after a call, when nobody does. Each table says which packs it
//! covers, so whatever of this a process that dies leaves undone, nothing is missed and nothing counts that is not there.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::iter::Peekable;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::packs::Packs;
use super::table::{Bytes, Table, location, row_bytes};
use super::{Index, View};
use crate::error::SnapshotError;
use crate::sealing::Seals;

/// How many times as long as all on top of it a table is at least (ours).
const RATIO: u64 = 8;

/// How many rows are put together while somebody waits (ours): half a megabyte.
const SLICE: u64 = 8_192;

/// How many tables there may be before they are put together when nobody waits, and before they are although somebody does (ours).
const MANY: usize = 6;
const TOO_MANY: usize = 12;

/// How much is put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Little: somebody waits.
    Slice,
    /// Whatever is out of proportion.
    Whole,
}

/// Where the tables of a store are, those that there are and those that there could be.
pub(crate) fn table_paths(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let name = |level| if level == 0 { "index".to_owned() } else { format!("index.{level}") };
    (0_usize..).map(move |level| directory.join(name(level)))
}

/// The tables, from the greatest to the smallest.
pub(super) fn tables(directory: &Path) -> Vec<Table> {
    table_paths(directory).map_while(|path| Table::open(&path)).collect()
}

/// Whether there are so many tables that they should be put together.
pub(crate) fn is_many(directory: &Path) -> bool {
    table_paths(directory).nth(MANY).is_some_and(|path| path.exists())
}

/// Writes a table of the packs that stand outside. A failure costs time later, nothing else; so does somebody who is at it already.
pub(crate) fn tidy(directory: &Path, pace: Pace, seals: &Seals) {
    if let Some(_alone) = alone(directory) {
        drop(put_together(directory, pace, seals));
    }
}

fn put_together(directory: &Path, pace: Pace, seals: &Seals) -> Result<(), SnapshotError> {
    let index = Index::open(directory, View::Newest, seals)?;
    let sizes: Vec<u64> = index.tables.iter().map(|table| table.count + 1).collect();
    let loose = if index.loose.packs.is_empty() { 0 } else { index.loose.rows.len() as u64 + 1 };
    let from = level(&sizes, loose, pace);
    if from == sizes.len() && loose == 0 {
        return Ok(());
    }
    write(directory, &index, from, Rest::Everything)
}

/// From which table on all are put together, for so much beside them. Sizes are numbers of rows and one more, since packs may have none.
fn level(sizes: &[u64], loose: u64, pace: Pace) -> usize {
    let above = |level: usize| loose + sizes.iter().skip(level).sum::<u64>();
    let fits = |level: &usize| {
        let is_little = above(*level) <= SLICE || sizes.len() >= TOO_MANY || pace == Pace::Whole;
        let is_out_of_proportion =
            sizes.get(*level).is_some_and(|size| *size < above(level + 1).saturating_mul(RATIO));
        is_little && is_out_of_proportion
    };
    (0..sizes.len()).find(fits).unwrap_or(sizes.len())
}

impl Index {
    /// Writes one table over every pack of a whole view, without rows of packs that are gone.
    pub(crate) fn rewrite(&self, directory: &Path) -> Result<(), SnapshotError> {
        write(directory, self, 0, Rest::Standing)
    }
}

/// What of tables stays when they are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// All of it.
    Everything,
    /// What packs have that are there.
    Standing,
}

/// Puts the tables from a level on together with what stands outside.
fn write(directory: &Path, index: &Index, from: usize, kept: Rest) -> Result<(), SnapshotError> {
    let (loose, merged) = (&index.loose, index.tables.get(from..).unwrap_or_default());
    let mut paths = table_paths(directory).skip(from);
    let Some(path) = paths.next() else { return Ok(()) };
    let fresh: Packs = loose.packs.iter().copied().collect();
    let covered = Packs::union(merged.iter().map(|table| &table.packs).chain([&fresh]));
    let packs = match kept {
        Rest::Everything => covered,
        // What is gone is not covered: were its number given again, that pack would have to be read.
        Rest::Standing => covered.kept(|pack| index.stands(pack)),
    };
    let mut rows: Vec<Bytes> = loose.rows.values().map(row_bytes).collect();
    rows.sort_unstable();
    let mut sources: Vec<Peekable<Rows<'_>>> =
        vec![(Box::new(rows.into_iter().map(Ok)) as Rows<'_>).peekable()];
    sources.extend(merged.iter().map(|table| (Box::new(table.all()) as Rows<'_>).peekable()));
    let aside = directory.join(format!(".index.{}", checkrein_files::aside()));
    let written = write_rows(&aside, &packs, sources, |pack| kept == Rest::Everything || index.stands(pack))
        .and_then(|()| std::fs::rename(&aside, &path).map_err(SnapshotError::write(&path)));
    if written.is_err() {
        drop(std::fs::remove_file(&aside));
    }
    written?;
    // What they cover the new one does too. The topmost goes first, so that those that are left are a stack.
    let left: Vec<PathBuf> = paths.take_while(|path| path.exists()).collect();
    left.iter().rev().for_each(|path| drop(std::fs::remove_file(path)));
    Ok(())
}

/// Rows in order.
type Rows<'a> = Box<dyn Iterator<Item = Result<Bytes, SnapshotError>> + 'a>;

/// Writes a table of the rows of others, which need not be in memory for that.
fn write_rows(
    path: &Path,
    packs: &Packs,
    mut sources: Vec<Peekable<Rows<'_>>>,
    is_kept: impl Fn(u64) -> bool,
) -> Result<(), SnapshotError> {
    let failed = || SnapshotError::write(path);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed())?;
    let mut writer = BufWriter::with_capacity(64 * 1024, &file);
    writer.write_all(&Table::head(packs, 0, path)?).map_err(failed())?;
    let mut count = 0_u64;
    loop {
        let mut least: Option<(usize, Bytes)> = None;
        for (place, source) in sources.iter_mut().enumerate() {
            if let Some(Ok(row)) = source.peek()
                && least.is_none_or(|(_, known)| *row < known)
            {
                least = Some((place, *row));
            } else if let Some(Err(_)) = source.peek() {
                // A table that cannot be read must not be replaced by half of it.
                return source.next().map_or(Ok(()), |row| row.map(drop));
            }
        }
        let Some((place, row)) = least else { break };
        sources.iter_mut().skip(place).take(1).for_each(|source| drop(source.next()));
        if location(&row).is_some_and(|found| is_kept(found.pack)) {
            writer.write_all(&row).map_err(failed())?;
            count += 1;
        }
    }
    writer.flush().map_err(failed())?;
    drop(writer);
    file.write_all_at(&Table::head(packs, count, path)?, 0).map_err(failed())
}

/// The lock of whoever puts tables together; `None` when another has it.
fn alone(directory: &Path) -> Option<File> {
    let path = directory.join("index.lock");
    let file =
        checkrein_files::open_with(OpenOptions::new().read(true).append(true).create(true).mode(0o600), path);
    file.ok().filter(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of tables after so many new ones of one size, in slices and with the rest done every now and then, and how much was written.
    fn grown(new: usize, size: u64, rest: usize) -> (Vec<u64>, u64) {
        let (mut sizes, mut written) = (Vec::new(), 0);
        for number in 1..=new {
            for (loose, pace) in [(size, Pace::Slice), (0, Pace::Whole)] {
                if pace == Pace::Whole && (number % rest != 0 || sizes.len() <= MANY) {
                    continue;
                }
                let from = level(&sizes, loose, pace);
                let merged = loose + sizes.drain(from..).sum::<u64>();
                sizes.push(merged);
                written += merged;
            }
        }
        (sizes, written)
    }

    #[test]
    fn tables_stay_few_and_rows_are_seldom_written() {
        for rest in [1, 7, usize::MAX] {
            for size in [1, 46, 4_000, 100_000] {
                let (sizes, written) = grown(20_000, size, rest);
                assert_eq!(sizes.iter().sum::<u64>(), 20_000 * size);
                assert!(sizes.len() <= TOO_MANY, "{size}: {sizes:?}");
                assert!(written < 20_000 * size * 40, "{size}: each {} times", written / 20_000 / size);
            }
        }
    }
}
