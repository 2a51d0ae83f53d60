//! `checkrein uninstall --purge`: the records, and everything that was saved, deleted.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::installation::Installations;

use super::init::Approval;
use super::{ExitStatus, OutputForm, for_people_only, unconfirmed};
use crate::api::{self, installation};
use crate::terminal::{Reply, confirm, print};

/// What our folders are called, wherever the user has them: what has another name may hold other things.
const OURS: &str = "checkrein";

/// Deletes the state and what is kept outside it, once no settings call the hooks any more. Only a user may.
pub(crate) fn purge(
    environment: &HostEnvironment,
    approval: Approval,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "uninstall --purge")?;
    let folders = folders(environment)?;
    if approval != Approval::DryRun {
        nobody_calls(environment)?;
    }
    if output == OutputForm::Text {
        for folder in &folders {
            print(&format!("delete    {} (records, and what was saved for `undo`)", folder.display()));
        }
    }
    match approval {
        Approval::DryRun => return tell(&folders, installation::PurgeResult::DryRun, output),
        Approval::Given => {}
        Approval::Ask => match confirm("Delete this? It cannot be undone.") {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        },
    }
    for folder in &folders {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(CommandError::file("delete", folder.display(), &error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    tell(&folders, installation::PurgeResult::Deleted, output)
}

fn tell(
    folders: &[PathBuf],
    result: installation::PurgeResult,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    match (output, result) {
        (OutputForm::Json, _) => {
            let folders = folders.iter().map(|folder| folder.display().to_string()).collect();
            print(&api::line(&installation::Purged { folders, result })?);
        }
        (OutputForm::Text, installation::PurgeResult::DryRun) => print("dry run: nothing was deleted"),
        (OutputForm::Text, installation::PurgeResult::Deleted) => {
            print("deleted; your configuration and the two programs are still there");
        }
    }
    Ok(ExitStatus::Done)
}

/// The state, and what is kept beside it. An error where the state lies in a folder that somebody else named.
fn folders(environment: &HostEnvironment) -> Result<Vec<PathBuf>, CommandError> {
    let state = environment.state.root();
    if state.file_name().is_none_or(|name| name != OURS) {
        return Err(CommandError::user(
            format!("the records are in {}, which may hold other things too", state.display()),
            "look into it, and delete it yourself",
        ));
    }
    let beside = Path::new(environment.home.as_str()).join(".local/share").join(OURS);
    let there = [state.to_owned(), beside].into_iter().filter(|folder| is_folder(folder));
    Ok(there.collect())
}

/// Whether a folder stands there itself: a link is not ours to follow.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir())
}

/// An error while settings of a client call the hooks: without records they would go on, and their sessions would begin anew.
fn nobody_calls(environment: &HostEnvironment) -> Result<(), CommandError> {
    let holds = |settings: &str| {
        checkrein_files::read_text(settings, checkrein_files::SMALL)
            .is_ok_and(|text| text.contains("checkrein-hook"))
    };
    let installations = Installations::load(environment)?.0;
    let calling: Vec<&str> = installations
        .iter()
        .map(|known| known.settings.as_str())
        .filter(|settings| holds(settings))
        .collect();
    if calling.is_empty() {
        return Ok(());
    }
    Err(CommandError::user(
        format!("the hooks are still registered in {}", calling.join(", ")),
        "run `checkrein uninstall` there first, or with `--user` or `--team`",
    ))
}
