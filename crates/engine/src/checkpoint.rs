//! Saving what an action would destroy, right before it runs.
//!
//! The review says what would have to be saved; here it is, within bounds, and what really was goes back into the review. Nothing in
//! this module decides anything.

mod announced;
mod databases;
mod lost;
mod repository;
mod words;
pub mod workspace;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use checkrein_facts::{VersionState, World};
use checkrein_ledger::mask::mask_text;
use checkrein_protocol::{AbsolutePath, Action, SnapshotRecord};

use checkrein_review::{
    DirectoryReach, Forecast, Need, ReferenceChange, Review, Safety, Saved, ToSave, VerdictKind,
    changed_work_trees, changes_unknown_files, changes_work_tree, depends_on_saving, is_contained, is_opaque,
    own_places, reference_change, runs_unread_code, settle, to_save,
};
use checkrein_snapshot::{
    CaptureBounds, CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Captured, Circumstances,
    Effort, Ignored, Ignoring, Mounts, ObjectRetention, SessionPlace, SnapshotDraft, SnapshotError,
    SnapshotReason, Store, capture, capture_small_first, measure,
};

use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::session_ledger;

pub(crate) use announced::announce;
use databases::Settled;
pub(crate) use lost::{Lost, leave};
use repository::{REFERENCES, beside_workspace, shared};
pub(crate) use words::{NOT_SAVED, references, was_saved_in};
use words::{
    SavedWords, left_out, missing, places_in_words, references_in_words, special, told, too_much, was_saved,
    would_be_saved,
};
pub use words::{call_in_words, in_words};

/// How much is saved of what can be had again elsewhere (ours): enough for sources, not for what an install brings.
const WELCOME: CaptureBounds = CaptureBounds::LITTLE;

/// How many files of objects of a repository are kept, and how much is copied where they cannot be linked (ours).
const OBJECTS: CaptureBounds =
    CaptureBounds { entries: 50_000, bytes: 64 * 1024 * 1024, time: Duration::from_secs(1) };

/// How many things that were not saved are written down (ours).
const RECORDED_SKIPS: usize = 8;

/// Whether something is really saved, or only whether it could be is found out.
#[derive(Debug, Clone)]
pub(crate) enum Protection {
    /// Saved, at this place of a session.
    Save(SessionPlace),
    /// Found out, for somebody who asks what would be said.
    Ask,
}

/// The store of a workspace.
pub fn store(environment: &HostEnvironment, workspace: &AbsolutePath) -> Store {
    let stores = Path::new(environment.state_path.as_str()).join("snapshots");
    let real =
        std::fs::canonicalize(workspace.as_str()).unwrap_or_else(|_| PathBuf::from(workspace.as_str()));
    let sealing = environment.snapshot_sealing.unwrap_or_else(|| {
        // Commands begin without a configuration.
        let context = Context::in_workspace(environment.clone(), workspace.clone());
        context.environment().snapshot_sealing.unwrap_or_else(|| environment.state.vault().sealing())
    });
    Store::open(&stores, &real).with_vault(environment.state.vault().clone().with_sealing(sealing))
}

/// What version control ignores in a workspace; small files that nothing makes again are saved all the same.
pub fn ignoring(environment: &HostEnvironment, workspace: &AbsolutePath) -> Ignoring {
    let configuration = environment.variables.get("XDG_CONFIG_HOME").map(String::as_str);
    Ignoring::of(workspace, &environment.home, configuration).with_ignored(Ignored::SmallKept)
}

/// What became of what an action would destroy.
#[derive(Debug)]
pub(crate) enum Protected {
    /// There is nothing to save, or it is refused anyway.
    Nothing,
    /// It is saved, or would be.
    Saved {
        saved: Saved,
        /// Where, in words.
        note: String,
        /// What was left, each one clause.
        left: Vec<String>,
        /// What of the work tree could not be saved, when the action may lose it.
        incomplete: Option<String>,
        record: Option<SnapshotRecord>,
    },
    /// Nothing had to be saved; what was left, each one clause.
    Left(Vec<String>),
    /// Nothing had to be saved, and where something is about to be made it is written down that nothing stands there.
    Marked {
        record: SnapshotRecord,
        /// What was left, each one clause.
        left: Vec<String>,
    },
    /// The only copy of something cannot be saved.
    Lost(Lost),
}

/// Saves what an action would destroy, within bounds, unless it is refused whatever is saved. `unprotected` is its review when nothing is.
pub(crate) fn protect(
    context: &Context,
    forecast: &Forecast<'_>,
    unprotected: &Review,
    purpose: &Protection,
) -> Protected {
    if !context.policy().config().snapshots.enabled || !depends_on_saving(unprotected) {
        return Protected::Nothing;
    }
    let started = Instant::now();
    let (action, world) = (forecast.action(), forecast.world());
    let plan = Plan::of(unprotected, action, world);
    // What nobody can see through is saved with the workspace as a whole, and what it makes is marked with that.
    let mark = |left: Vec<String>| {
        if is_unclear(unprotected) {
            Protected::leaving(left)
        } else {
            plan.mark(context, action, purpose, left)
        }
    };
    if plan.is_empty() {
        return mark(Vec::new());
    }
    match plan.carry_out(context, action, purpose) {
        Ok(Done { saved, record, note, left, incomplete }) => {
            let record = record.map(|record| SnapshotRecord {
                elapsed_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
                ..record
            });
            Protected::Saved { saved, note, left, incomplete, record }
        }
        Err(Unsaved::Nothing(left)) => mark(left),
        Err(Unsaved::Required(why)) => Protected::Lost(Lost::of(why, &plan.places)),
        Err(Unsaved::Failed(error)) => {
            let why = format!("what this would destroy {NOT_SAVED}{error}");
            let is_needed = plan.places.iter().any(|place| place.need == Need::Required);
            if is_needed { Protected::Lost(Lost::of(why, &plan.places)) } else { Protected::Left(vec![why]) }
        }
    }
}

/// Marks where nothing stands that an action is about to make which nobody can see through, where the workspace was not saved before it.
/// `unprotected` is its review when nothing is saved.
pub(crate) fn mark_unseen(
    context: &Context,
    forecast: &Forecast<'_>,
    unprotected: &Review,
    purpose: &Protection,
) -> Option<SnapshotRecord> {
    let is_wanted = context.policy().config().snapshots.enabled && depends_on_saving(unprotected);
    if !is_wanted || !is_unclear(unprotected) {
        return None;
    }
    let plan = Plan::of(unprotected, forecast.action(), forecast.world());
    plan.mark(context, forecast.action(), purpose, Vec::new()).mark().cloned()
}

/// Where nothing stands outside the workspace that an action is about to make which nobody can see through: the workspace is saved as a whole
/// before it, and shows what is new in it by itself.
pub(crate) fn absent_elsewhere(forecast: &Forecast<'_>, unprotected: &Review) -> Vec<CaptureRequest> {
    if !is_unclear(unprotected) {
        return Vec::new();
    }
    let plan = Plan::of(unprotected, forecast.action(), forecast.world());
    let workspace = Path::new(forecast.world().place().workspace.as_str()).to_owned();
    let mut absent = plan.absent();
    absent.retain(|place| !place.path.starts_with(&workspace));
    absent
}

/// Whether nobody can say which files an action changes.
pub(crate) fn is_unclear(review: &Review) -> bool {
    is_opaque(review) || makes_unknown_files(review) || runs_unread_code(review)
}

impl Protected {
    /// What there is when nothing was saved, and this was left.
    fn leaving(left: Vec<String>) -> Self {
        if left.is_empty() { Self::Nothing } else { Self::Left(left) }
    }

    /// The record of what was saved, when something was.
    pub(crate) fn record(&self) -> Option<&SnapshotRecord> {
        match self {
            Self::Saved { record, .. } => record.as_ref(),
            Self::Nothing | Self::Left(_) | Self::Marked { .. } | Self::Lost(_) => None,
        }
    }

    /// The record of where nothing stood, when the action only makes something.
    pub(crate) fn mark(&self) -> Option<&SnapshotRecord> {
        match self {
            Self::Marked { record, .. } => Some(record),
            Self::Nothing | Self::Left(_) | Self::Saved { .. } | Self::Lost(_) => None,
        }
    }

    /// The review that counts, of one when nothing is saved and of what is. Judging is pure.
    pub(crate) fn judge(&self, forecast: &Forecast<'_>, plain: Review) -> Review {
        match self {
            Self::Nothing => plain,
            Self::Saved { saved, note, left, incomplete, .. } => {
                let mut settled = settle(&plain, forecast.judge(saved), note);
                let contained =
                    settled.rewrite.as_mut().filter(|rewrite| rewrite.safety == Safety::Contained);
                if let Some(rewrite) = contained {
                    rewrite.note = format!("{}; {note}", rewrite.note);
                }
                if let Some(why) =
                    incomplete.as_ref().filter(|_| settled.verdict.kind == VerdictKind::Escalate)
                {
                    settled.reasoning.primary = format!("{}; {why}", settled.reasoning.primary);
                    settled.reasoning.all.insert(0, why.clone());
                }
                leave(&mut settled, left);
                settled
            }
            Self::Left(left) | Self::Marked { left, .. } => {
                let mut review = plain;
                leave(&mut review, left);
                review
            }
            Self::Lost(lost) => lost.review(plain),
        }
    }
}

/// What there is to save.
struct Plan {
    places: Vec<ToSave>,
    /// Where something is about to be made.
    absences: Vec<PathBuf>,
    /// The directories of repositories whose references are saved.
    repositories: Vec<AbsolutePath>,
    /// What happens to these: only where something is lost their objects are kept too.
    references: ReferenceChange,
    /// Whether any file of the work tree may change.
    extent: Extent,
    /// Work trees beside the one of the workspace of which version control may change any file.
    others: Vec<AbsolutePath>,
    /// What version control holds as it is: where it is too much to be saved by itself, it is among the files of the work tree.
    held: BTreeSet<AbsolutePath>,
    /// Whether references may be lost that the action itself makes of files of the work tree: what is stashed and dropped.
    loses_files: bool,
    /// Whether nobody can say what it does to what git runs by itself.
    is_unseen: bool,
    /// The names of commits that go, in words.
    lost_names: Option<SavedWords>,
}

/// How much of a work tree may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Places,
    WorkTree,
}

/// What was saved.
struct Done {
    /// What was not, each one clause.
    left: Vec<String>,
    saved: Saved,
    record: Option<SnapshotRecord>,
    note: String,
    /// What of the work tree could not be saved, when the action may lose it.
    incomplete: Option<String>,
}

enum Unsaved {
    /// There was nothing to save, or nothing that has to be; what was left, each one clause.
    Nothing(Vec<String>),
    /// The only copy of something is too large or cannot be read.
    Required(String),
    Failed(SnapshotError),
}

impl From<SnapshotError> for Unsaved {
    fn from(error: SnapshotError) -> Self {
        Self::Failed(error)
    }
}

impl Plan {
    fn of(review: &Review, action: &Action, world: &dyn World) -> Self {
        let git_changes_any_file = changes_work_tree(review);
        let (references, named) = reference_change(review);
        let mut plan = Self {
            places: Vec::new(),
            absences: Vec::new(),
            repositories: Vec::new(),
            references,
            extent: if git_changes_any_file { Extent::WorkTree } else { Extent::Places },
            others: changed_work_trees(review)
                .into_iter()
                .filter_map(|place| beside_workspace(world, place))
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            held: BTreeSet::new(),
            loses_files: git_changes_any_file && references == ReferenceChange::Lose,
            is_unseen: is_opaque(review) || is_contained(review),
            lost_names: references_in_words(&review.side_effects.effects),
        };
        let mut beside = Vec::new();
        let around = world.place();
        for mut place in to_save(review) {
            if place.need != Need::Absence && around.is_temporary(&place.path) {
                place.need = Need::Welcome;
            }
            let standing = std::fs::symlink_metadata(place.path.as_str());
            match (standing, place.need) {
                // New names among others: what is new can be told from what was there, if something else is saved anyway.
                (Ok(facts), Need::Absence) if facts.is_dir() => {
                    if place.reach != DirectoryReach::Itself {
                        place.need = Need::Welcome;
                        // Elsewhere than in the workspace, which is saved as a whole, nothing else would tell what stood there.
                        if place.path.is_within(&around.workspace) {
                            beside.push(place);
                        } else {
                            place.reach = DirectoryReach::Below;
                            plan.places.push(place);
                        }
                    }
                }
                (Ok(_), Need::Absence) => {
                    place.need = Need::Welcome;
                    plan.places.push(place);
                }
                (Ok(_), Need::Required | Need::Wanted | Need::Welcome) => plan.places.push(place),
                // What may be changed and is not there may be made before.
                (Err(_), _) => plan.absences.push(PathBuf::from(place.path.as_str())),
            }
        }
        // A database is the file that is named together with its logs.
        let logs = plan.places.iter().flat_map(|place| {
            databases::beside(&place.path).into_iter().map(|path| ToSave { path, ..place.clone() })
        });
        let logs: Vec<ToSave> = logs.collect();
        for log in logs {
            if !plan.places.iter().any(|place| place.path == log.path) {
                plan.places.push(log);
            }
        }
        let own = own_places(review, &around.home).into_iter().map(|place| PathBuf::from(place.as_str()));
        plan.absences.extend(own.filter(|place| std::fs::symlink_metadata(place).is_err()));
        let is_worth_it = match references {
            ReferenceChange::Nothing => git_changes_any_file,
            ReferenceChange::Grow | ReferenceChange::Forget | ReferenceChange::Lose => true,
        };
        if is_worth_it {
            let around = || world.repository(&action.cwd).map(|found| found.directory);
            let named = if named.is_empty() { around().into_iter().collect() } else { named };
            plan.repositories = named;
            plan.repositories.sort();
            plan.repositories.dedup();
        }
        if !plan.is_empty() {
            plan.places.extend(beside);
            if is_unclear(review) {
                plan.extent = Extent::WorkTree;
            }
        }
        let workspace = &world.place().workspace;
        let may_be_much =
            |place: &&ToSave| place.need == Need::Welcome && place.reach != DirectoryReach::Below;
        let is_held = |path: &AbsolutePath| {
            path.is_within(workspace) && world.version(path) == VersionState::TrackedClean
        };
        plan.held =
            plan.places.iter().filter(may_be_much).map(|place| place.path.clone()).filter(is_held).collect();
        // Nobody knows what it changes, and it runs for certain: there is nobody who is asked.
        if is_contained(review) {
            plan.extent = Extent::WorkTree;
        }
        if git_changes_any_file {
            plan.references = ReferenceChange::Lose;
        }
        plan
    }

    fn is_empty(&self) -> bool {
        self.places.is_empty() && self.repositories.is_empty() && self.extent == Extent::Places
    }

    /// Writes down where nothing stands that the action is about to make, so that what it made can be taken back. Nothing is lost without it,
    /// so a failure is no reason to wait or to ask.
    fn mark(&self, context: &Context, action: &Action, purpose: &Protection, left: Vec<String>) -> Protected {
        let Protection::Save(place) = purpose else { return Protected::leaving(left) };
        if self.absences.is_empty() {
            return Protected::leaving(left);
        }
        let taken = || -> Result<Option<SnapshotRecord>, SnapshotError> {
            let started = Instant::now();
            let own = [PathBuf::from(context.environment().state_path.as_str())];
            let manner = manner(&own, CaptureBounds::LITTLE);
            let draft = store(context.environment(), context.workspace()).begin(Effort::Quick)?;
            let CaptureOutcome::Whole(captured) = capture(&draft, &self.absent(), &manner)? else {
                return Ok(None);
            };
            let (entries, bytes) = (captured.entries, captured.bytes);
            let id = draft.commit(&captured.described(Circumstances {
                at: context.environment().now().0,
                occasion: SnapshotReason::BeforeAction,
                reason: masked(context, &in_words(action)),
                place: Some(place.clone()),
            }))?;
            let elapsed_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
            let (id, not_saved, begun) = (id.0, Vec::new(), None);
            Ok(Some(SnapshotRecord { id, entries, bytes, elapsed_us, not_saved, begun }))
        };
        match taken() {
            Ok(Some(record)) => Protected::Marked { record, left },
            Ok(None) => Protected::leaving(left),
            Err(error) => {
                context.environment().diagnostics.add(format!("what a call makes is not marked: {error}"));
                Protected::leaving(left)
            }
        }
    }

    /// What stands where something is about to be made: nothing.
    fn absent(&self) -> Vec<CaptureRequest> {
        let wanted = |path: &Path, selection| CaptureRequest { path: path.to_owned(), selection };
        let mut all: Vec<CaptureRequest> =
            self.absences.iter().map(|path| wanted(path, CaptureSelection::Everything)).collect();
        // Directories that are made on the way.
        let is_missing = |above: &&Path| std::fs::symlink_metadata(above).is_err();
        let above: BTreeSet<&Path> = self
            .absences
            .iter()
            .flat_map(|path| path.ancestors().skip(1).take_while(is_missing))
            .filter(|above| !self.absences.iter().any(|path| path == above))
            .collect();
        all.extend(above.into_iter().map(|above| wanted(above, CaptureSelection::Itself)));
        all
    }

    /// What is saved, in words: commits by the names that go, anything else by its place.
    fn what_is_saved(&self, taken: &[ToSave]) -> SavedWords {
        self.lost_names.clone().unwrap_or_else(|| places_in_words(taken))
    }

    fn carry_out(&self, context: &Context, action: &Action, purpose: &Protection) -> Result<Done, Unsaved> {
        let settings = &context.policy().config().snapshots;
        let bounds = CaptureBounds {
            entries: settings.max_files,
            bytes: settings.max_megabytes.saturating_mul(1024 * 1024),
            time: Duration::from_millis(settings.max_ms),
        };
        let own = [PathBuf::from(context.environment().state_path.as_str())];
        let manner = |bounds| manner(&own, bounds);
        let is_needed = self.places.iter().any(|place| place.need == Need::Required);
        let is_all_needed = self.places.iter().all(|place| place.need == Need::Required);
        let mut taken = if is_all_needed && matches!(purpose, Protection::Save(_)) {
            // There is nothing to choose from, so it need not be measured first: the capture has the same bounds.
            self.places.clone()
        } else {
            self.needed(&manner(bounds))?
        };
        taken.extend(self.welcome(&manner)?);
        let references = self.references(&manner(bounds))?;
        // What lies below a place and could not be listed is among the files of the work tree, as far as it is not ignored.
        let is_covered = |place: &ToSave| {
            !taken.contains(place)
                && (place.reach == DirectoryReach::Below || self.held.contains(&place.path))
        };
        let extent = if self.places.iter().any(is_covered) { Extent::WorkTree } else { self.extent };
        let mut left = self.left(&taken);
        let has_places = !taken.is_empty() || !references.is_empty();
        if !has_places && extent == Extent::Places {
            return Err(Unsaved::Nothing(left));
        }
        let mut saved = Saved::default();
        taken.iter().for_each(|place| saved.add(place.path.clone(), place.reach));
        let keeps_references = !references.is_empty() && self.keep_objects(context, purpose)?;
        let add_references = |saved: &mut Saved| {
            self.repositories.iter().for_each(|directory| saved.add_references(directory.clone()));
        };
        let mut wanted: Vec<CaptureRequest> = taken.iter().map(wanted).collect();
        wanted.extend(references);
        wanted.extend(self.absent());
        if self.is_unseen && extent == Extent::WorkTree {
            wanted.extend(run_by_git(context.workspace()));
        }
        let place = match purpose {
            Protection::Ask => {
                if keeps_references {
                    add_references(&mut saved);
                }
                let note = would_be_saved(&self.what_is_saved(&taken));
                return Ok(Done { left, saved, record: None, note, incomplete: None });
            }
            Protection::Save(place) => place,
        };
        let store = store(context.environment(), context.workspace());
        let mut draft = store.begin(Effort::Quick)?;
        let mut whole = None;
        if extent == Extent::WorkTree && context.work_tree().is_some() {
            whole = self
                .work_trees(context, &store, &draft, &wanted, &manner(bounds))?
                // Room that the work tree took may be what something was lacking that has to be saved.
                .filter(|captured| !is_needed || missing(captured).is_none());
            if whole.is_none() {
                // What was written of it already is given up.
                drop(draft);
                draft = store.begin(Effort::Quick)?;
            }
        }
        let incomplete = match &whole {
            _ if !self.loses_files => None,
            Some(captured) => missing(captured),
            None => Some("the work tree is too large to be saved first".to_owned()),
        };
        match &whole {
            Some(_) => left = self.left_beside(&taken),
            None if extent == Extent::WorkTree => {
                left.push(format!("the work tree {NOT_SAVED}it is too much for an action to wait for"));
            }
            None => {}
        }
        if keeps_references && incomplete.is_none() {
            add_references(&mut saved);
        }
        let is_whole = whole.is_some();
        let captured = match whole {
            Some(captured) => captured,
            None if !has_places => return Err(Unsaved::Nothing(left)),
            None => match databases::capture_settled(&draft, &wanted, &manner(bounds))? {
                Settled::Whole(CaptureOutcome::Whole(captured)) => captured,
                Settled::Busy(path) if is_needed => {
                    return Err(Unsaved::Required(format!(
                        "the database `{}` is written to all the time, so it cannot be saved as a whole",
                        path.display()
                    )));
                }
                Settled::Whole(CaptureOutcome::Over(over)) if is_needed => {
                    return Err(Unsaved::Required(too_much(over, &bounds)));
                }
                Settled::Busy(_) | Settled::Whole(CaptureOutcome::Over(_)) => {
                    return Err(Unsaved::Nothing(self.left(&[])));
                }
            },
        };
        if is_needed && let Some(why) = missing(&captured) {
            return Err(Unsaved::Required(why));
        }
        left.extend(special(&captured.skipped));
        let not_saved = told(&captured.skipped);
        let what = match taken.as_slice() {
            [] if is_whole => SavedWords::One("the work tree".to_owned()),
            [] => SavedWords::One("what the repository's branches, tags and stashes point to".to_owned()),
            taken => self.what_is_saved(taken),
        };
        let (entries, bytes, but) = (captured.entries, captured.bytes, left_out(&captured.skipped));
        let id = draft.commit(&captured.described(Circumstances {
            at: context.environment().now().0,
            occasion: SnapshotReason::BeforeAction,
            reason: masked(context, &in_words(action)),
            place: Some(place.clone()),
        }))?;
        let record = SnapshotRecord { id: id.0, entries, bytes, elapsed_us: 0, not_saved, begun: None };
        Ok(Done {
            left,
            saved,
            note: was_saved(&what, but.as_deref(), id.0),
            record: Some(record),
            incomplete,
        })
    }

    /// Captures the work tree of the workspace, and the others that may change, together with other places; `None` when it is too much for
    /// an action to wait for it.
    fn work_trees(
        &self,
        context: &Context,
        store: &Store,
        draft: &SnapshotDraft,
        wanted: &[CaptureRequest],
        manner: &CaptureOptions<'_>,
    ) -> Result<Option<Captured>, SnapshotError> {
        let Some(mut whole) = work_tree(context, store, draft, wanted, manner)? else { return Ok(None) };
        for root in &self.others {
            let ignoring = ignoring(context.environment(), root);
            let manner = CaptureOptions { ignoring: Some(&ignoring), ..*manner };
            let place = CaptureRequest {
                path: PathBuf::from(root.as_str()),
                selection: CaptureSelection::NotIgnored,
            };
            let CaptureOutcome::Whole(more) = capture_small_first(draft, &[place], &manner)? else {
                return Ok(None);
            };
            whole.add(more);
        }
        Ok(Some(whole))
    }

    /// What is not among the places that are saved, in words.
    fn left(&self, taken: &[ToSave]) -> Vec<String> {
        self.left_but(taken, |_| false)
    }

    /// The same where the work tree is saved as a whole.
    fn left_beside(&self, taken: &[ToSave]) -> Vec<String> {
        self.left_but(taken, |place| self.held.contains(&place.path))
    }

    fn left_but(&self, taken: &[ToSave], is_saved: impl Fn(&ToSave) -> bool) -> Vec<String> {
        let is_told = |place: &&ToSave| place.reach != DirectoryReach::Below || place.need != Need::Welcome;
        let left = self
            .places
            .iter()
            .filter(is_told)
            .filter(|place| !taken.iter().any(|one| one.path == place.path) && !is_saved(place));
        let why = |place: &ToSave| match place.need {
            Need::Required | Need::Wanted => "it is too much",
            Need::Welcome | Need::Absence => {
                "it can be made or fetched again, and is too much to save as well"
            }
        };
        left.take(RECORDED_SKIPS).map(|place| format!("`{}` {NOT_SAVED}{}", place.path, why(place))).collect()
    }

    /// Keeps the objects that references stand for; whether all of them are kept. To somebody who only asks they would be.
    fn keep_objects(&self, context: &Context, purpose: &Protection) -> Result<bool, SnapshotError> {
        if matches!(purpose, Protection::Ask) || self.references != ReferenceChange::Lose {
            return Ok(true);
        }
        let store = store(context.environment(), context.workspace());
        for directory in &self.repositories {
            let objects = shared(Path::new(directory.as_str())).join("objects");
            if store.keep_objects(&objects, &OBJECTS)? == ObjectRetention::NotAll {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is the only copy of something.
    fn needed(&self, manner: &CaptureOptions<'_>) -> Result<Vec<ToSave>, Unsaved> {
        let some = |need: Need| -> Vec<ToSave> {
            self.places.iter().filter(|place| place.need == need).cloned().collect()
        };
        let mut required = some(Need::Required);
        if !required.is_empty() {
            match measure(&required.iter().map(wanted).collect::<Vec<_>>(), manner)? {
                CaptureOutcome::Whole(measured) => {
                    if let Some(why) = missing(&measured) {
                        return Err(Unsaved::Required(why));
                    }
                }
                CaptureOutcome::Over(over) => return Err(Unsaved::Required(too_much(over, &manner.bounds))),
            }
        }
        let perhaps = some(Need::Wanted);
        if !perhaps.is_empty() {
            let all: Vec<CaptureRequest> = required.iter().chain(&perhaps).map(wanted).collect();
            if let CaptureOutcome::Whole(_) = measure(&all, manner)? {
                required.extend(perhaps);
            }
        }
        Ok(required)
    }

    /// What is welcome, as far as it is little.
    fn welcome<'a>(
        &self,
        manner: &impl Fn(CaptureBounds) -> CaptureOptions<'a>,
    ) -> Result<Vec<ToSave>, Unsaved> {
        let mut left = WELCOME;
        let mut taken = Vec::new();
        for place in self.places.iter().filter(|place| place.need == Need::Welcome) {
            if let CaptureOutcome::Whole(measured) = measure(&[wanted(place)], &manner(left))? {
                left.entries = left.entries.saturating_sub(measured.entries);
                left.bytes = left.bytes.saturating_sub(measured.bytes);
                taken.push(place.clone());
            }
        }
        Ok(taken)
    }

    /// Where the work of repositories is, as far as it is little.
    fn references(&self, manner: &CaptureOptions<'_>) -> Result<Vec<CaptureRequest>, Unsaved> {
        let mut all = Vec::new();
        for directory in &self.repositories {
            let directory = Path::new(directory.as_str());
            let shared = shared(directory);
            for home in [directory.to_owned(), shared] {
                all.extend(REFERENCES.iter().map(|name| CaptureRequest {
                    path: home.join(name),
                    selection: CaptureSelection::Everything,
                }));
            }
        }
        all.sort();
        all.dedup();
        // Where nothing is lost, nobody waits for much.
        let bounds = if self.references == ReferenceChange::Grow { WELCOME } else { manner.bounds };
        match measure(&all, &CaptureOptions { bounds, ..*manner })? {
            CaptureOutcome::Whole(_) => Ok(all),
            CaptureOutcome::Over(_) => Ok(Vec::new()),
        }
    }
}

/// How places are captured before an action, within bounds; what lies below `spared` is left out.
fn manner(spared: &[PathBuf], bounds: CaptureBounds) -> CaptureOptions<'_> {
    CaptureOptions {
        bounds,
        largest: None,
        spared,
        mounts: Mounts::Enter,
        ignoring: None,
        threads: NonZeroUsize::MIN,
        seen: None,
    }
}

/// Whether an action changes files of which nobody can say beforehand which they are: those that a pattern means, and those that something may
/// come to overwrite which is made anywhere below a directory that stands.
fn makes_unknown_files(review: &Review) -> bool {
    changes_unknown_files(review)
        || to_save(review).iter().any(|place| {
            place.need == Need::Absence
                && place.reach == DirectoryReach::Tree
                && Path::new(place.path.as_str()).is_dir()
        })
}

/// Captures the work tree together with other places; `None` when it is too large for an action to wait for it.
fn work_tree(
    context: &Context,
    store: &Store,
    draft: &SnapshotDraft,
    others: &[CaptureRequest],
    manner: &CaptureOptions<'_>,
) -> Result<Option<Captured>, SnapshotError> {
    let root = store.workspace();
    let named = root.to_str().and_then(AbsolutePath::new);
    let ignoring = ignoring(context.environment(), named.as_ref().unwrap_or(context.workspace()));
    let seen = store.seen();
    let bounds =
        CaptureBounds { entries: u64::MAX, bytes: manner.bounds.bytes.saturating_mul(4), ..manner.bounds };
    let manner = CaptureOptions { bounds, ignoring: Some(&ignoring), seen: seen.as_ref(), ..*manner };
    let mut wanted = others.to_vec();
    wanted.push(CaptureRequest { path: root.to_owned(), selection: CaptureSelection::NotIgnored });
    Ok(match capture_small_first(draft, &wanted, &manner)? {
        CaptureOutcome::Whole(captured) => Some(captured),
        CaptureOutcome::Over(_) => None,
    })
}

/// What git runs by itself in the repository of a workspace, and what says so: few small files, no data of it.
fn run_by_git(workspace: &AbsolutePath) -> Vec<CaptureRequest> {
    let directory = workspace.join(".git");
    if !Path::new(directory.as_str()).is_dir() {
        return Vec::new();
    }
    let names = ["hooks", "config", "config.worktree"];
    let place = |name: &str| PathBuf::from(directory.join(name).as_str());
    names
        .iter()
        .map(|name| CaptureRequest { path: place(name), selection: CaptureSelection::Everything })
        .collect()
}

fn wanted(place: &ToSave) -> CaptureRequest {
    let selection = match place.reach {
        DirectoryReach::Tree | DirectoryReach::Below => CaptureSelection::Everything,
        DirectoryReach::Itself => CaptureSelection::Itself,
    };
    CaptureRequest { path: PathBuf::from(place.path.as_str()), selection }
}

/// A text without the secrets that are known by their form.
pub fn masked(context: &Context, text: &str) -> String {
    session_ledger::mask_key(context.environment(), context.policy().config())
        .map_or_else(|_| String::new(), |key| mask_text(text, &key).into_owned())
}

#[cfg(test)]
mod tests;
