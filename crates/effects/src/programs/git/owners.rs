//! To whom the repository behind an address belongs.

use checkrein_facts::is_owned;

use super::Git;
use super::remotes::is_address;
use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::known_hosts;
use crate::interpreter::{Draft, Value};
use crate::nature::Nature;

/// The host and the owner in the address of a repository: `https://host/owner/name.git`, `git@host:owner/name.git`.
fn owner_of(address: &str) -> Option<(String, String)> {
    let path = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => address.split_once(':')?.1,
    };
    let parts = folded(path);
    let owner = parts.first()?;
    Some((known_hosts::host_of(address), owner.to_ascii_lowercase()))
}

/// The parts of a path as whoever fetches it takes them: `..` is folded before (RFC 3986, 5.2.4).
fn folded(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts
}

/// Whether an address names an owner and a repository, and no password for it: whoever is given one there is at home.
fn names_repository(address: &str) -> bool {
    let (authority, path) = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        None => address.split_once(':').unwrap_or((address, "")),
    };
    let has_password = authority.split_once('@').is_some_and(|(user, _)| user.contains(':'));
    let parts = folded(path);
    !has_password && parts.len() >= 2 && parts.iter().take(2).all(|part| !part.starts_with('.'))
}

impl Git<'_, '_> {
    /// Whether a push goes to the repository of somebody to whom none of the other remotes belongs.
    pub(super) fn pushes_to_strangers(&self, remote: Option<&Value>) -> bool {
        let Some(named) = remote.and_then(Value::as_exact) else { return false };
        let address = self.settings.exact(&format!("remote.{named}.pushurl"));
        let address = address.or_else(|| self.settings.exact(&format!("remote.{named}.url")));
        let address = address.unwrap_or_else(|| named.to_owned());
        self.stranger_at(&address).is_some()
    }

    /// Whose repository lies at an address, where none of the other remotes belongs to them and the user does not call it their own.
    fn stranger_at(&self, address: &str) -> Option<String> {
        let owner = owner_of(address).filter(|_| names_repository(address))?;
        if self.machine.world().owned_remotes().iter().any(|entry| is_owned(entry, address)) {
            return None;
        }
        let others = self.settings.remote_addresses().filter(|other| *other != address);
        let mut owners = others.filter_map(owner_of).peekable();
        (owners.peek().is_some() && owners.all(|other| other != owner)).then_some(owner.1)
    }

    /// Adds that the work goes to somebody else at a host that many use, where this command or the session says so itself: a host is no owner.
    pub(super) fn note_stranger(&mut self, address: &str) {
        let Some(owner) = self.stranger_at(address).filter(|owner| !self.is_user(owner)) else { return };
        let host = known_hosts::host_of(address);
        let target = Target::Host(format!("{host}/{owner}"));
        if self
            .machine
            .effects_since(0)
            .any(|effect| effect.kind == EffectKind::DataUpload && effect.target == target)
        {
            return;
        }
        let note = format!("a repository of `{owner}`, to whom no remote of the project belongs");
        let draft = Draft::new(EffectKind::DataUpload, target);
        self.machine.add(draft.severity(Severity::High).note(note));
    }

    /// The same in a clone or a work tree that the command made, whose own settings nobody has read: it holds what the project holds, and the
    /// remotes of the project say whose that is.
    pub(super) fn note_stranger_to_project(&mut self, address: &str) {
        if self.settings.remote_addresses().next().is_some() || self.machine.is_of_project(address) {
            return;
        }
        let owner = owner_of(address).filter(|_| names_repository(address));
        let is_own = self.machine.world().owned_remotes().iter().any(|entry| is_owned(entry, address));
        let Some(owner) = owner.filter(|owner| !is_own && !self.is_user(&owner.1)) else { return };
        let mut owners =
            self.machine.addresses_of_project().into_iter().filter_map(|own| owner_of(&own)).peekable();
        if owners.peek().is_none() || owners.any(|own| own == owner) {
            return;
        }
        let (host, owner) = owner;
        let note = format!("a repository of `{owner}`, to whom no remote of the project belongs");
        let draft = Draft::new(EffectKind::DataUpload, Target::Host(format!("{host}/{owner}")));
        self.machine.add(draft.severity(Severity::High).note(note));
    }

    /// The same of the addresses that a push comes to by its settings (`pushInsteadOf`, `pushRemote`, `pushDefault`), where the project had none
    /// of them before.
    pub(super) fn note_addresses_of_strangers(&mut self, remote: Option<&Value>) {
        let name = match remote {
            Some(remote) => remote.as_exact().map(str::to_owned),
            None => Some(self.default_remote()),
        };
        let addresses = name.map(|name| self.settings.push_addresses(&name)).unwrap_or_default();
        for address in addresses {
            if is_address(&address) && !self.machine.is_of_project(&address) {
                self.note_stranger(&address);
            }
        }
    }

    /// Whether an owner at a host of code is the user: by the settings of git (`github.user`, `gitlab.user`), by an address that the host gives its
    /// users (docs.github.com, "Setting your commit email address"), or by who is logged in with `gh`.
    fn is_user(&self, owner: &str) -> bool {
        let is_owner = |text: &str| text.eq_ignore_ascii_case(owner);
        let named = ["github.user", "gitlab.user"].iter().filter_map(|key| self.settings.exact(key));
        if named.into_iter().any(|name| is_owner(&name)) {
            return true;
        }
        let mail = self.settings.exact("user.email").unwrap_or_default();
        let of_host = mail.split_once('@').filter(|(_, host)| host.starts_with("users.noreply."));
        if of_host.is_some_and(|(name, _)| is_owner(name.rsplit('+').next().unwrap_or(name))) {
            return true;
        }
        let file = self.machine.world().place().home.join(".config/gh/hosts.yml");
        let logins = self.machine.text(&file);
        let lines = logins.as_exact().into_iter().flat_map(str::lines);
        lines
            .filter_map(|line| line.trim().strip_prefix("user:"))
            .any(|name| is_owner(name.trim().trim_matches(['"', '\''])))
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
