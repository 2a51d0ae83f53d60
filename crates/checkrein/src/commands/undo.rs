//! `checkrein undo`: takes back what an action destroyed.

use std::collections::BTreeMap;

use checkrein_snapshot::{Extent, Listed, Occasion, SnapshotId};

use super::restoring::{Ground, Permissions, ended, is_permitted, restore};
use super::{Exit, Output};
use crate::error::CommandError;
use crate::surroundings::Surroundings;

/// How many actions are tried at most until one is found of which there is something to take back (ours).
const TRIES: usize = 50;

/// Takes back an action, by the beginning of its name; by default the last one of the newest session in this workspace that destroyed
/// something and was not taken back yet.
pub fn undo(
    surroundings: &Surroundings,
    action: Option<&str>,
    permissions: Permissions,
    output: Output,
) -> Result<Exit, CommandError> {
    let ground = Ground::open(surroundings)?;
    let all = ground.store.snapshots()?;
    let undone = undone(&ground, &all);
    let candidates = candidates(&all, &undone, action)?;
    let taken_back: Vec<SnapshotId> =
        undone.iter().filter(|(_, is_undone)| **is_undone).map(|(id, _)| *id).collect();
    let mut nothing = None;
    for snapshot in candidates.into_iter().take(TRIES) {
        let until = ended(surroundings, snapshot);
        let mut prepared = ground.prepare(snapshot.id, &[], until)?;
        prepared.excuse(&taken_back)?;
        if prepared.steps().iter().any(|step| is_permitted(step, snapshot, permissions, until)) {
            return restore(surroundings, prepared, snapshot, permissions, until, output);
        }
        nothing.get_or_insert((prepared, snapshot, until));
    }
    match nothing {
        // It never ran, or somebody has put everything back already.
        Some((prepared, snapshot, until)) => {
            restore(surroundings, prepared, snapshot, permissions, until, output)
        }
        None => Err(CommandError::user(
            "no action of this workspace destroyed anything that is not taken back yet",
            "`checkrein snapshots` lists what was saved; `checkrein rollback` goes back to any of it",
        )),
    }
}

/// The snapshots of actions that may be meant, newest first.
fn candidates<'a>(
    all: &'a [Listed],
    undone: &BTreeMap<SnapshotId, bool>,
    action: Option<&str>,
) -> Result<Vec<&'a Listed>, CommandError> {
    let name = |one: &Listed| one.snapshot.place.as_ref().and_then(|place| place.action.clone());
    let is_action = |one: &&Listed| one.snapshot.occasion == Occasion::BeforeAction;
    if let Some(wanted) = action {
        let found: Vec<&Listed> = all
            .iter()
            .rev()
            .filter(is_action)
            .filter(|one| {
                name(one).is_some_and(|name| name.starts_with(wanted)) || one.id.to_string() == wanted
            })
            .collect();
        let mut names: Vec<_> = found.iter().map(|one| name(one)).collect();
        names.dedup();
        return match names.len() {
            0 => Err(CommandError::user(
                format!("nothing was saved before an action `{wanted}`"),
                "`checkrein snapshots` lists the actions that something was saved for",
            )),
            1 => Ok(found),
            many => Err(CommandError::user(
                format!("{many} actions begin with `{wanted}`"),
                "give more of the name",
            )),
        };
    }
    let open = |one: &&Listed| !undone.get(&one.id).copied().unwrap_or(false);
    let session = |one: &Listed| one.snapshot.place.as_ref().map(|place| place.session.clone());
    let newest = all.iter().rev().find(is_action).and_then(session);
    Ok(all.iter().rev().filter(is_action).filter(open).filter(|one| session(one) == newest).collect())
}

/// Which snapshots were gone back to, and not forward again.
fn undone(ground: &Ground, all: &[Listed]) -> BTreeMap<SnapshotId, bool> {
    let mut undone = BTreeMap::new();
    let mut restores = BTreeMap::new();
    for one in all {
        let Occasion::BeforeRestore { of, extent: Extent::Whole } = one.snapshot.occasion else { continue };
        if !ground.store.is_carried_out(one.id) {
            continue;
        }
        match restores.get(&of) {
            // Going back to what was before a restore takes the restore back.
            Some(first) => undone.insert(*first, false),
            None => undone.insert(of, true),
        };
        restores.insert(one.id, of);
    }
    undone
}
