//! `checkrein undo`: takes back what an action destroyed.

mod others;
mod places;
mod sources;
mod story;
mod told;
mod unsaved;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use checkrein_ledger::FolderName;
use checkrein_snapshot::{
    ActionEndTime, Gone, Listed, Prepared, RestoreAction, RestoreExtent, Since, SnapshotId, SnapshotReason,
    Step,
};
use checkrein_world::find_workspace;

use self::others::others_after;
use self::places::leave_remotes;
pub(super) use self::places::{grounds, spare_remotes};
pub(super) use self::story::Story;
use self::story::{Looked, in_repository};
use self::told::LossReach;
pub(super) use self::told::{Stories, only_pushes};
use self::words::{in_words, kept_as_new, made_in_words, pushed_in_words, unanswered_in_words, unseen};
use super::name_choice::{NamedKind, is_named};
use super::restore::git::is_only_noted;
use super::restore::{
    New, Permissions, RestoreConsent, RestoreContext, RestoreTerms, Unfinished, Weight, command_at, gone,
    restore,
};
use super::stopped_calls::{self, Newest};
use super::{ExitStatus, OutputForm};
use crate::render::time;
use crate::terminal::{cut, log, plain, wrapped};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::rollback::restored;

/// How many actions are tried at most until one is found of which there is something to take back (ours).
const TRIES: usize = 50;

/// Of how many actions at most it is told that they cannot be taken back (ours).
const TOLD: usize = 3;

/// Which action is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoChoice<'a> {
    /// The last one in this workspace or below it that destroyed something and was not taken back yet, of whichever session.
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
        UndoChoice::Named(wanted) => (named(environment, &stores, wanted)?, Some(wanted)),
        UndoChoice::Newest => (open(&stores), None),
        UndoChoice::NewestOf(folder) => {
            let mut of_session = open(&stores);
            of_session.retain(|(_, snapshot)| session(snapshot) == Some(folder.as_str()));
            (of_session, None)
        }
    };
    // Who chose a session or an action knows whose it is.
    let whose = |ledgers: &mut Stories, snapshot: &Listed| match choice {
        UndoChoice::NewestOf(_) | UndoChoice::Named(_) => None,
        UndoChoice::Newest => ledgers.whose(environment, &stores, snapshot),
    };
    let mut ledgers = Stories::default();
    if choice == UndoChoice::Newest {
        ledgers.reach = LossReach::Project;
    }
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
        let of_it = |step: &&Step| !prepared.has_same_entries(step) && step.since != Since::Later;
        if action.is_none() && story.only_pushed(prepared.steps().iter().filter(of_it)) {
            passed_over.push(pushed_in_words(environment, &case));
            continue;
        }
        // What later calls did to a repository in which this one lost nothing is theirs.
        if action.is_none() && story.left_repository(&prepared, snapshot) {
            continue;
        }
        passed_over.extend(remotes);
        // What it left as it was is no work of it, and an index that git wrote anew meanwhile is nothing to take back.
        // Nor is what git noted of a call that left everything where it stood.
        let stands =
            |step: &&Step| !prepared.has_same_entries(step) && !is_only_noted(&prepared, snapshot, step);
        let of_others: Vec<&Step> = prepared.steps().iter().filter(stands).collect();
        let is_left_alone =
            of_others.iter().all(|step| step.since == Since::Later && step.deed != RestoreAction::Remove);
        let has_lost_objects = || case.lost_objects(Some(&story.period())).map(|lost| lost > 0);
        if action.is_none()
            && is_left_alone
            && !prepared.steps().is_empty()
            && !(of_others.is_empty() && has_lost_objects()?)
        {
            if !of_others.is_empty() {
                passed_over.push(in_words(environment, &case, &prepared));
            }
            continue;
        }
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
                passed_over.extend(whose(&mut ledgers, snapshot));
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
        others.extend(whose(&mut ledgers, snapshot));
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
        // Of one that was asked about only its end shows that it ran, or just what it was to leave, or a user who wants all of it back.
        if story.may_be_by_hand() && !prepared.shows_its_words() && !story.is_wanted_by(permissions) {
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
        others.extend(whose(&mut ledgers, snapshot));
        return restore(environment, prepared, &case, &others, output);
    }
    // What was begun with tells the session, where nothing was saved for any action.
    let is_meant = |one: &Listed| match choice {
        UndoChoice::NewestOf(folder) => session(one) == Some(folder.as_str()),
        UndoChoice::Newest | UndoChoice::Named(_) => one.snapshot.place.is_some(),
    };
    let meant = stores.iter().filter(|store| store.ground.is_meant_as_a_whole());
    let all = meant.flat_map(|store| store.all.iter().map(move |one| (store, one)));
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
    let reach = match choice {
        UndoChoice::NewestOf(_) => "session",
        UndoChoice::Newest | UndoChoice::Named(_) => "project",
    };
    let hint = if made.is_empty() {
        "`checkrein snapshot list` lists the snapshots; `checkrein snapshot restore` goes back to any of them"
    } else {
        "`checkrein undo --remove-new` removes what the newest of these calls made"
    };
    Err(CommandError::user(format!("nothing that was saved in this {reach} is left to take back"), hint))
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
        let story = ledgers.of(environment, snapshot);
        if story.may_be_by_hand() && (story.was_left_unanswered() || !prepared.shows_its_words()) {
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
        for (store, actions) in others_after(environment, ledgers, self, snapshot) {
            prepared.note_others(&store, &actions)?;
        }
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

/// The snapshots of actions that are not taken back yet, newest first, of all sessions: a user means what happened last, whoever did it.
fn open<'a>(stores: &'a [Opened<'a>]) -> Vec<(&'a Opened<'a>, &'a Listed)> {
    let of_store = |store: &'a Opened<'a>| store.all.iter().map(move |one| (store, one));
    let is_open = |(store, one): &(&Opened<'_>, &Listed)| {
        is_action(one) && store.ground.means(one) && !store.is_undone(one)
    };
    let mut found: Vec<_> = stores.iter().flat_map(of_store).filter(is_open).collect();
    found.sort_by_key(|(_, one)| std::cmp::Reverse((one.snapshot.at, one.id)));
    found
}

/// The snapshots of the action that is meant, newest first.
fn named<'a>(
    environment: &HostEnvironment,
    stores: &'a [Opened<'a>],
    wanted: &str,
) -> Result<Vec<(&'a Opened<'a>, &'a Listed)>, CommandError> {
    let name = |one: &Listed| one.snapshot.place.as_ref().and_then(|place| place.action.clone());
    let nothing = || {
        CommandError::user(
            format!("nothing was saved before an action `{}`", plain(wanted)),
            "`checkrein snapshot list` lists the actions that something was saved for",
        )
    };
    // `SESSION:NUMBER`, as `log` shows records.
    if stopped_calls::is_record(wanted) {
        let meant = stopped_calls::found(environment, wanted, Newest::Any)?;
        let is_meant = |one: &&Listed| {
            is_action(one)
                && session(one) == Some(meant.folder.as_str())
                && name(one).as_deref() == Some(meant.review.action_id.as_str())
        };
        let of_store = |store: &'a Opened<'a>| store.all.iter().rev().map(move |one| (store, one));
        let found: Vec<_> = stores.iter().flat_map(of_store).filter(|(_, one)| is_meant(one)).collect();
        return if found.is_empty() { Err(nothing()) } else { Ok(found) };
    }
    for store in stores {
        let actions = || store.all.iter().rev().filter(|one| is_action(one) && store.ground.means(one));
        // A number stands for the snapshot of the nearest workspace that has one.
        if let Some(one) = actions().find(|one| one.id.to_string() == wanted) {
            return Ok(vec![(store, one)]);
        }
        let names: Vec<String> = actions().filter_map(name).collect();
        if wanted.is_empty() || names.iter().any(|name| is_named(name, wanted)) {
            let meant = NamedKind::Action.only(wanted, names.iter().map(String::as_str))?;
            let is_meant = |one: &&Listed| name(one).as_deref() == Some(meant);
            let sessions: BTreeSet<&str> = actions().filter(is_meant).filter_map(session).collect();
            if sessions.len() > 1 {
                // Which of them is meant its records tell; where they are gone, their snapshots do.
                stopped_calls::found(environment, meant, Newest::Any)?;
                return Err(of_several(meant, actions().filter(is_meant)));
            }
            return Ok(actions().filter(is_meant).map(|one| (store, one)).collect());
        }
    }
    Err(nothing())
}

/// The error where snapshots of several sessions are called by one action.
fn of_several<'a>(action: &str, found: impl Iterator<Item = &'a Listed>) -> CommandError {
    let ids: Vec<String> = found.map(|one| format!("`{}`", one.id)).collect();
    CommandError::user(
        format!("several sessions have an action `{}`: snapshots {}", plain(action), ids.join(", ")),
        "name one of them by the number of its snapshot",
    )
}
