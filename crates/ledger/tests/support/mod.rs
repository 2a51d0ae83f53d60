//! Ledgers of which little is kept.
#![allow(dead_code, unreachable_pub)]

use std::path::Path;

use checkrein_ledger::{Durability, Projection, StateDirectory};
use checkrein_protocol::{Record, RecordBody, SessionId, Timestamp};
pub use checkrein_testkit::records::*;
use serde::{Deserialize, Serialize};

/// What these tests keep of records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Kept {
    pub records: u64,
    pub last: Timestamp,
    pub prompts: Vec<String>,
    pub reviews: u64,
    pub repairs: u64,
}

impl Projection for Kept {
    const LAYOUT: [u8; 2] = *b"01";

    fn apply(&mut self, record: &Record) {
        self.records += 1;
        self.last = record.at;
        match &record.body {
            RecordBody::Prompt { text } => self.prompts.push(text.clone()),
            RecordBody::Review(_) => self.reviews += 1,
            RecordBody::Repaired { .. } => self.repairs += 1,
            _ => {}
        }
    }
}

pub type Ledger = checkrein_ledger::Ledger<Kept>;

pub fn ledger(home: &Path, session: &str) -> Ledger {
    Ledger::open(&StateDirectory::new(home), &SessionId(session.to_owned()))
}

/// Appends `count` small records, one at a time.
pub fn fill(ledger: &Ledger, count: u64) {
    for number in 1..=count {
        ledger.append(Timestamp(number), prompt(&format!("goal {number}")), Durability::Plain).unwrap();
    }
}

/// Takes both files of the state away.
pub fn forget_state(ledger: &Ledger) {
    for name in STATE_FILES {
        let path = ledger.directory().join(name);
        assert!(!path.exists() || std::fs::remove_file(path).is_ok());
    }
}

/// The names of the files that keep the state.
pub const STATE_FILES: [&str; 2] = ["state", "state.twin"];
