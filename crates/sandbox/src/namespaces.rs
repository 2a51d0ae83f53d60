//! Where Landlock is absent: a view of the file system of our own, in which nothing but the scope can be written to.
//!
//! The whole process moves into it, before it has a thread: what it starts cannot leave, and what it does for the command sees what the
//! command sees. The command gets none of the rights that come with the view.

use std::ffi::{CStr, CString};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::ptr;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, WaitOptions};

use crate::error::SuperviseError;
use crate::kernel::Hindrance;
use crate::mediation::{SHARED_MEMORY, devices};
use crate::scope::{Bytes, Network, Scope};
use crate::terminals::TERMINALS;

/// Tries it in a process of its own: what is written in `/proc/sys` is only part of what decides.
#[expect(unsafe_code, reason = "no safe crate forks")]
pub(crate) fn probe() -> Result<(), Hindrance> {
    // SAFETY: the new process does system calls only, and ends without running anything of ours.
    let number = unsafe { libc::fork() };
    if number == 0 {
        let made = unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS).is_ok()
            && mount(None, c"/", libc::MS_REC | libc::MS_PRIVATE).is_ok();
        // SAFETY: as above.
        unsafe { libc::_exit(i32::from(!made)) };
    }
    let ended = Pid::from_raw(number)
        .and_then(|pid| rustix::process::waitpid(Some(pid), WaitOptions::empty()).ok().flatten());
    if ended.is_some_and(|(_, status)| status.exit_status() == Some(0)) { Ok(()) } else { Err(reason()) }
}

fn reason() -> Hindrance {
    let is = |name: &str, value: &str| {
        fs::read_to_string(Path::new("/proc/sys").join(name)).is_ok_and(|text| text.trim() == value)
    };
    if is("user/max_user_namespaces", "0") {
        Hindrance::NoneAllowed
    } else if is("kernel/unprivileged_userns_clone", "0") {
        Hindrance::SwitchedOff
    } else if is("kernel/apparmor_restrict_unprivileged_userns", "1") {
        Hindrance::AppArmor
    } else {
        Hindrance::Refused
    }
}

/// The view that this process is in. When it is dropped its writable places are taken away again, so that who made one of them can remove it.
#[derive(Debug)]
pub(crate) struct View {
    writable: Vec<CString>,
}

impl View {
    /// Moves this process, which must have one thread, into a view in which the scope can be written to and nothing else.
    pub(crate) fn enter(scope: &Scope) -> Result<Self, SuperviseError> {
        Self::make(scope).map_err(SuperviseError::restriction("a view of the file system for the command"))
    }

    fn make(scope: &Scope) -> io::Result<Self> {
        let network = if scope.network == Network::Nothing { libc::CLONE_NEWNET } else { 0 };
        let here = rustix::process::getcwd(Vec::new())?;
        own_users(libc::CLONE_NEWNS | network)?;
        mount(None, c"/", libc::MS_REC | libc::MS_PRIVATE)?;
        let mut roots: Vec<&PathBuf> = scope.write.iter().collect();
        roots.sort();
        roots.dedup_by(|later, earlier| later.starts_with(earlier));
        let mut writable = Vec::new();
        for root in roots.iter().filter(|root| root.exists()) {
            let path = CString::new(root.as_os_str().as_bytes())?;
            mount(Some(&path), &path, libc::MS_BIND | libc::MS_REC)?;
            writable.push(path);
        }
        own_devices(scope)?;
        for place in scope.hidden.iter().filter(|place| place.is_dir()) {
            let path = CString::new(place.as_os_str().as_bytes())?;
            make_file_system(c"tmpfs", &path, c"mode=500,size=4k")?;
        }
        let is_writable = |place: &Path| {
            place == Path::new(SHARED_MEMORY) || roots.iter().any(|root| place.starts_with(root))
        };
        let mounts = Mount::all(&fs::read("/proc/self/mountinfo")?);
        for place in mounts.iter().filter(|place| !is_writable(&place.path)) {
            // One that something else lies over cannot be reached by its path, nor by anybody else; what can be reached is looked at below.
            let path = CString::new(place.path.as_os_str().as_bytes())?;
            let _ = mount(None, &path, libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY | place.flags);
        }
        for place in mounts.iter().filter(|place| !is_writable(&place.path)) {
            let flags = rustix::fs::statvfs(&place.path).map(|facts| facts.f_flag);
            if flags.is_ok_and(|flags| !flags.contains(rustix::fs::StatVfsMountFlags::RDONLY)) {
                return Err(io::Error::other(format!("{} stays writable", place.path.display())));
            }
        }
        // The same folder, in the new view.
        let _ = rustix::process::chdir(&*here);
        Ok(Self { writable })
    }
}

impl Drop for View {
    fn drop(&mut self) {
        for path in self.writable.iter().rev() {
            let _ = detach(path);
        }
    }
}

/// A folder of devices with those only that any command may write to: a disk can be written to whatever holds its folder.
fn own_devices(scope: &Scope) -> io::Result<()> {
    let folder = Path::new(DEVICES);
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let held: Vec<(&str, OwnedFd)> = devices()
        .filter(|device| *device != TERMINAL_MAKER)
        .filter_map(|device| Some((device, rustix::fs::open(device, flags, Mode::empty()).ok()?)))
        .collect();
    let links: Vec<(PathBuf, PathBuf)> = ["fd", "stdin", "stdout", "stderr"]
        .iter()
        .filter_map(|name| Some((folder.join(name), fs::read_link(folder.join(name)).ok()?)))
        .collect();
    make_file_system(c"tmpfs", c"/dev", c"mode=755,size=64k")?;
    for (device, file) in held {
        let source = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        let target = CString::new(device)?;
        fs::write(device, "")?;
        mount(Some(&source), &target, libc::MS_BIND)?;
    }
    for (link, target) in links {
        std::os::unix::fs::symlink(target, link)?;
    }
    // Terminals are made where their maker lies, so both are new; without them a command has none, which is no danger.
    fs::create_dir(TERMINALS)?;
    if make_file_system(c"devpts", c"/dev/pts", c"newinstance,ptmxmode=0666,mode=620").is_ok() {
        std::os::unix::fs::symlink("pts/ptmx", TERMINAL_MAKER)?;
    }
    own_shared_memory(scope)
}

/// A folder for semaphores and shared memory that nobody else sees, with no more in it than the command may use.
fn own_shared_memory(scope: &Scope) -> io::Result<()> {
    fs::create_dir(SHARED_MEMORY)?;
    let size = scope.limits.memory.map_or_else(String::new, |Bytes(most)| format!(",size={most}"));
    let options = CString::new(format!("mode=1777{size}"))?;
    make_file_system(c"tmpfs", &CString::new(SHARED_MEMORY)?, &options)
}

const DEVICES: &str = "/dev";
const TERMINAL_MAKER: &str = "/dev/ptmx";

/// Namespaces of our own in which users are who they are outside.
#[expect(unsafe_code, reason = "no safe crate forks")]
fn own_users(others: libc::c_int) -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if !user.is_root() {
        unshare(libc::CLONE_NEWUSER | others)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
        return fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()));
    }
    // All users keep their numbers; that can only be written from outside, by a process that waits until there is something to write.
    let maps = [same_numbers("/proc/self/uid_map")?, same_numbers("/proc/self/gid_map")?];
    let (mut waits, mut tells) = io::pipe()?;
    let own = rustix::process::getpid().as_raw_nonzero();
    // SAFETY: there is one thread, so the new process has all that this one has.
    let number = unsafe { libc::fork() };
    if number == 0 {
        drop(tells);
        let told = waits.read(&mut [0]).is_ok_and(|count| count == 1);
        let [users, groups] = &maps;
        let written = told
            && fs::write(format!("/proc/{own}/uid_map"), users).is_ok()
            && fs::write(format!("/proc/{own}/gid_map"), groups).is_ok();
        // SAFETY: ends the process without running what ours registered for its end.
        unsafe { libc::_exit(i32::from(!written)) };
    }
    let helper = Pid::from_raw(number).ok_or_else(io::Error::last_os_error)?;
    let made = unshare(libc::CLONE_NEWUSER | others);
    if made.is_ok() {
        tells.write_all(b"1")?;
    }
    drop(tells);
    let ended = rustix::process::waitpid(Some(helper), WaitOptions::empty())?;
    made?;
    match ended.and_then(|(_, status)| status.exit_status()) {
        Some(0) => Ok(()),
        _ => Err(io::Error::other("the numbers of users cannot be kept")),
    }
}

/// The ranges of a map of users, each to itself.
fn same_numbers(map: &str) -> io::Result<String> {
    let text = fs::read_to_string(map)?;
    let line = |line: &str| {
        let mut fields = line.split_whitespace();
        Some(format!("{0} {0} {1}\n", fields.next()?, fields.nth(1)?))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// One line of `mountinfo`: where it is, and the flags that must not get lost.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    path: PathBuf,
    flags: libc::c_ulong,
}

impl Mount {
    fn all(text: &[u8]) -> Vec<Self> {
        text.split(|byte| *byte == b'\n').filter_map(Self::read).collect()
    }

    fn read(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        let path = unescaped(fields.nth(4)?);
        let flag = |option: &[u8]| match option {
            b"nosuid" => libc::MS_NOSUID,
            b"nodev" => libc::MS_NODEV,
            b"noexec" => libc::MS_NOEXEC,
            b"noatime" => libc::MS_NOATIME,
            b"nodiratime" => libc::MS_NODIRATIME,
            b"relatime" => libc::MS_RELATIME,
            _ => 0,
        };
        let flags = fields.next()?.split(|byte| *byte == b',').map(flag).fold(0, |all, flag| all | flag);
        Some(Self { path: std::ffi::OsString::from_vec(path).into(), flags })
    }
}

/// Blanks and the like stand as `\040`.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'\\').and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    plain
}

#[expect(unsafe_code, reason = "the mount calls of rustix are a feature that nothing else needs")]
fn mount(source: Option<&CString>, target: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    let source = source.map_or(ptr::null(), |text| text.as_ptr());
    // SAFETY: texts end with a zero and live until the call returns; for these flags the other arguments may be null.
    let result = unsafe { libc::mount(source, target.as_ptr(), ptr::null(), flags, ptr::null()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[expect(unsafe_code, reason = "as `mount`")]
fn make_file_system(kind: &CStr, target: &CStr, options: &CStr) -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
    let (kind, options) = (kind.as_ptr(), options.as_ptr().cast());
    // SAFETY: texts end with a zero and live until the call returns.
    let result = unsafe { libc::mount(kind, target.as_ptr(), kind, flags, options) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[expect(unsafe_code, reason = "as `mount`")]
fn detach(target: &CString) -> io::Result<()> {
    // SAFETY: the text ends with a zero and lives until the call returns.
    let result = unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[expect(unsafe_code, reason = "rustix counts the call as unsafe too")]
fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: descriptors stay shared, so nobody loses one; this changes what paths and numbers of users mean, of which nothing is kept.
    let result = unsafe { libc::unshare(flags) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_the_flags_that_must_stay() {
        let text = b"31 23 0:28 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - tmpfs tmpfs rw\n\
            40 23 8:1 / /mnt/my\\040disk\\134x rw,noatime - ext4 /dev/sda1 rw\n";
        let mounts = Mount::all(text);
        assert_eq!(mounts[0].path, Path::new("/sys/fs/cgroup"));
        let all = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC | libc::MS_RELATIME;
        assert_eq!(mounts[0].flags, all);
        assert_eq!(mounts[1], Mount { path: "/mnt/my disk\\x".into(), flags: libc::MS_NOATIME });
    }

    #[test]
    fn what_forbids_namespaces_is_named() {
        for hindrance in
            [Hindrance::AppArmor, Hindrance::SwitchedOff, Hindrance::NoneAllowed, Hindrance::Refused]
        {
            assert!(hindrance.to_string().contains("user namespaces"));
        }
    }
}
