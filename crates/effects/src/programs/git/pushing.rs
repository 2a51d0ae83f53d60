//! Pushing: what it does to the repository at the other end, and, where that one is on this machine, where it lies.

use crate::effect::{EffectKind, EffectSite, SiteKind, Target};
use crate::interpreter::{Draft, Exit, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::{Entry, Listing};

use super::options::Words;
use super::remotes::is_repository;
use super::settings::shared_by_work_trees;
use super::{Git, data_change};

/// What a push does to what the other end holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LossThere {
    /// It adds to it.
    None,
    /// A name goes, or is set whatever it held.
    Names,
}

/// What `git push` does.
pub(super) fn push(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.any(&["-n", "--dry-run"]) {
        return Exit::unknown();
    }
    let remote = words.operands().first().or_else(|| words.arguments.value(&["--repo"])).cloned();
    let before = git.machine.effect_count();
    let set_apart = git.machine.set_apart();
    let exit = push_to(git, words, remote.as_ref());
    git.name_branches(before, remote.as_ref());
    if git.pushes_to_strangers(remote.as_ref()) {
        git.note_told_strangers(before);
    }
    git.machine.take_up(set_apart);
    exit
}

fn push_to(git: &mut Git<'_, '_>, words: &Words, remote: Option<&Value>) -> Exit {
    git.note_strange_remote(remote);
    git.note_changed_remote(remote);
    git.note_addresses_of_strangers(remote);
    if !words.has("--no-verify") {
        git.run_hook("pre-push");
    }
    let leases: Vec<&Value> = words.arguments.values(&["--force-with-lease"]).collect();
    let lease = |reference: &Value| {
        let name = reference.known_start();
        let name = name.trim_start_matches('+');
        let covers = |given: &&Value| {
            given.known_start().split(':').next() == Some(name.rsplit(':').next().unwrap_or(name))
        };
        words.has("--force-with-lease")
            && !words.has("--no-force-with-lease")
            && (leases.is_empty() || leases.iter().any(covers))
    };
    let deletes = words.any(&["-d", "--delete"]);
    git.note_stored_pushed(remote);
    let receivers = git.receivers(remote);
    let is_empty = git.goes_where_nothing_was(remote);
    let force = words.any(&["-f", "--force"]) && !is_empty;
    git.change_receivers(&receivers, if is_empty { LossThere::None } else { git.loss_there(remote, words) });
    if words.has("--mirror") || git.is_mirror(remote) {
        git.delete_there(
            &Value::exact("all branches"),
            "makes the remote the same as this repository; what only it holds is lost",
        );
        return Exit::silent();
    }
    if words.has("--prune") {
        git.delete_there(
            &Value::exact("remote branches"),
            "deletes branches of the remote that are not here",
        );
    }
    let given = words.operands_from(1);
    let is_wide = words.any(&["--all", "--branches", "--tags"]);
    let set = if given.is_empty() && !is_wide { git.references_set(remote) } else { Vec::new() };
    let references = if set.is_empty() { given } else { set.as_slice() };
    if references.is_empty() {
        let current = git
            .cwd
            .as_ref()
            .and_then(|cwd| git.machine.world().repository(cwd))
            .and_then(|found| found.branch);
        let target = if words.any(&["--all", "--branches"]) {
            Value::exact("all branches")
        } else if words.has("--tags") {
            Value::exact("tags")
        } else {
            current.map_or(Value::Unknown, Value::exact)
        };
        git.push_one(&target, force, lease(&target), deletes);
    }
    for reference in references {
        git.push_one(reference, force, lease(reference), deletes);
    }
    let set = references.to_vec();
    git.hide_behind_pairs(remote, &set);
    Exit::silent()
}

/// What `git send-pack` and `git http-push` do (git-send-pack(1), git-http-push(1)): the same as `push`, with names behind the remote.
pub(super) fn send_pack(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    git.note_strange_remote(words.operands().first());
    let references = words.operands_from(1).to_vec();
    let loss = git.loss_there(None, words);
    let receivers: Vec<AbsolutePath> =
        words.operand(0).and_then(|address| git.receiver(address)).into_iter().collect();
    git.change_receivers(&receivers, loss);
    match loss {
        LossThere::Names => {
            let name = references.first().cloned().unwrap_or(Value::exact("branches"));
            git.rewrite(&name, "replaces what the remote holds, commits of others included");
        }
        LossThere::None => git.remote_update(&["branches"], ""),
    }
    Exit::silent()
}

/// What `git subtree push` does: it adds the commits of a directory to a branch of the remote.
pub(super) fn subtree_push(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    let remote = words.operands().get(1);
    git.note_strange_remote(remote);
    git.note_changed_remote(remote);
    let receivers = git.receivers(remote);
    git.change_receivers(&receivers, LossThere::None);
    git.remote_update(&["subtree"], "");
    Exit::silent()
}

impl Git<'_, '_> {
    /// The remote that a push without a name goes to (git-config(1), `branch.<name>.pushRemote`, `remote.pushDefault`; tried with git 2.47).
    pub(super) fn default_remote(&self) -> String {
        let branch = self
            .cwd
            .as_ref()
            .and_then(|cwd| self.machine.world().repository(cwd))
            .and_then(|found| found.branch);
        let of_branch = |key: &str| self.settings.exact(&format!("branch.{}.{key}", branch.as_ref()?));
        of_branch("pushremote")
            .or_else(|| self.settings.exact("remote.pushdefault"))
            .or_else(|| of_branch("remote"))
            .or_else(|| self.settings.only_remote())
            .unwrap_or_else(|| "origin".to_owned())
    }

    /// The repositories on this machine that a push to a remote changes: a remote may have several addresses.
    fn receivers(&self, remote: Option<&Value>) -> Vec<AbsolutePath> {
        let Some(name) =
            remote.map_or_else(|| Some(self.default_remote()), |name| name.as_exact().map(str::to_owned))
        else {
            return Vec::new();
        };
        let addresses = self.settings.push_addresses(&name);
        let mut found: Vec<AbsolutePath> =
            addresses.iter().filter_map(|address| self.receiver(address)).collect();
        found.sort();
        found.dedup();
        found
    }

    /// Whether a push goes only to repositories that the command itself made, which hold nothing of others.
    fn goes_where_nothing_was(&self, remote: Option<&Value>) -> bool {
        let name =
            remote.map_or_else(|| Some(self.default_remote()), |name| name.as_exact().map(str::to_owned));
        let addresses = name.map(|name| self.settings.push_addresses(&name)).unwrap_or_default();
        let is_new = |address: &String| {
            self.place_of_address(address).is_some_and(|place| self.machine.is_made_here(&place))
        };
        !addresses.is_empty() && addresses.iter().all(is_new)
    }

    /// The directory of the repository on this machine that an address names, with what its work trees share; `None` for all others.
    fn receiver(&self, address: &str) -> Option<AbsolutePath> {
        let directory = self.repository_at(&self.place_of_address(address)?)?;
        Some(shared_by_work_trees(self.machine, &directory))
    }

    /// The repository at a place, as git looks for it there (git-upload-pack(1), `--strict`): with the endings that it tries, and by the file that
    /// a linked work tree or a submodule has in its place.
    pub(super) fn repository_at(&self, path: &AbsolutePath) -> Option<AbsolutePath> {
        let suffixed =
            path.parent().zip(path.name()).map(|(parent, name)| parent.join(&format!("{name}.git")));
        let led_to = self.machine.text(&path.join(".git"));
        let led_to = led_to.as_exact().and_then(|text| text.trim().strip_prefix("gitdir:"));
        let led_to = led_to.map(|place| path.join(place.trim()));
        let is_found = |directory: &AbsolutePath| match self.machine.children(directory) {
            Listing::Names(names) => is_repository(&names) || names.iter().any(|name| name == "commondir"),
            Listing::Unknown => self.machine.entry(&directory.join("HEAD")) != Entry::Missing,
        };
        [Some(path.join(".git")), led_to, Some(path.clone()), suffixed].into_iter().flatten().find(is_found)
    }

    /// What a push with these words takes away at the other end: what it deletes, and what it sets whatever it held.
    fn loss_there(&self, remote: Option<&Value>, words: &Words) -> LossThere {
        const OPTIONS: [&str; 8] =
            ["-f", "--force", "--force-with-lease", "--mirror", "--prune", "-d", "--delete", "-D"];
        let takes =
            |reference: &str| reference.starts_with('+') || reference.starts_with(':') && reference.len() > 1;
        let references = words.operands_from(1);
        let is_set = || {
            self.is_mirror(remote)
                || references.is_empty()
                    && self.references_set(remote).iter().any(|text| takes(&text.known_start()))
        };
        if words.any(&OPTIONS)
            || references.iter().any(|reference| takes(&reference.known_start()))
            || is_set()
        {
            LossThere::Names
        } else {
            LossThere::None
        }
    }

    fn remote_name(&self, remote: Option<&Value>) -> String {
        remote.and_then(Value::as_exact).map_or_else(|| self.default_remote(), str::to_owned)
    }

    /// Whether settings make every push to a remote one of all that is here, and nothing else (git-config(1), `remote.<name>.mirror`).
    fn is_mirror(&self, remote: Option<&Value>) -> bool {
        let mirrors = self.settings.exact(&format!("remote.{}.mirror", self.remote_name(remote)));
        mirrors.is_some_and(|text| !matches!(text.as_str(), "false" | "no" | "off" | "0"))
    }

    /// What a push to a remote is about where its words do not say (git-config(1), `remote.<name>.push`).
    fn references_set(&self, remote: Option<&Value>) -> Vec<Value> {
        let set = self.settings.all(&format!("remote.{}.push", self.remote_name(remote)));
        set.into_iter().map(Value::exact).collect()
    }

    /// Says of what was added since there were `before` effects which branches of which remote it changes.
    fn name_branches(&mut self, before: usize, remote: Option<&Value>) {
        let current = self
            .cwd
            .as_ref()
            .and_then(|cwd| self.machine.world().repository(cwd))
            .and_then(|found| found.branch);
        let remote = match remote {
            Some(word) => word.as_exact().map(str::to_owned),
            None => Some(self.remote_name(None)),
        };
        self.machine.amend(before, |effect| {
            if !matches!(effect.kind, EffectKind::VcsRemoteUpdate | EffectKind::VcsHistoryRewrite) {
                return;
            }
            let branch = match effect.target.text() {
                Some("HEAD" | "@") => current.as_deref(),
                other => other.map(|name| name.strip_prefix("refs/heads/").unwrap_or(name)),
            };
            let name = remote.as_deref().zip(branch).map(|(remote, branch)| format!("{remote}/{branch}"));
            effect.sites.push(EffectSite { kind: SiteKind::Branch, name });
        });
    }

    /// A remote that is a repository on this machine changes like the own one.
    fn change_receivers(&mut self, receivers: &[AbsolutePath], loss: LossThere) {
        let own = self.repository_directory().map(|own| shared_by_work_trees(self.machine, &own));
        for directory in receivers {
            let nature = match loss {
                LossThere::Names if own.as_ref() == Some(directory) => Nature::KeptForAWhile,
                LossThere::None if own.as_ref() == Some(directory) => Nature::KeptWithoutItsName,
                LossThere::Names => Nature::LostAtRemote,
                LossThere::None => Nature::OfRemote,
            };
            let target = Target::Path(directory.clone());
            self.machine.add(data_change(target, nature, "forgets what its branches were"));
        }
        if !receivers.is_empty() {
            self.forget("what is known of the remote");
        }
    }

    fn push_one(&mut self, reference: &Value, force: bool, lease: bool, deletes: bool) {
        let text = reference.as_exact().map(str::to_owned);
        let start = reference.known_start();
        let plus = start.starts_with('+');
        // What stands behind the colon may not be known: `xargs -I{} git push origin :{}`.
        let empty = start.starts_with(':') && (start.len() > 1 || text.is_none());
        let target = text.map(|text| {
            let plain = text.trim_start_matches('+');
            plain.rsplit_once(':').map_or(plain, |(_, to)| to).to_owned()
        });
        let word = target.map_or(Value::Unknown, Value::exact);
        if (deletes || empty) && word.as_exact().is_some_and(|name| !is_shared(name)) {
            let target = Target::Reference(word.as_exact().unwrap_or_default().to_owned());
            let note = "deletes a branch of one's own from the remote";
            self.machine.add(Draft::new(EffectKind::VcsRemoteUpdate, target).note(note));
        } else if deletes || empty {
            self.delete_there(&word, "deletes it from the remote");
        } else if lease && goes_back(reference) && word.as_exact().is_some_and(is_shared) {
            self.rewrite(&word, "takes the newest commits of a branch that others share away");
        } else if plus && !lease || force {
            self.rewrite(&word, "replaces what the remote holds, commits of others included");
        } else {
            let note =
                if lease { "replaces what the remote holds, unless someone else has pushed" } else { "" };
            let target = word.as_exact().map_or(Target::Unknown, |text| Target::Reference(text.to_owned()));
            self.machine.add(Draft::new(EffectKind::VcsRemoteUpdate, target).note(note));
        }
    }
}

/// Whether a reference to push is an older commit by name: `main~20:main`, `HEAD^:main` (gitrevisions(7)).
fn goes_back(reference: &Value) -> bool {
    reference.known_start().split_once(':').is_some_and(|(from, _)| from.contains(['~', '^']))
}

/// Whether a branch is one on which others build, by its name; tags are, and so is what a pattern names.
fn is_shared(name: &str) -> bool {
    let name = name.trim_start_matches("refs/heads/");
    let lower = name.to_ascii_lowercase();
    let first = lower.split(['/', '-', '_']).next().unwrap_or_default();
    name.starts_with("refs/")
        || name.contains(['*', '$'])
        || is_version(name)
        || matches!(
            first,
            "main"
                | "master"
                | "trunk"
                | "develop"
                | "development"
                | "dev"
                | "staging"
                | "production"
                | "prod"
                | "release"
                | "releases"
                | "stable"
                | "gh"
                | "head"
        )
}

/// `v1.2.3`, `2.0`: the name of a version, mostly that of a tag.
fn is_version(name: &str) -> bool {
    let bare = name.strip_prefix('v').unwrap_or(name);
    bare.starts_with(|first: char| first.is_ascii_digit()) && bare.contains('.')
}
