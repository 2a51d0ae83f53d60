//! Layers become one configuration: later layers win, project files only tighten.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::blueprint::Blueprint;
use super::error::{ConfigError, ConfigErrorKind, ConfigErrors, Fault, closest};
use super::fields::Proof;
use super::keys::{self, Key, OVERRIDES};
use super::settings::Config;
use super::value::{Kind, Value};
use super::yaml::{self, Entry, Node, NodeValue, Position};
use crate::rules;

/// The layers, weakest first (design 11). What is built in lies below all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// What an organisation installs on the machine.
    Managed,
    /// What the person set for all projects.
    User,
    /// What came with the project: may tighten only.
    Project,
    /// Variables of the environment in which the guard was started.
    Environment,
    /// Flags of the command line.
    Flags,
}

/// One source of settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Its place in the order.
    pub kind: LayerKind,
    /// Where its settings come from.
    pub source: Source,
}

/// Where settings come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A configuration file.
    File {
        /// The file as messages should name it.
        name: String,
        /// Its text.
        text: String,
    },
    /// A file with a list of custom rules (`step_reviewer.rules.custom_rules_path`).
    Rules {
        /// The file as messages should name it.
        name: String,
        /// Its text.
        text: String,
    },
    /// A file with a blueprint (`governance.blueprints`). It counts last, and only makes things stricter.
    Blueprint {
        /// The file as messages should name it.
        name: String,
        /// Its text.
        text: String,
    },
    /// The variables of an environment; those that set nothing are passed over.
    Variables(Arc<BTreeMap<String, String>>),
    /// Settings by path, such as `step_reviewer.risk.high_threshold`, with their values as text.
    Flags(Vec<(String, String)>),
}

/// The SHA-256 of the text of a file, by which a person trusts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileHash(pub [u8; 32]);

impl FileHash {
    /// The hash of a text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

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

/// A setting of a project file that is looser than what holds without the file. It waits until a person trusts the file.
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
pub struct Loaded {
    /// The effective configuration.
    pub config: Config,
    /// For every setting that a layer set, by path: where its value comes from. All others are built in.
    pub provenance: BTreeMap<&'static str, Provenance>,
    /// What project files ask for and do not get.
    pub pending: Vec<Loosening>,
}

/// Puts layers on top of the built-in settings, in the order of [`LayerKind`], layers of one kind as given.
///
/// A project file may only make things stricter, unless the hash of its text is in `trusted`. With any error in any
/// layer the answer is all errors of all layers.
pub fn load(layers: &[Layer], trusted: &[FileHash]) -> Result<Loaded, ConfigErrors> {
    load_with(layers, trusted, Proof::Form)
}

/// The same, with every condition parsed and every example of a rule, tripwire or pattern played: what a person wants to know
/// before it counts, and what no single call has the time for.
pub fn load_proved(layers: &[Layer], trusted: &[FileHash]) -> Result<Loaded, ConfigErrors> {
    load_with(layers, trusted, Proof::Everything)
}

fn load_with(layers: &[Layer], trusted: &[FileHash], proof: Proof) -> Result<Loaded, ConfigErrors> {
    let mut ordered: Vec<&Layer> = layers.iter().collect();
    ordered.sort_by_key(|layer| layer.kind);
    let mut loaded = Loaded { config: Config::default(), provenance: BTreeMap::new(), pending: Vec::new() };
    let mut errors = Vec::new();
    let mut disabled = Vec::new();
    for layer in ordered {
        for text in texts(&layer.source) {
            let located = |fault: Fault| fault.located(layer.kind, &text.name, &text.text);
            match assignments(&text, proof) {
                Ok(assignments) => {
                    disabled.extend(disabled_names(&assignments).map(|(at, name)| {
                        (name.clone(), located(Fault::new(at, ConfigErrorKind::UnknownRule { name })))
                    }));
                    let faults = apply(layer.kind, &text, &assignments, trusted, &mut loaded);
                    errors.extend(faults.into_iter().map(located));
                }
                Err(faults) => errors.extend(faults.into_iter().map(located)),
            }
        }
    }
    for layer in layers {
        if let Source::Blueprint { name, text } = &layer.source {
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

/// A text with settings, and how to read it.
struct SourceText {
    name: String,
    text: String,
    form: Form,
    /// The line that `text` is counted as.
    line: usize,
}

enum Form {
    Settings,
    Rules,
    /// `NAME=value` or `path=value`, with the path of the setting.
    Assignment {
        path: String,
        value: String,
    },
}

fn texts(source: &Source) -> Vec<SourceText> {
    match source {
        Source::File { name, text } => {
            vec![SourceText { name: name.clone(), text: text.clone(), form: Form::Settings, line: 1 }]
        }
        Source::Rules { name, text } => {
            vec![SourceText { name: name.clone(), text: text.clone(), form: Form::Rules, line: 1 }]
        }
        Source::Blueprint { .. } => Vec::new(),
        Source::Variables(variables) => keys::VARIABLES
            .iter()
            .filter_map(|(name, path)| {
                let value = variables.get(*name)?.clone();
                let text = format!("{name}={value}");
                let form = Form::Assignment { path: (*path).to_owned(), value };
                Some(SourceText { name: "environment".to_owned(), text, form, line: 1 })
            })
            .collect(),
        Source::Flags(flags) => flags
            .iter()
            .enumerate()
            .map(|(index, (path, value))| {
                let text = format!("{path}={value}");
                let form = Form::Assignment { path: path.clone(), value: value.clone() };
                SourceText { name: "flags".to_owned(), text, form, line: index + 1 }
            })
            .collect(),
    }
}

/// One setting as a source asks for it.
struct Assignment {
    key: &'static Key,
    value: Value,
    at: Position,
    /// The entries of a list with their places, for checks that need other layers.
    entries: Vec<(Position, String)>,
}

fn assignments(text: &SourceText, proof: Proof) -> Result<Vec<Assignment>, Vec<Fault>> {
    match &text.form {
        Form::Settings => {
            let root = yaml::parse(&text.text).map_err(|fault| vec![fault])?;
            let mut walk = Walk { proof, plain: Vec::new(), overriding: Vec::new(), faults: Vec::new() };
            walk.section("", &root);
            walk.finish()
        }
        Form::Rules => {
            let root = yaml::parse(&text.text).map_err(|fault| vec![fault])?;
            let empty = matches!(&root.value, NodeValue::Map(entries) if entries.is_empty());
            let path = "step_reviewer.rules.custom";
            match keys::find(path) {
                Some((_, key)) if !empty => {
                    let value = key.kind.read(path, &root, proof)?;
                    Ok(vec![Assignment { key, value, at: root.at, entries: Vec::new() }])
                }
                Some(_) | None => Ok(Vec::new()),
            }
        }
        Form::Assignment { path, value } => {
            let name = text.text.chars().count().saturating_sub(value.chars().count() + 1);
            let at = Position { line: 1, column: name + 2, width: value.chars().count().max(1) };
            let Some((_, key)) = keys::find(path) else {
                let at = Position { line: 1, column: 1, width: name.max(1) };
                return Err(vec![unknown_path(path, at)]);
            };
            // A list on the command line may also be written as YAML.
            let node = Node { at, value: NodeValue::Plain(value.clone()) };
            match key.kind {
                Kind::Rules | Kind::Tripwires | Kind::Patterns => {
                    Err(key.kind.read(path, &node, proof).err().unwrap_or_default())
                }
                kind => match kind.read_text(value) {
                    Some(value) => Ok(vec![Assignment { key, value, at, entries: Vec::new() }]),
                    None => Err(kind.read(path, &node, proof).err().unwrap_or_default()),
                },
            }
        }
    }
}

/// Reads the sections of a file.
struct Walk {
    proof: Proof,
    /// What the file sets, with the place of each setting in the table.
    plain: Vec<(usize, Assignment)>,
    /// The same below `safety`, which overrides.
    overriding: Vec<(usize, Assignment)>,
    faults: Vec<Fault>,
}

impl Walk {
    /// Reads the settings below a section (empty: the top; `safety` and `safety.x` for overrides).
    fn section(&mut self, section: &str, node: &Node) {
        let entries = match &node.value {
            NodeValue::Map(entries) => entries,
            _ if node.is_null() => return,
            NodeValue::Plain(_) | NodeValue::Quoted(_) | NodeValue::List(_) => {
                return self.shorthand(section, node);
            }
        };
        for entry in entries {
            let path =
                if section.is_empty() { entry.key.clone() } else { format!("{section}.{}", entry.key) };
            let inner = inside(&path);
            if path == OVERRIDES || keys::is_section(inner) {
                self.section(&path, &entry.value);
            } else {
                self.setting(section, &path, entry);
            }
        }
    }

    /// `true` and `false` in the place of a section that has a switch `enabled` (seed 001).
    fn shorthand(&mut self, section: &str, node: &Node) {
        let path = format!("{section}.enabled");
        let switch = keys::find(inside(&path)).filter(|_| !section.is_empty());
        let value = node.scalar().and_then(|text| Kind::Switch.read_text(text));
        match (switch, value) {
            (Some((index, key)), Some(value)) => {
                self.assign(&path, index, Assignment { key, value, at: node.at, entries: Vec::new() });
            }
            (switch, _) => {
                let names: Vec<String> =
                    keys::names_below(inside(section)).iter().map(|name| format!("`{name}`")).collect();
                let or = if switch.is_some() { ", or `true` or `false`" } else { "" };
                let kind = ConfigErrorKind::BadValue {
                    key: if section.is_empty() { "the file".to_owned() } else { section.to_owned() },
                    found: node.description(),
                    expected: format!("a map with {}{or}", names.join(", ")),
                };
                self.faults.push(Fault::new(node.at, kind));
            }
        }
    }

    fn setting(&mut self, section: &str, path: &str, entry: &Entry) {
        let Some((index, key)) = keys::find(inside(path)) else {
            self.faults.push(unknown_key(section, path, entry));
            return;
        };
        match key.kind.read(path, &entry.value, self.proof) {
            Ok(value) => {
                let entries = match &entry.value.value {
                    NodeValue::List(items) => {
                        items.iter().filter_map(|item| Some((item.at, item.scalar()?.to_owned()))).collect()
                    }
                    NodeValue::Plain(_) | NodeValue::Quoted(_) | NodeValue::Map(_) => Vec::new(),
                };
                self.assign(path, index, Assignment { key, value, at: entry.at, entries });
            }
            Err(faults) => self.faults.extend(faults),
        }
    }

    fn assign(&mut self, path: &str, index: usize, assignment: Assignment) {
        let list = if path.starts_with(OVERRIDES) { &mut self.overriding } else { &mut self.plain };
        match list.iter().find(|(other, _)| *other == index) {
            Some((_, first)) => {
                let kind =
                    ConfigErrorKind::Duplicate { key: assignment.key.path.to_owned(), first: first.at.line };
                self.faults.push(Fault::new(assignment.at, kind).with_hint("keep one of the two names"));
            }
            None => list.push((index, assignment)),
        }
    }

    fn finish(self) -> Result<Vec<Assignment>, Vec<Fault>> {
        if !self.faults.is_empty() {
            return Err(self.faults);
        }
        let overridden = |index: usize| self.overriding.iter().any(|(other, _)| *other == index);
        // A list below `safety` adds to the one outside where lists are gathered.
        let (mut kept, mut assignments) = (Vec::new(), Vec::new());
        for (index, assignment) in self.plain {
            let gathers =
                keys::merged(assignment.key, assignment.value.clone(), empty_like(&assignment.value))
                    == assignment.value;
            if !overridden(index) || gathers {
                kept.push((index, assignment));
            }
        }
        kept.sort_by_key(|(index, _)| *index);
        assignments.extend(kept.into_iter().map(|(_, assignment)| assignment));
        assignments.extend(self.overriding.into_iter().map(|(_, assignment)| assignment));
        Ok(assignments)
    }
}

fn empty_like(value: &Value) -> Value {
    match value {
        Value::List(_) => Value::List(Vec::new()),
        Value::Rules(_) => Value::Rules(Vec::new()),
        Value::Tripwires(_) => Value::Tripwires(Vec::new()),
        Value::Unset | Value::Switch(_) | Value::Count(_) | Value::Number(_) | Value::Text(_) => Value::Unset,
    }
}

/// The path without a leading `safety.`.
fn inside(path: &str) -> &str {
    match path.strip_prefix(OVERRIDES) {
        Some("") => "",
        Some(rest) => rest.strip_prefix('.').unwrap_or(path),
        None => path,
    }
}

fn unknown_key(section: &str, path: &str, entry: &Entry) -> Fault {
    let mut names = keys::names_below(inside(section));
    if section.is_empty() {
        names.push(OVERRIDES);
    }
    let expected: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let hint = match closest(&entry.key, names.iter().copied()) {
        Some(name) => Some(format!("did you mean `{name}`?")),
        None => keys::paths()
            .find(|path| path.rsplit('.').next() == Some(entry.key.as_str()))
            .or_else(|| keys::paths().find(|path| path.split('.').any(|part| part == entry.key)))
            .map(|path| format!("there is a key `{path}`")),
    };
    let kind = ConfigErrorKind::UnknownKey { key: path.to_owned(), expected: expected.join(", ") };
    Fault::new(entry.at, kind).with_optional_hint(hint)
}

fn unknown_path(path: &str, at: Position) -> Fault {
    let hint = closest(path, keys::paths()).map(|path| format!("did you mean `{path}`?"));
    let kind = ConfigErrorKind::UnknownKey {
        key: path.to_owned(),
        expected: "the path of a setting, such as `step_reviewer.risk.high_threshold`".to_owned(),
    };
    Fault::new(at, kind).with_optional_hint(hint)
}

/// Applies what a source asks for, as far as its layer may.
fn apply(
    layer: LayerKind,
    text: &SourceText,
    assignments: &[Assignment],
    trusted: &[FileHash],
    loaded: &mut Loaded,
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
