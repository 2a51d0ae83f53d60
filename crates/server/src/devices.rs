//! Phones and other machines that were paired: each a file in `server/devices` of the state directory, so that one that is removed is out at
//! once, whoever writes beside. What a device shows is kept as a digest.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_files::Forced;
use checkrein_protocol::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::token::{Token, TokenDigest};

/// What a device may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Looking.
    Viewer,
    /// Looking, and doing what only people may.
    Approver,
}

impl Role {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Approver => "approver",
        }
    }

    /// The role of a word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Viewer, Self::Approver].into_iter().find(|role| role.word() == word)
    }
}

/// A device that was paired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// The name by which it is removed.
    pub id: String,
    /// What it was called when it was paired.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// When it was paired, in milliseconds since 1970.
    pub since: u64,
    /// From where.
    pub from: String,
}

impl Device {
    /// When it was paired.
    pub fn paired_at(&self) -> Timestamp {
        Timestamp(self.since)
    }
}

/// What is in the file of a device.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    device: Device,
    /// The digest of what it shows.
    digest: String,
}

/// How many devices are paired at most (ours).
const MOST: usize = 64;
/// The longest file of a device, in bytes (ours).
const LONGEST: u64 = 4096;
/// How long a browser keeps what it shows, in seconds: the longest that browsers do. It counts until the device is removed.
pub(crate) const STAY: u64 = 400 * 24 * 60 * 60;
/// The longest name, in characters (ours).
const LONGEST_NAME: usize = 60;

fn folder(server: &Path) -> PathBuf {
    server.join("devices")
}

fn is_id(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read(server: &Path, id: &str) -> Option<Kept> {
    if !is_id(id) {
        return None;
    }
    let text = checkrein_files::read_text(folder(server).join(format!("{id}.json")), LONGEST).ok()?;
    serde_json::from_str(&text).ok().filter(|kept: &Kept| kept.device.id == id)
}

/// Pairs a device; returns it, and what it shows from now on.
pub(crate) fn pair(
    server: &Path,
    name: &str,
    role: Role,
    since: Timestamp,
    from: &str,
) -> io::Result<(Device, String)> {
    if all(server).len() >= MOST {
        return Err(io::Error::other(format!("{MOST} devices are paired already")));
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder(server))?;
    let secret = Token::random()?;
    let id: String = secret.digest().signature("id").chars().take(8).collect();
    let name: String = checkrein_engine::text::plain(name).trim().chars().take(LONGEST_NAME).collect();
    let name = if name.is_empty() { "a device".to_owned() } else { name };
    let device = Device { id, name, role, since: since.0, from: from.to_owned() };
    let kept = Kept { device, digest: secret.digest().signature("device") };
    let text = serde_json::to_vec(&kept).map_err(io::Error::other)?;
    let path = folder(server).join(format!("{}.json", kept.device.id));
    checkrein_files::replace(&path, &text, 0o600, Forced::Name)?;
    let shown = format!("{}.{}", kept.device.id, secret.as_str());
    Ok((kept.device, shown))
}

/// The device that shows this, while it is paired.
pub(crate) fn shown_by(server: &Path, shown: &str) -> Option<Device> {
    let (id, secret) = shown.split_once('.')?;
    let kept = read(server, id)?;
    let given = TokenDigest::of(secret).signature("device");
    (TokenDigest::of(&given) == TokenDigest::of(&kept.digest)).then_some(kept.device)
}

/// Whether a device is paired.
pub(crate) fn is_paired(server: &Path, id: &str) -> bool {
    read(server, id).is_some()
}

/// Forgets a device, as it asks for: what it shows counts no longer.
pub(crate) fn forget(server: &Path, id: &str) -> io::Result<()> {
    if !is_id(id) {
        return Err(io::Error::new(io::ErrorKind::NotFound, "it is not a device"));
    }
    fs::remove_file(folder(server).join(format!("{id}.json")))
}

fn all(server: &Path) -> Vec<Device> {
    let entries = fs::read_dir(folder(server)).into_iter().flatten().flatten();
    let ids =
        entries.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".json").map(str::to_owned));
    let mut found: Vec<Device> = ids.filter_map(|id| Some(read(server, &id)?.device)).collect();
    found.sort_by(|left, right| (left.since, &left.id).cmp(&(right.since, &right.id)));
    found
}

/// The devices that are paired, the oldest first.
pub fn paired_devices(environment: &HostEnvironment) -> Vec<Device> {
    all(&environment.state.root().join("server"))
}

/// Removes a device by its id or its name: what it asks for next is refused.
///
/// # Errors
///
/// There is none, or more than one of that name, or its file cannot be removed.
pub fn remove_device(environment: &HostEnvironment, wanted: &str) -> Result<Device, CommandError> {
    let server = environment.state.root().join("server");
    let mut meant: Vec<Device> = all(&server);
    meant.retain(|device| device.id == wanted || device.name == wanted);
    let hint = "`checkrein serve --devices` lists them";
    let device = meant.pop().ok_or_else(|| CommandError::user(format!("`{wanted}` is not paired"), hint))?;
    if !meant.is_empty() {
        return Err(CommandError::user(
            format!("more than one device is called `{wanted}`"),
            "name it by its id",
        ));
    }
    let path = folder(&server).join(format!("{}.json", device.id));
    fs::remove_file(&path).map_err(|error| CommandError::file("remove", path.display(), &error))?;
    Ok(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_shows_what_it_was_given_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let server = folder.path();
        let (device, shown) =
            pair(server, " phone\u{202e} ", Role::Viewer, Timestamp(1), "192.168.1.9").unwrap();
        assert_eq!((device.role, device.from.as_str()), (Role::Viewer, "192.168.1.9"));
        assert!(!device.name.contains('\u{202e}'), "{}", device.name);
        assert_eq!(shown_by(server, &shown), Some(device.clone()));
        let (id, secret) = shown.split_once('.').unwrap();
        for wrong in ["", ".", id, secret, &format!("{id}.x"), &format!("../devices/{id}.{secret}")] {
            assert_eq!(shown_by(server, wrong), None, "{wrong}");
        }
        let text = fs::read_to_string(super::folder(server).join(format!("{id}.json"))).unwrap();
        assert!(!text.contains(secret), "{text}");
        assert_eq!(all(server), vec![device]);
        fs::remove_file(super::folder(server).join(format!("{id}.json"))).unwrap();
        assert_eq!(shown_by(server, &shown), None);
    }
}
