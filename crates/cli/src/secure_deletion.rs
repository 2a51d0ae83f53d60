//! Files of ours that held something secret: written over once, then removed.
//!
//! On a disk that writes in place nothing of them is left then. On solid state disks, and on file systems that write elsewhere (Btrfs, ZFS,
//! snapshots, journals of data), the old blocks may stay until they are used again. A secret that must not be found there belongs on an
//! encrypted disk, and in the keyring of the system rather than in a file.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

/// What of one file is written over (ours): who left more than that left no secret of a few lines.
const LONGEST: u64 = 64 << 20;

/// Removes a file after its content was written over; a name that is no ordinary file, or one of several names of it, is only removed.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    // What cannot be written over is removed all the same.
    drop(overwrite(path));
    fs::remove_file(path)
}

/// The same for everything in a folder, and the folder; whatever the modes of what is in there and however deep it is. Nobody may work in
/// there any more. Fails when something stays.
pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    // What is ours can be opened up.
    let _ = rustix::fs::chmod(path, Mode::RWXU);
    let top = open_folder(CWD, path)?;
    let mut moved = 0;
    loop {
        let names = entries(&top)?;
        if names.is_empty() {
            return fs::remove_dir(path);
        }
        for name in names {
            remove_entry(&top, &name, &mut moved)?;
        }
    }
}

/// Removes what stands under a name. Folders in a folder come to the top, so that no path gets too long and no more than two are open.
fn remove_entry(top: &OwnedFd, name: &CStr, moved: &mut u64) -> io::Result<()> {
    if !is_folder(top, name) {
        return remove_at(top, name);
    }
    rustix::fs::chmodat(top, name, Mode::RWXU, AtFlags::empty())?;
    let folder = open_folder(top, name)?;
    for inner in entries(&folder)? {
        if !is_folder(&folder, &inner) {
            remove_at(&folder, &inner)?;
            continue;
        }
        rustix::fs::chmodat(&folder, &inner, Mode::RWXU, AtFlags::empty())?;
        loop {
            *moved += 1;
            let new = format!("moved-{moved}");
            match rustix::fs::renameat_with(&folder, &*inner, top, new, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => {}
                result => break result?,
            }
        }
    }
    Ok(rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR)?)
}

fn remove_at(folder: &OwnedFd, name: &CStr) -> io::Result<()> {
    let is_file = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode).is_file());
    if is_file {
        let _ = rustix::fs::chmodat(folder, name, Mode::RUSR | Mode::WUSR, AtFlags::empty());
        let held = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
        drop(overwrite(&held.join(OsStr::from_bytes(name.to_bytes()))));
    }
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
}

fn is_folder(folder: &OwnedFd, name: &CStr) -> bool {
    let facts = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    facts.is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode).is_dir())
}

fn open_folder(above: impl AsFd, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(above, name, flags, Mode::empty())?)
}

fn entries(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if ![&b"."[..], b".."].contains(&name.to_bytes()) {
            names.push(name);
        }
    }
    Ok(names)
}

fn overwrite(path: &Path) -> io::Result<()> {
    let follow_nothing = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut file = OpenOptions::new().write(true).custom_flags(follow_nothing | nonblocking).open(path)?;
    let facts = file.metadata()?;
    if !facts.is_file() || facts.nlink() != 1 || facts.len() > LONGEST {
        return Ok(());
    }
    let zeros = [0; 16 << 10];
    let mut left = facts.len();
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(zeros.len()).min(zeros.len());
        file.write_all(zeros.get(..count).unwrap_or_default())?;
        left -= count as u64;
    }
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: seed 001-73
    #[test]
    fn the_content_is_gone_before_the_name_is() {
        let folder = tempfile::tempdir().unwrap();
        let (path, kept) = (folder.path().join("secret"), folder.path().join("open"));
        fs::write(&path, "hunter2".repeat(5000)).unwrap();
        let file = fs::File::open(&path).unwrap();
        remove_file(&path).unwrap();
        let mut left = String::new();
        io::Read::read_to_string(&mut &file, &mut left).unwrap();
        assert!(!path.exists() && left.len() == 35_000 && left.bytes().all(|byte| byte == 0));

        fs::write(&path, "shared").unwrap();
        fs::hard_link(&path, &kept).unwrap();
        remove_file(&path).unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "shared", "another name of it is not ours");
    }

    #[test]
    fn neither_modes_nor_depth_keep_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("temporary");
        fs::create_dir_all(path.join("locked/inside")).unwrap();
        fs::write(path.join("locked/file"), "x").unwrap();
        let shut = std::os::unix::fs::PermissionsExt::from_mode(0o0);
        for name in ["locked/file", "locked/inside", "locked"] {
            fs::set_permissions(path.join(name), std::fs::Permissions::clone(&shut)).unwrap();
        }
        // Deeper than any path is long; a name that is taken on the way up.
        let mut place = open_folder(CWD, &path).unwrap();
        fs::create_dir(path.join("moved-2")).unwrap();
        let name = "d".repeat(200);
        for _ in 0..60 {
            rustix::fs::mkdirat(&place, &name, Mode::RWXU).unwrap();
            place = open_folder(&place, &name).unwrap();
        }
        remove_folder(&path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn links_in_a_folder_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside");
        fs::write(&outside, "mine").unwrap();
        let inside = folder.path().join("temporary/deep");
        fs::create_dir_all(&inside).unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        fs::write(inside.join("file"), "x").unwrap();
        remove_folder(&folder.path().join("temporary")).unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
        assert!(!inside.exists());
    }
}
