//! What was not saved before an action, and what became of it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use checkrein_snapshot::{Listed, SkipReason, Skipped, is_saved_elsewhere};

use super::SHOWN;
use crate::terminal::plain_name;

/// How many names are looked at to find out whether something that was left out has changed (ours).
const LOOKED_AT: usize = 50_000;

/// What was not saved and is gone, in words.
pub fn gone(snapshot: &Listed) -> Vec<String> {
    let is_gone = |one: &&Skipped| one.path.as_path().symlink_metadata().is_err();
    let line = |one: &Skipped| {
        let path = plain_name(&one.path.as_path().to_string_lossy());
        format!("does not come back: {path}: {}", one.reason)
    };
    let mut lines: Vec<String> = left_out(snapshot).filter(is_gone).take(SHOWN + 1).map(line).collect();
    if lines.len() > SHOWN {
        lines.truncate(SHOWN);
        lines.push("more does not come back".to_owned());
    }
    lines
}

/// What was left out because version control ignores it and has changed since, in words: that is not put back.
pub(super) fn changed(snapshot: &Listed, own: &[PathBuf]) -> Vec<String> {
    let mut left = LOOKED_AT;
    let is_ignored = |one: &&Skipped| one.reason == SkipReason::Ignored;
    let mut lines: Vec<String> = left_out(snapshot)
        .filter(is_ignored)
        .filter_map(|one| {
            let path = one.path.as_path();
            let words = match change_below(path, snapshot.snapshot.at, own, &mut left) {
                Change::None => return None,
                Change::Some => "changed since and is left as it is",
                Change::Unknown => "is left as it is",
            };
            Some(format!("{} {words}: {}", plain_name(&path.to_string_lossy()), one.reason))
        })
        .take(SHOWN + 1)
        .collect();
    if lines.len() > SHOWN {
        lines.truncate(SHOWN);
        lines.push("more is left as it is".to_owned());
    }
    lines
}

fn left_out(snapshot: &Listed) -> impl Iterator<Item = &Skipped> {
    let roots = &snapshot.snapshot.roots;
    snapshot.snapshot.skipped.iter().filter(move |one| !is_saved_elsewhere(one, roots))
}

/// Whether something changed.
enum Change {
    None,
    Some,
    Unknown,
}

/// Whether anything at or below a path changed at or after a time in milliseconds since 1970.
fn change_below(path: &Path, since: u64, own: &[PathBuf], left: &mut usize) -> Change {
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        if *left == 0 {
            return Change::Unknown;
        }
        *left -= 1;
        let Ok(facts) = fs::symlink_metadata(&path) else { continue };
        let changed = i128::from(facts.ctime()) * 1_000 + i128::from(facts.ctime_nsec()) / 1_000_000;
        if changed >= i128::from(since) {
            return Change::Some;
        }
        if facts.is_dir() && !own.contains(&path) {
            waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    Change::None
}
