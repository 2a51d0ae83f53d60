//! `checkrein config preset`: a small configuration for a way of working, in place of a hundred keys.
//!
//! Only lines are added: what a user or a team wrote stays as it is, and what an organisation set is not set again.

pub(super) mod merging;

use std::collections::BTreeMap;

use checkrein_engine::config_files;
use checkrein_engine::confirmed_configuration;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_policy::{Config, ConfigSource, Layer, LayerKind, LoadedConfig, load, settings_of};
use checkrein_protocol::AbsolutePath;
use checkrein_world::find_workspace;

use self::merging::{PresetSetting, with_settings};
use super::config::waiting;
use super::{ExitStatus, OutputForm, Switch, for_people_only, unconfirmed};
use crate::api::installation::{KeptSetting, PresetAnswer, PresetResult, SettingChange};
use crate::api::{self, recorded};
use crate::terminal::{Reply, confirm, log, print, print_exact, table, wrapped};

/// A way of working.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// One person who watches the agent.
    Solo,
    /// What everybody in a project can rely on.
    Team,
    /// A machine on which nobody is asked.
    Ci,
    /// As closely watched as it goes.
    Strict,
}

/// What is wanted of a preset.
#[derive(Debug, Clone, Copy)]
pub struct PresetWanted {
    /// Which.
    pub preset: Preset,
    /// Whether the question is answered already.
    pub yes: Switch,
    /// Whether it is only shown.
    pub dry_run: Switch,
}

const fn setting(path: &'static str, value: &'static str, comment: &'static str) -> PresetSetting<'static> {
    PresetSetting { path, value, comment }
}

/// Interactive as it is built in, with word of what waits, a bound for what nobody watches, and a longer way back.
static SOLO: &[PresetSetting<'static>] = &[
    setting("limits.dollars", "50", "A session that spent this much, in US dollars, stops; 0 is no limit."),
    setting(
        "notifications.questions",
        "true",
        "Say when a question waits for you, not only when a session stops.",
    ),
    setting("interventions.emergency_stop.notification_channels", "[desktop]", "Where you are told."),
    setting(
        "snapshots.retention_days",
        "30",
        "For how many days `checkrein undo` and `snapshot restore` reach back.",
    ),
];

/// What a project may ask for without being trusted: all of it is built in or stricter, and holds whatever somebody set for themselves.
static TEAM: &[PresetSetting<'static>] = &[
    setting("mode", "enforce", "Nobody only observes here."),
    setting("step_reviewer.enabled", "true", "Every call is reviewed."),
    setting("step_reviewer.rules.builtin", "all", "All built-in rules apply."),
    setting("limits.dollars", "50", "A session that spent this much, in US dollars, stops; 0 is no limit."),
    setting("snapshots.enabled", "true", "What a call destroys is saved first."),
    setting("audit.retention_days", "90", "For how many days the records are kept."),
    setting("audit.mask.secrets", "true", "Secrets stay out of the records."),
    setting("output.mask_secrets", "true", "Secrets stay out of what the model reads."),
];

/// Nobody answers, and nobody sees a run that hangs.
static CI: &[PresetSetting<'static>] = &[
    setting("profile", "unattended", "A question is a refusal: nobody answers."),
    setting("limits.dollars", "5", "One job may spend this much, in US dollars."),
    setting("limits.execution_seconds", "1800", "And take this long, in seconds."),
    setting(
        "containment.commands",
        "opaque",
        "What cannot be read runs within bounds that the kernel enforces.",
    ),
    setting(
        "interventions.two_strikes.stagnation",
        "halt",
        "Tests that come out the same again and again end the job.",
    ),
];

/// Stricter in every respect, at the price of more questions.
static STRICT: &[PresetSetting<'static>] = &[
    setting(
        "profile",
        "strict",
        "What is not understood, in scope and recoverable is asked about or refused.",
    ),
    setting("governance.tier", "3", "Thresholds for an agent that is overseen more closely."),
    setting(
        "governance.contract.fallback_on_timeout",
        "escalate",
        "A review that takes too long is a question.",
    ),
    setting("limits.dollars", "10", "A session that spent this much, in US dollars, stops; 0 is no limit."),
    setting(
        "containment.commands",
        "opaque",
        "What cannot be read runs within bounds that the kernel enforces.",
    ),
    setting("containment.network", "none", "And without a network."),
    setting(
        "notifications.questions",
        "true",
        "Say when a question waits for you, not only when a session stops.",
    ),
    setting("interventions.emergency_stop.notification_channels", "[desktop]", "Where you are told."),
    setting("audit.retention_days", "90", "For how many days the records are kept."),
    setting("audit.sync", "always", "No record is lost with the power."),
];

impl Preset {
    const fn name(self) -> &'static str {
        match self {
            Self::Solo => "solo",
            Self::Team => "team",
            Self::Ci => "ci",
            Self::Strict => "strict",
        }
    }

    fn settings(self) -> &'static [PresetSetting<'static>] {
        match self {
            Self::Solo => SOLO,
            Self::Team => TEAM,
            Self::Ci => CI,
            Self::Strict => STRICT,
        }
    }

    /// The file that it belongs into.
    fn file(self, environment: &HostEnvironment, workspace: &AbsolutePath) -> (LayerKind, AbsolutePath) {
        match self {
            Self::Team => (LayerKind::Project, config_files::project_file(workspace)),
            Self::Solo | Self::Ci | Self::Strict => (LayerKind::User, config_files::user_file(environment)),
        }
    }

    /// What a new file begins with.
    fn head(self) -> &'static str {
        match self {
            Self::Solo => {
                "# Checkrein for one person who watches the agent. All keys: `checkrein config show`.\n"
            }
            Self::Team => {
                "# Checkrein for everybody who works here. A project may make things stricter; what it loosens waits for `checkrein trust`.\n"
            }
            Self::Ci => {
                "# Checkrein on a machine where nobody is asked. All keys: `checkrein config show`.\n"
            }
            Self::Strict => "# Checkrein at its strictest. All keys: `checkrein config show`.\n",
        }
    }
}

/// What a preset comes to in one file.
struct Plan {
    /// The text of the file with it; `None` where its lines cannot be added by a program.
    text: Option<String>,
    /// The lines to add.
    lines: String,
    /// What the file or the organisation says already: key, value there, value of the preset.
    kept: Vec<KeptSetting>,
}

/// Shows what a preset changes, and writes it after a yes.
pub fn preset(
    environment: &HostEnvironment,
    wanted: PresetWanted,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "config preset")?;
    let workspace = find_workspace(&environment.cwd);
    let (kind, file) = wanted.preset.file(environment, &workspace);
    let before = config_files::text_of(&file)?;
    let now = config_files::load(environment, &workspace)?;
    let plan = plan(wanted.preset, kind, before.as_deref(), &now)?;
    // What cannot be written by a program can still be told: the lines count as a part of the file.
    let shown = plan.text.clone().unwrap_or_else(|| plan.lines.clone());
    let then = match plan.text {
        Some(_) => config_files::load_replacing(environment, &workspace, kind, &file, &shown)?,
        None => config_files::load_with(
            environment,
            &workspace,
            ConfigSource::File { name: file.to_string(), text: shown },
        )?,
    };
    let mut answer = PresetAnswer {
        preset: wanted.preset.name().to_owned(),
        file: file.to_string(),
        result: PresetResult::DryRun,
        changes: changes(&now.config, &then.config),
        kept: plan.kept,
        lines: plan.lines,
        pending: recorded(&then.pending),
    };
    if output == OutputForm::Text {
        show(&answer, &then);
    }
    if answer.lines.is_empty() {
        return tell(answer, PresetResult::Unchanged, output);
    }
    let Some(text) = plan.text else {
        return tell(answer, PresetResult::ByHand, output);
    };
    if wanted.dry_run == Switch::On {
        return tell(answer, PresetResult::DryRun, output);
    }
    if wanted.yes == Switch::Off {
        match confirm(&format!("Add these lines to `{file}`?")) {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    if config_files::text_of(&file)? != before {
        return Err(CommandError::user(format!("`{file}` was changed meanwhile"), "run the command again"));
    }
    confirmed_configuration::confirming(environment, || match (kind, &before) {
        (LayerKind::User, None) => config_files::write_private(&file, text.as_bytes()),
        _ => config_files::replace_file(&file, text.as_bytes()),
    })?;
    answer.pending = recorded(&config_files::load(environment, &workspace)?.pending);
    tell(answer, PresetResult::Written, output)
}

/// What is to be added to a file.
fn plan(
    preset: Preset,
    kind: LayerKind,
    before: Option<&str>,
    now: &LoadedConfig,
) -> Result<Plan, CommandError> {
    let old = alone(before.unwrap_or_default())?;
    let asked: Vec<&PresetSetting<'_>> = preset.settings().iter().collect();
    let whole = with_settings("", &asked).unwrap_or_default();
    let wanted = values(&alone(&whole)?.config);
    let mut kept = Vec::new();
    let mut missing = Vec::new();
    for setting in asked {
        let is_managed = kind == LayerKind::User
            && now.provenance.get(setting.path).is_some_and(|place| place.layer == LayerKind::Managed);
        let holds = match (old.provenance.contains_key(setting.path), is_managed) {
            (true, _) => values(&old.config).remove(setting.path),
            (false, true) => values(&now.config).remove(setting.path),
            (false, false) => None,
        };
        match holds {
            None => missing.push(setting),
            Some(value) if wanted.get(setting.path) == Some(&value) => {}
            Some(value) => kept.push(KeptSetting {
                key: setting.path.to_owned(),
                value,
                preset: wanted.get(setting.path).cloned().unwrap_or_default(),
            }),
        }
    }
    let lines = with_settings("", &missing).unwrap_or_default();
    if missing.is_empty() {
        return Ok(Plan { text: before.map(str::to_owned), lines: String::new(), kept });
    }
    let text = with_settings(before.unwrap_or(preset.head()), &missing)
        .filter(|text| says(text, &old, &missing, &wanted));
    Ok(Plan { text, lines, kept })
}

/// Whether a text says all that was said before, and the new settings beside it.
fn says(
    text: &str,
    old: &LoadedConfig,
    missing: &[&PresetSetting<'_>],
    wanted: &BTreeMap<&'static str, String>,
) -> bool {
    let Ok(new) = alone(text) else { return false };
    let (before, after) = (values(&old.config), values(&new.config));
    let is_new = |key: &str| missing.iter().any(|setting| setting.path == key);
    let stays = old.provenance.keys().all(|key| before.get(key) == after.get(key));
    let is_all = new.provenance.keys().all(|key| old.provenance.contains_key(key) || is_new(key));
    stays
        && is_all
        && new.sections == shifted(old, &new)
        && missing.iter().all(|one| wanted.get(one.path) == after.get(one.path))
}

/// The sections of before with the lines of now: nothing but where they stand may differ.
fn shifted(old: &LoadedConfig, new: &LoadedConfig) -> Vec<checkrein_policy::LimitedSettings> {
    let mut sections = old.sections.clone();
    for (section, other) in sections.iter_mut().zip(&new.sections) {
        for ((_, _, place), (_, _, now)) in section.settings.iter_mut().zip(&other.settings) {
            place.line = now.line;
        }
    }
    sections
}

/// What a text says by itself.
fn alone(text: &str) -> Result<LoadedConfig, CommandError> {
    let source = ConfigSource::File { name: "configuration".to_owned(), text: text.to_owned() };
    load(&[Layer { kind: LayerKind::User, source }], &[]).map_err(|errors| config_files::invalid(&errors))
}

fn values(config: &Config) -> BTreeMap<&'static str, String> {
    settings_of(config).into_iter().map(|setting| (setting.path, setting.value)).collect()
}

fn changes(now: &Config, then: &Config) -> Vec<SettingChange> {
    let after = settings_of(then);
    let pairs = settings_of(now).into_iter().zip(after).filter(|(now, then)| now.value != then.value);
    pairs
        .map(|(now, then)| SettingChange { key: now.path.to_owned(), from: now.value, to: then.value })
        .collect()
}

fn show(answer: &PresetAnswer, then: &LoadedConfig) {
    let shown = |value: &String| if value.is_empty() { "not set".to_owned() } else { value.clone() };
    if answer.changes.is_empty() {
        print("no setting changes here");
    } else {
        let rows = answer.changes.iter().map(|one| vec![one.key.clone(), shown(&one.from), shown(&one.to)]);
        print(&table(&["key", "now", "then"], rows.collect()));
    }
    for one in &answer.kept {
        print(&wrapped(&format!(
            "kept as it is: {} is {}, the preset says {}",
            one.key, one.value, one.preset
        )));
    }
    then.pending.iter().for_each(|loosening| print(&wrapped(&waiting(loosening))));
    if !answer.lines.is_empty() {
        print(&format!("\n{}", answer.lines));
    }
}

fn tell(
    mut answer: PresetAnswer,
    result: PresetResult,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    answer.result = result;
    let file = answer.file.clone();
    match (output, result) {
        (OutputForm::Json, _) => print_exact(&api::pretty(&answer)?),
        (OutputForm::Text, PresetResult::Written) => {
            print(&format!("written to `{file}`"));
            if answer.pending.as_array().is_some_and(|pending| !pending.is_empty()) {
                log("some of the file waits: `checkrein trust` accepts it");
            }
        }
        (OutputForm::Text, PresetResult::Unchanged) => print(&format!("`{file}` says all of it already")),
        (OutputForm::Text, PresetResult::DryRun) => print(&format!("nothing was written to `{file}`")),
        (OutputForm::Text, PresetResult::ByHand) => {
            print(&format!(
                "`{file}` is written in a form that takes no further lines: add these settings yourself"
            ));
        }
    }
    Ok(if result == PresetResult::ByHand { ExitStatus::Failed } else { ExitStatus::Done })
}
