//! The kinds of effect, and what is true of every effect of a kind: one row each.

use serde::{Deserialize, Serialize};

use crate::levels::Severity;

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

/// What the targets of a kind are when they are no paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Files: there is nothing else.
    Files,
    /// A host or URL.
    Host,
    /// A process, by name, pattern or number.
    Process,
    /// A branch, tag or other reference of version control.
    Reference,
    /// Something else with a name of its own.
    Service,
}

/// What files may be different after an effect of a kind that is aimed at no file, or at more than one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Footprint {
    /// None that the prediction does not name otherwise.
    None,
    /// Some may be changed or made.
    Changes,
    /// Some may be gone.
    Removes,
}

/// What is true of a kind; the columns of the table.
struct Facts {
    name: &'static str,
    verb: &'static str,
    aim: Aim,
    usual_severity: Severity,
    is_mutating: bool,
    file_change: Option<FileChange>,
    footprint: Footprint,
    can_be_contained: bool,
    can_be_taken_back: bool,
}

/// Declares the kinds from their rows.
macro_rules! kinds {
    ($($(#[$documentation:meta])* $kind:ident $name:literal, $verb:literal, $aim:ident, $severity:ident, $mutating:ident, $change:ident, $footprint:ident, $containment:ident, $return:ident;)*) => {
        /// The kinds of effect (design 4).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum EffectKind {
            $($(#[$documentation])* $kind,)*
        }

        impl EffectKind {
            /// All kinds, in the order of their declaration.
            pub const ALL: [Self; [$(Self::$kind),*].len()] = [$(Self::$kind),*];

            const fn facts(self) -> Facts {
                match self {
                    $(Self::$kind => Facts {
                        name: $name,
                        verb: $verb,
                        aim: Aim::$aim,
                        usual_severity: Severity::$severity,
                        is_mutating: kinds!(@flag $mutating),
                        file_change: kinds!(@change $change),
                        footprint: Footprint::$footprint,
                        can_be_contained: kinds!(@flag $containment),
                        can_be_taken_back: kinds!(@flag $return),
                    },)*
                }
            }
        }
    };
    (@flag yes) => { true };
    (@flag no) => { false };
    (@change none) => { None };
    (@change $change:ident) => { Some(FileChange::$change) };
}

kinds! {
    // name                                         verb, before the target             aim        severity  mutates  files        footprint  contained  back
    /// Reads a file.
    FileRead "file_read",                           "reads",                            Files,     Low,      no,      none,        None,      yes,       yes;
    /// Makes a file or directory that was not there.
    FileCreate "file_create",                       "creates",                          Files,     Low,      yes,     Create,      Changes,   yes,       yes;
    /// Changes what a file holds; what it held is lost.
    FileModify "file_modify",                       "overwrites or changes",            Files,     Low,      yes,     Modify,      Changes,   yes,       yes;
    /// Removes a file or directory.
    FileDelete "file_delete",                       "deletes",                          Files,     Low,      yes,     Delete,      Removes,   yes,       yes;
    /// Changes mode, owner or attributes.
    PermissionChange "permission_change",           "changes the permissions of",       Files,     Low,      yes,     Permissions, Changes,   yes,       yes;
    /// Reads a credential.
    SecretRead "secret_read",                       "reads the secret",                 Files,     High,     no,      none,        None,      yes,       no;
    /// Talks to a host.
    NetworkRequest "network_request",               "contacts",                         Host,      Medium,   no,      none,        None,      yes,       yes;
    /// Sends local data to a host.
    DataUpload "data_upload",                       "sends data to",                    Host,      High,     yes,     none,        None,      yes,       no;
    /// Runs code that comes from elsewhere.
    RemoteCodeExecution "remote_code_execution",    "runs code from",                   Host,      High,     yes,     none,        None,      no,        no;
    /// Installs software.
    PackageInstall "package_install",               "installs",                         Service,   Medium,   yes,     none,        Changes,   no,        yes;
    /// Starts a process that outlives the command, or a program worth naming.
    ProcessSpawn "process_spawn",                   "starts",                           Process,   Low,      no,      none,        None,      yes,       yes;
    /// Ends processes.
    ProcessKill "process_kill",                     "ends the process",                 Process,   Medium,   yes,     none,        None,      no,        no;
    /// Changes the machine: services, kernel, users, disks, firewall.
    SystemModification "system_modification",       "changes the system:",              Service,   High,     yes,     none,        Changes,   no,        no;
    /// Runs with more rights than the agent has.
    PrivilegeEscalation "privilege_escalation",     "gets elevated permissions:",               Service,   Medium,   yes,     none,        None,      no,        no;
    /// Makes something run later by itself: shell start-up files, cron, git hooks, ssh keys, units.
    Persistence "persistence",                      "makes code run later through",     Files,     High,     yes,     none,        Changes,   no,        yes;
    /// Loses work that version control would have kept or that it never held.
    VcsLocalLoss "vcs_local_loss",                  "loses local work in",              Reference, Low,      yes,     none,        Removes,   yes,       yes;
    /// Rewrites shared history.
    VcsHistoryRewrite "vcs_history_rewrite",        "rewrites the history of",          Reference, High,     yes,     none,        Removes,   yes,       no;
    /// Changes a remote repository.
    VcsRemoteUpdate "vcs_remote_update",            "updates the remote",               Reference, Medium,   yes,     none,        None,      yes,       no;
    /// Changes infrastructure.
    InfrastructureChange "infrastructure_change",   "changes the infrastructure:",      Service,   Medium,   yes,     none,        Changes,   yes,       yes;
    /// Destroys infrastructure.
    InfrastructureDestroy "infrastructure_destroy", "destroys infrastructure:",         Service,   High,     yes,     none,        Removes,   yes,       no;
    /// Changes data in a store.
    DatastoreChange "datastore_change",             "changes data in",                  Service,   Medium,   yes,     none,        Changes,   yes,       yes;
    /// Destroys data in a store.
    DatastoreDestroy "datastore_destroy",           "destroys data in",                 Service,   Low,      yes,     none,        Removes,   yes,       yes;
    /// Makes something public: packages, releases, posts.
    Publish "publish",                              "publishes",                        Service,   High,     yes,     none,        None,      yes,       no;
    /// Touches the guard itself.
    GuardTampering "guard_tampering",               "changes Checkrein itself:",          Files,     Critical, yes,     none,        Removes,   no,        no;
    /// Cannot be understood.
    Opaque "opaque",                                "runs what cannot be read beforehand:",            Service,   Medium,   no,      none,        None,      yes,       no;
}

impl EffectKind {
    /// The name used on the wire and in configuration, such as `file_delete`.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// What such an effect does, in words that stand before its target: `deletes`, `changes the system:`.
    pub fn verb(self) -> &'static str {
        self.facts().verb
    }

    /// What its targets are when they are no paths.
    pub fn aim(self) -> Aim {
        self.facts().aim
    }

    /// How bad such an effect is when nothing special is known about it and nothing is lost.
    pub fn usual_severity(self) -> Severity {
        self.facts().usual_severity
    }

    /// Whether the effect changes something, as opposed to looking or asking.
    pub fn is_mutating(self) -> bool {
        self.facts().is_mutating
    }

    /// What the kind does to files; `None` for kinds that are about something else, or only read.
    pub fn file_change(self) -> Option<FileChange> {
        self.facts().file_change
    }

    /// Whether it makes, changes or deletes a file or a tree: what `limits.file_operations` counts.
    pub fn is_file_operation(self) -> bool {
        matches!(self, Self::FileCreate | Self::FileModify | Self::FileDelete)
    }

    /// What files may be different afterwards, by the kind alone.
    pub fn footprint(self) -> Footprint {
        self.facts().footprint
    }

    /// Whether it still happens as predicted when it happens within bounds: no kind that changes what lies elsewhere, or reaches other
    /// processes.
    pub fn can_be_contained(self) -> bool {
        self.facts().can_be_contained
    }

    /// Whether such an effect can be taken back when nothing is lost by it.
    pub fn can_be_taken_back(self) -> bool {
        self.facts().can_be_taken_back
    }
}
