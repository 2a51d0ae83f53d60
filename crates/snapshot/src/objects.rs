//! Keeping the objects of a repository, so that commits which nothing names any more can be brought back whatever git clears away.
//!
//! Objects are never changed by git, so a second name for each of their files keeps them without taking room, for as long as git has
//! them too. Where no second name can be given, because the store lies on another file system, they are copied within bounds. So they are
//! where snapshots are sealed: the second name would be the content in the clear.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use checkrein_files::Forced;

use crate::capture::CaptureBounds;
use crate::error::SnapshotError;
use crate::id::ObjectId;
use crate::sealing::is_sealed;
use crate::store::{Store, create_directory};

/// How much is read of a kept file to tell whether it is sealed, in bytes: the mark, and the name of the key.
const BEGINNING: u64 = 16;

/// Whether all objects of a repository are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectRetention {
    /// They are.
    All,
    /// There are too many, or they cannot be kept.
    NotAll,
}

impl Store {
    /// Keeps every object in the directory of objects of a repository. What is kept already is not touched again.
    pub fn keep_objects(
        &self,
        objects: &Path,
        bounds: &CaptureBounds,
    ) -> Result<ObjectRetention, SnapshotError> {
        let started = Instant::now();
        let kept = self.kept_objects(objects);
        let (mut entries, mut copied) = (0, 0);
        for (name, from) in object_files(objects)? {
            entries += 1;
            let is_late = entries > CaptureBounds::LITTLE.entries && started.elapsed() > bounds.time;
            if entries > bounds.entries || is_late {
                return Ok(ObjectRetention::NotAll);
            }
            let to = kept.join(&name);
            if to.exists() {
                continue;
            }
            if let Some(folder) = to.parent() {
                create_directory(folder)?;
            }
            let linked = if self.seals().is_sealing() {
                Err(io::Error::from(ErrorKind::Unsupported))
            } else {
                fs::hard_link(&from, &to)
            };
            match linked {
                Ok(()) => {}
                // Packed or cleared away in between, or kept by somebody else at the same time.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {}
                Err(_) => {
                    copied += fs::metadata(&from).map_or(0, |facts| facts.len());
                    if copied > bounds.bytes {
                        return Ok(ObjectRetention::NotAll);
                    }
                    self.keep_copy(&name, &from, &to)?;
                }
            }
        }
        Ok(ObjectRetention::All)
    }

    /// Gives a repository back the objects that it does not have any more; how many.
    pub fn give_objects_back(&self, objects: &Path) -> Result<usize, SnapshotError> {
        let kept = self.kept_objects(objects);
        let mut given = 0;
        for (name, from) in object_files(&kept)? {
            let to = objects.join(&name);
            if to.exists() {
                continue;
            }
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder).map_err(SnapshotError::write(folder))?;
            }
            if let Some(bytes) = sealed_bytes(&from)? {
                // Whoever has the repository may read its objects, and nobody writes to them.
                write_whole(&to, &self.seals().open(bytes, &around(&name))?, 0o444)?;
                given += 1;
                continue;
            }
            match fs::hard_link(&from, &to) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(_) => copy_whole(&from, &to)?,
            }
            given += 1;
        }
        Ok(given)
    }

    /// How many of the kept objects a repository has in no form any more, neither by themselves nor in a pack. With a period in milliseconds
    /// since 1970 only what went then counts, as the second names of the files tell, or the directories of the repository where those are copies.
    pub fn lost_objects(
        &self,
        objects: &Path,
        went: Option<&RangeInclusive<u64>>,
    ) -> Result<usize, SnapshotError> {
        let kept = object_files(&self.kept_objects(objects))?;
        let device = fs::metadata(objects).ok().map(|facts| facts.dev());
        let is_gone = |(name, path): &&(PathBuf, PathBuf)| {
            let here = objects.join(name);
            let changed = || {
                let kept = fs::metadata(path).ok()?;
                if Some(kept.dev()) == device && !is_sealed_file(path) {
                    // The time of status change is when the other name went.
                    return (kept.nlink() == 1).then(|| milliseconds(kept.ctime(), kept.ctime_nsec()));
                }
                // A copy knows nothing of the other, but the directory does that it was in, or the one above where that went with it.
                let folder = here.ancestors().skip(1).find_map(|folder| fs::metadata(folder).ok())?;
                Some(milliseconds(folder.mtime(), folder.mtime_nsec()))
            };
            !here.exists() && went.is_none_or(|went| changed().is_some_and(|at| went.contains(&at)))
        };
        let gone: Vec<&(PathBuf, PathBuf)> = kept.iter().filter(is_gone).collect();
        if gone.is_empty() {
            return Ok(0);
        }
        let mut lost = self.names(gone.iter().copied())?;
        for name in self.names(object_files(objects)?.iter())? {
            lost.remove(&name);
        }
        Ok(lost.len())
    }

    /// Lets objects go that their repository has not had for a while, since this moment in milliseconds since 1970.
    pub(crate) fn forget_objects(&self, since: u64) -> Result<(), SnapshotError> {
        let top = self.directory().join("objects");
        for repository in subdirectories(&top)? {
            for (_, path) in object_files(&repository)? {
                let Ok(facts) = fs::metadata(&path) else { continue };
                // The time of status change is when the other name went.
                let changed = u64::try_from(facts.ctime()).unwrap_or(0).saturating_mul(1_000);
                if facts.nlink() == 1 && changed < since {
                    fs::remove_file(&path).map_err(SnapshotError::write(&path))?;
                }
            }
        }
        Ok(())
    }

    /// Keeps a copy of an object, sealed where snapshots are.
    fn keep_copy(&self, name: &Path, from: &Path, to: &Path) -> Result<(), SnapshotError> {
        if !self.seals().is_sealing() {
            return copy_whole(from, to);
        }
        let bytes = match fs::read(from) {
            Ok(bytes) => bytes,
            // Packed or cleared away in between.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(SnapshotError::Read { path: from.to_owned(), source }),
        };
        write_whole(to, &self.seals().seal(&bytes, &around(name))?, 0o600)
    }

    /// The names of the objects in files: of one by itself that of the file, of a pack those in its index (gitformat-pack(5), version 2).
    fn names<'a>(
        &self,
        files: impl Iterator<Item = &'a (PathBuf, PathBuf)>,
    ) -> Result<HashSet<Vec<u8>>, SnapshotError> {
        let mut found = HashSet::new();
        for (name, path) in files {
            let text = name.to_string_lossy();
            match text.strip_prefix("pack/") {
                None => found.extend(bytes_of(&text.replace('/', ""))),
                Some(pack) if pack.ends_with(".idx") => {
                    // A pack is called by as many digits as its objects are.
                    let digits = pack.trim_start_matches("pack-").trim_end_matches(".idx").len();
                    let index = fs::read(path).map_err(SnapshotError::read(path))?;
                    let index = self.seals().open(index, &around(name))?;
                    found.extend(listed_in_index(&index, digits / 2).into_iter().flatten());
                }
                Some(_) => {}
            }
        }
        Ok(found)
    }

    fn kept_objects(&self, objects: &Path) -> PathBuf {
        let real = objects.canonicalize().unwrap_or_else(|_| objects.to_owned());
        let key = ObjectId::of(real.as_os_str().as_encoded_bytes()).digits(16);
        self.directory().join("objects").join(key)
    }
}

/// A time of a file in milliseconds since 1970.
fn milliseconds(seconds: i64, nanoseconds: i64) -> u64 {
    u64::try_from(seconds.saturating_mul(1_000).saturating_add(nanoseconds / 1_000_000)).unwrap_or(0)
}

/// The files of objects, loose and packed, with their names below the directory. A pack comes before its index, which makes it count.
fn object_files(objects: &Path) -> Result<Vec<(PathBuf, PathBuf)>, SnapshotError> {
    let mut files = Vec::new();
    for directory in subdirectories(objects)? {
        let Some(folder) = directory.file_name().and_then(|name| name.to_str()).map(str::to_owned) else {
            continue;
        };
        let is_loose = folder.len() == 2 && folder.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_loose && folder != "pack" {
            continue;
        }
        for entry in listed(&directory)? {
            let name = entry.file_name();
            let is_object = if is_loose {
                name.len() >= 38 && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit)
            } else {
                Path::new(&name)
                    .extension()
                    .is_some_and(|extension| extension == "pack" || extension == "idx")
            };
            if is_object && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                files.push((Path::new(&folder).join(&name), entry.path()));
            }
        }
    }
    files.sort_by(|one, other| other.cmp(one));
    Ok(files)
}

/// What the copy of an object is bound to where it is sealed.
fn around(name: &Path) -> Vec<u8> {
    [b"object ", name.as_os_str().as_encoded_bytes()].concat()
}

/// What a kept file holds, where that is sealed.
fn sealed_bytes(path: &Path) -> Result<Option<Vec<u8>>, SnapshotError> {
    if !is_sealed_file(path) {
        return Ok(None);
    }
    fs::read(path).map(Some).map_err(SnapshotError::read(path))
}

/// Whether a kept file is sealed, by its beginning.
fn is_sealed_file(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    read.is_ok() && is_sealed(&beginning)
}

/// Writes a file whole or not at all.
fn write_whole(to: &Path, bytes: &[u8], mode: u32) -> Result<(), SnapshotError> {
    checkrein_files::replace(to, bytes, mode, Forced::Nothing).map_err(SnapshotError::write(to))
}

/// The names in the index of a pack; `None` for another version.
fn listed_in_index(index: &[u8], length: usize) -> Option<Vec<Vec<u8>>> {
    const TABLE: usize = 8 + 256 * 4;
    let is_known = index.starts_with(b"\xfftOc\x00\x00\x00\x02") && length > 0;
    let count = index.get(TABLE - 4..TABLE).filter(|_| is_known)?;
    let count = usize::try_from(u32::from_be_bytes(count.try_into().ok()?)).ok()?;
    let names = index.get(TABLE..TABLE.checked_add(count.checked_mul(length)?)?)?;
    Some(names.chunks_exact(length).map(<[u8]>::to_vec).collect())
}

/// The bytes that hexadecimal digits stand for.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks_exact(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn subdirectories(directory: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
    let entries = listed(directory)?;
    Ok(entries
        .into_iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect())
}

fn listed(directory: &Path) -> Result<Vec<fs::DirEntry>, SnapshotError> {
    match fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Ok(entries) => Ok(entries),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(source) => Err(SnapshotError::Read { path: directory.to_owned(), source }),
    }
}

/// Copies a file whole or not at all.
fn copy_whole(from: &Path, to: &Path) -> Result<(), SnapshotError> {
    let aside = to.with_extension(format!("{}.part", checkrein_files::aside()));
    let copied = fs::copy(from, &aside).and_then(|_| fs::rename(&aside, to));
    copied.map_err(|source| {
        drop(fs::remove_file(&aside));
        SnapshotError::Write { path: to.to_owned(), source }
    })
}
