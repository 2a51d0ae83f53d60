//! What a stopped session left in temporary directories: moved into the report on the stop, never removed.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use checkrein_intervention::IncidentId;
use checkrein_protocol::AbsolutePath;

use crate::environment::HostEnvironment;
use crate::incident;

/// How many bytes are moved at most (ours).
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Moves the files that the session made in temporary directories, outside the workspace, into the folder of the report, and lists them there.
/// Only what is known for certain to be made by the session, and still is a plain file of this user with one name. What goes wrong is said.
pub(crate) fn move_away(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
    created: Vec<AbsolutePath>,
    id: &IncidentId,
) {
    let place = incident::folder(environment).join(&id.0);
    match moved(environment, workspace, created, &place) {
        Ok(moved) if moved.is_empty() => {}
        Ok(moved) => {
            if let Err(error) = list(environment, &place, &moved) {
                environment
                    .diagnostics
                    .add(format!("what was moved away is in `{}`, and not listed: {error}", place.display()));
            }
        }
        Err(error) => {
            environment.diagnostics.add(format!("temporary files were not moved away: {error}"));
        }
    }
}

fn moved(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
    mut created: Vec<AbsolutePath>,
    place: &Path,
) -> io::Result<Vec<(AbsolutePath, PathBuf)>> {
    let temporary = environment.temporary();
    let is_left = |path: &AbsolutePath| {
        temporary.iter().any(|folder| path.is_within(folder)) && !path.is_within(workspace)
    };
    created.retain(is_left);
    if created.is_empty() {
        return Ok(Vec::new());
    }
    let folder = place.join("left");
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let own = rustix::process::geteuid().as_raw();
    let (mut moved, mut bytes) = (Vec::new(), 0_u64);
    for path in created {
        let Ok(metadata) = fs::symlink_metadata(path.as_str()) else { continue };
        let real = fs::canonicalize(path.as_str()).ok();
        // A link on the way may lead anywhere.
        let is_there = real.as_deref() == Some(Path::new(path.as_str()));
        if !metadata.is_file() || metadata.uid() != own || metadata.nlink() != 1 || !is_there {
            continue;
        }
        bytes = bytes.saturating_add(metadata.len());
        if bytes > MOST_BYTES {
            break;
        }
        let name = path.as_str().rsplit('/').next().unwrap_or_default();
        let target = folder.join(format!("{}-{name}", moved.len() + 1));
        if fs::rename(path.as_str(), &target).is_err() {
            // Another file system.
            fs::copy(path.as_str(), &target)?;
            fs::File::open(&target)?.sync_all()?;
            fs::remove_file(path.as_str())?;
        }
        moved.push((path, target));
    }
    Ok(moved)
}

fn list(environment: &HostEnvironment, place: &Path, moved: &[(AbsolutePath, PathBuf)]) -> io::Result<()> {
    let mut report =
        "## Moved away\n\nFiles that the session left in temporary directories lie beside this report now.\n\n".to_owned();
    for (from, to) in moved {
        report.extend(["- `", from.as_str(), "`: `", &to.display().to_string(), "`\n"]);
    }
    incident::add_to_report(environment, place, &report)
}
