//! When an action ran, and whether it did, as the ledger of its session says.

use std::ops::RangeInclusive;
use std::time::UNIX_EPOCH;

use checkrein_snapshot::{
    ActionEndTime, ActionPeriod, FileTime, Listed, Prepared, RestoreAction, Root, SavedPart, Step,
};

use super::super::restore::git::moved_later;
use super::super::restore::{Changed, Permissions};
use super::Opened;

/// What is added to the time of an outcome where nobody looked what the action left behind, in milliseconds (ours): the clock of the
/// file system and that of the hook tick apart.
const TICK: u64 = 20;

/// What is taken off the start of a call as its client tells it, in milliseconds (ours).
const START_SLACK: u64 = 1_000;

/// What the ledger says of one action.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::commands) struct Story {
    /// When its review was written, in milliseconds since 1970.
    pub(super) reviewed: u64,
    /// How long it took, in milliseconds, as its client tells.
    pub(super) took: Option<u64>,
    /// Whether nothing else of its session ran at the same time.
    pub(super) alone: bool,
    /// When its outcome was written, in milliseconds since 1970.
    pub(super) ended: Option<u64>,
    /// When something else began in its session.
    pub(super) followed: Option<u64>,
    /// Whether its session went on by itself then, and never tells when a call ends: it had ended, and the hook looked what it had left.
    pub(super) went_on: bool,
    /// Whether something that it started goes on after it.
    pub(super) goes_on: bool,
    /// Whether a user was to be asked: then only what changed meanwhile shows that it may have run.
    pub(super) asked: bool,
    /// Whether it was refused by somebody.
    pub(super) refused: bool,
    /// Whether something in it could not be seen through, so that it may have changed anything.
    pub(super) opaque: bool,
    /// What it was going to do to a repository.
    pub(super) of_git: OfGit,
    /// Whether no file of the work tree was to lose anything by it.
    pub(super) spares_files: bool,
    /// Where it was looked for what it had changed.
    pub(super) looked: Looked,
}

/// What an action was going to do to a repository, as its review says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum OfGit {
    /// It may lose something of it, or nobody could see what it does.
    #[default]
    Loses,
    /// It sends something to a remote, and loses nothing here.
    Pushes,
    /// It loses nothing of it, and what it adds leaves every name as it was: it stages, commits, begins a branch.
    Grows,
    /// It loses nothing of it, but may take a name or what was staged.
    Keeps,
}

/// Where it was looked for what an action had changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Looked {
    /// Nowhere, or not everywhere.
    #[default]
    Partly,
    /// In the whole workspace.
    Everywhere,
}

impl Story {
    pub(in crate::commands) fn moment(&self) -> ActionEndTime {
        match (self.ended, self.followed) {
            (Some(ended), _) => file_time(ended + TICK).map_or(ActionEndTime::None, |at| {
                ActionEndTime::Ended(ActionPeriod { began: self.began(ended).and_then(file_time), ended: at })
            }),
            (None, Some(followed)) if self.went_on => {
                file_time(followed).map_or(ActionEndTime::Open(None), ActionEndTime::Followed)
            }
            (None, followed) => ActionEndTime::Open(followed.and_then(file_time)),
        }
    }

    /// From when to when it may have run, in milliseconds since 1970.
    pub(super) fn period(self) -> RangeInclusive<u64> {
        let ended = self.ended.or(self.followed).map_or(u64::MAX, |at| at.saturating_add(TICK));
        self.reviewed.saturating_sub(TICK)..=ended
    }

    /// When it began at the earliest: a user may have thought about it for a while after its review. `None` when something else ran
    /// meanwhile.
    fn began(self, ended: u64) -> Option<u64> {
        let started = self.took.map_or(0, |took| ended.saturating_sub(took).saturating_sub(START_SLACK));
        self.alone.then(|| self.reviewed.saturating_sub(TICK).max(started))
    }

    /// Whether a step would remove something that was made after the action had ended.
    pub(super) fn ended_before(self, step: &Step) -> bool {
        let made = || checkrein_files::born(step.path.as_path());
        let made_after = |ended: u64| {
            let since = made().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
            since.is_some_and(|since| since.as_millis() > u128::from(ended + TICK))
        };
        step.deed == RestoreAction::Remove && !self.goes_on && self.ended.is_some_and(made_after)
    }

    /// Whether the steps only remove files of which nothing shows that the action made them: nobody was told when it ended, or they were
    /// not made while it ran.
    pub(super) fn may_be_of_others(self, steps: &[Step]) -> bool {
        let made_meanwhile = |step: &Step| {
            let made = checkrein_files::born(step.path.as_path());
            let since = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
            self.ended.is_some()
                && since
                    .and_then(|since| u64::try_from(since.as_millis()).ok())
                    .is_none_or(|at| self.period().contains(&at))
        };
        !self.goes_on
            && !steps.is_empty()
            && steps.iter().all(|step| step.deed == RestoreAction::Remove && !made_meanwhile(step))
    }

    /// Whether all that is left of it is what git notes of a push: where branches of a remote stand, and which one is followed.
    pub(super) fn only_pushed<'a>(self, steps: impl Iterator<Item = &'a Step>) -> bool {
        let is_note = |place: &str| {
            let names = ["refs/remotes", "logs/refs/remotes", "config", "packed-refs", "FETCH_HEAD"];
            names.iter().any(|name| {
                place.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }) || ["refs", "logs", "logs/refs"].contains(&place)
        };
        let mut steps = steps.peekable();
        self.of_git == OfGit::Pushes
            && steps.peek().is_some()
            && steps.all(|step| in_repository(step).is_some_and(|place| is_note(&place)))
    }

    /// Whether it lost nothing, and all that differs is what later calls did, as the logs of the repository tell.
    pub(super) fn left_repository(self, prepared: &Prepared, snapshot: &Listed) -> bool {
        let is_meant = |step: &&Step| !self.spares_files || in_repository(step).is_some();
        let steps = prepared.steps().iter().filter(is_meant);
        self.of_git != OfGit::Loses
            && self.ended.is_some_and(|ended| moved_later(prepared, snapshot, steps, ended))
    }

    /// Whether nothing was to be lost by it, so that its snapshot only holds where nothing stood and the data of repositories to which it added.
    pub(super) fn only_adds(self, snapshot: &Listed) -> bool {
        let is_bookkeeping = |root: &Root| {
            root.node.is_none()
                || self.of_git == OfGit::Grows
                    && self.spares_files
                    && root.path.as_path().components().any(|part| part.as_os_str() == ".git")
        };
        !self.opaque && snapshot.snapshot.roots.iter().all(is_bookkeeping)
    }

    /// Whether it may have changed something outside the workspace that was not seen beforehand: nobody could see through it, or only what it
    /// was seen to make there is known beside the workspace as a whole.
    pub(super) fn is_partly_unseen(self, store: &Opened<'_>, snapshot: &Listed) -> bool {
        let roots = &snapshot.snapshot.roots;
        let workspace = store.ground.store.workspace();
        let is_whole = |root: &Root| root.selection == SavedPart::NotIgnored;
        let is_made_elsewhere =
            |root: &Root| root.node.is_none() && !root.path.as_path().starts_with(workspace);
        // With its references the work tree is saved for what version control does to it.
        let is_of_git = |root: &Root| root.path.as_path().ends_with(".git/HEAD");
        self.opaque
            || roots.iter().any(is_whole)
                && roots.iter().any(is_made_elsewhere)
                && !roots.iter().any(is_of_git)
    }

    /// Whether a user was asked about it and no end was told: they may have said no, and done it themselves.
    pub(super) fn may_be_by_hand(self) -> bool {
        self.asked && self.ended.is_none()
    }

    /// Whether a user was asked about it, something else came, and nothing tells that it had run before that: the answer was no, or it was ended
    /// before it could tell.
    pub(super) fn was_left_unanswered(self) -> bool {
        self.may_be_by_hand() && self.followed.is_some()
    }

    /// Whether a user wants it taken back though nothing but their asking shows that it ran: where a client tells of ends, one that was
    /// followed by something else did not.
    pub(super) fn is_wanted_by(self, permissions: Permissions) -> bool {
        permissions.changed == Changed::Overwrite && (self.followed.is_none() || self.went_on)
    }

    /// Whether it ran, as far as can be told: its end is told, or nobody was asked and nobody refused it.
    pub(super) fn has_run(self) -> bool {
        self.ended.is_some() || !self.refused && !self.asked
    }

    /// Whether it is not known that it did not run: a user who was asked may have said yes.
    pub(in crate::commands) fn may_have_run(self) -> bool {
        self.ended.is_some() || !self.refused
    }
}

/// The place of a step inside the data of git; `None` where it is about a file of the work tree.
pub(super) fn in_repository(step: &Step) -> Option<String> {
    let text = step.path.as_path().to_str()?;
    text.split_once("/.git/").map(|(_, place)| place.to_owned())
}

fn file_time(milliseconds: u64) -> Option<FileTime> {
    Some(FileTime {
        seconds: i64::try_from(milliseconds / 1_000).ok()?,
        nanoseconds: u32::try_from(milliseconds % 1_000 * 1_000_000).ok()?,
    })
}
