//! `checkrein snapshot diff`: what differs between a snapshot and another, or what is there now.

use std::time::Duration;

use checkrein_snapshot::{Compared, Difference, Node, SnapshotId};
use similar::{ChangeTag, TextDiff};

use super::restore::{RestoreContext, Unfinished};
use super::snapshots::size;
use super::story::at_home;
use super::{ExitStatus, OutputForm, Switch};
use crate::api;
use crate::api::saved::{DifferingLine, TextDifference};
use crate::terminal::{dim, plain, plain_name, print, print_exact};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// The greatest file of which lines are compared, in bytes (ours).
const LONGEST: u64 = 1024 * 1024;
/// How many lines are listed for programs, of all files together (ours).
const MOST_LINES: usize = 20_000;
/// How many lines that do not differ are shown around those that do (ours).
const AROUND: usize = 3;
/// For how long the smallest difference of one file is looked for; then a larger one is taken (ours).
const PATIENCE: Duration = Duration::from_millis(500);

/// Shows what differs, a path a line; with `patch` also the lines of text.
pub fn diff(
    environment: &HostEnvironment,
    from: SnapshotId,
    to: Option<SnapshotId>,
    patch: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let ground = RestoreContext::open(environment, Unfinished::Tell)?;
    let compared = ground.store.compare(from, to, &ground.manner())?;
    let mut left = MOST_LINES;
    for one in &compared.differences {
        let place = one.path.as_path().to_string_lossy();
        let texts = if patch == Switch::On && left > 0 { texts(&compared, one)? } else { None };
        match output {
            OutputForm::Json => {
                let text = texts.and_then(|(then, now)| differing(&then, &now, left));
                left = left.saturating_sub(text.as_ref().map_or(0, |text| text.lines.len()));
                print_exact(&api::line(&api::saved::SnapshotDifference {
                    path: place.to_string(),
                    change: word(one).to_owned(),
                    from_bytes: one.then.as_ref().map(Node::length),
                    to_bytes: one.now.as_ref().map(Node::length),
                    text,
                })?);
            }
            OutputForm::Text => {
                let name = at_home(environment, &plain_name(&place));
                print(&format!("{:<8} {name}{}", word(one), dim(&lengths(one))));
                if let Some((then, now)) = texts {
                    let lines = compare(&then, &now);
                    print_exact(&plain(&lines.unified_diff().context_radius(AROUND).to_string()));
                }
            }
        }
    }
    if compared.differences.is_empty() && output == OutputForm::Text {
        print("nothing differs");
    }
    Ok(ExitStatus::Done)
}

/// The texts of a file before and after; `None` where one of them is no file, or too long.
fn texts(compared: &Compared, one: &Difference) -> Result<Option<(String, String)>, CommandError> {
    let text = |node: Option<&Node>| match node {
        Some(Node::File { content, length, .. }) if *length <= LONGEST => compared.text(content).map(Some),
        Some(_) => Ok(None),
        None => Ok(Some(String::new())),
    };
    Ok(text(one.then.as_ref())?.zip(text(one.now.as_ref())?))
}

fn compare<'texts>(then: &'texts str, now: &'texts str) -> TextDiff<'texts, 'texts, str> {
    TextDiff::configure().timeout(PATIENCE).diff_lines(then, now)
}

/// The lines that differ, at most so many; `None` for what is no text.
fn differing(then: &str, now: &str, most: usize) -> Option<TextDifference> {
    let is_text = |text: &str| !text.contains(['\0', char::REPLACEMENT_CHARACTER]);
    if !is_text(then) || !is_text(now) {
        return None;
    }
    let compared = compare(then, now);
    let groups = compared.grouped_ops(AROUND);
    let all = groups.iter().flatten().flat_map(|part| compared.iter_changes(part));
    let number = |index: Option<usize>| index.map(|index| index as u64 + 1);
    let (mut lines, mut further) = (Vec::new(), 0);
    for change in all {
        if lines.len() >= most {
            further += 1;
            continue;
        }
        lines.push(DifferingLine {
            change: match change.tag() {
                ChangeTag::Equal => "same",
                ChangeTag::Delete => "removed",
                ChangeTag::Insert => "added",
            },
            from: number(change.old_index()),
            to: number(change.new_index()),
            text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
        });
    }
    Some(TextDifference { lines, further })
}

fn word(one: &Difference) -> &'static str {
    match (&one.then, &one.now) {
        (Some(_), None) => "removed",
        (None, _) => "added",
        (Some(_), Some(_)) => "changed",
    }
}

fn lengths(one: &Difference) -> String {
    match (&one.then, &one.now) {
        (Some(Node::File { length, .. }), Some(Node::File { length: now, .. })) if length != now => {
            format!("  {} -> {}", size(*length), size(*now))
        }
        (Some(Node::File { length, .. }), None) | (None, Some(Node::File { length, .. })) => {
            format!("  {}", size(*length))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_are_listed_with_their_numbers() {
        let found = differing("a\nb\nc\n", "a\nB\nc\nd", 100).unwrap();
        let told: Vec<_> =
            found.lines.iter().map(|line| (line.change, line.from, line.to, line.text.as_str())).collect();
        assert_eq!(
            told,
            [
                ("same", Some(1), Some(1), "a"),
                ("removed", Some(2), None, "b"),
                ("added", None, Some(2), "B"),
                ("same", Some(3), Some(3), "c"),
                ("added", None, Some(4), "d"),
            ]
        );
        let cut = differing("", "1\n2\n3\n", 2).unwrap();
        assert_eq!((cut.lines.len(), cut.further), (2, 1));
        assert!(differing("a\0", "b", 9).is_none() && differing("a", "\u{fffd}", 9).is_none());
    }
}
