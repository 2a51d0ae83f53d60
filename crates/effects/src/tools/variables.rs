//! Variables that stand beside the command which a tool is given.

use checkrein_protocol::folded;
use checkrein_shell::quoted;
use serde_json::Value as Json;

/// Fields that hold variables, folded.
const VARIABLES: &[&str] =
    &["env", "envs", "environ", "environment", "envvars", "variables", "environmentvariables"];

/// The same texts, and each with the variables that stand beside it: in an object, in a list (`["A=b"]`, `[{"name": "A", "value": "b"}]`), or
/// in the words of one text.
pub(super) fn with_variables(input: &Json, mut all: Vec<String>) -> Vec<String> {
    let named = input.as_object().into_iter().flatten();
    let given = named.filter(|(name, _)| VARIABLES.contains(&folded(name).as_str()));
    let mut set = String::new();
    for (name, value) in given.flat_map(|(_, value)| pairs(value)) {
        set.extend(["export ", name.as_str(), "=", value.as_str(), "\n"]);
    }
    if !set.is_empty() {
        let also: Vec<String> = all.iter().map(|text| format!("{set}{text}")).collect();
        all.extend(also);
    }
    all
}

/// The names and values in one field; values in quotes of the shell.
fn pairs(value: &Json) -> Vec<(String, String)> {
    let of_text = |text: &str| {
        let (name, value) = text.split_once('=')?;
        is_name(name).then(|| (name.to_owned(), quoted(value)))
    };
    match value {
        Json::Object(fields) => {
            let texts = fields.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
            texts
                .filter(|(name, _)| is_name(name))
                .map(|(name, value)| (name.clone(), quoted(value)))
                .collect()
        }
        Json::Array(items) => {
            let of_item = |item: &Json| match item {
                Json::String(text) => of_text(text),
                Json::Object(_) => {
                    let part = |names: [&str; 2]| names.iter().find_map(|name| item.get(*name)?.as_str());
                    let (name, value) = (part(["name", "key"])?, part(["value", "val"])?);
                    is_name(name).then(|| (name.to_owned(), quoted(value)))
                }
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => None,
            };
            items.iter().filter_map(of_item).collect()
        }
        // The words of a shell, quotes and all.
        Json::String(text) => {
            let (name, value) = text.split_once('=').unwrap_or_default();
            if is_name(name) { vec![(name.to_owned(), value.to_owned())] } else { Vec::new() }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => Vec::new(),
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|letter: char| letter.is_ascii_digit())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
