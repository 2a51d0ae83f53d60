//! Asking for the rest: what is kept only because nobody told when an action ended.

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_snapshot::{Since, Step};

use super::sorting::Sorted;
use super::{Permissions, RestoreConsent, RestoreTerms, count};
use crate::commands::undo::{UndoChoice, undo};
use crate::commands::{ExitStatus, OutputForm};
use crate::terminal::{Reply, confirm};

/// Asks a user at a terminal whether what was kept for lack of an end is put back too, and does that. Nothing is asked where something was
/// changed since for certain: the options that take back the one would write over the other.
pub(super) fn ask(
    environment: &HostEnvironment,
    case: &RestoreTerms<'_>,
    sorted: &Sorted,
    status: ExitStatus,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let permissions =
        Permissions { guard: case.permissions.guard, consent: RestoreConsent::Given, ..sorted.needed };
    let gives_more =
        (permissions.changed, permissions.new) != (case.permissions.changed, case.permissions.new);
    let is_asked = case.permissions.consent == RestoreConsent::Ask && output == OutputForm::Text;
    let can_go_back = |step: &&Step| !sorted.stays.contains(&step.path);
    let kept: Vec<&Step> = sorted.left.iter().map(|(step, _)| step).filter(can_go_back).collect();
    let is_open = |step: &&&Step| step.since == Since::Doubtful;
    let open = kept.iter().filter(is_open).count();
    if !is_asked || !gives_more || open == 0 || kept.iter().any(|step| step.since.is_changed()) {
        return Ok(status);
    }
    let were = if open == 1 { "was" } else { "were" };
    let question = format!(
        "Nobody told when the call ended, so {} {were} kept. Put that back too? What is there now is saved first.",
        count(open, "place", "places"),
    );
    match confirm(&question) {
        Reply::Yes => {}
        Reply::No | Reply::Nobody => return Ok(status),
    }
    // A number of a snapshot counts where its workspace is.
    let there = HostEnvironment { cwd: case.ground.workspace.clone(), ..environment.clone() };
    undo(&there, UndoChoice::Named(&case.snapshot.id.to_string()), permissions, output)
}
