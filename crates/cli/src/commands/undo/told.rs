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
use super::{Opened, TOLD, session};
use crate::commands::show::title;
use crate::terminal::plain;

/// What ledgers say of actions, each read once.
#[derive(Default)]
pub(in crate::commands) struct Stories {
    told: HashMap<String, Told>,
    /// Whose later losses stand before what is taken back.
    pub(super) reach: LossReach,
}

/// Whose losses count as newer than an action that may be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LossReach {
    /// Those of its own session: the user named that one.
    #[default]
    OwnSession,
    /// Those of every session of the project: the user means what was done last, by whichever agent.
    Project,
}

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
        let own = snapshot.snapshot.place.as_ref().and_then(|place| place.action.as_deref());
        let mut found = Vec::new();
        for folder in self.concerned(environment, stores, snapshot) {
            let is_own = Some(folder.as_str()) == session(snapshot);
            let told = self.told_by(environment, &folder);
            let is_meant =
                |one: &&Unsaved| one.at > snapshot.snapshot.at || is_own && Some(one.action.as_str()) == own;
            let is_left = |one: &&Unsaved| one.is_left(stores, told.has_ended(one));
            let left = told.unsaved_newest_first().filter(is_meant).filter(is_left);
            found.extend(left.take(TOLD).map(|one| (one.at, one.line())));
        }
        found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        found.into_iter().take(TOLD).map(|(_, line)| line).collect()
    }

    /// Refuses to take anything back where a session that counts (`reach`) destroyed the only copy of something later, and that was not
    /// saved for it: a user who names no action means that one. `left` is the action that is left to take back, if one is.
    pub(super) fn not_before_lost(
        &mut self,
        environment: &HostEnvironment,
        stores: &[Opened<'_>],
        snapshot: &Listed,
        left: Option<&Listed>,
    ) -> Result<(), CommandError> {
        let folders = self.concerned(environment, stores, snapshot);
        for folder in &folders {
            self.told_by(environment, folder);
        }
        let lost = folders.iter().filter_map(|folder| self.told.get(folder)).filter_map(|told| {
            let is_newer = |one: &&Unsaved| left.is_none_or(|left| one.at > left.snapshot.at);
            let mut lost = told.unsaved_newest_first().filter(is_newer);
            lost.find(|one| one.is_lost(stores, told.has_ended(one)))
        });
        match lost.max_by_key(|one| one.at) {
            None => Ok(()),
            Some(lost) => Err(lost.refuse_older(environment, stores, left)),
        }
    }

    /// The sessions whose losses count beside an action: its own, and as far as the reach goes those that did something here since.
    fn concerned(
        &self,
        environment: &HostEnvironment,
        stores: &[Opened<'_>],
        snapshot: &Listed,
    ) -> Vec<String> {
        let own = session(snapshot).map(str::to_owned);
        let others = match self.reach {
            LossReach::OwnSession => Vec::new(),
            LossReach::Project => others_since(environment, stores, snapshot),
        };
        own.into_iter().chain(others.into_iter().map(|one| one.folder.as_str().to_owned())).collect()
    }

    /// What is to be said where another session did something here since: whose call is taken back. `None` where its session acted last.
    /// What is written into a ledger when nothing was done, such as a halt and its end, does not count.
    pub(super) fn whose(
        &mut self,
        environment: &HostEnvironment,
        stores: &[Opened<'_>],
        snapshot: &Listed,
    ) -> Option<String> {
        let own = session(snapshot)?;
        let mut newest =
            self.told(environment, snapshot).map_or(0, |told| told.acted).max(snapshot.snapshot.at);
        let mut found = None;
        for one in others_since(environment, stores, snapshot) {
            let acted = self.told_by(environment, one.folder.as_str()).acted;
            if acted > newest {
                newest = acted;
                found = Some(one);
            }
        }
        let other = found?;
        let folder = FolderName::on_disk(own.as_ref());
        let own_client = folder.and_then(|folder| {
            let all = checkrein_session::sessions(&environment.state).unwrap_or_default();
            all.into_iter().find(|one| one.folder == folder)?.client
        });
        Some(format!(
            "this call is of session {}; session {} did something here since, and what it changed stays",
            named_session(own, own_client.as_deref()),
            named_session(other.folder.as_str(), other.client.as_deref())
        ))
    }

    /// What the ledger of the session of a snapshot says; `None` when it was taken for none.
    fn told(&mut self, environment: &HostEnvironment, snapshot: &Listed) -> Option<&Told> {
        session(snapshot).map(|session| self.told_by(environment, session))
    }

    /// What the ledger of a session says, by the name of its folder.
    fn told_by(&mut self, environment: &HostEnvironment, session: &str) -> &Told {
        self.told.entry(session.to_owned()).or_insert_with(|| {
            let folder = FolderName::on_disk(session.as_ref());
            let path = folder.map(|folder| SessionLedger::of_folder(&environment.state, folder).path());
            let records = path.and_then(|path| lines(&path).ok());
            read(records.into_iter().flatten().filter_map(|line| line.ok()?.record))
        })
    }
}

/// A session as it is told to people: its name, and its agent where that is known.
fn named_session(folder: &str, client: Option<&str>) -> String {
    let agent = client.map(|_| format!(" ({})", plain(title(client)))).unwrap_or_default();
    format!("`{}`{agent}", plain(folder))
}

/// The other sessions that worked in one of these workspaces and wrote something into their ledgers after a snapshot.
fn others_since(
    environment: &HostEnvironment,
    stores: &[Opened<'_>],
    snapshot: &Listed,
) -> Vec<SessionSummary> {
    let own = session(snapshot);
    let is_here = |one: &SessionSummary| {
        let state = SessionLedger::of_folder(&environment.state, one.folder.clone()).state().ok()?;
        let workspace = std::fs::canonicalize(state.beginning()?.workspace.as_str()).ok()?;
        let mut whole = stores.iter().filter(|store| store.ground.is_meant_as_a_whole());
        whole.any(|store| store.ground.store.workspace() == workspace).then_some(())
    };
    let mut all = checkrein_session::sessions(&environment.state).unwrap_or_default();
    all.retain(|one| {
        one.actions > 0
            && one.last.is_some_and(|last| last.0 > snapshot.snapshot.at)
            && Some(one.folder.as_str()) != own
            && is_here(one).is_some()
    });
    all
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
