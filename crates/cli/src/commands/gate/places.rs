//! The places where a changed text stands: where it was asked about, and where it is staged or committed and differs from that.

use std::collections::HashSet;

use checkrein_engine::error::CommandError;
use checkrein_worktree::{ChangeBase, ChangedText, TextPlace};

use crate::api::gates::{GateAnswer, GateFindingEntry};

/// The changed texts as seen from one place.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedTexts<'a> {
    all: &'a [ChangedText],
    place: TextPlace,
}

impl<'a> PlacedTexts<'a> {
    /// Those that stand there and not on disk alike.
    pub(super) fn own(self) -> impl Iterator<Item = &'a ChangedText> {
        self.all.iter().filter(move |file| self.is_own(file))
    }

    /// One for each path: that of the place, else that of the disk.
    pub(super) fn whole(self) -> impl Iterator<Item = &'a ChangedText> {
        let own: HashSet<&str> = self.own().map(|file| file.path.as_str()).collect();
        self.all.iter().filter(move |file| {
            self.is_own(file) || file.place == TextPlace::Disk && !own.contains(file.path.as_str())
        })
    }

    /// Whether a text stands there.
    pub(super) fn is_own(self, file: &ChangedText) -> bool {
        file.place == self.place
    }
}

/// Examines the texts of each place. What is found elsewhere than where it was asked about is told as such, and only where that does not
/// show the same.
pub(super) fn examine_places(
    base: &ChangeBase,
    changed: &[ChangedText],
    answer: &mut GateAnswer,
    examine: impl Fn(PlacedTexts<'_>, &mut GateAnswer) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    for place in [TextPlace::Disk, TextPlace::Index, TextPlace::Commit] {
        let texts = PlacedTexts { all: changed, place };
        if texts.own().next().is_none() {
            continue;
        }
        let (known, not_run) = (answer.findings.len(), answer.not_run.len());
        examine(texts, answer)?;
        let Some(words) = told(place, base) else { continue };
        for one in answer.not_run.split_off(not_run) {
            if !answer.not_run.iter().any(|other| other.what == one.what && other.cause == one.cause) {
                answer.not_run.push(one);
            }
        }
        for mut finding in answer.findings.split_off(known) {
            if !answer.findings.iter().any(|other| is_same(other, &finding)) {
                finding.seen = format!("{} ({words})", finding.seen);
                answer.findings.push(finding);
            }
        }
    }
    Ok(())
}

/// What is told of a place; nothing of the one that was asked about.
fn told(place: TextPlace, base: &ChangeBase) -> Option<&'static str> {
    match (place, base) {
        (TextPlace::Disk, _)
        | (TextPlace::Index, ChangeBase::Staged)
        | (TextPlace::Commit, ChangeBase::Commits { .. }) => None,
        (
            TextPlace::Index,
            ChangeBase::LastCommit
            | ChangeBase::Revision(_)
            | ChangeBase::Nothing
            | ChangeBase::Commits { .. },
        ) => Some("as it is staged, not as it lies on disk"),
        (TextPlace::Commit, _) => Some("as it is committed, not as it lies on disk"),
    }
}

/// Whether two findings are about the same, wherever they stand.
pub(super) fn is_same(one: &GateFindingEntry, other: &GateFindingEntry) -> bool {
    one.path == other.path
        && one.kind == other.kind
        && one.function == other.function
        && one.text == other.text
}

/// One entry for each path, that of the disk where there is one.
pub(super) fn by_path(mut changed: Vec<ChangedText>) -> Vec<ChangedText> {
    changed.sort_by(|one, other| {
        one.path.cmp(&other.path).then((one.place != TextPlace::Disk).cmp(&(other.place != TextPlace::Disk)))
    });
    changed.dedup_by(|next, kept| next.path == kept.path);
    changed
}
