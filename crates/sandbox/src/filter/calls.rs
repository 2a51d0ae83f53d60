//! The system calls that are not simply let through, by why.

/// `fchmodat2`: a young call with one number on all processors, which not every version of the C library's list has.
pub(crate) const FCHMODAT2: libc::c_long = 452;

/// What reaches into other processes, into the kernel, or changes what is seen of the machine. Nobody who works on files needs it.
pub(super) const FORBIDDEN: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    libc::SYS_syslog,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Calls that programs do without: they are told that the kernel does not have them. The arguments of `clone3` lie in memory, so that its
/// older form is asked for instead; rings of `io_uring` would carry calls past the filter; the newest forms change attributes by path.
pub(super) const ABSENT: &[libc::c_long] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;

/// Calls that change modes, owners, times or attributes of what they name, about which Landlock has no say.
pub(super) const ATTRIBUTES: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Calls that Landlock judges; we are asked so that a refusal can be put into words.
pub(super) const NAMING: &[libc::c_long] = &[
    libc::SYS_openat2,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_symlinkat,
    libc::SYS_linkat,
    libc::SYS_truncate,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mknod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
];

/// Calls on what System V has processes share by number: memory, semaphores, messages. Everything of the user can be named so.
pub(super) const SHARED: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
];

/// Whether a call is on something of System V.
pub(crate) fn is_shared(call: libc::c_long) -> bool {
    SHARED.contains(&call)
}

/// Calls that send signals. Those of the first kind name who gets them.
pub(super) const SIGNALLING: &[libc::c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

/// Calls that change limits, priority or place of a process, and the argument that names it; 0 is the caller.
pub(super) const STEERING: &[(libc::c_long, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_migrate_pages, 0),
    (libc::SYS_move_pages, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];

/// The kind of whom these two name: one process. Others are groups and users, of which others are members.
pub(super) const ONE_PROCESS: [(libc::c_long, i32); 2] =
    [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)];

/// Whom a call steers, if it is one that does: the place of the argument, and whether its kind is one process, given the first argument.
pub(crate) fn steered(call: libc::c_long, kind: i32) -> Option<(usize, Steered)> {
    let (_, place) = STEERING.iter().find(|(known, _)| *known == call)?;
    let is_one = ONE_PROCESS.iter().all(|(known, one)| *known != call || *one == kind);
    Some((usize::from(*place), if is_one { Steered::Process } else { Steered::Several }))
}

/// Who is steered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steered {
    /// One process.
    Process,
    /// A group, or all of a user.
    Several,
}

/// Has signals sent to somebody else when something can be read: by `fcntl`, and by `ioctl`.
pub(super) const SIGNAL_OWNERS: (&[u32], &[u32]) = (&[8, 15], &[0x8901, 0x8902]);

/// Whether a call changes modes, owners, times or attributes.
pub(crate) fn changes_attributes(call: libc::c_long) -> bool {
    ATTRIBUTES.contains(&call)
}

/// Whether a call sends a signal.
pub(crate) fn is_signalling(call: libc::c_long) -> bool {
    SIGNALLING.contains(&call)
}

/// Whether a call is one that nobody who works on files needs.
pub(crate) fn is_forbidden(call: libc::c_long) -> bool {
    FORBIDDEN.contains(&call) || call == libc::SYS_unshare
}
