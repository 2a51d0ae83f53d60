//! `checkrein rollback`: goes back to a snapshot, or some paths of it.

use std::path::PathBuf;

use checkrein_snapshot::SnapshotId;

use super::restoring::{Ground, Permissions, restore};
use super::{Exit, Output};
use crate::error::CommandError;
use crate::surroundings::Surroundings;

/// Goes back to a snapshot: everything in it, or what lies in `paths`.
pub fn rollback(
    surroundings: &Surroundings,
    snapshot: SnapshotId,
    paths: &[String],
    permissions: Permissions,
    output: Output,
) -> Result<Exit, CommandError> {
    let ground = Ground::open(surroundings)?;
    let listed = ground.store.snapshot(snapshot)?;
    let paths: Vec<PathBuf> = paths.iter().map(|path| real(surroundings, path)).collect();
    let prepared = ground.prepare(snapshot, &paths, None)?;
    restore(surroundings, prepared, &listed, permissions, None, output)
}

/// The place that a path names, with no link on the way.
pub(super) fn real(surroundings: &Surroundings, path: &str) -> PathBuf {
    let path = PathBuf::from(surroundings.cwd.join(path).as_str());
    let mut missing = Vec::new();
    let mut standing = path.as_path();
    while let (Some(parent), Some(name)) = (standing.parent(), standing.file_name()) {
        missing.push(name.to_owned());
        if let Ok(real) = parent.canonicalize() {
            return missing.iter().rev().fold(real, |path, name| path.join(name));
        }
        standing = parent;
    }
    path
}
