//! The state directory: where everything lies, and how private files come into being there.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use checkrein_protocol::SessionId;
use checkrein_vault::{Key, PastSealing, Sealing, Vault};
use sha2::{Digest as _, Sha256};

use crate::error::LedgerError;
use crate::hash_chain::{SEALED_BODY, hexadecimal};
use crate::ledger_file::LedgerFile;
use crate::mask::MaskKey;
use crate::testimony::Testimony;

/// The state directory of one user (`$CHECKREIN_HOME` and the like; who calls decides which).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDirectory {
    root: PathBuf,
    hidden: Hidden,
    testimony: Option<Testimony>,
    vault: Vault,
}

/// Secrets that are known beforehand; never shown.
#[derive(Clone, PartialEq, Eq, Default)]
struct Hidden(Vec<String>);

impl std::fmt::Debug for Hidden {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Hidden({})", self.0.len())
    }
}

/// The folder name of a session: its id where that is a safe file name, else a hash of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FolderName(String);

impl StateDirectory {
    /// The state directory at `root`; nothing is created yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), hidden: Hidden::default(), testimony: None, vault: Vault::default() }
    }

    /// The same, and these secrets are masked in everything that is written there.
    #[must_use]
    pub fn hiding(mut self, secrets: Vec<String>) -> Self {
        self.hidden = Hidden(secrets);
        self
    }

    /// The same, and what its sessions were is also kept in a folder outside.
    #[must_use]
    pub fn testified_in(mut self, folder: &Path) -> Self {
        self.testimony = Some(Testimony::new(folder, &self.root));
        self
    }

    /// The same, and this seals what is written there.
    #[must_use]
    pub fn with_vault(mut self, vault: Vault) -> Self {
        self.vault = vault.with_past(PastSealing::new(self.root.join(SEALED_WITH), has_sealed_records));
        self
    }

    /// The same, and it is known whether what is written there is sealed.
    #[must_use]
    pub fn with_sealing(mut self, sealing: Sealing) -> Self {
        self.vault = self.vault.with_sealing(sealing);
        self
    }

    /// What seals what is written there.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// What is kept of its sessions outside; `None` when nothing is.
    pub fn testimony(&self) -> Option<&Testimony> {
        self.testimony.as_ref()
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory that holds one folder for each session.
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// The folder of one session.
    pub fn session(&self, folder: &FolderName) -> PathBuf {
        self.sessions().join(folder.as_str())
    }

    /// The records of one session.
    pub fn ledger(&self, folder: &FolderName) -> LedgerFile {
        LedgerFile::new(self.session(folder).join("ledger.jsonl"), self.vault.clone())
    }

    /// The folders of all sessions, by name.
    pub fn folders(&self) -> Result<Vec<FolderName>, LedgerError> {
        let path = self.sessions();
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(LedgerError::Read { path, source }),
        };
        let mut folders = Vec::new();
        for entry in entries {
            let entry = entry.map_err(LedgerError::read(&path))?;
            folders.extend(FolderName::on_disk(&entry.file_name()));
        }
        folders.sort();
        Ok(folders)
    }

    /// The directory of halt files.
    pub fn halts(&self) -> PathBuf {
        self.root.join("halts")
    }

    /// The file with the heads of ledgers.
    pub fn heads(&self) -> PathBuf {
        self.root.join("heads")
    }

    /// The chained record of what retention removed.
    pub fn retention(&self) -> PathBuf {
        self.root.join("retention.jsonl")
    }

    /// The chained record of what pipelines came to.
    pub fn pipelines(&self) -> PathBuf {
        self.root.join("pipelines.jsonl")
    }

    /// The chained record of who authenticated.
    pub fn authentications(&self) -> PathBuf {
        self.root.join("authentications.jsonl")
    }

    /// The key under which secrets are masked; made at first use from the randomness of the system.
    ///
    /// It lies beside the folder of the keys of the records, outside this directory: with it a number of few possibilities can be found from its mask by
    /// trying. One that an earlier version made here is moved there. Where nothing can be written there, it stays here.
    pub fn mask_key(&self) -> Result<MaskKey, LedgerError> {
        Ok(self.knowing(MaskKey::new(self.mask_bytes()?)))
    }

    /// What seals the copies of settings and configurations, whatever seals the records: a key that is made of the one of the masks.
    pub fn copies(&self) -> Result<Vault, LedgerError> {
        let bytes =
            Sha256::new().chain_update(b"checkrein-copies-1\0").chain_update(self.mask_bytes()?).finalize();
        Ok(Vault::holding(Key::new(&bytes.into())))
    }

    /// The bytes of the key. One that another process moves in the same moment is looked for again where it went.
    fn mask_bytes(&self) -> Result<MaskBytes, LedgerError> {
        match self.placed_bytes() {
            Err(LedgerError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                self.placed_bytes()
            }
            found => found,
        }
    }

    fn placed_bytes(&self) -> Result<MaskBytes, LedgerError> {
        let inside = self.root.join(MASK_KEY);
        let Some(folder) = self.vault.folder().and_then(|keys| keys.path_of_folder().parent()) else {
            return placed_key(&inside, None);
        };
        let outside = folder.join(MASK_KEY);
        let key = if let Some(key) = read_key(&outside)? {
            key
        } else {
            let earlier = read_key(&inside)?;
            match create_directory(folder).and_then(|()| placed_key(&outside, earlier)) {
                Ok(key) => key,
                Err(_) => return placed_key(&inside, None),
            }
        };
        // A copy beside the records would make them guessable. Where it cannot go, nothing is lost by it.
        drop(std::fs::remove_file(&inside));
        Ok(key)
    }

    /// The key, which knows the secrets that were given to an agent, and our own.
    fn knowing(&self, key: MaskKey) -> MaskKey {
        let read =
            |name: &&str| checkrein_files::read_text(self.root.join("server").join(name), LONGEST_KEY).ok();
        let own = OWN_KEYS.iter().filter_map(read).map(|text| text.trim().to_owned());
        key.with_known(&self.hidden.0).with_further(own)
    }
}

/// The bytes of the key of the masks.
type MaskBytes = [u8; MaskKey::LENGTH];

/// The file of the key of the masks.
const MASK_KEY: &str = "mask.key";

/// The folder of the names of the keys that sealed something.
const SEALED_WITH: &str = "sealed-with";

/// How much is read from the end of each ledger to find a sealed record (ours): most records are far shorter.
const NEWEST_RECORDS: u64 = 32 * 1024;

/// Whether the end of a ledger in the state directory at `root` holds a sealed record.
fn has_sealed_records(root: &Path) -> bool {
    let sessions = std::fs::read_dir(root.join("sessions")).into_iter().flatten().flatten();
    sessions.map(|session| session.path().join("ledger.jsonl")).any(|path| {
        let Ok(mut file) = checkrein_files::open(&path) else { return false };
        let length = file.metadata().map_or(0, |facts| facts.len());
        let mut end = Vec::new();
        let read = file
            .seek(io::SeekFrom::Start(length.saturating_sub(NEWEST_RECORDS)))
            .and_then(|_| file.take(NEWEST_RECORDS).read_to_end(&mut end));
        read.is_ok() && end.windows(SEALED_BODY.len()).any(|part| part == SEALED_BODY.as_bytes())
    })
}

/// The keys of the server and of seals, in its folder.
const OWN_KEYS: [&str; 4] = ["checkrein.token", "checkrein-view.token", "links.key", "seals.key"];
/// The longest file of such a key, in bytes.
const LONGEST_KEY: u64 = 128;

impl FolderName {
    /// The greatest length of an id that is taken as it is.
    const LONGEST: usize = 100;

    /// What hashed names begin with; ids that begin so are hashed themselves.
    const HASHED: &'static str = "sha256-";

    /// The folder name of a session.
    pub fn of(session: &SessionId) -> Self {
        let text = session.as_str();
        let safe = !text.is_empty()
            && text.len() <= Self::LONGEST
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
            && !text.starts_with('.')
            && !text.starts_with(Self::HASHED)
            && !text.eq_ignore_ascii_case("all");
        if safe {
            return Self(text.to_owned());
        }
        let digits = hexadecimal(&Sha256::digest(text));
        Self(format!("{}{}", Self::HASHED, digits.get(..40).unwrap_or(&digits)))
    }

    /// The name that a folder has on disk; `None` when no session is kept under such a name.
    pub fn on_disk(name: &OsStr) -> Option<Self> {
        let text = name.to_str()?;
        (text.starts_with(Self::HASHED) || Self::of(&SessionId(text.to_owned())).as_str() == text)
            .then(|| Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Creates a directory and its parents, for the owner only.
pub(crate) fn create_directory(path: &Path) -> Result<(), LedgerError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(LedgerError::write(path))
}

/// Creates or empties a file, for the owner only.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    checkrein_files::open_with(OpenOptions::new().write(true).create(true).truncate(true).mode(0o600), path)
}

/// Opens a file for appending, creating it for the owner only.
pub(crate) fn append_private(path: &Path) -> io::Result<File> {
    checkrein_files::open_with(OpenOptions::new().read(true).append(true).create(true).mode(0o600), path)
}

/// The key in a file, which is made there where there is none: of these bytes, or of fresh ones.
fn placed_key(path: &Path, bytes: Option<MaskBytes>) -> Result<MaskBytes, LedgerError> {
    if let Some(key) = read_key(path)? {
        return Ok(key);
    }
    let bytes = bytes.map_or_else(fresh_key, Ok)?;
    if let Some(folder) = path.parent() {
        create_directory(folder)?;
    }
    // Written aside and linked into place, so that of two processes at their first use one wins and both use it whole.
    let aside = path.with_extension(format!("key.{}", checkrein_files::aside()));
    create_private(&aside)
        .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
        .map_err(LedgerError::write(&aside))?;
    let linked = std::fs::hard_link(&aside, path);
    let removed = std::fs::remove_file(&aside);
    match linked {
        Ok(()) => {
            removed.map_err(LedgerError::write(&aside))?;
            // Another process may have moved it away by now: what went there is the key all the same.
            Ok(bytes)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // What was there first is the key. Where that was moved meanwhile, the caller looks again.
            read_key(path)?.ok_or_else(|| LedgerError::read(path)(io::ErrorKind::NotFound.into()))
        }
        Err(source) => Err(LedgerError::Write { path: path.to_owned(), source }),
    }
}

fn fresh_key() -> Result<MaskBytes, LedgerError> {
    let mut fresh = [0_u8; MaskKey::LENGTH];
    let source = Path::new("/dev/urandom");
    File::open(source).and_then(|mut file| file.read_exact(&mut fresh)).map_err(LedgerError::read(source))?;
    Ok(fresh)
}

/// The key in a file; `None` when there is no such file.
fn read_key(path: &Path) -> Result<Option<MaskBytes>, LedgerError> {
    // One byte more than a key has, so that a longer file shows.
    let mut bytes = [0_u8; MaskKey::LENGTH + 1];
    match checkrein_files::open(path).and_then(|mut file| file.read(&mut bytes)) {
        Ok(MaskKey::LENGTH) => Ok(bytes.first_chunk().copied()),
        Ok(_) => Err(wrong_length(path)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(source) => Err(LedgerError::Read { path: path.to_owned(), source }),
    }
}

fn wrong_length(path: &Path) -> LedgerError {
    LedgerError::Read {
        path: path.to_owned(),
        source: io::Error::new(io::ErrorKind::InvalidData, "the key has a wrong length"),
    }
}

#[cfg(test)]
mod tests {
    use checkrein_vault::KeyFolder;

    use super::*;

    fn folder(text: &str) -> FolderName {
        FolderName::of(&SessionId(text.to_owned()))
    }

    #[test]
    fn unsafe_names_are_hashed_apart() {
        assert_eq!(folder("4a1f-B.c_9").as_str(), "4a1f-B.c_9");
        let hashed: Vec<_> = ["", ".", "..", "../x", "a/b", "ALL", "all", "a b", "sha256-x", ".hidden", "é"]
            .iter()
            .map(|text| folder(text))
            .collect();
        for (index, name) in hashed.iter().enumerate() {
            assert!(name.as_str().starts_with("sha256-"), "{name:?}");
            assert!(!hashed[..index].contains(name));
            assert_eq!(FolderName::on_disk(OsStr::new(name.as_str())).as_ref(), Some(name));
        }
        assert!(folder(&"x".repeat(101)).as_str().starts_with("sha256-"));
        assert_eq!(FolderName::on_disk(OsStr::new(".removed-x")), None);
    }

    #[test]
    fn the_key_is_made_once() {
        let directory = tempfile::tempdir().unwrap();
        let home = StateDirectory::new(directory.path().join("deep/state"));
        let key = home.mask_key().unwrap();
        assert_eq!(home.mask_key().unwrap(), key);
        let other = StateDirectory::new(directory.path().join("other"));
        assert_ne!(other.mask_key().unwrap(), key);
        std::fs::write(home.root().join("mask.key"), b"short").unwrap();
        assert!(home.mask_key().is_err());
    }

    #[test]
    fn a_key_that_is_moved_while_it_is_made_is_whole() {
        for _ in 0..50 {
            let directory = tempfile::tempdir().unwrap();
            let bare = StateDirectory::new(directory.path().join("state"));
            let keys = KeyFolder::new(directory.path().join("config/keys"));
            let home = bare.clone().with_vault(Vault::new(keys));
            std::thread::scope(|scope| {
                for one in [&bare, &home, &bare, &home] {
                    scope.spawn(|| one.mask_key().unwrap());
                }
            });
        }
    }

    #[test]
    fn the_key_of_the_masks_lies_outside_and_one_of_before_is_moved() {
        let directory = tempfile::tempdir().unwrap();
        let config = directory.path().join("config");
        let root = directory.path().join("state");
        let bare = StateDirectory::new(&root);
        let before = bare.mask_key().unwrap();
        let home = bare.clone().with_vault(Vault::new(KeyFolder::new(config.join("keys"))));
        assert_eq!(home.mask_key().unwrap(), before, "equal secrets keep their masks");
        assert!(
            !root.join(MASK_KEY).exists() && !config.join("keys").exists() && config.join(MASK_KEY).exists()
        );
        assert_eq!(home.mask_key().unwrap(), before);
        // Killed between the two steps.
        std::fs::copy(config.join(MASK_KEY), root.join(MASK_KEY)).unwrap();
        assert_eq!(home.mask_key().unwrap(), before);
        assert!(!root.join(MASK_KEY).exists());
        // Where nothing can be written outside, masks are made all the same.
        std::fs::write(directory.path().join("file"), "x").unwrap();
        let shut = bare.with_vault(Vault::new(KeyFolder::new(directory.path().join("file/keys"))));
        let inside = shut.mask_key().unwrap();
        assert_eq!(shut.mask_key().unwrap(), inside);
        assert!(root.join(MASK_KEY).exists());
    }

    #[test]
    fn copies_are_sealed_with_a_key_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let home = StateDirectory::new(directory.path().join("state"))
            .with_vault(Vault::new(KeyFolder::new(directory.path().join("keys"))));
        let kept = home.copies().unwrap().seal_text("ann", "a").unwrap();
        assert!(!kept.contains("ann"));
        assert_eq!(home.copies().unwrap().open_text(&kept, "a").unwrap(), "ann");
        assert!(home.copies().unwrap().open_text(&kept, "b").is_err());
        assert_eq!(home.vault().sealing(), Sealing::Off, "no key of the records is made for it");
    }
}
