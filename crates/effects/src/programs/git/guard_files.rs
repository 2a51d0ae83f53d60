//! Files of the guard that git would bring, change or take away: its policy and the settings of clients, where a repository holds them.
//!
//! What a switch, a merge or a stash does to them is told by comparing what the commits hold. Where they hold the same, or hold none, git
//! leaves them alone, and nothing is said.

use crate::effect::{EffectKind, Severity, Target};
use crate::guard;
use crate::interpreter::Inspection;
use crate::interpreter::{Draft, Input, Untracked, Value};
use crate::path::AbsolutePath;
use crate::world::{Committed, Entry, FileText, VersionState};

use super::Git;
use super::moved::UNREAD;
use super::options::Words;

/// How many commits before another one are asked whether they held a file (ours).
const COMMITS_BEFORE: usize = 16;

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
pub(super) struct GuardFile {
    pub(super) path: AbsolutePath,
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

    /// As [`Git::arrive`], of what a word names as a revision.
    pub(super) fn arrive_as(&mut self, arrival: fn(String) -> Arrival, revision: Option<&Value>) {
        if let Some(revision) = revision {
            self.arrive(&arrival(revision.as_exact().unwrap_or(UNREAD).to_owned()), &[]);
        }
    }

    /// Adds all tracked files of the guard that the paths take or, without any, all: nobody can say what becomes of them.
    pub(super) fn arrive_unread(&mut self, paths: &[Value]) {
        self.arrive(&Arrival::Becomes(UNREAD.to_owned()), paths);
    }

    /// The files of the guard that a revision is not known to hold.
    pub(super) fn guard_files_without(&self, revision: &str) -> Vec<AbsolutePath> {
        let files = self.guard_files(&[]).into_iter();
        let lacks = |file: &GuardFile| {
            matches!(self.held(revision, file), Committed::Nothing | Committed::Unknown)
                && matches!(self.held("", file), Committed::Object(_))
        };
        files.filter(lacks).map(|file| file.path).collect()
    }

    /// Adds the tracked files of the guard that a sparse work tree leaves out; with `cone` only files at the root and those in and above the
    /// directories stay.
    pub(super) fn thin_out(&mut self, words: &Words) {
        let cone = !words.any(&["--no-cone", "--stdin"]) && !words.arguments.uncertain;
        let directories: Vec<String> = words
            .operands_from(1)
            .iter()
            .filter_map(Value::as_exact)
            .map(|text| text.trim_matches('/').to_owned())
            .collect();
        self.leave_out(|path| {
            let stays = cone
                && path.rsplit_once('/').is_none_or(|(folder, _)| {
                    directories.iter().any(|directory| {
                        let below = |long: &str, short: &str| {
                            long == short
                                || long.strip_prefix(short).is_some_and(|rest| rest.starts_with('/'))
                        };
                        below(folder, directory) || below(directory, folder)
                    })
                });
            !stays
        });
    }

    /// Adds the tracked files of the guard that are left out of the work tree.
    pub(super) fn leave_out(&mut self, is_left_out: impl Fn(&str) -> bool) {
        for file in self.guard_files(&[]) {
            let is_tracked = matches!(self.held("", &file), Committed::Object(_));
            if is_tracked && is_left_out(&file.relative) && !self.is_nothing_to(&file) {
                self.touch_guard(file.path, "git takes it out of the work tree");
            }
        }
    }

    /// Adds what comes to lie below a directory of its own, a work tree or a clone, when that holds files of the guard.
    pub(super) fn arrive_below(
        &mut self,
        place: &AbsolutePath,
        repository: Option<&AbsolutePath>,
        revision: &str,
    ) -> Inspection {
        let below: Vec<AbsolutePath> = (self.machine.world().guarded().iter())
            .map(|guarded| guarded.path.clone())
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
        let is_natural = self.is_natural();
        for file in self.guard_files(&paths) {
            let is_added = || {
                matches!(self.held("", &file), Committed::Object(_))
                    && self.held("HEAD", &file) == Committed::Nothing
            };
            // What stands below a work tree that was given is nothing that this repository was asked about.
            let version =
                if is_natural { self.machine.world().version(&file.path) } else { VersionState::Unknown };
            let goes = match version {
                VersionState::TrackedModified => true,
                _ if self.was_added(&file.path) => true,
                _ if self.machine.untracked(&file.path) == Some(Untracked::All) => {
                    stashed != Stashed::Tracked
                }
                VersionState::TrackedClean => is_added(),
                // Where the index cannot be read, it may be one that git does not track.
                VersionState::Untracked | VersionState::Unknown => stashed != Stashed::Tracked,
                VersionState::Ignored => stashed == Stashed::Everything,
                VersionState::Missing | VersionState::NoRepository => false,
            };
            if goes {
                self.touch_guard(file.path, "git moves it, or what was changed in it, to the stash");
            }
        }
        // What is left is what `HEAD` holds, whatever moved that.
        self.arrive(&Arrival::Gets("HEAD".to_owned()), &paths);
    }

    /// Adds what goes of the guard because the action itself gave it to git before.
    pub(super) fn take_added_guard(&mut self, paths: &[Value]) {
        for file in self.guard_files(paths) {
            if self.was_added(&file.path) {
                self.touch_guard(file.path, "git was given it by the same action, and takes it away");
            }
        }
    }

    /// Adds what `git stash pop` and its like bring back.
    pub(super) fn unstash_guard(&mut self, words: &Words) {
        // A branch is named before the entry that is put on it.
        let at = if words.operand(0) == Some("branch") { 2 } else { 1 };
        let entry = words.operand(at).filter(|name| !name.starts_with('-')).unwrap_or("stash");
        let entry = if entry.chars().all(|c| c.is_ascii_digit()) {
            format!("stash@{{{entry}}}")
        } else {
            entry.to_owned()
        };
        // What git did not track is a third parent of its own.
        self.arrive(&Arrival::Gets(format!("{entry}^3")), &[]);
        self.arrive(&Arrival::Difference { base: format!("{entry}^1"), tip: entry }, &[]);
    }

    /// Adds what commits bring that are applied again, or taken back.
    pub(super) fn replay_guard(&mut self, name: &str, operands: &[Value]) {
        if operands.iter().any(|operand| operand.as_exact().is_none()) {
            self.arrive_unread(&[]);
        }
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
        let texts: Vec<Value> = self.patches(patches);
        if texts.iter().any(|text| text.as_exact().is_none()) {
            self.arrive_unread(&[]);
        }
        let named: Vec<String> = texts.iter().flat_map(paths_in_text).collect();
        for file in self.guard_files(&[]) {
            if named.contains(&file.relative) {
                self.touch_guard(file.path, "git brings another version of it, or takes it away");
            }
        }
    }

    /// The texts of patches: of the files that are named, else of what comes in.
    pub(super) fn patches(&self, patches: &[Value]) -> Vec<Value> {
        if patches.is_empty() {
            return self.given_input().into_iter().collect();
        }
        patches.iter().filter_map(|patch| self.given_text(patch)).collect()
    }

    /// The text of a file that git is given by its name, or of its input for `-`; `None` when there is none and git fails.
    pub(super) fn given_text(&self, file: &Value) -> Option<Value> {
        match file.as_exact() {
            Some("-") => self.given_input(),
            _ => match self.located(file) {
                Some(path) if self.machine.entry(&path) == Entry::Missing => None,
                Some(path) => Some(self.machine.text(&path)),
                None => Some(Value::Unknown),
            },
        }
    }

    fn given_input(&self) -> Option<Value> {
        match &self.machine.input {
            Input::Inherited => None,
            Input::Text(text) => Some(text.clone()),
            Input::Local(path) => {
                let path = self.machine.cwd().map(|cwd| cwd.join(path)).or_else(|| AbsolutePath::new(path));
                Some(path.as_ref().map_or(Value::Unknown, |path| self.machine.text(path)))
            }
            Input::Network(_) | Input::Secret(_) | Input::Unknown => Some(Value::Unknown),
        }
    }

    /// Adds what a pull brings: of a repository on this machine what it holds, else what is known of the branch that is followed.
    pub(super) fn pull_guard(&mut self, words: &Words) {
        let source = words.operands().first();
        let near = source.and_then(Value::as_exact).and_then(|source| self.repository_of(source));
        let branch = words
            .operand(1)
            .map(|name| name.split(':').next().unwrap_or(name).trim_start_matches('+').to_owned());
        if source.and_then(Value::as_exact).is_some_and(|source| self.is_own_repository(source)) {
            self.arrive(&Arrival::Joined(branch.unwrap_or_else(|| "HEAD".to_owned())), &[]);
            return;
        }
        if let Some(place) = near {
            let branch = branch.unwrap_or_else(|| "HEAD".to_owned());
            for file in self.guard_files(&[]) {
                let world = self.machine.world();
                let theirs = world.committed(&place, &branch, &file.relative);
                let text = world.committed_text(&place, &branch, &file.relative);
                let ours = self.held("", &file);
                let goes = || {
                    theirs == Committed::Nothing
                        && matches!(ours, Committed::Object(_))
                        && had(|name| world.committed(&place, name, &file.relative), &branch)
                        && !self.is_nothing_to(&file)
                };
                if self.replaces(&ours, &theirs, &text, &file) || goes() {
                    self.touch_guard(file.path, "git brings another version of it, or takes it away");
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
    pub(super) fn guard_files(&self, paths: &[Value]) -> Vec<GuardFile> {
        let Some(root) = self.root() else { return Vec::new() };
        let specs = self.pathspecs(paths);
        let chosen = |path: &AbsolutePath| {
            let name = path.relative_to(&root).unwrap_or_default();
            paths.is_empty() || specs.as_ref().is_none_or(|specs| specs.take(name))
        };
        let guarded = self.machine.world().guarded();
        guarded
            .iter()
            .filter(|guarded| chosen(&guarded.path))
            .filter_map(|guarded| {
                let relative = guarded.path.relative_to(&root)?.to_owned();
                (!relative.is_empty()).then(|| GuardFile { path: guarded.path.clone(), relative })
            })
            .collect()
    }

    /// What a revision holds; `` is the index.
    pub(super) fn held(&self, revision: &str, file: &GuardFile) -> Committed {
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
        match (place, self.meaning(revision)) {
            (Some(place), Some(revision)) => {
                let world = self.machine.world();
                // Of a repository that the command made or put there the world knows nothing.
                let held = if !revision.is_empty() && self.is_made_here() {
                    Committed::NoRevision
                } else {
                    world.committed(&place, &revision, &file.relative)
                };
                match held {
                    // An index that cannot be read mostly holds what the last commit does.
                    Committed::Unknown if revision.is_empty() => {
                        world.committed(&place, "HEAD", &file.relative)
                    }
                    // What is not there may have been brought by the same command. A whole name of an object is one that nobody knows.
                    held @ (Committed::NoRevision | Committed::Unknown) if !revision.is_empty() => {
                        match self.brought(Some(&revision), &file.relative) {
                            // What a remote has is work, as long as nobody knows better.
                            Some(Committed::Unknown) if self.is_work(&file.path) => held,
                            brought => brought.unwrap_or(held),
                        }
                    }
                    held => held,
                }
            }
            _ => self.brought(None, &file.relative).unwrap_or(Committed::Unknown),
        }
    }

    /// The text that a revision holds, of a file with settings of a client.
    fn held_text(&self, revision: &str, file: &GuardFile) -> FileText {
        let place = if self.directory.is_some() { self.repository_directory() } else { self.root() };
        match (place, self.meaning(revision)) {
            (Some(place), Some(revision)) if is_settings(&file.path) => {
                let world = self.machine.world();
                match world.committed(&place, &revision, &file.relative) {
                    Committed::NoRevision | Committed::Unknown => {
                        self.brought_text(Some(&revision), &file.relative)
                    }
                    _ => Some(world.committed_text(&place, &revision, &file.relative)),
                }
                .unwrap_or(FileText::Unknown)
            }
            _ => FileText::Unknown,
        }
    }

    /// Whether nothing of the guard goes when a file goes: settings of a client that register none of its hooks.
    fn is_nothing_to(&self, file: &GuardFile) -> bool {
        is_settings(&file.path)
            && self
                .machine
                .text(&file.path)
                .as_exact()
                .is_some_and(|text| guard::leaves_hooks(Some(text), "{}"))
    }

    fn reaches(&self, arrival: &Arrival, file: &GuardFile) -> bool {
        let ours = self.held("", file);
        let is_taken = || matches!(ours, Committed::Object(_)) && !self.is_nothing_to(file);
        let comes = |theirs: &Committed, revision: &str| {
            let text = if *theirs == ours { FileText::Unknown } else { self.held_text(revision, file) };
            self.replaces(&ours, theirs, &text, file)
        };
        // What is not known is not the same as anything.
        let same = |one: &Committed, other: &Committed| one == other && *one != Committed::Unknown;
        match arrival {
            Arrival::Nothing => is_taken(),
            Arrival::Becomes(revision) => match self.held(revision, file) {
                Committed::Nothing => is_taken(),
                theirs => comes(&theirs, revision),
            },
            Arrival::Gets(revision) => match self.held(revision, file) {
                Committed::Nothing => false,
                theirs => comes(&theirs, revision),
            },
            Arrival::Joined(revision) => {
                let theirs = self.held(revision, file);
                if same(&theirs, &ours) || theirs == Committed::NoRevision {
                    return false;
                }
                let base = self.held(&format!("HEAD...{revision}"), file);
                match (&base, &theirs) {
                    (base, theirs) if same(base, theirs) => false,
                    (Committed::Object(_), Committed::Nothing) => is_taken(),
                    // Where both came apart is not known, but that the file was there is.
                    (Committed::Unknown | Committed::NoRevision, Committed::Nothing) => {
                        is_taken() && had(|name| self.held(name, file), revision)
                    }
                    // What never was there is not taken away.
                    (_, Committed::Nothing) => false,
                    (_, theirs) => comes(theirs, revision),
                }
            }
            Arrival::Difference { base, tip } => match (self.held(base, file), self.held(tip, file)) {
                (base, tip) if same(&base, &tip) => false,
                (Committed::Object(_), Committed::Nothing) => is_taken(),
                (_, Committed::Nothing) => false,
                (_, theirs) => comes(&theirs, tip),
            },
        }
    }

    /// Whether something else than what stands there comes in its place. In the workspace a policy of the guard that comes where none is
    /// takes nothing away: what it says is held against what a user trusts. Settings of a client count by what they do to the hooks.
    fn replaces(&self, ours: &Committed, theirs: &Committed, text: &FileText, file: &GuardFile) -> bool {
        let stands = self.machine.entry(&file.path) != Entry::Missing;
        let before = || self.machine.text(&file.path);
        let is_harmless = || match text {
            FileText::Whole(after) if is_settings(&file.path) => {
                let before = before();
                (!stands || before.as_exact().is_some())
                    && guard::leaves_hooks(before.as_exact().filter(|_| stands), after)
            }
            FileText::Whole(_) | FileText::Beginning(_) | FileText::Unknown => false,
        };
        let is_of_work = self.is_work(&file.path);
        match (ours, theirs) {
            (_, Committed::NoRevision | Committed::Nothing) => false,
            (Committed::Object(ours), Committed::Object(theirs)) => ours != theirs && !is_harmless(),
            (_, Committed::Object(_)) if is_settings(&file.path) => !is_harmless(),
            (_, Committed::Object(_)) => stands || !is_of_work,
            (Committed::Object(_), Committed::Unknown) => true,
            (_, Committed::Unknown) => !is_of_work,
        }
    }

    fn touch_guard(&mut self, path: AbsolutePath, note: &str) {
        // A switch of branches is work; a user says whether the guard may change with it.
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

/// Whether one of the commits before a revision held a file.
fn had(held: impl Fn(&str) -> Committed, revision: &str) -> bool {
    (1..=COMMITS_BEFORE)
        .map(|generation| held(&format!("{revision}~{generation}")))
        .take_while(|held| *held != Committed::NoRevision)
        .any(|held| matches!(held, Committed::Object(_)))
}

/// Whether a path is one of the settings files of Claude Code.
fn is_settings(path: &AbsolutePath) -> bool {
    path.name().is_some_and(|name| name.starts_with("settings") && name.ends_with(".json"))
        && path.parent().is_some_and(|folder| folder.name() == Some(".claude"))
}

/// The paths that the text of a patch changes, relative to the root.
pub(super) fn paths_in_text(text: &Value) -> Vec<String> {
    let mut paths: Vec<String> = text
        .as_exact()
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- ")))
        .map(|name| name.split('\t').next().unwrap_or(name).trim())
        .filter(|name| *name != "/dev/null")
        .map(|name| name.split_once('/').map_or(name, |(_, rest)| rest).to_owned())
        .collect();
    paths.sort();
    paths.dedup();
    paths
}
