//! Which requests of an agent ask for something to be done, however their methods are written.
//!
//! An editor that folds case or signs would do what a stricter reader passes over. So what is like a method that matters counts as that
//! method, and a method that nobody knows counts by what its parameters name.

use checkrein_clients::says_twice;
use checkrein_protocol::folded;
use serde_json::Value as Json;

use crate::desk::REVIEWED;
use crate::edits;
use crate::inputs::{DEPTH, FILES, PROSE};
use crate::message::{Message, holds_name};

/// The methods of an agent that this version knows (Agent Client Protocol, version 1, "Client" and "Agent" methods).
const KNOWN: [&str; 12] = [
    "session/request_permission",
    "session/update",
    "session/elicitation",
    "elicitation/create",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
    "$/cancel_request",
];

/// What is asked about a terminal that runs already.
const OF_TERMINALS: [&str; 4] =
    ["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"];

/// The fields of parameters that hold something to run, folded: names that editors, agents and servers of tools give them (ours).
pub(crate) const RUNNING: [&str; 27] = [
    "command",
    "commands",
    "cmd",
    "cmds",
    "cmdline",
    "commandline",
    "shellcommand",
    "shell",
    "script",
    "scripts",
    "argv",
    "args",
    "arguments",
    "program",
    "executable",
    "exec",
    "run",
    "code",
    "source",
    "sql",
    "statement",
    "expression",
    "javascript",
    "python",
    "bash",
    "eval",
    "shellscript",
];

/// Further fields that name a file of this machine, folded (ours).
const FURTHER_FILES: [&str; 2] = ["uris", "destination"];

/// What a request of an agent is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matter {
    /// Whether a call may run.
    Permission,
    /// Something that the editor is to do, by this method.
    Deed(&'static str),
    /// Something that the editor is to do, by a method that this version does not know.
    UnknownDeed,
    /// A terminal that runs already.
    Terminal,
    /// What the agent tells.
    Update,
    /// That an answer is not waited for any more.
    Withdrawal,
    /// Nothing that is reviewed.
    Nothing,
}

impl Matter {
    /// Whether the request is reviewed before it goes on.
    pub(crate) fn is_reviewed(self) -> bool {
        match self {
            Self::Permission | Self::Deed(_) | Self::UnknownDeed => true,
            Self::Terminal | Self::Update | Self::Withdrawal | Self::Nothing => false,
        }
    }
}

/// What a message of the agent is about. Where it names several methods, the one that matters most.
pub(crate) fn matter(message: &Message<'_>) -> Matter {
    let Some(method) = message.method.as_deref() else { return Matter::Nothing };
    let all = std::iter::once(method).chain(message.twofold.iter().map(AsRef::as_ref));
    let mut found = Matter::Nothing;
    for method in all {
        let one = by_method(method);
        if one.is_reviewed() || found == Matter::Nothing {
            found = one;
        }
        if found.is_reviewed() {
            return found;
        }
    }
    if found == Matter::Nothing && names_deed(message) { Matter::UnknownDeed } else { found }
}

/// Whether a method of a server, as a message to it names it, calls one of its tools.
pub(crate) fn calls_tool(method: &str) -> bool {
    method.split('/').map(folded).eq(["tools", "call"].map(str::to_owned))
}

fn by_method(method: &str) -> Matter {
    match known(method) {
        Some("session/request_permission") => Matter::Permission,
        Some("session/update") => Matter::Update,
        Some("$/cancel_request") => Matter::Withdrawal,
        Some(method) if OF_TERMINALS.contains(&method) => Matter::Terminal,
        Some(method) => Matter::Deed(method),
        None => {
            let plain = plain(method).to_ascii_lowercase();
            let is_deed = ["fs/", "terminal/"].iter().any(|family| plain.starts_with(family));
            if is_deed { Matter::UnknownDeed } else { Matter::Nothing }
        }
    }
}

/// The method that a name stands for, by its letters alone: `Terminal/Create`, `session/requestPermission`,
/// `_editor/terminal/create`.
fn known(method: &str) -> Option<&'static str> {
    let is_like = |name: &str, known: &str| name.split('/').map(folded).eq(known.split('/').map(folded));
    let plain = plain(method);
    KNOWN.into_iter().find(|known| is_like(method, known) || is_like(plain, known))
}

/// The method that one of an extension is like: `terminal/create` for `_editor/terminal/create`.
fn plain(method: &str) -> &str {
    let Some(rest) = method.strip_prefix('_') else { return method };
    let families = ["fs/", "terminal/", "session/", "elicitation/"];
    let is_family =
        |family: &&str| rest.get(..family.len()).is_some_and(|start| start.eq_ignore_ascii_case(family));
    if families.iter().any(is_family) {
        return rest;
    }
    rest.split_once('/').map_or(method, |(_, method)| method)
}

/// The name under which a method that nobody knows is judged.
pub(crate) fn tool_name(method: &str) -> String {
    let letters = plain(method).chars().map(|c| if c.is_alphanumeric() { c } else { '_' });
    let words: String = letters.take(64).collect();
    format!("mcp__editor__{}", words.trim_matches('_'))
}

/// Whether the parameters of a method that nobody knows name something to run, or a file.
fn names_deed(message: &Message<'_>) -> bool {
    let Some(params) = message.params else { return false };
    // A long text, and one in which a name stands twice, is looked through for the names alone.
    if params.len() > REVIEWED || says_twice(params) {
        return holds_name(params, &|name| RUNNING.contains(&name));
    }
    message.read_params().is_some_and(|params| holds_deed(&params, DEPTH))
}

fn holds_deed(value: &Json, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match value {
        Json::Object(fields) if edits::holds_edit(fields) => true,
        Json::Object(fields) => fields.iter().any(|(name, value)| {
            let name = folded(name);
            let is_meant = [&RUNNING[..], &FILES, &FURTHER_FILES]
                .into_iter()
                .any(|names| names.contains(&name.as_str()));
            // What the protocol keeps for remarks of implementations asks for nothing.
            name != "meta"
                && (is_meant && says_something(value)
                    || is_file_address(value) && !PROSE.contains(&name.as_str())
                    || name == "method" && value.as_str().is_some_and(calls_tool)
                    || holds_deed(value, depth))
        }),
        Json::Array(items) => items.iter().any(|item| holds_deed(item, depth)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// Whether a value is the address of a file of this machine.
fn is_file_address(value: &Json) -> bool {
    value
        .as_str()
        .is_some_and(|text| !text.starts_with('/') && !text.starts_with('~') && edits::is_file(text))
}

/// Whether a value is a text or a list that begins with one.
fn says_something(value: &Json) -> bool {
    match value {
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => items.first().is_some_and(Json::is_string),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Line;

    fn of(method: &str, params: &str) -> Matter {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        match Line::read(line.as_bytes()) {
            Line::Message(message) => matter(&message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_method_is_known_however_it_is_written() {
        for method in [
            "terminal/create",
            "Terminal/Create",
            "TERMINAL/CREATE",
            "_editor/terminal/create",
            "_terminal/Create",
        ] {
            assert_eq!(of(method, "{}"), Matter::Deed("terminal/create"), "{method}");
        }
        for method in [
            "session/requestPermission",
            "Session/Request_Permission",
            "session/request-permission",
            "_x/session/request_permission",
        ] {
            assert_eq!(of(method, "{}"), Matter::Permission, "{method}");
        }
        assert_eq!(of("fs/delete_file", "{}"), Matter::UnknownDeed);
        assert_eq!(of("FS/delete_file", "{}"), Matter::UnknownDeed);
        assert_eq!(of("Terminal/Output", "{}"), Matter::Terminal);
        assert_eq!(of("session/update", r#"{"command":"ls"}"#), Matter::Update);
        assert_eq!(of("$/cancel_request", "{}"), Matter::Withdrawal);
    }

    #[test]
    fn an_extension_counts_by_what_its_parameters_name() {
        for params in [
            r#"{"command":"ls"}"#,
            r#"{"request":{"Cmd":["ls","-l"]}}"#,
            r#"{"steps":[{"shell_command":"ls"}]}"#,
            r#"{"path":"/w/a","content":"x"}"#,
            r#"{"command_line":"ls"}"#,
            r#"{"edit":{"changes":{"file:///w/a":[]}}}"#,
            r#"{"edit":{"documentChanges":[{"kind":"rename","oldUri":"file:///w/a","newUri":"file:///w/b"}]}}"#,
            r#"{"resource":"file:///w/a"}"#,
            r#"{"expression":"1"}"#,
            r#"{"method":"tools/call","params":{"name":"delete_repo"}}"#,
            r#"{"message":{"method":"Tools/Call","params":{"name":"delete_repo"}}}"#,
        ] {
            assert_eq!(of("_acme/exec", params), Matter::UnknownDeed, "{params}");
            assert_eq!(of("acme/do", params), Matter::UnknownDeed, "{params}");
        }
        for params in [
            "{}",
            "[]",
            r#"{"sessionId":"s","text":"rm -rf x"}"#,
            r#"{"commands":[{"name":"plan","description":"d"}]}"#,
            r#"{"method":"tools/list","params":{}}"#,
            r#"{"code":1,"run":true,"path":""}"#,
            r#"{"_meta":{"command":"ls"}}"#,
            r#"{"changes":{"added":3},"title":"file:///w/a"}"#,
        ] {
            assert_eq!(of("_acme/progress", params), Matter::Nothing, "{params}");
        }
    }

    #[test]
    fn a_name_for_a_review_holds_the_words_of_the_method() {
        assert_eq!(tool_name("_acme/exec"), "mcp__editor__exec");
        assert_eq!(tool_name("fs/delete_file"), "mcp__editor__fs_delete_file");
        assert_eq!(tool_name("_fs/delete_file"), "mcp__editor__fs_delete_file");
    }
}
