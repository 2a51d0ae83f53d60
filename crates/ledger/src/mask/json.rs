//! Values of JSON, by the names of their keys.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use super::name::{Name, judge};
use super::personal::kind_of_value;
use super::token::token_kind;
use super::value::{looks_random, stands_for_one};
use super::{MaskKey, holds_mask, kinds_of_masks, mask_text};

/// Masks all secrets in a value: in every text, and whole behind keys such as `password`.
pub fn mask_json(value: &mut Json, key: &MaskKey) {
    match value {
        Json::String(text) => mask_in_place(text, key),
        Json::Array(items) => mask_items(items, key),
        Json::Object(fields) => mask_fields(fields, key),
        Json::Number(_) => mask_number(value, "", key),
        Json::Null | Json::Bool(_) => {}
    }
}

/// Masks a number that says who somebody is, by its form and by the name of its key.
fn mask_number(value: &mut Json, name: &str, key: &MaskKey) {
    let Json::Number(number) = &*value else { return };
    let text = number.to_string();
    if let Some(kind) = kind_of_value(name, &text).filter(|kind| key.masks(kind)) {
        *value = Json::String(key.mask(kind, &text));
    }
}

/// Masks the texts of what a tool answered, in the form in which it came. Returns the kinds of what was masked, one for each mask; empty
/// when nothing was. Pictures and sounds are left.
pub fn mask_output(value: &mut Json, key: &MaskKey) -> Vec<String> {
    let mut kinds = Vec::new();
    mask_texts(value, key, &mut kinds);
    kinds
}

/// Types of content that is no text.
const NO_TEXT: [&str; 5] = ["image", "audio", "video", "pdf", "blob"];

fn mask_texts(value: &mut Json, key: &MaskKey, kinds: &mut Vec<String>) {
    match value {
        Json::String(text) => {
            if let Cow::Owned(masked) = mask_text(text, key) {
                let there = kinds_of_masks(text).count();
                kinds.extend(kinds_of_masks(&masked).skip(there).map(str::to_owned));
                *text = masked;
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| mask_texts(item, key, kinds)),
        Json::Object(fields) => {
            let is_text =
                !fields.get("type").and_then(Json::as_str).is_some_and(|kind| NO_TEXT.contains(&kind));
            if is_text {
                kinds.extend(mask_named_fields(fields, key));
                fields.values_mut().for_each(|field| mask_texts(field, key, kinds));
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Masks the texts of an object whose own names say that they are secret, as `{"password": "..."}`: a structure is no program that has to be
/// shown as it is. Returns the kinds of what was masked, one for each mask.
pub fn mask_named_fields(fields: &mut Map<String, Json>, key: &MaskKey) -> Vec<String> {
    let mut kinds = Vec::new();
    for (name, value) in fields.iter_mut() {
        let Json::String(text) = value else { continue };
        let kind = match judge(name) {
            Name::Secret(kind) => kind,
            Name::KeyLike if looks_random(text) => "key",
            Name::KeyLike | Name::Plain => continue,
        };
        if key.masks(kind) && !stands_for_one(name, text) && !is_filled_in(text) && !holds_mask(text) {
            let kind = token_kind(text).unwrap_or(kind);
            *text = key.mask(kind, text);
            kinds.push(kind.to_owned());
        }
    }
    kinds
}

fn mask_in_place(text: &mut String, key: &MaskKey) {
    if let Cow::Owned(masked) = mask_text(text, key) {
        *text = masked;
    }
}

fn mask_items(items: &mut [Json], key: &MaskKey) {
    // `["--password", "..."]`: the arguments of a command.
    let mut expected = None;
    for item in items {
        match (expected.take(), &mut *item) {
            (Some(kind), Json::String(text)) if !text.starts_with('-') => mask_whole(item, kind, "", key),
            _ => mask_json(item, key),
        }
        let flag =
            item.as_str().and_then(|text| text.strip_prefix('-')).map(|name| name.trim_start_matches('-'));
        expected = flag.filter(|name| !name.contains('=')).and_then(|name| match judge(name) {
            Name::Secret(kind) => Some(kind),
            Name::KeyLike | Name::Plain => None,
        });
    }
}

fn mask_fields(fields: &mut Map<String, Json>, key: &MaskKey) {
    // `{"name": "DB_PASSWORD", "value": "..."}`: a variable as an object.
    let named = ["name", "key"].iter().find_map(|field| fields.get(*field).and_then(Json::as_str)).map(judge);
    if let (Some(Name::Secret(kind)), Some(value)) = (named, fields.get_mut("value")) {
        mask_whole(value, kind, "", key);
    }
    let masked_names = fields.keys().any(|name| matches!(mask_text(name, key), Cow::Owned(_)));
    if masked_names {
        *fields = std::mem::take(fields)
            .into_iter()
            .map(|(name, value)| (mask_text(&name, key).into_owned(), value))
            .collect();
    }
    for (name, value) in fields.iter_mut() {
        match judge(name) {
            Name::Secret(kind) => mask_whole(value, kind, name, key),
            Name::KeyLike => match value {
                Json::String(text) if looks_random(text) && !stands_for_one(name, text) => {
                    *text = key.mask(token_kind(text).unwrap_or("key"), text);
                }
                other => mask_json(other, key),
            },
            Name::Plain => match value {
                Json::Number(_) => mask_number(value, name, key),
                Json::String(text) => match kind_of_value(name, text) {
                    Some(kind @ ("national_id" | "ssn")) if key.masks(kind) => *text = key.mask(kind, text),
                    _ => mask_in_place(text, key),
                },
                other => mask_json(other, key),
            },
        }
    }
}

/// Masks everything in a value, of which the key says that it is secret.
fn mask_whole(value: &mut Json, kind: &'static str, name: &str, key: &MaskKey) {
    match value {
        Json::String(text) if stands_for_one(name, text) || is_filled_in(text) => {}
        Json::String(text) => *text = key.mask(token_kind(text).unwrap_or(kind), text),
        Json::Number(number) => {
            let text = number.to_string();
            if text.len() > 3 {
                *value = Json::String(key.mask(kind, &text));
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| mask_whole(item, kind, "", key)),
        Json::Object(fields) => {
            fields.iter_mut().for_each(|(inner, item)| mask_whole(item, kind, inner, key));
        }
        Json::Null | Json::Bool(_) => {}
    }
}

/// Whether a text is nothing but a variable or a template.
fn is_filled_in(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('$') else { return false };
    (rest.starts_with('{') && rest.find('}') == Some(rest.len() - 1))
        || text.starts_with("${{") && text.ends_with("}}")
        || (!rest.is_empty()
            && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'))
}
