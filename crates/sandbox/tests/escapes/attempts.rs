//! The attempts themselves, by a process inside the scope.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

use super::Surroundings;

/// What came of an attempt: each part of it that went through, or nothing.
pub(crate) type Through = Vec<&'static str>;

/// Parts of an attempt, each with whether it went through.
#[derive(Default)]
struct Parts(Through);

impl Parts {
    fn try_out<T>(&mut self, part: &'static str, result: io::Result<T>) -> &mut Self {
        match result {
            Ok(_) => self.0.push(part),
            Err(error) => println!("  {part}: {error}"),
        }
        self
    }
}

fn number(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

macro_rules! call {
    ($number:expr $(, $argument:expr)* $(,)?) => {
        // SAFETY: the arguments are numbers and pointers to what lives until the call returns; this is a test that the call is refused.
        number(unsafe { libc::syscall($number $(, $argument)*) })
    };
}

fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn append(path: impl AsRef<Path>) -> io::Result<()> {
    File::options().append(true).open(path)?.write_all(b"x")
}

/// Tries a way out. An empty answer is what is wanted.
#[allow(clippy::cognitive_complexity, reason = "a list of attempts")]
pub(crate) fn perform(name: &str, around: &Surroundings) -> Through {
    let mut parts = Parts::default();
    let outside = around.outside.join("file");
    let path = text(&outside);
    let victim = around.victim;
    let null = ptr::null::<libc::c_void>();
    match name {
        "write" => {
            parts.try_out("append", append(&outside));
            parts.try_out("create", File::create(&outside));
            parts.try_out("new file", File::create(around.outside.join("new")));
        }
        "write_above" => {
            parts.try_out("append", append("../outside/file"));
        }
        "write_link" => {
            std::os::unix::fs::symlink(&outside, "link").unwrap();
            std::os::unix::fs::symlink(&around.outside, "folder").unwrap();
            parts.try_out("file", append("link"));
            parts.try_out("folder", append("folder/file"));
        }
        "write_descriptor" => {
            let file = File::open(&outside).unwrap();
            parts.try_out("again", append(format!("/proc/self/fd/{}", file.as_raw_fd())));
            parts.try_out("device", append(format!("/dev/fd/{}", file.as_raw_fd())));
            parts.try_out("write", io::Write::write_all(&mut &file, b"x"));
        }
        "write_root" => {
            let below = outside.strip_prefix("/").unwrap();
            parts.try_out("root", append(Path::new("/proc/self/root").join(below)));
            parts.try_out("thread", append(Path::new("/proc/thread-self/root").join(below)));
        }
        "write_parent" => {
            let below = outside.strip_prefix("/").unwrap();
            for process in [std::os::unix::process::parent_id(), victim.unsigned_abs(), 1] {
                let process = Path::new("/proc").join(process.to_string());
                parts.try_out("root", append(process.join("root").join(below)));
                parts.try_out("cwd", append(process.join("cwd").join("outside/file")));
                parts.try_out("cwd", append(process.join("cwd").join("../outside/file")));
            }
        }
        "write_openat2" => {
            let how = [u64::from(libc::O_WRONLY.unsigned_abs()), 0, 0];
            parts.try_out(
                "openat2",
                call!(libc::SYS_openat2, libc::AT_FDCWD, path.as_ptr(), how.as_ptr(), 24_usize),
            );
        }
        "hard_link" => {
            parts.try_out("link", fs::hard_link(&outside, "second"));
            parts.try_out("write", append("second"));
            let file = File::open(&outside).unwrap();
            let held = text(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())));
            let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
            parts.try_out(
                "descriptor",
                call!(libc::SYS_linkat, here, held.as_ptr(), here, c"third".as_ptr(), follow),
            );
        }
        "rename_out" => {
            fs::write("own", "").unwrap();
            parts.try_out("new", fs::rename("own", around.outside.join("new")));
            parts.try_out("over", fs::rename("own", &outside));
        }
        "rename_in" => {
            parts.try_out("file", fs::rename(&outside, "taken"));
            parts.try_out("folder", fs::rename(&around.outside, "taken"));
        }
        "exchange" => {
            fs::write("own", "").unwrap();
            let (here, exchange) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
            parts.try_out(
                "exchange",
                call!(libc::SYS_renameat2, here, c"own".as_ptr(), here, path.as_ptr(), exchange),
            );
        }
        "remove" => {
            parts.try_out("file", fs::remove_file(&outside));
            parts.try_out("folder", fs::remove_dir_all(&around.outside));
        }
        "make" => {
            let new = around.outside.join("new");
            parts.try_out("folder", fs::create_dir(&new));
            parts.try_out("link", std::os::unix::fs::symlink("file", &new));
            let mode = libc::S_IFIFO | 0o600;
            parts.try_out("pipe", call!(libc::SYS_mknodat, libc::AT_FDCWD, text(&new).as_ptr(), mode, 0));
            let folder = text(&around.outside);
            let flags = libc::O_TMPFILE | libc::O_RDWR;
            parts.try_out("nameless", call!(libc::SYS_openat, libc::AT_FDCWD, folder.as_ptr(), flags, 0o600));
        }
        "truncate" => {
            parts.try_out("truncate", call!(libc::SYS_truncate, path.as_ptr(), 1));
        }
        "open_truncate" => {
            let flags = libc::O_RDONLY | libc::O_TRUNC;
            parts.try_out("open", call!(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags));
        }
        "handle" => {
            let mut handle = [0_u32; 34];
            handle[0] = 128;
            let mut mount = 0;
            let named = call!(
                libc::SYS_name_to_handle_at,
                libc::AT_FDCWD,
                path.as_ptr(),
                handle.as_mut_ptr(),
                &raw mut mount,
                0
            );
            println!("  name_to_handle_at: {named:?}");
            let folder = File::open(&around.outside).unwrap();
            parts.try_out(
                "open",
                call!(libc::SYS_open_by_handle_at, folder.as_raw_fd(), handle.as_ptr(), libc::O_WRONLY),
            );
        }
        "shared_memory" => {
            let theirs = Path::new("/dev/shm").join(&around.shared_file);
            parts.try_out("append", append(&theirs));
            parts.try_out("remove", fs::remove_file(&theirs));
            let new = Path::new("/dev/shm").join(format!("lttng-ust-wait-{}", around.name));
            // In a folder of our own nobody looks for it.
            if theirs.exists() {
                parts.try_out("make", File::create_new(&new));
                let second = Path::new("/dev/shm").join(format!("sem.{}", around.name));
                parts.try_out("second name", fs::hard_link(&theirs, &second));
                fs::write("own", "").unwrap();
                parts.try_out("replace", fs::rename("own", &theirs));
                parts.try_out("truncate", File::create(&theirs));
            }
        }
        "other_terminal" => {
            let open = |read: bool, write: bool| {
                let flags = libc::O_NOCTTY | libc::O_NONBLOCK;
                File::options().read(read).write(write).custom_flags(flags).open(&around.terminal)
            };
            parts.try_out("read", open(true, false));
            parts.try_out("write", open(false, true).and_then(|mut file| file.write_all(b"x")));
            parts.try_out("both", open(true, true));
            for process in ["self", &victim.to_string()] {
                let path = Path::new("/proc")
                    .join(process)
                    .join("root/dev/pts")
                    .join(around.terminal.file_name().unwrap());
                parts.try_out("root", File::options().read(true).custom_flags(libc::O_NOCTTY).open(path));
            }
            let held = File::open(format!("/proc/{victim}/fd/2"));
            parts.try_out("descriptor of another", held);
        }
        "system_settings" => {
            for setting in ["kernel/core_pattern", "kernel/hostname", "vm/overcommit_memory"] {
                let path = Path::new("/proc/sys").join(setting);
                let now = fs::read(&path).unwrap_or_default();
                parts.try_out(
                    "the same again",
                    File::options().write(true).open(&path).and_then(|mut file| file.write_all(&now)),
                );
            }
        }
        "process_settings" => {
            for file in ["oom_score_adj", "comm", "coredump_filter", "clear_refs", "uid_map"] {
                let path = PathBuf::from(format!("/proc/{victim}/{file}"));
                parts.try_out("open", File::options().write(true).open(path));
            }
        }
        "disk" => {
            let disks = fs::read_dir("/dev").into_iter().flatten().flatten().map(|entry| entry.path());
            let usual = ["null", "zero", "full", "random", "urandom", "tty", "ptmx"]
                .map(|name| Path::new("/dev").join(name));
            for device in disks.filter(|path| !usual.contains(path) && !path.is_dir() && !path.is_symlink()) {
                parts.try_out("open", File::options().write(true).open(device));
            }
        }
        "device" => {
            let null = libc::makedev(1, 3);
            parts.try_out(
                "node",
                call!(libc::SYS_mknodat, libc::AT_FDCWD, c"node".as_ptr(), libc::S_IFCHR | 0o666, null),
            );
            parts.try_out("open", File::options().write(true).open("node"));
        }
        "inherited" => {
            // SAFETY: the number is tried out; nothing else here uses it.
            let mut file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(around.inherited) });
            parts.try_out("write", file.write_all(b"x"));
        }
        "mode" => {
            parts.try_out("chmod", call!(libc::SYS_fchmodat, libc::AT_FDCWD, path.as_ptr(), 0o777));
            #[cfg(target_arch = "x86_64")]
            parts.try_out("old", call!(libc::SYS_chmod, path.as_ptr(), 0o777));
            parts.try_out("new", call!(libc::SYS_fchmodat2, libc::AT_FDCWD, path.as_ptr(), 0o777, 0));
            std::os::unix::fs::symlink(&outside, "link").unwrap();
            parts.try_out("link", call!(libc::SYS_fchmodat, libc::AT_FDCWD, c"link".as_ptr(), 0o777));
        }
        "mode_descriptor" => {
            let file = File::open(&outside).unwrap();
            let held = text(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())));
            parts.try_out("fchmod", call!(libc::SYS_fchmod, file.as_raw_fd(), 0o777));
            parts.try_out("path", call!(libc::SYS_fchmodat, libc::AT_FDCWD, held.as_ptr(), 0o777));
            let empty = libc::AT_EMPTY_PATH;
            parts.try_out("empty", call!(libc::SYS_fchmodat2, file.as_raw_fd(), c"".as_ptr(), 0o777, empty));
        }
        "owner" => {
            let file = File::open(&outside).unwrap();
            let own = around.user;
            parts.try_out("path", call!(libc::SYS_fchownat, libc::AT_FDCWD, path.as_ptr(), own, own, 0));
            parts.try_out("descriptor", call!(libc::SYS_fchown, file.as_raw_fd(), own, own));
        }
        "times" => {
            let times = [1_i64, 0, 1, 0];
            let file = File::open(&outside).unwrap();
            let here = libc::AT_FDCWD;
            parts.try_out("path", call!(libc::SYS_utimensat, here, path.as_ptr(), times.as_ptr(), 0));
            parts
                .try_out("descriptor", call!(libc::SYS_utimensat, file.as_raw_fd(), null, times.as_ptr(), 0));
            parts.try_out("now", call!(libc::SYS_utimensat, here, path.as_ptr(), null, 0));
            #[cfg(target_arch = "x86_64")]
            parts.try_out("old", call!(libc::SYS_utimes, path.as_ptr(), times.as_ptr()));
        }
        "attribute" => {
            let file = File::open(&outside).unwrap();
            let name = c"user.checkrein".as_ptr();
            let value = c"x".as_ptr();
            parts.try_out("path", call!(libc::SYS_setxattr, path.as_ptr(), name, value, 1_usize, 0));
            parts
                .try_out("descriptor", call!(libc::SYS_fsetxattr, file.as_raw_fd(), name, value, 1_usize, 0));
        }
        "flags" => {
            let file = File::open(&outside).unwrap();
            let flags = 0x80_u64;
            parts.try_out(
                "ioctl",
                call!(libc::SYS_ioctl, file.as_raw_fd(), 0x4008_6602_u64, &raw const flags),
            );
        }
        "loader" => loader(&mut parts),
        "setuid" => {
            // SAFETY: asks for a number.
            let set = unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) };
            parts.try_out("new privileges", if set == 1 { Err(io::Error::other("off")) } else { Ok(()) });
            parts.try_out("back", number(libc::c_long::from(unset_no_new_privileges())));
        }
        "trace" => {
            let parent = std::os::unix::process::parent_id();
            for process in [victim, parent.cast_signed()] {
                parts.try_out("attach", call!(libc::SYS_ptrace, libc::PTRACE_ATTACH, process, null, null));
                parts.try_out("seize", call!(libc::SYS_ptrace, libc::PTRACE_SEIZE, process, null, null));
            }
            parts.try_out("be traced", call!(libc::SYS_ptrace, libc::PTRACE_TRACEME, 0, null, null));
        }
        "memory" => {
            let mut word = 0_u64;
            let local = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: 8 };
            let other = libc::iovec { iov_base: ptr::without_provenance_mut(around.address), iov_len: 8 };
            for process in [victim, std::os::unix::process::parent_id().cast_signed()] {
                let (local, other) = (&raw const local, &raw const other);
                parts.try_out("write", call!(libc::SYS_process_vm_writev, process, local, 1, other, 1, 0));
                parts.try_out("read", call!(libc::SYS_process_vm_readv, process, local, 1, other, 1, 0));
            }
        }
        "memory_file" => {
            for process in [victim, std::os::unix::process::parent_id().cast_signed()] {
                let path = format!("/proc/{process}/mem");
                parts.try_out("write", File::options().write(true).open(&path));
                parts.try_out("read", File::open(&path));
            }
        }
        "take_file" => {
            for process in [victim, std::os::unix::process::parent_id().cast_signed()] {
                let descriptor = call!(libc::SYS_pidfd_open, process, 0);
                parts.try_out("take", descriptor.and_then(|file| call!(libc::SYS_pidfd_getfd, file, 1, 0)));
            }
        }
        "kill" => {
            let kill = libc::SIGTERM;
            let descriptor = call!(libc::SYS_pidfd_open, victim, 0).unwrap_or(-1);
            let mut facts = [0_i32; 32];
            facts[..3].copy_from_slice(&[kill, 0, -1]);
            let facts = facts.as_ptr();
            parts.try_out("kill", call!(libc::SYS_kill, victim, kill));
            parts.try_out("tkill", call!(libc::SYS_tkill, victim, kill));
            parts.try_out("tgkill", call!(libc::SYS_tgkill, victim, victim, kill));
            parts.try_out("with data", call!(libc::SYS_rt_sigqueueinfo, victim, kill, facts));
            parts.try_out("descriptor", call!(libc::SYS_pidfd_send_signal, descriptor, kill, null, 0));
            parts.try_out("above", call!(libc::SYS_kill, std::os::unix::process::parent_id(), libc::SIGURG));
        }
        "kill_group" => {
            parts.try_out("group", call!(libc::SYS_kill, -victim, libc::SIGTERM));
            // The own group, where the victim is as well: what is inside may get it, so that only the victim tells.
            println!("  own group: {:?}", call!(libc::SYS_kill, 0, libc::SIGCONT));
            // Everybody inside may get one too; with one that does nothing to them only the victim tells.
            println!("  all: {:?}", call!(libc::SYS_kill, -1, libc::SIGCONT));
        }
        "signal_owner" => {
            let (own, other) = UnixStream::pair().unwrap();
            let set = call!(libc::SYS_fcntl, own.as_raw_fd(), libc::F_SETOWN, victim);
            println!("  owner: {set:?}");
            let kind = call!(libc::SYS_fcntl, own.as_raw_fd(), 10, libc::SIGTERM);
            println!("  signal: {kind:?}");
            let flags = call!(libc::SYS_fcntl, own.as_raw_fd(), libc::F_SETFL, libc::O_ASYNC);
            println!("  flags: {flags:?}");
            (&other).write_all(b"x").unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        "limits" => {
            let limit = [1_u64, 1];
            let mask = 1_u64;
            parts.try_out(
                "limit",
                call!(libc::SYS_prlimit64, victim, libc::RLIMIT_CORE, limit.as_ptr(), null),
            );
            parts.try_out("priority", call!(libc::SYS_setpriority, libc::PRIO_PROCESS, victim, 19));
            parts.try_out("of the user", call!(libc::SYS_setpriority, libc::PRIO_USER, 0, 19));
            parts.try_out("processors", call!(libc::SYS_sched_setaffinity, victim, 8, &raw const mask));
            parts.try_out("of its disk", call!(libc::SYS_ioprio_set, 1, victim, 3 << 13));
            // What is inside may be steered.
            let own = std::process::id();
            let result = call!(libc::SYS_setpriority, libc::PRIO_PROCESS, own, 1);
            assert!(result.is_ok(), "the own priority: {result:?}");
        }
        "terminal" => {
            parts.try_out("type", call!(libc::SYS_ioctl, 0, libc::TIOCSTI, c"x".as_ptr()));
            parts.try_out("paste", call!(libc::SYS_ioctl, 0, 0x541c, c"x".as_ptr()));
        }
        "mount" => {
            let root = c"/".as_ptr();
            let here = c".".as_ptr();
            parts.try_out("bind", call!(libc::SYS_mount, here, root, null, libc::MS_BIND, null));
            let writable = libc::MS_REMOUNT | libc::MS_BIND;
            parts.try_out("again", call!(libc::SYS_mount, null, root, null, writable, null));
            parts.try_out("memory", call!(libc::SYS_mount, here, here, c"tmpfs".as_ptr(), 0, null));
            parts.try_out(
                "take away",
                call!(libc::SYS_umount2, text(&around.project).as_ptr(), libc::MNT_DETACH),
            );
            parts.try_out("pivot", call!(libc::SYS_pivot_root, here, here));
            parts.try_out("root", call!(libc::SYS_chroot, here));
            parts.try_out("tree", call!(libc::SYS_open_tree, libc::AT_FDCWD, root, 1));
            parts.try_out("new", call!(libc::SYS_fsopen, c"tmpfs".as_ptr(), 0));
            parts.try_out("attributes", call!(libc::SYS_mount_setattr, libc::AT_FDCWD, root, 0, null, 0));
        }
        "namespaces" => {
            parts.try_out("users", call!(libc::SYS_unshare, libc::CLONE_NEWUSER));
            parts.try_out("mounts", call!(libc::SYS_unshare, libc::CLONE_NEWNS));
            let child = libc::CLONE_NEWUSER | libc::SIGCHLD;
            parts.try_out("clone", call!(libc::SYS_clone, child, 0, 0, 0, 0));
            let child = [u64::from(libc::CLONE_NEWUSER.unsigned_abs()), 0, 0, 0, 17, 0, 0, 0];
            parts.try_out("clone3", call!(libc::SYS_clone3, child.as_ptr(), 64_usize));
            let other = File::open("/proc/self/ns/mnt").unwrap();
            parts.try_out("enter", call!(libc::SYS_setns, other.as_raw_fd(), 0));
        }
        "ring" => {
            let mut parameters = [0_u32; 30];
            parts.try_out("setup", call!(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()));
        }
        "kernel" => {
            let zeroes = [0_u64; 32];
            let zeroes = zeroes.as_ptr();
            parts.try_out("bpf", call!(libc::SYS_bpf, 0, zeroes, 64));
            parts.try_out("perf", call!(libc::SYS_perf_event_open, zeroes, 0, -1, -1, 0));
            parts.try_out("keys", call!(libc::SYS_keyctl, 0, -3, 1));
            parts.try_out(
                "key",
                call!(libc::SYS_add_key, c"user".as_ptr(), c"x".as_ptr(), c"x".as_ptr(), 1, -3),
            );
            parts.try_out("module", call!(libc::SYS_init_module, null, 0, c"".as_ptr()));
            parts.try_out("faults", call!(libc::SYS_userfaultfd, 0));
            parts.try_out("messages", call!(libc::SYS_syslog, 3, zeroes, 1));
            parts.try_out("clock", call!(libc::SYS_clock_settime, 0, zeroes));
            parts.try_out("name", call!(libc::SYS_sethostname, c"x".as_ptr(), 1));
        }
        "tcp" => {
            parts.try_out("connect", TcpStream::connect(("127.0.0.1", around.tcp)));
        }
        "tcp_six" => {
            parts.try_out("six", TcpStream::connect(("::1", around.tcp_six)));
            parts.try_out("four in six", TcpStream::connect(("::ffff:127.0.0.1", around.tcp)));
        }
        "fast_open" => {
            let socket = call!(libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0).unwrap();
            let port = around.tcp.to_be_bytes();
            let address = [2_u8, 0, port[0], port[1], 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
            let data = c"x".as_ptr();
            let fast = libc::MSG_FASTOPEN;
            parts.try_out(
                "sendto",
                call!(libc::SYS_sendto, socket, data, 1_usize, fast, address.as_ptr(), 16),
            );
            let mut vector = libc::iovec { iov_base: data.cast_mut().cast(), iov_len: 1 };
            // SAFETY: the structure is numbers and pointers, for which zero is a value.
            let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
            message.msg_name = address.as_ptr().cast_mut().cast();
            message.msg_namelen = 16;
            message.msg_iov = &raw mut vector;
            message.msg_iovlen = 1;
            parts.try_out("sendmsg", call!(libc::SYS_sendmsg, socket, &raw const message, fast));
        }
        "listen" => {
            parts.try_out("bound", TcpListener::bind(("0.0.0.0", 0)));
            parts.try_out("loopback", TcpListener::bind(("127.0.0.1", 0)));
            let socket = call!(libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0).unwrap();
            parts.try_out("unbound", call!(libc::SYS_listen, socket, 1));
        }
        "no_tcp" => {
            parts.try_out("four", TcpStream::connect(("127.0.0.1", around.tcp)));
            parts.try_out("six", TcpStream::connect(("::1", around.tcp_six)));
        }
        "datagram" => {
            let send = |from: &str, to: &str| UdpSocket::bind((from, 0))?.send_to(b"x", (to, around.udp));
            parts.try_out("four", send("127.0.0.1", "127.0.0.1"));
            parts.try_out("six", send("::1", "::1"));
        }
        "raw" => {
            for (part, family, kind) in [
                ("raw", libc::AF_INET, libc::SOCK_RAW),
                ("packet", libc::AF_PACKET, libc::SOCK_RAW),
                ("netlink", libc::AF_NETLINK, libc::SOCK_RAW),
                ("vm", libc::AF_VSOCK, libc::SOCK_STREAM),
                ("bluetooth", libc::AF_BLUETOOTH, libc::SOCK_RAW),
                ("cipher", libc::AF_ALG, libc::SOCK_SEQPACKET),
            ] {
                parts.try_out(
                    part,
                    call!(libc::SYS_socket, family, kind, libc::c_int::from(family == libc::AF_INET)),
                );
            }
        }
        "local" => {
            parts.try_out("connect", UnixStream::connect(around.outside.join("socket")));
            for known in ["/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket"] {
                parts.try_out("known", UnixStream::connect(known));
            }
        }
        "abstract" => {
            use std::os::linux::net::SocketAddrExt as _;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(&around.name).unwrap();
            parts.try_out("connect", UnixStream::connect_addr(&address));
        }
        "local_datagram" => {
            let send = || UnixDatagram::unbound()?.send_to(b"x", around.outside.join("datagrams"));
            parts.try_out("send", send());
        }
        "datagram_pair" => {
            let mut pair = [0_i32; 2];
            for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
                let made = call!(libc::SYS_socketpair, libc::AF_UNIX, kind, 0, pair.as_mut_ptr());
                let mut address = [0_u8; 110];
                address[0] = 1;
                let place = around.outside.join("datagrams");
                let place = place.as_os_str().as_bytes();
                address[2..2 + place.len()].copy_from_slice(place);
                let mut vector = libc::iovec { iov_base: c"x".as_ptr().cast_mut().cast(), iov_len: 1 };
                // SAFETY: the structure is numbers and pointers, for which zero is a value.
                let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
                message.msg_name = address.as_ptr().cast_mut().cast();
                message.msg_namelen = 110;
                message.msg_iov = &raw mut vector;
                message.msg_iovlen = 1;
                let send = |_| call!(libc::SYS_sendmsg, pair[0], &raw const message, 0);
                parts.try_out("send", made.and_then(send));
            }
            // Those that are connected for good work.
            assert!(UnixStream::pair().is_ok());
        }
        "requests" => {
            let (file, folder) = (File::open(&outside).unwrap(), File::open(&around.outside).unwrap());
            let words = [7_u64; 64];
            for (part, request) in [
                ("version", 0x4008_7602_u64),
                ("version of ext4", 0x4008_6604),
                ("shorter version", 0x4004_7602),
                ("verity", 0x4080_6685),
                ("migration", 0x6609),
                ("flags of FAT", 0x4004_7211),
            ] {
                parts.try_out(part, call!(libc::SYS_ioctl, file.as_raw_fd(), request, words.as_ptr()));
            }
            for (part, request) in [("encryption", 0x800c_6613_u64), ("a volume", 0x5000_940e)] {
                parts.try_out(part, call!(libc::SYS_ioctl, folder.as_raw_fd(), request, words.as_ptr()));
            }
        }
        "queues" => {
            let name = text(Path::new(&format!("checkrein-{}", std::process::id())));
            let flags = libc::O_CREAT | libc::O_RDWR;
            parts.try_out("make", call!(libc::SYS_mq_open, name.as_ptr(), flags, 0o600, null));
            parts.try_out("remove", call!(libc::SYS_mq_unlink, name.as_ptr()));
        }
        "shared" => {
            let (memory, queue) = around.shared;
            parts.try_out("use memory", call!(libc::SYS_shmat, memory, null, 0));
            parts.try_out("read memory", call!(libc::SYS_shmat, memory, null, libc::SHM_RDONLY));
            parts.try_out("remove memory", call!(libc::SYS_shmctl, memory, libc::IPC_RMID, null));
            let message = [1_u64, 1];
            parts.try_out("send", call!(libc::SYS_msgsnd, queue, message.as_ptr(), 8, 0));
            parts.try_out("remove the queue", call!(libc::SYS_msgctl, queue, libc::IPC_RMID, null));
            // What is made inside works.
            let own = call!(libc::SYS_shmget, libc::IPC_PRIVATE, 4096, 0o600).unwrap();
            assert!(call!(libc::SYS_shmat, own, null, 0).is_ok());
            assert!(call!(libc::SYS_shmctl, own, libc::IPC_RMID, null).is_ok());
            let own = call!(libc::SYS_semget, libc::IPC_PRIVATE, 1, 0o600).unwrap();
            assert!(call!(libc::SYS_semctl, own, 0, libc::IPC_RMID).is_ok());
        }
        "lock" => {
            let file = File::open(&outside).unwrap();
            for operation in [libc::LOCK_EX | libc::LOCK_NB, libc::LOCK_EX] {
                parts.try_out("alone", call!(libc::SYS_flock, file.as_raw_fd(), operation));
            }
            parts.try_out("lease", call!(libc::SYS_fcntl, file.as_raw_fd(), 1024, libc::F_RDLCK));
            let file = File::create("own").unwrap();
            let again = File::open("own").unwrap();
            assert!(call!(libc::SYS_flock, file.as_raw_fd(), libc::LOCK_EX).is_ok());
            let other = std::thread::spawn(move || call!(libc::SYS_flock, again.as_raw_fd(), libc::LOCK_SH));
            std::thread::sleep(std::time::Duration::from_millis(20));
            drop(file);
            assert!(other.join().unwrap().is_ok(), "one that waits gets the lock");
        }
        "listen_everywhere" => {
            let socket = || call!(libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0).unwrap();
            for (part, family) in [("named", 2_u8), ("without a family", 0)] {
                let address = [family, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
                parts.try_out(part, call!(libc::SYS_bind, socket(), address.as_ptr(), 16));
            }
            parts.try_out("six", TcpListener::bind(("::", 0)));
            // The address changes while it is judged.
            let address = Box::leak(Box::new(std::sync::atomic::AtomicU64::new(0)));
            let [here, everywhere] =
                [[2_u8, 0, 0, 0, 127, 0, 0, 1], [2, 0, 0, 0, 0, 0, 0, 0]].map(u64::from_ne_bytes);
            let changing: &std::sync::atomic::AtomicU64 = address;
            std::thread::spawn(move || {
                loop {
                    for address in [here, everywhere] {
                        changing.store(address, std::sync::atomic::Ordering::SeqCst);
                    }
                }
            });
            for _ in 0..500 {
                let socket = socket();
                if call!(libc::SYS_bind, socket, changing.as_ptr(), 16).is_ok() {
                    let mut name = [0_u8; 16];
                    let mut length = 16_u32;
                    call!(libc::SYS_getsockname, socket, name.as_mut_ptr(), &raw mut length).unwrap();
                    if name[4] != 127 {
                        parts.0.push("a changing address");
                    }
                }
                call!(libc::SYS_close, socket).unwrap();
            }
            // Here it is allowed, and no address in particular is here.
            let server = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            assert!(TcpStream::connect(("0.0.0.0", server.local_addr().unwrap().port())).is_ok());
        }
        "identity" => {
            File::create("own").unwrap();
            // Only who is privileged can become somebody else, and has files that the other one has no right to.
            if around.user == 0 && call!(libc::SYS_setresuid, 61_300, 61_300, 61_300).is_ok() {
                let own = c"own".as_ptr();
                parts.try_out("mode", call!(libc::SYS_fchmodat, libc::AT_FDCWD, own, 0o4755));
                parts.try_out("owner", call!(libc::SYS_fchownat, libc::AT_FDCWD, own, 61_300, 61_300, 0));
                let times = [1_i64, 0, 1, 0];
                parts.try_out("times", call!(libc::SYS_utimensat, libc::AT_FDCWD, own, times.as_ptr(), 0));
            }
        }
        "threads" => {
            for _ in 0..2000 {
                let thread = std::thread::Builder::new().stack_size(16 << 10);
                if let Err(error) = thread.spawn(|| std::thread::sleep(std::time::Duration::from_mins(1))) {
                    println!("  thread: {error}");
                    return parts.0;
                }
            }
            parts.0.push("2000 threads");
        }
        "remains" => {
            for _ in 0..200 {
                match call!(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) {
                    // SAFETY: ends this process at once.
                    Ok(0) => unsafe { libc::_exit(0) },
                    Ok(_) => {}
                    Err(error) => {
                        println!("  fork: {error}");
                        return parts.0;
                    }
                }
            }
            parts.0.push("200 remains");
        }
        "first_thread" => {
            std::thread::spawn(|| {
                std::thread::sleep(std::time::Duration::from_secs(30));
                fs::write("lived", "").unwrap();
            });
            // SAFETY: ends this thread without anything of the library being run.
            unsafe { libc::syscall(libc::SYS_exit, 0) };
        }
        "fork_bomb" => {
            for _ in 0..100 {
                match call!(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) {
                    Ok(0) => std::thread::sleep(std::time::Duration::from_mins(1)),
                    Ok(_) => {}
                    Err(error) => {
                        println!("  fork: {error}");
                        return parts.0;
                    }
                }
            }
            parts.0.push("100 processes");
        }
        "memory_bomb" => {
            // As fast as it goes: pages are touched one after the other.
            let mut held: Vec<Vec<u8>> = Vec::new();
            for _ in 0..4096 {
                held.push(vec![1; 1 << 20]);
            }
            parts.0.push("4 GB");
        }
        "memory_held" => {
            let file = call!(libc::SYS_memfd_create, c"held".as_ptr(), 0).unwrap();
            // SAFETY: the kernel has just made this descriptor, and nobody else has it.
            let mut file = unsafe { File::from_raw_fd(i32::try_from(file).unwrap()) };
            for _ in 0..300 {
                file.write_all(&vec![1; 1 << 20]).unwrap();
            }
            std::thread::sleep(std::time::Duration::from_secs(20));
            parts.0.push("300 MB");
        }
        "large_file" => {
            // SAFETY: the signal that would end us says the same as the error.
            unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
            let mut file = File::create("large").unwrap();
            parts.try_out("5 MB", (0..5).try_for_each(|_| file.write_all(&vec![0; 1 << 20])));
        }
        "daemon" => {
            // SAFETY: this process has one thread, and the new ones only wait.
            unsafe {
                if libc::fork() == 0 {
                    libc::setsid();
                    if libc::fork() == 0 {
                        for signal in 1..32 {
                            libc::signal(signal, libc::SIG_IGN);
                        }
                        fs::write("pid.new", std::process::id().to_string()).unwrap();
                        fs::rename("pid.new", "pid").unwrap();
                        std::thread::sleep(std::time::Duration::from_mins(1));
                    }
                    libc::_exit(0);
                }
            }
            while !Path::new("pid").exists() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        unknown => panic!("no attempt is called {unknown}"),
    }
    parts.0
}

fn unset_no_new_privileges() -> libc::c_int {
    // SAFETY: the arguments are numbers.
    unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) }
}

/// The first attempt, by programs that are started in odd ways.
fn loader(parts: &mut Parts) {
    let own = std::env::current_exe().unwrap();
    let mut try_command = |part: &'static str, command: &mut Command| {
        let output = command.args(["attempt", "write"]).output();
        // It says itself whether it got through.
        let result = output.and_then(|output| {
            if output.status.code() == Some(0) { Ok(()) } else { Err(io::Error::other("held")) }
        });
        parts.try_out(part, result);
    };
    for loader in ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"] {
        if Path::new(loader).exists() {
            try_command("loader", Command::new(loader).arg(&own));
        }
    }
    try_command("preload", Command::new(&own).env("LD_PRELOAD", "libm.so.6"));
    try_command("session", Command::new("setsid").arg("-w").arg(&own));
    let program = fs::read(&own).unwrap();
    let memory = call!(libc::SYS_memfd_create, c"program".as_ptr(), 0).unwrap();
    // SAFETY: the kernel has just made this descriptor, and nobody else has it.
    let mut memory = unsafe { File::from_raw_fd(i32::try_from(memory).unwrap()) };
    memory.write_all(&program).unwrap();
    let path = format!("/proc/self/fd/{}", memory.as_raw_fd());
    try_command("memory", &mut Command::new(path));
}
