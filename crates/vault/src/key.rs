//! A key, its name, and what it seals.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest as _, Sha256};

use crate::error::VaultError;

/// What a sealed value begins with; no text and no value of ours in the clear begins so.
pub const SEALED: [u8; 4] = [0xC5, b'c', b'r', 1];

/// The length of the name of a key, in bytes.
const NAME: usize = 8;
/// The length of a nonce of XChaCha20-Poly1305, in bytes.
const NONCE: usize = 24;

/// The name of a key: the beginning of a digest of it, as hexadecimal digits. It says nothing of the key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyName(String);

impl KeyName {
    /// The name in these digits; `None` where they are none.
    pub fn of_digits(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == 2 * NAME && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A key of 256 bits.
#[derive(Clone)]
pub struct Key {
    name: KeyName,
    cipher: XChaCha20Poly1305,
    naming: NamingKey,
}

/// What names are made with for what a key seals, so that nobody without the key tells from a name what bears it. It opens nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NamingKey(pub(crate) [u8; Key::LENGTH]);

impl NamingKey {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8; Key::LENGTH] {
        &self.0
    }
}

impl fmt::Debug for NamingKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("NamingKey")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Key({})", self.name)
    }
}

impl Key {
    /// The length of a key, in bytes.
    pub const LENGTH: usize = 32;

    /// The key of these bytes.
    pub fn new(bytes: &[u8; Self::LENGTH]) -> Self {
        let derived = |purpose: &[u8]| -> [u8; Self::LENGTH] {
            Sha256::new().chain_update(purpose).chain_update(bytes).finalize().into()
        };
        let digest = derived(b"checkrein-key-name-1\0");
        let name = KeyName(hex::encode(digest.get(..NAME).unwrap_or_default()));
        let naming = NamingKey(derived(b"checkrein-key-naming-1\0"));
        Self { name, cipher: XChaCha20Poly1305::new(bytes.into()), naming }
    }

    /// What names are made with for what it seals.
    pub fn naming(&self) -> NamingKey {
        self.naming
    }

    /// Its name.
    pub fn name(&self) -> &KeyName {
        &self.name
    }

    pub(crate) fn seal(&self, value: &[u8], around: &[u8]) -> Result<Vec<u8>, VaultError> {
        let mut nonce = [0_u8; NONCE];
        random(&mut nonce)?;
        let payload = Payload { msg: value, aad: around };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| VaultError::Altered)?;
        let name = hex::decode(&self.name.0).unwrap_or_default();
        Ok([&SEALED[..], &name, &nonce, &sealed].concat())
    }

    pub(crate) fn open(&self, value: &[u8], around: &[u8]) -> Result<Vec<u8>, VaultError> {
        let rest = value.get(SEALED.len() + NAME..).ok_or(VaultError::Altered)?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>().ok_or(VaultError::Altered)?;
        let payload = Payload { msg: sealed, aad: around };
        self.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| VaultError::Altered)
    }
}

/// The name of the key that sealed a value; `None` for a value in the clear.
pub fn key_of(value: &[u8]) -> Option<KeyName> {
    let name = value.strip_prefix(&SEALED)?.get(..NAME)?;
    Some(KeyName(hex::encode(name)))
}

/// Fills with randomness of the system.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), VaultError> {
    let source = Path::new("/dev/urandom");
    File::open(source).and_then(|mut file| file.read_exact(bytes)).map_err(VaultError::file(source))
}
