//! Opening and reading files that somebody else may have put where ours are expected.
//!
//! A repository, an agent or a damaged disk can leave a pipe, a device, a directory, a link to `/dev/zero` or a gigabyte where a small
//! file is expected. Nothing here waits for a writer, reads what never ends, or takes more memory than the caller says.
//!
//! **Invariants.** Only regular files are opened; at most the stated number of bytes, and one to see that there are more, is read.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Error, ErrorKind, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;

/// What a person or a repository writes by hand, and small files of our own: 1 MiB (ours).
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
            if is_pipe { Error::new(ErrorKind::InvalidInput, "it is no regular file") } else { error }
        },
    )?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    Err(Error::new(ErrorKind::InvalidInput, format!("it is no regular file but {}", kind_in_words(kind))))
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

/// An ending for the name of a file that is written aside before it takes its place: no other thread and no other process uses it.
pub fn aside() -> String {
    static USED: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), USED.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
