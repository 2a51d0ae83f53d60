//! What version control knows about files by now: what it did before the command, and what the command changed about that.
//!
//! A file counts by whether the index holds it, and if not by the rules of what is ignored. The command may have changed both.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use checkrein_glob::ignore::{IgnoreDecision, PathKind, Rules};

use crate::interpreter::git_store::IgnoredFiles;
use crate::interpreter::{Happened, IndexChange, Machine};
use crate::path::AbsolutePath;
use crate::world::{Committed, Entry, TreeDifference, TreeDifferences, VersionState};

use super::Git;
use super::tree::{Sweep, is_tracked};

/// How a file stands to version control by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// In this state.
    Is(VersionState),
    /// In one of two: whether it is tracked by now is not known.
    Either(VersionState, VersionState),
}

/// What the index held before what is noted of its changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// What it held before the command.
    AsItWas,
    /// Nothing: the command took the file of the index away, or made the repository.
    Nothing,
    /// Something that is not read: the command put another file there.
    Unread,
}

/// What a change of the index makes of a path.
enum Change {
    Added(IgnoredFiles),
    Removed,
    /// The revision has these paths which the index before the command did not have, and lacks those.
    Becomes {
        come: BTreeSet<String>,
        gone: BTreeSet<String>,
    },
    /// What this revision holds is asked path by path.
    Asked(String),
    Unclear,
}

/// What is known of the files of one work tree at one point of a command.
pub(super) struct Known<'m, 'w> {
    machine: &'m Machine<'w>,
    root: Option<AbsolutePath>,
    base: Base,
    changes: Vec<(AbsolutePath, Change, Happened)>,
    /// What `HEAD` means, said as before the command.
    head: Option<String>,
    has_new_rules: bool,
    /// The rules that stand in no directory of the work tree, the stronger first.
    general: Vec<AbsolutePath>,
    rules: RefCell<BTreeMap<AbsolutePath, Option<Rc<Rules>>>>,
}

impl<'w> Git<'_, 'w> {
    /// What is known of the files of the work tree by now.
    pub(super) fn known(&self) -> Known<'_, 'w> {
        let machine = &*self.machine;
        let root = self.root();
        let repository = self.repository_directory();
        let changes = machine.index_changes().iter();
        let changes = changes.map(|(change, happened)| {
            let what = match change {
                IndexChange::Added(_, ignored) => Change::Added(*ignored),
                IndexChange::Removed(_) => Change::Removed,
                IndexChange::Becomes(_, None) => Change::Unclear,
                IndexChange::Becomes(_, Some(revision)) => becomes(machine, root.as_ref(), revision),
            };
            (change.place().clone(), what, *happened)
        });
        let base = repository.as_ref().map_or(Base::AsItWas, |repository| base(machine, repository));
        let general = self.general_rules(repository.as_ref());
        let is_rule = |path: &AbsolutePath| {
            let is_of_tree =
                path.name() == Some(".gitignore") && root.as_ref().is_some_and(|root| path.is_within(root));
            let is_setting = repository.as_ref().is_some_and(|own| *path == own.join("config"));
            is_of_tree || is_setting || general.iter().any(|file| file.is_within(path))
        };
        let has_new_rules = base == Base::Nothing
            || self.settings.is_given(EXCLUDES)
            || machine.effects_since(0).any(|effect| {
                effect.kind.file_change().is_some() && effect.target.path().is_some_and(&is_rule)
            });
        Known {
            machine,
            changes: changes.collect(),
            base,
            head: self.meaning("HEAD"),
            has_new_rules,
            general,
            rules: RefCell::default(),
            root,
        }
    }

    /// The files with the rules that stand in no directory of the work tree (gitignore(5)), the stronger first.
    fn general_rules(&self, repository: Option<&AbsolutePath>) -> Vec<AbsolutePath> {
        let home = self.machine.world().place().home.clone();
        let own = repository.map(|repository| repository.join("info/exclude"));
        let personal = if let Some(named) = self.settings.exact(EXCLUDES) {
            match (named.strip_prefix("~/"), &self.cwd) {
                (Some(below), _) => Some(home.join(below)),
                (None, Some(cwd)) => Some(self.root().unwrap_or_else(|| cwd.clone()).join(&named)),
                (None, None) => AbsolutePath::new(&named),
            }
        } else {
            let given = self.machine.variable("XDG_CONFIG_HOME");
            let given = given.as_ref().and_then(|value| value.as_exact()).filter(|text| !text.is_empty());
            let kept = given.and_then(AbsolutePath::new).unwrap_or_else(|| home.join(".config"));
            Some(kept.join("git/ignore"))
        };
        own.into_iter().chain(personal).collect()
    }
}

/// The setting that names a file of rules for all repositories (git-config(1)).
const EXCLUDES: &str = "core.excludesfile";

fn base(machine: &Machine<'_>, repository: &AbsolutePath) -> Base {
    let index = repository.join("index");
    let world = machine.world();
    match (world.entry(&index), machine.entry(&index)) {
        (Entry::Missing, Entry::Missing)
            if world.entry(repository) == Entry::Missing && machine.entry(repository) == Entry::Directory =>
        {
            Base::Nothing
        }
        (Entry::File(_), Entry::Missing) => Base::Nothing,
        (_, Entry::File(_)) if machine.has_touched(&index) => Base::Unread,
        _ => Base::AsItWas,
    }
}

fn becomes(machine: &Machine<'_>, root: Option<&AbsolutePath>, revision: &str) -> Change {
    let Some(root) = root else { return Change::Unclear };
    match machine.world().differences(root, "", revision) {
        TreeDifferences::At(found) => {
            let of = |wanted: TreeDifference| {
                let found = found.iter().filter(|(_, how)| *how == wanted);
                found.map(|(path, _)| path.clone()).collect()
            };
            Change::Becomes { come: of(TreeDifference::Added), gone: of(TreeDifference::Removed) }
        }
        TreeDifferences::NoRevision => Change::Unclear,
        TreeDifferences::Unknown => Change::Asked(revision.to_owned()),
    }
}

impl<'m, 'w> Known<'m, 'w> {
    /// The machine that was asked.
    pub(super) fn machine(&self) -> &'m Machine<'w> {
        self.machine
    }

    /// How a file stands to version control.
    pub(super) fn standing(&self, path: &AbsolutePath) -> Standing {
        let before = match self.machine.world().version(path) {
            // What the command made or moved there is not tracked yet.
            VersionState::Missing if self.machine.entry(path) != Entry::Missing => self.untracked_state(path),
            known => known,
        };
        let relative = self.root.as_ref().and_then(|root| path.relative_to(root));
        let (Some(relative), true) = (relative, self.is_changed()) else { return Standing::Is(before) };
        match before {
            VersionState::Unknown | VersionState::Missing => return Standing::Is(before),
            VersionState::NoRepository if self.base != Base::Nothing => return Standing::Is(before),
            _ => {}
        }
        // What lies in a repository below answers for itself.
        let around = self.machine.world().repository(path);
        let is_below = |around: &AbsolutePath| {
            self.root.as_ref().is_some_and(|root| around != root && around.is_within(root))
        };
        if around.is_some_and(|around| is_below(&around.root)) {
            return Standing::Is(before);
        }
        let was = is_tracked(before);
        let tracked = if was { before } else { VersionState::TrackedClean };
        match self.is_tracked(path, relative, was) {
            Some(true) => Standing::Is(tracked),
            Some(false) => Standing::Is(self.untracked_state(path)),
            None => Standing::Either(tracked, self.untracked_state(path)),
        }
    }

    /// Whether a directory may hold a file in one of the states.
    pub(super) fn may_hold(&self, directory: &AbsolutePath, states: &[VersionState]) -> bool {
        // What a directory answers is its worst file, in the order of the states.
        let worst = self.machine.world().version(directory);
        states.iter().any(|state| *state <= worst)
            || self.is_changed() && !self.holds_nothing_but_tracked(directory)
    }

    /// Whether all in a directory is tracked and as it was added.
    pub(super) fn holds_nothing_but_tracked(&self, directory: &AbsolutePath) -> bool {
        let takes_away = |(place, change, _): &(AbsolutePath, Change, Happened)| {
            let meets = place.is_within(directory) || directory.is_within(place);
            let below =
                |path: &String| self.root.as_ref().is_some_and(|root| root.join(path).is_within(directory));
            meets
                && match change {
                    Change::Added(_) => false,
                    Change::Becomes { gone, .. } => gone.iter().any(below),
                    Change::Removed | Change::Asked(_) | Change::Unclear => true,
                }
        };
        self.machine.world().version(directory) == VersionState::TrackedClean
            && self.base == Base::AsItWas
            && !self.changes.iter().any(takes_away)
    }

    /// Whether nothing is known of what is in a directory.
    pub(super) fn is_out_of_reach(&self, directory: &AbsolutePath) -> bool {
        match self.machine.world().version(directory) {
            VersionState::NoRepository => self.base != Base::Nothing,
            VersionState::Unknown => true,
            VersionState::Missing
            | VersionState::TrackedClean
            | VersionState::Ignored
            | VersionState::TrackedModified
            | VersionState::Untracked => false,
        }
    }

    /// Whether a repository below is one that this one tracks.
    pub(super) fn is_submodule(&self, directory: &AbsolutePath) -> bool {
        let Some(root) = &self.root else { return false };
        let Some(below) = directory.relative_to(root) else { return false };
        let head = self.head.as_deref().unwrap_or("HEAD");
        self.base == Base::AsItWas
            && matches!(self.machine.world().committed(root, head, below), Committed::Object(_))
    }

    /// Whether a sweep takes a file; `None` when that is not known.
    pub(super) fn takes(&self, sweep: Sweep, path: &AbsolutePath) -> Option<bool> {
        match self.standing(path) {
            Standing::Is(VersionState::Unknown | VersionState::NoRepository) => None,
            Standing::Is(state) => Some(sweep.takes(state)),
            Standing::Either(one, other) => {
                (sweep.takes(one) == sweep.takes(other)).then_some(sweep.takes(one))
            }
        }
    }

    fn is_changed(&self) -> bool {
        self.base != Base::AsItWas || !self.changes.is_empty() || self.has_new_rules
    }

    /// Whether the index holds a file by now; `None` when that is not known.
    fn is_tracked(&self, path: &AbsolutePath, relative: &str, was: bool) -> Option<bool> {
        let mut is = match self.base {
            Base::AsItWas => Some(was),
            Base::Nothing => Some(false),
            Base::Unread => None,
        };
        for (_, change, happened) in self.changes.iter().filter(|(place, ..)| path.is_within(place)) {
            let then = match change {
                Change::Added(IgnoredFiles::Added) => Some(true),
                Change::Added(IgnoredFiles::Left) if is == Some(true) => Some(true),
                Change::Added(IgnoredFiles::Left) => match self.untracked_state(path) {
                    VersionState::Untracked => Some(true),
                    VersionState::Ignored => is,
                    _ => None,
                },
                Change::Removed => Some(false),
                Change::Becomes { come, gone } => {
                    Some(come.contains(relative) || was && !gone.contains(relative))
                }
                Change::Asked(revision) => self.holds(revision, relative),
                Change::Unclear => None,
            };
            is = match happened {
                Happened::Surely => then,
                Happened::Maybe if then == is => is,
                Happened::Maybe => None,
            };
        }
        is
    }

    fn holds(&self, revision: &str, relative: &str) -> Option<bool> {
        if revision == TreeDifferences::EMPTY {
            return Some(false);
        }
        match self.machine.world().committed(self.root.as_ref()?, revision, relative) {
            Committed::Object(_) => Some(true),
            Committed::Nothing => Some(false),
            Committed::NoRevision | Committed::Unknown => None,
        }
    }

    /// The state of a file that is not tracked.
    fn untracked_state(&self, path: &AbsolutePath) -> VersionState {
        let before = self.machine.world().version(path);
        if !self.has_new_rules && matches!(before, VersionState::Ignored | VersionState::Untracked) {
            return before;
        }
        match self.is_ignored(path) {
            Some(true) => VersionState::Ignored,
            Some(false) => VersionState::Untracked,
            None => VersionState::Unknown,
        }
    }

    /// Whether rules ignore a path, or a directory that it lies in; `None` when one of them is not known.
    fn is_ignored(&self, path: &AbsolutePath) -> Option<bool> {
        let root = self.root.as_ref()?;
        let relative = path.relative_to(root)?;
        let ends = relative.match_indices('/').map(|(at, _)| at).chain([relative.len()]);
        for end in ends {
            let part = relative.get(..end)?;
            let is_whole = end == relative.len();
            let is_directory = !is_whole || self.machine.entry(path) == Entry::Directory;
            let kind = if is_directory { PathKind::Directory } else { PathKind::File };
            if self.decision(root, part, kind)? == IgnoreDecision::Ignore {
                return Some(true);
            }
        }
        Some(false)
    }

    /// What the nearest rule says of a path below the root.
    fn decision(&self, root: &AbsolutePath, relative: &str, kind: PathKind) -> Option<IgnoreDecision> {
        let starts = std::iter::once(0).chain(relative.match_indices('/').map(|(at, _)| at + 1));
        let mut starts: Vec<usize> = starts.collect();
        starts.reverse();
        for start in starts {
            let directory = relative.get(..start)?.trim_end_matches('/');
            let place = if directory.is_empty() { root.clone() } else { root.join(directory) };
            let rules = self.rules_in(&place.join(".gitignore"))?;
            if let Some(decision) = rules.answer(relative.get(start..)?, kind) {
                return Some(decision);
            }
        }
        for file in &self.general {
            if let Some(decision) = self.rules_in(file)?.answer(relative, kind) {
                return Some(decision);
            }
        }
        Some(IgnoreDecision::Keep)
    }

    /// The rules in a file; `None` when they are not known.
    fn rules_in(&self, file: &AbsolutePath) -> Option<Rc<Rules>> {
        if let Some(known) = self.rules.borrow().get(file) {
            return known.clone();
        }
        let rules = match self.machine.entry(file) {
            Entry::File(_) => self.machine.text(file).as_exact().map(|text| Rc::new(Rules::parse(text))),
            // git reads no rules through a link.
            Entry::Missing | Entry::Symlink(_) | Entry::Directory => Some(Rc::default()),
            Entry::Special | Entry::Unknown => None,
        };
        self.rules.borrow_mut().insert(file.clone(), rules.clone());
        rules
    }
}
