//! As much of JSON Schema as our own schemas need, and strict: a field that a form does not name is a mistake.

use serde_json::Value as Json;

/// What is wrong with an object that a command printed; empty when it has its form.
pub fn faults(all: &Json, form: &Json, value: &Json) -> Vec<String> {
    let mut found = Vec::new();
    check(all, form, value, "", &mut found);
    found
}

fn check(all: &Json, schema: &Json, value: &Json, place: &str, found: &mut Vec<String>) {
    if let Some(path) = schema["$ref"].as_str() {
        let name = path.rsplit('/').next().unwrap_or_default();
        return check(all, &all["$defs"][name], value, place, found);
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[word].as_array() {
            let fits = |choice: &Json| {
                let mut faults = Vec::new();
                check(all, choice, value, place, &mut faults);
                faults.is_empty()
            };
            if !choices.iter().any(fits) {
                found.push(format!("{place}: {value} is none of {choices:?}"));
            }
            return;
        }
    }
    if let Some(only) = schema.get("const")
        && only != value
    {
        found.push(format!("{place}: {value} is not {only}"));
    }
    if let Some(names) = schema["enum"].as_array()
        && !names.contains(value)
    {
        found.push(format!("{place}: {value} is none of {names:?}"));
    }
    let has_type = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("`{other}` is not a type"),
    };
    let types: Vec<&str> = match &schema["type"] {
        Json::String(name) => vec![name],
        Json::Array(names) => names.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|name| has_type(name)) {
        found.push(format!("{place}: {value} is not of {types:?}"));
    }
    if schema["format"] == "date-time"
        && let Some(text) = value.as_str()
        && !(text.len() == 24 && text.ends_with('Z') && text.as_bytes().get(10) == Some(&b'T'))
    {
        found.push(format!("{place}: `{text}` is not RFC 3339 in UTC"));
    }
    for item in value.as_array().into_iter().flatten() {
        check(all, &schema["items"], item, &format!("{place}[]"), found);
    }
    let Some(fields) = value.as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        if !fields.contains_key(name) {
            found.push(format!("{place}: `{name}` is missing"));
        }
    }
    let is_open = schema.get("additionalProperties").is_some_and(|more| *more != Json::Bool(false));
    if let Some(known) = schema["properties"].as_object() {
        for (name, field) in fields {
            match known.get(name) {
                Some(schema) => check(all, schema, field, &format!("{place}.{name}"), found),
                None if is_open => {}
                None => found.push(format!("{place}: `{name}` is not known")),
            }
        }
    }
}
