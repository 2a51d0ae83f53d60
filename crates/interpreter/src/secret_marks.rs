//! Which places hold secrets because earlier actions of the session put them there, and what this action changes about that.
//!
//! What is said of a place that the same action filled holds for one that an earlier action filled, too: the content of the place is told where it
//! is printed, not where the place is named.

use checkrein_protocol::{EffectKind, SecretHolder, SecretMark};

use crate::path::AbsolutePath;
use crate::places;

use super::exit::Output;
use super::machine::Machine;
use super::secrets::variable_of;
use super::value::Value;

/// How many marks one action leaves (ours).
const MARKS: usize = 16;

/// The greatest length of a place that is marked, in bytes (ours).
const PLACE: usize = 512;

impl Machine<'_> {
    /// Takes up what the history says of places that hold secrets.
    pub(super) fn recall_secrets(&mut self) {
        for mark in &self.world.history().secret_marks {
            let Some(secret) = &mark.secret else { continue };
            match mark.holder {
                SecretHolder::File => {
                    let output = self.carry_secret(secret.clone());
                    self.flow.sources.insert(mark.place.as_str().to_owned(), output);
                }
                SecretHolder::Archive => {
                    self.flow.carried.insert(secret.clone());
                    self.flow.archives_kept.push((mark.place.clone(), secret.clone()));
                }
                SecretHolder::Repository => {
                    if let Some(path) = AbsolutePath::new(secret) {
                        self.flow.stored.keep(path);
                    }
                }
            }
        }
    }

    /// Whether a file holds a secret because it was put there, by this action or an earlier one.
    pub(crate) fn holds_secret(&self, path: &AbsolutePath) -> bool {
        matches!(self.flow.sources.get(path.as_str()), Some(Output::Secret(_)))
    }

    /// Where secrets lie at or below a directory that this action or an earlier one put there, as files or in archives: those of places outside the
    /// workspace, and in a directory of its own also those of the project.
    pub fn secrets_put_within(&mut self, root: &AbsolutePath) -> Vec<AbsolutePath> {
        let workspace = self.world.place().workspace.clone();
        let counts = |place: &AbsolutePath, secret: &str| {
            let origin = AbsolutePath::new(secret).filter(|origin| origin != place);
            place.is_within(root)
                && origin.is_some_and(|origin| {
                    !origin.is_within(&workspace) || *root != workspace && !origin.is_within(root)
                })
        };
        let in_files = self.flow.sources.iter().filter_map(|(place, output)| {
            let place = AbsolutePath::new(place)?;
            counts(&place, output.as_secret()?).then_some(place)
        });
        let in_archives = self.flow.archives_kept.iter();
        let in_archives =
            in_archives.filter(|(place, secret)| counts(place, secret)).map(|(place, _)| place.clone());
        let mut found: Vec<AbsolutePath> = in_files.chain(in_archives).collect();
        for (place, sources, excluded) in self.flow.archives_made.clone() {
            if place.is_within(root)
                && let Some(Output::Secret(secret)) =
                    sources.iter().find_map(|source| self.packed(source, &excluded))
                && counts(&place, &secret)
            {
                found.push(place);
            }
        }
        found
    }

    /// The list of settings of which a file holds a copy, by the text that the file has.
    pub fn copied_list(&self, path: &AbsolutePath, text: &str) -> Option<AbsolutePath> {
        let place = self.flow.sources.get(path.as_str())?.as_secret()?;
        AbsolutePath::new(place).filter(|list| places::is_list_of_settings(list, text))
    }

    /// The secret that was put into a file.
    pub fn secret_put_into(&self, path: &AbsolutePath) -> Option<Output> {
        self.flow.sources.get(path.as_str()).filter(|output| output.as_secret().is_some()).cloned()
    }

    /// Takes up that a file that was changed still holds a secret.
    pub fn still_holds(&mut self, path: &AbsolutePath, secret: Output) {
        self.flow.sources.insert(path.as_str().to_owned(), secret);
    }

    /// Takes up that the values are gone from a file that held a copy of a list of settings.
    pub fn take_values_away(&mut self, path: &AbsolutePath, list: AbsolutePath) {
        self.flow.sources.remove(path.as_str());
        self.flow.cleaned.insert(path.clone(), list);
    }

    /// Whether all copies that were made of a list of settings have lost its values.
    pub(super) fn is_copied_without_values(&self, list: &AbsolutePath) -> bool {
        let holds = |output: &Output| output.as_secret() == Some(list.as_str());
        self.flow.cleaned.values().any(|source| source == list) && !self.flow.sources.values().any(holds)
    }

    /// Takes up that one program read a secret and wrote a file, by its effects from a number on: what it wrote may hold what it read.
    pub(super) fn note_secret_written(&mut self, from: usize) {
        let of_kind = |machine: &Self, is_meant: fn(EffectKind) -> bool| {
            machine.effects_since(from).any(|effect| is_meant(effect.kind))
        };
        let writes = |kind| matches!(kind, EffectKind::FileCreate | EffectKind::FileModify);
        self.flow.into_files |= of_kind(self, |kind| kind == EffectKind::SecretRead) && of_kind(self, writes);
    }

    /// What this action changes about the places that hold secrets.
    pub(super) fn secret_marks(&mut self) -> Vec<SecretMark> {
        let is_short = |path: &AbsolutePath| path.as_str().len() <= PLACE;
        let mut marks: Vec<SecretMark> = Vec::new();
        for mark in &self.world.history().secret_marks {
            let is_emptied = mark.holder == SecretHolder::File
                && !self.holds_secret(&mark.place)
                && self.tree.is_known(&mark.place)
                && matches!(self.tree.text(self.world, &mark.place), Value::Exact(_));
            if is_emptied {
                marks.push(SecretMark { secret: None, ..mark.clone() });
            }
        }
        let home = &self.world.place().home;
        for (place, output) in &self.flow.sources {
            let Output::Secret(secret) = output else { continue };
            let Some(place) = AbsolutePath::new(place).filter(is_short) else { continue };
            // What is a secret by its own name needs no mark.
            if self.tree.is_known(&place) && places::credential(&place, home).is_none() {
                marks.push(SecretMark { place, secret: Some(secret.clone()), holder: SecretHolder::File });
            }
        }
        for (place, sources, excluded) in std::mem::take(&mut self.flow.archives_made) {
            let found = sources.iter().find_map(|source| self.packed(source, &excluded));
            if let Some(secret) = found.filter(|secret| variable_of(secret).is_none())
                && let Output::Secret(secret) = secret
                && is_short(&place)
            {
                marks.push(SecretMark { place, secret: Some(secret), holder: SecretHolder::Archive });
            }
        }
        for secret in self.flow.stored.put_in_store() {
            let repository = self.world.repository(secret).map(|repository| repository.directory);
            if let Some(place) = repository.filter(is_short) {
                let secret = Some(secret.as_str().to_owned());
                marks.push(SecretMark { place, secret, holder: SecretHolder::Repository });
            }
        }
        marks.truncate(MARKS);
        marks
    }
}
