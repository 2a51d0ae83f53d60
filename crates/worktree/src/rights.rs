//! The group and the mode of files that a merge writes anew: their content is the run's, their rights stay those of the work tree.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

/// The permission bits, without those that run a file as somebody else: nobody gives them to new content unasked.
const BITS: u32 = 0o777;

/// The bits that let somebody run a file.
const RUN: u32 = 0o111;

/// The rights of files as they are before a merge.
#[derive(Debug, Clone, Default)]
pub struct Rights {
    workspace: PathBuf,
    files: Vec<FileRights>,
}

#[derive(Debug, Clone)]
struct FileRights {
    path: PathBuf,
    group: u32,
    mode: u32,
}

impl Rights {
    /// The rights that the files at these paths below a work tree have now.
    pub fn of(workspace: &Path, paths: &[PathBuf]) -> Self {
        let rights = |path: &PathBuf| {
            let facts = fs::symlink_metadata(workspace.join(path)).ok().filter(Metadata::is_file)?;
            Some(FileRights { path: path.clone(), group: facts.gid(), mode: facts.mode() & BITS })
        };
        Self { workspace: workspace.to_owned(), files: paths.iter().filter_map(rights).collect() }
    }

    /// Gives them back to the files that are still there, and returns those whose group the system does not let us set: each path with the
    /// number of the group that it had.
    pub fn give_back(&self) -> Vec<(PathBuf, u32)> {
        let lost = self.files.iter().filter(|rights| !rights.give_back(&self.workspace));
        lost.map(|rights| (rights.path.clone(), rights.group)).collect()
    }
}

impl FileRights {
    /// Whether the file has its group, or is no longer there.
    fn give_back(&self, workspace: &Path) -> bool {
        let path = workspace.join(&self.path);
        let Some(now) = fs::symlink_metadata(&path).ok().filter(Metadata::is_file) else { return true };
        // Nobody's link is followed, and nothing is waited for.
        let file =
            OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&path);
        let Ok(file) = file else { return now.gid() == self.group };
        let has_group = now.gid() == self.group || fchown(&file, None, Some(self.group)).is_ok();
        self.give_mode_back(&file, now.mode() & BITS);
        has_group
    }

    /// Who may run it is what a run can change; everything else stays.
    fn give_mode_back(&self, file: &File, now: u32) {
        if (now & RUN == 0) != (self.mode & RUN == 0) || now == self.mode {
            return;
        }
        // The content is there either way; a mode that cannot be set is that of any new file.
        drop(file.set_permissions(Permissions::from_mode(self.mode)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_anew_keeps_its_mode_unless_the_run_changed_who_may_run_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (before, anew, after) in [(0o640, 0o644, 0o640), (0o600, 0o755, 0o755), (0o750, 0o755, 0o750)] {
            let mode = |mode| fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            fs::write(&path, "before").unwrap();
            mode(before);
            let rights = Rights::of(folder.path(), &[PathBuf::from("file"), PathBuf::from("other")]);
            fs::remove_file(&path).unwrap();
            fs::write(&path, "after").unwrap();
            mode(anew);
            assert_eq!(rights.give_back(), []);
            assert_eq!(fs::metadata(&path).unwrap().mode() & BITS, after, "{before:o}");
        }
    }
}
