//! Masking: secrets and personal data are replaced before anything is written.
//!
//! | module | holds |
//! |---|---|
//! | `scan` | the scanner: one pass over the bytes of a text |
//! | `token` | tokens that their prefix gives away |
//! | `name` | names after which a secret stands |
//! | `personal` | numbers that say who somebody is |
//! | `value` | where a value ends, and which values only stand for one |
//! | `form` | forms of headers and addresses |
//! | `json` | values of JSON, by the names of their keys |
//! | `body` | the bodies of records |
//!
//! **Invariants.** Pure and linear in the length of the text; masking what is masked changes nothing; text without secrets
//! comes back borrowed. A mask reads `[masked:KIND:XXXXXXXX]`; the digits are a hash under a key of this state directory, so
//! equal secrets look equal and none can be guessed by trying.

mod body;
mod form;
mod json;
mod name;
mod personal;
mod scan;
mod token;
mod value;

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use crate::hash_chain::hexadecimal;

pub use body::mask_body;
pub use json::mask_json;

/// What is masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masking {
    /// What has the form of a credential. Credentials that a run gave to its agent are masked in any case.
    pub secrets: MaskingChoice,
    /// Mail addresses, and numbers of cards, accounts, persons, telephones and machines.
    pub personal_data: MaskingChoice,
    /// Further texts, wherever they stand; empty ones count for nothing.
    pub literals: Vec<String>,
}

/// Whether something is masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskingChoice {
    /// It is.
    Masked,
    /// It is written as it stands.
    Clear,
}

impl Default for Masking {
    fn default() -> Self {
        Self { secrets: MaskingChoice::Masked, personal_data: MaskingChoice::Masked, literals: Vec::new() }
    }
}

/// The kinds of masks that stand for personal data.
const PERSONAL: [&str; 6] = ["email", "card", "iban", "ssn", "phone", "ip"];

/// The key that makes the digits of masks unguessable, what is masked, and the secrets that are known beforehand.
#[derive(Clone, PartialEq, Eq)]
pub struct MaskKey {
    bytes: [u8; Self::LENGTH],
    known: Vec<String>,
    masking: Masking,
}

impl MaskKey {
    /// The length of a key in bytes.
    pub const LENGTH: usize = 32;

    /// The key made of these bytes.
    pub fn new(bytes: [u8; Self::LENGTH]) -> Self {
        Self { bytes, known: Vec::new(), masking: Masking::default() }
    }

    /// The same, and these are masked wherever they stand. What is short or has blanks in it is no secret but a word, and stays.
    #[must_use]
    pub fn with_known(mut self, secrets: &[String]) -> Self {
        let is_secret = |text: &&String| {
            text.len() >= SHORTEST_KNOWN && !text.contains(char::is_whitespace) && !text.contains("[masked:")
        };
        self.known = secrets.iter().filter(is_secret).cloned().collect();
        // The longer first: one may be a part of another.
        self.known.sort_by_key(|text| std::cmp::Reverse(text.len()));
        self
    }

    /// The same, and this is masked.
    #[must_use]
    pub fn with_masking(mut self, masking: Masking) -> Self {
        self.masking = masking;
        self.masking.literals.retain(|text| !text.trim().is_empty() && !text.contains("[masked:"));
        self.masking.literals.sort_by_key(|text| std::cmp::Reverse(text.len()));
        self
    }

    /// Whether what has a form of this kind is masked.
    fn masks(&self, kind: &str) -> bool {
        let choice = if PERSONAL.contains(&kind) { self.masking.personal_data } else { self.masking.secrets };
        choice == MaskingChoice::Masked
    }

    /// What stands in place of a secret.
    fn mask(&self, kind: &str, secret: &str) -> String {
        let mut hasher = Sha256::new();
        hasher.update(self.bytes);
        hasher.update(secret);
        let digits = hexadecimal(hasher.finalize().get(..4).unwrap_or_default());
        format!("[masked:{kind}:{digits}]")
    }
}

impl std::fmt::Debug for MaskKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("MaskKey(..)")
    }
}

/// The shortest secret that is known beforehand, in bytes (ours).
const SHORTEST_KNOWN: usize = 8;

/// How often a text is scanned at most: a mask can turn what stands before it into something that reads as a secret's name.
const PASSES: usize = 4;

/// The text with its secrets masked; borrowed when it holds none.
pub fn mask_text<'text>(text: &'text str, key: &MaskKey) -> Cow<'text, str> {
    let known = || key.known.iter().map(|secret| ("credential", secret.as_str()));
    let literals = || key.masking.literals.iter().map(|text| ("literal", text.as_str()));
    if known().chain(literals()).any(|(_, secret)| text.contains(secret)) {
        let without = known().chain(literals()).fold(text.to_owned(), |text, (kind, secret)| {
            replace_outside_masks(&text, secret, &key.mask(kind, secret))
        });
        return Cow::Owned(mask_forms(&without, key).into_owned());
    }
    mask_forms(text, key)
}

/// Replaces a text wherever it does not stand inside a mask.
fn replace_outside_masks(text: &str, secret: &str, mask: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = match mask_length(rest.as_bytes()) {
            Some(length) => length,
            None if rest.starts_with(secret) => {
                output.push_str(mask);
                rest = rest.get(secret.len()..).unwrap_or_default();
                continue;
            }
            None => letter.len_utf8(),
        };
        output.push_str(rest.get(..length).unwrap_or_default());
        rest = rest.get(length..).unwrap_or_default();
    }
    output
}

/// Masks what has the form of a secret.
fn mask_forms<'text>(text: &'text str, key: &MaskKey) -> Cow<'text, str> {
    let Some(mut masked) = scan::scan(text, key) else { return Cow::Borrowed(text) };
    for _ in 1..PASSES {
        match scan::scan(&masked, key) {
            Some(again) => masked = again,
            None => break,
        }
    }
    Cow::Owned(masked)
}

/// The length of the mask that stands at the beginning of a text, if one does.
fn mask_length(text: &[u8]) -> Option<usize> {
    const OPENING: &[u8] = b"[masked:";
    const LONGEST_KIND: usize = 32;
    const DIGITS: usize = 8;
    let rest = text.strip_prefix(OPENING)?;
    let kind =
        rest.iter().take(LONGEST_KIND).take_while(|byte| byte.is_ascii_lowercase() || **byte == b'_').count();
    let digits = rest.get(kind..)?.strip_prefix(b":")?;
    let end = digits.get(..=DIGITS)?;
    let (closing, hash) = end.split_last()?;
    let fits = kind > 0
        && *closing == b']'
        && hash.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'));
    fits.then_some(OPENING.len() + kind + 1 + DIGITS + 1)
}
