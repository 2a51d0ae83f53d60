//! Where things came from that the command fetched: a mark on paths, which copies, moves, unpackings and checkouts carry along.
//!
//! A file has a source of its own, a directory came as a whole, or something was put into one that was there. What the project's own remotes hold
//! is the project's own, and bears no mark.

use std::collections::{BTreeMap, BTreeSet};

use crate::effect::{Depth, Effect, EffectKind, FileChange, NetworkReach, Target};
use crate::known_hosts;
use crate::path::AbsolutePath;
use crate::world::{Entry, FileText};

use super::call::Call;
use super::draft::AimedTarget;
use super::exit::Output;
use super::fetchers::{self, FETCHERS};
use super::machine::Machine;
use super::value::Value;

/// The greatest number of files of one call that are marked (ours).
const MARKED: usize = 512;

/// The marks of directories and revisions. Those of files are among the sources of what was written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins {
    /// Directories that came from elsewhere as a whole, with the address.
    trees: BTreeMap<String, String>,
    /// Directories into which something was put that came from elsewhere, with the address: what was not there before came with it.
    entered: BTreeMap<String, String>,
    /// Environments that a program which was here before made: what shells read of them is its own, wherever they lie.
    environments: BTreeSet<String>,
    /// By the own directory of a repository, names of revisions that were fetched from elsewhere, with the address.
    revisions: BTreeMap<String, Vec<(String, String)>>,
}

impl Machine<'_> {
    /// Where the content of a file came from, when that matters.
    pub(crate) fn source(&self, path: &AbsolutePath) -> Option<Output> {
        let known = self.flow.sources.get(path.as_str()).cloned();
        known.or_else(|| self.address_above(path).map(|url| Output::Network(url.clone())))
    }

    /// The address from which the directory came in which a path lies. What lies in a directory that came over the network as a whole came with
    /// it; where something was put into a directory, what was not there before did.
    fn address_above(&self, path: &AbsolutePath) -> Option<&String> {
        let origins = &self.flow.origins;
        if origins.trees.is_empty() && origins.entered.is_empty() {
            return None;
        }
        let is_for_shells = path.name().is_some_and(|name| name.to_ascii_lowercase().starts_with("activate"));
        let mut entered = None;
        for directory in std::iter::successors(path.parent(), AbsolutePath::parent) {
            if is_for_shells && origins.environments.contains(directory.as_str()) {
                return None;
            }
            if let Some(url) = origins.trees.get(directory.as_str()) {
                return Some(url).filter(|_| !self.has_known_text(path));
            }
            entered = entered.or_else(|| origins.entered.get(directory.as_str()));
        }
        entered.filter(|_| self.world.entry(path) == Entry::Missing && !self.has_known_text(path))
    }

    /// Whether the command itself gave a file a text that is known.
    fn has_known_text(&self, path: &AbsolutePath) -> bool {
        self.tree.is_written(path) && self.text(path).as_exact().is_some()
    }

    /// The address from which a file came that this command fetched.
    pub(crate) fn address_of(&self, file: &Value) -> Option<String> {
        match self.paths_through(file).as_slice() {
            [AimedTarget { target: Target::Path(path), .. }] => self.address_at(path),
            // Whichever of them is meant, it came in the same way.
            [AimedTarget { target: Target::Glob(pattern), .. }] => {
                self.address_at(&above_pattern(pattern)?.join("*"))
            }
            _ => None,
        }
    }

    /// The address from which what stands at a path came with this command, be it a file or a directory.
    pub fn address_at(&self, path: &AbsolutePath) -> Option<String> {
        if let Some(url) = self.flow.origins.trees.get(path.as_str()) {
            return Some(url.clone());
        }
        // All that lies in a directory that the command made came with what was put into it.
        let entered = self.flow.origins.entered.get(path.as_str());
        if let Some(url) = entered.filter(|_| self.world.entry(path) == Entry::Missing) {
            return Some(url.clone());
        }
        match self.source(path)? {
            Output::Network(url) => Some(url),
            Output::Nothing
            | Output::Text(_)
            | Output::Secret(_)
            | Output::Local(_)
            | Output::Setup(_)
            | Output::Unknown => None,
        }
    }

    /// The address from which the code came that a program finds in a directory under one of these names.
    pub(crate) fn address_of_code_in(&self, directory: &AbsolutePath, names: &[&str]) -> Option<String> {
        let places = || names.iter().map(|name| directory.join(name));
        if places().any(|place| self.has_known_text(&place)) {
            return None;
        }
        let file = places().find_map(|place| match self.flow.sources.get(place.as_str()) {
            Some(Output::Network(url)) => Some(url.clone()),
            Some(_) | None => None,
        });
        let origins = &self.flow.origins;
        let around = || std::iter::successors(Some(directory.clone()), AbsolutePath::parent);
        let whole = || around().find_map(|place| origins.trees.get(place.as_str()).cloned());
        // Where such a file was before, the project's own is meant.
        let entered = || {
            let (place, url) = around()
                .find_map(|place| Some((place.clone(), origins.entered.get(place.as_str())?.clone())))?;
            let is_made = self.world.entry(&place) == Entry::Missing;
            let is_own = places().any(|place| self.world.entry(&place) != Entry::Missing);
            (is_made || !is_own && !names.is_empty()).then_some(url)
        };
        file.or_else(whole).or_else(entered)
    }

    /// Whether this command fetched anything.
    pub(crate) fn has_fetched(&self) -> bool {
        let origins = &self.flow.origins;
        !origins.trees.is_empty()
            || !origins.entered.is_empty()
            || self.flow.sources.values().any(|source| matches!(source, Output::Network(_)))
    }

    /// Whether a path is one of a single file that was fetched, under this name.
    pub(crate) fn is_fetched_file(&self, path: &AbsolutePath) -> bool {
        matches!(self.flow.sources.get(path.as_str()), Some(Output::Network(_)))
            && !self.flow.origins.trees.contains_key(path.as_str())
    }

    /// Remembers that what a directory holds comes from an address, where that is none of the project's own.
    pub fn remember_tree(&mut self, directory: &AbsolutePath, address: &str) {
        if self.away.is_none() && !self.is_of_project(address) {
            self.mark_tree(directory, address);
        }
    }

    /// Marks a directory as a whole. What lies in one that the command made is not known.
    fn mark_tree(&mut self, directory: &AbsolutePath, address: &str) {
        self.flow.origins.trees.insert(directory.as_str().to_owned(), address.to_owned());
        if self.is_unsure() || self.world.entry(directory) != Entry::Missing {
            return;
        }
        match self.entry(directory) {
            Entry::Directory => {}
            Entry::Missing | Entry::File(_) => self.remember_directory(directory),
            Entry::Symlink(_) | Entry::Special | Entry::Unknown => return,
        }
        self.tree.fill(directory);
    }

    /// Remembers that something was unpacked into a directory, where that came over the network. Archives of hosts that publish their own
    /// packages are installed in this way every day.
    pub fn remember_unpacked(&mut self, directory: &Value, archive: &Output) {
        let Output::Network(url) = archive else { return };
        if known_hosts::publishes_its_own(url) || known_hosts::reach(url) == NetworkReach::Local {
            return;
        }
        if let (None, Some(path)) = (&self.away, self.one_path_through(directory)) {
            self.remember_entered(&path, url);
        }
    }

    fn remember_entered(&mut self, directory: &AbsolutePath, address: &str) {
        self.flow.origins.entered.insert(directory.as_str().to_owned(), address.to_owned());
    }

    /// Remembers that revisions of these names in a repository come from an address, where that is none of the project's own.
    pub fn remember_revisions(&mut self, repository: &AbsolutePath, names: Vec<String>, address: &str) {
        if self.away.is_some() || self.is_of_project(address) {
            return;
        }
        let known = self.flow.origins.revisions.entry(repository.as_str().to_owned()).or_default();
        known.extend(names.into_iter().map(|name| (name, address.to_owned())));
    }

    /// The address from which a revision came, by the start of its name.
    pub fn address_of_revision(&self, repository: &AbsolutePath, revision: &str) -> Option<String> {
        let known = self.flow.origins.revisions.get(repository.as_str())?;
        let is_meant = |name: &String| {
            let rest = revision.trim_start_matches("refs/remotes/").trim_start_matches("refs/heads/");
            rest.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '~', '^', '@', ':', '.']))
        };
        known.iter().rev().find(|(name, _)| is_meant(name)).map(|(_, address)| address.clone())
    }

    /// Whether an address is one of a remote that the project had before the command.
    pub fn is_of_project(&self, address: &str) -> bool {
        let Some(wanted) = plain_address(address) else { return false };
        self.addresses_of_project().iter().filter_map(|own| plain_address(own)).any(|own| own == wanted)
    }

    /// The addresses of the remotes of the workspace and of the working directory, as they were before the command.
    pub fn addresses_of_project(&self) -> Vec<String> {
        let texts = self.settings_of_repositories().into_iter().map(|file| self.world.text(&file));
        let whole = texts.filter_map(|text| match text {
            FileText::Whole(text) => Some(text),
            FileText::Beginning(_) | FileText::Unknown => None,
        });
        let addresses = |text: String| -> Vec<String> {
            let values = text.lines().filter_map(|line| {
                let (key, value) = line.split_once('=')?;
                (key.trim() == "url").then(|| value.trim().to_owned())
            });
            values.collect()
        };
        whole.flat_map(addresses).collect()
    }

    /// The files of settings of the repositories of the workspace and of the working directory, as they were before the command. Those of a linked
    /// work tree are in the directory that it shares (gitrepository-layout(5)).
    fn settings_of_repositories(&self) -> Vec<AbsolutePath> {
        let workspace = &self.world.place().workspace;
        let mut files = vec![workspace.join(".git/config")];
        for place in std::iter::once(workspace).chain(self.cwd()) {
            let Some(found) = self.world.repository(place) else { continue };
            let shared = found.directory.parent().filter(|around| around.name() == Some("worktrees"));
            files.extend(shared.and_then(|around| around.parent()).map(|common| common.join("config")));
            files.push(found.directory.join("config"));
        }
        files.dedup();
        files
    }

    /// Gives what stands at some places now the marks of what was copied or moved there.
    pub fn carry_origin(&mut self, from: &[AimedTarget], to: &[AimedTarget]) {
        if self.away.is_some() {
            return;
        }
        for source in from {
            match &source.target {
                Target::Path(from) => {
                    for place in to.iter().filter_map(|aim| aim.target.path()) {
                        self.carry_marks(from, place);
                    }
                }
                Target::Glob(pattern) => {
                    let Some(address) = above_pattern(pattern).and_then(|above| {
                        self.address_at(&above.join("*"))
                            .or_else(|| self.flow.origins.entered.get(above.as_str()).cloned())
                    }) else {
                        continue;
                    };
                    for directory in to.iter().filter_map(|aim| directory_of(&aim.target)) {
                        self.remember_entered(&directory, &address);
                    }
                }
                Target::Host(_)
                | Target::Process(_)
                | Target::Service(_)
                | Target::Reference(_)
                | Target::Unknown => {}
            }
        }
    }

    /// Gives what stands at a path now the marks of what stands or stood at another.
    pub fn carry_marks(&mut self, from: &AbsolutePath, to: &AbsolutePath) {
        self.carry_credentials(from, to);
        let is_there = self.world.entry(to) == Entry::Directory && !self.tree.is_new(to);
        if let Some(address) = self.address_at(from) {
            if self.entry(from) != Entry::Directory && !is_there {
                self.flow.sources.insert(to.as_str().to_owned(), Output::Network(address.clone()));
            }
            if is_there {
                self.remember_entered(to, &address);
            } else {
                self.mark_carried(from, to, &address);
            }
            return;
        }
        let origins = &mut self.flow.origins;
        for marks in [&mut origins.trees, &mut origins.entered] {
            let carried: Vec<(String, String)> = marks
                .iter()
                .filter_map(|(place, address)| {
                    let place = AbsolutePath::new(place)?;
                    let now = if &place == from { to.clone() } else { to.join(place.relative_to(from)?) };
                    Some((now.as_str().to_owned(), address.clone()))
                })
                .collect();
            marks.extend(carried);
        }
    }

    /// Marks the copies of the credentials that lie in a directory outside the workspace.
    fn carry_credentials(&mut self, from: &AbsolutePath, to: &AbsolutePath) {
        if from.is_within(&self.world.place().workspace) || self.entry(from) != Entry::Directory {
            return;
        }
        for secret in self.credentials_within(from, &[]) {
            let Some(below) = secret.relative_to(from) else { continue };
            let held =
                self.secret_put_into(&secret).unwrap_or_else(|| Output::Secret(secret.as_str().to_owned()));
            self.still_holds(&to.join(below), held);
        }
    }

    /// Marks what came to a path where nothing was: a file, a directory, or something of which nobody knows which it is.
    fn mark_carried(&mut self, from: &AbsolutePath, to: &AbsolutePath, address: &str) {
        let origins = &self.flow.origins;
        let is_tree =
            origins.trees.contains_key(from.as_str()) || origins.entered.contains_key(from.as_str());
        if is_tree && self.entry(from) != Entry::Unknown || self.entry(to) == Entry::Directory {
            self.mark_tree(to, address);
        } else {
            self.flow.origins.trees.insert(to.as_str().to_owned(), address.to_owned());
        }
    }

    /// Takes the marks off what was removed.
    pub(crate) fn forget_origin(&mut self, path: &AbsolutePath) {
        let lies_there = |place: &String| AbsolutePath::new(place).is_some_and(|place| place.is_within(path));
        self.flow.origins.trees.retain(|place, _| !lies_there(place));
        self.flow.origins.entered.retain(|place, _| !lies_there(place));
    }

    /// Marks what a call wrote since there were `before` effects, where its program fetches it, or makes it of what was fetched.
    pub(crate) fn mark_origin(&mut self, call: &Call, before: usize) {
        if self.away.is_some() || self.effect_count() == before {
            return;
        }
        if fetchers::makes_environment(call) {
            let paths = self.effects_since(before).filter_map(|effect| effect.target.path());
            let paths: Vec<String> = paths.map(|path| path.as_str().to_owned()).take(MARKED).collect();
            self.flow.origins.environments.extend(paths);
            return;
        }
        let Some(address) = self.fetched_by(call, before).or_else(|| self.made_of_fetched(call)) else {
            return;
        };
        if known_hosts::reach(&address) == NetworkReach::Local || self.is_of_project(&address) {
            return;
        }
        let is_written = |effect: &&Effect| {
            matches!(effect.kind.file_change(), Some(FileChange::Create | FileChange::Modify))
        };
        let written: Vec<(Target, Depth)> = (self.effects_since(before).filter(is_written))
            .map(|effect| (effect.target.clone(), effect.depth))
            .take(MARKED)
            .collect();
        for (target, depth) in written {
            let Some(path) = target.path() else {
                if let Some(directory) = directory_of(&target) {
                    self.remember_entered(&directory, &address);
                }
                continue;
            };
            if path.parts().any(|part| part == ".git") || path.as_str().starts_with("/dev/") {
                continue;
            }
            let is_there = self.world.entry(path) == Entry::Directory && !self.tree.is_new(path);
            let is_open = fetchers::may_bring_trees(call) && self.entry(path) != Entry::Directory;
            let is_whole = depth == Depth::Recursive || self.entry(path) == Entry::Directory;
            if is_there {
                self.remember_entered(path, &address);
            } else if !is_open && (is_whole || fetchers::brings_trees(call)) {
                self.mark_tree(&path.clone(), &address);
            } else {
                let path = path.clone();
                self.flow.sources.insert(path.as_str().to_owned(), Output::Network(address.clone()));
                // Whether it is a file or a directory is for the other side to say.
                if is_open && !self.is_unsure() {
                    self.flow.origins.trees.insert(path.as_str().to_owned(), address.clone());
                    self.remember_doubt(&path);
                }
            }
        }
    }

    /// The address from which a call fetches what it writes.
    fn fetched_by(&self, call: &Call, before: usize) -> Option<String> {
        FETCHERS.iter().filter(|fetcher| fetcher.fits(call)).find_map(|fetcher| {
            fetcher.address(call, || {
                let requests =
                    self.effects_since(before).filter(|effect| effect.kind == EffectKind::NetworkRequest);
                { requests }.find_map(|effect| effect.target.text().map(str::to_owned))
            })
        })
    }

    /// The address from which what a compiler or the like is given came.
    fn made_of_fetched(&self, call: &Call) -> Option<String> {
        if !fetchers::makes_of_words(call) {
            return None;
        }
        let named = call.words.iter().filter(|word| !word.known_start().starts_with('-'));
        { named }.find_map(|word| self.address_of(word))
    }
}

/// An address without its scheme, user and ending, in small letters.
fn plain_address(address: &str) -> Option<String> {
    let host = known_hosts::host_of(address);
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = rest.get(rest.find(['/', ':'])? + 1..)?;
    let path = path.trim_matches('/').trim_end_matches(".git").to_ascii_lowercase();
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

/// The directory in which all lies that a pattern means.
fn above_pattern(pattern: &str) -> Option<AbsolutePath> {
    let sign = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    AbsolutePath::new(pattern.get(..sign)?.rsplit_once('/')?.0)
}

/// The directory into which something comes under a name that is not known; a path itself.
fn directory_of(target: &Target) -> Option<AbsolutePath> {
    match target {
        Target::Path(path) => path.parent(),
        Target::Glob(pattern) => above_pattern(pattern),
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => None,
    }
}
