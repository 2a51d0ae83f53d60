//! Files that `git clean` and its like sweep away.

use crate::effect::{Certainty, Depth, EffectKind, Target};
use crate::interpreter::{Draft, Value};
use crate::path::AbsolutePath;
use crate::programs::git::Git;
use crate::programs::git::tree::{self, Directories, Found, NAMED, Sweep, Swept};
use crate::world::{Entry, Listing, VersionState};
use checkrein_glob::{Glob, Style};

impl Git<'_, '_> {
    pub(super) fn sweep_away(
        &mut self,
        starts: Option<Vec<AbsolutePath>>,
        sweep: Sweep,
        directories: Directories,
        spare: &[String],
        note: &str,
    ) {
        let root = self.root();
        let spared = |path: &AbsolutePath| {
            let relative = root.as_ref().and_then(|root| path.relative_to(root));
            spare.iter().any(|pattern| excludes(pattern, path.name(), relative))
        };
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
                Entry::Directory => tree::sweep(&self.known(), &start, sweep, directories, &spared),
                Entry::File(_) | Entry::Symlink(_) | Entry::Special => {
                    match self.known().takes(sweep, &start) {
                        Some(true) => Some(Swept::of(vec![start.clone()])),
                        Some(false) => Some(Swept::default()),
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
                let draft = Draft::new(EffectKind::VcsLocalLoss, Target::Path(start.clone())).recursive();
                self.machine.add(draft.note("which files are not tracked could not be found out").note(note));
                self.sweep_away_guard(&start, sweep, &spared);
            }
        }
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
    fn sweep_away_guard(
        &mut self,
        start: &AbsolutePath,
        sweep: Sweep,
        spared: &dyn Fn(&AbsolutePath) -> bool,
    ) {
        let world = self.machine.world();
        let taken: Vec<AbsolutePath> = (world.place().guarded.iter().map(|guarded| guarded.path.clone()))
            .filter(|path| path.is_within(start) && !spared(path))
            .filter(|path| self.machine.entry(path) != Entry::Missing)
            .filter(|path| self.known().takes(sweep, path) != Some(false))
            .collect();
        for path in taken {
            self.machine.delete(&Value::exact(path.as_str()), Depth::Single);
        }
    }

    pub(super) fn ask_before_sweeping(
        &mut self,
        starts: Option<Vec<AbsolutePath>>,
        sweep: Sweep,
        directories: Directories,
        spare: &[String],
        note: &str,
    ) {
        let before = self.machine.effect_count();
        self.sweep_away(starts, sweep, directories, spare, note);
        self.machine.amend(before, |effect| effect.certainty = Certainty::Possible);
    }

    /// Removes the files that patterns take, each by itself.
    pub(super) fn sweep_patterns(&mut self, patterns: &[Value], sweep: Sweep, directories: Directories) {
        let (Some(root), Some(specs)) = (self.root(), self.pathspecs(patterns)) else {
            self.possibly_lose_untracked("which files the patterns take could not be found out");
            if let Some(root) = self.root() {
                self.sweep_away_guard(&root, sweep, &|_| false);
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
            self.sweep_away_guard(&root, sweep, &|path: &AbsolutePath| !takes(path));
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

/// Whether `-e PATTERN` leaves a path out, by its name or, with a slash in the pattern, by its path from the root.
fn excludes(pattern: &str, name: Option<&str>, relative: Option<&str>) -> bool {
    let pattern = pattern.trim_end_matches('/');
    if pattern.contains('/') {
        return !pattern.contains(['*', '?', '[']) && relative == Some(pattern.trim_start_matches('/'));
    }
    name.is_some_and(|name| Glob::new(pattern, Style::Gitignore).matches(name))
}
