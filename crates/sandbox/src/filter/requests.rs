//! The requests of `ioctl` that are refused on any descriptor: they type into a terminal, or change a file system through a file that is open
//! for reading only, about which Landlock is not asked. A filter sees the number, not the file, so they fail inside the scope as well.
//!
//! From the headers of Linux 6.18: `linux/fs.h`, `fscrypt.h`, `fsverity.h`, `msdos_fs.h`, `btrfs.h`, `f2fs.h`, `fs/ext4/ext4.h` and
//! `fs/xfs/libxfs/xfs_fs.h`. What only needs a descriptor that is open for writing is Landlock's, and what copies into one (`FICLONE`)
//! is needed by `cp`.

/// Opens the lower side of a terminal (`TIOCGPTPEER`), which Landlock does not know.
pub(super) const LOWER_SIDE: &[u32] = &[0x5441];

/// All that are refused.
pub(super) const REFUSED: &[u32] = &[
    // TIOCSTI, TIOCLINUX.
    0x5412,
    0x541c,
    // FS_IOC_SETFLAGS, FS_IOC_SETVERSION, their forms for 32 bits, and those of ext4.
    0x4008_6602,
    0x4004_6602,
    0x4008_7602,
    0x4004_7602,
    0x4008_6604,
    0x4004_6604,
    // FS_IOC_FSSETXATTR, FS_IOC_SETFSLABEL, FIFREEZE, FITHAW, FITRIM, FAT_IOCTL_SET_ATTRIBUTES.
    0x401c_5820,
    0x4100_9432,
    0xc004_5877,
    0xc004_5878,
    0xc018_5879,
    0x4004_7211,
    // FS_IOC_SET_ENCRYPTION_POLICY, _ADD_ENCRYPTION_KEY, _REMOVE_ENCRYPTION_KEY(_ALL_USERS), FS_IOC_ENABLE_VERITY.
    0x800c_6613,
    0xc050_6617,
    0xc040_6618,
    0xc040_6619,
    0x4080_6685,
    // EXT4_IOC_GROUP_EXTEND, _GROUP_ADD, _MIGRATE, _ALLOC_DA_BLKS, _MOVE_EXT, _RESIZE_FS, _SWAP_BOOT, _CLEAR_ES_CACHE, _CHECKPOINT,
    // _SETFSUUID, and EXT4_IOC_SHUTDOWN, which is also that of xfs and f2fs.
    0x4008_6607,
    0x4028_6608,
    0x0000_6609,
    0x0000_660c,
    0xc028_660f,
    0x4008_6610,
    0x0000_6611,
    0x0000_6628,
    0x4004_662b,
    0x4008_662c,
    0x8004_587d,
    // XFS_IOC_SWAPEXT, _FSGROWFSDATA, _FSGROWFSLOG, _FSGROWFSRT, _SET_RESBLKS, _ATTRMULTI_BY_HANDLE, _SCRUB_METADATA, _ERROR_INJECTION.
    0xc0c0_586d,
    0x4010_586e,
    0x4008_586f,
    0x4008_5870,
    0xc010_5872,
    0x4038_587b,
    0xc040_583c,
    0x4008_5874,
    // BTRFS_IOC_SNAP_CREATE, _DEFRAG, _RESIZE, _SCAN_DEV, _ADD_DEV, _RM_DEV, _BALANCE, _SUBVOL_CREATE, _SNAP_DESTROY, _DEFRAG_RANGE.
    0x5000_9401,
    0x5000_9402,
    0x5000_9403,
    0x5000_9404,
    0x5000_940a,
    0x5000_940b,
    0x5000_940c,
    0x5000_940e,
    0x5000_940f,
    0x4030_9410,
    // _DEFAULT_SUBVOL, _SNAP_CREATE_V2, _SUBVOL_CREATE_V2, _SUBVOL_SETFLAGS, _SCRUB, _BALANCE_V2, _SET_RECEIVED_SUBVOL (and for 32 bits).
    0x4008_9413,
    0x5000_9417,
    0x5000_9418,
    0x4008_941a,
    0xc400_941b,
    0xc400_9420,
    0xc0c8_9425,
    0xc0c0_9425,
    // _QUOTA_CTL, _QGROUP_ASSIGN, _QGROUP_CREATE, _QGROUP_LIMIT, _QUOTA_RESCAN, _DEV_REPLACE, _SET_FEATURES, _RM_DEV_V2,
    // _SNAP_DESTROY_V2, _ENCODED_WRITE.
    0xc010_9428,
    0x4018_9429,
    0x4010_942a,
    0x8030_942b,
    0x4040_942c,
    0xca28_9435,
    0x4030_9439,
    0x5000_943a,
    0x5000_943f,
    0x4080_9440,
    // F2FS_IOC_START_ATOMIC_WRITE, _COMMIT_, _START_VOLATILE_WRITE, _RELEASE_, _ABORT_, _GARBAGE_COLLECT, _WRITE_CHECKPOINT,
    // _DEFRAGMENT, _MOVE_RANGE, _FLUSH_DEVICE, _GARBAGE_COLLECT_RANGE, _SET_PIN_FILE, _RESIZE_FS.
    0xf501,
    0xf502,
    0xf503,
    0xf504,
    0xf505,
    0x4004_f506,
    0xf507,
    0xc010_f508,
    0xc020_f509,
    0x4008_f50a,
    0x4018_f50b,
    0x4004_f50d,
    0x4008_f510,
    // _RELEASE_COMPRESS_BLOCKS, _RESERVE_COMPRESS_BLOCKS, _SEC_TRIM_FILE, _SET_COMPRESS_OPTION, _DECOMPRESS_FILE, _COMPRESS_FILE,
    // _START_ATOMIC_REPLACE.
    0x8008_f512,
    0x8008_f513,
    0x4018_f514,
    0x4002_f516,
    0xf517,
    0xf518,
    0xf519,
];
