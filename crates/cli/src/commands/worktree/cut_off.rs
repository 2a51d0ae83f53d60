//! Taking back a merge that was cut off.

use checkrein_snapshot::{ActionEndTime, Request, SnapshotId};
use checkrein_worktree::Merging;

use super::Known;
use crate::commands::restore::{RestoreContext, Unfinished};
use crate::terminal::log;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// Puts everything that the merge may have changed back to what it was before. What is there now is saved first.
pub(super) fn take_back(
    environment: &HostEnvironment,
    known: &Known,
    merging: &Merging,
) -> Result<(), CommandError> {
    log(&format!(
        "a merge of the worktree `{}` was cut off; what it had changed is taken back first",
        known.name
    ));
    if let Some(number) = merging.snapshot {
        let ground = RestoreContext::open(environment, Unfinished::Finish)?;
        let prepared = ground.prepare(SnapshotId(number), &[], ActionEndTime::None)?;
        let reason = format!("taking back a merge of the worktree `{}` that was cut off", known.name);
        let request = Request { at: environment.now().0, reason, place: None };
        if let Some(restored) = prepared.carry_out(request)? {
            log(&format!("what was there meanwhile is snapshot {}", restored.saved_as));
        }
    }
    Merging::forget(&known.record)?;
    Ok(())
}
