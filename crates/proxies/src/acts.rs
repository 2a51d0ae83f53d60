//! What a message asks for, as actions: a tool call, a file, a command.
//!
//! Agents say it in many ways. Some name their tool and give its whole input, some show the difference to a file, Gemini CLI says a command
//! in the title alone. Kind and title are the agent's own words, so they never make a call look milder than its input does.

use checkrein_clients::readings;
use checkrein_protocol::{AbsolutePath, Action, ToolName, is_working_directory};
use serde_json::{Map, Value as Json, json};

use crate::edits;
use crate::inputs::{self, is_variable, quoted};
use crate::methods;
use crate::words::{self, FileFate, changes, shown_command};

/// The names of fields with the path of a file.
const PATH: [&str; 8] = [
    "file_path",
    "filePath",
    "path",
    "fileName",
    "filepath",
    "absolute_path",
    "target_file",
    "notebook_path",
];

/// How much of a title becomes the name of a tool, in characters (ours).
const NAME: usize = 64;

/// A file that is changed, as an agent shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The file.
    pub(crate) path: String,
    /// What stands there from then on, or the part of it that changes.
    pub(crate) new: String,
}

/// What an agent told of one of its tool calls, message by message.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ToldCall {
    /// `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch`, `switch_mode`, `other`.
    pub(crate) kind: String,
    /// What a user reads.
    pub(crate) title: String,
    /// The name of the tool, where the agent gives one.
    tool: Option<String>,
    /// What its id begins with, where that may be the name of the tool.
    prefix: Option<String>,
    /// The input; `None` where the agent never tells it.
    input: Option<Map<String, Json>>,
    /// What is shown of it, as the agent gave it.
    pub(crate) content: Vec<Json>,
    /// The files that it is about.
    locations: Vec<String>,
}

impl ToldCall {
    /// Takes up what a message tells of the call with this id: a field that it has takes the place of what was told before.
    pub(crate) fn take_up(&mut self, id: &str, told: &Json) {
        let text = |name: &str| told.get(name).and_then(Json::as_str).filter(|text| !text.is_empty());
        if let Some(kind) = text("kind") {
            kind.clone_into(&mut self.kind);
        }
        if let Some(name) = tool_name(told) {
            self.tool = Some(name.to_owned());
        }
        // A call that is told anew from its beginning is not what was told before.
        let is_new = text("sessionUpdate") == Some("tool_call")
            && text("title").is_some_and(|title| title != self.title);
        if is_new && told.get("rawInput").is_none_or(Json::is_null) && !self.title.is_empty() {
            self.input = None;
        }
        if let Some(title) = text("title") {
            title.clone_into(&mut self.title);
        }
        match told.get("rawInput") {
            Some(Json::Object(input)) => self.input = Some(input.clone()),
            None | Some(Json::Null) => {}
            Some(other) => self.input = Some(Map::from_iter([("input".to_owned(), other.clone())])),
        }
        if let Some(content) = told.get("content").and_then(Json::as_array) {
            self.content.clone_from(content);
        }
        if let Some(places) = told.get("locations").and_then(Json::as_array) {
            let paths = places.iter().filter_map(|place| place.get("path")?.as_str());
            self.locations = paths.map(str::to_owned).collect();
        }
        let is_name = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() <= NAME;
        self.prefix = id.split_once("__").map(|(name, _)| name).filter(is_name).map(str::to_owned);
    }

    /// The actions that the call is, as far as it is known; `None` while nothing of it is told but that there is one. A call that only thinks
    /// is none.
    pub(crate) fn actions(&self, cwd: &AbsolutePath) -> Option<Vec<Action>> {
        match (self.telling_input(), &self.input) {
            (Some(input), _) => Some(self.by_input(input, cwd)),
            (None, Some(_)) if self.differences().is_empty() => None,
            (None, _) => Some(self.by_what_is_shown(cwd)),
        }
    }

    /// The same for a call about which somebody is asked now: what is not told is not understood. Where it is to run something and no command
    /// is told, each text that is shown may be one.
    pub(crate) fn actions_now(&self, cwd: &AbsolutePath) -> Vec<Action> {
        let mut all = self.actions(cwd).unwrap_or_else(|| self.by_name(Map::new(), cwd));
        for action in self.by_words(cwd) {
            if !all.iter().any(|known| is_same_deed(known, &action)) {
                all.push(action);
            }
        }
        if self.hides_command(cwd) {
            let mut texts: Vec<&str> = self.texts().chain([self.title.as_str()]).collect();
            texts.extend(self.input.iter().flat_map(Map::values).flat_map(texts_in));
            texts.retain(|text| !text.trim().is_empty());
            all.extend(texts.into_iter().map(|text| Action::command(shown_command(text), cwd.clone())));
        }
        all
    }

    /// What the words for the user, the places and the changes beside a call name: they are what the user says yes to.
    fn by_words(&self, cwd: &AbsolutePath) -> Vec<Action> {
        let one = |name: &str, path: &str| Action::tool_call(name, json!({ "file_path": path }), cwd.clone());
        let mut all = Vec::new();
        all.extend(self.input.iter().flat_map(|input| by_changes(input, cwd)));
        let mut named: Vec<String> = self.locations.clone();
        named.extend(words::paths(&self.title));
        let escaped =
            self.differences().into_iter().map(|one| one.path).chain(self.locations.iter().cloned());
        named.extend(escaped.filter_map(|path| words::unescaped(&path)));
        let tool = match self.kind.as_str() {
            "edit" => Some("Write"),
            "delete" => Some("delete_file"),
            "read" => Some("Read"),
            _ => None,
        };
        all.extend(tool.into_iter().flat_map(|tool| named.iter().map(move |path| one(tool, path))));
        let told = self.telling_input();
        let is_told = told.is_some();
        // What the input says by none of its fields, the title may say.
        let told = told.map(|input| self.by_input(input, cwd)).unwrap_or_default();
        let says_deed = |action: &Action| action.shell_text().is_some() || file_or_address(action).is_some();
        if ["other", ""].contains(&self.kind.as_str()) && !told.iter().any(says_deed) {
            let shown = words::commands(&self.title).into_iter();
            all.extend(shown.map(|text| Action::command(text, cwd.clone())));
        }
        match self.kind.as_str() {
            "fetch" => {
                let mut texts: Vec<&str> = self.content.iter().flat_map(texts_in).collect();
                texts.push(&self.title);
                let addresses = texts.into_iter().flat_map(words::addresses);
                all.extend(
                    addresses.map(|url| Action::tool_call("WebFetch", json!({ "url": url }), cwd.clone())),
                );
            }
            "other" | "" if !is_told && self.tool.is_none() => {
                let texts = self.texts().map(shown_command).filter(|text| !text.is_empty());
                // JSON is the input of a tool.
                let texts = texts.filter(|text| !text.starts_with(['{', '[']));
                all.extend(texts.map(|text| Action::command(text, cwd.clone())));
            }
            _ => {}
        }
        all
    }

    /// Whether the call runs something, and it is not told what: its title may be words for the user.
    pub(crate) fn hides_command(&self, cwd: &AbsolutePath) -> bool {
        // Gemini CLI shows the command as the title, and the tool in the name of the call.
        let is_title = self.input.is_none() && (self.prefix.is_some() || self.tool.is_some());
        let told = self.telling_input().map(|input| self.by_input(input, cwd)).unwrap_or_default();
        self.kind == "execute" && !is_title && !told.iter().any(|action| action.shell_text().is_some())
    }

    /// The input, where it says what would run: where something would run says nothing of that.
    fn telling_input(&self) -> Option<&Map<String, Json>> {
        self.input.as_ref().filter(|input| !input.keys().all(|name| is_working_directory(name)))
    }

    /// What the input says, in each way in which it can be read: the name of the tool and the kind are the agent's own words, so what they
    /// leave out counts as well.
    fn by_input(&self, input: &Map<String, Json>, cwd: &AbsolutePath) -> Vec<Action> {
        // A patch shows less of itself to us than the files that it makes.
        let mut all = match &self.tool {
            Some(name) => readings(tool(name, input.clone(), cwd)),
            None => Vec::new(),
        };
        let mut add = |further: Vec<Action>| {
            for action in further {
                if !all.iter().any(|known| is_covered_by(known, &action)) {
                    all.push(action);
                }
            }
        };
        add(inputs::commands(input, cwd));
        // The files of a server may be those of another machine; its tool says what becomes of them.
        let is_of_server = self.tool.as_ref().is_some_and(|name| name.starts_with("mcp__"));
        if !is_of_server {
            add(inputs::writes(input, cwd));
        }
        add(self.writes(cwd));
        if !is_of_server {
            add(by_changes(input, cwd));
            add(self.by_files(input, cwd));
        }
        let url = ["url", "uri"].iter().find_map(|name| input.get(*name)?.as_str());
        if let Some(url) = url.filter(|_| self.tool.is_none()) {
            add(vec![Action::tool_call("WebFetch", json!({ "url": url }), cwd.clone())]);
        }
        if all.is_empty() { self.by_name(input.clone(), cwd) } else { all }
    }

    /// What a call of this kind does to the files that its input and its places name.
    fn by_files(&self, input: &Map<String, Json>, cwd: &AbsolutePath) -> Vec<Action> {
        let named = inputs::files(input);
        let mut paths: Vec<&str> = self.locations.iter().map(String::as_str).collect();
        if self.kind == "move"
            && let ([_, ..], [to, ..]) = (named.sources.as_slice(), named.destinations.as_slice())
        {
            let one = |from: &&str| {
                let input = json!({ "source": from, "destination": to });
                Action::tool_call("move_file", input, cwd.clone())
            };
            let mut all: Vec<Action> = named.sources.iter().map(one).collect();
            paths.extend(named.plain.iter().chain(&named.destinations));
            paths.retain(|path| !named.sources.contains(path) && path != to);
            all.extend(self.by_kind(&paths, cwd).unwrap_or_default());
            return all;
        }
        if self.kind == "read" || self.kind == "search" {
            paths.extend(&named.plain);
        } else {
            paths.extend(named.all());
        }
        paths = distinct(paths);
        self.by_kind(&paths, cwd).unwrap_or_default()
    }

    fn by_what_is_shown(&self, cwd: &AbsolutePath) -> Vec<Action> {
        if !self.differences().is_empty() {
            return self.writes(cwd);
        }
        if self.kind == "execute" && !self.title.trim().is_empty() {
            if let Some((command, folder)) = words::command_and_folder(&self.title) {
                return vec![Action::command(command, cwd.join(folder))];
            }
            let folder = self.shown_folder().map_or_else(|| cwd.clone(), |folder| cwd.join(&folder));
            let mut texts = vec![shown_command(&self.title)];
            // A line behind a prompt is one that runs.
            texts.extend(self.texts().filter(|text| text.trim_start().starts_with("$ ")).map(shown_command));
            texts.dedup();
            return texts.into_iter().map(|text| Action::command(text, folder.clone())).collect();
        }
        if ["think", "switch_mode"].contains(&self.kind.as_str()) {
            return Vec::new();
        }
        let paths: Vec<&str> = self.locations.iter().map(String::as_str).collect();
        self.by_kind(&paths, cwd).unwrap_or_else(|| self.by_name(self.shown_input(), cwd))
    }

    /// What a call of this kind does to these files; `None` where that says too little.
    fn by_kind(&self, paths: &[&str], cwd: &AbsolutePath) -> Option<Vec<Action>> {
        let one =
            |name: &str, path: &&str| Action::tool_call(name, json!({ "file_path": path }), cwd.clone());
        match (self.kind.as_str(), paths) {
            (_, []) => None,
            ("read", paths) => Some(paths.iter().map(|path| one("Read", path)).collect()),
            ("search", paths) => Some(
                paths
                    .iter()
                    .map(|path| {
                        let input = json!({ "pattern": self.title, "path": path });
                        Action::tool_call("Grep", input, cwd.clone())
                    })
                    .collect(),
            ),
            ("edit", paths) => Some(paths.iter().map(|path| one("Write", path)).collect()),
            ("delete", paths) => Some(paths.iter().map(|path| one("delete_file", path)).collect()),
            ("move", [from, to]) => {
                let input = json!({ "source": from, "destination": to });
                Some(vec![Action::tool_call("move_file", input, cwd.clone())])
            }
            // Where one goes from which other is not told: each is changed.
            ("move", paths) => Some(paths.iter().map(|path| one("Write", path)).collect()),
            _ => None,
        }
    }

    /// A call of which only the name of the tool tells anything.
    fn by_name(&self, mut input: Map<String, Json>, cwd: &AbsolutePath) -> Vec<Action> {
        let name = self.tool.clone().or_else(|| self.prefix.clone()).unwrap_or_else(|| {
            let words = if self.title.is_empty() { &self.kind } else { &self.title };
            slug(words)
        });
        if !self.title.is_empty() {
            input.entry("title").or_insert_with(|| Json::from(self.title.clone()));
        }
        readings(tool(&name, input, cwd))
    }

    /// What the agent shows of an input that it does not tell: JSON in its text, as Gemini CLI does for tools of servers.
    fn shown_input(&self) -> Map<String, Json> {
        let shown = self.texts().find_map(|text| match serde_json::from_str(text) {
            Ok(Json::Object(input)) => Some(input),
            Ok(_) | Err(_) => None,
        });
        shown.unwrap_or_default()
    }

    /// The directory of a command that stands in the text beside it, as Gemini CLI writes it.
    fn shown_folder(&self) -> Option<String> {
        self.texts().find_map(|text| {
            let inside =
                text.strip_prefix("[in ").or_else(|| text.strip_prefix("[current working directory "))?;
            inside.split_once(']').map(|(folder, _)| folder.to_owned())
        })
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|one| one.get("content")?.get("text")?.as_str())
    }

    /// The files that change, as they are shown.
    fn differences(&self) -> Vec<Difference> {
        let shown = self.content.iter().filter(|one| one.get("type").and_then(Json::as_str) == Some("diff"));
        shown
            .filter_map(|one| {
                let text = |name: &str| one.get(name).and_then(Json::as_str).map(str::to_owned);
                Some(Difference { path: text("path")?, new: text("newText").unwrap_or_default() })
            })
            .collect()
    }

    fn writes(&self, cwd: &AbsolutePath) -> Vec<Action> {
        self.differences().iter().map(|one| inputs::write(&one.path, &one.new, cwd)).collect()
    }
}

/// The call that a request for permission is about: in its own field, or as the subject of later versions of the protocol.
pub(crate) fn asked_about(params: &Json) -> Json {
    let subject = params.get("subject");
    let of_kind =
        |kind: &str| subject.filter(|subject| subject.get("type").and_then(Json::as_str) == Some(kind));
    if let Some(call) = params.get("toolCall").or_else(|| of_kind("tool_call")?.get("toolCall")) {
        return call.clone();
    }
    let title = params.get("title").cloned().unwrap_or_default();
    match (of_kind("command"), subject) {
        (Some(command), _) => json!({ "kind": "execute", "title": title, "rawInput": command }),
        // Of a subject that is not known, all that it holds may be what runs.
        (None, Some(subject)) => {
            json!({ "kind": "execute", "title": title, "rawInput": { "subject": subject } })
        }
        (None, None) => json!({ "kind": "execute", "title": title }),
    }
}

/// What a request for permission asks for beside the call that it is about: its subject, and what else would run by its own fields.
pub(crate) fn asked_beside(params: &Json, cwd: &AbsolutePath) -> Vec<Action> {
    let Some(fields) = params.as_object().filter(|fields| fields.contains_key("toolCall")) else {
        return Vec::new();
    };
    let mut rest = fields.clone();
    rest.retain(|name, _| !["toolCall", "options"].contains(&name.as_str()));
    let mut all = inputs::commands(&rest, cwd);
    if rest.get("subject").is_some_and(|subject| !subject.is_null()) {
        let mut told = ToldCall::default();
        told.take_up("", &asked_about(&Json::Object(rest)));
        all.extend(
            told.actions_now(cwd).into_iter().filter(|action| !all.contains(action)).collect::<Vec<_>>(),
        );
    }
    all
}

/// Whether an action does what another one does: runs the same command, or works in the same way on the same file or address.
fn is_same_deed(known: &Action, other: &Action) -> bool {
    const CHANGING: &[&str] = &["Write", "Edit", "MultiEdit", "NotebookEdit"];
    if let (Some(one), Some(two)) = (known.shell_text(), other.shell_text()) {
        return one == two;
    }
    let about = file_or_address;
    let (one, two) = (known.tool.as_str(), other.tool.as_str());
    let is_alike = one == two || CHANGING.contains(&one) && CHANGING.contains(&two);
    is_alike && about(known).is_some() && about(known) == about(other)
}

/// Whether what is known of a call covers what one of its fields says too: the same command in the same place, or the same file; whoever
/// changes a file reads it, and one that is listed is named.
fn is_covered_by(known: &Action, other: &Action) -> bool {
    if known.shell_text().is_some() || other.shell_text().is_some() {
        return known.shell_text() == other.shell_text() && known.cwd == other.cwd;
    }
    let is_look = ["Read", "Grep"].contains(&other.tool.as_str());
    let is_alike =
        is_look && file_or_address(known).is_some() && file_or_address(known) == file_or_address(other);
    known == other || is_alike || is_same_deed(known, other)
}

/// What becomes of the files of a map of changes.
fn by_changes(input: &Map<String, Json>, cwd: &AbsolutePath) -> Vec<Action> {
    let one = |(path, fate): (&str, FileFate)| {
        let tool = if fate == FileFate::Gone { "delete_file" } else { "Write" };
        Action::tool_call(tool, json!({ "file_path": path }), cwd.clone())
    };
    changes(input).into_iter().map(one).collect()
}

/// Paths, each once.
fn distinct(paths: Vec<&str>) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for path in paths {
        if !all.contains(&path) {
            all.push(path);
        }
    }
    all
}

/// The file or the address that an action is about.
fn file_or_address(action: &Action) -> Option<String> {
    let path = PATH.iter().find_map(|name| action.input.get(*name)?.as_str());
    let path = path.map(|path| action.cwd.join(path).to_string());
    path.or_else(|| action.input.get("url").and_then(Json::as_str).map(str::to_owned))
}

/// What `fs/...` and `terminal/...` ask the editor for; `None` where the parameters are not those of such a request.
pub(crate) fn delegated(method: &str, params: &Json, cwd: &AbsolutePath) -> Option<Vec<Action>> {
    let text = |name: &str| params.get(name).and_then(Json::as_str);
    match method {
        "fs/read_text_file" => {
            Some(vec![Action::tool_call("Read", json!({ "file_path": text("path")? }), cwd.clone())])
        }
        "fs/write_text_file" => Some(vec![inputs::write(text("path")?, text("content")?, cwd)]),
        "terminal/create" => terminal(params, cwd),
        // A page that the editor opens for the user; what is asked for in a form is between the two.
        method if method.contains("elicitation") => {
            let url =
                text("url").map(|url| Action::tool_call("WebFetch", json!({ "url": url }), cwd.clone()));
            Some(url.into_iter().collect())
        }
        // What this version does not know is judged by its name and by what it names; a command beside its arguments as a terminal has it.
        other => {
            let mut all = terminal(params, cwd).unwrap_or_default();
            let further = params.as_object().map(|params| inputs::commands(params, cwd)).unwrap_or_default();
            for action in further {
                if !all.contains(&action) {
                    all.push(action);
                }
            }
            all.extend(edits::actions(params, cwd));
            all.extend(called_tools(params).into_iter().map(|(name, input)| tool(&name, input, cwd)));
            all.push(Action::tool_call(methods::tool_name(other), params.clone(), cwd.clone()));
            Some(all)
        }
    }
}

/// The command that a terminal is asked to run. Editors do not agree whether the arguments are words or go through a shell as one text, so
/// where that makes a difference it is both.
fn terminal(params: &Json, cwd: &AbsolutePath) -> Option<Vec<Action>> {
    let command = params.get("command")?.as_str()?;
    let cwd = params.get("cwd").and_then(Json::as_str).map_or_else(|| cwd.clone(), |place| cwd.join(place));
    let arguments: Vec<&str> = match params.get("args") {
        None | Some(Json::Null) => Vec::new(),
        Some(args) => args.as_array()?.iter().map(Json::as_str).collect::<Option<_>>()?,
    };
    let settings = match params.get("env") {
        None | Some(Json::Null) => String::new(),
        Some(env) => env
            .as_array()?
            .iter()
            .map(|one| {
                let name = one.get("name")?.as_str().filter(|name| is_variable(name))?;
                Some(format!("export {name}={}\n", quoted(one.get("value")?.as_str()?)))
            })
            .collect::<Option<String>>()?,
    };
    let arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();
    let texts = match arguments.as_slice() {
        [] => vec![command.to_owned()],
        arguments => inputs::both_ways(command, arguments),
    };
    let texts = texts.into_iter().map(|text| format!("{settings}{text}"));
    Some(texts.map(|text| Action::command(text, cwd.clone())).collect())
}

/// The calls of tools of servers that a message carries: name and arguments of `tools/call`, as a server that is reached through the editor gets
/// them, however many and wherever they stand.
fn called_tools(params: &Json) -> Vec<(String, Map<String, Json>)> {
    let mut found = Vec::new();
    let mut left = vec![params];
    while let Some(value) = left.pop() {
        match value {
            Json::Object(fields) => {
                left.extend(fields.values());
                let is_call = fields.get("method").and_then(Json::as_str).is_some_and(methods::calls_tool);
                let call = fields.get("params").filter(|_| is_call);
                if let Some((call, name)) = call.and_then(|call| Some((call, call.get("name")?.as_str()?))) {
                    let input = call.get("arguments").and_then(Json::as_object).cloned().unwrap_or_default();
                    found.push((format!("mcp__editor__{name}"), input));
                }
            }
            Json::Array(items) => left.extend(items),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    found
}

fn tool(name: &str, input: Map<String, Json>, cwd: &AbsolutePath) -> Action {
    Action { tool: ToolName(name.to_owned()), input: Json::Object(input), cwd: cwd.clone() }
}

/// All texts in a value.
fn texts_in(value: &Json) -> Vec<&str> {
    match value {
        Json::String(text) => vec![text],
        Json::Array(items) => items.iter().flat_map(texts_in).collect(),
        Json::Object(fields) => fields.values().flat_map(texts_in).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) => Vec::new(),
    }
}

/// The name of a tool that an agent tells beside a call.
fn tool_name(told: &Json) -> Option<&str> {
    let meta = told.get("_meta")?;
    let named = meta.get("claudeCode").and_then(|own| own.get("toolName")).or_else(|| meta.get("toolName"));
    named.and_then(Json::as_str).filter(|name| !name.is_empty())
}

/// Words as the name of a tool.
fn slug(words: &str) -> String {
    let letters =
        words.chars().take(NAME).map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    let name: String = letters.collect();
    if name.trim_matches('_').is_empty() { "unknown_tool".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> AbsolutePath {
        AbsolutePath::new("/w").unwrap()
    }

    /// Tool, what it is about, and where, of what these messages tell.
    fn told(id: &str, messages: &[Json]) -> Told {
        let mut call = ToldCall::default();
        messages.iter().for_each(|message| call.take_up(id, message));
        call.actions(&place()).map(|actions| actions.iter().map(seen).collect())
    }

    fn seen(action: &Action) -> (String, String, String) {
        let about = ["command", "file_path", "url", "source"];
        let about = about.iter().find_map(|name| action.input.get(*name)?.as_str());
        let about = about.map_or_else(|| action.input.to_string(), str::to_owned);
        (action.tool.as_str().to_owned(), about, action.cwd.to_string())
    }

    #[test]
    fn each_call_of_a_tool_in_a_message_is_one() {
        let call =
            |name: &str| json!({ "method": "tools/call", "params": { "name": name, "arguments": {} } });
        let message = json!({ "a": [call("one"), { "b": call("two") }], "c": call("three") });
        let mut names: Vec<String> = called_tools(&message).into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        assert_eq!(names, ["mcp__editor__one", "mcp__editor__three", "mcp__editor__two"]);
    }

    type Told = Option<Vec<(String, String, String)>>;

    #[expect(clippy::unnecessary_wraps, reason = "it is compared with what may be nothing")]
    fn one(tool: &str, about: &str, cwd: &str) -> Told {
        Some(vec![(tool.to_owned(), about.to_owned(), cwd.to_owned())])
    }

    #[test]
    fn each_agent_is_understood_in_its_own_words() {
        let gemini = json!({ "kind": "execute", "title": "rm -rf x; ls", "locations": [],
            "content": [{ "type": "content", "content": { "type": "text", "text": "[in sub/dir] (d)" } }] });
        assert_eq!(told("run_shell_command__1", &[gemini]), one("Bash", "rm -rf x; ls", "/w/sub/dir"));
        let gemini = json!({ "kind": "edit", "title": "Writing to a.txt", "locations": [{ "path": "/w/a.txt" }],
            "content": [{ "type": "diff", "path": "/w/a.txt", "oldText": "old", "newText": "new" }] });
        assert_eq!(told("write_file__1", &[gemini]), one("Write", "/w/a.txt", "/w"));
        let claude = [
            json!({ "kind": "execute", "title": "Terminal", "rawInput": {}, "_meta": { "claudeCode": { "toolName": "Bash" } } }),
            json!({ "title": "rm x", "rawInput": { "command": "rm x", "description": "d" } }),
        ];
        assert_eq!(told("toolu_1", &claude[..1]), None, "nothing is told yet");
        let opencode = [
            json!({ "kind": "execute", "title": "bash", "locations": [{ "path": "/w" }], "rawInput": { "cwd": "/w" } }),
            json!({ "kind": "execute", "title": "ls > x", "rawInput": { "command": "ls > x", "description": "d", "cwd": "/w/sub" } }),
        ];
        assert_eq!(told("call_1", &opencode[..1]), None, "where it runs is told, and not yet what");
        assert_eq!(told("call_1", &opencode), one("Bash", "ls > x", "/w/sub"));
        assert_eq!(told("toolu_1", &claude), one("Bash", "rm x", "/w"));
        let qwen = json!({ "kind": "edit", "title": "WriteFile", "rawInput": { "file_path": "/w/a", "content": "x" },
            "_meta": { "toolName": "write_file" } });
        assert_eq!(told("call_1", &[qwen]), one("Write", "/w/a", "/w"));
        let copilot = [
            json!({ "kind": "edit", "title": "Creating a", "rawInput": { "path": "/w/a", "file_text": "x" },
                "content": [{ "type": "diff", "path": "/w/a", "oldText": "", "newText": "x" }] }),
            json!({ "rawInput": { "fileName": "/w/a", "diff": "..." }, "title": "Create file" }),
        ];
        assert_eq!(told("call_1", &copilot[..1]), one("Write", "/w/a", "/w"));
        assert_eq!(told("call_1", &copilot), one("Write", "/w/a", "/w"));
        let opencode =
            json!({ "kind": "execute", "title": "t", "rawInput": { "command": "rm x", "cwd": "/w/sub" } });
        assert_eq!(told("call_1", &[opencode]), one("Bash", "rm x", "/w/sub"));
        let codex =
            json!({ "kind": "execute", "title": "t", "rawInput": { "command": ["bash", "-lc", "rm x"] } });
        assert_eq!(told("call_1", &[codex]), one("Bash", "rm x", "/w"));
    }

    #[test]
    fn kinds_and_titles_make_nothing_milder() {
        let told = |message: Json| told("1", &[message]);
        let think = json!({ "kind": "think", "title": "thinking", "rawInput": { "command": "rm -rf /" } });
        assert_eq!(told(think), one("Bash", "rm -rf /", "/w"));
        let read = json!({ "kind": "read", "title": "Read", "rawInput": { "path": "/w/a", "content": "x" } });
        assert_eq!(told(read), one("Write", "/w/a", "/w"));
        let delete = json!({ "kind": "delete", "title": "Delete", "locations": [{ "path": "/w/a" }] });
        assert_eq!(told(delete), one("delete_file", "/w/a", "/w"));
        let editor = json!({ "kind": "edit", "title": "e", "rawInput": { "command": "create", "path": "/w/a", "file_text": "x" } });
        assert_eq!(told(editor), one("Write", "/w/a", "/w"));
        assert_eq!(told(json!({ "kind": "think", "title": "Planning" })), Some(vec![]));
    }

    #[test]
    fn a_tool_of_a_server_is_known_by_its_name_and_what_is_shown_of_its_input() {
        let shown = json!({ "kind": "other", "title": "delete_repo",
            "content": [{ "type": "content", "content": { "type": "text", "text": "{\"repo\":\"acme/shop\"}" } }] });
        let actions = told("mcp_hub_delete_repo__1", &[shown]).unwrap();
        assert_eq!(actions[0].0, "mcp_hub_delete_repo");
        assert!(actions[0].1.contains("acme/shop"), "{actions:?}");
        let unknown = told("x", &[json!({ "kind": "other", "title": "Drop the table!" })]).unwrap();
        assert_eq!(unknown[0].0, "drop_the_table_");
    }

    #[test]
    fn what_nobody_tells_is_asked_about_as_what_it_is_called() {
        let mut call = ToldCall::default();
        call.take_up("1", &json!({ "kind": "execute", "title": "Terminal", "rawInput": {} }));
        assert_eq!(call.actions_now(&place())[0].tool.as_str(), "terminal");
    }

    #[test]
    fn each_text_may_be_the_command_of_a_call_that_tells_none() {
        let texts = |told: &Json| {
            let mut call = ToldCall::default();
            call.take_up("1", told);
            assert!(call.hides_command(&place()), "{told}");
            let actions = call.actions_now(&place());
            actions.iter().filter_map(Action::shell_text).map(str::to_owned).collect::<Vec<_>>()
        };
        let call = |input: Json| json!({ "kind": "execute", "title": "Clean up", "rawInput": input });
        let deep = json!({ "what": [{ "steps": ["rm -rf ~"] }] });
        let subject =
            json!({ "title": "Clean up", "subject": { "type": "later", "steps": [{ "run": "rm -rf ~" }] } });
        for told in [call(json!({ "what": "rm -rf ~" })), call(deep), asked_about(&subject)] {
            assert!(texts(&told).contains(&"rm -rf ~".to_owned()), "{told}");
        }
        assert_eq!(texts(&call(json!({ "cwd": "/x" }))), ["Clean up", "/x"]);
    }

    #[test]
    fn a_command_runs_in_each_directory_that_its_input_names() {
        for named in [json!({}), json!({ "_meta": { "toolName": "run_shell_command" } })] {
            for (input, places) in [
                (json!({ "command": "ls" }), vec!["/w"]),
                (json!({ "command": "ls", "cwd": "sub" }), vec!["/w/sub"]),
                (json!({ "command": "ls", "workingDirectory": "/x", "working_dir": "/x" }), vec!["/x"]),
                (json!({ "command": "ls", "cwd": "/x", "dir": "/y" }), vec!["/x", "/y"]),
            ] {
                let mut told = json!({ "kind": "execute", "title": "t", "rawInput": input });
                told.as_object_mut().unwrap().extend(named.as_object().unwrap().clone());
                let found = super::tests::told("1", &[told.clone()]).unwrap();
                let found: Vec<&str> = found.iter().map(|(_, _, cwd)| cwd.as_str()).collect();
                assert_eq!(found, places, "{told}");
            }
        }
    }

    #[test]
    fn arguments_of_a_terminal_are_words_and_a_text_where_that_differs() {
        let of = |params: Json| {
            let actions = delegated("terminal/create", &params, &place())?;
            Some(actions.iter().map(|action| action.shell_text().unwrap().to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(json!({ "command": "rm -rf x" })), Some(vec!["rm -rf x".to_owned()]));
        assert_eq!(of(json!({ "command": "rm", "args": ["-rf", "x"] })), Some(vec!["rm -rf x".to_owned()]));
        assert_eq!(
            of(json!({ "command": "sh", "args": ["-c", "rm x; ls"] })),
            Some(vec!["sh -c 'rm x; ls'".to_owned(), "sh -c rm x; ls".to_owned()])
        );
        assert_eq!(
            of(json!({ "command": "ls", "env": [{ "name": "A", "value": "b'c" }] })),
            Some(vec!["export A='b'\\''c'\nls".to_owned()])
        );
        for broken in [
            json!({}),
            json!({ "command": 1 }),
            json!({ "command": "a", "args": [1] }),
            json!({ "command": "a", "env": [{ "name": "A;rm x", "value": "" }] }),
        ] {
            assert_eq!(of(broken), None);
        }
        let place = delegated("terminal/create", &json!({ "command": "ls", "cwd": "/x" }), &place()).unwrap();
        assert_eq!(place[0].cwd.as_str(), "/x");
    }

    #[test]
    fn files_are_read_and_written_by_the_editor() {
        let of = |method: &str, params: Json| delegated(method, &params, &place()).map(|all| seen(&all[0]));
        let read = of("fs/read_text_file", json!({ "path": "/w/a", "line": 1 })).unwrap();
        assert_eq!((read.0.as_str(), read.1.as_str()), ("Read", "/w/a"));
        let write = of("fs/write_text_file", json!({ "path": "/w/a", "content": "x" })).unwrap();
        assert_eq!((write.0.as_str(), write.1.as_str()), ("Write", "/w/a"));
        assert_eq!(of("fs/write_text_file", json!({ "path": "/w/a" })), None);
        assert_eq!(of("fs/delete_file", json!({ "path": "/w/a" })).unwrap().0, "mcp__editor__fs_delete_file");
    }
}
