//! The ways out that are tried, and what holds each: read by the test, which tries them, and by `cargo xtask docs`, which makes the page.

/// A way out.
pub(crate) struct Escape {
    /// How the test calls it.
    pub(crate) name: &'static str,
    /// What is tried.
    pub(crate) attempt: &'static str,
    /// What holds it with Landlock, and what an older level leaves to something else.
    pub(crate) landlock: &'static str,
    /// What holds it in a view of our own, where Landlock is absent.
    pub(crate) view: &'static str,
    /// Who may be talked to meanwhile.
    pub(crate) network: Network,
}

/// Who a command of the test may talk to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    /// Nobody.
    Nobody,
    /// One server, which is not the one that is tried.
    Another,
    /// This machine.
    Machine,
}

const LANDLOCK: &str = "Landlock";
const VIEW: &str = "read-only mounts";
const ASKED: &str = "seccomp, judged by us";
const FILTER: &str = "seccomp";

const fn file(name: &'static str, attempt: &'static str) -> Escape {
    Escape { name, attempt, landlock: LANDLOCK, view: VIEW, network: Network::Nobody }
}
const fn asked(name: &'static str, attempt: &'static str) -> Escape {
    Escape { name, attempt, landlock: ASKED, view: ASKED, network: Network::Nobody }
}
const fn call(name: &'static str, attempt: &'static str) -> Escape {
    Escape { name, attempt, landlock: FILTER, view: FILTER, network: Network::Nobody }
}
const fn signal(name: &'static str, attempt: &'static str) -> Escape {
    Escape { name, attempt, landlock: SIGNALS, view: ASKED, network: Network::Nobody }
}
const SIGNALS: &str = "Landlock from level 6, below it seccomp, judged by us";
const fn server(name: &'static str, attempt: &'static str) -> Escape {
    Escape { name, attempt, landlock: ASKED, view: ASKED, network: Network::Another }
}

/// Where all of them were seen to be held.
pub(crate) const SEEN: &str = "All were held on Linux 6.18 (x86_64, Landlock level 7), for root and for an ordinary user: with all of it, with the rights of\nlevel 2 only, and without Landlock.";

/// All of them.
pub(crate) const ESCAPES: &[Escape] = &[
    file("write", "write to a file outside by its path"),
    file("write_above", "the same through `..`"),
    file("write_link", "the same through a symbolic link made inside"),
    file("write_descriptor", "open it for reading, then for writing through `/proc/self/fd`"),
    file("write_root", "the same through `/proc/self/root`"),
    file("write_parent", "the same through `/proc/PID/root` and `/proc/PID/cwd` of the process above"),
    file("write_openat2", "the same by `openat2`"),
    file("hard_link", "give it a second name inside and write to that"),
    file("rename_out", "move a file of ours out"),
    file("rename_in", "move it in"),
    file("exchange", "exchange it with a file of ours"),
    file("remove", "remove it"),
    file("make", "make a folder, a link, a pipe outside"),
    Escape {
        landlock: "Landlock from level 3, below it seccomp, judged by us",
        ..file("truncate", "cut it short by `truncate`")
    },
    Escape {
        landlock: "Landlock from level 3, below it seccomp",
        ..file("open_truncate", "cut it short by opening it for reading with `O_TRUNC`")
    },
    call("handle", "open it by handle (`open_by_handle_at`)"),
    Escape {
        view: "a `/dev/shm` of our own",
        ..file(
            "shared_memory",
            "change, replace or remove what others have in `/dev/shm`, or make what they look for",
        )
    },
    Escape {
        view: "a `/dev` of our own",
        ..file(
            "other_terminal",
            "read from another terminal of the user, write to it, or change how it works",
        )
    },
    file("system_settings", "write to `/proc/sys`"),
    file("process_settings", "write to `/proc/PID` of another process"),
    Escape {
        view: "a `/dev` of our own",
        ..file("disk", "open a disk, `/dev/mem` or another device for writing")
    },
    Escape {
        landlock: "Landlock, and no right to devices",
        view: "no right to devices",
        ..file("device", "make a device node inside and open it")
    },
    Escape {
        landlock: "closed before it starts",
        view: "closed before it starts",
        ..file("inherited", "write to a descriptor that whoever called `exec` left open")
    },
    asked("mode", "change its mode by path (`chmod`, `fchmodat2`)"),
    asked("mode_descriptor", "change its mode by descriptor, also through `/proc/self/fd`"),
    asked("owner", "change its owner"),
    asked("times", "change its times"),
    asked("attribute", "give it an extended attribute"),
    call("flags", "change its flags (`FS_IOC_SETFLAGS`)"),
    call(
        "requests",
        "change it, or its file system, by other requests on a descriptor that is open for reading (`ioctl`)",
    ),
    asked("lock", "lock it alone (`flock`), or have writers wait (`F_SETLEASE`)"),
    asked("identity", "have us change a file inside, as a user who may not (after giving up rights)"),
    file(
        "loader",
        "all of that through `ld.so`, `LD_PRELOAD`, a program in memory, a child in a session of its own",
    ),
    Escape {
        landlock: "no new privileges",
        view: "no new privileges",
        ..file("setuid", "get rights from a setuid program")
    },
    call("trace", "steer another process or the one above (`ptrace`)"),
    call("memory", "read and write the memory of another process"),
    file("memory_file", "the same through `/proc/PID/mem`"),
    call("take_file", "take its open files (`pidfd_getfd`)"),
    signal("kill", "send it a signal (`kill`, `tgkill`, by process descriptor, with data)"),
    signal("kill_group", "send a signal to its group, and to everybody"),
    Escape {
        landlock: "Landlock from level 6, below it seccomp",
        view: FILTER,
        ..signal("signal_owner", "have the kernel send it a signal (`F_SETOWN`)")
    },
    asked("limits", "change its limits, priority or processors"),
    call("terminal", "type into our terminal (`TIOCSTI`)"),
    call("mount", "mount, move mounts, change the root (`mount`, `pivot_root`, `chroot`, `fsopen`)"),
    call("namespaces", "make namespaces (`unshare`, `clone`, `clone3`, `setns`)"),
    call("ring", "pass calls by a ring (`io_uring`)"),
    call("kernel", "load programs and modules, measure the kernel, use its keys, set the clock"),
    server("tcp", "connect to a server that was not named, IPv4"),
    server("tcp_six", "the same by IPv6 and by an IPv4 address in it"),
    Escape {
        landlock: FILTER,
        view: FILTER,
        ..server("fast_open", "connect with the first data (`MSG_FASTOPEN`)")
    },
    server("listen", "listen for others"),
    asked("no_tcp", "any TCP socket where there is no network"),
    asked("datagram", "send by UDP, IPv4 and IPv6"),
    asked("raw", "raw, packet, netlink, VM and Bluetooth sockets"),
    asked(
        "local",
        "connect to a socket in the file system (keys, containers, D-Bus) and be passed a descriptor",
    ),
    asked("abstract", "connect to a local socket with a name of its own"),
    asked("local_datagram", "send a datagram to a local socket"),
    asked("datagram_pair", "the same from one end of a pair (`socketpair`)"),
    Escape {
        network: Network::Machine,
        ..asked("listen_everywhere", "take a port of all addresses where this machine is allowed")
    },
    asked("shared", "use or remove memory, semaphores and queues of System V that others made"),
    call("queues", "make or remove queues of POSIX"),
    Escape {
        landlock: "seccomp, counted by us",
        view: "seccomp, counted by us",
        ..asked("fork_bomb", "a fork bomb")
    },
    Escape {
        landlock: "seccomp, counted by us",
        view: "seccomp, counted by us",
        ..asked("threads", "the same of threads: 16 for each process that there may be, 64 at least")
    },
    Escape {
        landlock: "seccomp, counted by us",
        view: "seccomp, counted by us",
        ..asked("remains", "the same of processes that have ended and that nobody waits for")
    },
    Escape {
        landlock: "threads are looked at",
        view: "threads are looked at",
        ..asked("first_thread", "end the first thread and go on in another, past every limit")
    },
    Escape {
        landlock: "measured by us; a control group where one may be made",
        view: "measured by us; a control group where one may be made",
        ..asked("memory_bomb", "a memory bomb")
    },
    Escape {
        landlock: "measured by us; a control group where one may be made",
        view: "measured by us; a control group where one may be made",
        ..asked("memory_held", "the same in a file that lies in memory (`memfd_create`)")
    },
    Escape {
        landlock: "a limit for each file (`--file-size`), not for all together",
        view: "a limit for each file (`--file-size`), not for all together",
        ..asked("large_file", "fill the disk with one file")
    },
    Escape {
        landlock: "orphans come to us",
        view: "orphans come to us",
        ..asked("daemon", "leave something behind (two forks, own session, signals ignored)")
    },
];
