//! What the records of a ledger come to, for whoever keeps it: the ledger carries it along and does not look into it.

use checkrein_protocol::Record;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value that follows from the records of a ledger alone. It is kept beside them, so that taking up one more record costs the same
/// however many there are; what is rebuilt from a ledger must equal what grew with it.
pub trait Projection: Default + Serialize + DeserializeOwned {
    /// The layout on disk, two digits: what was written in another one counts as nothing, and is built anew.
    const LAYOUT: [u8; 2];

    /// Takes up one more record; the only way in which it changes.
    fn apply(&mut self, record: &Record);
}
