//! Which steps of a restore are done, and which are left: what somebody changed since, what is new, what is made again by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checkrein_facts::{Entry, FileText, TreeDifferences, VersionState, World as _};
use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::{
    ActionEndTime, FileTime, InIndex, Listed, NewFileOrigin, Node, OtherNames, Prepared, RestoreAction, Root,
    SavedPart, SavedPath, Since, Step,
};

use super::compiled::is_compiled;
use super::git::{
    MERGED, directory_of, ends_merge, is_branch_of_others, is_list_of_references, is_log_moved_from_restored,
    is_note_of_merge, is_pushed_from_here, only_gathers, only_lacks_entries, only_lacks_stashes, taken_away,
};
use super::{Changed, GuardPlaces, New, Permissions, RestoreTerms, differences, held};
use crate::terminal::{cut, plain};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// What is taken off the time of a snapshot, in milliseconds (ours): the clock of the file system and ours tick apart.
const TICK: u64 = 20;

/// How long after its snapshot an action is taken for the one that wrote the index, in seconds (ours): what it stages it stages at once.
const SOON: i64 = 5;

/// What is said of what was there before the action, but elsewhere.
const MOVED_LATER: &str =
    "was not there, but is older than the action; who put it there is not known, and it stays";

/// What is said behind the reason of what stays where the option of `undo` puts it back.
pub const FORCED: &str = "; `--force` puts it back all the same";

/// What steps are done, and which are left, with the reason.
pub struct Sorted {
    /// What is left, and why.
    pub left: Vec<(Step, String)>,
    /// Trees that are made again and are left as they are.
    pub(super) made_again: BTreeSet<PathBuf>,
    /// What a person would have to permit, so that nothing is left that permission can bring.
    pub(super) needed: Permissions,
    /// Where no permission helps.
    pub(super) stays: BTreeSet<SavedPath>,
    /// Whether something stays that may be the only copy of what went elsewhere.
    pub(super) keeps_copies: bool,
}

/// Why a step is not done, and what would permit it.
struct Objection {
    why: String,
    /// `None` where no permission helps.
    permit: Option<Permit>,
}

/// Who made something that was not there before an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    /// The action.
    Action,
    /// Somebody after it.
    Other,
    /// Somebody before it, elsewhere: who brought it here is not known.
    Earlier,
    /// It is not known.
    Unknown,
}

/// A permission that a person gives by an option.
#[derive(Debug, Clone, Copy)]
enum Permit {
    /// `--force`
    Overwrite,
    /// `--remove-new`
    RemoveNew,
    /// `--with-guard-files`
    Guard,
}

impl Permit {
    fn given_to(self, permissions: &mut Permissions) {
        match self {
            Self::Overwrite => permissions.changed = Changed::Overwrite,
            Self::RemoveNew => permissions.new = New::Remove,
            Self::Guard => permissions.guard = GuardPlaces::PutBack,
        }
    }
}

impl Permissions {
    /// The options that give these permissions, as they are written behind a command.
    pub fn options(&self) -> String {
        let force = (self.changed == Changed::Overwrite).then_some(" --force");
        let new = (self.new == New::Remove).then_some(" --remove-new");
        let guard = (self.guard == GuardPlaces::PutBack).then_some(" --with-guard-files");
        force.into_iter().chain(new).chain(guard).collect()
    }
}

/// How much a restore brings back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Nothing.
    Nothing,
    /// It only removes what is new.
    New,
    /// Only what is made again by itself.
    MadeAgain,
    /// Something that was lost or changed.
    Work,
}

impl RestoreTerms<'_> {
    /// Leaves out what is not permitted.
    pub fn sort(
        &self,
        prepared: &mut Prepared,
        held: impl Fn(&Step) -> bool,
    ) -> Result<Sorted, CommandError> {
        prepared.look_around()?;
        if self.permissions.changed == Changed::Overwrite {
            prepared.force_other_names();
        }
        let apart = prepared.rejoin();
        let mut objections: BTreeMap<SavedPath, String> = BTreeMap::new();
        let mut needed = self.permissions;
        let mut stays = BTreeSet::new();
        let mut keeps_copies = false;
        for step in prepared.steps() {
            if let Some(Objection { why, permit }) = self.objection(prepared, step, &held) {
                // Another name of it goes back with all others, and nothing is lost with that.
                let is_refused = permit.is_none_or(|permit| matches!(permit, Permit::Guard));
                if !is_refused
                    && prepared.is_written_elsewhere(step)
                    && self.writes_group(prepared, step, &held)
                {
                    continue;
                }
                if permit.is_none() {
                    stays.insert(step.path.clone());
                }
                keeps_copies |= !step.since.is_changed() && self.is_only_copy(prepared, step, &held);
                objections.insert(step.path.clone(), why);
                needed = self.with(needed).needed_for(prepared, step, &held);
            }
        }
        for (path, database) in prepared.steps().iter().filter_map(|step| {
            let database = database_beside(&step.path)?;
            prepared.steps().iter().any(|other| other.path == database).then(|| (step.path.clone(), database))
        }) {
            // One without the other is worse than both as they are.
            for (one, other) in [(&path, &database), (&database, &path)] {
                if objections.contains_key(one) && !objections.contains_key(other) {
                    let why = format!("belongs to `{}`, which is kept", one.as_path().display());
                    objections.insert(other.clone(), why);
                }
            }
        }
        self.objections_to_directories(prepared, &mut objections);
        // Half of what is made again is worth nothing: of such a tree all goes back, or nothing does.
        let tops: BTreeMap<SavedPath, PathBuf> = prepared
            .steps()
            .iter()
            .filter_map(|step| Some((step.path.clone(), self.made_again(step)?)))
            .collect();
        let made_again: BTreeSet<PathBuf> = tops
            .iter()
            .filter(|(path, _)| objections.contains_key(path))
            .map(|(_, top)| top.clone())
            .collect();
        let doubts: Vec<OtherNames> = apart.iter().map(|(_, fate)| *fate).collect();
        let mut left: Vec<(Step, String)> =
            apart.into_iter().filter_map(|(step, fate)| Some((step, fate.left()?))).collect();
        prepared.retain(|step| {
            if tops.get(&step.path).is_some_and(|top| made_again.contains(top)) {
                return false;
            }
            match objections.remove(&step.path) {
                Some(why) => {
                    left.push((step.clone(), why));
                    false
                }
                None => true,
            }
        });
        if !made_again.is_empty() || prepared.fates().chain(doubts).any(OtherNames::takes_force) {
            needed.changed = Changed::Overwrite;
        }
        for (step, way) in prepared.take_barred() {
            let way = way.strip_prefix(self.ground.workspace.as_str()).unwrap_or(&way);
            let why = format!("`{}` stands in the way", way.display());
            left.push((step, why));
        }
        Ok(Sorted { left, made_again, needed, stays, keeps_copies })
    }

    /// Whether a name of the file of a step is put back that it does not have any more.
    fn writes_group(&self, prepared: &Prepared, step: &Step, held: &impl Fn(&Step) -> bool) -> bool {
        let of = step.then.as_ref().and_then(Node::links);
        prepared.steps().iter().any(|other| {
            other.then.as_ref().and_then(Node::links) == of
                && prepared.other_names(other).is_some()
                && self.objection(prepared, other, held).is_none()
        })
    }

    /// The same with other permissions.
    fn with(&self, permissions: Permissions) -> RestoreTerms<'_> {
        RestoreTerms { ground: self.ground, snapshot: self.snapshot, moment: self.moment, permissions }
    }

    /// The permissions with which a step would be done; as they are where none helps.
    fn needed_for(&self, prepared: &Prepared, step: &Step, held: &impl Fn(&Step) -> bool) -> Permissions {
        let mut permissions = self.permissions;
        // Behind one objection may stand another. Each permission is given once.
        for _ in 0..3 {
            let Some(objection) = self.with(permissions).objection(prepared, step, held) else {
                return permissions;
            };
            let Some(permit) = objection.permit else { return self.permissions };
            permit.given_to(&mut permissions);
        }
        permissions
    }

    /// The permissions with which everything would be done that a permission can bring.
    pub fn needed(&self, environment: &HostEnvironment, prepared: &Prepared) -> Permissions {
        let held = held(environment);
        prepared
            .steps()
            .iter()
            .fold(self.permissions, |needed, step| self.with(needed).needed_for(prepared, step, &held))
    }

    /// Whether something that was lost or changed stays so, beside the places of the guard.
    pub fn keeps_work(&self, prepared: &Prepared) -> bool {
        let is_work = |step: &Step| {
            step.deed != RestoreAction::Remove
                && self.ground.sparing.touched_by(step).is_none()
                && !prepared.has_same_entries(step)
                && step.since != Since::Later
        };
        prepared.steps().iter().any(is_work)
    }

    /// A directory goes when everything in it does, and stays with what is kept in it.
    fn objections_to_directories(&self, prepared: &Prepared, objections: &mut BTreeMap<SavedPath, String>) {
        let is_directory = |step: &&Step| {
            step.deed == RestoreAction::Remove && step.now.as_ref().is_some_and(Node::is_directory)
        };
        let going: BTreeSet<&SavedPath> = prepared
            .steps()
            .iter()
            .filter(|step| step.deed == RestoreAction::Remove)
            .map(|step| &step.path)
            .collect();
        // What is in a directory stands behind it.
        for step in prepared.steps().iter().rev().filter(is_directory) {
            let below = || {
                let paths = prepared.steps().iter().map(|step| step.path.as_path());
                paths.filter(|path| path.parent() == Some(step.path.as_path())).map(Path::to_owned).collect()
            };
            // What is closed to its owner was opened for the look that the steps come from.
            let names: Vec<PathBuf> = fs::read_dir(step.path.as_path())
                .map_or_else(|_| below(), |names| names.flatten().map(|entry| entry.path()).collect());
            let goes = |path: &PathBuf| {
                let path = SavedPath::from(path.as_path());
                going.contains(&path) && !objections.contains_key(&path)
            };
            if !names.iter().all(goes) {
                objections.entry(step.path.clone()).or_insert_with(|| "something in it is kept".to_owned());
            } else if !names.is_empty()
                && self.is_new_and_kept(step)
                && self.ground.sparing.touched_by(step).is_none()
            {
                objections.remove(&step.path);
            }
        }
    }

    /// What a restore brings back.
    pub fn weight(&self, environment: &HostEnvironment, prepared: &Prepared) -> Weight {
        let held = held(environment);
        let weight = |step: &Step| {
            // An index of git with the same entries is what it was: git writes it anew whenever somebody looks.
            if self.objection(prepared, step, &held).is_some() || prepared.has_same_entries(step) {
                Weight::Nothing
            } else if self.is_only_new(step) || self.is_new_elsewhere(step) {
                Weight::New
            } else if self.made_again(step).is_some() {
                Weight::MadeAgain
            } else {
                Weight::Work
            }
        };
        if prepared.regains_names() {
            return Weight::Work;
        }
        let mut strongest = Weight::Nothing;
        for step in prepared.steps() {
            strongest = strongest.max(weight(step));
            if strongest == Weight::Work {
                break;
            }
        }
        strongest
    }

    /// The top of the tree around a step that version control ignores and something makes again, where that was not the place that the
    /// action was about.
    fn made_again(&self, step: &Step) -> Option<PathBuf> {
        let workspace = self.ground.store.workspace();
        let top = self.ground.generated.outermost(workspace, step.path.as_path())?;
        let is_meant = |root: &Root| root.path.as_path().starts_with(&top);
        let is_left = !self.snapshot.snapshot.roots.iter().any(is_meant) && self.ground.ignores(step);
        is_left.then_some(top)
    }

    /// The innermost place of the snapshot around a step.
    fn root_around(&self, step: &Step) -> Option<&Root> {
        let roots = self.snapshot.snapshot.roots.iter();
        let around = roots.filter(|root| step.path.as_path().starts_with(root.path.as_path()));
        around.max_by_key(|root| root.path.as_path().as_os_str().len())
    }

    /// Whether a step removes something that no prediction named: the action made it beside what it was about, and nothing was lost.
    fn is_only_new(&self, step: &Step) -> bool {
        step.deed == RestoreAction::Remove
            && self
                .root_around(step)
                .is_some_and(|root| root.node.is_some() && root.selection == SavedPart::NotIgnored)
    }

    /// Whether a step removes what a call made outside the workspace that nobody could see through: its snapshot is of the workspace, where
    /// something may have been lost, and of the other place it only says that nothing stood there.
    fn is_new_elsewhere(&self, step: &Step) -> bool {
        let is_whole = |root: &Root| root.selection == SavedPart::NotIgnored;
        step.deed == RestoreAction::Remove
            && !step.path.as_path().starts_with(self.ground.store.workspace())
            && self.root_around(step).is_some_and(|root| root.node.is_none())
            && self.snapshot.snapshot.roots.iter().any(is_whole)
    }

    /// Whether the objection to a step is that something is new which nobody is known to have made.
    fn is_new_and_kept(&self, step: &Step) -> bool {
        self.is_only_new(step) && self.permissions.new == New::Keep
    }

    /// Why a step is not done; `None` when it is.
    fn objection(
        &self,
        prepared: &Prepared,
        step: &Step,
        held: &impl Fn(&Step) -> bool,
    ) -> Option<Objection> {
        let Self { snapshot, permissions, moment, .. } = self;
        if permissions.guard == GuardPlaces::Spare
            && let Some(role) = self.ground.sparing.touched_by(step)
        {
            let why = format!("{role}; only the user puts it back, with `--with-guard-files`");
            return Some(Objection { why, permit: Some(Permit::Guard) });
        }
        if prepared.takes_back_restore(step) {
            return None;
        }
        if step.since.is_changed()
            && let Some(what) = taken_away(prepared, snapshot, step)
        {
            let why = format!("{what} was made or changed since, and `undo` never removes it");
            return Some(Objection { why, permit: None });
        }
        if let Some(words) = prepared.changed_by_other(&step.path) {
            let words = format!("another session changed it since (`{}`)", cut(&plain(words), 60));
            // What was not there before is the other one's as much as what it wrote into it.
            if step.deed == RestoreAction::Remove {
                return Some(Objection { why: format!("{words}, so it stays"), permit: None });
            }
            if permissions.changed == Changed::Keep {
                let why = format!("{words}{FORCED}");
                return Some(Objection { why, permit: Some(Permit::Overwrite) });
            }
        }
        if step.since == Since::Doubtful && is_branch_of_others(prepared, snapshot, step) {
            let why =
                "nobody was told when the action ended, and somebody may have worked on the branch since";
            return Some(Objection { why: why.to_owned(), permit: None });
        }
        let is_kept = permissions.changed == Changed::Keep;
        // A file that stood nowhere before the action, and is as the action left it, was made by the action. This holds where the action
        // was to make something or to change everything, or where version control brought the file and can bring it again.
        let was_made = || {
            let mut around = snapshot
                .snapshot
                .roots
                .iter()
                .filter(|root| step.path.as_path().starts_with(root.path.as_path()));
            matches!(moment, ActionEndTime::Ended(_) | ActionEndTime::Open(_) | ActionEndTime::Followed(_))
                && (around.any(|root| stood_nowhere(root, step) || root.selection == SavedPart::Everything)
                    || held(step)
                    || is_compiled(prepared, step)
                    || match step.origin {
                        NewFileOrigin::Made => true,
                        NewFileOrigin::Came => prepared.is_elsewhere(step),
                        NewFileOrigin::Unknown => false,
                    })
        };
        if step.deed == RestoreAction::Remove
            && let Some(objection) = self.objection_to_removing(prepared, step, held)
        {
            return Some(objection);
        }
        if step.deed == RestoreAction::Remove && permissions.new == New::Remove {
            None
        } else if step.since.is_changed()
            && is_kept
            && !misleads(prepared, snapshot, step)
            && !prepared.has_same_entries(step)
        {
            Some(if step.since == Since::Later {
                // To offer that it is put back would be to offer that somebody's work goes for nothing.
                let why = "changed since, when the action had ended and left it as it was".to_owned();
                Objection { why, permit: None }
            } else {
                let why = format!("changed since{FORCED}");
                Objection { why, permit: Some(Permit::Overwrite) }
            })
        } else if step.since == Since::Doubtful && is_kept && !self.is_no_loss(prepared, step, held) {
            let why =
                format!("nobody was told when the action ended, so this may have been done since{FORCED}");
            Some(Objection { why, permit: Some(Permit::Overwrite) })
        } else if step.deed == RestoreAction::Remove
            && permissions.new == New::Keep
            && !was_made()
            && (is_kept || self.made_again(step).is_none())
            && !prepared.is_log_of_restored(step)
        {
            let why = "was not there; `--remove-new` removes it".to_owned();
            Some(Objection { why, permit: Some(Permit::RemoveNew) })
        } else {
            None
        }
    }

    /// Why something that was not there is not removed, where somebody else may have made it or changed it: force puts back what was
    /// there, and never removes what was not. Its removal is offered only where the action is known to have made it. To permit that removes
    /// nothing that somebody else is known to have made.
    fn objection_to_removing(
        &self,
        prepared: &Prepared,
        step: &Step,
        held: &impl Fn(&Step) -> bool,
    ) -> Option<Objection> {
        if self.is_only_copy(prepared, step, held) {
            let why = if step.since.is_changed() {
                MOVED_LATER
            } else {
                "was not there, and is older than the snapshot: it may have been moved here, and have no other copy, so it stays"
            };
            return Some(Objection { why: why.to_owned(), permit: None });
        }
        let is_in_doubt = match step.since {
            Since::Changed | Since::Later => !misleads(prepared, self.snapshot, step),
            Since::Doubtful => !self.is_no_loss(prepared, step, held),
            Since::Untouched | Since::Unknown => false,
        };
        if !is_in_doubt {
            return None;
        }
        let is_forced = self.permissions.changed == Changed::Overwrite;
        let maker = self.maker(step);
        let is_no_work = || self.made_again(step).is_some() || prepared.is_log_of_restored(step);
        let is_permitted = match (self.permissions.new, maker) {
            (New::Remove, Maker::Action | Maker::Unknown) => true,
            (New::Remove, Maker::Other | Maker::Earlier) => is_no_work(),
            (New::Keep, _) => is_forced && is_no_work(),
        };
        if is_permitted {
            return None;
        }
        let way = "`--remove-new` removes it";
        Some(match (maker, step.since) {
            (Maker::Action, Since::Doubtful) => Objection {
                why: format!(
                    "was not there; the action was about this place, but nobody was told when it ended; {way}"
                ),
                permit: Some(Permit::RemoveNew),
            },
            (Maker::Action, Since::Changed | Since::Later | Since::Untouched | Since::Unknown) => Objection {
                why: format!("the action made it, and it was changed since; {way}"),
                permit: Some(Permit::RemoveNew),
            },
            (Maker::Other, _) => {
                Objection { why: "was made after the action had ended, and stays".to_owned(), permit: None }
            }
            (Maker::Earlier, _) => Objection { why: MOVED_LATER.to_owned(), permit: None },
            (Maker::Unknown, Since::Doubtful) => Objection {
                why: "was not there; nobody was told when the action ended, so who made it is not known"
                    .to_owned(),
                permit: None,
            },
            (Maker::Unknown, Since::Changed | Since::Later | Since::Untouched | Since::Unknown) => {
                Objection {
                    why: "was not there, and came or changed since; who made it is not known".to_owned(),
                    permit: None,
                }
            }
        })
    }

    /// Whether something that was not there may be the only copy of what an action moved here without anybody seeing it, and is never
    /// removed: it is older than the snapshot, which does not hold what it holds, and neither does version control.
    pub fn is_only_copy(&self, prepared: &Prepared, step: &Step, held: &impl Fn(&Step) -> bool) -> bool {
        let (RestoreAction::Remove, Some(Node::File { length: 1.., meta, .. })) = (step.deed, &step.now)
        else {
            return false;
        };
        // The clock of the file system ticks more slowly than ours.
        let saved = UNIX_EPOCH + Duration::from_millis(self.snapshot.snapshot.at.saturating_sub(TICK));
        let is_older = match checkrein_files::born(step.path.as_path()) {
            Some(born) => born < saved,
            None => file_time(saved).is_some_and(|saved| meta.modified < saved),
        };
        is_older
            && !prepared.is_elsewhere(step)
            && !prepared.has_other_names(step)
            && !is_log_moved_from_restored(prepared, self.snapshot, step)
            && !held(step)
    }

    /// Who made what was not there: at the places that the action was about it is the action, elsewhere and afterwards the time tells.
    fn maker(&self, step: &Step) -> Maker {
        let is_about = |root: &Root| {
            (stood_nowhere(root, step) || root.selection == SavedPart::Everything)
                && step.path.as_path().starts_with(root.path.as_path())
        };
        let is_meant = self.snapshot.snapshot.roots.iter().any(is_about);
        let otherwise = if is_meant { Maker::Action } else { Maker::Unknown };
        let made = || checkrein_files::born(step.path.as_path()).and_then(file_time);
        match self.moment {
            ActionEndTime::None | ActionEndTime::At(_) | ActionEndTime::Open(None) => otherwise,
            ActionEndTime::Open(Some(latest)) | ActionEndTime::Followed(latest) => match made() {
                Some(made) if made > latest => Maker::Other,
                Some(_) | None => otherwise,
            },
            ActionEndTime::Ended(period) => match (made(), period.began) {
                (Some(made), _) if made > period.ended => Maker::Other,
                (Some(made), Some(began)) if made < began => Maker::Earlier,
                (Some(_), Some(_)) => Maker::Action,
                (None, _) | (Some(_), None) => otherwise,
            },
        }
    }

    /// Whether nothing is lost when a step is done whoever changed what stands there: it is empty, the content stays or is somewhere else.
    fn is_no_loss(&self, prepared: &Prepared, step: &Step, held: &impl Fn(&Step) -> bool) -> bool {
        // What somebody closed on purpose must not be open for others by itself.
        if step.opens() {
            return false;
        }
        let is_empty = matches!(&step.now, Some(Node::File { length: 0, .. }));
        // Of a branch or a tag the name is the work: the commit that it stands for is known under others anyway.
        let is_reference = || {
            directory_of(self.snapshot, step)
                .is_some_and(|directory| step.path.as_path().starts_with(directory.join("refs")))
        };
        step.deed == RestoreAction::Adjust
            || is_empty
            || prepared.is_taken_from_elsewhere(step) && !is_reference()
            || self.is_brought_back(prepared, step, held)
            || self.is_difference(prepared, step, held)
            || is_list_of_references(prepared, self.snapshot, step)
            || is_compiled(prepared, step)
            || prepared.has_same_entries(step)
            || self.is_staged_nowhere_else(prepared, step)
            || only_gathers(prepared, self.snapshot, step)
            || is_pushed_from_here(prepared, self.snapshot, step)
            || only_lacks_stashes(prepared, self.snapshot, step)
            || only_lacks_entries(prepared, self.snapshot, step)
            || is_note_of_merge(prepared, self.snapshot, step, self.soon())
            || prepared.may_be_committed() && held(step)
            || self.is_left_by_merge(prepared, step)
    }

    /// Whether what a step removes comes back elsewhere with this restore, as it is or out of an archive, or what it writes over is nothing but
    /// a packed copy.
    fn is_brought_back(&self, prepared: &Prepared, step: &Step, held: &impl Fn(&Step) -> bool) -> bool {
        let is_done = |other: &Step| {
            other.deed != RestoreAction::Remove && self.objection(prepared, other, held).is_none()
        };
        (step.then.is_some() || self.maker(step) == Maker::Action) && prepared.is_brought_back(step, is_done)
    }

    /// Whether a file holds nothing but what `git diff` says of texts that stand, come back, or are in the last commit.
    fn is_difference(&self, prepared: &Prepared, step: &Step, held: &impl Fn(&Step) -> bool) -> bool {
        let Some(Node::File { content, length, .. }) = &step.now else { return false };
        if *length > differences::LONGEST || step.then.is_none() && self.maker(step) != Maker::Action {
            return false;
        }
        let text_of = |content| String::from_utf8(prepared.content(content).ok()?).ok();
        let Some(text) = text_of(content).filter(|text| text.starts_with("diff --git ")) else {
            return false;
        };
        let world = self.ground.world();
        let place = step.path.as_path().to_str().and_then(AbsolutePath::new);
        let Some(root) = place.and_then(|place| world.repository(&place)).map(|found| found.root) else {
            return false;
        };
        differences::is_of_known(&text, |name| {
            let place = root.join(name);
            let committed = match world.committed_text(&root, "HEAD", name) {
                FileText::Whole(text) => Some(text),
                FileText::Beginning(_) | FileText::Unknown => None,
            };
            let own = Path::new(place.as_str());
            let back = match prepared.steps().iter().find(|other| other.path.as_path() == own) {
                Some(other) if other.path == step.path || prepared.is_made_of_others(other) => None,
                Some(other) => match &other.then {
                    Some(Node::File { content, .. }) if self.objection(prepared, other, held).is_none() => {
                        text_of(content)
                    }
                    Some(
                        Node::File { .. } | Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. },
                    )
                    | None => None,
                },
                None => checkrein_files::read_text(own, differences::LONGEST).ok(),
            };
            committed.into_iter().chain(back).collect()
        })
    }

    /// Whether a file holds just what git wrote there, with the marks of conflicts, when it could not finish a merge that is taken back with it:
    /// it keeps a tree of that.
    fn is_left_by_merge(&self, prepared: &Prepared, step: &Step) -> bool {
        let Some(Node::File { content, .. }) = &step.now else { return false };
        let Some(path) = step.path.as_path().to_str().and_then(AbsolutePath::new) else { return false };
        let world = self.ground.world();
        let Some(repository) = world.repository(&path) else { return false };
        let name = step.path.as_path().strip_prefix(repository.root.as_str()).ok().and_then(Path::to_str);
        let Some(name) = name.filter(|_| ends_merge(prepared, Path::new(repository.directory.as_str())))
        else {
            return false;
        };
        match world.committed_text(&repository.root, MERGED, name) {
            FileText::Whole(left) => prepared.content(content).is_ok_and(|now| now == left.as_bytes()),
            FileText::Beginning(_) | FileText::Unknown => false,
        }
    }

    /// Until when what was done counts as right after the snapshot, in seconds since 1970.
    fn soon(&self) -> i64 {
        let saved = i64::try_from(self.snapshot.snapshot.at / 1_000).unwrap_or(i64::MAX);
        saved.saturating_add(SOON)
    }

    /// Whether an index holds nothing, where it is not what it was, that is not in the last commit or in the work tree as well: what is staged
    /// from the work tree counts only right after the snapshot, since a person may have staged it later. So do the sides of a conflict, which
    /// are all committed.
    fn is_staged_nowhere_else(&self, prepared: &Prepared, step: &Step) -> bool {
        let Some(changed) = prepared.changed_in_index(step) else { return false };
        let directory = step.path.as_path().parent().filter(|directory| directory.ends_with(".git"));
        let root = directory.and_then(Path::parent).and_then(Path::to_str).and_then(AbsolutePath::new);
        let Some(root) = root else { return false };
        let world = self.ground.world();
        let TreeDifferences::At(beside) = world.differences(&root, "", "HEAD") else { return false };
        let is_committed = |name: &str| !beside.iter().any(|(path, _)| path == name);
        let modified = step.now.as_ref().map_or(i64::MAX, |node| node.meta().modified.seconds);
        let is_soon = modified <= self.soon();
        changed.iter().all(|(name, held)| {
            let Some(name) = name.to_str() else { return false };
            let place = root.join(name);
            match held {
                InIndex::Conflict => is_soon && directory.is_some_and(|git| ends_merge(prepared, git)),
                InIndex::File => {
                    is_committed(name) || is_soon && world.version(&place) == VersionState::TrackedClean
                }
                InIndex::Nothing => is_committed(name) || is_soon || world.entry(&place) == Entry::Missing,
            }
        })
    }
}

fn file_time(at: SystemTime) -> Option<FileTime> {
    let since = at.duration_since(UNIX_EPOCH).ok()?;
    Some(FileTime { seconds: i64::try_from(since.as_secs()).ok()?, nanoseconds: since.subsec_nanos() })
}

/// Whether nothing can have stood where a step is, at or below a place: nothing stood at the place, or something that was no directory.
fn stood_nowhere(root: &Root, step: &Step) -> bool {
    root.node.as_ref().is_none_or(|node| !node.is_directory() && step.path != root.path)
}

/// The database whose log a file is by its name, as SQLite gives it.
fn database_beside(path: &SavedPath) -> Option<SavedPath> {
    let path = path.as_path();
    let name = path.file_name()?.to_str()?;
    let database = ["-wal", "-journal"].iter().find_map(|end| name.strip_suffix(end))?;
    Some(SavedPath::from(path.with_file_name(database)))
}

/// Whether the index of a repository would only mislead as it is: its references go back, and what it was compared with with them.
fn misleads(prepared: &Prepared, snapshot: &Listed, step: &Step) -> bool {
    let path = step.path.as_path();
    let is_index = path.file_name().is_some_and(|name| name == "index");
    let Some(repository) = path.parent().filter(|_| is_index) else { return false };
    let holds =
        |name: &str| snapshot.snapshot.roots.iter().any(|root| root.path.as_path() == repository.join(name));
    let goes_back = |other: &Step| {
        let other_path = other.path.as_path();
        !other.since.is_changed()
            && (other_path == repository.join("HEAD") || other_path.starts_with(repository.join("refs")))
    };
    holds("HEAD") && prepared.steps().iter().any(goes_back)
}
