//! What an action adds to what a session counts.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which tally: a fingerprint of the name of what counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TallyKey(pub u64);

/// As text where people read it: a number of 64 bits does not survive every reader of JSON.
impl Serialize for TallyKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&format_args!("{:016x}", self.0))
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for TallyKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            u64::from_str_radix(&text, 16).map(Self).map_err(D::Error::custom)
        } else {
            u64::deserialize(deserializer).map(Self)
        }
    }
}

/// How far back a tally looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TallyWindow {
    /// Everything in the session.
    Session,
    /// The last so many milliseconds.
    Milliseconds(u64),
    /// The last so many actions, the one at hand included.
    Actions(u64),
}

/// How much was counted, in thousandths, so that money can be counted too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Amount(pub u64);

/// What one action adds to a tally.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TallyIncrement {
    /// To which.
    pub key: TallyKey,
    /// How far back it looks.
    pub window: TallyWindow,
    /// How much.
    pub amount: Amount,
    /// Whether everything that was counted before no longer counts.
    pub reset: bool,
}

impl Amount {
    /// The amount of one occurrence.
    pub const ONE: Self = Self(1000);

    /// The sum, at most the greatest amount there is.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
