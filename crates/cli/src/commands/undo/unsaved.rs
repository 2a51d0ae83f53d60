//! Actions before which something was to be saved and was not.

use std::path::{Path, PathBuf};

use checkrein_protocol::{EffectKind, ReviewRecord, UnsavedRecord};
use checkrein_shell::quoted;
use checkrein_snapshot::{Listed, SnapshotId, SnapshotReason};

use super::super::restore::command_at;
use super::Opened;
use crate::render::time;
use crate::terminal::{cut, plain};
use checkrein_engine::checkpoint;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// In how many snapshots at most what was lost is looked for (ours).
const LOOKED_THROUGH: usize = 50;

/// An action before which something was to be saved and was not.
pub(super) struct Unsaved {
    /// When, in milliseconds since 1970.
    pub(super) at: u64,
    pub(super) action: String,
    words: String,
    what: Vec<String>,
    lost: Vec<LostPlace>,
    held_by: Option<u64>,
}

/// A place that was the only copy of something.
struct LostPlace {
    path: PathBuf,
    fate: Fate,
}

/// What the action was to do there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Deleted,
    Changed,
}

impl Unsaved {
    /// What the record of an action says; `None` when everything was saved.
    pub(super) fn of(review: &ReviewRecord, at: u64) -> Option<Self> {
        if review.not_saved.is_empty() {
            return None;
        }
        let fate = |path: &str| {
            let is_deleted = review.effects.iter().any(|effect| {
                effect.kind == EffectKind::FileDelete
                    && effect.target.path().is_some_and(|one| one.as_str() == path)
            });
            if is_deleted { Fate::Deleted } else { Fate::Changed }
        };
        let places = review.not_saved.iter().flat_map(|one| &one.places);
        Some(Self {
            at,
            action: review.action_id.0.clone(),
            words: checkpoint::call_in_words(&review.tool, &review.input),
            what: review.not_saved.iter().map(|one| one.what.clone()).collect(),
            lost: places.map(|path| LostPlace { path: PathBuf::from(path), fate: fate(path) }).collect(),
            held_by: review.not_saved.iter().find_map(|one: &UnsavedRecord| one.held_by),
        })
    }

    /// The line that says so.
    pub(super) fn line(&self) -> String {
        let what = self.what.iter().map(|what| plain(what)).collect::<Vec<_>>().join("; ");
        format!("cannot be taken back: {}  {}: {what}", time(self.at), cut(&plain(&self.words), 60))
    }

    /// Whether the only copy of something is gone by it, as far as can be told: what is deleted is not there, and what is changed was not
    /// brought back since. Whether it `ran` counts where only its end shows that.
    pub(super) fn is_lost(&self, stores: &[Opened<'_>], ran: bool) -> bool {
        let restored = || {
            stores.iter().flat_map(|store| &store.all).any(|one| {
                matches!(one.snapshot.occasion, SnapshotReason::BeforeRestore { .. })
                    && one.snapshot.at > self.at
            })
        };
        self.lost.iter().any(|place| match place.fate {
            Fate::Deleted => place.path.symlink_metadata().is_err(),
            Fate::Changed => ran && !restored(),
        })
    }

    /// Whether it is still to be told: what is too much was perhaps brought back.
    pub(super) fn is_left(&self, stores: &[Opened<'_>], ran: bool) -> bool {
        self.lost.is_empty() || self.is_lost(stores, ran)
    }

    /// Refuses to take back something older in its place.
    pub(super) fn refuse_older(
        &self,
        environment: &HostEnvironment,
        stores: &[Opened<'_>],
        older: Option<&Listed>,
    ) -> CommandError {
        let take_older = |older: &Listed| {
            let store = stores.iter().find(|store| store.all.iter().any(|one| std::ptr::eq(one, older)))?;
            Some(take_older(environment, store, older))
        };
        let ways = [self.way_back(environment, stores), older.and_then(take_older)];
        let hint = ways.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let hint = if hint.is_empty() { "no snapshot holds it".to_owned() } else { hint };
        CommandError::user(self.line(), hint)
    }

    /// The command that brings it back from a snapshot that holds it, in words.
    fn way_back(&self, environment: &HostEnvironment, stores: &[Opened<'_>]) -> Option<String> {
        let (store, one, when) = stores.iter().find_map(|store| {
            let (one, when) = self.holder(store)?;
            Some((store, one, when))
        })?;
        let command = command_at(environment, store.ground, &format!("snapshot restore {}", one.id));
        // Names are seen from where the command is run.
        let is_there = command.starts_with("`cd ");
        let here = if is_there { store.ground.workspace.as_str() } else { environment.cwd.as_str() };
        let here = Path::new(here);
        let name = |place: &LostPlace| {
            let path = place.path.strip_prefix(here).unwrap_or(&place.path);
            format!(" {}", quoted(&plain(&path.to_string_lossy())))
        };
        let names: String = self.lost.iter().map(name).collect();
        let command = command.trim_end_matches('`');
        Some(format!("{command}{names}` brings it back as it was {when}"))
    }

    /// The newest snapshot before the action that holds all of the places, and of when that is.
    fn holder<'a>(&self, store: &'a Opened<'_>) -> Option<(&'a Listed, String)> {
        if self.lost.is_empty() {
            return None;
        }
        if let Some(id) = self.held_by.map(SnapshotId)
            && let Some(one) = store.all.iter().find(|one| one.id == id)
        {
            return Some((one, "right before".to_owned()));
        }
        let earlier = store.all.iter().rev().filter(|one| one.snapshot.at <= self.at);
        let holds = |one: &&Listed| {
            self.lost.iter().all(|place| store.ground.store.holds_path(one, &place.path).unwrap_or(false))
        };
        let one = earlier.take(LOOKED_THROUGH).find(holds)?;
        Some((one, format!("at {}", time(one.snapshot.at))))
    }
}

/// The command that takes back an older action, in words.
fn take_older(environment: &HostEnvironment, store: &Opened<'_>, older: &Listed) -> String {
    let words = cut(&plain(&older.snapshot.reason), 60);
    let command = command_at(environment, store.ground, &format!("undo {}", older.id));
    format!("{command} takes back what is older: {}  {words}", time(older.snapshot.at))
}
