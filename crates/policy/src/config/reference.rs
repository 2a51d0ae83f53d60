//! The reference of all settings and their JSON Schema, both from the one table.

use std::fmt::Write as _;

use checkrein_protocol::{Decision, EffectKind};
use serde_json::{Map, Value as Json, json};

use super::fields::Keys;
use super::keys::{self, ALIASES, KEYS, Key, OVERRIDES, PATHS, PIPELINES, STEPS, VARIABLES};
use super::rule_parser::RULE_KEYS;
use super::settings::Config;
use super::tripwire_parser::{PATTERN_KEYS, TRIPWIRE_KEYS};
use super::value::{Kind, Value};

/// The reference of all settings, as Markdown.
pub fn reference() -> String {
    let defaults = Config::default();
    let mut text = String::from(
        "# Settings\n\nA project file may do without being trusted what the last column says.\n\n",
    );
    text.push_str("| key | type | default | what it does | a project may |\n|---|---|---|---|---|\n");
    for key in KEYS {
        let kind = key.kind.expected().replace('|', "\\|");
        let default = (key.read)(&defaults);
        let row = format!(
            "| `{}` | {kind} | `{default}` | {} | {} |",
            key.path,
            key.about,
            key.direction.freedom()
        );
        text.push_str(&row);
        text.push('\n');
    }
    text.push_str("\n## Other names\n\n| name | stands for |\n|---|---|\n");
    for (alias, path) in ALIASES {
        let _ = writeln!(text, "| `{alias}` | `{path}` |");
    }
    text.push_str("\nA section with a key `enabled` may be written as `true` or `false`. ");
    text.push_str("Whatever stands below `safety` overrides the same key outside it.\n");
    text.push_str("\n## Sections that hold in places\n\n| key | type | what it does |\n|---|---|---|\n");
    for (key, about) in SECTIONS {
        let _ = writeln!(text, "| `{key}` | a map of settings | {about} |");
    }
    text.push_str("\nA section counts where its file does: above what the file says outside it, below the layers that come later. ");
    text.push_str("In a project file it may make things stricter until the file is trusted, as any other setting; its paths begin where the file lies. ");
    text.push_str("`CHECKREIN_PIPELINE` and `CHECKREIN_STEP` name pipeline and step too, and then only what is stricter in the section holds.\n");
    text.push_str("\n## Variables of the environment\n\n| variable | sets |\n|---|---|\n");
    for (variable, path) in VARIABLES {
        let _ = writeln!(text, "| `{variable}` | `{path}` |");
    }
    keys_of(&mut text, "A rule of your own", RULE_KEYS);
    keys_of(&mut text, "A tripwire", TRIPWIRE_KEYS);
    keys_of(&mut text, "A pattern of your own", PATTERN_KEYS);
    text
}

/// The sections that are limited, and what each is for.
const SECTIONS: &[(&str, &str)] = &[
    (
        "safety.pipelines.NAME",
        "Any of the settings above, for agents that `checkrein run --pipeline NAME` starts.",
    ),
    (
        "safety.pipelines.NAME.steps.STEP",
        "The same for those that work on one step of it (`--step STEP`); it counts above the section of the pipeline.",
    ),
    (
        "safety.paths.PATTERN",
        "The same for calls that touch nothing but what lies there; where they touch other places, too, only what is stricter in it holds. \
         The pattern is relative to the workspace, absolute, or begins with `~/`.",
    ),
];

fn keys_of(text: &mut String, title: &str, keys: Keys) {
    let _ = write!(text, "\n## {title}\n\n| key | needed | type | what it does |\n|---|---|---|---|\n");
    for (name, required, expected, about) in keys {
        let needed = if *required { "yes" } else { "no" };
        let _ = writeln!(text, "| `{name}` | {needed} | {expected} | {about} |");
    }
}

/// The JSON Schema (draft 2020-12) of a configuration file, for editors.
pub fn schema() -> Json {
    let mut root = section("");
    if let Some(properties) = root.get_mut("properties").and_then(Json::as_object_mut) {
        let mut overrides = section("");
        if let Some(overrides) = overrides.as_object_mut() {
            overrides.insert("description".to_owned(), json!("Overrides the same keys outside it."));
        }
        let named = |about: &str, schema: Json| json!({ "type": ["object", "null"], "description": about, "additionalProperties": schema });
        let place = |more: Option<(&str, Json)>| {
            // The same settings as at the top, by their place there.
            let settings = keys::names_below("").into_iter();
            let mut all: Map<String, Json> = settings
                .map(|name| (name.to_owned(), json!({ "$ref": format!("#/properties/{name}") })))
                .collect();
            all.extend(more.map(|(name, schema)| (name.to_owned(), schema)));
            json!({ "type": ["object", "null"], "properties": all, "additionalProperties": false })
        };
        if let Some(own) = overrides.get_mut("properties").and_then(Json::as_object_mut) {
            let steps = named("Settings by the name of a step.", place(None));
            let pipeline = place(Some((STEPS, steps)));
            own.insert(PIPELINES.to_owned(), named("Settings by the name of a pipeline.", pipeline));
            own.insert(PATHS.to_owned(), named("Settings by a pattern of paths.", place(None)));
        }
        properties.insert(OVERRIDES.to_owned(), overrides);
    }
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!("checkrein.yaml"));
    if let Json::Object(root) = root {
        schema.extend(root);
    }
    Json::Object(schema)
}

/// The schema of the keys below a section.
fn section(path: &str) -> Json {
    let mut properties = Map::new();
    for name in keys::names_below(path) {
        let below = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let schema = match keys::find(&below) {
            Some((_, key)) => setting(key),
            None => section(&below),
        };
        properties.insert(name.to_owned(), schema);
    }
    let has_switch = !path.is_empty() && properties.contains_key("enabled");
    let object =
        json!({ "type": ["object", "null"], "properties": properties, "additionalProperties": false });
    if has_switch { json!({ "anyOf": [object, { "type": "boolean" }] }) } else { object }
}

fn setting(key: &Key) -> Json {
    let mut schema = match key.kind {
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Fraction => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Kind::Amount => json!({ "type": "number", "minimum": 0 }),
        Kind::Count(least) => json!({ "type": "integer", "minimum": least }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Text => json!({ "type": "string" }),
        Kind::List | Kind::Exemptions | Kind::Cascades => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
        Kind::Words(words) => json!({ "type": "array", "items": { "enum": words } }),
        Kind::Rules => json!({ "type": "array", "items": rule() }),
        Kind::Tripwires => json!({ "type": "array", "items": map_of(TRIPWIRE_KEYS) }),
        Kind::Patterns => json!({ "type": "array", "items": map_of(PATTERN_KEYS) }),
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), json!(key.about));
        let default = match (key.read)(&Config::default()) {
            Value::Unset => None,
            Value::Switch(value) => Some(json!(value)),
            Value::Count(value) => Some(json!(value)),
            Value::Number(value) => Some(json!(value)),
            Value::Text(value) => Some(json!(value)),
            Value::List(values) => Some(json!(values)),
            Value::Rules(_) | Value::Tripwires(_) => Some(json!([])),
        };
        if let Some(default) = default {
            schema.insert("default".to_owned(), default);
        }
    }
    schema
}

/// The schema of a map with these keys; what stands in them is checked when the file is read.
fn map_of(keys: Keys) -> Json {
    let properties: Map<String, Json> = keys
        .iter()
        .map(|(name, _, _, about)| ((*name).to_owned(), json!({ "description": about })))
        .collect();
    let required: Vec<&str> = keys.iter().filter(|(_, needed, ..)| *needed).map(|(name, ..)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn rule() -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, needed, _, about) in RULE_KEYS {
        let mut schema = match *name {
            "decision" => json!({ "enum": Decision::ALL.map(Decision::name) }),
            "kinds" => json!({ "type": "array", "items": { "enum": EffectKind::ALL.map(EffectKind::name) } }),
            "alternatives" | "tools" | "match" | "not_match" => {
                json!({ "type": "array", "items": { "type": "string" } })
            }
            _ => json!({ "type": "string" }),
        };
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".to_owned(), json!(about));
        }
        properties.insert((*name).to_owned(), schema);
        if *needed {
            required.push(*name);
        }
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}
