//! What is saved before it is lost, and what that changes.
//!
//! Pure like the rest: [`to_save`] says what would have to be saved, the edge saves it, and [`Forecast::judge`](crate::Forecast::judge) judges the action again
//! with the knowledge of what really is. What could not be saved changes nothing.

use checkrein_effects::is_read_through;
use checkrein_facts::HostPaths;
use checkrein_policy::{Config, Decision, VerdictKind, in_scope, location};
use checkrein_protocol::{
    AbsolutePath, Certainty, Depth, Effect, EffectKind, FileChange, Nature, Severity, Stake, Target,
};

use crate::verdict::{Escalation, Review, Safety};

/// Something to save before an action.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToSave {
    /// Where.
    pub path: AbsolutePath,
    /// Whether what is in it is meant too, should it be a directory.
    pub reach: DirectoryReach,
    /// How much depends on it.
    pub need: Need,
}

/// Whether a directory is meant with what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DirectoryReach {
    /// With everything in it.
    Tree,
    /// With some of what is below it: which, a pattern says that could not be listed.
    Below,
    /// It alone.
    Itself,
}

/// How much depends on something being saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// It is the only copy and will be gone: where it cannot be saved, a user decides.
    Required,
    /// It is the only copy and may be gone.
    Wanted,
    /// It can be had again elsewhere, but not with one command.
    Welcome,
    /// Only whether something stands there counts: it is about to be made.
    Absence,
}

/// What was saved before an action.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Saved {
    places: Vec<(AbsolutePath, DirectoryReach)>,
    references: Vec<AbsolutePath>,
}

impl Saved {
    /// Takes a place up.
    pub fn add(&mut self, path: AbsolutePath, reach: DirectoryReach) {
        self.places.push((path, reach));
    }

    /// Takes up that the references of the repository around this directory are saved, with the objects that they need.
    pub fn add_references(&mut self, directory: AbsolutePath) {
        self.references.push(directory);
    }

    /// Whether nothing was saved.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.references.is_empty()
    }

    fn holds(&self, effect: &Effect) -> bool {
        match &effect.target {
            Target::Path(path) => self.places.iter().any(|(place, reach)| match reach {
                DirectoryReach::Tree | DirectoryReach::Below => path.is_within(place),
                DirectoryReach::Itself => path == place && effect.depth == Depth::Single,
            }),
            Target::Glob(_) => location(&effect.target).is_some_and(|directory| {
                self.places
                    .iter()
                    .any(|(place, reach)| *reach != DirectoryReach::Itself && directory.is_within(place))
            }),
            // What nothing names cannot be asked for again, even if it is kept.
            Target::Reference(_) if effect.nature == Nature::ClearedAway => false,
            Target::Reference(_) => !self.references.is_empty(),
            Target::Host(_) | Target::Process(_) | Target::Service(_) | Target::Unknown => false,
        }
    }
}

/// What a review says would have to be saved before its action.
pub fn to_save(review: &Review) -> Vec<ToSave> {
    let mut places: Vec<ToSave> = review.side_effects.effects.iter().filter_map(place).collect();
    places.sort();
    // The strongest need comes first.
    places.dedup_by(|later, earlier| later.path == earlier.path && later.reach == earlier.reach);
    places
}

/// Where programs keep what is theirs in the home of a user, and make a place for it without being told: nobody misses it, but it is new
/// there (ours, as far as such places lie beside the work).
const OWN_PLACES: [(&str, &str); 2] = [("npm", ".npm"), ("npx", ".npm")];

/// Where the programs of an action may make a place of their own in a home.
pub fn own_places(review: &Review, home: &AbsolutePath) -> Vec<AbsolutePath> {
    let is_run = |program: &str| review.programs.iter().any(|run| run == program);
    let mut places: Vec<AbsolutePath> =
        OWN_PLACES.iter().filter(|(program, _)| is_run(program)).map(|(_, place)| home.join(place)).collect();
    places.dedup();
    places
}

/// Whether an action lets version control change files of the work tree: a switch, a merge, a reset. Nothing is lost by that, but which
/// files it leaves half merged nobody says beforehand, so the work tree is brought back as a whole.
pub fn changes_work_tree(review: &Review) -> bool {
    review
        .side_effects
        .effects
        .iter()
        .any(|effect| lets_git_change_any_file(effect) || is_written_by_git(effect))
}

/// Where version control may change files of work trees: the roots of those of which it may be any file, and the files that are known.
pub fn changed_work_trees(review: &Review) -> Vec<AbsolutePath> {
    let changed = review.side_effects.effects.iter();
    let changed = changed.filter(|effect| lets_git_change_any_file(effect) || is_written_by_git(effect));
    let mut places: Vec<AbsolutePath> = changed.filter_map(|effect| location(&effect.target)).collect();
    places.sort();
    places.dedup();
    places
}

/// Whether a file is one that version control writes by itself.
fn is_written_by_git(effect: &Effect) -> bool {
    effect.nature == Nature::WrittenByVersionControl && effect.kind.file_change().is_some()
}

fn lets_git_change_any_file(effect: &Effect) -> bool {
    effect.kind == EffectKind::FileModify
        && effect.stake <= Stake::Recoverable
        && effect.nature.is_kept_by_version_control()
        && matches!(&effect.target, Target::Glob(text) if text.ends_with("/**"))
}

/// Whether an action changes files of which nobody can say beforehand which they are: only the workspace as a whole can be brought back.
pub fn changes_unknown_files(review: &Review) -> bool {
    review.side_effects.effects.iter().any(|effect| match (effect.kind.file_change(), &effect.target) {
        // Any such name may be made, so any file may be overwritten: an archive is unpacked, a file is split.
        (Some(_), Target::Unknown) | (Some(FileChange::Create), Target::Glob(_)) => true,
        (Some(_) | None, _) => false,
    })
}

/// Whether something that an action does cannot be seen through.
pub fn is_opaque(review: &Review) -> bool {
    review.side_effects.effects.iter().any(|effect| effect.kind == EffectKind::Opaque)
}

/// Whether an action runs code that is not read, or not all of it: builds, tests, formatters, packages, scripts of other languages. Whatever
/// of the workspace it changes, nobody can say beforehand.
pub fn runs_unread_code(review: &Review) -> bool {
    let brings_code = |effect: &Effect| {
        matches!(
            effect.kind,
            EffectKind::Opaque | EffectKind::RemoteCodeExecution | EffectKind::PackageInstall
        )
    };
    review.side_effects.effects.iter().any(brings_code)
        || review.programs.iter().any(|program| !is_read_through(program))
}

/// Whether an action runs within bounds, and what it does there is not known.
pub fn is_contained(review: &Review) -> bool {
    review.rewrite.as_ref().is_some_and(|rewrite| rewrite.safety == Safety::Contained)
}

/// What an action does to the references of version control: to branches, stashes, the index, where they point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceChange {
    /// Nothing.
    Nothing,
    /// It adds to them.
    Grow,
    /// A name or what was staged goes; all objects stay.
    Forget,
    /// What only they hold can no longer be found.
    Lose,
}

/// What an action does to the references of version control, and the directories of the repositories that its effects name.
pub fn reference_change(review: &Review) -> (ReferenceChange, Vec<AbsolutePath>) {
    let mut directories = Vec::new();
    let change = |effect: &Effect| match (effect.kind, effect.target.path()) {
        (EffectKind::VcsLocalLoss | EffectKind::VcsHistoryRewrite, _) => ReferenceChange::Lose,
        (EffectKind::FileModify, Some(path)) if is_repository_data(effect) => {
            directories.push(path.clone());
            reference_change_of(effect.nature)
        }
        (_, _) => ReferenceChange::Nothing,
    };
    let strongest = review.side_effects.effects.iter().map(change).max();
    (strongest.unwrap_or(ReferenceChange::Nothing), directories)
}

/// What a change of a repository's data does to the references in it.
fn reference_change_of(nature: Nature) -> ReferenceChange {
    match nature {
        // Git keeps what was there, but only under a name that nobody remembers, or for a while.
        Nature::KeptForAWhile | Nature::ClearedAway | Nature::LostAtRemote => ReferenceChange::Lose,
        Nature::KeptWithoutItsName | Nature::OfRemote => ReferenceChange::Forget,
        Nature::Ordinary
        | Nature::KeptByVersionControl
        | Nature::WrittenByVersionControl
        | Nature::KeptWithIgnoredFiles
        | Nature::OnlyStaged
        | Nature::SettingThatRunsNothing
        | Nature::OwnSetting
        | Nature::Reformatted
        | Nature::NothingFits
        | Nature::NotThere
        | Nature::Hollow
        | Nature::NotInSource
        | Nature::Moved
        | Nature::Appended
        | Nature::AppendedByRedirection
        | Nature::MadeBySameCommand
        | Nature::ClonedBySameCommand
        | Nature::EmptyDirectory
        | Nature::DatabaseFile
        | Nature::DataInAFile
        | Nature::WholeDatabase
        | Nature::SweptAlong
        | Nature::SweptIntoFile
        | Nature::Masked
        | Nature::LetsRun
        | Nature::TakesRights
        | Nature::LeavesRights
        | Nature::OpensRights
        | Nature::BroughtUnread
        | Nature::BroughtWithoutGuard
        | Nature::WithinBounds
        | Nature::ArchiveUnread
        | Nature::ArchiveWithoutGuard
        | Nature::PatchUnread
        | Nature::ByChance
        | Nature::Link
        | Nature::AllThatIsFound
        | Nature::Removal
        | Nature::Signal
        | Nature::HoldsUp
        | Nature::Background
        | Nature::Unreadable
        | Nature::NamedByOutput
        | Nature::TellsOthers
        | Nature::ToOwnPlace
        | Nature::HidesChanges => ReferenceChange::Grow,
    }
}

/// Whether an effect is about the data of a repository, and not about files of a work tree.
fn is_repository_data(effect: &Effect) -> bool {
    effect.kind == EffectKind::FileModify
        && effect.depth == Depth::Single
        && !is_written_by_git(effect)
        && effect
            .target
            .path()
            .is_some_and(|path| path.name() == Some(".git") || effect.nature.is_kept_by_version_control())
        && !effect.target.path().is_some_and(is_configuration)
}

/// Whether a file is the configuration of a repository, which is saved as a file.
fn is_configuration(path: &AbsolutePath) -> bool {
    path.name() == Some("config") && path.parts().any(|part| part.ends_with(".git"))
}

fn place(effect: &Effect) -> Option<ToSave> {
    let is_only_copy = effect.stake >= Stake::Unsaved;
    let need = match (effect.kind.file_change(), effect.kind) {
        // Which files a pattern means that could not be listed, and whether there are any, is not known: nobody is asked about that.
        (Some(FileChange::Modify), _) if is_only_copy && matches!(effect.target, Target::Glob(_)) => {
            Need::Wanted
        }
        (Some(FileChange::Modify | FileChange::Delete), _) | (None, EffectKind::VcsLocalLoss)
            if is_only_copy =>
        {
            match effect.certainty {
                Certainty::Certain => Need::Required,
                Certainty::Possible => Need::Wanted,
            }
        }
        (Some(FileChange::Modify | FileChange::Delete | FileChange::Permissions), _)
        | (None, EffectKind::VcsLocalLoss | EffectKind::DatastoreChange | EffectKind::DatastoreDestroy) => {
            Need::Welcome
        }
        (Some(FileChange::Create), _) => Need::Absence,
        // What it may replace can be brought back.
        (None, EffectKind::Persistence) if effect.is_by_chance() => Need::Welcome,
        (None, _) => return None,
    };
    let reach = if effect.depth == Depth::Recursive { DirectoryReach::Tree } else { DirectoryReach::Itself };
    match &effect.target {
        // The data of version control are saved by what they mean, see `reference_change`, but for what is done to them as files.
        Target::Path(path)
            if path.name() == Some(".git")
                && !matches!(
                    effect.kind.file_change(),
                    Some(FileChange::Create | FileChange::Delete | FileChange::Permissions)
                ) =>
        {
            None
        }
        Target::Path(_) if is_repository_data(effect) => None,
        // It is saved with the work tree, but for what stands unseen by version control where it makes a file.
        Target::Path(_) if is_written_by_git(effect) && need != Need::Absence => None,
        Target::Path(path) => Some(ToSave { path: path.clone(), reach, need }),
        // The work tree is saved as a whole, but for what is ignored.
        Target::Glob(_)
            if lets_git_change_any_file(effect) && effect.nature != Nature::KeptWithIgnoredFiles =>
        {
            None
        }
        // Everything that a pattern can mean lies below where it starts.
        Target::Glob(_) => {
            Some(ToSave { path: location(&effect.target)?, reach: DirectoryReach::Below, need })
        }
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => None,
    }
}

/// Whether saving what an action destroys may change what is said about it: what refuses it is at most the loss, neither a rule nor a disaster.
pub fn depends_on_saving(review: &Review) -> bool {
    let refused = review.rules.iter().any(|finding| finding.decision == Decision::Block);
    review.verdict.kind < VerdictKind::Block
        || (review.verdict.kind == VerdictKind::Block
            && !refused
            && review.side_effects.severity < Severity::Critical)
}

/// The review that counts, of one `before` saving and one `after` it; `note` tells where things are saved. An action that is let
/// through only because it was saved is let through with that note: saved first, then run.
#[must_use]
pub fn settle(before: &Review, mut after: Review, note: &str) -> Review {
    let lets_through = |kind: VerdictKind| kind < VerdictKind::Escalate;
    if lets_through(before.verdict.kind) || !lets_through(after.verdict.kind) {
        return after;
    }
    if after.rewrite.is_none() {
        after.governance.trust.is_hint_about_saving = after.verdict.kind == VerdictKind::Ok;
        after.escalate(Escalation::new(VerdictKind::Nudge, note));
        after.decision = Decision::Modify;
        note.clone_into(&mut after.reasoning.primary);
        after.reasoning.all.insert(0, note.to_owned());
        after.alternatives.clear();
    }
    after
}

/// A review of something that would be lost and could not be saved: a user decides.
#[must_use]
pub fn unsaved(mut before: Review, why: &str) -> Review {
    let advice = "commit or copy it first, or do it in smaller parts";
    if before.escalate(Escalation::new(VerdictKind::Escalate, why).instead(advice)) {
        before.decision = Decision::Modify;
    } else {
        before.reasoning.primary = format!("{}; {why}", before.reasoning.primary);
    }
    before.reasoning.all.insert(0, why.to_owned());
    before
}

/// Whether every effect of an action is certain, lies where the task is, and can be taken back, and nothing spoke against it. A user may
/// want their client to let such an action through without a question.
pub fn can_be_taken_back(review: &Review, place: &HostPaths, config: &Config) -> bool {
    let can_be = |effect: &Effect| {
        let is_work = effect.kind.file_change().is_some() || effect.kind == EffectKind::VcsLocalLoss;
        // What a build makes again is not saved, and making it again takes its time.
        let comes_back = matches!(effect.stake, Stake::Nothing | Stake::Recoverable);
        effect.kind == EffectKind::FileRead
            || is_work
                && comes_back
                && effect.certainty == Certainty::Certain
                && belongs_to_task(effect, place, config)
    };
    let effects = &review.side_effects.effects;
    let changes = effects.iter().any(|effect| effect.kind.is_mutating());
    changes
        && review.verdict.kind <= VerdictKind::Nudge
        && !review.verdict.flagged
        && review.rewrite.is_none()
        && review.failures.is_empty()
        && review.rules.iter().all(|finding| finding.decision == Decision::Allow)
        && effects.iter().all(can_be)
}

/// Lowers the stakes of what is saved.
pub(crate) fn soften(effects: &mut [Effect], saved: &Saved, place: &HostPaths, config: &Config) {
    if saved.is_empty() {
        return;
    }
    let is_held = |effect: &Effect| belongs_to_task(effect, place, config) && saved.holds(effect);
    // Data in a store that is one file are saved with that file; which of several such files holds them is not known.
    let is_store =
        |effect: &&Effect| effect.kind == EffectKind::FileModify && effect.nature == Nature::DatabaseFile;
    let holds_data =
        effects.iter().any(|effect| is_store(&effect)) && effects.iter().filter(is_store).all(is_held);
    for effect in effects {
        // Where else a file is deleted, a rule asks about it; that it comes back is true there as well.
        let is_deleted =
            matches!(effect.kind, EffectKind::FileDelete | EffectKind::VcsLocalLoss) && saved.holds(effect);
        let is_file = matches!(
            effect.kind,
            EffectKind::FileDelete
                | EffectKind::FileModify
                | EffectKind::PermissionChange
                | EffectKind::VcsLocalLoss
        );
        let is_data = is_data_in_a_file(effect) && holds_data;
        let counts = is_file && is_held(effect) || is_deleted || is_data;
        if effect.stake != Stake::Unsaved || !counts {
            continue;
        }
        // A severity that is graver than what is lost was chosen for another reason.
        if effect.severity <= Severity::High {
            effect.severity = Severity::Medium;
        }
        effect.stake = Stake::Recoverable;
        effect.reversible = true;
        effect.saved = true;
    }
}

/// Whether an effect is about data of which all are in one file.
pub(crate) fn is_data_in_a_file(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::DatastoreChange | EffectKind::DatastoreDestroy)
        && effect.nature == Nature::DataInAFile
}

/// Whether what an effect is about lies where the task is; references lie in its repository.
fn belongs_to_task(effect: &Effect, place: &HostPaths, config: &Config) -> bool {
    match &effect.target {
        Target::Reference(_) => true,
        target => location(target).is_some_and(|path| in_scope(&path, place, config)),
    }
}
