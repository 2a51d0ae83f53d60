//! Sealing what a store holds, so that whoever has it alone reads neither contents nor names of files.
//!
//! The name of an object is the hash of its content, from which a short content can be guessed. So what is sealed stands in packs and tables
//! under another name, made of that one with the key. What is in the clear is never counted for what is to be sealed, nor the other way
//! round: a snapshot needs the key that was in use when it was taken, and no other.

use std::path::Path;

use checkrein_vault::{NamingKey, Vault, key_of};
use serde::{Deserialize, Serialize};

use crate::error::SnapshotError;
use crate::id::ObjectId;
use crate::index::replace;
use crate::pack::{Packed, decode, encode};

/// Seals and opens what a store holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seals(Vault);

impl Seals {
    /// Those of a vault.
    pub(crate) fn of(vault: Vault) -> Self {
        Self(vault)
    }

    /// A value as it is to be written, bound to what it is.
    pub(crate) fn seal(&self, value: &[u8], what: &[u8]) -> Result<Vec<u8>, SnapshotError> {
        Ok(self.0.seal(value, what)?)
    }

    /// A value from what was written.
    pub(crate) fn open(&self, value: Vec<u8>, what: &[u8]) -> Result<Vec<u8>, SnapshotError> {
        Ok(self.0.open(value, what)?)
    }

    /// Whether a value stands in the form in which it would be written now.
    pub(crate) fn is_current(&self, value: &[u8]) -> bool {
        self.0.is_current(value)
    }

    /// Whether what is written is sealed.
    pub(crate) fn is_sealing(&self) -> bool {
        self.0.sealing() == checkrein_vault::Sealing::On
    }

    /// Replaces a file of the store by a value.
    pub(crate) fn write<T: Serialize>(
        &self,
        path: &Path,
        value: &T,
        what: &[u8],
    ) -> Result<(), SnapshotError> {
        replace(path, &self.seal(&encode(value, path)?, what)?)
    }

    /// The value in the bytes of a file of the store.
    pub(crate) fn value<T: for<'de> Deserialize<'de>>(
        &self,
        bytes: Vec<u8>,
        path: &Path,
        what: &[u8],
    ) -> Result<T, SnapshotError> {
        decode(&self.open(bytes, what)?, path)
    }

    /// The name under which an object is written now.
    pub(crate) fn name(&self, id: &ObjectId) -> Result<ObjectId, SnapshotError> {
        Ok(self.0.naming()?.map_or(*id, |naming| hidden(id, &naming)))
    }

    /// Every name under which an object may stand.
    pub(crate) fn names(&self, id: &ObjectId) -> impl Iterator<Item = ObjectId> {
        let id = *id;
        let first = self.name(&id).ok();
        let others = [id].into_iter().chain(self.0.namings().map(move |naming| hidden(&id, &naming)));
        first.into_iter().chain(others)
    }

    /// An object as it is to be stored, with its name there.
    pub(crate) fn stored<'a>(
        &self,
        id: ObjectId,
        object: Packed<'a>,
    ) -> Result<(ObjectId, Packed<'a>), SnapshotError> {
        if !self.is_sealing() {
            return Ok((id, object));
        }
        let bytes = self.seal(&object.bytes, id.as_bytes())?;
        let object = Packed { form: object.form.sealed(), bytes: bytes.into(), length: object.length };
        Ok((self.name(&id)?, object))
    }
}

/// The name of an object that only who has the key can make.
fn hidden(id: &ObjectId, naming: &NamingKey) -> ObjectId {
    ObjectId::from_bytes(*blake3::keyed_hash(naming.bytes(), id.as_bytes()).as_bytes())
}

/// Whether bytes are sealed.
pub(crate) fn is_sealed(bytes: &[u8]) -> bool {
    key_of(bytes).is_some()
}
