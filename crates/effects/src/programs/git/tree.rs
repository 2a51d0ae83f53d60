//! The files of the work tree, by what version control knows about them.

use crate::interpreter::{Machine, Untracked};
use crate::path::AbsolutePath;
use crate::world::{Committed, Entry, Listing, VersionState, World};

/// The greatest number of paths that are looked at for one question (ours).
const LOOKED_AT: usize = 2048;

/// The greatest number of single paths that are named as targets (ours).
pub(super) const NAMED: usize = 64;

/// Files that were looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// These are all.
    All(Vec<AbsolutePath>),
    /// There are too many files, or something could not be looked at.
    Unclear,
}

/// The files at or below the starting points that are in one of the states. Directories that cannot hold one are not entered.
pub(super) fn files(machine: &Machine<'_>, starts: &[AbsolutePath], states: &[VersionState]) -> Found {
    found(machine.world(), |path| machine.entry(path), |path| machine.children(path), starts, states)
}

/// The same as it was before the command.
pub(super) fn files_of_world(world: &dyn World, starts: &[AbsolutePath], states: &[VersionState]) -> Found {
    found(world, |path| world.entry(path), |path| world.children(path), starts, states)
}

fn found(
    world: &dyn World,
    entry: impl Fn(&AbsolutePath) -> Entry,
    children: impl Fn(&AbsolutePath) -> Listing,
    starts: &[AbsolutePath],
    states: &[VersionState],
) -> Found {
    let mut found = Vec::new();
    let mut waiting: Vec<AbsolutePath> = starts.to_vec();
    let mut looked_at = 0;
    while let Some(path) = waiting.pop() {
        looked_at += 1;
        if looked_at > LOOKED_AT {
            return Found::Unclear;
        }
        match entry(&path) {
            Entry::Missing => {}
            Entry::Unknown => return Found::Unclear,
            Entry::Directory => {
                // What a directory answers is its worst file, in the order of the states.
                let worst = world.version(&path);
                let may_hold = states.iter().any(|state| *state <= worst);
                if may_hold && path.name() != Some(".git") {
                    match children(&path) {
                        Listing::Names(names) => waiting.extend(names.iter().map(|name| path.join(name))),
                        Listing::Unknown => return Found::Unclear,
                    }
                }
            }
            Entry::File(_) | Entry::Symlink(_) | Entry::Special => match world.version(&path) {
                VersionState::Unknown | VersionState::NoRepository => return Found::Unclear,
                state if states.contains(&state) => found.push(path),
                _ => {}
            },
        }
    }
    found.sort();
    Found::All(found)
}

/// What `git clean` looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sweep {
    /// Files that are neither tracked nor ignored.
    Untracked,
    /// All files that are not tracked.
    UntrackedAndIgnored,
    /// Ignored files only.
    Ignored,
}

impl Sweep {
    /// Whether it takes a file that version control sees so.
    pub(super) fn takes(self, state: VersionState) -> bool {
        match state {
            VersionState::Untracked => self != Self::Ignored,
            VersionState::Ignored => self != Self::Untracked,
            VersionState::Missing
            | VersionState::TrackedClean
            | VersionState::TrackedModified
            | VersionState::NoRepository
            | VersionState::Unknown => false,
        }
    }
}

/// What one directory holds for a sweep.
struct Swept {
    /// What would go: whole directories where nothing in them stays.
    gone: Vec<AbsolutePath>,
    /// Whether something stays.
    stays: bool,
}

/// What a sweep below `start` would remove, whole directories as one; `Found::Unclear` when it cannot be told. `spared` says which
/// paths are excluded, `enters` whether directories without a tracked file are removed.
pub(super) fn sweep(
    machine: &Machine<'_>,
    start: &AbsolutePath,
    sweep: Sweep,
    enters: Directories,
    spared: &dyn Fn(&AbsolutePath) -> bool,
) -> Found {
    let mut looked_at = 0;
    match swept(machine, start, sweep, enters, spared, &mut looked_at, 0) {
        Some(swept) => Found::All(swept.gone),
        None => Found::Unclear,
    }
}

/// Whether `git clean` removes whole directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directories {
    /// With `-d`, or below a path that was named.
    Removed,
    /// With `-f` twice: those that are repositories of their own too.
    RemovedWithRepositories,
    /// Without `-d`: directories without a tracked file are left alone.
    Left,
}

/// Whether a directory is a work tree of its own.
pub(super) fn is_repository(machine: &Machine<'_>, directory: &AbsolutePath) -> bool {
    machine.entry(&directory.join(".git")) != Entry::Missing
}

/// Whether a sweep takes a repository below the one that it sweeps.
fn takes_repository(machine: &Machine<'_>, sweep: Sweep, directory: &AbsolutePath) -> bool {
    let Some(parent) = directory.parent() else { return true };
    // What is inside answers for itself, so the repository around it is asked about the directory's name.
    let Some(outer) = machine.world().repository(&parent) else { return true };
    let below = directory.relative_to(&outer.root).unwrap_or_default();
    let is_submodule = matches!(machine.world().committed(&outer.root, "HEAD", below), Committed::Object(_));
    !is_submodule && (sweep != Sweep::Ignored || sweep.takes(machine.world().version(directory)))
}

/// Directories deeper than this are not looked into (ours).
const DEPTH: usize = 48;

fn swept(
    machine: &Machine<'_>,
    directory: &AbsolutePath,
    sweep: Sweep,
    enters: Directories,
    spared: &dyn Fn(&AbsolutePath) -> bool,
    looked_at: &mut usize,
    depth: usize,
) -> Option<Swept> {
    let Listing::Names(names) = machine.children(directory) else {
        return None;
    };
    let mut all = Swept { gone: Vec::new(), stays: false };
    for name in names.iter().filter(|name| *name != ".git") {
        *looked_at += 1;
        if *looked_at > LOOKED_AT || depth > DEPTH {
            return None;
        }
        let path = directory.join(name);
        if spared(&path) {
            all.stays = true;
            continue;
        }
        match machine.entry(&path) {
            Entry::Missing => {}
            Entry::Unknown => return None,
            Entry::Directory => {
                if is_repository(machine, &path) {
                    // A submodule is tracked, and stays.
                    if enters == Directories::RemovedWithRepositories
                        && takes_repository(machine, sweep, &path)
                    {
                        all.gone.push(path);
                    } else {
                        all.stays = true;
                    }
                    continue;
                }
                let inner = match machine.world().version(&path) {
                    VersionState::TrackedClean | VersionState::TrackedModified => {
                        // A clean directory may hold ignored files only if its worst file is at least ignored.
                        if machine.world().version(&path) == VersionState::TrackedClean
                            && !machine.untracks_below(&path)
                        {
                            all.stays = true;
                            continue;
                        }
                        swept(machine, &path, sweep, enters, spared, looked_at, depth + 1)?
                    }
                    VersionState::Unknown | VersionState::NoRepository => return None,
                    VersionState::Missing | VersionState::Ignored | VersionState::Untracked => {
                        swept(machine, &path, sweep, enters, spared, looked_at, depth + 1)?
                    }
                };
                let whole = !inner.stays && (sweep != Sweep::Ignored || !inner.gone.is_empty());
                match enters {
                    Directories::Removed | Directories::RemovedWithRepositories if whole => {
                        all.gone.push(path);
                    }
                    Directories::Left if whole => all.stays = true,
                    Directories::Removed | Directories::RemovedWithRepositories | Directories::Left => {
                        all.stays = true;
                        all.gone.extend(inner.gone);
                    }
                }
            }
            Entry::File(_) | Entry::Symlink(_) | Entry::Special => {
                let state = machine.world().version(&path);
                if matches!(state, VersionState::Unknown | VersionState::NoRepository) {
                    return None;
                }
                // What is not tracked any more may be ignored or not.
                if sweep.takes(state) || is_tracked(state) && is_untracked_by_now(machine, &path) {
                    all.gone.push(path);
                } else {
                    all.stays = true;
                }
            }
        }
    }
    Some(all)
}

/// Whether a sweep takes a file, or nothing says that it does not.
pub(super) fn may_take(machine: &Machine<'_>, sweep: Sweep, path: &AbsolutePath) -> bool {
    let state = machine.world().version(path);
    sweep.takes(state) || !is_told(state) || is_tracked(state) && is_untracked_by_now(machine, path)
}

/// Whether a file is in one of the states, or nothing says that it is not.
pub(super) fn may_be_in(world: &dyn World, path: &AbsolutePath, states: &[VersionState]) -> bool {
    let state = world.version(path);
    states.contains(&state) || !is_told(state)
}

/// Whether it is known what version control knows about a file.
fn is_told(state: VersionState) -> bool {
    !matches!(state, VersionState::Unknown | VersionState::NoRepository)
}

/// Whether the command made version control forget a file that it tracked.
fn is_untracked_by_now(machine: &Machine<'_>, path: &AbsolutePath) -> bool {
    match machine.untracked(path) {
        None => false,
        Some(Untracked::All) => true,
        Some(Untracked::Staged) => {
            let world = machine.world();
            let Some(found) = world.repository(path) else { return true };
            let below = path.relative_to(&found.root).unwrap_or_default();
            !matches!(world.committed(&found.root, "HEAD", below), Committed::Object(_))
        }
    }
}

fn is_tracked(state: VersionState) -> bool {
    match state {
        VersionState::TrackedClean | VersionState::TrackedModified => true,
        VersionState::Missing
        | VersionState::Ignored
        | VersionState::Untracked
        | VersionState::NoRepository
        | VersionState::Unknown => false,
    }
}
