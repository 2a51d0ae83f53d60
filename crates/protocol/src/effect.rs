//! Effects: what an action would change, each with what is known about it.

use serde::{Deserialize, Serialize};

use crate::nature::Nature;
use crate::path::AbsolutePath;

/// The kinds of effect (design 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// Reads a file.
    FileRead,
    /// Makes a file or directory that was not there.
    FileCreate,
    /// Changes what a file holds; what it held is lost.
    FileModify,
    /// Removes a file or directory.
    FileDelete,
    /// Changes mode, owner or attributes.
    PermissionChange,
    /// Reads a credential.
    SecretRead,
    /// Talks to a host.
    NetworkRequest,
    /// Sends local data to a host.
    DataUpload,
    /// Runs code that comes from elsewhere.
    RemoteCodeExecution,
    /// Installs software.
    PackageInstall,
    /// Starts a process that outlives the command, or a program worth naming.
    ProcessSpawn,
    /// Ends processes.
    ProcessKill,
    /// Changes the machine: services, kernel, users, disks, firewall.
    SystemModification,
    /// Runs with more rights than the agent has.
    PrivilegeEscalation,
    /// Makes something run later by itself: shell start-up files, cron, git hooks, ssh keys, units.
    Persistence,
    /// Loses work that version control would have kept or that it never held.
    VcsLocalLoss,
    /// Rewrites shared history.
    VcsHistoryRewrite,
    /// Changes a remote repository.
    VcsRemoteUpdate,
    /// Changes infrastructure.
    InfrastructureChange,
    /// Destroys infrastructure.
    InfrastructureDestroy,
    /// Changes data in a store.
    DatastoreChange,
    /// Destroys data in a store.
    DatastoreDestroy,
    /// Makes something public: packages, releases, posts.
    Publish,
    /// Touches the guard itself.
    GuardTampering,
    /// Cannot be understood.
    Opaque,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// It is made.
    Create,
    /// Its content changes.
    Modify,
    /// It goes.
    Delete,
    /// Its mode or owner changes.
    Permissions,
}

impl EffectKind {
    /// All kinds, in the order of their declaration.
    pub const ALL: [Self; 25] = [
        Self::FileRead,
        Self::FileCreate,
        Self::FileModify,
        Self::FileDelete,
        Self::PermissionChange,
        Self::SecretRead,
        Self::NetworkRequest,
        Self::DataUpload,
        Self::RemoteCodeExecution,
        Self::PackageInstall,
        Self::ProcessSpawn,
        Self::ProcessKill,
        Self::SystemModification,
        Self::PrivilegeEscalation,
        Self::Persistence,
        Self::VcsLocalLoss,
        Self::VcsHistoryRewrite,
        Self::VcsRemoteUpdate,
        Self::InfrastructureChange,
        Self::InfrastructureDestroy,
        Self::DatastoreChange,
        Self::DatastoreDestroy,
        Self::Publish,
        Self::GuardTampering,
        Self::Opaque,
    ];

    /// Whether the effect changes something, as opposed to looking or asking.
    pub fn is_mutating(self) -> bool {
        match self {
            Self::FileRead | Self::SecretRead | Self::NetworkRequest | Self::ProcessSpawn | Self::Opaque => {
                false
            }
            Self::FileCreate
            | Self::FileModify
            | Self::FileDelete
            | Self::PermissionChange
            | Self::DataUpload
            | Self::RemoteCodeExecution
            | Self::PackageInstall
            | Self::ProcessKill
            | Self::SystemModification
            | Self::PrivilegeEscalation
            | Self::Persistence
            | Self::VcsLocalLoss
            | Self::VcsHistoryRewrite
            | Self::VcsRemoteUpdate
            | Self::InfrastructureChange
            | Self::InfrastructureDestroy
            | Self::DatastoreChange
            | Self::DatastoreDestroy
            | Self::Publish
            | Self::GuardTampering => true,
        }
    }

    /// What the kind does to files; `None` for kinds that are about something else, or only read.
    pub fn file_change(self) -> Option<FileChange> {
        match self {
            Self::FileCreate => Some(FileChange::Create),
            Self::FileModify => Some(FileChange::Modify),
            Self::FileDelete => Some(FileChange::Delete),
            Self::PermissionChange => Some(FileChange::Permissions),
            Self::FileRead
            | Self::SecretRead
            | Self::NetworkRequest
            | Self::DataUpload
            | Self::RemoteCodeExecution
            | Self::PackageInstall
            | Self::ProcessSpawn
            | Self::ProcessKill
            | Self::SystemModification
            | Self::PrivilegeEscalation
            | Self::Persistence
            | Self::VcsLocalLoss
            | Self::VcsHistoryRewrite
            | Self::VcsRemoteUpdate
            | Self::InfrastructureChange
            | Self::InfrastructureDestroy
            | Self::DatastoreChange
            | Self::DatastoreDestroy
            | Self::Publish
            | Self::GuardTampering
            | Self::Opaque => None,
        }
    }

    /// The name used on the wire and in configuration, such as `file_delete`.
    pub fn name(self) -> &'static str {
        match self {
            Self::FileRead => "file_read",
            Self::FileCreate => "file_create",
            Self::FileModify => "file_modify",
            Self::FileDelete => "file_delete",
            Self::PermissionChange => "permission_change",
            Self::SecretRead => "secret_read",
            Self::NetworkRequest => "network_request",
            Self::DataUpload => "data_upload",
            Self::RemoteCodeExecution => "remote_code_execution",
            Self::PackageInstall => "package_install",
            Self::ProcessSpawn => "process_spawn",
            Self::ProcessKill => "process_kill",
            Self::SystemModification => "system_modification",
            Self::PrivilegeEscalation => "privilege_escalation",
            Self::Persistence => "persistence",
            Self::VcsLocalLoss => "vcs_local_loss",
            Self::VcsHistoryRewrite => "vcs_history_rewrite",
            Self::VcsRemoteUpdate => "vcs_remote_update",
            Self::InfrastructureChange => "infrastructure_change",
            Self::InfrastructureDestroy => "infrastructure_destroy",
            Self::DatastoreChange => "datastore_change",
            Self::DatastoreDestroy => "datastore_destroy",
            Self::Publish => "publish",
            Self::GuardTampering => "guard_tampering",
            Self::Opaque => "opaque",
        }
    }
}

/// What an effect is aimed at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// One path, canonical through existing symbolic links.
    Path(AbsolutePath),
    /// A pattern of absolute paths: `*` and `?` stay inside one name, `**` crosses names.
    Glob(String),
    /// A host or URL.
    Host(String),
    /// A process, by name, pattern or number.
    Process(String),
    /// A service, job, container, package, database, cloud resource: something with a name of its own.
    Service(String),
    /// A branch, tag, stash or other reference of version control, as written.
    Reference(String),
    /// Not known.
    Unknown,
}

impl Target {
    /// The text used on the wire; `None` when the target is not known.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Path(path) => Some(path.as_str()),
            Self::Glob(text)
            | Self::Host(text)
            | Self::Process(text)
            | Self::Service(text)
            | Self::Reference(text) => Some(text),
            Self::Unknown => None,
        }
    }

    /// The path, when the target is exactly one.
    pub fn path(&self) -> Option<&AbsolutePath> {
        match self {
            Self::Path(path) => Some(path),
            Self::Glob(_)
            | Self::Host(_)
            | Self::Process(_)
            | Self::Service(_)
            | Self::Reference(_)
            | Self::Unknown => None,
        }
    }
}

/// How sure the prediction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// It may happen.
    Possible,
    /// It will happen if the command succeeds.
    Certain,
}

/// Whether an effect reaches what lies below its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Only the target itself.
    Single,
    /// The target and everything below it.
    Recursive,
}

/// What would be lost (design 2), from nothing to what must never be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stake {
    /// Nothing is lost.
    Nothing,
    /// Can be made again by a build, an install or a download; or was made by this session for a moment.
    Regenerable,
    /// Is in a commit or in a snapshot.
    Recoverable,
    /// The only copy.
    Unsaved,
    /// Its loss is a disaster: the home directory, the system, a whole repository, credentials.
    Critical,
}

/// How bad an effect is if it was not wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No harm.
    Low,
    /// Some work to put right.
    Medium,
    /// Much work to put right, or a loss that hurts.
    High,
    /// A disaster.
    Critical,
}

/// Where the other end of a network effect is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// This machine.
    Local,
    /// Reading from a host known for documentation, packages or source code.
    Known,
    /// Anywhere else.
    External,
}

/// One predicted change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Effect {
    /// What sort of change.
    pub kind: EffectKind,
    /// To what.
    pub target: Target,
    /// How sure.
    pub certainty: Certainty,
    /// Whether it reaches below the target.
    pub depth: Depth,
    /// What would be lost.
    pub stake: Stake,
    /// How bad it would be.
    pub severity: Severity,
    /// Whether it can be taken back.
    pub reversible: bool,
    /// For network effects: where the other end is.
    pub reach: Option<Reach>,
    /// What is special about it, as far as anything is decided by it; left out on the wire when nothing is.
    #[serde(default, skip_serializing_if = "Nature::is_ordinary")]
    pub nature: Nature,
    /// Whether what it takes was saved before; left out on the wire when it was not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub saved: bool,
    /// The program or tool that causes it, for people: `git clean`, `rm`, `Write`. Nothing is decided by it.
    pub cause: String,
    /// One clause for people that says what is special about it (`holds 3 files that are in no commit`); empty when nothing is. Nothing is
    /// decided by it.
    pub note: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl Effect {
    /// A certain effect on the target alone that can be taken back, with nothing at stake and nothing special about it.
    pub fn new(kind: EffectKind, target: Target) -> Self {
        Self {
            kind,
            target,
            certainty: Certainty::Certain,
            depth: Depth::Single,
            stake: Stake::Nothing,
            severity: Severity::Low,
            reversible: true,
            reach: None,
            nature: Nature::Ordinary,
            saved: false,
            cause: String::new(),
            note: String::new(),
        }
    }

    /// Whether what the target holds stays, and something is added behind it.
    pub fn only_adds(&self) -> bool {
        self.kind == EffectKind::FileModify
            && matches!(self.nature, Nature::Appended | Nature::AppendedByRedirection)
    }

    /// Whether a secret is read that was come by and not asked for, by what shows nothing of what it holds, or only lines that were
    /// looked for.
    pub fn is_swept_along(&self) -> bool {
        self.kind == EffectKind::SecretRead && self.nature == Nature::SweptAlong
    }

    /// Whether something that runs later may only happen to be among what comes: an archive or a patch whose list is not known may replace
    /// any file of the workspace.
    pub fn is_by_chance(&self) -> bool {
        self.kind == EffectKind::Persistence && self.nature == Nature::ByChance
    }

    /// Whether the target is not lost, but stands elsewhere afterwards.
    pub fn is_moved(&self) -> bool {
        self.kind == EffectKind::FileDelete && self.nature == Nature::Moved
    }
}
