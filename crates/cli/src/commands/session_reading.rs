//! Sessions read one after another: what cannot be read is named and hides no other one, and who waits hears how far it is.

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_session::SessionSummary;

use super::OutputForm;
use crate::terminal::log;

/// After how long it is said how far the reading is, in milliseconds (ours).
const PATIENCE: u64 = 1000;

/// Reads each of the sessions.
pub(super) fn read_each(
    environment: &HostEnvironment,
    sessions: &[SessionSummary],
    output: OutputForm,
    mut read: impl FnMut(&SessionSummary) -> Result<(), CommandError>,
) {
    let mut told = environment.now().0;
    for (number, session) in sessions.iter().enumerate() {
        if let Err(error) = read(session) {
            log(&format!("checkrein: left out: {}", error.message));
        }
        let now = environment.now().0;
        if output == OutputForm::Text && now.saturating_sub(told) >= PATIENCE {
            log(&format!("read {} of {} sessions", number + 1, sessions.len()));
            told = now;
        }
    }
}
