//! Taking old snapshots away, and checking what is left.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use crate::error::SnapshotError;
use crate::id::{ObjectId, SnapshotId};
use crate::index::{Index, View};
use crate::node::{Content, DirectoryTree, LinkGroup, Node, Snapshot};
use crate::pack::{Pack, decode, packed};
use crate::store::{Hold, Listed, Pin, Store};

/// How much is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Snapshots taken before this go, in milliseconds since 1970.
    pub since: u64,
    /// At most so many stay.
    pub count: u64,
    /// They take at most so much on the disk, in bytes.
    pub bytes: u64,
    /// Sessions that are alive: what was saved for them stays.
    pub live: Vec<String>,
}

/// What pruning takes away, or took.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pruned {
    /// The snapshots, oldest first.
    pub snapshots: Vec<SnapshotId>,
    /// How much smaller the store is, in bytes.
    pub bytes: u64,
}

/// A snapshot that is not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackDamage {
    /// Which.
    pub snapshot: SnapshotId,
    /// What is wrong with it: the first thing that was found.
    pub cause: String,
}

impl Store {
    /// Which snapshots would go. Pinned ones stay, the newest stays, and so does what a live session may want to take back.
    pub fn expendable(&self, retention: &Retention) -> Result<Vec<SnapshotId>, SnapshotError> {
        let all = self.snapshots()?;
        let newest = all.last().map(|one| one.id);
        let is_live = |one: &Listed| {
            one.snapshot.place.as_ref().is_some_and(|place| retention.live.contains(&place.session))
        };
        let may_go = |one: &&Listed| one.pin == Pin::Loose && Some(one.id) != newest && !is_live(one);
        // Those that only say where nothing stood are counted for themselves: they push nothing out that was saved.
        let marks = all.iter().filter(|one| one.snapshot.is_mark()).count() as u64;
        let mut count = [all.len() as u64 - marks, marks];
        let mut bytes = all.iter().map(|one| one.disk).sum::<u64>();
        let mut going = Vec::new();
        for one in all.iter().filter(may_go) {
            let [saved, marks] = &mut count;
            let count = if one.snapshot.is_mark() { marks } else { saved };
            if one.snapshot.at < retention.since || *count > retention.count || bytes > retention.bytes {
                going.push(one.id);
                *count -= 1;
                bytes = bytes.saturating_sub(one.disk);
            }
        }
        Ok(going)
    }

    /// Takes snapshots away, and objects of repositories that those have not had since a moment. What others need of them is kept: it is copied into a pack of its own before anything goes, so that a
    /// process that dies meanwhile leaves nothing but more than is needed.
    pub fn prune(&self, going: &[SnapshotId], since: u64) -> Result<Pruned, SnapshotError> {
        let _alone = self.lock(Hold::Alone)?;
        self.forget_objects(since)?;
        let before = self.bytes()?;
        let going: BTreeSet<u64> = going.iter().map(|id| id.0).collect();
        let index = self.index(View::Whole)?;
        let (mut needed, mut groups) = (BTreeSet::new(), BTreeSet::new());
        let mut leaving = BTreeMap::new();
        for (number, path) in self.packs()? {
            match Pack::open(&path, self.seals())? {
                // Nobody writes while we are alone, so a pack that is not closed never will be.
                None => remove(&path)?,
                Some(pack) => match pack.snapshot() {
                    Ok(Some(snapshot)) if !going.contains(&number) => {
                        reach(&index, &snapshot, &mut needed, &mut groups)?;
                    }
                    Ok(Some(_) | None) => {
                        leaving.insert(number, path);
                    }
                    // What is too old goes, whether anybody could read it or not.
                    Err(SnapshotError::Sealed(_))
                        if is_before(&path, since) && !self.is_pinned(SnapshotId(number)) =>
                    {
                        leaving.insert(number, path);
                    }
                    // What it needs of others is not known.
                    Err(error @ SnapshotError::Sealed(_)) => return Err(error),
                    // What is damaged is kept for whoever wants to look at it.
                    Err(_) => {}
                },
            }
        }
        self.forget_names(&groups)?;
        let mut kept = None;
        for id in needed {
            let Some(found) = index.find(&id).filter(|found| leaving.contains_key(&found.pack)) else {
                continue;
            };
            let content;
            let (name, object) = if found.row.form.is_sealed() {
                (found.row.name, index.stored(&id, &found)?)
            } else {
                content = index.read(&id)?;
                self.seals().stored(id, packed(&content))?
            };
            let pack = match &mut kept {
                Some((_, pack)) => pack,
                None => &mut kept.insert(self.next_pack(index.newest())?).1,
            };
            pack.add(name, &object)?;
        }
        if let Some((_, pack)) = kept {
            pack.seal(None, self.seals())?;
        }
        // Whoever dies from here on leaves an index that knows the greatest number: it is not given again.
        index.rewrite(self.directory())?;
        for (number, path) in &leaving {
            remove(path)?;
            drop(self.pin(SnapshotId(*number), Pin::Loose));
            // Of what is gone nobody takes anything back.
            remove(&self.footprint_path(SnapshotId(*number)))?;
            remove(&self.announced_path(SnapshotId(*number)))?;
        }
        drop(index);
        self.index(View::Whole)?.rewrite(self.directory())?;
        let snapshots =
            leaving.keys().filter(|number| going.contains(number)).map(|number| SnapshotId(*number));
        Ok(Pruned { snapshots: snapshots.collect(), bytes: before.saturating_sub(self.bytes()?) })
    }

    /// Reads everything that snapshots need and checks it against its name. Empty when all is whole.
    pub fn verify(&self) -> Result<Vec<PackDamage>, SnapshotError> {
        let _shared = self.lock(Hold::Shared)?;
        let index = self.index(View::Whole)?;
        let mut sound = BTreeSet::new();
        let mut hurt = Vec::new();
        for (number, path) in self.packs()? {
            let snapshot = SnapshotId(number);
            let found = match Pack::open(&path, self.seals())? {
                // One that is being written, or whose writer died.
                None => continue,
                Some(pack) => pack.snapshot(),
            };
            let checked = found.and_then(|found| match found {
                Some(found) => {
                    let mut needed = BTreeSet::new();
                    reach(&index, &found, &mut needed, &mut BTreeSet::new())?;
                    needed.into_iter().try_for_each(|id| {
                        if sound.insert(id) {
                            index.read(&id).map(drop).inspect_err(|_| {
                                sound.remove(&id);
                            })?;
                        }
                        Ok(())
                    })
                }
                None => Ok(()),
            });
            if let Err(error) = checked {
                hurt.push(PackDamage { snapshot, cause: error.to_string() });
            }
        }
        Ok(hurt)
    }

    /// What the store takes on the disk, in bytes.
    pub fn bytes(&self) -> Result<u64, SnapshotError> {
        let packs = self.packs()?;
        let others: Vec<_> = self.tables().chain([self.directory().join("seen")]).collect();
        let length = |path: &std::path::PathBuf| fs::metadata(path).map_or(0, |facts| facts.len());
        Ok(packs.values().chain(&others).map(length).sum())
    }
}

/// The objects that a snapshot needs, and the files of several names that it holds.
fn reach(
    index: &Index,
    snapshot: &Snapshot,
    needed: &mut BTreeSet<ObjectId>,
    groups: &mut BTreeSet<LinkGroup>,
) -> Result<(), SnapshotError> {
    let mut waiting: Vec<Node> = snapshot.roots.iter().filter_map(|root| root.node.clone()).collect();
    while let Some(node) = waiting.pop() {
        if let Node::File { links: Some(of), .. } = &node {
            groups.insert(*of);
        }
        match node {
            Node::File { content: Content::Whole(id), .. } => {
                needed.insert(id);
            }
            Node::File { content: Content::Parts(list), .. } => {
                if needed.insert(list) {
                    let parts: Vec<ObjectId> = decode(&index.read(&list)?, std::path::Path::new("parts"))?;
                    needed.extend(parts);
                }
            }
            Node::Directory { tree: Some(id), .. } => {
                if needed.insert(id) {
                    let tree: DirectoryTree = decode(&index.read(&id)?, std::path::Path::new("tree"))?;
                    waiting.extend(tree.0.into_iter().map(|entry| entry.node));
                }
            }
            Node::Directory { tree: None, .. } | Node::Symlink { .. } | Node::Pipe { .. } => {}
        }
    }
    Ok(())
}

/// Whether a file was written before a moment in milliseconds since 1970.
fn is_before(path: &std::path::Path, since: u64) -> bool {
    let modified = fs::metadata(path).and_then(|facts| facts.modified()).ok();
    let moment = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    moment.is_some_and(|moment| moment.as_millis() < u128::from(since))
}

fn remove(path: &std::path::Path) -> Result<(), SnapshotError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SnapshotError::Write { path: path.to_owned(), source: error })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
