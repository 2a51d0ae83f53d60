//! Other places than this machine: hosts and containers, and which of their files are files of this machine after all.

use crate::effect::{Depth, EffectKind, Severity, Target};
use crate::path::AbsolutePath;
use crate::places::{self, SystemPlace};
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
    /// What sort of place it is.
    pub sort: PlaceSort,
}

/// What sort of place another one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceSort {
    /// A machine: it starts from its disks, and others log in there.
    Machine,
    /// A container, a pod, another root directory: it is made again from what it was made of.
    Container,
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

/// What stands for the home directory of the user on another machine.
pub(super) const OTHER_HOME: &str = "/home/~";

/// Whether a file below `/etc` is one of those without which the machine starts and people log in (hier(7)).
fn is_setting(path: &AbsolutePath) -> bool {
    const VITAL: &[&str] = &[
        "passwd",
        "shadow",
        "group",
        "gshadow",
        "sudoers",
        "sudoers.d",
        "fstab",
        "crypttab",
        "ssh",
        "pam.d",
        "security",
        "ld.so.conf",
        "ld.so.preload",
        "ld.so.conf.d",
        "inittab",
        "default",
        "grub.d",
    ];
    path.as_str()
        .strip_prefix("/etc/")
        .is_some_and(|rest| !rest.split('/').next().is_some_and(|first| VITAL.contains(&first)))
}

/// Whether what is written to a file stands behind what was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Appending {
    /// It does.
    Yes,
    /// It takes the place of it.
    No,
}

impl RemoteContext {
    /// A machine that shares no files with this one.
    pub(crate) fn machine(place: &str) -> Self {
        Self {
            place: place.to_owned(),
            mounts: Vec::new(),
            stay: Lifetime::Lasting,
            sort: PlaceSort::Machine,
        }
    }

    /// A container that lasts and shares no files with this machine.
    pub fn container(place: &str) -> Self {
        Self { sort: PlaceSort::Container, ..Self::machine(place) }
    }

    /// How grave a change of a file is on another machine, where it is more than a change of what runs there: what it starts from, who may
    /// log in, what runs by itself from then on.
    pub(super) fn gravity(&self, draft: &Draft, appending: Appending) -> Option<Severity> {
        let path = draft.target.path().filter(|_| self.sort == PlaceSort::Machine)?;
        let place = places::system_place(path);
        let is_vital =
            *path == AbsolutePath::root() || place == Some(SystemPlace::Vital) && !is_setting(path);
        let home = AbsolutePath::new(OTHER_HOME)?;
        let grave = match draft.kind {
            EffectKind::FileCreate | EffectKind::FileModify | EffectKind::SystemModification
                if place == Some(SystemPlace::Device) =>
            {
                true
            }
            EffectKind::FileModify | EffectKind::FileDelete if is_vital && appending == Appending::No => true,
            EffectKind::PermissionChange => is_vital && draft.depth == Depth::Recursive,
            EffectKind::FileCreate | EffectKind::FileModify | EffectKind::Persistence => {
                places::persistence(path, &home).is_some()
            }
            _ => false,
        };
        grave.then_some(Severity::High)
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

    /// Whether this runs in a container into which a directory of this machine is mounted that may be written there, with all that holds it.
    pub fn may_write_from_here(&self, directory: &AbsolutePath) -> bool {
        let mounts = self.away.iter().flat_map(|away| &away.mounts);
        mounts.into_iter().any(|mount| mount.access == Access::Write && directory.is_within(&mount.here))
    }

    /// Runs `work` as what happens on this machine, wherever the command runs: for what a container does to it that is no effect on a file.
    pub fn out_here<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let away = self.away.take();
        let answer = work(self);
        self.away = away;
        answer
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
