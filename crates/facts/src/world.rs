//! The world: the facts that interpreting and reviewing an action may rest on.
//!
//! One trait with two implementations. The real one reads the machine within bounds (crate `world`). The recorded one
//! answers from a list of facts (module `recorded`), so that a past decision replays bit for bit and tests need no
//! disk.

use std::rc::Rc;

use checkrein_protocol::{FormerText, SecretMark, Timestamp, ToolOutput, Typing};
use serde::{Deserialize, Serialize};

use crate::resolve::{Last, resolve};
use crate::run_by_client::RunByClient;
use crate::tally::Tally;
use crate::terminal::TypedTerminal;
use checkrein_protocol::AbsolutePath;

/// Facts about the machine, gathered before or while an action is judged. Every question is bounded; what cannot be
/// answered is said so (`Unknown`), never guessed.
pub trait World {
    /// Where things are.
    fn place(&self) -> &HostPaths;
    /// What has happened in the session so far.
    fn history(&self) -> &History;
    /// The time of the action.
    fn now(&self) -> Timestamp;
    /// What stands at a path; symbolic links are not followed in the last part.
    fn entry(&self, path: &AbsolutePath) -> Entry;
    /// The names in a directory, at most [`Listing::LIMIT`].
    fn children(&self, directory: &AbsolutePath) -> Listing;
    /// The directories and symbolic links in a directory, which costs no look at each of its names; `None` where it cannot be read, or holds more than
    /// [`Branches::LIMIT`] names.
    fn branches(&self, directory: &AbsolutePath) -> Option<Branches>;
    /// The text of a file, at most [`FileText::LIMIT`] bytes.
    fn text(&self, path: &AbsolutePath) -> FileText;
    /// The text of a file that is run as code. Zeros may stand in it, but for the first line: a shell runs the lines in front of what is packed
    /// behind a script. Of more than [`FileText::CODE_LIMIT`] bytes only the beginning.
    fn code(&self, path: &AbsolutePath) -> FileText {
        self.text(path)
    }
    /// The repository that holds a path: the nearest one upward.
    fn repository(&self, path: &AbsolutePath) -> Option<Repository>;
    /// What version control knows about a file; for a directory, about the worst file in it (bounded walk).
    fn version(&self, path: &AbsolutePath) -> VersionState;
    /// Whether version control tracks a file at or below a path.
    fn holds_tracked(&self, path: &AbsolutePath) -> bool {
        matches!(self.version(path), VersionState::TrackedClean | VersionState::TrackedModified)
    }
    /// What a revision of the repository at a directory (its work tree, or its own data) holds at a path below its root. Besides what
    /// git understands as the name of a commit, `` (nothing) is the index and `a...b` where two commits have come apart.
    fn committed(&self, repository: &AbsolutePath, revision: &str, path: &str) -> Committed;
    /// The text of a file that a revision holds, asked for as with [`World::committed`].
    fn committed_text(&self, _repository: &AbsolutePath, _revision: &str, _path: &str) -> FileText {
        FileText::Unknown
    }
    /// The symbolic links among what [`World::differences`] of the same words found to come, by their paths below the root, and where they lead.
    fn links_brought(&self, _repository: &AbsolutePath, _from: &str, _to: &str) -> Vec<(String, String)> {
        Vec::new()
    }
    /// The paths below the root at which what one revision holds is not what another does. Both are named as for [`World::committed`];
    /// [`TreeDifferences::EMPTY`] is a revision that holds nothing.
    fn differences(&self, _repository: &AbsolutePath, _from: &str, _to: &str) -> TreeDifferences {
        TreeDifferences::Unknown
    }
    /// Whether what stands at a path was written, or came there, after a moment: by the time of status change, which no program sets back.
    /// `None` where that cannot be told.
    fn changed_since(&self, _path: &AbsolutePath, _moment: Timestamp) -> Option<bool> {
        None
    }
    /// The names of what an archive holds, as they are written there.
    fn members(&self, archive: &AbsolutePath) -> Listing;
    /// Whether two paths are names of one regular file that has more than one name: with the same path twice, whether it has. Costs nothing
    /// for a file that has only one name.
    fn is_same_file(&self, path: &AbsolutePath, other: &AbsolutePath) -> bool;
    /// The paths of the guard, each also by the place where it really lies when a link leads there.
    fn guarded(&self) -> Rc<[GuardedPath]> {
        guarded_places(self.place(), &|path| self.entry(path))
    }
    /// Whether the user has a right to what stands at a path, for certain: the rights of the directories above it count too.
    fn allows(&self, path: &AbsolutePath, right: Right) -> bool;
    /// The value of an environment variable that the shell of the agent would see.
    fn variable(&self, name: &str) -> Option<String>;
    /// The names of the environment variables that the shell of the agent would see, sorted.
    fn variable_names(&self) -> Vec<String> {
        Vec::new()
    }
    /// The program of the guard that runs a command within bounds; `None` when this machine does not hold all of them.
    fn confiner(&self) -> Option<AbsolutePath>;
    /// The program of the guard that masks secrets in what is piped through it; `None` where it is not there.
    fn masker(&self) -> Option<AbsolutePath>;
    /// What the model reads of what a tool of the client answers.
    fn tool_output(&self) -> ToolOutput;
    /// Whether what is typed into a program that a call left open is reviewed.
    fn typing(&self) -> Typing {
        Typing::Reviewed
    }
    /// Whether an agent that is started by this name in a directory asks the guard before its calls.
    fn guarded_start(&self, _program: &str, _directory: &AbsolutePath) -> GuardedStart {
        GuardedStart::Unknown
    }
    /// The files with code that the client of this session runs when it is started in their folder.
    fn run_by_client(&self) -> Vec<RunByClient> {
        Vec::new()
    }
    /// Whose repositories elsewhere the user calls their own, as [`crate::is_owned`] reads them.
    fn owned_remotes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The paths of the guard of a place, each also by the place where it really lies as `entry` says.
pub fn guarded_places(place: &HostPaths, entry: &dyn Fn(&AbsolutePath) -> Entry) -> Rc<[GuardedPath]> {
    let mut all = place.guarded.clone();
    for guarded in &place.guarded {
        let real = resolve(entry, &AbsolutePath::root(), guarded.path.as_str(), Last::Follow);
        if real != guarded.path {
            all.push(GuardedPath { path: real, role: guarded.role.clone() });
        }
    }
    all.into()
}

/// Where things are on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPaths {
    /// The home directory of the user whose agent this is.
    pub home: AbsolutePath,
    /// Their login name, when known.
    pub user: Option<String>,
    /// The root of the workspace: the repository root, else the working directory of the session.
    pub workspace: AbsolutePath,
    /// Directories for temporary files.
    pub temporary: Vec<AbsolutePath>,
    /// Paths of the guard itself, out of the reach of the agent: state, configuration, binaries, hook settings of clients.
    pub guarded: Vec<GuardedPath>,
    /// Further directories in which mutations are expected, besides the workspace and the temporary directories.
    pub expected: Vec<AbsolutePath>,
}

impl HostPaths {
    /// Returns a place of which only the home and the workspace are known.
    pub fn new(home: AbsolutePath, workspace: AbsolutePath) -> Self {
        Self { home, user: None, workspace, temporary: Vec::new(), guarded: Vec::new(), expected: Vec::new() }
    }

    /// Whether a path lies below a directory for temporary files, and in nothing more telling below that: a workspace or a home under the
    /// temporary directory keeps its own rules. A directory for temporary files itself is the machine's, not a temporary file.
    pub fn is_temporary(&self, path: &AbsolutePath) -> bool {
        self.temporary.iter().any(|directory| {
            let kept = |inner: &AbsolutePath| inner.is_within(directory) && path.is_within(inner);
            path != directory && path.is_within(directory) && !kept(&self.workspace) && !kept(&self.home)
        })
    }
}

/// A path that the agent must not change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardedPath {
    /// The file or directory; everything below a directory is meant too.
    pub path: AbsolutePath,
    /// What it is, for the reason: `the hook settings of Claude Code`.
    pub role: String,
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// Nothing.
    Missing,
    /// A regular file.
    File(FileFacts),
    /// A directory.
    Directory,
    /// A symbolic link with the text of its target.
    Symlink(String),
    /// A socket, device or pipe.
    Special,
    /// It could not be found out (no permission, too many questions).
    Unknown,
}

/// What a user may do with a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Read a file, list a directory.
    Read,
    /// Write a file; make and remove names in a directory.
    Write,
    /// Enter a directory, run a file.
    Enter,
}

/// What is known about a regular file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Its length in bytes.
    pub bytes: u64,
    /// The permission bits.
    pub mode: u32,
    /// When its content last changed.
    pub modified: Timestamp,
}

/// The names in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listing {
    /// All names, sorted by bytes, without `.` and `..`.
    Names(Vec<String>),
    /// Not a directory, unreadable, more than the limit, or a name that is not UTF-8.
    Unknown,
}

impl Listing {
    /// The greatest number of names that a listing holds (ours).
    pub const LIMIT: usize = 4096;
}

/// The names in a directory that lead further.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Branches {
    /// The directories, sorted.
    pub directories: Vec<String>,
    /// The symbolic links, sorted.
    pub links: Vec<String>,
}

impl Branches {
    /// The greatest number of names in a directory that is looked through (ours).
    pub const LIMIT: usize = 32_768;
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileText {
    /// The whole text; a byte that is not UTF-8 stands as U+FFFD in it.
    Whole(String),
    /// Code that goes on behind this, further than is read.
    Beginning(String),
    /// Not a readable file of text within the limit.
    Unknown,
}

impl FileText {
    /// The greatest length of a file that is read, in bytes (ours).
    pub const LIMIT: usize = 256 * 1024;
    /// The greatest length of a file of code that is read whole, in bytes (ours).
    pub const CODE_LIMIT: usize = 4 * 1024 * 1024;

    /// What a program that wants a file of text, and all of it, makes of this: neither longer than [`FileText::LIMIT`] nor with zeros in it.
    #[must_use]
    pub fn as_text(self) -> Self {
        match self {
            Self::Whole(text) if text.len() <= Self::LIMIT && !text.contains('\0') => Self::Whole(text),
            Self::Whole(_) | Self::Beginning(_) | Self::Unknown => Self::Unknown,
        }
    }
}

/// A git repository as found from a path upward.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// The root of the work tree.
    pub root: AbsolutePath,
    /// The directory with the repository's own data.
    pub directory: AbsolutePath,
    /// The branch that is checked out; `None` when detached or unknown.
    pub branch: Option<String>,
}

/// What version control knows about a file, from best to worst for someone about to lose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionState {
    /// There is nothing at the path.
    Missing,
    /// In the index, and the file is as it was when it was added.
    TrackedClean,
    /// Matched by an ignore rule.
    Ignored,
    /// In the index, but changed since.
    TrackedModified,
    /// Known to no repository although one holds it.
    Untracked,
    /// No repository holds it.
    NoRepository,
    /// It could not be found out within bounds.
    Unknown,
}

/// What a revision holds at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Committed {
    /// Nothing.
    Nothing,
    /// Something with this name of its content, in hexadecimal digits.
    Object(String),
    /// There is no such revision.
    NoRevision,
    /// It could not be found out within bounds.
    Unknown,
}

/// Where two revisions differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeDifferences {
    /// At these paths and nowhere else, sorted.
    At(Vec<(String, TreeDifference)>),
    /// There is no such revision.
    NoRevision,
    /// It could not be found out within bounds.
    Unknown,
}

impl TreeDifferences {
    /// The greatest number of paths that are listed (ours).
    pub const LIMIT: usize = 1024;
    /// The name of the revision that holds nothing.
    pub const EMPTY: &'static str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

/// How the second of two revisions differs from the first at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeDifference {
    /// Only the second has something there.
    Added,
    /// Both have something there, and not the same.
    Changed,
    /// Only the first has something there.
    Removed,
}

/// Whether an agent that is started somewhere asks the guard before its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardedStart {
    /// Hooks of the guard are registered for it, for its user or for the directory.
    Guarded,
    /// Nothing calls the guard there, although it guards others on this machine.
    Unguarded,
    /// Hooks of the guard are registered for it, and it runs none of them before the user has confirmed them in it.
    Unconfirmed,
    /// It could not be found out, or the guard guards nobody on this machine.
    #[default]
    Unknown,
}

/// What has happened in the session so far, as far as judging needs it. Bounded in size.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct History {
    /// How many actions were reviewed before this one.
    pub actions: u64,
    /// How many file operations they made.
    pub file_operations: u64,
    /// How many file operations the other agents of its family made: those that it started, and those that started it.
    #[serde(default)]
    pub related_file_operations: u64,
    /// How many of the actions since a user spoke last.
    #[serde(default)]
    pub in_turn: u64,
    /// Goals of the session, newest last: the prompts of the user, `--goal`, configuration.
    pub goals: Vec<String>,
    /// Fingerprints of kinds of action seen before, newest last (bounded).
    pub seen: Vec<u64>,
    /// The last actions, newest last (bounded).
    pub recent: Vec<PastAction>,
    /// Paths that this session created (bounded, oldest go).
    pub created: Vec<AbsolutePath>,
    /// Places that hold secrets because the session put them there (bounded, oldest go).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_marks: Vec<SecretMark>,
    /// Terminals and open programs into which the session types (bounded, oldest go).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terminals: Vec<TypedTerminal>,
    /// How many issues are active, and the product of their multipliers.
    pub active_issues: u32,
    /// How much less the session's opaque effects are to be trusted, in hundredths of risk: grows with every change that was
    /// not predicted.
    #[serde(default)]
    pub opaque_doubt: u32,
    /// What tripwires and own patterns have counted.
    #[serde(default)]
    pub tallies: Vec<Tally>,
    /// How much trust the agent has used up.
    #[serde(default)]
    pub trust: TrustDebt,
    /// When the session began, and with what; `None` where that is not on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<SessionOrigin>,
}

/// What the workspace of a session was when the session began, as far as later settings are compared with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOrigin {
    /// When.
    pub at: Timestamp,
    /// The commit that was checked out; `None` where there was none.
    pub commit: Option<String>,
    /// Where its remotes led; `None` where that is not on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remotes: Option<KnownRemotes>,
}

/// The hosts to which the remotes of a workspace led.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownRemotes {
    /// The root of the workspace.
    pub workspace: AbsolutePath,
    /// The names of the hosts, in lower case.
    pub hosts: Vec<String>,
}

/// The trust debt of the agent of a session (ACGP). It wears off with time, so it counts together with the moment it is of.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TrustDebt {
    /// The debt at that moment, from 0 up.
    pub debt: f64,
    /// When it changed last.
    pub at: Timestamp,
    /// Whether a user has been asked to look at the tier and has not done so yet.
    pub review_asked: bool,
}

/// One earlier action of the session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PastAction {
    /// Fingerprint of the kind of action: tool, programs, effect kinds.
    pub kind: u64,
    /// Fingerprint of the exact action.
    pub exact: u64,
    /// Whether it failed; `None` while the outcome is not known.
    pub failed: Option<bool>,
    /// Paths that it touched (bounded).
    pub paths: Vec<AbsolutePath>,
    /// How often the same action had failed before it, as far as its last run was remembered.
    #[serde(default)]
    pub failures: u32,
    /// Whether it was refused, so that it did not run.
    #[serde(default)]
    pub refused: bool,
    /// How often the same action had been refused before it, as far as it was remembered.
    #[serde(default)]
    pub refusals: u32,
    /// Whether it only read, so that everything stands as it did.
    #[serde(default)]
    pub only_looked: bool,
    /// Whether it only asked how something stands after a pause, so that it may be answered the same for long.
    #[serde(default)]
    pub waited: bool,
    /// What it left behind (bounded).
    #[serde(default)]
    pub deeds: Vec<PastDeed>,
}

impl PastAction {
    /// How often the same action has failed, this time included.
    pub fn failures_with_it(&self) -> u32 {
        self.failures.saturating_add(u32::from(self.failed == Some(true)))
    }

    /// How often the same action was refused, this time included.
    pub fn refusals_with_it(&self) -> u32 {
        self.refusals.saturating_add(u32::from(self.refused))
    }
}

/// What an action left behind, as far as the next one could take it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PastDeed {
    /// A file or directory was made or changed.
    Wrote(AbsolutePath),
    /// A file was overwritten that had held something else, as is known.
    Replaced(FormerText),
    /// Software of this name was installed.
    Installed(String),
    /// Commits went to a remote.
    Pushed,
}
