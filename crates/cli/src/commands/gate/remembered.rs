//! Where it is kept what the files of work trees held when a gate last read them: in the state directory, where no agent writes.
//!
//! It saves reading them all again. Where it is missing, cut off or cannot be opened, they are read.

use std::fs;
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_files::Forced;
use checkrein_supervise::runs::file::{create_directory, hexadecimal};
use checkrein_worktree::{GitRepository, RememberedContents};
use sha2::{Digest as _, Sha256};

use super::coverage::forget_oldest;

/// The folder in the state directory.
const FOLDER: &str = "contents";
/// The longest list that is read, in bytes (ours): half a million files. A longer one begins anew.
const LONGEST: u64 = 64 * 1024 * 1024;
/// How many new files make a list worth writing (ours): fewer are read again as fast.
const WORTH: usize = 64;
/// Of how many work trees something is kept (ours).
const KEPT: usize = 32;

fn file(environment: &HostEnvironment, workspace: &Path) -> (PathBuf, String) {
    let name = hexadecimal(&Sha256::digest(workspace.as_os_str().as_encoded_bytes()));
    (environment.state.root().join(FOLDER).join(&name), name)
}

/// Has a repository know what is remembered of its work tree.
pub(super) fn remembering(
    environment: &HostEnvironment,
    workspace: &Path,
    repository: GitRepository,
) -> GitRepository {
    let (path, name) = file(environment, workspace);
    let read = || {
        let bytes = checkrein_files::read(&path, LONGEST).ok()?;
        let bytes = environment.state.vault().open(bytes, name.as_bytes()).ok()?;
        RememberedContents::from_bytes(&bytes)
    };
    match read() {
        Some(contents) => repository.with_remembered(contents),
        None => repository,
    }
}

/// Keeps what was learned of a work tree. Where that fails, its files are read again the next time.
pub(super) fn remember(environment: &HostEnvironment, workspace: &Path, repository: &GitRepository) {
    let contents = repository.remembered();
    if contents.learned() < WORTH {
        return;
    }
    let (path, name) = file(environment, workspace);
    let Some(folder) = path.parent() else { return };
    let Ok(sealed) = environment.state.vault().seal(&contents.to_bytes(), name.as_bytes()) else { return };
    let written = create_directory(folder)
        .is_ok_and(|()| checkrein_files::replace(&path, &sealed, 0o600, Forced::Nothing).is_ok());
    if written {
        forget_oldest(folder, KEPT);
    } else {
        drop(fs::remove_file(&path));
    }
}
