//! What the system says about one file, link or directory.

use std::ffi::CStr;
use std::os::fd::AsFd;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::node::{FileTime, LinkGroup, Meta};
use crate::system::{self, Stat};

/// The greatest length of all extended attributes of one file that is saved, in bytes (ours).
const ATTRIBUTES: usize = 64 * 1024;

/// What stands under a name in a directory; the last part is not followed.
pub(crate) fn facts(directory: impl AsFd, name: &CStr) -> Result<Stat, Errno> {
    system::stat_at(directory, name)
}

/// Opens a directory for looking up names in it, by its whole path.
pub(crate) fn open_place(path: &std::path::Path) -> Result<rustix::fd::OwnedFd, Errno> {
    rustix::fs::openat(rustix::fs::CWD, path, system::PLACE, Mode::empty())
}

/// Opens a directory for reading its names; a link in its place is refused.
pub(crate) fn open_directory(place: impl AsFd, name: &CStr) -> Result<rustix::fd::OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(place, name, flags, Mode::empty())
}

/// Opens a file for reading; neither follows a link nor waits for the other end of a pipe.
pub(crate) fn open_file(place: impl AsFd, name: &CStr) -> Result<rustix::fd::OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(place, name, flags, Mode::empty())
}

pub(crate) fn kind(facts: &Stat) -> FileType {
    FileType::from_raw_mode(rustix::fs::RawMode::try_from(facts.st_mode).unwrap_or_default())
}

pub(crate) fn length(facts: &Stat) -> u64 {
    facts.st_size
}

/// How much of a file is on the disk at most, in bytes: holes are not.
pub(crate) fn stored(facts: &Stat) -> u64 {
    length(facts).min(facts.st_blocks.saturating_mul(512))
}

/// The group of hard links that a file belongs to; `None` when it has one name only.
pub(crate) fn links(facts: &Stat) -> Option<LinkGroup> {
    (facts.st_nlink > 1).then_some(LinkGroup { device: facts.st_dev, inode: facts.st_ino })
}

/// When the content last changed.
pub(crate) fn modified(facts: &Stat) -> FileTime {
    FileTime { seconds: facts.st_mtime, nanoseconds: facts.st_mtime_nsec }
}

/// When the status last changed.
pub(crate) fn changed(facts: &Stat) -> FileTime {
    FileTime { seconds: facts.st_ctime, nanoseconds: facts.st_ctime_nsec }
}

/// When something was made; `None` where the file system does not tell.
pub(crate) fn born(path: &std::path::Path) -> Option<FileTime> {
    let since = checkrein_files::born(path)?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(FileTime { seconds: i64::try_from(since.as_secs()).ok()?, nanoseconds: since.subsec_nanos() })
}

/// What is known beside the content, without extended attributes.
pub(crate) fn meta(facts: &Stat) -> Meta {
    Meta {
        mode: facts.st_mode & 0o7777,
        owner: facts.st_uid,
        group: facts.st_gid,
        modified: modified(facts),
        attributes: Vec::new(),
    }
}

/// The extended attributes of an open file, sorted by name; those that cannot be read are left out.
pub(crate) fn attributes(file: impl AsFd) -> Vec<(Vec<u8>, Vec<u8>)> {
    // Asked for the length first: most files have none, and then nothing else is asked.
    let length = match rustix::fs::flistxattr_query(&file) {
        Ok(0) | Err(_) => return Vec::new(),
        Ok(length) => length.min(ATTRIBUTES),
    };
    let mut names = vec![0; length];
    let Ok(length) = rustix::fs::flistxattr(&file, &mut names[..]) else { return Vec::new() };
    names.truncate(length);
    let mut left = ATTRIBUTES;
    let mut found = Vec::new();
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let Ok(length) = rustix::fs::fgetxattr_query(&file, name) else { continue };
        if length > left {
            continue;
        }
        let mut value = vec![0; length];
        let Ok(length) = rustix::fs::fgetxattr(&file, name, &mut value[..]) else { continue };
        value.truncate(length);
        left -= length;
        found.push((name.to_vec(), value));
    }
    found.sort();
    found
}
