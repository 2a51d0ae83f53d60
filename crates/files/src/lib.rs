//! Opening and reading files that somebody else may have put where ours are expected, and writing files whole or not at all.
//!
//! A repository, an agent or a damaged disk can leave a pipe, a device, a directory, a link to `/dev/zero` or a gigabyte where a small
//! file is expected. Nothing here waits for a writer, reads what never ends, or takes more memory than the caller says.
//!
//! **Invariants.** Only regular files are opened; at most the stated number of bytes, and one to see that there are more, is read.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

use std::ffi::OsString;
use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Error, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rustix::fs::OFlags;

/// What a user or a repository writes by hand, and small files of our own: 1 MiB (ours).
pub const SMALL: u64 = 1024 * 1024;

/// Opens a regular file for reading. Never waits for whoever holds the other end of a pipe; anything but a regular file is an error of
/// kind `InvalidInput` that says what it is.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// The same with other rights: for writing, appending, or making it when it is not there.
pub fn open_with(options: &mut OpenOptions, path: impl AsRef<Path>) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path).map_err(
        |error| {
            // A pipe that nobody reads cannot be opened for writing.
            let is_pipe = error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error());
            if is_pipe { Error::new(ErrorKind::InvalidInput, "it is not a regular file") } else { error }
        },
    )?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    Err(Error::new(ErrorKind::InvalidInput, format!("it is not a regular file but {}", kind_in_words(kind))))
}

/// The same for a file that nobody else may have put there: a link is not followed, and a file with a second name elsewhere, or of another
/// user, is an error of kind `InvalidInput`.
pub fn open_own(options: &mut OpenOptions, path: impl AsRef<Path>) -> io::Result<File> {
    use std::os::unix::fs::MetadataExt as _;

    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let file = options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path)?;
    let facts = file.metadata()?;
    let is_own = facts.is_file() && facts.nlink() == 1 && facts.uid() == rustix::process::geteuid().as_raw();
    if is_own { Ok(file) } else { Err(Error::new(ErrorKind::InvalidInput, "it is not a file of ours")) }
}

/// All bytes of a regular file that has at most `most`; a longer one is an error of kind `FileTooLarge`, and is not read.
pub fn read(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let too_long = || Error::new(ErrorKind::FileTooLarge, format!("it is longer than {most} bytes"));
    if length > most {
        return Err(too_long());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default().saturating_add(1));
    // What the kernel makes up, as in `/proc`, has no length, and a file may grow meanwhile.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
}

/// The text of a regular file that has at most `most` bytes; what is no UTF-8 is an error of kind `InvalidData`.
pub fn read_text(path: impl AsRef<Path>, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|error| Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

fn kind_in_words(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        "something else"
    }
}

/// What of a file that was replaced is on the disk, and not only on its way there, when [`replace`] returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Forced {
    /// Nothing: for what can be made again.
    Nothing,
    /// What it holds: after a failure of the machine there is the old file or the new one, whole.
    Content,
    /// Its name too: it is the new one.
    Name,
}

/// Replaces a file whole or not at all: it is written aside, with these permissions (less the mask of the process), and takes its place by
/// one rename. What another put there, a link or a pipe, is replaced and not followed. Nothing is left behind when it fails.
pub fn replace(path: &Path, bytes: &[u8], mode: u32, forced: Forced) -> io::Result<()> {
    let no_place = || Error::new(ErrorKind::InvalidInput, "it is not a place for a file");
    let (folder, name) = path.parent().zip(path.file_name()).ok_or_else(no_place)?;
    let mut fresh = OsString::from(".");
    fresh.push(name);
    fresh.push(format!(".{}", aside()));
    let fresh = folder.join(fresh);
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(&fresh);
    let written = opened.and_then(|mut file| {
        file.write_all(bytes)?;
        if forced >= Forced::Content {
            file.sync_all()?;
        }
        std::fs::rename(&fresh, path)
    });
    if written.is_err() {
        // What is left of a failed write is of no use to anybody.
        drop(std::fs::remove_file(&fresh));
    }
    written?;
    if forced == Forced::Name {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// When what stands at a path was made; a link is not followed. `None` where the file system does not tell.
///
/// The kernel is asked itself: the standard library of a program that is linked without the GNU C library never tells, and a program that
/// takes that for a file system without birth times holds what is new for old.
pub fn born(path: impl AsRef<Path>) -> Option<SystemTime> {
    birth_time(path.as_ref())
}

#[cfg(target_os = "linux")]
fn birth_time(path: &Path) -> Option<SystemTime> {
    use std::time::{Duration, UNIX_EPOCH};

    use rustix::fs::{AtFlags, CWD, StatxFlags};

    let found = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BTIME).ok()?;
    let is_told = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
    let since = Duration::new(u64::try_from(found.stx_btime.tv_sec).ok()?, found.stx_btime.tv_nsec);
    is_told.then(|| UNIX_EPOCH + since)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "elsewhere the standard library tells it with every C library")]
fn birth_time(path: &Path) -> Option<SystemTime> {
    std::fs::symlink_metadata(path).ok()?.created().ok()
}

/// An ending for the name of a file that is written aside before it takes its place: no other thread and no other process uses it.
pub fn aside() -> String {
    static USED: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), USED.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_followed_or_left() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let names = || {
            let entries = fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        for forced in [Forced::Nothing, Forced::Content, Forced::Name] {
            replace(&at("new"), format!("{forced:?}").as_bytes(), 0o600, forced).unwrap();
            assert_eq!(fs::read_to_string(at("new")).unwrap(), format!("{forced:?}"));
        }
        fs::write(at("other"), "stays").unwrap();
        std::os::unix::fs::symlink("other", at("link")).unwrap();
        replace(&at("link"), b"own", 0o640, Forced::Content).unwrap();
        assert_eq!(fs::read_to_string(at("other")).unwrap(), "stays");
        let facts = fs::symlink_metadata(at("link")).unwrap();
        assert!(facts.is_file() && facts.permissions().mode() & 0o777 == 0o640, "{facts:?}");
        fs::create_dir(at("taken")).unwrap();
        assert!(replace(&at("taken"), b"x", 0o600, Forced::Name).is_err());
        assert!(replace(Path::new("/"), b"x", 0o600, Forced::Name).is_err());
        assert_eq!(names(), ["link", "new", "other", "taken"]);
    }

    #[test]
    fn a_file_tells_when_it_was_made_whatever_the_library_knows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        let before = SystemTime::now();
        fs::write(&path, "x").unwrap();
        let old = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        File::open(&path).unwrap().set_modified(old).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        for name in ["new", "link"] {
            let Some(born) = born(folder.path().join(name)) else { continue };
            // The clock of the file system ticks more slowly.
            assert!(
                born + Duration::from_millis(50) >= before && born <= SystemTime::now(),
                "{name}: {born:?}"
            );
        }
        assert_eq!(born(folder.path().join("none")), None);
    }

    #[test]
    fn only_regular_files_within_the_bound_are_read_and_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("plain"), "four").unwrap();
        std::os::unix::fs::symlink(at("plain"), at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        let made =
            rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0);
        made.unwrap();
        // A file with a length that nobody could read into memory.
        File::create(at("huge")).unwrap().set_len(1 << 40).unwrap();
        let kind = |name: &str, most: u64| read(at(name), most).map_err(|error| error.kind());
        assert_eq!(kind("plain", 4), Ok(b"four".to_vec()));
        assert_eq!(kind("link", 4), Ok(b"four".to_vec()));
        assert_eq!(kind("plain", 3), Err(ErrorKind::FileTooLarge));
        assert_eq!(kind("huge", SMALL), Err(ErrorKind::FileTooLarge));
        for name in ["pipe", "zero", "."] {
            assert_eq!(kind(name, SMALL), Err(ErrorKind::InvalidInput), "{name}");
            let written = open_with(OpenOptions::new().append(true), at(name)).map_err(|error| error.kind());
            assert!(matches!(written, Err(ErrorKind::InvalidInput | ErrorKind::IsADirectory)), "{name}");
        }
        assert_eq!(kind("none", SMALL), Err(ErrorKind::NotFound));
        assert!(read("/proc/self/stat", SMALL).is_ok_and(|bytes| !bytes.is_empty()), "it has no length");
        assert_eq!(read("/proc/self/stat", 2).map_err(|error| error.kind()), Err(ErrorKind::FileTooLarge));
    }
}
