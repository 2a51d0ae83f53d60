//! What a restore leaves alone: the places of the guard. Going back must not bring back what a user has tightened since, nor take away
//! what was set up since, whoever asks for it; only a user may, by an option of its own.

use std::fs;
use std::path::Path;

use checkrein_facts::GuardedPath;
use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::{Node, RestoreAction, Step};
use checkrein_worktree::guard_files;

use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::places::real_place;

/// The rights that an owner needs to look into a directory.
const LOOKING_IN: u32 = 0o500;

/// The places of the guard, each also where it really lies.
#[derive(Debug)]
pub struct Sparing(Vec<GuardedPath>);

impl Sparing {
    /// The places of the guard for a workspace.
    pub fn of(environment: &HostEnvironment, workspace: &AbsolutePath) -> Self {
        let mut places = Context::in_workspace(environment.clone(), workspace.clone()).guarded();
        let real: Vec<GuardedPath> = places
            .iter()
            .map(|one| GuardedPath { path: real_place(&one.path), role: one.role.clone() })
            .filter(|one| !places.contains(one))
            .collect();
        places.extend(real);
        Self(places)
    }

    /// What of the guard a step would change; `None` when it changes nothing of it.
    pub fn touched_by(&self, step: &Step) -> Option<&str> {
        let path = step.path.as_path();
        let touches = |guarded: &&GuardedPath| {
            let place = Path::new(guarded.path.as_str());
            path.starts_with(place) || place.starts_with(path) && reaches(step, place)
        };
        // A project below this one has settings and rules of its own.
        let by_name =
            || guard_files().any(|name| path.ends_with(name)).then_some("what says what agents may do");
        self.0.iter().find(touches).map(|guarded| guarded.role.as_str()).or_else(by_name)
    }
}

/// Whether a step on a directory changes what a place in it is.
fn reaches(step: &Step, place: &Path) -> bool {
    match step.deed {
        RestoreAction::Remove | RestoreAction::Replace => fs::symlink_metadata(place).is_ok(),
        RestoreAction::Create => !step.then.as_ref().is_some_and(Node::is_directory),
        RestoreAction::Adjust => match &step.then {
            Some(Node::Directory { meta, .. }) => meta.mode & LOOKING_IN != LOOKING_IN,
            Some(Node::File { .. } | Node::Symlink { .. } | Node::Pipe { .. }) | None => false,
        },
    }
}
