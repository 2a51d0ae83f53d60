//! Actions: what an agent wants to do, before anything is known about it.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::path::AbsolutePath;

/// The name of a tool as the client calls it: `Bash`, `Write`, `mcp__server__tool`, ...
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolName(pub String);

impl ToolName {
    /// The shell tool, under the name that all deciding crates use for it.
    pub const SHELL: &'static str = "Bash";

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One tool call that an agent wants to make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// The tool.
    pub tool: ToolName,
    /// Its input, as the client gave it.
    pub input: Json,
    /// The working directory in which it would run.
    pub cwd: AbsolutePath,
}

impl Action {
    /// A shell command.
    pub fn command(text: impl Into<String>, cwd: AbsolutePath) -> Self {
        let mut input = serde_json::Map::new();
        input.insert("command".to_owned(), Json::String(text.into()));
        Self { tool: ToolName(ToolName::SHELL.to_owned()), input: Json::Object(input), cwd }
    }

    /// Any tool call.
    pub fn tool_call(tool: impl Into<String>, input: Json, cwd: AbsolutePath) -> Self {
        Self { tool: ToolName(tool.into()), input, cwd }
    }

    /// How many bytes the action is given to write; 0 where nothing says so.
    pub fn bytes_to_write(&self) -> u64 {
        bytes_to_write(&self.input)
    }

    /// The shell text, when the tool runs one; see [`Self::shell_field`].
    pub fn shell_text(&self) -> Option<&str> {
        self.input.get(self.shell_field()?).and_then(Json::as_str)
    }

    /// The field of the input that holds the shell text of the tool, when it runs one.
    pub fn shell_field(&self) -> Option<&'static str> {
        match self.tool.as_str() {
            "Bash" | "Monitor" | "bash" | "shell" | "Shell" | "run_shell_command" | "exec_command"
            | "local_shell" => ["command", "cmd"].into_iter().find(|field| self.input.get(*field).is_some()),
            _ => None,
        }
    }
}

/// How many bytes a tool with this input is given to write, by the fields in which clients give them.
pub fn bytes_to_write(input: &Json) -> u64 {
    let lengths =
        ["content", "new_string", "new_source"].iter().filter_map(|name| input.get(*name)?.as_str());
    lengths.map(|text| u64::try_from(text.len()).unwrap_or(u64::MAX)).fold(0, u64::saturating_add)
}

/// A name of a tool or a field without case, `_`, `-` and blanks: `working_directory` and `workingDirectory` are one.
pub fn folded(name: &str) -> String {
    letters(name).collect()
}

/// Whether two names of tools or fields are one, as [`folded`] reads them.
pub fn is_same_name(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    let is_sign = |letter: &char| matches!(letter, '_' | '-' | ' ');
    name.chars().filter(move |letter| !is_sign(letter)).map(|letter| letter.to_ascii_lowercase())
}

/// The fields in which a tool is told where its command runs, folded (the shell tools of the twelve clients, and the usual names of MCP servers;
/// ours).
const WORKING_DIRECTORY: &[&str] = &[
    "cwd",
    "workdir",
    "workingdir",
    "workingdirectory",
    "currentdir",
    "currentdirectory",
    "currentworkingdirectory",
    "dir",
    "dirpath",
    "directory",
    "directorypath",
];

/// Whether a field with this name says in which directory a command runs, and nothing else.
pub fn is_working_directory(field: &str) -> bool {
    WORKING_DIRECTORY.iter().any(|known| is_same_name(known, field))
}

/// What an action is for, in one word (seed 002, design 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Looks at files only.
    FileRead,
    /// Makes files.
    FileCreation,
    /// Changes files.
    FileModification,
    /// Removes files.
    FileDeletion,
    /// Runs programs whose main effect is none of the others.
    SystemCommand,
    /// Talks to the network.
    NetworkRequest,
    /// Says something.
    Message,
    /// Nothing is known.
    Unknown,
}
