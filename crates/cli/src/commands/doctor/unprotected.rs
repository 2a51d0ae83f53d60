//! The projects of this machine whose sessions nobody reviews: those that a client says it knows, and those of the records.

use std::collections::BTreeSet;
use std::path::Path;

use checkrein_clients::CLIENTS;
use checkrein_engine::environment::HostEnvironment;
use checkrein_protocol::AbsolutePath;
use checkrein_session::sessions;
use checkrein_world::find_workspace;
use serde_json::Value as Json;

use super::has_hooks;
use crate::commands::story::SessionHead;

/// Where Claude Code writes down in which projects it was, below the home directory (observed with 2.1).
const KNOWN_PROJECTS: &str = ".claude.json";
/// The longest such file that is read, in bytes: it holds the history of prompts too (ours).
const LONGEST: u64 = 64 * 1024 * 1024;
/// The greatest number of projects that are looked at (ours).
const MOST: usize = 1000;

/// The projects in which no client has hooks of ours, sorted.
pub(super) fn unprotected(environment: &HostEnvironment) -> Vec<AbsolutePath> {
    let mut places: BTreeSet<AbsolutePath> = known_to_client(environment).into_iter().collect();
    let recorded = sessions(&environment.state).unwrap_or_default();
    // The hooks may have come while a session was under way: its head tells where it worked then.
    let of_records = recorded.into_iter().filter_map(|session| {
        let worked_in = || AbsolutePath::new(&SessionHead::of(environment, &session.folder).workspace?);
        session.workspace.or_else(worked_in)
    });
    places.extend(of_records);
    // The home directory and what lies above it is nobody's project; what is gone needs no guard.
    let is_project =
        |place: &AbsolutePath| !environment.home.is_within(place) && Path::new(place.as_str()).is_dir();
    let workspaces: BTreeSet<AbsolutePath> =
        places.iter().filter(|place| is_project(place)).take(MOST).map(find_workspace).collect();
    let is_open = |place: &AbsolutePath| {
        let there = HostEnvironment { cwd: place.clone(), ..environment.clone() };
        !CLIENTS.iter().any(|client| has_hooks(&there, client))
    };
    workspaces.into_iter().filter(is_open).collect()
}

fn known_to_client(environment: &HostEnvironment) -> Vec<AbsolutePath> {
    let path = environment.home.join(KNOWN_PROJECTS);
    let text = checkrein_files::read_text(path.as_str(), LONGEST).unwrap_or_default();
    let Ok(known) = serde_json::from_str::<Json>(&text) else { return Vec::new() };
    let projects = known.get("projects").and_then(Json::as_object);
    projects.into_iter().flatten().filter_map(|(place, _)| AbsolutePath::new(place)).collect()
}
