//! Directories of the machine rather than of a user.

use checkrein_protocol::AbsolutePath;

/// How the machine depends on a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SystemPlace {
    /// Software and data that a user put there: `/usr/local`, `/opt`, `/srv`.
    Local,
    /// Data, logs and run-time state: `/var`, `/run`.
    State,
    /// A running kernel's view of itself: `/proc`, `/sys`.
    Kernel,
    /// A device: what is written goes to hardware.
    Device,
    /// Without it the machine does not start or nobody can log in.
    Vital,
}

/// What the machine uses a path for; `None` for a path of a user or of nobody.
///
/// Answers for the directories themselves as well as for what lies in them. `/dev/null` and the like are of nobody.
pub fn system_place(path: &AbsolutePath) -> Option<SystemPlace> {
    let mut parts = path.parts();
    let top = parts.next()?;
    let second = parts.next();
    match top {
        "usr" if matches!(second, Some("local" | "src")) => Some(SystemPlace::Local),
        "opt" | "srv" | "Applications" => Some(SystemPlace::Local),
        "var" if second == Some("tmp") => None,
        "var" | "run" => Some(SystemPlace::State),
        // Groups of processes: made and removed like directories of data.
        "sys" if second == Some("fs") && parts.next() == Some("cgroup") => Some(SystemPlace::State),
        "proc" | "sys" => Some(SystemPlace::Kernel),
        "dev" if second.is_some_and(|name| NO_DEVICES.contains(&name)) => None,
        "dev" => Some(SystemPlace::Device),
        "etc" | "usr" | "bin" | "sbin" | "boot" | "efi" | "System" => Some(SystemPlace::Vital),
        _ if top == "lib" || (top.starts_with("lib") && top.len() <= 6) => Some(SystemPlace::Vital),
        "private" if second == Some("etc") => Some(SystemPlace::Vital),
        _ => None,
    }
}

/// Parameters of the kernel that keep programs and users apart, or the machine from its network: `sysctl` names them so.
const GUARDING: &[&str] = &[
    "kernel.randomize_va_space",
    "kernel.yama",
    "kernel.kptr_restrict",
    "kernel.core_pattern",
    "kernel.modprobe",
    "kernel.modules_disabled",
    "kernel.sysrq",
    "kernel.dmesg_restrict",
    "kernel.unprivileged",
    "net.ipv4.conf",
    "net.ipv4.ip_forward",
    "net.ipv6.conf.all.forwarding",
    "fs.suid_dumpable",
    "fs.protected",
    "fs.binfmt_misc",
    // How many processes there may be: too few, and nothing starts any more, the guard's hook neither.
    "kernel.pid_max",
    "kernel.threads-max",
];

/// Whether a parameter of the kernel, named as `sysctl` does, keeps programs and users apart, or the machine from its network.
pub fn is_guarding_parameter(name: &str) -> bool {
    GUARDING.iter().any(|known| name.starts_with(known))
}

/// The parameter of the kernel that a file below `/proc/sys` stands for, named as `sysctl` does: `vm.drop_caches`.
pub fn kernel_parameter(path: &AbsolutePath) -> Option<String> {
    path.as_str().strip_prefix("/proc/sys/").map(|name| name.replace('/', "."))
}

/// Whether programs that anybody on the machine runs lie in the directory of a file: `/usr/local/bin/tool`.
pub fn is_program_directory(path: &AbsolutePath) -> bool {
    let parts: Vec<&str> = path.parts().collect();
    matches!(
        parts.as_slice(),
        ["usr", "local", "bin" | "sbin", _, ..] | ["opt", "homebrew", "bin" | "sbin", _, ..]
    )
}

/// Names in `/dev` that are no hardware: sinks, sources, terminals, the shell's own connections, shared memory.
const NO_DEVICES: &[&str] = &[
    "null", "zero", "full", "tty", "stdin", "stdout", "stderr", "fd", "shm", "random", "urandom", "pts",
    "tcp", "udp", "ptmx", "pty", "console",
];

/// Whether a path is a home directory, or the directory of all home directories.
pub fn is_home_of_somebody(path: &AbsolutePath) -> bool {
    let parts: Vec<&str> = path.parts().take(3).collect();
    matches!(parts.as_slice(), ["home" | "Users" | "root"] | ["home" | "Users", _] | ["var", "root"])
        || path.as_str() == "/private/var/root"
}

/// Whether a file is one of the few without which nobody logs in or the machine does not start.
pub fn is_lifeline(path: &AbsolutePath) -> bool {
    let text = path.as_str();
    matches!(
        text,
        "/etc/passwd"
            | "/etc/shadow"
            | "/etc/group"
            | "/etc/gshadow"
            | "/etc/sudoers"
            | "/etc/fstab"
            | "/etc/ld.so.preload"
            | "/etc/nsswitch.conf"
            | "/etc/inittab"
            | "/proc/sysrq-trigger"
    ) || [
        "/boot/",
        "/bin/",
        "/sbin/",
        "/usr/bin/",
        "/usr/sbin/",
        "/lib/",
        "/lib64/",
        "/usr/lib/",
        "/etc/sudoers.d/",
        "/etc/pam.d/",
    ]
    .iter()
    .any(|directory| text.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_the_machine() {
        let place = |text: &str| system_place(&AbsolutePath::new(text).unwrap());
        assert_eq!(place("/etc/passwd"), Some(SystemPlace::Vital));
        assert_eq!(place("/lib64/ld.so"), Some(SystemPlace::Vital));
        assert_eq!(place("/usr/local/bin/tool"), Some(SystemPlace::Local));
        assert_eq!(place("/var/log/syslog"), Some(SystemPlace::State));
        assert_eq!(place("/dev/sda1"), Some(SystemPlace::Device));
        assert_eq!(place("/dev/null"), None);
        let parameter = |text: &str| kernel_parameter(&AbsolutePath::new(text).unwrap());
        assert_eq!(parameter("/proc/sys/vm/drop_caches").as_deref(), Some("vm.drop_caches"));
        assert_eq!(parameter("/proc/sysrq-trigger"), None);
        assert!(is_guarding_parameter("kernel.pid_max") && !is_guarding_parameter("vm.drop_caches"));
        assert_eq!(place("/library/x"), None);
        assert_eq!(place("/home/dev/etc"), None);
        assert!(is_home_of_somebody(&AbsolutePath::new("/home/other").unwrap()));
        assert!(!is_home_of_somebody(&AbsolutePath::new("/home/other/x").unwrap()));
    }
}
