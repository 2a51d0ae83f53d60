//! Files that actions of a session made where nothing stood, so that no snapshot knows of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use checkrein_ledger::lines;
use checkrein_patterns::ActionNumber;
use checkrein_protocol::{Certainty, Depth, EffectKind, RecordBody, ReviewRecord};
use checkrein_review::VerdictKind;
use checkrein_session::SessionLedger;
use checkrein_snapshot::{
    CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Circumstances, Effort, SnapshotId,
    SnapshotReason, Store,
};

use crate::commands::restore::New;
use checkrein_engine::error::CommandError;

/// What is added on both sides of an action, in milliseconds (ours): the clock of the file system and that of the hook tick apart.
const TICK: u64 = 20;

/// A file that the session made.
pub(super) struct Made {
    pub(super) path: PathBuf,
    pub(super) state: MadeState,
    /// The directories above it that were made with it, innermost first.
    directories: Vec<PathBuf>,
}

/// What became of a file that the session made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MadeState {
    /// It is as an action of the session left it.
    Untouched,
    /// Somebody wrote to it since.
    Changed,
}

/// When an action ran, in milliseconds since 1970; without an end where nobody was told of it.
#[derive(Clone, Copy)]
struct Period {
    began: u64,
    ended: Option<u64>,
}

impl Period {
    fn holds(self, at: Option<SystemTime>) -> bool {
        let at = at.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_millis());
        at.zip(self.ended).is_some_and(|(at, ended)| {
            (u128::from(self.began.saturating_sub(TICK))..=u128::from(ended + TICK)).contains(&at)
        })
    }
}

/// The files that stand because an action of the session from a number on made them, by its records and by when they were made.
pub(super) fn made_since(ledger: &SessionLedger, before: ActionNumber) -> Result<Vec<Made>, CommandError> {
    let mut periods: HashMap<String, Period> = HashMap::new();
    let mut writers: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    let mut made: BTreeSet<PathBuf> = BTreeSet::new();
    let mut number = 0;
    for record in lines(&ledger.path())?.filter_map(|line| line.ok()?.record) {
        match record.body {
            RecordBody::Review(review) => {
                number += 1;
                if number < before.0 || review.verdict_at_door() >= VerdictKind::Block {
                    continue;
                }
                let id = review.action_id.0.clone();
                for (path, is_new) in written(&review) {
                    if is_new {
                        made.insert(path.clone());
                    }
                    writers.entry(path).or_default().push(id.clone());
                }
                periods.insert(id, Period { began: record.at.0, ended: None });
            }
            RecordBody::Outcome(outcome) => {
                if let Some(period) = periods.get_mut(&outcome.action_id.0) {
                    period.ended = Some(record.at.0);
                }
            }
            _ => {}
        }
    }
    let found = made.into_iter().filter_map(|path| {
        let ran: Vec<Period> = writers.get(&path)?.iter().filter_map(|id| periods.get(id).copied()).collect();
        let facts = fs::symlink_metadata(&path).ok().filter(|facts| !facts.is_dir())?;
        let during = |at: Option<SystemTime>| ran.iter().any(|period| period.holds(at));
        if !during(checkrein_files::born(&path)) {
            return None;
        }
        let state = if during(facts.modified().ok()) { MadeState::Untouched } else { MadeState::Changed };
        let above = path.ancestors().skip(1).take_while(|directory| during(checkrein_files::born(directory)));
        let directories = above.map(Path::to_owned).collect();
        Some(Made { path, state, directories })
    });
    Ok(found.collect())
}

/// The files that an action writes to for certain, and whether nothing stood there before.
fn written(review: &ReviewRecord) -> impl Iterator<Item = (PathBuf, bool)> {
    review.effects.iter().filter_map(|effect| {
        let is_new = match effect.kind {
            EffectKind::FileCreate => true,
            EffectKind::FileModify => false,
            _ => return None,
        };
        let is_one = effect.depth == Depth::Single && effect.certainty == Certainty::Certain;
        let path = effect.target.path().filter(|_| is_one)?;
        Some((PathBuf::from(path.as_str()), is_new))
    })
}

impl Made {
    /// Why it stays; `None` where it goes.
    pub(super) fn objection(&self, new: New) -> Option<&'static str> {
        match (self.state, new) {
            (MadeState::Untouched, _) | (MadeState::Changed, New::Remove) => None,
            (MadeState::Changed, New::Keep) => {
                Some("made by the session and changed since; `--remove-new` removes it")
            }
        }
    }
}

/// Saves files and removes them, with the directories that were made for them and are empty then; the number of the snapshot.
pub(super) fn remove(
    store: &Store,
    manner: &CaptureOptions<'_>,
    made: &[&Made],
    (at, reason): (u64, String),
) -> Result<SnapshotId, CommandError> {
    let wanted: Vec<CaptureRequest> = made
        .iter()
        .map(|one| CaptureRequest { path: one.path.clone(), selection: CaptureSelection::Everything })
        .collect();
    let draft = store.begin(Effort::Small)?;
    let captured = match checkrein_snapshot::capture(&draft, &wanted, manner)? {
        CaptureOutcome::Whole(captured) if captured.skipped.is_empty() => captured,
        CaptureOutcome::Whole(_) | CaptureOutcome::Over(_) => {
            return Err(CommandError::user(
                "what the session made cannot be saved before it goes",
                "remove it by hand",
            ));
        }
    };
    let circumstances = Circumstances { at, occasion: SnapshotReason::Request, reason, place: None };
    let id = draft.commit(&captured.described(circumstances))?;
    for one in made {
        let path = &one.path;
        fs::remove_file(path).map_err(|error| CommandError::file("remove", path.display(), &error))?;
        // What is not empty holds something else, and stays.
        let _emptied =
            one.directories.iter().take_while(|directory| fs::remove_dir(directory).is_ok()).count();
    }
    Ok(id)
}
