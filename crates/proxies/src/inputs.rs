//! What the fields of an input name, however they are called and however deep they stand: what would run, and which files.
//!
//! Which of several fields an agent obeys is its own affair, so each of them counts.

use checkrein_protocol::{AbsolutePath, Action, folded, is_working_directory};
use serde_json::{Map, Value as Json, json};

/// The fields with something to run, folded (ours: what agents and servers of tools call it).
const COMMAND: [&str; 12] = [
    "command",
    "cmd",
    "commands",
    "cmds",
    "script",
    "shellcommand",
    "shellscript",
    "commandline",
    "cmdline",
    "program",
    "executable",
    "argv",
];

/// The fields with the words behind a command, folded (ours).
const ARGUMENTS: [&str; 3] = ["args", "arguments", "argv"];

/// The fields with variables for a command, folded (ours).
const VARIABLES: [&str; 4] = ["env", "envs", "envvars", "environment"];

/// The words with which an editor tool says what it does, under the name that elsewhere holds a command.
const EDITOR_WORDS: [&str; 6] = ["view", "create", "str_replace", "insert", "undo_edit", "delete"];

/// The fields with the path of a file, folded (ours).
pub(crate) const FILES: [&str; 14] = [
    "filepath",
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "absolutepath",
    "targetfile",
    "notebookpath",
    "target",
    "targets",
    "uri",
    "directory",
    "folder",
];
/// The fields with what is moved or copied, folded (ours).
const SOURCES: [&str; 6] = ["source", "src", "from", "oldpath", "sourcepath", "sources"];
/// The fields with where something goes, folded (ours).
const DESTINATIONS: [&str; 7] =
    ["destination", "dest", "dst", "to", "newpath", "destinationpath", "outputpath"];

/// The fields with the whole new text of a file, folded.
const CONTENT: [&str; 4] = ["content", "filetext", "contents", "newcontent"];
/// The fields with the text that goes and the one that comes, folded.
const OLD: [&str; 3] = ["oldstring", "oldstr", "oldtext"];
const NEW: [&str; 3] = ["newstring", "newstr", "newtext"];

/// The fields with what is said to people or models, folded (ours): an object that stands there as text is quoted.
pub(crate) const PROSE: [&str; 8] =
    ["text", "body", "message", "description", "prompt", "title", "thought", "explanation"];

/// How deep an input is looked through: the reader of JSON follows 127 levels at most (`serde_json`, its limit of recursion), so nothing that was
/// read is left out.
pub(crate) const DEPTH: usize = 128;
/// The longest text that can be a path, in bytes (`PATH_MAX` of Linux).
const LONGEST: usize = 4096;

/// Returns each command in an input, in each directory and with the variables that are named beside it. Programs disagree whether arguments
/// are words or go through a shell as one text, so where that makes a difference it is both.
pub(crate) fn commands(input: &Map<String, Json>, cwd: &AbsolutePath) -> Vec<Action> {
    let mut found = Vec::new();
    gather(input, &Around { places: vec![cwd.clone()], settings: String::new() }, DEPTH, &mut found);
    found
}

/// Returns the commands with which a way to log in starts something at the editor: those of its own fields, and of what it says beside the
/// protocol (`terminal-auth`, as Zed and the adapter of Claude Code have it).
pub(crate) fn logins(method: &Map<String, Json>, cwd: &AbsolutePath) -> Vec<Action> {
    let mut found = commands(method, cwd);
    let around = Around { places: vec![cwd.clone()], settings: String::new() };
    for (_, value) in method.iter().filter(|(name, _)| folded(name) == "meta") {
        within(value, &around, DEPTH, &mut found);
    }
    found
}

/// What holds for a command from outside of its own object.
struct Around {
    places: Vec<AbsolutePath>,
    settings: String,
}

fn gather(fields: &Map<String, Json>, around: &Around, depth: usize, found: &mut Vec<Action>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let mut add = |text: &str, place: &AbsolutePath| {
        let action = Action::command(text, place.clone());
        if !text.trim().is_empty() && !found.contains(&action) {
            found.push(action);
        }
    };
    let mut here = Around { places: directories(fields, &around.places), settings: around.settings.clone() };
    for (_, value) in of_names(fields, &VARIABLES) {
        for (name, value) in variables(value) {
            if is_variable(name) {
                here.settings.extend(["export ", name, "=", &quoted(&value), "\n"]);
            } else {
                // A function that is handed over under a name that is none.
                here.places.iter().for_each(|place| add(&value, place));
            }
        }
    }
    let arguments: Vec<String> =
        of_names(fields, &ARGUMENTS).flat_map(|(_, value)| words_of(value)).collect();
    let is_about_file = of_names(fields, &FILES).any(|(_, value)| value.is_string());
    for (name, value) in of_names(fields, &COMMAND) {
        for text in texts(&folded(name), value, &arguments) {
            if !(is_about_file && EDITOR_WORDS.contains(&text.as_str())) {
                here.places.iter().for_each(|place| add(&format!("{}{text}", here.settings), place));
            }
        }
    }
    for (name, value) in fields {
        let name = folded(name);
        // What the protocol keeps for remarks, and what a file is to hold, runs nowhere.
        if name != "meta" && !CONTENT.contains(&name.as_str()) && !VARIABLES.contains(&name.as_str()) {
            let is_prose = [&PROSE[..], &OLD, &NEW].into_iter().any(|names| names.contains(&name.as_str()));
            let read = (!is_prose).then(|| written(value)).flatten();
            within(read.as_ref().unwrap_or(value), &here, depth, found);
        }
    }
}

fn within(value: &Json, around: &Around, depth: usize, found: &mut Vec<Action>) {
    match value {
        Json::Object(fields) => gather(fields, around, depth, found),
        Json::Array(items) => items.iter().for_each(|item| {
            if let Some(depth) = depth.checked_sub(1) {
                within(item, around, depth, found);
            }
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// The fields with one of these names.
fn of_names<'a>(
    fields: &'a Map<String, Json>,
    names: &'a [&str],
) -> impl Iterator<Item = (&'a str, &'a Json)> {
    let found = fields.iter().filter(move |(name, _)| names.contains(&folded(name).as_str()));
    found.map(|(name, value)| (name.as_str(), value))
}

/// The list or the fields that a text holds as JSON.
fn written(value: &Json) -> Option<Json> {
    let text = value.as_str().filter(|text| text.trim_start().starts_with(['[', '{']))?;
    serde_json::from_str::<Json>(text).ok().filter(|read| read.is_array() || read.is_object())
}

/// The shell texts of one field: a text, the words of a command line, or several commands; with the arguments beside it.
fn texts(name: &str, value: &Json, arguments: &[String]) -> Vec<String> {
    let read = written(value);
    match read.as_ref().unwrap_or(value) {
        Json::String(text) if arguments.is_empty() => vec![text.clone()],
        Json::String(text) => both_ways(text, arguments),
        Json::Array(items) => {
            let Some(words) = items.iter().map(Json::as_str).collect::<Option<Vec<&str>>>() else {
                return items.iter().filter_map(Json::as_str).map(str::to_owned).collect();
            };
            match (name, words.as_slice()) {
                (_, []) => Vec::new(),
                ("commands" | "cmds", commands) => vec![commands.join("\n")],
                // `bash -lc TEXT`, as Codex has it, is its text.
                (_, [shell, flags, text]) if is_shell(shell) && is_text_flag(flags) => {
                    vec![(*text).to_owned()]
                }
                (_, words) => {
                    let alone = line(words.iter().copied());
                    if name == "argv" || arguments.is_empty() {
                        vec![alone]
                    } else {
                        vec![line(words.iter().copied().chain(arguments.iter().map(String::as_str)))]
                    }
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => Vec::new(),
    }
}

/// A command and its arguments: as words, which is what agents mean, and as one text, which is what is made of them by some.
pub(crate) fn both_ways(command: &str, arguments: &[String]) -> Vec<String> {
    let all = || std::iter::once(command).chain(arguments.iter().map(String::as_str));
    let mut both = vec![line(all()), all().collect::<Vec<_>>().join(" ")];
    both.dedup();
    both
}

/// Words as a command line.
fn line<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// The words of a list, or of a text.
fn words_of(value: &Json) -> Vec<String> {
    let read = written(value);
    match read.as_ref().unwrap_or(value) {
        Json::Array(items) => items.iter().filter(|item| !item.is_object()).map(plain).collect(),
        Json::String(text) if !text.trim().is_empty() => vec![text.clone()],
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => Vec::new(),
    }
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Variables with their values: a map, a list of pairs with names, or `NAME=value` each.
fn variables(value: &Json) -> Vec<(&str, String)> {
    match value {
        Json::Object(fields) => fields.iter().map(|(name, value)| (name.as_str(), plain(value))).collect(),
        Json::Array(items) => items
            .iter()
            .filter_map(|item| match item.as_str() {
                Some(text) => text.split_once('=').map(|(name, value)| (name, value.to_owned())),
                None => Some((item.get("name")?.as_str()?, plain(item.get("value")?))),
            })
            .collect(),
        Json::String(text) => text
            .lines()
            .filter_map(|one| one.split_once('='))
            .map(|(name, value)| (name, value.to_owned()))
            .collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) => Vec::new(),
    }
}

/// Whether a variable of a shell can have this name.
pub(crate) fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A word as a shell takes it literally.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The directories that fields name for their command; those around them where they name none.
fn directories(fields: &Map<String, Json>, around: &[AbsolutePath]) -> Vec<AbsolutePath> {
    let named = fields.iter().filter(|(name, _)| is_working_directory(name));
    let mut all: Vec<AbsolutePath> = Vec::new();
    for named in named.filter_map(|(_, value)| value.as_str()) {
        for place in around.iter().map(|around| around.join(named)) {
            if !all.contains(&place) {
                all.push(place);
            }
        }
    }
    if all.is_empty() { around.to_vec() } else { all }
}

fn is_shell(word: &str) -> bool {
    let name = ["/usr/bin/", "/bin/"].iter().find_map(|folder| word.strip_prefix(folder)).unwrap_or(word);
    ["sh", "bash", "dash", "zsh"].contains(&name)
}

/// Whether options of a shell say that a text follows, and nothing that changes how it is read.
fn is_text_flag(flags: &str) -> bool {
    flags
        .strip_prefix('-')
        .and_then(|letters| letters.strip_suffix('c'))
        .is_some_and(|letters| letters.chars().all(|letter| "leiux".contains(letter)))
}

/// Returns the files in an input, those that it moves from and those that it moves to, each as the input has them.
pub(crate) fn files(input: &Map<String, Json>) -> NamedFiles<'_> {
    let mut found = NamedFiles::default();
    found.take_in(input, DEPTH);
    found
}

/// The files that an input names, by what their fields are called.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedFiles<'a> {
    /// Those under a name that says no more than that.
    pub(crate) plain: Vec<&'a str>,
    /// Those that something comes from.
    pub(crate) sources: Vec<&'a str>,
    /// Those that something goes to.
    pub(crate) destinations: Vec<&'a str>,
}

impl<'a> NamedFiles<'a> {
    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'a str> {
        self.plain.iter().chain(&self.sources).chain(&self.destinations).copied()
    }

    fn take_in(&mut self, fields: &'a Map<String, Json>, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for (name, value) in fields {
            let name = folded(name);
            if name == "meta" || CONTENT.contains(&name.as_str()) {
                continue;
            }
            let list = if FILES.contains(&name.as_str()) {
                Some(&mut self.plain)
            } else if SOURCES.contains(&name.as_str()) {
                Some(&mut self.sources)
            } else if DESTINATIONS.contains(&name.as_str()) {
                Some(&mut self.destinations)
            } else {
                None
            };
            let items = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
            if let Some(list) = list {
                for path in items.iter().filter_map(Json::as_str).filter_map(path) {
                    if !list.contains(&path) {
                        list.push(path);
                    }
                }
            }
            for fields in items.iter().filter_map(Json::as_object) {
                self.take_in(fields, depth);
            }
        }
    }
}

/// A text as a path, where it can be one.
fn path(text: &str) -> Option<&str> {
    let path = text.strip_prefix("file://").unwrap_or(text);
    let is_path =
        !path.is_empty() && path.len() <= LONGEST && !path.contains(['\n', '\0']) && !path.contains("://");
    is_path.then_some(path)
}

/// Returns the files that an input writes or edits, where it says with what.
pub(crate) fn writes(input: &Map<String, Json>, cwd: &AbsolutePath) -> Vec<Action> {
    let field =
        |names: &[&str]| of_names(input, names).find_map(|(_, value)| value.as_str().map(str::to_owned));
    let paths = of_names(input, &FILES).filter_map(|(_, value)| path(value.as_str()?));
    let (content, old, new) = (field(&CONTENT), field(&OLD), field(&NEW));
    let one = |path: &str| match (&content, &old, &new) {
        (Some(content), _, _) => Some(write(path, content, cwd)),
        (None, Some(old), Some(new)) => {
            let input = json!({ "file_path": path, "old_string": old, "new_string": new });
            Some(Action::tool_call("Edit", input, cwd.clone()))
        }
        (None, _, _) => None,
    };
    paths.filter_map(one).collect()
}

/// A file that is written as a whole.
pub(crate) fn write(path: &str, content: &str, cwd: &AbsolutePath) -> Action {
    Action::tool_call("Write", json!({ "file_path": path, "content": content }), cwd.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> AbsolutePath {
        AbsolutePath::new("/w").unwrap()
    }

    fn told(input: &Json) -> Vec<String> {
        let all = commands(input.as_object().unwrap(), &place());
        all.iter().map(|action| action.shell_text().unwrap().to_owned()).collect()
    }

    #[test]
    fn each_field_that_may_run_counts() {
        for (input, expected) in [
            (json!({ "command": "ls" }), vec!["ls"]),
            (json!({ "command": "rm", "args": ["-rf", "x"] }), vec!["rm -rf x"]),
            (json!({ "command": "rm", "args": "-rf x" }), vec!["rm '-rf x'", "rm -rf x"]),
            (json!({ "command": ["rm"], "args": ["-rf", "x"] }), vec!["rm -rf x"]),
            (
                json!({ "command": "sh", "args": ["-c", "rm x; ls"] }),
                vec!["sh -c 'rm x; ls'", "sh -c rm x; ls"],
            ),
            (json!({ "cmd": "rm x", "command": "ls" }), vec!["rm x", "ls"]),
            (json!({ "command": "ls", "commands": ["rm x", "rm y"] }), vec!["ls", "rm x\nrm y"]),
            (json!({ "commands": [{ "command": "rm", "args": ["x"] }, "ls"] }), vec!["ls", "rm x"]),
            (json!({ "commands": "[\"rm x\"]" }), vec!["rm x"]),
            (json!({ "shellCommand": "rm x" }), vec!["rm x"]),
            (json!({ "argv": ["rm", "x"] }), vec!["rm x"]),
            (json!({ "input": { "steps": [{ "cmd": "rm x" }] } }), vec!["rm x"]),
            (json!({ "params": "{\"command\": \"rm x\"}" }), vec!["rm x"]),
            (json!({ "description": "{\"command\": \"rm x\"}" }), vec![]),
            (json!({ "command": ["bash", "-lc", "rm x"] }), vec!["rm x"]),
            (json!({ "command": ["/w/bash", "-lc", "rm x"] }), vec!["/w/bash -lc 'rm x'"]),
            (json!({ "command": ["bash", "--norc", "x"] }), vec!["bash --norc x"]),
            (json!({ "command": "ls", "env": { "A": "b c" } }), vec!["export A='b c'\nls"]),
            (json!({ "command": "ls", "env": [{ "name": "A", "value": 1 }] }), vec!["export A=1\nls"]),
            (json!({ "command": "ls", "env": ["A=b"] }), vec!["export A=b\nls"]),
            (json!({ "command": "create", "path": "/w/a" }), vec![]),
            (json!({ "path": "/w/a", "content": { "command": "rm x" } }), vec![]),
            (json!({ "_meta": { "command": "rm x" }, "prompt": "rm x" }), vec![]),
        ] {
            assert_eq!(told(&input), expected, "{input}");
        }
        let function = told(&json!({ "command": "ls", "env": { "BASH_FUNC_ls%%": "() { rm x; }" } }));
        assert_eq!(function, ["() { rm x; }", "ls"]);
    }

    #[test]
    fn no_depth_that_can_be_read_hides_a_command_or_a_file() {
        let mut input = json!({ "command": "rm x", "path": "/a" });
        for level in 0..60 {
            input = if level % 2 == 0 { json!({ "a": input }) } else { json!({ "a": [input] }) };
        }
        let read: Json = serde_json::from_str(&input.to_string()).unwrap();
        assert_eq!(told(&read), ["rm x"]);
        assert_eq!(files(read.as_object().unwrap()).plain, ["/a"]);
    }

    #[test]
    fn a_command_inside_runs_where_its_own_object_says() {
        let input = json!({ "cwd": "sub", "all": [{ "cmd": "ls", "cwd": "/x" }, { "cmd": "pwd" }] });
        let found = commands(input.as_object().unwrap(), &place());
        let places: Vec<&str> = found.iter().map(|action| action.cwd.as_str()).collect();
        assert_eq!(places, ["/x", "/w/sub"]);
    }

    #[test]
    fn files_stand_under_many_names() {
        let input = json!({ "target": "/a", "files": ["/b", { "path": "/c" }], "source": "file:///d", "newPath": "e",
            "content": { "path": "/no" }, "file": "two\nlines", "uri": "https://a.b/c" });
        let found = files(input.as_object().unwrap());
        assert_eq!(found.plain, ["/a", "/b", "/c"]);
        assert_eq!((found.sources, found.destinations), (vec!["/d"], vec!["e"]));
    }
}
