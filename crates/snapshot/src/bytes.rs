//! Bytes as bytes: without this, serde takes each of them for a value of its own.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    deserializer.deserialize_bytes(Bytes)
}

/// The same for a name of a certain length, without a copy of its own.
pub(crate) fn deserialize_array<'de, D: Deserializer<'de>, const LENGTH: usize>(
    deserializer: D,
) -> Result<[u8; LENGTH], D::Error> {
    deserializer.deserialize_bytes(Array)
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

struct Array<const LENGTH: usize>;

impl<const LENGTH: usize> Visitor<'_> for Array<LENGTH> {
    type Value = [u8; LENGTH];

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{LENGTH} bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<[u8; LENGTH], E> {
        bytes.try_into().map_err(|_| E::invalid_length(bytes.len(), &self))
    }
}
