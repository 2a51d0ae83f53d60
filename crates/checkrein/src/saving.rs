//! Saving what an action would destroy, right before it runs.
//!
//! The review says what would have to be saved; here it is, within bounds, and what really was goes back into the review. Nothing in
//! this module decides anything.

pub(crate) mod workspace;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use checkrein_effects::{AbsolutePath, Action, World};
use checkrein_ledger::mask::mask_text;
use checkrein_protocol::SnapshotRecord;
use checkrein_review::{
    Need, Reach, ReferenceChange, Review, Safety, Saved, ToSave, changes_unknown_files, changes_work_tree,
    depends_on_saving, is_contained, is_opaque, reference_change, review_saved, settle, to_save, unsaved,
};
use checkrein_snapshot::{
    Bounds, Captured, Choice, Circumstances, Draft, Effort, Ended, Ignoring, Kept, Manner, Mounts, Occasion,
    Over, SessionPlace, SkipReason, SnapshotError, Store, Wanted, capture, measure,
};

use crate::aftermath::workspace_of;
use crate::guard::Guard;
use crate::surroundings::Surroundings;
use crate::terminal::cut;

/// How much is saved of what can be had again elsewhere (ours): enough for sources, not for what an install brings.
const WELCOME: Bounds = Bounds { entries: 1_000, bytes: 16 * 1024 * 1024, time: Duration::from_millis(100) };

/// How many files of objects of a repository are kept, and how much is copied where they cannot be linked (ours).
const OBJECTS: Bounds = Bounds { entries: 50_000, bytes: 64 * 1024 * 1024, time: Duration::from_secs(1) };

/// How many things that were not saved are written down (ours).
const RECORDED_SKIPS: usize = 8;

/// The files and directories of a repository that say where its work is.
const REFERENCES: [&str; 13] = [
    "HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "REVERT_HEAD",
    "config",
    "sequencer",
    "index",
    "packed-refs",
    "refs",
    "logs",
    "rebase-merge",
    "rebase-apply",
    "CHERRY_PICK_HEAD",
];

/// Whether something is really saved, or only whether it could be is found out.
#[derive(Debug, Clone)]
pub(crate) enum Purpose {
    /// Saved, at this place of a session.
    Save(SessionPlace),
    /// Found out, for somebody who asks what would be said.
    Ask,
}

/// The store of a workspace.
pub(crate) fn store(surroundings: &Surroundings, workspace: &AbsolutePath) -> Store {
    let stores = Path::new(surroundings.state_path.as_str()).join("snapshots");
    let real =
        std::fs::canonicalize(workspace.as_str()).unwrap_or_else(|_| PathBuf::from(workspace.as_str()));
    Store::open(&stores, &real)
}

/// What version control ignores in a workspace.
pub(crate) fn ignoring(surroundings: &Surroundings, workspace: &AbsolutePath) -> Ignoring {
    let configuration = surroundings.variables.get("XDG_CONFIG_HOME").map(String::as_str);
    Ignoring::of(workspace, &surroundings.home, configuration)
}

/// The review that counts when what the action would destroy is saved first, and what was saved.
pub(crate) fn protect(
    guard: &Guard,
    action: &Action,
    world: &dyn World,
    review: Review,
    purpose: &Purpose,
) -> (Review, Option<SnapshotRecord>) {
    if !guard.policy().config().snapshots.enabled || !depends_on_saving(&review) {
        return (review, None);
    }
    let started = Instant::now();
    let plan = Plan::of(&review, action, world);
    if plan.is_empty() {
        return (review, None);
    }
    match plan.carry_out(guard, action, purpose) {
        Ok(Done { saved, record, note, left }) => {
            let record = record.map(|record| SnapshotRecord {
                elapsed_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
                ..record
            });
            let after = review_saved(action, world, guard.policy(), &saved);
            let mut settled = settle(&review, after, &note);
            let contained = settled.rewrite.as_mut().filter(|rewrite| rewrite.safety == Safety::Contained);
            if let Some(rewrite) = contained {
                rewrite.note = format!("{}; {note}", rewrite.note);
            }
            settled.failures.extend(left);
            (settled, record)
        }
        Err(Unsaved::Nothing(left)) => {
            let mut review = review;
            review.failures.extend(left);
            (review, None)
        }
        Err(Unsaved::Required(why)) => (unsaved(review, &why), None),
        Err(Unsaved::Failed(error)) => {
            let why = format!("what this would destroy could not be saved: {error}");
            let is_needed = plan.places.iter().any(|place| place.need == Need::Required);
            if is_needed { (unsaved(review, &why), None) } else { (noted(review, why), None) }
        }
    }
}

fn noted(mut review: Review, why: String) -> Review {
    review.failures.push(why);
    review
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
                    if place.reach != Reach::Itself {
                        place.need = Need::Welcome;
                        beside.push(place);
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
        let is_worth_it = match references {
            ReferenceChange::Nothing => git_changes_any_file,
            ReferenceChange::Grow => !plan.places.is_empty() || git_changes_any_file,
            ReferenceChange::Forget | ReferenceChange::Lose => true,
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
            if changes_unknown_files(review) || is_opaque(review) {
                plan.extent = Extent::WorkTree;
            }
        }
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

    fn carry_out(&self, guard: &Guard, action: &Action, purpose: &Purpose) -> Result<Done, Unsaved> {
        let settings = &guard.policy().config().snapshots;
        let bounds = Bounds {
            entries: settings.max_files,
            bytes: settings.max_megabytes.saturating_mul(1024 * 1024),
            time: Duration::from_millis(settings.max_ms),
        };
        let own = [PathBuf::from(guard.surroundings().state_path.as_str())];
        let manner = |bounds| Manner {
            bounds,
            largest: None,
            spared: &own,
            mounts: Mounts::Enter,
            ignoring: None,
            threads: NonZeroUsize::MIN,
            seen: None,
        };
        let is_needed = self.places.iter().any(|place| place.need == Need::Required);
        let is_all_needed = self.places.iter().all(|place| place.need == Need::Required);
        let mut taken = if is_all_needed && matches!(purpose, Purpose::Save(_)) {
            // There is nothing to choose from, so it need not be measured first: the capture has the same bounds.
            self.places.clone()
        } else {
            self.needed(&manner(bounds))?
        };
        taken.extend(self.welcome(&manner)?);
        let references = self.references(&manner(bounds))?;
        // What lies below a place and could not be listed is among the files of the work tree, as far as it is not ignored.
        let is_covered = |place: &ToSave| place.reach == Reach::Below && !taken.contains(place);
        let extent = if self.places.iter().any(is_covered) { Extent::WorkTree } else { self.extent };
        let left = self.left(&taken);
        let has_places = !taken.is_empty() || !references.is_empty();
        if !has_places && extent == Extent::Places {
            return Err(Unsaved::Nothing(left));
        }
        let mut saved = Saved::default();
        taken.iter().for_each(|place| saved.add(place.path.clone(), place.reach));
        if !references.is_empty() && self.keep_objects(guard, purpose)? {
            self.repositories.iter().for_each(|directory| saved.add_references(directory.clone()));
        }
        let mut wanted: Vec<Wanted> = taken.iter().map(wanted).collect();
        wanted.extend(references);
        wanted.extend(
            self.absences.iter().map(|path| Wanted { path: path.clone(), selection: Choice::Everything }),
        );
        let place = match purpose {
            Purpose::Ask => return Ok(Done { left, saved, record: None, note: would_be_saved(&taken) }),
            Purpose::Save(place) => place,
        };
        let store = store(guard.surroundings(), guard.workspace());
        let mut draft = store.begin(Effort::Quick)?;
        let mut whole = None;
        if extent == Extent::WorkTree && workspace_of(guard).is_some() {
            whole = work_tree(guard, &store, &draft, &wanted, &manner(bounds))?;
            if whole.is_none() {
                // What was written of it already is given up.
                drop(draft);
                draft = store.begin(Effort::Quick)?;
            }
        }
        let captured = match whole {
            Some(captured) => captured,
            None if !has_places => return Err(Unsaved::Nothing(left)),
            None => match capture(&draft, &wanted, &manner(bounds))? {
                Ended::Whole(captured) => captured,
                Ended::Over(over) if is_needed => return Err(Unsaved::Required(too_much(over, &bounds))),
                Ended::Over(_) => return Err(Unsaved::Nothing(self.left(&[]))),
            },
        };
        if is_needed && let Some(why) = missing(&captured) {
            return Err(Unsaved::Required(why));
        }
        let not_saved: Vec<String> = captured
            .skipped
            .iter()
            .take(RECORDED_SKIPS)
            .map(|one| format!("{}: {}", one.path.as_path().display(), one.reason))
            .collect();
        let (entries, bytes) = (captured.entries, captured.bytes);
        let id = draft.commit(&captured.described(Circumstances {
            at: guard.surroundings().now().0,
            occasion: Occasion::BeforeAction,
            reason: masked(guard, &in_words(action)),
            place: Some(place.clone()),
        }))?;
        let record = SnapshotRecord { id: id.0, entries, bytes, elapsed_us: 0, not_saved };
        Ok(Done { left, saved, note: was_saved(&taken, id.0), record: Some(record) })
    }

    /// What is not among the places that are saved, in words.
    fn left(&self, taken: &[ToSave]) -> Vec<String> {
        let is_told = |place: &&ToSave| place.reach != Reach::Below || place.need != Need::Welcome;
        let left = self
            .places
            .iter()
            .filter(is_told)
            .filter(|place| !taken.iter().any(|one| one.path == place.path));
        let why = |place: &ToSave| match place.need {
            Need::Required | Need::Wanted => "it is too much",
            Need::Welcome | Need::Absence => "it can be had again, and is too much to be saved beside",
        };
        left.take(RECORDED_SKIPS)
            .map(|place| format!("`{}` is not saved: {}", place.path, why(place)))
            .collect()
    }

    /// Keeps the objects that references stand for; whether all of them are kept. To somebody who only asks they would be.
    fn keep_objects(&self, guard: &Guard, purpose: &Purpose) -> Result<bool, SnapshotError> {
        if matches!(purpose, Purpose::Ask) || self.references != ReferenceChange::Lose {
            return Ok(true);
        }
        let store = store(guard.surroundings(), guard.workspace());
        for directory in &self.repositories {
            let objects = shared(Path::new(directory.as_str())).join("objects");
            if store.keep_objects(&objects, &OBJECTS)? == Kept::NotAll {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is the only copy of something.
    fn needed(&self, manner: &Manner<'_>) -> Result<Vec<ToSave>, Unsaved> {
        let some = |need: Need| -> Vec<ToSave> {
            self.places.iter().filter(|place| place.need == need).cloned().collect()
        };
        let mut required = some(Need::Required);
        if !required.is_empty() {
            match measure(&required.iter().map(wanted).collect::<Vec<_>>(), manner)? {
                Ended::Whole(measured) => {
                    if let Some(why) = missing(&measured) {
                        return Err(Unsaved::Required(why));
                    }
                }
                Ended::Over(over) => return Err(Unsaved::Required(too_much(over, &manner.bounds))),
            }
        }
        let perhaps = some(Need::Wanted);
        if !perhaps.is_empty() {
            let all: Vec<Wanted> = required.iter().chain(&perhaps).map(wanted).collect();
            if let Ended::Whole(_) = measure(&all, manner)? {
                required.extend(perhaps);
            }
        }
        Ok(required)
    }

    /// What is welcome, as far as it is little.
    fn welcome<'a>(&self, manner: &impl Fn(Bounds) -> Manner<'a>) -> Result<Vec<ToSave>, Unsaved> {
        let mut left = WELCOME;
        let mut taken = Vec::new();
        for place in self.places.iter().filter(|place| place.need == Need::Welcome) {
            if let Ended::Whole(measured) = measure(&[wanted(place)], &manner(left))? {
                left.entries = left.entries.saturating_sub(measured.entries);
                left.bytes = left.bytes.saturating_sub(measured.bytes);
                taken.push(place.clone());
            }
        }
        Ok(taken)
    }

    /// Where the work of repositories is, as far as it is little.
    fn references(&self, manner: &Manner<'_>) -> Result<Vec<Wanted>, Unsaved> {
        let mut all = Vec::new();
        for directory in &self.repositories {
            let directory = Path::new(directory.as_str());
            let shared = shared(directory);
            for home in [directory.to_owned(), shared] {
                all.extend(
                    REFERENCES
                        .iter()
                        .map(|name| Wanted { path: home.join(name), selection: Choice::Everything }),
                );
            }
        }
        all.sort();
        all.dedup();
        match measure(&all, manner)? {
            Ended::Whole(_) => Ok(all),
            Ended::Over(_) => Ok(Vec::new()),
        }
    }
}

/// Captures the work tree together with other places; `None` when it is too large for an action to wait for it.
fn work_tree(
    guard: &Guard,
    store: &Store,
    draft: &Draft,
    others: &[Wanted],
    manner: &Manner<'_>,
) -> Result<Option<Captured>, SnapshotError> {
    let root = store.workspace();
    let named = root.to_str().and_then(AbsolutePath::new);
    let ignoring = ignoring(guard.surroundings(), named.as_ref().unwrap_or(guard.workspace()));
    let seen = store.seen();
    let bounds = Bounds { entries: u64::MAX, bytes: manner.bounds.bytes.saturating_mul(4), ..manner.bounds };
    let manner = Manner { bounds, ignoring: Some(&ignoring), seen: seen.as_ref(), ..*manner };
    let mut wanted = others.to_vec();
    wanted.push(Wanted { path: root.to_owned(), selection: Choice::NotIgnored });
    Ok(match capture(draft, &wanted, &manner)? {
        Ended::Whole(captured) => Some(captured),
        Ended::Over(_) => None,
    })
}

/// The directory with what linked work trees share.
fn shared(directory: &Path) -> PathBuf {
    let shared = checkrein_files::read_text(directory.join("commondir"), checkrein_files::SMALL);
    shared.map_or_else(|_| directory.to_owned(), |text| directory.join(text.trim_end()))
}

fn wanted(place: &ToSave) -> Wanted {
    let selection = match place.reach {
        Reach::Tree | Reach::Below => Choice::Everything,
        Reach::Itself => Choice::Itself,
    };
    Wanted { path: PathBuf::from(place.path.as_str()), selection }
}

/// Why the only copy of something is not in what was captured; `None` when it is.
fn missing(captured: &Captured) -> Option<String> {
    captured.skipped.iter().find_map(|one| match &one.reason {
        SkipReason::Unreadable(_) | SkipReason::TooLarge { .. } | SkipReason::Changing => Some(format!(
            "`{}` would be lost and cannot be saved: {}",
            one.path.as_path().display(),
            one.reason
        )),
        SkipReason::Special | SkipReason::OtherFileSystem | SkipReason::Own => None,
    })
}

fn too_much(over: Over, bounds: &Bounds) -> String {
    let bound = match over {
        Over::Entries => format!("more than {} files (`snapshots.max_files`)", bounds.entries),
        Over::Bytes => format!("more than {} MB (`snapshots.max_megabytes`)", bounds.bytes / (1024 * 1024)),
        Over::Time => format!("it takes longer than {} ms (`snapshots.max_ms`)", bounds.time.as_millis()),
    };
    format!("this destroys the only copy of more than can be saved first: {bound}")
}

fn places_in_words(taken: &[ToSave]) -> String {
    match taken {
        [] => "what it changes".to_owned(),
        [one] => format!("`{}`", one.path),
        [first, rest @ ..] => format!("`{}` and {} more", first.path, rest.len()),
    }
}

fn was_saved(taken: &[ToSave], id: u64) -> String {
    format!("{} was saved first (snapshot {id}); `checkrein undo` brings it back", places_in_words(taken))
}

fn would_be_saved(taken: &[ToSave]) -> String {
    format!("{} would be saved first, so that `checkrein undo` can bring it back", places_in_words(taken))
}

/// An action in one line, for the list of snapshots.
pub(crate) fn in_words(action: &Action) -> String {
    let text = action.shell_text().map_or_else(
        || {
            let path = ["file_path", "notebook_path", "path"]
                .iter()
                .find_map(|name| action.input.get(*name).and_then(serde_json::Value::as_str));
            format!("{} {}", action.tool.as_str(), path.unwrap_or_default())
        },
        str::to_owned,
    );
    cut(text.trim(), 200)
}

/// A text without the secrets that are known by their form.
pub(crate) fn masked(guard: &Guard, text: &str) -> String {
    guard
        .surroundings()
        .state
        .mask_key()
        .map_or_else(|_| String::new(), |key| mask_text(text, &key).into_owned())
}
