//! National numbers of persons: of each its forms, its check, and the words that name it.
//!
//! | module | holds |
//! |---|---|
//! | `numbers` | the table, by country |
//! | `checks` | dates and check digits |
//!
//! A number counts by itself only where form and check make a chance hit rarer than one in a thousand numbers of that form, or where nothing
//! else is written so. The others count where a word near them names them: in front of them on the same line, or as the key of their value.

mod checks;
mod numbers;

use super::personal::ends_number;

pub use numbers::NATIONAL_NUMBERS;

/// How far in front of a number the word that names it may stand, in bytes (ours).
const NEAR: usize = 48;

/// When a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// By itself.
    Alone,
    /// Where a word near it names it.
    Named,
}

/// A form of a national number: `9` is a digit, `A` a capital letter, `X` either, anything else itself.
#[derive(Debug, Clone, Copy)]
pub struct NationalForm {
    /// How it is written.
    pub written: &'static str,
    /// When what is written so counts.
    pub counts: Counts,
}

/// A national number of persons.
#[derive(Debug, Clone, Copy)]
pub struct NationalNumber {
    /// The country, by its two letters (ISO 3166-1).
    pub country: &'static str,
    /// What it is called there.
    pub name: &'static str,
    /// How it is written.
    pub forms: &'static [NationalForm],
    /// What it is checked by, in words, with the source.
    pub checked: &'static str,
    /// The words that name it, in small letters.
    pub words: &'static [&'static str],
    /// Whether digits and letters alone, without what stands between them, can be such a number.
    check: fn(&[u8]) -> bool,
}

/// The length of the national number that `rest` begins with, a word that begins there; `before` is the text in front of it.
pub(super) fn national(rest: &[u8], before: &[u8]) -> Option<usize> {
    // Nearly every word ends here: no number has fewer than seven digits and letters that could belong to one.
    let belonging = rest.iter().take(24).take_while(|byte| {
        byte.is_ascii_digit() || byte.is_ascii_uppercase() || matches!(byte, b' ' | b'-' | b'.' | b'/' | b'+')
    });
    if belonging.filter(|byte| byte.is_ascii_digit()).count() < 6 {
        return None;
    }
    // A part of a longer number, a version or a path.
    if matches!(before, [.., b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z', b'-' | b'.' | b'/' | b'+']) {
        return None;
    }
    let window = Window::of(before);
    NATIONAL_NUMBERS.iter().find_map(|one| one.length(rest, |words| window.names(words)))
}

impl NationalNumber {
    fn length(&self, rest: &[u8], is_named: impl Fn(&[&str]) -> bool) -> Option<usize> {
        let fits = |form: &NationalForm| {
            let length = form.written.len();
            let text = rest.get(..length).filter(|_| ends_number(rest, length))?;
            let is_so = form.written.bytes().zip(text).all(|(written, byte)| match written {
                b'9' => byte.is_ascii_digit(),
                b'A' => byte.is_ascii_uppercase(),
                b'X' => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
                other => *byte == other,
            });
            if !is_so {
                return None;
            }
            let bare: Vec<u8> = text.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
            let counts = (self.check)(&bare)
                && match form.counts {
                    Counts::Alone => true,
                    Counts::Named => is_named(self.words),
                };
            counts.then_some(length)
        };
        self.forms.iter().find_map(fits)
    }
}

/// What stands near in front of a number, on its line, in small letters.
pub(super) struct Window(String);

impl Window {
    pub(super) fn of(before: &[u8]) -> Self {
        let near = before.get(before.len().saturating_sub(NEAR)..).unwrap_or_default();
        let line = near.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        Self(String::from_utf8_lossy(line).to_lowercase())
    }

    /// Whether one of these words stands there by itself; underscores and hyphens stand for blanks too.
    pub(super) fn names(&self, words: &[&str]) -> bool {
        let spaced = self.0.replace(['_', '-'], " ");
        words.iter().any(|word| stands_in(&self.0, word) || stands_in(&spaced, word))
    }
}

fn stands_in(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        let behind = text.get(start + word.len()..).and_then(|behind| behind.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !behind.is_some_and(char::is_alphanumeric)
    })
}
