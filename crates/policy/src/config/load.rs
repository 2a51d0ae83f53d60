//! Layers become one configuration: later layers win, project files only tighten.

use std::collections::BTreeMap;

use checkrein_protocol::AbsolutePath;
use serde::{Deserialize, Serialize};

use super::asked::{Asked, Assignment, Section, SourceText, assignments, texts};
use super::blueprint::Blueprint;
use super::error::{ConfigError, ConfigErrorKind, ConfigErrors, Fault, Position, closest};
use super::fields::Proof;
use super::keys;
use super::layer::{ConfigSource, FileHash, Layer, LayerKind};
use super::sections::{Hold, Limit, Standpoint};
use super::settings::Config;
use super::value::Value;
use crate::rules;

/// Where the value of a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The layer that set it last.
    pub layer: LayerKind,
    /// The file as it was named by the caller; `environment` or `flags`.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// A setting of a project file that is looser than what holds without the file. It waits until a user trusts the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loosening {
    /// The setting.
    pub key: String,
    /// What holds.
    pub from: String,
    /// What the file asks for.
    pub to: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// What came of the layers.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedConfig {
    /// The effective configuration.
    pub config: Config,
    /// For every setting that a layer set, by path: where its value comes from. All others are built in.
    pub provenance: BTreeMap<&'static str, Provenance>,
    /// What project files ask for and do not get.
    pub pending: Vec<Loosening>,
    /// What is limited to a pipeline, a step or a path, in the order of the layers, whether it holds here or not.
    pub sections: Vec<LimitedSettings>,
}

/// What one file says below `safety.pipelines` or `safety.paths` in one section.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitedSettings {
    /// What it is limited to.
    pub limit: Limit,
    /// The settings as they are written: path, value, place.
    pub settings: Vec<(&'static str, String, Provenance)>,
}

/// Puts layers on top of the built-in settings, in the order of [`LayerKind`], layers of one kind as given.
///
/// A project file may only make things stricter, unless the hash of its text is in `trusted`. With any error in any
/// layer the answer is all errors of all layers.
pub fn load(layers: &[Layer], trusted: &[FileHash]) -> Result<LoadedConfig, ConfigErrors> {
    load_with(layers, trusted, Proof::Form, &Standpoint::default())
}

/// The same for a call that stands somewhere: with the sections of `safety.pipelines` and `safety.paths` that hold there.
pub fn load_at(
    layers: &[Layer],
    trusted: &[FileHash],
    standpoint: &Standpoint,
) -> Result<LoadedConfig, ConfigErrors> {
    load_with(layers, trusted, Proof::Form, standpoint)
}

/// The same, with every condition parsed and every example of a rule, tripwire or pattern played: what a user wants to know
/// before it counts, and what no single call has the time for.
pub fn load_proved(layers: &[Layer], trusted: &[FileHash]) -> Result<LoadedConfig, ConfigErrors> {
    load_with(layers, trusted, Proof::Everything, &Standpoint::default())
}

fn load_with(
    layers: &[Layer],
    trusted: &[FileHash],
    proof: Proof,
    standpoint: &Standpoint,
) -> Result<LoadedConfig, ConfigErrors> {
    let mut ordered: Vec<&Layer> = layers.iter().collect();
    ordered.sort_by_key(|layer| layer.kind);
    let mut loaded = LoadedConfig {
        config: Config::default(),
        provenance: BTreeMap::new(),
        pending: Vec::new(),
        sections: Vec::new(),
    };
    let mut errors = Vec::new();
    let mut disabled = Vec::new();
    for layer in ordered {
        for text in texts(&layer.source) {
            let located = |fault: Fault| fault.located(layer.kind, &text.name, &text.text);
            match assignments(&text, proof) {
                Ok(Asked { assignments, sections }) => {
                    let all = sections.iter().map(|section| &section.assignments).chain([&assignments]);
                    disabled.extend(all.flat_map(|one| disabled_names(one)).map(|(at, name)| {
                        (name.clone(), located(Fault::new(at, ConfigErrorKind::UnknownRule { name })))
                    }));
                    let mut faults = apply(layer.kind, &text, &assignments, trusted, &mut loaded);
                    let folder = AbsolutePath::new(&text.name)
                        .filter(|_| layer.kind == LayerKind::Project)
                        .and_then(|file| file.parent());
                    for section in &sections {
                        let hold = section.limit.hold(standpoint, folder.as_ref());
                        faults.extend(section.apply(hold, layer.kind, &text, trusted, &mut loaded));
                        loaded.sections.push(section.listed(layer.kind, &text));
                    }
                    errors.extend(faults.into_iter().map(located));
                }
                Err(faults) => errors.extend(faults.into_iter().map(located)),
            }
        }
    }
    for layer in layers {
        if let ConfigSource::Blueprint { name, text } = &layer.source {
            errors.extend(stand_on(name, text, layer.kind, proof, &mut loaded.config));
        }
    }
    errors.extend(unknown_rules(&loaded.config, disabled));
    if errors.is_empty() { Ok(loaded) } else { Err(ConfigErrors { errors }) }
}

/// Makes a configuration as strict as a blueprint.
fn stand_on(name: &str, text: &str, layer: LayerKind, proof: Proof, config: &mut Config) -> Vec<ConfigError> {
    let read = match proof {
        Proof::Form => Blueprint::parse(name, text, layer),
        Proof::Everything => Blueprint::parse_proved(name, text, layer),
    };
    let blueprint = match read {
        Ok(blueprint) => blueprint,
        Err(errors) => return errors.errors,
    };
    if !blueprint.applies(config) {
        return Vec::new();
    }
    let taken = blueprint.tighten(config).into_iter().map(|taken| {
        let kind = ConfigErrorKind::NameTaken { name: taken, owner: "another tripwire" };
        Fault::new(Position::START, kind).with_hint("rename one of the two").located(layer, name, text)
    });
    taken.collect()
}

impl Section {
    /// The section as it is written.
    fn listed(&self, layer: LayerKind, text: &SourceText) -> LimitedSettings {
        let place = |line: usize| Provenance { layer, file: text.name.clone(), line: text.line + line - 1 };
        let settings = self
            .assignments
            .iter()
            .map(|assignment| (assignment.key.path, assignment.value.to_string(), place(assignment.at.line)));
        LimitedSettings { limit: self.limit.clone(), settings: settings.collect() }
    }

    /// Applies the section as far as it holds. What is wrong with it is said wherever one stands, as is what a project asks for in it and
    /// does not get.
    fn apply(
        &self,
        hold: Hold,
        layer: LayerKind,
        text: &SourceText,
        trusted: &[FileHash],
        loaded: &mut LoadedConfig,
    ) -> Vec<Fault> {
        let known = loaded.pending.len();
        let faults = match hold {
            Hold::Wholly => apply(layer, text, &self.assignments, trusted, loaded),
            Hold::InPart if layer == LayerKind::Project => apply(layer, text, &self.assignments, &[], loaded),
            // What is held back here waits for nobody.
            Hold::InPart => {
                let faults = apply(LayerKind::Project, text, &self.assignments, &[], loaded);
                loaded.pending.truncate(known);
                faults
            }
            Hold::Not => {
                let mut elsewhere = loaded.clone();
                let faults = apply(layer, text, &self.assignments, trusted, &mut elsewhere);
                loaded.pending.extend(elsewhere.pending.drain(known..));
                faults
            }
        };
        for pending in loaded.pending.iter_mut().skip(known) {
            pending.key = format!("{}.{}", self.limit.path(), pending.key);
        }
        faults
    }
}

/// Applies what a source asks for, as far as its layer may.
fn apply(
    layer: LayerKind,
    text: &SourceText,
    assignments: &[Assignment],
    trusted: &[FileHash],
    loaded: &mut LoadedConfig,
) -> Vec<Fault> {
    let base = loaded.config.clone();
    let mut asked = base.clone();
    for assignment in assignments {
        set(&mut asked, assignment);
    }
    let faults = contradictions(&asked, assignments);
    if !faults.is_empty() {
        return faults;
    }
    let looser = |assignment: &&Assignment| {
        layer == LayerKind::Project
            && keys::loosens(assignment.key, &(assignment.key.effective)(&base), &assignment.value)
    };
    let held = assignments.iter().any(|assignment| looser(&assignment))
        && !trusted.contains(&FileHash::of(&text.text));
    for assignment in assignments {
        let line = text.line + assignment.at.line - 1;
        if held && looser(&assignment) {
            loaded.pending.push(Loosening {
                key: assignment.key.path.to_owned(),
                from: (assignment.key.effective)(&base).to_string(),
                to: assignment.value.to_string(),
                file: text.name.clone(),
                line,
            });
            let old = (assignment.key.read)(&base);
            if let Some(added) = added(&old, &assignment.value) {
                (assignment.key.write)(&mut loaded.config, keys::merged(assignment.key, old, added));
            }
            continue;
        }
        set(&mut loaded.config, assignment);
        loaded.provenance.insert(assignment.key.path, Provenance { layer, file: text.name.clone(), line });
    }
    Vec::new()
}

/// Of a list of rules or tripwires those that replace no other: only what would replace one is held back.
fn added(old: &Value, new: &Value) -> Option<Value> {
    match (old, new) {
        (Value::Rules(old), Value::Rules(new)) => {
            let added = new.iter().filter(|rule| !old.iter().any(|other| other.name == rule.name));
            Some(Value::Rules(added.cloned().collect()))
        }
        (Value::Tripwires(old), Value::Tripwires(new)) => {
            let added = new.iter().filter(|one| !old.iter().any(|other| other.name == one.name));
            Some(Value::Tripwires(added.cloned().collect()))
        }
        _ => None,
    }
}

fn set(config: &mut Config, assignment: &Assignment) {
    let value = keys::merged(assignment.key, (assignment.key.read)(config), assignment.value.clone());
    (assignment.key.write)(config, value);
}

/// Pairs of thresholds of which the first must not be above the second.
#[rustfmt::skip]
static ORDERED: &[(&str, &str)] = &[
    ("step_reviewer.risk.low_threshold", "step_reviewer.risk.medium_threshold"),
    ("step_reviewer.risk.medium_threshold", "step_reviewer.risk.high_threshold"),
    ("step_reviewer.risk.high_threshold", "step_reviewer.risk.critical_threshold"),
    ("step_reviewer.rationality.low_threshold", "step_reviewer.rationality.medium_threshold"),
    ("step_reviewer.rationality.medium_threshold", "step_reviewer.rationality.high_threshold"),
    ("governance.thresholds.ok", "governance.thresholds.nudge"),
    ("governance.thresholds.nudge", "governance.thresholds.escalate"),
    ("governance.trust_debt.thresholds.elevated_monitoring", "governance.trust_debt.thresholds.restricted_mode"),
    ("governance.trust_debt.thresholds.restricted_mode", "governance.trust_debt.thresholds.re_tiering_review"),
];

fn contradictions(config: &Config, assignments: &[Assignment]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (lower, upper) in ORDERED {
        let (Some((_, lower)), Some((_, upper))) = (keys::find(lower), keys::find(upper)) else { continue };
        let (low, high) = ((lower.read)(config), (upper.read)(config));
        let (Value::Number(low_value), Value::Number(high_value)) = (&low, &high) else { continue };
        if low_value <= high_value {
            continue;
        }
        // The message stands at the later of the two lines, since that one broke the order.
        let later = assignments
            .iter()
            .filter(|assignment| assignment.key.path == lower.path || assignment.key.path == upper.path)
            .max_by_key(|assignment| assignment.at.line);
        let (at, key) = later.map_or((Position::START, lower), |assignment| (assignment.at, assignment.key));
        let kind = if key.path == lower.path {
            ConfigErrorKind::Contradiction {
                key: lower.path,
                value: low.to_string(),
                relation: "above",
                other: upper.path,
                other_value: high.to_string(),
            }
        } else {
            ConfigErrorKind::Contradiction {
                key: upper.path,
                value: high.to_string(),
                relation: "below",
                other: lower.path,
                other_value: low.to_string(),
            }
        };
        faults.push(Fault::new(at, kind).with_hint("set both"));
    }
    faults.extend(unbalanced(config, assignments));
    faults
}

/// Weights outside their ranges, or which do not make 1 together (ACGP leaves that to the runtime).
fn unbalanced(config: &Config, assignments: &[Assignment]) -> Option<Fault> {
    let last = assignments.iter().rfind(|one| one.key.path.starts_with("governance.weights."))?;
    let weights = &config.governance.weights;
    if weights.are_balanced() {
        return None;
    }
    let kind = ConfigErrorKind::BadValue {
        key: "governance.weights".to_owned(),
        found: format!("{:?}", weights.all()),
        expected: "reasoning .20 to .30, grounding, ethical and tool_safety .15 to .25, context .10 to .20, which make 1"
            .to_owned(),
    };
    Some(Fault::new(last.at, kind))
}

/// The names below `step_reviewer.rules.disabled`, with their places.
fn disabled_names(assignments: &[Assignment]) -> impl Iterator<Item = (Position, String)> + '_ {
    assignments
        .iter()
        .filter(|assignment| assignment.key.path == "step_reviewer.rules.disabled")
        .flat_map(|assignment| assignment.entries.iter().cloned())
}

/// Disabled rules that no layer knows. Not looked for when a rule file may hold them.
fn unknown_rules(config: &Config, disabled: Vec<(String, ConfigError)>) -> Vec<ConfigError> {
    if config.step_reviewer.rules.custom_rules_path.is_some() {
        return Vec::new();
    }
    let custom = &config.step_reviewer.rules.custom;
    let names =
        || rules::ALL.iter().map(|rule| rule.name).chain(custom.iter().map(|rule| rule.name.as_str()));
    disabled
        .into_iter()
        .filter(|(name, _)| !names().any(|known| known == name))
        .map(|(name, error)| {
            let hint = closest(&name, names()).map(|name| format!("did you mean `{name}`?"));
            ConfigError { hint, ..error }
        })
        .collect()
}
