//! The command line of plugins.

use checkrein_protocol::PluginKind;
use clap::{Subcommand, ValueEnum};

#[cfg(target_os = "linux")]
use crate::commands::plugin::PluginLanguage;

/// What to do with plugins.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// Write a plugin to begin with, and a test of it
    #[command(
        after_help = "Makes the folder NAME here. The plugin works as it is.\n\nExamples:\n  checkrein plugin init todo-watch\n  checkrein plugin init to-fluent --language rust --kind exporter"
    )]
    Init {
        /// Name: small letters, digits and hyphens
        name: String,
        /// Language
        #[arg(long, value_enum, default_value = "python")]
        language: LanguageName,
        /// What it is for; repeatable [default: patterns]
        #[arg(long, value_enum)]
        kind: Vec<KindName>,
    },
    /// Try a plugin: on recorded sessions, and by its own tests
    #[command(
        after_help = "Runs in the sandbox, without a network. Its own tests are the lines of tests/*.jsonl in its folder: {\"test\": \"NAME\", \"ask\": {...}, \"answer\": {...}}. An answer may hold more than is expected.\n\nExit status: 0 nothing failed, 1 a test failed.\n\nExamples:\n  checkrein plugin test ./todo-watch\n  checkrein plugin test todo-watch --json"
    )]
    Test {
        /// Folder of the plugin, or the name of an installed one
        plugin: String,
    },
    /// List the installed plugins: whether they run, how long, and how they failed last
    #[command(after_help = "Example:\n  checkrein plugin list")]
    List,
    /// Have a plugin run after each call (humans only)
    #[command(
        after_help = "Shows what it may do, and asks. A folder is copied to ~/.config/checkrein/plugins first. Once a file of it changes it runs no more, until you enable it again.\n\nExamples:\n  checkrein plugin enable ./todo-watch\n  checkrein plugin enable todo-watch --yes"
    )]
    Enable {
        /// Folder of the plugin, or the name of an installed one
        plugin: String,
        /// Enable without asking
        #[arg(long)]
        yes: bool,
    },
    /// Have a plugin run no more (humans only)
    #[command(
        after_help = "What it said about sessions counts no more.\n\nExample:\n  checkrein plugin disable todo-watch"
    )]
    Disable {
        /// Name of the plugin
        name: String,
    },
    /// Have the enabled plugins look at what is new
    #[command(
        after_help = "The hook starts this after each call and does not wait for it.\n\nExamples:\n  checkrein plugin run\n  checkrein plugin run --session 4f3c9a"
    )]
    Run {
        /// Name of the session, whole [default: all of them]
        #[arg(long, value_name = "NAME")]
        session: Option<String>,
    },
}

/// In what a plugin is written.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LanguageName {
    // Python 3, without packages
    Python,
    // Rust, with serde_json
    Rust,
}

#[cfg(target_os = "linux")]
impl From<LanguageName> for PluginLanguage {
    fn from(name: LanguageName) -> Self {
        match name {
            LanguageName::Python => Self::Python,
            LanguageName::Rust => Self::Rust,
        }
    }
}

/// What a plugin is for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum KindName {
    // Finds issues in the last actions
    Patterns,
    // Words interventions, and makes them stronger
    Interventions,
    // Raises the risk of calls
    Risk,
    // Takes records elsewhere
    Exporter,
    // Tells people of questions and stops
    Approvals,
}

impl From<KindName> for PluginKind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Patterns => Self::Patterns,
            KindName::Interventions => Self::Interventions,
            KindName::Risk => Self::Risk,
            KindName::Exporter => Self::Exporter,
            KindName::Approvals => Self::Approvals,
        }
    }
}
