//! `npm pkg`: fields of a manifest that are set and taken away, and what the manifest says then (docs.npmjs.com 10, "npm-pkg").

use serde_json::{Map, Value as Json};

use crate::effect::EffectKind;
use crate::interpreter::{Call, Exit, Machine, Value};

/// The manifest that is edited.
const MANIFEST: &str = "package.json";

/// `npm pkg`
pub(crate) fn manifest_fields(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let Some((verb, fields)) = call.arguments.operands.split_first() else { return Exit::unknown() };
    let Some(verb) = verb.as_exact().filter(|verb| matches!(*verb, "set" | "delete" | "fix")) else {
        return Exit::unknown();
    };
    let manifest = Value::exact(MANIFEST);
    // Other packages of a workspace are edited in their places.
    let is_elsewhere = call.arguments.has(&["-w", "--workspace", "--workspaces", "-ws"]);
    let path = machine.one_path_through(&manifest);
    let text = path.map(|path| machine.text(&path));
    let before = text.as_ref().and_then(Value::as_exact).and_then(|text| serde_json::from_str(text).ok());
    let after = before.and_then(|manifest: Json| {
        fields.iter().try_fold(manifest, |manifest, field| {
            changed(manifest, verb, field.as_exact()?, call.arguments.has(&["--json"]))
        })
    });
    match after.and_then(|after| serde_json::to_string_pretty(&after).ok()) {
        Some(after) if !is_elsewhere => machine.write_text(&manifest, &Value::Exact(after + "\n")),
        Some(_) | None => {
            let may_be_scripts =
                |field: &Value| field.as_exact().is_none_or(|text| text.starts_with("scripts"));
            if fields.iter().any(may_be_scripts) {
                machine.write(&manifest);
            } else {
                machine.keep_texts(std::slice::from_ref(&manifest), |machine| {
                    machine.effect(EffectKind::FileModify, &manifest);
                });
            }
        }
    }
    Exit::silent()
}

/// A manifest with one field changed; `None` where the name of the field is written in a way that is not followed.
fn changed(manifest: Json, verb: &str, field: &str, is_json: bool) -> Option<Json> {
    let (name, value) = match (verb, field.split_once('=')) {
        ("set", Some((name, value))) => (name, Some(value)),
        ("delete", None) => (field, None),
        ("fix", _) => return Some(manifest),
        _ => return None,
    };
    if name.contains(['[', ']', '"', '\'']) {
        return None;
    }
    let value = match value {
        Some(text) if is_json => Some(serde_json::from_str(text).ok()?),
        Some(text) => Some(Json::String(text.to_owned())),
        None => None,
    };
    let Json::Object(mut root) = manifest else { return None };
    put(&mut root, &name.split('.').collect::<Vec<_>>(), value)?;
    Some(Json::Object(root))
}

fn put(holder: &mut Map<String, Json>, names: &[&str], value: Option<Json>) -> Option<()> {
    let (first, rest) = names.split_first()?;
    if rest.is_empty() {
        match value {
            Some(value) => drop(holder.insert((*first).to_owned(), value)),
            None => drop(holder.remove(*first)),
        }
        return Some(());
    }
    let inner = holder.entry((*first).to_owned()).or_insert_with(|| Json::Object(Map::new()));
    match inner {
        Json::Object(inner) => put(inner, rest, value),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(verb: &str, field: &str) -> Option<String> {
        let manifest = serde_json::from_str(r#"{"scripts":{"a":"b"},"files":["x"]}"#).unwrap();
        changed(manifest, verb, field, false).map(|manifest| manifest.to_string())
    }

    #[test]
    fn fields_are_set_and_taken_away() {
        let is = |verb, field, text: &str| assert_eq!(after(verb, field).as_deref(), Some(text), "{field}");
        is("set", "scripts.c=d=e", r#"{"scripts":{"a":"b","c":"d=e"},"files":["x"]}"#);
        is("set", "type=module", r#"{"scripts":{"a":"b"},"files":["x"],"type":"module"}"#);
        is("delete", "scripts.a", r#"{"scripts":{},"files":["x"]}"#);
        assert_eq!(after("set", "files[0]=y"), None);
        assert_eq!(after("set", "files.a=y"), None);
    }
}
