//! To whom the repository behind an address belongs.

use checkrein_facts::is_owned;

use super::Git;
use super::remotes::is_address;
use crate::effect::EffectKind;
use crate::interpreter::Value;
use crate::interpreter::known_hosts;
use crate::nature::Nature;

/// The host and the owner in the address of a repository: `https://host/owner/name.git`, `git@host:owner/name.git`.
fn owner_of(address: &str) -> Option<(String, String)> {
    let path = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => address.split_once(':')?.1,
    };
    let owner = path.trim_start_matches('/').split('/').next().filter(|owner| !owner.is_empty())?;
    Some((known_hosts::host_of(address), owner.to_ascii_lowercase()))
}

impl Git<'_, '_> {
    /// Whether a push goes to the repository of somebody to whom none of the other remotes belongs.
    pub(super) fn pushes_to_strangers(&self, remote: Option<&Value>) -> bool {
        let Some(named) = remote.and_then(Value::as_exact) else { return false };
        let address = self.settings.exact(&format!("remote.{named}.pushurl"));
        let address = address.or_else(|| self.settings.exact(&format!("remote.{named}.url")));
        let address = address.unwrap_or_else(|| named.to_owned());
        let Some(owner) = owner_of(&address) else { return false };
        if self.machine.world().owned_remotes().iter().any(|entry| is_owned(entry, &address)) {
            return false;
        }
        let others = self.settings.remote_addresses().filter(|other| *other != address);
        let mut owners = others.filter_map(owner_of).peekable();
        owners.peek().is_some() && owners.all(|other| other != owner)
    }

    /// The address of a remote, or what is written in its place, where it leads to the repository of somebody else: neither the project had it
    /// before the command, nor does its user call it their own.
    pub(super) fn strange_address(&self, remote: Option<&Value>) -> Option<String> {
        let named = remote.map_or(Some("origin"), Value::as_exact)?;
        let key = format!("remote.{named}.url");
        let address = match self.settings.exact(&key) {
            // One that the repository had before is known to whoever works in it.
            Some(address) => {
                let file = self.repository_directory().map(|directory| directory.join("config"));
                let is_set_here = file.is_some_and(|file| self.machine.is_written_here(&file));
                Some(address).filter(|_| is_set_here || self.settings.is_given(&key))?
            }
            None => named.to_owned(),
        };
        let is_own = |address: &str| {
            self.machine.is_of_project(address)
                || self.machine.world().owned_remotes().iter().any(|entry| is_owned(entry, address))
        };
        (is_address(&address) && !is_own(&address)).then_some(address)
    }

    /// Marks what was pushed since there were `before` effects: strangers are told something by it.
    pub(super) fn note_told_strangers(&mut self, before: usize) {
        self.machine.amend(before, |effect| {
            if effect.kind == EffectKind::VcsRemoteUpdate && effect.nature == Nature::Ordinary {
                effect.nature = Nature::TellsOthers;
            }
        });
    }
}
