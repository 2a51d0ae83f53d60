//! What the systems call or count differently: one name here, and the difference behind it.
//!
//! Linux is the system that everything was made for and is tested on. On macOS the same calls exist but for a few, which are replaced by
//! what is nearest; where that is weaker, the function says so.

use std::ffi::{CStr, CString};
use std::os::fd::AsFd;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::path::Arg;

/// How a directory is opened in which names are looked up. Elsewhere than on Linux it must be readable for that.
#[cfg(target_os = "linux")]
pub(crate) const PLACE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(crate) const PLACE: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// What the system says about one name, in the widths that are written down. The names are those of POSIX.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "the names of POSIX")]
pub(crate) struct Stat {
    pub(crate) st_mode: u32,
    pub(crate) st_dev: u64,
    pub(crate) st_ino: u64,
    pub(crate) st_nlink: u64,
    pub(crate) st_uid: u32,
    pub(crate) st_gid: u32,
    /// In bytes.
    pub(crate) st_size: u64,
    /// In blocks of 512 bytes: POSIX leaves the unit open, Linux and macOS do not.
    pub(crate) st_blocks: u64,
    pub(crate) st_mtime: i64,
    pub(crate) st_mtime_nsec: u32,
    pub(crate) st_ctime: i64,
    pub(crate) st_ctime_nsec: u32,
}

impl From<rustix::fs::Stat> for Stat {
    #[allow(
        clippy::useless_conversion,
        clippy::cast_sign_loss,
        clippy::unnecessary_cast,
        reason = "the widths differ between systems, and numbers of devices are no quantities"
    )]
    fn from(found: rustix::fs::Stat) -> Self {
        Self {
            st_mode: found.st_mode.into(),
            st_dev: found.st_dev as u64,
            st_ino: found.st_ino,
            st_nlink: found.st_nlink.into(),
            st_uid: found.st_uid,
            st_gid: found.st_gid,
            st_size: u64::try_from(found.st_size).unwrap_or(0),
            st_blocks: u64::try_from(found.st_blocks).unwrap_or(0),
            st_mtime: found.st_mtime,
            st_mtime_nsec: u32::try_from(found.st_mtime_nsec).unwrap_or(0),
            st_ctime: found.st_ctime,
            st_ctime_nsec: u32::try_from(found.st_ctime_nsec).unwrap_or(0),
        }
    }
}

/// What stands at a path; the last part is not followed.
pub(crate) fn lstat(path: impl Arg) -> Result<Stat, Errno> {
    rustix::fs::lstat(path).map(Stat::from)
}

/// What stands under a name in a directory; the last part is not followed.
pub(crate) fn stat_at(directory: impl AsFd, name: impl Arg) -> Result<Stat, Errno> {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map(Stat::from)
}

/// What an open file is.
pub(crate) fn stat_of(file: impl AsFd) -> Result<Stat, Errno> {
    rustix::fs::fstat(file).map(Stat::from)
}

/// A mode as the system takes it.
#[allow(clippy::useless_conversion, reason = "the widths differ between systems")]
pub(crate) fn mode(bits: u32) -> Mode {
    Mode::from_raw_mode(rustix::fs::RawMode::try_from(bits & 0o7777).unwrap_or_default())
}

/// Opens a directory for looking up names in it, with no link anywhere on the way. [`Errno::NOSYS`] where the system has no call for it.
#[cfg(target_os = "linux")]
pub(crate) fn open_without_links(from: impl AsFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;

    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(from, path, PLACE, Mode::empty(), resolve)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open_without_links(_: impl AsFd, _: &[u8]) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// Calls with the names in an open directory, `.` and `..` left out, until it says that it has enough.
#[cfg(target_os = "linux")]
pub(crate) fn each_name(
    open: &OwnedFd,
    buffer: &mut Vec<u8>,
    mut take: impl FnMut(CString) -> std::ops::ControlFlow<()>,
) -> Result<(), Errno> {
    if buffer.capacity() == 0 {
        buffer.reserve_exact(32 * 1024);
    }
    let mut entries = rustix::fs::RawDir::new(open, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if is_name(entry.file_name()) && take(entry.file_name().to_owned()).is_break() {
            break;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn each_name(
    open: &OwnedFd,
    _: &mut Vec<u8>,
    mut take: impl FnMut(CString) -> std::ops::ControlFlow<()>,
) -> Result<(), Errno> {
    for entry in rustix::fs::Dir::read_from(open)? {
        let entry = entry?;
        if is_name(entry.file_name()) && take(entry.file_name().to_owned()).is_break() {
            break;
        }
    }
    Ok(())
}

fn is_name(name: &CStr) -> bool {
    !matches!(name.to_bytes(), b"." | b"..")
}

/// The content of a file is on the disk when this returns.
pub(crate) fn force_content(file: impl AsFd) -> Result<(), Errno> {
    #[cfg(target_os = "linux")]
    return rustix::fs::fdatasync(file);
    // `fsync` of macOS only hands it to the drive.
    #[cfg(not(target_os = "linux"))]
    return rustix::fs::fcntl_fullfsync(file);
}

/// Everything that was written to the file system of a file is on the disk when this returns. Elsewhere than on Linux that cannot be asked
/// of one file system: all of them are told to write, and the drive is waited for.
pub(crate) fn force_file_system(file: impl AsFd) -> Result<(), Errno> {
    #[cfg(target_os = "linux")]
    return rustix::fs::syncfs(file);
    #[cfg(not(target_os = "linux"))]
    {
        rustix::fs::sync();
        rustix::fs::fcntl_fullfsync(file)
    }
}

/// Makes a pipe. Elsewhere than on Linux: [`Errno::NOTSUP`], and the restore says that this one is not back.
pub(crate) fn make_pipe(directory: impl AsFd, name: impl Arg) -> Result<(), Errno> {
    #[cfg(target_os = "linux")]
    return rustix::fs::mkfifoat(directory, name, mode(0o600));
    #[cfg(not(target_os = "linux"))]
    {
        drop((directory, name));
        Err(Errno::NOTSUP)
    }
}
