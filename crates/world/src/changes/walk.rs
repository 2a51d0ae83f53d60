//! The walk: directories first, then the files in them, those that matter most first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Instant, UNIX_EPOCH};

use checkrein_facts::{Repository, regenerated_tree};
use checkrein_protocol::{Change, ChangeKind, Timestamp};

use super::listing::{Listing, Shown};
use super::picture::{Folder, Picture};
use super::{
    Before, ChangeScan, Coverage, KnownNames, Memory, Novelty, ScanRequest, changed_at, modified_at,
    nanoseconds,
};
use crate::budget::Budget;
use crate::ignore::{IgnoreDecision, PathKind, Rules};
use crate::repository::repository_at;
use crate::version::{Versions, rules};

/// How many trees that are left out are named (ours).
const NAMED_TREES: usize = 8;
/// How many names the picture keeps of places that this look did not reach (ours).
const KEPT_FOLDERS: usize = 20_000;
/// How fresh a change of a directory may be for its time to tell it from the next one, in milliseconds: the clocks of file systems tick
/// up to every 10 ms (ours).
const TICK: u64 = 20;
/// After how many files the time is looked at.
const STRIDE: usize = 16;

/// The files and directories of a repository of which at least one changes with every change of its references.
const REFERENCES: [&str; 6] = ["HEAD", "packed-refs", "logs/HEAD", "refs/heads", "refs/tags", "refs/stash"];

/// One look under way.
pub(super) struct Walk<'a> {
    ground: &'a ScanRequest<'a>,
    since: i128,
    before: Option<&'a Picture>,
    names: &'a KnownNames<'a>,
    mask: &'a dyn Fn(&str) -> Option<String>,
    started: Instant,
    device: u64,
    steps: usize,
    coverage: Coverage,
    changes: Vec<Change>,
    /// Directories in which something was found to have changed.
    lively: BTreeSet<String>,
    folders: BTreeMap<String, Folder>,
    unread: usize,
    repository: Option<Repository>,
    versions: Versions,
    budget: Budget,
    general: [Rules; 2],
    stop: Option<&'static str>,
    waiting: VecDeque<Waiting>,
    batches: [Vec<Batch>; 3],
}

/// The two passes of a look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Directories,
    Files,
}

/// A directory that is still to be looked at.
struct Waiting {
    path: PathBuf,
    relative: String,
    rules: Option<Rc<Layer>>,
    origin: Origin,
}

/// Whether a directory was there before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Old,
    New,
    Unknown,
}

/// The files of one directory.
struct Batch {
    path: PathBuf,
    relative: String,
    rules: Option<Rc<Layer>>,
    names: Vec<OsString>,
    past: Past,
}

/// What is known of the names that a directory held before.
enum Past {
    /// None came or went.
    Same,
    /// The directory itself is new.
    Nothing,
    /// These were there.
    Names(BTreeMap<String, PathKind>),
    /// Some came or went; these were there at some time, as the index of the repository says.
    Tracked(BTreeMap<String, PathKind>),
}

/// The ignore rules of one directory and of those above it.
struct Layer {
    rules: Rules,
    /// The length of the path of the directory, with the slash behind it.
    skip: usize,
    above: Option<Rc<Layer>>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        ground: &'a ScanRequest<'a>,
        since: Timestamp,
        before: &Before<'a>,
        mask: &'a dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let versions = Versions::new(ground.home, ground.configuration);
        let repository = repository_at(ground.root);
        let general = repository.as_ref().map(|known| versions.general_rules(known)).unwrap_or_default();
        Self {
            ground,
            since: nanoseconds(since),
            before: before.picture.filter(|picture| picture.root == ground.root.as_str()),
            names: before.names,
            mask,
            started: Instant::now(),
            device: 0,
            steps: 0,
            coverage: Coverage { memory: Memory::Picture, ..Coverage::default() },
            changes: Vec::new(),
            lively: BTreeSet::new(),
            folders: BTreeMap::new(),
            unread: 0,
            repository,
            versions,
            budget: Budget::new(),
            general,
            stop: None,
            waiting: VecDeque::new(),
            batches: [Vec::new(), Vec::new(), Vec::new()],
        }
    }

    pub(super) fn run(mut self) -> ChangeScan {
        let root = PathBuf::from(self.ground.root.as_str());
        match fs::symlink_metadata(&root) {
            Ok(facts) => self.device = facts.dev(),
            Err(_) => self.coverage.gaps.push("the workspace could not be read".to_owned()),
        }
        self.look_at_repository();
        self.waiting.push_back(Waiting {
            path: root,
            relative: String::new(),
            rules: None,
            origin: Origin::Old,
        });
        while let Some(next) = self.waiting.pop_front() {
            if self.is_over(Pass::Directories) {
                break;
            }
            self.directory(next);
        }
        // The files of what was reached are looked at even if not everything was.
        let first_stop = self.stop.take();
        let [changed, near, far] = std::mem::take(&mut self.batches);
        for batch in changed.into_iter().chain(near).chain(far) {
            self.files(&batch);
        }
        self.stop = first_stop.or(self.stop);
        self.finish()
    }

    fn finish(mut self) -> ChangeScan {
        if let Some(why) = self.stop {
            self.coverage.gaps.push(why.to_owned());
            // What was not reached this time is remembered as it was.
            let missed = self.before.into_iter().flat_map(|picture| &picture.folders);
            for (relative, folder) in missed.take(KEPT_FOLDERS) {
                self.folders.entry(relative.clone()).or_insert_with(|| folder.clone());
            }
        }
        if self.unread > 0 {
            self.coverage.gaps.push(format!("{} directories could not be read", self.unread));
        }
        let novelty = match self.before {
            Some(picture) if picture.folders == self.folders => Novelty::Same,
            Some(_) | None => Novelty::New,
        };
        let picture =
            Picture { root: self.ground.root.to_string(), taken: self.ground.now, folders: self.folders };
        ChangeScan { changes: self.changes, coverage: self.coverage, picture, novelty }
    }

    /// Whether a bound is reached; then nothing more is looked at in this pass.
    fn is_over(&mut self, pass: Pass) -> bool {
        self.steps += 1;
        let bounds = &self.ground.bounds;
        let (time, stride) = match pass {
            // Something is left for the files.
            Pass::Directories => (bounds.time * 3 / 5, 1),
            Pass::Files => (bounds.time, STRIDE),
        };
        if self.stop.is_none() {
            if pass == Pass::Directories && self.coverage.entries > bounds.entries {
                self.stop = Some("there are more names than are looked at");
            } else if self.changes.len() >= bounds.changes {
                self.stop = Some("there are more changes than are listed");
            } else if self.steps.is_multiple_of(stride) && self.started.elapsed() > time {
                self.stop = Some("the time for looking was over");
            }
        }
        self.stop.is_some()
    }

    fn directory(&mut self, this: Waiting) {
        let Ok(facts) = fs::symlink_metadata(&this.path) else {
            self.unread += 1;
            return;
        };
        if !facts.is_dir() {
            return;
        }
        if facts.dev() != self.device {
            self.coverage.gaps.push(format!("{} is on another file system", this.path.display()));
            return;
        }
        let rearranged = modified_at(&facts) >= self.since;
        let origin = match this.origin {
            Origin::Unknown if is_born_since(&this.path, self.since) == Some(true) => Origin::New,
            other => other,
        };
        if origin == Origin::New && changed_at(&facts) >= self.since {
            self.found(ChangeKind::Created, &this.relative);
        } else if !rearranged && changed_at(&facts) >= self.since {
            self.found(ChangeKind::Modified, &this.relative);
        }
        let known = self.before.and_then(|picture| picture.folders.get(&this.relative));
        let modified = (facts.mtime(), facts.mtime_nsec());
        let unchanged = known.filter(|folder| folder.modified == modified && folder.is_usable());
        let read = match unchanged {
            Some(folder) => Some(Listing::of(folder)),
            None => Listing::read(&this.path, self.ground.bounds.entries),
        };
        let Some(listing) = read else {
            self.unread += 1;
            return;
        };
        self.coverage.entries += listing.directories.len() + listing.files.len();
        let settled = nanoseconds(Timestamp(self.ground.now.0.saturating_sub(TICK)));
        let shown = unchanged.map_or_else(|| Shown::of(&listing, self.mask), Shown::again);
        let past = if !rearranged {
            Past::Same
        } else if origin == Origin::New {
            Past::Nothing
        } else {
            self.past(&this.relative, known, &shown)
        };
        let rules = self.layer(&this, &listing);
        self.gone(&this.relative, &past, &shown, rules.as_ref());
        self.descend(&this, &listing, &shown, &past, rules.as_ref());
        let priority = match &past {
            Past::Names(_) | Past::Tracked(_) | Past::Nothing => 0,
            Past::Same if self.is_near(&this.relative) => 1,
            Past::Same => 2,
        };
        let folder = Folder {
            modified,
            trusted: shown.is_plain && modified_at(&facts) < settled,
            directories: shown.directories,
            files: shown.files,
        };
        self.folders.insert(this.relative.clone(), folder);
        let batch = Batch { path: this.path, relative: this.relative, rules, names: listing.files, past };
        if let Some(batches) = self.batches.get_mut(priority) {
            batches.push(batch);
        }
    }

    /// What was in a directory before, in which names came or went.
    fn past(&mut self, relative: &str, known: Option<&Folder>, shown: &Shown) -> Past {
        let mut names: BTreeMap<String, PathKind> =
            known.into_iter().flat_map(Folder::names).map(|(name, node)| (name.to_owned(), node)).collect();
        let right_before = (self.names)(relative);
        if known.is_some() || right_before.is_some() {
            let right_before = right_before.into_iter().flatten();
            names.extend(right_before.map(|(name, node)| (Shown::name(name.as_bytes(), self.mask).0, node)));
            return Past::Names(names);
        }
        self.coverage.memory = Memory::Partial;
        let tracked = match &self.repository {
            Some(repository) => self.versions.tracked_in(repository, relative, &self.budget),
            None => None,
        };
        let tracked = tracked.unwrap_or_default();
        let mut names: BTreeMap<String, PathKind> =
            tracked.iter().map(|name| (Shown::name(name, self.mask).0, PathKind::File)).collect();
        // What git knows as a file and is a directory now is a repository of its own.
        names.retain(|name, _| !shown.directories.split_terminator('/').any(|held| held == name));
        Past::Tracked(names)
    }

    /// Lists what was in a directory and is not there any more, but for trees that are made again.
    fn gone(&mut self, relative: &str, past: &Past, shown: &Shown, rules: Option<&Rc<Layer>>) {
        let (Past::Names(names) | Past::Tracked(names)) = past else { return };
        let held: BTreeSet<&str> =
            shown.directories.split_terminator('/').chain(shown.files.split_terminator('/')).collect();
        let beside = |name: &str| held.contains(name);
        for (name, node) in names.iter().filter(|(name, _)| !held.contains(name.as_str())) {
            let path = below(relative, name);
            if *node == PathKind::Directory && self.is_made_again(name, &path, &beside, rules) {
                self.lively.insert(relative.to_owned());
            } else {
                self.found(ChangeKind::Deleted, &path);
            }
        }
    }

    /// Whether a tree is not worth looking into: a build or an install makes it again, or version control ignores it.
    fn is_made_again(
        &self,
        name: &str,
        relative: &str,
        beside: &dyn Fn(&str) -> bool,
        rules: Option<&Rc<Layer>>,
    ) -> bool {
        let is_generated = match &self.repository {
            // The ignore rules know better than names that people also use for their own work.
            Some(_) => regenerated_tree(name, &|_| false).is_some(),
            None => regenerated_tree(name, beside).is_some(),
        };
        is_generated || self.is_ignored(relative, PathKind::Directory, rules)
    }

    /// Puts the directories in a directory on the list, and names the trees that are not looked into.
    fn descend(
        &mut self,
        this: &Waiting,
        listing: &Listing,
        shown: &Shown,
        past: &Past,
        rules: Option<&Rc<Layer>>,
    ) {
        let beside = |name: &str| listing.files.iter().any(|held| held == name);
        for (name, text) in listing.directories.iter().zip(shown.directories.split_terminator('/')) {
            let relative = below(&this.relative, text);
            let path = self.ground.root.join(&relative);
            if text == ".git" || self.ground.spared.iter().any(|spared| path.is_within(spared)) {
                continue;
            }
            if self.is_made_again(text, &relative, &beside, rules) {
                // It may be what came into a directory that was never looked at before.
                self.lively.insert(this.relative.clone());
                if self.coverage.left_out.len() < NAMED_TREES {
                    self.coverage.left_out.push(path);
                }
                continue;
            }
            let origin = match past {
                Past::Same => Origin::Old,
                Past::Names(names) if names.contains_key(text) => Origin::Old,
                Past::Nothing | Past::Names(_) => Origin::New,
                Past::Tracked(_) => Origin::Unknown,
            };
            let next = Waiting {
                path: this.path.join(name),
                relative: relative.clone(),
                rules: rules.cloned(),
                origin,
            };
            if self.is_near(&relative) || self.leads_near(&relative) {
                self.waiting.push_front(next);
            } else {
                self.waiting.push_back(next);
            }
        }
    }

    fn files(&mut self, batch: &Batch) {
        for name in &batch.names {
            if self.is_over(Pass::Files) {
                return;
            }
            let Ok(facts) = fs::symlink_metadata(batch.path.join(name)) else { continue };
            if changed_at(&facts) < self.since {
                continue;
            }
            let (text, _) = Shown::name(name.as_bytes(), self.mask);
            let relative = below(&batch.relative, &text);
            let kind = match &batch.past {
                Past::Same => ChangeKind::Modified,
                Past::Names(names) if names.contains_key(&text) => ChangeKind::Modified,
                Past::Nothing | Past::Names(_) => ChangeKind::Created,
                Past::Tracked(names) if names.contains_key(&text) => ChangeKind::Modified,
                Past::Tracked(_) => match is_born_since(&batch.path.join(name), self.since) {
                    Some(false) => ChangeKind::Modified,
                    Some(true) | None => ChangeKind::Created,
                },
            };
            if self.is_ignored(&relative, PathKind::File, batch.rules.as_ref()) {
                self.lively.insert(batch.relative.clone());
            } else {
                // The name as it is, not as the picture shows it: what is written down later is masked as a whole.
                self.found(kind, &below(&batch.relative, &name.to_string_lossy()));
            }
        }
        if matches!(batch.past, Past::Tracked(_)) && !self.lively.contains(&batch.relative) {
            self.found(ChangeKind::Rearranged, &batch.relative);
        }
    }

    fn found(&mut self, kind: ChangeKind, relative: &str) {
        let directory = relative.rsplit_once('/').map_or("", |(directory, _)| directory);
        self.lively.insert(directory.to_owned());
        let path = self.ground.root.join(relative);
        if self.ground.spared.iter().any(|spared| path.is_within(spared)) {
            return;
        }
        self.changes.push(Change { path, kind });
    }

    /// The data of the repository count as one path, but for what makes git run something: its configuration and its hooks.
    fn look_at_repository(&mut self) {
        let data = Path::new(self.ground.root.as_str()).join(".git");
        let is_changed = |name: &str| {
            fs::symlink_metadata(data.join(name)).is_ok_and(|facts| changed_at(&facts) >= self.since)
        };
        let references = REFERENCES.into_iter().any(is_changed);
        let configuration = is_changed("config");
        let hooks = is_changed("hooks");
        let mut names: Vec<String> = Vec::new();
        for entry in fs::read_dir(data.join("hooks")).into_iter().flatten().flatten().take(200) {
            if entry.metadata().is_ok_and(|facts| changed_at(&facts) >= self.since) {
                names.push(format!(".git/hooks/{}", entry.file_name().to_string_lossy()));
            }
        }
        if references {
            self.found(ChangeKind::Modified, ".git");
        }
        if configuration {
            self.found(ChangeKind::Modified, ".git/config");
        }
        if hooks && names.is_empty() {
            self.found(ChangeKind::Rearranged, ".git/hooks");
        }
        let kind = if hooks { ChangeKind::Created } else { ChangeKind::Modified };
        names.iter().for_each(|name| self.found(kind, name));
    }

    fn layer(&self, this: &Waiting, listing: &Listing) -> Option<Rc<Layer>> {
        let is_ruled = self.repository.is_some() && listing.files.iter().any(|name| name == ".gitignore");
        if !is_ruled {
            return this.rules.clone();
        }
        let rules = rules(&self.ground.root.join(&below(&this.relative, ".gitignore")));
        let skip = if this.relative.is_empty() { 0 } else { this.relative.len() + 1 };
        Some(Rc::new(Layer { rules, skip, above: this.rules.clone() }))
    }

    /// Whether rules ignore a path of which no directory above is ignored.
    fn is_ignored(&self, relative: &str, node: PathKind, rules: Option<&Rc<Layer>>) -> bool {
        let mut next = rules;
        while let Some(layer) = next {
            let answer = relative.get(layer.skip..).and_then(|below| layer.rules.answer(below, node));
            if let Some(answer) = answer {
                return answer == IgnoreDecision::Ignore;
            }
            next = layer.above.as_ref();
        }
        let general = self.general.iter().find_map(|rules| rules.answer(relative, node));
        general == Some(IgnoreDecision::Ignore)
    }

    /// Whether a directory is the one in which the action ran, or lies in it.
    fn is_near(&self, relative: &str) -> bool {
        self.ground.near != self.ground.root && self.ground.root.join(relative).is_within(self.ground.near)
    }

    fn leads_near(&self, relative: &str) -> bool {
        self.ground.near.is_within(&self.ground.root.join(relative))
    }
}

/// Whether a file was made since a moment; `None` where that is not known.
fn is_born_since(path: &Path, since: i128) -> Option<bool> {
    let born = checkrein_files::born(path)?.duration_since(UNIX_EPOCH).ok()?;
    i128::try_from(born.as_nanos()).ok().map(|born| born >= since)
}

fn below(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}
