//! The names of things in a store.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes;

/// The name of an object: the BLAKE3 hash of its content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectId([u8; 32]);

/// A table of objects by name.
pub(crate) type ByName<T> = HashMap<ObjectId, T, BuildHasherDefault<Beginning>>;

/// The beginning of a name, which is a hash already: mixing it again would cost more than all else about a table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Beginning(u64);

impl Hasher for Beginning {
    fn write(&mut self, bytes: &[u8]) {
        let first = bytes.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
        self.0 = first;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl std::hash::Hash for ObjectId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(&self.0);
    }
}

impl ObjectId {
    /// How many bytes a name has.
    pub(crate) const LENGTH: usize = 32;

    /// The name of this content.
    pub(crate) fn of(content: &[u8]) -> Self {
        Self(*blake3::hash(content).as_bytes())
    }

    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The first bytes in hexadecimal digits.
    pub(crate) fn digits(&self, bytes: usize) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |half: u8| DIGITS.get(usize::from(half)).map_or('0', |digit| char::from(*digit));
        self.0.iter().take(bytes).flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Serialize for ObjectId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        bytes::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for ObjectId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bytes::deserialize_array(deserializer).map(Self)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.digits(8))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The number of a snapshot in the store of its workspace, from 1; later ones have greater numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SnapshotId(pub u64);

impl fmt::Display for SnapshotId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for SnapshotId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}
