//! The settings as typed values, with their built-in values as `Default`.
//!
//! What a setting does, its bounds and which direction is stricter stands in one place: `keys.rs`.

use super::choice::{
    ApprovalWait, Approve, BuiltinRules, ContainedCommands, ContainedNetwork, ExportFormat, LimitPreset,
    LogLevel, Mode, Profile, ReviewMode, Sensitivity, StrategyType, Strength, Sync, TelemetryEvents,
    TwoStrikes,
};
use super::thresholds::PatternThresholds;
use crate::governance::{GovernanceSettings, Tripwire};
use crate::rule::CustomRule;

/// The effective configuration. [`Config::default`] is the built-in layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// What is done with verdicts.
    pub mode: Mode,
    /// How much an agent may do before someone is asked.
    pub profile: Profile,
    /// Goals that hold in every session.
    pub goals: Vec<String>,
    /// Where mutations are expected.
    pub scope: ScopeSettings,
    /// Places elsewhere that the user calls their own.
    pub owned: OwnedSettings,
    /// What users depend on, for which a change record is wanted.
    pub production: ProductionSettings,
    /// The step reviewer.
    pub step_reviewer: StepReviewer,
    /// Tiers, trust, contracts and tripwires.
    pub governance: GovernanceSettings,
    /// Limits of one session.
    pub limits: SessionLimits,
    /// Detectors of behaviour patterns.
    pub patterns: Patterns,
    /// Interventions.
    pub interventions: Interventions,
    /// How people are told.
    pub notifications: Notifications,
    /// Questions that wait for an answer from outside the client.
    pub approvals: Approvals,
    /// Saving files before they are lost.
    pub snapshots: Snapshots,
    /// Running within bounds what cannot be understood.
    pub containment: Containment,
    /// The ledger.
    pub audit: Audit,
    /// The server of this machine.
    pub server: ServerSettings,
    /// A process that stays and answers hooks.
    pub engine: EngineSettings,
    /// What is told beside the records.
    pub telemetry: Telemetry,
    /// What the model reads of what tools answer.
    pub output: OutputSettings,
    /// Gates over what a session changed.
    pub gates: GateSettings,
}

/// Questions that wait for an answer from outside the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approvals {
    /// Which of them wait.
    pub wait: ApprovalWait,
    /// For how long, in seconds.
    pub wait_seconds: u64,
}

/// Gates over what a session changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GateSettings {
    /// Those that look when the agent ends its turn.
    pub at_turn_end: Vec<String>,
    /// Those that look before a push.
    pub before_push: Vec<String>,
}

impl GateSettings {
    /// The gates that need nothing but the changes.
    pub const AT_TURN_END: &'static [&'static str] = &["completeness", "secrets", "phantoms", "licences"];
}

/// What the model reads of what tools answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputSettings {
    /// Whether secrets in it are masked, where that is possible.
    pub mask_secrets: bool,
}

/// Saving files before they are lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snapshots {
    /// Whether files are saved at all.
    pub enabled: bool,
    /// How many files, links and directories are saved before one action.
    pub max_files: u64,
    /// How much content is saved before one action, in megabytes.
    pub max_megabytes: u64,
    /// How long saving may keep one action waiting, in milliseconds.
    pub max_ms: u64,
    /// What is let through without the client asking anybody, because it can be taken back.
    pub approve: Approve,
    /// Whether the workspace is saved when a session starts.
    pub session_start: bool,
    /// After how many minutes the workspace is saved again.
    pub interval_minutes: u64,
    /// The greatest file that is saved with the workspace, in megabytes.
    pub largest_file_megabytes: u64,
    /// How long snapshots are kept, in days.
    pub retention_days: u64,
    /// How many snapshots of a workspace are kept.
    pub retention_count: u64,
    /// How much the snapshots of a workspace may take on the disk, in megabytes.
    pub retention_megabytes: u64,
    /// Whether what is saved is encrypted.
    pub encrypt: bool,
}

/// Running within bounds what cannot be understood.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Containment {
    /// Which commands; see [`Config::contained_commands`].
    pub commands: Option<ContainedCommands>,
    /// What they may talk to; see [`Config::contained_network`].
    pub network: Option<ContainedNetwork>,
}

/// Where mutations are expected.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScopeSettings {
    /// Patterns of paths, relative to the workspace or absolute; empty: the whole workspace.
    pub paths: Vec<String>,
    /// Patterns of the only files of the workspace that may be changed; empty: all of them.
    pub only: Vec<String>,
}

/// What users depend on, by patterns of names: `*` stands for any text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProductionSettings {
    /// Whether every change of infrastructure, data stores and releases counts, whatever its name.
    pub always: bool,
    /// Contexts of Kubernetes.
    pub kube_contexts: Vec<String>,
    /// Workspaces of Terraform, stacks and stages of other tools.
    pub workspaces: Vec<String>,
    /// Hosts and names of databases.
    pub databases: Vec<String>,
    /// Machines.
    pub hosts: Vec<String>,
    /// Profiles, projects, accounts and subscriptions of clouds.
    pub cloud_profiles: Vec<String>,
    /// Branches from which is deployed, as `REMOTE/BRANCH` or `BRANCH`.
    pub branches: Vec<String>,
}

/// Places elsewhere that the user calls their own: what goes there is not disclosed to others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnedSettings {
    /// Hosts, such as `api.example.com` or `*.example.com`.
    pub hosts: Vec<String>,
    /// Owners of repositories and repositories, such as `github.com/acme`.
    pub remotes: Vec<String>,
    /// Registries of packages and images, such as `npm.example.com`.
    pub registries: Vec<String>,
    /// Buckets, such as `s3://acme-assets`.
    pub buckets: Vec<String>,
}

/// The step reviewer (seed 002).
#[derive(Debug, Clone, PartialEq)]
pub struct StepReviewer {
    /// Whether actions are reviewed at all.
    pub enabled: bool,
    /// Whether an action waits for its review.
    pub mode: ReviewMode,
    /// Where the risk levels begin.
    pub risk: RiskThresholds,
    /// Where the rationality levels begin.
    pub rationality: RationalityThresholds,
    /// Which rules apply.
    pub rules: RuleSettings,
    /// The review cache.
    pub cache: Cache,
    /// Time limits.
    pub performance: Performance,
}

/// Where the risk levels begin, each 0 to 1 and not below the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskThresholds {
    /// Below it, a review may be asynchronous.
    pub low_threshold: f64,
    /// From here on risk is medium.
    pub medium_threshold: f64,
    /// From here on risk is high.
    pub high_threshold: f64,
    /// From here on risk is critical.
    pub critical_threshold: f64,
}

/// Where the rationality levels begin, each 0 to 1 and not above the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RationalityThresholds {
    /// From here on rationality is high.
    pub high_threshold: f64,
    /// From here on rationality is medium.
    pub medium_threshold: f64,
    /// Below it an action makes no sense.
    pub low_threshold: f64,
}

/// Which rules apply.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleSettings {
    /// Which built-in rules.
    pub builtin: BuiltinRules,
    /// Names of rules that do not apply.
    pub disabled: Vec<String>,
    /// What single built-in rules overlook, each as [`crate::Exemption`] reads it.
    pub exempt: Vec<String>,
    /// Own rules.
    pub custom: Vec<CustomRule>,
    /// A file with more own rules.
    pub custom_rules_path: Option<String>,
}

/// The review cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cache {
    /// Whether reviews are kept for equal actions in an equal context.
    pub enabled: bool,
    /// How long, in minutes.
    pub ttl_minutes: u64,
    /// How many.
    pub max_size: u64,
}

/// Time limits of the reviewer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Performance {
    /// How long one review may take, in milliseconds.
    pub max_review_time_ms: u64,
    /// Below this risk a review may be asynchronous, 0 to 1.
    pub async_threshold: f64,
}

/// Limits of one session. `None` means what the profile and the preset say: see [`Config::file_operation_limit`] and its neighbours. Zero is
/// no limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionLimits {
    /// What holds where the others are not set.
    pub preset: LimitPreset,
    /// File operations.
    pub file_operations: Option<u64>,
    /// Memory, in megabytes.
    pub memory_mb: Option<u64>,
    /// Time of one supervised run, in seconds.
    pub execution_seconds: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Money, in US dollars.
    pub dollars: Option<f64>,
}

/// Detectors of behaviour patterns (seed 001).
#[derive(Debug, Clone, PartialEq)]
pub struct Patterns {
    /// The names of the detectors that run, or `all`.
    pub enabled_patterns: Vec<String>,
    /// Own patterns.
    pub custom_patterns: Vec<Tripwire>,
    /// Own patterns of cascades, each as [`crate::CascadePattern`] reads it.
    pub cascade_patterns: Vec<String>,
    /// How easily a pattern is seen.
    pub sensitivity: Sensitivity,
    /// Detections that are less sure are left out, 0 to 1.
    pub least_confidence: f64,
    /// When each of them sees something.
    pub thresholds: PatternThresholds,
}

/// Interventions (seeds 000 and 001).
#[derive(Debug, Clone, PartialEq)]
pub struct Interventions {
    /// Whether anything is done about issues.
    pub enabled: bool,
    /// How many interventions one session may see.
    pub max_interventions_per_execution: u64,
    /// Seconds between two interventions.
    pub intervention_cooldown_seconds: u64,
    /// Whether the agent may be stopped.
    pub hard_stop: bool,
    /// Whether a rollback happens without a user.
    pub auto_rollback: bool,
    /// How often one kind is tried.
    pub max_retries: u64,
    /// A hint to the agent.
    pub soft_correction: SoftCorrection,
    /// Goals and constraints said again.
    pub context_reinforcement: ContextReinforcement,
    /// Smaller limits.
    pub resource_throttling: ResourceThrottling,
    /// Back to a snapshot.
    pub checkpoint_rollback: CheckpointRollback,
    /// The end of the session.
    pub emergency_stop: EmergencyStop,
    /// What happens at the second strike.
    pub two_strikes: Strikes,
    /// How an intervention is picked.
    pub strategy: Strategy,
}

/// What happens when the same approach goes on failing after the agent was told (seed 004), for each detector that strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Strikes {
    /// Tests that come out the same. `None` means what the profile says: see [`Config::stagnation_strikes`].
    pub stagnation: Option<TwoStrikes>,
}

/// A hint to the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftCorrection {
    /// Whether it is used.
    pub enabled: bool,
    /// How often it is tried before something stronger is.
    pub max_attempts: u64,
    /// A file with own messages.
    pub custom_prompts_path: Option<String>,
}

/// Goals and constraints said again.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextReinforcement {
    /// Whether it is used.
    pub enabled: bool,
    /// How much is repeated.
    pub reinforcement_strength: Strength,
    /// Whether examples are added.
    pub include_examples: bool,
}

/// Smaller limits.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceThrottling {
    /// Whether it is used.
    pub enabled: bool,
    /// What limits are multiplied with.
    pub reduction_factors: ReductionFactors,
    /// The longest pause in the work over which growth is measured, in seconds.
    pub metrics_window_seconds: u64,
}

/// What limits are multiplied with, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReductionFactors {
    /// Growth above 1.2.
    pub moderate: f64,
    /// Growth above 2.
    pub aggressive: f64,
    /// A severe spiral.
    pub severe: f64,
}

/// Back to a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointRollback {
    /// Whether it is used.
    pub enabled: bool,
    /// How many snapshots back it may go.
    pub max_rollback_depth: u64,
    /// How many minutes before the trouble a snapshot of the workspace may have been taken.
    pub checkpoint_retention_minutes: u64,
    /// What makes a snapshot safe to return to.
    pub safe_checkpoint_criteria: SafeCheckpointCriteria,
}

/// What makes a snapshot safe to return to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SafeCheckpointCriteria {
    /// The share of actions before it that succeeded, 0 to 1.
    pub min_success_rate: f64,
    /// Seconds without an error before it.
    pub no_errors_duration_seconds: u64,
}

/// The end of the session.
#[derive(Debug, Clone, PartialEq)]
pub struct EmergencyStop {
    /// Whether it is used.
    pub enabled: bool,
    /// Whether what the session left is removed.
    pub auto_cleanup: bool,
    /// Who is told.
    pub notification_channels: Vec<String>,
    /// How long incidents are kept, in days.
    pub preserve_incident_data_days: u64,
    /// How many incidents are kept.
    pub preserve_incidents: u64,
}

/// How an intervention is picked.
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {
    /// By what.
    pub kind: StrategyType,
    /// From here on an intervention counts as effective, 0 to 1.
    pub effectiveness_threshold: f64,
    /// Seconds before something stronger is tried.
    pub escalation_delay_seconds: u64,
}

/// How people are told; which ways are used is in [`EmergencyStop::notification_channels`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notifications {
    /// Whether they are told of questions too.
    pub questions: bool,
    /// What is run.
    pub command: Option<String>,
    /// Where JSON is posted to.
    pub webhook: Option<String>,
    /// The incoming webhook of Slack.
    pub slack: Option<String>,
    /// The mail server, as an address.
    pub smtp: Option<String>,
    /// Who signs in there.
    pub smtp_user: Option<String>,
    /// The sender of mail.
    pub mail_from: Option<String>,
    /// The receiver of mail.
    pub mail_to: Option<String>,
}

/// The server of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerSettings {
    /// Where people reach it from elsewhere, as `https://HOST`.
    pub public_address: Option<String>,
}

/// A process that stays and answers hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EngineSettings {
    /// Whether one may.
    pub resident: bool,
}

/// What is told beside the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telemetry {
    /// Whether anything is.
    pub enabled: bool,
    /// Which events are written into the event log.
    pub events: TelemetryEvents,
    /// Where the event log is; `None`: in the state directory.
    pub folder: Option<String>,
    /// The address of a collector of OpenTelemetry.
    pub otlp_endpoint: Option<String>,
}

/// The ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// Whether actions are recorded.
    pub enabled: bool,
    /// How long records are kept, in days.
    pub retention_days: u64,
    /// Whether records, reports on stops, lessons, questions, allowed calls and notices are sealed.
    pub encrypt: bool,
    /// A file outside the state directory to which the heads of ledgers are appended.
    pub anchor: Option<String>,
    /// What is masked before anything is written.
    pub mask: Mask,
    /// When a record is forced to the disk.
    pub sync: Sync,
    /// How much is written to the diagnostic log.
    pub log_level: LogLevel,
    /// The form of an export.
    pub export_format: ExportFormat,
    /// Where records are taken while sessions go on.
    pub export: AuditExport,
}

/// Where records are taken while sessions go on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditExport {
    /// To syslog: `unix:/PATH` or `tcp:HOST:PORT`.
    pub syslog: Option<String>,
    /// To a web server, by its address.
    pub webhook: Option<String>,
}

impl AuditExport {
    /// Whether they are taken anywhere.
    pub fn is_wanted(&self) -> bool {
        self.syslog.is_some() || self.webhook.is_some()
    }
}

/// What is masked before anything is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Mask {
    /// Credentials.
    pub secrets: bool,
    /// Names, addresses, numbers of persons.
    pub personal_data: bool,
    /// Kinds of personal data that are left as they are, out of [`Mask::KINDS`].
    pub clear: Vec<String>,
    /// Names of people.
    pub names: Vec<String>,
    /// Further texts that are masked wherever they stand.
    pub literals: Vec<String>,
}

impl Mask {
    /// The kinds of personal data that can be left as they are.
    pub const KINDS: &'static [&'static str] =
        &["email", "card", "iban", "ssn", "national_id", "name", "phone", "ip"];
}

impl Config {
    /// How many file operations one session may make: 10,000 when a user is near, else 2,000 (ours), or 100 (seed 001). `None` is no limit.
    pub fn file_operation_limit(&self) -> Option<u64> {
        limit(self.limits.file_operations, Some(self.preset(2_000, 100).unwrap_or(10_000)))
    }

    /// What happens when tests go on coming out the same: the agent is told when a user is near, else the session is stopped (seed 004).
    pub fn stagnation_strikes(&self) -> TwoStrikes {
        self.interventions.two_strikes.stagnation.unwrap_or(match self.profile {
            Profile::Interactive => TwoStrikes::Advise,
            Profile::Unattended | Profile::Strict => TwoStrikes::Halt,
        })
    }

    /// The same after so many equal runs: a user who is near but said nothing about it has the session stopped after thirty (ours).
    pub fn stagnation_strikes_after(&self, runs: u64) -> TwoStrikes {
        const LONG: u64 = 30;
        match self.interventions.two_strikes.stagnation {
            None if runs >= LONG => TwoStrikes::Halt,
            None | Some(_) => self.stagnation_strikes(),
        }
    }

    /// Memory of a supervised run in megabytes: `None` (no limit) when a user is near, else 4,096 (ours), or 512 (seed 001).
    pub fn memory_limit_mb(&self) -> Option<u64> {
        limit(self.limits.memory_mb, self.preset(4_096, 512))
    }

    /// Time of a supervised run in seconds: `None` (no limit) when a user is near, else 3,600 (ours), or 300 (seed 001).
    pub fn execution_limit_seconds(&self) -> Option<u64> {
        limit(self.limits.execution_seconds, self.preset(3_600, 300))
    }

    /// Tokens of one session: `None` (no limit) when a user is near, else 3,000,000 (ours: 200 answers of 15,000), or 100,000 (seed 001).
    pub fn token_limit(&self) -> Option<u64> {
        limit(self.limits.tokens, self.preset(3_000_000, 100_000))
    }

    /// Money of one session in US dollars: `None` (no limit) when a user is near, else 20.00 (ours), or 5.00 (seed 004).
    pub fn dollar_limit(&self) -> Option<f64> {
        limit(self.limits.dollars, self.preset(20.0, 5.0))
    }

    /// Answers of the model in one supervised run: `None` (no limit) when a user is near, else 200 (ours), or 20 (seed 004).
    pub fn answer_limit(&self) -> Option<u64> {
        self.preset(200, 20)
    }

    /// What holds where nobody is near.
    fn preset<T>(&self, standard: T, seed: T) -> Option<T> {
        match (self.profile, self.limits.preset) {
            (Profile::Interactive, _) => None,
            (Profile::Unattended | Profile::Strict, LimitPreset::Standard) => Some(standard),
            (Profile::Unattended | Profile::Strict, LimitPreset::Seed) => Some(seed),
        }
    }

    /// Which commands run within bounds: none when a user is near, who can be asked; else all that cannot be understood (ours).
    pub fn contained_commands(&self) -> ContainedCommands {
        self.containment.commands.unwrap_or(match self.profile {
            Profile::Interactive => ContainedCommands::Off,
            Profile::Unattended | Profile::Strict => ContainedCommands::Opaque,
        })
    }

    /// What they may talk to: this machine, where tests start servers; in profile `strict` nothing (ours).
    pub fn contained_network(&self) -> ContainedNetwork {
        self.containment.network.unwrap_or(match self.profile {
            Profile::Interactive | Profile::Unattended => ContainedNetwork::Loopback,
            Profile::Strict => ContainedNetwork::None,
        })
    }
}

/// A limit that is set, else another one; zero is no limit.
fn limit<T: PartialOrd + Default>(set: Option<T>, otherwise: Option<T>) -> Option<T> {
    set.or(otherwise).filter(|limit| *limit > T::default())
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            preset: LimitPreset::Standard,
            file_operations: None,
            memory_mb: None,
            execution_seconds: None,
            tokens: None,
            dollars: None,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mode: Mode::Enforce,
            profile: Profile::Interactive,
            goals: Vec::new(),
            scope: ScopeSettings::default(),
            owned: OwnedSettings::default(),
            production: ProductionSettings::default(),
            step_reviewer: StepReviewer::default(),
            governance: GovernanceSettings::default(),
            limits: SessionLimits::default(),
            patterns: Patterns::default(),
            interventions: Interventions::default(),
            notifications: Notifications::default(),
            approvals: Approvals { wait: ApprovalWait::Unattended, wait_seconds: 20 },
            snapshots: Snapshots::default(),
            containment: Containment::default(),
            audit: Audit::default(),
            server: ServerSettings::default(),
            engine: EngineSettings::default(),
            telemetry: Telemetry {
                enabled: true,
                events: TelemetryEvents::Notable,
                folder: None,
                otlp_endpoint: None,
            },
            output: OutputSettings::default(),
            gates: GateSettings::default(),
        }
    }
}

impl Default for StepReviewer {
    fn default() -> Self {
        Self {
            enabled: true,
            mode: ReviewMode::Blocking,
            risk: RiskThresholds::default(),
            rationality: RationalityThresholds::default(),
            rules: RuleSettings::default(),
            cache: Cache { enabled: true, ttl_minutes: 5, max_size: 1000 },
            performance: Performance { max_review_time_ms: 100, async_threshold: 0.3 },
        }
    }
}

impl Default for RiskThresholds {
    fn default() -> Self {
        Self { low_threshold: 0.3, medium_threshold: 0.6, high_threshold: 0.8, critical_threshold: 0.95 }
    }
}

impl Default for RationalityThresholds {
    fn default() -> Self {
        Self { high_threshold: 0.8, medium_threshold: 0.5, low_threshold: 0.3 }
    }
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self {
            builtin: BuiltinRules::All,
            disabled: Vec::new(),
            exempt: Vec::new(),
            custom: Vec::new(),
            custom_rules_path: None,
        }
    }
}

impl Default for Patterns {
    fn default() -> Self {
        Self {
            enabled_patterns: vec!["all".to_owned()],
            custom_patterns: Vec::new(),
            cascade_patterns: Vec::new(),
            sensitivity: Sensitivity::Medium,
            least_confidence: 0.0,
            thresholds: PatternThresholds::default(),
        }
    }
}

impl Default for Interventions {
    fn default() -> Self {
        Self {
            enabled: true,
            max_interventions_per_execution: 10,
            intervention_cooldown_seconds: 30,
            hard_stop: true,
            auto_rollback: false,
            max_retries: 3,
            soft_correction: SoftCorrection { enabled: true, max_attempts: 3, custom_prompts_path: None },
            context_reinforcement: ContextReinforcement {
                enabled: true,
                reinforcement_strength: Strength::Medium,
                include_examples: true,
            },
            resource_throttling: ResourceThrottling {
                enabled: true,
                reduction_factors: ReductionFactors { moderate: 0.85, aggressive: 0.5, severe: 0.25 },
                metrics_window_seconds: 60,
            },
            checkpoint_rollback: CheckpointRollback {
                enabled: true,
                max_rollback_depth: 3,
                checkpoint_retention_minutes: 30,
                safe_checkpoint_criteria: SafeCheckpointCriteria {
                    min_success_rate: 0.8,
                    no_errors_duration_seconds: 60,
                },
            },
            emergency_stop: EmergencyStop {
                enabled: true,
                auto_cleanup: false,
                notification_channels: Vec::new(),
                preserve_incident_data_days: 30,
                preserve_incidents: 100,
            },
            two_strikes: Strikes::default(),
            strategy: Strategy {
                kind: StrategyType::Progressive,
                effectiveness_threshold: 0.6,
                escalation_delay_seconds: 120,
            },
        }
    }
}

impl Default for Snapshots {
    /// All ours.
    fn default() -> Self {
        Self {
            enabled: true,
            max_files: 10_000,
            max_megabytes: 256,
            max_ms: 1_500,
            approve: Approve::Never,
            session_start: true,
            interval_minutes: 30,
            largest_file_megabytes: 64,
            retention_days: 14,
            retention_count: 1_000,
            retention_megabytes: 5_000,
            encrypt: false,
        }
    }
}

impl Default for OutputSettings {
    fn default() -> Self {
        Self { mask_secrets: true }
    }
}

impl Default for Audit {
    fn default() -> Self {
        Self {
            enabled: true,
            retention_days: 30,
            encrypt: false,
            anchor: None,
            mask: Mask {
                secrets: true,
                personal_data: true,
                clear: Vec::new(),
                names: Vec::new(),
                literals: Vec::new(),
            },
            sync: Sync::Important,
            log_level: LogLevel::Info,
            export_format: ExportFormat::JsonLines,
            export: AuditExport::default(),
        }
    }
}
