//! Files that `git clean` and its like sweep away.

use crate::effect::{Certainty, Depth, EffectKind, Target};
use crate::interpreter::{Draft, Value};
use crate::path::AbsolutePath;
use crate::programs::git::Git;
use crate::programs::git::known::Known;
use crate::programs::git::tree::{self, Directories, Found, NAMED, Sweep, Swept};
use crate::world::{Entry, Listing, VersionState};
use checkrein_glob::ignore::PathKind;

use super::exclusions::Exclusions;

impl Git<'_, '_> {
    pub(super) fn sweep_away(
        &mut self,
        starts: Option<Vec<AbsolutePath>>,
        exclusions: &Exclusions,
        directories: Directories,
        note: &str,
    ) {
        let root = self.root();
        let sweep = exclusions.widened();
        let Some(starts) = starts else {
            self.possibly_lose_untracked("which files the patterns mean is not known");
            return;
        };
        for start in starts {
            let found = match self.machine.entry(&start) {
                Entry::Missing => Some(Swept::default()),
                _ if !self.is_natural() => {
                    // For the repository that is meant, every file here may be one that is not tracked.
                    let draft = Draft::new(EffectKind::FileDelete, Target::Path(start)).recursive();
                    self.machine.add(draft.note("none of it may be tracked by that repository").note(note));
                    continue;
                }
                Entry::Directory
                    if directories == Directories::RemovedWithRepositories
                        && root.as_ref() != Some(&start)
                        && tree::is_repository(self.machine, &start) =>
                {
                    Some(Swept::of(vec![start.clone()]))
                }
                Entry::Directory => {
                    let known = self.known();
                    let spared = |path: &AbsolutePath| self.spares(exclusions, &known, path);
                    tree::sweep(&known, &start, sweep, directories, &spared)
                }
                Entry::File(_) | Entry::Symlink(_) | Entry::Special => {
                    let known = self.known();
                    match known.takes(sweep, &start) {
                        Some(true) if !self.spares(exclusions, &known, &start) => {
                            Some(Swept::of(vec![start.clone()]))
                        }
                        Some(_) => Some(Swept::default()),
                        None => None,
                    }
                }
                Entry::Unknown => None,
            };
            if let Some(Swept { gone, perhaps, .. }) = found {
                let gone = if gone.len() <= NAMED { self.collapsed(&start, gone) } else { gone };
                self.delete_swept(&start, &gone, note);
                self.machine.possibly(|machine| {
                    for path in perhaps.iter().take(NAMED) {
                        machine.delete(&Value::exact(path.as_str()), Depth::Single);
                    }
                });
                if perhaps.len() > NAMED {
                    self.possibly_lose_untracked("which files are tracked by then is not known");
                }
            } else {
                // On another machine nobody keeps what goes, and what a repository there has besides its commits was put there to stay.
                let is_kept = sweep == Sweep::Ignored || !self.machine.is_away();
                let kind = if is_kept { EffectKind::VcsLocalLoss } else { EffectKind::FileDelete };
                let draft = Draft::new(kind, Target::Path(start.clone())).recursive();
                self.machine.add(draft.note("which files are not tracked could not be found out").note(note));
                let known = self.known();
                let spared = |path: &AbsolutePath| self.spares(exclusions, &known, path);
                let of_guard = self.guard_taken(&start, sweep, &spared);
                self.sweep_away_guard(&of_guard);
            }
        }
    }

    /// Whether the patterns of a call leave a path alone.
    fn spares(&self, exclusions: &Exclusions, known: &Known<'_, '_>, path: &AbsolutePath) -> bool {
        let Some(root) = self.root() else { return false };
        let Some(relative) = path.relative_to(&root) else { return false };
        let kind = match self.machine.entry(path) {
            Entry::Directory => PathKind::Directory,
            Entry::File(_) | Entry::Symlink(_) | Entry::Special | Entry::Missing | Entry::Unknown => {
                PathKind::File
            }
        };
        let is_ignored = || known.takes(Sweep::Ignored, path) != Some(false);
        let guarded = &self.machine.world().place().guarded;
        let holds_guard = || guarded.iter().any(|guarded| guarded.path.is_within(path));
        exclusions.spare(relative, kind, &is_ignored, &holds_guard)
    }

    /// Deletes what a sweep below a directory found: each by itself, or where that is too much whatever is there.
    fn delete_swept(&mut self, start: &AbsolutePath, paths: &[AbsolutePath], note: &str) {
        if paths.len() <= NAMED {
            for path in paths {
                let depth = if self.machine.entry(path) == Entry::Directory {
                    Depth::Recursive
                } else {
                    Depth::Single
                };
                self.machine.delete(&Value::exact(path.as_str()), depth);
            }
            return;
        }
        for path in paths.iter().filter(|path| tree::is_repository(self.machine, path)).collect::<Vec<_>>() {
            self.machine.delete(&Value::exact(path.as_str()), Depth::Recursive);
        }
        let count = format!("{} files and directories that are not tracked", paths.len());
        self.machine.add(
            Draft::new(EffectKind::FileDelete, Target::Glob(format!("{}/**", start.as_str())))
                .note(count)
                .note(note),
        );
    }

    /// The files of the guard that a sweep takes of which the rest could not be found out. What git knows of them may not be known either.
    fn guard_taken(
        &self,
        start: &AbsolutePath,
        sweep: Sweep,
        spared: &dyn Fn(&AbsolutePath) -> bool,
    ) -> Vec<AbsolutePath> {
        let world = self.machine.world();
        (world.place().guarded.iter().map(|guarded| guarded.path.clone()))
            .filter(|path| path.is_within(start) && !spared(path))
            .filter(|path| self.machine.entry(path) != Entry::Missing)
            .filter(|path| self.known().takes(sweep, path) != Some(false))
            .collect()
    }

    /// Deletes them, each by itself.
    fn sweep_away_guard(&mut self, taken: &[AbsolutePath]) {
        for path in taken {
            self.machine.delete(&Value::exact(path.as_str()), Depth::Single);
        }
    }

    pub(super) fn ask_before_sweeping(
        &mut self,
        starts: Option<Vec<AbsolutePath>>,
        exclusions: &Exclusions,
        directories: Directories,
        note: &str,
    ) {
        let before = self.machine.effect_count();
        self.sweep_away(starts, exclusions, directories, note);
        self.machine.amend(before, |effect| effect.certainty = Certainty::Possible);
    }

    /// Removes the files that patterns take, each by itself.
    pub(super) fn sweep_patterns(&mut self, patterns: &[Value], sweep: Sweep, directories: Directories) {
        let (Some(root), Some(specs)) = (self.root(), self.pathspecs(patterns)) else {
            self.possibly_lose_untracked("which files the patterns take could not be found out");
            if let Some(root) = self.root() {
                let of_guard = self.guard_taken(&root, sweep, &|_| false);
                self.sweep_away_guard(&of_guard);
            }
            return;
        };
        let takes = |path: &AbsolutePath| path.relative_to(&root).is_some_and(|name| specs.take(name));
        // A directory is looked into for what is taken in it; one that is empty, or a repository of its own, is taken by its own name.
        let machine = &*self.machine;
        let spared = |path: &AbsolutePath| {
            let is_entered = machine.entry(path) == Entry::Directory
                && !tree::is_repository(machine, path)
                && machine.children(path) != Listing::Names(Vec::new());
            !is_entered && !takes(path)
        };
        let found = if self.is_natural() {
            tree::sweep(&self.known(), &root, sweep, directories, &spared)
        } else {
            None
        };
        if let Some(Swept { gone, perhaps, .. }) = found {
            self.delete_swept(&root, &gone, "");
            if !perhaps.is_empty() {
                self.possibly_lose_untracked("which files are tracked by then is not known");
            }
        } else {
            self.possibly_lose_untracked("which files the patterns take could not be found out");
            let of_guard = self.guard_taken(&root, sweep, &|path: &AbsolutePath| !takes(path));
            self.sweep_away_guard(&of_guard);
        }
    }

    /// The files in one of the states that patterns take; `None` when that cannot be told.
    pub(in crate::programs::git) fn matching(
        &self,
        patterns: &[Value],
        states: &[VersionState],
    ) -> Option<Vec<AbsolutePath>> {
        let (root, specs) = (self.root()?, self.pathspecs(patterns)?);
        if !self.is_natural() {
            return None;
        }
        match tree::files(&self.known(), std::slice::from_ref(&root), states) {
            Found::All(files) => Some(
                files
                    .into_iter()
                    .filter(|file| file.relative_to(&root).is_some_and(|name| specs.take(name)))
                    .collect(),
            ),
            Found::Unclear => None,
        }
    }

    /// A named directory of which nothing stays goes as a whole.
    fn collapsed(&self, start: &AbsolutePath, paths: Vec<AbsolutePath>) -> Vec<AbsolutePath> {
        let is_root = self.root().as_ref() == Some(start) || self.cwd.as_ref() == Some(start);
        let stays = match self.machine.children(start) {
            Listing::Names(names) => names.iter().any(|name| !paths.contains(&start.join(name))),
            Listing::Unknown => true,
        };
        if is_root || stays || paths.is_empty() { paths } else { vec![start.clone()] }
    }
}
