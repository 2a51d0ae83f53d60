//! The one table of settings: path, what it accepts, which direction is stricter, what it does.
//!
//! Loading, tightening, the JSON Schema and the reference all follow from it.

use super::choice::{
    ApprovalWait, Approve, BuiltinRules, ContainedCommands, ContainedNetwork, ExportFormat, LimitPreset,
    LogLevel, Mode, Profile, ReviewMode, Sensitivity, StrategyType, Strength, Sync, TelemetryEvents,
    TwoStrikes,
};
use super::settings::{Config, GateSettings, Mask};
use super::value::{Field, Kind, Value};
use crate::governance::{Fallback, RiskClass, Tier};

/// Which change of a setting is stricter. A project file may only go that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Neither way is stricter.
    Free,
    /// Lower is stricter; not set is the loosest.
    Lower,
    /// Lower is stricter; not set, and zero, are the loosest.
    Limit,
    /// Higher is stricter.
    Higher,
    /// `true` is stricter.
    On,
    /// `false` is stricter.
    Off,
    /// A later word is stricter.
    Order,
    /// The entries of all layers are gathered; more is stricter.
    Gather,
    /// The entries of all layers are gathered; each new one is looser.
    GatherLooser,
    /// A later list replaces an earlier one; an entry left out is looser; `all` stands for every entry.
    Cover,
    /// A later list replaces an earlier one; it must stay inside the workspace and inside the earlier list.
    Narrow,
    /// Any change is looser.
    Locked,
}

impl Direction {
    /// What a project file may do without being trusted, for the reference.
    pub(crate) fn freedom(self) -> &'static str {
        match self {
            Self::Free => "anything",
            Self::Lower | Self::Limit => "lower it",
            Self::Higher => "raise it",
            Self::On => "turn it on",
            Self::Off => "turn it off",
            Self::Order => "pick a later word",
            Self::Gather | Self::Cover => "add entries",
            Self::GatherLooser | Self::Locked => "nothing",
            Self::Narrow => "narrow it",
        }
    }
}

/// One setting.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
    pub(crate) direction: Direction,
    pub(crate) about: &'static str,
    /// What the configuration says.
    pub(crate) read: fn(&Config) -> Value,
    /// What holds in the end: differs from `read` where the profile fills in.
    pub(crate) effective: fn(&Config) -> Value,
    pub(crate) write: fn(&mut Config, Value),
}

macro_rules! key {
    ($path:literal, $($field:ident).+, $kind:expr, $direction:ident, $about:literal) => {
        key!($path, $($field).+, $kind, $direction, $about, |config: &Config| Field::read(&config.$($field).+))
    };
    ($path:literal, $($field:ident).+, $kind:expr, $direction:ident, $about:literal, $effective:expr) => {
        Key {
            path: $path,
            kind: $kind,
            direction: Direction::$direction,
            about: $about,
            read: |config| Field::read(&config.$($field).+),
            effective: $effective,
            write: |config, value| Field::write(&mut config.$($field).+, value),
        }
    };
}

/// All settings, in the order of the reference.
#[rustfmt::skip]
pub(crate) static KEYS: &[Key] = &[
    key!("mode", mode, Kind::Choice(Mode::WORDS), Order,
        "What is done with verdicts: `observe` records everything and enforces nothing."),
    key!("profile", profile, Kind::Choice(Profile::WORDS), Order,
        "How much an agent may do before someone is asked."),
    key!("goals", goals, Kind::List, Free, "Goals that hold in every session, added to those of the prompts."),
    key!("scope.paths", scope.paths, Kind::List, Narrow,
        "Patterns of the paths where changes are expected, relative to the workspace or absolute; empty: the whole workspace."),
    key!("scope.only", scope.only, Kind::List, Narrow,
        "Patterns of the only files of the workspace that may be changed, relative to it; others are refused. Empty: all of them."),
    key!("owned.hosts", owned.hosts, Kind::List, GatherLooser,
        "Hosts that are your own, such as `api.example.com`, or `*.example.com` for all below: data of the project may go there."),
    key!("owned.remotes", owned.remotes, Kind::List, GatherLooser,
        "Owners of repositories, or repositories, that are your own, such as `github.com/acme`: a push there tells no strangers."),
    key!("owned.registries", owned.registries, Kind::List, GatherLooser,
        "Registries that are your own, such as `npm.example.com` or `registry.example.com/team`: packages may come from there, and images may go there."),
    key!("owned.buckets", owned.buckets, Kind::List, GatherLooser,
        "Buckets that are your own, such as `s3://acme-assets`: data of the project may go there."),
    key!("production.always", production.always, Kind::Switch, On,
        "Whether every change of infrastructure and data stores, every release and every push counts as one of production; meant for the `safety` of a step that deploys."),
    key!("production.kube_contexts", production.kube_contexts, Kind::List, Gather,
        "Kube contexts that are production, such as `prod-*`: what changes something there wants an approved change record."),
    key!("production.workspaces", production.workspaces, Kind::List, Gather,
        "Workspaces of Terraform, stacks of Pulumi and CDK, and stages of other tools that are production."),
    key!("production.databases", production.databases, Kind::List, Gather,
        "Hosts and names of databases that are production, such as `db.example.com` or `shop_live`."),
    key!("production.hosts", production.hosts, Kind::List, Gather,
        "Machines that are production, such as `web-*.example.com`: for what runs there by `ssh`, and what is copied there."),
    key!("production.cloud_profiles", production.cloud_profiles, Kind::List, Gather,
        "Profiles, projects, accounts, subscriptions and apps of clouds that are production."),
    key!("production.branches", production.branches, Kind::List, Gather,
        "Branches from which is deployed, as `BRANCH` or `REMOTE/BRANCH`: a push there wants an approved change record."),

    key!("step_reviewer.enabled", step_reviewer.enabled, Kind::Switch, On, "Whether actions are reviewed at all."),
    key!("step_reviewer.mode", step_reviewer.mode, Kind::Choice(ReviewMode::WORDS), Order,
        "What an action waits for: `blocking`, its review and copies of what it changes; `async`, where its risk lies below `async_threshold` and `risk.low_threshold`, its review and copies of what exists nowhere else."),
    key!("step_reviewer.risk.low_threshold", step_reviewer.risk.low_threshold, Kind::Fraction, Lower,
        "Risk below it need not wait in mode `async`."),
    key!("step_reviewer.risk.medium_threshold", step_reviewer.risk.medium_threshold, Kind::Fraction, Lower,
        "Risk from here on is medium."),
    key!("step_reviewer.risk.high_threshold", step_reviewer.risk.high_threshold, Kind::Fraction, Lower,
        "Risk from here on is high."),
    key!("step_reviewer.risk.critical_threshold", step_reviewer.risk.critical_threshold, Kind::Fraction, Lower,
        "Risk from here on is critical."),
    key!("step_reviewer.rationality.high_threshold", step_reviewer.rationality.high_threshold, Kind::Fraction, Higher,
        "Rationality from here on is high."),
    key!("step_reviewer.rationality.medium_threshold", step_reviewer.rationality.medium_threshold, Kind::Fraction, Higher,
        "Rationality from here on is medium."),
    key!("step_reviewer.rationality.low_threshold", step_reviewer.rationality.low_threshold, Kind::Fraction, Higher,
        "An action with less rationality makes no sense: it is asked about, whatever its risk."),
    key!("step_reviewer.rules.builtin", step_reviewer.rules.builtin, Kind::Choice(BuiltinRules::WORDS), Order,
        "Which built-in rules apply."),
    key!("step_reviewer.rules.disabled", step_reviewer.rules.disabled, Kind::List, GatherLooser,
        "Names of rules that do not apply."),
    key!("step_reviewer.rules.exempt", step_reviewer.rules.exempt, Kind::Exemptions, GatherLooser,
        "What single built-in rules overlook, as `RULE KIND TARGET by PROGRAM`: `confirm_outside_loss file_delete /home/dev/notes/*.md by rm`. `*` stays within a name; `/**` at the end means all below a directory. Calls of more than one plain command are never meant."),
    key!("step_reviewer.rules.custom", step_reviewer.rules.custom, Kind::Rules, Gather, "Own rules."),
    key!("step_reviewer.rules.custom_rules_path", step_reviewer.rules.custom_rules_path, Kind::Text, Free,
        "A file with more own rules, relative to the file that names it; for a project it must lie inside the project."),
    key!("step_reviewer.cache.enabled", step_reviewer.cache.enabled, Kind::Switch, Free,
        "Whether reviews are kept for equal actions in an equal context."),
    key!("step_reviewer.cache.ttl_minutes", step_reviewer.cache.ttl_minutes, Kind::Count(0), Free,
        "How long a review is kept, in minutes."),
    key!("step_reviewer.cache.max_size", step_reviewer.cache.max_size, Kind::Count(1), Free, "How many reviews are kept."),
    key!("step_reviewer.performance.max_review_time_ms", step_reviewer.performance.max_review_time_ms, Kind::Count(1), Free,
        "How long the review of an action of low risk may take, in milliseconds; `governance.contract` says what follows when it takes longer."),
    key!("step_reviewer.performance.async_threshold", step_reviewer.performance.async_threshold, Kind::Fraction, Lower,
        "Risk below it need not wait in mode `async`; the lower of it and `risk.low_threshold` holds."),

    key!("governance.enabled", governance.enabled, Kind::Switch, On,
        "Whether thresholds and trust debt count; tripwires always do."),
    key!("governance.tier", governance.tier, Kind::Choice(Tier::WORDS), Order, "How closely the agent is overseen."),
    key!("governance.thresholds.ok", governance.thresholds.ok, Kind::Fraction, Lower,
        "Governance risk up to which an action goes ahead. The stricter of it and that of the tier holds."),
    key!("governance.thresholds.nudge", governance.thresholds.nudge, Kind::Fraction, Lower,
        "Governance risk up to which it goes ahead with a hint."),
    key!("governance.thresholds.escalate", governance.thresholds.escalate, Kind::Fraction, Lower,
        "Governance risk up to which the user is asked; above it the action is refused."),
    key!("governance.weights.reasoning", governance.weights.reasoning, Kind::Fraction, Locked,
        "Weight of the reasoning in the trace quality, .20 to .30. The five weights make 1."),
    key!("governance.weights.grounding", governance.weights.grounding, Kind::Fraction, Locked,
        "Weight of the grounding, .15 to .25."),
    key!("governance.weights.ethical", governance.weights.ethical, Kind::Fraction, Locked,
        "Weight of what rules say, .15 to .25."),
    key!("governance.weights.tool_safety", governance.weights.tool_safety, Kind::Fraction, Locked,
        "Weight of the risk, .15 to .25."),
    key!("governance.weights.context", governance.weights.context, Kind::Fraction, Locked,
        "Weight of goals and scope, .10 to .20."),
    key!("governance.tripwires", governance.tripwires, Kind::Tripwires, Gather, "Conditions that stop an action, whatever else is said about it."),
    key!("governance.blueprints", governance.blueprints, Kind::List, Gather,
        "Files with blueprints, relative to the file that names them, each with ` sha256:` and its digest behind it where it must not change. They can only make things stricter."),
    key!("governance.trust_debt.enabled", governance.trust_debt.enabled, Kind::Switch, On, "Whether trust debt is kept."),
    key!("governance.trust_debt.accumulation.flag", governance.trust_debt.accumulation.flag, Kind::Amount, Higher,
        "What a flag adds, before the factor of its severity."),
    key!("governance.trust_debt.accumulation.nudge", governance.trust_debt.accumulation.nudge, Kind::Amount, Higher, "What a hint adds."),
    key!("governance.trust_debt.accumulation.escalate", governance.trust_debt.accumulation.escalate, Kind::Amount, Higher,
        "What a question to the user adds."),
    key!("governance.trust_debt.accumulation.block", governance.trust_debt.accumulation.block, Kind::Amount, Higher, "What a refusal adds."),
    key!("governance.trust_debt.accumulation.halt", governance.trust_debt.accumulation.halt, Kind::Amount, Higher, "What a halt adds."),
    key!("governance.trust_debt.flag_factors.low", governance.trust_debt.flag_factors.low, Kind::Amount, Higher,
        "What a flag of severity low is multiplied with."),
    key!("governance.trust_debt.flag_factors.medium", governance.trust_debt.flag_factors.medium, Kind::Amount, Higher,
        "What a flag of severity medium is multiplied with."),
    key!("governance.trust_debt.flag_factors.high", governance.trust_debt.flag_factors.high, Kind::Amount, Higher,
        "What a flag of severity high is multiplied with."),
    key!("governance.trust_debt.flag_factors.critical", governance.trust_debt.flag_factors.critical, Kind::Amount, Higher,
        "What a flag of severity critical is multiplied with."),
    key!("governance.trust_debt.decay.decay_fraction", governance.trust_debt.decay.fraction, Kind::Fraction, Lower,
        "The share of the debt that is gone after one period."),
    key!("governance.trust_debt.decay.period_hours", governance.trust_debt.decay.period_hours, Kind::Amount, Higher,
        "The length of a period, in hours; 0: it never wears off."),
    key!("governance.trust_debt.decay.min_debt", governance.trust_debt.decay.min_debt, Kind::Amount, Higher,
        "What debt never falls below once there is that much."),
    key!("governance.trust_debt.thresholds.elevated_monitoring", governance.trust_debt.thresholds.elevated_monitoring,
        Kind::Amount, Lower, "Debt from which on also first warnings are said."),
    key!("governance.trust_debt.thresholds.restricted_mode", governance.trust_debt.thresholds.restricted_mode,
        Kind::Amount, Lower, "Debt from which on the thresholds of one tier stricter hold."),
    key!("governance.trust_debt.thresholds.re_tiering_review", governance.trust_debt.thresholds.re_tiering_review,
        Kind::Amount, Lower, "Debt from which on the user is asked to look at the tier."),
    key!("governance.contract.risk_level", governance.contract.risk_level, Kind::Choice(RiskClass::WORDS), Free,
        "The least class that every action is counted to, for the time that its review may take."),
    key!("governance.contract.latency_budget_ms", governance.contract.latency_budget_ms, Kind::Count(1), Free,
        "How long a review may take, in milliseconds. Not set: 100, 300 or 5000 by class."),
    key!("governance.contract.fallback_on_timeout", governance.contract.fallback_on_timeout, Kind::Choice(Fallback::WORDS), Order,
        "What follows when it takes longer; the verdict is never milder for it."),

    key!("limits.preset", limits.preset, Kind::Choice(LimitPreset::WORDS), Order,
        "Which limits hold in profiles `unattended` and `strict` where none are set: those a real task fits in, or those of the seeds (100 file operations, 512 MB, 300 seconds, 100000 tokens, 5 dollars, 20 answers)."),
    key!("limits.file_operations", limits.file_operations, Kind::Count(0), Limit,
        "File operations of one session; 0 is no limit. Not set: 10000 in profile `interactive`, else 2000.",
        |config| config.file_operation_limit().map_or(Value::Unset, Value::Count)),
    key!("limits.memory_mb", limits.memory_mb, Kind::Count(0), Limit,
        "Memory of the agent and what it starts, in megabytes; 0 is no limit. Under `checkrein run` the supervisor ends it, elsewhere calls are refused. Not set: no limit in profile `interactive`, else 4096.",
        |config| config.memory_limit_mb().map_or(Value::Unset, Value::Count)),
    key!("limits.execution_seconds", limits.execution_seconds, Kind::Count(0), Limit,
        "Time of a session, in seconds; 0 is no limit. Under `checkrein run` the supervisor ends it, elsewhere calls are refused. Not set: no limit in profile `interactive`, else 3600.",
        |config| config.execution_limit_seconds().map_or(Value::Unset, Value::Count)),
    key!("limits.tokens", limits.tokens, Kind::Count(0), Limit,
        "Tokens of one session, those read from the cache left out, 0 is no limit; checked before each call with the mean of the last answers. Not set: no limit in profile `interactive`, else 3000000.",
        |config| config.token_limit().map_or(Value::Unset, Value::Count)),
    key!("limits.dollars", limits.dollars, Kind::Amount, Limit,
        "Money of one session, in US dollars, by `prices.csv`, 0 is no limit; models that are not listed count as the dearest like them. Not set: no limit in profile `interactive`, else 20.",
        |config| config.dollar_limit().map_or(Value::Unset, Value::Number)),

    key!("patterns.enabled_patterns", patterns.enabled_patterns, Kind::List, Cover,
        "Names of the pattern detectors that run, or `all`."),
    key!("patterns.custom_patterns", patterns.custom_patterns, Kind::Patterns, Gather, "Own patterns over a session."),
    key!("patterns.cascade_patterns", patterns.cascade_patterns, Kind::Cascades, Gather,
        "What else agents say when they talk themselves into new work (seed 004): a name, `continuation_offer`, `numbered_choice`, `task_completion_pivot` or `scope_expansion`, a weight, and what is said; ` ... ` stands for up to 80 bytes."),
    key!("patterns.sensitivity", patterns.sensitivity, Kind::Choice(Sensitivity::WORDS), Order,
        "How easily a pattern is seen: `low` asks for one repetition more, or a quarter more, of every threshold below, `high` for one less, or a sixth less."),
    key!("patterns.least_confidence", patterns.least_confidence, Kind::Fraction, Lower,
        "Detections that are less sure are left out; `checkrein issue stats` suggests one."),
    key!("patterns.thresholds.stuck_loop.rounds", patterns.thresholds.stuck_loop.rounds, Kind::Count(2), Lower,
        "How often one call must give the same result (design, ours)."),
    key!("patterns.thresholds.stuck_loop.failing_rounds", patterns.thresholds.stuck_loop.failing_rounds, Kind::Count(2), Lower,
        "How often one call must fail in the same way (design, ours)."),
    key!("patterns.thresholds.stuck_loop.pair_rounds", patterns.thresholds.stuck_loop.pair_rounds, Kind::Count(2), Lower,
        "How often two calls in turn must give the same results (design, ours)."),
    key!("patterns.thresholds.stuck_loop.waiting_factor", patterns.thresholds.stuck_loop.waiting_factor, Kind::Count(1), Lower,
        "How many times as many rounds what only waits may make (ours)."),
    key!("patterns.thresholds.stuck_loop.messages", patterns.thresholds.stuck_loop.messages, Kind::Count(2), Lower,
        "How many equal messages in a row make a monologue (ours)."),
    key!("patterns.thresholds.stuck_loop.condensations", patterns.thresholds.stuck_loop.condensations, Kind::Count(2), Lower,
        "How many condensations in a row of a conversation make a loop (ours)."),
    key!("patterns.thresholds.repetitive_errors.threshold", patterns.thresholds.repetitive_errors.threshold, Kind::Count(2), Lower,
        "How many errors of one signature (upstream, seed 001)."),
    key!("patterns.thresholds.repetitive_errors.window", patterns.thresholds.repetitive_errors.window, Kind::Count(2), Higher,
        "Among how many of the last errors, at most 10 (upstream)."),
    key!("patterns.thresholds.repetitive_errors.horizon", patterns.thresholds.repetitive_errors.horizon, Kind::Count(1), Higher,
        "Within how many actions (ours)."),
    key!("patterns.thresholds.stagnation.none_passing", patterns.thresholds.stagnation.none_passing, Kind::Count(2), Lower,
        "How many equal results of tests of which none passes (seed 004)."),
    key!("patterns.thresholds.stagnation.some_passing", patterns.thresholds.stagnation.some_passing, Kind::Count(2), Lower,
        "How many equal results of tests of which some pass (upstream)."),
    key!("patterns.thresholds.oscillating_edits.edits", patterns.thresholds.oscillating_edits.edits, Kind::Count(2), Lower,
        "How many edits that make and undo one change in turn (ours)."),
    key!("patterns.thresholds.scope_creep.ratio", patterns.thresholds.scope_creep.ratio, Kind::Fraction, Lower,
        "Above which share of places outside (upstream, seed 001)."),
    key!("patterns.thresholds.scope_creep.places", patterns.thresholds.scope_creep.places, Kind::Count(1), Lower,
        "How many places outside at least (ours)."),
    key!("patterns.thresholds.goal_drift.alignment", patterns.thresholds.goal_drift.alignment, Kind::Fraction, Higher,
        "Below which mean alignment (upstream, seed 001)."),
    key!("patterns.thresholds.goal_drift.fall", patterns.thresholds.goal_drift.fall, Kind::Fraction, Lower,
        "And when it falls by more than this (upstream; the unit is ours)."),
    key!("patterns.thresholds.goal_drift.window", patterns.thresholds.goal_drift.window, Kind::Count(2), Higher,
        "Over how many actions, at most 20 (upstream)."),
    key!("patterns.thresholds.goal_drift.actions", patterns.thresholds.goal_drift.actions, Kind::Count(2), Lower,
        "How many actions at least (ours)."),
    key!("patterns.thresholds.resource_spiral.growth", patterns.thresholds.resource_spiral.growth, Kind::Amount, Lower,
        "Above which mean ratio of neighbours (upstream)."),
    key!("patterns.thresholds.resource_spiral.points", patterns.thresholds.resource_spiral.points, Kind::Count(2), Lower,
        "Over how many stretches of 5 actions, at most 5 (upstream)."),
    key!("patterns.thresholds.exploration_wandering.score", patterns.thresholds.exploration_wandering.score, Kind::Fraction, Lower,
        "Above which score (upstream)."),
    key!("patterns.thresholds.exploration_wandering.looks", patterns.thresholds.exploration_wandering.looks, Kind::Count(2), Lower,
        "How many looks at least, at most 24 (ours)."),
    key!("patterns.thresholds.exploration_wandering.directories", patterns.thresholds.exploration_wandering.directories, Kind::Count(1), Lower,
        "How many different directories count in full (upstream, `max_unique_directories`)."),
    key!("patterns.thresholds.exploration_wandering.returns", patterns.thresholds.exploration_wandering.returns, Kind::Fraction, Lower,
        "Which share of returns counts in full (upstream, `backtrack_limit`)."),
    key!("patterns.thresholds.hallucination.occurrences", patterns.thresholds.hallucination.occurrences, Kind::Count(1), Lower,
        "How many different things (upstream, `min_occurrences`)."),
    key!("patterns.thresholds.hallucination.horizon", patterns.thresholds.hallucination.horizon, Kind::Count(1), Higher,
        "Within how many actions (ours)."),
    key!("patterns.thresholds.cascade.score", patterns.thresholds.cascade.score, Kind::Fraction, Lower,
        "From which score on a message counts, where nobody reads along (seed 004: high)."),

    key!("interventions.enabled", interventions.enabled, Kind::Switch, On, "Whether anything is done about issues."),
    key!("interventions.max_interventions_per_execution", interventions.max_interventions_per_execution, Kind::Count(0), Free,
        "How many interventions one session may see before something stronger happens."),
    key!("interventions.intervention_cooldown_seconds", interventions.intervention_cooldown_seconds, Kind::Count(0), Lower,
        "Seconds between two interventions."),
    key!("interventions.hard_stop", interventions.hard_stop, Kind::Switch, On, "Whether the agent may be stopped."),
    key!("interventions.auto_rollback", interventions.auto_rollback, Kind::Switch, Off,
        "Whether a rollback happens without asking the user in profile `interactive`; in the others nobody is asked."),
    key!("interventions.max_retries", interventions.max_retries, Kind::Count(0), Lower,
        "How often one kind of intervention is tried for one pattern at most; one that does not help is followed by a stronger one sooner."),
    key!("interventions.soft_correction.enabled", interventions.soft_correction.enabled, Kind::Switch, On,
        "Whether the agent gets hints."),
    key!("interventions.soft_correction.max_attempts", interventions.soft_correction.max_attempts, Kind::Count(0), Lower,
        "How many hints it gets about one pattern at most; where a hint does not help, something stronger follows sooner."),
    key!("interventions.soft_correction.custom_prompts_path", interventions.soft_correction.custom_prompts_path, Kind::Text, Locked,
        "A file with own hints: YAML with texts by pattern, as in `templates`; relative to the configuration directory."),
    key!("interventions.context_reinforcement.enabled", interventions.context_reinforcement.enabled, Kind::Switch, On,
        "Whether goals and constraints are said again."),
    key!("interventions.context_reinforcement.reinforcement_strength", interventions.context_reinforcement.reinforcement_strength,
        Kind::Choice(Strength::WORDS), Order, "How much of them is said again."),
    key!("interventions.context_reinforcement.include_examples", interventions.context_reinforcement.include_examples,
        Kind::Switch, Free, "Whether an example of what to do is added."),
    key!("interventions.resource_throttling.enabled", interventions.resource_throttling.enabled, Kind::Switch, On,
        "Whether limits shrink when resources grow too fast."),
    key!("interventions.resource_throttling.reduction_factors.moderate",
        interventions.resource_throttling.reduction_factors.moderate, Kind::Fraction, Lower,
        "What limits are multiplied with at moderate growth, and where what goes wrong does not grow and is not grave."),
    key!("interventions.resource_throttling.reduction_factors.aggressive",
        interventions.resource_throttling.reduction_factors.aggressive, Kind::Fraction, Lower,
        "What limits are multiplied with when resources double."),
    key!("interventions.resource_throttling.reduction_factors.severe",
        interventions.resource_throttling.reduction_factors.severe, Kind::Fraction, Lower,
        "What limits are multiplied with in a severe spiral."),
    key!("interventions.resource_throttling.metrics_window_seconds",
        interventions.resource_throttling.metrics_window_seconds, Kind::Count(1), Free,
        "Growth is measured over work without a pause longer than this, in seconds: what grew before a pause was another matter."),
    key!("interventions.checkpoint_rollback.enabled", interventions.checkpoint_rollback.enabled, Kind::Switch, On,
        "Whether files may be set back to a snapshot."),
    key!("interventions.checkpoint_rollback.max_rollback_depth", interventions.checkpoint_rollback.max_rollback_depth,
        Kind::Count(1), Free, "How many snapshots back it may go."),
    key!("interventions.checkpoint_rollback.checkpoint_retention_minutes",
        interventions.checkpoint_rollback.checkpoint_retention_minutes, Kind::Count(1), Lower,
        "How many minutes before the trouble a snapshot of the workspace may have been taken that is gone back to; how long snapshots are kept says `snapshots.retention_days`."),
    key!("interventions.checkpoint_rollback.safe_checkpoint_criteria.min_success_rate",
        interventions.checkpoint_rollback.safe_checkpoint_criteria.min_success_rate, Kind::Fraction, Higher,
        "The share of actions before a snapshot that must have succeeded."),
    key!("interventions.checkpoint_rollback.safe_checkpoint_criteria.no_errors_duration_seconds",
        interventions.checkpoint_rollback.safe_checkpoint_criteria.no_errors_duration_seconds, Kind::Count(0), Higher,
        "Seconds without an error before a snapshot."),
    key!("interventions.emergency_stop.enabled", interventions.emergency_stop.enabled, Kind::Switch, On,
        "Whether a session may be ended."),
    key!("interventions.emergency_stop.auto_cleanup", interventions.emergency_stop.auto_cleanup, Kind::Switch, Off,
        "Whether files that the session made in temporary directories are moved into the report on its stop."),
    key!("interventions.emergency_stop.notification_channels", interventions.emergency_stop.notification_channels,
        Kind::List, Gather, "Who is told: `desktop`, `command`, `webhook`, `slack`, `email`, `plugin:NAME`."),
    key!("interventions.emergency_stop.preserve_incident_data_days",
        interventions.emergency_stop.preserve_incident_data_days, Kind::Count(1), Higher,
        "How long incidents are kept, in days."),
    key!("interventions.emergency_stop.preserve_incidents", interventions.emergency_stop.preserve_incidents,
        Kind::Count(1), Higher, "How many incidents are kept."),
    key!("interventions.two_strikes.stagnation", interventions.two_strikes.stagnation, Kind::Choice(TwoStrikes::WORDS), Order,
        "What happens when tests come out the same for long although the agent was told: `advise` or `halt`. Not set: `advise` in profile `interactive`, else `halt`.",
        |config| Value::Text(config.stagnation_strikes().word().to_owned())),
    key!("interventions.strategy.type", interventions.strategy.kind, Kind::Choice(StrategyType::WORDS), Free,
        "How an intervention is picked; `custom` asks the rules in `strategy.rules` of the configuration directory first."),
    key!("interventions.strategy.effectiveness_threshold", interventions.strategy.effectiveness_threshold, Kind::Fraction, Higher,
        "An intervention counts as effective from here on."),
    key!("interventions.strategy.escalation_delay_seconds", interventions.strategy.escalation_delay_seconds, Kind::Count(0), Lower,
        "Seconds before something stronger is tried."),

    key!("notifications.questions", notifications.questions, Kind::Switch, Free,
        "Whether people are told of questions that wait for them too, those of checkrein and those of the client, not only of stops."),
    key!("notifications.command", notifications.command, Kind::Text, Locked,
        "What channel `command` runs in a shell; it reads the notice as JSON from its standard input."),
    key!("notifications.webhook", notifications.webhook, Kind::Text, Locked,
        "The address that channel `webhook` posts JSON to; not set: `webhook_url` of `notify.secrets`, else `CHECKREIN_WEBHOOK_URL`."),
    key!("notifications.slack", notifications.slack, Kind::Text, Locked,
        "The address of an incoming webhook of Slack; not set: `slack_url` of `notify.secrets`, else `CHECKREIN_SLACK_URL`."),
    key!("notifications.smtp", notifications.smtp, Kind::Text, Locked,
        "The mail server of channel `email`, as `smtps://HOST:465` or `smtp://HOST:587`; the password is `smtp_password` of `notify.secrets`, else `CHECKREIN_SMTP_PASSWORD`."),
    key!("notifications.smtp_user", notifications.smtp_user, Kind::Text, Locked, "Who signs in there; not set: nobody does."),
    key!("notifications.mail_from", notifications.mail_from, Kind::Text, Locked, "The address that mail comes from."),
    key!("notifications.mail_to", notifications.mail_to, Kind::Text, Locked, "The address that mail goes to."),

    key!("approvals.wait", approvals.wait, Kind::Choice(ApprovalWait::WORDS), Order,
        "Which questions wait until a user answers them with `checkrein approval`: those of the profiles `unattended` and `strict`; with `lost` also those that the client loses or decides by itself; with `always` also those that it would ask; or none."),
    key!("approvals.wait_seconds", approvals.wait_seconds, Kind::Count(0), Lower,
        "How long a call waits for that answer, in seconds; then the answer is no. More than 20 seconds takes effect after `checkrein init`."),

    key!("snapshots.enabled", snapshots.enabled, Kind::Switch, On,
        "Whether files are saved before an action destroys them."),
    key!("snapshots.max_files", snapshots.max_files, Kind::Count(1), Higher,
        "How many files, links and directories are saved before one action; where more would be lost, the user is asked."),
    key!("snapshots.max_megabytes", snapshots.max_megabytes, Kind::Count(1), Higher,
        "How much content is saved before one action, in megabytes; where more would be lost, the user is asked."),
    key!("snapshots.max_ms", snapshots.max_ms, Kind::Count(1), Higher,
        "How long saving may keep one action waiting, in milliseconds; where it takes longer, the user is asked. Up to 1,000 files of 16 MB in all are saved however long it takes."),
    key!("snapshots.approve", snapshots.approve, Kind::Choice(Approve::WORDS), Order,
        "What the client is told to let through without asking: `recoverable`, an action whose every effect is certain, in scope and can be taken back; or nothing."),
    key!("snapshots.session_start", snapshots.session_start, Kind::Switch, On,
        "Whether the workspace is saved when a session starts."),
    key!("snapshots.interval_minutes", snapshots.interval_minutes, Kind::Count(1), Lower,
        "After how many minutes the workspace is saved again."),
    key!("snapshots.largest_file_megabytes", snapshots.largest_file_megabytes, Kind::Count(1), Higher,
        "The greatest file that is saved with the whole workspace, in megabytes; longer ones are listed as skipped."),
    key!("snapshots.retention_days", snapshots.retention_days, Kind::Count(1), Higher,
        "How long snapshots are kept, in days."),
    key!("snapshots.retention_count", snapshots.retention_count, Kind::Count(1), Higher,
        "How many snapshots of a workspace are kept."),
    key!("snapshots.retention_megabytes", snapshots.retention_megabytes, Kind::Count(1), Higher,
        "How much the snapshots of a workspace may take on the disk, in megabytes."),
    key!("snapshots.encrypt", snapshots.encrypt, Kind::Switch, On,
        "Whether snapshots are encrypted before they are written, with the key of `audit.encrypt`. What was saved before stays as it is until it goes."),

    key!("containment.commands", containment.commands, Kind::Choice(ContainedCommands::WORDS), Locked,
        "Which commands run within bounds that the kernel enforces: none, those that would be asked about only because they cannot be understood, or all that cannot be understood. Not set: `off` in profile `interactive`, else `opaque`.",
        |config| Value::Text(config.contained_commands().word().to_owned())),
    key!("containment.network", containment.network, Kind::Choice(ContainedNetwork::WORDS), Order,
        "What a contained command may talk to; known hosts that it names are added. Not set: `none` in profile `strict`, else `loopback`.",
        |config| Value::Text(config.contained_network().word().to_owned())),

    key!("audit.enabled", audit.enabled, Kind::Switch, On, "Whether records outlive their session. Off: they are removed when another session starts an hour after the last of them; that they were is itself on record."),
    key!("audit.retention_days", audit.retention_days, Kind::Count(1), Higher, "How long records are kept, in days."),
    key!("audit.encrypt", audit.encrypt, Kind::Switch, On,
        "Whether records, reports on stops, lessons, questions, allowed calls and notices are encrypted before they are written. The key is made at first use, outside the state directory; `checkrein audit key list` shows where."),
    key!("audit.anchor", audit.anchor, Kind::Text, Locked,
        "A file outside the state directory to which the heads of ledgers are appended; `checkrein audit verify` compares."),
    key!("audit.mask.secrets", audit.mask.secrets, Kind::Switch, On, "Whether credentials are masked before anything is written."),
    key!("audit.mask.personal_data", audit.mask.personal_data, Kind::Switch, On,
        "Whether personal data is masked before anything is written."),
    key!("audit.mask.clear", audit.mask.clear, Kind::Words(Mask::KINDS), GatherLooser,
        "Kinds of personal data that are written as they stand, while the others are masked."),
    key!("audit.mask.names", audit.mask.names, Kind::List, Gather,
        "Names of people that are masked wherever they stand, in any case, such as `Ann Meyer`."),
    key!("audit.mask.literals", audit.mask.literals, Kind::List, Gather, "Further texts that are masked wherever they stand."),
    key!("audit.sync", audit.sync, Kind::Choice(Sync::WORDS), Order,
        "Which records are forced to the disk: none, blocks, halts, approvals and snapshots, or all."),
    key!("audit.log_level", audit.log_level, Kind::Choice(LogLevel::WORDS), Free, "What is written to `diagnostics.log` of the state directory: `error` what could not be recorded, `warn` checks that did not run, `info` questions and refusals, `debug` every call."),
    key!("audit.export.syslog", audit.export.syslog, Kind::Text, Locked,
        "Where records go as syslog messages (RFC 5424) after each call: `unix:/dev/log`, or `tcp:HOST:PORT`."),
    key!("audit.export.webhook", audit.export.webhook, Kind::Text, Locked,
        "Where records are posted as JSON after each call. What the server refuses, or does not take for ten minutes, stands in `plugins/dead-letters` of the state directory."),
    key!("audit.export_format", audit.export_format, Kind::Choice(ExportFormat::WORDS), Free, "The form of `checkrein audit export` when none is named."),

    key!("engine.resident", engine.resident, Kind::Switch, Off,
        "Whether `checkrein engine`, or `checkrein serve` while it runs, answers for hooks from what it holds in memory. A hook that gets no answer, or none that proves itself, decides by itself."),
    key!("server.public_address", server.public_address, Kind::Text, Locked,
        "Where people reach `checkrein serve` from elsewhere, as `https://HOST`: notices of questions then hold a link that answers. Something before the server has to speak TLS and pass on `/answer/`."),

    key!("telemetry.enabled", telemetry.enabled, Kind::Switch, On,
        "Whether anything is told beside the records: the event log, and what the server sends. The variable `CHECKREIN_TELEMETRY=0` turns it off too."),
    key!("telemetry.events", telemetry.events, Kind::Choice(TelemetryEvents::WORDS), Order,
        "Which events are written into the event log: none, those worth a look, or also calls that pass without a word and outcomes."),
    key!("telemetry.otlp_endpoint", telemetry.otlp_endpoint, Kind::Text, Locked,
        "The address of a collector of OpenTelemetry to which `checkrein serve` sends traces, metrics and logs (OTLP over HTTP, as JSON), such as `http://127.0.0.1:4318`; not set: `OTEL_EXPORTER_OTLP_ENDPOINT` of its environment, else nothing is sent."),
    key!("telemetry.folder", telemetry.folder, Kind::Text, Locked,
        "Where the event log is, a file a day; not set: `events` in the state directory. What is not absolute is in the home directory. Files older than `audit.retention_days` are removed."),

    key!("output.mask_secrets", output.mask_secrets, Kind::Switch, On,
        "Whether secrets in what a tool answers are masked before the model reads it, where that is possible; a list of settings such as `.env` is then shown without its secrets, and without a question."),

    key!("gates.at_turn_end", gates.at_turn_end, Kind::Words(GateSettings::AT_TURN_END), Gather,
        "Gates that look at what the session changed when the agent ends its turn: what they find goes back to it, at most twice; `docs/gates.md`."),
    key!("gates.before_push", gates.before_push, Kind::Words(GateSettings::AT_TURN_END), Gather,
        "Gates that look at what no remote has yet before the agent pushes: a push that they do not let pass is refused; `docs/gates.md`."),

    Key {
        path: "reviewer.risk_threshold",
        kind: Kind::Fraction,
        direction: Direction::Lower,
        about: "Short for `step_reviewer.risk.high_threshold`; moves the other thresholds along where their order asks for it.",
        read: |config| Value::Number(config.step_reviewer.risk.high_threshold),
        effective: |config| Value::Number(config.step_reviewer.risk.high_threshold),
        write: |config, value| {
            if let Value::Number(threshold) = value {
                let risk = &mut config.step_reviewer.risk;
                risk.high_threshold = threshold;
                risk.medium_threshold = risk.medium_threshold.min(threshold);
                risk.low_threshold = risk.low_threshold.min(threshold);
                risk.critical_threshold = risk.critical_threshold.max(threshold);
            }
        },
    },
];

/// Other names of settings, as the seeds and older files write them.
pub(crate) static ALIASES: &[(&str, &str)] = &[
    ("reviewer.enabled", "step_reviewer.enabled"),
    ("reviewer.review_mode", "step_reviewer.mode"),
    ("resources.max_file_operations", "limits.file_operations"),
    ("resources.max_memory_mb", "limits.memory_mb"),
    ("resources.max_execution_time_seconds", "limits.execution_seconds"),
    ("resources.max_token_usage", "limits.tokens"),
    ("audit.retain_days", "audit.retention_days"),
];

/// Variables of the environment that set something.
pub(crate) static VARIABLES: &[(&str, &str)] = &[
    ("CHECKREIN_MODE", "mode"),
    ("CHECKREIN_PROFILE", "profile"),
    ("CHECKREIN_APPROVALS_WAIT", "approvals.wait"),
    ("SAFETY_ENABLED", "step_reviewer.enabled"),
    ("SAFETY_REVIEW_MODE", "step_reviewer.mode"),
    ("SAFETY_RISK_THRESHOLD", "reviewer.risk_threshold"),
];

/// The section whose sections and keys override those of the same name outside it (seed 002).
pub(crate) const OVERRIDES: &str = "safety";

/// Below it: sections by the name of a pipeline, each with sections by the name of a step, and sections by a pattern of paths.
pub(crate) const PIPELINES: &str = "pipelines";
pub(crate) const STEPS: &str = "steps";
pub(crate) const PATHS: &str = "paths";

/// The setting with this path or alias, with its index in [`KEYS`].
pub(crate) fn find(path: &str) -> Option<(usize, &'static Key)> {
    let path = ALIASES.iter().find(|(alias, _)| *alias == path).map_or(path, |(_, path)| path);
    KEYS.iter().enumerate().find(|(_, key)| key.path == path)
}

/// All paths that a file may use, aliases included.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.path).chain(ALIASES.iter().map(|(alias, _)| *alias))
}

/// Whether there are keys below a path.
pub(crate) fn is_section(path: &str) -> bool {
    paths().any(|key| key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

/// The names that may stand below a section (empty: at the top).
pub(crate) fn names_below(section: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for path in paths() {
        let rest = match section {
            "" => Some(path),
            section => path.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')),
        };
        let Some(name) = rest.and_then(|rest| rest.split('.').next()) else { continue };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether going from one value to another goes against the direction of a setting.
pub(crate) fn loosens(key: &Key, from: &Value, to: &Value) -> bool {
    if from == to {
        return false;
    }
    match key.direction {
        Direction::Free => false,
        Direction::Lower => match (number(from), number(to)) {
            (Some(from), Some(to)) => to > from,
            (Some(_), None) => true,
            (None, _) => false,
        },
        Direction::Limit => {
            let limit = |value: &Value| number(value).filter(|limit| *limit > 0.0);
            match (limit(from), limit(to)) {
                (Some(from), Some(to)) => to > from,
                (Some(_), None) => true,
                (None, _) => false,
            }
        }
        Direction::Higher => match (number(from), number(to)) {
            (Some(from), Some(to)) => to < from,
            (Some(_), None) => true,
            (None, _) => false,
        },
        Direction::On => *to == Value::Switch(false),
        Direction::Off => *to == Value::Switch(true),
        Direction::Order => match (key.kind, from, to) {
            (Kind::Choice(words), Value::Text(from), Value::Text(to)) => {
                let place = |word: &String| words.iter().position(|other| other == word);
                place(to) < place(from)
            }
            _ => true,
        },
        Direction::Gather => match (from, to) {
            (Value::List(_), Value::List(_)) => false,
            (Value::Rules(from), Value::Rules(to)) => {
                to.iter().any(|rule| from.iter().any(|other| other.name == rule.name && other != rule))
            }
            (Value::Tripwires(from), Value::Tripwires(to)) => {
                to.iter().any(|one| from.iter().any(|other| other.name == one.name && other != one))
            }
            _ => true,
        },
        Direction::GatherLooser => match (from, to) {
            (Value::List(from), Value::List(to)) => to.iter().any(|entry| !from.contains(entry)),
            _ => true,
        },
        Direction::Cover => match (from, to) {
            (Value::List(from), Value::List(to)) => {
                !to.iter().any(|entry| entry == "all") && from.iter().any(|entry| !to.contains(entry))
            }
            _ => true,
        },
        Direction::Narrow => match (from, to) {
            (Value::List(from), Value::List(to)) if from.is_empty() => {
                !to.iter().all(|pattern| is_inside(pattern))
            }
            (Value::List(from), Value::List(to)) => {
                to.is_empty() || to.iter().any(|pattern| !from.contains(pattern))
            }
            _ => true,
        },
        Direction::Locked => true,
    }
}

/// Whether a pattern can only match inside the workspace.
fn is_inside(pattern: &str) -> bool {
    !pattern.starts_with(['/', '~', '$']) && !pattern.split('/').any(|part| part == "..")
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Count(count) => Some(*count as f64),
        Value::Number(number) => Some(*number),
        Value::Unset
        | Value::Switch(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Rules(_)
        | Value::Tripwires(_) => None,
    }
}

/// The value after a layer that says `new`, on top of layers that say `old`.
pub(crate) fn merged(key: &Key, old: Value, new: Value) -> Value {
    match (key.direction, old, new) {
        (Direction::Gather | Direction::GatherLooser, Value::List(mut old), Value::List(new)) => {
            for entry in new {
                if !old.contains(&entry) {
                    old.push(entry);
                }
            }
            Value::List(old)
        }
        (Direction::Gather, Value::Rules(mut old), Value::Rules(new)) => {
            for rule in new {
                match old.iter_mut().find(|other| other.name == rule.name) {
                    Some(other) => *other = rule,
                    None => old.push(rule),
                }
            }
            Value::Rules(old)
        }
        (Direction::Gather, Value::Tripwires(mut old), Value::Tripwires(new)) => {
            for one in new {
                match old.iter_mut().find(|other| other.name == one.name) {
                    Some(other) => *other = one,
                    None => old.push(one),
                }
            }
            Value::Tripwires(old)
        }
        (_, _, new) => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_unique_and_aliases_lead_somewhere() {
        let mut seen = std::collections::BTreeSet::new();
        for path in paths() {
            assert!(seen.insert(path), "{path} stands twice");
        }
        for (alias, path) in ALIASES.iter().chain(VARIABLES) {
            assert!(KEYS.iter().any(|key| key.path == *path), "{alias} leads nowhere");
        }
    }

    #[test]
    fn every_setting_is_written_where_it_is_read() {
        for key in KEYS {
            let mut config = Config::default();
            let sample = match key.kind {
                Kind::Switch => Value::Switch((key.read)(&config) != Value::Switch(true)),
                Kind::Fraction | Kind::Amount => Value::Number(0.9125),
                Kind::Count(_) => Value::Count(7),
                Kind::Choice(words) => Value::Text(
                    words
                        .iter()
                        .find(|word| Value::Text((**word).to_owned()) != (key.read)(&config))
                        .unwrap()
                        .to_string(),
                ),
                Kind::Text => Value::Text("x".to_owned()),
                Kind::List => Value::List(vec!["x".to_owned()]),
                Kind::Exemptions => Value::List(vec!["confirm_outside_loss file_delete /x by rm".to_owned()]),
                Kind::Cascades => Value::List(vec!["more scope_expansion 0.7 shall i".to_owned()]),
                Kind::Words(words) => {
                    Value::List(words.iter().take(1).map(|word| (*word).to_owned()).collect())
                }
                Kind::Rules | Kind::Tripwires | Kind::Patterns => continue,
            };
            let before: Vec<Value> = KEYS.iter().map(|other| (other.read)(&config)).collect();
            (key.write)(&mut config, sample.clone());
            assert_eq!((key.read)(&config), sample, "{}", key.path);
            let changed =
                KEYS.iter().zip(&before).filter(|(other, before)| (other.read)(&config) != **before);
            let names: Vec<&str> = changed.map(|(other, _)| other.path).collect();
            assert!(names.contains(&key.path) && names.len() <= 2, "{} changes {names:?}", key.path);
        }
    }

    #[test]
    fn a_scope_may_only_narrow() {
        let (_, key) = find("scope.paths").unwrap();
        let list = |entries: &[&str]| Value::List(entries.iter().map(|entry| (*entry).to_owned()).collect());
        assert!(!loosens(key, &list(&[]), &list(&["src/**"])));
        assert!(loosens(key, &list(&[]), &list(&["/etc/**"])));
        assert!(loosens(key, &list(&[]), &list(&["src/../../x"])));
        assert!(loosens(key, &list(&[]), &list(&["~/x"])));
        assert!(loosens(key, &list(&["src/**"]), &list(&[])));
        assert!(loosens(key, &list(&["src/**"]), &list(&["**"])));
        assert!(!loosens(key, &list(&["src/**", "docs/**"]), &list(&["docs/**"])));
    }
}
