//! What a source asks for: its settings, and its sections.

use super::error::{ConfigErrorKind, Fault, Position, WHOLE, closest};
use super::fields::Proof;
use super::keys::{self, Key, OVERRIDES, PATHS, PIPELINES, STEPS};
use super::layer::ConfigSource;
use super::sections::Limit;
use super::value::{Kind, Value};
use super::yaml::{self, NodeValue, YamlEntry, YamlNode};

/// A text with settings, and how to read it.
pub(super) struct SourceText {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) form: Form,
    /// The line that `text` is counted as.
    pub(super) line: usize,
}

pub(super) enum Form {
    Settings,
    Rules,
    /// `NAME=value` or `path=value`, with the path of the setting.
    Assignment {
        path: String,
        value: String,
    },
}

pub(super) fn texts(source: &ConfigSource) -> Vec<SourceText> {
    match source {
        ConfigSource::File { name, text } => {
            vec![SourceText { name: name.clone(), text: text.clone(), form: Form::Settings, line: 1 }]
        }
        ConfigSource::Rules { name, text } => {
            vec![SourceText { name: name.clone(), text: text.clone(), form: Form::Rules, line: 1 }]
        }
        ConfigSource::Blueprint { .. } => Vec::new(),
        ConfigSource::Variables(variables) => keys::VARIABLES
            .iter()
            .filter_map(|(name, path)| {
                let value = variables.get(*name)?.clone();
                let text = format!("{name}={value}");
                let form = Form::Assignment { path: (*path).to_owned(), value };
                Some(SourceText { name: "environment".to_owned(), text, form, line: 1 })
            })
            .collect(),
        ConfigSource::Flags(flags) => flags
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
pub(super) struct Assignment {
    pub(super) key: &'static Key,
    pub(super) value: Value,
    pub(super) at: Position,
    /// The entries of a list with their places, for checks that need other layers.
    pub(super) entries: Vec<(Position, String)>,
}

/// What a source asks for.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) assignments: Vec<Assignment>,
    pub(super) sections: Vec<Section>,
}

/// A part of a file that is limited to a pipeline, a step or a path.
pub(super) struct Section {
    pub(super) limit: Limit,
    pub(super) assignments: Vec<Assignment>,
}

pub(super) fn assignments(text: &SourceText, proof: Proof) -> Result<Asked, Vec<Fault>> {
    if let Form::Settings = text.form {
        let root = yaml::parse(&text.text).map_err(|fault| vec![fault])?;
        let mut walk = Walk::new(proof);
        walk.section("", &root);
        return walk.finish();
    }
    Ok(Asked { assignments: plain_assignments(text, proof)?, sections: Vec::new() })
}

/// The settings of a source that has no sections.
fn plain_assignments(text: &SourceText, proof: Proof) -> Result<Vec<Assignment>, Vec<Fault>> {
    match &text.form {
        Form::Settings => Ok(Vec::new()),
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
            let node = YamlNode { at, value: NodeValue::Plain(value.clone()) };
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
    /// What is limited to a pipeline, a step or a path.
    sections: Vec<Section>,
    /// What the settings that are read are limited to.
    limit: Option<Limit>,
    faults: Vec<Fault>,
}

impl Walk {
    fn new(proof: Proof) -> Self {
        let (plain, overriding) = (Vec::new(), Vec::new());
        Self { proof, plain, overriding, sections: Vec::new(), limit: None, faults: Vec::new() }
    }

    /// Reads the sections of a map, each under what it is limited to.
    fn limited(&mut self, path: &str, node: &YamlNode, limit: impl Fn(&str) -> Limit) {
        let entries = match &node.value {
            NodeValue::Map(entries) => entries,
            _ if node.is_null() => return,
            NodeValue::Plain(_) | NodeValue::Quoted(_) | NodeValue::List(_) => {
                let kind = ConfigErrorKind::BadValue {
                    key: path.to_owned(),
                    found: node.description(),
                    expected: "a map of names, each with the settings that hold there".to_owned(),
                };
                return self.faults.push(Fault::new(node.at, kind));
            }
        };
        for entry in entries {
            self.limited_to(&limit(&entry.key), &entry.value);
        }
    }

    /// Reads one of them. The steps of a pipeline come behind it, since they say more.
    fn limited_to(&mut self, limit: &Limit, node: &YamlNode) {
        let mut walk = Self { limit: Some(limit.clone()), ..Self::new(self.proof) };
        let mut own = node.clone();
        let mut taken = |name: &str| match &mut own.value {
            NodeValue::Map(entries) => {
                let place = entries.iter().position(|entry| entry.key == name);
                place.map(|place| entries.remove(place))
            }
            NodeValue::Plain(_) | NodeValue::Quoted(_) | NodeValue::List(_) => None,
        };
        let steps = matches!(limit, Limit::Pipeline(_)).then(|| taken(STEPS)).flatten();
        // What stands in it is no error of its own.
        let nested = taken(OVERRIDES);
        walk.section("", &own);
        let nested = nested.map(|nested| unknown_among(&names_in(limit), OVERRIDES, &nested));
        walk.faults.extend(nested);
        match walk.finish() {
            Ok(asked) => {
                self.sections.push(Section { limit: limit.clone(), assignments: asked.assignments });
            }
            Err(faults) => {
                self.faults.extend(faults.into_iter().map(|fault| fault.within(&limit.path())));
            }
        }
        if let (Some(steps), Limit::Pipeline(pipeline)) = (steps, limit) {
            let path = format!("{}.{STEPS}", limit.path());
            let step = |step: &str| Limit::Step { pipeline: pipeline.clone(), step: step.to_owned() };
            self.limited(&path, &steps.value, step);
        }
    }

    /// Reads the settings below a section (empty: the top; `safety` and `safety.x` for overrides).
    fn section(&mut self, section: &str, node: &YamlNode) {
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
            if section == OVERRIDES && entry.key == PIPELINES {
                self.limited(&path, &entry.value, |name| Limit::Pipeline(name.to_owned()));
            } else if section == OVERRIDES && entry.key == PATHS {
                self.limited(&path, &entry.value, |pattern| Limit::Path(pattern.to_owned()));
            } else if path == OVERRIDES || keys::is_section(inner) {
                self.section(&path, &entry.value);
            } else {
                self.setting(section, &path, entry);
            }
        }
    }

    /// `true` and `false` in the place of a section that has a switch `enabled` (seed 001).
    fn shorthand(&mut self, section: &str, node: &YamlNode) {
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
                    key: if section.is_empty() { WHOLE.to_owned() } else { section.to_owned() },
                    found: node.description(),
                    expected: format!("a map with {}{or}", names.join(", ")),
                };
                self.faults.push(Fault::new(node.at, kind));
            }
        }
    }

    fn setting(&mut self, section: &str, path: &str, entry: &YamlEntry) {
        let Some((index, key)) = keys::find(inside(path)) else {
            let fault = match &self.limit {
                Some(limit) if section.is_empty() => unknown_among(&names_in(limit), path, entry),
                _ => unknown_key(section, path, entry),
            };
            self.faults.push(fault);
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

    fn finish(self) -> Result<Asked, Vec<Fault>> {
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
        Ok(Asked { assignments, sections: self.sections })
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

fn unknown_key(section: &str, path: &str, entry: &YamlEntry) -> Fault {
    let mut names = keys::names_below(inside(section));
    if section.is_empty() {
        names.push(OVERRIDES);
    } else if section == OVERRIDES {
        names.extend([PIPELINES, PATHS]);
    }
    unknown_among(&names, path, entry)
}

/// The names that may stand in a section that is limited to something.
fn names_in(limit: &Limit) -> Vec<&'static str> {
    let steps = matches!(limit, Limit::Pipeline(_)).then_some(STEPS);
    keys::names_below("").into_iter().chain(steps).collect()
}

fn unknown_among(names: &[&'static str], path: &str, entry: &YamlEntry) -> Fault {
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
