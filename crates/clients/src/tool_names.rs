//! Calls under the names of tools and fields that the rest of the program knows, where the input means the same.
//!
//! What a model puts into an input beside the fields of a tool is passed to the hook too, and some of it has a name that another client
//! uses. Which of two a client obeys is not guessed: a call that can be read in two ways is none that can be judged.

use checkrein_protocol::{AbsolutePath, Action, ToolName, is_working_directory};
use serde_json::{Map, Value as Json, json};

use crate::error::DecodeError;

mod commands;

/// What a tool of a client is, where it has a counterpart among ours.
#[derive(Clone, Copy)]
enum Counterpart {
    Shell,
    Write,
    Edit,
    Read,
    /// One tool that writes a file, or edits it when it is told what to replace.
    Editor,
    Notebook,
    Patch,
}

/// In which fields the shell tool of a client names the directory of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Folders {
    /// In these, and in no others: one that it does not read leaves the command where the session is.
    These(&'static [&'static str]),
    /// In one that is usual.
    Usual,
}

/// Names of fields, ours first.
const PATH: &[&str] = &["file_path", "filePath", "path", "target_file"];
const CONTENT: &[&str] = &["content", "file_text", "contents", "text", "new_text"];
const EDITOR_CONTENT: &[&str] = &["content", "file_text", "contents", "text", "new_text", "new_str"];
const OLD: &[&str] = &["old_string", "oldString", "old_str", "old_text"];
const NEW: &[&str] = &["new_string", "newString", "new_str", "new_text"];
const PATCH: &[&str] = &["command", "patchText", "input", "patch"];

/// The call under our names. A call that has no counterpart, or not the fields of one, stays as it is.
///
/// # Errors
/// When the call can be read in two ways.
pub(crate) fn canonical(action: Action, folders: Folders) -> Result<Action, DecodeError> {
    let tool = action.tool.as_str().to_owned();
    let mut all = in_every_way(action, folders);
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => Ok(only),
        _ => Err(DecodeError::Contradicting { tool }),
    }
}

/// The same for a call of which the client is not known: in every way in which it can be read, at least one.
pub fn readings(action: Action) -> Vec<Action> {
    in_every_way(action, Folders::Usual)
}

fn in_every_way(mut action: Action, folders: Folders) -> Vec<Action> {
    let Some(counterpart) = counterpart(action.tool.as_str()) else { return vec![action] };
    // Some call a patch by the name of an edit, where they call the hooks of another client (Copilot CLI 1.0).
    let counterpart = match counterpart {
        Counterpart::Edit | Counterpart::Editor | Counterpart::Write if is_patch(&action.input) => {
            Counterpart::Patch
        }
        other => other,
    };
    match (&action.input, counterpart) {
        // One field alone, as a patch is passed by some clients.
        (Json::String(text), _) => action.input = json!({ "command": text }),
        (Json::Array(_), Counterpart::Shell) => action.input = json!({ "commands": action.input }),
        _ => {}
    }
    let Json::Object(fields) = &action.input else { return vec![action] };
    let (name, roles): (_, &[&[&str]]) = match counterpart {
        Counterpart::Shell => return commands::in_every_way(&action, fields, folders),
        Counterpart::Write => ("Write", &[PATH, CONTENT]),
        Counterpart::Editor if !OLD.iter().chain(&["insert_line"]).any(|key| fields.contains_key(*key)) => {
            ("Write", &[PATH, EDITOR_CONTENT])
        }
        Counterpart::Edit | Counterpart::Editor => ("Edit", &[PATH, OLD, NEW]),
        Counterpart::Read => {
            // Several files at once have no counterpart.
            if PATH.iter().find_map(|key| fields.get(*key)).is_none_or(|path| !path.is_string()) {
                return vec![action];
            }
            ("Read", &[PATH])
        }
        Counterpart::Notebook => ("NotebookEdit", &[]),
        Counterpart::Patch => ("apply_patch", &[PATCH]),
    };
    let mut all = vec![fields.clone()];
    for names in roles {
        all = all.iter().flat_map(|fields| chosen(fields, names)).collect();
    }
    let named = |fields| Action {
        tool: ToolName(name.to_owned()),
        input: Json::Object(fields),
        cwd: action.cwd.clone(),
    };
    all.into_iter().map(named).collect()
}

/// Whether an input is a patch: a text that begins as one, alone or under a name of patches, and no file beside it.
fn is_patch(input: &Json) -> bool {
    let begins = |text: &str| text.trim_start().starts_with("*** Begin Patch");
    match input {
        Json::String(text) => begins(text),
        Json::Object(fields) => {
            PATH.iter().all(|name| !fields.contains_key(*name))
                && PATCH.iter().filter_map(|name| fields.get(*name)?.as_str()).any(begins)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => false,
    }
}

/// What stands under one of the names, put under the first of them; more than one where they say different things.
fn chosen(fields: &Map<String, Json>, names: &[&str]) -> Vec<Map<String, Json>> {
    let Some(own) = names.first() else { return vec![fields.clone()] };
    let mut values: Vec<&Json> = Vec::new();
    for value in names.iter().filter_map(|name| fields.get(*name)).filter(|value| !value.is_null()) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let mut rest = fields.clone();
    if !values.is_empty() {
        rest.retain(|name, _| !names.contains(&name.as_str()));
    }
    let under = |value: &Json| {
        let mut fields = rest.clone();
        fields.insert((*own).to_owned(), value.clone());
        fields
    };
    if values.is_empty() { vec![rest] } else { values.into_iter().map(under).collect() }
}

/// The directories in which a command may run.
fn places(action: &Action, fields: &Map<String, Json>, folders: Folders) -> Vec<AbsolutePath> {
    let named = |is_meant: &dyn Fn(&str) -> bool| -> Vec<AbsolutePath> {
        let texts = fields.iter().filter(|(name, _)| is_meant(name)).filter_map(|(_, value)| value.as_str());
        texts.filter(|text| !text.is_empty()).map(|text| action.cwd.join(text)).collect()
    };
    let mut all = named(&is_working_directory);
    match folders {
        Folders::These(own) => {
            let own = named(&|name| own.contains(&name));
            if own.is_empty() {
                all.push(action.cwd.clone());
            }
            all.extend(own);
        }
        Folders::Usual if all.is_empty() => all.push(action.cwd.clone()),
        Folders::Usual => {}
    }
    let mut distinct: Vec<AbsolutePath> = Vec::new();
    for place in all {
        if !distinct.contains(&place) {
            distinct.push(place);
        }
    }
    distinct
}

/// The tool of a server as we name it, where a client puts `separator` between server and tool.
pub(crate) fn of_server(mut action: Action, separator: &str) -> Action {
    let name = action.tool.as_str();
    if !name.starts_with("mcp__")
        && let Some((server, tool)) = name.split_once(separator)
        && !server.is_empty()
        && !tool.is_empty()
    {
        action.tool = ToolName(format!("mcp__{server}__{tool}"));
    }
    action
}

fn counterpart(name: &str) -> Option<Counterpart> {
    Some(match name {
        "Bash" | "bash" | "Shell" | "shell" | "run_shell_command" | "Execute" | "execute_bash"
        | "execute_cmd" | "executeBash" | "execute_command" | "run_commands" | "run_command"
        | "run_in_terminal" | "exec_command" => Counterpart::Shell,
        "Write" | "write" | "write_file" | "create" | "Create" | "write_to_file" | "create_file" => {
            Counterpart::Write
        }
        "Edit" | "edit" | "replace" | "str_replace" | "edit_file" => Counterpart::Edit,
        "Read" | "read" | "read_file" | "view" | "fs_read" => Counterpart::Read,
        "editor" | "fs_write" | "fsWrite" => Counterpart::Editor,
        "notebook_edit" => Counterpart::Notebook,
        "apply_patch" | "ApplyPatch" => Counterpart::Patch,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use checkrein_protocol::AbsolutePath;

    use super::*;

    fn told(tool: &str, input: Json) -> (String, Json, String) {
        let action = Action::tool_call(tool, input, AbsolutePath::new("/w").unwrap());
        let action = canonical(action, Folders::Usual).unwrap();
        (action.tool.as_str().to_owned(), action.input, action.cwd.as_str().to_owned())
    }

    #[test]
    fn calls_get_the_names_that_are_known() {
        for (tool, input, name, expected) in [
            (
                "create",
                json!({"path": "a", "file_text": "x"}),
                "Write",
                json!({"file_path": "a", "content": "x"}),
            ),
            (
                "edit",
                json!({"filePath": "a", "oldString": "x", "newString": "y"}),
                "Edit",
                json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
            ),
            (
                "editor",
                json!({"path": "a", "new_text": "y"}),
                "Write",
                json!({"file_path": "a", "content": "y"}),
            ),
            (
                "editor",
                json!({"path": "a", "old_text": "x", "new_text": "y"}),
                "Edit",
                json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
            ),
            ("apply_patch", json!("*** Begin Patch"), "apply_patch", json!({"command": "*** Begin Patch"})),
            (
                "fs_write",
                json!({"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}),
                "Edit",
                json!({"command": "str_replace", "file_path": "a", "old_string": "x", "new_string": "y"}),
            ),
            (
                "editor",
                json!({"path": "a", "new_text": "y", "insert_line": 3}),
                "Edit",
                json!({"file_path": "a", "new_string": "y", "insert_line": 3}),
            ),
            (
                "Execute",
                json!({"command": "ls", "summary": "s"}),
                "Bash",
                json!({"command": "ls", "summary": "s"}),
            ),
            (
                "fs_read",
                json!({"operations": [{"path": "a"}]}),
                "fs_read",
                json!({"operations": [{"path": "a"}]}),
            ),
            ("glob", json!({"path": "a"}), "glob", json!({"path": "a"})),
        ] {
            let found = told(tool, input);
            assert_eq!((found.0.as_str(), found.1), (name, expected), "{tool}");
        }
        assert_eq!(told("bash", json!({"command": "ls", "workdir": "../x"})).2, "/x");
    }

    fn ways(tool: &str, input: Json, folders: Folders) -> Result<Action, DecodeError> {
        canonical(Action::tool_call(tool, input, AbsolutePath::new("/w").unwrap()), folders)
    }

    #[test]
    fn a_call_that_can_be_read_in_two_ways_is_not_judged_by_one_of_them() {
        for (tool, input) in [
            ("write", json!({"filePath": "a", "file_path": "b", "content": "x"})),
            ("write", json!({"filePath": "a", "content": "x", "text": "y"})),
            ("edit", json!({"path": "a", "old_str": "x", "old_string": "z", "new_str": "y"})),
            ("read", json!({"path": "a", "filePath": "b"})),
            ("bash", json!({"command": "ls", "cmd": "touch x"})),
            ("run_commands", json!({"command": "ls", "commands": ["touch x"]})),
            ("bash", json!({"command": "ls", "workdir": "a", "directory": "b"})),
            ("apply_patch", json!({"patchText": "a", "input": "b"})),
        ] {
            assert!(ways(tool, input.clone(), Folders::Usual).is_err(), "{tool}: {input}");
            let action = Action::tool_call(tool, input, AbsolutePath::new("/w").unwrap());
            assert_eq!(readings(action).len(), 2);
        }
        // The same under two names is no contradiction.
        let same = json!({"filePath": "a", "file_path": "a", "content": "x"});
        assert_eq!(
            ways("write", same, Folders::Usual).unwrap().input,
            json!({"file_path": "a", "content": "x"})
        );
    }

    #[test]
    fn a_directory_that_the_client_does_not_read_is_no_place() {
        let place = |input: Json, folders| {
            ways("Execute", input, folders).map(|action| action.cwd.as_str().to_owned())
        };
        let (none, own) = (Folders::These(&[]), Folders::These(&["directory"]));
        for name in ["workdir", "cwd", "workingDirectory", "working_dir", "Cwd", "dir"] {
            let mut input = json!({"command": "ls"});
            input[name] = json!("/tmp");
            assert!(place(input.clone(), none).is_err(), "{name}");
            assert_eq!(place(input, Folders::Usual).unwrap(), "/tmp", "{name}");
        }
        assert_eq!(place(json!({"command": "ls", "workdir": "/w"}), none).unwrap(), "/w");
        assert_eq!(place(json!({"command": "ls", "directory": "a"}), own).unwrap(), "/w/a");
        assert!(place(json!({"command": "ls", "directory": "a", "workdir": "/tmp"}), own).is_err());
        assert!(place(json!({"command": "ls", "workdir": "/tmp"}), own).is_err());
    }
}
