//! Masking: secrets and personal data are replaced before anything is written.
//!
//! | module | holds |
//! |---|---|
//! | `scan` | the scanner: one pass over the bytes of a text |
//! | `spelling` | what a text reads, where it is not written so: `%40`, fullwidth digits |
//! | `token` | tokens that their prefix or their shape gives away |
//! | `prefixes` | the table of these prefixes |
//! | `told` | passwords that a sentence tells, or a command hands to a program |
//! | `name` | names after which a secret stands |
//! | `cards` | numbers of payment cards |
//! | `personal` | numbers that say who somebody is, and the list of all kinds of personal data |
//! | `national` | the numbers that states give to persons |
//! | `phone` | telephone numbers |
//! | `value` | where a value ends, and which values only stand for one |
//! | `form` | forms of headers and addresses |
//! | `json` | values of JSON, by the names of their keys |
//! | `body` | the bodies of records |
//! | `settings` | the values of a list of settings that are worth keeping secret |
//!
//! **Invariants.** Pure and linear in the length of the text; masking what is masked changes nothing; text without secrets
//! comes back borrowed. A mask reads `[masked:KIND:XXXXXXXX]`; the digits are a hash under a key of the user, so
//! equal secrets look equal and none can be guessed by trying.

mod body;
mod cards;
mod form;
mod json;
mod name;
mod national;
mod personal;
mod phone;
mod prefixes;
mod scan;
mod settings;
mod spelling;
mod token;
mod told;
mod value;

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use crate::hash_chain::hexadecimal;

pub use body::mask_body;
pub use json::{mask_json, mask_named_fields, mask_output};
pub use national::{Counts, NATIONAL_NUMBERS, NationalForm, NationalNumber};
pub use personal::{PERSONAL_KINDS, PersonalKind};
pub use settings::{SecretSetting, secret_settings, secret_variable};

/// What is masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masking {
    /// What has the form of a credential. Credentials that a run gave to its agent are masked in any case.
    pub secrets: MaskingChoice,
    /// Mail addresses, and numbers of cards, accounts, persons, telephones and machines.
    pub personal_data: MaskingChoice,
    /// Kinds of personal data that are written as they stand all the same, by the names of [`PERSONAL_KINDS`].
    pub clear: Vec<String>,
    /// Names of people, masked however they are written; empty ones count for nothing.
    pub names: Vec<String>,
    /// Further texts, wherever they stand; empty ones count for nothing.
    pub literals: Vec<String>,
}

/// What a text that is going to be read is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownText {
    /// A list of settings or variables, in which names tell.
    List,
    /// Anything: a program that is shown must still be the program, so what only has the name of a secret stays.
    Anything,
}

/// Whether something is masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskingChoice {
    /// It is.
    Masked,
    /// Only what gives itself away by its own form is: no name beside it is read.
    ByForm,
    /// It is written as it stands.
    Clear,
}

impl Default for Masking {
    fn default() -> Self {
        Self {
            secrets: MaskingChoice::Masked,
            personal_data: MaskingChoice::Masked,
            clear: Vec::new(),
            names: Vec::new(),
            literals: Vec::new(),
        }
    }
}

/// The key that makes the digits of masks unguessable, what is masked, and the secrets that are known beforehand.
#[derive(Clone, PartialEq, Eq)]
pub struct MaskKey {
    bytes: [u8; Self::LENGTH],
    known: Vec<String>,
    /// Masked where they stand by themselves: they may be as short as a word.
    settings: Vec<SecretSetting>,
    masking: Masking,
    /// Names and addresses of machines that are written as they stand.
    spared: Vec<String>,
}

impl MaskKey {
    /// The length of a key in bytes.
    pub const LENGTH: usize = 32;

    /// The key made of these bytes.
    pub fn new(bytes: [u8; Self::LENGTH]) -> Self {
        let (known, settings, spared) = (Vec::new(), Vec::new(), Vec::new());
        Self { bytes, known, settings, masking: Masking::default(), spared }
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

    /// The same for what a model is going to read: these values are masked where they stand by themselves, and what is a secret by its
    /// form, or in a list by its name.
    #[must_use]
    pub fn for_reader(self, shown: ShownText, settings: Vec<SecretSetting>) -> Self {
        let secrets = match shown {
            ShownText::List => MaskingChoice::Masked,
            ShownText::Anything => MaskingChoice::ByForm,
        };
        let masking = Masking { secrets, personal_data: MaskingChoice::Clear, ..Masking::default() };
        Self { settings, ..self.with_masking(masking) }
    }

    /// The same, and these are masked wherever they stand, besides what is known already.
    #[must_use]
    pub fn with_further(self, secrets: impl IntoIterator<Item = String>) -> Self {
        let all: Vec<String> = self.known.iter().cloned().chain(secrets).collect();
        self.with_known(&all)
    }

    /// The same for what is said to a user or a model: who somebody is may be what it is about, a secret never is.
    #[must_use]
    pub fn for_words(mut self) -> Self {
        self.masking.personal_data = MaskingChoice::Clear;
        self
    }

    /// The same, and this is masked.
    #[must_use]
    pub fn with_masking(mut self, masking: Masking) -> Self {
        self.masking = masking;
        self.masking.literals.retain(|text| !text.trim().is_empty() && !text.contains("[masked:"));
        self.masking.names.retain(|name| !name.trim().is_empty());
        self.masking.names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        self.masking.literals.sort_by_key(|text| std::cmp::Reverse(text.len()));
        self
    }

    /// The same for a call that talks to these machines: their addresses are no personal data there, but what the call is judged by.
    #[must_use]
    pub(crate) fn sparing(&self, hosts: impl Iterator<Item = String>) -> Self {
        Self { spared: hosts.collect(), ..self.clone() }
    }

    /// Whether a name or an address of a machine is written as it stands.
    fn spares(&self, address: &str) -> bool {
        self.spared.iter().any(|spared| spared == address)
    }

    /// Whether what has a form of this kind is masked.
    fn masks(&self, kind: &str) -> bool {
        let is_personal = PERSONAL_KINDS.iter().any(|known| known.name == kind);
        if is_personal && self.masking.clear.iter().any(|clear| clear == kind) {
            return false;
        }
        let choice = if is_personal { self.masking.personal_data } else { self.masking.secrets };
        match choice {
            MaskingChoice::Masked | MaskingChoice::ByForm => true,
            MaskingChoice::Clear => false,
        }
    }

    /// Whether the names before values are read.
    fn reads_names(&self) -> bool {
        self.masking.secrets == MaskingChoice::Masked
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
    match mask_all_but_names(text, key) {
        Cow::Borrowed(text) => mask_names(text, key),
        Cow::Owned(masked) => match mask_names(&masked, key) {
            Cow::Borrowed(_) => Cow::Owned(masked),
            Cow::Owned(without) => Cow::Owned(without),
        },
    }
}

fn mask_all_but_names<'text>(text: &'text str, key: &MaskKey) -> Cow<'text, str> {
    if key.settings.iter().any(|setting| text.contains(&setting.value)) {
        let without = key.settings.iter().fold(text.to_owned(), |text, setting| {
            let mask = setting.with_mask(|secret| key.mask(setting.kind, secret));
            replace_where(&text, &setting.value, &mask, Standing::Alone)
        });
        return Cow::Owned(mask_known(&without, key).into_owned());
    }
    mask_known(text, key)
}

/// Masks names of people: words in any case, with whatever blanks between them, that stand by themselves.
fn mask_names<'text>(text: &'text str, key: &MaskKey) -> Cow<'text, str> {
    if !key.masks("name") {
        return Cow::Borrowed(text);
    }
    let mut masked = Cow::Borrowed(text);
    for name in &key.masking.names {
        let words: Vec<Vec<char>> = name.split_whitespace().map(folded).collect();
        if let Some(without) = without_name(&masked, &words, key) {
            masked = Cow::Owned(without);
        }
    }
    masked
}

/// The letters of a text, whatever their case.
fn folded(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The text without the name of these words; `None` where it does not stand there.
fn without_name(text: &str, words: &[Vec<char>], key: &MaskKey) -> Option<String> {
    let mut output = String::new();
    let (mut copied, mut at) = (0, 0);
    let mut is_behind_letter = false;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(length) = mask_length(rest.as_bytes()) {
            (at, is_behind_letter) = (at + length, false);
            continue;
        }
        if !is_behind_letter && let Some(length) = name_length(rest, words) {
            output.push_str(text.get(copied..at)?);
            output.push_str(&key.mask("name", &words.concat().into_iter().collect::<String>()));
            (at, copied) = (at + length, at + length);
            continue;
        }
        let letter = rest.chars().next()?;
        is_behind_letter = letter.is_alphanumeric();
        at += letter.len_utf8();
    }
    (copied > 0).then(|| output + text.get(copied..).unwrap_or_default())
}

/// How much of a text the name of these words takes that it begins with.
fn name_length(text: &str, words: &[Vec<char>]) -> Option<usize> {
    let mut rest = text;
    for (place, word) in words.iter().enumerate() {
        if place > 0 {
            let behind = rest.trim_start();
            if behind.len() == rest.len() {
                return None;
            }
            rest = behind;
        }
        let mut wanted = word.as_slice();
        while !wanted.is_empty() {
            let letter = rest.chars().next()?;
            let small: Vec<char> = letter.to_lowercase().collect();
            wanted = wanted.strip_prefix(small.as_slice())?;
            rest = rest.get(letter.len_utf8()..)?;
        }
    }
    let is_end = !rest.starts_with(char::is_alphanumeric);
    (is_end && !words.is_empty()).then(|| text.len() - rest.len())
}

/// Masks what is known beforehand, then what has the form of a secret.
fn mask_known<'text>(text: &'text str, key: &MaskKey) -> Cow<'text, str> {
    let known = || key.known.iter().map(|secret| ("credential", secret.as_str()));
    let literals = || key.masking.literals.iter().map(|text| ("literal", text.as_str()));
    if known().chain(literals()).any(|(_, secret)| text.contains(secret)) {
        let without = known().chain(literals()).fold(text.to_owned(), |text, (kind, secret)| {
            replace_where(&text, secret, &key.mask(kind, secret), Standing::Anywhere)
        });
        return Cow::Owned(mask_forms(&without, key).into_owned());
    }
    mask_forms(text, key)
}

/// Where a text is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Wherever it stands.
    Anywhere,
    /// Where neither a letter nor a digit stands beside it.
    Alone,
}

/// Replaces a text wherever it stands so, and not inside a mask.
fn replace_where(text: &str, secret: &str, mask: &str, standing: Standing) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_behind_letter = false;
    while let Some(letter) = rest.chars().next() {
        let length = match mask_length(rest.as_bytes()) {
            Some(length) => length,
            None if rest.starts_with(secret) => {
                let behind = rest.get(secret.len()..).unwrap_or_default();
                let is_alone = !is_behind_letter && !behind.starts_with(char::is_alphanumeric);
                if standing == Standing::Anywhere || is_alone {
                    output.push_str(mask);
                    rest = behind;
                    is_behind_letter = false;
                    continue;
                }
                letter.len_utf8()
            }
            None => letter.len_utf8(),
        };
        is_behind_letter = letter.is_alphanumeric();
        output.push_str(rest.get(..length).unwrap_or_default());
        rest = rest.get(length..).unwrap_or_default();
    }
    output
}

/// Masks what has the form of a secret.
fn mask_forms<'text>(text: &'text str, key: &MaskKey) -> Cow<'text, str> {
    let once = |text: &str| scan::scan(text, key).or_else(|| scan::scan_read(text, key));
    let Some(mut masked) = once(text) else { return Cow::Borrowed(text) };
    for _ in 1..PASSES {
        match once(&masked) {
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

/// Whether a mask stands in a text.
pub fn holds_mask(text: &str) -> bool {
    kinds_of_masks(text).next().is_some()
}

/// The kinds of the masks in a text, in their order.
fn kinds_of_masks(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("[masked:").filter_map(|(start, _)| {
        let length = mask_length(text.as_bytes().get(start..)?)?;
        text.get(start + "[masked:".len()..start + length)?.split(':').next()
    })
}
