//! Blueprints: policies as files that can be shared, pinned and tested (ACGP 2.0.0). A blueprint can only make things stricter.

use std::fmt;

use super::error::{ConfigErrorKind, ConfigErrors, Fault, Position};
use super::fields::{Keys, Proof, bad, map, missing, text, texts, unknown_key, word};
use super::layer::{FileHash, LayerKind};
use super::tripwire_parser;
use super::yaml::{self, NodeValue, YamlEntry, YamlNode};
use crate::config::Config;
use crate::governance::{
    CompiledTripwire, Metric, MetricFloor, OwnThresholds, Tier, Tripwire, TripwireProblem, play,
};
use checkrein_protocol::VerdictKind;

/// How many bases a blueprint may stand on (ours).
pub const BASES_LIMIT: usize = 8;

/// A blueprint as it stands in its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Blueprint {
    /// Its name: `org/name@2.0`.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Its title.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// The blueprint that it adds to.
    pub base: Option<Base>,
    /// The tiers that it is for; empty: all.
    pub tiers: Vec<Tier>,
    /// The tools that it is for; empty: all.
    pub tools: Vec<String>,
    /// Its tripwires, and its checks by rule.
    pub tripwires: Vec<Tripwire>,
    /// Its checks by metric.
    pub floors: Vec<MetricFloor>,
    /// Its thresholds.
    pub thresholds: OwnThresholds,
    /// What it says about trust, as numbers by path below `trust_policy`.
    trust: Vec<(String, f64)>,
    /// What it must say about some actions.
    pub fixtures: Vec<Fixture>,
}

/// The blueprint that another adds to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// Its file, relative to the file that names it.
    pub reference: String,
    /// The SHA-256 that it must have.
    pub digest: Option<Digest>,
    /// The line where it is named, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// The SHA-256 of a file, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest(String);

/// An action and the verdict that a blueprint must give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixture {
    /// What it shows.
    pub name: String,
    /// The actions, in the text form of examples; the last one is judged.
    pub actions: String,
    /// The least verdict that the blueprint asks for.
    pub expect: VerdictKind,
}

impl Digest {
    /// The digest that a text in hexadecimal says, with or without `sha256:`; `None` when it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase();
        (digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(Self(digits))
    }

    /// The digest of a text.
    pub fn of(text: &str) -> Self {
        let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
        Self(FileHash::of(text).0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "sha256:{}", self.0)
    }
}

static KEYS: Keys = &[
    ("artifact_type", true, "`acgp.blueprint`", ""),
    ("schema_version", true, "`2.0.0`", ""),
    ("id", true, "a text such as `org/name@1.0`", ""),
    ("version", true, "a version such as `1.0.0`", ""),
    ("title", true, "a text", ""),
    ("description", true, "a text", ""),
    ("base", false, "a map with `ref` and `digest`", ""),
    ("applicability", false, "a map with `governance_tiers` and `tools`", ""),
    ("tripwires", false, "a list of tripwires", ""),
    ("checks", false, "a list of checks", ""),
    ("intervention_policy", false, "a map with `thresholds`", ""),
    ("trust_policy", false, "a map with `accumulation`, `decay`, `thresholds`", ""),
    ("extensions", false, "a map with `required` and `optional`", ""),
    ("annotations", false, "anything", ""),
    ("fixtures", false, "a list of maps with `name`, `actions`, `expect`", ""),
];

static BASE_KEYS: Keys = &[("ref", true, "a file", ""), ("digest", false, "a SHA-256 in hexadecimal", "")];
static APPLICABILITY_KEYS: Keys =
    &[("governance_tiers", false, "a list of tiers", ""), ("tools", false, "a list of names of tools", "")];
static POLICY_KEYS: Keys = &[("thresholds", false, "a map with `ok`, `nudge`, `escalate`", "")];
static THRESHOLD_KEYS: Keys = &[
    ("ok", false, "a number from 0 to 1", ""),
    ("nudge", false, "a number from 0 to 1", ""),
    ("escalate", false, "a number from 0 to 1", ""),
];
static EXTENSION_KEYS: Keys =
    &[("required", false, "an empty list", ""), ("optional", false, "a list of texts", "")];
static FIXTURE_KEYS: Keys = &[
    ("name", true, "a text", ""),
    ("actions", true, "an example: actions with `-->` between them", ""),
    ("expect", true, "`ok` or `nudge` or `escalate` or `block` or `halt`", ""),
];
static METRIC_KEYS: Keys = &[
    ("id", true, "a name", ""),
    ("kind", true, "`metric`", ""),
    ("metric", true, "`reasoning` or `grounding` or `ethical` or `tool_safety` or `context`", ""),
    ("min_score", true, "a number from 0 to 1", ""),
    ("on_fail", true, "`nudge` or `escalate` or `block`", ""),
];

/// The numbers of a trust policy.
const TRUST: [&str; 11] = [
    "accumulation.flag",
    "accumulation.nudge",
    "accumulation.escalate",
    "accumulation.block",
    "accumulation.halt",
    "decay.decay_fraction",
    "decay.period_hours",
    "decay.min_debt",
    "thresholds.elevated_monitoring",
    "thresholds.restricted_mode",
    "thresholds.re_tiering_review",
];

impl Blueprint {
    /// Reads the text of a file. Its conditions and fixtures are looked at by [`Blueprint::parse_proved`] only.
    pub fn parse(name: &str, text: &str, layer: LayerKind) -> Result<Self, ConfigErrors> {
        Self::read(name, text, layer, Proof::Form)
    }

    /// The same, with every condition parsed, every example played and every fixture run.
    pub fn parse_proved(name: &str, text: &str, layer: LayerKind) -> Result<Self, ConfigErrors> {
        Self::read(name, text, layer, Proof::Everything)
    }

    fn read(name: &str, text: &str, layer: LayerKind, proof: Proof) -> Result<Self, ConfigErrors> {
        let root = yaml::parse(text).map_err(|fault| vec![fault]);
        root.and_then(|root| blueprint(&root, proof)).map_err(|faults| ConfigErrors {
            errors: faults.into_iter().map(|fault| fault.located(layer, name, text)).collect(),
        })
    }

    /// Whether it is for the tier of a configuration.
    pub fn applies(&self, config: &Config) -> bool {
        self.tiers.is_empty() || self.tiers.contains(&config.governance.tier)
    }

    /// Makes a configuration as strict as the blueprint, where it is milder. Answers the names of tripwires that another of the
    /// same name, but not the same content, keeps out.
    pub fn tighten(&self, config: &mut Config) -> Vec<String> {
        let governance = &mut config.governance;
        let mut taken = Vec::new();
        for tripwire in &self.tripwires {
            let mut tripwire = tripwire.clone();
            if tripwire.tools.is_empty() {
                tripwire.tools.clone_from(&self.tools);
            }
            match governance.tripwires.iter().find(|other| other.name == tripwire.name) {
                None => governance.tripwires.push(tripwire),
                Some(other) if *other == tripwire => {}
                Some(_) => taken.push(tripwire.name),
            }
        }
        governance.floors.extend(
            self.floors
                .iter()
                .filter(|floor| !governance.floors.contains(floor))
                .copied()
                .collect::<Vec<_>>(),
        );
        let lower = |own: &mut Option<f64>, new: Option<f64>| {
            *own = match (*own, new) {
                (Some(own), Some(new)) => Some(own.min(new)),
                (own, new) => own.or(new),
            };
        };
        lower(&mut governance.thresholds.ok, self.thresholds.ok);
        lower(&mut governance.thresholds.nudge, self.thresholds.nudge);
        lower(&mut governance.thresholds.escalate, self.thresholds.escalate);
        let trust = &mut governance.trust_debt;
        for (path, value) in &self.trust {
            match path.as_str() {
                "accumulation.flag" => raise(&mut trust.accumulation.flag, *value),
                "accumulation.nudge" => raise(&mut trust.accumulation.nudge, *value),
                "accumulation.escalate" => raise(&mut trust.accumulation.escalate, *value),
                "accumulation.block" => raise(&mut trust.accumulation.block, *value),
                "accumulation.halt" => raise(&mut trust.accumulation.halt, *value),
                "decay.decay_fraction" => sink(&mut trust.decay.fraction, *value),
                "decay.period_hours" => raise(&mut trust.decay.period_hours, *value),
                "decay.min_debt" => raise(&mut trust.decay.min_debt, *value),
                "thresholds.elevated_monitoring" => sink(&mut trust.thresholds.elevated_monitoring, *value),
                "thresholds.restricted_mode" => sink(&mut trust.thresholds.restricted_mode, *value),
                "thresholds.re_tiering_review" => sink(&mut trust.thresholds.re_tiering_review, *value),
                _ => {}
            }
        }
        taken
    }

    /// The verdict that the tripwires and checks by rule ask for on the last action of an example.
    pub fn judge(&self, actions: &str) -> Result<VerdictKind, TripwireProblem> {
        let compiled: Vec<CompiledTripwire> =
            self.tripwires.iter().cloned().map(CompiledTripwire::new).collect();
        play(&compiled, actions, &Config::default())
    }
}

fn raise(own: &mut f64, new: f64) {
    *own = own.max(new);
}

fn sink(own: &mut f64, new: f64) {
    *own = own.min(new);
}

fn blueprint(root: &YamlNode, proof: Proof) -> Result<Blueprint, Vec<Fault>> {
    let entries = map("the file", root, "a map with `artifact_type`, `schema_version`, `id`")?;
    let mut read = Blueprint {
        id: String::new(),
        version: String::new(),
        title: String::new(),
        description: String::new(),
        base: None,
        tiers: Vec::new(),
        tools: Vec::new(),
        tripwires: Vec::new(),
        floors: Vec::new(),
        thresholds: OwnThresholds::default(),
        trust: Vec::new(),
        fixtures: Vec::new(),
    };
    let mut faults = missing("blueprint", root, entries, KEYS);
    let mut fixtures_at = Vec::new();
    for entry in entries {
        let outcome = match entry.key.as_str() {
            "artifact_type" => word(entry, "`acgp.blueprint`", &["acgp.blueprint"], |word| {
                (word == "acgp.blueprint").then_some(())
            }),
            "schema_version" => word(entry, "`2.0.0`", &["2.0.0"], |word| (word == "2.0.0").then_some(())),
            "id" => text(entry).map(|text| read.id = text),
            "version" => {
                word(entry, "a version such as `1.0.0`", &[], version).map(|text| read.version = text)
            }
            "title" => text(entry).map(|text| read.title = text),
            "description" => text(entry).map(|text| read.description = text),
            "base" => base(&entry.value).map(|base| read.base = Some(base)),
            "applicability" => applicability(&entry.value, &mut read),
            "tripwires" => {
                tripwire_parser::tripwires(&entry.value, proof).map(|more| read.tripwires.extend(more))
            }
            "checks" => checks(&entry.value, proof, &mut read),
            "intervention_policy" => intervention_policy(&entry.value, &mut read.thresholds),
            "trust_policy" => trust("", &entry.value, &mut read.trust),
            "extensions" => extensions(&entry.value),
            "annotations" => Ok(()),
            "fixtures" => fixtures(&entry.value, &mut read.fixtures, &mut fixtures_at),
            _ => Err(vec![unknown_key(entry, KEYS)]),
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    let rising = [read.thresholds.ok, read.thresholds.nudge, read.thresholds.escalate];
    if !rising.iter().flatten().is_sorted() {
        let kind = ConfigErrorKind::BadValue {
            key: "intervention_policy.thresholds".to_owned(),
            found: "not in order".to_owned(),
            expected: "`ok` not above `nudge`, `nudge` not above `escalate`".to_owned(),
        };
        faults.push(Fault::new(root.at, kind));
    }
    if proof == Proof::Everything && faults.is_empty() {
        let places = read.fixtures.iter().zip(fixtures_at);
        faults.extend(places.filter_map(|(fixture, at)| {
            let message = match read.judge(&fixture.actions) {
                Ok(found) if found == fixture.expect => return None,
                Ok(found) => {
                    format!("`{}` gives {}, not {}", fixture.name, found.name(), fixture.expect.name())
                }
                Err(problem) => format!("`{}`: {problem}", fixture.name),
            };
            Some(Fault::new(at, ConfigErrorKind::BadExample { message }))
        }));
    }
    if faults.is_empty() { Ok(read) } else { Err(faults) }
}

fn version(text: &str) -> Option<String> {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<&str> = core.split('.').collect();
    let all = numbers.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    (numbers.len() == 3 && all).then(|| text.to_owned())
}

fn base(node: &YamlNode) -> Result<Base, Vec<Fault>> {
    let entries = map("base", node, "a map with `ref` and `digest`")?;
    let mut read =
        Base { reference: String::new(), digest: None, line: node.at.line, column: node.at.column };
    let mut faults = missing("`base`", node, entries, BASE_KEYS);
    for entry in entries {
        let outcome = match entry.key.as_str() {
            "ref" => text(entry).map(|text| {
                (read.line, read.column) = (entry.value.at.line, entry.value.at.column);
                read.reference = text;
            }),
            "digest" => word(entry, "a SHA-256 in hexadecimal", &[], Digest::parse)
                .map(|digest| read.digest = Some(digest)),
            _ => Err(vec![unknown_key(entry, BASE_KEYS)]),
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    if faults.is_empty() { Ok(read) } else { Err(faults) }
}

fn applicability(node: &YamlNode, read: &mut Blueprint) -> Result<(), Vec<Fault>> {
    let mut faults = Vec::new();
    for entry in map("applicability", node, "a map with `governance_tiers` and `tools`")? {
        let outcome = match entry.key.as_str() {
            "tools" => texts(entry).map(|texts| read.tools = texts),
            "governance_tiers" => tiers(entry).map(|tiers| read.tiers = tiers),
            _ => Err(vec![unknown_key(entry, APPLICABILITY_KEYS)]),
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn tiers(entry: &YamlEntry) -> Result<Vec<Tier>, Vec<Fault>> {
    let NodeValue::List(items) = &entry.value.value else {
        return Err(vec![bad(&entry.key, &entry.value, "a list of tiers")]);
    };
    let read = |item: &YamlNode| {
        let tier = item.scalar().and_then(Tier::from_name);
        tier.ok_or_else(|| vec![bad(&entry.key, item, "a tier from `GT-0` to `GT-5`")])
    };
    items.iter().map(read).collect()
}

/// Checks by rule are tripwires that do not halt; checks by metric are floors of the trace quality.
fn checks(node: &YamlNode, proof: Proof, read: &mut Blueprint) -> Result<(), Vec<Fault>> {
    let NodeValue::List(items) = &node.value else {
        return Err(vec![bad("checks", node, "a list of checks")]);
    };
    let mut faults = Vec::new();
    for item in items {
        let entries = match map("check", item, "a map with `id`, `kind`, `on_fail`") {
            Ok(entries) => entries,
            Err(more) => {
                faults.extend(more);
                continue;
            }
        };
        let kind = entries.iter().find(|entry| entry.key == "kind");
        let outcome = match kind.and_then(|entry| entry.value.scalar()) {
            Some("metric") => floor(item, entries).map(|floor| read.floors.push(floor)),
            Some("rule") => {
                let rest = entries.iter().filter(|entry| entry.key != "kind").cloned().collect();
                let list = YamlNode {
                    at: item.at,
                    value: NodeValue::List(vec![YamlNode { at: item.at, value: NodeValue::Map(rest) }]),
                };
                tripwire_parser::tripwires(&list, proof).and_then(|more| {
                    if more.iter().any(|one| one.decision == VerdictKind::Halt) {
                        return Err(vec![bad(
                            "on_fail",
                            item,
                            "a decision other than `halt`, which only tripwires give",
                        )]);
                    }
                    read.tripwires.extend(more);
                    Ok(())
                })
            }
            Some(_) | None => {
                Err(vec![bad("kind", kind.map_or(item, |entry| &entry.value), "`rule` or `metric`")])
            }
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn floor(item: &YamlNode, entries: &[YamlEntry]) -> Result<MetricFloor, Vec<Fault>> {
    let mut read = MetricFloor { metric: Metric::Reasoning, least: 0.0, verdict: VerdictKind::Nudge };
    let mut faults = missing("check", item, entries, METRIC_KEYS);
    for entry in entries {
        let outcome = match entry.key.as_str() {
            "id" | "kind" => Ok(()),
            "metric" => word(entry, METRIC_KEYS[2].2, &Metric::ALL.map(Metric::name), Metric::from_name)
                .map(|metric| read.metric = metric),
            "min_score" => fraction(entry).map(|least| read.least = least),
            "on_fail" => word(entry, METRIC_KEYS[4].2, &["nudge", "escalate", "block"], |word| {
                VerdictKind::from_name(word)
                    .filter(|verdict| !matches!(verdict, VerdictKind::Ok | VerdictKind::Halt))
            })
            .map(|verdict| read.verdict = verdict),
            _ => Err(vec![unknown_key(entry, METRIC_KEYS)]),
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    if faults.is_empty() { Ok(read) } else { Err(faults) }
}

fn fraction(entry: &YamlEntry) -> Result<f64, Vec<Fault>> {
    let number = entry.value.scalar().and_then(|text| text.parse::<f64>().ok());
    let number = number.filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| vec![bad(&entry.key, &entry.value, "a number from 0 to 1")])
}

fn intervention_policy(node: &YamlNode, read: &mut OwnThresholds) -> Result<(), Vec<Fault>> {
    let mut faults = Vec::new();
    for entry in map("intervention_policy", node, "a map with `thresholds`")? {
        if entry.key != "thresholds" {
            faults.push(unknown_key(entry, POLICY_KEYS));
            continue;
        }
        for entry in map("thresholds", &entry.value, "a map with `ok`, `nudge`, `escalate`")? {
            let outcome = match entry.key.as_str() {
                "ok" => fraction(entry).map(|number| read.ok = Some(number)),
                "nudge" => fraction(entry).map(|number| read.nudge = Some(number)),
                "escalate" => fraction(entry).map(|number| read.escalate = Some(number)),
                _ => Err(vec![unknown_key(entry, THRESHOLD_KEYS)]),
            };
            faults.extend(outcome.err().unwrap_or_default());
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Reads the numbers below `trust_policy`. `enabled` is accepted as `true`: a blueprint switches nothing off.
fn trust(path: &str, node: &YamlNode, read: &mut Vec<(String, f64)>) -> Result<(), Vec<Fault>> {
    let mut faults = Vec::new();
    for entry in map("trust_policy", node, "a map with `accumulation`, `decay`, `thresholds`")? {
        let own = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
        let section = TRUST
            .iter()
            .any(|name| name.strip_prefix(own.as_str()).is_some_and(|rest| rest.starts_with('.')));
        let outcome = if section {
            trust(&own, &entry.value, read)
        } else if own == "enabled" {
            word(entry, "`true`", &["true"], |word| (word == "true").then_some(()))
        } else if TRUST.contains(&own.as_str()) {
            let number = entry.value.scalar().and_then(|text| text.parse::<f64>().ok());
            match number.filter(|number| number.is_finite() && *number >= 0.0) {
                Some(number) => {
                    read.push((own, number));
                    Ok(())
                }
                None => Err(vec![bad(&own, &entry.value, "a number from 0 up")]),
            }
        } else {
            let kind = ConfigErrorKind::UnknownKey { key: own, expected: TRUST.join(", ") };
            Err(vec![Fault::new(entry.at, kind)])
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// What is not understood must not be required.
fn extensions(node: &YamlNode) -> Result<(), Vec<Fault>> {
    let mut faults = Vec::new();
    for entry in map("extensions", node, "a map with `required` and `optional`")? {
        let outcome = match entry.key.as_str() {
            "optional" => texts(entry).map(drop),
            "required" => match texts(entry)?.as_slice() {
                [] => Ok(()),
                [..] => Err(vec![bad("required", &entry.value, "an empty list: no extension is known here")]),
            },
            _ => Err(vec![unknown_key(entry, EXTENSION_KEYS)]),
        };
        faults.extend(outcome.err().unwrap_or_default());
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn fixtures(node: &YamlNode, all: &mut Vec<Fixture>, places: &mut Vec<Position>) -> Result<(), Vec<Fault>> {
    let NodeValue::List(items) = &node.value else {
        return Err(vec![bad("fixtures", node, "a list of maps")]);
    };
    let mut faults = Vec::new();
    for item in items {
        let entries = map("fixture", item, "a map with `name`, `actions`, `expect`")?;
        let mut read = Fixture { name: String::new(), actions: String::new(), expect: VerdictKind::Ok };
        faults.extend(missing("fixture", item, entries, FIXTURE_KEYS));
        for entry in entries {
            let outcome = match entry.key.as_str() {
                "name" => text(entry).map(|text| read.name = text),
                "actions" => text(entry).map(|text| read.actions = text),
                "expect" => word(
                    entry,
                    FIXTURE_KEYS[2].2,
                    &VerdictKind::ALL.map(VerdictKind::name),
                    VerdictKind::from_name,
                )
                .map(|verdict| read.expect = verdict),
                _ => Err(vec![unknown_key(entry, FIXTURE_KEYS)]),
            };
            faults.extend(outcome.err().unwrap_or_default());
        }
        all.push(read);
        places.push(item.at);
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}
