//! What the ledgers of sessions tell of their actions: when they ran, and what bears on taking them back.

use std::collections::HashMap;
use std::path::PathBuf;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::rollback::added_to;
use checkrein_ledger::{FolderName, lines};
use checkrein_protocol::{
    AbsolutePath, Effect, EffectKind, Nature, ObservedExtent, Record, RecordBody, ReviewRecord, Stake,
    VerificationRecord,
};
use checkrein_review::VerdictKind;
use checkrein_session::{OpenCalls, SessionLedger, SessionSummary, TURN_END_EVENTS};
use checkrein_snapshot::{ActionSources, Listed};

use super::sources::sources_of;
use super::story::{Looked, OfGit, Story};
use super::unsaved::Unsaved;
use super::{Opened, TOLD, at_store, session};
use crate::commands::restore::{Permissions, RestoreConsent};
use crate::render::time;
use crate::terminal::{cut, plain};

/// What ledgers say of actions, each read once.
#[derive(Default)]
pub(in crate::commands) struct Stories(HashMap<String, Told>);

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
    pub(in crate::commands) fn of(&mut self, environment: &HostEnvironment, snapshot: &Listed) -> Story {
        let told = self.told(environment, snapshot);
        let action = snapshot.snapshot.place.as_ref().and_then(|place| place.action.as_ref());
        let story = action.zip(told).and_then(|(action, told)| told.stories.get(action).copied());
        story.unwrap_or_default()
    }

    /// The repositories that the action of a snapshot only added to by a push.
    pub(in crate::commands) fn remotes(
        &mut self,
        environment: &HostEnvironment,
        snapshot: &Listed,
    ) -> Vec<PathBuf> {
        let action = snapshot.snapshot.place.as_ref().and_then(|place| place.action.as_ref());
        let told = self.told(environment, snapshot);
        action.zip(told).and_then(|(action, told)| told.remotes.get(action).cloned()).unwrap_or_default()
    }

    /// From where the action of a snapshot may have taken what it wrote, as it was reviewed.
    pub(super) fn sources(
        &mut self,
        environment: &HostEnvironment,
        snapshot: &Listed,
    ) -> Option<ActionSources> {
        let action = snapshot.snapshot.place.as_ref().and_then(|place| place.action.as_ref());
        let told = self.told(environment, snapshot);
        action.zip(told).and_then(|(action, told)| told.sources.get(action).cloned())
    }

    /// What was not saved for the action of a snapshot and for those after it in its session, and cannot be taken back, in words.
    pub(super) fn unsaved_after(
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
    pub(super) fn not_before_lost(
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
    pub(super) fn earlier_session(
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
            let mut whole = stores.iter().filter(|store| store.ground.is_meant_as_a_whole());
            whole.any(|store| store.ground.store.workspace() == workspace).then_some(())
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

/// Whether a call did nothing but add to a repository elsewhere, so that nothing of it can be taken back.
pub(in crate::commands) fn only_pushes(review: &ReviewRecord) -> bool {
    of_git(review) == OfGit::Pushes
        && review.further_file_operations == 0
        && !review.effects.iter().any(|effect| effect.saved)
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
    let mut open = OpenCalls::default();
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
        // Only these are words of the client. What was just followed by something else may have been interrupted, or is for whoever knows
        // better to force.
        let is_told = matches!(&record.body, RecordBody::Event { name, .. } if matches!(name.as_str(), "PermissionDenied" | "PostToolBatch"));
        for action in open.take(&record).into_iter().filter(|_| is_told) {
            stories.entry(action.0).or_default().refused = true;
        }
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
                let early = review.snapshot.as_ref().and_then(|snapshot| snapshot.begun);
                *story = Story {
                    reviewed: early.map_or(at, |early| early.0),
                    alone: !lingers,
                    goes_on: goes_on(&review),
                    asked: review.verdict == VerdictKind::Escalate,
                    refused: review.verdict_at_door() >= VerdictKind::Block,
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
            _ => {}
        }
    }
    stories.values_mut().for_each(|story| story.went_on &= !tells_ends);
    Told { stories, unsaved, remotes, sources, acted }
}
