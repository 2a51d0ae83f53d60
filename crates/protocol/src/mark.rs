//! Marks: short fingerprints of texts, small enough to keep many of them in the state of a session.

use serde::{Deserialize, Serialize};

/// Thirty-two bits that stand for a text. Equal marks mean equal for practical purposes, not for security: detectors compare a few dozen
/// of them, so a chance hit is one in a hundred million and costs a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub u32);

impl Fingerprint {
    /// The mark of a text.
    pub fn of(text: &str) -> Self {
        Self::of_parts([text])
    }

    /// The mark of several texts in order; their limits count.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        // FNV-1a: short inputs, no table, no set-up.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for part in parts {
            for byte in part.bytes().chain([0]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
        Self::of_fingerprint(hash)
    }

    /// Whether it stands for nothing: a text that is empty or was not there.
    pub fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// The mark of a longer fingerprint.
    pub fn of_fingerprint(fingerprint: u64) -> Self {
        let folded = (fingerprint ^ (fingerprint >> 32)) & u64::from(u32::MAX);
        Self(u32::try_from(folded).unwrap_or_default())
    }
}
