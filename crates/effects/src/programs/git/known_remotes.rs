//! The hosts to which the repository of a session led when the session began. A remote that leads elsewhere since then was put there by the agent,
//! in whatever way, and a push to it is one to an address that the agent names itself.

use crate::interpreter::{Value, known_hosts};
use crate::path::AbsolutePath;
use crate::world::{FileText, World};

use super::Git;
use super::remotes::is_address;
use super::settings::parse;

/// The hosts of the remotes of the repository that holds a directory, by its own configuration, sorted; none where there is no repository.
pub fn remote_hosts(world: &dyn World, directory: &AbsolutePath) -> Vec<String> {
    let Some(repository) = world.repository(directory) else { return Vec::new() };
    let read = |path: AbsolutePath| match world.text(&path) {
        FileText::Whole(text) => Some(text),
        _ => None,
    };
    let shared = read(repository.directory.join("commondir"))
        .map(|shared| repository.directory.join(shared.trim_end()));
    let text = read(shared.unwrap_or(repository.directory).join("config")).unwrap_or_default();
    let is_of_remote =
        |key: &str| key.starts_with("remote.") && (key.ends_with(".url") || key.ends_with(".pushurl"));
    let addresses = parse(&text).into_iter().filter(|(key, value)| is_of_remote(key) && is_address(value));
    let mut hosts: Vec<String> = addresses.map(|(_, value)| known_hosts::host_of(&value)).collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

impl Git<'_, '_> {
    /// Whether a remote of the repository of the session leads to a host to which none led when the session began.
    pub(super) fn leads_elsewhere_by_now(&self, address: &Value) -> bool {
        let Some(known) =
            self.machine.world().history().began.as_ref().and_then(|began| began.remotes.as_ref())
        else {
            return false;
        };
        let is_of_session = self.root().is_some_and(|root| known.workspace.is_within(&root));
        let host = address.as_exact().filter(|text| is_address(text)).map(known_hosts::host_of);
        is_of_session && host.is_some_and(|host| !known.hosts.contains(&host))
    }
}
