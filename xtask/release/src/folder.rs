//! The folder that the files of a release go into. Only what an earlier release put there is taken away.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::Outcome;

use crate::told;

/// The file that says that a folder is one of these. Its name begins with a dot: it is neither summed nor published.
pub(crate) const MARK: &str = ".made-by-cargo-xtask-release";

/// What the mark holds.
const TEXT: &str = "cargo xtask release made this folder, and replaces its own files in it.\n";

/// Makes the folder, or empties it of an earlier release. An error, with nothing removed, where it holds anything else.
pub(crate) fn prepare(folder: &Path) -> Outcome {
    if fs::symlink_metadata(folder).is_ok_and(|facts| !facts.is_dir()) {
        return Err(format!("{} is not a folder", folder.display()));
    }
    fs::create_dir_all(folder).map_err(told(folder))?;
    let mut earlier = Vec::new();
    let mut is_marked = false;
    for entry in fs::read_dir(folder).map_err(told(folder))? {
        let path = entry.map_err(told(folder))?.path();
        if is_mark(&path) {
            is_marked = true;
        } else {
            earlier.push(path);
        }
    }
    if !is_marked && !earlier.is_empty() {
        return Err(format!(
            "{} is not empty, and no release made it; nothing was removed: name another folder, or empty it yourself",
            folder.display()
        ));
    }
    if let Some(foreign) = earlier.iter().find(|path| !is_of_a_release(path)) {
        return Err(format!(
            "{} is not a file of a release; nothing was removed: move it out of the folder",
            foreign.display()
        ));
    }
    let mark = folder.join(MARK);
    fs::write(&mark, TEXT).map_err(told(&mark))?;
    earlier.iter().try_for_each(|path| fs::remove_file(path).map_err(told(path)))
}

fn is_mark(path: &PathBuf) -> bool {
    path.file_name().is_some_and(|name| name == MARK)
        && fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file())
}

/// Whether a file has a name that a release gives.
fn is_of_a_release(path: &PathBuf) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_named = ["checkrein-", "checkrein_", "checkrein.rb"].iter().any(|start| name.starts_with(start))
        || ["SHA256SUMS", "install.sh"].contains(&&*name);
    is_named && fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_an_earlier_release_are_taken_away() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("files");
        prepare(&folder).unwrap();
        for name in ["checkrein-1.0.0-x.tar.gz", "checkrein_1.0.0_amd64.deb", "SHA256SUMS", "install.sh"] {
            fs::write(folder.join(name), "").unwrap();
        }
        prepare(&folder).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "the mark alone");
        fs::write(folder.join("SHA256SUMS"), "").unwrap();
        fs::write(folder.join("thesis.txt"), "mine").unwrap();
        let said = prepare(&folder).unwrap_err();
        assert!(said.contains("thesis.txt is not a file of a release"), "{said}");
        assert!(folder.join("SHA256SUMS").exists(), "nothing was removed");
    }

    #[test]
    fn a_folder_of_somebody_is_left_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("checkrein-notes.txt"), "mine").unwrap();
        let said = prepare(place.path()).unwrap_err();
        assert!(said.contains("no release made it"), "{said}");
        assert!(place.path().join("checkrein-notes.txt").exists() && !place.path().join(MARK).exists());
        assert!(prepare(&place.path().join("checkrein-notes.txt")).is_err());
        let link = place.path().join("link");
        std::os::unix::fs::symlink(place.path(), &link).unwrap();
        assert!(prepare(&link).unwrap_err().contains("is not a folder"));
    }
}
