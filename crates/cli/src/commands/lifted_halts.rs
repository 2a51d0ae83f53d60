//! Halts that a user lifted while an agent runs within bounds: a note of it where such an agent cannot write, since a run lays a halt again that
//! is merely gone.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_files::Forced;
use checkrein_supervise::runs::{Runs, Whereabouts};

/// The folder of the notes, in the configuration directory.
const FOLDER: &str = "lifted";

/// When a user last lifted a halt, by the name of its file; `None` when nobody did while it mattered.
pub(super) fn lifted_at(environment: &HostEnvironment, halt: &OsStr) -> Option<SystemTime> {
    fs::symlink_metadata(folder(environment).join(halt)).and_then(|note| note.modified()).ok()
}

/// Notes that a user lifts halts, by the names of their files. To be called before they go. Where nothing runs within bounds, nothing is noted
/// and what was is removed.
pub(super) fn note_lifted<'name>(
    environment: &HostEnvironment,
    halts: impl IntoIterator<Item = &'name str>,
) -> Result<(), CommandError> {
    let folder = folder(environment);
    if !runs_within_bounds(environment) {
        // There may be none.
        drop(fs::remove_dir_all(&folder));
        return Ok(());
    }
    let failed = |error: std::io::Error| CommandError::file("write", folder.display(), &error);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
    for halt in halts {
        checkrein_files::replace(&folder.join(halt), b"", 0o600, Forced::Name).map_err(failed)?;
    }
    Ok(())
}

fn folder(environment: &HostEnvironment) -> PathBuf {
    Path::new(environment.configuration.as_str()).join(FOLDER)
}

fn runs_within_bounds(environment: &HostEnvironment) -> bool {
    let all = Runs::new(environment.state.root()).all().unwrap_or_default();
    all.into_iter().any(|found| {
        found.whereabouts == Whereabouts::Active
            && found.loaded.map_or(true, |loaded| loaded.state.manner.scope.is_some())
    })
}
