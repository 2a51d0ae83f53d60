//! How much of the machine an action is predicted to use (seed 002).

use serde::{Deserialize, Serialize};

use crate::effect::{Depth, Effect, Target};
use crate::effect_kind::EffectKind;

/// What an action is predicted to use, as far as that is known before it runs. Time, memory and tokens are not: limits hold them while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ResourceUse {
    /// How many files and trees it makes, changes or deletes.
    pub file_operations: u64,
    /// How many programs it starts by name.
    pub programs: u64,
    /// How many times it talks to other machines, or to a service of this one.
    pub connections: u64,
    /// How many bytes it is given to write; 0 where nothing says so.
    pub bytes_written: u64,
    /// Whether these numbers are all.
    pub extent: UseExtent,
}

/// Whether a predicted use is all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UseExtent {
    /// It is.
    #[default]
    Whole,
    /// It may be more: a tree, a pattern, something that cannot be seen through.
    AtLeast,
}

impl ResourceUse {
    /// What these effects and programs use, where the action is given so many bytes to write.
    pub fn of(effects: &[Effect], programs: &[String], bytes_written: u64) -> Self {
        let count = |counts: &dyn Fn(&Effect) -> bool| {
            u64::try_from(effects.iter().filter(|effect| counts(effect)).count()).unwrap_or(u64::MAX)
        };
        let is_file_operation = |effect: &Effect| effect.kind.is_file_operation();
        let is_connection = |effect: &Effect| {
            matches!(
                effect.kind,
                EffectKind::NetworkRequest
                    | EffectKind::DataUpload
                    | EffectKind::VcsRemoteUpdate
                    | EffectKind::Publish
            )
        };
        let is_open = |effect: &Effect| {
            let is_several = is_file_operation(effect)
                && (effect.depth == Depth::Recursive || !matches!(effect.target, Target::Path(_)));
            let runs_unseen = matches!(
                effect.kind,
                EffectKind::Opaque
                    | EffectKind::ProcessSpawn
                    | EffectKind::PackageInstall
                    | EffectKind::RemoteCodeExecution
                    | EffectKind::SystemModification
            );
            is_several || runs_unseen
        };
        Self {
            file_operations: count(&is_file_operation),
            programs: u64::try_from(programs.len()).unwrap_or(u64::MAX),
            connections: count(&is_connection),
            bytes_written,
            extent: if effects.iter().any(is_open) { UseExtent::AtLeast } else { UseExtent::Whole },
        }
    }

    /// In words, such as `2 file operations, 1 program, at least`; empty where nothing is used.
    pub fn in_words(&self) -> String {
        let counted = |count: u64, one: &str, several: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {several}")),
        };
        let parts: Vec<String> = [
            counted(self.file_operations, "file operation", "file operations"),
            counted(self.programs, "program", "programs"),
            counted(self.connections, "connection", "connections"),
            counted(self.bytes_written, "byte to write", "bytes to write"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let parts = parts.join(", ");
        match self.extent {
            UseExtent::AtLeast if parts.is_empty() => "not known".to_owned(),
            UseExtent::AtLeast => format!("{parts}, at least"),
            UseExtent::Whole => parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::AbsolutePath;

    // Source: seed 002-36
    #[test]
    fn what_an_action_uses_is_counted_by_sort_and_says_whether_it_is_all() {
        let file = |kind, path: &str| Effect::new(kind, Target::Path(AbsolutePath::new(path).unwrap()));
        let host = |kind| Effect::new(kind, Target::Host("example.org".to_owned()));
        let effects = [
            file(EffectKind::FileRead, "/p/a"),
            file(EffectKind::FileCreate, "/p/b"),
            file(EffectKind::FileDelete, "/p/a"),
            host(EffectKind::NetworkRequest),
            host(EffectKind::DataUpload),
        ];
        let programs = ["cp".to_owned(), "rm".to_owned(), "curl".to_owned()];
        let found = ResourceUse::of(&effects, &programs, 12);
        let all = ResourceUse {
            file_operations: 2,
            programs: 3,
            connections: 2,
            bytes_written: 12,
            extent: UseExtent::Whole,
        };
        assert_eq!(found, all);
        assert_eq!(found.in_words(), "2 file operations, 3 programs, 2 connections, 12 bytes to write");
        for more in [
            Effect { depth: Depth::Recursive, ..file(EffectKind::FileDelete, "/p/tree") },
            Effect::new(EffectKind::FileDelete, Target::Glob("/p/*".to_owned())),
            Effect::new(EffectKind::Opaque, Target::Unknown),
            Effect::new(EffectKind::ProcessSpawn, Target::Process("build scripts".to_owned())),
        ] {
            assert_eq!(
                ResourceUse::of(std::slice::from_ref(&more), &[], 0).extent,
                UseExtent::AtLeast,
                "{more:?}"
            );
        }
        // A tree that is only read is no operation on files.
        let read = Effect { depth: Depth::Recursive, ..file(EffectKind::FileRead, "/p") };
        assert_eq!(ResourceUse::of(&[read], &[], 0), ResourceUse::default());
    }
}
