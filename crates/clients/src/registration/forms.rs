//! The forms in which files say which hooks a client runs. All are read as the first one.

use serde_json::{Map, Value as Json, json};

use super::edits::Node;
use super::{HookLayout, Matching, timeout_seconds};
use crate::command::{HookCommand, Unanswered, runs_hook};
use crate::error::SettingsError;

/// The form of a file with hooks.
#[derive(Debug, Clone, Copy)]
pub enum HookForm {
    /// `hooks`, by event groups with a matcher, in each the commands.
    Groups,
    /// `hooks`, by event the commands.
    Entries(EntryForm),
    /// `hooks`, a list in which each names its event.
    Triggers,
    /// A file that is ours as a whole: its text, made of the command line that reviews calls.
    Whole(fn(&str) -> String),
}

/// How an event's command is written down where events have no groups.
#[derive(Debug, Clone, Copy)]
pub struct EntryForm {
    /// The key of the command line.
    pub command: &'static str,
    /// The key of the time, where there is one.
    pub timeout: Option<&'static str>,
    /// Keys that each entry has, and their values as they are written.
    pub constant: &'static [(&'static str, &'static str)],
    /// Whether the file says in which version it is written.
    pub version: Option<&'static str>,
}

/// Whose a file is that would be ours as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authorship {
    /// It was written by `init`, and nothing else stands in it.
    Ours,
    /// It was written by `init`, and somebody changed it.
    Changed,
    /// It was written by somebody else.
    Foreign,
}

/// What stands at the beginning of each file that is ours as a whole, behind the signs of a comment.
pub(crate) const OURS: &str = "Written by `checkrein init`; `checkrein uninstall` removes it.";

/// What a file says, with its hooks by event in groups.
pub(super) fn read(layout: &HookLayout, text: &str) -> Result<Json, SettingsError> {
    match layout.form {
        HookForm::Groups => layout.notation.parse(text),
        HookForm::Entries(form) => layout.notation.parse(text).map(|settings| grouped(settings, form)),
        HookForm::Triggers => layout.notation.parse(text).map(|settings| triggered(layout, settings)),
        HookForm::Whole(whole) => Ok(whole_read(layout, text, whole)),
    }
}

/// The text with our hooks in it, where none of ours are.
pub(super) fn registered(
    layout: &HookLayout,
    cleaned: &str,
    command: &HookCommand,
) -> Result<String, SettingsError> {
    if let HookForm::Whole(whole) = layout.form {
        return match cleaned.trim() {
            "" => Ok(whole(&command.text(Unanswered::Refused))),
            _ => Err(SettingsError::Foreign),
        };
    }
    let mut source = match cleaned.trim() {
        "" if cleaned.is_empty() => "{}\n".to_owned(),
        // Its blanks stay, so that they are there afterwards.
        "" => format!("{{}}{cleaned}"),
        _ => cleaned.to_owned(),
    };
    let wrong = |key: &str, expected| SettingsError::WrongType { key: key.to_owned(), expected };
    let root = Node::parse(&source)?;
    if !root.is_object() {
        return Err(wrong("(root)", "an object"));
    }
    if let Some(version) = layout.version().filter(|_| root.get("version").is_none()) {
        source = root.with_property(&source, "version", &constant(version));
    }
    let line = |event: &str| command.text(layout.form_of(event));
    let seconds = timeout_seconds(command);
    let ours = |event: &str, matching: Matching| match layout.form {
        HookForm::Entries(form) => entry(form, &line(event), seconds),
        HookForm::Triggers => trigger(event, &line(event), seconds, (matching, layout.every_name)),
        HookForm::Groups | HookForm::Whole(_) => group(layout, &line(event), seconds, matching),
    };
    let is_list = matches!(layout.form, HookForm::Triggers);
    if root.get("hooks").is_none() {
        let each = layout.events.iter();
        let hooks = if is_list {
            Json::Array(each.map(|(event, matching)| ours(event, *matching)).collect())
        } else {
            Json::Object(
                each.map(|(event, matching)| ((*event).to_owned(), json!([ours(event, *matching)])))
                    .collect(),
            )
        };
        return Ok(Node::parse(&source)?.with_property(&source, "hooks", &hooks));
    }
    for (event, matching) in layout.events {
        let root = Node::parse(&source)?;
        let hooks = root.get("hooks").ok_or_else(|| wrong("hooks", "an object"))?;
        let ours = ours(event, *matching);
        source = if is_list {
            hooks.elements().ok_or_else(|| wrong("hooks", "an array"))?;
            hooks.with_element(&source, &ours)
        } else if !hooks.is_object() {
            return Err(wrong("hooks", "an object"));
        } else if let Some(list) = hooks.get(event) {
            list.elements().ok_or_else(|| wrong(&format!("hooks.{event}"), "an array"))?;
            list.with_element(&source, &ours)
        } else {
            hooks.with_property(&source, event, &json!([ours]))
        };
    }
    Ok(source)
}

/// The text without our hooks, where some may be.
pub(super) fn unregistered(layout: &HookLayout, text: &str) -> Result<String, SettingsError> {
    if let HookForm::Whole(_) = layout.form {
        return match authorship(layout, text) {
            Authorship::Ours => Ok(String::new()),
            Authorship::Changed => Err(SettingsError::Changed),
            Authorship::Foreign => Ok(text.to_owned()),
        };
    }
    let mut rest = text.to_owned();
    while let Some(shorter) = without_one(layout, &rest)? {
        rest = shorter;
    }
    if rest == text {
        return Ok(rest);
    }
    let root = Node::parse(&rest)?;
    // A version of nothing says nothing. One in front of other settings is not where ours is written.
    let names = root.names();
    let is_of_nothing = layout.version().is_some() && root.get("hooks").is_none();
    if is_of_nothing && names.last().is_some_and(|name| name == "version") {
        root.without_property(&rest, "version")
    } else {
        Ok(rest)
    }
}

/// The text without the first of our hooks, and without what becomes empty by that; `None` where none is left.
fn without_one(layout: &HookLayout, text: &str) -> Result<Option<String>, SettingsError> {
    let root = Node::parse(text)?;
    let Some(hooks) = root.get("hooks") else { return Ok(None) };
    let is_last = |list: &[Node]| list.len() == 1;
    if let Some(list) = hooks.elements() {
        let Some(at) = list.iter().position(is_ours) else { return Ok(None) };
        return if is_last(list) {
            root.without_property(text, "hooks")
        } else {
            hooks.without_element(text, at)
        }
        .map(Some);
    }
    let names = hooks.names();
    for event in &names {
        let Some((list, groups)) = hooks.get(event).and_then(|list| Some((list, list.elements()?))) else {
            continue;
        };
        // The handler within its group, where there are groups.
        let found = groups.iter().enumerate().find_map(|(at, group)| match layout.form {
            HookForm::Groups => {
                let holder = group.get("hooks")?;
                let handlers = holder.elements()?;
                let own = handlers.iter().position(is_ours)?;
                Some((at, (!is_last(handlers)).then_some((holder, own))))
            }
            HookForm::Entries(_) | HookForm::Triggers | HookForm::Whole(_) => {
                is_ours(group).then_some((at, None))
            }
        });
        let Some((at, inner)) = found else { continue };
        return if let Some((holder, own)) = inner {
            holder.without_element(text, own)
        } else if !is_last(groups) {
            list.without_element(text, at)
        } else if names.len() > 1 {
            hooks.without_property(text, event)
        } else {
            root.without_property(text, "hooks")
        }
        .map(Some);
    }
    Ok(None)
}

/// Whose a file is that would be ours as a whole. One of an earlier version is told by its first and its last line.
pub(super) fn authorship(layout: &HookLayout, text: &str) -> Authorship {
    let HookForm::Whole(whole) = layout.form else { return Authorship::Foreign };
    if !text.contains(OURS) {
        return Authorship::Foreign;
    }
    let frame = whole("\u{0}");
    let head = frame.find(OURS).and_then(|at| frame.get(..at + OURS.len())).unwrap_or(&frame);
    let last = frame.lines().next_back().unwrap_or_default();
    if text.starts_with(head) && text.ends_with('\n') && text.lines().next_back() == Some(last) {
        Authorship::Ours
    } else {
        Authorship::Changed
    }
}

/// Whose a script beside that is, as [`companion`] writes it.
pub(super) fn companion_authorship(text: &str) -> Authorship {
    let lines: Vec<&str> = text.lines().collect();
    match lines[..] {
        ["#!/bin/sh", comment, line]
            if comment.ends_with(OURS) && runs_hook(line) && text.ends_with('\n') =>
        {
            Authorship::Ours
        }
        _ if text.contains(OURS) => Authorship::Changed,
        _ => Authorship::Foreign,
    }
}

/// A script that passes an event on and says nothing when the hook says nothing.
pub(super) fn companion(line: &str) -> String {
    format!("#!/bin/sh\n# {OURS}\n{line}\n")
}

/// Entries as groups: each key under the name that it has there, and each that is not known stays.
fn grouped(mut settings: Json, form: EntryForm) -> Json {
    let events = settings.get_mut("hooks").and_then(Json::as_object_mut).into_iter().flatten();
    for entry in events.filter_map(|(_, list)| list.as_array_mut()).flatten() {
        let Some(fields) = entry.as_object_mut() else { continue };
        let mut handler = Map::new();
        let matcher = fields.remove("matcher");
        for (name, value) in std::mem::take(fields) {
            let written = value.to_string();
            let is_constant = |(key, constant): &(&str, &str)| *key == name && *constant == written;
            if name == form.command {
                handler.insert("command".to_owned(), value);
            } else if Some(name.as_str()) == form.timeout {
                handler.insert("timeout".to_owned(), value);
            } else if !form.constant.iter().any(is_constant) {
                handler.insert(name, value);
            }
        }
        let is_type_known = form.constant.iter().any(|(key, _)| *key == "type");
        if !is_type_known || !handler.contains_key("type") {
            handler.entry("type").or_insert_with(|| json!("command"));
        }
        fields.insert("hooks".to_owned(), json!([handler]));
        fields.extend(matcher.map(|matcher| ("matcher".to_owned(), matcher)));
    }
    settings
}

/// A list of triggers as groups by event.
fn triggered(layout: &HookLayout, mut settings: Json) -> Json {
    let list = settings.get_mut("hooks").map(Json::take).unwrap_or_default();
    let mut events = Map::new();
    for hook in list.as_array().into_iter().flatten() {
        let Some(event) = hook.get("trigger").and_then(Json::as_str) else { continue };
        let is_on = hook.get("enabled").is_none_or(|enabled| *enabled == json!(true));
        let (action, timeout) = (hook.get("action"), hook.get("timeout"));
        let Some(mut handler) = action.and_then(Json::as_object).cloned().filter(|_| is_on) else { continue };
        handler.extend(timeout.map(|timeout| ("timeout".to_owned(), timeout.clone())));
        let mut group = json!({ "hooks": [handler] });
        if let Some(matcher) = hook.get("matcher") {
            group["matcher"] = matcher.clone();
        }
        if let Json::Array(groups) = events.entry(event).or_insert_with(|| json!([])) {
            groups.push(group);
        }
    }
    debug_assert!(matches!(layout.form, HookForm::Triggers));
    if let Some(fields) = settings.as_object_mut() {
        fields.insert("hooks".to_owned(), Json::Object(events));
    }
    settings
}

/// A file of ours as if its command line stood for every event; an empty object for every other text.
fn whole_read(layout: &HookLayout, text: &str, whole: fn(&str) -> String) -> Json {
    // A line that stands in it, between what stands around it.
    let frame = whole("\u{0}");
    let around = frame.split_once('\u{0}');
    let line = around.and_then(|(before, after)| text.strip_prefix(before)?.strip_suffix(after));
    let known = line.and_then(|line| layout.parse(&unwritten(line)?));
    let Some((command, Unanswered::Refused)) = known else { return json!({}) };
    if whole(&command.text(Unanswered::Refused)) != text {
        return json!({});
    }
    let group = |event: &str| json!([{ "hooks": [{ "type": "command", "command": command.text(layout.form_of(event)) }] }]);
    let events: Map<String, Json> =
        layout.events.iter().map(|(event, _)| ((*event).to_owned(), group(event))).collect();
    json!({ "hooks": events })
}

/// A command line as it was before it was written into a file: a text of a script stands there as it is, one of a program in quotes.
fn unwritten(line: &str) -> Option<String> {
    if line.starts_with('"') { serde_json::from_str(line).ok() } else { Some(line.to_owned()) }
}

fn group(layout: &HookLayout, command: &str, seconds: u32, matching: Matching) -> Json {
    let handler = json!({ "type": "command", "command": command, "timeout": layout.unit.number(seconds) });
    match matching {
        Matching::ByName => json!({ "matcher": layout.every_name, "hooks": [handler] }),
        Matching::Never => json!({ "hooks": [handler] }),
    }
}

fn entry(form: EntryForm, command: &str, seconds: u32) -> Json {
    let mut fields: Map<String, Json> =
        form.constant.iter().map(|(key, value)| ((*key).to_owned(), constant(value))).collect();
    fields.insert(form.command.to_owned(), json!(command));
    fields.extend(form.timeout.map(|key| (key.to_owned(), json!(seconds))));
    Json::Object(fields)
}

fn trigger(event: &str, command: &str, seconds: u32, (matching, every_name): (Matching, &str)) -> Json {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), json!(format!("checkrein {event}")));
    fields.insert("trigger".to_owned(), json!(event));
    if matching == Matching::ByName {
        fields.insert("matcher".to_owned(), json!(every_name));
    }
    fields.insert("action".to_owned(), json!({ "type": "command", "command": command }));
    fields.insert("timeout".to_owned(), json!(seconds));
    fields.insert("enabled".to_owned(), json!(true));
    Json::Object(fields)
}

/// A value of the table, as it is written there.
fn constant(written: &str) -> Json {
    serde_json::from_str(written).unwrap_or_else(|_| json!(written))
}

/// Whether an entry runs our program, by any of its texts.
fn is_ours(node: &Node) -> bool {
    node.get("action").filter(|action| action.is_object()).unwrap_or(node).texts().any(runs_hook)
}
