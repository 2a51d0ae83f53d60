//! Edits of files that an agent sends an editor as language servers do, by the form of their fields and under whatever method.
//!
//! Source: Language Server Protocol 3.17, `WorkspaceEdit`, `TextDocumentEdit`, `CreateFile`, `RenameFile`, `DeleteFile`.

use checkrein_protocol::{AbsolutePath, Action, folded};
use serde_json::{Map, Value as Json, json};

use crate::inputs::{self, DEPTH};

/// Fields that hold the files of an edit as keys.
const BY_FILE: &str = "changes";

/// Returns what the edits in the parameters of a request do to files, each once. The files are as they are written there.
pub(crate) fn actions(params: &Json, cwd: &AbsolutePath) -> Vec<Action> {
    let mut all = Vec::new();
    gather(params, cwd, DEPTH, &mut all);
    let mut found: Vec<Action> = Vec::new();
    for action in all {
        if !found.contains(&action) {
            found.push(action);
        }
    }
    found
}

/// Whether an object holds edits whose files are keys, or a file in a field of a rename.
pub(crate) fn holds_edit(fields: &Map<String, Json>) -> bool {
    fields.iter().any(|(name, value)| match folded(name).as_str() {
        BY_FILE => value.as_object().is_some_and(|files| files.keys().any(|file| is_file(file))),
        "olduri" | "newuri" => value.as_str().is_some_and(|text| !text.is_empty()),
        _ => false,
    })
}

/// Whether a text can be nothing but a file of this machine.
pub(crate) fn is_file(text: &str) -> bool {
    let is_address = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"));
    (is_address || text.starts_with('/') || text.starts_with("~/")) && !text.contains('\n')
}

fn gather(value: &Json, cwd: &AbsolutePath, depth: usize, all: &mut Vec<Action>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Json::Object(fields) => {
            of_object(fields, cwd, all);
            let inner = fields.iter().filter(|(name, _)| folded(name) != "meta");
            inner.for_each(|(_, value)| gather(value, cwd, depth, all));
        }
        Json::Array(items) => items.iter().for_each(|item| gather(item, cwd, depth, all)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

fn of_object(fields: &Map<String, Json>, cwd: &AbsolutePath, all: &mut Vec<Action>) {
    let field = |wanted: &str| fields.iter().find(|(name, _)| folded(name) == wanted).map(|(_, value)| value);
    let text = |wanted: &str| field(wanted).and_then(Json::as_str).filter(|text| !text.is_empty());
    let on = |tool: &str, file: &str| Action::tool_call(tool, json!({ "file_path": file }), cwd.clone());
    all.extend(inputs::writes(fields, cwd));
    let by_file = field(BY_FILE).and_then(Json::as_object).into_iter().flatten();
    all.extend(by_file.filter(|(file, _)| is_file(file)).map(|(file, _)| on("Edit", file)));
    let document = field("textdocument").and_then(|document| document.get("uri")?.as_str());
    if let Some(file) = document.filter(|_| field("edits").is_some_and(Json::is_array)) {
        all.push(on("Edit", file));
    }
    match (text("kind"), text("uri")) {
        (Some("create"), Some(file)) => all.push(on("Write", file)),
        (Some("delete"), Some(file)) => {
            let is_whole =
                fields.get("options").and_then(|options| options.get("recursive")) == Some(&json!(true));
            all.push(on(if is_whole { "delete_directory" } else { "delete_file" }, file));
        }
        (Some(_) | None, _) => {}
    }
    if let (Some(from), Some(to)) = (text("olduri"), text("newuri")) {
        let input = json!({ "source_path": from, "destination_path": to });
        all.push(Action::tool_call("move_file", input, cwd.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_read_by_their_fields() {
        let place = AbsolutePath::new("/w").unwrap();
        let told = |params: Json| -> Vec<(String, String)> {
            let all = actions(&params, &place).into_iter();
            all.map(|action| {
                let file = ["file_path", "source_path"].iter().find_map(|name| action.input.get(*name));
                (action.tool.as_str().to_owned(), file.and_then(Json::as_str).unwrap_or_default().to_owned())
            })
            .collect()
        };
        let one = |tool: &str, file: &str| vec![(tool.to_owned(), file.to_owned())];
        for (params, expected) in [
            (
                json!({ "edit": { "changes": { "file:///a": [{ "newText": "x" }] } } }),
                one("Edit", "file:///a"),
            ),
            (
                json!({ "documentChanges": [{ "textDocument": { "uri": "file:///a", "version": 1 }, "edits": [] }] }),
                one("Edit", "file:///a"),
            ),
            (
                json!({ "documentChanges": [{ "kind": "delete", "uri": "file:///a" }] }),
                one("delete_file", "file:///a"),
            ),
            (
                json!({ "x": [{ "kind": "delete", "uri": "file:///a", "options": { "recursive": true } }] }),
                one("delete_directory", "file:///a"),
            ),
            (
                json!({ "kind": "rename", "oldUri": "file:///a", "newUri": "file:///b" }),
                one("move_file", "file:///a"),
            ),
            (json!({ "deep": { "uri": "/a", "content": "x" } }), one("Write", "/a")),
            (json!({ "changes": { "added": 3 }, "textDocument": { "uri": "file:///a" } }), Vec::new()),
        ] {
            assert_eq!(told(params.clone()), expected, "{params}");
        }
    }
}
