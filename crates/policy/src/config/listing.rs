//! The effective settings as a list, for people who want to see what holds.

use super::keys::KEYS;
use super::settings::Config;

/// One setting with what holds in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its path: `step_reviewer.risk.high_threshold`.
    pub path: &'static str,
    /// Its value as it would be written.
    pub value: String,
}

/// Every setting of a configuration, in the order of the reference.
pub fn settings_of(config: &Config) -> Vec<Setting> {
    KEYS.iter().map(|key| Setting { path: key.path, value: (key.effective)(config).to_string() }).collect()
}
