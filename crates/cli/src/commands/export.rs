//! `checkrein snapshot export`: a snapshot as plain files in a directory of their own.

use std::path::PathBuf;

use checkrein_snapshot::SnapshotId;

use super::restore::{RestoreContext, Unfinished};
use super::{ExitStatus, OutputForm};
use crate::api;
use crate::terminal::{log, plain, print, print_exact};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Copies a snapshot into a new directory: each place below it under its own path.
pub fn export(
    environment: &HostEnvironment,
    snapshot: SnapshotId,
    directory: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let ground = RestoreContext::open(environment, Unfinished::Tell)?;
    let directory = PathBuf::from(environment.cwd.join(directory).as_str());
    if directory.symlink_metadata().is_ok() {
        return Err(CommandError::user(
            format!("`{}` is there already", plain(&directory.to_string_lossy())),
            "name a directory that does not exist; it is made",
        ));
    }
    let exported = ground.store.export(snapshot, &directory)?;
    match output {
        OutputForm::Json => {
            print_exact(&api::pretty(&api::saved::Exported {
                directory: directory.to_string_lossy().into_owned(),
                entries: exported.entries,
                left: exported.left.len(),
            })?);
        }
        OutputForm::Text => {
            print(&format!("{} entries are in {}", exported.entries, directory.display()));
            for (path, why) in &exported.left {
                log(&format!("not as it was: {}: {why}", plain(&path.as_path().to_string_lossy())));
            }
        }
    }
    Ok(ExitStatus::Done)
}
