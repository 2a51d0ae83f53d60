//! What the words of the name of a tool say that it does.

/// What the words of a name say that a tool does, from mild to grave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deed {
    /// Only thinks or talks.
    Quiet,
    /// Looks.
    Look,
    /// Changes something.
    Change,
    /// Runs what it is given.
    Run,
    /// Makes something public or sends it out.
    Publish,
    /// Destroys something.
    Destroy,
}

/// A name split into its server and the words of the tool.
pub(super) struct Name {
    pub(super) server: String,
    pub(super) words: Vec<String>,
}

impl Name {
    /// Whether one of these words is in the name of the tool.
    pub(super) fn has(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    /// Whether the name of the tool begins with one of these words.
    pub(super) fn begins_with(&self, words: &[&str]) -> bool {
        self.words.first().is_some_and(|word| words.contains(&word.as_str()))
    }
}

const QUIET: &[&str] = &[
    "think",
    "thinking",
    "sequentialthinking",
    "reflect",
    "plan",
    "echo",
    "ping",
    "wait",
    "sleep",
    "help",
    "calculate",
];
const LOOK: &[&str] = &[
    "get",
    "list",
    "read",
    "search",
    "fetch",
    "find",
    "show",
    "describe",
    "view",
    "lookup",
    "resolve",
    "count",
    "check",
    "browse",
    "screenshot",
    "snapshot",
    "status",
    "info",
    "ls",
    "stat",
    "tree",
    "retrieve",
    "download",
    "inspect",
    "load",
    "explain",
    "analyze",
    "analyse",
    "navigate",
    "diff",
    "log",
    "logs",
    "history",
    "summarize",
    "validate",
    "verify",
    "test",
    "compare",
    "monitor",
    "select",
    "extract",
    "crawl",
    "scrape",
    "query",
    "open",
    "hover",
    "scroll",
];
const CHANGE: &[&str] = &[
    "create",
    "update",
    "write",
    "post",
    "put",
    "patch",
    "add",
    "insert",
    "set",
    "upsert",
    "edit",
    "modify",
    "move",
    "rename",
    "append",
    "copy",
    "close",
    "comment",
    "reply",
    "invite",
    "assign",
    "approve",
    "save",
    "store",
    "commit",
    "push",
    "merge",
    "enable",
    "disable",
    "start",
    "stop",
    "restart",
    "upload",
    "import",
    "sync",
    "schedule",
    "book",
    "transfer",
    "submit",
    "fork",
    "change",
    "replace",
    "archive",
    "lock",
    "click",
    "type",
    "fill",
    "press",
    "drag",
    "configure",
    "install",
    "grant",
    "cancel",
    "make",
    "mkdir",
    "relocate",
    "mv",
    "cp",
    "duplicate",
];
const RUN: &[&str] = &[
    "execute",
    "run",
    "exec",
    "shell",
    "eval",
    "evaluate",
    "command",
    "invoke",
    "bash",
    "terminal",
    "spawn",
    "script",
    "pwsh",
    "powershell",
];
const PUBLISH: &[&str] =
    &["publish", "release", "deploy", "send", "tweet", "broadcast", "share", "email", "announce"];
const DESTROY: &[&str] = &[
    "delete",
    "drop",
    "remove",
    "destroy",
    "purge",
    "truncate",
    "wipe",
    "erase",
    "terminate",
    "uninstall",
    "reset",
    "clear",
    "kill",
    "revoke",
    "rm",
    "unlink",
    "shred",
    "flush",
    "nuke",
    "trash",
    "recycle",
    "del",
    "expunge",
];

/// The deed of the verbs in a name. Names are mostly verb first (`get_deleted_items` looks); among later verbs the gravest
/// counts (`search_and_replace`). `None` when no word is a known verb.
pub(super) fn deed_of(words: &[String]) -> Option<Deed> {
    let verb = |word: &String| -> Option<Deed> {
        let tables = [
            (QUIET, Deed::Quiet),
            (LOOK, Deed::Look),
            (CHANGE, Deed::Change),
            (RUN, Deed::Run),
            (PUBLISH, Deed::Publish),
            (DESTROY, Deed::Destroy),
        ];
        tables.into_iter().find(|(table, _)| table.contains(&word.as_str())).map(|(_, deed)| deed)
    };
    let first = words.iter().find_map(verb)?;
    let joined = words.iter().any(|word| matches!(word.as_str(), "and" | "or"));
    if first <= Deed::Look && !joined {
        return Some(first);
    }
    words.iter().filter_map(verb).max()
}

/// `mcp__server__tool`, `mcp_server_tool`, `server__tool`, `MCP:tool`, `server.tool`, or a bare name.
pub(super) fn split(tool: &str) -> Name {
    let bare = tool
        .strip_prefix("mcp__")
        .or_else(|| tool.strip_prefix("mcp_"))
        .or_else(|| tool.strip_prefix("MCP:"))
        .unwrap_or(tool);
    let (server, name) = if let Some(parts) = bare.rsplit_once("__") {
        parts
    } else if tool.starts_with("mcp_") {
        bare.split_once('_').unwrap_or(("", bare))
    } else {
        bare.rsplit_once(['.', '/', ':']).unwrap_or(("", bare))
    };
    Name { server: server.to_ascii_lowercase(), words: words_of(name) }
}

/// The words of a name in any of the usual spellings, in lower case.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for character in name.chars() {
        let boundary = !character.is_ascii_alphanumeric();
        if (boundary || (character.is_ascii_uppercase() && was_lower)) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if !boundary {
            word.push(character.to_ascii_lowercase());
        }
        was_lower = character.is_ascii_lowercase() || character.is_ascii_digit();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
