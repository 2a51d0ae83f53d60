//! Retention: old sessions go.

use std::time::Duration;

use checkrein_ledger::{Due, LedgerError, StateDirectory, remove};
use checkrein_protocol::{RemovedSession, Timestamp};

use crate::state::SessionState;

/// Removes every session of which the last record is older than `keep` at the time `now`; one without any
/// record goes by the last change of its ledger. What is removed is written down first, durably; then the folders go. Returns what went.
pub fn prune(
    home: &StateDirectory,
    now: Timestamp,
    keep: Duration,
) -> Result<Vec<RemovedSession>, LedgerError> {
    let keep_ms = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
    let Some(oldest) = now.0.checked_sub(keep_ms) else { return Ok(Vec::new()) };
    let reason = format!("older than {} days", keep.as_secs() / 86_400);
    remove(home, now, &reason, |state: &SessionState, changed| {
        // One that begins at this moment has no record yet.
        let is_old = state.last().unwrap_or(changed).0 < oldest;
        is_old.then(|| Due { last: state.last().unwrap_or_default(), reviews: state.actions() })
    })
}
