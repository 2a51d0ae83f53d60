//! Calls under the names of tools and fields that the rest of the program knows, where the input means the same.

use checkrein_protocol::{Action, ToolName};
use serde_json::{Map, Value as Json, json};

/// What a tool of a client is, where it has a counterpart among ours.
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

/// Names of fields, ours first.
const PATH: [&str; 4] = ["file_path", "filePath", "path", "target_file"];
const CONTENT: [&str; 5] = ["content", "file_text", "contents", "text", "new_text"];
const OLD: [&str; 4] = ["old_string", "oldString", "old_str", "old_text"];
const NEW: [&str; 4] = ["new_string", "newString", "new_str", "new_text"];
const PATCH: [&str; 4] = ["command", "patchText", "input", "patch"];
const FOLDER: [&str; 4] = ["workdir", "working_directory", "directory", "dir_path"];

/// The call under our names. A call that has no counterpart, or not the fields of one, stays as it is.
pub fn canonical(mut action: Action) -> Action {
    let Some(counterpart) = counterpart(action.tool.as_str()) else { return action };
    if let Json::String(text) = &action.input {
        // One field alone, as a patch is passed by some clients.
        action.input = json!({ "command": text });
    }
    let Json::Object(fields) = &mut action.input else { return action };
    let name = match counterpart {
        Counterpart::Shell => {
            shell(fields);
            if let Some(folder) = FOLDER.iter().find_map(|key| fields.get(*key)?.as_str()) {
                action.cwd = action.cwd.join(folder);
            }
            ToolName::SHELL
        }
        Counterpart::Write => {
            rename(fields, &PATH);
            rename(fields, &CONTENT);
            "Write"
        }
        Counterpart::Editor if !OLD.iter().any(|key| fields.contains_key(*key)) => {
            rename(fields, &PATH);
            rename(fields, &CONTENT);
            "Write"
        }
        Counterpart::Edit | Counterpart::Editor => {
            for names in [&PATH[..], &OLD, &NEW] {
                rename(fields, names);
            }
            "Edit"
        }
        Counterpart::Read => {
            rename(fields, &PATH);
            // Several files at once have no counterpart.
            if fields.get("file_path").is_none_or(|path| !path.is_string()) {
                return action;
            }
            "Read"
        }
        Counterpart::Notebook => "NotebookEdit",
        Counterpart::Patch => {
            rename(fields, &PATCH);
            "apply_patch"
        }
    };
    action.tool = ToolName(name.to_owned());
    action
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
        | "execute_cmd" | "execute_command" | "run_commands" | "run_command" | "run_in_terminal"
        | "write_bash" => Counterpart::Shell,
        "Write" | "write" | "write_file" | "create" | "Create" | "write_to_file" | "create_file"
        | "fs_write" | "fsWrite" => Counterpart::Write,
        "Edit" | "edit" | "replace" | "str_replace" | "edit_file" => Counterpart::Edit,
        "Read" | "read" | "read_file" | "view" | "fs_read" => Counterpart::Read,
        "editor" => Counterpart::Editor,
        "notebook_edit" => Counterpart::Notebook,
        "apply_patch" | "ApplyPatch" => Counterpart::Patch,
        _ => return None,
    })
}

/// The text for the shell under its name. What is typed into an open shell is a text for it; of several commands each runs in a shell of
/// its own.
fn shell(fields: &mut Map<String, Json>) {
    if fields.contains_key("command") {
        return;
    }
    if let Some(typed) = fields.get("input").filter(|typed| typed.is_string()).cloned() {
        fields.insert("command".to_owned(), typed);
        return;
    }
    let commands = fields.get("commands").map(|commands| match commands.as_str() {
        Some(text) => serde_json::from_str(text).unwrap_or_else(|_| json!([text])),
        None => commands.clone(),
    });
    let words: Option<Vec<String>> = commands
        .as_ref()
        .and_then(Json::as_array)
        .map(|list| {
            list.iter()
                .map(|one| one.as_str().or_else(|| one.get("command")?.as_str()).map(str::to_owned))
                .collect()
        })
        .unwrap_or_default();
    let text = match words.as_deref() {
        None | Some([]) => return,
        Some([one]) => one.clone(),
        Some(all) => all.iter().map(|one| format!("(\n{one}\n)")).collect::<Vec<_>>().join("\n"),
    };
    fields.insert("command".to_owned(), Json::String(text));
}

/// Puts what stands under one of the names under the first of them.
fn rename(fields: &mut Map<String, Json>, names: &[&str]) {
    let [own, others @ ..] = names else { return };
    if fields.contains_key(*own) {
        return;
    }
    if let Some(value) = others.iter().find_map(|name| fields.remove(*name)) {
        fields.insert((*own).to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use checkrein_protocol::AbsolutePath;

    use super::*;

    fn told(tool: &str, input: Json) -> (String, Json, String) {
        let action = Action::tool_call(tool, input, AbsolutePath::new("/w").unwrap());
        let action = canonical(action);
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

    #[test]
    fn each_of_several_commands_has_a_shell_of_its_own() {
        let one = told("run_commands", json!({"commands": ["ls"]}));
        assert_eq!(one.1["command"], "ls");
        let two = told("run_commands", json!({"commands": "[\"cd /tmp # there\", \"rm -rf x\"]"}));
        assert_eq!(two.1["command"], "(\ncd /tmp # there\n)\n(\nrm -rf x\n)");
        assert_eq!(told("run_commands", json!({"commands": [1]})).1.get("command"), None);
    }
}
