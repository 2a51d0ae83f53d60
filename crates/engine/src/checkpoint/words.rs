//! What was saved and what was not, in words.

use checkrein_protocol::{Action, Effect, EffectKind, Target, ToolName};
use checkrein_review::ToSave;
use checkrein_snapshot::{CaptureBounds, Captured, LimitExceeded, SkipReason, Skipped};

use serde_json::Value as Json;

use super::RECORDED_SKIPS;
use crate::text::{cut, patched_files};

/// What stands between what is not saved and why.
pub(crate) const NOT_SAVED: &str = "is not saved: ";

/// Why the only copy of something is not in what was captured; `None` when it is.
pub(super) fn missing(captured: &Captured) -> Option<String> {
    let mut lacking = captured.skipped.iter().filter(|one| one.reason.leaves_out_content());
    let first = lacking.next()?;
    let path = first.path.as_path().display();
    Some(match lacking.count() {
        0 => format!("`{path}` would be lost and cannot be saved: {}", first.reason),
        more => format!("`{path}` and {more} more would be lost and cannot be saved: {}", first.reason),
    })
}

/// What has no content to be saved, in words.
pub(super) fn special(skipped: &[Skipped]) -> Option<String> {
    let mut all = skipped.iter().filter(|one| one.reason == SkipReason::Special);
    let first = all.next()?.path.as_path().display().to_string();
    Some(match all.count() {
        0 => format!("`{first}` {NOT_SAVED}it is a socket or device"),
        more => format!("`{first}` with {more} more {NOT_SAVED}it is a socket or device, as they are"),
    })
}

/// What is lacking in what was saved, in words: `but for` it the rest comes back.
pub(super) fn left_out(skipped: &[Skipped]) -> Option<String> {
    let mut all =
        skipped.iter().filter(|one| one.reason.leaves_out_content() || one.reason == SkipReason::Special);
    let first = all.next()?;
    let path = first.path.as_path().display();
    Some(match all.count() {
        0 => format!("`{path}` ({})", first.reason),
        more => format!("`{path}` ({}) and {more} more", first.reason),
    })
}

pub(super) fn too_much(over: LimitExceeded, bounds: &CaptureBounds) -> String {
    let bound = match over {
        LimitExceeded::Entries => format!("more than {} files (`snapshots.max_files`)", bounds.entries),
        LimitExceeded::Bytes => {
            format!("more than {} MB (`snapshots.max_megabytes`)", bounds.bytes / (1024 * 1024))
        }
        LimitExceeded::Time => {
            format!("it takes longer than {} ms (`snapshots.max_ms`)", bounds.time.as_millis())
        }
    };
    format!("this destroys more than can be saved first: {bound}")
}

/// How many of the places that are saved are named (ours): a user sees at a glance whether something of theirs is among them.
const NAMED: usize = 3;

/// What is saved, in words, with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SavedWords {
    /// One thing.
    One(String),
    /// Several things.
    Several(String),
}

pub(super) fn places_in_words(taken: &[ToSave]) -> SavedWords {
    match taken {
        [] => SavedWords::One("what it changes".to_owned()),
        [one] => SavedWords::One(format!("`{}`", one.path)),
        several => {
            let names: Vec<String> =
                several.iter().take(NAMED).map(|one| format!("`{}`", one.path)).collect();
            SavedWords::Several(match (several.len() - names.len(), names.split_last()) {
                (0, Some((last, before))) => format!("{} and {last}", before.join(", ")),
                (more, _) => format!("{} and {more} more", names.join(", ")),
            })
        }
    }
}

pub(super) fn was_saved(what: &SavedWords, left_out: Option<&str>, id: u64) -> String {
    let (what, was, them) = match what {
        SavedWords::One(words) => (words, "was", "it"),
        SavedWords::Several(words) => (words, "were", "them"),
    };
    match left_out {
        None => format!("{what} {was} saved first (snapshot {id}); `checkrein undo` brings {them} back"),
        Some(lacking) => format!(
            "{what} {was} saved first (snapshot {id}) but for {lacking}; `checkrein undo` brings the rest back"
        ),
    }
}

/// The same of places that a snapshot of the whole workspace holds.
pub(crate) fn was_saved_in(places: &[ToSave], id: u64) -> String {
    was_saved(&places_in_words(places), None, id)
}

pub(super) fn would_be_saved(what: &SavedWords) -> String {
    let (what, them) = match what {
        SavedWords::One(words) => (words, "it"),
        SavedWords::Several(words) => (words, "them"),
    };
    format!("{what} would be saved first, so that `checkrein undo` can bring {them} back")
}

/// The names of commits that an action loses, in words; `None` when it loses none.
pub(super) fn references_in_words(effects: &[Effect]) -> Option<SavedWords> {
    let mut names = effects.iter().filter_map(|effect| match (effect.kind, &effect.target) {
        (EffectKind::VcsLocalLoss, Target::Reference(name)) => Some(name),
        _ => None,
    });
    let first = names.next()?;
    Some(match names.count() {
        0 => SavedWords::One(format!("`{first}` with its commits")),
        more => SavedWords::Several(format!("`{first}` and {more} more with their commits")),
    })
}

/// The same, for a line that has room for the names alone.
pub(crate) fn references(effects: &[Effect]) -> Option<String> {
    references_in_words(effects).map(|words| match words {
        SavedWords::One(words) | SavedWords::Several(words) => words,
    })
}

/// An action in one line, for the list of snapshots.
pub fn in_words(action: &Action) -> String {
    let text = action.shell_text().map_or_else(|| call_in_words(&action.tool, &action.input), str::to_owned);
    cut(text.trim(), 200)
}

/// A call as it was written down, in one line.
pub fn call_in_words(tool: &ToolName, input: &Json) -> String {
    let field = |names: &[&str]| names.iter().find_map(|name| input.get(*name).and_then(Json::as_str));
    if let Some(text) = field(&["command", "cmd"]) {
        let files = patched_files(text);
        if tool.as_str() == "apply_patch" && !files.is_empty() {
            return format!("{} {}", tool.as_str(), files.join(", "));
        }
        return text.trim().to_owned();
    }
    let path = field(&["file_path", "notebook_path", "path"]);
    format!("{} {}", tool.as_str(), path.unwrap_or_default()).trim().to_owned()
}

/// What is lacking in a snapshot, for the record.
pub(super) fn told(skipped: &[Skipped]) -> Vec<String> {
    skipped
        .iter()
        // Every snapshot of the workspace leaves out the same.
        .filter(|one| one.reason != SkipReason::Ignored)
        .take(RECORDED_SKIPS)
        .map(|one| format!("{}: {}", one.path.as_path().display(), one.reason))
        .collect()
}
