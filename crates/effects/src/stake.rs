//! What would be lost, and how bad that would be.
//!
//! The interpreter says what an action does; here each effect is weighed by what stands at its target.
//!
//! | module | holds |
//! |---|---|
//! | `loss` | what is lost when a path is removed, overwritten or given other permissions |
//! | `consequence` | effects that follow from where a file lies |
//! | `second_names` | files that are also something else: hard links of what has a meaning in the home directory |

mod consequence;
mod loss;
mod second_names;

use crate::effect::{
    Certainty, Depth, Effect, EffectKind, FileChange, NetworkReach, Severity, Stake, Target,
};
use crate::interpreter::known_hosts::reach;
use crate::nature::{Nature, Relief};
use crate::path::AbsolutePath;
use crate::places::{
    Secrecy, SystemPlace, is_guarding_parameter, is_known_at_home, is_lifeline, is_pipeline,
    kernel_parameter, persistence, secrecy, system_place,
};
use crate::world::{Entry, Listing, VersionState, World};

pub(crate) use crate::world::{PathPattern, name_matches};
use loss::{Change, Loss, loss_of};

/// Sets stake, severity, reversibility and note of each effect from the facts of the world. Adds the effects that follow from where a file
/// lies: persistence, changes of the machine. Reads of credentials become reads of secrets.
///
/// A severity above [`Severity::Low`] that is already there was chosen by the catalogue or a handler: file kinds are
/// weighed at least so, other kinds exactly so. The number of effects never falls, nor does the greatest severity.
pub(crate) fn assess(effects: &mut Vec<Effect>, world: &dyn World) {
    let made: Vec<AbsolutePath> = effects
        .iter()
        .filter(|effect| effect.kind == EffectKind::FileCreate)
        .filter_map(|effect| effect.target.path().cloned())
        .collect();
    second_names::add(effects, world);
    for effect in effects.iter_mut() {
        if consequence::reads_secret(effect, &made, world) {
            effect.kind = EffectKind::SecretRead;
        }
    }
    let mut added = Vec::new();
    for effect in effects.iter() {
        for follows in consequence::consequences(effect, world) {
            let known = |other: &Effect| other.kind == follows.kind && other.target == follows.target;
            if !effects.iter().any(known) && !added.iter().any(known) {
                added.push(follows);
            }
        }
    }
    effects.extend(added);
    for effect in effects.iter_mut() {
        weigh(effect, world);
    }
    let place = world.place();
    for directory in [&place.workspace, &place.home] {
        raise_when_emptied(effects, directory, world);
    }
    for directory in &place.temporary {
        raise_when_all_temporary(effects, directory, world);
    }
}

/// Fills in one effect.
fn weigh(effect: &mut Effect, world: &dyn World) {
    let loss = loss_by_kind(effect, world);
    if is_device_that_is_not_there(effect, world) {
        effect.severity = effect.severity.min(Severity::High);
    }
    let chosen = effect.severity;
    let by_table = severity(effect, loss.stake);
    effect.severity = match file_change(effect.kind) {
        Some(_) => by_table.max(chosen),
        None if chosen > Severity::Low => chosen,
        None => by_table,
    };
    effect.stake = loss.stake;
    effect.reversible = match file_change(effect.kind) {
        Some(_) => loss.stake <= Stake::Recoverable,
        None => effect.reversible && loss.stake <= Stake::Recoverable && effect.kind.can_be_taken_back(),
    };
    append_note(effect, &loss.note);
    if matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify)
        && runs_in_pipeline(&effect.target)
    {
        append_note(effect, "runs in the pipeline of the project");
    }
}

/// Whether a device is aimed at that this machine does not have: what is meant is asked about, but nothing can be lost.
fn is_device_that_is_not_there(effect: &Effect, world: &dyn World) -> bool {
    effect.kind == EffectKind::SystemModification
        && effect.target.path().is_some_and(|path| {
            system_place(path) == Some(SystemPlace::Device) && world.entry(path) == Entry::Missing
        })
}

/// What the kind takes from files that are there; `None` for kinds that take nothing from them.
fn file_change(kind: EffectKind) -> Option<Change> {
    match kind.file_change() {
        Some(FileChange::Delete) => Some(Change::Remove),
        Some(FileChange::Modify) => Some(Change::Overwrite),
        Some(FileChange::Permissions) => Some(Change::Permissions),
        Some(FileChange::Create) | None => None,
    }
}

fn loss_by_kind(effect: &Effect, world: &dyn World) -> Loss {
    if let Some(change) = file_change(effect.kind) {
        let kept = match effect.nature.relief() {
            // A formatter writes the same program.
            // Elsewhere it belongs to something that is laid out in another way.
            Relief::Rewritten
                if effect.kind == EffectKind::FileModify
                    && (effect.nature != Nature::Reformatted || !lies_elsewhere(effect, world)) =>
            {
                return Loss::nothing();
            }
            // What git changes by its own rules, a commit, a switch, a merge, it can give back; what it takes away it holds in a commit or in
            // its index.
            Relief::VersionControl
                if matches!(effect.kind, EffectKind::FileModify | EffectKind::FileDelete) =>
            {
                return Loss { stake: Stake::Recoverable, note: String::new() };
            }
            Relief::Absent => return Loss::nothing(),
            Relief::Elsewhere => true,
            Relief::VersionControl | Relief::Rewritten | Relief::Waived | Relief::None => false,
        };
        let loss = loss_of(&effect.target, effect.depth, change, world);
        // Where no file stands none is lost; what is dear by its name alone, or may be a tree, counts all the same.
        let home = &world.place().home;
        let is_file =
            |path: &AbsolutePath| path.name().is_some_and(|name| name.trim_start_matches('.').contains('.'));
        let is_known =
            |path: &AbsolutePath| is_known_at_home(path, home) || persistence(path, home).is_some();
        if effect.nature == Nature::NotThere
            && effect.depth == Depth::Single
            && loss.stake <= Stake::Recoverable
            && effect.target.path().is_some_and(|path| is_file(path) && !is_known(path))
        {
            return Loss::nothing();
        }
        // A program that may rewrite some file of a tree is not one that empties it.
        let may_rewrite = effect.kind == EffectKind::FileModify
            && (effect.certainty == Certainty::Possible || effect.depth == Depth::Recursive)
            && loss.stake == Stake::Critical
            && !in_system(&effect.target);
        if may_rewrite {
            return Loss { stake: Stake::Unsaved, note: loss.note };
        }
        // Even a disaster that is only moved aside stays one: nothing finds it where it was.
        if !kept || loss.stake == Stake::Critical {
            return loss;
        }
        // Who keeps it there looks for it there: outside the workspace moving away is a loss that can be taken back.
        let is_missed =
            effect.is_moved() && loss.stake >= Stake::Recoverable && lies_elsewhere(effect, world);
        return if is_missed { Loss { stake: Stake::Recoverable, ..loss } } else { Loss::nothing() };
    }
    let unsaved = |note: &str| Loss { stake: Stake::Unsaved, note: note.to_owned() };
    match effect.kind {
        EffectKind::VcsLocalLoss => work_lost(effect, world),
        EffectKind::DatastoreDestroy => match &effect.target {
            target @ Target::Path(_) => loss_of(target, Depth::Single, Change::Remove, world),
            Target::Glob(_)
            | Target::Host(_)
            | Target::Process(_)
            | Target::Service(_)
            | Target::Reference(_)
            | Target::Unknown => unsaved(""),
        },
        EffectKind::InfrastructureDestroy | EffectKind::VcsHistoryRewrite => unsaved(""),
        EffectKind::GuardTampering => Loss { stake: Stake::Critical, note: String::new() },
        EffectKind::FileRead
        | EffectKind::FileCreate
        | EffectKind::FileModify
        | EffectKind::FileDelete
        | EffectKind::PermissionChange
        | EffectKind::SecretRead
        | EffectKind::NetworkRequest
        | EffectKind::DataUpload
        | EffectKind::RemoteCodeExecution
        | EffectKind::PackageInstall
        | EffectKind::ProcessSpawn
        | EffectKind::ProcessKill
        | EffectKind::SystemModification
        | EffectKind::PrivilegeEscalation
        | EffectKind::Persistence
        | EffectKind::VcsRemoteUpdate
        | EffectKind::InfrastructureChange
        | EffectKind::DatastoreChange
        | EffectKind::Publish
        | EffectKind::Opaque => Loss::nothing(),
    }
}

/// Whether a file lies neither in the workspace nor among temporary files.
fn lies_elsewhere(effect: &Effect, world: &dyn World) -> bool {
    let place = world.place();
    let base = match &effect.target {
        Target::Path(path) => Some(path.clone()),
        Target::Glob(pattern) => PathPattern::new(pattern).map(|pattern| pattern.base),
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => None,
    };
    base.is_some_and(|path| !path.is_within(&place.workspace) && !place.is_temporary(&path))
}

/// What version control would lose: for a path, what is not committed there; for a reference, its commits.
fn work_lost(effect: &Effect, world: &dyn World) -> Loss {
    let lost = |stake: Stake, note: &str| Loss { stake, note: note.to_owned() };
    match &effect.target {
        Target::Path(path) => match world.version(path) {
            VersionState::TrackedClean if effect.nature == Nature::OnlyStaged => {
                lost(Stake::Unsaved, "is staged, and in no commit")
            }
            VersionState::Missing | VersionState::TrackedClean => Loss::nothing(),
            VersionState::TrackedModified => lost(Stake::Unsaved, "has changes that are in no commit"),
            VersionState::Ignored | VersionState::Untracked => {
                lost(Stake::Unsaved, "holds files that are in no commit")
            }
            VersionState::NoRepository | VersionState::Unknown => {
                lost(Stake::Unsaved, "what is in no commit is not known")
            }
        },
        target @ Target::Glob(_) => loss_of(target, effect.depth, Change::Overwrite, world),
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => lost(Stake::Unsaved, ""),
    }
}

/// How bad an effect is (ours; deletion and modification of ordinary files: seed 002).
fn severity(effect: &Effect, stake: Stake) -> Severity {
    match effect.kind {
        EffectKind::FileCreate if in_system(&effect.target) || runs_in_pipeline(&effect.target) => {
            Severity::Medium
        }
        EffectKind::FileRead | EffectKind::FileCreate | EffectKind::ProcessSpawn => Severity::Low,
        EffectKind::FileDelete => match stake {
            Stake::Nothing | Stake::Regenerable => Severity::Low,
            Stake::Recoverable => Severity::Medium,
            Stake::Unsaved => Severity::High,
            Stake::Critical => Severity::Critical,
        },
        EffectKind::FileModify => match stake {
            Stake::Nothing | Stake::Regenerable | Stake::Recoverable if !runs_in_pipeline(&effect.target) => {
                Severity::Low
            }
            Stake::Unsaved if in_system(&effect.target) || effect.nature == Nature::NamedByOutput => {
                Severity::High
            }
            Stake::Nothing | Stake::Regenerable | Stake::Recoverable | Stake::Unsaved => Severity::Medium,
            Stake::Critical => Severity::Critical,
        },
        EffectKind::PermissionChange => match (stake, effect.depth) {
            (Stake::Nothing | Stake::Regenerable, _) | (Stake::Recoverable, Depth::Single) => Severity::Low,
            (Stake::Recoverable, Depth::Recursive) => Severity::Medium,
            (Stake::Unsaved, _) => Severity::High,
            (Stake::Critical, _) => Severity::Critical,
        },
        EffectKind::VcsLocalLoss | EffectKind::DatastoreDestroy => match stake {
            Stake::Nothing | Stake::Regenerable => Severity::Low,
            Stake::Recoverable => Severity::Medium,
            Stake::Unsaved => Severity::High,
            Stake::Critical => Severity::Critical,
        },
        EffectKind::NetworkRequest => match effect.reach {
            Some(NetworkReach::Local | NetworkReach::Known) => Severity::Low,
            Some(NetworkReach::External) | None => Severity::Medium,
        },
        EffectKind::DataUpload => match effect.reach {
            Some(NetworkReach::Local) => Severity::Low,
            Some(NetworkReach::Known | NetworkReach::External) | None => Severity::Medium,
        },
        EffectKind::SystemModification => match effect.target.path() {
            Some(path) if is_lifeline(path) || system_place(path) == Some(SystemPlace::Device) => {
                Severity::Critical
            }
            // As with `sysctl`: most parameters are for trying, and the next start forgets them.
            Some(path) if kernel_parameter(path).is_some_and(|name| !is_guarding_parameter(&name)) => {
                Severity::Medium
            }
            Some(path) if system_place(path).is_some() => Severity::High,
            // A service, a setting, a device by name: what is grave among them says so in the catalogue.
            Some(_) | None => Severity::Medium,
        },
        EffectKind::PackageInstall if is_package_from_anywhere(&effect.target) => Severity::High,
        EffectKind::SecretRead if effect.is_read_unseen() => Severity::Low,
        EffectKind::SecretRead if is_only_private(&effect.target) => Severity::Medium,
        EffectKind::Persistence if effect.is_by_chance() => Severity::Medium,
        // Whoever stands between the machines decides what runs, or it is handed to an unknown other end.
        EffectKind::RemoteCodeExecution if !is_authenticated(&effect.target) => Severity::Critical,
        kind @ (EffectKind::SecretRead
        | EffectKind::RemoteCodeExecution
        | EffectKind::PackageInstall
        | EffectKind::ProcessKill
        | EffectKind::PrivilegeEscalation
        | EffectKind::Persistence
        | EffectKind::VcsHistoryRewrite
        | EffectKind::VcsRemoteUpdate
        | EffectKind::InfrastructureChange
        | EffectKind::InfrastructureDestroy
        | EffectKind::DatastoreChange
        | EffectKind::Publish
        | EffectKind::GuardTampering
        | EffectKind::Opaque) => kind.usual_severity(),
    }
}

/// Whether what is read is private, but proves nothing: a setting, a history.
fn is_only_private(target: &Target) -> bool {
    target.text().and_then(AbsolutePath::new).is_some_and(|path| secrecy(&path) == Secrecy::Private)
}

/// How addresses begin at which the other side proves who it is.
const AUTHENTICATED: [&str; 12] = [
    "https://",
    "ssh://",
    "git@",
    "svn+ssh://",
    "s3://",
    "gs://",
    "az://",
    "b2://",
    "rclone://",
    "docker://",
    "kubectl://",
    "lxc://",
];

/// Whether the other end has to prove who it is. An address without a scheme is asked without encryption by the usual
/// downloaders.
fn is_authenticated(target: &Target) -> bool {
    match target {
        Target::Host(address) => AUTHENTICATED.iter().any(|scheme| address.starts_with(scheme)),
        Target::Path(_)
        | Target::Glob(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => false,
    }
}

/// Whether a package comes from an address that does not have to prove who it is. Packages run code when they are installed.
fn is_package_from_anywhere(target: &Target) -> bool {
    let address = target.text().unwrap_or_default();
    let bare = address.rsplit_once(" @ ").map_or(address, |(_, bare)| bare);
    let plain = ["git+http://", "http://", "git://", "git+git://", "ftp://"]
        .iter()
        .find_map(|scheme| bare.strip_prefix(scheme));
    match plain {
        Some(host) => !["localhost", "127.", "[::1]"].iter().any(|local| host.starts_with(local)),
        // Whoever has the host decides what is installed: one that is known for packages or source code has rules and a memory.
        None => bare.contains("://") && reach(bare) == NetworkReach::External,
    }
}

/// The least number of entries of which one says "everything in the directory" (ours).
const EVERYTHING: usize = 4;
/// One entry in so many may be left, and still it is everything (ours): a name that begins with `-` survives `rm *`.
const LEFT_OVER: usize = 8;

/// A shell spells `*` out before a command sees it: when the entries of a directory go, directories among them, and not all
/// of them are safe, it is the directory that is lost.
fn raise_when_emptied(effects: &mut [Effect], directory: &AbsolutePath, world: &dyn World) {
    let is_part = |effect: &Effect| {
        effect.kind == EffectKind::FileDelete
            && effect.target.path().and_then(AbsolutePath::parent).as_ref() == Some(directory)
    };
    let gone: Vec<&str> = effects
        .iter()
        .filter(|effect| is_part(effect))
        .filter_map(|effect| effect.target.path()?.name())
        .collect();
    let reaches_down = effects.iter().any(|effect| is_part(effect) && effect.depth == Depth::Recursive);
    if gone.len() < EVERYTHING || !reaches_down {
        return;
    }
    let Listing::Names(names) = world.children(directory) else { return };
    let shown = || names.iter().filter(|name| !name.starts_with('.'));
    let left = shown().filter(|name| !gone.contains(&name.as_str())).count();
    if left * LEFT_OVER > shown().count() {
        return;
    }
    for effect in effects.iter_mut().filter(|effect| is_part(effect) && effect.stake == Stake::Unsaved) {
        effect.stake = Stake::Critical;
        effect.severity = Severity::Critical;
        effect.reversible = false;
        append_note(effect, "goes with everything beside it");
    }
}

/// What one program left in a directory for temporary files is nobody's loss. What all of them did is: sockets, locks and unsaved work of
/// programs that are running (seed 002: deleting all files in `/tmp` is refused). Emptying or overwriting them leaves no more of it.
fn raise_when_all_temporary(effects: &mut [Effect], directory: &AbsolutePath, world: &dyn World) {
    // A pattern alone may only say where something is written, unless what it means is removed as well.
    let removed: Vec<Target> = effects
        .iter()
        .filter(|effect| effect.kind.file_change() == Some(FileChange::Delete))
        .map(|effect| effect.target.clone())
        .collect();
    let is_part = |effect: &Effect| {
        let takes_all = match effect.kind.file_change() {
            Some(FileChange::Delete) => effect.certainty == Certainty::Certain,
            // What stands in them goes all the same; a directory among them makes each of these no more than possible.
            Some(FileChange::Modify) => {
                effect.nature.is_ordinary()
                    && (effect.target.path().is_some() || removed.contains(&effect.target))
            }
            Some(FileChange::Create | FileChange::Permissions) | None => false,
        };
        takes_all
            && effect.stake < Stake::Critical
            && match &effect.target {
                Target::Path(path) => {
                    path != directory && world.place().is_temporary(path) && path.is_within(directory)
                }
                // One name that is not known, with what is below it, is written the same way, but reaches down by itself.
                Target::Glob(text) => {
                    (effect.depth == Depth::Single || effect.nature == Nature::AllThatIsFound)
                        && PathPattern::new(text).is_some_and(|pattern| {
                            pattern.base == *directory && pattern.names_all_of_a_sort()
                        })
                }
                Target::Host(_)
                | Target::Process(_)
                | Target::Service(_)
                | Target::Reference(_)
                | Target::Unknown => false,
            }
    };
    let mut parts = effects.iter().filter(|effect| is_part(effect)).peekable();
    if parts.peek().is_none() {
        return;
    }
    let by_pattern = |effect: &Effect| matches!(effect.target, Target::Glob(_));
    let mut gone: Vec<&str> = Vec::new();
    let mut everything = false;
    for effect in parts {
        everything |= by_pattern(effect);
        let below = effect.target.path().and_then(|path| path.relative_to(directory));
        gone.extend(below.and_then(|below| below.split('/').next()));
    }
    if !everything {
        gone.sort_unstable();
        gone.dedup();
        let Listing::Names(names) = world.children(directory) else { return };
        let is_all = |is_hidden: bool| {
            let all = || names.iter().filter(|name| name.starts_with('.') == is_hidden);
            let left = all().filter(|name| gone.binary_search(&name.as_str()).is_err()).count();
            all().next().is_some() && left * LEFT_OVER <= all().count()
        };
        let all_shown = gone.len() >= EVERYTHING && is_all(false);
        if !(all_shown || are_of_several(&gone) && is_all(true)) {
            return;
        }
    }
    for effect in effects.iter_mut().filter(|effect| is_part(effect)) {
        effect.stake = Stake::Critical;
        effect.severity = Severity::Critical;
        effect.reversible = false;
        append_note(effect, loss::TEMPORARY_OF_ALL);
    }
}

/// Whether hidden names in a directory for temporary files, in order, are those of several programs: not all of them begin alike, and
/// there are some of them, or sockets of all programs are among them.
fn are_of_several(names: &[&str]) -> bool {
    let hidden: Vec<&str> = names.iter().copied().filter(|name| name.starts_with('.')).collect();
    let first = |name: &&str| name.chars().nth(1);
    let differ = hidden.iter().any(|name| hidden.first().is_some_and(|other| first(name) != first(other)));
    differ && (hidden.len() >= EVERYTHING || hidden.iter().any(|name| loss::holds_sockets_of_all(name)))
}

/// Whether other machines run the file when it is pushed.
fn runs_in_pipeline(target: &Target) -> bool {
    target.path().is_some_and(is_pipeline)
}

fn in_system(target: &Target) -> bool {
    target.path().is_some_and(|path| system_place(path).is_some())
}

fn append_note(effect: &mut Effect, note: &str) {
    let says_the_same = |words: &str| note.contains(words) && effect.note.contains(words);
    if note.is_empty() || effect.note.contains(note) || says_the_same("in no commit") {
        return;
    }
    if !effect.note.is_empty() {
        effect.note.push_str("; ");
    }
    effect.note.push_str(note);
}

#[cfg(test)]
mod tests;
