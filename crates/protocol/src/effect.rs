//! Effects: what an action would change, each with what is known about it.

use serde::{Deserialize, Serialize};

use crate::effect_kind::EffectKind;
use crate::levels::Severity;
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::site::EffectSite;

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

/// Where the other end of a network effect is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkReach {
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
    pub reach: Option<NetworkReach>,
    /// What is special about it, as far as anything is decided by it; left out on the wire when nothing is.
    #[serde(default, skip_serializing_if = "Nature::is_ordinary")]
    pub nature: Nature,
    /// Whether what it takes was saved before; left out on the wire when it was not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub saved: bool,
    /// What beyond this machine it acts on, by the names that these have there; left out on the wire when none is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<EffectSite>,
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
            sites: Vec::new(),
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

    /// Whether a secret is read of which nothing is shown: it was come by, or it is masked.
    pub fn is_read_unseen(&self) -> bool {
        self.is_swept_along() || self.kind == EffectKind::SecretRead && self.nature == Nature::Masked
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
