//! Calls that nobody who works on files needs, in words.

/// What a call does, to go on after "may not"; `None` for those that have no words of their own.
pub(super) fn of_call(call: i64) -> Option<&'static str> {
    Some(match call {
        libc::SYS_ptrace => "watch or steer other processes (ptrace)",
        libc::SYS_process_vm_readv | libc::SYS_process_vm_writev => {
            "reach into the memory of other processes"
        }
        libc::SYS_pidfd_getfd => "take open files of other processes",
        libc::SYS_mount
        | libc::SYS_umount2
        | libc::SYS_pivot_root
        | libc::SYS_move_mount
        | libc::SYS_open_tree
        | libc::SYS_fsopen
        | libc::SYS_fsconfig
        | libc::SYS_fsmount
        | libc::SYS_fspick
        | libc::SYS_mount_setattr => "mount file systems",
        libc::SYS_chroot => "change its root folder (chroot)",
        libc::SYS_unshare | libc::SYS_setns => "make or enter namespaces",
        libc::SYS_bpf => "load programs into the kernel (bpf)",
        libc::SYS_perf_event_open => "measure other programs and the kernel (perf_event_open)",
        libc::SYS_init_module | libc::SYS_finit_module | libc::SYS_delete_module => {
            "change modules of the kernel"
        }
        libc::SYS_kexec_load | libc::SYS_reboot => "restart the machine",
        libc::SYS_settimeofday | libc::SYS_clock_settime | libc::SYS_clock_adjtime | libc::SYS_adjtimex => {
            "set the clock"
        }
        libc::SYS_sethostname | libc::SYS_setdomainname => "rename the machine",
        libc::SYS_add_key | libc::SYS_request_key | libc::SYS_keyctl => "use the keys that the kernel keeps",
        libc::SYS_open_by_handle_at => "open files past their folders (open_by_handle_at)",
        libc::SYS_mq_open | libc::SYS_mq_unlink => "use message queues of POSIX",
        libc::SYS_userfaultfd => "answer for the memory of others (userfaultfd)",
        libc::SYS_kcmp => "compare other processes (kcmp)",
        libc::SYS_process_madvise => "advise about the memory of other processes",
        libc::SYS_syslog => "read the messages of the kernel",
        _ => return None,
    })
}
