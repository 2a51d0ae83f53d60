//! The world at a moment that is past: as it is now, but for what changed in the workspace since.

use std::path::Path;
use std::rc::Rc;

use checkrein_facts::{
    Branches, Committed, Entry, FileFacts, FileText, GuardedPath, GuardedStart, History, HostPaths, Listing,
    Repository, Right, RunByClient, TreeDifferences, VersionState, World,
};
use checkrein_protocol::{AbsolutePath, Timestamp, ToolOutput, Typing};
use checkrein_snapshot::{EarlierWorkspace, Node};

/// The world as a call found it that was heard of later.
pub(crate) struct EarlierWorld<'a> {
    /// As it is now.
    pub(crate) now: &'a dyn World,
    /// What the workspace held at the moment.
    pub(crate) saved: &'a EarlierWorkspace,
    /// Where the workspace is.
    pub(crate) root: &'a AbsolutePath,
    pub(crate) at: Timestamp,
}

/// What stood at a path at the moment.
enum Then {
    /// What stands there now.
    AsNow,
    Nothing,
    Something(Node),
}

impl EarlierWorld<'_> {
    fn then(&self, path: &AbsolutePath) -> Then {
        let Some(below) = path.as_str().strip_prefix(self.root.as_str()) else { return Then::AsNow };
        let below = below.trim_start_matches('/');
        if below.is_empty() || below == ".git" || below.starts_with(".git/") {
            return Then::AsNow;
        }
        let stands = self.now.entry(path);
        let is_changed = match stands {
            Entry::Missing => true,
            Entry::Unknown => return Then::AsNow,
            Entry::File(_) | Entry::Directory | Entry::Symlink(_) | Entry::Special => {
                self.now.changed_since(path, Timestamp(self.at.0.saturating_sub(1))) != Some(false)
            }
        };
        if !is_changed {
            return Then::AsNow;
        }
        match self.saved.node(Path::new(below)) {
            Some(Node::Directory { .. }) if stands == Entry::Directory => Then::AsNow,
            Some(node) => Then::Something(node),
            None if stands == Entry::Missing => Then::AsNow,
            // What version control ignores was not saved, and may have stood there.
            None if self.now.version(path) == VersionState::Ignored => Then::AsNow,
            None => Then::Nothing,
        }
    }

    /// What a file held of at most so many bytes.
    fn held(&self, node: &Node, most: usize) -> FileText {
        let content = self.saved.content(node, most);
        content.map_or(FileText::Unknown, |text| FileText::Whole(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Whether it is known what stood at a path.
    pub(crate) fn is_known(&self, path: &AbsolutePath) -> bool {
        match self.then(path) {
            Then::Nothing | Then::Something(_) => true,
            Then::AsNow => {
                let below = path.as_str().strip_prefix(self.root.as_str()).unwrap_or_default();
                self.now.entry(path) == Entry::Missing
                    || self.saved.node(Path::new(below.trim_start_matches('/'))).is_some()
            }
        }
    }
}

impl World for EarlierWorld<'_> {
    fn entry(&self, path: &AbsolutePath) -> Entry {
        match self.then(path) {
            Then::AsNow => self.now.entry(path),
            Then::Nothing => Entry::Missing,
            Then::Something(node) => match &node {
                Node::File { meta, length, .. } => {
                    let seconds = u64::try_from(meta.modified.seconds).unwrap_or(0);
                    let milliseconds = u64::from(meta.modified.nanoseconds / 1_000_000);
                    let modified = Timestamp(seconds.saturating_mul(1_000).saturating_add(milliseconds));
                    Entry::File(FileFacts { bytes: *length, mode: meta.mode, modified })
                }
                Node::Symlink { target, .. } => Entry::Symlink(String::from_utf8_lossy(target).into_owned()),
                Node::Directory { .. } => Entry::Directory,
                Node::Pipe { .. } => Entry::Special,
            },
        }
    }

    fn children(&self, directory: &AbsolutePath) -> Listing {
        let mut names = match self.now.children(directory) {
            Listing::Names(names) => names,
            Listing::Unknown if self.now.entry(directory) == Entry::Missing => Vec::new(),
            Listing::Unknown => return Listing::Unknown,
        };
        let below = directory.as_str().strip_prefix(self.root.as_str());
        let saved = below.and_then(|below| self.saved.names(Path::new(below.trim_start_matches('/'))));
        if saved.is_none() && names.is_empty() {
            return self.now.children(directory);
        }
        let text = |name: Vec<u8>| String::from_utf8(name).ok();
        let Some(saved) = saved.unwrap_or_default().into_iter().map(text).collect::<Option<Vec<_>>>() else {
            return Listing::Unknown;
        };
        names.extend(saved);
        names.sort();
        names.dedup();
        names.retain(|name| self.entry(&directory.join(name)) != Entry::Missing);
        if names.len() > Listing::LIMIT { Listing::Unknown } else { Listing::Names(names) }
    }

    fn branches(&self, directory: &AbsolutePath) -> Option<Branches> {
        let Listing::Names(names) = self.children(directory) else { return self.now.branches(directory) };
        let mut found = Branches::default();
        for name in names {
            match self.entry(&directory.join(&name)) {
                Entry::Directory => found.directories.push(name),
                Entry::Symlink(_) => found.links.push(name),
                Entry::Missing | Entry::File(_) | Entry::Special | Entry::Unknown => {}
            }
        }
        Some(found)
    }

    fn text(&self, path: &AbsolutePath) -> FileText {
        match self.then(path) {
            Then::AsNow => self.now.text(path),
            Then::Nothing => FileText::Unknown,
            Then::Something(node) => self.held(&node, FileText::LIMIT).as_text(),
        }
    }

    fn code(&self, path: &AbsolutePath) -> FileText {
        match self.then(path) {
            Then::AsNow => self.now.code(path),
            Then::Nothing => FileText::Unknown,
            Then::Something(node) => self.held(&node, FileText::CODE_LIMIT),
        }
    }

    fn version(&self, path: &AbsolutePath) -> VersionState {
        match (self.then(path), self.now.version(path)) {
            (Then::Nothing, _) => VersionState::Missing,
            (Then::Something(_), VersionState::Missing) => VersionState::Untracked,
            (Then::AsNow | Then::Something(_), now) => now,
        }
    }

    fn place(&self) -> &HostPaths {
        self.now.place()
    }
    fn history(&self) -> &History {
        self.now.history()
    }
    fn now(&self) -> Timestamp {
        self.now.now()
    }
    fn repository(&self, path: &AbsolutePath) -> Option<Repository> {
        self.now.repository(path)
    }
    fn holds_tracked(&self, path: &AbsolutePath) -> bool {
        self.now.holds_tracked(path)
    }
    fn committed(&self, repository: &AbsolutePath, revision: &str, path: &str) -> Committed {
        self.now.committed(repository, revision, path)
    }
    fn committed_text(&self, repository: &AbsolutePath, revision: &str, path: &str) -> FileText {
        self.now.committed_text(repository, revision, path)
    }
    fn links_brought(&self, repository: &AbsolutePath, from: &str, to: &str) -> Vec<(String, String)> {
        self.now.links_brought(repository, from, to)
    }
    fn differences(&self, repository: &AbsolutePath, from: &str, to: &str) -> TreeDifferences {
        self.now.differences(repository, from, to)
    }
    fn changed_since(&self, path: &AbsolutePath, moment: Timestamp) -> Option<bool> {
        self.now.changed_since(path, moment)
    }
    fn members(&self, archive: &AbsolutePath) -> Listing {
        self.now.members(archive)
    }
    fn is_same_file(&self, path: &AbsolutePath, other: &AbsolutePath) -> bool {
        self.now.is_same_file(path, other)
    }
    fn guarded(&self) -> Rc<[GuardedPath]> {
        self.now.guarded()
    }
    fn allows(&self, path: &AbsolutePath, right: Right) -> bool {
        self.now.allows(path, right)
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.now.variable(name)
    }
    fn variable_names(&self) -> Vec<String> {
        self.now.variable_names()
    }
    fn confiner(&self) -> Option<AbsolutePath> {
        self.now.confiner()
    }
    fn masker(&self) -> Option<AbsolutePath> {
        self.now.masker()
    }
    fn tool_output(&self) -> ToolOutput {
        self.now.tool_output()
    }
    fn typing(&self) -> Typing {
        self.now.typing()
    }
    fn guarded_start(&self, program: &str, directory: &AbsolutePath) -> GuardedStart {
        self.now.guarded_start(program, directory)
    }
    fn run_by_client(&self) -> Vec<RunByClient> {
        self.now.run_by_client()
    }
    fn owned_remotes(&self) -> Vec<String> {
        self.now.owned_remotes()
    }
}
