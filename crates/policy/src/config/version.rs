//! The version of a policy: equal policies have equal versions.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::keys::KEYS;
use super::settings::Config;

/// A hash of the effective settings and of the version of this crate, for cache keys and records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PolicyVersion(pub u64);

impl fmt::Display for PolicyVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl PolicyVersion {
    /// The version of a configuration.
    pub(crate) fn of(config: &Config) -> Self {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        hash.add(env!("CARGO_PKG_VERSION"));
        for key in KEYS {
            hash.add(key.path);
            // The debug form holds everything, rules included, and is free of ambiguity: texts are quoted in it.
            hash.add(&format!("{:?}", (key.read)(config)));
        }
        Self(hash.0)
    }
}

/// FNV-1a, 64 bits: stable across machines and versions of the compiler, unlike the hasher of the standard library.
struct Fnv(u64);

impl Fnv {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
