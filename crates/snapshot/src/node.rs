//! What is saved: nodes of the file system, and the snapshot that holds them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::id::{ObjectId, SnapshotId};

/// A path of any bytes, as it is stored.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SavedPath(#[serde(with = "crate::bytes")] Vec<u8>);

impl SavedPath {
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The path as the system takes it.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }
}

impl From<&Path> for SavedPath {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_vec())
    }
}

impl From<PathBuf> for SavedPath {
    fn from(path: PathBuf) -> Self {
        Self(path.into_os_string().into_encoded_bytes())
    }
}

impl std::fmt::Debug for SavedPath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_path().fmt(formatter)
    }
}

/// When something happened, as file systems tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileTime {
    /// Seconds since 1970.
    pub seconds: i64,
    /// And nanoseconds.
    pub nanoseconds: u32,
}

/// What is known about a node beside its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// The permission bits, with set-user, set-group and sticky.
    pub mode: u32,
    /// The number of the owner.
    pub owner: u32,
    /// The number of the group.
    pub group: u32,
    /// When the content last changed.
    pub modified: FileTime,
    /// Extended attributes: name and value.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Where the content of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Content {
    /// In one object.
    Whole(ObjectId),
    /// In several, of which this object is the list.
    Parts(ObjectId),
}

/// Names of one file: those with the same group were hard links of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LinkGroup {
    /// The device on which it was.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// What stood at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Node {
    /// A regular file.
    File {
        /// Beside its content.
        meta: Meta,
        /// Its length in bytes.
        length: u64,
        /// Its content.
        content: Content,
        /// The group of hard links, when it had more than one name.
        links: Option<LinkGroup>,
    },
    /// A symbolic link.
    Symlink {
        /// Beside its target; only owner and time count.
        meta: Meta,
        /// Where it pointed, as written.
        #[serde(with = "crate::bytes")]
        target: Vec<u8>,
    },
    /// A directory.
    Directory {
        /// Beside its entries.
        meta: Meta,
        /// The object with its [`DirectoryTree`]; `None` when only the directory itself was saved.
        tree: Option<ObjectId>,
    },
    /// A named pipe.
    Pipe {
        /// All that there is to it.
        meta: Meta,
    },
}

impl Node {
    /// What is known beside the content.
    pub fn meta(&self) -> &Meta {
        match self {
            Self::File { meta, .. }
            | Self::Symlink { meta, .. }
            | Self::Directory { meta, .. }
            | Self::Pipe { meta } => meta,
        }
    }

    /// The file of which it is one of several names.
    pub fn links(&self) -> Option<LinkGroup> {
        match self {
            Self::File { links, .. } => *links,
            Self::Symlink { .. } | Self::Directory { .. } | Self::Pipe { .. } => None,
        }
    }

    /// Its length in bytes; zero for what is no file.
    pub fn length(&self) -> u64 {
        match self {
            Self::File { length, .. } => *length,
            Self::Symlink { .. } | Self::Directory { .. } | Self::Pipe { .. } => 0,
        }
    }
}

/// The entries of a directory, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DirectoryTree(pub Vec<TreeEntry>);

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeEntry {
    /// Its name, any bytes but `/` and zero.
    #[serde(with = "crate::bytes")]
    pub name: Vec<u8>,
    /// What it was.
    pub node: Node,
}

/// What of a directory is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SavedPart {
    /// Everything in it.
    Everything,
    /// What version control does not ignore, and nothing of version control itself.
    NotIgnored,
    /// The directory itself, nothing in it.
    Itself,
}

/// One place that a snapshot is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Where.
    pub path: SavedPath,
    /// What of it, should it be a directory.
    pub selection: SavedPart,
    /// What stood there; `None` when nothing did.
    pub node: Option<Node>,
}

/// Something that was not saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Where.
    pub path: SavedPath,
    /// Why.
    pub reason: SkipReason,
}

/// Why something was not saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SkipReason {
    /// A socket or a device: whoever made it has to make it again.
    Special,
    /// It could not be read; the words of the system.
    Unreadable(String),
    /// It is longer than the greatest file that is saved.
    TooLarge {
        /// Its length in bytes.
        bytes: u64,
    },
    /// It was written to all the time.
    Changing,
    /// It lies on another file system than the place that is saved.
    OtherFileSystem,
    /// It belongs to the guard itself.
    Own,
    /// Version control ignores it, and it is more than is saved of that.
    Ignored,
    /// Smaller files were saved first, and then a bound was reached.
    NoRoom {
        /// Its length in bytes.
        bytes: u64,
    },
}

impl SkipReason {
    /// How much is listed at most that version control ignores (ours). Where it is so much, there may be more that was not saved.
    pub const MOST_IGNORED: u64 = 256;

    /// Whether something with a content is lacking that could have been saved: if it goes, it does not come back.
    pub fn leaves_out_content(&self) -> bool {
        match self {
            Self::Unreadable(_) | Self::TooLarge { .. } | Self::Changing | Self::NoRoom { .. } => true,
            Self::Special | Self::OtherFileSystem | Self::Own | Self::Ignored => false,
        }
    }
}

impl std::fmt::Display for SkipReason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Special => formatter.write_str("a socket or device"),
            Self::Unreadable(words) => write!(formatter, "cannot be read: {words}"),
            Self::TooLarge { bytes } => write!(formatter, "too large ({bytes} bytes)"),
            Self::Changing => formatter.write_str("was written to all the time"),
            Self::OtherFileSystem => formatter.write_str("lies on another file system"),
            Self::Own => formatter.write_str("belongs to checkrein itself"),
            Self::NoRoom { bytes } => write!(formatter, "no time or room was left for it ({bytes} bytes)"),
            Self::Ignored => formatter.write_str("ignored by version control, and not small"),
        }
    }
}

/// Why a snapshot was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SnapshotReason {
    /// Right before an action: exactly what it would destroy.
    BeforeAction,
    /// At the start of a session.
    SessionStart,
    /// Because some time had passed, or before an action that cannot be seen through.
    Interval,
    /// Because a user wanted it.
    Request,
    /// Right before a restore, so that it can be undone.
    BeforeRestore {
        /// Of which snapshot.
        of: SnapshotId,
        /// How much of it.
        extent: RestoreExtent,
    },
}

/// How much of a snapshot is gone back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RestoreExtent {
    /// All of it.
    Whole,
    /// Some paths.
    Part,
}

impl SnapshotReason {
    /// The name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BeforeAction => "before_action",
            Self::SessionStart => "session_start",
            Self::Interval => "interval",
            Self::Request => "request",
            Self::BeforeRestore { .. } => "before_restore",
        }
    }
}

/// The place of a session at which a snapshot was taken.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionPlace {
    /// The folder name of the session.
    pub session: String,
    /// The action, when there is one.
    pub action: Option<String>,
    /// The number of the last record in its ledger: goals, limits and the rest follow from the records up to there.
    pub sequence: u64,
}

/// Why, when and for what a snapshot is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circumstances {
    /// Milliseconds since 1970.
    pub at: u64,
    /// Why it is taken.
    pub occasion: SnapshotReason,
    /// What it is taken for, in words.
    pub reason: String,
    /// Where in its session.
    pub place: Option<SessionPlace>,
}

/// A snapshot: what stood at some places at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Milliseconds since 1970.
    pub at: u64,
    /// Why it was taken.
    pub occasion: SnapshotReason,
    /// What it was taken for, in words: the command, the tool, the reason that a user gave.
    pub reason: String,
    /// Where in its session.
    pub place: Option<SessionPlace>,
    /// What it is about.
    pub roots: Vec<Root>,
    /// The directories above the roots, so that they can be made again: nearest last.
    pub above: Vec<(SavedPath, Meta)>,
    /// What was not saved.
    pub skipped: Vec<Skipped>,
    /// How many files, links and directories it holds.
    pub entries: u64,
    /// Their length in bytes.
    pub bytes: u64,
}

impl Snapshot {
    /// Whether it says only where nothing stood: it was taken for an action that was to make something there.
    pub fn is_mark(&self) -> bool {
        self.occasion == SnapshotReason::BeforeAction && self.roots.iter().all(|root| root.node.is_none())
    }

    /// When it was taken, as file systems tell it.
    pub(crate) fn at_file_time(&self) -> FileTime {
        let nanoseconds = u32::try_from(self.at % 1_000 * 1_000_000).unwrap_or(0);
        FileTime { seconds: i64::try_from(self.at / 1_000).unwrap_or(i64::MAX), nanoseconds }
    }
}
