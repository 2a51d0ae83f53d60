//! Sealing what is written, so that whoever has the state directory alone reads no prompt, no command and no content of a file.
//!
//! | module | holds |
//! |---|---|
//! | `key` | a key, its name, and what it seals |
//! | `key_folder` | the folder of the keys: which seals, which there are, making and replacing one |
//! | `past_sealing` | which keys ever sealed in a state directory |
//! | `sealed_line` | texts sealed as one line |
//! | `error` | what can go wrong |
//!
//! A sealed value begins with a mark and the name of its key, so that it is told from one in the clear and read by whoever has that key,
//! whatever seals today. XChaCha20-Poly1305 with a random nonce for each value; what surrounds a value is bound to it.
//!
//! **Invariants.** No key is written into the state directory, and `Debug` shows none. Nothing is sealed with a key that is not on the
//! disk. What is not sealed is passed through as it is.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod error;
mod key;
mod key_folder;
mod past_sealing;
mod sealed_line;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use error::{LostKeys, VaultError};
pub use key::{Key, KeyName, NamingKey, SEALED, key_of};
pub use key_folder::{KeyFolder, KeyPlace, ListedKey};
pub use past_sealing::PastSealing;

/// Whether new values are sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sealing {
    /// They are.
    On,
    /// They stay in the clear; what was sealed before is read all the same.
    #[default]
    Off,
}

/// What seals and opens values. Keys are read when the first value asks for them, once.
#[derive(Debug, Clone, Default)]
pub struct Vault {
    folder: Option<KeyFolder>,
    sealing: Sealing,
    current: Arc<OnceLock<Result<Key, VaultError>>>,
    all: Arc<OnceLock<Vec<Key>>>,
    missed: Arc<Mutex<BTreeMap<KeyName, VaultError>>>,
}

impl PartialEq for Vault {
    fn eq(&self, other: &Self) -> bool {
        (&self.folder, self.sealing) == (&other.folder, other.sealing)
    }
}

impl Eq for Vault {}

impl Vault {
    /// A vault with the keys of this folder. It seals where a key was made there, or one sealed before and is gone.
    pub fn new(folder: KeyFolder) -> Self {
        let sealing = if folder.has_current() || folder.has_sealed() { Sealing::On } else { Sealing::Off };
        Self { folder: Some(folder), sealing, ..Self::default() }
    }

    /// A vault of this key alone, which seals.
    pub fn holding(key: Key) -> Self {
        let all = Arc::new(OnceLock::from(vec![key.clone()]));
        let current = Arc::new(OnceLock::from(Ok(key)));
        Self { sealing: Sealing::On, current, all, ..Self::default() }
    }

    /// The same where it is kept, in a state directory, which keys sealed there.
    #[must_use]
    pub fn with_past(self, past: PastSealing) -> Self {
        let sealing = self.sealing;
        let Some(folder) = self.folder else { return self };
        let known = Self::new(folder.with_past(past));
        if sealing == Sealing::On { known.with_sealing(sealing) } else { known }
    }

    /// The same where something else says whether new values are sealed.
    #[must_use]
    pub fn with_sealing(self, sealing: Sealing) -> Self {
        Self { sealing, ..self }
    }

    /// Whether new values are sealed.
    pub fn sealing(&self) -> Sealing {
        self.sealing
    }

    /// Its folder of keys; `None` where nothing can be sealed or opened.
    pub fn folder(&self) -> Option<&KeyFolder> {
        self.folder.as_ref()
    }

    /// Seals a value, bound to what surrounds it; makes the key at first use. The value as it is where nothing is sealed.
    ///
    /// # Errors
    ///
    /// Values are to be sealed, and there is no key to do it with. Then the value must not be written.
    pub fn seal(&self, value: &[u8], around: &[u8]) -> Result<Vec<u8>, VaultError> {
        match self.sealing {
            Sealing::Off => Ok(value.to_vec()),
            Sealing::On => self.current()?.seal(value, around),
        }
    }

    /// The value that was sealed, or the value itself where it never was.
    ///
    /// # Errors
    ///
    /// Its key is not here, or it is not what was sealed.
    pub fn open(&self, value: Vec<u8>, around: &[u8]) -> Result<Vec<u8>, VaultError> {
        let Some(name) = key_of(&value) else { return Ok(value) };
        let has_name = |key: &&Key| *key.name() == name;
        let current = self.current.get().and_then(|current| current.as_ref().ok()).filter(has_name);
        if let Some(key) = current.or_else(|| self.all().iter().find(has_name)) {
            return key.open(&value, around);
        }
        let error = self.absent(name.clone());
        let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        Err(missed.entry(name).or_insert(error).clone())
    }

    /// What names are made with for what is sealed from now on; `None` where nothing is.
    ///
    /// # Errors
    ///
    /// Values are to be sealed, and there is no key to do it with.
    pub fn naming(&self) -> Result<Option<NamingKey>, VaultError> {
        match self.sealing {
            Sealing::Off => Ok(None),
            Sealing::On => self.current().map(|key| Some(key.naming())),
        }
    }

    /// What names were made with for what any key that is here sealed.
    pub fn namings(&self) -> impl Iterator<Item = NamingKey> {
        self.all().iter().map(Key::naming)
    }

    /// Whether a value is in the form in which it would be written now: sealed with the key in use, or in the clear.
    pub fn is_current(&self, value: &[u8]) -> bool {
        match (self.sealing, key_of(value)) {
            (Sealing::Off, sealed_with) => sealed_with.is_none(),
            (Sealing::On, Some(sealed_with)) => self.current().is_ok_and(|key| *key.name() == sealed_with),
            (Sealing::On, None) => false,
        }
    }

    fn all(&self) -> &[Key] {
        self.all.get_or_init(|| self.folder.iter().flat_map(KeyFolder::keys).collect())
    }

    /// Why values were not opened for want of their keys so far, by this vault and its copies, one for each key: whoever leaves out what it could
    /// not read can say so at the end.
    pub fn missed(&self) -> Vec<VaultError> {
        self.missed.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Why a key cannot be used.
    fn absent(&self, name: KeyName) -> VaultError {
        let listed = self.folder.iter().flat_map(KeyFolder::listed);
        let mut listed = listed.filter(|one| one.name == name);
        match listed.next().map(|one| one.place) {
            Some(KeyPlace::Keyring) => VaultError::Locked(name),
            Some(KeyPlace::File | KeyPlace::Unlocked) | None => VaultError::Missing(name),
        }
    }

    /// The key that seals.
    fn current(&self) -> Result<&Key, VaultError> {
        let made = || match &self.folder {
            Some(folder) => folder.current_or_new(),
            None => Err(VaultError::NoFolder),
        };
        self.current.get_or_init(made).as_ref().map_err(Clone::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vault(folder: &std::path::Path) -> Vault {
        Vault::new(KeyFolder::new(folder.join("keys"))).with_sealing(Sealing::On)
    }

    #[test]
    fn a_sealed_value_comes_back_with_its_key_and_in_its_place_only() {
        let folder = tempfile::tempdir().unwrap();
        let sealed = vault(folder.path()).seal(b"marmalade", b"here").unwrap();
        assert!(!sealed.windows(9).any(|part| part == b"marmalade"));
        assert_eq!(vault(folder.path()).open(sealed.clone(), b"here").unwrap(), b"marmalade");
        let elsewhere = vault(folder.path()).open(sealed.clone(), b"there");
        assert!(matches!(elsewhere, Err(VaultError::Altered)));
        for position in 0..sealed.len() {
            let mut edited = sealed.clone();
            edited[position] ^= 1;
            let opened = vault(folder.path()).open(edited.clone(), b"here");
            // Without its mark it is no sealed value, and is what it is.
            assert!(opened.is_err() || opened.unwrap() == edited, "byte {position}");
        }
        let other = tempfile::tempdir().unwrap();
        vault(other.path()).seal(b"x", b"").unwrap();
        let other = vault(other.path());
        assert!(matches!(other.clone().open(sealed, b"here"), Err(VaultError::Missing(_))));
        assert_eq!(other.missed().len(), 1, "a copy tells of it too");
    }

    #[test]
    fn what_was_never_sealed_is_passed_through_and_no_key_is_made_for_reading() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::new(KeyFolder::new(folder.path().join("keys")));
        assert_eq!(vault.sealing(), Sealing::Off);
        assert_eq!(vault.seal(b"clear", b"").unwrap(), b"clear");
        assert_eq!(vault.open(b"clear".to_vec(), b"").unwrap(), b"clear");
        assert!(!folder.path().join("keys").exists());
    }

    #[test]
    fn a_replaced_key_opens_what_it_sealed_and_seals_nothing_new() {
        let folder = tempfile::tempdir().unwrap();
        let keys = KeyFolder::new(folder.path().join("keys"));
        let before = vault(folder.path()).seal(b"one", b"").unwrap();
        let first = keys.keys()[0].name().clone();
        let second = keys.replace().unwrap();
        assert_ne!(first, *second.name());
        let after = vault(folder.path()).seal(b"two", b"").unwrap();
        assert_eq!(key_of(&after).as_ref(), Some(second.name()));
        assert_eq!(vault(folder.path()).open(before, b"").unwrap(), b"one");
        assert_eq!(keys.listed().len(), 2);
    }

    #[test]
    fn names_are_made_with_each_key_and_only_what_the_key_in_use_sealed_is_current() {
        let folder = tempfile::tempdir().unwrap();
        let keys = KeyFolder::new(folder.path().join("keys"));
        let off = || Vault::new(keys.clone()).with_sealing(Sealing::Off);
        assert_eq!(off().naming().unwrap(), None);
        let first = vault(folder.path()).naming().unwrap().unwrap();
        let before = vault(folder.path()).seal(b"one", b"").unwrap();
        assert!(vault(folder.path()).is_current(&before) && !off().is_current(&before));
        keys.replace().unwrap();
        let second = vault(folder.path()).naming().unwrap().unwrap();
        assert_ne!(first, second);
        assert!(!vault(folder.path()).is_current(&before), "a rotation is for what comes");
        assert!(off().is_current(b"clear") && !vault(folder.path()).is_current(b"clear"));
        let all: Vec<NamingKey> = off().namings().collect();
        assert!(all.len() == 2 && all.contains(&first) && all.contains(&second));
        assert!(!format!("{first:?}").contains(&format!("{:02x}", first.bytes()[0])));
    }

    #[test]
    fn nothing_is_sealed_with_a_key_that_others_read_or_that_is_gone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        vault(folder.path()).seal(b"one", b"").unwrap();
        let keys = KeyFolder::new(folder.path().join("keys"));
        let path = keys.path(keys.keys()[0].name());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(vault(folder.path()).seal(b"two", b""), Err(VaultError::Exposed(_))));
        std::fs::remove_file(&path).unwrap();
        // A fresh key in its place would look as if all were well.
        assert!(matches!(vault(folder.path()).seal(b"two", b""), Err(VaultError::Missing(_))));
    }

    #[test]
    fn where_all_keys_are_gone_none_is_made_in_their_place_until_the_user_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let keys = KeyFolder::new(folder.path().join("keys"));
        let vault = |has_sealed| {
            let past = PastSealing::new(folder.path().join("state/sealed-with"), has_sealed);
            Vault::new(keys.clone()).with_past(past)
        };
        let on = || vault(|_| false).with_sealing(Sealing::On);
        let sealed = on().seal(b"one", b"").unwrap();
        let name = key_of(&sealed).unwrap();
        std::fs::remove_dir_all(keys.path_of_folder()).unwrap();
        let Err(error) = on().seal(b"two", b"") else { panic!("a new key was made") };
        assert!(error.to_string().contains(name.as_str()), "{error}");
        assert!(error.hint().contains("audit verify") && error.hint().contains("audit key rotate"));
        assert!(!keys.path_of_folder().exists());
        // Nobody has to say that what is written is sealed: it is not written in the clear either.
        assert!(matches!(vault(|_| false).seal(b"two", b""), Err(VaultError::Lost { .. })));
        // What an earlier version left names no key.
        std::fs::remove_dir_all(folder.path().join("state/sealed-with")).unwrap();
        let earlier = vault(|_| true).with_sealing(Sealing::On).seal(b"two", b"");
        assert!(matches!(earlier, Err(VaultError::Lost { .. })));
        let second = keys.replace().unwrap();
        assert_eq!(key_of(&on().seal(b"two", b"").unwrap()).as_ref(), Some(second.name()));
        assert!(matches!(on().open(sealed, b""), Err(VaultError::Missing(_))));
        // With its file in place, nothing is lost by a new one.
        std::fs::remove_file(keys.path_of_folder().join("current")).unwrap();
        assert!(on().seal(b"three", b"").is_ok());
    }

    #[test]
    fn a_key_of_the_keyring_seals_only_while_it_is_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let keys = KeyFolder::new(folder.path().join("keys")).with_memory(folder.path().join("run"));
        let vault = || Vault::new(keys.clone()).with_sealing(Sealing::On);
        let sealed = vault().seal(b"one", b"").unwrap();
        let name = keys.keys()[0].name().clone();
        let digits = keys.digits(&name).unwrap();
        keys.give_to_keyring(&name).unwrap();
        assert!(!keys.path(&name).exists(), "nothing of it is left on the disk");
        assert_eq!(keys.listed()[0].place, KeyPlace::Unlocked);
        assert_eq!(vault().open(sealed.clone(), b"").unwrap(), b"one");
        // The user logs out.
        std::fs::remove_dir_all(folder.path().join("run")).unwrap();
        assert!(matches!(vault().seal(b"two", b""), Err(VaultError::Locked(_))));
        assert!(matches!(vault().open(sealed.clone(), b""), Err(VaultError::Locked(_))));
        assert!(keys.unlock(&name, &"0".repeat(64)).is_err(), "another key is not taken for it");
        keys.unlock(&name, &digits).unwrap();
        assert_eq!(vault().open(sealed, b"").unwrap(), b"one");
    }

    #[test]
    fn of_those_that_need_the_first_key_at_once_all_use_one() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| vault(folder.path()).seal(b"x", b"").unwrap())).collect();
            let names: std::collections::BTreeSet<String> = threads
                .into_iter()
                .map(|thread| key_of(&thread.join().unwrap()).unwrap().as_str().to_owned())
                .collect();
            assert_eq!(names.len(), 1, "{names:?}");
        });
    }
}
