//! Ledgers of sessions.
#![allow(dead_code, unreachable_pub)]

use std::path::Path;

use checkrein_ledger::StateDirectory;
use checkrein_protocol::SessionId;
use checkrein_session::SessionLedger;
pub use checkrein_testkit::records::*;

pub fn ledger(home: &Path, session: &str) -> SessionLedger {
    SessionLedger::open(&StateDirectory::new(home), &SessionId(session.to_owned()))
}

/// Takes both files of the state away.
pub fn forget_state(ledger: &SessionLedger) {
    for name in STATE_FILES {
        let path = ledger.directory().join(name);
        assert!(!path.exists() || std::fs::remove_file(path).is_ok());
    }
}

/// The names of the files that keep the state.
pub const STATE_FILES: [&str; 2] = ["state", "state.twin"];
