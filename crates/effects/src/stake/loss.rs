//! What is lost when a path is removed, overwritten or given other permissions.

use crate::effect::{Depth, Stake, Target};
use crate::path::AbsolutePath;
use crate::places::{
    SystemPlace, credential, credential_directory, environment_file, is_home_of_somebody, is_lifeline,
    key_material, system_place,
};
use crate::world::{Entry, Listing, VersionState, World};
use checkrein_facts::{generated, regenerable_cache};

use crate::world::{Matches, PathPattern};

/// What a change does to the content of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The target is gone afterwards.
    Remove,
    /// The target holds something else afterwards.
    Overwrite,
    /// The content stays, the permissions change.
    Permissions,
}

/// What would be lost, with one clause that says why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loss {
    /// The worst stake of everything that is lost.
    pub(crate) stake: Stake,
    /// The reason; empty for an ordinary file.
    pub(crate) note: String,
}

impl Loss {
    fn new(stake: Stake, note: impl Into<String>) -> Self {
        Self { stake, note: note.into() }
    }

    /// Nothing is lost.
    pub(crate) fn nothing() -> Self {
        Self::new(Stake::Nothing, "")
    }

    fn or_worse(self, other: Self) -> Self {
        if other.stake > self.stake { other } else { self }
    }
}

/// The greatest number of files that are looked at to weigh one directory (ours).
const FILES: usize = 256;

/// What is lost when the change is made to the target.
pub(crate) fn loss_of(target: &Target, depth: Depth, change: Change, world: &dyn World) -> Loss {
    match target {
        Target::Path(path) => loss_of_path(path, depth, change, world),
        Target::Glob(text) => match PathPattern::new(text) {
            Some(pattern) => loss_of_pattern(&pattern, depth, change, world),
            None => Loss::new(Stake::Unsaved, "which files it reaches is not known"),
        },
        Target::Unknown => Loss::new(Stake::Unsaved, "which files it reaches is not known"),
        Target::Host(_) | Target::Process(_) | Target::Service(_) | Target::Reference(_) => Loss::nothing(),
    }
}

/// What is lost when the change is made to one path.
pub(crate) fn loss_of_path(path: &AbsolutePath, depth: Depth, change: Change, world: &dyn World) -> Loss {
    if let Some(loss) = disaster(path, depth, change, world) {
        return loss;
    }
    match change {
        Change::Permissions => permissions(path, depth, world),
        Change::Remove | Change::Overwrite => {
            let mut budget = FILES;
            content(path, change, world, &mut budget)
        }
    }
}

/// Losses that are decided by what a path is called, whether or not something stands there at the moment of asking:
/// these places are too dear for a race.
fn disaster(path: &AbsolutePath, depth: Depth, change: Change, world: &dyn World) -> Option<Loss> {
    let place = world.place();
    let critical = |note: String| Some(Loss::new(Stake::Critical, note));
    let reaches_down = depth == Depth::Recursive;
    if reaches_down || change == Change::Remove {
        if path.parent().is_none() {
            return critical("the whole file system".to_owned());
        }
        if *path == place.home {
            return critical("the home directory".to_owned());
        }
        if is_home_of_somebody(path) && !is_temporary(path, world) {
            return critical("a home directory".to_owned());
        }
    }
    if reaches_down && place.home.is_within(path) {
        return critical("the home directory lies in it".to_owned());
    }
    if let Some(loss) = system_loss(path, depth, change) {
        return Some(loss);
    }
    if change == Change::Permissions {
        return None;
    }
    if reaches_down && place.workspace.is_within(path) {
        return if *path == place.workspace {
            critical("the whole workspace".to_owned())
        } else {
            critical("the workspace lies in it".to_owned())
        };
    }
    if is_temporary(path, world) {
        return None;
    }
    if let Some(relative) = path.relative_to(&place.home)
        && reaches_down
        && HOME_DIRECTORIES.contains(&relative)
    {
        return critical(format!("`{relative}` of the home directory"));
    }
    if change == Change::Remove {
        if let Some(what) = credential_directory(path).filter(|_| reaches_down) {
            return critical(what.to_owned());
        }
        let own_credentials = |path: &AbsolutePath| {
            let name = path.name().unwrap_or_default();
            path.parts().any(|part| part.starts_with('.') && part != name) && !environment_file(name)
        };
        if let Some(what) =
            credential(path, &place.home).filter(|_| own_credentials(path) && !in_generated(path, world))
        {
            return critical(what.to_owned());
        }
    }
    None
}

/// Directories of a home whose whole loss is a disaster, relative to it.
const HOME_DIRECTORIES: &[&str] = &[
    ".config",
    ".local",
    ".local/share",
    ".mozilla",
    "Library",
    "Documents",
    "Desktop",
    "Pictures",
    "Music",
    "Movies",
    "Videos",
    "Downloads",
    "Mail",
    "Maildir",
];

fn system_loss(path: &AbsolutePath, depth: Depth, change: Change) -> Option<Loss> {
    let place = system_place(path)?;
    if regenerable_cache(path, &AbsolutePath::root()).is_some() {
        return None;
    }
    let top = path.parts().count() <= 1
        || (path.parts().count() == 2 && matches!(path.name(), Some("local" | "lib" | "log")));
    let critical = |note: &str| Some(Loss::new(Stake::Critical, note));
    match (place, change) {
        (SystemPlace::Device, Change::Remove | Change::Overwrite) => critical("a device"),
        (SystemPlace::Vital, Change::Remove) => critical("part of the system"),
        (SystemPlace::Kernel, Change::Remove) => critical("the kernel's own files"),
        // Other permissions of one program are a nuisance, those of the file of passwords keep everybody out.
        (SystemPlace::Vital, Change::Permissions)
            if depth == Depth::Single && is_lifeline(path) && !path.as_str().starts_with("/etc/") =>
        {
            Some(Loss::new(Stake::Unsaved, "permissions of the system"))
        }
        (SystemPlace::Vital | SystemPlace::Kernel, Change::Overwrite | Change::Permissions)
            if is_lifeline(path) =>
        {
            critical("part of the system")
        }
        (SystemPlace::Vital, Change::Overwrite | Change::Permissions) if depth == Depth::Recursive => {
            critical("part of the system")
        }
        (SystemPlace::State | SystemPlace::Local, _) if top && depth == Depth::Recursive => {
            critical("a directory of the system")
        }
        // Records of what happened on the machine, missing now or not: whoever removes them covers tracks.
        (SystemPlace::State, Change::Remove | Change::Overwrite)
            if path.as_str().starts_with("/var/log/") =>
        {
            Some(Loss::new(Stake::Unsaved, "logs of the system"))
        }
        (SystemPlace::Vital | SystemPlace::Kernel, Change::Overwrite) => {
            Some(Loss::new(Stake::Unsaved, "configuration of the system"))
        }
        (SystemPlace::Vital | SystemPlace::Kernel | SystemPlace::Device, Change::Permissions)
        | (SystemPlace::State | SystemPlace::Local, _) => None,
    }
}

/// Modes and owners are small facts that version control or a snapshot holds.
fn permissions(path: &AbsolutePath, depth: Depth, world: &dyn World) -> Loss {
    if system_place(path).is_some() && world.entry(path) != Entry::Missing {
        return Loss::new(Stake::Unsaved, "permissions of the system");
    }
    let is_temporary_of_all =
        world.place().temporary.contains(path) || TEMPORARY_BY_NAME.contains(&path.as_str());
    if depth == Depth::Recursive && is_temporary_of_all {
        return Loss::new(Stake::Unsaved, TEMPORARY_OF_ALL);
    }
    if world.entry(path) == Entry::Missing {
        let loss = absent(path, world);
        // A credential that is there can be given back its rights, so one that is not cannot lose more.
        let is_credential = depth == Depth::Single && credential(path, &world.place().home).is_some();
        return if is_credential && loss.stake > Stake::Recoverable {
            Loss::new(Stake::Recoverable, "")
        } else {
            loss
        };
    }
    if depth == Depth::Recursive && credential_directory(path).is_some() {
        return Loss::new(Stake::Unsaved, "permissions of credentials");
    }
    Loss::new(Stake::Recoverable, "")
}

/// What is not there now may be there when the command runs, or where it runs. Usually that is nobody's loss; the data of a
/// repository and the settings of programs in a home directory are meant by their name.
fn absent(path: &AbsolutePath, world: &dyn World) -> Loss {
    if is_temporary(path, world) {
        return Loss::nothing();
    }
    if path.name() == Some(".git") {
        return Loss::new(Stake::Critical, "the history of a repository, by its name");
    }
    if is_trash(path) {
        return Loss::new(Stake::Regenerable, THROWN_AWAY);
    }
    if let Some(why) = regenerable_cache(path, &world.place().home) {
        return Loss::new(Stake::Regenerable, format!("made again by {why}"));
    }
    if TEMPORARY_BY_NAME.contains(&path.as_str()) || is_runtime_of_all(path) {
        return Loss::new(Stake::Critical, TEMPORARY_OF_ALL);
    }
    if inside_repository(path.as_str()).is_some() {
        return repository_data(path, world)
            .filter(|loss| loss.stake > Stake::Recoverable)
            .unwrap_or_else(Loss::nothing);
    }
    let place = world.place();
    let settings = path.is_within(&place.home)
        || path.parent().is_some_and(|parent| {
            std::iter::successors(Some(parent), AbsolutePath::parent).any(|above| is_home_of_somebody(&above))
        });
    let hidden = path.parts().skip(1).any(|part| part.starts_with('.') && part.len() > 1);
    if settings
        && hidden
        && !path.is_within(&place.workspace)
        && regenerable_cache(path, &place.home).is_none()
    {
        // What stands among keys is no more to be had again than these; of other settings one asks as of those that are there.
        let mut above = std::iter::successors(path.parent(), AbsolutePath::parent);
        let is_among_keys = above.any(|directory| credential_directory(&directory).is_some());
        let stake = if is_among_keys { Stake::Unsaved } else { Stake::Recoverable };
        return Loss::new(stake, "settings in a home directory, by their name");
    }
    Loss::nothing()
}

/// What is lost with the content of a file or directory.
fn content(path: &AbsolutePath, change: Change, world: &dyn World, budget: &mut usize) -> Loss {
    let entry = world.entry(path);
    if entry == Entry::Missing {
        return absent(path, world);
    }
    let place = world.place();
    if place.temporary.contains(path) || is_runtime_of_all(path) {
        return Loss::new(Stake::Critical, TEMPORARY_OF_ALL);
    }
    if is_temporary(path, world) {
        return Loss::new(Stake::Regenerable, "");
    }
    if is_made_by_session(path, world) && !place.workspace.is_within(path) {
        return Loss::new(Stake::Regenerable, "made by this session");
    }
    if let Some(loss) = repository_data(path, world) {
        return loss;
    }
    if is_trash(path) {
        return Loss::new(Stake::Regenerable, THROWN_AWAY);
    }
    if let Some(why) = regenerable_cache(path, &place.home).or_else(|| generated(path, world)) {
        return Loss::new(Stake::Regenerable, format!("made again by {why}"));
    }
    if change == Change::Overwrite && key_material(path) && credential(path, &place.home).is_some() {
        return Loss::new(Stake::Critical, "a private key");
    }
    match entry {
        Entry::Directory => directory(path, change, world, budget),
        Entry::Symlink(_) if change == Change::Remove => {
            Loss::new(Stake::Regenerable, "only a symbolic link")
        }
        Entry::File(facts) if facts.bytes == 0 => Loss::new(Stake::Regenerable, "an empty file"),
        Entry::File(_) | Entry::Symlink(_) | Entry::Special | Entry::Unknown | Entry::Missing => {
            file(path, world.version(path))
        }
    }
}

/// Whether this session made what stands at a path. What a link leads to is not made with the link.
fn is_made_by_session(path: &AbsolutePath, world: &dyn World) -> bool {
    let leads_away = |made: &AbsolutePath| {
        std::iter::successors(path.parent(), AbsolutePath::parent)
            .take_while(|above| above.is_within(made))
            .any(|above| matches!(world.entry(&above), Entry::Symlink(_)))
    };
    world.history().created.iter().any(|made| path.is_within(made) && !leads_away(made))
}

fn file(path: &AbsolutePath, version: VersionState) -> Loss {
    let secret = path.name().is_some_and(environment_file);
    match version {
        VersionState::Missing => Loss::nothing(),
        VersionState::TrackedClean => Loss::new(Stake::Recoverable, ""),
        VersionState::TrackedModified => Loss::new(Stake::Unsaved, "has changes that are in no commit"),
        VersionState::Ignored if secret => Loss::new(Stake::Unsaved, "holds settings that are in no commit"),
        VersionState::Ignored | VersionState::Untracked => Loss::new(Stake::Unsaved, "is in no commit"),
        VersionState::NoRepository => Loss::new(Stake::Unsaved, "no version control holds it"),
        VersionState::Unknown => Loss::new(Stake::Unsaved, "whether it is in a commit is not known"),
    }
}

/// Weighs a directory by the files in it, and says how many of them are the only copy.
fn directory(path: &AbsolutePath, change: Change, world: &dyn World, budget: &mut usize) -> Loss {
    match world.version(path) {
        VersionState::TrackedClean => return Loss::new(Stake::Recoverable, ""),
        VersionState::Unknown => {
            return Loss::new(Stake::Unsaved, "whether all in it is in a commit is not known");
        }
        VersionState::Missing
        | VersionState::Ignored
        | VersionState::TrackedModified
        | VersionState::Untracked
        | VersionState::NoRepository => {}
    }
    let Listing::Names(names) = world.children(path) else {
        return Loss::new(Stake::Unsaved, "what it holds is not known");
    };
    let mut worst = Loss::nothing();
    let mut unsaved = 0_usize;
    for name in names {
        let Some(left) = budget.checked_sub(1) else {
            return Loss::new(Stake::Unsaved, "holds many files").or_worse(worst);
        };
        *budget = left;
        let loss = content(&path.join(&name), change, world, budget);
        if loss.stake == Stake::Unsaved {
            unsaved += 1;
        }
        worst = worst.or_worse(loss);
    }
    match (worst.stake, unsaved) {
        (Stake::Unsaved, 1) if worst.note.starts_with("holds") => worst,
        (Stake::Unsaved, 1) if worst.note == "is in no commit" => {
            Loss::new(Stake::Unsaved, "holds a file that is in no commit")
        }
        (Stake::Unsaved, 1) => {
            Loss::new(Stake::Unsaved, format!("holds what is in no commit: {}", worst.note))
        }
        (Stake::Unsaved, _) => {
            Loss::new(Stake::Unsaved, format!("holds {unsaved} entries that are in no commit"))
        }
        (Stake::Nothing | Stake::Regenerable | Stake::Recoverable | Stake::Critical, _) => worst,
    }
}

/// A repository and its data: the history is the only copy until it is pushed, the rest git makes again.
fn repository_data(path: &AbsolutePath, world: &dyn World) -> Option<Loss> {
    let text = path.as_str();
    if path.name() == Some(".git") {
        // In a linked work tree or a submodule `.git` is a small file that points to the real data.
        return match world.entry(path) {
            Entry::Directory => Some(Loss::new(Stake::Critical, "the whole history of a repository")),
            _ => Some(Loss::new(Stake::Regenerable, "points to a repository")),
        };
    }
    if let Some(inside) = inside_repository(text) {
        let first = inside.split('/').next().unwrap_or_default();
        let is_empty = || {
            world.entry(path) == Entry::Directory
                && matches!(world.children(path), Listing::Names(names) if names.is_empty())
        };
        return Some(match first {
            "objects" | "refs" | "worktrees" | "modules" | "hooks" | "info" | "logs" if is_empty() => {
                Loss::new(Stake::Regenerable, "made again by git")
            }
            "objects" | "refs" | "HEAD" | "packed-refs" | "worktrees" | "modules"
                if !inside.ends_with(".lock") =>
            {
                Loss::new(Stake::Critical, "the history of a repository")
            }
            "hooks" | "config" | "info" | "logs" if !inside.ends_with(".lock") => {
                Loss::new(Stake::Unsaved, "settings of a repository are in no commit")
            }
            "index" => Loss::new(Stake::Recoverable, "what is staged"),
            _ => Loss::new(Stake::Regenerable, "made again by git"),
        });
    }
    let bare = || {
        path.name().is_some_and(|name| name.ends_with(".git"))
            && world.entry(&path.join("objects")) == Entry::Directory
            && matches!(world.entry(&path.join("HEAD")), Entry::File(_))
    };
    if world.entry(path) == Entry::Directory
        && (world.entry(&path.join(".git")) == Entry::Directory || bare())
    {
        return Some(Loss::new(Stake::Critical, "a whole repository with its history"));
    }
    None
}

/// What of a path lies inside the data of a repository: of `.git`, or of a bare repository, which is called `NAME.git`.
fn inside_repository(text: &str) -> Option<&str> {
    if let Some((_, inside)) = text.split_once("/.git/") {
        return Some(inside);
    }
    let (_, inside) = text.split_once(".git/")?;
    let first = inside.split('/').next().unwrap_or_default();
    matches!(first, "objects" | "refs" | "HEAD" | "packed-refs" | "hooks" | "config").then_some(inside)
}

/// Directories for temporary files on any machine, by their name.
const TEMPORARY_BY_NAME: &[&str] = &["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp"];

/// Whether a name in a directory for temporary files is that of a directory in which every display server, font server and input method
/// has its sockets (tmpfiles.d/x11.conf of systemd 256).
pub(super) fn holds_sockets_of_all(name: &str) -> bool {
    matches!(name, ".X11-unix" | ".ICE-unix" | ".XIM-unix" | ".font-unix")
}

/// Whether a directory holds the sockets and locks of all that is running, of this machine or of one user (file-hierarchy(7),
/// `XDG_RUNTIME_DIR`).
fn is_runtime_of_all(path: &AbsolutePath) -> bool {
    let text = path.as_str();
    let below = text.strip_prefix("/var/run").or_else(|| text.strip_prefix("/run")).unwrap_or(text);
    matches!(below, "/lock" | "/user" | "/dbus" | "/var/lock" | "/dev/shm")
        || below.strip_prefix("/user/").is_some_and(|user| user.chars().all(|digit| digit.is_ascii_digit()))
}

/// What goes with a directory for temporary files as a whole: sockets, locks and unsaved work of every program that is running.
pub(super) const TEMPORARY_OF_ALL: &str = "temporary files of every program on this machine";

const THROWN_AWAY: &str = "was thrown away before";

/// Whether a path is what a user threw away and can still take back.
fn is_trash(path: &AbsolutePath) -> bool {
    let text = path.as_str();
    text.contains("/.local/share/Trash") || path.parts().any(|part| part == ".Trash")
}

fn loss_of_pattern(pattern: &PathPattern<'_>, depth: Depth, change: Change, world: &dyn World) -> Loss {
    let base = &pattern.base;
    let place = world.place();
    // `**` right below is what is left of a name that is not known, mostly that of one temporary directory.
    let is_of_all = place.temporary.contains(base)
        || TEMPORARY_BY_NAME.contains(&base.as_str())
        || is_runtime_of_all(base);
    if is_of_all
        && pattern.names_all_of_a_sort()
        && pattern.last() != Some("**")
        && change != Change::Permissions
    {
        return match (pattern.expand(world), change) {
            (Matches::Paths(paths), _) if paths.is_empty() => Loss::nothing(),
            (Matches::Paths(_) | Matches::Unknown, Change::Remove) => {
                Loss::new(Stake::Critical, TEMPORARY_OF_ALL)
            }
            (Matches::Paths(_) | Matches::Unknown, Change::Overwrite | Change::Permissions) => {
                Loss::new(Stake::Unsaved, TEMPORARY_OF_ALL)
            }
        };
    }
    if pattern.names_everything() {
        let reaches_down = depth == Depth::Recursive || pattern.last() == Some("**");
        if *base == place.workspace && pattern.last() == Some("**") && change == Change::Remove {
            return Loss::new(Stake::Unsaved, "which files of the workspace it reaches is not known");
        }
        let everything = if reaches_down { Depth::Recursive } else { Depth::Single };
        let whole = *base == place.workspace && change != Change::Permissions && !pattern.names_hidden();
        if !whole
            && (reaches_down || system_place(base).is_some())
            && let Some(loss) = disaster(base, everything, change, world)
        {
            return loss;
        }
        if whole && reaches_down {
            let worst = worst_of_matches(pattern, depth, change, world);
            return if worst.stake > Stake::Recoverable {
                Loss::new(Stake::Critical, format!("everything in the workspace; one entry {}", worst.note))
            } else {
                worst
            };
        }
    }
    worst_of_matches(pattern, depth, change, world)
}

fn worst_of_matches(pattern: &PathPattern<'_>, depth: Depth, change: Change, world: &dyn World) -> Loss {
    let probe = pattern.last().map(|last| pattern.base.join(last));
    match pattern.expand(world) {
        Matches::Paths(paths) => paths
            .iter()
            .map(|path| loss_of_path(path, depth, change, world))
            .fold(Loss::nothing(), Loss::or_worse),
        Matches::Unknown => match probe.as_ref().and_then(|probe| generated(probe, world)) {
            Some(why) => Loss::new(Stake::Regenerable, format!("made again by {why}")),
            None if is_temporary(&pattern.base, world) || world.place().temporary.contains(&pattern.base) => {
                Loss::new(Stake::Regenerable, "")
            }
            // As many as there are, they are the files of the task, of which each alone would weigh so.
            None if change == Change::Permissions && pattern.base.is_within(&world.place().workspace) => {
                Loss::new(Stake::Recoverable, "")
            }
            None => Loss::new(Stake::Unsaved, "which files it reaches is not known"),
        },
    }
}

/// Whether a path lies in a directory for temporary files.
pub(crate) fn is_temporary(path: &AbsolutePath, world: &dyn World) -> bool {
    world.place().is_temporary(path)
}

fn in_generated(path: &AbsolutePath, world: &dyn World) -> bool {
    generated(path, world).is_some()
}
