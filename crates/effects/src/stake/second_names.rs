//! Hard links: a file with two names is what both names say.

use std::cell::OnceCell;

use crate::effect::{Depth, Effect, EffectKind, FileChange, Target};
use crate::path::AbsolutePath;
use crate::places::{credentials_at_home, known_at_home};
use crate::world::World;

/// What is said of an effect on the other name of a file.
const NOTE: &str = "the same file under another name";

/// Adds what changes to a file, or reading it, do to a start-up file or a credential of the user that is the same file. Files with one
/// name, nearly all, cost nothing beyond the look at them.
pub(super) fn add(effects: &mut Vec<Effect>, world: &dyn World) {
    let home = &world.place().home;
    let is_linked = |path: &AbsolutePath| world.is_same_file(path, path);
    let linked = |paths: Vec<AbsolutePath>| -> Vec<AbsolutePath> {
        paths.into_iter().filter(|path| is_linked(path)).collect()
    };
    let (starting, secret) = (OnceCell::new(), OnceCell::new());
    let starting =
        || starting.get_or_init(|| linked(known_at_home().map(|place| home.join(&place)).collect()));
    let secret = || secret.get_or_init(|| linked(credentials_at_home(home)));
    let mut added: Vec<Effect> = Vec::new();
    for effect in effects.iter() {
        let Target::Path(path) = &effect.target else { continue };
        let changes = match effect.kind.file_change() {
            Some(FileChange::Modify | FileChange::Permissions) => true,
            // One name less leaves the others, and what is new has one.
            Some(FileChange::Delete | FileChange::Create) => continue,
            None => false,
        };
        if !changes && effect.kind != EffectKind::FileRead
            || effect.depth != Depth::Single
            || !is_linked(path)
        {
            continue;
        }
        let own = if changes { starting().as_slice() } else { &[] };
        for other in own.iter().chain(secret()) {
            if other != path && world.is_same_file(path, other) {
                let kind = if changes { effect.kind } else { EffectKind::SecretRead };
                let note = NOTE.to_owned();
                let target = Target::Path(other.clone());
                if !effects.iter().any(|known| known.kind == kind && known.target == target) {
                    added.push(Effect { kind, target, note, ..effect.clone() });
                }
            }
        }
    }
    effects.extend(added);
}
