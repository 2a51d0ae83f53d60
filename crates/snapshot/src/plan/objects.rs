//! The objects of git repositories. They are named by their content, so an object that came while an action ran may be part of a commit
//! that somebody else made since. An object that nothing names does no harm, and `git gc` removes it in time.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{RestoreAction, Step};

/// Leaves the objects alone that came into a repository that stood there then. A repository that is new goes as a whole.
pub(super) fn keep_objects(steps: Vec<Step>) -> Vec<Step> {
    let goes = |step: &&Step| step.deed == RestoreAction::Remove;
    let gone: HashSet<PathBuf> =
        steps.iter().filter(goes).map(|step| step.path.as_path().to_path_buf()).collect();
    let stays = |step: &Step| {
        step.deed == RestoreAction::Remove
            && objects_around(step.path.as_path()).is_some_and(|objects| !gone.contains(objects))
    };
    steps.into_iter().filter(|step| !stays(step)).collect()
}

/// The directory of objects of a repository that a path lies in.
fn objects_around(path: &Path) -> Option<&Path> {
    let is_repository =
        |directory: &Path| directory.join("HEAD").is_file() && directory.join("refs").is_dir();
    path.ancestors().skip(1).find(|above| {
        above.file_name().is_some_and(|name| name == "objects") && above.parent().is_some_and(is_repository)
    })
}
