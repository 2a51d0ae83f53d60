//! The agents of this machine that have no hooks of ours.

use checkrein_clients::{CLIENTS, ClientAdapter};
use checkrein_engine::environment::HostEnvironment;

use super::{Finding, finding};
use crate::commands::init::{find_on_path, init_for};
use crate::terminal::Health;

/// Returns a remark for each agent whose program is found on `PATH` and that is not among those that are examined.
pub(super) fn findings(
    environment: &HostEnvironment,
    examined: &[&'static ClientAdapter],
) -> impl Iterator<Item = Finding> {
    let is_open = |client: &&ClientAdapter| {
        !examined.iter().any(|known| known.client == client.client)
            && client.programs.iter().any(|name| find_on_path(environment, name))
    };
    CLIENTS.iter().filter(is_open).map(|client| {
        let detail = format!("{}: found, not registered: `{}`", client.title, init_for(client));
        finding("other agent", Health::Noted, detail, None)
    })
}
