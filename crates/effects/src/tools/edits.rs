//! The texts that edits and writes leave in files, by whichever client's tool.
//!
//! An edit is known by its form, not by the name of its tool: what it takes out (`old_string`, `oldStr`, `old_text`) stands beside what it puts in
//! (`new_string`, `newStr`, `new_text`), in the call or in a list of it. Blanks at the ends of lines may differ where the text does not stand there
//! exactly, as OpenCode, Gemini CLI and Qwen Code have it.

use checkrein_protocol::folded;
use serde_json::Value as Json;

use crate::action::Action;
use crate::interpreter::{AnnouncedContent, Last};
use crate::path::AbsolutePath;
use crate::world::{Entry, FileText, World};

use super::call::{PATH_KEYS, ToolCall, text_of};
use super::patch;

/// What follows `old` and `new` in the names of fields that hold text, folded (the edit tools of the clients; ours).
const TEXTS: &[&str] = &["", "string", "str", "text", "content", "contents", "code", "value"];

/// Fields that hold the whole text of a file, folded.
const WHOLE: &[&str] = &["content", "filetext", "contents", "text", "newtext", "newstr", "filecontent"];

/// Fields by which an edit is made wherever it fits, folded.
const EVERYWHERE: &[&str] = &["replaceall", "allowmultiple", "allowmultiplereplacements"];

/// One change of a text.
enum Edit<'a> {
    Replace {
        old: &'a str,
        new: &'a str,
        is_everywhere: bool,
    },
    /// Puts a text behind a line.
    Insert {
        line: usize,
        new: &'a str,
    },
    Append(&'a str),
    Whole(&'a str),
}

/// Whether a field holds what an edit takes out.
pub(super) fn is_taken_out(name: &str) -> bool {
    is_text_of(name, "old")
}

fn is_text_of(name: &str, side: &str) -> bool {
    folded(name).strip_prefix(side).is_some_and(|rest| TEXTS.contains(&rest))
}

/// What a tool leaves in the files that it writes or edits, where its input and what stands in them say all of it.
pub(crate) fn announced(action: &Action, world: &dyn World) -> Vec<(AbsolutePath, AnnouncedContent)> {
    let call = ToolCall::new(action, world);
    let place = |path: &str| call.path(path, Last::Follow);
    let is_patch = matches!(folded(action.tool.as_str()).as_str(), "applypatch" | "patch");
    let left = if is_patch {
        let texts: Vec<&str> = match &action.input {
            Json::String(text) => vec![text],
            input => ["command", "input", "patch", "patchText"]
                .iter()
                .filter_map(|name| input.get(*name)?.as_str())
                .collect(),
        };
        let now = |path: &str| now(&place(path), world);
        texts.into_iter().flat_map(|text| patch::left_files(text, &now)).collect()
    } else {
        Vec::new()
    };
    let mut all: Vec<(AbsolutePath, AnnouncedContent)> =
        left.into_iter().map(|(path, text)| (place(&path), AnnouncedContent::Text(text))).collect();
    let mut files: Vec<(AbsolutePath, Vec<Edit<'_>>)> = Vec::new();
    for (path, edit) in edits(action) {
        let path = place(path);
        match files.iter_mut().find(|(file, _)| *file == path) {
            Some((_, edits)) => edits.push(edit),
            None => files.push((path, vec![edit])),
        }
    }
    for (path, edits) in files {
        if let Some(text) = after(&edits, &path, world) {
            all.push((path, AnnouncedContent::Text(text)));
        }
    }
    all
}

/// What stands in a file; nothing where there is none, and `None` where it is not known.
fn now(path: &AbsolutePath, world: &dyn World) -> Option<String> {
    match world.text(path) {
        FileText::Whole(text) => Some(text),
        FileText::Beginning(_) | FileText::Unknown => (world.entry(path) == Entry::Missing).then(String::new),
    }
}

/// The edits of a call, each with the file that it means.
fn edits(action: &Action) -> Vec<(&str, Edit<'_>)> {
    let Some(fields) = action.input.as_object() else { return Vec::new() };
    let outer = text_of(&action.input, PATH_KEYS);
    let mut all = Vec::new();
    if let (Some(path), Some(edit)) = (outer, replacement(&action.input)) {
        all.push((path, edit));
    }
    for item in fields.values().filter_map(Json::as_array).flatten() {
        if let (Some(path), Some(edit)) = (text_of(item, PATH_KEYS).or(outer), replacement(item)) {
            all.push((path, edit));
        }
    }
    if all.is_empty()
        && let (Some(path), Some(edit)) = (outer, whole(action))
    {
        all.push((path, edit));
    }
    all
}

fn field(given: &Json, is_meant: impl Fn(&str) -> bool) -> Option<&Json> {
    let mut fields = given.as_object()?.iter();
    fields.find(|(name, value)| !value.is_null() && is_meant(name)).map(|(_, value)| value)
}

fn replacement(given: &Json) -> Option<Edit<'_>> {
    let new = field(given, |name| is_text_of(name, "new"))?.as_str()?;
    if let Some(line) = field(given, |name| folded(name) == "insertline") {
        return Some(Edit::Insert { line: usize::try_from(line.as_u64()?).ok()?, new });
    }
    let old = field(given, is_taken_out)?.as_str()?;
    let is_everywhere = field(given, |name| EVERYWHERE.contains(&folded(name).as_str()))
        .is_some_and(|value| value.as_bool() == Some(true))
        || field(given, |name| folded(name) == "expectedreplacements")
            .is_some_and(|value| value.as_u64().is_some_and(|count| count > 1));
    Some(Edit::Replace { old, new, is_everywhere })
}

/// The text that a tool of a client writes as a whole, or behind what stands there. What tools of servers are given is read by its form alone.
fn whole(action: &Action) -> Option<Edit<'_>> {
    let name = folded(action.tool.as_str());
    let text = || field(&action.input, |name| WHOLE.contains(&folded(name).as_str()))?.as_str();
    let is_appended = ["command", "mode"].iter().any(|name| {
        action.input.get(*name).and_then(Json::as_str).is_some_and(|mode| matches!(mode, "append" | "a"))
    });
    match name.as_str() {
        "write" | "writefile" | "create" | "createfile" | "writetofile" | "savefile" | "newfile"
        | "fswrite" => {
            let text = text()?;
            Some(if is_appended { Edit::Append(text) } else { Edit::Whole(text) })
        }
        "fsappend" | "appendfile" | "appendtofile" => text().map(Edit::Append),
        _ => None,
    }
}

/// The text of a file after all edits; `None` where one does not fit, or what stands there is needed and not known.
fn after(edits: &[Edit<'_>], path: &AbsolutePath, world: &dyn World) -> Option<String> {
    let is_made = matches!(edits, [Edit::Whole(_), ..]);
    let text = if is_made { String::new() } else { now(path, world)? };
    edits.iter().try_fold(text, |text, edit| edited(&text, edit))
}

fn edited(text: &str, edit: &Edit<'_>) -> Option<String> {
    match *edit {
        Edit::Whole(new) => Some(new.to_owned()),
        Edit::Append(new) => Some(format!("{}{new}", ended(text))),
        Edit::Insert { line, new } => {
            let mut lines: Vec<&str> = text.lines().collect();
            let at = line.min(lines.len());
            lines.splice(at..at, new.lines());
            Some(lines.into_iter().flat_map(|line| [line, "\n"]).collect())
        }
        // A file is made so, where there is none.
        Edit::Replace { old: "", new, .. } => text.is_empty().then(|| new.to_owned()),
        Edit::Replace { old, new, is_everywhere: true } if text.contains(old) => Some(text.replace(old, new)),
        Edit::Replace { old, new, .. } if text.contains(old) => Some(text.replacen(old, new, 1)),
        Edit::Replace { old, new, .. } => {
            let mut lines: Vec<&str> = text.lines().collect();
            let sought: Vec<&str> = old.lines().collect();
            let at = patch::place_of(&lines, &sought, 0)?;
            lines.splice(at..at + sought.len(), new.lines());
            Some(lines.into_iter().flat_map(|line| [line, "\n"]).collect())
        }
    }
}

/// A text that ends with the end of a line, where there is one.
fn ended(text: &str) -> String {
    let is_open = !text.is_empty() && !text.ends_with('\n');
    format!("{text}{}", if is_open { "\n" } else { "" })
}
