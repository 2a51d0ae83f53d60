//! The paths of the guard, and what is said of changes near them.

use crate::path::AbsolutePath;
use crate::world::{GuardedPath, Last, World, resolve};

/// What stands for the number of the process that started the shell.
pub const PARENT: &str = "$PPID";

/// What is said of a tree that is brought over a directory, and of which it is known that nothing in it is the guard's.
pub(crate) const HOLDS_NO_GUARD: &str = "holds nothing of the guard";
/// What is said of a link by which something is changed that the change does not name.
pub(crate) const SECOND_NAME: &str = "gives it a second name, by which it can be changed unseen";

/// The paths of the guard, each also by the place where it really lies when a link leads there.
pub fn paths(world: &dyn World) -> Vec<GuardedPath> {
    let given = &world.place().guarded;
    let mut all = given.clone();
    for guarded in given {
        let entry = |path: &AbsolutePath| world.entry(path);
        let real = resolve(&entry, &AbsolutePath::root(), guarded.path.as_str(), Last::Follow);
        if real != guarded.path {
            all.push(GuardedPath { path: real, role: guarded.role.clone() });
        }
    }
    all
}
