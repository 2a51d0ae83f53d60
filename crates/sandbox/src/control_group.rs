//! Control groups of the second version, where we may divide the one that we are in. The kernel then counts and bounds what a whole tree of
//! processes uses, and ends the tree with one write.
//!
//! Groups are made in the group of this process, or beside it where that is where users may (a service of systemd for a user). What was
//! made is taken away at the end; what an earlier process of ours left because it was killed, when the next one is made.

use std::fs::{self, File};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use crate::scope::Bytes;

/// What a group bounds; what is `None` is not bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupLimits {
    /// Memory of all members together, with what they have cached of files.
    pub memory: Option<Bytes>,
    /// Processes and threads.
    pub tasks: Option<u32>,
}

/// A group that is gone when this value is dropped, with all its members.
#[derive(Debug)]
pub struct ControlGroup {
    /// The group above, held: a view of the file system in which it cannot be written to changes nothing about it.
    above: OwnedFd,
    name: String,
    members: File,
    limits: GroupLimits,
}

impl ControlGroup {
    /// A new group without members; `None` where none can be made. Its limits are those of `wanted` that the kernel took.
    pub fn create(wanted: GroupLimits) -> Option<Self> {
        let own = own_group(
            &fs::read_to_string("/proc/self/cgroup").ok()?,
            &fs::read_to_string("/proc/self/mountinfo").ok()?,
        )?;
        let places = [Some(own.as_path()), own.parent()];
        let mut possible: Vec<&Path> = places.into_iter().flatten().filter(|place| is_ours(place)).collect();
        // Where memory is counted for those below comes first.
        possible.sort_by_key(|place| !counts(place, "memory"));
        possible.into_iter().find_map(|place| Self::create_in(place, wanted))
    }

    fn create_in(place: &Path, wanted: GroupLimits) -> Option<Self> {
        remove_stale(place);
        let above =
            rustix::fs::open(place, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let name = format!("{PREFIX}{own}-{}", start_time(own)?);
        let above = above.ok()?;
        rustix::fs::mkdirat(&above, &name, Mode::from_raw_mode(0o755)).ok()?;
        let path = path_in(&above, &name);
        let Ok(members) = File::options().write(true).open(path.join("cgroup.procs")) else {
            let _ = rustix::fs::unlinkat(&above, &name, rustix::fs::AtFlags::REMOVEDIR);
            return None;
        };
        let takes = |file: &str, value: String| fs::write(path.join(file), value).is_ok();
        let memory = wanted.memory.filter(|bytes| takes("memory.max", bytes.0.to_string()));
        if memory.is_some() {
            // What is bounded is not moved to the disk instead, and a tree that has too much ends as a whole.
            takes("memory.swap.max", "0".to_owned());
            takes("memory.oom.group", "1".to_owned());
        }
        let tasks = wanted.tasks.filter(|count| takes("pids.max", count.to_string()));
        Some(Self { above, name, members, limits: GroupLimits { memory, tasks } })
    }

    /// What the kernel bounds.
    pub fn limits(&self) -> GroupLimits {
        self.limits
    }

    /// Who writes `0` here becomes a member, and stays one with all that it starts.
    pub fn entrance(&self) -> BorrowedFd<'_> {
        self.members.as_fd()
    }

    /// Whether members were ended because there was no memory left for them.
    pub fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.path().join("memory.events")).unwrap_or_default();
        events.lines().any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count.trim() != "0"))
    }

    /// Ends all members at once, however they fork. Kernels before 5.14 cannot, and nothing happens.
    pub fn end_all(&self) {
        drop(fs::write(self.path().join("cgroup.kill"), "1"));
    }

    fn path(&self) -> PathBuf {
        path_in(&self.above, &self.name)
    }
}

/// How long we wait for members that have been ended to be gone.
const PATIENCE: Duration = Duration::from_secs(1);

impl Drop for ControlGroup {
    fn drop(&mut self) {
        self.end_all();
        let deadline = Instant::now() + PATIENCE;
        while rustix::fs::unlinkat(&self.above, &self.name, rustix::fs::AtFlags::REMOVEDIR)
            == Err(rustix::io::Errno::BUSY)
            && Instant::now() < deadline
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

const PREFIX: &str = "checkrein-";

/// A path that goes through the held folder, whatever stands at its path in the view that we are in.
fn path_in(above: &OwnedFd, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{name}", above.as_raw_fd()))
}

/// The group of this process as a folder, from `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn own_group(groups: &str, mounts: &str) -> Option<PathBuf> {
    let own = Path::new(groups.lines().find_map(|line| line.strip_prefix("0::"))?);
    let (root, point) = mounts.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut fields = mount.split(' ');
        let is_second_version = file_system.split(' ').next() == Some("cgroup2");
        let (root, point) = (fields.nth(3)?, fields.next()?);
        is_second_version.then(|| (root.to_owned(), PathBuf::from(point.replace("\\040", " "))))
    })?;
    // A group outside of what is mounted begins with `/..`.
    let below = own.strip_prefix(root).ok()?;
    let leaves = below.components().any(|part| part == std::path::Component::ParentDir);
    (!leaves).then(|| if below.as_os_str().is_empty() { point.clone() } else { point.join(below) })
}

/// Whether groups can be made there and processes moved there.
fn is_ours(place: &Path) -> bool {
    let may = |path: &Path| {
        rustix::fs::accessat(
            rustix::fs::CWD,
            path,
            rustix::fs::Access::WRITE_OK,
            rustix::fs::AtFlags::EACCESS,
        )
        .is_ok()
    };
    may(place) && may(&place.join("cgroup.procs"))
}

/// Whether the groups below have this controller.
fn counts(place: &Path, controller: &str) -> bool {
    let given = fs::read_to_string(place.join("cgroup.subtree_control")).unwrap_or_default();
    given.split_whitespace().any(|name| name == controller)
}

/// Takes away the groups of processes of ours that were killed. They are known by the number and the start of their maker, which is gone.
fn remove_stale(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let Some(maker) = maker(entry.file_name().as_bytes()) else { continue };
        if start_time(maker.0) != Some(maker.1) {
            drop(fs::write(entry.path().join("cgroup.kill"), "1"));
            drop(fs::remove_dir(entry.path()));
        }
    }
}

/// The process that a group is named after, and when it began.
fn maker(name: &[u8]) -> Option<(i32, u64)> {
    let name = std::str::from_utf8(name).ok()?.strip_prefix(PREFIX)?;
    let (process, start) = name.split_once('-')?;
    Some((process.parse().ok()?, start.parse().ok()?))
}

/// When a process began, in ticks since the start of the machine; `None` when there is none of that number.
fn start_time(process: i32) -> Option<u64> {
    let text = fs::read(format!("/proc/{process}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    // The name stands in brackets and may hold anything.
    text.rsplit_once(") ")?.1.split(' ').nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
        31 23 0:28 / /sys/fs/cgroup ro,relatime - tmpfs tmpfs ro\n\
        35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:4 - cgroup2 cgroup2 rw\n";

    #[test]
    fn the_own_group_is_found_where_it_is_mounted() {
        let user = "4:memory:/a\n0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n";
        let folder =
            "/sys/fs/cgroup/unified/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope";
        assert_eq!(own_group(user, MOUNTS), Some(folder.into()));
        assert_eq!(own_group("0::/\n", MOUNTS), Some("/sys/fs/cgroup/unified".into()));
    }

    #[test]
    fn a_container_sees_its_part_only() {
        let part = "41 31 0:38 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        assert_eq!(own_group("0::/docker/abc/job\n", part), Some("/sys/fs/cgroup/job".into()));
        assert_eq!(own_group("0::/other\n", part), None);
        assert_eq!(own_group("0::/../other\n", MOUNTS), None, "outside of what is mounted");
        assert_eq!(own_group("4:memory:/a\n", MOUNTS), None, "only the first version");
    }

    #[test]
    fn a_group_is_known_by_its_maker_and_nothing_else_is_touched() {
        assert_eq!(maker(b"checkrein-12-345"), Some((12, 345)));
        for other in ["checkrein", "checkrein-x-1", "checkrein-12", "session-12-345", "my-checkrein-1-2"] {
            assert_eq!(maker(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn what_a_killed_process_left_is_taken_away_and_what_lives_stays() {
        // Plain folders stand for groups: what is written into them is all that differs.
        let place = tempfile::tempdir().unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let living = format!("checkrein-{own}-{}", start_time(own).unwrap());
        let reused = format!("checkrein-{own}-1");
        for name in [&living, &reused, "checkrein-2147483647-5", "other"] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        remove_stale(place.path());
        let is_there = |name: &str| place.path().join(name).exists();
        assert!(is_there(&living) && is_there("other"));
        // A plain folder keeps the file that was written into it, so it cannot be removed; in a group that file is the kernel's.
        for gone in [&reused, "checkrein-2147483647-5"] {
            assert_eq!(fs::read_to_string(place.path().join(gone).join("cgroup.kill")).unwrap(), "1");
        }
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "a test that cannot run here says so")]
    fn a_group_ends_its_members_and_leaves_nothing() {
        let Some(group) = ControlGroup::create(GroupLimits::default()) else {
            eprintln!("not run: no group of the second version can be made here");
            return;
        };
        let path =
            fs::read_link(format!("/proc/self/fd/{}", group.above.as_raw_fd())).unwrap().join(&group.name);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        fs::write(path.join("cgroup.procs"), child.id().to_string()).unwrap();
        assert!(fs::read_to_string(path.join("cgroup.procs")).unwrap().contains(&child.id().to_string()));
        assert!(!group.ran_out_of_memory());
        drop(group);
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(libc::SIGKILL));
        assert!(!path.exists());
    }
}
