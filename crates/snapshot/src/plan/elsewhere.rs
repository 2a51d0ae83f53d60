//! What stands somewhere else too, so that nothing is lost with it where a restore writes over it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{Prepared, RestoreAction, Step, group};
use crate::diff::node_at;
use crate::draft::SnapshotDraft;
use crate::node::{Content, LinkGroup, Node, Root, SavedPath};
use crate::second_names::{Likeness, likeness};

/// Among how many names another file with the same content is looked for (ours).
const LOOKED_AT: usize = 5_000;

/// Files by their lengths in bytes, each with its number.
pub(super) type Standing = HashMap<u64, Vec<(PathBuf, u64)>>;

/// What there is to a file or a link beside its name and its facts.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Substance {
    Content(Content),
    Target(Vec<u8>),
}

/// From where an action may have taken what it wrote, beside what it was to write itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionSources {
    /// The files and directories that it was to read or to move.
    pub places: Vec<PathBuf>,
    /// Whether version control wrote files for it.
    pub version_control: VersionControlPart,
}

/// Whether version control wrote files for an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionControlPart {
    /// It may have.
    MayWrite,
    /// It did not.
    None,
}

impl Prepared {
    /// Limits what the action may have written to what it was to write itself and what it was to take from `sources`, where nobody was told when it
    /// ended: everything else is somebody's work, wherever it stands too.
    pub fn limit_sources(&mut self, sources: ActionSources) {
        self.sources = Some(sources);
    }

    /// Whether what a step would replace or remove stays elsewhere, and may have been written there by the action.
    pub fn is_taken_from_elsewhere(&self, step: &Step) -> bool {
        // What stood there is what stands there, whoever made another file of it.
        if substance(step.now.as_ref()).is_some_and(|now| substance(step.then.as_ref()) == Some(now)) {
            return true;
        }
        let Some(ActionSources { places, .. }) = &self.sources else {
            return self.is_elsewhere(step) || self.is_copied(step, |_| true);
        };
        let is_other = self.past.announced.names_content(&step.path)
            && !matches!(&step.now, Some(Node::File { content: Content::Whole(id), .. })
                if self.past.announced.holds(&step.path, Some(*id)));
        let is_source =
            |path: &Path| path != step.path.as_path() && places.iter().any(|source| path.starts_with(source));
        !is_other
            && (self.is_saved_at(step, places)
                || self.is_copied(step, is_source)
                || self.is_unpacked_from(step, places))
    }

    /// Whether what version control holds at a path may be what the action left there.
    pub fn may_be_committed(&self) -> bool {
        self.sources.as_ref().is_none_or(|sources| match sources.version_control {
            VersionControlPart::MayWrite => true,
            VersionControlPart::None => false,
        })
    }

    /// Whether the snapshot holds what a step would replace or remove at or below one of these places, other than its own.
    fn is_saved_at(&self, step: &Step, sources: &[PathBuf]) -> bool {
        let Some(substance) = substance(step.now.as_ref()) else { return false };
        let of_source = |source: &PathBuf| {
            let around = self.then.iter().filter(|root| source.starts_with(root.path.as_path()));
            let below = self.then.iter().filter(|root| root.path.as_path().starts_with(source));
            let nodes = around.filter_map(|root| {
                let node = node_at(&self.draft, root, &SavedPath::from(source.as_path())).ok()??;
                Some((source.clone(), node))
            });
            let roots = below.filter_map(|root| Some((root.path.as_path().to_owned(), root.node.clone()?)));
            nodes.chain(roots).collect::<Vec<_>>()
        };
        let starts = sources.iter().flat_map(of_source).collect();
        holds_beside(&self.draft, starts, step.path.as_path(), &substance)
    }

    /// Whether what a step would replace or remove is in the snapshot too, under whatever name, so that nothing is lost with it.
    pub fn is_elsewhere(&self, step: &Step) -> bool {
        let Some(substance) = substance(step.now.as_ref()) else { return false };
        self.substances.get_or_init(|| substances(&self.draft, &self.then)).contains(&substance)
    }

    /// Whether what a step would remove has another name that stays.
    pub fn has_other_names(&self, step: &Step) -> bool {
        let number = |path: &Path| {
            let facts = fs::symlink_metadata(path).ok()?;
            Some((facts.dev(), facts.ino(), facts.nlink()))
        };
        let Some((device, inode, links)) = number(step.path.as_path()).filter(|(.., links)| *links > 1)
        else {
            return false;
        };
        let is_going = |step: &&Step| {
            step.deed == RestoreAction::Remove
                && number(step.path.as_path()).is_some_and(|(d, i, _)| (d, i) == (device, inode))
        };
        self.steps.iter().filter(is_going).count() as u64 + u64::from(self.is_named_by_us(device, inode))
            < links
    }

    fn is_named_by_us(&self, device: u64, inode: u64) -> bool {
        self.draft.store().own_name(LinkGroup { device, inode }).is_some()
    }

    /// Whether what a step would replace is the content of another file too, one that is meant, which stands in the workspace or is one of the sources,
    /// and stays as it is.
    fn is_copied(&self, step: &Step, is_meant: impl Fn(&Path) -> bool) -> bool {
        if step.deed != RestoreAction::Replace {
            return false;
        }
        let Some(Node::File { content, length, .. }) = &step.now else { return false };
        let Ok(own) = fs::symlink_metadata(step.path.as_path()).map(|facts| facts.ino()) else {
            return false;
        };
        // What cannot be read is like nothing.
        let Ok(parts) = self.draft.parts(content) else { return false };
        // Another name of the same file is written to as well, unless this name becomes one of another file.
        let is_written = group(step.now.as_ref()) == group(step.then.as_ref());
        let stays = |path: &Path| self.steps.iter().all(|step| step.path.as_path() != path);
        let starts = || match &self.sources {
            Some(sources) => sources.places.clone(),
            None => vec![self.draft.store().workspace().to_owned()],
        };
        let standing = self.standing.get_or_init(|| standing(starts()));
        standing.get(length).into_iter().flatten().any(|(path, number)| {
            is_meant(path)
                && (*number != own || !is_written)
                && stays(path)
                && likeness(path, &parts, *length, |_| None) == Likeness::Same
        })
    }
}

/// The files at and below some places that hold something, the nearest first, among as many names as are looked at.
fn standing(starts: Vec<PathBuf>) -> Standing {
    let mut found = Standing::new();
    let mut left = LOOKED_AT;
    let mut waiting = VecDeque::new();
    for start in starts {
        match fs::symlink_metadata(&start) {
            Ok(facts) if facts.is_dir() => waiting.push_back(start),
            Ok(facts) if facts.is_file() && facts.len() > 0 => {
                found.entry(facts.len()).or_default().push((start, facts.ino()));
            }
            Ok(_) | Err(_) => {}
        }
    }
    while let Some(directory) = waiting.pop_front() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else { return found };
            left = rest;
            let Ok(facts) = entry.metadata() else { continue };
            if facts.is_dir() {
                waiting.push_back(entry.path());
            } else if facts.is_file() && facts.len() > 0 {
                found.entry(facts.len()).or_default().push((entry.path(), facts.ino()));
            }
        }
    }
    found
}

/// What there is to what stands somewhere; `None` of what has no content.
pub(super) fn substance(node: Option<&Node>) -> Option<Substance> {
    match node? {
        Node::File { content, .. } => Some(Substance::Content(*content)),
        Node::Symlink { target, .. } => Some(Substance::Target(target.clone())),
        Node::Directory { .. } | Node::Pipe { .. } => None,
    }
}

/// Whether one of these nodes, or one below them, holds a substance at another place than `own`.
fn holds_beside(
    draft: &SnapshotDraft,
    mut waiting: Vec<(PathBuf, Node)>,
    own: &Path,
    substance: &Substance,
) -> bool {
    while let Some((path, node)) = waiting.pop() {
        match &node {
            Node::Directory { tree: Some(tree), .. } => {
                let entries = draft.tree(tree).unwrap_or_default().0;
                waiting.extend(
                    entries.into_iter().map(|entry| (path.join(OsStr::from_bytes(&entry.name)), entry.node)),
                );
            }
            node => {
                if path != own && self::substance(Some(node)).as_ref() == Some(substance) {
                    return true;
                }
            }
        }
    }
    false
}

/// The contents of all files and the targets of all links below places. What cannot be read is left out.
fn substances(draft: &SnapshotDraft, roots: &[Root]) -> HashSet<Substance> {
    let mut found = HashSet::new();
    let mut waiting: Vec<Node> = roots.iter().filter_map(|root| root.node.clone()).collect();
    while let Some(node) = waiting.pop() {
        match node {
            Node::File { content, .. } => drop(found.insert(Substance::Content(content))),
            Node::Symlink { target, .. } => drop(found.insert(Substance::Target(target))),
            Node::Directory { tree: Some(tree), .. } => {
                let entries = draft.tree(&tree).unwrap_or_default().0;
                waiting.extend(entries.into_iter().map(|entry| entry.node));
            }
            Node::Directory { tree: None, .. } | Node::Pipe { .. } => {}
        }
    }
    found
}
