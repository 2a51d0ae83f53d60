//! The words that the command line takes for our own enums.

use crate::commands::audit::ExportForm;
use crate::commands::init::ALL;
use crate::commands::preset::Preset;
use checkrein_clients::CLIENTS;
use checkrein_intervention::RecoveryPolicy;
use checkrein_ledger::EventForm;
use checkrein_policy::{LimitPreset, Profile, VerdictKind};
use checkrein_protocol::Judgement;
#[cfg(target_os = "linux")]
use checkrein_supervise::TestRunner;
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RunProfile {
    Interactive,
    Unattended,
    Strict,
}

impl From<RunProfile> for Profile {
    fn from(name: RunProfile) -> Self {
        match name {
            RunProfile::Interactive => Self::Interactive,
            RunProfile::Unattended => Self::Unattended,
            RunProfile::Strict => Self::Strict,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PresetName {
    Standard,
    Seed,
}

impl From<PresetName> for LimitPreset {
    fn from(name: PresetName) -> Self {
        match name {
            PresetName::Standard => Self::Standard,
            PresetName::Seed => Self::Seed,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum HoldName {
    // The agent itself ends, what it started stays.
    Processes,
    // All ends, by a namespace of processes, or nothing is run.
    Namespace,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RunnerName {
    Pytest,
    Cargo,
    Go,
    Jest,
    Unittest,
    // Any other command.
    Any,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PhaseName {
    Red,
    Green,
}

#[cfg(target_os = "linux")]
impl From<RunnerName> for TestRunner {
    fn from(name: RunnerName) -> Self {
        match name {
            RunnerName::Pytest => Self::Pytest,
            RunnerName::Cargo => Self::Cargo,
            RunnerName::Go => Self::Go,
            RunnerName::Jest => Self::Jest,
            RunnerName::Unittest => Self::Unittest,
            RunnerName::Any => Self::Any,
        }
    }
}

/// The names of clients, for the command line.
pub(crate) fn client_names() -> PossibleValuesParser {
    CLIENTS.iter().map(|adapter| adapter.client.name()).collect::<Vec<_>>().into()
}

/// The same, and a word for all of them.
pub(crate) fn client_names_or_all() -> PossibleValuesParser {
    CLIENTS.iter().map(|adapter| adapter.client.name()).chain([ALL]).collect::<Vec<_>>().into()
}

/// A verdict, in the words of lists; those of settings and JSON are understood too.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum VerdictName {
    Ok,
    #[value(name = "hint", alias = "nudge")]
    Nudge,
    #[value(name = "asked", alias = "escalate")]
    Escalate,
    #[value(name = "stopped", alias = "block")]
    Block,
    #[value(name = "halted", alias = "halt")]
    Halt,
}

impl From<VerdictName> for VerdictKind {
    fn from(name: VerdictName) -> Self {
        match name {
            VerdictName::Ok => Self::Ok,
            VerdictName::Nudge => Self::Nudge,
            VerdictName::Escalate => Self::Escalate,
            VerdictName::Block => Self::Block,
            VerdictName::Halt => Self::Halt,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PolicyName {
    Development,
    Production,
    Testing,
}

impl From<PolicyName> for RecoveryPolicy {
    fn from(name: PolicyName) -> Self {
        match name {
            PolicyName::Development => Self::Development,
            PolicyName::Production => Self::Production,
            PolicyName::Testing => Self::Testing,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum JudgementName {
    // The issue was real.
    Confirmed,
    // The work was fine.
    FalseAlarm,
    // There was one, and it was not detected.
    Missed,
}

impl From<JudgementName> for Judgement {
    fn from(name: JudgementName) -> Self {
        match name {
            JudgementName::Confirmed => Self::Confirmed,
            JudgementName::FalseAlarm => Self::FalseAlarm,
            JudgementName::Missed => Self::Missed,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FormName {
    /// The records as they are
    #[value(alias = "json")]
    Jsonl,
    /// A table of the records
    Csv,
    /// Events in Common Event Format, for a SIEM
    Cef,
    /// Events as OCSF, in JSON Lines
    Ocsf,
}

impl From<FormName> for ExportForm {
    fn from(name: FormName) -> Self {
        match name {
            FormName::Jsonl => Self::JsonLines,
            FormName::Csv => Self::Csv,
            FormName::Cef => Self::Events(EventForm::Cef),
            FormName::Ocsf => Self::Events(EventForm::Ocsf),
        }
    }
}

/// A way of working, as it is typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum WayName {
    /// One person who watches the agent
    Solo,
    /// Everybody who works in a project
    Team,
    /// A machine where nobody is asked
    Ci,
    /// As strict as it goes
    Strict,
}

impl From<WayName> for Preset {
    fn from(name: WayName) -> Self {
        match name {
            WayName::Solo => Self::Solo,
            WayName::Team => Self::Team,
            WayName::Ci => Self::Ci,
            WayName::Strict => Self::Strict,
        }
    }
}
