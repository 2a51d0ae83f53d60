//! Files of a folder whose code a client runs when it is started there, where they name some: settings of the runtime that it is made of.

use serde::{Deserialize, Serialize};

/// A file that names code which a client runs when it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunByClient {
    /// The name of the file, in the folder where the client starts.
    pub file: String,
    /// The key, outside every table of the file, behind which the code is named.
    pub key: String,
    /// The client, for people.
    pub client: String,
}
