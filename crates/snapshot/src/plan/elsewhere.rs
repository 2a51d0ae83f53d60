//! What stands somewhere else too, so that nothing is lost with it where a restore writes over it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{Prepared, RestoreAction, Step, group};
use crate::draft::SnapshotDraft;
use crate::node::{Content, LinkGroup, Node, Root};
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

impl Prepared {
    /// Whether what a step would replace or remove is in the snapshot too, under whatever name, so that nothing is lost with it.
    pub fn is_elsewhere(&self, step: &Step) -> bool {
        let substance = match &step.now {
            Some(Node::File { content, .. }) => Substance::Content(*content),
            Some(Node::Symlink { target, .. }) => Substance::Target(target.clone()),
            Some(Node::Directory { .. } | Node::Pipe { .. }) | None => return false,
        };
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

    /// Whether what a step would replace is the content of another file too, which stands in the workspace and stays as it is.
    pub fn is_copied(&self, step: &Step) -> bool {
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
        let standing = self.standing.get_or_init(|| standing(self.draft.store().workspace()));
        standing.get(length).into_iter().flatten().any(|(path, number)| {
            (*number != own || !is_written)
                && stays(path)
                && likeness(path, &parts, *length, |_| None) == Likeness::Same
        })
    }
}

/// The files below a directory that hold something, the nearest first, among as many names as are looked at.
fn standing(top: &Path) -> Standing {
    let mut found = Standing::new();
    let mut left = LOOKED_AT;
    let mut waiting = VecDeque::from([top.to_owned()]);
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
