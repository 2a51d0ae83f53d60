//! A call as a user knows it: a command, or a file with the lines that change in it.

use checkrein_engine::text::{patched_files, plain_lines};
use checkrein_protocol::{AbsolutePath, Action, ReviewRecord};
use serde_json::Value as Json;
use similar::{ChangeTag, TextDiff};

use super::allow::shown::{one_line, whole_call};

/// How many lines of a call are shown where not all of it is wanted (ours): a screen still holds what was decided.
const LINES: usize = 12;

/// How many lines that stay the same are shown beside those that change (ours).
const AROUND: usize = 1;

/// How much of a call is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallExtent {
    /// The first lines.
    Beginning,
    /// Everything that is on record.
    Whole,
}

/// A call in words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallWords {
    /// What the agent wanted, behind "wanted to".
    pub(super) what: String,
    /// The command, or the lines that change.
    pub(super) lines: Vec<String>,
}

/// Returns a recorded call in words. Nothing in it can speak to the terminal.
pub(super) fn call_shown(review: &ReviewRecord, extent: CallExtent) -> CallWords {
    let mut words = in_words(review);
    if extent == CallExtent::Beginning && words.lines.len() > LINES {
        let more = words.lines.len() - LINES;
        words.lines.truncate(LINES);
        words.lines.push(format!("... {more} more lines; `--verbose` shows them"));
    }
    words
}

fn in_words(review: &ReviewRecord) -> CallWords {
    let input = &review.input;
    let text = |name: &str| input.get(name).and_then(Json::as_str);
    let action = Action { tool: review.tool.clone(), input: input.clone(), cwd: AbsolutePath::root() };
    let cwd = one_line(&review.cwd);
    if action.shell_text().is_some() {
        return CallWords { what: format!("run a command in `{cwd}`"), lines: whole_call(review) };
    }
    if let Some(patch) = text("command").or_else(|| text("patch")).filter(|_| is_patch(review)) {
        let files: Vec<String> =
            patched_files(patch).into_iter().map(|file| format!("`{}`", one_line(file))).collect();
        let what = match files.as_slice() {
            [] => format!("apply a patch in `{cwd}`"),
            files => format!("change {} by a patch in `{cwd}`", files.join(", ")),
        };
        return CallWords { what, lines: plain_lines(patch) };
    }
    let file = text("file_path").or_else(|| text("notebook_path")).map(one_line);
    let edits = edits(input);
    match file {
        Some(file) if !edits.is_empty() => {
            CallWords { what: format!("change `{file}`"), lines: edits.iter().flat_map(difference).collect() }
        }
        Some(file) => match text("content").or_else(|| text("new_source")) {
            Some(content) => {
                let lines = plain_lines(content.strip_suffix('\n').unwrap_or(content));
                let lines = lines.into_iter().map(|line| format!("+ {line}")).collect();
                CallWords { what: format!("write `{file}`"), lines }
            }
            None if review.tool.as_str() == "Read" => {
                CallWords { what: format!("read `{file}`"), lines: Vec::new() }
            }
            None => with_tool(review),
        },
        None => match (text("url"), text("pattern")) {
            (Some(url), _) => CallWords { what: format!("fetch `{}`", one_line(url)), lines: Vec::new() },
            (None, Some(pattern)) => {
                let place = text("path").map_or(cwd, one_line);
                let what = format!("search for `{}` in `{place}`", one_line(pattern));
                CallWords { what, lines: Vec::new() }
            }
            (None, None) => with_tool(review),
        },
    }
}

fn is_patch(review: &ReviewRecord) -> bool {
    review.tool.as_str() == "apply_patch"
}

fn with_tool(review: &ReviewRecord) -> CallWords {
    let what = format!("use the tool `{}`", one_line(review.tool.as_str()));
    CallWords { what, lines: whole_call(review) }
}

/// A piece of text and what is to stand in its place.
type Edit<'a> = (&'a str, &'a str);

/// The edits of an input: one beside the name of the file, or several in a list.
fn edits(input: &Json) -> Vec<Edit<'_>> {
    let several = input.get("edits").and_then(Json::as_array).into_iter().flatten();
    std::iter::once(input).chain(several).filter_map(edit).collect()
}

fn edit(fields: &Json) -> Option<Edit<'_>> {
    Some((fields.get("old_string")?.as_str()?, fields.get("new_string")?.as_str()?))
}

/// The lines that an edit takes and adds, with a few around them.
fn difference((old, new): &Edit<'_>) -> Vec<String> {
    let (old, new) = (plain_lines(old), plain_lines(new));
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    let new: Vec<&str> = new.iter().map(String::as_str).collect();
    let compared = TextDiff::from_slices(&old, &new);
    let groups = compared.grouped_ops(AROUND);
    let changes = groups.iter().flatten().flat_map(|one| compared.iter_changes(one));
    changes
        .map(|change| {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            format!("{sign} {}", change.value())
        })
        .collect()
}
