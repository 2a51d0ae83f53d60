//! The files of the work tree, by what version control knows about them.

use crate::interpreter::Machine;
use crate::path::AbsolutePath;
use crate::world::{Entry, Listing, VersionState, World};

use super::known::{Known, Standing};

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

/// The files at or below the starting points that are in one of the states by now. Directories that cannot hold one are not entered.
pub(super) fn files(known: &Known<'_, '_>, starts: &[AbsolutePath], states: &[VersionState]) -> Found {
    let machine = known.machine();
    found(
        |path| machine.entry(path),
        |path| machine.children(path),
        |path| known.may_hold(path, states),
        |path| known.standing(path),
        starts,
        states,
    )
}

/// The same as it was before the command.
pub(super) fn files_of_world(world: &dyn World, starts: &[AbsolutePath], states: &[VersionState]) -> Found {
    found(
        |path| world.entry(path),
        |path| world.children(path),
        |path| states.iter().any(|state| *state <= world.version(path)),
        |path| Standing::Is(world.version(path)),
        starts,
        states,
    )
}

fn found(
    entry: impl Fn(&AbsolutePath) -> Entry,
    children: impl Fn(&AbsolutePath) -> Listing,
    may_hold: impl Fn(&AbsolutePath) -> bool,
    standing: impl Fn(&AbsolutePath) -> Standing,
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
                if may_hold(&path) && path.name() != Some(".git") {
                    match children(&path) {
                        Listing::Names(names) => waiting.extend(names.iter().map(|name| path.join(name))),
                        Listing::Unknown => return Found::Unclear,
                    }
                }
            }
            Entry::File(_) | Entry::Symlink(_) | Entry::Special => match standing(&path) {
                Standing::Is(VersionState::Unknown | VersionState::NoRepository) => return Found::Unclear,
                Standing::Is(state) if states.contains(&state) => found.push(path),
                Standing::Either(one, other) if states.contains(&one) && states.contains(&other) => {
                    found.push(path);
                }
                Standing::Either(one, other) if states.contains(&one) || states.contains(&other) => {
                    return Found::Unclear;
                }
                Standing::Is(_) | Standing::Either(..) => {}
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

/// What a sweep takes away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Swept {
    /// What goes: whole directories where nothing in them stays.
    pub(super) gone: Vec<AbsolutePath>,
    /// Files that may go: whether they are tracked by then is not known.
    pub(super) perhaps: Vec<AbsolutePath>,
    /// Whether something stays.
    stays: bool,
    /// Whether something is tracked there.
    is_tracked: bool,
}

impl Swept {
    /// These go, and nothing else.
    pub(super) fn of(gone: Vec<AbsolutePath>) -> Self {
        Self { gone, ..Self::default() }
    }
}

/// What a sweep below `start` would remove, whole directories as one; `None` when it cannot be told. `spared` says which
/// paths are excluded, `enters` whether directories without a tracked file are removed.
pub(super) fn sweep(
    known: &Known<'_, '_>,
    start: &AbsolutePath,
    sweep: Sweep,
    enters: Directories,
    spared: &dyn Fn(&AbsolutePath) -> bool,
) -> Option<Swept> {
    let mut sweeper = Sweeper { known, sweep, enters, spared, looked_at: 0, looked_into: 0 };
    sweeper.swept(start, 0)
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
    let inside = directory.join(".git");
    match machine.entry(&inside) {
        Entry::Missing => false,
        // A file that leads nowhere makes none.
        Entry::File(_) => {
            let text = machine.text(&inside);
            let named = text.as_exact().and_then(|text| text.trim().strip_prefix("gitdir:"));
            named.is_none_or(|named| machine.entry(&directory.join(named.trim())) != Entry::Missing)
        }
        Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => true,
    }
}

/// Directories deeper than this are not looked into (ours).
const DEPTH: usize = 48;

/// One sweep, on its way through the directories.
struct Sweeper<'s, 'm, 'w> {
    known: &'s Known<'m, 'w>,
    sweep: Sweep,
    enters: Directories,
    spared: &'s dyn Fn(&AbsolutePath) -> bool,
    looked_at: usize,
    /// How many directories were looked into for empty ones alone.
    looked_into: usize,
}

impl Sweeper<'_, '_, '_> {
    fn swept(&mut self, directory: &AbsolutePath, depth: usize) -> Option<Swept> {
        let machine = self.known.machine();
        let Listing::Names(names) = machine.children(directory) else {
            return None;
        };
        let mut all = Swept::default();
        for name in names.iter().filter(|name| *name != ".git") {
            self.looked_at += 1;
            if self.looked_at > LOOKED_AT || depth > DEPTH {
                return None;
            }
            let path = directory.join(name);
            if (self.spared)(&path) {
                all.stays = true;
                continue;
            }
            match machine.entry(&path) {
                Entry::Missing => {}
                Entry::Unknown => return None,
                Entry::Directory => self.sweep_directory(path, depth, &mut all)?,
                Entry::File(_) | Entry::Symlink(_) | Entry::Special => self.sweep_file(path, &mut all)?,
            }
        }
        Some(all)
    }

    fn sweep_directory(&mut self, path: AbsolutePath, depth: usize, all: &mut Swept) -> Option<()> {
        if is_repository(self.known.machine(), &path) {
            // A submodule is tracked, and stays.
            let is_submodule = self.known.is_submodule(&path);
            all.is_tracked |= is_submodule;
            if self.enters == Directories::RemovedWithRepositories
                && !is_submodule
                && (self.sweep != Sweep::Ignored || self.known.takes(self.sweep, &path) == Some(true))
            {
                all.gone.push(path);
            } else {
                all.stays = true;
            }
            return Some(());
        }
        if self.known.holds_nothing_but_tracked(&path) {
            all.stays = true;
            all.is_tracked = true;
            if self.sweep != Sweep::Ignored && self.enters != Directories::Left {
                self.sweep_empty(&path, depth, all);
            }
            return Some(());
        }
        if self.known.is_out_of_reach(&path) {
            return None;
        }
        let inner = self.swept(&path, depth + 1)?;
        all.is_tracked |= inner.is_tracked;
        let is_ignored = || self.known.takes(self.sweep, &path) == Some(true);
        let is_whole =
            !inner.stays && (self.sweep != Sweep::Ignored || !inner.gone.is_empty() || is_ignored());
        match self.enters {
            Directories::Removed | Directories::RemovedWithRepositories if is_whole => all.gone.push(path),
            // git does not look into a directory in which it tracks nothing, but for what is ignored there beside other files.
            Directories::Left if is_whole => all.stays = true,
            Directories::Left if !inner.is_tracked && self.sweep != Sweep::Ignored => all.stays = true,
            Directories::Removed | Directories::RemovedWithRepositories | Directories::Left => {
                all.stays = true;
                all.gone.extend(inner.gone);
                all.perhaps.extend(inner.perhaps);
            }
        }
        Some(())
    }

    /// Empty directories in one of which all files are tracked: version control knows nothing of them. As many as are looked at.
    fn sweep_empty(&mut self, directory: &AbsolutePath, depth: usize, all: &mut Swept) {
        let machine = self.known.machine();
        let Some(branches) = machine.world().branches(directory) else { return };
        for path in branches.directories.iter().map(|name| directory.join(name)) {
            self.looked_into += 1;
            if self.looked_into > LOOKED_AT || depth > DEPTH {
                return;
            }
            if (self.spared)(&path) || is_repository(machine, &path) {
                continue;
            }
            if machine.children(&path) == Listing::Names(Vec::new()) {
                all.gone.push(path);
            } else {
                self.sweep_empty(&path, depth + 1, all);
            }
        }
    }

    fn sweep_file(&self, path: AbsolutePath, all: &mut Swept) -> Option<()> {
        match self.known.standing(&path) {
            Standing::Is(VersionState::Unknown | VersionState::NoRepository) => return None,
            Standing::Is(state) if self.sweep.takes(state) => all.gone.push(path),
            Standing::Is(state) => {
                all.stays = true;
                all.is_tracked |= is_tracked(state);
            }
            Standing::Either(one, other) => {
                all.stays = true;
                all.is_tracked |= is_tracked(one) || is_tracked(other);
                if self.sweep.takes(one) || self.sweep.takes(other) {
                    all.perhaps.push(path);
                }
            }
        }
        Some(())
    }
}

/// Whether a file is in one of the states, or nothing says that it is not.
pub(super) fn may_be_in(world: &dyn World, path: &AbsolutePath, states: &[VersionState]) -> bool {
    let state = world.version(path);
    states.contains(&state) || matches!(state, VersionState::Unknown | VersionState::NoRepository)
}

/// Whether a file in this state is tracked.
pub(super) fn is_tracked(state: VersionState) -> bool {
    match state {
        VersionState::TrackedClean | VersionState::TrackedModified => true,
        VersionState::Missing
        | VersionState::Ignored
        | VersionState::Untracked
        | VersionState::NoRepository
        | VersionState::Unknown => false,
    }
}
