//! What the command brought into a repository before it is looked at: a fetch, a bundle, objects, or a repository that it made or put there.
//!
//! A revision that is not there yet may be by then. Where it comes from a repository on this machine, that one says what it holds; of
//! anything else nothing is known.

use percent_encoding::percent_decode_str;

use crate::interpreter::{FetchSource, Value};
use crate::path::AbsolutePath;
use crate::world::{Committed, Entry, FileText, Listing};

use super::Git;
use super::remotes::{is_address, is_repository};

/// The greatest number of places of one variable that are looked at (ours).
const PLACES: usize = 16;

/// The names under which the other side may know a revision that is called after its remote: `origin/main` is `main` there.
fn names_there<'n>(revision: &'n str, remote: &str) -> impl Iterator<Item = &'n str> {
    let of_remote = revision.strip_prefix(remote).and_then(|rest| rest.strip_prefix('/'));
    of_remote.into_iter().chain([revision])
}

impl Git<'_, '_> {
    /// Remembers that a remote was fetched into the repository; without a name the one that is followed.
    pub(super) fn keep_fetched(&mut self, remote: Option<&Value>) {
        let Some(repository) = self.repository_directory() else { return };
        let name = remote.map_or(Some("origin"), Value::as_exact).unwrap_or_default();
        // Out of itself nothing comes into a repository.
        if self.is_own_repository(name) {
            return;
        }
        let from = match (self.repository_of(name), self.place_of(name)) {
            // Of one that this command made or changed only its own steps know what it holds.
            (Some(place), _) if self.machine.entry(&place) != self.machine.world().entry(&place) => {
                FetchSource::Unread
            }
            (Some(place), _) => FetchSource::Repository { remote: name.to_owned(), place },
            (None, Some(place)) if self.machine.entry(&place) != Entry::Missing => FetchSource::Unread,
            (None, _) => FetchSource::Elsewhere,
        };
        self.machine.overlay().fetch(&repository, from);
    }

    /// Remembers that objects came into the repository that are not read.
    pub(super) fn keep_brought(&mut self) {
        if let Some(repository) = self.repository_directory() {
            self.machine.overlay().fetch(&repository, FetchSource::Unread);
        }
    }

    /// Remembers that the command has git look for objects at another place too (git(1), "The Git Repository"). What the environment of the agent held before the command is no news.
    pub(super) fn bring_objects_of_variables(&mut self) {
        const NAMES: [&str; 2] = ["GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"];
        let Some(repository) = self.repository_directory() else { return };
        // Files put among the objects, or the list of further places (gitrepository-layout(5)).
        if self.machine.has_changed_within(&repository.join("objects")) {
            self.machine.overlay().fetch(&repository, FetchSource::Unread);
        }
        for name in NAMES {
            let Some(value) = self.machine.variable(name) else { continue };
            let before = self.machine.world().variable(name);
            let Some(text) = value.as_exact() else {
                self.machine.overlay().fetch(&repository, FetchSource::Unread);
                continue;
            };
            let places: Vec<&str> = text.split(':').filter(|place| !place.is_empty()).collect();
            if before.as_deref() == Some(text) {
                continue;
            }
            for place in places.into_iter().take(PLACES) {
                let Some(place) = self.place(place.trim_end_matches('/')) else { continue };
                if place == repository || place == repository.join("objects") {
                    continue;
                }
                let known = place.parent().filter(|directory| {
                    self.machine.entry(directory) == self.machine.world().entry(directory)
                        && matches!(self.machine.children(directory), Listing::Names(names) if is_repository(&names))
                });
                let source = known.map_or(FetchSource::Unread, |place| FetchSource::Repository {
                    remote: "..".to_owned(),
                    place,
                });
                self.machine.overlay().fetch(&repository, source);
            }
        }
    }

    /// The repository on this machine that a remote or an address names; `None` for all others.
    pub(super) fn repository_of(&self, remote: &str) -> Option<AbsolutePath> {
        self.repository_at(&self.place_of(remote)?)
    }

    /// Whether a remote or an address names the repository itself: `git fetch .`.
    pub(super) fn is_own_repository(&self, remote: &str) -> bool {
        let Some(place) = self.place_of(remote) else { return false };
        let own = self.repository_directory();
        self.root().as_ref() == Some(&place)
            || own.as_ref() == Some(&place)
            || own.is_some() && self.repository_at(&place) == own
    }

    /// The place on this machine that a remote or an address names; `None` for all others.
    fn place_of(&self, remote: &str) -> Option<AbsolutePath> {
        let address =
            self.settings.exact(&format!("remote.{remote}.url")).unwrap_or_else(|| remote.to_owned());
        self.place_of_address(&address)
    }

    /// The place on this machine that an address names, as git reads it (tried with git 2.47): from the root of the work tree, with the bytes of a
    /// URL decoded.
    pub(super) fn place_of_address(&self, address: &str) -> Option<AbsolutePath> {
        if address.is_empty() || is_address(address) {
            return None;
        }
        match address.strip_prefix("file://") {
            Some(url) => AbsolutePath::new(&decoded(url)),
            None => match address.strip_prefix("~/") {
                Some(below) => Some(self.machine.world().place().home.join(below)),
                None => Some(self.root()?.join(address)),
            },
        }
    }

    /// What a revision holds at a path that the repository at a place is not known to have; `None` when nothing came into it.
    pub(super) fn brought(&self, revision: Option<&str>, path: &str) -> Option<Committed> {
        self.of_sources(|place, name| self.machine.world().committed(place, name, path), revision)
    }

    /// The text of it; `None` when nothing came into it.
    pub(super) fn brought_text(&self, revision: Option<&str>, path: &str) -> Option<FileText> {
        let (place, name) = self.source_of(revision)?;
        Some(self.machine.world().committed_text(&place, &name, path))
    }

    /// Whether the command made the repository, or put it there.
    pub(super) fn is_made_here(&self) -> bool {
        let repository = self.repository_directory();
        repository.is_some_and(|place| {
            self.machine.has_touched(&place)
                || self.machine.entry(&place) != self.machine.world().entry(&place)
        })
    }

    fn of_sources(
        &self,
        held: impl Fn(&AbsolutePath, &str) -> Committed,
        revision: Option<&str>,
    ) -> Option<Committed> {
        if let Some((place, name)) = self.source_of(revision) {
            return Some(held(&place, &name));
        }
        let repository = self.repository_directory()?;
        let fetched = self.machine.fetched(&repository);
        if fetched.is_empty() && !self.is_made_here() {
            return None;
        }
        // Where histories that came from elsewhere meet is not known.
        if revision.is_some_and(|revision| revision.contains("...")) {
            return Some(Committed::Unknown);
        }
        // Under a name that the other side does not know there may be anything that it has: what it shows first stands for it. What is
        // not read may hold anything.
        let shown = fetched.iter().find_map(|source| match source {
            FetchSource::Repository { place, .. } => match held(place, "HEAD") {
                object @ Committed::Object(_) => Some(object),
                Committed::Nothing | Committed::NoRevision | Committed::Unknown => None,
            },
            FetchSource::Unread => Some(Committed::Object(String::new())),
            FetchSource::Elsewhere => None,
        });
        Some(shown.unwrap_or(Committed::Unknown))
    }

    /// The repository on this machine that a revision came from, and its name there.
    fn source_of(&self, revision: Option<&str>) -> Option<(AbsolutePath, String)> {
        let repository = self.repository_directory()?;
        let revision = revision?;
        self.machine.fetched(&repository).iter().find_map(|source| {
            let FetchSource::Repository { remote, place } = source else { return None };
            let is_there =
                |name: &&str| self.machine.world().committed(place, name, "") != Committed::NoRevision;
            let name = names_there(revision, remote).find(is_there)?;
            Some((place.clone(), name.to_owned()))
        })
    }
}

/// A text with the bytes that a URL writes as `%20` in their place (RFC 3986, 2.1).
pub(crate) fn decoded(url: &str) -> String {
    percent_decode_str(url).decode_utf8_lossy().into_owned()
}
