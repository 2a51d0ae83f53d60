//! Files of the guard that git would bring, change or take away: its policy and the settings of clients, where a repository holds them.
//!
//! What a switch, a merge or a stash does to them is told by comparing what the commits hold. Where they hold the same, or hold none, git
//! leaves them alone, and nothing is said.

use crate::effect::{EffectKind, Severity, Target};
use crate::guard;
use crate::interpreter::Inspection;
use crate::interpreter::{Draft, Value};
use crate::path::AbsolutePath;
use crate::world::{Committed, Entry, VersionState};

use super::Git;
use super::options::Words;
use super::working::matches_pathspec;

/// How tracked files change.
#[derive(Debug, Clone)]
pub(super) enum Arrival {
    /// They go.
    Nothing,
    /// They become what a revision holds.
    Becomes(String),
    /// They become what a revision holds, but those that it does not have stay.
    Gets(String),
    /// What happened to a revision since both came apart happens here too.
    Joined(String),
    /// What happened between two revisions happens here too.
    Difference {
        /// From here.
        base: String,
        /// To here.
        tip: String,
    },
}

/// What is put into a stash besides changes of tracked files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stashed {
    Tracked,
    Untracked,
    Everything,
}

/// A file of the guard below the root of a work tree.
struct GuardFile {
    path: AbsolutePath,
    relative: String,
}

impl Git<'_, '_> {
    /// Adds what an arrival does to files of the guard, of those at the paths or, without any, of all.
    pub(super) fn arrive(&mut self, arrival: &Arrival, paths: &[Value]) {
        for file in self.guard_files(paths) {
            if self.reaches(arrival, &file) {
                self.touch_guard(file.path, "git brings another version of it, or takes it away");
            }
        }
    }

    /// As [`Git::arrive`], of what a word names as a revision; of nothing when it is not known.
    pub(super) fn arrive_as(&mut self, arrival: fn(String) -> Arrival, revision: Option<&Value>) {
        if let Some(text) = revision.and_then(Value::as_exact) {
            self.arrive(&arrival(text.to_owned()), &[]);
        }
    }

    /// Adds what comes to lie below a directory of its own, a work tree or a clone, when that holds files of the guard.
    pub(super) fn arrive_below(
        &mut self,
        place: &AbsolutePath,
        repository: Option<&AbsolutePath>,
        revision: &str,
    ) -> Inspection {
        let below: Vec<AbsolutePath> = (guard::paths(self.machine.world()).into_iter())
            .map(|guarded| guarded.path)
            .filter(|path| path != place && path.is_within(place))
            .collect();
        let mut inspection = if below.is_empty() { Inspection::Open } else { Inspection::WithoutGuard };
        for path in below {
            let relative = path.relative_to(place).unwrap_or_default();
            let held =
                repository.map(|repository| self.machine.world().committed(repository, revision, relative));
            match held {
                Some(Committed::Object(_)) => self.machine.write(&Value::exact(path.as_str())),
                Some(Committed::Nothing) => {}
                Some(Committed::NoRevision | Committed::Unknown) | None => inspection = Inspection::Open,
            }
        }
        inspection
    }

    /// Adds what `git stash` takes away of the guard.
    pub(super) fn stash_guard(&mut self, words: &Words) {
        let stashed = if words.any(&["-a", "--all"]) {
            Stashed::Everything
        } else if words.any(&["-u", "--include-untracked"]) {
            Stashed::Untracked
        } else {
            Stashed::Tracked
        };
        let verb = words.operand(0).filter(|_| words.before_dashes != Some(0));
        let from = usize::from(matches!(verb, Some("push" | "save")));
        let paths = if verb == Some("save") { Vec::new() } else { words.operands_from(from).to_vec() };
        for file in self.guard_files(&paths) {
            let is_added = || {
                matches!(self.held("", &file), Committed::Object(_))
                    && self.held("HEAD", &file) == Committed::Nothing
            };
            let goes = match self.machine.world().version(&file.path) {
                VersionState::TrackedModified => true,
                VersionState::TrackedClean => is_added(),
                VersionState::Untracked => stashed != Stashed::Tracked,
                VersionState::Ignored => stashed == Stashed::Everything,
                VersionState::Missing | VersionState::NoRepository | VersionState::Unknown => false,
            };
            if goes {
                self.touch_guard(file.path, "git moves it, or what was changed in it, to the stash");
            }
        }
    }

    /// Adds what `git stash pop` and its like bring back.
    pub(super) fn unstash_guard(&mut self, words: &Words) {
        let entry = words.operand(1).filter(|name| !name.starts_with('-')).unwrap_or("stash");
        let entry = if entry.chars().all(|c| c.is_ascii_digit()) {
            format!("stash@{{{entry}}}")
        } else {
            entry.to_owned()
        };
        self.arrive(&Arrival::Difference { base: format!("{entry}^1"), tip: entry }, &[]);
    }

    /// Adds what commits bring that are applied again, or taken back.
    pub(super) fn replay_guard(&mut self, name: &str, operands: &[Value]) {
        for operand in operands.iter().filter_map(Value::as_exact) {
            let (base, tip) = match operand.split_once("..") {
                Some((base, tip)) => (base.to_owned(), tip.trim_start_matches('.').to_owned()),
                None => (format!("{operand}^"), operand.to_owned()),
            };
            let arrival = if name == "revert" {
                Arrival::Difference { base: tip, tip: base }
            } else {
                Arrival::Difference { base, tip }
            };
            self.arrive(&arrival, &[]);
        }
    }

    /// Adds the files of the guard that patches name.
    pub(super) fn patch_guard(&mut self, patches: &[Value]) {
        let named: Vec<String> = patches.iter().flat_map(|patch| self.paths_in_patch(patch)).collect();
        for file in self.guard_files(&[]) {
            if named.contains(&file.relative) {
                self.touch_guard(file.path, "git brings another version of it, or takes it away");
            }
        }
    }

    /// Adds what a pull brings: of a repository on this machine what it holds, else what is known of the branch that is followed.
    pub(super) fn pull_guard(&mut self, words: &Words) {
        let source = words.operands().first();
        let near = source
            .filter(|source| source.known_start().starts_with(['/', '.']))
            .and_then(|source| self.located(source));
        let branch = words.operand(1).map(|name| name.split(':').next().unwrap_or(name).to_owned());
        if let Some(place) = near {
            let branch = branch.unwrap_or_else(|| "HEAD".to_owned());
            for file in self.guard_files(&[]) {
                let theirs = self.machine.world().committed(&place, &branch, &file.relative);
                if self.replaces(&self.held("", &file), &theirs, &file) {
                    self.touch_guard(file.path, "git brings another version of it");
                }
            }
            return;
        }
        let revision = match (source.and_then(Value::as_exact), branch) {
            (Some(remote), Some(branch)) => format!("{remote}/{branch}"),
            _ => "@{u}".to_owned(),
        };
        self.arrive(&Arrival::Joined(revision), &[]);
        // Where no work tree of the session is, what a pull brings is as unknown as an archive.
        for file in self.guard_files(&[]) {
            if !self.is_work(&file.path) {
                self.touch_guard(file.path, "what is pulled over the directory that holds it is not known");
            }
        }
    }

    fn is_work(&self, path: &AbsolutePath) -> bool {
        path.is_within(&self.machine.world().place().workspace)
    }

    /// The files of the guard in the work tree, of those at the paths or, without any, all.
    fn guard_files(&self, paths: &[Value]) -> Vec<GuardFile> {
        let Some(root) = self.root() else { return Vec::new() };
        let excluded = |path: &AbsolutePath| {
            paths
                .iter()
                .filter_map(Value::as_exact)
                .filter_map(excluded_from_root)
                .any(|rest| path.relative_to(&root).is_some_and(|name| matches_pathspec(rest, name)))
        };
        let chosen = |path: &AbsolutePath| {
            !excluded(path) && (paths.is_empty() || paths.iter().any(|pathspec| self.takes(pathspec, path)))
        };
        guard::paths(self.machine.world())
            .into_iter()
            .filter(|guarded| chosen(&guarded.path))
            .filter_map(|guarded| {
                let relative = guarded.path.relative_to(&root)?.to_owned();
                (!relative.is_empty()).then_some(GuardFile { path: guarded.path, relative })
            })
            .collect()
    }

    /// Whether a pathspec takes a path.
    fn takes(&self, pathspec: &Value, path: &AbsolutePath) -> bool {
        match (pathspec.as_exact(), &self.cwd) {
            (Some(text), _) if text.starts_with(":/") => true,
            (Some(text), _) if text.starts_with(':') => false,
            (Some(text), Some(cwd)) if text.contains(['*', '?', '[']) => {
                path.relative_to(cwd).is_some_and(|name| matches_pathspec(text, name))
            }
            (Some(_), _) => self.located(pathspec).is_some_and(|place| path.is_within(&place)),
            (None, _) => true,
        }
    }

    /// What a revision holds; `` is the index.
    fn held(&self, revision: &str, file: &GuardFile) -> Committed {
        let elsewhere = self.directory.is_some();
        if revision.is_empty() && elsewhere {
            // What another repository last put here is not asked: what stands here counts.
            return match self.machine.entry(&file.path) {
                Entry::Missing => Committed::Nothing,
                Entry::File(_) | Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                    Committed::Unknown
                }
            };
        }
        let place = if elsewhere { self.repository_directory() } else { self.root() };
        place.map_or(Committed::Unknown, |place| {
            self.machine.world().committed(&place, revision, &file.relative)
        })
    }

    fn reaches(&self, arrival: &Arrival, file: &GuardFile) -> bool {
        let ours = self.held("", file);
        let is_tracked = matches!(ours, Committed::Object(_));
        match arrival {
            Arrival::Nothing => is_tracked,
            Arrival::Becomes(revision) => match self.held(revision, file) {
                Committed::Nothing => is_tracked,
                theirs => self.replaces(&ours, &theirs, file),
            },
            Arrival::Gets(revision) => match self.held(revision, file) {
                Committed::Nothing => false,
                theirs => self.replaces(&ours, &theirs, file),
            },
            Arrival::Joined(revision) => {
                let theirs = self.held(revision, file);
                if theirs == ours || theirs == Committed::NoRevision {
                    return false;
                }
                let base = self.held(&format!("HEAD...{revision}"), file);
                match (&base, &theirs) {
                    (base, theirs) if base == theirs => false,
                    (Committed::Object(_), Committed::Nothing) => is_tracked,
                    // What never was there is not taken away.
                    (_, Committed::Nothing) => false,
                    (_, theirs) => self.replaces(&ours, theirs, file),
                }
            }
            Arrival::Difference { base, tip } => match (self.held(base, file), self.held(tip, file)) {
                (base, tip) if base == tip => false,
                (Committed::Object(_), Committed::Nothing) => is_tracked,
                (_, Committed::Nothing) => false,
                (_, tip) => self.replaces(&ours, &tip, file),
            },
        }
    }

    /// Whether something else than what stands there comes in its place. In the workspace a file of the guard that comes where none is
    /// takes nothing away; what it says is held against what a person trusts.
    fn replaces(&self, ours: &Committed, theirs: &Committed, file: &GuardFile) -> bool {
        let is_there = || self.machine.entry(&file.path) != Entry::Missing;
        match (ours, theirs) {
            (_, Committed::NoRevision | Committed::Nothing) => false,
            (Committed::Object(ours), Committed::Object(theirs)) => ours != theirs,
            (_, Committed::Object(_)) => is_there() || !self.is_work(&file.path),
            (Committed::Object(_), Committed::Unknown) => true,
            (_, Committed::Unknown) => !self.is_work(&file.path),
        }
    }

    fn touch_guard(&mut self, path: AbsolutePath, note: &str) {
        // A switch of branches is work; a person says whether the guard may change with it.
        let severity = if self.is_work(&path) { Severity::High } else { Severity::Critical };
        self.machine.add(
            Draft::new(EffectKind::GuardTampering, Target::Path(path))
                .possible()
                .severity(severity)
                .irreversible()
                .note(note),
        );
    }
}

/// The path, from the root of the work tree, that a pathspec leaves out: `:(top,exclude)path`.
fn excluded_from_root(pathspec: &str) -> Option<&str> {
    let (signs, path) = pathspec.strip_prefix(":(")?.split_once(')')?;
    let has = |sign: &str| signs.split(',').any(|given| given == sign);
    (has("top") && has("exclude")).then_some(path)
}
