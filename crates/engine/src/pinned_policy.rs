//! The policy of a team: fetched, checked against a key that the user pinned, and kept where the agent cannot write.
//!
//! A signature costs more to check than a review, so it is checked by the command that fetches. What the hook checks is that the text is
//! still the one that was checked then. It counts as managed configuration, above that of the machine and below the user's own.

use checkrein_policy::{ConfigSource, Digest, Layer, LayerKind};
use checkrein_protocol::AbsolutePath;
use serde::{Deserialize, Serialize};

use crate::config_files::{read, write_private};
use crate::confirmed_team_policy;
use crate::environment::HostEnvironment;
use crate::error::{CommandError, ErrorKind};

/// What a user pinned, and what was fetched last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedPolicy {
    /// Where it is fetched from: an address or the path of a file.
    pub source: String,
    /// The key that must have signed it, in the words of the command line.
    pub key: String,
    /// The digest of the text that was checked.
    pub digest: String,
    /// When that text was signed, as its signature says: an older one is not taken in its place.
    pub signed: String,
    /// The signature, as it lay beside the policy; empty where an earlier version pinned it.
    #[serde(default)]
    pub signature: String,
}

/// What is pinned; `None` where nothing is.
pub fn pinned(environment: &HostEnvironment) -> Result<Option<PinnedPolicy>, CommandError> {
    let path = pin_file(environment);
    let Some(text) = read(&path)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| damaged(format!("`{path}` is damaged: {error}")))
}

/// The text that is kept, as it is; `None` where it is missing.
pub fn text(environment: &HostEnvironment) -> Result<Option<String>, CommandError> {
    read(&policy_file(environment))
}

/// Keeps a text that was checked, and what is pinned with it, as confirmed by the user.
pub fn keep(environment: &HostEnvironment, pin: &PinnedPolicy, text: &str) -> Result<(), CommandError> {
    let bytes = serde_json::to_vec_pretty(pin).map_err(|error| damaged(error.to_string()))?;
    let pinned = String::from_utf8_lossy(&bytes);
    confirmed_team_policy::confirm(environment, Some(&pinned), Some(text))?;
    // Between the two the text is not the one that the pin names, and calls are refused: never a text that nobody checked.
    write_private(&policy_file(environment), text.as_bytes())?;
    write_private(&pin_file(environment), &bytes)
}

/// Forgets what is pinned, as the user wants it.
pub fn forget(environment: &HostEnvironment) -> Result<(), CommandError> {
    confirmed_team_policy::confirm(environment, None, None)?;
    for path in [pin_file(environment), policy_file(environment)] {
        match std::fs::remove_file(path.as_str()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(CommandError::file("remove", &path, &error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Where the text is kept.
pub fn policy_file(environment: &HostEnvironment) -> AbsolutePath {
    folder(environment).join("policy.yaml")
}

/// The layer of the pinned policy; an error where the text is not the one that was checked.
pub(crate) fn layer(environment: &HostEnvironment) -> Result<Option<Layer>, CommandError> {
    let Some(pin) = pinned(environment)? else { return Ok(None) };
    let path = policy_file(environment);
    let text =
        read(&path)?.ok_or_else(|| damaged(format!("`{path}`, the policy of the team, is missing")))?;
    if Digest::of(&text).to_string() != pin.digest {
        return Err(damaged(format!("`{path}` is not the text whose signature was checked")));
    }
    Ok(Some(Layer { kind: LayerKind::Managed, source: ConfigSource::File { name: path.to_string(), text } }))
}

/// Where it is kept what is pinned.
pub fn pin_file(environment: &HostEnvironment) -> AbsolutePath {
    folder(environment).join("pin.json")
}

fn folder(environment: &HostEnvironment) -> AbsolutePath {
    environment.configuration.join("team")
}

fn damaged(message: String) -> CommandError {
    CommandError {
        kind: ErrorKind::Configuration,
        message,
        hint: Some("`checkrein policy update` in a terminal fetches and checks it again".to_owned()),
        in_short: None,
    }
}
