//! Sites: what an effect beyond this machine acts on, by the name that it has there.

use serde::{Deserialize, Serialize};

/// What sort of site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteKind {
    /// A context of Kubernetes: a cluster and who one is there.
    KubeContext,
    /// A workspace of Terraform, a stack of Pulumi, a stage of Serverless.
    Workspace,
    /// The host of a database, or its name.
    Database,
    /// A machine.
    Host,
    /// A profile, project, account or subscription of a cloud.
    CloudProfile,
    /// A branch of a remote repository, as `REMOTE/BRANCH`.
    Branch,
}

impl SiteKind {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 6] =
        [Self::KubeContext, Self::Workspace, Self::Database, Self::Host, Self::CloudProfile, Self::Branch];

    /// What it is called by people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::KubeContext => "kube context",
            Self::Workspace => "workspace",
            Self::Database => "database",
            Self::Host => "host",
            Self::CloudProfile => "cloud profile",
            Self::Branch => "branch",
        }
    }
}

/// One name of what an effect acts on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EffectSite {
    /// What sort of site it is.
    pub kind: SiteKind,
    /// Its name; `None` where one is given and not known beforehand.
    pub name: Option<String>,
}

impl EffectSite {
    /// A site whose name is known.
    pub fn named(kind: SiteKind, name: impl Into<String>) -> Self {
        Self { kind, name: Some(name.into()) }
    }
}
