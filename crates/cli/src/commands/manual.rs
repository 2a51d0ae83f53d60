//! `checkrein manual`: the manual pages, made from the help that the program itself shows.

use std::fs;
use std::path::Path;

use checkrein_engine::error::CommandError;

use super::{ExitStatus, OutputForm};
use crate::api::{self, installation};
use crate::arguments::write_manual;
use crate::terminal::{print, print_exact};

/// Writes a page for each command into `folder`.
pub(crate) fn manual(folder: &Path, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let written = fs::create_dir_all(folder).and_then(|()| write_manual(folder));
    written.map_err(|error| {
        CommandError::user(
            format!("the pages cannot be written into {}: {error}", folder.display()),
            "name a directory that you may write into",
        )
    })?;
    let folder = folder.display().to_string();
    match output {
        OutputForm::Json => print_exact(&api::line(&installation::ManualPages { folder })?),
        OutputForm::Text => print(&format!("the pages are in {folder}; `checkrein.1` is the first")),
    }
    Ok(ExitStatus::Done)
}
