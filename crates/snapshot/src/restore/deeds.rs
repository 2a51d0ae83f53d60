//! The single deeds of a restore, each in a directory that is held open.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, ResolveFlags, Timespec, Timestamps, Uid, XattrFlags,
};
use rustix::io::Errno;

use crate::error::SnapshotError;
use crate::facts;
use crate::id::ObjectId;
use crate::node::{Content, FileTime, Meta, Node, SavedPath};
use crate::store::Reader;

/// How many files are forced to the disk one by one; more are forced together (ours).
const FORCED: usize = 64;

/// A name in a directory that is held open, no part of whose path is a link.
#[derive(Debug)]
pub(super) struct Place {
    directory: OwnedFd,
    name: CString,
    path: PathBuf,
}

impl Place {
    pub(super) fn of(path: &SavedPath) -> Result<Self, SnapshotError> {
        let path = path.as_path();
        let parent = path.parent().unwrap_or(path);
        Self::inside(parent, path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default(), path)
    }

    /// A place to write something aside that will go to `path`: in the nearest directory above it that stands.
    pub(super) fn for_staging(path: &SavedPath, writable: &mut Writable) -> Result<Self, SnapshotError> {
        let aside = aside(path);
        let place = Self::of(&aside)?;
        writable.allow(&place);
        Ok(place)
    }

    fn inside(directory: &Path, name: &[u8], path: &Path) -> Result<Self, SnapshotError> {
        let name = CString::new(name).map_err(|_| SnapshotError::Moved(path.to_owned()))?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat2(
            rustix::fs::CWD,
            directory,
            flags,
            Mode::empty(),
            ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
        );
        let opened = match opened {
            // Old kernels: the last part at least is no link.
            Err(Errno::NOSYS) => {
                rustix::fs::openat(rustix::fs::CWD, directory, flags | OFlags::NOFOLLOW, Mode::empty())
            }
            other => other,
        };
        match opened {
            Ok(directory) => Ok(Self { directory, name, path: path.to_owned() }),
            Err(Errno::LOOP) => Err(SnapshotError::Moved(directory.to_owned())),
            Err(error) => Err(SnapshotError::refused(directory)(error)),
        }
    }

    pub(super) fn is_directory(&self) -> bool {
        facts::facts(&self.directory, &self.name)
            .is_ok_and(|found| facts::kind(&found) == FileType::Directory)
    }

    fn refused(&self) -> impl FnOnce(Errno) -> SnapshotError {
        SnapshotError::refused(&self.path)
    }
}

/// Where something is written aside that will go to `path`.
pub(super) fn aside(path: &SavedPath) -> SavedPath {
    let standing = path
        .as_path()
        .ancestors()
        .skip(1)
        .find(|above| std::fs::symlink_metadata(above).is_ok_and(|found| found.is_dir()));
    let directory = standing.unwrap_or(Path::new("/"));
    let digits = ObjectId::of(path.as_path().as_os_str().as_encoded_bytes()).digits(12);
    SavedPath::from(directory.join(format!(".checkrein-restore-{digits}")))
}

/// Something that was written aside.
#[derive(Debug)]
pub(super) struct Staged {
    place: Place,
    file: Option<OwnedFd>,
}

impl Staged {
    /// Puts it where it belongs, in place of what stands there.
    pub(super) fn put(self, place: &Place) -> Result<(), SnapshotError> {
        rename(&self.place, place)
    }

    pub(super) fn remove(&self) {
        // What cannot be removed is listed in the journal of the next try.
        let _ = rustix::fs::unlinkat(&self.place.directory, &self.place.name, AtFlags::empty());
    }
}

fn rename(from: &Place, to: &Place) -> Result<(), SnapshotError> {
    rustix::fs::renameat_with(&from.directory, &from.name, &to.directory, &to.name, RenameFlags::empty())
        .map_err(to.refused())
}

/// Writes a file aside, with everything that belongs to it.
pub(super) fn stage_file(
    place: Place,
    reader: &Reader,
    content: &Content,
    meta: &Meta,
    left: &mut Vec<(SavedPath, String)>,
) -> Result<Staged, SnapshotError> {
    // Left over from a restore that was interrupted.
    let _ = rustix::fs::unlinkat(&place.directory, &place.name, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&place.directory, &place.name, flags, Mode::from_raw_mode(0o600))
        .map_err(place.refused())?;
    let written = fill(&file, &place, reader, content);
    let staged = Staged { place, file: Some(file) };
    if let Err(error) = written {
        staged.remove();
        return Err(error);
    }
    if let Some(file) = &staged.file {
        dress_open(file, &staged.place, meta, left);
    }
    Ok(staged)
}

fn fill(file: &OwnedFd, place: &Place, reader: &Reader, content: &Content) -> Result<(), SnapshotError> {
    reader.content(content, |part| {
        let mut rest = part;
        while !rest.is_empty() {
            match rustix::io::write(file, rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(place.refused()(error)),
            }
        }
        Ok(())
    })
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
            let mode = Mode::from_raw_mode(0o600 | meta.mode);
            let may = rustix::fs::chmodat(&place.directory, &place.name, mode, AtFlags::empty());
            may.map_err(|_| error).and_then(|()| open())
        })
        .map_err(place.refused())?;
    fill(&file, place, reader, content)?;
    dress_open(&file, place, meta, left);
    Ok(())
}

/// Writes a link aside.
pub(super) fn stage_link(place: Place, target: &[u8], meta: &Meta) -> Result<Staged, SnapshotError> {
    let _ = rustix::fs::unlinkat(&place.directory, &place.name, AtFlags::empty());
    rustix::fs::symlinkat(target, &place.directory, &place.name).map_err(place.refused())?;
    // The time of a link is nobody's promise.
    let times = timestamps(meta.modified);
    let _ = rustix::fs::utimensat(&place.directory, &place.name, &times, AtFlags::SYMLINK_NOFOLLOW);
    Ok(Staged { place, file: None })
}

/// Forces what was written aside to the disk, before any name points at it.
pub(super) fn force(staged: &BTreeMap<SavedPath, Staged>) -> Result<(), SnapshotError> {
    let files = || staged.values().filter_map(|one| Some((one.file.as_ref()?, &one.place)));
    if files().count() > FORCED {
        return match files().next() {
            Some((file, place)) => rustix::fs::syncfs(file).map_err(place.refused()),
            None => Ok(()),
        };
    }
    files().try_for_each(|(file, place)| rustix::fs::fdatasync(file).map_err(place.refused()))
}

/// Removes what stands at a path; nothing when nothing does.
pub(super) fn remove(
    path: &SavedPath,
    now: Option<&Node>,
    writable: &mut Writable,
) -> Result<(), SnapshotError> {
    let place = match Place::of(path) {
        Err(SnapshotError::Write { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(());
        }
        other => other?,
    };
    writable.allow(&place);
    let flags = match now {
        Some(Node::Directory { .. }) => AtFlags::REMOVEDIR,
        Some(Node::File { .. } | Node::Symlink { .. }) | None => AtFlags::empty(),
    };
    match rustix::fs::unlinkat(&place.directory, &place.name, flags) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(place.refused()(error)),
    }
}

/// Makes a directory in which the restore can write; what belongs to it follows when it is full.
pub(super) fn make_directory(place: &Place) -> Result<(), SnapshotError> {
    match rustix::fs::mkdirat(&place.directory, &place.name, Mode::from_raw_mode(0o700)) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) if place.is_directory() => Ok(()),
        Err(error) => Err(place.refused()(error)),
    }
}

/// Makes a second name of a file.
pub(super) fn link(anchor: &SavedPath, place: &Place) -> Result<(), SnapshotError> {
    let from = Place::of(anchor)?;
    let aside = Place::of(&aside(&SavedPath::from(place.path.as_path())))?;
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
    }
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
            Mode::from_raw_mode(0o600 | meta.mode),
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
    let present = rustix::fs::fstat(file);
    if let Ok(present) = &present
        && (present.st_uid, present.st_gid) != (meta.owner, meta.group)
    {
        let owner =
            rustix::fs::fchown(file, Some(Uid::from_raw(meta.owner)), Some(Gid::from_raw(meta.group)));
        if let Err(error) = owner {
            note("owner", error);
        }
    }
    let attributes = facts::attributes(file);
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
    if present.is_ok_and(|present| present.st_mode & 0o7777 != meta.mode)
        && let Err(error) = rustix::fs::fchmod(file, Mode::from_raw_mode(meta.mode))
    {
        note("mode", error);
    }
    if let Err(error) = rustix::fs::futimens(file, &timestamps(meta.modified)) {
        note("time", error);
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

/// Directories that were made writable for a while.
#[derive(Debug, Default)]
pub(super) struct Writable(BTreeMap<PathBuf, u32>);

impl Writable {
    /// Sees to it that names in the directory of a place can be changed. One that does not belong to us stays as it is, and then the
    /// change itself says why it cannot be done.
    pub(super) fn allow(&mut self, place: &Place) {
        let Ok(found) = rustix::fs::fstat(&place.directory) else { return };
        let mode = found.st_mode & 0o7777;
        let Some(path) = place.path.parent() else { return };
        if mode & 0o300 == 0o300 || found.st_uid != rustix::process::geteuid().as_raw() {
            return;
        }
        if rustix::fs::chmodat(&place.directory, c".", Mode::from_raw_mode(mode | 0o300), AtFlags::empty())
            .is_ok()
        {
            self.0.entry(path.to_owned()).or_insert(mode);
        }
    }

    /// A directory that is given its mode by somebody else.
    pub(super) fn forget(&mut self, path: &SavedPath) {
        self.0.remove(path.as_path());
    }

    /// Gives the directories back the modes that they had.
    pub(super) fn reset(&mut self) {
        for (path, mode) in std::mem::take(&mut self.0) {
            if let Ok(place) = Place::of(&SavedPath::from(path)) {
                let mode = Mode::from_raw_mode(mode);
                let _ = rustix::fs::chmodat(&place.directory, &place.name, mode, AtFlags::empty());
            }
        }
    }
}
