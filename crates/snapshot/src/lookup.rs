//! Looking up paths of any length, through no link.
//!
//! The system takes no path longer than 4,095 bytes, but directories can be nested deeper than that. Such paths are looked up piece by
//! piece, each from the directory that the one before led to.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::metadata;
use crate::system::{self, PLACE, Stat};

/// The longest path that is looked up at once, in bytes: `PATH_MAX` with its end.
const LONGEST: usize = 4_095;

/// Opens a directory for looking up names in it. [`Errno::LOOP`] where a part of its path is a link.
pub(crate) fn open_strictly(path: &Path) -> Result<OwnedFd, Errno> {
    let bytes = path.as_os_str().as_bytes();
    let mut opened: Option<OwnedFd> = None;
    let mut rest = bytes;
    loop {
        let (piece, after) = piece(rest);
        let below = match &opened {
            Some(directory) => one(directory, piece),
            None => one(rustix::fs::CWD, piece),
        }?;
        if after.is_empty() {
            return Ok(below);
        }
        opened = Some(below);
        rest = after;
    }
}

/// What stands at a path; the last part is not followed.
pub(crate) fn stat(path: &Path) -> Result<Stat, Errno> {
    if path.as_os_str().len() <= LONGEST {
        return system::lstat(path);
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL) };
    let name = std::ffi::CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)?;
    metadata::facts(open_strictly(parent)?, &name)
}

/// As much of a path as is looked up at once, and what is left of it.
fn piece(path: &[u8]) -> (&[u8], &[u8]) {
    let cut = match path.get(..LONGEST) {
        Some(start) if path.len() > LONGEST => start.iter().rposition(|byte| *byte == b'/'),
        _ => None,
    };
    match cut {
        Some(cut) if cut > 0 => {
            let (piece, rest) = path.split_at(cut);
            (piece, rest.get(1..).unwrap_or_default())
        }
        _ => (path, b""),
    }
}

fn one(from: impl std::os::fd::AsFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    match system::open_without_links(&from, path) {
        // Other systems, old kernels, and containers that do not let it through: part by part.
        Err(Errno::NOSYS | Errno::PERM) => part_by_part(from, path),
        other => other,
    }
}

fn part_by_part(from: impl std::os::fd::AsFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    let start: &[u8] = if path.first() == Some(&b'/') { b"/" } else { b"." };
    let mut opened = rustix::fs::openat(from, start, PLACE, Mode::empty())?;
    for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
        let found = rustix::fs::openat(&opened, name, PLACE | OFlags::NOFOLLOW, Mode::empty());
        opened = match found {
            // A link that is no directory as it is not followed.
            Err(Errno::NOTDIR) if is_link(&opened, name) => return Err(Errno::LOOP),
            other => other?,
        };
    }
    Ok(opened)
}

pub(crate) fn is_link(directory: &OwnedFd, name: &[u8]) -> bool {
    system::stat_at(directory, name)
        .is_ok_and(|found| metadata::kind(&found) == rustix::fs::FileType::Symlink)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_cut_between_names() {
        let path = format!("/{}", vec!["name"; 2_000].join("/"));
        let mut rest = path.as_bytes();
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let (piece, after) = super::piece(rest);
            assert!(piece.len() <= LONGEST, "{}", piece.len());
            pieces.push(piece);
            rest = after;
        }
        assert!(pieces.len() > 2);
        assert_eq!(pieces.join(&b"/"[..]), path.as_bytes());
    }

    #[test]
    fn both_ways_of_looking_up_agree() {
        let scratch = tempfile::tempdir().unwrap();
        let real = scratch.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("one/two")).unwrap();
        std::os::unix::fs::symlink("one", real.join("link")).unwrap();
        for (below, expected) in [
            ("one/two", Ok(())),
            ("link/two", Err(Errno::LOOP)),
            ("link", Err(Errno::LOOP)),
            ("none", Err(Errno::NOENT)),
        ] {
            let path = real.join(below);
            assert_eq!(open_strictly(&path).map(drop), expected, "{below}");
            let slow = part_by_part(rustix::fs::CWD, path.as_os_str().as_bytes());
            assert_eq!(slow.map(drop), expected, "{below}");
        }
    }
}
