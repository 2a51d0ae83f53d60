//! Secrets that the action itself puts where git can print them: staged, stashed, or named by the object that holds them.
//!
//! What is printed later in the same action shows them without their names.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::git_store::IgnoredFiles;
use crate::interpreter::known_hosts;
use crate::interpreter::{Draft, Output, Value};
use crate::path::AbsolutePath;
use crate::places;
use crate::world::{Committed, Entry, VersionState};

use super::options::Words;
use super::{Git, tree};

/// Subcommands that tell the name of an object.
const NAMING: &[&str] = &["rev-parse", "ls-tree", "ls-files", "hash-object", "rev-list"];

impl Git<'_, '_> {
    /// Notes the secrets that a subcommand puts into the store of objects, or of which it tells the names there.
    pub(super) fn note_stored(&mut self, name: &str, words: &Words) {
        if matches!(name, "add" | "stage") && !words.any(&["-n", "--dry-run"]) {
            let ignored =
                if words.any(&["-f", "--force"]) { IgnoredFiles::Added } else { IgnoredFiles::Left };
            let placed = self.placed(words);
            self.machine.flow.stored.tracked.extend(placed.into_iter().map(|path| (path, ignored)));
        }
        match name {
            "add" | "stage" if words.any(&["-f", "--force"]) => {
                for path in self.placed(words) {
                    self.store_within(&path, &[VersionState::Ignored, VersionState::Untracked]);
                }
            }
            "add" | "stage" => {
                let placed = self.placed(words);
                let stored = &mut self.machine.flow.stored;
                stored.added.extend(placed);
            }
            "stash" => {
                let saves = matches!(words.operand(0), None | Some("push" | "save"));
                let states: &[VersionState] = if words.any(&["-a", "--all"]) {
                    &[VersionState::Ignored, VersionState::Untracked]
                } else {
                    &[VersionState::Untracked]
                };
                if saves && words.any(&["-a", "--all", "-u", "--include-untracked"]) {
                    let root = self.root();
                    root.iter().for_each(|root| self.store_within(root, states));
                }
            }
            // A message is shown wherever the commit, tag or note is.
            "commit" | "tag" | "merge" | "notes" | "interpret-trailers" => {
                let options = words.arguments.values(&["-F", "--file", "-t", "--template"]);
                let files: Vec<Value> = if name == "interpret-trailers" {
                    words.operands().to_vec()
                } else {
                    options.map(|file| self.absolute(file)).collect()
                };
                for file in files {
                    if self.machine.names_secret(&file) {
                        self.machine.read(&file);
                    }
                }
            }
            _ if NAMING.contains(&name) => {
                let home = self.machine.world().place().home.clone();
                let named = words.operands().iter().filter_map(Value::as_exact).filter_map(|text| {
                    let path = match text.split_once(':') {
                        Some((_, path)) => self.root()?.join(path),
                        None => self.located(&Value::exact(text))?,
                    };
                    let is_secret = places::credential(&path, &home).is_some()
                        && !places::is_for_tests(&path, self.machine.world());
                    is_secret.then_some(path)
                });
                let named: Vec<AbsolutePath> = named.collect();
                self.machine.flow.stored.named.extend(named);
            }
            _ => {}
        }
    }

    /// Whether the action itself gave git a file that it did not hold: what takes tracked files away takes it, too.
    pub(super) fn was_added(&self, path: &AbsolutePath) -> bool {
        let state = self.machine.world().version(path);
        self.machine.flow.stored.tracked.iter().any(|(root, ignored)| {
            path.is_within(root)
                && (matches!(state, VersionState::Untracked | VersionState::Unknown)
                    || state == VersionState::Ignored && *ignored == IgnoredFiles::Added)
        })
    }

    /// The paths that the operands of `git add` name; all of the work tree where there are none.
    fn placed(&self, words: &Words) -> Vec<AbsolutePath> {
        if words.operands().is_empty() {
            return self.root().into_iter().collect();
        }
        words
            .operands()
            .iter()
            .flat_map(|word| match word.as_exact() {
                Some(_) => self.located(word).into_iter().collect::<Vec<_>>(),
                None => self.cwd.clone().into_iter().collect(),
            })
            .collect()
    }

    fn store_within(&mut self, root: &AbsolutePath, states: &[VersionState]) {
        let found = self.machine.credentials_within(root, &[]);
        let world = self.machine.world();
        // Who adds all of the work adds new keys of tests with it; what is ignored nobody means to add.
        let counts = |path: &AbsolutePath| match world.version(path) {
            VersionState::Untracked => path == root || !places::lies_with_tests(path, world),
            _ => true,
        };
        let found: Vec<_> = found
            .into_iter()
            .filter(|path| {
                self.machine.secret_put_into(path).is_some()
                    || tree::may_be_in(world, path, states) && counts(path)
            })
            .collect();
        self.machine.flow.stored.secrets.extend(found);
    }

    /// Adds that secrets which the session gave to git leave the machine with a push.
    pub(super) fn note_stored_pushed(&mut self, remote: Option<&Value>) {
        let name = match remote {
            Some(remote) => remote.as_exact().map(str::to_owned),
            None => Some(self.default_remote()),
        };
        let Some(name) = name.filter(|name| !self.is_own_repository(name)) else { return };
        let added = std::mem::take(&mut self.machine.flow.stored.added);
        for root in &added {
            self.store_within(root, &[VersionState::Untracked]);
        }
        let Some(root) = self.root() else { return };
        let has_committed = self.has_committed();
        let is_committed = |secret: &AbsolutePath| {
            has_committed
                || secret.relative_to(&root).is_some_and(|below| {
                    let held = self.machine.world().committed(&root, "HEAD", below);
                    matches!(held, Committed::Object(_) | Committed::Unknown)
                })
        };
        let stored = &self.machine.flow.stored.secrets;
        let sent: Vec<AbsolutePath> =
            stored.iter().filter(|secret| secret.is_within(&root) && is_committed(secret)).cloned().collect();
        let address = self.settings.push_addresses(&name).into_iter().next().unwrap_or(name);
        // Whoever reads a repository of this machine reads it there, and what has left stays.
        let host = match self.repository_of(&address) {
            Some(repository) => Target::Path(repository),
            None => Target::Host(known_hosts::host_of(&address)),
        };
        for secret in sent {
            let below = secret.relative_to(&root).unwrap_or_default();
            let note = format!("`{below}`, which this session committed, goes with it");
            let draft = Draft::new(EffectKind::DataUpload, host.clone());
            self.machine.add(draft.severity(Severity::High).irreversible().note(note));
        }
    }

    /// Adds the secrets that a subcommand prints which shows what is stored, and which no operand leaves out.
    pub(super) fn shown_of_stored(&mut self, name: &str, words: &Words) -> Option<Output> {
        // Of what was not tracked it shows nothing unless it is asked.
        if name == "stash" && !words.any(&["-u", "--include-untracked", "--only-untracked"]) {
            return None;
        }
        let added = std::mem::take(&mut self.machine.flow.stored.added);
        for root in &added {
            self.store_within(root, &[VersionState::Untracked]);
        }
        let operands = words.operands();
        let behind = words.operands_from(words.before_dashes.unwrap_or(usize::MAX));
        let is_there =
            |path: &AbsolutePath| !matches!(self.machine.entry(path), Entry::Missing | Entry::Unknown);
        let mut paths: Vec<AbsolutePath> = behind.iter().filter_map(|word| self.located(word)).collect();
        if words.before_dashes.is_none() {
            paths.extend(operands.iter().filter_map(|word| self.located(word)).filter(is_there));
        }
        let is_left =
            |secret: &AbsolutePath| paths.is_empty() || paths.iter().any(|path| secret.is_within(path));
        let root = self.root();
        let is_own =
            |secret: &AbsolutePath| root.as_ref().is_none_or(|root: &AbsolutePath| secret.is_within(root));
        let mut shown: Vec<AbsolutePath> = self
            .machine
            .flow
            .stored
            .secrets
            .iter()
            .filter(|secret| is_left(secret) && is_own(secret))
            .cloned()
            .collect();
        // An object by its name alone.
        let is_unknown = operands.iter().any(|word| word.as_exact().is_none())
            || operands.is_empty() && words.any(&["--batch", "--stdin"]);
        if is_unknown {
            shown.extend(self.machine.flow.stored.named.iter().cloned());
        }
        for path in &shown {
            let draft = Draft::new(EffectKind::SecretRead, Target::Path(path.clone()));
            self.machine.add(draft.note("as it was given to git"));
        }
        shown.first().map(|path| Output::Secret(path.as_str().to_owned()))
    }
}
