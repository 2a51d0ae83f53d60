//! Reading the files: which servers there are, and where their words stand.

use std::collections::BTreeMap;
use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Deserialize;
use toml::Spanned;

use super::{ServerForm, Written, WrittenCommand, WrittenList, WrittenServer};
use crate::error::SettingsError;

/// The servers that a text names.
pub(super) fn servers(form: ServerForm, text: &str) -> Result<Vec<WrittenServer>, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    match form {
        ServerForm::Json(paths) => json(text, paths, program),
        ServerForm::JsonWords(paths) => json(text, paths, words),
        ServerForm::Toml => toml(text),
    }
}

fn json(
    text: &str,
    paths: &[&[&str]],
    command: fn(&Object<'_>) -> WrittenCommand,
) -> Result<Vec<WrittenServer>, SettingsError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())?;
    let wrong = |key: &str, expected| SettingsError::WrongType { key: key.to_owned(), expected };
    let Some(Value::Object(root)) = parsed.value else { return Err(wrong("(root)", "an object")) };
    let mut found = Vec::new();
    for path in paths {
        let mut holders: Vec<&Object<'_>> = vec![&root];
        for (depth, key) in path.iter().enumerate() {
            let mut inner = Vec::new();
            for holder in holders {
                for property in
                    holder.properties.iter().filter(|property| *key == "*" || property.name.as_str() == *key)
                {
                    match &property.value {
                        Value::Object(object) => inner.push(object),
                        // What is not a project of the client is none of ours.
                        _ if *key == "*" => {}
                        _ => {
                            return Err(wrong(
                                &path.get(..=depth).unwrap_or_default().join("."),
                                "an object",
                            ));
                        }
                    }
                }
            }
            holders = inner;
        }
        for property in holders.iter().flat_map(|holder| &holder.properties) {
            let command = match &property.value {
                Value::Object(server) => command(server),
                _ => WrittenCommand::Unclear("it is not an object"),
            };
            found.push(WrittenServer { name: property.name.as_str().to_owned(), command });
        }
    }
    Ok(found)
}

/// A server with a program and its arguments.
fn program(server: &Object<'_>) -> WrittenCommand {
    let one = |name: &str| only(server, name);
    let program = match one("command") {
        Ok(Some(Value::StringLit(text))) => written(text.range(), &text.value),
        Ok(Some(_)) => return WrittenCommand::Unclear("its `command` is not a text"),
        Ok(None) => return without_command(server),
        Err(why) => return WrittenCommand::Unclear(why),
    };
    let arguments = match one("args") {
        Ok(Some(Value::Array(array))) => match list(array) {
            Some(list) => Some(list),
            None => return WrittenCommand::Unclear("its `args` are not all texts"),
        },
        Ok(Some(_)) => return WrittenCommand::Unclear("its `args` are not a list"),
        Ok(None) => None,
        Err(why) => return WrittenCommand::Unclear(why),
    };
    WrittenCommand::Program { program, arguments, between: ", \"args\": " }
}

/// A server whose command is one list.
fn words(server: &Object<'_>) -> WrittenCommand {
    match only(server, "command") {
        Ok(Some(Value::Array(array))) => list(array)
            .map_or(WrittenCommand::Unclear("its `command` is not all texts"), WrittenCommand::Words),
        Ok(Some(_)) => WrittenCommand::Unclear("its `command` is not a list"),
        Ok(None) => without_command(server),
        Err(why) => WrittenCommand::Unclear(why),
    }
}

fn without_command(server: &Object<'_>) -> WrittenCommand {
    let has = |name: &str| server.get(name).is_some();
    if has("url") || has("httpUrl") || has("serverUrl") {
        WrittenCommand::Remote
    } else {
        WrittenCommand::Unclear("it has no `command`")
    }
}

/// The value of a field that must not stand twice: readers differ in which of the two they take.
fn only<'a, 'text>(object: &'a Object<'text>, name: &str) -> Result<Option<&'a Value<'text>>, &'static str> {
    let mut all = object.properties.iter().filter(|property| property.name.as_str() == name);
    match (all.next(), all.next()) {
        (first, None) => Ok(first.map(|property| &property.value)),
        (_, Some(_)) => Err("a field of it stands there twice"),
    }
}

fn list(array: &Array<'_>) -> Option<WrittenList> {
    let one = |value: &Value<'_>| match value {
        Value::StringLit(text) => Some(written(text.range(), &text.value)),
        Value::NumberLit(_)
        | Value::BooleanLit(_)
        | Value::Object(_)
        | Value::Array(_)
        | Value::NullKeyword(_) => None,
    };
    let items: Option<Vec<Written>> = array.elements.iter().map(one).collect();
    Some(WrittenList { range: range(array.range()), items: items? })
}

fn range(range: jsonc_parser::common::Range) -> Range<usize> {
    range.start..range.end
}

fn written(at: jsonc_parser::common::Range, value: &str) -> Written {
    Written { range: range(at), value: value.to_owned() }
}

#[derive(Deserialize)]
struct Settings {
    #[serde(default)]
    mcp_servers: BTreeMap<String, Spanned<Server>>,
}

#[derive(Deserialize)]
struct Server {
    command: Option<Spanned<String>>,
    args: Option<Spanned<Vec<Spanned<String>>>>,
    url: Option<toml::Value>,
}

fn toml(text: &str) -> Result<Vec<WrittenServer>, SettingsError> {
    let settings: Settings = toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        SettingsError::NotToml { line: before.lines().count().max(1), cause: error.message().to_owned() }
    })?;
    let text_of = |value: &Spanned<String>| Written { range: value.span(), value: value.get_ref().clone() };
    let one = |(name, server): (String, Spanned<Server>)| {
        let is_inline = text.get(server.span()).is_some_and(|text| text.starts_with('{'));
        let Server { command, args, url } = server.into_inner();
        let command = match command {
            None if url.is_some() => WrittenCommand::Remote,
            None => WrittenCommand::Unclear("it has no `command`"),
            Some(program) => WrittenCommand::Program {
                program: text_of(&program),
                arguments: args.map(|args| WrittenList {
                    range: args.span(),
                    items: args.get_ref().iter().map(text_of).collect(),
                }),
                between: if is_inline { ", args = " } else { "\nargs = " },
            },
        };
        WrittenServer { name, command }
    };
    Ok(settings.mcp_servers.into_iter().map(one).collect())
}
