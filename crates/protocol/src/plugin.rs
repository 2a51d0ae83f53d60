//! Plugins: what a manifest says, and the lines that are spoken with the process of a plugin.
//!
//! A plugin writes one line when it begins, its [`PluginGreeting`]. Then each line that it reads is a [`PluginRequest`], and each line that it
//! writes answers one, by its number. All lines are JSON objects.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::effect::Effect;
use crate::intervention::InterventionKind;
use crate::issue::{ActionNumber, Issue, PatternKind, Share};
use crate::levels::Severity;
use crate::time::Timestamp;
use crate::verdict::VerdictKind;

/// The version of the protocol.
pub const PLUGIN_PROTOCOL: u32 = 1;

/// The event of what a plugin said about a session.
pub const PLUGIN_EVENT: &str = "checkrein.plugin";

/// What a plugin can be for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginKind {
    /// It finds issues in the last actions of a session.
    Patterns,
    /// It words interventions, and makes them stronger.
    Interventions,
    /// It raises the risk of the calls that come.
    Risk,
    /// It takes records elsewhere.
    Exporter,
    /// It tells people of questions and stops.
    Approvals,
}

impl PluginKind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Patterns, Self::Interventions, Self::Risk, Self::Exporter, Self::Approvals];

    /// The name on the wire, such as `patterns`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Patterns => "patterns",
            Self::Interventions => "interventions",
            Self::Risk => "risk",
            Self::Exporter => "exporter",
            Self::Approvals => "approvals",
        }
    }

    /// The kind of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What `plugin.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginManifest {
    /// Its name: small letters, digits and hyphens.
    pub name: String,
    /// What it does, in one sentence.
    #[serde(default)]
    pub summary: String,
    /// The program and its arguments. A program with a slash in it lies in the folder of the plugin, another one is looked for in `PATH`.
    pub command: Vec<String>,
    /// What it is for.
    pub kinds: Vec<PluginKind>,
    /// Whom it talks to: `loopback`, `open`, or `HOST:PORT`; nobody when empty.
    #[serde(default)]
    pub network: Vec<String>,
    /// Memory of all its processes together, in megabytes.
    #[serde(default = "usual_memory")]
    pub memory_mb: u64,
    /// How long one of its runs may take, in seconds.
    #[serde(default = "usual_seconds")]
    pub seconds: u64,
}

fn usual_memory() -> u64 {
    PluginManifest::MEMORY_MB
}

fn usual_seconds() -> u64 {
    PluginManifest::SECONDS
}

impl PluginManifest {
    /// The name of its file.
    pub const FILE: &'static str = "plugin.json";
    /// The memory of one that names none, in megabytes (ours).
    pub const MEMORY_MB: u64 = 256;
    /// The most memory that one may have, in megabytes (ours).
    pub const MOST_MEMORY_MB: u64 = 4096;
    /// How long a run takes at most where no time is named, in seconds (ours).
    pub const SECONDS: u64 = 10;
    /// The longest that a run may take, in seconds (ours).
    pub const MOST_SECONDS: u64 = 60;
    /// The longest name, in characters (ours).
    pub const LONGEST_NAME: usize = 40;

    /// Whether a text is a name for a plugin.
    pub fn is_name(text: &str) -> bool {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        text.len() <= Self::LONGEST_NAME
            && text.bytes().all(is_letter)
            && text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
            && !text.ends_with('-')
    }
}

/// The first line of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginGreeting {
    /// The version of the protocol that it speaks.
    pub protocol: u32,
    /// Its name, as in its manifest.
    pub name: String,
    /// What it is for, as in its manifest.
    pub kinds: Vec<PluginKind>,
}

/// A line that a plugin reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PluginRequest {
    /// The number of the request, from 1; the answer repeats it.
    pub id: u64,
    /// What is asked.
    #[serde(flatten)]
    pub question: PluginQuestion,
}

/// What a plugin is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PluginQuestion {
    /// Which issues stand.
    Patterns {
        /// The session, by the name of its folder.
        session: String,
        /// The last actions, oldest first.
        actions: Vec<PluginAction>,
    },
    /// How an issue is to be answered.
    Interventions {
        /// The session.
        session: String,
        /// The issue.
        issue: Box<Issue>,
        /// What was done about it so far, by its name; `null` when nothing was.
        rung: Option<InterventionKind>,
    },
    /// Which calls are riskier than they look.
    Risk {
        /// The session.
        session: String,
        /// The last actions, oldest first.
        actions: Vec<PluginAction>,
    },
    /// To take records elsewhere.
    Exporter {
        /// The session.
        session: String,
        /// The records as they stand in the ledger, oldest first; secrets are masked already.
        records: Vec<Json>,
    },
    /// To tell a person.
    Approvals {
        /// The notice: `event`, `title`, `text`, and more as for a webhook. A question brings a link in its text.
        notice: Json,
    },
}

impl PluginQuestion {
    /// The kind of plugin that it is for.
    pub fn kind(&self) -> PluginKind {
        match self {
            Self::Patterns { .. } => PluginKind::Patterns,
            Self::Interventions { .. } => PluginKind::Interventions,
            Self::Risk { .. } => PluginKind::Risk,
            Self::Exporter { .. } => PluginKind::Exporter,
            Self::Approvals { .. } => PluginKind::Approvals,
        }
    }
}

/// An action, as a plugin sees it. Texts are masked as in the records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PluginAction {
    /// Its number in the session, from 1.
    pub number: ActionNumber,
    /// When it was reviewed, in milliseconds since 1970.
    pub at: Timestamp,
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Json,
    /// Where it ran.
    pub cwd: String,
    /// The programs that it runs, the first few.
    pub programs: Vec<String>,
    /// The predicted effects.
    pub effects: Vec<Effect>,
    /// What was done about it.
    pub verdict: VerdictKind,
    /// Its risk, from 0 to 1.
    pub risk: f64,
    /// Whether it failed; `null` while no end is told.
    pub failed: Option<bool>,
    /// What it says about its failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a plugin of patterns answers: the issues that stand. What it names no more has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternsAnswer {
    /// The issues.
    pub issues: Vec<PluginIssue>,
}

/// An issue that a plugin found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginIssue {
    /// What it is called: small letters, digits and `_`.
    pub kind: String,
    /// How grave it is.
    pub severity: Severity,
    /// What was seen, in one clause.
    pub summary: String,
    /// What to do instead, in one clause.
    pub advice: String,
    /// The actions that it rests on.
    #[serde(default)]
    pub actions: Vec<ActionNumber>,
}

/// What a plugin of interventions answers; an empty object leaves all as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterventionsAnswer {
    /// What the agent reads besides.
    #[serde(default)]
    pub words: Option<String>,
    /// The mildest rung that is taken; a milder one than Checkrein takes counts for nothing.
    #[serde(default)]
    pub rung: Option<InterventionKind>,
}

/// What a risk calculator answers: the factors that count. What it names no more counts no more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactorsAnswer {
    /// The factors.
    pub factors: Vec<PluginFactor>,
}

/// A factor that raises the risk of calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginFactor {
    /// What it adds, from 0 to 1.
    pub amount: Share,
    /// Why, in one clause.
    pub reason: String,
    /// The programs of the calls that it is about; all calls when empty.
    #[serde(default)]
    pub programs: Vec<String>,
}

/// What an exporter answers once the records are where they belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExporterAnswer {
    /// The number of the last record that was taken; those after it come again.
    pub taken: u64,
}

/// What a plugin of approvals answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalsAnswer {
    /// Whether a person was told.
    pub told: bool,
}

/// What a plugin said about a session, as written: the fields of a [`PLUGIN_EVENT`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case")]
pub enum PluginSaying {
    /// These issues stand.
    Issues {
        /// The plugin.
        plugin: String,
        /// The issues, in the place of its earlier ones.
        issues: Vec<PluginIssue>,
    },
    /// An issue is to be answered so.
    Intervention {
        /// The plugin.
        plugin: String,
        /// The pattern of the issue.
        pattern: PatternKind,
        /// What the agent reads besides.
        words: Option<String>,
        /// The mildest rung.
        rung: Option<InterventionKind>,
    },
    /// These factors count.
    Factors {
        /// The plugin.
        plugin: String,
        /// The factors, in the place of its earlier ones.
        factors: Vec<PluginFactor>,
    },
    /// A user disabled it: what it said counts no more.
    Disabled {
        /// The plugin.
        plugin: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_words() {
        for (text, is_name) in [
            ("todo-watch", true),
            ("a", true),
            ("x2", true),
            ("", false),
            ("-x", false),
            ("x-", false),
            ("2x", false),
            ("X", false),
            ("a/b", false),
            ("..", false),
        ] {
            assert_eq!(PluginManifest::is_name(text), is_name, "{text}");
        }
        assert!(!PluginManifest::is_name(&"x".repeat(41)));
    }

    #[test]
    fn kinds_have_one_name_everywhere() {
        for kind in PluginKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(PluginKind::of_name(kind.name()), Some(kind));
        }
        assert_eq!(PluginKind::of_name("gates"), None);
    }

    #[test]
    fn a_request_is_one_flat_object_and_a_manifest_takes_no_unknown_key() {
        let question = PluginQuestion::Approvals { notice: serde_json::json!({ "title": "t" }) };
        let request = serde_json::to_value(PluginRequest { id: 3, question }).unwrap();
        assert_eq!(request, serde_json::json!({ "id": 3, "kind": "approvals", "notice": { "title": "t" } }));
        let read = |text: &str| serde_json::from_str::<PluginManifest>(text);
        let manifest = read(r#"{"name":"x","command":["./x"],"kinds":["risk"]}"#).unwrap();
        assert_eq!((manifest.memory_mb, manifest.seconds), (256, 10));
        assert!(read(r#"{"name":"x","command":["./x"],"kinds":["risk"],"allow":true}"#).is_err());
    }
}
