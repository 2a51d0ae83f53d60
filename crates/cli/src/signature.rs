//! Signatures of policies: Ed25519 over the digest of the text and the time of signing.
//!
//! The time is signed too, so that an older policy, which somebody once signed, cannot take the place of a newer one.

use std::fmt;

use checkrein_policy::Digest;
use checkrein_protocol::Timestamp;
use ed25519_compact::{KeyPair, PublicKey, SecretKey, Seed};

/// The first line of every signature.
const FORM: &str = "checkrein policy signature 1";
/// Before every key that may be shown.
const PUBLIC: &str = "ed25519:";
/// Before every key that may not.
const SECRET: &str = "checkrein-secret-ed25519:";

/// A key that signs.
pub(crate) struct SigningKey(KeyPair);

/// A key that tells who signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VerifyingKey(PublicKey);

/// Who signed a text, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PolicySignature {
    /// The key that says that it did.
    pub(crate) key: VerifyingKey,
    /// When, as it says.
    pub(crate) signed: Timestamp,
    signature: ed25519_compact::Signature,
}

/// Why a signature does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadSignature {
    /// The text is no signature, or not of this form.
    Malformed,
    /// Another key signed.
    OtherKey,
    /// The key did not sign this text.
    OtherText,
}

impl fmt::Display for BadSignature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Malformed => "the signature is not one of `checkrein policy sign`",
            Self::OtherKey => "the signature is by another key",
            Self::OtherText => "the signature is not for this text",
        })
    }
}

impl SigningKey {
    /// A new key, of 32 bytes that nobody can guess.
    pub(crate) fn of(seed: [u8; 32]) -> Self {
        Self(KeyPair::from_seed(Seed::new(seed)))
    }

    /// The key that a file of [`Self::text`] holds; `None` where it holds none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = hex::decode(text.trim().strip_prefix(SECRET)?).ok()?;
        let secret = SecretKey::from_slice(&bytes).ok()?;
        Some(Self(KeyPair { pk: secret.public_key(), sk: secret }))
    }

    /// As it is kept.
    pub(crate) fn text(&self) -> String {
        format!("{SECRET}{}\n", hex::encode(*self.0.sk))
    }

    /// The key that tells that this one signed.
    pub(crate) fn verifying(&self) -> VerifyingKey {
        VerifyingKey(self.0.pk)
    }

    /// Signs a text.
    pub(crate) fn sign(&self, text: &str, signed: Timestamp) -> PolicySignature {
        PolicySignature {
            key: self.verifying(),
            signed,
            signature: self.0.sk.sign(message(text, signed), None),
        }
    }
}

impl VerifyingKey {
    /// The key that a word of the command line says; `None` where it says none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = hex::decode(text.trim().strip_prefix(PUBLIC)?).ok()?;
        PublicKey::from_slice(&bytes).ok().map(Self)
    }
}

impl fmt::Display for VerifyingKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PUBLIC}{}", hex::encode(*self.0))
    }
}

impl PolicySignature {
    /// The signature that a file of [`Self::text`] holds.
    pub(crate) fn parse(text: &str) -> Result<Self, BadSignature> {
        let mut lines = text.lines();
        let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let mut read = || -> Option<Self> {
            let (first, version) = FORM.rsplit_once(' ')?;
            (field(first)? == version).then_some(())?;
            let key = VerifyingKey::parse(field("key")?)?;
            let signed = Timestamp::from_rfc3339(field("signed")?)?;
            let bytes = hex::decode(field("signature")?).ok()?;
            let signature = ed25519_compact::Signature::from_slice(&bytes).ok()?;
            Some(Self { key, signed, signature })
        };
        read().ok_or(BadSignature::Malformed)
    }

    /// As it lies beside the policy.
    pub(crate) fn text(&self) -> String {
        let (signed, signature) = (self.signed.calendar().to_rfc3339(), hex::encode(*self.signature));
        format!("{FORM}\nkey {}\nsigned {signed}\nsignature {signature}\n", self.key)
    }

    /// Whether `key` signed this text.
    pub(crate) fn check(&self, text: &str, key: VerifyingKey) -> Result<(), BadSignature> {
        if self.key != key {
            return Err(BadSignature::OtherKey);
        }
        key.0.verify(message(text, self.signed), &self.signature).map_err(|_| BadSignature::OtherText)
    }
}

/// What is signed.
fn message(text: &str, signed: Timestamp) -> String {
    format!("{FORM}\n{}\n{}\n", signed.calendar().to_rfc3339(), Digest::of(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    #[test]
    fn what_is_signed_is_found_again_and_nothing_else() {
        let key = SigningKey::of([7; 32]);
        let signature = PolicySignature::parse(&key.sign("mode: enforce\n", NOW).text()).unwrap();
        assert_eq!(signature.check("mode: enforce\n", key.verifying()), Ok(()));
        assert_eq!(signature.check("mode: observe\n", key.verifying()), Err(BadSignature::OtherText));
        let other = SigningKey::of([8; 32]).verifying();
        assert_eq!(signature.check("mode: enforce\n", other), Err(BadSignature::OtherKey));
    }

    #[test]
    fn neither_time_nor_key_nor_signature_can_be_changed() {
        let key = SigningKey::of([7; 32]);
        let text = key.sign("a", NOW).text();
        for (from, to) in [
            ("2027", "2028"),
            ("signature ", "signature 00"),
            ("signature 1", "signature 2"),
            ("key ed", "key ee"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            let found = PolicySignature::parse(&changed).and_then(|one| one.check("a", key.verifying()));
            assert!(found.is_err(), "{from}: {found:?}");
        }
        assert_eq!(PolicySignature::parse(""), Err(BadSignature::Malformed));
    }

    #[test]
    fn keys_are_kept_as_text() {
        let key = SigningKey::of([7; 32]);
        let again = SigningKey::parse(&key.text()).unwrap();
        assert_eq!(again.verifying(), key.verifying());
        assert_eq!(VerifyingKey::parse(&key.verifying().to_string()), Some(key.verifying()));
        assert!(SigningKey::parse(&key.verifying().to_string()).is_none(), "a public key signs nothing");
        assert!(VerifyingKey::parse(&key.text()).is_none(), "a secret key is shown to nobody");
    }
}
