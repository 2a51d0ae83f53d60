//! Texts that a session is held to, kept with it as one text.

use checkrein_policy::FileHash;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The files of one sort that a session began with.
pub(crate) trait SessionTexts: Serialize + DeserializeOwned {
    /// Returns what [`Self::to_text`] wrote; `None` for anything else.
    fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns the texts as one.
    fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the hash that tells these texts from all others.
    fn hash(&self) -> FileHash {
        FileHash::of(&self.to_text())
    }
}
