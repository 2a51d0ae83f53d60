//! Files of ours that held something secret: written over once, then removed.
//!
//! On a disk that writes in place nothing of them is left then. On solid state disks, and on file systems that write elsewhere (Btrfs, ZFS,
//! snapshots, journals of data), the old blocks may stay until they are used again; what must not be found there belongs on an encrypted
//! disk, and in the keyring of the system rather than in a file.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// What of one file is written over (ours): who left more than that left no secret of a few lines.
const LONGEST: u64 = 64 << 20;

/// Removes a file after its content was written over; a name that is no ordinary file, or one of several names of it, is only removed.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    // What cannot be written over is removed all the same.
    drop(overwrite(path));
    fs::remove_file(path)
}

/// The same for everything in a folder, and the folder.
pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => drop(overwrite(&entry.path())),
                _ => {}
            }
        }
    }
    fs::remove_dir_all(path)
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
