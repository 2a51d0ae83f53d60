//! Directories that programs take away because they took the last file out of them: `git rm`, `git apply`, `patch`.

use crate::effect::Depth;
use crate::interpreter::{Machine, Value};
use crate::path::AbsolutePath;
use crate::world::Listing;

/// Removes the directories above a file that went in which nothing is left, up to the one that stays whatever happens.
pub(crate) fn remove_emptied(machine: &mut Machine<'_>, file: &AbsolutePath, stays: &AbsolutePath) {
    let mut next = file.parent();
    while let Some(directory) = next {
        let is_left = directory == *stays || !directory.is_within(stays);
        // Nobody takes away the directory in which it runs.
        let is_here = machine.cwd().is_some_and(|cwd| cwd.is_within(&directory));
        if is_left || is_here || machine.children(&directory) != Listing::Names(Vec::new()) {
            return;
        }
        machine.delete(&Value::exact(directory.as_str()), Depth::Single);
        next = directory.parent();
    }
}
