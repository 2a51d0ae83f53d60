//! The forms in which files say which hooks a client runs. All are read as the first one.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject};
use serde_json::{Map, Value as Json, json};

use super::{HookLayout, Matching, parse_strict, parse_tree, timeout_seconds};
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

/// What stands at the beginning of each file that is ours as a whole, behind the signs of a comment.
pub(crate) const OURS: &str = "Written by `checkrein init`; `checkrein uninstall` removes it.";

/// What a file says, with its hooks by event in groups.
pub(super) fn read(layout: &HookLayout, text: &str) -> Result<Json, SettingsError> {
    match layout.form {
        HookForm::Groups => parse_strict(text),
        HookForm::Entries(form) => parse_strict(text).map(|settings| grouped(settings, form)),
        HookForm::Triggers => parse_strict(text).map(|settings| triggered(layout, settings)),
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
        return if cleaned.trim().is_empty() {
            Ok(whole(&command.text(Unanswered::Refused)))
        } else {
            Err(SettingsError::Foreign)
        };
    }
    let source = if cleaned.trim().is_empty() { "{}\n" } else { cleaned };
    let root = parse_tree(source)?;
    let wrong = |key: String, expected| SettingsError::WrongType { key, expected };
    let settings = root.object_value_or_create().ok_or_else(|| wrong("(root)".to_owned(), "an object"))?;
    let line = |event: &str| command.text(layout.form_of(event));
    let seconds = timeout_seconds(command);
    match layout.form {
        HookForm::Triggers => {
            insert_version(&settings, "\"v1\"");
            let hooks = settings
                .array_value_or_create("hooks")
                .ok_or_else(|| wrong("hooks".to_owned(), "an array"))?;
            for (event, matching) in layout.events {
                hooks.append(trigger(event, &line(event), seconds, (*matching, layout.every_name)));
            }
            hooks.ensure_multiline();
        }
        HookForm::Groups | HookForm::Entries(_) | HookForm::Whole(_) => {
            if let HookForm::Entries(EntryForm { version: Some(version), .. }) = layout.form {
                insert_version(&settings, version);
            }
            let hooks = settings
                .object_value_or_create("hooks")
                .ok_or_else(|| wrong("hooks".to_owned(), "an object"))?;
            for (event, matching) in layout.events {
                let list = hooks
                    .array_value_or_create(event)
                    .ok_or_else(|| wrong(format!("hooks.{event}"), "an array"))?;
                list.append(match layout.form {
                    HookForm::Entries(form) => entry(form, &line(event), seconds),
                    HookForm::Groups | HookForm::Triggers | HookForm::Whole(_) => {
                        group(layout, &line(event), seconds, *matching)
                    }
                });
                list.ensure_multiline();
            }
        }
    }
    Ok(root.to_string())
}

/// The text without our hooks, where some may be.
pub(super) fn unregistered(layout: &HookLayout, text: &str) -> Result<String, SettingsError> {
    if let HookForm::Whole(_) = layout.form {
        return Ok(if text.contains(OURS) { String::new() } else { text.to_owned() });
    }
    let root = parse_tree(text)?;
    let Some(settings) = root.object_value() else { return Ok(text.to_owned()) };
    if let Some(list) = settings.array_value("hooks") {
        list.elements().into_iter().filter(is_ours).for_each(CstNode::remove);
        remove_when(&settings, "hooks", list.elements().is_empty());
    } else if let Some(hooks) = settings.object_value("hooks") {
        for property in hooks.properties() {
            let Some(list) = property.array_value() else { continue };
            match layout.form {
                HookForm::Groups => remove_from_groups(&list),
                HookForm::Entries(_) | HookForm::Triggers | HookForm::Whole(_) => {
                    list.elements().into_iter().filter(is_ours).for_each(CstNode::remove);
                }
            }
            if list.elements().is_empty() {
                property.remove();
            }
        }
        remove_when(&settings, "hooks", hooks.properties().is_empty());
    } else {
        return Ok(text.to_owned());
    }
    // A version of nothing says nothing.
    let is_rest = settings.properties().len() == 1 && settings.get("hooks").is_none();
    remove_when(&settings, "version", is_rest);
    Ok(root.to_string())
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

fn group(layout: &HookLayout, command: &str, seconds: u32, matching: Matching) -> CstInputValue {
    let handler = CstInputValue::Object(vec![
        text("type", "command"),
        text("command", command),
        ("timeout".to_owned(), CstInputValue::Number(layout.unit.text(seconds))),
    ]);
    let mut fields = Vec::new();
    if matching == Matching::ByName {
        fields.push(text("matcher", layout.every_name));
    }
    fields.push(("hooks".to_owned(), CstInputValue::Array(vec![handler])));
    CstInputValue::Object(fields)
}

fn entry(form: EntryForm, command: &str, seconds: u32) -> CstInputValue {
    let constant = |(key, value): &(&str, &str)| {
        let value = match (value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')), *value) {
            (Some(text), _) => CstInputValue::String(text.to_owned()),
            (None, "true") => CstInputValue::Bool(true),
            (None, "false") => CstInputValue::Bool(false),
            (None, number) => CstInputValue::Number(number.to_owned()),
        };
        ((*key).to_owned(), value)
    };
    let mut fields: Vec<_> = form.constant.iter().map(constant).collect();
    fields.push(text(form.command, command));
    fields.extend(form.timeout.map(|key| (key.to_owned(), CstInputValue::Number(seconds.to_string()))));
    CstInputValue::Object(fields)
}

fn trigger(
    event: &str,
    command: &str,
    seconds: u32,
    (matching, every_name): (Matching, &str),
) -> CstInputValue {
    let mut fields = vec![text("name", &format!("checkrein {event}")), text("trigger", event)];
    if matching == Matching::ByName {
        fields.push(text("matcher", every_name));
    }
    let action = CstInputValue::Object(vec![text("type", "command"), text("command", command)]);
    fields.push(("action".to_owned(), action));
    fields.push(("timeout".to_owned(), CstInputValue::Number(seconds.to_string())));
    fields.push(("enabled".to_owned(), CstInputValue::Bool(true)));
    CstInputValue::Object(fields)
}

fn text(key: &str, value: &str) -> (String, CstInputValue) {
    (key.to_owned(), CstInputValue::String(value.to_owned()))
}

fn insert_version(settings: &CstObject, version: &str) {
    if settings.get("version").is_none() {
        let value = match version.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(text) => CstInputValue::String(text.to_owned()),
            None => CstInputValue::Number(version.to_owned()),
        };
        settings.append("version", value);
    }
}

fn remove_when(settings: &CstObject, name: &str, holds: bool) {
    if holds && let Some(property) = settings.get(name) {
        property.remove();
    }
}

fn remove_from_groups(groups: &CstArray) {
    for element in groups.elements() {
        let Some(handlers) = element.as_object().and_then(|group| group.array_value("hooks")) else {
            continue;
        };
        handlers.elements().into_iter().filter(is_ours).for_each(CstNode::remove);
        if handlers.elements().is_empty() {
            element.remove();
        }
    }
}

/// Whether an entry runs our program, by any of its texts.
fn is_ours(node: &CstNode) -> bool {
    let Some(object) = node.as_object() else { return false };
    let holder = object.object_value("action").unwrap_or(object);
    holder.properties().into_iter().any(|property| {
        let value = property.value().and_then(|value| value.as_string_lit()?.decoded_value().ok());
        value.is_some_and(|text| runs_hook(&text))
    })
}
