//! Going back to what stood before a session went wrong: which snapshots say so, what that changes, and doing it.
//!
//! What changed before the trouble stays: of the newest safe snapshot, only files that changed since the trouble began are restored. Where
//! an action had its own places saved since then, that later snapshot counts for them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use checkrein_intervention::{Candidate, Holds, RollbackSnapshots, choose};
use checkrein_ledger::last;
use checkrein_patterns::{ActionNumber, ActionSuccess};
use checkrein_policy::Config;
use checkrein_protocol::{
    AbsolutePath, Effect, Nature, Record, RecordBody, ReviewRecord, RollbackRecord, RollbackStage, Target,
    Timestamp,
};
use checkrein_session::{SessionLedger, SessionState};

use checkrein_snapshot::{
    ActionEndTime, CaptureBounds, CaptureOptions, FileTime, Ignoring, LimitExceeded, Listed, Mounts, Node,
    OtherAction, OtherBegan, Preparation, Prepared, Request, RestoreAction, RestoreExtent, SavedPart,
    SavedPath, SessionPlace, SnapshotError, SnapshotId, SnapshotReason, Step, Store,
};

use crate::checkpoint;
use crate::environment::HostEnvironment;
use crate::records::success;
use crate::sparing::Sparing;

/// How many of the newest records are looked through for the action, few first (ours).
const RECORDS: [usize; 2] = [512, 16_384];

/// How much a hook sets back at most; more is left to a user (ours).
const STEPS: usize = 2_000;
const BYTES: u64 = 256 * 1024 * 1024;

/// How far a hook looks at the present (ours).
const LOOKING: CaptureBounds =
    CaptureBounds { entries: 250_000, bytes: 1024 * 1024 * 1024, time: Duration::from_secs(2) };

/// How many changes are named (ours).
const NAMED: usize = 3;

/// How many changes, and of what is left, are written down one by one (ours).
pub const RECORDED: usize = 32;

/// What is taken off the time of a review: the clocks of file systems tick up to every 10 ms (ours).
const TICK: u64 = 10;

/// A session whose work is to be taken back.
pub struct Session<'a> {
    /// What was found around.
    pub environment: &'a HostEnvironment,
    /// The configuration in force.
    pub config: &'a Config,
    /// Where the agent works.
    pub workspace: &'a AbsolutePath,
    /// The records of the session.
    pub ledger: &'a SessionLedger,
    /// What they come to.
    pub state: &'a SessionState,
}

/// What it takes to go back.
pub(crate) struct Way {
    before: ActionNumber,
    workspace: PathBuf,
    parts: Vec<Part>,
    /// What stays because it is the guard's.
    spared: Vec<PathBuf>,
}

/// The snapshots that say what stood before an action, and what they were chosen from.
struct Choice {
    store: Store,
    past: Past,
    all: Vec<Listed>,
    snapshots: RollbackSnapshots,
}

/// What of one snapshot is put back.
struct Part {
    of: SnapshotId,
    prepared: Box<Prepared>,
}

impl Session<'_> {
    /// The way back to what stood before an action; an error says in one clause why there is none.
    pub(crate) fn way(&self, before: ActionNumber, depth: u64) -> Result<Way, String> {
        let Choice { store, past, all, snapshots: choice } = self.choose(before, depth)?;
        let find = |id: &u64| all.iter().find(|one| one.id.0 == *id);
        let mut way =
            Way { before, workspace: store.workspace().to_owned(), parts: Vec::new(), spared: Vec::new() };
        let mut taken: Vec<PathBuf> = Vec::new();
        let covers =
            |known: &[PathBuf], step: &Step| known.iter().any(|place| step.path.as_path().starts_with(place));
        // What was taken back already is no step, and says nothing about what holds now.
        let gone_back = restored(&store, &all);
        let is_open = |one: &&Listed| gone_back.get(&one.id).copied().flatten().is_none();
        for snapshot in choice.places.iter().filter_map(find).filter(is_open) {
            let roots = snapshot.snapshot.roots.iter().map(|root| root.path.as_path().to_owned());
            let paths: Vec<PathBuf> =
                roots.filter(|path| !taken.iter().any(|known| path.starts_with(known))).collect();
            if paths.is_empty() {
                continue;
            }
            let mut prepared = self.prepare(&store, snapshot.id, &paths, &past)?;
            // Of each place the oldest state counts, and one place is set back once.
            prepared.retain(|step| {
                !covers(&taken, step) && (step.deed != RestoreAction::Remove || is_since(step))
            });
            taken.extend(paths);
            way.parts.push(Part { of: snapshot.id, prepared });
        }
        if let Some(snapshot) = choice.workspace.as_ref().and_then(find) {
            let mut prepared = self.prepare(&store, snapshot.id, &[], &past)?;
            // What an earlier action wrote to or deleted stood otherwise before this one than in an older snapshot.
            let touched_before = places(all.iter().filter(|one| one.id >= snapshot.id), &past.earlier);
            prepared.retain(|step| {
                !covers(&taken, step)
                    && !covers(&touched_before, step)
                    && (step.deed == RestoreAction::Create || is_since(step))
            });
            way.parts.push(Part { of: snapshot.id, prepared });
        }
        for part in &mut way.parts {
            let is_of_others =
                |step: &Step| past.remotes.iter().any(|place| step.path.as_path().starts_with(place));
            part.prepared.retain(|step| !is_of_others(step));
        }
        self.leave_others(&mut way, &store, &all)?;
        let sparing = Sparing::of(self.environment, self.workspace);
        for part in &mut way.parts {
            part.prepared.retain(|step| {
                let is_spared = sparing.touched_by(step).is_some();
                if is_spared {
                    way.spared.push(step.path.as_path().to_owned());
                }
                !is_spared
            });
        }
        way.parts.retain(|part| !part.prepared.steps().is_empty());
        way.is_little()?;
        Ok(way)
    }

    /// Gives up what other sessions changed since: that is not this session's to take back.
    fn leave_others(&self, way: &mut Way, store: &Store, all: &[Listed]) -> Result<(), String> {
        let gone_back = restored(store, all);
        let own = self.ledger.folder().as_str();
        for Part { of, prepared } in &mut way.parts {
            let is_other = |one: &&Listed| {
                let session = one.snapshot.place.as_ref().map(|place| place.session.as_str());
                one.id > *of
                    && one.snapshot.occasion == SnapshotReason::BeforeAction
                    && session.is_some_and(|session| session != own)
                    && gone_back.get(&one.id).copied().flatten().is_none()
            };
            let others: Vec<OtherAction> = all
                .iter()
                .filter(is_other)
                .map(|one| OtherAction { snapshot: one.id, began: OtherBegan::Meanwhile })
                .collect();
            prepared.note_others(store, &others).map_err(|error| error.to_string())?;
            let left: BTreeSet<SavedPath> = prepared
                .steps()
                .iter()
                .filter(|step| prepared.changed_by_other(&step.path).is_some())
                .map(|step| step.path.clone())
                .collect();
            prepared.retain(|step| !left.contains(&step.path));
        }
        Ok(())
    }

    /// Whether anything safe was saved from which what stood before an action can be known; an error says in one clause why not. What is
    /// taken back already counts: nothing more is to be done about it.
    pub fn has_way(&self, before: ActionNumber, depth: u64) -> Result<(), String> {
        self.choose(before, depth).map(drop)
    }

    /// The snapshots that say what stood before an action.
    fn choose(&self, before: ActionNumber, depth: u64) -> Result<Choice, String> {
        let store = checkpoint::store(self.environment, self.workspace);
        if store.interrupted().is_some() {
            return Err("another restore was interrupted; `checkrein undo` finishes it".to_owned());
        }
        let past = self.past(before)?;
        let all = store.snapshots().map_err(|error| error.to_string())?;
        let candidates: Vec<Candidate> =
            all.iter().filter_map(|one| self.candidate(one, &store, &past)).collect();
        let settings = &self.config.interventions.checkpoint_rollback;
        let choice = choose(&candidates, past.onset, depth, &past.outcomes, settings);
        if choice == RollbackSnapshots::default() {
            return Err(format!("no safe snapshot holds what stood before action {}", before.0));
        }
        Ok(Choice { store, past, all, snapshots: choice })
    }

    /// Carries a way back out, and puts down what was done. The present is saved before anything changes.
    pub(crate) fn go(&self, way: Way) -> RollbackRecord {
        let words = way.words();
        let spared: Vec<String> = way.spared().map(|one| crate::text::plain(&one)).collect();
        let mut record = way.record(RollbackStage::Done);
        let mut done = 0;
        for part in way.parts {
            let request = Request {
                at: self.environment.now().0,
                reason: format!("before going back to what stood before action {}", way.before.0),
                place: Some(SessionPlace {
                    session: self.ledger.folder().as_str().to_owned(),
                    action: None,
                    sequence: self.state.records(),
                }),
            };
            match part.prepared.carry_out(request) {
                Ok(Some(restored)) => {
                    done += restored.done;
                    record.saved_as.push(restored.saved_as.0);
                    let left = restored.left.iter();
                    record
                        .left
                        .extend(left.map(|(path, why)| format!("{}: {why}", path.as_path().display())));
                }
                Ok(None) => {}
                Err(error) => record.left.push(format!("snapshot {}: {error}", part.of)),
            }
        }
        record.left.truncate(RECORDED);
        if done == 0 {
            record.stage = RollbackStage::NotDone;
            let why = record.left.first().map_or("nothing changed", String::as_str);
            record.text = format!("It could not be set back: {why}.");
            return record;
        }
        record.changes = done as u64;
        record.text = set_back(&record, &words);
        if !spared.is_empty() {
            let spared = spared.join(", ");
            record.text = format!("{} What says what agents may do stays as it is: {spared}.", record.text);
        }
        record
    }

    /// What a user is asked about a way back.
    pub(crate) fn proposal(&self, way: &Way) -> RollbackRecord {
        let mut record = way.record(RollbackStage::Proposed);
        record.text = would_set_back(self.ledger.folder().as_str(), way.before, &way.words());
        record
    }

    /// What the ledger says about the time around an action.
    fn past(&self, before: ActionNumber) -> Result<Past, String> {
        let back = self
            .state
            .actions()
            .checked_sub(before.0)
            .ok_or_else(|| format!("the session made {} actions only", self.state.actions()))?;
        let back = usize::try_from(back).unwrap_or(usize::MAX);
        for count in RECORDS {
            let records = last(&self.ledger.path(), count).map_err(|error| error.to_string())?;
            if let Some(past) = Past::of(&records, back) {
                return Ok(past);
            }
        }
        Err(format!("action {} lies too far back", before.0))
    }

    /// A snapshot as far as it concerns this session; `None` when it does not.
    fn candidate(&self, one: &Listed, store: &Store, past: &Past) -> Option<Candidate> {
        let place = one.snapshot.place.as_ref();
        let is_own = place.is_some_and(|place| place.session == self.ledger.folder().as_str());
        let is_baseline = self.state.baseline() == Some(one.id.0);
        let holds = match &one.snapshot.occasion {
            SnapshotReason::BeforeRestore { .. } => return None,
            SnapshotReason::BeforeAction
            | SnapshotReason::SessionStart
            | SnapshotReason::Interval
            | SnapshotReason::Request => {
                let is_workspace =
                    |selection, path| selection == SavedPart::NotIgnored && path == store.workspace();
                let mut roots = one.snapshot.roots.iter();
                if roots.any(|root| is_workspace(root.selection, root.path.as_path())) {
                    Holds::Workspace
                } else {
                    Holds::Places
                }
            }
        };
        if !(is_own || is_baseline && holds == Holds::Workspace) {
            return None;
        }
        // A snapshot of an action belongs to its review, which is written a moment later.
        let action = place.and_then(|place| place.action.as_deref());
        let at = action.and_then(|action| past.since.get(action)).copied();
        Some(Candidate { id: one.id.0, at: at.unwrap_or(Timestamp(one.snapshot.at)), holds })
    }

    fn prepare(
        &self,
        store: &Store,
        of: SnapshotId,
        paths: &[PathBuf],
        past: &Past,
    ) -> Result<Box<Prepared>, String> {
        let root = store.workspace().to_str().and_then(AbsolutePath::new);
        let ignoring: Ignoring =
            checkpoint::ignoring(self.environment, root.as_ref().unwrap_or(self.workspace));
        let own = [PathBuf::from(self.environment.state_path.as_str())];
        let seen = store.seen();
        let manner = CaptureOptions {
            bounds: LOOKING,
            largest: None,
            spared: &own,
            mounts: Mounts::Skip,
            ignoring: Some(&ignoring),
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            seen: seen.as_ref(),
        };
        match store.prepare(of, paths, &manner, past.until().map_or(ActionEndTime::None, ActionEndTime::At)) {
            Ok(Preparation::Ready(prepared)) => Ok(prepared),
            Ok(Preparation::Over(LimitExceeded::Entries | LimitExceeded::Bytes | LimitExceeded::Time)) => {
                Err("what is there now is too much to be saved first".to_owned())
            }
            Err(error @ SnapshotError::Busy { .. }) => Err(format!("the snapshots are in use: {error}")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Which snapshots were gone back to as a whole: each with the snapshot of what stood before, or nothing where it was gone forward again.
pub fn restored(store: &Store, all: &[Listed]) -> BTreeMap<SnapshotId, Option<SnapshotId>> {
    let mut found = BTreeMap::new();
    let mut restores = BTreeMap::new();
    for one in all {
        let SnapshotReason::BeforeRestore { of, extent: RestoreExtent::Whole } = one.snapshot.occasion else {
            continue;
        };
        if !store.is_carried_out(one.id) {
            continue;
        }
        match restores.get(&of) {
            // Going back to what was before a restore takes the restore back.
            Some(first) => found.insert(*first, None),
            None => found.insert(of, Some(one.id)),
        };
        restores.insert(one.id, of);
    }
    found
}

/// Where actions of these names had places saved.
fn places<'a>(among: impl Iterator<Item = &'a Listed>, actions: &[String]) -> Vec<PathBuf> {
    let own = among.filter(|one| {
        let action = one.snapshot.place.as_ref().and_then(|place| place.action.as_ref());
        action.is_some_and(|action| actions.contains(action))
    });
    own.flat_map(|one| &one.snapshot.roots)
        .filter(|root| root.selection != SavedPart::NotIgnored)
        .map(|root| root.path.as_path().to_owned())
        .collect()
}

/// Whether it changed since the trouble began. Directories never count: what matters is in them.
fn is_since(step: &Step) -> bool {
    step.since.is_changed()
}

/// What the ledger says about the time around an action.
struct Past {
    /// When its review was written.
    onset: Timestamp,
    /// The actions from then on, with the times of their reviews.
    since: HashMap<String, Timestamp>,
    /// The actions before.
    earlier: Vec<String>,
    /// How actions ended, oldest first.
    outcomes: Vec<(Timestamp, ActionSuccess)>,
    /// The repositories that were pushed to: what they hold belongs to others.
    remotes: Vec<PathBuf>,
}

/// The repositories on this machine that an action only added to by a push, as they were predicted.
pub fn added_to(review: &ReviewRecord) -> Vec<PathBuf> {
    remotes(review, |nature| nature == Nature::OfRemote)
}

/// The repositories on this machine that an action pushed to, as they were predicted.
fn pushed_to(review: &ReviewRecord) -> Vec<PathBuf> {
    remotes(review, Nature::is_of_remote)
}

/// The remotes on this machine that an action changed by a push of which the nature `is_meant`.
fn remotes(review: &ReviewRecord, is_meant: impl Fn(Nature) -> bool) -> Vec<PathBuf> {
    let remotes = review.effects.iter().filter(|effect| is_meant(effect.nature));
    let place = |effect: &Effect| match &effect.target {
        Target::Path(path) => Some(PathBuf::from(path.as_str())),
        _ => None,
    };
    remotes.filter_map(place).collect()
}

impl Past {
    /// `None` when the review that is so many before the last one is not among the records.
    fn of(records: &[Record], back: usize) -> Option<Self> {
        let reviews: Vec<(&Record, &str)> = records
            .iter()
            .filter_map(|record| match &record.body {
                RecordBody::Review(review) => Some((record, review.action_id.as_str())),
                _ => None,
            })
            .collect();
        let place = reviews.len().checked_sub(back.checked_add(1)?)?;
        let (earlier, since) = reviews.split_at_checked(place)?;
        let onset = since.first()?.0.at;
        // What the action itself had saved stood right before it; what later ones had saved did not.
        let moment = |(index, (record, id)): (usize, &(&Record, &str))| {
            let least = onset.0 + u64::from(index > 0);
            ((*id).to_owned(), Timestamp(record.at.0.max(least)))
        };
        let outcomes = records.iter().filter_map(|record| match &record.body {
            RecordBody::Outcome(outcome) => Some((record.at, success(outcome.failed))),
            _ => None,
        });
        Some(Self {
            onset,
            since: since.iter().enumerate().map(moment).collect(),
            earlier: earlier.iter().map(|(_, id)| (*id).to_owned()).collect(),
            outcomes: outcomes.collect(),
            remotes: reviews
                .iter()
                .filter_map(|(record, _)| match &record.body {
                    RecordBody::Review(review) => Some(pushed_to(review)),
                    _ => None,
                })
                .flatten()
                .collect(),
        })
    }

    /// The moment from which on a change belongs to the trouble.
    fn until(&self) -> Option<FileTime> {
        let at = self.onset.0.saturating_sub(TICK);
        Some(FileTime {
            seconds: i64::try_from(at / 1_000).ok()?,
            nanoseconds: u32::try_from(at % 1_000 * 1_000_000).ok()?,
        })
    }
}

impl Way {
    /// Whether there is nothing to set back.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.parts.iter().flat_map(|part| part.prepared.steps())
    }

    /// Every change in words.
    fn words(&self) -> Vec<String> {
        self.steps().map(|step| self.in_words(step)).collect()
    }

    /// A change in words, with the path as it is seen from the workspace.
    fn in_words(&self, step: &Step) -> String {
        let path = step.path.as_path();
        let shown = path.strip_prefix(&self.workspace).unwrap_or(path);
        format!("{} {}", step.deed.name(), shown.display())
    }

    fn is_little(&self) -> Result<(), String> {
        let steps = self.steps().count();
        let bytes: u64 = self.steps().filter_map(|step| step.then.as_ref().map(Node::length)).sum();
        if steps > STEPS || bytes > BYTES {
            return Err(format!("{steps} changes with {bytes} bytes are too much for a call to wait for"));
        }
        Ok(())
    }

    /// What stays as it is because it is the guard's, as it is seen from the workspace.
    fn spared(&self) -> impl Iterator<Item = String> {
        let shown = |path: &PathBuf| path.strip_prefix(&self.workspace).unwrap_or(path).display().to_string();
        self.spared.iter().map(shown)
    }

    fn record(&self, stage: RollbackStage) -> RollbackRecord {
        RollbackRecord {
            snapshots: self.parts.iter().map(|part| part.of.0).collect(),
            ..recorded(self.before, stage, "intervention", &self.words())
        }
    }
}

/// The record of going back by somebody, with the changes in words; its text is still to be written.
pub fn recorded(before: ActionNumber, stage: RollbackStage, by: &str, words: &[String]) -> RollbackRecord {
    RollbackRecord {
        before,
        stage,
        by: by.to_owned(),
        snapshots: Vec::new(),
        saved_as: Vec::new(),
        changes: words.len() as u64,
        named: words.iter().take(RECORDED).cloned().collect(),
        left: Vec::new(),
        text: String::new(),
    }
}

/// What a user is told who has not decided yet.
pub fn would_set_back(session: &str, before: ActionNumber, words: &[String]) -> String {
    let before = before.0;
    format!("`checkrein session rollback {session} --before {before}` sets back {}.", in_short(words))
}

/// What is told of a rollback that changed something.
pub fn set_back(record: &RollbackRecord, words: &[String]) -> String {
    let rest = if record.left.is_empty() { "" } else { ", and not everything could be set back" };
    let saved: Vec<String> = record.saved_as.iter().map(ToString::to_string).collect();
    let saved = match saved.as_slice() {
        [] | [_] => format!("snapshot {}", saved.concat()),
        [first @ .., last] => format!("snapshots {} and {last}", first.join(", ")),
    };
    format!(
        "What changed since action {} is set back: {}{rest}. What was there is saved as {saved}.",
        record.before.0,
        in_short(words),
    )
}

/// How many changes, and the first of them.
fn in_short(words: &[String]) -> String {
    let mut names: Vec<String> = words.iter().take(NAMED).map(|word| crate::text::plain(word)).collect();
    if words.len() > NAMED {
        names.push("…".to_owned());
    }
    format!("{} ({})", crate::text::counted(words.len() as u64, "change"), names.join(", "))
}

/// What is put down when there is no way back.
pub(crate) fn not_done(before: ActionNumber, text: String) -> RollbackRecord {
    RollbackRecord { text, ..recorded(before, RollbackStage::NotDone, "intervention", &[]) }
}
