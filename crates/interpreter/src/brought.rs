//! Trees that are brought over a directory, and second names of files: whether the guard is among what they reach.
//!
//! An effect on a directory says nothing about the names below it. Where it is known what comes, the paths of the guard that it reaches
//! are told one by one, or it is said that there are none; where it is not known, the guard decides.

use crate::effect::{EffectKind, Severity, Target};
use crate::guarded::SECOND_NAME;
use crate::path::AbsolutePath;
use crate::places::{self, SystemPlace};
use crate::world::{Entry, Last, Listing, resolve};

use super::draft::{AimedTarget, Draft, Inspection};
use super::machine::Machine;
use super::value::Value;

/// What a tree holds that is brought somewhere.
#[derive(Debug, Clone, Copy)]
pub enum Brought<'a> {
    /// What stands below this directory.
    Tree(&'a AbsolutePath),
    /// These paths, relative to where they go; directories with a slash behind.
    Members(&'a [String]),
    /// What a link at the place shows: whatever comes to stand at its other end.
    Link,
    /// It is not known.
    Unknown,
}

/// Whether content has something at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Yes,
    No,
    Unknown,
}

impl Machine<'_> {
    /// Adds an effect on each path of the guard that a tree reaches which is brought to a place. Answers what is known of the
    /// tree itself: nothing when no path of the guard lies there, or when it is not known what comes.
    pub fn bring(&mut self, place: &AbsolutePath, content: Brought<'_>) -> Inspection {
        if self.away.is_some() {
            return Inspection::Open;
        }
        let guarded = self.world.guarded();
        let below = guarded.iter().map(|guarded| guarded.path.clone());
        let below: Vec<AbsolutePath> = below.filter(|path| path != place && path.is_within(place)).collect();
        let mut inspection = if below.is_empty() { Inspection::Open } else { Inspection::WithoutGuard };
        for path in below {
            let Some(relative) = path.relative_to(place) else { continue };
            match self.holds(content, relative) {
                Holds::No => {}
                Holds::Unknown => inspection = Inspection::Open,
                Holds::Yes => {
                    let kind = match self.entry(&path) {
                        Entry::Missing => EffectKind::FileCreate,
                        Entry::File(_)
                        | Entry::Directory
                        | Entry::Symlink(_)
                        | Entry::Special
                        | Entry::Unknown => EffectKind::FileModify,
                    };
                    self.add(Draft::new(kind, Target::Path(path)).note("among what is brought here"));
                }
            }
        }
        inspection
    }

    fn holds(&self, content: Brought<'_>, relative: &str) -> Holds {
        match content {
            Brought::Link => Holds::Yes,
            Brought::Unknown => Holds::Unknown,
            Brought::Members(names) => {
                let reaches = |name: &String| {
                    let is_directory = name.ends_with('/');
                    let name = name.trim_end_matches('/');
                    let inside = |whole: &str, part: &str| {
                        whole.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                    };
                    // A file or link where a directory would have to be replaces the directory.
                    !name.is_empty() && (inside(name, relative) || !is_directory && inside(relative, name))
                };
                if names.iter().any(reaches) { Holds::Yes } else { Holds::No }
            }
            // Nothing can be said of a tree that is not there yet.
            Brought::Tree(directory)
                if self.tree.is_disturbed()
                    || self.tree.is_filled(directory)
                    || self.entry(directory) != Entry::Directory =>
            {
                Holds::Unknown
            }
            Brought::Tree(directory) => {
                let mut here = directory.clone();
                let mut parts = relative.split('/').peekable();
                while let Some(part) = parts.next() {
                    here = here.join(part);
                    match self.entry(&here) {
                        Entry::Missing => return Holds::No,
                        Entry::Unknown => return Holds::Unknown,
                        Entry::Directory if parts.peek().is_some() => {}
                        Entry::Directory | Entry::File(_) | Entry::Symlink(_) | Entry::Special => {
                            return Holds::Yes;
                        }
                    }
                }
                Holds::Unknown
            }
        }
    }

    /// The names of what an archive holds, as they come to lie in a directory: without what leads out of it; `None` when they are not
    /// known.
    pub fn members(&self, archive: &Value) -> Option<Vec<String>> {
        let path = self.one_path_through(archive)?;
        // What the command made itself is not there yet.
        if self.away.is_some() || self.tree.is_known(&path) {
            return None;
        }
        let Listing::Names(names) = self.world.members(&path) else { return None };
        let plain = |name: String| {
            let end = if name.ends_with('/') { "/" } else { "" };
            let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
            if parts.contains(&"..") { None } else { Some(format!("{}{end}", parts.join("/"))) }
        };
        names.into_iter().map(plain).collect()
    }

    /// Remembers that a name is a second one of a file: what is written there later changes the file.
    pub fn remember_second_name(&mut self, name: &Value, source: &Value) {
        let (Some(name), Some(source)) = (self.one_path_through(name), self.one_path_through(source)) else {
            return;
        };
        let first = self.second_names.get(source.as_str()).cloned().unwrap_or(source);
        if self.away.is_none() && name != first {
            self.second_names.insert(name.as_str().to_owned(), first);
        }
    }

    /// Adds what a second name of a file means (a hard link): a way to change the guard that does not name it, or to read a credential.
    pub fn second_name(&mut self, source: &Value) {
        let home = self.world.place().home.clone();
        for aim in self.paths(source) {
            match &aim.target.clone() {
                Target::Path(path) => {
                    self.guard_within(path);
                    if places::credential(path, &home).is_some() {
                        self.read(&Value::exact(path.as_str()));
                    }
                    if self.belongs_elsewhere(path) {
                        self.add(second_name_of(aim));
                    }
                }
                Target::Glob(text) => {
                    let Some(pattern) = crate::world::PathPattern::new(text) else { continue };
                    if self.belongs_elsewhere(&pattern.base) {
                        self.add(second_name_of(aim.clone()));
                    }
                    let reached: Vec<AbsolutePath> = (self.world.place().guarded.iter())
                        .filter(|guarded| {
                            pattern.base.is_within(&guarded.path) || pattern.matches(&guarded.path)
                        })
                        .map(|guarded| guarded.path.clone())
                        .collect();
                    reached.into_iter().for_each(|path| self.add_second_name(path));
                    if self.names_secret(source) {
                        self.read(source);
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

    /// Whether something lies outside of the workspace and is no view of the kernel, and neither this command nor an earlier one of the session made
    /// it. Where programs keep what they can get again nothing belongs to anybody.
    fn belongs_elsewhere(&self, path: &AbsolutePath) -> bool {
        let place = self.world.place();
        self.away.is_none()
            && !path.is_within(&place.workspace)
            && match places::system_place(path) {
                Some(SystemPlace::Kernel | SystemPlace::Device) => false,
                // Software of the system: its packages hold it again.
                Some(SystemPlace::Vital) => path.parts().next() != Some("usr"),
                Some(SystemPlace::Local | SystemPlace::State) | None => true,
            }
            && !self.is_temporary(path)
            && !self.tree.is_new(path)
            && !self.world.history().created.iter().any(|made| path.is_within(made))
            && matches!(self.entry(path), Entry::File(_) | Entry::Directory | Entry::Unknown)
    }

    /// Adds a second name for each path of the guard at or below a path, or above it.
    fn guard_within(&mut self, path: &AbsolutePath) {
        if self.away.is_some() {
            return;
        }
        let reached: Vec<AbsolutePath> = (self.world.place().guarded.iter())
            .map(|guarded| guarded.path.clone())
            .filter(|guarded| {
                path.is_within(guarded)
                    || guarded.is_within(path) && !matches!(self.entry(guarded), Entry::Missing)
            })
            .collect();
        reached.into_iter().for_each(|path| self.add_second_name(path));
    }

    fn add_second_name(&mut self, path: AbsolutePath) {
        self.add(
            Draft::new(EffectKind::GuardTampering, Target::Path(path))
                .severity(Severity::Critical)
                .irreversible()
                .note(SECOND_NAME),
        );
    }

    /// Whether a directory lies above a path of the guard.
    pub fn is_above_guard(&self, directory: &AbsolutePath) -> bool {
        self.away.is_none() && self.world.guarded().iter().any(|guarded| guarded.path.is_within(directory))
    }

    /// The place that a word names, through the links above it, when it is exactly one.
    pub fn one_path(&self, value: &Value) -> Option<AbsolutePath> {
        match self.paths(value).as_slice() {
            [AimedTarget { target: Target::Path(path), .. }] => Some(path.clone()),
            _ => None,
        }
    }

    /// The place that a word names, through a link at the end too, when it is exactly one.
    pub fn one_path_through(&self, value: &Value) -> Option<AbsolutePath> {
        let path = self.one_path(value)?;
        Some(resolve(&|path| self.entry(path), &AbsolutePath::root(), path.as_str(), Last::Follow))
    }
}

/// A change of what gets a second name: by that it can be changed where nobody looks for it.
fn second_name_of(aim: AimedTarget) -> Draft {
    Draft::at(EffectKind::FileModify, aim).recursive().severity(Severity::High).possible().note(SECOND_NAME)
}
