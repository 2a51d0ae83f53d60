//! How plugins did: for people who want to know, and for who waits before the next try.

use std::path::Path;

use checkrein_protocol::{AbsolutePath, Timestamp};
use serde::{Deserialize, Serialize};

use super::state_folder;
use crate::config_files::write_private;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::held_file::stored;

/// How long is waited after the first failure, in milliseconds (ours); after each further one twice as long.
const FIRST_PAUSE_MS: u64 = 5_000;
/// The longest that is waited, in milliseconds (ours).
const LONGEST_PAUSE_MS: u64 = 10 * 60 * 1000;

/// How a plugin did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PluginStatus {
    /// How often it ran to its end.
    pub runs: u64,
    /// How often it failed.
    pub failures: u64,
    /// How long its runs took together, in milliseconds.
    pub took_ms: u64,
    /// When it ran last; `None` before the first time.
    pub last: Option<Timestamp>,
    /// How the last run failed; `None` where it did not.
    pub fault: Option<String>,
    /// When it failed last.
    pub failed_at: Option<Timestamp>,
    /// How often it failed in a row.
    pub in_row: u32,
}

impl PluginStatus {
    /// Whether it is still waited after failures.
    pub fn pauses(&self, now: Timestamp) -> bool {
        let Some(failed) = self.failed_at.filter(|_| self.in_row > 0) else { return false };
        let doubled = FIRST_PAUSE_MS.saturating_mul(1 << (self.in_row - 1).min(10));
        now.0 < failed.0.saturating_add(doubled.min(LONGEST_PAUSE_MS))
    }
}

/// How a plugin did so far.
pub fn status(environment: &HostEnvironment, name: &str) -> PluginStatus {
    stored(Path::new(file(environment, name).as_str())).unwrap_or_default()
}

/// Takes up that a plugin ran to its end.
///
/// # Errors
///
/// It cannot be written down.
pub fn succeeded(environment: &HostEnvironment, name: &str, took_ms: u64) -> Result<(), CommandError> {
    let before = status(environment, name);
    let now = PluginStatus {
        runs: before.runs + 1,
        took_ms: before.took_ms.saturating_add(took_ms),
        last: Some(environment.now()),
        fault: None,
        in_row: 0,
        ..before
    };
    write(environment, name, &now)
}

/// Takes up that a plugin failed.
///
/// # Errors
///
/// It cannot be written down.
pub fn failed(environment: &HostEnvironment, name: &str, fault: &str) -> Result<(), CommandError> {
    let before = status(environment, name);
    let now = PluginStatus {
        failures: before.failures + 1,
        last: Some(environment.now()),
        fault: Some(fault.to_owned()),
        failed_at: Some(environment.now()),
        in_row: before.in_row.saturating_add(1),
        ..before
    };
    write(environment, name, &now)
}

fn write(environment: &HostEnvironment, name: &str, status: &PluginStatus) -> Result<(), CommandError> {
    let text = serde_json::to_vec(status)
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))?;
    write_private(&file(environment, name), &text)
}

fn file(environment: &HostEnvironment, name: &str) -> AbsolutePath {
    state_folder(environment).join("status").join(&format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_ten_minutes_and_end_with_a_run() {
        let after = |in_row, milliseconds| {
            let status = PluginStatus { in_row, failed_at: Some(Timestamp(0)), ..PluginStatus::default() };
            status.pauses(Timestamp(milliseconds))
        };
        assert!(!after(0, 0));
        assert!(after(1, 4_999) && !after(1, 5_000));
        assert!(after(3, 19_999) && !after(3, 20_000));
        assert!(after(u32::MAX, 599_999) && !after(u32::MAX, 600_000));
    }
}
