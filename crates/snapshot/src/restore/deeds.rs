//! The single deeds of a restore, each in a directory that is held open.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;

use crate::error::SnapshotError;
use crate::lending::Lent;
use crate::metadata;
use crate::node::{Content, FileTime, Meta, Node, SavedPath};
use crate::store::Reader;
use crate::system;

/// How many files are forced to the disk one by one; more are forced together (ours).
const FORCED: usize = 64;

/// How much of a file is looked at for zeros at once, in bytes (ours): what is nothing else becomes a hole.
const BLOCK: usize = 64 * 1024;
static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// A name in a directory that is held open, no part of whose path is a link.
#[derive(Debug)]
pub(super) struct Place {
    directory: Arc<OwnedFd>,
    name: CString,
    path: PathBuf,
}

impl Place {
    pub(super) fn of(path: &SavedPath, lent: &mut Lent) -> Result<Self, SnapshotError> {
        let path = path.as_path();
        let parent = path.parent().unwrap_or(path);
        let name = path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
        let name = CString::new(name).map_err(|_| SnapshotError::Moved(path.to_owned()))?;
        match lent.directory(parent) {
            Ok(directory) => Ok(Self { directory, name, path: path.to_owned() }),
            Err(Errno::LOOP) => Err(SnapshotError::Moved(parent.to_owned())),
            Err(error) => Err(SnapshotError::refused(parent)(error)),
        }
    }

    /// A place in a directory in which names can be changed. One that does not belong to us stays as it is, and then the change itself
    /// says why it cannot be done.
    pub(super) fn changeable(path: &SavedPath, lent: &mut Lent) -> Result<Self, SnapshotError> {
        let place = Self::of(path, lent)?;
        if let (Ok(found), Some(parent)) = (system::stat_of(&place.directory), place.path.parent()) {
            lent.open(&place.directory, b".", &found, parent);
        }
        Ok(place)
    }

    pub(super) fn path(&self) -> &std::path::Path {
        &self.path
    }

    pub(super) fn is_directory(&self) -> bool {
        metadata::facts(&self.directory, &self.name)
            .is_ok_and(|found| metadata::kind(&found) == FileType::Directory)
    }

    fn staged(&self) -> Staged {
        Staged { aside: SavedPath::from(self.path.as_path()) }
    }

    fn refused(&self) -> impl FnOnce(Errno) -> SnapshotError {
        SnapshotError::refused(&self.path)
    }
}

/// Something that was written aside. Nothing of it is held open: there may be any number of them.
#[derive(Debug)]
pub(super) struct Staged {
    aside: SavedPath,
}

impl Staged {
    /// Puts it where it belongs, in place of what stands there.
    pub(super) fn put(self, place: &Place, lent: &mut Lent) -> Result<(), SnapshotError> {
        rename(&Place::of(&self.aside, lent)?, place)
    }

    pub(super) fn remove(&self, lent: &mut Lent) {
        // What cannot be removed is listed in the journal of the next try.
        if let Ok(place) = Place::of(&self.aside, lent) {
            let _ = rustix::fs::unlinkat(&place.directory, &place.name, AtFlags::empty());
        }
    }
}

/// Forces what is written aside to the disk: few files each by itself, many together with the file system that they are on.
#[derive(Debug)]
pub(super) struct Forcing {
    count: usize,
    /// One file of each file system, opened before anything was written to it, so that no failed write goes unnoticed.
    systems: BTreeMap<u64, (OwnedFd, PathBuf)>,
}

impl Forcing {
    /// `count` files are to come.
    pub(super) fn of(count: usize) -> Self {
        Self { count, systems: BTreeMap::new() }
    }

    fn take(&mut self, file: OwnedFd, place: &Place) -> Result<(), SnapshotError> {
        if self.count <= FORCED {
            return system::force_content(&file).map_err(place.refused());
        }
        let device = system::stat_of(&file).map_err(place.refused())?.st_dev;
        self.systems.entry(device).or_insert_with(|| (file, place.path.clone()));
        Ok(())
    }

    /// Everything is on the disk when this returns.
    pub(super) fn finish(self) -> Result<(), SnapshotError> {
        self.systems.values().try_for_each(|(file, path)| {
            system::force_file_system(file).map_err(SnapshotError::refused(path))
        })
    }
}

fn rename(from: &Place, to: &Place) -> Result<(), SnapshotError> {
    rustix::fs::renameat_with(&from.directory, &from.name, &to.directory, &to.name, RenameFlags::empty())
        .map_err(to.refused())
}

/// Writes a file aside, with everything that belongs to it.
pub(super) fn stage_file(
    place: &Place,
    reader: &Reader,
    content: &Content,
    meta: &Meta,
    forcing: &mut Forcing,
    left: &mut Vec<(SavedPath, String)>,
) -> Result<Staged, SnapshotError> {
    // Left over from a restore that was interrupted.
    let _ = rustix::fs::unlinkat(&place.directory, &place.name, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&place.directory, &place.name, flags, system::mode(0o600))
        .map_err(place.refused())?;
    let written = fill(&file, place, reader, content).and_then(|()| {
        dress_open(&file, place, meta, left);
        forcing.take(file, place)
    });
    if let Err(error) = written {
        let _ = rustix::fs::unlinkat(&place.directory, &place.name, AtFlags::empty());
        return Err(error);
    }
    Ok(place.staged())
}

fn fill(file: &OwnedFd, place: &Place, reader: &Reader, content: &Content) -> Result<(), SnapshotError> {
    let mut at = 0_u64;
    let mut end = 0_u64;
    reader.content(content, |part| {
        for block in part.chunks(BLOCK) {
            if block != ZEROS {
                write_at(file, block, at).map_err(place.refused())?;
                end = at + block.len() as u64;
            }
            at += block.len() as u64;
        }
        Ok(())
    })?;
    // Nothing but a hole may be at the end.
    if end < at { rustix::fs::ftruncate(file, at).map_err(place.refused()) } else { Ok(()) }
}

fn write_at(file: &OwnedFd, mut rest: &[u8], mut at: u64) -> Result<(), Errno> {
    while !rest.is_empty() {
        match rustix::io::pwrite(file, rest, at) {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => {
                rest = rest.get(written..).unwrap_or_default();
                at += written as u64;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes content into a file that stands, so that all of its names have it. The one deed that is not a single rename; that there is
/// room for it was tried before, and what interrupts it is made good from the journal.
pub(super) fn pour(
    place: &Place,
    reader: &Reader,
    content: &Content,
    meta: &Meta,
    left: &mut Vec<(SavedPath, String)>,
) -> Result<(), SnapshotError> {
    let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = || rustix::fs::openat(&place.directory, &place.name, flags, Mode::empty());
    let file = open()
        .or_else(|error| {
            // One's own file that is read-only by now.
            let mode = system::mode(0o600 | meta.mode);
            let may = rustix::fs::chmodat(&place.directory, &place.name, mode, AtFlags::empty());
            may.map_err(|_| error).and_then(|()| open())
        })
        .map_err(place.refused())?;
    fill(&file, place, reader, content)?;
    dress_open(&file, place, meta, left);
    Ok(())
}

/// Writes a link aside.
pub(super) fn stage_link(place: &Place, target: &[u8], meta: &Meta) -> Result<Staged, SnapshotError> {
    let _ = rustix::fs::unlinkat(&place.directory, &place.name, AtFlags::empty());
    rustix::fs::symlinkat(target, &place.directory, &place.name).map_err(place.refused())?;
    // The time of a link is nobody's promise.
    let times = timestamps(meta.modified);
    let _ = rustix::fs::utimensat(&place.directory, &place.name, &times, AtFlags::SYMLINK_NOFOLLOW);
    Ok(place.staged())
}

/// Makes a pipe aside.
pub(super) fn stage_pipe(
    place: &Place,
    meta: &Meta,
    left: &mut Vec<(SavedPath, String)>,
) -> Result<Staged, SnapshotError> {
    let _ = rustix::fs::unlinkat(&place.directory, &place.name, AtFlags::empty());
    system::make_pipe(&place.directory, &place.name).map_err(place.refused())?;
    dress_pipe(place, meta, left);
    Ok(place.staged())
}

/// Removes what stands at a path; nothing when nothing does.
pub(super) fn remove(path: &SavedPath, now: Option<&Node>, lent: &mut Lent) -> Result<(), SnapshotError> {
    let place = match Place::changeable(path, lent) {
        Err(SnapshotError::Write { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(());
        }
        other => other?,
    };
    let flags = match now {
        Some(Node::Directory { .. }) => AtFlags::REMOVEDIR,
        Some(Node::File { .. } | Node::Symlink { .. } | Node::Pipe { .. }) | None => AtFlags::empty(),
    };
    lent.leave(path.as_path());
    match rustix::fs::unlinkat(&place.directory, &place.name, flags) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(place.refused()(error)),
    }
}

/// Makes a directory in which the restore can write; what belongs to it follows when it is full.
pub(super) fn make_directory(place: &Place) -> Result<(), SnapshotError> {
    match rustix::fs::mkdirat(&place.directory, &place.name, system::mode(0o700)) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) if place.is_directory() => Ok(()),
        Err(error) => Err(place.refused()(error)),
    }
}

/// Makes a second name of a file, at first aside.
pub(super) fn link(
    anchor: &SavedPath,
    aside: &SavedPath,
    place: &Place,
    lent: &mut Lent,
) -> Result<(), SnapshotError> {
    let from = Place::of(anchor, lent)?;
    let aside = Place::of(aside, lent)?;
    let _ = rustix::fs::unlinkat(&aside.directory, &aside.name, AtFlags::empty());
    rustix::fs::linkat(&from.directory, &from.name, &aside.directory, &aside.name, AtFlags::empty())
        .map_err(place.refused())?;
    let renamed = rename(&aside, place);
    // Renaming a name onto another name of the same file does nothing, and leaves both.
    let _ = rustix::fs::unlinkat(&aside.directory, &aside.name, AtFlags::empty());
    renamed
}

/// Puts back mode, owner, attributes and times where only they differ.
pub(super) fn dress(place: &Place, then: &Node, left: &mut Vec<(SavedPath, String)>) {
    match then {
        // Directories follow when everything in them is done.
        Node::Directory { .. } => {}
        Node::Symlink { meta, .. } => {
            let times = timestamps(meta.modified);
            let _ = rustix::fs::utimensat(&place.directory, &place.name, &times, AtFlags::SYMLINK_NOFOLLOW);
        }
        Node::File { meta, .. } => dress_name(place, meta, left),
        Node::Pipe { meta } => dress_pipe(place, meta, left),
    }
}

/// Puts back what belongs to a pipe, which cannot be opened for that without waiting for its other end.
fn dress_pipe(place: &Place, meta: &Meta, left: &mut Vec<(SavedPath, String)>) {
    let mode = system::mode(meta.mode);
    if let Err(error) = rustix::fs::chmodat(&place.directory, &place.name, mode, AtFlags::empty()) {
        left.push((SavedPath::from(place.path.as_path()), format!("mode not put back: {}", words(error))));
    }
    let times = timestamps(meta.modified);
    let _ = rustix::fs::utimensat(&place.directory, &place.name, &times, AtFlags::SYMLINK_NOFOLLOW);
}

/// Puts back what belongs to a directory.
pub(super) fn dress_directory(place: &Place, meta: &Meta, left: &mut Vec<(SavedPath, String)>) {
    dress_name(place, meta, left);
}

fn dress_name(place: &Place, meta: &Meta, left: &mut Vec<(SavedPath, String)>) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = || rustix::fs::openat(&place.directory, &place.name, flags, Mode::empty());
    let opened = open().or_else(|error| {
        // One's own file that nobody may read, not even oneself.
        let may = rustix::fs::chmodat(
            &place.directory,
            &place.name,
            system::mode(0o600 | meta.mode),
            AtFlags::empty(),
        );
        may.map_err(|_| error).and_then(|()| open())
    });
    match opened {
        Ok(open) => dress_open(&open, place, meta, left),
        Err(error) => left.push((SavedPath::from(place.path.as_path()), words(error))),
    }
}

/// Puts back owner, attributes, mode and times, in this order: each may be undone by the one before.
fn dress_open(file: &OwnedFd, place: &Place, meta: &Meta, left: &mut Vec<(SavedPath, String)>) {
    let mut note = |what: &str, error: Errno| {
        left.push((SavedPath::from(place.path.as_path()), format!("{what} not put back: {}", words(error))));
    };
    let present = system::stat_of(file);
    if let Ok(present) = &present
        && (present.st_uid, present.st_gid) != (meta.owner, meta.group)
    {
        let owner =
            rustix::fs::fchown(file, Some(Uid::from_raw(meta.owner)), Some(Gid::from_raw(meta.group)));
        if let Err(error) = owner {
            note("owner", error);
        }
    }
    let attributes = metadata::attributes(file);
    for (name, _) in
        attributes.iter().filter(|(name, _)| !meta.attributes.iter().any(|(known, _)| known == name))
    {
        if let Err(error) = rustix::fs::fremovexattr(file, name.as_slice()) {
            note("attribute", error);
        }
    }
    for (name, value) in meta.attributes.iter().filter(|one| !attributes.contains(one)) {
        if let Err(error) = rustix::fs::fsetxattr(file, name.as_slice(), value, XattrFlags::empty()) {
            note("attribute", error);
        }
    }
    if present.as_ref().is_ok_and(|present| present.st_mode & 0o7777 != meta.mode)
        && let Err(error) = rustix::fs::fchmod(file, system::mode(meta.mode))
    {
        note("mode", error);
    }
    // The time of a directory that belongs to somebody else is theirs: it changes with whatever anybody puts in.
    let is_foreign = present.is_ok_and(|present| {
        metadata::kind(&present) == FileType::Directory
            && present.st_uid != rustix::process::geteuid().as_raw()
    });
    match rustix::fs::futimens(file, &timestamps(meta.modified)) {
        Err(Errno::PERM) if is_foreign => {}
        Err(error) => note("time", error),
        Ok(()) => {}
    }
}

fn timestamps(modified: FileTime) -> Timestamps {
    let time = Timespec { tv_sec: modified.seconds, tv_nsec: modified.nanoseconds.into() };
    // When it was last read is now.
    let read = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    Timestamps { last_access: read, last_modification: time }
}

fn words(error: Errno) -> String {
    std::io::Error::from(error).to_string()
}
