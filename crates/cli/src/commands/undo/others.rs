//! Actions of other sessions that came after the one to take back, here and in workspaces around or below: what they changed is their work.

use std::collections::BTreeMap;
use std::path::PathBuf;

use checkrein_engine::checkpoint;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::rollback::restored;
use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::{Listed, OtherAction, OtherBegan, SnapshotId, Store};

use super::places::known_workspaces;
use super::{Opened, Stories, is_action, session};

/// The actions of other sessions that came after the one of a snapshot and may have run, each store with its own, oldest first.
pub(super) fn others_after(
    environment: &HostEnvironment,
    ledgers: &mut Stories,
    own: &Opened<'_>,
    snapshot: &Listed,
) -> Vec<(Store, Vec<OtherAction>)> {
    let here = own.ground.store.workspace();
    let is_related =
        |other: &PathBuf| other.as_path() != here && (other.starts_with(here) || here.starts_with(other));
    let related = known_workspaces(environment).into_iter().filter(is_related);
    let related = related.filter_map(|path| path.to_str().and_then(AbsolutePath::new));
    let mut found = Vec::new();
    let own_actions = after(environment, ledgers, (&own.all, &own.undone), snapshot);
    if !own_actions.is_empty() {
        found.push((own.ground.store.clone(), own_actions));
    }
    for path in related {
        let store = checkpoint::store(environment, &path);
        // What cannot be read says nothing.
        let all = store.snapshots().unwrap_or_default();
        let actions = after(environment, ledgers, (&all, &restored(&store, &all)), snapshot);
        if !actions.is_empty() {
            found.push((store, actions));
        }
    }
    found
}

fn after(
    environment: &HostEnvironment,
    ledgers: &mut Stories,
    (all, undone): (&[Listed], &BTreeMap<SnapshotId, Option<SnapshotId>>),
    snapshot: &Listed,
) -> Vec<OtherAction> {
    // Without a session nothing tells who acted.
    let Some(own) = session(snapshot) else { return Vec::new() };
    let ended = ledgers.of(environment, snapshot).ended;
    let is_later = |one: &&Listed| {
        one.snapshot.at >= snapshot.snapshot.at
            && is_action(one)
            && session(one).is_some_and(|session| session != own)
            && undone.get(&one.id).copied().flatten().is_none()
    };
    let mut found = Vec::new();
    for one in all.iter().filter(is_later) {
        if !ledgers.of(environment, one).has_run() {
            continue;
        }
        let is_afterwards = ended.is_some_and(|ended| ended < one.snapshot.at);
        let began = if is_afterwards { OtherBegan::Afterwards } else { OtherBegan::Meanwhile };
        found.push(OtherAction { snapshot: one.id, began });
    }
    found
}
