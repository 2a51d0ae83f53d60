//! Other places than this machine: hosts and containers, and which of their files are files of this machine after all.

use crate::effect::{Depth, EffectKind, Target};
use crate::path::AbsolutePath;
use crate::world::Entry;

use super::draft::Draft;
use super::machine::Machine;
use super::shell::ShellDirectory;

/// Where effects happen when not on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteContext {
    /// The host or container, for explanations.
    pub place: String,
    /// Directories of this machine that can be reached there.
    pub mounts: Vec<Mount>,
    /// How long the place lasts.
    pub stay: Lifetime,
}

/// How long a place lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// It was there before and will be there after: a change to it is a change of infrastructure.
    Lasting,
    /// It is made for one command: a change to it alone is no loss.
    Passing,
}

/// A directory or file of this machine that can be reached in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Its path in the container.
    pub inside: AbsolutePath,
    /// Its path on this machine.
    pub here: AbsolutePath,
    /// What may be done to it there.
    pub access: Access,
}

/// What may be done to a mounted directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everything.
    Write,
    /// Reading only.
    Read,
}

impl RemoteContext {
    /// A place that lasts and shares no files with this machine.
    pub(crate) fn lasting(place: &str) -> Self {
        Self { place: place.to_owned(), mounts: Vec::new(), stay: Lifetime::Lasting }
    }
}

impl Mount {
    /// What a target in the container is here; `None` when it lies outside the mount.
    fn target_here(&self, target: &Target, depth: Depth) -> Option<Target> {
        match target {
            Target::Path(path) => match path.relative_to(&self.inside) {
                Some(rest) => Some(Target::Path(self.here.join(if rest.is_empty() { "." } else { rest }))),
                // What reaches below a directory reaches what is mounted in it.
                None if depth == Depth::Recursive && self.inside.is_within(path) => {
                    Some(Target::Path(self.here.clone()))
                }
                None => None,
            },
            Target::Glob(pattern) => {
                let rest = pattern.strip_prefix(self.inside.as_str())?;
                let rest =
                    rest.strip_prefix('/').or_else(|| (self.inside.as_str() == "/").then_some(rest))?;
                Some(Target::Glob(format!("{}/{rest}", self.here.as_str().trim_end_matches('/'))))
            }
            Target::Host(_)
            | Target::Process(_)
            | Target::Service(_)
            | Target::Reference(_)
            | Target::Unknown => None,
        }
    }
}

impl Machine<'_> {
    /// Runs `work` in a container: effects on mounted files happen here, others in the container.
    pub fn contained<T>(
        &mut self,
        away: RemoteContext,
        directory: Option<AbsolutePath>,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let place = away.place.clone();
        self.elsewhere(&place, |machine| {
            machine.away = Some(away);
            if let Some(directory) = directory {
                machine.shell.cwd = ShellDirectory::Here(directory);
            }
            work(machine)
        })
    }

    /// An effect in the container as an effect on the mounted file; `None` when it is on no mounted file.
    pub(super) fn on_mounted_file(&self, away: &RemoteContext, draft: &Draft) -> Option<Draft> {
        let (mount, target) = away
            .mounts
            .iter()
            .find_map(|mount| Some((mount, mount.target_here(&draft.target, draft.depth)?)))?;
        let kind = match draft.kind {
            EffectKind::FileModify | EffectKind::FileCreate => {
                match target.path().map(|path| self.tree.entry(self.world, path)) {
                    Some(Entry::Missing) => EffectKind::FileCreate,
                    Some(_) => EffectKind::FileModify,
                    None => draft.kind,
                }
            }
            other => other,
        };
        if mount.access == Access::Read && kind.is_mutating() {
            return None;
        }
        let note = format!("inside {}", away.place);
        Some(Draft { kind, target, ..draft.clone() }.note(note))
    }
}
