//! What `jq` makes of a text by assignments and deletions of single members: `.version = "2.0.0"`, `del(.scripts.old)`.
//! Source: jq manual, "Assignment", "Invoking jq".

use serde_json::Value as Json;

/// A step on the way to a member.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Place(usize),
}

/// What `jq` prints with these options and filters, in this order; `None` where that is not worked out.
pub(super) fn filtered(options: &[&str], text: &str) -> Option<String> {
    let mut indent: &[u8] = b"  ";
    let (mut is_compact, mut is_raw, mut reads_lines) = (false, false, false);
    let mut given: Vec<(&str, Json)> = Vec::new();
    let mut filter = None;
    let mut rest = options.iter();
    while let Some(flag) = rest.next() {
        match *flag {
            "-r" | "--raw-output" | "-rn" | "-nr" => is_raw = true,
            "-R" | "--raw-input" => reads_lines = true,
            "-Rr" | "-rR" => (is_raw, reads_lines) = (true, true),
            "-rc" | "-cr" => (is_raw, is_compact) = (true, true),
            "--arg" => given.push((*rest.next()?, Json::String((*rest.next()?).to_owned()))),
            "-c" | "--compact-output" => is_compact = true,
            "--tab" => indent = b"\t",
            "-n" | "--null-input" | "-M" | "--monochrome-output" | "-e" | "--exit-status" => {}
            word if word.starts_with('-') || filter.is_some() => return None,
            word => filter = Some(word),
        }
    }
    let filter = filter?;
    if reads_lines {
        return (is_raw && filter == ".").then(|| lines_of(text));
    }
    let mut json: Json = serde_json::from_str(text).ok()?;
    // How numbers are written that are not whole depends on the version.
    if !is_plain(&json) {
        return None;
    }
    for stage in parts(filter, '|')? {
        let stage = stage.trim();
        if stage == "." {
            continue;
        }
        if let Some(inner) = stage.strip_prefix("del(").and_then(|rest| rest.strip_suffix(')')) {
            remove(&mut json, &steps(inner.trim())?)?;
            continue;
        }
        if let Some(found) = chosen(&json, stage, &given) {
            json = found;
            continue;
        }
        let (place, value) = stage.split_once('=')?;
        let (place, adds) = match place.strip_suffix('+') {
            Some(place) => (place, true),
            None => (place, false),
        };
        let value: Json = serde_json::from_str(value.trim()).ok()?;
        // What stands in a text may be worked out by a filter of its own.
        let is_text = |value: &Json| value.is_string();
        if !is_plain(&value) || stage.contains("\\(") || adds && !is_text(&value) && !value.is_array() {
            return None;
        }
        put(&mut json, &steps(place.trim())?, value, adds)?;
    }
    if let (true, Json::String(text)) = (is_raw, &json) {
        return Some(format!("{text}\n"));
    }
    let mut written = Vec::new();
    if is_compact {
        serde_json::to_writer(&mut written, &json).ok()?;
    } else {
        let formatter = serde_json::ser::PrettyFormatter::with_indent(indent);
        let mut writer = serde_json::Serializer::with_formatter(&mut written, formatter);
        serde::Serialize::serialize(&json, &mut writer).ok()?;
    }
    written.push(b'\n');
    String::from_utf8(written).ok()
}

/// The lines of a text, of which each ends.
fn lines_of(text: &str) -> String {
    text.lines().flat_map(|line| [line, "\n"]).collect()
}

/// Whether an option makes `jq` read nothing.
pub(super) fn takes_no_input(option: &str) -> bool {
    matches!(option, "-n" | "--null-input" | "-rn" | "-nr")
}

/// What a stage chooses: a member, a text, a variable, a text out of base64, in other letters; `None` for other stages.
fn chosen(json: &Json, stage: &str, given: &[(&str, Json)]) -> Option<Json> {
    if let Some(name) = stage.strip_prefix('$') {
        return given.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    }
    if stage.starts_with('"') && !stage.contains("\\(") {
        return serde_json::from_str(stage).ok();
    }
    match (stage, json) {
        ("@base64d", Json::String(text)) => return super::decoded_base64(text).map(Json::String),
        ("@text" | "tostring", Json::String(text)) => return Some(Json::String(text.clone())),
        ("ascii_downcase", Json::String(text)) => return Some(Json::String(text.to_ascii_lowercase())),
        ("ascii_upcase", Json::String(text)) => return Some(Json::String(text.to_ascii_uppercase())),
        _ => {}
    }
    if !stage.starts_with('.') || stage.contains('=') {
        return None;
    }
    let mut found = json;
    for step in steps(stage)? {
        found = match (step, found) {
            (Step::Key(key), Json::Object(members)) => members.get(&key).unwrap_or(&Json::Null),
            (Step::Place(place), Json::Array(items)) => items.get(place).unwrap_or(&Json::Null),
            _ => return None,
        };
    }
    Some(found.clone())
}

/// Whether every number is whole and short, so that all versions write it alike, and no text holds what they write in different ways.
fn is_plain(json: &Json) -> bool {
    match json {
        Json::Null | Json::Bool(_) => true,
        Json::Number(number) => number.as_i64().is_some_and(|number| number.unsigned_abs() < 1 << 53),
        Json::String(text) => !text.contains('\u{7f}'),
        Json::Array(items) => items.iter().all(is_plain),
        Json::Object(members) => {
            members.iter().all(|(key, value)| !key.contains('\u{7f}') && is_plain(value))
        }
    }
}

/// The parts of a filter between signs that stand in no text and in no brackets.
fn parts(filter: &str, sign: char) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let (mut start, mut depth, mut in_text, mut escaped) = (0, 0_usize, false, false);
    for (place, c) in filter.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            c if c == sign && depth == 0 => {
                found.push(filter.get(start..place)?);
                start = place + c.len_utf8();
            }
            _ => {}
        }
    }
    found.push(filter.get(start..)?);
    (depth == 0 && !in_text).then_some(found)
}

/// The way to a member: `.a.b["c d"][0]`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut found = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[').or_else(|| rest.strip_prefix(".[")) {
            let end = inner.find(']')?;
            let (index, behind) = (inner.get(..end)?, inner.get(end + 1..)?);
            found.push(match index.parse::<usize>() {
                Ok(place) => Step::Place(place),
                Err(_) => Step::Key(serde_json::from_str(index).ok()?),
            });
            rest = behind;
            continue;
        }
        let name = rest.strip_prefix('.')?;
        if name.starts_with('"') {
            let end = name.get(1..)?.find('"')? + 2;
            found.push(Step::Key(serde_json::from_str(name.get(..end)?).ok()?));
            rest = name.get(end..)?;
            continue;
        }
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
        let key =
            name.get(..end).filter(|key| key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))?;
        found.push(Step::Key(key.to_owned()));
        rest = name.get(end..)?;
    }
    (!found.is_empty()).then_some(found)
}

/// Puts a value at a place, and makes what is missing on the way.
fn put(json: &mut Json, steps: &[Step], value: Json, adds: bool) -> Option<()> {
    let mut at = json;
    for step in steps {
        at = match step {
            Step::Key(key) => {
                if at.is_null() {
                    *at = Json::Object(serde_json::Map::new());
                }
                at.as_object_mut()?.entry(key.clone()).or_insert(Json::Null)
            }
            Step::Place(place) => at.as_array_mut()?.get_mut(*place)?,
        };
    }
    *at = match (adds, at.take(), value) {
        (false, _, value) | (true, Json::Null, value) => value,
        (true, Json::String(before), Json::String(more)) => Json::String(before + &more),
        (true, Json::Array(mut before), Json::Array(more)) => {
            before.extend(more);
            Json::Array(before)
        }
        (true, _, _) => return None,
    };
    Some(())
}

/// Takes a member away, if it is there.
fn remove(json: &mut Json, steps: &[Step]) -> Option<()> {
    let (last, way) = steps.split_last()?;
    let mut at = json;
    for step in way {
        at = match step {
            Step::Key(key) => match at.as_object_mut()?.get_mut(key) {
                Some(next) => next,
                None => return Some(()),
            },
            Step::Place(place) => at.as_array_mut()?.get_mut(*place)?,
        };
    }
    match last {
        Step::Key(key) => drop(at.as_object_mut()?.shift_remove(key)),
        Step::Place(place) => {
            let items = at.as_array_mut()?;
            if *place < items.len() {
                items.remove(*place);
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_set_and_taken_away() {
        let text = "{\"name\":\"a\",\"all\":[1,2],\"in\":{\"b c\":null},\"none\":[],\"empty\":{}}";
        let compact = |filter: &str| filtered(&["-c", filter], text);
        for (filter, wanted) in [
            (".name = \"b\"", Some(text.replace("\"a\"", "\"b\""))),
            (".name=\"x=y\"", Some(text.replace("\"a\"", "\"x=y\""))),
            (".in.\"b c\" = {\"d\": [true]}", Some(text.replace("null", "{\"d\":[true]}"))),
            (".in[\"b c\"] = 1 | .name += \"b\"", Some(text.replace("null", "1").replace("\"a\"", "\"ab\""))),
            (".all[1] = 7 | .all += [8]", Some(text.replace("1,2", "1,7,8"))),
            ("del(.name)", Some(text.replace("\"name\":\"a\",", ""))),
            ("del(.all[0])", Some(text.replace("1,2", "2"))),
            (".new.deep = \"x\"", Some(text.replace("{}}", "{},\"new\":{\"deep\":\"x\"}}"))),
            (".", Some(text.to_owned())),
            (".name = .in", None),
            (".name = \"\\(.in)\"", None),
            (".name", Some("\"a\"".to_owned())),
            (".all[] = 1", None),
            (".name |= 1", None),
            (".name == \"a\"", None),
            (".size = 1.5", None),
        ] {
            assert_eq!(compact(filter), wanted.map(|text| text + "\n"), "{filter}");
        }
        assert_eq!(
            filtered(&[".a = 1"], "{\"n\": [], \"o\": {}}").as_deref(),
            Some("{\n  \"n\": [],\n  \"o\": {},\n  \"a\": 1\n}\n")
        );
        assert_eq!(filtered(&["-r", ".a = 1"], "{}").as_deref(), Some("{\n  \"a\": 1\n}\n"));
        assert_eq!(filtered(&[".a = 1"], "{\"b\": 1.0}"), None);
    }
}
