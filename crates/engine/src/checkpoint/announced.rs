//! What an action is to leave, kept beside its snapshot.

use std::borrow::Cow;
use std::path::PathBuf;

use checkrein_effects::{AnnouncedContent, LoggedMessage};
use checkrein_protocol::AbsolutePath;
use checkrein_review::Forecast;
use checkrein_snapshot::{LoggedExtent, LoggedStart, SnapshotId};
use checkrein_world::commit_named;

use super::store;
use crate::context::Context;

/// Keeps beside the snapshot that was taken for an action what the action is to leave, so that it can be taken back where nobody is told when
/// the action ends. A failure leaves that to the user.
pub(crate) fn announce(context: &Context, snapshot: u64, forecast: &Forecast<'_>) {
    let (announced, logged) = (forecast.announced(), forecast.logged());
    if announced.is_empty() && logged.is_empty() {
        return;
    }
    let left: Vec<(PathBuf, Cow<'_, str>)> = announced
        .iter()
        .filter_map(|(path, left)| match left {
            AnnouncedContent::Text(text) | AnnouncedContent::Link(text) => {
                Some((PathBuf::from(path.as_str()), Cow::Borrowed(text.as_str())))
            }
            AnnouncedContent::Commit { repository, revision } => {
                let commit = commit_named(repository, revision)?;
                Some((PathBuf::from(path.as_str()), Cow::Owned(commit + "\n")))
            }
            AnnouncedContent::Mode(_) => None,
        })
        .collect();
    let left = left.iter().map(|(path, text)| (path.clone(), text.as_bytes()));
    let modes = announced.iter().filter_map(|(path, left)| match left {
        AnnouncedContent::Mode(words) => Some((really(path), words.clone())),
        AnnouncedContent::Text(_) | AnnouncedContent::Link(_) | AnnouncedContent::Commit { .. } => None,
    });
    let logs = logged.iter().map(|(directory, message)| {
        let (text, extent) = match message {
            LoggedMessage::Whole(text) => (text.clone(), LoggedExtent::Whole),
            LoggedMessage::Start(text) => (text.clone(), LoggedExtent::Start),
            LoggedMessage::Several(text) => (text.clone(), LoggedExtent::Several),
        };
        (really(directory), LoggedStart { text, extent })
    });
    let store = store(context.environment(), context.workspace());
    if let Err(error) = store.keep_announced(SnapshotId(snapshot), left, modes, logs) {
        context.environment().diagnostics.add(format!("what the call is to leave was not kept: {error}"));
    }
}

/// Where a path really lies, as the steps of a restore name it.
fn really(path: &AbsolutePath) -> PathBuf {
    let path = PathBuf::from(path.as_str());
    std::fs::canonicalize(&path).unwrap_or(path)
}
