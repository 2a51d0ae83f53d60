//! Where it is kept what servers said of their tools: a private file for each server in the state directory.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;

use checkrein_engine::config_files::write_private;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_policy::Digest;
use checkrein_protocol::AbsolutePath;

use crate::pins::Pins;

/// The largest file of a server, in bytes (ours).
const LARGEST: u64 = 64 * 1024 * 1024;

/// How many servers are looked at in a list (ours).
const MOST: usize = 10_000;

/// What is started or connected to: by this a server is known, whatever name a client has for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    name: String,
    words: String,
}

impl Origin {
    /// Returns the origin that these words make up. `words` is how it is shown, without secrets.
    pub fn of(parts: &[&str], words: impl Into<String>) -> Self {
        let digest = Digest::of(&format!("checkrein mcp 1\n{}", parts.join("\0"))).to_string();
        let name = digest.strip_prefix("sha256:").unwrap_or(&digest).chars().take(32).collect();
        Self { name, words: words.into() }
    }
}

/// The files of all servers.
#[derive(Debug, Clone)]
pub struct PinStore {
    folder: AbsolutePath,
}

impl PinStore {
    /// Returns the store in the state directory of an environment.
    pub fn new(environment: &HostEnvironment) -> Self {
        Self { folder: environment.state_path.join("mcp") }
    }

    /// Changes what is remembered of a server, with nobody else in between. Fails where it cannot be read or written; then nothing counts as
    /// accepted.
    pub fn change<T>(&self, origin: &Origin, act: impl FnOnce(&mut Pins) -> T) -> Result<T, CommandError> {
        let (path, _lock) = self.locked(&origin.name)?;
        let before = read(&path)?;
        let mut pins = before.clone().unwrap_or_default();
        pins.origin.clone_from(&origin.words);
        let done = act(&mut pins);
        if before.as_ref() != Some(&pins) {
            write(&path, &pins)?;
        }
        Ok(done)
    }

    /// Returns what is remembered of a server: nothing where it is not known. Fails where it cannot be read.
    pub fn of(&self, origin: &Origin) -> Result<Pins, CommandError> {
        Ok(read(&self.folder.join(&format!("{}.json", origin.name)))?.unwrap_or_default())
    }

    /// Returns what is remembered of all servers, with the name of each one's file, in the order of the names that clients have for them.
    pub fn all(&self) -> Result<Vec<(String, Pins)>, CommandError> {
        let entries = match fs::read_dir(self.folder.as_str()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(CommandError::file("read", &self.folder, &error)),
        };
        let mut all = Vec::new();
        for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).take(MOST) {
            let Some(name) = name.strip_suffix(".json") else { continue };
            if let Some(pins) = read(&self.folder.join(&format!("{name}.json")))? {
                all.push((name.to_owned(), pins));
            }
        }
        all.sort_by(|(_, one), (_, other)| one.names.cmp(&other.names));
        Ok(all)
    }

    /// Accepts what waits in the file of this name; the names of the tools.
    pub fn accept(&self, name: &str) -> Result<Vec<String>, CommandError> {
        let (path, _lock) = self.locked(name)?;
        let mut pins = read(&path)?.unwrap_or_default();
        let accepted = pins.accept();
        write(&path, &pins)?;
        Ok(accepted)
    }

    /// Forgets a server: what it says next counts as said for the first time.
    pub fn forget(&self, name: &str) -> Result<(), CommandError> {
        let (path, _lock) = self.locked(name)?;
        fs::remove_file(path.as_str()).map_err(|error| CommandError::file("remove", &path, &error))
    }

    /// The file of a server, and its lock for as long as it is held.
    fn locked(&self, name: &str) -> Result<(AbsolutePath, File), CommandError> {
        let path = self.folder.join(&format!("{name}.json"));
        let lock = self.folder.join("lock");
        let failed = |error| CommandError::file("lock", &lock, &error);
        if fs::symlink_metadata(self.folder.as_str()).is_err() {
            // Makes the folder, private.
            write_private(&lock, b"")?;
        }
        let file =
            OpenOptions::new().create(true).append(true).mode(0o600).open(lock.as_str()).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok((path, file))
    }
}

fn read(path: &AbsolutePath) -> Result<Option<Pins>, CommandError> {
    let bytes = match checkrein_files::read(path.as_str(), LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CommandError::file("read", path, &error)),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        CommandError::user(
            format!("what was accepted of an MCP server cannot be read: `{path}`: {error}"),
            "remove the file, and look at the descriptions of the server when it starts again",
        )
    })
}

fn write(path: &AbsolutePath, pins: &Pins) -> Result<(), CommandError> {
    let bytes = serde_json::to_vec(pins)
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))?;
    write_private(path, &bytes)
}
