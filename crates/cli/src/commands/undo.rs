//! `checkrein undo`: takes back what an action destroyed.

mod places;
mod sources;
mod story;
mod unsaved;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use checkrein_ledger::{FolderName, lines};
use checkrein_protocol::{
    AbsolutePath, Effect, EffectKind, Nature, ObservedExtent, Record, RecordBody, ReviewRecord, Stake,
    VerificationRecord,
};
use checkrein_session::{SessionLedger, SessionSummary, TURN_END_EVENTS};

use checkrein_review::VerdictKind;
use checkrein_snapshot::{
    ActionEndTime, ActionSources, Gone, Listed, Prepared, RestoreAction, RestoreExtent, Since, SnapshotId,
    SnapshotReason, Step,
};
use checkrein_world::find_workspace;

use self::places::leave_remotes;
pub(super) use self::places::{grounds, spare_remotes};
use self::sources::sources_of;
pub(super) use self::story::Story;
use self::story::{Looked, OfGit, in_repository};
use self::unsaved::Unsaved;
use self::words::{in_words, kept_as_new, made_in_words, pushed_in_words, unanswered_in_words, unseen};
use super::name_choice::NamedKind;
use super::restore::{
    New, Permissions, RestoreConsent, RestoreContext, RestoreTerms, Unfinished, Weight, command_at, gone,
    restore,
};
use super::{ExitStatus, OutputForm};
use crate::render::time;
use crate::terminal::{cut, log, plain, wrapped};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::rollback::{added_to, restored};

/// How many actions are tried at most until one is found of which there is something to take back (ours).
const TRIES: usize = 50;

/// Of how many actions at most it is told that they cannot be taken back (ours).
const TOLD: usize = 3;

/// Which action is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoChoice<'a> {
    /// The last one in this workspace or below it that destroyed something and was not taken back yet, of the newest session that has one.
    Newest,
    /// The last such one of this session.
    NewestOf(&'a FolderName),
    /// The one whose name begins so, or whose snapshot has this number.
    Named(&'a str),
}

/// Takes back an action.
pub fn undo(
    environment: &HostEnvironment,
    choice: UndoChoice<'_>,
    permissions: Permissions,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    permissions.check(environment, "undo")?;
    let unfinished = Unfinished::by(permissions.consent);
    let grounds = grounds(environment, find_workspace(&environment.cwd), unfinished)?;
    let stores = grounds.iter().map(Opened::at).collect::<Result<Vec<_>, _>>()?;
    let (candidates, action) = match choice {
        UndoChoice::Named(wanted) => (named(&stores, wanted)?, Some(wanted)),
        UndoChoice::Newest => (open(&stores), None),
        UndoChoice::NewestOf(folder) => {
            let mut of_session = open(&stores);
            of_session.retain(|(_, snapshot)| session(snapshot) == Some(folder.as_str()));
            (of_session, None)
        }
    };
    // Who chose a session knows that it may not be the newest.
    let earlier_session = |ledgers: &mut Stories, snapshot: &Listed| match choice {
        UndoChoice::NewestOf(_) => Ok(None),
        UndoChoice::Newest | UndoChoice::Named(_) => {
            ledgers.earlier_session(environment, &stores, snapshot, permissions)
        }
    };
    let mut ledgers = Stories::default();
    let mut passed_over = Vec::new();
    let mut kept = None;
    let mut made_again = None;
    // Newer actions of which something is lost and is not taken back without more permissions, in words.
    let mut held_up = Vec::new();
    // What is new and may be anybody's.
    let mut new = BTreeSet::new();
    // Actions that lost nothing, and of which it is permitted to remove what they made.
    let mut removable: Vec<(&Opened<'_>, &Listed, Box<Prepared>)> = Vec::new();
    // What actions made that lost nothing.
    let mut made = Vec::new();
    // Of the newest action, where nothing else of it is to be told.
    let mut lost = None;
    // What only added something is taken back after everything that lost work, however much of it came later.
    let (added, candidates): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|(_, snapshot)| action.is_none() && ledgers.of(environment, snapshot).only_adds(snapshot));
    for (store, snapshot) in candidates.into_iter().take(TRIES) {
        let story = ledgers.of(environment, snapshot);
        if action.is_none() && !story.may_have_run() {
            continue;
        }
        let moment = story.moment();
        let case = RestoreTerms { ground: store.ground, snapshot, moment, permissions };
        let (prepared, remotes) = store.prepare(environment, &mut ledgers, snapshot)?;
        // A push lost nothing here: what it sent belongs to others, and what git notes of it is no work.
        if action.is_none() && story.only_pushed(prepared.steps()) {
            passed_over.push(pushed_in_words(environment, &case));
            continue;
        }
        // What later calls did to a repository in which this one lost nothing is theirs.
        if action.is_none() && story.left_repository(&prepared, snapshot) {
            continue;
        }
        passed_over.extend(remotes);
        let mut weight = case.weight(environment, &prepared);
        if weight != Weight::Work && case.lost_objects(Some(&story.period()))? > 0 {
            weight = Weight::Work;
        }
        // Something else came, and nobody told that the call had run: what is gone a user may have taken away.
        if action.is_none() && story.was_left_unanswered() && !story.is_wanted_by(permissions) {
            let came_before = |step: &Step| !step.since.is_changed() && step.deed != RestoreAction::Remove;
            let is_forced = case.keeps_work(&prepared) && prepared.steps().iter().any(came_before);
            if weight == Weight::Work || is_forced {
                passed_over.push(unanswered_in_words(environment, &case, &prepared));
            }
            continue;
        }
        if action.is_some() || weight == Weight::Work {
            let later = if action.is_some() {
                Vec::new()
            } else {
                ledgers.unsaved_after(environment, &stores, snapshot)
            };
            passed_over.splice(0..0, later.into_iter().chain(lost.unwrap_or_default()));
            passed_over.extend(kept_as_new(&new));
            passed_over.extend(story.is_partly_unseen(store, snapshot).then(|| unseen(snapshot)));
            if action.is_none() {
                ledgers.not_before_lost(environment, &stores, snapshot, Some(snapshot))?;
                passed_over.extend(earlier_session(&mut ledgers, snapshot)?);
                not_the_newest(environment, &held_up, &case)?;
            }
            return restore(environment, prepared, &case, &passed_over, output);
        }
        if prepared.steps().is_empty() {
            lost.get_or_insert_with(|| gone(snapshot));
        }
        // What came after it ended is not its work, and nothing of it is to be taken back.
        let steps = prepared.steps();
        if !steps.is_empty() && steps.iter().all(|step| story.ended_before(step)) {
            continue;
        }
        // Nothing was lost, and what is new may be anybody's.
        if action.is_none() && weight == Weight::Nothing && story.may_be_of_others(prepared.steps()) {
            new.extend(prepared.steps().iter().map(|step| step.path.as_path().to_owned()));
            continue;
        }
        match weight {
            // Nothing was lost.
            Weight::New if prepared.steps().iter().all(|step| step.deed == RestoreAction::Remove) => {
                if permissions.new == New::Remove {
                    removable.push((store, snapshot, prepared));
                    continue;
                }
                made.push(made_in_words(environment, &case, &prepared, story));
                continue;
            }
            // What was lost before counts more than what makes itself again.
            Weight::MadeAgain => {
                made_again.get_or_insert((store, snapshot, moment, prepared));
                continue;
            }
            Weight::Nothing | Weight::New | Weight::Work => {}
        }
        // Nothing is kept of what never ran, or what somebody has put back already.
        let is_doubtful = |step: &Step| step.since == Since::Doubtful;
        let is_told = story.may_have_run()
            && (!story.asked || story.ended.is_some() || prepared.steps().iter().any(is_doubtful));
        // A further undo has nothing to say of what only is new.
        let is_lost = prepared.steps().iter().any(|step| step.deed != RestoreAction::Remove);
        if (is_lost || store.taken_back().next().is_none()) && !prepared.steps().is_empty() && is_told {
            let words = in_words(environment, &case, &prepared);
            if prepared.steps().iter().all(|step| step.since == Since::Later) {
                passed_over.push(words);
                continue;
            }
            if is_lost && case.keeps_work(&prepared) {
                held_up.push(words.clone());
            }
            passed_over.push(words);
            kept.get_or_insert((store, snapshot, moment, prepared));
        }
    }
    if let Some((store, snapshot, moment, prepared)) = made_again.filter(|_| kept.is_none()) {
        ledgers.not_before_lost(environment, &stores, snapshot, Some(snapshot))?;
        let case = RestoreTerms { ground: store.ground, snapshot, moment, permissions };
        let mut others = ledgers.unsaved_after(environment, &stores, snapshot);
        others.extend(lost.unwrap_or_default());
        others.extend(earlier_session(&mut ledgers, snapshot)?);
        return restore(environment, prepared, &case, &others, output);
    }
    if let Some((store, snapshot, moment, prepared)) = kept {
        ledgers.not_before_lost(environment, &stores, snapshot, Some(snapshot))?;
        let case = RestoreTerms { ground: store.ground, snapshot, moment, permissions };
        let mut others = ledgers.unsaved_after(environment, &stores, snapshot);
        others.extend(lost.unwrap_or_default());
        others.extend_from_slice(passed_over.get(1..).unwrap_or_default());
        return restore(environment, prepared, &case, &others, output);
    }
    for (store, snapshot) in added.into_iter().take(TRIES) {
        let story = ledgers.of(environment, snapshot);
        let case = RestoreTerms { ground: store.ground, snapshot, moment: story.moment(), permissions };
        if !story.may_have_run() {
            continue;
        }
        let (prepared, _) = store.prepare(environment, &mut ledgers, snapshot)?;
        if prepared.steps().is_empty() || story.left_repository(&prepared, snapshot) {
            continue;
        }
        // Of one that was asked about only its end shows that it ran, or a user who wants all of it back.
        if story.may_be_by_hand() && !story.is_wanted_by(permissions) {
            passed_over.push(unanswered_in_words(environment, &case, &prepared));
            continue;
        }
        // A new name in a repository is taken from it as it was given: nothing is removed with it.
        let steps = prepared.steps();
        let is_only_new = steps.iter().all(|step| step.deed == RestoreAction::Remove)
            && steps.iter().any(|step| in_repository(step).is_none());
        if is_only_new && permissions.new == New::Keep {
            let is_made = |step: &Step| !story.ended_before(step) && !step.since.is_changed();
            if prepared.steps().iter().any(is_made) {
                made.push(made_in_words(environment, &case, &prepared, story));
            }
            continue;
        }
        if case.weight(environment, &prepared) != Weight::Nothing {
            removable.push((store, snapshot, prepared));
            break;
        }
    }
    if let Some((store, snapshot, prepared)) = removable.into_iter().max_by_key(|(_, one, _)| one.snapshot.at)
    {
        let moment = ledgers.of(environment, snapshot).moment();
        let case = RestoreTerms { ground: store.ground, snapshot, moment, permissions };
        ledgers.not_before_lost(environment, &stores, snapshot, Some(snapshot))?;
        let mut others = ledgers.unsaved_after(environment, &stores, snapshot);
        others.extend(lost.unwrap_or_default());
        others.extend(std::mem::take(&mut passed_over));
        let is_unseen = ledgers.of(environment, snapshot).is_partly_unseen(store, snapshot);
        others.extend(is_unseen.then(|| unseen(snapshot)));
        others.extend(earlier_session(&mut ledgers, snapshot)?);
        return restore(environment, prepared, &case, &others, output);
    }
    // What was begun with tells the session, where nothing was saved for any action.
    let is_meant = |one: &Listed| match choice {
        UndoChoice::NewestOf(folder) => session(one) == Some(folder.as_str()),
        UndoChoice::Newest | UndoChoice::Named(_) => one.snapshot.place.is_some(),
    };
    let all = stores.iter().flat_map(|store| store.all.iter().map(move |one| (store, one)));
    let found = all.filter(|(_, one)| is_meant(one)).max_by_key(|(_, one)| one.snapshot.at);
    let newest = found.map(|(_, newest)| newest);
    if let Some(newest) = newest {
        ledgers.not_before_lost(environment, &stores, newest, None)?;
    }
    let unsaved =
        newest.map(|newest| ledgers.unsaved_after(environment, &stores, newest)).unwrap_or_default();
    let is_unseen = |(store, newest): &(&Opened<'_>, &Listed)| {
        ledgers.of(environment, newest).is_partly_unseen(store, newest)
    };
    found.filter(is_unseen).iter().for_each(|(_, newest)| log(&wrapped(&unseen(newest))));
    unsaved.iter().chain(lost.iter().flatten()).chain(&passed_over).for_each(|one| log(&wrapped(one)));
    made.iter().take(TOLD).for_each(|one| log(&wrapped(one)));
    kept_as_new(&new).iter().for_each(|one| log(&wrapped(one)));
    let whose = match choice {
        UndoChoice::NewestOf(_) => "session",
        UndoChoice::Newest | UndoChoice::Named(_) => "workspace",
    };
    let hint = if made.is_empty() {
        "`checkrein snapshot list` lists the snapshots; `checkrein snapshot restore` goes back to any of them"
    } else {
        "`checkrein undo --remove-new` removes what the newest of these calls made"
    };
    Err(CommandError::user(
        format!("no action of this {whose} for which anything was saved is left to take back"),
        hint,
    ))
}

/// Refuses to take back an older action for a person who has said yes before they saw that a newer one stays.
fn not_the_newest(
    environment: &HostEnvironment,
    held_up: &[String],
    case: &RestoreTerms<'_>,
) -> Result<(), CommandError> {
    let snapshot = case.snapshot;
    if held_up.is_empty() || case.permissions.consent != RestoreConsent::Given {
        return Ok(());
    }
    held_up.iter().for_each(|one| log(&wrapped(one)));
    let id = snapshot.id;
    let words = cut(&plain(&snapshot.snapshot.reason), 60);
    Err(CommandError::user(
        format!(
            "a newer action is kept, and what could be taken back is older: snapshot {id}  {}  {words}",
            time(snapshot.snapshot.at)
        ),
        format!(
            "{} takes the older one back",
            command_at(environment, case.ground, &format!("undo {id} --yes"))
        ),
    ))
}

/// A workspace with its snapshots.
pub(super) struct Opened<'a> {
    pub(super) ground: &'a RestoreContext,
    pub(super) all: Vec<Listed>,
    undone: BTreeMap<SnapshotId, Option<SnapshotId>>,
}

impl<'a> Opened<'a> {
    /// A workspace with the snapshots that it has now.
    pub(super) fn at(ground: &'a RestoreContext) -> Result<Self, CommandError> {
        let all = ground.store.snapshots()?;
        let undone = restored(&ground.store, &all);
        Ok(Self { ground, all, undone })
    }

    /// Whether the action of a snapshot was taken back, and that not taken back again.
    pub(super) fn is_undone(&self, snapshot: &Listed) -> bool {
        self.undone.get(&snapshot.id).copied().flatten().is_some()
    }

    /// What it takes to take back the action of a snapshot alone, and what is to be said of remotes that stay.
    pub(super) fn prepare(
        &self,
        environment: &HostEnvironment,
        ledgers: &mut Stories,
        snapshot: &Listed,
    ) -> Result<(Box<Prepared>, Vec<String>), CommandError> {
        let moment = ledgers.of(environment, snapshot).moment();
        let mut prepared = self.ground.prepare(snapshot.id, &[], moment)?;
        let sees_all = ledgers.of(environment, snapshot).looked == Looked::Everywhere;
        prepared.distrust_look(|step| !sees_all || self.ground.ignores(step));
        if let Some(sources) = ledgers.sources(environment, snapshot) {
            prepared.limit_sources(sources);
        }
        // They may have done themselves what they were asked about.
        if ledgers.of(environment, snapshot).may_be_by_hand() {
            prepared.distrust_words();
        } else {
            prepared.trust_logs();
        }
        if let ActionEndTime::Ended(_) = moment {
            prepared.excuse(snapshot.id, &self.all_restores(snapshot.id))?;
        }
        // What an undo took back stays taken back; `rollback` to what it saved is the way forward.
        let is_around = |gone: &Gone| gone.back_to < snapshot.id && snapshot.id < gone.saved_as;
        prepared.leave_taken_back(&self.taken_back().filter(is_around).collect::<Vec<_>>())?;
        let later = self.all.iter().filter(|one| is_action(one) && one.id > snapshot.id);
        prepared.leave_made_later(&later.map(|one| one.id).collect::<Vec<_>>())?;
        let remotes = ledgers.remotes(environment, snapshot);
        let remotes = leave_remotes(environment, self.ground, &mut prepared, &remotes, snapshot.id);
        Ok((prepared, remotes))
    }

    /// What was gone back to and not forward again.
    fn taken_back(&self) -> impl Iterator<Item = Gone> {
        let gone = |(of, before): (&SnapshotId, &Option<SnapshotId>)| {
            Some(Gone { back_to: *of, saved_as: (*before)? })
        };
        self.undone.iter().filter_map(gone)
    }

    /// Every restore that was done, there and back: as a whole, and of parts to what stood before the action of snapshot `of` or earlier.
    fn all_restores(&self, of: SnapshotId) -> Vec<Gone> {
        let gone = |one: &Listed| match one.snapshot.occasion {
            SnapshotReason::BeforeRestore { of: back_to, extent }
                if self.ground.store.is_carried_out(one.id)
                    && (extent == RestoreExtent::Whole || back_to <= of) =>
            {
                Some(Gone { back_to, saved_as: one.id })
            }
            _ => None,
        };
        self.all.iter().filter_map(gone).collect()
    }
}

pub(super) fn is_action(one: &Listed) -> bool {
    one.snapshot.occasion == SnapshotReason::BeforeAction
}

pub(super) fn session(one: &Listed) -> Option<&str> {
    one.snapshot.place.as_ref().map(|place| place.session.as_str())
}

/// The snapshots of actions that are not taken back yet: newest session first, newest action first.
fn open<'a>(stores: &'a [Opened<'a>]) -> Vec<(&'a Opened<'a>, &'a Listed)> {
    let mut newest: HashMap<Option<&str>, u64> = HashMap::new();
    let mut found = Vec::new();
    for store in stores {
        for one in store.all.iter().filter(|one| is_action(one)) {
            let last = newest.entry(session(one)).or_default();
            *last = one.snapshot.at.max(*last);
            if !store.is_undone(one) {
                found.push((store, one));
            }
        }
    }
    let order =
        |(_, one): &(&Opened<'_>, &Listed)| (newest.get(&session(one)).copied(), one.snapshot.at, one.id);
    found.sort_by_key(|one| std::cmp::Reverse(order(one)));
    found
}

/// The snapshots of the action that is meant, newest first.
fn named<'a>(
    stores: &'a [Opened<'a>],
    wanted: &str,
) -> Result<Vec<(&'a Opened<'a>, &'a Listed)>, CommandError> {
    let name = |one: &Listed| one.snapshot.place.as_ref().and_then(|place| place.action.clone());
    for store in stores {
        let actions = || store.all.iter().rev().filter(|one| is_action(one));
        // A number stands for the snapshot of the nearest workspace that has one.
        if let Some(one) = actions().find(|one| one.id.to_string() == wanted) {
            return Ok(vec![(store, one)]);
        }
        let names: Vec<String> = actions().filter_map(name).collect();
        if wanted.is_empty() || names.iter().any(|name| name.starts_with(wanted)) {
            let meant = NamedKind::Action.only(wanted, names.iter().map(String::as_str))?;
            let is_meant = |one: &&Listed| name(one).as_deref() == Some(meant);
            return Ok(actions().filter(is_meant).map(|one| (store, one)).collect());
        }
    }
    Err(CommandError::user(
        format!("nothing was saved before an action `{}`", plain(wanted)),
        "`checkrein snapshot list` lists the actions that something was saved for",
    ))
}

/// What ledgers say of actions, each read once.
#[derive(Default)]
pub(super) struct Stories(HashMap<String, Told>);

/// What one ledger says of its actions.
#[derive(Default)]
struct Told {
    stories: HashMap<String, Story>,
    /// What could not be saved before an action, oldest first.
    unsaved: Vec<Unsaved>,
    /// The repositories that an action only added to by a push.
    remotes: HashMap<String, Vec<PathBuf>>,
    /// From where an action may have taken what it wrote.
    sources: HashMap<String, ActionSources>,
    /// When an action was reviewed or ended last, in milliseconds since 1970; 0 when none was.
    acted: u64,
}

impl Told {
    /// The actions before which something was not saved, as far as they may have run.
    fn unsaved_newest_first(&self) -> impl Iterator<Item = &Unsaved> {
        let may_have_run =
            |one: &&Unsaved| self.stories.get(&one.action).copied().is_none_or(Story::may_have_run);
        self.unsaved.iter().rev().filter(may_have_run)
    }

    fn has_ended(&self, one: &Unsaved) -> bool {
        self.stories.get(&one.action).is_some_and(|story| story.ended.is_some())
    }
}

impl Stories {
    pub(super) fn of(&mut self, environment: &HostEnvironment, snapshot: &Listed) -> Story {
        let told = self.told(environment, snapshot);
        let action = snapshot.snapshot.place.as_ref().and_then(|place| place.action.as_ref());
        let story = action.zip(told).and_then(|(action, told)| told.stories.get(action).copied());
        story.unwrap_or_default()
    }

    /// The repositories that the action of a snapshot only added to by a push.
    fn remotes(&mut self, environment: &HostEnvironment, snapshot: &Listed) -> Vec<PathBuf> {
        let action = snapshot.snapshot.place.as_ref().and_then(|place| place.action.as_ref());
        let told = self.told(environment, snapshot);
        action.zip(told).and_then(|(action, told)| told.remotes.get(action).cloned()).unwrap_or_default()
    }

    /// From where the action of a snapshot may have taken what it wrote, as it was reviewed.
    fn sources(&mut self, environment: &HostEnvironment, snapshot: &Listed) -> Option<ActionSources> {
        let action = snapshot.snapshot.place.as_ref().and_then(|place| place.action.as_ref());
        let told = self.told(environment, snapshot);
        action.zip(told).and_then(|(action, told)| told.sources.get(action).cloned())
    }

    /// What was not saved for the action of a snapshot and for those after it in its session, and cannot be taken back, in words.
    fn unsaved_after(
        &mut self,
        environment: &HostEnvironment,
        stores: &[Opened<'_>],
        snapshot: &Listed,
    ) -> Vec<String> {
        let Some(told) = self.told(environment, snapshot) else { return Vec::new() };
        let own = snapshot.snapshot.place.as_ref().and_then(|place| place.action.as_deref());
        let is_meant = |one: &&Unsaved| one.at > snapshot.snapshot.at || Some(one.action.as_str()) == own;
        let is_left = |one: &&Unsaved| one.is_left(stores, told.has_ended(one));
        told.unsaved_newest_first().filter(is_meant).filter(is_left).take(TOLD).map(Unsaved::line).collect()
    }

    /// Refuses to take anything back where the session of a snapshot destroyed the only copy of something later, and that was not saved for
    /// it: a user who names no action means that one. `left` is the action that is left to take back, if one is.
    fn not_before_lost(
        &mut self,
        environment: &HostEnvironment,
        stores: &[Opened<'_>],
        snapshot: &Listed,
        left: Option<&Listed>,
    ) -> Result<(), CommandError> {
        let Some(told) = self.told(environment, snapshot) else { return Ok(()) };
        let is_newer = |one: &&Unsaved| left.is_none_or(|left| one.at > left.snapshot.at);
        let mut lost = told.unsaved_newest_first().filter(is_newer);
        match lost.find(|one| one.is_lost(stores, told.has_ended(one))) {
            None => Ok(()),
            Some(lost) => Err(lost.refuse_older(environment, stores, left)),
        }
    }

    /// What is to be said where the action that would be taken back is not of the newest session that did something here. A user who
    /// answered before they saw it did not mean that one.
    fn earlier_session(
        &mut self,
        environment: &HostEnvironment,
        stores: &[Opened<'_>],
        snapshot: &Listed,
        permissions: Permissions,
    ) -> Result<Option<String>, CommandError> {
        let Some(newest) = self.newest_session(environment, stores, snapshot) else { return Ok(None) };
        let said = format!(
            "of the newest session `{}` nothing is left to take back; this action is of an earlier one",
            plain(newest.as_str())
        );
        if permissions.consent == RestoreConsent::Given {
            let id = snapshot.id;
            let words = cut(&plain(&snapshot.snapshot.reason), 60);
            return Err(CommandError::user(
                format!("{said}: snapshot {id}  {}  {words}", time(snapshot.snapshot.at)),
                format!(
                    "{} takes it back",
                    at_store(environment, stores, snapshot, &format!("undo {id} --yes"))
                ),
            ));
        }
        Ok(Some(said))
    }

    /// The session that acted last in one of these workspaces, by the ledgers; `None` when that is the one of the snapshot. What is written
    /// into a ledger when nothing was done, such as a halt and its end, does not count.
    fn newest_session(
        &mut self,
        environment: &HostEnvironment,
        stores: &[Opened<'_>],
        snapshot: &Listed,
    ) -> Option<FolderName> {
        let own = session(snapshot);
        let mut newest =
            self.told(environment, snapshot).map_or(0, |told| told.acted).max(snapshot.snapshot.at);
        let mut found = None;
        let all = checkrein_session::sessions(&environment.state).unwrap_or_default();
        let is_later = |one: &SessionSummary| one.last.is_some_and(|last| last.0 > snapshot.snapshot.at);
        let is_here = |one: &SessionSummary| {
            let state = SessionLedger::of_folder(&environment.state, one.folder.clone()).state().ok()?;
            let workspace = std::fs::canonicalize(state.beginning()?.workspace.as_str()).ok()?;
            stores.iter().any(|store| store.ground.store.workspace() == workspace).then_some(())
        };
        for one in all.into_iter().filter(|one| one.actions > 0 && is_later(one)) {
            if Some(one.folder.as_str()) == own || is_here(&one).is_none() {
                continue;
            }
            let acted = self.told_by(environment, one.folder.as_str()).acted;
            if acted > newest {
                newest = acted;
                found = Some(one.folder);
            }
        }
        found
    }

    /// What the ledger of the session of a snapshot says; `None` when it was taken for none.
    fn told(&mut self, environment: &HostEnvironment, snapshot: &Listed) -> Option<&Told> {
        session(snapshot).map(|session| self.told_by(environment, session))
    }

    /// What the ledger of a session says, by the name of its folder.
    fn told_by(&mut self, environment: &HostEnvironment, session: &str) -> &Told {
        self.0.entry(session.to_owned()).or_insert_with(|| {
            let folder = FolderName::on_disk(session.as_ref());
            let path = folder.map(|folder| SessionLedger::of_folder(&environment.state, folder).path());
            let records = path.and_then(|path| lines(&path).ok());
            read(records.into_iter().flatten().filter_map(|line| line.ok()?.record))
        })
    }
}

/// A command about a snapshot of one of these workspaces, as it works where the user stands.
fn at_store(
    environment: &HostEnvironment,
    stores: &[Opened<'_>],
    snapshot: &Listed,
    command: &str,
) -> String {
    let store = stores.iter().find(|store| store.all.iter().any(|one| std::ptr::eq(one, snapshot)));
    store.map_or_else(
        || format!("`checkrein {command}`"),
        |store| command_at(environment, store.ground, command),
    )
}

/// Whether what an action starts goes on after it.
fn goes_on(review: &ReviewRecord) -> bool {
    let is_asked_for =
        review.input.get("run_in_background").and_then(serde_json::Value::as_bool) == Some(true);
    let is_left =
        |effect: &Effect| effect.kind == EffectKind::ProcessSpawn && effect.nature == Nature::Background;
    is_asked_for || review.effects.iter().any(is_left)
}

/// Whether no file of the work tree was to lose anything by an action.
fn spares_files(review: &ReviewRecord) -> bool {
    let is_of_git = |effect: &Effect| {
        let path = effect.target.path().map(AbsolutePath::as_str).unwrap_or_default();
        path.ends_with("/.git") || path.contains("/.git/")
    };
    let changes = review.effects.iter().filter(|effect| effect.kind.file_change().is_some());
    review.further_file_operations == 0
        && changes.filter(|effect| !is_of_git(effect)).all(|effect| effect.stake == Stake::Nothing)
}

/// What an action was going to do to a repository.
fn of_git(review: &ReviewRecord) -> OfGit {
    let is = |kind: EffectKind| review.effects.iter().any(|effect| effect.kind == kind);
    let loses_there = review.effects.iter().any(|effect| effect.nature == Nature::LostAtRemote);
    if loses_there
        || is(EffectKind::VcsLocalLoss)
        || is(EffectKind::VcsHistoryRewrite)
        || is(EffectKind::Opaque)
    {
        OfGit::Loses
    } else if is(EffectKind::VcsRemoteUpdate) {
        OfGit::Pushes
    } else if review.effects.iter().any(|effect| takes_names(effect.nature)) {
        OfGit::Keeps
    } else {
        OfGit::Grows
    }
}

/// Whether an effect of this nature takes a name in a repository, or what was staged.
fn takes_names(nature: Nature) -> bool {
    matches!(
        nature,
        Nature::KeptForAWhile
            | Nature::ClearedAway
            | Nature::KeptWithoutItsName
            | Nature::OfRemote
            | Nature::LostAtRemote
    )
}

/// Everything that bears on how actions ended.
fn read(records: impl Iterator<Item = Record>) -> Told {
    let Told { mut stories, mut unsaved, mut remotes, mut sources, mut acted } = Told::default();
    // Those of which nobody knows yet how they ended.
    let mut running: Vec<String> = Vec::new();
    // All of them, in the order in which they began.
    let mut begun: Vec<String> = Vec::new();
    // Something that goes on in the background may write at any time.
    let mut lingers = false;
    // Of a client that tells of ends, one that is missing was not reached: somebody said no, or interrupted it.
    let mut tells_ends = false;
    for record in records {
        let at = record.at.0;
        tells_ends |= matches!(record.body, RecordBody::Outcome(_));
        let begins = match &record.body {
            RecordBody::Review(_) => Some(true),
            RecordBody::Event { name, .. } if TURN_END_EVENTS.contains(&name.as_str()) => Some(true),
            // A user who speaks, or leaves, may have ended the call.
            RecordBody::Prompt { .. } => Some(false),
            RecordBody::Event { name, .. } if name == "SessionEnd" => Some(false),
            _ => None,
        };
        if let Some(goes_on) = begins {
            for action in running.drain(..) {
                let story = stories.entry(action).or_default();
                story.followed.get_or_insert(at);
                story.went_on |= goes_on;
            }
        }
        if matches!(record.body, RecordBody::Review(_) | RecordBody::Outcome(_)) {
            acted = at.max(acted);
        }
        match record.body {
            RecordBody::Review(review) => {
                let story = stories.entry(review.action_id.0.clone()).or_default();
                *story = Story {
                    reviewed: at,
                    alone: !lingers,
                    goes_on: goes_on(&review),
                    asked: review.verdict == VerdictKind::Escalate,
                    refused: matches!(review.verdict, VerdictKind::Block | VerdictKind::Halt)
                        || review.answered.is_some(),
                    opaque: review.effects.iter().any(|effect| effect.kind == EffectKind::Opaque),
                    of_git: of_git(&review),
                    spares_files: spares_files(&review),
                    ..Story::default()
                };
                unsaved.extend(Unsaved::of(&review, at));
                sources.insert(review.action_id.0.clone(), sources_of(&review));
                let added_to = added_to(&review);
                if !added_to.is_empty() {
                    remotes.insert(review.action_id.0.clone(), added_to);
                }
                lingers |= story.goes_on;
                begun.push(review.action_id.0.clone());
                running.push(review.action_id.0);
            }
            RecordBody::Outcome(outcome) => {
                running.retain(|action| *action != outcome.action_id.0);
                let place = begun.iter().rposition(|action| *action == outcome.action_id.0);
                let together = place.and_then(|place| begun.get(place..)).unwrap_or_default();
                if together.len() > 1 {
                    for action in together {
                        stories.entry(action.clone()).or_default().alone = false;
                    }
                }
                let story = stories.entry(outcome.action_id.0).or_default();
                let is_all =
                    |look: &VerificationRecord| look.looked == ObservedExtent::Whole && look.gaps.is_empty();
                if outcome.verification.as_deref().is_some_and(is_all) {
                    story.looked = Looked::Everywhere;
                }
                // What was seen and not predicted may be a loss.
                if outcome.verification.as_deref().is_some_and(|look| !look.surprises.is_empty()) {
                    (story.of_git, story.spares_files) = (OfGit::Loses, false);
                }
                story.took = outcome.duration_ms;
                story.ended = Some(at);
            }
            RecordBody::Event { name, fields } if name == "PermissionDenied" => {
                if let Some(action) = fields.get("tool_use_id").and_then(serde_json::Value::as_str) {
                    stories.entry(action.to_owned()).or_default().refused = true;
                }
            }
            // All calls of the answer have ended; of those that ran it was told before.
            RecordBody::Event { name, .. } if name == "PostToolBatch" => {
                for action in &running {
                    let story = stories.entry(action.clone()).or_default();
                    story.refused |= story.asked;
                }
            }
            _ => {}
        }
    }
    stories.values_mut().for_each(|story| story.went_on &= !tells_ends);
    Told { stories, unsaved, remotes, sources, acted }
}
