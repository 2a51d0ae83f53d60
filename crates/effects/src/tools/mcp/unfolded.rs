//! Objects that stand as texts among the arguments of a tool: many servers take them so, and read them.

use std::fmt;

use checkrein_protocol::folded;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value as Json};

use super::names::{Deed, Name, deed_of, split};
use super::questions::asks_database;
use crate::action::Action;

/// How many texts within texts are followed, and how long all of them may be, in bytes (ours). What is beyond is said to be unknown.
const LAYERS: usize = 8;
const LONGEST: usize = 4 * 1024 * 1024;
/// How deep the reader of JSON follows objects (`serde_json`, its limit of recursion).
const DEEPEST: usize = 127;

/// Fields that hold what a tool keeps or tells others, and reads itself no further (ours).
const KEPT: &[&str] = &[
    "content",
    "contents",
    "text",
    "filetext",
    "filecontent",
    "newstring",
    "oldstring",
    "newstr",
    "oldstr",
    "newtext",
    "oldtext",
    "value",
    "body",
    "message",
    "description",
    "comment",
    "summary",
    "note",
    "notes",
    "markdown",
    "html",
];

/// A call whose arguments stand there as what their texts hold.
pub(crate) struct UnfoldedCall {
    /// The call.
    pub(crate) action: Action,
    /// Why not all of it was followed; `None` where it was.
    pub(crate) not_known: Option<&'static str>,
}

/// The call with the objects that stand as texts among its arguments; `None` where none does.
pub(crate) fn unfolded(action: &Action) -> Option<UnfoldedCall> {
    let name = split(action.tool.as_str());
    let deed = deed_of(&name.words);
    if deed == Some(Deed::Quiet) {
        return None;
    }
    let mut reader = Reader { keeps: keeps(deed, &name), left: LONGEST, has_found: false, not_known: None };
    let input = reader.value(&action.input, LAYERS);
    let action = Action { tool: action.tool.clone(), input, cwd: action.cwd.clone() };
    (reader.has_found || reader.not_known.is_some())
        .then_some(UnfoldedCall { action, not_known: reader.not_known })
}

/// Whether a tool keeps what it is given, or tells it others.
fn keeps(deed: Option<Deed>, name: &Name) -> bool {
    match deed {
        Some(Deed::Change | Deed::Publish) => !asks_database(name),
        Some(Deed::Quiet | Deed::Look | Deed::Run | Deed::Destroy) | None => false,
    }
}

struct Reader {
    keeps: bool,
    left: usize,
    has_found: bool,
    not_known: Option<&'static str>,
}

impl Reader {
    fn value(&mut self, value: &Json, layers: usize) -> Json {
        match value {
            Json::String(text) => self.text(text, layers).unwrap_or_else(|| value.clone()),
            Json::Array(items) => items.iter().map(|item| self.value(item, layers)).collect(),
            Json::Object(fields) => {
                let read = fields.iter().map(|(name, value)| {
                    let is_kept = self.keeps && KEPT.contains(&folded(name).as_str());
                    (name.clone(), if is_kept { value.clone() } else { self.value(value, layers) })
                });
                Json::Object(read.collect())
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
        }
    }

    /// What a text holds; `None` where it is no more than a text.
    fn text(&mut self, text: &str, layers: usize) -> Option<Json> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if !text.starts_with(['{', '[', '"']) {
            return None;
        }
        if text.len() > self.left {
            self.not_known = Some("more stands in its texts than is read");
            return None;
        }
        self.left -= text.len();
        let held = match serde_json::from_str::<Every>(text) {
            Ok(Every(held)) => held,
            Err(_) if depth(text) > DEEPEST => {
                self.not_known = Some("what stands in one of its texts is deeper than is read");
                return None;
            }
            Err(_) => return None,
        };
        match &held {
            Json::Object(_) | Json::Array(_) => {}
            // A text in a text counts where something stands in it.
            Json::String(inner) if inner.trim_start().starts_with(['{', '[', '"']) => {}
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => return None,
        }
        let Some(layers) = layers.checked_sub(1) else {
            self.not_known = Some("it holds texts within texts, deeper than is read");
            return None;
        };
        self.has_found = true;
        Some(self.value(&held, layers))
    }
}

/// How deep the brackets of a text stand within each other.
fn depth(text: &str) -> usize {
    let (mut open, mut deepest, mut is_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' if !is_text => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// A value in which nothing is lost: readers differ in which of two values under one name counts, so the second has a name that is spelled
/// otherwise and means the same.
struct Every(Json);

impl<'de> Deserialize<'de> for Every {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EveryVisitor)
    }
}

struct EveryVisitor;

impl<'de> Visitor<'de> for EveryVisitor {
    type Value = Every;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Every, E> {
        Ok(Every(Json::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Every, E> {
        Ok(Every(Json::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Every, E> {
        Ok(Every(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Every, E> {
        Ok(Every(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Every, E> {
        Ok(Every(Number::from_f64(value).map_or(Json::Null, Json::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Every, E> {
        Ok(Every(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Every, E> {
        Ok(Every(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Every, A::Error> {
        let mut all = Vec::new();
        while let Some(Every(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Every(Json::Array(all)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Every, A::Error> {
        let mut all = Map::new();
        while let Some((mut name, Every(value))) = fields.next_entry::<String, Every>()? {
            while all.contains_key(&name) {
                name.push('_');
            }
            all.insert(name, value);
        }
        Ok(Every(Json::Object(all)))
    }
}
